"""Images as few programs change them: other hues, windows as channels, dilation, blocks of space as examples."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf
from typing import Any

from mycelia import primitives as p
from mycelia.checks import choice as one_of
from mycelia.checks import whole
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import arrangement, joining, pooling
from mycelia.ops.arguments import floated, number, tensor
from mycelia.ops.convolution import paddings
from mycelia.ops.primitive_wide import colours, hues

__all__: list[str] = []


def adjusted_hue(image: Any, delta: Any) -> Tensor:
    """Images (..., 3) of red, green and blue, with hues turned by a share of the circle.

    >>> adjusted_hue(Tensor([[[1.0, 0.0, 0.0]]]), 0.5).tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    x = _coloured("AdjustHue", image)
    found = hues(x)
    h = found[..., 0] + cast(tensor(delta), x.dtype)
    return colours(joining.stack([h - p.floor(h), found[..., 1], found[..., 2]], -1))


def adjusted_saturation(image: Any, scale: Any) -> Tensor:
    """Images (..., 3) of red, green and blue, with another multiple of their saturation.

    >>> adjusted_saturation(Tensor([[[1.0, 0.5, 0.5]]]), 0.0).tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    x = _coloured("AdjustSaturation", image)
    found = hues(x)
    s = p.minimum(p.maximum(found[..., 1] * cast(tensor(scale), x.dtype), number(0, x)), number(1, x))
    return colours(joining.stack([found[..., 0], s, found[..., 2]], -1))


def _coloured(name: str, image: Any) -> Tensor:
    x = floated(image)
    if x.ndim < 3 or x.shape[-1] != 3:
        raise ShapeError(f"{name} takes images (..., height, width, 3), not shape {x.shape}")
    return x


def resized_line(x: Any, size: Any, coordinate_transformation_mode: str = "align_corners") -> Tensor:
    """Lines (N, C, W) of another length, linear between elements.

    >>> resized_line(Tensor([[[1.0, 2.0, 3.0]]]), (5,)).tolist()
    [[[1.0, 1.5, 2.0, 2.5, 3.0]]]
    """
    mode = one_of(
        "ResizeLinear1D", "coordinate_transformation_mode", coordinate_transformation_mode,
        ("align_corners", "half_pixel"),
    )  # fmt: skip
    length = size.tolist() if isinstance(size, Tensor) else size
    return pooling.interpolate(x, length, None, "linear", mode == "align_corners")


# ------------------------------------------------------------------------------------------------------------- windows


def _in_space(name: str, word: str, given: Any, rank: int) -> tuple[int, ...]:
    """A number for each axis of space, of one, of as many, or of two more for batch and channels, which are 1."""
    numbers = tuple(given) if isinstance(given, list | tuple) else (given,) * rank
    if len(numbers) == rank + 2 and numbers[:2] == (1, 1):
        numbers = numbers[2:]
    if len(numbers) != rank:
        raise ArgumentError(f"{name}: {word} are {rank} numbers", given={word: given})
    return tuple(whole(name, word, n, least=1) for n in numbers)


def _taken(x: Tensor, begin: Sequence[int], counts: Sequence[int], steps: Sequence[int]) -> Tensor:
    """Every so many-th element along the axes of space."""
    for axis, (b, n, s) in enumerate(zip(begin, counts, steps, strict=True), 2):
        x = p.take(x, axis, b, b + (n - 1) * s + 1, s)
    return x


def _windows(
    name: str, x: Tensor, window: Sequence[int], steps: Sequence[int], gaps: Sequence[int], pad_mode: str, fill: float
) -> list[Tensor]:
    """The elements at each place of a window, for all windows: a tensor for each place."""
    mode = one_of(name, "padding", pad_mode.lower(), ("same", "valid"))
    pads = paddings(mode, 0, x.shape[2:], tuple(window), tuple(steps), tuple(gaps))
    low, high = ([0, 0, *[int(pair[side]) for pair in pads]] for side in (0, 1))
    wide = p.pad(x, low, high, fill) if any(low + high) else x
    reach = [(k - 1) * g + 1 for k, g in zip(window, gaps, strict=True)]
    counts = [(e - r) // s + 1 for e, r, s in zip(wide.shape[2:], reach, steps, strict=True)]
    if min(counts) < 1:
        raise ShapeError(f"{name}: windows of {tuple(reach)} do not fit into {x.shape[2:]}")
    places = product(*map(range, window))
    return [_taken(wide, [i * g for i, g in zip(at, gaps, strict=True)], counts, steps) for at in places]


def patches(name: str, rank: int, x: Any, window: Any, steps: Any, gaps: Any, pad_mode: str) -> Tensor:
    """Windows of images or volumes as channels: place by place, the channels of each place together.

    >>> patches("ExtractImagePatches", 2, Tensor([[[[1, 2], [3, 4]]]]), 2, 1, 1, "valid").tolist()
    [[[[1]], [[2]], [[3]], [[4]]]]
    """
    x = tensor(x)
    if x.ndim != rank + 2:
        raise ShapeError(f"{name} takes a tensor of {rank + 2} axes, not shape {x.shape}")
    size, step, gap = (
        _in_space(name, w, n, rank) for w, n in (("kernel_size", window), ("strides", steps), ("rates", gaps))
    )
    return p.concat(_windows(name, x, size, step, gap, pad_mode, 0), 1)


def dilated(x: Any, filter: Any, stride: Any, dilation: Any, pad_mode: str = "SAME") -> Tensor:
    """The largest sum of a window of images (N, C, H, W) and a filter (C, h, w).

    >>> dilated(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[0.0, 0.0], [9.0, 0.0]]]), 1, 1, "VALID").tolist()
    [[[[12.0]]]]
    """
    x, w = floated(x), floated(filter)
    if x.ndim != 4 or w.ndim != 3 or w.shape[0] != x.shape[1]:
        raise ShapeError(f"Dilation2D takes images (N, C, H, W) and a filter (C, h, w), not {x.shape} and {w.shape}")
    steps, gaps = (_in_space("Dilation2D", name, n, 2) for name, n in (("stride", stride), ("dilation", dilation)))
    found = None
    flat = p.reshape(w, (x.shape[1], w.shape[1] * w.shape[2]))
    for place, part in enumerate(_windows("Dilation2D", x, w.shape[1:], steps, gaps, pad_mode, -inf)):
        here = part + p.reshape(p.take(flat, 1, place, place + 1), (1, x.shape[1], 1, 1))
        found = here if found is None else p.maximum(found, here)
    assert found is not None
    return found


def to_batch(x: Any, block_size: int, paddings: Any) -> Tensor:
    """Blocks of images (N, C, H, W) as examples.

    >>> to_batch(Tensor([[[[1, 2], [3, 4]]]]), 2, [[0, 0], [0, 0]]).shape
    (4, 1, 1, 1)
    """
    size = whole("SpaceToBatch", "block_size", block_size, least=2)
    return arrangement.space_to_batch_nd(x, [size, size], paddings)


def to_space(x: Any, block_size: int, crops: Any) -> Tensor:
    """Examples as blocks of images (N, C, H, W).

    >>> to_space(Tensor([[[[1]]], [[[2]]], [[[3]]], [[[4]]]]), 2, [[0, 0], [0, 0]]).tolist()
    [[[[1, 2], [3, 4]]]]
    """
    size = whole("BatchToSpace", "block_size", block_size, least=2)
    return arrangement.batch_to_space_nd(x, [size, size], crops)
