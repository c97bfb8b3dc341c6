"""Files from strangers: whatever stands in the files of any reader, nothing of it is run."""

from __future__ import annotations

import io
import os
import pickle
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset.sources.archives import BLOCK
from mycelia.errors import MyceliaError
from mycelia.mindrecord.formats import cifar_batches
from mycelia.mindrecord.reader import RecordFile
from mycelia.mindrecord.tfrecord import TFRecordFile

from .test_injured_readers import FILED, made, outcome, rows_of, some_files, written


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


LISTING = (
    "CMUArcticDataset", "CelebADataset", "CocoDataset", "FlickrDataset", "Food101Dataset", "LFWDataset",
    "LJSpeechDataset", "Places365Dataset", "SBDataset", "SUN397Dataset", "VOCDataset", "WIDERFaceDataset",
)  # fmt: skip


@pytest.mark.parametrize("name", LISTING)
def test_no_list_names_files_outside_of_its_folder(name, tmp_path):
    root = tmp_path / "d"
    rows_of(name, root)
    lists = {path: path.read_bytes() for path in written(root)}
    media = next(p for p in sorted(root.rglob("*.*")) if p.is_file() and p not in lists and p.suffix != ".mat")
    told = []
    for word in (media.name, media.stem, media.parent.name):
        there = f"../{media.parent.name}/{word}".encode()  # it leads to the same file by way of the folder above
        for path, whole in lists.items():
            path.write_bytes(re.sub(rb"(?<![\w-])" + re.escape(word.encode()) + rb"(?![\w-])", there, whole))
        told.append(outcome(name, root)[1].split("\n")[0])
    assert "a file of the dataset names another one that is not in its folder" in told


def _tar(size: bytes, kind: bytes, body: bytes = b"", name: bytes = b"0.txt") -> bytes:
    header = bytearray(BLOCK)
    header[: len(name)], header[124 : 124 + len(size)], header[156:157] = name, size, kind
    header[257:265], header[148:156] = b"ustar\0" + b"00", b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + body + b"\0" * (-len(body) % BLOCK)


STRANGE = {
    "a name of 8 GB": (_tar(b"77777777777", b"L"), "believable length"),
    "remarks of 8 GB": (_tar(b"77777777777", b"x"), "believable length"),
    "a negative size": (_tar(b"\xff" * 12, b"0"), "cut short"),
    "a size of 95 bits": (_tar(b"\x80" + b"\xff" * 11, b"0"), "cut short"),
    "remarks that begin nowhere": (_tar(b"15", b"x", b"0 path=0.txt\n"), "invalid header"),
    "a sparse file": (_tar(b"3", b"S", b"one"), "sparse"),
    "a sparse file by its remarks": (
        _tar(b"34", b"x", b"28 GNU.sparse.size=99999999\n") + _tar(b"3", b"0", b"one"), "sparse",
    ),
    "a name twice": (_tar(b"3", b"0", b"one") + _tar(b"3", b"0", b"two"), "two files with one ending"),
    "a name twice, far apart": (
        _tar(b"3", b"0", b"one") + _tar(b"1", b"0", b"x", b"1.txt") + _tar(b"3", b"0", b"two"), "two files",
    ),
    "remarks without end": (_tar(b"13", b"x", b"11 a=bbbbb\n") * 2000, "recursion"),
}  # fmt: skip


@pytest.mark.parametrize("strange", STRANGE)
def test_a_strange_header_of_an_archive_is_told(strange, tmp_path):
    data, said = STRANGE[strange]
    (tmp_path / "a.tar").write_bytes(data + bytes(2 * BLOCK))
    with pytest.raises(ds.DataError, match=said):
        list(ds.WebDataset(str(tmp_path / "a.tar"), shuffle=False).create_dict_iterator(1, output_numpy=True))


def test_a_pickle_of_what_is_allowed_is_no_way_out(tmp_path, mark):
    """Arrays of objects, and what arrays are made by, call nothing else."""
    for told in ({b"data": np.array([Evil(mark)], object), b"labels": [1]}, Evil(mark)):
        body = pickle.dumps(told)
        mark.unlink()  # the pickling itself opened it
        (tmp_path / "test_batch").write_bytes(body)
        with pytest.raises(MyceliaError):
            list(cifar_batches(tmp_path, "test", False))
        assert not mark.exists()
