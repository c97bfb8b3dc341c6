"""What a function with hooks calls: each hook does what Python would do, unless a tensor has something to say.

Without a capture in progress every hook is plain Python.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

from mycelia import primitives as p
from mycelia.capture import branch, loop, recursion
from mycelia.capture.branch import Unbound
from mycelia.capture.convert import conversion, convertible, inner_codes, is_library, with_hooks
from mycelia.capture.stage import STATEFUL, AttributeSlot, ItemsSlot, Stage, VariableSlot, current
from mycelia.capture.text import Text, written
from mycelia.capture.truth import truth
from mycelia.capture.world import Unstageable
from mycelia.errors import Location, caller

unbound = Unbound
if_, tail_if, choose = branch.if_, branch.tail_if, branch.choose
while_, for_ = loop.while_, loop.for_
interval = slice

CHANGES = frozenset((
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "popitem",
    "add", "discard", "difference_update", "intersection_update", "symmetric_difference_update",
))  # fmt: skip
EFFECTS = frozenset((print, input, open, builtins.breakpoint, builtins.setattr, builtins.delattr))
CHANCE = frozenset((  # modules whose functions give something else each time
    "random", "time", "datetime", "secrets", "uuid", "os", "posix",
    "numpy.random", "numpy.random._generator", "numpy.random.mtrand",
))  # fmt: skip
TEXTS = (str, repr, format, ascii)
HIGHER = (map, filter, sorted, functools.reduce, min, max)


# ------------------------------------------------------------------------------------------------------------ objects


def attribute(obj: Any, name: str) -> Any:
    """`obj.name`: guarded, if the object is from outside."""
    stage = current()
    if stage is None:
        return getattr(obj, name)
    if isinstance(obj, stage.world.tensor):
        if _own(obj, name):  # the name of a parameter, or whether it is trained
            stage.guards.of_attribute(obj, name, getattr(obj, name))
        return getattr(obj, name)
    found = _in_class(type(obj), name)
    if isinstance(found, property) and found.fget is not None and convertible(found.fget):
        return call(found.fget, obj)
    if isinstance(obj, Unbound):
        obj.complain()
    try:
        value = getattr(obj, name)
    except AttributeError:
        stage.missing(obj, name)
        raise
    if isinstance(found, property) or (callable(found) and not _own(obj, name)):
        return value
    if hasattr(obj, "__dict__") or found is not None:
        stage.attribute(obj, name, value)
    return value


def _in_class(cls: type, name: str) -> Any:
    for c in cls.__mro__:
        if name in c.__dict__:
            return c.__dict__[name]
    return None


def _own(obj: Any, name: str) -> bool:
    return name in getattr(obj, "__dict__", ())


def set_attribute(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`: an effect, if the object is from outside."""
    stage = current()
    if stage is not None and not isinstance(obj, stage.world.tensor):
        _refuse_property(obj, name)
        stage.changing(AttributeSlot(obj, name))
    setattr(obj, name, value)


def _refuse_property(obj: Any, name: str) -> None:
    if isinstance(_in_class(type(obj), name), property):
        raise Unstageable(f"{type(obj).__name__}.{name} is set by a property")
    setter = _in_class(type(obj), "__setattr__")
    if isinstance(setter, FunctionType) and convertible(setter):
        raise Unstageable(f"{type(obj).__name__} says itself what setting an attribute does")


def delete_attribute(obj: Any, name: str) -> None:
    """`del obj.name`."""
    stage = current()
    if stage is not None:
        stage.changing(AttributeSlot(obj, name))
    delattr(obj, name)


def set_item(obj: Any, index: Any, value: Any) -> None:
    """`obj[index] = value`."""
    _changes_items(obj)
    obj[index] = value


def delete_item(obj: Any, index: Any) -> None:
    """`del obj[index]`."""
    _changes_items(obj)
    del obj[index]


def _changes_items(obj: Any) -> None:
    """A container is about to be changed: only one that is ours can be, since Python will not run next time."""
    stage = current()
    if stage is None or isinstance(obj, stage.world.tensor):
        return
    if id(obj) in stage.outside:
        raise Unstageable(f"a {type(obj).__name__} from outside is changed")
    if isinstance(obj, list | dict | set):
        stage.changing(ItemsSlot(obj))
    elif id(obj) not in stage.inside and not isinstance(obj, STATEFUL):
        raise Unstageable(f"a {type(obj).__name__} is changed, which may be from outside")


def augmenting(x: Any) -> None:
    """`x += ...`, which changes a container in its place."""
    if isinstance(x, list | dict | set):
        _changes_items(x)


def trying() -> AbstractContextManager[None]:
    """The body of a `try` or `with`, which may want to know of an error at once: one that the program raises comes too
    late for it.
    """
    stage = current()
    return nullcontext() if stage is None else stage.trying()


def caught() -> None:
    """The start of an `except` block: what capture itself raises is not for the program to catch."""
    stage = current()
    error = sys.exc_info()[1]
    if stage is not None and isinstance(error, Unstageable | stage.world.concrete):
        raise error


def writes_outside(name: str, read: FunctionType) -> None:
    """The function assigns to a global variable, or to one of a function around it: that one may be ours as well."""
    stage = current()
    if stage is None:
        return
    if read.__closure__ is None or not (stage.calls and stage.calls[-1].nested):
        raise Unstageable(f"the variable {name} outside of the function is assigned to")
    stage.changing(VariableSlot(read.__closure__[0], name))


# -------------------------------------------------------------------------------------------------------------- calls


def call(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`f(*args, **kwargs)`: a function that a user wrote is called with hooks."""
    stage = current()
    if stage is None:
        return f(*args, **kwargs)
    for x in (f, *args, *kwargs.values()):
        if isinstance(x, Unbound):
            x.complain()
        if isinstance(x, Text) and not (f is print or (isinstance(f, FunctionType | MethodType) and convertible(f))):
            str(x)  # which says why not
    owner = getattr(f, "__self__", None)
    if {getattr(f, "__module__", None), getattr(owner, "__module__", None)} & CHANCE:
        raise Unstageable(f"{getattr(f, '__name__', f)} gives something else each time")
    if isinstance(f, FunctionType):
        return _function(stage, f, args, kwargs)
    if isinstance(f, MethodType):
        return _method(stage, f, args, kwargs)
    if isinstance(f, functools.partial):
        return call(f.func, *f.args, *args, **{**f.keywords, **kwargs})
    if isinstance(f, type):
        return _class(stage, f, args, kwargs)
    if isinstance(f, BuiltinFunctionType | BuiltinMethodType):
        return _builtin(stage, f, args, kwargs)
    return _object(stage, f, args, kwargs)


def _function(stage: Stage, f: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not convertible(f):
        return f(*[converted(a) if a is print else a for a in args], **kwargs)
    made = conversion(f.__code__)
    if made is None:
        return f(*args, **kwargs)
    stage.enter(f, made, f.__code__ in inner_codes)
    return recursion.called(stage, f, with_hooks(f, made), args, kwargs)


def _method(stage: Stage, f: MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    inner, owner = f.__func__, f.__self__
    if isinstance(inner, FunctionType) and convertible(inner):
        if getattr(type(owner), inner.__name__, None) is inner:
            stage.guards.of_attribute(type(owner), inner.__name__, inner)
        return call(inner, owner, *args, **kwargs)
    if not isinstance(owner, stage.world.tensor):
        stage.snapshot(owner)
    return f(*args, **kwargs)


def _class(stage: Stage, f: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if f in (str,) and any(stage.symbolic(a) for a in args):
        raise Unstageable("a tensor is turned into text")
    if f is range and any(stage.symbolic(a) for a in args):
        return loop.Range(*args)
    if f is super:
        return f(*args, **kwargs)
    if f in (map, filter) and args:
        return f(_hooked(args[0]), *args[1:])
    if f is bool and args and stage.symbolic(args[0]):
        return stage.world.wrap(truth(stage, args[0]))
    made = f(*args, **kwargs)
    if not is_library(_file(f)):
        stage.inside[id(made)] = made
    return made


def _file(f: type) -> str:
    return getattr(sys.modules.get(f.__module__), "__file__", None) or ""


def _builtin(stage: Stage, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if f is print and stage.world.printed(args, kwargs):
        return None
    if f in EFFECTS:
        raise Unstageable(f"{f.__name__} has an effect each time it runs")
    if f in TEXTS and any(stage.symbolic(a) for a in args):
        raise Unstageable("a tensor is turned into text")
    if f in (getattr, hasattr) and len(args) >= 2 and isinstance(args[1], str):
        return _looked_up(stage, f, *args)
    if f in (min, max) and not kwargs and len(args) > 1 and any(stage.symbolic(a) for a in args):
        return _extreme(stage, f, args)
    if f in (any, all) and len(args) == 1:
        return _fold(stage, f, args[0])
    owner = getattr(f, "__self__", None)
    if f.__name__ in CHANGES and isinstance(owner, (list, dict, set, *STATEFUL)):
        _changes_items(owner)
    elif f is next and id(args[0]) in stage.outside:
        raise Unstageable("an iterator from outside is used up")
    elif f is vars and args:
        return attribute(args[0], "__dict__")
    elif isinstance(owner, ModuleType | None) and f in HIGHER:
        kwargs = {k: _hooked(v) for k, v in kwargs.items()}
        args = tuple(_hooked(a) for a in args)
    return f(*args, **kwargs)


def _looked_up(stage: Stage, f: Any, obj: Any, name: str, *default: Any) -> Any:
    """`getattr` and `hasattr`, where it counts as well that there is no such attribute."""
    if f is getattr and not default:
        return attribute(obj, name)
    if not hasattr(obj, name):
        stage.missing(obj, name)
        return default[0] if default else False
    value = attribute(obj, name)
    return value if default else True


def _extreme(stage: Stage, f: Any, args: tuple[Any, ...]) -> Any:
    """The least or greatest of numbers, of which some are tensors: the first that no other beats."""
    best = args[0]
    for x in args[1:]:
        wins = x < best if f is min else x > best
        best = choose(wins, functools.partial(_itself, x), functools.partial(_itself, best))
    return best


def _itself(x: Any) -> Any:
    return x


def _fold(stage: Stage, f: Any, parts: Iterable[Any]) -> Any:
    parts = list(parts)
    if not any(stage.symbolic(x) for x in parts):
        return f(parts)
    found = [stage.world.wrap(truth(stage, x)) for x in parts]
    first, *others = found
    for x in others:
        first = (first & x) if f is all else (first | x)
    return first


def _object(stage: Stage, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    original = getattr(f, "__captured__", None)
    if original is not None:  # a function that is captured by itself becomes a part of this capture
        return call(original, *args, **kwargs)
    method = _in_class(type(f), "__call__")
    if isinstance(method, FunctionType) and convertible(method):
        return call(method, f, *args, **kwargs)
    stage.snapshot(f)
    return f(*args, **kwargs)


def _hooked(f: Any) -> Any:
    return converted(f) if isinstance(f, FunctionType | MethodType | functools.partial) or f is print else f


def converted(f: Callable[..., Any]) -> Callable[..., Any]:
    """The callable as a capture in progress calls it; itself, if there is none.

    >>> converted(len) is len
    True
    """
    return f if current() is None else functools.partial(call, f)


# -------------------------------------------------------------------------------------------------------- expressions


def go(*flags: Any) -> Any:
    """Whether no jump was made."""
    stage = current()
    if stage is None or not any(stage.symbolic(x) for x in flags):
        return not any(flags)
    jumped = [truth(stage, x) for x in flags]
    return stage.world.wrap(p.logical_not(functools.reduce(p.logical_or, jumped)))


def not_(x: Any) -> Any:
    """`not x`."""
    stage = current()
    if stage is None or not stage.symbolic(x):
        return not x
    return stage.world.wrap(p.logical_not(truth(stage, x)))


def and_(x: Any, *others: Callable[[], Any]) -> Any:
    """`x and ...`."""
    stage = current()
    for other in others:
        if stage is not None and stage.symbolic(x):
            x = branch.both(stage, x, other)
        elif not x:
            return x
        else:
            x = other()
    return x


def or_(x: Any, *others: Callable[[], Any]) -> Any:
    """`x or ...`."""
    stage = current()
    for other in others:
        if stage is not None and stage.symbolic(x):
            x = branch.either(stage, x, other)
        elif x:
            return x
        else:
            x = other()
    return x


def chain(x: Any, *links: Callable[..., Any]) -> Any:
    """`x < y < z`: each operand once, and none after the first comparison that fails."""
    compare, operand, *rest = links
    y = operand()
    found = compare(x, y)
    return and_(found, lambda: chain(y, *rest)) if rest else found


def assert_(test: Any, message: Callable[[], Any]) -> None:
    """`assert test, message`."""
    stage = current()
    if stage is not None and stage.symbolic(test):
        at = caller()
        if_(test, tuple, lambda: _fails(stage, message(), at), tuple, lambda: None, ())
    elif not test:
        words = message()
        raise AssertionError(*([] if words is None else [words]))


def _fails(stage: Stage, words: Any, at: Location | None) -> None:
    """An assertion fails, if the program comes here."""
    if not stage.world.failed(AssertionError, [] if words is None else [words], at):
        raise Unstageable("an assertion about a tensor says something that may change", at)


def text(*pieces: Any) -> Any:
    """An f-string."""
    stage = current()
    values = [x[0] for x in pieces if not isinstance(x, str)]
    if stage is not None and any(isinstance(x[2], Text) for x in pieces if not isinstance(x, str)):
        raise Unstageable("a tensor says how another one is turned into text")
    if stage is not None and any(stage.symbolic(x) or isinstance(x, Text) for x in values):
        return Text(pieces)
    return written(pieces)
