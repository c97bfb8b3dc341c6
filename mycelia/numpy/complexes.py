"""Complex numbers: their parts, conjugates and angles. Real numbers are complex ones without an imaginary part."""

from __future__ import annotations

from math import pi
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.numpy.arguments import unary
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import floated

__all__ = ["angle", "conj", "conjugate", "imag", "iscomplex", "isreal", "real", "real_if_close"]


def real(val: Any) -> Tensor:
    """The real part.

    >>> real([1 + 2j]).tolist()
    [1.0]
    """
    return ops.real(asarray(val))


def imag(val: Any) -> Tensor:
    """The imaginary part.

    >>> imag([1 + 2j]).tolist()
    [2.0]
    """
    return ops.imag(asarray(val))


def conj(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The number with the other sign of its imaginary part.

    >>> conj([1 + 2j]).tolist()
    [(1-2j)]
    """
    return unary(lambda x: ops.conj(x) if x.dtype.kind == "c" else x.alias(), x, dtype, where)


conjugate = conj


def angle(z: Any, deg: bool = False) -> Tensor:
    """The angle of a complex number with the real axis, in radians or degrees.

    >>> angle([1j], deg=True).tolist()
    [90.0]
    """
    x = asarray(z)
    out = ops.angle(x) if x.dtype.kind == "c" else _side(floated(x))
    return out * (180 / pi) if deg else out


def _side(x: Tensor) -> Tensor:
    """The angle of a real number: that of -0.0 is pi, and of nan there is none."""
    zero = ops.zeros_like(x)
    below = ops.logical_or(x < 0, ops.logical_and(x == 0, 1 / x < 0))
    return ops.where(x != x, ops.full_like(x, float("nan")), ops.where(below, zero + pi, zero))


def iscomplex(x: Any) -> Tensor:
    """Whether the element has an imaginary part that is not 0.

    >>> iscomplex([1 + 2j, 1 + 0j]).tolist()
    [True, False]
    """
    x = asarray(x)
    return ops.imag(x) != 0 if x.dtype.kind == "c" else ops.zeros_like(x, dtype="bool")


def isreal(x: Any) -> Tensor:
    """Whether the element has no imaginary part.

    >>> isreal([1 + 2j, 1 + 0j]).tolist()
    [False, True]
    """
    return ops.logical_not(iscomplex(x))


def real_if_close(a: Any, tol: float = 100) -> Tensor:
    """The real parts, if all imaginary parts are small: below `tol`, or as many steps of the type if it is above 1.

    >>> real_if_close([1 + 1e-15j]).tolist()
    [1.0]
    """
    x = asarray(a)
    if x.dtype.kind != "c":
        return x
    eps = {32: 2.0**-23, 64: 2.0**-52}[x.dtype.bits // 2]
    small = bool(ops.all(ops.abs(ops.imag(x)) < (tol * eps if tol > 1 else tol)).item())
    return ops.real(x) if small else x
