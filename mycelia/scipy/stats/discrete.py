"""Distributions of counts, one rule for each question."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.ops.incomplete import both
from mycelia.ops.numbers import lgamma
from mycelia.scipy.special.elementary import xlog1py, xlogy
from mycelia.scipy.special.gammas import betainc, betaincc, gammainc, gammaincc
from mycelia.scipy.special.normal import ndtri
from mycelia.scipy.stats.families import Family

__all__ = ["bernoulli", "binom", "geom", "nbinom", "poisson", "randint"]

_COUNTS = lambda *s: (0.0, inf)  # noqa: E731  # a rule among rules


def _searched(low: Callable[..., Tensor], moments: Callable[..., Any]) -> Callable[..., Tensor]:
    """Where a share is reached for the first time: the count is guessed by a normal distribution, and halved to."""

    def at(p: Tensor, q: Tensor, *shapes: Tensor) -> Tensor:
        mean, variance, *_ = moments(*shapes)
        width = ops.sqrt(variance) * (ops.abs(ndtri(p)) * 2.0 + 10.0) + 10.0 + 4.0 * variance / (mean + 1.0)
        left = ops.maximum(ops.floor(mean - width), -ops.ones_like(p))
        right = ops.ceil(mean + width * (ops.abs(ndtri(p)) + 2.0))
        short = p * (1.0 - 1e-15)
        for _ in range(56):
            middle = ops.floor((left + right) * 0.5)
            there = low(ops.maximum(middle, ops.zeros_like(p)), *shapes) >= short
            there = both(there, middle >= 0)
            left, right = ops.where(there, left, middle), ops.where(there, middle, right)
        return ops.stop_gradient(right)

    return at


def _binom_low(k: Tensor, n: Tensor, p: Tensor) -> Tensor:
    all_ = k >= n
    a, b = ops.where(all_, ops.ones_like(n), n - k), ops.where(all_, ops.ones_like(n), k + 1.0)
    return ops.where(all_, ops.ones_like(p), betaincc(b, a, p))


def _binom_high(k: Tensor, n: Tensor, p: Tensor) -> Tensor:
    all_ = k >= n
    a, b = ops.where(all_, ops.ones_like(n), n - k), ops.where(all_, ops.ones_like(n), k + 1.0)
    return ops.where(all_, ops.zeros_like(p), betainc(b, a, p))


def _binom_moments(n: Tensor, p: Tensor) -> tuple[Any, ...]:
    variance = n * p * (1.0 - p)
    return n * p, variance, (1.0 - 2.0 * p) / ops.sqrt(variance), (1.0 - 6.0 * p * (1.0 - p)) / variance


binom = Family(
    "binom", ("n", "p"), lambda n, p: (0.0 * n, n),
    log=lambda k, n, p: lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + xlogy(k, p) + xlog1py(n - k, -p),
    low=_binom_low, high=_binom_high, at=_searched(_binom_low, _binom_moments), moments=_binom_moments,
    good=lambda n, p: both(n >= 0, ops.equal(n, ops.floor(n)), p >= 0, p <= 1), discrete=True,
)  # fmt: skip


def _bernoulli_moments(p: Tensor) -> tuple[Any, ...]:
    return _binom_moments(ops.ones_like(p), p)


bernoulli = Family(
    "bernoulli", ("p",), lambda p: (0.0 * p, 0.0 * p + 1.0),
    log=lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p), low=lambda k, p: ops.where(k >= 1, ops.ones_like(p), 1.0 - p),
    high=lambda k, p: ops.where(k >= 1, ops.zeros_like(p), p),
    at=lambda a, b, p: ops.where(a <= 1.0 - p, ops.zeros_like(p), ops.ones_like(p)), moments=_bernoulli_moments,
    entropy_of=lambda p: -xlogy(p, p) - xlog1py(1.0 - p, -p), good=lambda p: both(p >= 0, p <= 1), discrete=True,
)  # fmt: skip
geom = Family(
    "geom", ("p",), lambda *s: (1.0, inf),
    log=lambda k, p: xlog1py(k - 1.0, -p) + ops.log(p), low=lambda k, p: -ops.expm1(k * ops.log1p(-p)),
    high=lambda k, p: ops.exp(k * ops.log1p(-p)),
    at=lambda a, b, p: ops.stop_gradient(ops.maximum(
        ops.ceil(ops.where(a < b, ops.log1p(-a), ops.log(b)) / ops.log1p(-p) - 1e-12), ops.ones_like(a))),
    moments=lambda p: (
        1.0 / p, (1.0 - p) / (p * p), (2.0 - p) / ops.sqrt(1.0 - p), 6.0 + p * p / (1.0 - p),
    ),
    entropy_of=lambda p: -xlog1py((1.0 - p) / p, -p) - ops.log(p), good=lambda p: both(p > 0, p < 1), discrete=True,
)  # fmt: skip


def _poisson_low(k: Tensor, mu: Tensor) -> Tensor:
    return gammaincc(k + 1.0, mu)


def _poisson_moments(mu: Tensor) -> tuple[Any, ...]:
    return mu, mu, 1.0 / ops.sqrt(mu), 1.0 / mu


poisson = Family(
    "poisson", ("mu",), _COUNTS,
    log=lambda k, mu: xlogy(k, mu) - mu - lgamma(k + 1.0), low=_poisson_low, high=lambda k, mu: gammainc(k + 1.0, mu),
    at=_searched(_poisson_low, _poisson_moments), moments=_poisson_moments, discrete=True,
)  # fmt: skip


def _nbinom_low(k: Tensor, n: Tensor, p: Tensor) -> Tensor:
    return betainc(n, k + 1.0, p)


def _nbinom_moments(n: Tensor, p: Tensor) -> tuple[Any, ...]:
    q = 1.0 - p
    return n * q / p, n * q / (p * p), (2.0 - p) / ops.sqrt(n * q), 6.0 / n + p * p / (n * q)


nbinom = Family(
    "nbinom", ("n", "p"), _COUNTS,
    log=lambda k, n, p: lgamma(k + n) - lgamma(k + 1.0) - lgamma(n) + n * ops.log(p) + xlog1py(k, -p), low=_nbinom_low,
    high=lambda k, n, p: betaincc(n, k + 1.0, p), at=_searched(_nbinom_low, _nbinom_moments), moments=_nbinom_moments,
    good=lambda n, p: both(n > 0, p > 0, p < 1), discrete=True,
)  # fmt: skip


def _width(low: Tensor, high: Tensor) -> Tensor:
    return high - low


randint = Family(
    "randint", ("low", "high"), lambda low, high: (low, high - 1.0),
    log=lambda k, low, high: -ops.log(_width(low, high)) + 0.0 * k,
    low=lambda k, low, high: (k - low + 1.0) / _width(low, high),
    high=lambda k, low, high: (high - k - 1.0) / _width(low, high),
    at=lambda p, q, low, high: ops.ceil(p * _width(low, high) * (1.0 - 1e-15) + low) - 1.0,
    moments=lambda low, high: (
        (high + low - 1.0) * 0.5, (_width(low, high) ** 2 - 1.0) / 12.0, 0.0,
        -1.2 * (_width(low, high) ** 2 + 1.0) / (_width(low, high) ** 2 - 1.0),
    ),
    entropy_of=lambda low, high: ops.log(_width(low, high)), good=lambda low, high: high > low, discrete=True,
)  # fmt: skip
