"""Tar shards: each is read once, while its samples are found, and the samples are pieces of what was read."""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any
from weakref import WeakSet

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Row
from mycelia.dataset.lazy import lazy
from mycelia.dataset.remote import addressed, local
from mycelia.dataset.sources.archives import BLOCK, WINDOW, Shard, Walk, by_library, joined, same, shard_of
from mycelia.dataset.sources.columnfiles import ColumnFiles
from mycelia.dataset.sources.filedata import FileData
from mycelia.dataset.sources.tarpieces import LARGE, RUN, Archive, TarPiece, space, stem
from mycelia.mindrecord.limits import believed
from mycelia.types import Array

HELD = 1 << 28  # bytes of pieces that are kept for those who ask for their rows
AHEAD = 2 * RUN  # bytes that a thread reads beyond what was asked for
COMING = 3  # runs that are read ahead
MANY = 16  # pieces that it reads beyond, where they are short
MEMORY = 2.5e9  # bytes in a second: what comes slower comes from a disk
LINGER = 0.05  # seconds that it waits for somebody to ask for more
OPEN = 16  # shards that are open at once

_fronts: WeakSet[Front] = WeakSet()


class Front:
    """How far the shards were read from the first one on: their pieces, and the shard that is being walked."""

    def __init__(self) -> None:
        self.pieces: list[TarPiece] = []
        self.ends: list[int] = []  # the rows up to the end of every piece
        self.file = 0
        self.lock = threading.Condition()
        self.wanted = 0  # rows that somebody waits for
        self.reader: threading.Thread | None = None  # advances while it lives; it alone does
        self.error: Exception | None = None  # that the reader met
        self.failed = False  # whether rows were given that are none: no more are
        self.held: deque[TarPiece] = deque()  # those whose bytes are kept
        self.place = np.empty(RUN, np.uint8)  # for bytes that are only looked at
        self.hands = Hands()
        self.coming: deque[Coming] = deque()  # the runs that are read meanwhile
        self.weight = 0.0  # bytes of a sample, as the last piece had them
        self.begin()
        _fronts.add(self)

    def begin(self) -> None:
        """Stand at the beginning of a shard."""
        self.walk: Walk | None = None
        self.expected = 0  # up to where the system was asked to read on
        self.parts: list[Shard] = []
        self.stems = np.empty(0, np.int64)

    @property
    def rows(self) -> int:
        """How many rows were found."""
        return self.ends[-1] if self.ends else 0

    @property
    def given(self) -> list[TarPiece]:
        """The pieces of the shard that is being walked."""
        return self.pieces[len(self.pieces) - len(self.parts) :]

    def add(self, piece: TarPiece) -> None:
        """Take in a piece, and let go of those that are far behind."""
        if not piece.count:
            return
        self.pieces.append(piece)
        self.ends.append(self.rows + piece.count)
        if piece.run is not None:
            self.held.append(piece)
        while self.held and not self.held[0].held:
            self.held.popleft()
        while sum(p.held for p in self.held) > HELD and len(self.held) > 1:
            self.held.popleft().let_go()

    def known(self, stems: Array) -> bool:
        """Whether a sample of this shard was met before; these are noted."""
        self.stems = np.concatenate([self.stems, stems])
        in_order = np.sort(self.stems)
        return bool((in_order[1:] == in_order[:-1]).any())


def _anew() -> None:
    """In a forked process: threads that were reading or held a lock were not copied, so that reading begins anew."""
    for front in list(_fronts):
        front.__init__()  # type: ignore[misc]  # as if it had just been made


os.register_at_fork(after_in_child=_anew)


class Hands:
    """Threads that read, as many as are needed at once; one that has waited a while for more ends."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.tasks: deque[Callable[[], None]] = deque()
        self.idle = 0

    def take(self, task: Callable[[], None]) -> None:
        """Have something done."""
        with self.lock:
            self.tasks.append(task)
            if self.idle >= len(self.tasks):
                self.lock.notify()
                return
        threading.Thread(target=self._work, name="mycelia-data-run", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self.lock:
                self.idle += 1
                self.lock.wait_for(lambda: self.tasks, LINGER)
                self.idle -= 1
                if not self.tasks:
                    return
                task = self.tasks.popleft()
            task()
            del task  # it holds what it has read


class Coming:
    """The run that follows another one, read by another thread while the headers of the first are found.

    Before it there is room for what is left of the first: the sample that is not whole there. The first run of a shard
    has no such, and its headers are found by the thread that reads it.
    """

    def __init__(self, file: int, raw: Archive, begin: int, before: Array, hands: Hands) -> None:
        self.file, self.raw, self.begin, self.before = file, raw, begin, before
        self.end = min(begin + RUN, len(raw))
        self.head = min(RUN >> 3, len(before)) if begin else 0
        self.walk: Walk | None = None
        self.usual = True
        self.error: Exception | None = None
        self.place = space(self.head + self.end - begin)
        self.there = threading.Event()
        hands.take(self._read)

    def _read(self) -> None:
        try:
            if self.begin:
                self.raw.fill(self.place[self.head :], self.begin)
            elif len(self.place):
                walk = Walk(self.raw.path, len(self.raw))
                self.usual = walk.read(self.raw, self.place)
                self.walk = walk
        except Exception as error:
            self.error = error
        self.there.set()

    def taken(self, raw: Archive, begin: int) -> Array | None:
        """The run from a place on; None when it is not the one that came, or could not be read."""
        self.there.wait()
        left = self.begin - begin  # bytes of the first run that belong to it
        if raw is not self.raw or self.error is not None or not 0 <= left <= self.head or not len(self.place):
            return None
        if left:
            self.place[self.head - left : self.head] = self.before[len(self.before) - left :]
        return self.place[self.head - left :]


class TarData(FileData):
    """Samples of tar shards. What a shard holds is found when its rows are first asked for."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str] | None) -> None:
        super().__init__(paths)
        self.found: dict[int, Shard] = {}  # shards that were looked through
        self.placed: dict[int, str] = {}
        self._begin()
        self.columns = tuple(columns or ["__key__", *self._endings()])

    def _begin(self) -> None:
        self.front = Front()
        self.files: dict[int, Archive] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("front", "files")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _endings(self) -> list[str]:
        first = next((s for s in map(self.shard, range(len(self.paths))) if len(s)), None)
        return [] if first is None else sorted(first.parts(0))

    @property
    def at_hand(self) -> bool:
        """Whether rows that were reached are in memory."""
        return self.front.weight < LARGE

    def opened(self, file: int) -> Archive:
        """The bytes of a shard."""
        raw = self.files.get(file)
        if raw is None:
            try:
                raw = Archive(self._placed(file))
            except OSError as error:
                raise DataError(f"cannot read a tar shard: {error}", given={"file": self.paths[file]}) from error
            for other in list(self.files)[:-OPEN]:
                self.files.pop(other, None)
            self.files[file] = raw
        return raw

    def _placed(self, file: int) -> str:
        """Where a shard lies on this machine; one behind an address is asked for once, for worker processes too."""
        place = self.placed.get(file)
        if place is None or not Path(place).exists():
            place = self.placed[file] = local(self.paths[file])
        return place

    # from the first row on

    def reach(self, end: int) -> int:
        """The smaller of `end` and the number of rows; little more is read than that takes, by threads meanwhile.

        Whoever asks finds the samples in what threads have read: to be woken by another who did would take longer.
        Large samples are not read here, but looked for, by a thread that goes ahead.
        """
        front, files = self.front, len(self.paths)
        if front.rows < end and front.weight < LARGE:
            with front.lock:
                while front.rows < end and front.file < files and front.weight < LARGE and front.reader is None:
                    self._advance(front)
        if front.weight < LARGE and front.reader is None:
            return min(end, front.rows)
        if front.file < files and front.rows < end + (front.pieces[-1].count if front.pieces else 1):
            with front.lock:
                if end > front.wanted:
                    front.wanted = end
                    front.lock.notify_all()
                self._go_on(front)
                while front.rows < end and front.file < files:
                    front.lock.wait()
                    if front.rows < end and front.error is not None:
                        error, front.error = front.error, None  # who asks again will try again
                        front.wanted = front.rows
                        raise error
                    self._go_on(front)
        return min(end, front.rows)

    def _go_on(self, front: Front) -> None:
        """See that a thread reads on; the lock is held."""
        if front.reader is None and front.file < len(self.paths):
            front.error = None
            front.reader = threading.Thread(target=self._ahead, args=(front,), name="mycelia-data-shards")
            front.reader.start()

    def _ahead(self, front: Front) -> None:
        """Read on, beyond what was asked for too, and end."""
        error = None
        try:
            while front.file < len(self.paths) and self._waited(front):
                self._advance(front)
                with front.lock:
                    front.lock.notify_all()
        except Exception as met:  # whoever needs those rows will hear of it
            error = met
        with front.lock:
            if front.reader is threading.current_thread():
                front.reader, front.error = None, error
            front.lock.notify_all()

    def _waited(self, front: Front) -> bool:
        """Whether more is to be read, perhaps after a while; otherwise the reader is told that it is none any more."""
        with front.lock:
            if not front.lock.wait_for(lambda: self._wanting(front), LINGER):
                front.reader = None
            return front.reader is not None

    def _wanting(self, front: Front) -> bool:
        """Whether less was read than somebody waits for, or so little beyond that more should be."""
        beyond = bisect_right(front.ends, front.wanted)  # the first piece that holds rows nobody has asked for
        more = front.pieces[beyond:]
        return front.rows < front.wanted or (len(more) < MANY and sum(p.held for p in more) < AHEAD)

    def _advance(self, front: Front) -> None:
        """Read the next run of bytes, and find the samples in it."""
        file = front.file
        if front.failed:
            raise self._lies_apart(file)
        if front.walk is None and file in self.found:
            shard = self.found[file]
            front.add(TarPiece(file, shard, 0, len(shard), 0, 0, None))
            front.file += 1
            return
        raw = self.opened(file)
        walk, since = front.walk or Walk(raw.path, len(raw)), perf_counter()
        start = walk.at
        if front.weight >= LARGE:
            begin, run, usual = _skimmed(walk, raw, front.place)
        else:
            begin, run, walk, usual = self._read(front, walk, raw)
        front.walk = walk
        if walk.at - start < (perf_counter() - since) * MEMORY:
            self._expect(front, walk.at + AHEAD)
        if usual:
            shard, stems = walk.finished()
            usual = not front.known(stems)
            if usual and not walk.ended and len(shard) and shard.layout(self.columns) is None:
                self._finish(front, shard_of(raw))  # what a sample lacks may come later
                return
            if len(shard) and usual:
                row = sum(map(len, front.parts))
                front.parts.append(shard)
                front.weight = int(shard.places[-1] + shard.sizes[-1] - shard.places[0]) / len(shard)
                front.add(TarPiece(file, shard, 0, len(shard), row, begin, run))
            if usual and not walk.ended:
                return
            usual = usual and bool(front.parts or not len(raw))
        whole = front.parts[0] if len(front.parts) == 1 else joined(front.parts)
        self._finish(front, whole if usual else by_library(raw.path))

    def _read(self, front: Front, walk: Walk, raw: Archive) -> tuple[int, Array, Walk, bool]:
        """The next run of a shard: where it begins, its bytes, the walk behind it, and whether it is usual so far."""
        begin = int(walk.files[0, 0]) if len(walk.files) else walk.at  # the sample that is not whole yet
        if walk.at - begin > RUN - BLOCK:
            begin = walk.at
        came = front.coming.popleft() if front.coming else None
        run = None if came is None else came.taken(raw, begin)
        found, usual = (None, True) if came is None or run is None else (came.walk, came.usual)
        if run is None:
            front.coming.clear()
            size = RUN if begin < walk.at or not len(walk.files) else WINDOW
            run = raw.fill(space(min(size, len(raw) - begin)), begin)
        last = front.coming[-1] if front.coming else None
        file, end, before = (front.file, begin + len(run), run) if last is None else (last.file, last.end, last.place)
        while len(front.coming) < COMING:
            if end == len(self.opened(file)):
                file, end = file + 1, 0
            if file == len(self.paths) or file in self.found or addressed(self.paths[file]):
                break
            try:
                front.coming.append(Coming(file, self.opened(file), end, before, front.hands))
            except DataError:
                break  # who reads it will hear of it
            end, before = front.coming[-1].end, front.coming[-1].place
        if found is not None:
            return begin, run, found, usual
        return begin, run, walk, walk.ended or walk.step(run[walk.at - begin :])

    def _expect(self, front: Front, end: int) -> None:
        """Have the system read on from a slow disk, into the next shard too, while samples are found and given out."""
        raw = self.opened(front.file)
        raw.expect(max(front.expected, end - AHEAD), end - max(front.expected, end - AHEAD))
        front.expected = end
        if end > len(raw) and front.file + 1 < len(self.paths) and not addressed(self.paths[front.file + 1]):
            with suppress(DataError):  # who reads it will hear of it
                self.opened(front.file + 1).expect(0, end - len(raw))

    def _finish(self, front: Front, shard: Shard) -> None:
        """Note what a shard holds when all of it was seen; Python's reader may have found other samples."""
        given, rows = front.given, sum(map(len, front.parts))
        known = any(shard is part for part in front.parts)
        if not known and (len(shard) < rows or not same(joined(front.parts), shard, rows)):
            front.failed = True
            raise self._lies_apart(front.file)
        self.found[front.file] = shard
        for piece in given:
            piece.index = (shard, piece.row)
        front.add(TarPiece(front.file, shard, rows, len(shard) - rows, rows, 0, None))
        front.file += 1
        front.begin()

    def _lies_apart(self, file: int) -> DataError:
        return DataError(
            "files of one sample lie apart in a tar shard, and some of its samples were given before that was seen",
            given={"file": self.paths[file]},
            hint="ask for get_dataset_size() first, which looks through all shards; or write the shard in order",
        )

    # by number

    def shard(self, file: int) -> Shard:
        """What a shard holds."""
        found = self.found.get(file)
        return self.found.setdefault(file, shard_of(self.opened(file))) if found is None else found

    @lazy
    def sizes(self) -> list[int]:
        return [len(self.shard(file)) for file in range(len(self.paths))]

    def piece(self, index: int) -> tuple[TarPiece, int]:
        """The piece that a row is in, and its number there."""
        front = self.front
        if index < front.rows:
            at = bisect_right(front.ends, index)
            return front.pieces[at], index - (front.ends[at - 1] if at else 0)
        file, row = super().place(index)
        shard = self.shard(file)
        return TarPiece(file, shard, 0, len(shard), 0, 0, None), row

    def place(self, index: int) -> tuple[int, int]:
        piece, row = self.piece(index)
        return piece.file, piece.row + row

    def fetch(self, index: int) -> Row:
        piece, row = self.piece(index)
        shard, start = piece.index
        parts = shard.parts(start + row)
        absent = [c for c in self.columns if c != "__key__" and c not in parts]
        if absent:
            given = {"sample": self.where(index), "has": sorted(parts)}
            raise DataError(f"sample {self._key(piece, row)!r} lacks {absent}", given=given)
        return tuple(
            np.array(self._key(piece, row)) if c == "__key__" else self._bytes(piece, row, *parts[c])
            for c in self.columns
        )

    def _key(self, piece: TarPiece, row: int) -> str:
        shard, start = piece.index
        if shard.keys is not None:
            return shard.keys[start + row]
        return stem(self._bytes(piece, row, int(shard.places[int(shard.first[start + row])]) - BLOCK, 100))

    def _bytes(self, piece: TarPiece, row: int, begin: int, size: int) -> Array:
        """Some bytes of a row, in memory of their own."""
        believed(size, "a file in a tar shard", file=self.paths[piece.file])
        run = piece.clean(row, row + 1)
        if run is not None and piece.base <= begin <= begin + size <= piece.base + len(run):
            return run[begin - piece.base : begin - piece.base + size].copy()
        return self.opened(piece.file).fill(np.empty(size, np.uint8), begin)

    # many at once

    def _spans(self, indices: Array) -> Iterator[tuple[TarPiece, int, int]]:
        """Rows that follow one another: pieces, and which rows of each."""
        first, left = int(indices[0]), len(indices)
        if int(indices[-1]) - first != left - 1 or (left > 2 and (np.diff(indices) != 1).any()):
            return
        while left:
            piece, row = self.piece(first)
            count = min(left, piece.count - row)
            yield piece, row, row + count
            first, left = first + count, left - count

    def bulk(self, indices: Array) -> list[Row] | None:
        """Rows that lie together, cut out of the runs they are in; None when they must be read one by one."""
        rows: list[Row] = []
        for piece, a, b in self._spans(indices):
            some = piece.some(a, b, self.columns, self.opened(piece.file))
            if some is None:
                return None
            rows += some
            piece.served(b - a)
        return rows or None

    def gather(self, indices: Array) -> Row | None:
        """Rows that follow one another as one array for each column, when all are equally long."""
        if len(indices) < 2:
            return None
        spans = list(self._spans(indices))
        if len(spans) == 1:
            lines = self._lines(*spans[0])
            if lines is not None:
                return lines
        found = [piece.spots(a, b, self.columns) for piece, a, b in spans]
        sizes = [None if spots is None else spots.even() for spots in found]
        if not sizes or sizes[0] is None or any(s != sizes[0] for s in sizes):
            return None
        outs = [space(len(indices) * size).reshape(len(indices), size) for size in sizes[0]]
        row = 0
        for (piece, a, b), spots in zip(spans, found, strict=True):
            parts = [out[row : row + b - a] for out in outs]
            if spots is None or not spots.stack(parts, self.opened(piece.file), piece.base, piece.clean(a, b)):
                return None
            piece.served(b - a)
            row += b - a
        return tuple(outs)

    def _lines(self, piece: TarPiece, a: int, b: int) -> Row | None:
        """Rows at equal distances as parts of their run, for one who asks first."""
        lines = piece.lines(self.columns)
        if lines is None or not piece.claim(a, b):
            return None
        piece.served(b - a)
        return tuple(line[a:b] for line in lines)


def _skimmed(walk: Walk, raw: Archive, place: Array) -> tuple[int, None, bool]:
    """Look for the next headers of a shard with large files, whose bytes are read again by those who ask for them."""
    run = raw.fill(place[: len(raw) - walk.at], walk.at)
    return 0, None, walk.ended or walk.step(run)


class WebDataset(ColumnFiles):
    """Samples of tar shards, each column the bytes of one file: `7.jpg` and `7.cls` make columns `jpg` and `cls`."""

    later = True

    def open(self, paths: Sequence[str], columns: Sequence[str] | None) -> TarData:
        return TarData(paths, columns)
