"""The README: `ms.jit` turns forward, loss, backward and optimizer into one native call."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops

OPTIMIZERS = {
    "sgd": lambda params: nn.SGD(params, learning_rate=0.1),
    "momentum": lambda params: nn.Momentum(params, learning_rate=0.1, momentum=0.9),
    "adam": lambda params: nn.Adam(params, learning_rate=0.02),
}


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.scores = nn.Dense(2, 8), nn.Dense(8, 2)

    def construct(self, x):
        return self.scores(ops.relu(self.hidden(x)))


def trained(optimizer, compiled):
    """The losses and weights of ten steps, and how the step runs."""
    ms.set_seed(3)
    net, loss_fn = Net(), nn.CrossEntropyLoss()
    update = OPTIMIZERS[optimizer](net.trainable_params())
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, update.parameters)

    def step(x, y):
        loss, grads = grad_fn(x, y)
        update(grads)
        return loss

    run = ms.jit(step) if compiled else step
    points = np.random.default_rng(0).normal(size=(16, 2)).astype(np.float32)
    labels = (np.square(points).sum(axis=1) < 1.4).astype(np.int32)
    losses = [float(run(ms.Tensor(points), ms.Tensor(labels))) for _ in range(10)]
    weights = {p.name: p.asnumpy() for p in net.trainable_params()}
    return losses, weights, run.explain() if compiled else ""


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_training_step_is_one_native_call_and_trains_as_python_does(optimizer):
    losses, weights, how = trained(optimizer, compiled=True)
    want_losses, want_weights, _ = trained(optimizer, compiled=False)
    assert how.count("one native call") == 1
    assert "runs in Python" not in how
    np.testing.assert_allclose(losses, want_losses, rtol=1e-4)
    for name, weight in want_weights.items():
        np.testing.assert_allclose(weights[name], weight, rtol=1e-3, atol=1e-5)
    assert losses[-1] < losses[0]
