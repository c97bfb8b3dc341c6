"""Pieces of tar shards: some samples that lie together, and while they are wanted the bytes they lie in."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mycelia.api.options import options
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.buffers import room
from mycelia.dataset.flow.request import Row
from mycelia.dataset.sources.archives import BLOCK, Shard, split
from mycelia.mindrecord.filebytes import FileBytes
from mycelia.mindrecord.limits import largest
from mycelia.routines.words import Bytes, Longs
from mycelia.runtime.routine import Routine
from mycelia.types import Array

RUN = 1 << 24  # bytes that are read at once
SMALL = 1 << 12  # cells below this are copied together, so that one of them does not keep a whole run in memory
LARGE = 1 << 16  # samples from this size on are read by those who ask for them, straight to where they belong
PARTS = min(1024, os.sysconf("SC_IOV_MAX"))  # places that one call of the system can fill


def pick(run: Bytes, starts: Longs, count: int, size: int, out: Bytes) -> int:
    """Copy pieces of one size, one behind the other. The caller has seen that all of them lie in the run."""
    for i in range(count):
        start, place = starts[i], i * size
        for j in range(size):
            out[place + j] = run[start + j]
    return count


_pick = Routine(pick, options)


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

    def expect(self, begin: int, size: int) -> None:
        """Tell the system that bytes will be read soon, so that the disk need not wait for us."""
        if hasattr(os, "posix_fadvise") and size > 0:
            os.posix_fadvise(self.file, begin, size, os.POSIX_FADV_WILLNEED)

    def scatter(self, places: Sequence[Array], begin: int) -> None:
        """The bytes from a place on, put into several places one after the other."""
        for first in range(0, len(places), PARTS):
            some = places[first : first + PARTS]
            size = sum(map(len, some))
            got = os.preadv(self.file, [place.data for place in some], begin)
            if got < size:  # the rest one by one: a read may be interrupted
                for place in some:
                    if got < len(place):
                        self.fill(place[max(got, 0) :], begin + max(got, 0))
                    got -= len(place)
                    begin += len(place)
            else:
                begin += size


def space(size: int) -> Array:
    """Room for so many bytes; sizes are rounded, so that memory is used again.

    >>> len(space(5))
    5
    """
    grain = RUN >> 2
    return room((size if size <= grain else -(-size // grain) * grain,), np.dtype(np.uint8))[:size]


class TarPiece:
    """Samples of a shard that follow one another: which, and where they are."""

    def __init__(self, file: int, shard: Shard, start: int, count: int, row: int, base: int, run: Array | None) -> None:
        self.file, self.count = file, count
        self.row = row  # of the first sample, in its file
        self.index = (shard, start)  # what tells where samples are, and the number of the first one in it
        self.base, self.run = base, run  # bytes of the shard from `base` on
        self.rows: list[Row] | None = None
        self.lined: tuple[Row | None] | None = None  # once it was asked for: the columns as lines of the run
        self.given = np.zeros(count, bool)  # rows that somebody has as parts of the run, and may have written into
        self.lock = threading.Lock()
        self.left = count  # rows that nobody has asked for yet

    def let_go(self) -> None:
        """Forget the bytes: who asks for them again will read them again."""
        self.run = self.rows = self.lined = None

    def lines(self, columns: Sequence[str]) -> Row | None:
        """Every column as an array that has a line for each row, parts of the run; None if they do not lie so."""
        lined, run = self.lined, self.run
        if lined is None:
            spots = None if run is None else self.spots(0, self.count, columns)
            even = None if spots is None or run is None or spots.even() is None else spots.views(self.base, run)
            lined = self.lined = (even,)
            if self.run is None:  # it was let go meanwhile
                self.lined = None
        return lined[0]

    def claim(self, a: int, b: int) -> bool:
        """Have some rows of the run for oneself alone; whether nobody else had one of them before."""
        with self.lock:
            if self.run is None or self.given[a:b].any():
                return False
            self.given[a:b] = True
            return True

    def clean(self, a: int, b: int) -> Array | None:
        """The run, if it is held and nobody can have written into some rows of it."""
        run = self.run
        return None if run is None or self.given[a:b].any() else run

    @property
    def held(self) -> int:
        """How many bytes it keeps."""
        run = self.run
        return 0 if run is None else len(run)

    def spots(self, a: int, b: int, columns: Sequence[str]) -> Spots | None:
        """Where the files of rows are, if the samples are alike and no file is larger than any may be."""
        shard, start = self.index
        layout = shard.layout(columns)
        if layout is None or (-1 in layout and shard.keys is not None):
            return None
        files = slice((start + a) * shard.alike, (start + b) * shard.alike)
        places, sizes = (x[files].reshape(-1, shard.alike) for x in (shard.places, shard.sizes))
        return None if int(sizes.max()) > largest() else Spots(places, sizes, layout)

    def some(self, a: int, b: int, columns: Sequence[str], raw: Archive) -> list[Row] | None:
        """Rows as pieces of the run; those of a piece that is held are made together, when the first is asked for."""
        if not self.claim(a, b):
            return self._made(a, b, columns, raw, None)
        rows = self.rows
        if rows is None:
            rows = self.rows = self._made(0, self.count, columns, raw, self.run)
        return None if rows is None else rows[a:b]

    def _made(self, a: int, b: int, columns: Sequence[str], raw: Archive, held: Array | None) -> list[Row] | None:
        spots = self.spots(a, b, columns)
        if spots is None:
            return None
        rows: list[Row] = []
        for some, base, run in spots.runs(raw, self.base, held, RUN):
            if run is None:
                return None
            rows += zip(*(_cells(run, column) for column in spots.columns(some, base)), strict=True)
        return rows

    def served(self, count: int) -> None:
        """Note that rows were asked for; a piece whose rows were all asked for is let go."""
        self.left -= count
        if self.left <= 0:
            self.let_go()


class Spots:
    """Where the files of some rows are in their shard, and which of them are columns; -1 stands for the key."""

    def __init__(self, places: Array, sizes: Array, layout: Sequence[int]) -> None:
        self.places, self.sizes, self.layout = places, sizes, layout
        self.begins, self.ends = places[:, 0] - BLOCK, (places + sizes)[:, -1]

    def even(self) -> list[int] | None:
        """How long every column is in all rows; None if that differs, or if there is a column of keys."""
        if -1 in self.layout or (self.sizes != self.sizes[0]).any():
            columns = [self.sizes[:, at] for at in self.layout if at >= 0]
            if len(columns) < len(self.layout) or any((sizes != sizes[0]).any() for sizes in columns):
                return None
        return [int(self.sizes[0, at]) for at in self.layout]

    def columns(self, some: slice, base: int) -> list[Any]:
        """For every column its places and sizes in a run that begins at `base`, or the headers that hold its keys."""
        places, sizes = self.places[some], self.sizes[some]
        return [places[:, 0] - BLOCK - base if at < 0 else (places[:, at] - base, sizes[:, at]) for at in self.layout]

    def runs(self, raw: Archive, base: int, held: Array | None, most: int) -> Iterator[tuple[slice, int, Array | None]]:
        """Stretches of rows and the bytes they lie in: those that are held, or else as many as `most` read at once.

        A row that is longer than that, or whose files do not follow one another, has none.
        """
        begins, ends = self.begins, self.ends
        if len(self.places) > 1 and (np.diff(self.places.reshape(-1)) <= 0).any():
            yield slice(0, len(begins)), 0, None
            return
        if held is not None and int(begins[0]) >= base and int(ends[-1]) <= base + len(held):
            yield slice(0, len(begins)), base, held
            return
        first = 0
        while first < len(begins):
            begin = int(begins[first])
            last = int(np.searchsorted(ends, begin + most, side="right"))
            if last <= first:
                yield slice(first, first + 1), 0, None
                last = first + 1
            else:
                yield slice(first, last), begin, raw.fill(space(int(ends[last - 1]) - begin), begin)
            first = last

    def views(self, base: int, run: Array) -> Row | None:
        """Every column as lines of the run itself, if they lie at equal distances."""
        if -1 in self.layout or int(self.begins[0]) < base or int(self.ends[-1]) > base + len(run):
            return None
        if len(self.places) > 2 and (np.diff(self.places, 2, axis=0) != 0).any():
            return None
        step = int(self.places[1, 0] - self.places[0, 0]) if len(self.places) > 1 else len(run)
        lines = []
        for at in self.layout:
            start, size = int(self.places[0, at]) - base, int(self.sizes[0, at])
            if not size <= step:
                return None
            lines.append(as_strided(run[start:], (len(self.places), size), (step, 1)))
        return tuple(lines)

    def stack(self, outs: Sequence[Array], raw: Archive, base: int, held: Array | None) -> bool:
        """Write every column into an array that has a line for each row; whether that could be done."""
        if held is None and int(self.ends[-1] - self.begins[0]) >= LARGE * len(self.places):
            return self._scattered(outs, raw)
        for some, begin, run in self.runs(raw, base, held, RUN >> 2):
            if run is None:
                return False
            for at, out in zip(self.layout, outs, strict=True):
                starts = np.ascontiguousarray(self.places[some, at]) - begin
                part = out[some]
                if part.size:
                    _pick(run, starts, len(starts), part.shape[1], part)
        return True

    def _scattered(self, outs: Sequence[Array], raw: Archive) -> bool:
        """Read large files straight into their lines; what lies between them is read too where it is short."""
        between = np.empty(LARGE >> 2, np.uint8)
        wanted = sorted(zip(self.layout, outs, strict=True), key=lambda pair: pair[0])
        parts: list[Array] = []
        begin = at = 0
        for row, places in enumerate(self.places.tolist()):
            for column, out in wanted:
                gap = places[column] - at
                if gap < 0:
                    return False  # the files do not follow one another
                if gap > len(between) or not parts:
                    raw.scatter(parts, begin)
                    parts, begin = [], places[column]
                elif gap:
                    parts.append(between[:gap])
                parts.append(out[row])
                at = places[column] + len(out[row])
        raw.scatter(parts, begin)
        return True


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
    if size:
        _pick(run, np.ascontiguousarray(starts, np.int64), len(starts), size, made)
    return made
