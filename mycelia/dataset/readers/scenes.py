"""Images with more than a class: boxes, masks, captions, attributes, pairs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.dataset.plan import Data
from mycelia.dataset.readers.base import (
    COMMON,
    SAMPLED,
    Decrypt,
    Reader,
    Samples,
    f32,
    files_in,
    image,
    lines_of,
    pixels,
    subfolders,
    text,
    u32,
)
from mycelia.dataset.readers.folders import DECODED, matlab
from mycelia.dataset.sources import ArrayData
from mycelia.errors import ArgumentError
from mycelia.types import Array


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise unless a word is one of those there are.

    >>> one_of("task", "Detection", ("Detection", "Segmentation"))
    """
    if value not in allowed:
        raise ArgumentError(f"{name} is one of {list(allowed)}, and was {value!r}")


class VOCDataset(Reader):
    """PASCAL VOC: `JPEGImages`, `Annotations`, `SegmentationClass`, `ImageSets`."""

    words = (
        "dataset_dir, task='Segmentation', usage='train', class_indexing=None, num_samples=None,"
        " num_parallel_workers=None, shuffle=None, decode=False, sampler=None, num_shards=None, shard_id=None,"
        " cache=None, extra_metadata=False, decrypt=None"
    )

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self,
        dataset_dir: str,
        task: str,
        usage: str,
        class_indexing: dict[str, int] | None,
        decode: bool,
        extra_metadata: bool,
        decrypt: Decrypt,
    ) -> Data:
        one_of("task", task, ("Segmentation", "Detection"))
        root = Path(dataset_dir)
        folder = "Segmentation" if task == "Segmentation" else "Main"
        names = [line.split()[0] for line in lines_of(root / "ImageSets" / folder / f"{usage}.txt")]
        photo = [str(root / "JPEGImages" / f"{n}.jpg") for n in names]
        load = pixels(decode, decrypt)
        if task == "Segmentation":
            masks = [str(root / "SegmentationClass" / f"{n}.png") for n in names]
            rows: list[Any] = list(zip(photo, masks, names, strict=True))
            return _named(("image", "target"), rows, (load, load), extra_metadata)
        marked = [_objects(root / "Annotations" / f"{n}.xml") for n in names]
        known = sorted({o[0] for objects in marked for o in objects})
        classes = class_indexing or {name: i for i, name in enumerate(known)}
        rows = []
        for path, name, objects in zip(photo, names, marked, strict=True):
            kept = [o for o in objects if o[0] in classes]
            boxes = [o[1] for o in kept]
            marks = [[[o[k]] for o in kept] for k in (2, 3)]
            rows.append((path, boxes, [[classes[o[0]]] for o in kept], *marks, name))
        columns = ("image", "bbox", "label", "difficult", "truncate")
        return _named(columns, rows, (load, f32, u32, u32, u32), extra_metadata, classes)


def _named(
    columns: tuple[str, ...],
    rows: list[Any],
    loaders: tuple[Callable[[Any], Array], ...],
    named: bool,
    classes: dict[str, int] | None = None,
) -> Samples:
    """Samples whose last cell is their file's name: with it as a column, or without."""
    if named:
        return Samples((*columns, "_meta-filename"), rows, (*loaders, text), classes)
    return Samples(columns, [r[:-1] for r in rows], loaders, classes)


def _objects(path: Path) -> list[tuple[str, list[float], int, int]]:
    """Name, box (x, y, width, height), difficult and truncated of the objects in an annotation."""
    try:
        found = []
        for item in ElementTree.parse(path).getroot().iter("object"):
            box = [float(item.findtext(f"bndbox/{side}", "nan")) for side in ("xmin", "ymin", "xmax", "ymax")]
            place = [box[0], box[1], box[2] - box[0], box[3] - box[1]]
            difficult, truncated = (int(item.findtext(k, "0")) for k in ("difficult", "truncated"))
            found.append((item.findtext("name", ""), place, difficult, truncated))
        return found
    except (OSError, ElementTree.ParseError, ValueError) as error:
        raise DataError(f"cannot read an annotation: {error}", given={"file": str(path)}) from error


class CocoDataset(Reader):
    """COCO: a folder of images and a JSON of annotations, for five tasks."""

    words = (
        "dataset_dir, annotation_file, task='Detection', num_samples=None, num_parallel_workers=None, shuffle=None,"
        " decode=False, sampler=None, num_shards=None, shard_id=None, cache=None, extra_metadata=False, decrypt=None"
    )

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self,
        dataset_dir: str,
        annotation_file: str,
        task: str,
        decode: bool,
        extra_metadata: bool,
        decrypt: Decrypt,
    ) -> Data:
        tasks = {
            "Detection": (("bbox", "category_id", "iscrowd"), (f32, u32, u32), _detection),
            "Stuff": (("segmentation", "iscrowd"), (f32, u32), _stuff),
            "Keypoint": (("keypoints", "num_keypoints"), (f32, u32), _keypoints),
            "Panoptic": (("bbox", "category_id", "iscrowd", "area"), (f32, u32, u32, u32), _panoptic),
            "Captioning": (("captions",), (text,), _captions),
        }
        one_of("task", task, tuple(tasks))
        try:
            told = json.loads(Path(annotation_file).read_text())
            files = {i["id"]: i["file_name"] for i in told["images"]}
            by_image: dict[Any, list[Any]] = defaultdict(list)
            for mark in told["annotations"]:
                by_image[mark["image_id"]].append(mark)
        except (OSError, json.JSONDecodeError, KeyError) as error:
            where = {"file": annotation_file}
            raise DataError(f"cannot read the annotations: {type(error).__name__} {error}", given=where) from error
        columns, loaders, cells = tasks[task]
        rows = []
        for number, name in files.items():
            made = cells(by_image[number]) if by_image[number] else None
            if made is not None:
                rows.append((str(Path(dataset_dir, name)), *made, name))
        classes = {c["name"]: [c["id"]] for c in told.get("categories", [])}
        samples = _named(("image", *columns), rows, (pixels(decode, decrypt), *loaders), extra_metadata)
        samples.class_indexing = classes
        return samples


def _detection(marks: list[Any]) -> tuple[Any, ...]:
    return [m["bbox"] for m in marks], [[m["category_id"]] for m in marks], [[m.get("iscrowd", 0)] for m in marks]


def _stuff(marks: list[Any]) -> tuple[Any, ...]:
    outlines = [s for m in marks for s in (m["segmentation"] if isinstance(m["segmentation"], list) else [])]
    longest = max(map(len, outlines), default=0)
    padded = [[*o, *[-1.0] * (longest - len(o))] for o in outlines]
    return padded, [[m.get("iscrowd", 0)] for m in marks]


def _keypoints(marks: list[Any]) -> tuple[Any, ...]:
    return [m["keypoints"] for m in marks], [[m["num_keypoints"]] for m in marks]


def _panoptic(marks: list[Any]) -> tuple[Any, ...]:
    parts = [p for m in marks for p in m["segments_info"]]
    columns = [[[p[k]] for p in parts] for k in ("category_id", "iscrowd", "area")]
    return ([p["bbox"] for p in parts], *columns)


def _captions(marks: list[Any]) -> tuple[Any, ...]:
    return ([[m["caption"]] for m in marks],)


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
        lines = lines_of(root / "list_attr_celeba.txt")[2:]
        wanted = None
        if usage != "all":
            number = {"train": "0", "valid": "1", "test": "2"}[usage]
            pairs = [line.split() for line in lines_of(root / "list_eval_partition.txt")]
            wanted = {name for name, part in pairs if part == number}
        folder = root / "img_align_celeba" if (root / "img_align_celeba").is_dir() else root
        rows = []
        for name, *marks in (line.split() for line in lines):
            if (wanted is None or name in wanted) and (not extensions or Path(name).suffix in extensions):
                rows.append((str(folder / name), [int(m == "1") for m in marks]))
        return Samples(("image", "attr"), rows, (pixels(decode, decrypt), u32))


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
        one_of("target_type", target, ("category", "annotation", "all"))
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
        loaders = {"category": u32, "annotation": _outline}
        chosen = [c for c in loaders if target in (c, "all")]
        kept = (pixels(decode), *(loaders[c] for c in chosen))
        return Samples(("image", *chosen), rows, kept, classes)


def _outline(path: str) -> Array:
    return np.asarray(matlab(Path(path))["obj_contour"].T, np.float64)


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
        for line in lines_of(annotation_file):
            name, _, caption = line.partition("\t")
            captions[name.rsplit("#", 1)[0]].append(caption)
        rows = [(str(Path(dataset_dir, name)), told) for name, told in captions.items()]
        return Samples(("image", "annotation"), rows, (pixels(decode), text))


class SBUDataset(Reader):
    """SBU captions: two lists of addresses and captions, and the images in `sbu_images`."""

    words = f"dataset_dir, {DECODED}"

    def open(self, dataset_dir: str, decode: bool) -> Data:  # type: ignore[override]  # its own arguments
        root = Path(dataset_dir)
        addresses = lines_of(root / "SBU_captioned_photo_dataset_urls.txt")
        captions = lines_of(root / "SBU_captioned_photo_dataset_captions.txt")
        if len(addresses) != len(captions):
            raise DataError("there are not as many captions as images", given={"folder": dataset_dir})
        rows = []
        for address, caption in zip(addresses, captions, strict=True):
            path = root / "sbu_images" / (address.split("//", 1)[-1].split("/", 1)[-1].replace("/", "_"))
            if path.exists():
                rows.append((str(path), caption.strip()))
        return Samples(("image", "caption"), rows, (pixels(decode), text))


class LFWDataset(Reader):
    """Labelled Faces in the Wild: people with their class, or pairs that match or do not."""

    words = f"dataset_dir, task=None, usage=None, image_set=None, {DECODED}"
    usages = ("train", "test", "10fold", "all")

    def open(  # type: ignore[override]  # every reader has arguments of its own
        self, dataset_dir: str, task: str | None, usage: str | None, image_set: str | None, decode: bool
    ) -> Data:
        root, load = Path(dataset_dir), pixels(decode)
        one_of("task", task or "people", ("people", "pairs"))
        folder = root / {"original": "lfw", "deepfunneled": "lfw-deepfunneled"}.get(image_set or "", "lfw_funneled")
        ending = {"train": "DevTrain", "test": "DevTest", "10fold": ""}.get(str(usage))
        parts = ["DevTrain", "DevTest"] if usage in (None, "all") else [str(ending)]

        def face(name: str, number: str) -> str:
            return str(folder / name / f"{name}_{int(number):04}.jpg")

        if task == "pairs":
            pairs: list[tuple[Any, ...]] = []
            for cells in (line.split() for part in parts for line in lines_of(root / f"pairs{part}.txt")):
                if len(cells) == 3:
                    pairs.append((face(cells[0], cells[1]), face(cells[0], cells[2]), 1))
                elif len(cells) == 4:
                    pairs.append((face(cells[0], cells[1]), face(cells[2], cells[3]), 0))
            return Samples(("image1", "image2", "label"), pairs, (load, load, u32))
        people = sorted(line.split()[0] for line in lines_of(root / "lfw-names.txt"))
        classes = {name: i for i, name in enumerate(people)}
        rows = []
        for cells in (line.split() for part in parts for line in lines_of(root / f"people{part}.txt")):
            if len(cells) == 2:
                rows += [(face(cells[0], str(k + 1)), classes[cells[0]]) for k in range(int(cells[1]))]
        return Samples(("image", "label"), rows, (load, u32), classes)


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
        one_of("downgrade", downgrade, ("bicubic", "unknown", "mild", "difficult", "wild"))
        root, rows = Path(dataset_dir), []
        marks = {"mild": "m", "difficult": "d", "wild": "w"}
        for part in ["train", "valid"] if usage == "all" else [usage]:
            small = root / f"DIV2K_{part}_LR_{downgrade}"
            for path in files_in(root / f"DIV2K_{part}_HR"):
                name = f"{path.stem}x{scale}{marks.get(downgrade, '')}.png"
                inner = small / f"X{scale}" / name
                rows.append((str(path), str(inner if inner.exists() else small / name)))
        return Samples(("hr_image", "lr_image"), rows, (pixels(decode), pixels(decode)))


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
        one_of("quality_mode", quality_mode, ("fine", "coarse"))
        endings = {
            "instance": "instanceIds.png", "semantic": "labelIds.png", "color": "color.png", "polygon": "polygons.json",
        }  # fmt: skip
        one_of("task", task, tuple(endings))
        every = ["train", "val", "test"] if quality_mode == "fine" else ["train", "train_extra", "val"]
        root, marks, rows = Path(dataset_dir), "gtFine" if quality_mode == "fine" else "gtCoarse", []
        for part in every if usage == "all" else [usage]:
            for city in subfolders(root / "leftImg8bit" / part):
                for path in files_in(city):
                    stem = path.name.removesuffix("_leftImg8bit.png")
                    rows.append((str(path), str(root / marks / part / city.name / f"{stem}_{marks}_{endings[task]}")))
        target = _json_text if task == "polygon" else pixels(decode)
        return Samples(("image", "task"), rows, (pixels(decode), target))


def _json_text(path: str) -> Array:
    return text(Path(path).read_text())


class KITTIDataset(Reader):
    """KITTI object detection: `data_object_image_2` and `data_object_label_2`."""

    words = f"dataset_dir, usage=None, {DECODED}"
    usages = ("train", "test")
    kinds = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare")

    def open(self, dataset_dir: str, usage: str | None, decode: bool) -> Data:  # type: ignore[override]
        part = {"train": "training", "test": "testing"}[usage or "train"]
        root, load = Path(dataset_dir), pixels(decode)
        photos = files_in(root / "data_object_image_2" / part / "image_2")
        if part == "testing":
            return Samples(("image",), [(str(p),) for p in photos], (load,))
        numbers = {kind: i for i, kind in enumerate(self.kinds)}
        rows = []
        for path in photos:
            marks = [m.split() for m in lines_of(root / "data_object_label_2" / part / "label_2" / f"{path.stem}.txt")]
            spans = [(1, 2), (2, 3), (3, 4), (4, 8), (8, 11), (11, 14), (14, 15)]
            cells = [[[float(v) for v in m[a:b]] for m in marks] for a, b in spans]
            rows.append((str(path), [[numbers[m[0]]] for m in marks], *cells))
        names = ("image", "label", "truncated", "occluded", "alpha", "bbox", "dimensions", "location", "rotation_y")
        return Samples(names, rows, (load, u32, f32, u32, f32, f32, f32, f32, f32), numbers)


class WIDERFaceDataset(Reader):
    """WIDER FACE: `WIDER_train`, `WIDER_val`, `WIDER_test` and `wider_face_split`."""

    words = f"dataset_dir, usage=None, {DECODED}"
    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, usage: str | None, decode: bool) -> Data:  # type: ignore[override]
        root, rows = Path(dataset_dir), []
        if usage == "test":
            listed = lines_of(root / "wider_face_split" / "wider_face_test_filelist.txt")
            tested = [(str(root / "WIDER_test" / "images" / n.strip()),) for n in listed]
            return Samples(("image",), tested, (pixels(decode),))
        parts = {"train": ["train"], "valid": ["val"]}.get(str(usage), ["train", "val"])
        for part in parts:
            lines = lines_of(root / "wider_face_split" / f"wider_face_{part}_bbx_gt.txt")
            at = 0
            while at < len(lines):
                path = root / f"WIDER_{part}" / "images" / lines[at].strip()
                count = max(1, int(lines[at + 1]))
                faces = [[int(v) for v in line.split()] for line in lines[at + 2 : at + 2 + count]]
                rows.append((str(path), [f[:4] for f in faces], *([[f[k]] for f in faces] for k in (4, 5, 6, 8, 9, 7))))
                at += 2 + count
        names = ("image", "bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid")
        return Samples(names, rows, (pixels(decode), *[u32] * 7))


class SBDataset(Reader):
    """Semantic Boundaries: `img`, `cls` and the lists `train.txt`, `val.txt`, `train_noval.txt`; needs SciPy."""

    words = (
        "dataset_dir, task='Boundaries', usage='all', num_samples=None, num_parallel_workers=1, shuffle=None,"
        " decode=None, sampler=None, num_shards=None, shard_id=None"
    )
    usages = ("train", "val", "train_noval", "all")

    def open(self, dataset_dir: str, task: str, usage: str, decode: bool | None) -> Data:  # type: ignore[override]
        one_of("task", task, ("Boundaries", "Segmentation"))
        root = Path(dataset_dir)
        lists = ["train", "val"] if usage == "all" else [usage]
        names = [n.strip() for part in lists for n in lines_of(root / f"{part}.txt")]
        rows = [(str(root / "img" / f"{n}.jpg"), str(root / "cls" / f"{n}.mat")) for n in names]
        return Samples(("image", "task"), rows, (pixels(decode), _edges if task == "Boundaries" else _regions))


def _edges(path: str) -> Array:
    planes = matlab(Path(path))["GTcls"][0]["Boundaries"][0]
    return np.stack([np.asarray(p[0].toarray() if hasattr(p[0], "toarray") else p[0]) for p in planes])


def _regions(path: str) -> Array:
    return np.asarray(matlab(Path(path))["GTcls"][0]["Segmentation"][0])[None]


class PhotoTourDataset(Reader):
    """Photo Tourism patches: bitmaps of 16 x 16 patches, `info.txt`, and lists of pairs."""

    words = f"dataset_dir, name, usage=None, {COMMON}, {SAMPLED}"
    usages = ("train", "test")
    side, across = 64, 16

    def open(self, dataset_dir: str, name: str, usage: str | None) -> Data:  # type: ignore[override]
        root = Path(dataset_dir, name)
        owners = [int(line.split()[0]) for line in lines_of(root / "info.txt")]
        sheets = [s for s in files_in(root, [".bmp"]) if s.stem.startswith("patches")]
        patches = np.concatenate([self._cut(image(s)[..., :1]) for s in sheets])[: len(owners)]
        if usage in (None, "train"):
            return ArrayData({"image": patches})
        pairs = [line.split() for line in lines_of(root / "m50_100000_100000_0.txt")]
        first, second = ([int(p[k]) for p in pairs] for k in (0, 3))
        match = np.array([p[1] == p[4] for p in pairs], np.uint32)
        return ArrayData({"image1": patches[first], "image2": patches[second], "matches": match})

    def _cut(self, sheet: Array) -> Array:
        size, count = self.side, self.across
        grid = sheet[: size * count, : size * count].reshape(count, size, count, size, 1)
        return grid.transpose(0, 2, 1, 3, 4).reshape(-1, size, size, 1)
