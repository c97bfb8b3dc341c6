"""Differential equations by steps whose length follows the error: Runge and Kutta's methods of three orders.

Which steps are made is decided by numbers, outside of the tensors; the steps themselves are tensors, so gradients flow
through those that were made.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from mycelia import ops
from mycelia.checks import truth
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen
from mycelia.numpy.creation import asarray
from mycelia.scipy.adjoint import by_adjoint
from mycelia.tree import tree_map
from mycelia.types import Array

Rows = tuple[tuple[float, ...], ...]


@frozen
class RungeKutta:
    """A method of Runge and Kutta: when stages are computed, of which, and what result and error are made of."""

    order: int
    nodes: tuple[float, ...]
    rows: Rows
    weights: tuple[float, ...]
    errors: tuple[float, ...]


RK45 = RungeKutta(
    5,
    (0.2, 0.3, 0.8, 8 / 9, 1.0),
    (
        (0.2,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
)
RK23 = RungeKutta(3, (0.5, 0.75), ((0.5,), (0.0, 0.75)), (2 / 9, 1 / 3, 4 / 9), (5 / 72, -1 / 12, -1 / 9, 1 / 8))
METHODS = {"RK45": RK45, "RK23": RK23}


class OdeResult(NamedTuple):
    """Times, the solution at them along the last axis, how it ended, and how often the slope was asked for."""

    t: Tensor
    y: Tensor
    t_events: Any
    y_events: Any
    nfev: int
    njev: int
    nlu: int
    status: int
    message: str
    success: bool
    sol: Any


def weighted(weights: Sequence[float], stages: Sequence[Tensor]) -> Tensor:
    """A sum of stages with weights; those of 0 are left out."""
    terms = [w * k for w, k in zip(weights, stages, strict=True) if w]
    return sum(terms[1:], terms[0])


class _Step(NamedTuple):
    """From where to where, and the slopes at both ends."""

    start: float
    end: float
    before: Tensor
    after: Tensor
    slope: Tensor
    last: Tensor


def _size(x: Any, scale: Any) -> float:
    return float(numpy.sqrt(numpy.mean(numpy.abs(x / scale) ** 2))) if x.size else 0.0


def _first(f: Callable[[float, Tensor], Tensor], t: float, y: Tensor, slope: Tensor, order: int, how: Any) -> float:
    """The length of a first step (Hairer, Norsett and Wanner, II.4)."""
    sign, rtol, atol, most = how
    start = y.numbers()
    scale = atol + rtol * numpy.abs(start)
    d0, d1 = _size(start, scale), _size(slope.numbers(), scale)
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, most)
    moved = f(t + sign * h, y + sign * h * slope)
    d2 = _size(moved.numbers() - slope.numbers(), scale) / h
    far = max(1e-6, h * 1e-3) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** (1 / order)
    return float(min(100 * h, far, most))


def _steps(
    f: Callable[[float, Tensor], Tensor], span: tuple[float, float], y: Tensor, method: RungeKutta, how: dict[str, Any]
) -> list[_Step]:
    """The steps from the first time to the second."""
    (now, end), rtol, atol = span, how["rtol"], how["atol"]
    sign = 1.0 if end >= now else -1.0
    slope = f(now, y)
    most = min(how["max_step"], abs(end - now))
    h = how["first_step"] or (_first(f, now, y, slope, method.order, (sign, rtol, atol, most)) if end != now else 0.0)
    found: list[_Step] = []
    rejected = False
    while (end - now) * sign > 0:
        h = min(h, most)
        if h < 10 * abs(numpy.nextafter(now, sign * numpy.inf) - now):
            raise ArgumentError(
                "a step became too short: the solution ends here, or the equation is stiff",
                given={"t": now, "step": h},
                hint="raise rtol and atol, or look at the solution before that time",
            )
        there = now + sign * h
        there = end if (there - end) * sign > 0 else there
        length = there - now
        stages = [slope]
        for node, row in zip(method.nodes, method.rows, strict=True):
            stages.append(f(now + node * length, y + length * weighted(row, stages)))
        after = y + length * weighted(method.weights, stages)
        stages.append(f(there, after))
        scale = atol + rtol * numpy.maximum(numpy.abs(y.numbers()), numpy.abs(after.numbers()))
        error = _size((length * weighted(method.errors, stages)).numbers(), scale)
        if error < 1:
            factor = 10.0 if error == 0 else min(10.0, 0.9 * error ** (-1 / method.order))
            found.append(_Step(now, there, y, after, slope, stages[-1]))
            now, y, slope = there, after, stages[-1]
            h = abs(length) * (min(1.0, factor) if rejected else factor)
            rejected = False
        else:
            h = abs(length) * max(0.2, 0.9 * error ** (-1 / method.order)) if numpy.isfinite(error) else abs(length) / 5
            rejected = True
    return found


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    args: tuple[Any, ...] = (),
    *,
    first_step: float | None = None,
    max_step: float = numpy.inf,
    rtol: float = 1e-3,
    atol: float = 1e-6,
    adjoint: bool = False,
) -> OdeResult:
    """The solution of dy/dt = fun(t, y, ...) from `y0` on, between two times: at all steps, or at the times `t_eval`,
    each by a step of its own, so that it is as exact as others. Methods are "RK45" (Dormand and Prince) and "RK23"
    (Bogacki and Shampine), with SciPy's steps. Gradients flow through the steps that were made; with `adjoint`, no step
    is kept for them: those in `y0` and `args` are solved for backwards in time.

    >>> found = solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], rtol=1e-8, atol=1e-8)
    >>> round(found.y[0, -1].item(), 6)
    0.367879
    """
    if method not in METHODS:
        raise ArgumentError(f"there is no method {method!r}", hint="RK45 or RK23")
    y = asarray(y0)
    y = cast(y, floating(y.dtype))
    if y.ndim != 1:
        raise ShapeError("a solution begins with a vector", given={"shape": y.shape})
    start, end = (float(v) for v in t_span)
    calls = [0]

    def moving(t: Any, y: Tensor, *args: Any) -> Tensor:
        calls[0] += 1
        return cast(asarray(fun(t, y, *args)), y.dtype)

    def slope(t: float, y: Tensor) -> Tensor:
        return moving(ops.full((), t, dtype=y.dtype.part), y, *given)

    how = {"rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first_step}
    wanted = None if t_eval is None else numpy.asarray(asarray(t_eval).numbers(), "float64")
    if wanted is not None and (wanted.ndim != 1 or ((wanted < min(start, end)) | (wanted > max(start, end))).any()):
        raise ArgumentError("times of t_eval lie inside of t_span", given={"t_span": (start, end)})
    back = truth("solve_ivp", "adjoint", adjoint)
    given, begin = (tree_map(_still, tuple(args)), _still(y)) if back else (tuple(args), y)
    steps = _steps(slope, (start, end), begin, METHODS[method], how)
    if wanted is None:
        times, found = [start, *[s.end for s in steps]], [begin, *[s.after for s in steps]]
    else:
        times, found = list(wanted), [_at(slope, steps, begin, start, float(t), METHODS[method]) for t in wanted]
    if back:
        found = _differentiated(moving, METHODS[method], how, y, (start, times, found), tuple(args))
    out = ops.stack(found, -1)
    message = "The solver successfully reached the end of the integration interval."
    return OdeResult(Tensor(numpy.array(times), y.dtype.part), out, None, None, calls[0], 0, 0, 0, message, True, None)


def _at(
    slope: Callable[[float, Tensor], Tensor], steps: list[_Step], y: Tensor, start: float, t: float, method: RungeKutta
) -> Tensor:
    """The solution at a time: one step of the method from the last end before it."""
    if t == start:
        return y
    step = next(s for s in steps if (s.end - t) * (s.end - s.start) >= 0)
    if t == step.end:
        return step.after
    h, stages = t - step.start, [step.slope]
    for node, row in zip(method.nodes, method.rows, strict=True):
        stages.append(slope(step.start + node * h, step.before + h * weighted(row, stages)))
    return step.before + h * weighted(method.weights, stages)


def _still(x: Any) -> Any:
    return x.detached() if isinstance(x, Tensor) else x


def _differentiated(
    moving: Callable[..., Tensor], method: RungeKutta, how: dict[str, Any], y: Tensor, found: Any, args: tuple[Any, ...]
) -> list[Tensor]:
    """States that were found, with the gradient of the adjoint equation, which has steps of its own."""
    start, times, states = found
    forward = [ops.stack([_still(y), *states])]

    def solve(slope: Callable[[Tensor, Any], Tensor], z: Tensor, wanted: Array) -> Tensor:
        if forward:
            return forward.pop()
        ends = float(wanted[0]), float(wanted[1])
        kept = {**how, "first_step": None}
        steps = _steps(lambda t, z: slope(z, ops.full((), t, dtype=z.dtype)), ends, z, method, kept)
        return ops.stack([z, steps[-1].after if steps else z])

    out = by_adjoint(moving, solve, y, numpy.array([start, *times]), args)
    return [out[i + 1] for i in range(len(times))]
