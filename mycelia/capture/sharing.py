"""Tensors of a program that share memory: a write through one is written to all, as eager mode does (`eager.views`).

Which operations give views, and how a part is put back, is asked of the operations themselves: they run on stand-ins,
and tell them. Where a program forgets which tensor is meant (one of two, or that of an earlier turn), a write to what
may share memory with it is left to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mycelia.eager import Tensor
from mycelia.eager.views import How, Put, kin_of
from mycelia.frozen import frozen
from mycelia.ir import Value
from mycelia.sizes import Name, Sym


@frozen
class Link:
    """A tensor, what it is a part of, how it is taken, and how it is put back."""

    view: Any
    base: Any
    how: How
    put: Put | None

    def at(self, sizes: Mapping[Name, int]) -> tuple[How, Put | None]:
        """How it is taken and put back outside of the program, where sizes are numbers."""
        return with_numbers(self.how, sizes), with_numbers(self.put, sizes)


@dataclass
class Sharing:
    """The views of a program."""

    links: dict[int, Link] = field(default_factory=dict)  # by the identity of the view
    views: dict[int, list[Any]] = field(default_factory=dict)  # by the identity of what they are parts of
    unclear: dict[int, Any] = field(default_factory=dict)  # tensors that may share memory with others: nobody knows
    either: dict[int, list[Any]] = field(default_factory=dict)  # of views of one of several tensors: which ones

    def tell(self, out: Any, made: Any, stand_ins: dict[int, Any], ambiguous: dict[int, list[Any]]) -> None:
        """`made` stands for `out`, which an operation gave: note what it is a view of, if that was given to it."""
        hows: list[How] = []
        kin, put, inner = kin_of(out), None, out
        while kin is not None and kin.base is not None:
            assert kin.how is not None, "a view knows how it was taken"
            hows.insert(0, kin.how)
            put, inner = kin.put, kin.base
            if id(inner) in stand_ins:
                base = stand_ins[id(inner)]
                if id(inner) in ambiguous:
                    self.either[id(made)] = ambiguous[id(inner)]
                    for x in (made, *ambiguous[id(inner)]):
                        self.unclear[id(x)] = x
                self.link(Link(made, base, composed(hows), put if len(hows) == 1 else None))
                return
            kin = kin_of(inner)

    def link(self, link: Link) -> None:
        self.links[id(link.view)] = link
        self.views.setdefault(id(link.base), []).append(link.view)

    def shared(self, x: Any) -> bool:
        """Whether anything may share memory with a tensor."""
        return id(x) in self.links or id(x) in self.views or id(x) in self.unclear

    def root(self, x: Any) -> Any:
        """The tensor that all this is a part of."""
        while id(x) in self.links:
            x = self.links[id(x)].base
        return x

    def upwards(self, x: Any) -> Iterator[Link]:
        """From a tensor to the root."""
        while id(x) in self.links:
            yield self.links[id(x)]
            x = self.links[id(x)].base

    def above(self, x: Any, stops: Callable[[Any], bool]) -> Link | None:
        """How a tensor is a part of the next one above where `stops` holds; None if there is none."""
        hows: list[How] = []
        for link in self.upwards(x):
            hows.insert(0, link.how)
            if stops(link.base):
                return Link(x, link.base, composed(hows), link.put if len(hows) == 1 else None)
        return None

    def downwards(self, x: Any) -> Iterator[Link]:
        """All parts of a tensor, each after what it is a part of."""
        for view in self.views.get(id(x), ()):
            yield self.links[id(view)]
            yield from self.downwards(view)


def composed(hows: list[How]) -> How:
    """One part of another, as a part of the whole."""
    return hows[0] if len(hows) == 1 else partial(_one_after_the_other, tuple(hows))


def _one_after_the_other(hows: tuple[How, ...], x: Tensor) -> Tensor:
    for how in hows:
        x = how(x)
    return x


def known_outside(given: Any, sizes: Collection[Name]) -> bool:
    """Whether what a partial function was given means the same outside of the program, where these sizes are known.

    >>> known_outside(partial(max, (1, slice(2)), {"key": 3}), ())
    True
    """
    if type(given) is Sym:
        return given.names() <= frozenset(sizes)
    if isinstance(given, Tensor):
        return given._data.__class__ is not Value
    if type(given) in (tuple, slice, dict, partial):
        return all(known_outside(x, sizes) for x in _parts(given))
    return not isinstance(given, tuple | list | dict | set)  # those that nobody looks into


def with_numbers(given: Any, sizes: Mapping[Name, int]) -> Any:
    """What a partial function was given, and itself, with numbers in the place of sizes.

    >>> with_numbers(partial(max, (1, slice(2))), {})((0,), key=str)
    (1, slice(None, 2, None))
    """
    if type(given) is Sym:
        return given.at(sizes)
    if type(given) is dict:
        return {k: with_numbers(x, sizes) for k, x in given.items()}
    if type(given) in (tuple, slice, partial):
        parts = [with_numbers(x, sizes) for x in _parts(given)]
        return tuple(parts) if type(given) is tuple else type(given)(*parts)
    return given


def _parts(given: Any) -> Any:
    kind = type(given)
    if kind is partial:
        return given.func, *given.args
    if kind is slice:
        return given.start, given.stop, given.step
    return tuple(given.values()) if kind is dict else given
