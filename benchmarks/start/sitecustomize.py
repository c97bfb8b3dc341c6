"""Read by every process of the harness as it starts: a line of it takes these two modules to be imported already."""

import builtins
import os
import sys

builtins.os, builtins.sys = os, sys
