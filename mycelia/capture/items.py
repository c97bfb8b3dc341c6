"""Operators, items and iteration: on tensors, numbers, containers, and objects that say themselves what they mean."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from operator import is_not
from types import FunctionType
from typing import Any

import numpy as np

from mycelia.capture import models
from mycelia.capture.joining import WRITTEN
from mycelia.capture.machine import DictView, Items, distributes
from mycelia.capture.numbers import LateNumbers
from mycelia.capture.slots import CONTAINERS, ITEMS, MAPPINGS
from mycelia.capture.values import (
    ATOMS,
    MISSING,
    Either,
    HostNumber,
    Number,
    UserError,
    alternatives,
    is_atom,
    is_plain,
)
from mycelia.capture.world import is_tensor

LONGEST = 100_000  # items of one iteration
COPIED, COMPARED = 256, 8  # items that take as long as a piece of syntax: those of a list, and tuples that are keys


class ItemAccess(LateNumbers):
    """`x + y`, `x[i]`, `x[i] = v`, `x in y`, `for x in y`."""

    # ------------------------------------------------------------------------------------------------------ operators

    # ---------------------------------------------------------------------------------------------------------- items

    @distributes
    def subscript(self, obj: Any, index: Any) -> Any:
        """`obj[index]`."""
        if is_tensor(obj):
            return self.get_part(obj, index)
        kind = type(obj)
        if kind in MAPPINGS:
            self.as_keys(index, *self.items_of(obj))
            return self.real(models.pair_of, self.whole(obj), self.plain(index))
        if kind is list or isinstance(obj, tuple) or kind in (str, bytes, range):
            return self.sequence_item(obj, index)
        if kind is np.ndarray:
            return self.array_item(obj, index)
        if isinstance(obj, type):
            self.refuse("a class is given parameters")
        method = MISSING if kind.__module__ == "builtins" else self.lookup(kind, "__getitem__")
        if type(method) is FunctionType:
            return self.call(method, (obj, index), {})
        return self.refuse(f"an item of a {self.class_of(obj).__name__}")

    def class_of(self, x: Any) -> type:
        raise AssertionError("built-in functions know how")

    def sequence_item(self, obj: Any, index: Any) -> Any:
        if is_tensor(index):
            index = self.convert(int, index) if not self.value(index).dtype.is_float else index
        index = self.plain(index)
        if type(index) is not slice and type(index) not in (int, bool):
            if isinstance(index, int) and not is_atom(index):
                self.refuse(f"a {type(index).__name__}, which is a whole number by itself, as an index")
            method = MISSING if is_atom(index) or type(index) in CONTAINERS else self.lookup(type(index), "__index__")
            if type(method) is not FunctionType:
                self.refuse(f"an item at a {type(index).__name__}")
            index = self.plain(self.call(method, (index,), {}))
        items = self.whole(obj) if type(obj) is list else obj
        if type(obj) is list and type(index) is not slice and not -len(items) <= index < len(items):
            raise UserError(IndexError("list index out of range"))
        found = self.real(tuple.__getitem__ if isinstance(items, tuple) else type(items).__getitem__, items, index)
        return self.store.container(list, found) if type(obj) is list and type(index) is slice else found

    def array_item(self, obj: Any, index: Any) -> Any:
        """A number of an array from outside."""
        index = self.plain(index)
        if self.store.is_fresh(obj) or not is_plain(index):
            self.refuse("a part of an array")
        found = self.real(self.store.world.content(obj).__getitem__, index)
        if type(found) is not np.float64 and not isinstance(found, np.generic):
            self.refuse("a part of an array")
        self.refuse(f"a {type(found).__name__} of an array")

    def set_subscript(self, obj: Any, index: Any, value: tuple[Any, ...]) -> None:
        """`obj[index] = value[0]`; `del obj[index]` if there is none."""
        if obj.__class__ is Either and sum(map(is_tensor, alternatives(obj))) > WRITTEN:
            self.refuse("a write to one of many tensors")  # each may be the one, and all that share memory with it
        self.set_item(obj, index, value)

    @distributes
    def set_item(self, obj: Any, index: Any, value: tuple[Any, ...]) -> None:
        name = "__setitem__" if value else "__delitem__"
        if is_tensor(obj) and value:
            self.set_part(obj, index, self.joined(value[0]))
        elif (type(obj), name) in models.CONTAINER_METHODS:
            index = self.plain(index)
            if type(index) is slice and value:
                value = (self.all_items(value[0]),)
            self.container_method(obj, name, (index, *value), {})
        else:
            method = MISSING if type(obj).__module__ == "builtins" else self.lookup(type(obj), name)
            if type(method) is not FunctionType:
                self.refuse(f"an item of a {self.class_of(obj).__name__} is set")
            self.call(method, (obj, index, *value), {})

    def look_through(self, items: tuple[Any, ...], keys: bool) -> None:
        """What it costs to copy items, or to find one among keys, counts as syntax."""
        if len(items) >= COMPARED:
            slow = keys and not models.SIMPLE.issuperset(map(type, items))
            self.spend(len(items) // (COMPARED if slow else COPIED))

    def container_method(self, obj: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        before = self.whole(obj)
        self.look_through(before if type(obj) not in MAPPINGS else before[::2], type(obj) is not list)
        if type(obj) in MAPPINGS:
            self.as_keys(*args[:1], *before[::2])
        after, result = self.real(models.CONTAINER_METHODS[type(obj), name], before, *args, **options)
        if after is not before:
            self.store.write(obj, ITEMS, after)
        return result

    @distributes
    def contains(self, x: Any, container: Any) -> Any:
        """`x in container`."""
        if type(container) in MAPPINGS or isinstance(container, DictView):
            self.as_keys(x, *self.items_of(container.owner if isinstance(container, DictView) else container))
        if type(container) in MAPPINGS:
            self.look_through(self.items_of(container), True)
            return self.real(models.key_place, self.items_of(container), self.plain(x)) is not None
        if isinstance(container, DictView) and container.name == "keys":
            return self.real(models.key_place, self.items_of(container.owner), self.plain(x)) is not None
        if is_tensor(container):
            return self.native(lambda c, v: v in c, (container, x), {})
        if type(container) in (str, bytes, range):
            x = self.plain(x)
            return self.real(lambda: x in container) if is_plain(x) else self.refuse("membership of a value")
        if type(container) in (set, frozenset):
            self.hashable(x)
        if type(container) in (list, set, frozenset) or isinstance(container, tuple):
            return self.among(x, container if isinstance(container, tuple) else self.whole(container))
        method = MISSING if type(container).__module__ == "builtins" else self.lookup(type(container), "__contains__")
        if type(method) is FunctionType:
            found = self.truth(self.call(method, (container, x), {}))
            return found if isinstance(found, bool) else Number(found, bool, 0, 1)
        return self.refuse(f"membership in a {self.class_of(container).__name__}")

    def hashable(self, x: Any) -> None:
        """What a set is asked for must be able to be in it."""
        x = x if is_tensor(x) else self.plain(x)
        if is_plain(x):
            self.real(hash, x)
        elif not is_tensor(x) and not models.is_identity(x):
            self.refuse("membership of a value")

    def as_keys(self, *things: Any) -> None:
        """Objects that are searched for: that their class says nothing about being equal holds at every call."""
        for cls in {*map(type, things)} - ATOMS:
            if not cls.__module__.startswith("mycelia.") and not issubclass(cls, tuple | type):
                self.lookup(cls, "__eq__")
                self.lookup(cls, "__hash__")

    def among(self, x: Any, items: tuple[Any, ...]) -> Any:
        self.as_keys(x, *items)
        if not is_tensor(x):
            x = self.plain(x)
        for y in items:
            y = self.plain(y) if not is_tensor(y) else y
            if isinstance(y, Either):
                self.refuse("membership among values")
            if y is x:
                return True
            if is_plain(x) and is_plain(y):
                if self.real(lambda x=x, y=y: x == y):
                    return True
            elif not (models.is_identity(x) and models.is_identity(y)):
                self.refuse("membership among values")
        return False

    # ------------------------------------------------------------------------------------------------------ iteration

    def all_items(self, value: Any) -> tuple[Any, ...]:
        """What iteration yields, to its end."""
        value = self.settled(value)
        if isinstance(value, Either):
            return self.items_of_either(value)
        if type(value) is tuple and len(value) <= LONGEST:
            return value
        out = []
        for item in self.iterate(value):
            out.append(item)
            if len(out) > LONGEST:
                self.refuse("an iteration is too long")
        return tuple(out)

    def first_items(self, value: Any, most: int) -> tuple[Any, ...]:
        """What iteration yields first; it is not asked for more than `most`."""
        value = self.settled(value)
        if isinstance(value, Either | tuple) or type(value) in CONTAINERS:
            return self.all_items(value)
        found = tuple(itertools.islice(self.iterate(value), most))
        if len(found) == most and not is_tensor(value) and type(value) not in (str, bytes, range):
            self.refuse("an iterator is left before its end")  # it may run code of the user when it goes
        return found

    def items_of_either(self, value: Either) -> tuple[Any, ...]:
        joined = self.joined(value)
        if not isinstance(joined, Either):
            return self.all_items(joined)
        found = self.branch(value.cond, lambda: self.all_items(value.yes), lambda: self.all_items(value.no))
        if isinstance(found, Either):
            self.refuse("a length depends on values")
        return found  # type: ignore[no-any-return]

    def places_of_either(self, value: Either) -> Callable[[int], Any]:
        """A way to ask for the item at a place of one of several: live, where those are lists; MISSING at the end."""
        ways = alternatives(value)
        if not all(map(self.is_quiet, ways)):
            self.refuse("one of several is iterated over, of which one may run code")

        def contents() -> list[tuple[Any, ...]]:
            owners = [w.owner if isinstance(w, DictView) else w for w in ways]
            return [self.whole(w) if type(w) in CONTAINERS else () for w in owners]

        before, items = contents(), self.items_of_either(value)

        def at(i: int) -> Any:
            nonlocal before, items
            now = contents()
            if any(len(a) != len(b) or any(map(is_not, a, b)) for a, b in zip(before, now, strict=True)):
                if not all(type(w) is list for w in ways if not isinstance(w, tuple)):
                    self.refuse("one of several is iterated over, and changes")
                before, items = now, self.items_of_either(value)
            return items[i] if i < len(items) else MISSING

        return at

    def iterate(self, value: Any) -> Iterator[Any]:
        """Items one by one, as iteration yields them: live, where Python's is. It has begun when this returns."""
        value = self.joined(self.settled(value))
        if isinstance(value, Either):
            at = self.places_of_either(value)
            return itertools.takewhile(partial(is_not, MISSING), map(at, itertools.count()))
        if is_tensor(value):
            return self.rows(value)
        if isinstance(value, Items):
            return self.of_iterator(value)
        if type(value) is list:
            return self.of_list(value)
        if isinstance(value, DictView):
            return self.of_mapping(value.owner, value.name, self.items_of(value.owner))
        if type(value) in CONTAINERS:
            return self.of_mapping(value, "keys", self.items_of(value))
        if isinstance(value, tuple) or type(value) in (str, bytes, range):
            return iter(value)
        return self.of_object(value)

    def is_quiet(self, value: Any) -> bool:
        """Whether iteration runs no code of the user, so that nobody can tell when it goes on."""
        value = self.settled(value)
        known = isinstance(value, tuple | DictView) or type(value) in (str, bytes, range)
        return known or is_tensor(value) or type(value) in CONTAINERS

    def of_iterator(self, value: Items) -> Iterator[Any]:
        while True:
            try:
                item = value.step(self)
            except StopIteration:
                return
            yield item

    def of_list(self, value: list[Any], i: int = 0, step: int = 1) -> Iterator[Any]:
        """The items of a list from one on."""
        while 0 <= i < len(items := self.whole(value)):
            yield items[i]
            i += step

    def rows(self, value: Any) -> Iterator[Any]:
        for i in range(self.native(len, (value,), {})):
            yield self.get_part(value, i)

    def of_mapping(self, owner: Any, name: str, before: tuple[Any, ...]) -> Iterator[Any]:
        for i in range(len(before) + 1):  # Python looks once more at the end
            now = self.items_of(owner)
            if len(now) != len(before) or any(a is not b for a, b in zip(now, before, strict=True)):
                self.refuse("a mapping or set changes under its loop")
            if i == len(before):
                return
            items = self.whole(owner)
            if type(owner) not in MAPPINGS:
                yield items[i]
            else:
                yield {"items": items[2 * i : 2 * i + 2], "keys": items[2 * i], "values": items[2 * i + 1]}[name]

    def of_object(self, value: Any) -> Iterator[Any]:
        method: Any = MISSING
        if not is_atom(value) and type(value).__module__ != "builtins" and not isinstance(value, HostNumber | Number):
            method = self.lookup(type(value), "__iter__")
        if type(method) is not FunctionType:
            self.refuse(f"iteration over a {self.class_of(value).__name__}")
        found = self.call(method, (value,), {})
        if isinstance(found, Items):
            return self.of_iterator(found)
        step: Any = MISSING if type(found).__module__ == "builtins" else self.lookup(type(found), "__next__")
        if type(step) is not FunctionType:
            self.refuse(f"iteration over a {type(found).__name__}")
        return self.stepped(step, found)

    def stepped(self, step: FunctionType, found: Any) -> Iterator[Any]:
        while True:
            try:
                item = self.call(step, (found,), {})
            except UserError as raised:
                if isinstance(raised.error, StopIteration):
                    return
                raise
            yield item
