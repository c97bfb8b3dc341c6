"""Linear algebra by SciPy's names. Matrices are the last two axes; others are batches.

`overwrite_a` and its like allow to destroy an operand; no tensor is ever destroyed here, so they change nothing.
Nor does `check_finite`: what is not finite gives results that are not.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from mycelia import ops
from mycelia.checks import truth
from mycelia.eager import Tensor, cast, common, floating, wrap
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy import linalg as la
from mycelia.numpy.creation import asarray, eye
from mycelia.numpy.linalg import cond, conj_transpose, det, matrix_rank, multi_dot, pinv, svdvals
from mycelia.numpy.products import kron, norm, together
from mycelia.numpy.shapes import atleast_1d, atleast_2d, matrix_transpose
from mycelia.scipy.matrix_functions import (
    coshm,
    cosm,
    eig,
    eigvals,
    expm,
    fractional_matrix_power,
    logm,
    schur,
    signm,
    sinhm,
    sinm,
    sqrtm,
    square,
    tanhm,
    tanm,
)
from mycelia.types import int64

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "cond",
    "coshm",
    "cosm",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "fractional_matrix_power",
    "hadamard",
    "hankel",
    "hilbert",
    "inv",
    "kron",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matrix_rank",
    "multi_dot",
    "norm",
    "null_space",
    "orth",
    "pinv",
    "polar",
    "qr",
    "randomized_svd",
    "schur",
    "signm",
    "sinhm",
    "sinm",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "tanhm",
    "tanm",
    "toeplitz",
]


def _flags(name: str, **given: bool) -> None:
    """Flags are True or False, whatever they allow."""
    for flag, value in given.items():
        truth(name, flag, value)


# ------------------------------------------------------------------------------------------------- mindspore.scipy's


def block_diag(*arrs: Any) -> Tensor:
    """Matrices along the diagonal of a larger one, with zeros elsewhere; vectors are rows.

    >>> block_diag([[1, 2]], 3).tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    parts = [atleast_2d(a) for a in arrs] or [ops.zeros((1, 0))]
    if any(x.ndim != 2 for x in parts):
        raise ShapeError("block_diag takes matrices", given={"ranks": [x.ndim for x in parts]})
    parts = together(*parts)
    width = sum(x.shape[1] for x in parts)
    rows, before = [], 0
    for x in parts:
        left, right = ((x.shape[0], n) for n in (before, width - before - x.shape[1]))
        rows.append(ops.cat([ops.zeros(left, x.dtype), x, ops.zeros(right, x.dtype)], 1))
        before += x.shape[1]
    return ops.cat(rows, 0)


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The upper triangular U for which U.T @ U is the symmetric, positive definite matrix; or the lower one, U.T.

    Only the triangle that is asked for is looked at.

    >>> cholesky([[4.0]]).tolist()
    [[2.0]]
    """
    _flags("cholesky", overwrite_a=overwrite_a, check_finite=check_finite)
    return ops.cholesky(la.symmetric(a, "L" if lower else "U"), not lower)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """The Cholesky factor of a matrix, and whether it is the lower one, for `cho_solve`.

    >>> cho_factor([[4.0]])[1]
    False
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Tensor:
    """The X for which A @ X is b, where the Cholesky factor of A is given.

    >>> cho_solve(cho_factor([[4.0]]), [2.0]).tolist()
    [0.5]
    """
    _flags("cho_solve", overwrite_b=overwrite_b, check_finite=check_finite)
    factor, lower = c_and_lower
    half = solve_triangular(factor, b, trans=0 if lower else 2, lower=lower)
    return solve_triangular(factor, half, trans=2 if lower else 0, lower=lower)


def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: tuple[int, int] | None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues, in rising order, and eigenvectors, as columns, of symmetric matrices; or of a @ v = w b @ v.

    `type` 2 and 3 are a @ b @ v = w v and b @ a @ v = w v; `eigvals` are the first and last value that is wanted.

    >>> eigh([[2.0, 0.0], [0.0, 1.0]], eigvals_only=True).tolist()
    [1.0, 2.0]
    """
    _flags("eigh", overwrite_a=overwrite_a, overwrite_b=overwrite_b, turbo=turbo, check_finite=check_finite)
    if type not in (1, 2, 3):
        raise ArgumentError(f"there is no problem of type {type!r}", hint="1, 2 or 3")
    x = square(a)
    if b is None:
        values, vectors = la.eigh(x, "L" if lower else "U")
    else:
        x = la.symmetric(x, "L" if lower else "U")
        factor = cholesky(b, lower=True) if lower else conj_transpose(cholesky(b))
        if type == 1:
            inside = solve_triangular(factor, x, lower=True)
            inside = solve_triangular(factor, conj_transpose(inside), lower=True)
        else:
            inside = ops.matmul(conj_transpose(factor), ops.matmul(x, factor))
        values, vectors = la.eigh((inside + conj_transpose(inside)) / 2)
        turned = ops.matmul(factor, vectors) if type == 3 else None
        vectors = solve_triangular(factor, vectors, trans=2, lower=True) if turned is None else turned
    if eigvals is not None:
        first, last = eigvals
        values, vectors = values[..., first : last + 1], vectors[..., first : last + 1]
    return values if eigvals_only else (values, vectors)


def eigvalsh(a: Any, b: Any = None, lower: bool = True) -> Tensor:
    """Eigenvalues of symmetric matrices, in rising order; or those of a @ v = w b @ v.

    >>> eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    return eigh(a, b, lower, True)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """The inverse of square matrices. Of a singular one there is none: an error says so.

    >>> inv([[2.0]]).tolist()
    [[0.5]]
    """
    _flags("inv", overwrite_a=overwrite_a, check_finite=check_finite)
    return la.inv(a)


def lstsq(
    A: Any, B: Any, rcond: float | None = None, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The X for which A @ X is nearest to B, the squared distances, the rank of A and its singular values.

    >>> lstsq([[1.0], [1.0]], [1.0, 3.0])[0].tolist()
    [2.0]
    """
    if driver not in (None, "gelsd", "gelsy", "gelss", "gels"):
        raise ArgumentError(f"there is no driver {driver!r}", hint='leave it out: it is solved as "gelss" does')
    return la.lstsq(A, B, rcond)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Tensor, Tensor]:
    """L and U in one matrix, without the ones of L, and the exchanges of rows: row i with row piv[i], in order.

    >>> [t.tolist() for t in lu_factor([[1.0, 2.0], [4.0, 4.0]])]
    [[[4.0, 4.0], [0.25, 1.0]], [1, 1]]
    """
    _flags("lu_factor", overwrite_a=overwrite_a, check_finite=check_finite)
    order, lower, upper = _factored(asarray(a))
    rows, columns = lower.shape[-2], upper.shape[-1]
    unit = eye(rows, lower.shape[-1], dtype=lower.dtype)
    wide, tall = columns - lower.shape[-1], rows - upper.shape[-2]
    whole = ops.pad(lower - unit, (0, wide)) + ops.pad(upper, (0, 0, 0, tall))
    return whole, _exchanges(order, min(rows, columns))


def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Matrices P, L and U whose product is the matrix; or P @ L and U, with `permute_l`.

    >>> [t.tolist() for t in lu([[1.0, 2.0], [4.0, 4.0]])[1:]]
    [[[1.0, 0.0], [0.25, 1.0]], [[4.0, 4.0], [0.0, 1.0]]]
    """
    _flags("lu", permute_l=permute_l, overwrite_a=overwrite_a, check_finite=check_finite)
    order, lower, upper = _factored(asarray(a))
    rows = lower.shape[-2]
    places = cast(ops.expand_dims(order, order.ndim - 1), int64)  # the row of A at each row of L @ U
    here = ops.expand_dims(ops.arange(rows), 1) == places
    permutation = cast(here, lower.dtype.part)
    if permute_l:
        return ops.matmul(cast(permutation, lower.dtype), lower), upper
    return permutation, lower, upper


def _factored(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The order of rows, L and U, by elimination that takes the largest number of each column.

    Which row that is is found in the numbers; the factors are computed in tensors, so that gradients flow.
    """
    if a.ndim < 2:
        raise ShapeError("matrices are expected", given={"shape": a.shape})
    x = cast(a, floating(a.dtype))
    order = _pivots(x.numbers())
    rows, columns = x.shape[-2:]
    least = min(rows, columns)
    places = wrap(order)
    wide = ops.broadcast_to(ops.expand_dims(places, places.ndim), x.shape)
    rest = ops.gather_elements(x, x.ndim - 2, wide)
    lows, ups = [], []
    for i in range(least):
        up = rest[..., :1, :]
        low = rest[..., :, :1] / ops.where(up[..., :1] == 0, ops.ones_like(up[..., :1]), up[..., :1])
        low = ops.cat([ops.ones_like(low[..., :1, :]), low[..., 1:, :]], low.ndim - 2)
        lows.append(ops.pad(low, (0, 0, i, 0)))
        ups.append(ops.pad(up, (i, 0)))
        rest = rest[..., 1:, 1:] - low[..., 1:, :] * up[..., 1:]
    return places, ops.cat(lows, x.ndim - 1), ops.cat(ups, x.ndim - 2)


def _pivots(numbers: Any) -> Any:
    """The order of rows in which elimination takes them, for each matrix."""
    *batch, rows, columns = numbers.shape
    orders = []
    for matrix in numbers.reshape(-1, rows, columns):
        m, order = matrix.astype("complex128" if numbers.dtype.kind == "c" else "float64"), numpy.arange(rows)
        for i in range(min(rows, columns)):
            best = i + int(numpy.argmax(numpy.abs(m[i:, i])))
            m[[i, best]], order[[i, best]] = m[[best, i]], order[[best, i]]
            if m[i, i]:
                m[i + 1 :, i] /= m[i, i]
                m[i + 1 :, i + 1 :] -= numpy.outer(m[i + 1 :, i], m[i, i + 1 :])
        orders.append(order)
    return numpy.array(orders, dtype="int64").reshape(*batch, rows)


def _exchanges(order: Tensor, count: int) -> Tensor:
    """Which row each was exchanged with, in turn."""
    numbers = order.numbers()
    found = []
    for wanted in numbers.reshape(-1, numbers.shape[-1]):
        now = list(range(len(wanted)))
        turns = []
        for i in range(count):
            j = now.index(int(wanted[i]))
            turns.append(j)
            now[i], now[j] = now[j], now[i]
        found.append(turns)
    return wrap(numpy.array(found, dtype="int32").reshape(*numbers.shape[:-1], count))


def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0) -> Tensor:
    """The X for which A @ X is b (or A.T @ X, if `trans` is 1, A^H @ X for 2), where A was factored by `lu_factor`.

    >>> lu_solve(lu_factor([[2.0]]), [4.0]).tolist()
    [2.0]
    """
    if trans not in (0, 1, 2):
        raise ArgumentError(f"trans is 0, 1 or 2, not {trans!r}")
    factors, turns = asarray(lu_and_piv[0]), asarray(lu_and_piv[1]).numbers()
    if factors.ndim != 2:
        raise ShapeError("lu_solve takes one matrix", given={"shape": factors.shape})
    order = numpy.arange(factors.shape[0])
    for i, j in enumerate(turns):
        order[[i, int(j)]] = order[[int(j), i]]
    right = asarray(b)
    if trans == 0:
        half = solve_triangular(factors, ops.gather(right, wrap(order), 0), lower=True, unit_diagonal=True)
        return solve_triangular(factors, half)
    half = solve_triangular(factors, right, trans=trans)
    half = solve_triangular(factors, half, trans=trans, lower=True, unit_diagonal=True)
    return ops.gather(half, wrap(numpy.argsort(order)), 0)


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Tensor:
    """The X for which a @ X is b, where a is triangular: what lies on the other side is not looked at, nor the diagonal
    if it is made of ones; with `trans` 1 or "T" of the transposed matrix, 2 or "C" conjugated too.

    >>> solve_triangular([[2.0, 9.0], [1.0, 1.0]], [2.0, 2.0], lower=True).tolist()
    [1.0, 1.0]
    """
    _flags("solve_triangular", overwrite_b=overwrite_b, check_finite=check_finite)
    if trans not in (0, 1, 2, "N", "T", "C") or debug is not None:
        raise ArgumentError("trans is 0, 1, 2, N, T or C, and debug None", given={"trans": trans, "debug": debug})
    x, right = together(square(a), b)
    vector = right.ndim == x.ndim - 1
    right = ops.expand_dims(right, right.ndim) if vector else right
    if trans in (2, "C") and x.dtype.is_complex:
        x = ops.conj(x)
    out: Any = ops.triangular_solve(right, x, not lower, trans not in (0, "N"), unit_diagonal)
    out = out[0] if isinstance(out, tuple) else out
    return ops.squeeze(out, -1) if vector else out


# --------------------------------------------------------------------------------------------------- factors and more


def solve(a: Any, b: Any, lower: bool = False, assume_a: str = "gen", transposed: bool = False) -> Tensor:
    """The X for which a @ X is b; a may be said to be symmetric ("sym", "her") or positive definite ("pos").

    >>> solve([[2.0]], [4.0]).tolist()
    [2.0]
    """
    x = square(a)
    if assume_a in ("pos", "sym", "her"):
        if assume_a == "sym":
            half = ops.tril(x, -1) if lower else matrix_transpose(ops.triu(x, 1))
            x = half + matrix_transpose(half) + x - ops.tril(x, -1) - ops.triu(x, 1)
        else:
            x = la.symmetric(x, "L" if lower else "U")
        return cho_solve(cho_factor(x, True), b) if assume_a == "pos" else la.solve(x, b)
    if assume_a != "gen":
        raise ArgumentError(f"nothing is known of matrices that are {assume_a!r}", hint='"gen", "sym", "her" or "pos"')
    return la.solve(matrix_transpose(x) if transposed else x, b)


def qr(a: Any, mode: str = "full") -> Any:
    """Orthonormal columns and an upper triangular matrix whose product is the matrix: "full", "economic", or "(r,)".

    >>> qr([[3.0], [4.0]], "economic")[0].shape
    (2, 1)
    """
    if mode not in ("full", "economic", "r"):
        raise ArgumentError(f"there is no mode {mode!r}", hint='"full", "economic" or "r"')
    q, r = la.qr(a, "reduced" if mode == "economic" else "complete")
    return (r,) if mode == "r" else (q, r)


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """U, the singular values in falling order, and Vh: the matrix is (U * s) @ Vh; or the values alone.

    >>> svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False).tolist()
    [4.0, 3.0]
    """
    return tuple(la.svd(a, full_matrices)) if compute_uv else la.svd(a, compute_uv=False)


def randomized_svd(
    A: Any, n_components: int, *, n_oversamples: int = 10, n_iter: int = 4, seed: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of a matrix, with U and Vh: of what the matrix makes of a few random vectors (Halko,
    Martinsson and Tropp 2011), after powers that bring out the large ones. The name is scikit-learn's.

    >>> [round(v, 4) for v in randomized_svd([[3.0, 0.0], [0.0, 4.0]], 1, seed=1)[1].tolist()]
    [4.0]
    """
    x = asarray(A)
    x = cast(x, floating(x.dtype))
    if x.ndim != 2 or not 1 <= n_components <= min(x.shape):
        raise ArgumentError("a matrix has as many singular values as its smaller side", given={"shape": x.shape})
    count = min(n_components + n_oversamples, *x.shape)
    drawn = cast(ops.randn(x.shape[1], count, dtype=x.dtype.part, seed=seed), x.dtype)
    base = la.qr(ops.matmul(x, drawn)).Q
    for _ in range(n_iter):
        base = la.qr(ops.matmul(x, la.qr(ops.matmul(conj_transpose(x), base)).Q)).Q
    u, s, vh = la.svd(ops.matmul(conj_transpose(base), x), full_matrices=False)
    return ops.matmul(base, u)[:, :n_components], s[:n_components], vh[:n_components]


def polar(a: Any, side: str = "right") -> tuple[Tensor, Tensor]:
    """An orthogonal matrix u and a symmetric p, not negative, whose product is the matrix: u @ p, or p @ u on the left.

    >>> polar([[2.0]])[1].tolist()
    [[2.0]]
    """
    if side not in ("left", "right"):
        raise ArgumentError(f"there is no side {side!r}", hint='"left" or "right"')
    w, s, vh = la.svd(a, full_matrices=False)
    wide = ops.expand_dims(s, s.ndim - 1)
    if side == "right":
        return ops.matmul(w, vh), ops.matmul(conj_transpose(vh) * wide, vh)
    return ops.matmul(w, vh), ops.matmul(w * wide, conj_transpose(w))


def solve_sylvester(a: Any, b: Any, q: Any) -> Tensor:
    """The X for which a @ X + X @ b is q, by one linear system of all its elements.

    >>> solve_sylvester([[1.0]], [[2.0]], [[6.0]]).tolist()
    [[2.0]]
    """
    x, y, right = together(square(a), square(b), q)
    rows, columns = x.shape[0], y.shape[0]
    if right.shape != (rows, columns):
        raise ShapeError("q has the rows of a and the columns of b", given={"q": right.shape})
    whole = kron(x, eye(columns, dtype=x.dtype)) + kron(eye(rows, dtype=x.dtype), matrix_transpose(y))
    return ops.reshape(la.solve(whole, ops.reshape(right, (-1,))), (rows, columns))


def _rank(s: Tensor, shape: Sequence[int], rcond: float | None) -> int:
    cut = max(shape) * float(numpy.finfo(s.dtype.numpy).eps) if rcond is None else rcond
    numbers = s.numbers()
    return int((numbers > cut * numbers.max(initial=0)).sum())


def orth(A: Any, rcond: float | None = None) -> Tensor:
    """Orthonormal columns that span what the columns of a matrix do.

    >>> orth([[1.0, 1.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    u, s, _ = la.svd(A, full_matrices=False)
    return u[:, : _rank(s, asarray(A).shape, rcond)]


def null_space(A: Any, rcond: float | None = None) -> Tensor:
    """Orthonormal columns that span what a matrix makes zero of.

    >>> null_space([[1.0, 0.0]]).shape
    (2, 1)
    """
    _, s, vh = la.svd(A, full_matrices=True)
    return conj_transpose(vh[_rank(s, asarray(A).shape, rcond) :])


# ------------------------------------------------------------------------------------------------- special matrices


def _vector(c: Any) -> Tensor:
    x = atleast_1d(c)
    if x.ndim != 1:
        raise ShapeError("a vector is expected", given={"shape": x.shape})
    return x


def _at(values: Tensor, places: Any) -> Tensor:
    return ops.reshape(ops.gather(values, Tensor(places.ravel().astype("int64")), 0), places.shape)


def toeplitz(c: Any, r: Any = None) -> Tensor:
    """A matrix with one number on each diagonal: c is the first column, r the first row, without its first number; the
    conjugate of c, if it is not given.

    >>> toeplitz([1, 2], [9, 3]).tolist()
    [[1, 3], [2, 1]]
    """
    column = _vector(c)
    mirrored = ops.conj(column) if column.dtype.is_complex else column
    row = mirrored if r is None else _vector(r)
    wanted = common(column.dtype, row.dtype)
    values = ops.cat([ops.flip(cast(column, wanted), (0,)), cast(row, wanted)[1:]], 0)
    rows, columns = numpy.ogrid[: column.shape[0], : row.shape[0]]
    return _at(values, columns - rows + column.shape[0] - 1)


def circulant(c: Any) -> Tensor:
    """A square matrix whose columns are a vector, moved on by one each.

    >>> circulant([1, 2]).tolist()
    [[1, 2], [2, 1]]
    """
    column = _vector(c)
    rows, columns = numpy.ogrid[: column.shape[0], : column.shape[0]]
    return _at(column, (rows - columns) % column.shape[0])


def hankel(c: Any, r: Any = None) -> Tensor:
    """A matrix with one number on each diagonal that rises: c is the first column, r the last row.

    >>> hankel([1, 2], [9, 3]).tolist()
    [[1, 2], [2, 3]]
    """
    column = _vector(c)
    row = ops.zeros_like(column) if r is None else _vector(r)
    wanted = common(column.dtype, row.dtype)
    values = ops.cat([cast(column, wanted), cast(row, wanted)[1:]], 0)
    rows, columns = numpy.ogrid[: column.shape[0], : row.shape[0]]
    return _at(values, rows + columns)


def hilbert(n: int) -> Tensor:
    """The matrix of 1 / (i + j + 1).

    >>> hilbert(2).tolist()
    [[1.0, 0.5], [0.5, 0.3333333432674408]]
    """
    places = ops.arange(n)
    return 1.0 / (ops.expand_dims(places, 1) + places + 1)


def hadamard(n: int, dtype: Any = int64) -> Tensor:
    """The matrix of 1 and -1 whose rows are orthogonal; n is a power of two.

    >>> hadamard(2).tolist()
    [[1, 1], [1, -1]]
    """
    if n < 1 or n & (n - 1):
        raise ArgumentError(f"there is such a matrix for powers of two, not for {n}")
    rows, columns = numpy.ogrid[:n, :n]
    odd = numpy.array([int(v).bit_count() & 1 for v in (rows & columns).ravel()]).reshape(n, n)
    return ops.cast(Tensor(1 - 2 * odd), dtype)


def companion(a: Any) -> Tensor:
    """The matrix whose eigenvalues are the zeros of a polynomial, the highest power first.

    >>> companion([1.0, -3.0, 2.0]).tolist()
    [[3.0, -2.0], [1.0, 0.0]]
    """
    x = _vector(a)
    x = cast(x, floating(x.dtype))
    if x.shape[0] < 2:
        raise ShapeError("a polynomial has two coefficients at least", given={"shape": x.shape})
    first = ops.reshape(-x[1:] / x[0], (1, -1))
    return ops.cat([first, eye(x.shape[0] - 2, x.shape[0] - 1, dtype=x.dtype)], 0)
