"""Python inside programs: functions that are called, texts that are printed and mistakes that are raised when the
program runs. Without a program they happen now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mycelia.eager.dispatch import mode
from mycelia.eager.parameter import Parameter
from mycelia.eager.tape import put, tape_of
from mycelia.eager.tensor import Tensor, as_value, wrap
from mycelia.frozen import frozen
from mycelia.primitives import Callee, HostCall
from mycelia.tree import Structure, flatten, unflatten
from mycelia.types import DType, TensorType

PLAIN = (str, bool, int, float, complex, bytes, DType)  # what never changes


def called(
    callee: Callee, types: Sequence[TensorType], tensors: Sequence[Tensor], stateful: bool = True
) -> tuple[Tensor, ...]:
    """What Python gives for arrays: as a part of the program, if one is being written, else now."""
    op = HostCall(callee, tuple(types), stateful)
    if mode.capturing:
        return tuple(wrap(v) for v in op(*[as_value(x) for x in tensors]))
    held = tuple(x.numbers() for x in tensors)
    out = callee(held, op.result_types)
    tape = tape_of(tensors)
    place = put(tape, _NoGradient(op), tensors, held, out) if tape is not None and out else -1
    return tuple(wrap(a, tape, place + i if place >= 0 else -1) for i, a in enumerate(out))


@frozen(eq=False)
class _NoGradient:
    """A call of Python on the tape: whoever wants to go through it is told that there is no way."""

    op: HostCall

    def pull(self, needed: Any, ct: Any, out: Any, inputs: Any) -> Sequence[Any]:
        return self.op.vjp(ct, out, *inputs)

    derive = pull

    def push(self, tangents: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
        return self.op.vjp(tangents, None, *inputs)


@frozen(eq=False)
class Said:
    """Words about tensors whose numbers are not known yet: a nest of tensors, texts, and what never changes."""

    structure: Structure
    leaves: tuple[Any, ...]  # None for a tensor
    tensors: tuple[Tensor, ...]

    @staticmethod
    def of(nest: Any) -> Said | None:
        """The nest as words that can be said when the program runs; None if something in it may change until then."""
        leaves, structure = flatten(nest)
        kept: list[Any] = []
        tensors: list[Tensor] = []
        for x in leaves:
            if isinstance(x, Parameter):
                kept.append(str(x))  # its name and type
            elif isinstance(x, Tensor):
                kept.append(None)
                tensors.append(x)
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
        return wrap(next(arrays)) if x is None else x


def printed(args: Sequence[Any], settings: Mapping[str, Any]) -> bool:
    """Print when the program runs; false if it is not known now what will have to be printed."""
    said = Said.of(list(args))
    plain = all(settings[k] is None or type(settings[k]) in (str, bool) for k in settings)
    if said is None or not plain or settings.get("file") is not None:
        return False
    called(Callee(_Printing(said, dict(settings)), "print", raises=False), (), said.tensors)
    return True


@frozen(eq=False)
class _Printing:
    said: Said
    settings: Mapping[str, Any]

    def __call__(self, *arrays: Any) -> None:
        print(*self.said.with_numbers(iter(arrays)), **self.settings)
