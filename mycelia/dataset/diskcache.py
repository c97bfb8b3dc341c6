"""Maps whose results stay on disk: found again by what the operations are and what the row holds, in any process.

A result is a file of its own, which takes its name when it is whole; whoever reads checks its sum. Writers of the same
result write the same bytes, so that any number of processes may share a folder. Files hold arrays and texts, no code.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import struct
import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.dataset.describing import dtype_word, plain_dtype
from mycelia.dataset.errors import DataError
from mycelia.dataset.fingerprints import fingerprint_of
from mycelia.dataset.flow.request import Row
from mycelia.dataset.flow.saving import plain, restored
from mycelia.dataset.memo import Made
from mycelia.errors import ArgumentError
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.limits import believed

MAGIC = b"MYCMAP01"
HEAD = struct.Struct("<8sII")  # magic, sum of what follows, length of the description
log = logging.getLogger("mycelia.dataset")
_numbers = count()


@dataclass(frozen=True)
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
class Kept:
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


def packed(value: Any) -> list[bytes]:
    """A value of a row as a description and its bytes.

    >>> packed(np.array([1, 2], np.uint8))
    [b'{"dtype": "|u1", "shape": [2]}', b'\\x01\\x02']
    """
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        told = {"dtype": dtype_word(value.dtype), "shape": list(value.shape)}
        return [json.dumps(told).encode(), np.ascontiguousarray(value).tobytes()]
    try:
        return [json.dumps({"plain": plain(value)}).encode(), b""]
    except TypeError as error:
        raise ArgumentError(f"a cached map keeps arrays and texts: {error}") from error


def unpacked(told: Any, body: memoryview) -> Any:
    """The value that `packed` described.

    >>> unpacked({"dtype": "|u1", "shape": [2]}, memoryview(b"\\x01\\x02"))
    array([1, 2], dtype=uint8)
    """
    if "plain" in told:
        return restored(told["plain"])
    return np.frombuffer(bytearray(body), plain_dtype(told["dtype"])).reshape(told["shape"])


def read(place: Path) -> Row | None:
    """The row in a file; None if there is none, or it is not whole."""
    try:
        with place.open("rb") as file:
            size = believed(os.fstat(file.fileno()).st_size, "a kept row", file=str(place))
            whole = memoryview(file.read(size))
        magic, crc, length = HEAD.unpack_from(whole)
        if magic != MAGIC or zlib.crc32(whole[HEAD.size :]) != crc:
            return None
        columns, at = [], HEAD.size + length
        for told in json.loads(bytes(whole[HEAD.size : at])):
            columns.append(unpacked(told["value"], whole[at : at + told["bytes"]]))
            at += told["bytes"]
        return tuple(columns)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, struct.error, DataError, RecordError):
        return None  # it is made again


def write(place: Path, row: Row) -> None:
    """Put a row into its file, whole or not at all."""
    parts = [packed(value) for value in row]
    told = json.dumps([{"value": json.loads(head), "bytes": len(body)} for head, body in parts]).encode()
    rest = told + b"".join(body for _, body in parts)
    part = place.with_name(f"{place.name}.{os.getpid()}.{threading.get_ident()}.{next(_numbers)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(HEAD.pack(MAGIC, zlib.crc32(rest), len(told)) + rest)
        os.replace(part, place)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        log.warning("a row could not be kept in %s: %s", place, error)
