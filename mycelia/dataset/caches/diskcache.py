"""Maps whose results stay on disk: found again by what the operations are and what the row holds, in any process.

A result is a file of its own, which takes its name when it is whole; whoever reads checks its sum. Writers of the same
result write the same bytes, so that any number of processes may share a folder. Files hold arrays and texts, no code.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from mycelia.dataset.caches.fingerprints import fingerprint_of
from mycelia.dataset.caches.memo import Made
from mycelia.dataset.flow.request import Row
from mycelia.dataset.flow.rowbytes import bytes_of, packed, row_of
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.limits import believed
from mycelia.plainfiles import opened

log = logging.getLogger("mycelia.dataset")
_numbers = count()


@frozen
class DiskCache:
    """A folder that keeps what maps made of rows: `d.map(f, cache=DiskCache("folder"))`.

    >>> import tempfile, mycelia.dataset as ds
    >>> folder = tempfile.mkdtemp()
    >>> d = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).map(lambda x: x * 10, cache=DiskCache(folder))
    >>> [int(r[0]) for r in d.create_tuple_iterator(num_epochs=2, output_numpy=True)]
    [10, 20]
    >>> len(list(Path(folder).rglob("*.row")))
    2
    """

    folder: str

    def __post_init__(self) -> None:
        if not isinstance(self.folder, str | os.PathLike):
            raise ArgumentError(f"folder is the name of a folder, and is {self.folder!r}")
        object.__setattr__(self, "folder", str(self.folder))


@dataclass
class OnDisk:
    """Operations whose results stay on disk. They must not be random: a row would look the same in every epoch."""

    operations: Sequence[Callable[..., Any]]
    folder: str
    word: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self.word = fingerprint_of(list(self.operations))

    @property
    def __name__(self) -> str:
        return "kept " + ", ".join(getattr(o, "__name__", type(o).__name__) for o in self.operations)

    def __call__(self, *columns: Any) -> Row:
        place = self.place(columns)
        found = read(place)
        if found is not None:
            return found
        made = Made(self.operations, columns).fetch(0)
        write(place, made)
        return made

    def place(self, columns: tuple[Any, ...]) -> Path:
        """Where the result of a row belongs."""
        content = hashlib.blake2b(digest_size=20)
        for value in columns:
            for part in packed(value):
                content.update(part)
        key = content.hexdigest()
        return Path(self.folder, self.word, key[:2], f"{key}.row")


def row_name(place: Path) -> bytes:
    """What a row is kept by: a file that was moved to the name of another one is not believed."""
    return f"{place.parent.parent.name}/{place.stem}".encode()


def read(place: Path) -> Row | None:
    """The row in a file; None if there is none, or it is not whole."""
    try:
        with os.fdopen(opened(place), "rb") as file:
            size = believed(os.fstat(file.fileno()).st_size, "a kept row", file=str(place))
            whole = memoryview(file.read(size))
        return row_of(whole, row_name(place))
    except (OSError, RecordError):
        return None  # it is made again


def write(place: Path, row: Row) -> None:
    """Put a row into its file, whole or not at all."""
    content = bytes_of(row, row_name(place))
    part = place.with_name(f"{place.name}.{os.getpid()}.{threading.get_ident()}.{next(_numbers)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        os.replace(part, place)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        log.warning("a row could not be kept in %s: %s", place, error)
