"""Frames: the residuals of one activation of a recursive function, in a box whose type is a name.

At run time a frame is a tuple; None is a frame of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from mycelia import primitives as p
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Several, Value, algebra
from mycelia.primitives.control.runtime import add_structures, zero_of
from mycelia.primitives.control.sequence import OfStructures, sum_of_tangents
from mycelia.primitives.creation import ADD
from mycelia.transforms.structured import chosen, placed
from mycelia.types import FrameType, SequenceType, TupleType, Type, cotangent_type, define_frame, frame_fields


@frozen
class MakeFrame(OfStructures):
    """Values in a frame called `frame`. The first frame of a name says what all frames of that name hold."""

    frame: str
    native: ClassVar[Lowered] = Lowered.STEP

    def infer(self, *fields: Type) -> FrameType:
        if not self.frame.endswith("~"):
            return define_frame(self.frame, fields)
        expected = frame_fields(FrameType(self.frame))
        assert fields == expected, f"a frame {self.frame} holds {expected}, not {fields}"
        return FrameType(self.frame)

    def reference(self, *fields: Any) -> Any:
        return fields

    def vjp(self, ct: Value, out: Value, *fields: Value) -> Cotangents:
        smooth = [x.type.differentiable for x in fields]
        return tuple(placed(smooth, open_frame(ct)))

    def jvp(self, tangents: Sequence[Any], out: Value, *fields: Value) -> Any:
        moved = [
            algebra.zeros(cotangent_type(x.type)) if t is None else t
            for x, t in zip(fields, tangents, strict=True)
            if x.type.differentiable
        ]
        return Value(MakeFrame(self.frame + "~"), tuple(moved))

    def vmap(self, size: int, mapped: tuple[bool, ...], *fields: Value) -> Any:
        return p.control.each(self, size, frame_fields(FrameType(self.frame)), fields)


@frozen
class OpenFrame(Several, OfStructures):
    """The values in a frame, of these types."""

    fields: tuple[Type, ...]
    native: ClassVar[Lowered] = Lowered.STEP

    def infer(self, frame: Type) -> TupleType:
        assert isinstance(frame, FrameType), f"{frame} is no frame"
        if not frame.name.endswith("~"):
            define_frame(frame.name, self.fields)
        return TupleType(self.fields)

    def reference(self, frame: Any) -> Any:
        return tuple(map(zero_of, self.fields)) if frame is None else frame

    def vjp(self, ct: Any, out: Any, frame: Value) -> Cotangents:
        assert isinstance(frame.type, FrameType), f"{frame} is no frame"
        cts = [algebra.zeros(cotangent_type(t)) if c is None else c for c, t in zip(ct, self.fields, strict=True)]
        smooth = [t.differentiable for t in self.fields]
        return (Value(MakeFrame(frame.type.name + "~"), tuple(chosen(smooth, cts))),)

    def jvp(self, tangents: Sequence[Any], out: Any, frame: Value) -> Any:
        return placed([t.differentiable for t in self.fields], open_frame(tangents[0]))

    def vmap(self, size: int, mapped: tuple[bool, ...], frame: Value) -> Any:
        assert isinstance(frame.type, SequenceType), f"{frame} holds no frames"
        return p.control.each(self, size, (frame.type.element,), (frame,))


def open_frame(frame: Value) -> tuple[Value, ...]:
    """The values in a frame.

    >>> from mycelia.types import float32
    >>> held = MakeFrame("a doctest")(p.full(2.0, float32, ()))
    >>> [str(field.type) for field in open_frame(held)]
    ['f32[]']
    """
    assert isinstance(frame.type, FrameType), f"{frame} is no frame"
    return OpenFrame(frame_fields(frame.type))(frame)


@frozen
class AddFrame(OfStructures):
    """The sum of two cotangents of one frame, field by field; zero where both are nothing."""

    native: ClassVar[Lowered] = Lowered.STEP
    commutative: ClassVar[bool] = True

    def infer(self, x: Type, y: Type) -> Type:
        assert x == y, f"cotangents of one frame have types {x} and {y}"
        return x

    def reference(self, x: Any, y: Any) -> Any:
        return add_structures(x, y)

    def vjp(self, ct: Value, out: Value, x: Value, y: Value) -> Cotangents:
        # the sum of two frames of type t has a cotangent of type t~, as have both
        return ct, ct

    def jvp(self, tangents: Sequence[Any], out: Value, x: Value, y: Value) -> Any:
        return sum_of_tangents(tangents)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value, y: Value) -> Value:
        both = [v if m else p.control.repeat_each(v, size) for v, m in zip((x, y), mapped, strict=True)]
        return ADD[SequenceType](*both)


ADD[FrameType] = AddFrame()
