"""Threads end whoever closes them, and how often."""

import threading
from time import sleep

import mycelia.dataset as ds
from mycelia.dataset.flow.request import Literal
from mycelia.dataset.flow.workers import Blueprint, ThreadWorkers


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
