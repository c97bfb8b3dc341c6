"""Writing record files: rows are appended to a temporary file, which takes its name when it is whole."""

from __future__ import annotations

import os
import struct
import zlib
from array import array
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mycelia.checks import whole
from mycelia.errors import ArgumentError
from mycelia.mindrecord import crypt
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.layout import END, FOOTER, MAGIC, START, WORD, Column, Header, checksums
from mycelia.mindrecord.reader import RecordFile
from mycelia.mindrecord.store import OwnStore

SUCCESS = 0
FAILED = 1
STRETCH = 1 << 24  # bytes that are copied at once


class _Part:
    """One file while it is written."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self.path, self.columns = path, tuple(columns)
        self.varying = [i for i, c in enumerate(self.columns) if c.varies]
        self.temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        self.offsets, self.sums = array("Q"), array("Q")
        self.lengths = array("I")
        self.at = START
        self.file: BinaryIO = self.temporary.open("wb")
        self.file.write(MAGIC.ljust(START, b"\0"))

    def copy(self, old: OwnStore) -> None:
        """Begin with the records of a file that exists."""
        for at in range(START, old.begin, STRETCH):
            self.file.write(old.raw[at : min(at + STRETCH, old.begin)])
        self.at = old.begin
        self.offsets.extend(old.offsets.tolist())
        self.sums.extend(old.sums.tolist())
        self.lengths.extend(old.lengths.ravel().tolist())

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Append records; neighbours of one length get their sums together."""
        records = []
        for row in rows:
            pieces = [c.pack(row[c.name]) for c in self.columns]
            size = sum(map(len, pieces))
            pieces.append(bytes(-size % WORD))
            records.append(b"".join(pieces))
            self.offsets.append(self.at)
            self.lengths.extend([len(pieces[i]) for i in self.varying])
            self.at += len(records[-1])
        for size, group in groupby(records, len):
            block = b"".join(group)
            words = np.frombuffer(block, np.uint64).reshape(-1, size // WORD)
            self.sums.extend(checksums(words).tolist())
            self.file.write(block)

    def finish(self, desc: str, index_fields: Sequence[str]) -> None:
        """Write index and footer, and give the file its name."""
        index = [("offsets", self.offsets), ("sums", self.sums), ("lengths", self.lengths)]
        parts, crc, at = {}, 0, self.at
        for name, values in index:
            raw = values.tobytes()
            raw += bytes(-len(raw) % WORD)
            parts[name] = at
            crc = zlib.crc32(raw, crc)
            self.file.write(raw)
            at += len(raw)
        text = Header(self.columns, len(self.offsets), desc, tuple(index_fields), parts).dump()
        self.file.write(text)
        size = at + len(text) + FOOTER.size
        self.file.write(FOOTER.pack(at, len(text), zlib.crc32(text), crc, size, END))
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        crypt.encrypt_file(self.temporary)
        self.temporary.replace(self.path)

    def discard(self) -> None:
        """Leave nothing behind."""
        self.file.close()
        self.temporary.unlink(missing_ok=True)


class FileWriter:
    """Writes rows to one record file, or to several that share them.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/a.mindrecord"
    >>> writer = FileWriter(place)
    >>> _ = writer.add_schema({"x": {"type": "int32"}, "name": {"type": "string"}})
    >>> writer.write_raw_data([{"x": 1, "name": "one"}, {"x": 2, "name": "two"}])
    >>> writer.commit()
    >>> [row["name"] for row in RecordFile(place)]
    ['one', 'two']
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        whole(self, "shard_num", shard_num, 1, 1000)
        self.paths = [Path(p) for p in shard_names(file_name, shard_num)]
        there = [str(p) for p in self.paths if p.exists()]
        if there and not overwrite:
            raise ArgumentError(f"the file exists already: {there}", hint="FileWriter(..., overwrite=True) replaces it")
        missing = self.paths[0].parent
        if not missing.is_dir():
            raise ArgumentError(f"there is no folder {str(missing)!r} to write to")
        self.columns: tuple[Column, ...] = ()
        self.desc, self.index_fields = "", tuple[str, ...]()
        self.parts: list[_Part] = []
        self.old: list[OwnStore] = []
        self.count = 0

    @classmethod
    def open_for_append(cls, file_name: str) -> FileWriter:
        """A writer that goes on with files written before.

        >>> import tempfile
        >>> place = tempfile.mkdtemp() + "/a.mindrecord"
        >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}}); w.write_raw_data([{"x": 1}]); w.commit()
        >>> w = FileWriter.open_for_append(place); w.write_raw_data([{"x": 2}]); w.commit()
        >>> [int(row["x"]) for row in RecordFile(place)]
        [1, 2]
        """
        old = RecordFile(file_name).store
        if not isinstance(old, OwnStore):
            raise ArgumentError(
                "a record file that MindSpore wrote can be read, not appended to",
                given={"file": file_name},
                hint="write its rows to a file of ours first: dataset.MindDataset(file).save(other)",
            )
        writer = cls(file_name, overwrite=True)
        writer.columns, writer.desc = old.header.columns, old.header.desc
        writer.index_fields, writer.old = old.header.index_fields, [old]
        return writer

    def add_schema(self, content: dict[str, Any], desc: str | None = None) -> int:
        """Say which columns there are: names to `{"type": ..., "shape": ...}`.

        >>> import tempfile
        >>> FileWriter(tempfile.mkdtemp() + "/a").add_schema({"x": {"type": "int32"}})
        1
        """
        if not isinstance(content, dict) or not content:
            raise ArgumentError(f"a schema is a dictionary of columns, and is {content!r}")
        if self.columns:
            raise ArgumentError("a record file has one schema, and it is set already")
        self.columns, self.desc = tuple(Column.of(n, f) for n, f in content.items()), desc or ""
        return 1

    def add_index(self, index_fields: Sequence[str]) -> int:
        """Name columns to search by.

        >>> import tempfile
        >>> w = FileWriter(tempfile.mkdtemp() + "/a"); _ = w.add_schema({"x": {"type": "int32"}})
        >>> w.add_index(["x"]) == SUCCESS
        True
        """
        known = {c.name: c for c in self.columns}
        wrong = [f for f in index_fields if f not in known or known[f].shape is not None or known[f].type == "bytes"]
        if wrong:
            raise ArgumentError(f"these are no columns of numbers or text: {wrong}", given={"schema": list(known)})
        self.index_fields = tuple(index_fields)
        return SUCCESS

    def set_header_size(self, header_size: int) -> None:
        """How many bytes MindSpore's files keep for their header; checked only, since ours is as long as it must be.

        >>> import tempfile
        >>> FileWriter(tempfile.mkdtemp() + "/a").set_header_size(1 << 24)
        >>> FileWriter(tempfile.mkdtemp() + "/a").set_header_size(1)
        Traceback (most recent call last):
        mycelia.errors.ArgumentError: header_size ...
        """
        whole(self, "header_size", header_size, 16 << 10, 128 << 20)

    def set_page_size(self, page_size: int) -> None:
        """How many bytes MindSpore's files keep for a page; checked only, since ours have no pages to outgrow.

        >>> import tempfile
        >>> FileWriter(tempfile.mkdtemp() + "/a").set_page_size(1 << 26)
        >>> FileWriter(tempfile.mkdtemp() + "/a").set_page_size(1)
        Traceback (most recent call last):
        mycelia.errors.ArgumentError: page_size ...
        """
        whole(self, "page_size", page_size, 32 << 10, 256 << 20)

    def write_raw_data(self, raw_data: Sequence[dict[str, Any]], parallel_writer: bool = False) -> None:
        """Append rows; several files share them evenly. `parallel_writer` asks for nothing: writing is bound by disk.

        >>> import tempfile
        >>> w = FileWriter(tempfile.mkdtemp() + "/a"); _ = w.add_schema({"x": {"type": "int32"}})
        >>> w.write_raw_data([{"x": 1}]); w.commit()
        >>> [row["x"].item() for row in RecordFile(w.paths[0])]
        [1]
        """
        rows = [raw_data] if isinstance(raw_data, dict) else list(raw_data)
        if not self.columns:
            raise ArgumentError("there is no schema yet", hint="call add_schema first")
        names = {c.name for c in self.columns}
        try:
            self._open()
            for part, share in zip(self.parts, np.array_split(np.arange(len(rows)), len(self.parts)), strict=True):
                for i in share.tolist():
                    if not isinstance(rows[i], dict) or names - set(rows[i]):
                        have = sorted(rows[i]) if isinstance(rows[i], dict) else type(rows[i]).__name__
                        raise ArgumentError(f"row {self.count + i} lacks columns", given={"wanted": names, "has": have})
                part.write([rows[i] for i in share.tolist()])
        except (OSError, ArgumentError, struct.error) as error:
            self.discard()
            if isinstance(error, OSError):
                raise self._full(error) from error
            raise
        self.count += len(rows)

    def _open(self) -> None:
        if self.parts:
            return
        self.parts = [_Part(p, self.columns) for p in self.paths]
        for part, old in zip(self.parts, self.old, strict=False):
            part.copy(old)

    def _full(self, error: OSError) -> RecordError:
        given = {"file": str(self.paths[0]), "rows written": self.count}
        return RecordError(
            f"cannot write a record file: {error.strerror or error}", given=given, hint="is the disk full?"
        )

    def commit(self) -> None:
        """Finish the files and give them their names.

        >>> import tempfile
        >>> w = FileWriter(tempfile.mkdtemp() + "/a"); _ = w.add_schema({"x": {"type": "int32"}}); w.commit()
        >>> len(RecordFile(w.paths[0]))
        0
        """
        if not self.columns:
            raise ArgumentError("there is no schema yet", hint="call add_schema first")
        try:
            self._open()
            for part in self.parts:
                part.finish(self.desc, self.index_fields)
        except OSError as error:
            self.discard()
            raise self._full(error) from error
        self.parts = []

    def discard(self) -> None:
        """Leave nothing behind of what was not committed.

        >>> import tempfile
        >>> w = FileWriter(tempfile.mkdtemp() + "/a"); _ = w.add_schema({"x": {"type": "int32"}})
        >>> w.write_raw_data([{"x": 1}]); w.discard()
        >>> list(w.paths[0].parent.iterdir())
        []
        """
        for part in self.parts:
            part.discard()
        self.parts = []

    def __del__(self) -> None:
        for part in getattr(self, "parts", []):
            part.discard()


def shard_names(file_name: str, shard_num: int) -> list[str]:
    """The names of the files that share the rows of one dataset.

    >>> shard_names("a.mindrecord", 2)
    ['a.mindrecord0', 'a.mindrecord1']
    """
    width = len(str(shard_num - 1))
    return [file_name] if shard_num == 1 else [f"{file_name}{i:0{width}}" for i in range(shard_num)]
