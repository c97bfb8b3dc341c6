"""What a function is to C: arguments, results, and state that it reads and changes; from a captured program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia import primitives as p
from mycelia.capture.capturing import capture
from mycelia.capture.holding import there
from mycelia.capture.program import New, Outside, Result
from mycelia.capture.sizing import Naming
from mycelia.capture.slots import DATA, CallRoot
from mycelia.capture.statements import Exit
from mycelia.capture.values import Break
from mycelia.capture.world import Array, Object, Read
from mycelia.eager import Tensor
from mycelia.eager.tensor import Outline
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.ir import Function, Op
from mycelia.types import TensorType


@frozen
class CFunction:
    """A function as C sees it. Inputs of the graph are arguments ("argument", place) or state ("state", tensor)."""

    name: str
    function: Function
    donated: dict[int, int]
    inputs: tuple[tuple[str, Any], ...]  # for each parameter of the function
    arguments: tuple[TensorType, ...]
    results: tuple[int, ...]  # which results of the function C gets
    writes: tuple[tuple[Tensor, int], ...]  # state, and the result that becomes its data
    flags: tuple[int, ...]  # results that say that a position does not exist
    asking: Function | None  # the function, with results in front that say so before it does anything

    @property
    def state(self) -> list[Tensor]:
        """The tensors that live between calls, those that are only written too."""
        read = [what for kind, what in self.inputs if kind == "state"]
        found = {id(t): t for t in (*read, *[t for t, _ in self.writes])}
        return list(found.values())


def described(name: str, fn: Callable[..., Any], args: Sequence[Any]) -> CFunction:
    """`fn` at arguments like these, for C. Nothing is run, and nothing changes."""
    if not all(isinstance(a, Tensor) for a in args):
        raise ArgumentError(
            f"{name} is exported with tensors as arguments",
            given={"arguments": ", ".join(type(a).__name__ for a in args)},
            hint="what is no tensor is a constant of the exported function: bind it with functools.partial or a lambda",
        )
    for a in args:
        if isinstance(a, Outline):
            raise ArgumentError(
                f"{name} is exported for the sizes of its arguments, and {a.shape} leaves some open",
                hint="give a tensor of the size to come",
            )
    if len({id(a) for a in args}) < len(args):
        raise ArgumentError(f"{name} is exported with different tensors as arguments", hint="give each one of its own")
    return written_down(name, fn, args, args)


def written_down(
    name: str, fn: Callable[..., Any], args: Sequence[Any], tensors: Sequence[Tensor], naming: Naming | None = None,
    own: Callable[[Any], Any] = p.stop_gradient,
) -> CFunction:  # fmt: skip
    """`fn` at arguments like these, in which these tensors are; `own` makes a result a tensor of its own."""
    inner = getattr(fn, "__captured__", fn)
    call = CallRoot(lambda *given: leaves(inner(*given), own), tuple(args), {})
    try:
        program = capture(call, frozenset(), naming)
    except Break as reason:
        raise ArgumentError(
            f"{name} cannot be exported, because Python would have to run a part of it: {reason.why}", at=reason.at,
            hint="jit(fn, fullgraph=True) says the same for a call",
        ) from None  # fmt: skip
    world, ending = program.world, program.ending
    owners = {
        r.expect.input: there(world.objects[r.parent])
        for r in world.reads
        if isinstance(r, Read) and r.slot == DATA and isinstance(r.expect, Array)
    }
    places = {id(a): i for i, a in enumerate(tensors)}
    inputs: list[tuple[str, Any]] = []
    for i in ending.inputs:
        owner = owners.get(i)
        if owner is None:
            raise ArgumentError(f"{name} reads numbers that are neither an argument nor a tensor", hint="use a Tensor")
        inputs.append(("argument", places[id(owner)]) if id(owner) in places else ("state", owner))
    for effect in ending.function.effects:
        raise ArgumentError(
            f"{name} cannot be exported with {_told(effect.op)}",  # type: ignore[arg-type]  # no parameter has effects
            at=effect.location,
        )
    before = {(r.parent, r.slot): r.expect for r in world.reads if isinstance(r, Read)}
    writes = []
    for obj, slot, value in ending.writes:
        was = before.get((obj.number, slot))
        if isinstance(value, Outside) and isinstance(was, Object) and was.number == value.number:
            continue  # what was put aside for a while, as `Cell.to_float` does, is there again
        tensor = there(world.objects[obj.number])
        if slot != DATA or not isinstance(value, Result) or id(tensor) in places:
            raise ArgumentError(
                f"{name} changes something else than a tensor that is kept between calls",
                given={"changed": f"{obj.kind}: {slot[0]} {slot[1]}"},
                hint="in an exported function parameters change, and nothing else",
            )
        writes.append((tensor, value.place))
    return CFunction(
        name, ending.function, program.donated, tuple(inputs), tuple(TensorType(a.dtype, a.shape) for a in tensors),
        _results(name, ending), tuple(writes), ending.flags, ending.asking,
    )  # fmt: skip


def _told(op: Op) -> str:
    """What an effect is, that only a process of Python has."""
    if op.born is not None:
        return "sizes that come out of data, such as those of x[x > 0]"
    return f"{op.name}, which needs Python or other processes"


def leaves(nest: Any, own: Callable[[Any], Any] = p.stop_gradient) -> tuple[Any, ...]:
    """What a function returns, one after the other, as tensors of their own: C gets numbers, and no aliases.

    >>> [x.tolist() for x in leaves([Tensor([1.0]), {"a": Tensor([2.0])}])]
    [[1.0], [2.0]]
    """
    if isinstance(nest, dict):
        nest = tuple(nest.values())
    if isinstance(nest, tuple | list):
        found: tuple[Any, ...] = ()
        for part in nest:
            found = found + leaves(part, own)
        return found
    return (own(nest),) if isinstance(nest, Tensor) else (nest,)


def _results(name: str, ending: Any) -> tuple[int, ...]:
    """Which results of the graph are returned, in order."""
    outcome = ending.outcome
    if not isinstance(outcome, Exit) or outcome.kind != "return":
        raise ArgumentError(f"{name} may raise, or return different things", hint="return tensors on every way")
    found = []
    for leaf in outcome.value:
        is_new = isinstance(leaf, New)
        place = next((v for slot, v in ending.slots[leaf.key] if slot == DATA), None) if is_new else None
        if not isinstance(place, Result):
            kind = leaf.kind.__name__ if is_new else type(leaf).__name__
            raise ArgumentError(
                f"{name} returns a {kind}, and C gets tensors",
                hint="an exported function returns tensors, alone or in tuples, lists and dictionaries",
            )
        found.append(place.place)
    if not found and not ending.writes:
        raise ArgumentError(f"{name} returns no tensor and changes none")
    return tuple(found)
