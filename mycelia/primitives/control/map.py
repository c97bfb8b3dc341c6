"""Map: the same function on each element of several tensors, in any order.

Machine code takes one element after the other; the kernels of the body are shared by threads where they are large.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import BranchError
from mycelia.frozen import frozen
from mycelia.ir import Back, Function, Lowered, Mistake, Op, Purity, Sample, Value, algebra, interpret
from mycelia.primitives.control.runtime import add_structures, stack, zero_of
from mycelia.primitives.control.sequence import SplitBatch
from mycelia.transforms import Structured, chosen, depends, jvp, parted, placed, ragged, vjp
from mycelia.types import TensorType, TupleType, Type, cotangent_type, float64


@frozen
class Map(Structured):
    """`body` on each of `size` elements, in any order. Tensors are taken apart along their first axis, sequences into
    their elements; results are put together likewise, but the last `sums` of them are added up.
    """

    body: Function
    constants: int
    size: int
    sums: int = 0
    native: ClassVar[Lowered] = Lowered.STEP
    alone: ClassVar[Purity] = Purity.TOTAL
    straight: ClassVar[bool] = False

    def __post_init__(self) -> None:
        assert self.body.purity is not Purity.ORDERED, "elements are computed in any order, and effects have one"

    @property
    def stacked(self) -> int:
        """How many results are put together; the others are added up."""
        return len(self.body.results) - self.sums

    def infer(self, *inputs: Type) -> TupleType:
        elements = self.body.types[self.constants :]
        expected = (*self.body.types[: self.constants], *[ragged(t, self.size) for t in elements])
        if inputs != expected:
            raise BranchError(
                f"a map over {self.size} elements needs other operands",
                given={"operands": ", ".join(map(str, inputs)), "needed": ", ".join(map(str, expected))},
                hint="every mapped tensor needs as many rows as the map has elements",
            )
        results = self.body.result_types
        together = [ragged(t, self.size) for t in results[: self.stacked]]
        return TupleType((*together, *results[self.stacked :]))

    def reference(self, *inputs: Any) -> Any:
        constants, xs = inputs[: self.constants], inputs[self.constants :]
        types = self.body.types[self.constants :]
        rows = [
            interpret(
                self.body, *constants, *[zero_of(t) if x is None else x[i] for x, t in zip(xs, types, strict=True)]
            )
            for i in range(self.size)
        ]
        results = [stack([row[k] for row in rows], t) for k, t in enumerate(self.body.result_types[: self.stacked])]
        for k, t in list(enumerate(self.body.result_types))[self.stacked :]:
            total = zero_of(t)
            for row in rows:
                total = add_structures(total, row[k])
            results.append(total)
        return tuple(results)

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        body, stacked = self.body, self.stacked
        visible = (*[True] * (len(body.params) + stacked), *[False] * self.sums)
        parts = parted(vjp(body, tuple(wanted), tuple(live)), len(body.params), len(body.results), visible)
        results, stored = parts.forward.results[: len(body.results)], parts.forward.results[len(body.results) :]
        forward = parts.forward.with_results((*results[:stacked], *stored, *results[stacked:]))
        outs = Map(forward, self.constants, self.size, self.sums)(*inputs)
        shown = (*outs[:stacked], *outs[stacked + len(stored) :])
        kept = parts.kept(inputs, (*shown, *outs[stacked : stacked + len(stored)]))
        # what was constant is added up on the way back, and what was added up is constant
        whole = [i < self.constants for i in parts.residuals] + [i >= stacked for i, m in enumerate(live) if m]
        order = sorted(range(len(whole)), key=lambda k: not whole[k])
        place = {k: i for i, k in enumerate(order)}
        fixed = sum(wanted[: self.constants])

        def once(*values: Value) -> list[Value]:
            pulled = parts.backward(*[values[place[k]] for k in range(len(order))])
            return [*pulled[fixed:], *pulled[:fixed]]

        backward = Function.build(once, *[parts.backward.types[k] for k in order])

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            given = [zeros_for(o) if c is None else c for o, c in chosen(live, list(zip(shown, cts, strict=True)))]
            operands = (*kept, *given)
            pulled = Map(backward, sum(whole), self.size, fixed)(*[operands[k] for k in order])
            mapped = len(pulled) - fixed
            return tuple(placed(wanted, (*pulled[mapped:], *pulled[:mapped])))

        return shown, back

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        body, constants = self.body, self.constants
        moves = tuple(t is not None for t in tangents)
        moved = depends(body, moves)
        pushed = jvp(body, moves, moved)
        given = sum(moves[:constants])
        some = sum(moved[: self.stacked])

        def both(*values: Value) -> list[Value]:
            fixed, rest = values[: constants + given], values[constants + given :]
            xs = len(body.params) - constants
            outs = pushed(*fixed[:constants], *rest[:xs], *fixed[constants:], *rest[xs:])
            results, dots = outs[: len(body.results)], outs[len(body.results) :]
            return [*results[: self.stacked], *dots[:some], *results[self.stacked :], *dots[some:]]

        types = [cotangent_type(t) for t, m in zip(body.types, moves, strict=True) if m]
        fn = Function.build(both, *body.types[:constants], *types[:given], *body.types[constants:], *types[given:])
        dots = [t for t in tangents if t is not None]
        sums = self.sums + sum(moved) - some
        outs = Map(fn, constants + given, self.size, sums)(
            *inputs[:constants], *dots[:given], *inputs[constants:], *dots[given:]
        )
        n = self.stacked
        results = (*outs[:n], *outs[n + some : n + some + self.sums])
        return results, placed(moved, (*outs[n : n + some], *outs[n + some + self.sums :]))

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        elements = self.body.types[self.constants :]
        types = (*self.body.types[: self.constants], *[ragged(t, self.size) for t in elements])
        return each(self, size, types, inputs)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        scalar = TensorType(float64, ())
        row = TensorType(float64, (2,))
        rows = np.arange(6.0).reshape(3, 2) / 7
        weighted = Function.build(lambda w, x: (x * w + x * x,), scalar, row)
        yield Sample(cls(weighted, 1, 3), (np.array(0.7), rows))
        both = Function.build(lambda w, x: (x * x, w * x * x), scalar, scalar)
        yield Sample(cls(both, 1, 3, 1), (np.array(0.7), rows[:, 0]), note="with a sum")
        yield Sample(cls(weighted, 1, 0), (np.array(0.7), rows[:0]), note="of nothing")

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        scalar = TensorType(float64, ())
        same = Function.build(lambda x: (x,), scalar)
        yield Mistake(
            lambda: cls(same, 0, 3)(p.zeros(float64, (4,))), BranchError, "as many rows as the map has elements"
        )


def zeros_for(v: Value) -> Value:
    """The cotangent of a value to which nothing flows.

    >>> zeros_for(p.ones(float64, (2,))) is p.zeros(float64, (2,))
    True
    """
    return algebra.zeros(cotangent_type(v.type))


def each(op: Op, size: int, types: Sequence[Type], inputs: Sequence[Value]) -> Any:
    """The op for each of `size` examples by itself. `types` are those of its inputs for one example.

    >>> one = TensorType(float64, ())
    >>> each(p.Add(), 3, (one, one), (p.zeros(float64, (3,)), p.zeros(float64, ()))).shape
    (3,)
    """
    results = for_each(Function.build(op, *types), size, tuple(x.type for x in inputs))(*inputs)
    return results if isinstance(op.infer(*types), TupleType) else results[0]


def in_some_order(body: Function, constants: int, size: int) -> Op:
    """The op that runs `body` for each element: all at once, or one after the other if it has effects.

    >>> in_some_order(Function.build(lambda x: x, TensorType(float64, ())), 0, 3).name
    'map'
    """
    if body.purity is Purity.ORDERED or body.makes_sizes:
        return p.control.Scan(body, constants, 0, False, size)
    return Map(body, constants, size)


def for_each(fn: Function, size: int, types: tuple[Type, ...]) -> Function:
    """`fn` for each of `size` examples by itself, where its parameters have these types: see `batch`.

    >>> for_each(Function.build(lambda x: x, TensorType(float64, ())), 3, (TensorType(float64, (3,)),)).result_types
    (TensorType(dtype=float64, shape=(3,)),)
    """
    mapped = [t != old for t, old in zip(types, fn.types, strict=True)]
    order = sorted(range(len(types)), key=lambda k: mapped[k])
    place = {k: i for i, k in enumerate(order)}
    body = Function.build(
        lambda *values: fn(*[values[place[k]] for k in range(len(order))]), *[fn.types[k] for k in order]
    )
    loop = in_some_order(body, len(mapped) - sum(mapped), size)

    def every(*inputs: Value) -> Any:
        return loop(*[separate(inputs[k], fn.types[k], size) if mapped[k] else inputs[k] for k in order])

    return Function.build(every, *types)


algebra.for_each = for_each


def separate(x: Value, t: Type, size: int) -> Value:
    """A mapped value, of type `t` for one example, in a form that a map takes apart.

    >>> rows = p.zeros(float64, (3, 2))
    >>> separate(rows, TensorType(float64, (2,)), 3) is rows
    True
    """
    return x if x.type == ragged(t, size) else Value(SplitBatch(t, size), (x,))


def repeat_each(x: Value, size: int) -> Value:
    """The same value for every example, in the ragged form.

    >>> repeat_each(p.zeros(float64, (2,)), 3).shape
    (3, 2)
    """
    same = Function.build(lambda v: (v,), x.type)
    return Map(same, 1, size)(x)[0]
