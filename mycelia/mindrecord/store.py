"""The records of our own files: one by its number, a batch of them in one gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from mycelia.mindrecord.batches import gathered
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.filebytes import BytesInMemory, FileBytes
from mycelia.mindrecord.layout import START, WORD, Column, Header, checksums, footer
from mycelia.mindrecord.limits import believed
from mycelia.types import Array


class RecordStore(Protocol):
    """The records of a file, whoever wrote it."""

    header: Header
    offsets: Array

    def record(self, index: int) -> dict[str, Any]:
        """A record by its number."""

    def gather(self, indices: Array, columns: Sequence[Column]) -> list[Array] | None:
        """Columns of many records at once, stacked; None when they must be read one by one."""


class OwnStore:
    """The records of a file of ours."""

    def __init__(self, raw: FileBytes | BytesInMemory, path: str) -> None:
        self.raw, self.path = raw, path
        self.begin, self.header = footer(raw, path)
        rows = self.header.rows
        varying = sum(c.varies for c in self.header.columns)
        self.offsets = self._index("offsets", np.uint64, rows)
        self.sums = self._index("sums", np.uint64, rows)
        self.lengths = self._index("lengths", np.uint32, rows * varying).reshape(rows, varying)
        self.words = self._uniform()

    def _index(self, name: str, dtype: type[np.generic], count: int) -> Array:
        begin, size = self.header.parts.get(name, -1), count * np.dtype(dtype).itemsize
        if not self.begin <= begin <= begin + size <= len(self.raw):
            raise RecordError("the index of a record file is damaged", given={"file": self.path, "part": name})
        return np.frombuffer(self.raw[begin : begin + size], dtype)

    def _uniform(self) -> int:
        """How many words every record has, when they are equally long in every column; else 0."""
        rows = self.header.rows
        if not rows or not self.header.columns or not (self.lengths == self.lengths[:1]).all():
            return 0
        words = (self.begin - START) // WORD // rows
        fits = words and self._spans(self.lengths[0])[-1][1] <= words * WORD
        lined = np.array_equal(self.offsets, START + np.arange(rows, dtype=np.uint64) * np.uint64(words * WORD))
        return words if fits and lined else 0

    def _spans(self, lengths: Array) -> list[tuple[int, int]]:
        """Where the columns of a record begin and end."""
        spans, at, varying = [], 0, iter(lengths.tolist())
        for column in self.header.columns:
            size = believed(next(varying) if column.varies else column.bytes, "a record", file=self.path)
            spans.append((at, at + size))
            at += size
        return spans

    def record(self, index: int) -> dict[str, Any]:
        """A record, checked against its sum."""
        spans = self._spans(self.lengths[index])
        words = -(-spans[-1][1] // WORD) if spans else 0
        begin = int(self.offsets[index])
        record = np.frombuffer(self.raw[begin : begin + words * WORD], np.uint8)
        if len(record) != words * WORD or int(checksums(record.view(np.uint64)[None])[0]) != int(self.sums[index]):
            raise self._damaged(index)
        try:
            return {c.name: c.unpack(record[a:b]) for c, (a, b) in zip(self.header.columns, spans, strict=True)}
        except (ValueError, OverflowError) as error:
            raise self._damaged(index, str(error)) from error

    def _damaged(self, index: int, reason: str = "its checksum does not fit") -> RecordError:
        return RecordError(
            f"a record is damaged: {reason}",
            given={"file": self.path, "record": index, "offset": int(self.offsets[index])},
            hint="write the file again, or leave bad samples out with config.set_error_samples_mode",
        )

    def gather(self, indices: Array, columns: Sequence[Column]) -> list[Array] | None:
        """Columns of many records at once, stacked; None when records are not alike, or a column is text."""
        if not self.words or any(c.type == "string" for c in columns):
            return None
        spans = dict(zip((c.name for c in self.header.columns), self._spans(self.lengths[0]), strict=True))
        chosen = [spans[c.name] for c in columns]
        if isinstance(self.raw, FileBytes):
            made = gathered(self.raw.file, indices, self.words, chosen, self.sums)
            if made is not None:
                return [_shaped(whole, column) for whole, column in zip(made, columns, strict=True)]
        out = [np.empty((len(indices), b - a), np.uint8) for a, b in chosen]
        sums = self.sums[indices]
        for some, block in self.raw.rows(START + indices * (self.words * WORD), self.words * WORD):
            bad = np.flatnonzero(checksums(block.view(np.uint64)) != sums[some])
            if len(bad):
                raise self._damaged(int(indices[some][bad[0]]))
            for whole, (a, b) in zip(out, chosen, strict=True):
                whole[some] = block[:, a:b]
        return [_shaped(whole, column) for whole, column in zip(out, columns, strict=True)]


def _shaped(whole: Array, column: Column) -> Array:
    inner = () if column.shape is None and column.type != "bytes" else column.shape or (-1,)
    typed = whole != 0 if column.dtype == np.bool_ else whole.view(column.dtype)
    return typed.reshape(len(whole), *inner)
