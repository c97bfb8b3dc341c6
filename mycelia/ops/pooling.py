"""Pooling: windows of space reduced to their mean or maximum; and images of another size."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import floated, per_axis, tensor
from mycelia.ops.choice import gather_elements
from mycelia.types import Array

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "depth_to_space",
    "interpolate",
    "max_pool2d",
    "max_pool3d",
    "pixel_shuffle",
    "pixel_unshuffle",
    "space_to_depth",
]


def _checked(name: str, x: Tensor, rank: int) -> tuple[Tensor, bool]:
    """A batch of images; whether it was made from a single one."""
    if x.ndim == rank + 1:
        return p.expand_dims(x, (0,)), True
    if x.ndim != rank + 2:
        raise ShapeError(
            f"{name} takes (examples, channels, *space), and got shape {x.shape}",
            hint="x.expand_dims(0) makes a batch of one example",
        )
    return x, False


def _ceiled(
    space: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...], pads: tuple[int, ...]
) -> list[int]:
    """How much more is needed behind, so that the last window that begins inside is whole."""
    more = []
    for e, k, s, q in zip(space, window, strides, pads, strict=True):
        count = -(-(e + 2 * q - k) // s) + 1
        if (count - 1) * s >= e + q:
            count -= 1  # it would begin in the padding
        more.append(max(0, (count - 1) * s + k - e - 2 * q))
    return more


def _max_pool(
    name: str, rank: int, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: bool,
) -> Any:  # fmt: skip
    batch, single = _checked(name, tensor(x), rank)
    window, pads = per_axis("kernel_size", kernel_size, rank), per_axis("padding", padding, rank, 0)
    strides, apart = (
        window if stride is None else per_axis("stride", stride, rank),
        per_axis("dilation", dilation, rank),
    )
    if any(2 * q > k for q, k in zip(pads, window, strict=True)):
        raise ArgumentError(
            f"{name}: the padding is at most half of the window",
            given={"padding": padding, "kernel_size": kernel_size},
        )
    reach = tuple((k - 1) * d + 1 for k, d in zip(window, apart, strict=True))
    if any(e + 2 * q < r for e, q, r in zip(batch.shape[2:], pads, reach, strict=True)):
        raise ShapeError(f"{name}: a window of {reach} does not fit into space {batch.shape[2:]} with padding {pads}")
    more = _ceiled(batch.shape[2:], reach, strides, pads) if ceil_mode else [0] * rank
    around = tuple((q, q + m) for q, m in zip(pads, more, strict=True))
    if indices or reach != window:
        out, places = _largest_of(batch, window, strides, around, apart)
    else:
        out = places = p.max_pool(batch, window, strides, around)
    if single:
        out, places = (p.reshape(t, t.shape[1:]) for t in (out, places))
    return (out, places) if indices else out


def _largest_of(
    x: Tensor,
    window: tuple[int, ...],
    strides: tuple[int, ...],
    around: tuple[tuple[int, int], ...],
    apart: tuple[int, ...],
) -> tuple[Tensor, Tensor]:
    """The first largest element of each window, and where it is in the space that is read flat."""
    rank, space = len(window), x.shape[2:]
    lows, highs = ((0, 0, *side) for side in zip(*around, strict=True))
    x = p.pad(x, lows, highs, float(np.iinfo(x.dtype.numpy).min) if x.dtype.is_integer else -np.inf)
    places = np.zeros((), np.int64)  # of each window (first half of the axes) and each place in it
    for a, (k, s, d, (low, high)) in enumerate(zip(window, strides, apart, around, strict=True)):
        starts = np.arange(0, space[a] + low + high - (k - 1) * d, s)
        along = starts[:, None] + np.arange(k) * d  # (windows, places in a window)
        x = p.gather(x, wrap(along), 2 + 2 * a)
        places = places[..., None, None] * space[a] + (along - low)
    order = (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))
    x = p.transpose(x, (0, 1, *(2 + o for o in order)))
    out = x.shape[: 2 + rank]
    x = p.reshape(x, (*out, prod(window)))
    best = p.expand_dims(p.arg_max(x, 2 + rank), (2 + rank,))
    flat = p.broadcast(wrap(places.transpose(order).reshape(*out[2:], -1)), x.shape)
    return tuple(p.reshape(gather_elements(t, 2 + rank, best), out) for t in (x, flat))  # type: ignore[return-value]  # two


def max_pool2d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The largest element of each window of a plane; with `return_indices`, also where it is in the plane read flat.

    >>> max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2).tolist()
    [[[[4.0]]]]
    >>> max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2, return_indices=True)[1].item()
    3
    """
    return _max_pool("max_pool2d", 2, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest element of each window of space; with `return_indices`, also where it is in the space read flat.

    >>> max_pool3d(Tensor([[[[[1.0, 2.0]]]]]), (1, 1, 2)).tolist()
    [[[[[2.0]]]]]
    """
    return _max_pool("max_pool3d", 3, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _avg_pool(
    name: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int,
) -> Tensor:
    batch, single = _checked(name, floated(x), rank)
    window, pads = per_axis("kernel_size", kernel_size, rank), per_axis("padding", padding, rank, 0)
    strides = per_axis("stride", stride, rank)
    more = _ceiled(batch.shape[2:], window, strides, pads) if ceil_mode else [0] * rank
    around = tuple((q, q + m) for q, m in zip(pads, more, strict=True))
    if divisor_override:
        whole = p.avg_pool(batch, window, strides, around, True)
        out = whole * (float(np.prod(window)) / divisor_override)
    elif any(more) and count_include_pad:
        padded = p.pad(batch, (0, 0, *pads), (0, 0, *pads))
        out = p.avg_pool(padded, window, strides, tuple((0, m) for m in more), False)
    else:
        out = p.avg_pool(batch, window, strides, around, count_include_pad)
    return p.reshape(out, out.shape[1:]) if single else out


def avg_pool1d(
    input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window of a line.

    >>> avg_pool1d(Tensor([[[1.0, 3.0, 5.0]]]), 2).tolist()
    [[[2.0, 4.0]]]
    """
    return _avg_pool("avg_pool1d", 1, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, 0)


def avg_pool2d(
    input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int = 0,
) -> Tensor:  # fmt: skip
    """The mean of each window of a plane.

    >>> avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]]), 2).tolist()
    [[[[3.0]]]]
    """
    return _avg_pool(
        "avg_pool2d", 2, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input_x: Any, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int = 0,
) -> Tensor:  # fmt: skip
    """The mean of each window of space.

    >>> avg_pool3d(Tensor([[[[[1.0, 3.0]]]]]), (1, 1, 2)).tolist()
    [[[[[2.0]]]]]
    """
    return _avg_pool(
        "avg_pool3d", 3, input_x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


# ----------------------------------------------------------------------------------------------------------- adaptive


def _parts(extent: int, count: int) -> list[range]:
    """An axis in `count` parts, which overlap where it does not go evenly."""
    return [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """The means of as many windows as the output has; None keeps an extent.

    >>> adaptive_avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]]), 1).tolist()
    [[[[3.0]]]]
    """
    x = floated(input)
    rank = x.ndim
    for axis, count in zip((rank - 2, rank - 1), _both(output_size), strict=True):
        if count is not None and count != x.shape[axis]:
            x = _averaged(x, axis, count)
    return x


def _averaged(x: Tensor, axis: int, count: int) -> Tensor:
    """One axis as so many means, by a matrix."""
    matrix = np.zeros((count, x.shape[axis]), x.dtype.numpy)
    for row, part in zip(matrix, _parts(x.shape[axis], count), strict=True):
        row[part.start : part.stop] = 1.0 / len(part)
    letters = "".join(chr(ord("a") + a) for a in range(x.ndim))
    out = letters[:axis] + "Z" + letters[axis + 1 :]
    return p.Contract(letters, "Z" + letters[axis], out)(x, wrap(matrix))


def adaptive_max_pool2d(input: Any, output_size: Any) -> Tensor:
    """The largest elements of as many windows as the output has; None keeps an extent.

    >>> adaptive_max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]]), 1).tolist()
    [[[[6.0]]]]
    """
    x = tensor(input)
    rank = x.ndim
    for axis, count in zip((rank - 2, rank - 1), _both(output_size), strict=True):
        if count is not None and count != x.shape[axis]:
            parts = _parts(x.shape[axis], count)
            longest = max(map(len, parts))
            places = [[part[min(i, len(part) - 1)] for i in range(longest)] for part in parts]  # the last repeats
            x = p.reduce_max(p.gather(x, wrap(np.array(places)), axis), (axis + 1,))
    return x


def _both(size: Any) -> tuple[int | None, int | None]:
    return (size, size) if size is None or isinstance(size, int) else tuple(size)


# ------------------------------------------------------------------------------------------------------------- resizing


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
) -> Tensor:
    """Images of another size: "nearest" element, or "linear"/"bilinear"/"trilinear" between elements, or "area" means.

    >>> interpolate(Tensor([[[1.0, 2.0]]]), 4).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    x = tensor(input)
    rank = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ArgumentError("interpolate needs either a size or a scale_factor")
    if size is None:
        factors = (scale_factor,) * rank if isinstance(scale_factor, int | float) else tuple(scale_factor)
        wanted = tuple(int(e * f) for e, f in zip(x.shape[2:], factors, strict=True))
    else:
        wanted = per_axis("size", size, rank)
    if mode not in ("nearest", "linear", "bilinear", "trilinear", "area"):
        raise ArgumentError(
            f"interpolate has no mode {mode!r}", hint='choose "nearest", "linear", "bilinear", "trilinear" or "area"'
        )
    for axis, count in enumerate(wanted, 2):
        if mode == "area":
            x = _averaged(floated(x), axis, count)
        elif mode == "nearest":
            places = np.arange(count) * x.shape[axis] // count
            x = p.gather(x, wrap(places), axis)
        else:
            x = _between(floated(x), axis, count, align_corners)
    return x


def _between(x: Tensor, axis: int, count: int, align_corners: bool) -> Tensor:
    """One axis at `count` evenly spaced points, linearly between the nearest two elements."""
    points = _points(x.shape[axis], count, align_corners)
    below = np.minimum(np.floor(points).astype(np.int64), x.shape[axis] - 1)
    above = np.minimum(below + 1, x.shape[axis] - 1)
    far = (points - below).astype(x.dtype.numpy).reshape([count if a == axis else 1 for a in range(x.ndim)])
    first, second = (p.gather(x, wrap(i), axis) for i in (below, above))
    return first + (second - first) * wrap(far)


def _points(extent: int, count: int, align_corners: bool) -> Array:
    if align_corners:
        return np.arange(count) * ((extent - 1) / max(1, count - 1))
    return np.clip((np.arange(count) + 0.5) * (extent / count) - 0.5, 0, extent - 1)


def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Channels moved into space: (N, C r r, H, W) to (N, C, H r, W r).

    >>> pixel_shuffle(Tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2).tolist()
    [[[[1, 2], [3, 4]]]]
    """
    x, r = tensor(input), upscale_factor
    *lead, channels, height, width = x.shape
    if channels % (r * r):
        raise ShapeError(f"{channels} channels are not a multiple of {r * r}")
    n = len(lead)
    apart = p.reshape(x, (*lead, channels // (r * r), r, r, height, width))
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return p.reshape(p.transpose(apart, order), (*lead, channels // (r * r), height * r, width * r))


def depth_to_space(x: Any, block_size: int) -> Tensor:
    """Channels moved into space, the place within a block before the channel: (N, r r C, H, W) to (N, C, H r, W r).

    >>> depth_to_space(Tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2).tolist()
    [[[[1, 2], [3, 4]]]]
    """
    x, r = tensor(x), block_size
    n, channels, height, width = x.shape
    if channels % (r * r):
        raise ShapeError(f"{channels} channels are not a multiple of {r * r}")
    apart = p.reshape(x, (n, r, r, channels // (r * r), height, width))
    return p.reshape(p.transpose(apart, (0, 3, 4, 1, 5, 2)), (n, channels // (r * r), height * r, width * r))


def space_to_depth(x: Any, block_size: int) -> Tensor:
    """Space moved into channels: the inverse of `depth_to_space`.

    >>> space_to_depth(Tensor([[[[1, 2], [3, 4]]]]), 2).flatten().tolist()
    [1, 2, 3, 4]
    """
    x, r = tensor(x), block_size
    n, channels, height, width = x.shape
    if height % r or width % r:
        raise ShapeError(f"an image of {height} x {width} does not go evenly into squares of {r}")
    apart = p.reshape(x, (n, channels, height // r, r, width // r, r))
    return p.reshape(p.transpose(apart, (0, 3, 5, 1, 2, 4)), (n, r * r * channels, height // r, width // r))


def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Space moved into channels: (N, C, H r, W r) to (N, C r r, H, W).

    >>> pixel_unshuffle(Tensor([[[[1, 2], [3, 4]]]]), 2).shape
    (1, 4, 1, 1)
    """
    x, r = tensor(input), downscale_factor
    *lead, channels, height, width = x.shape
    if height % r or width % r:
        raise ShapeError(f"an image of {height} x {width} does not go evenly into squares of {r}")
    n = len(lead)
    apart = p.reshape(x, (*lead, channels, height // r, r, width // r, r))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return p.reshape(p.transpose(apart, order), (*lead, channels * r * r, height // r, width // r))
