"""How coarse the numbers are that a result is made of: the coarsest element type on a path to it, value by value.

Inputs are exact, whatever their type. Whole numbers and truth values are made of exact values only (see
`tests.fuzz.programs`): nothing coarse comes through them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia.ir import Function, Op, Param, Project, Value, inner_functions
from mycelia.primitives import Call, Cond, Map, Scan, While
from mycelia.types import DType, SequenceType, TensorType, TupleType, Type

Weight = Callable[[DType], float]
Coarse = Any  # a number; of what has several parts, one for each


def coarseness(fn: Function, weight: Weight, given: Sequence[Coarse] | None = None) -> tuple[Coarse, ...]:
    """For each result the largest `weight` of the element types through which numbers flow to it.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32, float64
    >>> x, y = TensorType(float32, ()), TensorType(float64, ())
    >>> fn = Function.build(lambda x, y: (p.sin(y), p.sin(y) * p.cast(p.sin(x), float64), p.cast(x, float64)), x, y)
    >>> coarseness(fn, {float32: 1e-6, float64: 1e-15}.get)
    (1e-15, 1e-06, 1e-15)
    """
    known: dict[Value, Coarse] = dict(zip(fn.params, given or [0.0] * len(fn.params), strict=True))
    for v in fn.values():
        if type(v.op) is not Param:
            known[v] = _of(v, [known[x] for x in v.inputs], weight)
    return tuple(known[r] for r in fn.results)


def _of(v: Value, inputs: list[Coarse], weight: Weight) -> Coarse:
    op = v.op
    assert isinstance(op, Op), f"{v} is no parameter, and no op makes it"
    if isinstance(op, Project):
        return inputs[0][op.index]
    if isinstance(op, Call):
        return _only(v.type, coarseness(op.fn, weight, inputs))
    if isinstance(op, Cond):
        both = [coarseness(f, weight, inputs[1:]) for f in op.branches]
        return tuple(map(max, *both))
    if isinstance(op, While):
        carries, ys = _loop(op.body, op.constants, len(op.body.params) - op.constants, inputs, weight)
        return (*carries, 0.0, *ys)
    if isinstance(op, Scan):
        carries, ys = _loop(op.body, op.constants, op.carries, inputs[op.first :], weight)
        return (*carries, *ys)
    if isinstance(op, Map):
        return coarseness(op.body, weight, inputs)
    most = max(map(_most, inputs), default=0.0)
    inside = [_most(coarseness(f, weight, [most] * len(f.params))) for f in inner_functions(op)]
    return _with(v.type, max([most, *inside]), weight)


def _loop(
    body: Function, constants: int, carries: int, inputs: Sequence[Coarse], weight: Weight
) -> tuple[tuple[Coarse, ...], tuple[Coarse, ...]]:
    """Of carries and of what turns leave behind, when another turn makes nothing coarser."""
    now = tuple(inputs[constants : constants + carries])
    while True:
        after = coarseness(body, weight, (*inputs[:constants], *now, *inputs[constants + carries :]))
        then = tuple(map(max, now, after[:carries]))
        if then == now:
            return now, after[carries:]
        now = then


def _only(t: Type, results: tuple[Coarse, ...]) -> Coarse:
    return results if isinstance(t, TupleType) else results[0]


def _most(coarse: Coarse) -> float:
    return max(map(_most, coarse), default=0.0) if isinstance(coarse, tuple) else float(coarse)


def _with(t: Type, coarse: float, weight: Weight) -> Coarse:
    """What a value of a type is that is made of numbers as coarse as this."""
    if isinstance(t, TupleType):
        return tuple(_with(e, coarse, weight) for e in t.elements)
    if isinstance(t, SequenceType):
        return _with(t.element, coarse, weight)
    if isinstance(t, TensorType):
        return max(coarse, weight(t.dtype) or 0.0) if t.dtype.is_float else 0.0
    return coarse
