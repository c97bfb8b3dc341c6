"""The text of a guard: its lines, and the names and identities that occur in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

from mycelia.capture.holding import Weak, held, lasts
from mycelia.runtime.seen import identities

TOGETHER = 64  # conditions in one line
LONG = 8  # things that are compared or handed on at once


class GuardText:
    """Lines of a function, conditions under which it ends, and constants that it knows by name.

    It keeps nothing alive that does not last (`holding`): an object is known by its identity, which is worth something
    as long as no object that the guard knows has died. That is asked at the end: then all that was compared was there.
    """

    def __init__(self, known: dict[str, Any]) -> None:
        self.known = known
        self.names: dict[int, str] = {}
        self.lines: list[str] = []
        self.conditions: list[str] = []  # not written yet
        self.then = ""  # what is returned where one of them holds
        self.temporaries = 0
        self.together: dict[str, tuple[str, int]] = {}  # names in long tuples: which one, and where
        self.watched: dict[int, Any] = {}
        self.known |= {"watched": self.watched, "dead": False}  # as long as the guard
        self.ended = partial(_ended, self.known)

    def name(self, value: Any) -> str:
        """A name for a constant, which keeps it alive."""
        if id(value) not in self.names:
            self.names[id(value)] = name = f"k{len(self.names)}"
            self.known[name] = value
        return self.names[id(value)]

    def identity(self, thing: Any) -> int:
        """The identity of an object; when it dies, the guard does."""
        if id(thing) not in self.watched:
            self.watched[id(thing)] = thing if lasts(thing) else Weak(thing, self.ended)
        return id(thing)

    def identities(self, things: Sequence[Any]) -> str | None:
        """A name for the identities of several; None if one of them can die without our knowing."""
        if any(held(thing) is None and thing is not None for thing in things):
            return None
        for thing in things:
            self.identity(thing)
        return self.name(identities(tuple(things)))

    def is_not(self, source: str, thing: Any) -> str:
        """The condition that something else than this thing is there."""
        if lasts(thing) or held(thing) is None:  # what is pinned, and cannot be known weakly
            return f"{source} is not {self.name(thing)}"
        return f"id({source}) != {self.identity(thing)}"

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def write(self, line: str) -> None:
        self.flush()
        self.lines.append(f"    {line}")

    def unless(self, condition: str, then: str = "None") -> None:
        """What follows holds if the condition does not. Conditions one after another are one, which compiles sooner."""
        if then != self.then or len(self.conditions) >= TOGETHER:
            self.flush()
        self.conditions.append(condition)
        self.then = then

    def unless_other(self, condition: str) -> None:
        """Where the condition holds, there are other objects than those that were met."""
        self.unless(condition, "otherwise(o0)")

    def flush(self) -> None:
        if self.conditions:
            self.lines.append(f"    if {' or '.join(self.conditions)}: return {self.then}")
            self.conditions = []

    def tuple_of(self, parts: dict[str, str]) -> str:
        """A name for a tuple of expressions, each of which stands for a name that others use."""
        t = self.temporary()
        self.write(f"{t} = ({', '.join(parts.values())},)")
        for i, name in enumerate(parts):
            self.together[name] = t, i
        return t

    def listed(self, names: Sequence[str]) -> str:
        """Names with commas; those that stand in a tuple one after the other are taken out of it together."""
        found: list[str] = []
        runs = groupby(enumerate(names), lambda p: (t[0], t[1] - p[0]) if (t := self.together.get(p[1])) else None)
        for place, run in runs:
            some = [name for _, name in run]
            if place is not None and len(some) >= LONG:
                first = self.together[some[0]][1]
                found.append(f"*{place[0]}[{first}:{first + len(some)}]")
            else:
                found += [self.alone(name) for name in some]
        return ", ".join(found)

    def alone(self, name: str) -> str:
        """A name that may only stand in a tuple."""
        if name[0] != "i" or name not in self.together:
            return name
        t, i = self.together[name]
        return f"{t}[{i}]"


def _ended(known: dict[str, Any], _: object) -> None:
    """An object that a guard knows by its identity is no more."""
    known["dead"] = True
