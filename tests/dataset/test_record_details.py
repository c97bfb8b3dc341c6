"""Details of record files: sums that stay what they are, types that numbers survive in, pages, keys and sizes."""

from __future__ import annotations

import pickle
import wave

import numpy as np
import pytest

import mycelia.dataset.audio as A
import mycelia.dataset.vision as V
from mycelia.dataset.readers.sounds import sphere
from mycelia.errors import MyceliaError
from mycelia.mindrecord import FileReader, FileWriter, MindPage, RecordFile, TFRecordToMR, set_enc_key
from mycelia.mindrecord.layout import checksums, weights
from mycelia.mindrecord.tfrecord import TFRecordFile, write_tfrecord
from tests.each import each

FULL = (1 << 64) - 1


def refused(call, words):
    with pytest.raises(MyceliaError, match=words):
        call()


def written(place, schema, rows, index=()):
    writer = FileWriter(str(place), overwrite=True)
    writer.add_schema(schema)
    if index:
        writer.add_index(index)
    writer.write_raw_data(rows)
    writer.commit()
    return RecordFile(str(place))


def test_sums_of_records_are_the_same_for_ever():
    def weight(i: int) -> int:  # of the files that there are
        x = i * 0x9E3779B97F4A7C15 & FULL
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & FULL
        return x ^ x >> 27 | 1

    for count in (1, 2, 63, 64, 65, 128, 129, 300):
        assert weights(count).tolist() == [weight(i + 1) for i in range(count)]
    words = np.random.default_rng(0).integers(0, FULL, (3, 70), np.uint64, endpoint=True)
    for row, found in zip(words.tolist(), checksums(words).tolist(), strict=True):
        assert found == sum(x * weight(i + 1) for i, x in enumerate(row)) & FULL


KINDS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
COLUMNS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float16", "float32", "float64"]


def test_numbers_survive_in_their_column_or_are_refused(tmp_path):
    def check(given, column):
        schema = {"x": {"type": column, "shape": [len(given)]}}
        survives = given.dtype.kind in "iub" or np.dtype(column).kind == "f"
        if survives and np.dtype(column).kind in "iu":
            info = np.iinfo(column)
            survives = all(info.min <= v <= info.max for v in given.tolist())
        if survives:
            (row,) = written(tmp_path / "a", schema, [{"x": given}])
            assert row["x"].dtype == column
            assert row["x"].tolist() == given.astype(column).tolist()
        else:
            refused(lambda: written(tmp_path / "a", schema, [{"x": given}]), "x")

    def cases():
        for kind in KINDS:
            info = np.iinfo(kind) if np.dtype(kind).kind in "iu" else None
            values = [[1, 2]] if info is None else [[1, 2], [info.min, 0], [0, info.max], [info.min, info.max]]
            for value in values:
                for column in COLUMNS:
                    if np.dtype(column) != np.float16 or value == [1, 2]:
                        yield f"{kind} {value} in {column}", (np.array(value, kind), column)

    each(check, cases())


def test_schemas_and_rows_are_checked(tmp_path):
    def new():
        return FileWriter(str(tmp_path / "b"), overwrite=True)

    for odd in (None, [], {}, "x", [("x", {"type": "int32"})]):
        refused(lambda odd=odd: new().add_schema(odd), "dictionary of columns")
    for field in ({"type": "int33"}, {}, {"type": "int32", "shape": [0]}, {"type": "int32", "shape": [-2]},
                  {"type": "int32", "shape": [1.5]}, {"type": "string", "shape": [2]}):  # fmt: skip
        refused(lambda field=field: new().add_schema({"x": field}), "'x'")
    twice = new()
    assert twice.add_schema({"x": {"type": "int32"}}) == 1
    refused(lambda: twice.add_schema({"y": {"type": "int32"}}), "one schema")
    refused(lambda: new().write_raw_data([{"x": 1}]), "no schema yet")
    refused(lambda: new().commit(), "no schema yet")
    for row in ({}, {"y": 1}, [1], None):
        lacks = new()
        lacks.add_schema({"x": {"type": "int32"}})
        refused(lambda row=row, lacks=lacks: lacks.write_raw_data([{"x": 0}, {"x": 1}, row]), "row 2 lacks columns")
        assert not list(tmp_path.iterdir())
    for name, low, high in (("set_header_size", 16 << 10, 128 << 20), ("set_page_size", 32 << 10, 256 << 20)):
        for legal in (low, high):
            getattr(new(), name)(legal)
        for odd in (low - 1, high + 1, float(low), None):
            refused(lambda odd=odd, name=name: getattr(new(), name)(odd), name[4:])
    for length in range(40):
        if length in (16, 24, 32):
            set_enc_key("k" * length)
        else:
            refused(lambda length=length: set_enc_key("k" * length), f"this one has {length}")
    set_enc_key(None)


@pytest.mark.parametrize("field", ["kind", "n", "r"])
def test_pages_are_the_rows_of_a_category_in_turn(tmp_path, field):
    rows = [{"kind": "abca"[i % 4], "n": i % 3, "r": i % 2 / 2, "x": i} for i in range(11)]
    schema = {"kind": {"type": "string"}, "n": {"type": "int32"}, "r": {"type": "float32"}, "x": {"type": "int32"}}
    written(tmp_path / "a", schema, rows, ["kind", "n", "r"])
    page = MindPage(str(tmp_path / "a"), num_consumer=1)
    assert page.category_field == "kind"
    assert page.candidate_fields == ["kind", "n", "r"]
    page.category_field = field
    assert page.category_field == field
    values = sorted({row[field] for row in rows})
    groups = [[row["x"] for row in rows if row[field] == value] for value in values]
    told = page.read_category_info()
    assert told == {
        "key": field,
        "categories": [{"id": i, "name": str(v), "count": len(groups[i])} for i, v in enumerate(values)],
    }
    for i, (value, group) in enumerate(zip(values, groups, strict=True)):
        for size in (1, 2, 3, 20):
            for number in range(5):
                want = group[number * size : (number + 1) * size]
                assert [int(r["x"]) for r in page.read_at_page_by_id(i, number, size)] == want
                assert [int(r["x"]) for r in page.read_at_page_by_name(str(value), number, size)] == want
    for category in (-1, len(values)):
        refused(lambda category=category: page.read_at_page_by_id(category, 0, 1), "category_id must be")
    for number, size in ((-1, 1), (0, 0), (0, -1)):
        refused(lambda number=number, size=size: page.read_at_page_by_id(0, number, size), "must not be negative")
    refused(lambda: page.read_at_page_by_name("absent", 0, 1), "no category 'absent'")
    refused(lambda: setattr(page, "category_field", "x"), "no index field")
    refused(lambda: MindPage(str(tmp_path / "a"), 0), "num_consumer")
    written(tmp_path / "b", schema, rows)
    refused(lambda: MindPage(str(tmp_path / "b")).read_category_info(), "has no index field")


def test_files_travel_between_processes_and_are_let_go_of(tmp_path):
    place = str(tmp_path / "a.tfrecord")
    rows = [{"x": i, "w": f"w{i}"} for i in range(4)]
    write_tfrecord(place, rows)
    again = pickle.loads(pickle.dumps(TFRecordFile(place)))
    assert [int(again[i]["x"][0]) for i in range(len(again))] == [0, 1, 2, 3]
    converter = TFRecordToMR(place, place + ".mindrecord", {"x": "int64", "w": "string"})
    listed = list(converter.tfrecord_iterator())
    assert [int(np.ravel(r["x"])[0]) for r in listed] == [0, 1, 2, 3]
    converter.transform()
    file = RecordFile(place + ".mindrecord")
    for one in (file, pickle.loads(pickle.dumps(file))):
        assert [(int(r["x"]), str(r["w"])) for r in one] == [(i, f"w{i}") for i in range(4)]
    reader = FileReader(place + ".mindrecord")
    assert reader.len() == 4
    reader.close()
    assert list(reader.get_next()) == []


def test_coefficients_of_filters_fit_one_another():
    for a, b in (([1.0], [1.0, 0.0]), ([], []), ([0.0, 1.0], [1.0, 0.0]), ([1.0, 2.0], [1.0])):
        for kind in (A.LFilter, A.Filtfilt):
            refused(lambda a=a, b=b, kind=kind: kind(a, b), "same length")
    for odd in ([1.0, "2"], [True, 1.0], 1.0, None):
        refused(lambda odd=odd: A.LFilter(odd, [1.0, 1.0]), "coeff")
    given = np.random.default_rng(0).normal(size=20) / 9
    made, want = A.LFilter([2.0, -0.5], [1.0, 0.25], clamp=False)(given), []
    for before, now in zip([0, *given], given, strict=False):
        want.append((now + 0.25 * before + 0.5 * (want[-1] if want else 0)) / 2)
    np.testing.assert_allclose(made, want, 1e-6, 1e-9)
    loud = A.LFilter([1.0, 0.0], [30.0, 0.0])(given)
    np.testing.assert_allclose(loud, np.clip(30 * given, -1, 1), 1e-6)


def test_a_file_of_sound_tells_its_rate_and_has_no_pictures(tmp_path):

    pytest.importorskip("av")
    place = str(tmp_path / "a.wav")
    samples = (np.sin(np.arange(4000) / 9) * 20000).astype("<i2")
    with wave.open(place, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    pictures, sound, rates = V.read_video(place)
    assert rates == {"audio_fps": 8000}
    assert len(pictures) == 0
    np.testing.assert_allclose(np.ravel(sound), samples, atol=1)
    assert V.read_video_timestamps(place) == ([], None)


def test_the_head_of_a_sphere_file_says_how_it_is_read(tmp_path):
    place = tmp_path / "a.sph"

    def told(*lines, first="NIST_1A", size="   1024"):
        place.write_bytes("\n".join([first, size, *lines, "end_head", ""]).encode().ljust(1024))
        return sphere(str(place))

    assert told() == (16000, ">", 1024)
    assert told("sample_rate -i 8000", "sample_byte_format -s2 01") == (8000, "<", 1024)
    assert told("sample_byte_format -s2 10", "two words", "word", "", size="2048") == (16000, ">", 2048)
    assert told("sample_coding -s3 pcm", "sample_n_bytes -i 2", "channel_count -i 1 more") == (16000, ">", 1024)
    for line in ("sample_coding -s4 ulaw", "sample_n_bytes -i 1", "channel_count -i 2"):
        refused(lambda line=line: told(line), "one channel of 16-bit samples")
    refused(lambda: told("sample_rate -s3 8k0"), "has the rate '8k0'")
    refused(lambda: told(first="NIST_1B"), "not a sphere file")
    refused(lambda: told(size="many"), "not a sphere file")
    place.write_bytes(b"NIST_1A")
    refused(lambda: sphere(str(place)), "not a sphere file")
    refused(lambda: sphere(str(tmp_path / "absent")), "a recording is missing")


def test_sounds_too_short_for_a_median_have_no_pitch():
    tone = np.sin(np.arange(400) / 7)
    for length in (1, 2, 3, 30):
        frames = -(-400 // 160)
        found = A.DetectPitchFrequency(16000, 0.01, length)(tone)
        before = (length - 1) // 2
        assert found.shape == (max(frames + before - length + 1, 0),)
    spec = np.array([[1e-20, 1.0, 100.0]])
    np.testing.assert_allclose(A.AmplitudeToDB(top_db=30.0)(spec), [[-10.0, 0.0, 20.0]], atol=1e-4)
    np.testing.assert_allclose(A.AmplitudeToDB(top_db=1e9)(spec), [[-100.0, 0.0, 20.0]], atol=1e-4)
