"""Python inside programs: functions that are called, texts that are printed and mistakes that are raised when the
program runs. Without a program they happen now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dis import get_instructions as instructions
from types import CellType, FunctionType
from typing import Any

from mycelia.capture import Unstageable, current
from mycelia.capture.convert import inner_codes
from mycelia.capture.text import Text, written
from mycelia.eager.dispatch import mode
from mycelia.eager.parameter import Parameter
from mycelia.eager.tape import put, tape_of
from mycelia.eager.tensor import Tensor, as_value, wrap
from mycelia.errors import Location
from mycelia.primitives import Callee, HostCall
from mycelia.tree import Structure, flatten, unflatten
from mycelia.types import DType, TensorType

PLAIN = (str, bool, int, float, complex, bytes, DType)  # what never changes


def called(
    callee: Callee, types: Sequence[TensorType], tensors: Sequence[Tensor], stateful: bool = True
) -> tuple[Tensor, ...]:
    """What Python gives for arrays: as a part of the program, if one is being written, else now."""
    if mode.may_raise is not None and callee.raises:
        mode.may_raise()
    op = HostCall(callee, tuple(types), stateful)
    if mode.capturing:
        return tuple(wrap(v) for v in op(*[as_value(x) for x in tensors]))
    held = tuple(x.numbers() for x in tensors)
    out = callee(held, op.result_types)
    tape = tape_of(tensors)
    place = put(tape, _NoGradient(op), tensors, held, out) if tape is not None and out else -1
    return tuple(wrap(a, tape, place + i if place >= 0 else -1) for i, a in enumerate(out))


@dataclass(frozen=True, eq=False)
class _NoGradient:
    """A call of Python on the tape: whoever wants to go through it is told that there is no way."""

    op: HostCall

    def pull(self, needed: Any, ct: Any, out: Any, inputs: Any) -> Sequence[Any]:
        return self.op.vjp(ct, out, *inputs)

    derive = pull

    def push(self, tangents: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
        return self.op.vjp(tangents, None, *inputs)


def standing_alone(fn: Any) -> Any:
    """A Python function as a program can call it later: with the variables around it as they are now, if it was made
    while the program was written. Python runs what hands symbols, or variables to assign to, to such a function.
    """
    stage = current()
    if stage is None:
        return fn
    held = [*getattr(fn, "args", ()), *getattr(fn, "keywords", {}).values(), *getattr(fn, "__dict__", {}).values()]
    inner = isinstance(fn, FunctionType) and fn.__code__ in inner_codes and fn.__closure__ is not None
    cells = fn.__closure__ if inner else ()
    held += [c.cell_contents for c in cells]
    if any(isinstance(x, Tensor) and stage.symbolic(x) and not stage.is_itself(x) for x in flatten(held)[0]):
        raise Unstageable("a Python function that the program calls reads a tensor around it")
    if not inner:
        return fn
    changed = {i.argval for i in instructions(fn) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
    if not changed.isdisjoint(fn.__code__.co_freevars):
        raise Unstageable("a Python function that the program calls assigns to a variable around it")
    now = tuple(CellType(c.cell_contents) for c in cells)
    made = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, now)
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


@dataclass(frozen=True, eq=False)
class Said:
    """Words about tensors whose numbers are not known yet: a nest of tensors, texts, and what never changes."""

    structure: Structure
    leaves: tuple[Any, ...]  # None for a tensor, and words again for a text about tensors
    tensors: tuple[Tensor, ...]

    @staticmethod
    def of(nest: Any) -> Said | None:
        """The nest as words that can be said when the program runs; None if something in it may change until then."""
        leaves, structure = flatten(nest)
        kept: list[Any] = []
        tensors: list[Tensor] = []
        for x in leaves:
            inner = Said.of(x.pieces) if isinstance(x, Text) else None
            if isinstance(x, Parameter):
                kept.append(str(x))  # its name and type
            elif isinstance(x, Tensor):
                kept.append(None)
                tensors.append(x)
            elif inner is not None:
                kept.append(inner)
                tensors.extend(inner.tensors)
            elif type(x) in PLAIN:
                kept.append(x)
            else:
                return None
        return Said(structure, tuple(kept), tuple(tensors))

    def with_numbers(self, arrays: Iterator[Any]) -> Any:
        """The nest, when these are the numbers."""
        return unflatten(self.structure, [self._leaf(x, arrays) for x in self.leaves])

    @staticmethod
    def _leaf(x: Any, arrays: Iterator[Any]) -> Any:
        if x is None:
            return wrap(next(arrays))
        return written(x.with_numbers(arrays)) if isinstance(x, Said) else x


def printed(args: Sequence[Any], settings: Mapping[str, Any]) -> bool:
    """Print when the program runs; false if it is not known now what will have to be printed."""
    said = Said.of(list(args))
    plain = all(settings[k] is None or type(settings[k]) in (str, bool) for k in settings)
    if said is None or not plain or settings.get("file") is not None:
        return False
    called(Callee(_Printing(said, dict(settings)), "print", raises=False), (), said.tensors)
    return True


@dataclass(frozen=True, eq=False)
class _Printing:
    said: Said
    settings: Mapping[str, Any]

    def __call__(self, *arrays: Any) -> None:
        print(*self.said.with_numbers(iter(arrays)), **self.settings)


def failed(kind: type[BaseException], args: Sequence[Any], at: Location | None) -> bool:
    """Raise when the program runs; false if it is not known now what the error will have to say."""
    said = Said.of(list(args))
    if said is None:
        return False
    called(Callee(_Failing(kind, said, at), f"raise {kind.__name__}"), (), said.tensors)
    return True


@dataclass(frozen=True, eq=False)
class _Failing:
    kind: type[BaseException]
    said: Said
    at: Location | None

    def __call__(self, *arrays: Any) -> None:
        words = [str(x) if type(x) not in PLAIN else x for x in self.said.with_numbers(iter(arrays))]
        error = self.kind(*words)
        if self.at is not None:
            error.add_note(f"at {self.at}")
        raise error
