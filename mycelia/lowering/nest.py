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
    Store,
    Sweep,
    Update,
    Variable,
    index,
    mention_index,
)
from mycelia.loops.index import Atom
from mycelia.sizes import Dim, divided, hint, known_equal, known_less, low

Written = TypeVar("Written", bound=Store | Update)


@dataclass(frozen=True)
class Nest:
    """A kernel being shaped."""

    kernel: Kernel

    def indices(self) -> list[Index]:
        """Every index that reads or writes, also those of data."""
        found: dict[Index, None] = {}
        for sweep in self.kernel.sweeps:
            for e in [e for _, e in sweep.folds] + [a.value for a in (*sweep.actions, *sweep.after)]:
                _indices(e, found)
            for action in (*sweep.actions, *sweep.after):
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

        sweeps = tuple(
            Sweep(
                loops(s.columns),
                tuple((f, e.substitute(new)) for f, e in s.folds),
                tuple(write(a) for a in s.actions),
                tuple(write(a) for a in s.after),
            )
            for s in self.kernel.sweeps
        )
        return Nest(Kernel(loops(self.kernel.rows), sweeps, self.kernel.scratch))


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
    written = [a.offset for s in kernel.sweeps for a in (*s.actions, *s.after) if a.buffer not in kernel.scratch]
    if not written:
        return nest
    rows = tuple(sorted(kernel.rows, key=lambda v: -max(abs(hint(at.coefficient(v))) for at in written)))
    sweeps = []
    for s in kernel.sweeps:
        plain = not s.folds and all(isinstance(a, Store) for a in s.actions)
        order = list(s.columns)
        if plain:
            order.sort(key=lambda v: -max([abs(hint(a.offset.coefficient(v))) for a in s.actions] or [0]))
        sweeps.append(replace(s, columns=tuple(order)))
    return Nest(Kernel(rows, tuple(sweeps), kernel.scratch))


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
    lists = [kernel.rows] + [s.columns for s in kernel.sweeps]
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


# ------------------------------------------------------------------------------------------------ in place


def same_place(kernel: Kernel, read: Buffer, written: Buffer) -> bool:
    """Whether every element of `read` is read for the last time before the same element of `written` is stored, so that
    both may be one memory. What is not shown here is not so.

    Rows run side by side, in any order; in a row, sweeps follow one another, and in a sweep, columns do. So an element
    may be read by the row that stores it, in an earlier sweep or right where it is stored, and by nobody else:

        y = softmax(x)           each row reads and stores the same elements: one memory
        y = z - sum(x.T, 1)      row 0 stores y[0, :] over x[0, :], and row 1 then adds up x[:, 1]: x[0, 1] is gone
        y = z - sum(x[::-1], 1)  row 0 stores y[0, :], and the last row has yet to add up x[0, :]

    The four steps: `written` is stored at one place in one sweep, each element once; no index is read from `read`; in
    that sweep, `read` is loaded where `written` is stored; before it, from the elements that the row stores; after it,
    not at all.
    """
    stored = [(n, a, a in s.after) for n, s in enumerate(kernel.sweeps) for a in (*s.actions, *s.after)
              if a.buffer is written]  # fmt: skip
    sweeps, offsets = {n for n, _, _ in stored}, {a.offset for _, a, _ in stored}
    if len(sweeps) != 1 or len(offsets) != 1 or any(isinstance(a, Update) for _, a, _ in stored):
        return False
    (last,), (store,) = sweeps, offsets
    columns = kernel.sweeps[last].columns
    if not (all(late for _, _, late in stored) or _each_once(store, columns)):
        return False
    for n, sweep in enumerate(kernel.sweeps):
        from_data: dict[Buffer, None] = {}
        _data(sweep, from_data)
        loads = _loads(sweep, read)
        if read in from_data or (loads and n > last):
            return False
        others = [at for at in loads if at != store]
        if others and (n == last or not all(_in_row(at, store, kernel) for at in others)):
            return False
    return True


def _each_once(store: Index, columns: Sequence[Variable]) -> bool:
    """Whether each turn of the columns stores another element, for all that is known."""
    return all(known_equal(v.extent, 1) or not known_equal(store.coefficient(v), 0) for v in columns)


def _loads(sweep: Sweep, read: Buffer) -> list[Index]:
    """Where a sweep loads from a buffer."""
    found: dict[Index, None] = {}
    for e in [e for _, e in sweep.folds] + [a.value for a in (*sweep.actions, *sweep.after)]:
        found |= {x.attribute[1]: None for x in e.walk() if x.kind == "load" and x.attribute[0] is read}
    return list(found)


def _in_row(at: Index, store: Index, kernel: Kernel) -> bool:
    """Whether a row loads no other elements than it stores: it starts at the same place, stays between the first and
    the last element that it stores, and it stores all in between.
    """
    row, own = _parted(at, kernel), _parted(store, kernel)
    if row[0] != own[0] or not _is_dense(own[1]):
        return False
    return low(row[1].low - own[1].low) >= 0 and low(own[1].high - row[1].high) >= 0


def _parted(at: Index, kernel: Kernel) -> tuple[Index, Index]:
    """An index as the part that rows decide, and the rest."""
    rows = tuple(t for t in at.terms if t[0] in kernel.rows)
    return Index(0, rows), Index(at.constant, tuple(t for t in at.terms if t[0] not in kernel.rows))


def _is_dense(at: Index) -> bool:
    """Whether an index of loop variables takes each number from its first to its last."""
    step: Dim = 1
    for atom, c in sorted(at.terms, key=lambda t: hint(t[1])):
        if not isinstance(atom, Variable) or atom.within is not None or not known_equal(c, step):
            return False
        step = step * atom.extent
    return True


def _data(sweep: Sweep, found: dict[Buffer, None]) -> None:
    """Buffers that indices read."""
    for e in [e for _, e in sweep.folds] + [a.value for a in (*sweep.actions, *sweep.after)]:
        for x in e.walk():
            if x.kind == "load":
                mention_index(x.attribute[1], found)
    for action in (*sweep.actions, *sweep.after):
        mention_index(action.offset, found)
