"""Which functions get hooks, and the functions with hooks: made once for each code object."""

from __future__ import annotations

import inspect
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any
from weakref import WeakSet

from mycelia.capture.jumps import HOOKS
from mycelia.capture.rewrite import FUNCTION, rewritten
from mycelia.capture.source import definition, owner
from mycelia.errors import PACKAGE

_PATHS = sysconfig.get_paths()
LIBRARIES = tuple({str(Path(_PATHS[k])) for k in ("stdlib", "platstdlib", "purelib", "platlib")} | {PACKAGE})
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

inner_codes: WeakSet[CodeType] = WeakSet()  # of functions that are made when a function with hooks runs


@dataclass(frozen=True)
class Converted:
    """The code of a function with hooks, and the names outside that it reads."""

    code: CodeType
    globals: tuple[str, ...]


_converted: dict[CodeType, Converted | None] = {}


def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, an installed package, or this one.

    >>> is_library(inspect.__file__), is_library("model.py")
    (True, False)
    """
    return filename.startswith(LIBRARIES) or filename.startswith("<frozen")


def convertible(fn: Any) -> bool:
    """Whether a callable is a function that a user wrote, and that runs from beginning to end."""
    return isinstance(fn, FunctionType) and not is_library(fn.__code__.co_filename)


def conversion(code: CodeType) -> Converted | None:
    """The code with hooks; None if there is no source, or nothing to gain."""
    if code not in _converted:
        _converted[code] = _convert(code)
    return _converted[code]


def _convert(code: CodeType) -> Converted | None:
    node = definition(code)
    if node is None or code.co_flags & RESUMED:
        return None
    module = rewritten(node, code.co_freevars, owner(code))
    try:
        compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    new = _found(compiled).replace(co_name=code.co_name, co_qualname=code.co_qualname)
    for inner in _nested(new):
        inner_codes.add(inner)
    return Converted(new, tuple(sorted(_global_names(code))))


def _found(compiled: CodeType) -> CodeType:
    """The function inside the scopes that were put around it."""
    scope = compiled
    while scope.co_name != FUNCTION:
        scope = next(c for c in scope.co_consts if isinstance(c, CodeType))
    return scope


def _nested(code: CodeType) -> list[CodeType]:
    found = [c for c in code.co_consts if isinstance(c, CodeType)]
    return found + [d for c in found for d in _nested(c)]


def _global_names(code: CodeType) -> set[str]:
    """The global names that a function, or one inside it, reads."""
    import dis  # used when something is compiled, and slow to import

    names: set[str] = set()
    for c in (code, *_nested(code)):
        names.update(i.argval for i in dis.get_instructions(c) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return names


def with_hooks(fn: FunctionType, made: Converted) -> FunctionType:
    """The same function, closures and defaults kept, with hooks."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells[HOOKS] = CellType(sys.modules["mycelia.capture.hooks"])
    closure = tuple(cells[name] for name in made.code.co_freevars)
    new = FunctionType(made.code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    new.__kwdefaults__ = fn.__kwdefaults__
    new.__qualname__, new.__module__ = fn.__qualname__, fn.__module__
    return new
