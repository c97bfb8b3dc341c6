"""The threads of the process: one OpenMP runtime, shared by generated code and by oneDNN."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from mycelia.errors import DependencyError
from mycelia.threads.worker_thread import WorkerThread

SPIN = 2_000  # turns that an idle thread waits awake: longer than a gap between kernels, short on a busy machine


@cache
def load_openmp() -> ctypes.CDLL:
    """GNU OpenMP, loaded for everyone in this process.

    >>> load_openmp().omp_get_max_threads() > 0
    True
    """
    os.environ.setdefault("GOMP_SPINCOUNT", str(SPIN))  # it is read when the library is loaded
    try:
        library = ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise DependencyError(
            "GNU OpenMP (libgomp.so.1) is needed to run compiled code, and this system lacks it",
            hint="install it with the system's package manager; on Debian and Ubuntu: apt install libgomp1",
        ) from error
    os.register_at_fork(after_in_child=_Team.leave)
    return library


class _Team:
    """Which thread runs compiled code. In a forked child it is another one than that which forked: OpenMP keeps a team
    for each thread, and the team of this one stayed with the parent, so that it would wait for it forever. A thread
    that is new has none, and gets one.
    """

    worker: WorkerThread | None = None

    @classmethod
    def leave(cls) -> None:
        cls.worker = WorkerThread("team")
        load_openmp().omp_set_num_threads(1)  # for what this thread may do by itself


def with_team(run: Callable[[int], Any]) -> Callable[[int], Any]:
    """`run` in a thread that can share work with others.

    >>> with_team(lambda n: n + 1)(41)
    42
    """

    def anywhere(address: int) -> Any:
        worker = _Team.worker
        return run(address) if worker is None else worker.do(run, address)

    return anywhere


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Inside the block, this thread has `threads` at most to share work with, itself counted.

    >>> with at_most(1):
    ...     load_openmp().omp_get_max_threads()
    1
    """
    library = load_openmp()
    before = library.omp_get_max_threads()
    if before <= threads:
        yield
        return
    library.omp_set_num_threads(threads)
    try:
        yield
    finally:
        library.omp_set_num_threads(before)


def restricted(run: Callable[[int], Any], threads: int) -> Callable[[int], Any]:
    """`run` on `threads` at most; itself where the process has no more anyway."""
    if load_openmp().omp_get_max_threads() <= threads:
        return run

    def restrained(table: int) -> Any:
        with at_most(threads):
            return run(table)

    return restrained
