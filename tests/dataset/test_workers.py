"""Threads end whoever closes them, and how often."""

import threading

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
