"""Reading record files: mapped into memory, a record by its number, a batch of them in one gather."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.mindrecord import crypt
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.layout import START, WORD, Column, checksums, footer
from mycelia.types import Array


class RecordFile:
    """The records of one file, by number. It is mapped, not read: opening costs only its index.

    >>> import tempfile
    >>> from mycelia.mindrecord.writer import FileWriter
    >>> place = tempfile.mkdtemp() + "/a"
    >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}}); w.write_raw_data([{"x": 5}]); w.commit()
    >>> int(RecordFile(place)[0]["x"])
    5
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            with Path(path).open("rb") as file:
                self.raw: Any = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError) as error:
            raise RecordError(f"cannot open a record file: {error}", given={"file": self.path}) from error
        self.raw = crypt.decrypted(self.raw, self.path)
        self.begin, self.header = footer(self.raw, self.path)
        rows, parts = self.header.rows, self.header.parts
        self.varying = [c.name for c in self.header.columns if c.varies]
        self.offsets = np.frombuffer(self.raw, np.uint64, rows, parts["offsets"])
        self.sums = np.frombuffer(self.raw, np.uint64, rows, parts["sums"])
        flat = np.frombuffer(self.raw, np.uint32, rows * len(self.varying), parts["lengths"])
        self.lengths = flat.reshape(rows, len(self.varying))
        self._matrix = self._uniform()

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordFile, (self.path,)

    def __len__(self) -> int:
        return self.header.rows

    def _uniform(self) -> Array | None:
        """All records as one matrix of words, when they are equally long in every column."""
        if not len(self) or not (self.lengths == self.lengths[:1]).all():
            return None
        words = (self.begin - START) // WORD // len(self)
        return np.frombuffer(self.raw, np.uint64, words * len(self), START).reshape(len(self), words)

    def _spans(self, lengths: Array) -> list[tuple[int, int]]:
        """Where the columns of a record begin and end."""
        spans, at, varying = [], 0, iter(lengths.tolist())
        for column in self.header.columns:
            size = next(varying) if column.varies else column.bytes
            spans.append((at, at + size))
            at += size
        return spans

    def column(self, name: str) -> Column:
        """A column by name."""
        for column in self.header.columns:
            if column.name == name:
                return column
        names = [c.name for c in self.header.columns]
        raise ArgumentError(f"a record file has no column {name!r}", given={"file": self.path, "columns": names})

    def __getitem__(self, index: int) -> dict[str, Any]:
        """A record, checked against its sum."""
        if not 0 <= index < len(self):
            raise IndexError(f"record {index} of {len(self)} in {self.path}")
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

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(len(self)))

    def gather(self, indices: Array, names: Sequence[str]) -> list[Array] | None:
        """Columns of many records at once, stacked; None when records are not alike, or a column is text."""
        wanted = [self.column(n) for n in names]
        if self._matrix is None or any(c.type == "string" for c in wanted):
            return None
        block = self._matrix.take(indices, axis=0)
        bad = np.flatnonzero(checksums(block) != self.sums[indices])
        if len(bad):
            raise self._damaged(int(indices[bad[0]]))
        raw = block.view(np.uint8)
        spans = dict(zip((c.name for c in self.header.columns), self._spans(self.lengths[0]), strict=True))
        out = []
        for column in wanted:
            a, b = spans[column.name]
            piece = np.ascontiguousarray(raw[:, a:b]).view(column.dtype)
            inner = () if column.shape is None and column.type != "bytes" else column.shape or (-1,)
            out.append(piece.reshape(len(indices), *inner))
        return out

    def search(self, name: str, value: Any) -> Array:
        """The numbers of the records whose column has that value.

        >>> import tempfile
        >>> from mycelia.mindrecord.writer import FileWriter
        >>> place = tempfile.mkdtemp() + "/a"
        >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}})
        >>> w.write_raw_data([{"x": i % 2} for i in range(4)]); w.commit()
        >>> RecordFile(place).search("x", 1).tolist()
        [1, 3]
        """
        return np.flatnonzero(self.values(name) == value)

    def values(self, name: str) -> Array:
        """A whole column of numbers or text.

        >>> RecordFile.values.__name__
        'values'
        """
        self.column(name)
        whole = self.gather(np.arange(len(self)), [name])
        return whole[0] if whole is not None else np.array([row[name] for row in self])


class FileReader:
    """Rows of record files one after the other, as dictionaries.

    >>> import tempfile
    >>> from mycelia.mindrecord.writer import FileWriter
    >>> place = tempfile.mkdtemp() + "/a"
    >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}}); w.write_raw_data([{"x": 5}]); w.commit()
    >>> [int(row["x"]) for row in FileReader(place).get_next()]
    [5]
    """

    def __init__(
        self,
        file_name: str | Sequence[str],
        num_consumer: int = 4,
        columns: Sequence[str] | None = None,
        operator: Any = None,
    ) -> None:
        if not 1 <= num_consumer <= 64:
            raise ArgumentError(f"num_consumer must be in [1, 64], and is {num_consumer}")
        if operator is not None:
            raise ArgumentError("operator is kept for later use and must be None")
        names = [file_name] if isinstance(file_name, str) else list(file_name)
        self.files = [RecordFile(n) for n in names]
        self.columns = list(columns) if columns else [c.name for c in self.files[0].header.columns]
        for file in self.files:
            for name in self.columns:
                file.column(name)

    def get_next(self) -> Iterator[dict[str, Any]]:
        """The rows.

        >>> FileReader.get_next.__name__
        'get_next'
        """
        for file in self.files:
            for row in file:
                yield {n: _plain(row[n], file.column(n)) for n in self.columns}

    def schema(self) -> dict[str, Any]:
        """The columns and their types.

        >>> FileReader.schema.__name__
        'schema'
        """
        return {c.name: c.field() for c in self.files[0].header.columns}

    def len(self) -> int:
        """How many rows there are.

        >>> FileReader.len.__name__
        'len'
        """
        return sum(len(f) for f in self.files)

    def close(self) -> None:
        """Let go of the files.

        >>> FileReader.close.__name__
        'close'
        """
        self.files = []


def _plain(value: Any, column: Column) -> Any:
    return value.tobytes() if column.type == "bytes" else value
