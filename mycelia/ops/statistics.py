"""Numbers that describe many: running extremes, quantiles, places in order, histograms, distances, covariance."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from math import inf, isinf, prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice, truth, whole
from mycelia.eager import Tensor, cast, created, is_late, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import axis_of, floated, method, number, pair, tensor
from mycelia.ops.choice import gather_elements
from mycelia.ops.linalg import matmul, vector_norm
from mycelia.ops.math import length
from mycelia.ops.order import sort, topk
from mycelia.ops.reduction import amax, amin
from mycelia.types import float32, float64, int32, int64

__all__ = [
    "aminmax",
    "bucketize",
    "cdist",
    "cov",
    "cummax",
    "cummin",
    "dist",
    "histc",
    "intopk",
    "logcumsumexp",
    "msort",
    "nanmedian",
    "nanquantile",
    "pdist",
    "quantile",
    "renorm",
    "searchsorted",
    "trapz",
    "unique_consecutive",
    "vander",
]


@method("msort")
def msort(input: Any) -> Tensor:
    """The elements in order along the first axis.

    >>> msort(Tensor([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    return sort(input, 0)[0]


@method("aminmax")
def aminmax(input: Any, *, axis: int | None = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The smallest and the largest element along an axis.

    >>> [t.item() for t in aminmax(Tensor([3, 1, 2]))]
    [1, 3]
    """
    return amin(input, axis, keepdims), amax(input, axis, keepdims)


# ------------------------------------------------------------------------------------------------------------- running


def _running(extreme: Callable[..., Any], input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """The extremes so far and where they are, of equal ones the last."""
    x = tensor(input)
    place = axis_of(x, axis)
    values = extreme(x, place)
    same = p.equal(x, values)
    if x.dtype.is_float:
        same = p.logical_or(same, p.is_nan(x))
    places = created(p.Iota(int64, x.shape, place))
    places = p.cummax(p.select(same, places, number(0, places)), place)
    return gather_elements(x, place, places), places


@method("cummax")
def cummax(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """The largest element so far along an axis, and where it is; of equal ones the last.

    >>> [t.tolist() for t in cummax(Tensor([1, 3, 2]), 0)]
    [[1, 3, 3], [0, 1, 1]]
    """
    return _running(p.cummax, input, axis)


@method("cummin")
def cummin(input: Any, axis: int) -> tuple[Tensor, Tensor]:
    """The smallest element so far along an axis, and where it is; of equal ones the last.

    >>> [t.tolist() for t in cummin(Tensor([3, 1, 2]), 0)]
    [[3, 1, 1], [0, 1, 1]]
    """
    return _running(p.cummin, input, axis)


@method("logcumsumexp")
def logcumsumexp(input: Any, axis: int) -> Tensor:
    """The logarithm of the running sum of exponentials along an axis, without overflow.

    >>> [round(n, 4) for n in logcumsumexp(Tensor([0.0, 0.0]), 0).tolist()]
    [0.0, 0.6931]
    """
    x = floated(input)
    place, step = axis_of(x, axis), 1
    extent = x.shape[place]
    while step < extent:  # doubling: each with the sum that ends so many places before it
        low = [step if a == place else 0 for a in range(x.ndim)]
        before = p.pad(p.take(x, place, 0, extent - step), low, [0] * x.ndim, -inf)
        top = p.stop_gradient(p.maximum(x, before))
        safe = p.select(p.is_finite(top), top, number(0, top))
        x, step = safe + p.log(p.exp(x - safe) + p.exp(before - safe)), step * 2
    return x if extent > 1 else x.alias()


# -------------------------------------------------------------------------------------------------------- in order


def searchsorted(
    sorted_sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Any = None,
) -> Tensor:  # fmt: skip
    """Where values would go in sequences that are in order: before equal ones, or behind them ("right").

    >>> searchsorted(Tensor([1, 3, 5]), Tensor([3, 6])).tolist(), searchsorted(Tensor([1, 3, 5]), 3, right=True).item()
    ([1, 3], 2)
    """
    truth("searchsorted", "right", right)
    truth("searchsorted", "out_int32", out_int32)
    if side is not None:
        choice("searchsorted", "side", side, ("left", "right"))
        if right and side == "left":
            raise ArgumentError(
                "searchsorted: right=True and side='left' say different things", hint="give one of them"
            )
        right = side == "right"
    row, x = pair(sorted_sequence, values)
    if sorter is not None:
        row = gather_elements(row, -1, sorter)
    if row.ndim == 0 or (row.ndim > 1 and row.shape[:-1] != x.shape[:-1]):
        raise ShapeError(
            f"searchsorted: sequences of shape {row.shape} do not fit values of shape {x.shape}",
            hint="one sequence for all, or the same axes before the last",
        )
    found = p.search(row, x, right)
    return cast(found, int32) if out_int32 else found


def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Tensor:
    """Between which boundaries each element lies: the number of those below it, or with `right` not above it.

    >>> bucketize(Tensor([0.5, 3.0, 9.0]), [1.0, 3.0, 5.0]).tolist()
    [0, 1, 3]
    """
    return searchsorted(boundaries, input, right=right, out_int32=True)


def histc(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """How many elements lie in each of so many equal parts of a range; of the whole one, if both bounds are the same.

    >>> histc(Tensor([1.0, 2.0, 1.0]), 4, 0.0, 3.0).tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    x = tensor(input)
    whole("histc", "bins", bins, least=1)
    if min > max:
        raise ArgumentError("histc: min is at most max", given={"min": min, "max": max})
    flat = p.reshape(cast(x, float64), (x.size,))
    low, high = number(min, flat), number(max, flat)
    if min == max and x.size:
        low, high = p.reduce_min(flat), p.reduce_max(flat)
    flat_range = p.equal(low, high)
    low, high = p.select(flat_range, low - 1.0, low), p.select(flat_range, high + 1.0, high)
    part = p.floor((flat - low) / (high - low) * float(bins))
    part = p.select(p.equal(flat, high), number(bins - 1, part), part)
    inside = p.logical_and(p.greater_equal(flat, low), p.less_equal(flat, high))
    place = p.select(inside, cast(p.select(inside, part, number(0, part)), int64), p.full(bins, int64, ()))
    counts = p.scatter_add(created(p.Full(0, int64, (bins + 1,))), place, cast(inside, int64), 0)
    return cast(p.take(counts, 0, 0, bins), x.dtype if x.dtype.is_float or x.dtype is int32 else float32)


@method("quantile")
def quantile(input: Any, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The number below which a share of the elements lies, linearly between the nearest two; nan if one is.

    >>> quantile(Tensor([1.0, 2.0, 3.0, 4.0]), 0.5).item()
    2.5
    """
    return _quantile("quantile", input, q, axis, keepdims, False)


@method("nanquantile")
def nanquantile(input: Any, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The number below which a share of those elements lies that are numbers.

    >>> nanquantile(Tensor([1.0, 2.0, float("nan")]), 0.5).item()
    1.5
    """
    return _quantile("nanquantile", input, q, axis, keepdims, True)


def _quantile(name: str, input: Any, q: Any, axis: int | None, keepdims: bool, skip: bool) -> Tensor:
    x = floated(input)
    shares = cast(q, x.dtype) if isinstance(q, Tensor) else wrap(np.asarray(q, x.dtype.numpy))
    if shares.ndim > 1:
        raise ShapeError(f"{name}: the shares are one number or a row of them, not of shape {shares.shape}")
    if not isinstance(q, Tensor) and not np.all((np.asarray(q) >= 0) & (np.asarray(q) <= 1)):
        raise ArgumentError(f"{name}: a share is from 0 to 1", given={"q": q})
    place = 0 if axis is None else axis_of(x, axis)
    rank = x.ndim
    data = p.reshape(x, (x.size,)) if axis is None else p.moveaxis(x, place, rank - 1)
    ordered = sort(data, -1)[0]  # nan is last
    last = data.ndim - 1
    nans = p.is_nan(data)
    count = p.reduce_sum(cast(p.logical_not(nans), x.dtype), (last,), True)
    row = p.reshape(shares, (*(1,) * last, shares.size))
    at = row * ((count if skip else number(data.shape[last], x)) - 1.0)
    at = p.maximum(at + count * 0, number(0, x))  # of one shape
    below = p.stop_gradient(p.floor(at))
    above = p.minimum(below + 1.0, number(data.shape[last] - 1, x))
    first, second = (gather_elements(ordered, last, cast(i, int64)) for i in (below, above))
    part = at - below
    out = first + p.select(p.equal(part, 0), number(0, x), (second - first) * part)
    empty = p.equal(count, 0) if skip else p.reduce_any(nans, (last,), True)
    out = p.select(empty, number(float("nan"), x), out)
    out = p.moveaxis(out, last, 0)  # (shares, others...)
    if truth(name, "keepdims", keepdims):
        shape = (1,) * rank if axis is None else tuple(1 if a == place else e for a, e in enumerate(x.shape))
        out = p.reshape(out, (shares.size, *shape))
    return p.reshape(out, (*shares.shape, *out.shape[1:]))


@method("nanmedian")
def nanmedian(input: Any, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The middle one of the elements along an axis that are numbers (of two the lower), and where it is.

    >>> [t.item() for t in nanmedian(Tensor([4.0, 1.0, float("nan"), 3.0]))]
    [3.0, 3]
    """
    x = floated(input)
    place = axis_of(x, axis)
    values, places = sort(x, place)
    count = p.reduce_sum(cast(p.logical_not(p.is_nan(x)), int64), (place,), True)
    middle = p.maximum(p.floor_divide(count - 1, p.full(2, int64, ())), p.full(0, int64, ()))
    out = tuple(gather_elements(t, place, middle) for t in (values, places))
    if not truth("nanmedian", "keepdims", keepdims):
        shape = tuple(e for a, e in enumerate(x.shape) if a != place)
        out = tuple(p.reshape(t, shape) for t in out)
    return out[0], cast(out[1], int64)


def intopk(x1: Any, x2: Any, k: int) -> Tensor:
    """Whether the score of the right class is among the k largest of its row.

    >>> intopk(Tensor([[0.1, 0.9], [0.8, 0.2]]), Tensor([1, 1]), 1).tolist()
    [True, False]
    """
    scores, labels = tensor(x1), tensor(x2)
    if scores.ndim != 2 or labels.shape != scores.shape[:1]:
        raise ShapeError(f"intopk takes scores (n, classes) and n labels, not {scores.shape} and {labels.shape}")
    own = gather_elements(scores, 1, p.reshape(labels, (labels.size, 1)))
    least = p.take(topk(scores, k)[0], 1, k - 1, k)
    return p.reshape(p.greater_equal(own, least), (labels.size,))


@method("unique_consecutive")
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Elements, or slices along an axis, without those that repeat the one before; where each went, and how many.

    >>> unique_consecutive(Tensor([1, 1, 2, 1])).tolist()
    [1, 2, 1]
    """
    x = tensor(input)
    if is_late(x):
        return _runs(x, dim, return_inverse, return_counts)
    data = x.numbers()
    rows = data.reshape(-1) if dim is None else np.moveaxis(data, axis_of(x, dim), 0)
    flat = rows.reshape(len(rows), prod(rows.shape[1:]))
    new = np.concatenate([np.ones(min(1, len(flat)), bool), (flat[1:] != flat[:-1]).any(axis=1)])
    starts = np.flatnonzero(new)
    kept = rows[starts] if dim is None else np.moveaxis(rows[starts], 0, axis_of(x, dim))
    inverse = (np.cumsum(new) - 1).reshape(data.shape if dim is None else -1)
    counts = np.diff(np.append(starts, len(flat)))
    found = [wrap(np.ascontiguousarray(kept))]
    found += [wrap(a.astype(np.int64)) for a, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return found[0] if len(found) == 1 else tuple(found)


def _runs(x: Tensor, dim: int | None, return_inverse: bool, return_counts: bool) -> Any:
    """The same in a program: how many runs there are, the data say."""
    place = 0 if dim is None else axis_of(x, dim)
    rows = p.moveaxis(p.stop_gradient(p.reshape(x, (-1,)) if dim is None else x), place, 0)
    steps = p.iota(int64, rows.shape[:1], 0)
    differs = p.not_equal(rows, p.gather(rows, p.maximum(steps - 1, 0), 0))
    begins = p.logical_or(p.equal(steps, 0), p.reduce_any(differs, tuple(range(1, rows.ndim))))
    starts, run = p.positions(begins), p.cumsum(p.cast(begins, int64), 0) - 1
    found = [p.moveaxis(p.gather(rows, starts, 0), 0, place)]
    if return_inverse:
        found.append(p.reshape(run, x.shape if dim is None else (-1,)))
    if return_counts:
        none = created(p.Full(0, int64, starts.shape))
        found.append(p.scatter_add(none, run, created(p.Full(1, int64, run.shape)), 0))
    return found[0] if len(found) == 1 else tuple(found)


# ------------------------------------------------------------------------------------------------------------ distances


@method("renorm")
def renorm(input: Any, p: Any, axis: int, maxnorm: float) -> Tensor:
    """Slices along an axis, those shortened to `maxnorm` whose p-norm is larger.

    >>> renorm(Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.30000001192092896, 0.4000000059604645]]
    """
    x = floated(input)
    place = axis_of(x, axis)
    lengths = vector_norm(x, p, tuple(a for a in range(x.ndim) if a != place), True)
    return x * _select(lengths > maxnorm, number(maxnorm, x) / (lengths + 1e-7), number(1, x))


def _select(condition: Any, x: Any, y: Any) -> Any:
    return p.select(condition, x, y)


def dist(input: Any, other: Any, p: float = 2) -> Tensor:
    """The p-norm of the difference.

    >>> dist(Tensor([1.0, 1.0]), Tensor([4.0, 5.0])).item()
    5.0
    """
    x, y = pair(input, other)
    return vector_norm(floated(x - y), p)


def _norm_of(differences: Tensor, order: float) -> Tensor:
    """The norm along the last axis."""
    last = differences.ndim - 1
    if order == 2:
        return length(p.reduce_sum(differences * differences, (last,)))
    if order == 0:
        return p.reduce_sum(cast(differences != 0, differences.dtype), (last,))
    size = p.abs(differences)
    if isinf(order):
        return p.reduce_max(size, (last,))
    if order == 1:
        return p.reduce_sum(size, (last,))
    nothing = p.equal(size, 0)  # where a power below 1 has no slope
    powers = p.select(nothing, number(0, size), p.select(nothing, number(1, size), size) ** order)
    total = p.reduce_sum(powers, (last,))
    none = p.equal(total, 0)
    return p.select(none, number(0, total), p.select(none, number(1, total), total) ** (1.0 / order))


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Tensor:
    """The p-norms of the differences between each row of one matrix and each of another.

    >>> cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[5.0, 1.0]]
    """
    a, b = (floated(t) for t in pair(x1, x2))
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"cdist takes rows of one length, not shapes {a.shape} and {b.shape}")
    return _norm_of(_apart(a, b), _order("cdist", p))


def _apart(a: Tensor, b: Tensor) -> Tensor:
    return p.expand_dims(a, (a.ndim - 1,)) - p.expand_dims(b, (b.ndim - 2,))


def _order(name: str, order: float) -> float:
    if not isinstance(order, int | float) or order < 0:
        raise ArgumentError(f"{name}: the order of a norm is a number from 0 on", given={"p": order})
    return float(order)


def pdist(input: Any, p: float = 2.0) -> Tensor:
    """The p-norms of the differences between rows of a matrix, each pair once.

    >>> pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).tolist()
    [5.0, 1.0, 4.242640495300293]
    """
    x = floated(input)
    first, second = np.triu_indices(x.shape[-2], 1)
    return _norm_of(_rows_of(x, first) - _rows_of(x, second), _order("pdist", p))


def _rows_of(x: Tensor, places: Any) -> Tensor:
    return p.gather(x, wrap(places.astype(np.int64)), x.ndim - 2)


@method("cov")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariance of rows, each a variable; columns are observations, which may have counts and weights.

    >>> cov(Tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    x = floated(input)
    if x.ndim > 2:
        raise ShapeError(f"cov takes one variable or rows of them, not shape {x.shape}")
    rows = p.reshape(x, (1, x.size)) if x.ndim < 2 else x
    count = rows.shape[1]
    weights = None
    for given in (fweights, aweights):
        if given is not None:
            weights = floated(given) if weights is None else weights * floated(given)
    if weights is None:
        total: Any = number(count, x)
        center = p.mean(rows, (1,), True)
        weighed = rows - center
        norm: Any = number(count - correction, x)
    else:
        weights = cast(weights, x.dtype)
        total = p.reduce_sum(weights)
        center = p.reduce_sum(rows * weights, (1,), True) / total
        weighed = (rows - center) * weights
        if aweights is None:
            norm = total - float(correction)
        else:
            norm = total - p.reduce_sum(weights * cast(floated(aweights), x.dtype)) / total * float(correction)
    out = matmul(weighed, p.transpose(rows - center, (1, 0))) / norm
    return p.reshape(out, ()) if x.ndim < 2 else out


def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral along an axis by trapezoids, at points `x` or `dx` apart.

    >>> trapz(Tensor([1.0, 3.0, 5.0])).item()
    6.0
    """
    values = floated(y)
    place = axis_of(values, dim)
    extent = values.shape[place]
    sums = p.take(values, place, 1, extent) + p.take(values, place, 0, extent - 1)
    if x is None:
        return p.reduce_sum(sums, (place,)) * (dx / 2.0)
    points = cast(tensor(x), values.dtype)
    if points.ndim == 1:
        steps = p.take(points, 0, 1, points.size) - p.take(points, 0, 0, points.size - 1)
        steps = p.reshape(steps, [extent - 1 if a == place else 1 for a in range(values.ndim)])
    else:
        steps = p.take(points, place, 1, extent) - p.take(points, place, 0, extent - 1)
    return p.reduce_sum(sums * steps, (place,)) * 0.5


def vander(x: Any, N: int | None = None) -> Tensor:
    """Powers of the elements of a vector, the largest first.

    >>> vander(Tensor([2, 3]), 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    v = tensor(x)
    if v.ndim != 1:
        raise ShapeError(f"vander takes a vector, not shape {v.shape}")
    count = v.size if N is None else whole("vander", "N", N, least=0)
    column = p.reshape(v, (v.size, 1))
    powers = [created(p.Full(1, v.dtype, (v.size, 1)))]
    for _ in range(count - 1):
        powers.append(powers[-1] * column)
    return p.concat(powers[:count][::-1], 1) if count else created(p.Full(0, v.dtype, (v.size, 0)))
