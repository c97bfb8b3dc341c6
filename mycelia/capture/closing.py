"""Closing a part of a graph: which values it takes from around it, and the function that it is of those."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycelia.ir import Function, Param, Value, located
from mycelia.ir.value import serials
from mycelia.types import TupleType


def now() -> int:
    """The present moment: every value made before has a smaller serial."""
    return next(serials)


def made_before(results: Sequence[Value], moment: int) -> list[Value]:
    """The values from before a moment that `results` need, where a branch that began then takes its operands."""
    return _frontier(results, lambda v: v.serial < moment)


def independent(results: Sequence[Value], params: Sequence[Value]) -> list[Value]:
    """The largest values in `results` that do not depend on these parameters: what is the same in every turn."""
    depends = _dependents(results, set(params))
    return _frontier(results, lambda v: v not in depends)


def _dependents(results: Sequence[Value], params: set[Value]) -> set[Value]:
    found = set(params)
    oldest = min((v.serial for v in params), default=-1)
    stack: list[tuple[Value, bool]] = [(r, False) for r in results]
    seen: set[Value] = set()
    while stack:
        v, ready = stack.pop()
        if ready:
            if any(x in found for x in v.inputs):
                found.add(v)
        elif v not in seen and v.serial > oldest:  # what is older than the parameters cannot depend on them
            seen.add(v)
            stack.append((v, True))
            stack.extend((x, False) for x in v.inputs)
    return found


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


def closed(params: Sequence[Value], results: Sequence[Value]) -> Function:
    """The function of these values, whatever they are, to `results`; what lies behind them is not looked at."""
    new = {v: Value(Param(slot, v.type)) for slot, v in enumerate(params)}
    slots = tuple(new.values())
    assert len(slots) == len(params), "a value is given twice"
    stack: list[tuple[Value, bool]] = [(r, False) for r in reversed(results)]
    while stack:
        v, ready = stack.pop()
        if v in new:
            continue
        if ready:
            inputs = tuple([new[x] for x in v.inputs])
            with located(v.location):
                new[v] = v if inputs == v.inputs else Value(v.op, inputs)
        else:
            stack.append((v, True))
            stack.extend((x, False) for x in v.inputs if x not in new)
    return Function(slots, tuple(new[r] for r in results))
