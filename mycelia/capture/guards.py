"""Guards: the first reads of a capture, replayed. As Python code, since they run at every call.

Objects have numbers in the order in which they were met: a new number must be a new object, an old one the same. This
is the exact alias pattern; only classes, modules and built-in functions are known by identity.

Mostly the objects behind a function are those that the capture has met: its globals, the cells of its closure, layers
and parameters. So a guard first expects these very ones, which saves to look at what such an object can never change;
where it finds another one, the guard that follows the pattern decides (`Otherwise`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from gc import get_referents
from itertools import groupby
from operator import is_
from types import CodeType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from mycelia.capture.slots import CONTENTS, DATA, ITEMS, MAPPINGS, Slot, contents, fetch, member, pairs
from mycelia.capture.values import EXACT, MISSING, Break, HostNumber, same
from mycelia.capture.world import (
    Array,
    Check,
    Compute,
    Constant,
    Content,
    Given,
    Measure,
    Nest,
    Object,
    Pinned,
    Read,
    Varying,
    World,
)
from mycelia.eager.convert import scalar
from mycelia.runtime.seen import Seen, identities
from mycelia.sizes import Sym, is_static

Found = tuple[Sequence[Any], Sequence[Any], list[Any], Any]  # objects by number, computed numbers, inputs, sizes


TOGETHER = 64  # conditions in one line
LONG = 8  # members of a container that are compared at once
MUTABLE = 1 << 9  # the flag of classes that are made by a statement: their objects may get another one
LISTED = (list, dict, MappingProxyType)  # an ordered dictionary may get another order
FINAL = frozenset(((FunctionType, "__closure__"), (FunctionType, "__globals__"), (MethodType, "__func__"),
                   (MethodType, "__self__"), (staticmethod, "__func__"), (classmethod, "__func__"), (property, "fget"),
                   (property, "fset"), (property, "fdel")))  # fmt: skip  # fields that nobody can set
SETTLED: set[CodeType] = set()  # of functions that our library makes: nobody sets their variables, once they are made


class Writer:
    """The text of one guard. With `otherwise`, it expects the objects that were met, and asks that one about others."""

    def __init__(self, world: World, otherwise: Otherwise | None = None) -> None:
        self.world, self.exact = world, otherwise is not None
        self.known: dict[str, Any] = {
            "MISSING": MISSING, "NOTHING": (), "same": same, "fetch": fetch, "pairs": pairs, "contents": contents,
            "member": member, "ndarray": np.ndarray, "scalar": scalar, "Break": Break, "equal_bytes": equal_bytes,
            "otherwise": otherwise, "identities": identities, "keys": dict.keys,
            "values": dict.values,
        }  # fmt: skip
        self.names: dict[int, str] = {}
        self.lines: list[str] = []
        self.conditions: list[str] = []  # not written yet
        self.then = ""  # what is returned where one of them holds
        self.temporaries = 0
        self.met = {0}
        self.tuples: set[int] = set()
        self.fixed: dict[int, str] = {}  # names of objects that are the same ones at each call
        self.settled: set[int] = set()  # cells that hold what they held
        self.classes: list[Object] = []  # objects that are the same ones, and may have changed their class
        self.dicts: set[int] = set()
        self.proxies: dict[int, Any] = {}  # of classes
        self.held: list[Array] = []  # arrays of tensors that are no arguments: they come again
        self.sizes: dict[Any, int] = {}

    def name(self, value: Any) -> str:
        """A name for a constant, which keeps it alive."""
        if id(value) not in self.names:
            self.names[id(value)] = name = f"k{len(self.names)}"
            self.known[name] = value
        return self.names[id(value)]

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def write(self, line: str) -> None:
        self.flush()
        self.lines.append(f"    {line}")

    def unless(self, condition: str, then: str = "None") -> None:
        """What follows holds if the condition does not. Conditions one after another are one, which compiles sooner."""
        if then != self.then or len(self.conditions) >= TOGETHER:
            self.flush()
        self.conditions.append(condition)
        self.then = then

    def unless_other(self, condition: str) -> None:
        """Where the condition holds, there are other objects than those that were met."""
        self.unless(condition, "otherwise(o0)")

    def flush(self) -> None:
        if self.conditions:
            self.lines.append(f"    if {' or '.join(self.conditions)}: return {self.then}")
            self.conditions = []

    def known_as(self, number: int) -> str:
        """The name of an object."""
        return self.fixed.get(number) or f"o{number}"

    def read(self, step: Read) -> None:
        slot, parent = step.slot, self.known_as(step.parent)
        if self.is_final(step.parent, slot) and self.follows(step.expect):
            self.settle(step.expect, self.is_settled(step.parent))
        elif (held := self.tuple_in(step)) is not None:
            self.unless_other(f"{self.source(step.parent, slot)} is not {self.name(held)}")
            self.settle(step.expect, ours=False)
        elif (found := self.members_of(step)) is not None:
            self.members(self.world.objects[step.parent], found)
            self.settle(step.expect, ours=False)
        elif slot[0] == "copied":
            assert isinstance(step.expect, Array), "an array is copied"
            self.array(parent, step.expect, copied=True)
        elif slot[0] == "itself":
            assert isinstance(step.expect, Content), "an array is looked into"
            self.unless(f"not equal_bytes({parent}, {self.name(step.expect.array)})")
        elif slot[0] in ("attr", "key") and isinstance(step.expect, Constant) and step.expect.value is MISSING:
            mapping = self.mapping(step.parent, slot[0])
            if mapping is not None:
                self.unless(f"{slot[1]!r} in {mapping}")
        elif slot == DATA and isinstance(step.expect, Array) and is_static(step.expect.type.shape) \
                and not self.is_given(step.parent):  # fmt: skip
            self.write(f"i{step.expect.input} = {parent}._data")
            self.held.append(step.expect)
        elif slot == CONTENTS and not (isinstance(step.expect, Constant) and step.expect.value is MISSING):
            self.expect(f"{parent}.cell_contents", step.expect)  # an empty cell ends the guard
        else:
            self.expect(self.source(step.parent, slot), step.expect)

    def is_given(self, number: int) -> bool:
        """Whether an object is an argument, or in one: another one at each call."""
        path = self.world.paths[number]
        return len(path) > 0 and path[0][0] in ("arg", "kwarg")

    def is_exact(self, number: int) -> bool:
        """Whether an object is expected to be the one that was met: it is reached from the function itself."""
        path = self.world.paths[number]
        return self.exact and len(path) > 0 and (path[0] == "constant" or path[0][0] in ("fn", "globals"))

    def is_settled(self, number: int) -> bool:
        """Whether an object is a function of ours whose variables stay what they are."""
        obj = self.world.objects[number]
        return type(obj) is FunctionType and obj.__code__ in SETTLED

    def is_final(self, parent: int, slot: Slot) -> bool:
        """Whether a slot holds what it held, because the object is the one that was met."""
        if not self.exact or parent not in self.fixed:
            return False
        if slot[0] == "field":
            kind, code = (type(self.world.objects[parent]), slot[1]), slot[1] == "__code__"
            return kind in FINAL or (code and self.is_settled(parent))
        return slot == CONTENTS and parent in self.settled

    def follows(self, expect: Any) -> bool:
        """Whether all that is expected is known, if only it is the same."""
        if isinstance(expect, Nest):
            return all(map(self.follows, expect.parts))
        return isinstance(expect, Constant | Object)

    def tuple_in(self, step: Read) -> tuple[Any, ...] | None:
        """The tuple that a slot holds, if it is the one that was met, and always the same."""
        nest = step.expect
        if step.parent not in self.fixed or not isinstance(nest, Nest) or not nest.parts or not self.follows(nest):
            return None
        if nest.number is not None and self.is_exact(nest.number):
            return self.world.objects[nest.number]  # type: ignore[no-any-return]  # that is what a nest stands for
        if step.slot == ("field", "__mro__") and self.exact:
            found: tuple[Any, ...] = fetch(self.world.objects[step.parent], step.slot)
            expected = [p.value if isinstance(p, Constant) else self for p in nest.parts]
            return found if len(found) == len(expected) and all(map(is_, found, expected)) else None
        return None

    def members_of(self, step: Read) -> list[Any] | None:
        """What a container holds, if it is long and of things that are expected to be the same ones."""
        kind, nest = type(self.world.objects[step.parent]), step.expect
        if step.slot != ITEMS or kind not in LISTED or not isinstance(nest, Nest) or len(nest.parts) < LONG:
            return None
        if not self.exact or step.parent not in self.fixed:
            return None
        found = []
        for part in nest.parts:
            if isinstance(part, Object):
                found.append(self.world.objects[part.number])
            elif isinstance(part, Constant) and type(part.value) is str:
                found.append(part.value)
            else:
                return None
        return found

    def members(self, container: Any, known: list[Any]) -> None:
        """Expect these very things in a container: all are compared at once."""
        if type(container) is MappingProxyType:
            (container,) = get_referents(container)  # which is always the same, and was looked at
        name = self.name(container)
        parts = (
            {name: known} if type(container) is list else {f"keys({name})": known[::2], f"values({name})": known[1::2]}
        )
        for source, things in parts.items():
            expected = tuple(things)
            self.name(expected)  # as long as they live, nothing else has their identities
            self.unless_other(f"identities(tuple({source})) != {self.name(identities(expected))}")

    def settle(self, expect: Any, ours: bool) -> None:
        """Know the objects of a slot that holds what it held."""
        if isinstance(expect, Nest):
            if expect.number is not None:
                self.tuples.add(expect.number)
                self.fix(expect.number)
            for part in expect.parts:
                self.settle(part, ours)
        elif isinstance(expect, Object) and expect.number not in self.met:
            self.met.add(expect.number)
            self.fix(expect.number)
            self.keep_class(expect)
            if ours:
                self.settled.add(expect.number)

    def keep_class(self, expect: Object) -> None:
        """An object that is the one that was met may have got another class; not if that is one of Python's own."""
        if expect.type.__flags__ & MUTABLE:
            self.classes.append(expect)

    def fix(self, number: int) -> str:
        """The name of an object that is the one that was met."""
        name = self.fixed[number] = self.name(self.world.objects[number])
        return name

    def source(self, parent: int, slot: Slot) -> str:
        """An expression for what a slot holds now."""
        kind, name = slot
        o = self.known_as(parent)
        if kind in ("attr", "key"):
            mapping = self.mapping(parent, kind)
            return f"{mapping}[{name!r}]" if mapping is not None else "MISSING"
        if kind == "field":
            return f"{o}.{name}"
        if kind == "data":
            return f"{o}._data"
        if kind == "arg":
            return f"{o}.args[{name}]"
        if kind == "kwarg":
            return f"{o}.kwargs[{name!r}]"
        if kind == "fn":
            return f"{o}.fn"
        if kind == "items":
            kind_of = type(self.world.objects[parent])
            return f"pairs({o})" if kind_of in MAPPINGS else f"tuple({o})"
        if kind == "contents":
            return f"contents({o})"
        if kind == "member":
            return f"member({o}, {self.name(name)})"
        if kind == "constant":
            return self.name(name)
        return f"fetch({o}, {self.name(slot)})"

    def mapping(self, parent: int, kind: str) -> str | None:
        """An expression for what holds the attributes or variables of an object: a key that is missing ends a guard."""
        obj = self.world.objects[parent]
        if kind == "key":
            return self.known_as(parent) if type(obj) is dict else None
        if isinstance(obj, type):
            if id(obj) not in self.proxies:
                self.proxies[id(obj)] = obj.__dict__
            return self.name(self.proxies[id(obj)])
        if parent not in self.dicts:
            self.dicts.add(parent)
            self.write(f"d{parent} = {self.known_as(parent)}.__dict__")
        return f"d{parent}"

    def expect(self, source: str, expect: Any) -> None:
        if isinstance(expect, Constant):
            self.constant(source, expect.value)
        elif isinstance(expect, Object):
            self.object(source, expect)
        elif isinstance(expect, Array):
            self.array(source, expect)
        elif isinstance(expect, Varying):
            self.write(f"h{expect.step} = {source}")
            self.unless(f"h{expect.step}.__class__ is not {self.name(expect.type)}")
        elif isinstance(expect, Nest) and not expect.parts and expect.kind is tuple:
            self.unless(f"{source} is not NOTHING")
        elif isinstance(expect, Nest):
            t = self.temporary()
            self.write(f"{t} = {source}")
            kind = "tuple" if expect.kind is tuple else self.name(expect.kind)
            self.unless(f"{t}.__class__ is not {kind} or len({t}) != {len(expect.parts)}")
            if expect.number is not None:
                self.write(f"o{expect.number} = {t}")
                self.tuples.add(expect.number)
            for i, part in enumerate(expect.parts):
                self.expect(f"{t}[{i}]", part)
        else:
            raise AssertionError(f"nobody expects {expect}")

    def constant(self, source: str, value: Any) -> None:
        wanted = self.name(value)
        if type(value) not in EXACT:
            self.unless(f"{source} is not {wanted}")
        elif type(value) is bool:
            self.unless(f"{source} is not {value}")
        elif type(value) in (int, str, bytes) or (type(value) is float and value and value == value):
            self.write(f"t = {source}")
            self.unless(f"t is not {wanted} and (t.__class__ is not {self.name(type(value))} or t != {wanted})")
        else:
            self.unless(f"not same({source}, {wanted})")

    def object(self, source: str, expect: Object) -> None:
        if expect.number in self.met:
            self.unless(f"{source} is not {self.known_as(expect.number)}")
            return
        self.met.add(expect.number)
        if source in self.known:  # a constant
            self.fix(expect.number)
        elif self.is_exact(expect.number):
            self.unless_other(f"{source} is not {self.fix(expect.number)}")
            self.keep_class(expect)
        else:
            self.write(f"o{expect.number} = {source}")
            self.unless(f"type(o{expect.number}) is not {self.name(expect.type)}")

    def array(self, source: str, expect: Array, copied: bool = False) -> None:
        t = f"i{expect.input}"
        self.write(f"{t} = {source}")
        dtype, shape = self.name(expect.type.dtype.numpy), expect.type.shape
        if is_static(shape):
            other = f"({t}.dtype is not {dtype} and {t}.dtype != {dtype})"
            self.unless(f"{t}.__class__ is not ndarray or {other} or {t}.shape != {self.name(shape)}")
        else:
            self.unless(f"{t}.__class__ is not ndarray or {t}.dtype != {dtype} or {t}.ndim != {len(shape)}")
            self.write(f"s{expect.input} = {t}.shape")
            for axis, dim in enumerate(shape):
                self.dimension(f"s{expect.input}[{axis}]", dim)
        if copied:
            self.write(f"{t} = {t}.copy()")

    def dimension(self, source: str, dim: Any) -> None:
        """An extent, which may be a size that the program does not know."""
        if type(dim) is not Sym:
            self.unless(f"{source} != {dim}")
            return
        (size,) = dim.names()
        if size in self.sizes:
            self.unless(f"{source} != n{self.sizes[size]}")
        else:
            self.sizes[size] = len(self.sizes)
            self.write(f"n{self.sizes[size]} = {source}")

    def step(self, step: Any) -> None:
        if isinstance(step, Read):
            self.read(step)
        elif isinstance(step, Compute):
            operands = [f"h{x.step}" if isinstance(x, HostNumber) else self.name(x.value) for x in step.operands]
            self.write(f"h{step.step} = {self.name(step.function)}({', '.join(operands)})")
        elif isinstance(step, Measure):
            known = ", ".join(f"{self.name(name)}: n{self.sizes[name]}" for name in step.size.names())
            self.write(f"h{step.step} = {self.name(step.size)}.at({{{known}}})")
        elif isinstance(step, Pinned):
            self.unless(f"{self.known_as(step.number)} is not {self.name(step.thing)}")
        elif isinstance(step, Check):
            self.constant(f"h{step.step}", step.value)
        else:
            assert isinstance(step, Given), f"{step} is no guard"
            self.write(f"i{step.input} = scalar(h{step.step}, {self.name(step.type.dtype.numpy)})")

    def different(self) -> None:
        """Objects with different numbers are different: those of one type might not be. Mostly they are those that the
        capture has met.
        """
        groups: dict[type, list[int]] = {}
        for n in sorted(self.met):
            groups.setdefault(type(self.world.objects[n]), []).append(n)
        for group in groups.values():
            moving = [n for n in group if n not in self.fixed]
            if moving and len(group) > 1:
                as_met = " and ".join(f"o{n} is {self.name(self.world.objects[n])}" for n in moving)
                names = ", ".join(map(self.known_as, group))
                self.unless(f"not ({as_met}) and len(set(map(id, ({names})))) != {len(group)}")

    def objects(self) -> list[str]:
        """All objects by number, where those that are the same ones at each call are put in together."""
        found: list[str] = []
        for fixed, run in groupby(range(len(self.world.objects)), lambda n: n in self.fixed):
            if fixed:
                found.append(f"*{self.name(tuple([self.world.objects[n] for n in run]))}")
            else:
                found += [f"o{n}" if n in self.met or n in self.tuples else "None" for n in run]
        return found

    def compiled(self, inputs: Sequence[int]) -> Callable[[Any], Found | None]:
        for step in self.world.reads:
            self.step(step)
        objects = ", ".join(self.objects())
        hosts = ", ".join(f"h{n}" for n in range(self.world.steps))
        given = ", ".join(f"i{n}" for n in inputs)
        self.different()
        if self.classes:
            known = self.name(tuple([self.world.objects[x.number] for x in self.classes]))
            expected = self.name(identities(tuple([x.type for x in self.classes])))
            self.unless_other(f"identities(tuple(map(type, {known}))) != {expected}")
        if self.held:
            kept = Kept([(x.type.dtype.numpy, x.type.shape) for x in self.held])
            self.unless(f"not {self.name(kept)}(({', '.join(f'i{x.input}' for x in self.held)},))")
        sizes = ", ".join(f"{self.name(size)}: n{i}" for size, i in self.sizes.items())
        if sizes:
            self.write(f"sizes = {{{sizes}}}")
            scope = next(iter(self.sizes)).scope
            self.unless(f"not {self.name(scope)}.holds(sizes)")
        self.write(f"return ({objects},), ({hosts}{',' if hosts else ''}), [{given}], {'sizes' if sizes else None}")
        text = "\n".join(["def guard(o0):", "  try:", *self.lines, "  except (Exception, Break):", "    return None"])
        exec(compile(text, "<guards>", "exec"), self.known)
        return self.known["guard"]  # type: ignore[no-any-return]


class Kept:
    """Whether arrays have these types; those that were there before have."""

    def __init__(self, types: Sequence[tuple[np.dtype[Any], tuple[int, ...]]]) -> None:
        self.types, self.seen = types, Seen(len(types))

    def __call__(self, arrays: tuple[Any, ...]) -> bool:
        if not (changed := self.seen.changed(arrays)):
            return True
        for i in changed:
            x, (dtype, shape) = arrays[i], self.types[i]
            if x.__class__ is not np.ndarray or x.dtype != dtype or x.shape != shape:
                return False
        self.seen.keep(arrays, changed)
        return True


class Otherwise:
    """The guard that follows the pattern of objects, written when some other object is met."""

    def __init__(self, world: World, inputs: Sequence[int]) -> None:
        self.world, self.inputs = world, inputs
        self.guard: Callable[[Any], Found | None] | None = None

    def __call__(self, root: Any) -> Found | None:
        if self.guard is None:
            self.guard = Writer(self.world).compiled(self.inputs)
        return self.guard(root)


def guard_of(world: World, inputs: Sequence[int]) -> Callable[[Any], Found | None]:
    """The guard of a capture: None where it does not hold, else the objects, numbers and inputs of the program."""
    return Writer(world, Otherwise(world, inputs)).compiled(inputs)


def equal_bytes(array: Any, copy: np.ndarray[Any, Any]) -> bool:
    """Whether an array holds the same bytes.

    >>> equal_bytes(np.zeros(1), np.zeros(1)), equal_bytes(np.zeros(1), -np.zeros(1))
    (True, False)
    """
    if type(array) is not np.ndarray or array.dtype != copy.dtype or array.shape != copy.shape:
        return False
    return array.tobytes() == copy.tobytes()
