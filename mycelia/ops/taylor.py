"""Taylor mode: derivatives of higher order along a curve.

Inputs move along x(t) = x + s1 t + s2 t^2 / 2! + s3 t^3 / 3! + ..., and so do the results; what is given and what comes
back are derivatives by t, not coefficients. Forward mode is nested as often as there are derivatives; values that occur
twice in a program are one, so that it stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

from mycelia import primitives as p
from mycelia.api import jvp
from mycelia.checks import whole
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ops.creation import ones_like, zeros_like
from mycelia.tree import flatten, unflatten

__all__ = ["derivative", "jet", "linearize"]


def jet(fn: Callable[..., Any], primals: Any, series: Any) -> tuple[Any, Any]:
    """What `fn` gives, and its derivatives along a curve, of which the series holds those of each input, the first one
    first, along a first axis; those of results lie likewise.

    >>> y, derivatives = jet(lambda x: x * x * x, Tensor(2.0), Tensor([1.0, 0.0, 0.0]))
    >>> y.item(), derivatives.tolist()
    (8.0, [12.0, 12.0, 6.0])
    """
    inputs = tuple(primals) if isinstance(primals, tuple | list) else (primals,)
    moves = tuple(series) if isinstance(series, tuple | list) else (series,)
    order = _order(inputs, moves)

    def along(t: Tensor) -> Any:
        return fn(*[_moved(x, s, t, order) for x, s in zip(inputs, moves, strict=True)])

    return _derivatives(along, order, inputs[0])


def derivative(fn: Callable[..., Any], primals: Any, order: int) -> tuple[Any, Any]:
    """What `fn` gives, and its derivative of an order along a line on which all inputs grow at speed 1.

    >>> derivative(lambda x: x * x * x, Tensor(2.0), 2)[1].item()
    12.0
    """
    count = whole("derivative", "order", order, least=1)
    inputs = tuple(primals) if isinstance(primals, tuple | list) else (primals,)
    moves = []
    for x in inputs:
        parts = [p.expand_dims(part, (0,)) for part in (ones_like(x), *[zeros_like(x)] * (count - 1))]
        moves.append(p.concat(parts, 0) if count > 1 else parts[0])
    out, found = jet(fn, inputs, tuple(moves))
    leaves, shape = flatten(found)
    return out, unflatten(shape, [leaf[count - 1] for leaf in leaves])


def linearize(fn: Callable[..., Any], inputs: Any) -> tuple[Any, Callable[[Any], Any]]:
    """What `fn` gives at its inputs, and the linear function that tells how results move when the inputs do.

    >>> y, moves = linearize(lambda x: x * x, Tensor([1.0, 3.0]))
    >>> y.tolist(), moves(Tensor([1.0, 10.0])).tolist()
    ([1.0, 9.0], [2.0, 60.0])
    """
    at = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    for x in at:
        if not isinstance(x, Tensor):
            raise ArgumentError(f"linearize takes tensors as inputs, not a {type(x).__name__}")

    def moved(v: Any) -> Any:
        along = tuple(v) if isinstance(v, tuple | list) else (v,)
        if len(along) != len(at):
            raise ArgumentError(f"{len(at)} inputs move by as many tensors, not {len(along)}")
        return jvp(fn, at, along)[1]

    return fn(*at), moved


def _order(inputs: Sequence[Any], moves: Sequence[Any]) -> int:
    """How many derivatives there are, of inputs and series that fit."""
    if len(inputs) != len(moves):
        raise ArgumentError(f"{len(inputs)} inputs and {len(moves)} series were given", hint="one for each input")
    orders = {s.shape[0] if s.ndim else 0 for s in moves}
    for x, s in zip(inputs, moves, strict=True):
        if not x.dtype.is_float:
            raise DTypeError(f"jet takes floats, not {x.dtype!r}", hint="cast it to float32")
        if s.shape[1:] != x.shape or len(orders) > 1 or 0 in orders:
            raise ShapeError(
                "a series has a first axis of derivatives, as many for each input, and then the axes of the input",
                given={"input": x.shape, "series": s.shape},
            )
    return int(orders.pop())


def _moved(x: Tensor, series: Tensor, t: Tensor, order: int) -> Tensor:
    """The input at a time near 0."""
    out, power = x, t
    for k in range(1, order + 1):
        out = out + series[k - 1] * (power * (1.0 / factorial(k)))
        power = power * t
    return out


def _derivatives(along: Callable[[Tensor], Any], order: int, like: Tensor) -> tuple[Any, Any]:
    zero, one = (Tensor(v, like.dtype) for v in (0.0, 1.0))

    def raised(f: Callable[[Tensor], list[Tensor]]) -> Callable[[Tensor], list[Tensor]]:
        """What `f` gives, and how the last part of it changes."""

        def more(t: Tensor) -> list[Any]:
            values, slopes = jvp(f, t, one)
            return [*values, slopes[-1]]

        return more

    shape: list[Any] = []

    def first(t: Tensor) -> list[Any]:
        leaves, structure = flatten(along(t))
        shape[:] = [structure]
        return [leaves]

    f: Any = first
    for _ in range(order):
        f = raised(f)
    value, *found = f(zero)
    stacked = [p.concat([p.expand_dims(level[i], (0,)) for level in found], 0) for i in range(len(value))]
    return unflatten(shape[0], value), unflatten(shape[0], stacked)
