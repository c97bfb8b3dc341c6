"""An inverse problem: how warm a rod was at first, from how warm it is later, by gradients through the heat equation.

`--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.scipy.optimize import minimize


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="back in time along the heat equation")
    parser.add_argument("--quick", action="store_true", help="a short rod and few rounds, to see that it runs")
    quick = parser.parse_args(arguments).quick
    size, steps = (8, 4) if quick else (64, 100)
    x = np.linspace(0, 1, size)
    truth = np.exp(-(((x - 0.3) / 0.08) ** 2)) + 0.5 * (np.abs(x - 0.7) < 0.1)

    def later(heat: Tensor) -> Tensor:
        for _ in range(steps):
            heat = heat + 0.4 * (ops.roll(heat, 1, 0) - 2.0 * heat + ops.roll(heat, -1, 0))
        return heat

    seen = later(Tensor(truth))

    @ms.jit
    def away(heat: Tensor) -> Tensor:
        rough = ops.square(heat[1:] - heat[:-1]).sum()
        return ops.square(later(heat) - seen).sum() + 1e-7 * rough

    start = Tensor(np.zeros(size))
    found = minimize(away, start, method="LBFGS", options={"maxiter": 2 if quick else 300, "gtol": 1e-8})
    error = np.abs(found.x.asnumpy() - truth).mean()
    print(f"misfit {away(start).item():.3f} -> {found.fun.item():.2e}, mean error at first {error:.3f}")


if __name__ == "__main__":
    main()
