"""What an image transform is: every image of the call gets the same treatment, arrays and Pillow images alike."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import numpy as np

from mycelia.dataset import random
from mycelia.dataset.transforms.base import Array, TensorOperation, as_array, extra
from mycelia.dataset.vision.pixels import require_image
from mycelia.errors import DTypeError


def is_pil(image: Any) -> bool:
    """Whether a value is a Pillow image; Pillow is not imported for the question.

    >>> is_pil(np.zeros((2, 2)))
    False
    """
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(image, pillow.Image)


def to_pil(image: Array) -> Any:
    """An array as a Pillow image."""
    squeezed = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
    pillow = extra("PIL.Image", "pillow", "a Pillow image")
    try:
        return pillow.fromarray(np.ascontiguousarray(squeezed))
    except TypeError:
        raise DTypeError(
            "Pillow has no image of this kind",
            given={"shape": image.shape, "dtype": image.dtype},
            hint="uint8 with shape (H, W) or (H, W, 3) always fits",
        ) from None


class ImageOperation(TensorOperation):
    """A transform of one image into one image; several images are treated alike, one after another.

    `apply` gets an array (H, W) or (H, W, C); arrays with more axes are taken as stacks of images, unless the class
    says that it treats `stacks` itself.
    """

    stacks: ClassVar[bool] = False
    channels: ClassVar[int | None] = None

    def __call__(self, *images: Any) -> Any:
        results = tuple(self.on_pil(x) if is_pil(x) else self.on_array(as_array(x)) for x in images)
        return results[0] if len(results) == 1 else results

    def on_array(self, image: Array) -> Any:
        """Treat an array: directly, or image by image."""
        if image.ndim > 3 and not self.stacks:
            frames = [self.on_array(frame) for frame in image.reshape(-1, *image.shape[-3:])]
            return np.stack(frames).reshape(image.shape[:-3] + frames[0].shape)
        if not self.stacks or image.ndim < 2:
            require_image(image, type(self).__name__, self.channels)
        return self.apply(image)

    def on_pil(self, image: Any) -> Any:
        """Treat a Pillow image; the answer is one too."""
        return to_pil(self.on_array(np.asarray(image)))


class RandomImageOperation(TensorOperation):
    """A transform that draws another transform, without chance, for each call; all images of the call get that one."""

    def __call__(self, *images: Any) -> Any:
        height, width = size_of(images[0])
        return self.draw(random.current(), height, width)(*images)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """The transform for an image of this size."""
        raise AssertionError("every random transform says what it draws")


class Same(TensorOperation):
    """Leaves columns as they are.

    >>> Same()(5)
    5
    """

    def __call__(self, *columns: Any) -> Any:
        return columns[0] if len(columns) == 1 else columns


SAME = Same()


def size_of(image: Any) -> tuple[int, int]:
    """Height and width of an array (..., H, W, C) or (H, W), or of a Pillow image; (0, 0) when it is neither.

    >>> size_of(np.zeros((2, 4, 5, 3)))
    (4, 5)
    """
    if is_pil(image):
        return image.size[1], image.size[0]
    shape = np.shape(image)
    if len(shape) < 2:
        return 0, 0
    return (shape[0], shape[1]) if len(shape) == 2 else (shape[-3], shape[-2])
