"""A classifier of handwritten digits with augmentation, early stopping, and a training that can be resumed.

python examples/augmented.py --folder run    interrupted, the same command goes on where it stood
python examples/augmented.py --quick         a few steps, to see that it runs
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn
from mycelia.dataset import vision
from mycelia.models import LeNet
from mycelia.train import BackupAndRestore, EarlyStopping, History, Model

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"


def digits(part: str, count: int | None, size: int) -> ds.Dataset:
    """Batches of pictures and what they show; those to learn from are turned and shifted a little, each time anew."""
    found = np.load(DATA)
    images, labels = found[f"{part}_images"][:count, :, :, None], found[f"{part}_labels"][:count].astype(np.int32)
    rows = ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=part == "train")
    if part == "train":
        rows = rows.map([vision.RandomAffine(10, (0.08, 0.08), (0.9, 1.1))], "image")
    return rows.map([vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()], "image").batch(size)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="digits with augmentation")
    parser.add_argument("--quick", action="store_true", help="a few steps, to see that it runs")
    parser.add_argument("--folder", type=Path, help="where the training is kept (a temporary folder)")
    asked = parser.parse_args(arguments)
    folder = asked.folder or Path(tempfile.mkdtemp())
    ms.set_seed(1)
    count, epochs = (64, 2) if asked.quick else (None, 20)
    net = LeNet()
    model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 2e-3), metrics={"accuracy"})
    history, patience = History(), EarlyStopping("accuracy", patience=3, restore_best_weights=True)
    learning, testing = digits("train", count, 32), digits("test", count, 64)
    model.fit(epochs, learning, testing, callbacks=[history, patience, BackupAndRestore(str(folder))])
    for epoch, share in enumerate(history.history["accuracy"], 1):
        print(f"epoch {epoch}: reads {share:.1%} of the test digits")


if __name__ == "__main__":
    main()
