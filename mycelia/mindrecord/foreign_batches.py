"""Batches of records that MindSpore wrote: found, read and laid into columns by machine code.

What is not as usual (a number that does not fit, another length, a key that is no text) ends the routine; then the
records are read one by one, which says what is wrong. mindrecord/foreign.py tells how the files are laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.api.options import options
from mycelia.frozen import frozen
from mycelia.mindrecord.filebytes import FileBytes
from mycelia.mindrecord.layout import Column
from mycelia.routines.words import Bytes, Longs, eight, eight_back, read
from mycelia.runtime.routine import Routine
from mycelia.types import Array

ALIGN = 64  # of columns
WINDOW = 1 << 16  # bytes that a walk reads at once where entries are short
LONG = 1 << 10  # bytes of an entry behind which only the next length is read
MANY = 1 << 16  # entries that one call finds
INTEGER, SINGLE, DOUBLE = 1, 2, 3  # kinds of numbers
PARTS = 3  # of a number: its kind, its value or its upper half, its lower half
EXACT = 1 << 53  # whole numbers up to this are real numbers too


def walk_entries(file: int, begin: int, last: int, window: Bytes, ends: Longs, most: int) -> int:
    """Where the entries from `begin` on end, each of which begins with its length: how many, or -1 for damage."""
    at, count, first, have, length = begin, 0, 0, 0, 0
    while at < last and count < most:
        if at < first or at + 8 > first + have:
            first = at
            have = read(file, window, 0, 8 if length > LONG else WINDOW, at)
            if have < 8:
                return -1
        length = eight_back(window, at - first)
        if length < 0 or length > last - at - 8:
            return -1
        at += 8 + length
        ends[count] = at
        count += 1
    return count


def number_of(data: Bytes, at: int, width: int) -> int:
    """So many bytes, four at most, as a number, the first of them highest."""
    value = 0
    for i in range(width):
        value = value * 256 + data[at + i]
    return value


def text_size(data: Bytes, at: int, size: int, head: Longs) -> int:
    """The length of the text at a place, -1 if there is none; head[0] gets where it begins."""
    if at >= size:
        return -1
    kind, width, length = 0, 0, 0
    kind += data[at]
    if kind >= 160 and kind < 192:
        length = kind & 31
    elif kind >= 217 and kind < 220:
        width = 1 << (kind - 217)
        if at + 1 + width > size:
            return -1
        length = number_of(data, at + 1, width)
    else:
        return -1
    head[0] = at + 1 + width
    return -1 if head[0] + length > size else length


def map_size(data: Bytes, size: int, head: Longs) -> int:
    """How many pairs the map has that data begin with, -1 if there is none; head[0] gets where they begin."""
    if size < 5:  # the shortest that matters: one key, one value
        return -1
    kind = 0
    kind += data[0]
    if kind >= 128 and kind < 144:
        head[0] = 1
        return kind & 15  # type: ignore[no-any-return]  # elements of arrays are numbers here
    if kind == 222 or kind == 223:
        head[0] = 3 if kind == 222 else 5
        return number_of(data, 1, 2 if kind == 222 else 4)
    return -1


def value_at(data: Bytes, at: int, size: int, out: Longs, place: int, head: Longs) -> int:
    """Read a number or pass a text; head[0] gets where it ends. 0 if it is neither, or goes past the end.

    A number has a kind, and its value or, if it is real, the halves of its bits.
    """
    if at >= size:
        return 0
    kind, width = 0, 0
    kind += data[at]
    out[place] = 0
    if kind < 128 or kind >= 224:
        out[place] = INTEGER
        out[place + 1] = kind if kind < 128 else kind - 256
        head[0] = at + 1
        return 1
    if kind >= 202 and kind < 212:
        width = 4 if kind == 202 else 8 if kind == 203 else 1 << (kind & 3)
        if at + 1 + width > size:
            return 0
        upper = number_of(data, at + 1, width - 4) if width == 8 else 0
        lower = number_of(data, at + 1 + (4 if width == 8 else 0), 4 if width == 8 else width)
        head[0] = at + 1 + width
        if kind < 204:
            out[place] = kind - 200
            out[place + 1] = upper
            out[place + 2] = lower
            return 1
        if kind == 207 and upper >= 1 << 31:
            return 0  # no number of 64 bits with a sign
        if width == 8:
            upper = upper - (1 << 32) if upper >= 1 << 31 else upper
            lower += upper * (1 << 32)
        elif kind >= 208 and lower >= 1 << (8 * width - 1):
            lower -= 1 << (8 * width)
        out[place] = INTEGER
        out[place + 1] = lower
        return 1
    length = text_size(data, at, size, head)
    if length < 0:
        return 0
    head[0] += length
    return 1


def read_map(
    data: Bytes, size: int, names: Bytes, fields: Longs, count: int, numbers: Longs, row: int, head: Longs
) -> int:
    """The numbers of a map into their row; 1 if all fields were there.

    A field tells where its name begins, its length, where its numbers go (-1 for nowhere), and the last row it was in.
    """
    left = map_size(data, size, head)
    if left < 0:
        return 0
    at, found = head[0], 0
    spare = row * PARTS  # numbers that nobody asked for go to the first lines, whose turn comes later
    while left > 0:
        length = text_size(data, at, size, head)
        if length < 0:
            return 0
        begin, field = head[0], -1
        for i in range(count):
            if fields[i * 4 + 1] == length and field < 0:
                same = 1
                for j in range(length):
                    if data[begin + j] != names[fields[i * 4] + j]:
                        same = 0
                if same == 1:
                    field = i
        place = spare
        if field >= 0:
            if fields[field * 4 + 3] == row:
                return 0  # a name that is there twice
            fields[field * 4 + 3] = row
            found += 1
            if fields[field * 4 + 2] >= 0:
                place = fields[field * 4 + 2] + row * PARTS
        if value_at(data, begin + length, size, numbers, place, head) != 1:
            return 0
        at = head[0]
        left -= 1
    return 1 if found == count else 0


def widen(data: Bytes, at: int, end: int, count: int, out: Bytes, place: int, width: int) -> int:
    """Numbers that are packed, written with so many bytes each; 1 if they are as many, and end where they should."""
    codes = at + 4
    begin = codes + (count + 3 >> 2)
    if begin > end or number_of(data, at, 4) != count:
        return 0
    for i in range(count):
        own = 1 << ((data[codes + (i >> 2)] >> (6 - 2 * (i & 3))) & 3)
        if own > width or begin + own > end:
            return 0
        filled = 255 if data[begin + own - 1] >= 128 else 0
        for j in range(width):
            out[place + j] = data[begin + j] if j < own else filled
        begin += own
        place += width
    return 1 if begin == end else 0


def read_pieces(data: Bytes, size: int, pieces: Longs, count: int, row: int, out: Bytes) -> int:
    """The arrays of a row into their columns; 1 if each is as long as expected.

    A piece tells its bytes or how many numbers it has, the bytes of each (0: as they are), and its place (-1: nowhere).
    """
    at, length = 0, size
    for piece in range(count):
        if count > 1:
            if at + 8 > size:
                return 0
            length = eight(data, at)
            at += 8
            if length < 0 or length > size - at:
                return 0
        expected, width, place = pieces[piece * 3], pieces[piece * 3 + 1], pieces[piece * 3 + 2]
        if place >= 0 and width == 0:
            if length != expected:
                return 0
            place += row * length
            for j in range(length):
                out[place + j] = data[at + j]
        elif place >= 0 and length < 4:
            return 0
        elif place >= 0:
            place += row * expected * width
            if widen(data, at, at + length, expected, out, place, width) == 0:
                return 0
        at += length
    return 1 if at == size else 0


def gather(
    file: int, spans: Longs, count: int, names: Bytes, fields: Longs, plain: int, numbers: Longs,
    pieces: Longs, blobs: int, direct: int, one: Bytes, most: int, out: Bytes, head: Longs,
) -> int:  # fmt: skip
    """How many rows could be read and are as expected. A span tells where the map of a row begins and its bytes, and
    the same of its arrays; with `direct` these are one piece, which goes straight to its place.
    """
    for row in range(count):
        begin, size = spans[row * 4], spans[row * 4 + 1]
        if plain > 0:
            if size > most or read(file, one, 0, size, begin) != size:
                return row
            if read_map(one, size, names, fields, plain, numbers, row, head) == 0:
                return row
        begin, size = spans[row * 4 + 2], spans[row * 4 + 3]
        if direct == 1:
            if size != pieces[0] or read(file, out, pieces[2] + row * size, size, begin) != size:
                return row
        elif blobs > 0:
            if size > most or read(file, one, 0, size, begin) != size:
                return row
            if read_pieces(one, size, pieces, blobs, row, out) == 0:
                return row
    return count


_walk, _gather = Routine(walk_entries, options), Routine(gather, options)


def entries(raw: FileBytes, begin: int, last: int) -> Array | None:
    """Where the entries of a page end, from its beginning to its last byte; None when it is damaged."""
    found, window = [np.array([begin], np.int64)], np.empty(WINDOW, np.uint8)
    while (at := int(found[-1][-1])) < last:
        some = np.empty(min(MANY, max(1, last - at >> 3)), np.int64)
        count = _walk(raw.file, at, last, window, some, len(some))
        if count < 1:
            return None
        found.append(some[:count].copy())
    return np.concatenate(found[1:]) if len(found) > 1 else found[0][:0]


@frozen
class ForeignLayout:
    """The fields of a file: those in maps, and those in pieces of bytes."""

    plain: tuple[str, ...]
    blobs: tuple[str, ...]


def foreign_columns(
    raw: FileBytes, spans: Array, layout: ForeignLayout, columns: Sequence[Column], first: dict[str, Array]
) -> list[Array] | None:
    """Columns of the rows whose maps and arrays have these places and sizes, each as long as in the first of them.

    None when one of them is not so, or is not as usual.
    """
    count = len(spans)
    wanted = {c.name: c for c in columns}
    names = [name.encode() for name in layout.plain]
    fields, at, line = [], 0, PARTS * count
    for i, (name, word) in enumerate(zip(layout.plain, names, strict=True)):
        fields.append((at, len(word), (i + 1) * line if name in wanted else -1, -1))
        at += len(word)
    pieces, places, room = [], {}, 0
    for name in layout.blobs:
        if name not in wanted:
            pieces.append((0, 0, -1))
            continue
        packed = wanted[name].dtype.kind == "i" and wanted[name].shape is not None
        size = first[name].nbytes
        pieces.append((first[name].size, wanted[name].dtype.itemsize, room) if packed else (size, 0, room))
        places[name] = room
        room += -(-size * count // ALIGN) * ALIGN
    direct = len(pieces) == 1 and pieces[0][1] == 0 and pieces[0][2] >= 0
    blobs = len(pieces) if places else 0  # those that nobody wants need not be read
    most = int(max(spans[:, 1].max(), 0 if direct or not blobs else spans[:, 3].max(), 1))
    numbers = np.empty((len(names) + 1, count, PARTS), np.int64)
    out = np.empty(max(1, room), np.uint8)
    done = _gather(
        raw.file, np.ascontiguousarray(spans, np.int64), count, np.frombuffer(b"".join(names) or b"\0", np.uint8),
        np.array([*fields, (0, 0, 0, 0)], np.int64), len(names), numbers, np.array([*pieces, (0, 0, 0)], np.int64),
        blobs, int(direct), np.empty(most, np.uint8), most, out, np.empty(1, np.int64),
    )  # fmt: skip
    if done < count:
        return None
    made: list[Array] = []
    for column in columns:
        if column.name in places:
            begin, like = places[column.name], first[column.name]
            whole = out[begin : begin + like.nbytes * count].view(like.dtype).reshape(count, *like.shape)
        else:
            found = _numbers(numbers[1 + layout.plain.index(column.name)], column.dtype)
            if found is None:
                return None
            whole = found
        made.append(whole)
    return made


def _numbers(parts: Array, dtype: np.dtype[Any]) -> Array | None:
    """Numbers in the element type of their column; None when one of them does not fit."""
    kinds, values = parts[:, 0], parts[:, 1]
    whole = kinds == INTEGER
    if not whole.all() and (dtype.kind != "f" or not (whole | (kinds == SINGLE) | (kinds == DOUBLE)).all()):
        return None
    low, high = (-EXACT, EXACT) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if (whole & ((values < low) | (values > high))).any():
        return None
    if dtype.kind != "f":
        return values.astype(dtype)
    bits = (values.astype(np.uint64) << np.uint64(32)) | parts[:, 2].astype(np.uint64)
    singles = parts[:, 2].astype(np.uint32).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        real = np.where(kinds == SINGLE, singles, bits.view(np.float64))
        return np.where(whole, values, real).astype(dtype)
