"""Mutated files of every kind: an answer or an error of ours, never a crash, a hang, or memory without bound.

The files are read in a process of its own, with bounded memory, whose death by a signal fails the test. What our own
JPEG decoder reads and writes ends at guard pages.
"""

from __future__ import annotations

import ctypes
import gzip
import io
import json
import logging
import mmap
import multiprocessing
import os
import pickle
import queue
import resource
import struct
import tarfile
import traceback
import wave
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import mycelia.dataset as ds
from mycelia.dataset import vision
from mycelia.dataset.flow.rowbytes import bytes_of, row_of
from mycelia.dataset.readers.sounds import read_wave
from mycelia.dataset.vision import jpeg
from mycelia.errors import MyceliaError
from mycelia.mindrecord import FileWriter
from mycelia.mindrecord.formats import cifar_batches
from mycelia.mindrecord.layout import END, FOOTER, MAGIC
from mycelia.mindrecord.matlab import matlab
from mycelia.mindrecord.reader import RecordFile
from mycelia.mindrecord.tfrecord import TFRecordFile, build_example, masked, write_tfrecord

ROOM = 3 << 30  # bytes of address space that a reader may take beyond what it begins with
PAGE = mmap.PAGESIZE
NONE, BOTH = 0, 3  # protections


class Guarded:
    """Arrays that end where a page begins that nobody may touch."""

    def __init__(self) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.blocks: dict[int, tuple[Any, int]] = {}

    def room(self, slot: int, size: int, dtype: Any = np.uint8) -> np.ndarray:
        """An array of so many elements; the one that this slot gave before is used again."""
        need = -(-max(size * np.dtype(dtype).itemsize, 1) // PAGE) * PAGE
        block, have = self.blocks.get(slot, (None, 0))
        if have < need:
            block = mmap.mmap(-1, need + PAGE)
            address = ctypes.addressof(ctypes.c_char.from_buffer(block))
            assert self.libc.mprotect(ctypes.c_void_p(address + need), PAGE, NONE) == 0
            self.blocks[slot] = block, need
            have = need
        whole = np.frombuffer(block, np.uint8, have)
        bytes_ = size * np.dtype(dtype).itemsize
        return whole[have - bytes_ :].view(dtype)


guarded = Guarded()


class _GuardedScratch(jpeg._Scratch):
    def fit(self, width: int, size: int) -> None:
        self.lines = [guarded.room(1 + i, width, np.int32) for i in range(3)]
        self.planes = guarded.room(4, size)
        self.coefs, self.work = guarded.room(5, 64, np.int32), guarded.room(6, 64, np.int32)

    def release(self) -> None: ...


def mutated(rng: np.random.Generator, whole: bytes) -> bytes:
    """A file with some of its bytes changed, cut out, doubled or added."""
    data = bytearray(whole)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(data))) if data else 0
        kind = int(rng.integers(7))
        if kind == 0:
            data[at : at + 1] = bytes([int(rng.integers(256))])
        elif kind == 1 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del data[at : at + int(rng.integers(1, 30))]
        elif kind == 3:
            data[at:at] = data[at : at + int(rng.integers(1, 30))]
        elif kind == 4:
            data[at:at] = rng.bytes(int(rng.integers(1, 12)))
        elif kind == 5:
            data[at : at + 4] = [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\0\0\0\x80"][
                int(rng.integers(4))
            ]
        else:
            data = data[:at] if rng.integers(4) == 0 else data
    return bytes(data)


# what is read, and how


def jpegs(folder: Path) -> list[bytes]:
    rng = np.random.default_rng(0)
    made = []
    for size in ((8, 8), (17, 30), (40, 24)):
        picture = np.add.outer(np.arange(size[0]) * 3, np.arange(size[1]) * 5)[..., None] + rng.integers(0, 60, 3)
        made += [vision.encode_jpeg((picture % 256).astype(np.uint8), q).tobytes() for q in (20, 95)]
        made.append(vision.encode_jpeg((picture[..., 0] % 256).astype(np.uint8)).tobytes())
    return [*made, *sampled(rng.integers(0, 256, (32, 32, 3)).astype(np.uint8))]


def sampled(picture: np.ndarray) -> list[bytes]:
    """A square picture with its colours sampled in every way that our decoder knows, and with tables of its own."""
    made = {}
    for ratio in ("4:4:4", "4:2:2", "4:2:0"):
        out = io.BytesIO()
        Image.fromarray(picture).save(out, "jpeg", subsampling=ratio, optimize=True)
        made[ratio] = out.getvalue()
    across, down = b"\x03\x01\x21\x00", b"\x03\x01\x12\x00"  # parts of a frame: two samples of light beside or above
    assert made["4:2:2"].count(across) == 1
    made["4:4:0"] = made["4:2:2"].replace(across, down)  # as many blocks, in as many groups: a whole file, too
    found = [jpeg.header_of(np.frombuffer(m, np.uint8)) for m in made.values()]
    assert [f and f.parts[0][:2] for f in found] == [(1, 1), (2, 1), (2, 2), (1, 2)]
    return list(made.values())


def read_jpeg(data: bytes, place: Path, rng: np.random.Generator) -> None:
    raw = guarded.room(0, len(data))
    raw[:] = np.frombuffer(data, np.uint8)
    about = jpeg.header_of(raw)
    if about is None or about.height * about.width > 1 << 22:
        return
    height, width = int(rng.integers(1, about.height + 1)), int(rng.integers(1, about.width + 1))
    top, left = int(rng.integers(about.height - height + 1)), int(rng.integers(about.width - width + 1))
    out = guarded.room(7, height * width * 3).reshape(height, width, 3)
    jpeg.pixels(raw, about, (top, left, height, width), out)


def read_picture(data: bytes, place: Path, rng: np.random.Generator) -> None:
    vision.Decode()(np.frombuffer(data, np.uint8))


def pngs(folder: Path) -> list[bytes]:
    rng = np.random.default_rng(0)
    return [vision.encode_png(rng.integers(0, 256, s).astype(np.uint8)).tobytes() for s in ((5, 7, 3), (9, 4), (1, 1))]


def waves(folder: Path) -> list[bytes]:
    made = []
    for channels, width in ((1, 1), (2, 2), (1, 3), (2, 4)):
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setparams((channels, width, 8000, 0, "NONE", ""))
            file.writeframes(bytes(range(48)))
        made.append(out.getvalue())
    return made


def read_sound(data: bytes, place: Path, rng: np.random.Generator) -> None:
    place.write_bytes(data)
    read_wave(place)


def tfrecords(folder: Path) -> list[bytes]:
    write_tfrecord(str(folder / "a"), [{"x": np.arange(3), "y": [1.5], "z": "word"}, {"x": [7], "y": [2.0], "z": "b"}])
    return [(folder / "a").read_bytes()]


def read_tfrecord(data: bytes, place: Path, rng: np.random.Generator) -> None:
    place.write_bytes(data)
    file = TFRecordFile(str(place))
    for i in range(min(len(file), 50)):
        try:
            file[i]
        except MyceliaError:
            continue


def records(folder: Path) -> list[bytes]:
    writer = FileWriter(str(folder / "a"))
    writer.add_schema({"x": {"type": "int32"}, "t": {"type": "string"}, "a": {"type": "float32", "shape": [-1, 2]}})
    writer.write_raw_data([{"x": i, "t": "abc" * i, "a": np.ones((i + 1, 2), np.float32)} for i in range(4)])
    writer.commit()
    foreign = sorted((Path(__file__).parent / "recorded").glob("*.mindrecord.gz"))
    return [(folder / "a").read_bytes(), *(gzip.decompress(f.read_bytes()) for f in foreign)]


def read_record(data: bytes, place: Path, rng: np.random.Generator) -> None:
    place.write_bytes(data)
    file = RecordFile(str(place))
    for i in range(min(len(file), 50)):
        try:
            file[i]
        except MyceliaError:
            continue


def tars(folder: Path) -> list[bytes]:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, body in (("0.txt", b"one"), ("0.cls", b"1"), ("1.txt", b"two" * 200), ("1.cls", b"0")):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    return [out.getvalue()[:6144]]


def read_tar(data: bytes, place: Path, rng: np.random.Generator) -> None:
    place.write_bytes(data)
    dataset = ds.WebDataset(str(place), shuffle=False)
    source = dataset.plan.data
    for i in range(min(len(source), 50)):
        try:
            source.fetch(i)
        except MyceliaError:
            continue


def parquets(folder: Path) -> list[bytes]:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"x": list(range(12)), "s": [f"t{i % 5}" for i in range(12)], "v": [[1.0, i] for i in range(12)]}
    made = []
    for names, rows in (("x", 7), ("s", 12), ("v", 12), ("xsv", 12)):  # small ones: more of what is changed matters
        table = pyarrow.table({name: columns[name] for name in names})
        parquet.write_table(table, folder / "a.parquet", row_group_size=rows, use_dictionary=names != "xsv")
        made.append((folder / "a.parquet").read_bytes())
    return made


def read_parquet(data: bytes, place: Path, rng: np.random.Generator) -> None:
    place = place.with_suffix(".parquet")
    place.write_bytes(data)
    source = ds.ParquetDataset(str(place), shuffle=False).plan.data
    for i in range(min(len(source), 30)):
        try:
            source.fetch(i)
        except MyceliaError:
            continue


def footers(folder: Path) -> list[bytes]:
    """What a file with numbers alone says of itself at its end; the rest of it lies in the folder."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": list(range(20))}), folder / "a.parquet", row_group_size=7)
    whole = (folder / "a.parquet").read_bytes()
    begin = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    (folder / "rest").write_bytes(whole[:begin])
    return [whole[begin:-8]]


def forged_footer(data: bytes, place: Path, rng: np.random.Generator) -> None:
    rest = (place.parent / "rest").read_bytes()
    read_parquet(rest + data + struct.pack("<I", len(data)) + b"PAR1", place, rng)


# files that were made with care: what is inside is mutated, and all sums are put right again


def forged_tfrecord(data: bytes, place: Path, rng: np.random.Generator) -> None:
    size = struct.pack("<Q", len(data))
    place.write_bytes(size + struct.pack("<I", masked(size)) + data + struct.pack("<I", masked(data)))
    row = TFRecordFile(str(place))[0]
    for value in row.values():
        np.asarray(value)


def messages(folder: Path) -> list[bytes]:
    return [build_example({"x": np.arange(-3, 3), "y": [1.5, -2.0], "z": ["word", "b"]}), build_example({"x": 1})]


def forged_record(data: bytes, place: Path, rng: np.random.Generator) -> None:
    body, _, text = data.rpartition(b'{"schema"')
    text = b'{"schema"' + text
    place.write_bytes(b"")
    try:
        begin = json.loads(text)["parts"]["offsets"]
        told = body[begin:] if type(begin) is int else b""
    except (ValueError, KeyError, TypeError, RecursionError):
        told = b""
    size = len(body) + len(text) + FOOTER.size
    footer = FOOTER.pack(len(body), len(text), zlib.crc32(text), zlib.crc32(told), size, END)
    place.write_bytes(MAGIC + body[8:] + text + footer)
    file = RecordFile(str(place))
    names = [c.name for c in file.header.columns]
    for indices in (np.arange(min(len(file), 3)), np.array([len(file) - 1])):
        with suppress(MyceliaError):
            file.gather(indices, names)
    for i in range(min(len(file), 5)):
        with suppress(MyceliaError):
            file[i]


def record_bodies(folder: Path) -> list[bytes]:
    """Files of ours without their footers."""
    made = []
    for schema, row in (
        ({"x": {"type": "int32"}, "b": {"type": "bool"}}, {"x": 5, "b": True}),
        ({"t": {"type": "string"}, "a": {"type": "float32", "shape": [-1, 2]}}, {"t": "ab", "a": np.ones((2, 2), "f")}),
    ):
        writer = FileWriter(str(folder / "a"), overwrite=True)
        writer.add_schema(schema)
        writer.write_raw_data([row] * 4)
        writer.commit()
        made.append((folder / "a").read_bytes()[: -FOOTER.size])
    return made


def forged_tar(data: bytes, place: Path, rng: np.random.Generator) -> None:
    whole = bytearray(data)
    for at in range(0, len(whole) - 511, 512):
        if whole[at + 257 : at + 262] == b"ustar":
            whole[at + 148 : at + 156] = b" " * 8
            whole[at + 148 : at + 156] = b"%06o\0 " % sum(whole[at : at + 512])
    read_tar(bytes(whole), place, rng)


def arrows(folder: Path) -> list[bytes]:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"x": list(range(20)), "s": [f"t{i}" for i in range(20)], "v": [[1.0, i] for i in range(20)]})
    made = []
    for codec in (None, "zstd", "lz4"):
        for new in (pyarrow.ipc.new_file, pyarrow.ipc.new_stream):
            out = io.BytesIO()
            with new(out, table.schema, options=pyarrow.ipc.IpcWriteOptions(compression=codec)) as writer:
                writer.write_table(table, max_chunksize=7)
            made.append(out.getvalue())
    return made


def read_arrow(data: bytes, place: Path, rng: np.random.Generator) -> None:
    place = place.with_suffix(".arrow")
    place.write_bytes(data)
    source = ds.ParquetDataset(str(place), shuffle=False).plan.data
    for i in range(min(len(source), 30)):
        with suppress(MyceliaError):
            source.fetch(i)


def pickles(folder: Path) -> list[bytes]:
    told = [{b"data": np.zeros((n, 3072), np.uint8), b"labels": [7] * n} for n in (0, 0, 1)]
    return [pickle.dumps(one, protocol) for one in told for protocol in (2, 4)]


def read_pickle(data: bytes, place: Path, rng: np.random.Generator) -> None:
    (place.parent / "test_batch").write_bytes(data)
    for images, labels in cifar_batches(place.parent, "test", hundred=False):
        assert images.shape == (len(labels), 32, 32, 3)


def kept(folder: Path) -> list[bytes]:
    return [bytes_of((np.arange(6).reshape(2, 3), np.array("text"), {"k": np.array([True])}))]


def read_kept(data: bytes, place: Path, rng: np.random.Generator) -> None:
    rest = data[16:]
    row_of(memoryview(data[:8] + struct.pack("<I", zlib.crc32(rest, zlib.crc32(b""))) + data[12:16] + rest))


def matlabs(folder: Path) -> list[bytes]:
    savemat = pytest.importorskip("scipy.io").savemat
    made = []
    for compressed in (False, True):
        out = io.BytesIO()
        savemat(out, {"X": np.zeros((4, 4, 3, 2), np.uint8), "y": np.array([[1], [2]])}, do_compression=compressed)
        made.append(out.getvalue())
    return made


def read_matlab(data: bytes, place: Path, rng: np.random.Generator) -> None:
    place.write_bytes(data)
    matlab(place, "X", "y")


def videos(folder: Path) -> list[bytes]:
    av = pytest.importorskip("av")
    made = []
    for kind, codec in (("matroska", "ffv1"), ("mp4", "mpeg4"), ("avi", "mjpeg")):
        out = io.BytesIO()
        with av.open(out, "w", format=kind) as container:
            stream = container.add_stream(codec, rate=10)
            stream.width, stream.height = 48, 32
            stream.pix_fmt = {"ffv1": "bgr0", "mpeg4": "yuv420p", "mjpeg": "yuvj420p"}[codec]
            for i in range(3):
                frame = av.VideoFrame.from_ndarray(np.full((32, 48, 3), 20 * i, np.uint8), format="rgb24")
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        made.append(out.getvalue())
    return made


def read_video(data: bytes, place: Path, rng: np.random.Generator) -> None:
    vision.DecodeVideo()(np.frombuffer(data, np.uint8))


Reader = Callable[[bytes, Path, np.random.Generator], None]
KINDS: dict[str, tuple[Callable[[Path], list[bytes]], Reader]] = {
    "jpeg": (jpegs, read_jpeg),
    "jpeg by any decoder": (jpegs, read_picture),
    "png": (pngs, read_picture),
    "wav": (waves, read_sound),
    "tfrecord": (tfrecords, read_tfrecord),
    "mindrecord": (records, read_record),
    "tar": (tars, read_tar),
    "parquet": (parquets, read_parquet),
    "parquet footer": (footers, forged_footer),
    "arrow": (arrows, read_arrow),
    "video": (videos, read_video),
    "pickle": (pickles, read_pickle),
    "matlab": (matlabs, read_matlab),
    "kept row": (kept, read_kept),
    "forged tfrecord": (messages, forged_tfrecord),
    "forged mindrecord": (record_bodies, forged_record),
    "forged tar": (tars, forged_tar),
}


def attack(kind: str, first: int, count: int, folder: Path, told: Any) -> None:
    """The life of the process that reads: tell the seeds whose files raised anything but errors of ours."""
    make, read = KINDS[kind]
    logging.disable()  # of what may be missing
    wholes = make(folder)
    if kind == "jpeg":
        jpeg._scratch = _GuardedScratch()
    for whole in wholes:
        read(whole, folder / "whole", np.random.default_rng(0))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    wrong = []
    answered = 0
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        data = mutated(rng, wholes[seed % len(wholes)])
        told.put(("now", seed)) if seed % 64 == 0 else None
        try:
            read(data, folder / "mutated", rng)
            answered += 1
        except MyceliaError:
            pass
        except BaseException:
            wrong.append(f"seed {seed}: {traceback.format_exc(limit=-3)}")
            if len(wrong) > 3:
                break
    told.put(("done", (wrong, answered)))


def life(process: Any) -> tuple[str, float]:
    """What a process is doing (R: it computes, or waits for a processor), and the seconds that it has computed."""
    try:
        cells = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "X", 0.0
    return cells[0], (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")


def survives(kind: str, first: int, count: int, folder: Path, patience: float) -> None:
    """Fail when the reader dies, computes for long without an answer, or sleeps; a busy machine may take its time."""
    context = multiprocessing.get_context("fork")
    told = context.Queue()
    process = context.Process(target=attack, args=(kind, first, count, folder, told))
    process.start()
    last: Any = "the beginning"
    asleep, begun = 0, life(process)[1]
    try:
        while True:
            try:
                what, value = told.get(timeout=patience / 6)
                asleep, begun = 0, life(process)[1]
            except queue.Empty:
                state, computed = life(process)
                asleep = asleep + 1 if state in "SD" else 0
                if process.exitcode is None and asleep < 60 and computed - begun < patience:
                    continue  # it may sleep for long while a process of its own compiles for it
                died = f"died with {process.exitcode}" if process.exitcode is not None else "hangs"
                pytest.fail(f"{kind}: the reader {died} soon after seed {last}")
            if what == "done":
                wrong, answered = value
                assert not wrong, "\n".join(wrong)
                assert answered, "no mutated file was read: the check means nothing"
                return
            last = value
    finally:
        process.kill()
        process.join()
        told.close()


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_do_no_harm(kind, tmp_path):
    survives(kind, 0, 300, tmp_path, 30)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutated_files_do_no_harm(kind, block, tmp_path):
    size = 100_000 if kind == "jpeg" else 10_000
    survives(kind, 1000 + block * size, size, tmp_path, 60)
