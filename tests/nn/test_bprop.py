"""A cell with a `bprop` has the gradient that it gives, however the gradient is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn
from mycelia.errors import ArgumentError, GradientError, ShapeError

WAYS: dict[str, Callable[[Any], Any]] = {"eager": lambda f: f, "jit": ms.jit}
X = np.array([1.0, 2.0, 3.0], np.float32)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return WAYS[request.param]


class Square(nn.Cell):
    """x², whose gradient is said to be 100 x."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (dout * 100 * x,)


class Two(nn.Cell):
    """Two arguments and two results."""

    def construct(self, x, y):
        return x + y, x * y

    def bprop(self, x, y, out, dout):
        return dout[0] * 2, dout[1] * 3 + out[1]


def test_the_gradient_is_the_one_that_is_given(way):
    square = Square()
    loss = lambda x: square(x).sum()  # noqa: E731
    assert way(ms.grad(loss))(Tensor(X)).tolist() == [100, 200, 300]
    assert ms.grad(way(loss))(Tensor(X)).tolist() == [100, 200, 300]
    assert way(ms.grad(square))(Tensor(X)).tolist() == [100, 200, 300]


def test_the_value_is_that_of_construct(way):
    assert way(Square())(Tensor(X)).tolist() == [1, 4, 9]
    value, _ = way(ms.value_and_grad(Square()))(Tensor(X))
    assert value.tolist() == [1, 4, 9]


def test_a_second_derivative_is_the_derivative_of_what_is_given(way):
    square = Square()
    twice = ms.grad(lambda x: ms.grad(lambda x: square(x).sum())(x).sum())
    assert way(twice)(Tensor(X)).tolist() == [100, 100, 100]


def test_examples_of_a_batch_have_it_too(way):
    square = Square()
    assert way(ms.vmap(ms.grad(lambda x: square(x))))(Tensor(X)).tolist() == [100, 200, 300]
    assert way(ms.grad(lambda x: ms.vmap(square)(x).sum()))(Tensor(X)).tolist() == [100, 200, 300]


def test_several_arguments_and_results_have_a_gradient_each(way):
    two = Two()

    def product(x, y):
        total, times = two(x, y)
        return (total * times).sum()

    x, y = X, 5 * X
    dx, dy = way(ms.grad(product, (0, 1)))(Tensor(x), Tensor(y))
    np.testing.assert_allclose(dx.asnumpy(), x * y * 2)
    np.testing.assert_allclose(dy.asnumpy(), (x + y) * 3 + x * y)


def test_cells_inside_and_around_keep_their_own_gradients(way):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = Parameter(Tensor([2.0]))
            self.square = Square()

        def construct(self, x):
            return (self.square(x * self.scale) * 3).sum()

    net = Net()
    dx, dw = way(ms.grad(net, 0, net.trainable_params()))(Tensor(X))
    np.testing.assert_allclose(dx.asnumpy(), 300 * (X * 2) * 2)
    np.testing.assert_allclose(dw[0].asnumpy(), [np.sum(300 * (X * 2) * X)])


def test_what_construct_reads_beside_its_arguments_has_no_gradient_through_it(way):
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0]))

        def construct(self, x):
            return (x * self.w).sum()

        def bprop(self, x, out, dout):
            return (dout * self.w * x,)

    net = Scaled()
    dx, (dw,) = way(ms.grad(net, 0, net.trainable_params()))(Tensor(X))
    assert (dx.tolist(), dw.tolist()) == ([2, 4, 6], [0])


def test_arguments_may_be_numbers_nests_and_whole_numbers(way):
    class Mixed(nn.Cell):
        def construct(self, pair, index, factor):
            return pair[0][index] * pair[1] * factor

        def bprop(self, pair, index, factor, out, dout):
            return (None, dout * 7), None, None

    mixed = Mixed()
    rows = Tensor(np.array([2, 0], np.int32))
    gradient = ms.grad(lambda x, y: mixed((x, y), rows, 4).sum(), (0, 1))
    dx, dy = way(gradient)(Tensor(X), Tensor([1.0, 1.0]))
    assert (dx.tolist(), dy.tolist()) == ([0, 0, 0], [7, 7])


def test_a_bprop_of_the_object_itself_counts_and_may_change(way):
    class Plain(nn.Cell):
        def construct(self, x):
            return x * x

    net = Plain()
    step = way(ms.grad(lambda x: net(x).sum()))
    assert step(Tensor(X)).tolist() == [2, 4, 6]
    net.bprop = lambda x, out, dout: (dout + 1,)
    assert step(Tensor(X)).tolist() == [2, 2, 2]


def test_control_flow_on_values_is_allowed_inside(way):
    class Clipped(nn.Cell):
        def construct(self, x):
            return x if x.sum() > 0 else -x

        def bprop(self, x, out, dout):
            return (dout * 10 if dout.sum() > 2 else dout,)

    net = Clipped()
    gradient = way(ms.grad(lambda x, y: (net(x) * y).sum()))
    assert gradient(Tensor(X), Tensor([1.0, 1.0, 1.0])).tolist() == [10, 10, 10]
    assert gradient(Tensor(X), Tensor([1.0, 0.0, 0.0])).tolist() == [1, 0, 0]


def test_a_wrong_number_of_gradients_is_told(way):
    class Wrong(nn.Cell):
        def construct(self, x, y):
            return x + y

        def bprop(self, x, y, out, dout):
            return (dout,)

    net = Wrong()
    assert way(net)(Tensor(X), Tensor(X)).tolist() == [2, 4, 6]  # nobody asks for a gradient
    with pytest.raises(ArgumentError, match="gives 1 gradients for 2 arguments"):
        way(ms.grad(lambda x, y: net(x, y).sum()))(Tensor(X), Tensor(X))


def test_a_gradient_of_another_shape_is_told(way):
    class Wrong(nn.Cell):
        def construct(self, x):
            return x + 1

        def bprop(self, x, out, dout):
            return (dout.sum(),)

    net = Wrong()
    with pytest.raises(ShapeError, match="no gradient of shape"):
        way(ms.grad(lambda x: net(x).sum()))(Tensor(X))


def test_there_is_no_forward_mode_through_it(way):
    with pytest.raises(GradientError, match="forward-mode"):
        ms.jvp(way(Square()), (Tensor(X),), (Tensor(X),))


def test_arguments_may_be_given_by_name(way):
    two = Two()
    loss = lambda x, y: (lambda pair: (pair[0] + pair[1]).sum())(two(y=y, x=x))  # noqa: E731
    dx, dy = way(ms.grad(loss, (0, 1)))(Tensor(X), Tensor(5 * X))
    assert (dx.tolist(), dy.tolist()) == ([2, 2, 2], (3 + 5 * X * X).tolist())


def test_an_argument_that_has_no_place_is_refused(way):
    class Named(nn.Cell):
        def construct(self, x, *, y):
            return x * y

        def bprop(self, x, out, dout):
            return dout

    with pytest.raises(ArgumentError, match="by place"):
        way(lambda x: Named()(x, y=x))(Tensor(X))


SCALE = Tensor([2.0, 3.0, 5.0])


class Largest(nn.Cell):
    """A number, and where it was, which has no gradient; both directions read a tensor from outside."""

    def construct(self, x):
        return (x * SCALE).sum(), x.argmax()

    def bprop(self, x, out, dout):
        return (dout[0] * SCALE * 10 + x * 0 + out[1],)


def test_results_that_are_whole_numbers_and_tensors_from_outside_change_nothing(way):
    cell = Largest()
    loss = lambda x: cell(x * 2)[0] * 3  # noqa: E731
    assert way(ms.grad(loss))(Tensor(X)).tolist() == [2 * (60 + 2), 2 * (90 + 2), 2 * (150 + 2)]
    total, place = way(cell)(Tensor(X))
    assert (total.item(), place.item()) == (2 + 6 + 15, 2)
