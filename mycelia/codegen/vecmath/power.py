"""Powers: pow and rsqrt.

`abs(x)**y = exp2(y * log2(abs(x)))` loses as many bits as the exponent has, so the logarithm is computed wider
than the result: for 32 bits in 64, for 64 bits as a sum of two. `log(m) = 2 atanh(s)` with `s = (m - 1) / (m + 1)` and
`m` between sqrt(1/2) and sqrt(2).
"""

from __future__ import annotations

import math

from mycelia.codegen.vecmath.accuracy import promised
from mycelia.codegen.vecmath.exponential import LN2, LN2_REST, LOG2_E, scaled_expm1
from mycelia.codegen.vecmath.logarithm import split, split_any
from mycelia.codegen.vecmath.number import F32, F64, Number, fast_two_sum, fma, polynomial, two_product, two_sum, where

# log2((1 + s) / (1 - s)) = s * SHORT_LOG2(s*s) to 36 bits, exp2(r) = SHORT_EXP2(r) to 28 bits: for results in 32 bits
SHORT_LOG2 = tuple(
    c * LOG2_E for c in (2.0, 0.666666656421852, 0.40000335997824515, 0.2853725348137423, 0.23583262478779535)
)
SHORT_EXP2 = tuple(
    c * LN2**k
    for k, c in enumerate(
        (
            1.000000000599996,
            1.000000038530441,
            0.4999999159300602,
            0.16666410245594848,
            0.04166828895818933,
            0.008375644921750748,
            0.0013835789733268123,
        )
    )
)
# log((1 + s) / (1 - s)) = 2s + s**3 (2/3 + s**2 TAIL(s*s)) to 65 bits
TAIL = (
    0.40000000000002267,
    0.28571428570093954,
    0.22222222520978321,
    0.18181784270652568,
    0.153867619486999,
    0.13256706495024737,
    0.13197393434249616,
)


@promised(f32=1.5, f64=4)
def rsqrt(x: Number) -> Number:
    return 1 / x.sqrt()


@promised(f32=2, f64=4)
def pow(x: Number, y: Number) -> Number:
    size = abs(x)
    magnitude = magnitude_in_32_bits(size, y) if x.format is F32 else magnitude_in_64_bits(size, y)
    magnitude = where(size.equals(1.0) & ~y.is_nan(), 1.0, magnitude)
    whole = y.rint().equals(y)
    half = y * 0.5
    odd = whole & ~half.rint().equals(half)
    negative = x.is_negative()
    signed = where(negative & odd, -magnitude, magnitude)
    undefined = (x < 0) & (x > -math.inf) & ~whole
    return where(y.equals(0.0) | x.equals(1.0), 1.0, where(undefined, math.nan, signed))


def magnitude_in_32_bits(size: Number, y: Number) -> Number:
    size, y = size.widened(), y.widened()
    e, m = split(size)  # every number of 32 bits has full precision in 64
    s = (m - 1) / (m + 1)
    log2 = with_edges(size, fma(s, polynomial(s * s, SHORT_LOG2), e.to_float()))
    power = (y * log2).at_least(-200.0).at_most(200.0)  # 2**±200 is 0 and infinity in 32 bits
    shifter = F64.shifter + F64.bias
    shifted = power + shifter
    scale = (shifted.bits() << F64.fraction).as_float()
    return (scale * polynomial(power - (shifted - shifter), SHORT_EXP2)).narrowed()


def magnitude_in_64_bits(size: Number, y: Number) -> Number:
    great, small = log_in_two(size)
    great = with_edges(size, great)
    power, rest = two_product(great, y)
    bound = 2.0 * F64.bias  # beyond it exp is 0 or infinity
    rest = where(abs(power) < bound, fma(small, y, rest), 0.0)
    power = power.at_least(-bound).at_most(bound)
    scale, growth = scaled_expm1(power)
    return fma(scale, growth + fma(growth, rest, rest), scale)  # exp(power + rest) = exp(power) (1 + rest)


def with_edges(size: Number, log: Number) -> Number:
    """`log` of `size`, and what it is at 0 and at infinity."""
    return where(size.equals(0.0), -math.inf, where(size < math.inf, log, size))


def log_in_two(x: Number) -> tuple[Number, Number]:
    """The logarithm as a sum of two, good to about 64 bits; `x` is positive and finite."""
    e, m = split_any(x)
    below, above = m - 1, m + 1
    above_rest = m - (above - 1)
    inverse = 1 / above
    s = below * inverse
    s_rest = (fma(-s, above, below) - s * above_rest) * inverse
    z = s * s
    cube, cube_rest = two_product(s, z)
    cube_rest = fma(s, fma(s, s, -z), cube_rest) + 3 * z * s_rest
    third, third_rest = two_product(cube, 2 / 3)
    third_rest = fma(cube, 3.700743415417188e-17, fma(cube_rest, 2 / 3, third_rest))  # 2/3 - float(2/3)
    tail = cube * z * polynomial(z, TAIL)
    # summed from the greatest: e ln 2, 2s, the cube, the rest
    high, low = F64.split(LN2, LN2_REST, 42)
    total, rest = two_sum(e * high, s + s)
    total, more = fast_two_sum(total, third)
    return fast_two_sum(total, rest + more + (fma(e, low, s_rest + s_rest) + third_rest + tail))
