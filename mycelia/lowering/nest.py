"""The loops around expressions: which variables there are, and in which order they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from mycelia.loops import (
    Buffer,
    Datum,
    Expr,
    Index,
    Kernel,
    Quotient,
    Remainder,
    Stage,
    Store,
    Update,
    Variable,
    index,
    mention_index,
)
from mycelia.loops.index import Atom
from mycelia.sizes import Dim, divided, hint, known_equal, known_less

Written = TypeVar("Written", bound=Store | Update)


@dataclass(frozen=True)
class Nest:
    """A kernel being shaped."""

    kernel: Kernel

    def indices(self) -> list[Index]:
        """Every index that reads or writes, also those of data."""
        found: dict[Index, None] = {}
        for stage in self.kernel.stages:
            for e in [e for _, e in stage.folds] + [a.value for a in (*stage.actions, *stage.after)]:
                _indices(e, found)
            for action in (*stage.actions, *stage.after):
                found[action.offset] = None
                for atom, _ in action.offset.terms:
                    _inner(atom, found)
        return list(found)

    def substitute(self, new: dict[Atom, Index], variables: dict[Variable, tuple[Variable, ...]]) -> Nest:
        """Replace loop variables in everything, and in the lists of loops."""

        def loops(old: Sequence[Variable]) -> tuple[Variable, ...]:
            return tuple(v for o in old for v in variables.get(o, (o,)))

        def write(a: Written) -> Written:
            return replace(a, offset=a.offset.substitute(new), value=a.value.substitute(new))

        stages = tuple(
            Stage(
                loops(s.columns),
                tuple((f, e.substitute(new)) for f, e in s.folds),
                tuple(write(a) for a in s.actions),
                tuple(write(a) for a in s.after),
            )
            for s in self.kernel.stages
        )
        return Nest(Kernel(loops(self.kernel.rows), stages, self.kernel.scratch))


def _indices(e: Expr, found: dict[Index, None]) -> None:
    for x in e.walk():
        at = x.attribute[1] if x.kind == "load" else x.attribute if x.kind == "position" else None
        if at is not None and at not in found:
            found[at] = None
            for atom, _ in at.terms:
                _inner(atom, found)


def _inner(atom: Atom, found: dict[Index, None]) -> None:
    if isinstance(atom, Datum):
        _indices(atom.value, found)


def shape_loops(kernel: Kernel) -> Kernel:
    """Split loops where indices divide them, order rows and columns by memory, and merge what runs on."""
    nest = _split(Nest(kernel))
    nest = _order(nest)
    return _merge(nest).kernel


def _split(nest: Nest) -> Nest:
    """`i // 8` and `i % 8` become two loops."""
    for _ in range(8):
        found = next((d for at in nest.indices() for d in _divisions(at)), None)
        if found is None:
            return nest
        v, by = found
        outer, inner = Variable(divided(v.extent, by)[0]), Variable(by)
        nest = nest.substitute({v: index(outer) * by + index(inner)}, {v: (outer, inner)})
    return nest


def _divisions(at: Index) -> list[tuple[Variable, Dim]]:
    found = []
    for atom, _ in at.terms:
        if isinstance(atom, Quotient | Remainder):
            inner = atom.index
            if len(inner.terms) == 1 and known_equal(inner.constant, 0) and known_equal(inner.terms[0][1], 1):
                v = inner.terms[0][0]
                if isinstance(v, Variable) and v.within is None and _parts(v.extent, atom.divisor):
                    found.append((v, atom.divisor))
            found += _divisions(inner)
    return found


def _parts(extent: Dim, divisor: Dim) -> bool:
    """Whether a loop is known to be several loops of length `divisor`."""
    return known_less(divisor, extent) and known_equal(divided(extent, divisor)[1], 0)


def _order(nest: Nest) -> Nest:
    """Outer loops take larger steps through what is written, so that writing runs through memory in order."""
    kernel = nest.kernel
    written = [a.offset for s in kernel.stages for a in (*s.actions, *s.after) if a.buffer not in kernel.scratch]
    if not written:
        return nest
    rows = tuple(sorted(kernel.rows, key=lambda v: -max(abs(hint(at.coefficient(v))) for at in written)))
    stages = []
    for s in kernel.stages:
        plain = not s.folds and all(isinstance(a, Store) for a in s.actions)
        order = list(s.columns)
        if plain:
            order.sort(key=lambda v: -max([abs(hint(a.offset.coefficient(v))) for a in s.actions] or [0]))
        stages.append(replace(s, columns=tuple(order)))
    return Nest(Kernel(rows, tuple(stages), kernel.scratch))


def _merge(nest: Nest) -> Nest:
    """Two loops that run on through memory everywhere are one loop."""
    while True:
        indices = nest.indices()
        mixed = {v for at in indices for a, _ in at.terms if not isinstance(a, Variable) for v in _under(a)}
        pair = next((p for p in _neighbours(nest.kernel) if _runs_on(*p, indices, mixed)), None)
        if pair is None:
            return nest
        outer, inner = pair
        one = Variable(outer.extent * inner.extent)
        nest = nest.substitute({outer: Index(0), inner: index(one)}, {outer: (), inner: (one,)})


def _under(atom: Atom) -> set[Variable]:
    if isinstance(atom, Quotient | Remainder):
        return atom.index.variables()
    return set()  # the indices of data stand in the list for themselves


def _neighbours(kernel: Kernel) -> list[tuple[Variable, Variable]]:
    """Pairs of loops, one directly inside the other, wherever either of them runs."""
    lists = [kernel.rows] + [s.columns for s in kernel.stages]
    pairs = [p for loops in lists for p in pairwise(loops)]
    together = []
    for outer, inner in pairs:
        if all((outer in run) == (inner in run) and _adjacent(run, outer, inner) for run in lists):
            together.append((outer, inner))
    return together


def _adjacent(run: tuple[Variable, ...], outer: Variable, inner: Variable) -> bool:
    return outer not in run or run.index(inner) == run.index(outer) + 1


def _runs_on(outer: Variable, inner: Variable, indices: list[Index], mixed: set[Variable]) -> bool:
    if outer in mixed or inner in mixed or inner.within is not None or outer.within is not None:
        return False
    return all(known_equal(at.coefficient(outer), at.coefficient(inner) * inner.extent) for at in indices)


def same_place(kernel: Kernel, read: Buffer, written: Buffer) -> bool:
    """Whether every element of `read` is last read when the same element of `written` is stored, so that both may
    be one memory.
    """
    stores = {a.offset for s in kernel.stages for a in (*s.actions, *s.after) if a.buffer is written}
    if len(stores) != 1 or any(isinstance(a, Update) and a.buffer is written for s in kernel.stages for a in s.actions):
        return False
    last = max(n for n, s in enumerate(kernel.stages) for a in (*s.actions, *s.after) if a.buffer is written)
    for n, stage in enumerate(kernel.stages):
        roots = [e for _, e in stage.folds] + [a.value for a in (*stage.actions, *stage.after)]
        found: dict[Index, None] = {}
        for e in roots:
            for x in e.walk():
                if x.kind == "load" and x.attribute[0] is read:
                    found[x.attribute[1]] = None
        offsets: dict[Buffer, None] = {}
        _data(stage, offsets)
        if read in offsets or (n > last and found):
            return False
        if n == last and any(at not in stores for at in found):
            return False
        if n < last and any(at not in stores for at in found) and stage.columns != kernel.stages[last].columns:
            return all(_row_of(at, kernel) == _row_of(next(iter(stores)), kernel) for at in found)
    return True


def _row_of(at: Index, kernel: Kernel) -> Index:
    return Index(0, tuple(t for t in at.terms if t[0] in kernel.rows))


def _data(stage: Stage, found: dict[Buffer, None]) -> None:
    """Buffers that indices read."""
    for e in [e for _, e in stage.folds] + [a.value for a in (*stage.actions, *stage.after)]:
        for x in e.walk():
            if x.kind == "load":
                mention_index(x.attribute[1], found)
    for action in (*stage.actions, *stage.after):
        mention_index(action.offset, found)
