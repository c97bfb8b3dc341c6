"""What samples are like: moments, means, ranks, distances, and what goes with what."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.indexing import take_along_axis
from mycelia.numpy.products import together
from mycelia.numpy.sorting import argsort, searchsorted, sort
from mycelia.numpy.statistics import percentile, quantile
from mycelia.ops.arguments import axis_of, floated
from mycelia.scipy.special.elementary import entr, rel_entr

__all__ = [
    "describe", "energy_distance", "entropy", "gmean", "gstd", "gzscore", "hmean", "iqr", "kurtosis",
    "median_abs_deviation", "mode", "moment", "pmean", "rankdata", "sem", "skew", "tmean", "trim_mean", "variation",
    "wasserstein_distance", "zmap", "zscore",
]  # fmt: skip


def along(a: Any, axis: int | None) -> tuple[Tensor, int]:
    """A sample in floating numbers, and the axis along which it lies; None: all of it.

    >>> along([[1, 2]], None)[0].shape
    (2,)
    """
    x = floated(asarray(a))
    if axis is None:
        return ops.reshape(x, (-1,)), 0
    return x, axis_of(x, axis)


def _mean(x: Tensor, axis: int, keep: bool = False) -> Tensor:
    return ops.sum(x, axis, keepdim=keep) / float(x.shape[axis])


def _central(x: Tensor, axis: int, order: float) -> Tensor:
    away = x - _mean(x, axis, True)
    return _mean(ops.pow(away, order) if order not in (2, 3, 4) else away ** int(order), axis)


def moment(a: Any, order: int = 1, axis: int | None = 0, *, center: float | None = None) -> Tensor:
    """The mean of powers of what samples are away from their mean, or from `center`.

    >>> moment([1.0, 3.0], 2).item()
    1.0
    """
    x, where = along(a, axis)
    if center is None:
        return ops.zeros_like(_mean(x, where)) if order == 1 else _central(x, where, order)
    away = x - center
    return _mean(away**order, where)


def skew(a: Any, axis: int | None = 0, bias: bool = True) -> Tensor:
    """How much samples lean to one side: the third moment over the variance to the power 3/2.

    >>> skew([1.0, 2.0, 3.0]).item()
    0.0
    """
    x, where = along(a, axis)
    n = x.shape[where]
    found = _central(x, where, 3) / _central(x, where, 2) ** 1.5
    return found if bias or n < 3 else found * float(numpy.sqrt(n * (n - 1.0)) / (n - 2.0))


def kurtosis(a: Any, axis: int | None = 0, fisher: bool = True, bias: bool = True) -> Tensor:
    """How heavy the tails of samples are: the fourth moment over the variance squared, less 3 if `fisher`.

    >>> round(kurtosis([1.0, 2.0, 3.0, 4.0]).item(), 4)
    -1.36
    """
    x, where = along(a, axis)
    n = x.shape[where]
    found = _central(x, where, 4) / _central(x, where, 2) ** 2
    if not bias and n > 3:
        found = (found * (n * n - 1.0) - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return found - 3.0 if fisher else found


class DescribeResult(NamedTuple):
    """What a sample is like."""

    nobs: int
    minmax: tuple[Tensor, Tensor]
    mean: Tensor
    variance: Tensor
    skewness: Tensor
    kurtosis: Tensor


def describe(a: Any, axis: int | None = 0, ddof: int = 1, bias: bool = True) -> DescribeResult:
    """How many numbers a sample has, its ends, mean, variance, skewness and kurtosis.

    >>> describe([1.0, 2.0, 3.0]).variance.item()
    1.0
    """
    x, where = along(a, axis)
    n = x.shape[where]
    if n == 0:
        raise ArgumentError("nothing can be said of an empty sample")
    variance = _central(x, where, 2) * (n / (n - ddof)) if n != ddof else _central(x, where, 2) * float("nan")
    ends = ops.amin(x, where), ops.amax(x, where)
    return DescribeResult(n, ends, _mean(x, where), variance, skew(x, where, bias), kurtosis(x, where, True, bias))


def _weighted(x: Tensor, axis: int, weights: Any) -> Tensor:
    if weights is None:
        return _mean(x, axis)
    w = asarray(weights, x.dtype)
    w = w if w.ndim == x.ndim else ops.reshape(w, [-1 if i == axis else 1 for i in range(x.ndim)])
    w = ops.broadcast_to(w, x.shape)
    return ops.sum(x * w, axis) / ops.sum(w, axis)


def gmean(a: Any, axis: int | None = 0, weights: Any = None) -> Tensor:
    """The geometric mean.

    >>> round(gmean([1.0, 4.0]).item(), 4)
    2.0
    """
    x, where = along(a, axis)
    return ops.exp(_weighted(ops.log(x), where, weights))


def hmean(a: Any, axis: int | None = 0, *, weights: Any = None) -> Tensor:
    """The harmonic mean.

    >>> round(hmean([1.0, 3.0]).item(), 4)
    1.5
    """
    x, where = along(a, axis)
    return 1.0 / _weighted(1.0 / x, where, weights)


def pmean(a: Any, p: float, *, axis: int | None = 0, weights: Any = None) -> Tensor:
    """The mean of powers, as a number again; for the power 0 the geometric mean.

    >>> round(pmean([3.0, 4.0], 2).item(), 4)
    3.5355
    """
    if p == 0:
        return gmean(a, axis, weights)
    x, where = along(a, axis)
    return ops.pow(_weighted(ops.pow(x, float(p)), where, weights), 1.0 / p)


def _spread(x: Tensor, axis: int, ddof: int, keep: bool = False) -> Tensor:
    away = x - _mean(x, axis, True)
    n = x.shape[axis]
    return ops.sqrt(ops.sum(away * away, axis, keepdim=keep) / (float(n - ddof) if n != ddof else float("nan")))


def sem(a: Any, axis: int | None = 0, ddof: int = 1) -> Tensor:
    """The standard error of the mean.

    >>> round(sem([1.0, 3.0]).item(), 4)
    1.0
    """
    x, where = along(a, axis)
    return _spread(x, where, ddof) / float(numpy.sqrt(x.shape[where]))


def variation(a: Any, axis: int | None = 0, ddof: int = 0) -> Tensor:
    """The standard deviation over the mean.

    >>> variation([1.0, 3.0]).item()
    0.5
    """
    x, where = along(a, axis)
    return _spread(x, where, ddof) / _mean(x, where)


def gstd(a: Any, axis: int | None = 0, ddof: int = 1) -> Tensor:
    """The geometric standard deviation.

    >>> round(gstd([1.0, 4.0], ddof=0).item(), 4)
    2.0
    """
    x, where = along(a, axis)
    return ops.exp(_spread(ops.log(x), where, ddof))


def zmap(scores: Any, compare: Any, axis: int | None = 0, ddof: int = 0) -> Tensor:
    """How many standard deviations of `compare` numbers are away from its mean.

    >>> zmap([5.0], [1.0, 3.0]).tolist()
    [3.0]
    """
    values, sample = map(floated, together(scores, compare))
    if axis is None:
        flat = ops.reshape(sample, (-1,))
        return (values - _mean(flat, 0)) / _spread(flat, 0, ddof)
    where = axis_of(sample, axis)
    return (values - _mean(sample, where, True)) / _spread(sample, where, ddof, True)


def zscore(a: Any, axis: int | None = 0, ddof: int = 0) -> Tensor:
    """How many standard deviations numbers are away from their mean.

    >>> zscore([1.0, 3.0]).tolist()
    [-1.0, 1.0]
    """
    return zmap(a, a, axis, ddof)


def gzscore(a: Any, *, axis: int | None = 0, ddof: int = 0) -> Tensor:
    """The same of logarithms.

    >>> [round(v, 4) for v in gzscore([1.0, 4.0]).tolist()]
    [-1.0, 1.0]
    """
    return zscore(ops.log(floated(asarray(a))), axis, ddof)


# ----------------------------------------------------------------------------------------------------------- order


def iqr(x: Any, axis: int | None = None, rng: tuple[float, float] = (25, 75), scale: Any = 1.0) -> Tensor:
    """The distance between two percentiles, over `scale`, or 1.3489795 for "normal".

    >>> iqr([1.0, 2.0, 3.0, 4.0, 5.0]).item()
    2.0
    """
    a, where = along(x, axis)
    low, high = sorted(rng)
    width = 1.3489795003921634 if scale == "normal" else float(scale)
    return (percentile(a, high, axis=where) - percentile(a, low, axis=where)) / width


def median_abs_deviation(x: Any, axis: int | None = 0, scale: Any = 1.0) -> Tensor:
    """The median of how far numbers are from their median, over `scale`, or 0.6744897 for "normal".

    >>> median_abs_deviation([1.0, 2.0, 4.0]).item()
    1.0
    """
    a, where = along(x, axis)
    away = ops.abs(a - quantile(a, 0.5, axis=where, keepdims=True))
    return quantile(away, 0.5, axis=where) / (0.6744897501960817 if scale == "normal" else float(scale))


def trim_mean(a: Any, proportiontocut: float, axis: int | None = 0) -> Tensor:
    """The mean without the smallest and the largest numbers, a share of each.

    >>> trim_mean([1.0, 2.0, 3.0, 100.0], 0.25).item()
    2.5
    """
    x, where = along(a, axis)
    n = x.shape[where]
    cut = int(proportiontocut * n)
    if not 0 <= cut < n - cut:
        raise ArgumentError(f"nothing is left of a sample without twice {proportiontocut} of it")
    ordered = ops.moveaxis(sort(x, where), where, 0)[cut : n - cut]
    return _mean(ordered, 0)


def tmean(a: Any, limits: tuple[Any, Any] | None = None, inclusive: tuple[bool, bool] = (True, True)) -> Tensor:
    """The mean of numbers between limits.

    >>> tmean([1.0, 2.0, 9.0], (0, 5)).item()
    1.5
    """
    x, _ = along(a, None)
    keep = ops.ones_like(x) > 0
    low, high = limits or (None, None)
    if low is not None:
        keep = keep & (x >= low if inclusive[0] else x > low)
    if high is not None:
        keep = keep & (x <= high if inclusive[1] else x < high)
    return ops.sum(ops.where(keep, x, ops.zeros_like(x))) / ops.sum(cast(keep, x.dtype))


class ModeResult(NamedTuple):
    """The number that occurs most, and how often."""

    mode: Tensor
    count: Tensor  # type: ignore[assignment]  # SciPy's name, which tuples have too


def mode(a: Any, axis: int | None = 0, keepdims: bool = False) -> ModeResult:
    """The number that occurs most often; the smallest of several.

    >>> mode([1, 2, 2, 3]).mode.item()
    2
    """
    x = asarray(a)
    x, where = (ops.reshape(x, (-1,)), 0) if axis is None else (x, axis_of(x, axis))
    ordered = sort(x, where)
    rows = ops.moveaxis(ordered, where, -1)
    often = ops.sum(ops.cast(ops.equal(ops.expand_dims(rows, -1), ops.expand_dims(rows, -2)), "int64"), -1)
    best = ops.expand_dims(ops.argmax(often, -1), -1)
    value, count = take_along_axis(rows, best, -1), take_along_axis(often, best, -1)
    value, count = (ops.moveaxis(v, -1, where) for v in (value, count))
    return ModeResult(value, count) if keepdims else ModeResult(ops.squeeze(value, where), ops.squeeze(count, where))


def rankdata(a: Any, method: str = "average", *, axis: int | None = None) -> Tensor:
    """The place of each number in order, from 1 on; equal ones share the "average", "min", "max" or "dense" place, or
    take them as they come ("ordinal").

    >>> rankdata([10.0, 30.0, 10.0]).tolist()
    [1.5, 3.0, 1.5]
    """
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ArgumentError(f"there is no method {method!r}", hint='"average", "min", "max", "dense" or "ordinal"')
    x = asarray(a)
    if axis is None:
        return _ranks(ops.reshape(x, (-1,)), method) if x.ndim != 1 else _ranks(x, method)
    where = axis_of(x, axis)
    rows = ops.moveaxis(x, where, -1)
    flat = ops.reshape(rows, (-1, rows.shape[-1]))
    found = ops.stack([_ranks(flat[i], method) for i in range(flat.shape[0])])
    return ops.moveaxis(ops.reshape(found, rows.shape), -1, where)


def _ranks(x: Tensor, method: str) -> Tensor:
    if method == "ordinal":
        return argsort(argsort(x, kind="stable"), kind="stable") + 1
    ordered = sort(x)
    if method == "dense":
        new = ops.cast(ordered[1:] != ordered[:-1], "int64")
        place = ops.cat([ops.ones((1,), "int64"), 1 + ops.cumsum(new, 0)]) if x.shape[0] else ops.zeros((0,), "int64")
        return ops.gather(place, searchsorted(ordered, x), 0)
    first = searchsorted(ordered, x, side="left") + 1
    last = searchsorted(ordered, x, side="right")
    if method == "average":
        return ops.cast(first + last, "float64") * 0.5
    return first if method == "min" else last


# ------------------------------------------------------------------------------------------------------- distances


def entropy(pk: Any, qk: Any = None, base: float | None = None, axis: int = 0) -> Tensor:
    """The entropy of probabilities, which are made to sum to 1; with `qk` what is lost by taking one for the other.

    >>> round(entropy([1.0, 1.0], base=2).item(), 4)
    1.0
    """
    p = floated(asarray(pk))
    p = p / ops.sum(p, axis, keepdim=True)
    if qk is None:
        out = ops.sum(entr(p), axis)
    else:
        q = floated(asarray(qk))
        out = ops.sum(rel_entr(p, q / ops.sum(q, axis, keepdim=True)), axis)
    return out if base is None else out / float(numpy.log(base))


def _shares(u: Any, v: Any, u_weights: Any, v_weights: Any) -> tuple[Tensor, Tensor]:
    """The distances between all numbers of two samples in order, and how much more of one lies below each."""
    x, y = map(floated, together(u, v))
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeError("samples are vectors", given={"u": x.shape, "v": y.shape})
    every = sort(ops.cat([x, y], 0))
    parts = []
    for sample, given in ((x, u_weights), (y, v_weights)):
        order = argsort(sample)
        weights = ops.ones_like(sample) if given is None else asarray(given, sample.dtype)
        total = ops.cat([ops.zeros((1,), sample.dtype), ops.cumsum(ops.gather(weights, order, 0), 0)], 0)
        below = searchsorted(ops.gather(sample, order, 0), every[:-1], side="right")
        parts.append(ops.gather(total, below, 0) / total[-1])
    return every[1:] - every[:-1], parts[0] - parts[1]


def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Tensor:
    """How much has to be moved how far to make one sample of the other.

    >>> wasserstein_distance([0.0, 1.0], [1.0, 2.0]).item()
    1.0
    """
    gaps, apart = _shares(u_values, v_values, u_weights, v_weights)
    return ops.sum(ops.abs(apart) * gaps)


def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Tensor:
    """The square root of twice the integral of the squared difference of both shares.

    >>> round(energy_distance([0.0], [2.0]).item(), 4)
    2.0
    """
    gaps, apart = _shares(u_values, v_values, u_weights, v_weights)
    return ops.sqrt(2.0 * ops.sum(apart * apart * gaps))
