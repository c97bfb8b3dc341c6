"""A program: guards, a function of the graph, and what to build and write when it has run."""

from __future__ import annotations

import ast
import functools
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CellType, FunctionType, MethodType, SimpleNamespace
from typing import Any

from mycelia import primitives as p
from mycelia.capture.attributes import Super
from mycelia.capture.holding import held, lasts, there
from mycelia.capture.machine import DictView, Items, Machine, Method
from mycelia.capture.recursion import Interpreter
from mycelia.capture.regions import closed, params_of
from mycelia.capture.registered import all_registered
from mycelia.capture.sharing import Link, known_outside
from mycelia.capture.slots import DATA, ITEMS, Slot, restore
from mycelia.capture.source import definition
from mycelia.capture.statements import FALLS, Exit
from mycelia.capture.texts import LateText, Printing, replaced, said
from mycelia.capture.values import MISSING, POISON, Break, Either, HostNumber, Number, alternatives, is_atom
from mycelia.capture.world import Array as Data
from mycelia.capture.world import World, is_tensor
from mycelia.eager import Tensor
from mycelia.eager.views import linked
from mycelia.frozen import frozen
from mycelia.ir import Function, Param, Value, inner_functions, tells_sizes
from mycelia.sizes import Name, Sym, comes_from_data
from mycelia.types import int64

Key = tuple[int, Slot]
REPEATED = 20_000  # values that are written again: more would take a compiler minutes


@frozen
class Result:
    """A value of the graph, as one of the results of the native function."""

    place: int


@frozen
class OuterTuple:
    """A tuple that the program got from outside, by its number."""

    number: int


@frozen
class Outside:
    """An object from outside, by its number, and what to call it when speaking of it."""

    number: int
    kind: str
    name: str


@frozen(eq=False)
class New:
    """An object that the program makes: a new one of this class at every run."""

    key: int
    kind: Any
    args: tuple[Any, ...] = ()  # of an exception


@frozen
class Ending:
    """What a program does with its results."""

    outcome: Any
    writes: tuple[tuple[Outside, Slot, Any], ...]  # of objects outside
    slots: dict[int, list[tuple[Slot, Any]]]  # of objects that the program makes, by their keys
    function: Function
    inputs: tuple[int, ...]  # the inputs of the world that the function takes
    flags: tuple[int, ...] = ()  # results that say that a position does not exist
    asking: Function | None = None  # the function, with further results in front that say so before it does anything
    fallible: bool = False  # whether it may turn out, when it has run, that Python must run it
    called: tuple[p.Callee, ...] = ()  # functions of Python that it calls
    kin: dict[int, Link] = field(default_factory=dict)  # of tensors that the program makes: what they share memory with
    needed: frozenset[int] = frozenset()  # the numbers of objects outside that it mentions
    shared: frozenset[int] = frozenset()  # the identities of tuples in it that stand in several places: they are one


class Finisher:
    """Collects the values that a program must compute, each under the conditions under which it is needed."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.store = machine, machine.store
        self.world = self.store.world
        self.places: dict[Value, int] = {}
        self.slots: dict[int, list[tuple[Slot, Any]]] = {}
        self.new: dict[int, New] = {}
        self.needed: set[int] = set()
        self.differences: dict[int, list[tuple[Slot, Any]]] = {}
        self.tuples: dict[int, tuple[Any, Any]] = {}  # by identity: a tuple, and as it is in the plan
        self.shared: set[int] = set()
        self.texts = False  # whether Python writes texts when the program has run

    def ending(self, outcome: Any, effects: Sequence[Value] = ()) -> Ending:
        outside = []
        for obj, slot, value in self.store.differences():
            if id(obj) in self.world.fresh:
                self.differences.setdefault(id(obj), []).append((slot, value))
            elif slot != DATA or value is not self.world.seen.get((id(obj), slot)):
                outside.append((obj, slot, value))
        planned = self.converted(outcome)
        writes = tuple((self.outside(obj), slot, self.converted(value, slot)) for obj, slot, value in outside)
        kin = self.kin()
        early, flags = self.positions()
        regions = self.machine.regions
        results: Sequence[Value] = regions.everywhere(list(self.places), {})
        roots = regions.settled([*effects, *results], {})
        effects, results = roots[: len(effects)], roots[len(effects) :]
        used = params_of([*roots, *early])
        inputs = [i for i, v in enumerate(self.world.inputs) if v in used]
        asking = closed([self.world.inputs[i] for i in inputs], [*early, *results], effects)
        function = asking.with_results(asking.results[len(early) :])
        if not tells_sizes(asking):  # a tensor of which only the shape is used: it tells it when the program runs
            inputs = [i for i, v in enumerate(self.world.inputs) if v in used or not v.type.static]
            asking = closed([self.world.inputs[i] for i in inputs], [*early, *results], effects)
            function = asking.with_results(asking.results[len(early) :])
        if repeated(function) > REPEATED:
            raise Break("branches in branches repeat so much that the program would be too large")
        fails = bool(flags) or any(isinstance(o, Exit) and o.kind == "raise" for o in alternatives(outcome))
        called = tuple(callees(function)) if self.machine.calls_python else ()
        check_calls(called, fails or self.texts or bool(writes))
        loose = params_of(function.results) - set(function.params)
        if loose:  # one of two kinds of values, chosen for each example or in each turn
            raise Break("a value that only exists inside a batch or a loop decides what is returned")
        return Ending(
            planned,
            writes,
            {self.new[k].key: slots for k, slots in self.slots.items()},
            function,
            tuple(inputs),
            flags,
            asking if early else None,
            fails or self.texts,
            called,
            kin,
            frozenset(self.needed),
            frozenset(self.shared),
        )

    def kin(self) -> dict[int, Link]:
        """What shares memory among the tensors that are there when the program has run."""
        sharing, fresh = self.machine.sharing, self.world.fresh
        alone: dict[int, list[Any]] = {}
        for key in [k for k in self.slots if k in sharing.links]:
            if self.unclear(fresh[key]):
                raise Break("a result shares memory with one of two tensors")
            if sharing.above(fresh[key], self.stays) is None:
                alone.setdefault(id(sharing.root(fresh[key])), []).append(fresh[key])
        for views in alone.values():
            if len(views) > 1:  # what they share is nobody's
                self.converted(sharing.root(views[0]))
        found = [sharing.above(fresh[k], self.stays) for k in self.slots if k in sharing.links]
        links = [(self.new[id(link.view)], link) for link in found if link is not None]
        named = () if self.world.naming is None else tuple(self.world.naming.names.values())
        if not all(known_outside((x.how, x.put), named) for _, x in links):
            raise Break("a result is a part of a tensor, and only the program knows which")
        return {new.key: Link(new, self.converted(x.base), x.how, x.put) for new, x in links}

    def unclear(self, x: Any) -> bool:
        """Whether a tensor is a part of one of several tensors that somebody holds, or that are parts of such."""
        sharing = self.machine.sharing
        others = [y for link in sharing.upwards(x) for y in sharing.either.get(id(link.view), ())]
        return any(self.stays(y) or sharing.above(y, self.stays) is not None or self.unclear(y) for y in others)

    def stays(self, x: Any) -> bool:
        """Whether somebody holds an object when the program has run."""
        return id(x) not in self.world.fresh or id(x) in self.slots

    def positions(self) -> tuple[list[Value], tuple[int, ...]]:
        """Values that say that positions do not exist: those that depend on whole numbers of outside only are asked for
        before the program does anything, the places of others are among the results.
        """
        early: dict[Value, None] = {}
        flags: list[int] = []
        outside = set(self.world.inputs)
        for (index, extent, where), at in self.machine.positions.items():
            needed = params_of([index, *[c for c, _ in where]])
            if not needed <= outside:
                raise Break("positions that are known only inside a loop or a derivative", at)
            wrong = self.machine.regions.wrong(index, extent, where, {})
            counted = type(extent) is Sym and comes_from_data(extent)  # while the program runs
            if not where and not counted and all(v.dtype.kind in "iub" for v in needed):
                early[wrong] = None
            else:
                flags.append(self.result(wrong).place)
        return list(early), tuple(flags)

    def result(self, value: Value) -> Result:
        return Result(self.places.setdefault(value, len(self.places)))

    def converted(self, value: Any, slot: Slot | None = None) -> Any:
        """A value of the interpreter, where values of the graph are results."""
        if isinstance(value, Either):
            return self.either(value, slot)
        if isinstance(value, Value):
            return self.result(value)
        if isinstance(value, Number):
            return Number(self.result(value.value), value.kind)  # type: ignore[arg-type]  # a result in its place
        if isinstance(value, Exit):
            return value if value is FALLS else Exit(value.kind, self.converted(value.value))
        if id(value) in self.world.tuples:
            self.needed.add(self.world.tuples[id(value)][1])
            return OuterTuple(self.world.tuples[id(value)][1])
        if isinstance(value, tuple):
            return self.nest(value)
        if isinstance(value, Method | DictView):
            return type(value)(self.converted(value.owner), value.name)
        if isinstance(value, LateText):
            self.texts = True
            return replaced(value, self.result)
        if isinstance(value, Items | Super) or value is POISON:
            raise Break("an iterator or a value of a loop stays alive")
        if type(value) is Sym and comes_from_data(value):
            return Number(self.result(p.full(value, int64, ())), int)  # type: ignore[arg-type]  # a result in its place
        if isinstance(value, HostNumber):
            return value
        if type(value) is slice and not lasts(value):
            raise Break("a slice of objects stays alive")
        if id(value) in self.world.nans:
            return HostNumber(self.world.nans[id(value)].step, value)
        if is_atom(value):
            return held(value)
        return self.made(value) if id(value) in self.world.fresh else self.outside(value)

    def nest(self, value: tuple[Any, ...]) -> Any:
        """A tuple that the program makes. One that stands in several places is one: nests of them may be as many as
        there are ways through them.
        """
        if id(value) in self.tuples:
            made = self.tuples[id(value)][1]
            self.shared.add(id(made))
            return made
        parts = [self.converted(v) for v in value]
        made = tuple(parts) if type(value) is tuple else tuple.__new__(type(value), parts)
        self.tuples[id(value)] = value, made
        return made

    def outside(self, obj: Any) -> Any:
        """An object that the program has not made."""
        number = self.world.index.get(id(obj))
        if number is None:
            kept = held(obj)
            return obj if kept is None else kept
        self.needed.add(number)
        return Outside(number, type(obj).__name__, getattr(obj, "name", "a tensor") if is_tensor(obj) else "")

    def either(self, value: Either, slot: Slot | None) -> Any:
        cond = self.result(value.cond)
        sides = [self.converted(side, slot) for side in (value.yes, value.no)]
        return Either(cond, *sides)  # type: ignore[arg-type]  # a result in its place

    def made(self, obj: Any) -> New:
        """An object that outlives the program: what it holds is needed too."""
        if id(obj) in self.new:
            return self.new[id(obj)]
        wraps = any(slot == ("attr", "__wrapped__") for slot, _ in self.differences.get(id(obj), ()))
        if isinstance(obj, FunctionType) and (wraps or is_annotated(obj)):
            raise Break("a function with annotations outlives its call")
        args = obj.args if isinstance(obj, BaseException) else ()
        self.new[id(obj)] = new = New(len(self.new), held(type(obj)), args)
        self.slots[id(obj)] = slots = []
        for slot, value in () if isinstance(obj, BaseException) else self.differences.get(id(obj), ()):
            if type(obj) is set and slot == ITEMS and any(tuple(set(held)) != held for held in alternatives(value)):
                raise Break("a set in an order that only its history makes")
            slots.append((slot, self.converted(value, slot)))
        return new


def is_annotated(fn: FunctionType) -> bool:
    """Whether a function that the program makes has annotations, which are not evaluated."""
    node = definition(fn.__code__)
    if node is None or isinstance(node, ast.Lambda):
        return False
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
    return node.returns is not None or any(a is not None and a.annotation is not None for a in every)


def repeated(fn: Function) -> int:
    """How many values a program has more than it needs, because functions inside stand in many places."""
    sizes: dict[int, tuple[Function, int, int]] = {}  # by identity: a function, its values, and those inside too

    def whole(f: Function) -> int:
        if id(f) not in sizes:
            values = f.values()
            inside = sum([whole(g) for v in values if v.op.__class__ is not Param for g in inner_functions(v.op)])
            sizes[id(f)] = f, len(values), len(values) + inside
        return sizes[id(f)][2]

    every = whole(fn)
    return every - sum(own for _, own, _ in sizes.values())


def callees(fn: Function) -> list[p.Callee]:
    """The Python functions that a program calls, in it and in the functions inside."""
    found = []
    for v in fn.values():
        if isinstance(v.op, p.HostCall):
            found.append(v.op.callee)
        for inner in inner_functions(v.op):
            found += callees(inner)
    return found


def check_calls(called: Sequence[p.Callee], others: bool) -> None:
    """A function of the user may see and do anything: a program that calls one does nothing else that is seen."""
    prints = [c for c in called if isinstance(c.python, Printing)]
    if len(prints) < len(called) and (prints or others):
        raise Break("a Python function is called, beside other effects")


class ObjectBuilder:
    """Real objects for the values of a program: those outside are themselves, new ones are new at every run."""

    def __init__(self, ending: Ending, objects: Sequence[Any], hosts: Sequence[Any], results: Any, sizes: Any) -> None:
        self.ending, self.objects, self.hosts, self.results = ending, objects, hosts, results
        self.sizes, self.shared = sizes, ending.shared
        self.done: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        kind = value.__class__
        if kind is Result:
            return self.results[value.place]
        if kind is Outside or kind is OuterTuple:
            return self.objects[value.number]
        if kind is New:
            return self.new(value)
        if kind is Either:
            return self(value.yes if self.results[value.cond.place] else value.no)
        if kind is LateText:
            return said(value, lambda place: self.results[place.value.place])
        if kind is Number:
            return value.kind(self.results[value.value.place].item())
        if kind is HostNumber:
            return self.hosts[value.step]
        if type(value) is Sym:
            return value.at(self.sizes)
        if kind is Exit:
            known = value is FALLS or value.kind == "raise"  # which Python raises anew: what was met may be gone
            return value if known else Exit(value.kind, self(value.value))
        if isinstance(value, tuple):
            return self.once(value) if self.shared and id(value) in self.shared else self.nest(value)
        if kind is Method or kind is DictView:
            found = getattr(self(value.owner), value.name)
            return found() if kind is DictView else found
        return there(value)

    def nest(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        parts = [self(v) for v in value]
        return tuple(parts) if value.__class__ is tuple else tuple.__new__(value.__class__, parts)

    def once(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        """A tuple that stands in several places."""
        if -id(value) not in self.done:
            self.done[-id(value)] = self.nest(value)
        return self.done[-id(value)]  # type: ignore[no-any-return]

    def new(self, blank: New) -> Any:
        if blank.key not in self.done:
            slots, kind = self.ending.slots[blank.key], there(blank.kind)
            if issubclass(kind, BaseException):
                return self.done.setdefault(blank.key, kind(*blank.args))
            fields = {name: self(value) for (of, name), value in slots if of == "field"}
            self.done[blank.key] = out = self.blank(kind, fields)
            for slot, value in slots:
                if slot[0] == "field":
                    continue
                holds = self(value)
                if holds is not MISSING:
                    self.fill(out, slot, holds)
            if (link := self.ending.kin.get(blank.key)) is not None:
                linked(self(link.base), out, *link.at(self.sizes))
        return self.done[blank.key]

    def blank(self, kind: type, fields: dict[str, Any]) -> Any:
        if kind is FunctionType:
            fn = FunctionType(
                fields["__code__"], fields["__globals__"], fields["__name__"], fields["__defaults__"],
                fields["__closure__"],
            )  # fmt: skip
            fn.__kwdefaults__, fn.__qualname__ = fields["__kwdefaults__"], fields["__qualname__"]
            fn.__doc__, fn.__module__ = fields["__doc__"], fields["__module__"]
            return fn
        if kind is MethodType:
            return MethodType(fields["__func__"], fields["__self__"])
        if kind is CellType:
            return CellType()
        if kind is functools.partial:
            return functools.partial(fields["func"], *fields["args"], **fields["keywords"])
        if issubclass(kind, Tensor):
            out = Tensor.__new__(Tensor)
            out._tape = None
            return out
        return object.__new__(kind) if kind not in BLANKS else kind()

    def fill(self, out: Any, slot: Slot, value: Any) -> None:
        if slot[0] == "attr" and not isinstance(out, type):
            vars(out)[slot[1]] = value
        elif slot == DATA and isinstance(value, Tensor):
            out.become(value)
        else:
            restore(out, slot, value)


BLANKS = frozenset((list, dict, set, deque, OrderedDict, SimpleNamespace))


@dataclass
class CapturedProgram:
    """Captured calls: if the guards hold, compute everything, and only then write."""

    world: World
    ending: Ending
    guard: Callable[[Any], tuple[Sequence[Any], Sequence[Any], list[Any], Any] | None]
    why: str = ""
    at: Any = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def sizes(self) -> list[Name]:
        """The sizes that it does not know."""
        return [] if self.world.naming is None else list(self.world.naming.names.values())

    @functools.cached_property
    def donated(self) -> dict[int, int]:
        """Results that replace the data of tensors from outside, by the inputs that they may be written into."""
        found: dict[int, int] = {}
        if self.ending.fallible:
            return found  # what is wrong shows after the run, and then everything must be as it was
        place_of = {i: k for k, i in enumerate(self.ending.inputs)}
        by_tensor = {
            r.parent: r.expect.input
            for r in self.world.reads
            if getattr(r, "slot", None) == DATA and isinstance(r.expect, Data)
        }
        for obj, slot, value in self.ending.writes:
            if slot != DATA or value.__class__ is not Result or obj.number not in by_tensor:
                continue
            param = place_of.get(by_tensor[obj.number])
            fn = self.ending.function
            if param is not None and fn.types[param] == fn.result_types[value.place] and param not in found.values():
                found.setdefault(value.place, param)
        return found


def interpreter(world: World) -> Interpreter:
    """An interpreter with a new store over the world."""
    from mycelia.capture.store import Store

    all_registered()
    return Interpreter(Store(world))
