"""Comparisons and truth of elements."""

from __future__ import annotations

import operator
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import CallError
from mycelia.numpy.arguments import binary, operands, unary
from mycelia.ops.arguments import tensor

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "equal",
    "greater",
    "greater_equal",
    "isclose",
    "iscomplexobj",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isrealobj",
    "isscalar",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
]


def _finite(x: Any) -> Tensor:
    return ops.isfinite(x) if x.dtype.kind in "fc" else ops.ones_like(x, dtype="bool")


def _infinite(x: Any) -> Tensor:
    return ops.isinf(x) if x.dtype.kind in "fc" else ops.zeros_like(x, dtype="bool")


def _nan(x: Any) -> Tensor:
    return ops.isnan(x) if x.dtype.kind in "fc" else ops.zeros_like(x, dtype="bool")


def logical_not(a: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """True where the element is zero or false.

    >>> logical_not(Tensor([True, False])).tolist()
    [False, True]
    """
    return unary(ops.logical_not, a, dtype, where)


def isfinite(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the element is neither infinite nor nan.

    >>> isfinite(Tensor([1.0, float('inf')])).tolist()
    [True, False]
    """
    return unary(_finite, x, dtype, where)


def isinf(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the element is infinite.

    >>> isinf(Tensor([1.0, float('inf')])).tolist()
    [False, True]
    """
    return unary(_infinite, x, dtype, where)


def isnan(x: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the element is not a number.

    >>> isnan(Tensor([1.0, float('nan')])).tolist()
    [False, True]
    """
    return unary(_nan, x, dtype, where)


def equal(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether two numbers are the same.

    >>> equal(Tensor([1, 2]), 2).tolist()
    [False, True]
    """
    return binary(operator.eq, x1, x2, dtype, where)


def not_equal(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether two numbers differ.

    >>> not_equal(Tensor([1, 2]), 2).tolist()
    [True, False]
    """
    return binary(operator.ne, x1, x2, dtype, where)


def less(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the first is smaller.

    >>> less(Tensor([1, 2]), 2).tolist()
    [True, False]
    """
    return binary(operator.lt, x1, x2, dtype, where)


def less_equal(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the first is not larger.

    >>> less_equal(Tensor([1, 2]), 2).tolist()
    [True, True]
    """
    return binary(operator.le, x1, x2, dtype, where)


def greater(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the first is larger.

    >>> greater(Tensor([1, 2]), 2).tolist()
    [False, False]
    """
    return binary(operator.gt, x1, x2, dtype, where)


def greater_equal(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether the first is not smaller.

    >>> greater_equal(Tensor([1, 2]), 2).tolist()
    [False, True]
    """
    return binary(operator.ge, x1, x2, dtype, where)


def logical_and(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether both are true, or not zero.

    >>> logical_and(Tensor([1, 0]), True).tolist()
    [True, False]
    """
    return binary(ops.logical_and, x1, x2, dtype, where)


def logical_or(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether one is true, or not zero.

    >>> logical_or(Tensor([1, 0]), False).tolist()
    [True, False]
    """
    return binary(ops.logical_or, x1, x2, dtype, where)


def logical_xor(x1: Any, x2: Any, dtype: Any = None, *, where: Any = True) -> Tensor:
    """Whether exactly one is true, or not zero.

    >>> logical_xor(Tensor([1, 0]), True).tolist()
    [False, True]
    """
    return binary(ops.logical_xor, x1, x2, dtype, where)


def isposinf(x: Any) -> Tensor:
    """Whether the element is infinite and positive.

    >>> isposinf(Tensor([float("inf"), -float("inf")])).tolist()
    [True, False]
    """
    x = tensor(x)
    return ops.logical_and(_infinite(x), x > 0)


def isneginf(x: Any) -> Tensor:
    """Whether the element is infinite and negative.

    >>> isneginf(Tensor([float("inf"), -float("inf")])).tolist()
    [False, True]
    """
    x = tensor(x)
    return ops.logical_and(_infinite(x), x < 0)


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether a differs from b by at most atol + rtol |b|.

    >>> isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1])).tolist()
    [True, False]
    """
    x, y = operands(a, b)
    return ops.isclose(x, y, rtol, atol, equal_nan)


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether all elements are close, see `isclose`.

    >>> allclose(Tensor([1.0]), Tensor([1.0])).item()
    True
    """
    return ops.all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Whether two arrays have the same shape and the same elements.

    >>> array_equal([1, 2], [1, 2]).item(), array_equal([1, 2], [1, 2, 3]).item()
    (True, False)
    """
    if type(equal_nan) is not bool:
        raise CallError(f"equal_nan is True or False, not {equal_nan!r}")
    x, y = tensor(a1), tensor(a2)
    if x.shape != y.shape:
        return Tensor(False)
    same = x == y
    return ops.all(ops.logical_or(same, ops.logical_and(_nan(x), _nan(y))) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Whether two arrays have the same elements when one is repeated to the shape of the other.

    >>> array_equiv([1, 2], [[1, 2], [1, 2]]).item()
    True
    """
    x, y = tensor(a1), tensor(a2)
    try:
        return ops.all(x == y)
    except ValueError:  # shapes that do not broadcast
        return Tensor(False)


def iscomplexobj(x: Any) -> bool:
    """Whether the elements are complex numbers.

    >>> iscomplexobj([1.0])
    False
    """
    return tensor(x).dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the elements are real numbers.

    >>> isrealobj([1.0])
    True
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether this is a number, or a text: not an array, and nothing with elements.

    >>> isscalar(3.0), isscalar([3.0])
    (True, False)
    """
    return isinstance(element, int | float | complex | str | bytes)
