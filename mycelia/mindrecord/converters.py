"""Converters: datasets in published formats, written as record files."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from mycelia.errors import ArgumentError
from mycelia.mindrecord.formats import cifar_batches, find, png, read_idx
from mycelia.mindrecord.tfrecord import TFRecordFile
from mycelia.mindrecord.writer import SUCCESS, FileWriter

BLOCK = 512
Row = dict[str, Any]


class Converter(ABC):
    """Rows of some format, on their way into record files."""

    destination: str
    partition_number = 1
    index: tuple[str, ...] = ()

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The columns of the record file."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """The rows to write."""

    def transform(self) -> int:
        """Write the record files."""
        writer = FileWriter(self.destination, self.partition_number, overwrite=True)
        writer.add_schema(self.schema(), type(self).__name__)
        writer.add_index(self.index)
        rows = self.rows()
        while block := list(islice(rows, BLOCK)):
            writer.write_raw_data(block)
        writer.commit()
        return SUCCESS

    run = transform


class CsvToMR(Converter):
    """A CSV file with a header line; the type of a column is that of its values.

    >>> import tempfile
    >>> from mycelia.mindrecord.reader import RecordFile
    >>> place = Path(tempfile.mkdtemp(), "a.csv"); _ = place.write_text("x,name\\n1,one\\n2,two\\n")
    >>> CsvToMR(str(place), str(place) + ".mindrecord").transform()
    0
    >>> [row["name"] for row in RecordFile(str(place) + ".mindrecord")]
    ['one', 'two']
    """

    def __init__(
        self, source: str, destination: str, columns_list: Sequence[str] | None = None, partition_number: int = 1
    ) -> None:
        self.source, self.destination, self.partition_number = source, destination, partition_number
        with Path(source).open(newline="") as file:
            names = next(csv.reader(file), [])
        self.columns = list(columns_list or names)
        self.index = tuple(self.columns)
        unknown = [c for c in self.columns if c not in names]
        if unknown or not names:
            raise ArgumentError(f"the CSV file has no column {unknown}", given={"file": source, "columns": names})

    def _lines(self) -> Iterator[dict[str, str]]:
        with Path(self.source).open(newline="") as file:
            yield from csv.DictReader(file)

    def schema(self) -> dict[str, Any]:
        kinds = dict.fromkeys(self.columns, "int64")
        wider = {"int64": "float64", "float64": "string"}
        for line in self._lines():
            for c in self.columns:
                while kinds[c] != "string" and not _reads(line[c], kinds[c]):
                    kinds[c] = wider[kinds[c]]
        self.kinds = kinds
        return {c: {"type": kinds[c]} for c in self.columns}

    def rows(self) -> Iterator[Row]:
        make = {"int64": int, "float64": float, "string": str}
        for line in self._lines():
            yield {c: make[self.kinds[c]](line[c]) for c in self.columns}


def _reads(text: str, kind: str) -> bool:
    try:
        int(text) if kind == "int64" else float(text)
    except (TypeError, ValueError):
        return False
    return True


class TFRecordToMR(Converter):
    """TFRecord files of tf.train.Example messages. `feature_dict` maps names to types, or to (type, shape).

    >>> import tempfile
    >>> from mycelia.mindrecord.tfrecord import write_tfrecord
    >>> place = tempfile.mkdtemp() + "/a.tfrecord"; write_tfrecord(place, [{"x": 7}])
    >>> TFRecordToMR(place, place + ".mindrecord", {"x": "int64"}).transform()
    0
    """

    def __init__(
        self,
        source: str,
        destination: str,
        feature_dict: dict[str, Any],
        bytes_fields: Sequence[str] | None = None,
    ) -> None:
        self.source, self.destination = source, destination
        self.features, self.bytes_fields = feature_dict, list(bytes_fields or [])

    def schema(self) -> dict[str, Any]:
        told: dict[str, Any] = {}
        for name, kind in self.features.items():
            type, shape = kind if isinstance(kind, tuple | list) else (kind, None)
            type = "bytes" if name in self.bytes_fields else str(type)
            told[name] = {"type": type} if shape is None else {"type": type, "shape": list(shape)}
        return told

    def tfrecord_iterator(self) -> Iterator[Row]:
        """The rows as they will be written."""
        return self.rows()

    def rows(self) -> Iterator[Row]:
        schema = self.schema()
        source = TFRecordFile(self.source)
        for i in range(len(source)):
            message = source[i]
            missing = [n for n in schema if n not in message]
            if missing:
                given = {"file": self.source, "record": i, "has": sorted(message)}
                raise ArgumentError(f"a record lacks the features {missing}", given=given)
            yield {n: _plain(message[n], field["type"]) for n, field in schema.items()}


def _plain(value: Any, kind: str) -> Any:
    if not isinstance(value, list):
        return value
    return value[0].decode() if kind == "string" else value[0]


class Cifar10ToMR:
    """CIFAR-10 in its binary or Python version: images as PNG files, and labels.

    `destination` has the images for training, and `<destination>_test` those for testing.
    """

    hundred = False

    def __init__(self, source: str, destination: str) -> None:
        self.source, self.destination = source, destination

    def transform(self, fields: Sequence[str] | None = None) -> int:
        """Write the record files, which can be searched by `fields`."""
        if fields is not None and not isinstance(fields, list | tuple):
            raise ArgumentError(f"fields is a list of columns to search by, and is {fields!r}")
        for usage, ending in (("train", ""), ("test", "_test")):
            _CifarPart(self.source, self.destination + ending, usage, self.hundred, tuple(fields or ())).transform()
        return SUCCESS

    run = transform


class Cifar100ToMR(Cifar10ToMR):
    """CIFAR-100 in its binary or Python version: images as PNG files, fine and coarse labels.

    `destination` has the images for training, and `<destination>_test` those for testing.
    """

    hundred = True


class _CifarPart(Converter):
    def __init__(self, source: str, destination: str, usage: str, hundred: bool, index: tuple[str, ...]) -> None:
        self.source, self.destination, self.usage, self.hundred, self.index = source, destination, usage, hundred, index
        self.labels = ("coarse_label", "fine_label") if hundred else ("label",)

    def schema(self) -> dict[str, Any]:
        return {**{n: {"type": "int64"} for n in ("id", *reversed(self.labels))}, "data": {"type": "bytes"}}

    def rows(self) -> Iterator[Row]:
        number = 0
        for images, labels in cifar_batches(self.source, self.usage, self.hundred):
            for image, label in zip(images, labels, strict=True):
                yield {"id": number, "data": png(image), **dict(zip(self.labels, label.tolist(), strict=True))}
                number += 1


class MnistToMR:
    """MNIST's idx files, plain or gzipped, as PNG files and labels.

    They go to `<destination>_train.mindrecord` and `<destination>_test.mindrecord`.
    """

    def __init__(self, source: str, destination: str, partition_number: int = 1) -> None:
        self.source, self.destination, self.partition_number = source, destination, partition_number

    def transform(self) -> int:
        """Write the record files."""
        for usage, stem in (("train", "train"), ("test", "t10k")):
            _MnistPart(self.source, f"{self.destination}_{usage}.mindrecord", stem, self.partition_number).transform()
        return SUCCESS

    run = transform


class _MnistPart(Converter):
    index = ("label",)

    def __init__(self, source: str, destination: str, stem: str, partition_number: int) -> None:
        self.destination, self.partition_number = destination, partition_number
        self.images = read_idx(find(source, f"{stem}-images-idx3-ubyte", f"{stem}-images.idx3-ubyte"))
        self.labels = read_idx(find(source, f"{stem}-labels-idx1-ubyte", f"{stem}-labels.idx1-ubyte"))

    def schema(self) -> dict[str, Any]:
        return {"label": {"type": "int64"}, "data": {"type": "bytes"}}

    def rows(self) -> Iterator[Row]:
        for image, label in zip(self.images, self.labels, strict=True):
            yield {"label": int(label), "data": png(image)}


class ImageNetToMR(Converter):
    """Folders of images, one per class, and a map file with a line `folder label` for every class."""

    index = ("label", "file_name")

    def __init__(self, map_file: str, image_dir: str, destination: str, partition_number: int = 1) -> None:
        self.image_dir, self.destination, self.partition_number = Path(image_dir), destination, partition_number
        lines = [line.split() for line in Path(map_file).read_text().splitlines() if line.strip()]
        if any(len(line) < 2 for line in lines):
            raise ArgumentError("every line of the map file is a folder and a label", given={"file": map_file})
        self.classes = {line[0]: int(line[1]) for line in lines}

    def schema(self) -> dict[str, Any]:
        return {"label": {"type": "int32"}, "image": {"type": "bytes"}, "file_name": {"type": "string"}}

    def rows(self) -> Iterator[Row]:
        for folder, label in self.classes.items():
            for path in sorted((self.image_dir / folder).iterdir()):
                if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".bmp"):
                    yield {"label": label, "image": path.read_bytes(), "file_name": str(path)}
