"""oneDNN through its C interface: primitives created ahead, executed from generated code with raw pointers."""

from mycelia.onednn.constants import Algorithm, DataType
from mycelia.onednn.convolution import (
    convolution,
    convolution_source_gradient,
    convolution_weights_gradient,
)
from mycelia.onednn.layout import Layout, Packed
from mycelia.onednn.library import OneDnnError, Refused, library
from mycelia.onednn.matmul import matmul, matmul_of_any_size, may_be_of_any_size
from mycelia.onednn.pooling import AVERAGE, AVERAGE_WITH_PADDING, MAX, pooling, pooling_gradient
from mycelia.onednn.post_ops import (
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
from mycelia.onednn.prepared import Port, Prepared
from mycelia.onednn.reorder import reorder
from mycelia.onednn.window import Window

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
    "Port",
    "PostOp",
    "Prepared",
    "Refused",
    "Window",
    "convolution",
    "convolution_source_gradient",
    "convolution_weights_gradient",
    "library",
    "matmul",
    "matmul_of_any_size",
    "may_be_of_any_size",
    "pooling",
    "pooling_gradient",
    "reorder",
]
