"""How a record file is laid out, and the sums that tell whether it is whole.

    magic | records, each a multiple of 8 bytes | index | schema and positions as JSON | footer

A record is the bytes of its columns one after the other. The index holds, per record, its offset, a checksum, and the
length of every column that may vary. The footer comes last, so that a file that was cut short is noticed at once.
"""

from __future__ import annotations

import builtins
import json
import math
import struct
import zlib
from functools import lru_cache
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.filebytes import BytesInMemory, FileBytes
from mycelia.types import Array
from mycelia.wire import elements

MAGIC = b"MYCREC01"
END = b"MYCREND1"
START = 4096  # records begin at a page
FOOTER = struct.Struct("<QQIIQ8s")  # where the JSON is, how long, its crc, the index's crc, the file's size, END
WORD = 8

TYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool",
)  # fmt: skip


@frozen
class Column:
    """A column of a record file: a number, an array, a text, or bytes.

    >>> Column.of("x", {"type": "float32", "shape": [-1, 2]}).varies
    True
    """

    name: str
    type: str
    shape: tuple[int, ...] | None

    @staticmethod
    def of(name: str, field: Any) -> Column:
        """A column from its entry in a schema.

        >>> Column.of("x", {"type": "int32"}).bytes
        4
        """
        if not isinstance(name, str) or not isinstance(field, dict) or "type" not in field:
            raise ArgumentError(f'a schema maps names to {{"type": ..., "shape": ...}}, and has {name!r}: {field!r}')
        type, shape = field["type"], field.get("shape")
        if type not in (*TYPES, "string", "bytes"):
            raise ArgumentError(f"column {name!r} has the unknown type {type!r}", hint=f"one of {TYPES}, string, bytes")
        if shape is not None and (type in ("string", "bytes") or not all(map(_is_extent, shape))):
            raise ArgumentError(f"column {name!r} of {type} cannot have the shape {shape}")
        if shape is not None and list(shape).count(-1) > 1:
            raise ArgumentError(f"column {name!r} has more than one free axis: {shape}", hint="flatten it")
        return Column(name, type, None if shape is None else tuple(shape))

    @property
    def varies(self) -> bool:
        """Whether its length may differ from record to record."""
        return self.type in ("string", "bytes") or (self.shape is not None and -1 in self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its elements; text and bytes are bytes."""
        return np.dtype("uint8" if self.type in ("string", "bytes") else self.type)

    @property
    def bytes(self) -> int:
        """How many bytes it has, when that does not vary."""
        return self.dtype.itemsize * math.prod(self.shape or ())

    def field(self) -> dict[str, Any]:
        """Its entry in a schema.

        >>> Column.of("x", {"type": "int32"}).field()
        {'type': 'int32'}
        """
        return {"type": self.type} if self.shape is None else {"type": self.type, "shape": list(self.shape)}

    def pack(self, value: Any) -> builtins.bytes:
        """The bytes of a value.

        >>> Column.of("x", {"type": "int32"}).pack(1)
        b'\\x01\\x00\\x00\\x00'
        """
        if self.type == "string":
            text = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
            if not isinstance(text, str):
                raise ArgumentError(f"column {self.name!r} holds text, and got {type(value).__name__}")
            return text.encode()
        if self.type == "bytes":
            if isinstance(value, bytes | bytearray | memoryview):
                return bytes(value)
            array = np.asarray(value)
            return bytes(array.item()) if array.dtype.kind == "S" and not array.ndim else array.tobytes()
        if self.shape is None and isinstance(value, int | float):
            return self._number(value)
        array = np.asarray(value)
        if array.dtype.kind not in "biuf" or (array.size and not _keeps(array, self.dtype)):
            raise ArgumentError(f"column {self.name!r} holds {self.type}, and got {array.dtype}")
        return np.ascontiguousarray(self._shaped(array), self.dtype).tobytes()

    def _number(self, value: int | float) -> builtins.bytes:
        if isinstance(value, float) and self.dtype.kind != "f":
            raise ArgumentError(f"column {self.name!r} holds {self.type}, and got {value!r}")
        try:
            return np.array(value, self.type).tobytes()
        except OverflowError:
            raise ArgumentError(f"column {self.name!r} holds {self.type}, and got {value!r}") from None

    def _shaped(self, array: Array) -> Array:
        if self.shape is None:
            if array.size != 1:
                raise ArgumentError(f"column {self.name!r} holds one number, and got the shape {list(array.shape)}")
            return array.reshape(())
        try:
            return array.reshape(self.shape)
        except ValueError:
            raise ArgumentError(
                f"column {self.name!r} has the shape {list(self.shape)}, and got {list(array.shape)}"
            ) from None

    def unpack(self, raw: Array) -> Any:
        """The value that bytes stand for.

        >>> Column.of("x", {"type": "string"}).unpack(np.frombuffer(b"ab", np.uint8))
        'ab'
        """
        if self.type == "string":
            return raw.tobytes().decode()
        if self.type == "bytes":
            return raw
        return elements(raw, self.dtype).reshape(() if self.shape is None else self.shape)


def _is_extent(told: Any) -> bool:
    """Whether this can be the extent of an axis; -1 is one that varies."""
    return isinstance(told, int | np.integer) and bool(told == -1 or told > 0)


def _keeps(array: Array, wanted: np.dtype[Any]) -> bool:
    """Whether numbers survive in another element type; widths may change when the values fit."""
    if np.can_cast(array.dtype, wanted, "same_kind") and wanted.kind == "f":
        return True
    if array.dtype.kind in "iub" and wanted.kind in "iu":
        bounds = np.iinfo(wanted)
        return bool(array.min() >= bounds.min and array.max() <= bounds.max)
    return bool(array.dtype.kind in "iub" and wanted.kind == "f") or array.dtype == wanted


@lru_cache(maxsize=8)
def _weights(words: int) -> Array:
    """Odd numbers that look random: a changed bit changes the sum, and so does a swap of two words."""
    x = np.arange(1, words + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return (x ^ (x >> np.uint64(27))) | np.uint64(1)


def weights(words: int) -> Array:
    """The weights of a checksum over that many words.

    >>> weights(3).dtype, bool((weights(1000)[:3] == weights(3)).all())
    (dtype('uint64'), True)
    """
    room = 64
    while room < words:
        room *= 2
    return _weights(room)[:words]


def checksums(records: Array) -> Array:
    """The checksum of every row of a matrix of 64-bit words.

    >>> a = np.zeros((1, 4), np.uint64); b = a.copy(); b[0, 2] ^= np.uint64(1 << 63)
    >>> bool(checksums(a)[0] == checksums(b)[0])
    False
    """
    sums: Array = np.einsum("ij,j->i", records, weights(records.shape[1]))
    return sums


@frozen
class Header:
    """What the JSON at the end of a record file says.

    >>> Header((), 0, "", (), {}).rows
    0
    """

    columns: tuple[Column, ...]
    rows: int
    desc: str
    index_fields: tuple[str, ...]
    parts: dict[str, int]  # where the arrays of the index begin

    def dump(self) -> bytes:
        """As JSON.

        >>> Header((), 0, "", (), {}).dump()[:9]
        b'{"schema"'
        """
        told = {
            "schema": {c.name: c.field() for c in self.columns},
            "rows": self.rows,
            "desc": self.desc,
            "index_fields": list(self.index_fields),
            "parts": self.parts,
        }
        return json.dumps(told).encode()

    @staticmethod
    def load(raw: bytes) -> Header:
        """From JSON.

        >>> Header.load(Header((), 3, "", (), {}).dump()).rows
        3
        """
        told = json.loads(raw)
        columns = tuple(Column.of(n, f) for n, f in told["schema"].items())
        parts = {str(name): _position(place) for name, place in told["parts"].items()}
        index = tuple(map(str, told["index_fields"]))
        return Header(columns, _position(told["rows"]), str(told["desc"]), index, parts)


def _position(told: Any) -> int:
    """A number of rows, or a place in a file."""
    if type(told) is not int or not 0 <= told < 1 << 62:
        raise ValueError(f"{told!r} is no number from 0")
    return told


def footer(raw: FileBytes | BytesInMemory, path: str) -> tuple[int, Header]:
    """The header of a file's bytes and where its index begins; raises when the file is not whole."""
    size = len(raw)
    if size < START or raw[:8] != MAGIC:
        raise RecordError("this is not a record file", given={"file": path}, hint="write it with mindrecord.FileWriter")
    at, length, crc, index_crc, told, end = FOOTER.unpack(raw[size - FOOTER.size :])
    if end != END or told != size:
        raise RecordError(
            "a record file is cut short or has something added",
            given={"file": path, "bytes": size},
            hint="write it again; FileWriter.commit() puts the file in place only when it is whole",
        )
    text = raw[at : at + length]
    if zlib.crc32(text) != crc:
        raise RecordError("the schema of a record file is damaged", given={"file": path})
    try:
        header = Header.load(text)
        begin = header.parts["offsets"]
    except (ArgumentError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"the schema of a record file is damaged: {error!r}", given={"file": path}) from error
    if not START <= begin <= at <= size or zlib.crc32(raw[begin:at]) != index_crc:
        raise RecordError("the index of a record file is damaged", given={"file": path})
    return begin, header
