"""What the end of a Parquet file says first, its schema and its rows, found by machine code without reading the rest.

The footer is Thrift in its compact form: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import os

import numpy as np

from mycelia.api.options import options
from mycelia.frozen import frozen
from mycelia.plainfiles import opened
from mycelia.routines.words import Bytes, Longs
from mycelia.runtime.routine import Routine
from mycelia.types import Array

MARK = b"PAR1"
LONGEST = 1 << 28  # bytes of a footer that is looked at
NESTED = 32  # structures and lists within one another


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


def skipped(data: Bytes, size: int, state: Longs, stack: Longs) -> int:
    """Move state[0] behind a structure, whatever structures and lists are within it; 0 if it goes past the end.

    The stack holds, for each list or structure that is open, what its elements are (0: it is a structure), and how many
    of them are left.
    """
    depth, kind, head = 0, 0, 0
    stack[0] = 0
    while depth >= 0:
        if stack[depth * 2] == 0:
            if state[0] >= size:
                return 0
            head = data[state[0]]
            state[0] += 1
            if head == 0:
                depth -= 1
                continue
            if head >> 4 == 0:
                varint(data, size, state)
            kind = head & 15
        else:
            if stack[depth * 2 + 1] == 0:
                depth -= 1
                continue
            stack[depth * 2 + 1] -= 1
            kind = stack[depth * 2]
            if kind < 3:
                kind = 3  # in a list a truth value takes a byte
        if kind == 12 or kind == 9 or kind == 10:
            depth += 1
            if depth == NESTED:
                return 0
            stack[depth * 2] = 0
            if kind != 12 and opened_list(data, size, state, stack, depth) == 0:
                return 0
        elif passed(data, size, state, kind) == 0:
            return 0
    return 1


def opened_list(data: Bytes, size: int, state: Longs, stack: Longs, depth: int) -> int:
    """Note what the elements of a list are, and how many: each takes a byte at least."""
    if state[0] >= size:
        return 0
    head, left = 0, 0
    head += data[state[0]]
    state[0] += 1
    left = head >> 4
    if left == 15:
        left = varint(data, size, state)
    if head & 15 == 0 or state[1] != 0 or left > size:
        return 0
    stack[depth * 2] = head & 15
    stack[depth * 2 + 1] = left
    return 1


def find_groups(data: Bytes, size: int, state: Longs, stack: Longs, starts: Longs, most: int) -> int:
    """Where the groups of rows begin in a footer, and where the last ends: how many there are, or -1."""
    state[0] = 0
    state[1] = 0
    field, head, count = 0, 0, 0
    while state[0] < size:
        head = data[state[0]]
        state[0] += 1
        if head == 0:
            return -1
        if head >> 4 == 0:
            coded = varint(data, size, state)
            field = (coded >> 1) ^ -(coded & 1)
        else:
            field += head >> 4
        if field == 4 and head & 15 == 9:
            if opened_list(data, size, state, stack, 0) == 0 or stack[0] != 12 or stack[1] > most:
                return -1
            count = stack[1]
            for i in range(count):
                starts[i] = state[0]
                if skipped(data, size, state, stack) == 0:
                    return -1
            starts[count] = state[0]
            return count  # type: ignore[no-any-return]  # elements of arrays are numbers here
        if head & 15 == 9 or head & 15 == 12:
            if skipped_inner(data, size, state, stack, head & 15) == 0:
                return -1
        elif passed(data, size, state, head & 15) == 0:
            return -1
    return -1


def skipped_inner(data: Bytes, size: int, state: Longs, stack: Longs, kind: int) -> int:
    """Move state[0] behind a structure, or a list of them or of plain values."""
    if kind == 12:
        return skipped(data, size, state, stack)
    if opened_list(data, size, state, stack, 0) == 0:
        return 0
    inner, left = stack[0], stack[1]
    for _ in range(left):
        if inner == 12:
            if skipped(data, size, state, stack) == 0:
                return 0
        elif inner < 3:
            state[0] += 1
        elif passed(data, size, state, inner) == 0:
            return 0
    return 1


_find_schema, _find_groups = Routine(find_schema, options), Routine(find_groups, options)


@frozen
class Footer:
    """The schema of a file, as it is written, and how many rows it has."""

    schema: bytes
    rows: int


def footer_of(path: str) -> Footer | None:
    """What a Parquet file says of itself; None if it is of a kind that a library must read.

    >>> footer_of(__file__) is None
    True
    """
    raw, _ = _written(path)
    if raw is None:
        return None
    data = np.frombuffer(raw, np.uint8)
    state = np.zeros(8, np.int64)
    if _find_schema(data, len(data), state) != 1 or state[4] < 0:
        return None
    return Footer(raw[int(state[2]) : int(state[3])], int(state[4]))


def _written(path: str) -> tuple[bytes | None, int]:
    """The footer of a Parquet file, and where it begins; None if there is none of the usual kind."""
    handle = opened(path)
    try:
        size = os.fstat(handle).st_size
        tail = os.pread(handle, 8, max(0, size - 8))
        length = int.from_bytes(tail[:4], "little")
        if size < 12 or tail[4:] != MARK or not 0 < length <= min(size - 12, LONGEST):
            return None, 0
        raw = os.pread(handle, length, size - 8 - length)
        return (raw if len(raw) == length else None), size - 8 - length
    finally:
        os.close(handle)


def groups_of(path: str, count: int) -> Array | None:
    """Where a Parquet file describes its groups of rows, so many of them, and where the last of these ends.

    >>> groups_of(__file__, 1) is None
    True
    """
    raw, begin = _written(path)
    if raw is None:
        return None
    data, starts = np.frombuffer(raw, np.uint8), np.empty(count + 1, np.int64)
    found = _find_groups(data, len(data), np.zeros(2, np.int64), np.zeros(2 * NESTED, np.int64), starts, count)
    return starts + begin if found == count else None
