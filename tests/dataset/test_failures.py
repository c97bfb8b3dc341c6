"""What goes wrong is told with file, index and stage; nothing hangs; the rest is served when that was asked for."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import ErrorSamplesMode
from mycelia.errors import ArgumentError
from mycelia.mindrecord import FileWriter, RecordError, RecordFile

pytestmark = pytest.mark.usefixtures("nothing_left")


def odd(x: np.ndarray) -> np.ndarray:
    if x == 13:
        raise ValueError("thirteen is odd")
    return x


def numbers(count: int = 20) -> ds.Dataset:
    return ds.NumpySlicesDataset(np.arange(count), ["x"], shuffle=False)


def put(place: Path, raw: bytes) -> None:
    """Replace a file as a whole: one that is mapped must not shrink under its reader."""
    place.with_suffix(".new").write_bytes(raw)
    place.with_suffix(".new").replace(place)


def flat(lists: list) -> list:
    return [v for inner in lists for v in inner]


def column(dataset: ds.Dataset) -> list:
    return [r[0].tolist() for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize("processes", [False, True])
def test_an_exception_in_a_users_function_names_the_step_and_the_sample(processes):
    mapped = numbers().map(odd, num_parallel_workers=2, python_multiprocessing=processes).batch(4)
    with pytest.raises(ds.DataError) as caught:
        column(mapped)
    told = str(caught.value)
    assert "ValueError: thirteen is odd" in told
    assert "Map(odd)" in told
    assert "index 13" in told
    assert "test_failures.py" in told


@pytest.mark.parametrize("processes", [False, True])
def test_skipping_leaves_out_the_bad_sample_and_serves_the_rest(processes):
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    mapped = numbers().map(odd, num_parallel_workers=2, python_multiprocessing=processes).batch(4)
    iterator = mapped.create_tuple_iterator(num_epochs=1, output_numpy=True)
    served = [int(v) for row in iterator for v in row[0]]
    assert served == [i for i in range(20) if i != 13]
    assert iterator.bad_count == 1
    assert "index 13" in iterator.bad_samples[0].origin


def test_replacing_puts_a_neighbour_in_its_place():
    ds.config.set_error_samples_mode(ErrorSamplesMode.REPLACE)
    expected = [12 if i == 13 else i for i in range(20)]
    assert flat(column(numbers().map(odd).batch(4))) == expected
    assert column(numbers().map(odd)) == expected
    assert column(numbers().skip(13).map(odd)) == [14, *range(14, 20)]  # there is none before it


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("batch", [0, 1, 4])
def test_replacing_goes_on_as_before_after_a_resume_at_any_step(shuffle, batch):
    ds.config.set_error_samples_mode(ErrorSamplesMode.REPLACE)
    ds.config.set_seed(4)

    def rows():
        data = ds.NumpySlicesDataset(np.arange(20), ["x"], shuffle=shuffle).map(odd)
        data = data.batch(batch) if batch else data
        return data.create_tuple_iterator(num_epochs=2, output_numpy=True)

    def listed(iterator):
        return [x.tolist() for _ in range(2) for (x,) in iterator]

    whole = listed(rows())
    for step in range(len(whole)):
        first = rows()
        for _ in range(step):
            if next(first, None) is None:
                next(first)
        again = rows()
        again.load_state_dict(first.state_dict())
        first.stop()
        rest: list = []
        while len(rest) < len(whole) - step:
            rest += [x.tolist() for (x,) in again]
        assert rest == whole[step:], step


def test_after_an_error_the_other_rows_can_still_be_read():
    iterator = numbers().map(odd).batch(4).create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [next(iterator)[0].tolist() for _ in range(3)]
    with pytest.raises(ds.DataError):
        next(iterator)
    got.append(next(iterator)[0].tolist())
    assert got[-1] == [16, 17, 18, 19]
    iterator.stop()


def deadly(x: np.ndarray) -> np.ndarray:
    if x == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_killed_worker_is_noticed_and_told():
    mapped = numbers().map(deadly, num_parallel_workers=2, python_multiprocessing=True).batch(2)
    iterator = mapped.create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [next(iterator)[0].tolist() for _ in range(4)]
    with pytest.raises(ds.WorkerDied, match="SIGKILL") as caught:
        next(iterator)
    assert "index 8" in str(caught.value)
    assert "Map(deadly)" in str(caught.value)
    got += [row[0].tolist() for row in iterator]
    assert got == [[i, i + 1] for i in range(0, 20, 2) if i != 8]


def test_a_killed_worker_costs_only_its_sample_where_skipping_was_asked():
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    mapped = numbers(100).map(deadly, num_parallel_workers=2, python_multiprocessing=True)
    served = column(mapped)
    assert set(range(16, 100)) <= set(served)
    assert 9 not in served


def fatal_once(place: str):
    def act(x: np.ndarray) -> np.ndarray:
        if x == 5 and not Path(place).exists():
            Path(place).write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    return act


def test_work_of_a_worker_that_died_once_is_done_by_another(tmp_path):
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    act = fatal_once(str(tmp_path / "died"))
    mapped = numbers(40).map(act, num_parallel_workers=2, python_multiprocessing=True)
    assert column(mapped) == list(range(40))


def test_a_function_that_cannot_be_sent_is_named():
    ds.config.set_multiprocessing_start_method("spawn")
    mapped = numbers().map(lambda x: x, num_parallel_workers=2, python_multiprocessing=True)
    with pytest.raises(ds.DataError, match=r"Map\(<lambda>\) cannot be sent"):
        column(mapped)


def test_a_result_that_cannot_be_sent_is_told():
    def opened(x: np.ndarray) -> dict:
        return {"file": np.array([open(os.devnull)], object)}

    mapped = numbers(2).map(opened, num_parallel_workers=1, python_multiprocessing=True)
    with pytest.raises(ds.DataError, match="pickle"):
        column(mapped)


def test_wrong_column_names_and_lengths_are_told_before_anything_runs():
    with pytest.raises(ArgumentError, match=r"no column \['y'\]"):
        numbers().map(odd, ["y"])
    with pytest.raises(ArgumentError, match="no column"):
        numbers().project("y")
    with pytest.raises(ds.DataError, match="2 values for 1 columns"):
        column(ds.GeneratorDataset([(1, 2)], ["x"]))
    with pytest.raises(ds.DataError, match="2 values for 1 columns"):
        column(numbers().map(lambda x: (x, x)))


def test_rows_of_different_shapes_do_not_make_a_batch():
    ragged = ds.GeneratorDataset([[1], [1, 2]], ["x"], shuffle=False).batch(2)
    with pytest.raises(ds.DataError, match=r"column 'x'.*int64\[1\].*int64\[2\]"):
        column(ragged)


def test_an_error_in_a_plain_generator_is_told_with_its_row():
    def broken():
        yield 1
        raise KeyError("lost")

    iterator = ds.GeneratorDataset(broken, ["x"]).create_tuple_iterator(num_epochs=1)
    next(iterator)
    with pytest.raises(ds.DataError, match="KeyError"):
        next(iterator)


# damaged files


@pytest.fixture
def records(tmp_path) -> Path:
    place = tmp_path / "a.mindrecord"
    writer = FileWriter(str(place))
    writer.add_schema({"x": {"type": "int32"}, "data": {"type": "bytes"}})
    writer.write_raw_data([{"x": i, "data": bytes([i]) * 100} for i in range(50)])
    writer.commit()
    return place


def test_a_record_file_cut_anywhere_is_refused(records):
    raw = records.read_bytes()
    for size in [0, 10, 4096, len(raw) // 2, len(raw) - 1]:
        put(records, raw[:size])
        with pytest.raises(RecordError) as caught:
            RecordFile(records)
        assert str(records) in str(caught.value)


def test_any_flipped_bit_is_noticed(records):
    raw = records.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(4096, len(raw), 60).tolist():
        damaged = bytearray(raw)
        damaged[place] ^= 1 << int(rng.integers(8))
        put(records, damaged)
        with pytest.raises((RecordError, ds.DataError)) as caught:
            column(ds.MindDataset(str(records), shuffle=False).batch(8))
        assert str(records) in str(caught.value)


def test_a_damaged_record_is_left_out_where_skipping_was_asked(records):
    raw = bytearray(records.read_bytes())
    raw[int(RecordFile(records).offsets[7]) + 5] ^= 4
    put(records, raw)
    with pytest.raises(ds.DataError, match="record: 7"):
        column(ds.MindDataset(str(records), ["x"], shuffle=False).batch(8))
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    served = flat(column(ds.MindDataset(str(records), ["x"], shuffle=False).batch(8)))
    assert served == [i for i in range(50) if i != 7]


@pytest.mark.parametrize("kind", ["mindrecord", "tfrecord"])
def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path, kind):
    place = str(tmp_path / f"b.{kind}")
    script = textwrap.dedent(
        """
        import resource, signal, sys
        import numpy as np
        import mycelia.dataset as ds
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            ds.NumpySlicesDataset(np.zeros((100, 1000)), ["x"]).save(sys.argv[1], file_type=sys.argv[2])
        except RuntimeError as error:
            print(error)
        """
    )
    command = [sys.executable, "-c", script, place, kind]
    told = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    assert re.search("cannot write a (record|TFRecord) file", told.stdout)
    assert place in told.stdout
    assert not list(tmp_path.iterdir())
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 20_000


@pytest.mark.parametrize("kind", ["mindrecord", "tfrecord"])
def test_a_bad_sample_leaves_no_half_of_a_file(tmp_path, kind):
    with pytest.raises(ds.DataError, match="thirteen"):
        numbers().map(odd).save(str(tmp_path / "b"), file_type=kind)
    assert not list(tmp_path.iterdir())


def test_a_plan_that_cannot_be_written_is_told():
    with pytest.raises(ds.DataError, match="No space left"):
        numbers().to_json("/dev/full")


@pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5])
def test_a_corrupt_jpeg_is_told_with_its_file_and_left_out_on_request(tmp_path, part):
    from PIL import Image

    for i in range(6):
        (tmp_path / "a").mkdir(exist_ok=True)
        Image.fromarray(np.full((24, 24, 3), i, np.uint8)).save(tmp_path / "a" / f"{i}.jpg")
    bad = tmp_path / "a" / "4.jpg"
    put(bad, bad.read_bytes()[: int(part * bad.stat().st_size)])
    images = ds.ImageFolderDataset(str(tmp_path), shuffle=False).map(ds.vision.Decode(), "image").batch(2)
    with pytest.raises(ds.DataError) as caught:
        column(images)
    for word in (str(bad), "index 4", "Map(Decode)"):
        assert word in str(caught.value)
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    assert [len(batch) for batch in column(images)] == [2, 2, 1]


def test_ctrl_c_ends_the_reader_and_all_workers():
    script = textwrap.dedent(
        """
        import time, numpy as np, mycelia.dataset as ds
        def slow(x):
            time.sleep(0.05)
            return x
        for processes in (False, True):
            d = ds.NumpySlicesDataset(np.arange(10_000), ["x"]).map(slow, num_parallel_workers=2,
                                                                    python_multiprocessing=processes)
            try:
                for i, _ in enumerate(d.create_tuple_iterator(num_epochs=1)):
                    if i == 0:
                        print("running", flush=True)
            except KeyboardInterrupt:
                print("stopped", flush=True)
        """
    )
    reader = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert reader.stdout is not None
    for _ in range(2):
        assert reader.stdout.readline() == "running\n"  # within its `try`, and far from the end of its rows
        os.killpg(reader.pid, signal.SIGINT)
        assert reader.stdout.readline() == "stopped\n"
    assert reader.wait(20) == 0
    reader.stdout.close()
    with pytest.raises(ProcessLookupError):
        os.killpg(reader.pid, 0)


def test_workers_do_not_outlive_a_killed_reader():
    script = textwrap.dedent(
        """
        import time, numpy as np, mycelia.dataset as ds
        d = ds.NumpySlicesDataset(np.arange(10_000), ["x"]).map(np.sqrt, num_parallel_workers=2,
                                                                python_multiprocessing=True)
        it = d.create_tuple_iterator()
        next(it)
        print("running", flush=True)
        time.sleep(60)
        """
    )
    reader = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "running\n"
    reader.kill()
    reader.wait(20)
    reader.stdout.close()
    for _ in range(100):
        try:
            os.killpg(reader.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("a worker outlived its reader")


@pytest.mark.parametrize("processes", [False, True])
def test_rows_around_a_bad_one_are_served_even_when_they_were_asked_for_together(processes):
    mapped = numbers(400).map(odd, num_parallel_workers=2, python_multiprocessing=processes)
    iterator = mapped.create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [int(next(iterator)[0]) for _ in range(13)]
    with pytest.raises(ds.DataError, match="thirteen"):
        next(iterator)
    got += [int(row[0]) for row in iterator]
    assert got == [i for i in range(400) if i != 13]


def shouting(x: np.ndarray) -> str:
    return x.upper()  # type: ignore[attr-defined]


def test_an_error_shows_the_lines_of_the_user_and_none_of_ours():
    texts = ds.NumpySlicesDataset(["a"], ["x"])
    with pytest.raises(ds.DataError) as caught:
        list(texts.map(shouting))
    told = str(caught.value)
    assert "in shouting" in told
    assert "return x.upper()" in told
    assert "request.py" not in told
    assert "str(x) is the text itself" in told


def test_columns_of_one_name_are_told_at_the_line_that_asks_for_them():
    with pytest.raises(ValueError, match=r"two columns have the name(.|\n)*test_failures.py"):
        ds.NumpySlicesDataset([1], ["x"]).zip(ds.NumpySlicesDataset([4], ["x"]))


def test_a_dataset_shows_its_steps():
    numbers = ds.NumpySlicesDataset([1], ["x"])
    other = ds.NumpySlicesDataset([1], ["y"])
    assert (
        repr(numbers.zip(other.map(abs)).batch(2))
        == "<Batch of Zip of (NumpySlicesDataset, Map(abs) of NumpySlicesDataset)>"
    )
