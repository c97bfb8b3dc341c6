"""What changing sizes cost: 50 batch sizes and 50 sequence lengths through one jitted train step.

For mlp_train and gpt_train, the models of the benchmark (`benchmarks/mycelia_peer.py`): how many programs are compiled
(none, where an earlier run has left them in the cache); what a size costs that was not met before (its first call less
the median of three more); the steady time against a program for that size alone; how many MiB the process takes beside
what programs compute in: from the fifth size to the twentieth, from there on, and when all sizes come once more. The
harness is looked for as in `benchmarks/run.py`. Ratios are of one run, interleaved.

A size costs time before its machine code runs, and in it for memory that is touched for the first time. The former is
measured, the latter is what such memory takes on this machine, touched in a quiet moment: so many MiB, so many times.
Their sum is what a new size costs. The whole call holds the noise of whole steps, which take up to half a second; how
much that is shows the same difference for sizes that were met before.
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Print a line for each model and each axis that changes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--home", type=Path, default=os.environ.get("BENCH_HOME", ROOT.parent / "shared" / "bench"))
    options.add_argument("--sizes", type=int, default=50)
    options.add_argument("--turns", type=int, default=15, help="of both programs at one size")
    options.add_argument("--only", default="", help="part of the name of a line, such as lengths")
    given = options.parse_args()
    sys.path[:0] = [str(given.home), str(ROOT / "benchmarks"), str(ROOT)]
    import common
    import mycelia_peer as peer

    import mycelia as ms
    from mycelia import nn
    from mycelia.runtime import stages
    from mycelia.runtime.arena import Arena
    from mycelia.runtime.executable import Executable

    compiled, count = stages.compiled, [0]
    made, native = Executable.__init__, [0.0]  # seconds in machine code

    def timing(self: Any, *args: Any) -> None:
        made(self, *args)
        run = self._run

        def timed(table: int) -> Any:
            begin = time.perf_counter()
            status = run(table)
            native[0] += time.perf_counter() - begin
            return status

        self._run = timed

    Executable.__init__ = timing  # type: ignore[method-assign]  # to tell what is code and what comes before it

    def counting(*args: Any) -> Any:
        count[0] += 1
        return compiled(*args)

    stages.compiled = counting

    def mlp() -> tuple[Callable[..., Any], Callable[[int, int], list[Any]]]:
        p = common.mlp_params()
        layers = [peer.dense(*p[:2]), nn.ReLU(), peer.dense(*p[2:4]), nn.ReLU(), peer.dense(*p[4:])]
        net = nn.SequentialCell(*layers)
        x, y = common.mlp_data()

        def data(batch: int, _: int) -> list[Any]:
            rows = np.arange(batch) % len(x)
            return [ms.Tensor(x[rows]), ms.Tensor(y[rows])]

        return trained(net, nn.Adam(net.trainable_params(), common.ADAM["lr"])), data

    def gpt() -> tuple[Callable[..., Any], Callable[[int, int], list[Any]]]:
        net = peer.Gpt()
        x, y = common.gpt_data()

        def data(batch: int, length: int) -> list[Any]:
            rows = np.arange(batch) % len(x)
            return [ms.Tensor(x[rows][:, :length]), ms.Tensor(y[rows][:, :length].reshape(-1))]

        optimizer = nn.AdamW(net.trainable_params(), lr=common.ADAMW["lr"], weight_decay=common.ADAMW["wd"])
        return trained(net, optimizer), data

    def trained(net: Any, optimizer: Any) -> Callable[..., Any]:
        loss = nn.CrossEntropyLoss()
        gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

        def step(x: Any, y: Any) -> Any:
            value, gradients = gradient(x, y)
            optimizer(gradients)
            return value

        return step

    r = np.random.default_rng(0)
    batches = [int(n) for n in r.permutation(np.arange(8, 8 + 4 * given.sizes, 4))]
    small = [int(n) for n in r.permutation(np.arange(2, 2 + given.sizes) % 30 + 2)]  # some of them twice
    lengths = [int(n) for n in r.permutation(np.arange(16, 16 + 2 * given.sizes, 2))]
    columns = ("before its code", "MiB touched", "a new size costs", "whole call", "whole call, met before")
    print("Milliseconds: median, 90 % quantile, maximum.")
    head = " ".join(f"{column:>22}" for column in columns)
    print(f"{'':18} {'compiled':>8} {head} {'steady / static':>16} {'RSS grows, MiB':>16}")
    for name, make, shapes in (
        ("mlp_train, batches", mlp, [(n, 0) for n in batches]),
        ("gpt_train, batches", gpt, [(n, 64) for n in small]),
        ("gpt_train, lengths", gpt, [(4, n) for n in lengths]),
    ):
        if given.only not in name:
            continue
        plain, data = make()
        step = ms.jit(plain)
        count[0] = 0
        news: list[tuple[float, float, float]] = []
        again: list[float] = []
        grows: list[int] = []
        met: set[tuple[int, int]] = set()
        for shape in shapes:
            args, held = data(*shape), Arena.bytes()
            first, *others = [both(step, args, native) for _ in range(4)]
            whole, before = (
                1000 * (x - statistics.median(y)) for x, y in zip(first, zip(*others, strict=True), strict=True)
            )
            touched = max(sum(room.nbytes for room in Arena.rooms) - held, 0) / 2**20
            if shape in met:
                again.append(whole)
            else:
                news.append((before, touched, whole))
            met.add(shape)
            grows.append(resident() - Arena.bytes())
        programs = count[0]
        for shape in shapes:
            step(*data(*shape))
        grows.append(resident() - Arena.bytes())
        marks = [grows[i] / 2**20 for i in (4, min(19, len(shapes) - 1), -2, -1)]
        grown = ", ".join(f"{later - earlier:.0f}" for earlier, later in pairwise(marks))
        ratios = []
        for shape in shapes[-2:]:
            args = data(*shape)
            alone = ms.jit(make()[0])
            alone(*args)
            pairs = [(seconds(step, args), seconds(alone, args)) for _ in range(given.turns)]
            ratios.append(min(p[0] for p in pairs) / min(p[1] for p in pairs))
        prepared, memory, calls = zip(*news[3:], strict=True)
        rate = first_touch()
        costs = [x + rate * y for x, y in zip(prepared, memory, strict=True)]
        told = " ".join(f"{spread(times):>22}" for times in (prepared, memory, costs, calls, again))
        steady = ", ".join(f"{x:.2f}" for x in ratios)
        print(f"{name:18} {programs:8d} {told} {steady:>16} {grown:>16}   {rate:.2f} ms/MiB", flush=True)


def spread(times: Iterable[float]) -> str:
    """The median, the 90 % quantile and the maximum."""
    found = sorted(times)
    if not found:
        return "none"
    return f"{statistics.median(found):.1f}, {found[int(0.9 * len(found))]:.1f}, {found[-1]:.1f}"


def both(run: Callable[..., Any], args: list[Any], native: list[float]) -> tuple[float, float]:
    """The time of one call, and what of it was not spent in machine code."""
    native[0] = 0.0
    whole = seconds(run, args)
    return whole, whole - native[0]


def first_touch(mib: int = 64) -> float:
    """Milliseconds that a MiB takes that is touched for the first time."""
    with mmap.mmap(-1, mib << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        begin = time.perf_counter()
        for place in range(0, len(memory), mmap.PAGESIZE):
            memory[place] = 1
        return 1000 * (time.perf_counter() - begin) / mib


def seconds(run: Callable[..., Any], args: list[Any]) -> float:
    """The time of one call."""
    begin = time.perf_counter()
    run(*args)
    return time.perf_counter() - begin


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
