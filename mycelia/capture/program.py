"""Capturing: call a function with hooks on tensors that stand for its arguments, and write down what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from mycelia.capture.branch import Bottom, origin
from mycelia.capture.guards import Guards
from mycelia.capture.hooks import call
from mycelia.capture.source import definition
from mycelia.capture.stage import MISSING, AttributeSlot, Stage, TensorSlot, staging
from mycelia.capture.text import Text
from mycelia.capture.unbound import Unbound
from mycelia.capture.world import Unstageable, World
from mycelia.errors import BranchError
from mycelia.ir import Function, Value, asking, fresh_params, located, region, toposort
from mycelia.sizes import Name, NeedsSize, Sym, names
from mycelia.tree import LEAF, Structure, flatten, unflatten
from mycelia.types import TensorType, Type, type_of

LAZY = (GeneratorType, map, filter, zip, enumerate, reversed)


@dataclass(frozen=True)
class Computed:
    """A tensor with one of the results."""

    place: int


@dataclass(frozen=True)
class Given:
    """The very tensor that was an argument."""

    place: int


@dataclass(frozen=True)
class Kept:
    """An object that is the same in every call."""

    thing: Any


Part = Computed | Given | Kept


@dataclass(frozen=True)
class Nest:
    """A nested structure of which every leaf says where it comes from."""

    structure: Structure
    parts: tuple[Part, ...]

    def built(self, computed: Sequence[Any], given: Sequence[Any]) -> Any:
        """The nest around these results and arguments."""
        if self.structure is LEAF and self.parts[0].__class__ is Computed:
            return computed[self.parts[0].place]
        leaves = [
            computed[q.place] if q.__class__ is Computed else given[q.place] if q.__class__ is Given else q.thing  # type: ignore[union-attr]  # mypy does not follow __class__
            for q in self.parts
        ]
        return unflatten(self.structure, leaves)


@dataclass(frozen=True)
class Captured:
    """A program: a function of arguments and of tensors from outside, and what to do with its results."""

    function: Function
    arguments: tuple[int, ...]  # the leaves of the arguments that the first parameters stand for
    outside: tuple[Any, ...]  # the tensors that the other parameters stand for
    returned: Nest
    writes: tuple[tuple[Part, int], ...]  # tensors that hold a result afterwards
    effects: tuple[tuple[Any, str, Nest], ...]  # attributes that are set afterwards
    guards: Guards
    holds: Callable[[], bool]


def capture(
    world: World, fn: Callable[..., Any], args: Any, kwargs: Any, types: Mapping[int, Type] | None = None
) -> Captured:
    """What `fn` does with arguments of these types. The call has no effect outside. `types` says otherwise for some of
    the leaves: their sizes are symbolic.
    """
    leaves, structure = flatten((args, kwargs))
    stage = Stage(world)
    try:
        return _captured(stage, fn, leaves, structure, types or {})
    except NeedsSize as error:
        if not all(name.most is not None for name in error.names):
            raise  # whoever named the size takes it as a number
        reason = Unstageable(f"{error}, and it comes out of data", origin(error))
        reason.holds, reason.line = stage.guards.predicate(), _line(fn, error)
        raise reason from None
    except (Unstageable, world.concrete, RecursionError) as error:
        reason = error if isinstance(error, Unstageable) else Unstageable(_why(error), origin(error))
        reason.holds = stage.guards.predicate()
        reason.line = _line(fn, error)
        raise reason from None
    except Bottom as error:
        raise BranchError(
            "this function always calls itself, so it never returns", at=origin(error), hint="add a way out"
        ) from None


def _line(fn: Any, error: BaseException) -> int:
    """The line of the function itself on the way to where the error was raised."""
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    node = definition(code) if code is not None else None
    trace = error.__traceback__ if node is not None else None
    while trace is not None and code is not None and node is not None:
        line = trace.tb_lineno
        if trace.tb_frame.f_code.co_filename == code.co_filename and node.lineno <= line <= (node.end_lineno or line):
            return line
        trace = trace.tb_next
    return 0


def _why(error: BaseException) -> str:
    return "a call of itself does not end" if isinstance(error, RecursionError) else str(error)


def _captured(
    stage: Stage, fn: Callable[..., Any], leaves: list[Any], structure: Structure, types: Mapping[int, Type]
) -> Captured:
    world = stage.world
    with staging(stage), world.mode(stage), asking(), region():
        tensors: dict[int, int] = {}
        params: list[tuple[int, Value]] = []
        given: list[Any] = []
        for i, x in enumerate(leaves):
            given.append(x)
            if isinstance(x, world.parameter):
                stage.lift(x)
            elif isinstance(x, world.tensor):
                with located(None):
                    (param,) = fresh_params((types.get(i) or _type(world, x),))
                params.append((i, param))
                given[i] = world.wrap(param)
                tensors[id(given[i])] = i
            else:
                stage.observe(x)
        for x in world.state:
            stage.lift(x)
        arguments, keywords = unflatten(structure, given)
        for container in (*arguments, *keywords.values()):
            _mark(stage, container)
        result = call(fn, *arguments, **keywords)
        return _finished(stage, params, tensors, result)


def _type(world: World, x: Any) -> Type:
    data = world.data(x)
    return data.type if isinstance(data, Value) else type_of(data)


def _mark(stage: Stage, container: Any) -> None:
    """Containers that the caller passed are the caller's: changing them would have to be seen there."""
    if isinstance(container, list | tuple | dict | set):
        stage.outside[id(container)] = container
        for part in container.values() if isinstance(container, dict) else container:
            _mark(stage, part)


def _finished(stage: Stage, params: list[tuple[int, Value]], tensors: dict[int, int], result: Any) -> Captured:
    world = stage.world
    values: list[Value] = []

    def nest(thing: Any) -> Nest:
        leaves, structure = flatten(thing)
        return Nest(structure, tuple(part(x) for x in leaves))

    def part(x: Any) -> Part:
        if isinstance(x, world.tensor):
            if id(x) in tensors:
                return Given(tensors[id(x)])
            if id(x) in stage.known:
                return Kept(x)
            if isinstance(x, world.parameter):
                raise Unstageable(f"{x} is made inside and kept")
            return computed(x)
        if isinstance(x, Sym):
            raise NeedsSize(x)  # the caller is given a number
        _refuse(stage, x)
        return Kept(x)

    def computed(x: Any) -> Computed:
        value = world.value(x)
        values.append(value)
        return Computed(len(values) - 1)

    returned = nest(result)
    writes: list[tuple[Part, int]] = []
    effects: list[tuple[Any, str, Nest]] = []
    for slot in stage.changed_since(0):
        if isinstance(slot, TensorSlot):
            target = Given(tensors[id(slot.tensor)]) if id(slot.tensor) in tensors else Kept(slot.tensor)
            if isinstance(target, Given) or id(slot.tensor) in stage.known:
                writes.append((target, computed(slot.tensor).place))
        elif isinstance(slot, AttributeSlot) and id(slot.owner) not in stage.inside:
            if slot.content() is not MISSING:
                effects.append((slot.owner, slot.name, nest(slot.content())))
            elif stage.before(slot) is not MISSING:
                raise Unstageable(f"{slot} is deleted")
    happened = stage.region.effects
    used = set(toposort([*happened, *values]))
    arguments = _needed(params, used)
    outside = [(x, v) for x, _, v in stage.lifted if v in used]
    function, captured = Function.close([v for _, v in (*arguments, *outside)], values, happened)
    assert not captured, f"a capture reads {captured}, which nobody gave it"
    return Captured(
        function,
        tuple(i for i, _ in arguments),
        tuple(x for x, _ in outside),
        returned,
        tuple(writes),
        tuple(effects),
        stage.guards,
        stage.guards.predicate(),
    )


def _needed(params: list[tuple[int, Value]], used: set[Value]) -> list[tuple[int, Value]]:
    """The arguments that the program reads; and those that only tell it a size."""
    told = {n for _, v in params if v in used for n in _sizes(v.type)}
    kept = []
    for i, v in params:
        if v in used:
            kept.append((i, v))
        elif not told.issuperset(more := _sizes(v.type)):
            told |= more
            kept.append((i, v))
    return kept


def _sizes(t: Type) -> set[Name]:
    """The sizes in the shape of a tensor."""
    return {n for d in (t.shape if isinstance(t, TensorType) else ()) for n in names(d)}


def _refuse(stage: Stage, x: Any) -> None:
    """Complain about a result that would take tensors of the capture out with it."""
    if isinstance(x, Unbound):
        x.complain()
    if isinstance(x, Text):
        str(x)  # which says why not
    if isinstance(x, LAZY):
        raise Unstageable(f"a {type(x).__name__} is returned, which runs later")
    made_here = id(x) in stage.inside and not isinstance(x, FunctionType)
    if made_here or (isinstance(x, FunctionType | MethodType) and _closes_over(stage, x)):
        raise Unstageable(f"a {type(x).__name__} made inside is returned")
    if isinstance(x, set | frozenset) and any(isinstance(e, stage.world.tensor) for e in x):
        raise Unstageable("a set of tensors is returned")


def _closes_over(stage: Stage, f: Any) -> bool:
    if isinstance(f, MethodType):
        return id(f.__self__) in stage.inside
    return any(isinstance(c.cell_contents, stage.world.tensor) for c in f.__closure__ or ())
