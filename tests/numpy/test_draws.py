"""Random numbers of rarer distributions are distributed as SciPy says."""

import numpy as np
import pytest
import scipy.stats as st

import mycelia.numpy as mnp
from mycelia.errors import ArgumentError, ShapeError
from tests.each import each

EVEN = {
    "gamma(0.3)": (lambda r: r.standard_gamma(0.3, 2000), st.gamma(0.3)),
    "gamma(2.5, 3)": (lambda r: r.gamma(2.5, 3.0, 2000), st.gamma(2.5, scale=3.0)),
    "beta": (lambda r: r.beta(0.5, 2.0, 2000), st.beta(0.5, 2.0)),
    "chisquare": (lambda r: r.chisquare(3.0, 2000), st.chi2(3.0)),
    "noncentral_chisquare": (lambda r: r.noncentral_chisquare(3.0, 2.0, 2000), st.ncx2(3.0, 2.0)),
    "f": (lambda r: r.f(4.0, 7.0, 2000), st.f(4.0, 7.0)),
    "standard_t": (lambda r: r.standard_t(3.0, 2000), st.t(3.0)),
    "wald": (lambda r: r.wald(2.0, 3.0, 2000), st.invgauss(2.0 / 3.0, scale=3.0)),
    "multivariate_normal": (
        lambda r: r.multivariate_normal([1.0, 2.0], [[1.0, 0.9], [0.9, 2.0]], 2000) @ mnp.array([1.0, -1.0]),
        st.norm(-1.0, np.sqrt(1.2)),
    ),
    "dirichlet": (lambda r: r.dirichlet([1.0, 2.0, 3.0], 2000)[:, 1], st.beta(2.0, 4.0)),
}
WHOLE = {
    "poisson(2)": (lambda r: r.poisson(2.0, 4000), st.poisson(2.0)),
    "poisson(40)": (lambda r: r.poisson(40.0, 4000), st.poisson(40.0)),
    "geometric": (lambda r: r.geometric(0.3, 4000), st.geom(0.3)),
    "negative_binomial": (lambda r: r.negative_binomial(3.5, 0.4, 4000), st.nbinom(3.5, 0.4)),
    "binomial(20)": (lambda r: r.binomial(20, 0.3, 4000), st.binom(20, 0.3)),
    "binomial(1000)": (lambda r: r.binomial(1000, 0.02, 4000), st.binom(1000, 0.02)),
    "multinomial": (lambda r: r.multinomial(300, [0.2, 0.3, 0.5], 4000)[:, 1], st.binom(300, 0.3)),
}


def test_numbers_are_distributed_as_scipy_says():
    def check(name):
        draw, wanted = (EVEN | WHOLE)[name]
        mnp.random.seed(5)
        found = draw(mnp.random).asnumpy()
        if name in EVEN:
            assert found.dtype == np.float32
            assert st.kstest(found, wanted.cdf).pvalue > 1e-3
        else:
            assert found.dtype == np.int64
            edges = np.unique(wanted.ppf(np.linspace(0.1, 0.9, 9)))
            seen = np.bincount(np.searchsorted(edges, found), minlength=len(edges) + 1)
            cdf = np.diff([0.0, *wanted.cdf(edges), 1.0])
            assert st.chisquare(seen, cdf * found.size).pvalue > 1e-3

    each(check, [(name, (name,)) for name in EVEN | WHOLE])


def test_parameters_broadcast_and_are_checked():
    r = mnp.random
    assert r.gamma(np.ones((3, 1)), np.ones(4)).shape == (3, 4)
    assert r.binomial([10, 1000], [[0.0], [1.0]]).tolist() == [[0, 0], [10, 1000]]
    assert r.poisson(0.0, (2, 0)).shape == (2, 0)
    many = r.multinomial(7, [0.25, 0.25, 0.5], (5,))
    assert many.shape == (5, 3)
    assert set(many.sum(-1).tolist()) == {7}
    mistakes = {
        "gamma": lambda: r.gamma(-1.0),
        "binomial": lambda: r.binomial(3, 1.5),
        "multinomial": lambda: r.multinomial(3, [0.9, 0.9, 0.0]),
        "geometric": lambda: r.geometric(0.0),
        "covariance": lambda: r.multivariate_normal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]),
        "shape": lambda: r.multivariate_normal([0.0], np.eye(2)),
    }

    def refused(name):
        with pytest.raises((ArgumentError, ShapeError)):
            mistakes[name]()

    each(refused, [(name, (name,)) for name in mistakes])
