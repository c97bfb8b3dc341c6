"""Small images that come as whole arrays: the MNIST family, CIFAR, STL-10, SVHN, USPS, Semeion, made-up ones."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import choice
from mycelia.dataset.errors import DataError
from mycelia.dataset.plan.origins import Data
from mycelia.dataset.random import generator_for
from mycelia.dataset.readers.base import COMMON, SAMPLED, TEXT, Reader, file_of
from mycelia.dataset.readers.lines import parsed, parsed_line, text_of
from mycelia.dataset.sources.memory import ArrayData
from mycelia.errors import ArgumentError
from mycelia.mindrecord.formats import cifar_batches, read_idx
from mycelia.mindrecord.limits import unfolded
from mycelia.mindrecord.matlab import matlab_numbers
from mycelia.plainfiles import array_of
from mycelia.types import Array


def idx_file(folder: str | Path, *names: str) -> tuple[Path, Array]:
    """An idx file by one of its names, plain or gzipped, and its array.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "a"); _ = place.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]))
    >>> idx_file(place.parent, "b", "a")[1].tolist()
    [7, 9]
    """
    path = Path(file_of(folder, *names))
    try:
        return path, read_idx(path)
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise DataError(f"an idx file is damaged: {error}", given={"file": str(path)}) from error


def within(labels: Array, low: int, high: int, path: Path) -> Array:
    """Labels, or an error that names the first one out of range.

    >>> within(np.array([3, 4]), 0, 9, Path("labels")).tolist()
    [3, 4]
    """
    wrong = np.flatnonzero((labels < low) | (labels > high))
    if len(wrong):
        where = {"file": str(path), "index": int(wrong[0]), "label": int(labels[wrong[0]])}
        raise DataError(f"a label is not between {low} and {high}", given=where)
    return labels


def check_counts(images: Array, labels: Array, path: Path) -> None:
    """Raise unless there are as many labels as images.

    >>> check_counts(np.zeros((2, 5)), np.zeros(3), Path("labels"))
    Traceback (most recent call last):
    mycelia.dataset.errors.DataError: there are not as many labels as images...
    """
    if len(images) != len(labels):
        given = {"labels in": str(path), "images": len(images), "labels": len(labels)}
        raise DataError("there are not as many labels as images", given=given)


def there(folder: str | Path, parts: dict[str, str]) -> list[str]:
    """The parts of a dataset whose files are there, by a pattern for each; all of them if there is none.

    >>> there("no such folder", {"train": "a*", "test": "b*"})
    ['train', 'test']
    """
    found = [part for part, pattern in parts.items() if any(Path(folder).glob(pattern))]
    return found or list(parts)


def _idx_pair(folder: str | Path, stems: list[str], classes: int) -> Data:
    """Images and labels of idx files whose names begin with the given stems."""
    images, labels = [], []
    for stem in stems:
        images.append(idx_file(folder, *(f"{stem}-images{mark}idx3-ubyte" for mark in ("-", ".")))[1][..., np.newaxis])
        path, numbers = idx_file(folder, *(f"{stem}-labels{mark}idx1-ubyte" for mark in ("-", ".")))
        check_counts(images[-1], numbers, path)
        labels.append(within(numbers, 0, classes - 1, path).astype(np.uint32))
    return ArrayData({"image": np.concatenate(images), "label": np.concatenate(labels)})


class MnistDataset(Reader):
    """MNIST's idx files, plain or gzipped; columns image (28, 28, 1) and label. The test part comes first in `all`."""

    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        stems = {"train": ["train"], "test": ["t10k"]}.get(str(usage))
        return _idx_pair(
            dataset_dir, stems or there(dataset_dir, {"t10k": "t10k-images*", "train": "train-images*"}), 10
        )


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST, in MNIST's files."""


class KMnistDataset(MnistDataset):
    """Kuzushiji-MNIST, in MNIST's files."""


class EMnistDataset(Reader):
    """EMNIST: `emnist-<name>-train-images-idx3-ubyte` and so on."""

    words = f"dataset_dir, name, usage=None, {COMMON}, {SAMPLED}"
    usages = ("train", "test", "all")
    names = {"byclass": 62, "bymerge": 47, "balanced": 47, "letters": 27, "digits": 10, "mnist": 10}

    def open(self, dataset_dir: str, name: str, usage: str | None) -> Data:  # type: ignore[override]
        choice(self, "name", name, tuple(self.names))
        parts = ["test", "train"] if usage in (None, "all") else [str(usage)]
        return _idx_pair(dataset_dir, [f"emnist-{name}-{part}" for part in parts], self.names[name])


class QMnistDataset(Reader):
    """QMNIST: images as MNIST's, labels with eight numbers each; `compat` keeps only the class."""

    words = f"dataset_dir, usage=None, compat=True, {COMMON}, {SAMPLED}"
    usages = ("train", "test", "test10k", "test50k", "nist", "all")

    def open(self, dataset_dir: str, usage: str | None, compat: bool) -> Data:  # type: ignore[override]
        every = ["qmnist-train", "qmnist-test", "xnist"]
        parts = {"train": every[:1], "nist": every[2:], "None": every, "all": every}.get(str(usage), every[1:2])
        images, labels = [], []
        for part in parts:
            images.append(idx_file(dataset_dir, f"{part}-images-idx3-ubyte")[1][..., np.newaxis])
            path, numbers = idx_file(dataset_dir, f"{part}-labels-idx2-int")
            check_counts(images[-1], numbers, path)
            labels.append(numbers.astype(np.uint32))
        image, label = np.concatenate(images), np.concatenate(labels)
        cut = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}.get(str(usage), slice(None))
        return ArrayData({"image": image[cut], "label": label[cut, 0] if compat else label[cut]})


def _cifar(folder: str, parts: Sequence[str], classes: tuple[int, ...]) -> tuple[Array, Array]:
    """Images and labels of CIFAR's parts, one after the other."""
    try:
        found = [batch for part in parts for batch in cifar_batches(folder, part, hundred=len(classes) == 2)]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"a CIFAR file is damaged: {error}", given={"folder": folder}) from error
    labels = np.concatenate([label for _, label in found])
    for column, count in enumerate(classes):
        within(labels[:, column], 0, count - 1, Path(folder))
    return np.ascontiguousarray(np.concatenate([image for image, _ in found])), labels


class Cifar10Dataset(Reader):
    """CIFAR-10, the binary or the Python version; columns image (32, 32, 3) and label."""

    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        every = there(dataset_dir, {"train": "data_batch_1*", "test": "test_batch*"})
        parts = every if usage in (None, "all") else [str(usage)]
        images, labels = _cifar(dataset_dir, parts, (10,))
        return ArrayData({"image": images, "label": labels[:, 0]})


class Cifar100Dataset(Reader):
    """CIFAR-100, the binary or the Python version; columns image, coarse_label and fine_label."""

    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        every = there(dataset_dir, {"test": "test*", "train": "train*"})
        parts = every if usage in (None, "all") else [str(usage)]
        images, labels = _cifar(dataset_dir, parts, (20, 100))
        return ArrayData({"image": images, "coarse_label": labels[:, 0], "fine_label": labels[:, 1]})


class STL10Dataset(Reader):
    """STL-10: `train_X.bin`, `train_y.bin` and so on; images are stored by columns. Unlabelled ones have label -1."""

    usages = ("train", "test", "unlabeled", "train+unlabeled", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["test", "train", "unlabeled"] if usage in (None, "all") else str(usage).split("+")
        images, labels = [], []
        for part in parts:
            path = Path(file_of(dataset_dir, f"{part}_X.bin"))
            raw = array_of(path)
            if len(raw) % 27648:
                given = {"file": str(path), "bytes": len(raw), "an image has": 27648}
                raise DataError("an STL-10 file does not have whole images", given=given)
            images.append(raw.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1))
            if part == "unlabeled":
                labels.append(np.full(len(images[-1]), -1, np.int32))
                continue
            path = Path(file_of(dataset_dir, f"{part}_y.bin"))
            classes = array_of(path)
            check_counts(images[-1], classes, path)
            labels.append(within(classes, 1, 10, path).astype(np.int32) - 1)
        return ArrayData({"image": np.ascontiguousarray(np.concatenate(images)), "label": np.concatenate(labels)})


class SVHNDataset(Reader):
    """SVHN, cropped digits: `train_32x32.mat` and its kin. The label of the digit 0 is 0."""

    words = (
        "dataset_dir, usage=None, num_samples=None, num_parallel_workers=1, shuffle=None, sampler=None,"
        " num_shards=None, shard_id=None"
    )
    usages = ("train", "test", "extra", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        parts = ["train", "test", "extra"] if usage in (None, "all") else [str(usage)]
        images, labels = [], []
        for part in parts:
            path = Path(file_of(dataset_dir, f"{part}_32x32.mat"))
            pictures, numbers = matlab_numbers(path, "X", "y")
            if pictures.ndim != 4:
                raise DataError("X is not (32, 32, 3, count)", given={"file": str(path), "shape": pictures.shape})
            images.append(pictures.transpose(3, 0, 1, 2))
            check_counts(images[-1], numbers.ravel(), path)
            labels.append(within(numbers.ravel(), 0, 10, path).astype(np.uint32) % 10)
        return ArrayData({"image": np.ascontiguousarray(np.concatenate(images)), "label": np.concatenate(labels)})


class USPSDataset(Reader):
    """USPS in LIBSVM's format: files `usps` and `usps.t`, plain or bzip2; images (16, 16, 1) with levels 0 to 254."""

    words = f"dataset_dir, usage=None, {TEXT}"
    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None) -> Data:  # type: ignore[override]  # its own arguments
        names = {"train": ["usps"], "test": ["usps.t"]}.get(str(usage), ["usps", "usps.t"])
        images, labels = [], []
        for name in names:
            plain = Path(dataset_dir, name)
            path = plain if plain.exists() else Path(file_of(dataset_dir, name, name + ".bz2"))
            for number, line in enumerate(self._text(path).splitlines(), 1):
                image, label = parsed_line(path, number, line, self._digit, "a class from 1 to 10 and 256 levels")
                images.append(image)
                labels.append(label)
            if not images:
                raise DataError("a list is empty", given={"file": str(path)})
        return ArrayData({"image": np.array(images), "label": np.array(labels, np.uint32)})

    @staticmethod
    def _text(path: Path) -> str:
        if path.suffix != ".bz2":
            return text_of(path)
        try:
            return unfolded(path, "BZ2").decode("ascii")
        except (OSError, EOFError, ValueError) as error:
            raise DataError(f"a bzip2 file is damaged: {error}", given={"file": str(path)}) from error

    @staticmethod
    def _digit(line: str) -> tuple[Array, int]:
        label, *cells = line.split()
        values = np.array([float(c.partition(":")[2]) for c in cells])
        if not 1 <= int(label) <= 10:
            raise ValueError(label)
        return (((values + 1) / 2) * 255).astype(np.uint8).reshape(16, 16, 1), int(label) - 1


class SemeionDataset(Reader):
    """Semeion handwritten digits: `semeion.data`, 256 pixels and 10 class marks per line."""

    words = f"dataset_dir, {COMMON}, {SAMPLED}"

    def open(self, dataset_dir: str) -> Data:  # type: ignore[override]  # its own arguments
        rows = parsed(Path(dataset_dir, "semeion.data"), self._digit, "256 pixels and 10 class marks")
        return ArrayData({
            "image": np.array([image for image, _ in rows]), "label": np.array([n for _, n in rows], np.uint32)
        })  # fmt: skip

    @staticmethod
    def _digit(line: str) -> tuple[Array, int]:
        cells = np.array(line.split(), float)
        if len(cells) != 266 or cells[256:].sum() != 1:
            raise ValueError(len(cells))
        return cells[:256].astype(np.uint8).reshape(16, 16), int(cells[256:].argmax())


class FakeImageDataset(Reader):
    """Random images and labels, for trying things out; a sample depends on its number and `base_seed` only."""

    words = f"num_images=1000, image_size=(224,224,3), num_classes=10, base_seed=0, {COMMON}, {SAMPLED}"

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, num_images: int, image_size: tuple[int, ...], num_classes: int, base_seed: int
    ) -> Data:
        shape = tuple(image_size)
        if num_images < 1 or num_classes < 1 or len(shape) != 3 or min(shape) < 1:
            given = {"num_images": num_images, "image_size": image_size, "num_classes": num_classes}
            raise ArgumentError("made-up images need sizes above 0, and image_size three of them", given=given)
        return FakeData(num_images, shape, num_classes, base_seed)


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
