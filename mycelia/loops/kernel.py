"""Kernels: rows that may run side by side, and for each row a few sweeps of loops.

    for row in rows:                      # independent: shared among threads
        for sweep in sweeps:              # one after the other
            for column in sweep.columns:  # nested loops, the last one in vectors
                fold, store, update
            finish: store what needs the finished folds

An elementwise kernel is one sweep. A softmax is three sweeps over one row: maximum; exponentials and their sum;
quotient. A scatter is one sweep of updates. There is nothing else.
"""

from __future__ import annotations

from mycelia.frozen import frozen
from mycelia.loops.expr import Buffer, Expr, Fold
from mycelia.loops.index import Datum, Index, Quotient, Remainder, Variable
from mycelia.loops.term_order import TermOrder


@frozen
class Store:
    """`buffer[offset] = value`."""

    buffer: Buffer
    offset: Index
    value: Expr


@frozen
class Update:
    """`buffer[offset] = combine(buffer[offset], value)`, in the order of the loops; "set" combines them to `value`."""

    buffer: Buffer
    offset: Index
    combine: str
    value: Expr


@frozen
class Sweep:
    """One nest of loops inside a row. `folds` run over all columns; `after` sees them finished."""

    columns: tuple[Variable, ...]
    folds: tuple[tuple[Fold, Expr], ...] = ()
    actions: tuple[Store | Update, ...] = ()
    after: tuple[Store, ...] = ()


@frozen
class Kernel:
    """Sweeps over rows. `scratch` buffers are private to a row."""

    rows: tuple[Variable, ...]
    sweeps: tuple[Sweep, ...]
    scratch: tuple[Buffer, ...] = ()

    def buffers(self) -> tuple[Buffer, ...]:
        """Every buffer read or written that is not scratch, in order of first mention."""
        return tuple(dict.fromkeys((*self.read(), *self.written())))

    def read(self) -> tuple[Buffer, ...]:
        """The buffers that the kernel reads, without its scratch."""
        found: dict[Buffer, None] = {}
        order = self.term_order()
        for sweep in self.sweeps:
            for _, e in sweep.folds:
                mention(e, found, order)
            for action in (*sweep.actions, *sweep.after):
                mention(action.value, found, order)
                mention_index(action.offset, found, order)
                if isinstance(action, Update):
                    found[action.buffer] = None
        return tuple(b for b in found if b not in self.scratch)

    def written(self) -> tuple[Buffer, ...]:
        """The buffers that the kernel writes, without its scratch."""
        out = {a.buffer: None for s in self.sweeps for a in (*s.actions, *s.after)}
        return tuple(b for b in out if b not in self.scratch)

    def term_order(self) -> TermOrder:
        """In which order terms are written down."""
        loops = (*self.rows, *[v for s in self.sweeps for v in s.columns])
        return TermOrder(loops, [fold for s in self.sweeps for fold, _ in s.folds])

    def __str__(self) -> str:
        from mycelia.loops.printer import show  # the printer knows kernels, and kernels can be printed

        return show(self)


def mention(e: Expr, found: dict[Buffer, None], order: TermOrder | None = None) -> None:
    """Note every buffer that an expression reads, also for its indices; in the same order for equal ones, if there is
    an order of terms.
    """
    for x in e.walk():
        if x.kind == "load":
            found[x.attribute[0]] = None
            mention_index(x.attribute[1], found, order)
        elif x.kind == "position":
            mention_index(x.attribute, found, order)


def mention_index(at: Index, found: dict[Buffer, None], order: TermOrder | None = None) -> None:
    """Note every buffer that an index reads."""
    inside = tuple(term for term in at.terms if type(term[0]) is not Variable)
    if len(inside) > 1 and order is not None:
        inside = order.terms(Index(0, inside))
    for atom, _ in inside:
        if isinstance(atom, Datum):
            mention(atom.value, found, order)
        elif isinstance(atom, Quotient | Remainder):
            mention_index(atom.index, found, order)
