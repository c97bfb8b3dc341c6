"""The error function and its complement.

Below a bound `erf(x) = x + x SMALL(x*x)`. Above it `erf(x) = 1 - erfc(x)`, where erfc is so small that its own errors
fade: in 32 bits `erfc(x) = exp(TAIL(x))`, in 64 bits `erfc(x) = exp(-x*x) TAIL(t)` with `t = (x - 3) / (x + 3)`.
Polynomials of least greatest relative error of erf (Remez exchange in 50 digits).

The complement itself has no such help: `erfc(x) = exp(-x*x) COMPLEMENT(t) / (x + a)` with `t = (x - a) / (x + a)`, of
least greatest relative error on [0.5, 10.5] and [0.5, 27.5], and what the rounding of `x*x` took away is put back.
"""

from __future__ import annotations

from mycelia.codegen.vecmath.accuracy import promised
from mycelia.codegen.vecmath.exponential import scaled_expm1
from mycelia.codegen.vecmath.number import F32, F64, Number, fma, polynomial, two_product, where

BOUND = {F32: 0.85, F64: 1.0}
ENOUGH = {F32: 3.95, F64: 6.0}  # from here on erf rounds to 1
SMALL = {
    F32: (0.12837917, -0.3761259, 0.11282865, -0.026807288, 0.0050577037, -0.00063485187),
    F64: (
        0.12837916709551256,
        -0.37612638903183343,
        0.1128379167093695,
        -0.02686617064195914,
        0.005223977596735921,
        -0.0008548325485003903,
        0.00012055280496857696,
        -1.4924465647965844e-05,
        1.6444150703158773e-06,
        -1.6183992370766435e-07,
        1.361670493788042e-08,
        -7.607823224458263e-10,
    ),
}
TAIL = {
    F32: (-0.0001045283, -1.1280609, -0.63651913, -0.1045257, 0.022518933, -0.0031178284, 0.0002036758),
    F64: (
        0.17900115118139,
        -0.3262335600431628,
        0.24560380170780208,
        -0.1501159365457605,
        0.07166583744038164,
        -0.02439248996084804,
        0.004269232815468904,
        0.0007083060301071192,
        -0.0005949984834800244,
        5.022191191475195e-05,
        7.162840241094507e-05,
        -6.437708577441647e-06,
        -6.578352717436226e-06,
    ),
}
MIDDLE = {F32: 2.0, F64: 4.0}  # where t is 0
NEAR = 0.5  # below it 1 - erf(x) loses nothing
COMPLEMENT = {
    F32: (
        1.0215827,
        -0.6871607,
        0.2794711,
        -0.036441639,
        -0.021494748,
        0.0064710878,
        0.0030029838,
        -0.00080341447,
        -0.00047223905,
    ),
    F64: (
        1.095995661000491,
        -0.976548729080882,
        0.7732087022652361,
        -0.5408538313132353,
        0.33085158787807667,
        -0.17401093723993916,
        0.07638151490766781,
        -0.02637005334005008,
        0.006112055677123483,
        -0.0002809588699227907,
        -0.000455052847940396,
        0.0001768128536499395,
        -3.63438785362078e-06,
        -1.8861044024540555e-05,
        4.692018959287779e-06,
        1.424603836083028e-06,
        -8.415434688166551e-07,
        -7.61370823466251e-08,
        1.1862791938864809e-07,
        1.3308097303378221e-09,
        -1.1844260138024988e-08,
    ),
}
NOTHING = {F32: 10.5, F64: 27.5}  # from here on erfc is smaller than any number


@promised(f32=2, f64=4)
def erf(x: Number) -> Number:
    form = x.format
    size = abs(x).at_most(ENOUGH[form])
    near_0 = fma(x, polynomial(x * x, SMALL[form]), x)
    if form is F32:
        scale, growth = scaled_expm1(polynomial(size, TAIL[form]), bounded=True)
        complement = fma(scale, growth, scale)
    else:
        scale, growth = scaled_expm1(-(size * size), bounded=True)
        complement = fma(scale, growth, scale) * polynomial((size - 3) / (size + 3), TAIL[form])
    return where(size < BOUND[form], near_0, (1 - complement).signed_as(x))


@promised(f32=4, f64=6)
def erfc(x: Number) -> Number:
    form = x.format
    size = abs(x).at_most(NOTHING[form])
    near_0 = 1 - fma(x, polynomial(x * x, SMALL[form]), x)
    middle = MIDDLE[form]
    square, rest = two_product(size, size)
    scale, growth = scaled_expm1(-square)
    exp = fma(scale, growth, scale)
    exp = fma(exp, -rest, exp)
    whole = size + middle
    tail = exp * polynomial((size - middle) / whole, COMPLEMENT[form]) / whole
    return where(size < NEAR, near_0, where(x.is_negative(), 2 - tail, tail))
