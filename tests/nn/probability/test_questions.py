"""Every question that a distribution, a function of one or a chain answers, against SciPy and plain NumPy."""

import numpy as np
import pytest
from scipy import special, stats

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import ArgumentError
from mycelia.nn.probability import bijector, bnn_layers, distribution, infer, transforms
from tests.each import each

F64 = ms.float64


def near(mine, theirs, exact=1e-9):
    np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=exact, atol=exact)


@pytest.mark.many(
    ("name", "oracle", "shares"),
    [
        ("Bernoulli", stats.bernoulli, (0.1, 0.49, 0.51, 0.9)),
        ("Geometric", lambda p: stats.geom(p, loc=-1), (0.1, 0.5, 0.9)),
        ("Poisson", stats.poisson, (0.3, 1.5, 2.5, 7.25)),
    ],
    ids=lambda case: case[0],
)
def test_counts_are_most_likely_at_the_mode(name, oracle, shares):
    k = np.arange(60)
    for share in shares:
        assert getattr(distribution, name)(share, dtype=F64).mode().item() == oracle(share).pmf(k).argmax()
    several = getattr(distribution, name)(np.array(shares), dtype=F64)
    assert several.mode().tolist() == [oracle(share).pmf(k).argmax() for share in shares]
    near(several.mean(), [oracle(share).mean() for share in shares])
    near(several.var(), [oracle(share).var() for share in shares])


@pytest.mark.many("df", [0.5, 1.0, 1.5, 2.0, 2.5, 30.0])
def test_moments_of_students_distribution_exist_from_certain_degrees_on(df):
    mine, theirs = distribution.StudentT(df, 0.5, 1.5, dtype=F64), stats.t(df, 0.5, 1.5)
    near(mine.mean(), 0.5 if df > 1 else np.nan)
    near(mine.var(), theirs.var() if df > 2 else np.inf if df > 1 else np.nan)
    near(mine.entropy(), theirs.entropy())
    x = np.array([-40.0, -1.5, 0.5, 0.75, 3.0, 60.0])
    near(mine.log_prob(Tensor(x)), theirs.logpdf(x))
    near(mine.cdf(Tensor(x)), theirs.cdf(x))
    near(mine.survival_function(Tensor(x)), theirs.sf(x))


def test_moments_that_do_not_exist_are_nan():
    cauchy = distribution.Cauchy(0.5, 1.5, dtype=F64)
    assert all(np.isnan(question().item()) for question in (cauchy.mean, cauchy.var, cauchy.sd))
    assert cauchy.mode().item() == 0.5


def test_classes_answer_every_question_about_shares():
    probs = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    d, at = distribution.Categorical(probs, dtype=ms.int32), np.array([1.0, 0.0])
    reached = np.array([probs[i, : int(k) + 1].sum() for i, k in enumerate(at)])
    value = Tensor(at)
    near(d.cdf(value), reached, 1e-6)
    near(d.survival_function(value), 1 - reached, 1e-6)
    near(d.log_cdf(value), np.log(reached), 1e-6)
    near(d.log_survival(value), np.log(1 - reached), 1e-6)
    near(d.log_prob(value), np.log([0.3, 0.6]), 1e-6)


class Half(distribution.Distribution):
    """The exponential distribution of rate 1, told by some of its rules only."""

    def __init__(self):
        super().__init__(dtype=F64)

    def _prob(self, x):
        return ops.exp(-x)

    def _var(self):
        return Tensor(4.0, F64)


class ByTail(Half):
    def _survival_function(self, x):
        return ops.exp(-x)


class ByLogTail(Half):
    def _log_survival(self, x):
        return -x


class ByShare(Half):
    def _cdf(self, x):
        return 1.0 - ops.exp(-x)


class ByLogShare(Half):
    def _log_cdf(self, x):
        return ops.log(1.0 - ops.exp(-x))


@pytest.mark.many("kind", [ByTail, ByLogTail, ByShare, ByLogShare], ids=lambda kind: kind.__name__)
def test_what_a_family_leaves_out_follows_from_the_rest(kind):
    d, x, oracle = kind(), np.array([0.1, 1.0, 3.0]), stats.expon()
    near(d.prob(Tensor(x)), oracle.pdf(x))
    near(d.log_prob(Tensor(x)), oracle.logpdf(x))
    near(d.sd(), 2.0)
    if kind is not ByLogTail:
        near(d.cdf(Tensor(x)), oracle.cdf(x))
        near(d.log_cdf(Tensor(x)), oracle.logcdf(x))
    near(d.survival_function(Tensor(x)), oracle.sf(x))
    near(d.log_survival(Tensor(x)), oracle.logsf(x))


def test_a_family_that_says_nothing_is_asked_nothing():
    def refused(question, *given):
        with pytest.raises(ArgumentError, match="in closed form"):
            getattr(distribution.Distribution(dtype=F64), question)(*given)

    each(refused, [(q, (q, *([1.0] if q in ("prob", "log_prob", "cdf", "survival_function") else []))) for q in (
        "prob", "log_prob", "cdf", "survival_function", "mean", "mode", "sd", "var", "entropy"
    )])  # fmt: skip


def test_what_a_function_makes_of_a_distribution_answers_as_that_does():
    normal = distribution.Normal(0.3, 0.8, dtype=F64, seed=4)
    exp, y = bijector.Exp(), np.array([0.2, 1.0, 3.0])
    made, oracle = exp(normal), stats.lognorm(0.8, scale=np.exp(0.3))
    for mine, theirs in {
        "log_prob": "logpdf", "prob": "pdf", "cdf": "cdf", "log_cdf": "logcdf", "survival_function": "sf",
        "log_survival": "logsf",
    }.items():  # fmt: skip
        near(getattr(made, mine)(Tensor(y)), getattr(oracle, theirs)(y))
        shifted = stats.lognorm(0.5, scale=np.exp(1.0))
        near(getattr(made, mine)(Tensor(y), 1.0, 0.5), getattr(shifted, theirs)(y))
    assert made.bijector is exp
    assert made.distribution is normal
    assert made.seed == 4
    assert not made.is_linear_transformation
    assert exp(distribution.Normal(np.zeros((2, 1)), np.ones(3))).batch_shape == (2, 3)
    with pytest.raises(ArgumentError, match="known for linear ones"):
        made.entropy()
    linear = bijector.ScalarAffine(2.0, 1.0)(normal)
    assert linear.is_linear_transformation
    near(linear.mean(), 1.6, 1e-6)
    near(linear.entropy(), stats.norm(1.6, 1.6).entropy(), 1e-6)


def test_parameters_are_told_as_they_were_given():
    one, many = distribution.Normal(0.5, 2), distribution.Normal(np.zeros((2, 1)), np.ones(3))
    assert one.parameters == {"mean": 0.5, "sd": 2}
    assert one.is_scalar_batch
    assert not many.is_scalar_batch
    assert many.broadcast_shape == many.batch_shape == (2, 3)
    assert one.broadcast_shape == ()


class Twice(bijector.Bijector):
    """x -> 2 x, whose slope is told for one direction."""

    def _forward(self, x):
        return x * 2.0

    def _inverse(self, y):
        return y / 2.0


class TwiceThere(Twice):
    def _forward_log_jacobian(self, x):
        return ops.zeros_like(x) + np.log(2.0)


class TwiceBack(Twice):
    def _inverse_log_jacobian(self, y):
        return ops.zeros_like(y) - np.log(2.0)


@pytest.mark.many("kind", [TwiceThere, TwiceBack], ids=lambda kind: kind.__name__)
def test_the_slope_of_one_direction_is_enough(kind):
    b, x = kind(), np.array([-1.0, 3.0])
    near(b.forward_log_jacobian(Tensor(x)), np.full(2, np.log(2)), 1e-6)
    near(b.inverse_log_jacobian(Tensor(x)), np.full(2, -np.log(2)), 1e-6)


def test_a_bijector_tells_what_it_is():
    exp, affine = bijector.Exp(), bijector.ScalarAffine([1.0, 2.0], 0.5)
    assert bijector.Invert(exp).bijector is exp
    assert not affine.is_scalar_batch
    assert bijector.ScalarAffine(2.0, 0.5).is_scalar_batch
    assert bijector.ScalarAffine(2.0, 0.5).is_constant_jacobian
    assert not exp.is_constant_jacobian
    assert exp.is_injective
    assert (exp.dtype, bijector.Bijector(dtype=ms.float16).dtype) == (None, ms.float16)
    x = Tensor([-1.0, 0.5, 2.0])
    assert bijector.PowerTransform(Tensor(0.5)).forward(x).tolist() == bijector.PowerTransform(0.5).forward(x).tolist()
    trained = ms.Parameter(np.array(3.0, "f"), name="scale")
    slope = ms.grad(lambda x: bijector.ScalarAffine(trained, 0.5).forward(x), None, [trained])(Tensor(2.0))
    assert slope[0].item() == 2.0


def test_chains_that_differ_shrink_most():
    rng = np.random.default_rng(0)
    for away, count in ((0.0, 40), (3.0, 41)):
        samples = rng.normal(size=(3, count, 2)) + away * np.arange(3)[:, None, None]
        half = count // 2
        parts = [chain[a : a + half] for chain in samples for a in (0, half)]
        within = np.mean([part.var(0, ddof=1) for part in parts], 0)
        between = half * np.var([part.mean(0) for part in parts], 0, ddof=1)
        wanted = np.sqrt(((half - 1) / half * within + between / half) / within)
        np.testing.assert_allclose(infer.Draws(samples, np.ones(3), np.ones(3)).shrinkage(), wanted, rtol=1e-12)


def test_the_bound_of_truths_is_their_cross_entropy():
    rng = np.random.default_rng(1)
    rebuilt, x = rng.uniform(0.1, 0.9, (2, 3)), rng.integers(0, 2, (2, 3)).astype(float)
    mean, deviation = rng.normal(size=(2, 1)), rng.uniform(0.5, 2, (2, 1))
    away = -(special.xlogy(x, rebuilt) + special.xlogy(1 - x, 1 - rebuilt)).sum()
    apart = (-np.log(deviation) + (deviation**2 + mean**2) / 2 - 0.5).sum()
    given = tuple(Tensor(a.astype("f")) for a in (rebuilt, x, mean, deviation))
    got = infer.ELBO(output_prior="Bernoulli")(given, given[1]).item()
    assert got == pytest.approx(away + apart, rel=1e-5)


class Named(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(3, 4), nn.Dense(4, 1)

    def construct(self, x):
        return self.second(ops.relu(self.first(x)))


def test_layers_of_one_class_become_bayesian_wherever_they_are():
    net = Named()
    plain = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    step = transforms.TransformToBNN(plain).transform_to_bnn_layer(nn.Dense, bnn_layers.DenseReparam)
    assert type(net.first) is type(net.second) is bnn_layers.DenseReparam
    assert (net.first.in_channels, net.first.out_channels, net.second.out_channels) == (3, 4, 1)
    assert np.isfinite(step(ops.ones((2, 3)), ops.ones((2, 1))).item())
    with pytest.raises(ArgumentError, match="the arguments of ReLU are not known"):
        transforms.TransformToBNN(plain).transform_to_bnn_layer(nn.ReLU, bnn_layers.DenseReparam)
