"""Forward derivatives of compiled functions."""

from collections.abc import Callable
from typing import Any

import numpy as np

import mycelia as ms
from mycelia import Tensor, ops

X, V = Tensor(np.array([1.0, 2.0])), Tensor(np.array([1.0, -3.0]))


def grow(x: Tensor) -> tuple[Tensor, Tensor]:
    while ops.sum(x) < 100:
        x = x * x + 1
    return ops.sum(x), x


def test_the_forward_derivative_of_a_compiled_function_is_that_of_the_function() -> None:
    wanted, got, inside = ms.jvp(grow, X, V), ms.jvp(ms.jit(grow), X, V), ms.jit(lambda x, v: ms.jvp(grow, x, v))(X, V)
    for a, b in ((wanted, got), (wanted, inside)):
        for t, u in zip((*a[0], *a[1]), (*b[0], *b[1]), strict=True):
            np.testing.assert_allclose(t.asnumpy(), u.asnumpy(), rtol=1e-12)


def test_it_can_be_differentiated_again() -> None:
    def slope(fn: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
        return lambda x: ms.jvp(lambda y: fn(y)[0], x, V)[1]

    wanted, got = ms.grad(slope(grow))(X), ms.grad(slope(ms.jit(grow)))(X)
    np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy(), rtol=1e-12)


def test_jacfwd_of_a_compiled_function_is_jacrev_of_it() -> None:
    fn = ms.jit(lambda x: x * x[0])
    np.testing.assert_allclose(ms.jacfwd(fn)(X).asnumpy(), ms.jacrev(fn)(X).asnumpy())
    np.testing.assert_allclose(ms.jacfwd(fn)(X).asnumpy(), [[2.0, 0.0], [2.0, 1.0]])
