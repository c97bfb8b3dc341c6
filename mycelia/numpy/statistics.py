"""Numbers that describe many: averages, quantiles, covariance, counts in bins."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast, common, floating
from mycelia.errors import ArgumentError, CallError, DTypeError, ShapeError
from mycelia.numpy.calculus import diff
from mycelia.numpy.creation import asarray, linspace
from mycelia.numpy.elements import in_type
from mycelia.numpy.indexing import diagonal
from mycelia.numpy.logic import isnan
from mycelia.numpy.reductions import all as _all
from mycelia.numpy.reductions import any as _any
from mycelia.numpy.reductions import axes_to_fold, extreme_of, folded_shape, mean
from mycelia.numpy.reductions import sum as total
from mycelia.numpy.shapes import flip, ravel
from mycelia.numpy.sorting import searchsorted, sort
from mycelia.ops.arguments import Axis, axis_of
from mycelia.types import bool_, float32, float64, int64

__all__ = [
    "average",
    "bincount",
    "corrcoef",
    "cov",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]


def average(x: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The mean along axes, in which elements count by their weights; and the sum of these, if `returned`.

    >>> average([1.0, 3.0], weights=[3.0, 1.0]).item()
    1.5
    """
    a = asarray(x)
    a = cast(a, floating(a.dtype))
    if weights is None:
        out = mean(a, axis, keepdims)
        count = total(ops.ones_like(a), axis, None, keepdims)
        return (out, count) if returned else out
    w = asarray(weights)
    if w.shape != a.shape:
        if not isinstance(axis, int):
            raise CallError("weights of another shape need an axis", given={"x": a.shape, "weights": w.shape})
        place = axis_of(a, axis)
        if w.shape != (a.shape[place],):
            raise ShapeError("there is one weight for each element of the axis", given={"weights": w.shape})
        w = ops.reshape(w, (-1,) + (1,) * (a.ndim - place - 1))
    wanted = common(a.dtype, floating(w.dtype))
    w = ops.broadcast_to(cast(w, wanted), a.shape)
    count = total(w, axis, None, keepdims)
    out = total(a * w, axis, None, keepdims) / count
    return (out, count) if returned else out


# --------------------------------------------------------------------------------------------------------- quantiles

METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


def _exact(q: Any) -> Tensor:
    """Shares in double precision, also those that Python wrote."""
    return cast(q, float64) if isinstance(q, Tensor) else Tensor(q, float64)


def _folded(x: Tensor, axis: Axis) -> tuple[Tensor, tuple[int, ...]]:
    """The axes that are folded as one, behind the others."""
    axes = axes_to_fold(x, axis)
    rest = [i for i in range(x.ndim) if i not in axes]
    moved = ops.transpose(x, (*rest, *axes)) if x.ndim else x
    return ops.reshape(moved, (*[x.shape[i] for i in rest], -1)), axes


def _between(ordered: Tensor, count: Any, share: Tensor, method: str) -> Tensor:
    """The number at a share of the first `count` elements, which are in order along the last axis."""
    place = share * (count - 1)
    low, high = ops.floor(place), ops.ceil(place)
    if method == "nearest":
        low = high = ops.round(place)
    low, high = {"lower": (low, low), "higher": (high, high)}.get(method, (low, high))
    index = [ops.broadcast_to(cast(ops.maximum(i, 0.0), int64), ordered.shape[:-1]) for i in (low, high)]
    a, b = (
        ops.reshape(ops.gather_elements(ordered, ordered.ndim - 1, ops.expand_dims(i, i.ndim)), i.shape) for i in index
    )
    part = cast(place - low, ordered.dtype) if method == "linear" else 0.5
    if method in ("lower", "higher", "nearest"):
        return a
    infinite = ops.logical_or(ops.abs(a) == float("inf"), ops.abs(b) == float("inf"))
    out = ops.where(infinite, a + b, a + (b - a) * part)
    return ops.where(a == b, a, out)  # also if both are infinite


def _quantiles(a: Any, q: Any, axis: Axis, keepdims: bool, method: str, without_nan: bool) -> Tensor:
    if method not in METHODS:
        raise ArgumentError(f"there is no method {method!r}", hint=", ".join(METHODS))
    x = asarray(a)
    x = cast(x, floating(x.dtype))
    shares = _exact(q)
    rows, axes = _folded(x, axis)
    missing = isnan(rows)
    ordered = sort(ops.where(missing, ops.full_like(rows, extreme_of(rows.dtype, True)), rows))
    found = total(ops.logical_not(missing), -1, float64) if without_nan else rows.shape[-1]
    bad = _all(missing, -1) if without_nan else _any(missing, -1)
    shape = folded_shape(x, axes, keepdims)
    flat = ravel(shares)
    parts = []
    for i in range(flat.shape[0]):
        out = _between(ordered, found, flat[i], method)
        parts.append(ops.reshape(ops.where(bad, ops.full_like(out, float("nan")), out), shape))
    if not shares.ndim:
        return parts[0]
    return ops.reshape(ops.stack(parts), (*shares.shape, *shape))


def quantile(a: Any, q: Any, axis: Axis = None, keepdims: bool = False, *, method: str = "linear") -> Tensor:
    """The number below which a share of the elements lies; between two, by `method`. It is nan if one element is.

    >>> quantile([1.0, 2.0, 4.0], 0.5).item(), quantile([1.0, 2.0], [0.0, 0.5]).tolist()
    (2.0, [1.0, 1.5])
    """
    return _quantiles(a, q, axis, keepdims, method, False)


def percentile(a: Any, q: Any, axis: Axis = None, keepdims: bool = False, *, method: str = "linear") -> Tensor:
    """The number below which so many in a hundred of the elements lie; between two, by `method`.

    >>> percentile([1.0, 2.0, 4.0], 50).item()
    2.0
    """
    return _quantiles(a, _exact(q) / 100, axis, keepdims, method, False)


def median(a: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The element in the middle, or the mean of the two that are.

    >>> median([3.0, 1.0, 2.0, 10.0]).item()
    2.5
    """
    return _quantiles(a, 0.5, axis, keepdims, "linear", False)


def nanquantile(a: Any, q: Any, axis: Axis = None, keepdims: bool = False, *, method: str = "linear") -> Tensor:
    """The number below which a share of those elements lies that are numbers.

    >>> nanquantile([1.0, float("nan"), 3.0], 0.5).item()
    2.0
    """
    return _quantiles(a, q, axis, keepdims, method, True)


def nanpercentile(a: Any, q: Any, axis: Axis = None, keepdims: bool = False, *, method: str = "linear") -> Tensor:
    """The number below which so many in a hundred of those elements lie that are numbers.

    >>> nanpercentile([1.0, float("nan"), 3.0], 50).item()
    2.0
    """
    return _quantiles(a, _exact(q) / 100, axis, keepdims, method, True)


def nanmedian(a: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The element in the middle of those that are numbers, or the mean of the two that are.

    >>> nanmedian([1.0, float("nan"), 3.0]).item()
    2.0
    """
    return _quantiles(a, 0.5, axis, keepdims, "linear", True)


# -------------------------------------------------------------------------------------------------------- covariance


def _variables(m: Any, rowvar: bool) -> Tensor:
    x = asarray(m)
    if x.ndim > 2:
        raise ShapeError("covariance is one of the rows of a matrix", given={"shape": x.shape})
    x = cast(x, floating(x.dtype))
    x = ops.reshape(x, (1, -1)) if x.ndim < 2 else x
    return x if rowvar or x.shape[0] == 1 else ops.transpose(x, (1, 0))


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Tensor:
    """The covariance of rows, each a variable; columns are observations, which may have counts and weights.

    >>> cov([[1.0, 2.0, 3.0], [1.0, 0.0, 2.0]]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    x = _variables(m, rowvar)
    if y is not None:
        other = _variables(y, rowvar)
        wanted = common(x.dtype, other.dtype)
        x = ops.cat([cast(x, wanted), cast(other, wanted)], 0)
    x = in_type(x, dtype)
    less = ddof if ddof is not None else 0 if bias else 1
    weights: Any = None
    if fweights is not None:
        weights = cast(ravel(fweights), x.dtype)
    if aweights is not None:
        more = cast(ravel(aweights), x.dtype)
        weights = more if weights is None else weights * more
    if weights is None:
        count: Any = x.shape[1]
        away = x - mean(x, 1, True)
        scaled, over = away, count - less
    else:
        count = total(weights)
        away = x - total(x * weights, 1, None, True) / count
        scaled = away * weights
        over = (
            count - less if aweights is None else count - less * total(weights * cast(ravel(aweights), x.dtype)) / count
        )
    out = ops.matmul(away, ops.transpose(scaled, (1, 0)))
    out = out / (ops.full((), float(over), dtype=out.dtype) if isinstance(over, int) else over)
    return ops.squeeze(out)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Tensor:
    """The correlation of rows, each a variable: their covariance over their deviations.

    >>> corrcoef([[1.0, 2.0, 3.0], [1.0, 0.0, 2.0]]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    deviation = ops.sqrt(diagonal(c))
    out = c / ops.expand_dims(deviation, 1) / ops.expand_dims(deviation, 0)
    return ops.clamp(out, -1.0, 1.0)


# --------------------------------------------------------------------------------------------------------------- bins


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """How often each whole number appears, or the sum of the weights of its appearances; of those below `length`.

    >>> bincount([0, 2, 2]).tolist(), bincount([0, 2], length=2).tolist()
    ([1, 0, 2], [1, 0])
    """
    a = asarray(x)
    if a.ndim != 1:
        raise ShapeError("bincount takes a vector", given={"shape": a.shape})
    if a.size == 0:
        a = cast(a, int64)
    if not a.dtype.is_integer:
        raise DTypeError(f"bincount counts whole numbers, not {a.dtype!r}")
    if length is None:
        numbers = a.numbers()
        if numbers.size and numbers.min() < 0:
            raise ArgumentError("bincount counts numbers from 0 on", given={"smallest": int(numbers.min())})
        length = max(minlength, int(numbers.max()) + 1 if numbers.size else 0)
    counted = ops.ones(a.shape, int64) if weights is None else asarray(weights)
    if counted.shape != a.shape:
        raise ShapeError("there is one weight for each number", given={"x": a.shape, "weights": counted.shape})
    counted = counted if weights is None else cast(counted, floating(counted.dtype))
    return ops.unsorted_segment_sum(counted, a, length)


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """Between which edges each element lies: the number of those below it, or not above it; edges may also fall.

    >>> digitize([0.5, 1.0, 2.5], [0.0, 1.0, 2.0]).tolist()
    [1, 2, 3]
    """
    edges = asarray(bins)
    if edges.ndim != 1:
        raise ShapeError("edges are a vector", given={"shape": edges.shape})
    side = "left" if right else "right"
    rising = searchsorted(edges, x, side)
    if edges.shape[0] < 2:
        return rising
    falling = edges.shape[0] - searchsorted(flip(edges), x, "right" if right else "left")
    return ops.where(edges[0] <= edges[-1], rising, falling)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """The edges of bins: those given, or so many equal ones from the smallest to the largest element, or in a range.

    >>> histogram_bin_edges([0.0, 4.0], 2).tolist()
    [0.0, 2.0, 4.0]
    """
    x = ravel(a)
    if weights is not None and asarray(weights).shape != asarray(a).shape:
        raise ShapeError("there is one weight for each element")
    if isinstance(bins, str):
        raise ArgumentError(f"there is no rule {bins!r} for bins", hint="give their number, or their edges")
    if not isinstance(bins, int | numpy.integer):
        edges = asarray(bins)
        if edges.ndim != 1:
            raise ShapeError("edges are a vector", given={"shape": edges.shape})
        return edges
    if bins < 1:
        raise ArgumentError(f"there is one bin at least, not {bins}")
    wanted = common(x.dtype, float32)
    if range is not None:
        low, high = (asarray(e, wanted) for e in range)
    elif x.size == 0:
        low, high = ops.zeros((), wanted), ops.ones((), wanted)
    else:
        x = cast(x, wanted)
        low, high = ops.amin(x), ops.amax(x)
    alone = low == high
    return linspace(ops.where(alone, low - 0.5, low), ops.where(alone, high + 0.5, high), int(bins) + 1)


def _which(x: Tensor, edges: Tensor) -> Tensor:
    """The bin of each element: of the last one both edges belong to it. -1 and the number of bins are outside."""
    count = edges.shape[0] - 1
    wanted = common(x.dtype, edges.dtype)
    x, edges = cast(x, wanted), cast(edges, wanted)
    place = searchsorted(edges, x, "right") - 1
    place = ops.where(x == edges[-1], ops.full_like(place, count - 1), place)
    return ops.where(isnan(x), ops.full_like(place, -1), place)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    """How many elements, or how much of their weights, lie in each bin, and the edges of the bins.

    >>> [t.tolist() for t in histogram([0.0, 1.0, 4.0], 2)]
    [[2, 1], [0.0, 2.0, 4.0]]
    """
    edges = histogram_bin_edges(a, bins, range, weights)
    count = _counted([_which(ravel(a), edges)], [edges.shape[0] - 1], weights)
    if density:
        count = cast(count, common(floating(count.dtype), edges.dtype))
        count = count / cast(diff(edges), count.dtype) / total(count)
    return count, edges


def _counted(places: list[Tensor], counts: list[int], weights: Any) -> Tensor:
    """Counts of combinations of places; of those outside nothing is counted."""
    flat: Any = 0
    inside: Any = True
    for place, count in zip(places, counts, strict=True):
        flat = flat * count + place
        inside = ops.logical_and(inside, ops.logical_and(place >= 0, place < count))
    bins = int(numpy.prod(counts))
    flat = ops.where(inside, flat, ops.full_like(flat, bins))
    counted = ops.ones(flat.shape, int64) if weights is None else ravel(weights)
    counted = cast(counted, int64) if counted.dtype is bool_ else counted
    return ops.reshape(ops.unsorted_segment_sum(counted, flat, bins + 1)[:bins], tuple(counts))


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, list[Tensor]]:
    """How many points, which are rows, lie in each box of a grid, and the edges along each axis.

    >>> histogramdd([[0.0, 0.0], [1.0, 1.0]], 2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if isinstance(sample, list | tuple) and sample and isinstance(sample[0], Tensor):
        columns = [ravel(c) for c in sample]
    else:
        points = asarray(sample)
        points = ops.expand_dims(points, 1) if points.ndim == 1 else points
        columns = [points[:, i] for i in numpy.arange(points.shape[1])]
    count = len(columns)
    each = list(bins) if isinstance(bins, list | tuple) else [bins] * count
    if len(each) != count:
        raise ShapeError(f"points of {count} numbers have bins for as many axes", given={"bins": len(each)})
    ranges = [None] * count if range is None else list(range)
    edges = [histogram_bin_edges(c, b, r) for c, b, r in zip(columns, each, ranges, strict=True)]
    places = [_which(c, e) for c, e in zip(columns, edges, strict=True)]
    found = _counted(places, [e.shape[0] - 1 for e in edges], weights)
    found = cast(found, common(floating(found.dtype), reduce(common, [e.dtype for e in edges])))
    if density:
        found = found / total(found)
        for axis, e in enumerate(edges):
            width = cast(diff(e), found.dtype)
            found = found / ops.reshape(width, (-1,) + (1,) * (count - axis - 1))
    return found, edges


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """How many points in a plane lie in each box of a grid, and the edges along both axes.

    >>> histogram2d([0.0, 1.0], [0.0, 1.0], 2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if isinstance(bins, list | tuple | Tensor) and len(bins) not in (1, 2):
        bins = [asarray(bins)] * 2
    found, edges = histogramdd([asarray(x), asarray(y)], bins, range, weights, density)
    return found, edges[0], edges[1]
