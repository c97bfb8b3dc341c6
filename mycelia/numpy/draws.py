"""Random numbers of rarer distributions by NumPy's names, from the session's stream. What is drawn has no gradient in
what it was drawn by.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.numpy.linalg import eigh
from mycelia.numpy.shapes import broadcast_shapes
from mycelia.ops.arguments import extents
from mycelia.ops.distributions import gamma_noise, poisson_noise
from mycelia.ops.random import must_hold
from mycelia.types import float32, float64, int64

__all__ = [
    "beta", "binomial", "chisquare", "dirichlet", "f", "gamma", "geometric", "multinomial", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "poisson", "standard_gamma", "standard_t", "wald",
]  # fmt: skip

ONE_BY_ONE = 64  # so many trials are drawn each for itself


def spread(size: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape that is asked for, or that parameters have.

    >>> spread(None, [1.0, 2.0], 3.0), spread(4, 1.0)
    ((2,), (4,))
    """
    return broadcast_shapes(*[asarray(p).shape for p in parameters]) if size is None else extents(size)


def _at_least(name: str, what: str, x: Any, least: float, most: float | None = None) -> Tensor:
    """A parameter in double precision, which lies between two numbers."""
    found = ops.stop_gradient(cast(asarray(x), float64))
    must_hold((found >= least).all(), f"{what} of {name} is at least {least}", found.shape)
    if most is not None:
        must_hold((found <= most).all(), f"{what} of {name} is at most {most}", found.shape)
    return found


def _gammas(name: str, what: str, x: Any, shape: tuple[int, ...]) -> Tensor:
    return gamma_noise(shape, _at_least(name, what, x, 0), None)


def standard_gamma(shape: Any, size: Any = None) -> Tensor:
    """Numbers of a gamma distribution of scale 1.

    >>> standard_gamma(2.0, (3,)).shape
    (3,)
    """
    return cast(_gammas("standard_gamma", "shape", shape, spread(size, shape)), float32)


def gamma(shape: Any, scale: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of a gamma distribution.

    >>> gamma(2.0, [1.0, 3.0]).shape
    (2,)
    """
    drawn = _gammas("gamma", "shape", shape, spread(size, shape, scale))
    return cast(drawn * _at_least("gamma", "scale", scale, 0), float32)


def beta(a: Any, b: Any, size: Any = None) -> Tensor:
    """Numbers between 0 and 1 of a beta distribution.

    >>> 0 <= beta(2.0, 3.0).item() <= 1
    True
    """
    return cast(_beta(a, b, spread(size, a, b)), float32)


def _beta(a: Any, b: Any, shape: tuple[int, ...]) -> Tensor:
    x, y = _gammas("beta", "a", a, shape), _gammas("beta", "b", b, shape)
    return x / (x + y)


def chisquare(df: Any, size: Any = None) -> Tensor:
    """Sums of `df` squares of standard normal numbers.

    >>> chisquare(3.0, (2,)).shape
    (2,)
    """
    half = _at_least("chisquare", "df", df, 0) / 2
    return cast(2 * gamma_noise(spread(size, df), half, None), float32)


def noncentral_chisquare(df: Any, nonc: Any, size: Any = None) -> Tensor:
    """Sums of `df` squares of normal numbers, of whose means the squares add up to `nonc`.

    >>> noncentral_chisquare(3.0, 1.0, (2,)).shape
    (2,)
    """
    shape = spread(size, df, nonc)
    extra = poisson_noise(shape, _at_least("noncentral_chisquare", "nonc", nonc, 0) / 2, None)
    half = _at_least("noncentral_chisquare", "df", df, 0) / 2
    return cast(2 * gamma_noise(shape, half + extra, None), float32)


def f(dfnum: Any, dfden: Any, size: Any = None) -> Tensor:
    """Quotients of two sums of squares of standard normal numbers, each over how many they are (Fisher).

    >>> f(3.0, 4.0).item() >= 0
    True
    """
    shape = spread(size, dfnum, dfden)
    up, down = (_at_least("f", what, x, 0) / 2 for what, x in (("dfnum", dfnum), ("dfden", dfden)))
    return cast(gamma_noise(shape, up, None) / up / (gamma_noise(shape, down, None) / down), float32)


def standard_t(df: Any, size: Any = None) -> Tensor:
    """Numbers of Student's t distribution.

    >>> standard_t(3.0, (2,)).shape
    (2,)
    """
    shape, half = spread(size, df), _at_least("standard_t", "df", df, 0) / 2
    return cast(ops.randn(*shape, dtype=float64) / ops.sqrt(gamma_noise(shape, half, None) / half), float32)


def wald(mean: Any, scale: Any, size: Any = None) -> Tensor:
    """Numbers of a Wald distribution, the inverse Gaussian (Michael, Schucany and Haas).

    >>> wald(1.0, 2.0).item() >= 0
    True
    """
    shape = spread(size, mean, scale)
    m, s = _at_least("wald", "mean", mean, 0), _at_least("wald", "scale", scale, 0)
    y = m * ops.randn(*shape, dtype=float64) ** 2
    low = 2 * m * s / (2 * s + y + ops.sqrt(y * (4 * s + y)))  # the smaller zero, without cancellation
    return cast(ops.where(ops.rand(*shape, dtype=float64) * (m + low) <= m, low, m * m / low), float32)


def poisson(lam: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of events of a Poisson distribution.

    >>> poisson(3.0, (2,)).shape
    (2,)
    """
    return cast(poisson_noise(spread(size, lam), _at_least("poisson", "lam", lam, 0), None), int64)


def geometric(p: Any, size: Any = None) -> Tensor:
    """How many trials there are up to the first success.

    >>> geometric(1.0).item()
    1
    """
    chance = _at_least("geometric", "p", p, 1e-300, 1)
    waiting = -ops.log1p(-ops.rand(*spread(size, p), dtype=float64))
    return cast(ops.maximum(ops.ceil(waiting / -ops.log1p(-chance)), 1.0), int64)


def negative_binomial(n: Any, p: Any, size: Any = None) -> Tensor:
    """How many failures there are before the n-th success.

    >>> negative_binomial(3, 0.5, (2,)).shape
    (2,)
    """
    shape, chance = spread(size, n, p), _at_least("negative_binomial", "p", p, 1e-300, 1)
    rate = gamma_noise(shape, _at_least("negative_binomial", "n", n, 0), None) * (1 - chance) / chance
    return cast(poisson_noise(shape, rate, None), int64)


def binomial(n: Any, p: Any, size: Any = None) -> Tensor:
    """How many of n trials succeed.

    >>> binomial(5, 1.0).item()
    5
    """
    return cast(_successes(n, p, spread(size, n, p)), int64)


def _successes(n: Any, p: Any, shape: tuple[int, ...]) -> Tensor:
    """Trials are the n first of even numbers that lie below p. As long as they are many, the one in the middle tells on
    which side of it p lies, and so half of them (Devroye, X.4.3); the last few are drawn each for itself.
    """
    left = ops.broadcast_to(ops.floor(_at_least("binomial", "n", n, 0)), shape)
    chance = ops.broadcast_to(_at_least("binomial", "p", p, 0, 1), shape)
    found = ops.zeros(shape, float64)
    most = float(left.numbers().max()) if left.size else 0.0
    while most > ONE_BY_ONE:
        many = left > ONE_BY_ONE
        place = ops.where(many, ops.floor((left + 1) / 2), ops.ones_like(left))
        x, y = gamma_noise(shape, place, None), gamma_noise(shape, ops.maximum(left + 1 - place, 1.0), None)
        middle = x / (x + y)
        below = ops.logical_and(many, middle <= chance)
        above = ops.logical_and(many, middle > chance)
        found = found + ops.where(below, place, ops.zeros_like(place))
        rest = ops.where(below, (chance - middle) / (1 - middle), ops.where(above, chance / middle, chance))
        left = ops.where(below, left - place, ops.where(above, place - 1, left))
        chance, most = ops.clamp(rest, 0.0, 1.0), most // 2
    trials = ops.rand(ONE_BY_ONE, *shape, dtype=float64) < chance
    order = ops.reshape(ops.arange(ONE_BY_ONE), (-1,) + (1,) * len(shape))
    return found + cast(ops.logical_and(trials, order < left), float64).sum(0)


def multinomial(n: Any, pvals: Any, size: Any = None) -> Tensor:
    """How often each of several outcomes occurs in n trials; their probabilities lie along a last axis.

    >>> multinomial(10, [0.5, 0.5]).sum().item()
    10
    """
    chances = _at_least("multinomial", "pvals", pvals, 0, 1)
    if chances.ndim < 1 or not chances.shape[-1]:
        raise ShapeError("probabilities of outcomes lie along an axis", given={"pvals": chances.shape})
    must_hold((chances[..., :-1].sum(-1) <= 1 + 1e-9).all(), "probabilities of multinomial are at most 1 in all", ())
    batch = chances.shape[:-1] if size is None else extents(size)
    left = ops.broadcast_to(cast(asarray(n), float64), batch)
    mass, found = ops.ones(batch, float64), []
    for i in range(chances.shape[-1] - 1):
        chance = chances[..., i]
        share = ops.where(mass > 0, chance / ops.maximum(mass, 1e-300), ops.zeros_like(mass))
        found.append(_successes(left, ops.clamp(share, 0.0, 1.0), batch))
        left, mass = left - found[-1], mass - chance
    return cast(ops.stack([*found, left], -1), int64)


def dirichlet(alpha: Any, size: Any = None) -> Tensor:
    """Shares that add up to 1, along a last axis.

    >>> round(dirichlet([1.0, 2.0, 3.0]).sum().item(), 4)
    1.0
    """
    weights = _at_least("dirichlet", "alpha", alpha, 0)
    if weights.ndim != 1:
        raise ShapeError("weights of shares are a vector", given={"alpha": weights.shape})
    drawn = gamma_noise((*spread(() if size is None else size), weights.shape[0]), weights, None)
    return cast(drawn / ops.sum(drawn, -1, True), float32)


def multivariate_normal(mean: Any, cov: Any, size: Any = None) -> Tensor:
    """Vectors of a normal distribution with a matrix of covariances, along a last axis.

    >>> multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]], (3,)).shape
    (3, 2)
    """
    middle, matrix = (ops.stop_gradient(cast(asarray(x), float64)) for x in (mean, cov))
    if middle.ndim != 1 or matrix.shape != (middle.shape[0],) * 2:
        raise ShapeError(
            "covariances are a square as large as the mean", given={"mean": middle.shape, "cov": matrix.shape}
        )
    values, vectors = eigh(matrix)
    if float(values.min().item() if values.size else 0) < -1e-8 * max(1.0, float(abs(values).max().item())):
        raise ArgumentError("covariances have no negative direction", given={"least eigenvalue": values.min().item()})
    noise = ops.randn(*(() if size is None else extents(size)), middle.shape[0], dtype=float64)
    return cast(middle + ops.matmul(noise * ops.sqrt(ops.maximum(values, 0.0)), ops.swapaxes(vectors, 0, 1)), float32)
