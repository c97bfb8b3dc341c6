"""Tar shards beside the bare reading of their bytes: rows one by one and in batches, in the same state of the cache.

python benchmarks/tar_shards.py [shards] [samples of each] [bytes of each] [folder]
"""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import mycelia.dataset as ds


def make(folder: Path, shards: int, samples: int, size: int) -> list[str]:
    """Shards of samples with a picture and a class; the bytes are noise."""
    noise = np.random.default_rng(0).bytes(size + samples)
    paths = [folder / f"{number:05}.tar" for number in range(shards)]
    for number, path in enumerate(paths):
        if path.exists():
            continue
        with tarfile.open(path, "w", bufsize=1 << 20) as tar:
            for i in range(samples):
                for ending, body in (("jpg", noise[i : i + size]), ("cls", b"%03d" % (i % 1000))):
                    info = tarfile.TarInfo(f"{number:05}{i:05}.{ending}")
                    info.size = len(body)
                    tar.addfile(info, io.BytesIO(body))
    return [str(p) for p in paths]


def bare(paths: list[str]) -> int:
    """Read all bytes in order into one place."""
    place, total = bytearray(1 << 22), 0
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        while got := os.readv(file, [place]):
            total += got
        os.close(file)
    return total


def rows(paths: list[str], batch: int) -> int:
    """How many samples there are, opened and read in order."""
    shards = ds.WebDataset(paths, ["jpg", "cls"], shuffle=False, num_parallel_workers=2)
    if not batch:
        return sum(1 for _ in shards.create_tuple_iterator(num_epochs=1, output_numpy=True))
    batches = shards.batch(batch, num_parallel_workers=2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    return sum(len(one) for one, _ in batches)


def timed(call: Callable[[], int]) -> tuple[float, int]:
    """The shorter of two times, and the result."""
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - begin)
    return min(times), found


if __name__ == "__main__":
    shards, samples, size = (int(a) for a in (*sys.argv[1:4], *("1000", "1000", "8192")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as fresh:
        paths = make(Path(sys.argv[4] if len(sys.argv) > 4 else fresh), shards, samples, size)
        raw, total = timed(lambda: bare(paths))
        told = {
            "case": "bare",
            "shards": shards,
            "samples": samples,
            "gigabytes": total / 1e9,
            "gb_per_s": total / raw / 1e9,
        }
        print(json.dumps(told))
        for batch in (0, 256):
            seconds, count = timed(lambda batch=batch: rows(paths, batch))
            assert count == shards * samples
            print(json.dumps({"case": f"batches of {batch}" if batch else "rows", "of_bare": round(raw / seconds, 3),
                              "gb_per_s": round(total / seconds / 1e9, 2)}))  # fmt: skip
