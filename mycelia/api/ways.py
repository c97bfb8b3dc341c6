"""The programs that were found so far for one kind of call, and what is known of the things that change there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mycelia.api.programs import Way
from mycelia.capture.capturing import another, changed
from mycelia.capture.guards import guard_of
from mycelia.capture.pieces import NOT_RUN, UNFIT
from mycelia.capture.sizing import Naming, Sizes, spelled
from mycelia.capture.source import SOURCELESS
from mycelia.capture.values import Break
from mycelia.capture.world import Path
from mycelia.degradations import Instead, Subject, concerning, degrade
from mycelia.errors import Location
from mycelia.sizes import NeedsSize

KEPT = 32  # programs of one kind: those that were used last
MANY = 24  # of these, for things that change with each call and are no sizes
REST = 1 << 10  # calls at most that Python runs before another look, once a place was given up
TRIES = 4  # at one program for all sizes, each with more sizes as numbers
Make = Callable[[frozenset[Path], Naming | None], Way]  # captures a program; `Break` tells why there is none


class Refusal:
    """A call that is no program: why, while everything that was read is as it was."""

    def __init__(self, reason: Break) -> None:
        self.why, self.at = reason.why, reason.at
        self.guard: Any = guard_of(reason.world, (), frozenset()) if reason.world is not None else lambda root: None

    def attempt(self, root: Any) -> Any:
        """NOT_RUN for a call that the guard accepts."""
        return UNFIT if self.guard(root) is None else NOT_RUN


GIVEN_UP = Refusal(Break("it reads things that change with each call"))


class Pause:
    """How many calls of what was given up Python runs before it is looked at again: more each time in vain."""

    def __init__(self) -> None:
        self.calls = self.left = 0

    def ends(self) -> bool:
        """Whether a call is to be looked at."""
        self.left -= 1
        return self.left < 0

    def longer(self) -> None:
        """It was in vain."""
        self.left = self.calls = min(2 * self.calls + 1, REST)


class Ways:
    """The ways to run calls of one kind, the one that was used last in front."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.ways: list[Way | Refusal] = []
        self.varying: set[Path] = set()
        self.sizes = Sizes()
        self.others = 0  # programs that were made because of something else than sizes
        self.pause: Pause | None = None  # once it was given up

    def attempt(self, root: Any) -> tuple[Way | Refusal | None, Any]:
        """The way whose guard accepts a call, and what it gives."""
        ways, pause = self.ways, self.pause
        if pause is not None and not pause.ends():
            return GIVEN_UP, NOT_RUN
        for way in ways:
            out = way.attempt(root)
            if out is not UNFIT:
                if pause is not None:
                    pause.calls = 0
                if way is not ways[0]:
                    self.ways = [way, *[w for w in self.ways if w is not way]]
                return way, out
        return None, UNFIT

    def known(self, root: Any) -> Way | Refusal | None:
        """The way whose guard accepts a call, if there is one."""
        return next((way for way in self.ways if way.guard(root) is not None), None)

    def make(self, root: Any, capture: Make, asked: Mapping[int, Sequence[int]]) -> Way | Refusal:
        """A new way for calls like this one."""
        with concerning(self.subject):
            return self.made(root, capture, asked)

    def made(self, root: Any, capture: Make, asked: Mapping[int, Sequence[int]]) -> Way | Refusal:
        if not self.note(root):
            self.pause = self.pause or Pause()
            self.pause.longer()
            return GIVEN_UP
        way: Way | Refusal | None = self.for_all_sizes(capture, asked)
        if not isinstance(way, Way):
            refused = way
            try:
                way = capture(frozenset(self.varying), None)
            except Break as reason:
                way = refused or Refusal(reason)
                degrade(Instead.PYTHON, way.why, way.at, warn=way.why.endswith(SOURCELESS))
            else:
                self.sizes.went_well()
                if refused is not None:
                    self.sizes.refused = refused.why
        if isinstance(way, Way):
            self.sizes.note(way.program.world.shapes)
            if self.sizes.open and not way.program.sizes:
                self.sizes.specialised()
        self.ways = [way, *self.ways][:KEPT]
        return way

    def note(self, root: Any) -> bool:
        """Find out what has changed since the programs before; whether there is sense in another one."""
        before = len(self.sizes.open), len(self.varying)
        resized = False
        for way in self.ways:
            if isinstance(way, Way):
                numbers, places = changed(way.program, root)
                resized |= bool(places)
                if numbers - self.varying:
                    degrade(Instead.AGAIN, f"{', '.join(sorted(map(spelled, numbers)))} changed")
                self.varying |= numbers
                self.sizes.open |= places
        if not resized and before == (len(self.sizes.open), len(self.varying)):
            self.others += 1
            self.tell_what_else(root)
        if self.others <= MANY:
            return True
        degrade(Instead.GIVEN_UP, "Python runs it, because it reads things that change with each call", warn=True)
        return False

    def tell_what_else(self, root: Any) -> None:
        """Write down what made the program that was used last unfit, if it is neither a number nor a size."""
        last = self.ways[0] if self.ways else None
        found = another(last.program, root) if isinstance(last, Way) else None
        if found is not None:
            path, what = found
            degrade(Instead.AGAIN, f"{spelled(path)} {what}")

    def for_all_sizes(self, capture: Make, asked: Mapping[int, Sequence[int]]) -> Way | Refusal | None:
        """A program for shapes like these, if some are known to change; or why there is none, at any size."""
        sizes = self.sizes
        sizes.failure = None
        for _ in range(TRIES if (sizes.open or asked) and not sizes.refused else 0):
            naming = Naming(sizes, asked)
            try:
                way = capture(frozenset(self.varying), naming)
                if naming.names:
                    way.native.prepare()
            except NeedsSize as reason:
                if not sizes.needs(naming, reason, reason.at):
                    raise
                continue
            except Break as reason:
                return Refusal(reason)
            except Exception as error:  # the user's, or ours: it shows at actual sizes, or it does not
                sizes.failure = error
                return None
            return way
        return None

    def reason(self) -> tuple[str, Location | None]:
        """Why the last call was no program."""
        found = [w for w in self.ways if isinstance(w, Refusal)]
        return (found[0].why, found[0].at) if found else (GIVEN_UP.why, None)
