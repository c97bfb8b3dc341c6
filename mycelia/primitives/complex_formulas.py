"""Functions of complex numbers, from functions of their real and imaginary parts.

Branch cuts lie where C and NumPy have them, and signed zeros choose the side (Kahan, "Branch cuts for complex
elementary functions", 1987). What is infinite or not a number gives what C99 says of it, as NumPy does.
"""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

from mycelia import primitives as p
from mycelia.ir import Pair
from mycelia.types import float64


def times(x: Pair, y: Pair) -> Pair:
    """X * y."""
    return Pair(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def over(x: Pair, y: Pair) -> Pair:
    """X / y, by Smith's method: nothing that is computed on the way is larger than it has to be."""
    lying = p.less(p.abs(y.real), p.abs(y.imag))
    large, small = p.select(lying, y.imag, y.real), p.select(lying, y.real, y.imag)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    real = p.select(lying, x.real * ratio + x.imag, x.real + x.imag * ratio) * scale
    imag = p.select(lying, x.imag * ratio - x.real, x.imag - x.real * ratio) * scale
    nothing, zero = p.equal(large, 0.0), p.abs(y.real)
    return Pair(p.select(nothing, x.real / zero, real), p.select(nothing, x.imag / zero, imag))


def reciprocal(x: Pair) -> Pair:
    """1 / x."""
    lying = p.less(p.abs(x.real), p.abs(x.imag))
    large, small = p.select(lying, x.imag, x.real), p.select(lying, x.real, x.imag)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    one = p.ones_like(ratio)
    return Pair(p.select(lying, ratio, one) * scale, p.select(lying, -one, -ratio) * scale)


def minus(x: Pair) -> Pair:
    """-x."""
    return Pair(-x.real, -x.imag)


def turned(x: Pair) -> Pair:
    """I * x, exactly."""
    return Pair(-x.imag, x.real)


def turned_back(x: Pair) -> Pair:
    """X / i, exactly."""
    return Pair(x.imag, -x.real)


def size(x: Pair) -> Any:
    """|x|, which does not overflow on the way."""
    a, b = p.abs(x.real), p.abs(x.imag)
    large, small = p.maximum(a, b), p.minimum(a, b)
    ratio = p.select(p.equal(large, 0.0), p.zeros_like(large), small / large)
    endless = p.logical_or(_infinite(a), _infinite(b))
    return p.select(endless, p.full(math.inf, a.dtype, ()), large * p.sqrt(1.0 + ratio * ratio))


def sign(x: Pair) -> Pair:
    """X / |x|, and 0 of 0."""
    length = size(x)
    nothing = p.equal(length, 0.0)
    whole = p.select(nothing, p.ones_like(length), length)
    wide, high = _infinite(x.real), _infinite(x.imag)
    one, zero = p.ones_like(length), p.zeros_like(length)
    endless = p.logical_or(wide, high)
    unknown = p.logical_and(p.logical_or(p.is_nan(x.real), p.is_nan(x.imag)), p.logical_not(endless))
    lost = p.logical_or(p.logical_and(wide, high), unknown)
    real, imag = (
        p.select(endless, _signed(p.select(far, one, zero), part), part / whole)
        for far, part in ((wide, x.real), (high, x.imag))
    )
    nan = p.full(math.nan, length.dtype, ())
    return Pair(p.select(lost, nan, real), p.select(lost, nan, imag))


def exp(x: Pair) -> Pair:
    """The exponential."""
    limit, step = (700.0, 20.0) if x.real.dtype is float64 else (80.0, 20.0)
    far = p.greater(x.real, limit)  # there exp may overflow where its product with a cosine does not
    one = p.ones_like(x.real)
    length = p.exp(p.select(far, x.real - step, x.real))
    rest = p.select(far, one * math.exp(step), one)
    real, imag = length * p.cos(x.imag) * rest, length * p.sin(x.imag) * rest
    imag = p.select(p.equal(x.imag, 0.0), x.imag, imag)
    lost = p.logical_and(_infinite(x.real), p.logical_not(p.is_finite(x.imag)))
    left = p.less(x.real, 0.0)
    nothing = p.zeros_like(x.real)
    real = p.select(lost, p.select(left, nothing, x.real), real)
    return Pair(real, p.select(lost, p.select(left, nothing, nothing * math.nan), imag))


def log(x: Pair) -> Pair:
    """The natural logarithm."""
    a, b = p.abs(x.real), p.abs(x.imag)
    large, small = p.maximum(a, b), p.minimum(a, b)
    near = p.logical_and(p.greater(large, 0.5), p.less(large, 2.0))
    ratio = p.select(p.equal(large, 0.0), p.zeros_like(large), small / large)
    inside = p.select(near, (large - 1.0) * (large + 1.0) + small * small, ratio * ratio)
    real = 0.5 * p.log1p(inside) + p.log(p.select(near, p.ones_like(large), large))
    endless = p.logical_or(_infinite(a), _infinite(b))
    return Pair(p.select(endless, p.full(math.inf, a.dtype, ()), real), angle(x))


def angle(x: Pair) -> Any:
    """The angle between x and the positive real axis."""
    return p.atan2(x.imag, x.real)


def log1p(x: Pair) -> Pair:
    """log(1 + x), accurate near 0."""
    near = p.logical_and(p.less(p.abs(x.real), 0.5), p.less(p.abs(x.imag), 0.5))
    zero = p.zeros_like(x.real)
    a, b = p.select(near, x.real, zero), p.select(near, x.imag, zero)
    close, far = 0.5 * p.log1p(a * (2.0 + a) + b * b), log(Pair(x.real + 1.0, x.imag))
    return Pair(p.select(near, close, far.real), far.imag)


def expm1(x: Pair) -> Pair:
    """exp(x) - 1, accurate near 0."""
    half = p.sin(x.imag * 0.5)
    whole = exp(x)
    near = p.less(p.abs(x.real), 1.0)
    close = p.expm1(p.select(near, x.real, p.zeros_like(x.real))) * p.cos(x.imag) - 2.0 * half * half
    return Pair(p.select(near, close, whole.real - 1.0), whole.imag)


def sqrt(x: Pair) -> Pair:
    """The square root whose real part is not negative."""
    large = p.greater(p.maximum(p.abs(x.real), p.abs(x.imag)), 1e300 if x.real.dtype is float64 else 1e37)
    one = p.ones_like(x.real)
    scale = p.select(large, one * 0.25, one)
    a, b = x.real * scale, x.imag * scale
    middle = p.sqrt((p.abs(a) + size(Pair(a, b))) * 0.5)
    nothing = p.equal(middle, 0.0)
    other = p.abs(b) / (2.0 * p.select(nothing, one, middle))
    right = p.logical_not(p.sign_bit(a))
    back = p.select(large, one * 2.0, one)
    real, imag = p.select(right, middle, other) * back, p.select(right, other, middle) * back
    endless = _infinite(x.imag)
    upward = p.abs(x.imag)
    return Pair(p.select(endless, upward, real), _signed(p.select(endless, upward, imag), x.imag))


def sinh(x: Pair) -> Pair:
    """The hyperbolic sine."""
    real, imag = p.sinh(x.real) * p.cos(x.imag), p.cosh(x.real) * p.sin(x.imag)
    lost = p.logical_and(_infinite(x.real), p.logical_not(p.is_finite(x.imag)))
    real = p.select(p.equal(x.real, 0.0), x.real, p.select(lost, p.abs(x.real), real))
    return Pair(real, p.select(p.equal(x.imag, 0.0), x.imag, imag))


def cosh(x: Pair) -> Pair:
    """The hyperbolic cosine."""
    real, imag = p.cosh(x.real) * p.cos(x.imag), p.sinh(x.real) * p.sin(x.imag)
    lost = p.logical_and(_infinite(x.real), p.logical_not(p.is_finite(x.imag)))
    real = p.select(lost, p.abs(x.real), real)
    either = p.logical_or(p.equal(x.real, 0.0), p.equal(x.imag, 0.0))
    nothing = _signed(_signed(p.zeros_like(x.real), x.real), x.imag)
    return Pair(real, p.select(either, nothing, imag))


def tanh(x: Pair) -> Pair:
    """The hyperbolic tangent."""
    far = p.greater(p.abs(x.real), 20.0 if x.real.dtype is float64 else 9.0)
    zero, nan = p.zeros_like(x.real), p.full(math.nan, x.real.dtype, ())
    a = p.select(far, zero, x.real)
    slope, s = p.tan(x.imag), p.sinh(a)
    beta = 1.0 + slope * slope
    under = 1.0 + beta * s * s
    real = beta * p.sqrt(1.0 + s * s) * s / under
    little = 4.0 * p.sin(x.imag) * p.cos(x.imag) * p.exp(-2.0 * p.abs(x.real))
    real, imag = p.select(far, p.sign(x.real), real), p.select(far, little, slope / under)
    known, endless, level = p.is_finite(x.imag), _infinite(x.real), p.equal(x.imag, 0.0)
    real = p.select(p.logical_or(known, endless), real, nan)
    imag = p.select(p.logical_and(endless, p.logical_not(known)), zero, imag)
    unknown = p.logical_and(p.is_nan(x.real), p.logical_not(level))
    imag = p.select(level, x.imag, p.select(unknown, nan, imag))
    return Pair(p.select(p.equal(x.real, 0.0), x.real, real), imag)


def sin(x: Pair) -> Pair:
    """The sine."""
    return turned_back(sinh(turned(x)))


def cos(x: Pair) -> Pair:
    """The cosine."""
    return cosh(turned(x))


def tan(x: Pair) -> Pair:
    """The tangent."""
    return turned_back(tanh(turned(x)))


def asin(x: Pair) -> Pair:
    """The inverse sine."""
    found = asinh(Pair(x.imag, x.real))  # their mirror images at the diagonal
    return Pair(found.imag, found.real)


def _far(x: Pair) -> tuple[Any, Pair, Any, Pair]:
    """Where a number is so large that its square swallows 1; the number, 0 there; and the logarithm of 2|x|, with the
    angle between |x.real| + i|x.imag| and the positive real axis.
    """
    a, b = p.abs(x.real), p.abs(x.imag)
    large = p.maximum(a, b)
    far = p.logical_or(p.greater(large, 1e15 if a.dtype is float64 else 1e7), p.logical_or(p.is_nan(a), p.is_nan(b)))
    zero, one = p.zeros_like(a), p.ones_like(a)
    ratio = p.minimum(a, b) / p.select(far, large, one)
    ratio = p.select(_infinite(large), zero, ratio)
    height = p.log(p.select(far, large, one)) + 0.5 * p.log1p(ratio * ratio) + math.log(2.0)
    near = Pair(p.select(far, zero, x.real), p.select(far, zero, x.imag))
    return far, near, p.select(p.logical_or(_infinite(a), _infinite(b)), one * math.inf, height), Pair(a, b)


def _roots(x: Pair) -> tuple[Pair, Pair]:
    """The square roots of 1 - x and of 1 + x."""
    return sqrt(Pair(1.0 - x.real, -x.imag)), sqrt(Pair(1.0 + x.real, x.imag))


def asinh(x: Pair) -> Pair:
    """The inverse hyperbolic sine."""
    far, near, height, parts = _far(x)
    below, above = _roots(turned(near))
    angle = p.atan2(-near.imag, below.real * above.real - below.imag * above.imag)
    rise = p.asinh(below.real * above.imag - below.imag * above.real)
    real = p.select(far, _signed(height, x.real), rise)
    imag = p.select(far, _signed(p.atan2(parts.imag, parts.real), x.imag), -angle)
    return Pair(real, p.select(p.equal(x.imag, 0.0), x.imag, imag))


def acos(x: Pair) -> Pair:
    """The inverse cosine."""
    far, near, height, _ = _far(x)
    below, above = _roots(near)
    real, imag = 2.0 * p.atan2(below.real, above.real), p.asinh(above.real * below.imag - above.imag * below.real)
    real = p.select(far, p.abs(angle(x)), real)
    real = p.select(p.equal(x.real, 0.0), p.full(math.pi / 2, real.dtype, ()), real)
    return Pair(real, p.select(far, _signed(-height, x.imag), imag))


def acosh(x: Pair) -> Pair:
    """The inverse hyperbolic cosine."""
    far, near, height, _ = _far(x)
    below, above = sqrt(Pair(near.real - 1.0, near.imag)), sqrt(Pair(near.real + 1.0, near.imag))
    real = p.asinh(below.real * above.real + below.imag * above.imag)
    imag = p.select(far, angle(x), 2.0 * p.atan2(below.imag, above.real))
    upright = p.logical_and(p.equal(x.real, 0.0), p.is_nan(x.imag))
    imag = p.select(upright, p.full(math.pi / 2, imag.dtype, ()), imag)
    return Pair(p.select(far, height, real), imag)


def atanh(x: Pair) -> Pair:
    """The inverse hyperbolic tangent."""
    far, near, _, parts = _far(x)
    a, b = p.abs(near.real), near.imag
    one, zero = p.ones_like(a), p.zeros_like(a)
    edge = p.logical_and(p.equal(a, 1.0), p.less(p.abs(b), 1e-15 if a.dtype is float64 else 1e-7))
    under = (1.0 - a) * (1.0 - a) + b * b
    real = 0.25 * p.log1p(4.0 * a / p.select(edge, one, under))
    real = p.select(edge, 0.5 * (math.log(2.0) - p.log(p.abs(b))), real)
    imag = 0.5 * p.atan2(2.0 * b, (1.0 - a) * (1.0 + a) - b * b)
    large = p.maximum(parts.real, parts.imag)
    ratio = p.minimum(parts.real, parts.imag) / large
    away = (parts.real / large) / (large * (1.0 + ratio * ratio))
    endless = p.logical_or(_infinite(parts.real), _infinite(parts.imag))
    real = p.select(far, p.select(endless, zero, away), real)
    real = p.select(p.equal(x.real, 0.0), zero, real)
    quarter = p.select(p.is_nan(x.imag), x.imag, _signed(p.full(math.pi / 2, a.dtype, ()), x.imag))
    known = p.logical_or(endless, p.logical_not(p.is_nan(x.real)))
    quarter = p.select(known, quarter, p.full(math.nan, a.dtype, ()))
    return Pair(_signed(real, x.real), p.select(far, quarter, imag))


def atan(x: Pair) -> Pair:
    """The inverse tangent."""
    return turned_back(atanh(turned(x)))


def power(x: Pair, y: Pair) -> Pair:
    """X to the power y; 0 to the power 0 is 1, and to a positive one 0."""
    nothing = p.logical_and(p.equal(x.real, 0.0), p.equal(x.imag, 0.0))
    none = p.logical_and(p.equal(y.real, 0.0), p.equal(y.imag, 0.0))
    one = p.ones_like(x.real)
    found = exp(times(y, log(Pair(p.select(nothing, one, x.real), x.imag))))
    grows = p.logical_and(p.greater(y.real, 0.0), p.equal(y.imag, 0.0))
    of_zero = p.select(grows, p.zeros_like(y.real), p.full(math.nan, y.real.dtype, ()))
    real, imag = (p.select(nothing, of_zero, part) for part in found)
    return Pair(p.select(none, p.ones_like(real), real), p.select(none, p.zeros_like(imag), imag))


def _infinite(x: Any) -> Any:
    return p.equal(p.abs(x), math.inf)


def _signed(x: Any, like: Any) -> Any:
    """`x`, or -x where `like` has a minus."""
    return p.select(p.sign_bit(like), -x, x)
