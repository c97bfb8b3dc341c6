"""Values as arrays: what user functions return, stacked rows, padding, element types by any name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mycelia.dataset.flow.buffers import Places, room
from mycelia.errors import ArgumentError, DTypeError
from mycelia.types import Array

_NAMES = {"string": "str", "bytes": "S", "bool_": "bool", "half": "float16", "float": "float32", "double": "float64"}


def as_value(value: Any) -> Any:
    """An array of what a user's function returned; dictionaries stay as they are, their values become arrays.

    >>> as_value(3), as_value("a").dtype.kind, as_value({"k": 1})
    (array(3), 'U', {'k': array(1)})
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, dict):
        return {k: as_value(v) for k, v in value.items()}
    to_numpy = getattr(value, "asnumpy", None)
    if to_numpy is not None:
        return to_numpy()
    try:
        return np.asarray(value)
    except ValueError as error:
        raise DTypeError(f"this value does not make an array: {error}", given={"value": repr(value)[:200]}) from error


def as_dtype(name: Any) -> np.dtype[Any]:
    """The NumPy element type that a name, a NumPy type or a framework type means.

    >>> as_dtype("float32"), as_dtype(np.int8)
    (dtype('float32'), dtype('int8'))
    """
    own = getattr(name, "numpy", None)
    if isinstance(own, np.dtype):
        return own
    text = str(name).lower() if not isinstance(name, type | np.dtype) else name
    try:
        return np.dtype(_NAMES.get(text, text) if isinstance(text, str) else text)
    except TypeError as error:
        raise DTypeError(f"{name!r} is not an element type") from error


def stack(
    rows: Iterable[Sequence[Any]], count: int, columns: Sequence[str], places: Places | None = None
) -> tuple[Any, ...]:
    """One array per column of many rows; each row is written in place as it is made.

    Whoever makes the rows may have been given `places` too: there a column finds where it belongs, and what comes back
    as that very array is in place already.

    >>> [a.tolist() for a in stack(iter([(1, [2, 3]), (4, [5, 6])]), 2, ["a", "b"])]
    [[1, 4], [[2, 3], [5, 6]]]
    """
    out: list[Any] = []
    places = Places() if places is None else places
    n = 0
    for row in rows:
        values = [as_value(v) for v in row]
        if not n:
            out = [_first(v, count) for v in values]
        else:
            for c, value in enumerate(values):
                if value is not places.of(c):  # otherwise it was made in its place
                    _put(out, c, n, value, columns)
        n += 1
        if n < count:
            places.stand(tuple(o[n] if not isinstance(o, list) and o.ndim > 1 else None for o in out))
    places.stand(())
    return tuple(_finish(o, n) for o in out)


def _first(value: Any, count: int) -> Any:
    """Room for a column, with its first value in place; a list when values have no fixed size."""
    if isinstance(value, dict) or value.dtype.kind in "USO":
        return [value]
    out = room((count, *value.shape), value.dtype)
    out[0] = value
    return out


def _put(out: list[Any], c: int, n: int, value: Any, columns: Sequence[str]) -> None:
    have = out[c]
    if isinstance(have, list):
        have.append(value)
        return
    fits = isinstance(value, np.ndarray) and value.shape == have.shape[1:] and value.dtype == have.dtype
    if not fits:
        name = columns[c] if c < len(columns) else str(c)
        shown = f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ArgumentError(
            f"rows of column {name!r} do not make a batch: row 0 is {have.dtype}{list(have.shape[1:])}"
            f" and row {n} is {shown}",
            hint="resize or pad them in a map, or use padded_batch",
        )
    have[n] = value


def _finish(out: Any, n: int) -> Any:
    if not isinstance(out, list):
        return out[:n] if len(out) != n else out
    if isinstance(out[0], dict):
        return {k: np.stack([as_value(v[k]) for v in out]) for k in out[0]}
    return np.stack(out)


def pad(values: Sequence[Array], shape: Sequence[int | None] | None, fill: Any) -> list[Array]:
    """The same arrays, all of one shape: that of `shape`, or of the largest where it says None.

    >>> [v.tolist() for v in pad([np.array([1]), np.array([1, 2])], None, 0)]
    [[1, 0], [1, 2]]
    """
    ranks = {v.ndim for v in values}
    if len(ranks) > 1:
        raise ArgumentError(f"arrays with {sorted(ranks)} axes cannot be padded to one shape")
    rank = ranks.pop()
    wanted = list(shape) if shape is not None else [None] * rank
    if len(wanted) != rank:
        raise ArgumentError(f"pad_info gives the shape {wanted} to arrays with {rank} axes")
    sizes = [max(v.shape[a] for v in values) if w is None or w < 0 else w for a, w in enumerate(wanted)]
    return [_padded(v, sizes, fill) for v in values]


def _padded(value: Array, sizes: Sequence[int], fill: Any) -> Array:
    if list(value.shape) == list(sizes):
        return value
    kept = tuple(slice(0, min(a, b)) for a, b in zip(value.shape, sizes, strict=True))
    blank = fill if fill is not None else "" if value.dtype.kind == "U" else b"" if value.dtype.kind == "S" else 0
    out = np.full(sizes, blank, value.dtype)
    out[kept] = value[kept]
    return out
