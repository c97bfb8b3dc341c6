"""Powers, roots, exponentials and logarithms of every element."""

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.numpy.arguments import binary, unary
from mycelia.ops.arguments import floated
from mycelia.ops.complexes import combined

__all__ = [
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "float_power",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "pow",
    "power",
    "reciprocal",
    "sqrt",
    "square",
]


def _cube_root(x: Any) -> Tensor:
    x = floated(x)
    size = ops.abs(x)
    nothing = size == 0
    root = ops.exp(ops.log(ops.where(nothing, 1.0, size)) / 3)
    root = root - (root - size / (root * root)) / 3  # one step of Newton's: the quotient by 3 was rounded
    root = ops.where(ops.isfinite(size), root, size)
    return ops.where(nothing, x, ops.sign(x) * root)


def _one_over(x: Any) -> Tensor:
    return ops.reciprocal(floated(x))


def _expm1(x: Any) -> Tensor:
    """Of complex numbers at the edges (zero, infinite, nan) it is the exponential, less one in its real part."""
    if x.dtype.kind != "c":
        return ops.expm1(x)
    whole = ops.exp(x)
    edge = ops.logical_or(x == 0, ops.logical_not(ops.isfinite(x)))
    return ops.where(edge, combined(ops.real(whole) - 1, ops.imag(whole)), ops.expm1(x))


def _power(x: Any, y: Any) -> Any:
    return x**y


def exp(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """E to the power.

    >>> exp(Tensor([0.0])).tolist()
    [1.0]
    """
    return unary(ops.exp, x, dtype, where)


def exp2(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Two to the power.

    >>> exp2(Tensor([3.0])).tolist()
    [8.0]
    """
    return unary(ops.exp2, x, dtype, where)


def expm1(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """E to the power, less one, exact near zero.

    >>> expm1(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(_expm1, x, dtype, where)


def log(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The natural logarithm.

    >>> log(Tensor([1.0])).tolist()
    [0.0]
    """
    return unary(ops.log, x, dtype, where)


def log2(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The logarithm to base 2.

    >>> log2(Tensor([8.0])).tolist()
    [3.0]
    """
    return unary(ops.log2, x, dtype, where)


def log10(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The logarithm to base 10.

    >>> log10(Tensor([100.0])).tolist()
    [2.0]
    """
    return unary(ops.log10, x, dtype, where)


def log1p(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The logarithm of one more, exact near zero.

    >>> log1p(Tensor([0.0])).tolist()
    [0.0]
    """
    return unary(ops.log1p, x, dtype, where)


def sqrt(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The square root.

    >>> sqrt(Tensor([4, 9])).tolist()
    [2.0, 3.0]
    """
    return unary(ops.sqrt, x, dtype, where)


def square(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The number times itself.

    >>> square(Tensor([3])).tolist()
    [9]
    """
    return unary(ops.square, x, dtype, where)


def cbrt(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The cube root, of negative numbers too.

    >>> cbrt(Tensor([-8.0, 27.0])).tolist()
    [-2.0, 3.0]
    """
    return unary(_cube_root, x, dtype, where)


def reciprocal(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """One over the number; of whole numbers, a floating one.

    >>> reciprocal(Tensor([4])).tolist()
    [0.25]
    """
    return unary(_one_over, x, dtype, where)


def power(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The first to the power of the second.

    >>> power(Tensor([2, 3]), 2).tolist()
    [4, 9]
    """
    return binary(_power, x1, x2, dtype, where)


def float_power(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """A power, in double precision.

    >>> float_power(Tensor([2]), -1).tolist()
    [0.5]
    """
    return binary(ops.float_power, x1, x2, dtype, where)


def hypot(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The long side of a right triangle.

    >>> hypot(Tensor([3.0]), Tensor([4.0])).tolist()
    [5.0]
    """
    return binary(ops.hypot, x1, x2, dtype, where)


def logaddexp(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """log(exp(x1) + exp(x2)), without overflow.

    >>> logaddexp(Tensor([0.0]), 0.0).item() > 0.69
    True
    """
    return binary(ops.logaddexp, x1, x2, dtype, where)


def logaddexp2(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """log2(2^x1 + 2^x2), without overflow.

    >>> logaddexp2(Tensor([0.0]), 0.0).tolist()
    [1.0]
    """
    return binary(ops.logaddexp2, x1, x2, dtype, where)


pow = power
