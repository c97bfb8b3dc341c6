"""Regions that are computed again give what they give otherwise, once, and keep only what they are given."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.api.native import TapeCall
from mycelia.errors import ArgumentError

X = Tensor(np.random.default_rng(0).standard_normal((6, 8)).astype("f"))
calls = pytest.mark.parametrize("call", [lambda f: f, ms.jit], ids=["eager", "jit"])


class Block(nn.Cell):
    """A layer with random numbers and a state of its own."""

    def __init__(self, width: int = 8, p: float = 0.0):
        super().__init__()
        self.norm, self.dense, self.drop = nn.BatchNorm1d(width), nn.Dense(width, width), nn.Dropout(p=p)

    def construct(self, x):
        return self.drop(ops.tanh(self.dense(self.norm(x)))) + x


def network(mark: bool, layers: int = 3, p: float = 0.4) -> nn.Cell:
    ms.set_seed(5)
    blocks = [Block(p=p) for _ in range(layers)]
    net = nn.SequentialCell(*blocks)
    net.set_train()
    for block in blocks:
        if mark:
            block.recompute()
    return net


def trained(call, mark: bool, steps: int = 3) -> list[np.ndarray]:
    """The losses of some steps, and all parameters after them."""
    net = network(mark)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    gradient = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

    def step(x):
        loss, gradients = gradient(x)
        optimizer(gradients)
        return loss

    step = call(step)
    ms.set_seed(9)
    losses = [step(X).asnumpy() for _ in range(steps)]
    return [*losses, *[p.asnumpy() for p in net.get_parameters()]]


@calls
def test_marked_cells_train_as_others_with_the_same_random_numbers_and_states(call):
    for plain, again in zip(trained(call, False), trained(call, True), strict=True):
        np.testing.assert_allclose(plain, again, rtol=2e-5, atol=1e-6)


def curve(x, w):
    return ops.sin(ops.exp(x * w) * 0.1) + x


@calls
def test_gradients_of_all_orders_are_the_same(call):
    def total(x, w):
        return ms.recompute(curve, ms.recompute(curve, x, w), w).sum()

    def plain(x, w):
        return curve(curve(x, w), w).sum()

    x, w = Tensor([0.3, -0.7, 1.1]), Tensor([0.5, 0.2, -0.4])
    np.testing.assert_allclose(call(total)(x, w).asnumpy(), plain(x, w).asnumpy(), rtol=1e-6)
    for derived in (
        lambda f: ms.grad(f, (0, 1)),
        lambda f: ms.grad(lambda x, w: ms.grad(f)(x, w).sum(), (0, 1)),
        lambda f: ms.grad(lambda x, w: ms.grad(lambda x, w: ms.grad(f, 1)(x, w).sum())(x, w).sum(), (0, 1)),
    ):
        for one, other in zip(call(derived(total))(x, w), derived(plain)(x, w), strict=True):
            np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=2e-5, atol=1e-6)


@calls
def test_examples_side_by_side(call):
    w = Tensor([0.5, 0.2, -0.4])

    def each(x):
        return ms.grad(lambda x: ms.recompute(curve, x, w).sum())(x)

    many = Tensor(np.linspace(-1, 1, 12).reshape(4, 3).astype("f"))
    loop = np.stack([ms.grad(lambda x: curve(x, w).sum())(many[i]).asnumpy() for i in range(4)])
    np.testing.assert_allclose(call(ms.vmap(each))(many).asnumpy(), loop, rtol=2e-5, atol=1e-6)


@calls
def test_what_it_reads_beside_its_arguments_has_its_gradient(call):
    w, seen = Parameter(Tensor([2.0, 3.0]), name="w"), Tensor([1.5, -0.5])

    def loss(x):
        scaled = x * seen

        def inner(y):
            return ops.exp(y * w * 0.1) * scaled

        return ms.recompute(inner, x).sum()

    def plain(x):
        return (ops.exp(x * w * 0.1) * (x * seen)).sum()

    x = Tensor([0.4, 0.9])
    got, expected = (call(ms.value_and_grad(f, 0, w))(x) for f in (loss, plain))
    for one, other in ((got[0], expected[0]), *zip(got[1], expected[1], strict=True)):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=2e-6)


@calls
def test_what_it_prints_and_counts_happens_once(call, capfd):
    count = Parameter(Tensor([0.0]), name="count", requires_grad=False)

    def inner(x):
        print("inside")
        count.set_data(count + 1)
        return ops.exp(x) * x

    gradient = call(ms.grad(lambda x: ms.recompute(inner, x).sum()))
    np.testing.assert_allclose(gradient(Tensor([0.5])).asnumpy(), [1.5 * np.exp(0.5)], rtol=1e-6)
    assert capfd.readouterr().out.split() == ["inside"]
    assert count.asnumpy() == [1.0]


@calls
def test_regions_inside_regions(call):
    def outer(x):
        for _ in range(3):
            x = ms.recompute(ops.tanh, x * 1.5) + ms.recompute(lambda y: ops.sin(y) * y, x)
        return x

    def plain(x):
        for _ in range(3):
            x = ops.tanh(x * 1.5) + ops.sin(x) * x
        return x

    one = call(ms.grad(lambda x: ms.recompute(outer, x).sum()))(X)
    np.testing.assert_allclose(one.asnumpy(), ms.grad(lambda x: plain(x).sum())(X).asnumpy(), rtol=2e-5, atol=1e-6)


@calls
def test_several_results_in_nests_and_arguments_by_name(call):
    def inner(x, *, scale):
        return {"a": x * scale, "b": [ops.exp(x), 3]}

    def loss(x):
        out = ms.recompute(inner, x, scale=2.0)
        return (out["a"] * out["b"][0]).sum() * out["b"][1]

    x = np.float32([0.2, 0.7])
    np.testing.assert_allclose(call(ms.grad(loss))(Tensor(x)).asnumpy(), 6 * np.exp(x) * (1 + x), rtol=1e-5)


@calls
def test_control_flow_inside(call):
    def inner(x):
        if x.sum() > 0:
            return ops.exp(x) * x
        return ops.sin(x)

    gradient = call(ms.grad(lambda x: ms.recompute(inner, x).sum()))
    for x in (np.float32([0.5, 1.0]), np.float32([-0.5, -1.0])):
        expected = np.exp(x) * (1 + x) if x.sum() > 0 else np.cos(x)
        np.testing.assert_allclose(gradient(Tensor(x)).asnumpy(), expected, rtol=1e-5)


class Scaled:
    factor = 3.0

    @classmethod
    def of_class(cls, x):
        return ops.sin(x) * cls.factor


class Smaller(Scaled):
    factor = 2.0


@calls
def test_a_method_of_a_class_is_one_for_each_class(call):
    x = np.float32([0.2, 0.7])
    for cls in (Scaled, Smaller, Scaled):
        gradient = call(ms.grad(lambda x, cls=cls: ms.recompute(cls.of_class, x).sum()))
        np.testing.assert_allclose(gradient(Tensor(x)).asnumpy(), np.cos(x) * cls.factor, rtol=1e-5)


def test_without_a_gradient_it_is_a_call():
    assert ms.recompute(lambda x, y=1: (x, y), 3, y=4) == (3, 4)


def kept(block) -> int:
    """The bytes on the tape of one call, beside arguments and results."""
    x = Tensor(np.ones((64, 64), "f"))
    _, back = ms.vjp(lambda x: ms.recompute(block, x) if block.recomputed else block(x), x)
    run = next(c.cell_contents for c in back.__closure__ if hasattr(c.cell_contents, "recording"))
    records = run.recording.tape
    there = {id(a) for _, _, _, held, out in records for a in (*held, *(out if isinstance(out, tuple) else (out,)))}
    stored = [a for step, *_ in records if isinstance(step, TapeCall) for a in step.kept if id(a) not in there]
    outputs = [out for step, _, _, _, out in records if step is not None and not isinstance(step, TapeCall)]
    return sum(a.nbytes for a in (*stored, *outputs))


def test_on_the_tape_only_what_it_is_given_is_kept():
    def deep(x):
        for _ in range(4):
            x = ops.exp(ops.sin(x)) * x
        return x

    sizes = []
    for deep.recomputed in (False, True):
        sizes.append(kept(deep))
    assert sizes[0] > 0
    assert sizes[1] == 0


class Wide(nn.Cell):
    def __init__(self):
        super().__init__()
        self.out, self.back = nn.Dense(8, 64), nn.Dense(64, 8)

    def construct(self, x):
        return self.back(ops.gelu(self.out(x))) + x


def test_in_a_program_a_marked_network_computes_in_less():
    def planned(mark: bool) -> int:
        net = nn.SequentialCell(*[Wide() for _ in range(12)])
        for block in net:
            if mark:
                block.recompute()
        step = ms.jit(ms.grad(lambda x: (net(x) ** 2).mean()))
        step(Tensor(np.ones((64, 8), "f")))
        found = re.search(r"arena: ([\d,]+) bytes", step.show("memory"))
        return int(found[1].replace(",", ""))

    assert planned(True) < planned(False) / 3


def test_mistakes_are_explained():
    with pytest.raises(ArgumentError, match="recompute calls a Cell or a function, and a Tensor is none"):
        ms.recompute(X)
    with pytest.raises(ArgumentError, match="recompute has no context_fn"):
        ms.recompute(ops.sin, X, context_fn=lambda: None)
    with pytest.raises(ArgumentError, match="recompute has no option much"):
        Block().recompute(much=True)
    Block().recompute(mp_comm_recompute=False)


def test_a_budget_is_a_whole_number_of_numpy_too():
    assert ms.jit(lambda x: x * 2, memory_budget=np.int64(2**20))(X).shape == X.shape
    with pytest.raises(ArgumentError, match="a number of bytes, not True"):
        ms.jit(lambda x: x * 2, memory_budget=True)
