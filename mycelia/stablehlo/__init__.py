"""StableHLO: a program as text that other compilers read. One rule per op; sequences are bounded buffers."""

from mycelia.stablehlo.module import Module, module
from mycelia.stablehlo.rules import emit, inexpressible

__all__ = ["Module", "emit", "inexpressible", "module"]
