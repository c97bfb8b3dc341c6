"""Linear algebra: inverses, determinants, equations, and matrices taken apart. The last two axes are the matrices."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.checks import choice, truth
from mycelia.eager import Tensor, cast, wrap
from mycelia.eager.dispatch import must
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ir import Value
from mycelia.ops.arguments import method, pair, tensor
from mycelia.ops.linalg import matmul, matrix_norm
from mycelia.primitives.family import broadcast_shape
from mycelia.types import DType, complex64, complex128, float32, float64, int32

__all__ = [
    "adjoint",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "geqrf",
    "inverse",
    "log_matrix_determinant",
    "logdet",
    "lstsq",
    "lu_solve",
    "lu_unpack",
    "matrix_determinant",
    "matrix_exp",
    "matrix_solve",
    "orgqr",
    "ormqr",
    "pinv",
    "qr",
    "slogdet",
    "svd",
    "triangular_solve",
]


REAL = (float32, float64)


def _matrices(
    name: str, *inputs: Any, square: bool = False, dtypes: tuple[DType, ...] = (*REAL, complex64, complex128)
) -> tuple[Tensor, ...]:
    """Operands as matrices of one floating type."""
    found = tuple(tensor(x) for x in inputs)
    for x in found:
        if x.dtype not in dtypes:
            raise DTypeError(
                f"{name} takes {', '.join(map(repr, dtypes[:-1]))} or {dtypes[-1]!r}, not {x.dtype!r}",
                hint="cast it first, for example to float32",
            )
        if x.ndim < 2:
            raise ShapeError(f"{name} takes matrices, and a tensor of shape {x.shape} is none", hint="it has two axes")
    if square and found[0].shape[-1] != found[0].shape[-2]:
        raise ShapeError(
            f"{name} takes square matrices, not a tensor of shape {found[0].shape}",
            hint="the last two axes must be of one size",
        )
    return found if len(found) == 1 else pair(found[0], found[1])


def _sound(found: Tensor, words: str, hint: str, shape: Any) -> None:
    """Complain of matrices for which nothing was found: now, or when the program runs."""
    if found._data.__class__ is Value:
        must(p.reduce_all(found._data))
    elif not found.numbers().all():
        raise ArgumentError(words, given={"shape": shape}, hint=hint)


def _unit(x: Tensor, size: Any) -> Tensor:
    """The identity matrix, of the element type of another tensor."""
    return wrap(p.identity_matrix(x.dtype, size) if x._data.__class__ is Value else np.eye(size, dtype=x.dtype.numpy))


def _solution(name: str, a: Tensor, b: Tensor) -> Tensor:
    """The X for which A @ X is B; axes before the matrices broadcast."""
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    if batch is None or a.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"{name}: matrices of shape {a.shape} and a right side of shape {b.shape} do not fit",
            hint="they have as many rows, and the axes before them broadcast",
        )
    wide = [p.broadcast(x, (*batch, *x.shape[-2:])) for x in (a, b)]
    x, found = p.Solve()(*wide)
    _sound(found, f"{name}: a matrix is singular", "use pinv, or add a small number to the diagonal", a.shape)
    return x


@method("inverse")
def inverse(input: Any) -> Tensor:
    """The inverse of square matrices. Of a singular one there is none: an error says so.

    >>> inverse(Tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    (x,) = _matrices("inverse", input, square=True)
    return _solution("inverse", x, _unit(x, x.shape[-1]))


@method("det")
def det(input: Any) -> Tensor:
    """The determinant of square matrices.

    >>> det(Tensor([[2.0, 0.0], [1.0, 4.0]])).item()
    8.0
    """
    (x,) = _matrices("det", input, square=True)
    return p.Determinant()(x)


@method("matrix_determinant")
def matrix_determinant(input: Any) -> Tensor:
    """The determinant of square matrices.

    >>> matrix_determinant(Tensor([[2.0, 0.0], [1.0, 4.0]])).item()
    8.0
    """
    return det(input)


@method("slogdet")
def slogdet(input: Any) -> tuple[Tensor, Tensor]:
    """The sign of the determinant, and the logarithm of its absolute value.

    >>> [t.item() for t in slogdet(Tensor([[-1.0, 0.0], [0.0, 1.0]]))]
    [-1.0, 0.0]
    """
    (x,) = _matrices("slogdet", input, square=True)
    return p.LogDeterminant()(x)  # type: ignore[return-value]  # of two


@method("log_matrix_determinant")
def log_matrix_determinant(input: Any) -> tuple[Tensor, Tensor]:
    """The sign of the determinant, and the logarithm of its absolute value.

    >>> [t.item() for t in log_matrix_determinant(Tensor([[-1.0, 0.0], [0.0, 1.0]]))]
    [-1.0, 0.0]
    """
    return slogdet(input)


@method("logdet")
def logdet(input: Any) -> Tensor:
    """The logarithm of the determinant; nan of a negative one, unless numbers are complex.

    >>> logdet(Tensor([[1.0, 0.0], [0.0, 1.0]])).item()
    0.0
    """
    sign, logarithm = slogdet(input)
    if sign.dtype.is_complex:
        return p.log(sign) + p.cast(logarithm, sign.dtype)
    return p.select(p.less(sign, 0.0), p.full(float("nan"), sign.dtype, ()), logarithm)


# ---------------------------------------------------------------------------------------------------------- equations


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    """The X for which matrix @ X is the right side, a matrix too; with `adjoint`, of its conjugate transpose.

    >>> matrix_solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([[2.0], [2.0]])).tolist()
    [[1.0], [0.5]]
    """
    truth("matrix_solve", "adjoint", adjoint)
    a, b = _matrices("matrix_solve", matrix, rhs, square=True)
    return _solution("matrix_solve", p.hermitian(a) if adjoint else a, b)


@method("triangular_solve")
def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """The X for which A @ X is b, where A is triangular: what lies on the other side is not looked at, nor the diagonal
    if it is taken for ones. X and A come back.

    >>> triangular_solve(Tensor([[2.0], [4.0]]), Tensor([[2.0, 9.0], [0.0, 4.0]]), transpose=False)[0].tolist()
    [[-3.5], [1.0]]
    """
    for name, value in (("upper", upper), ("transpose", transpose), ("unitriangular", unitriangular)):
        truth("triangular_solve", name, value)
    right, a = _matrices("triangular_solve", b, A)
    if a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"triangular_solve takes square matrices, not a tensor of shape {a.shape}")
    kept = _triangle(a, upper, unitriangular)
    return _solution("triangular_solve", p.adjoint(kept) if transpose else kept, right), a.alias()


def _triangle(x: Tensor, upper: bool, unit: bool = False) -> Tensor:
    """One triangle of matrices, with the diagonal, or with ones on it."""
    turned = p.adjoint(x) if upper else x
    kept = p.lower_part(turned, 0.0 if unit else 1.0)
    if unit:
        kept = kept + _unit(x, x.shape[-1])
    return p.adjoint(kept) if upper else kept


@method("lstsq")
def lstsq(input: Any, A: Any) -> Tensor:
    """The X for which input @ X is nearest to `A` (least squares); the smallest one, if there are several.

    >>> [[round(n, 4) for n in row] for row in lstsq(Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]])).tolist()]
    [[2.0]]
    """
    x, right = tensor(input), tensor(A)
    vector = right.ndim == x.ndim - 1
    a, b = _matrices("lstsq", x, p.expand_dims(right, (right.ndim,)) if vector else right)
    if a.shape[-2] != b.shape[-2]:
        raise ShapeError(
            f"lstsq: matrices of shape {a.shape} and a right side of shape {right.shape} have not as many rows"
        )
    return matmul(p.PseudoInverse()(a), b)


@method("pinv")
def pinv(x: Any, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False) -> Tensor:
    """The pseudo-inverse (Moore and Penrose); singular values up to `atol`, and up to `rtol` times the largest, count
    as zero. Of a `hermitian` matrix the lower triangle is read.

    >>> [[round(n, 4) for n in row] for row in pinv(Tensor([[2.0, 0.0], [0.0, 0.0]])).tolist()]
    [[0.5, 0.0], [0.0, 0.0]]
    """
    (a,) = _matrices("pinv", x, square=truth("pinv", "hermitian", hermitian))
    if hermitian:
        below = p.lower_part(a, 0.0)
        a = p.lower_part(a) + p.hermitian(below)
    if rtol is None and atol is not None:
        rtol = 0.0
    return p.PseudoInverse(None if rtol is None else float(rtol), float(atol or 0.0))(a)


# ----------------------------------------------------------------------------------------------- matrices taken apart


@method("cholesky")
def cholesky(input_x: Any, upper: bool = False) -> Tensor:
    """The lower triangular L for which L @ L^H is the Hermitian, positive definite matrix; or the upper one, L^H.

    >>> cholesky(Tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    (x,) = _matrices("cholesky", input_x, square=True)
    lower, found = p.Cholesky()(x)
    hint = "its eigenvalues must be above 0: add a small number to the diagonal"
    _sound(found, "cholesky: a matrix is not positive definite", hint, x.shape)
    return p.hermitian(lower) if truth("cholesky", "upper", upper) else lower


@method("cholesky_inverse")
def cholesky_inverse(input_x: Any, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is given.

    >>> cholesky_inverse(Tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.25, 0.0], [0.0, 1.0]]
    """
    (x,) = _matrices("cholesky_inverse", input_x, square=True)
    return _of_factor("cholesky_inverse", x, _unit(x, x.shape[-1]), upper)


@method("cholesky_solve")
def cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Tensor:
    """The X for which A @ X is `input`, where `input2` is the Cholesky factor of A.

    >>> cholesky_solve(Tensor([[4.0], [1.0]]), Tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [[1.0], [1.0]]
    """
    right, factor = _matrices("cholesky_solve", input, input2)
    return _of_factor("cholesky_solve", factor, right, upper)


def _of_factor(name: str, factor: Tensor, right: Tensor, upper: bool) -> Tensor:
    if factor.shape[-1] != factor.shape[-2]:
        raise ShapeError(f"{name} takes a square factor, not one of shape {factor.shape}")
    kept = _triangle(factor, truth(name, "upper", upper))
    lower = p.hermitian(kept) if upper else kept
    return _solution(name, p.hermitian(lower), _solution(name, lower, right))


@method("qr")
def qr(input: Any, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Orthonormal columns and an upper triangular matrix, whose product is the matrix; in the mode "complete" as many
    columns as there are rows.

    >>> [t.shape for t in qr(Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))]
    [(3, 2), (2, 2)]
    """
    (x,) = _matrices("qr", input)
    choice("qr", "mode", mode, ("reduced", "complete"))
    return p.Qr(mode == "complete")(x)  # type: ignore[return-value]  # of two


@method("svd")
def svd(input: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """The singular values s, in falling order, and matrices u and v: the matrix is u @ diag(s) @ v^H; the values alone,
    if not `compute_uv`.

    >>> svd(Tensor([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False).tolist()
    [4.0, 3.0]
    """
    (x,) = _matrices("svd", input)
    truth("svd", "compute_uv", compute_uv)
    u, s, vh, found = p.Svd(truth("svd", "full_matrices", full_matrices) and compute_uv)(x)
    _sound(found, "svd: the singular values were not found", "scale the matrix", x.shape)
    return (s, u, p.hermitian(vh)) if compute_uv else s


def eigh(input: Any) -> tuple[Tensor, Tensor]:
    """Eigenvalues, in rising order, and eigenvectors, as columns, of symmetric or Hermitian matrices.

    >>> eigh(Tensor([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
    [1.0, 2.0]
    """
    (x,) = _matrices("eigh", input, square=True)
    values, vectors, found = p.Eigh()(x)
    _sound(found, "eigh: the eigenvalues were not found", "scale the matrix", x.shape)
    return values, vectors


def eig(A: Any) -> tuple[Tensor, Tensor]:
    """Eigenvalues, in no order, and eigenvectors, as columns of length 1, of square matrices; they are complex.

    >>> eig(Tensor([[0.0, -1.0], [1.0, 0.0]]))[0].tolist()
    [1j, -1j]
    """
    (x,) = _matrices("eig", A, square=True)
    values, vectors, found = (p.Eig() if x.dtype.is_complex else p.RealEig())(x)
    _sound(found, "eig: the eigenvalues were not found", "scale the matrix", x.shape)
    return values, vectors


@method("eigvals")
def eigvals(A: Any) -> Tensor:
    """Eigenvalues of square matrices, which are complex, in no order.

    >>> eigvals(Tensor([[0.0, -1.0], [1.0, 0.0]])).tolist()
    [1j, -1j]
    """
    return eig(A)[0]


@method("matrix_exp")
def matrix_exp(input: Any) -> Tensor:
    """The exponential of square matrices.

    >>> matrix_exp(Tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    (x,) = _matrices("matrix_exp", input, square=True)
    return p.MatrixExp()(x)


def matrix_log(input: Any) -> Tensor:
    """The matrices whose exponentials are the operands, with eigenvalues of imaginary parts between -pi and pi. Real
    matrices have real ones, or none: an error says so, and complex numbers help.

    >>> matrix_log(Tensor([[1.0, 1.0], [0.0, 1.0]])).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return _of_matrix("matrix_log", p.MatrixLog(), input, "logarithm")


def matrix_root(input: Any) -> Tensor:
    """The matrices whose squares are the operands, with eigenvalues in the right half-plane. Real matrices have real
    ones, or none: an error says so, and complex numbers help.

    >>> matrix_root(Tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return _of_matrix("matrix_root", p.MatrixRoot(), input, "root")


def _of_matrix(name: str, op: Any, input: Any, word: str) -> Tensor:
    (x,) = _matrices(name, input, square=True)
    out, found = op(x)
    of = "" if x.dtype.is_complex else " of real numbers"
    _sound(found, f"{name}: a matrix has no {word}{of}", "cast it to complex64, or see whether it is singular", x.shape)
    return out


def schur(input: Any) -> tuple[Tensor, Tensor]:
    """Matrices T and Z: the matrix is Z @ T @ Z^H, Z is unitary, T upper triangular; that of a real matrix has blocks
    of two for conjugate eigenvalues.

    >>> schur(Tensor([[2.0, 1.0], [0.0, 3.0]]))[0].tolist()
    [[2.0, 1.0], [0.0, 3.0]]
    """
    (x,) = _matrices("schur", input, square=True)
    t, z, found = p.Schur()(x)
    _sound(found, "schur: the form was not found", "scale the matrix", x.shape)
    return t, z


def cond(A: Any, p: Any = None) -> Tensor:  # MindSpore's name
    """How much a matrix enlarges errors: its norm times that of its inverse; for None, 2 and -2 by singular values.

    >>> cond(Tensor([[4.0, 0.0], [0.0, 2.0]])).item()
    2.0
    """
    (x,) = _matrices("cond", A, square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        values = svd(x, compute_uv=False)
        high, low = values[..., 0], values[..., -1]
        return low / high if p == -2 else high / low
    if p not in ("fro", "nuc", 1, -1, inf, -inf):
        raise ArgumentError(f"cond has no norm {p!r}", hint='choose None, "fro", "nuc", 1, -1, 2, -2, inf or -inf')
    return matrix_norm(x, p) * matrix_norm(inverse(x), p)


# -------------------------------------------------------------------------------------------------------- reflections


@method("geqrf")
def geqrf(input: Any) -> tuple[Tensor, Tensor]:
    """A QR factorization as LAPACK keeps it: R in and above the diagonal, below it the vectors of reflections, and
    their factors.

    >>> [t.shape for t in geqrf(Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))]
    [(3, 2), (2,)]
    """
    (x,) = _matrices("geqrf", input, dtypes=REAL)
    rows, columns = x.shape[-2:]
    out, factors = x, []
    for k in range(min(rows, columns)):
        out, factor = _reflected(out, k)
        factors.append(p.expand_dims(factor, (factor.ndim,)))
    empty = p.reshape(x[..., :0, :0], (*x.shape[:-2], 0))
    return out.alias() if out is x else out, p.concat(factors, x.ndim - 2) if factors else empty


def _reflected(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """One step: column k is reflected to its diagonal element, and all columns behind it with it."""
    column = x[..., k:, k]
    head, tail = column[..., 0], column[..., 1:]
    rest = p.reduce_sum(tail * tail, (tail.ndim - 1,))
    none, one = p.equal(rest, 0.0), p.full(1.0, x.dtype, ())
    size = p.sqrt(p.select(none, one, head * head + rest))
    beta = p.select(p.greater_equal(head, 0.0), p.negative(size), size)
    factor = p.select(none, p.full(0.0, x.dtype, ()), (beta - head) / beta)
    below = tail / p.expand_dims(p.select(none, one, head - beta), (head.ndim,))
    vector = p.concat([p.broadcast(one, (*head.shape, 1)), below], head.ndim)  # v, whose first element is 1
    block = x[..., k:, k:]
    product = matmul(p.expand_dims(vector, (head.ndim,)), block)
    moved = block - _spread(factor) * (p.expand_dims(vector, (head.ndim + 1,)) * product)
    first = p.concat([moved[..., :1, :1], p.expand_dims(below, (head.ndim + 1,))], head.ndim)
    block = p.concat([first, moved[..., :, 1:]], head.ndim + 1)
    lower = p.concat([x[..., k:, :k], block], head.ndim + 1) if k else block
    return (p.concat([x[..., :k, :], lower], head.ndim) if k else lower), factor


def _spread(x: Tensor) -> Tensor:
    return p.expand_dims(x, (x.ndim, x.ndim + 1))


def _reflections(name: str, vectors: Tensor, factors: Tensor) -> list[Tensor]:
    """The reflections I - tau v v.T, as matrices, from vectors below a diagonal."""
    rows, columns = vectors.shape[-2:]
    if factors.shape[:-1] != vectors.shape[:-2] or factors.shape[-1] > min(rows, columns):
        raise ShapeError(f"{name}: vectors of shape {vectors.shape} and factors of shape {factors.shape} do not fit")
    lower = p.lower_part(vectors, 0.0)
    found = []
    for k in range(factors.shape[-1]):
        unit = _unit(vectors, rows)
        v = lower[..., :, k] + unit[k]
        outer = p.expand_dims(v, (v.ndim,)) * p.expand_dims(v, (v.ndim - 1,))
        found.append(unit - _spread(factors[..., k]) * outer)
    return found


@method("orgqr")
def orgqr(input: Any, input2: Any) -> Tensor:
    """The orthonormal columns that reflections stand for, as `geqrf` gives them.

    >>> [[round(n, 4) for n in row] for row in orgqr(*geqrf(Tensor([[3.0], [4.0]]))).tolist()]
    [[-0.6], [-0.8]]
    """
    (x,), factors = _matrices("orgqr", input, dtypes=REAL), tensor(input2)
    if x.shape[-1] > x.shape[-2]:
        raise ShapeError(f"orgqr takes at most as many columns as rows, not {x.shape}")
    out: Any = p.broadcast(_unit(x, x.shape[-2])[:, : x.shape[-1]], x.shape)
    for reflection in reversed(_reflections("orgqr", x, factors)):
        out = matmul(reflection, out)
    return out


@method("ormqr")
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Tensor:
    """A matrix times the orthogonal matrix that reflections stand for, from the left or the right, or its transpose.

    >>> x, tau = geqrf(Tensor([[3.0], [4.0]]))
    >>> [[round(n, 4) for n in row] for row in ormqr(x, tau, Tensor([[3.0], [4.0]]), True, True).tolist()]
    [[-5.0], [0.0]]
    """
    (x,), factors, (out,) = _matrices("ormqr", input, dtypes=REAL), tensor(tau), _matrices("ormqr", other)
    found = _reflections("ormqr", x, factors)
    truth("ormqr", "left", left)
    for reflection in found if left == truth("ormqr", "transpose", transpose) else reversed(found):
        out = matmul(reflection, out) if left else matmul(out, reflection)
    return out if found else out.alias()


# ------------------------------------------------------------------------------------------------------------------ LU


def _swapped(pivots: Tensor, rows: int) -> Tensor:
    """The order of rows that exchanges lead to, one after the other; pivots count from 1."""
    places = cast(pivots, int32) - 1
    batch = places.shape[:-1]
    order = p.broadcast(_steps(rows), (*batch, rows))
    here = _steps(rows)
    for k in range(places.shape[-1]):
        other = p.expand_dims(places[..., k], (len(batch),))
        mine, theirs = (
            order[..., k : k + 1],
            p.reduce_sum(p.select(p.equal(here, other), order, p.full(0, int32, ())), (len(batch),), True),
        )
        order = p.select(p.equal(here, other), mine, order)
        order = p.select(p.equal(here, p.full(k, int32, ())), theirs, order)
    return order


def _steps(count: int) -> Tensor:
    return wrap(np.arange(count, dtype=np.int32))


def _permutation(pivots: Tensor, rows: int, like: Tensor) -> Tensor:
    """The matrix P for which P @ L @ U is the matrix that was factored."""
    order = _swapped(pivots, rows)
    here = p.expand_dims(_steps(rows), (1,))
    return cast(p.equal(p.expand_dims(order, (order.ndim - 1,)), here), like.dtype)


@method("lu_solve")
def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Tensor:
    """The X for which A @ X is b, where A was factored into L and U, in one matrix, and exchanges of rows.

    >>> lu_solve(Tensor([[2.0], [4.0]]), Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([1, 2])).tolist()
    [[1.0], [1.0]]
    """
    right, data = _matrices("lu_solve", b, LU_data)
    if data.shape[-1] != data.shape[-2]:
        raise ShapeError(f"lu_solve takes square matrices, not a tensor of shape {data.shape}")
    order = _permutation(tensor(LU_pivots), data.shape[-1], data)
    moved = matmul(p.adjoint(order), right)
    half = _solution("lu_solve", _triangle(data, False, True), moved)
    return _solution("lu_solve", _triangle(data, True), half)


def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """Matrices P, L and U, whose product is the matrix that was factored, from L and U in one matrix and exchanges of
    rows; without one of them if it is not to be unpacked.

    >>> [t.shape for t in lu_unpack(Tensor([[2.0, 0.0], [0.5, 4.0]]), Tensor([1, 2]))]
    [(2, 2), (2, 2), (2, 2)]
    """
    (x,) = _matrices("lu_unpack", LU_data)
    rows, columns = x.shape[-2:]
    least = min(rows, columns)
    found: list[Tensor] = []
    if truth("lu_unpack", "unpack_pivots", unpack_pivots):
        found.append(_permutation(tensor(LU_pivots), rows, x))
    if truth("lu_unpack", "unpack_data", unpack_data):
        lower = p.lower_part(x, 0.0)[..., :least] + _unit(x, rows)[:, :least]
        upper = p.adjoint(p.lower_part(p.adjoint(x)))[..., :least, :]
        found += [lower, upper]
    return tuple(found)


@method("adjoint")
def adjoint(x: Any) -> Tensor:
    """The conjugate, with the last two axes exchanged.

    >>> adjoint(Tensor([[1.0, 2.0]])).tolist()
    [[1.0], [2.0]]
    """
    a = tensor(x)
    if a.ndim < 2:
        raise ShapeError(f"adjoint takes matrices, and a tensor of shape {a.shape} is none")
    return p.conj(p.adjoint(a))
