"""Small images that come as whole arrays: the MNIST family, CIFAR, STL-10, SVHN, USPS, Semeion, made-up ones."""

from __future__ import annotations

import bz2
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.dataset.plan import Data
from mycelia.dataset.random import generator_for
from mycelia.dataset.readers.base import COMMON, SAMPLED, TEXT, Reader, lines_of
from mycelia.dataset.readers.folders import matlab
from mycelia.dataset.sources import ArrayData
from mycelia.errors import ArgumentError
from mycelia.mindrecord.formats import cifar_batches, find, read_idx
from mycelia.types import Array


def idx_pair(folder: str | Path, stems: list[str], separator: str = "-") -> Data:
    """Images and labels of idx files whose names begin with the given stems."""
    images, labels = [], []
    for stem in stems:
        names = [f"{stem}{separator}images{mark}idx3-ubyte" for mark in ("-", ".")]
        images.append(read_idx(find(folder, *names))[..., np.newaxis])
        names = [f"{stem}{separator}labels{mark}idx1-ubyte" for mark in ("-", ".")]
        labels.append(read_idx(find(folder, *names)).astype(np.uint32))
        if len(images[-1]) != len(labels[-1]):
            given = {"folder": str(folder), "images": len(images[-1]), "labels": len(labels[-1])}
            raise DataError("there are not as many labels as images", given=given)
    return ArrayData({"image": np.concatenate(images), "label": np.concatenate(labels)})


class MnistDataset(Reader):
    """MNIST's idx files, plain or gzipped; columns image (28, 28, 1) and label."""

    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        stems = {"train": ["train"], "test": ["t10k"]}.get(str(usage), ["train", "t10k"])
        return idx_pair(dataset_dir, stems)


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST, in MNIST's files."""


class KMnistDataset(MnistDataset):
    """Kuzushiji-MNIST, in MNIST's files."""


class EMnistDataset(Reader):
    """EMNIST: `emnist-<name>-train-images-idx3-ubyte` and so on."""

    words = f"dataset_dir, name, usage=None, {COMMON}, {SAMPLED}"
    usages = ("train", "test", "all")
    names = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")

    def open(self, dataset_dir: str, name: str, usage: str | None) -> Data:  # type: ignore[override]
        if name not in self.names:
            raise ArgumentError(f"EMNIST has no part {name!r}", hint=f"name is one of {self.names}")
        parts = ["train", "test"] if usage in (None, "all") else [str(usage)]
        return idx_pair(dataset_dir, [f"emnist-{name}-{part}" for part in parts])


class QMnistDataset(Reader):
    """QMNIST: images as MNIST's, labels with eight numbers each; `compat` keeps only the class."""

    words = f"dataset_dir, usage=None, compat=True, {COMMON}, {SAMPLED}"
    usages = ("train", "test", "test10k", "test50k", "nist", "all")

    def open(self, dataset_dir: str, usage: str | None, compat: bool) -> Data:  # type: ignore[override]
        parts = {"train": ["train"], "nist": ["xnist"], None: ["train", "test"], "all": ["train", "test", "xnist"]}
        images, labels = [], []
        for part in parts.get(usage, ["test"]):
            images.append(read_idx(find(dataset_dir, f"qmnist-{part}-images-idx3-ubyte"))[..., np.newaxis])
            labels.append(read_idx(find(dataset_dir, f"qmnist-{part}-labels-idx2-int")).astype(np.uint32))
        image, label = np.concatenate(images), np.concatenate(labels)
        cut = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}.get(str(usage), slice(None))
        return ArrayData({"image": image[cut], "label": label[cut, 0] if compat else label[cut]})


class Cifar10Dataset(Reader):
    """CIFAR-10, the binary or the Python version; columns image (32, 32, 3) and label."""

    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        images, labels = zip(*cifar_batches(dataset_dir, usage or "all", hundred=False), strict=True)
        whole = np.ascontiguousarray(np.concatenate(images))
        return ArrayData({"image": whole, "label": np.concatenate(labels)[:, 0]})


class Cifar100Dataset(Reader):
    """CIFAR-100, the binary or the Python version; columns image, coarse_label and fine_label."""

    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        images, labels = zip(*cifar_batches(dataset_dir, usage or "all", hundred=True), strict=True)
        label = np.concatenate(labels)
        whole = np.ascontiguousarray(np.concatenate(images))
        return ArrayData({"image": whole, "coarse_label": label[:, 0], "fine_label": label[:, 1]})


class STL10Dataset(Reader):
    """STL-10: `train_X.bin`, `train_y.bin` and so on; images are stored by columns. Unlabelled ones have label -1."""

    usages = ("train", "test", "unlabeled", "train+unlabeled", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["train", "test"] if usage is None else usage.split("+")
        parts = ["train", "test", "unlabeled"] if usage == "all" else parts
        images, labels = [], []
        for part in parts:
            raw = np.fromfile(find(dataset_dir, f"{part}_X.bin"), np.uint8)
            if len(raw) % 27648:
                given = {"file": f"{part}_X.bin", "bytes": len(raw)}
                raise DataError("an STL-10 file does not have whole images", given=given)
            images.append(raw.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1))
            known = part != "unlabeled"
            classes = np.fromfile(find(dataset_dir, f"{part}_y.bin"), np.uint8) if known else np.zeros(len(images[-1]))
            labels.append(classes.astype(np.int32) - 1)
        return ArrayData({"image": np.ascontiguousarray(np.concatenate(images)), "label": np.concatenate(labels)})


class SVHNDataset(Reader):
    """SVHN, cropped digits: `train_32x32.mat` and its kin; needs SciPy. The label of the digit 0 is 0."""

    words = (
        "dataset_dir, usage=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None,"
        " num_shards=None, shard_id=None"
    )
    usages = ("train", "test", "extra", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["train", "test", "extra"] if usage in (None, "all") else [str(usage)]
        told = [matlab(find(dataset_dir, f"{part}_32x32.mat")) for part in parts]
        images = np.concatenate([t["X"].transpose(3, 0, 1, 2) for t in told])
        labels = np.concatenate([t["y"].ravel() for t in told]).astype(np.uint32) % 10
        return ArrayData({"image": np.ascontiguousarray(images), "label": labels})


class USPSDataset(Reader):
    """USPS in LIBSVM's format: files `usps` and `usps.t`, plain or bzip2; images (16, 16, 1) with levels 0 to 254."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        names = {"train": ["usps"], "test": ["usps.t"]}.get(str(usage), ["usps", "usps.t"])
        images, labels = [], []
        for name in names:
            plain = Path(dataset_dir, name)
            packed = None if plain.exists() else find(dataset_dir, name + ".bz2").read_bytes()
            text = plain.read_text() if packed is None else bz2.decompress(packed).decode()
            for line in text.splitlines():
                label, *cells = line.split()
                values = np.array([float(c.partition(":")[2]) for c in cells])
                images.append((((values + 1) / 2) * 255).astype(np.uint8).reshape(16, 16, 1))
                labels.append(int(label) - 1)
        return ArrayData({"image": np.stack(images), "label": np.array(labels, np.uint32)})


class SemeionDataset(Reader):
    """Semeion handwritten digits: `semeion.data`, 256 pixels and 10 class marks per line."""

    words = f"dataset_dir, {COMMON}, {SAMPLED}"

    def open(self, dataset_dir: str) -> Data:  # type: ignore[override]  # its own arguments
        rows = np.array([line.split() for line in lines_of(Path(dataset_dir, "semeion.data"))], float)
        if rows.ndim != 2 or rows.shape[1] != 266:
            raise DataError("semeion.data has 266 numbers per line", given={"folder": dataset_dir, "shape": rows.shape})
        images = rows[:, :256].astype(np.uint8).reshape(-1, 16, 16)
        return ArrayData({"image": images, "label": rows[:, 256:].argmax(axis=1).astype(np.uint32)})


class FakeImageDataset(Reader):
    """Random images and labels, for trying things out; a sample depends on its number and `base_seed` only."""

    words = f"num_images=1000, image_size=(224,224,3), num_classes=10, base_seed=0, {COMMON}, {SAMPLED}"

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, num_images: int, image_size: tuple[int, ...], num_classes: int, base_seed: int
    ) -> Data:
        return FakeData(num_images, tuple(image_size), num_classes, base_seed)


class FakeData:
    """Images of noise."""

    columns = ("image", "label")

    def __init__(self, count: int, shape: tuple[int, ...], classes: int, seed: int) -> None:
        self.count, self.shape, self.classes, self.seed = count, shape, classes, seed

    def __len__(self) -> int:
        return self.count

    def fetch(self, index: int) -> tuple[Any, ...]:
        rng = generator_for(self.seed, index)
        return rng.integers(0, 256, self.shape, np.uint8), np.array(rng.integers(self.classes), np.uint32)

    def gather(self, indices: Array) -> tuple[Any, ...] | None:
        return None

    def where(self, index: int) -> str:
        return f"made-up image {index}"

    def labels(self, column: str) -> Array:
        return np.array([self.fetch(i)[self.columns.index(column)] for i in range(self.count)])
