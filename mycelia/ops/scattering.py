"""Slices that are changed at positions: multiplied, divided, raised, lowered, replaced; new tensors, or in place."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from mycelia import primitives as p
from mycelia.checks import truth as true_or_false
from mycelia.eager import Tensor, cast, created
from mycelia.eager.indexing import linear
from mycelia.errors import ShapeError
from mycelia.ops.arguments import axis_of, method, number, tensor
from mycelia.ops.choice import _columns, _positions, tensor_scatter_add, tensor_scatter_sub, tensor_scatter_update
from mycelia.ops.creation import diagonal
from mycelia.ops.state import updated
from mycelia.primitives.family import broadcast_shapes
from mycelia.types import int64

__all__ = [
    "diagonal_scatter",
    "inplace_add",
    "inplace_index_add",
    "inplace_sub",
    "inplace_update",
    "masked_scatter",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_div",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_mul",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "select_scatter",
    "slice_scatter",
    "tensor_scatter_div",
    "tensor_scatter_max",
    "tensor_scatter_min",
    "tensor_scatter_mul",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
]

# ---------------------------------------------------------------------------- new tensors, positions that are rows


def _at_rows(combine: Callable[..., Any], input_x: Any, indices: Any, updates: Any) -> Tensor:
    x, i = tensor(input_x), tensor(indices)
    depth = i.shape[-1]
    columns = [_positions(column, x, axis, "scatter") for axis, column in enumerate(_columns(i))]
    rows = p.reshape(x, (prod(x.shape[:depth]), *x.shape[depth:]))
    return p.reshape(combine(rows, linear(columns, x.shape[:depth]), cast(tensor(updates), x.dtype), 0), x.shape)


@method("tensor_scatter_mul")
def tensor_scatter_mul(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with slices multiplied at positions that are rows; where positions repeat, by all.

    >>> tensor_scatter_mul(Tensor([1.0, 2.0]), Tensor([[1], [1]]), Tensor([3.0, 5.0])).tolist()
    [1.0, 30.0]
    """
    return _at_rows(p.scatter_mul, input_x, indices, updates)


def _divided(rows: Any, at: Any, updates: Any, axis: int) -> Any:
    """Slices divided, each by the product of what belongs to it; whole numbers are rounded down."""
    by = p.scatter_mul(p.ones_like(rows), at, updates, axis)
    return p.floor_divide(rows, by) if rows.dtype.is_integer else rows / by


@method("tensor_scatter_div")
def tensor_scatter_div(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with slices divided at positions that are rows; where positions repeat, by all.

    >>> tensor_scatter_div(Tensor([1.0, 30.0]), Tensor([[1], [1]]), Tensor([3.0, 5.0])).tolist()
    [1.0, 2.0]
    """
    return _at_rows(_divided, input_x, indices, updates)


@method("tensor_scatter_max")
def tensor_scatter_max(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with slices raised, at positions that are rows, to what is larger.

    >>> tensor_scatter_max(Tensor([1.0, 2.0]), Tensor([[0], [1]]), Tensor([3.0, 1.0])).tolist()
    [3.0, 2.0]
    """
    return _at_rows(p.scatter_max, input_x, indices, updates)


@method("tensor_scatter_min")
def tensor_scatter_min(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with slices lowered, at positions that are rows, to what is smaller.

    >>> tensor_scatter_min(Tensor([1.0, 2.0]), Tensor([[0], [1]]), Tensor([3.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    return _at_rows(p.scatter_min, input_x, indices, updates)


# ------------------------------------------------------------------------------- in place, positions of the first axis


def _in_place(combine: Callable[..., Any], name: str, input_x: Any, indices: Any, updates: Any) -> Tensor:
    x = tensor(input_x)
    i = _positions(indices, x, 0, name)
    wanted = (*i.shape, *x.shape[1:])
    return updated(x, combine(x.alias(), i, p.broadcast(cast(tensor(updates), x.dtype), wanted), 0))


def scatter_update(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with other slices at positions of its first axis.

    >>> scatter_update(Tensor([1.0, 2.0]), Tensor([0]), Tensor([5.0])).tolist()
    [5.0, 2.0]
    """
    return _in_place(p.scatter_update, "scatter_update", input_x, indices, updates)


def scatter_add(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with slices added at positions of its first axis.

    >>> scatter_add(Tensor([1.0, 2.0]), Tensor([0]), Tensor([5.0])).tolist()
    [6.0, 2.0]
    """
    return _in_place(p.scatter_add, "scatter_add", input_x, indices, updates)


def scatter_sub(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with slices subtracted at positions of its first axis.

    >>> scatter_sub(Tensor([1.0, 2.0]), Tensor([0]), Tensor([5.0])).tolist()
    [-4.0, 2.0]
    """
    return _in_place(p.scatter_add, "scatter_sub", input_x, indices, p.negative(tensor(updates)))


def scatter_mul(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with slices multiplied at positions of its first axis.

    >>> scatter_mul(Tensor([1.0, 2.0]), Tensor([1]), Tensor([5.0])).tolist()
    [1.0, 10.0]
    """
    return _in_place(p.scatter_mul, "scatter_mul", input_x, indices, updates)


def scatter_div(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with slices divided at positions of its first axis.

    >>> scatter_div(Tensor([1.0, 2.0]), Tensor([1]), Tensor([4.0])).tolist()
    [1.0, 0.5]
    """
    return _in_place(_divided, "scatter_div", input_x, indices, updates)


def scatter_max(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with slices raised, at positions of its first axis, to what is larger.

    >>> scatter_max(Tensor([1.0, 2.0]), Tensor([0]), Tensor([4.0])).tolist()
    [4.0, 2.0]
    """
    return _in_place(p.scatter_max, "scatter_max", input_x, indices, updates)


def scatter_min(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A parameter, from now on with slices lowered, at positions of its first axis, to what is smaller.

    >>> scatter_min(Tensor([1.0, 2.0]), Tensor([0]), Tensor([-4.0])).tolist()
    [-4.0, 2.0]
    """
    return _in_place(p.scatter_min, "scatter_min", input_x, indices, updates)


# ------------------------------------------------------------------------------------ in place, positions that are rows


def _rows_in_place(
    scatter: Callable[..., Tensor], name: str, input_x: Any, indices: Any, updates: Any, use_locking: bool
) -> Tensor:
    true_or_false(name, "use_locking", use_locking)  # an update is never interrupted
    x = tensor(input_x)
    return updated(x, scatter(x.alias(), indices, updates))


def scatter_nd_update(input_x: Any, indices: Any, updates: Any, use_locking: bool = True) -> Tensor:
    """A parameter, from now on with other slices at positions that are rows.

    >>> scatter_nd_update(Tensor([1.0, 2.0]), Tensor([[0]]), Tensor([5.0])).tolist()
    [5.0, 2.0]
    """
    return _rows_in_place(tensor_scatter_update, "scatter_nd_update", input_x, indices, updates, use_locking)


def scatter_nd_add(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Tensor:
    """A parameter, from now on with slices added at positions that are rows.

    >>> scatter_nd_add(Tensor([1.0, 2.0]), Tensor([[0]]), Tensor([5.0])).tolist()
    [6.0, 2.0]
    """
    return _rows_in_place(tensor_scatter_add, "scatter_nd_add", input_x, indices, updates, use_locking)


def scatter_nd_sub(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Tensor:
    """A parameter, from now on with slices subtracted at positions that are rows.

    >>> scatter_nd_sub(Tensor([1.0, 2.0]), Tensor([[0]]), Tensor([5.0])).tolist()
    [-4.0, 2.0]
    """
    return _rows_in_place(tensor_scatter_sub, "scatter_nd_sub", input_x, indices, updates, use_locking)


def scatter_nd_mul(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Tensor:
    """A parameter, from now on with slices multiplied at positions that are rows.

    >>> scatter_nd_mul(Tensor([1.0, 2.0]), Tensor([[1]]), Tensor([5.0])).tolist()
    [1.0, 10.0]
    """
    return _rows_in_place(tensor_scatter_mul, "scatter_nd_mul", input_x, indices, updates, use_locking)


def scatter_nd_div(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Tensor:
    """A parameter, from now on with slices divided at positions that are rows.

    >>> scatter_nd_div(Tensor([1.0, 2.0]), Tensor([[1]]), Tensor([4.0])).tolist()
    [1.0, 0.5]
    """
    return _rows_in_place(tensor_scatter_div, "scatter_nd_div", input_x, indices, updates, use_locking)


def scatter_nd_max(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Tensor:
    """A parameter, from now on with slices raised, at positions that are rows, to what is larger.

    >>> scatter_nd_max(Tensor([1.0, 2.0]), Tensor([[0]]), Tensor([4.0])).tolist()
    [4.0, 2.0]
    """
    return _rows_in_place(tensor_scatter_max, "scatter_nd_max", input_x, indices, updates, use_locking)


def scatter_nd_min(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Tensor:
    """A parameter, from now on with slices lowered, at positions that are rows, to what is smaller.

    >>> scatter_nd_min(Tensor([1.0, 2.0]), Tensor([[0]]), Tensor([-4.0])).tolist()
    [-4.0, 2.0]
    """
    return _rows_in_place(tensor_scatter_min, "scatter_nd_min", input_x, indices, updates, use_locking)


# ------------------------------------------------------------------------------------------------------------- segments


def _segments(combine: Callable[..., Any], start: Any, x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    x, ids = tensor(x), cast(tensor(segment_ids), int64)
    rest = x.shape[ids.ndim :]
    inside = p.logical_and(ids >= 0, ids < num_segments)
    begun = created(p.Full(start(x), x.dtype, (num_segments + 1, *rest)))  # the last one takes what belongs nowhere
    out = combine(begun, p.select(inside, ids, number(num_segments, ids)), x, 0)
    return p.take(out, 0, 0, num_segments)


def _bounds(x: Tensor) -> tuple[Any, Any]:
    """The smallest and the largest finite number of a type, which empty segments hold."""
    if x.dtype.is_integer:
        return int(np.iinfo(x.dtype.numpy).min), int(np.iinfo(x.dtype.numpy).max)
    known = ml_dtypes.finfo(x.dtype.numpy)  # type: ignore[no-untyped-call]  # NumPy's knows no bfloat16
    return float(known.min), float(known.max)


@method("unsorted_segment_max")
def unsorted_segment_max(x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """The largest of the slices that belong to the same segment; an empty one has the smallest number of the type.

    >>> unsorted_segment_max(Tensor([1.0, 2.0, 3.0]), Tensor([0, 1, 0]), 2).tolist()
    [3.0, 2.0]
    """
    return _segments(p.scatter_max, lambda x: _bounds(x)[0], x, segment_ids, num_segments)


@method("unsorted_segment_min")
def unsorted_segment_min(x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """The smallest of the slices that belong to the same segment; an empty one has the largest number of the type.

    >>> unsorted_segment_min(Tensor([1.0, 2.0, 3.0]), Tensor([0, 1, 0]), 2).tolist()
    [1.0, 2.0]
    """
    return _segments(p.scatter_min, lambda x: _bounds(x)[1], x, segment_ids, num_segments)


@method("unsorted_segment_prod")
def unsorted_segment_prod(x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """The products of the slices that belong to the same segment; that of an empty one is 1.

    >>> unsorted_segment_prod(Tensor([2.0, 2.0, 3.0]), Tensor([0, 1, 0]), 3).tolist()
    [6.0, 2.0, 1.0]
    """
    return _segments(p.scatter_mul, lambda x: 1, x, segment_ids, num_segments)


# --------------------------------------------------------------------------------------------- rows, slices, diagonals


def _rows(combine: Callable[..., Any], name: str, x: Any, v: Any, indices: Any) -> Tensor:
    x = tensor(x)
    i = _positions(tensor(indices).reshape(-1), x, 0, name)
    return combine(x, i, p.broadcast(cast(tensor(v), x.dtype), (*i.shape, *x.shape[1:])), 0)


def inplace_update(x: Any, v: Any, indices: Any) -> Tensor:
    """A tensor with other slices at positions of its first axis; the one given stays.

    >>> inplace_update(Tensor([1.0, 2.0]), Tensor([9.0]), 1).tolist()
    [1.0, 9.0]
    """
    return _rows(p.scatter_update, "inplace_update", x, v, indices)


def inplace_add(x: Any, v: Any, indices: Any) -> Tensor:
    """A tensor with slices added at positions of its first axis; the one given stays.

    >>> inplace_add(Tensor([1.0, 2.0]), Tensor([9.0]), 1).tolist()
    [1.0, 11.0]
    """
    return _rows(p.scatter_add, "inplace_add", x, v, indices)


def inplace_sub(x: Any, v: Any, indices: Any) -> Tensor:
    """A tensor with slices subtracted at positions of its first axis; the one given stays.

    >>> inplace_sub(Tensor([1.0, 2.0]), Tensor([9.0]), 1).tolist()
    [1.0, -7.0]
    """
    return _rows(p.scatter_add, "inplace_sub", x, p.negative(tensor(v)), indices)


def inplace_index_add(var: Any, indices: Any, updates: Any, axis: int) -> Tensor:
    """A parameter, from now on with slices added at positions of an axis.

    >>> inplace_index_add(Tensor([1.0, 2.0]), Tensor([1]), Tensor([9.0]), 0).tolist()
    [1.0, 11.0]
    """
    x = tensor(var)
    place = axis_of(x, axis)
    i = _positions(indices, x, place, "inplace_index_add")
    return updated(x, p.scatter_add(x.alias(), i, cast(tensor(updates), x.dtype), place))


@method("select_scatter")
def select_scatter(input: Any, src: Any, axis: int, index: int) -> Tensor:
    """A tensor with another slice at one position of an axis.

    >>> select_scatter(Tensor([[1, 2], [3, 4]]), Tensor([8, 9]), 0, 1).tolist()
    [[1, 2], [8, 9]]
    """
    return _with_part("select_scatter", input, src, axis, index)


@method("slice_scatter")
def slice_scatter(
    input: Any, src: Any, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A tensor with other slices at every `step`-th position of an axis, from `start` up to, and without, `end`.

    >>> slice_scatter(Tensor([1, 2, 3, 4]), Tensor([8, 9]), 0, 0, 4, 2).tolist()
    [8, 2, 9, 4]
    """
    return _with_part("slice_scatter", input, src, axis, slice(start, end, step))


def _with_part(name: str, input: Any, src: Any, axis: int, where: Any) -> Tensor:
    """A tensor with another part along an axis; the part has the shape of what it replaces."""
    out, part = tensor(input).alias(), tensor(src)
    place = (slice(None),) * axis_of(out, axis) + (where,)
    if (shape := out[place].shape) != part.shape:
        raise ShapeError(
            f"{name} replaces a part of shape {shape}, and was given one of shape {part.shape}",
            given={"tensor": out.shape},
            hint="ops.broadcast_to makes the shapes equal",
        )
    out[place] = cast(part, out.dtype)
    return out


@method("diagonal_scatter")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A tensor with other numbers on a diagonal of two axes.

    >>> diagonal_scatter(Tensor([[1, 2], [3, 4]]), Tensor([8, 9])).tolist()
    [[8, 2], [3, 9]]
    """
    x, values = tensor(input), tensor(src)
    shape = diagonal(x, offset, dim1, dim2).shape
    if values.shape != shape:
        raise ShapeError(f"a diagonal of shape {shape} is not given numbers of shape {values.shape}")
    first, second = axis_of(x, dim1), axis_of(x, dim2)
    out = p.moveaxis(p.moveaxis(x, first, x.ndim - 1), second - (second > first), x.ndim - 2)  # (..., dim2, dim1)
    out = out.alias()
    rows = created(p.Iota(int64, (shape[-1],), 0))
    low, high = max(-offset, 0), max(offset, 0)
    out[(..., rows + high, rows + low)] = cast(values, x.dtype)
    back = p.moveaxis(out, x.ndim - 2, second - (second > first))
    return p.moveaxis(back, x.ndim - 1, first)


@method("masked_scatter")
def masked_scatter(input: Any, mask: Any, source: Any) -> Tensor:
    """A tensor in which the elements where the mask holds are those of another, in row-major order.

    >>> masked_scatter(Tensor([1, 2, 3]), Tensor([True, False, True]), Tensor([8, 9])).tolist()
    [8, 2, 9]
    """
    x, values = tensor(input), tensor(source)
    shape = broadcast_shapes(x.shape, tensor(mask).shape)
    x = p.broadcast(x, shape)
    flags = p.reshape(p.broadcast(tensor(mask), shape), (x.size,))
    turns = p.cumsum(cast(flags, int64), 0) - 1
    if values.size == 0:
        return x.alias()
    chosen = p.gather(p.reshape(values, (values.size,)), turns, 0)
    return p.reshape(p.select(flags, cast(chosen, x.dtype), p.reshape(x, (x.size,))), shape)
