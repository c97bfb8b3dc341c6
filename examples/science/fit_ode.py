"""Fitting a differential equation: rates of hunters and prey from counts, by gradients through the solver.

`--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from mycelia import Tensor, ops
from mycelia.scipy.integrate import solve_ivp
from mycelia.scipy.optimize import minimize

TRUTH = np.array([1.0, 0.4, 0.8, 0.3])


def counts(rates: Tensor, times: np.ndarray) -> Tensor:
    """Prey and hunters at some times."""

    def slope(t: Tensor, y: Tensor) -> Tensor:
        met = y[0] * y[1]
        return ops.stack([rates[0] * y[0] - rates[1] * met, rates[3] * met - rates[2] * y[1]])

    return solve_ivp(slope, (0.0, times[-1]), np.array([3.0, 1.0]), t_eval=times, rtol=1e-5).y


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="rates of hunters and prey")
    parser.add_argument("--quick", action="store_true", help="few counts and rounds, to see that it runs")
    quick = parser.parse_args(arguments).quick
    times = np.linspace(0.0, 0.5 if quick else 6.0, 3 if quick else 25)
    seen = counts(Tensor(TRUTH), times)

    def away(logs: Tensor) -> Tensor:
        return ops.square(counts(ops.exp(logs), times) - seen).mean()

    start = Tensor(np.log(TRUTH) + np.array([0.2, -0.2, 0.1, 0.2]))
    found = minimize(away, start, method="BFGS", options={"maxiter": 1 if quick else 60})
    print("rates", np.round(np.exp(found.x.asnumpy()), 3), f"error {away(start).item():.4f} -> {found.fun.item():.2e}")


if __name__ == "__main__":
    main()
