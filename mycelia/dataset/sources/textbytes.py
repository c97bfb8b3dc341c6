"""The bytes of a text file, and where its lines are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.mindrecord.filebytes import FileBytes
from mycelia.types import Array

STRETCH = 1 << 24


class TextBytes(FileBytes):
    """A text file's bytes, read where they are asked for."""

    error = DataError

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
