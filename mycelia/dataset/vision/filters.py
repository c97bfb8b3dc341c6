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
    result = image.astype(np.float64)
    for axis, weights in ((1, across), (0, down)):
        if len(weights) == 1:
            continue
        reach = len(weights) // 2
        margins = [(reach, reach) if a == axis else (0, 0) for a in range(image.ndim)]
        padded = np.pad(result, margins, "reflect" if image.shape[axis] > 1 else "edge")
        size = image.shape[axis]
        windows = (padded.take(range(k, k + size), axis) * w for k, w in enumerate(weights))
        result = np.sum(list(windows), 0)
    return saturate(result, image.dtype)


def smooth(image: Array) -> Array:
    """Each inner pixel replaced by (five times itself + its eight neighbours) / 13; the border stays.

    >>> smooth(np.full((3, 3), 7, np.uint8))[1]
    array([7, 7, 7], dtype=uint8)
    """
    if min(image.shape[:2]) < 3:
        return image
    wide = image.astype(np.float32)
    rows = wide[:-2] + wide[1:-1] + wide[2:]
    around = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    out = image.copy()
    out[1:-1, 1:-1] = saturate((around + 4 * wide[1:-1, 1:-1]) / 13, image.dtype)
    return out
