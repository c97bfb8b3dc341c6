"""Sources in text files: lines, and comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from mycelia.dataset.caches.cache import DatasetCache
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Row
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.choosing import choose
from mycelia.dataset.plan.nodes import unique
from mycelia.dataset.plan.samplers import Shuffle
from mycelia.dataset.sources.filedata import FileData, Files, Mode, listed
from mycelia.dataset.sources.memory import MappableDataset
from mycelia.dataset.sources.textbytes import TextBytes
from mycelia.errors import ArgumentError
from mycelia.types import Array

BOM = b"\xef\xbb\xbf"  # which some editors write before a text


class LineData(FileData):
    """Lines of text files, found by their newlines."""

    columns: tuple[str, ...] = ("text",)

    @lazy
    def lines(self) -> list[tuple[TextBytes, Array]]:
        """The bytes of every file, and where its lines begin and end."""
        return [_lines(p) for p in self.paths]

    @lazy
    def sizes(self) -> list[int]:
        return [len(spans) for _, spans in self.lines]

    def line(self, index: int) -> str:
        """A line, without its newline."""
        file, row = self.place(index)
        raw, spans = self.lines[file]
        begin, end = spans[row].tolist()
        try:
            return raw[begin:end].decode()
        except UnicodeDecodeError as error:
            hint = "convert the file: iconv -f latin1 -t utf-8, or whatever its encoding is"
            raise DataError("a line is not UTF-8", given={"line": self.where(index)}, hint=hint) from error

    def fetch(self, index: int) -> Row:
        return (np.array(self.line(index)),)

    def where(self, index: int) -> str:
        file, row = self.place(index)
        raw, spans = self.lines[file]
        before = np.searchsorted(raw.positions(10), spans[row, 0])
        return f"{self.paths[file]}, line {before + 1}"

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "lines"}


def _lines(path: str) -> tuple[TextBytes, Array]:
    raw = TextBytes(path)
    spans = raw.lines()
    if raw[:3] == BOM:
        spans[0, 0] = 3
    return raw, spans[spans[:, 1] > spans[:, 0]]  # empty lines are no rows


class TextFileDataset(MappableDataset):
    """Lines of text files.

    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp(), "a.txt"); _ = place.write_text("one\\ntwo\\n")
    >>> [str(r["text"]) for r in TextFileDataset(str(place), shuffle=False).create_dict_iterator(1, output_numpy=True)]
    ['one', 'two']
    """

    def __init__(
        self,
        dataset_files: Files,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: DatasetCache | None = None,
    ) -> None:
        paths = listed(dataset_files, "TextFileDataset")
        data = LineData(paths)
        order = choose(num_samples, None, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        super().__init__(data, order, workers=num_parallel_workers, arguments={"dataset_files": paths}, cache=cache)


class CSVData(LineData):
    """Lines of CSV files, split into columns; a column's default value tells its type."""

    def __init__(
        self, paths: Sequence[str], delimiter: str, defaults: Sequence[Any] | None, names: Sequence[str]
    ) -> None:
        super().__init__(paths)
        self.delimiter, self.defaults = delimiter, list(defaults or [])
        self.header = not names
        self.columns = unique(tuple(names) or tuple(self._split(self._first(self.paths[0]))), "CSVDataset")
        for path in self.paths[1:] if self.header else []:
            if (own := tuple(self._split(self._first(path)))) != self.columns:
                given = {"file": path, "columns": list(own), "of the first file": list(self.columns)}
                raise ArgumentError("CSV files have different columns", given=given)
        if self.defaults and len(self.defaults) != len(self.columns):
            raise ArgumentError(f"{len(self.columns)} columns have {len(self.defaults)} defaults")

    def _first(self, path: str) -> str:
        raw, spans = _lines(path)
        if not len(spans):
            raise ArgumentError("an empty CSV file has no header", given={"file": path})
        begin, end = spans[0].tolist()
        return raw[begin:end].decode()

    @lazy
    def lines(self) -> list[tuple[TextBytes, Array]]:
        found = [(raw, self._joined(raw, spans)) for raw, spans in map(_lines, self.paths)]
        return [(raw, spans[1:] if self.header else spans) for raw, spans in found]

    def _joined(self, raw: TextBytes, spans: Array) -> Array:
        """Where rows begin and end: a quoted cell that is open at the end of a line goes on in the next ones."""
        quotes = raw.positions(34)
        counts = np.diff(np.searchsorted(quotes, spans), axis=1)[:, 0]
        odd = np.flatnonzero(counts % 2).tolist()
        kept, at = np.ones(len(spans), bool), 0
        while at + 1 < len(odd):
            first, last = odd[at : at + 2]
            if self._closed(raw[spans[first, 0] : spans[first, 1]]):
                at += 1
                continue
            spans[first, 1] = spans[last, 1]
            kept[first + 1 : last + 1] = False
            at += 2
        return spans[kept]

    def _closed(self, line: bytes) -> bool:
        try:
            next(csv.reader([line.decode("utf-8", "replace")], delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            return "unexpected end" not in str(error)
        return True

    def _split(self, line: str) -> list[str]:
        reader = csv.reader(io.StringIO(line, newline=""), delimiter=self.delimiter, strict=True)
        return next(reader)

    def fetch(self, index: int) -> Row:
        try:
            cells = self._split(self.line(index))
        except csv.Error as error:
            raise DataError(f"a line is not CSV: {error}", given={"line": self.where(index)}) from error
        if len(cells) != len(self.columns):
            raise DataError(
                f"a line has {len(cells)} cells for {len(self.columns)} columns", given={"line": self.where(index)}
            )
        defaults = self.defaults or [""] * len(cells)
        try:
            return tuple(_cell(c, d) for c, d in zip(cells, defaults, strict=True))
        except (ValueError, OverflowError) as error:
            hint = "column_defaults tell the types: 0 a whole number of 32 bits, 0.0 a fraction, '' a text"
            if self.where(index).endswith(", line 1"):
                hint = "if the first line names the columns, leave out column_names"
            raise DataError(f"a cell does not fit: {error}", given={"line": self.where(index)}, hint=hint) from error


def _cell(text: str, default: Any) -> Array:
    """A cell in the type of its default, which stands in when the cell is empty."""
    if text == "":
        text = str(default)
    if isinstance(default, bool) or not isinstance(default, int | float):
        return np.array(text)
    return np.array(int(text), np.int32) if isinstance(default, int) else np.array(float(text), np.float32)


class CSVDataset(MappableDataset):
    """Rows of CSV files; without `column_names` the first line names them.

    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp(), "a.csv"); _ = place.write_text("1,one\\n2,two\\n")
    >>> d = CSVDataset(str(place), column_defaults=[0, ""], column_names=["n", "name"], shuffle=False)
    >>> next(d.create_dict_iterator(output_numpy=True))
    {'n': array(1, dtype=int32), 'name': array('one', dtype='<U3')}
    """

    def __init__(
        self,
        dataset_files: Files,
        field_delim: str = ",",
        column_defaults: Sequence[Any] | None = None,
        column_names: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: DatasetCache | None = None,
    ) -> None:
        if len(field_delim) != 1 or field_delim in '\n\r"':
            raise ArgumentError(f"field_delim is one character, and is {field_delim!r}")
        paths = listed(dataset_files, "CSVDataset")
        data = CSVData(paths, field_delim, column_defaults, column_names or ())
        order = choose(num_samples, None, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        told = {"dataset_files": paths, "field_delim": field_delim, "column_defaults": column_defaults}
        told["column_names"] = column_names
        super().__init__(data, order, workers=num_parallel_workers, arguments=told, cache=cache)
