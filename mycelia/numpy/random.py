"""Random numbers by NumPy's names: from the session's stream, which `seed` begins anew, or from another."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import pi
from typing import Any

from mycelia import ops
from mycelia.api import set_seed
from mycelia.eager import Generator as Stream
from mycelia.eager import Tensor, as_dtype, cast
from mycelia.errors import ArgumentError
from mycelia.numpy.creation import asarray
from mycelia.numpy.draws import (
    beta,
    binomial,
    chisquare,
    dirichlet,
    f,
    gamma,
    geometric,
    multinomial,
    multivariate_normal,
    negative_binomial,
    noncentral_chisquare,
    poisson,
    spread,
    standard_gamma,
    standard_t,
    wald,
)
from mycelia.numpy.shapes import ravel
from mycelia.ops.arguments import axis_of, extents
from mycelia.types import float32, int64

__all__ = [
    "Generator",
    "bernoulli",
    "beta",
    "binomial",
    "cauchy",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "wald",
    "weibull",
]


class RandomGenerator:
    """A stream of random numbers of one's own.

    >>> default_rng(3).random(2).tolist() == default_rng(3).random(2).tolist()
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        self.stream = Stream()
        if seed is None:
            self.stream.seed()
        else:
            self.stream.manual_seed(seed)

    def random(self, size: Any = None, dtype: Any = float32) -> Tensor:
        """Numbers evenly from 0 up to, and without, 1.

        >>> default_rng(0).random((2,)).shape
        (2,)
        """
        return _even(size, dtype, self.stream)

    def standard_normal(self, size: Any = None, dtype: Any = float32) -> Tensor:
        """Numbers of the standard normal distribution.

        >>> default_rng(0).standard_normal((2,)).shape
        (2,)
        """
        return ops.randn(*_shape(size), dtype=as_dtype(dtype), generator=self.stream)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Tensor:
        """Numbers of a normal distribution.

        >>> default_rng(0).normal(size=2).shape
        (2,)
        """
        return loc + scale * self.standard_normal(spread(size, loc, scale))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
        """Numbers evenly from `low` up to, and without, `high`.

        >>> default_rng(0).uniform(2.0, 3.0).item() >= 2.0
        True
        """
        return low + (high - low) * self.random(spread(size, low, high))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Tensor:
        """Numbers of an exponential distribution.

        >>> default_rng(0).exponential().item() >= 0
        True
        """
        return scale * _waiting(self.random(spread(size, scale)))

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = int64, endpoint: bool = False
    ) -> Tensor:
        """Whole numbers evenly from `low` up to `high`, which is left out unless it is an `endpoint`.

        >>> 0 <= default_rng(0).integers(5).item() < 5
        True
        """
        return _whole(low, high, size, dtype, endpoint, self.stream)

    def permutation(self, x: Any) -> Tensor:
        """The numbers below x in random order; or the slices of the first axis of an array.

        >>> sorted(default_rng(0).permutation(3).tolist())
        [0, 1, 2]
        """
        return _mixed(x, self.stream)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Tensor:
        """Elements of a vector, or numbers below one, each as likely as the others, or as `p` says.

        >>> default_rng(0).choice(5, (2,)).shape
        (2,)
        """
        return _chosen(a, size, replace, p, self.stream)


Generator = RandomGenerator


def default_rng(seed: int | None = None) -> RandomGenerator:
    """A stream of random numbers of one's own; without a seed, one that nobody can foresee.

    >>> default_rng(1).random().shape
    ()
    """
    return RandomGenerator(seed)


def seed(seed: int) -> None:
    """Begin the session's stream anew.

    >>> seed(1)
    """
    set_seed(seed)


# ----------------------------------------------------------------------------------------------------------- machinery


def _shape(size: Any) -> tuple[int, ...]:
    return () if size is None else extents(size)


def _even(size: Any, dtype: Any, stream: Stream | None) -> Tensor:
    return ops.rand(*_shape(size), dtype=as_dtype(dtype), generator=stream)


def _waiting(even: Tensor) -> Tensor:
    return -ops.log1p(-even)


def _whole(low: Any, high: Any, size: Any, dtype: Any, endpoint: bool, stream: Stream | None) -> Tensor:
    low, high = (0, low) if high is None else (low, high)
    top = int(high) + 1 if endpoint else int(high)
    if int(low) >= top:
        raise ArgumentError("there is no whole number to draw", given={"low": low, "high": high})
    return cast(ops.randint(int(low), top, _shape(size), generator=stream), as_dtype(dtype))


def _mixed(x: Any, stream: Stream | None) -> Tensor:
    if isinstance(x, int):
        return ops.randperm(x, generator=stream)
    a = asarray(x)
    if not a.ndim:
        return _mixed(int(a.item()), stream)
    return ops.gather(a, ops.randperm(a.shape[0], generator=stream), 0)


def _chosen(a: Any, size: Any, replace: bool, p: Any, stream: Stream | None) -> Tensor:
    elements = None if isinstance(a, int) else asarray(a)
    many = a if elements is None else elements.shape[axis_of(elements, 0)]
    shape = _shape(size)
    count = 1
    for extent in shape:
        count *= extent
    if many < 1 or (not replace and count > many):
        raise ArgumentError(f"{count} elements cannot be chosen among {many}", given={"replace": replace})
    if p is not None:
        weights = cast(asarray(p), float32)
        places = ops.multinomial(weights, count, replace, generator=stream)
    elif replace:
        places = ops.randint(0, many, (count,), generator=stream)
    else:
        places = ops.randperm(many, generator=stream)[:count]
    found = cast(places, int64) if elements is None else ops.gather(elements, ravel(places), 0)
    return ops.reshape(found, (*shape, *found.shape[1:]))


# ----------------------------------------------------------------------------------------------- the session's stream


def random(size: Any = None) -> Tensor:
    """Numbers evenly from 0 up to, and without, 1.

    >>> random((2,)).shape
    (2,)
    """
    return _even(size, float32, None)


random_sample = ranf = sample = random


def rand(*shape: Any, dtype: Any = float32) -> Tensor:
    """Numbers evenly from 0 up to, and without, 1.

    >>> rand(2, 3).shape
    (2, 3)
    """
    return _even(extents(*shape) if shape else (), dtype, None)


def randn(*shape: Any, dtype: Any = float32) -> Tensor:
    """Numbers of the standard normal distribution.

    >>> randn(2, 3).shape
    (2, 3)
    """
    return ops.randn(*(extents(*shape) if shape else ()), dtype=as_dtype(dtype))


def standard_normal(size: Any = None) -> Tensor:
    """Numbers of the standard normal distribution.

    >>> standard_normal((2,)).shape
    (2,)
    """
    return ops.randn(*_shape(size))


def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of a normal distribution.

    >>> normal(1.0, 2.0, (2,)).shape
    (2,)
    """
    return loc + scale * standard_normal(spread(size, loc, scale))


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers evenly from `low` up to, and without, `high`.

    >>> uniform(2.0, 3.0).item() >= 2.0
    True
    """
    return low + (high - low) * random(spread(size, low, high))


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = int64) -> Tensor:
    """Whole numbers evenly from `low` up to, and without, `high`.

    >>> 0 <= randint(5).item() < 5
    True
    """
    return _whole(low, high, size, dtype, False, None)


def permutation(x: Any) -> Tensor:
    """The numbers below x in random order; or the slices of the first axis of an array.

    >>> sorted(permutation(3).tolist())
    [0, 1, 2]
    """
    return _mixed(x, None)


def shuffle(x: Tensor) -> None:
    """Put the slices of the first axis of a tensor in random order, in place.

    >>> x = Tensor([1, 2, 3])
    >>> shuffle(x)
    >>> sorted(x.tolist())
    [1, 2, 3]
    """
    x[:] = _mixed(x, None)


def choice(a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Tensor:
    """Elements of a vector, or numbers below one, each as likely as the others, or as `p` says.

    >>> choice(5, (2,)).shape
    (2,)
    """
    return _chosen(a, size, replace, p, None)


def bernoulli(p: Any = 0.5, size: Any = None) -> Tensor:
    """True with a probability, else False.

    >>> bernoulli(1.0).item()
    True
    """
    return random(spread(size, p)) < p


def exponential(scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of an exponential distribution.

    >>> exponential(2.0).item() >= 0
    True
    """
    return scale * _waiting(random(spread(size, scale)))


def standard_exponential(size: Any = None) -> Tensor:
    """Numbers of the exponential distribution with mean 1.

    >>> standard_exponential((2,)).shape
    (2,)
    """
    return exponential(1.0, size)


def laplace(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of a Laplace distribution.

    >>> laplace(size=(2,)).shape
    (2,)
    """
    even = random(spread(size, loc, scale)) - 0.5
    return loc - scale * ops.sign(even) * ops.log1p(-2 * ops.abs(even))


def logistic(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of a logistic distribution.

    >>> logistic(size=(2,)).shape
    (2,)
    """
    even = _inside(random(spread(size, loc, scale)))
    return loc + scale * (ops.log(even) - ops.log1p(-even))


def gumbel(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of a Gumbel distribution.

    >>> gumbel(size=(2,)).shape
    (2,)
    """
    return loc - scale * ops.log(-ops.log(_inside(random(spread(size, loc, scale)))))


def _inside(even: Tensor) -> Tensor:
    """Even numbers of which none is 0."""
    return ops.clamp(even, 2.0**-25)


def lognormal(mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers whose logarithms are of a normal distribution.

    >>> lognormal().item() > 0
    True
    """
    return ops.exp(normal(mean, sigma, size))


def rayleigh(scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of a Rayleigh distribution.

    >>> rayleigh().item() >= 0
    True
    """
    return scale * ops.sqrt(2 * _waiting(random(spread(size, scale))))


def weibull(a: Any, size: Any = None) -> Tensor:
    """Numbers of a Weibull distribution.

    >>> weibull(2.0).item() >= 0
    True
    """
    return _waiting(random(spread(size, a))) ** (1 / a)


def pareto(a: Any, size: Any = None) -> Tensor:
    """Numbers of a Pareto distribution that begins at 0 (Lomax).

    >>> pareto(3.0).item() >= 0
    True
    """
    return ops.expm1(_waiting(random(spread(size, a))) / a)


def power(a: Any, size: Any = None) -> Tensor:
    """Numbers between 0 and 1 with the density a x^(a - 1).

    >>> 0 <= power(3.0).item() <= 1
    True
    """
    return random(spread(size, a)) ** (1 / a)


def cauchy(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of a Cauchy distribution.

    >>> cauchy(size=(2,)).shape
    (2,)
    """
    return loc + scale * ops.tan(pi * (random(spread(size, loc, scale)) - 0.5))


def standard_cauchy(size: Any = None) -> Tensor:
    """Numbers of the Cauchy distribution around 0 with scale 1.

    >>> standard_cauchy((2,)).shape
    (2,)
    """
    return cauchy(size=() if size is None else size)


def triangular(left: Any, mode: Any, right: Any, size: Any = None) -> Tensor:
    """Numbers of a triangular distribution.

    >>> 0 <= triangular(0.0, 1.0, 2.0).item() <= 2
    True
    """
    even = random(spread(size, left, mode, right))
    wide, low, high = right - left, mode - left, right - mode
    rising = left + ops.sqrt(even * wide * low)
    falling = right - ops.sqrt((1 - even) * wide * high)
    return ops.where(even < low / wide, rising, falling)
