"""Colour and contrast of an image: each pixel by a rule of its own, or by the histogram of its channel."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mycelia.checks import number, sequence, whole
from mycelia.dataset.transforms.base import Array, extra, installed
from mycelia.dataset.vision.base import ImageOperation
from mycelia.dataset.vision.colour import (
    blend,
    equalizing,
    in_three,
    luma,
    per_channel,
    shift_hue,
    stretching,
    weighted,
)
from mycelia.dataset.vision.filters import blur, smooth
from mycelia.dataset.vision.padding import LARGEST
from mycelia.dataset.vision.pixels import look_up, saturate
from mycelia.errors import ArgumentError, DTypeError
from mycelia.frozen import frozen


def require_bytes(image: Array, name: str) -> None:
    """Raise unless the elements are uint8."""
    if image.dtype != np.uint8:
        raise DTypeError(f"{name} needs an image of uint8", given={"dtype": image.dtype})


def by_level(image: Array, rule: Callable[[Array], Array]) -> Array:
    """A rule for single levels applied to an image; for bytes it is asked once for each of the 256.

    >>> by_level(np.array([[1, 2]], np.uint8), lambda levels: levels + 1)
    array([[2, 3]], dtype=uint8)
    """
    return look_up(rule(np.arange(256, dtype=np.uint8)), image) if image.dtype == np.uint8 else rule(image)


def enhanced(image: Any, kind: str, factor: float) -> Any:
    """A Pillow image with its brightness, contrast, colour or sharpness times a factor."""
    return getattr(extra("PIL.ImageEnhance", "pillow", "a Pillow image"), kind)(image).enhance(factor)


@frozen
class AdjustBrightness(ImageOperation):
    """Every level times a factor.

    >>> AdjustBrightness(2.0)(np.array([[10, 200]], np.uint8))
    array([[ 20, 255]], dtype=uint8)
    """

    brightness_factor: float

    def __post_init__(self) -> None:
        number(self, "brightness_factor", self.brightness_factor, 0, LARGEST)

    def apply(self, image: Array) -> Array:
        """Blend with black; OpenCV multiplies bytes faster than it looks them up."""
        if image.dtype == np.uint8 and installed("cv2"):
            opencv, rows = extra("cv2", "opencv-python-headless", "brightness"), np.ascontiguousarray(image)
            factor = float(np.float32(self.brightness_factor))
            return np.asarray(opencv.convertScaleAbs(rows.reshape(len(rows), -1), alpha=factor)).reshape(image.shape)
        return by_level(image, lambda levels: saturate(levels * np.float32(self.brightness_factor), levels.dtype))

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        return enhanced(image, "Brightness", self.brightness_factor)


@frozen
class AdjustContrast(ImageOperation):
    """The distance of every level from the mean brightness times a factor.

    >>> AdjustContrast(0.0)(np.array([[[0, 0, 0], [100, 100, 100]]], np.uint8)).ravel()
    array([50, 50, 50, 50, 50, 50], dtype=uint8)
    """

    contrast_factor: float

    def __post_init__(self) -> None:
        number(self, "contrast_factor", self.contrast_factor, 0, LARGEST)

    def apply(self, image: Array) -> Array:
        """Blend with the mean."""
        grey = luma(image) if image.ndim == 3 and image.shape[2] >= 3 else image
        mean = grey.mean(dtype=np.float64)
        grey_level = int(mean + 0.5) if image.dtype.kind in "iu" else mean
        flat, share = np.asarray(grey_level, image.dtype), np.float32(self.contrast_factor)
        return by_level(image, lambda levels: weighted(flat, np.float32(1) - share, levels, share))

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        return enhanced(image, "Contrast", self.contrast_factor)


@frozen
class AdjustSaturation(ImageOperation):
    """The distance of every colour from its grey times a factor.

    >>> AdjustSaturation(0.0)(np.array([[[255, 0, 0]]], np.uint8))
    array([[[76, 76, 76]]], dtype=uint8)
    """

    saturation_factor: float
    channels = 3

    def __post_init__(self) -> None:
        number(self, "saturation_factor", self.saturation_factor, 0, LARGEST)

    def apply(self, image: Array) -> Array:
        """Blend with the grey image."""
        share = np.float32(self.saturation_factor)
        return weighted(in_three(luma(image)), np.float32(1) - share, image, share)

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        return enhanced(image, "Color", self.saturation_factor)


@frozen
class AdjustHue(ImageOperation):
    """Every hue moved by a part of the colour circle, from -0.5 to 0.5.

    >>> AdjustHue(0.0)(np.array([[[255, 0, 0]]], np.uint8))
    array([[[255,   0,   0]]], dtype=uint8)
    """

    hue_factor: float
    channels = 3

    def __post_init__(self) -> None:
        number(self, "hue_factor", self.hue_factor, -0.5, 0.5)

    def apply(self, image: Array) -> Array:
        """Turn the circle."""
        return shift_hue(image, self.hue_factor)

    def on_pil(self, image: Any) -> Any:
        """Pillow images are turned in Pillow's own hue, saturation and value; what has no colour stays."""
        if image.mode in ("L", "1", "I", "F"):
            return image
        pillow = extra("PIL.Image", "pillow", "a Pillow image")
        hue, saturation, value = image.convert("HSV").split()
        turned = np.asarray(hue) + np.int64(int(self.hue_factor * 255))
        bands = (pillow.fromarray((turned % 256).astype(np.uint8)), saturation, value)
        return pillow.merge("HSV", bands).convert(image.mode)


@frozen
class AdjustSharpness(ImageOperation):
    """The distance of the image from a smoothed one times a factor.

    >>> AdjustSharpness(3.0)(np.full((4, 4), 9, np.uint8))[1]
    array([9, 9, 9, 9], dtype=uint8)
    """

    sharpness_factor: float
    pillow = False

    def __post_init__(self) -> None:
        number(self, "sharpness_factor", self.sharpness_factor, 0, LARGEST)

    def apply(self, image: Array) -> Array:
        """Blend with the smooth image."""
        return blend(image, smooth(image), self.sharpness_factor)

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        return enhanced(image, "Sharpness", self.sharpness_factor)


@frozen
class AdjustGamma(ImageOperation):
    """255 * gain * (level / 255) ** gamma; for a float image, gain * level ** gamma.

    >>> AdjustGamma(2.0)(np.array([[0, 128, 255]], np.uint8))
    array([[  0,  64, 255]], dtype=uint8)
    """

    gamma: float
    gain: float = 1
    stacks = True

    def __post_init__(self) -> None:
        number(self, "gamma", self.gamma, 0, LARGEST)
        number(self, "gain", self.gain, -LARGEST, LARGEST)

    def apply(self, image: Array) -> Array:
        """By a table for bytes."""
        if image.dtype == np.uint8:
            return look_up(self.table(), image)
        if image.dtype.kind != "f":
            raise DTypeError("AdjustGamma needs an image of uint8 or of floats", given={"dtype": image.dtype})
        single = image.astype(np.float32, copy=False)
        return np.asarray(np.clip(single ** np.float32(self.gamma) * np.float32(self.gain), 0, 1))

    def table(self) -> Array:
        """The new level of each of the 256."""
        levels = (np.arange(256) / 255) ** self.gamma * self.gain * 255.999
        return np.clip(np.floor(levels), 0, 255).astype(np.uint8)

    def on_pil(self, image: Any) -> Any:
        """One or three bands through the table; more stay as they are, as in MindSpore."""
        bands = len(image.getbands())
        return image.point(self.table().tolist() * bands) if bands in (1, 3) else image


@frozen
class AutoContrast(ImageOperation):
    """Each channel stretched to the full range, after `cutoff` percent at both ends; levels in `ignore` do not count.

    >>> AutoContrast()(np.array([[50, 100, 150]], np.uint8))
    array([[  0, 127, 255]], dtype=uint8)
    """

    cutoff: float = 0.0
    ignore: Any = None

    def __post_init__(self) -> None:
        number(self, "cutoff", self.cutoff, 0, 50)
        if self.cutoff == 50:
            raise ArgumentError("cutoff must be below 50", given={"cutoff": self.cutoff})
        for level in self.ignored():
            whole(self, "ignore", level, 0, 255)

    def ignored(self) -> tuple[int, ...]:
        """The levels that do not count."""
        if self.ignore is None:
            return ()
        return (self.ignore,) if isinstance(self.ignore, numbers.Integral) else sequence(self, "ignore", self.ignore)

    def apply(self, image: Array) -> Array:
        """Bytes only: a histogram is needed."""
        require_bytes(image, "AutoContrast")
        return per_channel(image, partial(stretching, cutoff=self.cutoff, ignore=self.ignored()))

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        operations = extra("PIL.ImageOps", "pillow", "a Pillow image")
        return operations.autocontrast(image, self.cutoff, list(self.ignored()) or None)


@frozen
class Equalize(ImageOperation):
    """Each channel with a flat histogram.

    >>> Equalize()(np.full((2, 2), 7, np.uint8))[0]
    array([7, 7], dtype=uint8)
    """

    def apply(self, image: Array) -> Array:
        """Bytes only: a histogram is needed."""
        require_bytes(image, "Equalize")
        return per_channel(image, equalizing)

    def on_pil(self, image: Any) -> Any:
        """Pillow images are equalized by Pillow, which counts in whole steps."""
        return extra("PIL.ImageOps", "pillow", "a Pillow image").equalize(image)


@frozen
class Invert(ImageOperation):
    """Every level subtracted from 255.

    >>> Invert()(np.array([[0, 100]], np.uint8))
    array([[255, 155]], dtype=uint8)
    """

    stacks = True

    def apply(self, image: Array) -> Array:
        """255 - image, held within the range of its type."""
        if image.dtype == np.uint8:
            return np.bitwise_not(image)
        return saturate(255 - image.astype(np.result_type(image.dtype, np.float32), copy=False), image.dtype)

    def on_pil(self, image: Any) -> Any:
        """By Pillow."""
        return extra("PIL.ImageOps", "pillow", "a Pillow image").invert(image)


@frozen
class Posterize(ImageOperation):
    """Only the highest `bits` bits of every level.

    >>> Posterize(1)(np.array([[100, 200]], np.uint8))
    array([[  0, 128]], dtype=uint8)
    """

    bits: int
    pillow = False

    def __post_init__(self) -> None:
        whole(self, "bits", self.bits, 0, 8)

    def apply(self, image: Array) -> Array:
        """Mask the lower bits."""
        require_bytes(image, "Posterize")
        return image & np.uint8(256 - (1 << (8 - self.bits)))


@frozen
class Solarize(ImageOperation):
    """Levels within [min, max] inverted; with one number, or min = max, all levels from there up.

    >>> Solarize(100)(np.array([[99, 100, 255]], np.uint8))
    array([[ 99, 155,   0]], dtype=uint8)
    """

    threshold: Any
    pillow = False

    def __post_init__(self) -> None:
        self.band()

    def band(self) -> tuple[float, float]:
        """The levels that are inverted, both ends included."""
        pair = (self.threshold,) * 2 if isinstance(self.threshold, numbers.Real) else self.threshold
        low, high = (number(self, "threshold", t, 0, 255) for t in sequence(self, "threshold", pair, 2))
        if low > high:
            raise ArgumentError("threshold must be (min, max) with min <= max", given={"threshold": pair})
        return low, math.inf if low == high else high

    def apply(self, image: Array) -> Array:
        """Invert within the band."""
        low, high = self.band()
        return by_level(image, lambda x: np.where((x >= low) & (x <= high), Invert().apply(x), x))


@frozen
class GaussianBlur(ImageOperation):
    """A Gaussian filter of odd size; sizes and sigmas are (width, height). Without sigma the width decides for both.

    >>> GaussianBlur(3, 1.0)(np.full((3, 3), 5, np.uint8))[0]
    array([5, 5, 5], dtype=uint8)
    """

    kernel_size: Any
    sigma: Any = None
    pillow = False

    def __post_init__(self) -> None:
        for size in self.sizes():
            if whole(self, "kernel_size", size, 1, LARGEST) % 2 == 0:
                raise ArgumentError("kernel_size must be odd", given={"kernel_size": self.kernel_size})
        for sigma in self.sigmas():
            number(self, "sigma", sigma, 0, LARGEST)

    def sizes(self) -> tuple[int, ...]:
        """Width and height of the kernel."""
        size = self.kernel_size
        return (size, size) if isinstance(size, numbers.Real) else sequence(self, "kernel_size", size, 2)

    def sigmas(self) -> tuple[float, ...]:
        """Standard deviations along width and height; 0 stands for "from the size"."""
        sigma = 0.0 if self.sigma is None else self.sigma
        return (sigma, sigma) if isinstance(sigma, numbers.Real) else sequence(self, "sigma", sigma, 2)

    def apply(self, image: Array) -> Array:
        """Two passes with mirrored borders."""
        (width, height), (along_x, along_y) = self.sizes(), self.sigmas()
        spread = along_x or ((width - 1) * 0.5 - 1) * 0.3 + 0.8
        return blur(image, width, height, spread, along_y or spread)
