"""The inverse warp: every output pixel asks a 3x3 matrix where it comes from, and interpolates there.

Pixels sit at whole coordinates, (x, y) = (column, row). As in OpenCV, a source position is known to 1/32 of a pixel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mycelia.dataset.transforms.base import Array
from mycelia.dataset.vision.modes import Inter
from mycelia.dataset.vision.pixels import colour_of, saturate
from mycelia.dataset.vision.resample import cubic
from mycelia.errors import ArgumentError

STEPS = 32  # positions between two pixels
FINE = 1024  # affine sums are made in this finer unit, then cut to a step


def rotation(centre: tuple[float, float], degrees: float, scale: float = 1.0) -> Array:
    """Counter-clockwise rotation about a point, from source to output.

    >>> np.round(rotation((0, 0), 90) @ [1, 0, 1], 6) + 0.0
    array([ 0., -1.,  1.])
    """
    angle = np.deg2rad(degrees)
    a, b = scale * np.cos(angle), scale * np.sin(angle)
    x, y = centre
    return np.array([[a, b, (1 - a) * x - b * y], [-b, a, b * x + (1 - a) * y], [0, 0, 1]])


def affine(
    centre: tuple[float, float],
    degrees: float,
    translate: tuple[float, float],
    scale: float,
    shear: tuple[float, float],
) -> Array:
    """Shear, scale and clockwise rotation about a centre, then translation in pixels, from source to output.

    >>> affine((3, 4), 0, (1, 2), 1, (0, 0)) @ [0, 0, 1]
    array([1., 2., 1.])
    """
    angle, shear_x, shear_y = np.deg2rad([degrees, *shear])
    a = scale * np.cos(angle - shear_y) / np.cos(shear_y)
    b = scale * (-np.cos(angle - shear_y) * np.tan(shear_x) / np.cos(shear_y) - np.sin(angle))
    c = scale * np.sin(angle - shear_y) / np.cos(shear_y)
    d = scale * (-np.sin(angle - shear_y) * np.tan(shear_x) / np.cos(shear_y) + np.cos(angle))
    x, y = centre
    move_x, move_y = translate
    return np.array([[a, b, (1 - a) * x - b * y + move_x], [c, d, (1 - d) * y - c * x + move_y], [0, 0, 1]])


def perspective(start: Any, end: Any) -> Array:
    """The projective map that takes four points to four points.

    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> np.round(perspective(square, square), 6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    rows, values = [], []
    for (x, y), (u, v) in zip(start, end, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -x * u, -y * u], [0, 0, 0, x, y, 1, -x * v, -y * v]]
        values += [u, v]
    try:
        solution = np.linalg.solve(np.array(rows, float), np.array(values, float))
    except np.linalg.LinAlgError:
        raise ArgumentError("the four points do not span a plane", given={"start": start, "end": end}) from None
    return np.append(solution, 1.0).reshape(3, 3)


def warp(image: Array, forward: Array, height: int, width: int, mode: Inter, fill: Any = 0) -> Array:
    """An image moved by the matrix `forward` (source to output) into a frame of the given size.

    >>> warp(np.array([[1, 2, 3]], np.uint8), affine((0, 0), 0, (1, 0), 1, (0, 0)), 1, 3, Inter.NEAREST)
    array([[0, 1, 2]], dtype=uint8)
    """
    steps = 1 if mode == Inter.NEAREST else STEPS
    x, y = _sources(np.linalg.inv(forward), height, width, steps)
    colour = colour_of(fill, image)
    if mode == Inter.NEAREST:
        return _read(image, y, x, colour)
    weights = _weights(Inter.CUBIC if mode in (Inter.CUBIC, Inter.PILCUBIC) else Inter.LINEAR)
    reach = weights.shape[1]
    left, top = x // STEPS - (reach // 2 - 1), y // STEPS - (reach // 2 - 1)
    across, down = weights[x % STEPS], weights[y % STEPS]
    pixel = (..., None) if image.ndim == 3 else (...,)
    total = np.zeros((height, width, *image.shape[2:]), np.float32)
    for i in range(reach):
        for j in range(reach):
            weight = (down[..., i] * across[..., j])[pixel]
            total += weight * _read(image, top + i, left + j, colour)
    return saturate(np.floor(total + 0.5) if image.dtype.kind in "iu" else total, image.dtype)


def _sources(inverse: Array, height: int, width: int, steps: int) -> tuple[Array, Array]:
    """Source positions (x, y) of all output pixels, in whole steps."""
    columns, rows = np.arange(width), np.arange(height)[:, None]
    if np.allclose(inverse[2], [0, 0, 1], atol=1e-12):
        half = FINE // steps // 2
        ax, ay = (np.rint(inverse[k, 0] * columns * FINE).astype(np.int64) for k in (0, 1))
        bx, by = (np.rint((inverse[k, 1] * rows + inverse[k, 2]) * FINE).astype(np.int64) for k in (0, 1))
        return (ax + bx + half) // (FINE // steps), (ay + by + half) // (FINE // steps)
    depth = inverse[2, 0] * columns + inverse[2, 1] * rows + inverse[2, 2]
    nearness = np.divide(steps, depth, out=np.zeros_like(depth), where=depth != 0)
    far = 1 << 30
    x, y = (
        np.rint(np.clip((inverse[k, 0] * columns + inverse[k, 1] * rows + inverse[k, 2]) * nearness, -far, far))
        for k in (0, 1)
    )
    return x.astype(np.int64), y.astype(np.int64)


def _read(image: Array, y: Array, x: Array, colour: Array) -> Array:
    """Pixels at whole coordinates, the fill outside."""
    height, width = image.shape[:2]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    pixels = image[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    return np.where(inside[..., None] if image.ndim == 3 else inside, pixels, colour)


@lru_cache
def _weights(mode: Inter) -> Array:
    """Weights of the neighbouring pixels for each of the steps: (steps, 2) or (steps, 4)."""
    position = np.arange(STEPS)[:, None] / STEPS
    if mode == Inter.CUBIC:
        return cubic(-0.75)(position - np.arange(-1, 3)).astype(np.float32)
    return np.hstack([1 - position, position]).astype(np.float32)
