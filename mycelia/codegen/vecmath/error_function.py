"""The error function.

Below a bound `erf(x) = x + x SMALL(x*x)`. Above it `erf(x) = 1 - erfc(x)`, where erfc is so small that its own errors
fade: in 32 bits `erfc(x) = exp(TAIL(x))`, in 64 bits `erfc(x) = exp(-x*x) TAIL(t)` with `t = (x - 3) / (x + 3)`.
Polynomials of least greatest relative error of erf (Remez exchange in 50 digits).
"""

from __future__ import annotations

from mycelia.codegen.vecmath.exponential import scaled_expm1
from mycelia.codegen.vecmath.number import F32, F64, Number, fma, polynomial, where

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
