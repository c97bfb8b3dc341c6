"""States as plain data: numbers, text, lists and dictionaries, which JSON can hold, and back.

A stream's state may hold rows, and requests for rows that are not made yet. They are written down by their fields, and
read back as nothing but what this module knows: no code comes with a state.
"""

from __future__ import annotations

import base64
from dataclasses import fields
from functools import singledispatch
from typing import Any

import numpy as np

from mycelia.dataset.describing import dtype_word, plain_dtype
from mycelia.dataset.errors import DataError, Failure
from mycelia.dataset.flow.request import Apply, Chain, Collate, Fetch, Literal, Request, Select, Side
from mycelia.types import Array

MARK = "="  # the key that tells a written-down value from a dictionary
KINDS = {kind.__name__: kind for kind in (Apply, Chain, Collate, Failure, Fetch, Literal, Select, Side)}


@singledispatch
def plain(state: Any) -> Any:
    """A state as plain data. What a user's own iterator told of itself stays as it is, when it is of another kind.

    >>> plain({"at": (3, np.arange(2, dtype="uint8"))})
    {'at': {'=': 'tuple', 'of': [3, {'=': 'array', 'dtype': '|u1', 'shape': [2], 'data': 'AAE='}]}}
    """
    return state


@plain.register
def _(state: list) -> Any:  # type: ignore[type-arg]  # singledispatch takes no parameters
    return [plain(v) for v in state]


@plain.register
def _(state: tuple) -> Any:  # type: ignore[type-arg]
    return {MARK: "tuple", "of": [plain(v) for v in state]}


@plain.register
def _(state: dict) -> Any:  # type: ignore[type-arg]
    if MARK not in state and all(isinstance(k, str) for k in state):
        return {k: plain(v) for k, v in state.items()}
    return {MARK: "dict", "of": [[plain(k), plain(v)] for k, v in state.items()]}


@plain.register
def _(state: bytes) -> Any:
    return {MARK: "bytes", "data": base64.b64encode(state).decode()}


@plain.register
def _(state: np.generic) -> Any:
    return plain(np.asarray(state))


@plain.register
def _(state: np.ndarray) -> Any:
    told = {MARK: "array", "dtype": dtype_word(state.dtype), "shape": list(state.shape)}
    if state.dtype.hasobject:
        return {**told, "of": [plain(v) for v in state.reshape(-1).tolist()]}
    return {**told, "data": base64.b64encode(state.tobytes()).decode()}


@plain.register(Request)
@plain.register(Failure)
def _(state: Any) -> Any:
    return {MARK: type(state).__name__, "of": [plain(getattr(state, f.name)) for f in fields(state)]}


def restored(told: Any) -> Any:
    """The state that `plain` wrote down.

    >>> restored(plain((1, [b"x", {2: None}])))
    (1, [b'x', {2: None}])
    """
    try:
        return _restored(told)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"this is not the state of a pipeline: {type(error).__name__} {error}") from error


def _restored(told: Any) -> Any:
    if isinstance(told, list):
        return [_restored(v) for v in told]
    if not isinstance(told, dict):
        return told
    kind = told.get(MARK)
    if kind is None:
        return {k: _restored(v) for k, v in told.items()}
    if kind == "tuple":
        return tuple(_restored(told["of"]))
    if kind == "dict":
        return dict(_restored(told["of"]))
    if kind == "bytes":
        return base64.b64decode(told["data"])
    if kind == "array":
        return _array(told)
    if kind not in KINDS:
        raise DataError(f"a state holds a {kind!r}, which this version does not know")
    return KINDS[kind](*_restored(told["of"]))


def _array(told: dict[str, Any]) -> Array:
    shape, dtype = told["shape"], plain_dtype(told["dtype"])
    if "data" in told:
        return np.frombuffer(bytearray(base64.b64decode(told["data"])), dtype).reshape(shape)
    if not dtype.hasobject:
        raise DataError(f"a state holds an array of {dtype} without its bytes")
    out = np.empty(len(told["of"]), dtype)
    out[:] = _restored(told["of"])
    return out.reshape(shape)
