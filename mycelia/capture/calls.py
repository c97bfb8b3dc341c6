"""Calls: of functions with source, which are interpreted; of classes; of models of the allow-list; of nothing else."""

from __future__ import annotations

import ast
import dataclasses
import functools
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from mycelia.capture.effects import Effects
from mycelia.capture.machine import Frame, Items, Method, View
from mycelia.capture.slots import CONTAINERS, CONTENTS
from mycelia.capture.source import SOURCELESS, definition, is_resumed
from mycelia.capture.values import MISSING, Either, Host, Number, UserError, is_atom
from mycelia.capture.world import is_tensor
from mycelia.eager import Parameter, Tensor
from mycelia.ir import Op, Value
from mycelia.sizes import NeedsSize

DEEPEST = 60  # calls inside one another
REGISTERED: dict[Any, Any] = {}  # functions that are modelled by the layers above: (machine, args, options) -> result


class Calls(Effects):
    """`f(*args, **options)`."""

    def body(self, node: Any, frame: Frame) -> Any:
        raise AssertionError("statements know how")

    def generate(self, node: Any, frame: Frame) -> Any:
        raise AssertionError("generators know how")

    def call(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        fn = self.settled(fn)
        if isinstance(fn, Either):
            yes, no = fn.yes, fn.no
            return self.branch(fn.cond, lambda: self.call(yes, args, options), lambda: self.call(no, args, options))
        kind = type(fn)
        if kind is FunctionType:
            return self.call_function(fn, args, options)
        if kind is MethodType:
            func, owner = self.whole(fn, ("field", "__func__")), self.whole(fn, ("field", "__self__"))
            return self.call(func, (owner, *args), options)
        if kind is Method:
            return self.call_method(fn, args, options)
        if isinstance(fn, type):
            return self.call_class(fn, args, options)
        if kind is BuiltinFunctionType:
            if isinstance(getattr(fn, "__self__", None), type) and fn.__self__ is object and fn.__name__ == "__new__":
                self.refuse("object.__new__ is called")
            return self.call_builtin(fn, args, options)
        if kind in (WrapperDescriptorType, MethodDescriptorType):
            return self.call_descriptor(fn, args, options)
        if kind is functools.partial:
            func, first, keywords = (self.whole(fn, ("field", name)) for name in ("func", "args", "keywords"))
            items = self.whole(keywords)
            named = dict(zip(items[::2], items[1::2], strict=True))
            return self.call(func, (*first, *args), {**named, **options})
        if isinstance(fn, Op):
            return self.native(fn, args, options)
        if is_tensor(fn) or is_atom(fn) or kind in CONTAINERS or isinstance(fn, Host | Number | tuple | View | Items):
            raise UserError(TypeError(f"{self.class_of(fn).__name__!r} object is not callable"))
        return self.call_object(fn, args, options)

    def call_object(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """An object with `__call__`; one that wraps a function to compile it stands for that function."""
        cls = type(fn)
        if cls.__module__ == "mycelia.api.models":
            return fn.called(self, args, options)
        if cls.__module__ == "mycelia.api.jit" and has_captured(cls):
            return self.call(self.attribute_of_wrapper(fn), args, options)
        staged = getattr(cls, "__interpreted__", None)  # of our own classes: what a call means inside a program
        if staged is not None:
            return staged(self, fn, args, options)
        method = self.lookup(cls, "__call__")
        if type(method) is FunctionType:
            return self.call(method, (fn, *args), options)
        if method is MISSING:
            raise UserError(TypeError(f"{cls.__name__!r} object is not callable"))
        return self.refuse(f"a {cls.__name__} is called")

    def attribute_of_wrapper(self, fn: Any) -> Any:
        if type(fn).__name__ == "Jitted":
            return self.whole(fn, ("attr", "__captured__"))
        method = self.whole(fn, ("attr", "__func__"))
        return self.method(self.attribute_of_wrapper(method), self.whole(fn, ("attr", "__self__")))

    def call_function(self, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any], ours: bool = True) -> Any:
        """A function; one of our own is run as it is, if it does not make an object (`ours`)."""
        code = self.whole(fn, ("field", "__code__"))
        model = REGISTERED.get(code)
        if model is not None:
            return model(self, fn, args, options)
        if fn.__name__ == "pyfunc" and fn.__module__ == "mycelia.ops.host":
            return self.call_python(fn, args, options)
        if fn.__name__ == "print_" and fn.__module__ == "mycelia.ops.state":
            return self.model_print(*args)
        if ours and self.is_pure(fn) and code is fn.__code__:
            functions = [a for a in (*args, *options.values()) if callable(a) and not isinstance(a, type)]
            if not any(type(f) in (FunctionType, MethodType) for f in functions):
                return self.native(fn, args, options)
        node = definition(code)
        if node is None:
            self.refuse(f"{code.co_name} {SOURCELESS}")
        if len(self.calls) >= DEEPEST:
            self.refuse(f"{code.co_name} calls too deeply")
        return self.enter(fn, code, node, args, options)

    def enter(self, fn: FunctionType, code: Any, node: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The body of a function, with its arguments in new variables."""
        bound = self.bind(node.args, fn, args, options)
        frame = self.frame(fn, code, next(iter(bound.values()), None))
        for name, value in bound.items():
            self.store.write(frame.cells[name], CONTENTS, value)
        if is_resumed(code):
            if not isinstance(node, ast.FunctionDef | ast.Lambda) or code.co_flags & 0x280:
                self.refuse(f"{code.co_name} is a coroutine")
            return self.generate(node, frame)
        before = self.node, self.file
        self.calls.append(code)
        self.file = code.co_filename
        try:
            return self.body(node, frame)
        except NeedsSize as reason:
            reason.at = reason.at or self.here()
            raise
        finally:
            self.calls.pop()
            self.node, self.file = before

    def frame(self, fn: FunctionType, code: Any, first: Any) -> Frame:
        closure = self.whole(fn, ("field", "__closure__")) if code.co_freevars else ()
        cells = {n: self.store.make(CellType()) for n in dict.fromkeys((*code.co_varnames, *code.co_cellvars))}
        cells.update(zip(code.co_freevars, closure, strict=True))
        return Frame(cells, self.whole(fn, ("field", "__globals__")), code, fn, first)

    def bind(
        self, spec: ast.arguments, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]
    ) -> dict[str, Any]:
        """The variables of a call. What does not fit is left to Python, which says what is wrong."""
        positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        by_name = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
        bound: dict[str, Any] = dict(zip(positional, args, strict=False))
        extra: dict[str, Any] = {}
        for k, v in options.items():
            if k in by_name and k not in bound:
                bound[k] = v
            elif k in by_name or not spec.kwarg:
                self.refuse("the arguments of a call do not fit")
            else:
                extra[k] = v
        if len(args) > len(positional) and not spec.vararg:
            self.refuse("there are too many arguments")
        missing = [n for n in positional if n not in bound]
        if missing:
            defaults = self.whole(fn, ("field", "__defaults__")) or ()
            have = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=False))
            for n in missing:
                bound[n] = have[n] if n in have else self.refuse(f"the argument {n} is missing")
        only = [a.arg for a in spec.kwonlyargs if a.arg not in bound]
        if only:
            table = self.whole(fn, ("field", "__kwdefaults__"))
            items = self.whole(table) if table is not None else ()
            have = dict(zip(items[::2], items[1::2], strict=True))
            for n in only:
                bound[n] = have[n] if n in have else self.refuse(f"the argument {n} is missing")
        if spec.vararg:
            bound[spec.vararg.arg] = tuple(args[len(positional) :])
        if spec.kwarg:
            items = tuple(x for pair in extra.items() for x in pair)
            bound[spec.kwarg.arg] = self.store.container(dict, items)
        return bound

    # -------------------------------------------------------------------------------------------------------- classes

    def call_class(self, cls: type, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if cls in (Tensor, Parameter):
            return self.make_tensor(cls, args, options)
        if cls is super:
            self.refuse("super is called with arguments of an unknown kind")
        if issubclass(cls, tuple) and hasattr(cls, "_fields") and self.is_namedtuple(cls):
            return self.make_namedtuple(cls, args, options)
        if issubclass(cls, Op):
            return self.real(cls, *map(self.plain, args), **{k: self.plain(v) for k, v in options.items()})
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
        if self.lookup(cls, "__new__") is not object.__new__:
            self.refuse(f"{cls.__name__} makes its instances itself")
        if getattr(cls, "__abstractmethods__", None) or cls.__del__ if hasattr(cls, "__del__") else False:
            self.refuse(f"an instance of {cls.__name__} is made")
        out = self.store.make(object.__new__(cls))
        init = self.lookup(cls, "__init__")
        if type(init) is FunctionType and is_generated(cls, init):
            self.store.world.pin(init)
            self.init_dataclass(out, cls, args, options)
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

    def init_dataclass(self, out: Any, cls: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """What the `__init__` does that `dataclass` writes for a class."""
        fields = [f for f in cls.__dataclass_fields__.values() if f._field_type is not dataclasses._FIELD_CLASSVAR]  # type: ignore[attr-defined]
        if any(f._field_type is dataclasses._FIELD_INITVAR for f in fields):  # type: ignore[attr-defined]
            self.refuse("a dataclass with variables of its __init__")
        positional = [f.name for f in fields if f.init and not f.kw_only]
        given = dict(zip(positional, args, strict=False))
        allowed = {f.name for f in fields if f.init}
        if len(args) > len(positional) or options.keys() & given.keys() or options.keys() - allowed:
            self.refuse("the arguments of a call do not fit")
        given |= options
        put = self.set_usual if cls.__dataclass_params__.frozen else self.set_attribute
        for f in fields:
            if f.init and f.name in given:
                value = given[f.name]
            elif f.default_factory is not dataclasses.MISSING:
                value = self.call(self.whole(f, ("member", type(f).default_factory)), (), {})
            elif f.default is not dataclasses.MISSING:
                value = self.whole(f, ("member", type(f).default))
                if not f.init:
                    continue
            elif f.init:
                self.refuse(f"the argument {f.name} is missing")
            else:
                continue
            put(out, f.name, (value,))
        if type(after := self.lookup(cls, "__post_init__")) is FunctionType:
            self.call(after, (out,), {})

    @staticmethod
    def is_namedtuple(cls: type) -> bool:
        """Whether instances are made as `collections.namedtuple` says, by this class or its base."""
        new = next(vars(c)["__new__"] for c in cls.__mro__ if "__new__" in vars(c))
        code = getattr(getattr(new, "__func__", new), "__code__", None)
        return code is not None and code.co_filename.startswith("<string>") and "__init__" not in vars(cls)

    def make_namedtuple(self, cls: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        fields, defaults = cls._fields, cls._field_defaults
        bound = dict(zip(fields, args, strict=False)) | options
        if len(args) > len(fields) or set(options) & set(fields[: len(args)]) or set(options) - set(fields):
            self.refuse("the arguments of a call do not fit")
        if any(n not in bound and n not in defaults for n in fields) or not all(is_atom(d) for d in defaults.values()):
            self.refuse("the arguments of a call do not fit")
        return tuple.__new__(cls, [bound[n] if n in bound else defaults[n] for n in fields])

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
        if isinstance(first, Host | Number):
            first = self.tensor_from_number(first, args[1:] or options)
        return self.native(Tensor, (first, *args[1:]) if args else (), options)

    def tensor_from_number(self, x: Any, typed: Any) -> Any:
        from mycelia.types import TensorType, float32, int64

        kind = self.number_kind(x)
        if typed or kind not in (int, float):
            return self.plain(x)
        t = TensorType(float32 if kind is float else int64, ())
        if isinstance(x, Host):
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

    # -------------------------------------------------------------------------------------------------------- objects

    def truth_of_object(self, x: Any) -> bool | Value:
        if isinstance(x, FunctionType | MethodType | Method | BuiltinFunctionType):
            return True
        cls = type(x)
        if isinstance(x, type) or cls.__module__ == "builtins" or isinstance(x, Items):
            self.refuse(f"the truth of a {cls.__name__}")
        for name in ("__bool__", "__len__"):
            method = self.lookup(cls, name)
            if type(method) is FunctionType:
                return self.truth(self.call(method, (x,), {}))
            if method is not MISSING:
                self.refuse(f"the truth of a {cls.__name__}")
        return True

    def call_descriptor(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A method of a built-in type, called on the class: `object.__setattr__(x, "a", 1)`, `list.append(l, x)`."""
        if not args or options:
            self.refuse(f"{fn.__qualname__} is called")
        first, *rest = args
        if fn is object.__setattr__ and len(rest) == 2 and type(rest[0]) is str:
            return self.set_usual(first, rest[0], (rest[1],))
        if fn is object.__delattr__ and len(rest) == 1:
            return self.set_usual(first, rest[0], ())
        if fn is object.__init__ and not rest:
            return None
        if type(first) is fn.__objclass__:
            return self.call(self.attribute(first, fn.__name__), tuple(rest), options)
        return self.refuse(f"{fn.__qualname__} is called")


def model_update_wrapper(machine: Any, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`functools.update_wrapper(wrapper, wrapped)` of functions, as `functools.wraps` calls it."""
    given = dict(zip(("wrapper", "wrapped", "assigned", "updated"), args, strict=False)) | options
    wrapper, wrapped = given["wrapper"], given["wrapped"]
    usual = given.get("assigned", functools.WRAPPER_ASSIGNMENTS) == functools.WRAPPER_ASSIGNMENTS
    usual = usual and given.get("updated", functools.WRAPPER_UPDATES) == functools.WRAPPER_UPDATES
    held = any(key[0] == id(wrapped) and key[1][0] == "attr" for layer in machine.store.layers() for key in layer.slots)
    plain = type(wrapper) is FunctionType and type(wrapped) is FunctionType and machine.store.is_fresh(wrapper)
    if (
        not usual
        or not plain
        or held
        or (not machine.store.is_fresh(wrapped) and machine.read(wrapped, ("dict", None)))
    ):
        machine.refuse("a wrapper is made to look like what it wraps")
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        machine.store.write(wrapper, ("field", name), machine.whole(wrapped, ("field", name)))
    machine.store.write(wrapper, ("attr", "__wrapped__"), wrapped)
    return wrapper


REGISTERED[functools.update_wrapper.__code__] = model_update_wrapper


def is_generated(cls: Any, init: FunctionType) -> bool:
    """Whether `dataclass` has written this `__init__`."""
    owner = next((c for c in cls.__mro__ if vars(c).get("__init__") is init), None)
    return owner is not None and "__dataclass_fields__" in vars(owner) and init.__code__.co_filename == "<string>"


def has_captured(cls: type) -> bool:
    """Whether instances stand for a function that they compile."""
    return cls.__name__ in ("Jitted", "_Bound")
