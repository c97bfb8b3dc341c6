"""Layers against their formulas, and the mistakes they tell."""

import numpy as np
import pytest
from scipy import special, stats

import mycelia as ms
from mycelia import nn, ops
from mycelia.common import initializer as init
from mycelia.errors import ArgumentError, CallError, ShapeError


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


# ---------------------------------------------------------------------------------------- training


def test_dropout_keeps_the_mean_and_follows_the_seed():
    net = nn.Dropout(p=0.3).set_train()
    ones = ops.ones((20000,), ms.float32)
    ms.set_seed(4)
    first = net(ones).asnumpy()
    ms.set_seed(4)
    np.testing.assert_array_equal(net(ones).asnumpy(), first)
    assert abs((first == 0).mean() - 0.3) < 0.02
    assert abs(first.mean() - 1) < 0.02


def test_dropout_may_be_told_what_to_keep():
    assert nn.Dropout(keep_prob=0.9).p == pytest.approx(0.1)


def test_batch_norm_can_be_told_which_statistics_to_use():
    x = ms.Tensor(numbers(8, 3) * 5 + 2)
    fixed = nn.BatchNorm1d(3, use_batch_statistics=False).set_train()
    np.testing.assert_allclose(fixed(x).asnumpy(), x.asnumpy() / np.sqrt(1 + 1e-5), rtol=1e-6)
    batch = nn.BatchNorm1d(3, use_batch_statistics=True)
    np.testing.assert_allclose(batch(x).asnumpy().mean(0), 0, atol=1e-6)


def test_batch_norm_learns_its_statistics_when_compiled_as_it_does_eagerly():
    eager, compiled = nn.BatchNorm2d(2).set_train(), nn.BatchNorm2d(2).set_train()
    step = ms.jit(compiled)
    for seed in range(3):
        x = ms.Tensor(numbers(4, 2, 3, 3, seed=seed))
        np.testing.assert_allclose(step(x).asnumpy(), eager(x).asnumpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(compiled.moving_mean.asnumpy(), eager.moving_mean.asnumpy(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(compiled.moving_variance.asnumpy(), eager.moving_variance.asnumpy(), rtol=1e-5)


def test_group_norm_of_one_group_is_layer_norm_without_its_own_scales():
    x = ms.Tensor(numbers(2, 4, 5))
    grouped = nn.GroupNorm(1, 4)(x).asnumpy()
    flat = nn.LayerNorm((20,), epsilon=1e-5)(x.reshape((2, 20))).asnumpy()
    np.testing.assert_allclose(grouped.reshape(2, 20), flat, rtol=1e-5, atol=1e-6)


def test_the_embedding_of_padding_begins_as_zeros_and_one_hot_gives_the_same():
    table = nn.Embedding(5, 3, padding_idx=1)
    assert not table.embedding_table.asnumpy()[1].any()
    ids = ms.Tensor(np.array([[1, 4], [0, 1]], np.int32))
    same = nn.Embedding(5, 3, use_one_hot=True, embedding_table=ms.Tensor(table.embedding_table.asnumpy()))
    np.testing.assert_array_equal(table(ids).asnumpy(), same(ids).asnumpy())


def test_pooling_without_examples_is_pooling_of_one():
    x = numbers(3, 6, 6)
    for layer in (nn.MaxPool2d(2, 2), nn.AvgPool2d(3, 1, pad_mode="same")):
        np.testing.assert_array_equal(layer(ms.Tensor(x)).asnumpy(), layer(ms.Tensor(x[None])).asnumpy()[0])


def test_flatten_joins_the_axes_it_is_told():
    x = ms.Tensor(numbers(2, 3, 4, 5))
    assert nn.Flatten()(x).shape == (2, 60)
    assert nn.Flatten(0, 1)(x).shape == (6, 4, 5)
    assert nn.Flatten(-2)(x).shape == (2, 3, 20)
    with pytest.raises(ShapeError, match="cannot be made one"):
        nn.Flatten(2, 1)(x)


def test_attention_hides_what_was_added_from_no_mask():
    net = nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)
    x = ms.Tensor(numbers(3, 2, 4))
    hidden = ms.Tensor(np.ones((3, 3), bool))
    out, weights = net(x, x, x, attn_mask=hidden, average_attn_weights=False)
    assert weights.shape == (2, 2, 3, 5)
    assert not weights.asnumpy()[..., :3].any()
    np.testing.assert_allclose(weights.asnumpy().sum(-1), 1, rtol=1e-6)
    assert np.isfinite(out.asnumpy()).all()


def test_a_loss_of_ones_own_reduces_as_it_was_told():
    class Distance(nn.LossBase):
        def construct(self, x, y):
            return self.get_loss(ops.abs(x - y), 2.0)

    x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([2.0, 4.0])
    assert [Distance(how)(x, y).tolist() for how in ("mean", "sum", "none")] == [3.0, 6.0, [2.0, 4.0]]


# ---------------------------------------------------------------------------------------- initial values


def test_default_weights_are_uniform_within_the_root_of_the_inputs():
    ms.set_seed(0)
    for layer, inputs in ((nn.Dense(64, 64), 64), (nn.Conv2d(8, 16, 5, has_bias=True), 200)):
        limit = inputs**-0.5
        for parameter in layer.trainable_params():
            assert abs(parameter.asnumpy()).max() <= limit
        drawn = layer.weight.asnumpy().reshape(-1)
        assert stats.kstest(drawn, stats.uniform(-limit, 2 * limit).cdf).pvalue > 1e-3


LAWS = {
    "Uniform": (init.Uniform(0.2), stats.uniform(-0.2, 0.4)),
    "Normal": (init.Normal(0.5, 2.0), stats.norm(2.0, 0.5)),
    "TruncatedNormal": (init.TruncatedNormal(0.5, 1.0, -1.0, 2.0), stats.truncnorm(-1, 2, loc=1.0, scale=0.5)),
    "XavierUniform": (init.XavierUniform(2.0), stats.uniform(-2 * (6 / 200) ** 0.5, 4 * (6 / 200) ** 0.5)),
    "XavierNormal": (init.XavierNormal(), stats.norm(0, (2 / 200) ** 0.5)),
    "HeUniform": (init.HeUniform(), stats.uniform(-((6 / 80) ** 0.5), 2 * (6 / 80) ** 0.5)),
    "HeNormal": (init.HeNormal(0.5, "fan_out"), stats.norm(0, (2 / 1.25 / 120) ** 0.5)),
    "VarianceScaling": (init.VarianceScaling(2.0, "fan_avg", "untruncated_normal"), stats.norm(0, (2 / 100) ** 0.5)),
}


@pytest.mark.parametrize("name", LAWS)
def test_initial_values_follow_their_distribution(name):
    filler, distribution = LAWS[name]
    ms.set_seed(3)
    drawn = init.initializer(filler, (120, 80)).asnumpy().reshape(-1)
    assert stats.kstest(drawn, distribution.cdf).pvalue > 1e-3


def test_a_truncated_normal_scaled_by_variance_has_that_variance():
    drawn = init.initializer(init.VarianceScaling(), (200, 100)).asnumpy()
    assert drawn.std() == pytest.approx(0.1, rel=0.02)


def test_the_same_seed_gives_the_same_network():
    ms.set_seed(9)
    first = nn.Dense(3, 3).weight.asnumpy()
    second = nn.Dense(3, 3).weight.asnumpy()
    ms.set_seed(9)
    np.testing.assert_array_equal(nn.Dense(3, 3).weight.asnumpy(), first)
    assert (first != second).any()


@pytest.mark.parametrize("name", ["zeros", "ones", "normal", "xavier_uniform", "XavierUniform", "he_normal", "uniform"])
def test_initializers_go_by_name(name):
    assert init.initializer(name, (3, 4), ms.float16).dtype is ms.float16


# ---------------------------------------------------------------------------------------- mistakes


@pytest.mark.many(
    ("wrong", "words"),
    [
        (lambda: init.initializer("zero_point", (2,)), "no initializer is called 'zero_point'"),
        (lambda: init.initializer("he_uniform", (2,)), "cannot be told from shape"),
        (lambda: init.initializer(ms.Tensor([1.0]), (2,)), "cannot begin a parameter of shape"),
        (lambda: nn.Dense(2, 3)(ms.Tensor([[1.0]])), "no common last axis"),
        (lambda: nn.Conv2d(3, 4, 3, group=2), "2 groups do not divide"),
        (lambda: nn.Conv2d(1, 1, 3, pad_mode="round"), "no pad_mode 'round'"),
        (lambda: nn.MaxPool2d(2, 2, padding=1), "padding 1 is given for pad_mode 'valid'"),
        (lambda: nn.MaxPool2d(2, 2)(ms.Tensor([1.0])), "examples, channels"),
        (lambda: nn.LayerNorm(3), "normalized_shape is a tuple"),
        (lambda: nn.LayerNorm((3,))(ms.Tensor([[1.0, 2.0]])), r"of normalized_shape \(3,\)"),
        (lambda: nn.BatchNorm2d(3)(ms.Tensor([[1.0]])), "of 3 features was given shape"),
        (lambda: nn.Dropout(p=1.5), "at least 0 and below 1"),
        (lambda: nn.MultiheadAttention(5, 2), "2 heads do not divide 5"),
        (lambda: nn.MSELoss("average"), "no reduction is called 'average'"),
        (lambda: nn.get_activation("step"), "no activation is called 'step'"),
        (lambda: nn.SoftmaxCrossEntropyWithLogits()(ms.Tensor([[1.0]]), ms.Tensor([0])), "do not fit sparse=False"),
        (lambda: nn.CosineDecayLR(0.2, 0.1, 3), "from max_lr down to min_lr"),
        (lambda: nn.piecewise_constant_lr([3, 2], [0.1, 0.2]), "milestones must rise"),
    ],
    ids=lambda case: case[1],
)
def test_mistakes_are_told_in_words(wrong, words):
    with pytest.raises((ArgumentError, ShapeError), match=words):
        wrong()


@pytest.mark.parametrize("name", ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d"])
def test_a_mistake_of_a_padding_names_it_and_its_word(name):
    with pytest.raises(CallError, match=f"value of {name} is a number"):
        getattr(nn, name)(1, "x")


def test_moments_are_those_of_numpy_along_any_axes():
    x = numbers(2, 3, 4)
    for axis in (None, 0, -1, (0, 2)):
        for keep in (False, True):
            mine = nn.Moments(axis, keep)(ms.Tensor(x))
            for got, want in zip(mine, (x.mean(axis, keepdims=keep), x.var(axis, keepdims=keep)), strict=True):
                assert got.shape == want.shape
                np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5, atol=1e-6)


KEPT = [nn.Dropout(p=0.0), nn.Dropout1d(0.0), nn.Dropout2d(0.0), nn.Dropout3d(0.0)]
FREE = [nn.Dropout(p=0.5), nn.Dropout1d(0.5), nn.Dropout2d(0.5), nn.Dropout3d(0.5), nn.Dropout2d(1.0)]


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_nothing_is_dropped_without_training_or_with_no_probability(training, compiled):
    for layer in KEPT if training else [*KEPT, *FREE]:
        rank = {"Dropout1d": 3, "Dropout3d": 5}.get(type(layer).__name__, 4)
        layer.set_train(training)
        call = ms.jit(layer) if compiled else layer
        for dtype in (np.float32, np.float16, np.int32):
            x = (numbers(*(2, 3, 4, 2, 3)[:rank]) * 9).astype(dtype)
            before = ms.get_rng_state().asnumpy()
            made = call(ms.Tensor(x)).asnumpy()
            assert made.dtype == dtype
            np.testing.assert_array_equal(made, x)
            np.testing.assert_array_equal(ms.get_rng_state().asnumpy(), before)


ACTIVATIONS = [
    name
    for name, kind in vars(nn.activation).items()
    if isinstance(kind, type) and kind.__module__ == nn.activation.__name__ and kind is getattr(nn, name, None)
]


@pytest.mark.many("name", ACTIVATIONS)
@pytest.mark.parametrize("training", [False, True])
def test_activations_keep_element_types(name, training):
    cell = getattr(nn, name)(*{"Threshold": (0.1, 3.0)}.get(name, ())).set_train(training)
    for dtype in (ms.float16, ms.bfloat16, ms.float32, ms.float64):
        assert cell(ms.Tensor(numbers(2, 4, 4), dtype)).dtype == dtype


def scores(weights, biases, right, inputs, drawn, of_right, of_drawn, hits):
    """The loss among some classes, as its paper writes it."""
    found = []
    for x, chosen, likely in zip(inputs, right, of_right, strict=True):
        own = weights[chosen] @ x + biases[chosen] - np.log(likely)
        others = weights[drawn] @ x + biases[drawn] - np.log(of_drawn)
        every = np.concatenate([own, others if hits else others[~np.isin(drawn, chosen)]])
        found.append(np.log(np.exp(every).sum()) - own.mean())
    return np.array(found)


@pytest.mark.parametrize("wanted", [1, 2])
def test_a_sampled_softmax_is_a_softmax_among_some_classes(wanted):
    classes, right = 5, np.array([[0, 3], [4, 1], [2, 2]])[:, :wanted]
    weights, biases, inputs = numbers(classes, 4), numbers(classes, seed=1), numbers(3, 4, seed=2)
    given = [ms.Tensor(x) for x in (weights, biases, right.astype(np.int32), inputs)]
    drawn, of_right, of_drawn = np.array([1, 3]), np.full((3, wanted), 0.5), np.array([0.2, 0.7])
    told = tuple(ms.Tensor(x.astype(np.float32)) for x in (drawn, of_right, of_drawn))
    loss = nn.SampledSoftmaxLoss(2, classes, wanted, told)(*given)
    want = scores(weights, biases, right, inputs, drawn, of_right, of_drawn, True)
    np.testing.assert_allclose(loss.asnumpy(), want, rtol=1e-5)
    for hits in (False, True):  # all classes are drawn: each with certainty
        loss = nn.SampledSoftmaxLoss(classes, classes, wanted, remove_accidental_hits=not hits)(*given)
        want = scores(weights, biases, right, inputs, np.arange(5), np.ones((3, wanted)), np.ones(5), hits)
        np.testing.assert_allclose(loss.asnumpy(), want, rtol=1e-5)
    for name in ("num_classes", "num_sampled", "num_true"):
        for wrong in (0, 2.5):
            with pytest.raises((ArgumentError, CallError), match=name):
                nn.SampledSoftmaxLoss(**{"num_sampled": 1, "num_classes": 5, name: wrong})


@pytest.mark.parametrize("seed", range(3))
def test_cells_for_single_functions_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.3, 6, (2, 5)).astype(np.float32)
    root = rng.standard_normal((2, 3, 3))
    matrix = (root @ root.swapaxes(1, 2) + np.eye(3)).astype(np.float32)
    for cell, given, want in (
        (nn.LGamma(), (a,), special.gammaln(a)), (nn.IGamma(), (a, b), special.gammainc(a, b)),
        (nn.LBeta(), (a, b), special.betaln(a, b)), (nn.DiGamma(), (a,), special.digamma(a)),
        (nn.MatDet(), (matrix,), np.linalg.det(matrix)), (nn.MatInverse(), (matrix[0],), np.linalg.inv(matrix[0])),
    ):  # fmt: skip
        made = cell(*map(ms.Tensor, given)).asnumpy()
        np.testing.assert_allclose(made, want, rtol=1e-3, atol=1e-4, err_msg=type(cell).__name__)
