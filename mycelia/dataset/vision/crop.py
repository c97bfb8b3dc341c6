"""Cutting out a part: at a place, at the centre, at the corners, at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.checks import member, pair, sequence, truth, whole
from mycelia.dataset.transforms.base import Array, TensorOperation
from mycelia.dataset.vision.base import ImageOperation, RandomImageOperation, Steps, in_kind, size_of
from mycelia.dataset.vision.flip import HorizontalFlip, VerticalFlip
from mycelia.dataset.vision.modes import Border
from mycelia.dataset.vision.padding import LARGEST, Fill, Pad, check_fill, margins, pad
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen

Size = int | tuple[int, int]


def crop(image: Array, top: int, left: int, height: int, width: int) -> Array:
    """The pixels of a rectangle; leading axes of a stack stay.

    >>> crop(np.arange(9).reshape(3, 3), 1, 1, 1, 2)
    array([[4, 5]])
    """
    box = (slice(top, top + height), slice(left, left + width))
    return image[box] if image.ndim == 2 else image[(..., *box, slice(None))]


@frozen
class Crop(ImageOperation):
    """The rectangle of a size with its upper left corner at `coordinates` (top, left).

    >>> Crop((1, 0), (1, 2))(np.arange(9).reshape(3, 3))
    array([[3, 4]])
    """

    coordinates: tuple[int, int]
    size: Size
    stacks = True
    pillow = False

    def __post_init__(self) -> None:
        for c in sequence(self, "coordinates", self.coordinates, 2):
            whole(self, "coordinates", c, 0)
        pair(self, "size", self.size, whole, 1, LARGEST)

    def apply(self, image: Array) -> Array:
        """The rectangle must lie inside."""
        (top, left), (height, width) = self.coordinates, pair(self, "size", self.size, whole, 1, LARGEST)
        rows, columns = size_of(image)
        if top + height > rows or left + width > columns:
            raise ShapeError(
                "the crop reaches outside the image",
                given={"coordinates": (top, left), "size": (height, width), "image": image.shape},
            )
        return crop(image, top, left, height, width)

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        (top, left), (height, width) = self.coordinates, pair(self, "size", self.size, whole, 1, LARGEST)
        return image.crop((left, top, left + width, top + height))


@frozen
class CenterCrop(ImageOperation):
    """The middle of the image; where it is smaller than `size`, zeros are added around it.

    >>> CenterCrop((1, 2))(np.arange(12).reshape(3, 4))
    array([[5, 6]])
    """

    size: Size

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)

    def apply(self, image: Array) -> Array:
        """Pad what is missing, then cut."""
        height, width = pair(self, "size", self.size, whole, 1, LARGEST)
        rows, columns = image.shape[:2]
        up, across = max(height - rows, 0), max(width - columns, 0)
        if up or across:
            image = pad(image, across - across // 2, up - up // 2, across // 2, up // 2, 0, Border.CONSTANT)
            rows, columns = image.shape[:2]
        return crop(image, (rows - height) // 2, (columns - width) // 2, height, width)

    def on_pil(self, image: Any) -> Any:
        """In Pillow images an odd rest is split by rounding to even, as MindSpore does."""
        height, width = pair(self, "size", self.size, whole, 1, LARGEST)
        columns, rows = image.size
        left, top = round((columns - width) / 2), round((rows - height) / 2)
        return image.crop((left, top, left + width, top + height))


def five_boxes(rows: int, columns: int, height: int, width: int) -> list[tuple[int, int]]:
    """Corners (top, left) of the four corner crops and the central one."""
    if height > rows or width > columns:
        raise ShapeError("the crop is larger than the image", given={"size": (height, width), "image": (rows, columns)})
    bottom, right = rows - height, columns - width
    return [(0, 0), (0, right), (bottom, 0), (bottom, right), (round(bottom / 2), round(right / 2))]


@frozen
class FiveCrop(TensorOperation):
    """Five crops: upper left, upper right, lower left, lower right, centre.

    >>> [c.item() for c in FiveCrop(1)(np.arange(9).reshape(3, 3))]
    [0, 2, 6, 8, 4]
    """

    size: Size

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)

    def __call__(self, image: Any) -> Any:
        """Works on arrays and Pillow images."""
        size = pair(self, "size", self.size, whole, 1, LARGEST)
        return tuple(in_kind(Crop(corner, size), image) for corner in five_boxes(*size_of(image), *size))


@frozen
class TenCrop(TensorOperation):
    """The five crops, and the five crops of the mirrored image.

    >>> [c.item() for c in TenCrop(1)(np.arange(9).reshape(3, 3))]
    [0, 2, 6, 8, 4, 2, 0, 8, 6, 4]
    """

    size: Size
    use_vertical_flip: bool = False

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)
        truth(self, "use_vertical_flip", self.use_vertical_flip)

    def __call__(self, image: Any) -> Any:
        """Works on arrays and Pillow images."""
        mirrored = in_kind(VerticalFlip() if self.use_vertical_flip else HorizontalFlip(), image)
        return FiveCrop(self.size)(image) + FiveCrop(self.size)(mirrored)


@frozen
class RandomCrop(RandomImageOperation):
    """A crop at a random place, after an optional border; `pad_if_needed` widens an image that is too small.

    >>> RandomCrop((2, 2))(np.zeros((5, 6, 3))).shape
    (2, 2, 3)
    """

    size: Size
    padding: Any = None
    pad_if_needed: bool = False
    fill_value: Fill = 0
    padding_mode: Border = Border.CONSTANT

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)
        margins(0 if self.padding is None else self.padding, self)
        truth(self, "pad_if_needed", self.pad_if_needed)
        check_fill(self, self.fill_value)
        member(self, "padding_mode", self.padding_mode, Border)

    def frame(self, rows: int, columns: int) -> tuple[int, int, int, int]:
        """The border (left, top, right, bottom) that an image of this size gets."""
        height, width = pair(self, "size", self.size, whole, 1, LARGEST)
        left, top, right, bottom = margins(0 if self.padding is None else self.padding)
        if self.pad_if_needed:
            across, up = (max(width - columns - left - right, 0), max(height - rows - top - bottom, 0))
            left, right, top, bottom = left + across, right + across, top + up, bottom + up
        if rows + top + bottom < height or columns + left + right < width:
            raise ArgumentError(
                "the crop is larger than the image",
                given={"size": (height, width), "image": (rows, columns), "padding": self.padding},
                hint="pad_if_needed=True widens the image first",
            )
        return left, top, right, bottom

    def corner(self, rng: np.random.Generator, rows: int, columns: int) -> tuple[int, int]:
        """A random corner (top, left) in the framed image."""
        height, width = pair(self, "size", self.size, whole, 1, LARGEST)
        left, top, right, bottom = self.frame(rows, columns)
        down, across = rows + top + bottom - height, columns + left + right - width
        return int(rng.integers(down + 1)), int(rng.integers(across + 1))

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Pad, then crop at a place."""
        frame = self.frame(height, width)
        place = Crop(self.corner(rng, height, width), pair(self, "size", self.size, whole, 1, LARGEST))
        return Steps((Pad(frame, self.fill_value, self.padding_mode), place)) if any(frame) else place
