"""Arrays that a program is writing in place now. Whoever reads one waits until it has been written, and no longer.

A program may write into the memory of a tensor only if nobody else holds that memory; it asks how often the array is
referred to. The order makes this safe. The writer announces the array here, then counts, then writes. A reader refers
to the array first, then looks here. If the reader was first, the writer counts it, and writes elsewhere; if the writer
was first, the reader finds the array here, waits, and holds it meanwhile, so that the next writer writes elsewhere.

All who wait go on at once, and the writer goes on when they have what they waited for: then they have not waited longer
than it took, whenever Python lets a thread run that could, and the next step need not write elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, get_ident
from time import monotonic
from typing import Any

from mycelia.threads.hurry import hurry

PATIENCE = 0.1  # seconds that a writer gives those who waited: among twenty threads Python comes to each by then
NOTHING: frozenset[int] = frozenset()


class Writing:
    """One program, and the arrays that it writes, by their identity."""

    __slots__ = ("arrays", "ended", "readers", "thread")

    def __init__(self, arrays: frozenset[int]) -> None:
        self.arrays, self.thread = arrays, get_ident()
        self.readers: list[tuple[Lock, Lock]] = []  # let go when it may read, and when it has read
        self.ended = False

    def read(self, data: Any, how: Callable[[Any], Any]) -> Any:
        """What `how` gives for an array that is being written, when that is done."""
        written, read = Lock(), Lock()
        with hurry, read:
            written.acquire()
            self.readers.append((written, read))
            if not self.ended:
                written.acquire()
            return how(data)

    def end(self) -> None:
        """All is written: those who wait read it now."""
        self.ended = True
        for written, _ in self.readers:
            written.release()

    def wait_for_readers(self) -> None:
        """Go on when they have read it, or could have."""
        if self.readers:
            until = monotonic() + PATIENCE
            for _, read in self.readers:
                read.acquire(timeout=max(until - monotonic(), 0))


writing: list[Writing] = []  # programs that run now: one, and those that Python runs for it


def written(data: Any, how: Callable[[Any], Any] = lambda data: data) -> Any:
    """The array, when nobody writes into it; or what `how` makes of it, for which the writer waits.

    >>> import numpy as np
    >>> written(np.zeros(2)), written(np.zeros(2), len)
    (array([0., 0.]), 2)
    """
    for step in tuple(writing):
        if id(data) in step.arrays and step.thread != get_ident():
            return step.read(data, how)
    return how(data)
