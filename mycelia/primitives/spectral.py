"""Eigenvalues of any square matrices, and Schur's form."""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Cotangents, Sample, Several, Value, no_gradient
from mycelia.primitives import schur_forms
from mycelia.primitives.family import draw
from mycelia.primitives.matrices import (
    OfMatrices,
    angle_removed,
    columns,
    conjugated,
    flags,
    hermitian,
    kept_real,
    of_batch,
    on_diagonal,
    one_by_one,
    over_differences,
    solved,
    with_imaginary,
)
from mycelia.types import (
    COMPLEX,
    Array,
    DType,
    TensorType,
    TupleType,
    complex64,
    complex128,
    dtype_of,
    float32,
    float64,
)

__all__ = ["Eig", "RealEig", "Schur"]


class Eig(OfMatrices, Several):
    """Eigenvalues and eigenvectors, as columns of length 1 whose largest number is real; and whether they were found.
    Where two values are equal the vectors have no derivative: it is nan.
    """

    dtypes: ClassVar[tuple[DType, ...]] = (complex64, complex128)

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        whole = x if x.dtype.is_complex else x.with_dtype(COMPLEX[x.dtype])
        return TupleType((whole.with_shape(x.shape[:-1]), whole, flags(x)))

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        (values, vectors), found = of_batch(lambda a: tuple(np.linalg.eig(a)), x)
        wanted = x.dtype if x.dtype.kind == "c" else COMPLEX[dtype_of(x)].numpy
        return values.astype(wanted), kept_real(vectors.astype(wanted)), found

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        values, vectors, _ = out
        to_values, to_vectors, _ = conjugated(*ct)
        back = hermitian(vectors)
        middle = on_diagonal(p.zeros_like(values) if to_values is None else to_values)
        if to_vectors is not None:
            lengths = p.real(p.reduce_sum(p.conj(vectors) * to_vectors, (len(x.shape) - 2,)))
            along = vectors * p.cast(columns(lengths), vectors.dtype)
            moving = p.matmul(back, angle_removed(vectors, to_vectors) - along)
            middle = middle + moving * p.conj(over_differences(values))
        whole = solved(back, p.matmul(middle, back))
        return conjugated(whole if x.dtype.is_complex else p.real(whole))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        real = draw(2, 3, 3, low=-1.0, high=1.0) + np.diag(np.arange(3.0, dtype=np.float32)) * 2
        yield Sample(cls(), (with_imaginary(real),))
        yield Sample(cls(), (with_imaginary(real[0]).astype(np.complex64),))


class RealEig(Eig):
    """Those of real matrices, which come in conjugate pairs where they are not real."""

    name = "real_eig"
    takes: ClassVar[bool] = False
    dtypes: ClassVar[tuple[DType, ...]] = (float32, float64)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        spiral = np.array([[0.5, -2.0, 0.1], [1.5, 0.7, 0.2], [0.3, -0.1, 3.0]])
        yield Sample(cls(), (np.stack([spiral, spiral.T + np.diag([1.0, 2.0, 4.0])]),))
        yield Sample(cls(), (spiral.astype("f"),))
        yield Sample(cls(), (np.zeros((0, 0), "f"),))


class Schur(OfMatrices, Several):
    """Matrices T and Z, whose product Z @ T @ Z^H is the matrix, and whether they were found: Z is unitary, T upper
    triangular; that of a real matrix has blocks of two for conjugate eigenvalues.
    """

    vjp = no_gradient("its columns are not determined by the matrix alone")

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((x, x, flags(x)))

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        (t, z), found = of_batch(one_by_one(schur_forms.schur, 2), x)
        return t.astype(x.dtype), z.astype(x.dtype), found

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = draw(2, 4, 4, low=-1.0, high=1.0)
        yield Sample(cls(), (x,), smooth=False)
        yield Sample(cls(), (with_imaginary(x),), smooth=False)
        yield Sample(cls(), (np.zeros((0, 0), "f"),), smooth=False)
