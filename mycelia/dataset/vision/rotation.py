"""Moving an image as a plane: rotation, affine maps, perspective."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from mycelia.checks import member, number, sequence, span, truth
from mycelia.dataset.transforms.base import Array, TensorOperation, extra
from mycelia.dataset.vision import warp
from mycelia.dataset.vision.base import SAME, ImageOperation, RandomImageOperation
from mycelia.dataset.vision.modes import Inter
from mycelia.dataset.vision.padding import LARGEST, Fill, check_fill, pillow_fill
from mycelia.dataset.vision.resizing import pillow_filter
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen


def middle(image: Array) -> tuple[float, float]:
    """The centre (x, y) of the pixels of an image."""
    return (image.shape[1] - 1) / 2, (image.shape[0] - 1) / 2


def around_zero(owner: Any, name: str, value: Any, least: float, most: float) -> tuple[float, float]:
    """The interval (-value, value) of a number, or the interval given.

    >>> around_zero("RandomRotation", "degrees", 30, -360, 360)
    (-30.0, 30.0)
    """
    if isinstance(value, numbers.Real):
        limit = number(owner, name, value, 0, most)
        return -limit, limit
    return span(owner, name, value, least, most)


@frozen
class Rotate(ImageOperation):
    """The image turned counter-clockwise about `center` (x, y); `expand` enlarges the frame to hold all of it.

    >>> Rotate(180)(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    """

    degrees: float
    resample: Inter = Inter.NEAREST
    expand: bool = False
    center: tuple[float, float] | None = None
    fill_value: Fill = 0
    pillow = False

    def __post_init__(self) -> None:
        number(self, "degrees", self.degrees, -LARGEST, LARGEST)
        member(self, "resample", self.resample, Inter)
        truth(self, "expand", self.expand)
        if self.center is not None:
            for coordinate in sequence(self, "center", self.center, 2):
                number(self, "center", coordinate, -LARGEST, LARGEST)
        check_fill(self, self.fill_value)

    def apply(self, image: Array) -> Array:
        """One inverse warp."""
        height, width = image.shape[:2]
        turn = warp.rotation(middle(image) if self.center is None else self.center, self.degrees)
        if self.expand:
            extent = np.abs(turn[:2, :2]) @ [width, height]
            turn[:2, 2] += extent / 2 - [width / 2, height / 2]
            width, height = np.rint(extent).astype(int).tolist()
        return warp.warp(image, turn, height, width, self.resample, self.fill_value)

    def on_pil(self, image: Any) -> Any:
        """Pillow images are turned by Pillow."""
        return image.rotate(
            self.degrees,
            pillow_filter(self.resample),
            self.expand,
            self.center,
            fillcolor=pillow_fill(self.fill_value, image),
        )


@frozen
class RandomRotation(RandomImageOperation):
    """Rotation by an angle drawn from (-degrees, degrees), or from the interval given.

    >>> RandomRotation((180, 180))(np.array([[1, 2, 3]], np.uint8))
    array([[3, 2, 1]], dtype=uint8)
    """

    degrees: Any
    resample: Inter = Inter.NEAREST
    expand: bool = False
    center: tuple[float, float] | None = None
    fill_value: Fill = 0

    def __post_init__(self) -> None:
        around_zero(self, "degrees", self.degrees, -LARGEST, LARGEST)
        Rotate(0, self.resample, self.expand, self.center, self.fill_value)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Rotation by one angle."""
        angle = rng.uniform(*around_zero(self, "degrees", self.degrees, -LARGEST, LARGEST))
        return Rotate(angle, self.resample, self.expand, self.center, self.fill_value)


@frozen
class Affine(ImageOperation):
    """The image turned clockwise, scaled, sheared about its centre, and moved by parts of its width and height.

    >>> Affine(0.0, (0.5, 0.0), 1.0, 0.0)(np.array([[1, 2]], np.uint8))
    array([[0, 1]], dtype=uint8)
    """

    degrees: float
    translate: tuple[float, float]
    scale: float
    shear: Any
    resample: Inter = Inter.NEAREST
    fill_value: Fill = 0
    pillow = False

    def __post_init__(self) -> None:
        number(self, "degrees", self.degrees, -180, 180)
        for part in sequence(self, "translate", self.translate, 2):
            number(self, "translate", part, -1, 1)
        number(self, "scale", self.scale, most=LARGEST, above=0)
        for part in self.shears():
            number(self, "shear", part, -180, 180)
        member(self, "resample", self.resample, Inter)
        check_fill(self, self.fill_value)

    def shears(self) -> tuple[float, float]:
        """Shear along x and along y."""
        if isinstance(self.shear, numbers.Real):
            return number(self, "shear", self.shear), 0.0
        along_x, along_y = sequence(self, "shear", self.shear, 2)
        return along_x, along_y

    def matrix(self, height: int, width: int, centre: tuple[float, float]) -> Array:
        """From source to output, for an image of this size."""
        move = (self.translate[0] * width, self.translate[1] * height)
        return warp.affine(centre, self.degrees, move, self.scale, self.shears())

    def apply(self, image: Array) -> Array:
        """One inverse warp."""
        height, width = image.shape[:2]
        forward = self.matrix(height, width, middle(image))
        return warp.warp(image, forward, height, width, self.resample, self.fill_value)

    def on_pil(self, image: Any) -> Any:
        """Pillow images are moved by Pillow, whose pixels have their centres at halves."""
        width, height = image.size
        inverse = np.linalg.inv(self.matrix(height, width, (width / 2, height / 2)))
        pillow = extra("PIL.Image", "pillow", "a Pillow image")
        return image.transform(
            image.size,
            pillow.Transform.AFFINE,
            inverse[:2].ravel().tolist(),
            pillow_filter(self.resample),
            fillcolor=pillow_fill(self.fill_value, image),
        )


@frozen
class RandomAffine(RandomImageOperation):
    """An affine map with angle, translation, scale and shear drawn from intervals.

    >>> RandomAffine(0, translate=(0.5, 0.5))(np.array([[1, 2]], np.uint8))
    array([[0, 1]], dtype=uint8)
    """

    degrees: Any
    translate: Any = None
    scale: Any = None
    shear: Any = None
    resample: Inter = Inter.NEAREST
    fill_value: Fill = 0

    def __post_init__(self) -> None:
        around_zero(self, "degrees", self.degrees, -LARGEST, LARGEST)
        self.intervals()
        if self.scale is not None and span(self, "scale", self.scale, 0, LARGEST)[1] == 0:
            raise ArgumentError("scale must reach above 0", given={"scale": self.scale})
        member(self, "resample", self.resample, Inter)
        check_fill(self, self.fill_value)

    def intervals(self) -> list[tuple[float, float]]:
        """Where translation along x and y, and shear along x and y, are drawn from."""
        move = sequence(self, "translate", (0, 0) if self.translate is None else self.translate, 2, 4)
        shear = 0 if self.shear is None else self.shear
        if isinstance(shear, numbers.Real):
            shear = around_zero(self, "shear", shear, -180, 180)
        lean = sequence(self, "shear", shear, 2, 4)
        moves = [span(self, "translate", part or (0, 0), -1, 1) for part in (move[:2], move[2:])]
        return moves + [span(self, "shear", part or (0, 0), -180, 180) for part in (lean[:2], lean[2:])]

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """An affine map."""
        angle = rng.uniform(*around_zero(self, "degrees", self.degrees, -LARGEST, LARGEST))
        x, y, lean_x, lean_y = (rng.uniform(*interval) for interval in self.intervals())
        scale = max(rng.uniform(*self.scale), 1e-6) if self.scale is not None else 1.0
        turned = (angle + 180) % 360 - 180
        return Affine(turned, (x, y), scale, (lean_x, lean_y), self.resample, self.fill_value)


@frozen
class Perspective(ImageOperation):
    """The projective map that takes four corners (x, y) to four others.

    >>> corners = [[0, 0], [2, 0], [2, 1], [0, 1]]
    >>> Perspective(corners, corners)(np.array([[1, 2, 3], [4, 5, 6]], np.uint8))
    array([[1, 2, 3],
           [4, 5, 6]], dtype=uint8)
    """

    start_points: Any
    end_points: Any
    interpolation: Inter = Inter.BILINEAR

    def __post_init__(self) -> None:
        for name in ("start_points", "end_points"):
            for point in sequence(self, name, getattr(self, name), 4):
                for coordinate in sequence(self, name, point, 2):
                    number(self, name, coordinate, -LARGEST, LARGEST)
        member(self, "interpolation", self.interpolation, Inter)

    def apply(self, image: Array) -> Array:
        """One inverse warp."""
        forward = warp.perspective(self.start_points, self.end_points)
        height, width = image.shape[:2]
        return warp.warp(image, forward, height, width, self.interpolation)

    def on_pil(self, image: Any) -> Any:
        """Pillow images are moved by Pillow."""
        backward = warp.perspective(self.end_points, self.start_points)
        pillow = extra("PIL.Image", "pillow", "a Pillow image")
        coefficients = backward.ravel()[:8].tolist()
        kind = pillow.Transform.PERSPECTIVE
        return image.transform(image.size, kind, coefficients, pillow_filter(self.interpolation))


@frozen
class RandomPerspective(RandomImageOperation):
    """With probability `prob`, each corner moves inwards by up to `distortion_scale` of half the side.

    >>> RandomPerspective(prob=1.0)(np.zeros((4, 5, 3), np.uint8)).shape
    (4, 5, 3)
    """

    distortion_scale: float = 0.5
    prob: float = 0.5
    interpolation: Inter = Inter.BICUBIC

    def __post_init__(self) -> None:
        number(self, "distortion_scale", self.distortion_scale, 0, 1)
        number(self, "prob", self.prob, 0, 1)
        member(self, "interpolation", self.interpolation, Inter)

    def draw(self, rng: np.random.Generator, height: int, width: int) -> TensorOperation:
        """Perspective with drawn corners."""
        if rng.random() >= self.prob:
            return SAME
        right, bottom = width - 1, height - 1
        reach = (int(self.distortion_scale * (width // 2)), int(self.distortion_scale * (height // 2)))
        inwards = [[int(rng.integers(0, r + 1)) for r in reach] for _ in range(4)]
        start = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
        end = [[abs(x - dx), abs(y - dy)] for (x, y), (dx, dy) in zip(start, inwards, strict=True)]
        return Perspective(start, end, self.interpolation)
