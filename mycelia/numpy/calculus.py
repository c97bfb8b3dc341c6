"""Differences, slopes, integrals, convolutions and values in between."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import pi
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast, common, floating
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.products import together
from mycelia.numpy.reductions import cumsum
from mycelia.numpy.reductions import sum as total
from mycelia.numpy.shapes import flip, ravel
from mycelia.numpy.sorting import searchsorted
from mycelia.ops.arguments import axis_of, sizes
from mycelia.types import bool_, float32

__all__ = [
    "convolve",
    "correlate",
    "diff",
    "ediff1d",
    "gradient",
    "interp",
    "trapezoid",
    "trapz",
    "unwrap",
]


def _part(x: Tensor, axis: int, start: int | None, stop: int | None, step: int | None = None) -> Tensor:
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences between neighbours along an axis, n times over, with other elements before and behind.

    >>> diff([1, 4, 9]).tolist(), diff([1, 4, 9], 2).tolist()
    ([3, 5], [2])
    """
    if n < 0:
        raise ArgumentError(f"differences are taken 0 or more times, not {n}")
    x = asarray(a)
    place = axis_of(x, axis)
    edges = [None if e is None else asarray(e) for e in (prepend, append)]
    edges = [
        e if e is None or e.ndim else ops.broadcast_to(e, (*x.shape[:place], 1, *x.shape[place + 1 :])) for e in edges
    ]
    parts = [p for p in (edges[0], x, edges[1]) if p is not None]
    if n and len(parts) > 1:
        x = ops.cat(together(*parts), place)
    for _ in range(n):
        later, earlier = _part(x, place, 1, None), _part(x, place, None, -1)
        x = later != earlier if x.dtype is bool_ else later - earlier
    return x.alias() if n == 0 else x


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """The differences between neighbours of the flattened array, with other numbers before and behind.

    >>> ediff1d([1, 4, 9], to_begin=0).tolist()
    [0, 3, 5]
    """
    x = diff(ravel(ary))
    parts = [None if to_begin is None else ravel(to_begin), x, None if to_end is None else ravel(to_end)]
    return ops.cat([cast(p, x.dtype) for p in parts if p is not None], 0)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Slopes along axes by differences to both neighbours, at the edges to one (or two, if `edge_order` is 2).

    Points are 1 apart, or as far as is given, or at the coordinates that are given, for all axes or for each.

    >>> gradient([1.0, 2.0, 4.0, 7.0]).tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    x = asarray(f)
    x = cast(x, floating(x.dtype))
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis_of(x, i) for i in sizes(axis))
    if len(varargs) not in (0, 1, len(axes)):
        raise CallError(
            f"gradient takes one distance, or one for each of {len(axes)} axes", given={"given": len(varargs)}
        )
    if edge_order not in (1, 2):
        raise ArgumentError(f"edge_order is 1 or 2, not {edge_order}")
    spacings = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    slopes = [_slope(x, place, spacing, edge_order) for place, spacing in zip(axes, spacings, strict=True)]
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(x: Tensor, axis: int, spacing: Any, edge_order: int) -> Tensor:
    extent = x.shape[axis]
    if extent < edge_order + 1:
        raise ShapeError(f"slopes need {edge_order + 1} elements along an axis", given={"shape": x.shape})
    h = asarray(spacing)
    if h.ndim > 1 or (h.ndim == 1 and h.shape[0] != extent):
        raise ShapeError("coordinates are one number for each element", given={"shape": x.shape, "spacing": h.shape})
    h = cast(h, x.dtype)
    steps = diff(h) if h.ndim else ops.broadcast_to(h, (extent - 1,))
    steps = ops.reshape(steps, (-1,) + (1,) * (x.ndim - axis - 1))
    slopes = diff(x, axis=axis) / ops.reshape(steps, (1,) * axis + (extent - 1,) + (1,) * (x.ndim - axis - 1))
    wide = ops.reshape(steps, (1,) * axis + (extent - 1,) + (1,) * (x.ndim - axis - 1))
    before, behind = _part(wide, axis, None, -1), _part(wide, axis, 1, None)
    left, right = _part(slopes, axis, None, -1), _part(slopes, axis, 1, None)
    middle = (left * behind + right * before) / (before + behind)
    if not h.ndim:  # the number between two neighbours does not matter, even if it is none
        middle = (_part(x, axis, 2, None) - _part(x, axis, None, -2)) / (2 * h)
    first, last = _part(slopes, axis, None, 1), _part(slopes, axis, -1, None)
    if edge_order == 2:
        h0, h1 = _part(before, axis, None, 1), _part(behind, axis, None, 1)
        g0, g1 = _part(before, axis, -1, None), _part(behind, axis, -1, None)
        first = first + (first - _part(slopes, axis, 1, 2)) * h0 / (h0 + h1)
        last = last + (last - _part(slopes, axis, -2, -1)) * g1 / (g0 + g1)
    return ops.cat([first, middle, last], axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral along an axis by trapezoids, at points `x` or `dx` apart.

    >>> trapezoid([1.0, 2.0, 3.0]).item()
    4.0
    """
    a = asarray(y)
    a = cast(a, floating(a.dtype))
    place = axis_of(a, axis)
    if x is None:
        width: Any = dx if not isinstance(dx, list | tuple) else asarray(dx)
    else:
        points = asarray(x)
        width = diff(points) if points.ndim == 1 else diff(points, axis=axis)
        width = cast(width, floating(width.dtype))
        if points.ndim == 1:
            width = ops.reshape(width, (-1,) + (1,) * (a.ndim - place - 1))
    return total((_part(a, place, 1, None) + _part(a, place, None, -1)) * width / 2, place)


trapz = trapezoid


def unwrap(p: Any, discont: float | None = pi, axis: int = -1, *, period: float = 2 * pi) -> Tensor:
    """Angles along an axis, with whole turns added such that no step is larger than half a turn.

    >>> [round(a, 3) for a in unwrap([0.0, 6.0]).tolist()]
    [0.0, -0.283]
    """
    x = asarray(p)
    x = cast(x, floating(x.dtype))
    place = axis_of(x, axis)
    steps = diff(x, axis=place)
    half = period / 2
    turned = (steps + half) % period - half
    turned = ops.where(ops.logical_and(turned == -half, steps > 0), ops.full_like(turned, half), turned)
    more = turned - steps
    more = ops.where(ops.abs(steps) < (half if discont is None else discont), ops.zeros_like(more), more)
    tail = _part(x, place, 1, None) + cumsum(more, place)
    return ops.cat([_part(x, place, None, 1), tail], place)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Tensor:
    """Values at `x` on straight lines between the points (xp, fp); outside, those of the ends, or `left` and `right`.

    >>> interp([0.5, 3.0], [0.0, 1.0, 2.0], [0.0, 10.0, 20.0]).tolist()
    [5.0, 20.0]
    """
    at, points, values = asarray(x), asarray(xp), asarray(fp)
    if points.ndim != 1 or points.shape != values.shape:
        raise ShapeError("points are two vectors of one length", given={"xp": points.shape, "fp": values.shape})
    wanted = common(common(at.dtype, points.dtype), common(values.dtype, float32))
    at, points, values = (cast(t, wanted) for t in (at, points, values))
    if period is not None:
        if period == 0:
            raise ArgumentError("a period is not 0")
        at, points = at % abs(period), points % abs(period)
        order = ops.argsort(points)
        points, values = ops.gather(points, order, 0), ops.gather(values, order, 0)
        points = ops.cat([points[-1:] - abs(period), points, points[:1] + abs(period)], 0)
        values = ops.cat([values[-1:], values, values[:1]], 0)
        left = right = None
    count = points.shape[0]
    if count == 1:
        out = ops.broadcast_to(values, at.shape) if at.ndim else values[0]
    else:
        high = ops.minimum(ops.maximum(searchsorted(points, at, "right"), 1), count - 1)
        x0, x1 = (ops.reshape(ops.gather(points, ravel(i), 0), at.shape) for i in (high - 1, high))
        y0, y1 = (ops.reshape(ops.gather(values, ravel(i), 0), at.shape) for i in (high - 1, high))
        width = x1 - x0
        flat = width == 0
        share = ops.where(flat, ops.zeros_like(at), (at - x0) / ops.where(flat, ops.ones_like(width), width))
        out = y0 + share * (y1 - y0)
    low = values[0] if left is None else asarray(left, wanted)
    top = values[-1] if right is None else asarray(right, wanted)
    out = ops.where(at < points[0], low, ops.where(at > points[-1], top, out))
    return ops.where(at != at, at, out)


# ------------------------------------------------------------------------------------------------------ convolution


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """The sums of products of one vector with another that slides along it in reverse: "full", "same" or "valid".

    >>> convolve([1, 2, 3], [0, 1]).tolist()
    [0, 1, 2, 3]
    """
    x, y = together(ravel(a), ravel(v))
    if asarray(a).ndim > 1 or asarray(v).ndim > 1:
        raise ShapeError("convolve takes vectors", given={"a": asarray(a).shape, "v": asarray(v).shape})
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"there is no mode {mode!r}", hint='"full", "same" or "valid"')
    if not x.size or not y.size:
        raise ShapeError("convolve takes vectors of one number at least")
    if x.shape[0] < y.shape[0]:
        x, y = y, x
    return _slid(x, flip(y), mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """The sums of products of one vector with another that slides along it, conjugate: "full", "same" or "valid".

    >>> correlate([1, 2, 3], [0, 1]).tolist()
    [2, 3]
    """
    x, y = together(ravel(a), ravel(v))
    if asarray(a).ndim > 1 or asarray(v).ndim > 1:
        raise ShapeError("correlate takes vectors", given={"a": asarray(a).shape, "v": asarray(v).shape})
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"there is no mode {mode!r}", hint='"full", "same" or "valid"')
    y = ops.conj(y) if y.dtype.is_complex else y
    if not x.size or not y.size:
        raise ShapeError("correlate takes vectors of one number at least")
    if x.shape[0] >= y.shape[0]:
        return _slid(x, y, mode)
    return flip(_slid(y, x, mode))


def _slid(x: Tensor, y: Tensor, mode: str) -> Tensor:
    """The sums for every place of y along x, where y is not longer."""
    count, width = x.shape[0], y.shape[0]
    before = {"full": width - 1, "same": width // 2, "valid": 0}[mode]
    behind = {"full": width - 1, "same": (width - 1) // 2, "valid": 0}[mode]
    if x.dtype is float32:
        wide = ops.pad(ops.reshape(x, (1, 1, count)), (before, behind))
        return ops.reshape(ops.conv1d(wide, ops.reshape(y, (1, 1, width))), (-1,))
    wide = ops.pad(x, (before, behind)) if before or behind else x
    places = count + before + behind - width + 1
    if width <= 64:
        parts = [wide[i : i + places] * y[i] for i in range(width)]
        return sum(parts[1:], parts[0])
    rows = ops.expand_dims(ops.arange(places), 1) + ops.arange(width)
    return ops.matmul(ops.reshape(ops.gather(wide, ops.ravel(rows), 0), (places, width)), y)
