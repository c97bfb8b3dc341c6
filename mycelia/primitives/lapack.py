"""Matrices taken apart, and equations solved: Cholesky, QR, eigenvalues, singular values, linear systems, exponentials.

LAPACK computes them, through NumPy, on the last two axes; axes before these are a batch. A compiled program calls out
to it where it stands, inside the same native call. A matrix for which there is no answer (a singular one has no
inverse) gets nan for it, and `found` says so for each matrix: nothing else of a batch is touched, and whoever asks can
complain.
"""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, GradientError, ShapeError
from mycelia.ir import Cotangents, Lowered, Mistake, Op, Purity, Sample, Several, Value
from mycelia.primitives.family import check_dtype, draw, mapping, names
from mycelia.primitives.host import Callee
from mycelia.sizes import Dim
from mycelia.types import Array, DType, TensorType, TupleType, bool_, float32, float64, int32

__all__ = [
    "Cholesky",
    "Determinant",
    "Eigh",
    "LogDeterminant",
    "MatrixExp",
    "OfMatrices",
    "PseudoInverse",
    "Qr",
    "Solve",
    "Svd",
    "adjoint",
    "identity_matrix",
    "lower_part",
]


# ----------------------------------------------------------------------------------------------------- small words


def adjoint(x: Any) -> Any:
    """The matrices with rows and columns exchanged.

    >>> adjoint(p.zeros(float32, (5, 2, 3))).shape
    (5, 3, 2)
    """
    rank = len(x.shape)
    return p.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def identity_matrix(dtype: DType, size: Dim) -> Value:
    """The matrix with ones on its diagonal.

    >>> identity_matrix(float32, 3).shape
    (3, 3)
    """
    return p.cast(p.equal(p.iota(int32, (size, size), 0), p.iota(int32, (size, size), 1)), dtype)


def lower_part(x: Any, diagonal: float = 1.0) -> Any:
    """What lies below the diagonal, and the diagonal times a number; zero elsewhere.

    >>> lower_part(p.zeros(float32, (2, 2))).shape
    (2, 2)
    """
    rows, columns = (p.iota(int32, x.shape[-2:], axis) for axis in (0, 1))
    kept = p.select(p.greater(rows, columns), p.full(1.0, x.dtype, ()), p.full(0.0, x.dtype, ()))
    return x * (kept + p.cast(p.equal(rows, columns), x.dtype) * diagonal)


def _symmetric(x: Any) -> Any:
    return (x + adjoint(x)) * 0.5


def _diagonal(x: Any) -> Any:
    """The numbers of a last axis on the diagonal of matrices."""
    return p.expand_dims(x, (len(x.shape),)) * identity_matrix(x.dtype, x.shape[-1])


def _solved(a: Any, b: Any) -> Any:
    """The x for which a @ x is b."""
    return Solve()(a, b)[0]


def _apart(x: Any) -> Any:
    """One over the difference of each two numbers of a last axis, 0 of one and itself. That of two equal ones is
    infinite: vectors that belong to equal values have no derivative, and it is nan.
    """
    one = identity_matrix(x.dtype, x.shape[-1])
    return (1.0 - one) / (_columns(x) - _rows(x) + one)


def _columns(x: Any) -> Any:
    """A number for each column."""
    return p.expand_dims(x, (len(x.shape) - 1,))


def _rows(x: Any) -> Any:
    """A number for each row."""
    return p.expand_dims(x, (len(x.shape),))


# -------------------------------------------------------------------------------------------------------- the family


@dataclass(frozen=True)
class OfMatrices(Op, abstract=True):
    """The family: batches, element types, and the call of NumPy from compiled programs."""

    dtypes: ClassVar[tuple[DType, ...]] = (float32, float64)
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL
    square: ClassVar[bool] = True

    @property
    def host(self) -> Callee:
        """The function that programs call."""
        return _host(self)

    def infer(self, *inputs: TensorType) -> Any:
        check_dtype(self, *inputs)
        first = inputs[0]
        for x in inputs:
            if x.rank < 2:
                raise ShapeError(f"{self.name} takes matrices, and {x} has not two axes", hint="add axes to it")
            if x.shape[:-2] != first.shape[:-2]:
                raise ShapeError(f"{self.name} of batches of different shapes", given={"one": first, "other": x})
        if self.square and first.shape[-1] != first.shape[-2]:
            raise ShapeError(
                f"{self.name} takes square matrices, not {first}", hint="the last two axes must be of one size"
            )
        return self.types(*inputs)

    def types(self, *inputs: TensorType) -> Any:
        """The type of the result, of inputs that are as they should be."""
        raise AssertionError(f"{self.name} must say what it gives")

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        whole = [x if m else p.broadcast(x, (size, *x.shape)) for x, m in zip(inputs, mapped, strict=True)]
        return self(*whole)

    def axes(self, *inputs: TensorType) -> str:
        batch = names(inputs[0].rank - 2)
        given = self.infer(*inputs)
        results = given.elements if isinstance(given, TupleType) else (given,)
        named = [[*batch, *"1" * (t.rank - len(batch))] for t in (*inputs, *results)]
        if len(results) == 1:
            return mapping(named[:-1], named[-1])
        left, right = (", ".join(map(" ".join, part)) for part in (named[: len(inputs)], named[len(inputs) :]))
        return f"{left} -> {right}"

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        count = 2 if cls is Solve else 1
        op, whole = cls(), TensorType(int32, (2, 2))
        yield Mistake(lambda: op.infer(*[whole] * count), DTypeError, f"{cls.name} needs a")
        yield Mistake(lambda: op.infer(*[TensorType(float32, (2,))] * count), ShapeError, "has not two axes")
        if cls.square:
            long = TensorType(float32, (2, 3))
            yield Mistake(lambda: op.infer(*[long] * count), ShapeError, "takes square matrices")


@cache
def _host(op: OfMatrices) -> Callee:
    return Callee(op.reference, str(op), raises=False)


def _each(compute: Callable[..., Any], *inputs: Array) -> tuple[tuple[Array, ...], Array]:
    """What NumPy gives for a batch of matrices, nan where it finds nothing; and for which matrices it found it."""
    batch = inputs[0].shape[:-2]
    try:
        out = compute(*inputs)
        return (out if isinstance(out, tuple) else (out,)), np.ones(batch, np.bool_)
    except np.linalg.LinAlgError:
        if not batch:
            like = compute(*[np.eye(x.shape[-2], x.shape[-1], dtype=x.dtype) for x in inputs])
            empty = tuple(np.full_like(y, np.nan) for y in (like if isinstance(like, tuple) else (like,)))
            return empty, np.array(not all(np.isfinite(x).all() for x in inputs))
    found = [_each(compute, *[x[i] for x in inputs]) for i in range(batch[0])]
    parts = zip(*[one for one, _ in found], strict=True)
    return tuple(np.stack(part) for part in parts), np.stack([there for _, there in found])


def _flags(x: TensorType) -> TensorType:
    return TensorType(bool_, x.shape[:-2])


def _regular(*shape: int, seed: int = 0) -> Array:
    """Square matrices that are easy to invert, for samples."""
    return draw(*shape, low=-1.0, high=1.0, seed=seed) + np.float32(2.0) * np.eye(shape[-1], dtype=np.float32)


def _positive(*shape: int) -> Array:
    """Symmetric matrices with positive eigenvalues that lie apart, for samples."""
    x = draw(*shape, low=-0.3, high=0.3)
    spread = np.diag(np.arange(1.0, shape[-1] + 1.0, dtype=np.float32)) if shape[-1] else np.zeros((0, 0), np.float32)
    return (x + np.swapaxes(x, -1, -2)) + spread


# ------------------------------------------------------------------------------------------------------------ the ops


class Cholesky(OfMatrices, Several):
    """The lower triangular L for which L @ L.T is the (symmetric part of the) matrix, and whether there is one."""

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((x, _flags(x)))

    def reference(self, x: Array) -> tuple[Array, ...]:
        (lower,), found = _each(np.linalg.cholesky, (x + np.swapaxes(x, -1, -2)) * x.dtype.type(0.5))
        return lower, found

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        lower = out[0]
        middle = lower_part(p.matmul(adjoint(lower), ct[0]), 0.5)
        half = _solved(adjoint(lower), middle)  # L^-T middle L^-1
        return (_symmetric(adjoint(_solved(adjoint(lower), adjoint(half)))),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)):
            yield Sample(cls(), (_positive(*shape),))
        yield Sample(cls(), (np.diag([1.0, -1.0]).astype("f"),), smooth=False, note="not positive")


class Solve(OfMatrices, Several):
    """The matrix X for which A @ X is B, and whether there is one."""

    def types(self, a: TensorType, b: TensorType) -> TupleType:  # type: ignore[override]  # of two operands
        if a.shape[-1] != b.shape[-2]:
            raise ShapeError(
                f"{self.name}: {a} and {b} have not as many rows", hint="the right side is a matrix of columns"
            )
        return TupleType((b, _flags(a)))

    def reference(self, a: Array, b: Array) -> tuple[Array, ...]:
        (x,), found = _each(np.linalg.solve, a, b)
        return x, found

    def vjp(self, ct: Any, out: Any, a: Value, b: Value) -> Cotangents:
        back = _solved(adjoint(a), ct[0])
        return p.negative(p.matmul(back, adjoint(out[0]))), back

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        yield Sample(cls(), (_regular(3, 3), draw(3, 2, seed=1)))
        yield Sample(cls(), (_regular(2, 2, 2), draw(2, 2, 1, seed=1)))
        yield Sample(cls(), (_regular(0, 0), draw(0, 2, seed=1)))
        yield Sample(cls(), (np.ones((2, 2), "f"), draw(2, 2)), smooth=False, note="singular")


class Determinant(OfMatrices):
    """The determinant. Its derivative is the matrix of cofactors, which there is for singular matrices too."""

    def types(self, x: TensorType) -> TensorType:  # type: ignore[override]  # of one operand
        return TensorType(x.dtype, x.shape[:-2])

    def reference(self, x: Array) -> Any:
        return np.asarray(np.linalg.det(x))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        n = x.shape[-1]
        one = p.broadcast(identity_matrix(x.dtype, n), x.shape)
        singular = p.broadcast(_rows(_rows(p.equal(out, 0.0))), x.shape)
        regular = adjoint(_solved(p.select(singular, one, x), one)) * _rows(_rows(out))
        apart = one * p.cast(p.iota(int32, (n,), 0) + 1, x.dtype)  # where nobody looks, something that is smooth
        cofactors = p.select(singular, _cofactors(p.select(singular, x, apart)), regular)
        return (_rows(_rows(ct)) * cofactors,)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1)):
            yield Sample(cls(), (_regular(*shape),))
        yield Sample(cls(), (np.array([[1.0, 2.0], [2.0, 4.0]], "f"),), smooth=False, note="singular")


def _cofactors(x: Any) -> Any:
    """The determinants of what is left without a row and a column, with signs; also of singular matrices."""
    u, s, vh, _ = Svd()(x)
    itself = p.equal(identity_matrix(x.dtype, x.shape[-1]), 1.0)
    others = p.select(itself, p.full(1.0, x.dtype, ()), p.broadcast(_columns(s), x.shape))
    products = p.reduce_prod(others, (len(x.shape) - 1,))  # of all singular values but one
    sign = p.stop_gradient(Determinant()(p.matmul(u, vh)))
    return _rows(_rows(sign)) * p.matmul(u * _columns(products), vh)


class LogDeterminant(OfMatrices, Several):
    """The sign of the determinant, and the logarithm of its absolute value."""

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((TensorType(x.dtype, x.shape[:-2]),) * 2)

    def reference(self, x: Array) -> tuple[Array, ...]:
        return tuple(np.asarray(y) for y in np.linalg.slogdet(x))

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        if ct[1] is None:
            return (None,)  # the sign does not move
        inverse = _solved(x, p.broadcast(identity_matrix(x.dtype, x.shape[-1]), x.shape))
        return (_rows(_rows(ct[1])) * adjoint(inverse),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0)):
            yield Sample(cls(), (_regular(*shape),))
        yield Sample(cls(), (np.ones((2, 2), "f"),), smooth=False, note="singular")


@dataclass(frozen=True)
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

    def reference(self, x: Array) -> tuple[Array, ...]:
        q, r = np.linalg.qr(x, "complete" if self.complete else "reduced")
        return np.asarray(q), np.asarray(r)

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        (q, r), (m, n) = out, x.shape[-2:]
        if self.complete and m > n:
            raise GradientError(
                "a complete QR has no gradient: its last columns may be turned", hint='use the mode "reduced"'
            )
        to_q = p.zeros_like(q) if ct[0] is None else ct[0]
        to_r = p.zeros_like(r) if ct[1] is None else ct[1]
        if m >= n:
            return (_qr_back(q, r, to_q, to_r),)
        last = len(x.shape) - 1  # the first m columns are taken apart, the others are q.T times them
        own, others = (p.take(to_r, last, *part) for part in ((0, m), (m, n)))
        rest = p.take(x, last, m, n)
        head = _qr_back(q, p.take(r, last, 0, m), to_q + p.matmul(rest, adjoint(others)), own)
        return (p.concat([head, p.matmul(q, others)], last),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            x = draw(*shape)
            x[..., range(min(shape[-2:])), range(min(shape[-2:]))] += 3
            yield Sample(cls(), (x,))
        yield Sample(cls(complete=True), (_regular(2, 2),))


def _qr_back(q: Any, r: Any, to_q: Any, to_r: Any) -> Any:
    """For as many rows as columns, or more."""
    middle = p.matmul(r, adjoint(to_r)) - p.matmul(adjoint(to_q), q)
    below = lower_part(middle, 0.0)
    whole = below + adjoint(below) + middle * identity_matrix(middle.dtype, middle.shape[-1])
    return adjoint(_solved(r, adjoint(to_q + p.matmul(q, whole))))


@dataclass(frozen=True)
class Svd(OfMatrices, Several):
    """Matrices U, numbers s in falling order and matrices V.T: the matrix is U @ diag(s) @ V.T. U and V have as many
    columns as the smaller side, or are square if `full`. Last, whether they were found.
    """

    full: bool = False
    square: ClassVar[bool] = False

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        *batch, m, n = x.shape
        k = m if m <= n else n
        u, v = ((m, m), (n, n)) if self.full else ((m, k), (k, n))
        return TupleType((x.with_shape((*batch, *u)), x.with_shape((*batch, k)), x.with_shape((*batch, *v)), _flags(x)))

    def reference(self, x: Array) -> tuple[Array, ...]:
        parts, found = _each(lambda a: tuple(np.linalg.svd(a, self.full)), x)
        return (*parts, found)

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        u, s, vh, _ = out
        to_u, to_s, to_v, _ = ct
        m, n = x.shape[-2:]
        if self.full and m != n:
            if to_u is not None or to_v is not None:
                raise GradientError(
                    "full matrices of singular vectors have no gradient: the last ones may be turned",
                    hint="use full_matrices=False",
                )
            u, _, vh, _ = Svd()(x)
        middle = _diagonal(p.zeros_like(s) if to_s is None else to_s)
        apart = _apart(s * s)
        flowing: Any = None
        if to_u is not None:
            turned = p.matmul(adjoint(u), to_u)
            middle = middle + (turned - adjoint(turned)) * apart * _columns(s)
            if m > n:
                flowing = p.matmul((to_u - p.matmul(u, turned)) / _columns(s), vh)
        if to_v is not None:
            turned = p.matmul(vh, adjoint(to_v))
            middle = middle + _rows(s) * (turned - adjoint(turned)) * apart
            if n > m:
                flowing = p.matmul(u, (to_v - p.matmul(adjoint(turned), vh)) / _rows(s))
        whole = p.matmul(p.matmul(u, middle), vh)
        return (whole if flowing is None else whole + flowing,)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (4, 2), (2, 3), (2, 2, 2)):
            x = draw(*shape, low=-0.5, high=0.5)
            x[..., range(min(shape[-2:])), range(min(shape[-2:]))] += np.arange(1, min(shape[-2:]) + 1) * 2
            yield Sample(cls(), (x,))
        yield Sample(cls(full=True), (_regular(2, 2),))


class Eigh(OfMatrices, Several):
    """Eigenvalues in rising order, and eigenvectors as columns, of the symmetric part; and whether they were found."""

    def types(self, x: TensorType) -> TupleType:  # type: ignore[override]  # of one operand
        return TupleType((x.with_shape(x.shape[:-1]), x, _flags(x)))

    def reference(self, x: Array) -> tuple[Array, ...]:
        symmetric = (x + np.swapaxes(x, -1, -2)) * x.dtype.type(0.5)
        parts, found = _each(lambda a: tuple(np.linalg.eigh(a)), symmetric)
        return (*parts, found)

    def vjp(self, ct: Any, out: Any, x: Value) -> Cotangents:
        values, vectors, _ = out
        to_values, to_vectors, _ = ct
        middle = _diagonal(p.zeros_like(values) if to_values is None else to_values)
        if to_vectors is not None:
            turned = p.matmul(adjoint(vectors), to_vectors)
            middle = middle + turned * _apart(values)
        return (_symmetric(p.matmul(p.matmul(vectors, middle), adjoint(vectors))),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0)):
            yield Sample(cls(), (_positive(*shape),))


@dataclass(frozen=True)
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

    def reference(self, x: Array) -> Any:
        (u, s, vh), _ = _each(lambda a: tuple(np.linalg.svd(a, False)), x)
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps if self.rtol is None else self.rtol
        least = np.maximum(self.atol, rtol * s.max(-1, keepdims=True, initial=0.0))
        kept = s > least
        inverse = np.where(kept, 1 / np.where(kept, s, 1), np.where(np.isnan(s), s, 0)).astype(x.dtype)
        return np.swapaxes(vh, -1, -2) @ (inverse[..., None] * np.swapaxes(u, -1, -2))

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        m, n = x.shape[-2:]
        back, turned = adjoint(out), adjoint(ct)
        rows = identity_matrix(x.dtype, m) - p.matmul(x, out)
        columns = identity_matrix(x.dtype, n) - p.matmul(out, x)
        flowing = p.negative(p.matmul(p.matmul(back, ct), back))
        flowing = flowing + p.matmul(rows, p.matmul(turned, p.matmul(out, back)))
        return (flowing + p.matmul(p.matmul(back, out), p.matmul(turned, columns)),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (3, 2), (2, 3), (2, 2, 2)):
            x = draw(*shape, low=-0.5, high=0.5)
            x[..., range(min(shape[-2:])), range(min(shape[-2:]))] += 2
            yield Sample(cls(), (x,))
        yield Sample(cls(0.5), (np.diag([1.0, 0.1]).astype("f"),), smooth=False)
        yield Sample(cls(atol=1.5), (np.diag([2.0, 1.0]).astype("f"),), smooth=False)


class MatrixExp(OfMatrices):
    """The exponential of matrices: the sum of A^k / k!."""

    name = "matrix_exp"

    def types(self, x: TensorType) -> TensorType:  # type: ignore[override]  # of one operand
        return x

    def reference(self, x: Array) -> Any:
        return _exponential(x)

    def vjp(self, ct: Value, out: Value, x: Value) -> Cotangents:
        """The exponential of [[A.T, ct], [0, A.T]] has the derivative in its corner."""
        n, rank = x.shape[-1], len(x.shape)
        turned = adjoint(x)
        upper = p.concat([turned, ct], rank - 1)
        block = p.concat([upper, p.concat([p.zeros_like(x), turned], rank - 1)], rank - 2)
        corner = p.take(MatrixExp()(block), rank - 2, 0, n)
        return (p.take(corner, rank - 1, n, n + n),)

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0)):
            yield Sample(cls(), (draw(*shape, low=-1.0, high=1.0),))
        yield Sample(cls(), (draw(3, 3, low=-20.0, high=20.0),), smooth=False, note="large")


# of the Padé approximation of degree 13, which is exact to double precision up to a norm of 5.37 (Higham, 2005)
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_NORM = 5.371920351148152


def _exponential(x: Array) -> Array:
    """By scaling and squaring, in double precision."""
    if not x.size:
        return x.copy()
    a = x.astype(np.float64)
    norm = float(np.nan_to_num(np.abs(a).sum(-2), nan=0.0, posinf=0.0).max())
    turns = max(0, int(np.ceil(np.log2(norm / _NORM)))) if norm > _NORM else 0
    a = a / 2.0**turns
    one = np.broadcast_to(np.eye(x.shape[-1]), a.shape)
    powers = [one, a @ a]
    powers += [powers[1] @ powers[1]]
    powers += [powers[1] @ powers[2]]

    def even(first: int) -> Any:
        low = sum(_PADE[first + 2 * k] * powers[k] for k in range(4))
        return low + powers[3] @ sum(_PADE[first + 6 + 2 * k] * powers[k] for k in range(1, 4))

    odd, rest = a @ even(1), even(0)
    (out,), _ = _each(np.linalg.solve, rest - odd, rest + odd)
    for _ in range(turns):
        out = out @ out
    return out.astype(x.dtype)
