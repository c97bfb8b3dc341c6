"""Transforms of an image together with its bounding boxes, rows of (x, y, width, height, ...)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.checks import number, pair, whole
from mycelia.dataset import random
from mycelia.dataset.transforms.base import Array, TensorOperation, as_array
from mycelia.dataset.vision.crop import RandomCrop, Size, crop
from mycelia.dataset.vision.flip import HorizontalFlip, VerticalFlip
from mycelia.dataset.vision.modes import Border, Inter
from mycelia.dataset.vision.padding import Fill, pad
from mycelia.dataset.vision.pixels import require_image
from mycelia.dataset.vision.resample import resize
from mycelia.dataset.vision.resizing import LARGEST, RandomResizedCrop, Resize, random_box, target
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen

Pair = tuple[Array, Array]


class BoxOperation(TensorOperation):
    """A transform of (image, boxes)."""

    def __call__(self, image: Any, boxes: Any) -> Pair:
        array, rows = as_array(image), as_array(boxes)
        require_image(array, type(self).__name__)
        if rows.ndim != 2 or rows.shape[1] < 4:
            raise ShapeError("boxes must be rows of at least (x, y, width, height)", given={"shape": rows.shape})
        height, width = array.shape[:2]
        ends = rows[:, :2] + rows[:, 2:4]
        if (rows[:, :4] < 0).any() or (ends > [width, height]).any():
            raise ArgumentError("a box reaches outside the image", given={"image": array.shape, "boxes": rows.tolist()})
        return self.move(array, rows.copy())

    def move(self, image: Array, boxes: Array) -> Pair:
        """The transform; `boxes` is a copy and may be changed."""
        raise AssertionError("every transform of boxes says how it moves them")


def crop_boxes(boxes: Array, top: int, left: int, height: int, width: int) -> Array:
    """Boxes as seen in a crop: moved, cut, and left out when nothing is seen; one row of zeros when none is left.

    >>> crop_boxes(np.array([[1.0, 1, 4, 4], [8, 8, 1, 1]]), 2, 2, 4, 4)
    array([[0., 0., 3., 3.]])
    """
    start = np.maximum(boxes[:, :2] - [left, top], 0)
    end = np.minimum(boxes[:, :2] + boxes[:, 2:4] - [left, top], [width, height])
    seen = (end > start).all(1)
    out = boxes.copy()
    out[:, :2], out[:, 2:4] = start, end - start
    return out[seen] if seen.any() else np.zeros_like(boxes[:1])


def scale_boxes(boxes: Array, down: float, across: float) -> Array:
    """Boxes of an image whose height and width were multiplied."""
    boxes[:, [0, 2]] = boxes[:, [0, 2]] * across
    boxes[:, [1, 3]] = boxes[:, [1, 3]] * down
    return boxes


def resize_with(image: Array, boxes: Array, size: Any, mode: Inter) -> Pair:
    """Image and boxes at another size."""
    rows, columns = image.shape[:2]
    height, width = target(size, rows, columns)
    return resize(image, height, width, mode), scale_boxes(boxes, height / rows, width / columns)


@frozen
class RandomHorizontalFlipWithBBox(BoxOperation):
    """Left becomes right, with probability `prob`.

    >>> RandomHorizontalFlipWithBBox(1.0)(np.zeros((8, 10, 3), np.uint8), np.array([[1.0, 2, 3, 4]]))[1]
    array([[6., 2., 3., 4.]])
    """

    prob: float = 0.5

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)

    def move(self, image: Array, boxes: Array) -> Pair:
        """Mirror x."""
        if random.current().random() >= self.prob:
            return image, boxes
        boxes[:, 0] = image.shape[1] - boxes[:, 0] - boxes[:, 2]
        return HorizontalFlip().apply(image), boxes


@frozen
class RandomVerticalFlipWithBBox(BoxOperation):
    """Top becomes bottom, with probability `prob`.

    >>> RandomVerticalFlipWithBBox(1.0)(np.zeros((8, 10, 3), np.uint8), np.array([[1.0, 1, 3, 4]]))[1]
    array([[1., 3., 3., 4.]])
    """

    prob: float = 0.5

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)

    def move(self, image: Array, boxes: Array) -> Pair:
        """Mirror y."""
        if random.current().random() >= self.prob:
            return image, boxes
        boxes[:, 1] = image.shape[0] - boxes[:, 1] - boxes[:, 3]
        return VerticalFlip().apply(image), boxes


@frozen
class ResizeWithBBox(BoxOperation):
    """Another size; boxes grow and shrink with the image.

    >>> ResizeWithBBox((16, 5))(np.zeros((8, 10, 3), np.uint8), np.array([[6.0, 2, 3, 4]]))[1]
    array([[3. , 4. , 1.5, 8. ]])
    """

    size: Size
    interpolation: Inter = Inter.LINEAR

    def __post_init__(self) -> None:
        Resize(self.size, self.interpolation)

    def move(self, image: Array, boxes: Array) -> Pair:
        """Resample and scale."""
        return resize_with(image, boxes, self.size, self.interpolation)


@frozen
class RandomResizeWithBBox(BoxOperation):
    """Another size, by an interpolation drawn at random.

    >>> RandomResizeWithBBox((4, 5))(np.zeros((8, 10, 3), np.uint8), np.array([[6.0, 2, 4, 4]]))[1]
    array([[3., 1., 2., 2.]])
    """

    size: Size

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1, LARGEST)

    def move(self, image: Array, boxes: Array) -> Pair:
        """Resample and scale."""
        modes = [Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA]
        return resize_with(image, boxes, self.size, modes[random.current().integers(len(modes))])


@frozen
class RandomCropWithBBox(BoxOperation):
    """A crop at a random place; boxes are cut with the image.

    >>> RandomCropWithBBox((8, 10))(np.zeros((8, 10, 3), np.uint8), np.array([[6.0, 2, 3, 4]]))[1]
    array([[6., 2., 3., 4.]])
    """

    size: Size
    padding: Any = None
    pad_if_needed: bool = False
    fill_value: Fill = 0
    padding_mode: Border = Border.CONSTANT

    def __post_init__(self) -> None:
        self.plain()

    def plain(self) -> RandomCrop:
        """The same crop for images alone."""
        return RandomCrop(self.size, self.padding, self.pad_if_needed, self.fill_value, self.padding_mode)

    def move(self, image: Array, boxes: Array) -> Pair:
        """Pad, cut, and see what is left."""
        height, width = pair(self, "size", self.size, whole, 1)
        rows, columns = image.shape[:2]
        left, top, right, bottom = self.plain().frame(rows, columns)
        corner = self.plain().corner(random.current(), rows, columns)
        framed = pad(image, left, top, right, bottom, self.fill_value, self.padding_mode)
        boxes[:, :2] += np.array([left, top], boxes.dtype)
        return crop(framed, *corner, height, width), crop_boxes(boxes, *corner, height, width)


@frozen
class RandomResizedCropWithBBox(BoxOperation):
    """A random rectangle resized to `size`; boxes are cut and scaled with it.

    >>> image = np.zeros((8, 10, 3), np.uint8)
    >>> RandomResizedCropWithBBox((4, 5), (1, 1), (1.25, 1.25))(image, np.array([[6.0, 2, 4, 4]]))[1]
    array([[3., 1., 2., 2.]])
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: Inter = Inter.BILINEAR
    max_attempts: int = 10

    def __post_init__(self) -> None:
        RandomResizedCrop(self.size, self.scale, self.ratio, self.interpolation, self.max_attempts)

    def move(self, image: Array, boxes: Array) -> Pair:
        """Cut, then resample."""
        size = pair(self, "size", self.size, whole, 1)
        rows, columns = image.shape[:2]
        box = random_box(random.current(), rows, columns, self.scale, self.ratio, self.max_attempts)
        return resize_with(crop(image, *box), crop_boxes(boxes, *box), size, self.interpolation)


@frozen
class BoundingBoxAugment(BoxOperation):
    """A transform applied inside a random selection of the boxes, a share `ratio` of them.

    >>> image = np.arange(4, dtype=np.uint8).reshape(1, 4)
    >>> BoundingBoxAugment(HorizontalFlip(), 1.0)(image, np.array([[0.0, 0, 2, 1]]))[0]
    array([[1, 0, 2, 3]], dtype=uint8)
    """

    transform: Any
    ratio: float = 0.3

    def __post_init__(self) -> None:
        if not callable(self.transform):
            raise DTypeError("transform must be callable", given={"transform": repr(self.transform)})
        number(self, "ratio", self.ratio, 0, 1)

    def move(self, image: Array, boxes: Array) -> Pair:
        """Boxes stay; a part that comes back with another size is resized to fit."""
        out = image.copy()
        count = min(len(boxes), max(1, round(self.ratio * len(boxes)))) if self.ratio else 0
        for i in random.current().choice(len(boxes), count, replace=False):
            x, y, width, height = (int(v) for v in boxes[i, :4])
            part = as_array(self.transform(crop(out, y, x, height, width)))
            if part.shape[:2] != (height, width):
                part = resize(part, height, width, Inter.LINEAR)
            out[y : y + height, x : x + width] = part
        return out, boxes
