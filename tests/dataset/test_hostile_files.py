"""Files from strangers: whatever stands in the files of any reader, nothing of it is run."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.errors import MyceliaError
from mycelia.mindrecord.formats import cifar_batches
from mycelia.mindrecord.reader import RecordFile
from mycelia.mindrecord.tfrecord import TFRecordFile

from .test_injured_readers import FILED, made, outcome, rows_of, some_files


class Evil:
    """Leaves a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = str(mark)

    def __reduce__(self):
        return os.close, (os.open(self.mark, os.O_CREAT),)


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "it-ran"
    yield place
    assert not place.exists()


def payloads(mark: Path) -> dict[str, bytes]:
    """Files that run code in readers which let them."""
    code = f"open({str(mark)!r}, 'w').close()"
    reduce = b"cbuiltins\nexec\n(V" + code.encode() + b"\ntR."
    array = io.BytesIO()
    np.save(array, np.zeros(1))
    spoiled = array.getvalue()[:-8].replace(b"'<f8'", b"'|O'  ") + reduce
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 9))
    return {
        "pickle": reduce,
        "pickle in a dictionary": b"}(Vdata\n" + reduce[:-1] + b"u.",
        "zlib": zlib.compress(reduce),
        "npy": spoiled,
        "yaml": f"!!python/object/apply:builtins.exec [{code!r}]\n".encode(),
        "xml": f'<!DOCTYPE l [<!ENTITY l0 "ha">{laughs}]><annotation>&l8;</annotation>'.encode(),
        "xml of a file": b'<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation>&x;</annotation>',
        "deep json": b"[" * 100_000,
        "python": code.encode(),
    }


@pytest.mark.parametrize("name", FILED)
def test_no_reader_runs_what_stands_in_a_file(name, tmp_path, mark):
    root = tmp_path / "d"
    rows_of(name, root)
    assert made(name, root) is not None
    for path in some_files(root)[:3]:
        whole = path.read_bytes()
        for body in payloads(mark).values():
            path.write_bytes(body)
            outcome(name, root)  # rows, or an error of ours: any other is raised
            assert not mark.exists()
        path.write_bytes(whole)


@pytest.mark.parametrize("kind", ["pickle", "pickle in a dictionary", "npy", "zlib", "deep json", "python"])
def test_no_record_or_archive_runs_what_stands_in_it(kind, tmp_path, mark):
    body = payloads(mark)[kind]
    path = tmp_path / "a"
    path.write_bytes(body)
    for opened in (RecordFile, TFRecordFile, lambda p: ds.WebDataset(p), lambda p: ds.MindDataset(p)):
        with pytest.raises(MyceliaError):
            list(opened(str(path)))
    for ending in ("parquet", "arrow"):
        (tmp_path / f"a.{ending}").write_bytes(body)
        with pytest.raises(MyceliaError):
            ds.ParquetDataset(str(tmp_path / f"a.{ending}"))
    for name in ("data_batch_1", "test_batch", "train", "test"):
        (tmp_path / name).write_bytes(body)
    for usage, hundred in (("test", False), ("train", True)):
        with pytest.raises(MyceliaError):
            list(cifar_batches(tmp_path, usage, hundred))


def test_an_archive_writes_no_file(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    with tarfile.open(inside / "a.tar", "w") as tar:
        for name in ("../escaped.txt", str(tmp_path / "outside.txt"), "plain.txt"):
            info = tarfile.TarInfo(name)
            info.size = 3
            tar.addfile(info, io.BytesIO(b"abc"))
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    rows = list(ds.WebDataset(str(inside / "a.tar"), ["txt"], shuffle=False).create_dict_iterator(1, output_numpy=True))
    assert [r["txt"].tobytes() for r in rows] == [b"abc"] * 3
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.tar", "in"]


def test_a_pickle_of_what_is_allowed_is_no_way_out(tmp_path, mark):
    """Arrays of objects, and what arrays are made by, call nothing else."""
    for told in ({b"data": np.array([Evil(mark)], object), b"labels": [1]}, Evil(mark)):
        body = pickle.dumps(told)
        mark.unlink()  # the pickling itself opened it
        (tmp_path / "test_batch").write_bytes(body)
        with pytest.raises(MyceliaError):
            list(cifar_batches(tmp_path, "test", False))
        assert not mark.exists()
