"""Pixels as numbers: rounding and saturating, fills, and what counts as an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.dataset.transforms.base import Array, extra, installed
from mycelia.errors import ShapeError


def saturate(values: Array, dtype: np.dtype[Any]) -> Array:
    """Values in an element type: rounded to even and held within its range when it is an integer type.

    >>> saturate(np.array([-3.0, 2.5, 300.0]), np.dtype("uint8"))
    array([  0,   2, 255], dtype=uint8)
    """
    if dtype.kind not in "iu":
        return values.astype(dtype, copy=False)
    limits = np.iinfo(dtype)
    rounded = np.rint(values)
    return np.clip(rounded, limits.min, limits.max, out=rounded).astype(dtype)


def look_up(table: Array, image: Array) -> Array:
    """A byte image through a table of 256 entries.

    >>> look_up(np.arange(256)[::-1].astype(np.uint8), np.array([[0, 1]], np.uint8))
    array([[255, 254]], dtype=uint8)
    """
    if installed("cv2") and image.ndim in (2, 3) and image.flags.c_contiguous:
        found = extra("cv2", "opencv-python-headless", "a lookup").LUT(image, np.ascontiguousarray(table))
        return np.asarray(found).reshape(image.shape)
    return table.take(image)


def require_image(image: Array, name: str, channels: int | None = None) -> None:
    """Raise unless the array is an image, (H, W) or (H, W, C), with so many channels if a number is given.

    >>> require_image(np.zeros((2, 2, 3)), "Invert", 3)
    """
    if image.ndim not in (2, 3):
        raise ShapeError(
            f"{name} needs an image of shape (H, W) or (H, W, C)",
            given={"shape": image.shape, "dtype": image.dtype},
            hint="decode encoded bytes first with vision.Decode()" if image.ndim == 1 else "",
        )
    if 0 in image.shape or image.dtype.kind not in "iufb":
        raise ShapeError(f"{name} needs an image with pixels", given={"shape": image.shape, "dtype": image.dtype})
    if channels is not None and (image.ndim != 3 or image.shape[2] != channels):
        raise ShapeError(f"{name} needs {channels} channels, last", given={"shape": image.shape})


def colour_of(fill: Any, image: Array) -> Array:
    """A fill, one number or one per channel, as an array that broadcasts over pixels of `image`.

    >>> colour_of((1, 2, 3), np.zeros((2, 2, 3), np.uint8))
    array([1, 2, 3], dtype=uint8)
    """
    colour: Array = np.asarray(fill, image.dtype)
    if image.ndim == 2 and colour.ndim:
        return colour[:1].reshape(())
    if image.ndim == 3 and colour.ndim and colour.size not in (1, image.shape[2]):
        raise ShapeError("one fill per channel is needed", given={"fill": fill, "shape": image.shape})
    return colour
