"""Guards expect the objects that a capture has met; the pattern of objects judges others, and nothing is missed."""

import ast
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.capture import guards


def programs(fn):
    """How many programs there are."""
    return fn.explain().count("one native call")


class Scale(nn.Cell):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def construct(self, x):
        return x * self.number


class Shift(Scale):
    def construct(self, x):
        return x + self.number


X = ms.Tensor([1.0, 2.0])


def test_an_object_in_the_place_of_another_like_it_is_no_new_program():
    holder = {"net": Scale(3.0)}
    fn = ms.jit(lambda x: holder["net"](x))
    first = fn(X)
    holder["net"] = Scale(3.0)
    assert fn(X).tolist() == first.tolist() == [3.0, 6.0]
    assert programs(fn) == 1


@pytest.mark.parametrize("length", [1, 3, 20])  # few members are asked for one by one, many at once
@pytest.mark.parametrize("container", [list, dict])
def test_a_member_that_changes_is_seen(container, length):
    layers = [Scale(2.0) for _ in range(length)]
    held = layers if container is list else {str(i): layer for i, layer in enumerate(layers)}
    places = range(length) if container is list else list(held)

    def run(x):
        for layer in held if container is list else held.values():
            x = layer(x)
        return x

    fn = ms.jit(run)
    assert fn(X).tolist() == run(X).tolist()
    for change in (
        lambda place: held.__setitem__(place, Scale(5.0)),
        lambda place: setattr(held[place], "number", 7.0),
        lambda place: setattr(held[place], "__class__", Shift),
        lambda place: held.__setitem__(place, held[places[0]]),
        lambda place: held.pop(place),
    ):
        change(places[-1])
        assert fn(X).tolist() == run(X).tolist()


@pytest.mark.parametrize("container", [dict, OrderedDict])
def test_an_order_that_changes_is_seen(container):
    held = container((str(i), Scale(2.0) if i else Shift(3.0)) for i in range(12))

    def run(x):
        for layer in held.values():
            x = layer(x)
        return x

    fn = ms.jit(run)
    assert fn(X).tolist() == run(X).tolist()
    first = held.pop("0")
    held["0"] = first
    assert fn(X).tolist() == run(X).tolist()
    if container is OrderedDict:
        held.move_to_end("0", last=False)
    assert fn(X).tolist() == run(X).tolist()


def test_a_layer_of_a_network_that_is_exchanged_is_seen():
    net = nn.SequentialCell(*[Scale(2.0) for _ in range(12)])
    fn = ms.jit(net)
    for change in (
        lambda: net.__setitem__(5, Scale(3.0)),
        lambda: setattr(net[7], "__class__", Shift),
        lambda: net.append(Scale(0.5)),
        lambda: setattr(net[0], "__dict__", {**vars(net[0]), "number": 4.0}),
    ):
        fn(X)
        change()
        np.testing.assert_array_equal(fn(X).asnumpy(), net(X).asnumpy())


def test_functions_behind_a_gradient_are_looked_at():
    def inner(x):
        return x * x

    def outer(x):
        return inner(x).sum()

    fn = ms.jit(ms.grad(outer))
    assert fn(X).tolist() == [2.0, 4.0]
    inner.__code__ = (lambda x: x * x * x).__code__
    assert fn(X).tolist() == [3.0, 12.0]
    inner = ops.sin
    assert fn(X).tolist() == ms.grad(outer)(X).tolist()


def test_gradients_of_different_functions_are_different_arguments():
    apply = ms.jit(lambda gradient, x: gradient(x))
    square, cube = ms.grad(lambda x: (x * x).sum()), ms.grad(lambda x: (x * x * x).sum())
    assert apply(square, X).tolist() == [2.0, 4.0]
    assert apply(cube, X).tolist() == [3.0, 12.0]
    assert apply(ms.grad(lambda x: (x * x).sum(), 0), X).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("name", ["grad", "jacobian", "vectorize"])
def test_nobody_sets_a_variable_of_a_function_that_our_library_has_made(name):
    file = Path(ms.__file__).parent / "api" / f"{name}.py"
    assert not [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Nonlocal)]
    assert any(Path(code.co_filename) == file for code in guards.SETTLED)


class Holder:
    kind = "held"

    def __init__(self, **parts):
        for name, part in parts.items():
            setattr(self, name, part)


def test_objects_that_a_program_makes_have_what_they_were_given():
    def made(x):
        def inner(y):
            return y + x

        inner.note = "noted"
        inner.of = x * 3
        holder = Holder(first=x + 1, second=[x, 2.0])
        holder.third = {"k": holder.first * 2}
        holder.other = Holder(back=holder, name="inside")
        return holder, inner

    for fn in (made, ms.jit(made, fallback=False)):
        for x in (ms.Tensor([1.0, 2.0]), ms.Tensor([3.0])):
            holder, inner = fn(x)
            assert vars(holder).keys() == {"first", "second", "third", "other"}
            assert holder.first.tolist() == (x + 1).tolist()
            assert holder.second[0] is x
            assert holder.second[1] == 2.0
            assert holder.third["k"].tolist() == ((x + 1) * 2).tolist()
            assert vars(holder.other) == {"back": holder, "name": "inside"}
            assert holder.kind == "held"
            assert (inner.note, inner.of.tolist()) == ("noted", (x * 3).tolist())
            assert inner(x).tolist() == (x * 2).tolist()
