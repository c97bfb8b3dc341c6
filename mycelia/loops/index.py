"""Index expressions: integers that say which element is meant, kept as sums so that views cost nothing.

An index is `constant + sum(coefficient * atom)`. An atom is a loop variable, a quotient or remainder that could not
be simplified, or an integer that comes out of the data. Bounds are known at birth, so `(4*i + j) // 4` is `i` when
0 <= j < 4: reshapes disappear.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import gcd
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from mycelia.loops.expr import Expr

FAR = 1 << 62
_fresh = count()


class Atom:
    """An integer that index expressions are sums of. Each knows the range it stays in, both ends included."""

    __slots__ = ("__weakref__", "high", "low", "uid")

    low: int
    high: int
    uid: int


class Variable(Atom):
    """A loop variable, from 0 to `extent - 1`."""

    __slots__ = ("extent",)

    def __init__(self, extent: int) -> None:
        self.extent, self.low, self.high, self.uid = extent, 0, max(extent - 1, 0), next(_fresh)

    def __repr__(self) -> str:
        return f"i{self.uid}"


class Quotient(Atom):
    """`index // divisor`, where nothing is known that would simplify it."""

    __slots__ = ("divisor", "index")

    def __init__(self, index: Index, divisor: int) -> None:
        self.index, self.divisor, self.uid = index, divisor, next(_fresh)
        self.low, self.high = index.low // divisor, index.high // divisor

    def __repr__(self) -> str:
        return f"({self.index} // {self.divisor})"


class Remainder(Atom):
    """`index % divisor`, where nothing is known that would simplify it."""

    __slots__ = ("divisor", "index")

    def __init__(self, index: Index, divisor: int) -> None:
        self.index, self.divisor, self.uid = index, divisor, next(_fresh)
        self.low, self.high = 0, divisor - 1

    def __repr__(self) -> str:
        return f"({self.index} % {self.divisor})"


class Datum(Atom):
    """An integer read from the data, promised to stay within bounds."""

    __slots__ = ("value",)

    def __init__(self, value: Expr, low: int, high: int) -> None:
        self.value, self.low, self.high, self.uid = value, low, high, next(_fresh)

    def __repr__(self) -> str:
        return f"[{self.value}]"


_interned: WeakValueDictionary[tuple[object, ...], Atom] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Index:
    """A sum of atoms with integer coefficients, in a fixed order: equal sums are equal objects.

    >>> i, j = Variable(8), Variable(4)
    >>> at = index(i) * 4 + index(j)
    >>> at // 4 == index(i), at % 4 == index(j)
    (True, True)
    """

    constant: int
    terms: tuple[tuple[Atom, int], ...] = ()

    @property
    def low(self) -> int:
        return self.constant + sum(c * (a.low if c > 0 else a.high) for a, c in self.terms)

    @property
    def high(self) -> int:
        return self.constant + sum(c * (a.high if c > 0 else a.low) for a, c in self.terms)

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.constant + other, self.terms)
        if not other.terms:
            return Index(self.constant + other.constant, self.terms)
        total = dict(self.terms)
        for atom, c in other.terms:
            total[atom] = total.get(atom, 0) + c
        return _sum(self.constant + other.constant, total)

    def __sub__(self, other: Index | int) -> Index:
        return self + other * -1 if isinstance(other, Index) else Index(self.constant - other, self.terms)

    def __mul__(self, factor: int) -> Index:
        if factor == 0:
            return Index(0)
        return Index(self.constant * factor, tuple((a, c * factor) for a, c in self.terms))

    def __floordiv__(self, divisor: int) -> Index:
        if divisor == 1:
            return self
        whole, rest = self._split(divisor)
        if rest.low >= 0 and rest.high < divisor:
            return whole
        step, coarse = rest._coarse(divisor)
        if step > 1:
            return whole + coarse // (divisor // step)
        key = ("quotient", rest, divisor)
        atom = _interned.setdefault(key, Quotient(rest, divisor))
        return whole + Index(0, ((atom, 1),))

    def __mod__(self, divisor: int) -> Index:
        if divisor == 1:
            return Index(0)
        _, rest = self._split(divisor)
        if rest.low >= 0 and rest.high < divisor:
            return rest
        step, coarse = rest._coarse(divisor)
        if step > 1:
            return coarse % (divisor // step) * step + (rest - coarse * step)
        key = ("remainder", rest, divisor)
        return Index(0, ((_interned.setdefault(key, Remainder(rest, divisor)), 1),))

    def _split(self, divisor: int) -> tuple[Index, Index]:
        """`(whole, rest)` with self = whole * divisor + rest, and as much as possible in `whole`."""
        whole = _sum(self.constant // divisor, {a: c // divisor for a, c in self.terms})
        rest = _sum(self.constant % divisor, {a: c % divisor for a, c in self.terms})
        return whole, rest

    def _coarse(self, divisor: int) -> tuple[int, Index]:
        """`(step, coarse)` where self is `coarse * step` and something too small to carry into it; step divides
        `divisor`. A step of 1 means that there is none.
        """
        for step in sorted({gcd(c, divisor) for _, c in self.terms}, reverse=True):
            large = {a: c // step for a, c in self.terms if c % step == 0}
            coarse = _sum(self.constant // step, large)
            fine = self - coarse * step
            if step > 1 and fine.low >= 0 and fine.high < step:
                return step, coarse
        return 1, self

    def coefficient(self, atom: Atom) -> int:
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
        parts = [f"{c}*{a}" if c != 1 else f"{a}" for a, c in self.terms]
        return " + ".join([*parts, str(self.constant)] if self.constant or not parts else parts)


def _sum(constant: int, terms: dict[Atom, int]) -> Index:
    kept = [(a, c) for a, c in terms.items() if c]
    for atom, c in kept:
        if isinstance(atom, Remainder):  # x // d * (d * c) + x % d * c is x * c
            quotient = _interned.get(("quotient", atom.index, atom.divisor))
            if quotient is not None and terms.get(quotient) == c * atom.divisor:
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


def index(of: Variable | int) -> Index:
    """A loop variable or a number as an index."""
    return Index(of) if isinstance(of, int) else Index(0, ((of, 1),))


def datum(value: Expr, low: int, high: int) -> Index:
    """An integer from the data as an index. Whoever writes this promises the bounds."""
    atom = _interned.setdefault(("datum", value, low, high), Datum(value, low, high))
    return Index(0, ((atom, 1),))
