"""Distillation: a small network learns from what a larger one says of every digit, not only from the right answer.

`--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import mycelia as ms
from mycelia import nn, ops
from mycelia.models import LeNet, compiled_step

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"
HEAT = 3.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="learn from a teacher")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    ms.set_seed(1)
    found = np.load(DATA)
    images = (found["train_images"][:, None] / 255).astype(np.float32)
    labels = found["train_labels"].astype(np.int32)
    test, answers = ms.Tensor((found["test_images"][:, None] / 255).astype(np.float32)), found["test_labels"]
    rng = np.random.default_rng(0)

    def trained(net: nn.Cell, loss, steps: int) -> float:
        step = compiled_step(loss, nn.Adam(net.trainable_params(), 2e-3))
        for _ in range(steps):
            chosen = rng.integers(0, len(images), 64)
            step(ms.Tensor(images[chosen]), ms.Tensor(labels[chosen]))
        return float((net(test).asnumpy().argmax(1) == answers).mean())

    def small() -> nn.Cell:
        ms.set_seed(2)
        return nn.SequentialCell(nn.AvgPool2d(2, 2), nn.Flatten(), nn.Dense(196, 16), nn.ReLU(), nn.Dense(16, 10))

    steps = 4 if quick else 500
    teacher, alone, student = LeNet(), small(), small()
    share = trained(teacher, lambda x, y: ops.cross_entropy(teacher(x), y), steps)
    print(f"the teacher reads {share:.1%}")
    print(f"alone it reads {trained(alone, lambda x, y: ops.cross_entropy(alone(x), y), steps):.1%}")

    def taught(x: ms.Tensor, y: ms.Tensor) -> ms.Tensor:
        said = ops.stop_gradient(ops.softmax(teacher(x) / HEAT, -1))
        scores = student(x)
        soft = -ops.mean(ops.sum(said * ops.log_softmax(scores / HEAT, -1), -1)) * HEAT**2
        return 0.7 * soft + 0.3 * ops.cross_entropy(scores, y)

    print(f"taught it reads {trained(student, taught, steps):.1%}")


if __name__ == "__main__":
    main()
