"""oneDNN through its C interface: primitives created ahead, executed from generated code with raw pointers."""

from mycelia.runtime.onednn.constants import Algorithm, DataType
from mycelia.runtime.onednn.layout import Layout, Packed
from mycelia.runtime.onednn.library import OneDnnError, Refused, library
from mycelia.runtime.onednn.matmul import matmul
from mycelia.runtime.onednn.post_ops import (
    GELU_ERF,
    GELU_TANH,
    RELU,
    SIGMOID,
    SILU,
    TANH,
    Accumulate,
    Activation,
    Combine,
    PostOp,
)
from mycelia.runtime.onednn.prepared import Prepared, Slot
from mycelia.runtime.onednn.reorder import reorder

__all__ = [
    "GELU_ERF",
    "GELU_TANH",
    "RELU",
    "SIGMOID",
    "SILU",
    "TANH",
    "Accumulate",
    "Activation",
    "Algorithm",
    "Combine",
    "DataType",
    "Layout",
    "OneDnnError",
    "Packed",
    "PostOp",
    "Prepared",
    "Refused",
    "Slot",
    "library",
    "matmul",
    "reorder",
]
