"""TFRecord files and tf.train.Example messages, read and written without TensorFlow.

Frame: length (8 bytes), its masked CRC-32C, the message, its masked CRC-32C.
https://www.tensorflow.org/tutorials/load_data/tfrecord
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from mycelia import wire
from mycelia.errors import ArgumentError
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.filebytes import BytesInMemory, FileBytes, ForwardBytes
from mycelia.mindrecord.limits import TooLarge, believed, unfolded
from mycelia.types import Array

BLOCK = 1024
Value = list[bytes] | Array


@lru_cache(maxsize=1)
def _tables() -> tuple[Array, Array]:
    """What a byte adds to the sum at each distance from a block's end; and what a sum becomes one block later."""
    step = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        step = np.where(step & 1, (step >> 1) ^ np.uint32(0x82F63B78), step >> 1).astype(np.uint32)
    adds = np.empty((BLOCK, 256), np.uint32)
    adds[BLOCK - 1] = step
    for k in range(BLOCK - 2, -1, -1):
        adds[k] = (adds[k + 1] >> np.uint32(8)) ^ step[adds[k + 1] & np.uint32(255)]
    shift = np.stack([adds[i] for i in range(4)])  # a sum is mixed into the first four bytes of the next block
    return adds, shift


def crc32c(data: bytes | memoryview) -> int:
    """The Castagnoli sum of some bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    adds, shift = _tables()
    raw = np.frombuffer(data, np.uint8)
    crc = 0xFFFFFFFF
    whole = len(raw) // BLOCK * BLOCK
    if whole:
        blocks = raw[:whole].reshape(-1, BLOCK)
        for part in np.bitwise_xor.reduce(adds[np.arange(BLOCK), blocks], axis=1).tolist():
            moved = shift[0, crc & 255] ^ shift[1, crc >> 8 & 255] ^ shift[2, crc >> 16 & 255] ^ shift[3, crc >> 24]
            crc = int(moved) ^ part
    step = adds[BLOCK - 1]
    rest = raw[whole:]
    if len(rest) >= 8:
        mixed = rest.copy()
        mixed[:4] ^= np.frombuffer(struct.pack("<I", crc), np.uint8)
        return int(np.bitwise_xor.reduce(adds[np.arange(BLOCK - len(rest), BLOCK), mixed])) ^ 0xFFFFFFFF
    for byte in rest.tolist():
        crc = (crc >> 8) ^ int(step[(crc ^ byte) & 255])
    return crc ^ 0xFFFFFFFF


def masked(data: bytes | memoryview) -> int:
    """The sum as TFRecord stores it: turned and shifted, so that sums of sums do not go wrong.

    >>> 0 <= masked(b"abc") < 2**32
    True
    """
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class TFRecordFile:
    """The messages of a TFRecord file by number; the file is passed over once to find where they are.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/a.tfrecord"
    >>> write_tfrecord(place, [{"x": np.array([1, 2])}])
    >>> TFRecordFile(place)[0]["x"]
    array([1, 2])
    """

    def __init__(self, path: str, compression: str | None = None) -> None:
        self.path, self.compression = path, compression
        try:
            self.raw = _opened(path, compression)
        except TooLarge:
            raise
        except (OSError, ValueError, EOFError, zlib.error) as error:
            raise RecordError(f"cannot open a TFRecord file: {error}", given={"file": path}) from error
        self.starts, self.sizes = self._scan()

    def __reduce__(self) -> tuple[Any, ...]:
        return TFRecordFile, (self.path, self.compression)

    def _scan(self) -> tuple[Array, Array]:
        starts: list[int] = []
        sizes: list[int] = []
        at, end = 0, len(self.raw)
        read, walk = struct.Struct("<QI").unpack, ForwardBytes(self.raw)
        while at < end:
            if at + 12 > end:
                raise self._short(len(starts), at)
            frame = walk.at(at, 12)
            size, crc = read(frame)
            if crc != masked(frame[:8]):
                raise RecordError(
                    "a TFRecord file is damaged: the length of a record does not fit its checksum",
                    given={"file": self.path, "record": len(starts), "offset": at},
                )
            if at + 16 + size > end:
                raise self._short(len(starts), at)
            believed(size, "a record", file=self.path, record=len(starts))
            starts.append(at + 12)
            sizes.append(size)
            at += 16 + size
        return np.array(starts, np.int64), np.array(sizes, np.int64)

    def _short(self, record: int, at: int) -> RecordError:
        return RecordError("a TFRecord file is cut short", given={"file": self.path, "record": record, "offset": at})

    def __len__(self) -> int:
        return len(self.starts)

    def message(self, index: int) -> bytes:
        """The bytes of a message, checked against their sum."""
        at, size = self.starts[index], self.sizes[index]
        data, told = self.raw[at : at + size], self.raw[at + size : at + size + 4]
        if struct.unpack("<I", told)[0] != masked(data):
            raise RecordError(
                "a TFRecord is damaged: its checksum does not fit", given={"file": self.path, "record": index}
            )
        return data

    def __getitem__(self, index: int) -> dict[str, Value]:
        try:
            return parse_example(self.message(index))
        except (IndexError, ValueError, struct.error) as error:
            if isinstance(error, RecordError):
                raise
            given = {"file": self.path, "record": index}
            raise RecordError(f"a TFRecord does not hold a tf.train.Example: {error}", given=given) from error


def _opened(path: str, compression: str | None) -> FileBytes | BytesInMemory:
    if compression in (None, ""):
        return FileBytes(path)
    if compression in ("GZIP", "ZLIB"):
        return BytesInMemory(unfolded(path, compression))
    raise ArgumentError(f'compression_type is None, "GZIP" or "ZLIB", and was {compression!r}')


def _feature(raw: wire.Content) -> Value:
    """The content of a Feature: a list of bytes, floats, or whole numbers."""
    for number, _, listed in wire.fields(raw):
        if number == 1:
            return [bytes(wire.inner(v)) for _, _, v in wire.fields(listed)]
        if number in (2, 3):
            kind = np.dtype("<f4") if number == 2 else np.dtype(np.int64)
            pieces = [_floats(v) if number == 2 else _integers(v) for _, _, v in wire.fields(listed)]
            return np.concatenate(pieces) if pieces else np.array([], kind)
    return np.array([], np.float32)


def _floats(content: wire.Content) -> Array:
    return np.frombuffer(wire.inner(content), "<f4")


def _integers(content: wire.Content) -> Array:
    if isinstance(content, int):
        return np.array([wire.signed(content)], np.int64)
    at, numbers = 0, []
    while at < len(content):
        one, at = wire.number_at(content, at)
        numbers.append(wire.signed(one))
    return np.array(numbers, np.int64)


def parse_example(raw: memoryview | bytes) -> dict[str, Value]:
    """The features of a tf.train.Example by name.

    >>> parse_example(build_example({"x": np.array([3, -4])}))["x"]
    array([ 3, -4])
    """
    found: dict[str, Value] = {}
    for number, _, features in wire.fields(memoryview(raw)):
        if number != 1:
            continue
        for _, _, entry in wire.fields(features):
            name, content = "", cast(wire.Content, memoryview(b""))
            for part, _, value in wire.fields(entry):
                name, content = (wire.text(value), content) if part == 1 else (name, value)
            found[name] = _feature(content)
    return found


def build_example(row: dict[str, Any]) -> bytes:
    """A tf.train.Example of a row: text and bytes, floats, or whole numbers.

    >>> parse_example(build_example({"s": "ab"}))["s"]
    [b'ab']
    """
    entries = b""
    for name, value in row.items():
        words = [value] if isinstance(value, bytes | str) else value
        texts = isinstance(words, list) and bool(words) and isinstance(words[0], bytes | str)
        array = np.array(words, object if texts else None)  # NumPy's own bytes lose zeros at their end
        if array.dtype.kind in "USO":
            encoded = [v.encode() if isinstance(v, str) else bytes(v) for v in array.ravel().tolist()]
            feature = wire.field(1, b"".join(wire.field(1, w) for w in encoded))
        elif array.dtype.kind == "f":
            feature = wire.field(2, wire.field(1, array.astype("<f4").tobytes()))
        elif array.dtype.kind in "iub":
            if array.size and int(array.max()) >> 63 > 0:
                raise ArgumentError(f"column {name!r} holds {array.max()}, and a tf.train.Example numbers of 64 bits")
            feature = wire.field(3, wire.field(1, b"".join(wire.varint(int(v)) for v in array.ravel().tolist())))
        else:
            raise ArgumentError(f"column {name!r} of {array.dtype} does not fit into a tf.train.Example")
        entries += wire.field(1, wire.field(1, name.encode()) + wire.field(2, feature))
    return wire.field(1, entries)


def write_tfrecord(path: str, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as tf.train.Example messages.

    >>> import tempfile
    >>> place = tempfile.mkdtemp() + "/a.tfrecord"
    >>> write_tfrecord(place, [{"x": 1.5}, {"x": 2.5}]); len(TFRecordFile(place))
    2
    """
    try:
        with Path(path).open("wb") as file:
            for row in rows:
                data = build_example(row)
                size = struct.pack("<Q", len(data))
                file.write(size + struct.pack("<I", masked(size)) + data + struct.pack("<I", masked(data)))
    except OSError as error:
        raise RecordError(f"cannot write a TFRecord file: {error.strerror}", given={"file": path}) from error
