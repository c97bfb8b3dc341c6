"""Meta-learning (MAML): weights from which one step of learning is enough for a new sine wave.

The gradient goes through a step of gradient descent. `--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import compiled_step

RATE = 0.05


def predicted(weights, x: ms.Tensor) -> ms.Tensor:
    """A network of two hidden layers, with weights that are given."""
    a, b, c, d, e, f = weights
    return (ops.tanh(ops.tanh(x @ a + b) @ c + d) @ e + f)[:, 0]


def error(weights, x: ms.Tensor, y: ms.Tensor) -> ms.Tensor:
    return ops.mean(ops.square(predicted(weights, x) - y))


def adapted(weights, x: ms.Tensor, y: ms.Tensor):
    """The weights after one step on a few points."""
    gradients = ms.grad(error)(weights, x, y)
    return tuple(w - RATE * g for w, g in zip(weights, gradients, strict=True))


def waves(rng: np.random.Generator, count: int) -> tuple[ms.Tensor, ms.Tensor]:
    """Points on one wave of random height and phase."""
    x = rng.uniform(-3, 3, (count, 1)).astype(np.float32)
    y = rng.uniform(0.5, 2) * np.sin(x[:, 0] + rng.uniform(0, np.pi))
    return ms.Tensor(x), ms.Tensor(y.astype(np.float32))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="learn to learn")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    rng = np.random.default_rng(0)
    width = 4 if quick else 32
    shapes = [(1, width), (width,), (width, width), (width,), (width, 1), (1,)]
    weights = ms.ParameterTuple(
        [ms.Parameter(rng.normal(size=s).astype(np.float32) / max(s[0], 1) ** 0.5, name=f"w{i}")
         for i, s in enumerate(shapes)]
    )  # fmt: skip

    def loss(x: ms.Tensor, y: ms.Tensor) -> ms.Tensor:
        return error(adapted(tuple(w * 1.0 for w in weights), x[:10], y[:10]), x[10:], y[10:])

    step = compiled_step(loss, nn.Adam(weights, 3e-3))
    losses = [step(*waves(rng, 20)).item() for _ in range(5 if quick else 3000)]
    n = max(len(losses) // 10, 1)
    print(f"off by {np.mean(losses[:n]):.3f} at first, by {np.mean(losses[-n:]):.3f} after learning to learn")


if __name__ == "__main__":
    main()
