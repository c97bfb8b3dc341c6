"""Tensors without elements: nothing computes them, and folding them gives what folding starts from."""

from __future__ import annotations

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.loops import neutral
from mycelia.primitives import Full, Reduction
from mycelia.types import TensorType


def without_empty(fn: Function) -> Function:
    """The same function, where no op but `Full` makes or reduces a tensor without elements.

    >>> from mycelia.types import float32
    >>> total = Function.build(lambda x: p.reduce_sum(x, (1,)), TensorType(float32, (3, 0)))
    >>> without_empty(total).results[0].op
    Full(number=0.0, dtype=float32, shape=(3,))
    """
    values = fn.values()
    if not any(_is_empty(v) for v in values):
        return fn
    new: dict[Value, Value] = {}
    for v in values:
        inputs = tuple(new[x] for x in v.inputs)
        if _is_empty(v):
            new[v] = v if isinstance(v.op, Full) else p.zeros(v.dtype, v.shape)
        elif isinstance(v.op, Reduction) and _is_empty(v.inputs[0]):
            new[v] = p.full(neutral(v.op.combine, v.dtype), v.dtype, v.shape)
        else:
            new[v] = v if inputs == v.inputs else Value(v.op, inputs)
    return fn.with_results(new[r] for r in fn.results)


def _is_empty(v: Value) -> bool:
    return isinstance(v.type, TensorType) and 0 in v.type.shape
