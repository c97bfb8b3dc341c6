"""Minima of functions by their gradients, and the cheapest assignment.

A minimum is searched in Python, step by step; the function and its gradient may be jitted. Steps satisfy the strong
conditions of Wolfe; directions are as in Nocedal and Wright, Numerical Optimization, chapters 5, 6 and 7.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy

from mycelia import ops
from mycelia.api import value_and_grad
from mycelia.eager import Tensor, cast, floating, wrap
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy.creation import asarray, eye
from mycelia.scipy import steps
from mycelia.scipy.roots import (
    RootResults,
    bisect,
    brentq,
    curve_fit,
    fixed_point,
    least_squares,
    newton,
    root,
    root_scalar,
)
from mycelia.scipy.second_order import curvature, newtonian, trusted
from mycelia.types import int64

__all__ = [
    "LineSearchResults", "OptimizeResults", "RootResults", "bisect", "brentq", "curve_fit", "fixed_point",
    "least_squares", "line_search", "linear_sum_assignment", "minimize", "newton", "root", "root_scalar",
]  # fmt: skip

METHODS = ("bfgs", "lbfgs", "l-bfgs", "cg", "nelder-mead", "newton-cg", "trust-ncg")


class OptimizeResults(NamedTuple):
    """A minimum: where, whether it was found (status 0; 1 after too many rounds, 3 without a step), and its cost."""

    x: Tensor
    success: bool
    status: int
    fun: Tensor
    jac: Tensor | None
    hess_inv: Tensor | None
    nfev: int
    njev: int
    nit: int


class LineSearchResults(NamedTuple):
    """A step along a direction: whether it failed, how long it is, and the function and its gradient there."""

    failed: bool
    nit: int
    done: bool
    nfev: int
    ngev: int
    k: int
    a_k: float
    f_k: Tensor
    g_k: Tensor
    status: int


class Counted:
    """A function with its gradient, and how often it was computed."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], jac: Callable[..., Any] | None) -> None:
        self.function, self.args, self.jac = function, args, jac
        self.calls = 0
        self.both = value_and_grad(lambda x: function(x, *args)) if jac is None else None

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.calls += 1
        if self.both is not None:
            value, slope = self.both(x)
        else:
            assert self.jac is not None
            value, slope = asarray(self.function(x, *self.args)), asarray(self.jac(x, *self.args))
        if value.size != 1:
            raise ShapeError("a minimum is one of a function that gives one number", given={"shape": value.shape})
        return ops.reshape(value, ()), slope

    def value(self, x: Tensor) -> float:
        self.calls += 1
        return float(asarray(self.function(x, *self.args)).item())


def _dot(x: Tensor, y: Tensor) -> float:
    return float(ops.sum(x * y).item())


# --------------------------------------------------------------------------------------------------------- the step


def _wolfe(
    f: Counted, x: Tensor, direction: Tensor, value: float, slope: Tensor, c1: float, c2: float, maxiter: int,
    first: float, way: Callable[..., steps.Found] = steps.search,
) -> LineSearchResults:  # fmt: skip
    """A step that lowers the function enough and makes its slope flatter."""
    calls = f.calls

    def look(a: float) -> steps.Point:
        found, gradient = f(x + a * direction)
        return steps.Point(a, float(found.item()), _dot(gradient, direction), found, gradient)

    (step, _, _, height, gradient), good, rounds = way(
        look, steps.Point(0.0, value, _dot(slope, direction)), first, c1, c2, rounds=maxiter
    )
    spent = f.calls - calls
    assert height is not None, "a search looks at one step at least"
    assert gradient is not None
    return LineSearchResults(not good, rounds, good, spent, spent, rounds, step, height, gradient, 0 if good else 3)


def line_search(
    f: Callable[..., Any],
    xk: Any,
    pk: Any,
    jac: Callable[..., Any] | None = None,
    gfk: Any = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    c1: float = 1e-4,
    c2: float = 0.9,
    maxiter: int = 20,
) -> LineSearchResults:
    """A step from `xk` along `pk` that satisfies the strong conditions of Wolfe.

    >>> line_search(lambda x: (x * x).sum(), Tensor([2.0]), Tensor([-4.0])).failed
    False
    """
    x, along = asarray(xk), asarray(pk)
    counted = Counted(f, (), jac)
    if gfk is None or old_fval is None:
        value, slope = counted(x)
    value = asarray(old_fval) if old_fval is not None else value
    slope = asarray(gfk) if gfk is not None else slope
    drop = None if old_old_fval is None else float(value.item()) - float(asarray(old_old_fval).item())
    first = steps.reach(drop, _dot(slope, along))
    return _wolfe(counted, x, along, float(value.item()), slope, c1, c2, maxiter, first)


# ------------------------------------------------------------------------------------------------------- directions


def _quasi_newton(
    x: Tensor,
) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], None], Callable[[], Tensor]]:
    """The inverse of the second derivatives, as it becomes known (Broyden, Fletcher, Goldfarb, Shanno)."""
    unit = eye(x.shape[0], dtype=x.dtype)
    held = [unit]

    def update(s: Tensor, y: Tensor) -> None:
        curve = _dot(s, y)
        if curve <= 0:
            return
        h = held[0]
        left = unit - ops.outer(s, y) / curve
        held[0] = ops.matmul(ops.matmul(left, h), left.T) + ops.outer(s, s) / curve

    return lambda g: -ops.matmul(held[0], g), update, lambda: held[0]


def _limited(x: Tensor, maxcor: int) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], None], None]:
    """The same from the last steps alone."""
    memory: list[tuple[Tensor, Tensor, float]] = []

    def direction(g: Tensor) -> Tensor:
        q, shares = g, []
        for s, y, curve in reversed(memory):
            share = _dot(s, q) / curve
            shares.append(share)
            q = q - share * y
        if memory:
            s, y, curve = memory[-1]
            q = q * (curve / _dot(y, y))
        for (s, y, curve), share in zip(memory, reversed(shares), strict=True):
            q = q + s * (share - _dot(y, q) / curve)
        return -q

    def update(s: Tensor, y: Tensor) -> None:
        curve = _dot(s, y)
        if curve > 0:
            memory.append((s, y, curve))
            del memory[:-maxcor]

    return direction, update, None


def _conjugate() -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], None], None]:
    """Directions that do not spoil what was gained (Polak and Ribière, never negative)."""
    last: list[Tensor] = []

    def direction(g: Tensor) -> Tensor:
        if last:
            older, along = last
            share = max(0.0, _dot(g, g - older) / _dot(older, older))
            new = -g + share * along
            new = new if _dot(new, g) < 0 else -g
        else:
            new = -g
        last[:] = [g, new]
        return new

    return direction, lambda s, y: None, None


class Manner(NamedTuple):
    """How a method goes downhill: its directions, the conditions of its steps, where it begins to look for one, and by
    which part of the height it must fall at least.
    """

    directions: Callable[[Tensor, int], tuple[Any, Any, Any]]
    c1: float
    c2: float
    search: Callable[..., steps.Found]
    first: Callable[[float, float, int], float]
    flat: float


def _as_before(drop: float, slope: float, nit: int) -> float:
    return steps.reach(drop, slope)


def _whole(drop: float, slope: float, nit: int) -> float:
    """The whole step, which is of unit length at first, where the direction is the slope itself."""
    return 1.0 if nit or not slope else min(1.0 / math.sqrt(-slope), 1e10)


LIMITED = Manner(_limited, 1e-3, 0.9, steps.loosely, _whole, 1e7 * float(numpy.finfo(float).eps))
MANNERS = {
    "bfgs": Manner(lambda x, maxcor: _quasi_newton(x), 1e-4, 0.9, steps.search, _as_before, -math.inf),
    "cg": Manner(lambda x, maxcor: _conjugate(), 1e-4, 0.4, steps.search, _as_before, -math.inf),
    "lbfgs": LIMITED,
    "l-bfgs": LIMITED,
}


def minimize(
    func: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    method: str | None = None,
    jac: Callable[..., Any] | None = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[[Tensor], Any] | None = None,
    options: dict[str, Any] | None = None,
) -> OptimizeResults:
    """Where a function is smallest, near `x0`: by "BFGS", "LBFGS", "CG", "Newton-CG", "trust-ncg" or "Nelder-Mead".

    Its gradient is our own; so is the product of second derivatives and a vector that the two methods with "ncg" and
    "Newton" in their names need, unless `hessp` (of x and a vector) or `hess` give it.

    No gradient flows through the search: what it gives is a number like one that was read.

    Options: `maxiter`, `gtol` (how flat it is to be), `line_search_maxiter`, `norm` (of the gradient), `maxcor`
    (steps that LBFGS remembers), `xatol` and `fatol` (for Nelder-Mead), `xtol` (of Newton-CG), `initial_trust_radius`,
    `max_trust_radius` and `eta` (of trust-ncg).

    >>> minimize(lambda x: ((x - 3.0) ** 2).sum(), Tensor([0.0, 1.0]), method="BFGS").x.tolist()
    [3.0, 3.0]
    """
    chosen = "" if method is None else method.lower()
    if chosen not in METHODS:
        raise ArgumentError(
            f"there is no method {method!r}", hint="BFGS, LBFGS, CG, Newton-CG, trust-ncg or Nelder-Mead"
        )
    if not isinstance(args, tuple):
        raise CallError(f"args is a tuple, not a {type(args).__name__}")
    second = chosen in ("newton-cg", "trust-ncg")
    if bounds is not None or constraints or (not second and (hess is not None or hessp is not None)):
        raise ArgumentError(f"{method} takes no bounds, constraints, or second derivatives", hint="leave them out")
    given = dict(options or {})
    x = asarray(x0)
    x = cast(x, floating(x.dtype))
    if x.ndim != 1:
        raise ShapeError("a minimum is searched among vectors", given={"shape": x.shape})
    f = Counted(func, args, jac)
    if chosen == "nelder-mead":
        return _simplex(f, x, given, tol, callback)
    if second:
        return _second_order(chosen, f, x, curvature(func, args, jac, hess, hessp), given, tol, callback)
    gtol, maxiter = given.pop("gtol", None), given.pop("maxiter", None)
    gtol = gtol if gtol is not None else tol if tol is not None else 1e-5
    rounds, order = given.pop("line_search_maxiter", None) or 20, given.pop("norm", numpy.inf)
    maxcor = given.pop("maxcor", given.pop("history_size", 10))
    if given:
        raise ArgumentError(f"{method} has no option {', '.join(map(repr, given))}")
    limit = 200 * x.shape[0] if maxiter is None else maxiter
    manner = MANNERS[chosen]
    direction, update, inverse = manner.directions(x, maxcor)
    value, slope = f(x)
    drop = -float(ops.sqrt(ops.sum(slope * slope)).item()) / 2  # as if the step before had fallen by that
    status, nit = 0, 0
    while float(numpy.linalg.norm(slope.asnumpy(), order)) > gtol:
        if nit >= limit:
            status = 1
            break
        along = direction(slope)
        first = manner.first(drop, _dot(slope, along), nit)
        step = _wolfe(f, x, along, float(value.item()), slope, manner.c1, manner.c2, rounds, first, manner.search)
        if step.failed:
            status = 3
            break
        moved = step.a_k * along
        update(moved, step.g_k - slope)
        before, after = float(value.item()), float(step.f_k.item())
        drop = after - before
        x, value, slope, nit = x + moved, step.f_k, step.g_k, nit + 1
        if callback is not None:
            callback(x)
        if -drop <= manner.flat * max(abs(before), abs(after), 1.0):
            break
    found = None if inverse is None else ops.stop_gradient(inverse())
    x, value, slope = (ops.stop_gradient(v) for v in (x, value, slope))
    return OptimizeResults(x, status == 0, status, value, slope, found, f.calls, f.calls, nit)


def _second_order(
    method: str,
    f: Counted,
    x: Tensor,
    product: Callable[[Tensor, Tensor], Tensor],
    options: dict[str, Any],
    tol: float | None,
    callback: Callable[[Tensor], Any] | None,
) -> OptimizeResults:
    """A minimum by second derivatives: along directions of Newton's, or inside of a radius that is trusted."""
    if method == "trust-ncg":
        found = trusted(f, product, x, options, tol, callback)
    else:
        found = newtonian(f, product, partial(_wolfe, f), x, options, tol, callback)
    (x, value, slope), status, nit = found
    x, value, slope = (ops.stop_gradient(v) for v in (x, value, slope))
    return OptimizeResults(x, status == 0, status, value, slope, None, f.calls, f.calls, nit)


def _simplex(
    f: Counted, x: Tensor, options: dict[str, Any], tol: float | None, callback: Callable[[Tensor], Any] | None
) -> OptimizeResults:
    """Without gradients: a simplex that walks downhill (Nelder and Mead)."""
    xatol, fatol = options.pop("xatol", tol or 1e-4), options.pop("fatol", tol or 1e-4)
    limit = options.pop("maxiter", None) or 200 * x.shape[0]
    if options:
        raise ArgumentError(f"Nelder-Mead has no option {', '.join(map(repr, options))}")
    start = x.asnumpy().astype("float64")
    corners = [start]
    for i in range(start.size):
        corner = start.copy()
        corner[i] = corner[i] * 1.05 if corner[i] else 0.00025
        corners.append(corner)

    def at(point: Any) -> float:
        return f.value(Tensor(point.astype(x.dtype.numpy)))

    simplex = sorted(((at(c), i, c) for i, c in enumerate(corners)), key=lambda v: v[0])
    points, values = [c for _, _, c in simplex], [v for v, _, _ in simplex]
    nit, status = 0, 1
    while nit < limit:
        spread = max(float(numpy.abs(p - points[0]).max()) for p in points[1:])
        if spread <= xatol and max(abs(v - values[0]) for v in values[1:]) <= fatol:
            status = 0
            break
        center = numpy.mean(points[:-1], 0)
        mirrored = 2 * center - points[-1]
        value = at(mirrored)
        if value < values[0]:
            further = 3 * center - 2 * points[-1]
            beyond = at(further)
            new = (further, beyond) if beyond < value else (mirrored, value)
        elif value < values[-2]:
            new = (mirrored, value)
        else:
            inside = 1.5 * center - 0.5 * points[-1] if value < values[-1] else 0.5 * center + 0.5 * points[-1]
            nearer = at(inside)
            new = (inside, nearer) if nearer <= min(value, values[-1]) else (None, 0.0)
        if new[0] is None:
            points = [points[0], *[points[0] + 0.5 * (p - points[0]) for p in points[1:]]]
            values = [values[0], *[at(p) for p in points[1:]]]
        else:
            points[-1], values[-1] = new
        order = numpy.argsort(values, kind="stable")
        points, values = [points[i] for i in order], [values[i] for i in order]
        nit += 1
        if callback is not None:
            callback(Tensor(points[0].astype(x.dtype.numpy)))
    best = Tensor(points[0].astype(x.dtype.numpy))
    return OptimizeResults(best, status == 0, status, Tensor(values[0], x.dtype), None, None, f.calls, 0, nit)


# ------------------------------------------------------------------------------------------------------- assignment


def linear_sum_assignment(
    cost_matrix: Any, maximize: Any = False, dimension_limit: Any = None
) -> tuple[Tensor, Tensor]:
    """Rows and columns, each at most once, whose costs add up to the least (or the most); of the first
    `dimension_limit` columns, if there is a limit.

    >>> [t.tolist() for t in linear_sum_assignment([[4.0, 1.0], [2.0, 3.0]])]
    [[0, 1], [1, 0]]
    """
    x = asarray(cost_matrix)
    if x.ndim != 2:
        raise ShapeError("costs are a matrix", given={"shape": x.shape})
    costs = x.asnumpy().astype("float64")
    if dimension_limit is not None:
        costs = costs[:, : int(asarray(dimension_limit).item())]
    if bool(asarray(maximize).item()):
        costs = -costs
    if numpy.isnan(costs).any() or (costs == -numpy.inf).any():
        raise ArgumentError("costs are numbers, or infinite where nothing is assigned")
    turned = costs.shape[0] > costs.shape[1]
    columns = _assigned(costs.T if turned else costs)
    rows = numpy.arange(columns.size)
    if turned:
        order = numpy.argsort(columns)
        rows, columns = columns[order], order
    return cast(wrap(rows.astype("int64")), int64), cast(wrap(columns.astype("int64")), int64)


def _assigned(costs: Any) -> Any:
    """The column of each row, by shortest augmenting paths (Jonker and Volgenant)."""
    many, wide = costs.shape
    u, v = numpy.zeros(many), numpy.zeros(wide)
    row_of = numpy.full(wide, -1)
    for row in range(many):
        shortest, before = numpy.full(wide, numpy.inf), numpy.full(wide, -1)
        done, seen_rows = numpy.zeros(wide, bool), []
        now, least, sink = row, 0.0, -1
        while sink < 0:
            seen_rows.append(now)
            reduced = least + costs[now] - u[now] - v
            better = ~done & (reduced < shortest)
            shortest[better], before[better] = reduced[better], now
            open_ones = numpy.where(done, numpy.inf, shortest)
            column = int(numpy.argmin(open_ones))
            least = float(open_ones[column])
            if not numpy.isfinite(least):
                raise ArgumentError("there is no assignment of finite cost")
            done[column] = True
            if row_of[column] < 0:
                sink = column
            else:
                now = int(row_of[column])
        u[row] += least
        column_of = {int(r): c for c, r in enumerate(row_of) if r >= 0}
        for seen in seen_rows[1:]:
            u[seen] += least - shortest[column_of[seen]]
        v[done] -= least - shortest[done]
        column = sink
        while True:
            owner = int(before[column])
            previous = column_of.get(owner, -1)
            row_of[column] = owner
            if owner == row:
                break
            column = previous
    found = numpy.empty(many, dtype="int64")
    for column, owner in enumerate(row_of):
        if owner >= 0:
            found[owner] = column
    return found
