"""Local filters: separable convolution with mirrored borders, and the smoothing that sharpening undoes."""

from __future__ import annotations

import numpy as np

from mycelia.dataset.transforms.base import Array
from mycelia.dataset.vision.pixels import saturate


def gaussian(size: int, sigma: float) -> Array:
    """Gaussian weights at `size` whole positions around zero, summing to one.

    >>> gaussian(3, 1.0).round(3)
    array([0.274, 0.452, 0.274])
    """
    weights = np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / sigma) ** 2)
    return np.asarray(weights / weights.sum())


def convolve(image: Array, down: Array, across: Array) -> Array:
    """A separable filter with odd lengths; outside the border the image is mirrored without its edge.

    >>> convolve(np.array([[0, 4, 0]], np.uint8), np.ones(1), np.array([0.25, 0.5, 0.25]))
    array([[2, 2, 2]], dtype=uint8)
    """
    result = image.astype(np.result_type(image.dtype, np.float32))
    for axis, weights in ((1, across), (0, down)):
        reach, size = len(weights) // 2, image.shape[axis]
        margins = [(reach, reach) if a == axis else (0, 0) for a in range(image.ndim)]
        padded = np.pad(result, margins, "reflect" if size > 1 else "edge")
        windows = (padded[(slice(None),) * axis + (slice(k, k + size),)] for k in range(len(weights)))
        first, *rest = weights.astype(result.dtype)
        result = next(windows) * first
        for window, weight in zip(windows, rest, strict=True):
            result += window * weight
    return saturate(result, image.dtype)


def smooth(image: Array) -> Array:
    """Each inner pixel replaced by (five times itself + its eight neighbours) / 13; the border stays.

    >>> smooth(np.full((3, 3), 7, np.uint8))[1]
    array([7, 7, 7], dtype=uint8)
    """
    if min(image.shape[:2]) < 3:
        return image
    wide = image.astype(np.uint16 if image.dtype == np.uint8 else np.result_type(image.dtype, np.float32))
    rows = wide[:-2] + wide[1:-1] + wide[2:]
    total = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:] + 4 * wide[1:-1, 1:-1]
    out = image.copy()
    out[1:-1, 1:-1] = (total * 2 + 13) // 26 if image.dtype == np.uint8 else saturate(total / 13, image.dtype)
    return out
