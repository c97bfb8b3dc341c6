"""Colour as arithmetic: luma, blending, hue-saturation-value, lookup tables by histogram."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

import numpy as np

from mycelia.dataset.transforms.base import Array, extra, installed
from mycelia.dataset.vision.pixels import look_up_each, saturate

LUMA = (9798, 19235, 3735)  # 0.299, 0.587, 0.114 in units of 2^-15, as OpenCV rounds them


def luma(image: Array) -> Array:
    """The brightness (H, W) of an RGB image, in its own type.

    >>> luma(np.array([[[255, 255, 255], [255, 0, 0]]], np.uint8))
    array([[255,  76]], dtype=uint8)
    """
    rgb = image[..., :3]
    if image.dtype == np.uint8 and rgb.ndim == 3 and rgb.shape[2] == 3 and installed("cv2"):
        opencv = extra("cv2", "opencv-python-headless", "colours")
        return np.asarray(opencv.cvtColor(np.ascontiguousarray(rgb), opencv.COLOR_RGB2GRAY))
    if image.dtype == np.uint8:
        red, green, blue = (np.multiply(rgb[..., k], weight, dtype=np.int32) for k, weight in enumerate(LUMA))
        return np.asarray((red + green + blue + (1 << 14)) >> 15, np.uint8)
    return saturate(rgb @ np.array([0.299, 0.587, 0.114], np.result_type(image.dtype, np.float32)), image.dtype)


def in_three(grey: Array) -> Array:
    """A grey image (H, W) as (H, W, 3).

    >>> in_three(np.array([[7]], np.uint8))
    array([[[7, 7, 7]]], dtype=uint8)
    """
    if grey.dtype == np.uint8 and installed("cv2"):
        opencv = extra("cv2", "opencv-python-headless", "colours")
        return np.asarray(opencv.cvtColor(np.ascontiguousarray(grey), opencv.COLOR_GRAY2RGB))
    return np.repeat(grey[..., None], 3, -1)


def weighted(x: Array, a: np.float32, y: Array, b: np.float32) -> Array:
    """The sum x * a + y * b, saturated; between bytes the first product is not rounded before it, as in OpenCV.

    >>> weighted(np.array([10, 200], np.uint8), np.float32(1.5), np.array([100, 100], np.uint8), np.float32(-0.5))
    array([  0, 250], dtype=uint8)
    """
    if x.dtype != np.uint8:
        return saturate(x * a + np.multiply(y, b, dtype=np.float32), x.dtype)
    if x.ndim > 1 and x.shape == y.shape and installed("cv2"):
        opencv = extra("cv2", "opencv-python-headless", "colours")
        rows, others = (np.ascontiguousarray(v).reshape(len(v), -1) for v in (x, y))
        return np.asarray(opencv.addWeighted(rows, float(a), others, float(b), 0)).reshape(x.shape)
    return saturate((x * np.float64(a) + np.multiply(y, b, dtype=np.float32)).astype(np.float32), x.dtype)


def blend(image: Array, other: Array, factor: float) -> Array:
    """`other` at factor 0, the image at 1, beyond it at more.

    >>> blend(np.array([10, 200], np.uint8), np.array([100, 100], np.uint8), 1.5)
    array([  0, 250], dtype=uint8)
    """
    return weighted(image, np.float32(factor), other, np.float32(1) - np.float32(factor))


def rgb_to_hsv(rgb: Array) -> Array:
    """Hue, saturation and value, all in [0, 1], of colours (..., 3) in [0, 1].

    >>> rgb_to_hsv(np.array([0.0, 1.0, 0.0]))
    array([0.33333333, 1.        , 1.        ])
    """
    value, low = rgb.max(-1), rgb.min(-1)
    chroma = value - low
    safe = np.where(chroma == 0, 1, chroma)
    r, g, b = np.moveaxis(rgb, -1, 0)
    hue = np.select(
        [chroma == 0, value == r, value == g],
        [np.zeros_like(chroma), (g - b) / safe, 2 + (b - r) / safe],
        4 + (r - g) / safe,
    )
    saturation = np.where(value == 0, 0, chroma / np.where(value == 0, 1, value))
    return np.stack([hue / 6 % 1.0, saturation, value], -1)


def hsv_to_rgb(hsv: Array) -> Array:
    """Colours (..., 3) in [0, 1] of hue, saturation and value.

    >>> hsv_to_rgb(np.array([0.0, 1.0, 1.0]))
    array([1., 0., 0.])
    """
    hue, saturation, value = np.moveaxis(hsv, -1, 0)
    sector = np.floor(hue * 6)
    f = hue * 6 - sector
    p, q, t = value * (1 - saturation), value * (1 - f * saturation), value * (1 - (1 - f) * saturation)
    sextants = [(value, t, p), (q, value, p), (p, value, t), (p, q, value), (t, p, value), (value, p, q)]
    where = [sector.astype(int) % 6 == i for i in range(6)]
    return np.stack([np.select(where, [s[k] for s in sextants]) for k in range(3)], -1)


def shift_hue(image: Array, turn: float) -> Array:
    """An RGB image with every hue moved by a fraction of the colour circle.

    >>> shift_hue(np.array([[[255, 0, 0]]], np.uint8), 1 / 3)
    array([[[  0, 255,   0]]], dtype=uint8)
    """
    if image.dtype == np.uint8:
        return _shift_byte_hue(image, int(turn * 255))
    unit = 255.0 if image.dtype.kind in "iu" else 1.0
    hsv = rgb_to_hsv(image / unit)
    hsv[..., 0] = (hsv[..., 0] + turn) % 1.0
    return saturate(hsv_to_rgb(hsv) * unit, image.dtype)


def _shift_byte_hue(image: Array, steps: int) -> Array:
    """The same for bytes, in OpenCV's arithmetic: hue and saturation are bytes too, quotients come from tables.

    Once the hue is known, each channel is value * (1 - saturation * depth), its depth a function of the hue alone.
    """
    hue, saturation, value = np.moveaxis(_byte_hsv(image), -1, 0)
    turned = hue + np.uint8(steps % 256)
    darkness = np.multiply(saturation, value, dtype=np.float32)
    darkness /= np.float32(255)
    level, planes = value.astype(np.float32), []
    opencv = extra("cv2", "opencv-python-headless", "colours") if installed("cv2") else None
    for fall in _hue_tables()[2]:
        plane = np.asarray(opencv.LUT(turned, fall)) if opencv else fall.take(turned)
        plane *= darkness
        np.subtract(level, plane, out=plane)
        planes.append(opencv.convertScaleAbs(plane) if opencv else np.rint(plane).astype(np.uint8))
    return np.asarray(opencv.merge(planes)) if opencv else np.stack(planes, -1)


def _byte_hsv(image: Array) -> Array:
    """Hue (256 to the circle), saturation and value as bytes, by OpenCV where it is there."""
    if installed("cv2"):
        opencv = extra("cv2", "opencv-python-headless", "colours")
        return np.asarray(opencv.cvtColor(np.ascontiguousarray(image), opencv.COLOR_RGB2HSV_FULL))
    red, green, blue = (image[..., k].astype(np.int32) for k in range(3))
    value = np.maximum(np.maximum(red, green), blue)
    chroma = value - np.minimum(np.minimum(red, green), blue)
    per_value, per_chroma, _ = _hue_tables()
    saturation = (chroma * per_value.take(value) + (1 << 11)) >> 12
    sextant = np.where(
        value == red, green - blue, np.where(value == green, blue - red + 2 * chroma, red - green + 4 * chroma)
    )
    hue = ((sextant * per_chroma.take(chroma) + (1 << 11)) >> 12) & 255
    return np.stack([hue, saturation, value], -1).astype(np.uint8)


@cache
def _hue_tables() -> tuple[Array, Array, Array]:
    """255 / value and 256 / 6 / chroma in fixed point, and how deep each channel falls at each of 256 hues."""
    n = np.arange(1, 256)
    per_value = np.concatenate([[0], np.rint((255 << 12) / n)]).astype(np.int32)
    per_chroma = np.concatenate([[0], np.rint((256 << 12) / (6.0 * n))]).astype(np.int32)
    hues = np.stack([np.arange(256) / 255, np.ones(256), np.ones(256)], -1)  # there by 256, back by 255, as OpenCV
    return per_value, per_chroma, np.ascontiguousarray(1 - hsv_to_rgb(hues).T, np.float32)


def per_channel(image: Array, table_of: Callable[[Array], Array]) -> Array:
    """Each channel of a byte image looked up in the table that `table_of` makes from its histogram."""
    planes = image[..., None] if image.ndim == 2 else image
    return look_up_each([table_of(histogram(planes, c)) for c in range(planes.shape[2])], image)


def histogram(planes: Array, channel: int) -> Array:
    """How often each of the 256 levels occurs in a channel (OpenCV counts in single precision: up to 2^24 pixels)."""
    if installed("cv2") and planes.shape[2] <= 4 and planes[..., 0].size < 1 << 24:
        opencv = extra("cv2", "opencv-python-headless", "a histogram")
        counts = opencv.calcHist([np.ascontiguousarray(planes)], [channel], None, [256], [0, 256])
        return np.asarray(counts).ravel().astype(np.int64)
    return np.bincount(planes[..., channel].ravel(), minlength=256)


def equalizing(histogram: Array) -> Array:
    """The table that spreads a channel so that its histogram becomes flat.

    >>> equalizing(np.bincount([10, 20, 30, 200], minlength=256))[[10, 20, 30, 200]]
    array([  0,  85, 170, 255], dtype=uint8)
    """
    lowest = histogram[histogram > 0][0]
    if lowest == histogram.sum():
        return np.arange(256, dtype=np.uint8)
    scale = np.float32(255.0) / np.float32(histogram.sum() - lowest)
    return saturate((np.cumsum(histogram) - lowest).astype(np.float32) * scale, np.dtype(np.uint8))


def stretching(histogram: Array, cutoff: float, ignore: Collection[int]) -> Array:
    """The table that stretches a channel to the full range after cutting `cutoff` percent at both ends.

    >>> stretching(np.bincount([50, 100, 150], minlength=256), 0, ()).tolist()[100]
    127
    """
    counts = histogram.astype(np.int64)
    counts[list(ignore)] = 0
    if cutoff:
        cut = int(counts.sum() * cutoff // 100)
        for order in (slice(None), slice(None, None, -1)):
            ends = counts[order]
            taken = np.minimum(ends, np.maximum(cut - np.concatenate([[0], np.cumsum(ends)[:-1]]), 0))
            ends -= taken
    present = np.flatnonzero(counts)
    low, high = (present[0], present[-1]) if len(present) else (0, 0)
    if high <= low:
        return np.arange(256, dtype=np.uint8)
    scale = np.float32(255.0 / (high - low))
    levels = np.arange(256, dtype=np.float32) * scale - np.float32(low) * scale
    return np.clip(levels.astype(np.int64), 0, 255).astype(np.uint8)
