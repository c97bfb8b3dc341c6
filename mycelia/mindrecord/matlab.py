"""MATLAB's files, version 5: numbers, texts, sparse matrices, cells and structures, with every size checked.

    head of 128 bytes | elements, each a variable, which may be compressed

An element is its kind, its size and its content, filled up to eight bytes; one of up to four bytes may share the eight
of its kind and size. A variable holds, as elements: class and flags, extents, name, and what its class needs.
https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.limits import TooLarge, believed, largest
from mycelia.plainfiles import content_of
from mycelia.types import Array

HEAD = 128
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}  # of elements
TEXTS = {1: "latin1", 2: "latin1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
MATRIX, FOLDED = 14, 15  # kinds of elements: a variable, and a compressed one
CELL, STRUCTURE, CHARACTERS, SPARSE = 1, 2, 4, 5  # classes of variables
NUMERIC = range(6, 16)
COMPLEX = 8  # a flag
DEEPEST = 32  # cells within cells
LEAST = 4  # a file may always unfold to so many times its own size


class _Reader:
    """The bytes of a file, in its byte order."""

    def __init__(self, order: str) -> None:
        self.order = order

    def elements(self, raw: memoryview) -> Iterator[tuple[int, memoryview]]:
        """Kind and content of the elements that some bytes are."""
        at = 0
        while at < len(raw):
            kind, size = struct.unpack_from(f"{self.order}II", raw, at)
            small = kind >> 16
            begin, room = (at + 4, 4) if small else (at + 8, len(raw) - at - 8)
            kind, size = (kind & 0xFFFF, small) if small else (kind, size)
            if size > room:
                raise ValueError(f"an element of {size} bytes begins at {at} of {len(raw)}")
            yield kind, raw[begin : begin + size]
            at = at + 8 if small else begin + size + (-size % 8 if kind != FOLDED else 0)

    def numbers(self, element: tuple[int, memoryview]) -> Array:
        kind, content = element
        if kind not in NUMBERS:
            raise ValueError(f"there is an element of kind {kind} where numbers should be")
        return np.frombuffer(content, self.order + NUMBERS[kind])

    def variable(self, raw: memoryview, depth: int = 0) -> tuple[str, Any]:
        """The name and the value of a variable."""
        if not len(raw):
            return "", np.empty((0, 0))
        if depth > DEEPEST:
            raise ValueError("cells lie too deep within one another")
        parts = self.elements(raw)
        flags, extents = self.numbers(next(parts)), self.numbers(next(parts)).tolist()
        name = bytes(next(parts)[1]).decode("ascii", "replace")
        if len(flags) < 1 or min(extents, default=0) < 0:
            raise ValueError(f"a variable has the extents {extents}")
        return name, self._value(int(flags[0]) & 255, int(flags[0]) >> 8, extents, parts, depth)

    def _value(
        self, kind: int, flags: int, extents: list[int], parts: Iterator[tuple[int, memoryview]], depth: int
    ) -> Any:
        if kind == CELL:
            return [self._inner(next(parts), depth) for _ in range(math.prod(extents))]
        if kind == STRUCTURE:
            width = int(self.numbers(next(parts))[0])
            names = bytes(next(parts)[1])
            if width < 1 or len(names) % width:
                raise ValueError("the names of a structure do not have the length they say")
            words = [names[i : i + width].split(b"\0")[0].decode("latin1") for i in range(0, len(names), width)]
            rows = [[self._inner(next(parts), depth) for _ in words] for _ in range(math.prod(extents) if words else 0)]
            return {word: [row[i] for row in rows] for i, word in enumerate(words)}
        if kind == CHARACTERS:
            code, content = next(parts, (1, memoryview(b"")))
            order = {"<": "-le", ">": "-be"}[self.order] if TEXTS.get(code, "").startswith(("utf-16", "utf-3")) else ""
            return bytes(content).decode(TEXTS.get(code, "utf-8") + order)
        if kind == SPARSE:
            return self._dense(flags, extents, parts)
        if kind in NUMERIC:
            whole = self._numbers(flags, parts)
            if len(whole) != math.prod(extents):
                raise ValueError(f"{len(whole)} numbers have the extents {extents}")
            return whole.reshape(extents, order="F")
        raise ValueError(f"a variable is of class {kind}, which is not read here")

    def _inner(self, element: tuple[int, memoryview], depth: int) -> Any:
        if element[0] != MATRIX:
            raise ValueError(f"there is an element of kind {element[0]} where a variable should be")
        return self.variable(element[1], depth + 1)[1]

    def _numbers(self, flags: int, parts: Iterator[tuple[int, memoryview]]) -> Array:
        real = self.numbers(next(parts))
        real = real.astype(real.dtype.newbyteorder("="), copy=False)
        return real + 1j * self.numbers(next(parts)) if flags & COMPLEX else real

    def _dense(self, flags: int, extents: list[int], parts: Iterator[tuple[int, memoryview]]) -> Array:
        """A sparse matrix with its zeros: rows of the others, where every column begins, and the numbers."""
        rows, begins = (self.numbers(next(parts)).astype(np.int64) for _ in range(2))
        values = self._numbers(flags, parts)
        high, wide = extents
        count = int(begins[-1]) if len(begins) else 0
        if len(begins) != wide + 1 or (np.diff(begins) < 0).any() or begins[0] or count > min(len(rows), len(values)):
            raise ValueError("the columns of a sparse matrix do not fit together")
        if count and not 0 <= int(rows[:count].min()) <= int(rows[:count].max()) < high:
            raise ValueError("a row of a sparse matrix lies outside of it")
        believed(high * wide * values.itemsize, "a sparse matrix")
        whole = np.zeros((high, wide), values.dtype)
        whole[rows[:count], np.repeat(np.arange(wide), np.diff(begins))] = values[:count]
        return whole


def matlab(path: str | Path, *names: str) -> tuple[Any, ...]:
    """Some variables of a MATLAB file: arrays, texts, lists of what cells hold, and dictionaries of structures.

    >>> matlab("no.mat", "X")
    Traceback (most recent call last):
    mycelia.mindrecord.errors.RecordError: cannot read a MATLAB file: [Errno 2] No such file or directory: 'no.mat'
    ...
    """
    try:
        raw = memoryview(content_of(path))
        order = {b"IM": "<", b"MI": ">"}.get(bytes(raw[126:HEAD]))
        if order is None or raw[124 if order == ">" else 125] != 1:
            raise ValueError("it is not of version 5, as save -v6 and -v7 write them")
        return _variables(raw, _Reader(order), names, str(path))
    except TooLarge:
        raise
    except (OSError, ValueError, IndexError, OverflowError, StopIteration, struct.error, zlib.error) as error:
        reason = str(error) or "it ends too early"
        raise RecordError(f"cannot read a MATLAB file: {reason}", given={"file": str(path)}) from error


def _variables(raw: memoryview, reader: _Reader, names: tuple[str, ...], path: str) -> tuple[Any, ...]:
    most, found = max(largest(), LEAST * len(raw)), dict[str, Any]()
    for kind, content in reader.elements(raw[HEAD:]):
        if kind == FOLDED:
            whole = zlib.decompressobj().decompress(content, most + 1)
            most -= len(whole)
            if most < 0:
                believed(max(len(whole), largest() + 1), "a compressed variable", file=path)
            kind, content = next(reader.elements(memoryview(whole)))
        if kind == MATRIX:
            name, value = reader.variable(content)
            found[name] = value
    absent = [name for name in names if name not in found]
    if absent:
        raise RecordError(f"a MATLAB file has no variable {absent[0]!r}", given={"file": path, "has": sorted(found)})
    return tuple(found[name] for name in names)


def matlab_numbers(path: str | Path, *names: str) -> tuple[Array, ...]:
    """Some variables of a MATLAB file that are arrays of real numbers, none of them infinite."""
    found = matlab(path, *names)
    for name, value in zip(names, found, strict=True):
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf" or not np.isfinite(value).all():
            raise RecordError(f"a MATLAB file should hold numbers as {name!r}", given={"file": str(path)})
    return found
