"""Derivatives that the user gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia.errors import ArgumentError, BranchError, GradientError
from mycelia.frozen import frozen
from mycelia.ir import Back, Function, Lowered, Mistake, Purity, Sample, Value, interpret
from mycelia.primitives import creation
from mycelia.primitives.control.map import zeros_for
from mycelia.transforms import Structured, batch, lockstep, placed, repeated
from mycelia.types import TensorType, TupleType, Type, cotangent_type, float64

__all__ = ["CustomVjp"]


@frozen
class CustomVjp(Structured):
    """`fn`, whose gradient is computed as the user says: `forward` gives the results and residuals, and `backward`
    takes the residuals and the cotangents of all differentiable results, to those of all differentiable operands.

    Where the residuals are operands and results, `again` says at which of their places the results stand. These are
    results of the op itself then, so that a second derivative asks the user once more, as the tape does.
    """

    fn: Function
    forward: Function
    backward: Function
    again: tuple[int, ...] = ()
    native: ClassVar[Lowered] = Lowered.CALLED
    alone: ClassVar[Purity] = Purity.TOTAL

    def __post_init__(self) -> None:
        results, forward = self.fn.result_types, self.forward.result_types
        if self.forward.types != self.fn.types or forward[: len(results)] != results:
            raise ArgumentError(
                "the forward function of a custom gradient must take the same operands and give the same results first",
                given={"function": _signature(self.fn), "forward": _signature(self.forward)},
            )
        needed = (*forward[len(results) :], *_cotangents(results))
        if self.backward.types != needed or self.backward.result_types != _cotangents(self.fn.types):
            raise ArgumentError(
                "the backward function of a custom gradient must take the residuals and the cotangents of the results, "
                "and give a cotangent for each differentiable operand",
                given={
                    "backward": _signature(self.backward),
                    "needed": f"{_list(needed)} -> {_list(_cotangents(self.fn.types))}",
                },
            )

    def infer(self, *inputs: Type) -> TupleType:
        if inputs != self.fn.types:
            raise BranchError(
                "a function with a custom gradient is called with operands of other types",
                given={"operands": _list(inputs), "parameters": _list(self.fn.types)},
            )
        return TupleType(self.fn.result_types)

    def reference(self, *inputs: Any) -> Any:
        return interpret(self.fn, *inputs)

    def expand(self, *inputs: Value) -> tuple[Value, ...]:
        return self.fn(*inputs)

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        results, residuals = self.there(inputs)
        smooth = [t.differentiable for t in self.fn.types]

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            both = zip(results, cts, strict=True)
            given = [zeros_for(r) if c is None else c for r, c in both if r.type.differentiable]
            return tuple(placed(smooth, self.backward(*residuals, *given)))

        return results, back

    def there(self, inputs: Sequence[Value]) -> tuple[tuple[Value, ...], list[Value]]:
        """The results at these operands, and the residuals."""
        count = len(self.fn.results)
        if not self.again:
            outs = self.forward(*inputs)
            return outs[:count], list(outs[count:])
        results, place = tuple(self(*inputs)), {k: i for i, k in enumerate(self.again)}
        operand = dict(zip(self.forward.params, inputs, strict=True))
        kept = enumerate(self.forward.results[count:])
        return results, [results[place[k]] if k in place else operand[r] for k, r in kept]

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        raise GradientError(
            "a function with a custom gradient has no forward-mode derivative",
            at=self.fn.results[0].location,
            hint="use reverse mode (grad, vjp), or leave the custom gradient out",
        )

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        def whole(fn: Function) -> Function:
            types = tuple(lockstep(t, size) for t in fn.types)
            return batch(fn, size, types, (True,) * len(fn.results))

        every = CustomVjp(whole(self.fn), whole(self.forward), whole(self.backward), self.again)
        return every(*[repeated(x, t, size) for x, t in zip(inputs, self.fn.types, strict=True)])

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        vector = TensorType(float64, (3,))
        fn = Function.build(lambda x: (x * x,), vector)
        forward = Function.build(lambda x: (x * x, x), vector)
        backward = Function.build(lambda x, ct: (ct * x * 2.0,), vector, vector)
        yield Sample(cls(fn, forward, backward), (np.linspace(0.1, 1, 3),))
        forward = Function.build(lambda x: (x * x, x, x * x), vector)
        backward = Function.build(lambda x, out, ct: (ct * (x + out / x),), vector, vector, vector)
        yield Sample(cls(fn, forward, backward, (1,)), (np.linspace(0.1, 1, 3),))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        scalar = TensorType(float64, ())
        fn = Function.build(lambda x: (x * x,), scalar)
        forward = Function.build(lambda x: (x * x, x), scalar)
        backward = Function.build(lambda x, ct: (ct * x, x), scalar, scalar)
        good = Function.build(lambda x, ct: (ct * x,), scalar, scalar)
        yield Mistake(lambda: cls(fn, backward, backward), ArgumentError, "must take the same operands")
        yield Mistake(lambda: cls(fn, forward, backward), ArgumentError, "a cotangent for each differentiable operand")
        yield Mistake(
            lambda: cls(fn, forward, good)(creation.zeros(float64, (2,))), BranchError, "operands of other types"
        )


def _cotangents(types: Sequence[Type]) -> tuple[Type, ...]:
    return tuple(cotangent_type(t) for t in types if t.differentiable)


def _list(types: Sequence[Type]) -> str:
    return ", ".join(map(str, types))


def _signature(fn: Function) -> str:
    return f"{_list(fn.types)} -> {_list(fn.result_types)}"
