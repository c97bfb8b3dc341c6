"""Tensors joined, parted, padded and moved along axes."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, common, wrap
from mycelia.eager.views import view as shares_memory
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import axis_of, method, sizes, tensor
from mycelia.ops.movement import own, ravel, squeeze
from mycelia.types import bool_

__all__ = [
    "atleast_1d",
    "cat",
    "chunk",
    "concat",
    "concatenate",
    "diff",
    "hstack",
    "narrow",
    "pad",
    "roll",
    "split",
    "stack",
    "tensor_split",
    "unbind",
    "unstack",
    "vstack",
]


def cat(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors one after the other along an axis.

    >>> cat((Tensor([1, 2]), Tensor([3]))).tolist()
    [1, 2, 3]
    """
    parts = [tensor(x) for x in tensors]
    if not parts:
        raise ArgumentError("nothing was given to concatenate", hint="give a list with at least one tensor")
    dtype = reduce(common, [x.dtype for x in parts])
    parts = [cast(x, dtype) for x in parts]
    return own(p.concat(parts, axis_of(parts[0], axis)), parts[0])


def stack(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis.

    >>> stack((Tensor([1, 2]), Tensor([3, 4]))).tolist()
    [[1, 2], [3, 4]]
    """
    parts = [tensor(x) for x in tensors]
    if not parts:
        raise ArgumentError("nothing was given to stack")
    if any(x.shape != parts[0].shape for x in parts):
        raise ShapeError(
            "only tensors of one shape can be stacked",
            given={"shapes": [x.shape for x in parts]},
            hint="ops.cat joins tensors along an axis that they have",
        )
    place = axis_of(parts[0], axis, more=1)
    return cat([p.expand_dims(x, (place,)) for x in parts], place)


@method()
@shares_memory
def split(tensor: Any, split_size_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """Parts along an axis: of one size (the last may be smaller), or of these sizes.

    >>> [x.tolist() for x in split(Tensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    x = tensor if isinstance(tensor, Tensor) else Tensor(tensor)
    place = axis_of(x, axis)
    extent = x.shape[place]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size <= 0:
            raise ArgumentError(f"parts have a positive size, not {size}")
        bounds = [*range(0, extent, size), extent] if extent else [0, 0]
    else:
        bounds = [0, *np.cumsum(split_size_or_sections).tolist()]
        if bounds[-1] != extent:
            raise ShapeError(
                f"parts of sizes {tuple(split_size_or_sections)} do not make up an axis of {extent}",
                given={"shape": x.shape, "axis": axis},
                hint="the sizes must add up to the axis; a single number makes parts of that size",
            )
    return tuple(own(p.take(x, place, a, b), x) for a, b in pairwise(bounds))


@method()
@shares_memory
def chunk(input: Any, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most so many parts of one size along an axis; the last may be smaller.

    >>> [x.tolist() for x in chunk(Tensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    x = tensor(input)
    return split(x, -(-x.shape[axis_of(x, axis)] // chunks) or 1, axis)


@method()
@shares_memory
def tensor_split(input: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """So many parts that differ in size by at most one; or parts that begin at these positions.

    >>> [x.tolist() for x in tensor_split(Tensor([1, 2, 3]), (1,))]
    [[1], [2, 3]]
    """
    x = tensor(input)
    parts = np.array_split(np.arange(x.shape[axis_of(x, axis)]), indices_or_sections)
    return split(x, [len(part) for part in parts], axis)


@method("unbind")
@shares_memory
def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it.

    >>> [x.tolist() for x in unbind(Tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    x = tensor(input)
    place = axis_of(x, dim)
    return tuple(squeeze(part, place) for part in split(x, 1, place))


def unstack(input_x: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it.

    >>> len(unstack(Tensor([[1, 2], [3, 4]])))
    2
    """
    return unbind(input_x, axis)


def hstack(tensors: Sequence[Any]) -> Tensor:
    """Tensors side by side: along the second axis, vectors along the first.

    >>> hstack((Tensor([1]), Tensor([2]))).tolist()
    [1, 2]
    """
    parts = [atleast_1d(x) for x in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(inputs: Sequence[Any]) -> Tensor:
    """Tensors below each other; a vector is a row.

    >>> vstack((Tensor([1, 2]), Tensor([3, 4]))).shape
    (2, 2)
    """
    return cat([x if x.ndim > 1 else p.reshape(x, (1, x.size)) for x in map(tensor, inputs)])


def atleast_1d(inputs: Any) -> Any:
    """A tensor with one axis at least.

    >>> atleast_1d(Tensor(3)).shape
    (1,)
    """
    if isinstance(inputs, tuple | list):
        return tuple(atleast_1d(x) for x in inputs)
    x = tensor(inputs)
    return x if x.ndim else p.reshape(x, (1,))


@method()
def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved along axes; what leaves at the end comes in at the beginning.

    >>> roll(Tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    x = tensor(input)
    if dims is None:
        return p.reshape(roll(ravel(x), shifts, 0), x.shape)
    by = (shifts,) if isinstance(shifts, int) else shifts
    for shift, dim in zip(by, (dims,) if isinstance(dims, int) else dims, strict=True):
        axis = axis_of(x, dim)
        cut = -shift % max(1, x.shape[axis])
        if cut:
            x = p.concat((p.take(x, axis, cut, x.shape[axis]), p.take(x, axis, 0, cut)), axis)
    return own(x, tensor(input))


@method()
@shares_memory
def narrow(input: Any, axis: int, start: int, length: int) -> Tensor:
    """So many elements along an axis, from `start`.

    >>> narrow(Tensor([1, 2, 3]), 0, 1, 2).tolist()
    [2, 3]
    """
    x = tensor(input)
    place = axis_of(x, axis)
    if not 0 <= start <= start + length <= x.shape[place]:
        raise ShapeError(f"an axis of {x.shape[place]} has no {length} elements from {start}")
    return own(p.take(x, place, start, start + length), x)


@method()
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences between neighbours along an axis, n times over, with other tensors before and behind.

    >>> diff(Tensor([1, 4, 9])).tolist(), diff(Tensor([1, 4]), prepend=Tensor([0])).tolist()
    ([3, 5], [1, 3])
    """
    x = tensor(x)
    place = axis_of(x, axis)
    around = [t for t in (prepend, x, append) if t is not None]
    if len(around) > 1:
        x = cat(around, place)
    for _ in range(n):
        if x.dtype is bool_:
            x = p.not_equal(p.take(x, place, 1, x.shape[place]), p.take(x, place, 0, x.shape[place] - 1))
        else:
            x = p.take(x, place, 1, x.shape[place]) - p.take(x, place, 0, x.shape[place] - 1)
    return x if n else x.alias()


def pad(input_x: Any, padding: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """More elements around: (last axis before, after, the axis before it before, after, ...).

    The mode "constant" pads with `value` or 0, "reflect" and "circular" with elements from the other side of the edge
    or of the tensor, "replicate" with the edge.

    >>> pad(Tensor([1.0, 2.0, 3.0]), (1, 1)).tolist(), pad(Tensor([1.0, 2.0, 3.0]), (2, 0), "reflect").tolist()
    ([0.0, 1.0, 2.0, 3.0, 0.0], [3.0, 2.0, 1.0, 2.0, 3.0])
    """
    x, widths = tensor(input_x), sizes(padding)
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ShapeError(
            f"padding {widths} does not give two numbers for each of the last axes",
            given={"shape": x.shape},
            hint="(1, 2) pads the last axis by 1 in front and 2 behind; the axis before it comes next",
        )
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2) + [widths[i : i + 2] for i in range(len(widths) - 2, -1, -2)]
    if mode == "constant":
        inner = p.slice_(
            x, [max(0, -a) for a, _ in pairs], [e - max(0, -b) for (_, b), e in zip(pairs, x.shape, strict=True)]
        )
        out = p.pad(inner, [max(0, a) for a, _ in pairs], [max(0, b) for _, b in pairs], 0 if value is None else value)
        return own(out, x)
    names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode not in names:
        raise ArgumentError(f"pad has no mode {mode!r}", hint=f"choose one of {['constant', *names]}")
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            places = np.pad(np.arange(x.shape[axis]), (before, after), names[mode])  # type: ignore[call-overload]  # a name of NumPy's
            x = p.gather(x, wrap(places), axis)
    return x


concat, concatenate = cat, cat
