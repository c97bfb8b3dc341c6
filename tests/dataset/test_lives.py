"""However the life of a pipeline ends, nothing hangs and nothing is left: forks, interruptions, deaths, exits."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import ErrorSamplesMode
from mycelia.dataset.lazy import lazy
from mycelia.dataset.run.sinks import DeviceQueue, EpochEnd
from mycelia.mindrecord import FileWriter

pytestmark = pytest.mark.usefixtures("nothing_left")


def numbers(count: int = 20) -> ds.Dataset:
    return ds.NumpySlicesDataset(np.arange(count), ["x"], shuffle=False)


def column(dataset: ds.Dataset) -> list:
    return [r[0].tolist() for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def apart(dataset: ds.Dataset, function: object, workers: int = 2) -> ds.Dataset:
    return dataset.map(function, num_parallel_workers=workers, python_multiprocessing=True)


def script(text: str, *arguments: str, code: int = 0) -> str:
    """What a program of its own prints before it ends with `code`."""
    command = [sys.executable, "-c", textwrap.dedent(text), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert ran.returncode == code, ran.stderr
    return ran.stdout


# user functions that end more than themselves


def leaves(x: np.ndarray) -> np.ndarray:
    if x == 9:
        os._exit(3)
    return x


def test_a_function_that_ends_its_process_is_told_and_the_rest_is_served():
    iterator = apart(numbers(), leaves).batch(2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [next(iterator)[0].tolist() for _ in range(4)]
    with pytest.raises(ds.WorkerDied, match="ended with code 3") as caught:
        next(iterator)
    assert "index 8" in str(caught.value)
    assert "Map(leaves)" in str(caught.value)
    got += [row[0].tolist() for row in iterator]
    assert got == [[i, i + 1] for i in range(0, 20, 2) if i != 8]


def forks(x: np.ndarray) -> np.ndarray:
    if x == 5 and os.fork() == 0:
        return -x
    return x


def test_a_function_that_forks_and_returns_twice_is_heard_once():
    for dataset in (apart(numbers(), forks), numbers().map(forks, num_parallel_workers=2)):
        assert column(dataset) == list(range(20))


def leaves_an_orphan(x: np.ndarray) -> np.ndarray:
    if x == 3:
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "4"])  # holds what it inherited
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_worker_that_dies_beside_a_process_it_forked_is_noticed():
    with pytest.raises(ds.WorkerDied, match="SIGKILL"):
        column(apart(numbers(), leaves_an_orphan).batch(2))


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit, SystemExit, KeyboardInterrupt, MemoryError])
def test_whatever_a_function_raises_in_a_process_is_told_with_step_and_sample(error):
    def raises(x: np.ndarray) -> np.ndarray:
        if x == 7:
            raise error("seven")
        return x

    with pytest.raises(ds.DataError, match=error.__name__) as caught:
        column(apart(numbers(), raises).batch(4))
    assert "Map(raises)" in str(caught.value)
    assert "index 4" in str(caught.value) or "index 7" in str(caught.value)


def stops(*_: object) -> int:
    raise StopIteration("enough")


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.map(stops),
        lambda d: d.filter(stops),
        lambda d: d.batch(stops),
        lambda d: d.batch(2, per_batch_map=stops, input_columns=["x"]),
        lambda d: d.map(np.atleast_1d).bucket_batch_by_length(["x"], [2], [2, 2], element_length_function=stops),
        lambda d: ds.GeneratorDataset(stops, ["x"]),
    ],
)
def test_stop_iteration_in_a_function_does_not_end_an_epoch_quietly(make):
    with pytest.raises(ds.DataError, match="StopIteration"):
        column(make(numbers()))


def test_an_error_of_a_function_that_chooses_rows_names_the_steps():
    with pytest.raises(ds.DataError, match="ZeroDivisionError") as caught:
        column(numbers().batch(lambda info: 1 // info.get_batch_num()))
    assert "Batch <- NumpySlicesDataset" in str(caught.value)


class Uneven:
    """An iterator that fails at one row and goes on."""

    def __init__(self) -> None:
        self.at = -1

    def __iter__(self):
        return Uneven()

    def __next__(self) -> int:
        self.at += 1
        if self.at == 10:
            raise StopIteration
        if self.at == 4:
            raise ValueError("four")
        return self.at


@pytest.mark.parametrize("make", [lambda d: d, lambda d: d.shuffle(1), lambda d: d.filter(lambda x: True)])
def test_an_iterator_that_goes_on_after_an_error_is_read_on(make):
    rows = make(ds.GeneratorDataset(Uneven(), ["x"])).create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [int(next(rows)[0]) for _ in range(4)]
    with pytest.raises(ds.DataError, match="row 4 of GeneratorDataset"):
        next(rows)
    state = rows.state_dict()
    assert got + [int(r[0]) for r in rows] == [i for i in range(10) if i != 4]
    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    rows = make(ds.GeneratorDataset(Uneven(), ["x"])).batch(3).create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [int(v) for r in rows for v in r[0]] == [i for i in range(10) if i != 4]
    assert rows.bad_count == 1
    assert state["step"] == 4


def test_an_iterator_that_only_fails_is_given_up():
    class Hopeless(Uneven):
        def __next__(self) -> int:
            raise ValueError("never")

        def __iter__(self):
            return self

    ds.config.set_error_samples_mode(ErrorSamplesMode.SKIP)
    with pytest.raises(ds.DataError, match="never"):
        column(ds.GeneratorDataset(Hopeless(), ["x"]))


class Rows:
    """A source with one bad row."""

    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> int:
        if index == 21:
            raise OSError("cannot read")
        return index


def same(x: np.ndarray) -> np.ndarray:
    return x


def test_a_bad_row_of_a_source_that_the_reader_reads_for_its_workers_comes_in_its_turn():
    mapped = apart(ds.GeneratorDataset(Rows(), ["x"], shuffle=False), same)
    rows = mapped.create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [int(next(rows)[0]) for _ in range(21)]
    with pytest.raises(ds.DataError, match="cannot read") as caught:
        next(rows)
    assert "index 21 of Rows" in str(caught.value)
    assert got + [int(r[0]) for r in rows] == [i for i in range(40) if i != 21]


# files that change


def written(place: Path) -> Path:
    writer = FileWriter(str(place))
    writer.add_schema({"x": {"type": "int32"}, "data": {"type": "bytes"}})
    writer.write_raw_data([{"x": i, "data": bytes([i % 256]) * 3000} for i in range(300)])
    writer.commit()
    return place


@pytest.mark.parametrize("make", [lambda d: d.batch(8), lambda d: d, lambda d: d.map(same, ["x"]).batch(8)])
def test_a_record_file_that_shrinks_while_it_is_read_is_told(tmp_path, make):
    place = written(tmp_path / "a.mindrecord")
    ds.config.set_debug_mode(True)  # nobody reads at the moment when the bytes go
    rows = make(ds.MindDataset(str(place), shuffle=False)).create_tuple_iterator(num_epochs=1, output_numpy=True)
    kept = next(rows)
    os.truncate(place, 8192)
    with pytest.raises(ds.DataError, match="cut short while it was read") as caught:
        list(rows)
    assert str(place) in str(caught.value)
    assert int(np.sum(kept[1])) >= 0  # rows that were given are the reader's own
    rows.stop()


# interruptions


@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize("make", [lambda d: d.batch(3), lambda d: d, lambda d: d.filter(lambda x: True)])
def test_a_reader_that_is_interrupted_while_it_waits_loses_no_row(make, processes, tmp_path):
    """As a notebook's cell is: Ctrl-C while a row is being made, and the same iterator in the next cell."""
    begun, go_on = tmp_path / "begun", tmp_path / "go_on"

    def waits(x: np.ndarray) -> np.ndarray:
        if x == 0:  # the reader cannot have been given anything yet
            begun.touch()
            while not go_on.exists():
                threading.Event().wait(0.005)
        return x

    reader = threading.get_ident()

    def ring() -> None:
        while not begun.exists() or sys._current_frames()[reader].f_code.co_name not in ("wait", "select", "poll"):
            threading.Event().wait(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    mapped = make(numbers(30).map(waits, num_parallel_workers=2, python_multiprocessing=processes))
    rows = mapped.create_tuple_iterator(num_epochs=1, output_numpy=True)
    got: list[int] = []
    threading.Thread(target=ring).start()

    def read() -> None:
        for row in rows:
            got.extend(row[0].reshape(-1).tolist())

    with pytest.raises(KeyboardInterrupt):
        read()
    go_on.touch()
    read()
    assert got == list(range(30))


def test_threads_share_an_iterator():
    rows = numbers(400).map(same).create_tuple_iterator(num_epochs=1, output_numpy=True)
    got: list[int] = []

    def read() -> None:
        try:
            got.extend(int(row[0]) for row in rows)
        except ds.DataError as error:  # the other one has read the last row
            assert "epochs" in str(error)  # noqa: PT017

    readers = [threading.Thread(target=read) for _ in range(4)]
    for r in readers:
        r.start()
    for r in readers:
        r.join()
    assert sorted(got) == list(range(400))


def test_a_loop_of_asyncio_reads_without_stopping_others():
    async def main() -> list[int]:
        rows = numbers(50).map(same).batch(5).create_tuple_iterator(num_epochs=1, output_numpy=True)
        got: list[int] = []
        while (row := await asyncio.to_thread(next, rows, None)) is not None:
            got += row[0].tolist()
        return got

    assert asyncio.run(main()) == list(range(50))


def test_an_iterator_that_another_thread_collects_ends_its_workers():
    holder = {"rows": apart(numbers(1000), same).create_tuple_iterator(output_numpy=True)}
    next(holder["rows"])
    holder["itself"] = holder
    del holder
    collector = threading.Thread(target=gc.collect)
    collector.start()
    collector.join()


def test_a_queue_that_is_dropped_ends_its_pipeline():
    queue = numbers(1000).map(same, num_parallel_workers=2).batch(4).device_que()
    assert queue.get()[0].tolist() == [0, 1, 2, 3]
    del queue


def test_a_queue_ends_epochs_and_says_when_there_is_no_more():
    with numbers(4).batch(2).device_que() as queue:
        got = [queue.get() for _ in range(4)]
    assert isinstance(got[2], EpochEnd)
    with numbers(4).batch(2).device_que(create_data_info_queue=True) as described:
        assert described.get_data_info() == ([np.dtype("int64")], [(2,)])
        assert described.get()[0].tolist() == [0, 1]
    with pytest.raises(ds.DataError, match="no more rows"):
        _ = [queue.get() for _ in range(100)]
    with (
        numbers(4).filter(lambda x: False).device_que(send_epoch_end=False) as queue,
        pytest.raises(ds.DataError, match="no row"),
    ):
        queue.get()


def test_a_queue_that_is_stopped_ends_its_pipeline_even_if_nobody_sent():
    class Rows:
        stopped = 0

        def stop(self):
            self.stopped += 1

    rows = Rows()
    DeviceQueue(rows, 2, True, 0).stop_send()
    assert rows.stopped == 1


# other processes


def read_in(queue: multiprocessing.Queue, dataset: ds.Dataset) -> None:
    try:
        queue.put(column(dataset))
    except ds.DataError as error:
        queue.put(str(error))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("processes", [False, True])
def test_processes_that_others_start_can_use_a_dataset(method, processes):
    dataset = numbers().map(same, num_parallel_workers=2, python_multiprocessing=processes).batch(5)
    mine = numbers(1000).map(same, num_parallel_workers=2).create_tuple_iterator()
    next(mine)  # threads of this process, which a fork does not copy
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=read_in, args=(queue, dataset))
    child.start()
    got = queue.get()
    child.join(20)
    assert child.exitcode == 0
    assert got == [list(range(i, i + 5)) for i in range(0, 20, 5)]
    mine.stop()
    queue.close()
    queue.join_thread()
    if method == "forkserver":
        multiprocessing.forkserver._forkserver._stop()


def test_a_daemonic_process_is_told_that_it_may_use_threads():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=read_in, args=(queue, apart(numbers(), same)), daemon=True)
    child.start()
    assert "python_multiprocessing=False" in queue.get()
    child.join(20)
    assert child.exitcode == 0
    queue.close()
    queue.join_thread()


@pytest.mark.parametrize("who", ["workers", "the user"])
def test_a_child_can_use_opencv_after_its_parent_did_so_with_threads(who):
    """OpenCV 5 waits for threads that were not copied, in every second fork or so, when it is told to have none."""
    cv2 = pytest.importorskip("cv2")
    before = cv2.getNumThreads()
    image = np.random.default_rng(0).integers(0, 255, (512, 512, 3), np.uint8)
    cv2.setNumThreads(2)
    try:
        for _ in range(16):
            cv2.resize(image, (700, 700), interpolation=cv2.INTER_CUBIC)
            time.sleep(0.01)  # its threads fall asleep
            if who == "workers":
                rows = ds.NumpySlicesDataset([1, 2], shuffle=False)
                rows = rows.map(lambda x: x + cv2.getNumThreads(), python_multiprocessing=True, num_parallel_workers=1)
                assert [int(x) for (x,) in rows.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [2, 3]
            else:
                child = multiprocessing.get_context("fork").Process(target=cv2.setNumThreads, args=(1,))
                child.start()
                child.join(30)
                child.kill()
                assert child.exitcode == 0
            assert cv2.getNumThreads() == 2
    finally:
        cv2.setNumThreads(before)


def test_a_forked_child_leaves_the_workers_of_its_parent_alone():
    rows = apart(numbers(2000), same).create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [int(next(rows)[0])]
    child = os.fork()
    if child == 0:
        rows.stop()
        del rows
        gc.collect()
        os._exit(0 if column(numbers().map(same).batch(4))[0] == [0, 1, 2, 3] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert got + [int(r[0]) for r in rows] == list(range(2000))


EXIT = """
    import os, sys, threading, time, numpy as np, mycelia.dataset as ds
    def same(x):
        return x
    def stuck(x):
        if x == 40:
            time.sleep(1000)
        return x
    d = ds.NumpySlicesDataset(np.arange(100_000), ["x"], shuffle=False)
    kind, ending = sys.argv[1:]
    d = d.map(same if ending != "stuck" else stuck, num_parallel_workers=2, python_multiprocessing=kind == "processes")
    d = d.filter(lambda x: True) if kind == "filter" else d
    rows = d.create_tuple_iterator()
    for _ in range(3):
        next(rows)
    if ending == "forked" and os.fork():
        os.wait()
    print("end", flush=True)
    if ending == "raise":
        raise SystemExit(4)
    if ending == "thread":
        threading.Thread(target=lambda: [next(rows) for _ in range(50)]).start()
"""


def ends(kind: str, ending: str) -> None:
    told = script(EXIT, kind, ending, code=4 if ending == "raise" else 0)
    assert set(told.split()) == {"end"}


@pytest.mark.parametrize(("kind", "ending"), [("processes", "forked"), ("filter", "thread"), ("threads", "raise")])
def test_a_program_ends_while_its_pipeline_runs(kind, ending):
    ends(kind, ending)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["threads", "processes", "filter"])
@pytest.mark.parametrize("ending", ["plain", "raise", "thread", "forked", "stuck"])
def test_any_program_ends_while_its_pipeline_runs(kind, ending):
    ends(kind, ending)


class Slow:
    """Has an attribute that is being computed when the process forks."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    @lazy
    def value(self) -> int:
        self.begun.set()
        self.go.wait(20)
        return 7


def test_a_child_forked_while_an_attribute_is_computed_computes_it_for_itself():
    busy, other = Slow(), Slow()
    other.go.set()
    thread = threading.Thread(target=lambda: busy.value)
    thread.start()
    busy.begun.wait(20)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(other.value)
    status = os.waitpid(child, 0)[1]
    busy.go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 7


def test_an_iterator_is_stopped_while_its_thread_goes_on_to_the_next_datasets():
    for _ in range(30):
        parts = [ds.NumpySlicesDataset([i], ["x"]).filter(lambda x: True) for i in range(40)]
        rows = ds.interleave(parts, 1, 1).create_dict_iterator(num_epochs=1, output_numpy=True)
        next(rows)
        rows.stop()
