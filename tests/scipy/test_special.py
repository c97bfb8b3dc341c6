"""Special functions are SciPy's, at ordinary points, at edges, in both precisions; gradients are slopes.

F: (3, 4), any numbers; P, Q: positive; H: (3, 1), positive; U: between 0 and 1; W: between -0.9 and 0.9; S: without
axes; Z: empty; E: edges; A, B: positive numbers of many sizes, X between them; N, K: whole numbers; L: float32.
"""

import numpy as np
import pytest
import scipy.special

import mycelia as ms
from mycelia import Tensor, ops
from mycelia.scipy import special
from tests.scipy.judged import cases_of, compiled_is_eager, gradients_are_slopes, same_values, smooth_names

rng = np.random.default_rng(5)
ARRAYS = {
    "F": rng.normal(size=(3, 4)) * 2, "P": rng.gamma(2.0, size=(3, 4)) + 0.1, "Q": rng.gamma(2.0, size=(3, 4)) + 0.1,
    "H": rng.gamma(2.0, size=(3, 1)) + 0.3, "U": rng.uniform(0.02, 0.98, (3, 4)), "W": rng.uniform(-0.9, 0.9, (3, 4)),
    "S": np.array(0.7), "Z": np.zeros((0, 3)), "A": 10.0 ** rng.uniform(-1.5, 3, 40),
    "B": 10.0 ** rng.uniform(-1.5, 3, 40),
    "E": np.array([-np.inf, -30, -2.5, -2, -1, -0.3, -0.0, 0, 1e-9, 0.4, 0.5, 1, 2, 3.7, 30, np.inf, np.nan]),
    "N": rng.integers(0, 9, (3, 4)), "K": rng.integers(0, 6, (3, 4)), "L": rng.gamma(2.0, size=6).astype("float32"),
}  # fmt: skip
ARRAYS["X"] = ARRAYS["A"] * np.exp(rng.normal(size=40) / np.sqrt(ARRAYS["A"] + 0.3))
ARRAYS["Y"] = rng.beta(ARRAYS["A"] + 0.2, ARRAYS["B"] + 0.2)
ARRAYS["G"] = rng.uniform(0.001, 0.999, 40)

ONE = {
    "F": "gamma rgamma gammaln gammasgn psi digamma zeta zetac erf erfc erfcx ndtr log_ndtr dawsn expi expit log_expit "
    "softplus exprel cosm1 exp2 exp10 expm1 cbrt sinc round sindg cosdg tandg softmax log_softmax logsumexp i0 i0e i1 "
    "i1e j0 j1",
    "P": "loggamma exp1 log1p ellipkm1 factorial entr k0 k0e k1 k1e y0 y1",
    "U": "ndtri logit erfcinv ellipk ellipe",
    "W": "erfinv",
    "S": "gamma gammaln erfcx ndtri expi logsumexp softmax expit",
    "Z": "gamma gammaln erfcx ndtri expi psi expit",
    "L": "gamma gammaln erfcx expi psi expit exp1 ellipkm1 entr log_ndtr softplus",
}
EDGES = (
    "gamma rgamma gammaln gammasgn erf erfc erfcx ndtr log_ndtr erfinv erfcinv ndtri dawsn expi exp1 entr expit "
    "log_expit softplus exprel logit ellipk ellipe ellipkm1 exp2 cbrt zeta factorial ndtri_exp"
)
TWO = {
    "P, Q": "beta betaln betainc gammainc gammaincc poch binom xlogy xlog1py rel_entr kl_div agm boxcox boxcox1p "
    "inv_boxcox inv_boxcox1p huber pseudo_huber powm1 chdtr chdtrc stdtr",
    "P, H": "beta gammainc xlogy rel_entr",
    "P, U": "gammaincinv gammainccinv chdtri stdtrit",
    "A, X": "gammainc gammaincc",
    "A, G": "gammaincinv gammainccinv stdtrit",
    "E[:, None], E": "xlogy xlog1py rel_entr kl_div gammainc gammaincc huber",
    "L, 1.5": "gammainc gammaincc beta betaln xlogy",
    "Z, 1.0": "gammainc beta",
}
CASES = [f"special.{name}({x})" for x, names in ONE.items() for name in names.split()]
CASES += [f"special.{name}({x})" for x, names in TWO.items() for name in names.split() if name != "betainc"]
CASES += cases_of("""
special.betainc(P, Q, U); special.betaincc(P, H, U); special.betainc(A, B, Y); special.betaincc(A, B, Y)
special.betaincinv(P, Q, U); special.betainccinv(P, Q, U); special.betaincinv(A, B, G); special.betainccinv(A, B, G)
special.betainc(2.0, 3.0, E); special.gammainc(E, 2.0); special.zeta(P + 1.0, Q); special.zeta(3.0, F)
special.zeta(P + 1.5, 2.0); special.polygamma(N, P); special.polygamma(2, F); special.polygamma(1, E[3:])
special.polygamma(0, P); special.expn(K, P); special.expn(2, E[7:]); special.multigammaln(P + 2.0, 3)
special.comb(N + 3.0, K + 0.0); special.comb(P + 5.0, 2.5); special.perm(N + 3.0, K + 0.0)
special.comb(7, 3, exact=True); special.comb(4.0, 3.0, repetition=True); special.perm(7, 3, exact=True)
special.factorial(K + 0.0); special.factorial(5, exact=True); special.factorial2(N)
special.factorial2(9, exact=True); special.logsumexp(F, axis=1); special.logsumexp(F, axis=0, b=P, keepdims=True)
special.logsumexp(F, axis=(0, 1)); special.logsumexp(F, 1, b=F, return_sign=True); special.logsumexp(E[-1:])
special.logsumexp(E[:1]); special.softmax(F, axis=0); special.log_softmax(F, axis=-1); special.ndtri_exp(-P)
special.ndtri_exp(-P * 1e-3); special.radian(P, Q, H); special.gdtr(P, H, Q); special.gdtrc(P, H, Q)
special.gdtrix(P, Q, U); special.fdtr(P, Q, H); special.fdtrc(P, Q, H); special.fdtri(P + 1.0, Q + 1.0, U)
special.pdtr(K, P); special.pdtrc(K, P); special.bdtr(K, 7, U); special.bdtrc(K, 7, U); special.nbdtr(K, 3, U)
special.nbdtrc(K, 3, U); special.stdtr(A, F[0, 0]); special.eval_chebyt(5, F); special.eval_chebyu(4, F)
special.eval_chebyc(3, F); special.eval_chebys(3, F); special.eval_sh_chebyt(3, F); special.eval_sh_chebyu(3, F)
special.eval_legendre(6, W); special.eval_sh_legendre(3, W); special.eval_hermite(5, W); special.eval_hermitenorm(5, F)
special.eval_laguerre(4, F); special.eval_genlaguerre(4, P, F); special.eval_gegenbauer(4, P, W)
special.eval_jacobi(4, P, Q, W); special.eval_legendre(0, F); special.eval_hermite(1, F); special.gamma(5)
special.gammaln(N + 1.0); special.stdtr(3, E); special.chdtrc(3.0, E)
""")


@pytest.mark.many("case", CASES)
def test_values_are_those_of_scipy(case):
    same_values(case, ARRAYS, 3e-10)


@pytest.mark.parametrize("name", EDGES.split())
def test_edges_are_those_of_scipy(name):
    same_values(f"special.{name}(E)", ARRAYS, 1e-9)


STEPS = ("round", "gammasgn", "E", "pdtr(", "pdtrc(")
SMOOTH = [c for c in CASES if smooth_names(c, ARRAYS) and not any(s in c for s in STEPS) and "Z" not in c]


@pytest.mark.many("case", SMOOTH, pack=25)
def test_gradients_are_slopes(case):
    arrays = {n: x[..., :7] if x.shape == (40,) else x for n, x in ARRAYS.items()}
    gradients_are_slopes(case, arrays, bound=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_compiled_is_eager(part):
    compiled_is_eager(CASES[part::8], ARRAYS, f"special {part}")


def test_some_are_compiled():
    compiled_is_eager(["special.gammainc(P, Q)", "special.zeta(P + 1.0, Q)", "special.ndtri(U)"], ARRAYS, "special")


def test_second_derivatives_of_quantiles_are_slopes_of_first():
    def slope(y):
        return ms.grad(lambda v: special.betaincinv(2.0, 3.0, v).sum())(y)

    y = Tensor(np.array([0.2, 0.7]))
    ends = [slope(y + s * 1e-5).asnumpy() for s in (1, -1)]
    np.testing.assert_allclose(ms.grad(lambda v: slope(v).sum())(y).asnumpy(), (ends[0] - ends[1]) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_results_have_the_type_of_what_they_are_computed_from(dtype):
    x = Tensor([0.5, 2.0], dtype)
    for found in (ops.igamma(x, x), ops.igammac(x, 2), ops.zeta(x + 1, x), ops.polygamma(1, x), special.ndtri(x / 4)):
        assert found.dtype is dtype
    assert ops.polygamma(Tensor([0, 2]), x).dtype is dtype


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="takes real numbers"):
        ops.igamma(Tensor([1j]), Tensor([1.0]))
    with pytest.raises(ValueError, match="a degree is a whole number"):
        special.eval_legendre(1.5, Tensor([1.0]))
    with pytest.raises(ValueError, match="exact numbers are of Python's whole numbers"):
        special.comb(2.5, 1, exact=True)


def test_the_slope_of_lgamma_is_digamma_also_at_whole_numbers():
    x = Tensor([1.0, 2.0, 7.0, 0.5, -0.5], ms.float64)
    slope = ms.grad(lambda v: ops.lgamma(v).sum())(x).asnumpy()
    np.testing.assert_allclose(slope, scipy.special.psi(x.asnumpy()), rtol=1e-10)


def test_far_arguments_of_the_incomplete_gamma_function_keep_their_digits():
    a = np.array([1e5, 1e6, 300.0, 0.001])
    x = np.array([1.001e5, 0.999e6, 900.0, 1e-30])
    np.testing.assert_allclose(ops.igammac(Tensor(a), Tensor(x)).asnumpy(), scipy.special.gammaincc(a, x), rtol=1e-10)
    np.testing.assert_allclose(ops.igamma(Tensor(a), Tensor(x)).asnumpy(), scipy.special.gammainc(a, x), rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_next_number_is_numpys_eagerly_and_compiled(dtype):
    x, y = ARRAYS["E"].astype(dtype), ARRAYS["E"][::-1, None].astype(dtype)
    for found in (ops.nextafter(Tensor(x), Tensor(y)), ms.jit(ops.nextafter)(Tensor(x), Tensor(y))):
        np.testing.assert_array_equal(found.asnumpy(), np.nextafter(x, y))
    assert ops.NextAfter()(Tensor(x), Tensor(x)).dtype == Tensor(x).dtype


def test_the_ends_of_what_functions_are_given_are_scipy_s():
    nan, inf = np.nan, np.inf
    cases = {
        "zetac": (np.array([inf, 3000.0, 1200.0, 50.0]),),
        "stdtr": (np.array([inf, inf, 3.0]), np.array([1.0, -2.5, nan])),
        "pdtr": (np.array([nan, 1.0, 2.0]), np.array([2.0, nan, 2.0])),
        "pdtrc": (np.array([nan, 1.0, 2.0]), np.array([2.0, nan, 2.0])),
        "bdtr": (np.array([nan, 1.0, 1.0]), np.array([3, 3, 3]), np.array([0.5, nan, 0.5])),
        "bdtrc": (np.array([nan, 1.0, 1.0]), np.array([3, 3, 3]), np.array([0.5, nan, 0.5])),
    }
    for name, given in cases.items():
        wanted = getattr(scipy.special, name)(*given)
        found = getattr(special, name)(*map(Tensor, given)).asnumpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=name)
