"""Index expressions: integers that say which element is meant, kept as sums so that views cost nothing.

An index is `constant + sum(coefficient * atom)`. An atom is a loop variable, a quotient or remainder that could not
be simplified, or an integer that comes out of the data. Bounds are known at birth, so `(4*i + j) // 4` is `i` when
0 <= j < 4: reshapes disappear. Coefficients and bounds may be symbolic sizes; what is not known of those simplifies
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from math import gcd
from typing import TYPE_CHECKING

from mycelia.interning import Interned
from mycelia.sizes import Dim, divided, known_equal, known_less, low, text

if TYPE_CHECKING:
    from mycelia.loops.expr import Expr

FAR = 1 << 62
_fresh = count()


class Atom:
    """An integer that index expressions are sums of. Each knows the range it stays in, both ends included."""

    __slots__ = ("__weakref__", "high", "low", "uid")

    low: Dim
    high: Dim
    uid: int


class Variable(Atom):
    """A loop variable, from 0 to `extent - 1`. A variable `within` (block, total) runs over one block of `extent` out
    of `total`, the last of which may be cut short.
    """

    __slots__ = ("extent", "within")

    def __init__(self, extent: Dim, within: tuple[Variable, Dim] | None = None) -> None:
        self.extent, self.low, self.uid, self.within = extent, 0, next(_fresh), within
        self.high = max(extent - 1, 0) if isinstance(extent, int) else extent - 1

    def __repr__(self) -> str:
        return f"i{self.uid}"


class Quotient(Atom):
    """`index // divisor`, where nothing is known that would simplify it."""

    __slots__ = ("divisor", "index")

    def __init__(self, index: Index, divisor: Dim) -> None:
        self.index, self.divisor, self.uid = index, divisor, next(_fresh)
        self.low, self.high = divided(index.low, divisor)[0], divided(index.high, divisor)[0]

    def __repr__(self) -> str:
        return f"({self.index} // {text(self.divisor)})"


class Remainder(Atom):
    """`index % divisor`, where nothing is known that would simplify it."""

    __slots__ = ("divisor", "index")

    def __init__(self, index: Index, divisor: Dim) -> None:
        self.index, self.divisor, self.uid = index, divisor, next(_fresh)
        self.low, self.high = 0, divisor - 1

    def __repr__(self) -> str:
        return f"({self.index} % {text(self.divisor)})"


class Datum(Atom):
    """An integer read from the data, promised to stay within bounds."""

    __slots__ = ("value",)

    def __init__(self, value: Expr, low: Dim, high: Dim) -> None:
        self.value, self.low, self.high, self.uid = value, low, high, next(_fresh)

    def __repr__(self) -> str:
        return f"[{self.value}]"


_interned = Interned[Atom]()


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A sum of atoms with integer coefficients, in a fixed order: equal sums are equal objects.

    >>> i, j = Variable(8), Variable(4)
    >>> at = index(i) * 4 + index(j)
    >>> at // 4 == index(i), at % 4 == index(j)
    (True, True)
    """

    constant: Dim
    terms: tuple[tuple[Atom, Dim], ...] = ()

    def __eq__(self, other: object) -> bool:
        """Whether both are the same sum at all sizes."""
        if not isinstance(other, Index):
            return NotImplemented
        return hash(self) == hash(other) and self.terms == other.terms and self.constant == other.constant

    def __hash__(self) -> int:
        return hash((self.constant, self.terms))

    @property
    def low(self) -> Dim:
        return self.constant + sum(c * (a.low if low(c) >= 0 else a.high) for a, c in self.terms)

    @property
    def high(self) -> Dim:
        return self.constant + sum(c * (a.high if low(c) >= 0 else a.low) for a, c in self.terms)

    def __add__(self, other: Index | Dim) -> Index:
        if not isinstance(other, Index):
            return Index(self.constant + other, self.terms)
        if not other.terms:
            return Index(self.constant + other.constant, self.terms)
        total = dict(self.terms)
        for atom, c in other.terms:
            total[atom] = total.get(atom, 0) + c
        return _sum(self.constant + other.constant, total)

    def __sub__(self, other: Index | Dim) -> Index:
        return self + other * -1 if isinstance(other, Index) else Index(self.constant - other, self.terms)

    def __mul__(self, factor: Dim) -> Index:
        if isinstance(factor, int) and factor == 0:
            return Index(0)
        return Index(self.constant * factor, tuple((a, c * factor) for a, c in self.terms))

    def __floordiv__(self, divisor: Dim) -> Index:
        if known_equal(divisor, 1):
            return self
        whole, rest = self._split(divisor)
        if _within(rest, divisor):
            return whole
        step, coarse = rest._coarse(divisor)
        if step > 1:
            return whole + coarse // (divisor // step)
        return whole + Index(0, ((divided_atom(Quotient, rest, divisor), 1),))

    def __mod__(self, divisor: Dim) -> Index:
        if known_equal(divisor, 1):
            return Index(0)
        _, rest = self._split(divisor)
        if _within(rest, divisor):
            return rest
        step, coarse = rest._coarse(divisor)
        if step > 1:
            return coarse % (divisor // step) * step + (rest - coarse * step)
        return Index(0, ((divided_atom(Remainder, rest, divisor), 1),))

    def _split(self, divisor: Dim) -> tuple[Index, Index]:
        """`(whole, rest)` with self = whole * divisor + rest, and as much as possible in `whole`."""
        parts = {a: _parted(c, divisor) for a, c in self.terms}
        quotient, remainder = _parted(self.constant, divisor)
        return _sum(quotient, {a: q for a, (q, _) in parts.items()}), _sum(
            remainder, {a: r for a, (_, r) in parts.items()}
        )

    def _coarse(self, divisor: Dim) -> tuple[Dim, Index]:
        """`(step, coarse)` where self is `coarse * step` and something too small to carry into it; step divides
        `divisor`. A step of 1 means that there is none.
        """
        for step in _steps([c for _, c in self.terms], divisor):
            large = {a: divided(c, step)[0] for a, c in self.terms if known_equal(divided(c, step)[1], 0)}
            coarse = _sum(divided(self.constant, step)[0], large)
            fine = self - coarse * step
            if _within(fine, step):
                return step, coarse
        return 1, self

    def coefficient(self, atom: Atom) -> Dim:
        return next((c for a, c in self.terms if a is atom), 0)

    def substitute(self, new: dict[Atom, Index]) -> Index:
        """The index with loop variables replaced, simplified again."""
        out = Index(self.constant)
        for atom, c in self.terms:
            out = out + _replaced(atom, new) * c
        return out

    def variables(self) -> set[Variable]:
        """The loop variables that the index depends on; those inside data are the data's own."""
        found: set[Variable] = set()
        for atom, _ in self.terms:
            if isinstance(atom, Variable):
                found.add(atom)
            elif isinstance(atom, Quotient | Remainder):
                found |= atom.index.variables()
            elif isinstance(atom, Datum):
                found |= atom.value.variables()
        return found

    def __repr__(self) -> str:
        parts = [f"{a}" if known_equal(c, 1) else f"{text(c)}*{a}" for a, c in self.terms]
        shown = not known_equal(self.constant, 0) or not parts
        return " + ".join([*parts, text(self.constant)] if shown else parts)


def _parted(n: Dim, divisor: Dim) -> tuple[Dim, Dim]:
    """A coefficient divided, and its rest; as it is, if the divisor may be zero and it is no multiple: how often it
    fits would be computed before the loop, which then has no turns.
    """
    whole, rest = divided(n, divisor)
    return (whole, rest) if low(divisor) > 0 or known_equal(rest, 0) else (0, n)


def _within(rest: Index, divisor: Dim) -> bool:
    """Whether 0 <= rest < divisor, at all sizes."""
    return low(rest.low) >= 0 and known_less(rest.high, divisor)


def _steps(coefficients: list[Dim], divisor: Dim) -> list[Dim]:
    """What divides both the divisor and one of the coefficients, the largest first, more than 1."""
    numbers = [c for c in coefficients if isinstance(c, int)]
    if isinstance(divisor, int):
        return [s for s in sorted({gcd(c, divisor) for c in numbers}, reverse=True) if s > 1]
    whole = [c for c in dict.fromkeys(coefficients) if low(c) > 1 and known_equal(divided(divisor, c)[1], 0)]
    return sorted(whole, key=lambda c: -low(c))


def _sum(constant: Dim, terms: dict[Atom, Dim]) -> Index:
    kept = [(a, c) for a, c in terms.items() if not known_equal(c, 0)]
    for atom, c in kept:
        if isinstance(atom, Remainder):  # x // d * (d * c) + x % d * c is x * c
            quotient = _interned.get(("quotient", atom.index, atom.divisor))
            if quotient in terms and known_equal(terms[quotient], c * atom.divisor):
                rest = {a: k for a, k in kept if a is not atom and a is not quotient}
                return _sum(constant, rest) + atom.index * c
    kept.sort(key=lambda t: t[0].uid)
    return Index(constant, tuple(kept))


def _replaced(atom: Atom, new: dict[Atom, Index]) -> Index:
    if atom in new:
        return new[atom]
    if isinstance(atom, Quotient):
        return atom.index.substitute(new) // atom.divisor
    if isinstance(atom, Remainder):
        return atom.index.substitute(new) % atom.divisor
    if isinstance(atom, Datum):
        return datum(atom.value.substitute(new), atom.low, atom.high)
    return Index(0, ((atom, 1),))


def index(of: Variable | Dim) -> Index:
    """A loop variable or a number as an index."""
    return Index(0, ((of, 1),)) if isinstance(of, Variable) else Index(of)


def divided_atom(kind: type[Quotient] | type[Remainder], of: Index, divisor: Dim) -> Atom:
    """The quotient or the remainder of an index of which nothing is known that would simplify it."""
    key = ("quotient" if kind is Quotient else "remainder", of, divisor)
    return _interned.keep(key, kind(of, divisor))


def atoms_summed(terms: Iterable[tuple[Atom | None, Dim]]) -> Index:
    """The sum of atoms with their coefficients, and of constants, which have no atom; simplified no further."""
    constant: Dim = 0
    found: list[tuple[Atom, Dim]] = []
    for atom, c in terms:
        if atom is None:
            constant += c
        else:
            found.append((atom, c))
    return Index(constant, tuple(sorted(found, key=lambda t: t[0].uid)))


def datum(value: Expr, low: Dim, high: Dim) -> Index:
    """An integer from the data as an index. Whoever writes this promises the bounds."""
    atom = _interned.keep(("datum", value, low, high), Datum(value, low, high))
    return Index(0, ((atom, 1),))
