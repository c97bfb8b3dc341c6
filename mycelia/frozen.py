"""Immutable data classes that are made quickly: hundreds of them are made while we are imported.

`@frozen` is `@dataclass(frozen=True)`, whose methods Python writes as texts and compiles, one after the other. Here the
methods of all classes are the same few functions over the names of fields, and only `__init__` is a text, one for all
classes with fields of the same names. What is more than fields and their defaults goes the long way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")
MISSING = dataclasses.MISSING
_FIELD, _CLASSVAR = dataclasses._FIELD, dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]  # as it tells them
_OTHERS = ("InitVar", "KW_ONLY", "ClassVar")  # in annotations: no fields, or fields of another kind


@overload
def frozen(cls: type[T], *, eq: bool = True) -> type[T]: ...
@overload
def frozen(cls: None = None, *, eq: bool = True) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(cls: Any = None, *, eq: bool = True) -> Any:
    """A data class whose objects cannot change; with `eq=False` two of them are equal if they are the same one.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), dataclasses.replace(Point(1), y=2)
    (Point(x=1, y=0), True, Point(x=1, y=2))
    >>> Point(1).x = 2
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """
    if cls is None:
        return lambda cls: frozen(cls, eq=eq)
    fields = _fields(cls)
    if fields is None:
        return dataclasses.dataclass(frozen=True, eq=eq)(cls)
    about = dataclasses._DataclassParams  # type: ignore[attr-defined]  # as the standard library's functions ask for them
    cls.__dataclass_fields__ = fields
    cls.__dataclass_params__ = about(init=True, repr=True, eq=eq, order=False, unsafe_hash=False, frozen=True)
    fields = {name: field for name, field in fields.items() if field._field_type is _FIELD}
    names, own = tuple(fields), vars(cls)
    made: list[Callable[..., Any]] = [_init(cls, fields)]
    if eq:
        made += _comparing(names)
    for method in (*made, *_refusing(cls, frozenset(names)), _repr(names)):
        if method.__name__ in own and not (method.__name__ == "__hash__" and own["__hash__"] is None):
            if method.__name__ in ("__setattr__", "__delattr__"):
                raise TypeError(f"cannot overwrite attribute {method.__name__} in class {cls.__name__}")
            continue
        method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
        method.__module__ = cls.__module__
        setattr(cls, method.__name__, method)
    if "__match_args__" not in own:
        cls.__match_args__ = names  # type: ignore[misc]
    if not cls.__doc__:
        cls.__doc__ = f"{cls.__name__}({', '.join(names)})"
    return cls


def _fields(cls: Any) -> dict[str, Any] | None:
    """The fields of a class, those of its bases first; None if one of them is more than a name and a default."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        if (params := vars(base).get("__dataclass_params__")) is not None:
            if not params.frozen:
                return None
            found |= vars(base)["__dataclass_fields__"]
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        default = vars(cls).get(name, MISSING)
        shared = isinstance(annotation, str) and annotation.startswith(("ClassVar[", "ClassVar "))
        if not isinstance(annotation, str) or any(word in annotation for word in _OTHERS[: 2 if shared else 3]):
            return None
        if isinstance(default, dataclasses.Field | MemberDescriptorType) or default.__hash__ is None:
            return None
        found[name] = field = dataclasses.field(default=default)
        field.name, field.type, field.kw_only = name, annotation, False
        field._field_type = _CLASSVAR if shared else _FIELD
    plain = [f for f in found.values() if f._field_type is not _CLASSVAR]
    defaults = [f.default is not MISSING for f in plain]
    known = all(map(_is_plain, plain)) and defaults == sorted(defaults)  # else it tells what is wrong with the order
    return found if known else None


def _is_plain(field: Any) -> bool:
    plain = field.init and field.repr and field.compare and field.hash is None and not field.kw_only
    return plain and field.default_factory is MISSING and field._field_type is _FIELD


def _init(cls: Any, fields: dict[str, Any]) -> Callable[..., None]:
    """The function that sets the fields: one of the class's module, which says in whose code a mistake was made."""
    defaults = tuple(f.default for f in fields.values() if f.default is not MISSING)
    known = {"__name__": cls.__module__, "__put__": object.__setattr__}
    init = FunctionType(_code(tuple(fields), hasattr(cls, "__post_init__")), known, "__init__", defaults)
    init.__annotations__ = {name: f.type for name, f in fields.items()} | {"return": None}
    return init


@cache
def _code(names: tuple[str, ...], after: bool) -> CodeType:
    """What sets fields of these names."""
    lines = [f"__put__(self, {name!r}, {name})" for name in names] + ["self.__post_init__()"] * after
    text = f"def __init__({', '.join(('self', *names))}):\n  " + "\n  ".join(lines or ["pass"])
    (code,) = [c for c in compile(text, "<string>", "exec").co_consts if isinstance(c, CodeType)]
    return code


def _comparing(names: tuple[str, ...]) -> list[Callable[..., Any]]:
    """Equal objects have one class and equal fields."""
    fields = _taker(names)

    def __eq__(self: Any, other: Any) -> Any:
        return fields(self) == fields(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(fields(self))

    return [__eq__, __hash__]


def _taker(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        only = attrgetter(*names)
        return lambda x: (only(x),)
    return lambda x: ()


def _refusing(cls: Any, names: frozenset[str]) -> list[Callable[..., Any]]:
    """Nothing is set or deleted, but what a class further down adds, if it may be changed."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return [__setattr__, __delattr__]


def _repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    @recursive_repr("...")
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return __repr__
