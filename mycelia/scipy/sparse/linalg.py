"""Linear systems solved step by step: a matrix, or a function that multiplies with it, is all that is asked for.

The rounds are run in Python, and how many there are depends on numbers; gradients flow through all of them.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast, floating
from mycelia.errors import ShapeError
from mycelia.numpy.creation import asarray

__all__ = ["bicgstab", "cg"]

Product = Callable[[Tensor], Tensor]


def _system(A: Any, b: Any, x0: Any, M: Any) -> tuple[Product, Tensor, Tensor, Product]:
    right = asarray(b)
    right = cast(right, floating(right.dtype))
    start = ops.zeros_like(right) if x0 is None else cast(asarray(x0), right.dtype)
    if start.shape != right.shape:
        raise ShapeError(
            "a solution begins in the shape of the right side", given={"b": right.shape, "x0": start.shape}
        )
    return _multiply(A), right, start, (lambda x: x) if M is None else _multiply(M)


def _multiply(A: Any) -> Product:
    if callable(A) and not isinstance(A, Tensor):
        return A
    matrix = asarray(A)
    return lambda x: ops.matmul(cast(matrix, x.dtype), x)


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return ops.sum(x * y)


def _size(x: Tensor) -> float:
    return float(_dot(x, x).item()) ** 0.5


def _limit(b: Tensor, tol: float, atol: float) -> float:
    return max(tol * _size(b), atol)


def cg(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Tensor, int]:
    """The x for which A @ x is b, where A is symmetric and positive definite, by conjugate gradients.

    And 0, or the number of rounds that did not suffice. M is a matrix, or a function, like the inverse of A.

    >>> cg([[2.0, 0.0], [0.0, 4.0]], [2.0, 4.0])[0].tolist()
    [1.0, 1.0]
    """
    multiply, right, x, better = _system(A, b, x0, M)
    limit, rounds = _limit(right, tol, atol), 10 * right.size if maxiter is None else maxiter
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
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Tensor, int]:
    """The x for which A @ x is b, by stabilised biconjugate gradients.

    And 0, the number of rounds that did not suffice, or -1 if it broke down.

    >>> [round(v, 4) for v in bicgstab([[2.0, 1.0], [0.0, 4.0]], [3.0, 4.0])[0].tolist()]
    [1.0, 1.0]
    """
    multiply, right, x, better = _system(A, b, x0, M)
    limit, rounds = _limit(right, tol, atol), 10 * right.size if maxiter is None else maxiter
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
