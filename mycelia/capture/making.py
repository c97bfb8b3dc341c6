"""New objects: instances of the user's classes, of dataclasses, named tuples, exceptions, tensors."""

from __future__ import annotations

import dataclasses
import functools
from types import (
    FunctionType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from mycelia.capture.calls import Calls
from mycelia.capture.registered import REGISTERED
from mycelia.capture.slots import CONTENTS
from mycelia.capture.values import MISSING, HostNumber, Number, UserError, is_atom
from mycelia.eager import Parameter, Tensor
from mycelia.ir import Op


class Making(Calls):
    """`C(*args)`."""

    def call_class(self, cls: type, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if cls in (Tensor, Parameter):
            return self.make_tensor(cls, args, options)
        if cls is super:
            self.refuse("super is called with arguments of an unknown kind")
        if issubclass(cls, tuple) and (new := self.named_new(cls)) is not None:
            return self.make_namedtuple(cls, new, args, options)
        if issubclass(cls, Op):
            known = {k: self.of_op(v) for k, v in options.items()}
            return self.real(cls, *map(self.of_op, args), **known)
        if issubclass(cls, BaseException):
            return self.make_error(cls, args, options)
        if cls.__module__ == "builtins" or (cls.__flags__ & 1 << 8 and cls not in (functools.partial, SimpleNamespace)):
            return self.call_builtin(cls, args, options)
        if cls is functools.partial:
            return self.make_partial(args, options)
        if cls in REGISTERED:
            return REGISTERED[cls](self, cls, args, options)
        meta = type(cls)
        if meta is not type and self.lookup(meta, "__call__") is not type.__call__:
            self.refuse(f"the class of {cls.__name__} makes its instances")
        if self.lookup(cls, "__new__") is not object.__new__ and cls is not SimpleNamespace:
            self.refuse(f"{cls.__name__} makes its instances itself")
        unusual = [self.lookup(cls, name) for name in ("__abstractmethods__", "__del__")]
        if any(h is not MISSING and (type(h) is not frozenset or self.whole(h) != ()) for h in unusual):
            self.refuse(f"an instance of {cls.__name__} is made")
        out = self.store.make(SimpleNamespace() if cls is SimpleNamespace else object.__new__(cls))
        init = self.lookup(cls, "__init__")
        if type(init) is FunctionType and is_generated(cls, init):
            self.store.world.pin(init)
            self.init_dataclass(out, cls, init, args, options)
        elif cls is SimpleNamespace and not args:
            for name, value in options.items():
                self.store.write(out, ("attr", name), value)
        elif type(init) is FunctionType:
            if self.call_function(init, (out, *args), options, ours=False) is not None:
                self.refuse("__init__ returns something")
        elif init is not object.__init__:
            self.refuse(f"{cls.__name__}.__init__ is a {type(init).__name__}")
        elif args or options:
            raise UserError(TypeError(f"{cls.__name__}() takes no arguments"))
        return out

    def make_partial(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """`functools.partial(fn, ...)`."""
        if not args or type(args[0]) is functools.partial:
            self.refuse("a partial function is made")
        named = self.store.container(dict, tuple(x for pair in options.items() for x in pair))
        blank = functools.partial(len)
        return self.store.make(blank, func=args[0], args=tuple(args[1:]), keywords=named)

    def init_dataclass(
        self, out: Any, cls: Any, init: FunctionType, args: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        """What the `__init__` does that `dataclass` writes for a class."""
        fields = [f for f in cls.__dataclass_fields__.values() if f._field_type is not dataclasses._FIELD_CLASSVAR]  # type: ignore[attr-defined]
        if any(f._field_type is dataclasses._FIELD_INITVAR for f in fields):  # type: ignore[attr-defined]
            self.refuse("a dataclass with variables of its __init__")
        code = init.__code__
        positional, every = code.co_varnames[1 : code.co_argcount], code.co_argcount + code.co_kwonlyargcount
        given = dict(zip(positional, args, strict=False))
        if (
            len(args) > len(positional)
            or options.keys() & given.keys()
            or options.keys() - {*code.co_varnames[1:every]}
        ):
            self.refuse("the arguments of a call do not fit")
        defaults = self.whole(init, ("field", "__defaults__")) or ()
        given = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)) | given
        if (named := self.whole(init, ("field", "__kwdefaults__"))) is not None:
            items = self.whole(named)
            given = dict(zip(items[::2], items[1::2], strict=True)) | given
        given |= options
        put = self.set_usual if cls.__dataclass_params__.frozen else self.set_attribute
        for f in fields:
            if f.init and f.name not in given:
                self.refuse(f"the argument {f.name} is missing")
            value = given[f.name] if f.init else dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]
            if value is dataclasses._HAS_DEFAULT_FACTORY:  # type: ignore[attr-defined]
                made = f.default_factory is not dataclasses.MISSING
                if not made and f.name not in (*code.co_names, *code.co_consts):
                    continue  # the class holds it; but not one with slots
                value = self.factory(init, f.name)
                value = self.call(value, (), {}) if made else value
            put(out, f.name, (value,))
        if "__post_init__" in code.co_names:
            self.call(self.attribute(out, "__post_init__"), (), {})

    def factory(self, init: FunctionType, name: str) -> Any:
        """What makes the default of a field: a variable of the `__init__` that `dataclass` has written."""
        names = (f"_dflt_{name}", f"__dataclass_dflt_{name}__")
        places = [i for i, n in enumerate(init.__code__.co_freevars) if n in names]
        if not places:
            self.refuse(f"the default of {name} is not found")
        return self.read(self.whole(init, ("field", "__closure__"))[places[0]], CONTENTS)

    def named_new(self, cls: type) -> Any:
        """What makes the instances of a class as `collections.namedtuple` says; None if something else does."""
        new = self.lookup(cls, "__new__")
        fn = self.whole(new, ("field", "__func__")) if type(new) is staticmethod else None
        if (
            type(fn) is not FunctionType
            or self.lookup(cls, "__init__") is not object.__init__
            or not self.store.world.adds_names(cls)
        ):
            return None
        code = self.whole(fn, ("field", "__code__"))
        return fn if code.co_filename.startswith("<string>") and "_tuple_new" in code.co_names else None

    def make_namedtuple(self, cls: Any, new: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        code = new.__code__
        fields = code.co_varnames[1 : code.co_argcount]
        defaults = self.whole(new, ("field", "__defaults__")) or ()
        bound = dict(zip(fields, args, strict=False)) | options
        if len(args) > len(fields) or set(options) & set(fields[: len(args)]) or set(options) - set(fields):
            self.refuse("the arguments of a call do not fit")
        bound = dict(zip(fields[len(fields) - len(defaults) :], defaults, strict=True)) | bound
        if any(n not in bound for n in fields):
            self.refuse("the arguments of a call do not fit")
        return tuple.__new__(cls, [bound[n] for n in fields])

    def make_error(self, cls: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """An exception of Python's own, of constants."""
        given = tuple(map(self.plain, args))
        if cls.__module__ != "builtins" or options or not all(is_atom(a) for a in given):
            self.refuse(f"a {cls.__name__} is made")
        return self.store.make(self.real(cls, *given))

    def make_tensor(self, cls: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if cls is Parameter:
            self.refuse("a parameter is made")
        first = self.joined(args[0]) if args else None
        if isinstance(first, np.ndarray):
            return self.tensor_of_array(first, args[1:], options)
        if type(first) is list or type(first) is tuple:
            first = self.nest(first)
        if isinstance(first, HostNumber | Number):
            first = self.tensor_from_number(first, args[1:] or options)
        return self.native(Tensor, (first, *args[1:]) if args else (), options)

    def tensor_from_number(self, x: Any, typed: Any) -> Any:
        from mycelia.types import TensorType, float32, int64

        kind = self.number_kind(x)
        if typed or kind not in (int, float):
            return self.plain(x)
        t = TensorType(float32 if kind is float else int64, ())
        if isinstance(x, HostNumber):
            return self.store.tensor(self.store.world.tensor_of(x, t))
        return self.plain(x)

    def nest(self, x: Any) -> Any:
        """Nested lists as they are given to a tensor: of constants."""
        items = self.whole(x) if type(x) is list else x
        return tuple(self.nest(v) if type(v) in (list, tuple) else self.plain(v) for v in items)

    def tensor_of_array(self, array: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A tensor with the numbers of an array from outside: an input of the program."""
        if self.store.is_fresh(array) or args or options:
            self.refuse("a tensor is made of an array")
        world = self.store.world
        key = id(array), ("numbers", None)
        if key not in world.seen:
            from mycelia.capture.world import Read

            value, expect = world.array(array)
            world.reads.append(Read(world.number(array), ("copied", None), expect))
            world.seen[key] = value
        return self.store.tensor(world.seen[key])


def is_generated(cls: Any, init: FunctionType) -> bool:
    """Whether `dataclass` has written this `__init__`."""
    owner = next((c for c in cls.__mro__ if vars(c).get("__init__") is init), None)
    return owner is not None and "__dataclass_fields__" in vars(owner) and init.__code__.co_filename == "<string>"
