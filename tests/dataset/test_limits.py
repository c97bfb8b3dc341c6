"""One limit holds for the sizes that files of every kind declare, and is told with the size and the file."""

from __future__ import annotations

import bz2
import gzip
import io
import struct
import tarfile
import wave
import zlib
from importlib.util import find_spec

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import random, vision
from mycelia.dataset.readers.sounds import read_wave
from mycelia.dataset.vision import jpeg
from mycelia.errors import MyceliaError
from mycelia.mindrecord import FileWriter
from mycelia.mindrecord.formats import read_idx
from mycelia.mindrecord.limits import TooLarge, unfolded
from mycelia.mindrecord.reader import RecordFile
from mycelia.mindrecord.tfrecord import TFRecordFile, write_tfrecord

LIMIT = 1 << 16


@pytest.fixture(autouse=True)
def small():
    ds.config.set_largest_sample(LIMIT)


def test_pictures():
    small, large = np.zeros((100, 100, 3), np.uint8), np.zeros((300, 300, 3), np.uint8)
    for encode in (vision.encode_png, vision.encode_jpeg):
        assert vision.Decode()(encode(small)).shape == small.shape
        with pytest.raises(TooLarge, match=r"270000 bytes, more than the limit of 65536"):
            vision.Decode()(encode(large))


def test_recordings(tmp_path):
    for count, fits in ((1000, True), (40_000, False)):
        with wave.open(str(tmp_path / "a.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(2 * count))
        if fits:
            assert read_wave(tmp_path / "a.wav")[0].shape == (1, count)
        else:
            with pytest.raises(TooLarge, match="a recording"):
                read_wave(tmp_path / "a.wav")


def test_a_recording_that_declares_more_than_there_is_takes_no_memory_for_it(tmp_path):
    body = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"data" + struct.pack("<I", 0x7FFFFFF0)
    (tmp_path / "a.wav").write_bytes(b"RIFF" + struct.pack("<I", 0x7FFFFFFF) + b"WAVE" + body + bytes(100))
    assert read_wave(tmp_path / "a.wav")[0].shape == (1, 50)


def test_compressed_files(tmp_path):
    bomb = bytes(10 * LIMIT)
    (tmp_path / "a.gz").write_bytes(gzip.compress(bomb))
    (tmp_path / "a.zlib").write_bytes(zlib.compress(bomb))
    (tmp_path / "a.bz2").write_bytes(bz2.compress(bomb))
    for kind in ("gz", "zlib", "bz2"):
        with pytest.raises(TooLarge, match="a compressed file"):
            unfolded(tmp_path / f"a.{kind}", {"gz": "GZIP"}.get(kind, kind.upper()))
    with pytest.raises(TooLarge):
        TFRecordFile(str(tmp_path / "a.gz"), "GZIP")
    with pytest.raises(TooLarge):
        TFRecordFile(str(tmp_path / "a.zlib"), "ZLIB")
    with pytest.raises(TooLarge):
        read_idx(tmp_path / "a.gz")


def test_records(tmp_path):
    writer = FileWriter(str(tmp_path / "a"))
    writer.add_schema({"x": {"type": "bytes"}})
    writer.write_raw_data([{"x": bytes(9)}, {"x": bytes(2 * LIMIT)}])
    writer.commit()
    assert len(RecordFile(str(tmp_path / "a"))[0]["x"]) == 9
    with pytest.raises(TooLarge, match="a record"):
        RecordFile(str(tmp_path / "a"))[1]
    write_tfrecord(str(tmp_path / "b"), [{"x": bytes(2 * LIMIT)}])
    with pytest.raises(TooLarge, match="a record"):
        TFRecordFile(str(tmp_path / "b"))


def test_archives(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name, size in (("0.bin", 5), ("1.bin", 2 * LIMIT)):
            info = tarfile.TarInfo(name)
            info.size = size
            tar.addfile(info, io.BytesIO(bytes(size)))
    rows = ds.WebDataset(str(tmp_path / "a.tar"), shuffle=False, num_parallel_workers=1).create_dict_iterator(1, True)
    assert len(next(rows)["bin"]) == 5
    with pytest.raises(MyceliaError, match="more than the limit"):
        next(rows)


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_groups_of_rows(tmp_path):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"x": np.random.default_rng(0).random(40_000)}), tmp_path / "a.parquet")
    with pytest.raises(TooLarge, match="a group of rows"):
        ds.ParquetDataset(str(tmp_path / "a.parquet"))


def test_worker_processes_know_the_limit(tmp_path):
    picture = vision.encode_png(np.zeros((300, 300, 3), np.uint8))
    for method in ("fork", "spawn"):
        ds.config.set_multiprocessing_start_method(method)
        rows = ds.NumpySlicesDataset(picture[None], ["image"]).map(
            vision.Decode(), "image", num_parallel_workers=2, python_multiprocessing=True
        )
        with pytest.raises(MyceliaError, match="more than the limit"):
            next(rows.create_dict_iterator(num_epochs=1))


def test_the_library_decodes_whole_pictures_and_ours_crops_unless_it_is_turned_off(monkeypatch):
    data = vision.encode_jpeg(np.random.default_rng(0).integers(0, 256, (60, 80, 3)).astype(np.uint8))
    calls, own = [], jpeg.pixels

    def watched(*args):
        calls.append(args)
        return own(*args)

    monkeypatch.setattr(jpeg, "pixels", watched)
    monkeypatch.setattr(jpeg, "ready", lambda: True)
    vision.Decode()(data)
    assert not calls
    crops = []
    for on in (True, False):
        ds.config.set_own_jpeg_decoder(on)
        with random.seeded(np.random.default_rng(3)):
            crops.append(vision.RandomCropDecodeResize(16)(data))
        assert len(calls) == 1
    np.testing.assert_array_equal(*crops)
