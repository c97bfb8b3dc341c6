"""A thread with a deep stack, for programs that call themselves: the stack of an ordinary thread ends too soon."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

STACK = 1 << 30  # bytes; pages that are never reached are never there
DEEPEST = 1 << 18  # calls inside calls; each takes up to a few kilobytes of the stack

Job = tuple[Callable[[int], int], int, "SimpleQueue[int | BaseException]"]


class _Thread:
    """The thread, started at its first job and kept: a new stack for each call would have to be touched anew."""

    jobs: SimpleQueue[Job] | None = None
    lock = threading.Lock()

    @classmethod
    def queue(cls) -> SimpleQueue[Job]:
        with cls.lock:
            if cls.jobs is None:
                cls.jobs = SimpleQueue()
                before = threading.stack_size(STACK)
                try:
                    threading.Thread(target=_work, args=(cls.jobs,), daemon=True, name="mycelia-deep").start()
                finally:
                    threading.stack_size(before)
            return cls.jobs

    @classmethod
    def forget(cls) -> None:
        """A forked process has no threads but one: start again when needed."""
        cls.jobs, cls.lock = None, threading.Lock()


os.register_at_fork(after_in_child=_Thread.forget)


def _work(jobs: SimpleQueue[Job]) -> None:
    while True:
        run, address, answer = jobs.get()
        try:
            answer.put(run(address))
        except BaseException as error:  # the caller raises it
            answer.put(error)


def on_deep_stack(run: Callable[[int], int]) -> Callable[[int], int]:
    """`run` in the thread with the deep stack.

    >>> on_deep_stack(lambda n: n + 1)(41)
    42
    """

    def deep(address: int) -> int:
        answer: SimpleQueue[int | BaseException] = SimpleQueue()
        _Thread.queue().put((run, address, answer))
        got = answer.get()
        if isinstance(got, BaseException):
            raise got
        return got

    return deep
