"""Resizing, alone and after a crop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycelia.checks import member, pair, span, whole
from mycelia.dataset import random
from mycelia.dataset.transforms.base import Array, TensorOperation, extra
from mycelia.dataset.vision.base import ImageOperation, RandomImageOperation
from mycelia.dataset.vision.crop import Size, crop
from mycelia.dataset.vision.modes import Inter
from mycelia.dataset.vision.pixels import require_image
from mycelia.dataset.vision.resample import resize
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen

LARGEST = 16777216
PILLOW = {Inter.NEAREST: "NEAREST", Inter.ANTIALIAS: "LANCZOS", Inter.LINEAR: "BILINEAR", Inter.CUBIC: "BICUBIC",
          Inter.AREA: "BOX", Inter.PILCUBIC: "BICUBIC"}  # fmt: skip


def pillow_filter(mode: Inter) -> Any:
    """Pillow's name of an interpolation."""
    return getattr(extra("PIL.Image", "pillow", "a Pillow image").Resampling, PILLOW[mode])


def target(size: Any, rows: int, columns: int) -> tuple[int, int]:
    """Height and width meant by `size`: a pair as it is; a number is the shorter side, the ratio kept.

    >>> target(10, 20, 50)
    (10, 25)
    """
    if not isinstance(size, (int, np.integer)):
        height, width = pair("Resize", "size", size, whole, 1, LARGEST)
        return height, width
    if rows < columns:
        return int(size), max(columns * int(size) // rows, 1)
    return max(rows * int(size) // columns, 1), int(size)


@frozen
class Resize(ImageOperation):
    """The image at another size; a single number is the shorter side, and the other keeps the ratio.

    >>> Resize((1, 4))(np.array([[0, 100]], np.uint8))
    array([[  0,  25,  75, 100]], dtype=uint8)
    """

    size: Size
    interpolation: Inter = Inter.LINEAR

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)
        member(self, "interpolation", self.interpolation, Inter)

    def apply(self, image: Array) -> Array:
        """Resample along both axes."""
        return resize(image, *target(self.size, *image.shape[:2]), self.interpolation)

    def on_pil(self, image: Any) -> Any:
        """Pillow images are resampled by Pillow, whose filters widen when the image shrinks."""
        height, width = target(self.size, image.size[1], image.size[0])
        return image.resize((width, height), pillow_filter(self.interpolation))


@frozen
class RandomResize(RandomImageOperation):
    """Resizing with an interpolation drawn at random.

    >>> RandomResize((3, 4))(np.zeros((8, 9, 3), np.uint8)).shape
    (3, 4, 3)
    """

    size: Size

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """One of nearest, linear, cubic and area."""
        modes = [Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA]
        return Resize(self.size, modes[rng.integers(len(modes))])


@frozen
class ResizedCrop(ImageOperation):
    """A rectangle of the image, resized; a single number as size means a square here.

    >>> ResizedCrop(0, 1, 1, 1, (1, 2))(np.array([[3, 7]], np.uint8))
    array([[7, 7]], dtype=uint8)
    """

    top: int
    left: int
    height: int
    width: int
    size: Size
    interpolation: Inter = Inter.BILINEAR

    pillow = False

    def __post_init__(self) -> None:
        for name, least in {"top": 0, "left": 0, "height": 1, "width": 1}.items():
            whole(self, name, getattr(self, name), least)
        pair(self, "size", self.size, whole, 1, LARGEST)
        member(self, "interpolation", self.interpolation, Inter)

    def apply(self, image: Array) -> Array:
        """Cut, then resample."""
        rows, columns = image.shape[:2]
        if self.top + self.height > rows or self.left + self.width > columns:
            raise ShapeError("the crop reaches outside the image", given={"crop": self, "image": image.shape})
        part = crop(image, self.top, self.left, self.height, self.width)
        return resize(part, *pair(self, "size", self.size, whole, 1), self.interpolation)

    def on_pil(self, image: Any) -> Any:
        """Cut and resample by Pillow."""
        part = image.crop((self.left, self.top, self.left + self.width, self.top + self.height))
        return Resize(pair(self, "size", self.size, whole, 1), self.interpolation).on_pil(part)


def random_box(
    rng: np.random.Generator, rows: int, columns: int, scale: Any, ratio: Any, attempts: int
) -> tuple[int, int, int, int]:
    """A random rectangle (top, left, height, width) with a share of the area and an aspect ratio within bounds.

    After `attempts` tries that do not fit it is the central rectangle with the ratio nearest to the image's own.

    >>> random_box(np.random.default_rng(0), 10, 20, (1, 1), (2, 2), 1)
    (0, 0, 10, 20)
    """
    area = rows * columns
    for _ in range(attempts):
        share = rng.uniform(*scale) * area
        aspect = math.exp(rng.uniform(math.log(ratio[0]), math.log(ratio[1])))
        width, height = round(math.sqrt(share * aspect)), round(math.sqrt(share / aspect))
        if 0 < width <= columns and 0 < height <= rows:
            return int(rng.integers(rows - height + 1)), int(rng.integers(columns - width + 1)), height, width
    aspect = min(max(columns / rows, ratio[0]), ratio[1])
    width, height = min(columns, round(rows * aspect)), min(rows, round(columns / aspect))
    return (rows - height) // 2, (columns - width) // 2, max(height, 1), max(width, 1)


@frozen
class RandomResizedCrop(RandomImageOperation):
    """A random rectangle, `scale` of the area with an aspect `ratio`, resized to `size`.

    >>> RandomResizedCrop((5, 7))(np.zeros((20, 30, 3), np.uint8)).shape
    (5, 7, 3)
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: Inter = Inter.BILINEAR
    max_attempts: int = 10

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)
        if span(self, "scale", self.scale, 0)[1] == 0:
            raise ArgumentError("scale must reach above 0", given={"scale": self.scale})
        if span(self, "ratio", self.ratio, 0)[0] == 0:
            raise ArgumentError("ratio must be above 0", given={"ratio": self.ratio})
        member(self, "interpolation", self.interpolation, Inter)
        whole(self, "max_attempts", self.max_attempts, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Crop at a place and resize."""
        box = random_box(rng, height, width, self.scale, self.ratio, self.max_attempts)
        return ResizedCrop(*box, self.size, self.interpolation)

    def box(self, height: int, width: int) -> tuple[int, int, int, int]:
        """The rectangle alone, drawn as a call draws it."""
        return random_box(random.current(), height, width, self.scale, self.ratio, self.max_attempts)

    def resized(self, part: Array) -> Array:
        """What a call does with the rectangle."""
        require_image(part, type(self).__name__)
        return resize(part, *pair(self, "size", self.size, whole, 1), self.interpolation)
