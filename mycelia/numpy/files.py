"""Arrays in files and bytes, in NumPy's own formats. Nothing that stands in a file is run: objects are refused."""

from __future__ import annotations

from typing import Any

import numpy

from mycelia.eager import Tensor, as_dtype
from mycelia.errors import ArgumentError
from mycelia.numpy.creation import asarray

__all__ = [
    "frombuffer",
    "fromfile",
    "fromstring",
    "genfromtxt",
    "load",
    "loadtxt",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]


def _read(function: Any, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
    """What NumPy reads, as a tensor; what it does not understand is the user's mistake."""
    wanted = {} if dtype is None else {"dtype": as_dtype(dtype).numpy}
    try:
        return asarray(function(*args, **wanted, **options))
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"{function.__name__} does not understand what it was given: {error}") from None


def save(file: Any, arr: Any) -> None:
    """Writes one array to a file that ends in .npy.

    >>> import io
    >>> kept = io.BytesIO()
    >>> save(kept, [1.0, 2.0]); _ = kept.seek(0)
    >>> load(kept).tolist()
    [1.0, 2.0]
    """
    numpy.save(file, asarray(arr).asnumpy(), allow_pickle=False)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Writes several arrays, with names or numbers, to a file that ends in .npz.

    >>> import io
    >>> kept = io.BytesIO()
    >>> savez(kept, x=[1, 2]); _ = kept.seek(0)
    >>> load(kept)["x"].tolist()
    [1, 2]
    """
    arrays: dict[str, Any] = {k: asarray(x).asnumpy() for k, x in kwds.items()}
    numpy.savez(file, *[asarray(x).asnumpy() for x in args], **arrays)


def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """As `savez`, in a file that is smaller.

    >>> import io
    >>> kept = io.BytesIO()
    >>> savez_compressed(kept, [3]); _ = kept.seek(0)
    >>> load(kept)["arr_0"].tolist()
    [3]
    """
    arrays: dict[str, Any] = {k: asarray(x).asnumpy() for k, x in kwds.items()}
    numpy.savez_compressed(file, *[asarray(x).asnumpy() for x in args], **arrays)


def load(file: Any) -> Any:
    """The array in a .npy file, or a dict of those in a .npz file.

    >>> import io
    >>> kept = io.BytesIO()
    >>> save(kept, [[1, 2]]); _ = kept.seek(0)
    >>> load(kept).shape
    (1, 2)
    """
    try:
        found = numpy.load(file, allow_pickle=False)
        if not isinstance(found, numpy.lib.npyio.NpzFile):
            return asarray(found)
        with found:
            return {name: asarray(found[name]) for name in found.files}
    except (ValueError, EOFError) as error:
        raise ArgumentError(f"this is no file of arrays: {error}") from None


def savetxt(fname: Any, X: Any, **options: Any) -> None:
    """Writes an array as text, one row on each line, with the options of `numpy.savetxt`.

    >>> import io
    >>> text = io.StringIO()
    >>> savetxt(text, [[1, 2], [3, 4]], fmt="%d")
    >>> text.getvalue()
    '1 2\\n3 4\\n'
    """
    numpy.savetxt(fname, asarray(X).asnumpy(), **options)


def loadtxt(fname: Any, dtype: Any = "float32", **options: Any) -> Tensor:
    """The numbers of a text, one row on each line, with the options of `numpy.loadtxt`.

    >>> loadtxt(["1 2", "3 4"]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _read(numpy.loadtxt, fname, dtype=dtype, **options)


def genfromtxt(fname: Any, dtype: Any = "float32", **options: Any) -> Tensor:
    """As `loadtxt`, where numbers may be missing: they are nan, or what `filling_values` says.

    >>> genfromtxt(["1,2", "3,"], delimiter=",", filling_values=0).tolist()
    [[1.0, 2.0], [3.0, 0.0]]
    """
    return _read(numpy.genfromtxt, fname, dtype=dtype, **options)


def fromfile(file: Any, dtype: Any = "float32", count: int = -1, sep: str = "", offset: int = 0) -> Tensor:
    """The bytes of a file as numbers, or its text with `sep` between them.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes([1, 0, 2, 0])); file.flush()
    ...     fromfile(file.name, "int16").tolist()
    [1, 2]
    """
    return _read(numpy.fromfile, file, dtype=dtype, count=count, sep=sep, offset=offset)


def frombuffer(buffer: Any, dtype: Any = "float32", count: int = -1, offset: int = 0) -> Tensor:
    """Bytes as numbers.

    >>> frombuffer(bytes([1, 0, 2, 0]), "int16").tolist()
    [1, 2]
    """
    return _read(numpy.frombuffer, buffer, dtype=dtype, count=count, offset=offset).copy()


def fromstring(string: str, dtype: Any = "float32", count: int = -1, *, sep: str) -> Tensor:
    """The numbers in a text, with `sep` between them.

    >>> fromstring("1, 2", "int32", sep=",").tolist()
    [1, 2]
    """
    return _read(numpy.fromstring, string, dtype=dtype, count=count, sep=sep)
