"""Discrete Fourier transforms along an axis, not scaled.

The matrix of the transform is symmetric, so it is its own transpose. Programs hold complex numbers as pairs of real
ones along a last axis; there the ops are said to be `paired`, and `axis` counts without that one.
"""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Purity, Sample, Value
from mycelia.primitives.complexes import Complex
from mycelia.primitives.family import check_dims, check_dtype, draw, mapping, names
from mycelia.primitives.pairs import as_complex, as_pairs, joined
from mycelia.types import (
    COMPLEX,
    Array,
    DType,
    TensorType,
    complex64,
    complex128,
    float32,
    float64,
    int32,
)

__all__ = ["Fft", "Fourier", "Irfft", "Rfft"]


@frozen
class Fourier(Op, abstract=True):
    """The family: what is asked of the operand, batches, and who computes."""

    axis: int
    paired: bool = False
    dtypes: ClassVar[tuple[DType, ...]]
    takes: ClassVar[bool] = True  # whether it takes complex numbers, and gives them
    gives: ClassVar[bool] = True
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL

    def infer(self, x: TensorType) -> TensorType:
        if self.paired:
            whole = replace(self, paired=False).infer(joined(x) if self.takes else x)
            return TensorType(whole.dtype.part, (*whole.shape, 2)) if self.gives else whole
        check_dims(self, x, (self.axis,), "axis")
        check_dtype(self, x)
        if x.shape[self.axis] == 0:
            raise ShapeError(f"{self.name} of no elements has no value", given={"operand": x, "axis": self.axis})
        return self.outcome(x)

    def outcome(self, x: TensorType) -> TensorType:
        """The type of the result, of an operand that is as it should be."""
        return x

    def reference(self, x: Array) -> Any:
        if not self.paired:
            return self.transformed(x)
        out = self.transformed(as_complex(x) if self.takes else x)
        return as_pairs(out) if self.gives else out

    def transformed(self, x: Array) -> Any:
        """The result, by NumPy."""
        raise AssertionError(f"{self.name} must say what it gives")

    def on_pairs(self, x: Value) -> Value:
        return replace(self, paired=True)(x)

    def vmap(self, size: int, mapped: tuple[bool, ...], x: Value) -> Any:
        return replace(self, axis=self.axis + 1)(x)

    def axes(self, x: TensorType) -> str:
        a = ["1" if i == self.axis else n for i, n in enumerate(names(x.rank - (self.paired and self.takes)))]
        first, last = (["1"] * (self.paired and c) for c in (self.takes, self.gives))
        return mapping([[*a, *first]], [*a, *last])

    @classmethod
    def drawn(cls, *shape: int) -> Array:
        """Numbers for samples."""
        real = draw(*shape)
        return Complex().reference(real, draw(*shape, seed=9)) if cls.takes else real

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        x, op = TensorType(cls.dtypes[0], (2, 0)), cls(0)
        yield Mistake(lambda: op.infer(x.with_dtype(int32)), DTypeError, f"{cls.name} needs a")
        yield Mistake(lambda: cls(2).infer(x), ShapeError, "along an axis that")
        yield Mistake(lambda: cls(1).infer(x), ShapeError, "of no elements has no value")


@frozen
class Fft(Fourier):
    """The transform of complex numbers: the sum of x[j] exp(-2 pi i j k / n), or with the other sign if `inverse`.

    >>> Fft(0).reference(np.array([1, 0, 0, 1j]))
    array([1.+1.j, 0.+0.j, 1.-1.j, 2.+0.j])
    """

    inverse: bool = False
    dtypes: ClassVar[tuple[DType, ...]] = (complex64, complex128)

    def transformed(self, x: Array) -> Any:
        return np.fft.ifft(x, axis=self.axis, norm="forward") if self.inverse else np.fft.fft(x, axis=self.axis)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        return (self(ct),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape, axis in (((8,), 0), ((2, 5), 1), ((6, 4), 0), ((1,), 0), ((2, 3, 7), 1), ((0, 3), 1)):
            yield Sample(cls(axis), (cls.drawn(*shape),))
        yield Sample(cls(1, inverse=True), (cls.drawn(2, 6).astype(np.complex128),))


@frozen
class Rfft(Fourier):
    """The first half of the transform of real numbers; the other half is its conjugate.

    >>> Rfft(0).reference(np.array([1.0, 0.0, 0.0, 2.0]))
    array([ 3.+0.j,  1.+2.j, -1.+0.j])
    """

    takes: ClassVar[bool] = False
    dtypes: ClassVar[tuple[DType, ...]] = (float32, float64)

    def outcome(self, x: TensorType) -> TensorType:
        shape = list(x.shape)
        shape[self.axis] = shape[self.axis] // 2 + 1
        return TensorType(COMPLEX[x.dtype], tuple(shape))

    def transformed(self, x: Array) -> Any:
        return np.fft.rfft(x, axis=self.axis)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        missing = [0] * len(x.shape)
        missing[self.axis] = x.shape[self.axis] - ct.shape[self.axis]
        return (p.real(Fft(self.axis)(p.pad(ct, (0,) * len(missing), missing))),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape, axis in (((8,), 0), ((2, 5), 1), ((6, 4), 0), ((1,), 0), ((2,), 0), ((2, 3, 7), 1)):
            yield Sample(cls(axis), (cls.drawn(*shape),))


@frozen
class Irfft(Fourier):
    """The `length` real numbers whose transform begins with x, times their number.

    >>> Irfft(0, length=4).reference(np.array([3 + 0j, 1 + 2j, -1 + 0j]))
    array([4., 0., 0., 8.])
    """

    length: int = 1
    gives: ClassVar[bool] = False
    dtypes: ClassVar[tuple[DType, ...]] = (complex64, complex128)

    def outcome(self, x: TensorType) -> TensorType:
        shape = list(x.shape)
        if shape[self.axis] != self.length // 2 + 1:
            raise ShapeError(
                f"{self.length} real numbers have a transform that begins with {self.length // 2 + 1} numbers",
                given={"operand": x, "axis": self.axis},
            )
        shape[self.axis] = self.length
        return TensorType(x.dtype.part, tuple(shape))

    def transformed(self, x: Array) -> Any:
        return np.fft.irfft(x, self.length, axis=self.axis, norm="forward")

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        half = self.length // 2 + 1
        often = np.full(half, 2.0)  # all but the first, and the last of an even number, stand for two
        often[0] = 1.0
        if self.length % 2 == 0:
            often[-1] = 1.0
        shape = [1] * len(x.shape)
        shape[self.axis] = half
        weights = p.constant(often.reshape(shape).astype(x.dtype.numpy))
        return (p.conj(Rfft(self.axis)(ct)) * weights,)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape, axis, n in (((5,), 0, 8), ((2, 3), 1, 5), ((4, 2), 0, 6), ((1,), 0, 1), ((2,), 0, 2)):
            yield Sample(cls(axis, length=n), (cls.drawn(*shape),))
