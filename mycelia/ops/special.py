"""Bessel functions of order 0 and 1: sums of Chebyshev polynomials near 0 and far from it, computed in float64.

Far from 0 the functions I and K are exp(+-x) / sqrt(x) times a smooth function of 1 / x, and J and Y are waves whose
amplitude and phase are smooth functions of 1 / x squared. Gradients are those of the sums.
"""

from __future__ import annotations

import math as python
from collections.abc import Sequence
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor, cast
from mycelia.ops import bessel_numbers as n
from mycelia.ops.arguments import floated, method, number
from mycelia.types import DType, float64

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
]


def _sum(coefficients: Sequence[float], t: Tensor) -> Tensor:
    """A sum of Chebyshev polynomials on [-1, 1], by Clenshaw."""
    first = second = number(0, t) * t
    for c in coefficients[:0:-1]:
        first, second = 2.0 * t * first - second + c, first
    return t * first - second + coefficients[0]  # type: ignore[no-any-return]


def _wide(x: Any) -> tuple[Tensor, DType]:
    given = floated(x)
    return cast(given, float64), given.dtype


def _chosen(condition: Tensor, x: Tensor, other: float) -> Tensor:
    """A tensor where the condition holds; elsewhere a number, so that nothing comes of it, and no gradient."""
    return p.select(condition, x, number(other, x))  # type: ignore[no-any-return]


def _scaled_i(x: Tensor, near: Sequence[float], far: Sequence[float], odd: bool) -> Tensor:
    """exp(-|x|) I(x)."""
    size = p.abs(x)
    small = p.less(size, number(8, x))
    a, b = _chosen(small, size, 1.0), p.select(small, number(8, x), size)
    inner = _sum(near, a * 0.25 - 1.0)
    outer = _sum(far, 16.0 / b - 1.0) * p.rsqrt(b)
    outer = p.select(p.is_finite(b), outer, p.select(p.is_nan(b), b, number(0, x)))
    if not odd:
        return p.select(small, inner, outer)  # type: ignore[no-any-return]
    return p.select(small, inner * _chosen(small, x, 1.0), outer * p.sign(x))  # type: ignore[no-any-return]


def _unscaled(x: Tensor, scaled: Tensor, end: Tensor) -> Tensor:
    """exp(|x|) times a function, in two steps: the first alone would be infinite too early. At infinity it is `end`."""
    root = p.exp(p.abs(_chosen(p.is_finite(x), x, 0.0)) * 0.5)
    return p.select(p.is_finite(x), root * scaled * root, end)  # type: ignore[no-any-return]


@method("i0")
def bessel_i0(x: Any) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    >>> round(bessel_i0(Tensor([1.0])).item(), 5)
    1.26607
    """
    wide, dtype = _wide(x)
    return cast(_unscaled(wide, _scaled_i(wide, n.I0_NEAR, n.I0_FAR, False), p.abs(wide)), dtype)


def bessel_i0e(x: Any) -> Tensor:
    """exp(-|x|) times the modified Bessel function of the first kind, of order 0.

    >>> round(bessel_i0e(Tensor([1.0])).item(), 5)
    0.46576
    """
    wide, dtype = _wide(x)
    return cast(_scaled_i(wide, n.I0_NEAR, n.I0_FAR, False), dtype)


def bessel_i1(x: Any) -> Tensor:
    """The modified Bessel function of the first kind, of order 1.

    >>> round(bessel_i1(Tensor([1.0])).item(), 5)
    0.56516
    """
    wide, dtype = _wide(x)
    return cast(_unscaled(wide, _scaled_i(wide, n.I1_NEAR, n.I1_FAR, True), wide), dtype)


def bessel_i1e(x: Any) -> Tensor:
    """exp(-|x|) times the modified Bessel function of the first kind, of order 1.

    >>> round(bessel_i1e(Tensor([1.0])).item(), 5)
    0.20791
    """
    wide, dtype = _wide(x)
    return cast(_scaled_i(wide, n.I1_NEAR, n.I1_FAR, True), dtype)


def _wave(size: Tensor, order: int, second: bool) -> Tensor:
    """J or Y far from 0."""
    inverse = 8.0 / size
    t = 2.0 * inverse * inverse - 1.0
    cosine = _sum(n.P0 if order == 0 else n.P1, t)
    sine = _sum(n.Q0 if order == 0 else n.Q1, t) * inverse
    z = size - (2 * order + 1) * python.pi / 4
    if second:
        return (cosine * p.sin(z) + sine * p.cos(z)) * p.sqrt(2.0 / (python.pi * size))  # type: ignore[no-any-return]
    return (cosine * p.cos(z) - sine * p.sin(z)) * p.sqrt(2.0 / (python.pi * size))  # type: ignore[no-any-return]


def _first_kind(x: Tensor, order: int) -> Tensor:
    size = p.abs(x)
    small, endless = p.less(size, number(8, x)), p.logical_not(p.is_finite(x))
    a = _chosen(small, x, 1.0)
    b = p.select(p.logical_or(small, endless), number(8, x), size)
    inner = _sum(n.J0_NEAR if order == 0 else n.J1_NEAR, a * a / 32.0 - 1.0)
    outer = _wave(b, order, False)
    if order == 1:
        inner, outer = inner * a, outer * p.sign(x)
    outer = p.select(endless, p.select(p.is_nan(x), x, number(0, x)), outer)
    return p.select(small, inner, outer)  # type: ignore[no-any-return]


def _second_kind(x: Tensor, order: int) -> Tensor:
    small = p.less(x, number(8, x))
    inside, endless = p.logical_and(small, p.greater(x, number(0, x))), p.logical_not(p.is_finite(x))
    a = _chosen(inside, x, 1.0)
    b = p.select(p.logical_or(small, endless), number(8, x), x)
    rest = _sum(n.Y0_NEAR if order == 0 else n.Y1_NEAR, a * a / 32.0 - 1.0)
    logarithm = (2.0 / python.pi) * p.log(a) * _first_kind(a, order)
    inner = logarithm + rest if order == 0 else logarithm + rest * a - (2.0 / python.pi) / a
    outside = p.select(p.equal(x, 0), number(-python.inf, x), number(python.nan, x))
    outer = p.select(endless, p.select(p.is_nan(x), x, number(0, x)), _wave(b, order, True))
    return p.select(small, p.select(inside, inner, outside), outer)  # type: ignore[no-any-return]


def bessel_j0(x: Any) -> Tensor:
    """The Bessel function of the first kind, of order 0.

    >>> round(bessel_j0(Tensor([1.0])).item(), 5)
    0.7652
    """
    wide, dtype = _wide(x)
    return cast(_first_kind(wide, 0), dtype)


def bessel_j1(x: Any) -> Tensor:
    """The Bessel function of the first kind, of order 1.

    >>> round(bessel_j1(Tensor([1.0])).item(), 5)
    0.44005
    """
    wide, dtype = _wide(x)
    return cast(_first_kind(wide, 1), dtype)


def bessel_y0(x: Any) -> Tensor:
    """The Bessel function of the second kind, of order 0; below 0 there is none.

    >>> round(bessel_y0(Tensor([1.0])).item(), 5)
    0.08826
    """
    wide, dtype = _wide(x)
    return cast(_second_kind(wide, 0), dtype)


def bessel_y1(x: Any) -> Tensor:
    """The Bessel function of the second kind, of order 1; below 0 there is none.

    >>> round(bessel_y1(Tensor([1.0])).item(), 5)
    -0.78121
    """
    wide, dtype = _wide(x)
    return cast(_second_kind(wide, 1), dtype)


def _third_kind(x: Tensor, order: int, scaled: bool) -> Tensor:
    """K, or exp(x) K."""
    small = p.less(x, number(2, x))
    inside, endless = p.logical_and(small, p.greater(x, number(0, x))), p.equal(x, python.inf)
    a = _chosen(inside, x, 1.0)
    b = p.select(p.logical_or(small, endless), number(2, x), x)
    rest = _sum(n.K0_NEAR if order == 0 else n.K1_NEAR, a * a * 0.5 - 1.0)
    if order == 0:
        inner = rest - p.log(a * 0.5) * p.exp(a) * _scaled_i(a, n.I0_NEAR, n.I0_FAR, False)
    else:
        inner = rest * a + 1.0 / a + p.log(a * 0.5) * p.exp(a) * _scaled_i(a, n.I1_NEAR, n.I1_FAR, True)
    outer = _sum(n.K0_FAR if order == 0 else n.K1_FAR, 4.0 / b - 1.0) * p.rsqrt(b)
    inner, outer = (inner * p.exp(a), outer) if scaled else (inner, outer * p.exp(-b))
    outside = p.select(p.equal(x, 0), number(python.inf, x), number(python.nan, x))
    outer = p.select(endless, number(0, x), outer)
    return p.select(small, p.select(inside, inner, outside), outer)  # type: ignore[no-any-return]


def bessel_k0(x: Any) -> Tensor:
    """The modified Bessel function of the second kind, of order 0; below 0 there is none.

    >>> round(bessel_k0(Tensor([1.0])).item(), 5)
    0.42102
    """
    wide, dtype = _wide(x)
    return cast(_third_kind(wide, 0, False), dtype)


def bessel_k0e(x: Any) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind, of order 0.

    >>> round(bessel_k0e(Tensor([1.0])).item(), 5)
    1.14446
    """
    wide, dtype = _wide(x)
    return cast(_third_kind(wide, 0, True), dtype)


def bessel_k1(x: Any) -> Tensor:
    """The modified Bessel function of the second kind, of order 1; below 0 there is none.

    >>> round(bessel_k1(Tensor([1.0])).item(), 5)
    0.60191
    """
    wide, dtype = _wide(x)
    return cast(_third_kind(wide, 1, False), dtype)


def bessel_k1e(x: Any) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind, of order 1.

    >>> round(bessel_k1e(Tensor([1.0])).item(), 5)
    1.63615
    """
    wide, dtype = _wide(x)
    return cast(_third_kind(wide, 1, True), dtype)
