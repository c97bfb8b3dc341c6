"""Pictures as PNG files, written by ourselves: a network may learn where no library for pictures is."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from mycelia.errors import ShapeError
from mycelia.types import Array

COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # by the number of channels: grey, grey with alpha, red-green-blue, with alpha


def png(pixels: Array) -> bytes:
    """Bytes (height, width, channels) as a PNG file.

    >>> png(np.zeros((2, 3, 1), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with how it is filtered: not at all
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, COLOURS[channels], 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(held)) + kind + held + struct.pack(">I", zlib.crc32(kind + held)) for kind, held in parts
    )


def as_pixels(numbers: Array) -> Array:
    """A picture of (channels, height, width) or (height, width) as bytes (height, width, channels), from its least
    number to its greatest.

    >>> as_pixels(np.array([[0.0, 0.5], [1.0, 0.25]]))[..., 0].tolist()
    [[0, 127], [255, 63]]
    """
    given = np.asarray(numbers)
    plane = given[None] if given.ndim == 2 else given
    if plane.ndim != 3 or plane.shape[0] not in COLOURS or not plane.size:
        raise ShapeError(
            f"a picture is (channels, height, width) with 1 to 4 channels, and this one has shape {given.shape}",
            hint="add_value('image', ...) takes (examples, channels, height, width) and shows the first",
        )
    if plane.dtype != np.uint8:
        wide = np.nan_to_num(plane.astype(np.float64), posinf=0.0, neginf=0.0)
        low, high = wide.min(), wide.max()
        plane = ((wide - low) * (255.0 / (high - low) if high > low else 0.0)).astype(np.uint8)
    return np.ascontiguousarray(plane.transpose(1, 2, 0))
