"""Loops whose turns depend on one another: scattered writing, running sums."""

from __future__ import annotations

from math import prod
from typing import Any

from mycelia.ir import Op, Value
from mycelia.loops import (
    Buffer,
    Expr,
    Index,
    Invoke,
    Kernel,
    Launch,
    Operand,
    PrefixCall,
    Store,
    Sweep,
    Update,
    Variable,
    binary,
    cast,
    const,
    index,
    load,
    mention,
    neutral,
)
from mycelia.loops.index import Atom
from mycelia.loops.prefix import LANES
from mycelia.lowering.body import Body
from mycelia.lowering.kernels import in_blocks
from mycelia.lowering.plain import offset_of, shaped, wide_enough
from mycelia.lowering.steps import follows, lower_step, overwrites, reads_elements
from mycelia.lowering.values import full_index
from mycelia.primitives import (
    Cumulative,
    DynamicUpdate,
    Scatter,
    ScatterAdd,
    ScatterMax,
    ScatterMin,
    ScatterMul,
    ScatterUpdate,
)
from mycelia.primitives.indexing import within
from mycelia.sizes import comes_from_data, known_equal, same
from mycelia.types import TensorType, accumulator, row_major

WIDTH = 128  # columns that one thread scatters at a time
FEW = 256  # numbers whose running sums a loop makes before a call has begun


@overwrites.register(DynamicUpdate)
@overwrites.register(ScatterUpdate)
@overwrites.register(ScatterMax)
@overwrites.register(ScatterMin)
def _(op: Op, v: Value) -> bool:
    return True


@overwrites.register(ScatterAdd)
@overwrites.register(ScatterMul)
def _(op: Op, v: Value) -> bool:
    return accumulator(v.dtype) is v.dtype


@follows.register(DynamicUpdate)
@follows.register(Scatter)
@reads_elements.register(DynamicUpdate)
@reads_elements.register(Scatter)
def _(op: Op) -> bool:
    return True


@lower_step.register
def _(op: Scatter, v: Value, body: Body) -> None:
    x, indices, updates = v.inputs
    out = body.memory[v]
    if updates.tensor.empty:
        _begin(v, out, body)
    elif overwrites(op, v):
        _begin(v, out, body)
        _scatter(op, x, indices, updates, out, body)
    else:
        with wide_enough(out, body) as out:
            body.fill(x, out)
            _scatter(op, x, indices, updates, out, body)


def _begin(v: Value, out: Buffer, body: Body) -> None:
    """Bring the operand to where it is changed, unless it is there. What else is read of it is put aside."""
    x, *others = v.inputs
    if v not in body.taken:
        body.fill(x, out)
        return
    for other in others:
        if other not in body.memory and body.memory[x] in _read(body.element(other, full_index(other.shape)[1])):
            body.memory[other] = body.dense(other)


def _read(e: Expr) -> dict[Buffer, None]:
    found: dict[Buffer, None] = {}
    mention(e, found)
    return found


@lower_step.register
def _(op: DynamicUpdate, v: Value, body: Body) -> None:
    x, update, *starts = v.inputs
    out = body.memory[v]
    _begin(v, out, body)
    if update.tensor.empty:
        return
    variables, at = full_index(update.shape)
    room = [e - n for e, n in zip(x.shape, update.shape, strict=True)]
    places = [
        i if known_equal(r, 0) else i + within(body.element(s, ()), r) for i, s, r in zip(at, starts, room, strict=True)
    ]
    action = Update(out, offset_of(places, out.strides), "set", body.element(update, at))
    sweep = Sweep(tuple(v for v in variables if not known_equal(v.extent, 1)), (), (action,))
    body.steps.append(Launch(shaped(Kernel((), (sweep,))), update.tensor.size))


def _scatter(op: Scatter, x: Value, indices: Value, updates: Value, out: Buffer, body: Body) -> None:
    variables, at = full_index(updates.shape)
    middle = range(op.axis, op.axis + len(indices.shape))
    where = within(body.element(indices, at[op.axis : middle.stop]), x.shape[op.axis] - 1)
    target = offset_of((*at[: op.axis], where, *at[middle.stop :]), out.strides)
    value = cast(body.element(updates, at), out.type.dtype)
    turns = [variables[i] for i in middle if not known_equal(variables[i].extent, 1)]
    before = [v for v in variables[: op.axis] if not known_equal(v.extent, 1)]
    after = [v for v in variables[middle.stop :] if not known_equal(v.extent, 1)]
    if after:  # the last axis in blocks, so that threads have columns of their own
        last = after.pop()
        block, column, width = in_blocks(last, WIDTH)
        here: dict[Atom, Index] = {last: index(block) * width + index(column)}
        target, value = target.substitute(here), value.substitute(here)
        rows, columns = [*before, *after, block], [*turns, column]
    else:
        rows, columns = before, turns
    sweep = Sweep(tuple(columns), (), (Update(out, target, op.combine, value),))
    work = updates.tensor.size if rows else 0
    body.steps.append(Launch(Kernel(tuple(rows) or (Variable(1),), (sweep,)), work))


@lower_step.register
def _(op: Cumulative, v: Value, body: Body) -> None:
    (x,) = v.inputs
    out = body.memory[v]
    if known_equal(v.tensor.size, 0):
        return
    if _worth_a_routine(out, x):
        dtype, axis = v.dtype, op.axis
        lanes = min(LANES, body.shared.options.target.vector_bytes // accumulator(dtype).itemsize)
        call = PrefixCall(op.combine, dtype, lanes, prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :]))
        body.steps.append(Invoke(call, (body.lying(x),), (Operand(out),)))
        return
    variables, at = full_index(x.shape)
    along = variables[op.axis]
    wide = accumulator(v.dtype)
    total = Buffer.dense("scratch0", TensorType(wide, (1,)))
    value = cast(body.element(x, at), wide)
    start = -0.0 if op.combine == "add" and wide.is_float else neutral(op.combine, wide)  # 0.0 + -0.0 is 0.0
    so_far = cast(binary(op.combine, load(total, (Index(0),)), value), v.dtype)
    sweeps = (
        Sweep((), (), (Store(total, Index(0), const(start, wide)),)),
        Sweep(
            (along,) if not known_equal(along.extent, 1) else (),
            (),
            (Store(out, offset_of(at, out.strides), so_far), Update(total, Index(0), op.combine, value)),
        ),
    )
    rows = tuple(r for i, r in enumerate(variables) if i != op.axis and not known_equal(r.extent, 1))
    body.steps.append(Launch(Kernel(rows or (Variable(1),), sweeps, (total,)), x.tensor.size if rows else 0))


def _worth_a_routine(out: Buffer, x: Value) -> bool:
    """Whether running sums are a call: of few numbers the loop is shorter, and sizes out of data nobody can tell it."""
    sizes: list[Any] = list(x.shape)
    if any(map(comes_from_data, sizes)) or not same(out.strides, row_major(out.type.shape)):
        return False
    return not isinstance(x.tensor.size, int) or x.tensor.size >= FEW
