"""The file format of MindSpore's checkpoints: a protocol-buffer message that lists names and tensors.

    Checkpoint: 1 Value, repeated
    Value: 1 name, 2 Tensor
    Tensor: 1 extent, repeated; 2 element type; 3 content

A tensor of more than half a gigabyte is written in several values of one name. With a checksum the file begins with a
field that MindSpore does not know and skips, how many values there are, and ends as MindSpore's do: `crc_num`, and the
CRC-32 of all that is before it in ten bytes. So a file that was cut off is recognised, wherever that happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from mycelia import wire
from mycelia.errors import ArgumentError
from mycelia.plainfiles import content_of
from mycelia.train.encryption import decrypted, is_encrypted
from mycelia.types import DTYPES, Array, DType, dtype_of

PART = 1 << 29  # bytes of one tensor in one value
COUNT = 1000  # the number of the field that says how many values there are
CHECKSUM = b"crc_num"
FOREIGN = "it is cut off, encrypted, or of another format"
TEXT = "str"  # the element type of a text: letters of four bytes, and an extent of zero
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
            summed.write(wire.varint(COUNT << 3 | wire.NUMBER) + wire.varint(len(pieces)))
        for piece in pieces:
            _write_value(summed, *piece)
        if checked:
            file.write(CHECKSUM + summed.total.to_bytes(10, "big"))


def _write_value(file: _Summed, name: str, array: Array, content: Array) -> None:
    is_text = array.dtype.kind == "U"
    shape = (0,) if is_text else array.shape
    extents = b"".join(wire.varint(1 << 3 | wire.NUMBER) + wire.varint(extent) for extent in shape)
    kind = wire.field(2, (TEXT if is_text else str(dtype_of(array))).encode())
    head = extents + kind + wire.varint(3 << 3 | wire.LENGTHS) + wire.varint(len(content))
    tag = wire.field(1, name.encode())
    tensor = wire.varint(2 << 3 | wire.LENGTHS) + wire.varint(len(head) + len(content)) + head
    file.write(wire.varint(1 << 3 | wire.LENGTHS) + wire.varint(len(tag) + len(tensor) + len(content)) + tag + tensor)
    file.write(content)


def read(path: Path, key: bytes | None = None, must_check: bool = False) -> dict[str, Array]:
    """The arrays in a file, by name; of an encrypted one with its key, with `must_check` of one with a checksum."""
    try:
        raw = content_of(path)
        if key is None and is_encrypted(raw):
            raise ValueError("it is encrypted, and there is no dec_key")
        message, checked = _checked(raw if key is None else decrypted(raw, key))
        if must_check and not checked:
            raise ValueError("it has no checksum")
        return _arrays(message, checked)
    except (KeyError, ValueError, OverflowError) as reason:
        missing = f"a value has no field {reason}" if isinstance(reason, KeyError) else reason
        raise ArgumentError(
            f"{path.name} is no checkpoint that can be read: {missing}",
            hint=f"load_checkpoint({path.name!r}, dec_key=...)" if "no dec_key" in str(reason) else FOREIGN,
        ) from None


def _arrays(message: memoryview, checked: bool) -> dict[str, Array]:
    """The arrays that a message lists."""
    parts: dict[str, list[memoryview]] = {}
    kinds: dict[str, tuple[DType | None, tuple[int, ...]]] = {}
    count: wire.Content | None = None
    for number, _, value in wire.fields(message):
        if number == COUNT:
            count = value
        elif number == 1:
            name, kind, content = _value(value)
            if kinds.setdefault(name, kind) != kind:
                raise ValueError(f"parts of {name!r} have different types or shapes")
            parts.setdefault(name, []).append(content)
        else:
            raise ValueError(f"it has a field {number}, which checkpoints have not")
    if count is not None and (not checked or count != sum(map(len, parts.values()))):
        raise ValueError("it ends too early")
    return {name: _array(found, *kinds[name]) for name, found in parts.items()}


def _value(content: wire.Content) -> tuple[str, tuple[DType | None, tuple[int, ...]], memoryview]:
    """What one value holds: a name, an element type and a shape, and the bytes of the tensor or of a part of it."""
    pair = _only(content, {1, 2})
    name = wire.text(pair[1][-1])
    told = _only(pair[2][-1], {1, 2, 3})
    kind = wire.text(told[2][-1])
    if kind not in _BY_SPELLING and kind != TEXT:
        raise ValueError(f"{name!r} is of the unknown element type {kind!r}")
    return name, (_BY_SPELLING.get(kind), tuple(map(_extent, told.get(1, ())))), wire.inner(told[3][-1])


def _only(message: wire.Content, known: set[int]) -> dict[int, list[wire.Content]]:
    """The fields of a message by number, if there are none but these."""
    found: dict[int, list[wire.Content]] = {}
    for number, _, item in wire.fields(message):
        if number not in known:
            raise ValueError(f"it has a field {number}, which checkpoints have not")
        found.setdefault(number, []).append(item)
    return found


def _extent(item: wire.Content) -> int:
    if not isinstance(item, int) or wire.signed(item) < 0:
        raise ValueError("the extent of an axis is no whole number from 0")
    return item


def _array(parts: list[memoryview], dtype: DType | None, shape: tuple[int, ...]) -> Array:
    """An array of the bytes of its parts; without an element type, a text."""
    whole = parts[0] if len(parts) == 1 else memoryview(b"".join(parts))
    if dtype is None:
        return np.array(bytes(whole).decode("utf-32-le").rstrip("\0"))
    if shape == (0,) and len(whole) == dtype.numpy.itemsize:
        shape = ()  # so older versions wrote single numbers
    return wire.elements(whole, dtype.numpy).reshape(shape)


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
