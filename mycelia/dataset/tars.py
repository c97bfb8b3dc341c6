"""Tar shards: an archive is walked once by machine code to find its samples, and its bytes are read in long runs."""

from __future__ import annotations

import mmap
import os
import tarfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.api.options import options
from mycelia.codegen.words import Bytes, Longs
from mycelia.dataset.errors import DataError
from mycelia.dataset.filedata import FileData, Files, Mode, listed
from mycelia.dataset.flow.buffers import room
from mycelia.dataset.flow.request import Row
from mycelia.dataset.lazy import lazy
from mycelia.dataset.samplers import Sampler, choose
from mycelia.dataset.sources import MappableDataset
from mycelia.mindrecord.limits import believed
from mycelia.runtime.routine import Routine
from mycelia.types import Array

BLOCK = 512
RUN = 1 << 22  # bytes that are read at once
GRAIN = 1 << 18  # of the memory for runs, which is used again
SMALL = 1 << 15  # a cell below this is copied, so that it does not keep a whole run in memory
UNUSUAL, CUT, DAMAGED = -1, -2, -3
MOST = 64  # endings of one archive


def same(data: Bytes, one: int, other: int, length: int) -> int:
    """Whether two pieces of text are equal."""
    for i in range(length):
        if data[one + i] != data[other + i]:
            return 0
    return 1


def walk(data: Bytes, size: int, places: Longs, sizes: Longs, endings: Longs, stems: Longs, known: Longs) -> int:
    """The plain files of an archive: how many, or why the walk ended early.

    For each, where it begins, its size, the number of its ending, and how long its stem is, negative if it goes on
    with the sample before. `known` gets the count of endings, and from place 2 on where each begins and its length.
    An entry that is no plain file or folder, or whose name is not simple, is unusual.
    """
    at, count, before, length = 0, 0, 0, 0
    known[0] = 0
    while at + BLOCK <= size:
        if data[at] == 0:
            return count  # the end: blocks of zeros
        total, told = 256, 0  # the checksum counts its own field as eight spaces
        for i in range(BLOCK):
            if i < 148 or i > 155:
                total += data[at + i]
        for i in range(148, 156):
            if data[at + i] > 47 and data[at + i] < 56:
                told = told * 8 + data[at + i] - 48
        if total != told:
            return DAMAGED
        length, digits = 0, 0
        for i in range(124, 136):
            byte = data[at + i]
            if byte > 47 and byte < 56:
                length = length * 8 + byte - 48
                digits += 1
            elif byte != 0 and byte != 32:
                return UNUSUAL
        kind = data[at + 156]
        if (kind != 0 and kind != 48 and kind != 53) or data[at + 345] != 0:
            return UNUSUAL
        if kind == 53 or digits == 0:
            length = 0
        if at + BLOCK + length > size:
            return CUT
        if kind != 53:
            dot, end = -1, 0
            while end < 100 and data[at + end] != 0:
                if data[at + end] > 127:
                    return UNUSUAL
                if data[at + end] == 47:
                    dot = -1
                elif data[at + end] == 46 and dot < 0:
                    dot = end
                end += 1
            if dot < 0:
                dot = end
            rest = end - dot - 1 if dot < end else 0
            number = 0
            while number < known[0]:
                place = known[2 + 2 * number]
                if known[3 + 2 * number] == rest and same(data, at + dot + 1, place, rest) != 0:
                    break
                number += 1
            if number == known[0]:
                if number == MOST:
                    return UNUSUAL
                known[2 + 2 * number] = at + dot + 1
                known[3 + 2 * number] = rest
                known[0] += 1
            places[count] = at + BLOCK
            sizes[count] = length
            endings[count] = number
            stems[count] = dot
            if count > 0 and dot == before and same(data, at, places[count - 1] - BLOCK, dot) != 0:
                stems[count] = -1 - dot
            before = dot
            count += 1
        at += BLOCK + (length + BLOCK - 1 >> 9 << 9)
    return count


_walk = Routine(walk, options)


@dataclass(frozen=True)
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
        return {self.words[e]: span for e, span in zip(self.endings[a:b].tolist(), spans, strict=True)}


def split(name: str) -> tuple[str, str]:
    """The stem and the ending of a file in an archive.

    >>> split("train/7.seg.png"), split("README")
    (('train/7', 'seg.png'), ('README', ''))
    """
    folder, _, last = name.rpartition("/")
    stem, _, ending = last.partition(".")
    return (f"{folder}/{stem}" if folder else stem), ending


def shard_of(path: str) -> Shard:
    """What an archive holds; a usual one is walked by machine code, any other by Python's own reader.

    >>> import io, tempfile
    >>> place = tempfile.mkdtemp() + "/a.tar"
    >>> with tarfile.open(place, "w") as tar:
    ...     for name in ("0.txt", "0.cls"): tar.addfile(tarfile.TarInfo(name))
    >>> shard_of(place).parts(0)
    {'txt': (512, 0), 'cls': (1024, 0)}
    """
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            data = np.frombuffer(mapped, np.uint8)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read a tar shard: {error}", given={"file": path}) from error
    most = max(1, size // BLOCK)
    places, sizes, endings, stems = (np.empty(most, np.int64) for _ in range(4))
    known = np.empty(2 + 2 * MOST, np.int64)
    count = _walk(data, size, places, sizes, endings, stems, known)
    if count == CUT:
        raise DataError("cannot read a tar shard: a file in it is cut short", given={"file": path})
    if count < 0 or (count == 0 and size):
        return _by_library(path)
    words = tuple(mapped[a : a + n].decode() for a, n in known[2 : 2 + 2 * int(known[0])].reshape(-1, 2).tolist())
    begins = np.flatnonzero(stems[:count] >= 0)
    keys = {
        bytes(data[p : p + n]) for p, n in zip((places[begins] - BLOCK).tolist(), stems[begins].tolist(), strict=True)
    }
    if len(keys) < len(begins):
        return _by_library(path)  # files of one sample lie apart
    kept = [a[:count].copy() for a in (places, sizes, endings)]
    return Shard(kept[0], kept[1], kept[2], words, np.append(begins, count), None)


def _by_library(path: str) -> Shard:
    names, places, sizes = [], [], []
    try:
        with tarfile.open(path, "r:") as tar:
            end = Path(path).stat().st_size
            for member in tar:
                if member.isfile() and member.sparse is None:
                    if not 0 <= member.size <= end - member.offset_data:
                        raise DataError("cannot read a tar shard: a file in it is cut short", given={"file": path})
                    names.append(member.name)
                    places.append(member.offset_data)
                    sizes.append(member.size)
    except DataError:
        raise
    except Exception as error:  # Python's reader does not foresee all that a damaged archive can hold
        raise DataError(f"cannot read a tar shard: {error}", given={"file": path}) from error
    made = _grouped(names, np.array(places, np.int64), np.array(sizes, np.int64))
    return Shard(made.places, made.sizes, made.endings, made.words, made.first, _keys(names))


def _keys(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(split(name)[0] for name in names))


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
    return Shard(places[order], sizes[order], endings[order], tuple(words), first, None)


class _Open(threading.local):
    """The shard that a thread reads from, and the run of bytes that it read last."""

    def __init__(self) -> None:
        self.number, self.file = -1, -1
        self.begin, self.run = 0, np.empty(0, np.uint8)

    def __del__(self) -> None:
        if self.file >= 0:
            os.close(self.file)


class TarData(FileData):
    """Samples of tar shards. A thread keeps the shard open that it read last, and reads the samples it is to make in
    one run of bytes.
    """

    def __init__(self, paths: Sequence[str], columns: Sequence[str] | None) -> None:
        super().__init__(paths)
        self.shards = [shard_of(p) for p in paths]
        first = next((s.parts(0) for s in self.shards if len(s)), {})
        self.columns = tuple(columns or ["__key__", *sorted(first)])
        self._begin()

    def _begin(self) -> None:
        self.opened = _Open()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "opened"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @lazy
    def sizes(self) -> list[int]:
        return [len(s) for s in self.shards]

    @lazy
    def layouts(self) -> list[list[int] | None]:
        """For each shard whose samples are all alike: where each column stands in a sample; -1 for the key."""
        return [shard.layout(self.columns) for shard in self.shards]

    def fetch(self, index: int) -> Row:
        file, row = self.place(index)
        shard, layout = self.shards[file], self.layouts[file]
        if layout is not None:
            first = row * shard.alike
            return tuple(
                self._part(file, int(shard.places[first + at]), int(shard.sizes[first + at]))
                if at >= 0
                else np.array(self._key(file, row))
                for at in layout
            )
        parts = shard.parts(row)
        absent = [c for c in self.columns if c != "__key__" and c not in parts]
        if absent:
            given = {"sample": self.where(index), "has": sorted(parts)}
            raise DataError(f"sample {self._key(file, row)!r} lacks {absent}", given=given)
        return tuple(
            np.array(self._key(file, row)) if c == "__key__" else self._part(file, *parts[c]) for c in self.columns
        )

    def _key(self, file: int, row: int) -> str:
        shard = self.shards[file]
        if shard.keys is not None:
            return shard.keys[row]
        name = self._bytes(file, int(shard.places[int(shard.first[row])]) - BLOCK, 100).tobytes()
        return split(name.partition(b"\0")[0].decode())[0]

    def ahead(self, indices: Array) -> None:
        """Read what the next rows need in one run, if they lie together."""
        first, last = int(indices[0]), int(indices[-1])
        if last - first != len(indices) - 1:
            return
        file, row = self.place(first)
        shard = self.shards[file]
        end = min(row + len(indices), len(shard))
        a, b = int(shard.first[row]), int(shard.first[end])
        begin = int(shard.places[a:b].min()) - BLOCK
        self._run(file, begin, min(RUN, int((shard.places[a:b] + shard.sizes[a:b]).max()) - begin))

    def _run(self, file: int, begin: int, size: int) -> Array:
        """Bytes of a shard, in memory of their own."""
        here = self.opened
        if here.number != file:
            if here.file >= 0:
                os.close(here.file)
            here.number, here.file = -1, -1
            here.file = os.open(self.paths[file], os.O_RDONLY | os.O_CLOEXEC)
            here.number = file
        believed(size, "a file in a tar shard", file=self.paths[file])
        whole = room((-(-size // GRAIN) * GRAIN,), np.dtype(np.uint8))[:size]
        at = 0
        while at < size:
            got = os.preadv(here.file, [whole[at:].data], begin + at)
            if not got:
                raise DataError("a tar shard is cut short", given={"file": self.paths[file], "offset": begin + at})
            at += got
        here.begin, here.run = begin, whole
        return whole

    def _bytes(self, file: int, begin: int, size: int) -> Array:
        here = self.opened
        start = begin - here.begin
        if here.number == file and start >= 0 and start + size <= len(here.run):
            return here.run[start : start + size]
        return self._run(file, begin, max(size, 1))[:size]

    def _part(self, file: int, begin: int, size: int) -> Array:
        found = self._bytes(file, begin, size)
        return found.copy() if size < SMALL or found.base is None else found


class WebDataset(MappableDataset):
    """Samples of tar shards, each column the bytes of one file: `7.jpg` and `7.cls` make columns `jpg` and `cls`."""

    def __init__(
        self,
        dataset_files: Files,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = None,
        sampler: Sampler | Iterable[int] | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        paths = listed(dataset_files, "WebDataset")
        data = TarData(paths, columns_list)
        order = choose(num_samples, sampler, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        told = {"dataset_files": paths, "columns_list": columns_list}
        super().__init__(data, order, workers=num_parallel_workers, arguments=told)
