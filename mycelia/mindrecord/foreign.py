"""Record files that MindSpore wrote: read here, by number, without its index file.

    length of the header | header as JSON | pages, all of one size

A page of the kind RAW_DATA holds the numbers and texts of rows, one MessagePack map each; BLOB_DATA holds their bytes
and arrays. Both are in the order of rows, and each entry begins with its length. Where a row has several arrays, each
begins with its length, in the order of `blob_fields`. Arrays of whole numbers are packed: how many there are, two bits
for the width of each, and then the numbers.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.filebytes import BytesInMemory, FileBytes, ForwardBytes
from mycelia.mindrecord.foreign_batches import ForeignLayout, entries, foreign_columns
from mycelia.mindrecord.layout import Column, Header
from mycelia.types import Array

LENGTH = struct.Struct("<Q")
BLOB_LENGTH = struct.Struct(">Q")
DAMAGES = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
    struct.error,
)  # what reading noise ends in


def recognised(raw: FileBytes | BytesInMemory) -> bool:
    """Whether bytes begin as MindSpore's record files do.

    >>> recognised(BytesInMemory(b'\\x02' + bytes(7) + b'{}')), recognised(BytesInMemory(b"MYCREC01"))
    (True, False)
    """
    if len(raw) < LENGTH.size:
        return False
    end = LENGTH.size + LENGTH.unpack(raw[: LENGTH.size])[0]
    return raw[LENGTH.size : LENGTH.size + 1] + raw[end - 1 : end] == b"{}"  # nothing lies beyond the end


class ForeignStore:
    """The records of a file that MindSpore wrote."""

    def __init__(self, raw: FileBytes | BytesInMemory, path: str) -> None:
        self.raw, self.path = raw, path
        try:
            told = json.loads(raw[LENGTH.size : LENGTH.size + LENGTH.unpack(raw[: LENGTH.size])[0]])
            schema = told["schema"][0]
            columns = tuple(Column.of(n, f) for n, f in schema["schema"].items())
            self.blobs: list[str] = schema["blob_fields"]
            index = tuple(f["index_field"] for f in told["index_fields"] or ())
            self.offsets, self.ends = self._walk(told, "RAW_DATA")
            self.blob_offsets, self.blob_ends = self._walk(told, "BLOB_DATA")
            self.header = Header(columns, len(self.offsets), schema["desc"], index, {})
        except (ArgumentError, AttributeError, RecursionError, *DAMAGES) as error:
            raise RecordError(
                f"a record file of MindSpore is cut short or damaged: {error!r}",
                given={"file": path, "bytes": len(raw)},
            ) from error
        if self.blobs and len(self.blob_offsets) != len(self.offsets):
            given = {"file": path, "rows": len(self.offsets), "with arrays": len(self.blob_offsets)}
            raise RecordError("a record file of MindSpore is damaged: its pages do not fit together", given=given)

    def _walk(self, told: dict[str, Any], kind: str) -> tuple[Array, Array]:
        """Where the entries of a kind of page begin and end."""
        starts, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        kinds = {p["page_id"]: p["page_type"] for p in told["page"]}
        if len(kinds) != len(told["page"]) or not {*kinds.values()} <= {"RAW_DATA", "BLOB_DATA"}:
            raise ValueError(f"its pages are {kinds}")
        for page in sorted((p for p in told["page"] if p["page_type"] == kind), key=lambda p: int(p["page_id"])):
            at = told["header_size"] + page["page_id"] * told["page_size"]
            last = at + page["page_size"]
            if at < LENGTH.size or last > len(self.raw) or page["page_size"] > told["page_size"]:
                raise ValueError(f"page {page['page_id']} should begin at {at} and end at {last}")
            found = entries(self.raw, at, last) if isinstance(self.raw, FileBytes) else None
            ends.append(self._entries(at, last) if found is None else found)
            starts.append(np.append(at, ends[-1][:-1])[: len(ends[-1])] + LENGTH.size)
        return np.concatenate(starts), np.concatenate(ends)

    def _entries(self, at: int, last: int) -> Array:
        """Where the entries of a page end."""
        ends, walk = [], ForwardBytes(self.raw)
        while at < last:
            at += LENGTH.size + LENGTH.unpack(walk.at(at, LENGTH.size))[0]
            if at > last:
                raise ValueError(f"a record should end at {at}, and its page at {last}")
            ends.append(at)
        return np.array(ends, np.int64)

    def record(self, index: int) -> dict[str, Any]:
        """A record by its number."""
        try:
            plain, _ = unpacked(self.raw[int(self.offsets[index]) : int(self.ends[index])])
            told = {**plain, **self._pieces(index)}
            return {c.name: _value(c, told[c.name]) for c in self.header.columns}
        except DAMAGES as error:
            raise RecordError(
                f"a record is damaged: {error!r}",
                given={"file": self.path, "record": index, "offset": int(self.offsets[index])},
                hint="write the file again, or leave bad samples out with config.set_error_samples_mode",
            ) from error

    def _pieces(self, index: int) -> dict[str, bytes]:
        """The bytes of every column of bytes or arrays."""
        if not self.blobs:
            return {}
        whole = self.raw[self.blob_offsets[index] : self.blob_ends[index]]
        if len(self.blobs) == 1:
            return {self.blobs[0]: whole}
        at = 0
        pieces = {}
        for name in self.blobs:
            (size,) = BLOB_LENGTH.unpack_from(whole, at)
            at += BLOB_LENGTH.size + size
            pieces[name] = whole[at - size : at]
        if at != len(whole):
            raise ValueError(f"its arrays end at {at}, and it at {len(whole)}")
        return pieces

    def gather(self, indices: Array, columns: Sequence[Column]) -> list[Array] | None:
        """Columns of many records at once, stacked; None when they are not alike, or a column is text."""
        if not isinstance(self.raw, FileBytes) or not len(indices) or not all(map(self._stacks, columns)):
            return None
        first = self.record(int(indices[0]))
        spans = np.zeros((len(indices), 4), np.int64)
        spans[:, 0] = self.offsets[indices]
        spans[:, 1] = self.ends[indices] - spans[:, 0]
        if self.blobs:
            spans[:, 2] = self.blob_offsets[indices]
            spans[:, 3] = self.blob_ends[indices] - spans[:, 2]
        plain = tuple(c.name for c in self.header.columns if c.name not in self.blobs)
        return foreign_columns(self.raw, spans, ForeignLayout(plain, tuple(self.blobs)), columns, first)

    def _stacks(self, column: Column) -> bool:
        """Whether values of a column are numbers in maps, or bytes and arrays in pieces."""
        apart = column.type == "bytes" or column.shape is not None
        return column.type != "string" and apart == (column.name in self.blobs)


def _value(column: Column, given: Any) -> Any:
    if column.type == "string":
        if not isinstance(given, str):
            raise TypeError(f"column {column.name!r} holds text")
        return given
    if column.type == "bytes":
        return np.frombuffer(given, np.uint8)
    if column.shape is None:
        return np.array(given, column.dtype)
    whole = integers(given) if column.dtype.kind == "i" else np.frombuffer(given, column.dtype)
    return whole.astype(column.dtype).reshape(column.shape)


def integers(packed: memoryview | bytes) -> Array:
    """Whole numbers that are packed: their count, two bits for the width of each, and the numbers.

    >>> integers(bytes([0, 0, 0, 2, 0b00_01_0000, 127, 128, 0])).tolist()
    [127, 128]
    """
    (count,) = struct.unpack_from(">I", packed)
    coded = np.frombuffer(packed, np.uint8, -(-count // 4), 4)
    codes = (coded[:, None] >> np.array([6, 4, 2, 0], np.uint8) & 3).ravel()[:count]
    data = np.frombuffer(packed, np.uint8, offset=4 + len(coded))
    widths = np.int64(1) << codes.astype(np.int64)
    starts = np.cumsum(widths) - widths
    if count and starts[-1] + widths[-1] != len(data):
        raise ValueError(f"{count} numbers take {starts[-1] + widths[-1]} bytes, and there are {len(data)}")
    numbers = np.zeros(count, np.int64)
    for code in np.unique(codes).tolist():
        chosen = np.flatnonzero(codes == code)
        width = 1 << code
        numbers[chosen] = data[starts[chosen, None] + np.arange(width)].view(f"<i{width}").ravel()
    return numbers


NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
SIZES = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDE: ">H", 0xDF: ">I"}  # of texts and maps
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def unpacked(raw: bytes, at: int = 0, inner: bool = False) -> tuple[Any, int]:
    """A value in MessagePack, as far as record files use it, and where it ends. There is no map within a map.

    >>> unpacked(b"\\x82\\xa1a\\x05\\xa1b\\xff")
    ({'a': 5, 'b': -1}, 7)
    """
    kind = raw[at]
    at += 1
    if kind < 0x80 or kind >= 0xE0:
        return (kind if kind < 0x80 else kind - 0x100), at
    if kind in CONSTANTS:
        return CONSTANTS[kind], at
    if kind in NUMBERS:
        (number,) = struct.unpack_from(NUMBERS[kind], raw, at)
        return number, at + struct.calcsize(NUMBERS[kind])
    if kind in SIZES:
        (size,) = struct.unpack_from(SIZES[kind], raw, at)
        at += struct.calcsize(SIZES[kind])
    elif kind < 0x90 or 0xA0 <= kind < 0xC0:
        size = kind & (0x0F if kind < 0x90 else 0x1F)
    else:
        raise ValueError(f"a value of the unknown kind {kind:#x}")
    if kind >= 0xA0 and kind not in (0xDE, 0xDF):
        if at + size > len(raw):
            raise ValueError(f"a text of {size} bytes begins at {at} of {len(raw)}")
        return raw[at : at + size].decode(), at + size
    if inner:
        raise ValueError("a map within a map")
    told = {}
    for _ in range(size):
        key, at = unpacked(raw, at, True)
        told[key], at = unpacked(raw, at, True)
    return told, at
