"""Layers and rules at the borders of what they take: the least that is allowed, the first that is not, both sides."""

import math

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.errors import ArgumentError, MyceliaError, ShapeError
from mycelia.nn.image import gaussian
from mycelia.nn.learning_rate_schedule import check_rate, check_steps


def steps(optimizer, w, gradients):
    """The weights after each step."""
    seen = []
    for g in gradients:
        optimizer((Tensor(np.array(g, "f")),))
        seen.append(w.asnumpy().copy())
    return seen


def test_the_average_of_asgd_is_that_of_the_weights_since_it_began():
    w = Parameter(np.array([1.0, -2.0], "f"), name="w")
    rule = nn.ASGD([w], learning_rate=0.1, t0=0.0)
    seen = steps(rule, w, [[0.5, 1.0], [1.0, -1.0], [0.25, 2.0], [-1.0, 0.5], [2.0, 0.0]])
    (average,) = (p for p in rule.get_parameters() if p.name.startswith("ax"))
    np.testing.assert_allclose(average.asnumpy(), np.mean(seen[1:], 0), rtol=1e-5)


def test_rprop_keeps_its_step_where_a_gradient_is_zero():
    w = Parameter(np.zeros(2, "f"), name="w")
    seen = steps(nn.Rprop([w], learning_rate=0.1), w, [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(seen, [[-0.1, -0.1], [-0.1, -0.22], [-0.2, -0.364]], rtol=1e-5)


def test_a_gradient_by_several_inputs_has_all_of_them():
    class Product(nn.Cell):
        def construct(self, x, y):
            return x * y

    out, gradients = nn.Vjp(Product())(Tensor([2.0]), Tensor([5.0]), Tensor([1.0]))
    assert out.tolist() == [10.0]
    assert [g.tolist() for g in gradients] == [[5.0], [2.0]]
    _, alone = nn.Vjp(nn.ReLU())(Tensor([2.0]), Tensor([3.0]))
    assert alone.tolist() == [3.0]


def test_trainable_and_other_parameters_are_all_parameters():
    net = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2))
    trainable, others = ({p.name for p in found} for found in (net.trainable_params(), net.untrainable_params()))
    assert others == {"1.moving_mean", "1.moving_variance"}
    assert trainable == {p.name for p in net.get_parameters()} - others
    assert len(trainable) == 4


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (1, 2, 3, 4, 5)])
def test_neighbouring_channels_are_those_of_images(shape):
    with pytest.raises(ShapeError, match=r"LRN takes \(N, C, H, W\)"):
        nn.LRN()(ops.ones(shape))


def test_rates_and_steps_are_positive():
    assert check_steps("n", 1) == 1
    assert check_rate("r", 1e-9) == 1e-9
    assert type(check_rate("r", 2)) is float
    for bad in (0, -1, True, 1.5):
        with pytest.raises(ArgumentError, match="positive whole number"):
            check_steps("n", bad)
    for bad in (0, 0.0, -1e-9, True, "1"):
        with pytest.raises(ArgumentError, match="positive number"):
            check_rate("r", bad)


@pytest.mark.parametrize("low", [0.0, 0.01])
def test_a_cosine_goes_from_one_rate_to_the_other(low):
    rates = [nn.CosineDecayLR(low, 0.5, 8)(Tensor(t)).item() for t in (0, 2, 4, 8, 9)]
    wanted = [low + (0.5 - low) * (1 + math.cos(math.pi * min(t / 8, 1))) / 2 for t in (0, 2, 4, 8, 9)]
    np.testing.assert_allclose(rates, wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose([rates[0], rates[3], rates[4]], [0.5, low, low], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("more", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_transposed_convolution_is_longer_where_that_was_asked(more):
    layer = nn.Conv2dTranspose(1, 1, 3, stride=2, pad_mode="pad", output_padding=more, weight_init="ones")
    plain = nn.Conv2dTranspose(1, 1, 3, stride=2, pad_mode="pad", weight_init="ones")
    x = ops.ones((1, 1, 3, 4))
    out, short = layer(x).asnumpy(), plain(x).asnumpy()
    assert out.shape == (1, 1, short.shape[2] + more[0], short.shape[3] + more[1])
    np.testing.assert_array_equal(out[:, :, : short.shape[2], : short.shape[3]], short)
    assert out.sum() == short.sum()


def test_the_weights_of_classes_count():
    x, y = Tensor([[0.3, -1.0], [2.0, 0.1]]), Tensor([[1.0, 0.0], [0.0, 1.0]])
    weight = np.array([1.0, 3.0])
    losses = np.log1p(np.exp(-np.where(y.asnumpy() > 0, x.asnumpy(), -x.asnumpy())))
    for given, factor in ((None, 1.0), (Tensor(weight.astype("f")), weight), (2.0, 2.0)):
        got = nn.MultiLabelSoftMarginLoss(given)(x, y).item()
        np.testing.assert_allclose(got, (losses * factor).mean(-1).mean(), rtol=1e-5)


@pytest.mark.parametrize("size", [3, 5, 11])
def test_a_gaussian_window_falls_from_its_middle(size):
    window = gaussian(size, 1.5)[0, 0]
    at = np.arange(size) - size // 2
    wanted = np.exp(-(at[:, None] ** 2 + at**2) / (2 * 1.5**2))
    np.testing.assert_allclose(window, wanted / wanted.sum(), rtol=1e-5)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_instance_norm_in_16_bits_remembers_in_32(dtype):
    layer = nn.InstanceNorm2d(2)
    layer.set_train()
    x = np.random.default_rng(0).normal(3.0, 1.0, (4, 2, 5, 5)).astype("f")
    layer(Tensor(x).astype(dtype))
    assert layer.moving_mean.dtype == ms.float32
    kept = 1.0 - layer.momentum
    wanted = (1.0 - kept) * x.mean((0, 2, 3))
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), wanted, rtol=2e-2)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("gamma", [0.0, 2.0, 1.5])
def test_what_is_known_well_weighs_little(reduction, gamma):
    rng = np.random.default_rng(1)
    logits, classes = rng.standard_normal((5, 3)).astype("f"), np.array([[0], [2], [1], [1], [2]], np.int32)
    weight = np.array([0.5, 1.0, 2.0], "f")
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    of_classes = -((1 - p) ** gamma) * np.log(p) * weight
    told = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}[reduction]
    loss = nn.FocalLoss(Tensor(weight), gamma, reduction)
    found = loss(Tensor(logits), Tensor(classes)).asnumpy()
    np.testing.assert_allclose(found, told(np.take_along_axis(of_classes, classes, 1)[:, 0]), rtol=1e-5)
    shares = np.eye(3, dtype="f")[classes[:, 0]]
    found = loss(Tensor(logits), Tensor(shares)).asnumpy()
    np.testing.assert_allclose(found, told(of_classes * shares), rtol=1e-5)
    with pytest.raises(ArgumentError):
        nn.FocalLoss(reduction="most")


def test_slopes_lie_between_two_that_are_in_order():
    with pytest.raises(ArgumentError, match="exchange them"):
        nn.RReLU(0.5, 0.25)
    assert nn.RReLU(0.25, 0.25)(Tensor([-4.0, 2.0])).tolist() == [-1.0, 2.0]
    found = nn.RReLU(-1.0, 0.5)(Tensor(-np.ones(1000, "f"))).asnumpy()
    assert -0.5 <= found.min() < -0.4
    assert 0.9 < found.max() <= 1.0


def test_source_and_target_have_the_features_of_the_transformer():
    net = nn.Transformer(4, 2, 1, 1, 8)
    right, wrong = ops.ones((3, 2, 4)), ops.ones((3, 2, 6))
    assert net(right, right).shape == (3, 2, 4)
    for given in ((right, wrong), (wrong, right)):
        with pytest.raises(ShapeError, match="Transformer of d_model 4"):
            net(*given)
    for layers in (0, -1):
        with pytest.raises(ArgumentError, match="num_layers of TransformerEncoder"):
            nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), layers)
    with pytest.raises(MyceliaError, match="num_layers of TransformerDecoder"):
        nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 1.5)


@pytest.mark.parametrize("given", [{}, {"dtype": None}, {"dtype": ms.float32}, {"dtype": ms.float16}])
@pytest.mark.parametrize("init", [None, "ones", "normal", 0.5])
def test_a_linear_layer_is_of_float32_if_nothing_else_is_said(given, init):
    layer = nn.Linear(3, 2, weight_init=init, bias_init=init, **given)
    assert {p.dtype for p in layer.get_parameters()} == {given.get("dtype") or ms.float32}
    assert layer(ops.ones((1, 3)).astype(layer.weight.dtype)).shape == (1, 2)
