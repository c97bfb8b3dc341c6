"""A day's worth of batches from an index of ten million: memory, threads, processes and files must stay flat.

python benchmarks/data_soak.py [seconds]
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import resource
import sys
import threading
import time
from pathlib import Path

import numpy as np

import mycelia.dataset as ds

COUNT = 10_000_000
PATIENCE = 30.0  # seconds for what was dropped to be closed: a thread of its own does that


def held() -> dict[str, int]:
    """What the process holds: resident memory in KB, threads, child processes, open files, shared blocks."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    maps = Path("/proc/self/maps").read_text()
    return {
        "rss": int(status["VmRSS"].split()[0]),
        "threads": threading.active_count(),
        "processes": len(multiprocessing.active_children()),
        "files": len(os.listdir("/proc/self/fd")),
        "shared": maps.count("memfd:mycelia-data"),
    }


def settled(before: list[dict[str, int]]) -> dict[str, int]:
    """What the process holds when that is no more than ever before, memory aside; after a while, what it does hold.

    A pipeline that was dropped is closed by a thread, which a busy machine may let wait; what leaks never comes back.
    """
    least = {k: min(b[k] for b in before) for k in before[0] if k != "rss"}
    end = time.monotonic() + PATIENCE
    while True:
        now = held()
        if all(now[k] <= most for k, most in least.items()) or time.monotonic() > end:
            return now
        time.sleep(0.01)


def shifted(x: np.ndarray) -> np.ndarray:
    """Some Python work on a row."""
    return x + 1.0


def soak(seconds: float) -> dict[str, object]:
    """Read from three pipelines in turn: an endless one, one that is left in the middle, one in processes."""
    ds.config.set_seed(1)
    numbers = ds.NumpySlicesDataset({"x": np.arange(COUNT), "y": np.arange(COUNT) % 10}, num_parallel_workers=2)
    long = numbers.batch(32).create_tuple_iterator(output_numpy=True)
    next(long)
    batches, began, seen = 1, time.monotonic(), [held()]
    rounds = 0
    while time.monotonic() - began < seconds:
        for _ in range(2000):
            try:
                next(long)
            except StopIteration:
                continue
            batches += 1
        small = numbers.take(5000).map(shifted, ["x"]).batch(32)
        for row in small.create_tuple_iterator(num_epochs=1, output_numpy=True):
            batches += len(row) > 0
        left = small.create_tuple_iterator(output_numpy=True)
        next(left)
        del left
        if rounds % 10 == 0:
            spread = (
                numbers.take(2000).map(shifted, ["x"], num_parallel_workers=2, python_multiprocessing=True).batch(32)
            )
            with spread.create_tuple_iterator(num_epochs=1, output_numpy=True) as rows:
                batches += sum(1 for _ in rows)
        rounds += 1
        gc.collect()
        seen.append(settled(seen))
    long.stop()
    gc.collect()
    warm = seen[len(seen) // 5 :]  # allocators and caches fill up first
    growth = warm[-1]["rss"] / warm[0]["rss"] - 1
    return {
        "seconds": round(time.monotonic() - began),
        "batches": batches,
        "rss_growth": round(growth, 4),
        "first": warm[0],
        "last": warm[-1],
        "after": settled(seen),
        "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


if __name__ == "__main__":
    print(json.dumps(soak(float(sys.argv[1]) if len(sys.argv) > 1 else 600.0)))
