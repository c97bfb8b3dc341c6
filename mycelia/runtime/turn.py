"""Whose turn it is to run a program: one thread at a time, in the order in which they came."""

from __future__ import annotations

from _thread import RLock
from collections import deque
from contextlib import suppress
from threading import Lock


class Turn(RLock):  # type: ignore[misc]  # Python lets one inherit from it; all that is not said here is done in C
    """A lock that a thread may take again while it has it, and that goes to whoever has waited longest.

    A thread that trains asks for its next turn at once. An ordinary lock would give it to that thread again and again,
    because the others have yet to wake up. Here those who wait stand in a line, whoever comes joins it at its end, and
    only the first of the line asks for the lock.

    >>> turn = Turn()
    >>> with turn, turn:
    ...     turn.mine()
    True
    >>> turn.mine()
    False
    """

    def __init__(self) -> None:
        self._waiting: deque[Lock] = deque()  # each is let go when its thread is the first
        self.mine = self._is_owned  # type: ignore[attr-defined]  # whether it is this thread's turn

    def __enter__(self) -> bool:  # type: ignore[override]  # as `with` calls it
        if (self._waiting and not self.mine()) or not self.acquire(False):
            self._wait()
        return True

    def _wait(self) -> None:
        mine = Lock()
        mine.acquire()
        self._waiting.append(mine)
        try:
            if self._waiting[0] is not mine:
                mine.acquire()
            self.acquire()
        except BaseException:  # of the handler of a signal, perhaps right behind the lock
            if self.mine():
                self.release()
            raise
        finally:
            self._waiting.remove(mine)
            self._wake()

    def _wake(self) -> None:
        """Let the first of the line ask for the lock, if it does not yet."""
        with suppress(IndexError, RuntimeError):  # there is none; one who stood before it, and left, has woken it
            self._waiting[0].release()
