"""The memory in which programs compute: one arena for the process, as large as the largest program needs.

Programs take turns, so one arena serves all of them. A program that is run by another one (a callback that calls a
compiled function) gets an arena of the next depth.
"""

from __future__ import annotations

import os

import numpy as np

from mycelia.runtime.memory import ALIGN
from mycelia.runtime.turn import Turn
from mycelia.types import Array


class Arena:
    """The turn of a program to run, and the memory that it computes in.

    >>> with Arena.turn:
    ...     outer, inner = Arena.take(1000), Arena.take(10)
    ...     Arena.give_back(), Arena.give_back()
    (None, None)
    >>> outer % 64, abs(inner - outer) >= 10
    (0, True)
    """

    turn = Turn()  # held while a program runs
    depth = 0
    rooms: list[Array] = []
    starts: list[int] = []

    @classmethod
    def take(cls, nbytes: int) -> int:
        """The address of `nbytes` bytes, for the thread whose turn it is, until it gives them back."""
        if cls.depth == len(cls.rooms):
            cls.rooms.append(np.empty(0, np.uint8))
            cls.starts.append(0)
        if cls.rooms[cls.depth].nbytes < nbytes + ALIGN:
            cls.rooms[cls.depth] = np.empty(0, np.uint8)  # the old one goes before the new one comes
            cls.rooms[cls.depth] = np.empty(nbytes + ALIGN, np.uint8)
            cls.starts[cls.depth] = -(-cls.rooms[cls.depth].ctypes.data // ALIGN) * ALIGN
        cls.depth += 1
        return cls.starts[cls.depth - 1]

    @classmethod
    def give_back(cls) -> None:
        """What was taken last is free again."""
        cls.depth -= 1

    @classmethod
    def bytes(cls) -> int:
        """What the arenas of the process hold."""
        return sum(room.nbytes for room in cls.rooms)

    @classmethod
    def _after_fork(cls) -> None:
        """In a child no other thread runs, whatever the parent's threads were doing."""
        cls.turn, cls.depth = Turn(), 0


os.register_at_fork(after_in_child=Arena._after_fork)
