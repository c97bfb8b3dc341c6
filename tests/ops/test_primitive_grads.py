"""The way back through an operation, as an object: it gives what the gradient of the operation gives."""

import numpy as np

from mycelia import Tensor, ops, vjp
from mycelia.ops import operations as P  # as programs call it
from mycelia.ops.operations import _grad_ops as G
from tests.each import each

RNG = np.random.default_rng(3)
X = Tensor(RNG.uniform(0.1, 0.9, (2, 3)).astype(np.float32))
D = Tensor(RNG.normal(size=(2, 3)).astype(np.float32))
IMAGE = Tensor(RNG.normal(size=(2, 3, 4, 4)).astype(np.float32))
SMALL = Tensor(RNG.normal(size=(2, 3, 2, 2)).astype(np.float32))

GIVEN_INPUT_LAST = {
    "FastGeLUGrad": P.FastGeLU(), "HShrinkGrad": P.HShrink(), "HSigmoidGrad": P.HSigmoid(), "HSwishGrad": P.HSwish(),
    "LogitGrad": ops.logit, "ReLU6Grad": P.ReLU6(), "ReluGrad": P.ReLU(), "SiLUGrad": ops.silu,
    "SoftShrinkGrad": P.SoftShrink(), "SoftplusGrad": P.Softplus(),
}  # fmt: skip
GIVEN_INPUT_FIRST = {"ACosGrad": P.ACos(), "AbsGrad": P.Abs(), "AsinGrad": P.Asin(), "AtanGrad": P.Atan()}
GIVEN_OUTPUT_FIRST = {
    "AcoshGrad": lambda x: ops.acosh(x + 1), "AsinhGrad": ops.asinh, "InvGrad": ops.reciprocal,
    "LogSoftmaxGrad": ops.log_softmax,
    "ReciprocalGrad": ops.reciprocal, "RsqrtGrad": ops.rsqrt, "SigmoidGrad": ops.sigmoid, "SqrtGrad": ops.sqrt,
    "TanhGrad": ops.tanh,
}  # fmt: skip
GIVEN_OUTPUT_LAST = {"EluGrad": lambda x: ops.elu(x - 0.5), "SoftmaxBackward": ops.softmax}


def gradient(function, dout, *inputs):
    found = vjp(function, *inputs)[1](dout)
    return found if len(inputs) > 1 else found[0]


def agree(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            agree(a, b)
    else:
        np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), 1e-4, 1e-5)


def test_the_way_back_through_functions_of_elements():
    each(agree, [(n, (getattr(G, n)()(D, X), gradient(f, D, X))) for n, f in GIVEN_INPUT_LAST.items()])
    each(agree, [(n, (getattr(G, n)()(X, D), gradient(f, D, X))) for n, f in GIVEN_INPUT_FIRST.items()])
    each(agree, [(n, (getattr(G, n)()(f(X), D), gradient(f, D, X))) for n, f in GIVEN_OUTPUT_FIRST.items()])
    each(agree, [(n, (getattr(G, n)()(D, f(X)), gradient(f, D, X))) for n, f in GIVEN_OUTPUT_LAST.items()])


def test_the_way_back_through_windows_norms_and_losses():
    gamma, beta = Tensor([0.5, 2.0, -1.0]), Tensor([0.1, 0.2, 0.3])
    pool, average = P.MaxPool(2, 2), P.AvgPool(2, 2)
    labels, weight = Tensor([1, 2]), Tensor([1.0, 2.0, 0.5])
    kernel = Tensor(RNG.normal(size=(4, 3, 3, 3)).astype(np.float32))
    convolve = P.Conv2D(4, 3)
    out = Tensor(RNG.normal(size=(2, 4, 2, 2)).astype(np.float32))
    places = P.MaxPoolWithArgmax(2, 2)(IMAGE)[1]
    mean, variance = IMAGE.mean((0, 2, 3)), IMAGE.var((0, 2, 3))
    row_mean, row_variance = X.mean(1, True), X.var(1, keepdims=True) + 1e-12
    one = Tensor(1.5)

    def normal(x, gamma, beta):
        return ops.batch_norm(x, mean, variance, gamma, beta, training=True)

    def fixed(x, gamma, beta):
        return ops.batch_norm(x, mean, variance, gamma, beta, training=False)

    each(agree, [
        ("max pool", (G.MaxPoolGrad(2, 2)(IMAGE, pool(IMAGE), SMALL), gradient(pool, SMALL, IMAGE))),
        ("average pool", (G.AvgPoolGrad(2, 2)(IMAGE, average(IMAGE), SMALL), gradient(average, SMALL, IMAGE))),
        ("places", (G.MaxPoolGradWithArgmax(2, 2)(IMAGE, SMALL, places), gradient(pool, SMALL, IMAGE))),
        ("filter", (G.Conv2DBackpropFilter(4, 3)(out, IMAGE, kernel.shape),
            gradient(lambda w: convolve(IMAGE, w), out, kernel))),
        ("batch norm", (G.BatchNormGrad(True, 1e-5)(IMAGE * 2, IMAGE, gamma, mean, variance, beta),
            gradient(normal, IMAGE * 2, IMAGE, gamma, beta))),
        ("fixed batch norm", (G.BatchNormGrad(False, 1e-5)(IMAGE * 2, IMAGE, gamma, mean, variance, beta),
            gradient(fixed, IMAGE * 2, IMAGE, gamma, beta))),
        ("layer norm", (G.LayerNormGrad()(X, D, row_variance, row_mean, gamma), gradient(
            lambda x, w, b: ops.layer_norm(x, (3,), w, b, 1e-12), D, X, gamma, beta))),
        ("bilinear", (G.ResizeBilinearGrad()(IMAGE, SMALL), gradient(
            lambda x: P.ResizeBilinearV2()(x, (4, 4)), IMAGE, SMALL))),
        ("nearest", (G.ResizeNearestNeighborGrad()(IMAGE, (2, 2)), gradient(
            lambda x: P.ResizeNearestNeighborV2()(x, (4, 4)), IMAGE, SMALL))),
        ("prelu", (G.PReLUGrad()(D, X - 0.5, gamma), gradient(ops.prelu, D, X - 0.5, gamma))),
        ("larger", (G.MaximumGrad()(X, D, D), gradient(ops.maximum, D, X, D))),
        ("smaller", (G.MinimumGrad()(X, D, D), gradient(ops.minimum, D, X, D))),
        ("l2", (G.L2NormalizeGrad(1)(X, ops.L2Normalize(1)(X), D), gradient(ops.L2Normalize(1), D, X))),
        ("nll", (G.NLLLossGrad()(X, one, labels, weight, one), gradient(
            lambda x: ops.nll_loss(x, labels, weight), one, X))),
        ("kl", (G.KLDivLossGrad()(one, X, X), gradient(lambda x: ops.kl_div(x, X), one, X))),
        ("cross entropy", (G.SigmoidCrossEntropyWithLogitsGrad()(X, X, D), gradient(
            lambda x: P.SigmoidCrossEntropyWithLogits()(x, X), D, X))),
        ("binary", (G.BinaryCrossEntropyGrad()(X, X * 0.5, one), gradient(
            lambda x: ops.binary_cross_entropy(x, X * 0.5), one, X))),
        ("smooth", (G.SmoothL1LossGrad()(X, D, D), gradient(lambda x: ops.smooth_l1_loss(x, D), D, X))),
    ])  # fmt: skip


def test_the_way_back_through_moves():
    three = Tensor(RNG.normal(size=(2, 2)).astype(np.float32))
    index, mask = Tensor([[0, 0, 2], [1, 0, 1]]), Tensor([[True, False, True], [False, True, False]])
    chosen = Tensor([1.0, 2.0, 3.0])
    each(agree, [
        ("slice", (G.SliceGrad()(three, X, (0, 1), (2, 2)), gradient(lambda x: x[:, 1:], three, X))),
        ("strided", (G.StridedSliceGrad()(three, (2, 3), (0, 0), (2, 3), (1, 2)), gradient(
            lambda x: x[:, ::2], three, X))),
        ("gather", (G.GatherDGradV2()(X, 1, index, D), gradient(lambda x: ops.gather_elements(x, 1, index), D, X))),
        ("masked", (G.MaskedSelectGrad()(X, mask, chosen), gradient(lambda x: x.masked_select(mask), chosen, X))),
        ("trace", (G.TraceGrad()(Tensor(2.0), (2, 3)), gradient(ops.trace, Tensor(2.0), X))),
        ("flatten", (G.FlattenGrad()(D.reshape(6), (2, 3)), D)),
        ("bias", (G.BiasAddGrad()(IMAGE), IMAGE.sum((0, 2, 3)))),
        ("dropout", (G.DropoutGrad(0.25)(D, mask.astype(np.float32)), D * mask * 4)),
        ("offsets", (G.ConcatOffset(2, 1)((X, D)), Tensor([[0, 0], [0, 3]]))),
        ("sum", (G.SumExt()(X, 1, True), X.sum(1, keepdims=True))),
    ])  # fmt: skip
