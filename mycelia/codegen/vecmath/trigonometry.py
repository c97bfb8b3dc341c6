"""Sine, cosine and tangent.

`x = n pi/2 + r` with a whole `n`; the last two bits of `n` say which of `±sin(r)`, `±cos(r)` it is. Both are
polynomials on [-pi/4, pi/4], of least greatest relative error (Remez exchange in 50 digits).

For 32 bits the reduction is done in 64, and is right for every finite number: first whole turns are taken away in
chunks, each a double that is a multiple of 2 pi within 2**-49, so that the subtraction is exact and what is left to
correct is tiny. For 64 bits that is enough up to `LIMIT`; beyond it, where neighbouring doubles are 1/8 apart and more,
`huge_angle` takes over.
"""

from __future__ import annotations

import math
from functools import cache

from mycelia.codegen.vecmath import huge_angle
from mycelia.codegen.vecmath.accuracy import promised
from mycelia.codegen.vecmath.number import F32, F64, Bits, Format, Number, fma, polynomial, two_product, two_sum, where
from mycelia.frozen import frozen

LIMIT = 2.0**49
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)  # pi/2 to 160 bits
TWO_PI_BITS = 0x6487ED5110B4611A62633145C06E0E68948127044533E63A0105DF531D89CD91  # floor(2 pi * 2**252)

# sin(r) = r + r**3 SIN(r*r), cos(r) = 1 - r*r/2 + r**4 COS(r*r)
SIN = {
    F32: (-0.16666655, 0.00833219, -0.00019518405),
    F64: (
        -0.16666666666666632,
        0.008333333333322455,
        -0.00019841269829813416,
        2.755731368757174e-06,
        -2.5050756713878834e-08,
        1.5896681806101507e-10,
    ),
}
COS = {
    F32: (0.041666646, -0.0013887301, 2.443067e-05),
    F64: (
        0.0416666666666666,
        -0.0013888888888874441,
        2.480158728963631e-05,
        -2.7557314387467385e-07,
        2.087572705840148e-09,
        -1.1359802429023988e-11,
    ),
}


@frozen
class Turns:
    """Very nearly a whole number of turns: `length + rest` is one exactly, and `rest` is tiny."""

    length: float
    rest: float


@cache
def nearly_whole_turns(unit: int) -> Turns:
    """The multiple of `2**unit`, below `2**(unit + 52)`, that is nearest to whole turns.

    It is a convergent of the continued fraction of `2**unit / 2 pi`.

    >>> turns = nearly_whole_turns(-2)
    >>> 2.0**49 < turns.length < 2.0**50, abs(turns.rest) < 2.0**-48
    (True, True)
    """
    numerator, denominator = 1 << (252 + max(unit, 0)), TWO_PI_BITS << max(-unit, 0)
    count, before = 1, 0  # of units, in this convergent and in the one before
    turns, turns_before = numerator // denominator, 1
    left, over = denominator, numerator % denominator
    while True:
        term, remainder = divmod(left, over)
        if term * count + before >= 1 << F64.fraction:
            break
        count, before = term * count + before, count
        turns, turns_before = term * turns + turns_before, turns
        left, over = over, remainder
    difference = (turns * denominator - count * numerator) / (1 << (252 + max(-unit, 0)))
    return Turns(math.ldexp(count, unit), difference)


def quarter_turns(x: Number) -> tuple[Bits, Number, Number]:
    """`n` and `r + rest` with `x = n pi/2 + r + rest` and `r` between -pi/4 and pi/4; `x` has 64 bits."""
    shifted = fma(x, 2 / math.pi, F64.shifter)
    n = shifted - F64.shifter
    high, middle, low = HALF_PI
    r = fma(n, -high, x)  # exact
    product, product_rest = two_product(n, middle)
    r, rest = two_sum(r, -product)
    return shifted.bits(), r, rest - fma(n, low, product_rest)


def short_quarter_turns(x: Number) -> tuple[Bits, Number]:
    """The same for 32 bits: there `r` rounded says enough."""
    x, rest = x.widened(), x.widened().filled(0.0)
    for turns in (nearly_whole_turns(40), nearly_whole_turns(-2)):
        count = (x * (1 / turns.length)).rint()
        x, rest = fma(count, -turns.length, x), fma(count, turns.rest, rest)
    shifted = fma(x, 2 / math.pi, F64.shifter)
    n = shifted - F64.shifter
    r = fma(n, -HALF_PI[0], x) - fma(n, HALF_PI[1], rest)
    return shifted.bits().narrowed(), r.narrowed()


@frozen
class Angle:
    """An angle within its quarter turn: which quarter, and its sine and cosine as if it were the first."""

    quarter: Bits
    sin: Number
    cos: Number
    form: Format

    def turned(self, quarters: int) -> Number:
        """The sine of the angle, turned by some quarters."""
        quarter = self.quarter + quarters if quarters else self.quarter
        size = where((quarter & 1).nonzero(), self.cos, self.sin)
        return (size.bits() ^ ((quarter & 2) << (self.form.bits - 2))).as_float()


def angle(x: Number) -> Angle:
    form = x.format
    if form is F32:
        quarter, r = short_quarter_turns(x)
        z = r * r
        sin = fma(r * z, polynomial(z, SIN[form]), r)
        cos = fma(z * z, polynomial(z, COS[form]), fma(z, -0.5, 1.0))
        return Angle(quarter, sin, cos, form)
    quarter, r, rest = quarter_turns(x)
    quarter, r, rest = huge_angle.reduced(x, (abs(x) > LIMIT) & (abs(x) <= form.largest), (quarter, r, rest))
    z = r * r
    half = z * 0.5
    sin = r + fma(r * z, polynomial(z, SIN[form]), fma(-half, rest, rest))
    near = 1 - half
    cos = near + (((1 - near) - half) + fma(z * z, polynomial(z, COS[form]), -(r * rest)))
    return Angle(quarter, sin, cos, form)


def or_itself(x: Number, result: Number) -> Number:
    """`result`, and `x` where it is so small that `result` would round to it; the sign of -0 is kept."""
    return where(abs(x) < x.format.smallest, x, result)


@promised(f32=2, f64=2)
def sin(x: Number) -> Number:
    return or_itself(x, angle(x).turned(0))


@promised(f32=2, f64=2)
def cos(x: Number) -> Number:
    return angle(x).turned(1)


@promised(f32=4, f64=4)
def tan(x: Number) -> Number:
    a = angle(x)
    odd = (a.quarter & 1).nonzero()
    ratio = where(odd, a.cos, a.sin) / where(odd, -a.sin, a.cos)
    return or_itself(x, ratio)
