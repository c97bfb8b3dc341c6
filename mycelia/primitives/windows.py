"""Windows that slide over the trailing axes of `N C *S`: what convolutions and poolings have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ir import Operand
from mycelia.types import Array, Shape

Padding = tuple[tuple[int, int], ...]


def check_windows(
    name: str, window: Sequence[int], strides: Sequence[int], padding: Padding, more: Sequence[int]
) -> None:
    """Complain unless there is one positive extent, stride and dilation, and a padding >= 0, for each axis."""
    lengths = {len(window), len(strides), len(padding), len(more)}
    if len(lengths) != 1 or min((*window, *strides, *more), default=1) < 1 or min(sum(padding, (0,))) < 0:
        raise ArgumentError(
            f"{name} cannot slide a window like this",
            given={"window": tuple(window), "strides": tuple(strides), "padding": padding, "dilation": tuple(more)},
            hint="for each spatial axis: window, stride and dilation >= 1, padding (low, high) >= 0",
        )


def slid(name: str, space: Shape, window: Shape, strides: Shape, padding: Padding, dilation: Shape) -> Shape:
    """How many places the window has along each axis.

    >>> slid("conv", (7, 5), (3, 3), (2, 1), ((1, 1), (0, 0)), (1, 2))
    (4, 1)
    """
    out = tuple(
        (e + low + high - d * (k - 1) - 1) // s + 1
        for e, k, s, (low, high), d in zip(space, window, strides, padding, dilation, strict=True)
    )
    if min(out, default=1) < 1:
        raise ShapeError(
            f"{name}: the window does not fit into the input",
            given={"input": space, "window": window, "padding": padding, "dilation": dilation},
            hint="use a smaller window, or more padding",
        )
    return out


def offsets(
    padded: Array, window: Shape, strides: Shape, dilation: Shape, out: Shape
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each element of the window: its place in the window, and a view of what it sees at all places."""
    for at in product(*map(range, window)):
        places = zip(at, strides, dilation, out, strict=True)
        yield at, padded[on_space(slice(k * d, k * d + (n - 1) * s + 1, s) for k, s, d, n in places)]


def on_space(each: Iterable[Any]) -> Any:
    """A subscript for the trailing axes.

    >>> on_space([1, 2])
    (Ellipsis, 1, 2)
    """
    return (..., *each)


def padded(x: Array, padding: Padding, number: float = 0) -> Array:
    """`x` with `number` around its spatial axes.

    >>> padded(np.ones((1, 1, 2)), ((1, 0),))
    array([[[0., 1., 1.]]])
    """
    shape = (*x.shape[:2], *(e + low + high for e, (low, high) in zip(x.shape[2:], padding, strict=True)))
    out = np.full(shape, number, x.dtype)
    inside(out, x.shape, padding)[...] = x
    return out


def inside(x: Array, shape: Shape, padding: Padding) -> Array:
    """A view of the part of a padded array that is not padding.

    >>> inside(np.arange(4).reshape(1, 1, 4), (1, 1, 2), ((1, 1),))
    array([[[1, 2]]])
    """
    view: Array = x[on_space(slice(low, low + e) for e, (low, _) in zip(shape[2:], padding, strict=True))]
    return view


def whole(size: int, mapped: Sequence[bool], inputs: Sequence[Any]) -> list[Any]:
    """The inputs of a batched op, each with the batch axis in front."""
    return [x if m else p.broadcast(x, (size, *x.shape)) for x, m in zip(inputs, mapped, strict=True)]


def fold(x: Operand) -> Operand:
    """The batch axis joined with the axis after it.

    >>> from mycelia.types import float32
    >>> fold(p.zeros(float32, (2, 3, 4))).shape
    (6, 4)
    """
    return p.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def unfold(x: Operand, size: int) -> Operand:
    """The batch axis of `size` taken out of the first axis again.

    >>> from mycelia.types import float32
    >>> unfold(p.zeros(float32, (6, 4)), 2).shape
    (2, 3, 4)
    """
    return p.reshape(x, (size, x.shape[0] // size, *x.shape[1:]))
