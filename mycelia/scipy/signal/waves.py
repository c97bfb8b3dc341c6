"""Signals that are made: squares, saws, chirps, pulses."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import pi
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import floated

__all__ = ["chirp", "gausspulse", "sawtooth", "square", "unit_impulse"]


def _turn(t: Tensor) -> Tensor:
    """The part of a turn, from 0 to 2 pi."""
    return t - ops.stop_gradient(ops.floor(t / (2 * pi))) * (2 * pi)


def sawtooth(t: Any, width: Any = 1) -> Tensor:
    """Rises from -1 to 1 in a share `width` of each turn, and falls in the rest.

    >>> sawtooth([0.0]).tolist()
    [-1.0]
    """
    x = floated(asarray(t))
    w = asarray(width, x.dtype)
    part = _turn(x)
    rising = part < w * (2 * pi)
    up = ops.where(w > 0, w, ops.ones_like(w))
    down = ops.where(w < 1, 1.0 - w, ops.ones_like(w))
    found = ops.where(rising, part / (pi * up) - 1.0, (pi * (w + 1.0) - part) / (pi * down))
    return ops.where((w < 0) | (w > 1), ops.zeros_like(found) + float("nan"), found)


def square(t: Any, duty: Any = 0.5) -> Tensor:
    """1 in a share `duty` of each turn, and -1 in the rest.

    >>> square([0.0, 4.0]).tolist()
    [1.0, -1.0]
    """
    x = floated(asarray(t))
    share = asarray(duty, x.dtype)
    ones = ops.ones_like(x + share)
    found = ops.where(_turn(x) < share * (2 * pi), ones, -ones)
    return ops.where((share < 0) | (share > 1), ones * float("nan"), found)


def chirp(
    t: Any, f0: float, t1: float, f1: float, method: str = "linear", phi: float = 0, vertex_zero: bool = True
) -> Tensor:
    """A cosine whose frequency goes from f0 at 0 to f1 at t1: "linear", "quadratic", "logarithmic" or "hyperbolic".

    >>> chirp([0.0], 1.0, 1.0, 2.0).tolist()
    [1.0]
    """
    x = floated(asarray(t))
    if method in ("linear", "lin", "li"):
        phase = 2 * pi * (f0 * x + 0.5 * (f1 - f0) / t1 * x * x)
    elif method in ("quadratic", "quad", "q"):
        bend = (f1 - f0) / t1**2
        phase = (
            2 * pi * (f0 * x + bend * x**3 / 3)
            if vertex_zero
            else 2 * pi * (f1 * x + bend * ((t1 - x) ** 3 - t1**3) / 3)
        )
    elif method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0:
            raise ArgumentError("frequencies of a logarithmic chirp have one sign, and are not 0")
        bend = t1 / numpy.log(f1 / f0) if f0 != f1 else 0.0
        phase = 2 * pi * f0 * x if f0 == f1 else 2 * pi * bend * f0 * (ops.pow(f1 / f0, x / t1) - 1.0)
    elif method in ("hyperbolic", "hyp"):
        if f0 == 0 or f1 == 0:
            raise ArgumentError("frequencies of a hyperbolic chirp are not 0")
        pole = -f1 * t1 / (f0 - f1) if f0 != f1 else 0.0
        phase = 2 * pi * f0 * x if f0 == f1 else 2 * pi * (-pole * f0) * ops.log(ops.abs(1.0 - x / pole))
    else:
        raise ArgumentError(f"there is no method {method!r}", hint='"linear", "quadratic", "logarithmic", "hyperbolic"')
    return ops.cos(phase + phi * pi / 180)


def gausspulse(t: Any, fc: float = 1000, bw: float = 0.5, bwr: float = -6) -> Tensor:
    """A cosine of frequency fc under a bell, whose width in frequencies is a share `bw` of fc, at `bwr` decibels.

    >>> gausspulse([0.0]).tolist()
    [1.0]
    """
    if fc < 0 or bw <= 0 or bwr >= 0:
        raise ArgumentError("fc is not negative, bw positive and bwr negative", given={"fc": fc, "bw": bw, "bwr": bwr})
    x = floated(asarray(t))
    steep = -((pi * fc * bw) ** 2) / (4.0 * numpy.log(10.0 ** (bwr / 20.0)))
    return ops.exp(-float(steep) * x * x) * ops.cos(2 * pi * fc * x)


def unit_impulse(shape: Any, idx: Any = None, dtype: Any = "float64") -> Tensor:
    """Zeros, with a 1 at the beginning, at a place, or in the middle ("mid").

    >>> unit_impulse(3, 1).tolist()
    [0.0, 1.0, 0.0]
    """
    sizes = tuple(numpy.atleast_1d(shape).tolist())
    out = numpy.zeros(sizes)
    if idx is None:
        place: Any = (0,) * len(sizes)
    elif idx == "mid":
        place = tuple(n // 2 for n in sizes)
    else:
        place = (idx,) * len(sizes) if isinstance(idx, int) else tuple(idx)
    out[place] = 1
    return ops.cast(Tensor(out), dtype)
