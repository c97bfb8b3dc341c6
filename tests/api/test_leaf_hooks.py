"""Hooks on arguments and parameters, weights that a function returns, described methods: as MindSpore 2.10 answers."""

import gc

import numpy as np

import mycelia as ms
from mycelia import Parameter, Tensor, grad, jit, nn, ops, value_and_grad, vjp
from mycelia.eager.tape import hooked


def square(x):
    return x * x


class Weighted(nn.Cell):
    def __init__(self, data=(1.0, 2.0)):
        super().__init__()
        self.w = Parameter(Tensor(data), name="w")

    def construct(self, x):
        return self.w * x * self.w


def of_weight(net):
    return lambda x: grad(net, None, net.w)(x)


def test_a_hook_on_an_argument_changes_every_gradient_with_respect_to_it():
    x = Tensor([1.0, 2.0])
    handle = x.register_hook(lambda g: g * 2)
    for gradient in (grad(square), jit(grad(square)), lambda x: value_and_grad(square)(x)[1]):
        assert gradient(x).tolist() == [4.0, 8.0]
    assert vjp(square, x)[1](Tensor([1.0, 1.0]))[0].tolist() == [4.0, 8.0]
    assert grad(grad(square))(x).tolist() == [8.0, 8.0]
    assert grad(square)(x + 0).tolist() == [2.0, 4.0]
    handle.remove()
    assert grad(square)(x).tolist() == [2.0, 4.0]


def test_a_hook_on_a_parameter_is_seen_by_programs_that_were_compiled_before():
    net, x = Weighted(), Tensor([1.0, 2.0])
    eager, compiled = of_weight(net), jit(of_weight(net))
    assert compiled(x).tolist() == eager(x).tolist() == [2.0, 8.0]
    handle = net.w.register_hook(lambda g: g * 2)
    assert compiled(x).tolist() == eager(x).tolist() == [4.0, 16.0]
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert eager(x).tolist() == [4.0, 16.0]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    handle.remove()
    assert compiled(x).tolist() == [2.0, 8.0]


def test_hooks_are_called_in_order_once_with_the_whole_gradient():
    x, seen = Tensor([3.0]), []
    x.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: seen.append(g.item()))
    assert grad(lambda x: x * x + x)(x).item() == 8.0
    assert seen == [7.0, 8.0]


def test_hooks_go_with_their_tensor():
    before = len(hooked)
    x = Tensor([1.0])
    x.register_hook(abs)
    assert len(hooked) == before + 1
    del x
    gc.collect()
    assert len(hooked) == before


class Returning(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 2.0]), name="w")

    def construct(self, x, y):
        return x * y * self.w, x, self.w


def test_a_weight_that_is_returned_moves_with_itself():
    net, x, y = Returning(), Tensor([1.0, 2.0]), Tensor([3.0, 3.0])
    both = grad(net, 0, [net.w])
    for gradient in (both, jit(lambda x, y: both(x, y))):
        by_x, (by_w,) = gradient(x, y)
        assert by_x.tolist() == [7.0, 7.0]
        assert by_w.tolist() == [4.0, 7.0]
    alone = jit(lambda: grad(lambda: net.w, None, net.w)())
    assert alone().tolist() == [1.0, 1.0]


class Described(nn.Cell):
    @jit(input_signature=Tensor(shape=(None, None), dtype=ms.float32))
    def construct(self, x):
        return ops.relu(x) * x.shape[0]


def test_the_signature_of_a_method_describes_what_comes_after_self():
    net = Described()
    for n in (2, 3, 4):
        x = np.ones((n, 2), np.float32)
        assert np.array_equal(net(Tensor(x)).asnumpy(), x * n)


def test_a_hook_concerns_programs_that_read_its_tensor_and_no_others():
    held = Tensor([1.0, 2.0])
    apart, reading = jit(lambda x: x * 2), jit(lambda x: grad(lambda y: (y * x).sum())(held))
    x = Tensor([3.0, 4.0])
    assert reading(x).tolist() == [3.0, 4.0]
    handle = held.register_hook(lambda g: g * 10)
    assert (apart(x).tolist(), reading(x).tolist()) == ([6.0, 8.0], [30.0, 40.0])
    assert "runs in Python" not in apart.explain()
    assert "a hook waits for the gradient" in reading.explain()
    handle.remove()
    assert reading(x).tolist() == [3.0, 4.0]
