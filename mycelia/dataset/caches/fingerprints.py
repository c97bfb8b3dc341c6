"""Fingerprints of functions: equal when a function and all that it uses are equal, in any process, on any day.

A function is known by its code, its constants, defaults, what it closes over and the globals that it reads, down to the
functions that it calls. What is not known to be safe to compare is refused, never guessed.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from mycelia.dataset.describing import described, fields_of, ours
from mycelia.errors import ArgumentError


def fingerprint_of(value: Any) -> str:
    """A word that two values share when they are equal, and so is all that they use.

    >>> fingerprint_of(lambda x: x + 1) == fingerprint_of(lambda x: x + 1)
    True
    >>> fingerprint_of(lambda x: x + 1) == fingerprint_of(lambda x: x + 2)
    False
    """
    hashed = hashlib.blake2b(f"{sys.version_info[:2]}{np.__version__}".encode(), digest_size=16)
    for part in _parts(value, ()):
        hashed.update(part)
        hashed.update(b"\0")
    return hashed.hexdigest()


Parts = list[bytes]


def _parts(value: Any, within: tuple[int, ...]) -> Parts:
    """What tells a value from others, as bytes."""
    if id(value) in within:
        return [f"again {within.index(id(value))}".encode()]  # a function that calls itself
    inner = (*within, id(value))
    kind = type(value)
    if value is None or value is ... or kind in (bool, int, float, complex, str, bytes):
        return [f"{kind.__name__} {value!r}".encode()]
    for known, tell in KINDS:
        if isinstance(value, known):
            return [kind.__name__.encode(), *tell(value, inner)]
    return _object(value, inner)


def _listed(values: Any, within: tuple[int, ...]) -> Parts:
    return [f"{len(values)}".encode(), *(p for v in values for p in _parts(v, within))]


def _mapping(values: Mapping[Any, Any], within: tuple[int, ...]) -> Parts:
    return _listed([x for pair in values.items() for x in pair], within)


def _set(values: Any, within: tuple[int, ...]) -> Parts:
    return sorted(b"\1".join(_parts(v, within)) for v in values)


def _array(value: Any, within: tuple[int, ...]) -> Parts:
    if value.dtype.hasobject:
        return [f"{value.shape}".encode(), *_listed(value.ravel().tolist(), within)]
    return [f"{value.dtype.name}{value.dtype.str}{value.shape}".encode(), value.tobytes()]


def _code(code: CodeType, within: tuple[int, ...]) -> Parts:
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags, code.co_argcount)
    read = {i.arg for i in dis.get_instructions(code) if i.opcode in dis.hasconst}
    constants = [c for k, c in enumerate(code.co_consts) if k in read or not isinstance(c, str)]  # not its docstring
    return [code.co_code, repr(names).encode(), code.co_exceptiontable, *_listed(constants, within)]


def _function(function: FunctionType, within: tuple[int, ...]) -> Parts:
    parts = _code(function.__code__, within)
    parts += _parts(function.__defaults__, within) + _parts(function.__kwdefaults__, within)
    for cell in function.__closure__ or ():
        parts += _parts(cell.cell_contents, within)
    for name in sorted(_globals(function.__code__)):
        if name in function.__globals__:
            parts += [name.encode(), *_parts(function.__globals__[name], within)]
        elif not hasattr(builtins, name):
            parts.append(f"missing {name}".encode())
    return parts


def _globals(code: CodeType) -> set[str]:
    """The names of globals that code reads, and the functions inside it."""
    own = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))


def _method(method: MethodType, within: tuple[int, ...]) -> Parts:
    return _parts(method.__func__, within) + _parts(method.__self__, within)


def _partial(value: Any, within: tuple[int, ...]) -> Parts:
    return _parts(value.func, within) + _parts(value.args, within) + _parts(value.keywords, within)


def _module(module: ModuleType, within: tuple[int, ...]) -> Parts:
    root = sys.modules[module.__name__.partition(".")[0]]
    installed = getattr(root, "__version__", None) is not None or root.__name__ in sys.stdlib_module_names
    if not installed and not root.__name__.startswith("mycelia"):
        return _refused(module, "a module without a version: read what you need from it into a variable")
    return [f"{module.__name__} {getattr(root, '__version__', '')}".encode()]


def _class(kind: type, within: tuple[int, ...]) -> Parts:
    name = f"{kind.__module__}:{kind.__qualname__}".encode()
    root = kind.__module__.partition(".")[0]
    if root in sys.stdlib_module_names or root in ("numpy", "mycelia", "ml_dtypes"):
        return [name]
    own = {
        k: v for k, v in vars(kind).items() if isinstance(v, FunctionType) or k in getattr(kind, "__annotations__", {})
    }
    return [name, *_mapping(dict(sorted(own.items())), within), *_listed(kind.__bases__, within)]


def _object(value: Any, within: tuple[int, ...]) -> Parts:
    """A transform of ours, or an object that is the values of its fields."""
    kind = type(value)
    name = f"{kind.__module__}:{kind.__qualname__}"
    told = fields_of(value)
    if told is not None:
        code = [] if name in ours() else _class(kind, within)
        return [name.encode(), *code, *_parts(described(value)["fields"], within)]
    if kind.__module__.partition(".")[0] in ("numpy", "builtins"):
        return [repr(value).encode()] if isinstance(value, np.ufunc) else _refused(value, "")
    return _refused(value, "make its class a dataclass")


def _refused(value: Any, hint: str) -> Parts:
    raise ArgumentError(
        f"what a cached map does must be known, and it uses a {type(value).__name__}",
        given={"value": repr(value)[:100]},
        hint=hint or "pass what it needs as numbers, texts or arrays",
    )


KINDS: list[tuple[Any, Callable[[Any, tuple[int, ...]], Parts]]] = [
    (Enum, lambda v, w: [f"{type(v).__module__}:{type(v).__qualname__}.{v.name}".encode()]),
    ((list, tuple), _listed),
    (dict, _mapping),
    ((set, frozenset), _set),
    ((np.ndarray, np.generic), lambda v, w: _array(np.asarray(v), w)),
    (np.dtype, lambda v, w: [v.name.encode(), v.str.encode()]),
    ((slice, range), lambda v, w: [repr(v).encode()]),
    (CodeType, _code),
    (FunctionType, _function),
    (MethodType, _method),
    (partial, _partial),
    (ModuleType, _module),
    (BuiltinFunctionType, lambda v, w: [f"{v.__module__}:{v.__qualname__}".encode()]),
    (type, _class),
]
