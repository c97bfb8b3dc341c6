"""Gamma, Beta and StudentT: distributions that are drawn from Gamma's, with implicit gradients."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from math import inf
from typing import Any, ClassVar

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.nn.probability.distribution.base import Distribution
from mycelia.nn.probability.distribution.continuous import POSITIVE, implicit, safe, together, wide, within
from mycelia.ops.distributions import gamma_noise
from mycelia.ops.incomplete import beta_logarithm, beta_parts
from mycelia.ops.numbers import digamma, lgamma
from mycelia.types import float32, float64

__all__ = ["Beta", "Gamma", "StudentT"]


class Gamma(Distribution):
    """The gamma distribution.

    >>> Gamma(4.0, 2.0).var().item()
    1.0
    """

    continuous = True

    words: ClassVar[tuple[str, ...]] = ("concentration", "rate")
    limits: ClassVar[dict[str, tuple[float, float]]] = {"concentration": POSITIVE, "rate": POSITIVE}

    def __init__(
        self,
        concentration: Any = None,
        rate: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Gamma",
    ) -> None:
        super().__init__(seed, dtype, name, {"concentration": concentration, "rate": rate})

    def _log_prob(self, x: Tensor, a: Tensor, rate: Tensor) -> Tensor:
        x, a, rate = together(x, a, rate)
        y = safe(x > 0, x, 1.0)
        return within(x > 0, a * ops.log(rate) + (a - 1.0) * ops.log(y) - rate * y - lgamma(a), -inf)

    def _cdf(self, x: Tensor, a: Tensor, rate: Tensor) -> Tensor:
        return ops.igamma(*together(a, ops.maximum(x, ops.zeros_like(x)) * rate))

    def _survival_function(self, x: Tensor, a: Tensor, rate: Tensor) -> Tensor:
        return ops.igammac(*together(a, ops.maximum(x, ops.zeros_like(x)) * rate))

    def _mean(self, a: Tensor, rate: Tensor) -> Tensor:
        return a / rate

    def _mode(self, a: Tensor, rate: Tensor) -> Tensor:
        return ops.maximum(a - 1.0, ops.zeros_like(a)) / rate

    def _var(self, a: Tensor, rate: Tensor) -> Tensor:
        return a / (rate * rate)

    def _entropy(self, a: Tensor, rate: Tensor) -> Tensor:
        return a - ops.log(rate) + lgamma(a) + (1.0 - a) * digamma(a)

    def _kl_loss(self, a: Tensor, rate: Tensor, a_b: Tensor, rate_b: Tensor) -> Tensor:
        shapes = (a - a_b) * digamma(a) - lgamma(a) + lgamma(a_b)
        return shapes + a_b * ops.log(rate / rate_b) + a * (rate_b / rate - 1.0)

    def _sample(self, shape: tuple[int, ...], a: Tensor, rate: Tensor) -> Tensor:
        return cast(self._drawn(shape, a), rate.dtype) / rate

    def _drawn(self, shape: tuple[int, ...], a: Tensor) -> Tensor:
        """Gamma numbers of rate 1, with gradients."""
        a = ops.broadcast_to(cast(a, float64), shape)
        x = gamma_noise(shape, a, self._source)
        density = ops.exp((a - 1.0) * ops.log(x) - x - lgamma(a))
        return implicit(x, ops.igamma(a, x), density)


class Beta(Distribution):
    """The beta distribution.

    >>> round(Beta(2.0, 1.0).mean().item(), 4)
    0.6667
    """

    continuous = True

    words: ClassVar[tuple[str, ...]] = ("concentration1", "concentration0")
    limits: ClassVar[dict[str, tuple[float, float]]] = {"concentration1": POSITIVE, "concentration0": POSITIVE}

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "Beta",
    ) -> None:
        given = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(seed, dtype, name, given)
        self._gamma = Gamma(seed=seed, dtype=dtype)

    def _log_prob(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        x, a, b = together(x, a, b)
        inside = (x > 0) & (x < 1)
        y = safe(inside, x, 0.5)
        return within(inside, (a - 1.0) * ops.log(y) + (b - 1.0) * ops.log1p(-y) - _log_beta(a, b), -inf)

    def _parts(self, x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y, first, second = wide(ops.clamp(x, 0.0, 1.0), a, b)
        below, above = beta_parts(first, second, y)
        return y, cast(below, x.dtype), cast(above, x.dtype)

    def _cdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        y, below, _ = self._parts(x, a, b)
        return within(y < 1, within(y > 0, below, 0.0), 1.0)

    def _survival_function(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        y, _, above = self._parts(x, a, b)
        return within(y < 1, within(y > 0, above, 1.0), 0.0)

    def _mean(self, a: Tensor, b: Tensor) -> Tensor:
        return a / (a + b)

    def _mode(self, a: Tensor, b: Tensor) -> Tensor:
        a, b = together(a, b)
        peak = (a > 1) & (b > 1)
        return within(peak, (a - 1.0) / safe(peak, a + b - 2.0, 1.0), math.nan)

    def _var(self, a: Tensor, b: Tensor) -> Tensor:
        whole = a + b
        return a * b / (whole * whole * (whole + 1.0))

    def _entropy(self, a: Tensor, b: Tensor) -> Tensor:
        shares = (a - 1.0) * digamma(a) + (b - 1.0) * digamma(b)
        return _log_beta(a, b) - shares + (a + b - 2.0) * digamma(a + b)

    def _kl_loss(self, a: Tensor, b: Tensor, a_b: Tensor, b_b: Tensor) -> Tensor:
        apart = _log_beta(a_b, b_b) - _log_beta(a, b)
        return apart + (a - a_b) * digamma(a) + (b - b_b) * digamma(b) + (a_b - a + b_b - b) * digamma(a + b)

    def _sample(self, shape: tuple[int, ...], a: Tensor, b: Tensor) -> Tensor:
        x, y = self._gamma._drawn(shape, a), self._gamma._drawn(shape, b)
        return cast(x / (x + y), a.dtype)


def _log_beta(a: Tensor, b: Tensor) -> Tensor:
    return cast(beta_logarithm(*wide(a, b)), a.dtype)


class StudentT(Distribution):
    """Student's t distribution with a location and a scale, which are called `mean` and `sd`.

    >>> round(StudentT(1.0, 0.0, 1.0).cdf(1.0).item(), 4)
    0.75
    """

    continuous = True

    words: ClassVar[tuple[str, ...]] = ("df", "mean", "sd")
    limits: ClassVar[dict[str, tuple[float, float]]] = {"df": POSITIVE, "sd": POSITIVE}

    def __init__(
        self,
        df: Any = None,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: Any = float32,
        name: str = "StudentT",
    ) -> None:
        super().__init__(seed, dtype, name, {"df": df, "mean": mean, "sd": sd})
        self._gamma = Gamma(seed=seed, dtype=dtype)

    def _log_prob(self, x: Tensor, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        z = (x - mean) / sd
        half = _log_beta(0.5 * df, ops.zeros_like(df) + 0.5) + 0.5 * ops.log(df)
        return -0.5 * (df + 1.0) * ops.log1p(z * z / df) - ops.log(sd) - half

    def _cdf(self, x: Tensor, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        z, n = wide((x - mean) / sd, df)
        square = z * z
        far = square > n
        small = ops.where(far, n / (n + square), square / (n + square))  # the smaller share of both
        inside = small > 0
        near, half = safe(inside, small, 0.5), ops.zeros_like(n) + 0.5
        tail = ops.where(far, beta_parts(0.5 * n, half, near)[0], beta_parts(half, 0.5 * n, near)[1]) * 0.5
        tail = ops.where(inside, tail, ops.where(far, ops.zeros_like(tail), ops.zeros_like(tail) + 0.5))
        return cast(ops.where(z < 0, tail, 1.0 - tail), x.dtype)

    def _survival_function(self, x: Tensor, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return self._cdf(2.0 * mean - x, df, mean, sd)

    def _mean(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        df, mean, sd = together(df, mean, sd)
        return within(df > 1, mean, math.nan)

    def _mode(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return together(df, mean, sd)[1] + 0.0

    def _var(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        df, mean, sd = together(df, mean, sd)
        finite = sd * sd * df / safe(df > 2, df - 2.0, 1.0)
        return within(df > 1, within(df > 2, finite, inf), math.nan)

    def _entropy(self, df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        df, mean, sd = together(df, mean, sd)
        slopes = 0.5 * (df + 1.0) * (digamma(0.5 * (df + 1.0)) - digamma(0.5 * df))
        return ops.log(sd) + slopes + 0.5 * ops.log(df) + _log_beta(0.5 * df, ops.zeros_like(df) + 0.5)

    def _sample(self, shape: tuple[int, ...], df: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        share = cast(self._gamma._drawn(shape, 0.5 * df), df.dtype) / (0.5 * df)
        return mean + sd * self._noise(shape) / ops.sqrt(share)
