"""One capture in progress: which tensors from outside were read, what was changed, and how to undo it.

A change is made for real, so that whatever runs next sees it, and is written into a log. A branch undoes its changes
when it is done, and the other branch begins where it began; at the end of the capture everything is undone.
"""

from __future__ import annotations

import threading
from array import array
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import CellType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from mycelia.capture.convert import Converted, conversion, convertible
from mycelia.capture.guards import Guards, observable
from mycelia.capture.world import Unstageable, World
from mycelia.ir import Region, Value, fresh_params, innermost, located
from mycelia.types import type_of

MISSING = object()
STATEFUL = (deque, bytearray, array)  # containers that may not be used up or changed
ORDINARY = frozenset(("__init__", "__new__", "__call__", "__repr__", "__str__", "__setattr__", "__delattr__"))


class Slot:
    """A place that a program can change: read it, write it. Two slots for the same place are equal."""

    def read(self) -> Any:
        raise AssertionError("every slot says how")

    def write(self, value: Any) -> None:
        raise AssertionError("every slot says how")


@dataclass(frozen=True, eq=False)
class TensorSlot(Slot):
    """What a tensor holds."""

    world: World
    tensor: Any

    @property
    def key(self) -> tuple[Any, ...]:
        return "tensor", id(self.tensor)

    def read(self) -> Any:
        return self.world.read(self.tensor)

    def write(self, value: Any) -> None:
        self.world.write(self.tensor, value)

    def content(self) -> Any:
        """A tensor with what is held now."""
        return self.world.wrap(self.world.value(self.tensor))

    def fill(self, content: Any) -> None:
        """Hold what another tensor holds."""
        self.world.hold(self.tensor, self.world.value(content))

    def __str__(self) -> str:
        return getattr(self.tensor, "name", "a tensor")


@dataclass(frozen=True, eq=False)
class AttributeSlot(Slot):
    """An attribute of an object."""

    owner: Any
    name: str

    @property
    def key(self) -> tuple[Any, ...]:
        return "attribute", id(self.owner), self.name

    def read(self) -> Any:
        return self.owner.__dict__.get(self.name, MISSING) if hasattr(self.owner, "__dict__") else self._slotted()

    def _slotted(self) -> Any:
        return getattr(self.owner, self.name, MISSING)

    def write(self, value: Any) -> None:
        if value is MISSING:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, value)

    content = read
    fill = write

    def __str__(self) -> str:
        return f"{type(self.owner).__name__}.{self.name}"


@dataclass(frozen=True, eq=False)
class VariableSlot(Slot):
    """A variable that an inner function assigns to."""

    cell: CellType
    name: str

    @property
    def key(self) -> tuple[Any, ...]:
        return "variable", id(self.cell)

    def read(self) -> Any:
        return self.cell.cell_contents

    def write(self, value: Any) -> None:
        self.cell.cell_contents = value

    content = read
    fill = write

    def __str__(self) -> str:
        return f"`{self.name}`"


@dataclass(frozen=True, eq=False)
class ItemsSlot(Slot):
    """All that a list, dictionary or set holds."""

    container: Any

    @property
    def key(self) -> tuple[Any, ...]:
        return "items", id(self.container)

    def read(self) -> Any:
        return self.container.copy()

    def write(self, value: Any) -> None:
        self.container.clear()
        (self.container.extend if isinstance(self.container, list) else self.container.update)(value)

    content = read
    fill = write

    def __str__(self) -> str:
        return f"a {type(self.container).__name__}"


@dataclass
class Stage:
    """A capture in progress."""

    world: World
    guards: Guards = field(default_factory=Guards)
    lifted: list[tuple[Any, Any, Value]] = field(default_factory=list)  # tensor, what it held, the parameter
    known: set[int] = field(default_factory=set)  # the ids of those tensors
    log: list[tuple[Any, Any]] = field(default_factory=list)  # slot, what was there before
    inside: dict[int, Any] = field(default_factory=dict)  # objects that this capture made
    outside: dict[int, Any] = field(default_factory=dict)  # containers from outside
    functions: dict[int, Any] = field(default_factory=dict)  # whose outside reads are guarded
    snapshots: dict[int, Any] = field(default_factory=dict)
    depth: int = 0  # how many branches and loops are around
    calls: list[Any] = field(default_factory=list)  # the functions that are being called, for recursion
    tries: int = 0  # how many `try` and `with` blocks are around

    @property
    def region(self) -> Region:
        """Where what happens now is written down: the whole program, or a way or loop inside it."""
        here = innermost()
        assert here is not None, "a capture is a region"
        return here

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Inside the block, an error would be caught."""
        self.tries += 1
        try:
            yield
        finally:
            self.tries -= 1

    def may_raise(self) -> None:
        """Something is written down that may raise when the program runs."""
        if self.tries:
            raise Unstageable("an error that the program raises would have to be caught here")

    # ------------------------------------------------------------------------------------------------------- reading

    def symbolic(self, x: Any) -> bool:
        """Whether `x` is a tensor whose numbers are not known yet."""
        if not isinstance(x, self.world.tensor):
            return False
        data = self.world.data(x)
        return data.__class__ is Value and not data.closed

    def is_itself(self, x: Any) -> bool:
        """Whether `x` is a tensor that somebody outside knows: another with the same numbers cannot take its place."""
        return id(x) in self.known or isinstance(x, self.world.parameter)

    def lift(self, x: Any) -> Value:
        """The value that stands for a tensor from outside, which holds it from now until the end of the capture."""
        data = self.world.data(x)
        if data.__class__ is Value:
            return data
        with located(None):
            (param,) = fresh_params((type_of(data),))
        self.lifted.append((x, self.world.read(x), param))
        self.known.add(id(x))
        self.world.hold(x, param)
        return param

    def observe(self, value: Any) -> None:
        """Something came from outside: tensors in it become inputs, and its containers must not be changed."""
        if isinstance(value, self.world.tensor):
            self.lift(value)
        elif isinstance(value, list | tuple | dict | set | MappingProxyType):
            if id(value) not in self.outside:
                self.outside[id(value)] = value
                for part in value if isinstance(value, list | tuple | set) else value.values():
                    self.observe(part)
        elif isinstance(value, STATEFUL) or hasattr(type(value), "__next__"):
            self.outside[id(value)] = value
            for part in value if isinstance(value, deque) else ():
                self.observe(part)
        elif isinstance(value, MethodType) and not isinstance(value.__self__, ModuleType):
            self.observe(value.__self__)
        elif id(value) not in self.snapshots and (methods := special_methods(type(value))):  # type: ignore[arg-type]  # classes are hashable
            self.snapshot(value)  # Python calls these by itself, so that nobody sees what they read
            for fn, made in methods:
                self.enter(fn, made, nested=False)

    def enter(self, fn: FunctionType, made: Converted, nested: bool) -> None:
        """What a function reads outside is guarded: its globals, and the variables around it unless they are ours."""
        if id(fn) in self.functions:
            return
        self.functions[id(fn)] = fn  # keeps the id from being used again
        if nested:
            self.inside[id(fn)] = fn
        for name in made.globals:
            self.guards.of_global(fn.__globals__, name)
            self.observe(fn.__globals__.get(name))
        if not nested:
            for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
                self.enter_cell(cell, name)
            self.guards.of_attribute(fn, "__defaults__", fn.__defaults__)
            self.guards.of_attribute(fn, "__kwdefaults__", fn.__kwdefaults__)
            for default in (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()):
                self.observe(default)

    def enter_cell(self, cell: CellType, name: str) -> None:
        try:
            content = cell.cell_contents
        except ValueError:
            return
        self.guards.of_cell(cell, name)
        self.observe(content)

    def snapshot(self, obj: Any) -> None:
        """A library object is about to run: all its attributes count as read, and those of the objects in it."""
        if id(obj) in self.snapshots or id(obj) in self.inside or not hasattr(obj, "__dict__"):
            return
        self.snapshots[id(obj)] = obj
        written = self.written()
        for name, value in list(obj.__dict__.items()):
            if ("attribute", id(obj), name) in written:
                continue
            self.guards.of_attribute(obj, name, value)
            self.observe(value)
            self._within(value)

    def _within(self, value: Any) -> None:
        if isinstance(value, list | tuple | set):
            for part in value:
                self._within(part)
        elif isinstance(value, dict | MappingProxyType):
            self._within(list(value.values()))
        elif hasattr(value, "__captured__"):  # what we keep about a compiled function is no part of the program
            self._within(value.__captured__)
        elif _runs(value) and not isinstance(value, self.world.tensor | type | ModuleType | FunctionType):
            self.snapshot(value)

    def attribute(self, obj: Any, name: str, value: Any) -> None:
        """An attribute of an object was read."""
        if id(obj) in self.inside or ("attribute", id(obj), name) in self.written():
            return
        if isinstance(obj, ModuleType) and not observable(obj):
            return
        self.guards.of_attribute(obj, name, value)
        self.observe(value)

    def missing(self, obj: Any, name: str) -> None:
        """An attribute of an object was asked for and not there."""
        if id(obj) not in self.inside and ("attribute", id(obj), name) not in self.written():
            self.guards.of_missing(obj, name)

    # ------------------------------------------------------------------------------------------------------ changing

    def written(self) -> set[tuple[Any, ...]]:
        """The places that this capture has changed so far."""
        return {slot.key for slot, _ in self.log}

    def changing(self, slot: Any) -> None:
        """A place is about to be changed."""
        self.log.append((slot, slot.read()))

    def changing_tensor(self, x: Any) -> None:
        """A tensor is about to hold something else."""
        self.lift(x)
        self.changing(TensorSlot(self.world, x))

    def changed_since(self, mark: int) -> list[Any]:
        """The places that were changed since the log had this length, each once."""
        return list({slot.key: slot for slot, _ in self.log[mark:]}.values())

    def before(self, slot: Any) -> Any:
        """What a place that was changed held before the capture."""
        return next(held for other, held in self.log if other.key == slot.key)

    def undo(self, mark: int) -> None:
        """Everything as it was when the log had this length."""
        for slot, before in reversed(self.log[mark:]):
            slot.write(before)
        del self.log[mark:]

    def close(self) -> None:
        """Everything as it was before the capture."""
        self.undo(0)
        for x, before, param in reversed(self.lifted):
            if self.world.data(x) is param:  # else another thread has made it hold something new
                self.world.write(x, before)


def _runs(value: Any) -> bool:
    """Whether an object is one of ours, or a cell: library code may run it."""
    return type(value).__module__.startswith("mycelia") or hasattr(value, "construct")


@lru_cache(maxsize=4096)
def special_methods(cls: type) -> tuple[tuple[FunctionType, Converted], ...]:
    """The methods that a user wrote for operators, lengths, items and the like, with what they read.

    >>> special_methods(int)
    ()
    """
    named = {name: f for c in reversed(cls.__mro__) for name, f in vars(c).items()}
    own = [f for n, f in named.items() if n[:2] == "__" == n[-2:] and n not in ORDINARY and convertible(f)]
    return tuple((f, made) for f in own if (made := conversion(f.__code__)) is not None)


class _Current(threading.local):
    stage: Stage | None = None


_current = _Current()


def current() -> Stage | None:
    """The capture that this thread is in."""
    return _current.stage


@contextmanager
def staging(stage: Stage) -> Iterator[Stage]:
    """Inside the block this thread captures. Captures do not nest: what runs inside one belongs to it."""
    assert _current.stage is None, "captures do not nest"
    _current.stage = stage
    try:
        yield stage
    finally:
        _current.stage = None
        stage.close()
