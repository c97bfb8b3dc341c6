"""Datasets of images in folders, and lists of images with their classes."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np

from .files import lines, matlab, png, put


def image_folder(root: Path) -> None:
    for c, name in enumerate(("cat", "dog", "eel")):
        for i in range(c + 1):
            put(root / name / f"{i}.png", png(10 * c + i))


def mixed_folder(root: Path) -> None:
    """A folder as people have them: several endings, capitals, other files, loose ones, a class without images."""
    image_folder(root)
    put(root / "cat" / "B.JPG", png(90))
    put(root / "cat" / "c.jpeg", png(91))
    put(root / "cat" / "a.bmp", png(92))
    put(root / "cat" / "notes.txt", "no image")
    put(root / "loose.png", png(94))
    (root / "bare").mkdir()


def nested_folder(root: Path) -> None:
    """A class with a folder inside."""
    image_folder(root)
    put(root / "dog" / "inner" / "x.png", png(93))


def manifest(root: Path) -> None:
    told = []
    for i in range(4):
        path = put(root / f"{i}.png", png(i))
        row = {"source": str(path), "usage": "train" if i < 3 else "eval", "annotation": [{"name": f"k{i % 2}"}]}
        told.append(json.dumps(row))
    lines(root / "a.manifest", told)


def manifest_of_several(root: Path) -> None:
    """Images of several classes, and of none."""
    told = []
    for i, names in enumerate((["b", "a"], ["c"], ["a"])):
        path = put(root / f"{i} é.png", png(i))
        row = {"source": str(path), "usage": "train", "annotation": [{"type": "x", "name": n} for n in names]}
        told.append(json.dumps(row))
    lines(root / "a.manifest", told)


def caltech256(root: Path) -> None:
    for c, name in enumerate(("001.ak47", "002.flag")):
        for i in range(2):
            put(root / name / f"{name[:3]}_{i:04}.jpg", png(10 * c + i))


def sun397(root: Path) -> None:
    names = ["/a/abbey", "/a/apartment_building/outdoor", "/b/balcony/exterior", "/b/balcony/interior"]
    for c, name in enumerate(names):
        for i in range(2):
            put(root / name[1:] / f"sun_{i}.jpg", png(10 * c + i))
    lines(root / "ClassName.txt", names)


def food(root: Path) -> None:
    for part, names in (("train", ["tea/2", "pie/1", "tea/5"]), ("test", ["tea/3", "pie/7"])):
        lines(root / "meta" / f"{part}.txt", names)
        for i, name in enumerate(names):
            put(root / "images" / f"{name}.jpg", png(10 * len(names) + i))
    lines(root / "meta" / "classes.txt", ["pie", "tea"])


def places(root: Path) -> None:
    lists = {
        "places365_val.txt": ("val_256", "val_large", ["p{}.jpg"] * 3),
        "places365_train_standard.txt": ("data_256_standard", "data_large_standard", ["/c/c{}/{}.jpg"] * 3),
        "places365_train_challenge.txt": ("data_256_challenge", "data_large_challenge", ["/c/c{}/{}.jpg"] * 2),
    }
    for seed, (name, (small, large, paths)) in enumerate(lists.items()):
        made = [path.format(i, i) for i, path in enumerate(paths)]
        for i, path in enumerate(made):
            put(root / small / path.lstrip("/"), png(10 * seed + i))
            put(root / large / path.lstrip("/"), png(10 * seed + i + 5, 9, 8))
        lines(root / name, [f"{path} {i * 7}" for i, path in enumerate(made)])
    lines(root / "categories_places365.txt", [f"/c/c{i} {i * 7}" for i in range(3)])


def rendered_sst2(root: Path) -> None:
    for p, part in enumerate(("train", "test", "valid")):
        for c, name in enumerate(("negative", "positive")):
            for i in range(2):
                put(root / part / name / f"{i:04}.png", png(10 * p + 4 * c + i))


def omniglot(root: Path) -> None:
    for part in ("images_background", "images_evaluation"):
        for alphabet in ("A", "B"):
            for character in ("c1", "c2"):
                seed = zlib.crc32(f"{part}{alphabet}{character}".encode()) % 9999
                put(root / part / alphabet / character / "0.png", png(seed))


def lsun(root: Path) -> None:
    for c, name in enumerate(("bedroom", "classroom", "church_outdoor")):
        for p, part in enumerate(("train", "val")):
            for i in range(2):
                put(root / f"{name}_{part}" / f"{i}.jpg", png(20 * c + 5 * p + i))
    for i in range(2):
        put(root / "test" / f"{i}.jpg", png(90 + i))


def flowers(root: Path) -> None:
    for number in range(1, 8):
        put(root / "jpg" / f"image_{number:05}.jpg", png(number))
        put(root / "segmim" / f"segmim_{number:05}.jpg", png(number + 50))
    matlab(root / "imagelabels.mat", labels=np.array([[3, 1, 102, 7, 3, 2, 9]], np.uint8))
    sets = {"trnid": [2, 5, 7], "valid": [1, 4], "tstid": [6, 3]}
    matlab(root / "setid.mat", **{k: np.array([v], np.uint16) for k, v in sets.items()})
