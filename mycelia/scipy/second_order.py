"""Minima by second derivatives, of which only products with vectors are computed.

Equations of Newton's are solved by conjugate gradients until the direction is good enough, or curvature is negative
(Nocedal and Wright, Numerical Optimization, chapters 4 and 7).
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from mycelia import ops
from mycelia.api import grad, jvp
from mycelia.eager import Tensor, wrap
from mycelia.errors import ArgumentError
from mycelia.numpy.creation import asarray
from mycelia.types import Array

Product = Callable[[Tensor, Tensor], Tensor]
Found = tuple[tuple[Tensor, Tensor, Tensor], int, int]  # where, how low, the slope; how it ended, rounds


def curvature(func: Callable[..., Any], args: tuple[Any, ...], jac: Any, hess: Any, hessp: Any) -> Product:
    """The product of second derivatives at x and a vector: the user's, or our own."""
    if hessp is not None:
        return lambda x, v: asarray(hessp(x, v, *args))
    if hess is not None:
        return lambda x, v: ops.matmul(asarray(hess(x, *args)), v)
    slope = grad(lambda x: func(x, *args)) if jac is None else (lambda x: asarray(jac(x, *args)))
    return lambda x, v: jvp(slope, x, v)[1]


def _times(product: Product, x: Tensor, v: Array) -> Array:
    return product(x, wrap(v.astype(x.dtype.numpy))).asnumpy().astype("float64")


def newtonian(
    f: Callable[[Tensor], tuple[Tensor, Tensor]],
    product: Product,
    search: Callable[..., Any],
    x: Tensor,
    options: dict[str, Any],
    tol: float | None,
    callback: Callable[[Tensor], Any] | None,
) -> Found:
    """Newton's directions and steps along them ("Newton-CG"), until a step is shorter than `xtol`, on average."""
    given = dict(options)
    xtol, maxiter = given.pop("xtol", tol if tol is not None else 1e-5), given.pop("maxiter", None)
    rounds = given.pop("line_search_maxiter", None) or 20
    if given:
        raise ArgumentError(f"Newton-CG has no option {', '.join(map(repr, given))}")
    limit = 200 * x.shape[0] if maxiter is None else maxiter
    value, slope = f(x)
    for nit in range(limit):
        g = slope.asnumpy().astype("float64")
        along = _direction(product, x, g)
        step = search(x, wrap(along.astype(x.dtype.numpy)), float(value.item()), slope, 1e-4, 0.9, rounds, 1.0)
        if step.failed:
            return (x, value, slope), (0 if not g.any() else 3), nit
        x, value, slope = x + step.a_k * wrap(along.astype(x.dtype.numpy)), step.f_k, step.g_k
        if callback is not None:
            callback(x)
        if float(numpy.abs(float(step.a_k) * along).mean()) <= xtol:
            return (x, value, slope), 0, nit + 1
    return (x, value, slope), 1, limit


def _direction(product: Product, x: Tensor, g: Array) -> Array:
    """A direction in which it goes down, by conjugate gradients."""
    size = float(numpy.abs(g).sum())
    enough = min(0.5, numpy.sqrt(size)) * size
    out, rest, along = numpy.zeros_like(g), g.copy(), -g
    for _ in range(20 * g.size):
        if numpy.abs(rest).sum() <= enough:
            break
        turned = _times(product, x, along)
        bend = float(along @ turned)
        if bend <= 3 * numpy.finfo(float).eps * float(along @ along):
            return -g if not out.any() else out
        before = float(rest @ rest)
        out, rest = out + before / bend * along, rest + before / bend * turned
        along = -rest + float(rest @ rest) / before * along
    return out if out.any() else -g


def trusted(
    f: Callable[[Tensor], tuple[Tensor, Tensor]],
    product: Product,
    x: Tensor,
    options: dict[str, Any],
    tol: float | None,
    callback: Callable[[Tensor], Any] | None,
) -> Found:
    """Steps to the minimum of a parabola inside of a radius, which grows and shrinks ("trust-ncg", Steihaug)."""
    given = dict(options)
    gtol, maxiter = given.pop("gtol", tol if tol is not None else 1e-4), given.pop("maxiter", None)
    radius, most = given.pop("initial_trust_radius", 1.0), given.pop("max_trust_radius", 1000.0)
    eta = given.pop("eta", 0.15)
    if given or not 0 < radius < most:
        raise ArgumentError("trust-ncg has no such options", given={**given, "radius": radius, "most": most})
    limit = 200 * x.shape[0] if maxiter is None else maxiter
    value, slope = f(x)
    nit = 0
    while float(numpy.linalg.norm(slope.asnumpy())) >= gtol:
        if nit >= limit:
            return (x, value, slope), 1, nit
        g = slope.asnumpy().astype("float64")
        step, edge = _inside(product, x, g, radius)
        foreseen = -float(g @ step + 0.5 * step @ _times(product, x, step))
        moved = x + wrap(step.astype(x.dtype.numpy))
        lower, steeper = f(moved)
        gain = (float(value.item()) - float(lower.item())) / foreseen if foreseen > 0 else -1.0
        if gain < 0.25:
            radius *= 0.25
        elif gain > 0.75 and edge:
            radius = min(2 * radius, most)
        if gain > eta:
            x, value, slope = moved, lower, steeper
        nit += 1
        if callback is not None:
            callback(x)
        if radius < 1e-300 or foreseen <= 0:
            return (x, value, slope), 2, nit
    return (x, value, slope), 0, nit


def _inside(product: Product, x: Tensor, g: Array, radius: float) -> tuple[Array, bool]:
    """The step, and whether it ends at the radius."""
    size = float(numpy.linalg.norm(g))
    enough = min(0.5, numpy.sqrt(size)) * size
    out, rest, along = numpy.zeros_like(g), g.copy(), -g
    for _ in range(20 * g.size):
        turned = _times(product, x, along)
        bend = float(along @ turned)
        if bend <= 0:
            ends = [out + t * along for t in _reach(out, along, radius)]
            costs = [float(g @ e + 0.5 * e @ _times(product, x, e)) for e in ends]
            return ends[int(numpy.argmin(costs))], True
        before = float(rest @ rest)
        ahead = out + before / bend * along
        if numpy.linalg.norm(ahead) >= radius:
            return out + _reach(out, along, radius)[1] * along, True
        out, rest = ahead, rest + before / bend * turned
        if numpy.linalg.norm(rest) < enough:
            break
        along = -rest + float(rest @ rest) / before * along
    return out, False


def _reach(start: Array, along: Array, radius: float) -> list[float]:
    """How far it is to a sphere, backwards and forwards."""
    a, b, c = float(along @ along), 2 * float(start @ along), float(start @ start) - radius * radius
    root = float(numpy.sqrt(max(0.0, b * b - 4 * a * c)))
    return sorted([(-b - root) / (2 * a), (-b + root) / (2 * a)])
