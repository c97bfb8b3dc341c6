"""Pieces of tar shards: some samples that lie together, and while they are wanted the bytes they lie in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.dataset.archives import BLOCK, Shard, split
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.buffers import room
from mycelia.dataset.flow.request import Row
from mycelia.mindrecord.filebytes import FileBytes
from mycelia.mindrecord.limits import largest
from mycelia.types import Array

RUN = 1 << 22  # bytes that are read at once
SMALL = 1 << 12  # cells below this are copied together, so that one of them does not keep a whole run in memory


class Archive(FileBytes):
    """The bytes of a shard."""

    error = DataError

    def fill(self, place: Array, begin: int) -> Array:
        """The bytes from a place on, as many as there is room for."""
        at = 0
        while at < len(place):
            got = os.preadv(self.file, [place[at:].data], begin + at)
            if not got:
                raise self._cut()
            at += got
        return place


def space(size: int) -> Array:
    """Room for so many bytes; sizes are rounded, so that memory is used again.

    >>> len(space(5))
    5
    """
    return room((-(-size // RUN) * RUN,), np.dtype(np.uint8))[:size] if size > RUN >> 2 else np.empty(size, np.uint8)


class Piece:
    """Samples of a shard that follow one another: which, and where they are."""

    def __init__(self, file: int, shard: Shard, start: int, count: int, row: int, base: int, run: Array | None) -> None:
        self.file, self.count = file, count
        self.row = row  # of the first sample, in its file
        self.index = (shard, start)  # what tells where samples are, and the number of the first one in it
        self.base, self.run = base, run  # bytes of the shard from `base` on
        self.rows: list[Row] | None = None
        self.left = count  # rows that nobody has asked for yet

    def let_go(self) -> None:
        """Forget the bytes: who asks for them again will read them again."""
        self.run = self.rows = None

    def cut(self, a: int, b: int, columns: Sequence[str], raw: Archive) -> tuple[Array, int, list[Any]] | None:
        """The run of bytes that rows lie in, where it begins, and for every column its places and sizes in the run, or
        the headers that hold its keys. None if samples are not alike, or lie too far apart.
        """
        shard, start = self.index
        layout = shard.layout(columns)
        if layout is None or (-1 in layout and shard.keys is not None):
            return None
        files = slice((start + a) * shard.alike, (start + b) * shard.alike)
        places, sizes = (x[files].reshape(-1, shard.alike) for x in (shard.places, shard.sizes))
        run, base = self.run, self.base
        if run is None:
            base, end = int(places[0].min()) - BLOCK, int((places[-1] + sizes[-1]).max())
            if not 0 <= end - base <= 2 * RUN:
                return None
            run = raw.fill(space(end - base), base)
        if int(places.min()) < base + BLOCK or int((places + sizes).max()) > base + len(run):
            return None
        if int(sizes.max()) > largest():
            return None
        return (
            run,
            base,
            [places[:, 0] - BLOCK - base if at < 0 else (places[:, at] - base, sizes[:, at]) for at in layout],
        )

    def some(self, a: int, b: int, columns: Sequence[str], raw: Archive) -> list[Row] | None:
        """Rows as pieces of the run; those of a piece that is held are made together, when the first is asked for."""
        rows = self.rows
        if rows is None and self.run is not None:
            rows = self.rows = _rows(self.cut(0, self.count, columns, raw))
        if rows is not None:
            return rows[a:b]
        return _rows(self.cut(a, b, columns, raw))

    def served(self, count: int) -> None:
        """Note that rows were asked for; a piece whose rows were all asked for is let go."""
        self.left -= count
        if self.left <= 0:
            self.let_go()


def _rows(cut: tuple[Array, int, list[Any]] | None) -> list[Row] | None:
    return None if cut is None else list(zip(*(_cells(cut[0], column) for column in cut[2]), strict=True))


def _cells(run: Array, column: Any) -> list[Array]:
    if isinstance(column, np.ndarray):
        return [np.array(stem(run[at : at + 100])) for at in column.tolist()]
    starts, sizes = column
    spans = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
    if int(sizes.max()) >= SMALL:
        return [run[a:b] for a, b in spans]
    if (sizes == sizes[0]).all():
        return list(stacked(run, starts, int(sizes[0])))
    ends = np.cumsum(sizes)
    together = np.concatenate([run[a:b] for a, b in spans])
    return [together[a:b] for a, b in zip((ends - sizes).tolist(), ends.tolist(), strict=True)]


def stem(header: Array) -> str:
    """The stem of the name in a header.

    >>> stem(np.frombuffer(b"a/7.txt" + bytes(93), np.uint8))
    'a/7'
    """
    return split(header.tobytes().partition(b"\0")[0].decode())[0]


def stacked(run: Array, starts: Array, size: int) -> Array:
    """Pieces of one size, one above the other, in memory of their own.

    >>> stacked(np.frombuffer(b"abcdef", np.uint8), np.array([0, 3]), 2).tobytes()
    b'abde'
    """
    made = space(len(starts) * size).reshape(len(starts), size)
    steps = np.diff(starts)
    if not len(steps) or (steps[0] >= size and (steps == steps[0]).all()):
        step = int(steps[0]) if len(steps) else size
        view = np.ndarray(made.shape, np.uint8, run.data, int(starts[0]), (step, 1)) if size else made
        made[:] = view
    else:
        for place, at in zip(made, starts.tolist(), strict=True):
            place[:] = run[at : at + size]
    return made
