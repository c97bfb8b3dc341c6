"""Recursion: a function that calls itself where a tensor decides, as functions that call one another by name.

A call with the types of a call that is still running would go on for ever. Its result is not known yet, so the first
pass goes the other way of the branch around it, which gives the type of the result; further passes put a call by name
in its place, until the type stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mycelia import primitives as p
from mycelia.capture.branch import Bottom, alternative
from mycelia.capture.closing import closed, independent, now
from mycelia.capture.convert import inner_codes
from mycelia.capture.join import as_type, number_type, widest
from mycelia.capture.stage import Stage
from mycelia.capture.unbound import Unbound
from mycelia.capture.world import Unstageable
from mycelia.errors import BranchError, caller
from mycelia.ir import Value, fresh_params, region
from mycelia.tree import Structure, flatten, unflatten
from mycelia.types import TensorType

PASSES = 6  # each widens the type of the result, or finds another value that the function reads


@dataclass
class Result:
    """What a function returns: tensors of these types in a structure, with other things between them."""

    structure: Structure
    leaves: list[Any]  # a type for each tensor

    def types(self) -> tuple[TensorType, ...]:
        return tuple(x for x in self.leaves if isinstance(x, TensorType))

    def around(self, stage: Stage, values: Any) -> Any:
        """The result with these values in it."""
        found = iter(values)
        wrap = stage.world.wrap
        return unflatten(self.structure, [wrap(next(found)) if isinstance(x, TensorType) else x for x in self.leaves])


@dataclass
class Activation:
    """A call that is still running, as a call inside it sees it."""

    key: Any
    name: str
    nested: bool  # a function that was made inside the capture
    recursive: bool = False
    result: Result | None = None  # None: not known yet
    shared: tuple[Value, ...] = ()  # what the function reads from around it, handed on from call to call
    ordered: bool = False  # whether it has effects


def called(stage: Stage, f: Any, hooked: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call in its place, or by name if it is inside itself."""
    leaves, structure = flatten((args, kwargs))
    key = f.__code__, id(f.__closure__ and f), structure, tuple(_key(stage, x) for x in leaves)
    for running in stage.calls:
        if running.key == key:
            return _again(stage, running, leaves)
    mine = Activation(key, f"{f.__name__}.{len(stage.calls)}", f.__code__ in inner_codes)
    stage.calls.append(mine)
    mark = len(stage.log)
    try:
        with region() as inside:
            result = hooked(*args, **kwargs)
        if not mine.recursive:
            stage.region.adopt(inside.effects)
            return result
        stage.undo(mark)
        return _recursion(stage, mine, hooked, leaves, structure, result)
    finally:
        stage.calls.remove(mine)


def _key(stage: Stage, x: Any) -> Any:
    if isinstance(x, stage.world.tensor):
        data = stage.world.data(x)
        return ("tensor", data.type) if isinstance(data, Value) else id(x)
    try:
        hash(x)
    except TypeError:
        return id(x)
    return type(x), x


def _again(stage: Stage, running: Activation, leaves: list[Any]) -> Any:
    running.recursive = True
    if running.result is None:
        raise Bottom
    operands = [stage.world.value(x) for x in _open(stage, leaves)]
    call = p.control.NamedCall(running.name, running.result.types(), running.ordered)
    return running.result.around(stage, call(*operands, *running.shared))


def _open(stage: Stage, leaves: list[Any]) -> list[Any]:
    """The tensors among the arguments whose numbers are not known."""
    return [x for x in leaves if isinstance(x, stage.world.tensor) and isinstance(stage.world.data(x), Value)]


def _recursion(
    stage: Stage, mine: Activation, hooked: Callable[..., Any], leaves: list[Any], structure: Structure, first: Any
) -> Any:
    at = caller()
    mine.result = _joined(stage, None, first)
    inputs = [stage.world.value(x) for x in _open(stage, leaves)]
    for _ in range(PASSES):
        moment = now()
        params = fresh_params(tuple(v.type for v in inputs))
        values = iter([stage.world.wrap(v) for v in params])
        fresh = [next(values) if _open(stage, [x]) else x for x in leaves]
        args, kwargs = unflatten(structure, fresh)
        way = alternative(stage, lambda args=args, kwargs=kwargs: hooked(*args, **kwargs))  # type: ignore[misc]  # bound now
        if way is None:
            raise BranchError("this function always calls itself, so it never returns", at=at, hint="add a way out")
        if way.changes:
            raise Unstageable("a recursive function changes something outside of it", at)
        result = _joined(stage, mine.result, way.result)
        results = _values(stage, result, way.result)
        own = set(params)
        shared = tuple(v for v in independent([*way.effects, *results], params, moment) if v not in own)
        known = result.leaves == mine.result.leaves and shared == mine.shared
        if known and mine.ordered == bool(way.effects):
            definition = closed((*params, *shared), results, way.effects)
            recurse = p.control.Recurse(((mine.name, definition),), mine.name)
            return result.around(stage, recurse(*inputs, *shared))
        mine.result, mine.shared, mine.ordered = result, shared, bool(way.effects)
    raise Unstageable("the types in a recursion change with every call", at)


def _joined(stage: Stage, before: Result | None, returned: Any) -> Result:
    """What is known of the result, with one more way to return."""
    leaves, structure = flatten(returned)
    if any(isinstance(x, Unbound) for x in leaves):
        next(x for x in leaves if isinstance(x, Unbound)).complain()
    found: list[Any] = []
    for i, x in enumerate(leaves):
        if isinstance(x, stage.world.tensor):
            found.append(stage.world.value(x).tensor)
        else:
            t = number_type(x)
            old = before.leaves[i] if before is not None and before.structure == structure else None
            found.append(x if t is None else widest(t, old) if isinstance(old, TensorType) else t)
    return Result(structure, found)


def _values(stage: Stage, result: Result, returned: Any) -> list[Value]:
    both = zip(flatten(returned)[0], result.leaves, strict=True)
    return [
        stage.world.value(x) if isinstance(x, stage.world.tensor) else as_type(x, t)
        for x, t in both
        if isinstance(t, TensorType)
    ]
