"""Sizes that are known only when a program runs: symbolic dimensions, as sums of products of named sizes.

A dimension of a shape is a number, or a `Sym`: `2*n*t + 1`. Sums, products, quotients and remainders of sizes are sizes
again. A comparison is answered where the bounds of the names decide it. Where they do not, the names' `Scope` is asked:
it knows one set of actual sizes (its hints), answers by them, and writes the answer down as a guard. A program that was
written while asking is right for all sizes that keep its guards. Every other use (`range(n)`, `hash`, `float(n)`,
printing in the user's code) raises `NeedsSize`: whoever catches it takes the size as a constant.

>>> scope = Scope()
>>> n = scope.name("n", hint=8)
>>> n * 4 // n, (n * 6) % 3, n + 1 > n
(4, 0, True)
>>> n > 5, [str(g) for g in scope.guards]
(True, ['-5 + n > 0'])
>>> [scope.holds(dict.fromkeys(n.names(), size)) for size in (100, 5)]
[True, False]

A choice that is right either way, and only faster one way, takes `hint(n)`: that is no guard. `known_less` and
`known_equal` never ask: they say no when they do not know.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property, lru_cache
from itertools import count
from math import gcd, inf, prod
from operator import is_
from typing import TYPE_CHECKING, Any, TypeAlias, cast

SMALLEST = 2  # what a name stands for at least: programs for 0 and 1 are written for them
OURS = __name__.partition(".")[0]


class NeedsSize(BaseException):
    """A size must be known as a number here. Not an Exception: the user's `except` must not see it."""

    def __init__(self, size: Sym) -> None:
        super().__init__(f"the size {size._text()} must be a number here")
        self.names = size.names()


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


@dataclass(frozen=True, eq=False)
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
        smallest, largest = max(under[0], 1), under[1]  # what was divided by is positive
        return _floor(over[0], largest if over[0] >= 0 else smallest), _floor(
            over[1], smallest if over[1] >= 0 else largest
        )

    @property
    def scope(self) -> Scope:
        return cast("Sym", self.under if isinstance(self.over, int) else self.over).scope

    def at(self, sizes: Mapping[Name, int]) -> int:
        return value(self.over, sizes) // value(self.under, sizes)

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
        for m, c in _terms(other):
            total[m] = total.get(m, 0) + c
        return _sum(total)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return _sum({m: -c for m, c in self.terms})

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
            for n, d in _terms(other):
                key = tuple(sorted((*m, *n), key=repr))
                total[key] = total.get(key, 0) + c * d
        return _sum(total)

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Any:
        return divided(self, _divisor(other))[0] if _is_size(other) else NotImplemented

    def __rfloordiv__(self, other: Size) -> Any:
        return divided(other, _divisor(self))[0] if _is_size(other) else NotImplemented

    def __mod__(self, other: Size) -> Any:
        return divided(self, _divisor(other))[1] if _is_size(other) else NotImplemented

    def __rmod__(self, other: Size) -> Any:
        return divided(other, _divisor(self))[1] if _is_size(other) else NotImplemented

    def __divmod__(self, other: Size) -> tuple[Any, Any]:
        return divided(self, _divisor(other))

    def __rdivmod__(self, other: Size) -> tuple[Any, Any]:
        return divided(other, _divisor(self))

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


@dataclass(frozen=True)
class Guard:
    """A comparison of a size with zero, and its answer: a program that relied on it is right only where it is so."""

    size: Sym
    relation: str  # "=" or ">"
    answer: bool

    def holds(self, sizes: Mapping[Name, int]) -> bool:
        """Whether the answer is the same at these sizes."""
        n = self.size.at(sizes)
        return (n == 0 if self.relation == "=" else n > 0) == self.answer

    def __str__(self) -> str:
        signs = {("=", True): "=", ("=", False): "!=", (">", True): ">", (">", False): "<="}
        return f"{self.size._text()} {signs[self.relation, self.answer]} 0"


@dataclass(eq=False)
class Scope:
    """The names of one program, the sizes that it is written at, and what it relies on."""

    names: dict[str, Name] = field(default_factory=dict)
    hints: dict[Name, int] = field(default_factory=dict)
    guards: dict[Guard, None] = field(default_factory=dict)
    equal: set[Size] = field(default_factory=set)  # differences that are relied on to be zero
    facts: dict[Monomials, int] = field(default_factory=dict)  # sums without their constant, and what they are at least

    def name(self, text: str, hint: int | None = None, low: int = SMALLEST, high: float = inf) -> Sym:
        """A new size, or the one that has this name already."""
        if text not in self.names:
            self.names[text] = Name(text, low, high, self)
        if hint is not None:
            self.hints[self.names[text]] = hint
        return Sym((((self.names[text],), 1),))

    def asked(self, size: Sym, relation: str) -> bool:
        """The answer at the hints, which is a guard from now on."""
        if any(n not in self.hints for n in size.names()):
            raise NeedsSize(size)
        n = size.at(self.hints)
        answer = n == 0 if relation == "=" else n > 0
        self.guards.setdefault(Guard(size, relation, answer))
        if relation == "=" and answer:
            self.equal |= {size, -size}
        elif relation == ">":  # size >= 1, or -size >= 0
            sum_, constant = _without_constant(size if answer else -size)
            self.facts[sum_] = max(int(answer) - constant, self.facts.get(sum_, int(answer) - constant))
        return answer

    def least(self, size: Sym) -> float:
        """What a size is at least, by the bounds of its names or by what is relied on."""
        bound = size.low
        if self.facts:
            sum_, constant = _without_constant(size)
            if sum_ in self.facts:
                bound = max(bound, self.facts[sum_] + constant)
        return bound

    def holds(self, sizes: Mapping[Name, int]) -> bool:
        """Whether a program that was written in this scope, and depends on these sizes only, is right at them."""
        if not all(n.low <= v <= n.high for n, v in sizes.items()):
            return False
        return all(g.holds(sizes) for g in self.guards if g.size.names() <= sizes.keys())


def hint(n: Size) -> int:
    """A number to choose by, where either choice is right: the size that the program is written at."""
    return n if isinstance(n, int) else n.at(Hints())


class Known(dict[Name, int]):
    """The sizes that are known so far; a name that is not known stands for itself."""

    def __missing__(self, name: Name) -> Any:
        return name.alone()


class Hints(Mapping[Name, int]):
    """The sizes that all programs are written at, whatever their scope."""

    def __getitem__(self, name: Name) -> int:
        return name.scope.hints[name] if name.most is None else hint(name.most)

    def __iter__(self) -> Iterator[Name]:
        return iter(())

    def __len__(self) -> int:
        return 0


def value(n: Size, sizes: Mapping[Name, int]) -> int:
    """The number that a dimension is at these sizes."""
    return n if isinstance(n, int) else n.at(sizes)


def born(most: Size) -> Sym:
    """A new size that comes out of data, between 0 and `most`.

    >>> k = born(5)
    >>> text(k)[0], k.high == hint(k) == 5
    ('k', True)
    """
    scope = Scope()
    name = scope.names["k"] = Name(f"k{next(_born)}", 0, high(most), scope, most)
    return Sym((((name,), 1),))


_born = count()


def comes_from_data(n: Size) -> bool:
    """Whether a size is known only while the program runs."""
    return any(name.most is not None for name in names(n))


def known_less(a: Size, b: Size) -> bool:
    """Whether a < b at all sizes for which the program is right."""
    return least(b - a) > 0


def least(n: Size) -> float:
    """What a dimension is at least, where the program is right."""
    return n if isinstance(n, int) else n.scope.least(n)


def positive(n: Size) -> Any:
    """The larger of a size and zero."""
    return n if least(n) >= 0 or n > 0 else 0


def known_equal(a: Size, b: Size) -> bool:
    """Whether a = b at all sizes for which the program is right: by their terms, or because it relies on it."""
    if type(a) is not Sym and type(b) is not Sym:
        return a == b
    if type(a) is type(b) and a.terms == b.terms:  # type: ignore[union-attr]  # both are sums
        return True
    scope = a.scope if type(a) is Sym else b.scope  # type: ignore[union-attr]
    return bool(scope.equal) and (a - b) in scope.equal


def same(a: Sequence[Size], b: Sequence[Size]) -> bool:
    """Whether two shapes, or two lists of strides, are equal at all sizes."""
    return len(a) == len(b) and all(map(known_equal, a, b))


def names(n: Size) -> frozenset[Name]:
    """The names that a dimension depends on."""
    return frozenset() if isinstance(n, int) else n.names()


def low(n: Size) -> float:
    """What a dimension is at least."""
    return n if isinstance(n, int) else n.low


def high(n: Size) -> float:
    """What a dimension is at most."""
    return n if isinstance(n, int) else n.high


def evaluated(thing: Any, sizes: Mapping[Name, int]) -> Any:
    """A description (a dataclass, a tuple) with all sizes in it as numbers."""
    if type(thing) is Sym:
        return thing.at(sizes)
    if isinstance(thing, tuple):
        parts = [part if type(part) is int else evaluated(part, sizes) for part in thing]
        return thing if all(map(is_, parts, thing)) else tuple(parts)
    kind: Any = type(thing)
    if names := _parts(kind):
        old = [getattr(thing, name) for name in names]
        new = [evaluated(part, sizes) for part in old]
        return thing if all(map(is_, new, old)) else kind(**dict(zip(names, new, strict=True)))
    return thing


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """What a description of this type is made from."""
    return tuple(f.name for f in fields(kind) if f.init) if is_dataclass(kind) else ()


def evaluator(sizes: Sequence[Size], given: Sequence[Name]) -> Callable[..., tuple[int, ...]]:
    """A function of the numbers that the names stand for, to the numbers that the sizes are.

    >>> scope = Scope()
    >>> n, t = scope.name("n"), scope.name("t")
    >>> evaluator([n * t + 1, (n + 1) // 2, 5], [*n.names(), *t.names()])(3, 10)
    (31, 2, 5)
    """
    words = {name: f"n{i}" for i, name in enumerate(given)}

    def source(n: Size) -> str:
        if isinstance(n, int):
            return f"({n})"
        return "(" + "+".join("*".join([str(c), *map(factor, m)]) for m, c in n.terms) + ")"

    def factor(a: Atom) -> str:
        return words[a] if isinstance(a, Name) else f"({source(a.over)}//{source(a.under)})"

    parts = "".join(f"{source(n)}," for n in sizes)
    return cast("Callable[..., tuple[int, ...]]", eval(f"lambda {','.join(words.values())}: ({parts})"))


def solver(shapes: Sequence[Sequence[Size]], wanted: Sequence[Name]) -> Callable[..., tuple[int, ...]]:
    """A function of the actual shapes of some tensors, to the numbers that the names in their types stand for.

    >>> scope = Scope()
    >>> n, t = scope.name("n"), scope.name("t")
    >>> solver([(n * 2, 3), (n, t)], [*n.names(), *t.names()])((8, 3), (4, 7))
    (4, 7)
    """
    found: dict[Name, str] = {}
    for i, shape in enumerate(shapes):
        for axis, n in enumerate(shape):
            if isinstance(n, Sym) and len(n.names()) == 1 and len(n.terms) - (() in dict(n.terms)) == 1:
                (m, c), constant = n.terms[-1], dict(n.terms).get((), 0)
                if len(m) == 1 and isinstance(m[0], Name):
                    plain = c == 1 and constant == 0
                    where = f"s{i}[{axis}]"
                    found[m[0]] = where if plain else found.get(m[0], f"({where}-({constant}))//{c}")
    for name in wanted:
        if name not in found:
            raise NeedsSize(Sym((((name,), 1),)))
    parts = "".join(f"{found[name]}," for name in wanted)
    given = ",".join(f"s{i}" for i in range(len(shapes)))
    return cast("Callable[..., tuple[int, ...]]", eval(f"lambda {given}: ({parts})"))


def is_static(shape: Iterable[Size]) -> bool:
    """Whether all dimensions are numbers."""
    return all(type(n) is not Sym for n in shape)


def text(n: Size) -> str:
    """A dimension as it is printed."""
    return str(n) if isinstance(n, int) else n._text()


def divided(over: Size, under: Size) -> tuple[Any, Any]:
    """`over // under` and `over % under`, for what is divided by a positive size: exact where the terms divide, an atom
    of its own where they do not.

    >>> n = Scope().name("n")
    >>> divided(n * 6 + 1, n * 2), [text(d) for d in divided(n * 2 + 1, 2)]
    ((3, 1), ['n', '1'])
    """
    if isinstance(over, int) and isinstance(under, int):
        return over // under, over % under
    if isinstance(under, int) and under in (1, -1):
        return over * under, 0
    whole, rest = _parted(over, under)
    if isinstance(rest, int) and rest == 0:
        return whole, 0
    if low(rest) >= 0 and known_less(rest, under):
        return whole, rest
    atom = _quotient(rest, under)
    return whole + atom, rest - atom * under


def _parted(over: Size, under: Size) -> tuple[Any, Any]:
    """`(whole, rest)` with over = whole * under + rest, as much as possible in `whole`."""
    divisor = _terms(under)
    if len(divisor) != 1:
        if isinstance(over, Sym) and isinstance(under, Sym):
            return _long_division(over, under)
        return 0, over
    ((factors, k),) = divisor
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for m, c in _terms(over):
        left = _without(m, factors)
        if left is None:
            rest[m] = rest.get(m, 0) + c
            continue
        whole[left] = whole.get(left, 0) + c // k
        if c % k:
            rest[m] = rest.get(m, 0) + c % k
    return _sum(whole), _sum(rest)


def _long_division(over: Sym, under: Sym) -> tuple[Any, Any]:
    """Division of polynomials where it comes out without a rest; else nothing is divided."""
    lead, k = max(under.terms, key=lambda t: (len(t[0]), repr(t[0])))
    whole: Size = 0
    rest: Size = over
    for _ in range(16):
        if isinstance(rest, int):
            break
        m, c = max(rest.terms, key=lambda t: (len(t[0]), repr(t[0])))
        left = _without(m, lead)
        if left is None or c % k:
            break
        step = _sum({left: c // k})
        whole, rest = whole + step, rest - step * under
    return (whole, rest) if isinstance(rest, int) and rest == 0 else (0, over)


def _without(m: Monomial, factors: Monomial) -> Monomial | None:
    left = list(m)
    for f in factors:
        if f not in left:
            return None
        left.remove(f)
    return tuple(left)


@lru_cache(maxsize=4096)
def _quotient(over: Size, under: Size) -> Sym:
    if isinstance(under, int) and isinstance(over, Sym):  # a common factor of everything only makes the text longer
        common = gcd(under, *[c for _, c in over.terms])
        if common > 1:
            smaller = _sum({m: c // common for m, c in over.terms})
            return Sym((((Quotient(smaller, under // common),), 1),))
    return Sym((((Quotient(over, under),), 1),))


def _divisor(n: Size) -> Size:
    """A size that may be divided by: what Python does with zero and negative ones needs a number."""
    if not isinstance(n, int) and not n > 0:
        raise NeedsSize(n)
    if isinstance(n, int) and n == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return n


def _is_size(x: object) -> bool:
    return type(x) is int or type(x) is Sym or type(x) is bool or (isinstance(x, int) and not isinstance(x, Sym))


def _terms(n: Size) -> tuple[tuple[Monomial, int], ...]:
    return n.terms if type(n) is Sym else (((), int(n)),) if n else ()


def _sum(terms: dict[Monomial, int]) -> Any:
    kept = [(m, c) for m, c in terms.items() if c]
    if all(not m for m, _ in kept):
        return kept[0][1] if kept else 0
    kept.sort(key=lambda t: (len(t[0]), repr(t[0])))
    return Sym(tuple(kept))


def _without_constant(n: Sym) -> tuple[Monomials, int]:
    """The terms that have names, and the constant."""
    rest = tuple(t for t in n.terms if t[0])
    return rest, dict(n.terms).get((), 0)


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


def _asked(difference: Size, relation: str) -> bool:
    """Whether a difference is zero, or more than zero: by its bounds, or by asking the scope."""
    if isinstance(difference, int):
        return difference == 0 if relation == "=" else difference > 0
    scope = difference.scope
    from_below, from_above = scope.least(difference), scope.least(-difference)
    if relation == "=" and (from_below > 0 or from_above > 0):
        return False
    if relation == "=" and difference in scope.equal:
        return True
    if relation == ">" and from_below > 0:
        return True
    if relation == ">" and from_above >= 0:
        return False
    return scope.asked(difference, relation)


def _from_ours() -> bool:
    """Whether our own code asks, and not the user's: that may not see what is no number yet."""
    module = sys._getframe(2).f_globals.get("__name__")
    if module is None:  # Python is shutting down
        return True
    return str(module).partition(".")[0] in (OURS, "weakref")  # of which our tables are made


__all__ = [
    "Dim",
    "Guard",
    "Hints",
    "Known",
    "Name",
    "NeedsSize",
    "Scope",
    "Sym",
    "born",
    "comes_from_data",
    "divided",
    "evaluated",
    "evaluator",
    "high",
    "hint",
    "is_static",
    "known_equal",
    "known_less",
    "least",
    "low",
    "names",
    "positive",
    "same",
    "solver",
    "text",
    "value",
]  # fmt: skip
