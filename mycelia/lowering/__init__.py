"""Graph to program: what is stored, what is computed where it is read, which call goes to a library."""

from mycelia.ir import registry
from mycelia.lowering import (
    complete,
    contraction,
    control,
    convolution,
    elimination,
    epilogue,
    fourier,
    ordering,
    pooling,
    positions,
    sparse,
    updates,
)
from mycelia.lowering.program import lower

__all__ = [
    "complete",
    "contraction",
    "control",
    "convolution",
    "elimination",
    "epilogue",
    "fourier",
    "lower",
    "ordering",
    "pooling",
    "positions",
    "sparse",
    "updates",
]

complete.check(registry)
