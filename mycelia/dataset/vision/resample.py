"""Resizing: along each axis every output position is a weighted sum of a few inputs, its taps.

Positions follow OpenCV for NEAREST, LINEAR, CUBIC and AREA, and Pillow for ANTIALIAS (Lanczos) and PILCUBIC, whose
kernels widen when the image shrinks. Bytes are computed in the same fixed point as OpenCV does, so both agree exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from mycelia.api.options import options
from mycelia.dataset.transforms.base import Array, extra, installed
from mycelia.dataset.vision.modes import Inter
from mycelia.dataset.vision.pixels import saturate
from mycelia.frozen import frozen
from mycelia.routines.words import Bytes, Words, word
from mycelia.runtime.routine import Routine

# where OpenCV gives the same numbers, it is used when it is there: it is many times as fast
OPENCV = {Inter.NEAREST: "INTER_NEAREST", Inter.LINEAR: "INTER_LINEAR", Inter.AREA: "INTER_AREA"}
ONE = 2048  # fixed-point weights have 11 fractional bits, as in OpenCV
PILLOW_ONE = 1 << 22


def bytes_across(
    table: Bytes, index: Words, weight: Words, out: Words, rows: int, width: int, size: int, channels: int, taps: int
) -> int:
    """Weighted sums along every row of bytes, for `size` positions of so many channels."""
    for y in range(rows):
        for i in range(size):
            for c in range(channels):
                total = word(0)
                for k in range(taps):
                    total += table[y * width + index[i * taps + k] + c] * weight[i * taps + k]
                out[(y * size + i) * channels + c] = total
    return 0


def words_down(
    table: Words, index: Words, weight: Words, out: Words, rows: int, width: int, size: int, channels: int, taps: int
) -> int:
    """Weighted sums along every column of numbers."""
    for y in range(size):
        for x in range(width):
            out[y * width + x] = 0
        for k in range(taps):
            start, factor = index[y * taps + k] * width, weight[y * taps + k]
            for x in range(width):
                out[y * width + x] += table[start + x] * factor
    return 0


LOOPS = ((Routine(words_down, options), np.int32), (Routine(bytes_across, options), np.uint8))  # by axis: what they sum


@frozen(eq=False)
class Taps:
    """For every output position of one axis: which inputs it reads, and with which weights. Both (positions, taps)."""

    index: Array
    weight: Array

    def along(self, axis: int, image: Array) -> Array:
        """The weighted sums along rows (axis 1) or columns (axis 0) of an image, in the type of the weights."""
        channels = image.shape[2] if image.ndim == 3 else 1
        table = np.ascontiguousarray(image).reshape(len(image), -1)  # a row of pixels is one row of numbers
        size = len(self.index)
        whole = (size, *image.shape[1:]) if axis == 0 else (len(image), size, *image.shape[2:])
        loop, kind = LOOPS[axis]
        if self.weight.dtype == np.int32 and np.can_cast(table.dtype, kind) and loop.ready():
            index = self.index.astype(np.int32)
            index = index * channels if axis == 1 else index
            sums = np.empty(whole, np.int32)
            loop(
                table.astype(kind, copy=False), index, self.weight, sums, *table.shape, size, channels, index.shape[-1]
            )
            return sums
        index, weight = self.index.T, self.weight.T[:, :, None]
        if axis == 1:
            index = (index[..., None] * channels + np.arange(channels)).reshape(len(index), -1)
            weight = np.repeat(self.weight.T, channels, 1)
        shape = (index.shape[1], table.shape[1]) if axis == 0 else (table.shape[0], index.shape[1])
        read = np.empty(shape, table.dtype)  # fresh memory costs more than the sums: two buffers serve all taps
        total, term = (np.empty(shape, np.result_type(table, weight)) for _ in range(2))
        np.multiply(table.take(index[0], axis, out=read, mode="clip"), weight[0], out=total)
        for places, factors in zip(index[1:], weight[1:], strict=True):
            total += np.multiply(table.take(places, axis, out=read, mode="clip"), factors, out=term)
        return total.reshape(whole)

    def fixed(self, one: int) -> Taps:
        """The same with whole-number weights in units of 1 / one."""
        scaled = self.weight * self.weight.dtype.type(one)
        return Taps(self.index, np.ascontiguousarray(np.rint(scaled), np.int32))


def cubic(a: float) -> Callable[[Array], Array]:
    """Keys' cubic convolution kernel.

    >>> cubic(-0.5)(np.array([0.0, 0.5, 2.0]))
    array([1.    , 0.5625, 0.    ])
    """

    def kernel(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = (((x - 5) * x + 8) * x - 4) * a
        return np.where(x < 1, near, np.where(x < 2, far, 0.0))

    return kernel


def lanczos(x: Array) -> Array:
    """The sinc function under the central lobe of a wider sinc.

    >>> lanczos(np.array([0.0, 3.0]))
    array([1., 0.])
    """
    return np.asarray(np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0))


def nearest(size: int, out: int) -> Array:
    """The input that each output position copies."""
    step = 1 / (out / size)  # which is not always size / out, and OpenCV's
    return np.asarray(np.minimum(np.floor(np.arange(out) * step), size - 1), np.intp)


def linear_taps(size: int, out: int, *, clamp: bool) -> Taps:
    """Two taps. `clamp` moves positions beyond the border onto it: OpenCV does so along rows, not along columns."""
    position = ((np.arange(out) + 0.5) * (size / out) - 0.5).astype(np.float32)
    first = np.floor(position)
    fraction = position - first
    outside = (first < 0) | (first >= size - 1)
    fraction = np.where(outside & clamp, np.float32(0), fraction)
    start = np.clip(first, 0, size - 1) if clamp else first
    index = np.clip(start[:, None] + np.arange(2), 0, size - 1).astype(np.intp)
    return Taps(index, np.stack([1 - fraction, fraction], 1))


def cubic_taps(size: int, out: int) -> Taps:
    """Four taps of the kernel with a = -0.75, the edge repeated; in single precision, in the order of OpenCV."""
    position = ((np.arange(out) + 0.5) * (size / out) - 0.5).astype(np.float32)
    first = np.floor(position)
    x, a, one = position - first, np.float32(-0.75), np.float32(1)
    before = ((a * (x + one) - 5 * a) * (x + one) + 8 * a) * (x + one) - 4 * a
    left, right = (((a + 2) * t - (a + 3)) * t * t + one for t in (x, one - x))
    weight = np.stack([before, left, right, one - before - left - right], 1)
    return Taps(np.clip(first[:, None] + np.arange(-1, 3), 0, size - 1).astype(np.intp), weight)


def area_taps(size: int, out: int) -> Taps:
    """Shrinking: each output is the mean of the interval it covers."""
    scale = size / out
    start, end = np.arange(out) * scale, np.minimum((np.arange(out) + 1) * scale, size)
    index = np.floor(start + 1e-9)[:, None] + np.arange(math.ceil(scale) + 1)
    covered = np.clip(np.minimum(index + 1, end[:, None]) - np.maximum(index, start[:, None]), 0, None)
    covered[covered < 1e-3] = 0
    weight = covered / covered.sum(1, keepdims=True)
    return Taps(np.minimum(index, size - 1).astype(np.intp), weight.astype(np.float32))


def area_growing_taps(size: int, out: int) -> Taps:
    """Growing by area: two taps, sharp inside a source pixel and blended only across its boundary."""
    growth = out / size
    first = np.floor(np.arange(out) * (1 / growth))
    fraction = (np.arange(out) + 1 - (first + 1) * growth).astype(np.float32)
    fraction = np.where(fraction <= 0, np.float32(0), fraction - np.floor(fraction))
    beyond = first >= size - 1
    fraction = np.where(beyond, np.float32(0), fraction)
    index = np.minimum(first[:, None] + np.arange(2), size - 1).astype(np.intp)
    return Taps(index, np.stack([1 - fraction, fraction], 1))


def filter_taps(size: int, out: int, kernel: Callable[[Array], Array], support: float) -> Taps:
    """Taps of a kernel that widens with the scale, so that shrinking does not alias; normalised within the border."""
    scale = size / out
    stretch = max(scale, 1.0)
    centre = (np.arange(out) + 0.5) * scale
    low = np.maximum((centre - support * stretch + 0.5).astype(int), 0)
    high = np.minimum((centre + support * stretch + 0.5).astype(int), size)
    index = low[:, None] + np.arange((high - low).max())
    weight = kernel((index - centre[:, None] + 0.5) / stretch) * (index < high[:, None])
    weight /= weight.sum(1, keepdims=True)
    return Taps(np.minimum(index, size - 1).astype(np.intp), weight)


@lru_cache(maxsize=512)
def taps_of(size: int, out: int, mode: Inter, axis: int, shrinking: bool) -> Taps:
    """The taps of one axis for a mode; `shrinking` tells whether no axis grows, on which AREA depends."""
    match mode:
        case Inter.LINEAR:
            return linear_taps(size, out, clamp=axis == 1)
        case Inter.CUBIC:
            return cubic_taps(size, out)
        case Inter.AREA:
            return area_taps(size, out) if shrinking else area_growing_taps(size, out)
        case Inter.PILCUBIC:
            return filter_taps(size, out, cubic(-0.5), 2.0)
        case _:
            return filter_taps(size, out, lanczos, 3.0)


def resize(image: Array, height: int, width: int, mode: Inter) -> Array:
    """An image (H, W) or (H, W, C) brought to another size.

    >>> resize(np.array([[0, 100]], np.uint8), 1, 4, Inter.LINEAR)
    array([[  0,  25,  75, 100]], dtype=uint8)
    """
    rows, columns = image.shape[:2]
    if (rows, columns) == (height, width):
        return image
    if image.dtype == np.uint8 and mode in OPENCV and image.shape[2:] in ((), (3,), (4,)) and installed("cv2"):
        opencv = extra("cv2", "opencv-python-headless", "resizing")
        return np.asarray(opencv.resize(image, (width, height), interpolation=getattr(opencv, OPENCV[mode])))
    return by_taps(image, height, width, mode)


def by_taps(image: Array, height: int, width: int, mode: Inter) -> Array:
    """The same with NumPy alone; a law of the tests says that both agree.

    >>> by_taps(np.array([[0, 100]], np.uint8), 1, 4, Inter.NEAREST)
    array([[  0,   0, 100, 100]], dtype=uint8)
    """
    rows, columns = image.shape[:2]
    if mode == Inter.NEAREST:
        return image[nearest(rows, height)][:, nearest(columns, width)]
    if mode == Inter.LINEAR and (rows, columns) == (2 * height, 2 * width) and image.dtype == np.uint8:
        mode = Inter.AREA  # as OpenCV does: the mean of four
    shrinking = rows >= height and columns >= width
    across = taps_of(columns, width, mode, 1, shrinking)
    down = taps_of(rows, height, mode, 0, shrinking)
    if image.dtype == np.uint8:
        return _resize_bytes(image, across, down, mode, shrinking)
    return saturate(down.along(0, across.along(1, image)), image.dtype)


def _resize_bytes(image: Array, across: Taps, down: Taps, mode: Inter, shrinking: bool) -> Array:
    """Two passes with the roundings that OpenCV and Pillow make."""
    if mode in (Inter.ANTIALIAS, Inter.PILCUBIC):
        for axis, taps, changed in ((1, across, across.index.shape[0] != image.shape[1]),
                                    (0, down, down.index.shape[0] != image.shape[0])):  # fmt: skip
            if changed:
                image = _shifted(taps.fixed(PILLOW_ONE).along(axis, image), 22)
        return image
    if mode == Inter.AREA and image.shape[:2] == (2 * down.index.shape[0], 2 * across.index.shape[0]):
        quads = image[::2].astype(np.uint16) + image[1::2]
        return np.asarray((quads[:, ::2] + quads[:, 1::2] + 2) >> 2, np.uint8)
    height, width = down.index.shape[0], across.index.shape[0]
    if mode == Inter.AREA and image.shape[0] % height == 0 and image.shape[1] % width == 0:
        return _blocks(image, height, width)
    if mode == Inter.AREA and shrinking:
        return saturate(down.along(0, across.along(1, image)), image.dtype)
    rows = across.fixed(ONE).along(1, image)
    weights = down.fixed(ONE)
    if down.index.shape[1] == 2:  # OpenCV drops four bits before the second product and sixteen after it
        weight = weights.weight[:, :, None] if image.ndim == 2 else weights.weight[:, :, None, None]
        parts = [((rows[down.index[:, k]] >> 4) * weight[:, k]) >> 16 for k in (0, 1)]
        return np.asarray((parts[0] + parts[1] + 2) >> 2, np.uint8)
    return _shifted(weights.along(0, rows), 22)


def _blocks(image: Array, height: int, width: int) -> Array:
    """Means over blocks of whole pixels, rounded as OpenCV does: the sum times the inverse of the area."""
    tall, wide = image.shape[0] // height, image.shape[1] // width
    blocks = image.reshape(height, tall, width, wide, *image.shape[2:])
    means = blocks.sum((1, 3), dtype=np.int32).astype(np.float32) * np.float32(1.0 / (tall * wide))
    return np.asarray(np.rint(means), np.uint8)


def _shifted(sums: Array, bits: int) -> Array:
    """Sums in fixed point as bytes, halves rounded up; the sums are used up."""
    sums += 1 << (bits - 1)
    sums >>= bits
    return np.clip(sums, 0, 255, out=sums).astype(np.uint8)
