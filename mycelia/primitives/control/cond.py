"""Cond: one of two functions, chosen when the program runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import BranchError
from mycelia.frozen import frozen
from mycelia.ir import Back, Function, Lowered, Mistake, Purity, Sample, Value, algebra, interpret
from mycelia.primitives.control.lanes import each_is_better, guarded, lanes_of
from mycelia.primitives.control.map import each, zeros_for
from mycelia.transforms import Parts, Structured, batch, chosen, depends, in_step, jvp, parted, placed, vjp
from mycelia.types import TensorType, TupleType, Type, bool_, float64

TRUTH = TensorType(bool_, ())


@frozen
class Cond(Structured):
    """`then` if the first operand is true, else `otherwise`; both of the other operands, to equal types."""

    then: Function
    otherwise: Function
    native: ClassVar[Lowered] = Lowered.STEP
    alone: ClassVar[Purity] = Purity.TOTAL

    def __post_init__(self) -> None:
        for i, (a, b) in enumerate(zip(self.then.result_types, self.otherwise.result_types, strict=False)):
            if a != b:
                raise BranchError(
                    f"the two branches give result {i} different types",
                    given={"if true": a, "if false": b},
                    hint="make both branches give the same shape and element type",
                )
        if len(self.then.results) != len(self.otherwise.results):
            counts = {"if true": len(self.then.results), "if false": len(self.otherwise.results)}
            raise BranchError("the two branches give different numbers of results", given=counts)

    @property
    def branches(self) -> tuple[Function, Function]:
        return self.then, self.otherwise

    def infer(self, predicate: Type, *operands: Type) -> TupleType:
        if predicate != TRUTH:
            raise BranchError(
                f"a branch is chosen by one truth value, not by {predicate}",
                hint="reduce it with all() or any(), or choose element by element with where()",
            )
        for branch in self.branches:
            if branch.types != operands:
                raise BranchError(
                    "a branch is given operands of other types",
                    given={"operands": ", ".join(map(str, operands)), "parameters": ", ".join(map(str, branch.types))},
                )
        return TupleType(self.then.result_types)

    def reference(self, predicate: Any, *operands: Any) -> Any:
        return interpret(self.then if predicate else self.otherwise, *operands)

    def pullback(
        self, live: Sequence[bool], wanted: Sequence[bool], inputs: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Back]:
        predicate, *operands = inputs
        n, m = len(operands), len(self.then.results)
        parts = [parted(vjp(b, tuple(wanted[1:]), tuple(live)), n, m, inside=True) for b in self.branches]
        slots, taken = _shared_slots([[r.type for r in s.forward.results[m:]] for s in parts])
        forward = [_with_slots(s, m, slots, t) for s, t in zip(parts, taken, strict=True)]
        outs = Cond(*forward)(predicate, *operands)
        # a residual of a branch: an operand, a result, or one of the slots
        seen = (*operands, *outs)
        sources = [
            [i if i < n + m else n + m + t[i - n - m] for i in s.residuals] for s, t in zip(parts, taken, strict=True)
        ]
        used = sorted({i for source in sources for i in source})
        place = {i: k for k, i in enumerate(used)}
        types = [*[seen[i].type for i in used], *parts[0].backward.types[len(parts[0].residuals) :]]

        def backward(s: Parts, source: Sequence[int]) -> Function:
            return Function.build(
                lambda *values: s.backward(*[values[place[i]] for i in source], *values[len(used) :]), *types
            )

        back_branches = [backward(s, source) for s, source in zip(parts, sources, strict=True)]

        def back(cts: Sequence[Any]) -> tuple[Any, ...]:
            given = [zeros_for(o) if c is None else c for o, c in chosen(live, list(zip(outs[:m], cts, strict=True)))]
            pulled = Cond(*back_branches)(predicate, *[seen[i] for i in used], *given)
            return tuple(placed(wanted, pulled))

        return outs[:m], back

    def pushforward(self, tangents: Sequence[Any], inputs: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Any]]:
        moves = tuple(t is not None for t in tangents[1:])
        moved = tuple(a or b for a, b in zip(*[depends(f, moves) for f in self.branches], strict=True))
        pushed = [jvp(f, moves, moved) for f in self.branches]
        outs = Cond(*pushed)(*inputs, *chosen(moves, tangents[1:]))
        return outs[: len(moved)], placed(moved, outs[len(moved) :])

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        if mapped[0]:
            return self._both(size, mapped, *inputs)
        types = tuple(x.type for x in inputs[1:])
        undemanded = (False,) * len(self.then.results)
        batched = [batch(f, size, types, undemanded) for f in self.branches]
        news = [f.result_types for f in batched]
        if not all(in_step(t, old, size) for new in news for t, old in zip(new, self.then.result_types, strict=True)):
            return each(self, size, (TRUTH, *self.then.types), inputs)
        demanded = tuple(any(t != old for t in ts) for *ts, old in zip(*news, self.then.result_types, strict=True))
        return Cond(*[batch(f, size, types, demanded) for f in self.branches])(*inputs)

    def _both(self, size: int, mapped: tuple[bool, ...], predicate: Value, *operands: Value) -> Any:
        """Both branches for all examples, and a choice for each; or a branch for each example by itself."""
        if each_is_better(self.branches, operands, mapped[1:], straight=True):
            return each(self, size, (TRUTH, *self.then.types), (predicate, *operands))
        sides = []
        for branch, taken in ((self.then, predicate), (self.otherwise, p.logical_not(predicate))):
            safe = guarded(taken, operands, mapped[1:], size)
            types = tuple(x.type for x in safe)
            outs = batch(branch, size, types, (True,) * len(branch.results))(*safe)
            sides.append(outs)
        return tuple(p.select(lanes_of(predicate, a.shape), a, b) for a, b in zip(*sides, strict=True))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        vector = TensorType(float64, (3,))
        then = Function.build(lambda x, y: (x * y, x), vector, vector)
        otherwise = Function.build(lambda x, y: (x / y, x * x * x), vector, vector)
        x, y = np.linspace(0.3, 1.7, 6).reshape(2, 3)
        yield from (Sample(cls(then, otherwise), (np.array(truth), x, y)) for truth in (True, False))

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        one = Function.build(lambda x: (x,), TensorType(float64, (3,)))
        summed = Function.build(lambda x: (p.reduce_sum(x, (0,)),), TensorType(float64, (3,)))
        x = p.zeros(float64, (3,))
        yield Mistake(lambda: cls(one, summed), BranchError, "the two branches give result 0 different types")
        yield Mistake(lambda: cls(one, one)(p.zeros(bool_, (3,)), x), BranchError, "chosen by one truth value")
        yield Mistake(lambda: cls(one, one)(p.zeros(bool_, ()), x, x), BranchError, "operands of other types")


def _shared_slots(stored: Sequence[Sequence[Type]]) -> tuple[list[Type], list[list[int]]]:
    """Slots for what the branches store, where things of one type share a slot; and the slots that each branch takes.

    >>> _shared_slots([["a", "b"], ["b", "b"]])
    (['a', 'b', 'b'], [[0, 1], [1, 2]])
    """
    slots: list[Type] = []
    taken = []
    for types in stored:
        free = dict.fromkeys(range(len(slots)))
        mine = []
        for t in types:
            k = next((k for k in free if slots[k] == t), None)
            if k is None:
                k = len(slots)
                slots.append(t)
            free.pop(k, None)
            mine.append(k)
        taken.append(mine)
    return slots, taken


def _with_slots(parts: Parts, results: int, slots: Sequence[Type], taken: Sequence[int]) -> Function:
    """The forward part of a branch, with zeros in the slots that only the other branch fills."""
    outs = parts.forward.results
    mine = dict(zip(taken, outs[results:], strict=True))
    filled = [mine[k] if k in mine else algebra.zeros(t) for k, t in enumerate(slots)]
    return parts.forward.with_results((*outs[:results], *filled))
