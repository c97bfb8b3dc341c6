"""Batches of records of one length: read, checked against their sums and laid into columns by machine code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mycelia.api.options import options
from mycelia.mindrecord.layout import START, WORD, weights
from mycelia.routines.words import Bytes, Longs, dropped, eight_back, read
from mycelia.runtime.routine import Routine
from mycelia.types import Array

ALIGN = 64  # of columns


def gather(
    file: int, indices: Longs, count: int, begin: int, size: int, sums: Longs, factors: Longs,
    spans: Longs, columns: int, one: Bytes, out: Bytes,
) -> int:  # fmt: skip
    """How many records could be read and are whole; a span tells where a column begins, its bytes, and its place."""
    for i in range(count):
        if read(file, one, 0, size, begin + indices[i] * size) != size:
            return i
        total = 0
        for j in range(size >> 3):
            total = dropped(total + dropped(eight_back(one, j * 8) * factors[j], 0), 0)
        if total != dropped(sums[indices[i]], 0):
            return i
        for column in range(columns):
            start, length = spans[column * 3], spans[column * 3 + 1]
            place = spans[column * 3 + 2] + i * length
            for j in range(length):
                out[place + j] = one[start + j]
    return count


_gather = Routine(gather, options)


def gathered(
    file: int, indices: Array, words: int, spans: Sequence[tuple[int, int]], sums: Array
) -> list[Array] | None:
    """Columns of records that have so many words each; None when one of them cannot be read, or is not whole."""
    count, size = len(indices), words * WORD
    if not count or not words or int(indices.min()) < 0 or int(indices.max()) >= len(sums):
        return None
    told, at = [], 0
    for a, b in spans:
        told.append((a, b - a, at))
        at += -(-(b - a) * count // ALIGN) * ALIGN
    out = np.empty(max(1, at), np.uint8)
    done = _gather(
        file, np.ascontiguousarray(indices, np.int64), count, START, size, sums.view(np.int64),
        weights(words).view(np.int64), np.array([*told, (0, 0, 0)], np.int64), len(told), np.empty(size, np.uint8), out,
    )  # fmt: skip
    if done < count:
        return None
    return [out[place : place + count * length].reshape(count, length) for _, length, place in told]
