"""Functions of two numbers, applied to every pair of elements; shapes broadcast, element types meet."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor, floating
from mycelia.errors import ArgumentError, DTypeError
from mycelia.ops.arguments import method, number, pair, tensor
from mycelia.ops.math import exp, length, trunc, truth

__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "arctan2",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "clamp",
    "clip",
    "clip_by_value",
    "div",
    "divide",
    "floor_divide",
    "fmod",
    "hypot",
    "lerp",
    "logaddexp",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "pow",
    "remainder",
    "sub",
    "subtract",
    "tensor_add",
    "tensor_div",
    "tensor_exp",
    "tensor_floordiv",
    "tensor_mod",
    "tensor_mul",
    "tensor_pow",
    "tensor_sub",
    "true_divide",
    "xlogy",
]


@method("add")
def add(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """The sum with `alpha` times the other.

    >>> add(Tensor([1, 2]), 1.5).tolist(), add(Tensor([1, 2]), 3, alpha=2).tolist()
    ([2.5, 3.5], [7, 8])
    """
    if not isinstance(alpha, int) or alpha != 1:
        return add(input, mul(other, alpha))
    return input + other if isinstance(other, Tensor) else tensor(input) + other


@method("sub")
def sub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """The difference to `alpha` times the other.

    >>> sub(Tensor([1, 2]), 1).tolist(), sub(Tensor([1, 2]), 1, alpha=2).tolist()
    ([0, 1], [-1, 0])
    """
    if not isinstance(alpha, int) or alpha != 1:
        return sub(input, mul(other, alpha))
    return input - other if isinstance(other, Tensor) else tensor(input) - other


@method()
def subtract(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """The difference to `alpha` times the other.

    >>> subtract(Tensor([5]), Tensor([1]), alpha=2).tolist()
    [3]
    """
    return sub(input, other if alpha == 1 else mul(other, alpha))


@method("mul", "multiply")
def mul(input: Any, other: Any) -> Tensor:
    """The product.

    >>> mul(Tensor([1, 2]), 3).tolist()
    [3, 6]
    """
    return input * other if isinstance(other, Tensor) else tensor(input) * other


@method("div", "divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient; rounded down ("floor") or towards zero ("trunc") on demand.

    >>> div(Tensor([7]), 2).tolist(), div(Tensor([-7]), 2, rounding_mode="trunc").tolist()
    ([3.5], [-3])
    """
    if rounding_mode == "floor":
        return floor_divide(input, other)
    x, y = pair(input, other)
    if rounding_mode is None:
        return x / y
    if rounding_mode != "trunc":
        raise ArgumentError(f"a quotient is not rounded by {rounding_mode!r}", hint='say "floor", "trunc" or None')
    if x.dtype.is_inexact:
        return trunc(x / y)
    negative = p.logical_xor(x < 0, y < 0)
    towards = p.floor_divide(p.abs(x), p.abs(y))
    return p.select(negative, p.negative(towards), towards)


@method()
def true_divide(dividend: Any, divisor: Any) -> Tensor:
    """The quotient as a floating number.

    >>> true_divide(Tensor([7]), 2).tolist()
    [3.5]
    """
    return div(dividend, divisor)


@method()
def floor_divide(input: Any, other: Any) -> Tensor:
    """The quotient rounded down.

    >>> floor_divide(Tensor([-7]), 2).tolist()
    [-4]
    """
    return p.floor_divide(*pair(input, other))


@method()
def remainder(input: Any, other: Any) -> Tensor:
    """What a division rounded down leaves; it has the sign of the divisor.

    >>> remainder(Tensor([-7]), 3).tolist()
    [2]
    """
    return p.remainder(*pair(input, other))


@method()
def fmod(input: Any, other: Any) -> Tensor:
    """What a division rounded towards zero leaves; it has the sign of the dividend.

    >>> fmod(Tensor([-7.5]), Tensor([2.0])).tolist()
    [-1.5]
    """
    return p.fmod(*pair(input, other))


@method()
def pow(input: Any, exponent: Any) -> Tensor:
    """The power.

    >>> pow(Tensor([2.0, 3.0]), 2).tolist()
    [4.0, 9.0]
    """
    return input**exponent if isinstance(exponent, Tensor) else tensor(input) ** exponent


@method("atan2", "arctan2")
def atan2(input: Any, other: Any) -> Tensor:
    """The angle of the point whose ordinate and abscissa are given.

    >>> atan2(Tensor([0.0]), Tensor([1.0])).tolist()
    [0.0]
    """
    return p.atan2(*pair(input, other, floating))


@method()
def maximum(input: Any, other: Any) -> Tensor:
    """The larger of two.

    >>> maximum(Tensor([1.0, 5.0]), 3).tolist()
    [3.0, 5.0]
    """
    return p.maximum(*pair(input, other))


@method()
def minimum(input: Any, other: Any) -> Tensor:
    """The smaller of two.

    >>> minimum(Tensor([1.0, 5.0]), 3).tolist()
    [1.0, 3.0]
    """
    return p.minimum(*pair(input, other))


@method("clip", "clamp")
def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """The number kept between two others.

    >>> clamp(Tensor([-1.0, 0.5, 3.0]), 0, 1).tolist()
    [0.0, 0.5, 1.0]
    """
    if isinstance(input, tuple | list):
        return type(input)(clamp(x, min, max) for x in input)  # type: ignore[return-value]  # a nest gives a nest
    if min is None and max is None:
        raise ArgumentError("clamp needs a bound", hint="give min, max or both")
    x = tensor(input)
    if min is not None:
        x = _kept(x, maximum(x, min))
    return x if max is None else _kept(x, minimum(x, max))


def _kept(x: Tensor, bounded: Tensor) -> Tensor:
    """The bounded number; where that is the number itself, the gradient is all its own, also at the bound."""
    if not x.dtype.is_float or bounded.shape != x.shape or bounded.dtype is not x.dtype:
        return bounded
    return p.select(p.equal(x, bounded), x, bounded)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """The number kept between two others.

    >>> clip_by_value(Tensor([-1.0, 3.0]), 0, 1).tolist()
    [0.0, 1.0]
    """
    if isinstance(x, tuple | list):
        return type(x)(clip_by_value(each, clip_value_min, clip_value_max) for each in x)
    if clip_value_min is None and clip_value_max is None:
        raise ArgumentError("clip_by_value needs a bound", hint="give clip_value_min, clip_value_max or both")
    found = tensor(x) if clip_value_min is None else maximum(tensor(x), clip_value_min)
    return found if clip_value_max is None else minimum(found, clip_value_max)


@method()
def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """The point so far on the way from `input` to `end`.

    >>> lerp(Tensor([1.0]), Tensor([3.0]), 0.5).tolist()
    [2.0]
    """
    return input + weight * (end - input)


@method()
def hypot(input: Any, other: Any) -> Tensor:
    """The long side of a right triangle.

    >>> hypot(Tensor([3.0]), Tensor([4.0])).tolist()
    [5.0]
    """
    x, y = pair(input, other, floating)
    if x.dtype.is_complex:
        raise DTypeError("hypot is of real numbers", given={"input": x, "other": y}, hint="take abs of each")
    x, y = p.abs(x), p.abs(y)
    long = p.stop_gradient(p.maximum(x, y))  # squares of parts of it neither overflow nor vanish
    usual = p.logical_and(long > 0.0, long < math.inf)
    scale = p.select(usual, long, number(1.0, long))
    a, b = x / scale, y / scale
    infinite = p.logical_or(p.equal(x, math.inf), p.equal(y, math.inf))
    return p.select(infinite, number(math.inf, x), length(a * a + b * b) * scale)


@method()
def logaddexp(input: Any, other: Any) -> Tensor:
    """log(exp(x) + exp(y)), without overflow.

    >>> logaddexp(Tensor([1000.0]), Tensor([1000.0])).item() > 1000.6
    True
    """
    x, y = pair(input, other, floating)
    apart = p.select(p.equal(x, y), 0.0, x - y)  # the difference of equal infinities is no number
    return p.maximum(x, y) + p.log1p(p.exp(p.negative(p.abs(apart))))


@method()
def xlogy(input: Any, other: Any) -> Tensor:
    """X times log y, and 0 where x is 0.

    >>> xlogy(Tensor([0.0, 1.0]), Tensor([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    x, y = pair(input, other, floating)
    nothing = p.logical_and(p.equal(x, 0), p.equal(y, y))
    return p.select(nothing, number(0, x), x * p.log(p.select(nothing, number(1, y), y)))


@method()
def logical_and(input: Any, other: Any) -> Tensor:
    """Whether both are true, or not zero.

    >>> logical_and(Tensor([1, 0]), Tensor([1, 1])).tolist()
    [True, False]
    """
    return p.logical_and(truth(input), truth(other))


@method()
def logical_or(input: Any, other: Any) -> Tensor:
    """Whether one is true, or not zero.

    >>> logical_or(Tensor([1, 0]), Tensor([0, 0])).tolist()
    [True, False]
    """
    return p.logical_or(truth(input), truth(other))


@method()
def logical_xor(input: Any, other: Any) -> Tensor:
    """Whether exactly one is true, or not zero.

    >>> logical_xor(Tensor([1, 1]), Tensor([0, 1])).tolist()
    [True, False]
    """
    return p.logical_xor(truth(input), truth(other))


@method()
def bitwise_and(input: Any, other: Any) -> Tensor:
    """Bits that both have.

    >>> bitwise_and(Tensor([6]), Tensor([3])).tolist()
    [2]
    """
    return p.logical_and(*pair(input, other))


@method()
def bitwise_or(input: Any, other: Any) -> Tensor:
    """Bits that one of them has.

    >>> bitwise_or(Tensor([6]), Tensor([3])).tolist()
    [7]
    """
    return p.logical_or(*pair(input, other))


@method()
def bitwise_xor(input: Any, other: Any) -> Tensor:
    """Bits that exactly one of them has.

    >>> bitwise_xor(Tensor([6]), Tensor([3])).tolist()
    [5]
    """
    return p.logical_xor(*pair(input, other))


@method()
def bitwise_left_shift(input: Any, other: Any) -> Tensor:
    """Bits moved up.

    >>> bitwise_left_shift(Tensor([1]), 3).tolist()
    [8]
    """
    return p.shift_left(*pair(input, other))


@method()
def bitwise_right_shift(input: Any, other: Any) -> Tensor:
    """Bits moved down.

    >>> bitwise_right_shift(Tensor([8]), 3).tolist()
    [1]
    """
    return p.shift_right(*pair(input, other))


def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """Input + value * tensor1 * tensor2.

    >>> addcmul(Tensor([1.0]), Tensor([2.0]), Tensor([3.0]), 2).tolist()
    [13.0]
    """
    return input + mul(tensor1, tensor2) * value


def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """Input + value * tensor1 / tensor2.

    >>> addcdiv(Tensor([1.0]), Tensor([6.0]), Tensor([3.0]), 2).tolist()
    [5.0]
    """
    return input + div(tensor1, tensor2) * value


method("addcmul")(addcmul)
method("addcdiv")(addcdiv)

multiply, divide, clip, arctan2 = mul, div, clamp, atan2
tensor_add, tensor_sub, tensor_mul, tensor_div, tensor_pow = add, sub, mul, div, pow
tensor_floordiv, tensor_mod, tensor_exp = floor_divide, remainder, exp
