"""Teach a network to tell shapes in photographs: from folders of JPEG files to batches to compiled training steps.

python examples/images.py            draws 2400 pictures in a temporary folder, and learns from them for four epochs
python examples/images.py --quick    a few pictures and steps, to see that it runs

It says how many samples a second the pipeline gives by itself and while it feeds the training, and what it waits for.
Writing the files needs `pip install 'mycelia[data]'`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn, ops
from mycelia.dataset import transforms, vision

SHAPES = ("disc", "ring", "square")
SIDE = 64  # pixels of what the network sees
MEAN, DEVIATION = [127.5] * 3, [64.0] * 3


@dataclass(frozen=True)
class Painter:
    """Draws pictures of many sizes: a shape in one colour, somewhere on a noisy ground of another."""

    random: np.random.Generator

    def picture(self, shape: str) -> np.ndarray:
        height, width = self.random.integers(160, 260, 2)
        radius = self.random.uniform(0.25, 0.4) * min(height, width)
        y, x = np.ogrid[:height, :width]
        dy, dx = y - self.random.uniform(radius, height - radius), x - self.random.uniform(radius, width - radius)
        distance = np.maximum(abs(dy), abs(dx)) * 1.1 if shape == "square" else np.hypot(dy, dx)
        inside = (distance < radius) & (distance > (0.6 * radius if shape == "ring" else -1))
        ground, colour = self.random.uniform(0, 110, 3), self.random.uniform(145, 255, 3)
        noise = self.random.normal(0, 12, (height, width, 1))
        return np.clip(np.where(inside[..., None], colour, ground) + noise, 0, 255).astype(np.uint8)

    def fill(self, folder: Path, count: int) -> None:
        """Write `count` pictures as JPEG files, in a folder for each shape."""
        for number in range(count):
            shape = SHAPES[number % len(SHAPES)]
            (folder / shape).mkdir(parents=True, exist_ok=True)
            vision.write_jpeg(str(folder / shape / f"{number:05d}.jpg"), self.picture(shape), 90)


class Classifier(nn.Cell):
    """Three convolutions, the mean over the picture, and scores."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.SequentialCell(
            nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(32, 32, 3), nn.BatchNorm2d(32), nn.ReLU(),
        )  # fmt: skip
        self.scores = nn.Dense(32, len(SHAPES))

    def construct(self, images: ms.Tensor) -> ms.Tensor:
        return self.scores(ops.mean(self.seen(images), (2, 3)))


def training_batches(folder: Path, batch: int) -> ds.Dataset:
    """Pictures in a new order and with new crops, flips and colours in every epoch."""
    steps = [
        vision.RandomCropDecodeResize(SIDE, scale=(0.6, 1.0)),  # decodes only the part that it needs
        vision.RandomHorizontalFlip(),
        vision.RandomColorAdjust(brightness=0.2, contrast=0.2, saturation=0.2),
        vision.Normalize(MEAN, DEVIATION),
        vision.HWC2CHW(),
    ]
    images = ds.ImageFolderDataset(str(folder), shuffle=True)
    return images.map(steps, "image").map(transforms.TypeCast(ms.int32), "label").batch(batch, drop_remainder=True)


def test_batches(folder: Path, batch: int) -> ds.Dataset:
    """Pictures as they are, in their order."""
    steps = [vision.Decode(), vision.Resize((SIDE, SIDE)), vision.Normalize(MEAN, DEVIATION), vision.HWC2CHW()]
    images = ds.ImageFolderDataset(str(folder), shuffle=False)
    return images.map(steps, "image").map(transforms.TypeCast(ms.int32), "label").batch(batch)


def pipeline_alone(batches: ds.Dataset) -> None:
    """How fast batches come when nobody computes with them, and which step takes the time."""
    rows = batches.create_dict_iterator(num_epochs=1, output_numpy=True)
    start = time.perf_counter()
    count = sum(len(row["label"]) for row in rows)
    speed = count / (time.perf_counter() - start)
    print(f"the pipeline alone gives {speed:,.0f} samples/s; {rows.profile()}")


def train(net: Classifier, batches: ds.Dataset, epochs: int) -> None:
    """Train `net` with one native call for each batch."""
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=3e-3)

    def forward(images: ms.Tensor, labels: ms.Tensor) -> ms.Tensor:
        return loss_fn(net(images), labels)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)

    @ms.jit
    def step(images: ms.Tensor, labels: ms.Tensor) -> ms.Tensor:
        loss, gradients = grad_fn(images, labels)
        optimizer(gradients)
        return loss

    net.set_train()
    rows = batches.create_dict_iterator(num_epochs=epochs)  # the workers of one iterator live for all its epochs
    for epoch in range(epochs):
        start, count, losses = time.perf_counter(), 0, []
        for row in rows:
            losses.append(step(row["image"], row["label"]).item())
            count += len(row["label"])
        speed = count / (time.perf_counter() - start)
        print(f"  epoch {epoch + 1}/{epochs}: loss {np.mean(losses):.3f}, {speed:,.0f} samples/s")
    slowest = rows.profile().bottleneck  # "the reader" is who asks for batches: here, the training
    print(f"while training, the bottleneck is {'the training itself' if slowest == 'the reader' else slowest}")


def accuracy(net: Classifier, batches: ds.Dataset) -> float:
    """The share of pictures whose shape the network tells."""
    net.set_train(False)
    scores = ms.jit(net)
    rows = batches.create_dict_iterator(num_epochs=1)
    right = [scores(row["image"]).asnumpy().argmax(1) == row["label"].asnumpy() for row in rows]
    return float(np.mean(np.concatenate(right)))


def main() -> None:
    """Draw, look at the pipeline, train, test."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--epochs", type=int, default=4)
    options.add_argument("--quick", action="store_true", help="a few pictures and steps only")
    given = options.parse_args()
    count, epochs, batch = (96, 2, 16) if given.quick else (2400, given.epochs, 32)

    ms.set_seed(1)
    ds.config.set_seed(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder, painter = Path(temporary), Painter(np.random.default_rng(0))
        painter.fill(folder / "train", count)
        painter.fill(folder / "test", count // 4)
        print(f"{count} pictures of {', '.join(SHAPES)} to learn from, {count // 4} to be tested on")

        batches = training_batches(folder / "train", batch)
        pipeline_alone(batches)
        net = Classifier()
        train(net, batches, epochs)
        print(f"it tells {accuracy(net, test_batches(folder / 'test', batch)):.1%} of the test pictures")


if __name__ == "__main__":
    main()
