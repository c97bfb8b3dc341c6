"""Convolutions, pooling, normalisation, losses and attention, against plain loops and formulas in NumPy and SciPy."""

import numpy as np
import pytest
import scipy.signal
import scipy.special

import mycelia.ops as ops
from mycelia.api import grad, set_seed
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, ShapeError

rng = np.random.default_rng(0)
IMAGE = rng.normal(size=(2, 4, 7, 6))
KERNEL = rng.normal(size=(6, 4, 3, 2))


def correlate(x, w, stride, pads, dilation, groups):
    """Convolution as a loop over everything."""
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    n, _, *space = x.shape
    out = [(e - (k - 1) * d - 1) // s + 1 for e, k, s, d in zip(space, w.shape[2:], stride, dilation, strict=True)]
    y = np.zeros((n, w.shape[0], *out))
    for o in range(w.shape[0]):
        first = o // (w.shape[0] // groups) * w.shape[1]
        for at in np.ndindex(*out):
            window = tuple(
                slice(i * s, i * s + (k - 1) * d + 1, d)
                for i, s, k, d in zip(at, stride, w.shape[2:], dilation, strict=True)
            )
            y[(slice(None), o, *at)] = (
                (x[(slice(None), slice(first, first + w.shape[1]), *window)] * w[o]).reshape(n, -1).sum(1)
            )
    return y


@pytest.mark.parametrize("stride", [1, (2, 1)])
@pytest.mark.parametrize("dilation", [1, (1, 2)])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("mode", "padding"), [("valid", 0), ("same", 0), ("pad", 1), ("pad", (1, 0, 2, 1))])
def test_conv2d_equals_loops(stride, dilation, groups, mode, padding):
    s, d = ((v, v) if isinstance(v, int) else v for v in (stride, dilation))
    w = KERNEL[:, : 4 // groups]
    if mode == "same":
        total = [
            max(0, (-(-e // a) - 1) * a + (k - 1) * b + 1 - e) for e, a, k, b in zip((7, 6), s, (3, 2), d, strict=True)
        ]
        pads = [(t // 2, t - t // 2) for t in total]
    else:
        pads = {0: [(0, 0)] * 2, 1: [(1, 1)] * 2}.get(padding) or [padding[:2], padding[2:]]
    bias = rng.normal(size=6)
    got = ops.conv2d(Tensor(IMAGE), Tensor(w), Tensor(bias), stride, mode, padding, dilation, groups)
    np.testing.assert_allclose(got.asnumpy(), correlate(IMAGE, w, s, pads, d, groups) + bias[:, None, None], atol=1e-10)


def test_conv1d_and_conv3d_equal_scipy():
    x, w = rng.normal(size=9), rng.normal(size=3)
    got = ops.conv1d(Tensor(x[None, None]), Tensor(w[None, None])).asnumpy()[0, 0]
    np.testing.assert_allclose(got, np.correlate(x, w, "valid"), atol=1e-12)
    x, w = rng.normal(size=(4, 5, 6)), rng.normal(size=(2, 3, 2))
    got = ops.conv3d(Tensor(x[None, None]), Tensor(w[None, None])).asnumpy()[0, 0]
    np.testing.assert_allclose(got, scipy.signal.correlate(x, w, "valid"), atol=1e-12)


@pytest.mark.parametrize(("stride", "padding", "extra"), [(1, 0, 0), (2, 1, 1), ((2, 1), (0, 1), 0)])
def test_conv_transpose2d_is_the_transpose_of_conv2d(stride, padding, extra):
    w, y = rng.normal(size=(3, 4, 3, 3)), rng.normal(size=(2, 3, 5, 4))
    x = ops.conv_transpose2d(Tensor(y), Tensor(w), None, stride, padding, extra)
    v = rng.normal(size=x.shape)
    forward = ops.conv2d(Tensor(v), Tensor(w), None, stride, "pad", padding)
    assert forward.shape == y.shape
    np.testing.assert_allclose((forward.asnumpy() * y).sum(), (x.asnumpy() * v).sum(), rtol=1e-10)


def test_pooling_equals_loops():
    x = IMAGE[:, :, :6, :6]
    blocks = x.reshape(2, 4, 3, 2, 3, 2)
    np.testing.assert_allclose(ops.max_pool2d(Tensor(x), 2).asnumpy(), blocks.max((3, 5)))
    np.testing.assert_allclose(ops.avg_pool2d(Tensor(x), 2, 2).asnumpy(), blocks.mean((3, 5)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    np.testing.assert_allclose(ops.max_pool2d(Tensor(x), 3, 1).asnumpy(), windows.max((-1, -2)))
    np.testing.assert_allclose(ops.avg_pool2d(Tensor(x), 3).asnumpy(), windows.mean((-1, -2)))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    np.testing.assert_allclose(ops.max_pool2d(Tensor(x), 3, 2, 1).asnumpy(), windows.max((-1, -2)))
    ceiled = np.pad(IMAGE, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=-np.inf)
    got = ops.max_pool2d(Tensor(IMAGE), 2, ceil_mode=True)
    np.testing.assert_allclose(got.asnumpy(), ceiled.reshape(2, 4, 4, 2, 3, 2).max((3, 5)))
    assert ops.max_pool2d(Tensor(IMAGE[0]), 2).shape == (4, 3, 3)


def test_adaptive_pooling_takes_overlapping_windows():
    for size in [(3, 2), 5, (None, 1)]:
        h, w = (size, size) if isinstance(size, int) else (7 if size[0] is None else size[0], size[1])
        rows = [slice(i * 7 // h, -(-(i + 1) * 7 // h)) for i in range(h)]
        columns = [slice(i * 6 // w, -(-(i + 1) * 6 // w)) for i in range(w)]
        for function, oracle in ((ops.adaptive_avg_pool2d, np.mean), (ops.adaptive_max_pool2d, np.max)):
            wanted = np.stack([np.stack([oracle(IMAGE[:, :, r, c], (2, 3)) for c in columns], -1) for r in rows], -2)
            np.testing.assert_allclose(function(Tensor(IMAGE), size).asnumpy(), wanted, atol=1e-12)


def test_interpolation():
    x = IMAGE[:, :, :3, :3]
    np.testing.assert_allclose(ops.interpolate(Tensor(x), scale_factor=2).asnumpy(), x.repeat(2, 2).repeat(2, 3))
    line = np.array([[[0.0, 1.0, 2.0]]])
    got = ops.interpolate(Tensor(line), 5, mode="linear", align_corners=True)
    np.testing.assert_allclose(got.asnumpy(), [[[0.0, 0.5, 1.0, 1.5, 2.0]]])
    got = ops.interpolate(Tensor(line), 6, mode="linear")
    np.testing.assert_allclose(got.asnumpy(), [[[0.0, 0.25, 0.75, 1.25, 1.75, 2.0]]])
    again = ops.pixel_unshuffle(ops.pixel_shuffle(Tensor(IMAGE), 2), 2)
    np.testing.assert_array_equal(again.asnumpy(), IMAGE)


def normal(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def test_normalisation_equals_its_formula():
    x, w, b = IMAGE, rng.normal(size=4), rng.normal(size=4)
    wb, bb = w[:, None, None], b[:, None, None]
    got = ops.layer_norm(Tensor(x), (7, 6), Tensor(x[0, 0]), Tensor(x[1, 1]))
    np.testing.assert_allclose(got.asnumpy(), normal(x, (2, 3)) * x[0, 0] + x[1, 1], atol=1e-10)
    got = ops.group_norm(Tensor(x), 2, Tensor(w), Tensor(b))
    grouped = normal(x.reshape(2, 2, -1), 2).reshape(x.shape)
    np.testing.assert_allclose(got.asnumpy(), grouped * wb + bb, atol=1e-10)
    got = ops.instance_norm(Tensor(x), Tensor(w), Tensor(b))
    np.testing.assert_allclose(got.asnumpy(), normal(x, (2, 3)) * wb + bb, atol=1e-10)
    got, _ = ops.rms_norm(Tensor(x), Tensor(x[0, 0, 0]))
    wanted = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * x[0, 0, 0]
    np.testing.assert_allclose(got.asnumpy(), wanted, atol=1e-9)
    np.testing.assert_allclose(ops.normalize(Tensor(x), 1).asnumpy(), x / np.linalg.norm(x, axis=1, keepdims=True))


def test_batch_norm_remembers_what_it_saw():
    mean, var = Parameter(np.zeros(4), name="mean"), Parameter(np.ones(4), name="var")
    got = ops.batch_norm(Tensor(IMAGE), mean, var, training=True)
    np.testing.assert_allclose(got.asnumpy(), normal(IMAGE, (0, 2, 3)), atol=1e-10)
    np.testing.assert_allclose(mean.asnumpy(), 0.1 * IMAGE.mean((0, 2, 3)), atol=1e-12)
    np.testing.assert_allclose(var.asnumpy(), 0.9 + 0.1 * IMAGE.var((0, 2, 3), ddof=1), atol=1e-12)
    got = ops.batch_norm(Tensor(IMAGE), mean, var)
    wanted = (IMAGE - mean.asnumpy()[:, None, None]) / np.sqrt(var.asnumpy()[:, None, None] + 1e-5)
    np.testing.assert_allclose(got.asnumpy(), wanted, atol=1e-10)


SCORES, LABELS = rng.normal(size=(5, 3)), np.array([0, 2, 1, 1, 0])


def test_cross_entropy_equals_its_formula():
    logs = scipy.special.log_softmax(SCORES, 1)
    chosen = -logs[np.arange(5), LABELS]
    weight = np.array([1.0, 2.0, 0.5])
    x, y = Tensor(SCORES), Tensor(LABELS)
    close = np.testing.assert_allclose
    close(ops.cross_entropy(x, y).item(), chosen.mean())
    close(ops.cross_entropy(x, y, reduction="none").asnumpy(), chosen)
    close(ops.cross_entropy(x, y, Tensor(weight)).item(), (chosen * weight[LABELS]).sum() / weight[LABELS].sum())
    ignored = np.where(LABELS == 1, -100, LABELS)
    close(ops.cross_entropy(x, Tensor(ignored)).item(), chosen[LABELS != 1].mean())
    smooth = 0.9 * chosen + 0.1 * -logs.mean(1)
    close(ops.cross_entropy(x, y, label_smoothing=0.1).item(), smooth.mean())
    probabilities = scipy.special.softmax(rng.normal(size=(5, 3)), 1)
    close(ops.cross_entropy(x, Tensor(probabilities)).item(), -(probabilities * logs).sum(1).mean())
    image = rng.normal(size=(2, 3, 4, 4))
    places = rng.integers(0, 3, (2, 4, 4))
    wanted = -np.take_along_axis(scipy.special.log_softmax(image, 1), places[:, None], 1).mean()
    close(ops.cross_entropy(Tensor(image), Tensor(places)).item(), wanted)
    close(
        grad(ops.cross_entropy)(x, y).asnumpy(), (scipy.special.softmax(SCORES, 1) - np.eye(3)[LABELS]) / 5, atol=1e-12
    )


def test_other_losses_equal_their_formulas():
    x, y = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    p, q = scipy.special.expit(x), (y > 0) * 1.0
    a, b = Tensor(x), Tensor(y)
    close = np.testing.assert_allclose
    close(ops.mse_loss(a, b).item(), ((x - y) ** 2).mean())
    close(ops.l1_loss(a, b, "sum").item(), abs(x - y).sum())
    close(ops.huber_loss(a, b, delta=0.7).item(), scipy.special.huber(0.7, x - y).mean())
    close(ops.smooth_l1_loss(a, b, 0.5).asnumpy(), scipy.special.huber(0.5, x - y) / 0.5)
    entropy = -(q * np.log(p) + (1 - q) * np.log(1 - p))
    close(ops.binary_cross_entropy(Tensor(p), Tensor(q)).item(), entropy.mean())
    close(ops.binary_cross_entropy_with_logits(a, Tensor(q)).item(), entropy.mean())
    weighted = -(3 * q * np.log(p) + (1 - q) * np.log(1 - p))
    close(ops.binary_cross_entropy_with_logits(a, Tensor(q), pos_weight=3.0).item(), weighted.mean())
    close(ops.kl_div(a, Tensor(p), "sum").item(), (scipy.special.xlogy(p, p) - p * x).sum())
    close(ops.soft_margin_loss(a, Tensor(2 * q - 1)).item(), np.log1p(np.exp(-(2 * q - 1) * x)).mean())
    cosine = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    close(ops.cosine_similarity(a, b).asnumpy(), cosine)
    close(ops.margin_ranking_loss(a, b, 1.0, 0.3).item(), np.maximum(0, y - x + 0.3).mean())


def test_clipping_keeps_directions():
    x, y = np.array([3.0, 0.0]), np.array([0.0, 4.0])
    a, b = ops.clip_by_global_norm((Tensor(x), Tensor(y)), 1.0)
    np.testing.assert_allclose(a.asnumpy(), x / 5)
    np.testing.assert_allclose(b.asnumpy(), y / 5)
    np.testing.assert_allclose(ops.clip_by_norm(Tensor(x), 1.0).asnumpy(), x / 3, rtol=1e-6)


def test_attention_equals_its_formula():
    q, k, v = (rng.normal(size=(2, 3, n, 4)) for n in (5, 6, 6))
    scores = q @ k.swapaxes(-1, -2) / 2
    mask = rng.normal(size=(5, 6)) > 0
    mask[:, 0] = True
    got = ops.scaled_dot_product_attention(Tensor(q), Tensor(k), Tensor(v), Tensor(mask))
    wanted = scipy.special.softmax(np.where(mask, scores, -np.inf), -1) @ v
    np.testing.assert_allclose(got.asnumpy(), wanted, atol=1e-12)
    got = ops.scaled_dot_product_attention(Tensor(q), Tensor(k), Tensor(v), is_causal=True)
    wanted = scipy.special.softmax(np.where(np.tri(5, 6, dtype=bool), scores, -np.inf), -1) @ v
    np.testing.assert_allclose(got.asnumpy(), wanted, atol=1e-12)


# ------------------------------------------------------------------------------------------------------------- random


def test_the_same_seed_gives_the_same_numbers():
    set_seed(3)
    first = [ops.rand(4).tolist(), ops.randn(4).tolist()]
    set_seed(3)
    assert [ops.rand(4).tolist(), ops.randn(4).tolist()] == first
    assert ops.rand(4).tolist() != first[0]
    assert ops.rand(4, seed=1).tolist() == ops.rand(4, seed=1).tolist()


def test_distributions_have_their_moments():
    set_seed(0)
    n = 40000
    u, z = ops.rand(n).asnumpy(), ops.randn(n).asnumpy()
    assert u.min() >= 0
    assert u.max() < 1
    np.testing.assert_allclose([u.mean(), u.var()], [1 / 2, 1 / 12], atol=0.01)
    np.testing.assert_allclose([z.mean(), z.var(), (z**3).mean(), (z**4).mean()], [0, 1, 0, 3], atol=0.1)
    i = ops.randint(-2, 3, (n,)).asnumpy()
    np.testing.assert_allclose(np.bincount(i + 2) / n, np.full(5, 0.2), atol=0.01)
    t = ops.truncated_normal((n,)).asnumpy()
    assert abs(t).max() <= 2
    np.testing.assert_allclose(t.var(), 0.7737, atol=0.02)
    drawn = ops.multinomial(Tensor([0.1, 0.0, 0.9]), n).asnumpy()
    np.testing.assert_allclose(np.bincount(drawn) / n, [0.1, 0.0, 0.9], atol=0.01)
    assert sorted(ops.multinomial(Tensor([1.0, 1.0, 1.0]), 3, False).tolist()) == [0, 1, 2]
    assert sorted(ops.randperm(20).tolist()) == list(range(20))
    np.testing.assert_allclose(ops.laplace((n,), 1.0, 2.0).asnumpy().var(), 8.0, atol=0.5)


def test_dropout_keeps_the_mean_and_its_gradient_is_its_mask():
    x = Tensor(np.ones((100, 100), "f"))
    kept = ops.dropout(x, 0.3, seed=5).asnumpy()
    np.testing.assert_allclose(np.unique(kept), [0.0, 1 / 0.7], rtol=1e-6)
    np.testing.assert_allclose(kept.mean(), 1.0, atol=0.02)
    np.testing.assert_array_equal(grad(lambda x: ops.dropout(x, 0.3, seed=5))(x).asnumpy(), kept)
    assert ops.dropout(x, 0.3, training=False).asnumpy().min() == 1.0
    channels = ops.dropout2d(Tensor(np.ones((8, 8, 2, 2), "f")), 0.5).asnumpy()
    assert (channels.std((2, 3)) == 0).all()
    with pytest.raises(ArgumentError, match="probability of dropping"):
        ops.dropout(x, 1.5)


def test_mistakes_name_the_user_s_line():
    with pytest.raises(
        ShapeError, match=r"(?s)conv2d takes tensors of 4 axes.*\n  at test_networks.py:\d+  ops\.conv2d"
    ):
        ops.conv2d(Tensor(SCORES), Tensor(KERNEL))
    with pytest.raises(ShapeError, match=r"(?s)targets of shape \(5,\).*hint: scores have the classes on axis 1"):
        ops.cross_entropy(Tensor(SCORES[:4]), Tensor(LABELS))
    with pytest.raises(ArgumentError, match="no reduction 'average'"):
        ops.mse_loss(Tensor(SCORES), Tensor(SCORES), "average")
