"""The gamma function and its kin: beta, zeta, incomplete functions and their inverses, numbers of choices."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from typing import Any

from mycelia import ops
from mycelia.checks import truth
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.ops.incomplete import (
    beta_logarithm,
    beta_part,
    beta_share,
    both,
    chosen,
    either,
    gamma_parts,
    hurwitz,
    levelled,
    widened,
)
from mycelia.ops.numbers import lgamma
from mycelia.scipy.special.elementary import softplus
from mycelia.scipy.special.normal import ndtri

__all__ = [
    "beta", "betainc", "betaincc", "betainccinv", "betaincinv", "betaln", "binom", "comb", "digamma", "factorial",
    "factorial2", "gamma", "gammainc", "gammaincc", "gammainccinv", "gammaincinv", "gammaln", "gammasgn", "loggamma",
    "multigammaln", "perm", "poch", "polygamma", "psi", "rgamma", "zeta", "zetac",
]  # fmt: skip


def gammaln(x: Any) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    >>> round(gammaln(5.0).item(), 5)  # ln 24
    3.17805
    """
    (v,), dtype = widened("gammaln", x)
    return cast(ops.where(ops.equal(v, -python.inf), v, lgamma(v)), dtype)


def gammasgn(x: Any) -> Tensor:
    """The sign of the gamma function: 1 or -1; nan at its poles, 1 at 0 and -1 at -0.

    >>> gammasgn(Tensor([1.5, -0.5])).tolist()
    [1.0, -1.0]
    """
    (v,), dtype = widened("gammasgn", x)
    floor = ops.floor(v)
    even = ops.equal(ops.floor_mod(floor, 2.0), 0.0)
    sign = ops.where(either(v > 0, even), ops.ones_like(v), -ops.ones_like(v))
    sign = ops.where(both(v < 0, ops.equal(floor, v)), python.nan * ops.ones_like(v), sign)
    sign = ops.where(ops.equal(v, 0.0), ops.copysign(ops.ones_like(v), v), sign)
    return cast(ops.where(ops.isnan(v) | ops.equal(v, -python.inf), python.nan * ops.ones_like(v), sign), dtype)


def gamma(x: Any) -> Tensor:
    """The gamma function: (n - 1)! at whole numbers.

    >>> round(gamma(5.0).item(), 4)
    24.0
    """
    (v,), dtype = widened("gamma", x)
    return cast(_rounded(ops.exp(lgamma(v)) * ops.stop_gradient(gammasgn(v)), _is_whole(v)), dtype)


def rgamma(x: Any) -> Tensor:
    """One over the gamma function, which is 0 at its poles.

    >>> rgamma(Tensor([-1.0])).tolist()
    [0.0]
    """
    (v,), dtype = widened("rgamma", x)
    pole = both(v <= 0, ops.equal(v, ops.floor(v)))
    safe = chosen(ops.logical_not(pole), v, 1.0)
    out = ops.exp(-lgamma(safe)) * ops.stop_gradient(gammasgn(safe))
    return cast(ops.where(pole, ops.zeros_like(v), out), dtype)


def loggamma(z: Any) -> Tensor:
    """The logarithm of the gamma function of real numbers; nan where that is negative.

    >>> round(loggamma(5.0).item(), 5)
    3.17805
    """
    (v,), dtype = widened("loggamma", z)
    return cast(ops.where(v < 0, python.nan * ops.ones_like(v), lgamma(v)), dtype)


def psi(z: Any) -> Tensor:
    """The derivative of the logarithm of the gamma function.

    >>> round(psi(1.0).item(), 5)
    -0.57722
    """
    return ops.digamma(z)


digamma = psi


def polygamma(n: Any, x: Any) -> Tensor:
    """The n-th derivative of the digamma function, for whole n from 0 on.

    >>> round(polygamma(1, 1.0).item(), 5)
    1.64493
    """
    return ops.polygamma(n, x)


def zeta(x: Any, q: Any = None) -> Tensor:
    """The zeta function of Riemann; with `q` that of Hurwitz, the sum of (q + k)^-x from k = 0 on, of x above 1.

    >>> round(zeta(2.0).item(), 5)
    1.64493
    """
    if q is not None:
        return ops.zeta(x, q)
    (s,), dtype = widened("zeta", x)
    return cast(_riemann(s), dtype)


def _riemann(s: Tensor) -> Tensor:
    """Above 1 the sum; below 0 mirrored; between by the sum with signs, whose terms Borwein weighs."""
    high, low = s > 1, s < 0
    above = hurwitz(chosen(high, s, 2.0), ops.ones_like(s))
    t = chosen(low, s, -0.5)  # zeta(t) = 2 (2 pi)^(t-1) sin(pi t / 2) Gamma(1 - t) zeta(1 - t)
    turn = (t * 0.25 - ops.stop_gradient(ops.floor(t * 0.25))) * (2 * python.pi)  # a whole turn is t = 4
    size = ops.exp((t - 1.0) * python.log(2 * python.pi) + lgamma(1.0 - t)) * hurwitz(1.0 - t, ops.ones_like(t))
    even = ops.equal(ops.floor_mod(ops.stop_gradient(t), 2.0), 0.0)
    below = ops.where(even, ops.zeros_like(t), 2.0 * ops.sin(turn)) * size
    between = _alternating(chosen(ops.logical_not(high | low), s, 0.5))
    out = ops.where(high, above, ops.where(low, below, between))
    out = ops.where(ops.equal(s, 1.0), python.inf * ops.ones_like(s), out)
    return ops.where(ops.equal(s, python.inf), ops.ones_like(s), out)


def _alternating(s: Tensor) -> Tensor:
    n = 28  # an error of (3 + sqrt 8)^-n
    terms = [n * python.factorial(n + i - 1) * 4**i / (python.factorial(n - i) * python.factorial(2 * i))
             for i in range(n + 1)]  # fmt: skip
    sums = [sum(terms[: k + 1]) for k in range(n + 1)]
    out = ops.zeros_like(s)
    for k in range(n):
        out = out + (-1) ** k * (sums[k] / sums[n] - 1.0) * ops.exp(-python.log(k + 1.0) * s)
    return -out / (1.0 - ops.exp((1.0 - chosen(ops.not_equal(s, 1.0), s, 0.5)) * python.log(2.0)))


def zetac(x: Any) -> Tensor:
    """The zeta function of Riemann, less 1.

    >>> round(zetac(2.0).item(), 5)
    0.64493
    """
    (s,), dtype = widened("zetac", x)
    far, end = s > 2, s > 1100  # where nothing is left of 2 ** -s
    rest = hurwitz(chosen(both(far, ops.logical_not(end)), s, 3.0), 2.0 * ops.ones_like(s))
    return cast(ops.where(end, ops.zeros_like(s), ops.where(far, rest, _riemann(s) - 1.0)), dtype)


def multigammaln(a: Any, d: int) -> Tensor:
    """The logarithm of the gamma function of `d` dimensions.

    >>> multigammaln(3.0, 1).item() == gammaln(3.0).item()
    True
    """
    return ops.mvlgamma(a, d)


# ------------------------------------------------------------------------------------------------------------- beta


def betaln(a: Any, b: Any) -> Tensor:
    """The logarithm of the absolute value of the beta function.

    >>> round(betaln(2.0, 3.0).item(), 4)  # ln 1/12
    -2.4849
    """
    (x, y), dtype = widened("betaln", a, b)
    return cast(_betaln(x, y), dtype)


def _betaln(x: Tensor, y: Tensor) -> Tensor:
    positive = both(x > 0, y > 0)
    near = beta_logarithm(*[chosen(positive, v, 1.0) for v in levelled(x, y)])
    return ops.where(positive, near, lgamma(x) + lgamma(y) - lgamma(x + y))


def beta(a: Any, b: Any) -> Tensor:
    """The beta function: gamma(a) gamma(b) / gamma(a + b).

    >>> round(1 / beta(2.0, 3.0).item(), 4)
    12.0
    """
    (x, y), dtype = widened("beta", a, b)
    return cast(ops.exp(_betaln(x, y)) * ops.stop_gradient(gammasgn(x) * gammasgn(y) * gammasgn(x + y)), dtype)


def betainc(a: Any, b: Any, x: Any) -> Tensor:
    """The regularised incomplete beta function: the share of the integral of t^(a-1) (1-t)^(b-1) that lies below x.

    >>> round(betainc(2.0, 1.0, 0.5).item(), 6)
    0.25
    """
    return beta_share("betainc", a, b, x, False)


def betaincc(a: Any, b: Any, x: Any) -> Tensor:
    """1 - betainc(a, b, x), also where that is small.

    >>> round(betaincc(2.0, 1.0, 0.5).item(), 6)
    0.75
    """
    return beta_share("betaincc", a, b, x, True)


# ------------------------------------------------------------------------------------------------- incomplete gamma


def gammainc(a: Any, x: Any) -> Tensor:
    """The regularised lower incomplete gamma function: the share of the integral of t^(a-1) e^-t that lies below x.

    >>> round(gammainc(1.0, 1.0).item(), 5)
    0.63212
    """
    return ops.igamma(a, x)


def gammaincc(a: Any, x: Any) -> Tensor:
    """1 - gammainc(a, x), also where that is small.

    >>> round(gammaincc(1.0, 1.0).item(), 5)
    0.36788
    """
    return ops.igammac(a, x)


def gammaincinv(a: Any, y: Any) -> Tensor:
    """The x for which gammainc(a, x) is y.

    >>> round(gammaincinv(1.0, 0.5).item(), 5)
    0.69315
    """
    (b, share), dtype = widened("gammaincinv", a, y)
    return cast(gamma_quantile(b, share, 1.0 - share), dtype)


def gammainccinv(a: Any, y: Any) -> Tensor:
    """The x for which gammaincc(a, x) is y.

    >>> round(gammainccinv(1.0, 0.5).item(), 5)
    0.69315
    """
    (b, share), dtype = widened("gammainccinv", a, y)
    return cast(gamma_quantile(b, 1.0 - share, share), dtype)


def gamma_quantile(a: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Where the shares below and above are these: by Newton's method for the logarithm of the smaller one, which is
    concave as a function of ln x. The last two steps are differentiated: three derivatives are right.

    >>> round(gamma_quantile(*[Tensor(v, "float64") for v in (1.0, 0.5, 0.5)]).item(), 5)
    0.69315
    """
    inside = both(a > 0, low > 0, high > 0, ops.isfinite(a))
    b, p, q = (chosen(inside, v, n) for v, n in zip(levelled(a, low, high), (1.0, 0.5, 0.5), strict=True))
    lower = p <= q
    least = (ops.log(p) + lgamma(b + 1.0)) / b  # P(a, x) is below x^a / Gamma(a + 1)
    normal = ops.where(lower, ndtri(p), -ndtri(q))
    cube = 1.0 - 1.0 / (9.0 * b) + normal / (3.0 * ops.sqrt(b))  # Wilson and Hilferty
    near = ops.log(b) + 3.0 * ops.log(ops.maximum(cube, 1e-3 * ops.ones_like(b)))
    z = ops.stop_gradient(ops.where(cube > 0.2, ops.maximum(near, least), least))
    least, wanted = ops.stop_gradient(least), ops.log(ops.where(lower, p, q))
    for turn in range(_TURNS + 2):
        z = _gamma_step(b, z, lower, wanted, least)
        z = ops.stop_gradient(z) if turn < _TURNS else z
    out = ops.where(low <= 0, ops.zeros_like(z), ops.where(high <= 0, ops.zeros_like(z) + python.inf, ops.exp(z)))
    wrong = either(a <= 0, low < 0, high < 0, ops.isnan(a), ops.isnan(low), ops.isnan(high))
    return ops.where(wrong, ops.zeros_like(z) + python.nan, out)


_TURNS = 9


def _gamma_step(a: Tensor, z: Tensor, lower: Tensor, wanted: Tensor, least: Tensor) -> Tensor:
    x = ops.exp(z)
    low, high = gamma_parts(a, x)
    part = ops.maximum(ops.where(lower, low, high), 1e-300 * ops.ones_like(x))
    speed = ops.exp(a * z - x - lgamma(a)) / part  # of ln P; of ln Q it is negative
    speed = ops.maximum(speed, 1e-300 * ops.ones_like(x))
    move = (wanted - ops.log(part)) / ops.where(lower, speed, -speed)
    return ops.maximum(z + ops.clip(move, -3.0, 3.0), least)


def betaincinv(a: Any, b: Any, y: Any) -> Tensor:
    """The x for which betainc(a, b, x) is y.

    >>> round(betaincinv(2.0, 1.0, 0.25).item(), 5)
    0.5
    """
    (c, d, share), dtype = widened("betaincinv", a, b, y)
    return cast(beta_quantile(c, d, share, 1.0 - share)[0], dtype)


def betainccinv(a: Any, b: Any, y: Any) -> Tensor:
    """The x for which betaincc(a, b, x) is y.

    >>> round(betainccinv(2.0, 1.0, 0.75).item(), 5)
    0.5
    """
    (c, d, share), dtype = widened("betainccinv", a, b, y)
    return cast(beta_quantile(c, d, 1.0 - share, share)[0], dtype)


def beta_quantile(a: Tensor, b: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Where the shares below and above are these, and how far that is from 1: by Newton's method for ln(x / (1 - x)).

    >>> round(beta_quantile(*[Tensor(v, "float64") for v in (2.0, 1.0, 0.25, 0.75)])[0].item(), 5)
    0.5
    """
    a, b, low, high = levelled(a, b, low, high)
    inside = both(a > 0, b > 0, low > 0, high > 0)
    c, d, p, q = (chosen(inside, v, n) for v, n in zip((a, b, low, high), (1.0, 1.0, 0.5, 0.5), strict=True))
    lower = p <= q
    wanted = ops.log(ops.where(lower, p, q))
    size = beta_logarithm(c, d)
    # ln(x / (1 - x)) has exponential tails; between them it is nearly normal
    spread = ops.sqrt(hurwitz(2.0 * ops.ones_like(c), c) + hurwitz(2.0 * ops.ones_like(d), d))
    mean = digamma(c) - digamma(d)
    normal = mean + spread * ops.where(lower, ndtri(p), -ndtri(q))
    first = (ops.log(p) + ops.log(c) + size) / c
    last = -(ops.log(q) + ops.log(d) + size) / d
    left = ops.where(c < 1, ops.minimum(first, mean), ops.where(d >= 1, ops.maximum(normal, first), last))
    right = ops.where(d < 1, ops.maximum(last, mean), ops.where(c >= 1, ops.minimum(normal, last), first))
    z = ops.stop_gradient(ops.where(lower, left, right))
    for turn in range(_TURNS + 2):
        z = _beta_step(c, d, z, lower, wanted, size)
        z = ops.stop_gradient(z) if turn < _TURNS else z
    x, rest = ops.sigmoid(z), ops.sigmoid(-z)
    ends = ops.zeros_like(z)
    x = ops.where(low <= 0, ends, ops.where(high <= 0, ends + 1.0, x))
    wrong = either(a <= 0, b <= 0, low < 0, high < 0, ops.isnan(a), ops.isnan(b), ops.isnan(low), ops.isnan(high))
    rest = ops.where(low <= 0, ends + 1.0, ops.where(high <= 0, ends, rest))
    return ops.where(wrong, ends + python.nan, x), ops.where(wrong, ends + python.nan, rest)


def _beta_step(a: Tensor, b: Tensor, z: Tensor, lower: Tensor, wanted: Tensor, size: Tensor) -> Tensor:
    near, far = softplus(-z), softplus(z)  # -ln x and -ln(1 - x)
    x, rest = ops.sigmoid(ops.clip(z, -600.0, 600.0)), ops.sigmoid(ops.clip(-z, -600.0, 600.0))
    turned, part = beta_part(a, b, x, rest)
    other = ops.log(ops.maximum(-ops.expm1(ops.minimum(part, -1e-300 * ops.ones_like(x))), 1e-300 * ops.ones_like(x)))
    logs = ops.where(ops.logical_xor(turned, lower), part, other)
    speed = ops.exp(ops.clip(-a * near - b * far - size - logs, -600.0, 600.0))
    move = (wanted - logs) / ops.where(lower, speed, -speed)
    return z + ops.clip(move, -20.0, 20.0)


# ---------------------------------------------------------------------------------------------------------- choices


def poch(z: Any, m: Any) -> Tensor:
    """gamma(z + m) / gamma(z).

    >>> round(poch(3.0, 2.0).item(), 4)
    12.0
    """
    (x, n), dtype = widened("poch", z, m)
    sign = ops.stop_gradient(gammasgn(x + n) * gammasgn(x))
    out = ops.exp(lgamma(x + n) - lgamma(x)) * sign
    return cast(ops.where(ops.equal(n, 0.0), ops.ones_like(out), out), dtype)


def binom(x: Any, y: Any) -> Tensor:
    """The number of choices of y among x, also of numbers that are not whole.

    >>> round(binom(5.0, 2.0).item(), 4)
    10.0
    """
    (n, k), dtype = widened("binom", x, y)
    return cast(_binom(n, k), dtype)


def _binom(n: Tensor, k: Tensor) -> Tensor:
    pole = both(n < 0, ops.equal(n, ops.floor(n)))
    up, down = n - k + 1.0, k + 1.0
    fits = both(n > -1, up > 0, down > 0)
    a, b = (chosen(fits, v, 1.0) for v in levelled(up, down))
    near = ops.exp(-beta_logarithm(a, b)) / chosen(n > -1, n + 1.0, 1.0)
    sign = ops.stop_gradient(gammasgn(n + 1.0) * gammasgn(down) * gammasgn(up))
    far = ops.exp(lgamma(n + 1.0) - lgamma(down) - lgamma(up)) * sign
    whole = both(_is_whole(k), _is_whole(n))
    out = ops.where(fits, _rounded(near, whole), far)
    none = either(both(ops.equal(down, ops.floor(down)), down <= 0), both(ops.equal(up, ops.floor(up)), up <= 0))
    out = ops.where(none, ops.zeros_like(out), out)
    return ops.where(pole, ops.zeros_like(out) + python.nan, out)


def _rounded(x: Tensor, whole: Tensor) -> Tensor:
    """The whole number that is meant, if one is and as long as it is clear which; gradients are those of x."""
    clear = both(ops.abs(x) < 1e12, whole)
    return x + ops.stop_gradient(ops.where(clear, ops.round(x) - x, ops.zeros_like(x)))


def _is_whole(x: Tensor) -> Tensor:
    return ops.equal(x, ops.floor(x))


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """The number of choices of k things among N, or with repetitions; with `exact` a Python number of Python numbers.

    >>> comb(5, 2, exact=True), round(comb(5.0, 2.0).item(), 4)
    (10, 10.0)
    """
    if truth("comb", "repetition", repetition):
        return comb(N + k - 1, k, exact=exact)
    if truth("comb", "exact", exact):
        whole, part = _whole("comb", N), _whole("comb", k)
        return python.comb(whole, part) if whole >= 0 and part >= 0 else 0
    (n, m), dtype = widened("comb", N, k)
    fits = both(m <= n, n >= 0, m >= 0)
    return cast(ops.where(fits, _binom(chosen(fits, n, 1.0), chosen(fits, m, 1.0)), ops.zeros_like(n + m)), dtype)


def _whole(name: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int):
        raise ArgumentError(f"{name}: exact numbers are of Python's whole numbers, not of {n!r}", hint="exact=False")
    return n


def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """The number of orders of k things among N.

    >>> perm(5, 2, True), round(perm(5.0, 2.0).item(), 4)
    (20, 20.0)
    """
    if truth("perm", "exact", exact):
        n, m = _whole("perm", N), _whole("perm", k)
        return python.perm(n, m) if n >= 0 and m >= 0 else 0
    (a, b), dtype = widened("perm", N, k)
    fits = both(b <= a, a >= 0, b >= 0)
    x, y = chosen(fits, a, 1.0), chosen(fits, b, 1.0)
    out = _rounded(ops.exp(lgamma(x + 1.0) - lgamma(x - y + 1.0)), both(_is_whole(x), _is_whole(y)))
    return cast(ops.where(fits, out, ops.zeros_like(out)), dtype)


def factorial(n: Any, exact: bool = False) -> Any:
    """N! = gamma(n + 1), and 0 below 0; with `exact` a Python number of a Python number.

    >>> factorial(4, True), round(factorial(4.0).item(), 4)
    (24, 24.0)
    """
    if truth("factorial", "exact", exact):
        whole = _whole("factorial", n)
        return python.factorial(whole) if whole >= 0 else 0
    (x,), dtype = widened("factorial", n)
    out = _rounded(ops.exp(lgamma(chosen(ops.logical_not(x < 0), x, 0.0) + 1.0)), _is_whole(x))
    return cast(ops.where(x < 0, ops.zeros_like(x), out), dtype)


def factorial2(n: Any, exact: bool = False) -> Any:
    """The product of every second number up to n.

    >>> factorial2(7, True), round(factorial2(7.0).item(), 4)
    (105, 105.0)
    """
    if truth("factorial2", "exact", exact):
        whole = _whole("factorial2", n)
        return python.prod(range(whole, 0, -2)) if whole >= 0 else 0
    (x,), dtype = widened("factorial2", n)
    safe = chosen(x >= 0, x, 0.0)
    odd = ops.equal(ops.floor_mod(safe, 2.0), 1.0)
    out = ops.exp(lgamma(safe / 2 + 1.0) + safe * (python.log(2.0) / 2.0))
    out = _rounded(ops.where(odd, out * python.sqrt(2.0 / python.pi), out), _is_whole(x))
    return cast(ops.where(x < 0, ops.zeros_like(x), out), dtype)
