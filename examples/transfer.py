"""Transfer learning: what was learnt of the digits 0 to 4 helps to tell 5 to 9 from a few examples.

The weights go through a checkpoint; the convolutions rest, and a new last layer is learnt. `--quick` makes less of it.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import LeNet, compiled_step, freeze

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="use what was learnt elsewhere")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    found = np.load(DATA)
    rng = np.random.default_rng(0)

    def part(name: str, high: bool, count: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        labels = found[f"{name}_labels"].astype(np.int32)
        chosen = np.flatnonzero((labels >= 5) == high)[:count]
        return (found[f"{name}_images"][chosen][:, None] / 255).astype(np.float32), labels[chosen] % 5

    def trained(net: nn.Cell, data: tuple[np.ndarray, np.ndarray], steps: int) -> None:
        step = compiled_step(lambda x, y: ops.cross_entropy(net(x), y), nn.Adam(net.trainable_params(), 2e-3))
        for _ in range(steps):
            chosen = rng.integers(0, len(data[0]), 32)
            step(ms.Tensor(data[0][chosen]), ms.Tensor(data[1][chosen]))

    def share(net: nn.Cell) -> float:
        images, labels = part("test", True)
        return float((net(ms.Tensor(images)).asnumpy().argmax(1) == labels).mean())

    steps, few = (4, 20) if quick else (300, 50)
    first = LeNet(5)
    trained(first, part("train", False), steps)
    path = str(Path(tempfile.mkdtemp()) / "first.ckpt")
    ms.save_checkpoint(first, path)
    fresh, moved = LeNet(5), LeNet(5)
    trained(fresh, part("train", True, few), steps)
    ms.load_param_into_net(moved, ms.load_checkpoint(path))
    resting = freeze([moved.features])
    trained(moved, part("train", True, few), steps)
    print(f"from {few} examples alone {share(fresh):.1%}, with what was learnt before {share(moved):.1%}")
    print(f"{resting} weights rested")


if __name__ == "__main__":
    main()
