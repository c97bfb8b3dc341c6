"""Images in folders, where the folder is the class; and lists of images with their classes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mycelia.checks import choice
from mycelia.dataset.errors import DataError
from mycelia.dataset.plan.origins import Data
from mycelia.dataset.readers.base import (
    COMMON,
    IMAGES,
    SAMPLED,
    Decrypt,
    Reader,
    Samples,
    files_in,
    i32,
    image_loader,
    inner,
    paths_in,
    subfolders,
    text,
    u32,
)
from mycelia.dataset.readers.lines import lines_of, parsed
from mycelia.dataset.readers.names import FLOWERS
from mycelia.errors import ArgumentError
from mycelia.mindrecord.matlab import matlab_numbers

DECODED = f"{COMMON}, decode=False, {SAMPLED}"


class ImageFolderDataset(Reader):
    """Folders of images, one per class; columns image and label.

    Classes are numbered in the order of their names, or by `class_indexing`.
    """

    words = (
        "dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, extensions=None,"
        " class_indexing=None, decode=False, num_shards=None, shard_id=None, cache=None, decrypt=None"
    )

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self,
        dataset_dir: str,
        extensions: Sequence[str] | None,
        class_indexing: dict[str, int] | None,
        decode: bool,
        decrypt: Decrypt,
    ) -> Data:
        endings = [e.lower() for e in ([extensions] if isinstance(extensions, str) else extensions or IMAGES)]
        names = [p.name for p in subfolders(dataset_dir)]
        classes = class_indexing or {name: i for i, name in enumerate(names)}
        absent = [name for name in classes if name not in names]
        if absent:
            raise ArgumentError(f"class_indexing names folders that are missing: {absent}", given={"there are": names})
        folders = [(Path(dataset_dir, name), classes[name]) for name in names if name in classes]
        rows = [(path, number) for folder, number in folders for path in paths_in(folder, endings)]
        return Samples(("image", "label"), rows, (image_loader(decode, decrypt), i32), classes)


class ManifestDataset(Reader):
    """A manifest: one JSON object per line with `source`, `usage` and `annotation: [{"name": class}]`.

    An image of several classes has an array of labels.
    """

    words = (
        "dataset_file, usage='train', num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None,"
        " class_indexing=None, decode=False, num_shards=None, shard_id=None, cache=None"
    )

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_file: str, usage: str, class_indexing: dict[str, int] | None, decode: bool
    ) -> Data:
        if not isinstance(dataset_file, str | os.PathLike) or not os.path.isfile(dataset_file):
            raise ArgumentError(f"ManifestDataset: there is no file {str(dataset_file)!r}")
        marked = [m for m in parsed(dataset_file, self._marks, "a manifest's JSON object") if m[0] == usage]
        if not marked:
            known = sorted({m[0] for m in parsed(dataset_file, self._marks, "a manifest's JSON object")})
            raise ArgumentError(f"the manifest has no part {usage!r}", given={"file": dataset_file, "parts": known})
        classes = class_indexing or {n: i for i, n in enumerate(sorted({n for m in marked for n in m[2]}))}
        rows: list[tuple[str, int | list[int]]] = []
        for _, path, names in marked:
            numbers = [classes[n] for n in names if n in classes]
            if numbers:
                rows.append((path, numbers[0] if len(numbers) == 1 else numbers))
        return Samples(("image", "label"), rows, (image_loader(decode), i32), classes)

    @staticmethod
    def _marks(line: str) -> tuple[str, str, list[str]]:
        told = json.loads(line)
        return told["usage"], told["source"], [a["name"] for a in told["annotation"]]


class Caltech256Dataset(Reader):
    """Caltech-256: folders `001.ak47` and so on."""

    words = f"dataset_dir, {DECODED}"

    def open(self, dataset_dir: str, decode: bool) -> Data:  # type: ignore[override]
        folders = subfolders(dataset_dir)
        rows = [(path, i) for i, folder in enumerate(folders) for path in paths_in(folder)]
        return Samples(
            ("image", "label"), rows, (image_loader(decode), i32), {f.name: i for i, f in enumerate(folders)}
        )


class SUN397Dataset(Reader):
    """SUN397: `ClassName.txt` lists the class folders, with a letter above each."""

    words = f"dataset_dir, {DECODED}"

    def open(self, dataset_dir: str, decode: bool) -> Data:  # type: ignore[override]
        names = [line.strip().lstrip("/") for line in lines_of(Path(dataset_dir, "ClassName.txt"))]
        rows = [(path, i) for i, name in enumerate(names) for path in paths_in(inner(dataset_dir, name))]
        return Samples(("image", "label"), rows, (image_loader(decode), u32), {n: i for i, n in enumerate(names)})


class Food101Dataset(Reader):
    """Food-101: `meta/train.txt`, `meta/test.txt` and `images/<class>/<number>.jpg`; the label is the class name."""

    words = f"dataset_dir, usage=None, {DECODED}"
    usages = ("train", "test", "all")

    def open(self, dataset_dir: str, usage: str | None, decode: bool) -> Data:  # type: ignore[override]
        parts = ["train", "test"] if usage in (None, "all") else [usage]
        listed = [line.strip() for part in parts for line in lines_of(Path(dataset_dir, "meta", f"{part}.txt"))]
        rows = [(inner(Path(dataset_dir, "images"), f"{name}.jpg"), name.split("/")[0]) for name in listed]
        return Samples(("image", "label"), rows, (image_loader(decode), text))


class Places365Dataset(Reader):
    """Places365: `places365_train_standard.txt` and its kin beside the folders of small or large images."""

    words = f"dataset_dir, usage=None, small=True, decode=False, {COMMON}, {SAMPLED}"
    usages = ("train-standard", "train-challenge", "val")

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, usage: str | None, small: bool, decode: bool
    ) -> Data:
        usage = usage or "train-standard"
        lists = {
            "train-standard": ("places365_train_standard.txt", "data_256_standard" if small else "data_large_standard"),
            "train-challenge": (
                "places365_train_challenge.txt",
                "data_256_challenge" if small else "data_large_challenge",
            ),
            "val": ("places365_val.txt", "val_256" if small else "val_large"),
        }
        name, folder = lists[usage]

        def row(line: str) -> tuple[str, int]:
            path, label = line.rsplit(None, 1)
            if int(label) < 0:
                raise ValueError(label)
            return inner(Path(dataset_dir, folder), path.lstrip("/")), int(label)

        rows = parsed(Path(dataset_dir, name), row, "the name of an image and its class, from 0")
        return Samples(("image", "label"), rows, (image_loader(decode), u32))


class RenderedSST2Dataset(Reader):
    """Rendered SST-2: `train`, `test` and `valid`, each with folders `negative` and `positive`."""

    words = f"dataset_dir, usage=None, {DECODED}"
    usages = ("train", "test", "val", "all")

    def open(self, dataset_dir: str, usage: str | None, decode: bool) -> Data:  # type: ignore[override]
        names = {"train": "train", "test": "test", "val": "valid"}
        parts = ["test", "train", "valid"] if usage in (None, "all") else [names[str(usage)]]
        classes = {"negative": 0, "positive": 1}
        rows = [
            (path, number)
            for part in parts
            for name, number in classes.items()
            for path in paths_in(Path(dataset_dir, part, name))
        ]
        return Samples(("image", "label"), rows, (image_loader(decode), u32), classes)


class OmniglotDataset(Reader):
    """Omniglot: `images_background` or `images_evaluation`, an alphabet, a character, its drawings."""

    words = f"dataset_dir, background=None, {DECODED}"

    def open(self, dataset_dir: str, background: bool | None, decode: bool) -> Data:  # type: ignore[override]
        part = "images_background" if background in (None, True) else "images_evaluation"
        root = Path(dataset_dir, part)
        characters = [c for alphabet in subfolders(root) for c in subfolders(alphabet)]
        rows = [(path, i) for i, folder in enumerate(characters) for path in paths_in(folder)]
        names = {f"{c.parent.name}/{c.name}": i for i, c in enumerate(characters)}
        return Samples(("image", "label"), rows, (image_loader(decode), i32), names)


class LSUNDataset(Reader):
    """LSUN unpacked: folders `<class>_train` and `<class>_val`, or `test`, of images."""

    words = f"dataset_dir, usage=None, classes=None, {DECODED}"
    usages = ("train", "test", "valid", "all")

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, usage: str | None, classes: Sequence[str] | None, decode: bool
    ) -> Data:
        usage = usage or "all"
        if usage == "test":
            rows = [(path, 0) for path in paths_in(Path(dataset_dir, "test"))]
            return Samples(("image", "label"), rows, (image_loader(decode), u32))
        endings = {"train": ("_train",), "valid": ("_valid", "_val"), "all": ("_train", "_valid", "_val")}[usage]
        there = [f for f in subfolders(dataset_dir) if f.name.endswith(endings)]
        known = sorted({f.name.rsplit("_", 1)[0] for f in there})
        wanted = list(classes or known)
        absent = [c for c in wanted if c not in known]
        if absent:
            raise ArgumentError(f"LSUN has no folders for the classes {absent}", given={"there are": known})
        numbers = {name: i for i, name in enumerate(sorted(wanted))}
        rows = [
            (str(path), numbers[f.name.rsplit("_", 1)[0]])
            for f in there
            if f.name.rsplit("_", 1)[0] in numbers
            for path in files_in(f)
        ]
        return Samples(("image", "label"), rows, (image_loader(decode), u32), numbers)


class Flowers102Dataset(Reader):
    """Oxford Flowers 102: `jpg/`, `segmim/`, `imagelabels.mat`, `setid.mat`."""

    words = (
        "dataset_dir, task='Classification', usage='all', num_samples=None, num_parallel_workers=1, shuffle=None,"
        " decode=False, sampler=None, num_shards=None, shard_id=None"
    )
    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, task: str, usage: str, decode: bool) -> Data:  # type: ignore[override]
        choice(self, "task", task, ("Classification", "Segmentation"))
        labels = matlab_numbers(Path(dataset_dir, "imagelabels.mat"), "labels")[0].ravel()
        names = {"train": ["trnid"], "valid": ["valid"], "test": ["tstid"], "all": ["trnid", "tstid", "valid"]}
        sets = matlab_numbers(Path(dataset_dir, "setid.mat"), *names[usage])
        rows: list[tuple[Any, ...]] = []
        for number in (int(i) for chosen in sets for i in chosen.ravel()):
            if not 1 <= number <= len(labels) or not 1 <= labels[number - 1] <= len(FLOWERS):
                where = {"folder": dataset_dir, "image": number, "labels": len(labels)}
                raise DataError("an image of setid.mat has no label from 1 to 102 in imagelabels.mat", given=where)
            photo = str(Path(dataset_dir, "jpg", f"image_{number:05}.jpg"))
            mask = str(Path(dataset_dir, "segmim", f"segmim_{number:05}.jpg"))
            label = int(labels[number - 1]) - 1
            rows.append((photo, label) if task == "Classification" else (photo, mask, label))
        classes = {name: i for i, name in enumerate(FLOWERS)}
        if task == "Classification":
            return Samples(("image", "label"), rows, (image_loader(decode), u32), classes)
        return Samples(
            ("image", "segmentation", "label"), rows, (image_loader(decode), image_loader(decode), u32), classes
        )
