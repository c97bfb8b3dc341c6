"""The inverse warp: every output pixel asks a 3x3 matrix where it comes from, and interpolates there.

Pixels sit at whole coordinates, (x, y) = (column, row). As in OpenCV, a source position is known to 1/32 of a pixel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mycelia.dataset.transforms.base import Array, extra, installed
from mycelia.dataset.vision.modes import Inter
from mycelia.dataset.vision.pixels import colour_of, saturate
from mycelia.dataset.vision.resample import cubic
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen

STEP_BITS, ONE_BITS, FINE_BITS = 5, 15, 10
STEPS = 1 << STEP_BITS  # positions between two pixels
ONE = 1 << ONE_BITS  # weights are whole numbers in units of its inverse
FINE = 1 << FINE_BITS  # affine sums are made in this finer unit, then cut to a step
FAR = (1 << 15) - 1  # positions beyond are outside every image


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
    solution, _, rank, _ = np.linalg.lstsq(np.array(rows, float), np.array(values, float))
    if rank < 8:
        raise ArgumentError("the four points do not span a plane", given={"start": start, "end": end})
    return np.append(solution, 1.0).reshape(3, 3)


def warp(image: Array, forward: Array, height: int, width: int, mode: Inter, fill: Any = 0) -> Array:
    """An image moved by the matrix `forward` (source to output) into a frame of the given size.

    >>> warp(np.array([[1, 2, 3]], np.uint8), affine((0, 0), 0, (1, 0), 1, (0, 0)), 1, 3, Inter.NEAREST)
    array([[0, 1, 2]], dtype=uint8)
    """
    try:
        x, y, phase = _sources(np.linalg.inv(forward), height, width, exact=mode != Inter.NEAREST)
    except np.linalg.LinAlgError:
        raise ArgumentError("the map takes the plane to a line", given={"matrix": forward.tolist()}) from None
    colour = colour_of((fill,) * 3 if np.ndim(fill) == 0 and image.shape[2:] > (3,) else fill, image)
    if phase is None:
        return _at(image, x, y, colour)
    kind = Inter.CUBIC if mode in (Inter.CUBIC, Inter.PILCUBIC) else Inter.LINEAR
    return _between(image, x, y, phase, kind, colour)


def _at(image: Array, x: Array, y: Array, colour: Array) -> Array:
    """The pixels at whole positions."""
    if _for_opencv(image):
        return _by_opencv(image, x, y, None, "INTER_NEAREST", colour)
    framed = Framed.of(image, colour, 1)
    place = framed.place(x, y)
    return framed.joined([plane.take(place) for plane in framed.planes])


def _between(image: Array, x: Array, y: Array, phase: Array, mode: Inter, colour: Array) -> Array:
    """The pixels interpolated in the square to the lower right of (x, y), at one of its 32x32 places, the phase."""
    if mode == Inter.LINEAR and _for_opencv(image):
        return _by_opencv(image, x, y, phase, "INTER_LINEAR", colour)
    whole, phase = image.dtype == np.uint8, phase.astype(np.intp)
    table = _weights(mode, whole)  # (reach * reach, phase)
    reach = round(len(table) ** 0.5)
    framed = Framed.of(image, colour, reach)
    place = framed.place(x.astype(np.intp) - (reach // 2 - 1), y.astype(np.intp) - (reach // 2 - 1))
    totals: list[Array] = [np.zeros(x.shape, np.result_type(table, image)) for _ in framed.planes]
    here, near, pixel = (np.empty(x.shape, kind) for kind in (table.dtype, np.intp, image.dtype))
    term = np.empty_like(totals[0])  # fresh memory costs more than the sums
    for k, weight in enumerate(table):
        weight.take(phase, out=here, mode="clip")
        np.add(place, k // reach * framed.columns + k % reach, out=near)
        for total, plane in zip(totals, framed.planes, strict=True):
            plane.take(near, out=pixel, mode="clip")
            np.multiply(here, pixel, out=term)
            total += term
    if not whole:
        return saturate(framed.joined(totals), image.dtype)
    return framed.joined([np.clip((total + ONE // 2) >> ONE_BITS, 0, 255).astype(np.uint8) for total in totals])


@frozen
class Framed:
    """An image, plane by plane, within a frame of the fill: reading outside is reading the frame."""

    planes: list[Array]  # one for each channel, flat
    height: int
    width: int
    reach: int
    channels: tuple[int, ...]

    @classmethod
    def of(cls, image: Array, colour: Array, reach: int) -> Framed:
        """A frame wide enough for neighbourhoods of `reach` pixels."""
        height, width = image.shape[:2]
        channels = image.shape[2:]
        source = image.reshape(height, width, -1)
        fills = np.broadcast_to(colour, (source.shape[2],))
        planes = []
        for k, fill in enumerate(fills):
            plane = np.full((height + 2 * reach + 1, width + 2 * reach + 1), fill, image.dtype)
            plane[reach : reach + height, reach : reach + width] = source[..., k]
            planes.append(plane.ravel())
        return cls(planes, height, width, reach, channels)

    @property
    def columns(self) -> int:
        """The length of a row with the frame."""
        return self.width + 2 * self.reach + 1

    def place(self, x: Array, y: Array) -> Array:
        """Where in a plane the neighbourhood of a position begins; far outside it lies in the frame altogether."""
        spans = ((y.astype(np.intp), self.height), (x.astype(np.intp), self.width))
        row, column = (np.clip(v, -self.reach, size) + self.reach for v, size in spans)
        return np.asarray(row * self.columns + column)

    def joined(self, planes: list[Array]) -> Array:
        """Planes as one image again."""
        return np.stack(planes, -1) if self.channels else planes[0]


def _for_opencv(image: Array) -> bool:
    """Whether OpenCV can look the positions up: it gives the same numbers, many times as fast."""
    small = max(image.shape[:2]) < 1 << 15
    return image.dtype == np.uint8 and image.shape[2:] in ((), (3,), (4,)) and small and installed("cv2")


def _by_opencv(image: Array, x: Array, y: Array, phase: Array | None, kind: str, colour: Array) -> Array:
    """OpenCV's reading of an image at positions found by us."""
    opencv = extra("cv2", "opencv-python-headless", "a warp")
    places = opencv.merge([v if v.dtype == np.int16 else np.clip(v, -FAR, FAR).astype(np.int16) for v in (x, y)])
    fill = np.broadcast_to(colour, (image.shape[2] if image.ndim == 3 else 1,)).tolist()
    steps = np.empty(0, np.uint16) if phase is None else phase.astype(np.uint16, copy=False)
    border = {"borderMode": opencv.BORDER_CONSTANT, "borderValue": fill}
    return np.asarray(opencv.remap(np.ascontiguousarray(image), places, steps, getattr(opencv, kind), **border))


def _sources(inverse: Array, height: int, width: int, *, exact: bool) -> tuple[Array, Array, Array | None]:
    """Whole source positions (x, y) of all output pixels; if `exact`, the phase too: the steps beyond them."""
    columns, rows = np.arange(width), np.arange(height)[:, None]
    if np.allclose(inverse[2], [0, 0, 1], atol=1e-12):
        half = FINE // STEPS // 2 if exact else FINE // 2  # so that cutting off rounds
        (x, across), (y, down) = (_sum_in_parts(inverse[k], columns, rows, half) for k in (0, 1))
        if not exact:
            return x, y, None
        for part in (across, down):
            part >>= FINE_BITS - STEP_BITS
            part &= STEPS - 1
    else:
        x, y = _projected(inverse, columns, rows, STEPS if exact else 1)
        if not exact:
            return x, y, None
        across, down = x & (STEPS - 1), y & (STEPS - 1)
        x >>= STEP_BITS
        y >>= STEP_BITS
    down <<= STEP_BITS
    down |= across
    return x, y, down


def _sum_in_parts(line: Array, columns: Array, rows: Array, half: int) -> tuple[Array, Array]:
    """The sums line @ (column, row, 1) in fine units plus `half`, as whole pixels and the fine units beyond, unreduced.

    Rows and columns are rounded to fine units apart, as in OpenCV, so their whole and fine parts add up apart too: in
    16 bits, where nothing lies farther away than those can say.
    """
    along = np.rint(line[0] * columns * FINE).astype(np.int32)
    down = np.rint((line[1] * rows + line[2]) * FINE).astype(np.int32) + half
    reach = max(int(np.abs(v >> FINE_BITS).max()) for v in (along, down))
    kind = np.int16 if 2 * reach < FAR else np.int32
    beyond = (along & (FINE - 1)).astype(kind) + (down & (FINE - 1)).astype(kind)
    whole = beyond >> FINE_BITS
    whole += (along >> FINE_BITS).astype(kind)
    whole += (down >> FINE_BITS).astype(kind)
    return whole, beyond


def _projected(inverse: Array, columns: Array, rows: Array, steps: int) -> tuple[Array, Array]:
    """Where a projective map finds the output pixels, in whole steps."""
    nearness = inverse[2, 0] * columns + (inverse[2, 1] * rows + inverse[2, 2])
    np.divide(steps, nearness, out=nearness, where=nearness != 0)
    x, y = (inverse[k, 0] * columns + (inverse[k, 1] * rows + inverse[k, 2]) for k in (0, 1))
    for values in (x, y):
        values *= nearness
        np.clip(values, -(1 << 30), 1 << 30, out=values)
        np.rint(values, out=values)
    return x.astype(np.int32), y.astype(np.int32)


@lru_cache
def _weights(mode: Inter, whole: bool) -> Array:
    """Weights (neighbour, phase) of 2x2 or 4x4 neighbours for 32x32 places between pixels.

    `whole` weights are in units of 2^-15, and each set sums to one exactly: what rounding left over goes to the largest
    or smallest of four, as in OpenCV.
    """
    position = (np.arange(STEPS)[:, None] / STEPS).astype(np.float32)
    if mode == Inter.CUBIC:
        line = cubic(-0.75)(position - np.arange(-1, 3, dtype=np.float32)).astype(np.float32)
    else:
        line = np.hstack([1 - position, position])
    reach = line.shape[1]
    products = np.einsum("yi,xj->yxij", line, line).reshape(-1, reach, reach)
    if not whole:
        return np.ascontiguousarray(products.reshape(len(products), -1).T)
    both = np.rint(products * ONE).astype(np.int32)
    excess = both.sum((1, 2)) - ONE
    half = reach // 2
    middle = both[:, half : half + 2, half : half + 2].reshape(len(both), -1)
    for phase in np.flatnonzero(excess):
        corner = middle[phase].argmax() if excess[phase] < 0 else middle[phase].argmin()
        both[phase, half + corner // 2, half + corner % 2] -= excess[phase]
    return np.ascontiguousarray(both.reshape(len(both), -1).T)
