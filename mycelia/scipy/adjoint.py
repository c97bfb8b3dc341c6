"""Gradients of differential equations by their adjoint equation: solved backwards in time, so that no step is kept.

Where y' = f(t, y, args), what flows back, a, obeys a' = -a df/dy; what flows to the arguments is the integral of
a df/dargs. Both are solved together with y, which begins anew at every time that was asked for.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from mycelia import ops
from mycelia.api import vjp
from mycelia.api.given import with_gradient
from mycelia.eager import Tensor
from mycelia.eager.tape import tape_of
from mycelia.errors import ArgumentError
from mycelia.types import Array

Slope = Callable[..., Tensor]  # of a time, a state and arguments
Solver = Callable[[Callable[[Tensor, Any], Tensor], Tensor, Array], Tensor]  # of slope(y, t), a start and times


def by_adjoint(slope: Slope, solve: Solver, y: Tensor, times: Array, args: tuple[Any, ...]) -> Tensor:
    """States at times along a first axis, as `solve` finds them, with the gradient of the adjoint equation in the
    first state and in the arguments.
    """
    if y.dtype.is_complex:
        raise ArgumentError("the adjoint equation is one of real numbers", given={"dtype": y.dtype})
    moving = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a.dtype.is_float]

    def whole(some: Sequence[Any]) -> tuple[Any, ...]:
        found = list(args)
        for i, a in zip(moving, some, strict=True):
            found[i] = a
        return tuple(found)

    held = whole([args[i].detached() for i in moving])
    if tape_of([slope(Tensor(times[0], y.dtype), y.detached(), *held)]) is not None:
        raise ArgumentError(
            "what an equation reads beside its arguments has no gradient by the adjoint equation",
            hint="give tensors that are differentiated in args, or leave out adjoint=True",
        )

    def forward(y: Tensor, *some: Any) -> Tensor:
        fixed = whole([a.detached() for a in some])
        return solve(lambda y, t: slope(t, y, *fixed), y.detached(), times)

    def backward(y: Tensor, *rest: Any) -> tuple[Any, ...]:
        *some, out, dout = rest
        flow, shares = _backwards(slope, solve, times, out, dout, whole(some), moving)
        return (flow, *shares)

    return with_gradient(forward, backward, (y, *[args[i] for i in moving]))


def _backwards(
    slope: Slope, solve: Solver, times: Array, out: Tensor, dout: Tensor, args: tuple[Any, ...], moving: list[int]
) -> tuple[Tensor, list[Tensor]]:
    """What flows to the first state, and to the arguments."""
    shapes = [out.shape[1:], out.shape[1:], *[args[i].shape for i in moving]]

    def joined(parts: Sequence[Tensor]) -> Tensor:
        return ops.cat([ops.cast(ops.reshape(x, (-1,)), out.dtype) for x in parts], 0)

    def apart(z: Tensor) -> list[Tensor]:
        parts, begin = [], 0
        for shape in shapes:
            parts.append(ops.reshape(z[begin : begin + prod(shape)], shape))
            begin += prod(shape)
        return parts

    def together(z: Tensor, t: Any) -> Tensor:
        y, flow, *_ = apart(z)

        def at(y: Tensor, *some: Any) -> Tensor:
            found = list(args)
            for i, a in zip(moving, some, strict=True):
                found[i] = a
            return slope(t, y, *found)

        moved, back = vjp(at, y, *[args[i] for i in moving])
        return joined([moved, *[-part for part in _listed(back(flow))]])

    flow, shares = dout[-1], [ops.zeros_like(args[i]) for i in moving]
    for n in range(len(times) - 1, 0, -1):
        end = solve(together, joined([out[n], flow, *shares]), times[[n, n - 1]])[-1]
        _, flow, *shares = apart(end)
        flow = flow + dout[n - 1]
    return flow, [ops.cast(share, args[i].dtype) for share, i in zip(shares, moving, strict=True)]


def _listed(x: Any) -> list[Tensor]:
    return list(x) if isinstance(x, tuple | list) else [x]
