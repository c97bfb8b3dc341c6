"""Encoded images: from bytes to pixels and back, with whichever library is there."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import member, pair, truth, whole
from mycelia.dataset.config import current_options
from mycelia.dataset.transforms.base import Array, TensorOperation, as_array, extra, installed
from mycelia.dataset.vision import jpeg
from mycelia.dataset.vision.base import is_pil, size_of
from mycelia.dataset.vision.crop import Size
from mycelia.dataset.vision.jpeg import Box
from mycelia.dataset.vision.modes import ImageReadMode, Inter
from mycelia.dataset.vision.resizing import RandomResizedCrop
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.mindrecord.limits import TooLarge, believed
from mycelia.plainfiles import array_of

SMALL = 1 << 24  # pixels that any file may claim to have
# what Pillow may take bytes for: it knows formats that run programs (EPS is one, by Ghostscript)
FORMATS = ("JPEG", "PNG", "BMP", "DIB", "TIFF", "GIF", "WEBP", "PPM", "JPEG2000", "ICO", "TGA", "PCX")
DENSEST = 1024  # pixels in a byte: a block of 8 x 8 takes one bit at least


def is_jpeg(data: Array) -> bool:
    """Whether bytes begin as a JPEG does.

    >>> is_jpeg(np.array([255, 216, 255, 224], np.uint8))
    True
    """
    return bytes(data[:3]) == b"\xff\xd8\xff"


def encoded(value: Any) -> Array:
    """Encoded bytes as a contiguous row of uint8, or an error that tells what came instead."""
    data = as_array(value)
    if data.ndim == 0 and data.dtype.kind == "S":
        data = np.frombuffer(data.item(), np.uint8)
    if data.ndim != 1 or data.dtype != np.uint8:
        raise ShapeError(
            "Decode needs encoded bytes, one row of uint8",
            given={"shape": data.shape, "dtype": data.dtype},
            hint="an image that is already decoded has two or three axes",
        )
    if not data.size:
        raise ArgumentError("there are no bytes to decode")
    return np.ascontiguousarray(data)


def decode(data: Array, choose: Callable[[int, int], Box] | None = None) -> Array:
    """Encoded bytes as an RGB image (H, W, 3), or the rectangle of it that is chosen by its height and width.

    The orientation tag is not followed, as in MindSpore. Files and rectangles are the same for every decoder: a library
    decodes whole pictures, and ours the rectangles, unless `config.set_own_jpeg_decoder(False)` turns it off.
    """
    if is_jpeg(data):
        libraries = installed("simplejpeg") or installed("PIL.Image")
        enabled = current_options().own_jpeg_decoder
        own = enabled and (not libraries or (choose is not None and jpeg.ready()))
        about = jpeg.header_of(data) if own else None
        _believable(data, (about.height, about.width) if about else jpeg.claimed_size(data))
        if about is not None:
            box = choose(about.height, about.width) if choose else None
            image = jpeg.pixels(data, about, box)
            if image is not None:
                return image
            return part(_by_library(data), box)  # broken: which tells how, or knows better
    image = _by_library(data)
    return part(image, choose(*image.shape[:2]) if choose else None)


def _believable(data: Array, size: tuple[int, int] | None) -> None:
    """Raise if a JPEG of so many bytes cannot have so many pixels: memory for them is not asked for."""
    height, width = size or (0, 0)
    if height * width > max(DENSEST * data.size, SMALL):
        raise ArgumentError(
            f"the header of a JPEG claims {height} x {width} pixels, which cannot be decoded from {data.size} bytes",
            hint="the file is damaged, or made to exhaust memory",
        )
    believed(3 * height * width, "a picture", height=height, width=width)


def part(image: Array, box: Box | None) -> Array:
    """A rectangle of an image; all of it if there is none.

    >>> part(np.arange(6).reshape(2, 3), (0, 1, 2, 1)).ravel()
    array([1, 4])
    """
    if box is None:
        return image
    top, left, height, width = box
    return image[top : top + height, left : left + width]


def _by_library(data: Array) -> Array:
    if is_jpeg(data) and installed("simplejpeg"):
        try:
            return np.asarray(extra("simplejpeg", "simplejpeg", "decoding").decode_jpeg(data, colorspace="RGB"))
        except ValueError:
            pass  # colour spaces that it does not know (CMYK) and broken files: Pillow knows or explains
    return np.array(open_pil(data).convert("RGB"))


def open_pil(data: Array) -> Any:
    """Encoded bytes as a Pillow image."""
    pillow = extra("PIL.Image", "pillow", "decoding an image")
    try:
        image = pillow.open(io.BytesIO(data.tobytes()), formats=FORMATS)
        width, height = image.size
        believed(max(3, len(image.getbands())) * width * height, "a picture", height=height, width=width)
        image.load()
    except TooLarge:
        raise
    except Exception as error:  # of any kind: its readers of formats do not foresee all that a damaged file can hold
        raise ArgumentError(
            f"the bytes are not an image that can be decoded: {str(error).split(' <')[0]}",  # not where they lie
            given={"length": data.size, "first bytes": bytes(data[:8])},
            hint="the file may be truncated, or of a format that Pillow does not read",
        ) from None
    return image


@frozen
class Decode(TensorOperation):
    """Encoded bytes (JPEG, PNG, BMP, TIFF, GIF, WEBP) as an RGB image: an array (H, W, 3), or a Pillow image.

    >>> int(Decode()(encode_png(np.full((2, 3, 3), 7, np.uint8)))[0, 0, 0])  # doctest: +SKIP
    7
    """

    to_pil: bool = False

    def __post_init__(self) -> None:
        truth(self, "to_pil", self.to_pil)

    def __call__(self, *images: Any) -> Any:
        """Each column is one encoded image."""
        results = tuple(self.one(image) for image in images)
        return results[0] if len(results) == 1 else results

    def one(self, image: Any) -> Any:
        """A Pillow image is taken as decoded already."""
        if self.to_pil:
            return (image if is_pil(image) else open_pil(encoded(image))).convert("RGB")
        return decode(encoded(image))


@frozen
class RandomCropDecodeResize(TensorOperation):
    """Decode, cut a random rectangle, and resize it to `size`.

    >>> RandomCropDecodeResize(224).size
    224
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: Inter = Inter.BILINEAR
    max_attempts: int = 10

    def __post_init__(self) -> None:
        pair(self, "size", self.size, whole, 1)
        self.crop()

    def crop(self) -> RandomResizedCrop:
        """The same for a decoded image."""
        return RandomResizedCrop(self.size, self.scale, self.ratio, self.interpolation, self.max_attempts)

    def __call__(self, *images: Any) -> Any:
        """An image that is decoded already is only cut and resized."""
        crop = self.crop()
        if len(images) != 1 or is_pil(images[0]) or np.ndim(images[0]) > 1:
            return crop(*(x if is_pil(x) or np.ndim(x) > 1 else decode(encoded(x)) for x in images))
        return crop.resized(decode(encoded(images[0]), crop.box))


def encode_jpeg(image: Any, quality: int = 75) -> Array:
    """An image (H, W), (H, W, 1) or (H, W, 3) of uint8 as JPEG bytes."""
    pixels = writable(image)
    whole("encode_jpeg", "quality", quality, 1, 100)
    if installed("simplejpeg"):
        space = "GRAY" if pixels.shape[2] == 1 else "RGB"
        data = extra("simplejpeg", "simplejpeg", "encoding").encode_jpeg(
            pixels, quality=quality, colorspace=space, colorsubsampling="Gray" if space == "GRAY" else "420"
        )
        return np.frombuffer(data, np.uint8).copy()
    out = io.BytesIO()
    pillow = extra("PIL.Image", "pillow", "encoding a JPEG")
    pillow.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels).save(out, "JPEG", quality=quality)
    return np.frombuffer(out.getvalue(), np.uint8).copy()


def encode_png(image: Any, compression_level: int = 6) -> Array:
    """An image (H, W), (H, W, 1) or (H, W, 3) of uint8 as PNG bytes.

    >>> encode_png(np.zeros((2, 2), np.uint8))[:4]
    array([137,  80,  78,  71], dtype=uint8)
    """
    pixels = writable(image)
    whole("encode_png", "compression_level", compression_level, 0, 9)
    height, width, channels = pixels.shape
    above = np.concatenate([np.zeros_like(pixels[:1]), pixels[:-1]])
    rows = np.hstack([np.full((height, 1), 2, np.uint8), (pixels - above).reshape(height, -1)])  # 2: filter "up"
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), compression_level)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", body), _chunk(b"IEND", b""))
    return np.frombuffer(b"\x89PNG\r\n\x1a\n" + b"".join(parts), np.uint8).copy()


def _chunk(kind: bytes, body: bytes) -> bytes:
    """One part of a PNG file: length, kind, body, checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def writable(image: Any) -> Array:
    """An image that can be encoded, as (H, W, C)."""
    pixels = as_array(image)
    if pixels.dtype != np.uint8:
        raise DTypeError("an image of uint8 is needed", given={"dtype": pixels.dtype})
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3):
        raise ShapeError("an image of one or three channels is needed", given={"shape": pixels.shape})
    return np.ascontiguousarray(pixels)


def get_image_num_channels(image: Any) -> int:
    """The number of channels of an array or a Pillow image.

    >>> get_image_num_channels(np.zeros((4, 5, 3)))
    3
    """
    if is_pil(image):
        return len(image.getbands())
    shape = np.shape(image)
    if len(shape) < 2:
        raise ShapeError("an image has at least two axes", given={"shape": shape})
    return 1 if len(shape) == 2 else int(shape[-1])


def get_image_size(image: Any) -> list[int]:
    """Height and width of an array or a Pillow image.

    >>> get_image_size(np.zeros((4, 5, 3)))
    [4, 5]
    """
    if not is_pil(image) and np.ndim(image) < 2:
        raise ShapeError("an image has at least two axes", given={"shape": np.shape(image)})
    return list(size_of(image))


def read_file(filename: str) -> Array:
    """The bytes of a file as a row of uint8.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     write_file(file.name, np.array([1, 2], np.uint8))
    ...     read_file(file.name)
    array([1, 2], dtype=uint8)
    """
    return array_of(filename)


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> Array:
    """An image file as an array (H, W, C); grey has one channel."""
    member("read_image", "mode", mode, ImageReadMode)
    image = open_pil(read_file(filename))
    if mode != ImageReadMode.UNCHANGED:
        image = image.convert("L" if mode == ImageReadMode.GRAYSCALE else "RGB")
    elif image.mode in ("P", "1", "CMYK", "YCbCr"):
        image = image.convert("RGB")
    pixels = np.array(image)
    return pixels[..., None] if pixels.ndim == 2 else pixels


def write_file(filename: str, data: Any) -> None:
    """Write a row of uint8 to a file.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     write_file(file.name, np.array([7], np.uint8))
    ...     list(Path(file.name).read_bytes())
    [7]
    """
    row = as_array(data)
    if row.ndim != 1 or row.dtype != np.uint8:
        raise ShapeError("a row of uint8 is needed", given={"shape": row.shape, "dtype": row.dtype})
    Path(filename).write_bytes(row.tobytes())


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Write an image as a JPEG file."""
    write_file(filename, encode_jpeg(image, quality))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Write an image as a PNG file.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     write_png(file.name, np.zeros((2, 2), np.uint8))
    ...     Path(file.name).read_bytes()[1:4]
    b'PNG'
    """
    write_file(filename, encode_png(image, compression_level))
