"""Distributions of real numbers."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from math import inf, pi
from typing import Any, ClassVar

import numpy as np

from mycelia import ops
from mycelia import primitives as p
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.nn.probability.distribution.base import Distribution
from mycelia.ops.incomplete import log_normal_share
from mycelia.ops.numbers import lgamma
from mycelia.types import float32, float64

__all__ = [
    "Cauchy", "Exponential", "Gumbel", "HalfNormal", "Laplace", "LogNormal", "Logistic", "Normal", "Uniform",
]  # fmt: skip

EULER = float(np.euler_gamma)
POSITIVE = (0.0, inf)


def within(inside: Tensor, value: Tensor, outside: float) -> Tensor:
    """A value where it counts, and a number elsewhere."""
    return ops.where(inside, value, ops.zeros_like(value) + outside)


def safe(inside: Tensor, x: Tensor, there: float) -> Tensor:
    """The argument of a rule, replaced where nobody looks, so that no nan comes of it."""
    return ops.where(inside, x, ops.zeros_like(x) + there)


def together(*inputs: Tensor) -> list[Tensor]:
    """Tensors in the shape that all broadcast to."""
    shape = np.broadcast_shapes(*[x.shape for x in inputs])
    return [ops.broadcast_to(x, shape) for x in inputs]


def implicit(drawn: Tensor, share: Tensor, density: Tensor) -> Tensor:
    """Numbers that were drawn, as functions of the parameters of their distribution: the share below each stays."""
    moved = (share - p.stop_gradient(share)) / p.stop_gradient(density)
    return drawn - moved


def wide(*inputs: Tensor) -> list[Tensor]:
    """Tensors in double precision, broadcast."""
    return together(*[cast(x, float64) for x in inputs])


class LocationScale(Distribution):
    """The family of z = (x - location) / scale, where a standard form says what z does."""

    continuous = True

    limits: ClassVar[dict[str, tuple[float, float]]] = {"sd": POSITIVE, "scale": POSITIVE}

    def _log_prob(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return self._log_form((x - loc) / scale) - ops.log(scale)

    def _log_form(self, z: Tensor) -> Tensor:
        """The logarithm of the density of the standard form."""
        raise self._none("density")

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return together(loc, scale)[0] + 0.0

    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return together(loc, scale)[0] + 0.0


class Normal(LocationScale):
    """The normal distribution.

    >>> round(Normal(0.0, 1.0).cdf(1.0).item(), 4)
    0.8413
    """

    words: ClassVar[tuple[str, ...]] = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Normal"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    def _log_form(self, z: Tensor) -> Tensor:
        return -0.5 * z * z - 0.5 * math.log(2 * pi)

    def _log_cdf(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return cast(log_normal_share(cast((x - mean) / sd, float64)), x.dtype)

    def _log_survival(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return cast(log_normal_share(cast((mean - x) / sd, float64)), x.dtype)

    def _cdf(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return 0.5 * ops.erfc((mean - x) / sd * math.sqrt(0.5))

    def _survival_function(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return 0.5 * ops.erfc((x - mean) / sd * math.sqrt(0.5))

    def _sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        return together(mean, sd)[1] + 0.0

    def _entropy(self, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.log(self._sd(mean, sd)) + 0.5 * math.log(2 * pi * math.e)

    def _kl_loss(self, mean: Tensor, sd: Tensor, mean_b: Tensor, sd_b: Tensor) -> Tensor:
        ratio, apart = sd / sd_b, (mean - mean_b) / sd_b
        return 0.5 * (ratio * ratio + apart * apart - 1.0) - ops.log(ratio)

    def _sample(self, shape: tuple[int, ...], mean: Tensor, sd: Tensor) -> Tensor:
        return mean + sd * self._noise(shape)


class HalfNormal(LocationScale):
    """The upper half of a normal distribution: `mean` is where it begins, and where its density is largest.

    >>> round(HalfNormal(0.0, 1.0).prob(0.0).item(), 4)
    0.7979
    """

    words: ClassVar[tuple[str, ...]] = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "HalfNormal"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    def _log_form(self, z: Tensor) -> Tensor:
        return within(z >= 0, -0.5 * z * z + 0.5 * math.log(2 / pi), -inf)

    def _cdf(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        z = (x - mean) / sd
        return ops.erf(ops.maximum(z, ops.zeros_like(z)) * math.sqrt(0.5))

    def _survival_function(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        z = (x - mean) / sd
        return ops.erfc(ops.maximum(z, ops.zeros_like(z)) * math.sqrt(0.5))

    def _mean(self, mean: Tensor, sd: Tensor) -> Tensor:
        return mean + sd * math.sqrt(2 / pi)

    def _sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        return together(mean, sd)[1] * math.sqrt(1 - 2 / pi)

    def _entropy(self, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.log(together(mean, sd)[1]) + 0.5 * math.log(pi * math.e / 2)

    def _sample(self, shape: tuple[int, ...], mean: Tensor, sd: Tensor) -> Tensor:
        return mean + sd * ops.abs(self._noise(shape))


class LogNormal(Distribution):
    """The distribution of exp(x), where x is normal with mean `loc` and standard deviation `scale`.

    >>> round(LogNormal(0.0, 1.0).mean().item(), 4)
    1.6487
    """

    continuous = True

    words: ClassVar[tuple[str, ...]] = ("loc", "scale")
    limits: ClassVar[dict[str, tuple[float, float]]] = {"scale": POSITIVE}

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: int | None = 0, dtype: Any = float32, name: str = "LogNormal"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})
        self._normal = Normal(dtype=dtype)

    def _log_prob(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        logs = ops.log(safe(x > 0, x, 1.0))
        return within(x + loc + scale - loc - scale > 0, self._normal.log_prob(logs, loc, scale) - logs, -inf)

    def _log_cdf(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        x = together(x, loc, scale)[0]
        return within(x > 0, self._normal.log_cdf(ops.log(safe(x > 0, x, 1.0)), loc, scale), -inf)

    def _log_survival(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        x = together(x, loc, scale)[0]
        return within(x > 0, self._normal.log_survival(ops.log(safe(x > 0, x, 1.0)), loc, scale), 0.0)

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.exp(loc + 0.5 * scale * scale)

    def _mode(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.exp(loc - scale * scale)

    def _var(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.expm1(scale * scale) * ops.exp(2.0 * loc + scale * scale)

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc + ops.log(scale) + 0.5 * math.log(2 * pi * math.e)

    def _kl_loss(self, loc: Tensor, scale: Tensor, loc_b: Tensor, scale_b: Tensor) -> Tensor:
        return self._normal.kl_loss("Normal", loc_b, scale_b, loc, scale)

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        return ops.exp(loc + scale * self._noise(shape))


class Cauchy(LocationScale):
    """Cauchy's distribution, which has neither a mean nor a variance: they are nan.

    >>> Cauchy(0.0, 1.0).cdf(1.0).item()
    0.75
    """

    words: ClassVar[tuple[str, ...]] = ("loc", "scale")

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Cauchy"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    def _log_form(self, z: Tensor) -> Tensor:
        return -math.log(pi) - ops.log1p(z * z)

    def _cdf(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.atan2(scale + 0.0 * x, loc - x) / pi

    def _survival_function(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.atan2(scale + 0.0 * x, x - loc) / pi

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return (loc + scale) * math.nan

    def _var(self, loc: Tensor, scale: Tensor) -> Tensor:
        return (loc + scale) * math.nan

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(4 * pi * together(loc, scale)[1])

    def _kl_loss(self, loc: Tensor, scale: Tensor, loc_b: Tensor, scale_b: Tensor) -> Tensor:
        return ops.log((ops.square(scale + scale_b) + ops.square(loc - loc_b)) / (4 * scale * scale_b))

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        return loc + scale * cast(ops.tan(pi * (self._uniform(shape) - 0.5)), loc.dtype)


class Logistic(LocationScale):
    """The logistic distribution.

    >>> Logistic(0.0, 1.0).cdf(0.0).item()
    0.5
    """

    words: ClassVar[tuple[str, ...]] = ("loc", "scale")

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Logistic"
    ) -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    def _log_form(self, z: Tensor) -> Tensor:
        size = ops.abs(z)
        return -size - 2.0 * ops.log1p(ops.exp(-size))

    def _cdf(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.sigmoid((x - loc) / scale)

    def _survival_function(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.sigmoid((loc - x) / scale)

    def _log_cdf(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.logsigmoid((x - loc) / scale)

    def _log_survival(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.logsigmoid((loc - x) / scale)

    def _sd(self, loc: Tensor, scale: Tensor) -> Tensor:
        return together(loc, scale)[1] * (pi / math.sqrt(3))

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(together(loc, scale)[1]) + 2.0

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        u = self._uniform(shape)
        return loc + scale * cast(ops.log(u) - ops.log1p(-u), loc.dtype)


class Gumbel(LocationScale):
    """Gumbel's distribution of largest numbers.

    >>> round(Gumbel(0.0, 1.0).mean().item(), 4)
    0.5772
    """

    words: ClassVar[tuple[str, ...]] = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, seed: int | None = 0, dtype: Any = float32, name: str = "Gumbel") -> None:
        super().__init__(seed, dtype, name, {"loc": loc, "scale": scale})

    def _log_form(self, z: Tensor) -> Tensor:
        return -z - ops.exp(-z)

    def _log_cdf(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.exp((loc - x) / scale)

    def _survival_function(self, x: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return -ops.expm1(-ops.exp((loc - x) / scale))

    def _mean(self, loc: Tensor, scale: Tensor) -> Tensor:
        return loc + EULER * scale

    def _sd(self, loc: Tensor, scale: Tensor) -> Tensor:
        return together(loc, scale)[1] * (pi / math.sqrt(6))

    def _entropy(self, loc: Tensor, scale: Tensor) -> Tensor:
        return ops.log(together(loc, scale)[1]) + (1.0 + EULER)

    def _kl_loss(self, loc: Tensor, scale: Tensor, loc_b: Tensor, scale_b: Tensor) -> Tensor:
        ratio, apart = scale / scale_b, (loc - loc_b) / scale_b
        return apart - ops.log(ratio) + EULER * (ratio - 1.0) - 1.0 + ops.exp(lgamma(1.0 + ratio) - apart)

    def _sample(self, shape: tuple[int, ...], loc: Tensor, scale: Tensor) -> Tensor:
        return loc - scale * cast(ops.log(-ops.log(self._uniform(shape))), loc.dtype)


class Laplace(LocationScale):
    """Laplace's distribution; `sd` is its scale: the standard deviation is the square root of 2 times it.

    >>> Laplace(0.0, 1.0).prob(0.0).item()
    0.5
    """

    words: ClassVar[tuple[str, ...]] = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Laplace"
    ) -> None:
        super().__init__(seed, dtype, name, {"mean": mean, "sd": sd})

    def _log_form(self, z: Tensor) -> Tensor:
        return -ops.abs(z) - math.log(2)

    def _cdf(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        z = (x - mean) / sd
        half = 0.5 * ops.exp(-ops.abs(z))
        return ops.where(z < 0, half, 1.0 - half)

    def _survival_function(self, x: Tensor, mean: Tensor, sd: Tensor) -> Tensor:
        return self._cdf(2.0 * mean - x, mean, sd)

    def _sd(self, mean: Tensor, sd: Tensor) -> Tensor:
        return together(mean, sd)[1] * math.sqrt(2)

    def _entropy(self, mean: Tensor, sd: Tensor) -> Tensor:
        return ops.log(together(mean, sd)[1]) + math.log(2 * math.e)

    def _kl_loss(self, mean: Tensor, sd: Tensor, mean_b: Tensor, sd_b: Tensor) -> Tensor:
        apart = ops.abs(mean - mean_b)
        return ops.log(sd_b / sd) + apart / sd_b + sd / sd_b * ops.exp(-apart / sd) - 1.0

    def _sample(self, shape: tuple[int, ...], mean: Tensor, sd: Tensor) -> Tensor:
        u = self._uniform(shape) - 0.5
        return mean - sd * cast(ops.sign(u) * ops.log1p(-2.0 * ops.abs(u)), mean.dtype)


class Exponential(Distribution):
    """The exponential distribution.

    >>> Exponential(2.0).mean().item()
    0.5
    """

    continuous = True

    words: ClassVar[tuple[str, ...]] = ("rate",)
    limits: ClassVar[dict[str, tuple[float, float]]] = {"rate": POSITIVE}

    def __init__(
        self, rate: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Exponential"
    ) -> None:
        super().__init__(seed, dtype, name, {"rate": rate})

    def _log_prob(self, x: Tensor, rate: Tensor) -> Tensor:
        return within(x + 0.0 * rate >= 0, ops.log(rate) - rate * x, -inf)

    def _log_survival(self, x: Tensor, rate: Tensor) -> Tensor:
        return -rate * ops.maximum(x, ops.zeros_like(x))

    def _cdf(self, x: Tensor, rate: Tensor) -> Tensor:
        return -ops.expm1(self._log_survival(x, rate))

    def _mean(self, rate: Tensor) -> Tensor:
        return 1.0 / rate

    def _mode(self, rate: Tensor) -> Tensor:
        return ops.zeros_like(rate)

    def _sd(self, rate: Tensor) -> Tensor:
        return 1.0 / rate

    def _entropy(self, rate: Tensor) -> Tensor:
        return 1.0 - ops.log(rate)

    def _kl_loss(self, rate: Tensor, rate_b: Tensor) -> Tensor:
        return ops.log(rate / rate_b) + rate_b / rate - 1.0

    def _sample(self, shape: tuple[int, ...], rate: Tensor) -> Tensor:
        return cast(-ops.log(self._uniform(shape)), rate.dtype) / rate


class Uniform(Distribution):
    """Numbers evenly from `low` to `high`.

    >>> Uniform(1.0, 3.0).mean().item()
    2.0
    """

    continuous = True

    words: ClassVar[tuple[str, ...]] = ("low", "high")

    def __init__(
        self, low: Any = None, high: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Uniform"
    ) -> None:
        super().__init__(seed, dtype, name, {"low": low, "high": high})
        if low is not None and high is not None and not (self._given("low") < self._given("high")).all():
            raise ArgumentError("low lies below high", given={"low": low, "high": high})

    def _log_prob(self, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
        x, low, high = together(x, low, high)
        return within((x >= low) & (x <= high), -ops.log(high - low), -inf)

    def _cdf(self, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return ops.clamp((x - low) / (high - low), 0.0, 1.0)

    def _survival_function(self, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
        return ops.clamp((high - x) / (high - low), 0.0, 1.0)

    def _mean(self, low: Tensor, high: Tensor) -> Tensor:
        return (low + high) / 2.0

    def _sd(self, low: Tensor, high: Tensor) -> Tensor:
        return (high - low) / math.sqrt(12)

    def _entropy(self, low: Tensor, high: Tensor) -> Tensor:
        return ops.log(high - low)

    def _kl_loss(self, low: Tensor, high: Tensor, low_b: Tensor, high_b: Tensor) -> Tensor:
        low, high, low_b, high_b = together(low, high, low_b, high_b)
        return within((low_b <= low) & (high <= high_b), ops.log((high_b - low_b) / (high - low)), inf)

    def _sample(self, shape: tuple[int, ...], low: Tensor, high: Tensor) -> Tensor:
        return low + (high - low) * cast(self._uniform(shape), low.dtype)
