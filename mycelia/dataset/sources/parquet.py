"""Parquet and Arrow tables: only what they say of themselves is read at first, then one group of rows at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_value
from mycelia.dataset.errors import DataError, missing
from mycelia.dataset.flow.request import Row
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.samplers import Sampler, Shuffle, WindowSampler
from mycelia.dataset.sources.arrowfiles import Batches
from mycelia.dataset.sources.arrowweights import OBJECT, gapped, weight_of
from mycelia.dataset.sources.columnfiles import ColumnFiles
from mycelia.dataset.sources.filedata import FileData, Mode
from mycelia.dataset.sources.footers import Footer, footer_of
from mycelia.dataset.sources.parquetpages import read_group
from mycelia.mindrecord.limits import TooLarge, believed
from mycelia.types import Array

HELD = 1 << 27  # bytes of groups that stay in memory
MIXED, MIXED_ROWS = 32, 1 << 17  # groups, and at least so many rows, that are mixed at once where not all fit
FORWARD = 4  # groups that stay in memory when rows are read as they are stored
Columns = dict[str, Any]


class Groups:
    """Groups of rows that were read last, up to a number of bytes; threads that want the same one wait for it."""

    def __init__(self, read: Callable[[tuple[int, int]], Columns]) -> None:
        self.read = read
        self.lock = threading.Lock()
        self.most = 1 << 30  # groups
        self.kept: OrderedDict[tuple[int, int], tuple[Columns, int]] = OrderedDict()
        self.turns: dict[tuple[int, int], threading.Lock] = {}

    def get(self, key: tuple[int, int]) -> Columns:
        """The columns of a group."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
                return self.kept[key][0]
            turn = self.turns.setdefault(key, threading.Lock())
        with turn:
            with self.lock:
                if key in self.kept:
                    return self.kept[key][0]
            columns = self.read(key)
            weight = sum(_weight(c) for c in columns.values())
            with self.lock:
                self.kept[key] = columns, weight
                self.turns.pop(key, None)
                while len(self.kept) > 2 and (len(self.kept) > self.most or self._held() > HELD):
                    self.kept.popitem(last=False)
        return columns

    def _held(self) -> int:
        return sum(weight for _, weight in self.kept.values())


def _weight(column: Any) -> int:
    return int(column.nbytes) + (sum(getattr(c, "nbytes", 64) for c in column) if column.dtype.hasobject else 0)


class ArrowData(FileData):
    """Rows of Parquet or Arrow files. A file is opened for what it says of itself, and closed again."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str] | None) -> None:
        super().__init__(paths)
        if find_spec("pyarrow") is None:
            raise missing("pyarrow", "reading Parquet and Arrow files")
        self.wanted = None if columns is None else list(columns)
        self.weight = 0  # bytes of all columns, unfolded: about, by those of the first file
        self.laid: dict[int, list[int]] = {}  # the rows of every group of the files that were looked at
        self.borders: dict[int, Array] = {}  # where those groups end
        self.batches: dict[int, Batches] = {}  # of the Arrow files that were looked at
        self.forward = False  # whether rows are read as they are stored
        first = self._look(0)
        self.schema = _chosen(first, self.wanted)
        self.columns = tuple(self.wanted or first.names)
        self.rows = [sum(self.laid[0])]
        written = footer_of(paths[0]) if _is_parquet(paths[0]) else None
        for file, path in enumerate(paths[1:], 1):
            with _told(path):
                told = footer_of(path) if written is not None and _is_parquet(path) else None
            if told is None or written is None or told.schema != written.schema:
                self._look(file)
                told = Footer(b"", sum(self.laid[file]))
            self.rows.append(told.rows)
        self._begin()

    @property
    def sizes(self) -> list[int]:
        return self.rows

    def _begin(self) -> None:
        self.held = Groups(self._read)
        self.held.most = FORWARD if self.forward else self.held.most

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "held"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _look(self, file: int) -> Any:
        """The columns of a file; how many rows its groups have is noted."""
        path = self.paths[file]
        with _told(path):
            if _is_parquet(path):
                with import_module("pyarrow.parquet").ParquetFile(path) as opened:
                    about, schema = opened.metadata, opened.schema_arrow
                    sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
                    weights = [about.row_group(i).total_byte_size for i in range(about.num_row_groups)]
                    weighs = max(sum(weights), rows_weigh(schema, self.wanted) * about.num_rows)
                    rows = about.num_rows
            else:
                self.batches[file] = batches = Batches(path)
                sizes, weights, schema = batches.rows, batches.weights, batches.schema
                rows = sum(sizes)
                weighs = max(sum(weights), rows_weigh(schema, self.wanted) * rows)
            if len({*schema.names}) < len(schema.names):  # a name that is no text is told here, too
                raise DataError("two columns of a file have one name", given={"columns": schema.names})
            if any(s < 0 for s in sizes) or sum(sizes) != rows:
                raise DataError("the groups of a file do not have the rows that it says", given={"file": path})
            each = rows_weigh(schema, self.wanted)
            for weight, count in zip(weights, sizes, strict=True):  # a value that is repeated takes no room in a file
                believed(max(weight, each * count), "a group of rows", file=path)
            self.laid[file] = sizes
            self.weight = self.weight or weighs * len(self.paths)
            chosen = _chosen(schema, self.wanted)
            if file and not chosen.equals(self.schema):
                given = {"file": path, "columns": str(chosen), "of the first file": str(self.schema)}
                raise DataError("Parquet or Arrow files have different columns", given=given)
            return schema

    def _groups(self, file: int) -> list[int]:
        """The rows of every group of a file."""
        if file not in self.laid:
            self._look(file)
            if sum(self.laid[file]) != self.sizes[file]:
                raise DataError("a file has changed since it was opened", given={"file": self.paths[file]})
        return self.laid[file]

    def _read(self, key: tuple[int, int]) -> Columns:
        """The columns of a group as arrays."""
        path, group = self.paths[key[0]], key[1]
        with _told(path):
            if _is_parquet(path):
                with import_module("pyarrow.parquet").ParquetFile(path) as file:
                    table = read_group(file, path, group, self.columns)
            else:
                if key[0] not in self.batches:
                    self._look(key[0])
                table = self.batches[key[0]][group]
            weight = sum(weight_of(table.column(c)) for c in self.columns)
            believed(weight, "a group of rows", file=path, group=group)
            made = {c: _numpy(table.column(c)) for c in self.columns}
            if any(len(c) != self._groups(key[0])[group] for c in made.values()):
                raise DataError("a group of rows is not as long as its file says", given={"file": path, "group": group})
            return made

    def blocks(self) -> list[int]:
        """Rows of all files in blocks as large as the groups of the first: what is best read together."""
        rows = max([*self.laid[0], 1])
        return [min(rows, size - start) for size in self.sizes for start in range(0, size, rows)]

    @lazy
    def edges(self) -> Array:
        """Where the rows of every file end."""
        return np.array(self.ends, np.int64)

    def _borders(self, file: int) -> Array:
        """Where the groups of a file end."""
        if file not in self.borders:
            self.borders[file] = np.cumsum(self._groups(file), dtype=np.int64)
        return self.borders[file]

    def fetch(self, index: int) -> Row:
        file, row = self.place(index)
        ends = self._borders(file)
        group = int(np.searchsorted(ends, row, side="right"))
        columns = self.held.get((file, group))
        return tuple(_cell(columns[c], row - (int(ends[group - 1]) if group else 0)) for c in self.columns)

    def gather(self, indices: Array) -> Row | None:
        out: list[Any] = []
        for key, chosen, rows in self._by_group(indices):
            columns = self.held.get(key)
            for i, name in enumerate(self.columns):
                column = columns[name]
                if column.dtype.hasobject:
                    return None
                if len(out) <= i:
                    out.append(np.empty((len(indices), *column.shape[1:]), column.dtype))
                if column.shape[1:] != out[i].shape[1:] or column.dtype != out[i].dtype:
                    return None
                out[i][chosen] = column[rows]
        return tuple(out)

    def _by_group(self, indices: Array) -> Iterator[tuple[tuple[int, int], Array, Array]]:
        """The groups that some rows are in: each with which of them these are, and where in it."""
        files = np.searchsorted(self.edges, indices, side="right")
        for file in np.unique(files).tolist():
            here, ends = np.flatnonzero(files == file), self._borders(file)
            rows = indices[here] - (self.edges[file - 1] if file else 0)
            groups = np.searchsorted(ends, rows, side="right")
            for group in np.unique(groups).tolist():
                inside = groups == group
                yield (file, group), here[inside], rows[inside] - (ends[group - 1] if group else 0)

    def labels(self, column: str) -> Array:
        keys = [(file, group) for file in range(len(self.paths)) for group in range(len(self._groups(file)))]
        return np.concatenate([np.asarray(self.held.get(key)[column]) for key in keys])


def enough(rows: int) -> int:
    """How many groups of so many rows are mixed at once: a batch needs rows of most of them.

    >>> enough(100_000), enough(1000)
    (32, 132)
    """
    return max(MIXED, -(-MIXED_ROWS // max(rows, 1)))


def _cell(column: Any, row: int) -> Any:
    value = column[row]
    return as_value(value) if column.dtype.hasobject else np.array(value)


def _is_parquet(path: str) -> bool:
    return path.endswith((".parquet", ".pq"))


class _told:
    """What a library raises about a file, told with the file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, DataError | TooLarge):
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(f"cannot read an Arrow file: {reason}", given={"file": self.path}) from error


def rows_weigh(schema: Any, columns: Sequence[str] | None) -> int:
    """The bytes that a row takes in memory, at least: in a file, values that are often repeated take next to none.

    >>> class Number: bit_width = 32
    >>> class Field: name, type = "x", Number()
    >>> rows_weigh([Field()], None)
    4
    """
    total = 0
    for field in schema:
        if columns is None or field.name in columns:
            try:
                total += -(-field.type.bit_width // 8)
            except ValueError:  # of no fixed width: an object
                total += OBJECT
    return total


def _chosen(schema: Any, columns: Sequence[str] | None) -> Any:
    absent = [c for c in columns or () if c not in schema.names]
    if absent:
        raise DataError(f"there is no column {absent}", given={"columns": list(schema.names)})
    return schema if columns is None else import_module("pyarrow").schema([schema.field(c) for c in columns])


def _numpy(column: Any) -> Any:
    """A column as an array; bytes as arrays of bytes, and lists of lists as arrays with more axes where they fit."""
    if hasattr(
        column.type, "index_type"
    ):  # values that are named by number: the library forgets which of them are absent
        column = column.cast(column.type.value_type)
    if gapped(column):
        return _with_gaps(column)
    array = column.to_numpy() if hasattr(column, "num_chunks") else column.to_numpy(zero_copy_only=False)
    if array.dtype.hasobject and len(array):
        filled = _cells(array)
        shapes = {getattr(a, "shape", None) for a in filled}
        return np.stack(filled) if len(shapes) == 1 and None not in shapes else filled
    return array


def _with_gaps(column: Any) -> Any:
    """Whole numbers, some of which are missing (None), or lists of such: the library would round them to floats."""
    filled, at = np.empty(len(column), object), 0
    for chunk in getattr(column, "chunks", [column]):
        there = chunk.is_valid().to_numpy(zero_copy_only=False)
        if hasattr(chunk, "offsets") or hasattr(chunk.type, "list_size"):
            cells = (_numpy(cell.values) if cell.is_valid else None for cell in chunk)
        elif chunk.type.num_fields:  # of named parts
            cells = (cell.as_py() for cell in chunk)
        else:
            cells = iter(chunk.fill_null(0).to_numpy(zero_copy_only=False))
        for i, cell in enumerate(cells, at):
            filled[i] = cell if there[i - at] else None
        at += len(chunk)
    return filled


def _cells(array: Any) -> Any:
    """Cells that NumPy would spoil or nest: bytes, which lose their zeros at the end, and arrays of arrays."""
    filled = np.empty(len(array), object)
    for i, cell in enumerate(array):
        filled[i] = np.frombuffer(cell, np.uint8) if isinstance(cell, bytes) else cell
        if isinstance(cell, np.ndarray) and cell.dtype.hasobject and len(cell):
            inner = _cells(cell)
            shapes = {getattr(a, "shape", None) for a in inner}
            filled[i] = np.stack(inner) if len(shapes) == 1 and None not in shapes else cell
    return filled


class ParquetDataset(ColumnFiles):
    """Rows of Parquet (`.parquet`, `.pq`) or Arrow IPC files; needs pyarrow.

    Files are read a group of rows at a time, and the groups that were read last are kept. Where all of them do not fit,
    `shuffle` mixes the groups, and the rows of some groups at a time; `Shuffle.GLOBAL` mixes all rows at any cost.
    """

    def open(self, paths: Sequence[str], columns: Sequence[str] | None) -> ArrowData:
        return ArrowData(paths, columns)

    def mixed(self, data: ArrowData, shuffle: Mode) -> Sampler | None:
        data.forward = shuffle is False
        data._begin()
        if data.weight <= HELD or not (shuffle is None or shuffle is True or shuffle == Shuffle.ADAPTIVE):
            return None
        blocks = data.blocks()
        return WindowSampler(blocks, min(max(1, HELD // 2 * len(blocks) // data.weight), enough(blocks[0])))
