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
    rounded = np.asarray(np.rint(values))
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


def look_up_each(tables: list[Array], image: Array) -> Array:
    """A byte image (H, W) or (H, W, C), each channel through its own table of 256 bytes.

    >>> look_up_each([np.arange(256, dtype=np.uint8), np.zeros(256, np.uint8)], np.array([[[5, 6]]], np.uint8))
    array([[[5, 0]]], dtype=uint8)
    """
    if image.ndim == 2:
        return look_up(tables[0], image)
    if installed("cv2"):
        opencv, joined = extra("cv2", "opencv-python-headless", "a lookup"), np.stack(tables, -1)[None]
        return np.asarray(opencv.LUT(np.ascontiguousarray(image), joined)).reshape(image.shape)
    return np.stack([table.take(image[..., c]) for c, table in enumerate(tables)], -1)


def require_image(image: Array, name: str, channels: int | None = None, *, stack: bool = False) -> None:
    """Raise unless the array is an image, (H, W) or (H, W, C), with so many channels if a number is given.

    A `stack` of images may have more axes in front.

    >>> require_image(np.zeros((2, 2, 4)), "Invert", 3)
    Traceback (most recent call last):
    mycelia.errors.ShapeError: Invert needs 3 channels, last...
    """
    if image.ndim < 2 or (image.ndim > 3 and not stack):
        raise ShapeError(
            f"{name} needs an image of shape (H, W) or (H, W, C)",
            given={"shape": image.shape, "dtype": image.dtype},
            hint="decode encoded bytes first with vision.Decode()" if image.ndim == 1 else "",
        )
    if 0 in image.shape or image.dtype.kind not in "iufb":
        raise ShapeError(f"{name} needs an image with pixels", given={"shape": image.shape, "dtype": image.dtype})
    if channels is not None and (image.ndim < 3 or image.shape[-1] != channels):
        raise ShapeError(f"{name} needs {channels} channels, last", given={"shape": image.shape})


def colour_of(fill: Any, image: Array) -> Array:
    """A fill, one number or three, as an array that broadcasts over pixels of `image`.

    Three numbers are those of red, green and blue: an image without colour takes the first, a fourth channel is 0.

    >>> colour_of((1, 2, 3), np.zeros((2, 2, 3), np.uint8))
    array([1, 2, 3], dtype=uint8)
    """
    colour = saturate(np.asarray(fill), image.dtype)
    channels = image.shape[2] if image.ndim == 3 else 1
    if colour.size not in (1, channels):
        colour = np.resize(np.append(colour, np.zeros(4 - colour.size, image.dtype)), channels)
    return colour if image.ndim == 3 else colour.reshape(())
