"""Sources in other people's containers: Parquet and Arrow tables, tar shards."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_value
from mycelia.dataset.errors import DataError, missing
from mycelia.dataset.filedata import FileData, Files, Mode, listed
from mycelia.dataset.flow.request import Row
from mycelia.dataset.lazy import lazy
from mycelia.dataset.samplers import Sampler, choose
from mycelia.dataset.sources import MappableDataset
from mycelia.types import Array


class ArrowData(FileData):
    """Rows of Parquet or Arrow files, a column at a time; a column is read from its file once."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str] | None) -> None:
        super().__init__(paths)
        if find_spec("pyarrow") is None:
            raise missing("pyarrow", "reading Parquet and Arrow files")
        self.tables = [_arrow(p, columns) for p in paths]
        self.columns = tuple(columns or self.tables[0].column_names)
        for path, table in zip(paths, self.tables, strict=True):
            if not table.schema.equals(self.tables[0].schema):
                given = {"file": path, "columns": str(table.schema), "of the first file": str(self.tables[0].schema)}
                raise DataError("Parquet or Arrow files have different columns", given=given)

    @lazy
    def sizes(self) -> list[int]:
        return [t.num_rows for t in self.tables]

    @lazy
    def arrays(self) -> dict[str, Any]:
        """Every column as one array: numbers without a copy where there is one chunk."""
        whole = import_module("pyarrow").concat_tables(self.tables)
        return {c: _numpy(whole.column(c)) for c in self.columns}

    def fetch(self, index: int) -> Row:
        return tuple(as_value(self.arrays[c][index]) for c in self.columns)

    def gather(self, indices: Array) -> Row | None:
        if any(a.dtype.hasobject for a in self.arrays.values()):
            return None
        return tuple(self.arrays[c][indices] for c in self.columns)

    def labels(self, column: str) -> Array:
        return np.asarray(self.arrays[column])


def _arrow(path: str, columns: Sequence[str] | None) -> Any:
    try:
        if path.endswith((".parquet", ".pq")):
            return import_module("pyarrow.parquet").read_table(path, columns=list(columns) if columns else None)
        with Path(path).open("rb") as file:
            ipc = import_module("pyarrow").ipc
            body = file.read()
        # files of Hugging Face's `datasets` are streams, without the mark of Arrow files
        opened = ipc.open_file if body.startswith(b"ARROW1") else ipc.open_stream
        table = opened(io.BytesIO(body)).read_all()
        return table.select(list(columns)) if columns else table
    except (KeyError, ValueError, OSError) as error:
        raise DataError(f"cannot read an Arrow file: {error}", given={"file": path}) from error


def _numpy(column: Any) -> Any:
    """A column as an array; bytes as arrays of bytes, and lists of lists as arrays with more axes where they fit."""
    array = column.to_numpy()
    if array.dtype.hasobject and len(array):
        filled = _cells(array)
        shapes = {getattr(a, "shape", None) for a in filled}
        return np.stack(filled) if len(shapes) == 1 and None not in shapes else filled
    return array


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


class ParquetDataset(MappableDataset):
    """Rows of Parquet (`.parquet`, `.pq`) or Arrow IPC files; needs pyarrow."""

    def __init__(
        self,
        dataset_files: Files,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = None,
        sampler: Sampler | Iterable[int] | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        paths = listed(dataset_files, "ParquetDataset")
        data = ArrowData(paths, columns_list)
        order = choose(num_samples, sampler, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        told = {"dataset_files": paths, "columns_list": columns_list}
        super().__init__(data, order, workers=num_parallel_workers, arguments=told)


class TarData(FileData):
    """Samples of tar shards: files with one stem belong together, and their endings name the columns."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str] | None) -> None:
        super().__init__(paths)
        self.samples = [_members(p) for p in paths]
        first = next((s[0][1] for s in self.samples if s), {})
        self.columns = tuple(columns or ["__key__", *sorted(first)])

    @lazy
    def sizes(self) -> list[int]:
        return [len(s) for s in self.samples]

    def fetch(self, index: int) -> Row:
        file, row = self.place(index)
        key, parts = self.samples[file][row]
        absent = [c for c in self.columns if c != "__key__" and c not in parts]
        if absent:
            raise DataError(f"sample {key!r} lacks {absent}", given={"sample": self.where(index), "has": sorted(parts)})
        with Path(self.paths[file]).open("rb") as shard:
            return tuple(np.array(key) if c == "__key__" else _part(shard, *parts[c]) for c in self.columns)


def _part(shard: Any, offset: int, size: int) -> Array:
    shard.seek(offset)
    return np.frombuffer(shard.read(size), np.uint8)


def _members(path: str) -> list[tuple[str, dict[str, tuple[int, int]]]]:
    found: dict[str, dict[str, tuple[int, int]]] = {}
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                if member.isfile():
                    folder, _, name = member.name.rpartition("/")
                    stem, _, ending = name.partition(".")
                    key = f"{folder}/{stem}" if folder else stem
                    found.setdefault(key, {})[ending] = (member.offset_data, member.size)
    except (tarfile.TarError, OSError) as error:
        raise DataError(f"cannot read a tar shard: {error}", given={"file": path}) from error
    return list(found.items())


class WebDataset(MappableDataset):
    """Samples of tar shards, each column the bytes of one file: `7.jpg` and `7.cls` make columns `jpg` and `cls`."""

    def __init__(
        self,
        dataset_files: Files,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = None,
        sampler: Sampler | Iterable[int] | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        paths = listed(dataset_files, "WebDataset")
        data = TarData(paths, columns_list)
        order = choose(num_samples, sampler, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        told = {"dataset_files": paths, "columns_list": columns_list}
        super().__init__(data, order, workers=num_parallel_workers, arguments=told)
