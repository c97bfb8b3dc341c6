"""What a program keeps of the world: nothing that would die without it.

A program outlives the call that it was captured in, and the objects of that call must not: a file is closed, a
generator ends, `__del__` runs when Python says so. So a program knows objects by weak references and by their types.
Only what lasts as long as the process is kept as it is: numbers and texts, code, what modules of Python and of ours
have. An object without weak references (a list, a dictionary, a tuple, the cell of a variable) is known by its type and
by what it holds, never by its identity: once it is gone, another one may have that.
"""

from __future__ import annotations

import sys
from gc import get_referents
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import getweakrefcount, getweakrefs, ref

import numpy as np

from mycelia.capture.values import ATOMS
from mycelia.eager import Parameter, Tensor
from mycelia.ir import Op

HEAP = 1 << 9  # the flag of classes that are made while a program runs
LIBRARIES = frozenset((*sys.stdlib_module_names, "mycelia", "numpy", "ml_dtypes")) - {"__main__"}
SCALARS = ATOMS - {BuiltinFunctionType, ModuleType, slice}
DESCRIPTORS = (MemberDescriptorType, GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType)
KINDS = (np.dtype, np.ufunc, Op)


class Weak(ref):  # type: ignore[type-arg]  # of anything
    """An object that is known while it lives; called, it gives the object, or None."""

    __slots__ = ()


class Gone(Exception):
    """An object that a program knows is not there any more: its guard will never hold."""


_named: dict[int, Any] = {}  # functions and classes that a library calls by their names: these last


def lasts(value: Any) -> bool:
    """Whether a value lives as long as the process, or cannot be seen to die.

    >>> lasts(1.5), lasts(dict), lasts(len), lasts([].append), lasts(type("Mine", (), {}))
    (True, True, True, False, False)
    """
    kind = type(value)
    if kind in SCALARS or id(value) in _named:
        return True
    if kind is FunctionType:
        return is_importable(value)
    if isinstance(value, type):
        return not value.__flags__ & HEAP or is_importable(value)
    if kind is slice:
        return lasts(value.start) and lasts(value.stop) and lasts(value.step)
    if kind is ModuleType:
        name: str = value.__name__
        return sys.modules.get(name) is value and name.partition(".")[0] in LIBRARIES
    if kind is BuiltinFunctionType:
        owner: Any = value.__self__
        return owner is None or (isinstance(owner, type | ModuleType) and lasts(owner))
    if kind in DESCRIPTORS:
        return lasts(value.__objclass__)
    return isinstance(value, KINDS) or value is sys.modules


def is_importable(thing: Any) -> bool:
    """Whether a function or class is what a module of Python or of ours calls so.

    >>> is_importable(sys.intern), is_importable(lambda: 0), is_importable(is_importable)
    (True, False, True)
    """
    module = getattr(thing, "__module__", None)
    if type(module) is not str or module.partition(".")[0] not in LIBRARIES:
        return False
    found: Any = sys.modules.get(module)
    for name in thing.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(name)
    if getattr(found, "__func__", found) is not thing:
        return False
    _named[id(thing)] = thing
    return True


def written_in(fn: Any) -> str:
    """The module that a function is written in. What it says itself, a wrapper takes over from what it wraps.

    >>> import functools
    >>> wrapper = functools.wraps(held)(lambda value: None)
    >>> written_in(held) == held.__module__ == wrapper.__module__, written_in(wrapper) == wrapper.__module__
    (True, False)
    """
    name = fn.__globals__.get("__name__") if type(fn) is FunctionType else None
    module = sys.modules.get(name) if type(name) is str else None
    return str(name) if module is not None and module.__dict__ is fn.__globals__ else ""


def held(value: Any) -> Any:
    """A value as a program may keep it: itself, if it lasts, else weakly; None where neither is possible.

    >>> held(1.5), held([1])
    (1.5, None)
    """
    if lasts(value):
        return value
    try:
        return Weak(value)
    except TypeError:
        return value if type(value) is UnionType else None


QUIET = frozenset((*SCALARS, np.ndarray, type, BuiltinFunctionType, ModuleType))
MANY = 1000  # objects that are looked at


def dies_aloud(thing: Any) -> bool:
    """Whether code of the user may run when an object dies, and with it what it holds.

    >>> dies_aloud([1, {"a": (2, 3)}]), dies_aloud({"steps": (n for n in range(3))})
    (False, True)
    """
    todo, seen, looked = [thing], {id(thing)}, 0
    while todo:
        x = todo.pop()
        if type(x) in QUIET or isinstance(x, type):
            continue
        if getweakrefcount(x) and any(r.__callback__ is not None and type(r) is not Weak for r in getweakrefs(x)):
            return True
        if type(x) is Tensor or type(x) is Parameter:
            continue
        looked += 1
        if hasattr(type(x), "__del__") or looked > MANY:
            return True
        held_by = get_referents(x) if type(x) is not FunctionType else [x.__closure__, x.__defaults__, x.__kwdefaults__]
        inside = [y for y in held_by if type(y) not in QUIET and id(y) not in seen]
        seen.update(map(id, inside))
        todo += inside
    return False


def there(kept: Any) -> Any:
    """What was kept; `Gone` if it died."""
    if type(kept) is not Weak:
        return kept
    found = kept()
    if found is None:
        raise Gone
    return found
