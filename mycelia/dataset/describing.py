"""Operations as plain data and back: a transform by its class and fields, a function by where it is defined.

Plain data comes from strangers too. What it names is looked up among our own transforms and what the caller passes, and
nothing is imported or run because a file says so.
"""

from __future__ import annotations

import inspect
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.frozen import frozen


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
        return {"array": value.tolist(), "dtype": dtype_word(value.dtype)}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, bytes):
        return {"bytes": b64encode(value).decode()}
    if value is ...:
        return {"constant": "Ellipsis"}
    kind = getattr(value, "numpy", value)  # our element types hold NumPy's
    if isinstance(kind, np.dtype):
        return {"dtype": dtype_word(kind)}
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if fields_of(value) is None else described(value)


PACKAGES = ("transforms", "vision", "audio", "text")
MORE = {
    "caches.memo": ["Remembered"],
    "caches.diskcache": ["OnDisk"],
    "text": ["SentencePieceVocab", "Vocab"],
}  # what transforms are made of
CODE = {"Plugin"}  # machine code of the user: only the caller may name it


@cache
def ours() -> dict[str, type]:
    """What plain data may name, by the places where it is defined: our public transforms and enumerations.

    >>> "mycelia.dataset.vision.flip:HorizontalFlip" in ours(), "subprocess:Popen" in ours()
    (True, False)
    """
    base: type = import_module("mycelia.dataset.transforms.base").TensorOperation
    modules = {name: import_module(f"mycelia.dataset.{name}") for name in (*PACKAGES, *MORE)}
    public = [vars(modules[p]).values() for p in PACKAGES]
    kinds = [
        k for k in chain(*public) if isinstance(k, type) and issubclass(k, (base, Enum)) and k.__name__ not in CODE
    ]
    kinds += [getattr(modules[name], kind) for name, more in MORE.items() for kind in more]
    return {place_of(kind): kind for kind in kinds if kind.__module__.startswith("mycelia.dataset.")}


def place_of(thing: Any) -> str:
    """Where a function or a class is defined, as `module:name`.

    >>> place_of(len), place_of(dict)
    ('builtins:len', 'builtins:dict')
    """
    told = described(thing)
    return f"{thing.__module__}:{thing.__qualname__}" if isinstance(thing, type) else str(told["function"])


def named(functions: Functions) -> dict[str, Any]:
    """Functions and classes by the names that plain data calls them: given by the caller, or where they are defined.

    >>> named([len]) == named({"builtins:len": len})
    True
    """
    return dict(functions) if isinstance(functions, Mapping) else {place_of(f): f for f in functions}


Functions = Mapping[str, Any] | Iterable[Any]


UNSIZED = (np.void, np.object_, np.bytes_)  # one of them may be anything, or as large as a number says
SCALARS = {place_of(kind): kind for kind in (bool, int, float, str, *np.sctypeDict.values()) if kind not in UNSIZED}


@frozen
class Nameable:
    """What plain data may name: our transforms, and the functions and classes that the caller passes."""

    functions: Mapping[str, Any] = field(default_factory=dict)

    def operation(self, told: Any) -> Any:
        """An operation from plain data: a transform with its fields, or a function.

        >>> Nameable(named([len])).operation({"function": "builtins:len"})([7])
        1
        >>> Nameable().operation({"class": "subprocess:Popen", "fields": {"args": "date"}})
        Traceback (most recent call last):
        mycelia.dataset.errors.DataError: plain data names 'subprocess:Popen', which is none of our transforms
        ...
        """
        if told is None:
            return None
        if not isinstance(told, dict) or tuple(told) not in (("class", "fields"), ("function",)):
            raise DataError("this is not the description of an operation", given={"got": repr(told)[:200]})
        if "class" in told:
            return self.made(self.found(told["class"]), told["fields"])
        found = self.functions.get(str(told["function"]), SCALARS.get(str(told["function"])))
        return self._refuse(str(told["function"])) if found is None else found

    def found(self, place: Any) -> Any:
        """The class at a place."""
        kind = self.functions.get(str(place), ours().get(str(place)))
        return self._refuse(str(place)) if kind is None else kind

    def _refuse(self, place: str) -> Any:
        own = "<" in place
        raise DataError(
            f"{place.partition(':')[2]} has no name of its own and cannot be found again"
            if own
            else f"plain data names {place!r}, which is none of our transforms",
            hint=f"if you trust it, pass it: functions={{{place!r}: ...}}",
        )

    def made(self, kind: Any, told: dict[str, Any]) -> Any:
        """A transform of that class with those parameters as plain data.

        >>> from mycelia.dataset.transforms import Slice
        >>> Nameable().made(Slice, {"slices": [0, 1]})
        Slice(0, 1)
        """
        if not isinstance(told, dict):
            raise DataError(f"the fields of {kind.__name__} must be a dictionary", given={"got": repr(told)[:200]})
        given = {k: self.value(v) for k, v in told.items()}
        many = [n for n, p in _parameters(kind).items() if p.kind is inspect.Parameter.VAR_POSITIONAL and n in given]
        listed = [v for name in many for v in given.pop(name)]
        try:
            return kind(*listed, **given)
        except (TypeError, ValueError) as error:
            raise DataError(f"{kind.__name__} cannot be made of these fields: {error}") from error

    def value(self, told: Any) -> Any:
        """A field of a transform from plain data.

        >>> Nameable().value({"array": [1, 2], "dtype": "|u1"}), Nameable().value([{"slice": [0, 2, None]}])
        (array([1, 2], dtype=uint8), [slice(0, 2, None)])
        """
        if isinstance(told, list):
            return [self.value(v) for v in told]
        if not isinstance(told, dict):
            return told
        make = KINDS.get(tuple(told))
        return {k: self.value(v) for k, v in told.items()} if make is None else make(self, told)


def _member(known: Nameable, told: dict[str, Any]) -> Any:
    place, _, name = str(told["member"]).rpartition(".")
    kind = known.found(place)
    if not (isinstance(kind, type) and issubclass(kind, Enum) and name in kind.__members__):
        raise DataError(f"{told['member']!r} is no member of an enumeration of ours")
    return kind[name]


PLAIN = re.compile(r"[<>=|]?(\?|[biufcmMSUO]\d{0,9}|V\d{0,2})(\[\w+\])?")


EXTENDED = {"bfloat16", "float8_e4m3fn", "float8_e5m2"}  # which NumPy knows by name alone


def dtype_word(dtype: np.dtype[Any]) -> str:
    """An element type as plain data.

    >>> dtype_word(np.dtype("float32"))
    '<f4'
    """
    return dtype.name if dtype.name in EXTENDED else dtype.str


def plain_dtype(name: Any) -> np.dtype[Any]:
    """The element type that plain data names: one of NumPy's own, without fields.

    >>> plain_dtype("<f4")
    dtype('float32')
    """
    if not isinstance(name, str) or (name not in EXTENDED and PLAIN.fullmatch(name) is None):
        raise DataError("plain data names no element type", given={"got": repr(name)[:200]})
    try:
        return np.dtype(name)
    except TypeError as error:
        raise DataError(f"plain data names no element type: {error}") from error


def _array(known: Nameable, told: dict[str, Any]) -> Any:
    dtype = plain_dtype(told["dtype"])
    if dtype.hasobject:
        raise DataError("an array of plain data holds objects")
    try:
        return np.array(told["array"], dtype.kind if dtype.kind in "SU" else dtype)  # text is as long as it is
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"plain data makes no array: {error}") from error


def _slice(known: Nameable, told: dict[str, Any]) -> slice:
    parts = told["slice"]
    if not (isinstance(parts, list) and len(parts) == 3 and all(p is None or isinstance(p, int) for p in parts)):
        raise DataError("plain data makes no slice", given={"got": repr(parts)[:200]})
    return slice(*parts)


def _bytes(known: Nameable, told: dict[str, Any]) -> bytes:
    try:
        return b64decode(told["bytes"], validate=True)
    except (TypeError, ValueError) as error:
        raise DataError(f"plain data makes no bytes: {error}") from error


KINDS: dict[tuple[str, ...], Callable[[Nameable, dict[str, Any]], Any]] = {
    ("class", "fields"): Nameable.operation,
    ("function",): Nameable.operation,
    ("member",): _member,
    ("array", "dtype"): _array,
    ("dtype",): lambda known, told: plain_dtype(told["dtype"]),
    ("slice",): _slice,
    ("bytes",): _bytes,
    ("constant",): lambda known, told: ...,
}
