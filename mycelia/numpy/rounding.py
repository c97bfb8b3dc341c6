"""Whole parts of numbers, their signs and how they are made of bits."""

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.eager.host import called
from mycelia.numpy.arguments import binary, unary
from mycelia.ops.arguments import floated, pair, tensor
from mycelia.primitives import Callee, complex_of
from mycelia.primitives.family import broadcast_shapes
from mycelia.types import TensorType, int32

__all__ = [
    "around",
    "ceil",
    "copysign",
    "fix",
    "floor",
    "frexp",
    "ldexp",
    "modf",
    "nextafter",
    "rint",
    "round",
    "signbit",
    "spacing",
    "trunc",
]


_NEXT = Callee(numpy.nextafter, "nextafter", raises=False)
_POWER = Callee(lambda x: numpy.frexp(x)[1], "frexp", raises=False)
_SPACING = Callee(numpy.spacing, "spacing", raises=False)


def _nearest(x: Any) -> Tensor:
    return ops.round(floated(x))


def _negative(x: Any) -> Tensor:
    return ops.signbit(x) if x.dtype.is_float else x < 0


def _copysign(x: Any, y: Any) -> Tensor:
    a, b = (floated(t) for t in pair(x, y))
    return ops.copysign(a, b)


def _neighbour(x: Any, y: Any) -> Tensor:
    a, b = (floated(t) for t in pair(x, y))
    return called(_NEXT, [TensorType(a.dtype, broadcast_shapes(a.shape, b.shape))], [a, b], stateful=False)[0]


def _spacing(x: Any) -> Tensor:
    a = floated(x)
    return called(_SPACING, [TensorType(a.dtype, a.shape)], [a], stateful=False)[0]


def floor(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The nearest whole number below.

    >>> floor(Tensor([1.7, -1.2])).tolist()
    [1.0, -2.0]
    """
    return unary(ops.floor, x, dtype, where)


def ceil(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The nearest whole number above.

    >>> ceil(Tensor([1.2])).tolist()
    [2.0]
    """
    return unary(ops.ceil, x, dtype, where)


def trunc(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The nearest whole number towards zero.

    >>> trunc(Tensor([-1.7])).tolist()
    [-1.0]
    """
    return unary(ops.trunc, x, dtype, where)


def rint(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The nearest whole number, the even one of two, as a floating number.

    >>> rint(Tensor([0.5, 1.5])).tolist()
    [0.0, 2.0]
    """
    return unary(_nearest, x, dtype, where)


def signbit(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the sign is negative, that of zero too.

    >>> signbit(Tensor([-0.0, 1.0])).tolist()
    [True, False]
    """
    return unary(_negative, x, dtype, where)


def spacing(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The distance to the next number, away from zero.

    >>> spacing(Tensor([1.0])).item() == 2.0**-23
    True
    """
    return unary(_spacing, x, dtype, where)


def copysign(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The size of one number with the sign of another; the sign of -0.0 counts.

    >>> copysign(Tensor([1.0]), Tensor([-2.0])).tolist()
    [-1.0]
    """
    return binary(_copysign, x1, x2, dtype, where)


def ldexp(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """A number times two to the power of another.

    >>> ldexp(Tensor([3.0]), Tensor([2])).tolist()
    [12.0]
    """
    return binary(ops.ldexp, x1, x2, dtype, where)


def nextafter(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The next number after the first in the direction of the second.

    >>> nextafter(Tensor([1.0]), Tensor([2.0])).item() == 1 + 2.0**-23
    True
    """
    return binary(_neighbour, x1, x2, dtype, where)


def fix(x: Any) -> Tensor:
    """The nearest whole number towards zero, as a floating number.

    >>> fix(Tensor([-1.7, 2.2])).tolist()
    [-1.0, 2.0]
    """
    return ops.trunc(floated(x))


def round(x: Any, decimals: int = 0, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The nearest number with so many decimals, the even one of two.

    >>> round(Tensor([0.5, 1.25]), 1).tolist()
    [0.5, 1.2]
    """
    return unary(lambda x: _rounded(x, decimals), x, dtype, where)


def _rounded(x: Tensor, decimals: int) -> Tensor:
    if x.dtype.is_complex:
        return complex_of(*(ops.round(part, decimals=decimals) for part in (ops.real(x), ops.imag(x))))
    return ops.round(x, decimals=decimals) if x.dtype.is_float else _whole(x, decimals)


def _whole(x: Tensor, decimals: int) -> Tensor:
    """A whole number without its last digits, if `decimals` is negative; the even one of two."""
    if decimals >= 0:
        return x.alias()
    unit = 10**-decimals
    low = x // unit
    over = 2 * (x - low * unit) - unit
    up = ops.logical_or(over > 0, ops.logical_and(over == 0, low % 2 == 1))
    return ops.mul(low + ops.cast(up, x.dtype), unit)


def modf(x: Any, dtype: Any = None, *, where: Any = True) -> tuple[Tensor, Tensor]:
    """The part behind the point and the whole part, both with the sign of the number.

    >>> [t.tolist() for t in modf(Tensor([-1.5, 2.25]))]
    [[-0.5, 0.25], [-1.0, 2.0]]
    """
    x = floated(x)
    return unary(_behind, x, dtype, where), unary(ops.trunc, x, dtype, where)


def _behind(x: Tensor) -> Tensor:
    return _copysign(ops.where(ops.isinf(x), 0.0, x - ops.trunc(x)), x)


around = round


def frexp(x: Any) -> tuple[Tensor, Tensor]:
    """A number between 1/2 and 1, and the power of two that it is multiplied by.

    >>> [t.tolist() for t in frexp([3.0, -0.25])]
    [[0.75, -0.5], [2, -1]]
    """
    a = floated(tensor(x))
    (power,) = called(_POWER, [TensorType(int32, a.shape)], [ops.stop_gradient(a)], stateful=False)
    half = -power // 2  # two to the whole power may be more than the type holds
    return a * ops.cast(2.0 ** ops.cast(half, a.dtype), a.dtype) * 2.0 ** ops.cast(-power - half, a.dtype), power
