"""Incomplete gamma and beta functions, and the zeta function of Hurwitz, computed in float64.

An incomplete function is a power times the integral of exp(-f(u)) from 0 to infinity, where f is convex and begins at
0. The double exponential rule (Takahasi and Mori) takes it at u = s exp(t - exp(-t)), in equal steps of t: a smooth
sum, whose gradients, of every order and in every argument, are gradients of the function.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, wrap
from mycelia.errors import DTypeError
from mycelia.ops.arguments import floated, method, number, pair
from mycelia.ops.math import erfc, isfinite
from mycelia.ops.numbers import digamma, lgamma
from mycelia.primitives.family import broadcast_shapes
from mycelia.types import Array, DType, float64

__all__ = ["igamma", "igammac", "polygamma", "zeta"]

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
              854513 / 138, -236364091 / 2730)  # fmt: skip
_FAR = 10  # where Stirling's and Euler's sums are exact to double precision


# ------------------------------------------------------------------------------------------------------ small words


def widened(name: str, *inputs: Any) -> tuple[list[Tensor], DType]:
    """Operands in double precision, and the element type of the result.

    >>> widened("f", Tensor([1.0]), 2)[1]
    float32
    """
    first = floated(inputs[0])
    if len(inputs) > 1:
        first = floated(reduce(lambda x, y: pair(x, y)[0], inputs))
    if not first.dtype.is_float:
        raise DTypeError(f"{name} takes real numbers, not {first.dtype!r}", hint="it is not defined here for others")
    found = [cast(pair(x, first)[0], float64) for x in inputs]
    return found, first.dtype


def chosen(condition: Tensor, x: Tensor, other: float) -> Tensor:
    """A tensor where the condition holds, else a number: of what is computed there no gradient comes.

    >>> chosen(Tensor([True, False]), Tensor([3.0, 4.0]), 1.0).tolist()
    [3.0, 1.0]
    """
    return p.select(condition, x, number(other, x))


def levelled(*inputs: Tensor) -> list[Tensor]:
    """Tensors in the shape that all of them broadcast to.

    >>> [x.shape for x in levelled(Tensor([1.0, 2.0]), Tensor(3.0))]
    [(2,), (2,)]
    """
    shape = broadcast_shapes(*[x.shape for x in inputs])
    return [x if x.shape == shape else p.broadcast(x, shape) for x in inputs]


def either(*conditions: Tensor) -> Tensor:
    """Whether one of several conditions holds.

    >>> either(Tensor([True, False]), Tensor([False, False])).tolist()
    [True, False]
    """
    return reduce(p.logical_or, conditions)


def both(*conditions: Tensor) -> Tensor:
    """Whether all of several conditions hold.

    >>> both(Tensor([True, False]), Tensor([True, True])).tolist()
    [True, False]
    """
    return reduce(p.logical_and, conditions)


@cache
def _nodes(end: float) -> tuple[Array, Array]:
    """Where the double exponential rule looks, and how much that counts."""
    step = 0.125
    t = np.arange(-3.75, end, step)
    u = np.exp(t - np.exp(-t))
    return u, step * (1 + np.exp(-t)) * u


def integral(f: Callable[[Tensor], Tensor], scale: Tensor, end: float = 4.25) -> Tensor:
    """The integral of exp(-f(u)) from 0 to infinity, where f, which is convex, reaches 1 near `scale`. What f is made
    of has a further axis at the end.

    >>> round(integral(lambda u: u * u, Tensor(1.0, float64)).item() ** 2 * 4, 10)
    3.1415926536
    """
    places, weights = _nodes(end)
    wide = p.stop_gradient(further(scale))
    values = p.exp(p.negative(f(wide * wrap(places))))
    return p.reduce_sum(values * wrap(weights), (len(values.shape) - 1,)) * p.stop_gradient(scale)


def further(x: Tensor) -> Tensor:
    """A tensor with one axis more, at the end.

    >>> further(Tensor([1.0])).shape
    (1, 1)
    """
    return p.expand_dims(x, (len(x.shape),))


def scaled_erfc(x: Tensor) -> Tensor:
    """exp(x^2) erfc(x), of numbers in double precision, which is near 1 / (sqrt(pi) x) of large x.

    >>> round(scaled_erfc(Tensor(0.5, float64)).item(), 6)
    0.61569
    """
    zero, known = number(0, x), isfinite(x)
    size = p.abs(chosen(known, x, 0.0))
    twice = further(size) * 2.0
    above = integral(lambda u: u * (u + twice), 1.0 / (size + 1.0)) * (2.0 / python.sqrt(python.pi))
    low = chosen(both(known, p.less(x, zero)), x, 0.0)
    out = p.select(p.less(x, zero), 2.0 * p.exp(low * low) - above, above)
    ends = p.select(p.greater(x, zero), zero, number(python.inf, x))
    return p.select(known, out, p.select(p.not_equal(x, x), x, ends))


def log_normal_share(x: Tensor) -> Tensor:
    """The logarithm of the share of a normal distribution below x, of numbers in double precision.

    >>> round(log_normal_share(Tensor(-20.0, float64)).item(), 3)
    -203.917
    """
    low = p.less(x, number(-1, x))
    z = chosen(both(low, isfinite(x)), x, -1.0)
    below = p.log(scaled_erfc(z * -python.sqrt(0.5)) * 0.5) - z * z * 0.5
    above = p.log1p(-0.5 * erfc(chosen(p.logical_not(low), x, 0.0) * python.sqrt(0.5)))
    out = p.select(low, below, above)
    return p.select(p.equal(x, number(-python.inf, x)), number(-python.inf, x), out)


def stirling(a: Tensor) -> Tensor:
    """What ln Gamma(a) is beside (a - 1/2) ln a - a + ln(2 pi)/2.

    >>> round(stirling(Tensor(100.0, float64)).item(), 8)
    0.00083333
    """
    small = p.less(a, number(_FAR, a))
    low, high = chosen(small, a, 1.0), p.select(small, number(_FAR, a), a)
    inverse = 1.0 / high
    term, tail = inverse, number(0, a) * inverse
    for k, b in enumerate(_BERNOULLI[:8], 1):
        tail = tail + term * (b / (2 * k * (2 * k - 1)))
        term = term * inverse * inverse
    near = lgamma(low) - (low - 0.5) * p.log(low) + low - 0.5 * python.log(2 * python.pi)
    return p.select(small, near, tail)


# ------------------------------------------------------------------------------------------------ incomplete gamma


def _zeta_of(k: int) -> float:
    """The zeta function of Riemann at a whole number from 2 on."""
    near = sum(n**-k for n in range(1, 60)) + 60 ** (1 - k) / (k - 1) + 0.5 * 60**-k
    return float(near + k / 12 * 60 ** (-k - 1) - k * (k + 1) * (k + 2) / 720 * 60 ** (-k - 3))


_NEAR_ONE = (-0.5772156649015329, *(_zeta_of(k) * (-1) ** k / k for k in range(2, 27)))


def _lgamma_near_one(a: Tensor) -> Tensor:
    """Ln Gamma(1 + a) of small a."""
    out = number(0, a) * a
    for c in reversed(_NEAR_ONE):
        out = (out + c) * a
    return out


def gamma_parts(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The regularised incomplete gamma functions: the share of the integral of t^(a-1) e^-t below x, and that above.

    >>> [round(v.item(), 6) for v in gamma_parts(Tensor(1.0, float64), Tensor(1.0, float64))]
    [0.632121, 0.367879]
    """
    zero = number(0, x)
    a, x = levelled(a, x)
    inside = both(p.greater(a, zero), p.greater(x, zero))
    b, z = chosen(inside, a, 1.0), chosen(inside, x, 1.0)
    much = p.logical_and(p.less(b, number(1, b)), p.greater(b * p.log(z), number(python.log(0.5), b)))
    below = p.logical_and(p.less_equal(z, b), p.logical_not(much))
    tiny = p.logical_and(p.less(z, number(_TINY, z)), p.logical_not(below))
    part = p.exp(_gamma_part(b, p.select(tiny, number(_TINY, z), z), below))
    logs = _gamma_series(chosen(tiny, b, 1e-3), chosen(tiny, z, _TINY))
    lower = p.select(tiny, p.exp(logs), p.select(below, part, 1.0 - part))
    upper = p.select(tiny, p.negative(p.expm1(logs)), p.select(below, 1.0 - part, part))
    return lower, upper


_TINY = 0.05


def _gamma_series(a: Tensor, x: Tensor) -> Tensor:
    """Ln P(a, x) of small numbers: x^a / Gamma(1 + a) times the sum of a (-x)^n / (n! (a + n))."""
    term, total = number(1, x), number(0, x) * x
    for n in range(1, 10):
        term = term * x * (-1.0 / n)
        total = total + term / (a + float(n))
    return a * p.log(x) - _lgamma_near_one(a) + p.log1p(total * a)


def _gamma_part(a: Tensor, x: Tensor, below: Tensor) -> Tensor:
    """The logarithm of the smaller share, by its own integral: that of exp(-aw + x(1 - e^-w)) below, and that of
    e^-u (1 + u/x)^(a-1) above.
    """
    off = (x - a) / a
    near = p.less(p.abs(off), number(0.5, x))
    logs = p.select(near, p.log1p(chosen(near, off, 0.0)), p.log(p.select(near, number(1, x), x / a)))
    power = 0.5 * p.log(a * (0.5 / python.pi)) + a * (logs - off) - stirling(a)
    curve = p.sqrt(p.maximum(a - 1.0, number(0, a)))
    low = p.maximum(1.0 / a, 1.0 / (p.maximum(a - x, number(0, a)) + p.sqrt(x)))
    slope = p.maximum(1.0 - (a - 1.0) / x, number(1e-300, x))
    high = p.maximum(number(1, x), 1.0 / (slope + curve / x))
    b, z, under = further(a), further(x), further(below)

    def exponent(u: Tensor) -> Tensor:
        return p.select(under, b * u + z * p.expm1(p.negative(u)), u - (b - 1.0) * p.log1p(u / z))

    found = p.log(integral(exponent, p.select(below, low, high))) + power
    return p.select(below, found, found - p.log(x))


def _gamma_edges(a: Tensor, x: Tensor, inside: Tensor, at_nothing: float) -> Tensor:
    """The values where an argument is 0 or infinite, and nan where there is none."""
    nothing, endless = number(0, x), number(python.inf, x)
    far = 1.0 - at_nothing
    out = p.select(p.logical_and(p.equal(x, nothing), p.greater(a, nothing)), number(at_nothing, x), inside)
    beyond = either(
        p.logical_and(p.equal(x, endless), p.less(a, endless)),
        both(p.equal(a, nothing), p.greater(x, nothing)),
    )
    out = p.select(p.logical_and(beyond, p.greater_equal(a, nothing)), number(far, x), out)
    wide = both(p.equal(a, endless), p.less(x, endless), p.greater_equal(x, nothing))
    out = p.select(wide, number(at_nothing, x), out)
    unknown = either(
        p.less(a, nothing),
        p.less(x, nothing),
        p.is_nan(a),
        p.is_nan(x),
        both(p.equal(a, nothing), p.equal(x, nothing)),
        both(p.equal(a, endless), p.equal(x, endless)),
    )
    return p.select(unknown, number(python.nan, x), out)


@method("igamma")
def igamma(input: Any, other: Any) -> Tensor:
    """The regularised lower incomplete gamma function P(a, x), of a = input and x = other, both from 0 on.

    >>> round(igamma(Tensor([1.0]), Tensor([1.0])).item(), 5)
    0.63212
    """
    (a, x), dtype = widened("igamma", input, other)
    return cast(_gamma_edges(a, x, gamma_parts(*_finite(a, x))[0], 0.0), dtype)


@method("igammac")
def igammac(input: Any, other: Any) -> Tensor:
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x), of a = input and x = other, from 0 on.

    >>> round(igammac(Tensor([1.0]), Tensor([1.0])).item(), 5)
    0.36788
    """
    (a, x), dtype = widened("igammac", input, other)
    return cast(_gamma_edges(a, x, gamma_parts(*_finite(a, x))[1], 1.0), dtype)


def _finite(*inputs: Tensor) -> list[Tensor]:
    return [chosen(p.is_finite(x), x, 1.0) for x in inputs]


# ------------------------------------------------------------------------------------------------- incomplete beta


def beta_logarithm(a: Tensor, b: Tensor) -> Tensor:
    """Ln B(a, b), the logarithm of the beta function, of positive numbers.

    >>> round(beta_logarithm(Tensor(2.0, float64), Tensor(3.0, float64)).item(), 6)  # ln 1/12
    -2.484907
    """
    whole = a + b
    near = a * p.log(a / whole) + b * p.log(b / whole)
    rest = stirling(a) + stirling(b) - stirling(whole)
    return near + 0.5 * (p.log(2 * python.pi * whole) - p.log(a) - p.log(b)) + rest


def beta_parts(a: Tensor, b: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The shares of the integral of t^(a-1) (1-t)^(b-1) from 0 to 1 that lie below x, and above.

    >>> [round(v.item(), 6) for v in beta_parts(*[Tensor(v, float64) for v in (2.0, 1.0, 0.5)])]
    [0.25, 0.75]
    """
    zero, one = number(0, x), number(1, x)
    a, b, x = levelled(a, b, x)
    inside = both(p.greater(a, zero), p.greater(b, zero), p.greater(x, zero), p.less(x, one))
    a, b, x = chosen(inside, a, 1.0), chosen(inside, b, 1.0), chosen(inside, x, 0.5)
    turned, logs = beta_part(a, b, x, 1.0 - x)
    part = p.exp(logs)
    return p.select(turned, 1.0 - part, part), p.select(turned, part, 1.0 - part)


def beta_part(a: Tensor, b: Tensor, x: Tensor, rest: Tensor) -> tuple[Tensor, Tensor]:
    """Whether x, which is 1 - rest, lies above the mean, and the logarithm of the share on the far side of it.

    >>> [round(v.item(), 4) for v in beta_part(*[Tensor(v, float64) for v in (1.0, 2.0, 0.5, 0.5)])]
    [1, -1.3863]
    """
    turned = p.greater(x * b, rest * a)
    near, far = p.select(turned, b, a), p.select(turned, a, b)
    here, there = p.select(turned, rest, x), p.select(turned, x, rest)
    whole = near + far
    power = near * p.log(here * (whole / near)) + far * p.log(there * (whole / far))
    power = power + 0.5 * (p.log(near) + p.log(far) - p.log(2 * python.pi * whole))
    power = power - stirling(near) - stirling(far) + stirling(whole) - p.log(there)
    more = p.maximum(far - 1.0, number(0, x))
    slope = p.maximum(near - more * here / there, number(1e-300, x))
    scale = p.maximum(1.0 / near, 1.0 / (slope + p.sqrt(more * here) / there))
    first, second, ratio = further(near), further(far), further(here / there)

    def exponent(w: Tensor) -> Tensor:
        return first * w - (second - 1.0) * p.log1p(ratio * p.negative(p.expm1(p.negative(w))))

    return turned, p.log(integral(exponent, scale)) + power


# ------------------------------------------------------------------------------------------------------- zeta


def beta_share(name: str, a: Any, b: Any, x: Any, upper: bool = False) -> Tensor:
    """The share of the integral of t^(a-1) (1-t)^(b-1) from 0 to 1 that lies below x, or above it.

    >>> round(beta_share("betainc", 2.0, 1.0, Tensor(0.5)).item(), 6)
    0.25
    """
    (c, d, v), dtype = widened(name, a, b, x)
    out = beta_parts(*_finite(c, d, v))[upper]
    ends = p.zeros_like(out)
    out = p.select(v <= 0, ends + float(upper), p.select(v >= 1, ends + float(not upper), out))
    wrong = either(v < 0, v > 1, p.is_nan(v), c <= 0, d <= 0, p.is_nan(c), p.is_nan(d))
    return cast(p.select(wrong, ends + python.nan, out), dtype)


def _zeta_above(s: Tensor, q: Tensor) -> Tensor:
    """The sum of (q + k)^-s from k = 0 on, where q is positive and s above 1: ten terms, and Euler's for the rest."""
    out = number(0, q) * q
    for k in range(_FAR):
        out = out + p.power(q + float(k), p.negative(s))
    end = q + float(_FAR)
    last = p.power(end, p.negative(s))
    out = out + last * end / (s - 1.0) + 0.5 * last
    rising, factor = s, last / end
    for k, b in enumerate(_BERNOULLI, 1):
        out = out + rising * factor * (b / python.factorial(2 * k))
        rising = rising * (s + (2.0 * k - 1.0)) * (s + 2.0 * k)
        factor = factor / (end * end)
    return out


def hurwitz(s: Tensor, q: Tensor) -> Tensor:
    """The zeta function of Hurwitz, of numbers in double precision; of q below 0 only for whole s.

    >>> round(hurwitz(Tensor(2.0, float64), Tensor(1.0, float64)).item(), 6)
    1.644934
    """
    s, q = levelled(s, q)
    zero, one = number(0, q), number(1, q)
    safe = p.logical_and(p.greater(s, one), p.is_finite(s))
    t = chosen(safe, s, 2.0)
    low = p.less(q, zero)
    floor = p.stop_gradient(p.floor(chosen(p.is_finite(q), q, 1.0)))
    part = chosen(p.is_finite(q), q, 1.0) - p.select(low, floor, zero)
    pole = p.equal(part, zero)
    part = p.select(pole, one, part)
    out = _zeta_above(t, part)
    # terms below 0 are those of 1 - part, mirrored: as many as `floor` says
    over = p.select(low, 1.0 - chosen(low, part, 0.5), one)
    over = p.select(p.less_equal(over, zero), one, over)
    mirrored = _zeta_above(t, over) - _zeta_above(t, over - p.select(low, floor, zero))
    odd = p.equal(p.remainder(p.stop_gradient(t), number(2, t)), one)
    out = p.select(low, out + p.select(odd, p.negative(mirrored), mirrored), out)
    whole = p.equal(p.stop_gradient(t), p.floor(p.stop_gradient(t)))
    out = p.select(p.logical_and(low, p.logical_not(whole)), number(python.nan, q), out)
    out = p.select(p.logical_and(pole, p.less_equal(q, zero)), number(python.inf, q), out)
    out = p.select(p.equal(q, number(python.inf, q)), zero, out)
    out = p.select(p.equal(s, one), number(python.inf, q), out)
    return p.select(either(p.less(s, one), p.is_nan(s), p.is_nan(q)), number(python.nan, q), out)


def zeta(input: Any, other: Any) -> Tensor:
    """The zeta function of Hurwitz: the sum of (q + k)^-s from k = 0 on, of s = input, above 1, and q = other.

    >>> round(zeta(Tensor([2.0]), Tensor([1.0])).item(), 5)
    1.64493
    """
    (s, q), dtype = widened("zeta", input, other)
    return cast(hurwitz(s, q), dtype)


def polygamma(n: Any, input: Any) -> Tensor:
    """The n-th derivative of the digamma function, for whole n from 0 on.

    >>> round(polygamma(1, Tensor([1.0])).item(), 5)
    1.64493
    """
    (x,), dtype = widened("polygamma", input)
    order = n if isinstance(n, Tensor) else Tensor(n)
    if not (order.dtype.is_integer or order.dtype.is_float):
        raise DTypeError(f"polygamma: n is a whole number, not of {order.dtype!r}", hint="give an int, such as 1")
    k = cast(order, float64)
    first = p.equal(k, number(0, k))
    some = p.select(first, number(1, k), k)
    size = p.exp(lgamma(some + 1.0)) * hurwitz(some + 1.0, x)
    odd = p.equal(p.remainder(some, number(2, k)), number(1, k))
    out = p.select(odd, size, p.negative(size))
    wrong = p.logical_or(p.less(k, number(0, k)), p.logical_not(p.equal(k, p.floor(k))))
    return cast(p.select(first, digamma(x), p.select(wrong, number(python.nan, k), out)), dtype)
