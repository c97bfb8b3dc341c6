"""`nn.summary` counts what a network holds and costs, and leaves it as it was."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.errors import ArgumentError


def network():
    return nn.SequentialCell(
        nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
        nn.Dense(8 * 4 * 4, 10),
    )  # fmt: skip


def test_shapes_parameters_and_products():
    net = network()
    seen = nn.summary(net, (2, 3, 4, 4))
    assert [x.output for x in seen.layers] == [*["(2, 8, 4, 4)"] * 3, "(2, 128)", "(2, 10)"]
    assert seen.parameters == sum(p.size for p in net.get_parameters())
    assert seen.trainable == sum(p.size for p in net.trainable_params())
    assert seen.layers[0].products == 2 * 8 * 4 * 4 * 3 * 3 * 3
    assert seen.layers[4].products == 2 * 128 * 10
    assert seen.products == seen.layers[0].products + seen.layers[4].products
    assert seen.parameter_bytes == 4 * seen.parameters
    assert seen.activation_bytes == 4 * (3 * 2 * 8 * 16 + 2 * 128 + 2 * 10)


def test_the_network_is_as_before():
    net = network().set_train()
    before = {p.name: p.asnumpy().copy() for p in net.get_parameters()}
    nn.summary(net, (2, 3, 4, 4))
    for p in net.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), before[p.name])
    assert net.training
    assert net[0]._after == ()


def test_tensors_and_types_can_be_given():
    net = nn.Embedding(5, 3)
    assert nn.summary(net, (2,), dtypes=ms.int32).layers[0].output == "(2, 3)"
    assert nn.summary(net, ops.zeros((2, 2), ms.int32)).layers[0].output == "(2, 2, 3)"


def test_wrong_arguments():
    with pytest.raises(ArgumentError, match="of a Cell"):
        nn.summary(print, (2,))
    with pytest.raises(ArgumentError, match="a shape is a tuple"):
        nn.summary(nn.ReLU(), "x")
    with pytest.raises(ArgumentError, match="1 shapes, and 2 dtypes"):
        nn.summary(nn.ReLU(), (2,), dtypes=(ms.float32, ms.int32))
