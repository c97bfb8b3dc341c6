"""What a memory budget costs: a 96-layer network trained with all values kept, with fewer, and within budgets.

For two kinds of layers (a residual layer of one product, and a wide block of two with a norm): the bytes that a step of
training is planned in, the arena that the process really has, and the time of a step, as ratios to the step that keeps
everything; and whether losses are equal bit by bit. Steps of all variants are interleaved, and minima are compared.

python benchmarks/memory.py [--layers 96] [--turns 15] [--kinds residual] [--variants auto] [--alone]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.runtime.arena import Arena

VARIANTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "dots": {"keep": "dots"},
    "auto": {"keep": "auto"},
    "budget 1/2": {"part": 0.5},
    "budget 1/5": {"part": 0.2},
}


class Residual(nn.Cell):
    """One product, one activation."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Dense(width, width)

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(self.dense(x)) + x


class Wide(nn.Cell):
    """The second half of a transformer's layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.out, self.back = nn.LayerNorm((width,)), nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def construct(self, x: Tensor) -> Tensor:
        return self.back(ops.gelu(self.out(self.norm(x)))) + x


KINDS: dict[str, tuple[type[nn.Cell], int, int]] = {"residual": (Residual, 192, 768), "wide": (Wide, 96, 384)}


def training(kind: str, layers: int, **settings: Any) -> Callable[[], float]:
    """A training step of a network of equal layers."""
    block, width, rows = KINDS[kind]
    ms.set_seed(1)
    net = nn.SequentialCell(*[block(width) for _ in range(layers)], nn.Dense(width, 10))
    loss = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.001, 0.9)
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    @ms.jit(**settings)
    def step(x: Tensor, y: Tensor) -> Tensor:
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    rng = np.random.default_rng(0)
    x = Tensor(rng.standard_normal((rows, width)).astype("f"))
    y = Tensor(rng.integers(0, 10, rows).astype("i"))
    run = lambda: float(step(x, y))  # noqa: E731  # with what belongs to it
    run.step = step  # type: ignore[attr-defined]
    return run


def planned(run: Any) -> int:
    """The bytes of the arena that the step is planned in."""
    found = re.search(r"arena: ([\d,]+) bytes planned", run.step.show("memory"))
    assert found is not None
    return int(found[1].replace(",", ""))


def compared(kind: str, layers: int, turns: int, variants: list[str]) -> None:
    """Print a line for each variant."""
    whole = 0
    runs: dict[str, Any] = {}
    losses: dict[str, list[float]] = {}
    print(f"{kind}, {layers} layers", flush=True)
    for name in dict.fromkeys(("everything", *variants)):
        settings = VARIANTS[name]
        chosen = {"memory_budget": int(whole * settings["part"])} if "part" in settings else settings
        began = time.perf_counter()
        runs[name] = run = training(kind, layers, **chosen)
        losses[name] = [run(), run()]
        whole = whole or planned(run)
        print(f"  {name:12} first steps {time.perf_counter() - began:6.1f} s", flush=True)
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(turns):
        for name, run in runs.items():
            began = time.perf_counter()
            losses[name].append(run())
            best[name] = min(best[name], time.perf_counter() - began)
    for name, run in runs.items():
        equal = losses[name] == losses["everything"]
        print(
            f"  {name:12} planned {planned(run):>12,} bytes, {planned(run) / whole:.3f} of all   "
            f"{best[name] * 1e3:7.1f} ms, {best[name] / best['everything']:.3f} x   losses equal: {equal}",
            flush=True,
        )


def arena(kind: str, layers: int, settings: dict[str, Any]) -> None:
    """Print what a process that does nothing else has as its arena, and what was planned."""
    run = training(kind, layers, **settings)
    run()
    print(json.dumps([Arena.bytes(), planned(run)]))


def main() -> None:
    """Compare, or measure one variant in a process of its own."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--layers", type=int, default=96)
    options.add_argument("--turns", type=int, default=15)
    options.add_argument("--kinds", nargs="*", default=list(KINDS))
    options.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=VARIANTS)
    options.add_argument("--alone", action="store_true", help="look at the arena of processes that do nothing else")
    options.add_argument("--arena", help="a variant, as JSON: measured alone")
    given = options.parse_args()
    for kind in given.kinds:
        if given.arena is not None:
            arena(kind, given.layers, json.loads(given.arena))
            continue
        compared(kind, given.layers, given.turns, given.variants)
        for settings in ({}, {"keep": "auto"}) if given.alone else ():
            alone = [sys.executable, __file__, "--layers", str(given.layers), "--kinds", kind]
            ran = subprocess.run([*alone, "--arena", json.dumps(settings)], capture_output=True, text=True, check=True)
            real, said = json.loads(ran.stdout.splitlines()[-1])
            print(f"  alone, {settings or 'everything'}: arena {real:,} bytes, planned {said:,}", flush=True)


if __name__ == "__main__":
    main()
