"""Which values of the graph are computed only under a condition, and functions that contain them.

Values know when they were made. A side of a branch is an interval of time: what was made in it may only be computed
where the condition holds (it may not end, or be an error), so whoever else needs it computes it inside a branch again.
Equal values are one object, though: one that is asked for on several sides belongs to what is around all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.capture.values import Break
from mycelia.ir import Function, Param, Value, births_for, born_in, region, substitute, toposort, type_names
from mycelia.ir.region import innermost
from mycelia.ir.value import serials
from mycelia.sizes import Name, Sym
from mycelia.types import TupleType, int64

Path = dict[Value, bool]  # the conditions that hold, and those that do not


def now() -> int:
    """The present moment: every value made before has a smaller serial."""
    return next(serials)


@dataclass
class ConditionalSpan:
    """The time in which one side of a branch, or the body of a loop, was interpreted; with those inside it."""

    start: int
    cond: Value | None  # None: the body of a loop or another function, whose values belong to nobody else
    taken: bool
    end: int = 0
    inner: list[ConditionalSpan] = field(default_factory=list)

    def is_like(self, other: ConditionalSpan) -> bool:
        """Whether the same condition holds in both."""
        return self is other or (self.cond is not None and self.cond is other.cond and self.taken is other.taken)

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

    def __init__(self, number: Callable[[Any], Value]) -> None:
        self.number = number  # a size as a value
        self.stack = [ConditionalSpan(0, None, True)]
        self.shared: dict[Value, list[ConditionalSpan]] = {}  # what is around all places where a value was asked for
        self.given: dict[Value, Value] = {}  # what effects on one way gave, as the branch around them gives it
        self.births: dict[Name, Value] = {}  # sizes that come out of data on one way, or in a turn: no others know them

    def enter(self, cond: Value | None, taken: bool) -> ConditionalSpan:
        region = ConditionalSpan(now(), cond, taken)
        self.stack[-1].inner.append(region)
        self.stack.append(region)
        return region

    def leave(self) -> None:
        self.stack.pop().end = now()

    def free(self, v: Value, path: Path) -> bool:
        """Whether a value may be computed under the conditions of the path."""
        return type(v.op) is Param or not self.stack[0].forbids(v.serial, path)

    def around(self, v: Value) -> list[ConditionalSpan]:
        """The regions that a value belongs to, outermost first."""
        if v in self.shared:
            return self.shared[v]
        found, region = [self.stack[0]], self.stack[0]
        while not v.closed and type(v.op) is not Param:
            i = bisect_right(region.inner, v.serial, key=lambda r: r.start) - 1
            if i < 0 or (region.inner[i].end and v.serial >= region.inner[i].end):
                break
            region = region.inner[i]
            found.append(region)
        return found

    def again(self, v: Value) -> None:
        """A value that was there is asked for here: it belongs to what is around both places."""
        writing = innermost()
        if v.closed or type(v.op) is Param or (writing is not None and not writing.number):
            return  # a function that is closed has values of its own
        mine = self.around(v)
        shared = 1
        while shared < min(len(mine), len(self.stack)) and mine[shared].is_like(self.stack[shared]):
            shared += 1
        if shared < len(mine):
            if any(a.mark and len(self.around(a)) > shared for a in toposort([v])):
                raise Break("a value that may not end is asked for on two ways")
            self.shared[v] = mine[:shared]

    def conditions(self, v: Value) -> tuple[tuple[Value, bool], ...]:
        """The conditions under which a value exists, outermost first."""
        return tuple((r.cond, r.taken) for r in self.around(v) if r.end and r.cond is not None)

    def known(self, v: Value, moment: int, path: Path) -> Value | None:
        """A value as it was known before a moment, under the conditions of the path; None if it was not."""
        found: Value | None = v
        while found is not None and type(found.op) is not Param:
            if found.serial < moment and self.free(found, path):
                return found
            found = self.given.get(found)
        return found

    def operands(self, roots: Sequence[Value], moment: int, path: Path) -> tuple[list[Value], list[Value]]:
        """The values from before a moment that a function for `roots` takes: as the roots name them, and as
        they are here.
        """
        names = frontier(roots, lambda v: self.known(v, moment, path) is not None)
        return names, [self.known(v, moment, path) or v for v in names]

    def settled(self, roots: Sequence[Value], path: Path) -> Sequence[Value]:
        """The same values, where what effects on other ways gave comes out of the branches around them."""
        if not self.given:
            return roots
        new: dict[Value, Value] = {}
        for v in toposort(roots):
            found = v
            while found in self.given and not self.free(found, path):
                found = self.given[found]
            if found is not v:
                new[v] = found
        with region():  # of nobody: an effect that reads another one is made again where it belongs
            return substitute(roots, new) if new else roots

    def choose(
        self, cond: Value, yes: Sequence[Value], no: Sequence[Value], path: Path,
        happens: tuple[Sequence[Value], Sequence[Value]] = ((), ()),
    ) -> tuple[Value, ...]:  # fmt: skip
        """The values of one of two sides, and what happens there."""
        moment = now()
        roots = [
            self.settled([*effects, *side], {**path, cond: taken})
            for effects, side, taken in zip(happens, (yes, no), (True, False), strict=True)
        ]
        born = [births_for(side, lambda v: self.known(v, moment, path) is not None, self.births) for side in roots]
        names, operands = self.operands([*roots[0], *roots[1], *born[0].values(), *born[1].values()], moment, path)
        sides = []
        for side, effects, sizes in zip(roots, happens, born, strict=True):
            given = side[len(effects) :]
            if any(not type_names(v.type).isdisjoint(sizes) for v in given):
                raise Break("a size comes out of data on one way only")
            sides.append(closed(names, given, sorted([*side[: len(effects)], *sizes.values()], key=lambda v: v.serial)))
        then, other = sides
        if then == other and not any(happens) and not any(born):
            return tuple(then(*operands))
        return tuple(p.Cond(then, other)(cond, *operands))

    def with_births(
        self, effects: Sequence[Value], values: Sequence[Value], moment: int, path: Path
    ) -> tuple[list[Value], list[Value]]:
        """The effects of a function for these values, and the values: sizes that come out of data on one way are among
        them if a value has one of them, for it may be computed without that condition.
        """
        roots = self.settled([*effects, *values], path)
        happens, results = roots[: len(effects)], list(roots[len(effects) :])
        born = births_for(roots, lambda v: self.known(v, moment, path) is not None, self.births)
        return sorted({*happens, *born.values()}, key=lambda v: v.serial), results

    def note_births(self, effects: Sequence[Value]) -> list[Value]:
        """Remember sizes that come out of data here; the effects that are others."""
        self.births |= {name: e for e in effects if (name := born_in(e)) is not None}
        return [e for e in effects if born_in(e) is None]

    def everywhere(self, values: Sequence[Value], path: Path) -> list[Value]:
        """These values where they exist, and zeros where nobody asks for them."""
        groups: dict[tuple[tuple[Value, bool], ...], list[Value]] = {}
        for v in values:
            needed = tuple((c, taken) for c, taken in self.conditions(v) if c not in path)
            groups.setdefault(needed, []).append(v)
        new: dict[Value, Value] = {}
        for needed, group in groups.items():
            new |= zip(group, self._under(group, needed, path), strict=True)
        return [new[v] for v in values]

    def wrong(self, index: Value, extent: Any, where: Sequence[tuple[Value, bool]], path: Path) -> Value:
        """Whether a position does not exist, where it is asked for."""
        needed = [(c, taken) for c, taken in where if c not in path]
        for c, taken in needed:
            self.enter(c, taken)
        found = out_of_range(index, self.number(extent) if type(extent) is Sym else extent)
        for _ in needed:
            self.leave()
        return self._under([found], needed, path)[0]

    def _under(self, values: Sequence[Value], needed: Sequence[tuple[Value, bool]], known: Path) -> Sequence[Value]:
        if not needed:
            return values
        (cond, taken), *rest = needed
        self.enter(cond, taken)
        inner = self._under(values, rest, {**known, cond: taken})
        self.leave()
        zeros = [p.zeros(v.dtype, v.shape) for v in values]
        yes, no = (inner, zeros) if taken else (zeros, inner)
        return self.choose(cond, yes, no, known)


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


def closed(params: Sequence[Value], results: Sequence[Value], effects: Sequence[Value] = ()) -> Function:
    """The function of these values, whatever they are, to `results`; what lies behind them is not looked at."""
    slots = tuple(Value(Param(slot, v.type)) for slot, v in enumerate(params))
    new = dict(zip(params, slots, strict=True))
    assert len(new) == len(params), "a value is given twice"
    with region(closed=True) as inside:
        made = substitute((*effects, *results), new)
    assert len(inside.effects) == len(effects), "a function reads effects of another one"
    return Function(slots, made[len(effects) :], made[: len(effects)])


def out_of_range(index: Value, extent: Any) -> Value:
    """Whether a position does not exist; without an extent, whether something that must hold does not."""
    if extent is None:
        wrong = p.logical_not(index)
    elif isinstance(extent, Value):
        index = p.cast(index, int64)
        wrong = p.logical_or(p.less(index, p.negative(extent)), p.greater_equal(index, extent))
    else:
        if index.dtype.kind in "iu" and np.iinfo(index.dtype.numpy).max < extent:
            index = p.cast(index, int64)  # the extent is no number of its own type
        low, high = (p.full(n, index.dtype, ()) for n in (-extent if index.dtype.kind == "i" else 0, extent))
        wrong = p.logical_or(p.less(index, low), p.greater_equal(index, high))
    return p.reduce_any(wrong, tuple(range(len(index.shape)))) if index.shape else wrong


def params_of(results: Sequence[Value]) -> set[Value]:
    """The parameters that these values depend on."""
    return {v for v in toposort(results) if type(v.op) is Param}
