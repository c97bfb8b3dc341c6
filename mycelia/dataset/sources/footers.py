"""What the end of a Parquet file says first, its schema and its rows, found by machine code without reading the rest.

The footer is Thrift in its compact form: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from mycelia.api.options import options
from mycelia.plainfiles import opened
from mycelia.routines.routine import Routine
from mycelia.routines.words import Bytes, Longs

MARK = b"PAR1"
LONGEST = 1 << 28  # bytes of a footer that is looked at


def varint(data: Bytes, size: int, state: Longs) -> int:
    """The whole number at state[0], which moves behind it; state[1] is set when there is none."""
    value, shift, byte, at = 0, 0, 0, state[0]  # of 64 bits, as what they begin with
    while at < size and shift < 63:
        byte = data[at]
        at += 1
        value = value | (byte & 127) << shift
        if byte < 128:
            state[0] = at
            return value  # type: ignore[no-any-return]  # elements of arrays are numbers here
        shift += 7
    state[1] = 1
    return 0


def passed(data: Bytes, size: int, state: Longs, kind: int) -> int:
    """Move state[0] behind a value that holds no others; 0 if it is of another kind, or goes past the end."""
    if kind == 1 or kind == 2:
        return 1  # a truth value is its own kind
    if kind == 3:
        state[0] += 1
    elif kind == 4 or kind == 5 or kind == 6:
        varint(data, size, state)
    elif kind == 7:
        state[0] += 8
    elif kind == 8:
        length = varint(data, size, state)
        if length > size:
            return 0
        state[0] += length
    else:
        return 0
    return 1 if state[0] <= size and state[1] == 0 else 0


def find_schema(data: Bytes, size: int, state: Longs) -> int:
    """Where the schema begins (state[2]) and ends (state[3]), and how many rows there are (state[4]): 1 if found."""
    for i in range(6):
        state[i] = 0
    field, head, kind, step = 0, 0, 0, 0
    while state[0] < size:
        head = data[state[0]]
        state[0] += 1
        if head == 0:
            return 0
        kind, step = head & 15, head >> 4
        if step == 0:
            coded = varint(data, size, state)
            field = (coded >> 1) ^ -(coded & 1)
        else:
            field += step
        if field == 3 and kind == 6:
            coded = varint(data, size, state)
            state[4] = (coded >> 1) ^ -(coded & 1)
            return 1 if state[3] > 0 and state[1] == 0 else 0
        if field == 2 and kind == 9:
            state[2] = state[0]
            if elements(data, size, state) == 0:
                return 0
            state[3] = state[0]
        elif passed(data, size, state, kind) == 0:
            return 0
    return 0


def elements(data: Bytes, size: int, state: Longs) -> int:
    """Move state[0] behind a list of structures, whatever they hold."""
    if state[0] >= size:
        return 0
    head = data[state[0]]
    state[0] += 1
    left = 0
    left += head >> 4
    if left == 15:
        left = varint(data, size, state)
    if head & 15 != 12 or state[1] != 0 or left > size:
        return 0
    depth = 0
    while left > 0:
        if state[0] >= size:
            return 0
        head = data[state[0]]
        state[0] += 1
        kind = head & 15
        if head == 0:
            depth -= 1
            if depth < 0:
                depth = 0
                left -= 1
        else:
            if head >> 4 == 0:
                varint(data, size, state)
            if kind == 12:
                depth += 1
            elif passed(data, size, state, kind) == 0:
                return 0
    return 1


_find_schema = Routine(find_schema, options)


@dataclass(frozen=True)
class Footer:
    """The schema of a file, as it is written, and how many rows it has."""

    schema: bytes
    rows: int


def footer_of(path: str) -> Footer | None:
    """What a Parquet file says of itself; None if it is of a kind that a library must read.

    >>> footer_of(__file__) is None
    True
    """
    handle = opened(path)
    try:
        size = os.fstat(handle).st_size
        tail = os.pread(handle, 8, max(0, size - 8))
        length = int.from_bytes(tail[:4], "little")
        if size < 12 or tail[4:] != MARK or not 0 < length <= min(size - 12, LONGEST):
            return None
        raw = os.pread(handle, length, size - 8 - length)
    finally:
        os.close(handle)
    data = np.frombuffer(raw, np.uint8)
    state = np.zeros(8, np.int64)
    if len(data) != length or _find_schema(data, length, state) != 1 or state[4] < 0:
        return None
    return Footer(raw[int(state[2]) : int(state[3])], int(state[4]))
