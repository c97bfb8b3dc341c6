"""States as plain data: numbers, text, lists and dictionaries, which JSON can hold, and back.

A stream's state may hold rows, and requests for rows that are not made yet. They are written down by their fields, and
read back as nothing but what this module knows: no code comes with a state.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import fields
from functools import singledispatch
from typing import Any

import numpy as np

from mycelia.dataset.describing import dtype_word, plain_dtype
from mycelia.dataset.errors import DataError, Failure
from mycelia.dataset.flow.request import Apply, Chain, Collate, Fetch, Literal, Request, Select, Side
from mycelia.types import Array
from mycelia.wire import elements

Fits = Callable[[Any], bool]
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
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
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
    return _checked(KINDS[kind], _restored(told["of"]))


def _row(value: Any) -> bool:
    return value is None or isinstance(value, Failure) or (type(value) is tuple and all(map(_cell, value)))


def _cell(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (isinstance(value, dict) and all(map(_cell, value.values())))


def _number(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"


def _request(value: Any) -> bool:
    return isinstance(value, Request)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _tuple_of(fits: Fits) -> Fits:
    return lambda value: type(value) is tuple and all(map(fits, value))


# what the fields of each kind may hold
FIELDS: dict[str, tuple[Fits, ...]] = {
    "Apply": (_number, _number, _numbers, _request),
    "Chain": (_tuple_of(_request),),
    "Collate": (_number, _number, _number, _request),
    "Failure": (_text, _text, _text, _text, _text, lambda value: type(value) is bool),
    "Fetch": (_number, _numbers),
    "Literal": (_tuple_of(_row), _tuple_of(_text)),
    "Select": (_tuple_of(_number), _request),
    "Side": (_tuple_of(_request),),
}


def _checked(kind: type[Any], values: Any) -> Any:
    """A request or a failure, if its fields are what they must be."""
    fits = FIELDS[kind.__name__]
    if type(values) is not list or len(values) != len(fits):
        raise DataError(f"a state holds a {kind.__name__} with other fields than it has")
    wrong = [f.name for f, fit, v in zip(fields(kind), fits, values, strict=True) if not fit(v)]
    if wrong:
        raise DataError(f"a state holds a damaged {kind.__name__}", given={"wrong": wrong})
    return kind(*values)


def _array(told: dict[str, Any]) -> Array:
    shape, dtype = told["shape"], plain_dtype(told["dtype"])
    if "data" in told:
        return elements(bytearray(base64.b64decode(told["data"])), dtype).reshape(shape)
    if not dtype.hasobject:
        raise DataError(f"a state holds an array of {dtype} without its bytes")
    out = np.empty(len(told["of"]), dtype)
    out[:] = _restored(told["of"])
    return out.reshape(shape)
