"""Sizes as numbers: of a description, of many sizes at once, and back from the shapes of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from operator import is_
from typing import Any, cast

from mycelia.sizes.sym import Atom, Name, NeedsSize, Size, Sym, low


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


def _sized(thing: Any) -> bool:
    """Whether a description has sizes in it that are no numbers."""
    if isinstance(thing, tuple):
        return any(map(_sized, thing))
    kind: Any = type(thing)
    return kind is Sym or any(_sized(getattr(thing, name)) for name in _parts(kind))


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """What a description of this type is made from."""
    return tuple(f.name for f in fields(kind) if f.init) if is_dataclass(kind) else ()


def evaluator(sizes: Sequence[Size], given: Sequence[Name]) -> Callable[..., tuple[int, ...]]:
    """A function of the numbers that the names stand for, to the numbers that the sizes are.

    >>> from mycelia.sizes import Scope
    >>> scope = Scope()
    >>> n, t = scope.name("n"), scope.name("t")
    >>> evaluator([n * t + 1, (n + 1) // 2, 5], [*n.names(), *t.names()])(3, 10)
    (31, 2, 5)
    """
    return describer(sizes, given)


def describer(things: Sequence[Any], given: Sequence[Name]) -> Callable[..., tuple[Any, ...]]:
    """A function of the numbers that the names stand for, to descriptions (as for `evaluated`) at these sizes.

    >>> from mycelia.sizes import Scope
    >>> n = Scope().name("n")
    >>> describer([(n, (2 * n, "rows")), slice(3)], n.names())(5)
    ((5, (10, 'rows')), slice(None, 3, None))
    """
    words = {name: f"n{i}" for i, name in enumerate(given)}
    known: dict[str, Any] = {}  # what is the same at all sizes

    def source(thing: Any) -> str:
        if type(thing) is int:
            return f"({thing})"
        if type(thing) is Sym:
            return "(" + "+".join("*".join([str(c), *map(factor, m)]) for m, c in thing.terms) + ")"
        if not _sized(thing):
            known[name := f"k{len(known)}"] = thing
            return name
        if isinstance(thing, tuple):
            return f"({''.join(source(part) + ',' for part in thing)})"
        kind: Any = type(thing)
        known[name := f"k{len(known)}"] = kind
        return f"{name}({','.join(f'{part}={source(getattr(thing, part))}' for part in _parts(kind))})"

    def factor(a: Atom) -> str:
        if isinstance(a, Name):
            return words[a]
        return f"({source(a.over)}//({source(a.under)}{' or 1' if low(a.under) <= 0 else ''}))"

    parts = "".join(f"{source(n)}," for n in things)
    return cast("Callable[..., tuple[Any, ...]]", eval(f"lambda {','.join(words.values())}: ({parts})", known))


def solver(shapes: Sequence[Sequence[Size]], wanted: Sequence[Name]) -> Callable[..., tuple[int, ...]]:
    """A function of the actual shapes of some tensors, to the numbers that the names in their types stand for.

    >>> from mycelia.sizes import Scope
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
