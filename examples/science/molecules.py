"""Molecules in a periodic box: forces are gradients of an energy, steps are compiled, and the energy stays.

`--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="a fluid of Lennard and Jones")
    parser.add_argument("--quick", action="store_true", help="few molecules and steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    side, steps, h = (3, 3, 2e-3) if quick else (5, 500, 2e-3)
    box = side * 1.6
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3) * 1.6
    rng = np.random.default_rng(0)
    speeds = rng.normal(size=grid.shape)
    alone = Tensor(np.eye(len(grid)))
    edge = (2 / box) ** 12 - (2 / box) ** 6  # so that the energy does not jump where images end

    def energy(x: Tensor) -> Tensor:
        """Of all pairs, each with the nearest image of the other."""
        apart = ops.expand_dims(x, 1) - x
        apart = apart - box * ops.round(apart / box)
        square = ops.square(apart).sum(-1) + alone
        power = 1.0 / (square * square * square)
        near = ops.where(square < (box / 2) ** 2, power * (power - 1.0) - edge, ops.zeros_like(power))
        return 2.0 * (near * (1.0 - alone)).sum()

    force = ms.grad(energy)

    @ms.jit
    def step(x: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        v = v - 0.5 * h * force(x)
        x = x + h * v
        return x, v - 0.5 * h * force(x)

    def total(x: Tensor, v: Tensor) -> float:
        return (energy(x) + 0.5 * ops.square(v).sum()).item()

    x, v = Tensor(grid), Tensor(speeds - speeds.mean(0))
    first = total(x, v)
    for _ in range(steps):
        x, v = step(x, v)
    warmth = ops.square(v).mean().item()
    print(f"{len(grid)} molecules, energy {first:.4f} -> {total(x, v):.4f}, temperature {warmth:.3f}")


if __name__ == "__main__":
    main()
