"""Training in 32 and in 16 bits, beside each other: `python benchmarks/mixed_precision.py [--runs 5] [mlp lenet gpt]`.

Real data in equal batches: the loss at the end, as a mean over the last 20 of 200 steps, and the time of a step. One
training is no measure of a loss: rounding sets it on another way, on which it ends a few percent off. "float32, moved"
tells how far: its first weights differ by a millionth. So losses are means over several runs, with other first weights
and other batches, and the least and the greatest difference stand behind.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

import mycelia as ms
from mycelia import amp, nn
from mycelia.models import GPT

STEPS = 200
DATA = Path(__file__).resolve().parents[1] / "examples" / "data"


class Lenet(nn.Cell):
    """A small network of convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(), nn.Dense(256, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
        )  # fmt: skip

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.layers(x)


def mlp() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10))


def step_of(make: type | object, run: int, way: str, level: str, dtype: object, scaled: bool) -> ms.jit:
    ms.set_seed(1 + run)
    net = make()
    if way.endswith("moved"):
        for p in net.trainable_params():
            p.set_data(ms.Tensor(p.asnumpy() * np.float32(1 + 1e-6)))
    manager = amp.DynamicLossScaleManager(2**10) if scaled else None
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    options = {"cast_model_type": dtype, "loss_scale_manager": manager}
    return ms.jit(amp.build_train_network(net, optimizer, nn.CrossEntropyLoss(), level, **options))


class Letters(nn.Cell):
    """A GPT of letters; the scores of each come as a row."""

    def __init__(self) -> None:
        super().__init__()
        self.gpt = GPT(LETTERS, 64, 2, 4, 64)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.gpt(x).reshape((-1, LETTERS))


TEXT = (DATA / "sonnets.txt").read_text()
LETTERS = len(set(TEXT))


def digits(run: int, flat: bool) -> Iterator[tuple[ms.Tensor, ms.Tensor]]:
    found = np.load(DATA / "digits.npz")
    images = ((found["train_images"] / 255 - 0.1307) / 0.3081).astype(np.float32)
    images = images.reshape(-1, 784) if flat else images[:, None]
    rng = np.random.default_rng(run)
    while True:
        chosen = rng.integers(0, len(images), 128)
        yield ms.Tensor(images[chosen]), ms.Tensor(found["train_labels"][chosen].astype(np.int32))


def letters(run: int) -> Iterator[tuple[ms.Tensor, ms.Tensor]]:
    order = sorted(set(TEXT))
    numbers = np.array([order.index(c) for c in TEXT], np.int32)
    rng = np.random.default_rng(run)
    while True:
        pieces = np.stack([numbers[s : s + 65] for s in rng.integers(0, len(numbers) - 65, 16)])
        yield ms.Tensor(pieces[:, :-1].copy()), ms.Tensor(pieces[:, 1:].reshape(-1).copy())


WAYS = {
    "float32": ("O0", ms.float16, False),
    "float32, moved": ("O0", ms.float16, False),
    "float32, scaled": ("O0", ms.float16, True),
    "float16 O2": ("O2", ms.float16, False),
    "float16 O2, scaled": ("O2", ms.float16, True),
    "bfloat16 O1": ("O1", ms.bfloat16, False),
    "bfloat16 O2": ("O2", ms.bfloat16, False),
}
CASES = {
    "mlp": (mlp, lambda run: digits(run, True)),
    "lenet": (Lenet, lambda run: digits(run, False)),
    "gpt": (Letters, letters),
}


def trained(name: str, run: int, times: dict[str, list[float]]) -> dict[str, float]:
    """The loss at the end of a training, each way; the times of steps are noted."""
    make, feed = CASES[name]
    steps = {way: step_of(make, run, way, *options) for way, options in WAYS.items()}
    feeds = {way: feed(run) for way in WAYS}
    losses: dict[str, list[float]] = {way: [] for way in WAYS}
    for count in range(STEPS):
        for way, step in steps.items():  # in turns: what disturbs one disturbs all
            x, y = next(feeds[way])
            begin = perf_counter()
            out = step(x, y)
            loss = (out[0] if isinstance(out, tuple) else out).item()
            if count >= 20:
                times[way].append(perf_counter() - begin)
            losses[way].append(loss)
    return {way: float(np.mean(losses[way][-20:])) for way in WAYS}


def main() -> None:
    parser = argparse.ArgumentParser(description="Training in 32 and in 16 bits.")
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    for name in asked.cases or CASES:
        times: dict[str, list[float]] = {way: [] for way in WAYS}
        ended = [trained(name, run, times) for run in range(asked.runs)]
        took = {way: float(np.median(times[way])) for way in WAYS}
        for way in WAYS:
            off = [end[way] / end["float32"] - 1 for end in ended]
            loss = np.mean([end[way] for end in ended])
            told = f"loss {loss:.4f}  {np.mean(off):+.2%} ({min(off):+.2%} to {max(off):+.2%})"
            print(
                f"{name:6} {way:20} {took[way] * 1e3:8.3f} ms  {took[way] / took['float32']:.2f} of float32   {told}",
                flush=True,
            )


if __name__ == "__main__":
    main()
