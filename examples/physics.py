"""A physics-informed network: it learns u'' = -u with u(0) = 0 and u'(0) = 1, and finds the sine.

Derivatives by its argument are taken inside of the loss, which is differentiated by the weights. `--quick` makes less.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import compiled_step


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="solve an equation of motion")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    width = 8 if quick else 32
    net = nn.SequentialCell(nn.Dense(1, width), nn.Tanh(), nn.Dense(width, width), nn.Tanh(), nn.Dense(width, 1))

    def u(x: ms.Tensor) -> ms.Tensor:
        return net(x[:, None])[:, 0]

    def slope(x: ms.Tensor) -> ms.Tensor:
        return ms.grad(lambda x: u(x).sum())(x)  # each point depends on itself only

    def loss(x: ms.Tensor) -> ms.Tensor:
        bent = ms.grad(lambda x: slope(x).sum())(x)
        zero = ops.zeros((1,))
        begins = ops.square(u(zero)) + ops.square(slope(zero) - 1.0)
        return ops.mean(ops.square(bent + u(x))) + begins.sum()

    step = compiled_step(loss, nn.Adam(net.trainable_params(), 5e-3))
    points = ms.Tensor(np.linspace(0, np.pi, 32).astype(np.float32))
    losses = [step(points).item() for _ in range(10 if quick else 2000)]
    off = np.abs(u(points).asnumpy() - np.sin(points.asnumpy())).max()
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.6f}; at most {off:.4f} from the sine")


if __name__ == "__main__":
    main()
