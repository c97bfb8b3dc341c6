"""Orthogonal polynomials at numbers, by their recurrences; Bessel functions by SciPy's names."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.ops import bessel_i0 as i0
from mycelia.ops import bessel_i0e as i0e
from mycelia.ops import bessel_i1 as i1
from mycelia.ops import bessel_i1e as i1e
from mycelia.ops import bessel_j0 as j0
from mycelia.ops import bessel_j1 as j1
from mycelia.ops import bessel_k0 as k0
from mycelia.ops import bessel_k0e as k0e
from mycelia.ops import bessel_k1 as k1
from mycelia.ops import bessel_k1e as k1e
from mycelia.ops import bessel_y0 as y0
from mycelia.ops import bessel_y1 as y1
from mycelia.ops.incomplete import widened

__all__ = [
    "eval_chebyc", "eval_chebys", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre", "eval_hermite",
    "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "eval_sh_chebyt", "eval_sh_chebyu",
    "eval_sh_legendre", "i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1",
]  # fmt: skip


def _degree(name: str, n: Any) -> int:
    try:
        degree = index(n)
    except TypeError:
        raise ArgumentError(f"{name}: a degree is a whole number, not {n!r}", hint="give an int, such as 3") from None
    if degree < 0:
        raise ArgumentError(f"{name}: a degree is a whole number from 0 on, not {degree}")
    return degree


def _recurred(n: int, first: Tensor, step: Callable[[int, Tensor, Tensor], Tensor]) -> Tensor:
    """The n-th of polynomials of which the first is 1, the second `first`, and each follows from two before."""
    before, here = ops.ones_like(first), first
    for k in range(1, n):
        before, here = here, step(k, here, before)
    return here if n else before


def eval_chebyt(n: int, x: Any) -> Tensor:
    """Chebyshev's polynomial of the first kind, of degree n, at x.

    >>> eval_chebyt(2, 0.5).item()
    -0.5
    """
    (v,), dtype = widened("eval_chebyt", x)
    return cast(_recurred(_degree("eval_chebyt", n), v, lambda k, a, b: 2.0 * v * a - b), dtype)


def eval_chebyu(n: int, x: Any) -> Tensor:
    """Chebyshev's polynomial of the second kind, of degree n, at x.

    >>> eval_chebyu(2, 0.5).item()
    0.0
    """
    (v,), dtype = widened("eval_chebyu", x)
    return cast(_recurred(_degree("eval_chebyu", n), 2.0 * v, lambda k, a, b: 2.0 * v * a - b), dtype)


def eval_chebyc(n: int, x: Any) -> Tensor:
    """Chebyshev's polynomial of the first kind on [-2, 2]: 2 T(x / 2).

    >>> eval_chebyc(2, 1.0).item()
    -1.0
    """
    return 2.0 * eval_chebyt(n, ops.mul(x, 0.5))


def eval_chebys(n: int, x: Any) -> Tensor:
    """Chebyshev's polynomial of the second kind on [-2, 2]: U(x / 2).

    >>> eval_chebys(2, 1.0).item()
    0.0
    """
    return eval_chebyu(n, ops.mul(x, 0.5))


def eval_sh_chebyt(n: int, x: Any) -> Tensor:
    """Chebyshev's polynomial of the first kind on [0, 1]: T(2x - 1).

    >>> eval_sh_chebyt(1, 1.0).item()
    1.0
    """
    return eval_chebyt(n, ops.sub(ops.mul(x, 2.0), 1.0))


def eval_sh_chebyu(n: int, x: Any) -> Tensor:
    """Chebyshev's polynomial of the second kind on [0, 1]: U(2x - 1).

    >>> eval_sh_chebyu(1, 1.0).item()
    2.0
    """
    return eval_chebyu(n, ops.sub(ops.mul(x, 2.0), 1.0))


def eval_legendre(n: int, x: Any) -> Tensor:
    """Legendre's polynomial of degree n at x.

    >>> eval_legendre(2, 0.5).item()
    -0.125
    """
    (v,), dtype = widened("eval_legendre", x)
    degree = _degree("eval_legendre", n)
    return cast(_recurred(degree, v, lambda k, a, b: ((2 * k + 1) * v * a - k * b) / (k + 1)), dtype)


def eval_sh_legendre(n: int, x: Any) -> Tensor:
    """Legendre's polynomial on [0, 1]: P(2x - 1).

    >>> eval_sh_legendre(1, 1.0).item()
    1.0
    """
    return eval_legendre(n, ops.sub(ops.mul(x, 2.0), 1.0))


def eval_hermite(n: int, x: Any) -> Tensor:
    """Hermite's polynomial of the physicists, of degree n, at x.

    >>> eval_hermite(2, 1.0).item()
    2.0
    """
    (v,), dtype = widened("eval_hermite", x)
    return cast(_recurred(_degree("eval_hermite", n), 2.0 * v, lambda k, a, b: 2.0 * (v * a - k * b)), dtype)


def eval_hermitenorm(n: int, x: Any) -> Tensor:
    """Hermite's polynomial of the statisticians, of degree n, at x.

    >>> eval_hermitenorm(2, 1.0).item()
    0.0
    """
    (v,), dtype = widened("eval_hermitenorm", x)
    return cast(_recurred(_degree("eval_hermitenorm", n), v, lambda k, a, b: v * a - k * b), dtype)


def eval_laguerre(n: int, x: Any) -> Tensor:
    """Laguerre's polynomial of degree n at x.

    >>> eval_laguerre(1, 3.0).item()
    -2.0
    """
    return eval_genlaguerre(n, 0.0, x)


def eval_genlaguerre(n: int, alpha: Any, x: Any) -> Tensor:
    """Laguerre's generalised polynomial of degree n at x.

    >>> eval_genlaguerre(1, 1.0, 3.0).item()
    -1.0
    """
    (a, v), dtype = widened("eval_genlaguerre", alpha, x)
    degree = _degree("eval_genlaguerre", n)
    return cast(
        _recurred(degree, 1.0 + a - v, lambda k, c, b: ((2 * k + 1 + a - v) * c - (k + a) * b) / (k + 1)), dtype
    )


def eval_gegenbauer(n: int, alpha: Any, x: Any) -> Tensor:
    """Gegenbauer's polynomial of degree n at x.

    >>> eval_gegenbauer(1, 1.0, 0.5).item()
    1.0
    """
    (a, v), dtype = widened("eval_gegenbauer", alpha, x)
    degree = _degree("eval_gegenbauer", n)
    found = _recurred(degree, 2.0 * a * v, lambda k, c, b: (2.0 * (k + a) * v * c - (k + 2.0 * a - 1.0) * b) / (k + 1))
    return cast(found, dtype)


def eval_jacobi(n: int, alpha: Any, beta: Any, x: Any) -> Tensor:
    """Jacobi's polynomial of degree n at x.

    >>> eval_jacobi(1, 0.0, 0.0, 0.5).item()
    0.5
    """
    (a, b, v), dtype = widened("eval_jacobi", alpha, beta, x)
    degree = _degree("eval_jacobi", n)

    def step(k: int, here: Tensor, before: Tensor) -> Tensor:
        m, c = k + 1.0, 2.0 * (k + 1.0) + a + b
        middle = (c - 1.0) * (c * (c - 2.0) * v + a * a - b * b) * here
        return (middle - 2.0 * (m + a - 1.0) * (m + b - 1.0) * c * before) / (2.0 * m * (m + a + b) * (c - 2.0))

    return cast(_recurred(degree, (a + 1.0) + (a + b + 2.0) * (v - 1.0) * 0.5, step), dtype)
