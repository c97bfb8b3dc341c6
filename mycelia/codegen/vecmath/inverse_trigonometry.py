"""The inverse trigonometric functions: asin, acos, atan, atan2.

`asin(s) = s + s**3 ASIN(s*s)` up to 1/2; above, `asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2))`.
`atan(t) = t + t**3 ATAN(t*t)` up to tan(pi/8); a greater angle is turned back by pi/4 or pi/2 first, with one
division for all three cases.
Polynomials of least greatest relative error (Remez exchange in 50 digits).
"""

from __future__ import annotations

import math

from mycelia.codegen.vecmath.accuracy import promised
from mycelia.codegen.vecmath.number import F32, F64, Format, Mask, Number, fma, polynomial, where

ASIN = {
    F32: (0.16666754, 0.07495251, 0.0454762, 0.02415108, 0.04221386),
    F64: (
        0.1666666666666538,
        0.07500000000343571,
        0.044642856823035065,
        0.030381959350211703,
        0.022371753057183783,
        0.017359778302567287,
        0.013884525800207062,
        0.012173766688065682,
        0.006508702344374139,
        0.019579907185688843,
        -0.016303664472140707,
        0.031965655205578966,
    ),
}
ATAN = {
    F32: (-0.33333316, 0.19998531, -0.14244469, 0.105997965, -0.060916666),
    F64: (
        -0.333333333333332,
        0.19999999999953819,
        -0.1428571428022055,
        0.1111111078467745,
        -0.0909089779284921,
        0.07692060835664977,
        -0.06663111003818155,
        0.05847938847177014,
        -0.05039522158889349,
        0.03806992366660506,
        -0.017912895576651596,
    ),
}
PI, PI_REST = math.pi, 1.2246467991473532e-16


def part_of_pi(form: Format, share: float) -> tuple[float, float]:
    """`share * pi` in two parts."""
    return form.split(PI * share, PI_REST * share, form.fraction + 1)


def small_asin(x: Number) -> tuple[Mask, Number, Number]:
    """Whether `abs(x)` is above 1/2; then `s = sqrt((1 - abs(x)) / 2)`, else `s = abs(x)`; and `asin(s) - s`."""
    size = abs(x)
    great = size > 0.5
    z = where(great, fma(size, -0.5, 0.5), size * size)
    s = where(great, z.sqrt(), size)
    return great, s, s * z * polynomial(z, ASIN[x.format])


@promised(f32=4, f64=4)
def asin(x: Number) -> Number:
    great, s, more = small_asin(x)
    quarter, rest = part_of_pi(x.format, 0.5)
    twice = 2 * s - (rest - 2 * more)
    return where(great, quarter - twice, s + more).signed_as(x)


@promised(f32=4, f64=4)
def acos(x: Number) -> Number:
    great, s, more = small_asin(x)
    quarter, rest = part_of_pi(x.format, 0.5)
    half, half_rest = part_of_pi(x.format, 1.0)
    s, more = where(x < 0, -s, s), where(x < 0, -more, more)
    near_end = where(x < 0, half + (2 * s + (2 * more + half_rest)), 2 * s + 2 * more)
    return where(great, near_end, quarter - (s - (rest - more)))


def angle_of(height: Number, width: Number, steep: Mask, diagonal: Mask) -> Number:
    """`atan(height / width)`, neither negative, turned back by pi/2 if `steep`, else by pi/4 if `diagonal`."""
    form = height.format
    over = where(steep, -width, where(diagonal, height - width, height))
    under = where(steep, height, where(diagonal, height + width, width))
    t = over / under
    z = t * t
    quarter, quarter_rest = part_of_pi(form, 0.5)
    eighth, eighth_rest = part_of_pi(form, 0.25)
    base = where(steep, t.filled(quarter), where(diagonal, t.filled(eighth), 0.0))
    rest = where(steep, t.filled(quarter_rest), where(diagonal, t.filled(eighth_rest), 0.0))
    return base + (t + fma(t * z, polynomial(z, ATAN[form]), rest))


TAN_PI_8 = math.sqrt(2) - 1


@promised(f32=4, f64=4)
def atan(x: Number) -> Number:
    size = abs(x)
    return angle_of(size, size.filled(1.0), size > 1 / TAN_PI_8, size > TAN_PI_8).signed_as(x)


@promised(f32=4, f64=4)
def atan2(y: Number, x: Number) -> Number:
    height, width = abs(y), abs(x)
    infinite = height.equals(math.inf) & width.equals(math.inf)
    absent = (height + width).equals(0.0)
    height, width = where(infinite, 1.0, height), where(infinite | absent, 1.0, width)
    enormous = (height > y.format.largest / 4) | (width > y.format.largest / 4)  # their sum might overflow
    shrink = where(enormous, y.filled(0.25), 1.0)
    height, width = height * shrink, width * shrink
    a = angle_of(height, width, height > width * (1 / TAN_PI_8), height > width * TAN_PI_8)
    half, rest = part_of_pi(y.format, 1.0)
    return where(x.is_negative(), half - (a - rest), a).signed_as(y)
