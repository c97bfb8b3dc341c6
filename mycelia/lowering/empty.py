"""Tensors without elements: nothing computes them, and folding them gives what folding starts from."""

from __future__ import annotations

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.loops import neutral
from mycelia.primitives import Full, Reduction
from mycelia.sizes import known_equal
from mycelia.types import TensorType


def without_empty(fn: Function) -> Function:
    """The same function, where no op but `Full` makes or reduces a tensor without elements.

    >>> from mycelia.types import float32
    >>> total = Function.build(lambda x: p.reduce_sum(x, (1,)), TensorType(float32, (3, 0)))
    >>> without_empty(total).results[0].op
    Full(number=0.0, dtype=float32, shape=(3,))
    """
    if not any(_is_empty(v) for v in fn.values()):
        return fn
    return fn.mapped(_not_empty)


def _not_empty(v: Value, inputs: tuple[Value, ...]) -> Value:
    if _is_empty(v):
        return v if isinstance(v.op, Full) else p.zeros(v.dtype, v.shape)
    if isinstance(v.op, Reduction) and _is_empty(v.inputs[0]):
        return p.full(neutral(v.op.combine, v.dtype), v.dtype, v.shape)
    return v.again(inputs)


def _is_empty(v: Value) -> bool:
    return isinstance(v.type, TensorType) and any(known_equal(n, 0) for n in v.type.shape)
