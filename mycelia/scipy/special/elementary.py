"""Functions made of exponentials and logarithms: entropies, sigmoids, sums of exponentials, means that meet."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from typing import Any

from mycelia import ops
from mycelia.checks import truth
from mycelia.eager import Tensor, cast
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import axes_of, floated
from mycelia.ops.incomplete import both, chosen, either, levelled, widened

__all__ = [
    "agm",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "cosdg",
    "cosm1",
    "ellipe",
    "ellipk",
    "ellipkm1",
    "entr",
    "exp2",
    "exp10",
    "expit",
    "expm1",
    "exprel",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "log1p",
    "log_expit",
    "log_softmax",
    "logit",
    "logsumexp",
    "powm1",
    "pseudo_huber",
    "radian",
    "rel_entr",
    "round",
    "sinc",
    "sindg",
    "softmax",
    "softplus",
    "tandg",
    "xlog1py",
    "xlogy",
]  # fmt: skip


def xlogy(x: Any, y: Any) -> Tensor:
    """X log(y), and 0 where x is 0, unless y is nan.

    >>> xlogy(Tensor([0.0, 1.0]), Tensor([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    (a, b), dtype = widened("xlogy", x, y)
    nothing = both(ops.equal(a, 0.0), ops.logical_not(ops.isnan(b)))
    return cast(ops.where(nothing, ops.zeros_like(a + b), a * ops.log(chosen(ops.logical_not(nothing), b, 1.0))), dtype)


def xlog1py(x: Any, y: Any) -> Tensor:
    """X log(1 + y), and 0 where x is 0, unless y is nan.

    >>> xlog1py(Tensor([0.0, 1.0]), Tensor([-1.0, 0.0])).tolist()
    [0.0, 0.0]
    """
    (a, b), dtype = widened("xlog1py", x, y)
    nothing = both(ops.equal(a, 0.0), ops.logical_not(ops.isnan(b)))
    safe = chosen(ops.logical_not(nothing), b, 0.0)
    return cast(ops.where(nothing, ops.zeros_like(a + b), a * ops.log1p(safe)), dtype)


def entr(x: Any) -> Tensor:
    """-x log(x), 0 at 0 and minus infinity below.

    >>> entr(Tensor([1.0, 0.0])).tolist()
    [0.0, 0.0]
    """
    (v,), dtype = widened("entr", x)
    inside = either(v > 0, ops.isnan(v))
    out = -v * ops.log(chosen(inside, v, 1.0))
    return cast(ops.where(inside, out, ops.where(v < 0, ops.zeros_like(v) - python.inf, ops.zeros_like(v))), dtype)


def _relative(name: str, x: Any, y: Any, rest: bool) -> Tensor:
    (a, b), dtype = widened(name, x, y)
    a, b = levelled(a, b)
    inside, empty = both(a > 0, b > 0), both(ops.equal(a, 0.0), b >= 0)
    c, d = chosen(inside, a, 1.0), chosen(inside, b, 1.0)
    out = c * ops.log(c / d)
    out = out - c + d if rest else out
    out = ops.where(inside, out, ops.where(empty, b if rest else ops.zeros_like(b), ops.zeros_like(b) + python.inf))
    return cast(ops.where(ops.isnan(a) | ops.isnan(b), ops.zeros_like(b) + python.nan, out), dtype)


def rel_entr(x: Any, y: Any) -> Tensor:
    """X log(x / y), 0 where x is 0, and infinite elsewhere.

    >>> rel_entr(Tensor([1.0, 0.0]), Tensor([1.0, 2.0])).tolist()
    [0.0, 0.0]
    """
    return _relative("rel_entr", x, y, False)


def kl_div(x: Any, y: Any) -> Tensor:
    """X log(x / y) - x + y, y where x is 0, and infinite elsewhere.

    >>> kl_div(Tensor([1.0, 0.0]), Tensor([1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return _relative("kl_div", x, y, True)


def expit(x: Any) -> Tensor:
    """1 / (1 + exp(-x)).

    >>> expit(0.0).item()
    0.5
    """
    return ops.sigmoid(floated(x))


def log_expit(x: Any) -> Tensor:
    """The logarithm of 1 / (1 + exp(-x)).

    >>> float(f"{log_expit(0.0).item():.6f}")
    -0.693147
    """
    return -softplus(-floated(x))


def softplus(x: Any) -> Tensor:
    """log(1 + exp(x)).

    >>> float(f"{softplus(0.0).item():.6f}")
    0.693147
    """
    v = floated(x)
    size = ops.abs(chosen(ops.isfinite(v), v, 0.0))
    out = ops.maximum(v, ops.zeros_like(v)) + ops.log1p(ops.exp(-size))
    return ops.where(ops.isfinite(v), out, ops.maximum(v, ops.zeros_like(v)))


def logit(x: Any) -> Tensor:
    """log(x / (1 - x)).

    >>> logit(0.5).item()
    0.0
    """
    v = floated(x)
    near = ops.abs(v - 0.5) < 0.2
    small = 2.0 * (chosen(near, v, 0.5) - 0.5)
    middle = ops.log1p(small) - ops.log1p(-small)
    safe = ops.where(near, 0.25 * ops.ones_like(v), v)
    return ops.where(near, middle, ops.log(safe) - ops.log1p(-safe))


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """The logarithm of the sum of exponentials, each times b, along axes; with `return_sign` of its size, and its sign.

    >>> float(f"{logsumexp(Tensor([0.0, 0.0])).item():.6f}")
    0.693147
    """
    truth("logsumexp", "keepdims", keepdims)
    x = floated(asarray(a))
    weights = None if b is None else asarray(b)
    if weights is not None:
        x, weights = x + ops.zeros_like(cast(weights, x.dtype)), cast(weights, x.dtype) + ops.zeros_like(x)
        x = ops.where(ops.equal(weights, 0.0), ops.zeros_like(x) - python.inf, x)
    axes = axes_of(x, axis)
    if not x.ndim:
        axes = ()
    top = ops.amax(x, axes, True) if axes else x
    top = ops.stop_gradient(ops.where(ops.isfinite(top), top, ops.zeros_like(top)))
    parts = ops.exp(x - top)
    parts = parts if weights is None else parts * weights
    total = ops.sum(parts, axes, True) if axes else parts
    sign = ops.sign(ops.stop_gradient(total))
    if truth("logsumexp", "return_sign", return_sign):
        total = ops.abs(total)
    out = ops.log(total) + top
    if axes and not keepdims:
        out, sign = ops.squeeze(out, axes), ops.squeeze(sign, axes)
    return (out, sign) if return_sign else out


def softmax(x: Any, axis: Any = None) -> Tensor:
    """Exponentials, divided by their sum along axes, or of all.

    >>> softmax(Tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    return ops.exp(log_softmax(x, axis))


def log_softmax(x: Any, axis: Any = None) -> Tensor:
    """The logarithm of softmax.

    >>> [float(f"{v:.6f}") for v in log_softmax(Tensor([0.0, 0.0])).tolist()]
    [-0.693147, -0.693147]
    """
    v = floated(asarray(x))
    return v - logsumexp(v, axis, keepdims=True)


# ------------------------------------------------------------------------------------------------- small functions


def exprel(x: Any) -> Tensor:
    """(exp(x) - 1) / x, which is 1 at 0.

    >>> exprel(0.0).item()
    1.0
    """
    (v,), dtype = widened("exprel", x)
    near = ops.abs(v) < 1e-5
    safe = chosen(ops.logical_not(near), v, 1.0)
    small = chosen(near, v, 0.0)
    out = ops.where(near, 1.0 + small * (0.5 + small * (1.0 / 6.0 + small / 24.0)), ops.expm1(safe) / safe)
    return cast(ops.where(ops.equal(v, python.inf), v, out), dtype)


def cosm1(x: Any) -> Tensor:
    """cos(x) - 1.

    >>> cosm1(0.0).item() == 0
    True
    """
    half = ops.sin(floated(x) * 0.5)
    return -2.0 * half * half


def powm1(x: Any, y: Any) -> Tensor:
    """X to the power y, less 1.

    >>> powm1(2.0, 3.0).item()
    7.0
    """
    (a, b), dtype = widened("powm1", x, y)
    positive = both(a > 0, ops.abs(b * ops.log(chosen(a > 0, a, 1.0))) < 1)
    small = ops.expm1(b * ops.log(chosen(positive, a, 1.0)))
    return cast(ops.where(positive, small, ops.pow(a, b) - 1.0), dtype)


def exp2(x: Any) -> Tensor:
    """Two to the power x.

    >>> exp2(3.0).item()
    8.0
    """
    return ops.exp2(floated(x))


def exp10(x: Any) -> Tensor:
    """Ten to the power x.

    >>> float(f"{exp10(3.0).item():.2f}")
    1000.0
    """
    (v,), dtype = widened("exp10", x)
    return cast(ops.pow(10.0 * ops.ones_like(v), v), dtype)


def expm1(x: Any) -> Tensor:
    """exp(x) - 1.

    >>> expm1(0.0).item()
    0.0
    """
    return ops.expm1(floated(x))


def log1p(x: Any) -> Tensor:
    """log(1 + x).

    >>> log1p(0.0).item()
    0.0
    """
    return ops.log1p(floated(x))


def cbrt(x: Any) -> Tensor:
    """The cube root.

    >>> float(f"{cbrt(-8.0).item():.5f}")
    -2.0
    """
    v = floated(x)
    nothing = ops.equal(v, 0.0)
    return ops.where(nothing, v, ops.sign(v) * ops.pow(ops.abs(ops.where(nothing, ops.ones_like(v), v)), 1.0 / 3.0))


def sinc(x: Any) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0.

    >>> sinc(0.0).item()
    1.0
    """
    return ops.sinc(x)


def round(x: Any) -> Tensor:  # SciPy's name
    """The nearest whole number; of two, the even one.

    >>> round(2.5).item()
    2.0
    """
    return ops.round(floated(x))


def _degrees(x: Any) -> Tensor:
    return floated(x) * (python.pi / 180.0)


def sindg(x: Any) -> Tensor:
    """The sine of an angle in degrees.

    >>> abs(sindg(90.0).item() - 1) < 1e-6
    True
    """
    return ops.sin(_degrees(x))


def cosdg(x: Any) -> Tensor:
    """The cosine of an angle in degrees.

    >>> cosdg(0.0).item()
    1.0
    """
    return ops.cos(_degrees(x))


def tandg(x: Any) -> Tensor:
    """The tangent of an angle in degrees.

    >>> tandg(0.0).item()
    0.0
    """
    return ops.tan(_degrees(x))


def radian(d: Any, m: Any, s: Any) -> Tensor:
    """An angle of degrees, minutes and seconds, in radians.

    >>> abs(radian(180.0, 0.0, 0.0).item() - 3.14159265) < 1e-6
    True
    """
    (a, b, c), dtype = widened("radian", d, m, s)
    return cast((a + b / 60.0 + c / 3600.0) * (python.pi / 180.0), dtype)


def boxcox(x: Any, lmbda: Any) -> Tensor:
    """(x^lmbda - 1) / lmbda, and log(x) for 0.

    >>> boxcox(4.0, 0.5).item()
    2.0
    """
    (v, power), dtype = widened("boxcox", x, lmbda)
    logs = ops.log(v)
    return cast(logs * cast(exprel(power * logs), logs.dtype), dtype)


def boxcox1p(x: Any, lmbda: Any) -> Tensor:
    """((1 + x)^lmbda - 1) / lmbda, and log(1 + x) for 0.

    >>> boxcox1p(3.0, 0.5).item()
    2.0
    """
    (v, power), dtype = widened("boxcox1p", x, lmbda)
    logs = ops.log1p(v)
    return cast(logs * exprel(power * logs), dtype)


def _unboxed(y: Tensor, power: Tensor) -> Tensor:
    """What boxcox made of exp(this)."""
    nothing = ops.equal(power, 0.0)
    safe = ops.where(nothing, ops.ones_like(power), power)
    return ops.where(nothing, y, ops.log1p(safe * y) / safe)


def inv_boxcox(y: Any, lmbda: Any) -> Tensor:
    """The x for which boxcox(x, lmbda) is y.

    >>> abs(inv_boxcox(2.0, 0.5).item() - 4) < 1e-5
    True
    """
    (v, power), dtype = widened("inv_boxcox", y, lmbda)
    return cast(ops.exp(_unboxed(v, power)), dtype)


def inv_boxcox1p(y: Any, lmbda: Any) -> Tensor:
    """The x for which boxcox1p(x, lmbda) is y.

    >>> abs(inv_boxcox1p(2.0, 0.5).item() - 3) < 1e-5
    True
    """
    (v, power), dtype = widened("inv_boxcox1p", y, lmbda)
    return cast(ops.expm1(_unboxed(v, power)), dtype)


def huber(delta: Any, r: Any) -> Tensor:
    """r^2 / 2 up to delta, and delta (|r| - delta / 2) above; infinite for a delta below 0.

    >>> huber(1.0, 2.0).item()
    1.5
    """
    (d, x), dtype = widened("huber", delta, r)
    size = ops.abs(x)
    out = ops.where(size <= d, 0.5 * x * x, d * (size - 0.5 * d))
    return cast(ops.where(d < 0, ops.zeros_like(out) + python.inf, out), dtype)


def pseudo_huber(delta: Any, r: Any) -> Tensor:
    """delta^2 (sqrt(1 + (r / delta)^2) - 1): like huber, but smooth.

    >>> pseudo_huber(1.0, 0.0).item()
    0.0
    """
    (d, x), dtype = widened("pseudo_huber", delta, r)
    safe = chosen(ops.not_equal(d, 0.0), d, 1.0)
    ratio = x / safe
    square = ratio * ratio
    out = d * d * (square / (1.0 + ops.sqrt(1.0 + square)))
    out = ops.where(ops.equal(d, 0.0), ops.zeros_like(out), out)
    return cast(ops.where(d < 0, ops.zeros_like(out) + python.inf, out), dtype)


# ------------------------------------------------------------------------------------------------- means that meet


def agm(a: Any, b: Any) -> Tensor:
    """The arithmetic-geometric mean, in which both means meet, of numbers of one sign.

    >>> abs(agm(1.0, 2.0).item() - 1.456791) < 1e-6
    True
    """
    (x, y), dtype = widened("agm", a, b)
    same = x * y >= 0
    x, y = levelled(x, y)
    u, v = ops.abs(chosen(same, x, 1.0)), ops.abs(chosen(same, y, 1.0))
    some = both(u > 0, v > 0)
    found = _met(chosen(some, u, 1.0), chosen(some, v, 1.0))[0] * ops.where(
        x + y < 0, -ops.ones_like(u), ops.ones_like(u)
    )
    return cast(ops.where(same, ops.where(some, found, ops.zeros_like(u)), ops.zeros_like(u) + python.nan), dtype)


def _met(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The mean in which both meet, and the sum of 2^(n-1) times their squared half distances."""
    total, weight = ops.zeros_like(x), 1.0
    for _ in range(12):
        half = (x - y) * 0.5
        total = total + weight * half * half
        x, y, weight = (x + y) * 0.5, ops.sqrt(x * y), weight * 2.0
    return x, total


def ellipkm1(p: Any) -> Tensor:
    """The complete elliptic integral of the first kind, of the parameter 1 - p.

    >>> float(f"{ellipkm1(1.0).item():.5f}")
    1.5708
    """
    (v,), dtype = widened("ellipkm1", p)
    inside = both(v > 0, ops.isfinite(v))
    safe = chosen(inside, v, 1.0)
    out = (python.pi / 2) / _met(ops.ones_like(safe), ops.sqrt(safe))[0]
    ends = ops.where(ops.equal(v, 0.0), ops.zeros_like(v) + python.inf, ops.zeros_like(v) + python.nan)
    return cast(ops.where(inside, out, ops.where(ops.equal(v, python.inf), ops.zeros_like(v), ends)), dtype)


def ellipk(m: Any) -> Tensor:
    """The complete elliptic integral of the first kind, of the parameter m (which is the modulus squared).

    >>> float(f"{ellipk(0.0).item():.5f}")
    1.5708
    """
    (v,), dtype = widened("ellipk", m)
    return cast(ellipkm1(1.0 - v), dtype)


def ellipe(m: Any) -> Tensor:
    """The complete elliptic integral of the second kind, of the parameter m (which is the modulus squared).

    >>> float(f"{ellipe(0.0).item():.5f}")
    1.5708
    """
    (v,), dtype = widened("ellipe", m)
    inside = both(v < 1, ops.isfinite(v))
    safe = chosen(inside, v, 0.0)
    mean, total = _met(ops.ones_like(safe), ops.sqrt(1.0 - safe))
    out = (python.pi / 2) / mean * (1.0 - 0.5 * safe - total)
    ends = ops.where(ops.equal(v, 1.0), ops.ones_like(v), ops.zeros_like(v) + python.nan)
    return cast(ops.where(inside, out, ops.where(ops.equal(v, -python.inf), -v, ends)), dtype)
