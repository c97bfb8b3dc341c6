"""Colour and contrast by chance: each class draws a transform of `tone`."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from mycelia.checks import number, sequence, span, whole
from mycelia.dataset.transforms.base import Array, TensorOperation
from mycelia.dataset.vision.base import SAME, ImageOperation, RandomImageOperation, Steps, to_pil
from mycelia.dataset.vision.channels import Grayscale
from mycelia.dataset.vision.colour import blend, in_three, luma
from mycelia.dataset.vision.padding import LARGEST
from mycelia.dataset.vision.pixels import look_up_each, saturate
from mycelia.dataset.vision.tone import (
    AdjustBrightness,
    AdjustContrast,
    AdjustHue,
    AdjustSaturation,
    AdjustSharpness,
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Solarize,
)
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen


@frozen
class BlendWithGrey(AdjustSaturation):
    """AdjustSaturation with the sum in the other order, which may round half a level the other way.

    >>> BlendWithGrey(0.0)(np.array([[[255, 0, 0]]], np.uint8))
    array([[[76, 76, 76]]], dtype=uint8)
    """

    def apply(self, image: Array) -> Array:
        """Blend with the grey image."""
        return blend(image, in_three(luma(image)), self.saturation_factor)


@frozen
class RandomColor(RandomImageOperation):
    """Saturation by a factor drawn from an interval.

    >>> RandomColor((0.0, 0.0))(np.array([[[255, 0, 0]]], np.uint8))
    array([[[76, 76, 76]]], dtype=uint8)
    """

    degrees: tuple[float, float] = (0.1, 1.9)

    def __post_init__(self) -> None:
        span(self, "degrees", self.degrees, 0, LARGEST)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """One saturation."""
        return BlendWithGrey(rng.uniform(*self.degrees))


@frozen
class RandomSharpness(RandomImageOperation):
    """Sharpness by a factor drawn from an interval.

    >>> RandomSharpness((1.0, 1.0))(np.array([[7]], np.uint8))
    array([[7]], dtype=uint8)
    """

    degrees: tuple[float, float] = (0.1, 1.9)

    def __post_init__(self) -> None:
        span(self, "degrees", self.degrees, 0, LARGEST)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """One sharpness."""
        return AdjustSharpness(rng.uniform(*self.degrees))


@frozen
class RandomAdjustSharpness(RandomImageOperation):
    """Sharpness by the factor `degree`, with probability `prob`.

    >>> RandomAdjustSharpness(1.0, 1.0)(np.array([[7]], np.uint8))
    array([[7]], dtype=uint8)
    """

    degree: float
    prob: float = 0.5
    pillow = False

    def __post_init__(self) -> None:
        number(self, "degree", self.degree, 0, LARGEST)
        number(self, "prob", self.prob, 0, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Sharpen or not."""
        return AdjustSharpness(self.degree) if rng.random() < self.prob else SAME


@frozen
class RandomAutoContrast(RandomImageOperation):
    """Stretched contrast, with probability `prob`.

    >>> RandomAutoContrast(prob=1.0)(np.array([[50, 100, 150]], np.uint8))
    array([[  0, 127, 255]], dtype=uint8)
    """

    cutoff: float = 0.0
    ignore: Any = None
    prob: float = 0.5
    pillow = False

    def __post_init__(self) -> None:
        AutoContrast(self.cutoff, self.ignore)
        number(self, "prob", self.prob, 0, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Stretch or not."""
        return AutoContrast(self.cutoff, self.ignore) if rng.random() < self.prob else SAME


@frozen
class RandomEqualize(RandomImageOperation):
    """A flat histogram, with probability `prob`.

    >>> RandomEqualize(0.0)(np.array([[7]], np.uint8))
    array([[7]], dtype=uint8)
    """

    prob: float = 0.5
    pillow = False

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Equalize or not."""
        return Equalize() if rng.random() < self.prob else SAME


@frozen
class RandomInvert(RandomImageOperation):
    """Inverted levels, with probability `prob`.

    >>> RandomInvert(1.0)(np.array([[55]], np.uint8))
    array([[200]], dtype=uint8)
    """

    prob: float = 0.5
    pillow = False

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Invert or not."""
        return Invert() if rng.random() < self.prob else SAME


@frozen
class RandomPosterize(RandomImageOperation):
    """A number of bits drawn from an interval, or one number.

    >>> RandomPosterize((1, 1))(np.array([[100, 200]], np.uint8))
    array([[  0, 128]], dtype=uint8)
    """

    bits: Any = (8, 8)
    pillow = False

    def __post_init__(self) -> None:
        low, high = self.interval()
        if low > high:
            raise ArgumentError("bits must be (min, max) with min <= max", given={"bits": self.bits})

    def interval(self) -> tuple[int, int]:
        """The least and the largest number of bits."""
        pair = (self.bits, self.bits) if isinstance(self.bits, numbers.Integral) else self.bits
        low, high = (whole(self, "bits", b, 1, 8) for b in sequence(self, "bits", pair, 2))
        return low, high

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """One number of bits."""
        low, high = self.interval()
        return Posterize(int(rng.integers(low, high + 1)))


@frozen
class RandomSolarize(RandomImageOperation):
    """Levels inverted within a band drawn from the interval `threshold`.

    >>> RandomSolarize((100, 100))(np.array([[99, 100, 255]], np.uint8))
    array([[ 99, 155,   0]], dtype=uint8)
    """

    threshold: tuple[int, int] = (0, 255)
    pillow = False

    def __post_init__(self) -> None:
        for level in sequence(self, "threshold", self.threshold, 2):
            whole(self, "threshold", level, 0, 255)
        Solarize(self.threshold)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Two levels, in order."""
        low, high = self.threshold
        return Solarize(tuple(np.sort(rng.integers(low, high + 1, 2)).tolist()))


@frozen
class RandomGrayscale(RandomImageOperation):
    """Grey with as many channels as before, with probability `prob`.

    >>> RandomGrayscale(1.0)(np.array([[[255, 0, 0]]], np.uint8))
    array([[[76, 76, 76]]], dtype=uint8)
    """

    prob: float = 0.1

    def __post_init__(self) -> None:
        number(self, "prob", self.prob, 0, 1)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Grey in all channels, or not; a grey image stays as it is."""
        return GreyInPlace() if rng.random() < self.prob else SAME


@frozen
class GreyInPlace(ImageOperation):
    """Grey with the number of channels unchanged.

    >>> GreyInPlace()(np.array([[7]], np.uint8))
    array([[7]], dtype=uint8)
    """

    def apply(self, image: Array) -> Array:
        """One channel stays one, three stay three."""
        colourful = image.ndim == 3 and image.shape[2] >= 3
        return Grayscale(3).apply(image) if colourful else image

    def on_pil(self, image: Any) -> Any:
        """A grey Pillow image stays one."""
        return Grayscale(1 if image.mode == "L" else 3).on_pil(image)


@frozen
class RandomColorAdjust(RandomImageOperation):
    """Brightness, contrast, saturation and hue, each by a factor from its interval, in a random order.

    A number f stands for the interval (max(0, 1 - f), 1 + f), and for hue (-f, f).

    >>> RandomColorAdjust(brightness=(2, 2))(np.array([[[10, 20, 200]]], np.uint8))
    array([[[ 20,  40, 255]]], dtype=uint8)
    """

    brightness: Any = (1, 1)
    contrast: Any = (1, 1)
    saturation: Any = (1, 1)
    hue: Any = (0, 0)

    def __post_init__(self) -> None:
        self.intervals()

    def intervals(self) -> list[tuple[float, float]]:
        """Where each of the four factors is drawn from."""
        result = []
        for name in ("brightness", "contrast", "saturation"):
            value = getattr(self, name)
            if isinstance(value, numbers.Real):
                value = (max(0.0, 1 - number(self, name, value, 0, LARGEST - 1)), 1.0 + float(value))
            result.append(span(self, name, value, 0, LARGEST))
        turn = self.hue
        if isinstance(turn, numbers.Real):
            turn = (-number(self, "hue", turn, 0, 0.5), turn)
        return [*result, span(self, "hue", turn, -0.5, 0.5)]

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """The adjustments that are not the identity, shuffled."""
        kinds = (AdjustBrightness, AdjustContrast, AdjustSaturation, AdjustHue)
        neutral = ((1, 1), (1, 1), (1, 1), (0, 0))
        chosen = [
            kind(rng.uniform(*interval))
            for kind, interval, same in zip(kinds, self.intervals(), neutral, strict=True)
            if interval != same
        ]
        return Steps(tuple(chosen[i] for i in rng.permutation(len(chosen))))


LEVELS = np.arange(256.0)


@frozen
class AddColour(ImageOperation):
    """One colour added to every pixel.

    >>> AddColour((1.0, 2.0, 3.0))(np.array([[[0, 0, 255]]], np.uint8))
    array([[[  1,   2, 255]]], dtype=uint8)
    """

    colour: tuple[float, float, float]
    channels = 3

    def apply(self, image: Array) -> Array:
        """Whole levels are rounded and held within the range of their type."""
        if image.dtype == np.uint8:
            return look_up_each([saturate(LEVELS + part, image.dtype) for part in self.colour], image)
        return saturate(image + np.array(self.colour), image.dtype)

    def on_pil(self, image: Any) -> Any:
        """In red, green and blue; Pillow images are cut to whole levels, as in MindSpore."""
        tables = [np.clip(LEVELS + part, 0, 255).astype(np.uint8) for part in self.colour]
        return to_pil(look_up_each(tables, np.asarray(image.convert("RGB"))))


@frozen
class RandomLighting(RandomImageOperation):
    """Noise along the principal axes of the colours of ImageNet, as AlexNet used; `alpha` is its deviation.

    >>> RandomLighting(0.0)(np.array([[[1, 2, 3]]], np.uint8))
    array([[[1, 2, 3]]], dtype=uint8)
    """

    alpha: float = 0.05

    def __post_init__(self) -> None:
        number(self, "alpha", self.alpha, 0, LARGEST)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """One colour for the whole image."""
        values = np.array([55.46, 4.794, 1.148])
        axes = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
        red, green, blue = (axes * values @ rng.normal(0, self.alpha, 3)).tolist()
        return AddColour((red, green, blue))
