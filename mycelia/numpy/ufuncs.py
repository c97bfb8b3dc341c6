"""What NumPy lets a function of two arrays do besides: fold an axis, keep every step, pair all, write at positions.

>>> import mycelia.numpy as np
>>> np.add.reduce([1, 2, 3]).item(), np.maximum.accumulate([1, 3, 2]).tolist()
(6, [1, 3, 3])
>>> np.multiply.outer([1, 2], [3, 4]).tolist()
[[3, 4], [6, 8]]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from mycelia import ops
from mycelia import primitives as p
from mycelia.eager import Tensor, cast
from mycelia.eager.indexing import BoundsError
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy import angles, arithmetic, bits, logic, powers, reductions
from mycelia.numpy.arguments import is_number
from mycelia.numpy.creation import arange, asarray, zeros
from mycelia.numpy.joining import concatenate, stack
from mycelia.numpy.shapes import broadcast_to, moveaxis, ravel, reshape
from mycelia.ops.arguments import axes_of, axis_of
from mycelia.types import bool_, int64

__all__: list[str] = []  # the functions have it

Two = Callable[..., Tensor]

FOLDED: dict[str, Callable[..., Tensor]] = {
    "add": reductions.sum,
    "multiply": reductions.prod,
    "maximum": reductions.max,
    "minimum": reductions.min,
    "logical_and": reductions.all,
    "logical_or": reductions.any,
}
KEPT: dict[str, Callable[..., Tensor]] = {
    "add": reductions.cumsum,
    "multiply": reductions.cumprod,
}
EXTREMES: dict[str, Callable[..., Tensor]] = {"maximum": p.cummax, "minimum": p.cummin}
GROUPED = {"maximum", "minimum", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
           "gcd"}  # fmt: skip  # exact, in whatever groups they are folded
WRITTEN: dict[str, Callable[..., Tensor]] = {
    "add": ops.tensor_scatter_add,
    "subtract": ops.tensor_scatter_sub,
    "multiply": ops.tensor_scatter_mul,
    "divide": ops.tensor_scatter_div,
    "maximum": ops.tensor_scatter_max,
    "minimum": ops.tensor_scatter_min,
}
EMPTY = {"logaddexp": float("-inf"), "logaddexp2": float("-inf"), "hypot": 0, "bitwise_and": -1, "bitwise_or": 0,
         "bitwise_xor": 0, "logical_xor": False, "gcd": 0}  # fmt: skip  # what meets nothing


def folded(two: Two, array: Any, axis: Any = 0, keepdims: bool = False) -> Tensor:
    """The elements along axes by a function of two, from the first to the last.

    >>> folded(arithmetic.subtract, [9, 3, 1]).item()
    5
    """
    x, name = asarray(array), two.__name__
    if name in FOLDED:
        return FOLDED[name](x, axis=axis, keepdims=keepdims)
    axes = axes_of(x, axis)
    if len(axes) > 1 and name not in EMPTY:
        raise ArgumentError(
            f"{name} folds one axis, not {len(axes)}: the order would matter", hint="fold one after the other"
        )
    kept = [1 if a in axes else n for a, n in enumerate(x.shape)]
    for a in axes:
        rows = _rows(x, a)
        if not rows and name not in EMPTY:
            raise ShapeError(f"{name} of nothing means nothing: axis {a} of shape {x.shape} is empty")
        x = ops.expand_dims(reduce(two, rows) if rows else zeros(x.shape, x.dtype).sum(a) + EMPTY[name], a)
    return reshape(x, tuple(kept) if keepdims else tuple(n for a, n in enumerate(kept) if a not in axes))


def accumulated(two: Two, array: Any, axis: int = 0) -> Tensor:
    """Every step of a fold along an axis.

    >>> accumulated(arithmetic.subtract, [9, 3, 1]).tolist()
    [9, 6, 5]
    """
    x, name = asarray(array), two.__name__
    if not x.ndim:
        raise ShapeError(f"{name}.accumulate needs an axis, and a number has none")
    at = axis_of(x, axis)
    if not x.shape[at]:
        return x.copy()
    if name in KEPT:
        return KEPT[name](x, axis=at)
    if name in EXTREMES and x.dtype.kind in "iuf":
        return EXTREMES[name](x, at)
    if name in GROUPED:
        return _doubled(two, x, at)
    steps: list[Tensor] = []
    for row in _rows(x, at):
        steps.append(two(steps[-1], row) if steps else row)
    return stack([cast(s, steps[-1].dtype) for s in steps], at)


def pairs(two: Two, a: Any, b: Any) -> Tensor:
    """Every element of one array with every element of the other.

    >>> pairs(arithmetic.subtract, [1, 2], [3, 4, 5]).shape
    (2, 3)
    """
    x, y = asarray(a), asarray(b)
    return two(reshape(x, (*x.shape, *[1] * y.ndim)), y)


def folded_at(two: Two, array: Any, indices: Any, axis: int = 0) -> Tensor:
    """Folds of the parts between positions: of each from its position up to the next, or of one element where the next
    is not larger.

    >>> folded_at(arithmetic.add, [1, 2, 3, 4], [0, 2]).tolist()
    [3, 7]
    """
    x = asarray(array)
    at = axis_of(x, axis)
    places = [int(i) for i in asarray(indices).tolist()]
    front = moveaxis(x, at, 0)
    for i in places:
        if not 0 <= i < x.shape[at]:
            raise BoundsError(f"position {i} is not in an axis of {x.shape[at]}")
    ends = [*places[1:], x.shape[at]]
    parts = [folded(two, front[i:j]) if i < j else front[i] for i, j in zip(places, ends, strict=True)]
    return moveaxis(stack(parts), 0, at)


def written_at(two: Two, a: Tensor, indices: Any, b: Any = None) -> None:
    """Writes at positions of an array what a function makes of the element there; a position that stands more than
    once is written to as often.

    >>> x = Tensor([1.0, 2.0])
    >>> written_at(arithmetic.add, x, [0, 0, 1], 5.0)
    >>> x.tolist()
    [11.0, 7.0]
    """
    name = two.__name__
    if not isinstance(a, Tensor):
        raise CallError(f"{name}.at writes to an array, and {type(a).__name__} is none")
    if b is None:
        raise CallError(f"{name}.at was not given b")
    places = asarray(reshape(arange(a.size, dtype=int64), a.shape)[_positions(indices)])
    values = ravel(broadcast_to(asarray(b, a.dtype) if is_number(b) else cast(asarray(b), a.dtype), places.shape))
    flat, rows = ravel(a), reshape(places, (-1, 1))
    if name in WRITTEN:
        flat = WRITTEN[name](flat, rows, values)
    else:
        for i in range(rows.shape[0]):
            flat = ops.tensor_scatter_update(
                flat, rows[i : i + 1], cast(two(flat[rows[i]], values[i : i + 1]), a.dtype)
            )
    a[...] = reshape(flat, a.shape)


def _doubled(two: Two, x: Tensor, axis: int) -> Tensor:
    """Every step of a fold, by doubling: each element with the fold that ends so many places before it."""
    step, extent = 1, x.shape[axis]
    x = x if x.dtype.kind != "b" and "logical" not in two.__name__ else cast(x, bool_)
    while step < extent:
        first, rest, before = (x.narrow(axis, i, n) for i, n in ((0, step), (step, extent - step), (0, extent - step)))
        x, step = concatenate([first, two(rest, before)], axis), step * 2
    return x if extent > 1 else x.copy()


def _rows(x: Tensor, axis: int) -> list[Tensor]:
    front = moveaxis(x, axis, 0)
    return [front[i] for i in range(front.shape[0])]


def _positions(indices: Any) -> Any:
    """Lists are positions of one axis, tuples of several."""
    if isinstance(indices, tuple):
        return tuple(_positions(i) for i in indices)
    return asarray(indices) if isinstance(indices, list) else indices


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": folded,
    "accumulate": accumulated,
    "outer": pairs,
    "reduceat": folded_at,
    "at": written_at,
}
FUNCTIONS = {
    angles: ("arctan2",),
    arithmetic: ("add", "divide", "floor_divide", "fmax", "fmin", "fmod", "gcd", "heaviside", "lcm", "maximum",
                 "minimum", "multiply", "remainder", "subtract"),
    bits: ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
    logic: ("equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor",
            "not_equal"),
    powers: ("float_power", "hypot", "logaddexp", "logaddexp2", "power"),
}  # fmt: skip

for _module, _names in FUNCTIONS.items():
    for _name in _names:
        _two = getattr(_module, _name)
        for _method, _function in METHODS.items():
            setattr(_two, _method, partial(_function, _two))
