"""Python's built-in functions and the methods of built-in types, on values of the interpreter."""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
import sys
from collections import OrderedDict, deque
from types import FunctionType, GenericAlias, MethodType, UnionType
from typing import Any

from mycelia.capture import models
from mycelia.capture.holding import lasts
from mycelia.capture.machine import DictView, Items, Method, distributes
from mycelia.capture.operators import Operators
from mycelia.capture.slots import CONTAINERS
from mycelia.capture.texts import LateText
from mycelia.capture.values import (
    LONG_DIGITS,
    MISSING,
    HostNumber,
    Number,
    UserError,
    holds_nan,
    is_atom,
    is_long,
    is_plain,
)
from mycelia.capture.world import is_tensor
from mycelia.eager import Tensor
from mycelia.sizes import Sym

NONE = object()
WATCHED = frozenset((hash, int, str, repr, ascii, format))


def depends_on_more(fn: Any, given: tuple[Any, ...]) -> bool:
    """Whether what a function of constants gives depends on an object, or on a limit that may change.

    >>> depends_on_more(hash, (float("nan"),)), depends_on_more(int, ("9" * 5000,)), depends_on_more(int, ("9",))
    (True, True, False)
    """
    if fn is hash:
        return holds_nan(given)
    return is_long(given) or (fn is int and type(given[0]) in (str, bytes) and len(given[0]) > LONG_DIGITS)


def takes(model: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether a model can be called so; what cannot is for Python to say, or to do."""
    return _fits(model, len(args), tuple(options))


@functools.lru_cache(maxsize=4096)
def _fits(model: FunctionType, count: int, names: tuple[str, ...]) -> bool:
    try:
        inspect.signature(model).bind(None, *[None] * count, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


class Builtins(Operators):
    """`len(x)`, `isinstance(x, C)`, `zip(a, b)`, `d.get(k)`."""

    def model_reduce(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("iteration knows how")

    def update(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("iteration knows how")

    def class_of(self, x: Any) -> type:
        """`type(x)`."""
        if isinstance(x, HostNumber):
            return type(x.sample) if not x.mutable else self.refuse("the class of a mutable number")
        if isinstance(x, Number):
            return x.kind
        if type(x) is Sym:
            return int
        if isinstance(x, LateText):
            return str
        if isinstance(x, Method):
            return type("".join) if type(x.owner) is not Tensor else MethodType
        if isinstance(x, DictView | Items) or type(x).__module__ == "mycelia.api.models":
            self.refuse("the class of a view, an iterator or a transformed function")
        return type(x)

    def call_builtin(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        name = f"model_{getattr(fn, '__name__', '')}"
        known = fn is getattr(builtins, getattr(fn, "__name__", ""), None)
        model: Any = getattr(self, name, None) if known else self.model_reduce if fn is functools.reduce else None
        if model is not None:
            if not takes(model.__func__, args, options):
                self.refuse(f"the arguments of {fn.__name__} do not fit")
            return model(*args, **options)
        if fn in (itertools.chain, itertools.product, itertools.count, itertools.repeat, OrderedDict, deque):
            return self.library_class(fn, args, options)
        return self.pure(fn, options, *args)

    @distributes
    def pure(self, fn: Any, options: dict[str, Any], *args: Any) -> Any:
        """A pure function of constants, or of numbers that Python computes at each call."""
        if any(isinstance(a, Tensor) for a in args) and fn in (abs, round, pow, float, int, complex, divmod):
            return (
                self.convert(fn, args[0]) if fn in (float, int) and len(args) == 1 else self.native(fn, args, options)
            )
        if fn is abs and len(args) == 1 and type(args[0]) is Sym:
            return self.real(abs, args[0])
        if fn in models.NUMERIC and not options:
            args = tuple([self.store.world.size(a) if type(a) is Sym else a for a in args])
        hosts = any(isinstance(a, HostNumber) for a in args) and all(
            isinstance(a, HostNumber) or is_plain(a) for a in args
        )
        if hosts and not options and fn in models.NUMERIC:
            return self.real(self.store.world.compute, fn, *args)
        given, named = tuple(map(self.plain, args)), {k: self.plain(v) for k, v in options.items()}
        try:
            listed = fn in models.PURE
        except TypeError:
            listed = False
        if listed and all(is_plain(v) for v in (*given, *named.values())):
            if fn in WATCHED and depends_on_more(fn, given):
                self.refuse(f"{fn.__name__} of this depends on more than its value")
            return self.constant_result(self.real(fn, *given, **named))
        what = getattr(fn, "__name__", type(fn).__name__)
        self.refuse(f"{what} is not known to be pure")

    def constant_result(self, value: Any) -> Any:
        if type(value) is list:
            return self.store.container(list, tuple(map(self.constant_result, value)))
        if type(value) is tuple:
            return tuple(map(self.constant_result, value))
        if not is_plain(value):
            self.refuse(f"a {type(value).__name__} is made")
        return value

    # ------------------------------------------------------------------------------------------------------- questions

    @distributes
    def model_isinstance(self, x: Any, kinds: Any) -> Any:
        if type(kinds) is tuple:
            return any(self.model_isinstance(x, k) for k in kinds)
        if type(kinds) is UnionType:
            return self.model_isinstance(x, kinds.__args__)
        if not isinstance(kinds, type) or isinstance(kinds, GenericAlias):
            self.refuse("isinstance of something else than a class")
        if type(kinds) is not type:
            check = self.lookup(type(kinds), "__instancecheck__")
            if type(check) is FunctionType and not type(kinds).__module__.startswith("abc"):
                self.refuse(f"{kinds.__name__} says itself what its instances are")
            if type(kinds).__module__ == "abc" and kinds.__module__ not in ("collections.abc", "numbers"):
                self.refuse(f"{kinds.__name__} is an abstract class")
            return self.instance_of(self.class_of(x), kinds)
        cls = type(x.sample) if isinstance(x, HostNumber) else self.class_of(x)
        users = not is_tensor(x) and not isinstance(x, HostNumber | Number) and cls.__module__ != "builtins"
        if users and self.lookup(cls, "__class__") not in (MISSING, object.__dict__["__class__"]):
            self.refuse("an object says itself what its class is")
        return issubclass(cls, kinds) if type(cls) is type else kinds in self.whole(cls, ("field", "__mro__"))

    def instance_of(self, cls: type, kinds: type) -> bool:
        """Whether instances of a class are instances of an abstract class of Python's own."""
        if lasts(cls):
            return issubclass(cls, kinds)
        if kinds not in self.whole(cls, ("field", "__mro__")):
            self.refuse(f"whether a {cls.__name__} is a {kinds.__name__}")  # what it has or is registered as may change
        return True

    @distributes
    def model_issubclass(self, x: Any, kinds: Any) -> Any:
        if type(kinds) is tuple:
            return any(self.model_issubclass(x, k) for k in kinds)
        if type(kinds) is not type or not isinstance(x, type):
            self.refuse("issubclass of something else than classes")
        return kinds in self.whole(x, ("field", "__mro__"))

    @distributes
    def model_type(self, x: Any, *more: Any) -> Any:
        if more:
            self.refuse("a class is made")
        return self.class_of(x)

    @distributes
    def model_callable(self, x: Any) -> Any:
        if isinstance(x, FunctionType | MethodType | Method | type) or type(x).__module__ == "mycelia.api.models":
            return True
        if is_atom(x) or isinstance(x, tuple) or type(x) in CONTAINERS or isinstance(x, HostNumber | Number):
            return callable(x) if is_atom(x) else False
        if is_tensor(x):
            return False
        return self.lookup(type(x), "__call__") is not MISSING

    @distributes
    def model_id(self, x: Any) -> Any:
        self.refuse("the address of an object")

    @distributes
    def model_len(self, x: Any) -> Any:
        if is_tensor(x):
            return self.native(len, (x,), {})
        if isinstance(x, DictView):
            return len(self.whole(x.owner)) // 2
        if type(x) in CONTAINERS:
            return len(self.items_of(x))
        if isinstance(x, tuple) or type(x) in (str, bytes, range):
            return len(x)
        method = MISSING if type(x).__module__ == "builtins" else self.lookup(type(x), "__len__")
        if type(method) is FunctionType:
            found = self.plain(self.call(method, (x,), {}))
            if type(found) is not int or not 0 <= found <= sys.maxsize:
                self.refuse("__len__ gives something else than a number")
            return found
        return self.pure(len, {}, x)

    @distributes
    def model_bool(self, x: Any = False) -> Any:
        found = self.truth(x)
        return found if isinstance(found, bool) else Number(found, bool, 0, 1)

    def model_float(self, x: Any = 0.0) -> Any:
        return self.converted(float, "__float__", x)

    def model_int(self, x: Any = 0, *base: Any) -> Any:
        return self.pure(int, {}, x, *base) if base else self.converted(int, "__int__", x)

    @distributes
    def converted(self, fn: Any, name: str, x: Any) -> Any:
        if is_tensor(x):
            return self.convert(fn, x)
        if type(x) is Sym and fn is int:
            return x
        if isinstance(x, Number):
            return (
                x
                if x.kind is fn
                else Number(x.value, int, x.low, x.high)
                if False
                else self.refuse("a number changes its kind")
            )
        if not is_plain(x) and not isinstance(x, HostNumber) and type(x).__module__ != "builtins":
            method = self.lookup(type(x), name)
            if type(method) is FunctionType:
                found = self.call(method, (x,), {})
                return found if self.number_kind(found) is fn else self.refuse(f"{name} gives something else")
        return self.pure(fn, {}, x)

    @distributes
    def model_hasattr(self, x: Any, name: Any) -> Any:
        try:
            self.attribute(x, self.name_of_attribute(name))
        except UserError as raised:
            if isinstance(raised.error, AttributeError):
                return False
            raise
        return True

    @distributes
    def model_getattr(self, x: Any, name: Any, default: Any = NONE) -> Any:
        name = self.name_of_attribute(name)
        if default is NONE:
            return self.attribute(x, name)
        try:
            return self.attribute(x, name)
        except UserError as raised:
            if isinstance(raised.error, AttributeError):
                return default
            raise

    def model_setattr(self, x: Any, name: Any, value: Any) -> Any:
        self.set_attribute(x, self.name_of_attribute(name), (value,))

    def model_delattr(self, x: Any, name: Any) -> Any:
        self.set_attribute(x, self.name_of_attribute(name), ())

    def name_of_attribute(self, name: Any) -> str:
        name = self.plain(name)
        return name if type(name) is str else self.refuse("an attribute without a name")

    # ------------------------------------------------------------------------------------------------------ iteration

    def model_repr(self, x: Any) -> Any:
        return self.text(repr, x)

    def model_str(self, *args: Any) -> Any:
        return self.text(str, args[0]) if len(args) == 1 else self.pure(str, {}, *args)

    @distributes
    def text(self, fn: Any, x: Any, *spec: Any) -> Any:
        """A value as text."""
        x = self.plain(x)
        if not is_plain(x) or not models.is_text(x) or is_long(x):
            self.refuse(f"a {self.class_of(x).__name__} is turned into text")
        return self.real(fn, x, *spec)

    def joined_text(self, parts: list[Any]) -> str:
        """An f-string."""
        if not all(type(q) is str for q in parts):
            self.refuse("text of values")
        return "".join(parts)

    def library_class(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if fn is itertools.chain and not options:
            return Items(self, (x for a in args for x in self.iterate(a)))
        if fn is itertools.product and not options:
            return Items(self, itertools.product(*[self.all_items(a) for a in args]))
        if fn is OrderedDict and len(args) <= 1 and not options:
            out = self.store.container(OrderedDict, ())
            for a in args:
                self.update(out, a)
            return out
        self.refuse(f"{fn.__name__} is made")

    # -------------------------------------------------------------------------------------------------------- methods
