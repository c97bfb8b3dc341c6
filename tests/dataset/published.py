"""Tiny datasets in the formats that large ones were published in; NumPy and the standard library only."""

from __future__ import annotations

import json
import struct
import wave
import zlib
from pathlib import Path
from typing import Any

import numpy as np

rng = np.random.default_rng(7)


def png(seed: int, height: int = 5, width: int = 6) -> bytes:
    """A small image file."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def put(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def idx(path: Path, array: np.ndarray) -> None:
    kind = {"uint8": 8, "int32": 12}[str(array.dtype)]
    head = bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    put(path, head + array.astype(array.dtype.newbyteorder(">")).tobytes())


def sound(path: Path, seed: int, rate: int = 8000, frames: int = 20) -> None:
    samples = np.random.default_rng(seed).integers(-30000, 30000, frames).astype("<i2")
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(samples.tobytes())


def mnist(root: Path) -> None:
    for stem, count in (("train", 5), ("t10k", 3)):
        idx(root / f"{stem}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28)).astype(np.uint8))
        idx(root / f"{stem}-labels-idx1-ubyte", rng.integers(0, 10, count).astype(np.uint8))


def emnist(root: Path) -> None:
    for part, count in (("train", 4), ("test", 2)):
        idx(root / f"emnist-mnist-{part}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28)).astype(np.uint8))
        idx(root / f"emnist-mnist-{part}-labels-idx1-ubyte", rng.integers(0, 10, count).astype(np.uint8))


def qmnist(root: Path) -> None:
    for part, count in (("train", 4), ("test", 3), ("xnist", 2)):
        idx(root / f"qmnist-{part}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28)).astype(np.uint8))
        idx(root / f"qmnist-{part}-labels-idx2-int", rng.integers(0, 10, (count, 8)).astype(np.int32))


def cifar10(root: Path) -> None:
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        rows = rng.integers(0, 256, (3, 3073)).astype(np.uint8)
        rows[:, 0] %= 10
        put(root / f"{name}.bin", rows.tobytes())


def cifar100(root: Path) -> None:
    for name in ("train", "test"):
        rows = rng.integers(0, 256, (4, 3074)).astype(np.uint8)
        rows[:, 0] %= 20
        rows[:, 1] %= 100
        put(root / f"{name}.bin", rows.tobytes())


def stl10(root: Path) -> None:
    for part, count in (("train", 2), ("test", 2), ("unlabeled", 1)):
        put(root / f"{part}_X.bin", rng.integers(0, 256, (count, 3, 96, 96)).astype(np.uint8).tobytes())
        if part != "unlabeled":
            put(root / f"{part}_y.bin", rng.integers(1, 11, count).astype(np.uint8).tobytes())


def usps(root: Path) -> None:
    for name, count in (("usps", 3), ("usps.t", 2)):
        lines = []
        for _ in range(count):
            cells = " ".join(f"{i + 1}:{v:.6f}" for i, v in enumerate(rng.uniform(-1, 1, 256)))
            lines.append(f"{rng.integers(1, 11)} {cells} \n")
        put(root / name, "".join(lines))


def semeion(root: Path) -> None:
    lines = []
    for i in range(3):
        pixels = " ".join(f"{v:.4f}" for v in rng.integers(0, 2, 256))
        lines.append(f"{pixels} {' '.join('1' if k == i else '0' for k in range(10))} \n")
    put(root / "semeion.data", "".join(lines))


def image_folder(root: Path) -> None:
    for c, name in enumerate(("cat", "dog", "eel")):
        for i in range(c + 1):
            put(root / name / f"{i}.png", png(10 * c + i))


def manifest(root: Path) -> None:
    lines = []
    for i in range(4):
        path = put(root / f"{i}.png", png(i))
        told = {"source": str(path), "usage": "train" if i < 3 else "eval", "annotation": [{"name": f"k{i % 2}"}]}
        lines.append(json.dumps(told) + "\n")
    put(root / "a.manifest", "".join(lines))


def voc(root: Path) -> None:
    for i in range(2):
        put(root / "JPEGImages" / f"{i}.jpg", png(i))
        put(root / "SegmentationClass" / f"{i}.png", png(50 + i))
        objects = "".join(
            f"<object><name>k{k}</name><truncated>{k}</truncated><difficult>{i}</difficult><bndbox><xmin>{k + 1}</xmin>"
            f"<ymin>2</ymin><xmax>{k + 5}</xmax><ymax>9</ymax></bndbox></object>"
            for k in range(i + 1)
        )
        put(root / "Annotations" / f"{i}.xml", f"<annotation>{objects}</annotation>")
    put(root / "ImageSets" / "Segmentation" / "train.txt", "0\n1\n")
    put(root / "ImageSets" / "Main" / "train.txt", "0\n1\n")


def coco(root: Path) -> None:
    images, marks = [], []
    for i in range(2):
        put(root / "images" / f"{i}.jpg", png(i))
        images.append({"id": i, "file_name": f"{i}.jpg"})
        for k in range(i + 1):
            marks.append({"id": len(marks), "image_id": i, "category_id": k + 1, "bbox": [1.0, 2.0, 3.0 + k, 4.0],
                          "iscrowd": 0, "area": 12, "segmentation": [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
                          "keypoints": [1, 2, 2] * 17, "num_keypoints": 17, "caption": f"c{k}"})  # fmt: skip
    categories = [{"id": k + 1, "name": f"k{k}", "isthing": 1} for k in range(2)]
    put(root / "a.json", json.dumps({"images": images, "annotations": marks, "categories": categories}))


def celeba(root: Path) -> None:
    lines = ["4", " ".join(f"a{k}" for k in range(40))]
    parts = []
    for i in range(4):
        put(root / f"{i}.jpg", png(i))
        lines.append(f"{i}.jpg " + " ".join("1" if (i + k) % 3 else "-1" for k in range(40)))
        parts.append(f"{i}.jpg {i % 3}")
    put(root / "list_attr_celeba.txt", "\n".join(lines) + "\n")
    put(root / "list_eval_partition.txt", "\n".join(parts) + "\n")


def flickr(root: Path) -> None:
    lines = []
    for i in range(2):
        put(root / "images" / f"{i}.jpg", png(i))
        lines += [f"{i}.jpg#{k}\tcaption {k} of {i}" for k in range(5)]
    put(root / "a.token", "\n".join(lines) + "\n")


def places(root: Path) -> None:
    lines = []
    for i in range(3):
        put(root / "val_256" / f"p{i}.jpg", png(i))
        lines.append(f"p{i}.jpg {i * 7}")
    put(root / "places365_val.txt", "\n".join(lines) + "\n")
    put(root / "categories_places365.txt", "\n".join(f"/c/c{i} {i * 7}" for i in range(3)) + "\n")


def sbu(root: Path) -> None:
    urls, captions = [], []
    for i in range(2):
        put(root / "sbu_images" / f"4{i}_a.jpg", png(i))
        urls.append(f"http://static.flickr.com/4{i}/a.jpg")
        captions.append(f"caption {i}")
    put(root / "SBU_captioned_photo_dataset_urls.txt", "\n".join(urls) + "\n")
    put(root / "SBU_captioned_photo_dataset_captions.txt", "\n".join(captions) + "\n")


def omniglot(root: Path) -> None:
    for part in ("images_background", "images_evaluation"):
        for alphabet in ("A", "B"):
            for character in ("c1", "c2"):
                seed = zlib.crc32(f"{part}{alphabet}{character}".encode()) % 99
                put(root / part / alphabet / character / "0.png", png(seed))


def lfw(root: Path) -> None:
    for name in ("Ann_A", "Bob_B"):
        for i in (1, 2):
            put(root / "lfw_funneled" / name / f"{name}_{i:04}.jpg", png(i))
    put(root / "lfw-names.txt", "Ann_A\t2\nBob_B\t2\n")
    put(root / "peopleDevTrain.txt", "1\nAnn_A\t2\n")
    put(root / "peopleDevTest.txt", "1\nBob_B\t2\n")
    put(root / "pairsDevTrain.txt", "1\nAnn_A\t1\t2\nAnn_A\t1\tBob_B\t2\n")
    put(root / "pairsDevTest.txt", "1\nBob_B\t1\t2\nAnn_A\t2\tBob_B\t1\n")


def food(root: Path) -> None:
    for part, names in (("train", ["pie/1", "tea/2"]), ("test", ["tea/3"])):
        put(root / "meta" / f"{part}.txt", "\n".join(names) + "\n")
        for i, name in enumerate(names):
            put(root / "images" / f"{name}.jpg", png(i))


def caltech256(root: Path) -> None:
    for c in ("001.ak47", "002.flag"):
        for i in range(2):
            put(root / c / f"{c[:3]}_{i:04}.jpg", png(i))


def csv_news(columns: int):
    def make(root: Path) -> None:
        for part, count in (("train", 4), ("test", 2)):
            lines = [",".join(f'"{part}{i}, cell {c}"' for c in range(columns)) for i in range(count)]
            put(root / f"{part}.csv", "\n".join(lines) + "\n")

    return make


def imdb(root: Path) -> None:
    for part in ("train", "test"):
        for name in ("pos", "neg"):
            for i in range(2):
                put(root / part / name / f"{i}_7.txt", f"{part} {name} {i} film")


def conll(root: Path) -> None:
    for part in ("train", "test"):
        put(root / f"{part}.txt", f"{part} NN B-NP\nruns VB B-VP\n\nIt PRP B-NP\n\n")


def udpos(root: Path) -> None:
    for part in ("train", "test", "dev"):
        put(root / f"en-ud-tag.v2.{part}.txt", f"{part}\tNOUN\tNN\nruns\tVERB\tVBZ\n\nIt\tPRON\tPRP\n\n")


def ptb(root: Path) -> None:
    for part in ("train", "test", "valid"):
        put(root / f"ptb.{part}.txt", f" first {part} line \n second {part} line \n")


def wikitext(root: Path) -> None:
    for part in ("train", "test", "valid"):
        put(root / f"wiki.{part}.tokens", f" \n = {part} = \n \n some words \n")


def squad(root: Path) -> None:
    for part in ("train", "dev"):
        qas = [{"id": "1", "question": "Who?", "answers": [{"text": "He", "answer_start": 3}]}]
        told = {"version": "1.1", "data": [{"title": part, "paragraphs": [{"context": f"So He {part}", "qas": qas}]}]}
        put(root / f"{part}-v1.1.json", json.dumps(told))


def sst2(root: Path) -> None:
    put(root / "train.tsv", "sentence\tlabel\ngood film\t1\nbad film\t0\n")
    put(root / "dev.tsv", "sentence\tlabel\nfine\t1\n")
    put(root / "test.tsv", "index\tsentence\n0\tunknown film\n")


def multi30k(root: Path) -> None:
    for place in ("training/train", "validation/val", "mmt16_task1_test/test"):
        put(root / f"{place}.en", "A dog.\nA cat.\n")
        put(root / f"{place}.de", "Ein Hund.\nEine Katze.\n")


def clue(root: Path) -> None:
    lines = [{"sentence1": f"a{i}", "sentence2": f"b{i}", "label": str(i % 2)} for i in range(3)]
    put(root / "train.json", "\n".join(map(json.dumps, lines)) + "\n")


def ljspeech(root: Path) -> None:
    put(root / "metadata.csv", "LJ001|Nr. 1|Number one\nLJ002|Two|Two\n")
    for i in (1, 2):
        sound(root / "wavs" / f"LJ00{i}.wav", i)


def speech_commands(root: Path) -> None:
    for word in ("cat", "dog"):
        for i in range(2):
            sound(root / word / f"ab{i}_nohash_{i}.wav", i)
    put(root / "testing_list.txt", "cat/ab1_nohash_1.wav\n")
    put(root / "validation_list.txt", "dog/ab0_nohash_0.wav\n")


def yesno(root: Path) -> None:
    for i, name in enumerate(("0_1_1_0_0_1_1_1", "1_1_1_1_0_0_0_0")):
        sound(root / f"{name}.wav", i)


def gtzan(root: Path) -> None:
    for genre in ("blues", "jazz"):
        for i in range(2):
            sound(root / genre / f"{genre}.{i:05}.wav", i, rate=22050)


def libritts(root: Path) -> None:
    for part in ("dev-clean", "train-clean-100"):
        stem = root / part / "84" / "121" / "84_121_000001_000000"
        sound(stem.with_suffix(".wav"), 3, rate=24000)
        put(stem.parent / "84_121.trans.tsv", f"{stem.name}\tMr. {part}\tMister {part}\n")
        put(stem.with_suffix(".original.txt"), f"Mr. {part}\n")
        put(stem.with_suffix(".normalized.txt"), f"Mister {part}\n")


def arctic(root: Path) -> None:
    place = root / "cmu_us_aew_arctic"
    put(place / "etc" / "txt.done.data", '( arctic_a0001 "First, words." )\n( arctic_a0002 "More words." )\n')
    for i in (1, 2):
        sound(place / "wav" / f"arctic_a000{i}.wav", i, rate=16000)


def tedlium(root: Path) -> None:
    place = root / "test"
    head = b"NIST_1A\n   1024\nsample_rate -i 16000\nsample_byte_format -s2 01\nend_head\n".ljust(1024)
    samples = np.random.default_rng(0).integers(-999, 999, 16000).astype("<i2")
    put(place / "sph" / "talk.sph", head + samples.tobytes())
    put(place / "stm" / "talk.stm", "talk 1 speaker 0.10 0.20 <o,f0> some words\ntalk 1 speaker 0.5 0.6 <o> more\n")


# dataset, how to make it, and how to open it once it is there
CASES: list[tuple[str, Any, dict[str, Any]]] = [
    ("MnistDataset", mnist, {"usage": "train"}),
    ("MnistDataset", mnist, {"usage": "all"}),
    ("FashionMnistDataset", mnist, {"usage": "test"}),
    ("KMnistDataset", mnist, {"usage": "test"}),
    ("EMnistDataset", emnist, {"name": "mnist", "usage": "train"}),
    ("QMnistDataset", qmnist, {"usage": "train"}),
    ("QMnistDataset", qmnist, {"usage": "train", "compat": False}),
    ("Cifar10Dataset", cifar10, {"usage": "train"}),
    ("Cifar10Dataset", cifar10, {"usage": "test"}),
    ("Cifar100Dataset", cifar100, {"usage": "train"}),
    ("STL10Dataset", stl10, {"usage": "train"}),
    ("USPSDataset", usps, {"usage": "train"}),
    ("SemeionDataset", semeion, {}),
    ("ImageFolderDataset", image_folder, {}),
    ("ImageFolderDataset", image_folder, {"class_indexing": {"dog": 4, "cat": 2}}),
    ("ManifestDataset", manifest, {"dataset_file": "a.manifest"}),
    ("VOCDataset", voc, {"task": "Segmentation", "usage": "train"}),
    ("VOCDataset", voc, {"task": "Detection", "usage": "train"}),
    ("CocoDataset", coco, {"dataset_dir": "images", "annotation_file": "a.json", "task": "Detection"}),
    ("CocoDataset", coco, {"dataset_dir": "images", "annotation_file": "a.json", "task": "Keypoint"}),
    ("CocoDataset", coco, {"dataset_dir": "images", "annotation_file": "a.json", "task": "Captioning"}),
    ("CocoDataset", coco, {"dataset_dir": "images", "annotation_file": "a.json", "task": "Stuff"}),
    ("CelebADataset", celeba, {"usage": "all"}),
    ("CelebADataset", celeba, {"usage": "train"}),
    ("FlickrDataset", flickr, {"dataset_dir": "images", "annotation_file": "a.token"}),
    ("Places365Dataset", places, {"usage": "val", "small": True}),
    ("SBUDataset", sbu, {}),
    ("OmniglotDataset", omniglot, {}),
    ("LFWDataset", lfw, {"task": "people", "usage": "train"}),
    ("LFWDataset", lfw, {"task": "pairs", "usage": "test"}),
    ("Food101Dataset", food, {"usage": "train"}),
    ("Caltech256Dataset", caltech256, {}),
    ("AGNewsDataset", csv_news(3), {"usage": "train"}),
    ("AmazonReviewDataset", csv_news(3), {"usage": "test"}),
    ("DBpediaDataset", csv_news(3), {"usage": "train"}),
    ("SogouNewsDataset", csv_news(3), {"usage": "train"}),
    ("YahooAnswersDataset", csv_news(4), {"usage": "train"}),
    ("YelpReviewDataset", csv_news(2), {"usage": "all"}),
    ("IMDBDataset", imdb, {"usage": "train"}),
    ("CoNLL2000Dataset", conll, {"usage": "train"}),
    ("UDPOSDataset", udpos, {"usage": "train"}),
    ("PennTreebankDataset", ptb, {"usage": "train"}),
    ("WikiTextDataset", wikitext, {"usage": "train"}),
    ("SQuADDataset", squad, {"usage": "train"}),
    ("SST2Dataset", sst2, {"usage": "train"}),
    ("SST2Dataset", sst2, {"usage": "test"}),
    ("Multi30kDataset", multi30k, {"usage": "train", "language_pair": ["en", "de"]}),
    ("CLUEDataset", clue, {"dataset_files": "train.json", "task": "AFQMC", "usage": "train"}),
    ("LJSpeechDataset", ljspeech, {}),
    ("SpeechCommandsDataset", speech_commands, {"usage": "train"}),
    ("SpeechCommandsDataset", speech_commands, {"usage": "all"}),
    ("YesNoDataset", yesno, {}),
    ("GTZANDataset", gtzan, {"usage": "all"}),
    ("LibriTTSDataset", libritts, {"usage": "dev-clean"}),
    ("CMUArcticDataset", arctic, {"name": "aew"}),
    ("TedliumDataset", tedlium, {"release": "release1", "usage": "test"}),
]


def opened(module: Any, case: int, root: Path) -> Any:
    """The dataset of a case, by a module that has its name."""
    name, make, options = CASES[case]
    make(root)
    options = dict(options)
    for key in ("dataset_dir", "dataset_file", "dataset_files", "annotation_file"):
        if key in options:
            options[key] = str(root / options[key])
    if not {"dataset_dir", "dataset_file", "dataset_files"} & set(options):
        options["dataset_dir"] = str(root)
    if name == "Multi30kDataset":
        options["language_pair"] = list(options["language_pair"])
    return getattr(module, name)(shuffle=False, **options)


def told(dataset: Any) -> list[dict[str, Any]]:
    """The rows, short enough to be written down: kind, shape and sum of numbers, or the text itself."""
    rows = []
    for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        cells = {}
        for name, value in row.items():
            value = np.asarray(value)
            if value.dtype.kind in "US":
                cells[name] = [str(v) for v in value.ravel()] if value.ndim else str(value)
            else:
                weights = np.arange(1, value.size + 1)
                total = float((value.astype(np.float64).ravel() * weights).sum())
                cells[name] = [str(value.dtype), list(value.shape), round(total, 3)]
        rows.append(cells)
    return rows
