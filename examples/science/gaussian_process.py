"""A Gaussian process: how wavy and noisy numbers are, by the likelihood, and what lies between. `--quick`: less."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.scipy.linalg import cho_solve, cholesky
from mycelia.scipy.optimize import minimize


def kernel(x: Tensor, y: Tensor, logs: Tensor) -> Tensor:
    """How alike places are: bells of a width and a height."""
    far = (ops.expand_dims(x, 1) - y) / ops.exp(logs[0])
    return ops.exp(2.0 * logs[1] - 0.5 * far * far)


def factor(x: Tensor, logs: Tensor) -> Tensor:
    """The Cholesky factor of the likeness of places, with noise."""
    return cholesky(kernel(x, x, logs) + ops.exp(2.0 * logs[2]) * ops.eye(x.shape[0], dtype=x.dtype), lower=True)


@ms.jit
def unlikely(logs: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Minus the logarithm of the likelihood."""
    lower = factor(x, logs)
    return 0.5 * (y * cho_solve((lower, True), y)).sum() + ops.log(ops.diagonal(lower)).sum()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="a curve through noise")
    parser.add_argument("--quick", action="store_true", help="few points and rounds, to see that it runs")
    quick = parser.parse_args(arguments).quick
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 8 if quick else 60))
    y = np.sin(2 * x) + 0.1 * rng.normal(size=x.size)
    places, values = Tensor(x), Tensor(y)
    options = {"maxiter": 2 if quick else 60}
    found = minimize(lambda logs: unlikely(logs, places, values), Tensor(np.zeros(3)), method="LBFGS", options=options)
    between = np.linspace(0.5, 5.5, 50)
    weights = cho_solve((factor(places, found.x), True), values)
    guess = (kernel(Tensor(between), places, found.x) @ weights).asnumpy()
    width, height, noise = np.exp(found.x.asnumpy())
    error = np.abs(guess - np.sin(2 * between)).max()
    print(f"width {width:.2f}, height {height:.2f}, noise {noise:.2f}; error {error:.3f}")


if __name__ == "__main__":
    main()
