"""Operations as plain data and back: a transform by its class and fields, a function by where it is defined."""

from __future__ import annotations

import inspect
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any

import numpy as np

from mycelia.dataset.errors import DataError


def described(operation: Any) -> Any:
    """An operation as plain data.

    >>> described(len)
    {'function': 'builtins:len'}
    """
    if operation is None:
        return None
    told = fields_of(operation)
    if told is not None:
        kind = type(operation)
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": told}
    module = getattr(operation, "__module__", None) or type(operation).__module__
    return {"function": f"{module}:{getattr(operation, '__qualname__', type(operation).__qualname__)}"}


def fields_of(operation: Any) -> dict[str, Any] | None:
    """The parameters of a transform as plain data: it is a dataclass, or its attributes are what it was made of.

    >>> from mycelia.dataset.transforms import PadEnd, Slice
    >>> fields_of(PadEnd([3], -1)), fields_of(Slice(1, ...)), fields_of(len)
    ({'pad_shape': [3], 'pad_value': -1}, {'slices': [1, {'constant': 'Ellipsis'}]}, None)
    """
    if isinstance(operation, type) or hasattr(operation, "__qualname__"):
        return None
    if is_dataclass(operation):
        return {f.name: _plain(getattr(operation, f.name)) for f in fields(operation) if f.init}
    attributes = {k: v for k, v in getattr(operation, "__dict__", {}).items() if not k.startswith("_")}
    same = type(operation).__module__ != "builtins" and set(attributes) == set(_parameters(type(operation)))
    return {k: _plain(v) for k, v in attributes.items()} if same else None


def _parameters(kind: type) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(kind).parameters)
    except (TypeError, ValueError):  # some that are written in C do not tell
        return {"": inspect.Parameter("unknown", inspect.Parameter.POSITIONAL_ONLY)}


def made_of(kind: Any, told: dict[str, Any]) -> Any:
    """A transform of that class with those parameters as plain data.

    >>> from mycelia.dataset.transforms import Slice
    >>> made_of(Slice, {"slices": [0, 1]})
    Slice(0, 1)
    """
    given = {k: value_of(v) for k, v in told.items()}
    many = [n for n, p in _parameters(kind).items() if p.kind is inspect.Parameter.VAR_POSITIONAL and n in given]
    listed = [v for name in many for v in given.pop(name)]
    return kind(*listed, **given)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return {"member": f"{type(value).__module__}:{type(value).__qualname__}.{value.name}"}
    if callable(value) or is_dataclass(value):
        return described(value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, bytes):
        return {"bytes": b64encode(value).decode()}
    if value is ...:
        return {"constant": "Ellipsis"}
    kind = getattr(value, "numpy", value)  # our element types hold NumPy's
    if isinstance(kind, np.dtype):
        return {"dtype": kind.str}
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if fields_of(value) is None else described(value)


def operation_of(told: Any) -> Any:
    """An operation from plain data: a transform with its fields, or a function by the place where it is defined.

    >>> operation_of({"function": "math:sqrt"})(4.0)
    2.0
    """
    if told is None:
        return None
    found = _found(told.get("class") or told.get("function"))
    return made_of(found, told["fields"]) if "class" in told else found


def _found(place: Any) -> Any:
    """What is defined at a place, written `module:name`."""
    module, _, path = str(place).partition(":")
    if "<" in path:
        raise DataError(f"{path} has no name of its own and cannot be found again", hint="define it at module level")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


KINDS: dict[tuple[str, ...], Callable[[dict[str, Any]], Any]] = {
    ("class", "fields"): operation_of,
    ("function",): operation_of,
    ("member",): lambda told: _found(told["member"]),
    ("array", "dtype"): lambda told: np.array(told["array"], told["dtype"]),
    ("dtype",): lambda told: np.dtype(told["dtype"]),
    ("slice",): lambda told: slice(*told["slice"]),
    ("bytes",): lambda told: b64decode(told["bytes"]),
    ("constant",): lambda told: ...,
}


def value_of(told: Any) -> Any:
    """A field of a transform from plain data.

    >>> value_of({"array": [1, 2], "dtype": "|u1"}), value_of([{"slice": [0, 2, None]}])
    (array([1, 2], dtype=uint8), [slice(0, 2, None)])
    """
    if isinstance(told, list):
        return [value_of(v) for v in told]
    if not isinstance(told, dict):
        return told
    make = KINDS.get(tuple(told))
    return {k: value_of(v) for k, v in told.items()} if make is None else make(told)
