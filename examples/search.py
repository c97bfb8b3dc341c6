"""A search for hyper-parameters: many short trainings, the better half goes on twice as long (successive halving).

`--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import compiled_step


class Trial:
    """A network with its own rate and width, which can be trained further."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rate, self.width = float(10 ** rng.uniform(-4, -0.5)), int(rng.choice([4, 16]))
        net = nn.SequentialCell(nn.Dense(2, self.width), nn.Tanh(), nn.Dense(self.width, 2))
        self.net = net
        optimizer = nn.Adam(net.trainable_params(), self.rate)
        self.step = compiled_step(lambda x, y: ops.cross_entropy(net(x), y), optimizer)

    def score(self, x: np.ndarray, y: np.ndarray) -> float:
        """The share of points that it tells rightly."""
        return float((self.net(ms.Tensor(x)).asnumpy().argmax(1) == y).mean())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="search for a rate and a width")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(512, 2)).astype(np.float32)
    y = (np.square(x).sum(1) < 1.4).astype(np.int32)
    trials, steps = [Trial(rng) for _ in range(2 if quick else 8)], 3 if quick else 50
    while True:
        for trial in trials:
            for _ in range(steps):
                trial.step(ms.Tensor(x[:384]), ms.Tensor(y[:384]))
        trials.sort(key=lambda trial: -trial.score(x[384:], y[384:]))
        best = trials[0]
        print(f"of {len(trials)}: rate {best.rate:.2g}, width {best.width}: {best.score(x[384:], y[384:]):.1%}")
        if len(trials) == 1:
            break
        trials, steps = trials[: len(trials) // 2], 2 * steps


if __name__ == "__main__":
    main()
