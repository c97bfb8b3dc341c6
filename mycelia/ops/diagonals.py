"""Bands of diagonals: taken out of matrices, made into matrices, put in their place.

A band goes from diagonal k[0] to k[1], counted upwards from the main one; its rows are diagonals, the uppermost first.
Shorter diagonals stand at the left or at the right of their row, as `align` says, first of those above the main one,
then of those below: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT".
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice
from mycelia.eager import Tensor, cast, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import tensor
from mycelia.types import Array

__all__ = ["matrix_diag", "matrix_diag_part", "matrix_set_diag"]
ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(name: str, k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    given = k.tolist() if isinstance(k, Tensor) else k
    ends = [given, given] if isinstance(given, int) else [int(e) for e in given]
    ends = ends * 2 if len(ends) == 1 else ends
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ArgumentError(f"k of {name} is a diagonal, or the lowest and the highest of a band", given={"k": k})
    return ends[0], ends[1]


def _length(rows: int, columns: int, d: int) -> int:
    return min(rows + min(d, 0), columns - max(d, 0))


def _places(name: str, rows: int, columns: int, low: int, high: int, align: str) -> tuple[Array, Array]:
    """For each place of the band (diagonal, place) where it is in the matrix read flat, -1 for nowhere; and for each
    place of the matrix where it is in the band read flat.
    """
    choice(name, "align", align, ALIGNMENTS)
    if not (-rows < low <= high < columns) and rows * columns:
        raise ArgumentError(f"{name}: a matrix of {rows} x {columns} has no diagonals from {low} to {high}")
    above, below = align.split("_")
    longest = min(rows + min(high, 0), columns - max(low, 0))
    band = np.full((high - low + 1, longest), -1)
    matrix = np.full((rows, columns), -1)
    for row, d in enumerate(range(high, low - 1, -1)):
        count = _length(rows, columns, d)
        right = (d >= 0 and above == "RIGHT") or (d <= 0 and below == "RIGHT")
        start = longest - count if right else 0
        for i in range(count):
            r, c = i + max(-d, 0), i + max(d, 0)
            band[row, start + i] = r * columns + c
            matrix[r, c] = row * longest + start + i
    return band, matrix


def _read(flat: Tensor, places: Array, otherwise: Any) -> Tensor:
    """Elements of the last axis at places, and something else where there are none."""
    found = p.gather(flat, wrap(np.maximum(places, 0)), flat.ndim - 1)
    return p.select(p.broadcast(wrap(places >= 0), found.shape), found, otherwise)


def matrix_diag_part(x: Any, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Tensor:
    """The diagonals of a band of matrices, one row each; a single one without an axis for it.

    >>> matrix_diag_part(Tensor([[1, 2], [3, 4]]), (0, 1), 9).tolist()
    [[9, 2], [1, 4]]
    """
    x = tensor(x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_diag_part takes matrices, not shape {x.shape}")
    low, high = _band("matrix_diag_part", k)
    *lead, rows, columns = x.shape
    band, _ = _places("matrix_diag_part", rows, columns, low, high, align)
    padding = p.reshape(cast(tensor(padding_value), x.dtype), ())
    out = _read(p.reshape(x, (*lead, rows * columns)), band, padding)
    return p.reshape(out, (*lead, band.shape[1])) if low == high else out


def matrix_diag(
    x: Any, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Matrices with a band of diagonals, and another number elsewhere; square ones unless their size is given.

    >>> matrix_diag(Tensor([1, 2])).tolist(), matrix_diag(Tensor([5]), 1, padding_value=9).tolist()
    ([[1, 0], [0, 2]], [[9, 5], [9, 9]])
    """
    x = tensor(x)
    low, high = _band("matrix_diag", k)
    count = high - low + 1
    if x.ndim < (1 if count == 1 else 2) or (count > 1 and x.shape[-2] != count):
        raise ShapeError(f"matrix_diag takes {count} diagonals as rows, and got shape {x.shape}")
    lead = x.shape[:-1] if count == 1 else x.shape[:-2]
    longest = x.shape[-1]
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    rows, columns = int(num_rows), int(num_cols)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows, columns = least_rows if rows == -1 else rows, least_columns if columns == -1 else columns
    if (rows < least_rows or columns < least_columns) or (rows != least_rows and columns != least_columns):
        raise ArgumentError(
            f"matrix_diag: diagonals of {longest} elements do not fill a matrix of {rows} x {columns}",
            given={"k": (low, high)},
        )
    _, matrix = _places("matrix_diag", rows, columns, low, high, align)
    padding = p.reshape(cast(tensor(padding_value), x.dtype), ())
    return _read(p.reshape(x, (*lead, count * longest)), matrix, padding)


def matrix_set_diag(x: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Matrices with a band of other diagonals.

    >>> matrix_set_diag(Tensor([[7, 7], [7, 7]]), Tensor([1, 2])).tolist()
    [[1, 7], [7, 2]]
    """
    x = tensor(x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_set_diag takes matrices, not shape {x.shape}")
    low, high = _band("matrix_set_diag", k)
    *lead, rows, columns = x.shape
    band, matrix = _places("matrix_set_diag", rows, columns, low, high, align)
    rim = cast(tensor(diagonal), x.dtype)
    wanted = (*lead, *(band.shape if high > low else band.shape[1:]))
    if rim.shape != wanted:
        raise ShapeError(f"the diagonals {low} to {high} of shape {x.shape} are {wanted}, not {rim.shape}")
    return _read(p.reshape(rim, (*lead, prod(band.shape))), matrix, x)
