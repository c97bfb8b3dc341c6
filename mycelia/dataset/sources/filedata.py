"""Several files as one source: which file an index falls into, and where in it."""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from mycelia.dataset import remote
from mycelia.dataset.flow.request import Row
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.samplers import Shuffle
from mycelia.errors import ArgumentError
from mycelia.types import Array

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Mode = bool | Shuffle | None


def listed(files: Files, purpose: str, later: bool = False) -> list[str]:
    """Files from a name, a pattern, or several of either; in the order given, patterns sorted.

    Files behind addresses are fetched; with `later`, their addresses are given as they are.

    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp(), "a.txt"); _ = place.write_text("x")
    >>> [Path(f).name for f in listed(str(place.parent / "*.txt"), "TextFileDataset")]
    ['a.txt']
    """
    found: list[str] = []
    one = not isinstance(files, Iterable) or isinstance(files, str | bytes | Mapping | os.PathLike)
    given: Any = [files] if one else files
    named: list[Any] = list(given)
    if not all(isinstance(name, str | os.PathLike) for name in named):
        raise ArgumentError(f"{purpose}: files are a name, a pattern or a list of them, and not {files!r}")
    for name in map(os.fspath, named):
        if remote.addressed(name):
            matching = remote.expanded(name) if later else [remote.local(a) for a in remote.expanded(name)]
        else:
            matching = [name] if os.path.isfile(name) else sorted(filter(os.path.isfile, glob.glob(name)))
        if not matching:
            raise ArgumentError(
                f"{purpose}: there is no such file",
                given={"files": name},
                hint="a path that is not absolute is looked for in the folder of the session",
            )
        found += matching
    if not found:
        raise ArgumentError(f"{purpose}: no file was given")
    return found


class FileData(ABC):
    """Rows of several files one after the other: which file an index falls into, and where in it."""

    columns: tuple[str, ...]

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)

    @property
    @abstractmethod
    def sizes(self) -> list[int]:
        """How many rows every file has."""

    @lazy
    def ends(self) -> list[int]:
        return list(accumulate(self.sizes))

    def __len__(self) -> int:
        return self.ends[-1]

    def place(self, index: int) -> tuple[int, int]:
        """The number of a file, and of a row in it."""
        file = bisect_right(self.ends, index)
        return file, index - (self.ends[file - 1] if file else 0)

    def where(self, index: int) -> str:
        file, row = self.place(index)
        return f"{self.paths[file]}, record {row}" if file < len(self.paths) else f"padding, index {index}"

    @abstractmethod
    def fetch(self, index: int) -> Row:
        """A row."""

    def gather(self, indices: Array) -> Row | None:
        return None

    def labels(self, column: str) -> Array:
        at = self.columns.index(column)
        return np.array([self.fetch(i)[at] for i in range(len(self))])
