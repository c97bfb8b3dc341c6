"""One back end is one class: nothing of the existing ones is touched, and jit trains a network on it."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.backends import Backend, register, unregister
from mycelia.errors import ArgumentError, DependencyError
from mycelia.ir import Function, interpret
from mycelia.primitives import Tanh


class Toy(Backend):
    """Runs programs by the interpreter, and counts them. Its arrays are lists of bytes, for the sake of difference."""

    name = "toy"

    def __init__(self):
        self.built, self.runs, self.seen = 0, 0, []

    def build(self, fn, donated, options):
        self.built += 1
        self.seen.append(fn)

        def run(*arrays):
            self.runs += 1
            return tuple(np.asarray(r) for r in interpret(fn, *[self.numpy(self.hold(a)) for a in arrays]))

        return run

    def hold(self, array):
        return array.shape, array.dtype, array.tobytes()

    def numpy(self, held):
        shape, dtype, data = held
        return np.frombuffer(data, dtype).reshape(shape)


def doubled(fn: Function) -> Function:
    """A pass of this back end: what it sees is what it gets."""
    doubled.ran += 1
    return fn


@pytest.fixture
def toy():
    made = register(Toy())
    yield made
    ms.set_device("CPU")
    unregister("toy")


def train_step(seed=0):
    ms.set_seed(seed)
    net = nn.SequentialCell(nn.Dense(4, 8, activation="tanh"), nn.Dense(8, 3))
    loss, adam = nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01)
    both = ms.value_and_grad(lambda x, y: loss(net(x), y), None, adam.parameters)

    def step(x, y):
        value, gradients = both(x, y)
        adam(gradients)
        return value

    return step


def data():
    rng = np.random.default_rng(0)
    return ms.Tensor(rng.standard_normal((16, 4)).astype("f")), ms.Tensor(rng.integers(0, 3, 16).astype("i"))


def test_a_train_step_runs_on_a_new_back_end(toy):
    x, y = data()
    native = ms.jit(train_step())
    want = [float(native(x, y)) for _ in range(3)]
    ms.set_device("toy")
    step = ms.jit(train_step())
    got = [float(step(x, y)) for _ in range(3)]
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert (toy.built, toy.runs) == (1, 3)


def test_a_function_names_its_back_end_whatever_the_session_says(toy):
    @ms.jit(backend="toy")
    def double(x):
        return x + x

    assert double(ms.Tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert toy.runs == 1
    assert ms.get_current_device().device_target == "CPU"


def test_a_compiled_function_follows_the_session_to_another_device(toy):
    double = ms.jit(lambda x: x + x)
    for device in ("CPU", "toy", "CPU", "toy"):
        ms.set_device(device)
        assert double(ms.Tensor([1.0])).tolist() == [2.0]
    assert (toy.built, toy.runs) == (1, 2)  # it is compiled once for each


def test_gradients_of_compiled_functions_run_there_too(toy):
    ms.set_device("toy")
    square = ms.jit(lambda x: (ops.tanh(x) * x).sum())
    x = ms.Tensor([0.5, -1.0])
    got = ms.grad(square)(x)
    ms.set_device("CPU")
    np.testing.assert_allclose(got.asnumpy(), ms.grad(square)(x).asnumpy(), rtol=1e-6)
    assert toy.runs == 2  # forward and backward


def test_a_gradient_comes_back_from_where_it_went(toy):
    ms.set_device("toy")
    net = ms.jit(lambda x: ops.tanh(x))

    def there_and_here(x):
        y = net(x)
        ms.set_device("CPU")
        return y.sum()

    ms.grad(there_and_here)(ms.Tensor([0.5]))
    assert toy.runs == 2


def test_a_back_end_sees_functions_after_the_canonical_passes_and_its_own(toy):
    doubled.ran = 0
    toy.passes = (doubled,)
    ms.jit(lambda x: ops.tanh(x) * 1.0, backend="toy")(ms.Tensor([1.0]))
    (fn,) = toy.seen
    assert [type(v.op) for v in fn.values()][-1] is Tanh  # times one is gone
    assert doubled.ran == 1


def test_what_is_absent_says_what_to_do(toy):
    with pytest.raises(ArgumentError, match=r"(?s)device_target cannot be 'GPU'.*choose one of 'CPU'.*'toy'"):
        ms.set_device("GPU")
    with pytest.raises(ArgumentError, match="device_target cannot be 'Ascend'"):
        ms.Tensor([1.0]).move_to("Ascend")
    with pytest.raises(ArgumentError, match="there is no device toy:3"):
        ms.set_device("toy", 3)
    with pytest.raises(ArgumentError, match="device_target cannot be 'GE'"):
        ms.jit(lambda x: x, backend="GE")
    toy.missing = lambda: "the shop is closed"
    with pytest.raises(DependencyError, match="toy cannot run programs here: the shop is closed"):
        ms.set_device("toy")
    assert ms.get_current_device() == ("CPU", 0)


def test_arrays_go_there_and_back_and_to_other_frameworks(toy):
    x = np.arange(6, dtype="f").reshape(2, 3)
    np.testing.assert_array_equal(toy.numpy(toy.hold(x)), x)
    assert hasattr(toy.dlpack(toy.hold(x)), "__dlpack__")


def test_devices_are_listed(toy):
    assert ms.hal.devices()[0] == "CPU:0"
    assert "toy:0" in ms.hal.devices()
    assert ms.hal.device_count("toy") == 1
    toy.missing = lambda: "the shop is closed"
    assert "toy:0" not in ms.hal.devices()
    assert not ms.hal.is_available("toy")


def test_set_context_chooses_the_device_as_well(toy):
    ms.set_context(device_target="toy")
    assert (ms.get_context("device_target"), ms.get_context("device_id")) == ("toy", 0)
    with pytest.raises(ArgumentError):
        ms.set_context(device_target="toy", device_id=1)
    ms.set_context(device_target="CPU")
    assert ms.get_context("device_target") == "CPU"


def test_tensors_move_and_gradients_flow_through(toy):
    x = ms.Tensor([1.0, 2.0])
    moved = x.to("toy")
    assert moved.asnumpy().tolist() == [1.0, 2.0]
    assert x.to(ms.float16).dtype is ms.float16
    assert x.to("float64").dtype is ms.float64
    assert x.to(device="CPU:0", dtype=ms.float16).dtype is ms.float16
    assert ms.grad(lambda x: (x.move_to("toy") ** 2).sum())(x).tolist() == [2.0, 4.0]
    assert ms.jit(lambda x: x.move_to("CPU") + 1)(x).tolist() == [2.0, 3.0]
    with pytest.raises(ArgumentError, match="blocking is True or False"):
        x.move_to("CPU", blocking="no")
