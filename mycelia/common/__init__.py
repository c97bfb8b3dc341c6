"""What layers, training and programs share: how parameters begin, the seed of everything random, and tensors."""

from mycelia import types as dtype
from mycelia.api import get_seed, jit, mutable, set_seed
from mycelia.common import initializer
from mycelia.eager import Generator, Parameter, ParameterTuple, Tensor
from mycelia.types import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "Generator",
    "Parameter",
    "ParameterTuple",
    "Tensor",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "dtype",
    "float16",
    "float32",
    "float64",
    "get_seed",
    "initializer",
    "int8",
    "int16",
    "int32",
    "int64",
    "jit",
    "mutable",
    "set_seed",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
