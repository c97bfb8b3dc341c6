"""Elements in order: sorted, ranked, counted."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia import checks
from mycelia import primitives as p
from mycelia.eager import Tensor, created, is_late, wrap
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.loops.interpret import ordered
from mycelia.ops.arguments import axis_of, method, tensor
from mycelia.ops.choice import gather_elements, unsorted_segment_sum
from mycelia.types import bfloat16, bool_, int32, int64

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
    return p.cast(order_of(tensor(input), axis, descending), int32)


def order_of(x: Tensor, axis: int, descending: bool) -> Tensor:
    """Positions that put x in order, int64."""
    place = axis_of(x, axis)
    return _complex_order(x, place, descending) if x.dtype.is_complex else p.order_of(x, place, descending)


def _sortable(x: Tensor) -> Any:
    """Numbers that NumPy can put in order: of bfloat16 it does not know where nan belongs."""
    return x.numbers().astype(np.float32) if x.dtype is bfloat16 else x.numbers()


def _complex_order(x: Tensor, axis: int, descending: bool) -> Tensor:
    """The same of complex numbers, by their real and then by their imaginary parts."""
    return wrap(ordered(x.numbers(), descending, axis))


def in_order(x: Tensor, axis: int, descending: bool = False, count: int | None = None) -> tuple[Tensor, Tensor]:
    """The elements in order, or the first of them, and where they were, int64."""
    place = axis_of(x, axis)
    if not x.dtype.is_complex:
        return p.sort(x, place, descending) if count is None else p.topk(x, place, count, descending)
    positions = _complex_order(x, place, descending)
    positions = positions if count is None else _first(positions, count, place)
    return gather_elements(x, place, positions), positions


@method("sort")
def sort(input_x: Any, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The elements in order along an axis, and where they were.

    >>> [t.tolist() for t in sort(Tensor([3.0, 1.0, 2.0]))]
    [[1.0, 2.0, 3.0], [1, 2, 0]]
    """
    values, positions = in_order(tensor(input_x), axis, descending)
    return values, p.cast(positions, int32)


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
    k = checks.whole("topk", "k", int(k) if isinstance(k, Tensor) and k.size == 1 and k.dtype.is_integer else k)
    if not 0 <= k <= x.shape[axis]:
        raise ShapeError(
            f"an axis of {x.shape[axis]} has no {k} largest elements",
            given={"shape": x.shape},
            hint=f"k is at most {x.shape[axis]}",
        )
    values, order = in_order(x, axis, largest, k)
    if not sorted:
        order = p.sort(order, axis)[0]
        values = gather_elements(x, axis, order)
    return values, p.cast(order, int32)


def _first(x: Tensor, stop: int, axis: int, start: int = 0) -> Tensor:
    """The part of x from `start` to `stop` along an axis."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


@method("median")
def median(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The element in the middle along an axis (the lower of two), and where it is.

    >>> [t.item() for t in median(Tensor([3.0, 1.0, 2.0]))]
    [2.0, 2]
    """
    x = tensor(input)
    place = axis_of(x, axis)
    middle = (x.shape[place] - 1) // 2
    values, positions = (_first(t, middle + 1, place, middle) for t in in_order(x, place, False, middle + 1))
    if checks.truth("median", "keepdims", keepdims):
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
    if is_late(x):
        return _unique(p.reshape(x, (-1,)), x.shape)
    numbers, first, inverse = np.unique(_sortable(x), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order)
    dtype = int64 if x.dtype is int64 else int32
    return wrap(numbers[order].astype(x.numbers().dtype)), wrap(rank[inverse].reshape(x.shape).astype(dtype.numpy))


def _unique(x: Tensor, shape: Any) -> tuple[Tensor, Tensor]:
    """The same in a program: in order, equal elements stand side by side, the first of them in front."""
    order = p.order_of(x, 0)
    ordered, (length,) = p.gather(x, order, 0), x.shape
    ahead = p.gather(ordered, p.maximum(p.iota(int64, (length,), 0) - 1, 0), 0)
    begins = p.logical_or(p.equal(p.iota(int64, (length,), 0), 0), p.not_equal(ordered, ahead))
    if x.dtype.is_float:  # one nan is like another
        begins = p.logical_and(begins, p.logical_not(p.logical_and(p.is_nan(ordered), p.is_nan(ahead))))
        begins = p.logical_or(begins, p.equal(p.iota(int64, (length,), 0), 0))
    group = p.cumsum(p.cast(begins, int64), 0) - 1  # of each element in order
    leaders = p.gather(order, p.positions(begins), 0)  # where the first of each group stands
    zeros = p.full(0, int64, (length,))
    leader = p.scatter_update(zeros, order, p.gather(leaders, group, 0), 0)  # of each element
    leads = p.equal(leader, p.iota(int64, (length,), 0))
    which = p.gather(p.cumsum(p.cast(leads, int64), 0) - 1, leader, 0)
    dtype = int64 if x.dtype is int64 else int32
    found = p.gather(p.stop_gradient(x), p.positions(leads), 0)  # eagerly nothing is recorded either
    return found, p.reshape(p.cast(which, dtype), shape)


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
