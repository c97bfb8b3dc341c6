"""Images read at points between their elements: grids of points, boxes, regions; and windows laid out and added up."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice, number, truth, whole
from mycelia.eager import Tensor, cast, created, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import floated, method, pair, per_axis, sizes, tensor
from mycelia.primitives.indexing import batched_gather
from mycelia.types import Array, float32, int32

__all__ = ["affine_grid", "crop_and_resize", "fold", "grid_sample", "unfold"]


# --------------------------------------------------------------------------------------------------------- grids


def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Tensor:
    """Points from -1 to 1 along each axis of images of a size (N, C, H, W) or (N, C, D, H, W), moved by matrices
    `theta` of shape (N, 2, 3) or (N, 3, 4): what `grid_sample` reads.

    >>> affine_grid(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2)).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
    matrices, shape = floated(theta), sizes(size)
    truth("affine_grid", "align_corners", align_corners)
    rank = len(shape) - 2
    if rank not in (2, 3) or matrices.shape != (shape[0], rank, rank + 1):
        raise ShapeError(
            f"affine_grid: matrices of shape {matrices.shape} do not fit images of shape {tuple(shape)}",
            hint="(N, 2, 3) for (N, C, H, W), (N, 3, 4) for (N, C, D, H, W)",
        )
    rows = [_from_edge_to_edge(n, align_corners) for n in shape[2:]]
    points = np.stack([*reversed(np.meshgrid(*rows, indexing="ij")), np.ones(shape[2:])], -1)
    base = wrap(points.reshape(-1, rank + 1).astype(matrices.dtype.numpy))
    return p.reshape(p.matmul(base, p.adjoint(matrices)), (shape[0], *shape[2:], rank))


def _from_edge_to_edge(count: int, align_corners: bool) -> Array:
    if count < 2:
        return np.zeros(count)
    row = np.linspace(-1, 1, count)
    return row if align_corners else row * (count - 1) / count


@method()
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images (N, C, H, W) or (N, C, D, H, W) at points (N, ..., 2 or 3) from -1 to 1, x first: of the elements around a
    point ("bilinear", "bicubic") or of the "nearest". Beyond the image there are "zeros", or its "border", or its
    "reflection". -1 and 1 are the centres of the outermost elements if `align_corners`, else their edges.

    >>> grid_sample(Tensor([[[[1.0, 2.0]]]]), Tensor([[[[0.0, 0.0]]]])).tolist()
    [[[[1.5]]]]
    """
    x, points = pair(floated(input), floated(grid))
    choice("grid_sample", "mode", mode, ("bilinear", "nearest", "bicubic"))
    choice("grid_sample", "padding_mode", padding_mode, ("zeros", "border", "reflection"))
    aligned = align_corners is not None and truth("grid_sample", "align_corners", align_corners)
    rank = x.ndim - 2
    if rank not in (2, 3) or points.ndim != x.ndim or points.shape[-1] != rank or points.shape[0] != x.shape[0]:
        raise ShapeError(
            f"grid_sample: points of shape {points.shape} do not fit images of shape {x.shape}",
            hint="(N, H, W, 2) for (N, C, H, W), (N, D, H, W, 3) for (N, C, D, H, W)",
        )
    if mode == "bicubic" and rank != 2:
        raise ArgumentError("grid_sample: bicubic reads images of two axes", given={"input": x.shape})
    extents = x.shape[2:]
    places = []  # along each axis of the image, in elements
    for axis, extent in enumerate(extents):
        at = p.reshape(p.take(points, points.ndim - 1, rank - 1 - axis, rank - axis), points.shape[:-1])
        at = (at + 1.0) * ((extent - 1) / 2.0) if aligned else ((at + 1.0) * float(extent) - 1.0) * 0.5
        places.append(at if mode == "bicubic" else _kept_inside(at, extent, padding_mode, aligned))
    around = [_around(at, extent, mode, padding_mode, aligned) for at, extent in zip(places, extents, strict=True)]
    return _summed(x, around)


def _summed(x: Tensor, around: Any) -> Tensor:
    """The sum over all corners of what is read there, by weight."""
    out: Any = None
    for corner in product(*around):
        weight, exists = _weight(corner)
        read = _read(x, [where for where, _, _ in corner]) * p.expand_dims(weight, (1,))
        # what lies nearest is read in its place: it may be inf or nan, of which no weight makes nothing
        read = p.select(p.broadcast(p.expand_dims(exists, (1,)), read.shape), read, 0.0)
        out = read if out is None else out + read
    return out


def grid_sampled(
    input_x: Any, grid: Any, interpolation_mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:  # fmt: skip
    """Images at points from -1 to 1, as `grid_sample` reads them."""
    return grid_sample(input_x, grid, interpolation_mode, padding_mode, align_corners)


def _kept_inside(at: Tensor, extent: int, padding_mode: str, aligned: bool) -> Tensor:
    """Points brought back into the image, if that is what is beyond it."""
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        low, span = (0.0, float(extent - 1)) if aligned else (-0.5, float(extent))
        if span <= 0:
            return p.select(p.equal(at, at), 0.0, at)
        away = p.abs(at - low)
        turns = p.floor(away * (1.0 / span))
        rest = away - p.stop_gradient(turns) * span
        odd = p.equal(turns - p.floor(turns * 0.5) * 2.0, 1.0)
        at = p.select(odd, span - rest, rest) + low
    return p.minimum(p.maximum(at, 0.0), float(extent - 1))


def _around(at: Tensor, extent: int, mode: str, padding_mode: str, aligned: bool) -> list[tuple[Tensor, Tensor, Any]]:
    """The elements around points along one axis: their positions, their weights, and whether they exist (None: all)."""
    if mode == "nearest":
        found = [(p.stop_gradient(p.round(at)), created(p.Full(1.0, at.dtype, at.shape)))]
    else:
        below = p.stop_gradient(p.floor(at))
        far = at - below
        if mode == "bilinear":
            found = [(below, 1.0 - far), (below + 1.0, far)]
        else:
            found = [(below + float(k), _cubic(far - float(k))) for k in (-1, 0, 1, 2)]
            found = [(p.stop_gradient(_kept_inside(w, extent, padding_mode, aligned)), f) for w, f in found]
    made = []
    for where, weight in found:
        exists = p.logical_and(p.greater_equal(where, 0.0), p.less_equal(where, float(extent - 1)))
        inside = p.minimum(p.maximum(p.select(p.equal(where, where), where, 0.0), 0.0), float(extent - 1))
        made.append((cast(inside, int32), weight, exists))
    return made


def _cubic(distance: Any, a: float = -0.75) -> Any:
    """The weight of an element at a distance: cubic convolution."""
    d = p.abs(distance)
    near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    return p.select(p.less_equal(d, 1.0), near, ((d - 5.0) * d + 8.0) * d * a - 4.0 * a)


def _weight(corner: Any) -> tuple[Tensor, Tensor]:
    """The product of the weights along all axes, and whether there is an element."""
    out, exists = corner[0][1], corner[0][2]
    for _, weight, there in corner[1:]:
        out, exists = out * weight, p.logical_and(exists, there)
    return out, exists


def _read(x: Tensor, where: list[Tensor]) -> Tensor:
    """(N, C, ...): the elements of each image of a batch at positions (N, ...) along each of its axes."""
    extents = x.shape[2:]
    flat = where[0]
    for at, extent in zip(where[1:], extents[1:], strict=True):
        flat = flat * extent + at
    return batched_gather(p.reshape(x, (*x.shape[:2], prod(extents))), flat, 1)


def read_between(x: Tensor, places: list[Tensor]) -> Tensor:
    """Images (N, C, *space) at places (N, ...) along each axis of space, in elements, linearly between them; beyond
    the images there are zeros.
    """
    around = [_around(at, e, "bilinear", "zeros", True) for at, e in zip(places, x.shape[2:], strict=True)]
    return _summed(x, around)


# ------------------------------------------------------------------------------------------------------------- regions


def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:  # fmt: skip
    """Parts of images (N, H, W, C), brought to one size: each box (y1, x1, y2, x2), from 0 to 1, is one of the image
    that `box_indices` names. Beyond the image there is `extrapolation_value`. "bilinear_v2" reads boxes of whole
    pixels at the centres of their parts.

    >>> crop_and_resize(Tensor([[[[1.0], [3.0]]]]), Tensor([[0.0, 0.0, 0.0, 1.0]]), Tensor([0]), (1, 3)).tolist()
    [[[[1.0], [2.0], [3.0]]]]
    """
    x, corners = tensor(image), floated(boxes)
    which = cast(tensor(box_indices), int32)
    choice("crop_and_resize", "method", method, ("bilinear", "nearest", "bilinear_v2"))
    beyond = number("crop_and_resize", "extrapolation_value", extrapolation_value)
    rows, columns = per_axis("crop_size", crop_size, 2)
    if x.ndim != 4 or corners.ndim != 2 or corners.shape[1] != 4 or which.shape != corners.shape[:1]:
        raise ShapeError(
            f"crop_and_resize takes images (N, H, W, C), boxes (n, 4) and n indices, not shapes {x.shape}, "
            f"{corners.shape} and {which.shape}"
        )
    chosen = p.moveaxis(floated(p.gather(x, which, 0)), 3, 1)  # one image for each box
    if method == "bilinear_v2":
        around = [_along_pixels(corners, axis, x.shape[1 + axis], n) for axis, n in enumerate((rows, columns))]
        return cast(p.moveaxis(_summed(chosen, _crossed(around, len(which), rows, columns)), 1, 3), float32)
    at = [_along_box(corners, axis, x.shape[1 + axis], n) for axis, n in enumerate((rows, columns))]
    there = [
        p.logical_and(p.greater_equal(a, 0.0), p.less_equal(a, float(e - 1)))
        for a, e in zip(at, x.shape[1:3], strict=True)
    ]
    if method == "nearest":  # of two as near the later
        at = [p.stop_gradient(p.floor(a + 0.5)) for a in at]
    around = [_around(a, e, "bilinear", "zeros", True) for a, e in zip(at, x.shape[1:3], strict=True)]
    out = _summed(chosen, _crossed(around, len(which), rows, columns))
    exists = p.logical_and(p.expand_dims(there[0], (2,)), p.expand_dims(there[1], (1,)))
    kept = p.select(p.broadcast(p.expand_dims(exists, (1,)), out.shape), out, beyond)
    return cast(p.moveaxis(kept, 1, 3), float32)


def _along_box(corners: Tensor, axis: int, extent: int, count: int) -> Tensor:
    """(boxes, count): places from one side of each box to the other, in elements; of one place, the middle."""
    low, high = (p.take(corners, 1, k, k + 1) for k in (axis, axis + 2))
    if count == 1:
        return (low + high) * (0.5 * (extent - 1))
    step = (high - low) * float(extent - 1) / float(count - 1)
    return low * float(extent - 1) + step * wrap(np.arange(count, dtype=corners.dtype.numpy))


def _along_pixels(corners: Tensor, axis: int, extent: int, count: int) -> list[tuple[Tensor, Tensor, Any]]:
    """The pixels around places in boxes of whole pixels, and their weights: each of `count` parts of a box is read at
    its centre, at the edge of the box its last pixel, and at that of the image the image's.
    """
    low, high = (p.stop_gradient(p.trunc(p.take(corners, 1, k, k + 1) * float(extent))) for k in (axis, axis + 2))
    pixels = p.maximum(high - low + 1.0, 1.0)
    centres = wrap(np.arange(count, dtype=corners.dtype.numpy) + corners.dtype.numpy.type(0.5))
    at = p.minimum(p.maximum(centres * (pixels / float(count)) - 0.5, 0.0), pixels - 1.0)
    below = p.floor(at)
    far = at - below
    found = []
    for where, weight in ((below, 1.0 - far), (p.ceil(at), far)):
        inside = p.minimum(p.maximum(where + low, 0.0), float(extent - 1))
        found.append((cast(inside, int32), weight, p.equal(weight, weight)))
    return found


def _crossed(around: Any, boxes: int, rows: int, columns: int) -> Any:
    """What lies along rows and along columns of boxes, for each place of a grid (boxes, rows, columns)."""
    return [
        [tuple(p.broadcast(p.expand_dims(t, (axis,)), (boxes, rows, columns)) for t in element) for element in along]
        for along, axis in zip(around, (2, 1), strict=True)
    ]


def roi_align(
    features: Any, rois: Any, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2,
    roi_end_mode: int = 1,
) -> Tensor:  # fmt: skip
    """Regions (image, x1, y1, x2, y2) of features (N, C, H, W) as (regions, C, pooled_height, pooled_width): each cell
    is the mean of `sample_num` times `sample_num` points in it. With `roi_end_mode` 1 the last pixel
    belongs to it, with 0 it has a pixel at least.

    >>> roi_align(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[0.0, 0.2, 0.3, 0.2, 0.3]]), 1, 1, 1.0, 1, 0).shape
    (1, 1, 1, 1)
    """
    x, regions = pair(floated(features), floated(rois))
    rows, columns = (
        whole("roi_align", name, n, least=1)
        for name, n in (("pooled_height", pooled_height), ("pooled_width", pooled_width))
    )
    samples = whole("roi_align", "sample_num", sample_num, least=1)
    scale, ends = (
        number("roi_align", "spatial_scale", spatial_scale),
        choice("roi_align", "roi_end_mode", roi_end_mode, (0, 1)),
    )
    if x.ndim != 4 or regions.ndim != 2 or regions.shape[1] != 5:
        raise ShapeError(f"roi_align takes features (N, C, H, W) and regions (n, 5), not {x.shape} and {regions.shape}")
    count = regions.shape[0]
    image = cast(p.reshape(p.take(regions, 1, 0, 1), (count,)), int32)
    chosen = p.gather(x, image, 0)
    at = []
    for first, extent, cells in ((2, x.shape[2], rows), (1, x.shape[3], columns)):
        low = p.take(regions, 1, first, first + 1) * scale
        high = (p.take(regions, 1, first + 2, first + 3) + float(ends)) * scale
        length = p.maximum(high - low, 0.0 if ends else 1.0)
        steps = wrap(((np.arange(cells * samples) + 0.5) / (cells * samples)).astype(x.dtype.numpy))
        at.append((low + length * steps, extent))
    shape = (count, rows * samples, columns * samples)
    grid = [p.broadcast(p.expand_dims(a, (d,)), shape) for (a, _), d in zip(at, (2, 1), strict=True)]
    around: list[Any] = []
    there: Any = None
    for a, (_, extent) in zip(grid, at, strict=True):
        near = p.logical_and(p.greater_equal(a, -1.0), p.less_equal(a, float(extent)))
        there = near if there is None else p.logical_and(there, near)
        around.append(_around(p.minimum(p.maximum(a, 0.0), float(extent - 1)), extent, "bilinear", "border", True))
    out = _summed(chosen, around)
    out = p.select(p.broadcast(p.expand_dims(there, (1,)), out.shape), out, 0.0)
    cells = p.reshape(out, (count, x.shape[1], rows, samples, columns, samples))
    return p.mean(cells, (3, 5))


# ------------------------------------------------------------------------------------------------------------- windows


def _windows(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Any, ...]:
    kernel, gap, step = (
        per_axis(f"{what} of {name}", value, 2)
        for what, value in (("kernel_size", kernel_size), ("dilation", dilation), ("stride", stride))
    )
    return kernel, gap, per_axis(f"padding of {name}", padding, 2, least=0), step


def _counts(name: str, extents: Any, kernel: Any, gap: Any, around: Any, step: Any) -> tuple[int, ...]:
    """How many windows there are along each axis."""
    counts = tuple(
        (e + 2 * a - g * (k - 1) - 1) // s + 1 for e, k, g, a, s in zip(extents, kernel, gap, around, step, strict=True)
    )
    if min(counts) < 1:
        raise ShapeError(f"{name}: a window of {kernel} does not fit images of {tuple(extents)}", hint="add padding")
    return counts


@method()
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images (N, C, H, W), each as a column: (N, C * window, windows).

    >>> unfold(Tensor([[[[1.0, 2.0, 3.0]]]]), (1, 2)).tolist()
    [[[1.0, 2.0], [2.0, 3.0]]]
    """
    x = tensor(input)
    if x.ndim != 4:
        raise ShapeError(f"unfold takes images (N, C, H, W), not shape {x.shape}")
    kernel, gap, around, step = _windows("unfold", kernel_size, dilation, padding, stride)
    rows, columns = _counts("unfold", x.shape[2:], kernel, gap, around, step)
    wide = p.pad(x, (0, 0, *around), (0, 0, *around))
    parts = []
    for i, j in product(*map(range, kernel)):
        part = wide
        for axis, start, s, count in ((2, i * gap[0], step[0], rows), (3, j * gap[1], step[1], columns)):
            part = p.take(part, axis, start, start + s * (count - 1) + 1, s)
        parts.append(p.reshape(part, (*x.shape[:2], 1, rows * columns)))
    return p.reshape(p.concat(parts, 2), (x.shape[0], x.shape[1] * prod(kernel), rows * columns))


@method()
def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Images of `output_size` from windows (N, C * window, windows), as `unfold` gives them; where they overlap they
    are added.

    >>> fold(Tensor([[[1.0, 2.0], [2.0, 3.0]]]), (1, 3), (1, 2)).tolist()
    [[[[1.0, 4.0, 3.0]]]]
    """
    x = tensor(input)
    kernel, gap, around, step = _windows("fold", kernel_size, dilation, padding, stride)
    size = per_axis(
        "output_size of fold", tuple(output_size.tolist()) if isinstance(output_size, Tensor) else output_size, 2
    )
    rows, columns = _counts("fold", size, kernel, gap, around, step)
    if x.ndim != 3 or x.shape[1] % prod(kernel) or x.shape[2] != rows * columns:
        raise ShapeError(
            f"fold: windows of shape {x.shape} do not make images of {size}",
            given={"kernel_size": kernel, "windows": rows * columns},
            hint="(N, C * window, windows)",
        )
    channels = x.shape[1] // prod(kernel)
    parts = p.reshape(x, (x.shape[0], channels, prod(kernel), rows, columns))
    out: Any = None
    for k, (i, j) in enumerate(product(*map(range, kernel))):
        part: Any = p.reshape(p.take(parts, 2, k, k + 1), (x.shape[0], channels, rows, columns))
        for axis, start, s, extent in (
            (2, i * gap[0], step[0], size[0] + 2 * around[0]),
            (3, j * gap[1], step[1], size[1] + 2 * around[1]),
        ):
            part = _laid_out(part, axis, start, s, extent)
        out = part if out is None else out + part
    for axis, before, extent in ((2, around[0], size[0]), (3, around[1], size[1])):
        out = p.take(out, axis, before, before + extent)
    return out


def _laid_out(x: Any, axis: int, start: int, step: int, extent: int) -> Any:
    """Elements `step` apart along an axis of `extent`, from `start` on; zeros between them."""
    spread = p.take(p.spread(x, axis, step), axis, 0, step * (x.shape[axis] - 1) + 1) if step > 1 else x
    low = [start if a == axis else 0 for a in range(len(x.shape))]
    high = [extent - start - spread.shape[axis] if a == axis else 0 for a in range(len(x.shape))]
    return p.pad(spread, low, high)
