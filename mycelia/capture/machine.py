"""The state of an interpretation: the store, the conditions we are under, and what a condition does to both."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CellType, CodeType
from typing import Any, NoReturn

from mycelia import primitives as p
from mycelia.capture.positions import exist_anyway, known_to_exist
from mycelia.capture.regions import Regions
from mycelia.capture.sharing import Sharing
from mycelia.capture.slots import CONTAINERS, DATA
from mycelia.capture.store import Store
from mycelia.capture.texts import LateText
from mycelia.capture.values import (
    MISSING,
    Break,
    Either,
    HostNumber,
    Number,
    UserError,
    either,
    is_atom,
)
from mycelia.capture.world import is_tensor
from mycelia.eager import Tensor
from mycelia.errors import Location
from mycelia.frozen import frozen
from mycelia.ir import Value, constant, region
from mycelia.ir.value import _here
from mycelia.types import TensorType, TupleType, bool_, float64, int64

DEEPEST = 40  # conditions inside one another
TOO_LARGE = "it would be too large a program"
MOST_NODES = 60_000  # of syntax in one program: conditions inside one another may double the work each time
BRANCH = 12  # pieces of syntax that take as long as two stores and what joins them
MOST_OPERATIONS = 15_000  # in one program: a list of tensors may double at each call, and to compile them takes seconds
Position = tuple[Value, Any, tuple[tuple[Value, bool], ...]]  # an index, the extent that it must fit, where it must
DEEP = 3  # conditions inside one another, under which a size may come out of data
KINDS = {bool: TensorType(bool_, ()), int: TensorType(int64, ()), float: TensorType(float64, ())}


@frozen
class Frame:
    """A call: every variable is a cell, so closures, branches, loops and Python itself share variables in one way."""

    cells: dict[str, CellType]
    globals: dict[str, Any]
    code: CodeType
    function: Any = None
    first: CellType | None = None  # the first argument, which `super()` asks for


@frozen
class Method:
    """A method of a built-in type, bound to its object."""

    owner: Any
    name: str


@frozen
class DictView:
    """`d.items()`, `d.keys()`, `d.values()`: alive, read when it is iterated."""

    owner: Any
    name: str


class Bottom(BaseException):
    """A call that is inside itself, whose result is not known yet: this way gives nothing."""


class Items:
    """An iterator: its steps run in the interpreter, one by one, under the conditions under which it was made."""

    def __init__(self, machine: Machine, steps: Iterator[Any]) -> None:
        self.steps, self.under = steps, machine.moment()

    def step(self, machine: Machine) -> Any:
        """The next item; StopIteration as Python has it."""
        if self.under != machine.moment():
            machine.refuse("an iterator goes on under other conditions than it began")
        return next(self.steps)


def distributes(primitive: Callable[..., Any]) -> Callable[..., Any]:
    """On an `Either`, run both ways, each under its condition; so a primitive sees plain values only."""

    @functools.wraps(primitive)
    def run(self: Machine, *args: Any) -> Any:
        for a in args:
            if a.__class__ is Either:
                return both(self, args)
        return primitive(self, *args)

    def both(self: Machine, args: tuple[Any, ...]) -> Any:
        i = next(i for i, a in enumerate(args) if a.__class__ is Either)
        a = self.settled(args[i])
        if not isinstance(a, Either):
            return run(self, *args[:i], a, *args[i + 1 :])
        yes, no = a.yes, a.no
        return self.branch(
            a.cond,
            lambda: run(self, *args[:i], yes, *args[i + 1 :]),
            lambda: run(self, *args[:i], no, *args[i + 1 :]),
        )

    return run


class Machine:
    """What every part of the interpreter uses."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.path: dict[Value, bool] = {}
        self.regions = Regions(lambda n: self.select(n, KINDS[int]))
        self.stand_ins: set[int] = set()  # tensors whose identity is not known
        self.sharing = Sharing()
        self.leaves: dict[int, Value] = {}  # by parameter: what it is to the gradient that is being taken
        # tensors that one way has made, and the other not: the condition, what they hold, what the others hold there:
        self.same_else: dict[int, tuple[Value, Value, Value]] = {}
        self.positions: dict[Position, Location | None] = {}
        self.smaller: dict[Value, Any] = {}  # counters of loops from 0 on: the number or size that they never reach
        self.calls: list[Any] = []  # the functions that are being called
        self.found_in_classes: dict[Any, Any] = {}
        self.nodes = 0  # of syntax, visited
        self.operations = 0  # of tensors
        self.node: ast.AST | None = None  # where we are
        self.told: ast.AST | None = None  # where the last new value came from
        self.told_by: Location | None = None  # who had called then, see `called_at`
        self.place: Location | None = None
        self.places: dict[tuple[int, int, str], tuple[Any, ...]] = {}  # by syntax and by who had called, which it keeps
        self.file = ""
        self.called_at: Location | None = None  # inside this package: the user's line that called it
        self.tries = 0  # how many `try` are around
        self.effectful = True  # whether effects may be parts of the program
        self.calls_python = False  # whether it has some
        self.rolling = 0  # changes with every turn of a loop that is being rolled

    def joined(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("joining knows how")

    def select(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("joining knows how")

    def whole(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("joining knows how")

    def value(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("joining knows how")

    # -------------------------------------------------------------------------------------------------------- places

    def visit(self, node: ast.AST) -> None:
        self.node = node
        self.spend(1)

    def spend(self, nodes: int) -> None:
        """So much of what may be interpreted in one program is used up."""
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            self.refuse(TOO_LARGE)

    def here(self) -> Location | None:
        """The place in the user's file that is being interpreted."""
        node: Any = self.node
        if node is None or not hasattr(node, "lineno"):
            return None
        columns = (node.col_offset, node.end_col_offset) if node.lineno == node.end_lineno else None
        return Location(self.file, node.lineno, columns)

    def refuse(self, why: str) -> NoReturn:
        raise Break(why, self.here())

    def real(self, fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Run something pure; its error is the user's."""
        try:
            return fn(*args, **options)
        except Exception as error:
            raise UserError(error) from None

    # ------------------------------------------------------------------------------------------------------- branches

    def branch(self, cond: Value, yes: Callable[[], Any], no: Callable[[], Any], exits: Any = None) -> Any:
        """Both ways on forked stores, then one store again. `exits` says what an error on one side is."""
        if cond.closed:
            return yes() if constant(cond) else no()
        if cond in self.path:
            return yes() if self.path[cond] else no()
        self.spend(BRANCH)
        if len(self.path) >= DEEPEST:
            self.refuse("too many conditions are inside one another")
        base, ends, results, here = self.store, [], [], self.node
        happens: list[list[Value]] = []
        for taken, go in ((True, yes), (False, no)):
            self.store = base.fork()
            self.path[cond] = taken
            self.regions.enter(cond, taken)
            try:
                with region() as inside:
                    happens.append(inside.effects)
                    results.append(go())
            except UserError as raised:
                if exits is None:
                    raise Break(f"an error on one way only: {raised.error!r}", self.here()) from None
                results.append(exits(raised.error))
            except Bottom:
                results.append(Bottom)
            finally:
                ends.append(self.store)
                self.store = base
                del self.path[cond]
                self.regions.leave()
                self.node = here
        if any(r is Bottom for r in results):
            return self.only(base, ends, results)
        rest = [self.regions.note_births(effects) for effects in happens]
        if len(self.path) >= DEEP and rest != happens:  # each branch around would hold it as often as it is read
            self.refuse("a size comes out of data under many conditions")
        happens = rest
        if any(happens):
            self.happens(cond, *happens)
        base.join(cond, *ends)
        return self.given_once(cond, ends, either(cond, *results))

    def given_once(self, cond: Value, ends: list[Store], result: Any) -> Any:
        """What the two ways of a branch have left and given, computed by the branch itself where it can be."""
        raise AssertionError("joining knows how")

    def happens(self, cond: Value, yes: list[Value], no: list[Value]) -> None:
        """Effects on one way or the other, as one effect; what they give is known on."""
        sides: list[list[Value]] = []
        for effects in (yes, no):
            if not all(isinstance(e.type, TupleType) for e in effects):
                self.refuse("a size comes out of data on one way only")
            sides.append([v for e in effects for v in e.op.results(e)])  # type: ignore[union-attr]
        zeros = [[p.zeros(v.dtype, v.shape) for v in side] for side in sides]
        outs = self.regions.choose(cond, [*sides[0], *zeros[1]], [*zeros[0], *sides[1]], self.path, (yes, no))
        self.regions.given |= zip([*sides[0], *sides[1]], outs, strict=True)

    def must(self, known: Value) -> None:
        """Python runs the call, and raises, if this does not hold where we are."""
        self.asked(known, None)

    def asked(self, index: Value, extent: Any) -> None:
        """Positions must exist where we are; without an extent, something must hold."""
        if not exist_anyway(index, extent, self.smaller) and not known_to_exist(index, extent):
            self.positions.setdefault((index, extent, tuple(self.path.items())), self.here())

    def check_effects(self) -> None:
        """Refuse an effect where there is no program that could have it."""
        if not self.effectful:
            self.refuse("it has an effect each time it runs")
        self.calls_python = True

    def only(self, base: Store, ends: list[Store], results: list[Any]) -> Any:
        """The one way that gives something."""
        found = [(end, r) for end, r in zip(ends, results, strict=True) if r is not Bottom]
        if not found:
            raise Bottom
        ((end, result),) = found
        for layer in end.layers(base):
            base.slots |= layer.slots
            base.made |= layer.made
        return result

    def decide(self, test: Any, yes: Callable[[], Any], no: Callable[[], Any], exits: Any = None) -> Any:
        """One of two ways, by the truth of a value."""
        truth = self.truth(test)
        if isinstance(truth, bool):
            return yes() if truth else no()
        return self.branch(truth, yes, no, exits)

    def moment(self) -> tuple[Any, ...]:
        """The conditions and the turn of a loop that we are in: state that cannot be forked must not leave them."""
        return self.rolling, tuple(self.path.items())

    def settled(self, value: Any) -> Any:
        """An `Either` under the conditions we are under."""
        while value.__class__ is Either:
            if value.cond in self.path:
                value = value.yes if self.path[value.cond] else value.no
            elif value.cond.closed:
                value = value.yes if constant(value.cond) else value.no
            else:
                break
        return value

    def truth(self, x: Any) -> bool | Value:
        """Whether, as `bool` says: known now, or a value of the graph."""
        if x is True or x is False:
            return x
        if isinstance(x, Value):
            return bool(constant(x)) if x.closed else x
        x = self.settled(x)
        if isinstance(x, Either):
            x = self.joined(x)
        if isinstance(x, Either):
            yes, no = x.yes, x.no
            sides = self.branch(x.cond, lambda: self.truth(yes), lambda: self.truth(no))
            return sides if isinstance(sides, bool | Value) else self.select(sides, KINDS[bool])
        if is_tensor(x):
            return self.truth_of_tensor(x)
        if isinstance(x, LateText):
            self.refuse("a text about tensors is looked at")
        if isinstance(x, HostNumber):
            host = x if type(x.sample) is bool else self.store.world.compute(bool, x)
            return bool(self.store.world.constant(host))
        if isinstance(x, Number):
            return x.value if x.kind is bool else p.not_equal(x.value, p.lift(0, x.value))
        if type(x) in CONTAINERS:
            return bool(self.whole(x))
        if type(x) is tuple:
            return bool(x)
        if isinstance(x, DictView):
            return bool(self.whole(x.owner))
        if is_atom(x) and type(x) is not type(NotImplemented) and (type(x) is type or not isinstance(x, type)):
            return bool(x)
        return self.truth_of_object(x)

    def truth_of_tensor(self, x: Tensor) -> bool | Value:
        value = self.value(x)
        if value.tensor.size != 1:
            self.native(bool, (x,), {})  # raises what it raises
            self.refuse("the truth of a tensor of many elements")
        if value.shape != ():
            value = p.reshape(value, ())
        value = value if value.dtype is bool_ else p.not_equal(value, p.lift(0, value))
        return bool(constant(value)) if value.closed else value

    def truth_of_object(self, x: Any) -> bool | Value:
        raise AssertionError("calls know objects")

    def native(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise AssertionError("tensors know libraries")

    # -------------------------------------------------------------------------------------------------------- reading

    # -------------------------------------------------------------------------------------------------------- values

    def located(self) -> None:
        """New values come from the place that is being interpreted."""
        asker = self.called_at
        if self.node is not self.told or asker is not self.told_by:
            self.told, self.told_by = self.node, asker
            key = id(self.node), id(asker), self.file
            if key not in self.places:
                here = self.here()
                place = here if asker is None else replace(asker, inside=here)
                self.places[key] = place, self.node, asker
            self.place = self.places[key][0]
        _here.location = self.place


__all__ = ["DATA", "KINDS", "MISSING", "DictView", "Frame", "Items", "Machine", "Method", "distributes"]
