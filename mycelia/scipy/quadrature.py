"""Integrals of functions, as exact as asked for: Gauss and Kronrod's rule on intervals that are halved where it errs.

Where intervals are halved is decided by numbers; the sums are tensors, so gradients flow into the limits and into what
the function is made of.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy

from mycelia import ops
from mycelia.api import vmap
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.numpy.creation import asarray
from mycelia.types import float64

# the rule of 21 points, which holds Gauss' of 10 (QUADPACK, 1983): those from 1 down to 0, and their weights
_POINTS = (
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720, 0.0,
)  # fmt: skip
_WEIGHTS = (
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068, 0.149445554002916905664936468389821,
)  # fmt: skip
NODES = numpy.array([-v for v in _POINTS[:-1]] + list(_POINTS[::-1]))
KRONROD = numpy.array([*_WEIGHTS[:-1], *_WEIGHTS[::-1]])
GAUSS = numpy.zeros(21)
GAUSS[1::2] = numpy.polynomial.legendre.leggauss(10)[1]


def quad(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: tuple[Any, ...] = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
) -> tuple[Tensor, float]:
    """The integral of a function of one number from `a` to `b`, which may be infinite, and a bound of its error.

    >>> value, error = quad(lambda x: x * x, 0.0, 3.0)
    >>> round(value.item(), 6), error < 1e-7
    (9.0, True)
    """
    low, high = (cast(asarray(v), float64) for v in (a, b))
    f, low, high = _finite(lambda x: func(x, *args), low, high)
    parts = [(0.0, 1.0, *_rule(f, low, high, 0.0, 1.0))]
    while True:
        total = sum(float(p[2].numbers()) for p in parts)
        error = sum(p[3] for p in parts)
        if error <= max(epsabs, epsrel * abs(total)):
            break
        if len(parts) >= limit or not numpy.isfinite(error):
            raise ArgumentError(
                f"the integral is not known to the precision that is wanted after {len(parts)} intervals",
                given={"value": total, "error": error},
                hint="raise limit, epsabs or epsrel, or split it where the function is not smooth",
            )
        worst = max(range(len(parts)), key=lambda i: parts[i][3])
        start, end, *_ = parts.pop(worst)
        middle = (start + end) / 2
        parts += [(s, e, *_rule(f, low, high, s, e)) for s, e in ((start, middle), (middle, end))]
    values = [p[2] for p in parts]
    return sum(values[1:], values[0]), float(error)


def _rule(f: Callable[[Tensor], Tensor], low: Tensor, high: Tensor, start: float, end: float) -> tuple[Tensor, float]:
    """The integral over a share of the interval, and how far it may be off (as QUADPACK estimates it)."""
    width = (high - low) * (end - start)
    first = low + (high - low) * start
    values = f(first + width * Tensor((NODES + 1) / 2, float64)) * (width / 2)
    value = ops.reduce_sum(values * Tensor(KRONROD, float64))
    numbers = values.numbers()
    away = abs(float((numbers * (KRONROD - GAUSS)).sum()))
    spread = float((numpy.abs(numbers - numbers @ KRONROD / 2) * KRONROD).sum())
    error = spread * min(1.0, (200 * away / spread) ** 1.5) if spread and away else away
    return value, max(error, 50 * float(numpy.finfo(float).eps) * float((numpy.abs(numbers) * KRONROD).sum()))


def _finite(
    func: Callable[[Tensor], Any], low: Tensor, high: Tensor
) -> tuple[Callable[[Tensor], Tensor], Tensor, Tensor]:
    """The function over many numbers, and limits that are finite: x = c + (1 - t) / t reaches infinity at t = 0."""
    many = vmap(lambda x: cast(asarray(func(x)), float64))
    ends = [float(v.numbers()) for v in (low, high)]
    zero, one = (Tensor(v, float64) for v in (0.0, 1.0))

    def outward(x: Tensor, sign: float, t: Tensor) -> Tensor:
        return many(x + sign * (1.0 - t) / t) / (t * t)

    if ends == [-inf, inf]:
        return (lambda t: outward(zero, 1.0, t) + outward(zero, -1.0, t)), zero, one
    if ends[1] == inf:
        return (lambda t: outward(low, 1.0, t)), zero, one
    if ends[0] == -inf:
        return (lambda t: outward(high, -1.0, t)), zero, one
    if not all(map(numpy.isfinite, ends)):
        raise ArgumentError("an integral goes upwards to infinity", given={"a": ends[0], "b": ends[1]})
    return many, low, high
