"""Distributions of vectors, and densities from samples."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy import random
from mycelia.numpy.creation import asarray
from mycelia.numpy.products import together
from mycelia.ops.arguments import floated
from mycelia.scipy.special.elementary import logsumexp, xlogy

__all__ = ["dirichlet", "gaussian_kde", "multinomial", "multivariate_normal"]


class MultivariateNormal:
    """Normal distributions of vectors.

    >>> from mycelia.scipy import stats
    >>> round(stats.multivariate_normal.logpdf([0.0, 0.0]).item(), 4)
    -1.8379
    """

    def _given(self, x: Any, mean: Any, cov: Any) -> tuple[Tensor, Tensor, Tensor]:
        v = floated(asarray(x))
        size = v.shape[-1] if v.ndim else 1
        spread = floated(asarray(1.0 if cov is None else cov))
        if spread.ndim == 2:
            size = spread.shape[-1]
        level = floated(asarray(0.0 if mean is None else mean))
        size = level.shape[-1] if level.ndim else size
        v = ops.reshape(v, (*v.shape, 1)) if size == 1 and (not v.ndim or v.shape[-1] != 1) else v
        unit = ops.eye(size, dtype=v.dtype)
        if spread.ndim < 2:
            spread = unit * cast(spread, v.dtype)
        v, level, spread = together(v, level, spread)
        if spread.shape != (size, size) or v.shape[-1] != size:
            raise ShapeError(
                "vectors, mean and covariance do not fit", given={"x": v.shape, "cov": spread.shape, "size": size}
            )
        return v, level, spread

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1) -> Tensor:
        """The logarithm of the density of vectors along the last axis."""
        v, level, spread = self._given(x, mean, cov)
        factor = ops.cholesky(spread)
        away = ops.reshape(v - level, (-1, v.shape[-1]))
        solved = ops.triangular_solve(away.T, factor, False)[0]
        squares = ops.reshape(ops.sum(solved * solved, 0), v.shape[:-1])
        size = ops.sum(ops.log(ops.diagonal(factor)))
        return -0.5 * squares - size - 0.5 * v.shape[-1] * float(numpy.log(2 * numpy.pi))

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1) -> Tensor:
        """The density of vectors along the last axis."""
        return ops.exp(self.logpdf(x, mean, cov))

    def entropy(self, mean: Any = None, cov: Any = 1) -> Tensor:
        """The differential entropy."""
        _, _, spread = self._given(ops.zeros_like(floated(asarray(0.0 if mean is None else mean))), mean, cov)
        size = spread.shape[-1]
        return 0.5 * (ops.slogdet(spread)[1] + size * float(numpy.log(2 * numpy.pi * numpy.e)))

    def rvs(self, mean: Any = None, cov: Any = 1, size: Any = 1, random_state: Any = None) -> Tensor:
        """Vectors that are drawn."""
        level = floated(asarray(0.0 if mean is None else mean))
        spread = floated(asarray(cov))
        length = spread.shape[-1] if spread.ndim == 2 else level.shape[-1] if level.ndim else 1
        _, level, spread = self._given(ops.zeros((length,), level.dtype), mean, cov)
        shape = (size,) if isinstance(size, int) else tuple(size)
        stream = random if random_state is None else random.default_rng(random_state)
        drawn = cast(stream.standard_normal((*shape, length)), spread.dtype)
        out = level + ops.matmul(drawn, ops.cholesky(spread).T)
        out = out[0] if shape == (1,) else out
        return out[..., 0] if length == 1 else out


class Dirichlet:
    """Distributions of shares, which sum to 1.

    >>> from mycelia.scipy import stats
    >>> round(stats.dirichlet.pdf([0.3, 0.7], [1.0, 1.0]).item(), 4)
    1.0
    """

    def logpdf(self, x: Any, alpha: Any) -> Tensor:
        """The logarithm of the density; the shares lie along the first axis."""
        v, a = map(floated, together(x, alpha))
        if a.ndim != 1 or v.shape[0] != a.shape[0]:
            raise ShapeError("there is one alpha for each share", given={"x": v.shape, "alpha": a.shape})
        wide = ops.reshape(a, (-1, *[1] * (v.ndim - 1)))
        whole = ops.lgamma(ops.sum(a)) - ops.sum(ops.lgamma(a))
        return ops.sum(xlogy(wide - 1.0, v), 0) + whole

    def pdf(self, x: Any, alpha: Any) -> Tensor:
        """The density; the shares lie along the first axis."""
        return ops.exp(self.logpdf(x, alpha))

    def mean(self, alpha: Any) -> Tensor:
        """The mean share of each."""
        a = floated(asarray(alpha))
        return a / ops.sum(a)

    def var(self, alpha: Any) -> Tensor:
        """The variance of the share of each."""
        a = floated(asarray(alpha))
        whole = ops.sum(a)
        return a * (whole - a) / (whole * whole * (whole + 1.0))

    def entropy(self, alpha: Any) -> Tensor:
        """The differential entropy."""
        a = floated(asarray(alpha))
        whole, count = ops.sum(a), a.shape[0]
        size = ops.sum(ops.lgamma(a)) - ops.lgamma(whole)
        return size + (whole - count) * ops.digamma(whole) - ops.sum((a - 1.0) * ops.digamma(a))


class Multinomial:
    """How often each of several things happens in n trials.

    >>> from mycelia.scipy import stats
    >>> round(stats.multinomial.pmf([1.0, 1.0], 2, [0.5, 0.5]).item(), 4)
    0.5
    """

    def logpmf(self, x: Any, n: Any, p: Any) -> Tensor:
        """The logarithm of the probability of counts along the last axis."""
        v, share = map(floated, together(x, p))
        count = asarray(n, v.dtype)
        found = ops.lgamma(count + 1.0) + ops.sum(xlogy(v, share) - ops.lgamma(v + 1.0), -1)
        fits = ops.equal(ops.sum(v, -1), count)
        return ops.where(fits, found, ops.zeros_like(found) - float("inf"))

    def pmf(self, x: Any, n: Any, p: Any) -> Tensor:
        """The probability of counts along the last axis."""
        return ops.exp(self.logpmf(x, n, p))

    def cov(self, n: Any, p: Any) -> Tensor:
        """How counts go together."""
        share = floated(asarray(p))
        return n * (ops.eye(share.shape[0], dtype=share.dtype) * share - ops.outer(share, share))


class gaussian_kde:  # SciPy's name
    """A density from a sample: a normal distribution around each of its vectors, which are columns.

    >>> round(gaussian_kde([0.0, 1.0, 2.0])([1.0]).item(), 3)
    0.318
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        data = floated(asarray(dataset))
        self.dataset = ops.reshape(data, (1, -1)) if data.ndim < 2 else data
        self.d, self.n = self.dataset.shape
        if self.n < 2:
            raise ArgumentError("a density needs two points at least", given={"shape": self.dataset.shape})
        given = ops.ones((self.n,), data.dtype) if weights is None else asarray(weights, data.dtype)
        self.weights = given / ops.sum(given)
        self.neff = 1.0 / ops.sum(self.weights * self.weights)
        if bw_method is None or bw_method == "scott":
            self.factor: Any = ops.pow(self.neff, -1.0 / (self.d + 4))
        elif bw_method == "silverman":
            self.factor = ops.pow(self.neff * (self.d + 2.0) / 4.0, -1.0 / (self.d + 4))
        elif isinstance(bw_method, str):
            raise ArgumentError(f"there is no rule {bw_method!r}", hint='"scott", "silverman", a number or a function')
        else:
            self.factor = bw_method(self) if callable(bw_method) else bw_method
        away = self.dataset - ops.sum(self.dataset * self.weights, 1, keepdim=True)
        spread = ops.matmul(away * self.weights, away.T) / (1.0 - ops.sum(self.weights * self.weights))
        self.covariance = spread * self.factor**2

    def logpdf(self, x: Any) -> Tensor:
        """The logarithm of the density at points, which are columns."""
        points = cast(floated(asarray(x)), self.dataset.dtype)
        points = ops.reshape(points, (1, -1) if self.d == 1 else (-1, 1)) if points.ndim < 2 else points
        if points.shape[0] != self.d:
            raise ShapeError("points have as many rows as the sample", given={"x": points.shape, "rows": self.d})
        factor = ops.cholesky(self.covariance)
        white, here = (ops.triangular_solve(v, factor, False)[0] for v in (self.dataset, points))
        away = ops.expand_dims(here, 2) - ops.expand_dims(white, 1)
        size = ops.sum(ops.log(ops.diagonal(factor))) + 0.5 * self.d * float(numpy.log(2 * numpy.pi))
        return logsumexp(-0.5 * ops.sum(away * away, 0), 1, b=self.weights) - size

    def evaluate(self, points: Any) -> Tensor:
        """The density at points, which are columns."""
        return ops.exp(self.logpdf(points))

    __call__ = pdf = evaluate


multivariate_normal, dirichlet, multinomial = MultivariateNormal(), Dirichlet(), Multinomial()
