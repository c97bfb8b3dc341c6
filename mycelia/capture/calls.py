"""Calls: of functions with source, which are interpreted; of classes; of models of the allow-list; of nothing else."""

from __future__ import annotations

import ast
import functools
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any

from mycelia.capture.effects import Effects
from mycelia.capture.machine import DictView, Frame, Items, Method
from mycelia.capture.registered import REGISTERED
from mycelia.capture.slots import CONTAINERS, CONTENTS, Member
from mycelia.capture.source import SOURCELESS, definition, is_resumed
from mycelia.capture.values import MISSING, Either, HostNumber, Number, UserError, alternatives, is_atom
from mycelia.capture.world import is_tensor
from mycelia.errors import PACKAGE
from mycelia.ir import Op, Value
from mycelia.sizes import NeedsSize

DEEPEST = 60  # calls inside one another


class Calls(Effects):
    """`f(*args, **options)`."""

    def call_class(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("making knows how")

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
        if (
            is_tensor(fn)
            or is_atom(fn)
            or kind in CONTAINERS
            or isinstance(fn, HostNumber | Number | tuple | DictView | Items)
        ):
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
        def own(name: str) -> Any:
            held = next(vars(c)[name] for c in type(fn).__mro__ if name in vars(c))
            return self.whole(fn, ("member", Member.of(held)))

        if type(fn).__name__ == "Jitted":
            return own("__captured__")
        return self.method(self.attribute_of_wrapper(own("__func__")), own("__self__"))

    def call_function(self, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any], ours: bool = True) -> Any:
        """A function; one of our own is run as it is, if it does not make an object (`ours`)."""
        code = self.whole(fn, ("field", "__code__"))
        model = REGISTERED.get(code)
        if model is not None:
            return model(self, fn, args, options)
        pure = self.is_pure(fn)
        if pure and fn.__name__ == "pyfunc" and fn.__module__ == "mycelia.ops.host":
            return self.call_python(fn, args, options)
        if pure and fn.__name__ == "print_" and fn.__module__ == "mycelia.ops.state":
            return self.model_print(*args)
        if ours and pure and code is fn.__code__:
            functions = [a for a in (*args, *options.values()) if callable(a) and not isinstance(a, type)]
            if not any(type(f) in (FunctionType, MethodType) for f in functions):
                if not self.store.is_fresh(fn):
                    self.store.world.pin(fn)  # many have one code, and differ in what they are put around
                return self.native(fn, args, options)
        node = definition(code)
        if node is None:
            self.refuse(f"{code.co_name} {SOURCELESS}")
        if len(self.calls) >= DEEPEST:
            self.refuse(f"{code.co_name} calls too deeply")
        return self.enter(fn, code, node, args, options)

    def enter(self, fn: FunctionType, code: Any, node: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The body of a function, with its arguments in new variables."""
        bound = self.bind(code, fn, args, options)
        frame = self.frame(fn, code)
        for name, value in bound.items():
            self.store.write(frame.cells[name], CONTENTS, value)
        if is_resumed(code):
            if not isinstance(node, ast.FunctionDef | ast.Lambda) or code.co_flags & 0x280:
                self.refuse(f"{code.co_name} is a coroutine")
            return self.generate(node, frame)
        before = self.node, self.file, self.called_at
        self.calls.append(code)
        if not code.co_filename.startswith(PACKAGE):
            self.called_at = None
        elif self.called_at is None and not self.file.startswith(PACKAGE):
            self.called_at = self.here()
        self.file = code.co_filename
        try:
            return self.body(node, frame)
        except NeedsSize as reason:
            reason.at = reason.at or self.here()
            raise
        finally:
            self.calls.pop()
            self.node, self.file, self.called_at = before

    def frame(self, fn: FunctionType, code: Any) -> Frame:
        closure = self.whole(fn, ("field", "__closure__")) if code.co_freevars else ()
        cells = {n: self.store.make(CellType()) for n in dict.fromkeys((*code.co_varnames, *code.co_cellvars))}
        cells.update(zip(code.co_freevars, closure, strict=True))
        first = cells[code.co_varnames[0]] if code.co_argcount else None
        return Frame(cells, self.whole(fn, ("field", "__globals__")), code, fn, first)

    def bind(self, code: CodeType, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """The variables of a call. What does not fit is left to Python, which says what is wrong."""
        names = code.co_varnames  # where private names are spelled as inside a class
        positional = names[: code.co_argcount]
        keyword_only = names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        rest = iter(names[code.co_argcount + code.co_kwonlyargcount :])
        by_name = {*positional[code.co_posonlyargcount :], *keyword_only}
        bound: dict[str, Any] = dict(zip(positional, args, strict=False))
        extra: dict[str, Any] = {}
        for k, v in options.items():
            if k in by_name and k not in bound:
                bound[k] = v
            elif k in by_name or not code.co_flags & CO_VARKEYWORDS:
                self.refuse("the arguments of a call do not fit")
            else:
                extra[k] = v
        if len(args) > len(positional) and not code.co_flags & CO_VARARGS:
            self.refuse("there are too many arguments")
        missing = [n for n in positional if n not in bound]
        if missing:
            defaults = self.whole(fn, ("field", "__defaults__")) or ()
            have = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=False))
            for n in missing:
                bound[n] = have[n] if n in have else self.refuse(f"the argument {n} is missing")
        only = [n for n in keyword_only if n not in bound]
        if only:
            table = self.whole(fn, ("field", "__kwdefaults__"))
            items = self.whole(table) if table is not None else ()
            have = dict(zip(items[::2], items[1::2], strict=True))
            for n in only:
                bound[n] = have[n] if n in have else self.refuse(f"the argument {n} is missing")
        if code.co_flags & CO_VARARGS:
            bound[next(rest)] = tuple(args[len(positional) :])
        if code.co_flags & CO_VARKEYWORDS:
            items = tuple(x for pair in extra.items() for x in pair)
            bound[next(rest)] = self.store.container(dict, items)
        return bound

    # -------------------------------------------------------------------------------------------------------- classes

    # -------------------------------------------------------------------------------------------------------- objects

    def truth_of_object(self, x: Any) -> bool | Value:
        if isinstance(x, FunctionType | MethodType | Method | BuiltinFunctionType):
            return True
        cls = type(x)
        if isinstance(x, type) or cls.__module__ == "builtins" or isinstance(x, Items):
            self.refuse(f"the truth of a {cls.__name__}")
        for name in ("__bool__", "__len__"):
            method = self.lookup(cls, name)
            if type(method) is FunctionType and name == "__len__":
                return bool(self.model_len(x))
            if type(method) is FunctionType:
                found = self.settled(self.call(method, (x,), {}))
                if not all(self.number_kind(v) is bool for v in alternatives(found)):
                    self.refuse("__bool__ gives something else than a truth")
                return self.truth(found)
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


def has_captured(cls: type) -> bool:
    """Whether instances stand for a function that they compile."""
    return cls.__name__ in ("Jitted", "_Bound")
