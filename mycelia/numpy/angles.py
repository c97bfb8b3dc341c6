"""Angles: trigonometric and hyperbolic functions, their inverses, degrees."""

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.numpy.arguments import binary, unary

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "rad2deg",
    "radians",
    "sin",
    "sinc",
    "sinh",
    "tan",
    "tanh",
]


def sin(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The sine of an angle.

    >>> sin(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.sin, x, dtype, where)


def cos(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The cosine of an angle.

    >>> cos(Tensor([0.0])).tolist()
    [1.0]
    """
    return unary(ops.cos, x, dtype, where)


def tan(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The tangent of an angle.

    >>> tan(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.tan, x, dtype, where)


def sinh(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The hyperbolic sine.

    >>> sinh(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.sinh, x, dtype, where)


def cosh(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The hyperbolic cosine.

    >>> cosh(Tensor([0.0])).tolist()
    [1.0]
    """
    return unary(ops.cosh, x, dtype, where)


def tanh(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The hyperbolic tangent.

    >>> tanh(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.tanh, x, dtype, where)


def arcsin(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The angle with this sine.

    >>> arcsin(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.asin, x, dtype, where)


def arccos(input: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The angle with this cosine.

    >>> arccos(Tensor([1.0])).tolist()
    [0.0]
    """
    return unary(ops.acos, input, dtype, where)


def arctan(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The angle with this tangent.

    >>> arctan(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.atan, x, dtype, where)


def arcsinh(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The inverse hyperbolic sine.

    >>> arcsinh(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.asinh, x, dtype, where)


def arccosh(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The inverse hyperbolic cosine.

    >>> arccosh(Tensor([1.0])).tolist()
    [0.0]
    """
    return unary(ops.acosh, x, dtype, where)


def arctanh(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The inverse hyperbolic tangent.

    >>> arctanh(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.atanh, x, dtype, where)


def deg2rad(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Degrees as radians.

    >>> deg2rad(Tensor([180.0])).tolist()
    [3.1415927410125732]
    """
    return unary(ops.deg2rad, x, dtype, where)


def rad2deg(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Radians as degrees.

    >>> rad2deg(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.rad2deg, x, dtype, where)


def sinc(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0.

    >>> sinc(Tensor([0.0])).tolist()
    [1.0]
    """
    return unary(ops.sinc, x, dtype, where)


def arctan2(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The angle of the point with ordinate x1 and abscissa x2.

    >>> arctan2(Tensor([0.0]), Tensor([1.0])).tolist()
    [0.0]
    """
    return binary(ops.atan2, x1, x2, dtype, where)


acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
degrees = rad2deg
radians = deg2rad
