"""Linear systems solved step by step: a matrix, or a function that multiplies with it, is all that is asked for.

The rounds are run in Python, and how many there are depends on numbers; gradients flow through all of them.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from mycelia import ops
from mycelia.checks import whole
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import ShapeError
from mycelia.numpy.complexes import conj, real
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import result_type
from mycelia.numpy.linalg import qr
from mycelia.ops.sparse import COOTensor, CSRTensor
from mycelia.scipy.linalg import solve_triangular

__all__ = ["bicgstab", "cg", "gmres"]

Product = Callable[[Tensor], Tensor]


def _system(A: Any, b: Any, x0: Any, M: Any) -> tuple[Product, Tensor, Tensor, Product]:
    """Products with the matrix, the right side, where to begin, and products with what is like the inverse; numbers are
    of a type that holds those of all of them.
    """
    right = asarray(b)
    others = [_dtype(x) for x in (A, x0, M) if x is not None and (isinstance(x, Sparse) or not callable(x))]
    right = cast(right, floating(result_type(right.dtype, *others)))
    start = ops.zeros_like(right) if x0 is None else cast(asarray(x0), right.dtype)
    if start.shape != right.shape:
        raise ShapeError(
            "a solution begins in the shape of the right side", given={"b": right.shape, "x0": start.shape}
        )
    return _multiply(A), right, start, (lambda x: x) if M is None else _multiply(M)


Sparse = COOTensor | CSRTensor


def _dtype(x: Any) -> Any:
    return x.dtype if isinstance(x, Sparse) else asarray(x).dtype


def _multiply(A: Any) -> Product:
    if isinstance(A, COOTensor):
        rows, columns = A.indices[:, 0], A.indices[:, 1]
        return lambda x: ops.unsorted_segment_sum(cast(A.values, x.dtype) * ops.gather(x, columns, 0), rows, A.shape[0])
    if isinstance(A, CSRTensor):
        return lambda x: ops.reshape(A.astype(x.dtype).mv(ops.reshape(x, (-1, 1))), x.shape)
    if callable(A) and not isinstance(A, Tensor):
        return A
    matrix = asarray(A)
    return lambda x: ops.matmul(cast(matrix, x.dtype), x)


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return ops.sum(conj(x) * y)


def _size(x: Tensor) -> float:
    return float(real(_dot(x, x)).item()) ** 0.5


def _limit(b: Tensor, tol: float, rtol: float | None, atol: float) -> float:
    return max((tol if rtol is None else rtol) * _size(b), atol)


def cg(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    rtol: float | None = None,
) -> tuple[Tensor, int]:  # fmt: skip
    """The x for which A @ x is b, where A is symmetric (Hermitian) and positive definite, by conjugate gradients.

    And 0, or the number of rounds that did not suffice. A is a matrix, dense or sparse, or a function that multiplies
    with it, and M such a one that is like its inverse. The rest is at most `tol` (SciPy's `rtol`) of b, or `atol`.

    >>> cg([[2.0, 0.0], [0.0, 4.0]], [2.0, 4.0])[0].tolist()
    [1.0, 1.0]
    """
    multiply, right, x, better = _system(A, b, x0, M)
    limit, rounds = _limit(right, tol, rtol, atol), 10 * right.size if maxiter is None else maxiter
    left = right - multiply(x)
    improved = better(left)
    along, strength = improved, _dot(left, improved)
    for _ in range(rounds):
        if _size(left) <= limit:
            return x, 0
        moved = multiply(along)
        step = strength / _dot(along, moved)
        x, left = x + step * along, left - step * moved
        improved = better(left)
        strength, before = _dot(left, improved), strength
        along = improved + (strength / before) * along
    return x, 0 if _size(left) <= limit else rounds


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    rtol: float | None = None,
) -> tuple[Tensor, int]:  # fmt: skip
    """The x for which A @ x is b, by stabilised biconjugate gradients.

    And 0, the number of rounds that did not suffice, or -1 if it broke down.

    >>> [round(v, 4) for v in bicgstab([[2.0, 1.0], [0.0, 4.0]], [3.0, 4.0])[0].tolist()]
    [1.0, 1.0]
    """
    multiply, right, x, better = _system(A, b, x0, M)
    limit, rounds = _limit(right, tol, rtol, atol), 10 * right.size if maxiter is None else maxiter
    left = right - multiply(x)
    shadow, along, moved = left, ops.zeros_like(left), ops.zeros_like(left)
    rho = alpha = omega = ops.ones((), right.dtype)
    for _ in range(rounds):
        if _size(left) <= limit:
            return x, 0
        strength = _dot(shadow, left)
        if not strength.item() or not omega.item():
            return x, -1
        along = left + (strength / rho) * (alpha / omega) * (along - omega * moved)
        ahead = better(along)
        moved = multiply(ahead)
        alpha = strength / _dot(shadow, moved)
        half = left - alpha * moved
        if _size(half) <= limit:
            return x + alpha * ahead, 0
        beyond = better(half)
        turned = multiply(beyond)
        omega = _dot(turned, half) / _dot(turned, turned)
        x = x + alpha * ahead + omega * beyond
        left, rho = half - omega * turned, strength
    return x, 0 if _size(left) <= limit else rounds


def gmres(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, restart: int | None = None,
    maxiter: int | None = None, M: Any = None, rtol: float | None = None,
) -> tuple[Tensor, int]:  # fmt: skip
    """The x for which A @ x is b, by the smallest rest in spaces of up to `restart` directions (20), `maxiter` times.

    And 0, or the number of products with A that did not suffice. Arguments are those of `cg`; A may be any matrix.

    >>> [round(v, 4) for v in gmres([[2.0, 1.0], [0.0, 4.0]], [3.0, 4.0])[0].tolist()]
    [1.0, 1.0]
    """
    multiply, right, x, better = _system(A, b, x0, M)
    shape = right.shape
    limit, size = _limit(right, tol, rtol, atol), right.size
    most = min(20 if restart is None else whole("gmres", "restart", restart, least=1), max(size, 1))
    products = 0
    for _ in range(10 * size if maxiter is None else maxiter):
        left = right - multiply(x)
        if _size(left) <= limit:
            return x, 0
        step, made = _smallest_rest(lambda v: multiply(better(ops.reshape(v, shape))), left, most, limit)
        x, products = x + better(ops.reshape(step, shape)), products + made
    return x, 0 if _size(right - multiply(x)) <= limit else products


def _smallest_rest(multiply: Product, left: Tensor, most: int, limit: float) -> tuple[Tensor, int]:
    """The combination of up to `most` directions (Arnoldi's) whose product is nearest to `left`, and how many."""
    flat = ops.reshape(left, (-1,))
    length = ops.sqrt(real(_dot(flat, flat)))
    basis: list[Tensor] = [flat / cast(length, flat.dtype)]
    columns: list[list[Tensor]] = []
    for _ in range(most):
        new = ops.reshape(multiply(basis[-1]), (-1,))
        before, shares = _size(new), [ops.zeros((), flat.dtype) for _ in basis]
        for _ in range(2):  # the second time for what rounding has left
            for i, v in enumerate(basis):
                share = _dot(v, new)
                new, shares[i] = new - share * v, shares[i] + share
        columns.append(shares)
        if _size(new) <= 4 * float(numpy.finfo(flat.dtype.numpy).eps) * before:
            break  # the space holds the solution
        size = cast(ops.sqrt(real(_dot(new, new))), flat.dtype)
        shares.append(size)
        basis.append(new / size)
        if _rest(columns, float(length.item())) <= limit:
            break
    count, rows = len(columns), max(map(len, columns))
    zero = ops.zeros((), flat.dtype)
    matrix = ops.stack([ops.stack([*c, *[zero] * (rows - len(c))]) for c in columns], 1)
    q, r = qr(matrix)
    parts = solve_triangular(r, cast(length, flat.dtype) * conj(q[0]))
    return ops.matmul(ops.stack(basis[:count], 1), parts), count


def _rest(columns: list[list[Tensor]], length: float) -> float:
    """How far the best combination of directions is from what they are to give."""
    rows = len(columns[-1])
    matrix = numpy.zeros((rows, len(columns)), columns[0][0].dtype.numpy)
    for j, column in enumerate(columns):
        matrix[: len(column), j] = [v.item() for v in column]
    wanted = numpy.zeros(rows, matrix.dtype)
    wanted[0] = length
    parts = numpy.linalg.lstsq(matrix, wanted, None)[0]
    return float(numpy.linalg.norm(wanted - matrix @ parts))
