"""Local filters: separable convolution with mirrored borders, and the smoothing that sharpening undoes."""

from __future__ import annotations

import numpy as np

from mycelia.dataset.transforms.base import Array, extra, installed
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
    wide = image.astype(np.result_type(image.dtype, np.float32))
    return saturate(slide(slide(wide, across, 1), down, 0), image.dtype)


def slide(values: Array, weights: Array, axis: int) -> Array:
    """Weighted sums of windows along an axis, in the type of the values, mirrored at the border.

    >>> slide(np.array([0, 4, 0]), np.array([1, 2, 1]), 0)
    array([8, 8, 8])
    """
    reach, size = len(weights) // 2, values.shape[axis]
    margins = [(reach, reach) if a == axis else (0, 0) for a in range(values.ndim)]
    padded = np.pad(values, margins, "reflect" if size > 1 else "edge")
    windows = (padded[(slice(None),) * axis + (slice(k, k + size),)] for k in range(len(weights)))
    first, *rest = weights.astype(values.dtype)
    total = next(windows) * first
    for window, weight in zip(windows, rest, strict=True):
        total += window * weight
    return np.asarray(total)


def blur(image: Array, width: int, height: int, along_x: float, along_y: float) -> Array:
    """A Gaussian blur; bytes are blurred in OpenCV's fixed point, with eight bits for the weights.

    Without OpenCV, floats may differ in the last place.

    >>> blur(np.full((3, 3), 5, np.uint8), 3, 3, 1.0, 1.0)[0]
    array([5, 5, 5], dtype=uint8)
    """
    across, down = gaussian(width, along_x), gaussian(height, along_y)
    if image.dtype in (np.uint8, np.float32) and image.shape[2:] in ((), (3,), (4,)) and installed("cv2"):
        opencv = extra("cv2", "opencv-python-headless", "blurring")
        return np.asarray(opencv.GaussianBlur(np.ascontiguousarray(image), (width, height), along_x, sigmaY=along_y))
    if image.dtype != np.uint8:
        return convolve(image, down, across)
    rows = slide(image.astype(np.uint32), eighths(across), 1)
    return np.asarray((slide(rows, eighths(down), 0) + (1 << 15)) >> 16, np.uint8)


def eighths(weights: Array) -> Array:
    """Symmetric weights as whole numbers that sum to 256: each takes on the rounding of the one before it.

    >>> eighths(np.array([0.25, 0.5, 0.25]))
    array([ 64, 128,  64], dtype=uint32)
    """
    half, rest = [], 0.0
    for weight in weights[: len(weights) // 2]:
        wanted = weight * 256 + rest
        half.append(round(wanted))
        rest = wanted - half[-1]
    return np.array([*half, 256 - 2 * sum(half), *half[::-1]], np.uint32)


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
