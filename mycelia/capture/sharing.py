"""Tensors of a program that share memory: a write through one is written to all, as eager mode does (`eager.views`).

Which operations give views, and how a part is put back, is asked of the operations themselves: they run on stand-ins,
and tell them. Where a program forgets which tensor is meant (one of two, or that of an earlier turn), a write to what
may share memory with it is left to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mycelia.eager.views import How, Put, kin_of


@dataclass(frozen=True)
class Link:
    """A tensor, what it is a part of, how it is taken, and how it is put back."""

    view: Any
    base: Any
    how: How
    put: Put | None
    fixed: bool  # whether it can be taken outside of the program


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
        kin, put, inner, fixed = kin_of(out), None, out, True
        while kin is not None and kin.base is not None:
            assert kin.how is not None, "a view knows how it was taken"
            hows.insert(0, kin.how)
            put, inner, fixed = kin.put, kin.base, fixed and kin.fixed
            if id(inner) in stand_ins:
                base = stand_ins[id(inner)]
                if id(inner) in ambiguous:
                    self.either[id(made)] = ambiguous[id(inner)]
                    for x in (made, *ambiguous[id(inner)]):
                        self.unclear[id(x)] = x
                self.link(Link(made, base, composed(hows), put if len(hows) == 1 else None, fixed))
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
        fixed = True
        for link in self.upwards(x):
            hows.insert(0, link.how)
            fixed = fixed and link.fixed
            if stops(link.base):
                return Link(x, link.base, composed(hows), link.put if len(hows) == 1 else None, fixed)
        return None

    def downwards(self, x: Any) -> Iterator[Link]:
        """All parts of a tensor, each after what it is a part of."""
        for view in self.views.get(id(x), ()):
            yield self.links[id(view)]
            yield from self.downwards(view)


def composed(hows: list[How]) -> How:
    """One part of another, as a part of the whole."""
    if len(hows) == 1:
        return hows[0]

    def how(x: Any) -> Any:
        for one in hows:
            x = one(x)
        return x

    return how
