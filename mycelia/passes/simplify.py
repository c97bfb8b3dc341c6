"""Algebraic identities that never change a result, and numbers that are known already."""

from __future__ import annotations

from math import frexp, prod

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Function, Rule, Value, constant, rewrite, rule, rule_for
from mycelia.primitives import (
    Broadcast,
    Cast,
    Divide,
    Full,
    InPlaceOf,
    Multiply,
    Reduction,
    Reshape,
    Select,
    StopGradient,
    Subtract,
    Sum,
    Transpose,
)
from mycelia.sizes import known_equal
from mycelia.types import TensorType, float16

Rules = tuple[Rule | tuple[Rule, ...], ...]


def _number(v: Value) -> complex | None:
    """The number that every element of a value is, if that is known."""
    return v.op.number if isinstance(v.op, Full) else None


def _same_shape(x: Value, out: Value) -> Value | None:
    """`x` in place of `out`, where broadcasting did not make it larger."""
    return x if x.type == out.type else None


@rule_for(Multiply)
def multiply_one(v: Value) -> Value | None:
    for x, y in (v.inputs, v.inputs[::-1]):
        if _number(y) == 1:
            return _same_shape(x, v)
    return None


@rule_for(Divide)
def divide_one(v: Value) -> Value | None:
    x, y = v.inputs
    return _same_shape(x, v) if _number(y) == 1 else None


@rule_for(Divide)
def divide_by_power_of_two(v: Value) -> Value | None:
    """Multiplying is faster; dividing by a power of two is exact either way."""
    x, y = v.inputs
    number = _number(y)
    large = 2.0**14 if y.dtype is float16 else 1e30  # both the number and its reciprocal must be numbers of the type
    if not isinstance(number, float) or not (1 / large <= abs(number) <= large):
        return None
    mantissa, _ = frexp(abs(number))
    return x * p.full(1 / number, y.dtype, y.shape) if mantissa == 0.5 else None


@rule_for(Subtract)
def subtract_zero(v: Value) -> Value | None:
    x, y = v.inputs
    number = _number(y)
    return _same_shape(x, v) if number == 0 and str(number)[0] != "-" else None  # x - -0.0 changes -0.0


@rule(lambda x: p.negative(p.negative(x)))
def negative_twice(x: Value) -> Value | None:
    return x


@rule_for(Reshape)
def reshape_again(v: Value) -> Value | None:
    (x,) = v.inputs
    if x.type == v.type:
        return x
    return p.reshape(x.inputs[0], v.shape) if isinstance(x.op, Reshape) else None


@rule_for(Transpose)
def transpose_again(v: Value) -> Value | None:
    (x,) = v.inputs
    order = v.op.permutation  # type: ignore[union-attr]
    if order == tuple(range(len(order))):
        return x
    if isinstance(x.op, Transpose):
        return Value(Transpose(tuple(x.op.permutation[i] for i in order)), x.inputs)
    return None


@rule_for(Broadcast)
def broadcast_to_itself(v: Value) -> Value | None:
    return v.inputs[0] if v.inputs[0].type == v.type else None


@rule_for(Cast)
def cast_to_itself(v: Value) -> Value | None:
    return v.inputs[0] if v.inputs[0].type == v.type else None


@rule_for(StopGradient, InPlaceOf)
def stop_gradient_is_done(v: Value) -> Value | None:
    """After differentiation it is the first operand."""
    return _same_shape(v.inputs[0], v)


@rule_for(Select)
def select_of_one(v: Value) -> Value | None:
    condition, x, y = v.inputs
    if x is y and x.type == v.type:
        return x
    known = _number(condition)
    return None if known is None else _same_shape(x if known else y, v)


@rule_for(Reduction)
def reduce_single_elements(v: Value) -> Value | None:
    """Axes of one element need no folding. But a sum begins with 0, so that it is never -0."""
    (x,) = v.inputs
    dims = v.op.dims  # type: ignore[union-attr]
    single = known_equal(prod(x.shape[d] for d in dims), 1) and not any(known_equal(n, 0) for n in x.shape)
    if not single:
        return None
    alone = p.reshape(x, v.shape)
    return alone + 0.0 if isinstance(v.op, Sum) and v.dtype.is_inexact else alone


RULES: Rules = (
    multiply_one,
    divide_one,
    divide_by_power_of_two,
    subtract_zero,
    negative_twice,
    reshape_again,
    transpose_again,
    broadcast_to_itself,
    cast_to_itself,
    stop_gradient_is_done,
    select_of_one,
    reduce_single_elements,
)


def simplify(fn: Function) -> Function:
    """Apply the identities everywhere."""
    return rewrite(fn, RULES)


def fold(fn: Function) -> Function:
    """Numbers that depend on no parameter are computed now; tensors are left to be computed where they are read."""
    return fn.mapped(_folded)


def _folded(v: Value, inputs: tuple[Value, ...]) -> Value:
    if v.closed and isinstance(v.type, TensorType) and v.type.shape == () and not isinstance(v.op, Full):
        with np.errstate(all="ignore"):  # dividing by zero is nobody's mistake here: it may never be read
            return p.full(constant(v).item(), v.type.dtype, ())
    return v.again(inputs)
