"""Distributions answer as SciPy does; divergences are integrals, samples are distributed, gradients are slopes."""

import numpy as np
import pytest
from scipy import stats

import mycelia as ms
from mycelia import Tensor
from mycelia.nn.probability import distribution as msd
from tests.each import each

REAL, UP, UNIT = np.linspace(-3.0, 4.0, 8), np.array([-0.5, 0.1, 0.6, 1.5, 4.0]), np.array([-0.1, 0.05, 0.3, 0.7, 0.95])
WHOLE = np.array([-1.0, 0.0, 1.0, 3.0, 7.0])
CASES = {
    "Normal": ((0.5, 1.5), (0.1, 2.0), lambda m, s: stats.norm(m, s), REAL),
    "HalfNormal": ((0.0, 1.5), None, lambda m, s: stats.halfnorm(m, s), UP),
    "LogNormal": ((0.3, 0.8), (0.0, 1.0), lambda m, s: stats.lognorm(s, scale=np.exp(m)), UP),
    "Cauchy": ((0.5, 1.5), (0.0, 1.0), lambda m, s: stats.cauchy(m, s), REAL),
    "Logistic": ((0.5, 1.5), None, lambda m, s: stats.logistic(m, s), REAL),
    "Gumbel": ((0.5, 1.5), (0.0, 1.2), lambda m, s: stats.gumbel_r(m, s), REAL),
    "Laplace": ((0.5, 1.5), (0.1, 2.0), lambda m, s: stats.laplace(m, s), REAL),
    "Exponential": ((1.5,), (0.7,), lambda r: stats.expon(scale=1 / r), UP),
    "Uniform": ((-1.0, 2.0), (-1.5, 3.0), lambda a, b: stats.uniform(a, b - a), REAL),
    "Gamma": ((2.5, 1.5), (1.2, 0.7), lambda a, r: stats.gamma(a, scale=1 / r), UP),
    "Beta": ((2.5, 1.5), (1.2, 2.0), lambda a, b: stats.beta(a, b), UNIT),
    "StudentT": ((4.5, 0.5, 1.5), None, lambda n, m, s: stats.t(n, m, s), REAL),
    "Bernoulli": ((0.3,), (0.6,), lambda p: stats.bernoulli(p), WHOLE),
    "Geometric": ((0.3,), (0.6,), lambda p: stats.geom(p, loc=-1), WHOLE),
    "Poisson": ((2.5,), (1.5,), lambda r: stats.poisson(r), WHOLE),
}
DISCRETE = {"Bernoulli", "Geometric", "Poisson"}
NO_ENTROPY = {"Poisson"}


def made(name, **options):
    return getattr(msd, name)(*CASES[name][0], dtype=ms.float64, **options)


def near(mine, theirs, exact=1e-9):
    np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=exact, atol=exact)


@pytest.mark.many("name", CASES)
def test_densities_shares_and_moments_are_those_of_scipy(name):
    given, _, oracle, x = CASES[name]
    mine, theirs = made(name), oracle(*given)
    value = Tensor(x)
    near(mine.log_prob(value), theirs.logpmf(x) if name in DISCRETE else theirs.logpdf(x))
    near(mine.prob(value), theirs.pmf(x) if name in DISCRETE else theirs.pdf(x))
    near(mine.cdf(value), theirs.cdf(x))
    near(mine.survival_function(value), theirs.sf(x))
    inside = x[(theirs.cdf(x) > 0) & (theirs.cdf(x) < 1)]
    near(mine.log_cdf(Tensor(inside)), theirs.logcdf(inside))
    near(mine.log_survival(Tensor(inside)), theirs.logsf(inside))
    near(mine.mean(), theirs.mean())
    near(mine.var(), theirs.var())
    near(mine.sd(), theirs.std())
    if name not in NO_ENTROPY:
        near(mine.entropy(), theirs.entropy())


@pytest.mark.many("name", [n for n in CASES if n not in DISCRETE | {"Uniform"}])
def test_the_density_is_largest_at_the_mode(name):
    d = made(name)
    at, step = d.mode().item(), 1e-3
    around = d.prob(Tensor([at, at + step] if name in {"HalfNormal", "Exponential"} else [at - step, at, at + step]))
    assert around.asnumpy().argmax() == (0 if name in {"HalfNormal", "Exponential"} else 1)


@pytest.mark.many("name", [n for n in CASES if CASES[n][1]])
def test_divergences_are_means_of_differences(name):
    ours, theirs, oracle, _ = CASES[name]
    p, q = oracle(*ours), oracle(*theirs)
    if name in DISCRETE:
        k = np.arange(0, 200 if name != "Bernoulli" else 2)
        want = np.sum(p.pmf(k) * (p.logpmf(k) - q.logpmf(k)))
    else:
        x = np.linspace(p.ppf(1e-15), p.isf(1e-15), 40001)
        x = (x[1:] + x[:-1]) / 2
        if name == "Cauchy":
            x = p.ppf((np.arange(4000) + 0.5) / 4000)
        weight = 1 / 4000 if name == "Cauchy" else p.pdf(x) * (x[1] - x[0])
        want = np.sum(weight * (p.logpdf(x) - q.logpdf(x)))
    near(made(name).kl_loss(name, *theirs), want, 1e-6)
    if name not in NO_ENTROPY:
        near(made(name).cross_entropy(name, *theirs), want + p.entropy(), 1e-6)


@pytest.mark.many("name", CASES)
def test_samples_have_the_distribution(name):
    given, _, oracle, _ = CASES[name]
    drawn = made(name, seed=11).sample((1000,)).asnumpy().astype(float)
    if name in DISCRETE:
        k = np.arange(0, 4)
        counts = np.array([(drawn == i).sum() for i in k])
        want = oracle(*given).pmf(k)
        assert np.all(np.abs(counts / 1000 - want) < 5 * np.sqrt(want * (1 - want) / 1000) + 1e-12)
    else:
        assert stats.kstest(drawn, oracle(*given).cdf).pvalue > 1e-3


@pytest.mark.many("name", [n for n in CASES if n not in DISCRETE])
def test_samples_are_functions_of_their_parameters(name):
    """With the same noise, their slope along each parameter is that of the quantile at which they lie."""
    given, _, oracle, _ = CASES[name]
    for i in range(len(given)):

        def drawn(number, i=i):
            parts = [number if k == i else Tensor(v, ms.float64) for k, v in enumerate(given)]
            return (
                getattr(msd, name)(dtype=ms.float64, seed=3).sample((6,), *parts)
                if name != "Gumbel"
                else (msd.Gumbel(0.0, 1.0, dtype=ms.float64, seed=3).sample((6,), *parts))
            )

        if name == "StudentT" and i == 0:
            continue  # made of two numbers
        if name == "Beta":
            continue  # made of two numbers; its mean is looked at below
        x = drawn(Tensor(given[i], ms.float64)).asnumpy()
        share, step = oracle(*given).cdf(x), 1e-5
        moved = [oracle(*[v + (s if k == i else 0) for k, v in enumerate(given)]).ppf(share) for s in (step, -step)]
        want = ((moved[0] - moved[1]) / (2 * step)).sum()
        got = ms.grad(lambda v: drawn(v).sum())(Tensor(given[i], ms.float64)).item()
        assert got == pytest.approx(want, rel=1e-5, abs=1e-6)


def test_the_mean_of_beta_samples_moves_as_the_mean():
    def mean(a):
        return msd.Beta(dtype=ms.float64, seed=5).sample((1000,), a, Tensor(1.5, ms.float64)).mean()

    got = ms.grad(mean)(Tensor(2.5, ms.float64)).item()
    assert got == pytest.approx(1.5 / 16.0, rel=0.1)  # b / (a + b)^2


PROBS = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])


def test_classes_have_their_probabilities():
    d = msd.Categorical(PROBS, dtype=ms.int32, seed=4)
    k = np.arange(3)
    mean = PROBS @ k
    np.testing.assert_allclose(d.prob(Tensor([2.0, 0.0])).asnumpy(), [0.5, 0.6], rtol=1e-6)
    np.testing.assert_allclose(d.cdf(Tensor([1.0, 1.0])).asnumpy(), [0.5, 0.7], rtol=1e-6)
    np.testing.assert_allclose(d.mean().asnumpy(), mean, rtol=1e-6)
    np.testing.assert_allclose(d.var().asnumpy(), PROBS @ k**2 - mean**2, rtol=1e-5)
    np.testing.assert_allclose(d.entropy().asnumpy(), stats.entropy(PROBS, axis=1), rtol=1e-6)
    other = PROBS[::-1].copy()
    np.testing.assert_allclose(
        d.kl_loss("Categorical", Tensor(other)).asnumpy(), stats.entropy(PROBS, other, axis=1), rtol=1e-6
    )
    assert d.mode().tolist() == [2, 0]
    drawn = d.sample((4000,)).asnumpy()
    assert drawn.shape == (4000, 2)
    for i in range(2):
        counts = np.bincount(drawn[:, i], minlength=3) / 4000
        assert np.all(np.abs(counts - PROBS[i]) < 5 * np.sqrt(PROBS[i] * (1 - PROBS[i]) / 4000))


def test_what_is_given_with_a_call_counts():
    d = msd.Normal(0.0, 1.0)
    assert d.mean(Tensor(3.0)).item() == 3.0
    assert d("kl_loss", "Normal", Tensor(1.0), Tensor(1.0), mean=Tensor(3.0)).item() == 2.0
    assert msd.Normal().batch_shape is None
    assert msd.Normal(np.zeros((2, 1)), np.ones(3)).batch_shape == (2, 3)


def test_compiled_they_are_the_same():
    d = msd.Gumbel(0.5, 1.5)
    x = Tensor([0.1, 2.0])

    @ms.jit
    def asked(x, scale):
        return d.log_prob(x, scale=scale), d.kl_loss("Gumbel", scale, scale)

    for got, want in zip(
        asked(x, Tensor(2.0)), (d.log_prob(x, scale=Tensor(2.0)), d.kl_loss("Gumbel", 2.0, 2.0)), strict=True
    ):
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: msd.Normal(0.0, -1.0), "sd lies between"),
        (lambda: msd.Normal().mean(), "mean is not known"),
        (lambda: msd.Normal(0.0, 1.0).kl_loss("Gamma", 1.0, 1.0), "of its family"),
        (lambda: msd.Normal(0.0, 1.0).kl_loss("Normal", 1.0), "has no sd"),
        (lambda: msd.Logistic(0.0, 1.0).kl_loss("Logistic", 1.0, 1.0), "no divergence in closed form"),
        (lambda: msd.Normal(0.0, 1.0)("median"), "name"),
    ],
)
def test_mistakes_are_explained(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_what_is_no_distribution_is_refused():
    def refused(make, kind):
        with pytest.raises(kind):
            make()

    each(refused, [
        ("range", (lambda: msd.Uniform([1.0, 3.0], [2.0, 2.0]), ValueError)),
        ("shapes", (lambda: msd.Uniform([[2.0], [1.0]], [[2.5], [3.0], [4.0]]), ValueError)),
        ("gamma's shapes", (lambda: msd.Gamma([[2.0], [1.0]], [[2.0], [3.0], [4.0]]), ValueError)),
        ("whole numbers", (lambda: msd.Uniform(0.0, 1.0, dtype=ms.int32), TypeError)),
        ("truths", (lambda: msd.Bernoulli([0.1], dtype=ms.bool_), TypeError)),
        ("name", (lambda: msd.Normal(0.0, 1.0, name=1.0), TypeError)),
        ("one class", (lambda: msd.Categorical(0.2), ValueError)),
        ("below 0", (lambda: msd.Categorical([-0.5, 1.5]), ValueError)),
        ("sum", (lambda: msd.Categorical([[0.5, 0.5], [0.6, 0.6]]), ValueError)),
    ])  # fmt: skip
    assert msd.Categorical([0.0, 1.0]).mean().item() == 1.0


@pytest.mark.parametrize("shape", [(), (2,), (2, 1), (3, 2)])
def test_classes_of_any_batch_are_those_of_each(shape):
    rng = np.random.default_rng(5)
    ours, theirs = rng.dirichlet(np.ones(4), (2, *shape))
    d, k = msd.Categorical(ours, dtype=ms.int32), np.arange(4)
    mean = ours @ k
    near(d.mean(), mean, 1e-6)
    near(d.var(), ours @ k**2 - mean**2, 1e-5)
    near(d.entropy(), stats.entropy(ours, axis=-1), 1e-6)
    near(d.kl_loss("Categorical", Tensor(theirs)), stats.entropy(ours, theirs, axis=-1), 1e-6)
    near(d.cross_entropy("Categorical", Tensor(theirs)), -(ours * np.log(theirs)).sum(-1), 1e-6)
    near(d.prob(Tensor(np.full(shape, 2.0))), ours[..., 2], 1e-6)
    near(d.cdf(Tensor(np.full(shape, 2.0))), ours[..., :3].sum(-1), 1e-6)
    assert d.mode().asnumpy().tolist() == ours.argmax(-1).tolist()
    assert d.sample((6,)).shape == (6, *shape)
