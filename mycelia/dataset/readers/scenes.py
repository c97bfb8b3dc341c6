"""Images with more than a class: masks, captions, attributes, outlines, pairs."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import choice
from mycelia.dataset.errors import DataError
from mycelia.dataset.plan.origins import Data
from mycelia.dataset.readers.base import (
    COMMON,
    SAMPLED,
    Decrypt,
    Reader,
    Samples,
    files_in,
    i64,
    image,
    image_loader,
    inner,
    subfolders,
    text,
    u32,
)
from mycelia.dataset.readers.folders import DECODED
from mycelia.dataset.readers.lines import lines_of, parsed, split_lines, text_of
from mycelia.dataset.sources.memory import ArrayData
from mycelia.errors import ArgumentError
from mycelia.mindrecord.matlab import matlab, matlab_numbers
from mycelia.types import Array


class CelebADataset(Reader):
    """CelebA: `img_align_celeba`, `list_attr_celeba.txt`, and `list_eval_partition.txt` for its parts."""

    words = (
        "dataset_dir, num_parallel_workers=None, shuffle=None, usage='all', sampler=None, decode=False,"
        " extensions=None, num_samples=None, num_shards=None, shard_id=None, cache=None, decrypt=None"
    )
    usages = ("train", "valid", "test", "all")

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, usage: str, decode: bool, extensions: list[str] | None, decrypt: Decrypt
    ) -> Data:
        root = Path(dataset_dir)
        path = root / "list_attr_celeba.txt"
        attributes = lines_of(path)[1:2]
        if not attributes:
            raise DataError("a list of attributes has a count and a line of names first", given={"file": str(path)})
        count = len(attributes[0].split())

        def marks(line: str) -> tuple[str, list[int]]:
            name, *cells = line.rsplit(None, count)
            if len(cells) != count:
                raise ValueError(len(cells))
            return name.strip(), [{"1": 1, "-1": 0}[c] for c in cells]

        marked = parsed(path, marks, f"the name of an image and {count} marks, 1 or -1", skip=2)
        if usage != "all":
            number = {"train": "0", "valid": "1", "test": "2"}[usage]
            pairs = parsed(root / "list_eval_partition.txt", _pair, "the name of an image and its part")
            wanted = {name for name, part in pairs if part == number}
            marked = [m for m in marked if m[0] in wanted]
        folder = root / "img_align_celeba" if (root / "img_align_celeba").is_dir() else root
        rows = [(inner(folder, n), m) for n, m in marked if not extensions or Path(n).suffix in extensions]
        return Samples(("image", "attr"), rows, (image_loader(decode, decrypt), u32))


def _pair(line: str) -> tuple[str, str]:
    name, part = line.rsplit(None, 1)
    return name, part


class Caltech101Dataset(Reader):
    """Caltech-101: `101_ObjectCategories` and `Annotations`; the target is the class, the outline, or both."""

    words = (
        "dataset_dir, target_type=None, num_samples=None, num_parallel_workers=1, shuffle=None, decode=False,"
        " sampler=None, num_shards=None, shard_id=None"
    )
    renamed = {
        "Faces": "Faces_2", "Faces_easy": "Faces_3", "Motorbikes": "Motorbikes_16", "airplanes": "Airplanes_Side_2",
    }  # fmt: skip

    def open(self, dataset_dir: str, target_type: str | None, decode: bool) -> Data:  # type: ignore[override]
        target = target_type or "category"
        choice(self, "target_type", target, ("category", "annotation", "all"))
        root = Path(dataset_dir)
        folders = [f for f in subfolders(root / "101_ObjectCategories") if f.name != "BACKGROUND_Google"]
        classes = {f.name: i for i, f in enumerate(folders)}
        rows = []
        for folder in folders:
            outlines = root / "Annotations" / self.renamed.get(folder.name, folder.name)
            for path in files_in(folder):
                outline = outlines / f"annotation_{path.stem.split('_')[-1]}.mat"
                cells = {"category": classes[folder.name], "annotation": str(outline)}
                rows.append((str(path), *(cells[c] for c in cells if target in (c, "all"))))
        loaders = {"category": i64, "annotation": _outline}
        chosen = [c for c in loaders if target in (c, "all")]
        kept = (image_loader(decode), *(loaders[c] for c in chosen))
        return Samples(("image", *chosen), rows, kept, classes)


def _outline(path: str) -> Array:
    return np.asarray(matlab_numbers(path, "obj_contour")[0], np.float64)


class FlickrDataset(Reader):
    """Flickr8k or 30k: a folder of images and lines `name#number<tab>caption`."""

    words = (
        "dataset_dir, annotation_file, num_samples=None, num_parallel_workers=None, shuffle=None, decode=None,"
        " sampler=None, num_shards=None, shard_id=None, cache=None"
    )

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, annotation_file: str, decode: bool | None
    ) -> Data:
        captions: dict[str, list[str]] = defaultdict(list)
        for name, caption in parsed(annotation_file, self._caption, "name#number, a tab, and a caption"):
            captions[name].append(caption)
        rows = [(inner(dataset_dir, name), told) for name, told in captions.items()]
        return Samples(("image", "annotation"), rows, (image_loader(decode), text))

    @staticmethod
    def _caption(line: str) -> tuple[str, str]:
        name, caption = line.split("\t", 1)
        return name[: name.rindex("#")], caption


class SBUDataset(Reader):
    """SBU captions: two lists of addresses and captions, and the images in `sbu_images`."""

    words = f"dataset_dir, {DECODED}"

    def open(self, dataset_dir: str, decode: bool) -> Data:  # type: ignore[override]  # its own arguments
        root = Path(dataset_dir)
        addresses, captions = (
            split_lines(text_of(root / f"SBU_captioned_photo_dataset_{kind}.txt")) for kind in ("urls", "captions")
        )
        if len(addresses) != len(captions):
            given = {"folder": dataset_dir, "addresses": len(addresses), "captions": len(captions)}
            lists = "SBU_captioned_photo_dataset_urls.txt and SBU_captioned_photo_dataset_captions.txt"
            raise DataError(f"{lists} do not have as many lines as one another", given=given)
        rows = []
        for address, caption in zip(addresses, captions, strict=True):
            # the publishers' script names a file by its address from the 24th letter on, the m of .com
            path = root / "sbu_images" / address[23:].replace("/", "_")
            if path.is_file():
                rows.append((str(path), caption.strip()))
        return Samples(("image", "caption"), rows, (image_loader(decode), text))


class LFWDataset(Reader):
    """Labelled Faces in the Wild: people with their class, or pairs that match or do not."""

    words = f"dataset_dir, task=None, usage=None, image_set=None, {DECODED}"
    usages = ("train", "test", "10fold", "all")

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, task: str | None, usage: str | None, image_set: str | None, decode: bool
    ) -> Data:
        root, load = Path(dataset_dir), image_loader(decode)
        choice(self, "task", task or "people", ("people", "pairs"))
        choice(self, "image_set", image_set or "funneled", ("original", "funneled", "deepfunneled"))
        folder = root / {"original": "lfw", "deepfunneled": "lfw-deepfunneled"}.get(image_set or "", "lfw_funneled")
        parts = {"train": ["DevTrain"], "test": ["DevTest"], "10fold": [""]}.get(str(usage), ["DevTrain", "DevTest"])

        def face(name: str, number: str) -> str:
            return inner(folder, f"{name}/{name}_{int(number):04}.jpg")

        def pair(line: str) -> tuple[str, str, int] | None:
            match line.split():
                case [name, first, second]:
                    return face(name, first), face(name, second), 1
                case [name, first, other, second]:
                    return face(name, first), face(other, second), 0
                case cells:
                    _only_numbers(cells)
                    return None

        def person(line: str) -> list[tuple[str, int]]:
            match line.split():
                case [name, count]:
                    return [(face(name, str(k + 1)), classes[name]) for k in range(int(count))]
                case cells:
                    _only_numbers(cells)
                    return []

        if task == "pairs":
            lists = [parsed(root / f"pairs{part}.txt", pair, "a pair of faces, or a count") for part in parts]
            pairs = [row for found in lists for row in found if row is not None]
            return Samples(("image1", "image2", "label"), pairs, (load, load, u32))
        people = sorted(line.split()[0] for line in lines_of(root / "lfw-names.txt"))
        classes = {name: i for i, name in enumerate(people)}
        known = [parsed(root / f"people{part}.txt", person, "a name of lfw-names.txt and a count") for part in parts]
        rows = [row for found in known for line in found for row in line]
        return Samples(("image", "label"), rows, (load, u32), classes)


def _only_numbers(cells: list[str]) -> None:
    """Raise unless a line is one of those that count what follows."""
    if not all(c.isdigit() for c in cells):
        raise ValueError(cells)


class DIV2KDataset(Reader):
    """DIV2K: high-resolution images and those made smaller in one of several ways."""

    words = (
        "dataset_dir, usage='train', downgrade='bicubic', scale=2, num_samples=None, num_parallel_workers=None,"
        " shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None, cache=None"
    )
    usages = ("train", "valid", "all")

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, usage: str, downgrade: str, scale: int, decode: bool | None
    ) -> Data:
        choice(self, "downgrade", downgrade, ("bicubic", "unknown", "mild", "difficult", "wild"))
        choice(self, "scale", scale, (2, 3, 4, 8))
        mark = {"mild": "m", "difficult": "d", "wild": "w"}.get(downgrade, "")
        if (mark and scale != 4) or (scale == 8 and downgrade != "bicubic"):
            raise ArgumentError(
                f"DIV2K has no images made {scale} times smaller by {downgrade!r}",
                hint="mild, difficult and wild come with scale 4, and scale 8 with bicubic",
            )
        root, rows = Path(dataset_dir), []
        for part in ["train", "valid"] if usage == "all" else [usage]:
            small = root / (f"DIV2K_{part}_LR_x8" if scale == 8 else f"DIV2K_{part}_LR_{downgrade}")
            inner = small if mark or scale == 8 else small / f"X{scale}"
            large = files_in(root / f"DIV2K_{part}_HR")
            rows += [(str(path), str(inner / f"{path.stem}x{scale}{mark}.png")) for path in large]
        return Samples(("hr_image", "lr_image"), rows, (image_loader(decode), image_loader(decode)))


class CityscapesDataset(Reader):
    """Cityscapes: `leftImg8bit` and `gtFine` or `gtCoarse`; masks, colours or polygons."""

    words = (
        "dataset_dir, usage='train', quality_mode='fine', task='instance', num_samples=None,"
        " num_parallel_workers=None, shuffle=None, decode=None, sampler=None, num_shards=None, shard_id=None,"
        " cache=None"
    )
    usages = ("train", "train_extra", "val", "test", "all")

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, usage: str, quality_mode: str, task: str, decode: bool | None
    ) -> Data:
        choice(self, "quality_mode", quality_mode, ("fine", "coarse"))
        endings = {
            "instance": "instanceIds.png", "semantic": "labelIds.png", "color": "color.png", "polygon": "polygons.json",
        }  # fmt: skip
        choice(self, "task", task, tuple(endings))
        every = ["train", "test", "val"] if quality_mode == "fine" else ["train", "train_extra", "val"]
        choice(self, "usage", usage, (*every, "all"))
        root, marks, rows = Path(dataset_dir), "gtFine" if quality_mode == "fine" else "gtCoarse", []
        for part in every if usage == "all" else [usage]:
            for city in subfolders(root / "leftImg8bit" / part):
                for path in files_in(city):
                    stem = path.name.removesuffix("_leftImg8bit.png")
                    rows.append((str(path), str(root / marks / part / city.name / f"{stem}_{marks}_{endings[task]}")))
        target = _json_text if task == "polygon" else image_loader(decode)
        return Samples(("image", "task"), rows, (image_loader(decode), target))


def _json_text(path: str) -> Array:
    """JSON without spaces, its entries by name."""
    try:
        told = json.loads(text_of(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"this is not JSON: {error}", given={"file": path}) from error
    return text(json.dumps(told, separators=(",", ":"), sort_keys=True, ensure_ascii=False))


class SBDataset(Reader):
    """Semantic Boundaries: `img`, `cls` and the lists `train.txt`, `val.txt`, `train_noval.txt`."""

    words = (
        "dataset_dir, task='Boundaries', usage='all', num_samples=None, num_parallel_workers=1, shuffle=None,"
        " decode=None, sampler=None, num_shards=None, shard_id=None"
    )
    usages = ("train", "val", "train_noval", "all")

    def open(self, dataset_dir: str, task: str, usage: str, decode: bool | None) -> Data:  # type: ignore[override]
        choice(self, "task", task, ("Boundaries", "Segmentation"))
        root = Path(dataset_dir)
        lists = ["train", "val"] if usage == "all" else [usage]
        names = [n.strip() for part in lists for n in lines_of(root / f"{part}.txt")]
        rows = [(inner(root / "img", f"{n}.jpg"), inner(root / "cls", f"{n}.mat")) for n in names]
        return Samples(("image", "task"), rows, (image_loader(decode), _edges if task == "Boundaries" else _regions))


def _edges(path: str) -> Array:
    return np.stack(_marks(path, "Boundaries"))


def _regions(path: str) -> Array:
    return np.asarray(_marks(path, "Segmentation"))


def _marks(path: str, task: str) -> Any:
    try:
        return matlab(path, "GTcls")[0][task][0]
    except (LookupError, TypeError) as error:
        raise DataError(f"GTcls has no {task}", given={"file": path}) from error


class PhotoTourDataset(Reader):
    """Photo Tourism patches: bitmaps of 16 x 16 patches, `info.txt`, and lists of pairs."""

    words = f"dataset_dir, name, usage=None, {COMMON}, {SAMPLED}"
    usages = ("train", "test")
    names = ("notredame", "yosemite", "liberty", "notredame_harris", "yosemite_harris", "liberty_harris")
    side, across = 64, 16

    def open(self, dataset_dir: str, name: str, usage: str | None) -> Data:  # type: ignore[override]
        choice(self, "name", name, self.names)
        root = Path(dataset_dir, name)
        owners = parsed(root / "info.txt", lambda line: int(line.split()[0]), "the number of a point and another one")
        sheets = [s for s in files_in(root, [".bmp"]) if s.stem.startswith("patches")]
        patches = np.concatenate([np.zeros((0, self.side, self.side, 1), np.uint8), *map(self._cut, sheets)])
        if len(patches) < len(owners):
            given = {"folder": str(root), "patches": len(patches), "lines of info.txt": len(owners)}
            raise DataError("there are fewer patches than info.txt tells", given=given)
        if usage in (None, "train"):
            return ArrayData({"image": patches[: len(owners)]})

        def pair(line: str) -> tuple[int, int, bool]:
            first, point, _, second, other, *_ = (int(v) for v in line.split())
            if not (0 <= first < len(owners) and 0 <= second < len(owners)):
                raise ValueError(line)
            return first, second, point == other

        form = f"two patches below {len(owners)}, each with a point and another number"
        pairs = np.array(parsed(root / "m50_100000_100000_0.txt", pair, form), np.int64).reshape(-1, 3)
        matches = pairs[:, 2].astype(np.uint32)
        return ArrayData({"image1": patches[pairs[:, 0]], "image2": patches[pairs[:, 1]], "matches": matches})

    def _cut(self, path: Path) -> Array:
        size, count = self.side, self.across
        try:
            sheet = image(path)[..., :1]
        except (ArgumentError, DataError) as error:
            raise DataError("a sheet of patches cannot be decoded", given={"file": str(path)}) from error
        if sheet.shape[:2] != (size * count, size * count):
            raise DataError("a sheet of patches is not 1024 x 1024", given={"file": str(path), "shape": sheet.shape})
        grid = sheet.reshape(count, size, count, size, 1)
        return grid.transpose(0, 2, 1, 3, 4).reshape(-1, size, size, 1)
