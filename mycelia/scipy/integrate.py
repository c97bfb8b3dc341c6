"""Integrals of numbers along an axis and of functions, and solutions of differential equations."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from mycelia import ops
from mycelia.checks import truth
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.calculus import diff, trapezoid
from mycelia.numpy.creation import asarray
from mycelia.numpy.reductions import cumsum
from mycelia.numpy.reductions import sum as total
from mycelia.ops.arguments import axis_of
from mycelia.scipy.adjoint import by_adjoint
from mycelia.scipy.quadrature import quad
from mycelia.scipy.solvers import RK45, solve_ivp, weighted
from mycelia.types import Array

__all__ = ["cumulative_trapezoid", "fixed_quad", "odeint", "quad", "simpson", "solve_ivp", "trapezoid"]


def _part(x: Tensor, axis: int, start: int | None, stop: int | None, step: int | None = None) -> Tensor:
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def _steps(y: Tensor, x: Any, dx: Any, axis: int) -> Any:
    """The distances between points along an axis, such that they broadcast."""
    if x is None:
        return ops.broadcast_to(
            cast(asarray(dx), y.dtype), (1,) * axis + (y.shape[axis] - 1,) + (1,) * (y.ndim - axis - 1)
        )
    points = asarray(x)
    points = cast(points, y.dtype)
    if points.ndim == 1:
        return ops.reshape(diff(points), (1,) * axis + (-1,) + (1,) * (y.ndim - axis - 1))
    return diff(points, axis=axis)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: float | None = None) -> Tensor:
    """The running integral along an axis by trapezoids; from 0 on, if `initial` is 0.

    >>> cumulative_trapezoid([1.0, 2.0, 3.0]).tolist()
    [1.5, 4.0]
    """
    a = asarray(y)
    a = cast(a, floating(a.dtype))
    place = axis_of(a, axis)
    out = cumsum((_part(a, place, 1, None) + _part(a, place, None, -1)) * _steps(a, x, dx, place) / 2, place)
    if initial is None:
        return out
    if initial != 0:
        raise ArgumentError(f"a running integral begins with 0, not {initial}")
    return ops.cat([ops.zeros_like(_part(a, place, None, 1)), out], place)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral along an axis by parabolas through three points each; of an even number the last are corrected.

    >>> round(simpson([0.0, 1.0, 4.0]).item(), 5)
    2.66667
    """
    a = asarray(y)
    a = cast(a, floating(a.dtype))
    place = axis_of(a, axis)
    count = a.shape[place]
    if count < 3:
        return trapezoid(a, x, dx, axis)
    h = _steps(a, x, dx, place)
    odd = count if count % 2 else count - 1
    h0, h1 = _part(h, place, 0, odd - 1, 2), _part(h, place, 1, odd - 1, 2)
    y0, y1, y2 = (_part(a, place, i, odd - 2 + i, 2) for i in range(3))
    whole, ratio = h0 + h1, h0 / h1
    out = total(whole / 6 * (y0 * (2 - 1 / ratio) + y1 * (whole * whole / (h0 * h1)) + y2 * (2 - ratio)), place)
    if count % 2:
        return out
    last, before = (_single(h, place, i) for i in (-1, -2))
    ends = [_single(a, place, i) for i in (-1, -2, -3)]
    alpha = (2 * last * last + 3 * last * before) / (6 * (before + last))
    beta = (last * last + 3 * last * before) / (6 * before)
    eta = last * last * last / (6 * before * (before + last))
    return out + alpha * ends[0] + beta * ends[1] - eta * ends[2]


def _single(x: Tensor, axis: int, i: int) -> Tensor:
    return ops.squeeze(_part(x, axis, i, i + 1 if i != -1 else None), axis)


def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: tuple[Any, ...] = (), n: int = 5) -> tuple[Tensor, None]:
    """The integral of a function from a to b by n points (Gauss and Legendre); exact up to degree 2n - 1.

    >>> round(fixed_quad(lambda x: x * x, 0.0, 3.0)[0].item(), 4)
    9.0
    """
    points, weights = numpy.polynomial.legendre.leggauss(n)
    low, high = asarray(a), asarray(b)
    low, high = cast(low, floating(low.dtype)), cast(high, floating(high.dtype))
    at = (high - low) * Tensor((points + 1) / 2, low.dtype) + low
    return (high - low) / 2 * total(Tensor(weights, low.dtype) * func(at, *args), -1), None


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    *,
    tfirst: bool = False,
    rtol: float = 1e-6,
    atol: float = 1e-6,
    mxstep: int = 5000,
    adjoint: bool = False,
) -> Tensor:
    """The solution of dy/dt = func(y, t, ...) at the times `t`, of which the first belongs to `y0`, along a first axis.

    Steps are as long as `rtol` and `atol` allow (Dormand and Prince). Gradients flow through the steps that were made;
    with `adjoint`, no step is kept for them: those in `y0` and `args` are solved for backwards in time.

    >>> [round(v, 3) for v in odeint(lambda y, t: -y, 1.0, [0.0, 1.0]).tolist()]
    [1.0, 0.368]
    """
    y, times = asarray(y0), asarray(t)
    y, times = cast(y, floating(y.dtype)), cast(times, floating(times.dtype))
    if times.ndim != 1 or not times.size:
        raise ShapeError("times are a vector", given={"shape": times.shape})

    def slope(t: Any, y: Tensor, *args: Any) -> Tensor:
        return cast(asarray(func(t, y, *args) if tfirst else func(y, t, *args)), y.dtype)

    def solve(slope: Callable[[Tensor, Any], Tensor], y: Tensor, wanted: Array) -> Tensor:
        return _walk(slope, y, wanted, times.dtype, (rtol, atol, mxstep))

    wanted = times.numbers().astype("float64")
    if truth("odeint", "adjoint", adjoint):
        return by_adjoint(slope, solve, y, wanted, tuple(args))
    return solve(lambda y, t: slope(t, y, *args), y, wanted)


def _walk(
    slope: Callable[[Tensor, Any], Tensor], y: Tensor, wanted: Array, dtype: Any, how: tuple[float, float, int]
) -> Tensor:
    """The states at some times, the first of them given."""
    rtol, atol, mxstep = how
    found, now = [y], float(wanted[0])
    k1, step = slope(y, ops.full((), now, dtype=dtype)), 0.0
    for i in range(1, wanted.size):
        end = float(wanted[i])
        sign = 1.0 if end >= now else -1.0
        step = sign * abs(step) if step else _first_step(y, k1, rtol, atol) * sign
        for _ in range(mxstep):
            if (end - now) * sign <= 0:
                break
            last = abs(step) >= abs(end - now)
            h = end - now if last else step
            stages = [k1]
            for node, row in zip((*RK45.nodes, 1.0), (*RK45.rows, RK45.weights), strict=True):
                inside = y + h * weighted(row, stages)
                stages.append(slope(inside, ops.full((), now + node * h, dtype=dtype)))
            error = (h * weighted(RK45.errors, stages)).numbers()
            scale = atol + rtol * numpy.maximum(abs(y.numbers()), abs(inside.numbers()))
            far = float(numpy.sqrt(numpy.mean(abs(error / scale) ** 2))) if error.size else 0.0
            if far <= 1:
                y, k1, now = inside, stages[-1], end if last else now + h
            if not (far <= 1 and last):
                step = h * min(5.0, max(0.2, 0.9 * (far or 1e-10) ** -0.2))
            if not numpy.isfinite(far):
                raise ArgumentError("the solution left the numbers", given={"t": now})
        else:
            raise ArgumentError(
                f"{mxstep} steps did not suffice", given={"t": now}, hint="raise mxstep, or rtol and atol"
            )
        found.append(y)
    return ops.stack(found)


def _first_step(y: Tensor, slope: Tensor, rtol: float, atol: float) -> float:
    scale = atol + rtol * abs(y.numbers())
    size, speed = (float(numpy.sqrt(numpy.mean(abs(v.numbers() / scale) ** 2))) for v in (y, slope))
    return 0.01 * size / speed if size > 1e-5 and speed > 1e-5 else 1e-6
