"""How large the batches of an Arrow file are unfolded: told by its headers, and asked before the library unfolds them.

The buffers of a batch may be compressed. Each says how many bytes it stands for, and the library asks for that memory.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

from mycelia.dataset.errors import DataError
from mycelia.mindrecord.limits import believed
from mycelia.plainfiles import opened

MARK = b"ARROW1"  # files of Hugging Face's `datasets` are streams, and do not begin with it
DICTIONARY, BATCH = 2, 3  # kinds of messages
GOES_ON = -1  # before the length of a message, in all but the oldest files
LONGEST = 1 << 28  # bytes of a header
BLOCK = "<qi4xq"  # where a message begins, how long its header is, and its body
BUFFER = "<qq"  # where it begins, and how long it is


class FlatTable:
    """A table of FlatBuffers, the notation of Arrow's headers: its fields by number.

    >>> FlatTable(struct.pack("<HHHHii", 6, 8, 4, 0, 8, 5), 8).number(0, "<i")
    5
    """

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.fields = at - self._read("<i", at)  # a list of where the fields are
        self.size = self._read("<H", self.fields)

    def _read(self, kind: str, at: int) -> int:
        return int(self._several(kind, at)[0])

    def _several(self, kind: str, at: int) -> tuple[Any, ...]:
        if at < 0:  # which would count from the end
            raise DataError("an Arrow file is damaged: a header points outside of itself")
        return struct.unpack_from(kind, self.data, at)

    def place(self, field: int) -> int:
        """Where a field begins; 0 when it is absent."""
        entry = 4 + 2 * field
        moved = self._read("<H", self.fields + entry) if entry + 2 <= self.size else 0
        return self.at + moved if moved else 0

    def number(self, field: int, kind: str) -> int:
        """A number; 0 when it is absent."""
        at = self.place(field)
        return self._read(kind, at) if at else 0

    def table(self, field: int) -> FlatTable | None:
        """A table within."""
        at = self.place(field)
        return FlatTable(self.data, at + self._read("<I", at)) if at else None

    def structs(self, field: int, kind: str) -> list[tuple[Any, ...]]:
        """A list of equally long entries."""
        at = self.place(field)
        if not at:
            return []
        at += self._read("<I", at)
        count, size = self._read("<I", at), struct.calcsize(kind)
        whole = self.data[at + 4 : at + 4 + count * size]
        if len(whole) < count * size:
            raise DataError("an Arrow file is damaged: a header is cut short")
        return list(struct.iter_unpack(kind, whole))


def _root(data: bytes) -> FlatTable:
    return FlatTable(data, struct.unpack_from("<I", data)[0])


class Messages:
    """The headers of an Arrow file or stream, in the places where the library will look for them."""

    def __init__(self, handle: int) -> None:
        self.handle, self.end = handle, os.fstat(handle).st_size
        self.streamed = self._bytes(0, len(MARK)) != MARK

    def __iter__(self) -> Iterator[tuple[FlatTable, int]]:
        """Each header, and where its body begins."""
        return self._in_turn() if self.streamed else self._by_footer()

    def _bytes(self, at: int, size: int) -> bytes:
        return os.pread(self.handle, size, at) if at >= 0 else b""

    def _header(self, at: int) -> tuple[FlatTable, int] | None:
        """The header at a place, if there is one more, and where its body begins."""
        first, second = struct.unpack("<ii", self._bytes(at, 8).ljust(8, b"\0"))
        size, begin = (second, at + 8) if first == GOES_ON else (first, at + 4)
        if not size:
            return None
        whole = self._bytes(begin, size) if 0 < size <= min(LONGEST, self.end - begin) else b""
        if not whole or len(whole) < size:
            raise DataError("an Arrow file is damaged: a header is cut short")
        return _root(whole), begin + size

    def _in_turn(self) -> Iterator[tuple[FlatTable, int]]:
        at = 0
        while at < self.end and (found := self._header(at)) is not None:
            yield found
            header, body = found
            at = body + max(0, header.number(3, "<q"))

    def _by_footer(self) -> Iterator[tuple[FlatTable, int]]:
        size, mark = struct.unpack("<i6s", self._bytes(self.end - 10, 10).ljust(10, b"\0"))
        whole = self._bytes(self.end - 10 - size, size) if 0 < size <= min(LONGEST, self.end - 10) else b""
        if mark != MARK or not whole:
            raise DataError("an Arrow file is damaged, or cut short: it does not end as one")
        footer = _root(whole)
        for at, length, _ in [*footer.structs(2, BLOCK), *footer.structs(3, BLOCK)]:
            found = self._header(at)
            if found is None or found[1] != at + length:
                raise DataError("an Arrow file is damaged: it does not say where its batches are")
            yield found

    def unfolded(self, header: FlatTable, body: int) -> int:
        """How many bytes the buffers of a batch or of a dictionary are; other messages have none."""
        kind, batch = header.number(1, "<B"), header.table(2)
        if kind == DICTIONARY and batch is not None:
            batch = batch.table(1)
        if batch is None or kind not in (DICTIONARY, BATCH):
            return 0
        total, compressed = 0, batch.table(3) is not None
        for at, length in batch.structs(2, BUFFER):
            said = struct.unpack("<q", self._bytes(body + at, 8).ljust(8, b"\0"))[0] if compressed and length else -1
            total += max(length, said)
        return total


def check_unfolded(path: str) -> None:
    """Raise when a batch of an Arrow file, or its dictionaries together, would take more memory than any sample may.

    >>> check_unfolded(__file__)
    Traceback (most recent call last):
    mycelia.dataset.errors.DataError: an Arrow file is damaged: a header is cut short...
    """
    handle = opened(path)
    try:
        messages, dictionaries = Messages(handle), 0
        for header, body in messages:
            size = messages.unfolded(header, body)
            if header.number(1, "<B") == DICTIONARY:
                size = dictionaries = dictionaries + size
            believed(size, "a batch of an Arrow file", file=path)
    finally:
        os.close(handle)
