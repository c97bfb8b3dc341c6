"""Sums into a part: `acc + scatter(0, i, g)` is `scatter(acc, i, g)`, which touches the part only.

The gradient of reading a part (`x[i]`, in every turn of a loop) is zero elsewhere. Added up as whole tensors, each turn
would cost as much as all of x, and a loop as much as the square of its length. Written into the sum, a turn costs as
much as the part, because the sum is carried in place (lowering/takeover.py).

Sums of floats are associated in another order where indices repeat, and -0 + 0 stays -0 outside of the part. A sum with
nothing but zero is left alone: `0.0 + x` is how a program may well make 0 of -0.
"""

from __future__ import annotations

from mycelia import primitives as p
from mycelia.ir import Function, Value, users
from mycelia.primitives import Add, DynamicSlice, DynamicUpdate, Full, ScatterAdd


def accumulate(fn: Function) -> Function:
    """Write parts into the sums that they are added to."""
    readers = users(fn.roots)
    alone = {v for v, by in readers.items() if len(by) == 1 and v not in fn.results}

    def visit(v: Value, inputs: tuple[Value, ...]) -> Value:
        made = v.again(inputs)
        if not isinstance(v.op, Add):
            return made
        for old, part, total in ((v.inputs[1], inputs[1], inputs[0]), (v.inputs[0], inputs[0], inputs[1])):
            if old in alone and total.type == part.type == v.type and not _is_zero(part):
                found = _onto(part, total)
                if found is not None:
                    return found
        return made

    return fn.mapped(visit)


def _onto(part: Value, total: Value) -> Value | None:
    """The sum of both, with the part written into the total; None if it is not made of zeros and parts."""
    if isinstance(part.op, Full) and part.op.number == 0:
        return total
    if isinstance(part.op, ScatterAdd):
        below = _onto(part.inputs[0], total)
        return None if below is None else part.op(below, *part.inputs[1:])
    if isinstance(part.op, DynamicUpdate):
        before, window, *starts = part.inputs
        below = _onto(before, total)
        if below is None:
            return None
        added = window if _is_zero(before) else _added(window, before, starts)
        if added is None:
            return None
        here = p.dynamic_slice(below, starts, window.shape)
        return p.dynamic_update(below, here + added, starts)
    return None


def _is_zero(v: Value) -> bool:
    return isinstance(v.op, Full) and v.op.number == 0


def _added(window: Value, before: Value, starts: list[Value]) -> Value | None:
    """What a window adds to what was there, if it does."""
    if isinstance(window.op, Add):
        for here, more in (window.inputs, window.inputs[::-1]):
            if isinstance(here.op, DynamicSlice) and here.inputs == (before, *starts):
                return more
    return None
