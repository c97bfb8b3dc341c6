"""The channels of an image in another order or number, and grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.checks import member, whole
from mycelia.dataset.transforms.base import Array, extra, installed
from mycelia.dataset.vision.base import ImageOperation
from mycelia.dataset.vision.colour import in_three, luma
from mycelia.dataset.vision.modes import ConvertMode
from mycelia.dataset.vision.pixels import require_image
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen


@frozen
class ConvertColor(ImageOperation):
    """The channels in another order or number.

    >>> ConvertColor(ConvertMode.COLOR_RGB2BGR)(np.array([[[1, 2, 3]]], np.uint8))
    array([[[3, 2, 1]]], dtype=uint8)
    """

    convert_mode: ConvertMode
    pillow = False

    def __post_init__(self) -> None:
        member(self, "convert_mode", self.convert_mode, ConvertMode)

    def apply(self, image: Array) -> Array:
        """The name of the mode tells both orders, its number is OpenCV's."""
        source, to = self.convert_mode.name.removeprefix("COLOR_").split("2")
        if source != "GRAY":
            require_image(image, "ConvertColor", len(source))
        if image.dtype == np.uint8 and installed("cv2"):
            opencv, planes = extra("cv2", "opencv-python-headless", "colours"), np.ascontiguousarray(image)
            grey = planes[..., 0].copy() if source == "GRAY" and image.ndim == 3 else planes
            return np.asarray(opencv.cvtColor(grey, int(self.convert_mode)))
        if source == "GRAY":
            grey = image if image.ndim == 2 else image[..., 0]
            colour = in_three(grey)
        else:
            colour = image[..., :3]
        if to == "GRAY":
            return luma(colour[..., ::-1] if source.startswith("B") else colour)
        if source != "GRAY" and source[0] != to[0]:
            colour = colour[..., ::-1]
        if len(to) == 3:
            return np.ascontiguousarray(colour)
        full = np.iinfo(image.dtype).max if image.dtype.kind in "iu" else 1
        alpha = image[..., 3:] if len(source) == 4 and source != "GRAY" else np.full_like(colour[..., :1], full)
        return np.concatenate([colour, alpha], -1)


@frozen
class Grayscale(ImageOperation):
    """The brightness alone, in one channel or repeated in three.

    >>> Grayscale()(np.array([[[255, 0, 0]]], np.uint8))
    array([[76]], dtype=uint8)
    """

    num_output_channels: int = 1

    def __post_init__(self) -> None:
        if whole(self, "num_output_channels", self.num_output_channels) not in (1, 3):
            raise ArgumentError("num_output_channels must be 1 or 3", given={"given": self.num_output_channels})

    def apply(self, image: Array) -> Array:
        """Luma; a grey image is taken as it is."""
        if image.ndim == 3 and image.shape[2] == 2:
            raise ShapeError("Grayscale needs one, three or four channels", given={"shape": image.shape})
        grey = luma(image) if image.ndim == 3 and image.shape[2] >= 3 else image.reshape(image.shape[:2])
        return grey if self.num_output_channels == 1 else in_three(grey)

    def on_pil(self, image: Any) -> Any:
        """By Pillow, from any mode."""
        grey = image.convert("L")
        return grey if self.num_output_channels == 1 else grey.convert("RGB")
