"""Loops that run as machine code, run by Python: they keep to their arrays, and give what libraries give."""

from __future__ import annotations

import io
import tarfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import vision
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.ragged import of_texts
from mycelia.dataset.plan.fusion import NormalizeToPlanes
from mycelia.dataset.sources.archives import BLOCK, MOST, by_library, shard_of
from mycelia.dataset.sources.footers import footer_of, groups_of
from mycelia.dataset.text.chunks import Chunks
from mycelia.dataset.vision import jpeg
from mycelia.dataset.vision.resample import by_taps
from mycelia.mindrecord import FileWriter, RecordFile
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.filebytes import FileBytes
from mycelia.mindrecord.foreign_batches import LONG, WINDOW, entries
from mycelia.mindrecord.layout import START
from tests.dataset import test_foreign
from tests.dataset.interpreted import interpreted  # noqa: F401

pytestmark = pytest.mark.usefixtures("interpreted")
RNG = np.random.default_rng(0)


# pictures


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_normalised_planes_are_those_of_numpy(channels):
    image = RNG.integers(0, 256, (3, 5, channels)).astype(np.uint8)
    mean, std = RNG.uniform(1, 99, (2, channels)).tolist()
    made = NormalizeToPlanes(vision.Normalize(mean, std), vision.HWC2CHW())(image)
    want = ((image - np.array(mean)) / np.array(std)).transpose(2, 0, 1)
    np.testing.assert_allclose(made, want, 1e-6, 1e-6)


@pytest.mark.parametrize("size", [(3, 5), (9, 7), (9, 3)], ids=str)
@pytest.mark.parametrize("name", ["LANCZOS", "BICUBIC"])
def test_smaller_and_larger_pictures_are_those_of_pillow(name, size):
    pillow = pytest.importorskip("PIL.Image")
    mode = {"LANCZOS": vision.Inter.ANTIALIAS, "BICUBIC": vision.Inter.PILCUBIC}[name]
    for image in (RNG.integers(0, 256, (6, 7, 3)).astype(np.uint8), RNG.integers(0, 256, (6, 7)).astype(np.uint8)):
        want = np.asarray(pillow.fromarray(image).resize(size[::-1], getattr(pillow.Resampling, name)))
        np.testing.assert_array_equal(by_taps(image, *size, mode), want)


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0", "grey"])
def test_pixels_of_jpeg_files_are_those_of_pillow(subsampling):
    pillow = pytest.importorskip("PIL.Image")
    for quality, optimize, (height, width) in ((20, True, (19, 21)), (96, False, (9, 35)), (75, True, (16, 16))):
        image = RNG.integers(0, 256, (height, width, 3)) // 4 + np.linspace(0, 190, width)[:, None]
        whole = pillow.fromarray(image.astype(np.uint8))
        out, grey = io.BytesIO(), subsampling == "grey"
        told = {} if grey else {"subsampling": subsampling}
        (whole.convert("L") if grey else whole).save(out, "JPEG", quality=quality, optimize=optimize, **told)
        data = np.frombuffer(out.getvalue(), np.uint8)
        about, want = jpeg.header_of(data), np.asarray(pillow.open(out).convert("RGB"))
        assert about is not None
        np.testing.assert_array_equal(jpeg.pixels(data, about), want)
        top, left = height // 2 - 1, width // 2 - 3
        np.testing.assert_array_equal(jpeg.pixels(data, about, (top, left, 5, 7)), want[top : top + 5, left : left + 7])


# archives


def a_shard(place: Path, names: list[str], size: int = 0) -> str:
    """A tar archive of small files."""
    with tarfile.open(place, "w", format=tarfile.USTAR_FORMAT) as tar:
        for i, name in enumerate(names):
            told = tarfile.TarInfo(name)
            told.type, told.size = (tarfile.DIRTYPE, 0) if name.endswith("/") else (tarfile.REGTYPE, size or 3 * i + 1)
            tar.addfile(told, io.BytesIO(bytes([i % 251]) * told.size))
    return str(place)


SHARDS = {
    "samples": [f"{i}.{ending}" for i in range(4) for ending in ("txt", "cls")],
    "folders and dots": ["a/", "a/0.tar.gz", "a.b/0.txt", "a.b/c.d/1.txt", "plain", "a.b/plain", ".hidden", "a/.x"],
    "as many endings as are told apart": [f"0.e{i}" for i in range(MOST)],
    "one ending more": [f"0.e{i}" for i in range(MOST + 1)],
    "names of all lengths": [("n" * i) + ".x" for i in range(1, 98, 7)],
    "files of one sample that lie apart": ["0.a", "1.a", "0.b"],
    "no ascii": ["é.txt"],
}


@pytest.mark.parametrize("names", SHARDS.values(), ids=SHARDS)
def test_what_a_shard_holds_is_what_the_library_finds(tmp_path, names):
    place = a_shard(tmp_path / "a.tar", names)
    found, want = shard_of(FileBytes(place)), by_library(place)
    assert len(found) == len(want)
    assert [found.parts(i) for i in range(len(want))] == [want.parts(i) for i in range(len(want))]
    raw = Path(place).read_bytes()
    with tarfile.open(place) as tar:
        plain = [raw[t.offset_data : t.offset_data + t.size] for t in tar if t.isfile()]
    assert sorted(raw[a : a + n] for i in range(len(found)) for a, n in found.parts(i).values()) == sorted(plain)


def outcome(find, *given):
    """What the library or the walk finds, or what it says."""
    try:
        shard = find(*given)
        return [shard.parts(i) for i in range(len(shard))]
    except (DataError, tarfile.TarError) as error:
        return type(error).__name__


@pytest.mark.parametrize("at", [0, 1, 99, 124, 130, 134, 135, 155, 156, 257, 345, 500, 511])
def test_a_byte_that_is_changed_in_a_header_means_what_it_means_to_the_library(tmp_path, at):
    place = Path(a_shard(tmp_path / "a.tar", ["0.txt", "1.txt", "2.txt"]))
    whole = place.read_bytes()
    for summed in (False, True):  # with a sum that fits, or without
        for value in (0, 32, 47, 48, 53, 56, 57, 128, 255):
            raw = bytearray(whole)
            raw[2 * BLOCK + at] = value
            if summed and not 148 <= at < 156:
                header = raw[2 * BLOCK : 3 * BLOCK]
                total = sum(header) - sum(header[148:156]) + 256
                raw[2 * BLOCK + 148 : 2 * BLOCK + 156] = b"%06o\0 " % total
            place.write_bytes(raw)
            assert outcome(lambda: shard_of(FileBytes(str(place)))) == outcome(by_library, str(place)), (summed, value)


def test_rows_of_shards_are_the_files_in_them(tmp_path):
    names = [f"{i:02}.{ending}" for i in range(40) for ending in ("bin", "cls")]
    place = a_shard(tmp_path / "a.tar", names, 700)
    for batch in (1, 7):
        rows = ds.WebDataset(place, ["bin", "cls"], shuffle=False).batch(batch)
        read = [
            c for row in rows.create_tuple_iterator(num_epochs=1, output_numpy=True) for c in zip(*row, strict=True)
        ]
        assert [(set(a.tolist()), set(b.tolist())) for a, b in read] == [
            ({2 * i % 251}, {(2 * i + 1) % 251}) for i in range(40)
        ]
        assert all(a.shape == b.shape == (700,) for a, b in read)


# Parquet files


def test_the_footer_of_a_parquet_file_is_read_as_the_library_reads_it(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    wide = {f"c{i}": np.arange(40) for i in range(20)}  # more than 14 elements have their number in bytes of its own
    nested = {"l": [[1, 2], [], None, [3]] * 10, "s": [{"a": 1, "b": "x"}] * 40, "t": ["é"] * 40, "f": [0.5] * 40}
    for i, (columns, options) in enumerate((
        (wide, {"row_group_size": 3}),
        (nested, {"row_group_size": 40}),
        ({"b": [True, None] * 20, "n": [None] * 40}, {"row_group_size": 1, "compression": "none"}),
        (wide | nested, {"row_group_size": 9, "version": "1.0", "write_page_index": True, "use_dictionary": False}),
    )):  # fmt: skip
        place = str(tmp_path / f"{i}.parquet")
        table = arrow.table(columns).replace_schema_metadata({"k": "v" * 300})
        parquet.write_table(table, place, **options)
        told = parquet.ParquetFile(place).metadata
        found, starts = footer_of(place), groups_of(place, told.num_row_groups)
        assert found is not None
        assert found.rows == told.num_rows == 40
        names = [told.schema.column(i).name.encode() for i in range(told.num_columns)]
        assert all(name in found.schema for name in names)
        assert starts is not None
        assert (np.diff(starts) > 0).all()
        assert groups_of(place, told.num_row_groups + 1) is None
        raw = Path(place).read_bytes()
        for (begin, end), group in zip(pairwise(starts.tolist()), range(told.num_row_groups), strict=True):
            for k in range(told.num_columns):
                path = told.row_group(group).column(k).path_in_schema.rpartition(".")[2].encode()
                assert path in raw[begin:end]
        begin = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
        for end in range(int(starts[-1]) - 1, begin + 1, -max(1, int(starts[-1] - begin) // 60)):
            footer = raw[begin:end]  # which ends too early
            Path(place).write_bytes(raw[:begin] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
            assert groups_of(place, told.num_row_groups) is None


def test_fields_that_nobody_knows_stand_before_the_groups_of_a_parquet_file(tmp_path):
    """As a later version of the format may write them: Arrow passes over them, too."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    place = str(tmp_path / "a.parquet")
    parquet.write_table(arrow.table({"x": np.arange(9)}), place, row_group_size=4)
    raw = Path(place).read_bytes()
    begin = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    footer, starts = raw[begin:-8], groups_of(place, 3)
    assert footer[0] == 0x15  # field 1, a number
    for field in (
        b"\xf1", b"\xf2", b"\xf3\x07", b"\xf5\x90\x01", b"\xf7" + b"\0\xff" * 4, b"\xf8\x02ab",  # plain values
        b"\xfc\0", b"\xfc\x15\x02\0", b"\xfc\x1c\x18\x01x\0\x11\0",  # structures
        b"\xf9\x05", b"\xf9\x25\x02\x04", b"\xf9\x22\1\2", b"\xf9\x2c\x15\x02\0\0",  # lists
    ):  # fmt: skip
        more = field + b"\x05\x02"  # field 15 more than none; then number 1, told as it is
        changed = more + footer[1:]
        Path(place).write_bytes(raw[:begin] + changed + len(changed).to_bytes(4, "little") + b"PAR1")
        assert parquet.ParquetFile(place).metadata.num_row_groups == 3
        now = groups_of(place, 3)
        assert now is not None, field
        np.testing.assert_array_equal(now, starts + len(more) - 1)


# texts and records


def test_tokens_are_those_of_every_word_by_itself():
    made = Chunks(lambda texts: [[ord(c) for c in t] for t in texts], b"<")
    for seed in range(6):
        rng = np.random.default_rng(seed)
        texts = [" ".join(rng.choice(["a", "bc", "<e", "é7", "W" * 70], rng.integers(0, 6))) for _ in range(5)]
        column = of_texts(texts)
        got = made.encode(column.values, column.ends, [1], [2, 3])
        assert [r.tolist() for r in got.rows()] == [[1, *map(ord, t), 2, 3] for t in texts]


@pytest.mark.parametrize("columns", [["x"], ["b", "y"], ["x", "y", "b"]], ids=str)
def test_batches_of_records_are_the_rows_that_were_written(tmp_path, columns, interpreted):  # noqa: F811
    writer = FileWriter(str(tmp_path / "a"))
    writer.add_schema({"x": {"type": "int32", "shape": [3]}, "y": {"type": "float64"}, "b": {"type": "uint8"}})
    rows = [{"x": np.arange(3, dtype=np.int32) - i, "y": i / 3, "b": i} for i in range(5)]
    writer.write_raw_data(rows)
    writer.commit()
    file = RecordFile(str(tmp_path / "a"))
    for order in ([0], [4, 1, 1], [0, 1, 2, 3, 4]):
        made = file.gather(np.array(order), columns)
        assert made is not None
        for name, column in zip(columns, made, strict=True):
            np.testing.assert_array_equal(column, [rows[i][name] for i in order])
    assert interpreted == ["gather"] * 3
    whole = (tmp_path / "a").read_bytes()
    size = file.store.words * 8
    for i in range(5):  # a record that does not have its sum is told by its number
        raw = bytearray(whole)
        raw[START + i * size] ^= 1
        (tmp_path / "a").write_bytes(raw)
        with pytest.raises(RecordError, match=rf"checksum does not fit\n.*\n  record: {i}\n"):
            RecordFile(str(tmp_path / "a")).gather(np.arange(5), columns)


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_batches_of_records_that_mindspore_wrote_are_those_read_one_by_one(tmp_path, seed):
    test_foreign.test_a_batch_is_its_records_read_one_by_one(tmp_path, seed)


@pytest.mark.parametrize(
    "sizes", [[0], [1, 0, 7], [LONG - 1, LONG, LONG + 1, 3], [3, WINDOW - 20, 1, WINDOW, 9]], ids=len
)
def test_entries_end_where_the_next_ones_begin(tmp_path, sizes):
    raw = b"before" + b"".join(n.to_bytes(8, "little") + b"\xff" * n for n in sizes)
    place = tmp_path / "a"
    place.write_bytes(raw + b"behind")
    file = FileBytes(str(place))
    ends = (6 + np.cumsum(np.array(sizes, np.int64) + 8)).tolist()
    assert entries(file, 6, len(raw)).tolist() == ends
    assert entries(file, 6, 6).tolist() == []
    for last in (len(raw) - 1, len(raw) + 1, len(raw) + 7):  # an entry that goes on, and a length that is cut off
        assert entries(file, 6, last) is None
