"""Polynomials as vectors of coefficients, the highest power first."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy.calculus import convolve
from mycelia.numpy.complexes import conj, real
from mycelia.numpy.creation import asarray, eye, vander
from mycelia.numpy.linalg import eigvals
from mycelia.numpy.products import together
from mycelia.numpy.shapes import atleast_1d
from mycelia.types import complex64, complex128

__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots"]


def _coefficients(p: Any) -> Tensor:
    x = atleast_1d(asarray(p))
    if x.ndim != 1:
        raise ShapeError("the coefficients of a polynomial are a vector", given={"shape": x.shape})
    return x


def _aligned(a1: Any, a2: Any) -> tuple[Tensor, Tensor]:
    x, y = together(_coefficients(a1), _coefficients(a2))
    count = max(x.shape[0], y.shape[0])
    x, y = (ops.cat([ops.zeros((count - t.shape[0],), t.dtype), t], 0) for t in (x, y))
    return x, y


def polyadd(a1: Any, a2: Any) -> Tensor:
    """The sum of two polynomials.

    >>> polyadd([1, 2], [9, 5, 4]).tolist()
    [9, 6, 6]
    """
    x, y = _aligned(a1, a2)
    return x + y


def polysub(a1: Any, a2: Any) -> Tensor:
    """The difference of two polynomials.

    >>> polysub([2, 10, -2], [3, 10, -4]).tolist()
    [-1, 0, 2]
    """
    x, y = _aligned(a1, a2)
    return x - y


def polymul(a1: Any, a2: Any) -> Tensor:
    """The product of two polynomials.

    >>> polymul([1, 2], [1, 3]).tolist()
    [1, 5, 6]
    """
    return convolve(_coefficients(a1), _coefficients(a2))


def polydiv(u: Any, v: Any) -> tuple[Tensor, Tensor]:
    """The quotient of two polynomials, and what is left.

    >>> [t.tolist() for t in polydiv([3.0, 5.0, 2.0], [2.0, 1.0])]
    [[1.5, 1.75], [0.25]]
    """
    x, y = together(_coefficients(u), _coefficients(v))
    x, y = cast(x, floating(x.dtype)), cast(y, floating(y.dtype))
    count = x.shape[0] - y.shape[0] + 1
    if count < 1:
        return ops.zeros((1,), x.dtype), x
    quotient = []
    for i in range(count):
        factor = x[i] / y[0]
        quotient.append(factor)
        x = ops.cat([x[:i], x[i : i + y.shape[0]] - factor * y, x[i + y.shape[0] :]], 0)
    rest = x[count:]
    kept = numpy.flatnonzero(~numpy.isclose(rest.numbers(), 0, rtol=1e-14))
    first = int(kept[0]) if kept.size else max(rest.shape[0] - 1, 0)
    return ops.stack(quotient), rest[first:] if rest.shape[0] else ops.zeros((1,), x.dtype)


def polyval(p: Any, x: Any) -> Tensor:
    """The values of a polynomial at `x`, by Horner's scheme.

    >>> polyval([1.0, 2.0, 3.0], 2.0).item()
    11.0
    """
    coefficients, at = together(_coefficients(p), x)
    out = ops.zeros_like(at)
    for i in range(coefficients.shape[0]):
        out = out * at + coefficients[i]
    return out


def polyder(p: Any, m: int = 1) -> Tensor:
    """The m-th derivative of a polynomial.

    >>> polyder([1, 2, 3]).tolist()
    [2, 2]
    """
    if m < 0:
        raise ArgumentError(f"a derivative is of order 0 or more, not {m}")
    x = _coefficients(p)
    for _ in range(m):
        count = x.shape[0]
        x = x[:-1] * Tensor(list(range(count - 1, 0, -1)), x.dtype) if count > 1 else x[:0]
    return x


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """The m-th integral of a polynomial, with the constants `k`.

    >>> polyint([2.0, 2.0], k=[3.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    if m < 0:
        raise ArgumentError(f"an integral is of order 0 or more, not {m}")
    x = _coefficients(p)
    x = cast(x, floating(x.dtype))
    constants = ops.zeros((m,), x.dtype) if k is None else cast(_coefficients(k), x.dtype)
    if constants.shape[0] == 1:
        constants = ops.broadcast_to(constants, (m,))
    if constants.shape[0] != m:
        raise ShapeError(f"there is one constant for each of {m} integrals", given={"k": constants.shape})
    for i in range(m):
        over = Tensor(list(range(x.shape[0], 0, -1)), x.dtype)
        x = ops.cat([x / over, constants[i : i + 1]], 0)
    return x


def poly(seq_of_zeros: Any) -> Tensor:
    """The polynomial that is zero at these points; of a square matrix, at its eigenvalues.

    >>> poly([1.0, 2.0]).tolist()
    [1.0, -3.0, 2.0]
    """
    given = atleast_1d(asarray(seq_of_zeros))
    given = cast(given, floating(given.dtype))
    square = given.ndim == 2 and given.shape[0] == given.shape[1]
    if given.ndim != 1 and not square:
        raise ShapeError("poly takes a vector of zeros, or a square matrix", given={"shape": given.shape})
    zeros = eigvals(given) if square else given
    out = ops.ones((1,), zeros.dtype)
    for i in range(zeros.shape[0]):
        out = polymul(out, ops.stack([ops.ones((), zeros.dtype), -zeros[i]]))
    return out if given.dtype.is_complex else cast(real(out), given.dtype)  # zeros of a real one come in pairs


def roots(p: Any) -> Tensor:
    """Where a polynomial is zero, in no order; always complex. Leading and trailing zeros are left out.

    >>> sorted(round(z.real, 4) for z in roots([1.0, -3.0, 2.0]).tolist())
    [1.0, 2.0]
    """
    x = _coefficients(p)
    x = cast(x, floating(x.dtype))
    held = numpy.flatnonzero(x.numbers())
    wide = complex128 if x.dtype.itemsize >= (16 if x.dtype.is_complex else 8) else complex64
    if not held.size:
        return ops.zeros((0,), wide)
    first, last = int(held[0]), int(held[-1])
    count, behind = last - first, x.shape[0] - 1 - last
    none = ops.zeros((behind,), wide)
    if not count:
        return none
    top = ops.expand_dims(-x[first + 1 : last + 1] / x[first], 0)
    companion = ops.cat([top, eye(count, dtype=x.dtype)[: count - 1]], 0)
    return ops.cat([cast(eigvals(companion), wide), none], 0)


def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None) -> Any:
    """The polynomial of degree `deg` that is nearest to points, by least squares, with weights; `full` gives more.

    >>> [round(c, 4) for c in polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).tolist()]
    [2.0, 1.0]
    """
    at, values = together(x, y)
    at, values = cast(at, floating(at.dtype)), cast(values, floating(values.dtype))
    if at.ndim != 1 or values.ndim not in (1, 2) or at.shape[0] != values.shape[0] or deg < 0:
        raise ShapeError("points are two vectors of one length", given={"x": at.shape, "y": values.shape, "deg": deg})
    matrix = vander(at, deg + 1)
    if w is not None:
        weights = asarray(w, at.dtype)
        matrix = matrix * ops.expand_dims(weights, 1)
        values = values * (ops.expand_dims(weights, 1) if values.ndim == 2 else weights)
    scale = cast(ops.sqrt(real(ops.sum(conj(matrix) * matrix, 0))), matrix.dtype)
    from_scaled = matrix / scale
    cut = at.shape[0] * float(numpy.finfo(at.dtype.numpy).eps) if rcond is None else rcond
    u, s, vh = numpy_like_svd(from_scaled)
    keep = s > cut * s[0]
    inverse = ops.where(keep, 1 / ops.where(keep, s, ops.ones_like(s)), ops.zeros_like(s))
    inverse = cast(inverse, matrix.dtype)
    right = ops.matmul(conj(ops.transpose(u, (1, 0))), values)
    right = right * (ops.expand_dims(inverse, 1) if values.ndim == 2 else inverse)
    found = ops.matmul(conj(ops.transpose(vh, (1, 0))), right)
    found = found / (ops.expand_dims(scale, 1) if values.ndim == 2 else scale)
    if not full:
        return found
    left = ops.matmul(matrix, found) - values
    rank = ops.sum(ops.cast(keep, "int64"))
    return found, ops.reshape(real(ops.sum(conj(left) * left, 0)), (-1,)), rank, s, cut


def numpy_like_svd(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """u, s and v transposed, as NumPy gives them.

    >>> numpy_like_svd(Tensor([[2.0]]))[1].tolist()
    [2.0]
    """
    s, u, v = ops.svd(a)
    return u, s, conj(ops.swapaxes(v, -1, -2))
