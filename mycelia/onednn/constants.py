"""The numbers of oneDNN's C interface: dtypes, operands, algorithms, queries, statuses (oneDNN 3.x ABI)."""

from __future__ import annotations

from enum import IntEnum

MAX_RANK = 12  # DNNL_MAX_NDIMS
TOLD_LATER = -(1 << 63)  # DNNL_RUNTIME_DIM_VAL, DNNL_RUNTIME_STRIDE_VAL: a size or a step that an execution brings
BEFORE_TILES = 0x1EF  # dnnl_cpu_isa_avx512_core_fp16: all that comes before AMX


class Status(IntEnum):
    """What a call came back with."""

    success = 0
    out_of_memory = 1
    invalid_arguments = 2
    unimplemented = 3
    last_implementation_reached = 4
    runtime_error = 5
    not_required = 6


class DataType(IntEnum):
    """The element types oneDNN knows.

    >>> DataType.named("float32")
    <DataType.f32: 3>
    >>> DataType.bf16.itemsize
    2
    """

    f16 = 1
    bf16 = 2
    f32 = 3
    s32 = 4
    s8 = 5
    u8 = 6
    f64 = 7
    boolean = 8

    @classmethod
    def named(cls, name: str) -> DataType:
        """The type that NumPy (or ml_dtypes) calls `name`; a KeyError when oneDNN has none.

        >>> DataType.named("bfloat16").name
        'bf16'
        """
        return _BY_NUMPY_NAME[name]

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return _ITEMSIZE[self]


_BY_NUMPY_NAME = {
    "float16": DataType.f16,
    "bfloat16": DataType.bf16,
    "float32": DataType.f32,
    "int32": DataType.s32,
    "int8": DataType.s8,
    "uint8": DataType.u8,
    "float64": DataType.f64,
    "bool": DataType.boolean,
}
_ITEMSIZE = {
    DataType.f16: 2,
    DataType.bf16: 2,
    DataType.f32: 4,
    DataType.s32: 4,
    DataType.s8: 1,
    DataType.u8: 1,
    DataType.f64: 8,
    DataType.boolean: 1,
}


class Arg(IntEnum):
    """The role of an operand in an execution."""

    source = 1
    source_1 = 2
    out = 17
    weights = 33
    bias = 41
    workspace = 64
    scratchpad = 80
    source_gradient = 129
    out_gradient = 145
    weights_gradient = 161
    bias_gradient = 169


def post_op_arg(position: int) -> int:
    """The role of the second operand of the binary post-op at `position`.

    >>> post_op_arg(0)
    32770
    """
    return 32768 * (position + 1) | Arg.source_1


class Propagation(IntEnum):
    """Forward for training keeps what backward needs; forward for inference does not."""

    forward_training = 64
    forward_inference = 96


class Algorithm(IntEnum):
    """How a convolution, a pooling, an elementwise or a binary post-op computes."""

    convolution_direct = 0x1
    relu = 0x20
    tanh = 0x21
    elu = 0x22
    logistic = 0x29
    gelu_tanh = 0x2B
    swish = 0x2C
    gelu_erf = 0x31
    pooling_max = 0x1FF
    pooling_average_with_padding = 0x2FF
    pooling_average = 0x3FF
    add = 0x1FFF0
    mul = 0x1FFF1


class Query(IntEnum):
    """What can be asked of a primitive descriptor or a memory descriptor."""

    implementation = 8
    strides = 14
    workspace = 135
    scratchpad = 136
    operand = 255
    rank = 256
    dims = 257
    data_type = 258
    block_count = 263
    block_sizes = 264
    block_axes = 265


CPU_ENGINE = 1
STREAM_IN_ORDER = 1
SCRATCHPAD_OF_THE_USER = 1
FORMAT_ANY = 1
