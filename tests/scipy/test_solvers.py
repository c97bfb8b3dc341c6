"""Linear systems step by step, adjoint equations, second derivatives and zeros of polynomials: by laws and by SciPy."""

import numpy as np
import pytest
import scipy.linalg

import mycelia as ms
import mycelia.numpy as mnp
from mycelia import Tensor, ops
from mycelia.errors import ArgumentError, ShapeError
from mycelia.scipy import integrate, linalg
from mycelia.scipy.sparse.linalg import bicgstab, cg, gmres
from tests.each import each

rng = np.random.default_rng(4)
N = 12
REAL = rng.normal(size=(N, N)) + 6 * np.eye(N)
COMPLEX = REAL + 1j * rng.normal(size=(N, N))
SIDE = rng.normal(size=N)


def test_systems_of_any_numbers_are_solved_as_at_once():
    hermitian = COMPLEX @ COMPLEX.conj().T
    cases = {
        "gmres": (gmres, REAL, SIDE, {}),
        "gmres restarted": (gmres, REAL, SIDE, {"restart": 4}),
        "gmres complex matrix, real side": (gmres, COMPLEX, SIDE, {}),
        "gmres whole numbers": (gmres, np.rint(REAL).astype(int), np.arange(N), {"rtol": 1e-5}),
        "gmres better": (gmres, REAL, SIDE, {"M": np.linalg.inv(REAL) + 0.01}),
        "bicgstab complex": (bicgstab, COMPLEX, SIDE, {}),
        "cg complex": (cg, hermitian, SIDE, {"maxiter": 500}),
        "cg narrow side": (cg, REAL @ REAL.T, SIDE.astype("f"), {}),
    }

    def check(name):
        solver, a, b, more = cases[name]
        found, failed = solver(a, b, **{"rtol": 1e-12} | more)
        assert failed == 0
        bound = 1e-9 if found.dtype.itemsize >= 8 else 1e-4  # whole numbers become float32
        np.testing.assert_allclose(found.asnumpy(), np.linalg.solve(a, b), atol=bound)

    each(check, [(name, (name,)) for name in cases])


def test_sparse_matrices_are_taken_as_dense_ones_are():
    held = np.where(rng.random((N, N)) < 0.3, REAL, 0) + 6 * np.eye(N)
    csr = ops.dense_to_sparse_csr(Tensor(held))
    for a in (csr, csr.to_coo()):
        for solver in (gmres, bicgstab):
            found, failed = solver(a, SIDE, tol=1e-12)
            assert failed == 0
            np.testing.assert_allclose(found.asnumpy(), np.linalg.solve(held, SIDE), atol=1e-9)


def test_gmres_has_the_derivative_of_the_inverse():
    by_a, by_b = ms.grad(lambda a, b: gmres(a, b, tol=1e-13)[0].sum(), (0, 1))(Tensor(REAL), Tensor(SIDE))
    flow = np.linalg.solve(REAL.T, np.ones(N))
    np.testing.assert_allclose(by_b.asnumpy(), flow, atol=1e-9)
    np.testing.assert_allclose(by_a.asnumpy(), -np.outer(flow, np.linalg.solve(REAL, SIDE)), atol=1e-9)


def _swing(y, t, k, c):
    return ops.stack([y[1], -k * y[0] - c * y[1] * t])


def test_the_adjoint_equation_has_the_gradient_of_all_steps():
    times = Tensor(np.linspace(0.0, 2.0, 4))
    given = (Tensor(np.array([1.0, 0.5])), Tensor(2.0, ms.float64), Tensor(0.3, ms.float64))

    def odeint(y, k, c, adjoint):
        out = integrate.odeint(_swing, y, times, (k, c), rtol=1e-8, atol=1e-8, adjoint=adjoint)
        return (out * out).sum() + out[1, 0]

    def solve_ivp(y, k, c, adjoint):
        how = {"args": (k, c), "rtol": 1e-8, "atol": 1e-9, "adjoint": adjoint}
        out = integrate.solve_ivp(lambda t, y, k, c: _swing(y, t, k, c), (0.0, 2.0), y, **how).y
        return (out[:, -1] ** 2).sum() + out[0, 3]

    for f in (odeint, solve_ivp):
        ways = [ms.grad(lambda y, k, c, f=f, w=way: f(y, k, c, w), (0, 1, 2))(*given) for way in (False, True)]
        for unrolled, adjoint in zip(*ways, strict=True):
            np.testing.assert_allclose(adjoint.asnumpy(), unrolled.asnumpy(), rtol=1e-6)


def test_the_adjoint_equation_forgets_nothing_in_silence():
    def closed(k):
        return integrate.odeint(lambda y, t: -k * y, Tensor([1.0]), Tensor([0.0, 1.0]), adjoint=True).sum()

    with pytest.raises(ArgumentError, match="beside its arguments"):
        ms.grad(closed)(Tensor(2.0))
    with pytest.raises(ArgumentError, match="real numbers"):
        integrate.odeint(lambda y, t: 1j * y, Tensor([1j]), Tensor([0.0, 1.0]), adjoint=True)


def test_products_with_hessians_are_those_of_the_whole():
    def f(x, y):
        return (x**3).sum() * y[0] + (ops.sin(x) * y * y).sum()

    x, y, v, w = (Tensor(rng.normal(size=3)) for _ in range(4))
    (xx, xy), (yx, yy) = ms.hessian(f, (0, 1))(x, y)
    wanted = (xx @ v + xy @ w).asnumpy(), (yx @ v + yy @ w).asnumpy()
    for way in (ms.hvp, ms.vhp):
        for run in (
            lambda *a, way=way: way(f, a[:2], a[2:]),
            ms.jit(lambda x, y, v, w, way=way: way(f, (x, y), (v, w))),
        ):
            value, found = run(x, y, v, w)
            np.testing.assert_allclose(value.asnumpy(), f(x, y).asnumpy())
            for mine, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(mine.asnumpy(), other, rtol=1e-10)
        assert len(way(lambda x: (x * x).sum(), (x,), (v,))[1]) == 1
        with pytest.raises(ShapeError):
            way(lambda x: (x * x).sum(), x, Tensor([1.0]))
        with pytest.raises(ArgumentError):
            way(f, (x, y), (v,))
    np.testing.assert_allclose(ms.jacobian(lambda x: x * x)(x).asnumpy(), np.diag(2 * x.asnumpy()))


def test_zeros_and_fits_of_polynomials_are_numpy_s():
    polynomials = {
        "three": [1.0, -6.0, 11.0, -6.0],
        "zeros around": [0.0, 0.0, 2.0, 1.0, 5.0, 0.0, 0.0],
        "complex": [1.0, 2j, 3.0 - 1j],
        "whole": [1, 0, 1],
        "constant": [3.0],
        "nothing": [0.0, 0.0],
        "line": [2.0, 4.0, 0.0],
    }

    def check(name):
        p = np.array(polynomials[name])
        mine, other = mnp.roots(p).asnumpy(), np.roots(p)
        assert mine.dtype == (np.complex64 if p.dtype.kind == "i" else np.complex128)
        assert mine.shape == other.shape
        np.testing.assert_allclose(np.sort_complex(np.round(mine, 9)), np.sort_complex(np.round(other, 9)), atol=1e-7)

    each(check, [(name, (name,)) for name in polynomials])
    square = rng.normal(size=(4, 4))
    np.testing.assert_allclose(mnp.poly(square).asnumpy(), np.poly(square), atol=1e-10)
    at, values = rng.normal(size=9), rng.normal(size=9) + 1j * rng.normal(size=9)
    for x, y in ((at, values), (at * (1 + 0.5j), values), (at + 1j * values, at)):
        np.testing.assert_allclose(mnp.polyfit(x, y, 3).asnumpy(), np.polyfit(x, y, 3), atol=1e-8)


def test_factors_and_bands_of_complex_matrices_are_scipy_s():
    column = rng.normal(size=4) + 1j * rng.normal(size=4)
    np.testing.assert_array_equal(linalg.toeplitz(column).asnumpy(), scipy.linalg.toeplitz(column))
    order, lower, upper = linalg.lu(COMPLEX)
    assert order.dtype is ms.float64
    np.testing.assert_allclose(order.asnumpy() @ lower.asnumpy() @ upper.asnumpy(), COMPLEX, atol=1e-12)
    np.testing.assert_allclose((linalg.lu(COMPLEX, permute_l=True)[0] @ upper).asnumpy(), COMPLEX, atol=1e-12)
