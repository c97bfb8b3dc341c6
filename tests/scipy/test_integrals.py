"""Integrals, and solutions of differential equations, are SciPy's, and gradients flow through them; minima too."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.scipy import integrate, linalg, optimize


def lotka(t, y, a=1.5, stack=np.stack):
    return stack([a * y[0] - y[0] * y[1], y[0] * y[1] - 3.0 * y[1]])


@pytest.mark.parametrize("method", ["RK45", "RK23"])
def test_steps_are_those_of_scipy(method):
    y0 = np.array([1.0, 0.5])
    mine = integrate.solve_ivp(lambda t, y: lotka(t, y, 1.5, ops.stack), (0.0, 1.0), y0, method, rtol=1e-5)
    theirs = scipy.integrate.solve_ivp(lotka, (0.0, 1.0), y0, method, rtol=1e-5)
    np.testing.assert_allclose(mine.t.asnumpy(), theirs.t, rtol=1e-6)
    np.testing.assert_allclose(mine.y.asnumpy(), theirs.y, rtol=1e-7)
    assert mine.nfev == theirs.nfev
    assert mine.success


def test_times_that_are_asked_for_are_exact_and_backwards_works():
    times = np.array([0.0, 0.3, 0.31, 1.0])
    found = integrate.solve_ivp(lambda t, y: -2.0 * y * t, (0.0, 1.0), np.ones(1), t_eval=times, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.y.asnumpy()[0], np.exp(-(times**2)), rtol=1e-8)
    back = integrate.solve_ivp(lambda t, y: y, (1.0, 0.0), np.array([np.e]), rtol=1e-9, atol=1e-12)
    assert back.y.asnumpy()[0, -1] == pytest.approx(1.0, rel=1e-8)


def test_gradients_flow_through_the_steps():
    def end(a):
        return integrate.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), Tensor([2.0], ms.float64), rtol=1e-8).y[0, -1]

    assert ms.grad(end)(Tensor(0.7, ms.float64)).item() == pytest.approx(-2 * np.exp(-0.7), rel=1e-6)


QUADS = {
    "smooth": (lambda x, m: m.exp(-x) * m.sin(3.0 * x), 0.0, 2.0),
    "root": (lambda x, m: m.sqrt(x), 0.0, 1.0),
    "half": (lambda x, m: m.exp(-x) * x, 0.0, np.inf),
    "whole": (lambda x, m: m.exp(-x * x), -np.inf, np.inf),
    "below": (lambda x, m: m.exp(x), -np.inf, 0.5),
}


@pytest.mark.parametrize("name", QUADS)
def test_integrals_are_those_of_scipy(name):
    f, a, b = QUADS[name]
    value, error = integrate.quad(lambda x: f(x, ops), a, b)
    want = scipy.integrate.quad(lambda x: f(x, np), a, b)[0]
    assert value.item() == pytest.approx(want, rel=1e-9)
    assert abs(value.item() - want) <= max(error, 1e-9)


def test_integrals_have_gradients_in_limits_and_parameters():
    got = ms.grad(lambda k, b: integrate.quad(lambda x: ops.exp(-k * x), 0.0, b)[0], (0, 1))(
        Tensor(1.3, ms.float64), Tensor(2.0, ms.float64)
    )
    k, b = 1.3, 2.0
    slopes = (np.exp(-k * b) * (b + 1 / k) - 1 / k) / k, np.exp(-k * b)
    np.testing.assert_allclose([g.item() for g in got], slopes, rtol=1e-8)


def test_an_integral_that_does_not_exist_says_so():
    with pytest.raises(ValueError, match="not known to the precision"):
        integrate.quad(lambda x: 1.0 / x, 0.0, 1.0, limit=12)


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg"])
def test_second_derivatives_lead_to_the_minimum_of_scipy(method):
    x0 = np.array([-1.2, 1.0, 0.8])
    mine = optimize.minimize(rosenbrock, Tensor(x0), method=method)
    theirs = scipy.optimize.minimize(
        rosenbrock, x0, method=method, jac=scipy.optimize.rosen_der, hess=scipy.optimize.rosen_hess
    )
    assert mine.success
    np.testing.assert_allclose(mine.x.asnumpy(), theirs.x, atol=1e-3)
    assert mine.nit <= 1.5 * theirs.nit
    by_hand = optimize.minimize(
        rosenbrock, Tensor(x0), method=method, hess=lambda x: scipy.optimize.rosen_hess(x.asnumpy())
    )
    np.testing.assert_allclose(by_hand.x.asnumpy(), theirs.x, atol=1e-3)


def test_few_random_vectors_find_the_large_singular_values():
    rng = np.random.default_rng(0)
    u, v = (np.linalg.qr(rng.normal(size=(n, 8)))[0] for n in (40, 30))
    s = np.array([9.0, 7, 5, 3, 0.1, 0.05, 0.01, 0.001])
    a = (u * s) @ v.T
    got = linalg.randomized_svd(Tensor(a), 4, seed=3)
    np.testing.assert_allclose(got[1].asnumpy(), s[:4], rtol=1e-8)
    np.testing.assert_allclose((got[0] * got[1] @ got[2]).asnumpy(), (u[:, :4] * s[:4]) @ v[:, :4].T, atol=1e-6)
