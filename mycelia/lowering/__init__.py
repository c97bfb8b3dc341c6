"""Graph to program: what is stored, what is computed where it is read, which call goes to a library."""

from mycelia.lowering import contraction
from mycelia.lowering.lower import lower

__all__ = ["contraction", "lower"]
