"""Recursion: a function that calls itself where a tensor decides, as functions that call one another by name.

A call with the types of a call that is still running would go on for ever. Its result is not known yet, so the first
pass goes the other way of the branch around it, which gives the type of the result; further passes put a call by name
in its place, until the type stays.

A function may return its argument itself, `if small(x): return x`, and callers can tell: so for each tensor that it
returns and each one that this may be, the program says by a flag whether it is.

What stands for the arguments of any call, in the body, is nobody: Python runs a recursion that writes into its
arguments, asks who they are, or advances an iterator of its caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mycelia import primitives as p
from mycelia.capture.generators import Generators
from mycelia.capture.machine import Bottom
from mycelia.capture.nests import flattened, rebuilt
from mycelia.capture.regions import closed, now
from mycelia.capture.slots import DATA
from mycelia.capture.store import Key, Store
from mycelia.capture.values import Either, alternatives, is_atom
from mycelia.capture.world import is_tensor
from mycelia.eager import Tensor
from mycelia.frozen import frozen
from mycelia.ir import Value, fresh_params, region
from mycelia.ir.region import innermost
from mycelia.primitives.control.naming import callees
from mycelia.tree import LEAF, Structure
from mycelia.types import TensorType, bool_

PASSES = 6  # each finds another type of the result, or another value that the function reads


@dataclass
class RunningCall:
    """A call that is still running, as a call inside it sees it."""

    key: Any
    name: str
    conditions: int  # how many there were when it began
    recursive: bool = False
    structure: Structure | None = None  # of the result; None: not known yet
    leaves: tuple[Any, ...] = ()  # what is known of each tensor, other things as they are
    objects: dict[int, Any] = field(default_factory=dict)  # those from outside that may be returned, by id
    ordered: bool = False  # whether something happens in it that is seen
    given: Any = ()  # all its arguments, as the body sees them
    shared: tuple[Value, ...] = ()  # what the function reads from around it, handed on from call to call


class Recursion(Generators):
    """Calls that are inside themselves."""

    def enter(self, fn: Any, code: Any, node: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        running: list[RunningCall] = [c for c in self.calls if isinstance(c, RunningCall)]
        found, structure = flattened(self, (args, tuple(options.values())))
        leaves = [self.joined(x) for x in found]
        key = code, id(fn), structure, tuple(options), self.kinds(leaves)
        for c in running:
            if c.key == key and (len(self.path) > c.conditions or c.recursive):
                return self.again(c, leaves)
        given = args, tuple(options.values())
        return self.watched(RunningCall(key, "", len(self.path), given=given), fn, code, node, args, options, leaves)

    def kinds(self, leaves: list[Any]) -> tuple[Any, ...]:
        """What tells two calls of a function apart."""
        return tuple([self.kind_of(x) for x in leaves])

    def kind_of(self, x: Any) -> Any:
        if self.is_open(x):
            return "tensor", self.value(x).type
        kind = type(x)
        if kind is int or kind is bool or kind is str:
            return kind, x
        return (kind, repr(x)) if is_atom(x) and kind is not type else id(x)

    def again(self, running: RunningCall, leaves: list[Any]) -> Any:
        """A call inside itself."""
        running.recursive = True
        if running.structure is None:
            raise Bottom
        given = self.open(leaves)
        types = tuple(t for x in running.leaves if isinstance(x, ReturnedTensor) for t in x.types())
        outs = p.control.NamedCall(running.name, types, running.ordered)(*map(self.value, given), *running.shared)
        return self.around(running, outs, given)

    def around(self, running: RunningCall, values: Any, given: list[Any]) -> Any:
        """The result of a call with these arguments, with these values in it."""
        found = iter(values)
        made = [
            x.value if isinstance(x, ReturnedConstant) else self.new_or_given(running, x, found, given)
            for x in running.leaves
        ]
        assert running.structure is not None, "the result is known"
        return rebuilt(self, running.structure, made)

    def new_or_given(
        self, running: RunningCall, known: ReturnedTensor, found: Iterator[Value], given: list[Any]
    ) -> Any:
        """A tensor of the result: a new one, or one that was there before."""
        data = next(found)
        out: Any = self.store.tensor(data)
        for target in known.targets:
            other = given[target] if target < len(given) else running.objects[target]
            is_new = p.logical_not(next(found))
            if is_tensor(out):
                self.same_else[id(out)] = is_new, data, self.read(other, DATA)
            out = Either(is_new, out, other)
        return out

    def open(self, leaves: list[Any]) -> list[Any]:
        """The tensors among the arguments whose numbers are not known."""
        return list(filter(self.is_open, leaves))

    def is_open(self, x: Any) -> bool:
        """Whether an argument may be another one at each call: a tensor whose numbers are not known, and no parameter,
        which has a name and a class that the function may look at.
        """
        return type(x) is Tensor and not self.value(x).closed

    def watched(
        self, mine: RunningCall, fn: Any, code: Any, node: Any, args: Any, options: Any, leaves: list[Any]
    ) -> Any:
        """The body of a function; as a recursion, if it was called inside itself."""
        base, path, asked = self.store, dict(self.path), dict(self.positions)
        around = innermost()
        happened = len(around.effects) if around is not None else 0
        depth = len(self.calls)
        self.store = base.fork()
        self.calls.append(mine)
        try:
            result = super().enter(fn, code, node, args, options)
            if mine.recursive:
                self.note(mine, result, self.open(leaves), base)
        except Bottom:
            if mine.recursive:
                self.refuse("a function always calls itself, so it never returns")
            raise
        finally:
            del self.calls[depth:]
            if self.store.layers(base) and not mine.recursive:
                self.commit(base)
            self.store = base
        if not mine.recursive:
            return result
        self.positions = asked
        if around is not None:
            del around.effects[happened:]
        assert self.path == path, "a call ends under the conditions under which it began"
        return self.recursion(mine, fn, code, node, options, leaves)

    def recursion(self, mine: RunningCall, fn: Any, code: Any, node: Any, options: Any, leaves: list[Any]) -> Any:
        mine.name = f"{code.co_name}.{len(self.calls)}"
        base, depth = self.store, len(self.calls)
        inputs = [self.value(x) for x in self.open(leaves)]
        is_open = list(map(self.is_open, leaves))
        for _ in range(PASSES):
            params = fresh_params(tuple(v.type for v in inputs))
            self.store = inner = base.fork()
            made = iter([inner.tensor(v) for v in params])
            given = [next(made) if o else x for x, o in zip(leaves, is_open, strict=True)]
            fresh, named = rebuilt(self, mine.key[2], given)
            mine.given = fresh, named
            handed = dict(inner.slots)  # of tensors and nests that stand for those of any call
            self.stand_ins |= inner.made
            self.regions.enter(None, True)
            self.calls.append(mine)
            saved, self.path, rolling, self.rolling = self.path, {}, self.rolling, now()
            asked, sizes = dict(self.positions), len(self.regions.births)
            try:
                with region() as inside:
                    result = super().enter(fn, code, node, fresh, dict(zip(options, named, strict=True)))
                before = mine.structure, mine.leaves
                results = self.note(mine, result, self.open(given), base)
                self.check_changes(inner, base, handed)
            except Bottom:
                self.refuse("a function always calls itself")
            finally:
                self.path, self.rolling = saved, rolling
                del self.calls[depth:]
                self.regions.leave()
                self.store = base
            self.regions.note_births(inside.effects)
            if len(self.regions.births) > sizes:  # a call inside a call would change what a size stands for
                self.refuse("a size comes out of data in a recursion")
            if self.positions != asked:
                self.refuse("positions that are asked for in a recursion")
            start = self.regions.stack[-1].inner[-1].start
            own = set(params)
            roots = self.regions.settled([*inside.effects, *results], {})
            happens, results = roots[: len(inside.effects)], list(roots[len(inside.effects) :])
            names, operands = self.regions.operands(roots, start, self.path)
            shared = tuple(w for v, w in zip(names, operands, strict=True) if v not in own)
            ordered = bool(inside.effects)
            if (mine.structure, mine.leaves) == before and (shared, ordered) == (mine.shared, mine.ordered):
                taken = [v for v in names if v not in own]
                definition = closed((*params, *taken), results, happens)
                if callees(definition) - {mine.name}:
                    self.refuse("a function calls itself inside of another one that does, which it calls, too")
                recurse = p.control.Recurse(((mine.name, definition),), mine.name)
                return self.around(mine, recurse(*inputs, *shared), self.open(leaves))
            mine.shared, mine.ordered = shared, ordered
        return self.refuse("the types in a recursion change with every call")

    def check_changes(self, inner: Store, base: Store, handed: dict[Key, tuple[Any, Any]]) -> None:
        """What a function that calls itself does stays inside of it: of its arguments it has copies only."""
        before = set().union(*[layer.made for layer in base.layers()])
        for obj, slot, value in inner.differences(base):
            if id(obj) not in base.world.fresh or id(obj) in before:
                self.refuse("a recursive function changes something outside of it")
            if (id(obj), slot) in handed and handed[id(obj), slot][1] is not value:
                self.refuse("a recursive function changes what it is given")

    def note(self, mine: RunningCall, result: Any, given: list[Any], base: Store) -> list[Value]:
        """What is known of the result; the values of the tensors in it, and the flags that say which they are."""
        inside: set[int] = set().union(*[layer.made for layer in self.store.layers(base)]) - {id(x) for x in given}
        result = self.settled(result)
        whole = all(map(is_tensor, alternatives(result)))
        self.check_nests(mine, result, inside, base)
        leaves, structure = ([result], LEAF) if whole else flattened(self, self.joined(result))
        kinds: list[Any] = []
        values = []
        returned: set[int] = set()  # memory that a part of the result has, and no other part may have
        for x in leaves:
            one = self.joined(x)
            if isinstance(one, Either) or not (is_tensor(one) or is_atom(one)):
                self.refuse("a recursive function returns one of several kinds of values")
            if not is_tensor(one):
                kinds.append(ReturnedConstant(one))
                continue
            values.append(self.value(one))
            targets: dict[int, Any] = {}
            new = {id(self.sharing.root(o)) for o in alternatives(self.settled(x)) if id(o) in inside}
            if not returned.isdisjoint(new):
                self.refuse("a recursive function returns a tensor twice")
            returned |= new
            for other in alternatives(self.settled(x)):
                root = self.sharing.root(other)
                if root is not other and id(root) not in inside:
                    self.refuse("a recursive function returns a part of a tensor that it was given")
                if id(other) not in inside:
                    place = next((i for i, g in enumerate(given) if g is other), id(other))
                    targets[place] = other
            mine.objects |= targets
            kinds.append(ReturnedTensor(values[-1].type, tuple(targets)))
            values += [self.tensor_data(self.whether(self.settled(x), other)) for other in targets.values()]
        mine.structure, mine.leaves = structure, tuple(kinds)
        return values

    def check_nests(self, mine: RunningCall, result: Any, inside: set[int], base: Store) -> None:
        """A caller gets new nests: those that a function returns must not have been there before it was called."""
        known = {id(x) for layer in base.layers() for _, held in layer.slots.values() for x in nests(held)}
        known |= {id(x) for x in nests(mine.given)} | base.world.tuples.keys() | self.stand_ins
        for x in nests(result):
            if id(x) in known or not (isinstance(x, tuple) or id(x) in inside):
                self.refuse("a recursive function returns a nest that was there before")
            if not isinstance(x, tuple):
                self.check_nests(mine, self.whole(x), inside, base)

    def whether(self, value: Any, other: Any) -> Any:
        """A tensor that says whether one of several objects is this one."""
        if isinstance(value, Either):
            return Either(value.cond, self.whether(value.yes, other), self.whether(value.no, other))
        return self.store.tensor(p.full(value is other, bool_, ()))


def nests(value: Any) -> Iterator[Any]:
    """The tuples, lists and dictionaries in a value, whichever it is. What is in lists and dictionaries is not told.

    >>> list(nests(((), (1, []))))
    [((), (1, [])), (1, []), []]
    """
    waiting, seen = [value], set()
    while waiting:
        for x in alternatives(waiting.pop()):
            if isinstance(x, tuple | list | dict) and x != () and id(x) not in seen:
                seen.add(id(x))
                yield x
                waiting += reversed(x) if isinstance(x, tuple) else []


@frozen
class ReturnedTensor:
    """A tensor in a result: its type, and which ones it may be (arguments by number, others by id) if not a new one."""

    type: Any
    targets: tuple[int, ...]

    def types(self) -> tuple[Any, ...]:
        return (self.type, *[TensorType(bool_, ())] * len(self.targets))


@frozen
class ReturnedConstant:
    """A part of a result that is the same in every call."""

    value: Any


class Interpreter(Recursion):
    """The whole interpreter."""
