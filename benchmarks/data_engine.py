"""Two figures of the data engine: random 3 KB records into batches of 256, and a 2 ms function in 1 and 2 processes.

python benchmarks/data_engine.py [records] [folder]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mycelia.dataset as ds
from mycelia.mindrecord import FileWriter

SIZE, BATCH, BLOCK = 3068, 256, 10_000


def make(place: Path, count: int) -> None:
    """A record file of `count` records of 3 KB."""
    writer = FileWriter(str(place))
    writer.add_schema({"data": {"type": "bytes"}, "label": {"type": "int32"}})
    blob = np.random.default_rng(0).bytes(3_000_000 + SIZE)
    for begin in range(0, count, BLOCK):
        starts = [(i * 37) % 3_000_000 for i in range(begin, min(count, begin + BLOCK))]
        writer.write_raw_data([{"data": blob[s : s + SIZE], "label": begin + k} for k, s in enumerate(starts)])
    writer.commit()


def records(place: Path, workers: int) -> dict[str, float]:
    """Records per second of wall time and of processor time, in the first epoch and in the second."""
    dataset = ds.MindDataset(str(place), num_parallel_workers=workers).batch(BATCH, num_parallel_workers=workers)
    rows = dataset.create_tuple_iterator(num_epochs=2, output_numpy=True)
    told = {}
    for epoch in ("first", "second"):
        wall, processor = time.perf_counter(), time.process_time()
        count = sum(len(label) for _, label in rows)
        told[f"{epoch}_per_s"] = round(count / (time.perf_counter() - wall))
        told[f"{epoch}_per_cpu_s"] = round(count / (time.process_time() - processor))
    return told


def busy(x: np.ndarray) -> np.ndarray:
    """Two milliseconds of Python."""
    begin = time.process_time()
    while time.process_time() - begin < 0.002:
        pass
    return np.full((64, 64), x, np.float32)


def waiting(x: np.ndarray) -> np.ndarray:
    """Two milliseconds of waiting: the scaling that is left when the processors are taken."""
    time.sleep(0.002)
    return np.full((64, 64), x, np.float32)


def scaling(function: object) -> float:
    """How much faster two processes are than one."""
    rates = []
    for workers in (1, 2):
        numbers = ds.NumpySlicesDataset(np.arange(1600), ["x"], num_parallel_workers=1)
        mapped = numbers.map(function, num_parallel_workers=workers, python_multiprocessing=True)
        rows = mapped.batch(16, num_parallel_workers=1).create_tuple_iterator(num_epochs=1, output_numpy=True)
        next(rows)
        begin = time.perf_counter()
        count = sum(len(row[0]) for row in rows)
        rates.append(count / (time.perf_counter() - begin))
    return round(rates[1] / rates[0], 3)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    ds.config.set_seed(1)
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        place = Path(folder, "records.mindrecord")
        begin = time.perf_counter()
        make(place, count)
        print(json.dumps({"case": "write", "records_per_s": round(count / (time.perf_counter() - begin))}), flush=True)
        for workers in (1, 2):
            print(json.dumps({"case": "records", "workers": workers, **records(place, workers)}), flush=True)
    for function in (busy, waiting):
        print(json.dumps({"case": "scaling", "function": function.__name__, "ratio": scaling(function)}), flush=True)
