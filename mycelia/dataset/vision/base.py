"""What an image transform is: every image of the call gets the same treatment, arrays and Pillow images alike."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import numpy as np

from mycelia.dataset import random
from mycelia.dataset.transforms.base import Array, TensorOperation, as_array, extra
from mycelia.dataset.vision.pixels import require_image
from mycelia.errors import ArgumentError, DTypeError, MyceliaError
from mycelia.frozen import frozen


def is_pil(image: Any) -> bool:
    """Whether a value is a Pillow image; Pillow is not imported for the question.

    >>> is_pil(np.zeros((2, 2)))
    False
    """
    kind = getattr(sys.modules.get("PIL.Image"), "Image", None)  # another thread may be importing it
    return kind is not None and isinstance(image, kind)


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
    says that it treats `stacks` itself. A Pillow image is treated by Pillow, or, where `pillow` is False, as an array.
    """

    stacks: ClassVar[bool] = False
    pillow: ClassVar[bool] = True
    channels: ClassVar[int | None] = None

    def __call__(self, *images: Any) -> Any:
        results = tuple(self.in_pillow(x) if self.pillow and is_pil(x) else self.on_array(as_array(x)) for x in images)
        return results[0] if len(results) == 1 else results

    def on_array(self, image: Array) -> Any:
        """Treat an array: directly, or image by image; truth values count as levels 0 and 1."""
        require_image(image, type(self).__name__, self.channels, stack=True)
        if self.stacks:
            return self.apply(image)
        if image.ndim > 3:
            frames = [self.on_array(frame) for frame in image.reshape(-1, *image.shape[-3:])]
            return np.stack(frames).reshape(image.shape[:-3] + frames[0].shape)
        return self.apply(image.astype(np.uint8) if image.dtype == bool else image)

    def in_pillow(self, image: Any) -> Any:
        """Treat a Pillow image by Pillow; what Pillow refuses is told in our words."""
        try:
            return self.on_pil(image)
        except MyceliaError:
            raise
        except (NotImplementedError, OSError, TypeError, ValueError) as error:
            raise ArgumentError(
                f"{type(self).__name__} cannot treat this Pillow image: {error}",
                given={"transform": self, "mode": image.mode, "size": image.size},
                hint="image.convert('RGB'), or ToNumpy() for an array",
            ) from None

    def on_pil(self, image: Any) -> Any:
        """The Pillow image that answers a Pillow image."""
        return to_pil(self.on_array(np.asarray(image)))


def in_kind(transform: ImageOperation, image: Any) -> Any:
    """The answer to a Pillow image as a Pillow image, and to an array as an array."""
    return transform.in_pillow(image) if is_pil(image) else transform.on_array(as_array(image))


class RandomImageOperation(TensorOperation):
    """A transform that draws another transform, without chance, for each call; all images of the call get that one.

    A Pillow image is treated by Pillow, or, where `pillow` is False, as an array.
    """

    pillow: ClassVar[bool] = True

    def __call__(self, *images: Any) -> Any:
        for image in images:
            if not is_pil(image):
                require_image(as_array(image), type(self).__name__, stack=True)
        drawn: Any = self.draw(random.current(), *size_of(images[0]))
        results = tuple(in_kind(drawn, x) if self.pillow else drawn(as_array(x)) for x in images)
        return results[0] if len(results) == 1 else results

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """The transform for an image of this size."""
        raise AssertionError("every random transform says what it draws")


@frozen
class Steps(ImageOperation):
    """Image transforms one after another; none leaves images as they are.

    >>> Steps(())(np.array([[5]]))
    array([[5]])
    """

    transforms: tuple[ImageOperation, ...]

    def on_array(self, image: Array) -> Any:
        """Each on the answer of the one before."""
        for transform in self.transforms:
            image = transform.on_array(image)
        return image

    def on_pil(self, image: Any) -> Any:
        """The same by Pillow."""
        for transform in self.transforms:
            image = transform.in_pillow(image)
        return image


SAME = Steps(())


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
