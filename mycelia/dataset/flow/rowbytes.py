"""Rows as bytes that hold arrays and texts and no code, with a sum that tells whether they are whole."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np

from mycelia.dataset.describing import dtype_word, plain_dtype
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Row
from mycelia.dataset.flow.saving import plain, restored
from mycelia.errors import ArgumentError
from mycelia.wire import elements

MAGIC = b"MYCMAP02"
HEAD = struct.Struct("<8sII")  # magic, sum of what follows, length of the description


def bytes_of(row: Row, name: bytes = b"") -> bytes:
    """A row as bytes; their sum holds under the name that they are kept by, and under no other.

    >>> row_of(memoryview(bytes_of((np.array([1, 2]), np.array("a")))))
    (array([1, 2]), array('a', dtype='<U1'))
    """
    parts = [packed(value) for value in row]
    told = json.dumps([{"value": json.loads(head), "bytes": len(body)} for head, body in parts]).encode()
    rest = told + b"".join(body for _, body in parts)
    return HEAD.pack(MAGIC, zlib.crc32(rest, zlib.crc32(name)), len(told)) + rest


def row_of(whole: memoryview, name: bytes = b"") -> Row | None:
    """The row that bytes stand for; None if they are not whole, or were kept by another name.

    >>> row_of(memoryview(b"else")) is None
    True
    """
    try:
        magic, crc, length = HEAD.unpack_from(whole)
        if magic != MAGIC or zlib.crc32(whole[HEAD.size :], zlib.crc32(name)) != crc:
            return None
        columns, at = [], HEAD.size + length
        for told in json.loads(bytes(whole[HEAD.size : at])):
            columns.append(unpacked(told["value"], whole[at : at + told["bytes"]]))
            at += told["bytes"]
        return tuple(columns) if at == len(whole) else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, struct.error, DataError):
        return None


def packed(value: Any) -> list[bytes]:
    """A value of a row as a description and its bytes.

    >>> packed(np.array([1, 2], np.uint8))
    [b'{"dtype": "|u1", "shape": [2]}', b'\\x01\\x02']
    """
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        told = {"dtype": dtype_word(value.dtype), "shape": list(value.shape)}
        return [json.dumps(told).encode(), np.ascontiguousarray(value).tobytes()]
    try:
        return [json.dumps({"plain": plain(value)}).encode(), b""]
    except TypeError as error:
        raise ArgumentError(f"a cached map keeps arrays and texts: {error}") from error


def unpacked(told: Any, body: memoryview) -> Any:
    """The value that `packed` described.

    >>> unpacked({"dtype": "|u1", "shape": [2]}, memoryview(b"\\x01\\x02"))
    array([1, 2], dtype=uint8)
    """
    if "plain" in told:
        return restored(told["plain"])
    return elements(bytearray(body), plain_dtype(told["dtype"])).reshape(told["shape"])
