"""Whose turn it is to run a program: one thread at a time, in the order in which they came; readers go ahead."""

from __future__ import annotations

from _thread import RLock
from collections import deque
from contextlib import suppress
from threading import Lock

from mycelia.threads.hurry import hurry


class Turn(RLock):  # type: ignore[misc]  # Python lets one inherit from it; all that is not said here is done in C
    """A lock that a thread may take again while it has it, and that goes to whoever has waited longest.

    A thread that trains asks for its next turn at once. An ordinary lock would give it to that thread again and again,
    because the others have yet to wake up. Here those who wait stand in a line, whoever comes joins it at its end, and
    only the first of the line asks for the lock. A program that changes nothing (`with turn.reading`) goes ahead of
    those that do, so that it waits for the step that runs now, and not for all steps that threads wait to begin: it
    stands in a line of its own, and the first of the other line, when it has got the lock, lets all pass who stand
    there, once.

    >>> turn = Turn()
    >>> with turn, turn:
    ...     turn.mine()
    True
    >>> turn.mine()
    False
    """

    def __init__(self) -> None:
        self._waiting: deque[Lock] = deque()  # each is let go when its thread is the first
        self._ahead: deque[Lock] = deque()  # those who only read
        self._passing = 0  # how many of them the first of the others lets pass
        self.mine = self._is_owned  # type: ignore[attr-defined]  # whether it is this thread's turn
        self.reading = Reading(self)

    def __enter__(self) -> bool:  # type: ignore[override]  # as `with` calls it
        if (self._waiting and not self.mine()) or not self.acquire(False):
            self._wait(self._waiting)
        return True

    def of(self, changes: bool) -> Turn | Reading:
        """The turn of a program that changes something, or does not; where nobody waits they are the same."""
        return self if changes or not self._waiting else self.reading

    def enter_ahead(self) -> None:
        """Take the turn ahead of those who change something."""
        if ((self._ahead or self._waiting) and not self.mine()) or not self.acquire(False):
            self._wait(self._ahead)

    def _wait(self, line: deque[Lock]) -> None:
        mine = Lock()
        mine.acquire()
        line.append(mine)
        reads = line is self._ahead
        try:
            with hurry:
                if line[0] is not mine or (self._waiting if reads else self._ahead):
                    mine.acquire()
                self.acquire()
                if not reads and self._ahead:
                    self._passing = len(self._ahead)
                    self.release()
                    self._wake()
                    mine.acquire()  # until they have passed
                    self.acquire()
            self._passing = max(self._passing - 1, 0) if reads else 0
        except BaseException:  # of the handler of a signal, perhaps right behind the lock
            if self.mine():
                self.release()
            raise
        finally:
            line.remove(mine)
            self._wake()

    def _wake(self) -> None:
        """Let the first in line ask for the lock, if it does not yet."""
        for line in (self._ahead, self._waiting) if self._passing else (self._waiting, self._ahead):
            with suppress(IndexError):  # there is none
                first = line[0]
                with suppress(RuntimeError):  # one who stood before it, and left, has woken it
                    first.release()
                return


class Reading:
    """The turn, for a program that changes nothing."""

    __slots__ = ("turn",)

    def __init__(self, turn: Turn) -> None:
        self.turn = turn

    def __enter__(self) -> None:
        self.turn.enter_ahead()

    def __exit__(self, *_: object) -> None:
        self.turn.release()
