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
        return value if type(value) is np.ndarray else _unmasked(value)
    if isinstance(value, dict):
        return {k: as_value(v) for k, v in value.items()}
    to_numpy = getattr(value, "asnumpy", None)
    if to_numpy is not None:
        return to_numpy()
    try:
        made = np.asarray(value)
    except ValueError as error:
        raise DTypeError(f"this value does not make an array: {error}", given={"value": repr(value)[:200]}) from error
    if isinstance(value, list | tuple) and made.dtype.kind in "fUS":
        _see_kept(value, made)
    return made


def _unmasked(value: Array) -> Array:
    """An array of a class of its own; a mask has no place in a row, and must not be lost in silence."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise DTypeError(
            "rows hold plain arrays, and this one has a mask",
            given={"value": repr(value)[:200]},
            hint="fill what is masked: value.filled(0)",
        )
    return value


def _see_kept(value: Sequence[Any], made: Array) -> None:
    """Raise when NumPy has made texts of numbers, or rounded whole numbers that no type holds together."""
    types = _types(value)
    texts = [t for t in types if issubclass(t, str if made.dtype.kind == "U" else bytes)]
    whole = made.dtype.kind == "f" and bool(types) and all(issubclass(t, int | np.integer) for t in types)
    if whole or (made.dtype.kind in "US" and len(texts) < len(types)):
        raise DTypeError(
            f"this value does not make an array: its elements have no type in common but {made.dtype}",
            given={"types": sorted(t.__name__ for t in types), "value": repr(value)[:200]},
            hint="give them one type, or make two columns of them",
        )


def _types(value: Sequence[Any]) -> set[type]:
    """The types of the elements, of inner lists too; those of arrays are left out."""
    types = set(map(type, value))
    if not types & {list, tuple}:
        return types - {np.ndarray}
    return set[type]().union(*(_types(v) if isinstance(v, list | tuple) else {type(v)} for v in value)) - {np.ndarray}


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
        fits = _alike(have[0], value)
    else:
        fits = isinstance(value, np.ndarray) and value.shape == have.shape[1:] and value.dtype == have.dtype
    if not fits:
        name = columns[c] if c < len(columns) else str(c)
        raise ArgumentError(
            f"rows of column {name!r} do not make a batch: row 0 is {_shown(have[0])} and row {n} is {_shown(value)}",
            hint="resize or pad them in a map, or use padded_batch",
        )
    if isinstance(have, list):
        have.append(value)
    else:
        have[n] = value


def _alike(one: Any, other: Any) -> bool:
    """Whether two values without a fixed size can stand in one batch: texts, objects, or dictionaries of such."""
    if isinstance(one, dict) or isinstance(other, dict):
        same = isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()
        return same and all(_alike(as_value(v), as_value(other[k])) for k, v in one.items())
    kinds = one.dtype.kind == other.dtype.kind and (one.dtype.kind in "USO" or one.dtype == other.dtype)
    return bool(kinds and one.shape == other.shape)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_shown(as_value(v))}" for k, v in value.items()) + "}"
    missing = value.dtype.hasobject and value.ndim == 0 and value[()] is None
    return "None, for it is missing" if missing else f"{value.dtype}{list(value.shape)}"


def _finish(out: Any, n: int) -> Any:
    if not isinstance(out, list):
        return out[:n] if len(out) != n else out
    if not isinstance(out[0], dict):
        return np.stack(out)
    return {k: _finish([as_value(v[k]) for v in out], n) for k in out[0]}


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
    out = filled(sizes, blank, value.dtype)
    out[kept] = value[kept]
    return out


def filled(shape: Sequence[int], value: Any, dtype: np.dtype[Any]) -> Array:
    """An array of one value, which must be an element of that type; for longer texts the type is widened.

    >>> filled((2,), 7.0, np.dtype(np.int8)), filled((1,), "end", np.dtype("U1"))
    (array([7, 7], dtype=int8), array(['end'], dtype='<U3'))
    >>> filled((2,), 2.5, np.dtype(np.int8))
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: 2.5 cannot stand among int8...
    """
    given = as_value(value)
    if dtype.kind in "US" and given.dtype.kind == dtype.kind and not given.ndim:
        return np.full(shape, value, max(dtype, given.dtype, key=lambda d: d.itemsize))
    if dtype.kind not in "biufcUS":
        return np.full(shape, value, dtype)
    fits = not given.ndim and given.dtype.kind in ("biuf" if dtype.kind != "c" else "biufc") and dtype.kind not in "US"
    if fits:
        with np.errstate(all="ignore"):
            made = given.astype(dtype)
        fits = bool(np.isfinite(made) == np.isfinite(given) if dtype.kind in "fc" else made == given)
    if not fits:
        raise ArgumentError(f"{value!r} cannot stand among {dtype}", hint="fill with a value that the type has")
    return np.full(shape, made, dtype)
