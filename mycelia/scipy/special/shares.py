"""Shares of distributions below and above a number, by the names they have among special functions."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from collections.abc import Callable
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.ops.incomplete import chosen, widened
from mycelia.scipy.special.gammas import (
    beta_quantile,
    betainc,
    betaincc,
    gamma_quantile,
    gammainc,
    gammaincc,
    gammainccinv,
)
from mycelia.scipy.special.normal import ndtr

__all__ = [
    "bdtr", "bdtrc", "chdtr", "chdtrc", "chdtri", "fdtr", "fdtrc", "fdtri", "gdtr", "gdtrc", "gdtrix", "nbdtr",
    "nbdtrc", "pdtr", "pdtrc", "stdtr", "stdtrit",
]  # fmt: skip


def chdtr(v: Any, x: Any) -> Tensor:
    """The share of a chi-squared distribution with v degrees of freedom below x.

    >>> round(chdtr(2.0, 2.0).item(), 5)
    0.63212
    """
    (n, z), dtype = widened("chdtr", v, x)
    return cast(gammainc(n * 0.5, z * 0.5), dtype)


def chdtrc(v: Any, x: Any) -> Tensor:
    """The share of a chi-squared distribution with v degrees of freedom above x.

    >>> round(chdtrc(2.0, 2.0).item(), 5)
    0.36788
    """
    (n, z), dtype = widened("chdtrc", v, x)
    return cast(gammaincc(n * 0.5, z * 0.5), dtype)


def chdtri(v: Any, p: Any) -> Tensor:
    """The x above which a share p of a chi-squared distribution with v degrees of freedom lies.

    >>> round(chdtri(2.0, 0.36788).item(), 4)
    2.0
    """
    (n, share), dtype = widened("chdtri", v, p)
    return cast(2.0 * gammainccinv(n * 0.5, share), dtype)


def gdtr(a: Any, b: Any, x: Any) -> Tensor:
    """The share of a gamma distribution of rate a and shape b below x.

    >>> round(gdtr(1.0, 1.0, 1.0).item(), 5)
    0.63212
    """
    (rate, shape, z), dtype = widened("gdtr", a, b, x)
    return cast(gammainc(shape, rate * z), dtype)


def gdtrc(a: Any, b: Any, x: Any) -> Tensor:
    """The share of a gamma distribution of rate a and shape b above x.

    >>> round(gdtrc(1.0, 1.0, 1.0).item(), 5)
    0.36788
    """
    (rate, shape, z), dtype = widened("gdtrc", a, b, x)
    return cast(gammaincc(shape, rate * z), dtype)


def gdtrix(a: Any, b: Any, p: Any) -> Tensor:
    """The x below which a share p of a gamma distribution of rate a and shape b lies.

    >>> round(gdtrix(1.0, 1.0, 0.63212).item(), 4)
    1.0
    """
    (rate, shape, share), dtype = widened("gdtrix", a, b, p)
    return cast(gamma_quantile(shape, share, 1.0 - share) / rate, dtype)


def fdtr(dfn: Any, dfd: Any, x: Any) -> Tensor:
    """The share of Fisher's F distribution below x.

    >>> round(fdtr(2.0, 2.0, 1.0).item(), 5)
    0.5
    """
    (n, d, z), dtype = widened("fdtr", dfn, dfd, x)
    return cast(betainc(0.5 * n, 0.5 * d, n * z / (d + n * z)), dtype)


def fdtrc(dfn: Any, dfd: Any, x: Any) -> Tensor:
    """The share of Fisher's F distribution above x.

    >>> round(fdtrc(2.0, 2.0, 1.0).item(), 5)
    0.5
    """
    (n, d, z), dtype = widened("fdtrc", dfn, dfd, x)
    return cast(betainc(0.5 * d, 0.5 * n, d / (d + n * z)), dtype)


def fdtri(dfn: Any, dfd: Any, p: Any) -> Tensor:
    """The x below which a share p of Fisher's F distribution lies.

    >>> round(fdtri(2.0, 2.0, 0.5).item(), 5)
    1.0
    """
    (n, d, share), dtype = widened("fdtri", dfn, dfd, p)
    x, rest = beta_quantile(0.5 * n, 0.5 * d, share, 1.0 - share)
    return cast(x * d / (rest * n), dtype)


def stdtr(df: Any, t: Any) -> Tensor:
    """The share of Student's t distribution with df degrees of freedom below t.

    >>> round(stdtr(1.0, 1.0).item(), 5)
    0.75
    """
    (given, z), dtype = widened("stdtr", df, t)
    endless = given == python.inf
    n, square = chosen(ops.logical_not(endless), given, 1.0), z * z
    far = square > 1
    # by the smaller of t^2 / (n + t^2) and n / (n + t^2), so that nothing is lost
    tail = 0.5 * betainc(0.5 * n, 0.5, n / (n + chosen(far, square, 1.0)))
    small = chosen(ops.logical_not(far), square, 0.0)
    middle = 0.5 * betainc(0.5, 0.5 * n, small / (n + small))
    out = ops.where(far, ops.where(z < 0, tail, 1.0 - tail), 0.5 + ops.sign(z) * middle)
    return cast(ops.where(endless, ndtr(z), out), dtype)


def stdtrit(df: Any, p: Any) -> Tensor:
    """The t below which a share p of Student's t distribution with df degrees of freedom lies.

    >>> round(stdtrit(1.0, 0.75).item(), 5)
    1.0
    """
    (n, share), dtype = widened("stdtrit", df, p)
    return cast(student_quantile(n, share, 1.0 - share), dtype)


def student_quantile(df: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """The t for which the shares below and above are these.

    >>> round(student_quantile(*[Tensor(v, "float64") for v in (1.0, 0.75, 0.25)]).item(), 5)
    1.0
    """
    lower = low < high
    tail = ops.where(lower, low, high)
    known = ops.equal(low, high)
    tail = ops.where(known, 0.25 * ops.ones_like(tail), tail)
    between = ops.where(known, 0.5 * ops.ones_like(tail), ops.abs(high - low))
    x, rest = beta_quantile(0.5 * ops.ones_like(df), 0.5 * df, between, 2.0 * tail)  # t^2 = n x / (1 - x)
    size = ops.sqrt(df * x / ops.maximum(rest, 1e-300 * ops.ones_like(x)))
    size = ops.where(tail <= 0, ops.zeros_like(size) + python.inf, size)
    return ops.where(known, ops.zeros_like(size), ops.where(lower, -size, size))


def pdtr(k: Any, m: Any) -> Tensor:
    """The share of a Poisson distribution of mean m up to k.

    >>> round(pdtr(0.0, 1.0).item(), 5)
    0.36788
    """
    return _poisson("pdtr", gammaincc, k, m)


def pdtrc(k: Any, m: Any) -> Tensor:
    """The share of a Poisson distribution of mean m above k.

    >>> round(pdtrc(0.0, 1.0).item(), 5)
    0.63212
    """
    return _poisson("pdtrc", gammainc, k, m)


def _poisson(name: str, share: Callable[[Any, Any], Tensor], k: Any, m: Any) -> Tensor:
    (n, mean), dtype = widened(name, k, m)
    whole = ops.floor(n)
    out = share(chosen(whole >= 0, whole, 0.0) + 1.0, mean)
    return cast(ops.where(ops.logical_or(n < 0, n != n), ops.zeros_like(out) + python.nan, out), dtype)


def bdtr(k: Any, n: Any, p: Any) -> Tensor:
    """The share of a binomial distribution of n trials, each successful with probability p, up to k.

    >>> round(bdtr(0.0, 2.0, 0.5).item(), 5)
    0.25
    """
    (a, b, share), dtype = widened("bdtr", k, n, p)
    return cast(_binomial(a, b, share, False), dtype)


def bdtrc(k: Any, n: Any, p: Any) -> Tensor:
    """The share of a binomial distribution of n trials, each successful with probability p, above k.

    >>> round(bdtrc(0.0, 2.0, 0.5).item(), 5)
    0.75
    """
    (a, b, share), dtype = widened("bdtrc", k, n, p)
    return cast(_binomial(a, b, share, True), dtype)


def _binomial(k: Tensor, n: Tensor, p: Tensor, above: bool) -> Tensor:
    whole, count = ops.floor(k), ops.floor(n)
    inside = (whole >= 0) & (whole < count)
    a, b = chosen(inside, whole + 1.0, 1.0), chosen(inside, count - whole, 1.0)
    out = betainc(a, b, p) if above else betaincc(a, b, p)
    full = ops.zeros_like(out)
    out = ops.where(inside, out, ops.where(whole < 0, full + float(above), full + float(not above)))
    wrong = (p < 0) | (p > 1) | (whole < 0) | (count < whole) | (k != k) | (n != n) | (p != p)
    return ops.where(wrong, full + python.nan, out)


def nbdtr(k: Any, n: Any, p: Any) -> Tensor:
    """The share of at most k failures before the n-th success, of probability p each.

    >>> round(nbdtr(0.0, 1.0, 0.5).item(), 5)
    0.5
    """
    (a, b, share), dtype = widened("nbdtr", k, n, p)
    return cast(betainc(b, ops.floor(a) + 1.0, share), dtype)


def nbdtrc(k: Any, n: Any, p: Any) -> Tensor:
    """The share of more than k failures before the n-th success, of probability p each.

    >>> round(nbdtrc(0.0, 1.0, 0.5).item(), 5)
    0.5
    """
    (a, b, share), dtype = widened("nbdtrc", k, n, p)
    return cast(betaincc(b, ops.floor(a) + 1.0, share), dtype)
