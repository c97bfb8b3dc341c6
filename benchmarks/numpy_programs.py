"""Programs for NumPy beside themselves compiled: `python benchmarks/numpy_programs.py [--size N] [--only NAME]`.

The programs are those of tests/numpy/programs. NumPy and compiled calls alternate; the minimum of many counts. Printed
are both times, their ratio (below 1: faster than NumPy), what the first call took, and how the program runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import mycelia as ms  # noqa: E402  # found by the line above
from tests.numpy.test_programs import PROGRAMS, loaded  # noqa: E402

SIZES = {"life": 256, "mandelbrot": 256, "heat": 256, "pagerank": 512, "picture": 256, "bodies": 128, "strings": 1000}


def main() -> None:
    """Print a line for each program."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, help="of all, instead of one that fits each")
    options.add_argument("--only", default="", help="part of the name of a program")
    options.add_argument("--turns", type=int, default=9)
    given = options.parse_args()
    print(f"{'':12} {'size':>5} {'NumPy ms':>9} {'ours ms':>9} {'ratio':>6} {'first ms':>9}")
    for name, path in PROGRAMS.items():
        if given.only not in name:
            continue
        plain, mine = (loaded(path, f"import {module} as np") for module in ("numpy", "mycelia.numpy"))
        size = given.size or SIZES.get(name, 200)
        theirs, ours, run = plain.inputs(size), mine.inputs(size), ms.jit(mine.run)
        first = seconds(run, ours)
        seconds(run, ours)
        pairs = [(seconds(plain.run, theirs), seconds(run, ours)) for _ in range(given.turns)]
        numpy, own = (1000 * min(times) for times in zip(*pairs, strict=True))
        how = "one native call" if "in Python" not in run.explain() else "in pieces"
        print(f"{name:12} {size:5d} {numpy:9.2f} {own:9.2f} {own / numpy:6.2f} {1000 * first:9.0f}  {how}", flush=True)


def seconds(run: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """The time of one call, with its results read."""
    begin = time.perf_counter()
    for found in run(*args):
        if isinstance(found, ms.Tensor):
            found.asnumpy()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
