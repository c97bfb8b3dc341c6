"""Closing a part of a graph: which values it takes from around it, and the function that it is of those."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycelia.ir import Function, Param, Project, Value, may_move, region, substitute
from mycelia.ir.value import serials
from mycelia.types import TupleType


def now() -> int:
    """The present moment: every value made before has a smaller serial."""
    return next(serials)


def made_before(results: Sequence[Value], moment: int) -> list[Value]:
    """The values from before a moment that `results` need, where a branch that began then takes its operands."""
    return _frontier(results, lambda v: (v.inputs[0] if isinstance(v.op, Project) else v).serial < moment)


def independent(results: Sequence[Value], params: Sequence[Value], moment: int) -> list[Value]:
    """The largest values in `results` that are the same in every turn of a loop that began at `moment`: they do not
    depend on these parameters. What may not move is not taken out of the loop, nor what needs it (loop-invariant code
    motion): there might be no turn.
    """
    inside = _inside(results, set(params), moment)
    return _frontier(results, lambda v: v not in inside)


def _inside(results: Sequence[Value], params: set[Value], moment: int) -> set[Value]:
    """What depends on the parameters, or was made since a moment and may not move, or depends on that."""
    found = set(params)
    oldest = min((moment, *[v.serial for v in params]))
    stack: list[tuple[Value, bool]] = [(r, False) for r in results]
    seen: set[Value] = set()
    while stack:
        v, ready = stack.pop()
        if ready:
            if any(x in found for x in v.inputs) or not (may_move(v) or v.serial < moment):
                found.add(v)
        elif v not in seen and v.serial > oldest:  # what is older can depend on none of them
            seen.add(v)
            stack.append((v, True))
            stack.extend((x, False) for x in v.inputs)
    return found


def movable(value: Value, moment: int) -> bool:
    """Whether all that was made since a moment to compute `value` may move in front of what began then."""
    return value not in _inside([value], set(), moment)


def _frontier(results: Sequence[Value], outside: Callable[[Value], bool]) -> list[Value]:
    """The first values on every way up from `results` that are outside. What is closed needs nobody to give it."""
    found: dict[Value, None] = {}
    seen: set[Value] = set()
    stack = list(reversed(results))
    while stack:
        v = stack.pop()
        if v in seen or v.closed:
            continue
        seen.add(v)
        if type(v.op) is Param or (outside(v) and not isinstance(v.type, TupleType)):
            found[v] = None
        else:
            stack.extend(reversed(v.inputs))
    return list(found)


def closed(params: Sequence[Value], results: Sequence[Value], effects: Sequence[Value] = ()) -> Function:
    """The function of these values, whatever they are, to `results`; what lies behind them is not looked at."""
    slots = tuple(Value(Param(slot, v.type)) for slot, v in enumerate(params))
    new = dict(zip(params, slots, strict=True))
    assert len(new) == len(params), "a value is given twice"
    with region(closed=True) as inside:
        made = substitute((*effects, *results), new)
    assert len(inside.effects) == len(effects), "a function reads effects of another one"
    return Function(slots, made[len(effects) :], made[: len(effects)])
