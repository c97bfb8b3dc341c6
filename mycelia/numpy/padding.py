"""More elements around an array: one number, the edge, mirrored, periodic, ramps and statistics."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.numpy.creation import asarray, linspace
from mycelia.numpy.reductions import amax, amin, mean
from mycelia.numpy.statistics import median
from mycelia.types import float64

__all__ = ["pad"]

MODES = (
    "constant",
    "edge",
    "linear_ramp",
    "maximum",
    "mean",
    "median",
    "minimum",
    "reflect",
    "symmetric",
    "wrap",
    "empty",
)


def pad(
    arr: Any,
    pad_width: Any,
    mode: str | Callable[..., Any] = "constant",
    stat_length: Any = None,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: str = "even",
    **kwargs: Any,
) -> Tensor:
    """More elements before and behind along each axis, so many as `pad_width` says, by a mode; or by a function of
    vectors, which is given (vector, (before, behind), axis, kwargs) and returns the vector that it wants.

    >>> pad([1, 2], 1).tolist(), pad([1, 2, 3], (2, 0), "reflect").tolist()
    ([0, 1, 2, 0], [3, 2, 1, 2, 3])
    """
    x = asarray(arr)
    widths = _pairs(pad_width, x.ndim, "pad_width", whole=True)
    if any(n < 0 for pair in widths for n in pair):
        raise ArgumentError("an array is not made smaller by padding", given={"pad_width": pad_width})
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    if mode not in MODES:
        raise ArgumentError(f"there is no mode {mode!r}", hint=", ".join(MODES))
    if kwargs:
        raise CallError(f"pad does not take {', '.join(kwargs)}", hint="only a function as mode takes other arguments")
    if reflect_type not in ("even", "odd"):
        raise ArgumentError(f"there is no reflect_type {reflect_type!r}", hint='"even" or "odd"')
    extra = _pairs(end_values if mode == "linear_ramp" else constant_values, x.ndim, "values")
    lengths = [(None, None)] * x.ndim if stat_length is None else _pairs(stat_length, x.ndim, "stat_length", whole=True)
    for axis, (before, behind) in enumerate(widths):
        if before or behind:
            x = _along(x, axis, (before, behind), mode, extra[axis], lengths[axis], reflect_type == "odd")
    return x + 0 if not any(n for pair in widths for n in pair) else x


def _pairs(given: Any, rank: int, name: str, whole: bool = False) -> list[tuple[Any, Any]]:
    """A number before and one behind for each axis: one for all, two for all, or two for each."""
    if isinstance(given, dict):
        raise CallError(f"{name} is a number, a pair, or a pair for each axis, not a dict")
    numbers = given.asnumpy() if isinstance(given, Tensor) else numpy.asarray(given)
    if whole and numbers.dtype.kind not in "iu":
        raise CallError(f"{name} is made of whole numbers", given={name: given})
    try:
        spread = numpy.broadcast_to(numbers, (rank, 2))
    except ValueError:
        raise ShapeError(
            f"{name} is a number, a pair, or a pair for each of {rank} axes", given={name: given}
        ) from None
    return [(a, b) for a, b in spread.tolist()]


def _part(x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _filled(shape: tuple[int, ...], number: Any, like: Tensor) -> Tensor:
    """A number everywhere, in the element type of another tensor; whole ones are what is left of it."""
    return (
        ops.full(shape, number, dtype=like.dtype) if like.dtype.is_float else cast(ops.full(shape, number), like.dtype)
    )


def _wide(x: Tensor, axis: int, count: int) -> Tensor:
    """One slice repeated."""
    return ops.broadcast_to(x, (*x.shape[:axis], count, *x.shape[axis + 1 :]))


def _along(x: Tensor, axis: int, widths: tuple[int, int], mode: str, extra: Any, lengths: Any, odd: bool) -> Tensor:
    before, behind = widths
    extent = x.shape[axis]
    if mode in ("constant", "empty"):
        numbers = extra if mode == "constant" else (0, 0)
        shape = [*x.shape]
        ends = []
        for count, number in zip(widths, numbers, strict=True):
            shape[axis] = count
            ends.append(_filled(tuple(shape), number, x))
        return ops.cat([ends[0], x, ends[1]], axis)
    if not extent:
        raise ShapeError(f"an axis without elements has no {mode}", given={"shape": x.shape, "axis": axis})
    if mode == "edge":
        first, last = _part(x, axis, None, 1), _part(x, axis, -1, None)
        return ops.cat([_wide(first, axis, before), x, _wide(last, axis, behind)], axis)
    if mode == "linear_ramp":
        return ops.cat([_ramp(x, axis, before, extra[0], True), x, _ramp(x, axis, behind, extra[1], False)], axis)
    if mode in ("maximum", "minimum", "mean", "median"):
        ends = [_statistic(x, axis, mode, n, front) for n, front in zip(lengths, (True, False), strict=True)]
        return ops.cat([_wide(ends[0], axis, before), x, _wide(ends[1], axis, behind)], axis)
    if mode == "wrap":
        places = numpy.arange(-before, extent + behind) % extent
        return ops.gather(x, Tensor(places.astype("int64")), axis)
    return _mirrored(x, axis, widths, mode == "reflect", odd)


def _ramp(x: Tensor, axis: int, count: int, end: Any, front: bool) -> Tensor:
    edge = _part(x, axis, None, 1) if front else _part(x, axis, -1, None)
    edge = ops.squeeze(edge, axis)
    far = _filled(edge.shape, end, edge)
    steps = linspace(far, edge, count, endpoint=False, axis=axis, dtype=float64 if not x.dtype.is_float else x.dtype)
    return cast(steps if front else ops.flip(steps, (axis,)), x.dtype)


def _statistic(x: Tensor, axis: int, mode: str, length: int | None, front: bool) -> Tensor:
    extent = x.shape[axis]
    if length is not None and length < 1:
        raise ArgumentError("a statistic needs one element at least", given={"stat_length": length})
    near = extent if length is None else min(length, extent)
    part = _part(x, axis, None, near) if front else _part(x, axis, extent - near, None)
    function: Any = {"maximum": amax, "minimum": amin, "mean": mean, "median": median}[mode]
    found = function(part, axis, True)
    return cast(ops.round(found) if x.dtype.is_integer and found.dtype.is_float else found, x.dtype)


def _mirrored(x: Tensor, axis: int, widths: tuple[int, int], without_edge: bool, odd: bool) -> Tensor:
    """Mirrored at the edge, again and again if more is wanted than there is; "odd": as a point reflection."""
    before, behind = widths
    while before or behind:
        extent = x.shape[axis]
        if extent == 1 and without_edge:
            first, last = _part(x, axis, None, 1), _part(x, axis, -1, None)
            return ops.cat([_wide(first, axis, before), x, _wide(last, axis, behind)], axis)
        skip = 1 if without_edge else 0
        now, then = min(before, extent - skip), min(behind, extent - skip)
        front = ops.flip(_part(x, axis, skip, skip + now), (axis,))
        back = ops.flip(_part(x, axis, extent - skip - then, extent - skip), (axis,))
        if odd:
            front = 2 * _part(x, axis, None, 1) - front
            back = 2 * _part(x, axis, -1, None) - back
        x = ops.cat([front, x, back], axis)
        before, behind = before - now, behind - then
    return x


def _by_function(
    x: Tensor, widths: list[tuple[int, int]], function: Callable[..., Any], kwargs: dict[str, Any]
) -> Tensor:
    for axis, (before, behind) in enumerate(widths):
        x = _along(x, axis, (before, behind), "empty", (0, 0), (None, None), False)
    for axis, pair in enumerate(widths):
        moved = ops.moveaxis(x, axis, -1)
        rows = ops.reshape(moved, (-1, moved.shape[-1]))
        made = []
        for i in range(rows.shape[0]):
            row = rows[i]
            found = function(row, pair, axis, kwargs)
            made.append(row if found is None else asarray(found))
        x = ops.moveaxis(ops.reshape(ops.stack(made), moved.shape), -1, axis)
    return x
