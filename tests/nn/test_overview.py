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


class Counting(nn.Cell):
    """Changes what it holds when it is called, in all the ways that there are."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (ms.Parameter(np.arange(4.0, dtype=np.float32), name=n) for n in "abc")
        self.register_buffer("calls", ms.Tensor([0]))

    def construct(self, x):
        self.calls += 1
        self.a[1] = 9.0
        ops.assign_add(self.b, ops.ones_like(self.b))
        ops.assign(self.c, self.c * 2)
        return x + self.a + self.b + self.c


class Compiled(Counting):
    construct = ms.jit(Counting.construct)


@pytest.mark.parametrize("kind", [Counting, Compiled])
def test_what_a_network_changes_as_it_runs_is_put_back(kind):
    net = kind()
    held = [*net.get_parameters(), *net.buffers()]
    before = [x.asnumpy().copy() for x in held]
    nn.summary(net, (2, 4))
    for x, numbers in zip(held, before, strict=True):
        np.testing.assert_array_equal(x.asnumpy(), numbers)
