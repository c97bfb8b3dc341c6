"""Adding borders, and cutting an image into patches."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from mycelia.checks import member, pair, sequence, whole
from mycelia.dataset.transforms.base import Array, extra, installed
from mycelia.dataset.vision.base import ImageOperation, to_pil
from mycelia.dataset.vision.modes import Border, SliceMode
from mycelia.dataset.vision.pixels import colour_of, require_image
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen

Fill = int | tuple[int, int, int]
LARGEST = 1 << 24  # of a side, a border or a count
OPENCV = {Border.EDGE: "BORDER_REPLICATE", Border.REFLECT: "BORDER_REFLECT_101", Border.SYMMETRIC: "BORDER_REFLECT"}


def margins(padding: Any, owner: Any = "parse_padding") -> tuple[int, int, int, int]:
    """Left, top, right and bottom, from one number, (left and right, top and bottom), or all four.

    >>> margins((1, 2))
    (1, 2, 1, 2)
    """
    if isinstance(padding, (int, np.integer)) and not isinstance(padding, bool):
        padding = (padding,) * 4
    left, top, *rest = (whole(owner, "padding", p, 0, LARGEST) for p in sequence(owner, "padding", padding, 2, 4))
    right, bottom = rest or (left, top)
    return left, top, right, bottom


def check_fill(owner: Any, fill: Any) -> None:
    """Raise unless `fill` is a level in [0, 255], or three of them."""
    levels = sequence(owner, "fill_value", fill, 3) if isinstance(fill, (tuple, list)) else (fill,)
    for level in levels:
        whole(owner, "fill_value", level, 0, 255)


def pillow_fill(fill: Any, image: Any) -> Any:
    """A fill as Pillow wants it: a level for one band, red, green and blue (opaque) for more, or for a palette."""
    red, green, blue = (fill,) * 3 if isinstance(fill, numbers.Integral) else tuple(fill)
    if image.mode != "P" and len(image.getbands()) == 1:
        return red
    return (red, 255) if len(image.getbands()) == 2 else (red, green, blue)


def pad(image: Array, left: int, top: int, right: int, bottom: int, fill: Any, mode: Border) -> Array:
    """An image within borders; a border may be wider than the image, whose mirror then repeats.

    >>> pad(np.array([[1, 2]]), 1, 0, 0, 0, 9, Border.CONSTANT)
    array([[9, 1, 2]])
    """
    widths = [(top, bottom), (left, right)] + [(0, 0)] * (image.ndim - 2)
    if mode != Border.CONSTANT and image.dtype == np.uint8 and image.shape[2:] in ((), (3,), (4,)) and installed("cv2"):
        opencv = extra("cv2", "opencv-python-headless", "a border")
        kind = getattr(opencv, OPENCV[mode])
        return np.asarray(opencv.copyMakeBorder(np.ascontiguousarray(image), top, bottom, left, right, kind))
    if mode != Border.CONSTANT:
        return np.pad(image, widths, mode.value)  # type: ignore[no-any-return, call-overload]  # modes are NumPy's names
    height, width = image.shape[:2]
    out = np.empty((height + top + bottom, width + left + right, *image.shape[2:]), image.dtype)
    out[...] = colour_of(fill, image)
    out[top : top + height, left : left + width] = image
    return out


@frozen
class Pad(ImageOperation):
    """A border around the image: one width, (left and right, top and bottom), or (left, top, right, bottom).

    >>> Pad((1, 0), fill_value=9)(np.array([[1, 2]], np.uint8))
    array([[9, 1, 2, 9]], dtype=uint8)
    """

    padding: Any
    fill_value: Fill = 0
    padding_mode: Border = Border.CONSTANT

    def __post_init__(self) -> None:
        margins(self.padding, self)
        check_fill(self, self.fill_value)
        member(self, "padding_mode", self.padding_mode, Border)

    def apply(self, image: Array) -> Array:
        """Pad every side."""
        return pad(image, *margins(self.padding), self.fill_value, self.padding_mode)

    def on_pil(self, image: Any) -> Any:
        """A constant border by Pillow, in any mode; a palette stays."""
        if self.padding_mode == Border.CONSTANT:
            operations = extra("PIL.ImageOps", "pillow", "a Pillow image")
            expanded = operations.expand(image, margins(self.padding), pillow_fill(self.fill_value, image))
        else:
            expanded = to_pil(self.apply(np.asarray(image)))
        if image.mode == "P":
            expanded.putpalette(image.getpalette())
        return expanded


@frozen
class PadToSize(ImageOperation):
    """A border that brings the image to `size`; it stands in the middle, or at `offset` (top, left).

    >>> PadToSize((1, 4))(np.array([[1, 2]], np.uint8))
    array([[0, 1, 2, 0]], dtype=uint8)
    """

    size: int | tuple[int, int]
    offset: int | tuple[int, int] | None = None
    fill_value: Fill = 0
    padding_mode: Border = Border.CONSTANT
    pillow = False

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)
        if self.offset is not None:
            pair(self, "offset", self.offset, whole, 0)
        check_fill(self, self.fill_value)
        member(self, "padding_mode", self.padding_mode, Border)

    def apply(self, image: Array) -> Array:
        """The image must fit in."""
        (height, width), (rows, columns) = pair(self, "size", self.size, whole, 1, LARGEST), image.shape[:2]
        if self.offset is None:
            top, left = (height - rows) // 2, (width - columns) // 2
        else:
            top, left = pair(self, "offset", self.offset, whole, 0)
        bottom, right = height - rows - top, width - columns - left
        if min(top, left, bottom, right) < 0:
            raise ShapeError(
                "the image does not fit into the padded size",
                given={"size": (height, width), "offset": (top, left), "image": image.shape},
            )
        return pad(image, left, top, right, bottom, self.fill_value, self.padding_mode)


@frozen
class SlicePatches(ImageOperation):
    """The image cut into num_height x num_width equal patches, row by row; what does not divide is padded or dropped.

    >>> SlicePatches(1, 2)(np.array([[1, 2, 3, 4]]))
    (array([[1, 2]]), array([[3, 4]]))
    """

    num_height: int = 1
    num_width: int = 1
    slice_mode: SliceMode = SliceMode.PAD
    fill_value: int = 0
    pillow = False

    def __post_init__(self) -> None:
        whole(self, "num_height", self.num_height, 1)
        whole(self, "num_width", self.num_width, 1)
        member(self, "slice_mode", self.slice_mode, SliceMode)
        whole(self, "fill_value", self.fill_value, 0, 255)

    def on_array(self, image: Array) -> Any:
        """One image, not a stack: each image has many answers."""
        require_image(image, "SlicePatches")
        return self.apply(image.astype(np.uint8) if image.dtype == bool else image)

    def apply(self, image: Array) -> Any:
        """A tuple of patches; the image itself when it stays whole."""
        counts = np.array([self.num_height, self.num_width])
        size = np.array(image.shape[:2])
        if (counts > size).any():
            raise ArgumentError(
                "there are more patches than pixels", given={"patches": counts.tolist(), "shape": image.shape}
            )
        rows, columns = (-(-size // counts) if self.slice_mode == SliceMode.PAD else size // counts).tolist()
        if self.slice_mode == SliceMode.PAD:
            bottom, right = (counts * [rows, columns] - size).tolist()
            image = pad(image, 0, 0, right, bottom, self.fill_value, Border.CONSTANT)
        patches = tuple(
            image[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
            for i in range(self.num_height)
            for j in range(self.num_width)
        )
        return patches if len(patches) > 1 else patches[0]
