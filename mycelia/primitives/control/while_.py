"""While: a loop whose number of turns nobody knows before it has run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import BranchError
from mycelia.frozen import frozen
from mycelia.ir import Back, Function, Lowered, Mistake, Purity, Sample, Value, interpret
from mycelia.primitives.control.cond import TRUTH
from mycelia.primitives.control.lanes import each_is_better, guarded, lanes_of
from mycelia.primitives.control.loop import LoopParts, Pullback, Pushforward
from mycelia.primitives.control.map import each
from mycelia.primitives.control.scan import COUNT, Scan
from mycelia.transforms import Structured, batch, repeated
from mycelia.types import SequenceType, TensorType, TupleType, Type, float64, int64


@frozen
class While(Structured):
    """`body` again and again while `condition` holds. The first operands are the same in every turn."""

    condition: Function
    body: Function
    constants: int
    native: ClassVar[Lowered] = Lowered.STEP
    alone: ClassVar[Purity] = Purity.PARTIAL
    straight: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.condition.result_types != (TRUTH,):
            raise BranchError(
                f"a loop goes on by one truth value, not by {', '.join(map(str, self.condition.result_types))}",
                hint="reduce it with all() or any()",
            )
        assert self.condition.types == self.body.types, "condition and body of a loop take different parameters"
        self.parts.check()

    @property
    def parts(self) -> LoopParts:
        return LoopParts(self.body, self.constants, len(self.body.params) - self.constants)

    def infer(self, *inputs: Type) -> TupleType:
        if inputs != self.body.types:
            raise BranchError(
                "a loop starts from other types than it goes on with",
                given={"start": ", ".join(map(str, inputs)), "body": ", ".join(map(str, self.body.types))},
                hint="make the value before the loop have the shape and element type that the body gives",
            )
        return TupleType((*self.parts.carry_types, COUNT, *map(SequenceType, self.parts.y_types)))

    def reference(self, *inputs: Any) -> Any:
        constants, carries = inputs[: self.constants], inputs[self.constants :]
        ys: list[list[Any]] = [[] for _ in self.parts.y_types]
        turns = 0
        while interpret(self.condition, *constants, *carries)[0]:
            results = interpret(self.body, *constants, *carries)
            carries, new = results[: len(carries)], results[len(carries) :]
            turns += 1
            for sequence, y in zip(ys, new, strict=True):
                sequence.append(y)
        return (*carries, np.int64(turns), *ys)

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        k = self.parts.carries
        pullback = Pullback(self.parts, *self.parts.active(wanted, (*live[:k], *live[k + 1 :])))
        outs = While(self.condition, pullback.forward, self.constants)(*inputs)
        count = outs[k]

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            def scan(body: Function, constants: int, carries: int) -> Any:
                return lambda *operands: Scan(body, constants, carries, reverse=True)(count, *operands)

            return tuple(pullback.pull(scan, inputs, (*outs[:k], *outs[k + 1 :]), (*cts[:k], *cts[k + 1 :])))

        return outs[: k + 1 + len(self.parts.y_types)], back

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        moving = Pushforward(self.parts, *self.parts.moving([t is not None for t in tangents]))
        operands = moving.joined(inputs, moving.tangents(tangents, inputs))
        k = self.parts.carries
        first = moving.constants

        def goes_on(*values: Value) -> tuple[Value, ...]:
            return self.condition(*values[: self.constants], *values[first : first + k])

        condition = Function.build(goes_on, *moving.forward.types)
        outs = While(condition, moving.forward, first)(*operands)
        count = outs[moving.carries]
        results, dots = moving.parted((*outs[: moving.carries], *outs[moving.carries + 1 :]))
        return [*results[:k], count, *results[k:]], [*dots[:k], None, *dots[k:]]

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        body = self.parts.in_lockstep(size, [x.type for x in inputs])
        if body is None:
            return each(self, size, self.body.types, inputs)
        condition = batch(self.condition, size, body.types, (False,))
        if condition.result_types == (TRUTH,):
            starts = zip(inputs, self.body.types, body.types, strict=True)
            operands = [x if new == old else repeated(x, old, size) for x, old, new in starts]
            return While(condition, body, self.constants)(*operands)
        if self.parts.y_types or each_is_better((self.condition, self.body), inputs, mapped, straight=False):
            return each(self, size, self.body.types, inputs)
        return self._masked(size, mapped, inputs)

    def _masked(self, size: int, mapped: tuple[bool, ...], inputs: Sequence[Value]) -> list[Value]:
        """As many turns as the last example needs; an example that has ended stays as it is. Each counts its own."""
        n = self.constants
        carries = [repeated(x, t, size) for x, t in zip(inputs[n:], self.parts.carry_types, strict=True)]
        types = (*[x.type for x in inputs[:n]], *[x.type for x in carries])
        moves = (*mapped[:n], *[True] * len(carries))

        def asked(*values: Value) -> Value:
            return batch(self.condition, size, types, (True,))(*values[:-1])[0]

        def once(*values: Value) -> list[Value]:
            on = asked(*values)
            safe = guarded(on, values[:-1], moves, size)
            body = batch(self.body, size, tuple(x.type for x in safe), (True,) * len(carries))
            new = body(*safe)
            old = values[n:-1]
            kept = [p.select(lanes_of(on, a.shape), a, b) for a, b in zip(new, old, strict=True)]
            return [*kept, values[-1] + p.cast(on, int64)]

        counts = p.zeros(int64, (size,))
        more = Function.build(lambda *values: p.reduce_any(asked(*values), (0,)), *types, counts.type)
        turn = Function.build(once, *types, counts.type)
        outs = While(more, turn, n)(*inputs[:n], *carries, counts)
        return list(outs[:-1])  # the last result is the number of turns of the loop itself

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        scalar = TensorType(float64, ())
        condition = Function.build(lambda w, x: (p.less(x * x, p.lift(50.0, x)),), scalar, scalar)
        body = Function.build(lambda w, x: (x * w + p.sin(x),), scalar, scalar)
        yield Sample(cls(condition, body, 1), (np.array(1.3), np.array(0.7)))
        yield Sample(cls(condition, body, 1), (np.array(1.3), np.array(9.0)), note="no turn")

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        scalar, pair = TensorType(float64, ()), TensorType(float64, (2,))
        condition = Function.build(lambda x: (p.less(x, p.lift(50.0, x)),), scalar)
        wide = Function.build(lambda x: (p.broadcast(x, (2,)),), scalar)
        body = Function.build(lambda x: (x * x,), scalar)
        both = Function.build(lambda x: (p.less(x, p.lift(50.0, x)),), pair)
        grows = Function.build(lambda x: (x * x,), pair)
        yield Mistake(lambda: cls(condition, wide, 0), BranchError, "carry 0 of a loop changes its type")
        yield Mistake(lambda: cls(both, grows, 0), BranchError, "goes on by one truth value")
        yield Mistake(lambda: cls(condition, body, 0)(p.zeros(float64, (2,))), BranchError, "starts from other types")
