"""Bits of whole numbers."""

from __future__ import annotations

import operator
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, DTypeError
from mycelia.numpy.arguments import binary, unary
from mycelia.ops.arguments import tensor
from mycelia.types import bool_, uint8

__all__ = [
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "invert",
    "left_shift",
    "packbits",
    "right_shift",
    "unpackbits",
]


def _ones(x: Any) -> Tensor:
    size = tensor(x)
    if not (size.dtype.is_integer or size.dtype is bool_):
        raise DTypeError(f"bits are those of whole numbers, not of {size.dtype!r}", hint="cast it to int64")
    size = ops.cast(ops.abs(ops.cast(size, "int64")) if size.dtype.kind == "i" else size, "uint64")
    for mask, shift in ((0x5555555555555555, 1), (0x3333333333333333, 2), (0x0F0F0F0F0F0F0F0F, 4)):
        low = Tensor(mask, "uint64")
        size = ops.bitwise_and(size, low) + ops.bitwise_and(size >> shift, low)
    for shift in (8, 16, 32):
        size = size + (size >> shift)
    return ops.cast(ops.bitwise_and(size, 0x7F), "uint8")


def bitwise_invert(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Every bit flipped; of a bool, the other one.

    >>> bitwise_invert(Tensor([0, 5])).tolist()
    [-1, -6]
    """
    return unary(ops.bitwise_not, x, dtype, where)


def bitwise_count(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """How many bits of the size of a whole number are one.

    >>> bitwise_count(Tensor([7, -8])).tolist()
    [3, 1]
    """
    return unary(_ones, x, dtype, where)


def bitwise_and(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Bits that both have.

    >>> bitwise_and(Tensor([6]), 3).tolist()
    [2]
    """
    return binary(ops.bitwise_and, x1, x2, dtype, where)


def bitwise_or(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Bits that one of them has.

    >>> bitwise_or(Tensor([6]), 3).tolist()
    [7]
    """
    return binary(ops.bitwise_or, x1, x2, dtype, where)


def bitwise_xor(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Bits that exactly one of them has.

    >>> bitwise_xor(Tensor([6]), 3).tolist()
    [5]
    """
    return binary(ops.bitwise_xor, x1, x2, dtype, where)


def bitwise_left_shift(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Bits moved up.

    >>> bitwise_left_shift(Tensor([3]), 2).tolist()
    [12]
    """
    return binary(operator.lshift, x1, x2, dtype, where)


def bitwise_right_shift(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Bits moved down.

    >>> bitwise_right_shift(Tensor([12]), 2).tolist()
    [3]
    """
    return binary(operator.rshift, x1, x2, dtype, where)


bitwise_not = bitwise_invert
invert = bitwise_invert
left_shift = bitwise_left_shift
right_shift = bitwise_right_shift


def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Tensor:
    """Truths as bits, eight in a byte; what is missing in the last one is 0.

    >>> packbits([1, 0, 1]).tolist()
    [160]
    """
    x = ops.cast(tensor(a) != 0, "int64")
    if axis is None:
        x, axis = x.reshape(-1), 0
    x = ops.movedim(x, axis, -1)
    missing = -x.shape[-1] % 8
    x = ops.cat([x, ops.zeros((*x.shape[:-1], missing), x.dtype)], -1)
    bytes_ = (x.reshape(*x.shape[:-1], -1, 8) * Tensor(_weights(bitorder))).sum(-1)
    return ops.movedim(ops.cast(bytes_, "uint8"), -1, axis)


def unpackbits(a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Tensor:
    """The bits of bytes, of which `count` says how many, or how many at the end are left out if it is negative.

    >>> unpackbits(Tensor([160], "uint8"), count=3).tolist()
    [1, 0, 1]
    """
    x = tensor(a)
    if x.dtype is not uint8:
        raise DTypeError(f"unpackbits takes bytes, not {x.dtype!r}", hint="cast it to uint8")
    if axis is None:
        x, axis = x.reshape(-1), 0
    x = ops.movedim(ops.cast(x, "int64"), axis, -1)
    bits = (x.expand_dims(-1) // Tensor(_weights(bitorder))) % 2
    bits = bits.reshape(*x.shape[:-1], -1)
    if count is not None and count > bits.shape[-1]:
        bits = ops.cat([bits, ops.zeros((*bits.shape[:-1], count - bits.shape[-1]), bits.dtype)], -1)
    return ops.movedim(ops.cast(bits if count is None else bits[..., :count], "uint8"), -1, axis)


def _weights(bitorder: str) -> list[int]:
    if bitorder not in ("big", "little"):
        raise ArgumentError(f"bits have no order {bitorder!r}", hint='say "big" or "little"')
    return [2**i for i in (range(7, -1, -1) if bitorder == "big" else range(8))]
