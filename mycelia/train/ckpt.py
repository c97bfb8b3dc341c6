"""The file format of MindSpore's checkpoints: a protocol-buffer message that lists names and tensors.

    Checkpoint: 1 Value, repeated
    Value: 1 name, 2 Tensor
    Tensor: 1 extent, repeated; 2 element type; 3 content

A tensor of more than half a gigabyte is written in several values of one name. With a checksum the file begins with a
field that MindSpore does not know and skips, how many values there are, and ends as MindSpore's do: `crc_num`, and the
CRC-32 of all that is before it in ten bytes. So a file that was cut off is recognised, wherever that happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.train.encryption import decrypted, is_encrypted
from mycelia.types import DTYPES, Array, dtype_of

PART = 1 << 29  # bytes of one tensor in one value
LENGTHS = 2  # the wire type of what has a length: text, bytes, messages
COUNT = 1000  # the number of the field that says how many values there are
CHECKSUM = b"crc_num"
NUMBERS = 0  # the wire type of whole numbers
_BY_SPELLING = {str(dtype): dtype for dtype in DTYPES}


@dataclass
class _Summed:
    """A file, and the checksum of what was written."""

    file: BinaryIO
    total: int = 0

    def write(self, content: Any) -> None:
        self.total = crc32(content, self.total)
        self.file.write(content)


def write(path: Path, arrays: Mapping[str, Array], checked: bool) -> None:
    """Write arrays under their names; with a checksum, if it is to be `checked`."""
    pieces = [
        (name, array, content[start : start + PART])
        for name, array in arrays.items()
        for content in [np.ascontiguousarray(array).reshape(-1).view(np.uint8)]
        for start in range(0, max(len(content), 1), PART)
    ]
    with path.open("wb") as file:
        summed = _Summed(file)
        if checked:
            summed.write(varint(COUNT << 3 | NUMBERS) + varint(len(pieces)))
        for piece in pieces:
            _write_value(summed, *piece)
        if checked:
            file.write(CHECKSUM + summed.total.to_bytes(10, "big"))


def _write_value(file: _Summed, name: str, array: Array, content: Array) -> None:
    extents = b"".join(varint(1 << 3 | NUMBERS) + varint(extent) for extent in array.shape)
    head = extents + _field(2, str(dtype_of(array)).encode()) + varint(3 << 3 | LENGTHS) + varint(len(content))
    tag = _field(1, name.encode())
    tensor = varint(2 << 3 | LENGTHS) + varint(len(head) + len(content)) + head
    file.write(varint(1 << 3 | LENGTHS) + varint(len(tag) + len(tensor) + len(content)) + tag + tensor)
    file.write(content)


def _field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | LENGTHS) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """A whole number, seven bits to a byte, the lowest first.

    >>> varint(300)
    b'\\xac\\x02'
    """
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def read(path: Path, key: bytes | None = None, must_check: bool = False) -> dict[str, Array]:
    """The arrays in a file, by name; of an encrypted one with its key, with `must_check` of one with a checksum."""
    parts: dict[str, list[Array]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    try:
        raw = path.read_bytes()
        if key is None and is_encrypted(raw):
            raise ValueError("it is encrypted, and there is no dec_key")
        message, checked = _checked(raw if key is None else decrypted(raw, key))
        if must_check and not checked:
            raise ValueError("it has no checksum")
        count = None
        for number, value in fields(message):
            if number == COUNT:
                count = value
                continue
            pair = dict(fields(value))
            name = bytes(pair[1]).decode()
            extents, kind, content = [], "", memoryview(b"")
            for number, item in fields(pair[2]):
                if number == 1:
                    extents.append(item)
                elif number == 2:
                    kind = bytes(item).decode()
                elif number == 3:
                    content = item
            parts.setdefault(name, []).append(np.frombuffer(content, _BY_SPELLING[kind].numpy))
            shapes[name] = tuple(extents)
        if count is not None and (not checked or count != sum(map(len, parts.values()))):
            raise ValueError("it ends too early")
        return {name: np.concatenate(found).reshape(shapes[name]) for name, found in parts.items()}
    except (KeyError, IndexError, ValueError, TypeError) as reason:
        raise ArgumentError(
            f"{path.name} is no checkpoint that can be read: {reason}",
            hint="it is cut off, encrypted, or of another format",
        ) from None


def _checked(content: bytes) -> tuple[memoryview, bool]:
    """What a file says, and whether a checksum says that this is how it was written."""
    if not content:
        raise ValueError("it is empty")
    if content[-17:-10] != CHECKSUM:
        return memoryview(content), False
    message = memoryview(content)[:-17]
    if crc32(message) != int.from_bytes(content[-10:], "big"):
        raise ValueError("its checksum is wrong: it was damaged after it was written")
    return message, True


def fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: their numbers, with whole numbers or bytes.

    >>> [(number, bytes(item)) for number, item in fields(memoryview(b"\\x12\\x02ab"))]
    [(2, b'ab')]
    """
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        item, at = _number(message, at)
        if key & 7 == LENGTHS:
            if at + item > len(message):
                raise ValueError("it ends too early")
            yield key >> 3, message[at : at + item]
            at += item
        elif key & 7 == NUMBERS:
            yield key >> 3, item
        else:
            raise ValueError(f"it has a field of wire type {key & 7}")


def _number(message: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
