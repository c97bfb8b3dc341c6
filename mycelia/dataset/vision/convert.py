"""From pictures to numbers: type, layout, scale, colour space."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.checks import number, sequence, truth
from mycelia.dataset.transforms.arrays import TypeCast
from mycelia.dataset.transforms.base import Array, TensorOperation, as_array, numpy_dtype
from mycelia.dataset.vision import colour
from mycelia.dataset.vision.base import is_pil, to_pil
from mycelia.dataset.vision.padding import LARGEST
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen


class ArrayOperation(TensorOperation):
    """A transform whose answer is an array whatever kind of image it gets; several columns are treated alike."""

    def __call__(self, *images: Any) -> Any:
        results = tuple(self.one(x) for x in images)
        return results[0] if len(results) == 1 else results

    def one(self, image: Any) -> Array:
        """The answer to an array, or to the pixels of a Pillow image."""
        array = as_array(image)
        if array.dtype.kind not in "iufb":
            raise DTypeError(f"{type(self).__name__} needs numbers", given={"dtype": array.dtype, "shape": array.shape})
        return np.asarray(self.apply(array))


@frozen
class HWC2CHW(ArrayOperation):
    """Channels first; an image without channels stays as it is.

    >>> HWC2CHW()(np.zeros((4, 5, 3))).shape
    (3, 4, 5)
    """

    def apply(self, image: Array) -> Array:
        """A view: nothing is copied."""
        if image.ndim < 2:
            raise ShapeError("HWC2CHW needs an image", given={"shape": image.shape})
        return image if image.ndim == 2 else np.moveaxis(image, -1, -3)


@frozen
class ToTensor(ArrayOperation):
    """Channels first, levels from [0, 255] to [0, 1].

    >>> ToTensor()(np.full((4, 5, 3), 255, np.uint8)).shape
    (3, 4, 5)
    """

    output_type: Any = np.float32

    def __post_init__(self) -> None:
        numpy_dtype(self.output_type)

    def apply(self, image: Array) -> Array:
        """An image without channels gets one."""
        if image.ndim not in (2, 3):
            raise ShapeError("ToTensor needs an image of shape (H, W) or (H, W, C)", given={"shape": image.shape})
        planes = image[None] if image.ndim == 2 else image.transpose(2, 0, 1)
        return (planes * np.float32(1 / 255)).astype(numpy_dtype(self.output_type), copy=False)

    def one(self, image: Any) -> Array:
        """The levels of a Pillow image are divided in double precision, as in MindSpore."""
        if not is_pil(image):
            return super().one(image)
        pixels = np.asarray(image)
        planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
        return (planes / 255.0).astype(numpy_dtype(self.output_type))


class ToPIL(TensorOperation):
    """An array (H, W) or (H, W, C) as a Pillow image."""

    def __call__(self, *images: Any) -> Any:
        results = tuple(x if is_pil(x) else to_pil(as_array(x)) for x in images)
        return results[0] if len(results) == 1 else results


class ToNumpy(ArrayOperation):
    """A Pillow image as an array.

    >>> ToNumpy()([[1]])
    array([[1]])
    """

    def apply(self, image: Array) -> Array:
        """Already converted."""
        return image


class ToType(TypeCast):
    """The same elements with another type; `transforms.TypeCast` under its vision name.

    >>> ToType(np.float32)(np.array([1]))
    array([1.], dtype=float32)
    """


def statistics(owner: Any, name: str, values: Any, least: float | None = None, *, above: float | None = None) -> Array:
    """Means or deviations, one per channel, as an array."""
    parts = sequence(owner, name, values)
    if not parts:
        raise ArgumentError(f"{name} needs one value per channel")
    return np.array([number(owner, name, v, least, LARGEST, above=above) for v in parts], np.float32)


def normalize(image: Array, mean: Any, std: Any, is_hwc: bool) -> Array:
    """(image - mean) / std per channel, as float32.

    >>> normalize(np.array([[[2, 4]]], np.uint8), [1, 2], [1, 2], True)
    array([[[1., 1.]]], dtype=float32)
    """
    means: Array = np.asarray(mean, np.float32)
    deviations: Array = np.asarray(std, np.float32)
    axis = -1 if is_hwc else -3
    if image.ndim < 2 or image.size == 0 or (image.ndim == 2 and means.size != 1):
        raise ShapeError("Normalize needs pixels with channels", given={"shape": image.shape, "mean": mean})
    if image.ndim > 2 and means.size not in (1, image.shape[axis]):
        raise ShapeError(
            "Normalize needs one mean and std for each channel",
            given={"shape": image.shape, "mean": mean, "is_hwc": is_hwc},
            hint="is_hwc tells whether the channels come last",
        )
    out: Array = np.empty(image.shape, np.float32)
    out[...] = image
    if is_hwc or image.ndim == 2:  # a row of pixels as one long row of numbers: longer loops for NumPy
        rows = out.reshape(-1, image.shape[-1] if image.ndim == 2 else image.shape[-2] * image.shape[-1])
        means, deviations = (np.tile(v, rows.shape[1] // v.size) for v in (means, deviations))
    else:
        rows, means, deviations = out, means[:, None, None], deviations[:, None, None]
    rows -= means
    rows /= deviations
    return out


@frozen
class Normalize(ArrayOperation):
    """(image - mean) / std, per channel, as float32.

    >>> Normalize([1.0, 2.0], [1.0, 2.0])(np.array([[[2, 4]]], np.uint8))
    array([[[1., 1.]]], dtype=float32)
    """

    mean: Any
    std: Any
    is_hwc: bool = True

    def __post_init__(self) -> None:
        if len(statistics(self, "mean", self.mean, 0)) != len(statistics(self, "std", self.std, above=0)):
            raise ArgumentError("mean and std differ in length", given={"mean": self.mean, "std": self.std})
        truth(self, "is_hwc", self.is_hwc)

    def apply(self, image: Array) -> Array:
        """One pass to subtract, one to divide."""
        return normalize(image, self.mean, self.std, self.is_hwc)


@frozen
class NormalizePad(ArrayOperation):
    """Normalize, and add one more channel of zeros.

    >>> NormalizePad([1.0], [1.0])(np.array([[[2]]], np.uint8))
    array([[[1., 0.]]], dtype=float32)
    """

    mean: Any
    std: Any
    dtype: str = "float32"
    is_hwc: bool = True

    def __post_init__(self) -> None:
        Normalize(self.mean, self.std, self.is_hwc)
        if not isinstance(self.dtype, str) or self.dtype not in ("float32", "float16"):
            raise ArgumentError("dtype must be 'float32' or 'float16'", given={"dtype": self.dtype})

    def apply(self, image: Array) -> Array:
        """The extra channel is the last one."""
        if image.ndim < (2 if self.is_hwc else 3):
            raise ShapeError("NormalizePad needs channels", given={"shape": image.shape, "is_hwc": self.is_hwc})
        planes = image[..., None] if image.ndim == 2 else image
        axis = -1 if self.is_hwc else -3
        channels = planes.shape[axis]
        if len(self.mean) not in (1, channels):
            raise ShapeError(
                "NormalizePad needs a mean for each channel", given={"shape": image.shape, "mean": self.mean}
            )
        wide = np.concatenate([planes, np.zeros_like(planes.take([0], axis))], axis)
        mean, std = (np.append(np.broadcast_to(v, channels), last) for v, last in ((self.mean, 0), (self.std, 1)))
        return normalize(wide, mean, std, self.is_hwc).astype(self.dtype, copy=False)


@frozen
class Rescale(ArrayOperation):
    """image * rescale + shift, as float32.

    >>> Rescale(2.0, 1.0)(np.array([[3]], np.uint8))
    array([[7.]], dtype=float32)
    """

    rescale: float
    shift: float

    def __post_init__(self) -> None:
        number(self, "rescale", self.rescale, -LARGEST, LARGEST)
        number(self, "shift", self.shift, -LARGEST, LARGEST)

    def apply(self, image: Array) -> Array:
        """One pass to multiply, one to add."""
        out: Array = np.multiply(image, np.float32(self.rescale), dtype=np.float32)
        out += np.float32(self.shift)
        return out


def in_channels_last(convert: Any, image: Array, is_hwc: bool) -> Array:
    """Apply a function of (..., 3) colours whatever the layout; the answer has the layout of the image."""
    axis = -1 if is_hwc else -3
    if image.ndim not in (3, 4) or image.shape[axis] != 3:
        raise ShapeError("three channels are needed", given={"shape": image.shape, "is_hwc": is_hwc})
    return np.moveaxis(convert(np.moveaxis(image, axis, -1).astype(np.float64)), -1, axis)


@frozen
class RgbToHsv(ArrayOperation):
    """Hue, saturation and value of red, green and blue.

    >>> RgbToHsv(is_hwc=True)(np.array([[[0.0, 1.0, 0.0]]])).round(3)
    array([[[0.333, 1.   , 1.   ]]])
    """

    is_hwc: bool = False

    def __post_init__(self) -> None:
        truth(self, "is_hwc", self.is_hwc)

    def apply(self, image: Array) -> Array:
        """Of one image or a batch."""
        return in_channels_last(colour.rgb_to_hsv, image, self.is_hwc)


@frozen
class HsvToRgb(ArrayOperation):
    """Red, green and blue of hue, saturation and value.

    >>> HsvToRgb(is_hwc=True)(np.array([[[0.0, 1.0, 1.0]]]))
    array([[[1., 0., 0.]]])
    """

    is_hwc: bool = False

    def __post_init__(self) -> None:
        truth(self, "is_hwc", self.is_hwc)

    def apply(self, image: Array) -> Array:
        """Of one image or a batch."""
        return in_channels_last(colour.hsv_to_rgb, image, self.is_hwc)


@frozen(eq=False)
class LinearTransformation(ArrayOperation):
    """(flat image - mean_vector) @ transformation_matrix, in the shape of the image.

    >>> LinearTransformation(2 * np.eye(2), np.ones(2))(np.array([[[3.0, 4.0]]]))
    array([[[4., 6.]]])
    """

    transformation_matrix: Array
    mean_vector: Array

    def __post_init__(self) -> None:
        for name in ("transformation_matrix", "mean_vector"):
            if not isinstance(getattr(self, name), np.ndarray):
                raise DTypeError(f"{name} must be a NumPy array", given={name: type(getattr(self, name)).__name__})
        size = self.mean_vector.size
        if self.mean_vector.ndim != 1 or self.transformation_matrix.shape != (size, size):
            raise ShapeError(
                "a square matrix and a vector of its size are needed",
                given={
                    "transformation_matrix": self.transformation_matrix.shape,
                    "mean_vector": self.mean_vector.shape,
                },
            )

    def apply(self, image: Array) -> Array:
        """Every element of the image is one component."""
        if image.size != self.mean_vector.size:
            raise ShapeError(
                "the image and the matrix differ in size",
                given={"image": image.shape, "matrix": self.transformation_matrix.shape},
            )
        flat = (image.reshape(1, -1) - self.mean_vector) @ self.transformation_matrix
        return np.asarray(flat.reshape(image.shape))
