"""Distributions of numbers, one rule for each question."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from math import inf, nan, pi
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.ops.incomplete import beta_logarithm, both
from mycelia.ops.numbers import digamma, lgamma
from mycelia.scipy.special.elementary import xlog1py, xlogy
from mycelia.scipy.special.gammas import beta_quantile, betainc, betaincc, gamma_quantile, gammainc, gammaincc
from mycelia.scipy.special.gammas import gamma as gamma_function
from mycelia.scipy.special.normal import log_ndtr, ndtr, ndtri
from mycelia.scipy.special.shares import stdtr, student_quantile
from mycelia.scipy.stats.families import Family

__all__ = [
    "arcsine", "beta", "cauchy", "chi", "chi2", "expon", "f", "gamma", "gumbel_l", "gumbel_r", "halfcauchy", "halfnorm",
    "hypsecant", "invgamma", "laplace", "logistic", "lognorm", "loguniform", "maxwell", "norm", "pareto",
    "powerlaw", "rayleigh", "reciprocal", "t", "triang", "truncexpon", "truncnorm", "uniform", "weibull_max",
    "weibull_min",
]  # fmt: skip

_REAL, _POSITIVE, _UNIT = ((lambda *s, e=e: e) for e in ((-inf, inf), (0.0, inf), (0.0, 1.0)))
_EULER = float(numpy.euler_gamma)
_ZETA3 = 1.2020569031595942


def _normal_at(low: Tensor, high: Tensor) -> Tensor:
    lower = low <= high
    size = ndtri(ops.where(lower, low, high))
    return ops.where(lower, size, -size)


def _if(condition: Tensor, value: Any, other: float) -> Tensor:
    """A moment where there is one; what stands for it elsewhere."""
    return ops.where(condition, value, ops.zeros_like(value) + other)


def _apart(x: Tensor, numbers: tuple[float, ...]) -> Tensor:
    """A number that is none of these, so that nothing is divided by 0 where nobody looks."""
    for n in numbers:
        x = ops.where(ops.equal(x, n), x + 0.5, x)
    return x


norm = Family(
    "norm", (), _REAL,
    log=lambda x: -0.5 * x * x - 0.5 * python.log(2 * pi),
    low=ndtr, high=lambda x: ndtr(-x), at=_normal_at, moments=lambda: (0.0, 1.0, 0.0, 0.0),
    entropy_of=lambda: 0.5 * python.log(2 * pi * python.e), log_low=log_ndtr, log_high=lambda x: log_ndtr(-x),
)  # fmt: skip
uniform = Family(
    "uniform", (), _UNIT,
    log=lambda x: 0.0 * x, low=lambda x: x, high=lambda x: 1.0 - x, at=lambda p, q: p,
    moments=lambda: (0.5, 1 / 12, 0.0, -1.2), entropy_of=lambda: 0.0,
)  # fmt: skip
expon = Family(
    "expon", (), _POSITIVE,
    log=lambda x: -x, low=lambda x: -ops.expm1(-x), high=lambda x: ops.exp(-x),
    at=lambda p, q: ops.where(p < q, -ops.log1p(-p), -ops.log(q)),
    moments=lambda: (1.0, 1.0, 2.0, 6.0), entropy_of=lambda: 1.0, log_high=lambda x: -x,
)  # fmt: skip
gamma = Family(
    "gamma", ("a",), _POSITIVE,
    log=lambda x, a: xlogy(a - 1.0, x) - x - lgamma(a),
    low=lambda x, a: gammainc(a, x), high=lambda x, a: gammaincc(a, x), at=lambda p, q, a: gamma_quantile(a, p, q),
    moments=lambda a: (a, a, 2.0 / ops.sqrt(a), 6.0 / a),
    entropy_of=lambda a: a + lgamma(a) + (1.0 - a) * digamma(a),
)  # fmt: skip
chi2 = Family(
    "chi2", ("df",), _POSITIVE,
    log=lambda x, n: xlogy(0.5 * n - 1.0, x) - 0.5 * x - lgamma(0.5 * n) - 0.5 * python.log(2.0) * n,
    low=lambda x, n: gammainc(0.5 * n, 0.5 * x), high=lambda x, n: gammaincc(0.5 * n, 0.5 * x),
    at=lambda p, q, n: 2.0 * gamma_quantile(0.5 * n, p, q),
    moments=lambda n: (n, 2.0 * n, ops.sqrt(8.0 / n), 12.0 / n),
    entropy_of=lambda n: 0.5 * n + python.log(2.0) + lgamma(0.5 * n) + (1.0 - 0.5 * n) * digamma(0.5 * n),
)  # fmt: skip


def _chi_moments(n: Tensor) -> tuple[Any, ...]:
    mean = python.sqrt(2.0) * ops.exp(lgamma(0.5 * (n + 1.0)) - lgamma(0.5 * n))
    variance = n - mean * mean
    skew = (2.0 * mean**3 + mean * (1.0 - 2.0 * n)) / variance**1.5
    kurtosis = (2.0 * n * (1.0 - n) - 6.0 * mean**4 + 4.0 * mean**2 * (2.0 * n - 1.0)) / variance**2
    return mean, variance, skew, kurtosis


chi = Family(
    "chi", ("df",), _POSITIVE,
    log=lambda x, n: xlogy(n - 1.0, x) - 0.5 * x * x - lgamma(0.5 * n) - (0.5 * n - 1.0) * python.log(2.0),
    low=lambda x, n: gammainc(0.5 * n, 0.5 * x * x), high=lambda x, n: gammaincc(0.5 * n, 0.5 * x * x),
    at=lambda p, q, n: ops.sqrt(2.0 * gamma_quantile(0.5 * n, p, q)), moments=_chi_moments,
    entropy_of=lambda n: lgamma(0.5 * n) + 0.5 * (n - python.log(2.0) - (n - 1.0) * digamma(0.5 * n)),
)  # fmt: skip
invgamma = Family(
    "invgamma", ("a",), _POSITIVE,
    log=lambda x, a: -(a + 1.0) * ops.log(x) - lgamma(a) - 1.0 / x,
    low=lambda x, a: gammaincc(a, 1.0 / x), high=lambda x, a: gammainc(a, 1.0 / x),
    at=lambda p, q, a: 1.0 / gamma_quantile(a, q, p),
    moments=lambda a: (
        _if(a > 1, 1.0 / (_apart(a, (1.0,)) - 1.0), inf),
        _if(a > 2, 1.0 / ((_apart(a, (1.0,)) - 1.0) ** 2 * (_apart(a, (2.0,)) - 2.0)), inf),
        _if(a > 3, 4.0 * ops.sqrt(ops.maximum(a - 2.0, ops.ones_like(a))) / (_apart(a, (3.0,)) - 3.0), nan),
        _if(a > 4, 6.0 * (5.0 * a - 11.0) / ((_apart(a, (3.0,)) - 3.0) * (_apart(a, (4.0,)) - 4.0)), nan),
    ),
    entropy_of=lambda a: a + lgamma(a) - (1.0 + a) * digamma(a),
)  # fmt: skip


def _beta_moments(a: Tensor, b: Tensor) -> tuple[Any, ...]:
    n = a + b
    skew = 2.0 * (b - a) * ops.sqrt(n + 1.0) / ((n + 2.0) * ops.sqrt(a * b))
    kurtosis = 6.0 * ((a - b) ** 2 * (n + 1.0) - a * b * (n + 2.0)) / (a * b * (n + 2.0) * (n + 3.0))
    return a / n, a * b / (n * n * (n + 1.0)), skew, kurtosis


beta = Family(
    "beta", ("a", "b"), _UNIT,
    log=lambda x, a, b: xlogy(a - 1.0, x) + xlog1py(b - 1.0, -x) - beta_logarithm(a, b),
    low=lambda x, a, b: betainc(a, b, x), high=lambda x, a, b: betaincc(a, b, x),
    at=lambda p, q, a, b: beta_quantile(a, b, p, q)[0], moments=_beta_moments,
    entropy_of=lambda a, b: beta_logarithm(a, b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b)
    + (a + b - 2.0) * digamma(a + b),
)  # fmt: skip
t = Family(
    "t", ("df",), _REAL,
    log=lambda x, n: -beta_logarithm(0.5 * n, 0.5 * ops.ones_like(n)) - 0.5 * ops.log(n)
    - 0.5 * (n + 1.0) * ops.log1p(x * x / n),
    low=lambda x, n: stdtr(n, x), high=lambda x, n: stdtr(n, -x), at=lambda p, q, n: student_quantile(n, p, q),
    moments=lambda n: (
        _if(n > 1, 0.0 * n, inf), _if(n > 2, n / (_apart(n, (2.0,)) - 2.0), inf) + _if(n > 1, 0.0 * n, nan),
        _if(n > 3, 0.0 * n, nan), _if(n > 4, 6.0 / (_apart(n, (4.0,)) - 4.0), inf) + _if(n > 2, 0.0 * n, nan),
    ),
    entropy_of=lambda n: 0.5 * (n + 1.0) * (digamma(0.5 * (n + 1.0)) - digamma(0.5 * n)) + 0.5 * ops.log(n)
    + beta_logarithm(0.5 * n, 0.5 * ops.ones_like(n)),
)  # fmt: skip


def _f_moments(n: Tensor, d: Tensor) -> tuple[Any, ...]:
    m, a, b, c = (_apart(d, (k,)) - k for k in (2.0, 4.0, 6.0, 8.0))
    size = ops.maximum(n * (n + m), 1e-300 * ops.ones_like(n))
    skew = (2.0 * n + m) / b * ops.sqrt(ops.maximum(8.0 * a / size, 1e-300 * ops.ones_like(n)))
    kurtosis = 12.0 * (n * (5.0 * d - 22.0) * (n + m) + a * m * m) / (n * b * c * (n + m))
    variance = 2.0 * d * d * (n + m) / (n * m * m * a)
    return _if(d > 2, d / m, inf), _if(d > 4, variance, inf), _if(d > 6, skew, nan), _if(d > 8, kurtosis, nan)


f = Family(
    "f", ("dfn", "dfd"), _POSITIVE,
    log=lambda x, n, d: 0.5 * n * ops.log(n) + 0.5 * d * ops.log(d) + xlogy(0.5 * n - 1.0, x)
    - 0.5 * (n + d) * ops.log(d + n * x) - beta_logarithm(0.5 * n, 0.5 * d),
    low=lambda x, n, d: betainc(0.5 * n, 0.5 * d, n * x / (d + n * x)),
    high=lambda x, n, d: betainc(0.5 * d, 0.5 * n, d / (d + n * x)),
    at=lambda p, q, n, d: (lambda both_: both_[0] * d / (both_[1] * n))(beta_quantile(0.5 * n, 0.5 * d, p, q)),
    moments=_f_moments,
    entropy_of=lambda n, d: beta_logarithm(0.5 * n, 0.5 * d) + (1.0 - 0.5 * n) * digamma(0.5 * n)
    - (1.0 + 0.5 * d) * digamma(0.5 * d) + 0.5 * (n + d) * digamma(0.5 * (n + d)) + ops.log(d / n),
)  # fmt: skip


def _turned(p: Tensor, q: Tensor) -> Tensor:
    """The tangent of pi (p - 1/2), which is far away near 0 and 1."""
    lower = p < q
    near = ops.where(lower, p, q)
    size = 1.0 / ops.tan(pi * near)
    return ops.where(lower, -size, size)


def _arc_share(x: Tensor) -> Tensor:
    """The share of Cauchy's distribution below x, also where it is small."""
    return ops.where(x < 0, ops.atan2(ops.ones_like(x), -x) / pi, 0.5 + ops.atan(x) / pi)


cauchy = Family(
    "cauchy", (), _REAL,
    log=lambda x: -ops.log1p(x * x) - python.log(pi), low=_arc_share, high=lambda x: _arc_share(-x), at=_turned,
    moments=lambda: (nan, nan, nan, nan), entropy_of=lambda: python.log(4 * pi),
)  # fmt: skip
halfcauchy = Family(
    "halfcauchy", (), _POSITIVE,
    log=lambda x: -ops.log1p(x * x) + python.log(2.0 / pi), low=lambda x: ops.atan(x) * (2.0 / pi),
    high=lambda x: ops.atan2(ops.ones_like(x), x) * (2.0 / pi),
    at=lambda p, q: ops.where(p < q, ops.tan(0.5 * pi * p), 1.0 / ops.tan(0.5 * pi * q)),
    moments=lambda: (inf, inf, nan, nan), entropy_of=lambda: python.log(2 * pi),
)  # fmt: skip
laplace = Family(
    "laplace", (), _REAL,
    log=lambda x: -ops.abs(x) - python.log(2.0),
    low=lambda x: ops.where(x > 0, 1.0 - 0.5 * ops.exp(-ops.abs(x)), 0.5 * ops.exp(-ops.abs(x))),
    high=lambda x: ops.where(x > 0, 0.5 * ops.exp(-ops.abs(x)), 1.0 - 0.5 * ops.exp(-ops.abs(x))),
    at=lambda p, q: ops.where(p < q, ops.log(2.0 * p), -ops.log(2.0 * q)),
    moments=lambda: (0.0, 2.0, 0.0, 3.0), entropy_of=lambda: python.log(2 * python.e),
)  # fmt: skip
logistic = Family(
    "logistic", (), _REAL,
    log=lambda x: -ops.abs(x) - 2.0 * ops.log1p(ops.exp(-ops.abs(x))),
    low=ops.sigmoid, high=lambda x: ops.sigmoid(-x), at=lambda p, q: ops.log(p) - ops.log(q),
    moments=lambda: (0.0, pi * pi / 3, 0.0, 1.2), entropy_of=lambda: 2.0,
)  # fmt: skip
hypsecant = Family(
    "hypsecant", (), _REAL,
    log=lambda x: -ops.abs(x) - ops.log1p(ops.exp(-2.0 * ops.abs(x))) + python.log(2.0 / pi),
    low=lambda x: 2.0 / pi * ops.atan(ops.exp(x)), high=lambda x: 2.0 / pi * ops.atan(ops.exp(-x)),
    at=lambda p, q: ops.where(p < q, ops.log(ops.tan(0.5 * pi * p)), -ops.log(ops.tan(0.5 * pi * q))),
    moments=lambda: (0.0, pi * pi / 4, 0.0, 2.0), entropy_of=lambda: python.log(2 * pi),
)  # fmt: skip


def _lognorm_moments(s: Tensor) -> tuple[Any, ...]:
    w = ops.exp(s * s)
    less = ops.expm1(s * s)
    return ops.sqrt(w), w * less, (w + 2.0) * ops.sqrt(less), w**4 + 2.0 * w**3 + 3.0 * w * w - 6.0


lognorm = Family(
    "lognorm", ("s",), _POSITIVE,
    log=lambda x, s: -0.5 * (ops.log(x) / s) ** 2 - ops.log(s * x) - 0.5 * python.log(2 * pi),
    low=lambda x, s: ndtr(ops.log(x) / s), high=lambda x, s: ndtr(-ops.log(x) / s),
    at=lambda p, q, s: ops.exp(s * _normal_at(p, q)), moments=_lognorm_moments,
    entropy_of=lambda s: 0.5 * python.log(2 * pi * python.e) + ops.log(s),
    log_low=lambda x, s: log_ndtr(ops.log(x) / s), log_high=lambda x, s: log_ndtr(-ops.log(x) / s),
)  # fmt: skip
halfnorm = Family(
    "halfnorm", (), _POSITIVE,
    log=lambda x: -0.5 * x * x + 0.5 * python.log(2.0 / pi), low=lambda x: ops.erf(x * python.sqrt(0.5)),
    high=lambda x: ops.erfc(x * python.sqrt(0.5)), at=lambda p, q: -ndtri(0.5 * q),
    moments=lambda: (
        python.sqrt(2 / pi), 1 - 2 / pi, python.sqrt(2) * (4 - pi) / (pi - 2) ** 1.5, 8 * (pi - 3) / (pi - 2) ** 2,
    ),
    entropy_of=lambda: 0.5 * python.log(pi / 2) + 0.5,
)  # fmt: skip
rayleigh = Family(
    "rayleigh", (), _POSITIVE,
    log=lambda x: ops.log(x) - 0.5 * x * x, low=lambda x: -ops.expm1(-0.5 * x * x),
    high=lambda x: ops.exp(-0.5 * x * x),
    at=lambda p, q: ops.sqrt(-2.0 * ops.where(p < q, ops.log1p(-p), ops.log(q))),
    moments=lambda: (
        python.sqrt(pi / 2), 2 - pi / 2, 2 * (pi - 3) * python.sqrt(pi) / (4 - pi) ** 1.5,
        6 * pi / (4 - pi) - 16 / (4 - pi) ** 2,
    ),
    entropy_of=lambda: 1 + _EULER / 2 - 0.5 * python.log(2.0), log_high=lambda x: -0.5 * x * x,
)  # fmt: skip
maxwell = Family(
    "maxwell", (), _POSITIVE,
    log=lambda x: 0.5 * python.log(2 / pi) + 2.0 * ops.log(x) - 0.5 * x * x,
    low=lambda x: gammainc(1.5, 0.5 * x * x), high=lambda x: gammaincc(1.5, 0.5 * x * x),
    at=lambda p, q: ops.sqrt(2.0 * gamma_quantile(1.5 * ops.ones_like(p), p, q)),
    moments=lambda: (
        2 * python.sqrt(2 / pi), 3 - 8 / pi, python.sqrt(2) * (32 - 10 * pi) / (3 * pi - 8) ** 1.5,
        (-12 * pi * pi + 160 * pi - 384) / (3 * pi - 8) ** 2,
    ),
    entropy_of=lambda: _EULER + 0.5 * python.log(2 * pi) - 0.5,
)  # fmt: skip


def _pareto_moments(b: Tensor) -> tuple[Any, ...]:
    one, two, three, four = (_apart(b, (k,)) - k for k in (1.0, 2.0, 3.0, 4.0))
    skew = 2.0 * (b + 1.0) / three * ops.sqrt(ops.maximum(two / b, 1e-300 * ops.ones_like(b)))
    kurtosis = 6.0 * (b**3 + b**2 - 6.0 * b - 2.0) / (b * three * four)
    return (
        _if(b > 1, b / one, inf), _if(b > 2, b / (two * one * one), inf), _if(b > 3, skew, nan),
        _if(b > 4, kurtosis, nan),
    )  # fmt: skip


pareto = Family(
    "pareto", ("b",), lambda *s: (1.0, inf),
    log=lambda x, b: ops.log(b) - (b + 1.0) * ops.log(x), low=lambda x, b: -ops.expm1(-b * ops.log(x)),
    high=lambda x, b: ops.exp(-b * ops.log(x)),
    at=lambda p, q, b: ops.exp(-ops.where(p < q, ops.log1p(-p), ops.log(q)) / b), moments=_pareto_moments,
    entropy_of=lambda b: 1.0 + 1.0 / b - ops.log(b),
)  # fmt: skip
powerlaw = Family(
    "powerlaw", ("a",), _UNIT,
    log=lambda x, a: ops.log(a) + xlogy(a - 1.0, x), low=lambda x, a: ops.exp(a * ops.log(x)),
    high=lambda x, a: -ops.expm1(a * ops.log(x)), at=lambda p, q, a: ops.exp(ops.log(p) / a),
    moments=lambda a: (
        a / (a + 1.0), a / ((a + 2.0) * (a + 1.0) ** 2), -2.0 * (a - 1.0) / (a + 3.0) * ops.sqrt((a + 2.0) / a),
        6.0 * (a**3 - a * a - 6.0 * a + 2.0) / (a * (a + 3.0) * (a + 4.0)),
    ),
    entropy_of=lambda a: 1.0 - 1.0 / a - ops.log(a),
)  # fmt: skip


def _weibull_moments(c: Tensor) -> tuple[Any, ...]:
    g1, g2, g3, g4 = (gamma_function(1.0 + k / c) for k in (1.0, 2.0, 3.0, 4.0))
    variance = g2 - g1 * g1
    skew = (2.0 * g1**3 - 3.0 * g1 * g2 + g3) / variance**1.5
    kurtosis = (-6.0 * g1**4 + 12.0 * g1 * g1 * g2 - 3.0 * g2 * g2 - 4.0 * g1 * g3 + g4) / variance**2
    return g1, variance, skew, kurtosis


def _mirrored(moments: tuple[Any, ...]) -> tuple[Any, ...]:
    mean, variance, skew, kurtosis = moments
    return -mean, variance, -skew, kurtosis


weibull_min = Family(
    "weibull_min", ("c",), _POSITIVE,
    log=lambda x, c: ops.log(c) + xlogy(c - 1.0, x) - ops.pow(x, c), low=lambda x, c: -ops.expm1(-ops.pow(x, c)),
    high=lambda x, c: ops.exp(-ops.pow(x, c)),
    at=lambda p, q, c: ops.exp(ops.log(-ops.where(p < q, ops.log1p(-p), ops.log(q))) / c), moments=_weibull_moments,
    entropy_of=lambda c: -_EULER / c - ops.log(c) + _EULER + 1.0, log_high=lambda x, c: -ops.pow(x, c),
)  # fmt: skip
weibull_max = Family(
    "weibull_max", ("c",), lambda *s: (-inf, 0.0),
    log=lambda x, c: weibull_min.log(-x, c), low=lambda x, c: weibull_min.high(-x, c),
    high=lambda x, c: weibull_min.low(-x, c), at=lambda p, q, c: -weibull_min.at(q, p, c),
    moments=lambda c: _mirrored(_weibull_moments(c)), entropy_of=weibull_min.entropy_of,
    log_low=lambda x, c: -ops.pow(-x, c),
)  # fmt: skip
gumbel_r = Family(
    "gumbel_r", (), _REAL,
    log=lambda x: -x - ops.exp(-x), low=lambda x: ops.exp(-ops.exp(-x)), high=lambda x: -ops.expm1(-ops.exp(-x)),
    at=lambda p, q: -ops.log(-ops.where(p < q, ops.log(p), ops.log1p(-q))),
    moments=lambda: (_EULER, pi * pi / 6, 12 * python.sqrt(6) / pi**3 * _ZETA3, 2.4),
    entropy_of=lambda: _EULER + 1.0, log_low=lambda x: -ops.exp(-x),
)  # fmt: skip
gumbel_l = Family(
    "gumbel_l", (), _REAL,
    log=lambda x: x - ops.exp(x), low=lambda x: -ops.expm1(-ops.exp(x)), high=lambda x: ops.exp(-ops.exp(x)),
    at=lambda p, q: -gumbel_r.at(q, p), moments=lambda: _mirrored(gumbel_r.moments()),
    entropy_of=lambda: _EULER + 1.0, log_high=lambda x: -ops.exp(x),
)  # fmt: skip


arcsine = Family(
    "arcsine", (), _UNIT,
    log=lambda x: -python.log(pi) - 0.5 * (ops.log(x) + ops.log1p(-x)),
    low=lambda x: 2.0 / pi * ops.asin(ops.sqrt(x)), high=lambda x: 2.0 / pi * ops.asin(ops.sqrt(1.0 - x)),
    at=lambda p, q: ops.sin(0.5 * pi * p) ** 2, moments=lambda: (0.5, 0.125, 0.0, -1.5),
    entropy_of=lambda: python.log(pi / 4),
)  # fmt: skip


def _triang_at(p: Tensor, q: Tensor, c: Tensor) -> Tensor:
    rising = p < c
    up, down = ops.where(rising, p * c, 0.25 + 0.0 * p), ops.where(rising, 0.25 + 0.0 * p, q * (1.0 - c))
    return ops.where(rising, ops.sqrt(up), 1.0 - ops.sqrt(down))


def _triang_share(x: Tensor, c: Tensor) -> Tensor:
    rising = x < c
    low = ops.where(c > 0, c, ops.ones_like(c))
    high = ops.where(c < 1, 1.0 - c, ops.ones_like(c))
    return ops.where(rising, x * x / low, 1.0 - (1.0 - x) ** 2 / high)


triang = Family(
    "triang", ("c",), _UNIT,
    log=lambda x, c: python.log(2.0) + ops.where(
        both(x < c, c > 0), ops.log(x / ops.where(c > 0, c, ops.ones_like(c))),
        ops.where(c < 1, ops.log((1.0 - x) / ops.where(c < 1, 1.0 - c, ops.ones_like(c))), 0.0 * x)),
    low=_triang_share, high=lambda x, c: _triang_share(1.0 - x, 1.0 - c), at=_triang_at,
    moments=lambda c: (
        (c + 1.0) / 3.0, (1.0 - c + c * c) / 18.0,
        python.sqrt(2.0) * (2.0 * c - 1.0) * (c + 1.0) * (c - 2.0) / (5.0 * (1.0 - c + c * c) ** 1.5), -0.6,
    ),
    entropy_of=lambda c: 0.5 - python.log(2.0), good=lambda c: both(c >= 0, c <= 1),
)  # fmt: skip


def _loguniform_moments(a: Tensor, b: Tensor) -> tuple[Any, ...]:
    width = ops.log(b / a)
    m1, m2, m3, m4 = ((b**k - a**k) / (k * width) for k in (1.0, 2.0, 3.0, 4.0))
    variance = m2 - m1 * m1
    skew = (m3 - 3.0 * m1 * m2 + 2.0 * m1**3) / variance**1.5
    return m1, variance, skew, (m4 - 4.0 * m1 * m3 + 6.0 * m1 * m1 * m2 - 3.0 * m1**4) / variance**2 - 3.0


def _loguniform(name: str) -> Family:
    return Family(
        name, ("a", "b"), lambda a, b: (a, b),
        log=lambda x, a, b: -ops.log(x) - ops.log(ops.log(b / a)),
        low=lambda x, a, b: ops.log(x / a) / ops.log(b / a), high=lambda x, a, b: ops.log(b / x) / ops.log(b / a),
        at=lambda p, q, a, b: ops.exp(ops.log(a) + p * ops.log(b / a)), moments=_loguniform_moments,
        entropy_of=lambda a, b: 0.5 * ops.log(a * b) + ops.log(ops.log(b / a)), good=lambda a, b: both(a > 0, b > a),
    )  # fmt: skip


loguniform, reciprocal = _loguniform("loguniform"), _loguniform("reciprocal")


def _truncexpon_moments(b: Tensor) -> tuple[Any, ...]:
    whole = -ops.expm1(-b)
    raw = [1.0 * b / b]
    for k in range(1, 5):  # the integral of x^k e^-x from 0 to b, by parts
        raw.append((k * raw[-1] * whole - b**k * ops.exp(-b)) / whole)
    m1, m2, m3, m4 = raw[1:]
    variance = m2 - m1 * m1
    skew = (m3 - 3.0 * m1 * m2 + 2.0 * m1**3) / variance**1.5
    return m1, variance, skew, (m4 - 4.0 * m1 * m3 + 6.0 * m1 * m1 * m2 - 3.0 * m1**4) / variance**2 - 3.0


truncexpon = Family(
    "truncexpon", ("b",), lambda b: (0.0, b),
    log=lambda x, b: -x - ops.log(-ops.expm1(-b)), low=lambda x, b: ops.expm1(-x) / ops.expm1(-b),
    high=lambda x, b: (ops.exp(-b) - ops.exp(-x)) / ops.expm1(-b),
    at=lambda p, q, b: -ops.log1p(p * ops.expm1(-b)), moments=_truncexpon_moments,
    entropy_of=lambda b: ops.log(ops.expm1(b)) + (1.0 + ops.exp(b) * (b - 1.0)) / (1.0 - ops.exp(b)),
)  # fmt: skip


def _cut_mass(a: Tensor, b: Tensor) -> Tensor:
    """The share of a normal distribution between two numbers, from the side where it is small."""
    right = a > 0
    low, high = ops.where(right, -b, a), ops.where(right, -a, b)
    return ndtr(high) - ndtr(low)


def _cut_at(p: Tensor, q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    right = a > 0
    low, high = ops.where(right, -b, a), ops.where(right, -a, b)
    share = ops.where(right, q, p)
    found = ndtri(ndtr(low) + share * (ndtr(high) - ndtr(low)))
    return ops.where(right, -found, found)


def _cut_moments(a: Tensor, b: Tensor) -> tuple[Any, ...]:
    mass = _cut_mass(a, b)
    first, last = (ops.exp(-0.5 * v * v) / (python.sqrt(2 * pi) * mass) for v in (a, b))
    x, y = (ops.where(ops.isfinite(v), v, ops.zeros_like(v)) for v in (a, b))
    raw = [ops.ones_like(mass), first - last]
    for k in range(2, 5):
        raw.append((k - 1.0) * raw[-2] + x ** (k - 1.0) * first - y ** (k - 1.0) * last)
    _, m1, m2, m3, m4 = raw
    variance = m2 - m1 * m1
    skew = (m3 - 3.0 * m1 * m2 + 2.0 * m1**3) / variance**1.5
    return m1, variance, skew, (m4 - 4.0 * m1 * m3 + 6.0 * m1 * m1 * m2 - 3.0 * m1**4) / variance**2 - 3.0


truncnorm = Family(
    "truncnorm", ("a", "b"), lambda a, b: (a, b),
    log=lambda x, a, b: -0.5 * x * x - 0.5 * python.log(2 * pi) - ops.log(_cut_mass(a, b)),
    low=lambda x, a, b: _cut_mass(a, x) / _cut_mass(a, b), high=lambda x, a, b: _cut_mass(x, b) / _cut_mass(a, b),
    at=_cut_at, moments=_cut_moments, good=lambda a, b: a < b,
)  # fmt: skip
