"""Functions of one or two numbers that few programs need: signs, divisors, remainders, odd limits."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from typing import Any

import ml_dtypes
import numpy as np

from mycelia import primitives as p
from mycelia.checks import number as a_number
from mycelia.eager import Tensor, cast, created
from mycelia.eager.host import called
from mycelia.errors import DTypeError, ShapeError
from mycelia.ops.arguments import floated, method, number, pair, tensor
from mycelia.ops.math import reciprocal
from mycelia.primitives import Callee
from mycelia.primitives.family import broadcast_shapes
from mycelia.types import TensorType, bool_, complex128, float32, float64, uint8

__all__ = [
    "approximate_equal",
    "copysign",
    "digamma",
    "eps",
    "erfinv",
    "fast_gelu",
    "float_power",
    "floor_mod",
    "fmax",
    "fmin",
    "gcd",
    "heaviside",
    "inv",
    "is_nonzero",
    "isneginf",
    "isposinf",
    "lcm",
    "ldexp",
    "lgamma",
    "logaddexp2",
    "mvlgamma",
    "nextafter",
    "population_count",
    "positive",
    "sinc",
    "truncate_div",
    "truncate_mod",
    "xdivy",
]


@method("copysign")
def copysign(x: Any, other: Any) -> Tensor:
    """The size of one number with the sign of another; the sign of -0.0 counts.

    >>> copysign(Tensor([1.0, -2.0]), Tensor([-3.0, 0.0])).tolist()
    [-1.0, 2.0]
    """
    a, b = (floated(t) for t in pair(x, other))
    return p.select(p.sign_bit(b), p.negative(p.abs(a)), p.abs(a))


_NEXT = Callee(np.nextafter, "nextafter", raises=False)


@method("nextafter")
def nextafter(input: Any, other: Any) -> Tensor:
    """The next number after the first in the direction of the second. It has no gradient.

    >>> nextafter(Tensor([1.0]), Tensor([2.0])).item() == 1 + 2.0**-23
    True
    """
    x, y = (floated(t) for t in pair(input, other))
    if x.dtype not in (float32, float64):
        raise DTypeError(f"nextafter takes float32 or float64, not {x.dtype!r}", hint="cast it first")
    return called(_NEXT, [TensorType(x.dtype, broadcast_shapes(x.shape, y.shape))], [x, y], stateful=False)[0]


@method("heaviside")
def heaviside(input: Any, values: Any) -> Tensor:
    """0 below zero, 1 above, and the value given at zero.

    >>> heaviside(Tensor([-1.0, 0.0, 2.0]), Tensor(0.5)).tolist()
    [0.0, 0.5, 1.0]
    """
    x, at_zero = pair(input, values)
    step = p.select(x > 0, number(1, x), number(0, x))
    step = p.select(x == 0, at_zero, step)
    return p.select(p.is_nan(x), x, step) if x.dtype.is_float else step


@method("fmax")
def fmax(input: Any, other: Any) -> Tensor:
    """The larger of two numbers; of a number and nan, the number.

    >>> fmax(Tensor([1.0, float("nan")]), Tensor([2.0, 3.0])).tolist()
    [2.0, 3.0]
    """
    return _unless_nan(p.greater_equal, input, other)


@method("fmin")
def fmin(input: Any, other: Any) -> Tensor:
    """The smaller of two numbers; of a number and nan, the number.

    >>> fmin(Tensor([1.0, float("nan")]), Tensor([2.0, 3.0])).tolist()
    [1.0, 3.0]
    """
    return _unless_nan(p.less_equal, input, other)


def _unless_nan(wins: Any, input: Any, other: Any) -> Tensor:
    """The first where it wins or the second is nan, else the second; of equal ones the first has the gradient."""
    x, y = pair(input, other)
    first = wins(x, y)
    return p.select(p.logical_or(first, p.is_nan(y)) if x.dtype.is_float else first, x, y)


def _whole(name: str, input: Any, other: Any) -> tuple[Tensor, Tensor]:
    x, y = pair(input, other)
    if not x.dtype.is_integer:
        raise DTypeError(f"{name} takes whole numbers, not {x.dtype!r}", hint="cast them to int32")
    return x, y


@method("gcd")
def gcd(input: Any, other: Any) -> Tensor:
    """The greatest common divisor of whole numbers.

    >>> gcd(Tensor([12, 0, -9]), Tensor([18, 5, 6])).tolist()
    [6, 5, 3]
    """
    x, y = (p.abs(t) for t in _whole("gcd", input, other))
    x, y = x + y * 0, y + x * 0  # of one shape
    for _ in range(_turns(x)):
        done = p.equal(y, 0)
        x, y = p.select(done, x, y), p.select(done, y, p.remainder(x, p.select(done, number(1, y), y)))
    return p.abs(x)  # the smallest whole number of a type has no positive twin


def _turns(x: Tensor) -> int:
    """How often Euclid divides at most: Fibonacci numbers take longest."""
    return int(x.dtype.bits * python.log(2) / python.log((1 + 5**0.5) / 2)) + 2


@method("lcm")
def lcm(input: Any, other: Any) -> Tensor:
    """The least common multiple of whole numbers.

    >>> lcm(Tensor([4, 0]), Tensor([6, 5])).tolist()
    [12, 0]
    """
    x, y = _whole("lcm", input, other)
    common = gcd(x, y)
    return p.floor_divide(p.abs(x), p.select(p.equal(common, 0), number(1, common), common)) * p.abs(y)


@method("ldexp")
def ldexp(x: Any, other: Any) -> Tensor:
    """A number times two to the power of another.

    >>> ldexp(Tensor([1.0]), Tensor([3])).tolist()
    [8.0]
    """
    x, power = floated(x), floated(other)
    if x.dtype.bits == 16:
        return cast(ldexp(cast(x, float32), cast(power, float32)), x.dtype)
    half = p.stop_gradient(p.minimum(p.maximum(p.floor(power * 0.5), -600.0), 600.0))
    return x * p.exp2(half) * p.exp2(power - half)  # 2**-128 is too small for a float32, 64 * 2**-128 is not


@method("logaddexp2")
def logaddexp2(input: Any, other: Any) -> Tensor:
    """log2(2^x + 2^y), without overflow.

    >>> logaddexp2(Tensor([2.0]), Tensor([2.0])).item()
    3.0
    """
    x, y = (floated(t) for t in pair(input, other))
    top = p.maximum(x, y)
    apart = p.select(p.equal(x, y), number(0, x), p.abs(x - y))  # inf - inf would be nan
    return top + p.log1p(p.exp2(p.negative(apart))) * (1.0 / python.log(2.0))


@method("float_power")
def float_power(input: Any, exponent: Any) -> Tensor:
    """A power, in double precision.

    >>> float_power(Tensor([2, 3]), 2).tolist()
    [4.0, 9.0]
    """
    x, y = tensor(input), tensor(exponent)
    wide = complex128 if x.dtype.is_complex or y.dtype.is_complex else float64
    return cast(x, wide) ** cast(y, wide)


def floor_mod(x: Any, y: Any) -> Tensor:
    """What is left when one number is divided by another and rounded down; it has the sign of the divisor.

    >>> floor_mod(Tensor([7, -7]), 4).tolist()
    [3, 1]
    """
    return p.remainder(*pair(x, y))


def truncate_div(x: Any, y: Any) -> Tensor:
    """The quotient, rounded towards zero if the numbers are whole.

    >>> truncate_div(Tensor([-7]), 2).tolist(), truncate_div(Tensor([7.0]), 2).tolist()
    ([-3], [3.5])
    """
    a, b = pair(x, y)
    if a.dtype.is_float:
        return a / b
    return p.sign(a) * p.sign(b) * p.floor_divide(p.abs(a), p.abs(b))


def truncate_mod(x: Any, y: Any) -> Tensor:
    """What is left when one number is divided by another and rounded towards zero; it has the sign of the dividend.

    >>> truncate_mod(Tensor([7, -7]), 4).tolist()
    [3, -3]
    """
    return p.fmod(*pair(x, y))


@method("xdivy")
def xdivy(x: Any, y: Any) -> Tensor:
    """The quotient, and 0 where the dividend is.

    >>> xdivy(Tensor([0.0, 6.0]), Tensor([0.0, 3.0])).tolist()
    [0.0, 2.0]
    """
    a, b = (floated(t) for t in pair(x, y))
    nothing = p.equal(a, 0)
    return p.select(nothing, number(0, a), a / p.select(nothing, number(1, b), b))


@method("sinc")
def sinc(input: Any) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0.

    >>> sinc(Tensor([0.0, 0.5])).tolist()
    [1.0, 0.6366197466850281]
    """
    x = floated(input) * python.pi
    near = p.equal(x, 0)
    away = p.select(near, number(1, x), x)
    return p.select(near, 1.0 - x * x * (1.0 / 6.0), p.sin(away) / away)


def _infinite(input: Any, which: float) -> Tensor:
    x = tensor(input)
    return p.equal(x, which) if x.dtype.is_float else created(p.Full(False, bool_, x.shape))


@method("isposinf")
def isposinf(input: Any) -> Tensor:
    """Whether the element is infinite and positive.

    >>> isposinf(Tensor([float("inf"), float("-inf")])).tolist()
    [True, False]
    """
    return _infinite(input, python.inf)


@method("isneginf")
def isneginf(input: Any) -> Tensor:
    """Whether the element is infinite and negative.

    >>> isneginf(Tensor([float("inf"), float("-inf")])).tolist()
    [False, True]
    """
    return _infinite(input, -python.inf)


@method("positive")
def positive(input: Any) -> Tensor:
    """The number itself.

    >>> positive(Tensor([-1.0])).tolist()
    [-1.0]
    """
    x = tensor(input)
    if x.dtype is bool_:
        raise DTypeError("positive takes numbers, and bool is none", hint="cast it to int32")
    return x.alias()


def is_nonzero(input: Any) -> bool:
    """Whether the one element of a tensor is not zero.

    >>> is_nonzero(Tensor([2.0]))
    True
    """
    x = tensor(input)
    if x.size != 1:
        raise ShapeError(f"is_nonzero asks one element, not {x.size}", hint="use any() or all() first")
    return bool((x != 0).reshape(()))


@method("approximate_equal")
def approximate_equal(x: Any, y: Any, tolerance: float = 1e-5) -> Tensor:
    """Whether two numbers are nearer than `tolerance`.

    >>> approximate_equal(Tensor([1.0, 2.0]), Tensor([1.001, 3.0]), 0.1).tolist()
    [True, False]
    """
    a, b = pair(x, y)
    return p.less(p.abs(a - b), number(a_number("approximate_equal", "tolerance", tolerance, least=0), floated(a)))


def population_count(input_x: Any) -> Tensor:
    """How many bits of a whole number are one.

    >>> population_count(Tensor([0, 1, 3, -1], "int32")).tolist()
    [0, 1, 2, 32]
    """
    x = tensor(input_x)
    if not x.dtype.is_integer:
        raise DTypeError(f"population_count takes whole numbers, not {x.dtype!r}", hint="cast them to int32")
    found = created(p.Full(0, uint8, x.shape))
    one = number(1, x)
    for bit in range(x.dtype.bits):
        found = found + cast(p.logical_and(p.shift_right(x, number(bit, x)), one), uint8)
    return found


@method("inv")
def inv(x: Any) -> Tensor:
    """One over the number; of whole numbers the whole part of it.

    >>> inv(Tensor([4.0])).tolist(), inv(Tensor([-1, 2])).tolist()
    ([0.25], [-1, 0])
    """
    x = tensor(x)
    return cast(reciprocal(x), x.dtype) if x.dtype.is_integer else reciprocal(x)


def eps(x: Any) -> Tensor:
    """The distance from 1 to the next number of the type, for each element.

    >>> eps(Tensor([5.0])).item()
    1.1920928955078125e-07
    """
    x = floated(x)
    known = ml_dtypes.finfo(x.dtype.numpy)  # type: ignore[no-untyped-call]  # NumPy's knows no bfloat16
    return created(p.Full(float(known.eps), x.dtype, x.shape))


def fast_gelu(x: Any) -> Tensor:
    """X sigmoid(1.702 x): the Gaussian error linear unit, nearly.

    >>> fast_gelu(Tensor([0.0])).tolist()
    [0.0]
    """
    x = floated(x)
    return x * p.sigmoid(x * 1.702)


# --------------------------------------------------------------------------------------------------- special functions


@method("erfinv")
def erfinv(input: Any) -> Tensor:
    """The inverse of the error function.

    >>> round(erfinv(Tensor([0.5])).item(), 6)
    0.476936
    """
    given = floated(input)
    y = cast(given, float64)
    inside = p.less(p.abs(y), number(1, y))
    safe = p.select(inside, y, number(0, y))
    x = p.stop_gradient(_guess(safe))
    near = p.less(p.abs(y), number(0.5, y))
    for _ in range(3):  # Halley's method; the last step is differentiated
        rest = 1.0 - p.abs(safe) - p.erfc(p.abs(x))  # where erf is nearly 1, it has lost its digits
        beyond = p.select(near, p.erf(x) - safe, p.sign(safe) * rest) * p.exp(x * x) * (python.sqrt(python.pi) / 2.0)
        x = x - beyond / (1.0 + x * beyond)
    edge = p.stop_gradient(p.select(p.equal(p.abs(y), 1), y * python.inf, number(python.nan, y)))
    return cast(p.select(inside, x, edge), given.dtype)


def _guess(y: Tensor) -> Tensor:
    """Near the inverse of erf, from the logarithm of what is left (Winitzki)."""
    a = 0.147
    logs = p.log(p.maximum((1.0 - y) * (1.0 + y), number(1e-300, y)))
    half = logs * 0.5 + 2.0 / (python.pi * a)
    return p.sign(y) * p.sqrt(p.sqrt(half * half - logs * (1.0 / a)) - half)


# ln Gamma(x) = (x - 1/2) ln x - x + ln(2 pi)/2 + sum B_2k / (2k (2k-1) x^(2k-1)), by Stirling, from x = 10 on
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
_FAR = 10


@method("lgamma")
def lgamma(input: Any) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    >>> round(lgamma(Tensor([5.0])).item(), 5)  # ln 24
    3.17805
    """
    given = floated(input)
    x = cast(given, float64)
    low = p.less(x, number(0.5, x))
    out = _lgamma_above(p.select(low, 1.0 - x, x))
    # Gamma(x) Gamma(1 - x) = pi / sin(pi x)
    part = p.select(low, _from_whole(x), number(0.5, x))  # above, no gradient comes of it
    sine = p.abs(p.sin(part * python.pi))
    out = p.select(low, python.log(python.pi) - p.log(sine) - out, out)
    return cast(p.select(p.is_finite(x), out, p.select(p.is_nan(x), x, number(python.inf, x))), given.dtype)


def _from_whole(x: Tensor) -> Tensor:
    """How far it is from the nearest whole number: exact, also just below 0."""
    return x - p.stop_gradient(p.round(x))


def _lgamma_above(x: Tensor) -> Tensor:
    """For x from 1/2 on: Gamma(x) = Gamma(x + n) / (x (x + 1) ... (x + n - 1))."""
    small = p.less(x, number(_FAR, x))
    product = near = p.select(small, x, number(1, x))
    for k in range(1, _FAR):
        product = product * (near + float(k))
    far = p.select(small, x + float(_FAR), x)
    inverse = 1.0 / far
    square, term, tail = inverse * inverse, inverse, number(0, x) * inverse
    for k, b in enumerate(_BERNOULLI, 1):
        tail = tail + term * (b / (2 * k * (2 * k - 1)))
        term = term * square
    whole = (far - 0.5) * p.log(far) - far + 0.5 * python.log(2 * python.pi) + tail
    return p.select(small, whole - p.log(p.select(small, product, number(1, x))), whole)


@method("digamma")
def digamma(input: Any) -> Tensor:
    """The derivative of the logarithm of the gamma function.

    >>> round(digamma(Tensor([1.0])).item(), 5)
    -0.57722
    """
    given = floated(input)
    x = cast(given, float64)
    low = p.less(x, number(0.5, x))
    at = p.select(low, 1.0 - x, p.select(p.is_finite(x), x, number(1, x)))
    out = number(0, x) * at
    for k in range(_FAR):
        out = out - p.select(p.less(at, number(_FAR, x)), 1.0 / (at + float(k)), number(0, x))
    far = p.select(p.less(at, number(_FAR, x)), at + float(_FAR), at)
    square = 1.0 / (far * far)
    term = square
    tail = number(0, x) * far
    for k, b in enumerate(_BERNOULLI, 1):
        tail = tail + term * (b / (2 * k))
        term = term * square
    out = out + p.log(far) - 0.5 / far - tail
    part = _from_whole(x)
    pole = p.equal(part, 0)
    turned = p.select(low, out - python.pi / p.tan(p.select(pole, number(0.25, x), part) * python.pi), out)
    at_pole = p.select(p.equal(x, 0), -1.0 / x, number(python.nan, x))  # two sides meet at 0, which has a sign
    found = p.select(p.logical_and(low, pole), p.stop_gradient(at_pole), turned)
    beyond = p.select(p.equal(x, number(python.inf, x)), x, number(python.nan, x))
    return cast(p.select(p.is_finite(x), found, beyond), given.dtype)


@method("mvlgamma")
def mvlgamma(input: Any, p: int) -> Tensor:
    """The logarithm of the gamma function of several dimensions.

    >>> mvlgamma(Tensor([3.0]), 1).item() == lgamma(Tensor([3.0])).item()
    True
    """
    x = floated(input)
    out = lgamma(x)
    for k in range(1, p):
        out = out + lgamma(x - k / 2.0)
    return out + p * (p - 1) / 4.0 * python.log(python.pi)
