"""Matrices taken apart, and equations solved: Cholesky, QR, symmetric eigenvalues, singular values, linear systems."""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import GradientError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Cotangents, Sample, Several, Value
from mycelia.primitives import lapack_library
from mycelia.primitives.family import draw
from mycelia.primitives.matrices import (
    OfMatrices,
    adjoint,
    angle_removed,
    columns,
    conjugated,
    flags,
    hermitian,
    hermitian_part,
    identity_matrix,
    kept_real,
    largest_real,
    lower_part,
    of_batch,
    on_diagonal,
    over_differences,
    positive,
    regular,
    rows_of,
    solved,
    symmetric,
    with_imaginary,
)
from mycelia.types import Array, TensorType, TupleType, int32

__all__ = ["Cholesky", "Determinant", "Eigh", "LogDeterminant", "PseudoInverse", "Qr", "Solve", "Svd"]


class Cholesky(OfMatrices, Several):
    """The lower triangular L for which L @ L^H is the (Hermitian part of the) matrix, and whether there is one."""

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((x, flags(x)))

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        (lower,), found = of_batch(lapack_library.cholesky, x)
        return lower, found

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        back = hermitian(out[0])
        middle = lower_part(p.matmul(back, *conjugated(ct[0])), 0.5)
        half = solved(back, middle)  # L^-H middle L^-1
        return conjugated(symmetric(hermitian(solved(back, hermitian(half)))))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)):
            yield Sample(cls(), (positive(*shape),))
        yield Sample(cls(), (with_imaginary(positive(2, 3, 3), True),))
        yield Sample(cls(), (np.diag([1.0, -1.0]).astype("f"),), smooth=False, note="not positive")


class Solve(OfMatrices, Several):
    """The matrix X for which A @ X is B, and whether there is one."""

    operands: ClassVar[int] = 2

    def types(self, a: TensorType, b: TensorType) -> TupleType:  # type: ignore[override]  # of two operands
        if a.shape[-1] != b.shape[-2]:
            raise ShapeError(
                f"{self.name}: {a} and {b} have not as many rows", hint="the right side is a matrix of columns"
            )
        return TupleType((b, flags(a)))

    def computed(self, a: Array, b: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of two operands
        (x,), found = of_batch(lapack_library.solve, a, b)
        return x, found

    def vjp(self, ct: Any, out: Any, a: Value, b: Value) -> Cotangents:
        back = solved(adjoint(a), ct[0])
        return p.negative(p.matmul(back, adjoint(out[0]))), back

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls(), (regular(3, 3), draw(3, 2, seed=1)))
        yield Sample(cls(), (regular(2, 2, 2), draw(2, 2, 1, seed=1)))
        yield Sample(cls(), (regular(0, 0), draw(0, 2, seed=1)))
        yield Sample(cls(), (with_imaginary(regular(2, 2, 2)), with_imaginary(draw(2, 2, 1, seed=1).repeat(2, -1))))
        yield Sample(cls(), (np.ones((2, 2), "f"), draw(2, 2)), smooth=False, note="singular")


class Determinant(OfMatrices):
    """The determinant. Its derivative is the matrix of cofactors, which there is for singular matrices too."""

    def types(self, x: TensorType) -> TensorType:  # type: ignore[override]  # of one operand
        return TensorType(x.dtype, x.shape[:-2])

    def computed(self, x: Array) -> Any:  # type: ignore[override]  # of one operand
        return np.asarray(np.linalg.det(x))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        n = x.shape[-1]
        one = p.broadcast(identity_matrix(x.dtype, n), x.shape)
        singular = p.broadcast(rows_of(rows_of(p.equal(out, 0.0))), x.shape)
        regular = adjoint(solved(p.select(singular, one, x), one)) * rows_of(rows_of(out))
        apart = one * p.cast(p.iota(int32, (n,), 0) + 1, x.dtype)  # where nobody looks, something that is smooth
        cofactors = p.select(singular, _cofactors(p.select(singular, x, apart)), regular)
        return (rows_of(rows_of(ct)) * cofactors,)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1)):
            yield Sample(cls(), (regular(*shape),))
        yield Sample(cls(), (with_imaginary(regular(2, 2, 2)),))
        yield Sample(cls(), (np.array([[1.0, 2.0], [2.0, 4.0]], "f"),), smooth=False, note="singular")


def _cofactors(x: Any) -> Any:
    """The determinants of what is left without a row and a column, with signs; also of singular matrices."""
    u, s, vh, _ = Svd()(x)
    itself = p.equal(identity_matrix(x.dtype, x.shape[-1]), 1.0)
    others = p.select(itself, p.full(1.0, s.dtype, ()), p.broadcast(columns(s), x.shape))
    products = p.reduce_prod(others, (len(x.shape) - 1,))  # of all singular values but one
    sign = Determinant()(p.matmul(u, vh))
    sign = sign if x.dtype.is_complex else p.stop_gradient(sign)
    return rows_of(rows_of(sign)) * p.matmul(p.conj(u) * p.cast(columns(products), x.dtype), p.conj(vh))


class LogDeterminant(OfMatrices, Several):
    """The sign of the determinant, and the logarithm of its absolute value."""

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((TensorType(x.dtype, x.shape[:-2]), TensorType(x.dtype.part, x.shape[:-2])))

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        return tuple(np.asarray(y) for y in np.linalg.slogdet(x))

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        sign, size = ct
        flowing = None if size is None else p.cast(size, x.dtype)
        if sign is not None and x.dtype.is_complex:  # a real sign does not move, a complex one turns
            turning = p.complex_of(p.zeros_like(p.real(sign)), p.imag(sign * out[0]))
            flowing = turning if flowing is None else flowing + turning
        if flowing is None:
            return (None,)
        inverse = solved(x, p.broadcast(identity_matrix(x.dtype, x.shape[-1]), x.shape))
        return (rows_of(rows_of(flowing)) * adjoint(inverse),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0)):
            yield Sample(cls(), (regular(*shape),))
        yield Sample(cls(), (with_imaginary(regular(2, 2, 2)),))
        yield Sample(cls(), (np.ones((2, 2), "f"),), smooth=False, note="singular")


@frozen
class Qr(OfMatrices, Several):
    """A matrix with orthonormal columns, as many as the smaller side has or, if `complete`, as there are rows; and an
    upper triangular one, whose product is the matrix.
    """

    complete: bool = False
    square: ClassVar[bool] = False

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        *batch, m, n = x.shape
        k = m if self.complete or m <= n else n
        return TupleType((x.with_shape((*batch, m, k)), x.with_shape((*batch, k, n))))

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        q, r = np.linalg.qr(x, "complete" if self.complete else "reduced")
        return np.asarray(q), np.asarray(r)

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        (q, r), (m, n) = out, x.shape[-2:]
        if self.complete and m > n:
            raise GradientError(
                "a complete QR has no gradient: its last columns may be turned", hint='use the mode "reduced"'
            )
        to_q, to_r = conjugated(*(p.zeros_like(y) if c is None else c for y, c in zip(out, ct, strict=True)))
        if m >= n:
            return conjugated(_qr_back(q, r, to_q, to_r))
        last = len(x.shape) - 1  # the first m columns are taken apart, the others are q^H times them
        own, others = (p.take(to_r, last, *part) for part in ((0, m), (m, n)))
        rest = p.take(x, last, m, n)
        head = _qr_back(q, p.take(r, last, 0, m), to_q + p.matmul(rest, hermitian(others)), own)
        return conjugated(p.concat([head, p.matmul(q, others)], last))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            x = draw(*shape)
            x[..., range(min(shape[-2:])), range(min(shape[-2:]))] += 3
            yield Sample(cls(), (x,))
            if shape != (3, 3):
                yield Sample(cls(), (x + np.complex128(0.3j) * (draw(*shape, seed=3) + 1),))
        yield Sample(cls(complete=True), (regular(2, 2),))


def _qr_back(q: Any, r: Any, to_q: Any, to_r: Any) -> Any:
    """For as many rows as columns, or more."""
    middle = p.matmul(r, hermitian(to_r)) - p.matmul(hermitian(to_q), q)
    below = lower_part(middle, 0.0)
    diagonal = middle + p.conj(middle) if middle.dtype.is_complex else middle * 2.0  # that of R is real
    whole = below + hermitian(below) + diagonal * identity_matrix(middle.dtype, middle.shape[-1]) * 0.5
    return hermitian(solved(r, hermitian(to_q + p.matmul(q, whole))))


@frozen
class Svd(OfMatrices, Several):
    """Matrices U, numbers s in falling order and matrices V^H: the matrix is U @ diag(s) @ V^H. U and V have as many
    columns as the smaller side, or are square if `full`. Last, whether they were found. Complex vectors may be turned
    by an angle, u and v together: here the largest number of each u is real.
    """

    full: bool = False
    square: ClassVar[bool] = False

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        *batch, m, n = x.shape
        k = m if m <= n else n
        u, v = ((m, m), (n, n)) if self.full else ((m, k), (k, n))
        values = TensorType(x.dtype.part, (*batch, k))
        return TupleType((x.with_shape((*batch, *u)), values, x.with_shape((*batch, *v)), flags(x)))

    def _of_one(self, x: Array) -> tuple[Array, ...]:
        return tuple(np.linalg.svd(x, True)) if self.full else lapack_library.svd(x)

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        (u, s, vh), found = of_batch(self._of_one, x)
        if x.dtype.kind == "c":
            k, turns = s.shape[-1], np.conj(np.swapaxes(largest_real(u), -1, -2))
            vh[..., :k, :] *= turns[..., :k, :]
            u = kept_real(u)
        return u, s, vh, found

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        u, s, vh, _ = out
        to_u, to_s, to_v, _ = conjugated(*ct)
        m, n = x.shape[-2:]
        if self.full and m != n:
            if to_u is not None or to_v is not None:
                raise GradientError(
                    "full matrices of singular vectors have no gradient: the last ones may be turned",
                    hint="use full_matrices=False",
                )
            u, _, vh, _ = Svd()(x)
        middle = p.cast(on_diagonal(p.zeros_like(s) if to_s is None else to_s), x.dtype)
        if to_u is None and to_v is not None and x.dtype.is_complex:
            to_u = p.zeros_like(u)  # they turn together
        apart, s = p.cast(over_differences(s * s), x.dtype), p.cast(s, x.dtype)
        flowing: Any = None
        if to_u is not None:
            together = None if to_v is None else p.reduce_sum(vh * p.conj(to_v), (len(x.shape) - 1,))
            to_u = angle_removed(u, to_u, together)
            inside = p.matmul(hermitian(u), to_u)
            around = inside - hermitian(inside)
            middle = middle + around * apart * columns(s)
            if x.dtype.is_complex:
                middle = middle + around * identity_matrix(x.dtype, s.shape[-1]) * 0.5 / columns(s)
            if m > n:
                flowing = p.matmul((to_u - p.matmul(u, inside)) / columns(s), vh)
        if to_v is not None:
            inside = p.matmul(vh, hermitian(to_v))
            middle = middle + rows_of(s) * (inside - hermitian(inside)) * apart
            if n > m:
                flowing = p.matmul(u, (to_v - p.matmul(hermitian(inside), vh)) / rows_of(s))
        whole = p.matmul(p.matmul(u, middle), vh)
        return conjugated(whole if flowing is None else whole + flowing)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (4, 2), (2, 3), (2, 2, 2)):
            x = draw(*shape, low=-0.5, high=0.5)
            x[..., range(min(shape[-2:])), range(min(shape[-2:]))] += np.arange(1, min(shape[-2:]) + 1) * 2
            yield Sample(cls(), (x,))
            if shape != (3, 3):
                yield Sample(cls(), (x + np.complex128(0.3j) * (draw(*shape, seed=3) + 1),))
        yield Sample(cls(full=True), (regular(2, 2),))


class Eigh(OfMatrices, Several):
    """Eigenvalues in rising order, and eigenvectors as columns, of the Hermitian part; and whether they were found. The
    largest number of a complex vector is real.
    """

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((TensorType(x.dtype.part, x.shape[:-1]), x, flags(x)))

    def computed(self, x: Array) -> tuple[Array, ...]:  # type: ignore[override]  # of one operand
        (values, vectors), found = of_batch(lambda a: tuple(np.linalg.eigh(a)), hermitian_part(x))
        return values, kept_real(vectors), found

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        values, vectors, _ = out
        to_values, to_vectors, _ = conjugated(*ct)
        middle = p.cast(on_diagonal(p.zeros_like(values) if to_values is None else to_values), x.dtype)
        if to_vectors is not None:
            inside = p.matmul(hermitian(vectors), angle_removed(vectors, to_vectors))
            middle = middle + inside * p.cast(over_differences(values), x.dtype)
        return conjugated(symmetric(p.matmul(p.matmul(vectors, middle), hermitian(vectors))))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0)):
            yield Sample(cls(), (positive(*shape),))
        yield Sample(cls(), (with_imaginary(positive(2, 3, 3), True),))


@frozen
class PseudoInverse(OfMatrices):
    """The pseudo-inverse (Moore and Penrose): singular values up to the larger of `atol` and `rtol` times the largest
    one count as zero. Where the rank does not change it is smooth.
    """

    rtol: float | None = None  # None: the larger side times the precision of the type
    atol: float = 0.0
    square: ClassVar[bool] = False
    name: ClassVar[str] = "pseudo_inverse"

    def types(self, x: TensorType) -> TensorType:  # type: ignore[override]  # of one operand
        *batch, m, n = x.shape
        return x.with_shape((*batch, n, m))

    def computed(self, x: Array) -> Any:  # type: ignore[override]  # of one operand
        (u, s, vh), _ = of_batch(lambda a: tuple(np.linalg.svd(a, False)), x)
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps if self.rtol is None else self.rtol
        least = np.maximum(self.atol, rtol * s.max(-1, keepdims=True, initial=0.0))
        kept = s > least
        inverse = np.where(kept, 1 / np.where(kept, s, 1), np.where(np.isnan(s), s, 0)).astype(x.dtype)
        return np.conj(np.swapaxes(vh, -1, -2)) @ (inverse[..., None] * np.conj(np.swapaxes(u, -1, -2)))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        m, n = x.shape[-2:]
        (ct,) = conjugated(ct)
        back, across = hermitian(out), hermitian(ct)
        rows = identity_matrix(x.dtype, m) - p.matmul(x, out)
        others = identity_matrix(x.dtype, n) - p.matmul(out, x)
        flowing = p.negative(p.matmul(p.matmul(back, ct), back))
        flowing = flowing + p.matmul(rows, p.matmul(across, p.matmul(out, back)))
        return conjugated(flowing + p.matmul(p.matmul(back, out), p.matmul(across, others)))

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (3, 2), (2, 3), (2, 2, 2)):
            x = draw(*shape, low=-0.5, high=0.5)
            x[..., range(min(shape[-2:])), range(min(shape[-2:]))] += 2
            yield Sample(cls(), (x,))
        yield Sample(cls(), (x + np.complex128(0.3j) * (draw(*shape, seed=3) + 1),))
        yield Sample(cls(0.5), (np.diag([1.0, 0.1]).astype("f"),), smooth=False)
        yield Sample(cls(atol=1.5), (np.diag([2.0, 1.0]).astype("f"),), smooth=False)
