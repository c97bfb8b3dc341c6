"""Compiling and running: the pipeline, the cache, memory, threads, libraries."""

from mycelia.runtime.compile import compile
from mycelia.runtime.executable import Calls, Executable

__all__ = ["Calls", "Executable", "compile"]
