"""Sums, products, quotients and remainders of elements, and the larger or smaller of two."""

from __future__ import annotations

import operator
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import CallError
from mycelia.numpy.arguments import binary, finished, operands, unary, widened
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import floated
from mycelia.types import bool_

__all__ = [
    "abs",
    "absolute",
    "add",
    "clip",
    "divide",
    "divmod",
    "fabs",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "heaviside",
    "lcm",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "positive",
    "remainder",
    "sign",
    "subtract",
    "true_divide",
]


def _size(x: Any) -> Tensor:
    return x if x.dtype.kind in "bu" else ops.abs(x)


def _floating_size(x: Any) -> Tensor:
    return ops.abs(floated(x))


def _sign(x: Any) -> Tensor:
    return ops.cast(x != 0, x.dtype) if x.dtype.kind == "u" else ops.sign(x)


def absolute(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The distance from zero.

    >>> absolute(Tensor([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return unary(_size, x, dtype, where)


def fabs(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The distance from zero, as a floating number.

    >>> fabs(Tensor([-2])).tolist()
    [2.0]
    """
    return unary(_floating_size, x, dtype, where)


def negative(a: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The number with the other sign.

    >>> negative(Tensor([1, -2])).tolist()
    [-1, 2]
    """
    return unary(ops.neg, a, dtype, where)


def positive(a: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The number itself.

    >>> positive(Tensor([1, -2])).tolist()
    [1, -2]
    """
    return unary(ops.positive, a, dtype, where)


def sign(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """-1, 0 or 1.

    >>> sign(Tensor([-3.0, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return unary(_sign, x, dtype, where)


def add(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The sum.

    >>> add(Tensor([1, 2]), 1).tolist()
    [2, 3]
    """
    return binary(operator.add, x1, x2, dtype, where)


def subtract(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The difference.

    >>> subtract(Tensor([1, 2]), 1).tolist()
    [0, 1]
    """
    return binary(operator.sub, x1, x2, dtype, where)


def multiply(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The product.

    >>> multiply(Tensor([1, 2]), 3).tolist()
    [3, 6]
    """
    return binary(operator.mul, x1, x2, dtype, where)


def divide(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The quotient; of whole numbers, a floating one.

    >>> divide(Tensor([1, 2]), 2).tolist()
    [0.5, 1.0]
    """
    return binary(operator.truediv, x1, x2, dtype, where)


def floor_divide(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The quotient rounded down.

    >>> floor_divide(Tensor([-7, 7]), 2).tolist()
    [-4, 3]
    """
    return binary(operator.floordiv, x1, x2, dtype, where)


def remainder(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """What a division rounded down leaves; it has the sign of the divisor.

    >>> remainder(Tensor([-7, 7]), 3).tolist()
    [2, 1]
    """
    return binary(operator.mod, x1, x2, dtype, where)


def fmod(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """What a division rounded towards zero leaves; it has the sign of the dividend.

    >>> fmod(Tensor([-7, 7]), 3).tolist()
    [-1, 1]
    """
    return binary(ops.fmod, x1, x2, dtype, where)


def _or(larger: Any) -> Any:
    return lambda x, y: (ops.logical_or if _truths(x, y) else larger)(x, y)


def _and(smaller: Any) -> Any:
    return lambda x, y: (ops.logical_and if _truths(x, y) else smaller)(x, y)


def _truths(x: Any, y: Any) -> bool:
    return all(asarray(v).dtype is bool_ for v in (x, y))


def maximum(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The larger of two; nan if one is.

    >>> maximum(Tensor([1, 5]), 3).tolist()
    [3, 5]
    """
    return binary(_or(ops.maximum), x1, x2, dtype, where)


def minimum(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The smaller of two; nan if one is.

    >>> minimum(Tensor([1, 5]), 3).tolist()
    [1, 3]
    """
    return binary(_and(ops.minimum), x1, x2, dtype, where)


def fmax(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The larger of two; of a number and nan, the number.

    >>> fmax(Tensor([1.0]), 3.0).tolist()
    [3.0]
    """
    return binary(_or(ops.fmax), x1, x2, dtype, where)


def fmin(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The smaller of two; of a number and nan, the number.

    >>> fmin(Tensor([1.0]), 3.0).tolist()
    [1.0]
    """
    return binary(_and(ops.fmin), x1, x2, dtype, where)


def gcd(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The greatest common divisor of whole numbers.

    >>> gcd(Tensor([12]), Tensor([18])).tolist()
    [6]
    """
    return binary(ops.gcd, x1, x2, dtype, where)


def lcm(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """The least common multiple of whole numbers.

    >>> lcm(Tensor([4]), Tensor([6])).tolist()
    [12]
    """
    return binary(ops.lcm, x1, x2, dtype, where)


def heaviside(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """0 below zero, 1 above, and the second number at zero.

    >>> heaviside(Tensor([-1.0, 0.0, 2.0]), Tensor([0.5])).tolist()
    [0.0, 0.5, 1.0]
    """
    return binary(lambda x, y: ops.heaviside(floated(x), floated(y)), x1, x2, dtype, where)


def divmod(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> tuple[Tensor, Tensor]:
    """The quotient rounded down, and what it leaves.

    >>> [t.tolist() for t in divmod(Tensor([-7, 7]), 2)]
    [[-4, 3], [1, 1]]
    """
    return floor_divide(x1, x2, dtype, where=where), remainder(x1, x2, dtype, where=where)


def clip(
    x: Any,
    min: Any = None,
    max: Any = None,
    dtype: Any = None,
    *,
    xmin: Any = None,
    xmax: Any = None,
    where: Any = True,
) -> Tensor:
    """The number kept between two others, of which one may be left out; they may be called `xmin` and `xmax`.

    >>> clip(Tensor([-1.0, 0.5, 3.0]), 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    if (xmin is not None and min is not None) or (xmax is not None and max is not None):
        raise CallError("clip was given a bound twice", hint="say min and max, or xmin and xmax")
    low, high = xmin if min is None else min, xmax if max is None else max
    out = widened(operands(x, 0)[0], dtype)
    if low is not None:
        out = ops.maximum(out, operands(low, out)[0])
    if high is not None:
        out = ops.minimum(out, operands(high, out)[0])
    return finished(out.alias() if low is None and high is None else out, dtype, where)


abs = absolute
mod = remainder
true_divide = divide
