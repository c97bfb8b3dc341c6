"""Python's built-in functions and the methods of built-in types, on values of the interpreter."""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
from collections import OrderedDict, deque
from collections.abc import Iterator
from types import FunctionType, GenericAlias, MethodType, UnionType
from typing import Any

from mycelia import primitives as p
from mycelia.capture import models
from mycelia.capture.items import ItemAccess
from mycelia.capture.machine import Items, Method, View, distributes
from mycelia.capture.slots import CONTAINERS, ITEMS, MAPPINGS
from mycelia.capture.texts import Later
from mycelia.capture.values import MISSING, Host, Number, UserError, is_atom, is_plain
from mycelia.capture.world import is_tensor
from mycelia.eager import Tensor
from mycelia.sizes import Sym

NONE = object()
CONTAINER_TYPES = (list, tuple)


class Builtins(ItemAccess):
    """`len(x)`, `isinstance(x, C)`, `zip(a, b)`, `d.get(k)`."""

    def class_of(self, x: Any) -> type:
        """`type(x)`."""
        if isinstance(x, Host):
            return type(x.sample) if not x.mutable else self.refuse("the class of a mutable number")
        if isinstance(x, Number):
            return x.kind
        if type(x) is Sym:
            return int
        if isinstance(x, Later):
            return str
        if isinstance(x, Method):
            return type("".join) if type(x.owner) is not Tensor else MethodType
        if isinstance(x, View | Items):
            self.refuse("the class of a view or an iterator")
        return type(x)

    def call_builtin(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        name = f"model_{getattr(fn, '__name__', '')}"
        known = fn is getattr(builtins, getattr(fn, "__name__", ""), None)
        if known and hasattr(self, name):
            return getattr(self, name)(*args, **options)
        if fn is functools.reduce:
            return self.model_reduce(*args, **options)
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
        hosts = any(isinstance(a, Host) for a in args) and all(isinstance(a, Host) or is_plain(a) for a in args)
        if hosts and not options and fn in models.NUMERIC:
            return self.real(self.store.world.compute, fn, *args)
        given, named = tuple(map(self.plain, args)), {k: self.plain(v) for k, v in options.items()}
        try:
            listed = fn in models.PURE
        except TypeError:
            listed = False
        if listed and all(is_plain(v) for v in (*given, *named.values())):
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
            return isinstance_of(self.class_of(x), kinds)
        cls = type(x.sample) if isinstance(x, Host) else self.class_of(x)
        users = not is_tensor(x) and not isinstance(x, Host | Number) and cls.__module__ != "builtins"
        if users and self.lookup(cls, "__class__") not in (MISSING, object.__dict__["__class__"]):
            self.refuse("an object says itself what its class is")
        return issubclass(cls, kinds) if type(cls) is type else kinds in self.whole(cls, ("field", "__mro__"))

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
        if isinstance(x, FunctionType | MethodType | Method | type):
            return True
        if is_atom(x) or isinstance(x, tuple) or type(x) in CONTAINERS or isinstance(x, Host | Number):
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
        if isinstance(x, View):
            return len(self.whole(x.owner)) // 2
        if type(x) in CONTAINERS:
            return len(self.items_of(x))
        if isinstance(x, tuple) or type(x) in (str, bytes, range):
            return len(x)
        method = MISSING if type(x).__module__ == "builtins" else self.lookup(type(x), "__len__")
        if type(method) is FunctionType:
            found = self.plain(self.call(method, (x,), {}))
            if type(found) is not int or found < 0:
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
        if not is_plain(x) and not isinstance(x, Host) and type(x).__module__ != "builtins":
            method = self.lookup(type(x), name)
            if type(method) is FunctionType:
                found = self.call(method, (x,), {})
                return found if self.number_kind(found) is fn else self.refuse(f"{name} gives something else")
        return self.pure(fn, {}, x)

    @distributes
    def model_hasattr(self, x: Any, name: Any) -> Any:
        try:
            self.attribute(x, self.plain(name))
        except UserError as raised:
            if isinstance(raised.error, AttributeError):
                return False
            raise
        return True

    @distributes
    def model_getattr(self, x: Any, name: Any, default: Any = NONE) -> Any:
        name = self.plain(name)
        if type(name) is not str:
            self.refuse("an attribute without a name")
        if default is NONE:
            return self.attribute(x, name)
        try:
            return self.attribute(x, name)
        except UserError as raised:
            if isinstance(raised.error, AttributeError):
                return default
            raise

    def model_setattr(self, x: Any, name: Any, value: Any) -> Any:
        self.set_attribute(x, self.plain(name), (value,))

    def model_delattr(self, x: Any, name: Any) -> Any:
        self.set_attribute(x, self.plain(name), ())

    # ------------------------------------------------------------------------------------------------------ iteration

    def model_list(self, x: Any = ()) -> Any:
        return self.store.container(list, self.all_items(x))

    def model_tuple(self, x: Any = ()) -> Any:
        return self.all_items(x)

    def model_set(self, x: Any = ()) -> Any:
        return self.store.container(set, self.distinct(self.all_items(x)))

    def model_frozenset(self, x: Any = ()) -> Any:
        self.refuse("a frozenset is made")

    def distinct(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """Constants as a set holds them, in its order."""
        given = tuple(map(self.plain, items))
        if not all(map(is_plain, given)):
            self.refuse("a set of values")
        return tuple(self.real(set, given))

    def model_dict(self, *args: Any, **named: Any) -> Any:
        out = self.store.container(dict, ())
        if args:
            self.update(out, args[0])
        for k, v in named.items():
            self.container_method(out, "__setitem__", (k, v), {})
        return out

    def update(self, out: Any, more: Any) -> None:
        more = self.settled(more)
        if type(more) in MAPPINGS:
            items = self.whole(more)
            pairs: Any = zip(items[::2], items[1::2], strict=True)
        else:
            pairs = [self.all_items(pair) for pair in self.all_items(more)]
        for pair in pairs:
            if len(pair) != 2:
                self.refuse("a pair that is none")
            self.container_method(out, "__setitem__", (self.plain(pair[0]), pair[1]), {})

    @distributes
    def model_range(self, *args: Any) -> Any:
        if any(is_tensor(a) for a in args):
            return self.range_of_tensors(args)
        given = tuple(map(self.plain, args))
        if not all(map(is_plain, given)):
            self.refuse("a range of something else than numbers")
        return self.real(range, *given)

    def range_of_tensors(self, args: tuple[Any, ...]) -> Any:
        self.refuse("a range of tensors")

    def model_enumerate(self, x: Any, start: Any = 0) -> Any:
        return Items(self, zip(itertools.count(self.plain(start)), self.iterate(x)))

    def model_zip(self, *args: Any, strict: Any = False) -> Any:
        return Items(self, self.zipped([self.iterate(a) for a in args], self.plain(strict)))

    def zipped(self, columns: list[Iterator[Any]], strict: Any) -> Iterator[Any]:
        yield from zip(*columns, strict=strict)

    def model_reversed(self, x: Any) -> Any:
        if not (type(x) in (tuple, range, str) or type(x) in MAPPINGS or type(x) is list):
            self.refuse("something is reversed")
        return Items(self, iter(self.all_items(x)[::-1]))

    def model_map(self, fn: Any, *args: Any) -> Any:
        rows = zip(*[self.iterate(a) for a in args], strict=False)
        return Items(self, (self.call(fn, row, {}) for row in rows))

    def model_filter(self, fn: Any, x: Any) -> Any:
        def kept() -> Iterator[Any]:
            for item in self.iterate(x):
                found = self.truth(item if fn is None else self.call(fn, (item,), {}))
                if not isinstance(found, bool):
                    self.refuse("a length depends on values")
                if found:
                    yield item

        return Items(self, kept())

    def model_iter(self, x: Any, *more: Any) -> Any:
        if more:
            self.refuse("iter is called with two arguments")
        return x if isinstance(x, Items) else Items(self, self.iterate(x))

    def model_next(self, x: Any, *default: Any) -> Any:
        if not isinstance(x, Items):
            method = MISSING if type(x).__module__ == "builtins" else self.lookup(type(x), "__next__")
            if type(method) is FunctionType and not default:
                return self.call(method, (x,), {})
            self.refuse("an iterator from outside is used up")
        try:
            return x.step(self)
        except StopIteration as end:
            if default:
                return default[0]
            raise UserError(end) from None

    def model_sum(self, x: Any, start: Any = 0) -> Any:
        return functools.reduce(functools.partial(self.binary, "add"), self.all_items(x), start)

    def model_reduce(self, fn: Any, x: Any, *first: Any) -> Any:
        items = (*first, *self.all_items(x))
        if not items:
            raise UserError(TypeError("reduce() of empty iterable with no initial value"))
        return functools.reduce(lambda a, b: self.call(fn, (a, b), {}), items)

    def model_any(self, x: Any) -> Any:
        return self._until(x, True)

    def model_all(self, x: Any) -> Any:
        return self._until(x, False)

    def _until(self, x: Any, stop: bool) -> Any:
        items = self.iterate(x)
        found: Any = not stop
        known: list[Any] = []
        for item in items:
            truth = self.truth(item)
            if isinstance(truth, bool):
                if truth is stop:
                    found = stop
                    break
                continue
            if not isinstance(x, CONTAINER_TYPES) and not is_tensor(x):
                self.refuse("a search stops where only the running program knows")
            known.append(truth)
        if not known:
            return found
        joined = functools.reduce(p.logical_or if stop else p.logical_and, known)
        return stop if found is stop else Number(joined, bool, 0, 1)

    def model_min(self, *args: Any, **options: Any) -> Any:
        return self._extreme("lt", min, args, options)

    def model_max(self, *args: Any, **options: Any) -> Any:
        return self._extreme("gt", max, args, options)

    def _extreme(self, wins: str, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """As Python defines them: the first that no other beats; so mixed types stay what they are."""
        items = self.all_items(args[0]) if len(args) == 1 else args
        key = options.pop("key", None)
        if "default" in options and not items:
            return options["default"]
        if options.keys() - {"default"}:
            self.refuse("an unknown option of min or max")
        if not items:
            raise UserError(ValueError(f"{fn.__name__}() arg is an empty sequence"))
        if (
            key is None
            and any(isinstance(v, Host) for v in items)
            and all(isinstance(v, Host) or is_plain(v) for v in items)
        ):
            return self.real(self.store.world.compute, fn, *items) if len(items) > 1 else items[0]
        best = items[0]
        score = best if key is None else self.call(key, (best,), {})
        for x in items[1:]:
            mine = x if key is None else self.call(key, (x,), {})
            test = self.binary(wins, mine, score)
            pair = self.decide(test, lambda x=x, mine=mine: (x, mine), lambda b=best, s=score: (b, s))  # type: ignore[misc]
            best, score = pair
        return best

    def model_sorted(self, x: Any, *, key: Any = None, reverse: Any = False) -> Any:
        items = self.all_items(x)
        keys = [self.plain(v if key is None else self.call(key, (v,), {})) for v in items]
        if not all(map(is_plain, keys)):
            self.refuse("values are sorted")
        order = self.real(sorted, range(len(items)), key=keys.__getitem__, reverse=self.plain(reverse))
        return self.store.container(list, tuple(items[i] for i in order))

    def model_repr(self, x: Any) -> Any:
        return self.text(repr, x)

    def model_str(self, *args: Any) -> Any:
        return self.text(str, args[0]) if len(args) == 1 else self.pure(str, {}, *args)

    @distributes
    def text(self, fn: Any, x: Any, *spec: Any) -> Any:
        """A value as text."""
        x = self.plain(x)
        if not is_plain(x) or type(x) not in models.TEXT | {type(None)}:
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

    def call_method(self, fn: Method, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        owner, name = fn.owner, fn.name
        if is_tensor(owner):
            found = getattr(type(owner), name)
            if name == "item" and not args and not options:
                value = self.value(owner)
                if not value.closed:
                    self.refuse("the number in a tensor is known only when the program runs")
            return self.native(found, (owner, *args), options)
        kind = type(owner)
        if kind in MAPPINGS and name in ("items", "keys", "values") and not args:
            return View(owner, name)
        if kind in CONTAINERS:
            return self.container_call(owner, name, args, options)
        if isinstance(owner, tuple):
            return self.tuple_call(owner, name, args)
        if kind is str and name == "join" and len(args) == 1:
            args = (self.all_items(args[0]),)
        if name in ("__init__", "__init_subclass__") and not is_atom(owner):
            return None if not args and not options else self.refuse("object.__init__ takes no arguments")
        if name == "__setattr__" and len(args) == 2:
            return self.set_usual(owner, args[0], (args[1],))
        if name == "__delattr__" and len(args) == 1:
            return self.set_usual(owner, args[0], ())
        return self.plain_method(owner, name, options, *args)

    def tuple_call(self, owner: Any, name: str, args: tuple[Any, ...]) -> Any:
        given = tuple(map(self.plain, (*owner, *args)))
        if not all(map(is_plain, given)):
            self.refuse("a search among values")
        return self.real(getattr(tuple(owner), name), *args)

    @distributes
    def plain_method(self, owner: Any, name: str, options: dict[str, Any], *args: Any) -> Any:
        given = [self.plain(a) for a in (owner, *args)]
        named = {k: self.plain(v) for k, v in options.items()}
        if not all(map(is_plain, (*given, *named.values()))) or (type(given[0]), name) not in models.METHODS:
            self.refuse(f"{name} of a {type(owner).__name__}")
        if (
            type(given[0]) is str
            and name in ("format", "format_map")
            and not all(type(g) in models.TEXT for g in given)
        ):
            self.refuse("objects are turned into text")
        return self.constant_result(self.real(getattr(given[0], name), *given[1:], **named))

    def container_call(self, owner: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A method of a list, dictionary or the like."""
        kind = type(owner)
        if (kind, name) not in models.CONTAINER_METHODS:
            self.refuse(f"{name} of a {kind.__name__}")
        if name == "copy":
            return self.store.container(kind, self.whole(owner))
        if kind is list and name == "extend":
            args = (self.all_items(args[0]),)
        elif kind is list and name == "sort":
            return self.sort(owner, **options)
        elif kind in MAPPINGS and name == "update":
            for a in args:
                self.update(owner, a)
            args = ()
        elif kind in MAPPINGS or name in ("pop", "insert", "remove", "index", "count"):
            args = (*map(self.plain, args[:1]), *args[1:])
        return self.container_method(owner, name, args, options)

    def sort(self, owner: Any, key: Any = None, reverse: Any = False) -> None:
        ordered = self.model_sorted(owner, key=key, reverse=reverse)
        self.store.write(owner, ITEMS, self.whole(ordered))


def isinstance_of(cls: type, kinds: type) -> bool:
    """Whether instances of a class are instances of an abstract class of Python's own."""
    return issubclass(cls, kinds)


INDEX = operator.index
