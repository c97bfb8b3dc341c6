"""Scan: a loop whose number of turns is known when it starts, over the elements of sequences or tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import BranchError
from mycelia.frozen import frozen
from mycelia.ir import Back, Function, Lowered, Mistake, Purity, Sample, Value, interpret
from mycelia.primitives.control.loop import LoopParts, Pullback, Pushforward
from mycelia.primitives.control.map import each
from mycelia.primitives.control.runtime import stack, zero_of
from mycelia.transforms import Structured, repeated
from mycelia.types import SequenceType, TensorType, TupleType, Type, float64, int64

COUNT = TensorType(int64, ())


@frozen
class Scan(Structured):
    """`body` for each element, in order or in reverse, where each turn hands its carries to the next. Element i of
    each y comes from the turn that had element i of each x.

    With `static_length` the number of turns is that, and there is no length among the operands: elements that are
    tensors lie along the first axis of a tensor. Without it all xs and ys are sequences. Other elements (sequences,
    frames) are in a sequence always.
    """

    body: Function
    constants: int
    carries: int
    reverse: bool = False
    static_length: int | None = None
    native: ClassVar[Lowered] = Lowered.STEP
    straight: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.parts.check()

    @property
    def alone(self) -> Purity:  # type: ignore[override]  # of a loop, not of the class
        """Whoever did not ask for 10¹⁵ turns need not wait for them: only a loop of known length is total."""
        return Purity.PARTIAL if self.static_length is None else Purity.TOTAL

    @property
    def parts(self) -> LoopParts:
        return LoopParts(self.body, self.constants, self.carries)

    @property
    def first(self) -> int:
        """How many operands come before the constants: the length, unless it is static."""
        return 1 if self.static_length is None else 0

    def collected(self, element: Type) -> Type:
        """The type that holds an element of each turn."""
        if self.static_length is not None and isinstance(element, TensorType):
            return element.with_shape((self.static_length, *element.shape))
        return SequenceType(element)

    @property
    def operand_types(self) -> tuple[Type, ...]:
        whole = self.body.types[: self.constants + self.carries]
        return (*[COUNT] * self.first, *whole, *map(self.collected, self.parts.x_types))

    def infer(self, *inputs: Type) -> TupleType:
        if inputs != self.operand_types:
            raise BranchError(
                "a scan is given operands of other types",
                given={"operands": ", ".join(map(str, inputs)), "needed": ", ".join(map(str, self.operand_types))},
                hint="a tensor that is scanned needs as many rows as the scan has turns",
            )
        return TupleType((*self.parts.carry_types, *map(self.collected, self.parts.y_types)))

    def reference(self, *inputs: Any) -> Any:
        length = int(inputs[0]) if self.static_length is None else self.static_length
        operands = inputs[self.first :]
        constants, rest = operands[: self.constants], operands[self.constants :]
        carries, xs = rest[: self.carries], rest[self.carries :]
        ys: list[list[Any]] = [[None] * length for _ in self.parts.y_types]
        for i in reversed(range(length)) if self.reverse else range(length):
            elements = [zero_of(t) if x is None else x[i] for x, t in zip(xs, self.parts.x_types, strict=True)]
            results = interpret(self.body, *constants, *carries, *elements)
            carries = results[: self.carries]
            for sequence, y in zip(ys, results[self.carries :], strict=True):
                sequence[i] = y
        if self.static_length is None:
            return (*carries, *ys)
        return (*carries, *[stack(y, t) for y, t in zip(ys, self.parts.y_types, strict=True)])

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        length, operands = inputs[: self.first], inputs[self.first :]
        pullback = Pullback(self.parts, *self.parts.active(wanted[self.first :], live))
        outs = Scan(pullback.forward, self.constants, self.carries, self.reverse, self.static_length)(*inputs)

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            def scan(body: Function, constants: int, carries: int) -> Any:
                other_way = Scan(body, constants, carries, not self.reverse, self.static_length)
                return lambda *values: other_way(*length, *values)

            return (*[None] * self.first, *pullback.pull(scan, operands, outs, cts))

        return outs[: len(self.body.results)], back

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        length, operands = inputs[: self.first], inputs[self.first :]
        given = tangents[self.first :]
        moving = Pushforward(self.parts, *self.parts.moving([t is not None for t in given]))
        both = moving.joined(operands, moving.tangents(given, operands))
        scan = Scan(moving.forward, moving.constants, moving.carries, self.reverse, self.static_length)
        return moving.parted(scan(*length, *both))

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        if self.first and mapped[0]:
            return each(self, size, self.operand_types, inputs)
        length, operands = inputs[: self.first], list(inputs[self.first :])
        x = self.constants + self.carries
        xs = zip(operands[x:], self.parts.x_types, mapped[self.first + x :], strict=True)
        operands[x:] = [self._turned(v, t, size) if m else v for v, t, m in xs]
        body = self.parts.in_lockstep(size, [*[v.type for v in operands[:x]], *map(self._element, operands[x:])])
        if body is None:
            return each(self, size, self.operand_types, inputs)
        for i in range(self.constants, x):
            if body.types[i] != operands[i].type:
                operands[i] = repeated(operands[i], operands[i].type, size)
        outs = list(Scan(body, self.constants, self.carries, self.reverse, self.static_length)(*length, *operands))
        for i, (new, old) in enumerate(zip(body.result_types, self.body.result_types, strict=True)):
            if i >= self.carries and new != old:
                outs[i] = self._turned(outs[i], old, size)
        return outs

    def _turned(self, v: Value, element: Type, size: int) -> Value:
        """Turns before examples instead of examples before turns, or back, where both are axes of a tensor."""
        if self.static_length is None or not isinstance(element, TensorType):
            return v
        return p.transpose(v, (1, 0, *range(2, len(v.shape))))

    def _element(self, v: Value) -> Type:
        """What one turn sees of an x."""
        if isinstance(v.type, SequenceType):
            return v.type.element
        return v.tensor.with_shape(v.shape[1:])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        scalar, row = TensorType(float64, ()), TensorType(float64, (2,))
        body = Function.build(lambda w, h, x: (p.tanh(h * w + x), h * x), scalar, row, row)
        inputs = np.array(0.7), np.array([0.1, -0.4]), np.linspace(-1, 1, 6).reshape(3, 2)
        yield from (Sample(cls(body, 1, 1, reverse, 3), inputs) for reverse in (False, True))
        yield Sample(cls(body, 1, 1, False, 0), (*inputs[:2], inputs[2][:0]), note="no turn")
        power = Function.build(lambda w, h: (h * w,), scalar, scalar)
        yield Sample(cls(power, 1, 1), (np.int64(5), np.array(1.1), np.array(0.7)), note="counted")

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        scalar = TensorType(float64, ())
        total = Function.build(lambda h, x: (h + x,), scalar, scalar)
        wide = Function.build(lambda h, x: (p.broadcast(h, (2,)),), scalar, scalar)
        h = p.zeros(float64, ())
        yield Mistake(lambda: cls(wide, 0, 1, False, 3), BranchError, "carry 0 of a loop changes its type")
        yield Mistake(lambda: cls(total, 0, 1, False, 3)(h, p.zeros(float64, (2,))), BranchError, "as many rows")
