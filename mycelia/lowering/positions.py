"""Positions of a mask: one loop that writes where it stands, and goes on to the next place where the mask holds."""

from __future__ import annotations

from mycelia.ir import Value
from mycelia.loops import Birth, Buffer, Kernel, Launch, Store, Sweep, Update, Variable, cast, const, load, position
from mycelia.loops.index import Index, datum, index
from mycelia.lowering.body import Body
from mycelia.lowering.steps import lower_step
from mycelia.primitives import Positions
from mycelia.types import TensorType, int64


@lower_step.register
def _(op: Positions, v: Value, body: Body) -> None:
    """Every element is written at the place of the next one that holds; what does not hold is written over."""
    (mask,) = v.inputs
    out, count = body.memory[v], body.shared.buffer(TensorType(int64, ()))
    (extent,) = mask.shape
    i = Variable(extent)
    so_far = Buffer.dense("scratch0", TensorType(int64, (1,)))
    number = load(so_far, (Index(0),))
    holds = cast(body.element(mask, (index(i),)), int64)
    place = datum(number, 0, extent - 1)
    sweeps = (
        Sweep((), (), (Store(so_far, Index(0), const(0, int64)),)),
        Sweep((i,), (), (Store(out, place, position(index(i), int64)), Update(so_far, Index(0), "add", holds))),
        Sweep((), (), (Store(count, Index(0), number),)),
    )
    body.steps.append(Launch(Kernel((Variable(1),), sweeps, (so_far,)), 0))
    body.steps.append(Birth(op.born, count))
