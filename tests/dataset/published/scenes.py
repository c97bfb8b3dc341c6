"""Datasets of images with more than a class: boxes, masks, captions, attributes, pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .files import bmp, dice, lines, matlab, png, put


def voc(root: Path) -> None:
    for i in range(3):
        put(root / "JPEGImages" / f"{i}.jpg", png(i))
        put(root / "SegmentationClass" / f"{i}.png", png(50 + i))
        objects = "".join(
            f"<object><name>k{k}</name><truncated>{k % 2}</truncated><difficult>{i % 2}</difficult><bndbox>"
            f"<xmin>{k + 1}</xmin><ymin>2</ymin><xmax>{k + 5}</xmax><ymax>9</ymax></bndbox></object>"
            for k in reversed(range(i + 1))
        )
        put(root / "Annotations" / f"{i}.xml", f"<annotation>{objects}</annotation>")
    for task in ("Segmentation", "Main"):
        lines(root / "ImageSets" / task / "train.txt", ["2", "0", "1"])
        lines(root / "ImageSets" / task / "val.txt", ["1"])


def coco(root: Path) -> None:
    images, marks = [], []
    for i in range(3):
        put(root / "images" / f"{i}.jpg", png(i))
        images.append({"id": i, "file_name": f"{i}.jpg", "height": 5, "width": 6})
        for k in range(i + 1):
            outline = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0][: 6 - 2 * (k % 2)]
            marks.append({"id": len(marks), "image_id": i, "category_id": k + 1, "bbox": [1.0, 2.0, 3.0 + k, 4.0],
                          "iscrowd": 0, "area": 12, "segmentation": [outline],
                          "keypoints": [1 + k, 2, 2] * 17, "num_keypoints": 17, "caption": f"c{k} of {i}"})  # fmt: skip
    categories = [{"id": k + 1, "name": f"k{k}", "isthing": k % 2} for k in range(3)]
    put(root / "a.json", json.dumps({"images": images, "annotations": marks, "categories": categories}))
    panoptic = [
        {"image_id": i, "file_name": f"{i}.png", "segments_info": [
            {"id": k, "category_id": k + 1, "bbox": [1, 2, 3 + k, 4], "iscrowd": k % 2, "area": 12 + i}
            for k in range(i + 1)]}
        for i in range(3)
    ]  # fmt: skip
    put(root / "panoptic.json", json.dumps({"images": images, "annotations": panoptic, "categories": categories}))


def coco_sparse(root: Path) -> None:
    """Images out of order and without annotations, annotations without the parts of other tasks."""
    images, marks = [], []
    for i in (7, 3, 5, 1):
        put(root / "images" / f"{i}.jpg", png(i))
        images.append({"id": i, "file_name": f"{i}.jpg"})
    for i, k in ((5, 0), (3, 1), (5, 2), (1, 0)):
        marks.append({"id": len(marks), "image_id": i, "category_id": k, "bbox": [k, 1, 2, 3.5], "iscrowd": 0,
                      "keypoints": [1, 2, k], "num_keypoints": 1, "caption": f"c{k} of {i}"})  # fmt: skip
    categories = [{"id": k, "name": f"k{k}", "supercategory": "s"} for k in range(3)]
    put(root / "a.json", json.dumps({"images": images, "annotations": marks, "categories": categories}))


def coco_crowd(root: Path) -> None:
    """A crowd, whose mask is counts of runs, among others of several outlines."""
    images, marks = [], []
    for i in range(2):
        put(root / "images" / f"{i}.jpg", png(i))
        images.append({"id": i, "file_name": f"{i}.jpg"})
        marks.append({"id": i, "image_id": i, "category_id": 1, "bbox": [0, 1, 2, 3], "iscrowd": 0, "area": 2,
                      "segmentation": [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10]]})  # fmt: skip
    marks.append({"id": 9, "image_id": 1, "category_id": 1, "bbox": [0, 1, 2, 3], "iscrowd": 1, "area": 2,
                  "segmentation": {"counts": [3, 4, 5, 18], "size": [5, 6]}})  # fmt: skip
    categories = [{"id": 1, "name": "k"}]
    put(root / "a.json", json.dumps({"images": images, "annotations": marks, "categories": categories}))


def celeba(root: Path) -> None:
    marks = ["4", " ".join(f"a{k}" for k in range(40))]
    parts = []
    for i in range(4):
        name = f"{i:06}.{'jpg' if i < 3 else 'png'}"
        put(root / name, png(i))
        marks.append(f"{name} " + " ".join("1" if (i + k) % 3 else "-1" for k in range(40)))
        parts.append(f"{name} {i % 3}")
    lines(root / "list_attr_celeba.txt", marks)
    lines(root / "list_eval_partition.txt", parts)


def caltech101(root: Path) -> None:
    rng = dice("caltech101")
    outlines = {"Faces": "Faces_2", "airplanes": "Airplanes_Side_2", "ant": "ant", "BACKGROUND_Google": ""}
    for c, (name, outline) in enumerate(outlines.items()):
        for i in (1, 2):
            put(root / "101_ObjectCategories" / name / f"image_{i:04}.jpg", png(10 * c + i))
            if outline:
                points = rng.uniform(0, 100, (2, 4 + i))
                matlab(root / "Annotations" / outline / f"annotation_{i:04}.mat", obj_contour=points)


def flickr(root: Path) -> None:
    told = []
    for i in range(3):
        put(root / "images" / f"{i}.jpg", png(i))
        told += [f"{i}.jpg#{k}\tcaption {k} of {i}" for k in range(5)]
    lines(root / "a.token", told)


def sbu(root: Path) -> None:
    urls, captions = [], []
    for i in range(3):
        put(root / "sbu_images" / f"m_4{i}_a.jpg", png(i))
        urls.append(f"http://static.flickr.com/4{i}/a.jpg")
        captions.append(f"caption {i} ")
    lines(root / "SBU_captioned_photo_dataset_urls.txt", urls)
    lines(root / "SBU_captioned_photo_dataset_captions.txt", captions)


def lfw(root: Path) -> None:
    for c, name in enumerate(("Ann_A", "Bob_B", "Cy_C")):
        for i in (1, 2):
            for k, folder in enumerate(("lfw_funneled", "lfw", "lfw-deepfunneled")):
                put(root / folder / name / f"{name}_{i:04}.jpg", png(100 * k + 10 * c + i))
    lines(root / "lfw-names.txt", ["Ann_A\t2", "Bob_B\t2", "Cy_C\t2"])
    lines(root / "peopleDevTrain.txt", ["2", "Ann_A\t2", "Cy_C\t1"])
    lines(root / "peopleDevTest.txt", ["1", "Bob_B\t2"])
    lines(root / "people.txt", ["2", "1", "Ann_A\t2", "2", "Bob_B\t1", "Cy_C\t2"])
    lines(root / "pairsDevTrain.txt", ["1", "Ann_A\t1\t2", "Ann_A\t1\tBob_B\t2"])
    lines(root / "pairsDevTest.txt", ["1", "Bob_B\t1\t2", "Ann_A\t2\tBob_B\t1"])
    lines(root / "pairs.txt", ["2\t1", "Ann_A\t1\t2", "Ann_A\t1\tBob_B\t2", "Bob_B\t1\t2", "Ann_A\t2\tCy_C\t1"])


def div2k(root: Path) -> None:
    for p, part in enumerate(("train", "valid")):
        for i in range(1, 4):
            name = f"{800 * p + i:04}"
            put(root / f"DIV2K_{part}_HR" / f"{name}.png", png(10 * p + i, 8, 8))
            for s, scale in enumerate((2, 3, 4)):
                for d, way in enumerate(("bicubic", "unknown")):
                    small = png(50 + 100 * p + 20 * s + 10 * d + i)
                    put(root / f"DIV2K_{part}_LR_{way}" / f"X{scale}" / f"{name}x{scale}.png", small)
            for d, (way, mark) in enumerate((("mild", "m"), ("difficult", "d"), ("wild", "w"))):
                put(root / f"DIV2K_{part}_LR_{way}" / f"{name}x4{mark}.png", png(300 + 10 * d + 50 * p + i))
            put(root / f"DIV2K_{part}_LR_x8" / f"{name}x8.png", png(500 + 50 * p + i))


def cityscapes(root: Path) -> None:
    seed = 0
    for part in ("train", "val", "test", "train_extra"):
        for city in ("bochum", "aachen"):
            for i in range(2):
                stem = f"{city}_{i:06}_000019"
                put(root / "leftImg8bit" / part / city / f"{stem}_leftImg8bit.png", png(seed := seed + 1))
                for marks in (m for m in ("gtFine", "gtCoarse") if (m, part) != ("gtFine", "train_extra")):
                    for ending in ("color", "instanceIds", "labelIds"):
                        put(root / marks / part / city / f"{stem}_{marks}_{ending}.png", png(seed := seed + 1))
                    told = json.dumps({"imgHeight": 5, "imgWidth": 6, "objects": [{"label": f"k{i}"}]})
                    put(root / marks / part / city / f"{stem}_{marks}_polygons.json", told)


def kitti(root: Path) -> None:
    for i in range(3):
        put(root / "data_object_image_2" / "training" / "image_2" / f"{i:06}.png", png(i))
        put(root / "data_object_image_2" / "testing" / "image_2" / f"{i:06}.png", png(10 + i))
        marks = [
            f"{kind} 0.{k}0 {k} -0.2{i} 712.40 143.0{k} 810.73 307.92 1.89 0.48 1.20 1.84 1.47 8.41 0.0{k}"
            for k, kind in enumerate(("Pedestrian", "Car", "DontCare", "Van")[: i + 2])
        ]
        lines(root / "data_object_label_2" / "training" / "label_2" / f"{i:06}.txt", marks)


def wider(root: Path) -> None:
    for p, part in enumerate(("train", "val", "test")):
        told = []
        for i in range(3):
            name = f"{i % 2}--Parade/{i % 2}_Parade_{part}_{i}.jpg"
            put(root / f"WIDER_{part}" / "images" / name, png(10 * p + i))
            told.append(name)
            if part != "test":
                told.append(str(i))
                faces = [f"{449 + k} 330 122 149 {k} 1 0 {k % 2} 2 1 " for k in range(i)]
                told += faces or ["0 0 0 0 0 0 0 0 0 0 "]  # how an image without faces is written
        ending = "filelist" if part == "test" else "bbx_gt"
        lines(root / "wider_face_split" / f"wider_face_{part}_{ending}.txt", told)


def sbd(root: Path) -> None:
    from scipy.sparse import csc_matrix

    rng = dice("sbd")
    for i in range(4):
        put(root / "img" / f"2008_{i:06}.jpg", png(i))
        planes = np.empty((20, 1), object)
        for k in range(20):
            planes[k, 0] = csc_matrix((rng.random((5, 6)) < 0.2).astype(np.uint8))
        regions = rng.integers(0, 21, (5, 6)).astype(np.uint8)
        matlab(root / "cls" / f"2008_{i:06}.mat", GTcls={"Boundaries": planes, "Segmentation": regions})
    lines(root / "train.txt", ["2008_000002", "2008_000000", "2008_000001"])
    lines(root / "val.txt", ["2008_000003"])
    lines(root / "train_noval.txt", ["2008_000001"])


def photo_tour(root: Path) -> None:
    rng = dice("photo_tour")
    for s in range(2):
        put(root / "liberty" / f"patches{s:04}.bmp", bmp(rng.integers(0, 256, (1024, 1024), np.uint8)))
    lines(root / "liberty" / "info.txt", [f"{i // 3} 0" for i in range(258)])
    pairs = ["0 0 0 1 0 0 0", "2 0 0 257 85 0 0", "255 85 0 256 85 0 0"]
    lines(root / "liberty" / "m50_100000_100000_0.txt", pairs)
