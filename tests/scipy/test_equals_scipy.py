"""Names of mycelia.scipy give what SciPy gives, for the same expression over the same numbers; gradients are slopes."""

import numpy as np
import pytest
import scipy
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg

import mycelia as ms
import mycelia.numpy as mnp
import mycelia.scipy
from mycelia import Tensor
from mycelia.scipy.steps import Point, bracket, thuente

rng = np.random.default_rng(3)
A, B, C = rng.normal(size=(4, 4)), rng.normal(size=(3, 3)), rng.normal(size=(4, 3))
ARRAYS = {
    "A": A, "B": B, "C": C, "M": A @ A.T + np.eye(4), "P": B @ B.T + np.eye(3), "V": rng.normal(size=4),
    "K": A + 1j * C @ C.T, "H": A @ A.T + np.eye(4) + 1j * (A - A.T),
    "W": rng.normal(size=4), "Y": rng.normal(size=(3, 7)), "Z": rng.normal(size=(3, 6)), "X": np.sort(rng.random(7)),
}  # fmt: skip
TENSORS = {name: Tensor(x) for name, x in ARRAYS.items()}
CASES = """
linalg.block_diag(A, C); linalg.block_diag(V, 2.0); linalg.cholesky(M); linalg.cholesky(M, lower=True)
linalg.inv(A); linalg.cho_solve(linalg.cho_factor(M), V); linalg.cho_solve(linalg.cho_factor(M, lower=True), C)
linalg.det(A); linalg.eigh(M, eigvals_only=True); linalg.eigh(M, M @ M + M, eigvals_only=True)
linalg.eigvalsh(M); linalg.eigh(M, M @ M, type=2, eigvals_only=True)
linalg.eigh(M, M @ M, type=3, eigvals_only=True); linalg.lstsq(C, V)[0]; linalg.lu(A); linalg.lu(C)
linalg.lu(C.T); linalg.lu(A, permute_l=True); linalg.lu_factor(A); linalg.lu_solve(linalg.lu_factor(A), V)
linalg.lu_solve(linalg.lu_factor(A), V, trans=1); linalg.solve(A, V); linalg.solve(M, C, assume_a="pos")
linalg.solve(M, V, assume_a="sym"); linalg.solve(A, V, transposed=True); linalg.solve_triangular(A, V)
linalg.solve_triangular(A, C, lower=True); linalg.solve_triangular(A, V, trans=1)
linalg.solve_triangular(A, V, unit_diagonal=True); linalg.expm(A); linalg.expm(B / 10)
linalg.solve_sylvester(A, B, C); linalg.polar(A); linalg.polar(C); linalg.polar(C, side="left")
linalg.toeplitz(V); linalg.toeplitz(V, W); linalg.circulant(V); linalg.hankel(V); linalg.hankel(V, W)
linalg.hilbert(3); linalg.hadamard(4); linalg.companion(V); linalg.svdvals(C); linalg.pinv(C); linalg.norm(A)
linalg.norm(A, 1); linalg.norm(V, 3); linalg.qr(C, mode="r")[0].shape; linalg.qr(C, mode="economic")[0].shape
linalg.orth(C).shape; linalg.null_space(C.T).shape; integrate.trapezoid(Y); integrate.trapezoid(Y, X)
integrate.cumulative_trapezoid(Y, X); integrate.simpson(Y); integrate.cumulative_trapezoid(Y, axis=0, initial=0)
integrate.simpson(Y, X); integrate.simpson(Z); integrate.simpson(Z, dx=0.3); integrate.simpson(Z, X[:6])
linalg.logm(M); linalg.sqrtm(M); linalg.logm(K); linalg.sqrtm(K); linalg.cosm(A); linalg.sinm(A); linalg.sinm(K)
linalg.tanm(B / 3); linalg.coshm(A); linalg.sinhm(A); linalg.tanhm(B / 3); linalg.signm(A)
linalg.fractional_matrix_power(M, 0.3); linalg.fractional_matrix_power(A, -2); np.sort(np.real(linalg.eigvals(A)))
np.sort(np.imag(linalg.eigvals(K))); linalg.cholesky(H); linalg.cho_solve(linalg.cho_factor(H), C); linalg.inv(K)
linalg.det(K); linalg.eigvalsh(H); linalg.eigh(H, H @ H + H, eigvals_only=True); linalg.lstsq(K, V)[0]; linalg.lu(K)
linalg.lu_solve(linalg.lu_factor(K), V, trans=2); linalg.solve_triangular(K, C, trans=2); linalg.expm(K)
linalg.solve(H, V, assume_a="her"); linalg.solve_sylvester(K, B + 0j, C); linalg.polar(K); linalg.pinv(K)
linalg.svdvals(K); integrate.simpson(Y, axis=0); integrate.fixed_quad(lambda x: x * x * x, 0.0, 2.0)[0]
optimize.linear_sum_assignment(A); optimize.linear_sum_assignment(C); optimize.linear_sum_assignment(C.T)
optimize.linear_sum_assignment(A, maximize=True)
""".strip().replace("\n", "; ").split("; ")  # fmt: skip


def leaves(found):
    return list(found) if isinstance(found, tuple | list) else [found]


def of(module):
    return {name: getattr(module, name) for name in ("linalg", "integrate", "optimize")}


@pytest.mark.many("case", CASES, pack=100)
def test_values_are_those_of_scipy(case):
    got = leaves(eval(case, {"np": mnp, **of(mycelia.scipy), **TENSORS}))
    for mine, theirs in zip(got, leaves(eval(case, {"np": np, **of(scipy), **ARRAYS})), strict=True):
        mine = mine.asnumpy() if isinstance(mine, Tensor) else np.asarray(mine)
        assert mine.shape == np.shape(theirs)
        exact = 3e-6 if mine.dtype == np.float32 else 1e-8
        np.testing.assert_allclose(mine, theirs, rtol=exact, atol=exact)


REAL = "eigvals", "signm", "K", "H"  # complex ones are held to the laws of ops
SMOOTH = [c for c in CASES if c.startswith(("linalg", "integrate")) and not c.endswith("shape") and "hada" not in c]


@pytest.mark.many("case", [c for c in SMOOTH if any(n in c for n in "ACMVYZ") and not any(n in c for n in REAL)])
def test_gradients_are_slopes(case):
    names = [n for n in compile(case, "case", "eval").co_names if n in ARRAYS]

    def number(*xs):
        found = leaves(eval(case, {"np": mnp, **of(mycelia.scipy), **TENSORS, **dict(zip(names, xs, strict=True))}))
        return sum((o * o * 0.3 + o).sum() for o in found if isinstance(o, Tensor) and o.dtype.is_float)

    arrays = [ARRAYS[n] for n in names]
    moves = np.random.default_rng(1)
    along = [moves.normal(size=x.shape) for x in arrays]
    along = [d + d.T if n in "MP" else d for n, d in zip(names, along, strict=True)]
    gradients = ms.grad(number, range(len(names)))(*map(Tensor, arrays))
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    slope = sum(float((g.asnumpy() * d).sum()) for g, d in zip(gradients, along, strict=True))
    ends = [number(*[Tensor(x + s * 1e-6 * d) for x, d in zip(arrays, along, strict=True)]).item() for s in (1, -1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=2e-4, atol=2e-4)


FUNCTIONS = {  # published ones, and where a search begins
    "himmelblau": (lambda x: (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2, [0.0, 0.0]),
    "rosenbrock": (lambda x: (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum(), [-1.2, 1.0, 0.5]),
    "matyas": (lambda x: 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1], [5.0, -3.0]),
    "booth": (lambda x: (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2, [0.0, 0.0]),
    "beale": (
        lambda x: (1.5 - x[0] + x[0] * x[1]) ** 2
        + (2.25 - x[0] + x[0] * x[1] ** 2) ** 2
        + (2.625 - x[0] + x[0] * x[1] ** 3) ** 2,
        [1.0, 1.0],
    ),
    "powell": (
        lambda x: (x[0] + 10 * x[1]) ** 2
        + 5 * (x[2] - x[3]) ** 2
        + (x[1] - 2 * x[2]) ** 4
        + 10 * (x[0] - x[3]) ** 4,
        [3.0, -1.0, 0.0, 1.0],
    ),
    "styblinski": (lambda x: ((x**4 - 16 * x**2 + 5 * x) / 2).sum(), [0.5, -0.5, 1.0]),
    "camel": (
        lambda x: (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (4 * x[1] ** 2 - 4) * x[1] ** 2,
        [1.5, 0.8],
    ),
    "dixon": (
        lambda x: (x[0] - 1) ** 2 + 2 * (2 * x[1] ** 2 - x[0]) ** 2 + 3 * (2 * x[2] ** 2 - x[1]) ** 2,
        [2.0, 2.0, 2.0],
    ),
    "zakharov": (
        lambda x: (x * x).sum()
        + (0.5 * x[0] + x[1] + 1.5 * x[2]) ** 2
        + (0.5 * x[0] + x[1] + 1.5 * x[2]) ** 4,
        [1.0, 2.0, -1.0],
    ),
}  # fmt: skip
SPENT = {"BFGS": 1.0, "LBFGS": 1.0, "CG": 1.25, "Nelder-Mead": 3.0}  # evaluations, of those that SciPy needs


@pytest.mark.parametrize("method", SPENT)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_minima_are_where_scipy_finds_them_in_as_many_evaluations(name, method):
    function, start = FUNCTIONS[name]
    both = ms.value_and_grad(lambda x: function(x))

    def known(x):
        value, slope = both(Tensor(x))
        return value.item(), slope.asnumpy()

    plain = method == "Nelder-Mead"
    theirs = scipy.optimize.minimize(
        (lambda x: known(x)[0]) if plain else known, np.array(start), jac=not plain,
        method="L-BFGS-B" if method == "LBFGS" else method,
    )  # fmt: skip
    mine = mycelia.scipy.optimize.minimize(function, Tensor(np.array(start)), method=method)
    assert mine.success
    np.testing.assert_allclose(mine.x.asnumpy(), theirs.x, atol=1e-7 if method.endswith("BFGS") else 5e-3)
    assert mine.nfev <= SPENT[method] * theirs.nfev


def test_a_step_satisfies_the_conditions_of_wolfe_wherever_the_search_begins():
    def height(x):
        return -x / (x * x + 2) + 0.03 * x + 0.1 * np.sin(3 * x)

    def look(a):
        return Point(a, height(a), (height(a + 1e-7) - height(a - 1e-7)) / 2e-7)

    start = look(0.0)._replace(step=0.0)
    for way in (thuente, bracket):
        for first in (1e-3, 0.1, 1.0, 10.0, 100.0):
            for c2 in (0.1, 0.9):
                point, good, _ = way(look, start, first, 1e-4, c2, rounds=100)
                assert good, (way.__name__, first, c2)
                assert point.height <= start.height + 1e-4 * point.step * start.slope
                assert abs(point.slope) <= -c2 * start.slope


def test_systems_are_solved_step_by_step_as_at_once():
    for solver in (mycelia.scipy.sparse.linalg.cg, mycelia.scipy.sparse.linalg.bicgstab):
        for matrix in (TENSORS["M"], lambda x: mnp.matmul(TENSORS["M"], x)):
            found, failed = solver(matrix, TENSORS["V"], tol=1e-12)
            assert failed == 0
            np.testing.assert_allclose(found.asnumpy(), np.linalg.solve(ARRAYS["M"], ARRAYS["V"]), atol=1e-9)

    def total(b):
        return mycelia.scipy.sparse.linalg.cg(TENSORS["M"], b, tol=1e-14)[0].sum()

    np.testing.assert_allclose(
        ms.grad(total)(TENSORS["V"]).asnumpy(), np.linalg.solve(ARRAYS["M"].T, np.ones(4)), atol=1e-8
    )


def test_differential_equations_are_solved_as_by_scipy_and_differentiated():
    def swing(y, t, k):
        return ms.ops.stack([y[1], -k * y[0] - 0.1 * y[1]])

    times = np.linspace(0.0, 3.0, 5)
    wanted = scipy.integrate.odeint(
        lambda y, t, k: [y[1], -k * y[0] - 0.1 * y[1]], [1.0, 0.0], times, (2.0,), rtol=1e-10
    )

    def end(k):
        return mycelia.scipy.integrate.odeint(
            swing, Tensor([1.0, 0.0], ms.float64), Tensor(times), (k,), rtol=1e-9, atol=1e-9
        )

    k = Tensor(2.0, ms.float64)
    np.testing.assert_allclose(end(k).asnumpy(), wanted, atol=1e-7)
    slope = ms.grad(lambda k: end(k)[-1, 0])(k).item()
    np.testing.assert_allclose(slope, (end(k + 1e-5)[-1, 0] - end(k - 1e-5)[-1, 0]).item() / 2e-5, rtol=1e-4)


@pytest.mark.parametrize("name", ["A", "K", "M"])
@pytest.mark.parametrize("output", ["real", "complex"])
def test_schur_s_form_is_triangular_and_unitary(name, output):
    t, z = (x.asnumpy() for x in mycelia.scipy.linalg.schur(TENSORS[name], output))
    np.testing.assert_allclose(z @ t @ z.conj().T, ARRAYS[name], atol=1e-12)
    np.testing.assert_allclose(z @ z.conj().T, np.eye(4), atol=1e-12)
    below = np.tril(t, -1 if np.iscomplexobj(t) or name == "M" else -2)
    assert not below.any()


@pytest.mark.parametrize("name", ["A", "K"])
def test_eigenvectors_are_only_stretched_compiled_too(name):
    for run in (mycelia.scipy.linalg.eig, ms.jit(mycelia.scipy.linalg.eig)):
        values, vectors = (x.asnumpy() for x in run(TENSORS[name]))
        np.testing.assert_allclose(ARRAYS[name] @ vectors, vectors * values, atol=1e-12)


def test_what_has_no_real_root_says_so():
    with pytest.raises(ValueError, match="no root of real numbers"):
        mycelia.scipy.linalg.sqrtm(np.diag([1.0, -1.0]))
    np.testing.assert_allclose(mycelia.scipy.linalg.sqrtm(np.diag([1.0 + 0j, -1.0])).asnumpy(), np.diag([1, 1j]))
