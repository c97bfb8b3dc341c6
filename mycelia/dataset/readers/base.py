"""What readers of published datasets share: a signature, samples made of cells, and how a cell is loaded."""

from __future__ import annotations

import ast
import inspect
import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mycelia.dataset.errors import DataError, missing
from mycelia.dataset.flow.request import Row
from mycelia.dataset.parameters import document
from mycelia.dataset.plan.choosing import choose
from mycelia.dataset.plan.origins import Data
from mycelia.dataset.plan.samplers import Shuffle
from mycelia.dataset.sources.memory import MappableDataset
from mycelia.dataset.vision.codec import decode
from mycelia.errors import ArgumentError
from mycelia.mindrecord.formats import find
from mycelia.plainfiles import array_of
from mycelia.types import Array

Load = Callable[[Any], Array]

COMMON = "num_samples=None, num_parallel_workers=None, shuffle=None"
SAMPLED = "sampler=None, num_shards=None, shard_id=None, cache=None"
BY_FILES = "shuffle=Shuffle.GLOBAL"  # of rows that may be mixed by files
TEXT = f"num_samples=None, num_parallel_workers=None, {BY_FILES}, num_shards=None, shard_id=None, cache=None"
IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".tif", ".tiff", ".webp", ".gif")


def signature(text: str) -> inspect.Signature:
    """A signature from words, `name` or `name=default`.

    >>> str(signature("folder, usage='train'"))
    "(folder, usage='train')"
    """
    parameters = []
    for part in text.split(", "):
        name, _, default = part.partition("=")
        value = _meant(default) if default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return inspect.Signature(parameters)


def _meant(default: str) -> Any:
    return Shuffle.GLOBAL if default == "Shuffle.GLOBAL" else ast.literal_eval(default)


def _begin(words: str) -> Callable[..., None]:
    """What makes a reader, with the signature that its words say: help and editors show it."""

    def __init__(self: Reader, *args: Any, **options: Any) -> None:
        Reader.__init__(self, *args, **options)

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    shown = inspect.Signature([own, *signature(words).parameters.values()])
    __init__.__signature__ = shown  # type: ignore[attr-defined]
    return __init__


class Reader(MappableDataset):
    """A dataset in the format it was published in. A subclass says its signature and how to open its files."""

    words: ClassVar[str] = f"dataset_dir, usage=None, {COMMON}, {SAMPLED}"
    usages: ClassVar[tuple[str, ...]] = ()
    shuffled: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__signature__ = signature(cls.words)  # type: ignore[attr-defined]  # what inspect and help() look at
        cls.__init__ = _begin(cls.words)  # type: ignore[method-assign]
        document(cls, cls.usages)

    def __init__(self, *args: Any, **options: Any) -> None:
        try:
            bound = signature(self.words).bind(*args, **options)
        except TypeError as error:
            raise ArgumentError(f"{type(self).__name__}: {error}", given={"takes": self.words}) from error
        bound.apply_defaults()
        given = dict(bound.arguments)
        order = {k: given.pop(k, None) for k in ("num_samples", "sampler", "shuffle", "num_shards", "shard_id")}
        workers, cache = given.pop("num_parallel_workers", None), given.pop("cache", None)
        told = dict(given)
        if "usage" in given and self.usages and given["usage"] not in (None, *self.usages):
            raise ArgumentError(
                f"{type(self).__name__} has no part {given['usage']!r}", hint=f"usage is one of {list(self.usages)}"
            )
        if "dataset_dir" in given:
            given["dataset_dir"] = self._folder(given["dataset_dir"])
        data = self.open(**given)
        if not len(data):
            hint = "the folder must be as the dataset was published, unpacked"
            raise DataError(f"{type(self).__name__} found no samples", given=told, hint=hint)
        filed = BY_FILES in self.words
        files = (lambda: getattr(data, "sizes", [len(data)])) if filed else None
        sampler = choose(**order, default=self.shuffled, files=files)
        super().__init__(data, sampler, workers=workers, arguments=told, cache=cache)

    def _folder(self, given: Any) -> str:
        name = type(self).__name__
        if not isinstance(given, str | os.PathLike):
            raise ArgumentError(f"{name}: dataset_dir is the name of a folder, and was {given!r}")
        if not os.path.isdir(given):  # a name that no file can have is none
            there = "is a file" if os.path.isfile(given) else "does not exist"
            raise ArgumentError(
                f"{name}: there is no folder {os.fspath(given)!r}; it {there}",
                hint="a path that is not absolute is looked for in the folder of the session",
            )
        return os.fspath(given)

    @abstractmethod
    def open(self, **given: Any) -> Data:
        """The samples, from the arguments that are the dataset's own."""


@dataclass
class Samples:
    """Samples whose cells are loaded when they are asked for: a path, a number, a text, each with its own loader.

    >>> Samples(("n",), [(1,), (2,)], (u32,)).fetch(1)
    (array(2, dtype=uint32),)
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    loaders: tuple[Load, ...]
    class_indexing: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.class_indexing is None:
            self.class_indexing = {}

    def __len__(self) -> int:
        return len(self.rows)

    def fetch(self, index: int) -> Row:
        return tuple(load(cell) for load, cell in zip(self.loaders, self.rows[index], strict=True))

    def gather(self, indices: Array) -> Row | None:
        return None

    def where(self, index: int) -> str:
        # os.path, since a text may be no name at all, too long or with a zero, and then it is no file
        files = [str(c) for c in self.rows[index] if isinstance(c, str | Path) and os.path.isfile(c)]
        return f"{', '.join(files)}, index {index}" if files else f"index {index}"

    def labels(self, column: str) -> Array:
        at = self.columns.index(column)
        return np.array([self.loaders[at](row[at]) for row in self.rows])


def optional(module: str, library: str, purpose: str) -> Any:
    """A module of a library that only this purpose needs, or an error that names it.

    >>> optional("json", "json", "nothing").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise missing(library, purpose) from error


def raw(path: Any) -> Array:
    """The bytes of a file.

    >>> raw(__file__).dtype
    dtype('uint8')
    """
    try:
        return array_of(path)
    except OSError as error:
        raise DataError(f"cannot read a file: {error.strerror}", given={"file": str(path)}) from error


def image(path: Any) -> Array:
    """The RGB image in a file."""
    return decode(raw(path))


def file_of(folder: str | Path, *names: str) -> str:
    """The first of several names that is a file of a folder, gzipped or not.

    >>> file_of(Path(__file__).parent, "base.py") == __file__
    True
    """
    path = find(folder, *names)
    if not path.is_file():
        raise DataError("a file of the dataset is a folder", given={"folder": str(path)})
    return str(path)


def inner(folder: str | Path, name: str) -> str:
    """The path of a file that a list, or an annotation, names: lists come from strangers, and it must be in the folder.

    >>> inner("images", "a/7.jpg")
    'images/a/7.jpg'
    >>> inner("images", "../secret.jpg")
    Traceback (most recent call last):
    mycelia.dataset.errors.DataError: a file of the dataset names another one that is not in its folder...
    """
    if name.startswith("/") or ".." in name.split("/"):
        given = {"name": name, "folder": os.fspath(folder)}
        hint = "a link in the folder may lead elsewhere"
        raise DataError("a file of the dataset names another one that is not in its folder", given=given, hint=hint)
    return os.path.join(folder, name)


Decrypt = Callable[[str], bytes] | None


def image_loader(decoded: bool | None, decrypt: Decrypt = None) -> Load:
    """How images are loaded: as they are stored, or decoded; `decrypt` reads the bytes of a file in its own way.

    >>> image_loader(False) is raw
    True
    """
    if decrypt is None:
        return image if decoded else raw

    def load(path: Any) -> Array:
        data = np.frombuffer(decrypt(str(path)), np.uint8)
        return decode(data) if decoded else data

    return load


def text(value: Any) -> Array:
    """A text as an array.

    >>> text("ab")
    array('ab', dtype='<U2')
    """
    return np.array(value)


def u32(value: Any) -> Array:
    """A number or several as uint32.

    >>> u32(3)
    array(3, dtype=uint32)
    """
    return np.array(value, np.uint32)


def i32(value: Any) -> Array:
    """A number or several as int32.

    >>> i32(3)
    array(3, dtype=int32)
    """
    return np.array(value, np.int32)


def i64(value: Any) -> Array:
    """A number or several as int64.

    >>> i64(3)
    array(3)
    """
    return np.array(value, np.int64)


def f32(value: Any) -> Array:
    """A number or several as float32.

    >>> f32(3)
    array(3., dtype=float32)
    """
    return np.array(value, np.float32)


def subfolders(folder: str | Path) -> list[Path]:
    """The folders inside one, by name.

    >>> all(p.is_dir() for p in subfolders("."))
    True
    """
    return sorted(p for p in inside(folder) if p.is_dir())


def paths_in(folder: str | Path, endings: Sequence[str] = IMAGES) -> list[str]:
    """The files inside a folder with some endings, by name: listed without asking the disk about each.

    >>> [p.rpartition("/")[2] for p in paths_in(Path(__file__).parent, [".py"])][:1]
    ['__init__.py']
    """
    wanted = frozenset(endings)
    try:
        with os.scandir(folder) as entries:
            found = [
                e.name
                for e in entries
                if e.name[e.name.rfind(".") :].lower() in wanted
                and e.name[0] != "."
                and (e.is_file(follow_symlinks=False) or _linked(e))
            ]
    except OSError as error:
        raise _absent(folder, error) from error
    found.sort()
    root = os.path.join(folder, "")
    return [root + name for name in found]


def _linked(entry: os.DirEntry[str]) -> bool:
    """Whether an entry that is no plain file leads to one; a link that leads nowhere is told."""
    if entry.is_symlink() and not Path(entry.path).exists():
        raise DataError("a link leads nowhere", given={"file": entry.path, "to": os.readlink(entry.path)})
    return entry.is_file()  # neither a folder nor a pipe nor a device


def files_in(folder: str | Path, endings: Sequence[str] = IMAGES) -> list[Path]:
    """The files inside a folder with some endings, by name, as paths.

    >>> [p.name for p in files_in(Path(__file__).parent, [".py"])][:1]
    ['__init__.py']
    """
    return list(map(Path, paths_in(folder, endings)))


def _absent(folder: str | Path, error: OSError) -> DataError:
    return DataError(f"a folder of the dataset is missing: {error.strerror}", given={"folder": str(folder)})


def inside(folder: str | Path) -> list[Path]:
    """What is in a folder and not hidden.

    >>> Path(__file__) in inside(Path(__file__).parent)
    True
    """
    try:
        return [p for p in Path(folder).iterdir() if not p.name.startswith(".")]
    except OSError as error:
        raise _absent(folder, error) from error
