"""Tar shards beside the bare sequential reading of their bytes: rows one by one and in batches.

From the disk (the system has forgotten the files) and from memory (it has just read them): the first is what a corpus
larger than memory meets, the second is a race against one copy of memory.

python benchmarks/tar_shards.py [shards] [samples of each] [bytes of each] [folder] [cold | warm]
"""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
import tempfile
import time
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


def whole(paths: list[str]) -> int:
    """Read every file into memory of its own, as one who keeps the bytes must."""
    return sum(len(Path(path).read_bytes()) for path in paths)


def rows(paths: list[str], batch: int) -> int:
    """How many samples there are, opened and read in order."""
    shards = ds.WebDataset(paths, ["jpg", "cls"], shuffle=False, num_parallel_workers=2)
    if not batch:
        return sum(1 for _ in shards.create_tuple_iterator(num_epochs=1, output_numpy=True))
    batches = shards.batch(batch, num_parallel_workers=2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    return sum(len(one) for one, _ in batches)


def forget(paths: list[str]) -> None:
    """Have the system drop what it keeps of the files."""
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.fdatasync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def compare(paths: list[str], samples: int, size: int, cold: bool) -> None:
    """Print the rates, each as a part of the bare one; the cases take turns, and the shortest time of each counts."""
    cases = {
        "bare": lambda: bare(paths),
        "whole files": lambda: whole(paths),
        "batches of 256": lambda: rows(paths, 256),
        "batches of 250": lambda: rows(paths, 250),  # none lies in two shards
        "rows": lambda: rows(paths, 0),
    }
    best: dict[str, float] = {}
    for _ in range(3):
        for case, call in cases.items():
            if cold:
                forget(paths)
            begin = time.perf_counter()
            found = call()
            best[case] = min(best.get(case, 1e9), time.perf_counter() - begin)
            assert case in ("bare", "whole files") or found == len(paths) * samples
    told = {"state": "cold" if cold else "warm", "shards": len(paths), "samples": samples, "bytes": size}
    total = sum(Path(p).stat().st_size for p in paths)
    for case, seconds in best.items():
        rate = {"gb_per_s": round(total / seconds / 1e9, 2), "of_bare": round(best["bare"] / seconds, 3)}
        rate["of_whole_files"] = round(best["whole files"] / seconds, 3)
        print(
            json.dumps({**told, "case": case, **rate, "us_per_sample": round(seconds / len(paths) / samples * 1e6, 2)})
        )


if __name__ == "__main__":
    shards, samples, size = (int(a) for a in (*sys.argv[1:4], *("1000", "1000", "10240")[len(sys.argv[1:4]) :]))
    with tempfile.TemporaryDirectory() as fresh:
        paths = make(Path(sys.argv[4] if len(sys.argv) > 4 else fresh), shards, samples, size)
        for state in sys.argv[5:] or ["cold", "warm"]:
            compare(paths, samples, size, state == "cold")
