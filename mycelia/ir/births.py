"""Sizes that come out of data in the middle of a function: which values must be there before others have a type.

A value with such a size is computed from it, or only mentions it: `ones((k,))` reads nothing. A function that computes
either must hold the value that the size comes out of, as one of its effects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from mycelia.ir.function import Function
from mycelia.ir.op import Op
from mycelia.ir.resize import names_in
from mycelia.ir.value import Value
from mycelia.ir.verify import inner_functions
from mycelia.sizes import Name


def born_in(v: Value) -> Name | None:
    """The size that comes out of the data of a value; None for nearly all."""
    return v.op.born if isinstance(v.op, Op) else None


def births_for(
    roots: Sequence[Value], outside: Callable[[Value], bool], born: Mapping[Name, Value]
) -> dict[Name, Value]:
    """The values out of which sizes come that `roots` are computed with, in the order in which they were made. What is
    `outside` is given, and not looked behind; `born` says where sizes come from that are only mentioned.
    """
    found: dict[Name, Value] = {}
    seen: set[Value] = set()
    mentioned: set[Name] = set()
    waiting = list(roots)
    while waiting:
        while waiting:
            v = waiting.pop()
            if v in seen or outside(v):
                continue
            seen.add(v)
            name = born_in(v)
            if name is not None:
                found[name] = v
            waiting.extend(v.inputs)
            mentioned |= own_names(v)
        waiting = [born[n] for n in mentioned if n in born and n not in found]
        mentioned.clear()
    return dict(sorted(found.items(), key=lambda item: item[1].serial))


def own_names(v: Value) -> frozenset[Name]:
    """The names of sizes in a value, without those that come out of data in functions inside it."""
    names = names_in(v)
    return (
        names and names.difference(*[sizes_born(fn) for fn in inner_functions(v.op)]) if isinstance(v.op, Op) else names
    )


@lru_cache(maxsize=4096)
def sizes_born(fn: Function) -> frozenset[Name]:
    """All sizes that come out of data in a function, and in those inside it."""
    found: set[Name] = set()
    for v in fn.values():
        if isinstance(v.op, Op):
            found.update(*[sizes_born(inner) for inner in inner_functions(v.op)])
            if v.op.born is not None:
                found.add(v.op.born)
    return frozenset(found)
