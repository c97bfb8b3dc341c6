"""Teach a small convolutional network to read handwritten digits: first eagerly, then compiled.

python examples/digits.py            two trainings of eight epochs each
python examples/digits.py --quick    a few steps, to see that it runs
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path

import numpy as np

import mycelia as ms
from mycelia import nn, ops

ROOT = Path(__file__).resolve().parents[1]
BATCH = 50


class Reader(nn.Cell):
    """Two convolutions, and two dense layers that decide."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.SequentialCell(
            nn.Conv2d(1, 16, 5, has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),  # 28 x 28 pixels become 14 x 14
            nn.Conv2d(16, 32, 5, has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),  # and then 7 x 7
            nn.Flatten(),
        )  # fmt: skip
        self.forget = nn.Dropout(p=0.5)
        self.hidden = nn.Dense(32 * 7 * 7, 128)
        self.scores = nn.Dense(128, 10)

    def construct(self, images: ms.Tensor) -> ms.Tensor:
        return self.scores(ops.relu(self.hidden(self.forget(self.seen(images)))))


@dataclass(frozen=True)
class Digits:
    """Images, with mean 0 and variance 1 over all pixels, and what they show."""

    images: np.ndarray
    labels: np.ndarray

    @staticmethod
    def load(part: str, count: int | None = None) -> Digits:
        data = np.load(ROOT / "examples" / "data" / "digits.npz")
        images = (data[f"{part}_images"][:count, None].astype(np.float32) / 255 - 0.1307) / 0.3081
        return Digits(images.astype(np.float32), data[f"{part}_labels"][:count].astype(np.int32))

    def batches(self, order: np.ndarray) -> Iterator[tuple[ms.Tensor, ms.Tensor]]:
        for start in range(0, len(order) - len(order) % BATCH, BATCH):
            chosen = order[start : start + BATCH]
            yield ms.Tensor(self.images[chosen]), ms.Tensor(self.labels[chosen])


@dataclass(frozen=True)
class Report:
    """How a training went."""

    accuracy: float
    first_step: float  # seconds
    speed: float  # samples per second, after the first step


class Bar:
    """A line that shows how far something is; on a terminal it grows, elsewhere it is printed when it is full."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.width = title, total, 30

    def show(self, done: int, words: str) -> None:
        full, grows = done == self.total, sys.stdout.isatty()
        if full or grows:
            filled = self.width * done // self.total
            bar = "█" * filled + "·" * (self.width - filled)
            print(f"{chr(13) * grows}{self.title} {bar} {words}", end="\n" if full else "", flush=True)


def train(net: Reader, data: Digits, test: Digits, epochs: int, compiled: bool) -> Report:
    """Train `net`, and see how well it reads digits that it has not been shown."""
    steps = len(data.labels) // BATCH
    loss_fn = nn.CrossEntropyLoss()
    rate = nn.CosineDecayLR(0.0, 2e-3, epochs * steps)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=rate)

    def forward(images: ms.Tensor, labels: ms.Tensor) -> ms.Tensor:
        return loss_fn(net(images), labels)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    def train_step(images: ms.Tensor, labels: ms.Tensor) -> ms.Tensor:
        loss, gradients = grad_fn(images, labels)
        optimizer(gradients)
        return loss

    step: Callable[[ms.Tensor, ms.Tensor], ms.Tensor] = ms.jit(train_step) if compiled else train_step
    shuffle = np.random.default_rng(0)
    first, spent = 0.0, 0.0
    net.set_train()
    for epoch in range(epochs):
        bar = Bar(f"  epoch {epoch + 1}/{epochs}", steps)
        for done, (images, labels) in enumerate(data.batches(shuffle.permutation(len(data.labels))), 1):
            start = time.perf_counter()
            loss = step(images, labels).item()
            took = time.perf_counter() - start
            first, spent = (first or took), (spent + took if first else 0.0)
            bar.show(done, f"loss {loss:.3f}")
    samples = (epochs * steps - 1) * BATCH
    return Report(accuracy(net, test, compiled), first, samples / spent if spent else 0.0)


def accuracy(net: Reader, data: Digits, compiled: bool = False) -> float:
    """The share of digits that the network reads right."""
    net.set_train(False)
    scores = ms.jit(net) if compiled else net
    batches = data.batches(np.arange(len(data.labels)))
    right = [np.mean(scores(images).asnumpy().argmax(1) == labels.asnumpy()) for images, labels in batches]
    return float(np.mean(right))


def main() -> None:
    """Both trainings, a comparison, and the saved model."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--epochs", type=int, default=8)
    options.add_argument("--quick", action="store_true", help="a few steps only")
    options.add_argument("--model", type=Path, default=ROOT / "build" / "digits.safetensors", help="where to save it")
    given = options.parse_args()
    epochs, count = (1, 4 * BATCH) if given.quick else (given.epochs, None)
    data, test = Digits.load("train", count), Digits.load("test", count)
    print(f"{len(data.labels)} digits to learn from, {len(test.labels)} to be tested on")

    reports, net = {}, Reader()
    for way in ("eager", "compiled"):
        ms.set_seed(1)
        net = Reader()
        print(f"{way}:")
        report = reports[way] = train(net, data, test, epochs, compiled=way == "compiled")
        print(f"  reads {report.accuracy:.1%} of the test digits; first step {report.first_step:.2f} s, ", end="")
        print(f"then {report.speed:,.0f} samples/s")
    print(f"compiled is {reports['compiled'].speed / reports['eager'].speed:.1f} times as fast as eager")

    ms.save_checkpoint(net, given.model, format="safetensors")
    again = Reader()
    ms.load_param_into_net(again, ms.load_checkpoint(given.model), strict_load=True)
    print(f"saved as {relpath(given.model)}; loaded again it reads {accuracy(again, test):.1%}")


if __name__ == "__main__":
    main()
