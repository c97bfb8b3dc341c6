"""Files that others write to while they are read: rows or an error of ours, and never the end of the process."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.errors import MyceliaError
from mycelia.mindrecord import FileWriter
from mycelia.mindrecord.tfrecord import write_tfrecord

from .test_injured_readers import FILED, made, some_files

ROOT = Path(__file__).parents[2]
ROUNDS = 3  # of cutting and putting back, for each file


def shard(path: Path) -> Any:
    with tarfile.open(path, "w") as tar:
        for i in range(40):
            for ending, body in (("bin", bytes(5000)), ("cls", b"7")):
                info = tarfile.TarInfo(f"{i}.{ending}")
                info.size = len(body)
                tar.addfile(info, BytesIO(body))
    return ds.WebDataset(str(path), shuffle=False)


def records(path: Path, sizes: Any) -> Any:
    writer = FileWriter(str(path))
    writer.add_schema({"x": {"type": "int32"}, "data": {"type": "bytes"}})
    writer.write_raw_data([{"x": i, "data": bytes(sizes(i))} for i in range(60)])
    writer.commit()
    return ds.MindDataset(str(path), shuffle=False)


def packed(path: Path) -> Any:
    write_tfrecord(str(path), [{"x": np.arange(500.0)} for _ in range(40)])
    return ds.TFRecordDataset(str(path), shuffle=False)


def table(path: Path) -> Any:
    arrow, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    parquet.write_table(arrow.table({"x": np.arange(40_000)}), path.with_suffix(".parquet"), row_group_size=1000)
    return ds.ParquetDataset(str(path.with_suffix(".parquet")), shuffle=False)


def batches(path: Path, streamed: bool) -> Any:
    arrow = pytest.importorskip("pyarrow")
    whole = arrow.table({"x": np.arange(40_000)})
    place = str(path.with_suffix(".arrow"))
    with (arrow.ipc.new_stream if streamed else arrow.ipc.new_file)(place, whole.schema) as writer:
        for batch in whole.to_batches(1000):
            writer.write_batch(batch)
    return ds.ParquetDataset(place, shuffle=False)


def lines(path: Path) -> Any:
    path.write_text("".join(f"{i},{'word ' * 50}\n" for i in range(400)))
    return ds.CSVDataset(str(path), column_names=["a", "b"], shuffle=False)


def texts(path: Path) -> Any:
    path.write_text("".join(f"{i} {'word ' * 50}\n" for i in range(400)))
    return ds.TextFileDataset(str(path), shuffle=False)


SOURCES = {
    "shard": shard,
    "records": lambda path: records(path, lambda i: 3000).batch(7),
    "uneven records": lambda path: records(path, lambda i: 3000 + i),
    "large records": lambda path: records(path, lambda i: 1 << 16).batch(7),
    "packed": packed,
    "table": table,
    "batches": lambda path: batches(path, streamed=False),
    "streamed batches": lambda path: batches(path, streamed=True),
    "lines": lines,
    "texts": texts,
}


def opened(name: str, root: Path) -> Any:
    if name not in SOURCES:
        return made(name, root)
    root.mkdir(exist_ok=True)
    return SOURCES[name](root / "a")


def same(*columns: Any) -> Any:
    return columns


def spoil(path: Path, whole: bytes, ended: threading.Event) -> None:
    """Cut a file short and write it again, in place, over and over."""
    for round in range(ROUNDS):
        for body in (whole[: len(whole) // 2], b"", whole[1:], b"\xff" * (len(whole) // 3), whole):
            path.write_bytes(body)
            ended.wait(0.001 * round)
    ended.set()


def live(name: str, root: Path, processes: bool) -> None:
    """Read a dataset while its files change; whatever is raised must be ours."""
    dataset = opened(name, root)
    if processes:
        dataset = dataset.map(same, dataset.get_col_names(), python_multiprocessing=True, num_parallel_workers=2)
    rows = 0
    for path in some_files(root)[: 1 if processes else 2]:
        whole, ended = path.read_bytes(), threading.Event()
        iterator = dataset.create_tuple_iterator(output_numpy=True)
        thread = threading.Thread(target=spoil, args=(path, whole, ended))
        try:
            rows += len(next(iterator))
            thread.start()
            while not ended.is_set():
                try:
                    rows += sum(map(np.size, next(iterator, [])))  # looks at what was read
                except MyceliaError:
                    iterator.stop()
                    iterator = dataset.create_tuple_iterator(output_numpy=True)
        finally:
            ended.set()
            if thread.ident is not None:
                thread.join()
            path.write_bytes(whole)
            iterator.stop()
    print(name, rows, flush=True)


def main(root: str, kind: str, names: list[str]) -> None:
    """Be the process that must not end."""
    for name in names:
        print("begin", name, flush=True)
        try:
            live(name, Path(root, name), kind == "processes")
        except (MyceliaError, pytest.skip.Exception) as error:  # a library that is not there
            if "mycelia[data]" not in str(error) and not isinstance(error, pytest.skip.Exception):
                raise


def lives(root: Path, kind: str, names: list[str]) -> None:
    code = f"from tests.dataset.test_moving_files import main; main({str(root)!r}, {kind!r}, {names!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-3000:])


# one process reads many, one after the other: to start it takes longer than all that is done in it
PARTS = 2


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_a_file_that_changes_while_it_is_read_does_not_end_the_process(kind, tmp_path):
    lives(tmp_path, kind, list(SOURCES))


@pytest.mark.parametrize("kind", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize("part", range(PARTS))
def test_published_datasets_that_change_while_they_are_read_do_not_end_the_process(part, kind, tmp_path):
    lives(tmp_path, kind, FILED[part::PARTS])
