"""Complex numbers in vectors, and the small Fourier transforms (butterflies) of which longer ones are made.

A butterfly of radix r is the transform of r numbers: the sum of x[t] exp(-2 pi i t u / r), for each u. Every lane of a
vector belongs to a transform of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt

from llvmlite import ir

from mycelia.codegen.scalar import freedoms
from mycelia.frozen import frozen


@frozen
class Complexes:
    """Complex numbers, real and imaginary parts apart."""

    b: ir.IRBuilder
    re: ir.Value
    im: ir.Value

    def __add__(self, y: Complexes) -> Complexes:
        return Complexes(self.b, self._sum(self.re, y.re), self._sum(self.im, y.im))

    def __sub__(self, y: Complexes) -> Complexes:
        return Complexes(self.b, self._difference(self.re, y.re), self._difference(self.im, y.im))

    def __mul__(self, y: Complexes) -> Complexes:
        re = self._difference(self._product(self.re, y.re), self._product(self.im, y.im))
        im = self._sum(self._product(self.re, y.im), self._product(self.im, y.re))
        return Complexes(self.b, re, im)

    def minus_i(self, y: Complexes) -> Complexes:
        """X - i y."""
        return Complexes(self.b, self._sum(self.re, y.im), self._difference(self.im, y.re))

    def plus_i(self, y: Complexes) -> Complexes:
        """X + i y."""
        return Complexes(self.b, self._difference(self.re, y.im), self._sum(self.im, y.re))

    def scaled(self, factor: float) -> Complexes:
        """Times a real number."""
        kind = self.re.type
        lanes = kind.count if isinstance(kind, ir.VectorType) else 0
        wide = ir.Constant(kind, [factor] * lanes if lanes else factor)
        return Complexes(self.b, self._product(self.re, wide), self._product(self.im, wide))

    def swapped(self) -> Complexes:
        """I times the conjugate: what turns a transform into its inverse, done before and after it."""
        return Complexes(self.b, self.im, self.re)

    def conjugate(self) -> Complexes:
        return Complexes(self.b, self.re, self.b.fneg(self.im))

    def _sum(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.fadd(x, y, flags=freedoms(self.b))

    def _difference(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.fsub(x, y, flags=freedoms(self.b))

    def _product(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.fmul(x, y, flags=freedoms(self.b))


def butterfly(xs: Sequence[Complexes]) -> list[Complexes]:
    """The transform of as many numbers as there are: 2, 4, 8 or an odd number."""
    match len(xs):
        case 2:
            return [xs[0] + xs[1], xs[0] - xs[1]]
        case 4:
            return _four(*xs)
        case 8:
            return _eight(xs)
        case _:
            return _odd(xs)


def _four(a: Complexes, b: Complexes, c: Complexes, d: Complexes) -> list[Complexes]:
    even, difference = a + c, a - c
    odd, turned = b + d, b - d
    return [even + odd, difference.minus_i(turned), even - odd, difference.plus_i(turned)]


def _eight(xs: Sequence[Complexes]) -> list[Complexes]:
    """Of the even ones and of the odd ones; the latter are turned by an eighth for each place."""
    even, odd = _four(*xs[::2]), _four(*xs[1::2])
    half = sqrt(0.5)
    first = odd[1].minus_i(odd[1]).scaled(half)  # times exp(-i pi / 4) = (1 - i) sqrt(1/2)
    third = odd[3].plus_i(odd[3]).scaled(half)  # times exp(-3 i pi / 4) = -(1 + i) sqrt(1/2)
    low = [even[0] + odd[0], even[1] + first, even[2].minus_i(odd[2]), even[3] - third]
    high = [even[0] - odd[0], even[1] - first, even[2].plus_i(odd[2]), even[3] + third]
    return [*low, *high]


def _odd(xs: Sequence[Complexes]) -> list[Complexes]:
    """exp(i a) and exp(-i a) share their cosine, and their sines differ in sign: so numbers from both ends meet."""
    r = len(xs)
    half = range(1, r // 2 + 1)
    sums = {t: xs[t] + xs[r - t] for t in half}
    differences = {t: xs[t] - xs[r - t] for t in half}
    out = [xs[0]] * r
    for t in half:
        out[0] = out[0] + sums[t]
    for u in half:
        even, odd = xs[0], differences[1].scaled(sin(2 * pi * u / r))
        for t in half:
            even = even + sums[t].scaled(cos(2 * pi * (t * u % r) / r))
            if t > 1:
                odd = odd + differences[t].scaled(sin(2 * pi * (t * u % r) / r))
        out[u], out[r - u] = even.minus_i(odd), even.plus_i(odd)
    return out
