"""How far the loops of a kernel go: the sizes that its code reads from a table, and how much threads can share."""

from __future__ import annotations

from math import prod
from typing import cast

from mycelia.loops import Datum, Expr, Index, Kernel, Quotient, Remainder
from mycelia.sizes import Dim, Sym


def numbers_of(kernel: Kernel) -> tuple[Sym, ...]:
    """The sizes that the code of a kernel reads from its table, in the order in which they stand there."""
    found: dict[Sym, None] = {}

    def note(*sizes: Dim) -> None:
        found.update(dict.fromkeys(cast("Sym", n) for n in sizes if not isinstance(n, int)))

    def note_index(at: Index) -> None:
        note(at.constant, *(c for _, c in at.terms))
        for atom, _ in at.terms:
            if isinstance(atom, Quotient | Remainder):
                note(atom.divisor)
                note_index(atom.index)
            elif isinstance(atom, Datum):
                note_expression(atom.value)

    def note_expression(e: Expr) -> None:
        for x in e.walk():
            if x.kind == "load":
                note_index(x.attribute[1])
            elif x.kind == "position":
                note_index(x.attribute)

    for v in (*kernel.rows, *(v for s in kernel.sweeps for v in s.columns)):
        note(v.extent, *((v.within[1],) if v.within else ()))
    for sweep in kernel.sweeps:
        for _, e in sweep.folds:
            note_expression(e)
        for action in (*sweep.actions, *sweep.after):
            note_expression(action.value)
            note_index(action.offset)
    return tuple(found)


def span(kernel: Kernel) -> Dim:
    """How far `high` may go: the number of rows, or the extent of the first column."""
    if kernel.rows:
        return prod(v.extent for v in kernel.rows)
    columns = kernel.sweeps[0].columns
    return columns[0].extent if columns else 1
