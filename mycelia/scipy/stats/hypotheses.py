"""What goes with what, and how surely: correlations, straight lines, differences of means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.products import together
from mycelia.ops.arguments import axis_of, floated
from mycelia.scipy.special.gammas import betainc
from mycelia.scipy.special.normal import ndtr
from mycelia.scipy.special.shares import chdtrc, fdtrc, stdtr
from mycelia.scipy.stats.measures import along, kurtosis, rankdata, skew

__all__ = [
    "chisquare", "f_oneway", "jarque_bera", "kendalltau", "kurtosistest", "linregress", "normaltest", "pearsonr",
    "power_divergence", "skewtest", "spearmanr", "theilslopes", "ttest_1samp", "ttest_ind", "ttest_rel",
]  # fmt: skip

_SIDES = ("two-sided", "less", "greater")


class TestResult(NamedTuple):
    """What was measured, and how probable something as far away is by chance."""

    statistic: Tensor
    pvalue: Tensor


def _two(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    a, b = map(floated, together(x, y))
    if a.ndim != 1 or a.shape != b.shape or a.shape[0] < 2:
        raise ShapeError("two vectors of one length, 2 or more, are expected", given={"x": a.shape, "y": b.shape})
    return a, b


def _tail(alternative: str, low: Any, high: Any) -> Tensor:
    """How probable it is, from the shares below and above."""
    if alternative not in _SIDES:
        raise ArgumentError(f"there is no alternative {alternative!r}", hint='"two-sided", "less" or "greater"')
    if alternative == "two-sided":
        return 2.0 * ops.minimum(low, high)
    return low if alternative == "less" else high


def _student(t: Tensor, df: Any, alternative: str) -> Tensor:
    return _tail(alternative, stdtr(df, t), stdtr(df, -t))


def _correlation(a: Tensor, b: Tensor) -> Tensor:
    x, y = a - ops.mean(a), b - ops.mean(b)
    r = ops.sum(x * y) / ops.sqrt(ops.sum(x * x) * ops.sum(y * y))
    return ops.clip(r, -1.0, 1.0)


def pearsonr(x: Any, y: Any, *, alternative: str = "two-sided") -> TestResult:
    """How two samples go together, from -1 to 1.

    >>> round(pearsonr([1.0, 2.0, 3.0], [2.0, 4.0, 7.0]).statistic.item(), 4)
    0.9934
    """
    a, b = _two(x, y)
    r, n = _correlation(a, b), a.shape[0]
    if n == 2:
        return TestResult(ops.round(r), ops.ones_like(r))
    half = 0.5 * n - 1.0
    low, high = (betainc(half, half, 0.5 * (1.0 + s * r)) for s in (1.0, -1.0))
    return TestResult(r, cast(_tail(alternative, low, high), r.dtype))


def spearmanr(a: Any, b: Any, *, alternative: str = "two-sided") -> TestResult:
    """How the orders of two samples go together.

    >>> spearmanr([1.0, 2.0, 3.0], [2.0, 4.0, 40.0]).statistic.item()
    1.0
    """
    x, y = _two(a, b)
    r, n = _correlation(rankdata(x), rankdata(y)), x.shape[0]
    free = n - 2
    size = ops.maximum((1.0 + r) * (1.0 - r), 1e-300 * ops.ones_like(r))
    return TestResult(r, _student(r * ops.sqrt(free / size), float(free), alternative))


def kendalltau(x: Any, y: Any, *, alternative: str = "two-sided") -> TestResult:
    """How many pairs are in the same order in both samples, less those that are not (tau b); by a normal distribution.

    >>> kendalltau([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]).statistic.item() > 0.3
    True
    """
    a, b = _two(x, y)
    n = a.shape[0]
    up, over = (ops.sign(ops.expand_dims(v, 1) - ops.expand_dims(v, 0)) for v in (a, b))
    total, first, second = (ops.sum(u * v) * 0.5 for u, v in ((up, over), (up, up), (over, over)))
    tau = total / ops.sqrt(first * second)
    every = 0.5 * n * (n - 1)
    ties = [_ties(v) for v in (a, b)]
    pairs = every * (2.0 * n + 5.0) * 2.0
    variance = (pairs - ties[0][2] - ties[1][2]) / 18.0 + 2.0 * ties[0][0] * ties[1][0] / (n * (n - 1.0))
    variance = variance + ties[0][1] * ties[1][1] / (9.0 * n * (n - 1.0) * max(n - 2.0, 1.0))
    z = total / ops.sqrt(variance)
    return TestResult(tau, cast(_tail(alternative, ndtr(z), ndtr(-z)), tau.dtype))


def _ties(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sums over groups of equal numbers, of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5)."""
    t = ops.sum(ops.cast(ops.equal(ops.expand_dims(x, 1), ops.expand_dims(x, 0)), "float64"), 1)  # once for each
    return ops.sum(t - 1.0) * 0.5, ops.sum((t - 1.0) * (t - 2.0)), ops.sum((t - 1.0) * (2.0 * t + 5.0))


class LinregressResult(NamedTuple):
    """A straight line, how well it fits, and how surely."""

    slope: Tensor
    intercept: Tensor
    rvalue: Tensor
    pvalue: Tensor
    stderr: Tensor
    intercept_stderr: Tensor


def linregress(x: Any, y: Any, alternative: str = "two-sided") -> LinregressResult:
    """The straight line that is nearest to points, by least squares.

    >>> linregress([0.0, 1.0, 2.0], [1.0, 3.0, 5.0]).slope.item()
    2.0
    """
    a, b = _two(x, y)
    n = a.shape[0]
    mean, level = ops.mean(a), ops.mean(b)
    u, v = a - mean, b - level
    xx, yy, xy = ops.mean(u * u), ops.mean(v * v), ops.mean(u * v)
    r = ops.clip(xy / ops.sqrt(xx * yy), -1.0, 1.0)
    slope = xy / xx
    free = n - 2
    if free == 0:
        nothing = ops.zeros_like(r)
        return LinregressResult(slope, level - slope * mean, r, nothing + 1.0, nothing, nothing)
    rest = ops.maximum((1.0 - r) * (1.0 + r), 1e-300 * ops.ones_like(r))
    t = r * ops.sqrt(free / rest)
    error = ops.sqrt((1.0 - r * r) * yy / xx / free)
    return LinregressResult(
        slope, level - slope * mean, r, cast(_student(t, float(free), alternative), r.dtype), error,
        error * ops.sqrt(xx + mean * mean),
    )  # fmt: skip


class TheilslopesResult(NamedTuple):
    """A straight line by medians, and the ends between which its slope is to be expected."""

    slope: Tensor
    intercept: Tensor
    low_slope: Tensor
    high_slope: Tensor


def theilslopes(y: Any, x: Any = None, alpha: float = 0.95) -> TheilslopesResult:
    """A straight line whose slope is the median of those between all points.

    >>> theilslopes([0.0, 1.0, 2.0, 30.0]).slope.item()
    5.5
    """
    b = floated(asarray(y))
    a = ops.cast(ops.arange(b.shape[0]), b.dtype) if x is None else asarray(x, b.dtype)
    a, b = _two(a, b)
    first, second = numpy.triu_indices(a.shape[0], 1)
    run = ops.gather(a, Tensor(second), 0) - ops.gather(a, Tensor(first), 0)
    rise = ops.gather(b, Tensor(second), 0) - ops.gather(b, Tensor(first), 0)
    keep = numpy.flatnonzero(run.numbers() != 0)
    slopes = ops.gather(rise, Tensor(keep), 0) / ops.gather(run, Tensor(keep), 0)
    ordered = ops.sort(slopes)[0]
    n = a.shape[0]
    middle = _median(ordered)
    level = _median(ops.sort(b)[0]) - middle * _median(ops.sort(a)[0])
    share = 1.0 - alpha if alpha > 0.5 else alpha
    z = -float(_quantile(share / 2.0))
    repeated = [numpy.unique(v.numbers(), return_counts=True)[1] for v in (a, b)]
    variance = (n * (n - 1) * (2 * n + 5) - sum(float((t * (t - 1) * (2 * t + 5)).sum()) for t in repeated)) / 18.0
    width = z * numpy.sqrt(variance)
    count = ordered.shape[0]
    high = min(int(numpy.round((count + width) / 2.0)), count - 1)
    low = max(int(numpy.round((count - width) / 2.0)) - 1, 0)
    return TheilslopesResult(middle, level, ordered[low], ordered[high])


def _median(ordered: Tensor) -> Tensor:
    n = ordered.shape[0]
    return (ordered[(n - 1) // 2] + ordered[n // 2]) * 0.5


def _quantile(share: float) -> float:
    from_below = Tensor(share, "float64")
    return float(ops.mul(ops.erfinv(2.0 * from_below - 1.0), 2.0**0.5).item())


# ---------------------------------------------------------------------------------------------------------- of means


class TtestResult(NamedTuple):
    """Student's t, how probable something as far away is by chance, and the degrees of freedom."""

    statistic: Tensor
    pvalue: Tensor
    df: Tensor


def _level(a: Any, axis: int | None) -> tuple[Tensor, Tensor, int]:
    x, where = along(a, axis)
    n = x.shape[where]
    mean = ops.sum(x, where, keepdim=True) / float(n)
    away = x - mean
    return ops.squeeze(mean, where), ops.sum(away * away, where) / float(n - 1), n


def ttest_1samp(a: Any, popmean: Any, axis: int | None = 0, *, alternative: str = "two-sided") -> TtestResult:
    """Whether the mean of a sample is another than the one expected.

    >>> round(ttest_1samp([1.0, 2.0, 3.0], 1.0).statistic.item(), 4)
    1.7321
    """
    mean, variance, n = _level(a, axis)
    t = (mean - popmean) / ops.sqrt(variance / n)
    df = ops.zeros_like(t) + (n - 1.0)
    return TtestResult(t, cast(_student(t, df, alternative), t.dtype), df)


def ttest_rel(a: Any, b: Any, axis: int | None = 0, *, alternative: str = "two-sided") -> TtestResult:
    """Whether pairs differ on average.

    >>> round(ttest_rel([1.0, 2.0, 3.0], [0.0, 1.0, 1.0]).statistic.item(), 4)
    4.0
    """
    x, y = map(floated, together(a, b))
    return ttest_1samp(x - y, 0.0, axis, alternative=alternative)


def ttest_ind(
    a: Any, b: Any, *, axis: int | None = 0, equal_var: bool = True, alternative: str = "two-sided"
) -> TtestResult:
    """Whether the means of two samples differ; with `equal_var=False` those of samples of different spread (Welch).

    >>> round(ttest_ind([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]).statistic.item(), 4)
    -1.2247
    """
    x, y = map(floated, together(a, b))
    (m1, v1, n1), (m2, v2, n2) = _level(x, axis), _level(y, axis)
    if equal_var:
        free: Any = ops.zeros_like(v1) + (n1 + n2 - 2.0)
        square = ((n1 - 1.0) * v1 + (n2 - 1.0) * v2) / free * (1.0 / n1 + 1.0 / n2)
    else:
        a1, a2 = v1 / n1, v2 / n2
        square = a1 + a2
        free = square * square / (a1 * a1 / (n1 - 1.0) + a2 * a2 / (n2 - 1.0))
    t = (m1 - m2) / ops.sqrt(square)
    return TtestResult(t, cast(_student(t, free, alternative), t.dtype), free)


def f_oneway(*samples: Any, axis: int = 0) -> TestResult:
    """Whether the means of several samples differ.

    >>> round(f_oneway([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]).statistic.item(), 4)
    1.5
    """
    if len(samples) < 2:
        raise ArgumentError("two samples at least are compared", given={"samples": len(samples)})
    parts = [floated(x) for x in together(*samples)]
    where = axis_of(parts[0], axis)
    every = ops.cat(parts, where)
    n = every.shape[where]
    whole = ops.sum(every, where, keepdim=True) / float(n)
    between = sum(
        (ops.sum(x, where) / float(x.shape[where]) - ops.squeeze(whole, where)) ** 2 * float(x.shape[where])
        for x in parts
    )
    away = every - whole
    total = ops.sum(away * away, where)
    first, second = len(parts) - 1.0, float(n - len(parts))
    found = (between / first) / ((total - between) / second)
    return TestResult(found, cast(fdtrc(first, second, found), found.dtype))


# ------------------------------------------------------------------------------------------------------ of shapes


def chisquare(f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: int | None = 0) -> TestResult:
    """Whether counts are other than those expected, or than equal ones.

    >>> chisquare([10.0, 20.0]).statistic.item() > 3.3
    True
    """
    return power_divergence(f_obs, f_exp, ddof, axis, "pearson")


_POWERS = {
    "pearson": 1.0, "log-likelihood": 0.0, "freeman-tukey": -0.5, "mod-log-likelihood": -1.0, "neyman": -2.0,
    "cressie-read": 2 / 3,
}  # fmt: skip


def power_divergence(
    f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: int | None = 0, lambda_: Any = None
) -> TestResult:
    """Whether counts are other than those expected, by a measure of Cressie and Read, which is named or a number.

    >>> power_divergence([10.0, 20.0], lambda_="log-likelihood").statistic.item() > 3.3
    True
    """
    x, where = along(f_obs, axis)
    n = x.shape[where]
    wanted = ops.mean(x, where, True) if f_exp is None else cast(along(f_exp, axis)[0], x.dtype)
    if isinstance(lambda_, str) and lambda_ not in _POWERS:
        raise ArgumentError(f"there is no measure {lambda_!r}", hint=", ".join(_POWERS))
    power = _POWERS[lambda_] if isinstance(lambda_, str) else 1.0 if lambda_ is None else float(lambda_)
    wide = ops.broadcast_to(wanted, x.shape)
    if power == 1:
        terms = (x - wide) ** 2 / wide
    elif power == 0:
        terms = 2.0 * ops.xlogy(x, x / wide)
    elif power == -1:
        terms = 2.0 * ops.xlogy(wide, wide / x)
    else:
        terms = x * ((x / wide) ** power - 1.0) / (0.5 * power * (power + 1.0))
    found = ops.sum(terms, where)
    return TestResult(found, cast(chdtrc(float(n - 1 - ddof), found), found.dtype))


def jarque_bera(x: Any, *, axis: int | None = None) -> TestResult:
    """Whether skewness and kurtosis are those of a normal distribution.

    >>> jarque_bera([1.0, 2.0, 3.0, 4.0]).pvalue.item() > 0.5
    True
    """
    a, where = along(x, axis)
    found = a.shape[where] / 6.0 * (skew(a, where) ** 2 + kurtosis(a, where) ** 2 * 0.25)
    return TestResult(found, cast(chdtrc(2.0, found), found.dtype))


def skewtest(a: Any, axis: int | None = 0, *, alternative: str = "two-sided") -> TestResult:
    """Whether the skewness is that of a normal distribution (D'Agostino).

    >>> skewtest([float(i * i) for i in range(9)]).statistic.item() > 1
    True
    """
    x, where = along(a, axis)
    n = float(x.shape[where])
    if n < 8:
        raise ArgumentError(f"a sample of 8 numbers at least is needed, not of {int(n)}")
    y = skew(x, where) * float(numpy.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2))))
    beta2 = 3.0 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    w2 = -1 + numpy.sqrt(2 * (beta2 - 1))
    delta, alpha = 1 / numpy.sqrt(0.5 * numpy.log(w2)), numpy.sqrt(2.0 / (w2 - 1))
    ratio = y / float(alpha)
    z = float(delta) * ops.log(ratio + ops.sqrt(ratio * ratio + 1.0))
    return TestResult(z, cast(_tail(alternative, ndtr(z), ndtr(-z)), z.dtype))


def kurtosistest(a: Any, axis: int | None = 0, *, alternative: str = "two-sided") -> TestResult:
    """Whether the kurtosis is that of a normal distribution (Anscombe and Glynn).

    >>> kurtosistest([float(i) for i in range(30)]).statistic.item() < 0
    True
    """
    x, where = along(a, axis)
    n = float(x.shape[where])
    if n < 5:
        raise ArgumentError(f"a sample of 5 numbers at least is needed, not of {int(n)}")
    expected = 3.0 * (n - 1) / (n + 1)
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1.0) * (n + 3) * (n + 5))
    y = (kurtosis(x, where, fisher=False) - expected) / float(numpy.sqrt(variance))
    third = (
        6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * numpy.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    )
    size = 6.0 + 8.0 / third * (2.0 / third + numpy.sqrt(1 + 4.0 / third**2))
    below = float(1 - 2 / (9.0 * size))
    bottom = 1.0 + y * float(numpy.sqrt(2 / (size - 4.0)))
    term = ops.sign(bottom) * ops.pow((1 - 2.0 / float(size)) / ops.abs(bottom), 1 / 3.0)
    z = (below - term) / float(numpy.sqrt(2 / (9.0 * size)))
    return TestResult(z, cast(_tail(alternative, ndtr(z), ndtr(-z)), z.dtype))


def normaltest(a: Any, axis: int | None = 0) -> TestResult:
    """Whether a sample is of a normal distribution, by its skewness and its kurtosis.

    >>> normaltest([float(i * i) for i in range(30)]).statistic.item() > 0
    True
    """
    found = skewtest(a, axis).statistic ** 2 + kurtosistest(a, axis).statistic ** 2
    return TestResult(found, cast(chdtrc(2.0, found), found.dtype))
