"""Whose turn it is to run a program: one thread at a time, in the order in which they came."""

from __future__ import annotations

from collections import deque
from threading import Lock, get_ident


class Turn:
    """A lock that a thread may take again while it has it, and that goes to whoever has waited longest.

    A thread that trains asks for its next turn at once. An ordinary lock would give it to that thread again and again,
    because the others have yet to wake up.

    >>> turn = Turn()
    >>> with turn, turn:
    ...     turn.mine()
    True
    >>> turn.mine()
    False
    """

    def __init__(self) -> None:
        self._owner, self._depth = 0, 0
        self._lock = Lock()  # held while the turn is somebody's
        self._waiting: deque[Lock] = deque()  # each is let go when the turn is handed over

    def mine(self) -> bool:
        """Whether it is this thread's turn."""
        return self._owner == get_ident()

    def __enter__(self) -> None:
        me = get_ident()
        if self._owner != me:
            if self._waiting or not self._lock.acquire(False):
                self._wait()
            self._owner = me
        self._depth += 1

    def _wait(self) -> None:
        mine = Lock()
        mine.acquire()
        self._waiting.append(mine)
        try:
            self._hand_over()  # it may have become free before this thread stood in the line
            mine.acquire()
        except BaseException:  # of the handler of a signal
            try:
                self._waiting.remove(mine)
            except ValueError:  # the turn has been given to this thread meanwhile
                self._give_up()
            raise

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0
            self._give_up()

    def _give_up(self) -> None:
        self._lock.release()
        if self._waiting:
            self._hand_over()

    def _hand_over(self) -> None:
        """If the turn is nobody's, give it to the first in line."""
        while self._waiting and self._lock.acquire(blocking=False):
            try:
                first = self._waiting.popleft()
            except IndexError:  # it went away
                self._lock.release()
                continue
            first.release()
            return
