"""One way to run a jitted function: for arguments of certain types, while all it read from outside is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mycelia.api.native import Native
from mycelia.backends import Backend
from mycelia.capture import Captured, Computed, Given, Kept
from mycelia.eager import Parameter, Tensor, wrap
from mycelia.eager.dispatch import settle
from mycelia.eager.tape import recording
from mycelia.errors import Location, MyceliaError
from mycelia.ir import Function, Value, inner_functions, names_of
from mycelia.primitives import HostCall
from mycelia.runtime.arena import Arena
from mycelia.runtime.interrupts import whole
from mycelia.types import TensorType


def plain_signature(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The signature of arguments that are all tensors, which is most often so; None if they are not."""
    key: list[Any] = []
    for x in args:
        if x.__class__ is not Tensor:
            return None
        data = x._data
        key += data.dtype, data.shape
    return tuple(key)


def signature(leaves: Sequence[Any]) -> tuple[Any, ...]:
    """What a specialisation depends on: the types of tensors, the values of numbers, the identity of other things."""
    key: list[Any] = []
    for x in leaves:
        if x.__class__ is Tensor:
            data = x._data
            key.append((data.dtype, data.shape))
        elif isinstance(x, Tensor):
            key.append((id(x), x._data.dtype, x._data.shape))
        elif isinstance(x, int | str | bool | bytes):
            key.append((x.__class__, x))
        elif isinstance(x, float):
            key.append(x.hex())
        else:
            key.append(id(x))
    return tuple(key)


def always() -> bool:
    """Nothing is guarded."""
    return True


@dataclass(frozen=True)
class Fallback:
    """Python runs the function: why, and which line asked for it."""

    why: str
    at: Location | None
    holds: Callable[[], bool]
    fn: Callable[..., Any]
    alive: Any  # the arguments, so that the identity of an object in the signature stays its own
    parts: tuple[Any, ...] = ()  # what runs compiled all the same

    def run(self, args: Any, kwargs: Any, leaves: Sequence[Any]) -> Any:
        return self.fn(*args, **kwargs)

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for part in self.parts for line in part.explain().splitlines()[1:])


class Compiled:
    """A captured program, and the native function that runs it."""

    def __init__(self, captured: Captured, fn: Callable[..., Any], alive: Any, backend: Backend | None) -> None:
        self.captured, self.fn, self.alive = captured, fn, alive
        self.changes_arguments = any(isinstance(target, Given) for target, _ in captured.writes)
        fn = captured.function
        first = len(captured.arguments)
        places = {id(x): first + i for i, x in enumerate(captured.outside)}
        donated: dict[int, int] = {}
        for target, result in captured.writes:
            if isinstance(target, Kept) and id(target.thing) in places:
                param = places[id(target.thing)]
                if fn.types[param] == fn.result_types[result] and param not in donated.values():
                    donated[result] = param
        self.native = Native(fn, donated, backend)
        nests = [captured.returned, *[nest for _, _, nest in captured.effects]]
        self.shown = 1 + max((q.place for n in nests for q in n.parts if isinstance(q, Computed)), default=-1)
        outside = fn.types[first:]
        self.expected = [
            (x, t.dtype.numpy, t.shape)
            for x, t in zip(captured.outside, outside, strict=True)
            if isinstance(t, TensorType)
        ]

    def holds(self) -> bool:
        """Whether a call now would do the same."""
        for x, dtype, shape in self.expected:
            data = x._data
            if (data.dtype is not dtype and data.dtype != dtype) or data.shape != shape:
                return False
        return self.captured.holds()

    def run(self, args: Any, kwargs: Any, leaves: Sequence[Any]) -> Any:
        if not self.captured.writes:
            return self._run(args, kwargs, leaves)
        if not recording():
            inputs = [*(leaves[i] for i in self.captured.arguments), *self.captured.outside]
            settle()
            self.native.prepare([x._data for x in inputs])
            del inputs
            with Arena.turn, whole():
                return self._run(args, kwargs, leaves)
        with whole():
            return self._run(args, kwargs, leaves)

    def _run(self, args: Any, kwargs: Any, leaves: Sequence[Any]) -> Any:
        captured = self.captured
        if self.changes_arguments and len({id(x) for x in leaves}) < len(leaves):
            return self.fn(*args, **kwargs)  # a tensor that was given twice changes in both places
        inputs = [leaves[i] for i in captured.arguments]
        inputs += captured.outside
        held = [x._data for x in inputs]
        if Value in map(type, held):
            settle()  # another thread has begun to capture
            held = [x._data for x in inputs]
        before = tuple(held) if captured.function.effects else ()
        if recording():
            outs: Sequence[Tensor] = self.native.apply(inputs)
            _unchanged(inputs, before)
            for target, place in captured.writes:
                _target(target, leaves).become(outs[place])
        else:
            arrays = self.native.run(held)
            _unchanged(inputs, before)
            for target, place in captured.writes:
                tensor = _target(target, leaves)
                tensor._data, tensor._tape = arrays[place], None
            outs = [wrap(a) for a in arrays[: self.shown]]
        for owner, name, nest in captured.effects:
            setattr(owner, name, nest.built(outs, leaves))
        return captured.returned.built(outs, leaves)

    def __str__(self) -> str:
        fn = self.captured.function
        takes = ", ".join(map(str, fn.types))
        gives = ", ".join(map(str, fn.result_types))
        changed = ", ".join(
            repr(t.thing) if not isinstance(t.thing, Parameter) else t.thing.name
            for t, _ in self.captured.writes
            if isinstance(t, Kept)
        )
        lines = [
            f"one native call: ({takes}) -> ({gives})",
            f"  values: {len(fn.values())}, guards: {len(self.captured.guards.reads)}, "
            f"tensors from outside: {len(self.captured.outside)}",
        ]
        sizes = _relied_on(fn)
        lines += [f"  for sizes where {sizes}"] if sizes else []
        lines += [f"  changes: {changed}"] if changed else []
        python = ", ".join(dict.fromkeys(called_by(fn)))
        lines += [f"  calls Python: {python}"] if python else []
        return "\n".join(lines)


def _relied_on(fn: Function) -> str:
    """What a program relies on of its symbolic sizes: the bounds of their names, and its guards."""
    names = names_of(fn)
    bounds = [f"{n} >= {n.low}" for n in names]
    return ", ".join([*bounds, *(str(g) for g in names[0].scope.guards)] if names else [])


def _unchanged(inputs: Sequence[Tensor], before: Sequence[Any]) -> None:
    """Complain if Python, which the program called, made a tensor hold something else that the program had read."""
    if before and any(x._data.__class__ is Value for x in inputs):
        settle()
    for x, data in zip(inputs, before, strict=False):
        if x._data is not data:
            which = getattr(x, "name", "a tensor")
            raise MyceliaError(
                f"a Python function that a program calls has changed {which}, which the program reads",
                hint="let the function give the new numbers, and assign them outside of it",
            )


def called_by(fn: Function) -> list[str]:
    """The Python functions that a program calls, by name."""
    found = []
    for v in fn.values():
        if isinstance(v.op, HostCall):
            found.append(v.op.callee.name.rpartition(".")[0])
        for inner in inner_functions(v.op):
            found += called_by(inner)
    return found


def _target(target: Any, leaves: Sequence[Any]) -> Tensor:
    """The tensor that a result is written to."""
    return leaves[target.place] if target.__class__ is Given else target.thing  # type: ignore[no-any-return]  # a tensor
