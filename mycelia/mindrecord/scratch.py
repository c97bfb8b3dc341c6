"""Room that the kernel copies pieces of a mapped file into.

A program that touches mapped memory after somebody has cut the file short is ended; the kernel, asked to copy it, says
how far it came. One call copies many pieces, which is faster than to read them one by one.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Sequence

import numpy as np

from mycelia.types import Array

ROOM = 1 << 19  # stays in the processor's cache until it is used
PIECES = min(1024, os.sysconf("SC_IOV_MAX")) if hasattr(os, "memfd_create") else 0  # of one call; 0: there is none


class Scratch:
    """Bytes that are overwritten by whatever is copied next.

    >>> scratch = Scratch(); scratch.copied([b"ab", b"c"]), scratch.bytes[:3].tobytes()
    (3, b'abc')
    """

    def __init__(self) -> None:
        self.owner, self.file = os.getpid(), -1
        self.file = os.memfd_create("mycelia-scratch", os.MFD_CLOEXEC)
        os.ftruncate(self.file, ROOM)
        self.bytes: Array = np.frombuffer(mmap.mmap(self.file, ROOM), np.uint8)

    def copied(self, pieces: Sequence[memoryview | bytes]) -> int:
        """How many bytes of the pieces could be copied, one after the other, to the beginning of the room."""
        try:
            return os.pwritev(self.file, pieces, 0)
        except OSError:
            return 0

    def __del__(self) -> None:
        if self.file >= 0:
            os.close(self.file)


class _Own(threading.local):
    scratch: Scratch | None = None


_own = _Own()


def scratch() -> Scratch:
    """The room of this thread; a forked process must not write where the one before it reads, and gets another.

    >>> scratch() is scratch()
    True
    """
    if _own.scratch is None or _own.scratch.owner != os.getpid():
        _own.scratch = Scratch()
    return _own.scratch
