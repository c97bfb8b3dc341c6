"""The error function and its kin: the normal distribution, exponential integrals."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast, wrap
from mycelia.ops.incomplete import (
    both,
    chosen,
    either,
    further,
    integral,
    levelled,
    log_normal_share,
    scaled_erfc,
    widened,
)
from mycelia.ops.numbers import digamma, lgamma

__all__ = [
    "dawsn", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp1", "expi", "expn", "log_ndtr", "ndtr", "ndtri",
    "ndtri_exp",
]  # fmt: skip

_ROOT = python.sqrt(python.pi)


def erf(z: Any) -> Tensor:
    """The error function: the share of a normal distribution nearer to 0 than z times the square root of 2.

    >>> round(erf(0.5).item(), 6)
    0.5205
    """
    (x,), dtype = widened("erf", z)
    return cast(ops.erf(x), dtype)


def erfc(x: Any) -> Tensor:
    """1 - erf(x), also where that is small.

    >>> round(erfc(0.5).item(), 6)
    0.4795
    """
    (v,), dtype = widened("erfc", x)
    return cast(ops.erfc(v), dtype)


def erfcx(x: Any) -> Tensor:
    """exp(x^2) erfc(x), which is near 1 / (sqrt(pi) x) of large x.

    >>> round(erfcx(0.5).item(), 6)
    0.61569
    """
    (v,), dtype = widened("erfcx", x)
    return cast(scaled_erfc(v), dtype)


def erfinv(y: Any) -> Tensor:
    """The inverse of the error function.

    >>> round(erfinv(0.5).item(), 6)
    0.476936
    """
    (v,), dtype = widened("erfinv", y)
    near = ops.abs(v) < 0.5
    small = chosen(near, v, 0.25)
    out = ops.where(
        near, ops.erfinv(small), _erfcinv(1.0 - ops.abs(chosen(ops.logical_not(near), v, 0.6))) * ops.sign(v)
    )
    return cast(out, dtype)


def erfcinv(y: Any) -> Tensor:
    """The inverse of erfc.

    >>> round(erfcinv(0.5).item(), 6)
    0.476936
    """
    (v,), dtype = widened("erfcinv", y)
    return cast(_erfcinv(v), dtype)


def _erfcinv(y: Tensor) -> Tensor:
    inside = both(y > 0, y < 2)
    t = chosen(inside, y, 0.5)
    high = t > 1
    found = _from_logarithm(ops.log(ops.where(high, 2.0 - t, t)))
    out = ops.where(high, -found, found)
    ends = ops.where(ops.equal(y, 0.0), ops.zeros_like(y) + python.inf, ops.zeros_like(y) + python.nan)
    return ops.where(inside, out, ops.where(ops.equal(y, 2.0), ops.zeros_like(y) - python.inf, ends))


def _from_logarithm(logs: Tensor) -> Tensor:
    """The x, from 0 on, for which ln erfc(x) is this: by Newton's method, whose last steps are differentiated."""
    both_sides = logs + ops.log1p(-ops.exp(logs) * 0.5) + python.log(2.0)  # ln y (2 - y), of Winitzki's guess
    half = both_sides * 0.5 + 2.0 / (python.pi * 0.147)
    guess = ops.sqrt(ops.maximum(half * half - both_sides / 0.147, ops.zeros_like(logs)))
    x = ops.stop_gradient(ops.sqrt(ops.maximum(guess - half, ops.zeros_like(logs))))
    for turn in range(5):
        scaled = scaled_erfc(x)
        x = x + (ops.log(scaled) - x * x - logs) * scaled * (_ROOT / 2.0)
        x = ops.stop_gradient(x) if turn < 3 else x
    return x


def ndtr(x: Any) -> Tensor:
    """The share of a normal distribution below x.

    >>> round(ndtr(1.0).item(), 6)
    0.841345
    """
    (v,), dtype = widened("ndtr", x)
    return cast(0.5 * ops.erfc(v * -python.sqrt(0.5)), dtype)


def log_ndtr(x: Any) -> Tensor:
    """The logarithm of the share of a normal distribution below x, also where there is nearly nothing.

    >>> round(log_ndtr(-20.0).item(), 3)
    -203.917
    """
    (v,), dtype = widened("log_ndtr", x)
    return cast(log_normal_share(v), dtype)


def ndtri(y: Any) -> Tensor:
    """The x below which this share of a normal distribution lies.

    >>> round(ndtri(0.841345).item(), 4)
    1.0
    """
    (v,), dtype = widened("ndtri", y)
    return cast(_erfcinv(2.0 * v) * -python.sqrt(2.0), dtype)


def ndtri_exp(y: Any) -> Tensor:
    """The x below which the share exp(y) of a normal distribution lies.

    >>> round(ndtri_exp(-203.917).item(), 3)
    -20.0
    """
    (v,), dtype = widened("ndtri_exp", y)
    inside = both(v < 0, ops.isfinite(v))
    t = chosen(inside, v, -1.0)
    low = t < -python.log(2.0)
    below = -_from_logarithm(ops.where(low, t, -ops.ones_like(t)) + python.log(2.0))
    rest = -ops.expm1(ops.where(low, -ops.ones_like(t), t))
    above = _from_logarithm(ops.log(rest) + python.log(2.0))
    out = ops.where(low, below, above) * python.sqrt(2.0)
    ends = ops.where(ops.equal(v, 0.0), ops.zeros_like(v) + python.inf, ops.zeros_like(v) + python.nan)
    return cast(ops.where(inside, out, ops.where(ops.equal(v, -python.inf), v, ends)), dtype)


def dawsn(x: Any) -> Tensor:
    """Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x.

    >>> round(dawsn(1.0).item(), 6)
    0.53808
    """
    (v,), dtype = widened("dawsn", x)
    # Rybicki: a sum over odd steps, exact up to exp(-(pi / 2h)^2)
    h = 0.2
    size = chosen(ops.isfinite(v), v, 0.0)
    at = 2.0 * ops.stop_gradient(ops.round(size / (2 * h)))
    offsets = numpy.arange(-31.0, 32.0, 2.0)
    odd = further(at) + wrap(offsets)
    away = further(size) - odd * h
    out = ops.sum(ops.exp(-away * away) / odd, -1) / _ROOT
    return cast(ops.where(ops.isfinite(v), out, ops.where(ops.isnan(v), v, ops.zeros_like(v))), dtype)


# --------------------------------------------------------------------------------------------- exponential integrals


def expn(n: Any, x: Any) -> Tensor:
    """The exponential integral of order n: that of exp(-x t) / t^n from 1 to infinity.

    >>> round(expn(1, 1.0).item(), 6)
    0.219384
    """
    (k, v), dtype = widened("expn", n, x)
    k, v = levelled(ops.stop_gradient(k), v)
    good = both(k >= 0, ops.equal(k, ops.floor(k)), v >= 0)
    out = _expn(chosen(good, k, 1.0), chosen(both(good, v > 0, ops.isfinite(v)), v, 1.0))
    at_zero = ops.where(k > 1, 1.0 / chosen(k > 1, k - 1.0, 1.0), ops.zeros_like(v) + python.inf)
    out = ops.where(ops.equal(v, 0.0), at_zero, ops.where(ops.equal(v, python.inf), ops.zeros_like(v), out))
    return cast(ops.where(good, out, ops.zeros_like(v) + python.nan), dtype)


def _expn(n: Tensor, x: Tensor) -> Tensor:
    far = x > 1
    a = ops.where(far, chosen(ops.isfinite(x), x, 2.0), 2.0 * ops.ones_like(x))
    order, wide = further(n), further(a)
    above = integral(lambda u: wide * u + order * ops.log1p(u), 1.0 / (a + n), 6.25) * ops.exp(-a)
    z = chosen(ops.logical_not(far), x, 0.5)
    # a sum over powers, of which one has a logarithm
    m = chosen(n > 0, n, 1.0)
    odd = ops.equal(ops.floor_mod(m - 1.0, 2.0), 1.0)
    power = ops.exp((m - 1.0) * ops.log(z) - lgamma(m))
    total = ops.where(odd, -power, power) * (digamma(m) - ops.log(z))
    term = ops.ones_like(z)
    for k in range(22):
        apart = k - m + 1.0
        here = ops.equal(apart, 0.0)
        total = total - ops.where(here, ops.zeros_like(z), term / ops.where(here, ops.ones_like(z), apart))
        term = term * -z / (k + 1.0)
    near = ops.where(ops.equal(n, 0.0), ops.exp(-z) / z, total)
    return ops.where(far, above, near)


def exp1(z: Any) -> Tensor:
    """The exponential integral of order 1: that of exp(-t) / t from z to infinity; below 0 there is none.

    >>> round(exp1(1.0).item(), 6)
    0.219384
    """
    return expn(1.0, z)


def expi(x: Any) -> Tensor:
    """The exponential integral: that of exp(t) / t from minus infinity to x, in the sense of Cauchy.

    >>> round(expi(1.0).item(), 6)
    1.895118
    """
    (v,), dtype = widened("expi", x)
    low, far = v < 0, v > 40
    below = -_expn(ops.ones_like(v), ops.where(both(low, ops.isfinite(v)), -v, ops.ones_like(v)))
    z = ops.where(either(low, far, ops.equal(v, 0.0), ops.isnan(v)), ops.ones_like(v), v)
    k = numpy.arange(1.0, 141.0)
    logs = numpy.array([python.lgamma(n + 1) + python.log(n) for n in k])
    near = numpy.euler_gamma + ops.log(z) + ops.sum(ops.exp(further(ops.log(z)) * wrap(k) - wrap(logs)), -1)
    a = ops.where(both(far, ops.isfinite(v)), v, 41.0 * ops.ones_like(v))
    term, total = ops.ones_like(a), ops.ones_like(a)
    for n in range(1, 40):
        term = term * n / a
        total = total + term
    half = ops.exp(a * 0.5)
    above = half * total / a * half
    out = ops.where(low, below, ops.where(far, above, near))
    out = ops.where(ops.equal(v, 0.0), ops.zeros_like(v) - python.inf, out)
    ends = ops.where(v > 0, v, ops.where(low, ops.zeros_like(v), v))
    return cast(ops.where(ops.isfinite(v), out, ends), dtype)
