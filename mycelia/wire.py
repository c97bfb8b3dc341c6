"""Protocol buffers on the wire: whole numbers, fields and messages, as TFRecords and checkpoints hold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mycelia.types import Array

Content = memoryview | int

NUMBER, EIGHT, LENGTHS, FOUR = 0, 1, 2, 5  # kinds of fields: a whole number, 8 bytes, what has a length, 4 bytes
BITS = 64


def varint(value: int) -> bytes:
    """A whole number of 64 bits, seven bits to a byte, the lowest first.

    >>> varint(300), len(varint(-1))
    (b'\\xac\\x02', 10)
    """
    value &= (1 << BITS) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes) -> bytes:
    """A field of text, bytes or a message.

    >>> field(2, b"ab")
    b'\\x12\\x02ab'
    """
    return varint(number << 3 | LENGTHS) + varint(len(content)) + content


def number_at(raw: memoryview, at: int) -> tuple[int, int]:
    """A whole number, and where it ends; one that does not end, or has more than 64 bits, is a ValueError.

    >>> number_at(memoryview(b"\\xac\\x02"), 0)
    (300, 2)
    """
    value = shift = 0
    while at < len(raw):
        byte = raw[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (1 << BITS) - 1, at
        shift += 7
        if shift >= BITS:
            raise ValueError("a number is longer than 64 bits")
    raise ValueError("it ends too early")


def signed(value: int) -> int:
    """A number whose highest bit is its sign.

    >>> signed((1 << 64) - 1)
    -1
    """
    return value - (1 << BITS) if value >> BITS - 1 else value


def fields(message: Content) -> Iterator[tuple[int, int, Content]]:
    """Number, kind and content of the fields of a message; what is no message is a ValueError.

    >>> [(number, kind, bytes(item)) for number, kind, item in fields(memoryview(b"\\x12\\x02ab"))]
    [(2, 2, b'ab')]
    """
    at, raw = 0, inner(message)
    while at < len(raw):
        key, at = number_at(raw, at)
        kind = key & 7
        if kind == NUMBER:
            value, at = number_at(raw, at)
            yield key >> 3, kind, value
            continue
        size = 4 if kind == FOUR else 8
        if kind == LENGTHS:
            size, at = number_at(raw, at)
        elif kind not in (EIGHT, FOUR):
            raise ValueError(f"it has a field of wire type {kind}")
        if at + size > len(raw):
            raise ValueError("a field goes past the end of its message: it ends too early")
        yield key >> 3, kind, raw[at : at + size]
        at += size


def inner(content: Content) -> memoryview:
    """The content of a field that holds text, bytes or a message.

    >>> bytes(inner(memoryview(b"a")))
    b'a'
    """
    if isinstance(content, int):
        raise ValueError("there is a number where bytes should be")
    return content


def text(content: Content) -> str:
    """The content of a field that holds text.

    >>> text(memoryview(b"a"))
    'a'
    """
    return bytes(inner(content)).decode()


def elements(raw: Any, dtype: np.dtype[Any]) -> Array:
    """The elements that bytes stand for; a truth is any byte but zero, and NumPy would keep it as it is.

    >>> elements(b"\\x00\\x02", np.dtype(bool)).tolist()
    [False, True]
    """
    return np.frombuffer(raw, np.uint8) != 0 if dtype == np.bool_ else np.frombuffer(raw, dtype)
