"""Derivatives along a curve are those of the curve: by polynomials, by nested gradients, compiled too."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, ops

X = np.array([0.3, 1.2])
SERIES = np.array([[1.0, -0.5], [0.5, 0.0], [0.0, 0.25], [1.0, 1.0]])


def curve(t, x=X, series=SERIES):
    return x + sum(s * t**k / np.prod(range(1, k + 1)) for k, s in enumerate(series, 1))


def fitted(f, order):
    """Derivatives at 0 of a smooth function, by a polynomial through points near it."""
    t = 0.4 * np.cos(np.pi * (np.arange(24) + 0.5) / 24)
    coefficients = np.polynomial.polynomial.polyfit(t, np.array([f(v) for v in t]), 20)
    return coefficients[1 : order + 1] * np.array([np.prod(range(1, k + 1)) for k in range(1, order + 1)])[:, None]


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_derivatives_along_a_curve_are_those_of_the_curve(run):
    value, found = run(lambda x, s: ops.jet(lambda v: ops.sin(v) * ops.exp(0.5 * v), x, s))(Tensor(X), Tensor(SERIES))
    np.testing.assert_allclose(value.asnumpy(), np.sin(X) * np.exp(0.5 * X), rtol=1e-12)
    want = fitted(lambda t: np.sin(curve(t)) * np.exp(0.5 * curve(t)), 4)
    np.testing.assert_allclose(found.asnumpy(), want, rtol=1e-6, atol=1e-6)


def test_several_inputs_and_results_move_together():
    (a, b), (da, db) = ops.jet(
        lambda x, y: (x * y, x + y), (Tensor(2.0), Tensor(3.0)), (Tensor([1.0, 0.0]), Tensor([2.0, 1.0]))
    )
    assert (a.item(), b.item()) == (6.0, 5.0)
    assert (da.tolist(), db.tolist()) == ([7.0, 6.0], [3.0, 1.0])


def test_values_are_those_of_mindspore():
    """Recorded from MindSpore 2.10: ops.jet of ops.sin(x) * ops.exp(y)."""
    x, y = Tensor([1.0, 2.0]), Tensor([0.5, 0.1])
    moves = Tensor([[1.0, 1.0], [0.5, 0.0], [0.0, 0.25]]), Tensor([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    value, found = ops.jet(lambda x, y: ops.sin(x) * ops.exp(y), (x, y), moves)
    np.testing.assert_allclose(value.asnumpy(), [1.38735127, 1.00492907], rtol=1e-6)
    want = [[2.27815914, 0.545015693], [2.22702003, -0.919826806], [-1.73790145, -3.04466343]]
    np.testing.assert_allclose(found.asnumpy(), want, rtol=1e-5)


def test_a_derivative_of_an_order_is_a_gradient_nested_as_often():
    x = Tensor([0.4, 1.5], ms.float64)

    def f(v):
        return ops.tanh(v) * v

    slope = ms.grad(lambda v: f(v).sum())
    third = ms.grad(lambda v: ms.grad(lambda u: slope(u).sum())(v).sum())(x)
    np.testing.assert_allclose(ops.derivative(f, x, 3)[1].asnumpy(), third.asnumpy(), rtol=1e-10)


def test_gradients_flow_through_derivatives():
    got = ms.grad(lambda x: ops.derivative(lambda v: v * v * v * v, x, 2)[1].sum())(Tensor([2.0]))
    assert got.tolist() == [48.0]


def test_series_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="first axis of derivatives"):
        ops.jet(lambda x: x, Tensor([1.0, 2.0]), Tensor([1.0, 0.0]))
    with pytest.raises(ValueError, match="were given"):
        ops.jet(lambda x: x, (Tensor(1.0),), (Tensor([1.0]), Tensor([1.0])))
