"""Elements chosen by conditions and positions: where, gather, scatter, sort, one-hot."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod
from typing import Any

from mycelia import checks
from mycelia import primitives as p
from mycelia.eager import Tensor, assign, cast, created
from mycelia.eager.indexing import linear, where_true, within
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ops.arguments import axis_of, method, number, pair, tensor
from mycelia.ops.joining import stack
from mycelia.ops.linalg import vector_norm
from mycelia.ops.math import truth
from mycelia.primitives.family import broadcast_shapes
from mycelia.primitives.indexing import batched_gather
from mycelia.types import bool_, int32, int64

__all__ = [
    "argwhere",
    "embedding",
    "gather",
    "gather_elements",
    "gather_nd",
    "index_add",
    "index_fill",
    "index_select",
    "masked_fill",
    "masked_select",
    "nonzero",
    "one_hot",
    "scatter",
    "scatter_nd",
    "select",
    "take",
    "tensor_scatter_add",
    "tensor_scatter_elements",
    "tensor_scatter_sub",
    "tensor_scatter_update",
    "unsorted_segment_sum",
    "where",
]


def where(condition: Any, input: Any, other: Any) -> Tensor:
    """`input` where the condition holds, else `other`.

    >>> where(Tensor([True, False]), Tensor([1.0, 2.0]), 0.0).tolist()
    [1.0, 0.0]
    """
    x, y = pair(input, other)
    return p.select(truth(condition), x, y)


method("where")(lambda self, condition, y: where(condition, self, y))


def select(condition: Any, input: Any, other: Any) -> Tensor:
    """`input` where the condition holds, else `other`.

    >>> select(Tensor([True, False]), Tensor([1, 2]), Tensor([3, 4])).tolist()
    [1, 4]
    """
    return where(condition, input, other)


@method()
def masked_fill(input_x: Any, mask: Any, value: Any) -> Tensor:
    """One number where the mask holds.

    >>> masked_fill(Tensor([1.0, 2.0]), Tensor([True, False]), 0.5).tolist()
    [0.5, 2.0]
    """
    x = tensor(input_x)
    filled = p.cast(tensor(value), x.dtype)
    return p.select(truth(mask), filled, x)


@method()
def masked_select(input: Any, mask: Any) -> Tensor:
    """The elements where the mask holds, in a row.

    >>> masked_select(Tensor([1, 2, 3]), Tensor([True, False, True])).tolist()
    [1, 3]
    """
    x, chosen = tensor(input), tensor(mask)
    if chosen.dtype is not bool_:
        raise DTypeError(f"a mask is True or False, not {chosen.dtype.name}", hint="compare first, such as x > 0")
    shape = broadcast_shapes(x.shape, chosen.shape)
    return p.broadcast(x, shape)[p.broadcast(chosen, shape)]


@method("nonzero")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not zero: one row each, or one tensor for each axis.

    >>> nonzero(Tensor([0, 5, 6])).tolist()
    [[1], [2]]
    """
    x = tensor(input)
    if not x.ndim:
        raise ShapeError("a tensor without axes has no positions", hint="give it an axis: x.reshape(1)")
    found = where_true(truth(x))
    return tuple(found) if as_tuple else stack(found, -1)


@method()
def argwhere(input: Any) -> Tensor:
    """The positions of the elements that are not zero, one row each.

    >>> argwhere(Tensor([0, 5])).tolist()
    [[1]]
    """
    return nonzero(input)


# ---------------------------------------------------------------------------------------------------------- positions


def _positions(indices: Any, x: Tensor, axis: int, what: str) -> Tensor:
    """Positions on an axis as integers counted from the front."""
    i = tensor(indices)
    if not i.dtype.is_integer:
        raise DTypeError(f"{what} takes whole numbers as positions, not {i.dtype!r}", hint="cast them to int32")
    return within(i, x, axis)


@method("gather")
def _gathered(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Slices along an axis at positions, `gather(input_indices, axis, batch_dims)`; or, as `gather(dim, index)`, the
    elements that `gather_elements` gives.

    >>> Tensor([10, 20]).gather(Tensor([1]), 0).tolist(), Tensor([[1, 2]]).gather(1, Tensor([[1]])).tolist()
    ([20], [[2]])
    """
    by_element = "index" in kwargs or "dim" in kwargs or (args and isinstance(args[0], int))
    return gather_elements(self, *args, **kwargs) if by_element else gather(self, *args, **kwargs)


def gather(input_params: Any, input_indices: Any, axis: int, batch_dims: int = 0) -> Tensor:
    """Slices along an axis, at positions; the first `batch_dims` axes of both go together.

    >>> gather(Tensor([10, 20, 30]), Tensor([2, 0]), 0).tolist()
    [30, 10]
    """
    x = tensor(input_params)
    place = axis_of(x, axis)
    i = _positions(input_indices, x, place, "gather")
    if not batch_dims:
        return p.gather(x, i, place)
    batch = x.shape[:batch_dims]
    if i.shape[:batch_dims] != batch:
        raise ShapeError(f"the first {batch_dims} axes of {x.shape} and {i.shape} differ")
    rows = p.reshape(x, (prod(batch), *x.shape[batch_dims:]))
    out = batched_gather(rows, p.reshape(i, (prod(batch), *i.shape[batch_dims:])), place - batch_dims)
    return p.reshape(out, (*batch, *out.shape[1:]))


@method("index_select")
def index_select(input: Any, axis: int, index: Any) -> Tensor:
    """Slices along an axis, at positions.

    >>> index_select(Tensor([[1, 2], [3, 4]]), 1, Tensor([1])).tolist()
    [[2], [4]]
    """
    return gather(input, index, axis)


@method("take")
def take(input: Any, index: Any, axis: int | None = None) -> Tensor:
    """Slices along an axis, at positions; without an axis, of the flattened tensor.

    >>> take(Tensor([[1, 2], [3, 4]]), Tensor([3])).tolist()
    [4]
    """
    x = tensor(input)
    return gather(p.reshape(x, (x.size,)) if axis is None else x, index, axis or 0)


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of a table, at positions; no gradient reaches the row of `padding_idx`.

    Rows that are asked for and longer than `max_norm`, by the norm of `norm_type`, are made as long as that in the
    table first. With `scale_grad_by_freq` the gradient of a row is divided by how often it was asked for.

    >>> embedding(Tensor([1, 0]), Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    table = tensor(weight)
    if max_norm is not None:
        lengths = vector_norm(table, norm_type, 1, True)
        asked = p.expand_dims(_counts(input, table) > 0, (1,))
        long = p.logical_and(asked, p.greater(lengths, number(max_norm, table)))
        scale = number(max_norm, table) / (lengths + number(1e-7, table))
        assign(table, p.stop_gradient(p.select(long, table * scale, table)))
    rows = gather(table, input, 0)
    if scale_grad_by_freq:
        often = p.expand_dims(gather(cast(_counts(input, table), table.dtype), input, 0), (rows.ndim - 1,))
        rows = p.stop_gradient(rows) + (rows - p.stop_gradient(rows)) / often
    if padding_idx is None:
        return rows
    padding = p.expand_dims(tensor(input) == padding_idx % table.shape[0], (rows.ndim - 1,))
    return p.select(padding, p.stop_gradient(rows), rows)


def _counts(positions: Any, table: Tensor) -> Tensor:
    """How often each row of a table is asked for."""
    flat = p.reshape(tensor(positions), (tensor(positions).size, 1))
    rows = created(p.Iota(flat.dtype, (1, table.shape[0]), 1))
    return p.reduce_sum(cast(p.equal(flat, rows), int32), (0,))


@method("gather_elements")
def gather_elements(input: Any, dim: int, index: Any) -> Tensor:
    """For each place of `index`, the element of `input` at that place, but along one axis at that position.

    >>> gather_elements(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    x = tensor(input)
    place = axis_of(x, dim)
    i = _positions(index, x, place, "gather_elements")
    if i.ndim != x.ndim:
        raise ShapeError(f"gather_elements needs as many axes in {i.shape} as in {x.shape}")
    return x[_grid(i, place)]


def _grid(i: Tensor, axis: int) -> tuple[Tensor, ...]:
    """An index for every axis: the given one along `axis`, and the own place along the others."""
    return tuple(i if a == axis else created(p.Iota(int64, i.shape, a)) for a in range(i.ndim))


@method("gather_nd")
def gather_nd(input_x: Any, indices: Any) -> Tensor:
    """Slices at positions that are rows: one number for each of the first axes.

    >>> gather_nd(Tensor([[1, 2], [3, 4]]), Tensor([[0, 1], [1, 0]])).tolist()
    [2, 3]
    """
    x, i = tensor(input_x), tensor(indices)
    return x[_columns(i)] if i.shape[-1] else p.broadcast(x, (*i.shape[:-1], *x.shape))


def _columns(i: Tensor) -> tuple[Tensor, ...]:
    return tuple(p.reshape(p.take(i, i.ndim - 1, k, k + 1), i.shape[:-1]) for k in range(i.shape[-1]))


def tensor_scatter_update(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with other slices at positions that are rows.

    >>> tensor_scatter_update(Tensor([1.0, 2.0]), Tensor([[0]]), Tensor([9.0])).tolist()
    [9.0, 2.0]
    """
    out = tensor(input_x).alias()
    out[_columns(tensor(indices))] = updates
    return out


def tensor_scatter_add(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with slices added at positions that are rows; where positions repeat, all are added.

    >>> tensor_scatter_add(Tensor([1.0, 2.0]), Tensor([[0], [0]]), Tensor([1.0, 1.0])).tolist()
    [3.0, 2.0]
    """
    x, i = tensor(input_x), tensor(indices)
    depth = i.shape[-1]
    columns = [_positions(column, x, axis, "scatter") for axis, column in enumerate(_columns(i))]
    flat = linear(columns, x.shape[:depth])
    rows = p.reshape(x, (prod(x.shape[:depth]), *x.shape[depth:]))
    return p.reshape(p.scatter_add(rows, flat, cast(tensor(updates), x.dtype), 0), x.shape)


def tensor_scatter_sub(input_x: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with slices subtracted at positions that are rows.

    >>> tensor_scatter_sub(Tensor([1.0, 2.0]), Tensor([[0]]), Tensor([1.0])).tolist()
    [0.0, 2.0]
    """
    return tensor_scatter_add(input_x, indices, p.negative(tensor(updates)))


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Zeros, with slices added at positions that are rows.

    >>> scatter_nd(Tensor([[1]]), Tensor([3.0]), (3,)).tolist()
    [0.0, 3.0, 0.0]
    """
    values = tensor(updates)
    return tensor_scatter_add(created(p.Full(0, values.dtype, tuple(shape))), indices, values)


def tensor_scatter_elements(input_x: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none") -> Tensor:
    """A tensor in which each element of `updates` is written (or, with "add", added) at its own place, but along one
    axis at the position that `indices` has there.

    >>> tensor_scatter_elements(Tensor([1.0, 2.0]), Tensor([1]), Tensor([9.0])).tolist()
    [1.0, 9.0]
    """
    x, values = tensor(input_x), tensor(updates)
    place = axis_of(x, axis)
    i = _positions(indices, x, place, "scatter")
    if reduction not in ("none", "add"):
        raise ArgumentError(f"scatter has no reduction {reduction!r}", hint='say "none" or "add"')
    rows = p.concat([p.reshape(cast(g, int64), (i.size, 1)) for g in _grid(i, place)], 1)
    scatter = tensor_scatter_add if reduction == "add" else tensor_scatter_update
    return scatter(x, rows, p.reshape(p.broadcast(values, i.shape), (i.size,)))


@method("scatter")
def scatter(input: Any, axis: int, index: Any, src: Any) -> Tensor:
    """A tensor in which each element of `src` is written at its own place, but along one axis at that of `index`.

    >>> scatter(Tensor([1.0, 2.0]), 0, Tensor([1]), Tensor([9.0])).tolist()
    [1.0, 9.0]
    """
    return tensor_scatter_elements(input, index, src, axis)


def index_add(x: Any, indices: Any, y: Any, axis: int) -> Tensor:
    """A tensor with slices added at positions of an axis.

    >>> index_add(Tensor([1.0, 2.0]), Tensor([1]), Tensor([5.0]), 0).tolist()
    [1.0, 7.0]
    """
    x = tensor(x)
    place = axis_of(x, axis)
    return p.scatter_add(x, _positions(indices, x, place, "index_add"), cast(tensor(y), x.dtype), place)


@method("index_fill")
def index_fill(x: Any, axis: int, index: Any, value: Any) -> Tensor:
    """A tensor with one number at positions of an axis.

    >>> index_fill(Tensor([1.0, 2.0]), 0, Tensor([1]), 5.0).tolist()
    [1.0, 5.0]
    """
    out = tensor(x).alias()
    out[(slice(None),) * axis_of(out, axis) + (tensor(index),)] = value
    return out


def unsorted_segment_sum(input_x: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """Sums of the slices that belong to the same segment; those of a segment that does not exist are left out.

    >>> unsorted_segment_sum(Tensor([1.0, 2.0, 3.0, 7.0]), Tensor([0, 1, 0, -1]), 2).tolist()
    [4.0, 2.0]
    """
    x, ids = tensor(input_x), cast(tensor(segment_ids), int64)
    rest = x.shape[ids.ndim :]
    inside = p.logical_and(ids >= 0, ids < num_segments)
    sums = created(p.Full(0, x.dtype, (num_segments + 1, *rest)))  # the last one takes what belongs nowhere
    sums = p.scatter_add(sums, p.select(inside, ids, number(num_segments, ids)), x, 0)
    return p.take(sums, 0, 0, num_segments)


# -------------------------------------------------------------------------------------------------------------- classes


def one_hot(indices: Any, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """A new axis of `depth`, with `on_value` at the position that was given, and `off_value` elsewhere.

    >>> one_hot(Tensor([0, 2]), 3).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    i = tensor(indices)
    if i.dtype.is_float:
        raise DTypeError(f"one_hot takes the numbers of classes, not {i.dtype!r}", hint="cast them to int32")
    if isinstance(depth, Tensor) and depth.size == 1 and depth.dtype.is_integer:
        depth = int(depth)
    depth = checks.whole("one_hot", "depth", depth, least=0)
    place = axis_of(i, axis, more=1)
    classes = created(p.Iota(i.dtype, tuple(depth if a == place else 1 for a in range(i.ndim + 1)), place))
    on, off = pair(on_value, off_value)
    return p.select(p.equal(p.expand_dims(i, (place,)), classes), on, off)


# -------------------------------------------------------------------------------------------------------------- order
