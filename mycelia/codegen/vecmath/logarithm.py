"""The logarithm and what is made of it: log, log2, log10, log1p, asinh, acosh, atanh.

`x = 2**e * (1 + f)` with `1 + f` between sqrt(1/2) and sqrt(2) gives `log(x) = e ln 2 + log(1 + f)`. In 32 bits
`log(1 + f) = f - f*f/2 + f**3 P(f)`; in 64 bits, with `s = f / (2 + f)`, it is `2 atanh(s) = 2s + s**3 R(s*s)`, written
`f - (f*f/2 - s (f*f/2 + s*s R))` so that the greatest term is exact. `P` and `R` minimise the greatest relative error
of the logarithm (Remez exchange in 50 digits).
"""

from __future__ import annotations

import math

from mycelia.codegen.vecmath.accuracy import promised
from mycelia.codegen.vecmath.exponential import LN2, LOG2_E, ln2_parts
from mycelia.codegen.vecmath.number import F32, Bits, Number, fma, polynomial, where

P = (0.3333333, -0.25000826, 0.20001265, -0.1662322, 0.14200714, -0.13160457, 0.127694845, -0.07644043)
R = (
    0.6666666666666735,
    0.39999999999409347,
    0.28571428743689053,
    0.2222219842860214,
    0.18183572379521806,
    0.15313831417787904,
    0.14798267370572826,
)


def exponent(x: Number) -> Bits:
    """The whole `e` that brings `x / 2**e` between sqrt(1/2) and sqrt(2), for `x` with full precision."""
    return (x.bits() - x.format.pattern(math.sqrt(0.5))) >> x.format.fraction


def split(x: Number) -> tuple[Bits, Number]:
    """`e` and `m` with `x == 2**e * m` and `m` between sqrt(1/2) and sqrt(2); `x` is positive, with full precision."""
    e = exponent(x)
    return e, (x.bits() - (e << x.format.fraction)).as_float()


def split_any(x: Number) -> tuple[Number, Number]:
    """The same for any positive finite `x`."""
    form = x.format
    tiny = x < form.smallest
    e, m = split(where(tiny, x * 2.0**form.fraction, x))
    return e.to_float() - where(tiny, x.filled(form.fraction), 0.0), m


def log_near_1(f: Number) -> tuple[Number, Number]:
    """`log(1 + f)` as `f` and a correction that is at most a third of it."""
    square = f * f
    if f.format is F32:
        return f, fma(f * square, polynomial(f, P), square * -0.5)
    s, half = f / (f + 2), square * 0.5
    z = s * s
    return f, fma(s, fma(z, polynomial(z, R), half), -half)


def sum_of_logs(e: Number, f: Number) -> Number:
    """`log(2**e * (1 + f))`."""
    high, low = ln2_parts(e.format)
    great, small = log_near_1(f)
    return fma(e, high, great + fma(e, low, small))


def where_defined(x: Number, result: Number) -> Number:
    """`result`, and what a logarithm is at 0, below it, and at infinity."""
    below = where(x.equals(0.0), x.filled(-math.inf), math.nan)
    return where(x > 0, where(x < math.inf, result, x), below)


@promised(f32=1.5, f64=2)
def log(x: Number) -> Number:
    e, m = split_any(x)
    return where_defined(x, sum_of_logs(e, m - 1))


def log_to_base(x: Number, inverse: tuple[float, float], of_2: tuple[float, float]) -> Number:
    """The logarithm to a base, given `1 / ln(base)` and the logarithm of 2, each as a sum of two doubles."""
    form = x.format
    e, m = split_any(x)
    great, small = log_near_1(m - 1)
    high, low = form.split(*inverse, form.fraction + 1)
    step, rest = form.split(*of_2, form.fraction + 1 - (form.bits - form.fraction))
    tail = fma(great, low, small * high)
    return where_defined(x, fma(e, step, fma(great, high, fma(e, rest, tail))))


@promised(f32=1.5, f64=2)
def log2(x: Number) -> Number:
    return log_to_base(x, (LOG2_E, 2.0355273740931033e-17), (1.0, 0.0))


@promised(f32=1.5, f64=2)
def log10(x: Number) -> Number:
    return log_to_base(x, (0.4342944819032518, 1.098319650216765e-17), (0.3010299956639812, -2.8037281277851704e-18))


@promised(f32=2, f64=4)
def log1p(x: Number) -> Number:
    """With `e` from the rounded `1 + x`, and `f = x * 2**-e + (2**-e - 1)` from `x` itself: nothing is lost."""
    form = x.format
    above = x + 1
    e = exponent(above)
    shrink = ((form.bias + 2 - e) << form.fraction).as_float()  # 4 * 2**-e, for 2**-e itself may underflow
    f = fma(x * 0.25, shrink, shrink * 0.25 - 1)
    result = where_defined(above, sum_of_logs(e.to_float(), f))
    return where(abs(x) < form.epsilon, x, result)


@promised(f32=4, f64=4)
def asinh(x: Number) -> Number:
    form, size = x.format, abs(x)
    square = size * size
    grown = size + square / ((square + 1).sqrt() + 1)  # x + sqrt(x*x + 1) - 1
    return log1p_or_log_of_double(size, grown, form.epsilon).signed_as(x)


@promised(f32=4, f64=4)
def acosh(x: Number) -> Number:
    above = x - 1
    grown = above + fma(above, above, above + above).sqrt()  # x + sqrt(x*x - 1) - 1
    return where(x < 1, math.nan, log1p_or_log_of_double(x, grown, x.format.epsilon))


def log1p_or_log_of_double(x: Number, grown: Number, epsilon: float) -> Number:
    """`log1p(grown)`, or `log(2 * x)` for an `x` so great that its square may overflow."""
    great = x > 1 / epsilon
    return log1p(where(great, x, grown)) + where(great, x.filled(LN2), 0.0)


@promised(f32=4, f64=4)
def atanh(x: Number) -> Number:
    size = abs(x)
    return (log1p((size + size) / (1 - size)) * 0.5).signed_as(x)
