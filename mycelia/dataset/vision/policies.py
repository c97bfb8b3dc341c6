"""Augmentation by policy: AutoAugment, RandAugment, TrivialAugment, UniformAugment, over one set of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia.checks import member, number, sequence, whole
from mycelia.dataset import random
from mycelia.dataset.transforms.base import Array, TensorOperation
from mycelia.dataset.transforms.compose import run
from mycelia.dataset.transforms.validators import check_random_transform_ops
from mycelia.dataset.vision import tone
from mycelia.dataset.vision.base import SAME, ImageOperation, RandomImageOperation, Steps
from mycelia.dataset.vision.modes import AutoAugmentPolicy, Inter
from mycelia.dataset.vision.padding import LARGEST, Fill, check_fill
from mycelia.dataset.vision.rotation import Affine, Rotate
from mycelia.dataset.vision.warp import warp
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen

Make = Callable[[float, Inter, Fill], ImageOperation]


@frozen
class Move(ImageOperation):
    """Shift by pixels.

    >>> Move(shift_x=1)(np.array([[1, 2, 3]], np.uint8))
    array([[0, 1, 2]], dtype=uint8)
    """

    shift_x: float = 0.0
    shift_y: float = 0.0
    resample: Inter = Inter.NEAREST
    fill_value: Fill = 0

    def apply(self, image: Array) -> Array:
        """One inverse warp."""
        forward = np.array([[1, 0, self.shift_x], [0, 1, self.shift_y], [0, 0, 1]])
        height, width = image.shape[:2]
        return warp(image, forward, height, width, self.resample, self.fill_value)


def lean(along_x: float, along_y: float, inter: Inter, fill: Fill) -> ImageOperation:
    """Shear about the centre by angles in radians."""
    return Affine(0.0, (0.0, 0.0), 1.0, (math.degrees(along_x), math.degrees(along_y)), inter, fill)


def toned(kind: Callable[[Any], ImageOperation], argument: Callable[[float], Any]) -> Make:
    """How to make a tone transform from a magnitude."""
    return lambda m, inter, fill: kind(argument(m))


def by_factor(magnitude: float) -> float:
    """The factor 1 + magnitude, added in single precision as MindSpore does."""
    return float(np.float32(1) + np.float32(magnitude))


def without_magnitude(kind: Callable[[], ImageOperation]) -> Make:
    """How to make a transform that has no magnitude."""
    return lambda m, inter, fill: kind()


OPERATIONS: dict[str, Make] = {
    "Identity": without_magnitude(lambda: SAME),
    "ShearX": lambda m, inter, fill: lean(m, 0, inter, fill),
    "ShearY": lambda m, inter, fill: lean(0, m, inter, fill),
    "TranslateX": lambda m, inter, fill: Move(m, 0, inter, fill),
    "TranslateY": lambda m, inter, fill: Move(0, m, inter, fill),
    "Rotate": lambda m, inter, fill: Rotate(m, inter, fill_value=fill),
    "Brightness": toned(tone.AdjustBrightness, by_factor),
    "Color": toned(tone.AdjustSaturation, by_factor),
    "Contrast": toned(tone.AdjustContrast, by_factor),
    "Sharpness": toned(tone.AdjustSharpness, by_factor),
    "Posterize": toned(tone.Posterize, int),
    "Solarize": toned(tone.Solarize, float),
    "AutoContrast": without_magnitude(tone.AutoContrast),
    "Equalize": without_magnitude(tone.Equalize),
    "Invert": without_magnitude(tone.Invert),
}
SIGNED = {"ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness"}


@frozen
class Reach:
    """The largest magnitude of each kind of operation; between none and that, magnitudes lie evenly in bins."""

    shear: float
    rotate: float
    enhance: float
    posterize: int  # bits lost
    solarize: int  # the level above which nothing is inverted when the magnitude is none
    translate: Callable[[int], float]  # of the side

    def magnitude(self, name: str, level: int, bins: int, height: int, width: int) -> float:
        """The magnitude of one level out of `bins`, for an image of this size, unsigned."""
        part = level / (bins - 1)
        match name:
            case "ShearX" | "ShearY":
                return self.shear * part
            case "TranslateX":
                return self.translate(width) * part
            case "TranslateY":
                return self.translate(height) * part
            case "Rotate":
                return self.rotate * part
            case "Posterize":
                return 8 - round(self.posterize * part)
            case "Solarize":
                return self.solarize * (1 - part)
            case _:
                return float(np.float32(level) * (np.float32(self.enhance) / np.float32(bins - 1)))


LEARNED = Reach(0.3, 30.0, 0.9, 4, 256, lambda side: side * 150 / 331)
USUAL = Reach(0.3, 30.0, 0.9, 4, 255, lambda side: side * 150 / 331)
WIDE = Reach(0.99, 135.0, 0.99, 6, 255, lambda side: 32)


def operation(
    rng: np.random.Generator, name: str, magnitude: float, interpolation: Inter, fill: Fill
) -> ImageOperation:
    """The named transform at a magnitude, its sign drawn where it has one."""
    sign = -1 if name in SIGNED and rng.random() < 0.5 else 1
    return OPERATIONS[name](sign * magnitude, interpolation, fill)


def pairs(text: str) -> list[list[tuple[str, float, int]]]:
    """A policy from its text: lines of "name probability level, name probability level"."""
    lines = (line.split(",") for line in text.strip().splitlines())
    return [[(n, float(p), int(m)) for n, p, m in (step.split() for step in line)] for line in lines]


# Cubuk et al., AutoAugment (2019), tables 7 to 9: name, probability, level; 0 where the operation has no magnitude.
POLICIES = {
    AutoAugmentPolicy.IMAGENET: pairs("""
Posterize 0.4 8, Rotate 0.6 9
Solarize 0.6 5, AutoContrast 0.6 0
Equalize 0.8 0, Equalize 0.6 0
Posterize 0.6 7, Posterize 0.6 6
Equalize 0.4 0, Solarize 0.2 4
Equalize 0.4 0, Rotate 0.8 8
Solarize 0.6 3, Equalize 0.6 0
Posterize 0.8 5, Equalize 1.0 0
Rotate 0.2 3, Solarize 0.6 8
Equalize 0.6 0, Posterize 0.4 6
Rotate 0.8 8, Color 0.4 0
Rotate 0.4 9, Equalize 0.6 0
Equalize 0.0 0, Equalize 0.8 0
Invert 0.6 0, Equalize 1.0 0
Color 0.6 4, Contrast 1.0 8
Rotate 0.8 8, Color 1.0 2
Color 0.8 8, Solarize 0.8 7
Sharpness 0.4 7, Invert 0.6 0
ShearX 0.6 5, Equalize 1.0 0
Color 0.4 0, Equalize 0.6 0
Equalize 0.4 0, Solarize 0.2 4
Solarize 0.6 5, AutoContrast 0.6 0
Invert 0.6 0, Equalize 1.0 0
Color 0.6 4, Contrast 1.0 8
Equalize 0.8 0, Equalize 0.6 0
"""),
    AutoAugmentPolicy.CIFAR10: pairs("""
Invert 0.1 0, Contrast 0.2 6
Rotate 0.7 2, TranslateX 0.3 9
Sharpness 0.8 1, Sharpness 0.9 3
ShearY 0.5 8, TranslateY 0.7 9
AutoContrast 0.5 0, Equalize 0.9 0
ShearY 0.2 7, Posterize 0.3 7
Color 0.4 3, Brightness 0.6 7
Sharpness 0.3 9, Brightness 0.7 9
Equalize 0.6 0, Equalize 0.5 0
Contrast 0.6 7, Sharpness 0.6 5
Color 0.7 7, TranslateX 0.5 8
Equalize 0.8 0, Invert 0.1 0
TranslateY 0.4 3, Sharpness 0.2 6
Brightness 0.9 6, Color 0.2 8
Solarize 0.5 2, Invert 0.0 0
TranslateY 0.9 9, TranslateY 0.7 9
Equalize 0.2 0, Equalize 0.6 0
Color 0.9 9, Equalize 0.6 0
AutoContrast 0.8 0, Solarize 0.2 8
Brightness 0.1 3, Color 0.7 0
Solarize 0.4 5, AutoContrast 0.9 0
AutoContrast 0.9 0, Solarize 0.8 3
TranslateY 0.7 9, AutoContrast 0.9 0
Equalize 0.3 0, AutoContrast 0.4 0
Equalize 0.2 0, AutoContrast 0.6 0
"""),
    AutoAugmentPolicy.SVHN: pairs("""
ShearX 0.9 4, Invert 0.2 0
ShearY 0.9 8, Invert 0.7 0
Equalize 0.6 0, Solarize 0.6 6
Invert 0.9 0, Equalize 0.6 0
Equalize 0.6 0, Rotate 0.9 3
ShearX 0.9 4, AutoContrast 0.8 0
ShearY 0.9 8, Invert 0.4 0
ShearY 0.9 5, Solarize 0.2 6
Invert 0.9 0, AutoContrast 0.8 0
Equalize 0.6 0, Rotate 0.9 3
ShearX 0.9 4, Solarize 0.3 3
ShearY 0.8 8, Invert 0.7 0
Equalize 0.9 0, TranslateY 0.6 6
Invert 0.9 0, Equalize 0.6 0
Contrast 0.3 3, Rotate 0.8 4
Invert 0.8 0, TranslateY 0.0 2
ShearY 0.7 6, Solarize 0.4 8
Invert 0.6 0, Rotate 0.8 4
ShearY 0.3 7, TranslateX 0.9 3
ShearX 0.1 6, Invert 0.6 0
Solarize 0.7 2, TranslateY 0.6 7
ShearY 0.8 4, Invert 0.8 0
ShearX 0.7 9, TranslateY 0.8 3
ShearY 0.8 5, AutoContrast 0.7 0
ShearX 0.7 2, Invert 0.1 0
"""),
}


@frozen
class AutoAugment(RandomImageOperation):
    """One of 25 learned pairs of operations, each applied with its own probability.

    >>> AutoAugment()(np.zeros((8, 8, 3), np.uint8)).shape
    (8, 8, 3)
    """

    policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET
    interpolation: Inter = Inter.NEAREST
    fill_value: Fill = 0
    pillow = False

    def __post_init__(self) -> None:
        member(self, "policy", self.policy, AutoAugmentPolicy)
        member(self, "interpolation", self.interpolation, Inter)
        check_fill(self, self.fill_value)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """The operations of a pair that come up; levels are out of ten."""
        table = POLICIES[self.policy]
        steps: list[ImageOperation] = []
        for name, prob, level in table[rng.integers(len(table))]:
            if rng.random() < prob:
                magnitude = LEARNED.magnitude(name, level, 10, height, width)
                steps.append(operation(rng, name, magnitude, self.interpolation, self.fill_value))
        return Steps(tuple(steps))


RAND_AUGMENT = ("Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color",
                "Contrast", "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize")  # fmt: skip


@frozen
class RandAugment(RandomImageOperation):
    """Several operations drawn from all, at one common magnitude.

    >>> RandAugment()(np.zeros((8, 8, 3), np.uint8)).shape
    (8, 8, 3)
    """

    num_ops: int = 2
    magnitude: int = 9
    num_magnitude_bins: int = 31
    interpolation: Inter = Inter.NEAREST
    fill_value: Fill = 0
    pillow = False

    def __post_init__(self) -> None:
        whole(self, "num_ops", self.num_ops, 0, LARGEST)
        whole(self, "num_magnitude_bins", self.num_magnitude_bins, 2, LARGEST)
        whole(self, "magnitude", self.magnitude, 0, self.num_magnitude_bins - 1)
        member(self, "interpolation", self.interpolation, Inter)
        check_fill(self, self.fill_value)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Names drawn with replacement."""
        steps: list[ImageOperation] = []
        for i in rng.integers(len(RAND_AUGMENT), size=self.num_ops):
            name = RAND_AUGMENT[i]
            magnitude = USUAL.magnitude(name, self.magnitude, self.num_magnitude_bins, height, width)
            steps.append(operation(rng, name, magnitude, self.interpolation, self.fill_value))
        return Steps(tuple(steps))


@frozen
class TrivialAugmentWide(RandomImageOperation):
    """One operation drawn from all, at a magnitude drawn from a wide range.

    >>> TrivialAugmentWide()(np.zeros((8, 8, 3), np.uint8)).shape
    (8, 8, 3)
    """

    num_magnitude_bins: int = 31
    interpolation: Inter = Inter.NEAREST
    fill_value: Fill = 0
    pillow = False

    def __post_init__(self) -> None:
        whole(self, "num_magnitude_bins", self.num_magnitude_bins, 2, LARGEST)
        member(self, "interpolation", self.interpolation, Inter)
        check_fill(self, self.fill_value)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Name, level, sign."""
        name = RAND_AUGMENT[rng.integers(len(RAND_AUGMENT))]
        level = int(rng.integers(self.num_magnitude_bins))
        magnitude = WIDE.magnitude(name, level, self.num_magnitude_bins, height, width)
        return operation(rng, name, magnitude, self.interpolation, self.fill_value)


@frozen
class UniformAugment(TensorOperation):
    """Some of the transforms, drawn without order, each then applied or not by the toss of a coin.

    >>> UniformAugment([tone.Invert(), tone.Equalize()], num_ops=1)(np.zeros((2, 2), np.uint8)).shape
    (2, 2)
    """

    transforms: Sequence[Callable[..., Any]]
    num_ops: int = 2

    def __post_init__(self) -> None:
        count = len(check_random_transform_ops(self.transforms))
        whole(self, "num_ops", self.num_ops, 1, count)

    def __call__(self, *images: Any) -> Any:
        """All images get the same."""
        rng = random.current()
        chosen = rng.choice(len(self.transforms), self.num_ops, replace=False)
        return run([self.transforms[i] for i in chosen if rng.random() < 0.5], images)


@frozen
class RandomSelectSubpolicy(TensorOperation):
    """One of several lists of (transform, probability), drawn anew for each call and run in order.

    >>> RandomSelectSubpolicy([[(tone.Invert(), 1.0)]])(np.array([[5]], np.uint8))
    array([[250]], dtype=uint8)
    """

    policy: Sequence[Sequence[tuple[Callable[..., Any], float]]]

    def __post_init__(self) -> None:
        if not sequence(self, "policy", self.policy):
            raise ArgumentError("policy must not be empty")
        for steps in self.policy:
            pairs = [sequence(self, "policy", step, 2) for step in sequence(self, "policy", steps)]
            check_random_transform_ops([operation for operation, _ in pairs])
            for _, prob in steps:
                number(self, "prob", prob, 0, 1)

    def __call__(self, *images: Any) -> Any:
        """All images get the same."""
        rng = random.current()
        steps = self.policy[int(rng.integers(len(self.policy)))]
        return run([transform for transform, prob in steps if rng.random() < prob], images)
