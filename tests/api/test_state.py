"""What a program changes is the same compiled as eagerly: parameters, attributes, tensors in their place."""

import numpy as np
import pytest

from mycelia import nn, ops
from mycelia.api.grad import grad, value_and_grad, vjp
from mycelia.api.jit import jit
from mycelia.eager import Parameter, Tensor
from mycelia.nn import Cell


class Base(Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(np.int32(3)), name="count", requires_grad=False)
        self.mean = Parameter([1.5], name="mean", requires_grad=False)
        self.w = Parameter([2.0], name="w")
        self.calls, self.last = 0, Tensor([0.0])

    def construct(self, x):
        self.change(x)
        return (x * self.w).sum()


def add(self, x):
    self.count += 1


def subtract(self, x):
    self.mean -= x.sum()


def multiply(self, x):
    self.mean *= 2


def divide(self, x):
    self.mean /= 2


def power(self, x):
    self.mean **= 2


def floor_divide(self, x):
    self.mean //= 2


def remainder(self, x):
    self.mean %= 2


def both_bits(self, x):
    self.count &= 1


def any_bits(self, x):
    self.count |= 4


def odd_bits(self, x):
    self.count ^= 1


def shift(self, x):
    self.count <<= 1


def plain_assignment(self, x):
    self.mean = self.mean + x.sum()


def weight(self, x):
    self.w += x.sum()


def weight_by_assignment(self, x):
    self.w = self.w * 2


def several(self, x):
    self.mean += 1
    self.mean *= self.w
    self.count += 1
    self.count += 1


def by_another_name(self, x):
    mean = self.mean
    mean += x.sum()


def of_a_parameter(self, x):
    self.mean.set_data(self.mean * self.w)
    ops.assign_add(self.count, Tensor(np.int32(2)))


def item_of_a_parameter(self, x):
    self.mean[0] = x[0] * 3


def tensor(self, x):
    self.last = x * self.w


def argument(self, x):
    self.last = x


def parameter_as_another_attribute(self, x):
    self.same = self.w


def tensor_that_grows(self, x):
    self.last += x.sum()


def tensor_with_items(self, x):
    made = ops.zeros_like(x)
    made[0] = x[1] * 3
    self.last = made


def item_of_a_tensor(self, x):
    self.last[0] = x[0] * 3


def nest(self, x):
    self.last = [x, (self.w, {"a": self.mean + 1}), 3]
    self.mean += 1


def number(self, x):
    self.calls += 1


def new_attribute(self, x):
    self.new = x.sum()


def attribute_for_a_while(self, x):
    self.new = 1
    del self.new


def deleted_attribute(self, x):
    if hasattr(self, "last"):
        del self.last


def exchange(self, x):
    self.mean, self.w = self.w, self.mean


def new_parameter(self, x):
    self.mean = Parameter([9.0], name="new")


def in_a_branch(self, x):
    if x.sum() > 4:
        self.count += 1
        self.last = x * 2
    else:
        self.mean *= 10
        self.last = x * 1


def in_a_branch_with_items(self, x):
    if x.sum() > 4:
        made = x * 1
        made[0] = 5.0
    else:
        made = x
    self.last = made


def another_parameter_in_a_branch(self, x):
    if x.sum() > 4:
        self.mean = Parameter([9.0], name="new")


def in_a_while(self, x):
    left = x.sum()
    while left > 0:
        self.count += 1
        self.mean = self.mean + left
        left = left - 1


def in_a_loop_over_rows(self, x):
    for row in x:
        self.mean += row
        self.last = self.last + row


def in_a_loop_by_another_name(self, x):
    mean = self.mean
    for row in x:
        mean += row


def in_a_loop_with_items(self, x):
    made = ops.zeros_like(x)
    for row in x:
        made = made * 1
        made[0] = row
    self.last = made


def in_a_long_loop(self, x):
    for i in range(40):
        self.mean = self.mean + x.sum() * i


CHANGES = [
    add, subtract, multiply, divide, power, floor_divide, remainder, both_bits, any_bits, odd_bits, shift,
    plain_assignment, weight, weight_by_assignment, several, by_another_name, of_a_parameter, item_of_a_parameter,
    tensor, argument, parameter_as_another_attribute, tensor_that_grows, tensor_with_items, item_of_a_tensor, nest,
    number, new_attribute, attribute_for_a_while, deleted_attribute, exchange, new_parameter, in_a_branch,
    in_a_branch_with_items, another_parameter_in_a_branch, in_a_while, in_a_loop_over_rows, in_a_loop_by_another_name,
    in_a_loop_with_items, in_a_long_loop,
]  # fmt: skip
WAYS = {
    "called": lambda net: lambda x: net(x),
    "by weights": lambda net: lambda x: value_and_grad(net, None, [net.w])(x),
    "by argument": lambda net: lambda x: value_and_grad(net, 0)(x),
    "twice": lambda net: lambda x: grad(lambda y: value_and_grad(net, 0, [net.w])(y)[0] * 2)(x),
    "as linear map": lambda net: lambda x: vjp(net, x)[0],
}


def seen(x):
    """Something in a form that can be compared: of a parameter the name as well, of a number also the type."""
    if isinstance(x, Tensor):
        name = x.name if isinstance(x, Parameter) else None
        return name, str(x.dtype), np.round(x.asnumpy().astype("float64"), 4).tolist()
    if isinstance(x, list | tuple):
        return type(x).__name__, [seen(part) for part in x]
    return {k: seen(v) for k, v in x.items()} if isinstance(x, dict) else (type(x).__name__, x)


def history(net, f):
    """What each of three calls returns and leaves behind."""
    found = []
    for start in (1.0, 2.0, 3.0):
        x = Tensor([start, start + 1])
        out = seen(f(x))
        held = {k: seen(v) for k, v in sorted(net.__dict__.items()) if not k.startswith("_")}
        found.append((out, seen(x), held, [(k, seen(p)) for k, p in net.parameters_and_names()]))
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.many("change", CHANGES, pack=20, ids=lambda f: f.__name__)
def test_a_compiled_program_leaves_behind_what_it_leaves_eagerly(change, way):
    kind = type("Net", (Base,), {"change": change})
    eager, compiled = kind(), kind()
    assert history(compiled, jit(WAYS[way](compiled))) == history(eager, WAYS[way](eager))


def test_statistics_of_batches_are_the_same_compiled_as_eagerly():
    def trained(around):
        dense = [nn.Dense(n, m, weight_init="ones", bias_init="zeros") for n, m in ((4, 3), (3, 1))]
        net = nn.SequentialCell(dense[0], nn.BatchNorm1d(3), nn.ReLU(), dense[1])
        net.set_train()
        optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
        both = value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())

        def step(x):
            loss, gradients = both(x)
            optimizer(gradients)
            return loss

        run, rng = around(step), np.random.default_rng(0)
        losses = [run(Tensor(rng.normal(size=(8, 4)).astype("f"))).item() for _ in range(4)]
        return losses, [p.asnumpy() for p in net.get_parameters()]

    (losses, parameters), (expected, others) = trained(jit), trained(lambda f: f)
    np.testing.assert_allclose(losses, expected, rtol=1e-5, atol=1e-5)
    for got, wanted in zip(parameters, others, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_a_parameter_that_comes_back_is_the_parameter_itself():
    net = type("Net", (Base,), {"construct": lambda self, x: ((x * self.w).sum(), self.mean)})()
    (_, mean), _ = jit(lambda x: value_and_grad(net, None, [net.w], has_aux=True)(x))(Tensor([1.0]))
    assert mean is net.mean


def test_parameters_keep_their_order_when_one_is_assigned_again():
    net = Base()
    net.count += 1
    net.mean = Parameter([0.0])
    assert [name for name, _ in net.parameters_and_names()] == ["count", "mean", "w"]
