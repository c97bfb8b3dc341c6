"""LeNet reads handwritten digits: Model, callbacks, an evaluation after each epoch, and a training that can be resumed.

python examples/lenet.py              six epochs
python examples/lenet.py --quick      two small ones, to see that it runs
python examples/lenet.py --level O2   the same in 16 bits where that is enough

Interrupted (Ctrl-C, kill, a power cut), the same command goes on where it stood.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn
from mycelia.train import (
    BackupAndRestore,
    CheckpointConfig,
    EarlyStopping,
    History,
    Model,
    ModelCheckpoint,
    ReduceLROnPlateau,
    TimeMonitor,
)

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"


class LeNet(nn.Cell):
    """Two convolutions and three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(),
        )  # fmt: skip
        self.decided = nn.SequentialCell(
            nn.Dense(16 * 4 * 4, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)
        )

    def construct(self, images: ms.Tensor) -> ms.Tensor:
        return self.decided(self.seen(images))


def digits(part: str, count: int | None, size: int) -> ds.Dataset:
    """Batches of images, with mean 0 and variance 1 over all pixels, and what they show."""
    found = np.load(DATA)
    images = ((found[f"{part}_images"][:count, None] / 255 - 0.1307) / 0.3081).astype(np.float32)
    labels = found[f"{part}_labels"][:count].astype(np.int32)
    rows = ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=part == "train")
    return rows.batch(size, drop_remainder=part == "train")


def main() -> None:
    parser = argparse.ArgumentParser(description="train LeNet on handwritten digits")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    parser.add_argument("--level", default="O0", choices=("O0", "O1", "O2", "O3"), help="of mixed precision")
    parser.add_argument("--folder", type=Path, help="where checkpoints are kept (a temporary folder)")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp())

    ms.set_seed(1)
    ds.config.set_seed(1)
    count, epochs = (400, 2) if asked.quick else (None, 6)
    learning, testing = digits("train", count, 50), digits("test", count, 200)
    net = LeNet()
    model = Model(
        net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.02, 0.9), metrics={"accuracy"},
        amp_level=asked.level,
    )  # fmt: skip
    history = History()
    best = EarlyStopping("accuracy", patience=3, restore_best_weights=True)
    callbacks = [
        history,
        best,
        ReduceLROnPlateau("accuracy", factor=0.5, patience=2),
        ModelCheckpoint("lenet", str(folder), CheckpointConfig(learning.get_dataset_size(), keep_checkpoint_max=2)),
        TimeMonitor(),
        BackupAndRestore(str(folder / "backup")),
    ]
    model.fit(epochs, learning, testing, callbacks=callbacks)
    for epoch, loss, share in zip(
        history.epoch["epoch"], history.history["net_output"], history.history["accuracy"], strict=True
    ):
        print(f"epoch {epoch}: loss {loss:.4f}, reads {share:.1%} of the test digits")
    first, label = next(iter(testing.create_tuple_iterator(num_epochs=1)))
    said = model.predict(first).asnumpy().argmax(1)
    print(f"the first ten are {label.asnumpy()[:10]}, and are read as {said[:10]}")
    print(f"checkpoints: {', '.join(sorted(p.name for p in folder.glob('*.ckpt')))}")


if __name__ == "__main__":
    main()
