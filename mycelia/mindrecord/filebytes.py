"""The bytes of a file that others may write to while it is read."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from mycelia.errors import MyceliaError
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.scratch import PIECES, ROOM, scratch
from mycelia.plainfiles import opened
from mycelia.types import Array

LARGE = 1 << 15  # pieces from this size on are read one by one
AHEAD = 1 << 16  # bytes that a walk reads at once


class BytesInMemory:
    """Bytes that are in memory, asked for as those of a file."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, wanted: slice) -> bytes:
        return self.raw[wanted]

    def rows(self, starts: Array, size: int) -> Iterator[tuple[slice, Array]]:
        """Pieces of one size, as a matrix of bytes, some at a time: which of them, and they."""
        data = np.frombuffer(self.raw, np.uint8)
        for first in range(0, len(starts), 256):
            some = slice(first, min(first + 256, len(starts)))
            yield some, data[starts[some, None] + np.arange(size)]


class FileBytes:
    """A file's bytes, read where they are asked for.

    Mapped memory would be as fast, but to touch it after somebody has cut the file short ends the process.
    Readers in other threads and forked processes may share it: it has no position.
    """

    error: type[MyceliaError] = RecordError  # a file that was cut short

    def __init__(self, path: str | Path) -> None:
        self.path, self.file = str(path), -1
        self.file = opened(path)
        self.size = self._left()

    def __del__(self) -> None:
        if self.file >= 0:
            os.close(self.file)

    def _left(self) -> int:
        return os.fstat(self.file).st_size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, wanted: slice) -> bytes:
        begin, end, _ = wanted.indices(self.size)
        found = os.pread(self.file, end - begin, begin)
        while len(found) < end - begin:  # a read may give less than it was asked for, but at the end gives nothing
            more = os.pread(self.file, end - begin - len(found), begin + len(found))
            if not more:
                raise self._cut()
            found += more
        return found

    def _cut(self) -> MyceliaError:
        left = self._left()
        return self.error(
            f"a file was cut short while it was read: {left} of {self.size} bytes are left",
            given={"file": self.path},
            hint="write to another name and rename it: readers then keep the file they have opened",
        )

    @cached_property
    def mapped(self) -> memoryview:
        """The bytes as memory that only the kernel may look at."""
        return memoryview(mmap.mmap(self.file, self.size, access=mmap.ACCESS_READ))

    def rows(self, starts: Array, size: int) -> Iterator[tuple[slice, Array]]:
        """Pieces of one size, as a matrix of bytes, some at a time: which, and they; the next overwrite them."""
        if not PIECES or not 0 < size <= LARGE:
            for i, start in enumerate(starts.tolist()):
                yield slice(i, i + 1), np.frombuffer(self[start : start + size], np.uint8)[None]
            return
        raw, room, most = self.mapped, scratch(), min(PIECES, ROOM // size)
        for first in range(0, len(starts), most):
            some = slice(first, min(first + most, len(starts)))
            wanted = starts[some].tolist()
            copied = room.copied([raw[s : s + size] for s in wanted])
            # what lies behind the end in its page would be copied as zeros
            if copied < size * len(wanted) or self._left() < self.size:
                raise self._cut()
            yield some, room.bytes[:copied].reshape(len(wanted), size)


class ForwardBytes:
    """Bytes from the front to the back: small pieces that lie near one another are read together.

    >>> walk = ForwardBytes(BytesInMemory(b"abcdef")); walk.at(1, 2), walk.at(5, 2)
    (b'bc', b'f')
    """

    def __init__(self, raw: BytesInMemory | FileBytes) -> None:
        self.raw, self.begin, self.window = raw, 0, b""

    def at(self, place: int, size: int) -> bytes:
        """So many bytes from a place on, or what there is of them."""
        inside = place - self.begin
        if not 0 <= inside <= len(self.window) - size:
            self.begin, self.window, inside = place, self.raw[place : place + max(size, AHEAD)], 0
        return self.window[inside : inside + size]
