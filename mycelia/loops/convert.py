"""The numbers of one element type as another, with one answer for numbers that do not fit."""

from __future__ import annotations

import numpy as np

from mycelia.types import Array, DType, dtype_of

__all__ = ["converted", "stepping_stone"]


def stepping_stone(dtype: DType) -> int:
    """The bits of the signed integer through which a float becomes an integer of type `dtype`.

    What does not fit there, not-a-number included, becomes its least number; the upper bits are then cut off. That is
    what the instructions of x86 do, and so what C, NumPy and PyTorch mostly give there; they leave it open.
    """
    return 32 if dtype.bits < 32 or (dtype.bits == 32 and dtype.kind == "i") else 64


def converted(x: Array, dtype: DType) -> Array:
    """The numbers of `x` as `dtype`: floats lose their fraction in integers, and non-zero is true.

    >>> from mycelia.types import int32, uint16
    >>> converted(np.array([1.7, -1.0, 70000.0, 3e9]), uint16), converted(np.array([np.nan]), int32)
    (array([    1, 65535,  4464,     0], dtype=uint16), array([-2147483648], dtype=int32))
    """
    if not dtype.is_integer or not dtype_of(x).is_float:
        return x.astype(dtype.numpy, copy=False)
    wide = x.astype(np.float64)
    bits = stepping_stone(dtype)
    least, limit = -(2.0 ** (bits - 1)), 2.0 ** (bits - 1)
    fits = (wide >= least) & (wide < limit) if bits == 64 else (wide > least - 1) & (wide < limit)
    whole = np.where(fits, wide, least).astype(f"int{bits}")
    if dtype.kind == "u" and dtype.bits == 64:
        upper = (wide >= limit) & (wide < 2 * limit)
        whole = np.where(upper, np.where(upper, wide - limit, 0).astype(np.int64) + np.int64(least), whole)
    return whole.astype(dtype.numpy)
