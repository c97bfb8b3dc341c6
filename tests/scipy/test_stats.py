"""Distributions and statistics are SciPy's; gradients, in numbers and in parameters, are slopes; samples fit.

X: (3, 4), any numbers; P, Q, H: positive; U: between 0 and 1; K: counts; E: edges; V, W: samples; Y: with equal ones.
"""

import numpy as np
import pytest
import scipy.stats

import mycelia as ms
from mycelia import Tensor
from mycelia.scipy import stats
from tests.scipy.judged import cases_of, compiled_is_eager, gradients_are_slopes, same_values, smooth_names

rng = np.random.default_rng(8)
ARRAYS = {
    "X": rng.normal(size=(3, 4)), "P": rng.gamma(2.0, size=(3, 4)) + 0.3, "Q": rng.gamma(2.0, size=(3, 1)) + 0.3,
    "H": rng.gamma(2.0, size=4) + 0.2, "U": rng.uniform(0.02, 0.98, (3, 4)), "K": rng.integers(0, 7, (3, 4)),
    "E": np.array([-np.inf, -1.5, -1.0, 0.0, 0.3, 1.0, 2.0, 5.0, np.inf, np.nan]), "V": rng.normal(size=30),
    "W": rng.normal(size=30) * 2 + 0.3, "Y": rng.integers(0, 6, 30).astype(float), "S": np.array(0.4),
    "R": rng.uniform(0.05, 0.95, (3, 4)), "M": rng.normal(size=(5, 3)), "C": np.diag([1.0, 2.0, 3.0]) + 0.3,
}  # fmt: skip
FAMILIES = {
    "norm": "", "uniform": "", "expon": "", "gamma": "P", "beta": "P, Q", "t": "P", "chi2": "P", "chi": "P",
    "f": "P, Q",
    "cauchy": "", "halfcauchy": "", "laplace": "", "logistic": "", "hypsecant": "", "lognorm": "P", "halfnorm": "",
    "rayleigh": "", "maxwell": "", "pareto": "P", "powerlaw": "P", "weibull_min": "P", "weibull_max": "P",
    "gumbel_r": "", "gumbel_l": "", "arcsine": "", "triang": "U", "loguniform": "P, P + 1.5",
    "reciprocal": "P, P + 1.5", "truncexpon": "P", "truncnorm": "-P, Q", "invgamma": "P",
}  # fmt: skip
COUNTS = {"bernoulli": "U", "binom": "7, U", "geom": "U", "poisson": "P", "nbinom": "P, U", "randint": "1, 9"}
# inside of the support of each: where the shares are ordinary
CASES = []
for name, shapes in FAMILIES.items():
    own = f", {shapes}" if shapes else ""
    inside = f"stats.{name}.ppf(R{own}, 0.4, 1.7)"
    CASES += [f"stats.{name}.{q}({inside}{own}, 0.4, 1.7)" for q in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")]
    CASES += [f"stats.{name}.{q}(U{own}, loc=0.4, scale=Q)" for q in ("ppf", "isf")]
    CASES += [f"stats.{name}.{q}({shapes or ''})" for q in ("mean", "var", "std")]
    CASES += [f"stats.{name}.stats({own[2:] + ', ' if own else ''}moments='mvsk')"]
    CASES += [f"stats.{name}.entropy({own[2:] + ', ' if own else ''}scale=2.0)"] if name != "truncnorm" else []
for name, shapes in COUNTS.items():
    CASES += [f"stats.{name}.{q}(K, {shapes})" for q in ("pmf", "logpmf", "cdf", "sf")]
    CASES += [f"stats.{name}.pmf(K + 0.5, {shapes})", f"stats.{name}.cdf(K + 0.5, {shapes}, 1)"]
    CASES += [f"stats.{name}.ppf(U, {shapes})", f"stats.{name}.stats({shapes}, moments='mvsk')"]
EDGES = [f"stats.{name}.{q}(E{', 0.5' * (shapes.count(',') + 1) if shapes else ''})"
         for name, shapes in FAMILIES.items() for q in ("pdf", "cdf", "sf")
         if name not in ("loguniform", "reciprocal", "truncnorm", "arcsine", "weibull_max")
         and not (q == "pdf" and name in ("maxwell", "powerlaw", "gumbel_r", "gumbel_l"))]  # fmt: skip
MORE = cases_of("""
stats.norm.ppf(E); stats.gamma.ppf(E, 2.0); stats.norm.pdf(X, 0.0, -1.0); stats.gamma.pdf(X, -1.0)
stats.norm.median(2.0, 3.0); stats.gamma.median(P); stats.norm.interval(0.9, 1.0, 2.0); stats.t.interval(U, P)
stats.norm.support(); stats.beta.support(2.0, 3.0, 1.0, 2.0); stats.norm(1.0, 2.0).cdf(X); stats.gamma(P).ppf(U)
stats.poisson(3.0).pmf(K); stats.moment(M, 3); stats.moment(M, 2, axis=None); stats.skew(M); stats.skew(M, bias=False)
stats.kurtosis(M, axis=1); stats.kurtosis(M, fisher=False, bias=False); stats.describe(M)[2:]; stats.gmean(P)
stats.hmean(P, axis=1); stats.pmean(P, 3); stats.gmean(P, weights=P); stats.sem(M); stats.variation(P)
stats.gstd(P); stats.zscore(M); stats.zscore(M, axis=None); stats.zmap(X, P, axis=1, ddof=1); stats.gzscore(P)
stats.iqr(V); stats.iqr(M, axis=1); stats.median_abs_deviation(V); stats.median_abs_deviation(M, scale="normal")
stats.trim_mean(V, 0.1); stats.tmean(V, (-1.0, 1.0)); stats.mode(Y); stats.rankdata(Y); stats.rankdata(Y, "min")
stats.rankdata(Y, "max"); stats.rankdata(Y, "dense"); stats.rankdata(Y, "ordinal"); stats.rankdata(M, axis=1)
stats.entropy(P); stats.entropy(P, P[::-1]); stats.entropy(P, base=2, axis=1); stats.wasserstein_distance(V, W)
stats.energy_distance(V, W); stats.wasserstein_distance(H, H * 2, H, H[::-1])
stats.pearsonr(V, W)[:2]; stats.pearsonr(V, V + W, alternative="greater")[:2]; stats.spearmanr(V, W)[:2]
stats.spearmanr(V, Y)[:2]; stats.kendalltau(Y, V)[:1]; stats.linregress(V, W)[:5]; stats.ttest_1samp(M, 0.3)[:2]
stats.ttest_ind(V, W)[:2]; stats.ttest_ind(V, W, equal_var=False)[:2]; stats.ttest_rel(V, W, alternative="less")[:2]
stats.f_oneway(V, W, Y)[:2]; stats.chisquare(P)[:2]; stats.power_divergence(P, lambda_="log-likelihood")[:2]
stats.power_divergence(P, lambda_="cressie-read")[:2]; stats.jarque_bera(V)[:2]; stats.skewtest(V)[:2]
stats.kurtosistest(V)[:2]; stats.normaltest(V)[:2]; stats.theilslopes(W, V)
stats.multivariate_normal.logpdf(M, np.zeros(3), C); stats.multivariate_normal.pdf(M, H[:3], 2.0)
stats.multivariate_normal.entropy(H[:3], C); stats.dirichlet.logpdf(H / np.sum(H), H); stats.dirichlet.mean(H)
stats.dirichlet.var(H); stats.dirichlet.entropy(H); stats.multinomial.pmf([3, 2, 1, 0], 6, H / np.sum(H))
stats.gaussian_kde(V)(X[0]); stats.gaussian_kde(M.T)(M.T); stats.gaussian_kde(V, "silverman").logpdf(X[0])
""")


@pytest.mark.many("case", CASES + MORE)
def test_values_are_those_of_scipy(case):
    same_values(case, ARRAYS, 1e-8)


@pytest.mark.many("case", EDGES, pack=100)
def test_edges_are_those_of_scipy(case):
    same_values(case, ARRAYS, 1e-9)


STEPS = (
    "Y",
    "K + 0.5",
    "interval",
    "support",
    "rank",
    "mode",
    "-1.0)",
    "stats(",
    "E)",
    "ppf(U, 7",
    "theil",
    "spearman",
)
ENDLESS = {f"stats.{n}.{q}" for n in ("t", "f", "pareto", "invgamma") for q in ("mean", "var", "std")}
ENDLESS |= {"stats.bernoulli.logpmf", "stats.geom.logpmf"}
SMOOTH = [c for c in CASES + MORE if smooth_names(c, ARRAYS) and not any(s in c for s in STEPS)]
SMOOTH = [
    c
    for c in SMOOTH
    if c.split("(")[0] not in ENDLESS
    and not (".ppf(U, " in c and any(f"stats.{n}." in c for n in COUNTS))
    and "E, " not in c
]


@pytest.mark.many("case", SMOOTH, pack=10)
def test_gradients_are_slopes(case):
    gradients_are_slopes(case, ARRAYS, bound=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_compiled_is_eager(part):
    able = [c for c in CASES if "ppf(U, " not in c or not any(f"stats.{n}." in c for n in COUNTS)]
    compiled_is_eager(able[part::8], ARRAYS, f"stats {part}")


@pytest.mark.parametrize("name", ["norm", "gamma", "beta", "t", "expon", "cauchy", "gumbel_r", "weibull_min"])
def test_samples_fit(name):
    """By Kolmogorov and Smirnov; the stream begins with a number, so it is always the same sample."""
    shapes = {"gamma": (2.5,), "beta": (2.0, 3.0), "t": (4.0,), "weibull_min": (1.5,)}.get(name, ())
    drawn = getattr(stats, name).rvs(*shapes, loc=0.3, scale=2.0, size=1000, random_state=3).asnumpy()
    assert scipy.stats.kstest(drawn, getattr(scipy.stats, name)(*shapes, loc=0.3, scale=2.0).cdf).pvalue > 0.01


def test_counts_that_are_drawn_have_the_right_mean():
    drawn = stats.poisson.rvs(4.0, size=2000, random_state=5)
    assert drawn.dtype is ms.int64
    np.testing.assert_allclose(drawn.asnumpy().mean(), 4.0, atol=0.2)


def test_mistakes_are_told():
    with pytest.raises(TypeError, match="gamma needs a"):
        stats.gamma.pdf(1.0)
    with pytest.raises(TypeError, match="b is not a parameter"):
        stats.gamma.pdf(1.0, 2.0, b=3.0)
    with pytest.raises(ValueError, match="counts have probabilities"):
        stats.poisson.pdf(1.0, 2.0)
    with pytest.raises(ValueError, match="there is no method"):
        stats.rankdata(Tensor([1.0]), "median")
