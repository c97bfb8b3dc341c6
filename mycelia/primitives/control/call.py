"""Call: a function applied as a whole. It is compiled once, however often it is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import BranchError
from mycelia.frozen import frozen
from mycelia.ir import Back, Function, Lowered, Mistake, Purity, Sample, Value, interpret
from mycelia.primitives.control.map import zeros_for
from mycelia.transforms import Structured, batch, chosen, decisions, depends, jvp, parted, placed, saves, vjp
from mycelia.types import TensorType, TupleType, Type, float64


def _again(x: Value, cotangents: Sequence[Any]) -> Any:
    """An operand as the way back sees it: what is computed from it there is not what was computed before."""
    arrived = [c for c in cotangents if isinstance(c.type, TensorType)]
    return p.barrier(x, arrived[0]) if arrived and isinstance(x.type, TensorType) else x


@frozen
class Call(Structured):
    """`fn`, applied as a whole. With `recompute` it keeps its operands only, and runs again on the way back."""

    fn: Function
    recompute: bool = False
    native: ClassVar[Lowered] = Lowered.CALLED
    alone: ClassVar[Purity] = Purity.TOTAL

    def infer(self, *inputs: Type) -> TupleType:
        if inputs != self.fn.types:
            raise BranchError(
                "a function is called with operands of other types",
                given={"operands": ", ".join(map(str, inputs)), "parameters": ", ".join(map(str, self.fn.types))},
            )
        return TupleType(self.fn.result_types)

    def reference(self, *inputs: Any) -> Any:
        return interpret(self.fn, *inputs)

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        fn = self.fn
        visible = (*[True] * len(fn.params), *[not self.recompute] * len(fn.results))
        joint = vjp(fn, tuple(wanted), tuple(live))
        parts = parted(joint, len(fn.params), len(fn.results), visible, decisions if self.recompute else saves)
        outs = Call(parts.forward, self.recompute)(*inputs)
        shown = outs[: len(fn.results)]
        kept = parts.kept(inputs, outs)

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            given = [zeros_for(o) if c is None else c for o, c in chosen(live, list(zip(shown, cts, strict=True)))]
            again = [_again(x, given) for x in kept] if self.recompute else kept
            return tuple(placed(wanted, Call(parts.backward, self.recompute)(*again, *given)))

        return shown, back

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        moves = tuple(t is not None for t in tangents)
        moved = depends(self.fn, moves)
        outs = Call(jvp(self.fn, moves, moved), self.recompute)(*inputs, *chosen(moves, tangents))
        return outs[: len(moved)], placed(moved, outs[len(moved) :])

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        types = tuple(x.type for x in inputs)
        return Call(batch(self.fn, size, types, (False,) * len(self.fn.results)), self.recompute)(*inputs)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        vector = TensorType(float64, (3,))
        fn = Function.build(lambda x, y: (x * y, x + y * y), vector, vector)
        x, y = np.linspace(0.3, 1.7, 6).reshape(2, 3)
        yield Sample(cls(fn), (x, y))
        yield Sample(cls(fn, recompute=True), (x, y))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        fn = Function.build(lambda x: (x,), TensorType(float64, ()))
        yield Mistake(lambda: cls(fn)(p.zeros(float64, (2,))), BranchError, "operands of other types")
