"""Mixing the images of a batch, and their one-hot labels alike."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from mycelia.checks import member, number, truth, whole
from mycelia.dataset import random
from mycelia.dataset.transforms.base import Array, TensorOperation
from mycelia.dataset.vision.colour import blend
from mycelia.dataset.vision.modes import ImageBatchFormat
from mycelia.dataset.vision.padding import LARGEST
from mycelia.errors import ShapeError
from mycelia.frozen import frozen


def require_batch(name: str, images: Array, labels: Array) -> None:
    """Raise unless the images are a batch of four axes, with a row or a table of labels for each."""
    if images.ndim != 4 or labels.ndim not in (2, 3) or len(images) != len(labels):
        raise ShapeError(
            f"{name} needs a batch of images and as many one-hot labels",
            given={"images": images.shape, "labels": labels.shape},
            hint="batch first, and make labels one-hot with transforms.OneHot",
        )


def blended(x: Array, y: Array, share: Array | float) -> Array:
    """Share * x + (1 - share) * y, with one share for all or one for each first index.

    >>> blended(np.array([[0.0], [0.0]]), np.array([[4.0], [4.0]]), np.array([0.5, 0.25]))
    array([[2.],
           [3.]])
    """
    weight = np.reshape(share, np.shape(share) + (1,) * (x.ndim - np.ndim(share)))
    return np.asarray(weight * x + (1 - weight) * y)


@frozen
class MixUpBatch(TensorOperation):
    """Each image, and label, mixed with a randomly chosen one of its batch, by one share drawn from Beta(alpha, alpha).

    >>> images, labels = MixUpBatch()(np.zeros((2, 4, 4, 3), np.uint8), np.eye(2))
    >>> labels.sum(1)
    array([1., 1.], dtype=float32)
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        number(self, "alpha", self.alpha, most=LARGEST, above=0)

    def apply(self, images: Array, labels: Array) -> tuple[Array, Array]:
        """Labels become float32, images keep their type."""
        require_batch("MixUpBatch", images, labels)
        rng = random.current()
        share = rng.beta(self.alpha, self.alpha)
        other = rng.permutation(len(images))
        return blend(images, images[other], share), blended(labels, labels[other], share).astype(np.float32)


@frozen
class CutMixBatch(TensorOperation):
    """With probability `prob`, a rectangle of each image comes from another of the batch; labels mix by area.

    >>> images, labels = CutMixBatch(ImageBatchFormat.NHWC)(np.zeros((2, 4, 4, 3), np.uint8), np.eye(2))
    >>> images.shape, labels.sum(1)
    ((2, 4, 4, 3), array([1., 1.], dtype=float32))
    """

    image_batch_format: ImageBatchFormat
    alpha: float = 1.0
    prob: float = 1.0

    def __post_init__(self) -> None:
        member(self, "image_batch_format", self.image_batch_format, ImageBatchFormat)
        number(self, "alpha", self.alpha, most=LARGEST, above=0)
        number(self, "prob", self.prob, 0, 1)

    def apply(self, images: Array, labels: Array) -> tuple[Array, Array]:
        """The rectangle has a share 1 - lambda of the area, lambda from Beta(alpha, alpha); the border may cut it."""
        require_batch("CutMixBatch", images, labels)
        rng = random.current()
        out, mixed = images.copy(), labels.astype(np.float32)
        first = self.image_batch_format == ImageBatchFormat.NCHW
        rows, columns = images.shape[2:] if first else images.shape[1:3]
        for i, other in enumerate(rng.permutation(len(images))):
            share = rng.beta(self.alpha, self.alpha)
            if rng.random() >= self.prob:
                continue
            down, across = _strip(rng, rows, share), _strip(rng, columns, share)
            box = (slice(None), down, across) if first else (down, across)
            out[(i, *box)] = images[(other, *box)]
            kept = 1 - (down.stop - down.start) * (across.stop - across.start) / (rows * columns)
            mixed[i] = blended(labels[i], labels[other], kept)
        return out, mixed


def _strip(rng: np.random.Generator, size: int, share: float) -> slice:
    """A random interval of length sqrt(1 - share) * size around a random centre, cut at the ends."""
    length, centre = int(size * math.sqrt(1 - share)), int(rng.integers(size))
    start = max(centre - length // 2, 0)
    return slice(start, max(min(centre + length // 2, size), start))


@frozen
class MixUp(TensorOperation):
    """Images and labels of a batch mixed with their right neighbours, or (`is_single=False`) with the last answer.

    Each has its own share drawn from Beta(alpha, alpha).

    >>> images, labels = MixUp(2, 0.2)(np.zeros((2, 4, 4, 3)), np.eye(2))
    >>> images.shape, labels.sum(1)
    ((2, 4, 4, 3), array([1., 1.]))
    """

    batch_size: int
    alpha: float
    is_single: bool = True
    _last: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        whole(self, "batch_size", self.batch_size, 1)
        number(self, "alpha", self.alpha, most=LARGEST, above=0)
        truth(self, "is_single", self.is_single)

    def apply(self, images: Array, labels: Array) -> tuple[Array, Array]:
        """The batch must have the size that was promised."""
        require_batch("MixUp", images, labels)
        if len(images) != self.batch_size:
            raise ShapeError("the batch has another size", given={"batch_size": self.batch_size, "got": len(images)})
        share = random.current().beta(self.alpha, self.alpha, self.batch_size)
        if self.is_single:
            return blended(images, np.roll(images, -1, 0), share), blended(labels, np.roll(labels, -1, 0), share)
        before = self._last or [images, labels]
        self._last[:] = [blended(images, before[0], share), blended(labels, before[1], share)]
        return self._last[0], self._last[1]
