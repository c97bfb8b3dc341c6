"""Datasets of small images that come as whole arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .files import dice, idx, matlab, put


def mnist(root: Path) -> None:
    rng = dice("mnist")
    for stem, count in (("train", 5), ("t10k", 3)):
        idx(root / f"{stem}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28)).astype(np.uint8))
        idx(root / f"{stem}-labels-idx1-ubyte", rng.integers(0, 10, count).astype(np.uint8))


def emnist(root: Path) -> None:
    rng = dice("emnist")
    for name in ("mnist", "letters"):
        for part, count in (("train", 4), ("test", 2)):
            stem = f"emnist-{name}-{part}"
            idx(root / f"{stem}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28)).astype(np.uint8))
            idx(root / f"{stem}-labels-idx1-ubyte", rng.integers(1, 10, count).astype(np.uint8))


def qmnist(root: Path) -> None:
    rng = dice("qmnist")
    for part, count in (("qmnist-train", 4), ("qmnist-test", 3), ("xnist", 2)):
        idx(root / f"{part}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28)).astype(np.uint8))
        idx(root / f"{part}-labels-idx2-int", rng.integers(0, 10, (count, 8)).astype(np.int32))


def cifar10(root: Path, count: int = 3) -> None:
    rng = dice("cifar10")
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        rows = rng.integers(0, 256, (count, 3073)).astype(np.uint8)
        rows[:, 0] %= 10
        put(root / f"{name}.bin", rows.tobytes())


def cifar100(root: Path, count: int = 4) -> None:
    rng = dice("cifar100")
    for name in ("train", "test"):
        rows = rng.integers(0, 256, (count, 3074)).astype(np.uint8)
        rows[:, 0] %= 20
        rows[:, 1] %= 100
        put(root / f"{name}.bin", rows.tobytes())


def _sparse(path: Path, rng: np.random.Generator, count: int, size: int, labels: list[int]) -> None:
    """A file of as many records as the published one has, of which the first three and the last are not zero."""
    with path.open("wb") as file:
        for place in (0, 1, 2, count - 1):
            row = rng.integers(0, 256, size).astype(np.uint8)
            row[: len(labels)] %= np.array(labels, np.uint8)
            file.seek(place * size)
            file.write(row.tobytes())


def cifar10_whole(root: Path) -> None:
    """CIFAR-10 in full length: MindSpore reads nothing shorter."""
    root.mkdir()
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        _sparse(root / f"{name}.bin", dice(name), 10000, 3073, [10])


def cifar100_whole(root: Path) -> None:
    """CIFAR-100 in full length."""
    root.mkdir()
    for name, count in (("train", 50000), ("test", 10000)):
        _sparse(root / f"{name}.bin", dice(name), count, 3074, [20, 100])


def stl10(root: Path) -> None:
    rng = dice("stl10")
    for part, count in (("train", 3), ("test", 2), ("unlabeled", 1)):
        put(root / f"{part}_X.bin", rng.integers(0, 256, (count, 3, 96, 96)).astype(np.uint8).tobytes())
        if part != "unlabeled":
            put(root / f"{part}_y.bin", rng.integers(1, 11, count).astype(np.uint8).tobytes())


def usps(root: Path) -> None:
    rng = dice("usps")
    for name, count in (("usps", 3), ("usps.t", 2)):
        told = []
        for _ in range(count):
            cells = " ".join(f"{i + 1}:{v:.6f}" for i, v in enumerate(rng.uniform(-1, 1, 256)))
            told.append(f"{rng.integers(1, 11)} {cells} \n")
        put(root / name, "".join(told))


def semeion(root: Path) -> None:
    rng = dice("semeion")
    told = []
    for i in range(3):
        pixels = " ".join(f"{v:.4f}" for v in rng.integers(0, 2, 256))
        told.append(f"{pixels} {' '.join('1' if k == i else '0' for k in range(10))} \n")
    put(root / "semeion.data", "".join(told))


def svhn(root: Path) -> None:
    rng = dice("svhn")
    for part, count in (("train", 4), ("test", 3), ("extra", 2)):
        images = rng.integers(0, 256, (32, 32, 3, count)).astype(np.uint8)
        matlab(root / f"{part}_32x32.mat", X=images, y=(10 - np.arange(count, dtype=np.uint8))[:, None])
