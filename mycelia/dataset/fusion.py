"""Fusion: neighbouring image transforms made into one that gives the same numbers with less memory traffic.

Decoding goes into memory that the thread keeps, since fresh memory costs more than the decoding of what fills it.
Normalising bytes is a table of 256 numbers per channel, and the planes go straight to their place in the batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mycelia.dataset.flow.buffers import taken
from mycelia.dataset.transforms.base import extra, installed
from mycelia.dataset.vision.codec import RandomCropDecodeResize, encoded, is_jpeg
from mycelia.dataset.vision.convert import HWC2CHW, Normalize
from mycelia.dataset.vision.resizing import RandomResizedCrop
from mycelia.types import Array

Function = Callable[..., Any]


class _Scratch(threading.local):
    """Memory that a thread decodes into."""

    memory: Array = np.empty(0, np.uint8)

    def room(self, size: int) -> Array:
        if len(self.memory) < size:
            self.memory = np.empty(size, np.uint8)
        return self.memory[:size]


_scratch = _Scratch()


@dataclass(frozen=True)
class DecodeCrop:
    """`RandomCropDecodeResize` that decodes JPEGs into the thread's own memory."""

    operation: RandomCropDecodeResize

    @cached_property
    def crop(self) -> RandomResizedCrop:
        return self.operation.crop()

    def __call__(self, *images: Any) -> Any:
        image = images[0]
        if len(images) != 1 or np.ndim(image) != 1 or not is_jpeg(image) or not installed("simplejpeg"):
            return self.operation(*images)
        library = extra("simplejpeg", "simplejpeg", "decoding")
        data = encoded(image)
        try:
            height, width, *_ = library.decode_jpeg_header(data)
            memory = _scratch.room(height * width * 3)
            library.decode_jpeg(data, colorspace="RGB", buffer=memory)
        except ValueError:
            return self.operation(image)  # which knows other colour spaces, or tells what is wrong
        made = self.crop(memory.reshape(height, width, 3))
        return made.copy() if np.may_share_memory(made, memory) else made


@dataclass(frozen=True)
class NormalizeToPlanes:
    """`Normalize` and then `HWC2CHW`, in one pass over bytes."""

    normalize: Normalize
    planes: HWC2CHW

    @cached_property
    def table(self) -> Array:
        """What every byte becomes, per channel: made by the transform itself, so equal to the last bit."""
        channels = np.size(self.normalize.mean)
        levels = np.repeat(np.arange(256, dtype=np.uint8)[:, None, None], channels, axis=2)
        return np.ascontiguousarray(self.normalize(levels)[:, 0, :].T)

    def __call__(self, image: Any) -> Any:
        if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3:
            return self.planes(self.normalize(image))
        if image.shape[2] != len(self.table):
            return self.planes(self.normalize(image))
        shape = (image.shape[2], *image.shape[:2])
        out = taken(shape, np.dtype(np.float32))
        out = np.empty(shape, np.float32) if out is None else out
        if installed("cv2") and image.shape[2] in (1, 3):
            opencv = extra("cv2", "opencv-python-headless", "normalising")
            for channel, table in enumerate(self.table):
                opencv.LUT(opencv.extractChannel(image, channel), table, dst=out[channel])
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
        elif type(operation) is RandomCropDecodeResize:
            fused.append((number, DecodeCrop(operation)))
        else:
            fused.append((number, operation))
    return tuple(fused)
