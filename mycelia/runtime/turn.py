"""Whose turn it is to run a program: one thread at a time, in the order in which they came; readers go ahead."""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from contextlib import suppress
from threading import Lock

from mycelia.threads.hurry import hurry

PATIENCE = 0.1  # seconds that a step gives those whom it lets pass: among twenty threads Python comes to each by then


class Turn:
    """A lock that a thread may take again while it has it, and that goes to whoever has waited longest.

    A thread that trains asks for its next turn at once. An ordinary lock would give it to that thread again and again,
    because the others have yet to wake up. Here those who wait stand in a line, and whoever ends its turn hands it to
    the first of them: it is never free meanwhile. A program that changes nothing (`with turn.reading`) goes ahead of
    those that do, so that it waits for the step that runs now, and not for all steps that threads wait to begin: it
    stands in a line of its own. Between two steps all pass who stand there then, once.

    The handler of a signal may raise wherever Python calls something. So the turn is taken, and handed on, in one
    instant; who is handed it leaves the line by itself; and `settle` gives away what was left over.

    >>> turn = Turn()
    >>> with turn, turn:
    ...     turn.mine()
    True
    >>> turn.mine()
    False
    """

    def __init__(self) -> None:
        # at 0 the thread whose turn it is; its place, while it does not know yet. A dictionary looks and sets at once
        self._owner: dict[int, int | _Place] = {}
        self._depth = 0  # how often the owner has taken it
        self._waiting: deque[_Place] = deque()
        self._ahead: deque[_Place] = deque()  # those who only read
        self._passing = 0  # how many of them are yet to pass
        self._passed = False  # whether some were let pass since the last step
        self.reading = Reading(self)

    def mine(self) -> bool:
        """Whether it is this thread's turn."""
        owner = self._owner.get(0)
        return owner == get_ident() or (owner.__class__ is _Place and owner.is_of_this_thread())

    def of(self, changes: bool) -> Turn | Reading:
        """The turn of a program that changes something, or does not."""
        return self if changes else self.reading

    def __enter__(self) -> None:
        if self.taken():
            self._passed = False
        else:
            self._wait(self._waiting)

    def __exit__(self, *_: object) -> None:
        self.leave()

    def taken(self) -> bool:
        """Take it if it is free, or this thread's; whether it was."""
        me = get_ident()
        try:
            if self.mine() if self._waiting or self._ahead else self._owner.setdefault(0, me) == me:
                self._depth += 1
                return True
        except BaseException:  # of the handler of a signal, perhaps right behind the turn
            if self._owner.get(0) == me and not self._depth:
                self._give()
            raise
        return False

    def leave(self) -> None:
        """End it, and give it to the next. It may be somebody else's by now: see `let_readers_pass`."""
        if self.mine():
            if self._depth > 1:
                self._depth -= 1
            elif self._waiting or self._ahead:
                self._give()
            else:  # the same, for nobody: the usual case
                self._depth = 0
                del self._owner[0]
                if self._waiting or self._ahead:
                    self._offer()

    def let_readers_pass(self) -> None:
        """At the end of a step: those who waited for it go on, and the step is over when they do. So nobody waits for
        longer than a step takes, whenever Python lets a thread run that could. It is not this thread's turn any more.
        """
        if self._ahead and self._depth == 1 and self.mine():
            with suppress(IndexError):  # the last has just gone away
                last = self._ahead[-1]
                self._give()
                last.goes_on.acquire(timeout=PATIENCE)

    def settle(self) -> None:
        """Where this thread runs no program: give away a turn that a signal has kept it from giving away."""
        owner = self._owner.get(0)
        if owner == get_ident():
            self._give()
        elif owner.__class__ is _Place and owner.thread == get_ident():
            self._give_on(owner)
        elif owner is None and (self._waiting or self._ahead):
            self._offer()

    def _wait(self, line: deque[_Place]) -> None:
        me = get_ident()
        for place in (*self._waiting, *self._ahead):
            if place.is_of_this_thread():  # this is the handler of a signal, and the thread stands here already
                with place.turn:
                    self._depth += 1
                return
        place = _Place(me)
        try:
            line.append(place)
            self._offer()  # whoever had it may have gone before this thread stood here
            place.turn.acquire()
        except BaseException:
            self._give_on(place)
            raise
        else:
            self._owner[0] = me
        finally:
            self._remove(place)
            place.goes_on.release()

    def _give_on(self, place: _Place) -> None:
        """Stand there no longer; if it was handed the turn meanwhile, the next gets it."""
        place.left = True
        self._remove(place)
        if self._owner.get(0) is place and place.claimed():
            self._give()

    def _remove(self, place: _Place) -> None:
        for line in (self._waiting, self._ahead):
            with suppress(ValueError):
                line.remove(place)

    def _offer(self) -> None:
        """If it is free, let the first in line have it."""
        me = get_ident()
        if self._owner.setdefault(0, me) == me:
            self._give()

    def _give(self) -> None:
        """Give it to the next; this thread has it."""
        while True:
            place = self._next()
            if place is None:
                self._depth = 0
                del self._owner[0]
                # somebody may stand there since: who came before it was free does not look again
                if not (self._waiting or self._ahead) or self._owner.setdefault(0, me := get_ident()) != me:
                    return
            elif place.left:
                self._remove(place)
            else:
                self._depth = 1
                self._owner[0] = place
                place.turn.release()
                if not place.left or not place.claimed():
                    return
                self._remove(place)  # it went away, and has not seen that it was its turn

    def _next(self) -> _Place | None:
        """Who is next. It stays in the line until it knows."""
        ahead, waiting = self._ahead, self._waiting
        while True:
            with suppress(IndexError):  # it has just gone away
                if ahead and (self._passing or not waiting or not self._passed):
                    if not self._passing and waiting:
                        self._passed, self._passing = True, len(ahead)
                    self._passing = max(self._passing - 1, 0)
                    return ahead[0]
                if waiting:
                    self._passed, self._passing = False, 0
                    return waiting[0]
                return None


class Reading:
    """The turn, for a program that changes nothing."""

    __slots__ = ("turn",)

    def __init__(self, turn: Turn) -> None:
        self.turn = turn

    def __enter__(self) -> None:
        if not self.turn.taken():
            with hurry:
                self.turn._wait(self.turn._ahead)

    def __exit__(self, *_: object) -> None:
        self.turn.leave()


class _Place:
    """A thread in a line."""

    def __init__(self, thread: int) -> None:
        self.thread, self.left = thread, False
        self.turn, self.goes_on = Lock(), Lock()  # let go when it is its turn, and when it knows
        self.turn.acquire()
        self.goes_on.acquire()
        self._claim: dict[int, int] = {}

    def is_of_this_thread(self) -> bool:
        """Whether this thread stands here."""
        return self.thread == get_ident() and not self.left

    def claimed(self) -> bool:
        """Whether the turn of a thread that went away is for this thread to give on: one of two may."""
        return self._claim.setdefault(0, me := get_ident()) == me
