"""oneDNN through its C interface: primitives created ahead, executed from generated code with raw pointers."""

from mycelia.runtime.onednn.constants import Algorithm, DataType
from mycelia.runtime.onednn.convolution import (
    convolution,
    convolution_source_gradient,
    convolution_weights_gradient,
)
from mycelia.runtime.onednn.layout import Layout, Packed
from mycelia.runtime.onednn.library import OneDnnError, Refused, library
from mycelia.runtime.onednn.matmul import matmul
from mycelia.runtime.onednn.pooling import AVERAGE, AVERAGE_WITH_PADDING, MAX, pooling, pooling_gradient
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
from mycelia.runtime.onednn.window import Window

__all__ = [
    "AVERAGE",
    "AVERAGE_WITH_PADDING",
    "GELU_ERF",
    "GELU_TANH",
    "MAX",
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
    "Window",
    "convolution",
    "convolution_source_gradient",
    "convolution_weights_gradient",
    "library",
    "matmul",
    "pooling",
    "pooling_gradient",
    "reorder",
]
