"""Sums of products of named sizes: their arithmetic, and what is known of them without asking."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from mycelia.frozen import frozen

if TYPE_CHECKING:
    from mycelia.sizes.scope import Scope

OURS = __name__.partition(".")[0]


class NeedsSize(BaseException):
    """A size must be known as a number here. Not an Exception: the user's `except` must not see it."""

    def __init__(self, size: Sym) -> None:
        super().__init__(f"the size {size._text()} must be a number here")
        self.names = size.names()
        self.at: Any = None  # the line that asks, for whoever knows it


class Name:
    """A size that a scope gives a name to. It is no smaller than `low` and no larger than `high`. One that comes out of
    data (how many elements a mask holds) is known only while the program runs: `most` is what it can be.
    """

    __slots__ = ("high", "low", "most", "scope", "text")

    def __init__(self, text: str, low: int, high: float, scope: Scope, most: Size | None = None) -> None:
        self.text, self.low, self.high, self.scope, self.most = text, low, high, scope, most

    def alone(self) -> Sym:
        """The size that is just this name."""
        return Sym((((self,), 1),))

    def at(self, sizes: Mapping[Name, int]) -> int:
        return sizes[self]

    def names(self) -> frozenset[Name]:
        return frozenset([self])

    def __repr__(self) -> str:
        return self.text


@frozen(eq=False)
class Quotient:
    """`over // under`, rounded down, where it does not come out. There is one object for each pair."""

    over: Size
    under: Size

    @property
    def low(self) -> float:
        return self._bounds[0]

    @property
    def high(self) -> float:
        return self._bounds[1]

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        over, under = (low(self.over), high(self.over)), (low(self.under), high(self.under))
        if under[1] < 0:  # a number
            over, under = (-over[1], -over[0]), (-under[1], -under[0])
        smallest, largest = max(under[0], 1), max(under[1], 1)  # what was divided by is positive, or nothing is read
        return _floor(over[0], largest if over[0] >= 0 else smallest), _floor(
            over[1], smallest if over[1] >= 0 else largest
        )

    @property
    def scope(self) -> Scope:
        return cast("Sym", self.under if isinstance(self.over, int) else self.over).scope

    def at(self, sizes: Mapping[Name, int]) -> int:
        return value(self.over, sizes) // (value(self.under, sizes) or 1)  # by nothing: see `codegen/driver.py`

    def names(self) -> frozenset[Name]:
        return names(self.over) | names(self.under)

    def __repr__(self) -> str:
        return f"({text(self.over)})//({text(self.under)})"


def _floor(over: float, under: float) -> float:
    """`over // under` where either may be infinite."""
    if abs(over) == inf:
        return over
    return over // under if under < inf else (0 if over >= 0 else -1)


Atom: TypeAlias = Name | Quotient
Monomial: TypeAlias = tuple[Atom, ...]  # sorted by text; () is the constant
Monomials: TypeAlias = tuple[tuple[Monomial, int], ...]


class Sym:
    """A size that is not a number: at least one of its terms has a name."""

    __slots__ = ("_bounds", "_hash", "scope", "terms")

    terms: tuple[tuple[Monomial, int], ...]
    scope: Scope

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self.scope = next(m[0].scope for m, _ in terms if m)
        self._hash = hash(terms)
        self._bounds: tuple[float, float] | None = None

    # ------------------------------------------------------------------------------------------------ arithmetic

    def __add__(self, other: Size) -> Any:
        if not _is_size(other):
            return NotImplemented
        total = dict(self.terms)
        for m, c in terms_of(other):
            total[m] = total.get(m, 0) + c
        return summed(total)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return summed({m: -c for m, c in self.terms})

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __sub__(self, other: Size) -> Any:
        return self + -other if _is_size(other) else NotImplemented

    def __rsub__(self, other: Size) -> Any:
        return other + -self if _is_size(other) else NotImplemented

    def __mul__(self, other: Size) -> Any:
        if not _is_size(other):
            return NotImplemented
        total: dict[Monomial, int] = {}
        for m, c in self.terms:
            for n, d in terms_of(other):
                key = tuple(sorted((*m, *n), key=repr))
                total[key] = total.get(key, 0) + c * d
        return summed(total)

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Any:
        return _divided(self, other)[0] if _is_size(other) else NotImplemented

    def __rfloordiv__(self, other: Size) -> Any:
        return _divided(other, self)[0] if _is_size(other) else NotImplemented

    def __mod__(self, other: Size) -> Any:
        return _divided(self, other)[1] if _is_size(other) else NotImplemented

    def __rmod__(self, other: Size) -> Any:
        return _divided(other, self)[1] if _is_size(other) else NotImplemented

    def __divmod__(self, other: Size) -> tuple[Any, Any]:
        return _divided(self, other)

    def __rdivmod__(self, other: Size) -> tuple[Any, Any]:
        return _divided(other, self)

    def __pow__(self, power: int) -> Any:
        if type(power) is int and 0 <= power <= 4:
            return prod([self] * power, start=1)
        raise NeedsSize(self)

    # ------------------------------------------------------------------------------------------------ comparison

    def __eq__(self, other: object) -> bool:
        if not _is_size(other):
            return False if other is None or isinstance(other, str) else NotImplemented
        if isinstance(other, Sym) and self.terms == other.terms:
            return True
        return _asked(self - cast("Size", other), "=")

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __lt__(self, other: Size) -> bool:
        return _asked(other - self, ">") if _is_size(other) else NotImplemented

    def __gt__(self, other: Size) -> bool:
        return _asked(self - other, ">") if _is_size(other) else NotImplemented

    def __le__(self, other: Size) -> bool:
        return not self > other if _is_size(other) else NotImplemented

    def __ge__(self, other: Size) -> bool:
        return not self < other if _is_size(other) else NotImplemented

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        if not _from_ours():
            raise NeedsSize(self)  # a set or a dictionary of the user's would not find the number
        return self._hash

    # ------------------------------------------------------------------------------------------------ only numbers

    def _number(self, *_: Any) -> Any:
        raise NeedsSize(self)

    __index__ = __int__ = __float__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _number
    __truediv__ = __rtruediv__ = __rpow__ = _number
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _number
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _number
    bit_length = bit_count = to_bytes = as_integer_ratio = is_integer = conjugate = _number

    @property  # type: ignore[misc]  # to the user's `isinstance` it is what it will be
    def __class__(self) -> type:
        return Sym if _from_ours() else int

    def __repr__(self) -> str:
        if not _from_ours():
            raise NeedsSize(self)
        return self._text()

    def __format__(self, spec: str) -> str:
        if spec or not _from_ours():
            raise NeedsSize(self)
        return self._text()

    __str__ = __repr__

    def __reduce__(self) -> Any:
        raise NeedsSize(self)

    # ------------------------------------------------------------------------------------------------ what is known

    @property
    def low(self) -> float:
        return self._interval()[0]

    @property
    def high(self) -> float:
        return self._interval()[1]

    def _interval(self) -> tuple[float, float]:
        if self._bounds is None:
            self._bounds = _bounds(self.terms)
        return self._bounds

    def names(self) -> frozenset[Name]:
        """The names that it depends on."""
        return frozenset(n for m, _ in self.terms for a in m for n in a.names())

    def at(self, sizes: Mapping[Name, int]) -> int:
        """The number that it is at these sizes."""
        return sum(c * prod(a.at(sizes) for a in m) for m, c in self.terms)

    def _text(self) -> str:
        parts = []
        for m, c in self.terms:
            factors = [*([str(c)] if c != 1 or not m else []), *map(repr, m)]
            parts.append("*".join(factors))
        return " + ".join(parts)


Size: TypeAlias = int | Sym
if TYPE_CHECKING:  # a size can do what an int can, or says that it cannot
    Dim: TypeAlias = int
else:
    Dim = Size


# ---------------------------------------------------------------------------------------------------- sizes and numbers


def value(n: Size, sizes: Mapping[Name, int]) -> int:
    """The number that a dimension is at these sizes."""
    return n if isinstance(n, int) else n.at(sizes)


def names(n: Size) -> frozenset[Name]:
    """The names that a dimension depends on."""
    return frozenset() if isinstance(n, int) else n.names()


def low(n: Size) -> float:
    """What a dimension is at least."""
    return n if isinstance(n, int) else n.low


def high(n: Size) -> float:
    """What a dimension is at most."""
    return n if isinstance(n, int) else n.high


def least(n: Size) -> float:
    """What a dimension is at least, where the program is right."""
    return n if isinstance(n, int) else n.scope.least(n)


def known_less(a: Size, b: Size) -> bool:
    """Whether a < b at all sizes for which the program is right."""
    return least(b - a) > 0


def is_static(shape: Iterable[Size]) -> bool:
    """Whether all dimensions are numbers."""
    return Sym not in map(type, shape)  # as quick as it gets: this is asked of every value


def text(n: Size) -> str:
    """A dimension as it is printed."""
    return str(n) if isinstance(n, int) else n._text()


# ---------------------------------------------------------------------------------------------------- their parts


def _divided(over: Size, under: Size) -> tuple[Any, Any]:
    from mycelia.sizes.division import divided, divisor  # which is written with sums

    return divided(over, divisor(under))


def _asked(difference: Size, relation: str) -> bool:
    """Whether a difference is zero, or more than zero."""
    if isinstance(difference, int):
        return difference == 0 if relation == "=" else difference > 0
    return difference.scope.decided(difference, relation)


def _is_size(x: object) -> bool:
    return type(x) is int or type(x) is Sym or type(x) is bool or (isinstance(x, int) and not isinstance(x, Sym))


def terms_of(n: Size) -> Monomials:
    """The terms of a size or a number."""
    return n.terms if type(n) is Sym else (((), int(n)),) if n else ()


def summed(terms: dict[Monomial, int]) -> Any:
    """The size, or the number, that has these terms."""
    kept = [(m, c) for m, c in terms.items() if c]
    if all(not m for m, _ in kept):
        return kept[0][1] if kept else 0
    kept.sort(key=lambda t: (len(t[0]), repr(t[0])))
    return Sym(tuple(kept))


def _bounds(terms: tuple[tuple[Monomial, int], ...]) -> tuple[float, float]:
    """The least and the largest number that a sum can be: each name is its least number and something more, so that
    products can be compared with their parts (n*t - t is never negative).
    """
    atoms = {a for m, _ in terms for a in m}
    least, most = 0.0, 0.0
    for m, c in terms:
        interval: tuple[float, float] = (c, c)
        for a in m:
            ends = [_times(x, y) for x in interval for y in (a.low, a.high)]
            interval = min(ends), max(ends)
        least += interval[0]
        most += interval[1]
    if all(a.low > -inf and a.low == int(a.low) for a in atoms):
        shifted: dict[Monomial, float] = {}
        for m, c in terms:
            parts: dict[Monomial, float] = {(): c}
            for a in m:
                grown: dict[Monomial, float] = {}
                for n, d in parts.items():
                    key = tuple(sorted((*n, a), key=repr))
                    grown[key] = grown.get(key, 0) + d
                    grown[n] = grown.get(n, 0) + d * a.low
                parts = grown
            for n, d in parts.items():
                shifted[n] = shifted.get(n, 0) + d
        start = shifted.pop((), 0)
        if all(d >= 0 for d in shifted.values()):
            least = max(least, start)
        if all(d <= 0 for d in shifted.values()):
            most = min(most, start)
    return least, most


def _times(a: float, b: float) -> float:
    return a * b if a and b else 0  # of sizes none is infinite, whatever their bounds


def _from_ours() -> bool:
    """Whether our own code asks, and not the user's: that may not see what is no number yet."""
    module = sys._getframe(2).f_globals.get("__name__")
    if module is None:  # Python is shutting down
        return True
    return str(module).partition(".")[0] in (OURS, "weakref")  # of which our tables are made
