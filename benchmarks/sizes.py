"""What changing sizes cost: 50 batch sizes and 50 sequence lengths through one jitted train step.

For mlp_train and gpt_train, the models of the benchmark (`benchmarks/mycelia_peer.py`): how many programs are compiled
(none, where an earlier run has left them in the cache); what a size costs that was not met before (its first call less
the median of three more), of all, and of those that need no more memory than others before; the steady time against a
program for that size alone; how much memory the process takes from the fifth size on, and when all sizes come once
more. The harness is looked for as in `benchmarks/run.py`. Ratios are of one run, interleaved.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
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

    compiled, count = stages.compiled, [0]

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
    small = [int(n) for n in r.permutation(np.arange(2, 2 + given.sizes) % 30 + 2)]
    lengths = [int(n) for n in r.permutation(np.arange(16, 16 + 2 * given.sizes, 2))]
    head = f"{'compiled':>8} {'new size (median, 90 %, max)':>30} {'in known memory':>24} {'steady / static':>16}"
    print(f"{'':24} {head} {'RSS grows, again':>18}")
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
        news: list[tuple[float, bool]] = []
        for shape in shapes:
            args, room = data(*shape), Arena.bytes()
            first = seconds(step, args)
            again = statistics.median(seconds(step, args) for _ in range(3))
            news.append((1000 * (first - again), Arena.bytes() == room))
            if len(news) == 5:
                before = resident()
        programs, middle = count[0], resident()
        for shape in shapes:
            step(*data(*shape))
        grown = f"{(middle - before) / 2**20:.0f}, {(resident() - middle) / 2**20:.0f} MiB"
        ratios = []
        for shape in shapes[-2:]:
            args = data(*shape)
            alone = ms.jit(make()[0])
            alone(*args)
            pairs = [(seconds(step, args), seconds(alone, args)) for _ in range(given.turns)]
            ratios.append(min(p[0] for p in pairs) / min(p[1] for p in pairs))
        costs, known = spread(n for n, _ in news[3:]), spread(n for n, same in news[3:] if same)
        steady = ", ".join(f"{x:.2f}" for x in ratios)
        print(f"{name:24} {programs:8d} {costs:>30} {known:>24} {steady:>16} {grown:>18}", flush=True)


def spread(times: Iterable[float]) -> str:
    """The median, the 90 % quantile and the maximum."""
    found = sorted(times)
    return f"{statistics.median(found):.1f}, {found[int(0.9 * len(found))]:.1f}, {found[-1]:.1f} ms"


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
