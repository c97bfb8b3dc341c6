"""Matrices as the last two axes of tensors: the words of their rules, and the family of ops that LAPACK computes.

Axes before the last two are a batch. A compiled program calls out to LAPACK, through NumPy, where it stands, inside the
same native call. A matrix for which there is no answer (a singular one has no inverse) gets nan for it, and `found`
says so for each matrix: nothing else of a batch is touched, and whoever asks can complain.
"""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from mycelia import primitives as p
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Lowered, Mistake, Op, Purity, Value
from mycelia.primitives.family import check_dtype, draw, mapping, names
from mycelia.primitives.host import Callee
from mycelia.primitives.lapack_library import fitting
from mycelia.primitives.pairs import as_complex, as_pairs, joined, paired
from mycelia.sizes import Dim
from mycelia.types import Array, DType, TensorType, TupleType, bool_, float32, float64, int32

__all__ = ["OfMatrices", "adjoint", "hermitian", "identity_matrix", "lower_part"]


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


def hermitian(x: Any) -> Any:
    """The conjugate of matrices, with rows and columns exchanged; of real ones `adjoint`.

    >>> hermitian(p.zeros(float32, (5, 2, 3))).shape
    (5, 3, 2)
    """
    return adjoint(p.conj(x))


def conjugated(*cotangents: Any) -> tuple[Any, ...]:
    """Cotangents as a step against them goes down: rules transpose without conjugating (see `complexes`), and where a
    function is not holomorphic (a size, a conjugate occurs in it) its formula is known the other way.
    """
    return tuple(None if ct is None else p.conj(ct) for ct in cotangents)


def angle_removed(vectors: Any, ct: Any, other: Any = None) -> Any:
    """The cotangent of complex vectors, as columns, whose largest number is kept real: what would turn all numbers of
    a vector by one angle goes into that one. `other` is the diagonal of further vectors that turn with them.
    """
    extent = vectors.shape[-1]
    if not vectors.dtype.is_complex or (isinstance(extent, int) and not extent):
        return ct
    rank = len(vectors.shape)
    turning = p.reduce_sum(p.conj(vectors) * ct, (rank - 2,))
    turning = p.imag(turning if other is None else turning + other)
    sizes = p.abs(vectors)
    places = p.arg_max(p.stop_gradient(sizes), rank - 2)
    first = p.equal(p.broadcast(p.iota(int32, vectors.shape[-2:], 0), sizes.shape), columns(p.cast(places, int32)))
    zero = p.zeros_like(sizes)
    wide = p.broadcast(columns(turning), sizes.shape)
    share = p.select(first, wide / p.select(first, p.real(vectors), p.full(1.0, sizes.dtype, ())), zero)
    return ct - p.complex_of(zero, share)


def symmetric(x: Any) -> Any:
    return (x + hermitian(x)) * 0.5


def largest_real(x: Array) -> Array:
    """Factors of size 1 that make the largest number of each column real, and not negative; ones for real numbers."""
    if x.dtype.kind != "c" or not x.size:
        return np.ones((*x.shape[:-2], 1, x.shape[-1]), x.dtype)
    first = np.take_along_axis(x, np.argmax(np.abs(x), -2)[..., None, :], -2)
    size = np.abs(first)
    return np.where(size > 0, np.conj(first) / np.where(size > 0, size, 1), 1).astype(x.dtype)


def kept_real(x: Array) -> Array:
    """The columns, times such factors; the largest number is real to the last bit."""
    out = x * largest_real(x)
    if x.dtype.kind == "c" and x.size:
        places = np.argmax(np.abs(out), -2)[..., None, :]
        np.put_along_axis(out, places, np.abs(np.take_along_axis(out, places, -2)).astype(x.dtype), -2)
    return out


def on_diagonal(x: Any) -> Any:
    """The numbers of a last axis on the diagonal of matrices."""
    return p.expand_dims(x, (len(x.shape),)) * identity_matrix(x.dtype, x.shape[-1])


def solved(a: Any, b: Any) -> Any:
    """The x for which a @ x is b."""
    return p.Solve()(a, b)[0]


def over_differences(x: Any) -> Any:
    """One over the difference of each two numbers of a last axis, 0 of one and itself. That of two equal ones is
    infinite: vectors that belong to equal values have no derivative, and it is nan.
    """
    one = identity_matrix(x.dtype, x.shape[-1])
    return (1.0 - one) / (columns(x) - rows_of(x) + one)


def columns(x: Any) -> Any:
    """A number for each column."""
    return p.expand_dims(x, (len(x.shape) - 1,))


def rows_of(x: Any) -> Any:
    """A number for each row."""
    return p.expand_dims(x, (len(x.shape),))


# -------------------------------------------------------------------------------------------------------- the family


@frozen
class OfMatrices(Op, abstract=True):
    """The family: batches, element types, and the call of NumPy from compiled programs."""

    paired: bool = field(default=False, kw_only=True)  # complex numbers are pairs of real ones along a last axis
    dtypes: ClassVar[tuple[DType, ...]] = (float32, float64)
    native: ClassVar[Lowered] = Lowered.STEP
    purity: ClassVar[Purity] = Purity.TOTAL
    square: ClassVar[bool] = True
    operands: ClassVar[int] = 1
    takes: ClassVar[bool] = True  # whether it takes complex numbers; one that does not may give them

    @property
    def host(self) -> Callee:
        """The function that programs call."""
        return _host(self)

    def infer(self, *inputs: TensorType) -> Any:
        if self.paired:
            return paired(replace(self, paired=False).infer(*map(joined, inputs) if self.takes else inputs))
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

    def reference(self, *inputs: Array) -> Any:
        if not self.paired:
            return fitting(self.computed, *inputs)
        given = map(as_complex, inputs) if self.takes else inputs
        out = fitting(self.computed, *given)
        parts = tuple(as_pairs(y) if y.dtype.kind == "c" else y for y in (out if isinstance(out, tuple) else (out,)))
        return parts if isinstance(out, tuple) else parts[0]

    def computed(self, *inputs: Array) -> Any:
        """The result, by NumPy."""
        raise AssertionError(f"{self.name} must say what it gives")

    def on_pairs(self, *inputs: Value) -> Any:
        return replace(self, paired=True)(*inputs)

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        whole = [x if m else p.broadcast(x, (size, *x.shape)) for x, m in zip(inputs, mapped, strict=True)]
        return self(*whole)

    def axes(self, *inputs: TensorType) -> str:
        batch = names(inputs[0].rank - 2 - (self.paired and self.takes))
        given = self.infer(*inputs)
        results = given.elements if isinstance(given, TupleType) else (given,)
        named = [[*batch, *"1" * (t.rank - len(batch))] for t in (*inputs, *results)]
        if len(results) == 1:
            return mapping(named[:-1], named[-1])
        left, right = (", ".join(map(" ".join, part)) for part in (named[: len(inputs)], named[len(inputs) :]))
        return f"{left} -> {right}"

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        op, whole, count = cls(), TensorType(int32, (2, 2)), cls.operands
        yield Mistake(lambda: op.infer(*[whole] * count), DTypeError, f"{cls.name} needs a")
        yield Mistake(lambda: op.infer(*[TensorType(cls.dtypes[0], (2,))] * count), ShapeError, "has not two axes")
        if cls.square:
            long = TensorType(cls.dtypes[0], (2, 3))
            yield Mistake(lambda: op.infer(*[long] * count), ShapeError, "takes square matrices")


@cache
def _host(op: OfMatrices) -> Callee:
    return Callee(op.reference, str(op), raises=False)


def of_batch(compute: Callable[..., Any], *inputs: Array) -> tuple[tuple[Array, ...], Array]:
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
    found = [of_batch(compute, *[x[i] for x in inputs]) for i in range(batch[0])]
    parts = zip(*[one for one, _ in found], strict=True)
    return tuple(np.stack(part) for part in parts), np.stack([there for _, there in found])


def one_by_one(compute: Callable[[Array], Any], count: int) -> Callable[[Array], tuple[Array, ...]]:
    """A function of one matrix as one of batches."""

    def of_all(x: Array) -> tuple[Array, ...]:
        if x.ndim == 2:
            out = compute(x)
            return out if isinstance(out, tuple) else (out,)
        found = [of_all(part) for part in x]
        return tuple(np.stack(part) for part in zip(*found, strict=True)) if found else (x.copy(),) * count

    return of_all


def hermitian_part(x: Array) -> Array:
    return (x + np.conj(np.swapaxes(x, -1, -2))) * x.dtype.type(0.5)


def flags(x: TensorType) -> TensorType:
    return TensorType(bool_, x.shape[:-2])


def regular(*shape: int, seed: int = 0) -> Array:
    """Square matrices that are easy to invert, for samples."""
    return draw(*shape, low=-1.0, high=1.0, seed=seed) + np.float32(2.0) * np.eye(shape[-1], dtype=np.float32)


def positive(*shape: int) -> Array:
    """Symmetric matrices with positive eigenvalues that lie apart, for samples."""
    x = draw(*shape, low=-0.3, high=0.3)
    spread = np.diag(np.arange(1.0, shape[-1] + 1.0, dtype=np.float32)) if shape[-1] else np.zeros((0, 0), np.float32)
    return (x + np.swapaxes(x, -1, -2)) + spread


def with_imaginary(x: Array, hermitian: bool = False) -> Array:
    """The matrices with an imaginary part beside the real one, for samples; one that keeps them Hermitian, if asked."""
    other = draw(*x.shape, low=-0.4, high=0.4, seed=5).astype(np.float64)
    return x + 1j * (other - np.swapaxes(other, -1, -2) if hermitian else other)
