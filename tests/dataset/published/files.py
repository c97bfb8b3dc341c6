"""Small files of the kinds that datasets are made of: images, sounds, idx arrays, MATLAB variables."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from pathlib import Path
from typing import Any

import numpy as np


def dice(name: str) -> np.random.Generator:
    """Random numbers that depend on a name only."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def png(seed: int, height: int = 5, width: int = 6) -> bytes:
    """A small image file."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def bmp(pixels: np.ndarray) -> bytes:
    """A bitmap of grey levels (height, width), whose width is a multiple of four; rows are stored from the bottom."""
    height, width = pixels.shape
    palette = b"".join(bytes([v, v, v, 0]) for v in range(256))
    start = 54 + len(palette)
    head = b"BM" + struct.pack("<IHHI", start + pixels.size, 0, 0, start)
    told = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, pixels.size, 2835, 2835, 256, 0)
    return head + told + palette + pixels[::-1].tobytes()


def put(path: Path, content: bytes | str) -> Path:
    """A file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(path: Path, told: list[str]) -> Path:
    """A text file of these lines."""
    return put(path, "".join(f"{line}\n" for line in told))


def idx(path: Path, array: np.ndarray) -> None:
    """An array as MNIST stores it."""
    kind = {"uint8": 8, "int32": 12}[str(array.dtype)]
    head = bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    put(path, head + array.astype(array.dtype.newbyteorder(">")).tobytes())


def sound(path: Path, seed: int, rate: int = 8000, frames: int = 20, channels: int = 1) -> None:
    """A recording of 16-bit noise."""
    samples = np.random.default_rng(seed).integers(-30000, 30000, frames * channels).astype("<i2")
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes(samples.tobytes())


def matlab(path: Path, **variables: Any) -> None:
    """A MATLAB file."""
    from scipy.io import savemat

    body = io.BytesIO()
    savemat(body, variables)
    put(path, body.getvalue())
