"""Which values of the graph are computed only under a condition, and functions that contain them.

Values know when they were made. A side of a branch is an interval of time: what was made in it may only be computed
where the condition holds (it may not end, or be an error), so whoever else needs it computes it inside a branch again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mycelia import primitives as p
from mycelia.ir import Function, Param, Value, region, substitute, toposort
from mycelia.ir.value import serials
from mycelia.types import TupleType

Path = dict[Value, bool]  # the conditions that hold, and those that do not


def now() -> int:
    """The present moment: every value made before has a smaller serial."""
    return next(serials)


@dataclass
class Region:
    """The time in which one side of a branch, or the body of a loop, was interpreted; with those inside it."""

    start: int
    cond: Value | None  # None: the body of a loop or another function, whose values belong to nobody else
    taken: bool
    end: int = 0
    inner: list[Region] = field(default_factory=list)

    def forbids(self, serial: int, path: Path) -> bool:
        """Whether a value made at this moment is computed only under conditions that the path does not imply."""
        i = bisect_right(self.inner, serial, key=lambda r: r.start) - 1
        if i < 0:
            return False
        found = self.inner[i]
        if found.end and serial >= found.end:
            return False
        if found.end and (found.cond is None or path.get(found.cond) is not found.taken):
            return True
        return found.forbids(serial, path)


class Regions:
    """The regions of one capture, and where it is now."""

    def __init__(self) -> None:
        self.stack = [Region(0, None, True)]

    def enter(self, cond: Value | None, taken: bool) -> Region:
        region = Region(now(), cond, taken)
        self.stack[-1].inner.append(region)
        self.stack.append(region)
        return region

    def leave(self) -> None:
        self.stack.pop().end = now()

    def free(self, v: Value, path: Path) -> bool:
        """Whether a value may be computed under the conditions of the path."""
        return type(v.op) is Param or not self.stack[0].forbids(v.serial, path)

    def conditions(self, v: Value) -> tuple[tuple[Value, bool], ...]:
        """The conditions under which a value exists, outermost first."""
        found: list[tuple[Value, bool]] = []
        region = self.stack[0]
        while not v.closed and type(v.op) is not Param:
            i = bisect_right(region.inner, v.serial, key=lambda r: r.start) - 1
            if i < 0 or (region.inner[i].end and v.serial >= region.inner[i].end):
                break
            region = region.inner[i]
            if region.end and region.cond is not None:
                found.append((region.cond, region.taken))
        return tuple(found)

    def operands(self, results: Sequence[Value], moment: int, path: Path) -> list[Value]:
        """The values from before a moment, computed in any case, that a function for `results` takes."""
        return frontier(results, lambda v: v.serial < moment and self.free(v, path))

    def choose(self, cond: Value, yes: Sequence[Value], no: Sequence[Value], path: Path) -> tuple[Value, ...]:
        """The values of one of two sides."""
        moment = now()
        inner = [*yes, *no]
        operands = frontier(inner, lambda v: v.serial < moment and self.free(v, path))
        then, other = closed(operands, yes), closed(operands, no)
        if then == other:
            return tuple(then(*operands))
        return tuple(p.Cond(then, other)(cond, *operands))


def frontier(results: Sequence[Value], outside: Callable[[Value], bool]) -> list[Value]:
    """The first values on every way up from `results` that are outside. What is closed needs nobody to give it."""
    found: dict[Value, None] = {}
    seen: set[Value] = set()
    stack = list(reversed(results))
    while stack:
        v = stack.pop()
        if v in seen or v.closed:
            continue
        seen.add(v)
        if type(v.op) is Param or (not isinstance(v.type, TupleType) and outside(v)):
            found[v] = None
        else:
            stack.extend(reversed(v.inputs))
    return list(found)


def closed(params: Sequence[Value], results: Sequence[Value]) -> Function:
    """The function of these values, whatever they are, to `results`; what lies behind them is not looked at."""
    slots = tuple(Value(Param(slot, v.type)) for slot, v in enumerate(params))
    new = dict(zip(params, slots, strict=True))
    assert len(new) == len(params), "a value is given twice"
    with region(closed=True):
        return Function(slots, substitute(results, new))


def params_of(results: Sequence[Value]) -> set[Value]:
    """The parameters that these values depend on."""
    return {v for v in toposort(results) if type(v.op) is Param}
