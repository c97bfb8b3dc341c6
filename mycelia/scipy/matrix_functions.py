"""Eigenvalues of any matrices, Schur's form, and functions of matrices, by SciPy's names."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy import linalg as la
from mycelia.numpy.creation import asarray
from mycelia.ops import decompositions
from mycelia.types import COMPLEX


def square(a: Any) -> Tensor:
    """Square matrices of floats.

    >>> square([[1]]).tolist()
    [[1.0]]
    """
    x = asarray(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError("square matrices are expected", given={"shape": x.shape})
    return cast(x, floating(x.dtype))


def expm(A: Any) -> Tensor:
    """The exponential of square matrices.

    >>> expm([[0.0]]).tolist()
    [[1.0]]
    """
    return ops.matrix_exp(square(A))


def eig(a: Any) -> tuple[Tensor, Tensor]:
    """Eigenvalues, in no order, and eigenvectors, as columns of length 1, of square matrices; they are complex.

    >>> eig([[0.0, -1.0], [1.0, 0.0]])[0].tolist()
    [1j, -1j]
    """
    return ops.eig(square(a))


def eigvals(a: Any) -> Tensor:
    """Eigenvalues of square matrices, in no order; they are complex.

    >>> eigvals([[0.0, -1.0], [1.0, 0.0]]).tolist()
    [1j, -1j]
    """
    return ops.eigvals(square(a))


def schur(a: Any, output: str = "real") -> tuple[Tensor, Tensor]:
    """Matrices T and Z: the matrix is Z @ T @ Z^H, Z is unitary, T upper triangular; that of a real matrix has blocks
    of two for conjugate eigenvalues, unless the output is "complex".

    >>> schur([[2.0, 1.0], [0.0, 3.0]])[0].tolist()
    [[2.0, 1.0], [0.0, 3.0]]
    """
    if output not in ("real", "complex", "r", "c"):
        raise ArgumentError(f"there is no output {output!r}", hint='"real" or "complex"')
    x = square(a)
    return decompositions.schur(_turning(x) if output[0] == "c" else x)


def _turning(x: Tensor) -> Tensor:
    return cast(x, COMPLEX.get(x.dtype, x.dtype))


def logm(A: Any) -> Tensor:
    """The logarithm of square matrices: its exponential is the matrix. A real matrix has a real one, or none: an error
    says so; SciPy gives a complex one then, which is that of the matrix cast to complex numbers.

    >>> logm([[1.0, 1.0], [0.0, 1.0]]).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return decompositions.matrix_log(square(A))


def sqrtm(A: Any) -> Tensor:
    """The root of square matrices: its square is the matrix. A real matrix has a real one, or none: an error says so;
    SciPy gives a complex one then, which is that of the matrix cast to complex numbers.

    >>> sqrtm([[4.0, 0.0], [0.0, 9.0]]).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return decompositions.matrix_root(square(A))


def cosm(A: Any) -> Tensor:
    """The cosine of square matrices.

    >>> cosm([[0.0]]).tolist()
    [[1.0]]
    """
    return _waves(A)[0]


def sinm(A: Any) -> Tensor:
    """The sine of square matrices.

    >>> sinm([[0.0]]).tolist()
    [[0.0]]
    """
    return _waves(A)[1]


def _waves(A: Any) -> tuple[Tensor, Tensor]:
    """Cosine and sine: exp(iA) is cos(A) + i sin(A)."""
    x = square(A)
    if not x.dtype.is_complex:
        both = ops.matrix_exp(_turning(x) * 1j)
        return ops.real(both), ops.imag(both)
    one, other = ops.matrix_exp(x * 1j), ops.matrix_exp(x * -1j)
    return (one + other) / 2, (one - other) / 2j


def tanm(A: Any) -> Tensor:
    """The tangent of square matrices: the sine over the cosine.

    >>> tanm([[0.0]]).tolist()
    [[0.0]]
    """
    cosine, sine = _waves(A)
    return la.solve(cosine, sine)


def coshm(A: Any) -> Tensor:
    """The hyperbolic cosine of square matrices.

    >>> coshm([[0.0]]).tolist()
    [[1.0]]
    """
    x = square(A)
    return (ops.matrix_exp(x) + ops.matrix_exp(-x)) / 2


def sinhm(A: Any) -> Tensor:
    """The hyperbolic sine of square matrices.

    >>> sinhm([[0.0]]).tolist()
    [[0.0]]
    """
    x = square(A)
    return (ops.matrix_exp(x) - ops.matrix_exp(-x)) / 2


def tanhm(A: Any) -> Tensor:
    """The hyperbolic tangent of square matrices.

    >>> tanhm([[0.0]]).tolist()
    [[0.0]]
    """
    return la.solve(coshm(A), sinhm(A))


def signm(A: Any) -> Tensor:
    """The matrix function that is 1 for eigenvalues in the right half-plane, -1 in the left one: A / root(A @ A).

    >>> signm([[2.0, 0.0], [0.0, -3.0]]).tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    x = square(A)
    return la.solve(sqrtm(ops.matmul(x, x)), x)


def fractional_matrix_power(A: Any, t: float) -> Tensor:
    """Square matrices to a power that need not be whole: exp(t log(A)).

    >>> [[round(n, 4) for n in row] for row in fractional_matrix_power([[4.0, 0.0], [0.0, 9.0]], 0.5).tolist()]
    [[2.0, 0.0], [0.0, 3.0]]
    """
    x = square(A)
    return la.matrix_power(x, int(t)) if t == int(t) else ops.matrix_exp(logm(x) * t)
