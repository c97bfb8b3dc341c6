"""Elements in order: sorted, ranked, counted."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, created, wrap
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ops.arguments import axis_of, method, tensor
from mycelia.ops.choice import gather_elements, unsorted_segment_sum
from mycelia.types import bool_, int32, int64

__all__ = [
    "argsort",
    "bincount",
    "median",
    "sort",
    "topk",
    "unique",
]


@method("argsort")
def argsort(input: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """The positions that put the elements in order; equal ones keep theirs.

    >>> argsort(Tensor([3.0, 1.0, 2.0])).tolist()
    [1, 2, 0]
    """
    return wrap(_order(tensor(input), axis, descending).astype(np.int32))


def _order(x: Tensor, axis: int, descending: bool) -> Any:
    numbers = x.numbers()
    if not descending:
        return np.argsort(numbers, axis, kind="stable")
    backwards = np.flip(np.argsort(np.flip(numbers, axis), axis, kind="stable"), axis)
    return numbers.shape[axis] - 1 - backwards


@method("sort")
def sort(input_x: Any, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The elements in order along an axis, and where they were.

    >>> [t.tolist() for t in sort(Tensor([3.0, 1.0, 2.0]))]
    [[1.0, 2.0, 3.0], [1, 2, 0]]
    """
    x = tensor(input_x)
    positions = argsort(x, axis, descending)
    return gather_elements(x, axis, positions), positions


@method("topk", "top_k")
def topk(
    input: Any, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The k largest (or smallest) elements along an axis, in order (or in their own, if not `sorted`); and where.

    >>> [t.tolist() for t in topk(Tensor([3.0, 1.0, 2.0]), 2)]
    [[3.0, 2.0], [0, 2]]
    """
    x = tensor(input)
    axis = axis_of(x, -1 if dim is None else dim)
    if not 0 <= k <= x.shape[axis]:
        raise ShapeError(f"an axis of {x.shape[axis]} has no {k} largest elements")
    order = np.take(_order(x, axis, largest), np.arange(k), axis)
    positions = wrap((order if sorted else np.sort(order, axis)).astype(np.int32))
    return gather_elements(x, axis, positions), positions


@method("median")
def median(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The element in the middle along an axis (the lower of two), and where it is.

    >>> [t.item() for t in median(Tensor([3.0, 1.0, 2.0]))]
    [2.0, 2]
    """
    x = tensor(input)
    place = axis_of(x, axis)
    middle = np.take(_order(x, place, False), [(x.shape[place] - 1) // 2], place)
    positions = wrap(middle.astype(np.int64))
    values = gather_elements(x, place, positions)
    if keepdims:
        return values, positions
    shape = tuple(e for a, e in enumerate(x.shape) if a != place)
    return p.reshape(values, shape), p.reshape(positions, shape)


@method("unique")
def unique(input: Any) -> tuple[Tensor, Tensor]:
    """The different elements in the order they first appear, and for every element which of them it is.

    >>> [t.tolist() for t in unique(Tensor([3, 1, 3]))]
    [[3, 1], [0, 1, 0]]
    """
    x = tensor(input)
    numbers, first, inverse = np.unique(x.numbers(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order)
    dtype = int64 if x.dtype is int64 else int32
    return wrap(numbers[order]), wrap(rank[inverse].reshape(x.shape).astype(dtype.numpy))


@method("bincount")
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each whole number appears, or the sum of the weights of its appearances.

    >>> bincount(Tensor([0, 2, 2])).tolist()
    [1, 0, 2]
    """
    x = tensor(input)
    if x.dtype is bool_ or not x.dtype.is_integer:
        raise DTypeError(f"bincount counts whole numbers, not {x.dtype!r}")
    if x.numbers().min(initial=0) < 0:
        raise ArgumentError(f"bincount counts numbers from 0 on, not {x.numbers().min()}")
    count = max(minlength, int(x.numbers().max(initial=-1)) + 1)
    ones = created(p.Full(1, int64, x.shape)) if weights is None else tensor(weights)
    return unsorted_segment_sum(ones, x, count)
