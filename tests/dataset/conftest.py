"""Every test of the data engine has a time limit, its own settings, and leaves no thread, process or file open."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from multiprocessing import resource_tracker

import pytest

from mycelia.dataset import config
from mycelia.mindrecord.scratch import scratch

SECONDS = 300  # what hangs, hangs for ever: a machine with ten times as much to do as it can is waited for
SLOW_SECONDS = 900


@pytest.fixture(autouse=True)
def time_limit(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that hangs fails, and tells where each thread is."""

    def ring(*_: object) -> None:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        told = [
            f"{names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame)[-6:])}"
            for ident, frame in sys._current_frames().items()
            if ident != threading.get_ident()
        ]
        pytest.fail("\n".join(["the test took too long", *told]), pytrace=True)

    slow = request.node.get_closest_marker("slow") is not None
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SLOW_SECONDS if slow else SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    """Settings of one test do not reach the next."""
    before = config.current_options()
    config.restore(config.PipelineOptions(seed=1, multiprocessing_start_method="fork"))  # the quickest here
    yield
    config.restore(before)


def workers_alive() -> list[str]:
    """Threads and processes of the data engine that live."""
    threads = [t.name for t in threading.enumerate() if t.name.startswith("mycelia-data")]
    return threads + [p.name for p in multiprocessing.active_children() if p.name.startswith("mycelia-data")]


def open_files() -> int:
    """How many files and pipes this process has open."""
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """After the test no worker lives and no file is open that was not before."""
    resource_tracker.ensure_running()  # Python's own, which spawned processes start once for all
    scratch()  # this thread's, which it keeps
    gc.collect()
    before = open_files()
    yield
    gc.collect()
    for _ in range(100):
        if not workers_alive() and open_files() <= before:
            return
        time.sleep(0.05)
        gc.collect()
    assert not workers_alive()
    assert open_files() <= before
