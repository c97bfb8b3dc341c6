"""Mirroring."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.checks import number
from mycelia.dataset.transforms.base import Array, TensorOperation, extra, installed
from mycelia.dataset.vision.base import SAME, ImageOperation, RandomImageOperation
from mycelia.frozen import frozen


@frozen
class HorizontalFlip(ImageOperation):
    """Left becomes right.

    >>> HorizontalFlip()(np.array([[1, 2, 3]]))
    array([[3, 2, 1]])
    """

    stacks = True
    pillow = False

    def apply(self, image: Array) -> Array:
        """Reverse the columns; OpenCV moves bytes of colour faster than NumPy does."""
        if image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3 and installed("cv2"):
            return np.asarray(extra("cv2", "opencv-python-headless", "flipping").flip(image, 1))
        return image[:, ::-1] if image.ndim == 2 else image[..., ::-1, :]

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        return image.transpose(extra("PIL.Image", "pillow", "a Pillow image").Transpose.FLIP_LEFT_RIGHT)


@frozen
class VerticalFlip(ImageOperation):
    """Top becomes bottom.

    >>> VerticalFlip()(np.array([[1], [2]]))
    array([[2],
           [1]])
    """

    stacks = True
    pillow = False

    def apply(self, image: Array) -> Array:
        """Reverse the rows."""
        return image[::-1] if image.ndim == 2 else image[..., ::-1, :, :]

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        return image.transpose(extra("PIL.Image", "pillow", "a Pillow image").Transpose.FLIP_TOP_BOTTOM)


@frozen
class RandomHorizontalFlip(RandomImageOperation):
    """Left becomes right, with probability `prob`.

    >>> RandomHorizontalFlip(1.0)(np.array([[1, 2, 3]]))
    array([[3, 2, 1]])
    """

    prob: float = 0.5

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Flip or not."""
        return HorizontalFlip() if rng.random() < self.prob else SAME


@frozen
class RandomVerticalFlip(RandomImageOperation):
    """Top becomes bottom, with probability `prob`.

    >>> RandomVerticalFlip(1.0)(np.array([[1], [2]]))
    array([[2],
           [1]])
    """

    prob: float = 0.5

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Flip or not."""
        return VerticalFlip() if rng.random() < self.prob else SAME
