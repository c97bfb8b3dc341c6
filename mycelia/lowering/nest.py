"""The loops around expressions: which variables there are, and in which order they run; and whether a kernel may store
its result over what it reads.

Expressions come with one loop for each axis of the result. Three steps make good loops of them (`shape_loops`), and
nothing of what is computed changes:

    y = reshape(x.T, (96,))              x: f32[8, 12]; y[i] = x[i % 8, i // 8]
    split    for i: y[i] = x[12 * (i % 8) + i // 8]
             for j < 12: for k < 8: y[8 * j + k] = x[12 * k + j]          no division is left
    order    the loop with the larger step through what is written goes outside: writing runs through memory
    merge    for j: for k: y[8 * j + k] = exp(z[8 * j + k])   ->  for i < 96: y[i] = exp(z[i])

Splitting comes first, because a division hides the steps by which the others go; merging last, because loops run on
only in the right order. The field calls these strip-mining, interchange and coalescing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from mycelia.frozen import frozen
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


@frozen
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
    """Split loops where indices divide them, order rows and columns by memory, and merge what runs on. No loop is
    within another one yet.
    """
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
                if isinstance(v, Variable) and _parts(v.extent, atom.divisor):
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
    if outer in mixed or inner in mixed:
        return False
    return all(known_equal(at.coefficient(outer), at.coefficient(inner) * inner.extent) for at in indices)


# ------------------------------------------------------------------------------------------------ in place


def same_place(kernel: Kernel, read: Buffer, written: Buffer) -> bool:
    """Whether every element of `read` is read for the last time before the same element of `written` is stored, so that
    both may be one memory. What is not shown here is not so.

    Rows run side by side, in any order; in a row, sweeps follow one another, and in a sweep, columns do. So an element
    may be read by the row that stores it, in an earlier sweep or right where it is stored, and by nobody else:

                    sweep 0     sweep 1         sweep 2 (stores)     sweep 3
        row i       own row     own row         the same element     nothing
        other rows  nothing     nothing         nothing              nothing

    The proof has five steps, each a function below, with a program that would be wrong without it:

        _stored_once        for i: y[0] = x[0] + z[i]   the second turn reads what the first has stored
        _steers_nothing     y[i] = z[x[n - 1 - i]]      loads inside of indices are not followed, so none may be of x
        _untouched_after    y = x * 2; sum(x)           the sum would add up doubled numbers
        _read_where_stored  y[i] = x[n - 1 - i]         in the second half, what is read has been stored already
        _read_in_own_row    y = z - sum(x.T, 1)         row 0 stores y[0, :] over x[0, :], and row 1 adds up x[:, 1]

    The last is why a row must store *all* between its first and its last element (`_is_dense`): what lies between two
    that it stores is stored by another row, which may have run.
    """
    store = _stored_once(kernel, written)
    if store is None:
        return False
    loads = [_loads(sweep, read) for sweep in kernel.sweeps]
    return (
        _steers_nothing(kernel, read)
        and _untouched_after(store, loads)
        and _read_where_stored(store, loads)
        and _read_in_own_row(store, loads, kernel)
    )


@frozen
class _Stored:
    """That a buffer is stored in one sweep, at one index."""

    sweep: int
    at: Index


def _stored_once(kernel: Kernel, written: Buffer) -> _Stored | None:
    """Where a buffer is stored, if that is one place of one sweep, and each element is stored once."""
    found = [(n, a, a in s.after) for n, s in enumerate(kernel.sweeps) for a in (*s.actions, *s.after)
             if a.buffer is written]  # fmt: skip
    places = {(n, a.offset) for n, a, _ in found}
    if len(places) != 1 or any(isinstance(a, Update) for _, a, _ in found):
        return None
    ((sweep, at),) = places
    once = all(late for _, _, late in found) or _each_once(at, kernel.sweeps[sweep].columns)
    return _Stored(sweep, at) if once else None


def _steers_nothing(kernel: Kernel, read: Buffer) -> bool:
    """Whether no index is made of what is read: the place of another load or store would change with it."""
    found: dict[Buffer, None] = {}
    for sweep in kernel.sweeps:
        _data(sweep, found)
    return read not in found


def _untouched_after(store: _Stored, loads: Sequence[Sequence[Index]]) -> bool:
    """Whether no later sweep reads."""
    return not any(loads[store.sweep + 1 :])


def _read_where_stored(store: _Stored, loads: Sequence[Sequence[Index]]) -> bool:
    """Whether the sweep that stores reads the element that it stores next, and no other."""
    return all(at == store.at for at in loads[store.sweep])


def _read_in_own_row(store: _Stored, loads: Sequence[Sequence[Index]], kernel: Kernel) -> bool:
    """Whether earlier sweeps of a row read only what this row stores."""
    return all(at == store.at or _in_row(at, store.at, kernel) for each in loads[: store.sweep] for at in each)


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
