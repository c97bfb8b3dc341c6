"""Published binary formats that several readers share: MNIST's idx, CIFAR's batches; and PNG."""

from __future__ import annotations

import io
import pickle
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.limits import unfolded
from mycelia.plainfiles import array_of, content_of
from mycelia.types import Array
from mycelia.wire import elements

IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path: Path) -> Array:
    """The array of an idx file, plain or gzipped: two zero bytes, a type, the number of axes, the sizes, the data.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "a-idx1-ubyte")
    >>> _ = place.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]))
    >>> read_idx(place).tolist()
    [7, 9]
    """
    raw = unfolded(path) if path.suffix == ".gz" else content_of(path)
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in IDX_TYPES:
        raise RecordError("this is not an idx file", given={"file": str(path)})
    axes = raw[3]
    shape = struct.unpack_from(f">{axes}I", raw, 4)
    dtype = np.dtype(IDX_TYPES[raw[2]])
    count = int(np.prod(shape, dtype=np.int64))
    if len(raw) != 4 + 4 * axes + count * dtype.itemsize:
        given = {"file": str(path), "shape": shape, "bytes": len(raw)}
        raise RecordError("an idx file does not have the size that its header says", given=given)
    return np.frombuffer(raw, dtype, count, 4 + 4 * axes).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def find(folder: str | Path, *names: str) -> Path:
    """The first of several names that exists in a folder, gzipped or not.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "x.gz"); _ = place.write_bytes(b"")
    >>> find(place.parent, "y", "x").name
    'x.gz'
    """
    for name in names:
        for candidate in (Path(folder, name), Path(folder, name + ".gz")):
            if candidate.exists():
                return candidate
    raise RecordError("a file of the dataset is missing", given={"folder": str(folder), "any of": list(names)})


def png(image: Array) -> bytes:
    """An image of bytes, (H, W) or (H, W, 3), as a PNG file: without loss, and readable by every decoder.

    >>> png(np.zeros((2, 2), np.uint8))[:4]
    b'\\x89PNG'
    """
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)):
        raise RecordError(f"an image is (H, W) or (H, W, 3) of bytes, and is {image.shape} of {image.dtype}")
    height, width = image.shape[:2]
    colour = 0 if image.ndim == 2 else 2  # grey, or RGB
    lines = np.zeros((height, 1 + image.size // height), np.uint8)  # a zero before each line: it is not filtered
    lines[:, 1:] = image.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


class _Elements:
    """An element type as a pickle describes it. It is a word: no state that a stranger wrote reaches NumPy."""

    def __init__(self, word: Any, *_: Any) -> None:
        self.word = word.decode("ascii") if isinstance(word, bytes) else word
        if not isinstance(self.word, str) or KNOWN.fullmatch(self.word) is None:
            raise pickle.UnpicklingError(f"arrays of {word!r} are not part of the format")

    def __setstate__(self, state: Any) -> None:
        """The byte order is all that is taken."""
        order = state[1].decode("ascii") if isinstance(state[1], bytes) else state[1]
        if order not in ("|", "<", ">", "="):
            raise pickle.UnpicklingError(f"{order!r} is no byte order")
        self.word = order + self.word.lstrip("|<>=")


class _Pickled:
    """An array as a pickle describes it: made of its bytes when all are there."""

    array: Array

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, by_columns, raw = state
        raw = raw.encode("latin1") if isinstance(raw, str) else raw
        if not isinstance(kind, _Elements) or not isinstance(raw, bytes):
            raise pickle.UnpicklingError("an array is made of bytes")
        self.array = elements(raw, np.dtype(kind.word)).reshape(shape, order="F" if by_columns else "C")


class _Encoded(bytes):
    """Bytes, which pickles of Python 3 for Python 2 write as text."""

    def __new__(cls, text: Any = "", encoding: Any = "latin1") -> Any:
        if not isinstance(text, str) or encoding not in ("latin1", b"latin1"):
            raise pickle.UnpicklingError("bytes are written as latin1")
        return text.encode("latin1")

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("bytes have no state")


KNOWN = re.compile(r"[<>=|]?(b1|[iu][1248]|f[248])")


class _Plain(pickle._Unpickler):
    """Reads pickled arrays and lists, and nothing that could run code: what it makes is of this module.

    It is Python's own, written in Python: the one in C asks for as much memory as a number in the file says.
    """

    made: dict[tuple[str, str], Any] = {
        ("numpy.core.multiarray", "_reconstruct"): _Pickled, ("numpy._core.multiarray", "_reconstruct"): _Pickled,
        ("numpy", "ndarray"): _Pickled, ("numpy", "dtype"): _Elements, ("_codecs", "encode"): _Encoded,
        ("__builtin__", "bytes"): _Encoded, ("builtins", "bytes"): _Encoded,
    }  # fmt: skip

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.made:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of the format")
        return self.made[module, name]


def cifar_batches(folder: str | Path, usage: str, hundred: bool) -> Iterator[tuple[Array, Array]]:
    """Images (n, 32, 32, 3) and labels (n, 1 or 2) of CIFAR's files, in the binary or the Python version.

    Labels of CIFAR-100 are (coarse, fine).
    """
    kinds = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}[usage]
    for kind in kinds:
        stems = [kind] if hundred else [f"data_batch_{i}" for i in range(1, 6)] if kind == "train" else ["test_batch"]
        for path in (find(folder, stem + ".bin", stem) for stem in stems):
            images, labels = _binary(path, 2 if hundred else 1) if ".bin" in path.name else _pickled(path, hundred)
            yield images.reshape(len(images), 3, 32, 32).transpose(0, 2, 3, 1), labels


def _binary(path: Path, labels: int) -> tuple[Array, Array]:
    raw = array_of(path)
    if not len(raw) or len(raw) % (3072 + labels):
        raise RecordError("a CIFAR file does not have whole records", given={"file": str(path), "bytes": len(raw)})
    rows = raw.reshape(-1, 3072 + labels)
    return rows[:, labels:], rows[:, :labels].astype(np.uint32)


def _pickled(path: Path, hundred: bool) -> tuple[Array, Array]:
    try:
        told = _Plain(io.BytesIO(content_of(path)), encoding="bytes").load()
        images = told[b"data"].array
        if images.dtype != np.uint8 or images.ndim != 2 or images.shape[1] != 3072:
            raise ValueError(f"its images are {images.dtype} {images.shape}")
        names = (b"coarse_labels", b"fine_labels") if hundred else (b"labels",)
        return images, np.stack([_labels(told[n], len(images)) for n in names], axis=1)
    except Exception as error:  # Python's reader does not foresee all that a damaged pickle can hold
        raise RecordError(f"a CIFAR file is damaged: {error}", given={"file": str(path)}) from error


def _labels(told: Any, count: int) -> Array:
    numbers = told.array.tolist() if isinstance(told, _Pickled) else told
    if type(numbers) is not list or len(numbers) != count or not all(type(n) is int for n in numbers):
        raise ValueError(f"it has not {count} labels, one for every image")
    return np.array(numbers, np.uint32)
