"""Messages of protocol buffers, field by field, on top of `mycelia.wire`: what events are written in."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

from mycelia import wire


def whole(number: int, value: int) -> bytes:
    """A field that holds a whole number.

    >>> whole(2, 1)
    b'\\x10\\x01'
    """
    return wire.varint(number << 3 | wire.NUMBER) + wire.varint(value)


def field(number: int, content: bytes | str) -> bytes:
    """A field that holds bytes, a text or a message.

    >>> field(1, "abc")
    b'\\n\\x03abc'
    """
    return wire.field(number, content.encode() if isinstance(content, str) else content)


def double(number: int, value: float) -> bytes:
    """A field that holds a number of eight bytes.

    >>> double(1, 1.0)
    b'\\t\\x00\\x00\\x00\\x00\\x00\\x00\\xf0?'
    """
    return wire.varint(number << 3 | wire.EIGHT) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    """A field that holds a number of four bytes; one that is too large for them is infinite.

    >>> single(2, 1.0)
    b'\\x15\\x00\\x00\\x80?'
    """
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return wire.varint(number << 3 | wire.FOUR) + packed


def doubles(number: int, values: Iterable[float]) -> bytes:
    """A field that holds many numbers of eight bytes.

    >>> len(doubles(6, [1.0, 2.0]))
    18
    """
    listed = list(values)
    return wire.field(number, struct.pack(f"<{len(listed)}d", *listed))


def fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: their numbers, with whole numbers, floating numbers, or bytes.

    >>> [(number, bytes(item)) for number, item in fields(memoryview(b"\\x12\\x02ab"))]
    [(2, b'ab')]
    """
    forms = {wire.EIGHT: "<d", wire.FOUR: "<f"}
    for number, kind, item in wire.fields(message):
        yield number, struct.unpack(forms[kind], wire.inner(item))[0] if kind in forms else item
