"""Tiny datasets in the formats that large ones were published in, and how each is opened."""

from __future__ import annotations

import inspect
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import arrays, folders, scenes, sounds, texts
from .arrays import cifar10, cifar100, mnist
from .folders import image_folder
from .sources import SOURCES, nothing

__all__ = ["CASES", "SOURCES", "cifar10", "cifar100", "image_folder", "key", "mnist", "opened", "told"]

Options = dict[str, Any]
Case = tuple[str, Callable[[Path], None], Options]


class Table:
    """What Hugging Face's `datasets` give: rows by number, columns by name."""

    column_names = ["x", "name"]

    def __len__(self) -> int:
        return 5

    def __getitem__(self, key: int | str) -> Any:
        columns = {"x": [[i, i * i] for i in range(5)], "name": [f"n{i}" for i in range(5)]}
        return columns[key] if isinstance(key, str) else {k: v[key] for k, v in columns.items()}


def _each(name: str, make: Callable[[Path], None], option: str, values: list[Any], /, **more: Any) -> list[Case]:
    """A case for every value of an option."""
    return [(name, make, {option: value, **more}) for value in values]


ALL = ["train", "test", "all"]
VALID = ["train", "test", "valid", "all"]
COCO = {"dataset_dir": "images", "annotation_file": "a.json"}

# dataset, how to make it, and how to open it once it is there; the first case of a dataset is also opened with
# num_samples, shares, a sampler and decode, as far as it knows them
PLAIN: list[Case] = [
    *_each("MnistDataset", arrays.mnist, "usage", [*ALL, None]),
    *_each("FashionMnistDataset", arrays.mnist, "usage", ALL),
    *_each("KMnistDataset", arrays.mnist, "usage", ALL),
    *_each("EMnistDataset", arrays.emnist, "usage", [*ALL, None], name="mnist"),
    *_each("EMnistDataset", arrays.emnist, "usage", ALL, name="letters"),
    *_each("QMnistDataset", arrays.qmnist, "usage", ["train", "test", "test10k", "nist", "all", None]),
    *_each("QMnistDataset", arrays.qmnist, "usage", ["train", "test"], compat=False),
    ("Cifar10Dataset", arrays.cifar10_whole, {"usage": "test", "sampler": ("SubsetSampler", [2, 0, 5, 9999])}),
    ("Cifar10Dataset", arrays.cifar10_whole, {"usage": "train", "sampler": ("SubsetSampler", [0, 20001, 49999])}),
    ("Cifar10Dataset", arrays.cifar10_whole, {"usage": "all", "sampler": ("SubsetSampler", [1, 40000, 50001])}),
    ("Cifar10Dataset", arrays.cifar10_whole, {"usage": "test", "num_samples": 3}),
    ("Cifar10Dataset", arrays.cifar10_whole, {"usage": "test", "num_shards": 3333, "shard_id": 2}),
    ("Cifar100Dataset", arrays.cifar100_whole, {"usage": "test", "sampler": ("SubsetSampler", [2, 0, 5, 9999])}),
    ("Cifar100Dataset", arrays.cifar100_whole, {"usage": "train", "sampler": ("SubsetSampler", [0, 1, 49999])}),
    ("Cifar100Dataset", arrays.cifar100_whole, {"usage": "all", "sampler": ("SubsetSampler", [1, 10001, 59999])}),
    ("Cifar100Dataset", arrays.cifar100_whole, {"usage": "test", "num_samples": 3}),
    ("Cifar100Dataset", arrays.cifar100_whole, {"usage": "test", "num_shards": 3333, "shard_id": 2}),
    *_each("STL10Dataset", arrays.stl10, "usage", ["train", "test", "unlabeled", "train+unlabeled", "all", None]),
    *_each("SVHNDataset", arrays.svhn, "usage", ["train", "test", "extra", "all", None]),
    *_each("USPSDataset", arrays.usps, "usage", [*ALL, None]),
    ("SemeionDataset", arrays.semeion, {}),
    ("FakeImageDataset", nothing, {"num_images": 5, "image_size": (4, 5, 3), "num_classes": 3}),
    ("ImageFolderDataset", folders.image_folder, {}),
    ("ImageFolderDataset", folders.image_folder, {"class_indexing": {"dog": 4, "cat": 2}}),
    ("ImageFolderDataset", folders.mixed_folder, {}),
    ("ImageFolderDataset", folders.mixed_folder, {"extensions": [".png"]}),
    ("ImageFolderDataset", folders.mixed_folder, {"extensions": [".JPG", ".bmp"]}),
    ("ImageFolderDataset", folders.nested_folder, {}),
    ("ManifestDataset", folders.manifest, {"dataset_file": "a.manifest"}),
    ("ManifestDataset", folders.manifest, {"dataset_file": "a.manifest", "usage": "eval"}),
    ("ManifestDataset", folders.manifest, {"dataset_file": "a.manifest", "class_indexing": {"k1": 7}}),
    ("ManifestDataset", folders.manifest_of_several, {"dataset_file": "a.manifest"}),
    (
        "ManifestDataset",
        folders.manifest_of_several,
        {"dataset_file": "a.manifest", "class_indexing": {"a": 3, "b": 1}},
    ),
    ("Caltech256Dataset", folders.caltech256, {}),
    ("SUN397Dataset", folders.sun397, {}),
    *_each("Food101Dataset", folders.food, "usage", [*ALL, None]),
    *_each("Places365Dataset", folders.places, "usage", ["train-standard", "train-challenge", "val", None]),
    *_each("Places365Dataset", folders.places, "usage", ["train-standard", "val"], small=False),
    *_each("RenderedSST2Dataset", folders.rendered_sst2, "usage", ["train", "test", "val", "all", None]),
    *_each("OmniglotDataset", folders.omniglot, "background", [True, False, None]),
    *_each("LSUNDataset", folders.lsun, "usage", ["train", "test", "valid", "all", None]),
    *_each("LSUNDataset", folders.lsun, "usage", ["train", "valid", "all"], classes=["church_outdoor", "bedroom"]),
    *_each("Flowers102Dataset", folders.flowers, "usage", VALID),
    *_each("Flowers102Dataset", folders.flowers, "usage", ["train", "all"], task="Segmentation"),
    *_each("VOCDataset", scenes.voc, "usage", ["train", "val"], task="Segmentation"),
    *_each("VOCDataset", scenes.voc, "usage", ["train", "val"], task="Detection"),
    ("VOCDataset", scenes.voc, {"task": "Detection", "usage": "train", "class_indexing": {"k0": 5, "k1": 6, "k2": 0}}),
    ("VOCDataset", scenes.voc, {"task": "Detection", "usage": "train", "class_indexing": {"k1": 6}}),
    ("VOCDataset", scenes.voc, {"task": "Detection", "usage": "train", "extra_metadata": True}),
    ("VOCDataset", scenes.voc, {"task": "Segmentation", "usage": "train", "extra_metadata": True, "decode": True}),
    ("VOCDataset", scenes.voc, {"task": "Detection", "usage": "train", "decode": True}),
    *_each("CocoDataset", scenes.coco, "task", ["Detection", "Stuff", "Keypoint", "Captioning"], **COCO),
    ("CocoDataset", scenes.coco, {"dataset_dir": "images", "annotation_file": "panoptic.json", "task": "Panoptic"}),
    *_each("CocoDataset", scenes.coco, "task", ["Detection", "Stuff", "Captioning"], extra_metadata=True, **COCO),
    *_each("CocoDataset", scenes.coco_sparse, "task", ["Detection", "Keypoint", "Captioning"], **COCO),
    ("CocoDataset", scenes.coco_crowd, {"task": "Stuff", **COCO}),
    ("CocoDataset", scenes.coco_crowd, {"task": "Detection", **COCO}),
    *_each("CelebADataset", scenes.celeba, "usage", ["all", "train", "valid", "test"]),
    ("CelebADataset", scenes.celeba, {"extensions": [".jpg"]}),
    ("CelebADataset", scenes.celeba, {"extensions": [".png"]}),
    *_each("Caltech101Dataset", scenes.caltech101, "target_type", ["category", "annotation", "all", None]),
    ("FlickrDataset", scenes.flickr, {"dataset_dir": "images", "annotation_file": "a.token"}),
    ("SBUDataset", scenes.sbu, {}),
    *_each("LFWDataset", scenes.lfw, "usage", ["train", "test", "10fold", "all", None], task="people"),
    *_each("LFWDataset", scenes.lfw, "usage", ["train", "test", "10fold", "all", None], task="pairs"),
    *_each("LFWDataset", scenes.lfw, "image_set", ["original", "funneled", "deepfunneled"], usage="train"),
    *_each("DIV2KDataset", scenes.div2k, "usage", ["train", "valid", "all"]),
    *_each("DIV2KDataset", scenes.div2k, "scale", [2, 3, 4, 8], downgrade="bicubic"),
    *_each("DIV2KDataset", scenes.div2k, "downgrade", ["unknown"], scale=3),
    *_each("DIV2KDataset", scenes.div2k, "downgrade", ["mild", "difficult", "wild"], scale=4, usage="all"),
    *_each("CityscapesDataset", scenes.cityscapes, "usage", ["train", "val", "test", "all"]),
    *_each("CityscapesDataset", scenes.cityscapes, "task", ["semantic", "color", "polygon"]),
    *_each("CityscapesDataset", scenes.cityscapes, "usage", ["train", "train_extra", "all"], quality_mode="coarse"),
    ("CityscapesDataset", scenes.cityscapes, {"task": "polygon", "decode": True}),
    *_each("KITTIDataset", scenes.kitti, "usage", ["train", "test", None]),
    *_each("WIDERFaceDataset", scenes.wider, "usage", ["train", "valid", "test", "all", None]),
    *_each("SBDataset", scenes.sbd, "usage", ["train", "val", "train_noval", "all"]),
    *_each("SBDataset", scenes.sbd, "usage", ["train", "all"], task="Segmentation"),
    *_each("PhotoTourDataset", scenes.photo_tour, "usage", ["test", "train"], name="liberty"),
    *_each("AGNewsDataset", texts.csv_news(3), "usage", [*ALL, None]),
    *_each("AmazonReviewDataset", texts.csv_news(3), "usage", [*ALL, None]),
    *_each("DBpediaDataset", texts.csv_news(3), "usage", [*ALL, None]),
    *_each("SogouNewsDataset", texts.csv_news(3), "usage", [*ALL, None]),
    *_each("YahooAnswersDataset", texts.csv_news(4), "usage", [*ALL, None]),
    *_each("YelpReviewDataset", texts.csv_news(2), "usage", [*ALL, None]),
    *_each("IMDBDataset", texts.imdb, "usage", [*ALL, None]),
    *_each("CoNLL2000Dataset", texts.conll, "usage", [*ALL, None]),
    *_each("UDPOSDataset", texts.udpos, "usage", [*VALID, None]),
    *_each("PennTreebankDataset", texts.ptb, "usage", [*VALID, None]),
    *_each("WikiTextDataset", texts.wikitext, "usage", [*VALID, None]),
    ("EnWik9Dataset", texts.enwik9, {}),
    *_each("SQuADDataset", texts.squad, "usage", ["train", "dev", "all", None]),
    *_each("SQuADDataset", texts.squad2, "usage", ["train", "dev", "all"]),
    *_each("SST2Dataset", texts.sst2, "usage", ["train", "test", "dev", None]),
    *_each("Multi30kDataset", texts.multi30k, "usage", [*VALID, None], language_pair=["en", "de"]),
    ("Multi30kDataset", texts.multi30k, {"usage": "train", "language_pair": ["de", "en"]}),
    *_each("IWSLT2016Dataset", texts.iwslt2016, "usage", [*VALID, None]),
    ("IWSLT2016Dataset", texts.iwslt2016, {"usage": "train", "language_pair": ["en", "fr"]}),
    *_each("IWSLT2016Dataset", texts.iwslt2016, "usage", ["valid", "test"], valid_set="dev2010", test_set="tst2010"),
    *_each("IWSLT2017Dataset", texts.iwslt2017, "usage", [*VALID, None]),
    ("IWSLT2017Dataset", texts.iwslt2017, {"usage": "train", "language_pair": ["it", "nl"]}),
    *(
        ("CLUEDataset", texts.clue, {"dataset_files": f"{task.lower()}.{part}.json", "task": task, "usage": usage})
        for task in ("AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC", "CSL")
        for usage, part in (("train", "train"), ("eval", "train"), ("test", "test"))
    ),
    ("LJSpeechDataset", sounds.ljspeech, {}),
    *_each("SpeechCommandsDataset", sounds.speech_commands, "usage", [*VALID, None]),
    ("YesNoDataset", sounds.yesno, {}),
    *_each("GTZANDataset", sounds.gtzan, "usage", ["all", None]),
    *_each("GTZANDataset", sounds.gtzan_whole, "usage", ["train", "valid", "test", "all"]),
    *_each("LibriTTSDataset", sounds.libritts, "usage", ["all", "dev-clean", "train-clean-100", None]),
    *_each("CMUArcticDataset", sounds.arctic, "name", ["aew", "bdl", None]),
    *_each("TedliumDataset", sounds.tedlium, "usage", ["test", "train", "dev", "all", None], release="release1"),
    *_each("TedliumDataset", sounds.tedlium, "extensions", [".sph"], release="release2", usage="test"),
    *_each("TedliumDataset", sounds.tedlium3, "usage", ["all", None], release="release3"),
    ("HubDataset", nothing, {"source": Table()}),
]
VARIED: list[Options] = [
    {"num_samples": 2},
    {"num_shards": 2, "shard_id": 0},
    {"num_shards": 2, "shard_id": 1},
    {"num_shards": 3, "shard_id": 2},
    {"num_shards": 2, "shard_id": 1, "num_samples": 1},
    {"sampler": ("SubsetSampler", [2, 0])},
    {"sampler": ("SequentialSampler", 1, 2)},
    {"decode": True},
]


def _varied(plain: list[Case]) -> list[Case]:
    seen: dict[str, Case] = {}
    for case in plain:
        if not {"sampler", "num_samples", "num_shards"} & set(case[2]):
            seen.setdefault(case[0], case)
    return [(name, make, {**base, **more}) for name, make, base in seen.values() for more in VARIED]


CASES = PLAIN + _varied(PLAIN)


def key(case: Case) -> str:
    """What a case is called."""
    name, make, options = case
    return f"{name} {make.__name__} {json.dumps(options, default=lambda o: getattr(o, '__name__', type(o).__name__))}"


def opened(module: Any, case: Case, root: Path) -> Any:
    """The dataset of a case, by a module that has its name; None when it does not know one of the options."""
    name, make, options = case
    kind = getattr(module, name)
    known = inspect.signature(kind).parameters
    if not set(options) <= {*known, "dataset_dir"}:
        return None
    if not root.exists():
        make(root)
    root.mkdir(exist_ok=True)
    options = dict(options)
    for place in ("dataset_dir", "dataset_file", "dataset_files", "annotation_file", "schema"):
        if isinstance(options.get(place), str):
            options[place] = str(root / options[place])
        elif isinstance(options.get(place), list):
            options[place] = [str(root / path) for path in options[place]]
    if isinstance(options.get("schema"), tuple):
        options["schema"] = _schema(module, options["schema"][1])
    if "dataset_dir" in known:
        options.setdefault("dataset_dir", str(root))
    if "sampler" in options:
        kind_of_sampler, *arguments = options["sampler"]
        options["sampler"] = getattr(module, kind_of_sampler)(*arguments)
    elif "shuffle" in known:
        options["shuffle"] = False
    dataset = kind(**options)
    if options.get("extra_metadata"):  # MindSpore hides the column until it has another name
        return dataset.rename("_meta-filename", "filename")
    return dataset


def _schema(module: Any, columns: dict[str, Any]) -> Any:
    schema = module.Schema()
    for name, (kind, shape) in columns.items():
        schema.add_column(name, kind, shape)
    return schema


def told(dataset: Any) -> dict[str, Any]:
    """What a dataset answers, short enough to be written down."""
    rows = [
        [cell(np.asarray(v)) for v in row.values()]
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    ]
    answer = {"columns": list(dataset.get_col_names()), "size": dataset.get_dataset_size(), "rows": rows}
    try:
        classes = dataset.get_class_indexing()
    except RuntimeError:  # MindSpore refuses for tasks without classes
        classes = {}
    return {**answer, "classes": classes} if classes else answer


def cell(value: np.ndarray) -> Any:
    """A text as it is; numbers as their kind, shape, and themselves when few, else a sum of them or of their bytes."""
    if value.dtype.kind in "US":
        return [str(v) for v in value.ravel()] if value.ndim else str(value)
    if value.dtype.kind == "f":
        total = float((value.astype(np.float64).ravel() * np.arange(1, value.size + 1)).sum())
        return [str(value.dtype), list(value.shape), round(total, 4)]
    if value.size < 10:
        return [str(value.dtype), list(value.shape), value.ravel().tolist()]
    return [str(value.dtype), list(value.shape), zlib.crc32(np.ascontiguousarray(value).tobytes())]
