"""Guards: the first reads of a capture, replayed. As Python code, since they run at every call.

Objects have numbers in the order in which they were met: a new number must be a new object, an old one the same. This
is the exact alias pattern; only classes, modules and built-in functions are known by identity.

Mostly the objects behind a function are those that the capture has met: its globals, the cells of its closure, layers
and parameters. So a guard first expects these very ones, which saves to look at what such an object can never change;
where it finds another one, the guard that follows the pattern decides (`Otherwise`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence, Set
from gc import get_referents
from itertools import groupby
from operator import is_
from types import CodeType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from mycelia.capture.guard_text import LONG, GuardText
from mycelia.capture.holding import Gone, Weak, held, lasts, there
from mycelia.capture.slots import CONTENTS, DATA, ITEMS, MAPPINGS, Slot, contents, fetch, pairs
from mycelia.capture.values import EXACT, MISSING, Break, HostNumber, same
from mycelia.capture.world import (
    Array,
    Check,
    Compute,
    Content,
    KnownTuple,
    Measure,
    NotANumber,
    NumberInput,
    Object,
    Pinned,
    Read,
    SameValue,
    Varying,
    World,
)
from mycelia.eager import Tensor
from mycelia.eager.convert import scalar
from mycelia.runtime.seen import Classes, Seen, identities
from mycelia.sizes import Sym, is_static

Found = tuple[Sequence[Any], Sequence[Any], list[Any], Any]  # objects by number, computed numbers, inputs, sizes


MUTABLE = 1 << 9  # the flag of classes that are made by a statement: their objects may get another one
LISTED = (list, dict, MappingProxyType)  # an ordered dictionary may get another order
FINAL = frozenset(((FunctionType, "__closure__"), (FunctionType, "__globals__"), (MethodType, "__func__"),
                   (MethodType, "__self__"), (staticmethod, "__func__"), (classmethod, "__func__"), (property, "fget"),
                   (property, "fset"), (property, "fdel")))  # fmt: skip  # fields that nobody can set
SETTLED_KINDS = frozenset((  # functions of numbers whose result is of one kind, if the numbers are
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.neg,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, int, float, bool, abs,
))  # fmt: skip
SETTLED: set[CodeType] = set()  # of functions that our library makes: nobody sets their variables, once they are made


class Writer(GuardText):
    """The text of one guard. With `otherwise`, it expects the objects that were met, and asks that one about others."""

    def __init__(self, world: World, otherwise: Otherwise | None = None) -> None:
        self.world, self.exact = world, otherwise is not None
        super().__init__({
            "MISSING": MISSING, "NOTHING": (), "same": same, "fetch": fetch, "pairs": pairs, "contents": contents,
            "ndarray": np.ndarray, "scalar": scalar, "Break": Break, "equal_bytes": equal_bytes, "there": there,
            "otherwise": otherwise, "identities": identities, "keys": dict.keys, "values": dict.values, "id": id,
            "referents": get_referents,
        })  # fmt: skip
        self.met = {0}
        self.tuples: set[int] = set()
        self.same: set[int] = set()  # objects that are the same ones at each call
        self.fixed: dict[int, str] = {}  # names of those that last
        self.how: dict[int, tuple[int | str, str]] = {}  # where others are found that nobody has asked for yet
        self.settled: set[int] = set()  # cells that hold what they held
        self.classes: list[Object] = []  # objects that are the same ones, and may have changed their class
        self.dicts: set[int] = set()
        self.proxies: dict[int, Any] = {}  # of classes
        self.held: list[Array] = []  # arrays of tensors that are no arguments: they come again
        self.nans: set[int] = set()
        self.sizes: dict[Any, int] = {}
        self.waiting: dict[int, Any] = {}  # tensors that are to be compared with those that were met
        self.afterwards: list[tuple[int, int]] = []  # inputs that are their data

    def compare(self) -> None:
        """Expect the tensors that wait for it to be the very ones that were met, all at once; and read their data."""
        if self.waiting:
            wanted, self.waiting = self.waiting, {}
            names = self.tuple_of({f"o{n}": f"o{n}" for n in wanted})
            self.unless_other(f"identities({names}) != {self.identities(list(wanted.values()))}")
        if len(self.afterwards) >= LONG:
            self.tuple_of({f"i{i}": f"o{n}._data" for i, n in self.afterwards})
        else:
            for i, n in self.afterwards:
                self.write(f"i{i} = o{n}._data")
        self.afterwards.clear()

    def known_as(self, number: int) -> str:
        """The name of an object; from now on it has one."""
        if number in self.waiting:
            self.compare()
        if number in self.fixed:
            return self.fixed[number]
        if number in self.how:
            base, rest = self.how.pop(number)
            self.write(f"o{number} = {base if isinstance(base, str) else self.known_as(base)}{rest}")
        return f"o{number}"

    def read(self, step: Read) -> None:
        slot = step.slot
        if self.is_final(step.parent, slot) and self.follows(step.expect):
            rest = ".cell_contents" if slot == CONTENTS else f".{slot[1]}"
            self.settle(step.expect, self.is_settled(step.parent), step.parent, rest)
        elif slot[0] == "constant":
            self.reached(step)
        elif self.same_tuple(step) or self.same_members(step):
            pass
        elif slot[0] == "copied":
            assert isinstance(step.expect, Array), "an array is copied"
            self.array(self.known_as(step.parent), step.expect, copied=True)
        elif slot[0] == "itself":
            assert isinstance(step.expect, Content), "an array is looked into"
            self.unless(f"not equal_bytes({self.known_as(step.parent)}, {self.name(step.expect.array)})")
        elif slot[0] in ("attr", "key") and isinstance(step.expect, SameValue) and step.expect.value is MISSING:
            mapping = self.mapping(step.parent, slot[0])
            if mapping is not None:
                self.unless(f"{slot[1]!r} in {mapping}")
        elif slot == DATA and isinstance(step.expect, Array) and is_static(step.expect.type.shape) \
                and not self.is_given(step.parent):  # fmt: skip
            if step.parent in self.waiting:
                self.afterwards.append((step.expect.input, step.parent))
            else:
                self.write(f"i{step.expect.input} = {self.known_as(step.parent)}._data")
            self.held.append(step.expect)
        elif slot == CONTENTS and not (isinstance(step.expect, SameValue) and step.expect.value is MISSING):
            self.expect(f"{self.known_as(step.parent)}.cell_contents", step.expect)  # an empty cell ends the guard
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
        if not self.exact or parent not in self.same:
            return False
        if slot[0] == "field":
            kind, code = (type(self.world.objects[parent]), slot[1]), slot[1] == "__code__"
            return kind in FINAL or (code and self.is_settled(parent))
        return slot == CONTENTS and parent in self.settled

    def follows(self, expect: Any) -> bool:
        """Whether all that is expected is known, if only it is the same."""
        if isinstance(expect, KnownTuple):
            return all(map(self.follows, expect.parts))
        return isinstance(expect, SameValue | Object)

    def reached(self, step: Read) -> None:
        """A class, a module or a thing of ours that is reached by name."""
        assert isinstance(step.expect, Object), "what is reached by name is an object"
        thing, number = step.slot[1], step.expect.number
        if thing is None or (type(thing) is not Weak and held(thing) is None):
            raise Gone  # it cannot be known
        self.met.add(number)
        self.same.add(number)
        if type(thing) is not Weak and lasts(thing):
            self.fixed[number] = self.name(thing)
        else:
            thing = there(thing)
            self.identity(thing)
            self.write(f"o{number} = {self.name(Weak(thing))}()")

    def same_tuple(self, step: Read) -> bool:
        """Expect a tuple of the very things that were met, if there is one: all are compared at once."""
        nest = step.expect
        if not self.exact or not isinstance(nest, KnownTuple) or not nest.parts or not self.is_exact(step.parent):
            return False
        is_mro = step.slot == ("field", "__mro__")
        if not is_mro and nest.number is None:
            return False
        things = self.things(nest.parts)
        if things is None:
            return False
        if is_mro:
            found = fetch(self.world.objects[step.parent], step.slot)
            if len(found) != len(things) or not all(map(is_, found, things)):
                return False
            if all(map(lasts, things)):
                self.unless_other(f"{self.source(step.parent, step.slot)} is not {self.name(found)}")
                return True
        wanted = self.identities(things)
        if wanted is None:
            return False
        t = self.temporary()
        self.write(f"{t} = {self.source(step.parent, step.slot)}")
        if not is_mro:
            self.unless(self.is_not(f"{t}.__class__", nest.kind))
        self.unless_other(f"identities({t}) != {wanted}")
        self.settle(nest, False, t, "")
        return True

    def things(self, parts: Sequence[Any]) -> list[Any] | None:
        """The very things that are expected; None if there are others among them."""
        if not all(isinstance(part, SameValue | Object) for part in parts):
            return None
        return [part.value if isinstance(part, SameValue) else self.world.objects[part.number] for part in parts]

    def same_members(self, step: Read) -> bool:
        """Expect a container of the very things that were met, if it is long: all are compared at once."""
        nest = step.expect
        if not self.exact or step.slot != ITEMS or not isinstance(nest, KnownTuple) or not self.is_exact(step.parent):
            return False
        kind = type(self.world.objects[step.parent])
        if kind not in LISTED or len(nest.parts) < LONG:
            return False
        if any(isinstance(p, SameValue) and type(p.value) is not str for p in nest.parts):
            return False  # numbers are compared by value
        things = self.things(nest.parts)
        if things is None:
            return False
        o, n = self.known_as(step.parent), 1 if kind is list else 2
        if kind is MappingProxyType:  # what it is a view of stays the same, but may be of any class
            o = self.temporary()
            self.write(f"{o} = referents({self.known_as(step.parent)})[0]")
            self.unless(f"type({o}) is not dict")
        sources = (o,) if kind is list else (f"keys({o})", f"values({o})")
        wanted = [self.identities(things[i::n]) for i in range(n)]
        if None in wanted:
            return False
        for i, source in enumerate(sources):
            t = self.temporary()
            self.write(f"{t} = tuple({source})")
            self.unless_other(f"identities({t}) != {wanted[i]}")
            self.unpack(nest.parts[i::n], t)
        return True

    def unpack(self, parts: Sequence[Any], t: str) -> None:
        """Know the objects in a tuple, which are the very ones that were met, by their names."""
        names: list[str] = []
        for part in parts:
            new = isinstance(part, Object) and part.number not in self.met
            self.settle(part, False, t, f"[{len(names)}]")
            names.append(f"o{part.number}" if new and self.how.pop(part.number, None) is not None else "_")
        if any(name != "_" for name in names):
            self.write(f"{', '.join(names)}, = {t}")

    def settle(self, expect: Any, ours: bool, base: int | str, rest: str) -> None:
        """Know the objects of a slot that holds what it held, and where they are found."""
        if isinstance(expect, KnownTuple):
            if expect.number is not None:
                self.tuples.add(expect.number)
                self.how[expect.number] = base, rest
            for i, part in enumerate(expect.parts):
                self.settle(part, ours, base, f"{rest}[{i}]")
        elif isinstance(expect, Object) and expect.number in self.met:
            if expect.number not in self.same:
                found = base if isinstance(base, str) else self.known_as(base)
                self.unless(f"{found}{rest} is not {self.known_as(expect.number)}")
        elif isinstance(expect, Object):
            self.meet(expect, base, rest)
            if ours:
                self.settled.add(expect.number)

    def meet(self, expect: Object, base: int | str, rest: str) -> None:
        """An object is the very one that was met."""
        self.met.add(expect.number)
        self.same.add(expect.number)
        thing = self.world.objects[expect.number]
        if lasts(thing):
            self.fixed[expect.number] = self.name(thing)
        else:
            self.how[expect.number] = base, rest
        if expect.type.__flags__ & MUTABLE:  # it may have got another class; not one of Python's own
            self.classes.append(expect)

    def source(self, parent: int, slot: Slot) -> str:
        """An expression for what a slot holds now."""
        kind, name = slot
        if kind in ("attr", "key"):
            mapping = self.mapping(parent, kind)
            return f"{mapping}[{name!r}]" if mapping is not None else "MISSING"
        o = self.known_as(parent)
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
            return f"pairs({o})" if self.world.kind(parent) in MAPPINGS else f"tuple({o})"
        if kind == "contents":
            return f"contents({o})"
        return f"fetch({o}, {self.name(slot)})"

    def mapping(self, parent: int, kind: str) -> str | None:
        """An expression for what holds the attributes or variables of an object: a key that is missing ends a guard."""
        if kind == "key":
            return self.known_as(parent) if self.world.kind(parent) is dict else None
        if parent in self.fixed and isinstance(cls := self.known[self.fixed[parent]], type):
            if id(cls) not in self.proxies:
                self.proxies[id(cls)] = cls.__dict__
            return self.name(self.proxies[id(cls)])
        if parent not in self.dicts:
            self.dicts.add(parent)
            self.write(f"d{parent} = {self.known_as(parent)}.__dict__")
        return f"d{parent}"

    def expect(self, source: str, expect: Any) -> None:
        if isinstance(expect, SameValue):
            self.constant(source, there(expect.value))
        elif isinstance(expect, Object):
            self.object(source, expect)
        elif isinstance(expect, Array):
            self.array(source, expect)
        elif isinstance(expect, NotANumber):
            self.not_a_number(source, expect.step)
        elif isinstance(expect, Varying):
            self.write(f"h{expect.step} = {source}")
            self.unless(f"h{expect.step}.__class__ is not {self.name(expect.type)}")
        elif isinstance(expect, KnownTuple) and not expect.parts and expect.kind is tuple:
            self.unless(f"{source} is not NOTHING")
        elif isinstance(expect, KnownTuple):
            t = self.temporary()
            self.write(f"{t} = {source}")
            kind = there(expect.kind)
            other = f"{t}.__class__ is not tuple" if kind is tuple else self.is_not(f"{t}.__class__", kind)
            self.unless(f"{other} or len({t}) != {len(expect.parts)}")
            if expect.number is not None:
                self.write(f"o{expect.number} = {t}")
                self.tuples.add(expect.number)
            for i, part in enumerate(expect.parts):
                self.expect(f"{t}[{i}]", part)
        else:
            raise AssertionError(f"nobody expects {expect}")

    def constant(self, source: str, value: Any) -> None:
        if type(value) not in EXACT:
            self.unless(self.is_not(source, value))
            return
        wanted = self.name(value)
        if type(value) is bool:
            self.unless(f"{source} is not {value}")
        elif type(value) in (int, str, bytes) or (type(value) is float and value and value == value):
            self.write(f"t = {source}")
            self.unless(f"t is not {wanted} and (t.__class__ is not {self.name(type(value))} or t != {wanted})")
        else:
            self.unless(f"not same({source}, {wanted})")

    def not_a_number(self, source: str, step: int) -> None:
        """A nan: the one that was there before, or another one."""
        if step in self.nans:
            self.unless(f"{source} is not h{step}")
            return
        self.write(f"h{step} = {source}")
        self.unless(" or ".join([f"h{step}.__class__ is not float or h{step} == h{step}",
                                 *[f"h{step} is h{n}" for n in sorted(self.nans)]]))  # fmt: skip
        self.nans.add(step)

    def object(self, source: str, expect: Object) -> None:
        if expect.number in self.met:
            self.unless(f"{source} is not {self.known_as(expect.number)}")
            return
        if self.is_exact(expect.number) and held(thing := self.world.objects[expect.number]) is not None:
            if lasts(thing):
                self.unless_other(self.is_not(source, thing))
            elif isinstance(thing, Tensor):
                self.write(f"o{expect.number} = {source}")
                self.waiting[expect.number] = thing
            else:
                self.unless_other(self.is_not(f"o{expect.number} := {source}", thing))
            self.meet(expect, "", "")
            self.how.pop(expect.number, None)
            return
        self.met.add(expect.number)
        self.write(f"o{expect.number} = {source}")
        self.unless(self.is_not(f"type(o{expect.number})", there(expect.type)))

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
            if step.function not in SETTLED_KINDS:
                self.unless(f"h{step.step}.__class__ is not {self.name(step.kind)}")
        elif isinstance(step, Measure):
            known = ", ".join(f"{self.name(name)}: n{self.sizes[name]}" for name in step.size.names())
            self.write(f"h{step.step} = {self.name(step.size)}.at({{{known}}})")
        elif isinstance(step, Pinned):
            if step.number not in self.same:
                self.unless(self.is_not(self.known_as(step.number), there(step.thing)))
        elif isinstance(step, Check):
            self.constant(f"h{step.step}", step.value)
        else:
            assert isinstance(step, NumberInput), f"{step} is no guard"
            self.write(f"i{step.input} = scalar(h{step.step}, {self.name(step.type.dtype.numpy)})")

    def different(self) -> None:
        """Objects with different numbers are different: those of one type might not be."""
        groups: dict[type, list[int]] = {}
        for n in sorted(self.met - {0}):
            groups.setdefault(self.world.kind(n), []).append(n)
        for group in groups.values():
            moving = [n for n in group if n not in self.same]
            names = [self.known_as(n) for n in moving]
            if len(moving) == 2:
                self.unless(f"{names[0]} is {names[1]}")
            elif len(moving) > 2:
                self.unless(f"len(set(map(id, ({', '.join(names)})))) != {len(moving)}")
            others = [there(self.world.objects[n]) for n in group if n in self.same] if moving else []
            if others:
                there_before = self.name(frozenset(map(self.lasting_identity, others)))
                self.unless(" or ".join(f"id({name}) in {there_before}" for name in names))

    def lasting_identity(self, thing: Any) -> int:
        """The identity of an object that is there; one without weak references is held by one that is watched."""
        return id(thing) if held(thing) is None else self.identity(thing)

    def objects(self, needed: Set[int]) -> str:
        """The objects by number that a program asks for."""
        found: list[str] = []
        for asked, run in groupby(range(len(self.world.objects)), lambda n: n in needed):
            numbers = list(run)
            if asked:
                names = [self.known_as(n) if n in self.met or n in self.tuples else "None" for n in numbers]
                found.append(self.listed(names))
            else:
                found.append(f"*{self.name((None,) * len(numbers))}")
        return ", ".join(found)

    def of_their_classes(self) -> None:
        """Expect objects that are the same ones to be of the same classes."""
        if not self.classes:
            return
        names = [self.known_as(x.number) for x in self.classes]  # from now on the guard holds them
        expected = self.identities([x.type for x in self.classes])
        objects = [self.world.objects[x.number] for x in self.classes]
        if Classes.tells and all(id(x) in self.watched for x in objects):
            self.unless_other(f"not {self.name(Classes(objects, [x.type for x in self.classes]))}()")
        else:
            self.unless_other(f"identities(tuple(map(type, ({', '.join(names)},)))) != {expected}")

    def compiled(self, inputs: Sequence[int], needed: Set[int]) -> Callable[[Any], Found | None]:
        for step in self.world.reads:
            self.step(step)
        self.compare()
        self.different()
        self.of_their_classes()
        if self.held:
            kept = ArrayTypes([(x.type.dtype.numpy, x.type.shape) for x in self.held])
            arrays = self.listed([f"i{x.input}" for x in self.held])
            alone = arrays.startswith("*") and "," not in arrays
            self.unless(f"not {self.name(kept)}({arrays[1:] if alone else f'({arrays},)'})")
        sizes = ", ".join(f"{self.name(size)}: n{i}" for size, i in self.sizes.items())
        if sizes:
            self.write(f"sizes = {{{sizes}}}")
            scope = next(iter(self.sizes)).scope
            self.unless(f"not {self.name(scope)}.holds(sizes)")
        objects = self.objects(needed)
        hosts = ", ".join(f"h{n}" for n in range(self.world.steps))
        given = self.listed([f"i{n}" for n in inputs])
        if self.watched:
            self.unless_other("dead") if self.exact else self.unless("dead")
        self.write(f"return ({objects},), ({hosts}{',' if hosts else ''}), [{given}], {'sizes' if sizes else None}")
        text = "\n".join(["def guard(o0):", "  try:", *self.lines, "  except (Exception, Break):", "    return None"])
        exec(compile(text, "<guards>", "exec"), self.known)
        return self.known["guard"]  # type: ignore[no-any-return]


def _never(root: Any) -> None:
    """A guard that knows of something that cannot come again."""


class ArrayTypes:
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

    def __init__(self, world: World, inputs: Sequence[int], needed: Set[int]) -> None:
        self.world, self.inputs, self.needed = world, inputs, needed
        self.guard: Callable[[Any], Found | None] | None = None

    def __call__(self, root: Any) -> Found | None:
        if self.guard is None:
            self.guard = written(Writer(self.world), self.inputs, self.needed)
        return self.guard(root)


def written(writer: Writer, inputs: Sequence[int], needed: Set[int]) -> Callable[[Any], Found | None]:
    """A guard, of which something may be gone already."""
    try:
        return writer.compiled(inputs, needed)
    except Gone:
        return _never


def guard_of(world: World, inputs: Sequence[int], needed: Set[int]) -> Callable[[Any], Found | None]:
    """The guard of a capture: None where it does not hold, else the objects that are `needed`, by number, the numbers
    and the inputs of the program. The capture lets go of what it has met.
    """
    read = {r.parent for r in world.reads if isinstance(r, Read) and isinstance(r.expect, Array)}
    tensors = {n for n, x in enumerate(world.objects) if isinstance(x, Tensor)}
    needed = frozenset({0, *needed, *read, *tensors})
    guard = written(Writer(world, Otherwise(world, inputs, needed)), inputs, needed)
    world.release()
    return guard


def equal_bytes(array: Any, copy: np.ndarray[Any, Any]) -> bool:
    """Whether an array holds the same bytes.

    >>> equal_bytes(np.zeros(1), np.zeros(1)), equal_bytes(np.zeros(1), -np.zeros(1))
    (True, False)
    """
    if type(array) is not np.ndarray or array.dtype != copy.dtype or array.shape != copy.shape:
        return False
    return array.tobytes() == copy.tobytes()
