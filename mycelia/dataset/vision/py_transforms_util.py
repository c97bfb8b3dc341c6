"""The plain functions beneath the image transforms, under MindSpore's module name."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.dataset.vision.base import is_pil, to_pil
from mycelia.dataset.vision.channels import Grayscale
from mycelia.dataset.vision.codec import Decode
from mycelia.dataset.vision.convert import (
    HWC2CHW,
    HsvToRgb,
    LinearTransformation,
    Normalize,
    RgbToHsv,
    ToTensor,
    ToType,
)
from mycelia.dataset.vision.crop import CenterCrop, Crop, FiveCrop, RandomCrop, TenCrop
from mycelia.dataset.vision.erasing import Erase
from mycelia.dataset.vision.flip import HorizontalFlip, RandomHorizontalFlip, RandomVerticalFlip, VerticalFlip
from mycelia.dataset.vision.modes import Border, Inter
from mycelia.dataset.vision.padding import Pad
from mycelia.dataset.vision.policies import UniformAugment
from mycelia.dataset.vision.random_tone import RandomColor, RandomColorAdjust, RandomLighting, RandomSharpness
from mycelia.dataset.vision.resizing import RandomResizedCrop, Resize
from mycelia.dataset.vision.rotation import Perspective, RandomRotation, Rotate
from mycelia.dataset.vision.tone import (
    AdjustBrightness,
    AdjustContrast,
    AdjustGamma,
    AdjustHue,
    AdjustSaturation,
    AutoContrast,
    Equalize,
    Invert,
)

augment_error_message = "img should be PIL image. Got {}. Use Decode() for encoded data or ToPIL() for decoded data."


def is_numpy(img: Any) -> bool:
    """Whether a value is a NumPy array.

    >>> is_numpy(np.zeros(1))
    True
    """
    return isinstance(img, np.ndarray)


def _function(kind: Any, summary: str) -> Any:
    """A function of (image, *arguments) that makes a transform and applies it."""

    def call(img: Any, *args: Any, **kwargs: Any) -> Any:
        return kind(*args, **kwargs)(img)

    call.__doc__ = summary
    return call


adjust_brightness = _function(AdjustBrightness, "The image with every level times a factor.")
adjust_contrast = _function(AdjustContrast, "The image with its contrast times a factor.")
adjust_gamma = _function(AdjustGamma, "The image after gamma correction.")
adjust_hue = _function(AdjustHue, "The image with its hues turned.")
adjust_saturation = _function(AdjustSaturation, "The image with its saturation times a factor.")
auto_contrast = _function(AutoContrast, "The image stretched to the full range.")
center_crop = _function(CenterCrop, "The middle of the image.")
decode = _function(Decode, "Encoded bytes as an image.")
equalize = _function(Equalize, "The image with flat histograms.")
erase = _function(Erase, "The image with a rectangle filled.")
five_crop = _function(FiveCrop, "Four corners and the centre.")
grayscale = _function(Grayscale, "The brightness alone.")
horizontal_flip = _function(HorizontalFlip, "Left becomes right.")
hsv_to_rgb = _function(HsvToRgb, "Colours from hue, saturation and value.")
hwc_to_chw = _function(HWC2CHW, "Channels first.")
invert_color = _function(Invert, "Every level subtracted from 255.")
linear_transform = _function(LinearTransformation, "The flat image through a matrix.")
normalize = _function(Normalize, "(image - mean) / std.")
perspective = _function(Perspective, "Four corners taken to four others.")
random_color = _function(RandomColor, "A random saturation.")
random_color_adjust = _function(RandomColorAdjust, "Random brightness, contrast, saturation and hue.")
random_horizontal_flip = _function(RandomHorizontalFlip, "Left becomes right, perhaps.")
random_lighting = _function(RandomLighting, "Noise along the principal colours.")
random_resize_crop = _function(RandomResizedCrop, "A random rectangle, resized.")
random_rotation = _function(RandomRotation, "Rotation by a random angle.")
random_sharpness = _function(RandomSharpness, "A random sharpness.")
random_vertical_flip = _function(RandomVerticalFlip, "Top becomes bottom, perhaps.")
resize = _function(Resize, "The image at another size.")
rgb_to_hsv = _function(RgbToHsv, "Hue, saturation and value of colours.")
ten_crop = _function(TenCrop, "Five crops, and five of the mirrored image.")
to_tensor = _function(ToTensor, "Channels first, levels in [0, 1].")
to_type = _function(ToType, "The same elements with another type.")
uniform_augment = _function(UniformAugment, "Some of several transforms.")
vertical_flip = _function(VerticalFlip, "Top becomes bottom.")


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A rectangle of the image.

    >>> crop(np.arange(9).reshape(3, 3), 1, 1, 1, 2)
    array([[4, 5]])
    """
    return Crop((top, left), (height, width))(img)


def rotate(
    img: Any,
    angle: float,
    resample: Inter = Inter.NEAREST,
    expand: bool = False,
    center: Any = None,
    fill_value: Any = 0,
) -> Any:
    """The image turned counter-clockwise.

    >>> rotate(np.array([[1, 2, 3]], np.uint8), 180)
    array([[3, 2, 1]], dtype=uint8)
    """
    return Rotate(angle, resample, expand, center, fill_value)(img)


def random_crop(
    img: Any,
    size: Any,
    padding: Any = None,
    pad_if_needed: bool = False,
    fill_value: Any = 0,
    padding_mode: Border = Border.CONSTANT,
) -> Any:
    """A crop at a random place.

    >>> random_crop(np.zeros((4, 4)), 2).shape
    (2, 2)
    """
    return RandomCrop(size, padding, pad_if_needed, fill_value, padding_mode)(img)


def pad(img: Any, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> Any:
    """The image within a border.

    >>> pad(np.array([[5]], np.uint8), (1, 0))
    array([[0, 5, 0]], dtype=uint8)
    """
    return Pad(padding, fill_value, padding_mode)(img)


__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "augment_error_message",
    "auto_contrast",
    "center_crop",
    "crop",
    "decode",
    "equalize",
    "erase",
    "five_crop",
    "grayscale",
    "horizontal_flip",
    "hsv_to_rgb",
    "hwc_to_chw",
    "invert_color",
    "is_numpy",
    "is_pil",
    "linear_transform",
    "normalize",
    "pad",
    "perspective",
    "random_color",
    "random_color_adjust",
    "random_crop",
    "random_horizontal_flip",
    "random_lighting",
    "random_resize_crop",
    "random_rotation",
    "random_sharpness",
    "random_vertical_flip",
    "resize",
    "rgb_to_hsv",
    "rotate",
    "ten_crop",
    "to_pil",
    "to_tensor",
    "to_type",
    "uniform_augment",
    "vertical_flip",
]  # fmt: skip
