"""Movement, pieces and indexing by data. Positions are clamped, as everywhere."""

from __future__ import annotations

from mycelia.ir import Value
from mycelia.primitives import (
    Broadcast,
    Concat,
    DynamicSlice,
    DynamicUpdate,
    Flip,
    Gather,
    Pad,
    Reshape,
    Scatter,
    ScatterAdd,
    ScatterMax,
    ScatterMin,
    ScatterMul,
    ScatterUpdate,
    Slice,
    Transpose,
)
from mycelia.stablehlo.rules import emit
from mycelia.stablehlo.writer import Term, Writer, numbers
from mycelia.types import TensorType, accumulator, int64


@emit.register
def _(op: Reshape, v: Value, w: Writer, x: Term) -> Term:
    return w.reshape(x, v.shape)


@emit.register
def _(op: Transpose, v: Value, w: Writer, x: Term) -> Term:
    return w.transpose(x, op.permutation)


@emit.register
def _(op: Broadcast, v: Value, w: Writer, x: Term) -> Term:
    return w.broadcast(x, v.shape)


@emit.register
def _(op: Flip, v: Value, w: Writer, x: Term) -> Term:
    return w.op("reverse", (x,), x.type, dimensions=numbers(op.dims))


@emit.register
def _(op: Slice, v: Value, w: Writer, x: Term) -> Term:
    return w.slice(x, op.start, op.stop, op.step)


@emit.register
def _(op: Pad, v: Value, w: Writer, x: Term) -> Term:
    assert not isinstance(op.number, complex), "complex numbers are in parts here"
    return w.pad(x, op.low, op.high, (0,) * len(op.low), op.number)


@emit.register
def _(op: Concat, v: Value, w: Writer, *parts: Term) -> Term:
    return w.op("concatenate", parts, v.tensor, dimension=f"{op.axis} : i64")


def within(w: Writer, i: Term, last: int) -> Term:
    """Positions from 0 to `last`, clamped."""
    least = min(last, (1 << (i.dtype.bits - (i.dtype.kind == "i"))) - 1)
    if i.dtype.kind == "i":
        i = w.binary("maximum", i, w.zeros(i.type))
    return w.convert(w.binary("minimum", i, w.full(least, i.type)), int64)


@emit.register
def _(op: Gather, v: Value, w: Writer, x: Term, indices: Term) -> Term:
    if not v.tensor.size:
        return w.zeros(v.tensor)
    return gathered(w, x, within(w, indices, x.shape[op.axis] - 1), op.axis, v.tensor)


def gathered(w: Writer, x: Term, at: Term, axis: int, result: TensorType) -> Term:
    """Slices of `x` along `axis`, at positions that are within it."""
    rank = len(at.shape)
    kept = [*range(axis), *range(axis + rank, result.rank)]
    return w.op(
        "gather", (x, at), result,
        dimension_numbers=(
            f"#stablehlo.gather<offset_dims = {kept}, collapsed_slice_dims = [{axis}], "
            f"start_index_map = [{axis}], index_vector_dim = {rank}>"
        ),
        slice_sizes=numbers([1 if i == axis else n for i, n in enumerate(x.shape)]),
        indices_are_sorted="false",
    )  # fmt: skip


def scattered(w: Writer, x: Term, at: Term, updates: Term, axis: int, combine: str) -> Term:
    """`x` with updates combined into its slices along `axis`, in any order."""
    rank = len(at.shape)
    scalar = TensorType(x.dtype, ())
    kept = [*range(axis), *range(axis + rank, len(updates.shape))]
    return w.op(
        "scatter",
        (x, at, updates),
        x.type,
        [w.region((scalar, scalar), lambda inner, a, b: [inner.binary(combine, a, b)])],
        scatter_dimension_numbers=(
            f"#stablehlo.scatter<update_window_dims = {kept}, inserted_window_dims = [{axis}], "
            f"scatter_dims_to_operand_dims = [{axis}], index_vector_dim = {rank}>"
        ),
        indices_are_sorted="false",
        unique_indices="false",
    )


COMBINED = {ScatterAdd: "add", ScatterMul: "multiply", ScatterMax: "maximum", ScatterMin: "minimum"}


@emit.register(ScatterAdd)
@emit.register(ScatterMul)
@emit.register(ScatterMax)
@emit.register(ScatterMin)
def _(op: Scatter, v: Value, w: Writer, x: Term, indices: Term, updates: Term) -> Term:
    if not updates.type.size:
        return x
    at = within(w, indices, x.shape[op.axis] - 1)
    wide = accumulator(x.dtype)
    both = w.convert(x, wide), at, w.convert(updates, wide)
    return w.convert(scattered(w, *both, op.axis, COMBINED[type(op)]), x.dtype)


@emit.register
def _(op: ScatterUpdate, v: Value, w: Writer, x: Term, indices: Term, updates: Term) -> Term:
    """First who is the last to write to each slice, then what that one writes."""
    if not updates.type.size:
        return x
    axis, rank = op.axis, len(indices.shape)
    extent, count = x.shape[axis], indices.type.size
    at = w.reshape(within(w, indices, extent - 1), (count,))
    turns = w.op("iota", (), TensorType(int64, (count,)), iota_dimension="0 : i64")
    nobody = w.full(-1, TensorType(int64, (extent,)))
    last = scattered(w, nobody, at, turns, 0, "maximum")
    rows = w.reshape(updates, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    assert len(rows.shape) == len(updates.shape) - rank + 1, "the axes of the indices are one now"
    new = gathered(w, rows, within(w, last, count - 1), axis, x.type)
    written = w.compare("GE", last, w.zeros(last.type))
    return w.select(w.broadcast(written, x.shape, (axis,)), new, x)


@emit.register
def _(op: DynamicSlice, v: Value, w: Writer, x: Term, *starts: Term) -> Term:
    if not x.shape or not v.tensor.size:
        return x if not x.shape else w.zeros(v.tensor)
    at = [within(w, s, n - k) for s, n, k in zip(starts, x.shape, op.sizes, strict=True)]
    return w.op("dynamic_slice", (x, *at), v.tensor, slice_sizes=numbers(op.sizes))


@emit.register
def _(op: DynamicUpdate, v: Value, w: Writer, x: Term, update: Term, *starts: Term) -> Term:
    if not update.type.size or not x.shape:
        return update if not x.shape else x
    at = [within(w, s, n - k) for s, n, k in zip(starts, x.shape, update.shape, strict=True)]
    return w.op("dynamic_update_slice", (x, update, *at), x.type)
