"""Positions as arrays: grids, triangles, diagonals, and slices written as indices."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, as_dtype, cast, created
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import arange, asarray, linspace
from mycelia.numpy.indexing import nonzero
from mycelia.numpy.joining import concatenate
from mycelia.numpy.shapes import atleast_1d, broadcast_arrays, ravel
from mycelia.ops.arguments import extents
from mycelia.primitives.creation import Iota
from mycelia.types import bool_, int32, int64

__all__ = [
    "c_",
    "diag_indices",
    "diag_indices_from",
    "index_exp",
    "indices",
    "ix_",
    "mask_indices",
    "meshgrid",
    "mgrid",
    "ogrid",
    "r_",
    "s_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
]


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> list[Tensor]:
    """Each vector along an axis of its own, repeated along those of the others (not, if `sparse`).

    >>> [t.tolist() for t in meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"there is no indexing {indexing!r}", hint='"xy" or "ij"')
    rows = [ravel(x) for x in xi]
    places = list(range(len(rows)))
    if indexing == "xy" and len(rows) > 1:
        places[:2] = 1, 0
    grids = [
        ops.reshape(x, tuple(x.shape[0] if i == place else 1 for i in range(len(rows))))
        for x, place in zip(rows, places, strict=True)
    ]
    return grids if sparse else broadcast_arrays(*grids)


def indices(dimensions: Any, dtype: Any = int32, sparse: bool = False) -> Any:
    """The positions along each axis of a shape: one array with an axis in front, or several if `sparse`.

    >>> indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    rows = [arange(n, dtype=dtype) for n in extents(dimensions)]
    grids = meshgrid(*rows, sparse=sparse, indexing="ij")
    return tuple(grids) if sparse else ops.stack(grids) if grids else ops.zeros((0,), as_dtype(dtype))


def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Vectors of positions, or masks, that together choose every combination.

    >>> [t.shape for t in ix_([0, 1], [2, 3, 4])]
    [(2, 1), (1, 3)]
    """
    made = []
    for place, x in enumerate(map(asarray, args)):
        if x.ndim != 1:
            raise ShapeError("ix_ takes vectors", given={"shape": x.shape})
        row = nonzero(x)[0] if x.dtype is bool_ else x
        made.append(ops.reshape(row, tuple(row.shape[0] if i == place else 1 for i in range(len(args)))))
    return tuple(made)


# -------------------------------------------------------------------------------------------------------- triangles


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """The positions of the main diagonal, for each axis.

    >>> [t.tolist() for t in diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    return tuple(arange(n) for _ in range(ndim))


def diag_indices_from(arr: Any) -> tuple[Tensor, ...]:
    """The positions of the main diagonal of an array, all of whose axes are equally long.

    >>> [t.tolist() for t in diag_indices_from([[1, 2], [3, 4]])]
    [[0, 1], [0, 1]]
    """
    x = asarray(arr)
    if x.ndim < 2 or len(set(x.shape)) != 1:
        raise ShapeError("a diagonal needs two or more axes of one length", given={"shape": x.shape})
    return diag_indices(x.shape[0], x.ndim)


def _below(rows: int, columns: int, k: int) -> Any:
    return numpy.tri(rows, columns, k, dtype=bool)


def _triangle(n: int, k: int, m: int | None, lower: bool) -> tuple[Tensor, Tensor]:
    shape = extents((n, n if m is None else m))
    if all(isinstance(e, int) for e in shape):
        found = numpy.nonzero(_below(shape[0], shape[1], k) if lower else ~_below(shape[0], shape[1], k - 1))
        return Tensor(found[0].astype("int64")), Tensor(found[1].astype("int64"))
    away = created(Iota(int64, shape, 1)) - created(Iota(int64, shape, 0))
    rows, columns = nonzero(away <= k if lower else away >= k)
    return rows, columns


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """The rows and the columns of the places on and below a diagonal.

    >>> [t.tolist() for t in tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle(n, k, m, True)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """The rows and the columns of the places on and above a diagonal.

    >>> [t.tolist() for t in triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle(n, k, m, False)


def _matrix(arr: Any) -> Tensor:
    x = asarray(arr)
    if x.ndim != 2:
        raise ShapeError("a triangle needs a matrix", given={"shape": x.shape})
    return x


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """The rows and the columns of the places of a matrix on and below a diagonal.

    >>> [t.tolist() for t in tril_indices_from([[1, 2], [3, 4]])]
    [[0, 1, 1], [0, 0, 1]]
    """
    x = _matrix(arr)
    return tril_indices(x.shape[0], k, x.shape[1])


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """The rows and the columns of the places of a matrix on and above a diagonal.

    >>> [t.tolist() for t in triu_indices_from([[1, 2], [3, 4]])]
    [[0, 0, 1], [0, 1, 1]]
    """
    x = _matrix(arr)
    return triu_indices(x.shape[0], k, x.shape[1])


# --------------------------------------------------------------------------------------------- slices as indices


def _steps(key: slice) -> Tensor:
    """The numbers that a slice means: in steps, or so many of them if the step is imaginary."""
    start = 0 if key.start is None else key.start
    if isinstance(key.step, complex):
        return linspace(start, key.stop, int(abs(key.step)))
    if key.stop is None:
        raise ArgumentError("a slice of a grid needs an end", given={"slice": key})
    return arange(start, key.stop, key.step)


class Grid:
    """`mgrid[0:2, 0:3]`: positions along each axis, full or open.

    >>> mgrid[0:2, 0:2].tolist(), [t.shape for t in ogrid[0:2, 0:3]]
    ([[[0, 0], [1, 1]], [[0, 1], [0, 1]]], [(2, 1), (1, 3)])
    """

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return _steps(key)
        grids = meshgrid(*[_steps(k) for k in key], sparse=self.sparse, indexing="ij")
        if self.sparse:
            return tuple(grids)
        wanted = sum((ops.zeros((), g.dtype) for g in grids), ops.zeros((), grids[0].dtype)).dtype
        return ops.stack([cast(g, wanted) for g in grids])


class RowsJoined:
    """`r_[1:4, 0, 5]`: slices, numbers and arrays in a row; `c_` as columns.

    >>> r_[1:4, 0, 5].tolist(), c_[[1, 2], [3, 4]].tolist()
    ([1, 2, 3, 0, 5], [[1, 3], [2, 4]])
    """

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def __getitem__(self, key: Any) -> Tensor:
        parts = [
            _steps(k) if isinstance(k, slice) else atleast_1d(k) for k in (key if isinstance(key, tuple) else (key,))
        ]
        if not self.columns:
            return concatenate(parts, 0)
        return concatenate([ops.expand_dims(x, 1) if x.ndim == 1 else x for x in parts], -1)


class SliceIndex:
    """`s_[1:3, ...]`: an index, as an object.

    >>> s_[1:3], index_exp[2]
    (slice(1, 3, None), (2,))
    """

    def __init__(self, always_tuple: bool) -> None:
        self.always_tuple = always_tuple

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self.always_tuple and not isinstance(key, tuple) else key


mgrid, ogrid, r_, c_, s_, index_exp = (
    Grid(False),
    Grid(True),
    RowsJoined(False),
    RowsJoined(True),
    SliceIndex(False),
    SliceIndex(True),
)


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> tuple[Tensor, ...]:
    """The positions at which a function such as `triu` keeps elements of a square.

    >>> from mycelia.numpy import triu
    >>> [t.tolist() for t in mask_indices(2, triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return tuple(nonzero(mask_func(ops.ones((n, n), int64), k) != 0))
