"""The slopes of functions where they bend: those of MindSpore 2.10, and of PyTorch where MindSpore's are wrong. Where a
function is smooth the slope is that of the function, whatever it is put together from.
"""

import numpy as np

import mycelia as ms
from mycelia import Tensor, nn, ops
from tests.each import each

POINTS = np.array([-6, -3, -1, -0.5, 0, 0.5, 1, 3, 6], np.float32)
BETWEEN, LOW, HIGH = [0, 0, 1, 1, 1, 1, 1, 0, 0], Tensor(-1.0), Tensor(1.0)
ELU = np.exp(np.minimum(POINTS, 0))
SLOPES = {
    "clamp": (lambda x: ops.clamp(x, -1.0, 1.0), BETWEEN),
    "clamp by tensors": (lambda x: ops.clamp(x, LOW, HIGH), BETWEEN),
    "clamp from below": (lambda x: ops.clamp(x, min=-1), [0, 0, 1, 1, 1, 1, 1, 1, 1]),
    "clip": (lambda x: x.clip(-1.0, 1.0), BETWEEN),
    "clip_by_value": (lambda x: ops.clip_by_value(x, LOW, HIGH), [0, 0, 0.5, 1, 1, 1, 0.5, 0, 0]),
    "hardtanh": (ops.hardtanh, [0, 0, 0.5, 1, 1, 1, 0.5, 0, 0]),
    "relu": (ops.relu, [0, 0, 0, 0, 0, 1, 1, 1, 1]),
    "relu6": (ops.relu6, [0, 0, 0, 0, 0, 1, 1, 1, 1]),
    "ReLU6": (nn.ReLU6(), [0, 0, 0, 0, 0, 1, 1, 1, 1]),
    "hardsigmoid": (ops.hardsigmoid, np.array([0, 0, 1, 1, 1, 1, 1, 0, 0]) / 6),
    "hardswish": (ops.hardswish, [0, -0.5, 1 / 6, 1 / 3, 0.5, 2 / 3, 5 / 6, 1.5, 1]),
    "elu": (ops.elu, ELU),
    "ELU": (nn.ELU(), ELU),
    "celu": (ops.celu, ELU),
    "celu of 2": (lambda x: ops.celu(x, 2.0), np.exp(np.minimum(POINTS, 0) / 2)),
    "selu": (ops.selu, np.where(POINTS > 0, 1, 1.6732632 * ELU) * 1.0507010),  # MindSpore's are wrong below 0
    "softshrink": (ops.softshrink, [1, 1, 1, 0, 0, 0, 1, 1, 1]),
    "softplus": (ops.softplus, 1 / (1 + np.exp(-POINTS))),
    "logsigmoid": (ops.logsigmoid, 1 / (1 + np.exp(POINTS))),
    "logaddexp": (lambda x: ops.logaddexp(x, ops.zeros_like(x)), 1 / (1 + np.exp(-POINTS))),
    "margin_ranking_loss": (
        lambda x: ops.margin_ranking_loss(x, ops.zeros_like(x), ops.ones_like(x), 1.0, "none"),
        [-1, -1, -1, -1, -1, -1, -1, 0, 0],
    ),
    "hinge_embedding_loss": (
        lambda x: ops.hinge_embedding_loss(x, -ops.ones_like(x), 1.0, "none"),
        [-1, -1, -1, -1, -1, -1, -1, 0, 0],
    ),
}


def compare(run, call, slopes):
    found = run(ms.grad(lambda x: call(x).sum()))(Tensor(POINTS))
    np.testing.assert_allclose(found.asnumpy(), np.asarray(slopes, np.float32), rtol=1e-5, atol=1e-6)


def test_slopes_at_kinks_are_those_of_mindspore():
    each(compare, [(name, (lambda f: f, *case)) for name, case in SLOPES.items()])


def test_compiled_slopes_at_kinks_are_those_of_mindspore():
    def all_at_once(x):
        return [ms.grad(lambda x, call=call: call(x).sum())(x) for call, _ in SLOPES.values()]

    for name, ours in zip(SLOPES, ms.jit(all_at_once)(Tensor(POINTS)), strict=True):
        np.testing.assert_allclose(ours.asnumpy(), np.asarray(SLOPES[name][1]), rtol=1e-5, atol=1e-6, err_msg=name)
