"""Other names that NumPy has for element types and their kinds, and for what an array and a truth are.

>>> import mycelia.numpy as np
>>> np.double, np.issubdtype(np.single, np.floating), isinstance(np.zeros(2), np.ndarray)
(float64, True, True)
"""

from __future__ import annotations

from typing import Any

from numpy import (
    complexfloating,
    floating,
    generic,
    inexact,
    integer,
    number,
    signedinteger,
    unsignedinteger,
)

from mycelia.eager import Tensor as ndarray
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import result_type
from mycelia.types import (
    COMPLEX,
    DTYPES,
    DType,
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
    "False_",
    "True_",
    "byte",
    "cdouble",
    "common_type",
    "complexfloating",
    "csingle",
    "double",
    "floating",
    "generic",
    "half",
    "inexact",
    "intc",
    "integer",
    "intp",
    "long",
    "longlong",
    "min_scalar_type",
    "ndarray",
    "number",
    "short",
    "signedinteger",
    "single",
    "ubyte",
    "uint",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "unsignedinteger",
    "ushort",
]

byte, short, intc, long, longlong, intp = int8, int16, int32, int64, int64, int64
ubyte, ushort, uintc, uint, ulong, ulonglong, uintp = uint8, uint16, uint32, uint64, uint64, uint64, uint64
half, single, double, csingle, cdouble = float16, float32, float64, complex64, complex128
True_, False_ = True, False


def common_type(*arrays: Any) -> DType:
    """The floating or complex element type in which arrays meet; whole numbers count as float64.

    >>> common_type(ndarray([1.0]), ndarray([2])), common_type(ndarray([1.0]))
    (float64, float32)
    """
    return result_type(*[x if x.dtype.kind in "fc" else float64 for x in map(asarray, arrays)])


def min_scalar_type(a: Any) -> DType:
    """The smallest element type that holds a number; that of an array is its own.

    >>> min_scalar_type(200), min_scalar_type(-1), min_scalar_type(1e5)
    (uint8, int8, float32)
    """
    x = asarray(a)
    if x.ndim:
        return x.dtype
    value: Any = a.item() if isinstance(a, ndarray) else a
    if isinstance(value, bool):
        return DTYPES[0]
    if isinstance(value, int):
        kind = "u" if value >= 0 else "i"
        sizes = [d for d in DTYPES if d.kind == kind]
        low = 0 if kind == "u" else -1
        return next(d for d in sizes if low * 2 ** (d.bits - 1) <= value < 2 ** (d.bits - (kind == "i")))
    sizes = [float16, float32, float64]
    largest = {float16: 65504.0, float32: 3.4028235e38}
    parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
    odd = {float("inf"), float("-inf")}
    fits = (d for d in sizes if d is float64 or all(abs(p) <= largest[d] or p in odd or p != p for p in parts))
    real = next(fits)
    return COMPLEX[real if real is float64 else float32] if isinstance(value, complex) else real
