"""Memory touched ahead: a thread makes pages be there before programs of changing sizes need them.

The first touch of memory takes 0.2 ms per MiB, and 2 to 4 in a virtual machine whose host has yet to find the pages: a
train step that meets its largest batch so far waits longer for its memory than for anything that is prepared for it.
While a program for many sizes is compiled a processor is idle: that is the time to touch several times what programs
have needed so far. Later a little more than the largest size needs is touched, because whoever touches takes time from
the program that runs. What nobody comes to use stays the system's: it takes it back when it runs short of memory.
"""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock, Thread
from time import sleep

from mycelia.runtime.room import Room

FIRST, FIRST_MOST = 8, 1 << 28  # while a program is compiled: so many times what was needed, up to so many bytes
NEXT, NEXT_MOST = 4, 1 << 28  # when a size comes that is new: a quarter more, at most so many bytes
SPARE = 4  # of the memory that is available, a quarter at most
PAUSE = 0.0002  # seconds between pieces, for whoever waits for the room or for Python
AVAILABLE = re.compile(r"MemAvailable: *(\d+) kB")


class Ahead:
    """What is wanted of a room, and the thread that touches it, which ends when nothing is left to do."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.wanted = 0  # up to where
        self._thread: Thread | None = None
        self._lock = Lock()

    def of_many_sizes(self) -> None:
        """A program for many sizes is being compiled, and nobody uses the room."""
        self._want(min(FIRST * self.room.nbytes, FIRST_MOST))

    def of_a_new_size(self, nbytes: int) -> None:
        """A program needs so many bytes at a size that it meets for the first time, and nobody uses the room yet."""
        self._want(nbytes + min(nbytes // NEXT, NEXT_MOST))

    def end(self) -> None:
        """Touch no more: nobody will use it."""
        self.wanted = 0
        self.wait()

    def wait(self) -> None:
        """Until all is touched that was wanted."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _want(self, end: int) -> None:
        if end <= self.wanted:
            return
        self.wanted = min(end, self.room.nbytes + available() // SPARE)
        self.room.reserve(self.wanted)
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._touch, daemon=True, name="mycelia-ahead")
                self._thread.start()

    def _touch(self) -> None:
        while True:
            while self.room.touch_ahead(self.wanted):
                sleep(PAUSE)
            with self._lock:  # whoever wants more from now on starts another thread
                if not self.room.touch_ahead(self.wanted):
                    self._thread = None
                    return


def available() -> int:
    """The bytes that the machine has to spare, as far as it tells.

    >>> available() >= 0
    True
    """
    try:
        found = AVAILABLE.search(Path("/proc/meminfo").read_text())
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0
