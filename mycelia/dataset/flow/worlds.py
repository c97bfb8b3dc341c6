"""The world that functions of a plan see: whether a process that begins anew would see the same.

A function finds more than its arguments: globals of its module, which the program may have changed since, and those of
the modules that it uses. What a fresh process imports is compared with what is here, and where anything differs, or
cannot be compared, only a copy of this process will do.
"""

from __future__ import annotations

import io
import logging
import pickle
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

MOST = 1 << 24  # bytes of a plan that every worker may have a copy of
DEEP, MANY = 8, 20_000  # how deep globals are looked into, and at how many values
KNOWN = {"mycelia", "numpy"}  # whose own settings are handed on with the plan, or decide nothing
Told = Any  # plain data that can be compared


class Incomparable(Exception):
    """Something in the world has no description that would be equal elsewhere."""


class _Bounded(io.BytesIO):
    def write(self, data: Any) -> int:
        if self.tell() + len(data) > MOST:
            raise Incomparable("the plan is large")
        return super().write(data)


class _Pickler(pickle.Pickler):
    """Pickles, and notes the modules of all functions and classes that it names."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=5)
        self.modules: set[str] = set()

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type | FunctionType | BuiltinFunctionType):
            self.modules.add(value.__module__ or "builtins")
        return NotImplemented


def portable(plan: Any) -> tuple[bytes, frozenset[str]] | None:
    """A plan for a fresh process, and the modules it names; None when it is not to be had there.

    >>> whole = portable((abs, np.zeros(3)))
    >>> whole is not None and whole[1], portable(lambda: 0)
    (frozenset(), None)
    """
    file = _Bounded()
    pickler = _Pickler(file)
    try:
        pickler.dump(plan)
    except Exception:  # whatever pickling may raise
        return None
    if "__main__" in pickler.modules:
        return None  # to import a program is to run it, and nothing tells whether it minds
    return file.getvalue(), frozenset(m for m in pickler.modules if _counts(m))


def _counts(module: str) -> bool:
    """Whether a program may have changed what a module holds."""
    root = module.partition(".")[0]
    return root not in sys.stdlib_module_names and root not in KNOWN and root != "builtins"


def world(modules: Iterable[str]) -> dict[str, Told] | None:
    """What is found in modules and in those that they name, as plain data; None when it cannot be compared.

    >>> world([])
    {}
    """
    told: dict[str, Told] = {}
    waiting = sorted(modules)
    try:
        while waiting:
            name = waiting.pop()
            module = sys.modules.get(name)
            if name in told or module is None:
                continue
            ours = not _installed(module)
            look = _Look(ours)
            told[name] = look.module(module)
            waiting += sorted(look.named) if ours else []
    except Incomparable:
        return None
    return told


def _installed(module: ModuleType) -> bool:
    """Whether a module is of a library, whose numbers and words are compared and nothing else."""
    parts = PurePath(getattr(module, "__file__", None) or "").parts
    return "site-packages" in parts or "dist-packages" in parts or not parts


class _Look:
    """One look at the globals of a module."""

    def __init__(self, ours: bool) -> None:
        self.ours, self.named, self.seen = ours, set[str](), 0

    def module(self, module: ModuleType) -> Told:
        names = {k: v for k, v in vars(module).items() if not k.startswith("__")}
        if not self.ours:
            return {k: v for k, v in names.items() if v is None or type(v) in (bool, int, float, str)}
        return self.mapping(names, DEEP)

    def mapping(self, names: Mapping[str, Any], deep: int) -> Told:
        return {k: self.value(v, deep - 1) for k, v in names.items()}

    def value(self, value: Any, deep: int) -> Told:
        """A value as plain data that is equal elsewhere exactly when the value is."""
        self.seen += 1
        if deep < 0 or self.seen > MANY:
            raise Incomparable("it is large")
        if value is None or type(value) in (bool, int, float, complex, str, bytes):
            return repr(value)
        if isinstance(value, ModuleType):
            if _counts(value.__name__):
                self.named.add(value.__name__)
            return value.__name__
        kind = f"{type(value).__module__}:{type(value).__qualname__}"
        return [kind, *self._parts(value, deep)]

    def _parts(self, value: Any, deep: int) -> Iterator[Told]:
        for kinds, tell in _WAYS:
            if isinstance(value, kinds):
                yield from tell(self, value, deep)
                return
        held = getattr(value, "__dict__", None)
        if not _counts(type(value).__module__) or held is None or hasattr(type(value), "__slots__"):
            raise Incomparable(type(value).__name__)
        yield self.value(type(value), deep - 1)
        yield self.mapping(held, deep)

    def each(self, values: Iterable[Any], deep: int) -> Iterator[Told]:
        return (self.value(v, deep - 1) for v in values)

    def unordered(self, values: Iterable[Any], deep: int) -> Iterator[Told]:
        return iter(sorted(map(repr, self.each(values, deep))))

    def items(self, values: Mapping[Any, Any], deep: int) -> Iterator[Told]:
        return self.each((part for item in values.items() for part in item), deep)

    def array(self, value: Any, deep: int) -> Iterator[Told]:
        if value.dtype.hasobject or value.nbytes > MOST:
            raise Incomparable("an array of objects, or a large one")
        return iter((str(value.dtype), value.shape, zlib.crc32(np.ascontiguousarray(value).tobytes())))

    def function(self, value: FunctionType, deep: int) -> Iterator[Told]:
        self._name(value.__module__)
        held = [c.cell_contents for c in value.__closure__ or ()]
        yield value.__qualname__
        yield _code(value.__code__)
        yield from self.each((value.__defaults__, value.__kwdefaults__, *held), deep)

    def method(self, value: MethodType, deep: int) -> Iterator[Told]:
        return self.each((value.__func__, value.__self__), deep)

    def kind(self, value: type, deep: int) -> Iterator[Told]:
        self._name(value.__module__)
        yield f"{value.__module__}:{value.__qualname__}"
        if _counts(value.__module__):
            plain = {k: v for k, v in vars(value).items() if not k.startswith("__") or isinstance(v, FunctionType)}
            yield {k: self.value(v, deep - 1) for k, v in plain.items() if k != "_abc_impl"}

    def _name(self, module: str | None) -> None:
        if module and _counts(module):
            self.named.add(module)

    def named_by(self, value: Any, deep: int) -> Iterator[Told]:
        return iter((getattr(value, "pattern", None) or getattr(value, "name", None) or str(value),))

    def wrapped(self, value: Any, deep: int) -> Iterator[Told]:
        inside = [getattr(value, n, None) for n in ("__func__", "fget", "fset", "fdel")]
        return self.each((v for v in inside if v is not None), deep)

    def builtin(self, value: Any, deep: int) -> Iterator[Told]:
        bound = getattr(value, "__self__", None)
        if bound is not None and not isinstance(bound, ModuleType):
            raise Incomparable("a method of an object")
        return iter((value.__name__,))


def _code(code: CodeType) -> Told:
    inside = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return [zlib.crc32(code.co_code), code.co_names, inside]


_WAYS: tuple[tuple[Any, Any], ...] = (
    (Enum, _Look.named_by),
    ((list, tuple), _Look.each),
    ((set, frozenset), _Look.unordered),
    (dict, _Look.items),
    ((np.ndarray, np.generic), _Look.array),
    (FunctionType, _Look.function),
    (MethodType, _Look.method),
    (type, _Look.kind),
    ((logging.Logger, re.Pattern, PurePath, np.dtype), _Look.named_by),
    ((staticmethod, classmethod, property), _Look.wrapped),
    ((BuiltinFunctionType, np.ufunc), _Look.builtin),
)
