"""Record files keep what was written, in every type, in one file or several, and TFRecords are TensorFlow's."""

from __future__ import annotations

import struct
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mycelia.dataset as ds
from mycelia.dataset import vision
from mycelia.errors import ArgumentError
from mycelia.mindrecord import (
    Cifar10ToMR,
    Cifar100ToMR,
    CsvToMR,
    FileReader,
    FileWriter,
    ImageNetToMR,
    MindPage,
    MnistToMR,
    RecordError,
    RecordFile,
    TFRecordToMR,
    set_enc_key,
)
from mycelia.mindrecord.matlab import matlab
from mycelia.mindrecord.tfrecord import TFRecordFile, build_example, crc32c, masked, parse_example, write_tfrecord

from . import published

FINE = ["fine_label", "coarse_label"]
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def written(place: str, schema: dict, rows: list[dict], files: int = 1) -> str:
    writer = FileWriter(place, files)
    writer.add_schema(schema)
    writer.write_raw_data(rows)
    writer.commit()
    return place


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_written_is_read(tmp_path_factory, data):
    kinds = data.draw(st.lists(st.sampled_from([*TYPES, "string", "bytes"]), min_size=1, max_size=4))
    shapes = [data.draw(st.sampled_from([None, [2], [-1], [2, -1]])) if k in TYPES else None for k in kinds]
    schema = {
        f"c{i}": {"type": k, **({} if s is None else {"shape": s})}
        for i, (k, s) in enumerate(zip(kinds, shapes, strict=True))
    }
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    rows = []
    for _ in range(data.draw(st.integers(1, 12))):
        row = {}
        for name, field in schema.items():
            if field["type"] == "string":
                row[name] = "".join(chr(c) for c in rng.integers(97, 1000, rng.integers(0, 9)))
            elif field["type"] == "bytes":
                row[name] = rng.bytes(int(rng.integers(0, 20)))
            else:
                shape = [int(rng.integers(1, 5)) if s == -1 else s for s in field.get("shape", [])]
                row[name] = rng.integers(0, 100, shape).astype(field["type"])
        rows.append(row)
    place = written(str(tmp_path_factory.mktemp("r") / "a.mindrecord"), schema, rows)
    back = list(FileReader(place).get_next())
    assert len(back) == len(rows)
    for ours, theirs in zip(back, rows, strict=True):
        for name, value in theirs.items():
            if isinstance(value, str | bytes):
                assert ours[name] == value
            else:
                np.testing.assert_array_equal(ours[name], value)
                assert ours[name].dtype == value.dtype


def test_a_gathered_batch_equals_its_rows(tmp_path):
    schema = {"x": {"type": "float32", "shape": [3]}, "n": {"type": "int64"}, "b": {"type": "bytes"}}
    rows = [{"x": np.full(3, i, "f"), "n": i, "b": bytes([i, i + 1])} for i in range(50)]
    place = written(str(tmp_path / "a.mindrecord"), schema, rows)
    batch = next(ds.MindDataset(place).batch(20).create_dict_iterator(1, output_numpy=True))
    for i, n in enumerate(batch["n"].tolist()):
        np.testing.assert_array_equal(batch["x"][i], rows[n]["x"])
        assert bytes(batch["b"][i]) == rows[n]["b"]


def test_several_files_share_the_rows(tmp_path):
    place = str(tmp_path / "a.mindrecord")
    written(place, {"n": {"type": "int32"}}, [{"n": i} for i in range(10)], files=3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mindrecord0", "a.mindrecord1", "a.mindrecord2"]
    for name in (place + "0", place):
        dataset = ds.MindDataset(name, shuffle=False)
        assert [int(r["n"]) for r in dataset.create_dict_iterator(1, output_numpy=True)] == list(range(10))
    batch = next(ds.MindDataset(place).batch(10).create_dict_iterator(1, output_numpy=True))
    assert sorted(batch["n"].tolist()) == list(range(10))
    shares = [ds.MindDataset(place, num_shards=3, shard_id=i).batch(4) for i in range(3)]
    seen = [v for s in shares for b in s.create_dict_iterator(1, output_numpy=True) for v in b["n"].tolist()]
    assert sorted(seen) == list(range(10))


def test_padding_fills_up_the_shards(tmp_path):
    place = written(str(tmp_path / "a"), {"n": {"type": "int32"}}, [{"n": i} for i in range(5)])
    shares = [
        ds.MindDataset(place, num_shards=4, shard_id=i, padded_sample={"n": np.int32(-1)}, num_padded=3)
        for i in range(4)
    ]
    rows = [[int(r["n"]) for r in s.create_dict_iterator(1, output_numpy=True)] for s in shares]
    assert [len(r) for r in rows] == [2, 2, 2, 2]
    assert sorted(v for r in rows for v in r) == [-1, -1, -1, 0, 1, 2, 3, 4]


def test_files_are_searched_by_their_index_fields(tmp_path):
    place = str(tmp_path / "a")
    writer = FileWriter(place)
    writer.add_schema({"kind": {"type": "string"}, "n": {"type": "int32"}})
    writer.add_index(["kind"])
    writer.write_raw_data([{"kind": "abc"[i % 3], "n": i} for i in range(10)])
    writer.commit()
    page = MindPage(place)
    assert page.candidate_fields == ["kind"]
    assert page.read_category_info()["categories"][0] == {"id": 0, "name": "a", "count": 4}
    assert [int(r["n"]) for r in page.read_at_page_by_name("b", 0, 2)] == [1, 4]
    assert [int(r["n"]) for r in page.read_at_page_by_id(1, 1, 2)] == [7]
    with pytest.raises(ArgumentError, match="no category 'z'"):
        page.read_at_page_by_name("z", 0, 1)


def test_mistakes_of_a_writer_are_told_and_leave_nothing(tmp_path):
    writer = FileWriter(str(tmp_path / "a"))
    with pytest.raises(ArgumentError, match="no schema"):
        writer.write_raw_data([{"x": 1}])
    writer.add_schema({"x": {"type": "int8"}})
    with pytest.raises(ArgumentError, match="int8, and got 300"):
        writer.write_raw_data([{"x": 300}])
    with pytest.raises(ArgumentError, match="lacks columns"):
        writer.write_raw_data([{"y": 1}])
    with pytest.raises(ArgumentError, match="unknown type"):
        FileWriter(str(tmp_path / "b")).add_schema({"x": {"type": "complex"}})
    del writer
    assert not list(tmp_path.iterdir())
    (tmp_path / "c").write_text("")
    with pytest.raises(ArgumentError, match="exists already"):
        FileWriter(str(tmp_path / "c"))


def test_a_saved_pipeline_gives_its_rows_again(tmp_path):
    dataset = ds.NumpySlicesDataset({"x": np.arange(12).reshape(6, 2), "s": list("abcdef")}, shuffle=False)
    for kind in ("mindrecord", "tfrecord"):
        place = str(tmp_path / f"a.{kind}")
        dataset.save(place, file_type=kind)
        read = (
            ds.MindDataset(place, shuffle=False) if kind == "mindrecord" else ds.TFRecordDataset(place, shuffle=False)
        )
        rows = list(read.create_dict_iterator(1, output_numpy=True))
        assert [r["x"].tolist() for r in rows] == np.arange(12).reshape(6, 2).tolist()


def test_converters_write_what_readers_read(tmp_path):
    pytest.importorskip("PIL", reason="decoding what was written needs Pillow")
    published.mnist(tmp_path / "mnist")
    MnistToMR(str(tmp_path / "mnist"), str(tmp_path / "m")).transform()
    theirs = list(ds.MnistDataset(str(tmp_path / "mnist"), "train", shuffle=False).create_dict_iterator(1, True))
    ours = list(ds.MindDataset(str(tmp_path / "m_train.mindrecord"), shuffle=False).create_dict_iterator(1, True))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(vision.Decode()(a["data"])[..., :1], b["image"])
        assert a["label"] == b["label"]
    published.cifar10(tmp_path / "c10")
    published.cifar100(tmp_path / "c100")
    Cifar10ToMR(str(tmp_path / "c10"), str(tmp_path / "c10.mindrecord")).transform()
    Cifar100ToMR(str(tmp_path / "c100"), str(tmp_path / "c100.mindrecord")).transform(["fine_label"])
    assert MindPage(str(tmp_path / "c100.mindrecord")).candidate_fields == ["fine_label"]
    for kind, reader, labels in (("c10", ds.Cifar10Dataset, ["label"]), ("c100", ds.Cifar100Dataset, FINE)):
        for usage, ending in (("train", ""), ("test", "_test")):
            theirs = list(reader(str(tmp_path / kind), usage, shuffle=False).create_dict_iterator(1, True))
            converted = ds.MindDataset(f"{tmp_path / kind}.mindrecord{ending}", shuffle=False)
            ours = list(converted.map(vision.Decode(), "data").create_dict_iterator(1, True))
            for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                np.testing.assert_array_equal(a["data"], b["image"])
                assert [int(a[name]) for name in ("id", *labels)] == [i, *(int(b[name]) for name in labels)]
    published.image_folder(tmp_path / "images")
    (tmp_path / "map").write_text("cat 0\ndog 1\neel 2\n")
    ImageNetToMR(str(tmp_path / "map"), str(tmp_path / "images"), str(tmp_path / "i.mindrecord"), 2).transform()
    assert ds.MindDataset(str(tmp_path / "i.mindrecord0")).get_dataset_size() == 6
    (tmp_path / "a.csv").write_text("n,v,s\n1,1.5,x\n2,2,y\n")
    CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "csv.mindrecord")).transform()
    assert FileReader(str(tmp_path / "csv.mindrecord")).schema()["v"] == {"type": "float64"}
    write_tfrecord(str(tmp_path / "a.tf"), [{"n": 1, "b": b"xy"}])
    TFRecordToMR(str(tmp_path / "a.tf"), str(tmp_path / "t.mindrecord"), {"n": "int64", "b": "bytes"}).transform()
    assert bytes(RecordFile(tmp_path / "t.mindrecord")[0]["b"]) == b"xy"


def test_the_sum_of_a_tfrecord_is_castagnolis():
    # examples of RFC 3720, appendix B.4
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E
    long = np.random.default_rng(0).bytes(5000)
    step = 0xFFFFFFFF
    for byte in long:  # the definition, a bit at a time
        step ^= byte
        for _ in range(8):
            step = step >> 1 ^ (0x82F63B78 if step & 1 else 0)
    assert crc32c(long) == step ^ 0xFFFFFFFF


def test_a_schema_gives_tfrecords_their_types_and_shapes(tmp_path):
    place = str(tmp_path / "a.tfrecord")
    write_tfrecord(place, [{"x": [1.0, 2.0, 3.0, 4.0], "n": [-7], "s": ["ab", "c"]} for _ in range(3)])
    schema = ds.Schema()
    schema.add_column("x", "float32", [2, 2])
    schema.add_column("n", "int32", [1])
    schema.add_column("s", "string")
    row = next(ds.TFRecordDataset(place, schema=schema).create_dict_iterator(1, output_numpy=True))
    assert row["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (row["n"].tolist(), str(row["n"].dtype)) == ([-7], "int32")
    assert row["s"].tolist() == ["ab", "c"]


def test_a_damaged_tfrecord_is_told_with_file_and_record(tmp_path):
    place = tmp_path / "a.tfrecord"
    write_tfrecord(str(place), [{"x": float(i)} for i in range(5)])
    raw = place.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0] + 16
    for at, words in ((2 * size, "length"), (2 * size + 14, "checksum"), (-3, "checksum")):
        damaged = bytearray(raw)
        damaged[at] ^= 1
        (tmp_path / "b.tfrecord").write_bytes(damaged)
        with pytest.raises(RecordError, match=words) as caught:
            _ = [TFRecordFile(str(tmp_path / "b.tfrecord"))[i] for i in range(5)]
        assert "b.tfrecord" in str(caught.value)
    (tmp_path / "c.tfrecord").write_bytes(raw[:-5])
    with pytest.raises(RecordError, match="cut short"):
        TFRecordFile(str(tmp_path / "c.tfrecord"))


@pytest.mark.parametrize(
    "message",
    [
        b"\x0a\x04\x0a\x02\x08\x05",  # a number where a name should be
        b"\x0a\x08\x0a\x06\x08\xff\xff\xff\xff\x7f",  # the same, and it is large
        b"\x08\x05",
        b"\xff" * 100000,
        b"\x0a\x09\x0a\x07\x12\x05\x0a\x03\x08\xff\x7f",
        b"\x0a\x08\x0a\x06\x12\x04\x12\x02\x08\x05",
        b"\x0a\x09\x0a\x07\x12\x05\x12\x03\x0a\x01\x05",
        b"\x07",
    ],
)
def test_a_whole_record_that_holds_something_else_is_told(tmp_path, message):
    """The sums fit, so it was written like that; but no number in it is taken for a size."""
    place = tmp_path / "a.tfrecord"
    size = struct.pack("<Q", len(message))
    place.write_bytes(size + struct.pack("<I", masked(size)) + message + struct.pack("<I", masked(message)))
    with pytest.raises(RecordError, match="record: 0"):
        TFRecordFile(str(place))[0]


@pytest.mark.skipif(find_spec("cryptography") is None, reason="cryptography is not installed")
def test_encrypted_files_need_their_key(tmp_path):
    try:
        set_enc_key("0123456789abcdef")
        place = written(str(tmp_path / "a"), {"x": {"type": "string"}}, [{"x": "secret words"}])
        assert b"secret" not in (tmp_path / "a").read_bytes()
        assert RecordFile(place)[0]["x"] == "secret words"
        set_enc_key("fedcba9876543210")
        with pytest.raises(RecordError, match="key is another"):
            RecordFile(place)
        set_enc_key(None)
        with pytest.raises(RecordError, match="is encrypted"):
            RecordFile(place)
    finally:
        set_enc_key(None)


def test_bytes_keep_their_zeros_in_a_tfrecord():
    for value in (b"ab\0\0", b"\0", [b"a\0", b"\0\0"]):
        whole = [value] if isinstance(value, bytes) else value
        assert parse_example(build_example({"x": value}))["x"] == whole


MATRICES = {
    "bytes": np.arange(6, dtype=np.uint8).reshape(2, 3),
    "three axes": np.arange(24, dtype=np.int16).reshape(2, 3, 4),
    "fractions": np.linspace(-1, 1, 7),
    "small fractions": np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2),
    "one number": np.array(5.5),
    "large": np.array([[1 << 62]], np.int64),
    "complex": np.array([[1 + 2j, 3 - 4j]]),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_files_hold_what_scipy_finds_in_them(compressed, tmp_path):
    io = pytest.importorskip("scipy.io")
    sparse = pytest.importorskip("scipy.sparse")
    dots = np.array([[0, 2.5, 0], [1, 0, 0]])
    cells = np.empty((2, 1), object)
    cells[0, 0], cells[1, 0] = np.arange(3), sparse.csc_matrix(dots)
    named = {name.replace(" ", "_"): value for name, value in MATRICES.items()}
    told = {**named, "s": "a text", "dots": sparse.csc_matrix(dots), "c": cells, "t": {"x": np.arange(2), "y": cells}}
    io.savemat(tmp_path / "a.mat", told, do_compression=compressed)
    theirs = io.loadmat(tmp_path / "a.mat")
    for name in named:
        (found,) = matlab(tmp_path / "a.mat", name)
        assert found.dtype == theirs[name].dtype
        np.testing.assert_array_equal(found, theirs[name])
    s, dense, c, t = matlab(tmp_path / "a.mat", "s", "dots", "c", "t")
    assert s == theirs["s"][0]
    np.testing.assert_array_equal(dense, dots)
    for found in (c, t["y"][0]):
        np.testing.assert_array_equal(found[0], [[0, 1, 2]])
        np.testing.assert_array_equal(found[1], dots)
    np.testing.assert_array_equal(t["x"][0], [[0, 1]])


def test_sparse_matrices_of_zeros_and_of_any_sizes_are_those_of_scipy(tmp_path):
    io = pytest.importorskip("scipy.io")
    sparse = pytest.importorskip("scipy.sparse")
    for dtype in (np.float64, np.complex128, bool):
        for dense in (np.zeros((3, 4)), np.zeros((1, 1)), np.eye(3, 5, 2), np.eye(5, 2, -3), np.ones((2, 1))):
            want = dense.astype(dtype)
            io.savemat(tmp_path / "a.mat", {"x": sparse.csc_matrix(want)})
            (found,) = matlab(tmp_path / "a.mat", "x")
            np.testing.assert_array_equal(found, want)
            np.testing.assert_array_equal(found, io.loadmat(tmp_path / "a.mat")["x"].toarray())
