"""A thread with a deep stack, for programs that call themselves: the stack of an ordinary thread ends too soon."""

from __future__ import annotations

import os
from collections.abc import Callable

from mycelia.threads.worker_thread import WorkerThread

STACK = 1 << 30  # bytes; pages that are never reached are never there
DEEPEST = 1 << 18  # calls inside calls; each takes up to a few kilobytes of the stack


class _Deep:
    """The thread of this process: a new stack for each call would have to be touched anew."""

    thread = WorkerThread("deep", STACK)

    @classmethod
    def forget(cls) -> None:
        """A forked process has no threads but one: start again when needed."""
        cls.thread = WorkerThread("deep", STACK)


os.register_at_fork(after_in_child=_Deep.forget)


def on_deep_stack(run: Callable[[int], int]) -> Callable[[int], int]:
    """`run` in the thread with the deep stack.

    >>> on_deep_stack(lambda n: n + 1)(41)
    42
    """
    return lambda address: _Deep.thread.do(run, address)
