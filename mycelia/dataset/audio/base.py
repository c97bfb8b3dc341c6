"""What an audio transform is: arrays (..., time) in, computed in double precision, and out in their own type."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mycelia.dataset.transforms.base import Array, TensorOperation, as_array
from mycelia.errors import DTypeError, ShapeError


def numbers(value: Any, name: str, axes: int = 1) -> Array:
    """A column of numbers with at least so many axes, or an error."""
    array = as_array(value)
    if array.dtype.kind not in "biuf":
        raise DTypeError(f"{name} needs numbers", given={"dtype": array.dtype})
    if array.ndim < axes:
        raise ShapeError(f"{name} needs at least {axes} axes", given={"shape": array.shape})
    return array


class AudioOperation(TensorOperation):
    """A transform of one column; doubles stay doubles, all else becomes single precision (filters leave half alone)."""

    axes: ClassVar[int] = 1
    keeps_half: ClassVar[bool] = False

    def __call__(self, *columns: Any) -> Any:
        results = tuple(self.one(column) for column in columns)
        return results[0] if len(results) == 1 else results

    def one(self, column: Any) -> Any:
        """Compute in double precision, answer in the type of the column."""
        array = numbers(column, type(self).__name__, self.axes)
        stays = array.dtype == np.float64 or (array.dtype == np.float16 and self.keeps_half)
        dtype = array.dtype if stays else np.dtype(np.float32)
        return np.asarray(self.apply(array.astype(np.float64)), dtype)


class ComplexOperation(AudioOperation):
    """A transform of complex numbers given as pairs (..., 2) of real and imaginary part."""

    def one(self, column: Any) -> Any:
        """The last axis must have length two."""
        array = numbers(column, type(self).__name__, 2)
        if array.shape[-1] != 2:
            raise ShapeError(f"{type(self).__name__} needs pairs (..., 2)", given={"shape": array.shape})
        return super().one(array)


def as_complex(pairs: Array) -> Array:
    """Pairs (..., 2) as complex numbers.

    >>> as_complex(np.array([[3.0, 4.0]]))
    array([3.+4.j])
    """
    return np.asarray(pairs[..., 0] + 1j * pairs[..., 1])


def as_pairs(values: Array) -> Array:
    """Complex numbers as pairs (..., 2).

    >>> as_pairs(np.array([3 + 4j]))
    array([[3., 4.]])
    """
    return np.stack([values.real, values.imag], -1)
