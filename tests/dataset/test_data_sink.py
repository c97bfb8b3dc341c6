"""A function fed by a dataset runs on its rows in their order, epoch after epoch, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn
from mycelia.errors import ArgumentError, MyceliaError


@pytest.mark.parametrize("how", [{}, {"jit_config": {}}, {"input_signature": [ms.Tensor(np.zeros(3, np.float32))] * 2}])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_steps_take_rows_in_order(size, how):
    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    rows = ds.NumpySlicesDataset((x, x + 1), ["a", "b"], shuffle=False)
    with ms.data_sink(lambda a, b: a * b, rows, size, **how) as steps:
        got = [steps().asnumpy() for _ in range(9)]
    whole = np.concatenate([x * (x + 1)] * 4)
    np.testing.assert_array_equal(got, whole[size - 1 :: size][:9])


def test_a_network_learns_from_what_is_fed():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 4)).astype(np.float32)
    y = x @ np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    ms.set_seed(0)
    net = nn.Dense(4, 1)
    loss_of = nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.05)
    gradients = ms.value_and_grad(lambda a, b: loss_of(net(a), b), None, optimizer.parameters)

    def step(a, b):
        loss, found = gradients(a, b)
        optimizer(found)
        return loss

    batches = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(16)
    with ms.data_sink(step, batches, sink_size=4, jit_config={}) as steps:
        first = float(steps())
        last = [float(steps()) for _ in range(30)][-1]
    assert last < 0.01 * first


def test_mistakes_are_told():
    rows = ds.NumpySlicesDataset([1.0], ["x"])
    for wrong in ({"sink_size": 0}, {"sink_size": True}, {"dataset": [1]}):
        with pytest.raises(ArgumentError):
            ms.data_sink(abs, **{"dataset": rows, **wrong})
    with (
        ms.data_sink(abs, ds.NumpySlicesDataset([1.0], ["x"]).filter(lambda x: False)) as steps,
        pytest.raises(MyceliaError),
    ):
        steps()

    def broken(x):
        raise ValueError("no row")

    with (
        ms.data_sink(abs, ds.NumpySlicesDataset([1.0], ["x"]).map(broken)) as steps,
        pytest.raises(MyceliaError, match="no row"),
    ):
        steps()
