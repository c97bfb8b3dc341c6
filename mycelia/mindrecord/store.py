"""The records of our own files, where they lie in memory: one by its number, a batch of them in one gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.layout import START, WORD, Column, Header, checksums, footer
from mycelia.mindrecord.limits import believed
from mycelia.types import Array


class Store(Protocol):
    """The records of a file, whoever wrote it."""

    header: Header
    offsets: Array

    def record(self, index: int) -> dict[str, Any]:
        """A record by its number."""

    def gather(self, indices: Array, columns: Sequence[Column]) -> list[Array] | None:
        """Columns of many records at once, stacked; None when they must be read one by one."""


class OwnStore:
    """The records of a file of ours."""

    def __init__(self, raw: memoryview, path: str) -> None:
        self.raw, self.path = raw, path
        self.begin, self.header = footer(raw, path)
        rows, parts = self.header.rows, self.header.parts
        varying = sum(c.varies for c in self.header.columns)
        self.offsets = np.frombuffer(raw, np.uint64, rows, parts["offsets"])
        self.sums = np.frombuffer(raw, np.uint64, rows, parts["sums"])
        self.lengths = np.frombuffer(raw, np.uint32, rows * varying, parts["lengths"]).reshape(rows, varying)
        self._matrix = self._uniform()

    def _uniform(self) -> Array | None:
        """All records as one matrix of words, when they are equally long in every column."""
        rows = self.header.rows
        if not rows or not (self.lengths == self.lengths[:1]).all():
            return None
        words = (self.begin - START) // WORD // rows
        return np.frombuffer(self.raw, np.uint64, words * rows, START).reshape(rows, words)

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
        record = np.frombuffer(self.raw, np.uint64, words, int(self.offsets[index]))
        if int(checksums(record[None])[0]) != int(self.sums[index]):
            raise self._damaged(index)
        raw = record.view(np.uint8)
        return {c.name: c.unpack(raw[a:b]) for c, (a, b) in zip(self.header.columns, spans, strict=True)}

    def _damaged(self, index: int) -> RecordError:
        return RecordError(
            "a record is damaged: its checksum does not fit",
            given={"file": self.path, "record": index, "offset": int(self.offsets[index])},
            hint="write the file again, or leave bad samples out with config.set_error_samples_mode",
        )

    def gather(self, indices: Array, columns: Sequence[Column]) -> list[Array] | None:
        """Columns of many records at once, stacked; None when records are not alike, or a column is text."""
        if self._matrix is None or any(c.type == "string" for c in columns):
            return None
        block = self._matrix.take(indices, axis=0)
        bad = np.flatnonzero(checksums(block) != self.sums[indices])
        if len(bad):
            raise self._damaged(int(indices[bad[0]]))
        raw = block.view(np.uint8)
        spans = dict(zip((c.name for c in self.header.columns), self._spans(self.lengths[0]), strict=True))
        out = []
        for column in columns:
            a, b = spans[column.name]
            piece = np.ascontiguousarray(raw[:, a:b]).view(column.dtype)
            inner = () if column.shape is None and column.type != "bytes" else column.shape or (-1,)
            out.append(piece.reshape(len(indices), *inner))
        return out
