"""Slots: the places of real objects that a program reads and writes, and how to do so without running their code."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import field
from gc import get_referents
from itertools import chain
from types import CellType, MappingProxyType
from typing import Any

from mycelia.capture.holding import held, there
from mycelia.capture.values import MISSING, Break, same
from mycelia.frozen import frozen

Slot = tuple[str, Any]
DATA, ITEMS, CONTENTS = ("data", None), ("items", None), ("contents", None)
MAPPINGS: frozenset[type] = frozenset((dict, OrderedDict, MappingProxyType))
CONTAINERS: frozenset[type] = frozenset((list, dict, set, deque, OrderedDict, frozenset, MappingProxyType))


class CallRoot:
    """The root of everything that a program reads: the callable and its arguments."""

    __slots__ = ("args", "fn", "kwargs")

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn, self.args, self.kwargs = fn, args, kwargs


class PieceRoot:
    """The root of a piece: the live variables of a function that is running, each a real cell, and its globals."""

    __slots__ = ("cells", "globals")

    def __init__(self, cells: dict[str, CellType], globals_: dict[str, Any]) -> None:
        self.cells, self.globals = cells, globals_


def fetch(obj: Any, slot: Slot) -> Any:
    """The slot of a real object, as it is now. It runs no code of the user.

    >>> fetch([1, 2], ITEMS), fetch({"a": 1}, ("key", "b"))
    ((1, 2), missing)
    """
    kind, name = slot
    if kind == "attr":
        return vars(obj).get(name, MISSING)
    if kind == "key":
        return dict.get(obj, name, MISSING)
    if kind == "field":  # of a function, a method, a property: types whose fields are plain data
        return getattr(obj, name)
    if kind == "data":
        return obj._data
    if kind == "arg":
        return obj.args[name]
    if kind == "kwarg":
        return obj.kwargs[name]
    if kind == "fn":
        return obj.fn
    if kind == "items":
        return pairs(obj) if type(obj) in MAPPINGS else tuple(obj)
    if kind == "contents":
        return contents(obj)
    if kind == "dict":
        return pairs(vars(obj))
    if kind == "member":  # of a class with __slots__
        return name.read(obj)
    if kind == "names":  # of a class: all that it says itself
        return " ".join([n for n in vars(obj) if n.__class__ is str])
    if kind == "constant":
        return there(name)
    if kind == "cell":
        return obj.cells[name]
    assert kind == "globals", f"there is no slot {kind}"
    return obj.globals


def pairs(mapping: Any) -> tuple[Any, ...]:
    """Keys and values in turn. An ordered dictionary has an order of its own, of which `dict.items` knows nothing.

    >>> pairs({"a": 1})
    ('a', 1)
    """
    if type(mapping) is MappingProxyType:
        (mapping,) = get_referents(mapping)
        if type(mapping) not in (dict, OrderedDict):
            raise Break("a view of a mapping with code of its own")
    if type(mapping) is OrderedDict:
        return tuple(chain.from_iterable(mapping.items()))
    return tuple(chain.from_iterable(dict.items(mapping)))


def contents(cell: CellType) -> Any:
    """What a variable holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


@frozen
class Member:
    """A slot of a class with `__slots__`, by its name: the class is not kept alive.

    >>> class Point:
    ...     __slots__ = ("x",)
    >>> point = Point()
    >>> Member.of(Point.x).write(point, 3)
    >>> Member.of(Point.x).read(point), Member.of(Point.x) == Member.of(Point.x)
    (3, True)
    """

    name: str
    number: int  # the identity of the class
    owner: Any = field(compare=False, repr=False)

    @staticmethod
    def of(descriptor: Any) -> Member:
        """The slot that a descriptor stands for."""
        cls, name = descriptor.__objclass__, descriptor.__name__
        if vars(cls).get(name) is not descriptor:
            raise Break(f"the slot {name} of {cls.__name__} has another name")
        return Member(name, id(cls), held(cls))

    def __str__(self) -> str:
        return self.name

    def read(self, obj: Any) -> Any:
        """What the slot holds."""
        try:
            return vars(there(self.owner))[self.name].__get__(obj)
        except AttributeError:
            return MISSING

    def write(self, obj: Any, value: Any) -> None:
        """Let the slot hold something else."""
        descriptor = vars(there(self.owner))[self.name]
        if value is not MISSING:
            descriptor.__set__(obj, value)
        elif self.read(obj) is not MISSING:
            descriptor.__delete__(obj)


def restore(obj: Any, slot: Slot, value: Any) -> None:
    """Write a slot of a real object: the effect of a program.

    >>> numbers = [1]
    >>> restore(numbers, ITEMS, (2, 3))
    >>> numbers
    [2, 3]
    """
    kind, name = slot
    if kind == "data":
        obj.renew(value)
    elif kind == "items":
        _refill(obj, value)
    elif kind == "contents":
        if value is MISSING:
            del obj.cell_contents
        else:
            obj.cell_contents = value
    elif kind == "key":
        obj.pop(name, None) if value is MISSING else dict.__setitem__(obj, name, value)
    elif kind == "member":
        name.write(obj, value)
    elif kind == "attr":
        _set_attribute(obj, name, value)
    else:
        raise Break(f"a slot {kind} is written")


def _refill(obj: Any, value: tuple[Any, ...]) -> None:
    if type(obj) is list:
        obj[:] = value
        return
    if type(obj) is dict and _change(obj, dict(zip(value[::2], value[1::2], strict=True))):
        return
    obj.clear()
    if type(obj) in MAPPINGS:
        for k, v in zip(value[::2], value[1::2], strict=True):
            dict.__setitem__(obj, k, v) if type(obj) is dict else obj.__setitem__(k, v)
    elif type(obj) is deque:
        obj.extend(value)
    else:
        obj.update(value)


def _change(obj: dict[Any, Any], wanted: dict[Any, Any]) -> bool:
    """Let a dictionary hold other pairs by changing these alone, as whoever iterates over it or reads it in another
    thread expects; whether its order can be had so.

    >>> numbers = {"a": 1, "b": 2}
    >>> _change(numbers, {"b": 3, "c": 4}), numbers, _change(numbers, {"c": 4, "b": 3})
    (True, {'b': 3, 'c': 4}, False)
    """
    ordered = [*[k for k in obj if k in wanted], *[k for k in wanted if k not in obj]]
    if not all(map(same, ordered, wanted)):
        return False
    for k in [k for k in obj if k not in wanted]:
        del obj[k]
    for k, v in wanted.items():
        if obj.get(k, MISSING) is not v:
            obj[k] = v
    return True


def _set_attribute(obj: Any, name: str, value: Any) -> None:
    """An attribute in the object's own dictionary; a class that watches its attributes is told."""
    if isinstance(obj, type) or getattr(type(obj), "__watched__", False):
        if value is not MISSING:
            setattr(obj, name, value)
        elif name in vars(obj):
            delattr(obj, name)
    elif value is MISSING:
        vars(obj).pop(name, None)
    else:
        vars(obj)[name] = value
