"""Division of sizes: exact where the terms divide, a quotient of its own where they do not."""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import Any

from mycelia.sizes.sym import Monomial, NeedsSize, Quotient, Size, Sym, known_less, low, summed, terms_of


def divided(over: Size, under: Size) -> tuple[Any, Any]:
    """`over // under` and `over % under`, for what is divided by a positive size: exact where the terms divide, an atom
    of its own where they do not.

    >>> from mycelia.sizes import Scope, text
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
    atom = quotient(rest, under)
    return whole + atom, rest - atom * under


def _parted(over: Size, under: Size) -> tuple[Any, Any]:
    """`(whole, rest)` with over = whole * under + rest, as much as possible in `whole`."""
    divisor = terms_of(under)
    if len(divisor) != 1:
        if isinstance(over, Sym) and isinstance(under, Sym):
            return _long_division(over, under)
        return 0, over
    ((factors, k),) = divisor
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for m, c in terms_of(over):
        left = _without(m, factors)
        if left is None:
            rest[m] = rest.get(m, 0) + c
            continue
        whole[left] = whole.get(left, 0) + c // k
        if c % k:
            rest[m] = rest.get(m, 0) + c % k
    return summed(whole), summed(rest)


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
        step = summed({left: c // k})
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
def quotient(over: Size, under: Size) -> Sym:
    """The quotient of two sizes of which nothing is known that would simplify it: one object for each pair."""
    if isinstance(under, int) and isinstance(over, Sym):  # a common factor of everything only makes the text longer
        common = gcd(under, *[c for _, c in over.terms])
        if common > 1:
            smaller = summed({m: c // common for m, c in over.terms})
            return Sym((((Quotient(smaller, under // common),), 1),))
    return Sym((((Quotient(over, under),), 1),))


def divisor(n: Size) -> Size:
    """A size that may be divided by: what Python does with zero and negative ones needs a number."""
    if not isinstance(n, int) and not n > 0:
        raise NeedsSize(n)
    if isinstance(n, int) and n == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return n
