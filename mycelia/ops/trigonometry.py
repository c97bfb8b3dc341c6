"""Functions of angles, and their hyperbolic kin."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor
from mycelia.ops.arguments import floated, method

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "rad2deg",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


@method()
def sin(input: Any) -> Tensor:
    """The sine of an angle.

    >>> sin(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.sin(floated(input))


@method()
def cos(input: Any) -> Tensor:
    """The cosine of an angle.

    >>> cos(Tensor([0.0])).tolist()
    [1.0]
    """
    return p.cos(floated(input))


@method()
def tan(input: Any) -> Tensor:
    """The tangent of an angle.

    >>> tan(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.tan(floated(input))


@method("asin", "arcsin")
def asin(input: Any) -> Tensor:
    """The angle with this sine.

    >>> asin(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.asin(floated(input))


@method("acos", "arccos")
def acos(input: Any) -> Tensor:
    """The angle with this cosine.

    >>> acos(Tensor([1.0])).tolist()
    [0.0]
    """
    return p.acos(floated(input))


@method("atan", "arctan")
def atan(input: Any) -> Tensor:
    """The angle with this tangent.

    >>> atan(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.atan(floated(input))


@method()
def sinh(input: Any) -> Tensor:
    """The hyperbolic sine.

    >>> sinh(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.sinh(floated(input))


@method()
def cosh(input: Any) -> Tensor:
    """The hyperbolic cosine.

    >>> cosh(Tensor([0.0])).tolist()
    [1.0]
    """
    return p.cosh(floated(input))


@method()
def tanh(input: Any) -> Tensor:
    """The hyperbolic tangent.

    >>> tanh(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.tanh(floated(input))


@method("asinh", "arcsinh")
def asinh(input: Any) -> Tensor:
    """The inverse hyperbolic sine.

    >>> asinh(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.asinh(floated(input))


@method("acosh", "arccosh")
def acosh(input: Any) -> Tensor:
    """The inverse hyperbolic cosine.

    >>> acosh(Tensor([1.0])).tolist()
    [0.0]
    """
    return p.acosh(floated(input))


@method("atanh", "arctanh")
def atanh(input: Any) -> Tensor:
    """The inverse hyperbolic tangent.

    >>> atanh(Tensor([0.0])).tolist()
    [0.0]
    """
    return p.atanh(floated(input))


@method()
def deg2rad(x: Any) -> Tensor:
    """Degrees as radians.

    >>> deg2rad(Tensor([0.0])).tolist()
    [0.0]
    """
    return floated(x) * (python.pi / 180.0)


@method()
def rad2deg(x: Any) -> Tensor:
    """Radians as degrees.

    >>> rad2deg(Tensor([0.0])).tolist()
    [0.0]
    """
    return floated(x) * (180.0 / python.pi)


arcsin, arccos, arctan, arcsinh, arccosh, arctanh = asin, acos, atan, asinh, acosh, atanh
