"""Fusion: neighbouring image transforms made into one that gives the same numbers with less work.

A crop of a picture that is still encoded decodes the crop alone. Normalising bytes is a table of 256 numbers per
channel, applied by a generated kernel, and the planes go straight to their place in the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import zip_longest
from typing import Any

import numpy as np

from mycelia.api.options import options
from mycelia.dataset.vision.base import is_pil
from mycelia.dataset.vision.codec import Decode, decode, encoded
from mycelia.dataset.vision.convert import HWC2CHW, Normalize
from mycelia.dataset.vision.resizing import RandomResizedCrop
from mycelia.frozen import frozen
from mycelia.routines.words import Bytes, Words
from mycelia.runtime.routine import Routine
from mycelia.types import Array

Function = Callable[..., Any]


def lookup(image: Bytes, table: Words, out: Words, pixels: int, channels: int) -> int:
    """Every byte of an image replaced by its 32 bits in the table of its channel; channels become planes."""
    if channels == 3:
        for i in range(pixels):
            out[i] = table[image[3 * i]]
            out[pixels + i] = table[256 + image[3 * i + 1]]
            out[2 * pixels + i] = table[512 + image[3 * i + 2]]
    else:
        for c in range(channels):
            for i in range(pixels):
                out[c * pixels + i] = table[256 * c + image[i * channels + c]]
    return 0


_lookup = Routine(lookup, options)


@frozen
class DecodeCrop:
    """`Decode` and then `RandomResizedCrop`: what lies outside the rectangle is not decoded."""

    decode: Decode
    crop: RandomResizedCrop

    def __call__(self, *images: Any) -> Any:
        if len(images) != 1 or is_pil(images[0]):
            made = self.decode(*images)
            return self.crop(*made) if isinstance(made, tuple) else self.crop(made)
        return self.crop.resized(decode(encoded(images[0]), self.crop.box))


@frozen
class NormalizeToPlanes:
    """`Normalize` and then `HWC2CHW`, in one pass over bytes."""

    normalize: Normalize
    planes: HWC2CHW

    table: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """What every byte becomes, per channel: made by the transform itself, so equal to the last bit."""
        channels = np.size(self.normalize.mean)
        levels = np.repeat(np.arange(256, dtype=np.uint8)[:, None, None], channels, axis=2)
        object.__setattr__(self, "table", np.ascontiguousarray(self.normalize(levels)[:, 0, :].T))

    def __call__(self, *images: Any) -> Any:
        """Each column is an image."""
        return self.into(images, ())

    def into(self, images: Sequence[Any], places: Sequence[Array | None]) -> Any:
        """The same, each column written to its own place where that fits."""
        results = tuple(self.one(x, place) for x, place in zip_longest(images, places[: len(images)]))
        return results[0] if len(results) == 1 else results

    def one(self, image: Any, place: Array | None = None) -> Any:
        """What is no picture of bytes with the right channels goes through the two steps, which tell what is wrong."""
        if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3:
            return self.planes(self.normalize(image))
        if image.shape[2] != len(self.table) or not image.size:
            return self.planes(self.normalize(image))
        shape = (image.shape[2], *image.shape[:2])
        fits = place is not None and place.shape == shape and place.dtype == np.float32 and place.flags.c_contiguous
        out = place if place is not None and fits else np.empty(shape, np.float32)
        if _lookup.ready():
            _lookup(np.ascontiguousarray(image), self.table, out, shape[1] * shape[2], shape[0])
            return out
        for channel, table in enumerate(self.table):
            np.take(table, image[..., channel], out=out[channel], mode="clip")
        return out


def fuse(operations: Sequence[Function]) -> tuple[tuple[int, Function], ...]:
    """The same operations with their numbers, neighbours put together where there is a faster whole.

    >>> [number for number, _ in fuse([Normalize([1.0], [1.0]), HWC2CHW(), abs])]
    [0, 2]
    """
    fused: list[tuple[int, Function]] = []
    for number, operation in enumerate(operations):
        before = fused[-1][1] if fused else None
        if type(operation) is HWC2CHW and type(before) is Normalize and before.is_hwc:
            fused[-1] = (number - 1, NormalizeToPlanes(before, operation))
        elif type(operation) is RandomResizedCrop and type(before) is Decode and not before.to_pil:
            fused[-1] = (number, DecodeCrop(before, operation))
        else:
            fused.append((number, operation))
    return tuple(fused)
