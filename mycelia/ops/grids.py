"""Pooling to a grid of a given size, by powers, at random places; and elements put back where pooling found them."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import number as number_of
from mycelia.checks import truth
from mycelia.eager import Tensor, cast, created, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import random
from mycelia.ops.arguments import floated, per_axis, sizes, tensor
from mycelia.ops.choice import gather_elements, tensor_scatter_elements
from mycelia.ops.pooling import adaptive_max, adaptive_mean, avg_pool1d, avg_pool2d, batch_of
from mycelia.types import float32, int64

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


# ------------------------------------------------------------------------------------------------------------- adaptive


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Tensor:
    """Means of as many parts of a line as the output has.

    >>> adaptive_avg_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2).tolist()
    [[[2.0, 6.0]]]
    """
    return adaptive_mean("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor:
    """Means of as many blocks of space as the output has; None keeps an extent.

    >>> adaptive_avg_pool3d(Tensor([[[[[1.0, 3.0]]]]]), (1, None, 1)).tolist()
    [[[[[2.0]]]]]
    """
    return adaptive_mean("adaptive_avg_pool3d", 3, input, output_size)


def adaptive_max_pool1d(input: Any, output_size: Any) -> Tensor:
    """The largest elements of as many parts of a line as the output has.

    >>> adaptive_max_pool1d(Tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2).tolist()
    [[[3.0, 7.0]]]
    """
    return adaptive_max("adaptive_max_pool1d", 1, input, output_size)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of as many blocks of space as the output has; and where they are in the space read flat.

    >>> adaptive_max_pool3d(Tensor([[[[[1.0, 3.0]]]]]), 1, True)[1].tolist()
    [[[[[1]]]]]
    """
    return adaptive_max("adaptive_max_pool3d", 3, input, output_size, return_indices)


# ------------------------------------------------------------------------------------------------------------ by powers


def power_pool(
    name: str, rank: int, x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """(sum of x ** p) ** (1 / p) in each window."""
    power = number_of(name, "norm_type", norm_type, above=0)
    window = per_axis("kernel_size", kernel_size, rank)
    steps = window if stride is None else per_axis("stride", stride, rank)
    pool = avg_pool1d if rank == 1 else avg_pool2d
    means = pool(floated(x) ** power, window, steps, 0, truth(name, "ceil_mode", ceil_mode))
    return p.maximum(means * float(prod(window)), 0.0) ** (1.0 / power)


def lp_pool1d(x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x ** p) ** (1 / p) in each window of a line.

    >>> lp_pool1d(Tensor([[[3.0, 4.0]]]), 2, 2).tolist()
    [[[5.0]]]
    """
    return power_pool("lp_pool1d", 1, x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x ** p) ** (1 / p) in each window of a plane.

    >>> lp_pool2d(Tensor([[[[3.0, 4.0]]]]), 2, (1, 2)).tolist()
    [[[[5.0]]]]
    """
    return power_pool("lp_pool2d", 2, x, norm_type, kernel_size, stride, ceil_mode)


# ---------------------------------------------------------------------------------------------------------- put back


def unpooled(
    name: str, rank: int, x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    """Elements back where pooling found them; elsewhere are zeros."""
    x, places = tensor(x), tensor(indices)
    window, pads = per_axis("kernel_size", kernel_size, rank), per_axis("padding", padding, rank, 0)
    steps = window if stride is None else per_axis("stride", stride, rank)
    if x.ndim not in (rank + 1, rank + 2) or x.shape != places.shape:
        raise ShapeError(
            f"{name} takes elements and their places, both (N, C, *space) or (C, *space)",
            given={"x": x.shape, "indices": places.shape},
        )
    lead, space = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    wanted = tuple((e - 1) * s - 2 * q + k for e, k, s, q in zip(space, window, steps, pads, strict=True))
    if output_size is not None and output_size != ():
        given = sizes(output_size)
        if len(given) not in (rank, x.ndim) or any(
            abs(g - w) >= s for g, w, s in zip(given[-rank:], wanted, steps, strict=True)
        ):
            raise ArgumentError(f"output_size {output_size} of {name} is not near {wanted}")
        wanted = given[-rank:]
    flat = created(p.Full(0, x.dtype, (*lead, prod(wanted))))
    places, elements = (p.reshape(y, (*lead, prod(space))) for y in (places, x))
    out = tensor_scatter_elements(flat, places, elements, len(lead))
    return p.reshape(out, (*lead, *wanted))


def max_unpool1d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements of a line, back where `max_pool1d` found them; elsewhere are zeros.

    >>> max_unpool1d(Tensor([[4.0, 8.0]]), Tensor([[1, 2]]), 2).tolist()
    [[0.0, 4.0, 8.0, 0.0]]
    """
    return unpooled("max_unpool1d", 1, x, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements of a plane, back where `max_pool2d` found them; elsewhere are zeros.

    >>> max_unpool2d(Tensor([[[4.0]]]), Tensor([[[3]]]), 2).tolist()
    [[[0.0, 0.0], [0.0, 4.0]]]
    """
    return unpooled("max_unpool2d", 2, x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements of space, back where `max_pool3d` found them; elsewhere are zeros.

    >>> max_unpool3d(Tensor([[[[4.0]]]]), Tensor([[[[3]]]]), (1, 2, 2)).tolist()
    [[[[0.0, 0.0], [0.0, 4.0]]]]
    """
    return unpooled("max_unpool3d", 3, x, indices, kernel_size, stride, padding, output_size)


# ---------------------------------------------------------------------------------------------------- at random places


def fractional(
    name: str, rank: int, input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
    return_indices: bool = False, samples: Any = None,
) -> Any:  # fmt: skip
    """The largest elements of windows whose distances vary: a number from 0 to 1 for each plane and axis says how.

    The i-th of n windows of k elements begins at floor((i + u) a) - floor(u a), a = (extent - k) / (n - 1), and the
    last one ends with the axis.
    """
    batch, single = batch_of(name, tensor(input), rank)
    window = per_axis("kernel_size", kernel_size, rank)
    if (output_size is None) == (output_ratio is None):
        raise ArgumentError(f"{name} takes either output_size or output_ratio", given={"output_size": output_size})
    space = batch.shape[2:]
    if output_size is not None:
        counts = per_axis("output_size", output_size, rank)
    else:
        ratios = (output_ratio,) * rank if isinstance(output_ratio, int | float) else tuple(output_ratio)
        if len(ratios) != rank or not all(isinstance(r, int | float) and 0 < r < 1 for r in ratios):
            raise ArgumentError(f"output_ratio of {name} lies between 0 and 1", given={"output_ratio": output_ratio})
        counts = tuple(int(e * r) for e, r in zip(space, ratios, strict=True))
    if any(n < 1 or e < n + k - 1 for e, n, k in zip(space, counts, window, strict=True)):
        raise ShapeError(
            f"{name}: {counts} windows of {window} do not fit into space {space}", hint="an axis holds n + k - 1"
        )
    planes = batch.shape[:2]
    if samples is None:
        where = random.rand(*planes, rank)
    else:
        where = floated(samples)
        if where.shape != (*planes, rank):
            raise ShapeError(f"_random_samples of {name} are {(*planes, rank)}, not {where.shape}")
    places: Any = None  # (N, C, windows along the axes so far, places in a window so far)
    for axis, (extent, count, k) in enumerate(zip(space, counts, window, strict=True)):
        column = axis if rank == 3 else rank - 1 - axis  # in a plane the first number is that of its width
        u = p.reshape(p.take(cast(where, float32), 2, column, column + 1), (*planes, 1))
        starts = _starts(u, extent, count, k)  # (N, C, count)
        along = p.expand_dims(starts, (3,)) + wrap(np.arange(k))  # (N, C, count, k)
        if places is None:
            places = along
            continue
        outer, inner = places.shape[2:]
        grown = p.reshape(places * extent, (*planes, outer, 1, inner, 1)) + p.reshape(along, (*planes, 1, count, 1, k))
        places = p.reshape(grown, (*planes, outer * count, inner * k))
    flat = p.reshape(batch, (*planes, prod(space)))
    read = p.reshape(
        gather_elements(flat, 2, p.reshape(places, (*planes, places.shape[2] * places.shape[3]))), places.shape
    )
    best = p.expand_dims(p.arg_max(read, 3), (3,))
    shape = (*planes, *counts) if not single else (planes[1], *counts)
    found, at = (p.reshape(gather_elements(t, 3, best), shape) for t in (read, places))
    return (found, at) if truth(name, "return_indices", return_indices) else found


def _starts(u: Any, extent: int, count: int, window: int) -> Any:
    """Where the windows of each plane begin along an axis."""
    last = extent - window
    ends = np.where(np.arange(count) == count - 1, last, 0)
    if count == 1:
        return cast(u * 0.0, int64) + wrap(ends)
    step = last / (count - 1)
    free = wrap((np.arange(count) < count - 1).astype(np.int64))
    moved = cast(p.floor((wrap(np.arange(count, dtype=np.float32)) + u) * step), int64) - cast(p.floor(u * step), int64)
    return moved * free + wrap(ends)


def fractional_max_pool2d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """The largest elements of windows of a plane at random distances, as many as `output_size` says, or a share of it.

    >>> fractional_max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1, (2, 2)).tolist()
    [[[[1.0, 2.0], [3.0, 4.0]]]]
    """
    return fractional(
        "fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


def fractional_max_pool3d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """The largest elements of windows of space at random distances, as many as `output_size` says, or a share of it.

    >>> fractional_max_pool3d(Tensor([[[[[1.0, 2.0]]]]]), 1, (1, 1, 2)).tolist()
    [[[[[1.0, 2.0]]]]]
    """
    return fractional(
        "fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
