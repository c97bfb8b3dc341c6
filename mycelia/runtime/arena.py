"""The memory in which programs compute: one arena for the process, as large as the largest program needs.

Programs take turns, so one arena serves all of them. A program that is run by another one (a callback that calls a
compiled function) gets an arena of the next depth. An arena that grows keeps its pages, which the kernel moves to other
addresses if it must: the first touch of a page costs more than most of what is computed in it.
"""

from __future__ import annotations

import ctypes
import mmap
import os

from mycelia.runtime.turn import Turn

SMALLEST = 1 << 21  # bytes: a large page


class Room:
    """Memory that grows, and holds nothing while it does."""

    def __init__(self) -> None:
        self.start, self.nbytes = 0, 0  # as many as were asked for; the rest was never touched
        self._memory: mmap.mmap | None = None

    def at_least(self, nbytes: int) -> int:
        """The address of so many bytes, at the beginning of a page."""
        if nbytes > self.nbytes or self._memory is None:
            if self._memory is None or nbytes > len(self._memory):
                self._grow(nbytes)
            self.nbytes = nbytes
        return self.start

    def _grow(self, nbytes: int) -> None:
        """Twice the addresses, so that it seldom grows; no more than needed where there are not so many."""
        try:
            self._take(max(1 << (nbytes - 1).bit_length(), SMALLEST))
        except OSError:
            try:
                self._take(-(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE)
            except OSError as error:
                raise MemoryError(f"there are no {nbytes} bytes for a compiled program to compute in") from error

    def _take(self, nbytes: int) -> None:
        if self._memory is None:
            self._memory = mmap.mmap(-1, nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self._memory.resize(nbytes)
        self._memory.madvise(mmap.MADV_HUGEPAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))


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
        self.rooms: list[Room] = []

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

    def bytes(self) -> int:
        """What the arenas of the process hold."""
        return sum(room.nbytes for room in self.rooms)

    def _after_fork(self) -> None:
        """In a child no other thread runs, whatever the parent's threads were doing."""
        self.turn, self.depth = Turn(), 0


Arena = _Arena()  # attributes of a class would be slow to change: Python forgets then all that it knows of the class
os.register_at_fork(after_in_child=Arena._after_fork)
