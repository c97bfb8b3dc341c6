"""Images of another size by cubic convolution, and convolution at places that are moved."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import truth, whole
from mycelia.eager import Tensor, cast, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import floated, per_axis, sizes, tensor
from mycelia.ops.sampling import read_between
from mycelia.types import Array

__all__ = ["deformable_conv2d"]
SHARP, SOFT = -0.75, -0.5
"""The parameter of cubic convolution: Keys' is -0.5; -0.75 is what MindSpore and PyTorch use by default."""


def _weights(far: Array, a: float) -> Array:
    """The weights of the four elements around points, which lie `far` behind the second of them: (4, points)."""
    distances = np.abs(np.stack([far + 1, far, far - 1, far - 2]))
    near = ((a + 2) * distances - (a + 3)) * distances**2 + 1
    return np.where(distances <= 1, near, ((distances - 5) * distances + 8) * distances * a - 4 * a)


def resized_cubic(x: Tensor, axis: int, count: int, align_corners: bool, centres: bool, a: float) -> Tensor:
    """One axis at `count` evenly spaced points, by cubic convolution. Beyond the ends the outermost elements repeat;
    with `centres` those that exist are weighed alone.
    """
    extent = x.shape[axis]
    step = (extent - 1) / max(count - 1, 1) if align_corners else extent / count
    points = (np.arange(count) + 0.5) * step - 0.5 if centres else np.arange(count) * step
    below = np.floor(points).astype(np.int64)
    weights = _weights(points - below, a)
    at = below + np.arange(-1, 3)[:, None]
    if centres:
        weights = np.where((at >= 0) & (at < extent), weights, 0.0)
        weights = weights / weights.sum(0)
    matrix = np.zeros((count, extent), np.float64)
    for k in range(4):
        np.add.at(matrix, (np.arange(count), np.clip(at[k], 0, extent - 1)), weights[k])
    letters = "".join(chr(ord("a") + i) for i in range(x.ndim))
    out = letters[:axis] + "Z" + letters[axis + 1 :]
    return p.Contract(letters, "Z" + letters[axis], out)(x, wrap(matrix.astype(x.dtype.numpy)))


def cubic(images: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
    """Images of another size by cubic convolution: points fit the corners, or begin at the first element, or are
    centres of pixels, whose curve is the softer one.
    """
    x = floated(images)
    if x.ndim != 4:
        raise ShapeError(f"images (N, C, H, W) are resized, not shape {x.shape}")
    if truth("ResizeBicubic", "align_corners", align_corners) and half_pixel_centers:
        raise ArgumentError("corners are aligned, or centres of pixels are")
    a = SOFT if truth("ResizeBicubic", "half_pixel_centers", half_pixel_centers) else SHARP
    for axis, count in zip((2, 3), sizes(size), strict=True):
        x = resized_cubic(x, axis, count, align_corners, half_pixel_centers, a)
    return x


def deformable_conv2d(
    x: Any, weight: Any, offsets: Any, kernel_size: Any, strides: Any, padding: Any, bias: Any = None,
    dilations: Any = (1, 1, 1, 1), groups: int = 1, deformable_groups: int = 1, modulated: bool = True,
) -> Tensor:  # fmt: skip
    """A convolution whose every window reads at places that are moved, and multiplies by a mask what it reads there.

    `offsets` (N, 3 deformable_groups K L, H, W) are moves along the width, moves along the height, and masks.

    >>> x, w = Tensor([[[[1.0, 2.0]]]]), Tensor([[[[1.0]]]])
    >>> moved = Tensor([[[[1.0, 0.0]], [[0.0, 0.0]], [[1.0, 3.0]]]])
    >>> deformable_conv2d(x, w, moved, (1, 1), (1, 1, 1, 1), (0, 0, 0, 0)).tolist()
    [[[[2.0, 6.0]]]]
    """
    name = "deformable_conv2d"
    x, w, moves = floated(x), floated(weight), floated(offsets)
    if not truth(name, "modulated", modulated):
        raise ArgumentError(f"{name}: modulated is True here, as in MindSpore")
    window = per_axis("kernel_size", kernel_size, 2)
    steps, gaps = (per_axis(n, v, 2) for n, v in (("strides", strides), ("dilations", dilations)))
    top, bottom, left, right = sizes(padding)
    parts = whole(name, "deformable_groups", deformable_groups, least=1)
    batch, channels, height, width = x.shape
    rows = (height + top + bottom - gaps[0] * (window[0] - 1) - 1) // steps[0] + 1
    columns = (width + left + right - gaps[1] * (window[1] - 1) - 1) // steps[1] + 1
    count = prod(window)
    if moves.shape != (batch, 3 * parts * count, rows, columns) or channels % parts:
        raise ShapeError(
            f"{name}: offsets are {(batch, 3 * parts * count, rows, columns)}, not {moves.shape}",
            given={"x": x.shape, "deformable_groups": parts},
        )
    moves = p.reshape(moves, (batch, 3, parts, count, rows, columns))
    across, down, mask = (
        p.reshape(p.take(moves, 1, i, i + 1), (batch * parts, count, rows, columns)) for i in range(3)
    )
    i, j = np.divmod(np.arange(count), window[1])
    at_row = np.arange(rows)[:, None] * steps[0] - top + (i * gaps[0])[:, None, None]
    at_column = np.arange(columns) * steps[1] - left + (j * gaps[1])[:, None, None]
    dtype = x.dtype.numpy
    y = down + wrap(np.broadcast_to(at_row, (count, rows, columns)).astype(dtype))
    z = across + wrap(np.broadcast_to(at_column, (count, rows, columns)).astype(dtype))
    image = p.reshape(x, (batch * parts, channels // parts, height, width))
    read = read_between(image, [y, z]) * p.expand_dims(mask, (1,))
    group = whole(name, "groups", groups, least=1)
    if channels % group or w.shape != (w.shape[0], channels // group, *window) or w.shape[0] % group:
        raise ShapeError(f"{name}: a weight of shape {w.shape} does not fit {channels} channels in {group} groups")
    outputs, inner = w.shape[0] // group, channels // group * count
    flat = p.reshape(read, (batch, group, inner, rows * columns))
    out = p.matmul(p.reshape(w, (group, outputs, inner)), flat)
    out = p.reshape(out, (batch, group * outputs, rows, columns))
    return out if bias is None else out + p.reshape(cast(tensor(bias), out.dtype), (w.shape[0], 1, 1))
