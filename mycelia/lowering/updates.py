"""Loops whose turns depend on one another: scattered writing, running sums."""

from __future__ import annotations

from mycelia.ir import Value
from mycelia.loops import (
    Buffer,
    Index,
    Kernel,
    Launch,
    Stage,
    Store,
    Update,
    Variable,
    binary,
    cast,
    const,
    index,
    load,
)
from mycelia.loops.index import Atom
from mycelia.lowering.body import Body
from mycelia.lowering.kernels import in_blocks
from mycelia.lowering.plain import offset_of, wide_enough
from mycelia.lowering.steps import lower_step
from mycelia.lowering.values import full_index
from mycelia.primitives import Cumsum, Scatter, ScatterAdd, ScatterUpdate
from mycelia.primitives.indexing import within
from mycelia.types import TensorType, accumulator

WIDTH = 128  # columns that one thread scatters at a time


@lower_step.register
def _(op: ScatterAdd, v: Value, body: Body) -> None:
    x, indices, updates = v.inputs
    out = body.memory[v]
    if not updates.tensor.size:
        body.fill(x, out)
        return
    with wide_enough(out, body) as out:
        body.fill(x, out)
        _scatter(op, x, indices, updates, out, body)


@lower_step.register
def _(op: ScatterUpdate, v: Value, body: Body) -> None:
    x, indices, updates = v.inputs
    out = body.memory[v]
    body.fill(x, out)
    if updates.tensor.size:
        _scatter(op, x, indices, updates, out, body)


def _scatter(op: Scatter, x: Value, indices: Value, updates: Value, out: Buffer, body: Body) -> None:
    variables, at = full_index(updates.shape)
    middle = range(op.axis, op.axis + len(indices.shape))
    where = within(body.element(indices, at[op.axis : middle.stop]), x.shape[op.axis] - 1)
    target = offset_of((*at[: op.axis], where, *at[middle.stop :]), out.strides)
    value = cast(body.element(updates, at), out.type.dtype)
    turns = [variables[i] for i in middle if variables[i].extent != 1]
    before = [v for v in variables[: op.axis] if v.extent != 1]
    after = [v for v in variables[middle.stop :] if v.extent != 1]
    if after:  # the last axis in blocks, so that threads have columns of their own
        last = after.pop()
        block, column, width = in_blocks(last, WIDTH)
        here: dict[Atom, Index] = {last: index(block) * width + index(column)}
        target, value = target.substitute(here), value.substitute(here)
        rows, columns = [*before, *after, block], [*turns, column]
    else:
        rows, columns = before, turns
    stage = Stage(tuple(columns), (), (Update(out, target, op.combine, value),))
    work = updates.tensor.size if rows else 0
    body.steps.append(Launch(Kernel(tuple(rows) or (Variable(1),), (stage,)), work))


@lower_step.register
def _(op: Cumsum, v: Value, body: Body) -> None:
    (x,) = v.inputs
    out = body.memory[v]
    if not v.tensor.size:
        return
    variables, at = full_index(x.shape)
    along = variables[op.axis]
    wide = accumulator(v.dtype)
    total = Buffer.dense("scratch0", TensorType(wide, (1,)))
    value = cast(body.element(x, at), wide)
    so_far = cast(binary("add", load(total, (Index(0),)), value), v.dtype)
    stages = (
        Stage((), (), (Store(total, Index(0), const(0, wide)),)),
        Stage(
            (along,) if along.extent != 1 else (),
            (),
            (Store(out, offset_of(at, out.strides), so_far), Update(total, Index(0), "add", value)),
        ),
    )
    rows = tuple(r for i, r in enumerate(variables) if i != op.axis and r.extent != 1)
    body.steps.append(Launch(Kernel(rows or (Variable(1),), stages, (total,)), x.tensor.size if rows else 0))
