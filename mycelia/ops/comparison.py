"""Comparisons, element by element."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor, cast
from mycelia.ops.arguments import method, pair
from mycelia.types import complex128, float64

__all__ = [
    "allclose",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isclose",
    "le",
    "less",
    "less_equal",
    "lt",
    "ne",
    "not_equal",
    "tensor_ge",
    "tensor_gt",
    "tensor_le",
    "tensor_lt",
]


@method("greater", "gt")
def greater(input: Any, other: Any) -> Tensor:
    """Whether x is larger than y.

    >>> greater(Tensor([1, 2]), 1).tolist()
    [False, True]
    """
    return p.greater(*pair(input, other))


@method("greater_equal", "ge")
def greater_equal(input: Any, other: Any) -> Tensor:
    """Whether x is not smaller than y.

    >>> greater_equal(Tensor([1, 2]), 2).tolist()
    [False, True]
    """
    return p.greater_equal(*pair(input, other))


@method("less", "lt")
def less(input: Any, other: Any) -> Tensor:
    """Whether x is smaller than y.

    >>> less(Tensor([1, 2]), 2).tolist()
    [True, False]
    """
    return p.less(*pair(input, other))


@method("less_equal", "le")
def less_equal(input: Any, other: Any) -> Tensor:
    """Whether x is not larger than y.

    >>> less_equal(Tensor([1, 2]), 1).tolist()
    [True, False]
    """
    return p.less_equal(*pair(input, other))


@method("equal", "eq")
def equal(input: Any, other: Any) -> Tensor:
    """Whether x and y are the same number.

    >>> equal(Tensor([1, 2]), 2).tolist()
    [False, True]
    """
    return p.equal(*pair(input, other))


@method("not_equal", "ne")
def not_equal(input: Any, other: Any) -> Tensor:
    """Whether x and y are different numbers.

    >>> not_equal(Tensor([1, 2]), 2).tolist()
    [True, False]
    """
    return p.not_equal(*pair(input, other))


@method()
def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether x differs from y by at most atol + rtol |y|.

    >>> isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1])).tolist()
    [True, False]
    """
    x, y = pair(input, other)
    wide = complex128 if x.dtype.is_complex else float64
    x, y = cast(x, wide), cast(y, wide)
    size = p.abs(y)
    near = p.abs(x - y) <= atol + rtol * size
    near = p.logical_or(p.logical_and(near, p.is_finite(size)), p.equal(x, y))
    return p.logical_or(near, p.logical_and(p.not_equal(x, x), p.not_equal(y, y))) if equal_nan else near


@method()
def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close, see `isclose`.

    >>> allclose(Tensor([1.0]), Tensor([1.0]))
    True
    """
    return bool(p.reduce_all(isclose(input, other, rtol, atol, equal_nan)))


gt, ge, lt, le, eq, ne = greater, greater_equal, less, less_equal, equal, not_equal
tensor_gt, tensor_ge, tensor_lt, tensor_le = greater, greater_equal, less, less_equal
