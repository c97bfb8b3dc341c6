"""Record files that MindSpore writes, and the rows it reads from them: run it in this folder, with MindSpore."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
from mindspore.mindrecord import FileReader, FileWriter

EVERY = {
    "i": {"type": "int32"}, "l": {"type": "int64"}, "f": {"type": "float32"}, "g": {"type": "float64"},
    "s": {"type": "string"}, "b": {"type": "bytes"}, "ai": {"type": "int32", "shape": [-1]},
    "al": {"type": "int64", "shape": [2, -1]}, "af": {"type": "float32", "shape": [3]},
    "ag": {"type": "float64", "shape": [-1, 2]},
}  # fmt: skip
PAGES = {"s": {"type": "string"}, "d": {"type": "bytes"}, "n": {"type": "int64"}}


def every(i: int) -> dict:
    """A row with every type; its numbers are of all widths."""
    rng = np.random.default_rng(i)
    small, large = 10 ** (i % 9 + 1), 10 ** (i % 18 + 1)
    return {
        "i": int(rng.integers(-small, small)),
        "l": int(rng.integers(-large, large)),
        "f": float(np.float32(rng.normal())),
        "g": i / 3,
        "s": "日本" * i,
        "b": rng.bytes(i + 1),
        "ai": rng.integers(-small, small, size=i + 1).astype("int32"),
        "al": rng.integers(-large, large, size=(2, i % 5 + 1)),
        "af": rng.normal(size=3).astype("float32"),
        "ag": rng.normal(size=(i % 3 + 1, 2)),
    }


def paged(i: int) -> dict:
    """A row of which a page holds few."""
    return {"s": "x" * (700 * (i % 9)), "d": bytes([i]) * (100 * i + 1), "n": i}


def write(name: str, schema: dict, rows: list, index: list, more: list) -> list:
    """Write a file with small pages, append to it, pack it, and give what MindSpore reads from it."""
    writer = FileWriter(name, overwrite=True)
    writer.add_schema(schema, "recorded")
    writer.add_index(index)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.write_raw_data(rows)
    writer.commit()
    if more:
        writer = FileWriter.open_for_append(name)
        writer.write_raw_data(more)
        writer.commit()
    read = [{k: plain(v) for k, v in row.items()} for row in FileReader(name, 1).get_next()]
    Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes(), mtime=0))
    os.remove(name)
    os.remove(f"{name}.db")
    return read


def plain(value: object) -> object:
    """A value as JSON can hold it."""
    if isinstance(value, bytes):
        return value.hex()
    return [str(value.dtype), value.tolist()] if isinstance(value, np.ndarray) else value


rows = {
    "foreign": write("foreign.mindrecord", EVERY, [every(i) for i in range(24)], ["i", "s"], []),
    "foreign_pages": write(
        "foreign_pages.mindrecord", PAGES, [paged(i) for i in range(30)], ["n"], [paged(i) for i in range(30, 50)]
    ),
}
Path("foreign.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode(), mtime=0))
