"""Bijectors are inverted, layers draw their weights, bounds are bounds, and chains find known posteriors."""

import numpy as np
import pytest
from scipy import stats

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import ArgumentError
from mycelia.nn.probability import bijector, bnn_layers, distribution, dpn, infer, transforms

BIJECTORS = {
    "Exp": (bijector.Exp(), np.array([-1.0, 0.5, 2.0])),
    "Power": (bijector.PowerTransform(0.5), np.array([-1.0, 0.5, 2.0])),
    "Affine": (bijector.ScalarAffine(2.0, -1.0), np.array([-1.0, 0.5, 2.0])),
    "Softplus": (bijector.Softplus(2.0), np.array([-2.0, 0.5, 12.0])),
    "GumbelCDF": (bijector.GumbelCDF(0.5, 1.5), np.array([-1.0, 0.5, 2.0])),
    "Invert": (bijector.Invert(bijector.Exp()), np.array([0.1, 0.5, 2.0])),
}


@pytest.mark.many("name", BIJECTORS)
def test_a_bijector_is_inverted_and_tells_its_slope(name):
    b, x = BIJECTORS[name]
    x = Tensor(x)
    y = b.forward(x)
    np.testing.assert_allclose(b.inverse(y).asnumpy(), x.asnumpy(), rtol=1e-6, atol=1e-6)
    slope = ms.grad(lambda v: b.forward(v).sum())(x)
    np.testing.assert_allclose(b.forward_log_jacobian(x).asnumpy(), np.log(slope.asnumpy()), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(b.inverse_log_jacobian(y).asnumpy(), -np.log(slope.asnumpy()), rtol=1e-6, atol=1e-6)


def test_what_a_bijector_gives_has_a_distribution():
    made = bijector.Exp()(distribution.Normal(0.3, 0.8, dtype=ms.float64))
    oracle, y = stats.lognorm(0.8, scale=np.exp(0.3)), np.array([0.2, 1.0, 3.0])
    np.testing.assert_allclose(made.log_prob(Tensor(y)).asnumpy(), oracle.logpdf(y), rtol=1e-9)
    np.testing.assert_allclose(made.cdf(Tensor(y)).asnumpy(), oracle.cdf(y), rtol=1e-9)
    assert made.sample((3,)).shape == (3,)
    linear = bijector.ScalarAffine(2.0, 1.0)(distribution.Normal(3.0, 1.0))
    assert linear.mean().item() == 7.0
    with pytest.raises(ValueError, match="linear"):
        made.mean()


def test_bayesian_layers_draw_their_weights_and_learn():
    ms.set_seed(1)
    x = np.random.default_rng(0).normal(size=(64, 3)).astype("f")
    y = x @ np.array([[1.0], [-2.0], [0.5]], "f")
    for kind in (bnn_layers.DenseReparam, bnn_layers.DenseLocalReparam):
        net = kind(3, 1)
        assert not np.array_equal(net(Tensor(x)).asnumpy(), net(Tensor(x)).asnumpy())
        loss = bnn_layers.WithBNNLossCell(net, nn.MSELoss(), 1, 1e-5)
        step = nn.TrainOneStepCell(loss, nn.Adam(loss.trainable_params(), 0.05))
        first = step(Tensor(x), Tensor(y)).item()
        for _ in range(60):
            last = step(Tensor(x), Tensor(y)).item()
        assert last < 0.1 * first


def test_the_divergence_of_a_layer_is_that_of_its_weights():
    layer = bnn_layers.ConvReparam(1, 2, 3, has_bias=True)
    want = 0.0
    for part in (layer.weight_posterior, layer.bias_posterior):
        mean, deviation = (t.asnumpy().astype(float) for t in part("get_dist_args"))
        want += np.sum(np.log(deviation / 0.1) + (0.01 + mean**2) / (2 * deviation**2) - 0.5)
    assert layer.compute_kl_loss().item() == pytest.approx(want, rel=1e-4)


def test_a_plain_network_becomes_bayesian():
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Dense(32, 1))
    plain = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01))
    step = transforms.TransformToBNN(plain, 1, 0.1).transform_to_bnn_model()
    assert [type(c).__name__ for c in net] == ["ConvReparam", "ReLU", "Flatten", "DenseReparam"]
    assert np.isfinite(step(ops.ones((2, 1, 4, 4)), ops.ones((2, 1))).item())


def test_an_auto_encoder_learns_to_rebuild():
    ms.set_seed(2)
    x = np.repeat(np.eye(6, dtype="f"), 8, 0)
    vae = dpn.VAE(nn.SequentialCell(nn.Dense(6, 16), nn.ReLU()), nn.Dense(16, 6), 16, 2)
    net = nn.WithLossCell(vae, infer.ELBO())
    svi = infer.SVI(net, nn.Adam(vae.trainable_params(), 0.02))
    svi.run([(x, x)], epochs=1)
    first = svi.get_train_loss()
    svi.run([(x, x)] * 5, epochs=20)
    assert svi.get_train_loss() < 0.95 * first
    assert vae.generate_sample(3, (-1, 6)).shape == (3, 6)


@pytest.mark.parametrize("sampler", [infer.HMC, infer.NUTS])
def test_a_chain_finds_a_normal_distribution(sampler):
    mean, deviation = np.array([1.0, -2.0]), np.array([0.5, 3.0])

    def log_prob(x):
        return -0.5 * (((x - Tensor(mean)) / Tensor(deviation)) ** 2).sum()

    draws = sampler(log_prob, 0.2).run(np.zeros(2), 600, warmup=200, seed=3)
    error = deviation / np.sqrt(draws.effective())
    assert np.all(np.abs(draws.samples.mean((0, 1)) - mean) < 5 * error)
    assert np.all(np.abs(draws.samples.std((0, 1)) / deviation - 1) < 0.25)
    assert draws.divergences == 0


SCHOOLS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


@pytest.mark.slow
def test_nuts_finds_the_posterior_of_eight_schools():
    """Rubin's (1981), in the form that is not centred, with the priors of Gelman et al.: mu N(0, 5), tau C+(0, 5)."""
    y, sigma = map(Tensor, SCHOOLS)

    def log_prob(x):
        mu, log_tau, z = x[0], x[1], x[2:]
        tau = ops.exp(log_tau)
        away = (y - mu - tau * z) / sigma
        prior = -0.5 * (mu / 5.0) ** 2 - ops.log1p((tau / 5.0) ** 2) + log_tau - 0.5 * (z * z).sum()
        return prior - 0.5 * (away * away).sum()

    draws = infer.NUTS(log_prob, target_accept=0.9).run(np.zeros(10), 1000, warmup=500, chains=4, seed=1)
    assert np.all(draws.shrinkage() < 1.02)
    mu, tau = draws.samples[..., 0], np.exp(draws.samples[..., 1])
    assert mu.mean() == pytest.approx(4.4, abs=0.3)  # posteriordb: 4.4 +- 3.3, 3.6 +- 3.2
    assert mu.std() == pytest.approx(3.3, abs=0.3)
    assert tau.mean() == pytest.approx(3.6, abs=0.35)
    assert tau.std() == pytest.approx(3.2, abs=0.4)


@pytest.mark.slow
def test_nuts_finds_a_normal_distribution_of_ten_dimensions():
    rng = np.random.default_rng(5)
    a = rng.normal(size=(10, 10))
    covariance = a @ a.T / 10 + np.diag(np.linspace(0.1, 2.0, 10))
    inverse = Tensor(np.linalg.inv(covariance))
    draws = infer.NUTS(lambda x: -0.5 * (x * (inverse @ x)).sum()).run(np.ones(10), 1000, warmup=500, chains=4, seed=2)
    error = np.sqrt(np.diag(covariance) / draws.effective())
    assert np.all(np.abs(draws.samples.mean((0, 1))) < 4 * error)
    assert np.all(draws.shrinkage() < 1.02)
    found = np.cov(draws.samples.reshape(-1, 10).T)
    assert np.abs(found - covariance).max() < 0.1 * np.diag(covariance).max() * 2


def test_a_parameter_given_with_a_call_is_one_of_the_program():
    normal, sd = distribution.Normal(), np.array([0.5, 1.0, 2.0], "f")
    want = stats.norm.logpdf(0.25, 0.0, sd)

    def fn(sd):
        return normal.log_prob(Tensor(0.25), Tensor(0.0), sd)

    for way in (fn, ms.jit(fn), ms.vmap(fn), ms.jit(ms.vmap(fn))):
        np.testing.assert_allclose(way(Tensor(sd)).asnumpy(), want, rtol=1e-5)
    slope = ms.grad(lambda sd: fn(sd).sum())(Tensor(sd)).asnumpy()
    np.testing.assert_allclose(slope, 0.25**2 / sd**3 - 1 / sd, rtol=1e-5)
    assert np.isnan(fn(Tensor(-1.0)).item())  # what a tensor holds is not looked at; a number is
    with pytest.raises(ArgumentError, match="sd lies between"):
        fn(-1.0)


def test_a_parameter_may_be_infinite_where_nothing_bounds_it():
    assert distribution.Normal(0.0, [1.0, np.inf]).sd().tolist() == [1.0, np.inf]
    assert distribution.Normal([-np.inf, np.inf], 1.0).mean().tolist() == [-np.inf, np.inf]
    for family, given in (("Normal", (0.0, 0.0)), ("Normal", (0.0, np.nan)), ("Exponential", (-np.inf,)),
                          ("Bernoulli", (1.5,)), ("Bernoulli", (np.inf,)), ("Gamma", (np.nan, 1.0))):  # fmt: skip
        with pytest.raises(ArgumentError, match="lies between"):
            getattr(distribution, family)(*given)
