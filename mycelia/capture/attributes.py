"""Attributes: looked up as Python does, with no code of the user run but by the interpreter itself."""

from __future__ import annotations

import functools
from collections import namedtuple
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any

from mycelia.capture import models
from mycelia.capture.holding import Weak, written_in
from mycelia.capture.machine import DictView, Items, Method, distributes
from mycelia.capture.slots import CONTAINERS, MAPPINGS, Member
from mycelia.capture.tensors import Tensors
from mycelia.capture.texts import LateText
from mycelia.capture.values import MISSING, Either, HostNumber, Number, UserError, alternatives, is_atom
from mycelia.capture.world import is_tensor
from mycelia.eager import Parameter, Tensor
from mycelia.sizes import Sym

FIELDS: dict[type, frozenset[str]] = {  # plain data in types of Python itself
    FunctionType: frozenset(("__code__", "__globals__", "__closure__", "__defaults__", "__kwdefaults__", "__name__",
                             "__qualname__", "__module__", "__doc__")),
    MethodType: frozenset(("__func__", "__self__")),
    property: frozenset(("fget", "fset", "fdel")),
    staticmethod: frozenset(("__func__",)),
    classmethod: frozenset(("__func__",)),
    functools.partial: frozenset(("func", "args", "keywords")),
    functools.cached_property: frozenset(("func", "attrname")),
}  # fmt: skip
TENSOR_TYPES = frozenset(("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "device"))
GENERIC = (object.__getattribute__, SimpleNamespace.__getattribute__)  # which find attributes as Python says
USUAL = (object.__setattr__, object.__delattr__, SimpleNamespace.__setattr__, SimpleNamespace.__delattr__)
MOST = 4096  # classes that are remembered
CLOSED = frozenset((Method, DictView, Items, LateText, CellType))  # whose attributes are nobody's business
FIELD_OF_TUPLE = type(namedtuple("Pair", "a b").a)  # type: ignore[attr-defined]  # what a named tuple has for each name
DATA_DESCRIPTORS = (property, MemberDescriptorType, GetSetDescriptorType)


class Super:
    """`super()`: attributes of an object, looked up behind a class."""

    def __init__(self, cls: type, obj: Any) -> None:
        self.cls, self.obj = cls, obj


class Attributes(Tensors):
    """`x.name`, `x.name = v`, `del x.name`."""

    def call(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        raise AssertionError("calls know how")

    def lookup(self, cls: type, name: str, behind: type | None = None) -> Any:
        """What a class and its bases hold under a name. Each class is read, so that what appears there is seen."""
        key = cls, name, behind
        if key not in self.found_in_classes or self.store.world.touched_classes:
            self.found_in_classes[key] = self.look_up(cls, name, behind)
        return self.found_in_classes[key]

    def look_up(self, cls: type, name: str, behind: type | None) -> Any:
        mro = self.whole(cls, ("field", "__mro__"))
        if behind is not None:
            mro = mro[mro.index(behind) + 1 :]
        for c in mro:
            if not c.__flags__ & 1 << 8:  # a class that can change
                found = self.read(c, ("attr", name))
                if isinstance(found, Either | Number):
                    self.refuse("an attribute of a class depends on values")
            else:
                found = vars(c).get(name, MISSING)
            if found is not MISSING:
                return found
        return MISSING

    @distributes
    def attribute(self, obj: Any, name: str) -> Any:
        """`obj.name`."""
        kind = type(obj)
        if kind is HostNumber or kind is Number or kind is Sym:
            return self.number_attribute(obj, name)
        if kind is Super:
            return self.bound(
                self.lookup(type(obj.obj) if not isinstance(obj.obj, type) else obj.obj, name, obj.cls), obj.obj, name
            )
        if is_tensor(obj):
            return self.tensor_attribute(obj, name)
        if kind.__module__ == "mycelia.api.models":
            return obj.attribute(name)
        if kind is ModuleType:
            found = self.read(obj, ("attr", name))
            if found is MISSING and obj.__name__.partition(".")[0] == "mycelia":
                return self.real(getattr, obj, name)  # ours are loaded when they are first asked for, and stay
            if found is MISSING:
                self.refuse(f"{obj.__name__}.{name} is made by its module")
            return found
        if (kind, name) in models.METHODS or (kind in CONTAINERS and (kind, name) in models.CONTAINER_METHODS):
            return Method(obj, name)
        if kind in MAPPINGS and name in ("items", "keys", "values"):
            return Method(obj, name)
        if kind in FIELDS and name in FIELDS[kind]:
            return self.whole(obj, ("field", name))
        if kind in models.PLAIN_ATTRIBUTES and name in models.PLAIN_ATTRIBUTES[kind]:
            return self.real(getattr, obj, name)
        if kind is FunctionType and name in vars(obj) and written_in(obj).startswith("mycelia."):
            return vars(obj)[name]  # as np.add.reduce: ours have it from the beginning
        if kind in CLOSED:
            self.refuse(f"the attribute {name} of a {kind.__name__}")
        if isinstance(obj, tuple):
            return self.tuple_attribute(obj, name)
        if isinstance(obj, type):
            return self.class_attribute(obj, name)
        return self.object_attribute(obj, name)

    def number_attribute(self, obj: Any, name: str) -> Any:
        kind = self.number_kind(obj)
        if (kind, name) in models.METHODS:
            return Method(obj, name)
        if name in ("real", "imag", "numerator", "denominator"):
            return getattr(self.plain(obj), name)
        if hasattr(kind, name):
            self.refuse(f"the attribute {name} of a number")
        raise UserError(AttributeError(f"{kind.__name__!r} object has no attribute {name!r}"))  # type: ignore[union-attr]

    def tuple_attribute(self, obj: Any, name: str) -> Any:
        kind = type(obj)
        if kind is tuple:
            if (tuple, name) in models.METHODS or name in ("count", "index"):
                return Method(obj, name)
            self.real(getattr, (), name)
            self.refuse(f"the attribute {name} of a tuple")
        found = self.lookup(kind, name)
        if type(found) is FIELD_OF_TUPLE:
            _, (place, _) = found.__reduce__()
            return obj[place]
        if found is tuple.count or found is tuple.index:
            return Method(obj, name)
        if hasattr(kind, "_fields"):
            return self.bound(found, obj, name)
        self.refuse(f"the attribute {name} of a {kind.__name__}")

    def tensor_attribute(self, obj: Any, name: str) -> Any:
        if name == "shape" or name == "dtype":
            return getattr(self.value(obj), name)
        if name in TENSOR_TYPES:
            stand_in = Tensor.__new__(Tensor)
            stand_in._data, stand_in._tape = self.value(obj), None
            return getattr(stand_in, name)
        held = self.lookup(type(obj), name)  # which the user may have put there
        if type(held) is FunctionType and not written_in(held).startswith("mycelia."):
            return self.method(held, obj)
        if type(held) is property and not written_in(held.fget).startswith("mycelia."):
            return self.bound(held, obj, name)
        if type(held) is FunctionType:
            self.store.world.pin(held)
        found = self.real(getattr, type(obj), name) if held is not MISSING else MISSING
        if type(found) is property:
            return self.native(found.fget, (obj,), {})
        if callable(found):
            return Method(obj, name)
        if type(obj) is Parameter:
            own = self.read(obj, ("attr", name))
            if any(v is MISSING for v in alternatives(own)):
                self.refuse(f"a parameter without {name}")
            return own
        return self.native(getattr, (obj, name), {})

    def class_attribute(self, obj: type, name: str) -> Any:
        """An attribute of a class: what it or a base holds; what its metaclass holds only if that is `type`."""
        if name == "__dict__":
            self.refuse("the dictionary of a class")
        if name in ("__name__", "__qualname__", "__module__", "__mro__", "__bases__", "__doc__"):
            return self.whole(obj, ("field", name))
        found = self.lookup(obj, name)
        if type(obj) is not type and self.lookup(type(obj), "__getattribute__") is not type.__getattribute__:
            self.refuse("a class whose class finds attributes")
        if type(obj) is not type and self.lookup(type(obj), name) is not MISSING:
            self.refuse("an attribute of the class of a class")
        if found is MISSING:
            if type(obj) is not type and self.lookup(type(obj), "__getattr__") is not MISSING:
                self.refuse("a class whose class makes attributes")
            self.real(getattr, obj, name)
            self.refuse(f"{obj.__name__}.{name}")
        if type(found) is staticmethod:
            return self.whole(found, ("field", "__func__"))
        if type(found) is classmethod:
            return self.method(self.whole(found, ("field", "__func__")), obj)
        if type(found) is FunctionType or self.is_data(found):
            return found
        if type(found) in (MethodDescriptorType, WrapperDescriptorType, BuiltinFunctionType, property):
            return found
        self.refuse(f"{obj.__name__}.{name} is a {type(found).__name__}")

    def object_attribute(self, obj: Any, name: str) -> Any:
        cls = type(obj)
        if cls.__module__ == "builtins" or (
            cls.__flags__ & 1 << 8 and cls not in FIELDS and cls is not SimpleNamespace
        ):
            self.refuse(f"the attribute {name} of a {cls.__name__}")
        if self.lookup(cls, "__getattribute__") not in GENERIC:
            self.refuse(f"{cls.__name__} says itself what its attributes are")
        if name == "__class__":
            return cls
        if name == "__dict__":
            self.refuse("the dictionary of an object")
        found = self.lookup(cls, name)
        if type(found) in DATA_DESCRIPTORS or (found is not MISSING and self.has_set(found)):
            return self.described(found, obj, name)
        own = self.own_attribute(obj, name)
        if own is not MISSING and own.__class__ is not Either:
            return own
        missing = [v is MISSING for v in alternatives(own)]
        if any(missing) and not all(missing):
            self.refuse(f"the attribute {name} may be missing")
        if not any(missing):
            return own
        if found is not MISSING:
            return self.described(found, obj, name)
        maker = self.lookup(cls, "__getattr__")
        if type(maker) is FunctionType:
            return self.call(maker, (obj, name), {})
        if maker is not MISSING:
            self.refuse("attributes are made on demand")
        raise UserError(AttributeError(f"{cls.__name__!r} object has no attribute {name!r}", name=name, obj=obj))

    def described(self, found: Any, obj: Any, name: str) -> Any:
        """What a class holds, as an attribute of an instance; without it `__getattr__` is asked, as always."""
        try:
            return self.bound(found, obj, name)
        except UserError as missing:
            if isinstance(missing.error, AttributeError) and self.lookup(type(obj), "__getattr__") is not MISSING:
                self.refuse("an attribute is missing, and made on demand")
            raise

    def own_attribute(self, obj: Any, name: str) -> Any:
        """What the dictionary of an object holds."""
        if not has_dict(obj):
            return MISSING
        return self.read(obj, ("attr", name))

    def has_set(self, found: Any) -> bool:
        """Whether this is a descriptor that also sets."""
        cls = type(found)
        if cls in (FunctionType, staticmethod, classmethod, functools.cached_property) or is_atom(found):
            return False
        if cls.__module__ == "builtins":
            return hasattr(cls, "__set__") or hasattr(cls, "__delete__")
        return self.lookup(cls, "__set__") is not MISSING or self.lookup(cls, "__delete__") is not MISSING

    def bound(self, found: Any, obj: Any, name: str) -> Any:
        """What a class holds, as an attribute of an instance."""
        kind = type(found)
        if found is MISSING:
            raise UserError(
                AttributeError(f"{type(obj).__name__!r} object has no attribute {name!r}", name=name, obj=obj)
            )
        if kind is property:
            getter = self.whole(found, ("field", "fget"))
            if getter is None:
                raise UserError(AttributeError(f"property {name!r} of {type(obj).__name__!r} object has no getter"))
            return self.call(getter, (obj,), {})
        if kind is MemberDescriptorType:
            own = self.read(obj, ("member", self.member(found)))
            if own is MISSING:
                raise UserError(
                    AttributeError(f"{type(obj).__name__!r} object has no attribute {name!r}", name=name, obj=obj)
                )
            if isinstance(own, Either) and any(v is MISSING for v in alternatives(own)):
                self.refuse(f"the attribute {name} may be missing")
            return own
        if kind is FunctionType:
            return self.method(found, obj)
        if kind is staticmethod:
            return self.whole(found, ("field", "__func__"))
        if kind is classmethod:
            return self.method(self.whole(found, ("field", "__func__")), obj if isinstance(obj, type) else type(obj))
        if kind is functools.cached_property:
            value = self.call(self.whole(found, ("field", "func")), (obj,), {})
            self.store.write(obj, ("attr", self.whole(found, ("field", "attrname"))), value)
            return value
        if self.is_data(found):
            return found
        if kind in (WrapperDescriptorType, MethodDescriptorType):
            return Method(obj, name) if kind is WrapperDescriptorType else self.refuse(f"{type(obj).__name__}.{name}")
        getter = MISSING if kind.__module__ == "builtins" else self.lookup(kind, "__get__")
        if type(getter) is FunctionType:
            return self.call(getter, (found, obj, type(obj)), {})
        if getter is MISSING and kind.__module__ != "builtins":
            return found
        self.refuse(f"{type(obj).__name__}.{name} is a {kind.__name__}")

    def member(self, descriptor: Any) -> Member:
        """The slot that a descriptor stands for, at every call."""
        for name in ("__objclass__", "__name__"):
            self.read(descriptor, ("field", name))
        return Member.of(descriptor)

    def method(self, fn: Any, obj: Any) -> Any:
        """A function bound to an object: a new method each time."""
        if type(fn) is FunctionType:
            return self.store.make(MethodType(fn, obj), __func__=fn, __self__=obj)
        if hasattr(fn, "__captured__"):
            return self.store.make(MethodType(_called, obj), __func__=fn, __self__=obj)
        self.refuse(f"a method that is a {type(fn).__name__}")

    def is_data(self, found: Any) -> bool:
        """A class attribute without a `__get__`."""
        if is_atom(found) or isinstance(found, HostNumber):
            return found is not MISSING
        return type(found) in CONTAINERS or type(found) in (tuple, Tensor, Parameter, MappingProxyType, frozenset)

    # -------------------------------------------------------------------------------------------------------- setting


def _called(*args: Any) -> Any:
    raise AssertionError("a method that only the interpreter calls")


def has_dict(obj: Any) -> bool:
    """Whether an object has a dictionary of its own, and no code of its class stands before it."""
    return gives_dict(type(obj))


_known: dict[int, tuple[Any, bool]] = {}  # classes, which it does not keep alive, and whether they do


def gives_dict(cls: type) -> bool:
    """Whether instances of a class have a plain dictionary."""
    found = _known.get(id(cls))
    if found is None or found[0]() is not cls:
        if len(_known) > MOST:
            _known.clear()
        found = _known[id(cls)] = Weak(cls), _gives_dict(cls)
    return found[1]


def _gives_dict(cls: type) -> bool:
    if cls.__dictoffset__ == 0 and not cls.__flags__ & 1 << 4:
        return False
    return not any(
        "__dict__" in vars(c) and type(vars(c)["__dict__"]) not in (GetSetDescriptorType, MemberDescriptorType)
        for c in cls.__mro__
    )
