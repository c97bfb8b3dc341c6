"""The threads of a team stay off the processor of the one that leads it.

Where other processes keep the processors busy, a thread that is woken is often put where the one that woke it runs, and
that one waits for it, awake: until it gives up and sleeps, neither gets on. In every kernel of a program that was up to
ten times what the kernel took. So the others may run on any processor but the leader's, as the user has allowed them.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from mycelia.threads.openmp import load_openmp

TOLD = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Led(threading.local):
    """Of a thread that leads: the processor on which it was, and the others of its team."""

    processor = -1
    others: tuple[int, ...] | None = None


team = _Led()


@cache
def _processor() -> Callable[[], int]:
    """Asks for the processor that runs this thread."""
    ask: Callable[[], int] = ctypes.PyDLL(None).sched_getcpu  # it does not wait: others need not run meanwhile
    return ask


def apart(run: Callable[[int], Any]) -> Callable[[int], Any]:
    """`run`, with the others of the team on other processors than that of the thread that calls it.

    >>> apart(lambda n: n + 1)(41)
    42
    """
    if not hasattr(os, "sched_setaffinity"):
        return run
    processor = _processor()

    def led(address: int) -> Any:
        if (here := processor()) != team.processor:
            team.processor = here
            place(here)
        return run(address)

    return led


def others() -> tuple[int, ...]:
    """The threads that share work with this one, as the system numbers them.

    >>> len(others()) < load_openmp().omp_get_max_threads()
    True
    """
    found: list[int] = []
    load_openmp().GOMP_parallel(TOLD(lambda _: found.append(threading.get_native_id())), None, 0, 0)
    return tuple(n for n in found if n != threading.get_native_id())


def place(here: int) -> None:
    """Let the others run anywhere but here, if there is a processor for each, and the user has not chosen it."""
    allowed = os.sched_getaffinity(0)
    if not 1 < load_openmp().omp_get_max_threads() <= len(allowed) or load_openmp().omp_get_proc_bind():
        return
    if team.others is None:
        team.others = others()
    try:
        for thread in team.others:
            os.sched_setaffinity(thread, allowed - {here})
    except OSError:  # the team was another one meanwhile
        team.others = None


def _forget() -> None:
    """A forked process has no threads but one."""
    team.processor, team.others = -1, None


os.register_at_fork(after_in_child=_forget)


def _anew() -> None:
    """In a forked process: the numbers are those of the parent's threads."""
    team.processor, team.others = -1, None


os.register_at_fork(after_in_child=_anew)
