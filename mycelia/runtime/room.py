"""Memory that grows and keeps its pages, and what of it is touched ahead of its use."""

from __future__ import annotations

import ctypes
import mmap
from threading import Lock

PIECE = 1 << 21  # bytes: a large page


class Room:
    """Memory that grows, and holds nothing while it does."""

    def __init__(self) -> None:
        self.start, self.nbytes = 0, 0  # as many as were asked for
        self._memory: mmap.mmap | None = None
        self._touched = 0  # where what was touched ahead ends
        self._lock = Lock()

    @property
    def held(self) -> int:
        """The bytes that were asked for or touched ahead; what is behind them was never touched."""
        return max(self.nbytes, self._touched)

    def at_least(self, nbytes: int) -> int:
        """The address of so many bytes, at the beginning of a page."""
        with self._lock:
            if nbytes > self.nbytes or self._memory is None:
                self._reserve(nbytes)
                self.nbytes = nbytes
            return self.start

    def reserve(self, nbytes: int) -> None:
        """Have addresses for so many bytes, where there are so many; to touch them is another matter."""
        with self._lock:
            try:
                self._reserve(nbytes)
            except MemoryError:
                return

    def touch_ahead(self, end: int) -> bool:
        """Touch the next piece behind all that was asked for, up to `end`; whether there was one.

        It is written, while other threads run: MADV_POPULATE_WRITE would let all those wait who map memory. Nobody uses
        the piece yet, so the system may have it back when it runs short (MADV_FREE). Whoever asks for more meanwhile
        waits: what is written there afterwards must neither be overwritten nor given away.
        """
        with self._lock:
            begin = -(-max(self.nbytes, self._touched) // PIECE) * PIECE
            if self._memory is None or begin + PIECE > min(end, len(self._memory)):
                return False
            ctypes.memset(self.start + begin, 0, PIECE)
            self._memory.madvise(mmap.MADV_FREE, begin, PIECE)
            self._touched = begin + PIECE
            return True

    def after_fork(self) -> None:
        """In a child: another thread may have held the lock, or have been about to say where the memory is now."""
        self._lock = Lock()
        if self._memory is not None:
            self._find()

    def _reserve(self, nbytes: int) -> None:
        """Twice the addresses, so that it seldom grows; no more than needed where there are not so many."""
        if self._memory is not None and nbytes <= len(self._memory):
            return
        try:
            self._take(max(1 << (nbytes - 1).bit_length(), PIECE))
        except OSError:
            try:
                self._take(-(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE)
            except OSError as error:
                raise MemoryError(f"there are no {nbytes} bytes for a compiled program to compute in") from error

    def _take(self, nbytes: int) -> None:
        if self._memory is None:
            self._memory = mmap.mmap(-1, nbytes, mmap.MAP_PRIVATE)
        else:
            self._memory.resize(nbytes)
        self._memory.madvise(mmap.MADV_HUGEPAGE)
        self._find()

    def _find(self) -> None:
        assert self._memory is not None, "there is no memory yet"
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
