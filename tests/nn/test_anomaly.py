"""Anomaly mode names the operation, the line and the layer of the first NaN; afterwards all is as before."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.api.jit import Jitted
from mycelia.eager.dispatch import Ready
from mycelia.nn import AnomalyError, detect_anomaly


class Roots(nn.Cell):
    def construct(self, x):
        return ops.sqrt(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
        self.second = nn.SequentialCell(nn.ReLU(), Roots())

    def construct(self, x):
        return self.second(self.first(x) - 1.0)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_first_nan_is_found_in_its_layer_and_line(compiled):
    net = Net()
    net.second[0] = nn.Identity()
    call = ms.jit(net) if compiled else net
    x = ms.Tensor([[0.1, 0.2]])
    with pytest.raises(AnomalyError) as told, detect_anomaly():
        ops.log(call(x))
    text = str(told.value)
    assert "the result of sqrt holds 2 NaN of 2" in text
    assert "layer: second.1 (Roots)" in text
    assert "return ops.sqrt(x)" in text


def test_a_gradient_that_is_none_is_found_with_the_line_of_the_way_forward():
    def loss(x):
        y = ops.sqrt(x)
        return (y * 0.0).sum()

    x = ms.Tensor([0.0, 1.0])
    assert np.isnan(ms.grad(loss)(x).asnumpy()).any()
    with pytest.raises(AnomalyError) as told, detect_anomaly():
        ms.grad(loss)(x)
    assert "the gradient of sqrt" in str(told.value) or "the gradient of" in str(told.value)
    assert "y = ops.sqrt(x)" in str(told.value)


def test_infinite_numbers_count_where_that_is_asked_for():
    x = ms.Tensor([0.0])
    with detect_anomaly():
        assert np.isinf(ops.log(x).asnumpy()).all()
    with pytest.raises(AnomalyError, match="infinite"), detect_anomaly(infinite=True):
        ops.log(x)


def test_who_is_given_nan_is_not_blamed():
    x = ms.Tensor([float("nan")])
    with detect_anomaly():
        assert np.isnan((x + 1.0).asnumpy()).all()


def test_sixteen_bits_are_looked_at_too():
    for dtype in (ms.float16, ms.bfloat16):
        with pytest.raises(AnomalyError, match="log"), detect_anomaly():
            ops.log(ms.Tensor([-1.0], dtype))


def test_afterwards_all_is_as_before():
    before = Ready.run, Ready.pull, Jitted.__call__
    with pytest.raises(AnomalyError), detect_anomaly():
        ops.log(ms.Tensor([-1.0]))
    assert (Ready.run, Ready.pull, Jitted.__call__) == before
    assert ms.jit(lambda x: x + 1)(ms.Tensor([1.0])).tolist() == [2.0]
    with pytest.raises(ms.errors.ArgumentError, match="already"), detect_anomaly(), detect_anomaly():
        pass
    assert (Ready.run, Ready.pull, Jitted.__call__) == before
