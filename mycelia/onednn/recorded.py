"""What the library is told, written down: the calls that make primitives, as data that another process can repeat."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_float, c_int64, c_void_p
from dataclasses import dataclass, field
from typing import Any

from mycelia.frozen import frozen
from mycelia.onednn.constants import MAX_RANK
from mycelia.onednn.library import _CALLS, _VALUES, library

ENGINE, STREAM = 0, 1  # the objects that there are before the first call
ANSWERS = ("dnnl_memory_desc_query", "dnnl_primitive_desc_query", "dnnl_memory_desc_equal")  # asked by Python only
SIZE = "dnnl_memory_desc_get_size"
SET_THREADS = "omp_set_num_threads"  # not of this library: how many threads what follows is made for


@frozen
class Thing:
    """An object of the library, by its number; what is NULL has none."""

    number: int | None


Argument = Thing | int | float | tuple[int, ...]


@frozen
class Told:
    """One call: a function of the library, what it was given, and what came of it: an object, or a number of bytes."""

    name: str
    arguments: tuple[Argument, ...]
    made: int | None = None
    nbytes: int | None = None


@dataclass
class RecordedCalls:
    """Calls in order. Objects are numbered as they are made, behind the engine and the stream."""

    calls: list[Told] = field(default_factory=list)
    objects: dict[int, int] = field(default_factory=dict)  # by address, which a later object may have again
    count: int = STREAM + 1

    def number(self, address: int | None) -> int | None:
        """The number of the object at an address."""
        return None if not address else self.objects[address]

    def hear(self, name: str, arguments: tuple[Any, ...], result: Any) -> None:
        """Write a call down."""
        kinds = _CALLS[name] if name in _CALLS else _VALUES[name][1]
        made = None
        if kinds and kinds[0] is POINTER(c_void_p):
            made = arguments[0]._obj.value
            arguments, kinds = arguments[1:], kinds[1:]
        elif name not in _CALLS and _VALUES[name][0] is c_void_p:
            made = result
        given = tuple(self._argument(a, kind) for a, kind in zip(arguments, kinds, strict=True))
        number = None
        if made is not None:
            number = self.objects[made] = self.count
            self.count += 1
        self.calls.append(Told(name, given, number, int(result) if name == SIZE else None))

    def _argument(self, given: Any, kind: Any) -> Argument:
        if kind is c_void_p:
            return Thing(self.number(given))
        if kind is POINTER(c_int64):
            return tuple(given[i] for i in range(MAX_RANK))
        return float(given) if kind is c_float else int(given)


@contextmanager
def recorded() -> Iterator[RecordedCalls]:
    """Inside the block, all that makes objects of the library is written down. What was made before has no number, so
    nothing that was kept may be used.

    >>> from mycelia.onednn import DataType, Layout
    >>> with recorded() as record:
    ...     _ = Layout.rows((2, 3), DataType.f32).address
    >>> [call.name for call in record.calls]
    ['dnnl_memory_desc_create_with_strides']
    """
    lib, record = library(), RecordedCalls()
    record.objects = {lib.engine: ENGINE, lib.stream: STREAM}
    before = dict(lib.functions)
    _forget()

    def listened(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            failed = name in _CALLS and result
            if not failed and name not in ANSWERS and not name.endswith("_destroy"):
                record.hear(name, arguments, result)
            return result

        return call

    lib.functions.update({name: listened(name, function) for name, function in before.items()})
    try:
        yield record
    finally:
        lib.functions.update(before)
        _forget()


def _forget() -> None:
    """Let go of all objects of the library that are kept for later."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("mycelia.onednn", "mycelia.runtime.recipes")):
            for kept in [v for v in vars(module).values() if hasattr(v, "cache_clear") and v.__module__ == name]:
                if kept is not library:
                    kept.cache_clear()


def prototype(name: str) -> str:
    """How C declares a function of the library.

    >>> prototype("dnnl_primitive_create")
    'int32_t dnnl_primitive_create(void **, void *);'
    """
    result, kinds = (ctypes.c_int, _CALLS[name]) if name in _CALLS else _VALUES[name]
    return f"{_c(result)} {name}({', '.join(map(_c, kinds))});".replace("* dnnl", "*dnnl")


def _c(kind: Any) -> str:
    names: dict[Any, str] = {
        c_void_p: "void *", POINTER(c_void_p): "void **", POINTER(c_int64): "const int64_t *",
        c_float: "float", ctypes.c_size_t: "size_t", ctypes.c_int32: "int32_t", ctypes.c_uint: "unsigned",
    }  # fmt: skip
    return names.get(kind, "void *")
