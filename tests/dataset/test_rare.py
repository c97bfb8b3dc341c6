"""What is asked for rarely: classes of every source, Pillow images, samplers written down, batches by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
import mycelia.dataset.audio as A
import mycelia.dataset.vision as V
from mycelia.dataset.audio.stft import window
from mycelia.dataset.random import seeded
from mycelia.dataset.serialisation import sampler_of
from mycelia.dataset.utils import imshow_det_bbox
from mycelia.dataset.vision.codec import encode_png
from mycelia.errors import MyceliaError
from mycelia.mindrecord import FileWriter
from mycelia.mindrecord.tfrecord import crc32c, write_tfrecord

LABELS = [3, 1, 3, 2, 1, 2, 3]
RNG = np.random.default_rng(1)


def read(dataset, column):
    return [row[column].tolist() for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]


# classes


class Rows:
    def __len__(self):
        return len(LABELS)

    def __getitem__(self, i):
        return np.array(i), np.array(LABELS[i])


def records(place, **options):
    writer = FileWriter(f"{place}/a.mindrecord")
    writer.add_schema({"x": {"type": "int32"}, "label": {"type": "int32"}})
    writer.write_raw_data([{"x": i, "label": n} for i, n in enumerate(LABELS)])
    writer.commit()
    return ds.MindDataset(f"{place}/a.mindrecord", shuffle=False, **options)


def messages(place):
    write_tfrecord(f"{place}/a.tfrecord", [{"x": i, "label": n} for i, n in enumerate(LABELS)])
    return ds.TFRecordDataset(f"{place}/a.tfrecord", shuffle=False)


def cells(place):
    Path(place, "a.csv").write_text("x,label\n" + "".join(f"{i},{n}\n" for i, n in enumerate(LABELS)))
    return ds.CSVDataset(f"{place}/a.csv", column_defaults=[0, 0], shuffle=False)


def table(place):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"x": range(len(LABELS)), "label": LABELS}), f"{place}/a.parquet", row_group_size=3)
    return ds.ParquetDataset(f"{place}/a.parquet", shuffle=False)


def pictures(place):
    for i, n in enumerate(LABELS):
        folder = Path(place, "pictures", str(n))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.png").write_bytes(V_PNG)
    return ds.ImageFolderDataset(f"{place}/pictures", shuffle=False)


def random_rows(place):
    schema = ds.Schema()
    schema.add_column("label", "uint8", [1])
    schema.add_column("real", "float16", [2])
    schema.add_column("truth", "bool", [])
    return ds.RandomDataset(30, schema)


def numbers(place):
    return ds.NumpySlicesDataset({"x": range(len(LABELS)), "label": LABELS}, shuffle=False)


V_PNG = encode_png(np.zeros((2, 2, 3), np.uint8)).tobytes()
SOURCES = {
    "records": records,
    "messages": messages,
    "cells": cells,
    "table": table,
    "pictures": pictures,
    "random": random_rows,
    "arrays": numbers,
    "cached": lambda place: records(place, cache=ds.DatasetCache(1)),
    "padded": lambda place: ds.PaddedDataset([{"x": np.array(i), "label": np.array(n)} for i, n in enumerate(LABELS)]),
    "rows": lambda place: ds.GeneratorDataset(Rows(), ["x", "label"], shuffle=False),
    "made up": lambda place: ds.FakeImageDataset(30, (4, 4, 3), 4, shuffle=False),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_tells_the_classes_of_its_rows(name, tmp_path):
    source = SOURCES[name](tmp_path)
    labels = read(source, "label")
    classes = np.unique(labels).tolist()
    for count in (1, 2):
        chosen = [int(np.ravel(v)[0]) for v in read(source.use_sampler(ds.PKSampler(count)), "label")]
        assert chosen == [c for c in classes for _ in range(count)]
    with pytest.raises(MyceliaError, match=r"no column|lacks"):
        read(source.use_sampler(ds.PKSampler(1, class_column="absent")), "label")


# pictures of Pillow


def test_pillow_images_are_treated_by_pillow():
    pillow, enhance = pytest.importorskip("PIL.Image"), pytest.importorskip("PIL.ImageEnhance")
    image = pillow.fromarray(RNG.integers(0, 256, (9, 8, 3)).astype(np.uint8))
    for factor in (0.0, 0.5, 1.0, 2.5):
        for name in ("Brightness", "Contrast"):
            made = getattr(V, f"Adjust{name}")(factor)(image)
            np.testing.assert_array_equal(
                np.asarray(made), np.asarray(getattr(enhance, name)(image).enhance(factor)), name
            )
        made = V.RandomSharpness((factor, factor))(image)
        np.testing.assert_array_equal(np.asarray(made), np.asarray(enhance.Sharpness(image).enhance(factor)))
        made = V.AdjustSharpness(factor)
        np.testing.assert_array_equal(np.asarray(made(image)), made(np.asarray(image)))  # as in MindSpore
    for mode, count in (("L", 1), ("RGB", 3), ("RGBA", 4), ("CMYK", 4), ("1", 1)):
        assert V.get_image_num_channels(image.convert(mode)) == count
        assert V.get_image_size(image.convert(mode)) == [9, 8]
    with seeded(np.random.default_rng(4)):
        drawn = V.RandomLighting(0.3).draw(np.random.default_rng(4), 9, 8)
    want = np.clip(np.asarray(image) + np.array(drawn.colour), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(np.asarray(drawn(image)), want)
    grey = image.convert("L")
    np.testing.assert_array_equal(
        np.asarray(drawn(grey)), np.clip(np.asarray(grey.convert("RGB")) + drawn.colour, 0, 255).astype(np.uint8)
    )


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "CMYK"])
def test_image_files_are_read_in_the_mode_asked_for(mode, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    image = pillow.fromarray(RNG.integers(0, 256, (5, 6, 3)).astype(np.uint8)).convert(mode)
    place = str(tmp_path / ("a.tif" if mode == "CMYK" else "a.png"))
    image.save(place)
    for asked, want in (
        (V.ImageReadMode.UNCHANGED, image.convert("RGB") if mode in ("P", "1", "CMYK") else image),
        (V.ImageReadMode.GRAYSCALE, image.convert("L")),
        (V.ImageReadMode.COLOR, image.convert("RGB")),
    ):
        made = V.read_image(place, asked)
        expected = np.asarray(want)
        np.testing.assert_array_equal(made, expected if expected.ndim == 3 else expected[..., None])


def test_bytes_as_one_value_are_decoded_too():
    pillow = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image = RNG.integers(0, 256, (5, 6, 3)).astype(np.uint8)
    pillow.fromarray(image).save(out, "PNG")
    for given in (np.array(out.getvalue()), np.frombuffer(out.getvalue(), np.uint8)):
        np.testing.assert_array_equal(V.Decode()(given), image)
    with pytest.raises(MyceliaError, match="no bytes"):
        V.Decode()(np.zeros(0, np.uint8))


def test_boxes_names_and_masks_are_drawn():
    opencv = pytest.importorskip("cv2")
    image = RNG.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    boxes = np.array([[5, 20, 20, 35, 0.9], [25, 10, 45, 30, 0.2]])
    masks = np.zeros((2, 40, 50), np.uint8)
    masks[0, 22:30, 8:15] = masks[1, 12:20, 30:40] = 1

    def drawn(chosen, scored):
        want = image.copy()
        for i in chosen:
            inside = masks[i].astype(bool)
            want[inside] = (want[inside] * 0.5 + np.array((128, 0, 128)) * 0.5).astype(np.uint8)
            left, top, right, bottom = map(int, boxes[i, :4])
            opencv.rectangle(want, (left, top), (right, bottom), (0, 255, 0), 2)
            told = f"{'ab'[i]}|{boxes[i, 4]:.02f}" if scored else f"class {i}"
            opencv.putText(want, told, (left, top - 2), opencv.FONT_HERSHEY_COMPLEX, 0.8, (203, 192, 255))
        return want

    labels, before = np.array([[0], [1]]), image.copy()
    for least, chosen in ((0.0, [0, 1]), (0.2, [0, 1]), (0.21, [0]), (0.95, [])):
        made = imshow_det_bbox(image, boxes, labels, masks, ["a", "b"], least, show=False)
        np.testing.assert_array_equal(made, drawn(chosen, True))
    planes = imshow_det_bbox(image.transpose(2, 0, 1), boxes[:, :4], labels, masks, show=False)
    np.testing.assert_array_equal(planes, drawn([0, 1], False))
    np.testing.assert_array_equal(image, before)
    for odd in (boxes[:, :3], boxes[0], boxes[:1]):
        with pytest.raises(MyceliaError, match="with a label each"):
            imshow_det_bbox(image, odd, labels, show=False)


def test_a_part_that_changes_its_size_is_brought_back_into_its_box():
    image = RNG.integers(0, 256, (12, 14, 3)).astype(np.uint8)
    boxes = np.array([[2, 3, 6, 4]], np.float32)
    out, same = V.BoundingBoxAugment(V.Resize((8, 12)), 1.0)(image, boxes)
    want = image.copy()
    want[3:7, 2:8] = V.Resize((4, 6))(V.Resize((8, 12))(image[3:7, 2:8]))
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(same, boxes)
    np.testing.assert_array_equal(V.BoundingBoxAugment(V.Invert(), 0.0)(image, boxes)[0], image)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_what_is_erased_is_filled_with_noise(kind):
    image = np.full((3, 30, 30), 77, kind)
    with seeded(np.random.default_rng(2)):
        made = V.RandomErasing(1.0, (0.5, 0.5), (1.0, 1.0), "random")(image)
    changed = made[made != 77].astype(float)
    share = len(changed) / image.size
    assert 0.4 < share < 0.6
    if kind is np.uint8:
        assert set(changed.tolist()) <= {*range(5), *range(251, 256)}
    else:
        assert abs(changed.mean()) < 0.2
        assert 0.8 < changed.std() < 1.2


# sounds


def test_sounds_at_the_edge_of_what_can_be_done():
    for kind in A.WindowType:
        assert window(kind, 1).tolist() == [1]
    wave = RNG.normal(size=(2, 50))
    np.testing.assert_array_equal(A.Resample(8000, 8000)(wave), wave)
    pairs = RNG.normal(size=(1, 5, 6, 2))
    np.testing.assert_allclose(A.PhaseVocoder(1.0, np.zeros((5, 1)))(pairs), pairs)


# written down


def test_samplers_are_written_with_those_that_choose_first():
    child = ds.SubsetSampler([7, 5, 3, 1])
    for make in (
        lambda: ds.SequentialSampler(1, 2),
        lambda: ds.SubsetSampler([3, 0]),
        lambda: ds.RandomSampler(True, 3),
        lambda: ds.DistributedSampler(2, 1, True, offset=1),
        lambda: ds.IterSampler([2, 1]),
        lambda: ds.SubsetRandomSampler([0, 2, 3], 2),
        lambda: ds.WeightedRandomSampler([1, 5, 2, 0], 3),
    ):
        plain, chained = make(), make()
        chained.add_child(child)
        for sampler in (plain, chained):
            told = json.loads(json.dumps(sampler.describe()))
            again = sampler_of(told)
            assert again.describe() == sampler.describe()
            for epoch in range(3):
                assert list(again.order(9, (1, epoch))) == list(sampler.order(9, (1, epoch)))
    with pytest.raises(MyceliaError, match="written by hand"):
        sampler_of({"sampler": "Mine"})


def test_parts_of_a_dataset_are_written_as_slices(tmp_path):
    place = str(tmp_path / "a.json")
    source = records(tmp_path)
    for part in (
        slice(None),
        slice(2, 5),
        slice(None, None, -1),
        slice(5, 1, -2),
        slice(3, None, -1),
        slice(1, 1),
        slice(-2, None),
    ):
        dataset = source[part]
        ds.serialize(dataset, place)
        assert read(ds.deserialize(json_filepath=place), "x") == list(range(7))[part] == read(dataset, "x")


def test_schemas_come_back_as_they_were_written():
    schema = ds.Schema()
    schema.add_column("x", "int8", [2])
    schema.add_column("y", "float32")
    for rows, kind in ((None, ""), (0, ""), (5, "TF"), (None, "Random")):
        schema.num_rows, schema.dataset_type = rows, kind
        told = json.loads(schema.to_json())
        assert told == {
            "columns": schema.columns,
            **({} if rows is None else {"numRows": rows}),
            **({"datasetType": kind} if kind else {}),
        }
        again = ds.Schema()
        again.from_json(told)
        assert (again.columns, again.get_num_rows(), again.dataset_type) == (schema.columns, rows, kind)
    for odd in ([], {}, "columns", {"numRows": 3}):
        with pytest.raises(MyceliaError, match="columns"):
            ds.Schema().from_json(odd)


def test_features_of_messages_have_the_types_of_their_schema(tmp_path):
    place = str(tmp_path / "a.tfrecord")
    write_tfrecord(place, [{"x": [1, 2], "w": "é", "r": 0.5, "b": [b"ab", b"cd"]}] * 5)

    def first(column, **described: Any):
        schema = ds.Schema()
        schema.parse_columns([{"name": column, **described}])
        return next(ds.TFRecordDataset(place, schema, shuffle=False).create_dict_iterator(1, output_numpy=True))[column]

    assert first("x", type="int8", shape=[2]).tolist() == [1, 2]
    assert first("x", type="int8", shape=[1, 2]).dtype == np.int8
    assert first("x", type="float32").tolist() == [1.0, 2.0]
    assert first("w", type="string", shape=[]).tolist() == "é"
    assert first("b", type="string").tolist() == ["ab", "cd"]
    assert first("b", type="bytes").tolist() == [b"ab", b"cd"]
    assert bytes(first("b", type="uint8")) == b"abcd"
    with pytest.raises(MyceliaError, match="is bytes, and the schema says int32"):
        first("b", type="int32")
    for shards, equal in ((2, True), (3, True), (2, False)):
        parts = [
            ds.TFRecordDataset(
                place, num_shards=shards, shard_id=i, shard_equal_rows=equal, shuffle=False
            ).get_dataset_size()
            for i in range(shards)
        ]
        assert parts == [-(-5 // shards) if equal else len(range(i, 5, shards)) for i in range(shards)]


def test_sums_of_bytes_are_those_of_the_polynomial():
    def slow(data: bytes) -> int:
        crc = 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        return crc ^ 0xFFFFFFFF

    raw = RNG.bytes(3100)
    for size in (*range(18), 1023, 1024, 1025, 1031, 1032, 1033, 2047, 2048, 2056, 3100):
        assert crc32c(raw[:size]) == slow(raw[:size])


# batches by hand


def test_a_list_of_lists_makes_the_batches():
    chooser = [[0, 2], [1], [5, 4, 3]]
    plain = ds.GeneratorDataset(Rows(), ["x", "label"], batch_sampler=chooser)
    assert read(plain, "x") == chooser
    assert read(plain, "label") == [[LABELS[i] for i in part] for part in chooser]

    def collate(rows):
        return np.array([x for x, _ in rows]) * 10, np.array(len(rows))

    made = ds.GeneratorDataset(Rows(), ["x", "n"], batch_sampler=chooser, collate_fn=collate)
    assert read(made, "x") == [[10 * i for i in part] for part in chooser]
    assert read(made, "n") == [2, 1, 3]
    for odd in ({"shuffle": True}, {"sampler": [0]}, {"num_shards": 2, "shard_id": 0}):
        with pytest.raises(MyceliaError):
            ds.GeneratorDataset(Rows(), ["x", "label"], batch_sampler=chooser, **odd)
    with pytest.raises(MyceliaError):
        ds.GeneratorDataset(iter([(1, 2)]), ["x", "label"], batch_sampler=chooser)


# rows as they are handed over


def test_values_are_handed_over_as_they_were_asked_for():
    value = {"n": np.arange(3, dtype=np.float32), "t": np.array("word"), "in": {"m": np.array(2)}}
    rows = ds.GeneratorDataset([(value, np.arange(4))], ["d", "x"], shuffle=False)
    made = next(rows.create_dict_iterator(num_epochs=1))
    assert type(made["d"]["n"]).__name__ == type(made["d"]["in"]["m"]).__name__ == type(made["x"]).__name__ == "Tensor"
    assert made["d"]["n"].asnumpy().tolist() == [0, 1, 2]
    assert made["d"]["t"] == "word"
    plain = next(rows.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert type(plain["d"]["n"]) is np.ndarray
    kept = np.arange(8).reshape(4, 2)
    source = ds.NumpySlicesDataset({"x": kept}, shuffle=False).batch(2)
    for batch in source.create_dict_iterator(num_epochs=1, output_numpy=True, do_copy=True):
        assert not np.shares_memory(batch["x"], kept)
        assert batch["x"].flags.owndata
        batch["x"][...] = -1
    assert kept.min() == 0
    source = ds.NumpySlicesDataset({"x": kept}, shuffle=False).map(lambda x: x[::-1], "x")
    for rows in (source.create_dict_iterator, source.create_tuple_iterator):
        for copied in (True, False):
            found = [*rows(num_epochs=1, output_numpy=True, do_copy=copied)]
            found = [row["x"] if isinstance(row, dict) else row[0] for row in found]
            np.testing.assert_array_equal(found, kept[:, ::-1])
            assert [x.flags.owndata for x in found] == [copied] * 4  # else a view of what the function was given


def test_a_function_takes_as_many_columns_as_it_has_plain_parameters():
    def two(a, b):
        return a + b

    def one(a, b=5, *rest, c=1, **more):
        return a * 10

    class Object:
        def __call__(self, a):
            return a + 7

    both = ds.NumpySlicesDataset({"a": [1, 2], "b": [10, 20]}, shuffle=False)
    for function, want in (
        (two, [11, 22]),
        (one, [10, 20]),
        (Object(), [8, 9]),
        (np.negative, [-1, -2]),
        (abs, [1, 2]),
    ):
        columns = ["c"] if function is two else ["c", "b"]
        made = both.map(function, output_columns=["c"]) if function is two else both.map(function)
        assert read(made, "c" if function is two else "a") == want, columns


def test_states_of_the_first_version_are_taken_up():
    rows = ds.NumpySlicesDataset({"x": range(9)}, shuffle=False)
    first = rows.create_dict_iterator(num_epochs=1, output_numpy=True)
    for _ in range(4):
        next(first)
    state = first.state_dict()
    assert state["version"] == 2
    older = {k: v for k, v in state.items() if k not in ("readers", "first", "read", "family", "orders")} | {
        "version": 1,
        "start": 0,
    }
    for given in (state, older):
        again = rows.create_dict_iterator(num_epochs=1, output_numpy=True)
        again.load_state_dict(given)
        assert [int(r["x"]) for r in again] == [4, 5, 6, 7, 8]
    for odd in ({"version": 3}, {"version": 0}, {"step": -1}, {"step": "4"}, {"step": 1 << 64}, {"epoch": 1.5}):
        with pytest.raises(MyceliaError):
            rows.create_dict_iterator(num_epochs=1, output_numpy=True).load_state_dict(state | odd)
    counted = rows.create_dict_iterator(num_epochs=1, output_numpy=True)
    counted.load_state_dict(state | {"step": np.int64(state["step"]), "epoch": np.int32(state["epoch"])})
    assert [int(r["x"]) for r in counted] == [4, 5, 6, 7, 8]


@pytest.mark.parametrize("mode", [ds.Shuffle.FILES, ds.Shuffle.INFILE, ds.Shuffle.GLOBAL])
def test_readers_that_share_files_mix_them_as_one_would(mode, tmp_path):
    for f in range(4):
        (tmp_path / f"{f}.txt").write_text("".join(f"{f}{i}\n" for i in range(6)))
    whole = read(ds.TextFileDataset(str(tmp_path / "*.txt"), shuffle=mode), "text")
    shares = [ds.TextFileDataset(str(tmp_path / "*.txt"), shuffle=mode, num_shards=3, shard_id=i) for i in range(3)]
    parts = [read(share, "text") for share in shares]
    assert sorted(t for part in parts for t in part) == sorted(whole) == [f"{f}{i}" for f in range(4) for i in range(6)]
    assert all(len(part) == 8 for part in parts)
    joined = [parts[i % 3][i // 3] for i in range(24)]
    for order in (whole, joined):
        files = [order[k : k + 6] for k in range(0, 24, 6)]
        apart = all(len({name[0] for name in file}) == 1 for file in files)
        sorted_within = all(file == sorted(file) for file in files)
        assert (apart, sorted_within) == {"files": (True, True), "infile": (True, False), "global": (False, False)}[
            mode
        ]
    assert all(share.is_shuffled() and share.is_sharded() for share in shares)
    still = ds.TextFileDataset(str(tmp_path / "*.txt"), shuffle=False, num_shards=3, shard_id=1)
    assert not still.is_shuffled()
    assert still.is_sharded()
    assert read(still, "text") == [f"{i // 6}{i % 6}" for i in range(1, 24, 3)]


def test_types_that_were_announced_are_those_that_come():
    def rows():
        yield np.int32(1), "a"
        yield np.int32(2), "bcd"

    made = ds.GeneratorDataset(rows, ["x", "t"], column_types=["int32", "string"])
    assert [read(made, c) for c in ("x", "t")] == [[1, 2], ["a", "bcd"]]
    for types in (["int64", "string"], ["int32", "int32"]):
        with pytest.raises(MyceliaError, match="was to be"):
            read(ds.GeneratorDataset(rows, ["x", "t"], column_types=types), "x")
