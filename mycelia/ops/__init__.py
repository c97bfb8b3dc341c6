"""Functions of tensors: thin names over primitives, and compositions of them."""

# ruff: noqa: F403  # every module here is a list of public functions
from mycelia.ops.arithmetic import *
from mycelia.ops.creation import *
from mycelia.ops.math import *
from mycelia.ops.movement import *
from mycelia.ops.reduction import *
from mycelia.ops import methods
