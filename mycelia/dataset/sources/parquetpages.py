"""How large the columns of a Parquet file are unfolded: told by the headers of their pages, before that is done.

A text of a dictionary that a million rows name, or that repeats the one before it, takes next to no room in a file.
Pages begin with a header in Thrift's compact form, as the footer is (sources/footers.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from mycelia.dataset.errors import DataError
from mycelia.dataset.sources.arrowweights import weight_of
from mycelia.dataset.sources.footers import groups_of
from mycelia.frozen import frozen
from mycelia.mindrecord.limits import believed, largest
from mycelia.plainfiles import opened

HEADERS = (1 << 10, 1 << 16, 1 << 24)  # bytes in which the header of a page is looked for; its statistics may be long
DATA, DICTIONARY, DATA_V2 = 0, 2, 3  # kinds of pages
AS_WRITTEN = (0, 6)  # encodings whose texts stand in the page: plain, and with their lengths before
SHARED = 7  # the one whose texts share their beginnings
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
NESTED = 32  # structures within one another


class CompactReader:
    """Structures in Thrift's compact form: their numbers, lists and structures by number; what else there is is passed.

    >>> CompactReader(bytes([0x15, 6, 0x1C, 0x15, 2, 0, 0])).structure()
    {1: 3, 2: {1: 1}}
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a structure; raises IndexError where the data end."""
        if depth > NESTED:
            raise DataError("a Parquet file is damaged: structures lie too deep within one another")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._number()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = self._unsigned() if head >> 4 == 15 else head >> 4
        if count > len(self.data):
            raise DataError("a Parquet file is damaged: a list is longer than what holds it")
        kind = 3 if head & 15 in (1, 2) else head & 15  # in a list a truth value takes a byte
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise DataError("a Parquet file is damaged: a number is too long")

    def _number(self) -> int:
        coded = self._unsigned()
        return (coded >> 1) ^ -(coded & 1)

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self._number()
        if kind == 12:
            return self.structure(depth + 1)
        if kind in (9, 10):
            return self._list(depth)
        if kind not in (3, 7, 8):  # a map: there is none in these files
            raise DataError(f"a Parquet file is damaged: a value of the kind {kind} in a header")
        size = {3: 1, 7: 8}.get(kind) or self._unsigned()
        self.at += size
        return None


@frozen
class Unfolded:
    """What a column takes: bytes that are known, and values of which each may be as long as `longest`."""

    path: str
    nested: bool
    known: int
    named: int = 0
    longest: int = 0
    shared: bool = False  # whether texts share their beginnings

    @property
    def most(self) -> int:
        """The bytes that all values may have together."""
        return self.known + self.named * self.longest


def _headers(handle: int, begin: int, end: int, values: int) -> Iterator[dict[int, Any]]:
    """The headers of the pages of a column, as far as the library reads them."""
    at, seen = begin, 0
    while seen < values and at < end:
        for size in HEADERS:
            reader = CompactReader(os.pread(handle, min(size, end - at), at))
            try:
                header = reader.structure()
                break
            except IndexError:
                header = {}
        body, unfolded = header.get(3), header.get(2)
        if not isinstance(body, int) or not isinstance(unfolded, int) or body < 0 or unfolded < 0:
            raise DataError("a Parquet file is damaged: a page has no header")
        yield header
        seen += _count(header)
        at += reader.at + body


def _part(header: dict[int, Any], field: int, number: int) -> int:
    part = header.get(field)
    found = part.get(number) if isinstance(part, dict) else None
    if not isinstance(found, int) or found < 0:
        raise DataError("a Parquet file is damaged: a page does not say how many values it has")
    return found


def _count(header: dict[int, Any]) -> int:
    """How many values a page adds to its column."""
    return _part(header, 5 if header.get(1) == DATA else 8, 1) if header.get(1) in (DATA, DATA_V2) else 0


def _described(handle: int, path: str, group: int, groups: int) -> list[dict[int, Any]]:
    """What the footer says of every column of a group of rows; to ask the library may end the process."""
    starts = groups_of(path, groups)
    try:
        assert starts is not None, "the library has read the same footer"
        begin, end = starts[group : group + 2].tolist()
        columns = CompactReader(os.pread(handle, end - begin, begin)).structure()[1]
        return [column[3] for column in columns if min(_number(column[3], n) for n in (5, 7, 9)) >= 0]
    except (AssertionError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise DataError("a Parquet file is damaged: its footer does not tell where columns are") from error


def _number(told: dict[int, Any], field: int) -> int:
    """A number that must be there."""
    if not isinstance(told.get(field), int):
        raise KeyError(field)
    return int(told[field])


def _unfolded(handle: int, told: dict[int, Any], described: Any) -> Unfolded:
    """What a column of a group of rows takes, by the headers of its pages."""
    values, size, begin, dictionary = told[5], told[7], told[9], told.get(11)
    if isinstance(dictionary, int) and 0 < dictionary < begin:
        begin = dictionary
    nested = described.max_repetition_level > 0
    seen = known = named = longest = shared = 0
    for header in _headers(handle, begin, begin + size, values):
        count, size = _count(header), header[2]
        seen += count
        if header.get(1) == DICTIONARY:
            longest = max(longest, size)
        elif count:
            coded = _part(header, 5, 2) if header[1] == DATA else _part(header, 8, 4)
            if coded in AS_WRITTEN:
                known += size
            else:
                named += count
                shared |= coded == SHARED
                longest = max(longest, size)
    if described.physical_type == "BYTE_ARRAY":
        return Unfolded(described.path, nested, known + 8 * seen, named, longest, bool(shared))
    width = WIDTHS.get(described.physical_type, max(0, described.length or 0))
    return Unfolded(described.path, nested, width * seen)


def _wanted(path: str, columns: Sequence[str]) -> bool:
    return any(path == c or path.startswith(f"{c}.") for c in columns)


def read_group(file: Any, path: str, group: int, columns: Sequence[str]) -> Any:
    """Some columns of a group of rows as a table of Arrow; what would take more memory than a sample may is an error.

    Texts that are named, or share their beginnings, are read some rows at a time and weighed.
    """
    about, handle = file.metadata, opened(path)
    try:
        described = [about.schema.column(i) for i in range(about.num_columns)]
        told = _described(handle, path, group, about.num_row_groups)
        if len(told) != len(described):
            raise DataError("a Parquet file is damaged: a group of rows lacks columns", given={"group": group})
        pairs = zip(told, described, strict=True)
        parts = [_unfolded(handle, one, column) for one, column in pairs if _wanted(column.path, columns)]
    finally:
        os.close(handle)
    believed(sum(p.known for p in parts), "a group of rows", file=path, group=group)
    vague = [p for p in parts if p.named and p.most > largest()]
    for part in vague:
        if part.nested:
            _weigh_names(path, group, part)
    flat = [p for p in vague if not p.nested]
    if not flat:
        return file.read_row_group(group, columns=list(columns), use_threads=False)
    rows = max(1, largest() // 4 // sum(p.longest + 8 for p in flat))
    batches, weight = [], 0
    for batch in file.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=False):
        weight += sum(weight_of(batch.column(c)) for c in columns)
        believed(weight, "a group of rows", file=path, group=group)
        batches.append(batch)
    return import_module("pyarrow").Table.from_batches(batches)


def _weigh_names(path: str, group: int, part: Unfolded) -> None:
    """Raise when texts in lists, which are named by number, take too much; they are read without being unfolded."""
    if part.shared:
        believed(part.most, "a group of rows", file=path, group=group)
    with import_module("pyarrow.parquet").ParquetFile(path, read_dictionary=[part.path]) as named:
        column = named.read_row_group(group, columns=[part.path], use_threads=False).column(0)
    believed(weight_of(column), "a group of rows", file=path, group=group)
