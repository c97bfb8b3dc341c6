"""Details that nobody asks for often: how a source is sampled anew, where steps begin, what ends, what is refused."""

from __future__ import annotations

import base64
import io
import os
import re
import wave
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import remote
from mycelia.dataset.errors import DataError
from mycelia.dataset.run.previewing import Preview, in_few_words, picture_of, sound_of, sparkline, wav_of
from mycelia.errors import MyceliaError
from mycelia.mindrecord import FileWriter
from mycelia.mindrecord.limits import TooLarge
from mycelia.mindrecord.scratch import scratch
from tests.each import each


def numbers(count, **options):
    return ds.NumpySlicesDataset(np.arange(count), ["x"], **{"shuffle": False, **options})


def read(dataset, column="x"):
    return [row[column].tolist() for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]


def refused(make, words):
    with pytest.raises(MyceliaError, match=words):
        make()


# samplers


def test_the_arguments_of_samplers_are_checked():
    some = {
        "replacement of RandomSampler": [lambda v: ds.RandomSampler(v), (1, 0, "no", None)],
        "num_samples of RandomSampler": [lambda v: ds.RandomSampler(num_samples=v), (-1, 1.5, "2", True)],
        "shuffle of RandomSampler": [lambda v: ds.RandomSampler(shuffle=v), ("all", None, True)],
        "start_index of SequentialSampler": [lambda v: ds.SequentialSampler(v), (-1, 0.5, "1", True)],
        "num_shards of DistributedSampler": [lambda v: ds.DistributedSampler(v, 0), (0, -1, 1.0, None)],
        "shard_id of DistributedSampler": [lambda v: ds.DistributedSampler(3, v), (-1, 3, 0.0, None)],
        "offset of DistributedSampler": [lambda v: ds.DistributedSampler(3, 0, offset=v), (-2, 4, 0.0)],
        "shuffle of DistributedSampler": [lambda v: ds.DistributedSampler(3, 0, v), (0, 1, "no", None)],
        "equal_rows of DistributedSampler": [lambda v: ds.DistributedSampler(3, 0, equal_rows=v), (0, 1, "no", None)],
        "num_val of PKSampler": [lambda v: ds.PKSampler(v), (0, -1, 1.5, "2", True)],
        "num_class of PKSampler": [lambda v: ds.PKSampler(1, v), (0, -1, 1.5, "2", True)],
        "shuffle of PKSampler": [lambda v: ds.PKSampler(1, shuffle=v), (0, 1, "no", None)],
        "class_column of PKSampler": [lambda v: ds.PKSampler(1, class_column=v), (0, None, ["label"])],
        "replacement of WeightedRandomSampler": [lambda v: ds.WeightedRandomSampler([1], 1, v), (0, 1, "no", None)],
        "weights must": [lambda v: ds.WeightedRandomSampler(v), ([], [0, 0], [1, -1e-9], [np.nan, 1], [np.inf, 1])],
    }
    each(refused, ((f"{w} {v!r}", (lambda m=m, v=v: m(v), w)) for w, (m, vs) in some.items() for v in vs))
    within = [
        (ds.SequentialSampler(5), []),
        (ds.SequentialSampler(4), [4]),
        (ds.SequentialSampler(0, 0), [0, 1, 2, 3, 4]),
        (ds.DistributedSampler(5, 4, False), [4]),
        (ds.DistributedSampler(2, 1, False, offset=-1), [1, 3]),
        (ds.DistributedSampler(2, 1, False, offset=2), [1, 3]),
        (ds.DistributedSampler(2, 1, False, offset=1), [0, 2, 4]),
        (ds.DistributedSampler(2, 0, False, 2), [0, 2]),
        (ds.WeightedRandomSampler([0, 0, 0, 0, 5]), [4] * 5),
        (ds.WeightedRandomSampler([1, 0, 0], 1, False), [0]),
        (ds.SubsetSampler(3), [3]),
        (ds.SubsetSampler([4, 0], 1), [4]),
    ]
    assert [read(numbers(5, sampler=sampler, shuffle=None)) for sampler, _ in within] == [rows for _, rows in within]
    refused(lambda: read(numbers(5, sampler=ds.SequentialSampler(6), shuffle=None)), "start_index is 6")
    refused(lambda: read(numbers(2, sampler=ds.WeightedRandomSampler([1, 1, 1]), shuffle=None)), "3 weights and 2")
    refused(lambda: read(numbers(3, sampler=ds.WeightedRandomSampler([1, 0], 2, False), shuffle=None)), "1 have weight")


def test_classes_are_chosen_up_to_their_number():
    labels = np.array([7, 7, 7, 3, 3, 9])
    source = ds.NumpySlicesDataset({"x": np.arange(6), "c": labels}, sampler=ds.PKSampler(2, 2, class_column="c"))
    chosen = read(source)
    assert labels[chosen].tolist() == [3, 3, 7, 7]
    assert len({*chosen}) == 4
    mixed = ds.NumpySlicesDataset({"x": np.arange(6), "c": labels}, sampler=ds.PKSampler(1, 3, True, "c"))
    rows = mixed.create_dict_iterator(num_epochs=30, output_numpy=True)
    orders = [labels[[int(r["x"]) for r in rows]].tolist() for _ in range(30)]
    assert all(sorted(order) == [3, 7, 9] for order in orders)
    assert len({*map(tuple, orders)}) == 6
    assert mixed.is_shuffled()
    assert not source.is_shuffled()


def test_a_sampler_that_is_added_chooses_among_what_was_chosen():
    first = numbers(9, sampler=ds.SubsetSampler([8, 6, 4, 2]), shuffle=None)
    assert read(first.add_sampler(ds.SubsetSampler([3, 0]))) == [2, 8]
    assert read(numbers(9).add_sampler(ds.SequentialSampler(6)).add_sampler(ds.SubsetSampler([2, 1]))) == [8, 7]
    assert read(first.use_sampler(ds.SubsetSampler([3, 0]))) == [3, 0]
    both = numbers(3) + numbers(3).map(lambda x: x + 10)
    assert read(both.use_sampler(ds.SubsetSampler([4, 0]))) == [11, 0]
    assert read(both.use_sampler(ds.DistributedSampler(2, 1, False))) == [1, 10, 12]
    assert read(both.use_sampler([5, 5])) == [12, 12]
    refused(lambda: numbers(3).batch(2).use_sampler([0]), "before any operation")


def whose(index):
    return np.array([index, os.getpid()])


class Rows:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return (whose(index),)


def test_a_source_that_is_sampled_anew_keeps_what_was_asked_for_it():
    source = ds.GeneratorDataset(
        Rows(), ["x"], shuffle=False, python_multiprocessing=True, num_parallel_workers=2, max_rowsize=3
    )
    again = source.use_sampler(ds.SubsetSampler([3, 1]))
    for name in ("workers", "processes", "max_rowsize", "exclusive", "arguments", "name"):
        assert getattr(again.plan, name) == getattr(source.plan, name)
    made = read(again)
    assert [row[0] for row in made] == [3, 1]
    assert os.getpid() not in {row[1] for row in made}


# epochs, sizes and shapes


@pytest.mark.usefixtures("nothing_left")
def test_a_loop_over_a_dataset_is_one_epoch():
    rows = iter(numbers(3).map(lambda x: x))
    assert [int(r[0]) for r in rows] == [0, 1, 2]
    with pytest.raises((StopIteration, MyceliaError)):
        next(rows)
    assert [int(r[0]) for r in numbers(2)] == [0, 1]


def test_what_never_ends_is_counted_and_measured_once():
    ragged = ds.GeneratorDataset([np.zeros(1 + i % 3) for i in range(5)], ["x"], shuffle=False)
    odd = numbers(5).filter(lambda x: x % 2 == 1)
    once = len(read(ds.mix([odd, numbers(3)], [1, 1], stop="all")))
    endless = {
        "filter": (odd.repeat(), 2, [[]]),
        "ragged": (ragged.repeat(), 5, [[None]]),
        "plain": (numbers(5).repeat(), 5, [[]]),
        "mix": (ds.mix([odd, numbers(3)], [1, 1], stop="never"), once, [[]]),
        "batch": (numbers(5).repeat().batch(5), 1, [[5]]),
        "zip": (ds.zip((ragged.repeat(), numbers(2).rename("x", "y"))), 2, [[None], []]),
        "flat": (ragged.filter(lambda x: True).repeat(), 5, [[None]]),
    }

    def check(dataset, size, shapes):
        assert dataset.get_dataset_size() == len(dataset) == size
        assert dataset
        assert dataset.output_shapes(estimate=True) == shapes

    each(check, endless.items())
    assert ragged.output_shapes() == [[1]]
    uneven = ds.GeneratorDataset([np.zeros(2), np.zeros((2, 2))], ["x"], shuffle=False)
    refused(lambda: uneven.output_shapes(estimate=True), "have 1 and 2 axes")
    assert not numbers(5).filter(lambda x: False).get_dataset_size()
    assert ds.GeneratorDataset([np.zeros((2, 3)), np.zeros((2, 4))], ["x"], shuffle=False).output_shapes(True) == [
        [2, None]
    ]


class Told(ds.DSCallback):
    """Writes down every call."""

    def __init__(self, step_size=1):
        super().__init__(step_size)
        self.calls = []


for _name in ("ds_begin", "ds_epoch_begin", "ds_epoch_end", "ds_step_begin", "ds_step_end"):

    def _note(self, context, name=_name):
        told = (context.cur_epoch_num, context.cur_step_num_in_epoch, context.cur_step_num)
        self.calls.append((name[3:], *told))

    setattr(Told, _name, _note)


@pytest.mark.parametrize("step_size", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_callbacks_are_told_of_every_beginning_and_end(step_size, count):
    told = Told(step_size)
    rows = numbers(count).map(lambda x: x, callbacks=told).create_dict_iterator(num_epochs=2, output_numpy=True)
    assert [[int(r["x"]) for r in rows] for _ in range(2)] == [list(range(count))] * 2
    want = [("begin", 1, 1, 1)]
    for epoch in (1, 2):
        first = (epoch - 1) * count
        want.append(("epoch_begin", epoch, 1, first + 1))
        for i in range(0, count, step_size):
            want += [(what, epoch, i + 1, first + i + 1) for what in ("step_begin", "step_end")]
        want.append(("epoch_end", epoch, count + 1, first + count + 1))
    assert told.calls == want


def test_a_waiting_callback_lets_everything_pass_when_training_has_ended():
    waited = ds.WaitedDSCallback()
    assert [waited.ready(epoch, 1) for epoch in (1, 2, 3)] == [True, False, False]
    waited.epoch_end("first")
    assert [waited.ready(epoch, 1) for epoch in (1, 2, 3)] == [True, True, False]
    assert (waited.epochs, waited.steps, waited.training) == (1, 0, "first")
    waited.step_end("step")
    assert (waited.epochs, waited.steps, waited.training) == (1, 1, "step")
    waited.epoch_end("second")
    assert (waited.epochs, waited.steps) == (2, 0)
    waited.end("end")
    assert [waited.ready(epoch, 9) for epoch in (1, 9)] == [True, True]
    assert waited.training == "end"
    waited.seconds = 0.0
    slow = ds.WaitedDSCallback(2)
    slow.seconds = 0.0
    refused(lambda: slow._wait(2, 1), "has waited 0.0 s")


def test_epochs_wait_for_training_and_are_told_what_it_knows():
    seen = []

    class Waits(ds.WaitedDSCallback):
        def sync_epoch_begin(self, train_run_context, ds_run_context):
            seen.append((train_run_context, ds_run_context.cur_epoch_num))

    waits = Waits()
    rows = numbers(2).map(lambda x: x, callbacks=waits).create_tuple_iterator(num_epochs=3, output_numpy=True)
    for epoch in range(3):
        assert len(list(rows)) == 2
        waits.epoch_end(f"after {epoch}")
    assert seen == [("after 0", 2), ("after 1", 3)]


# steps in several places


def fails_at_five(x):
    if x == 5:
        raise ValueError("five")
    return x


def plus_ten(x):
    return x + 10


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("home", [False, True])
def test_a_row_that_fails_in_one_place_is_told_in_its_turn_in_the_next(home, batch):
    seen = []
    rows = numbers(8).map(fails_at_five, num_parallel_workers=2, python_multiprocessing=True)
    rows = rows.map(lambda x: seen.append(1) or x) if home else rows.map(plus_ten).map(lambda x: x - 10)
    rows = rows.map(plus_ten, num_parallel_workers=3, python_multiprocessing=True)
    iterator = rows.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert [int(next(iterator)["x"]) for _ in range(5)] == [10, 11, 12, 13, 14]
    with pytest.raises(MyceliaError, match="five"):
        next(iterator)
    assert [int(row["x"]) for row in iterator] == [16, 17]
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    whole = [v for part in read(rows.batch(batch)) for v in part]
    assert whole == [10, 11, 12, 13, 14, 16, 17]


# files


def test_a_file_is_asked_for_as_often_as_was_said_with_growing_waits(monkeypatch):
    asked = []

    def asks():
        asked.append(1)
        raise OSError("not now")

    for attempts in (1, 2, 5):
        waits = []
        monkeypatch.setattr(remote.time, "sleep", waits.append)
        before = remote.set_remote(attempts=attempts, wait=3.0)
        try:
            for draw in (min, max):
                monkeypatch.setattr(remote.random, "uniform", lambda a, b, draw=draw: draw(a, b))
                asked.clear()
                waits.clear()
                with pytest.raises(DataError, match="cannot fetch"):
                    remote._tried("memory://a", asks)
                assert len(asked) == attempts
                share = 0.5 if draw is min else 1
                assert waits == [3.0 * 2**i * share for i in range(attempts - 1)]
            with pytest.raises(FileNotFoundError):
                remote._tried("memory://a", lambda: Path("/no/such/file").read_bytes())
            assert remote._tried("memory://a", lambda: 7) == 7
        finally:
            remote.set_remote(before.folder, before.most, before.attempts, before.wait)
    refused(lambda: remote.set_remote(attempts=0), "at least 1")
    refused(lambda: remote.set_remote(most=-1), "number of bytes")


@pytest.mark.parametrize("kind", ["int64", "int32", "float32", "float64", "bool"])
def test_numbers_that_a_file_names_by_number_are_weighed_as_they_will_be(kind, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    count, place = 1 << 14, str(tmp_path / "a.parquet")
    parquet.write_table(arrow.table({"x": np.zeros(count, kind)}), place)
    size = count * np.dtype(kind).itemsize
    assert Path(place).stat().st_size < size // 8
    ds.config.set_largest_sample(size - 1)
    with pytest.raises(TooLarge, match="a group of rows"):
        read(ds.ParquetDataset(place, shuffle=False))
    ds.config.set_largest_sample(size)
    assert read(ds.ParquetDataset(place, shuffle=False)) == [0] * count


def test_fields_to_search_by_are_single_numbers_or_texts(tmp_path):
    schema = {
        "n": {"type": "int32"},
        "f": {"type": "float64"},
        "s": {"type": "string"},
        "b": {"type": "bytes"},
        "a": {"type": "int32", "shape": [2]},
        "r": {"type": "float32", "shape": [-1]},
        "one": {"type": "int64", "shape": [1]},
    }
    for name, legal in {"n": 1, "f": 1, "s": 1, "b": 0, "a": 0, "r": 0, "one": 0, "absent": 0}.items():
        writer = FileWriter(str(tmp_path / name))
        writer.add_schema(schema)
        if legal:
            assert writer.add_index([name]) == 0
            assert writer.index_fields == (name,)
        else:
            refused(lambda writer=writer, name=name: writer.add_index(["n", name]), rf"no columns .*\['{name}'\]")
            assert writer.index_fields == ()


def test_a_forked_process_copies_into_room_of_its_own():
    mine = scratch()
    mine.bytes[:3] = (1, 2, 3)
    out, into = os.pipe()
    child = os.fork()
    if child == 0:  # nothing of the test may run twice
        other = scratch()
        other.copied([b"\x09" * 8])
        os.write(into, bytes([other is not mine, other.owner == os.getpid(), other is scratch()]))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(out, 9) == b"\1\1\1"
    os.close(out)
    os.close(into)
    assert mine.bytes[:3].tolist() == [1, 2, 3]
    assert scratch() is mine


def test_pictures_are_shown_whatever_form_they_have():
    pillow = pytest.importorskip("PIL.Image")
    image = np.random.default_rng(0).integers(0, 256, (6, 7, 3)).astype(np.uint8)
    for kind in ("PNG", "BMP", "GIF", "JPEG", "WEBP"):
        out = io.BytesIO()
        pillow.fromarray(image).save(out, kind)
        found = picture_of(np.frombuffer(out.getvalue(), np.uint8))
        np.testing.assert_array_equal(found, np.asarray(pillow.open(out).convert("RGB")), kind)
    for raw in (
        b"RIFF" + wav_of(np.zeros((1, 300)), 8000)[4:],
        b"\x89PNG and no more",
        b"\xff\xd8\xff",
        b"BM",
        b"x" * 99,
        b"",
    ):
        assert picture_of(np.frombuffer(raw, np.uint8)) is None
    assert picture_of("text") is picture_of(np.array("text")) is picture_of(np.array([True] * 9)) is None
    wide = image[:4, :5]
    for given, want in (
        (wide, wide), (wide[..., :1], wide[..., :1]), (wide[..., 0], wide[..., :1]), (wide.transpose(2, 0, 1), wide),
        (wide[:, :, :1].transpose(2, 0, 1), wide[..., :1]), (wide[..., :2], None), (wide[:3, :, 0], None),
        (wide[:0], None), (wide[None], None), (np.zeros((4, 4, 4)), None),
    ):  # fmt: skip
        found = picture_of(np.ascontiguousarray(given))
        assert (found is None) == (want is None)
        np.testing.assert_array_equal(found, want)
    for shape, shown in {
        (3, 5, 3): (3, 5, 3),
        (1, 5, 1): (1, 5, 1),
        (3, 5, 1): (3, 5, 1),
        (1, 4, 2): (4, 2, 1),
        (3, 4, 4): (4, 4, 3),
        (2, 5, 4): None,
        (5, 4, 2): None,
        (4, 4, 4): None,
        (3, 1, 2): (1, 2, 3),
        (2, 5, 2): None,
    }.items():
        found = picture_of(np.arange(np.prod(shape), dtype=np.uint8).reshape(shape))
        assert (None if found is None else found.shape) == shown, shape
    for kind in (bool, complex, "U3", object):
        assert picture_of(np.zeros((4, 4, 3), kind)) is None
    out = io.BytesIO()
    pillow.fromarray(image).save(out, "PNG")
    assert picture_of(np.frombuffer(out.getvalue(), np.int8)) is None  # bytes have no sign
    tiny = np.linspace(0, 1e-6, 16).reshape(4, 4)
    assert picture_of(tiny).max() >= 254
    real = np.array([[-1.0, 0, 1, 3]] * 4)
    assert picture_of(real)[0, :, 0].tolist() == [0, 63, 127, 255]
    real[0, 1] = np.nan  # which is shown as zero
    assert picture_of(real.astype(np.float32))[0, :, 0].tolist() == [0, 63, 127, 255]
    assert picture_of(np.full((4, 4), 7))[..., 0].tolist() == [[0] * 4] * 4
    assert picture_of(np.arange(16, dtype=np.int16).reshape(4, 4))[-1, -1, 0] == 255


def test_sounds_and_values_are_shown_in_few_words():
    loud = np.linspace(-1, 1, 256)
    for given, channels in ((loud, 1), (np.tile(loud, (8, 1)), 8), (loud * 1.5, 1), (loud.astype(np.float16), 1)):
        assert sound_of(given).shape == (channels, 256)
    for odd in (
        loud[1:],
        np.tile(loud, (9, 1)),
        loud * 1.51,
        loud.astype(int),
        np.append(loud, np.nan),
        loud[None, None],
    ):
        assert sound_of(odd) is None
    with wave.open(io.BytesIO(wav_of(np.stack([loud, -loud * 2]), 8000))) as file:
        assert file.getparams()[:4] == (2, 2, 8000, 256)
        found = np.frombuffer(file.readframes(256), "<i2").reshape(-1, 2)
    np.testing.assert_allclose(found, np.clip(np.stack([loud, -loud * 2], 1), -1, 1) * 32767, atol=1)
    assert sparkline(np.array([[0.0] * 4 + [0.5] * 4 + [-1.0] * 4]), 3) == " ▄█"
    assert sparkline(np.zeros((1, 9)), 3) == "   "
    assert in_few_words({"a": 1, "b": np.arange(9)}) == "{a: 1, b: int64[9] 0 1 2 3 4 5 6 7 …}"
    assert in_few_words(np.arange(8)) == "int64[8] 0 1 2 3 4 5 6 7"
    assert in_few_words("x" * 58) == repr("x" * 58)
    assert in_few_words("x" * 59) == "'" + "x" * 58 + "…"
    rows = Preview(
        [{"image": np.zeros((4, 4, 3), np.uint8), "sound": loud, "rate": np.array(8000), "t": np.array("<t>")}]
    )
    page = rows.html()
    assert page == rows._repr_html_()
    assert "&lt;t&gt;" in page
    (picture,) = re.findall('src="data:image/png;base64,(.*?)"', page)
    assert picture_of(np.frombuffer(base64.b64decode(picture), np.uint8)).tolist() == np.zeros((4, 4, 3)).tolist()
    (sound,) = re.findall('src="data:audio/wav;base64,(.*?)"', page)
    with wave.open(io.BytesIO(base64.b64decode(sound))) as file:
        assert file.getparams()[:4] == (1, 2, 8000, 256)
    lines = str(rows).splitlines()
    assert lines[:2] == ["row 0", "  image  uint8[4, 4, 3]"]
    assert [line.count("▀") for line in lines[2:4]] == [4, 4]
    assert repr(rows) == str(rows)
    assert Preview([]).html() == "<table><thead><tr></tr></thead><tbody></tbody></table>"
