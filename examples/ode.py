"""A neural differential equation: its steps are a `while` loop on tensors, compiled and differentiated as such.

The network learns the field of a spiral from a few points on it; the length of a step follows from its error, so how
many there are is not known before. `--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import compiled_step

SPIRAL = np.array([[-0.1, 2.0], [-2.0, -0.1]], np.float32)


def flow(field, start: ms.Tensor, end: float, most: float = 1e-2) -> ms.Tensor:
    """Where the points of `start` are after the time `end`: by Heun's method, in steps that the error allows."""
    x, t, h = start, ops.zeros(()), ops.ones(()) * 0.1
    while t < end:
        h = ops.minimum(h, end - t)
        first = field(x)
        second = field(x + h * first)
        error = ops.stop_gradient(ops.max(ops.abs(h * (second - first) * 0.5))[0])
        if error < most:
            x, t = x + h * 0.5 * (first + second), t + h
        h = ops.stop_gradient(h * ops.clamp(0.9 * ops.sqrt(most / (error + 1e-6)), 0.3, 2.0))
    return x


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="learn a field by following it")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    width = 4 if quick else 32
    net = nn.SequentialCell(nn.Dense(2, width), nn.Tanh(), nn.Dense(width, 2))
    start = rng.uniform(-2, 2, (16, 2)).astype(np.float32)
    there = start
    for _ in range(100):  # the truth, in small steps
        there = there + 0.005 * (there @ SPIRAL.T)
    goal = ms.Tensor(there.astype(np.float32))

    def loss(x: ms.Tensor) -> ms.Tensor:
        return ops.mean(ops.square(flow(net, x, 0.5) - goal))

    step = compiled_step(loss, nn.Adam(net.trainable_params(), 0.02))
    losses = [step(ms.Tensor(start)).item() for _ in range(4 if quick else 400)]
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.5f}")


if __name__ == "__main__":
    main()
