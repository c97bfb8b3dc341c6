"""Zeros and fits are where SciPy finds them, and move with what functions depend on as finite differences say."""

import numpy as np
import pytest
import scipy.optimize

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.scipy import optimize

FUNCTIONS = {
    "square": (lambda x: x * x - 2.0, 0.0, 2.0),
    "cosine": (lambda x: (np if isinstance(x, float) else ops).cos(x) - x, 0.0, 1.0),
    "cubic": (lambda x: x * x * x - 2.0 * x - 5.0, 2.0, 3.0),
    "steep": (lambda x: (np if isinstance(x, float) else ops).exp(x) - 100.0, 0.0, 9.0),
}
EXACT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-13}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("method", ["brentq", "bisect"])
def test_zeros_are_those_of_scipy_in_as_many_calls(name, method):
    f, a, b = FUNCTIONS[name]
    theirs = scipy.optimize.root_scalar(lambda x: float(f(float(x))), bracket=[a, b], method=method)
    mine = optimize.root_scalar(f, bracket=[Tensor(a, ms.float64), b], method=method)
    np.testing.assert_allclose(mine.root.item(), theirs.root, rtol=1e-11)
    assert mine.converged
    assert mine.function_calls == theirs.function_calls
    near = optimize.newton(f, b)
    np.testing.assert_allclose(near.item(), theirs.root, rtol=1e-9)


@pytest.mark.parametrize(
    "solve",
    [
        lambda t: optimize.brentq(lambda x: ops.exp(x) * t - 3.0, 0.0, 3.0),
        lambda t: optimize.bisect(lambda x, s: ops.exp(x) * s - 3.0, 0.0, 3.0, (t,)),
        lambda t: optimize.newton(lambda x: ops.exp(x) * t - 3.0, 1.0),
        lambda t: optimize.fixed_point(lambda x: ops.cos(x * t), 0.5),
        lambda t: optimize.root(lambda x: ops.stack([x[0] * x[0] + x[1] - t, x[0] - x[1] * t]), [1.0, 1.0]).x.sum(),
        lambda t: optimize.least_squares(
            lambda x: ops.stack([x[0] - t, x[0] * x[0] - 2.0, x[0] * t]), [1.0], **EXACT
        ).x.sum(),
    ],
)
def test_solutions_move_as_finite_differences_say(solve):
    t = Tensor(1.3, ms.float64)
    slope = ms.grad(solve)(t).item()
    ends = [solve(t + s * 1e-5).item() for s in (1, -1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=2e-5)


def test_systems_are_solved_as_by_scipy():
    def f(x):
        np_or_ops = np if isinstance(x, np.ndarray) else ops
        return np_or_ops.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])

    theirs, mine = scipy.optimize.root(f, [0.0, 0.0]), optimize.root(f, [0.0, 0.0])
    assert mine.success
    np.testing.assert_allclose(mine.x.asnumpy(), theirs.x, rtol=1e-9)
    stuck = optimize.root(lambda x: x * x + 1.0, [0.3])
    assert not stuck.success


def test_fits_are_those_of_scipy():
    rng = np.random.default_rng(2)
    x = np.linspace(0.0, 3.0, 25)
    y = 2.5 * np.exp(-1.3 * x) + 0.5 + 0.05 * rng.normal(size=25)
    s = 0.5 + rng.random(25)

    def f(x, a, b, c):
        return a * (np if isinstance(x, np.ndarray) else ops).exp(-b * x) + c

    for settings in ({}, {"sigma": s}, {"sigma": s, "absolute_sigma": True}):
        wanted = scipy.optimize.curve_fit(f, x, y, [1.0, 1.0, 1.0], **settings)
        ours = {k: Tensor(v) if isinstance(v, np.ndarray) else v for k, v in settings.items()}
        for mine, theirs in zip(
            optimize.curve_fit(f, Tensor(x), Tensor(y), [1.0, 1.0, 1.0], **ours), wanted, strict=True
        ):
            np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=2e-4)
    rosenbrock = optimize.least_squares(lambda v: ops.stack([10.0 * (v[1] - v[0] ** 2), 1.0 - v[0]]), [-1.2, 1.0])
    np.testing.assert_allclose(rosenbrock.x.asnumpy(), [1.0, 1.0], atol=1e-6)


def test_mistakes_are_told():
    with pytest.raises(ValueError, match="same sign at both ends"):
        optimize.brentq(lambda x: x * x + 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="the slope is 0"):
        optimize.newton(lambda x: x * x + 1.0, 0.0)
    with pytest.raises(ValueError, match="rounds did not suffice"):
        optimize.brentq(lambda x: x * x - 2.0, 0.0, 2.0, maxiter=2)
    with pytest.raises(ValueError, match="there is no method"):
        optimize.root_scalar(lambda x: x, method="secant", x0=1.0)
    with pytest.raises(ValueError, match="as many equations as unknowns"):
        optimize.root(lambda x: x[0], [1.0, 2.0])
