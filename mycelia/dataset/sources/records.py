"""Sources in record files: our own, and TFRecords."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_dtype, as_value
from mycelia.dataset.caches.cache import DatasetCache
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Row
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.choosing import choose
from mycelia.dataset.plan.samplers import Sampler, Shuffle
from mycelia.dataset.sources.filedata import FileData, Files, Mode, listed
from mycelia.dataset.sources.memory import MappableDataset
from mycelia.dataset.sources.schema import Schema, as_schema
from mycelia.errors import ArgumentError
from mycelia.mindrecord.reader import RecordFile, family
from mycelia.mindrecord.tfrecord import TFRecordFile
from mycelia.types import Array


class RecordData(FileData):
    """Rows of record files, with rows of padding after them."""

    def __init__(
        self, paths: Sequence[str], columns: Sequence[str] | None, padding: dict[str, Any] | None, padded: int
    ) -> None:
        super().__init__(paths)
        self.files = [RecordFile(p) for p in paths]
        self.columns = tuple(columns or sorted(c.name for c in self.files[0].header.columns))  # as MindSpore does
        for file in self.files:
            for name in self.columns:
                file.column(name)
        self.padding, self.padded = padding, padded

    @lazy
    def sizes(self) -> list[int]:
        return [len(f) for f in self.files] + ([self.padded] if self.padded else [])

    def fetch(self, index: int) -> Row:
        file, row = self.place(index)
        if file == len(self.files):
            assert self.padding is not None, "padding comes with its row"
            return tuple(as_value(self.padding[c]) for c in self.columns)
        record = self.files[file][row]
        return tuple(np.array(record[c]) for c in self.columns)  # copies, which may be written to

    def gather(self, indices: Array) -> Row | None:
        if len(self.files) == 1 and not self.padded:
            alike = self.files[0].gather(indices, self.columns)
            return None if alike is None else tuple(alike)
        which = np.searchsorted(self.ends, indices, side="right")
        if which.size and which.max() == len(self.files):
            return None
        out: list[Any] = []
        for number in np.unique(which).tolist():
            chosen = np.flatnonzero(which == number)
            first = self.ends[number - 1] if number else 0
            part = self.files[number].gather(indices[chosen] - first, self.columns)
            if part is None or (out and [p.shape[1:] for p in part] != [o.shape[1:] for o in out]):
                return None
            out = out or [np.empty((len(indices), *p.shape[1:]), p.dtype) for p in part]
            for whole_column, piece in zip(out, part, strict=True):
                whole_column[chosen] = piece
        return tuple(out)

    def labels(self, column: str) -> Array:
        return np.concatenate([f.values(column) for f in self.files])


class MindDataset(MappableDataset):
    """Rows of record files (`mindrecord`). One name of several that share rows stands for all of them.

    >>> import tempfile
    >>> from mycelia.mindrecord import FileWriter
    >>> place = tempfile.mkdtemp() + "/a.mindrecord"
    >>> w = FileWriter(place); _ = w.add_schema({"x": {"type": "int32"}}); w.write_raw_data([{"x": 5}]); w.commit()
    >>> next(MindDataset(place).create_dict_iterator(output_numpy=True))
    {'x': array(5, dtype=int32)}
    """

    def __init__(
        self,
        dataset_files: Files,
        columns_list: Sequence[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Sampler | Iterable[int] | None = None,
        padded_sample: dict[str, Any] | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: DatasetCache | None = None,
    ) -> None:
        if (padded_sample is None) != (num_padded is None):
            raise ArgumentError("padded_sample and num_padded come together")
        shared = family(dataset_files) if isinstance(dataset_files, str) else []
        paths = shared if shared not in ([], [dataset_files]) else listed(dataset_files, "MindDataset")
        data = RecordData(paths, columns_list, padded_sample, num_padded or 0)
        absent = [c for c in data.columns if padded_sample is not None and c not in padded_sample]
        if absent:
            raise ArgumentError(f"padded_sample lacks the columns {absent}")
        super().__init__(
            data,
            choose(num_samples, sampler, shuffle, num_shards, shard_id, files=lambda: data.sizes),
            workers=num_parallel_workers,
            arguments={"dataset_files": paths, "columns_list": columns_list},
            cache=cache,
        )


class TFRecordData(FileData):
    """Rows of tf.train.Example messages."""

    def __init__(
        self, paths: Sequence[str], schema: Schema | None, columns: Sequence[str] | None, compression: str | None
    ) -> None:
        super().__init__(paths)
        self.files = [TFRecordFile(p, compression) for p in paths]
        described = dict(schema.columns) if schema is not None else None
        first = next((f[0] for f in self.files if len(f)), {})
        self.columns = tuple(columns or described or sorted(first))
        unknown = [c for c in self.columns if c not in (described or first)]
        if unknown:
            raise ArgumentError(f"there is no column {unknown}", given={"columns": sorted(described or first)})
        self.described = described

    @lazy
    def sizes(self) -> list[int]:
        return [len(f) for f in self.files]

    def fetch(self, index: int) -> Row:
        file, row = self.place(index)
        message = self.files[file][row]
        absent = [c for c in self.columns if c not in message]
        if absent:
            raise DataError(f"a record lacks the features {absent}", given={"record": self.where(index)})
        return tuple(self._shaped(c, message[c]) for c in self.columns)

    def _shaped(self, name: str, value: Any) -> Array:
        field = (self.described or {}).get(name, {})
        kind = field.get("type")
        if isinstance(value, list):
            if kind == "string":
                array = np.array([v.decode() for v in value])
            elif kind in (None, "uint8"):
                array = np.frombuffer(b"".join(value), np.uint8)
            elif kind == "bytes":
                array = np.array(value)
            else:
                raise DataError(f"the feature {name!r} is bytes, and the schema says {kind}")
        else:
            array = value if kind is None else value.astype(as_dtype(kind))
        return array.reshape(field["shape"]) if "shape" in field else array


class TFRecordDataset(MappableDataset):
    """Rows of TFRecord files of tf.train.Example messages, with a schema or by the features of the first one.

    >>> import tempfile
    >>> from mycelia.mindrecord.tfrecord import write_tfrecord
    >>> place = tempfile.mkdtemp() + "/a.tfrecord"; write_tfrecord(place, [{"x": [1.5, 2.5]}])
    >>> next(TFRecordDataset(place).create_dict_iterator(output_numpy=True))["x"].tolist()
    [1.5, 2.5]
    """

    def __init__(
        self,
        dataset_files: Files,
        schema: Schema | str | None = None,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: DatasetCache | None = None,
        compression_type: str | None = None,
    ) -> None:
        paths = listed(dataset_files, "TFRecordDataset")
        described = as_schema(schema)
        if num_samples is None and described is not None:
            num_samples = described.num_rows
        data = TFRecordData(paths, described, columns_list, compression_type)
        order = choose(num_samples, None, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        if shard_equal_rows and hasattr(order, "equal_rows"):
            order.equal_rows = True
        told = {"dataset_files": paths, "columns_list": columns_list, "compression_type": compression_type}
        super().__init__(data, order, workers=num_parallel_workers, arguments=told, cache=cache)
