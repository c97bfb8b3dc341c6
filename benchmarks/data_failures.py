"""A long run with failures: workers are killed, samples are bad, the store is slow; the sequence must be right.

    python benchmarks/data_failures.py 600     # seconds

It prints one line a minute and ends with an error if a row is wrong, or memory, threads, processes or files grow.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

import mycelia.dataset as ds

ROWS = 4000


class Store:
    """Rows from a store that is slow now and then."""

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.int64]:
        if index % 997 == 5:
            time.sleep(0.05)
        return np.full((64, 64), index, np.float32), np.int64(index)


def picky(x: np.ndarray) -> np.ndarray:
    if int(x[0, 0]) % 101 == 7:
        raise ValueError("a bad sample")
    return x + 1


def memory() -> float:
    """Megabytes that this process and its workers hold for themselves."""
    total = 0
    for pid in [os.getpid(), *(p.pid for p in multiprocessing.active_children())]:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Dirty", "Private_Clean")))
    return total / 1024


def open_files() -> int:
    """Files and pipes that are open; a worker that is being replaced has some more for a moment."""
    time.sleep(0.05)
    return len(os.listdir("/proc/self/fd"))


def killer(stop: threading.Event, killed: list[int]) -> None:
    chance = random.Random(0)
    while not stop.wait(chance.uniform(1, 5)):
        workers = [p for p in multiprocessing.active_children() if p.name.startswith("mycelia-data")]
        if workers:
            victim = chance.choice(workers)
            with suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(victim.pid, signal.SIGKILL)
                killed.append(victim.pid)


def main(seconds: float) -> None:
    ds.config.set_seed(3)
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    source, calm = (ds.GeneratorDataset(Store(), ["x", "n"], shuffle=True, num_parallel_workers=n) for n in (2, 1))
    dataset = source.map(picky, "x", num_parallel_workers=2, python_multiprocessing=True).batch(16)
    inline = calm.map(picky, "x").project("n").batch(16)  # without processes: nobody can kill its workers
    stop, killed = threading.Event(), []
    threading.Thread(target=killer, args=(stop, killed), daemon=True).start()
    end, epoch, begun, held, rows_read, lost = time.monotonic() + seconds, 0, time.monotonic(), [], 0, 0
    fresh = time.monotonic() + 60
    rows = dataset.create_tuple_iterator(output_numpy=True)
    alone = inline.create_tuple_iterator(output_numpy=True)
    deaths, files = [0, 0], []  # killed before the epoch before, and before this one: epochs overlap
    good = {i for i in range(ROWS) if i % 101 != 7}
    while time.monotonic() < end:
        seen: list[int] = []
        for x, n in rows:
            assert (x == (n + 1)[:, None, None]).all(), "a row holds another row's values"
            seen += n.tolist()
        assert set(seen) <= good, "a bad sample was served"
        missing = good - set(seen)
        assert len(seen) == len(set(seen)), "a row came twice"
        assert len(missing) <= 16 * (len(killed) - deaths[-2]), f"{len(missing)} rows are missing"
        given = set(seen)
        order = [int(v) for row in alone for v in row[0]]  # of one reader, whom nobody kills
        assert seen == [v for v in order if v in given], "the order is not that of one reader"
        epoch += 1
        deaths.append(len(killed))
        rows_read += len(seen)
        lost += len(missing)
        if time.monotonic() > fresh or len(held) < 2:
            fresh = time.monotonic() + 60
            held.append(memory())
            files.append(min(open_files() for _ in range(5)))
            told = f"{time.monotonic() - begun:5.0f} s, epoch {epoch}, {rows_read} rows, {len(killed)} workers killed, "
            print(f"{told}{rows.bad_count} bad, {lost} lost, {held[-1]:.0f} MB, {files[-1]} files", flush=True)
            state = rows.state_dict()  # and go on from a state
            rows.stop()
            rows = dataset.create_tuple_iterator(output_numpy=True)
            rows.load_state_dict(state)
    stop.set()
    rows.stop()
    alone.stop()
    time.sleep(1)
    left = [t.name for t in threading.enumerate() if t.name.startswith("mycelia-data")]
    assert not left, left
    assert not multiprocessing.active_children()
    assert held[-1] < 1.2 * max(held[:3]) + 30, f"memory grew: {held}"
    assert files[-1] <= max(files[:3]), f"files stay open: {files}"
    print(
        f"right for {seconds:.0f} s: {epoch} epochs, {len(killed)} workers killed, {held[0]:.0f} to {held[-1]:.0f} MB"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 600.0)
