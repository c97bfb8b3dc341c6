"""Linear algebra: factors, inverses, eigenvalues, norms. Matrices are the last two axes; others are batches."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy import products
from mycelia.numpy.creation import asarray
from mycelia.numpy.indexing import diagonal as _diagonal
from mycelia.numpy.products import (
    matmul,
    multi_dot,
    norm,
    tensordot,
    together,
    vecdot,
)
from mycelia.numpy.reductions import amax
from mycelia.numpy.reductions import sum as total
from mycelia.numpy.shapes import matrix_transpose
from mycelia.ops.arguments import axes_of

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


class QRResult(NamedTuple):
    """Orthonormal columns and an upper triangular matrix."""

    Q: Tensor
    R: Tensor


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors, as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVDResult(NamedTuple):
    """Left vectors as columns, singular values, right vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


def _matrices(a: Any, square: bool = False) -> Tensor:
    x = asarray(a)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        raise ShapeError(f"{'square matrices' if square else 'matrices'} are expected", given={"shape": x.shape})
    return cast(x, floating(x.dtype))


def cholesky(a: Any, *, upper: bool = False) -> Tensor:
    """The lower triangular L for which L @ L^H is the Hermitian, positive definite matrix; or the upper one, L^H.

    >>> cholesky([[4.0]]).tolist()
    [[2.0]]
    """
    return ops.cholesky(_matrices(a, True), upper)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns and an upper triangular matrix, whose product is the matrix.

    The mode "complete" has as many columns as rows, "r" gives the second alone.

    >>> q, r = qr([[3.0], [4.0]])
    >>> abs(r.item()) == 5.0, q.shape
    (True, (2, 1))
    """
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"there is no mode {mode!r}", hint='"reduced", "complete" or "r"')
    found = QRResult(*ops.qr(_matrices(a), "complete" if mode == "complete" else "reduced"))
    return found.R if mode == "r" else found


def symmetric(a: Any, UPLO: str) -> Tensor:
    """A symmetric or Hermitian matrix, of which one triangle is looked at; the diagonal is real."""
    if UPLO not in ("L", "U"):
        raise ArgumentError(f"a triangle is L or U, not {UPLO!r}")
    x = _matrices(a, True)
    half = ops.tril(x, -1) if UPLO == "L" else ops.triu(x, 1)
    diagonal = x - ops.tril(x, -1) - ops.triu(x, 1)
    if x.dtype.is_complex:
        diagonal = cast(ops.real(diagonal), x.dtype)
    return half + conj_transpose(half) + diagonal


def conj_transpose(x: Tensor) -> Tensor:
    """The conjugate, with rows and columns exchanged."""
    return ops.conj(matrix_transpose(x)) if x.dtype.is_complex else matrix_transpose(x)


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues, in rising order, and eigenvectors, as columns, of Hermitian matrices, of which one triangle counts.

    >>> eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [1.0, 2.0]
    """
    return EighResult(*ops.eigh(symmetric(a, UPLO)))


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors, as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def eig(a: Any) -> EigResult:
    """Eigenvalues, in no order, and eigenvectors, as columns of length 1, of square matrices. They are complex; NumPy
    gives real numbers where all of them are, and here the type does not depend on the numbers.

    >>> eig([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [(2+0j), (1+0j)]
    """
    return EigResult(*ops.eig(_matrices(a, True)))


def eigvals(a: Any) -> Tensor:
    """Eigenvalues of square matrices, in no order; they are complex.

    >>> eigvals([[0.0, -1.0], [1.0, 0.0]]).tolist()
    [1j, -1j]
    """
    return eig(a).eigenvalues


def eigvalsh(a: Any, UPLO: str = "L") -> Tensor:
    """Eigenvalues of symmetric matrices, in rising order.

    >>> eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    return eigh(a, UPLO).eigenvalues


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Matrices U and Vh and singular values S, in falling order: the matrix is (U * S) @ Vh; or the values alone.

    >>> svd([[3.0, 0.0], [0.0, 4.0]]).S.tolist()
    [4.0, 3.0]
    """
    x = _matrices(a)
    if not compute_uv:
        return ops.svd(x, compute_uv=False)
    s, u, v = ops.svd(x, full_matrices)
    return SVDResult(u, s, conj_transpose(v))


def svdvals(x: Any) -> Tensor:
    """Singular values, in falling order.

    >>> svdvals([[3.0, 0.0], [0.0, 4.0]]).tolist()
    [4.0, 3.0]
    """
    return ops.svd(_matrices(x), compute_uv=False)


def det(a: Any) -> Tensor:
    """The determinant of square matrices.

    >>> round(det([[1.0, 2.0], [3.0, 4.0]]).item(), 4)
    -2.0
    """
    return ops.det(_matrices(a, True))


def slogdet(a: Any) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its size.

    >>> slogdet([[2.0, 0.0], [0.0, 0.5]]).sign.item()
    1.0
    """
    return SlogdetResult(*ops.slogdet(_matrices(a, True)))


def inv(a: Any) -> Tensor:
    """The inverse of square matrices. Of a singular one there is none: an error says so.

    >>> inv([[2.0]]).tolist()
    [[0.5]]
    """
    return ops.inverse(_matrices(a, True))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse (Moore and Penrose); singular values up to `rcond` (or `rtol`) times the largest count as 0.

    >>> pinv([[2.0], [0.0]]).tolist()
    [[0.5, 0.0]]
    """
    x = _matrices(a)
    u, s, vh = svd(x, full_matrices=False)
    cut: Any = rcond if rcond is not None else rtol
    cut = max(x.shape[-2:]) * numpy.finfo(x.dtype.numpy).eps if cut is None else asarray(cut)
    cut = cast(ops.expand_dims(cut, cut.ndim), s.dtype) if isinstance(cut, Tensor) else float(cut)
    if not s.shape[-1]:
        return ops.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    keep = s > cut * amax(s, -1, True)
    over = ops.where(keep, 1 / ops.where(keep, s, ops.ones_like(s)), ops.zeros_like(s))
    return ops.matmul(conj_transpose(vh) * ops.expand_dims(over, over.ndim - 1), conj_transpose(u))


def solve(a: Any, b: Any) -> Tensor:
    """The X for which a @ X is b, which is one vector or matrices.

    >>> solve([[2.0]], [4.0]).tolist()
    [2.0]
    """
    x, y = together(_matrices(a, True), b)
    if y.ndim == 1:
        wide = ops.broadcast_to(ops.expand_dims(y, 1), (*x.shape[:-2], y.shape[0], 1))
        return ops.squeeze(ops.matrix_solve(x, wide), -1)
    batch = products.together(ops.zeros(x.shape[:-2]), ops.zeros(y.shape[:-2]))
    outer = (batch[0] + batch[1]).shape
    return ops.matrix_solve(ops.broadcast_to(x, (*outer, *x.shape[-2:])), ops.broadcast_to(y, (*outer, *y.shape[-2:])))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The X for which a @ X is nearest to b, the squared distances, the rank of a and its singular values.

    >>> lstsq([[1.0], [1.0]], [1.0, 3.0])[0].tolist()
    [2.0]
    """
    x, y = together(_matrices(a), b)
    if x.ndim != 2 or y.ndim not in (1, 2):
        raise ShapeError("lstsq takes one matrix", given={"a": x.shape, "b": y.shape})
    rows, columns = x.shape
    cut = max(rows, columns) * float(numpy.finfo(x.dtype.numpy).eps) if rcond is None else rcond
    u, s, vh = svd(x, full_matrices=False)
    keep = s > cut * amax(s)
    over = ops.where(keep, 1 / ops.where(keep, s, ops.ones_like(s)), ops.zeros_like(s))
    right = ops.expand_dims(y, 1) if y.ndim == 1 else y
    found = ops.matmul(conj_transpose(vh), ops.expand_dims(over, 1) * ops.matmul(conj_transpose(u), right))
    rank = total(keep)
    away = ops.matmul(x, found) - right
    residuals = total(ops.real(away * ops.conj(away)) if away.dtype.is_complex else away * away, 0)
    if rows <= columns or int(rank.item()) != columns:
        residuals = residuals[:0]
    return (ops.squeeze(found, 1) if y.ndim == 1 else found), residuals, rank, s


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    """How many singular values are not 0: above `tol`, or above `rtol` times the largest.

    >>> matrix_rank([[1.0, 1.0], [1.0, 1.0]]).item()
    1
    """
    x = asarray(A)
    if x.ndim < 2:
        return ops.cast(ops.any(x != 0), "int64")
    s = svdvals(x)
    if not s.shape[-1]:
        return ops.zeros(s.shape[:-1], "int64")
    if tol is None:
        share: Any = max(x.shape[-2:]) * numpy.finfo(s.dtype.numpy).eps if rtol is None else rtol
        share = asarray(share) if not isinstance(share, float | numpy.floating) else float(share)
        share = ops.expand_dims(cast(share, s.dtype), share.ndim) if isinstance(share, Tensor) else share
        limit = amax(s, -1, True) * share
    else:
        given = asarray(tol, s.dtype)
        limit = ops.expand_dims(given, given.ndim)
    return total(s > limit, -1)


def matrix_power(a: Any, n: int) -> Tensor:
    """Square matrices multiplied by themselves, n factors in all; the unit for 0, and for -n the inverse of that for n.

    >>> matrix_power([[1, 1], [0, 1]], 3).tolist()
    [[1, 3], [0, 1]]
    """
    x = asarray(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError("square matrices are expected", given={"shape": x.shape})
    if n < 0:
        x, n = inv(x), -n
    out: Any = None
    square = x
    while n:
        if n & 1:
            out = square if out is None else ops.matmul(out, square)
        n >>= 1
        square = ops.matmul(square, square) if n else square
    return ops.broadcast_to(ops.eye(x.shape[-1], dtype=x.dtype), x.shape) + 0 if out is None else out + 0


def cond(x: Any, p: Any = None) -> Tensor:
    """How much matrices enlarge errors: their norm times that of the inverse; for None, 2 and -2 by singular values.

    >>> cond([[2.0, 0.0], [0.0, 1.0]]).item()
    2.0
    """
    a = _matrices(x)
    if p in (None, 2, -2):
        s = svdvals(a)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return matrix_norm(a, ord=p) * matrix_norm(inv(a), ord=p)


# ------------------------------------------------------------------------------------------------------------ norms


def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """(sum |x|^ord)^(1/ord) along axes, or of all elements; the largest or smallest |x| for inf and -inf.

    >>> vector_norm([[3.0, 4.0]]).item()
    5.0
    """
    a = asarray(x)
    a = cast(a, floating(a.dtype))
    if isinstance(axis, tuple | list) and not axis:
        return ops.abs(a)
    axes = axes_of(a, axis)
    if not a.ndim:
        return ops.cast(a != 0, a.dtype) if ord == 0 else ops.abs(a)
    return ops.vector_norm(a, ord, axes, keepdims)


def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """A norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    >>> matrix_norm([[3.0, 4.0]]).item()
    5.0
    """
    a = _matrices(x)
    if a.dtype.kind == "c" and ord not in (2, -2, "nuc"):
        a = ops.abs(a)  # these norms look at sizes alone
    return ops.matrix_norm(a, "fro" if ord is None else ord, (-2, -1), keepdims)


# -------------------------------------------------------------------------------------------- as the standard has them


def cross(x1: Any, x2: Any, *, axis: int = -1) -> Tensor:
    """The cross product of vectors of three, along an axis.

    >>> cross([1, 0, 0], [0, 1, 0]).tolist()
    [0, 0, 1]
    """
    x, y = asarray(x1), asarray(x2)
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise ShapeError("vectors of a cross product have 3 numbers", given={"x1": x.shape, "x2": y.shape})
    return products.cross(x, y, axis=axis)


def outer(x1: Any, x2: Any) -> Tensor:
    """Every element of one vector times every element of another.

    >>> outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = asarray(x1), asarray(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeError("outer takes two vectors", given={"x1": x.shape, "x2": y.shape})
    return products.outer(x, y)


def diagonal(x: Any, *, offset: int = 0) -> Tensor:
    """A diagonal of matrices.

    >>> diagonal([[1, 2], [3, 4]]).tolist()
    [1, 4]
    """
    return _diagonal(x, offset, -2, -1)


def trace(x: Any, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sum of a diagonal of matrices.

    >>> trace([[1, 2], [3, 4]]).item()
    5
    """
    return total(diagonal(x, offset=offset), -1, dtype)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    """The x for which tensordot(a, x, x.ndim) is b; `axes` of a are moved to the end first.

    >>> tensorsolve([[[2.0]]], [[4.0]]).tolist()
    [2.0]
    """
    x, y = together(a, b)
    for axis in () if axes is None else axes:
        x = ops.moveaxis(x, axis, -1)
    shape = x.shape[y.ndim :]
    flat = ops.reshape(x, (y.size, -1))
    return ops.reshape(solve(flat, ops.reshape(y, (-1,))), shape)


def tensorinv(a: Any, ind: int = 2) -> Tensor:
    """The inverse of what tensordot with `ind` axes does.

    >>> tensorinv([[2.0]], 1).tolist()
    [[0.5]]
    """
    x = asarray(a)
    if ind < 1:
        raise ArgumentError(f"tensorinv needs one axis at least, not {ind}")
    flat = ops.reshape(x, (int(numpy.prod(x.shape[:ind])), -1))
    return ops.reshape(inv(flat), (*x.shape[ind:], *x.shape[:ind]))
