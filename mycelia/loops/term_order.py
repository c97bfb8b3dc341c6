"""The terms of an index in an order that depends on what they are, and not on when this process made them.

A sum keeps its atoms in the order of their making: that is the cheapest, and says nothing. Whoever writes a kernel down
takes this order, so that equal kernels give equal texts, in every process: loop variables first, outer before inner,
then quotients, remainders, and what comes out of data, each by what it is made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from mycelia.loops.expr import Expr, Fold
from mycelia.loops.index import Atom, Datum, Index, Quotient, Remainder, Variable
from mycelia.sizes import Dim, text

LONG = 80  # characters of a description; of longer ones a digest is taken

Key = tuple[int, int, str]


class TermOrder:
    """The order of terms in a kernel of these loops, outer ones first, and of these folds. Buffers go by their names.

    >>> i, j = Variable(4), Variable(6)
    >>> late = Index(0, ((i, 6), (j, 1)))
    >>> TermOrder((j, i), ()).terms(late) == ((j, 1), (i, 6))
    True
    """

    def __init__(self, loops: Iterable[Variable], folds: Iterable[Fold]) -> None:
        self.loops = {v: n for n, v in enumerate(dict.fromkeys(loops))}
        self.folds = {f: n for n, f in enumerate(folds)}
        self.known: dict[Expr, str] = {}

    def terms(self, at: Index) -> tuple[tuple[Atom, Dim], ...]:
        """The atoms of an index with their coefficients."""
        return at.terms if len(at.terms) < 2 else tuple(sorted(at.terms, key=lambda term: self._key(term[0])))

    def _key(self, atom: Atom) -> Key:
        match atom:
            case Variable():
                return 0, self.loops[atom], ""
            case Quotient():
                return 1, 0, f"{self._index(atom.index)} // {text(atom.divisor)}"
            case Remainder():
                return 2, 0, f"{self._index(atom.index)} % {text(atom.divisor)}"
            case Datum():
                return 3, 0, f"{self._expr(atom.value)} {text(atom.low)} {text(atom.high)}"
            case _:
                raise AssertionError(f"{atom} is no atom of an index")

    def _index(self, at: Index) -> str:
        said = [text(at.constant)]
        for atom, c in self.terms(at):
            kind, place, inside = self._key(atom)
            said.append(f"{text(c)}*{kind}.{place}({inside})")
        return _short(" + ".join(said))

    def _expr(self, root: Expr) -> str:
        for e in root.walk():
            if e not in self.known:
                said = [self._attribute(e), *[self.known[a] for a in e.args]]
                self.known[e] = _short(f"{e.kind}[{e.dtype.short}]({', '.join(said)})")
        return self.known[root]

    def _attribute(self, e: Expr) -> str:
        match e.kind:
            case "load":
                buffer, at = e.attribute
                return f"{buffer.name}[{self._index(at)}]"
            case "position":
                return self._index(e.attribute)
            case "folded":
                return f"fold {self.folds[e.attribute]}"
            case _:
                return repr(e.attribute)


def _short(said: str) -> str:
    """A description, or its digest: expressions share parts, and written out they may be far too long."""
    return said if len(said) <= LONG else blake2b(said.encode(), digest_size=16).hexdigest()
