"""Operators: on tensors, numbers, containers, and objects that say themselves what they mean."""

from __future__ import annotations

from abc import ABCMeta
from types import FunctionType
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.capture import models
from mycelia.capture.items import ItemAccess
from mycelia.capture.machine import DictView, Items, distributes
from mycelia.capture.slots import CONTAINERS, MAPPINGS
from mycelia.capture.tensors import NUMBERS, OPERATORS
from mycelia.capture.texts import LateText
from mycelia.capture.values import MISSING, HostNumber, Number, is_atom, is_long, is_plain, same
from mycelia.capture.world import is_tensor
from mycelia.sizes import Sym

SEQUENCES = (tuple, list, str, bytes, range)
KNOW_OTHERS = (int, float, complex, str, bytes, tuple, list, dict, set, frozenset)  # whose operators take their like
REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class Operators(ItemAccess):
    """`x + y`, `x == y`, `x is y`."""

    def binary(self, name: str, x: Any, y: Any) -> Any:
        """`x + y` and the like; names with an `i` in front work in place where the left operand can."""
        return self.plain_binary(name, self.joined(x), self.joined(y))

    @distributes
    def plain_binary(self, name: str, x: Any, y: Any) -> Any:
        if is_tensor(x) and (is_tensor(y) or type(y) is float):
            return self.tensor_operator(name, x, y)
        if isinstance(x, LateText) or isinstance(y, LateText) or (type(x) is str and name == "mod" and self.is_late(y)):
            return self.text_operator(name, x, y)
        for a, b in ((x, y), (y, x)):
            if is_tensor(a) and (
                is_tensor(b) or isinstance(b, NUMBERS) or is_atom(b) or type(b) in (list, tuple, np.ndarray)
            ):
                return self.tensor_operator(name, x, y)
        later = isinstance(x, (HostNumber, Number, Sym)) or isinstance(y, (HostNumber, Number, Sym))
        if later and self.number_kind(x) is not None and self.number_kind(y) is not None:
            return self.number_operator(name, x, y)
        return self.plain_operator(name, x, y)

    def plain_operator(self, name: str, x: Any, y: Any) -> Any:
        if type(x) is list and name in ("add", "iadd", "mul", "imul"):
            return self.list_operator(name, x, y)
        if type(x) is tuple and type(y) is tuple and name in ("add", "iadd"):
            return x + y
        if type(x) is tuple and name in ("mul", "imul") and type(self.plain(y)) is int:
            return x * self.plain(y)
        if name in ("eq", "ne") and (found := self.equal(x, y)) is not None:
            return found if name == "eq" else self.decide(found, lambda: False, lambda: True)
        if type(x) in MAPPINGS and type(y) in MAPPINGS and name in ("or_", "ior"):
            return self.merged(name, x, y)
        if name == "or_" and all(isinstance(c, type) and type(c) in (type, ABCMeta) for c in (x, y)):
            return x | y
        a, b = self.plain(x), self.plain(y)
        if is_plain(a) and is_plain(b):
            if type(a) is str and name == "mod" and (not models.is_text(b) or is_long(b)):
                self.refuse("an object is turned into text")
            return self.constant_result(self.real(OPERATORS[name], a, b))
        return self.object_operator(name, x, y)

    def constant_result(self, value: Any) -> Any:
        raise AssertionError("built-in functions know how")

    def is_late(self, x: Any) -> bool:
        raise AssertionError("effects know how")

    def text_operator(self, name: str, x: Any, y: Any) -> Any:
        raise AssertionError("effects know how")

    def merged(self, name: str, x: Any, y: Any) -> Any:
        if type(x) is not dict or type(y) is not dict:
            self.refuse("mappings are merged")
        out = x if name == "ior" else self.store.container(dict, self.whole(x))
        items = self.whole(y)
        for k, v in zip(items[::2], items[1::2], strict=True):
            self.container_method(out, "__setitem__", (k, v), {})
        return out

    def list_operator(self, name: str, x: Any, y: Any) -> Any:
        if name == "iadd":
            self.extend(x, y)
            return x
        if name == "add" and type(y) is list:
            return self.store.container(list, self.whole(x) + self.whole(y))
        if name == "mul" and type(self.plain(y)) is int:
            return self.store.container(list, self.whole(x) * self.plain(y))
        return self.refuse(f"{name} of a list")

    def extend(self, owner: list[Any], more: Any) -> None:
        """`owner.extend(more)`: what runs code of the user finds a list that grows."""
        if self.is_quiet(more):
            self.container_method(owner, "extend", (self.all_items(more),), {})
            return
        for item in self.iterate(more):
            self.container_method(owner, "append", (item,), {})

    def equal(self, x: Any, y: Any) -> Any:
        """`x == y` of containers of the same kind; None where it is for others to say."""
        if (type(x) is tuple and type(y) is tuple) or (type(x) is list and type(y) is list):
            a, b = (x, y) if type(x) is tuple else (self.whole(x), self.whole(y))
            if len(a) != len(b):
                return False
            for u, v in zip(a, b, strict=True):
                if u is v and not is_tensor(u):
                    continue
                if is_tensor(u) or is_tensor(v):
                    self.refuse("sequences of tensors are compared")
                truth = self.truth(self.binary("eq", u, v))
                if not isinstance(truth, bool):
                    self.refuse("sequences of values are compared")
                if not truth:
                    return False
            return True
        if type(x) in MAPPINGS and type(y) in MAPPINGS:
            self.refuse("mappings are compared")
        one = type(x) in CONTAINERS or type(y) in CONTAINERS or type(x) is tuple or type(y) is tuple
        known = type(x) in (*SEQUENCES, set, dict) and type(y) in (*SEQUENCES, set, dict, int, float, type(None))
        if one and known and not (type(x) is set and type(y) is set):
            return False
        if type(x) in CONTAINERS and type(y) in CONTAINERS and x is not y:
            self.refuse("containers are compared")
        return None

    def object_operator(self, name: str, x: Any, y: Any) -> Any:
        """An operator that a class of the user defines."""
        base = name.rstrip("_")
        names = [f"__{base}__"] + ([f"__{base[1:]}__"] if base[0] == "i" and f"{base[1:]}" in OPERATORS else [])
        plain = names[-1].strip("_")
        reflected = f"__{REFLECTED[plain]}__" if plain in REFLECTED else f"__r{plain}__"
        asked = [(x, n, y) for n in names]
        if plain in REFLECTED or type(x) is not type(y):
            asked.append((y, reflected, x))
        if type(x) is not type(y) and isinstance(y, type(x)) and not is_atom(y):
            self.refuse("an operator of a subclass comes first")
        for owner in (x, y):
            kind = type(owner)
            if isinstance(owner, type) and kind is not type:
                self.refuse(f"{name} of a class of the class {kind.__name__}")
            if kind.__module__ != "builtins" and isinstance(owner, KNOW_OTHERS) and not is_tensor(owner):
                self.refuse(f"{name} of a {kind.__name__}, which is a number, a text or a container, too")
        for owner, n, other in asked:
            if (
                is_tensor(owner)
                or is_atom(owner)
                or type(owner) in CONTAINERS
                or isinstance(owner, HostNumber | Number | tuple)
            ):
                continue  # they do not know each other
            if isinstance(owner, Items | DictView) or type(owner).__module__ == "builtins":
                self.refuse(f"{name} of a {type(owner).__name__}")
            method = self.lookup(type(owner), n)
            if method is object.__ne__ and type(equal := self.lookup(type(owner), "__eq__")) is FunctionType:
                found = self.call(equal, (owner, other), {})
                if found is NotImplemented:
                    continue
                return self.negated(found)
            if method is MISSING or (plain in ("eq", "ne") and method in (object.__eq__, object.__ne__)):
                continue
            if type(method) is not FunctionType:
                self.refuse(f"{name} of a {type(owner).__name__}")
            found = self.call(method, (owner, other), {})
            if found is not NotImplemented:
                return found
        if plain in ("eq", "ne"):
            return (self.identical(x, y) is True) is (plain == "eq")
        return self.refuse(f"{name} of a {type(x).__name__} and a {type(y).__name__}")

    def negated(self, x: Any) -> Any:
        """`not x`."""
        truth = self.truth(x)
        return not truth if isinstance(truth, bool) else Number(p.logical_not(truth), bool, 0, 1)

    @distributes
    def identical(self, x: Any, y: Any) -> Any:
        """`x is y`."""
        if (id(x) in self.stand_ins or id(y) in self.stand_ins) and type(x) is type(y):
            self.refuse("whether tensors of different turns are the same object")
        if isinstance(x, HostNumber | Number | Sym) or isinstance(y, HostNumber | Number | Sym):
            if x is None or y is None or isinstance(x, bool) or isinstance(y, bool):
                return False if self.number_kind(x) is not self.number_kind(y) else same(self.plain(x), self.plain(y))
            self.refuse("whether numbers are the same object")
        if x is None or y is None or type(x) is bool or type(y) is bool or x is Ellipsis or y is Ellipsis:
            return x is y
        if isinstance(x, tuple) or isinstance(y, tuple) or isinstance(x, DictView) or isinstance(y, DictView):
            if type(x) is not type(y):
                return False
            self.refuse("whether tuples are the same object")
        if is_atom(x) and is_atom(y) and not isinstance(x, type) and not isinstance(y, type):
            if type(x) in (int, float, str, bytes, complex, range, slice) and type(x) is type(y):
                self.refuse("whether constants are the same object")
            return x is y
        return x is y
