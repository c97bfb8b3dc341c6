"""What a tar archive holds: its headers are walked by machine code, in memory or in windows of the file."""

from __future__ import annotations

import io
import logging
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mycelia.api.options import options
from mycelia.dataset.errors import DataError
from mycelia.dataset.lazy import lazy
from mycelia.frozen import frozen
from mycelia.mindrecord.filebytes import FileBytes
from mycelia.routines.words import Bytes, Longs, read, word
from mycelia.runtime.routine import Routine
from mycelia.types import Array

log = logging.getLogger("mycelia.dataset")
BLOCK = 512
WINDOW = 1 << 18  # bytes of a large archive that are looked at once; what lies behind a long file in it is skipped
STEP = 1 << 19  # bytes of a run that are looked through while they are in the cache
UNUSUAL, DAMAGED, CUT = -1, -2, -3
FIELDS = 4  # of a file: where its header is, its size, a mark of its stem, and the number of its ending
LONGEST = 1 << 20  # bytes of a header, with a name or other things that are told of a file
MOST = 64  # endings of one archive
KEEP = (1 << 48) - 1
FACTOR = 16381


def find_files(data: Bytes, begin: int, size: int, found: int, files: Longs, told: Longs, known: Longs) -> int:
    """The plain files whose headers are in some bytes of an archive: how many, or why it is not for this walk.

    The walk begins at a header, and some were found before. `told` gets where the next header would be, and whether
    the archive ends before. `known` holds how many endings there are, the mark of each, and where those stand that are
    new. An entry that is no plain file or folder, or whose name is not simple, is unusual. Stems and endings are told
    by marks of 48 bits.
    """
    at, count = begin, found
    while at + BLOCK <= size:
        if data[at] == 0:
            for i in range(BLOCK):
                if data[at + i] != 0:
                    return UNUSUAL  # a file without a name
            told[1] = 1  # blocks of zeros
            break
        total, stated = word(256), 0  # the checksum counts its own field as eight spaces
        for i in range(BLOCK):
            total += data[at + i]
        for i in range(148, 156):
            byte = data[at + i]
            total -= byte
            if byte > 47 and byte < 56:
                stated = stated * 8 + byte - 48
        if total != stated:
            return DAMAGED
        length, digits, ended = 0, 0, 0
        for i in range(124, 136):
            byte = data[at + i]
            if byte > 47 and byte < 56 and ended == 0:
                length = length * 8 + byte - 48
                digits += 1
            elif byte != 0 and byte != 32:
                return UNUSUAL  # a digit behind the end of a number, too: readers do not agree on what it means
            elif byte == 0 or digits > 0:
                ended = 1
        kind = data[at + 156]
        if (kind != 0 and kind != 48 and kind != 53) or data[at + 345] != 0:
            return UNUSUAL
        if kind == 53 or digits == 0:
            length = 0
        if kind != 53:
            dot, end, mark, stem = -1, 0, 7, 0
            while end < 100 and data[at + end] != 0:
                byte = data[at + end]
                if byte > 127:
                    return UNUSUAL
                if byte == 47 and dot >= 0:  # the dot was in the name of a folder: the stem goes on behind it
                    mark = 7
                    for i in range(end):
                        mark = ((mark * FACTOR) ^ data[at + i]) & KEEP
                    dot = -1
                if byte == 46 and dot < 0:
                    dot, stem, mark = end, mark, 7
                else:
                    mark = ((mark * FACTOR) ^ byte) & KEEP
                end += 1
            if dot < 0:
                dot, stem, mark = end - 1, mark, 7  # an empty ending: what lies behind the name is no part of it
            number = 0
            while number < known[0] and known[1 + number] != mark:
                number += 1
            if number == known[0]:
                if number == MOST:
                    return UNUSUAL
                known[1 + number] = mark
                known[1 + MOST + number] = at + dot + 1
                known[0] += 1
            place = count * FIELDS
            files[place] = at
            files[place + 1] = length
            files[place + 2] = stem
            files[place + 3] = number
            count += 1
        at += BLOCK + (length + BLOCK - 1 >> 9 << 9)
    told[0] = at
    return count


def read_files(file: int, begin: int, data: Bytes, size: int, files: Longs, told: Longs, known: Longs) -> int:
    """Read bytes of an archive, and find the files in those that have come while they are in the cache."""
    have, count = 0, 0
    while have < size:
        came = read(file, data, have, min(size - have, STEP), begin + have)
        if came < 1:
            return CUT
        have += came
        if told[1] == 0:
            count = find_files(data, told[0], have, count, files, told, known)
            if count < 0:
                return count
    return count


_find, _read = Routine(find_files, options), Routine(read_files, options)


@frozen
class Shard:
    """The samples of one archive: files with one stem belong together, and their endings name the columns."""

    places: Array  # where every file begins
    sizes: Array
    endings: Array  # the number of its ending
    words: tuple[str, ...]  # the endings
    first: Array  # the first file of every sample, and one more
    keys: tuple[str, ...] | None  # None: the names stand in the headers

    def __len__(self) -> int:
        return len(self.first) - 1

    @lazy
    def alike(self) -> int:
        """How many files every sample has, if all have the same endings in the same order; else 0."""
        counts = np.diff(self.first)
        if not len(counts) or (counts != counts[0]).any():
            return 0
        endings = self.endings.reshape(-1, int(counts[0]))
        return 0 if (endings != endings[0]).any() else int(counts[0])

    def layout(self, columns: Sequence[str]) -> list[int] | None:
        """Where in every sample the columns stand, if all samples are alike and have them; -1 for the key."""
        present = [self.words[e] for e in self.endings[: self.alike].tolist()]
        if not self.alike or any(c != "__key__" and present.count(c) != 1 for c in columns):
            return None
        return [-1 if c == "__key__" else present.index(c) for c in columns]

    def parts(self, sample: int) -> dict[str, tuple[int, int]]:
        """Where the files of a sample are, by ending."""
        a, b = self.first[sample : sample + 2].tolist()
        spans = zip(self.places[a:b].tolist(), self.sizes[a:b].tolist(), strict=True)
        parts = {self.words[e]: span for e, span in zip(self.endings[a:b].tolist(), spans, strict=True)}
        if len(parts) < b - a:
            endings = sorted(self.words[e] for e in self.endings[a:b].tolist())
            raise DataError(
                "a sample of a tar shard has two files with one ending",
                given={"sample": sample if self.keys is None else self.keys[sample], "endings": endings},
                hint="two shards that were joined may have the same names: write one with names of its own",
            )
        return parts


def split(name: str) -> tuple[str, str]:
    """The stem and the ending of a file in an archive.

    >>> split("train/7.seg.png"), split("README")
    (('train/7', 'seg.png'), ('README', ''))
    """
    folder, _, last = name.rpartition("/")
    stem, _, ending = last.partition(".")
    return (f"{folder}/{stem}" if folder else stem), ending


def joined(parts: Sequence[Shard]) -> Shard:
    """Samples that were found one after the other, as one shard; the last part knows all endings.

    >>> len(joined([]))
    0
    """
    if not parts:
        none = np.empty(0, np.int64)
        return Shard(none, none, none, (), np.zeros(1, np.int64), None)
    before = np.cumsum([0, *(len(p.places) for p in parts[:-1])])
    first = np.concatenate(
        [*(p.first[:-1] + n for p, n in zip(parts, before, strict=True)), [before[-1] + len(parts[-1].places)]]
    )
    places, sizes, endings = (np.concatenate([getattr(p, n) for p in parts]) for n in ("places", "sizes", "endings"))
    return Shard(places, sizes, endings, parts[-1].words, first, None)


def same(one: Shard, other: Shard, count: int) -> bool:
    """Whether the first samples of two shards are the same.

    >>> same(joined([]), joined([]), 0)
    True
    """
    files = int(one.first[count])
    return (
        np.array_equal(one.first[: count + 1], other.first[: count + 1])
        and np.array_equal(one.places[:files], other.places[:files])
        and np.array_equal(one.sizes[:files], other.sizes[:files])
    )


class Walk:
    """The files of an archive as they are found, stretch by stretch, in their order."""

    def __init__(self, path: str, size: int) -> None:
        self.path, self.size = path, size
        self.at = 0  # where the next header is
        self.ended = not size
        self.files = np.empty((0, FIELDS), np.int64)  # those that belong to no finished sample yet
        self.words: tuple[str, ...] = ()  # the endings
        self.told, self.known = np.zeros(2, np.int64), np.zeros(1 + 2 * MOST, np.int64)

    def step(self, data: Array) -> bool:
        """Find the files in some bytes, which begin at `at`; whether it is a usual archive so far."""
        table = self._table(data)
        return self._noted(_find(data, 0, len(data), 0, table.reshape(-1), self.told, self.known), table, data)

    def read(self, raw: FileBytes, place: Array) -> bool:
        """Fill a place with the bytes from `at` on and find the files in them; whether it is a usual archive so far."""
        table = self._table(place)
        count = _read(raw.file, self.at, place, len(place), table.reshape(-1), self.told, self.known)
        if count == CUT:
            raise DataError("cannot read a tar shard: a file in it is cut short", given={"file": self.path})
        return self._noted(count, table, place)

    def _table(self, data: Array) -> Array:
        """Room for all files that there can be in some bytes."""
        self.told[:] = 0
        return np.empty((max(1, len(data) // BLOCK), FIELDS), np.int64)

    def _noted(self, count: int, table: Array, data: Array) -> bool:
        if count < 0:
            return False
        for at in self.known[1 + MOST + len(self.words) :][: int(self.known[0]) - len(self.words)].tolist():
            header = int(table[np.searchsorted(table[:count, 0], at, side="right") - 1, 0])
            self.words += (data[at : header + 100].tobytes().partition(b"\0")[0].decode(),)
        table = table[:count]
        table[:, 0] += self.at
        self.files = np.concatenate([self.files, table]) if len(self.files) else table
        if count and int(table[-1, 0] + BLOCK + table[-1, 1]) > self.size:
            raise DataError("cannot read a tar shard: a file in it is cut short", given={"file": self.path})
        self.at += int(self.told[0])
        self.ended = bool(self.told[1]) or not self.told[0] or self.at >= self.size
        if self.ended and not self.told[1]:
            log.warning("a tar shard does not end as archives do; samples may have been cut off: %s", self.path)
        return True

    def finished(self) -> tuple[Shard, Array]:
        """The samples that are whole, and the marks of their stems; the last one may go on until the archive ends."""
        files, stems = self.files, self.files[:, 2]
        begins = np.flatnonzero(np.append(True, stems[1:] != stems[:-1])[: len(files)])
        if not self.ended and len(begins):
            begins, last = begins[:-1], int(begins[-1])
            files, self.files = files[:last], files[last:]
        else:
            self.files = self.files[:0]
        endings, first = files[:, 3].astype(np.int32), np.append(begins, len(files))
        shard = Shard(files[:, 0] + BLOCK, files[:, 1].copy(), endings, self.words, first, None)
        return shard, stems[begins]


def shard_of(raw: FileBytes) -> Shard:
    """What an archive holds: a usual one is walked by machine code, any other by Python's own reader.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/a.tar"
    >>> with tarfile.open(place, "w") as tar:
    ...     for name in ("0.txt", "0.cls"): tar.addfile(tarfile.TarInfo(name))
    >>> shard_of(FileBytes(place)).parts(0)
    {'txt': (512, 0), 'cls': (1024, 0)}
    """
    walk = Walk(raw.path, len(raw))
    while not walk.ended:
        if not walk.step(np.frombuffer(raw[walk.at : walk.at + WINDOW], np.uint8)):
            return by_library(raw.path)
    found, stems = walk.finished()
    apart = len(np.unique(stems)) < len(stems)  # files of one sample
    return by_library(raw.path) if apart or (not len(found) and len(raw)) else found


class _Headers(io.BufferedReader):
    """A file of which only headers are read: nobody may ask for more at once than a header can have."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= LONGEST:
            raise DataError("cannot read a tar shard: a header in it has no believable length", given={"length": size})
        return super().read(size)


def by_library(path: str) -> Shard:
    """What an archive holds, by Python's own reader, which knows every kind.

    >>> by_library("nowhere.tar")
    Traceback (most recent call last):
    mycelia.dataset.errors.DataError: cannot read a tar shard: [Errno 2] No such file or directory: 'nowhere.tar'
    ...
    """
    names, places, sizes = [], [], []
    try:
        with _Headers(io.FileIO(path)) as raw, tarfile.open(fileobj=raw, mode="r:") as tar:
            end = Path(path).stat().st_size
            for member in tar:
                if member.sparse is not None or any(k.startswith("GNU.sparse") for k in member.pax_headers):
                    raise DataError(
                        "cannot read a tar shard: a file in it is sparse",
                        given={"file": path, "member": member.name},
                        hint="pack it without --sparse",
                    )
                if member.isfile():
                    if not 0 <= member.size <= end - member.offset_data:
                        raise DataError("cannot read a tar shard: a file in it is cut short", given={"file": path})
                    names.append(member.name)
                    places.append(member.offset_data)
                    sizes.append(member.size)
    except DataError:
        raise
    except Exception as error:  # Python's reader does not foresee all that a damaged archive can hold
        reason = str(error) or type(error).__name__
        raise DataError(f"cannot read a tar shard: {reason}", given={"file": path}) from error
    return _grouped(names, np.array(places, np.int64), np.array(sizes, np.int64))


def _grouped(names: Sequence[str], places: Array, sizes: Array) -> Shard:
    """The files of an archive put together to samples; those of one sample may lie apart."""
    parts = [split(name) for name in names]
    groups: dict[str, list[int]] = {}
    for i, (stem, _) in enumerate(parts):
        groups.setdefault(stem, []).append(i)
    words: dict[str, int] = {}
    endings = np.array([words.setdefault(ending, len(words)) for _, ending in parts], np.int32)
    order = np.array([i for group in groups.values() for i in group], np.int64)
    first = np.concatenate([[0], np.cumsum([len(g) for g in groups.values()])]).astype(np.int64)
    return Shard(places[order], sizes[order], endings[order], tuple(words), first, tuple(groups))
