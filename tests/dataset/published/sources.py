"""Sources that are not one published dataset: texts, tables, records, arrays, objects."""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .files import lines, put


def notes(root: Path) -> None:
    for i in range(2):
        lines(root / f"{i}.txt", [f"line {k} of {i}" for k in range(3 + i)])


def blank_notes(root: Path) -> None:
    put(root / "0.txt", " one \n\n\ttwo\n   \nthree")


def table(root: Path) -> None:
    lines(root / "a.csv", ["n,x,name", "1,1.5,one", "2,2.5,two", "3,-3e2,thr ee"])
    lines(root / "b.csv", ["n,x,name", "4,4,four"])


def bare_table(root: Path) -> None:
    lines(root / "a.csv", ["1,1.5,one", "2,,two", ",3.5,", "4,4,four"])


def quoted_table(root: Path) -> None:
    lines(root / "a.csv", ['1,"a, ""b"""', '2,"c"', "3,d e", '"4",""'])


def piped_table(root: Path) -> None:
    lines(root / "a.csv", ["1|a,b", "2|c"])


def feature(value: Any) -> bytes:
    """A tf.train.Feature: bytes, floats or whole numbers."""
    values = value if isinstance(value, list) else [value]
    if isinstance(values[0], bytes):
        return _field(1, b"".join(_field(1, v) for v in values))
    if isinstance(values[0], float):
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(3, _field(1, b"".join(_varint(v & (1 << 64) - 1) for v in values)))


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def _field(number: int, body: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(body)) + body


def _sum(body: bytes) -> int:
    """Castagnoli's sum, masked as TFRecord files mask it."""
    step = 0xFFFFFFFF
    for byte in body:
        step ^= byte
        for _ in range(8):
            step = step >> 1 ^ (0x82F63B78 if step & 1 else 0)
    step ^= 0xFFFFFFFF
    return ((step >> 15 | step << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(row: dict[str, Any]) -> bytes:
    """An entry of a TFRecord file."""
    entries = b"".join(_field(1, _field(1, k.encode()) + _field(2, feature(v))) for k, v in row.items())
    body = _field(1, entries)
    length = struct.pack("<Q", len(body))
    return length + struct.pack("<I", _sum(length)) + body + struct.pack("<I", _sum(body))


def _rows(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [
        {"n": [i, -i, i * i], "x": [i / 2, 1.25], "one": i, "name": f"row {i}".encode(), "raw": bytes([i, 255, 7, 1])}
        for i in range(first, first + count)
    ]


def records(root: Path) -> None:
    put(root / "a.tfrecord", b"".join(map(record, _rows(3))))
    put(root / "b.tfrecord", b"".join(map(record, _rows(4, 3))))
    columns = {"n": {"type": "int64", "rank": 1, "shape": [3]}, "x": {"type": "float32", "rank": 1, "shape": [2]}}
    more = {"one": {"type": "int32", "rank": 0, "shape": []}, "raw": {"type": "uint8", "rank": 1, "shape": [4]}}
    put(root / "schema.json", json.dumps({"datasetType": "TF", "columns": {**columns, **more}}))


def packed(root: Path) -> None:
    body = b"".join(map(record, _rows(3)))
    put(root / "a.gz", gzip.compress(body))
    put(root / "a.zlib", zlib.compress(body))


def nothing(root: Path) -> None:
    """No files."""


class Rows:
    """Rows by number."""

    def __init__(self, count: int = 5) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> tuple[Any, ...]:
        return np.array([i, i * i], np.int32), np.float32(i)


class One(Rows):
    """A single column, not in a tuple."""

    def __getitem__(self, i: int) -> Any:
        return np.array([i, i + 1], np.uint8)


class Mixed(Rows):
    """Python's own numbers and texts."""

    def __getitem__(self, i: int) -> tuple[Any, ...]:
        return i, i / 2, f"t{i}", i % 2 == 0, [i, i], np.float64(i)


class Stream:
    """Rows one after the other, anew for every epoch."""

    def __iter__(self) -> Any:
        return iter([(np.array(i),) for i in range(4)])


def generated() -> Any:
    for i in range(4):
        yield np.array([i], np.int64), np.array(f"s{i}")


Sources = list[tuple[str, Callable[[Path], None], dict[str, Any]]]
AB = {"dataset_files": ["a.tfrecord", "b.tfrecord"]}
TF: Sources = [
    ("TFRecordDataset", records, {**AB, **more})
    for more in (
        {"columns_list": ["x", "n"]},
        {"columns_list": ["n", "one", "x"], "num_samples": 5},
        {"columns_list": ["raw"], "schema": "schema.json"},
        {"columns_list": ["one", "x"], "schema": "schema.json"},
        {"schema": ("Schema", {"n": ("int64", [3]), "name": ("string", [])})},
        {"schema": ("Schema", {"n": ("int64", [3]), "name": ("string", None)})},
        {"schema": ("Schema", {"x": ("float32", [2]), "n": ("int64", [3])})},
        {"schema": ("Schema", {"n": ("int32", None), "x": ("float64", None)})},
    )
]
SOURCES: Sources = [
    ("TextFileDataset", notes, {"dataset_files": "0.txt"}),
    ("TextFileDataset", notes, {"dataset_files": ["0.txt", "1.txt"]}),
    ("TextFileDataset", notes, {"dataset_files": "*.txt"}),
    ("TextFileDataset", notes, {"dataset_files": "*.txt", "num_samples": 4}),
    ("TextFileDataset", blank_notes, {"dataset_files": "0.txt"}),
    ("CSVDataset", table, {"dataset_files": "a.csv"}),
    ("CSVDataset", table, {"dataset_files": ["a.csv", "b.csv"]}),
    ("CSVDataset", table, {"dataset_files": ["a.csv", "b.csv"], "num_samples": 3}),
    ("CSVDataset", table, {"dataset_files": "a.csv", "column_defaults": [0, 0.0, "x"]}),
    ("CSVDataset", bare_table, {"dataset_files": "a.csv", "column_names": ["n", "x", "name"]}),
    (
        "CSVDataset",
        bare_table,
        {"dataset_files": "a.csv", "column_names": ["n", "x", "name"], "column_defaults": [7, 0.5, "none"]},
    ),
    (
        "CSVDataset",
        bare_table,
        {"dataset_files": "a.csv", "column_names": ["n", "x", "s"], "column_defaults": ["", "", ""]},
    ),
    ("CSVDataset", quoted_table, {"dataset_files": "a.csv", "column_names": ["n", "s"]}),
    ("CSVDataset", piped_table, {"dataset_files": "a.csv", "field_delim": "|", "column_names": ["n", "s"]}),
    *TF,
    ("TFRecordDataset", packed, {"dataset_files": "a.gz", "compression_type": "GZIP", "columns_list": ["n"]}),
    ("TFRecordDataset", packed, {"dataset_files": "a.zlib", "compression_type": "ZLIB", "columns_list": ["n"]}),
    ("NumpySlicesDataset", nothing, {"data": {"a": [1, 2, 3], "b": [[1.5], [2.5], [3.5]]}}),
    ("NumpySlicesDataset", nothing, {"data": {"a": ["x", "yz"], "b": [True, False]}}),
    ("NumpySlicesDataset", nothing, {"data": ([1, 2], [3.0, 4.0])}),
    ("NumpySlicesDataset", nothing, {"data": ([1, 2], [3.0, 4.0]), "column_names": ["a", "b"]}),
    ("NumpySlicesDataset", nothing, {"data": [1, 2, 3]}),
    ("NumpySlicesDataset", nothing, {"data": [1, 2, 3], "column_names": "x"}),
    ("NumpySlicesDataset", nothing, {"data": [[1, 2], [3, 4]], "column_names": ["x"]}),
    ("NumpySlicesDataset", nothing, {"data": [[1, 2], [3, 4]], "num_samples": 1}),
    ("NumpySlicesDataset", nothing, {"data": list(range(6)), "sampler": ("SubsetSampler", [5, 0])}),
    ("NumpySlicesDataset", nothing, {"data": list(range(6)), "num_shards": 2, "shard_id": 1}),
    ("GeneratorDataset", nothing, {"source": Rows(), "column_names": ["a", "b"]}),
    ("GeneratorDataset", nothing, {"source": Rows(), "column_names": ["a", "b"], "num_samples": 2}),
    ("GeneratorDataset", nothing, {"source": One(), "column_names": "a"}),
    ("GeneratorDataset", nothing, {"source": One(), "column_names": ["a"], "sampler": ("SubsetSampler", [3, 1])}),
    ("GeneratorDataset", nothing, {"source": Mixed(), "column_names": ["i", "f", "s", "b", "l", "d"]}),
    ("GeneratorDataset", nothing, {"source": One(), "column_names": ["a"], "column_types": ["uint8"]}),
    ("GeneratorDataset", nothing, {"source": Stream(), "column_names": ["a"]}),
    ("GeneratorDataset", nothing, {"source": Stream(), "column_names": ["a"], "num_samples": 3}),
    ("GeneratorDataset", nothing, {"source": generated, "column_names": ["a", "s"]}),
    ("GeneratorDataset", nothing, {"source": [(1, 2), (3, 4)], "column_names": ["a", "b"]}),
    ("GeneratorDataset", nothing, {"source": [5, 6], "column_names": ["a"]}),
    ("PaddedDataset", nothing, {"padded_samples": [{"a": np.zeros(2, np.uint8), "n": np.array(1)}] * 2}),
    (
        "RandomDataset",
        nothing,
        {"total_rows": 3, "schema": ("Schema", {"im": ("uint8", [2, 3]), "l": ("int32", [1]), "f": ("float32", [2])})},
    ),
    (
        "RandomDataset",
        nothing,
        {"total_rows": 3, "schema": ("Schema", {"a": ("uint8", [2]), "b": ("int32", [1])}), "columns_list": ["b"]},
    ),
]
