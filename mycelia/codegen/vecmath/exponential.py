"""The exponential and what is made of it: exp, exp2, expm1, sigmoid, tanh, sinh, cosh.

`x = n ln 2 + r` with a whole `n` gives `exp(x) = 2**n * exp(r)`; the scale `2**n` is put together from bits, and
`exp(r) - 1 = r + r*r*Q(r)` is a polynomial. `n` is held below the greatest exponent, so that `r` may run up to ln 2 and
beyond: numbers near overflow come out right, and greater ones overflow to infinity by themselves. A scale
below the smallest full-precision number is 0: results below about 0.7 times that number are flushed.

`Q` and `TANH` minimise the greatest relative error of what they stand for, `Q` on [-ln 2 / 2, ln 2] (Remez exchange
in 50 digits; coefficients rounded from the lowest upwards, each time fitting the rest again).
"""

from __future__ import annotations

from mycelia.codegen.vecmath.accuracy import promised
from mycelia.codegen.vecmath.number import F32, F64, Format, Number, fma, polynomial, where

LOG2_E = 1.4426950408889634
LN2, LN2_REST = 0.6931471805599453, 2.3190468138462996e-17  # ln 2 to 107 bits

Q = {
    F32: (0.49999997, 0.16666694, 0.041667636, 0.008327473, 0.0013854352, 0.00023021383),
    F64: (
        0.5,
        0.1666666666666668,
        0.04166666666666579,
        0.008333333333324637,
        0.0013888888889277686,
        0.00019841269857481775,
        2.4801586554722577e-05,
        2.7557310639458676e-06,
        2.755794781264107e-07,
        2.5049094778104094e-08,
        2.0700460663247794e-09,
        1.8835734006600258e-10,
    ),
}
# tanh(x) = x + x**3 TANH(x*x) below TANH_BOUND
TANH_BOUND = 0.3
TANH = {
    F32: (-0.3333306, 0.13314798, -0.050362833),
    F64: (
        -0.3333333333333326,
        0.13333333333306646,
        -0.05396825393534266,
        0.021869486571121685,
        -0.008863170503127061,
        0.0035908700460635812,
        -0.0014416265278044175,
        0.000502369077567568,
    ),
}


def ln2_parts(form: Format) -> tuple[float, float]:
    """The logarithm of 2 in two parts; the first, times any exponent, is exact."""
    return form.split(LN2, LN2_REST, form.fraction + 1 - (form.bits - form.fraction))


def scaled_expm1(x: Number, halvings: int = 0, bounded: bool = False) -> tuple[Number, Number]:
    """`scale` and `growth` with `exp(x) == 2**halvings * scale * (1 + growth)`, `scale` a power of two or 0.

    A `bounded` number is known to be so small that `exp` of it neither overflows nor underflows.
    """
    form = x.format
    shifter = form.shifter + form.bias - halvings
    x = x if bounded else x.at_least((halvings - form.bias - 0.25) * LN2)
    shifted = fma(x, LOG2_E, shifter)
    shifted = shifted if bounded else shifted.at_most(form.shifter + 2 * form.bias)
    n = shifted - shifter
    high, low = ln2_parts(form)
    r = fma(n, -low, fma(n, -high, x))
    return (shifted.bits() << form.fraction).as_float(), fma(r * r, polynomial(r, Q[form]), r)


@promised(f32=1.5, f64=2)
def exp(x: Number) -> Number:
    scale, growth = scaled_expm1(x)
    return fma(scale, growth, scale)


@promised(f32=1.5, f64=2)
def exp2(x: Number) -> Number:
    form = x.format
    x = x.at_least(-form.bias - 0.25)
    shifter = form.shifter + form.bias
    shifted = (x + shifter).at_most(form.shifter + 2 * form.bias)
    fraction = x - (shifted - shifter)
    scale, r = (shifted.bits() << form.fraction).as_float(), fraction * LN2
    growth = fma(fraction, LN2, r * r * polynomial(r, Q[form]))
    return fma(scale, growth, scale)


@promised(f32=2, f64=4)
def expm1(x: Number) -> Number:
    scale, growth = scaled_expm1(x)
    return fma(scale, growth, scale - 1).signed_as(x)  # the sign of -0 would be lost


@promised(f32=2, f64=4)
def sigmoid(x: Number) -> Number:
    scale, growth = scaled_expm1(-x)
    great = scale > 2.0**x.format.fraction  # scale + 1 would not be exact
    first, then = where(great, 1.0, scale + 1), where(great, scale, 0.0)
    return 1 / (fma(scale, growth, first) + then)


@promised(f32=2, f64=4)
def tanh(x: Number) -> Number:
    """Away from 0 from `exp(2x) - 1`, near 0 a polynomial."""
    form = x.format
    size = abs(x).at_most(10.0 if form is F32 else 20.0)  # from here on tanh rounds to 1
    scale, growth = scaled_expm1(size + size, bounded=True)
    grown = fma(scale, growth, scale - 1)
    z = size * size
    near_0 = fma(size * z, polynomial(z, TANH[form]), size)
    return where(size < TANH_BOUND, near_0, grown / (grown + 2)).signed_as(x)


@promised(f32=4, f64=4)
def sinh(x: Number) -> Number:
    scale, growth = scaled_expm1(abs(x), halvings=1)
    half = fma(scale, growth, scale - 0.5)  # (exp(x) - 1) / 2
    whole = (half + half + 1).at_most(x.format.largest)  # exp(x); the bound keeps inf / inf away
    return (half + half / whole).signed_as(x)


@promised(f32=4, f64=4)
def cosh(x: Number) -> Number:
    scale, growth = scaled_expm1(abs(x), halvings=1)
    half = fma(scale, growth, scale)  # exp(x) / 2
    return half + 0.25 / half
