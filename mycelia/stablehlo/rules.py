"""One rule for each op: how StableHLO says it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from mycelia.errors import CompileError
from mycelia.ir import Function, Op, Param, Project, Value
from mycelia.stablehlo.writer import Held, Term, Writer
from mycelia.types import SequenceType, TensorType, TupleType, Type, int64


@singledispatch
def emit(op: Op, v: Value, w: Writer, *inputs: Any) -> Any:
    """Write `v`, which is `op` of terms: the term of a tensor, a tuple of terms of anything else, a list of those for
    several results.
    """
    if type(op).expand is not Op.expand:
        results = inlined(Function.build(op.expand, *[x.type for x in v.inputs]), w, [_held(x) for x in inputs])
        return list(results) if isinstance(v.type, TupleType) else results[0]
    raise inexpressible(v, "it has no rule for it")


def inexpressible(v: Value, why: str) -> CompileError:
    """The error for what StableHLO cannot say."""
    return CompileError(
        f"{v.op.name if isinstance(v.op, Op) else v} cannot be expressed in StableHLO: {why}",
        at=v.location,
        hint="run it on the CPU: set_device('CPU'), or jit(backend='') for this function",
    )


def _held(x: Any) -> Held:
    return (x,) if isinstance(x, Term) else x


def inlined(fn: Function, w: Writer, arguments: Sequence[Held]) -> list[Held]:
    """Write a function in place, at these arguments."""
    held: dict[Value, Any] = dict(zip(fn.params, arguments, strict=True))
    for v in fn.values():
        if v in held:
            continue
        assert not isinstance(v.op, Param), f"{v} belongs to another function"
        if isinstance(v.op, Project):
            held[v] = held[v.inputs[0]][v.op.index]
            continue
        inputs = [held[x][0] if isinstance(x.type, TensorType) else held[x] for x in v.inputs]
        made = emit(v.op, v, w, *inputs)
        held[v] = [_held(x) for x in made] if isinstance(v.type, TupleType) else _held(made)
    return [held[r] for r in fn.results]


def leaves(t: Type, capacity: int, at: Any = None) -> tuple[TensorType, ...]:
    """The tensors that hold a value of type `t`: of a sequence its length, and those of its elements with an axis of
    `capacity` in front. What lies beyond the length is zero.

    >>> from mycelia.types import float32
    >>> [str(leaf) for leaf in leaves(SequenceType(TensorType(float32, (3,))), 8)]
    ['i64[]', 'f32[8, 3]']
    """
    if isinstance(t, TensorType):
        return (t,)
    if isinstance(t, SequenceType):
        inner = leaves(t.element, capacity, at)
        return (TensorType(int64, ()), *[x.with_shape((capacity, *x.shape)) for x in inner])
    raise CompileError(
        f"a value of type {t} cannot be held in StableHLO: it has neither recursion nor what recursion leaves behind",
        at=at,
        hint="write the recursion as a loop, or run it on the CPU: set_device('CPU')",
    )
