"""Columns of Arrow tables as cells, each the array that NumPy makes of its Python value, without the Python values."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.dataset.flow.ragged import Column, Ragged, together
from mycelia.types import Array

# what NumPy makes of the Python values of Arrow's element types
KINDS = {
    **{f"{sign}int{bits}": np.int64 for sign in ("", "u") for bits in (8, 16, 32)},
    "int64": np.int64,
    "float": np.float64,
    "double": np.float64,
}
TEXTS = ("string", "large_string")


def is_plain_type(kind: Any) -> bool:
    """Whether cells of an Arrow type are numbers, texts, or lists of numbers."""
    return str(kind) in KINDS or str(kind) in TEXTS or _within(kind) is not None


def _within(kind: Any) -> str | None:
    """The numbers in a list, by name."""
    inner = str(getattr(kind, "value_type", None)) if str(kind).startswith(("list<", "large_list<")) else ""
    return inner if inner in KINDS else None


def cells(column: Any) -> list[Array]:
    """The cells of a column; those of a list of numbers are parts of one array."""
    inner = _within(column.type)
    if column.null_count or str(column.type) in TEXTS:
        return [np.asarray(value) for value in column.to_pylist()]
    made: list[Array] = []
    for chunk in column.chunks:
        values = chunk if inner is None else chunk.flatten()
        if values.null_count:
            made += [np.asarray(value) for value in chunk.to_pylist()]
            continue
        numbers = values.to_numpy(zero_copy_only=False).astype(KINDS[inner or str(column.type)])
        if inner is None:
            made += [numbers[i : i + 1].reshape(()) for i in range(len(numbers))]
        else:
            ends = chunk.offsets.to_numpy() - chunk.offsets[0].as_py()
            empty = np.asarray([])  # of NumPy's own element type, as from a list
            made += [
                numbers[a:b] if b > a else empty for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
            ]
    return made


def ragged(column: Any) -> Column:
    """The cells of a column of texts or of lists of numbers in one piece, as `cells` would give them."""
    inner, texts = _within(column.type), str(column.type) in TEXTS
    if column.null_count or not column.num_chunks or not (texts or inner):
        return None
    return together([_text_piece(c) if texts else _list_piece(c, KINDS[inner or ""]) for c in column.chunks])


def _text_piece(chunk: Any) -> Column:
    _, offsets, data = chunk.buffers()
    kind = np.int64 if str(chunk.type).startswith("large") else np.int32
    ends = np.frombuffer(offsets, kind)[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
    values = np.frombuffer(data if data is not None else b"", np.uint8)[int(ends[0]) : int(ends[-1])]
    ends -= ends[0]
    full = np.flatnonzero(np.diff(ends))
    zeros = len(full) and not values[ends[1:][full] - 1].all()  # NumPy's texts lose them
    return None if zeros else Ragged(values, ends, text=True)


def _list_piece(chunk: Any, kind: type) -> Column:
    values = chunk.flatten()
    if values.null_count:
        return None
    ends = chunk.offsets.to_numpy().astype(np.int64)
    return Ragged(values.to_numpy(zero_copy_only=False).astype(kind, copy=False), ends - ends[0])
