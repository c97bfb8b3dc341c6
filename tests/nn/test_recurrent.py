"""Recurrent layers: loops that stay loops, examples of different length, and the mistakes that are told."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn
from mycelia.eager.trace import trace
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.ops.recurrence import walk
from mycelia.primitives import Scan
from mycelia.types import TensorType

LAYERS = ["RNN", "GRU", "LSTM"]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def outputs(net, *args):
    out, last = net(*args)
    return [out, *(last if isinstance(last, tuple) else (last,))]


@pytest.mark.parametrize("kind", LAYERS)
def test_the_time_axis_is_one_loop_whatever_its_length(kind):
    net = getattr(nn, kind)(3, 4)
    told = []
    for time in (40, 400):
        step = ms.jit(ms.value_and_grad(lambda x: net(x)[0].sum()))
        step(ms.Tensor(numbers(time, 2, 3)))
        told.append([line for line in str(step.explain()).splitlines() if "values:" in line])
    assert told[0] == told[1] != []


@pytest.mark.parametrize("kind", LAYERS)
def test_no_step_gives_back_the_state(kind):
    net = getattr(nn, kind)(3, 4)
    h = ms.Tensor(numbers(1, 2, 4))
    for call in (net, ms.jit(net)):
        out, *last = outputs(call, ms.Tensor(numbers(0, 2, 3)), (h, h) if kind == "LSTM" else h)
        assert out.shape == (0, 2, 4)
        for each in last:
            np.testing.assert_array_equal(each.asnumpy(), h.asnumpy())


@pytest.mark.parametrize("kind", LAYERS)
def test_an_example_alone_gives_what_it_gives_in_a_padded_batch(kind):
    net = getattr(nn, kind)(3, 4, 2, bidirectional=True)
    x, lengths = numbers(6, 3, 3), np.array([4, 6, 1])
    padded = outputs(ms.jit(net), ms.Tensor(x), None, ms.Tensor(lengths))
    for i, n in enumerate(lengths):
        alone = outputs(net, ms.Tensor(x[:n, i : i + 1]))
        np.testing.assert_allclose(padded[0].asnumpy()[:n, i], alone[0].asnumpy()[:, 0], rtol=1e-5, atol=1e-6)
        assert not padded[0].asnumpy()[n:, i].any()
        for p, a in zip(padded[1:], alone[1:], strict=True):
            np.testing.assert_allclose(p.asnumpy()[:, i], a.asnumpy()[:, 0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", LAYERS)
def test_half_precision_is_near_single(kind):
    net, x = getattr(nn, kind)(3, 4), numbers(5, 2, 3)
    exact = outputs(net, ms.Tensor(x))
    for call in (net, ms.jit(net)):
        for half, single in zip(outputs(call, ms.Tensor(x).astype(ms.float16)), exact, strict=True):
            assert half.dtype is ms.float16
            np.testing.assert_allclose(half.asnumpy(), single.asnumpy(), atol=5e-3)


def test_one_program_serves_all_batch_sizes_and_a_second_derivative_exists():
    net = nn.GRU(3, 4)
    step = ms.jit(lambda x: net(x)[0], dynamic=1)
    for batch in (2, 3, 5, 7):
        x = ms.Tensor(numbers(4, batch, 3))
        np.testing.assert_allclose(step(x).asnumpy(), net(x)[0].asnumpy(), rtol=1e-5, atol=1e-6)
    second = ms.grad(lambda x: ms.grad(lambda y: (net(y)[0] ** 2).sum())(x).sum())
    x = ms.Tensor(numbers(3, 2, 3))
    np.testing.assert_allclose(second(x).asnumpy(), ms.jit(second)(x).asnumpy(), rtol=1e-4, atol=1e-5)


def test_vmap_is_a_loop_over_examples():
    net = nn.LSTM(3, 4)
    x = ms.Tensor(numbers(3, 5, 2, 3))
    many = ms.vmap(lambda y: net(y)[0])(x).asnumpy()
    np.testing.assert_allclose(many, np.stack([net(y)[0].asnumpy() for y in x]), rtol=1e-5, atol=1e-6)


def test_dropout_is_between_layers_and_in_training_only():
    net = nn.LSTM(3, 4, 2, dropout=0.5)
    x = ms.Tensor(numbers(5, 2, 3))
    still = net(x)[0].asnumpy()
    np.testing.assert_array_equal(net(x)[0].asnumpy(), still)
    assert not np.array_equal(net.set_train()(x)[0].asnumpy(), still)
    alone = nn.LSTM(3, 4, dropout=0.5).set_train()
    np.testing.assert_array_equal(alone(x)[0].asnumpy(), alone(x)[0].asnumpy())


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.LSTM(2.5, 2), CallError, "input_size of LSTM is a whole number from 1, not float 2.5"),
        (lambda: nn.GRU(3, 0), ArgumentError, "hidden_size of GRU is a whole number from 1, not 0"),
        (lambda: nn.RNN(3, 4, nonlinearity="sin"), ArgumentError, "nonlinearity of RNN is 'tanh' or 'relu', not 'sin'"),
        (lambda: nn.RNN(3, 4, dropout=1.0), ArgumentError, "dropout of RNN is at least 0 and below 1, not 1.0"),
        (lambda: nn.LSTM(3, 4)(ms.Tensor(numbers(2, 3))), ShapeError, "it takes floating numbers in (time, batch"),
        (lambda: nn.LSTM(3, 4)(ms.Tensor(numbers(5, 2, 3)), ms.Tensor(numbers(1, 2, 4))), CallError, "a pair of"),
        (lambda: nn.GRU(3, 4)(ms.Tensor(numbers(5, 2, 3)), ms.Tensor(numbers(2, 2, 4))), ShapeError, "(1, 2, 4)"),
        (lambda: nn.GRU(3, 4)(ms.Tensor(numbers(5, 2, 3)), None, ms.Tensor([1])), ShapeError, "each of 2 examples"),
    ],
)  # fmt: skip
def test_mistakes_are_told(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_a_walk_is_a_scan():
    w, x = ms.Tensor(numbers(4, 4)), TensorType(ms.float32, (6, 2, 4))
    fn = trace(lambda x: walk("tanh", x, (x[0],), (w, w))[0], [x]).function
    (scan,) = [v.op for v in fn.values() if isinstance(v.op, Scan)]
    assert scan.static_length == 6
