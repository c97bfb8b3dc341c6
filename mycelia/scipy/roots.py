"""Where functions are zero, and parameters that fit: searched by numbers, moving by the implicit function theorem.

A search reads numbers, and no gradient flows through it. What it finds takes one step of Newton's method at the end, in
which the slope is a constant: so it moves with everything the function depends on as the exact solution does. Where the
slope is 0, as at a double zero, there is no such derivative, and none flows.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from mycelia import ops
from mycelia.api import grad, jacrev
from mycelia.checks import truth
from mycelia.eager import Tensor, cast, wrap
from mycelia.eager.tape import tape_of
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.creation import asarray
from mycelia.ops.arguments import floated
from mycelia.types import DType, float64

__all__ = [
    "RootResults", "bisect", "brentq", "curve_fit", "fixed_point", "least_squares", "newton", "root", "root_scalar",
]  # fmt: skip

Function = Callable[..., Any]


class RootResults(NamedTuple):
    """A zero: where, how many rounds and calls it took, and whether it was found."""

    root: Tensor
    iterations: int
    function_calls: int
    converged: bool
    flag: str


class Solution(NamedTuple):
    """A solution: where, what the function is there, whether it was found, and what it cost."""

    x: Tensor
    fun: Tensor
    jac: Tensor
    success: bool
    status: int
    nfev: int
    njev: int
    cost: float


class ScalarCalls:
    """A function of one number, as Python sees it, and how often it was asked."""

    def __init__(self, f: Function, args: tuple[Any, ...], dtype: DType) -> None:
        self.f, self.args, self.dtype, self.calls = f, args, dtype, 0

    def __call__(self, x: float) -> float:
        self.calls += 1
        found = asarray(self.f(Tensor(x, self.dtype), *self.args))
        if found.size != 1:
            raise ShapeError("a zero is one of a function that gives one number", given={"shape": found.shape})
        return float(found.item())


def _moving(f: Function, args: tuple[Any, ...], x: float, dtype: DType) -> Tensor:
    """A zero that was found, moving with what the function depends on."""
    place = Tensor(x, dtype)
    value = ops.reshape(floated(asarray(f(place, *args))), ())
    if tape_of([value]) is None:
        return place
    slope = ops.stop_gradient(grad(lambda v: ops.reshape(floated(asarray(f(v, *args))), ()))(place))
    if not slope.item():
        return place
    return place - cast((value - ops.stop_gradient(value)) / slope, dtype)


def _ends(a: Any, b: Any) -> tuple[float, float, DType]:
    pair = [x if isinstance(x, Tensor) else Tensor(float(x), float64) for x in (a, b)]
    dtype = next((x.dtype for x in (a, b) if isinstance(x, Tensor) and x.dtype.is_float), float64)
    return float(pair[0].item()), float(pair[1].item()), dtype


def _result(f: Function, args: tuple[Any, ...], x: float, dtype: DType, rounds: int, asked: ScalarCalls) -> RootResults:
    return RootResults(_moving(f, args, x, dtype), rounds, asked.calls, True, "converged")


def _unfound(name: str, rounds: int, x: float) -> ArgumentError:
    return ArgumentError(f"{name}: {rounds} rounds did not suffice", given={"x": x}, hint="raise maxiter, or xtol")


def _checked(name: str, xtol: float, rtol: float, maxiter: int) -> None:
    if xtol <= 0 or rtol < 4 * numpy.finfo(float).eps or maxiter < 1:
        raise ArgumentError(
            f"{name}: xtol is positive, rtol 8.9e-16 or more, maxiter 1 or more",
            given={"xtol": xtol, "rtol": rtol, "maxiter": maxiter},
        )


def brentq(
    f: Function, a: Any, b: Any, args: tuple[Any, ...] = (), xtol: float = 2e-12, rtol: float = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False,
) -> Any:  # fmt: skip
    """A zero between two numbers at which the function has other signs: by Brent's method.

    >>> round(brentq(lambda x: x * x - 2.0, 0.0, 2.0).item(), 6)
    1.414214
    """
    found = _brent(f, a, b, args, xtol, rtol, maxiter)
    return (found.root, found) if truth("brentq", "full_output", full_output) else found.root


def _brent(f: Function, a: Any, b: Any, args: tuple[Any, ...], xtol: float, rtol: float, maxiter: int) -> RootResults:
    _checked("brentq", xtol, rtol, maxiter)
    before, here, dtype = _ends(a, b)
    asked = ScalarCalls(f, args, dtype)
    f_before, f_here = asked(before), asked(here)
    for x, value in ((before, f_before), (here, f_here)):
        if value == 0:
            return _result(f, args, x, dtype, 0, asked)
    _other_signs("brentq", f_before, f_here, before, here)
    other, f_other, last, step = 0.0, 0.0, 0.0, 0.0
    for rounds in range(1, maxiter + 1):
        if f_before and f_here and (f_before < 0) != (f_here < 0):
            other, f_other = before, f_before
            last = step = here - before
        if abs(f_other) < abs(f_here):
            before, here, other = here, other, here
            f_before, f_here, f_other = f_here, f_other, f_here
        near, half = (xtol + rtol * abs(here)) / 2, (other - here) / 2
        if f_here == 0 or abs(half) < near:
            return _result(f, args, here, dtype, rounds, asked)
        last, step = _brent_step(before, here, other, f_before, f_here, f_other, last, step, near, half)
        before, f_before = here, f_here
        here += step if abs(step) > near else near if half > 0 else -near
        f_here = asked(here)
    raise _unfound("brentq", maxiter, here)


def _brent_step(
    before: float, here: float, other: float, f_before: float, f_here: float, f_other: float, last: float, step: float,
    near: float, half: float,
) -> tuple[float, float]:  # fmt: skip
    """The step before, and the next: by a line or a parabola, if that is short enough, else half of what is left."""
    if abs(last) <= near or abs(f_here) >= abs(f_before):
        return half, half
    if before == other:
        tried = -f_here * (here - before) / (f_here - f_before)
    else:
        first, second = (f_before - f_here) / (before - here), (f_other - f_here) / (other - here)
        tried = -f_here * (f_other * second - f_before * first) / (second * first * (f_other - f_before))
    return (step, tried) if 2 * abs(tried) < min(abs(last), 3 * abs(half) - near) else (half, half)


def _other_signs(name: str, fa: float, fb: float, a: float, b: float) -> None:
    if (fa < 0) == (fb < 0) or python.isnan(fa) or python.isnan(fb):
        raise ArgumentError(
            f"{name}: the function has the same sign at both ends", given={"a": a, "b": b, "f(a)": fa, "f(b)": fb},
            hint="give two numbers between which it crosses 0",
        )  # fmt: skip


def bisect(
    f: Function, a: Any, b: Any, args: tuple[Any, ...] = (), xtol: float = 2e-12, rtol: float = 8.881784197001252e-16,
    maxiter: int = 100, full_output: bool = False,
) -> Any:  # fmt: skip
    """A zero between two numbers at which the function has other signs: by halving what lies between.

    >>> round(bisect(lambda x: x * x - 2.0, 0.0, 2.0).item(), 6)
    1.414214
    """
    found = _halved(f, a, b, args, xtol, rtol, maxiter)
    return (found.root, found) if truth("bisect", "full_output", full_output) else found.root


def _halved(f: Function, a: Any, b: Any, args: tuple[Any, ...], xtol: float, rtol: float, maxiter: int) -> RootResults:
    _checked("bisect", xtol, rtol, maxiter)
    low, high, dtype = _ends(a, b)
    asked = ScalarCalls(f, args, dtype)
    f_low, f_high = asked(low), asked(high)
    for x, value in ((low, f_low), (high, f_high)):
        if value == 0:
            return _result(f, args, x, dtype, 0, asked)
    _other_signs("bisect", f_low, f_high, low, high)
    width = high - low
    for rounds in range(1, maxiter + 1):
        width /= 2
        middle = low + width
        value = asked(middle)
        if (value < 0) == (f_low < 0):
            low = middle
        if value == 0 or abs(width) < xtol + rtol * abs(middle):
            return _result(f, args, middle, dtype, rounds, asked)
    raise _unfound("bisect", maxiter, low)


def newton(
    func: Function, x0: Any, fprime: Function | None = None, args: tuple[Any, ...] = (), tol: float = 1.48e-8,
    maxiter: int = 50, full_output: bool = False,
) -> Any:  # fmt: skip
    """A zero near a number, by Newton's method; the slope is our own, unless it is given.

    >>> round(newton(lambda x: x * x - 2.0, 1.0).item(), 6)
    1.414214
    """
    here, _, dtype = _ends(x0, 0.0)
    asked = ScalarCalls(func, args, dtype)
    slope_of = fprime if fprime is not None else grad(lambda v, *rest: ops.reshape(asarray(func(v, *rest)), ()))
    rounds = 0
    while rounds < maxiter:
        rounds += 1
        value = asked(here)
        if value == 0:
            break
        slope = float(asarray(slope_of(Tensor(here, dtype), *args)).item())
        if slope == 0:
            raise ArgumentError("newton: the slope is 0, and says no direction", given={"x": here})
        before, here = here, here - value / slope
        if abs(here - before) <= tol:
            break
    else:
        raise _unfound("newton", maxiter, here)
    found = _result(func, args, here, dtype, rounds, asked)
    return (found.root, found) if truth("newton", "full_output", full_output) else found.root


def root_scalar(
    f: Function, args: tuple[Any, ...] = (), method: str | None = None, bracket: Any = None,
    fprime: Function | None = None, x0: Any = None, xtol: float | None = None, rtol: float | None = None,
    maxiter: int | None = None,
) -> RootResults:  # fmt: skip
    """A zero: between two numbers, a `bracket`, by "brentq" or "bisect"; or near one, x0, by "newton".

    >>> root_scalar(lambda x: x * x - 2.0, bracket=[0.0, 2.0]).converged
    True
    """
    chosen = method or ("brentq" if bracket is not None else "newton" if x0 is not None else None)
    if chosen not in ("brentq", "bisect", "newton"):
        raise ArgumentError(f"there is no method {method!r}", hint='"brentq", "bisect" or "newton", with their numbers')
    if chosen == "newton":
        if x0 is None:
            raise ArgumentError("newton begins at a number", hint="give x0")
        return newton(f, x0, fprime, args, 1.48e-8 if xtol is None else xtol, maxiter or 50, True)[1]
    if bracket is None:
        raise ArgumentError(f"{chosen} searches between two numbers", hint="give a bracket")
    search = _brent if chosen == "brentq" else _halved
    low, high = bracket
    return search(f, low, high, args, xtol or 2e-12, rtol or 8.881784197001252e-16, maxiter or 100)


def fixed_point(
    func: Function, x0: Any, args: tuple[Any, ...] = (), xtol: float = 1e-8, maxiter: int = 500, method: str = "del2"
) -> Tensor:
    """Where a function gives what it is given, by iteration, which "del2" speeds up (Aitken, Steffensen).

    >>> round(fixed_point(lambda x: (x + 2.0 / x) * 0.5, 1.0).item(), 6)
    1.414214
    """
    if method not in ("del2", "iteration"):
        raise ArgumentError(f"there is no method {method!r}", hint='"del2" or "iteration"')
    x = x0 if isinstance(x0, Tensor) else Tensor(numpy.asarray(x0, "float64"))
    here = ops.stop_gradient(floated(x))
    for _ in range(maxiter):
        once = ops.stop_gradient(asarray(func(here, *args)))
        new = once
        if method == "del2":
            twice = ops.stop_gradient(asarray(func(once, *args)))
            bend = twice - 2.0 * once + here
            flat = ops.equal(bend, 0.0)
            safe = ops.where(flat, ops.ones_like(bend), bend)
            new = ops.where(flat, twice, here - (once - here) * (once - here) / safe)
        size = ops.where(ops.equal(here, 0.0), ops.ones_like(here), here)
        far = ops.abs((new - here) / size)
        here = new
        if bool(ops.all(far < xtol).item()):
            return _settled(lambda v: asarray(func(v, *args)) - v, here)
    raise ArgumentError(f"fixed_point: {maxiter} rounds did not suffice", hint="raise maxiter, or xtol")


# ----------------------------------------------------------------------------------------------------------- vectors


def _settled(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """A zero of a function of vectors, moving with what the function depends on."""
    place = ops.stop_gradient(x)
    value = f(place)
    if tape_of([value]) is None:
        return place
    flat = ops.reshape(value, (-1, 1))
    slopes = ops.stop_gradient(ops.reshape(jacrev(f)(place), (flat.shape[0], -1)))
    if numpy.linalg.matrix_rank(slopes.numbers()) != flat.shape[0]:
        return place
    move = ops.matrix_solve(slopes, flat - ops.stop_gradient(flat))
    return place - ops.reshape(move, place.shape)


def _fitted(
    f: Callable[[Tensor], Tensor], x: Tensor, jac: Callable[[Tensor], Any] | None, ftol: float, xtol: float,
    gtol: float, limit: int,
) -> tuple[Any, Any, Any, int, int, int]:  # fmt: skip
    """Where the sum of squares is smallest: by steps between Newton's and the steepest (Levenberg, Marquardt)."""
    slopes_of = jac or (lambda v: jacrev(f)(v))
    dtype = x.dtype

    def at(v: Any) -> Any:
        return asarray(f(Tensor(v, dtype))).numbers().astype("float64").reshape(-1)

    def slopes(v: Any) -> Any:
        return asarray(slopes_of(Tensor(v, dtype))).numbers().astype("float64").reshape(-1, v.size)

    here = x.numbers().astype("float64").reshape(-1)
    value, table = at(here), slopes(here)
    calls, tables, damping, status = 1, 1, 1e-3, 0
    cost = 0.5 * float(value @ value)
    while calls < limit:
        pull = table.T @ value
        if numpy.abs(pull).max(initial=0.0) <= gtol:
            status = 1
            break
        square = table.T @ table
        move = numpy.linalg.lstsq(square + damping * numpy.diag(numpy.diag(square) + 1e-30), -pull, rcond=None)[0]
        tried = here + move
        found = at(tried)
        calls += 1
        new = 0.5 * float(found @ found)
        if numpy.isfinite(new) and new <= cost:
            small = cost - new <= ftol * cost
            short = numpy.linalg.norm(move) <= xtol * (xtol + numpy.linalg.norm(here))
            here, value, cost, damping = tried, found, new, max(damping / 10, 1e-15)
            table = slopes(here)
            tables += 1
            if small or short:
                status = 2 if small else 3
                break
        else:
            damping *= 10
            if damping > 1e18:
                status = 3
                break
    return here, value, table, status, calls, tables


def _vector(x0: Any) -> Tensor:
    x = x0 if isinstance(x0, Tensor) else Tensor(numpy.asarray(x0, "float64"))
    return floated(x)


def root(
    fun: Function, x0: Any, args: tuple[Any, ...] = (), method: str = "hybr", jac: Function | None = None,
    tol: float | None = None,
) -> Solution:  # fmt: skip
    """Where a function of vectors is zero. Both methods, "hybr" and "lm", are searched for by Levenberg's and
    Marquardt's steps; the slopes are our own, unless they are given.

    >>> [round(v, 4) for v in root(lambda x: x * x - Tensor([1.0, 4.0], float64), [2.0, 3.0]).x.tolist()]
    [1.0, 2.0]
    """
    if method not in ("hybr", "lm"):
        raise ArgumentError(f"there is no method {method!r}", hint='"hybr" or "lm"')
    x = _vector(x0)
    exact = 1e-14 if tol is None else tol * 1e-3

    def f(v: Tensor) -> Tensor:
        found = asarray(fun(ops.reshape(v, x.shape), *args))
        if found.size != x.size:
            raise ShapeError("a zero is searched of as many equations as unknowns", given={"fun": found.shape})
        return ops.reshape(floated(found), (-1,))

    slopes = None if jac is None else lambda v: jac(ops.reshape(v, x.shape), *args)
    here, value, table, status, calls, tables = _fitted(f, x, slopes, 0.0, exact, 0.0, 200 * (x.size + 1))
    small = float(numpy.abs(value).max(initial=0.0)) <= 1e-6 * (1.0 + float(numpy.abs(table).max(initial=0.0)))
    solved = _settled(f, Tensor(here, x.dtype))
    return Solution(
        ops.reshape(solved, x.shape), Tensor(value, x.dtype), Tensor(table, x.dtype), small, 1 if small else status,
        calls, tables, 0.5 * float(value @ value),
    )  # fmt: skip


def least_squares(
    fun: Function, x0: Any, jac: Function | None = None, method: str = "lm", ftol: float = 1e-8, xtol: float = 1e-8,
    gtol: float = 1e-8, max_nfev: int | None = None, args: tuple[Any, ...] = (),
) -> Solution:  # fmt: skip
    """Where the sum of squares of a function of vectors is smallest, near x0 (Levenberg, Marquardt).

    >>> [round(v, 4) for v in least_squares(lambda x: x - Tensor([1.0, 4.0], float64), [2.0, 3.0]).x.tolist()]
    [1.0, 4.0]
    """
    if method != "lm":
        raise ArgumentError(f"there is no method {method!r}", hint='"lm"')
    x = _vector(x0)

    def f(v: Tensor) -> Tensor:
        return ops.reshape(floated(asarray(fun(v, *args))), (-1,))

    slopes = None if jac is None else lambda v: jac(v, *args)
    limit = 100 * (x.size + 1) if max_nfev is None else max_nfev
    here, value, table, status, calls, tables = _fitted(f, x, slopes, ftol, xtol, gtol, limit)

    def pull(v: Tensor) -> Tensor:
        return grad(lambda u: 0.5 * ops.sum(f(u) * f(u)))(v)

    place = Tensor(here, x.dtype)
    solved = place if tape_of([f(place)]) is None else _settled(pull, place)
    return Solution(
        solved, Tensor(value, x.dtype), Tensor(table, x.dtype), status > 0, status, calls, tables,
        0.5 * float(value @ value),
    )  # fmt: skip


def curve_fit(
    f: Function, xdata: Any, ydata: Any, p0: Any, sigma: Any = None, absolute_sigma: bool = False,
    jac: Function | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The parameters with which f(xdata, *parameters) is nearest to ydata, from p0 on, and how surely they are known.

    >>> x = Tensor([0.0, 1.0, 2.0], float64)
    >>> [round(v, 4) for v in curve_fit(lambda x, a, b: a * x + b, x, 2.0 * x + 1.0, [1.0, 1.0])[0].tolist()]
    [2.0, 1.0]
    """
    x, y = asarray(xdata), floated(asarray(ydata))
    start = _vector(p0)
    weights = None if sigma is None else asarray(sigma, y.dtype)

    def away(p: Tensor) -> Tensor:
        rest = asarray(f(x, *[p[i] for i in range(start.size)])) - y
        return rest if weights is None else rest / weights

    slopes = None
    if jac is not None:

        def slopes(p: Tensor) -> Tensor:
            table = asarray(jac(x, *[p[i] for i in range(start.size)]))
            return table if weights is None else table / ops.expand_dims(weights, -1)

    found = least_squares(away, start, slopes)
    if not found.success:
        raise ArgumentError("curve_fit: no parameters were found that fit", hint="begin nearer to them")
    table = found.jac.numbers().astype("float64")
    spread = numpy.linalg.pinv(table.T @ table)
    free = y.size - start.size
    if not absolute_sigma:
        spread = spread * (2 * found.cost / free) if free > 0 else numpy.full_like(spread, numpy.inf)
    return found.x, wrap(spread.astype(start.dtype.numpy))
