"""Pooling: windows of space reduced to their mean or maximum; and images of another size."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice, truth, whole
from mycelia.eager import Tensor, wrap
from mycelia.eager.tensor import cast, created
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import floated, per_axis, tensor
from mycelia.ops.choice import gather_elements
from mycelia.ops.convolution import Padding
from mycelia.ops.resizing import cubic
from mycelia.sizes import is_static
from mycelia.types import Array, float64, int64

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


def batch_of(name: str, x: Tensor, rank: int) -> tuple[Tensor, bool]:
    """A batch of images; whether it was made from a single one."""
    if x.ndim == rank + 1:
        return p.expand_dims(x, (0,)), True
    if x.ndim != rank + 2:
        raise ShapeError(
            f"{name} takes (examples, channels, *space), and got shape {x.shape}",
            hint="x.expand_dims(0) makes a batch of one example",
        )
    return x, False


def _ceiled(space: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...], pads: Padding) -> list[int]:
    """How much more is needed behind, so that the last window that begins inside is whole."""
    more = []
    for e, k, s, (before, after) in zip(space, window, strides, pads, strict=True):
        whole = before + e + after
        count = -(-(whole - k) // s) + 1
        if (count - 1) * s >= before + e:
            count -= 1  # it would begin in the padding
        more.append(max(0, (count - 1) * s + k - whole))
    return more


def _reaching(around: Padding, more: list[int]) -> Padding:
    """Padding, with more of it behind."""
    return tuple((before, after + m) for (before, after), m in zip(around, more, strict=True))


def _max_pool(
    name: str, rank: int, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: bool,
) -> Any:  # fmt: skip
    batch, single = batch_of(name, tensor(x), rank)
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
    around: Padding = tuple((q, q) for q in pads)
    if ceil_mode:
        around = _reaching(around, _ceiled(batch.shape[2:], reach, strides, around))
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
    space = x.shape[2:]
    lows, highs = ((0, 0, *side) for side in zip(*around, strict=True))
    x = p.pad(x, lows, highs, float(np.iinfo(x.dtype.numpy).min) if x.dtype.is_integer else -np.inf)
    along = [
        np.arange(0, e + low + high - (k - 1) * d, s)[:, None] + np.arange(k) * d
        for e, k, s, d, (low, high) in zip(space, window, strides, apart, around, strict=True)
    ]
    return largest_at(x, along, [a - low for a, (low, _) in zip(along, around, strict=True)], space)


def largest_at(x: Tensor, along: list[Array], inside: list[Array], space: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """The first largest element of each window, and where it is in a space that is read flat: windows are given by
    their positions (windows, places in a window) along each axis, here and in that space.
    """
    rank = len(along)
    places = np.zeros((), np.int64)  # of each window (first half of the axes) and each place in it
    for a, (here, there) in enumerate(zip(along, inside, strict=True)):
        x = p.gather(x, wrap(here), 2 + 2 * a)
        places = places[..., None, None] * space[a] + there
    order = (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))
    x = p.transpose(x, (0, 1, *(2 + o for o in order)))
    out = x.shape[: 2 + rank]
    x = p.reshape(x, (*out, prod(a.shape[1] for a in along)))
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
    batch, single = batch_of(name, floated(x), rank)
    window, pads = per_axis("kernel_size", kernel_size, rank), per_axis("padding", padding, rank, 0)
    strides = per_axis("stride", stride, rank)
    around = tuple((q, q) for q in pads)
    out = averages(batch, window, strides, around, ceil_mode, count_include_pad, divisor_override)
    return p.reshape(out, out.shape[1:]) if single else out


def averages(
    x: Tensor, window: tuple[int, ...], strides: tuple[int, ...], around: Padding, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int,
) -> Tensor:  # fmt: skip
    """The means of the windows of a batch with padding around; what `ceil_mode` adds behind is no padding, and is not
    counted. A divisor takes the place of the count.
    """
    more = _ceiled(x.shape[2:], window, strides, around) if ceil_mode else [0] * len(window)
    if divisor_override:
        whole = p.avg_pool(x, window, strides, _reaching(around, more), True)
        return whole * (float(np.prod(window)) / divisor_override)
    if any(more) and count_include_pad:
        lows, highs = ((0, 0, *side) for side in zip(*around, strict=True))
        return p.avg_pool(p.pad(x, lows, highs), window, strides, tuple((0, m) for m in more), False)
    return p.avg_pool(x, window, strides, _reaching(around, more), count_include_pad)


def largest(x: Tensor, window: tuple[int, ...], strides: tuple[int, ...], around: Padding, ceil_mode: bool) -> Tensor:
    """The largest elements of the windows of a batch with padding around."""
    more = _ceiled(x.shape[2:], window, strides, around) if ceil_mode else [0] * len(window)
    return p.max_pool(x, window, strides, _reaching(around, more))


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


def parts(extent: int, count: int) -> list[range]:
    """An axis in `count` parts, which overlap where it does not go evenly."""
    return [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]


def _counts(name: str, output_size: Any, rank: int) -> tuple[int | None, ...]:
    """How many parts each axis of space has; None leaves it as it is."""
    given = (output_size,) * rank if output_size is None or isinstance(output_size, int) else tuple(output_size)
    if len(given) != rank:
        raise ArgumentError(f"output_size of {name} is one number, or {rank}", given={"output_size": output_size})
    return tuple(None if n is None else whole(name, "output_size", n, least=1) for n in given)


def adaptive_mean(name: str, rank: int, input: Any, output_size: Any) -> Tensor:
    """Means of blocks, so many along each of the last axes."""
    x = floated(input)
    counts = _counts(name, output_size, rank)
    batch_of(name, x, rank)
    for axis, count in enumerate(counts, x.ndim - rank):
        if count is not None and count != x.shape[axis]:
            x = averaged(x, axis, count)
    return x


def adaptive_max(name: str, rank: int, input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of blocks, so many along each of the last axes; and where they are, if that is asked for."""
    batch, single = batch_of(name, tensor(input), rank)
    truth(name, "return_indices", return_indices)
    along = []
    for extent, count in zip(batch.shape[2:], _counts(name, output_size, rank), strict=True):
        pieces = parts(extent, extent if count is None else count)
        longest = max(map(len, pieces))  # the last place of a shorter part repeats, and changes nothing
        along.append(np.array([[piece[min(i, len(piece) - 1)] for i in range(longest)] for piece in pieces]))
    found, places = largest_at(batch, along, along, batch.shape[2:])
    if single:
        found, places = (p.reshape(t, t.shape[1:]) for t in (found, places))
    return (found, places) if return_indices else found


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """The means of as many windows as the output has; None keeps an extent.

    >>> adaptive_avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]]), 1).tolist()
    [[[[3.0]]]]
    """
    return adaptive_mean("adaptive_avg_pool2d", 2, input, output_size)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of as many windows as the output has; None keeps an extent. With `return_indices` also where
    they are in the plane read flat.

    >>> adaptive_max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 6.0]]]]), 1).tolist()
    [[[[6.0]]]]
    """
    return adaptive_max("adaptive_max_pool2d", 2, input, output_size, return_indices)


def averaged(x: Tensor, axis: int, count: int) -> Tensor:
    """One axis as so many means, by a matrix."""
    matrix = np.zeros((count, x.shape[axis]), x.dtype.numpy)
    for row, part in zip(matrix, parts(x.shape[axis], count), strict=True):
        row[part.start : part.stop] = 1.0 / len(part)
    letters = "".join(chr(ord("a") + a) for a in range(x.ndim))
    out = letters[:axis] + "Z" + letters[axis + 1 :]
    return p.Contract(letters, "Z" + letters[axis], out)(x, wrap(matrix))


# ------------------------------------------------------------------------------------------------------------- resizing


MODES = ("nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area")


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Images of another size: the "nearest" element ("nearest-exact": of centres), or "linear"/"bilinear"/"trilinear"
    between elements, or "bicubic", or "area" means. A `scale_factor` gives the size, and the size gives the points.

    >>> interpolate(Tensor([[[1.0, 2.0]]]), 4).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    x = tensor(input)
    rank = x.ndim - 2
    if rank < 1:
        raise ShapeError(
            f"interpolate takes images with a batch and channels in front, not a tensor of shape {x.shape}",
            hint="x[None, None] adds two axes",
        )
    if (size is None) == (scale_factor is None):
        raise ArgumentError("interpolate needs either a size or a scale_factor")
    if size is None:
        factors = (scale_factor,) * rank if isinstance(scale_factor, int | float) else tuple(scale_factor)
        wanted = tuple(e * int(f) if f == int(f) else int(e * f) for e, f in zip(x.shape[2:], factors, strict=True))
        even = all(w == e * f for w, e, f in zip(wanted, x.shape[2:], factors, strict=True))
        if recompute_scale_factor is False and not even:
            raise ArgumentError(
                f"interpolate: {x.shape[2:]} times {scale_factor} is not whole, and points are those of the size",
                hint="leave recompute_scale_factor out, or give a size",
            )
    else:
        wanted = per_axis("size", size, rank)
    choice("interpolate", "mode", mode, MODES)
    if align_corners is not None:
        truth("interpolate", "align_corners", align_corners)
        if align_corners and mode in ("nearest", "nearest-exact", "area"):
            raise ArgumentError(
                f"interpolate: corners are aligned by points between elements, and not in mode {mode!r}"
            )
    if mode == "bicubic":
        return cubic(x, wanted, bool(align_corners), not align_corners)
    for axis, count in enumerate(wanted, 2):
        if mode == "area":
            x = averaged(floated(x), axis, count)
        elif mode in ("nearest", "nearest-exact"):
            every = np.arange(count) if is_static((count, x.shape[axis])) else _every(count)
            places = every * x.shape[axis] // count
            if mode == "nearest-exact":
                places = (every * 2 + 1) * x.shape[axis] // (2 * count)
            x = p.gather(x, places if isinstance(places, Tensor) else wrap(places), axis)
        else:
            x = _between(floated(x), axis, count, bool(align_corners))
    return x


def _every(count: int) -> Tensor:
    """The numbers of `count` points, which may be a symbolic size."""
    return created(p.Iota(int64, (count,), 0))


def _between(x: Tensor, axis: int, count: int, align_corners: bool) -> Tensor:
    """One axis at `count` evenly spaced points, linearly between the nearest two elements."""
    points = _points(x.shape[axis], count, align_corners)
    last = x.shape[axis] - 1
    if isinstance(points, Tensor):
        below = p.minimum(p.cast(p.floor(points), int64), last)
        above, far = p.minimum(below + 1, last), p.cast(points - below, x.dtype)
    else:
        found = np.minimum(np.floor(points).astype(np.int64), last)
        below, above = wrap(found), wrap(np.minimum(found + 1, last))
        far = wrap((points - found).astype(x.dtype.numpy))
    first, second = (p.gather(x, i, axis) for i in (below, above))
    return first + (second - first) * p.reshape(far, [count if a == axis else 1 for a in range(x.ndim)])


def _points(extent: int, count: int, align_corners: bool) -> Array | Tensor:
    """Where the points are among the elements: as numbers, or as a program finds them where sizes are symbolic."""
    if not is_static((extent, count)):
        every = cast(_every(count), float64)
        if align_corners:
            return every * (_number(extent - 1) / _number(max(1, count - 1)))
        return p.minimum(p.maximum((every + 0.5) * (_number(extent) / _number(count)) - 0.5, 0.0), _number(extent - 1))
    if align_corners:
        return np.arange(count) * ((extent - 1) / max(1, count - 1))
    return np.clip((np.arange(count) + 0.5) * (extent / count) - 0.5, 0, extent - 1)


def _number(size: int) -> Tensor:
    return created(p.Extent(size, float64))


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
