"""Linear algebra beside NumPy and SciPy: values eager and compiled, slopes, batches, and what has no answer."""

import numpy as np
import pytest
import scipy.linalg

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.errors import ArgumentError, DTypeError, GradientError, ShapeError
from tests.ops.judged import check_gradient, check_values, leaves

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
MANY = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
TALL, WIDE = RNG.normal(size=(4, 2)), RNG.normal(size=(2, 4))
B = RNG.normal(size=(3, 2))
SPD = A @ A.T + np.eye(3)
SPDS = MANY @ np.swapaxes(MANY, -1, -2) + np.eye(3)
L = np.linalg.cholesky(SPD)
LU, PIVOTS = scipy.linalg.lu_factor(A[[2, 0, 1]])


def reflections(x):
    (data, tau), _ = scipy.linalg.qr(x, mode="raw")
    return np.asarray(data), tau


CASES = {
    "inverse": (ops.inverse, np.linalg.inv, MANY),
    "det": (ops.det, np.linalg.det, MANY),
    "matrix_determinant": (ops.matrix_determinant, np.linalg.det, A),
    "slogdet": (ops.slogdet, np.linalg.slogdet, MANY),
    "log_matrix_determinant": (ops.log_matrix_determinant, np.linalg.slogdet, A),
    "logdet": (ops.logdet, lambda x: np.linalg.slogdet(x)[1], SPDS),
    "cholesky": (ops.cholesky, np.linalg.cholesky, SPDS),
    "cholesky upper": (lambda x: ops.cholesky(x, True), lambda x: np.linalg.cholesky(x).T, SPD),
    "cholesky_inverse": (ops.cholesky_inverse, lambda x: np.linalg.inv(x @ x.T), L),
    "cholesky_inverse upper": (lambda x: ops.cholesky_inverse(x, True), lambda x: np.linalg.inv(x.T @ x), L.T),
    "cholesky_solve": (ops.cholesky_solve, lambda b, x: np.linalg.solve(x @ x.T, b), B, L),
    "cholesky_solve upper": (
        lambda b, x: ops.cholesky_solve(b, x, True), lambda b, x: np.linalg.solve(x.T @ x, b), B, L.T,
    ),
    "matrix_solve": (ops.matrix_solve, np.linalg.solve, A, B),
    "matrix_solve broadcast": (ops.matrix_solve, np.linalg.solve, MANY, np.broadcast_to(B, (2, 3, 2)).copy()),
    "matrix_solve adjoint": (lambda a, b: ops.matrix_solve(a, b, True), lambda a, b: np.linalg.solve(a.T, b), A, B),
    **{
        f"triangular_solve {upper} {turned} {unit}": (
            lambda b, a, u=upper, t=turned, i=unit: ops.triangular_solve(b, a, u, t, i)[0],
            lambda b, a, u=upper, t=turned, i=unit: scipy.linalg.solve_triangular(a, b, int(t), not u, i),
            B,
            A,
        )
        for upper in (True, False) for turned in (True, False) for unit in (True, False)
    },
    "lstsq": (ops.lstsq, lambda a, b: np.linalg.lstsq(a, b)[0], TALL, RNG.normal(size=(4, 3))),
    "lstsq wide": (ops.lstsq, lambda a, b: np.linalg.lstsq(a, b)[0], WIDE, RNG.normal(size=(2, 3))),
    "pinv": (ops.pinv, np.linalg.pinv, TALL),
    "pinv hermitian": (lambda x: ops.pinv(x, hermitian=True), np.linalg.pinv, SPD),
    "qr": (ops.qr, lambda x: tuple(np.linalg.qr(x)), TALL),
    "qr wide": (ops.qr, lambda x: tuple(np.linalg.qr(x)), WIDE),
    "svd values": (lambda x: ops.svd(x, compute_uv=False), lambda x: np.linalg.svd(x)[1], MANY),
    "svd": (
        lambda x: (lambda s, u, v: (s, (u * s) @ v.swapaxes(-1, -2)))(*ops.svd(x)),
        lambda x: (np.linalg.svd(x)[1], x),
        TALL,
    ),
    "eigh": (
        lambda x: (lambda w, v: (w, (v * w) @ v.T))(*ops.eigh(x)),
        lambda x: (np.linalg.eigvalsh(x), (x + x.T) / 2), SPD,
    ),
    "matrix_exp": (ops.matrix_exp, scipy.linalg.expm, MANY),
    "cond": (ops.cond, np.linalg.cond, TALL),
    **{f"cond {p}": (lambda x, p=p: ops.cond(x, p), lambda x, p=p: np.linalg.cond(x, p), A)
       for p in (2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")},
    **{f"norm {p}": (lambda x, p=p: ops.matrix_norm(x, p), lambda x, p=p: np.linalg.norm(x, p, (-2, -1)), MANY)
       for p in (2, -2, "nuc")},
    "norm axes": (
        lambda x: ops.norm(x, "nuc", (2, 0), True), lambda x: np.linalg.norm(x, "nuc", (2, 0), keepdims=True), MANY,
    ),
    "geqrf": (ops.geqrf, reflections, TALL),
    "geqrf wide": (ops.geqrf, reflections, WIDE),
    "orgqr": (lambda x: ops.orgqr(*ops.geqrf(x)), lambda x: np.linalg.qr(x)[0], TALL),
    "ormqr": (
        lambda x, y: ops.ormqr(*ops.geqrf(x), y, True, True), lambda x, y: np.linalg.qr(x, "complete")[0].T @ y,
        TALL, RNG.normal(size=(4, 3)),
    ),
    "ormqr right": (
        lambda x, y: ops.ormqr(*ops.geqrf(x), y, False), lambda x, y: y @ np.linalg.qr(x, "complete")[0],
        TALL, RNG.normal(size=(3, 4)),
    ),
    "lu_solve": (
        lambda b, x: ops.lu_solve(b, x, Tensor(PIVOTS + 1)), lambda b, x: scipy.linalg.lu_solve((x, PIVOTS), b), B, LU,
    ),
    "lu_unpack": (
        lambda x: ops.lu_unpack(x, Tensor(PIVOTS + 1)),
        lambda x: (scipy.linalg.lu(A[[2, 0, 1]])[0], np.tril(x, -1) + np.eye(3), np.triu(x)), LU,
    ),
    "adjoint": (ops.adjoint, lambda x: np.swapaxes(x, -1, -2), MANY),
}  # fmt: skip


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.many("name", CASES, pack=25)
def test_values(name, run):
    check_values(CASES[name], run)


@pytest.mark.many("name", CASES)
def test_gradients(name):
    check_gradient(CASES[name])


def test_a_step_with_linear_algebra_is_one_native_call_that_equals_the_eager_one():
    def loss(x):
        return ops.slogdet(x)[1] + ops.inverse(x).sum() + ops.eigh(x)[0].prod()

    x = Tensor(SPD)
    compiled = ms.jit(ms.value_and_grad(loss))
    for got, want in zip(compiled(x), ms.value_and_grad(loss)(x), strict=True):
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-12)
    assert "Python" not in compiled.explain().splitlines()[0]


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("x", [TALL, WIDE, A], ids=["tall", "wide", "square"])
def test_complete_and_full_matrices_are_numpys(run, x):
    check_values((lambda x: ops.qr(x, "complete"), lambda x: tuple(np.linalg.qr(x, "complete")), x), run)
    s, u, v = run(lambda x: ops.svd(x, True))(Tensor(x))
    for got, want in zip((u, s, v.swapaxes(0, 1)), np.linalg.svd(x), strict=True):
        np.testing.assert_allclose(got.asnumpy(), want, atol=1e-12)
    if x.shape[0] != x.shape[1]:
        with pytest.raises(GradientError, match="full matrices of singular vectors have no gradient"):
            ms.grad(lambda x: ops.svd(x, True)[1].sum())(Tensor(x))
    total = ms.grad(lambda x: ops.svd(x, True)[0].sum())(Tensor(x)).asnumpy()
    np.testing.assert_allclose(total, ms.grad(lambda x: ops.svd(x)[0].sum())(Tensor(x)).asnumpy(), atol=1e-12)


def test_each_example_of_a_batch_by_itself():
    for f in (ops.inverse, ops.cholesky, lambda x: ops.svd(x)[0], ops.det):
        x = Tensor(SPDS)
        np.testing.assert_allclose(ms.vmap(f)(x).asnumpy(), np.stack([f(one).asnumpy() for one in x]), rtol=1e-12)


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_what_has_no_answer_is_an_error_that_says_so(run):
    singular = Tensor([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(ArgumentError, match="inverse: a matrix is singular"):
        run(lambda x: ops.inverse(x))(singular)
    with pytest.raises(ArgumentError, match="cholesky: a matrix is not positive definite"):
        run(lambda x: ops.cholesky(x))(Tensor([[1.0, 0.0], [0.0, -1.0]]))
    assert run(lambda x: ops.det(x))(singular).item() == 0
    assert run(lambda x: ops.slogdet(x))(singular)[1].item() == -np.inf
    assert np.isnan(run(lambda x: ops.logdet(x))(Tensor([[-1.0, 0.0], [0.0, 1.0]])).item())
    assert np.isnan(run(lambda x: ops.cholesky(x))(Tensor([[np.nan]])).item())


def test_degenerate_matrices_have_the_right_limits():
    """Of a singular matrix the determinant moves by the cofactors; equal singular values move together. Vectors that
    belong to equal values have no derivative, and it is no number.
    """
    singular = Tensor([[1.0, 2.0], [2.0, 4.0]], ms.float64)
    np.testing.assert_allclose(ms.grad(ops.det)(singular).asnumpy(), [[4, -2], [-2, 1]], atol=1e-12)
    same = Tensor(np.eye(3) * 2)
    total = ms.grad(lambda x: ops.svd(x, compute_uv=False).sum())(same)
    np.testing.assert_allclose(total.asnumpy(), np.eye(3), atol=1e-12)
    back = ms.grad(lambda x: (lambda w, v: (v * w) @ v.T)(*ops.eigh(x)).sum())(same)
    assert np.isnan(back.asnumpy()).all()
    hessian = ms.jacrev(ms.grad(ops.det))(Tensor(np.eye(2))).asnumpy()
    np.testing.assert_allclose(hessian.reshape(4, 4), np.fliplr(np.diag([1, -1, -1, 1])), atol=1e-12)


def test_mistakes_are_told():
    with pytest.raises(ShapeError, match="det takes square matrices"):
        ops.det(Tensor(TALL))
    with pytest.raises(DTypeError, match="inverse takes float32, float64, complex64 or complex128, not int64"):
        ops.inverse(Tensor([[1]]))
    with pytest.raises(ShapeError, match="is none"):
        ops.svd(Tensor([1.0]))
    with pytest.raises(GradientError, match="complete QR has no gradient"):
        ms.grad(lambda x: ops.qr(x, "complete")[0].sum())(Tensor(TALL))
    with pytest.raises(ShapeError, match="do not fit"):
        ops.matrix_solve(Tensor(A), Tensor(TALL))
    with pytest.raises(ArgumentError, match="mode of qr"):
        ops.qr(Tensor(A), "raw")


def test_tensors_have_the_methods():
    x = Tensor(SPD)
    for name in ("inverse", "det", "slogdet", "logdet", "cholesky", "qr", "svd", "pinv", "matrix_exp", "adjoint"):
        for got, want in zip(leaves(getattr(x, name)()), leaves(getattr(ops, name)(x)), strict=True):
            np.testing.assert_array_equal(got, want)
