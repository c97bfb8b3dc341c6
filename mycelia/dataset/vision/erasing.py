"""Erasing: rectangles of an image filled with a value."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from mycelia.checks import number, sequence, span, truth, whole
from mycelia.dataset import random
from mycelia.dataset.transforms.base import Array, TensorOperation, as_array
from mycelia.dataset.vision.base import ImageOperation
from mycelia.dataset.vision.padding import LARGEST
from mycelia.dataset.vision.pixels import colour_of, saturate
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen


@frozen
class Erase(ImageOperation):
    """A rectangle of an image (H, W, C) filled with a value, or one value for each channel.

    >>> Erase(0, 1, 1, 1, 9)(np.array([[1, 2, 3]], np.uint8))
    array([[1, 9, 3]], dtype=uint8)
    """

    top: int
    left: int
    height: int
    width: int
    value: Any = 0.0
    inplace: bool = False
    pillow = False

    def __post_init__(self) -> None:
        for name, least in {"top": 0, "left": 0, "height": 1, "width": 1}.items():
            whole(self, name, getattr(self, name), least)
        levels = (self.value,) if isinstance(self.value, numbers.Real) else sequence(self, "value", self.value, 3)
        for level in levels:
            number(self, "value", level, 0, 255)
        truth(self, "inplace", self.inplace)

    def apply(self, image: Array) -> Array:
        """The rectangle must lie inside."""
        if self.top + self.height > image.shape[0] or self.left + self.width > image.shape[1]:
            raise ShapeError("the erased part reaches outside the image", given={"erase": self, "image": image.shape})
        out = image if self.inplace and image.flags.writeable else image.copy()
        colour = colour_of(self.value, image)
        out[self.top : self.top + self.height, self.left : self.left + self.width] = colour
        return out


@frozen
class RandomErasing(TensorOperation):
    """With probability `prob`, a random rectangle of an image (C, H, W) is filled with numbers or with 'random' noise.

    >>> RandomErasing(0.0)(np.ones((1, 1, 2)))
    array([[[1., 1.]]])
    """

    prob: float = 0.5
    scale: tuple[float, float] = (0.02, 0.33)
    ratio: tuple[float, float] = (0.3, 3.3)
    value: Any = 0
    inplace: bool = False
    max_attempts: int = 10

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)
        span(self, "scale", self.scale, 0, LARGEST)
        if span(self, "ratio", self.ratio, 0, LARGEST)[0] == 0:
            raise ArgumentError("ratio must be above 0", given={"ratio": self.ratio})
        if isinstance(self.value, str) and self.value != "random":
            raise ArgumentError("value must be a number, three numbers, or 'random'", given={"value": self.value})
        if not isinstance(self.value, str):
            levels = (
                (self.value,) if isinstance(self.value, numbers.Integral) else sequence(self, "value", self.value, 3)
            )
            for level in levels:
                whole(self, "value", level, 0, 255)
        truth(self, "inplace", self.inplace)
        whole(self, "max_attempts", self.max_attempts, 1, LARGEST)

    def __call__(self, image: Any) -> Any:
        """One image, channels first."""
        array = as_array(image)
        if array.ndim != 3 or array.dtype.kind not in "iufb":
            raise ShapeError(
                "RandomErasing needs an image of shape (C, H, W)", given={"shape": array.shape, "dtype": array.dtype}
            )
        rng = random.current()
        if rng.random() >= self.prob:
            return array
        out = array if self.inplace and array.flags.writeable else array.copy()
        box = self.box(rng, *array.shape[1:])
        if box is not None:
            part = out[:, box[0], box[1]]
            part[...] = self.fill(rng, part)
        return out

    def box(self, rng: np.random.Generator, rows: int, columns: int) -> tuple[slice, slice] | None:
        """The erased rows and columns; None when no try fits."""
        for _ in range(self.max_attempts):
            area = rows * columns * rng.uniform(*self.scale)
            aspect = rng.uniform(*self.ratio)  # width / height
            width = round(math.sqrt(area * aspect))
            height = round(width / aspect)
            if 0 < height < rows and 0 < width < columns:
                top, left = int(rng.integers(rows - height + 1)), int(rng.integers(columns - width + 1))
                return slice(top, top + height), slice(left, left + width)
        return None

    def fill(self, rng: np.random.Generator, part: Array) -> Array:
        """What the rectangle (C, h, w) is filled with."""
        if isinstance(self.value, str):
            noise: Array = np.asarray(rng.standard_normal(part.shape))
            return noise.astype(np.int64).astype(part.dtype) if part.dtype.kind == "u" else noise
        value = saturate(np.asarray(self.value), part.dtype).reshape(-1, 1, 1)
        if len(value) not in (1, len(part)):
            raise ShapeError("one value per channel is needed", given={"value": self.value, "channels": len(part)})
        return value


@frozen
class CutOut(TensorOperation):
    """Square patches, `length` wide, at random places set to zero; the image may be (H, W, C) or (C, H, W).

    >>> int(CutOut(2, num_patches=50)(np.ones((2, 2, 1), np.uint8)).sum())
    0
    """

    length: int
    num_patches: int = 1
    is_hwc: bool = True

    def __post_init__(self) -> None:
        whole(self, "length", self.length, 1, LARGEST)
        whole(self, "num_patches", self.num_patches, 1, LARGEST)
        truth(self, "is_hwc", self.is_hwc)

    def apply(self, image: Array) -> Array:
        """Patches may overlap, and reach over the border or lie beyond it."""
        if image.ndim != 3:
            raise ShapeError("CutOut needs an image with channels", given={"shape": image.shape})
        out = image.copy()
        plane = out if self.is_hwc else out.transpose(1, 2, 0)
        rows, columns = plane.shape[:2]
        if self.length > min(rows, columns):
            raise ShapeError("the patch is larger than the image", given={"length": self.length, "shape": image.shape})
        rng = random.current()
        for _ in range(self.num_patches):
            top, left = (int(rng.integers(-self.length, size + 1)) for size in (rows, columns))
            plane[max(top, 0) : top + self.length, max(left, 0) : left + self.length] = 0
        return out
