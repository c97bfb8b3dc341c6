"""Sequences: what a loop leaves behind. How cotangents of them are made and added, and how examples are separated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from mycelia import primitives as p
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Op, Purity, Sample, Value
from mycelia.primitives.control.runtime import add_structures, example, together
from mycelia.primitives.creation import ADD, ZEROS
from mycelia.transforms.vmap import REPEAT, lockstep
from mycelia.types import FrameType, SequenceType, Type


@frozen
class OfStructures(Op, abstract=True):
    """An op on sequences or frames. Samples are arrays; programs that loop and recurse are the tests of these."""

    purity: ClassVar[Purity] = Purity.TOTAL

    def axes(self, *inputs: Type) -> str:
        return ", ".join("1" for _ in inputs) + " -> 1"

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        return ()


@frozen
class Null(OfStructures):
    """Zero of a type that is not a tensor: nothing at all, read as zeros. Also fills what nobody will read."""

    type: Type
    native: ClassVar[Lowered] = Lowered.STEP

    def infer(self) -> Type:
        return self.type

    def reference(self) -> None:
        return None

    def vjp(self, ct: Value, out: Value) -> Cotangents:
        return ()

    def vmap(self, size: int, mapped: tuple[bool, ...]) -> Value:
        return null(SequenceType(self.type))


def null(t: Type) -> Value:
    """Zero of a type that is not a tensor.

    >>> from mycelia.types import TensorType, float32
    >>> str(null(SequenceType(TensorType(float32, ()))).type)
    'seq<f32[]>'
    """
    return Value(Null(t))


@frozen
class AddSequence(OfStructures):
    """The sum of two cotangents of one sequence, element by element; zero where both are nothing."""

    native: ClassVar[Lowered] = Lowered.STEP
    commutative: ClassVar[bool] = True

    def infer(self, x: Type, y: Type) -> Type:
        assert x == y, f"cotangents of one sequence have types {x} and {y}"
        return x

    def reference(self, x: Any, y: Any) -> Any:
        return add_structures(x, y)

    def vjp(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        return ct, ct

    def jvp(self, tangents: Sequence[Any], out: Value, x: Value, y: Value) -> Any:
        return sum_of_tangents(tangents)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, y: Value) -> Value:
        return Value(self, (_alike(x, mapped[0], y, size), _alike(y, mapped[1], x, size)))


def sum_of_tangents(tangents: Sequence[Any]) -> Any:
    """The sum of those that are not None.

    >>> from mycelia.types import float32
    >>> sum_of_tangents([None, p.ones(float32, ())]) is p.ones(float32, ())
    True
    """
    given = [t for t in tangents if t is not None]
    return given[0] if len(given) == 1 else ADD[type(given[0].type)](*given)


def _alike(x: Value, mapped: bool, other: Value, size: int) -> Value:
    """`x` in the form of `other`: in lock-step, or ragged, which is one sequence deeper."""
    if x.type == other.type or _depth(x.type) > _depth(other.type):
        return x
    if not mapped:
        separate = p.control.repeat_each(x, size)
        return separate if separate.type == other.type else Value(JoinBatch(x.type, size), (separate,))
    assert isinstance(other.type, SequenceType), f"{other} is no sequence"
    return Value(SplitBatch(other.type.element, size), (x,))


def _depth(t: Type) -> int:
    return 1 + _depth(t.element) if isinstance(t, SequenceType) else 0


@frozen
class SplitBatch(OfStructures):
    """A sequence whose elements hold `size` examples each, as one sequence of type `type` for each example."""

    type: Type
    size: int
    native: ClassVar[Lowered] = Lowered.STEP

    def infer(self, x: Type) -> Type:
        assert x == lockstep(self.type, self.size), f"{x} does not hold {self.size} examples of {self.type}"
        return SequenceType(self.type)

    def reference(self, x: Any) -> Any:
        return [example(x, i) for i in range(self.size)]

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (Value(JoinBatch(self.type, self.size), (ct,)),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return p.control.each(self, size, (lockstep(self.type, self.size),), (x,))


@frozen
class JoinBatch(OfStructures):
    """One sequence for each of `size` examples, all of one length, as a sequence whose elements hold them all."""

    type: Type
    size: int
    native: ClassVar[Lowered] = Lowered.STEP

    def infer(self, x: Type) -> Type:
        assert x == SequenceType(self.type), f"{x} is not one {self.type} for each example"
        return lockstep(self.type, self.size)

    def reference(self, x: Any) -> Any:
        return None if x is None else together(x, self.type)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (Value(SplitBatch(self.type, self.size), (ct,)),)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return p.control.each(self, size, (SequenceType(self.type),), (x,))


def _repeat_sequence(x: Value, size: int) -> Value:
    """The same sequence for every example, in lock-step."""
    return Value(JoinBatch(x.type, size), (p.control.repeat_each(x, size),))


ADD[SequenceType] = AddSequence()
ZEROS[SequenceType] = ZEROS[FrameType] = null
REPEAT[SequenceType] = _repeat_sequence
