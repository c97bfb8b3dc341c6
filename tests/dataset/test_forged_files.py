"""Files that a stranger made with care: their sums fit, and they ask for memory, time, or what others have."""

from __future__ import annotations

import json
import os
import pickle
import stat
import struct
import tarfile
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import remote, vision
from mycelia.dataset.caches.diskcache import OnDisk, read
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.mindrecord import FileWriter
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.formats import cifar_batches
from mycelia.mindrecord.layout import FOOTER
from mycelia.mindrecord.limits import TooLarge
from mycelia.mindrecord.matlab import matlab
from mycelia.mindrecord.reader import RecordFile
from mycelia.mindrecord.tfrecord import build_example
from mycelia.plainfiles import array_of, content_of

from .test_injured_readers import FILED, outcome, rows_of, some_files

# pickles


def reduced(module: str, name: str, *arguments: bytes) -> bytes:
    return f"c{module}\n{name}\n".encode() + b"(" + b"".join(arguments) + b"tR"


def text(word: str) -> bytes:
    return b"V" + word.encode() + b"\n"


def batch_of(data: bytes, labels: bytes = b"]") -> bytes:
    """A CIFAR batch of which `data` and `labels` are what pickles make of these."""
    return b"\x80\x02}(C\x04data" + data + b"C\x06labels" + labels + b"u."


def array(kind: bytes, content: bytes, shape: bytes = b"(K\x01t") -> bytes:
    blank = reduced("numpy._core.multiarray", "_reconstruct", b"cnumpy\nndarray\n", b"(K\x00t", b"C\x01b")
    return blank + b"(K\x01" + shape + kind + b"\x89" + content + b"tb"


def test_a_pickle_cannot_make_an_array_of_addresses(tmp_path):
    """NumPy believes the state of an element type: objects without the flag of objects would be any eight bytes."""
    objects = reduced("numpy", "dtype", text("O8"), b"\x89", b"\x88")
    flagless = objects + b"(K\x03" + text("|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    (tmp_path / "test_batch").write_bytes(batch_of(array(flagless, b"C\x08" + b"A" * 8)))
    with pytest.raises(MyceliaError, match="not part of the format"):
        list(cifar_batches(tmp_path, "test", False))


@pytest.mark.parametrize(
    "body",
    [
        b"\x80\x02Nr\xff\xff\xff\x7f.",  # a place in the memory of the reader, two billion places on
        b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"N.",  # a frame
        b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b".",  # bytes
        batch_of(array(reduced("numpy", "dtype", text("u1")), b"C\x00", b"(M\xff\xffM\xff\xffM\xff\xfft")),
        batch_of(b"(]]]]]]l" + b"2ee" * 40),
    ],
)
def test_a_pickle_takes_no_memory_for_what_it_declares(body, tmp_path):
    (tmp_path / "test_batch").write_bytes(body)
    with pytest.raises(MyceliaError):
        list(cifar_batches(tmp_path, "test", False))


@pytest.mark.parametrize("protocol", range(5))
@pytest.mark.parametrize("hundred", [False, True])
def test_pickles_of_every_protocol_are_read(protocol, hundred, tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (3, 3072)).astype(np.uint8)
    labels = {b"coarse_labels": [1, 2, 3], b"fine_labels": np.array([4, 5, 6])} if hundred else {b"labels": [1, 2, 3]}
    path = tmp_path / ("test" if hundred else "test_batch")
    path.write_bytes(pickle.dumps({b"data": images, **labels}, protocol))
    ((pixels, found),) = cifar_batches(tmp_path, "test", hundred)
    np.testing.assert_array_equal(pixels.transpose(0, 3, 1, 2).reshape(3, -1), images)
    assert found.tolist() == ([[1, 4], [2, 5], [3, 6]] if hundred else [[1], [2], [3]])


def test_labels_are_whole_numbers_as_many_as_images(tmp_path):
    for labels in ([1, 2], [1.5], [[1]], ["1"], 1, [-1]):
        told = {b"data": np.zeros((1, 3072), np.uint8), b"labels": labels}
        (tmp_path / "test_batch").write_bytes(pickle.dumps(told))
        with pytest.raises(MyceliaError):
            list(cifar_batches(tmp_path, "test", False))


# record files


def records(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A record file whose schema was changed, and whose sums fit."""
    writer = FileWriter(str(path), overwrite=True)
    writer.add_schema({"x": {"type": "int64"}, "y": {"type": "int64"}})
    writer.write_raw_data([{"x": i, "y": -i} for i in range(4)])
    writer.commit()
    raw = path.read_bytes()
    at, length = FOOTER.unpack(raw[-FOOTER.size :])[:2]
    told = json.loads(raw[at : at + length])
    change(told)
    text, begin = json.dumps(told).encode(), told["parts"].get("offsets", 0)
    index = raw[begin:at] if isinstance(begin, int) else b""
    size = at + len(text) + FOOTER.size
    end = FOOTER.unpack(raw[-FOOTER.size :])[5]
    path.write_bytes(raw[:at] + text + FOOTER.pack(at, len(text), zlib.crc32(text), zlib.crc32(index), size, end))
    return path


FORGERIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "an index behind the end": lambda t: t["parts"].update(offsets=1 << 50),
    "an index before the records": lambda t: t["parts"].update(offsets=8),
    "no index": lambda t: t["parts"].pop("sums"),
    "many rows": lambda t: t.update(rows=1 << 40),
    "a fraction of rows": lambda t: t.update(rows=2.5),
    "less than no rows": lambda t: t.update(rows=-1),
    "no columns": lambda t: t.update(schema={}),
    "wide columns": lambda t: t["schema"].update(x={"type": "int64", "shape": [1 << 31, 1 << 31, 4]}),
    "columns of words": lambda t: t["schema"].update(x={"type": "int64", "shape": ["1"]}),
    "columns as texts": lambda t: t["schema"].update(x={"type": "string"}),
    "places elsewhere": lambda t: t["parts"].update(sums=t["parts"]["offsets"]),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_record_file_asks_for_no_more_than_there_is(forgery, tmp_path):
    path = records(tmp_path / "a", FORGERIES[forgery])
    rows: list[Any] = []
    with pytest.raises(MyceliaError):  # noqa: PT012 - where it is noticed may differ
        file = RecordFile(path)
        rows = file.gather(np.arange(len(file)), [c.name for c in file.header.columns]) or []
        rows = [file[i] for i in range(len(file))]
        assert not rows, "these rows were not written"


def test_records_are_where_their_index_says_in_batches_too(tmp_path):
    """Places in another order: what one by one gives, a batch gives."""
    path = records(tmp_path / "a", lambda told: None)
    raw = bytearray(path.read_bytes())
    at, length = FOOTER.unpack(raw[-FOOTER.size :])[:2]
    told = json.loads(raw[at : at + length])
    for name in ("offsets", "sums"):
        begin = told["parts"][name]
        raw[begin : begin + 32] = np.frombuffer(raw[begin : begin + 32], np.uint64)[::-1].tobytes()
    crc = zlib.crc32(raw[told["parts"]["offsets"] : at])
    raw[-FOOTER.size :] = FOOTER.pack(at, length, zlib.crc32(raw[at : at + length]), crc, len(raw), b"MYCREND1")
    path.write_bytes(raw)
    single = [int(r["x"]) for r in ds.MindDataset(str(path), shuffle=False).create_dict_iterator(1, True)]
    batch = next(ds.MindDataset(str(path), shuffle=False).batch(4).create_dict_iterator(1, True))["x"]
    assert single == batch.tolist() == [3, 2, 1, 0]


def test_a_truth_is_one_or_zero(tmp_path):
    writer = FileWriter(str(tmp_path / "a"))
    writer.add_schema({"b": {"type": "uint8"}})
    writer.write_raw_data([{"b": i} for i in range(4)])
    writer.commit()
    raw = (tmp_path / "a").read_bytes()
    at, length, _, index, _, end = FOOTER.unpack(raw[-FOOTER.size :])
    schema = raw[at : at + length].replace(b'"uint8"', b'"bool"')
    footer = FOOTER.pack(at, len(schema), zlib.crc32(schema), index, at + len(schema) + FOOTER.size, end)
    (tmp_path / "a").write_bytes(raw[:at] + schema + footer)
    rows = ds.MindDataset(str(tmp_path / "a"), shuffle=False)
    for found in (
        np.array([r["b"] for r in rows.create_dict_iterator(1, True)]),
        next(rows.batch(4).create_dict_iterator(1, True))["b"],
    ):
        assert found.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_a_tfrecord_holds_numbers_of_64_bits():
    with pytest.raises(ArgumentError, match="64 bits"):
        build_example({"x": np.array([1 << 63], np.uint64)})


# archives


def entry(name: bytes, body: bytes, size: bytes | None = None) -> bytes:
    """A file in an archive, whose size is written in this way."""
    info = tarfile.TarInfo(name.decode())
    info.size = len(body)
    head = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    if size is not None:
        head[124:136] = size
        head[148:156] = b" " * 8
        head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + body + bytes(-len(body) % 512)


@pytest.mark.parametrize(
    "size", [b"00000000003\0", b"3          \0", b"        3 \0\0", b"3\x0000000000\0\0"[:12], b"3 7777777777"]
)
def test_sizes_mean_what_they_mean_to_other_readers(size, tmp_path):
    place = tmp_path / "a.tar"
    place.write_bytes(entry(b"0.txt", b"abc", size) + entry(b"1.txt", b"def") + bytes(1024))
    try:
        with tarfile.open(place) as tar:
            expected = [tar.extractfile(m).read() for m in tar]
    except tarfile.ReadError:
        expected = []
    try:
        rows = list(ds.WebDataset(str(place), ["txt"], shuffle=False).create_dict_iterator(1, True))
        assert [r["txt"].tobytes() for r in rows] == expected
    except MyceliaError:
        assert len(expected) < 2


def test_an_archive_without_its_end_is_told(tmp_path, caplog):
    whole = entry(b"0.txt", b"abc") + entry(b"1.txt", b"def")
    for end, told in ((bytes(1024), 0), (b"", 1)):
        caplog.clear()
        (tmp_path / "a.tar").write_bytes(whole + end)
        rows = list(ds.WebDataset(str(tmp_path / "a.tar"), ["txt"], shuffle=False).create_dict_iterator(1, True))
        assert len(rows) == 2
        assert bool(caplog.records) == bool(told)


# bombs


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_a_group_of_one_value_repeated_is_as_large_as_its_rows(tmp_path):
    import pyarrow
    import pyarrow.parquet

    ds.config.set_largest_sample(1 << 20)
    pyarrow.parquet.write_table(pyarrow.table({"x": np.zeros(1 << 18)}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 1 << 16
    with pytest.raises(TooLarge, match="a group of rows"):
        ds.ParquetDataset(str(tmp_path / "a.parquet"))


@pytest.mark.skipif(find_spec("scipy") is None, reason="SciPy is not installed")
def test_a_compressed_matlab_file_unfolds_to_the_limit_at_most(tmp_path):
    from scipy.io import savemat

    ds.config.set_largest_sample(1 << 20)
    savemat(tmp_path / "small.mat", {"X": np.arange(9), "y": np.zeros(3)}, do_compression=True)
    assert matlab(tmp_path / "small.mat", "X")[0].tolist() == [list(range(9))]
    savemat(tmp_path / "bomb.mat", {"X": np.zeros(1 << 18)}, do_compression=True)
    with pytest.raises(TooLarge, match="a compressed variable"):
        matlab(tmp_path / "bomb.mat", "X")


# programs that other libraries would run


def test_a_picture_is_no_program(tmp_path, monkeypatch):
    """Pillow gives PostScript to Ghostscript: here a program of that name that leaves a file."""
    pytest.importorskip("PIL.Image")
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/it-ran\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    page = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    with pytest.raises(ArgumentError):
        vision.Decode()(np.frombuffer(page, np.uint8))
    (tmp_path / "a.jpg").write_bytes(page)
    with pytest.raises(ArgumentError):
        vision.read_image(str(tmp_path / "a.jpg"))
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.parametrize(
    "address",
    [
        "reference://a::file:///tmp/references.json",
        "simplecache::https://example.invalid/a.tar",
        "https://example.invalid/a.tar::zip://a",
        "zip://a.txt::file:///tmp/a.zip",
        "git://a:b/c",
        "github://a:b@c/d",
        "dask://a",
        "jupyter://a",
        "data://x",
        "python://os.system",
    ],
)
def test_addresses_name_plain_stores_only(address):
    """A file system of fsspec may unpack, link, or fill in templates by what a file says."""
    for call in (remote.local, lambda a: remote.expanded(a + "*"), lambda a: ds.WebDataset(a)):
        if remote.addressed(address):
            with pytest.raises(ArgumentError, match="not understood"):
                call(address)


# what is no file


def special(path: Path, kind: str) -> None:
    path.unlink()
    os.mkfifo(path) if kind == "a pipe" else path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["a pipe", "a link to a device without end"])
def test_only_plain_files_are_read(kind, tmp_path):
    place = tmp_path / "a"
    place.write_bytes(b"")
    special(place, kind)
    for call in (array_of, content_of, vision.read_file):
        with pytest.raises(OSError, match="not a plain file"):
            call(str(place))
    with pytest.raises(RecordError):
        RecordFile(str(place))
    for reader in (ds.WebDataset, ds.MindDataset, ds.TFRecordDataset, ds.TextFileDataset, ds.ParquetDataset):
        with pytest.raises(MyceliaError):
            reader(str(place))


@pytest.mark.parametrize("kind", ["a pipe", "a link to a device without end"])
@pytest.mark.parametrize("name", FILED)
def test_no_reader_waits_for_a_pipe_or_reads_a_device(name, kind, tmp_path):
    root = tmp_path / "d"
    rows_of(name, root)
    for path in some_files(root):
        whole = path.read_bytes()
        special(path, kind)
        outcome(name, root)  # rows of the other files, or an error of ours
        path.unlink()
        path.write_bytes(whole)


# kept rows


def test_a_kept_row_belongs_to_its_name(tmp_path):
    double = OnDisk([lambda x: x * 2], str(tmp_path))
    assert double(np.array(3))[0] == 6
    three, four = (double.place((np.array(n),)) for n in (3, 4))
    four.parent.mkdir(parents=True, exist_ok=True)
    three.rename(four)
    assert read(four) is None
    assert double(np.array(4))[0] == 8


@pytest.mark.parametrize("kind", ["a pipe", "a link to a device without end", "a folder"])
def test_what_lies_where_a_row_should_be_is_not_waited_for(kind, tmp_path):
    double = OnDisk([lambda x: x * 2], str(tmp_path))
    double(np.array(3))
    place = double.place((np.array(3),))
    if kind == "a folder":
        place.unlink()
        place.mkdir()
    else:
        special(place, kind)
    assert double(np.array(3))[0] == 6
