"""Elements in order: one call of a routine, which writes what is read of its results."""

from __future__ import annotations

from math import prod

from mycelia.ir import Project, Value
from mycelia.loops import Invoke, Operand, OrderCall, SearchCall
from mycelia.lowering.body import Body
from mycelia.lowering.steps import lower_step
from mycelia.primitives import Ordering, Search, Sort, TopK
from mycelia.primitives.ordering import InOrder
from mycelia.sizes import known_equal


@lower_step.register(Ordering)
def _(op: Ordering, v: Value, body: Body) -> None:
    _order(op, v, (None, v), body)


@lower_step.register(Sort)
@lower_step.register(TopK)
def _(op: InOrder, v: Value, body: Body) -> None:
    read = {u for u in (*body.fn.values(), *body.fn.results) if isinstance(u.op, Project)}
    values, positions = (u if u in read else None for u in (Value(Project(i), (v,)) for i in range(2)))
    _order(op, v, (values, positions), body)


def _order(op: InOrder, v: Value, results: tuple[Value | None, Value | None], body: Body) -> None:
    """Results that nobody reads are None."""
    wanted = [u for u in results if u is not None and not known_equal(u.tensor.size, 0)]
    if not wanted:
        return
    (x,) = v.inputs
    read, axis = body.lying(x), op.axis
    outer, inner = prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
    flags = [u in wanted for u in results]
    call = OrderCall(x.dtype, outer, x.shape[axis], inner, wanted[0].shape[axis], op.descending, *flags)
    body.steps.append(Invoke(call, (read,), tuple(Operand(body.memory[u]) for u in wanted)))


@lower_step.register
def _(op: Search, v: Value, body: Body) -> None:
    sequence, values = v.inputs
    if known_equal(v.tensor.size, 0):
        return
    operands = tuple(body.lying(x) for x in v.inputs)
    one = len(sequence.shape) == 1
    sequences, count = (1, values.tensor.size) if one else (prod(values.shape[:-1]), values.shape[-1])
    call = SearchCall(sequence.dtype, sequences, sequence.shape[-1], count, op.right)
    body.steps.append(Invoke(call, operands, (Operand(body.memory[v]),)))
