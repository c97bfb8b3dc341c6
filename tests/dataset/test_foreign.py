"""Record files that MindSpore wrote are read as MindSpore reads them (recorded by recorded/record_foreign.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mycelia.dataset as ds
from mycelia.errors import ArgumentError
from mycelia.mindrecord import FileReader, FileWriter, MindPage, RecordError, RecordFile
from mycelia.mindrecord.foreign import integers, unpacked

RECORDED = Path(__file__).parent / "recorded"
ROWS = json.loads(gzip.decompress((RECORDED / "foreign.json.gz").read_bytes()))
RAW = {name: gzip.decompress((RECORDED / f"{name}.mindrecord.gz").read_bytes()) for name in ROWS}


@pytest.fixture(params=sorted(RAW))
def file(request, tmp_path):
    """A file of MindSpore's, without its index, and the rows that MindSpore reads from it."""
    place = tmp_path / "a.mindrecord"
    place.write_bytes(RAW[request.param])
    return str(place), ROWS[request.param]


def plain(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str) or value.ndim == 0:
        return value if isinstance(value, str) else value.item()
    return [str(value.dtype), value.tolist()]


def test_every_row_is_the_one_that_mindspore_reads(file):
    place, rows = file
    reader = FileReader(place)
    assert reader.len() == len(rows)
    assert [{k: plain(v) for k, v in row.items()} for row in reader.get_next()] == rows


def test_a_dataset_reads_them_in_any_order_with_any_number_of_workers(file):
    place, rows = file
    key = "l" if "l" in rows[0] else "n"
    assert ds.MindDataset(place).get_col_names() == sorted(rows[0])  # as MindSpore orders them
    for workers in (1, 4):
        mixed = ds.MindDataset(place, columns_list=[key], num_parallel_workers=workers, shuffle=True)
        read = [int(row[key]) for row in mixed.create_dict_iterator(1, output_numpy=True)]
        assert sorted(read) == sorted(row[key] for row in rows)


def test_index_fields_and_schema_are_those_of_the_writer(tmp_path):
    place = tmp_path / "a.mindrecord"
    place.write_bytes(RAW["foreign"])
    page = MindPage(str(place))
    assert page.candidate_fields == ["i", "s"]
    page.category_field = "s"
    assert [int(row["i"]) for row in page.read_at_page_by_name("日本" * 3, 0, 5)] == [ROWS["foreign"][3]["i"]]
    assert FileReader(str(place)).schema()["al"] == {"type": "int64", "shape": [2, -1]}


def test_they_convert_to_files_of_ours_and_are_not_appended_to(file, tmp_path):
    place, rows = file
    with pytest.raises(ArgumentError, match="save"):
        FileWriter.open_for_append(place)
    other = str(tmp_path / "b.mindrecord")
    numbers = [name for name, value in rows[0].items() if isinstance(value, int | float)]
    ds.MindDataset(place, columns_list=numbers, shuffle=False).save(other)
    assert [{k: plain(v) for k, v in row.items()} for row in FileReader(other).get_next()] == [
        {name: row[name] for name in numbers} for row in rows
    ]


@pytest.mark.parametrize("keep", [9, 300, 16384, 20000, -1])
def test_a_file_that_was_cut_short_is_told(tmp_path, keep):
    place = tmp_path / "a.mindrecord"
    place.write_bytes(RAW["foreign"][:keep])
    with pytest.raises(RecordError, match=r"a\.mindrecord"):
        RecordFile(place)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damage_gives_rows_or_an_error_that_names_the_file(tmp_path_factory, data):
    raw = bytearray(RAW["foreign"])
    header = int.from_bytes(raw[:8], "little") + 8
    used = [*range(header), *range(16384, 22000), *range(49152, len(raw))]
    for at in data.draw(st.lists(st.sampled_from(used), min_size=1, max_size=3)):
        raw[at] = data.draw(st.integers(0, 255))
    place = tmp_path_factory.mktemp("damaged") / "a.mindrecord"
    place.write_bytes(raw)
    told = ""
    try:
        list(RecordFile(place))
    except RecordError as error:
        told = str(error)
    assert not told or "a.mindrecord" in told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"desc"', b'"dEsc"'),
        (b'"page_type":"RAW_DATA"', b'"page_type":"RAW_DATB"'),
        (b'"page_id":1', b'"page_id":0'),
        (b'"page_id":1', b'"page_id":9'),
        (b'"page_id":1', b'"page_id":-'),
        (b'"header_size":16384', b'"header_size":-6384'),
        (b'"page_size":32768', b'"page_size":1e999'),
        (b'"schema":{"af":', b'"schema":["af",'),
        (b'"header_size"', b"[" * 13),
    ],
)
def test_a_damaged_header_is_told_and_no_row_is_lost(tmp_path, old, new):
    place = tmp_path / "a.mindrecord"
    assert old in RAW["foreign"]
    place.write_bytes(RAW["foreign"].replace(old, new, 1))
    with pytest.raises(RecordError, match=r"a\.mindrecord"):
        RecordFile(place)


@pytest.mark.parametrize(
    "raw", [b"\x81" * 5000, b"\x81\xa1a\xa9bcd", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b""]
)
def test_noise_is_no_value(raw):
    with pytest.raises((ValueError, IndexError)):
        unpacked(raw)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30))
def test_packed_numbers_are_unpacked(numbers):
    widths = [next(w for w in (1, 2, 4, 8) if -(2 ** (8 * w - 1)) <= n < 2 ** (8 * w - 1)) for n in numbers]
    codes = [w.bit_length() - 1 for w in widths] + [0] * (-len(numbers) % 4)
    packed = len(numbers).to_bytes(4, "big")
    packed += bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in np.reshape(codes, (-1, 4)).astype(int).tolist())
    packed += b"".join(n.to_bytes(w, "little", signed=True) for n, w in zip(numbers, widths, strict=True))
    assert integers(packed).tolist() == numbers
