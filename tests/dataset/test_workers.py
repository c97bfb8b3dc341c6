"""Threads end whoever closes them, and how often."""

import os
import threading
from itertools import product
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset.config import PipelineOptions
from mycelia.dataset.flow.processes import ProcessWorkers
from mycelia.dataset.flow.request import Literal
from mycelia.dataset.flow.workers import Blueprint, ThreadWorkers
from mycelia.errors import MyceliaError
from tests.each import each


def test_threads_may_be_closed_while_they_are_being_closed():
    workers = ThreadWorkers(Blueprint([], [], 0, False), 3)
    assert workers.submit(Literal(((7,),))).wait().outcomes == [(7,)]
    first = workers.threads[0]

    class Ends(threading.Thread):
        def join(self, timeout=None):
            if workers.threads.pop(0, None):
                workers.close()  # as the end of the program does meanwhile
            first.join(timeout)

    workers.threads[0] = Ends()
    workers.close()
    assert workers.threads == {}
    assert not first.is_alive()


def test_a_step_has_no_more_workers_than_were_asked_for_it():
    inside, most = [], []

    def counted(x):
        inside.append(x)
        most.append(len(inside))
        sleep(0.002)
        inside.pop()
        return x

    source = ds.NumpySlicesDataset(list(range(60)), ["x"], shuffle=False, num_parallel_workers=4)
    for workers in (1, 2):
        most.clear()
        mapped = source.map(abs, num_parallel_workers=4).map(counted, num_parallel_workers=workers)
        rows = [int(r[0][0]) for r in mapped.batch(1).create_tuple_iterator(num_epochs=1, output_numpy=True)]
        assert rows == list(range(60))
        assert max(most) <= workers


class Held:
    """Row 7 waits until so many rows behind it are made, and then sees whether more are; the others leave a mark."""

    def __init__(self, folder: Path, rows: int, expected: int) -> None:
        self.folder, self.rows, self.expected = folder, rows, expected

    def made(self) -> int:
        return sum(int(f.name) >= self.rows for f in self.folder.iterdir())

    def __call__(self, x):
        (self.folder / str(int(x))).touch()
        if x == 7:
            # of the rows from `rows` on, which are not in the request that row 7 is in
            end = monotonic() + 60
            while monotonic() < end and self.made() < self.expected:
                sleep(0.01)
            sleep(0.3)
            if self.made() != self.expected:
                raise ValueError(f"{self.made()} rows were made meanwhile")
        return x


@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize("batch", [0, 8])
@pytest.mark.parametrize("behind_a_filter", [False, True])
def test_a_row_that_takes_long_stops_the_others_only_after_all_requests_in_flight(
    tmp_path, processes, batch, behind_a_filter
):
    """The bound is (workers + prefetch_size - 1) requests: of batches, or of 16 rows. No more are made, and no fewer,
    but for the one that already waits in the pipe of the very process.
    """
    ds.config.set_prefetch_size(4)
    request = batch or 16
    held = Held(tmp_path, request, (4 if processes else 5) * request)
    rows = ds.NumpySlicesDataset(np.arange(400), ["x"], shuffle=False)
    rows = rows.map(held, "x", num_parallel_workers=2, python_multiprocessing=processes)
    rows = rows.batch(batch, num_parallel_workers=2) if batch else rows
    if behind_a_filter:  # the rows that it looks at are made by a stage of their own
        rows = rows.filter(lambda x: True, "x")
    got = [x for r in rows.create_dict_iterator(num_epochs=1, output_numpy=True) for x in r["x"].reshape(-1).tolist()]
    assert got == list(range(400))


class Counting:
    """A function that tells how many rows it has seen; some take longer than others."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, x):
        sleep(0.0003 * (int(x) % 3))
        self.seen.append(int(x))
        return np.array(len(self.seen))

    def batch(self, column, info):
        return [self(x) for x in column]

    def even(self, x):
        return self(x) % 2 == 0

    def __getitem__(self, i):
        return self(i)

    def __len__(self):
        return 48


def stamped(x):
    sleep(0.0005)
    return x, np.array(os.getpid())


STEPS = {
    "map": lambda d, f: d.map(f, "x", num_parallel_workers=1),
    "batch": lambda d, f: d.batch(4, per_batch_map=f.batch, input_columns="x", num_parallel_workers=1),
    "filter": lambda d, f: d.filter(f.even, "x", num_parallel_workers=1),
}


def seen_in_order(step, around):
    counting = Counting()
    rows = ds.NumpySlicesDataset(np.arange(48), ["x"], shuffle=False)
    if around == "processes below":
        rows = rows.map(stamped, "x", ["x", "pid"], num_parallel_workers=2, python_multiprocessing=True)
    rows = STEPS[step](rows, counting)
    if around == "processes above":
        rows = rows.map(stamped, "x", ["x", "pid"], num_parallel_workers=2, python_multiprocessing=True)
    rows = rows.batch(2, num_parallel_workers=4)
    got = np.concatenate([r["x"].ravel() for r in rows.create_dict_iterator(num_epochs=1, output_numpy=True)])
    assert counting.seen == list(range(48))
    assert got.tolist() == (list(range(1, 49)) if step != "filter" else list(range(1, 48, 2)))


def test_one_worker_sees_the_rows_in_order_and_in_the_process_of_the_reader():
    ways = [*product(STEPS, ["threads"]), *product(["map", "filter"], ["processes below"]), ("map", "processes above")]
    each(seen_in_order, ((way, way) for way in ways))


def test_a_source_of_one_worker_is_asked_in_order():
    counting = Counting()
    rows = ds.GeneratorDataset(counting, ["x"], num_parallel_workers=1, shuffle=False).map(abs, num_parallel_workers=4)
    got = [int(r[0][0]) for r in rows.batch(1).create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert counting.seen == list(range(48))
    assert got == list(range(1, 49))


def test_every_step_has_the_processes_that_were_asked_for_it():
    rows = ds.NumpySlicesDataset(np.arange(64), ["x"], shuffle=False)
    rows = rows.map(stamped, "x", ["x", "a"], num_parallel_workers=2, python_multiprocessing=True)
    rows = rows.map(stamped, "x", ["x", "b"], num_parallel_workers=3, python_multiprocessing=True)
    rows = rows.batch(2, num_parallel_workers=6)
    parts = list(rows.create_dict_iterator(num_epochs=1, output_numpy=True))
    x, a, b = (np.concatenate([p[name] for p in parts]) for name in ("x", "a", "b"))
    assert x.tolist() == list(range(64))
    assert len(set(a)) <= 2
    assert len(set(b)) <= 3
    assert not {*a, os.getpid()} & {*b}


def test_processes_that_wait_for_work_end_when_they_are_told(monkeypatch):
    forced, join = [], BaseProcess.join
    monkeypatch.setattr(BaseProcess, "join", lambda self, timeout=None: join(self, 5))  # on a busy machine, too
    monkeypatch.setattr(BaseProcess, "terminate", lambda self: forced.append(self.name) or self.kill())
    numbers = ds.NumpySlicesDataset(list(range(9)), ["x"])
    iterator = numbers.map(abs, python_multiprocessing=True, num_parallel_workers=2).create_tuple_iterator()
    next(iterator)
    iterator.stop()
    assert forced == []


def test_a_pool_of_processes_has_as_many_as_it_was_last_told_to_have():
    workers = ProcessWorkers(Blueprint([], [], 0, False), 2, PipelineOptions())
    try:
        for count in (1, 3, 2, 1, 2):
            before = [worker.process.pid for worker in workers.workers]
            workers.resize(count)
            for i in range(3):  # each is dealt after the pool was looked at, which lets one process go at a time
                assert workers.submit(Literal(((i,),))).wait().outcomes == [(i,)]
            now = [worker.process.pid for worker in workers.workers]
            alive = {process.pid for process in active_children()}
            assert len(now) == count
            assert alive.issuperset(now)
            assert alive.isdisjoint(before[count:])
            assert now[: len(before)] == before[:count]
    finally:
        workers.close()


def test_a_pool_that_shrinks_ends_its_last_threads_and_grows_again():
    workers = ThreadWorkers(Blueprint([], [], 0, False), 4)
    for count in (2, 3, 1, 4):
        before = dict(workers.threads)
        workers.resize(count)
        for number, thread in before.items():
            if number >= count:
                thread.join(60)
                assert not thread.is_alive()
        alive = [number for number, thread in workers.threads.items() if thread.is_alive()]
        assert sorted(alive) == list(range(count)) == [*range(workers.count)]
        tickets = [workers.submit(Literal(((i,),))) for i in range(9)]
        assert [ticket.wait().outcomes for ticket in tickets] == [[(i,)] for i in range(9)]
        assert all(ticket.done() for ticket in tickets)
    workers.close()
    assert workers.threads == {}
    with pytest.raises(MyceliaError, match="was closed"):
        workers.submit(Literal(((7,),)))
