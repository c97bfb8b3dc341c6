"""Processes that may do anything: they are given so much time and memory, and are ended with all that they started."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

IDLE = 20.0  # seconds without any of processor time: a deadlock
ROOM = 8 << 30  # bytes that a child may take beyond what is there
ENDED = -1  # the status of one that had to be ended


def in_a_child(work: Callable[[], None], seconds: float, log: Path) -> int:
    """The status with which a child ends that does some work, in so many seconds of processor time."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            os.setsid()
            let_compute(seconds)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (there + ROOM, there + ROOM))
            file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, 1)
            os.dup2(file, 2)
            work()
            sys.stdout.flush()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(70)
    return _ended(child, 30 * seconds)


def let_compute(seconds: float) -> None:
    """From now on, this process may compute so long, and each that it starts."""
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _ended(child: int, patience: float) -> int:
    """Wait for a child: as long as its session computes, or a while."""
    start = moved = time.monotonic()
    before, pause = -1, 0.01
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        if pid:
            end = os.waitstatus_to_exitcode(status)
            break
        if now - moved > 1:
            busy, used = _session(child)
            if busy or used != before:
                before, moved = used, now
        if now - moved > IDLE or now - start > patience:
            end = ENDED
            break
        time.sleep(pause)
        pause = min(0.2, pause * 1.3)
    for pid in [pid for pid, stat in _stats() if int(stat[3]) == child]:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if end == ENDED:
        os.waitpid(child, 0)
    return end


def _stats() -> Iterator[tuple[int, list[str]]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                yield int(name), Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue


def _session(session: int) -> tuple[bool, int]:
    """Whether any process of a session is running or stopped, and how long all have computed, in ticks."""
    stats = [stat for _, stat in _stats() if int(stat[3]) == session]
    return any(s[0] in "RDT" for s in stats), sum(int(x) for s in stats for x in s[11:15])
