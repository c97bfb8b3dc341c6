"""A Kalman filter, compiled, whose noise is learned by the gradient of the likelihood. `--quick` makes less of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.scipy.optimize import minimize

MOVE = Tensor(np.array([[1.0, 0.1], [0.0, 1.0]]))  # a place and a speed, a tenth of a second later
PUSH = Tensor(np.array([[0.005**2, 0.005 * 0.1], [0.005 * 0.1, 0.1**2]]))


@ms.jit
def unlikely(logs: Tensor, seen: Tensor) -> Tensor:
    """Minus the logarithm of the likelihood of places that were seen, for logarithms of two deviations."""
    push, noise = ops.exp(2.0 * logs[0]), ops.exp(2.0 * logs[1])
    mean, cover = ops.zeros((2,), ms.float64), ops.eye(2, dtype=ms.float64)
    total = ops.zeros((), ms.float64)
    for y in seen:
        mean, cover = MOVE @ mean, MOVE @ cover @ MOVE.T + PUSH * push
        spread = cover[0, 0] + noise
        away = y - mean[0]
        gain = cover[:, 0] / spread
        mean, cover = mean + gain * away, cover - ops.outer(gain, cover[0])
        total = total + 0.5 * (ops.log(spread) + away * away / spread)
    return total


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="the noise of a motion")
    parser.add_argument("--quick", action="store_true", help="few places and rounds, to see that it runs")
    quick = parser.parse_args(arguments).quick
    rng, places, state = np.random.default_rng(1), [], np.zeros(2)
    for _ in range(8 if quick else 400):
        state = MOVE.asnumpy() @ state + np.array([0.005, 0.1]) * rng.normal() * 2.0
        places.append(state[0] + 0.3 * rng.normal())
    seen = Tensor(np.array(places))
    options = {"maxiter": 2 if quick else 50}
    found = minimize(lambda logs: unlikely(logs, seen), Tensor(np.zeros(2)), method="BFGS", options=options)
    push, noise = np.exp(found.x.asnumpy())
    print(f"push {push:.2f} (2.0 in truth), noise {noise:.2f} (0.3 in truth)")


if __name__ == "__main__":
    main()
