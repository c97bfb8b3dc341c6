"""Curves through points: straight lines, splines, and grids of any number of axes.

Where a number lies among the points is looked up; the rest is arithmetic, differentiable in points and in numbers.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from itertools import product
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.names import boundary as _boundary
from mycelia.numpy.creation import asarray
from mycelia.numpy.products import together
from mycelia.numpy.shapes import broadcast_shapes
from mycelia.numpy.sorting import searchsorted
from mycelia.ops.arguments import axis_of, floated

__all__ = [
    "Akima1DInterpolator", "BarycentricInterpolator", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator",
    "RegularGridInterpolator", "barycentric_interpolate", "interp1d", "interpn", "pchip_interpolate",
]  # fmt: skip


def _points(x: Any, y: Any, axis: int) -> tuple[Tensor, Tensor]:
    """Places, which rise, and values, along the first axis."""
    places, values = map(floated, together(x, y))
    if places.ndim != 1 or not values.ndim or values.shape[axis_of(values, axis)] != places.shape[0]:
        raise ShapeError("there is one value for each place", given={"x": places.shape, "y": values.shape})
    return places, ops.moveaxis(values, axis_of(values, axis), 0)


def _rising(x: Tensor) -> None:
    if not (numpy.diff(x.numbers()) > 0).all():
        raise ArgumentError("places must rise from one to the next", hint="sort them, and leave out equal ones")


def _interval(x: Tensor, at: Tensor, right: bool = False) -> Tensor:
    """Which piece a number lies in; those beyond belong to the first or last."""
    found = searchsorted(x, at, side="left" if right else "right") - 1
    return ops.clip(found, 0, x.shape[0] - 2)


def _shaped(found: Tensor, at: Tensor, axis: int, rank: int) -> Tensor:
    """Values at numbers, whose axes stand where the one of the points stood."""
    out = ops.reshape(found, (*at.shape, *found.shape[1:]))
    where = axis % rank
    if not where:
        return out
    count = at.ndim
    order = [*range(count, count + where), *range(count), *range(count + where, out.ndim)]
    return ops.transpose(out, order)


class PPoly:
    """Pieces of polynomials: c holds the highest power first, x the places between which each piece lies.

    >>> PPoly([[1.0], [0.0]], [2.0, 4.0])(3.0).item()
    1.0
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = True, axis: int = 0) -> None:
        self.c, self.x = map(floated, together(c, x))
        self.extrapolate, self.axis = extrapolate, axis
        if self.c.ndim < 2 or self.x.ndim != 1 or self.c.shape[1] != self.x.shape[0] - 1:
            raise ShapeError("c has the powers and the pieces first", given={"c": self.c.shape, "x": self.x.shape})

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Tensor:
        """The values, or derivatives of order nu, at numbers."""
        if nu:
            return self.derivative(nu)(x, 0, extrapolate)
        beyond = self.extrapolate if extrapolate is None else extrapolate
        at = cast(floated(asarray(x)), self.c.dtype)
        flat = ops.reshape(at, (-1,))
        if beyond == "periodic":
            width = self.x[-1] - self.x[0]
            flat = flat - ops.stop_gradient(ops.floor((flat - self.x[0]) / width)) * width
        piece = _interval(self.x, ops.stop_gradient(flat))
        away = ops.reshape(flat - ops.gather(self.x, piece, 0), (-1, *[1] * (self.c.ndim - 2)))
        parts = ops.gather(self.c, piece, 1)
        out = parts[0]
        for k in range(1, self.c.shape[0]):
            out = out * away + parts[k]
        if beyond is False or beyond == 0:
            out = _blank(out, flat, self.x)
        return _shaped(out, at, self.axis, self.c.ndim - 1)

    def derivative(self, nu: int = 1) -> PPoly:
        """The derivative of order nu, as such a curve."""
        c = self.c
        for _ in range(nu):
            count = c.shape[0]
            if count == 1:
                c = ops.zeros_like(c)
                continue
            powers = cast(Tensor(numpy.arange(count - 1, 0, -1).reshape(-1, *[1] * (c.ndim - 1))), c.dtype)
            c = c[:-1] * powers
        return PPoly(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> PPoly:
        """The integral from the first place on, nu times, as such a curve."""
        c = self.c
        for _ in range(nu):
            count = c.shape[0]
            powers = cast(Tensor(numpy.arange(count, 0, -1).reshape(-1, *[1] * (c.ndim - 1))), c.dtype)
            raised = c / powers
            width = ops.reshape(self.x[1:] - self.x[:-1], (-1, *[1] * (c.ndim - 2)))
            area: Any = raised[0] * width
            for k in range(1, count):
                area = (area + raised[k]) * width
            before = ops.cumsum(area, 0) - area
            c = ops.cat([raised, ops.expand_dims(before, 0)], 0)
        return PPoly(c, self.x, self.extrapolate, self.axis)

    def integrate(self, a: Any, b: Any) -> Tensor:
        """The integral from a to b."""
        whole = self.antiderivative()
        return whole(b) - whole(a)


def _blank(out: Tensor, at: Tensor, x: Tensor) -> Tensor:
    inside = ops.reshape((at >= x[0]) & (at <= x[-1]), (-1, *[1] * (out.ndim - 1)))
    return ops.where(inside, out, ops.zeros_like(out) + float("nan"))


def _hermite(x: Tensor, y: Tensor, slopes: Tensor) -> Tensor:
    """The powers of cubic pieces with these values and slopes at their ends."""
    width = ops.reshape(x[1:] - x[:-1], (-1, *[1] * (y.ndim - 1)))
    rise = (y[1:] - y[:-1]) / width
    bend = (slopes[:-1] + slopes[1:] - 2.0 * rise) / width
    return ops.stack([bend / width, (rise - slopes[:-1]) / width - bend, slopes[:-1], y[:-1]], 0)


class CubicHermiteSpline(PPoly):
    """Cubic pieces with these values and slopes at places.

    >>> CubicHermiteSpline([0.0, 1.0], [0.0, 1.0], [0.0, 0.0])(0.5).item()
    0.5
    """

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        places, values = _points(x, y, axis)
        _rising(places)
        slopes = cast(_points(x, dydx, axis)[1], values.dtype)
        beyond = True if extrapolate is None else extrapolate
        super().__init__(_hermite(places, values, slopes), places, beyond, axis)


class CubicSpline(PPoly):
    """Cubic pieces that go smoothly, with their second derivatives, from one to the next.

    `bc_type` says what happens at the ends: "not-a-knot" (the first two pieces are one), "natural" (no bend), "clamped"
    (no slope), "periodic", or for each end its order (1 or 2) and its derivative.

    >>> round(CubicSpline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 8.0, 27.0])(1.5).item(), 4)
    3.375
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None:
        places, values = _points(x, y, axis)
        _rising(places)
        if places.shape[0] < 2:
            raise ShapeError("a spline goes through two points at least", given={"x": places.shape})
        periodic = bc_type == "periodic"
        beyond = ("periodic" if periodic else True) if extrapolate is None else extrapolate
        slopes = _periodic_slopes(places, values) if periodic else _slopes(places, values, bc_type)
        super().__init__(_hermite(places, values, slopes), places, beyond, axis)


def _end(bc_type: Any, which: int) -> Any:
    one = bc_type if isinstance(bc_type, str) else bc_type[which]
    if isinstance(one, str):
        if one not in ("not-a-knot", "natural", "clamped"):
            raise ArgumentError(f"there is no end {one!r}", hint='"not-a-knot", "natural", "clamped" or "periodic"')
        return {"natural": (2, 0.0), "clamped": (1, 0.0)}.get(one, one)
    if one[0] not in (1, 2):
        raise ArgumentError(f"an end is given by its derivative of order 1 or 2, not {one[0]!r}")
    return one


def _slopes(x: Tensor, y: Tensor, bc_type: Any) -> Tensor:
    """The slopes at places, of a spline: one linear system."""
    n = x.shape[0]
    ends = [_end(bc_type, 0), _end(bc_type, 1)]
    if n == 2:
        ends = [(1, ((y[1] - y[0]) / (x[1] - x[0]))) if e == "not-a-knot" else e for e in ends]
    width = x[1:] - x[:-1]
    wide = ops.reshape(width, (-1, *[1] * (y.ndim - 1)))
    rise = (y[1:] - y[:-1]) / wide
    if n == 3 and ends[0] == "not-a-knot" and ends[1] == "not-a-knot":  # a parabola
        bend = (rise[1] - rise[0]) / (x[2] - x[0])
        return ops.stack([rise[0] - bend * width[0], rise[0] + bend * width[0], rise[1] + bend * width[1]])
    unit = ops.eye(n, dtype=x.dtype)
    rows, right = [], []
    for end, first in ((ends[0], True), (ends[1], False)):
        row, value = _end_row(end, first, unit, width, wide, rise, n, y)
        rows.append(row)
        right.append(value)
    inner = [width[i] * unit[i - 1] + 2.0 * (width[i - 1] + width[i]) * unit[i] + width[i - 1] * unit[i + 1]
             for i in range(1, n - 1)]  # fmt: skip
    sides = [3.0 * (wide[i] * rise[i - 1] + wide[i - 1] * rise[i]) for i in range(1, n - 1)]
    matrix = ops.stack([rows[0], *inner, rows[1]])
    given = ops.reshape(ops.stack([right[0], *sides, right[1]]), (n, -1))
    return ops.reshape(ops.matrix_solve(matrix, given), y.shape)


def _end_row(
    end: Any, first: bool, unit: Tensor, width: Tensor, wide: Tensor, rise: Tensor, n: int, y: Tensor
) -> tuple[Tensor, Tensor]:
    here, near = (0, 1) if first else (n - 1, n - 2)
    step, other = (0, 1) if first else (n - 2, n - 3)
    if end == "not-a-knot":
        both = width[step] + width[other]
        row = width[other] * unit[here] + both * unit[near]
        value = ((wide[step] + 2.0 * both) * wide[other] * rise[step] + wide[step] ** 2 * rise[other]) / both
        return row, value
    order, amount = end
    level = asarray(amount, y.dtype) + ops.zeros_like(y[0])
    if order == 1:
        return unit[here], level
    row = 2.0 * unit[here] + unit[near]
    sign = -0.5 if first else 0.5
    return row, 3.0 * rise[step] + sign * level * wide[step]


def _periodic_slopes(x: Tensor, y: Tensor) -> Tensor:
    if not numpy.allclose(y[0].numbers(), y[-1].numbers(), rtol=1e-15, atol=1e-15):
        raise ArgumentError("a periodic curve ends where it begins: the first and last value are one")
    n = x.shape[0] - 1
    width = x[1:] - x[:-1]
    wide = ops.reshape(width, (-1, *[1] * (y.ndim - 1)))
    rise = (y[1:] - y[:-1]) / wide
    unit = ops.eye(n, dtype=x.dtype)
    rows = [width[i] * unit[i - 1] + 2.0 * (width[i - 1] + width[i]) * unit[i] + width[i - 1] * unit[(i + 1) % n]
            for i in range(n)]  # fmt: skip
    sides = [3.0 * (wide[i] * rise[i - 1] + wide[i - 1] * rise[i]) for i in range(n)]
    found = ops.matrix_solve(ops.stack(rows), ops.reshape(ops.stack(sides), (n, -1)))
    found = ops.reshape(found, (n, *y.shape[1:]))
    return ops.cat([found, found[:1]], 0)


class PchipInterpolator(PPoly):
    """Cubic pieces that rise and fall only where the points do.

    >>> PchipInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 1.0])(1.5).item()
    1.0
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        places, values = _points(x, y, axis)
        _rising(places)
        beyond = True if extrapolate is None else extrapolate
        super().__init__(_hermite(places, values, _monotone(places, values)), places, beyond, axis)


def _monotone(x: Tensor, y: Tensor) -> Tensor:
    wide = ops.reshape(x[1:] - x[:-1], (-1, *[1] * (y.ndim - 1)))
    rise = (y[1:] - y[:-1]) / wide
    if x.shape[0] == 2:
        return ops.cat([rise, rise], 0)
    before, after = rise[:-1], rise[1:]
    turns = before * after <= 0
    w1, w2 = 2.0 * wide[1:] + wide[:-1], wide[1:] + 2.0 * wide[:-1]
    safe = [ops.where(turns, ops.ones_like(before), v) for v in (before, after)]
    mean = (w1 + w2) / (w1 / safe[0] + w2 / safe[1])
    inner = ops.where(turns, ops.zeros_like(mean), mean)
    first = _edge_slope(wide[0], wide[1], rise[0], rise[1])
    last = _edge_slope(wide[-1], wide[-2], rise[-1], rise[-2])
    return ops.cat([ops.expand_dims(first, 0), inner, ops.expand_dims(last, 0)], 0)


def _edge_slope(h0: Tensor, h1: Tensor, m0: Tensor, m1: Tensor) -> Tensor:
    slope = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turned = ops.not_equal(ops.sign(slope), ops.sign(m0))
    steep = ops.logical_and(ops.not_equal(ops.sign(m0), ops.sign(m1)), ops.abs(slope) > 3.0 * ops.abs(m0))
    return ops.where(turned, ops.zeros_like(slope), ops.where(steep, 3.0 * m0, slope))


class Akima1DInterpolator(PPoly):
    """Cubic pieces whose slopes are means of those around, weighed by how little these change (Akima).

    >>> Akima1DInterpolator([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0])(1.5).item()
    1.5
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = False) -> None:
        places, values = _points(x, y, axis)
        _rising(places)
        wide = ops.reshape(places[1:] - places[:-1], (-1, *[1] * (values.ndim - 1)))
        rise = (values[1:] - values[:-1]) / wide
        if places.shape[0] == 2:
            slopes = ops.cat([rise, rise], 0)
        else:
            left = [2.0 * rise[0] - rise[1]]
            left.insert(0, 2.0 * left[0] - rise[0])
            right = [2.0 * rise[-1] - rise[-2]]
            right.append(2.0 * right[0] - rise[-1])
            every = ops.cat([ops.stack(left), rise, ops.stack(right)], 0)
            change = ops.abs(every[1:] - every[:-1])
            first, second = change[2:], change[:-2]
            both = first + second
            flat = both <= 1e-9 * ops.stop_gradient(ops.amax(both))
            safe = ops.where(flat, ops.ones_like(both), both)
            weighed = (first * every[1:-2] + second * every[2:-1]) / safe
            slopes = ops.where(flat, 0.5 * (every[3:] + every[:-3]), weighed)
        super().__init__(_hermite(places, values, slopes), places, extrapolate, axis)


def pchip_interpolate(xi: Any, yi: Any, x: Any, der: int = 0, axis: int = 0) -> Tensor:
    """The values of a PchipInterpolator at numbers.

    >>> pchip_interpolate([0.0, 1.0, 2.0], [0.0, 1.0, 1.0], 1.5).item()
    1.0
    """
    return PchipInterpolator(xi, yi, axis)(x, der)


class BarycentricInterpolator:
    """The polynomial through points.

    >>> round(BarycentricInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])(1.5).item(), 4)
    2.25
    """

    def __init__(self, xi: Any, yi: Any, axis: int = 0) -> None:
        self.xi, self.yi = _points(xi, yi, axis)
        self.axis = axis
        away = ops.expand_dims(self.xi, 1) - self.xi
        unit = ops.eye(self.xi.shape[0], dtype=self.xi.dtype)
        numbers = self.xi.numbers()
        scale = 4.0 / max(float(numbers.max() - numbers.min()), 1e-300)  # so that the product stays a number
        self.wi = 1.0 / ops.prod(away * scale + unit, 1)

    def __call__(self, x: Any) -> Tensor:
        """The values at numbers."""
        at = cast(floated(asarray(x)), self.yi.dtype)
        flat = ops.reshape(at, (-1, 1))
        away = flat - self.xi
        here = ops.equal(away, 0.0)
        parts = self.wi / ops.where(here, ops.ones_like(away), away)
        found = ops.any(here, 1, True)
        parts = ops.where(found, cast(here, parts.dtype), parts)
        values = ops.matmul(parts, ops.reshape(self.yi, (self.xi.shape[0], -1))) / ops.sum(parts, 1, keepdim=True)
        return _shaped(ops.reshape(values, (-1, *self.yi.shape[1:])), at, self.axis, self.yi.ndim)


def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: int = 0) -> Tensor:
    """The values of the polynomial through points.

    >>> round(barycentric_interpolate([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], 1.5).item(), 4)
    2.25
    """
    return BarycentricInterpolator(xi, yi, axis)(x)


class interp1d:  # SciPy's name
    """A curve through points: "linear", "nearest", "nearest-up", "previous", "zero", "next" or "cubic".

    Beyond the points there is an error, or `fill_value` if `bounds_error` is False: a number, one below and one above,
    or "extrapolate".

    >>> interp1d([0.0, 1.0], [0.0, 2.0])(0.25).item()
    0.5
    """

    def __init__(
        self, x: Any, y: Any, kind: str = "linear", axis: int = -1, bounds_error: bool | None = None,
        fill_value: Any = float("nan"), assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        if kind not in ("linear", "nearest", "nearest-up", "previous", "zero", "next", "cubic"):
            raise ArgumentError(f"there is no kind {kind!r}", hint="linear, nearest, previous, next or cubic")
        places, values = _points(x, y, axis)
        if not assume_sorted:
            order = Tensor(numpy.argsort(places.numbers(), kind="stable"))
            places, values = ops.gather(places, order, 0), ops.gather(values, order, 0)
        self.x, self.y, self.kind, self.axis = places, values, kind, axis
        self.fill_value = fill_value
        extrapolates = isinstance(fill_value, str)
        if extrapolates and fill_value != "extrapolate":
            raise ArgumentError(f"fill_value is a number, two, or 'extrapolate', not {fill_value!r}")
        given = not extrapolates and not (isinstance(fill_value, float) and numpy.isnan(fill_value))
        self.bounds_error = (not extrapolates and not given) if bounds_error is None else bounds_error
        self.spline = CubicSpline(places, values) if kind == "cubic" else None

    def __call__(self, x: Any) -> Tensor:
        """The values at numbers."""
        at = cast(floated(asarray(x)), self.y.dtype)
        flat = ops.reshape(at, (-1,))
        low, high = flat < self.x[0], flat > self.x[-1]
        if self.bounds_error and bool(ops.any(low | high).item()):
            raise ArgumentError(
                "a number lies beyond the points", hint='bounds_error=False, or fill_value="extrapolate"'
            )
        out = self.spline(flat) if self.spline is not None else self._values(flat)
        if not isinstance(self.fill_value, str):
            pair = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value, self.fill_value)
            for where, value in zip((low, high), pair, strict=True):
                wide = ops.reshape(where, (-1, *[1] * (out.ndim - 1)))
                out = ops.where(wide, asarray(value, out.dtype) + ops.zeros_like(out), out)
        return _shaped(out, at, self.axis, self.y.ndim)

    def _values(self, at: Tensor) -> Tensor:
        known = ops.stop_gradient(at)
        last = self.x.shape[0] - 1
        if self.kind == "linear":
            piece = _interval(self.x, known, True)
            x0, x1 = ops.gather(self.x, piece, 0), ops.gather(self.x, piece + 1, 0)
            y0, y1 = ops.gather(self.y, piece, 0), ops.gather(self.y, piece + 1, 0)
            share = ops.reshape((at - x0) / (x1 - x0), (-1, *[1] * (self.y.ndim - 1)))
            return y0 + (y1 - y0) * share
        if self.kind in ("nearest", "nearest-up"):
            middle = (self.x[1:] + self.x[:-1]) * 0.5
            place = searchsorted(middle, known, side="left" if self.kind == "nearest" else "right")
        elif self.kind == "next":
            place = searchsorted(self.x, known, side="left")
        else:
            place = searchsorted(self.x, known, side="right") - 1
        return ops.gather(self.y, ops.clip(place, 0, last), 0)


class RegularGridInterpolator:
    """Values on a grid, between its points: "linear" or "nearest".

    >>> RegularGridInterpolator(([0.0, 1.0], [0.0, 1.0]), [[0.0, 1.0], [2.0, 3.0]])([[0.5, 0.5]]).tolist()
    [1.5]
    """

    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True,
        fill_value: float | None = float("nan"),
    ) -> None:  # fmt: skip
        if method not in ("linear", "nearest"):
            raise ArgumentError(f"there is no method {method!r}", hint='"linear" or "nearest"')
        self.values = floated(asarray(values))
        self.grid = [cast(floated(asarray(p)), self.values.dtype) for p in points]
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        if len(self.grid) > self.values.ndim:
            raise ShapeError("there is an axis for each set of places", given={"values": self.values.shape})
        for axis, places in enumerate(self.grid):
            if places.ndim != 1 or places.shape[0] != self.values.shape[axis]:
                raise ShapeError(f"axis {axis} has {self.values.shape[axis]} values", given={"places": places.shape})
            _rising(places)

    def __call__(self, xi: Any, method: str | None = None) -> Tensor:
        """The values at points, whose coordinates lie along the last axis."""
        way = self.method if method is None else method
        if way not in ("linear", "nearest"):
            raise ArgumentError(f"there is no method {way!r}", hint='"linear" or "nearest"')
        if isinstance(xi, tuple):
            parts = [floated(asarray(v)) for v in xi]
            shape = broadcast_shapes(*[v.shape for v in parts])
            at = ops.stack([ops.broadcast_to(v, shape) for v in parts], -1)
        else:
            at = floated(asarray(xi))
        at = cast(at, self.values.dtype)
        rank = len(self.grid)
        if not at.ndim or at.shape[-1] != rank:
            at = ops.expand_dims(at, -1) if rank == 1 else at
        if at.shape[-1] != rank:
            raise ShapeError(f"points have {rank} coordinates", given={"xi": at.shape})
        flat = ops.reshape(at, (-1, rank))
        outside: Any = None
        corners, shares = [], []
        for axis, places in enumerate(self.grid):
            one = flat[:, axis]
            beyond = (one < places[0]) | (one > places[-1])
            outside = beyond if outside is None else outside | beyond
            piece = _interval(places, ops.stop_gradient(one))
            first = ops.gather(places, piece, 0)
            share = (one - first) / (ops.gather(places, piece + 1, 0) - first)
            corners.append(piece)
            shares.append(share)
        if self.bounds_error and bool(ops.any(outside).item()):
            raise ArgumentError("a point lies beyond the grid", hint="bounds_error=False")
        out = self._mixed(corners, shares, way)
        if self.fill_value is not None:
            wide = ops.reshape(outside, (-1, *[1] * (out.ndim - 1)))
            out = ops.where(wide, ops.zeros_like(out) + float(self.fill_value), out)
        return ops.reshape(out, (*at.shape[:-1], *self.values.shape[rank:]))

    def _mixed(self, corners: list[Tensor], shares: list[Tensor], way: str) -> Tensor:
        sizes, rest = self.values.shape[: len(self.grid)], self.values.shape[len(self.grid) :]
        table = ops.reshape(self.values, (-1, *rest))
        total: Any = None
        if way == "nearest":
            places = [c + ops.cast(s > 0.5, c.dtype) for c, s in zip(corners, shares, strict=True)]
            return ops.gather(table, _flat(places, sizes), 0)
        for corner in product((0, 1), repeat=len(sizes)):
            weight: Any = 1.0
            for one, share in zip(corner, shares, strict=True):
                weight = weight * (share if one else 1.0 - share)
            found = ops.gather(table, _flat([c + o for c, o in zip(corners, corner, strict=True)], sizes), 0)
            part = found * ops.reshape(weight, (-1, *[1] * len(rest)))
            total = part if total is None else total + part
        return total


def _flat(places: list[Tensor], sizes: Any) -> Tensor:
    out: Any = None
    for place, size in zip(places, sizes, strict=True):
        out = place if out is None else out * size + place
    return out


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True,
    fill_value: float | None = float("nan"),
) -> Tensor:  # fmt: skip
    """Values on a grid, at points between its own.

    >>> interpn(([0.0, 1.0],), [0.0, 2.0], [[0.25]]).tolist()
    [0.5]
    """
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


_boundary(globals())
