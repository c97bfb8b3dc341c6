"""The bytes of a file that others may write to while it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.types import Array

STRETCH = 1 << 24


class FileBytes:
    """A file's bytes, read where they are asked for.

    Mapped memory would be as fast, but to touch it after somebody has cut the file short ends the process.
    Readers in other threads and forked processes may share it: it has no position.
    """

    def __init__(self, path: str) -> None:
        self.path, self.handle = path, os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size = os.fstat(self.handle).st_size

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            os.close(self.handle)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, wanted: slice) -> bytes:
        begin, end, _ = wanted.indices(self.size)
        found = os.pread(self.handle, end - begin, begin)
        while len(found) < end - begin:  # a read may give less than it was asked for, but at the end gives nothing
            more = os.pread(self.handle, end - begin - len(found), begin + len(found))
            if not more:
                left = os.fstat(self.handle).st_size
                raise DataError(
                    f"a file was cut short while it was read: {left} of {self.size} bytes are left",
                    given={"file": self.path},
                    hint="write to another name and rename it: readers then keep the file they have opened",
                )
            found += more
        return found

    def stretches(self) -> Iterator[tuple[int, Array]]:
        """All bytes in order, a stretch after the other, each with where it begins."""
        for begin in range(0, self.size, STRETCH):
            yield begin, np.frombuffer(self[begin : begin + STRETCH], np.uint8)

    def positions(self, byte: int) -> Array:
        """Where a byte stands."""
        found = [begin + np.flatnonzero(data == byte) for begin, data in self.stretches()]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def lines(self) -> Array:
        """Where each line begins and ends, without what ends it; an empty file has none."""
        if not self.size:
            return np.zeros((0, 2), np.int64)
        ends = self.positions(10)
        if not len(ends) or ends[-1] != self.size - 1:
            ends = np.append(ends, self.size)
        begins = np.append(0, ends[:-1] + 1)
        returns = np.isin(ends - 1, self.positions(13), assume_unique=True)
        return np.stack([begins, ends - ((ends > begins) & returns)], axis=1)
