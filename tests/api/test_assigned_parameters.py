"""Gradients end at a parameter, whatever was assigned to it: nothing flows into what it was given, and all that is
computed from it counts as its own gradient, before and after.

The values are those of MindSpore 2.10, in both of its modes and for float32 and int32 alike.
"""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops


def _assign(net, x):
    ops.assign(net.a, x + net.a)
    return net.a * x


def _attribute(net, x):
    net.a = x + net.a
    return net.a * x


def _what_assign_gives(net, x):
    return ops.assign(net.a, x + net.a) * x


def _add(net, x):
    ops.assign_add(net.a, x)
    return net.a * x


def _of_another(net, x):
    ops.assign(net.a, x * net.w)
    return net.a * x


WAYS = {  # what it computes; by x, a and w; what the parameter holds afterwards
    _assign: (7, 2, 0, 7),
    _attribute: (7, 2, 0, 7),
    _what_assign_gives: (7, 2, 0, 7),
    _add: (7, 2, 0, 7),
    _of_another: (6, 2, 0, 6),
}


class Net(nn.Cell):
    def __init__(self, way, dtype):
        super().__init__()
        self.way = way
        self.a = Parameter(Tensor([5], dtype), name="a")
        self.w = Parameter(Tensor([3], dtype), name="w")

    def construct(self, x):
        return self.way(self, x)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [ms.float32, ms.int32])
@pytest.mark.parametrize("compiled", ["neither", "net", "gradient"])
def test_gradients_are_mindspores(way, dtype, compiled):
    net = Net(way, dtype)
    called = ms.jit(net) if compiled == "net" else net
    gradient = ms.grad(called, 0, (net.a, net.w))
    gradient = ms.jit(gradient) if compiled == "gradient" else gradient
    dx, (da, dw) = gradient(Tensor([2], dtype))
    assert (dx.item(), da.item(), dw.item(), net.a.item()) == WAYS[way]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_loop_that_assigns(compiled):
    """A moving average is read in every turn: none of its past is differentiated."""
    mean = Parameter(Tensor([1.0]), name="mean", requires_grad=False)

    def loss(x):
        total = ops.zeros(1)
        for _ in range(30):
            ops.assign(mean, mean * 0.5 + x)
            total = total + mean * x
        return total.sum()

    gradient = ms.grad(loss)
    x = Tensor([2.0])
    found = (ms.jit(gradient) if compiled else gradient)(x)
    held, total = 1.0, 0.0
    for _ in range(30):
        held = held * 0.5 + 2.0
        total += held
    np.testing.assert_allclose(found.item(), total, rtol=1e-6)
    np.testing.assert_allclose(mean.item(), held, rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_branch_that_assigns(compiled):
    a = Parameter(Tensor([5.0]), name="a")

    def loss(x):
        if x.sum() > 0:
            ops.assign(a, x * x)
        return (a * x).sum()

    gradient = ms.grad(loss, 0, a)
    gradient = ms.jit(gradient) if compiled else gradient
    assert [t.item() for t in gradient(Tensor([-2.0]))] == [5.0, -2.0]
    assert [t.item() for t in gradient(Tensor([2.0]))] == [4.0, 2.0]
    assert a.item() == 4.0


@pytest.mark.parametrize("compiled", [False, True])
def test_a_view_of_what_was_assigned_belongs_to_the_parameter(compiled):
    a = Parameter(Tensor([1.0, 2.0]), name="a")

    def loss(x):
        row = a[0]
        a[1] = x * 3.0
        return row * x + a[1] * 10.0

    gradient = ms.grad(loss, 0, a)
    dx, da = (ms.jit(gradient) if compiled else gradient)(Tensor(2.0))
    assert (dx.item(), da.tolist()) == (1.0, [2.0, 10.0])


def test_tensors_that_are_no_parameters_still_carry_gradients():
    def loss(x):
        y = ops.zeros(2)
        y[1] = x * 3.0
        return y.sum()

    assert ms.grad(loss)(Tensor(2.0)).item() == ms.jit(ms.grad(loss))(Tensor(2.0)).item() == 3.0


def _name_times(net, x):
    out = net.a
    out *= x
    return out * x


def _name_minus(net, x):
    out = net.a
    out -= x
    return out * x


def _own_times(net, x):
    net.a *= x
    return net.a * x


def _own_item(net, x):
    net.a[0] = x[0] * 2
    return net.a * x


NAMES = {  # by x, a and w; what the parameter holds afterwards: MindSpore's without graphs
    _name_times: (20, 4, 0, 5),
    _name_minus: (1, 2, 0, 5),
    _own_times: (10, 2, 0, 10),
    _own_item: (4, 2, 0, 4),
}


@pytest.mark.parametrize("way", NAMES)
@pytest.mark.parametrize("dtype", [ms.float32, ms.int32])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_name_is_given_another_tensor_and_an_attribute_assigns(way, dtype, compiled):
    """`out *= x` makes a tensor, where `out` is a parameter as where it is any other tensor; `self.a *= x` assigns."""
    net = Net(way, dtype)
    gradient = ms.grad(net, 0, (net.a, net.w))
    dx, (da, dw) = (ms.jit(gradient) if compiled else gradient)(Tensor([2], dtype))
    assert (dx.item(), da.item(), dw.item(), net.a.item()) == NAMES[way]


@pytest.mark.parametrize("compiled", [False, True])
def test_nothing_flows_into_a_parameter_that_is_made_inside(compiled):
    def loss(x):
        made = Parameter(x * 3.0, name="made")
        return (made * x).sum()

    gradient = ms.grad(loss)
    assert (ms.jit(gradient) if compiled else gradient)(Tensor([2.0])).item() == 6.0


UPDATES = {
    "AssignAdd": (lambda w, v: ops.AssignAdd()(w, v), [15.0, 79.0]),
    "AssignSub": (lambda w, v: ops.AssignSub()(w, v), [-9.0, -71.0]),
    "assign_add": (ops.assign_add, [15.0, 79.0]),
    "IndexAdd": (lambda w, v: ops.IndexAdd(0)(w, Tensor([1, 0], ms.int32), v), [48.0, 28.0]),
    "index_add": (lambda w, v: ops.index_add(w, Tensor([1, 0], ms.int32), v, 0), [48.0, 28.0]),
    "Assign": (lambda w, v: ops.Assign()(w, v), [4.0, 25.0]),
}
READ_AGAIN = {"AssignAdd": [7.0, 29.0], "IndexAdd": [28.0, 8.0], "Assign": [4.0, 25.0]}
"""What MindSpore 2.10 answers, in both of its modes, for x = [2, 5] and a parameter that is [3, 4]."""


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", UPDATES)
def test_what_an_update_gives_is_differentiated_as_it_was_computed(name, way):
    update, slope = UPDATES[name]
    for again, wanted in ((False, slope), (True, READ_AGAIN.get(name))):
        if wanted is None:
            continue
        w = Parameter(Tensor([3.0, 4.0]), name="w")

        def net(x, w=w, again=again):
            given = update(w, x * x)
            return (w if again else given) * x

        by_x, by_w = way(ms.grad(net, 0, w))(Tensor([2.0, 5.0]))
        assert by_x.tolist() == wanted
        assert by_w.tolist() == [2.0, 5.0]
