"""Distributions of whole numbers."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

import numpy as np

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.nn.probability.distribution.base import Distribution
from mycelia.nn.probability.distribution.continuous import POSITIVE, safe, together, within
from mycelia.ops.distributions import poisson_noise
from mycelia.ops.numbers import lgamma
from mycelia.types import float32, float64, int32, int64

__all__ = ["Bernoulli", "Categorical", "Geometric", "Poisson"]


def _counts(x: Tensor) -> Tensor:
    """Whether numbers are whole, and not negative."""
    return (x >= 0) & ops.equal(ops.floor(x), x)


def _times_log(x: Tensor, y: Tensor) -> Tensor:
    """X times the logarithm of y; 0 where x is."""
    some = ops.not_equal(x + 0.0 * y, 0.0)
    return within(some, x * ops.log(safe(some, y + 0.0 * x, 1.0)), 0.0)


class Bernoulli(Distribution):
    """1 with a probability, else 0.

    >>> Bernoulli(0.25).var().item()
    0.1875
    """

    words: ClassVar[tuple[str, ...]] = ("probs",)
    limits: ClassVar[dict[str, tuple[float, float]]] = {"probs": (0.0, 1.0)}

    def __init__(self, probs: Any = None, seed: int | None = None, dtype: Any = int32, name: str = "Bernoulli") -> None:
        super().__init__(seed, dtype, name, {"probs": probs})

    def _log_prob(self, x: Tensor, probs: Tensor) -> Tensor:
        x, probs = together(x, probs)
        known = ops.equal(x, 0.0) | ops.equal(x, 1.0)
        return within(known, _times_log(x, probs) + _times_log(1.0 - x, 1.0 - probs), -inf)

    def _cdf(self, x: Tensor, probs: Tensor) -> Tensor:
        x, probs = together(x, probs)
        return within(x >= 0, within(x < 1, 1.0 - probs, 1.0), 0.0)

    def _mean(self, probs: Tensor) -> Tensor:
        return probs + 0.0

    def _mode(self, probs: Tensor) -> Tensor:
        return cast(probs > 0.5, self.dtype)

    def _var(self, probs: Tensor) -> Tensor:
        return probs * (1.0 - probs)

    def _entropy(self, probs: Tensor) -> Tensor:
        return -_times_log(probs, probs) - _times_log(1.0 - probs, 1.0 - probs)

    def _kl_loss(self, probs: Tensor, probs_b: Tensor) -> Tensor:
        return _times_log(probs, probs / probs_b) + _times_log(1.0 - probs, (1.0 - probs) / (1.0 - probs_b))

    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        return cast(self._uniform(shape) < cast(probs, float64), self.dtype)


class Geometric(Distribution):
    """How often something fails before it succeeds, with a probability each time.

    >>> Geometric(0.25).mean().item()
    3.0
    """

    words: ClassVar[tuple[str, ...]] = ("probs",)
    limits: ClassVar[dict[str, tuple[float, float]]] = {"probs": (0.0, 1.0)}

    def __init__(self, probs: Any = None, seed: int | None = None, dtype: Any = int32, name: str = "Geometric") -> None:
        super().__init__(seed, dtype, name, {"probs": probs})

    def _log_prob(self, x: Tensor, probs: Tensor) -> Tensor:
        x, probs = together(x, probs)
        return within(_counts(x), ops.log(probs) + x * ops.log1p(-probs), -inf)

    def _log_survival(self, x: Tensor, probs: Tensor) -> Tensor:
        x, probs = together(ops.floor(x), probs)
        return within(x >= 0, (x + 1.0) * ops.log1p(-probs), 0.0)

    def _cdf(self, x: Tensor, probs: Tensor) -> Tensor:
        return -ops.expm1(self._log_survival(x, probs))

    def _mean(self, probs: Tensor) -> Tensor:
        return (1.0 - probs) / probs

    def _mode(self, probs: Tensor) -> Tensor:
        return cast(ops.zeros_like(probs), self.dtype)

    def _var(self, probs: Tensor) -> Tensor:
        return (1.0 - probs) / (probs * probs)

    def _entropy(self, probs: Tensor) -> Tensor:
        return -ops.log(probs) - (1.0 - probs) / probs * ops.log1p(-probs)

    def _kl_loss(self, probs: Tensor, probs_b: Tensor) -> Tensor:
        fails = (1.0 - probs) / probs
        return ops.log(probs / probs_b) + fails * (ops.log1p(-probs) - ops.log1p(-probs_b))

    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        return cast(ops.floor(ops.log(self._uniform(shape)) / ops.log1p(-cast(probs, float64))), self.dtype)


class Poisson(Distribution):
    """How often something happens that does at a rate. Its entropy has no closed form.

    >>> Poisson(4.0).var().item()
    4.0
    """

    words: ClassVar[tuple[str, ...]] = ("rate",)
    limits: ClassVar[dict[str, tuple[float, float]]] = {"rate": POSITIVE}

    def __init__(self, rate: Any = None, seed: int | None = None, dtype: Any = float32, name: str = "Poisson") -> None:
        super().__init__(seed, dtype, name, {"rate": rate})

    def _log_prob(self, x: Tensor, rate: Tensor) -> Tensor:
        x, rate = together(x, rate)
        y = safe(_counts(x), x, 0.0)
        return within(_counts(x), y * ops.log(rate) - rate - lgamma(y + 1.0), -inf)

    def _cdf(self, x: Tensor, rate: Tensor) -> Tensor:
        x, rate = together(ops.floor(x), rate)
        return within(x >= 0, ops.igammac(safe(x >= 0, x, 0.0) + 1.0, rate), 0.0)

    def _survival_function(self, x: Tensor, rate: Tensor) -> Tensor:
        x, rate = together(ops.floor(x), rate)
        return within(x >= 0, ops.igamma(safe(x >= 0, x, 0.0) + 1.0, rate), 1.0)

    def _mean(self, rate: Tensor) -> Tensor:
        return rate + 0.0

    def _mode(self, rate: Tensor) -> Tensor:
        return ops.floor(rate)

    def _var(self, rate: Tensor) -> Tensor:
        return rate + 0.0

    def _kl_loss(self, rate: Tensor, rate_b: Tensor) -> Tensor:
        return rate * ops.log(rate / rate_b) - (rate - rate_b)

    def _sample(self, shape: tuple[int, ...], rate: Tensor) -> Tensor:
        return poisson_noise(shape, ops.broadcast_to(cast(rate, float64), shape), self._source)


class Categorical(Distribution):
    """Numbers of classes, each with its probability; the classes are the last axis.

    >>> Categorical([0.2, 0.3, 0.5]).mean().item()
    1.3
    """

    words: ClassVar[tuple[str, ...]] = ("probs",)
    limits: ClassVar[dict[str, tuple[float, float]]] = {}

    def __init__(
        self, probs: Any = None, seed: int | None = None, dtype: Any = int32, name: str = "Categorical"
    ) -> None:
        super().__init__(seed, dtype, name, {"probs": probs})
        if probs is None:
            return
        numbers = self._given("probs").asnumpy()
        if not numbers.ndim or not (numbers >= 0).all() or not np.allclose(numbers.sum(-1), 1.0, atol=1e-3):
            raise ArgumentError(
                "the probabilities of the classes are numbers from 0 whose sum is 1", given={"probs": probs},
                hint="divide them by their sum, or give ops.softmax(scores, -1)",
            )  # fmt: skip

    def _classes(self, probs: Tensor) -> Tensor:
        return Tensor(np.arange(probs.shape[-1]), probs.dtype)

    def _picked(self, x: Tensor, probs: Tensor) -> tuple[Tensor, Tensor]:
        """Values with a last axis, and whether there is such a class."""
        value = ops.expand_dims(ops.broadcast_to(x, np.broadcast_shapes(x.shape, probs.shape[:-1])), -1)
        return value, ops.squeeze(
            (value >= 0) & (value <= probs.shape[-1] - 1) & ops.equal(ops.floor(value), value), -1
        )

    def _log_prob(self, x: Tensor, probs: Tensor) -> Tensor:
        value, known = self._picked(x, probs)
        chosen = ops.reduce_sum(cast(ops.equal(value, self._classes(probs)), probs.dtype) * probs, -1)
        return within(known, ops.log(safe(known, chosen, 1.0)), -inf)

    def _cdf(self, x: Tensor, probs: Tensor) -> Tensor:
        value, _ = self._picked(x, probs)
        return ops.reduce_sum(cast(value >= self._classes(probs), probs.dtype) * probs, -1)

    def _survival_function(self, x: Tensor, probs: Tensor) -> Tensor:
        value, _ = self._picked(x, probs)
        return ops.reduce_sum(cast(value < self._classes(probs), probs.dtype) * probs, -1)

    def _mean(self, probs: Tensor) -> Tensor:
        return ops.reduce_sum(probs * self._classes(probs), -1)

    def _mode(self, probs: Tensor) -> Tensor:
        return cast(ops.argmax(probs, -1), self.dtype)

    def _var(self, probs: Tensor) -> Tensor:
        return ops.reduce_sum(probs * ops.square(self._classes(probs)), -1) - ops.square(self._mean(probs))

    def _entropy(self, probs: Tensor) -> Tensor:
        return -ops.reduce_sum(_times_log(probs, probs), -1)

    def _kl_loss(self, probs: Tensor, probs_b: Tensor) -> Tensor:
        return ops.reduce_sum(_times_log(probs, probs / probs_b), -1)

    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        ends = ops.cumsum(cast(probs, float64), -1)
        u = ops.expand_dims(self._uniform(shape[:-1]), -1) * ends[..., -1:]
        return ops.reduce_sum(cast(u >= ends, int64), -1)
