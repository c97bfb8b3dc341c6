"""What a function may do that somebody sees, by a look at its code and at all that it reaches.

Known to change nothing is only what is listed: code that stores nothing outside of itself, our own operations, tensors
and numbers, some functions of Python's, and functions and objects of the user that are made of these alone. All else
may change something, and may decide something.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from mycelia.capture import models
from mycelia.capture.holding import written_in
from mycelia.capture.values import is_atom
from mycelia.eager import Parameter, Tensor
from mycelia.frozen import frozen

MOST = 5000  # things that are looked at
HEAP = 1 << 9  # the flag of classes that are made by a statement
CHANGES = frozenset((
    "STORE_ATTR", "STORE_GLOBAL", "STORE_SUBSCR", "DELETE_ATTR", "DELETE_GLOBAL", "DELETE_SUBSCR",
))  # fmt: skip
OTHERS = frozenset(("IMPORT_NAME", "LOAD_BUILD_CLASS", "LOAD_NAME"))  # they may do anything
CALLS = frozenset(("CALL", "CALL_FUNCTION_EX", "CALL_KW"))
HARMLESS: frozenset[Any] = frozenset((
    len, isinstance, issubclass, type, tuple, list, dict, slice, zip, enumerate, reversed, map, iter, next, getattr,
    hasattr, callable, sum, abs, super, object, Tensor, Parameter,
))  # fmt: skip
DECIDING: frozenset[Any] = frozenset((any, all, sorted, filter, range, *models.PURE)) - HARMLESS
NUMBERS = frozenset(("item", "tolist", "asnumpy", "numpy"))  # methods that tell what only the running program knows
CHANGING = frozenset(name for _, name in models.CONTAINER_METHODS) - {"get", "index", "count", "copy"}
OURS = ("mycelia.ops.", "mycelia.eager.", "mycelia.primitives.", "mycelia.numpy.", "mycelia.scipy.", "mycelia.mint.",
        "mycelia.nn.", "mycelia.names.", "mycelia.api.")  # fmt: skip
WRITERS = ("mycelia.ops.state", "mycelia.nn.optim", "mycelia.api.context")  # which change what is outside
LOOKED_INTO = ("mycelia", "numpy", "math", "cmath")  # modules of which each part is looked at that is asked for
UNASKED = frozenset((
    "__init__", "__new__", "__init_subclass__", "__class_getitem__", "__set_name__", "__repr__", "__str__", "__del__",
    "__setattr__", "__delattr__", "__getstate__", "__setstate__", "__reduce__", "__eq__", "__hash__", "__dict__",
    "__weakref__", "__annotations__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__",
    "__dataclass_params__", "__replace__",
))  # fmt: skip  # of an object that is there, and is neither changed nor compared


def must_run_once(fn: Any) -> bool:
    """Whether it might be seen if the function ran up to a decision about a tensor, and then once more.

    >>> seen = []
    >>> def noted(x):
    ...     seen.append(x)
    ...     return x if x > 0 else -x
    >>> must_run_once(noted), must_run_once(lambda x: x if x > 0 else -x), must_run_once(lambda x: seen.append(x))
    (True, False, False)
    """
    look = _Look()
    look.at(fn)
    return look.prints or (look.changes and look.decides)


class _Look:
    """A look at things, and at those that they know."""

    def __init__(self) -> None:
        self.prints = self.changes = self.decides = False
        self.seen: dict[int, Any] = {}
        self.inside: set[int] = set()  # modules that are being looked into

    def unknown(self) -> None:
        self.changes = self.decides = True

    def at(self, x: Any) -> None:
        """Look at something that the function may use in any way."""
        if id(x) in self.seen or (self.changes and self.decides):
            return
        self.seen[id(x)] = x
        if len(self.seen) > MOST:
            self.unknown()
        elif type(x) in LOOKS:
            LOOKS[type(x)](self, x)
        elif isinstance(x, type | BuiltinFunctionType):
            self.at_named(x)
        elif not is_atom(x) and not isinstance(x, Tensor | np.ndarray | np.generic | np.ufunc):
            self.at_object(x)

    def each(self, parts: Any) -> None:
        for part in parts:
            self.at(part)

    def at_module(self, x: ModuleType) -> None:
        if x.__name__.split(".")[0] not in LOOKED_INTO:
            self.unknown()

    def at_named(self, x: Any) -> None:
        """A class, or a function of Python's."""
        if x is print:
            self.prints = True
        elif x in DECIDING:
            self.decides = True
        elif x not in HARMLESS and not (isinstance(x, type) and issubclass(x, np.generic | BaseException)):
            self.unknown()

    def at_function(self, fn: FunctionType) -> None:
        cells = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
        held = [c.cell_contents for name, c in cells if c != CellType() and name != "__class__"]  # which is for super
        if written_in(fn).startswith("mycelia."):
            module = fn.__module__ or ""
            if not module.startswith(OURS) or module.startswith(WRITERS):
                self.unknown()
            self.decides = self.decides or module == "mycelia.api.vectorize"  # what is made inside is known there only
            self.each(x for x in held if callable(x) and not isinstance(x, type))
            return
        for code in _within(fn.__code__):
            self.at_code(code, fn, held)
        self.each((*held, *(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()))

    def at_code(self, code: CodeType, fn: FunctionType, held: list[Any]) -> None:
        says = _said(code)
        self.changes = self.changes or says.changes
        self.decides = self.decides or says.decides
        if says.more:
            self.unknown()
        for x in held:
            self.at_parts(x, says.attributes)
        for name in says.globals:
            if name in fn.__globals__ or hasattr(builtins, name):
                found = fn.__globals__[name] if name in fn.__globals__ else getattr(builtins, name)
                self.at(found)
                self.at_parts(found, says.attributes)

    def at_parts(self, x: Any, names: frozenset[str]) -> None:
        """What is asked of a module, under all names of attributes that the code mentions."""
        if type(x) is not ModuleType or id(x) in self.inside:
            return
        self.inside.add(id(x))
        for name in names & vars(x).keys():
            self.at(vars(x)[name])
            self.at_parts(vars(x)[name], names)
        self.inside.remove(id(x))

    def at_object(self, x: Any) -> None:
        """An object with methods. What a class of Python's says is not known."""
        ours = type(x).__module__.startswith("mycelia.")
        if type(x).__module__ == "mycelia.api.jit":
            return self.at(x.__captured__)
        state = getattr(x, "__dict__", None)
        if type(state) is not dict:
            return self.unknown()
        for c in type(x).__mro__:
            if c.__module__.startswith(WRITERS) or not (c is object or c.__flags__ & HEAP):
                self.unknown()
            elif c is not object and not c.__module__.startswith("mycelia."):
                self.each(part for name, part in vars(c).items() if name not in UNASKED)
        if ours and state.get("training") and any(not p.requires_grad for p in state.get("_params", {}).values()):
            self.changes = True  # it keeps statistics
        self.each(state.values())
        return None


LOOKS: dict[type, Callable[[_Look, Any], None]] = {
    FunctionType: _Look.at_function,
    ModuleType: _Look.at_module,
    MethodType: lambda look, x: look.each((x.__func__, x.__self__)),
    partial: lambda look, x: look.each((x.func, *x.args, *x.keywords.values())),
    list: _Look.each,
    tuple: _Look.each,
    dict: lambda look, x: look.each(x.values()),
    MappingProxyType: lambda look, x: look.each(x.values()),
    property: lambda look, x: look.each((x.fget, x.fset, x.fdel)),
    staticmethod: lambda look, x: look.at(x.__func__),
    classmethod: lambda look, x: look.at(x.__func__),
}


def _within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _within(inner)


@frozen
class _Said:
    """What a piece of code says itself."""

    changes: bool  # something (a call whose result nobody takes does)
    decides: bool
    more: bool  # what we do not look into
    globals: frozenset[str]
    attributes: frozenset[str]


@lru_cache(maxsize=1000)
def _said(code: CodeType) -> _Said:
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code) if step.opname != "CACHE"]
    attributes = frozenset(value for name, value in steps if name in ("LOAD_ATTR", "LOAD_METHOD"))
    changes = any(
        name in CHANGES
        or (name == "STORE_DEREF" and value in code.co_freevars)
        or (name == "POP_TOP" and steps[i - 1][0] in CALLS)
        for i, (name, value) in enumerate(steps)
    )
    return _Said(
        changes or bool(attributes & CHANGING) or any(name.startswith("assign") for name in attributes),
        bool(attributes & NUMBERS) or any("_IF_" in name or name in ("UNARY_NOT", "CONTAINS_OP") for name, _ in steps),
        any(name in OTHERS for name, _ in steps),
        frozenset(value for name, value in steps if name == "LOAD_GLOBAL"),
        attributes,
    )
