"""What functions take, in NumPy's way, and what they give: operands, element types that are asked for, masks."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, as_dtype, cast, common
from mycelia.errors import ArgumentError
from mycelia.ops.arguments import Axis, tensor
from mycelia.sizes import Sym

NUMBERS = (bool, int, float, complex)


def is_number(x: Any) -> bool:
    """Whether this is a number of Python's, which takes the element type of what it meets.

    >>> is_number(2), is_number([2])
    (True, False)
    """
    return type(x) in NUMBERS or isinstance(x, Sym)


def operands(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Two operands: tensors, or one of them a number of Python's.

    >>> [type(x).__name__ for x in operands([1, 2], 3)]
    ['Tensor', 'int']
    """
    if is_number(x2):
        return tensor(x1), x2
    return x1 if is_number(x1) else tensor(x1), tensor(x2)


def widened(x: Any, dtype: Any) -> Any:
    """An operand in the element type that the result is to have, if that is a wider floating one.

    >>> widened(Tensor([1.0]), "float64").dtype
    float64
    """
    if dtype is None or not isinstance(x, Tensor):
        return x
    wanted = as_dtype(dtype)
    return cast(x, common(x.dtype, wanted)) if wanted.kind in "fc" else x


def finished(out: Tensor, dtype: Any, where: Any) -> Tensor:
    """A result in the element type that was asked for; zero where the mask `where` does not hold.

    >>> finished(Tensor([1.5, 2.5]), "int32", Tensor([True, False])).tolist()
    [1, 0]
    """
    out = out if dtype is None else cast(out, as_dtype(dtype))
    return out if where is True else ops.where(where, out, ops.zeros_like(out))


def unary(function: Callable[[Any], Any], x: Any, dtype: Any = None, where: Any = True) -> Tensor:
    """A function of each element.

    >>> unary(ops.neg, [1, 2]).tolist()
    [-1, -2]
    """
    return finished(function(widened(tensor(x), dtype)), dtype, where)


def binary(function: Callable[[Any, Any], Any], x1: Any, x2: Any, dtype: Any = None, where: Any = True) -> Tensor:
    """A function of each two elements.

    >>> binary(ops.add, [1, 2], 1).tolist()
    [2, 3]
    """
    a, b = operands(x1, x2)
    return finished(function(widened(a, dtype), widened(b, dtype)), dtype, where)


def axis_tuple(axis: Axis) -> Any:
    """Axes that a program gave as a list or a tuple, or one; None means all, and () none.

    >>> axis_tuple([0, 1]), axis_tuple(2)
    ((0, 1), 2)
    """
    return tuple(axis) if isinstance(axis, Sequence) else axis


def unchanged(x: Tensor) -> Tensor:
    """The same numbers, in memory of their own.

    >>> unchanged(Tensor([1])).tolist()
    [1]
    """
    out: Tensor = x.copy()
    return out


def only_order(order: str) -> None:
    """An error for a way to keep numbers in memory: tensors are dense and row-major, whatever was asked for.

    >>> only_order("C")
    """
    if order not in ("C", "K", "A"):
        raise ArgumentError(f"arrays are row-major here, not in the order {order!r}", hint='leave it out, or say "C"')
