"""The distribution of what an invertible function gives."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, DTypeError
from mycelia.nn.probability.distribution.base import Distribution

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(x), where x has a distribution and f is a bijector that rises. Its mean is known where f is
    linear. Parameters of the distribution may be given with each call.

    >>> from mycelia.nn.probability.bijector import Exp
    >>> from mycelia.nn.probability.distribution import Normal
    >>> round(TransformedDistribution(Exp(), Normal(0.0, 1.0)).cdf(1.0).item(), 4)
    0.5
    """

    def __init__(
        self, bijector: Any, distribution: Distribution, seed: int | None = None, name: str = "transformed_distribution"
    ) -> None:
        if not distribution.dtype.is_float:
            raise DTypeError(f"a distribution of {distribution.dtype!r} is not transformed", hint="take one of floats")
        super().__init__(distribution.seed if seed is None else seed, distribution.dtype, name, {})
        self._bijector, self._distribution = bijector, distribution
        self.words = distribution.words  # type: ignore[misc]  # of this one

    @property
    def bijector(self) -> Any:
        """The function."""
        return self._bijector

    @property
    def distribution(self) -> Distribution:
        """The distribution of its argument."""
        return self._distribution

    @property
    def is_linear_transformation(self) -> bool:
        """Whether the function is linear."""
        return bool(self._bijector.is_constant_jacobian)

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape that the parameters broadcast to."""
        return self._distribution.batch_shape

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """The parameters of the distribution."""
        return self._distribution.get_dist_args(*args, **kwargs)

    def _log_prob(self, y: Tensor, *given: Tensor) -> Tensor:
        logs = self._distribution.log_prob(self._bijector.inverse(y), *given)
        return logs + self._bijector.inverse_log_jacobian(y)

    def _cdf(self, y: Tensor, *given: Tensor) -> Tensor:
        return self._distribution.cdf(self._bijector.inverse(y), *given)

    def _log_cdf(self, y: Tensor, *given: Tensor) -> Tensor:
        return self._distribution.log_cdf(self._bijector.inverse(y), *given)

    def _survival_function(self, y: Tensor, *given: Tensor) -> Tensor:
        return self._distribution.survival_function(self._bijector.inverse(y), *given)

    def _log_survival(self, y: Tensor, *given: Tensor) -> Tensor:
        return self._distribution.log_survival(self._bijector.inverse(y), *given)

    def _mean(self, *given: Tensor) -> Tensor:
        if not self.is_linear_transformation:
            raise ArgumentError(
                "the mean of what a bijector gives is known for linear ones", hint="take that of samples"
            )
        return self._bijector.forward(self._distribution.mean(*given))

    def _entropy(self, *given: Tensor) -> Tensor:
        if not self.is_linear_transformation:
            raise ArgumentError("the entropy of what a bijector gives is known for linear ones")
        mean = self._distribution.mean(*given)
        return self._distribution.entropy(*given) + self._bijector.forward_log_jacobian(mean)

    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Tensor:
        """What the function makes of numbers drawn."""
        return self._bijector.forward(self._distribution.sample(shape, *args, **kwargs))
