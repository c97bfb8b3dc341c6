"""The names of a program, the sizes that it is written at, and what it relies on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any

from mycelia.frozen import frozen
from mycelia.sizes.sym import Monomials, Name, NeedsSize, Size, Sym, high, least, names

SMALLEST = 2  # what a name stands for at least: programs for 0 and 1 are written for them


@frozen
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
        self.rely(Guard(size, relation, answer))
        return answer

    def rely(self, guard: Guard) -> None:
        """Take an answer as given: the program is right only where it is so."""
        size, answer = guard.size, guard.answer
        self.guards.setdefault(guard)
        if guard.relation == "=" and answer:
            self.equal |= {size, -size}
        elif guard.relation == ">":  # size >= 1, or -size >= 0
            sum_, constant = _without_constant(size if answer else -size)
            self.facts[sum_] = max(int(answer) - constant, self.facts.get(sum_, int(answer) - constant))

    def decided(self, difference: Sym, relation: str) -> bool:
        """Whether a difference is zero, or more than zero: by its bounds, or by what is relied on, or by asking."""
        from_below, from_above = self.least(difference), self.least(-difference)
        if relation == "=" and (from_below > 0 or from_above > 0):
            return False
        if relation == "=" and self.zero(difference):
            return True
        if relation == ">" and from_below > 0:
            return True
        if relation == ">" and from_above >= 0:
            return False
        return self.asked(difference, relation)

    def zero(self, difference: Size) -> bool:
        """Whether a difference is relied on to be zero; so is one that is neither less nor more.

        >>> scope = Scope()
        >>> n = scope.name("n", hint=5)
        >>> n > 4, scope.zero(n - 5), n <= 5, scope.zero(n - 5), known_equal(n * 2 + 1, 11)
        (True, False, True, True, False)
        """
        if type(difference) is not Sym:
            return difference == 0
        if difference in self.equal:
            return True
        return bool(self.facts) and self.least(difference) >= 0 and self.least(-difference) >= 0

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


def _without_constant(n: Sym) -> tuple[Monomials, int]:
    """The terms that have names, and the constant."""
    rest = tuple(t for t in n.terms if t[0])
    return rest, dict(n.terms).get((), 0)


def hint(n: Size) -> int:
    """A number to choose by, where either choice is right: the size that the program is written at."""
    return n if isinstance(n, int) else n.at(Hints())


class Hints(Mapping[Name, int]):
    """The sizes that all programs are written at, whatever their scope."""

    def __getitem__(self, name: Name) -> int:
        return name.scope.hints[name] if name.most is None else hint(name.most)

    def __iter__(self) -> Iterator[Name]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Known(dict[Name, int]):
    """The sizes that are known so far; a name that is not known stands for itself."""

    def __missing__(self, name: Name) -> Any:
        return name.alone()


def born(most: Size) -> Sym:
    """A new size that comes out of data, between 0 and `most`.

    >>> from mycelia.sizes import text
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
    return bool(scope.equal or scope.facts) and scope.zero(a - b)


def same(a: Sequence[Size], b: Sequence[Size]) -> bool:
    """Whether two shapes, or two lists of strides, are equal at all sizes."""
    return len(a) == len(b) and all(map(known_equal, a, b))
