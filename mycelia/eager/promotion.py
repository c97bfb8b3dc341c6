"""Which element type two operands meet in: bool, then integers, then floats; Python numbers adapt to tensors."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

from mycelia.errors import DTypeError
from mycelia.types import (
    DTYPES,
    DType,
    bool_,
    complex64,
    complex128,
    dtype_named,
    float32,
    float64,
    int16,
    int32,
    int64,
)

_PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}
_SIGNED = {8: int16, 16: int32, 32: int64}


def as_dtype(dtype: Any) -> DType:
    """The element type that a person means: ours, NumPy's, a Python type, or a name, also one of NumPy's short ones.

    >>> as_dtype("float16"), as_dtype(np.int32), as_dtype(bool), as_dtype(float32), as_dtype("f8"), as_dtype("int")
    (float16, int32, bool, float32, float64, int64)
    """
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, type) and dtype in _PYTHON:
        return _PYTHON[dtype]
    if isinstance(dtype, str) and dtype.lower() in LONG:
        return dtype_named(dtype.lower())
    try:
        return dtype_named(np.dtype(dtype).name)
    except (KeyError, TypeError, ValueError, SyntaxError):  # none of NumPy's: "f32" is not
        with suppress(KeyError):
            return dtype_named(str(dtype).lower())
        near = get_close_matches(str(dtype), [d.name for d in DTYPES], 1)
        hint = f"did you mean {near[0]}?" if near else 'write for example ms.float32, "float32" or np.float32'
        if isinstance(dtype, int):
            hint += "; sizes are one tuple, such as (2, 3)"
        raise DTypeError(f"{dtype!r} is not an element type", hint=hint) from None


LONG = {d.name for d in DTYPES}


@cache
def common(x: DType, y: DType) -> DType:
    """The element type in which two tensors are combined.

    >>> from mycelia.types import bfloat16, float16, int8, uint8
    >>> common(int64, float16), common(float16, bfloat16), common(uint8, int8)
    (float16, float32, int16)
    """
    if x is y:
        return x
    if x.is_complex or y.is_complex:  # a float64 needs both parts to be float64
        return complex128 if 64 in (d.part.bits for d in (x, y) if d.is_inexact) else complex64
    rank = {"b": 0, "u": 1, "i": 1, "f": 2}
    if rank[x.kind] != rank[y.kind]:
        return max(x, y, key=lambda d: rank[d.kind])
    if x.kind == y.kind:
        return float32 if x.bits == y.bits else max(x, y, key=lambda d: d.bits)  # float16 and bfloat16 meet above
    unsigned, signed = (x, y) if x.kind == "u" else (y, x)
    if signed.bits > unsigned.bits:
        return signed
    if unsigned.bits == 64:
        raise DTypeError(
            f"{x!r} and {y!r} have no common integer type", hint="cast one of the operands to the type you mean"
        )
    return _SIGNED[unsigned.bits]


def common_with_number(x: DType, kind: type) -> DType:
    """The element type in which a tensor is combined with a Python number: the tensor's, if it can hold it.

    >>> common_with_number(float32, int), common_with_number(int32, float), common_with_number(bool_, int)
    (float32, float32, int64)
    """
    if kind is complex:
        return x if x.is_complex else complex128 if x is float64 else complex64
    if kind is float:
        return x if x.is_inexact else float32
    return int64 if kind is int and x is bool_ else x


def floating(x: DType) -> DType:
    """The element type in which a quotient, a root or an exponential of `x` is computed.

    >>> floating(int64), floating(float64)
    (float32, float64)
    """
    return x if x.is_inexact else float32
