"""Branches: `if` on a tensor captures both ways, and the program chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mycelia import primitives as p
from mycelia.capture.closing import movable, now
from mycelia.capture.join import Conflict, Joining
from mycelia.capture.jumps import RESULT
from mycelia.capture.stage import Stage, TensorSlot, current
from mycelia.capture.truth import truth
from mycelia.capture.unbound import Unbound
from mycelia.capture.world import Unstageable
from mycelia.errors import PACKAGE, BranchError, Location, MyceliaError, caller, location_of
from mycelia.ir import Value, region
from mycelia.tree import flatten
from mycelia.types import TensorType, bool_

TRUTH = TensorType(bool_, ())

__all__ = ["Bottom", "Unbound", "alternative", "both", "choose", "either", "if_", "tail_if"]


class Bottom(BaseException):
    """A recursive call whose result is not known yet: this way through the program says nothing about types."""


@dataclass(frozen=True)
class Way:
    """One way through a branch: what it returned, its variables, the places it changed with what they hold, and what
    happened on it.
    """

    result: Any
    variables: tuple[Any, ...]
    changes: tuple[tuple[Any, Any], ...]
    effects: tuple[Value, ...] = ()

    @property
    def ends(self) -> dict[int, Any]:
        """By the ids of tensors that this way changed: tensors with what they held at its end."""
        return {id(slot.tensor): content for slot, content in self.changes if isinstance(slot, TensorSlot)}


def alternative(
    stage: Stage, run: Callable[[], Any], get: Callable[[], tuple[Any, ...]] = tuple, put: Any = None
) -> Way | None:
    """Run one way and undo it; None if it ends in a recursive call whose result is not known yet."""
    mark, before = len(stage.log), get()
    stage.depth += 1
    try:
        with region() as inside:
            result = run()
            changes = tuple((slot, slot.content()) for slot in stage.changed_since(mark))
        return Way(result, get(), changes, tuple(inside.effects))
    except (MyceliaError, Unstageable, stage.world.concrete):
        raise
    except Bottom:
        return None
    except Exception as error:
        raise Unstageable(f"{type(error).__name__} is raised where it depends on a tensor", origin(error)) from error
    finally:
        stage.depth -= 1
        stage.undo(mark)
        if put is not None:
            put(*before)


def origin(error: BaseException) -> Location | None:
    """The line of the user's file that raised."""
    trace, found = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            found = location_of(code, trace.tb_lasti, trace.tb_lineno)
        trace = trace.tb_next
    return found


def if_(test: Any, then: Callable[[], Any], other: Callable[[], Any], get: Any, put: Any, names: Sequence[str]) -> None:
    """`if test: then else: other`, on the variables that `get` gets and `put` sets."""
    stage = current()
    if stage is None or not stage.symbolic(test):
        then() if test else other()
        return
    at = caller()
    predicate = truth(stage, test)
    moment = now()
    ways = alternative(stage, then, get, put), alternative(stage, other, get, put)
    if ways[0] is None or ways[1] is None:
        _only(stage, ways[0] or ways[1], put)
        return
    joining = Joining(stage, moment, (ways[0].ends, ways[1].ends))
    fills = [n == RESULT for n in names]
    builds = [
        _variable(joining, name, a, b, fill, at)
        for name, a, b, fill in zip(names, ways[0].variables, ways[1].variables, fills, strict=True)
    ]
    changes = _changes(joining, ways[0], ways[1])
    outs = joining.choose(predicate, ways[0].effects, ways[1].effects)
    put(*[build(outs) for build in builds])
    _make(stage, [(slot, build(outs)) for slot, build in changes])


def _variable(joining: Joining, name: str, a: Any, b: Any, fill: bool, at: Location | None) -> Any:
    if not fill and isinstance(a, Unbound) and isinstance(b, Unbound):
        return lambda outs: a
    try:
        return joining.join(a, b, fill)
    except Conflict as conflict:
        left, right = conflict.left, conflict.right
    if isinstance(a, Unbound) or isinstance(b, Unbound):
        what = f"`{name}` has a value on one way through this branch only"
        hint = f"give `{name}` a value before the branch, or on both ways"
    else:
        what = f"the two ways through this branch give `{name}` different types"
        hint = "make both ways give the same shape and element type"
    error = BranchError(what, given={"if true": left, "if false": right}, at=at, hint=hint)
    return lambda outs: Unbound(name, error)


def _changes(joining: Joining, left: Way, right: Way) -> list[tuple[Any, Any]]:
    """The places that either way changes, and how to build what they hold then."""
    first = {slot.key: (slot, content) for slot, content in left.changes}
    second = {slot.key: (slot, content) for slot, content in right.changes}
    found = []
    for key, (slot, _) in {**first, **second}.items():
        a, b = (way[key][1] if key in way else slot.content() for way in (first, second))
        _same_parameters(joining.stage, slot, a, b)
        try:
            found.append((slot, joining.join(a, b)))
        except Conflict as conflict:
            raise Unstageable(
                f"{slot} is changed differently on two ways: {conflict.left} and {conflict.right}"
            ) from None
    return found


def _same_parameters(stage: Stage, slot: Any, a: Any, b: Any) -> None:
    """A place can hold other numbers on two ways, but not another parameter: that is known by more than its numbers."""
    kind = stage.world.parameter
    for x, y in zip(flatten(a)[0], flatten(b)[0], strict=False):
        if x is not y and (isinstance(x, kind) or isinstance(y, kind)):
            raise Unstageable(f"{slot} holds another parameter on one of two ways")


def _make(stage: Stage, changes: Sequence[tuple[Any, Any]]) -> None:
    for slot, content in changes:
        stage.changing(slot)
        slot.fill(content)


def _only(stage: Stage, way: Way | None, put: Any) -> Any:
    """The one way whose types are known."""
    if way is None:
        raise Bottom
    if put is not None:
        put(*way.variables)
    _make(stage, way.changes)
    stage.region.adopt(way.effects)
    return way.result


def tail_if(
    test: Any, then: Callable[[], Any], other: Callable[[], Any], get: Any, put: Any, names: Sequence[str]
) -> Any:
    """An `if` after which the function returns, whichever way is taken."""
    stage = current()
    if stage is None or not stage.symbolic(test):
        return then() if test else other()
    return _chosen(stage, test, then, other, get, put, "the two ways through this branch return different types")


def choose(test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """`then() if test else other()`."""
    stage = current()
    if stage is None or not stage.symbolic(test):
        return then() if test else other()
    return _chosen(stage, test, then, other, tuple, None, "the two sides of this choice have different types")


def _chosen(stage: Stage, test: Any, then: Any, other: Any, get: Any, put: Any, mismatch: str) -> Any:
    at = caller()
    predicate = truth(stage, test)
    moment = now()
    ways = alternative(stage, then, get, put), alternative(stage, other, get, put)
    if ways[0] is None or ways[1] is None:
        return _only(stage, ways[0] or ways[1], None)
    joining = Joining(stage, moment, (ways[0].ends, ways[1].ends))
    for way in ways:
        if isinstance(way.result, Unbound):  # type: ignore[union-attr]  # both are ways
            way.result.complain()  # type: ignore[union-attr]
    try:
        build = joining.join(ways[0].result, ways[1].result)
    except Conflict as conflict:
        raise BranchError(
            mismatch,
            given={"if true": conflict.left, "if false": conflict.right},
            at=at,
            hint="make both ways give the same shape and element type",
        ) from None
    changes = _changes(joining, ways[0], ways[1])
    outs = joining.choose(predicate, ways[0].effects, ways[1].effects)
    _make(stage, [(slot, build(outs)) for slot, build in changes])
    return build(outs)


def both(stage: Stage, x: Any, other: Callable[[], Any]) -> Any:
    """`x and other()`, where x is a tensor."""
    return _logic(stage, x, other, p.logical_and, lambda y: (y, x))


def either(stage: Stage, x: Any, other: Callable[[], Any]) -> Any:
    """`x or other()`, where x is a tensor."""
    return _logic(stage, x, other, p.logical_or, lambda y: (x, y))


def _logic(stage: Stage, x: Any, other: Callable[[], Any], op: Any, sides: Any) -> Any:
    predicate = truth(stage, x)
    moment = now()
    way = alternative(stage, other)
    if way is None:
        return x
    y = way.result
    plain = not way.changes and not way.effects and _truth_value(stage, x) and _truth_value(stage, y)
    if plain and movable(truth(stage, y), moment):
        return stage.world.wrap(op(predicate, truth(stage, y)))
    left, right = sides(y)
    joining = Joining(stage, moment, (way.ends, {}) if left is y else ({}, way.ends))
    try:
        build = joining.join(left, right)
    except Conflict:
        build = joining.join(*[stage.world.wrap(truth(stage, s)) for s in (left, right)])
    changed = Way(None, (), ())
    changes = _changes(joining, *((way, changed) if left is y else (changed, way)))
    effects = (way.effects, ()) if left is y else ((), way.effects)
    outs = joining.choose(predicate, *effects)
    _make(stage, [(slot, b(outs)) for slot, b in changes])
    return build(outs)


def _truth_value(stage: Stage, x: Any) -> bool:
    if not isinstance(x, stage.world.tensor):
        return isinstance(x, bool)
    return stage.world.value(x).type == TRUTH
