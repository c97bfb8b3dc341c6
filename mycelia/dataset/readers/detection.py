"""Images with boxes: VOC, COCO, KITTI, WIDER FACE."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from mycelia.checks import choice
from mycelia.dataset.errors import DataError
from mycelia.dataset.plan.origins import Data
from mycelia.dataset.readers.base import Decrypt, Reader, Samples, f32, files_in, i32, image_loader, inner, text, u32
from mycelia.dataset.readers.folders import DECODED
from mycelia.dataset.readers.lines import lines_of, numbered, parsed_line, text_of
from mycelia.types import Array


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
        choice(self, "task", task, ("Segmentation", "Detection"))
        root = Path(dataset_dir)
        folder = "Segmentation" if task == "Segmentation" else "Main"
        names = [line.split()[0] for line in lines_of(root / "ImageSets" / folder / f"{usage}.txt")]
        photo = [inner(root / "JPEGImages", f"{n}.jpg") for n in names]
        load = image_loader(decode, decrypt)
        if task == "Segmentation":
            masks = [inner(root / "SegmentationClass", f"{n}.png") for n in names]
            rows: list[Any] = list(zip(photo, masks, names, strict=True))
            return _named(("image", "target"), rows, (load, load), extra_metadata)
        marked = [_objects(Path(inner(root / "Annotations", f"{n}.xml"))) for n in names]
        known = sorted({o[0] for objects in marked for o in objects})
        classes = class_indexing or {name: i for i, name in enumerate(known)}
        rows = []
        for path, name, objects in zip(photo, names, marked, strict=True):
            kept = [o for o in objects if o[0] in classes]
            if not kept:
                continue
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
            box = [float(item.findtext(f"bndbox/{side}", "missing")) for side in ("xmin", "ymin", "xmax", "ymax")]
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
        choice(self, "task", task, tuple(tasks))
        try:
            told = json.loads(text_of(annotation_file))
            files = {i["id"]: i["file_name"] for i in told["images"]}
            by_image: dict[Any, list[Any]] = defaultdict(list)
            for mark in told["annotations"]:
                by_image[mark["image_id"]].append(mark)
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError, RecursionError) as error:
            where = {"file": annotation_file}
            raise DataError(f"this is not COCO's format: {type(error).__name__} {error}", given=where) from error
        columns, loaders, cells = tasks[task]
        rows = []
        for number, name in files.items():
            if by_image[number]:
                try:
                    made = cells(by_image[number])
                except (KeyError, TypeError) as error:
                    where = {"file": annotation_file, "image": name, "missing": str(error)}
                    raise DataError(f"an annotation is not one for the task {task}", given=where) from error
                rows.append((inner(dataset_dir, name), *made, Path(name).stem))
        entries = ("id", "isthing") if task == "Panoptic" else ("id",)
        classes = {c["name"]: [c[k] for k in entries] for c in told.get("categories", [])}
        samples = _named(("image", *columns), rows, (image_loader(decode, decrypt), *loaders), extra_metadata)
        samples.class_indexing = classes
        return samples


def _detection(marks: list[Any]) -> tuple[Any, ...]:
    return [m["bbox"] for m in marks], [[m["category_id"]] for m in marks], [[m.get("iscrowd", 0)] for m in marks]


def _stuff(marks: list[Any]) -> tuple[Any, ...]:
    """The outlines of all masks, or the counts of runs of crowds, as rows of one length."""
    masks = [m["segmentation"] for m in marks]
    outlines = [line for mask in masks for line in ([mask["counts"]] if isinstance(mask, dict) else mask)]
    if any(isinstance(line, str) for line in outlines):
        raise TypeError("compressed counts of runs")
    longest = max(map(len, outlines), default=0)
    padded = [[*line, *[-1.0] * (longest - len(line))] for line in outlines]
    return padded, [[m.get("iscrowd", 0)] for m in marks]


def _keypoints(marks: list[Any]) -> tuple[Any, ...]:
    return [m["keypoints"] for m in marks], [[m["num_keypoints"]] for m in marks]


def _panoptic(marks: list[Any]) -> tuple[Any, ...]:
    parts = [p for m in marks for p in m["segments_info"]]
    columns = [[[p[k]] for p in parts] for k in ("category_id", "iscrowd", "area")]
    return ([p["bbox"] for p in parts], *columns)


def _captions(marks: list[Any]) -> tuple[Any, ...]:
    return ([[m["caption"]] for m in marks],)


class KITTIDataset(Reader):
    """KITTI object detection: `data_object_image_2` and `data_object_label_2`; kinds are numbered by their names."""

    words = f"dataset_dir, usage=None, {DECODED}"
    usages = ("train", "test")

    def open(self, dataset_dir: str, usage: str | None, decode: bool) -> Data:  # type: ignore[override]
        part = {"train": "training", "test": "testing"}[usage or "train"]
        root, load = Path(dataset_dir), image_loader(decode)
        photos = files_in(root / "data_object_image_2" / part / "image_2")
        if part == "testing":
            return Samples(("image",), [(str(p),) for p in photos], (load,))
        marked = []
        for path in photos:
            told = root / "data_object_label_2" / part / "label_2" / f"{path.stem}.txt"
            form = "a kind and fourteen numbers"
            marked.append([parsed_line(told, number, line, self._mark, form) for number, line in numbered(told)])
        numbers = {kind: i for i, kind in enumerate(sorted({m[0] for marks in marked for m in marks}))}
        spans = [(0, 1), (1, 2), (2, 3), (3, 7), (7, 10), (10, 13), (13, 14)]
        rows = [
            (str(path), [[numbers[m[0]]] for m in marks], *([m[1][a:b] for m in marks] for a, b in spans))
            for path, marks in zip(photos, marked, strict=True)
        ]
        names = ("image", "label", "truncated", "occluded", "alpha", "bbox", "dimensions", "location", "rotation_y")
        return Samples(names, rows, (load, u32, f32, _whole, f32, f32, f32, f32, f32), numbers)

    @staticmethod
    def _mark(line: str) -> tuple[str, list[float]]:
        kind, *cells = line.split()
        if len(cells) not in (14, 15):  # results have a score at the end
            raise ValueError(len(cells))
        return kind, [float(c) for c in cells]


def _whole(values: Any) -> Array:
    """KITTI writes -1 where nothing is known; as MindSpore does, it becomes the largest number."""
    return i32(values).astype("uint32")


class WIDERFaceDataset(Reader):
    """WIDER FACE: `WIDER_train`, `WIDER_val`, `WIDER_test` and `wider_face_split`."""

    words = f"dataset_dir, usage=None, {DECODED}"
    usages = ("train", "test", "valid", "all")

    def open(self, dataset_dir: str, usage: str | None, decode: bool) -> Data:  # type: ignore[override]
        root, rows = Path(dataset_dir), []
        if usage == "test":
            listed = lines_of(root / "wider_face_split" / "wider_face_test_filelist.txt")
            tested = [(inner(root / "WIDER_test" / "images", n.strip()),) for n in listed]
            return Samples(("image",), tested, (image_loader(decode),))
        parts = {"train": ["train"], "valid": ["val"]}.get(str(usage), ["train", "val"])
        for part in parts:
            told = root / "wider_face_split" / f"wider_face_{part}_bbx_gt.txt"
            rows += sorted(self._marked(told, root / f"WIDER_{part}" / "images"), key=lambda row: row[0])
        names = ("image", "bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid")
        return Samples(names, rows, (image_loader(decode), *[i32] * 7))

    def _marked(self, path: Path, folder: Path) -> list[tuple[Any, ...]]:
        """The images of a list: a name, how many faces, and a line for each; or one of zeros without faces."""
        rows, rest = [], iter(numbered(path))
        for _, name in rest:
            number, count = next(rest, (0, "nothing"))
            faces = max(1, parsed_line(path, number, count, int, f"the number of faces of {name.strip()}"))
            marks = [
                parsed_line(path, *next(rest, (number, "nothing")), self._face, "the ten numbers of a face")
                for _ in range(faces)
            ]
            # as published: x, y, width, height, blur, expression, illumination, invalid, occlusion, pose
            kinds = ([m[k] for m in marks] for k in (4, 5, 6, 8, 9, 7))
            rows.append((inner(folder, name.strip()), [m[:4] for m in marks], *kinds))
        return rows

    @staticmethod
    def _face(line: str) -> list[int]:
        cells = [int(c) for c in line.split()]
        if len(cells) != 10:
            raise ValueError(len(cells))
        return cells
