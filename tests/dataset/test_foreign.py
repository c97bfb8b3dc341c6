"""Record files that MindSpore wrote are read as MindSpore reads them (recorded by recorded/record_foreign.py)."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mycelia.dataset as ds
from mycelia.api.options import options
from mycelia.errors import ArgumentError
from mycelia.mindrecord import FileReader, FileWriter, MindPage, RecordError, RecordFile
from mycelia.mindrecord.filebytes import BytesInMemory, FileBytes
from mycelia.mindrecord.foreign import ForeignStore, integers, recognised, unpacked
from mycelia.mindrecord.foreign_batches import read_map
from mycelia.runtime.routine import Routine

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


# batches of records, by machine code


def packed_map(fields: dict) -> bytes:
    """A map of numbers and texts in MessagePack, numbers as narrow as they go."""

    def value(x) -> bytes:
        if isinstance(x, str):
            raw = x.encode()
            return (bytes([0xA0 | len(raw)]) if len(raw) < 32 else b"\xda" + len(raw).to_bytes(2, "big")) + raw
        if isinstance(x, float):
            narrow = np.float32(x) == x
            return b"\xca" + struct.pack(">f", x) if narrow else b"\xcb" + struct.pack(">d", x)
        if -32 <= x < 128:
            return bytes([x & 255])
        for kind, form in zip(range(0xCC, 0xD4), [">B", ">H", ">I", ">Q", ">b", ">h", ">i", ">q"], strict=True):
            try:
                return bytes([kind]) + struct.pack(form, x)
            except struct.error:
                continue
        raise OverflowError(x)

    return bytes([0x80 | len(fields)]) + b"".join(value(k) + value(v) for k, v in fields.items())


def packed_integers(numbers: list[int]) -> bytes:
    widths = [next(w for w in (1, 2, 4, 8) if -(2 ** (8 * w - 1)) <= n < 2 ** (8 * w - 1)) for n in numbers]
    codes = [w.bit_length() - 1 for w in widths] + [0] * (-len(numbers) % 4)
    codes = bytes(a << 6 | b << 4 | c << 2 | d for a, b, c, d in np.reshape(codes, (-1, 4)).astype(int).tolist())
    body = b"".join(n.to_bytes(w, "little", signed=True) for n, w in zip(numbers, widths, strict=True))
    return len(numbers).to_bytes(4, "big") + codes + body


def foreign_file(place: Path, schema: dict, rows: list[dict], size: int = 1 << 12) -> str:
    """A file as MindSpore writes it, with small pages."""
    blobs = [n for n, f in schema.items() if f["type"] == "bytes" or "shape" in f]
    pages: list[tuple[str, bytes]] = []
    for kind in ("RAW_DATA", "BLOB_DATA") if blobs else ("RAW_DATA",):
        whole = b""
        for row in rows:
            pieces = [row[n] if isinstance(row[n], bytes) else row[n].tobytes() for n in blobs]
            joined = b"".join(len(p).to_bytes(8, "big") + p for p in pieces) if len(pieces) > 1 else b"".join(pieces)
            plain = packed_map({n: v for n, v in row.items() if n not in blobs})
            entry = plain if kind == "RAW_DATA" else joined
            entry = len(entry).to_bytes(8, "little") + entry
            if whole and len(whole) + len(entry) > size:
                pages.append((kind, whole))
                whole = b""
            whole += entry
        pages.append((kind, whole))
    told = [{"page_id": i, "page_type": kind, "page_size": len(body)} for i, (kind, body) in enumerate(pages)]
    header = {
        "schema": [{"schema": schema, "blob_fields": blobs, "desc": ""}],
        "index_fields": [], "page": told, "header_size": 1 << 14, "page_size": size,
    }  # fmt: skip
    text = json.dumps(header).encode()
    raw = len(text).to_bytes(8, "little") + text
    place.write_bytes(raw.ljust(1 << 14, b"\0") + b"".join(body.ljust(size, b"\0") for _, body in pages))
    return str(place)


def a_number(rng: np.random.Generator, kind: str) -> int | float:
    """A number that a column may hold, near and far from zero."""
    bits = int(rng.integers(1, 32 if kind == "int32" else 64))
    whole = int(rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1)))
    if kind.startswith("int"):
        return whole
    real = float(rng.normal() * 10.0 ** rng.integers(-30, 30))
    return [whole, real, float(np.float32(real))][int(rng.integers(3))]


def a_cell(rng: np.random.Generator, field: dict, count: int) -> object:
    kind = field["type"]
    if kind == "string":
        return "".join(map(chr, rng.integers(32, 900, count * 5)))
    if kind == "bytes":
        return rng.bytes(count)
    if "shape" not in field:
        return a_number(rng, kind)
    if kind.startswith("float"):
        return rng.normal(size=count).astype(kind)
    return packed_integers([a_number(rng, kind) for _ in range(count)])


def exact(value: object, field: dict) -> bool:
    """Whether a number is left to the slow way: a whole one that its real column may not hold exactly."""
    return not (isinstance(value, int) and "float" in field["type"] and abs(value) > 2**53)


@pytest.mark.parametrize("seed", range(60))
def test_a_batch_is_its_records_read_one_by_one(tmp_path, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["int32", "int64", "float32", "float64", "string"], rng.integers(1, 5)).tolist()
    schema = {f"n{i}": {"type": kind} for i, kind in enumerate(kinds)}
    arrays = rng.choice(["bytes", "int32", "int64", "float32", "float64"], rng.integers(0, 4)).tolist()
    schema |= {f"a{i}": {"type": kind, **({} if kind == "bytes" else {"shape": [-1]})} for i, kind in enumerate(arrays)}
    lengths, odd = {n: int(rng.integers(1, 9)) for n in schema}, int(rng.integers(12))  # a row with longer arrays
    rows = [{n: a_cell(rng, f, lengths[n] + (i == odd)) for n, f in schema.items()} for i in range(7)]
    file = RecordFile(foreign_file(tmp_path / "a.mindrecord", schema, rows, 1 << 9))
    names = [n for n, f in schema.items() if f["type"] != "string" and rng.random() < 0.7]
    for _ in range(5):
        indices = rng.integers(0, 7, int(rng.integers(1, 9)))
        made = file.gather(indices, names)
        alike = not any(n.startswith("a") for n in names) or odd not in indices or {*indices.tolist()} == {odd}
        assert (made is not None) == (alike and all(exact(rows[i][n], schema[n]) for i in indices for n in names))
        for name, column in zip(names, made or [], strict=False):
            want = np.stack([np.asarray(file[int(i)][name]) for i in indices])
            assert (column.dtype, column.shape) == (want.dtype, want.shape)
            assert column.tobytes() == want.tobytes()


def test_damage_in_a_batch_is_left_to_the_records(tmp_path):
    rng = np.random.default_rng(0)
    schema = {
        "x": {"type": "int32"}, "y": {"type": "float32"}, "a": {"type": "int64", "shape": [-1]}, "b": {"type": "bytes"},
    }  # fmt: skip
    rows = [{"x": i * 900, "y": i / 3, "a": packed_integers([i, -i << 20]), "b": bytes([i] * 5)} for i in range(6)]
    place = Path(foreign_file(tmp_path / "a.mindrecord", schema, rows, 1 << 10))
    whole, names, read, left = place.read_bytes(), list(schema), 0, 0
    for _ in range(400):
        raw = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(130)) + ((1 << 14) if rng.random() < 0.5 else len(raw) - 1024)
            raw[at] = int(rng.integers(256))
        place.write_bytes(raw)
        try:
            file = RecordFile(place)
            made = file.gather(np.arange(len(file)), names)
        except RecordError:
            continue
        read, left = read + (made is not None), left + (made is None)
        for i, row in enumerate(file if made is not None else ()):
            assert all(column[i].tobytes() == row[n].tobytes() for n, column in zip(names, made, strict=True))
    assert read > 20
    assert left > 20


@pytest.mark.parametrize("seed", range(8))
def test_machine_code_and_python_find_the_same_in_a_record(seed):
    rng = np.random.default_rng(seed)
    names, compiled = np.frombuffer(b"xlong", np.uint8), Routine(read_map, options)
    for _ in range(30):
        row = {"x": a_number(rng, "int64"), "long": a_number(rng, "float64"), "text": "é" * int(rng.integers(40))}
        raw = np.frombuffer(packed_map(row), np.uint8).copy()
        if rng.random() < 0.5:
            raw[rng.integers(len(raw))] = rng.integers(256)
        found = []
        for call, data, words in ((read_map, raw.tolist(), names.tolist()), (compiled, raw, names)):
            fields = np.array([[0, 1, 3, -1], [1, 4, 6, -1]], np.int64)
            numbers = np.zeros((3, 1, 3), np.int64)
            given = (data, len(raw), words, fields.reshape(-1), 2, numbers.reshape(-1), 0, np.zeros(1, np.int64))
            good = call(*given)
            found.append((good, numbers[1:].tolist() if good else None))
        assert found[0] == found[1]


def test_what_machine_code_cannot_read_is_left_to_the_records(tmp_path):
    schema = {"n": {"type": "int32"}, "s": {"type": "string"}, "b": {"type": "bytes"}}
    rows = [{"n": i, "s": f"é{i}", "b": bytes([i] * 3)} for i in range(4)]
    place = foreign_file(tmp_path / "a.mindrecord", schema, rows)
    file, order = RecordFile(place), np.array([2, 0])
    assert [c.tolist() for c in file.gather(order, ["n", "b"])] == [[2, 0], [[2] * 3, [0] * 3]]
    assert file.gather(order, ["n", "s"]) is None
    assert file.gather(order[:0], ["n"]) is None
    store = ForeignStore(BytesInMemory(Path(place).read_bytes()), place)  # as a file that was encrypted
    assert store.gather(order, file.store.header.columns[:1]) is None
    assert [str(store.record(i)["s"]) for i in order] == ["é2", "é0"]


@pytest.mark.parametrize("length", [0, 1, 2, 3, 9, 10, 2**31, 2**63, 2**64 - 1])
def test_a_length_beyond_the_file_is_no_header(tmp_path, length):
    place = tmp_path / "a"
    place.write_bytes(length.to_bytes(8, "little") + b"{}   {   }")
    for raw in (FileBytes(place), BytesInMemory(place.read_bytes())):
        assert recognised(raw) == (length in (2, 10))
