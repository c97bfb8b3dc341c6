"""The memory in which programs compute: one arena for the process, as large as the largest program needs.

Programs take turns, so one arena serves all of them. A program that is run by another one (a callback that calls a
compiled function) gets an arena of the next depth. An arena that grows keeps its pages, which the kernel moves to other
addresses if it must: the first touch of a page costs more than most of what is computed in it. Where a program serves
many sizes the next one may need more than all before, so that memory is touched ahead (`mycelia.runtime.ahead`).
"""

from __future__ import annotations

import atexit
import os

from mycelia.runtime.ahead import Ahead
from mycelia.runtime.room import Room
from mycelia.runtime.turn import Turn


class _Arena:
    """The turn of a program to run, and the memory that it computes in.

    >>> with Arena.turn:
    ...     outer, inner = Arena.take(1000), Arena.take(10)
    ...     Arena.give_back(), Arena.give_back()
    (None, None)
    >>> outer % 64, abs(inner - outer) >= 10
    (0, True)
    """

    def __init__(self) -> None:
        self.turn = Turn()  # held while a program runs
        self.depth = 0
        self.rooms = [Room()]
        self.ahead = Ahead(self.rooms[0])

    def take(self, nbytes: int) -> int:
        """The address of `nbytes` bytes, for the thread whose turn it is, until it gives them back."""
        depth = self.depth
        if depth == len(self.rooms):
            self.rooms.append(Room())
        room = self.rooms[depth]
        start = room.start if 0 < nbytes <= room.nbytes else room.at_least(nbytes)
        self.depth = depth + 1
        return start

    def give_back(self) -> None:
        """What was taken last is free again."""
        self.depth -= 1

    def expect_sizes(self) -> None:
        """A program for many sizes is being compiled: soon there may be more to do than before. Where another program
        runs nothing happens, because its memory must stay where it is.
        """
        if self.turn.acquire(blocking=False):
            try:
                if not self.depth:
                    self.ahead.of_many_sizes()
            finally:
                self.turn.release()

    def expect_more_than(self, nbytes: int) -> None:
        """A program needs so many bytes at a size that is new, and others may come. It is this thread's turn."""
        if not self.depth:
            self.ahead.of_a_new_size(nbytes)

    def bytes(self) -> int:
        """What the arenas of the process hold."""
        return sum(room.held for room in self.rooms)

    def _after_fork(self) -> None:
        """In a child no other thread runs, whatever the parent's threads were doing."""
        self.turn, self.depth, self.ahead = Turn(), 0, Ahead(self.rooms[0])
        for room in self.rooms:
            room.after_fork()


Arena = _Arena()  # attributes of a class would be slow to change: Python forgets then all that it knows of the class
os.register_at_fork(after_in_child=Arena._after_fork)
atexit.register(lambda: Arena.ahead.end())  # no thread may touch memory that Python gives back
