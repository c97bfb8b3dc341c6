"""Whole training steps as StableHLO give the losses that machine code gives."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import ops
from mycelia.backends import backends
from tests.nn.test_training import MODELS, made, written_step

pytestmark = pytest.mark.slow


def needed(device):
    if not ms.hal.is_available(device):
        pytest.skip(f"{device}: {backends()[device].missing()}")


@pytest.fixture(autouse=True)
def home():
    yield
    ms.set_device("CPU")


def losses(name: str, device: str, steps: int = 3) -> list[float]:
    """The first losses of a network with given weights, trained on a device."""
    ms.set_device(device)
    net, optimizer, *data = made(name)
    step = ms.jit(written_step(net, optimizer), fullgraph=True)
    return [float(step(*data)) for _ in range(steps)]


@pytest.mark.parametrize("name", MODELS)
def test_training_through_xla_equals_training_by_machine_code(name):
    needed("stablehlo")
    np.testing.assert_allclose(losses(name, "stablehlo"), losses(name, "CPU"), rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_training_through_iree_equals_training_by_machine_code(name):
    needed("iree")
    np.testing.assert_allclose(losses(name, "iree"), losses(name, "CPU"), rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_training_on_a_vulkan_device_equals_training_by_machine_code(name):
    needed("iree-vulkan")
    np.testing.assert_allclose(losses(name, "iree-vulkan"), losses(name, "CPU"), rtol=1e-4)


def test_parameters_stay_on_the_device_between_steps():
    needed("stablehlo")
    ms.set_device("stablehlo")
    net, optimizer, *data = made("mlp")
    step = ms.jit(written_step(net, optimizer))
    step(*data)
    assert {p.device for p in net.trainable_params()} == {"stablehlo:0"}
    before = [p._data for p in net.trainable_params()]
    step(*data)
    assert all(p._data is not b for p, b in zip(net.trainable_params(), before, strict=True))
    net.trainable_params()[0].set_data(ops.zeros_like(net.trainable_params()[0]))
    assert np.isfinite(float(step(*data)))


def test_what_came_from_a_device_is_used_eagerly_and_changed():
    needed("stablehlo")
    double = ms.jit(lambda x: x * 2, backend="stablehlo")
    x = double(ms.Tensor([1.0, 2.0]))
    assert x.device == "stablehlo:0"
    assert (x + 1).tolist() == [3.0, 5.0]
    x[0] = 7.0
    assert x.tolist() == [7.0, 4.0]
    assert ms.grad(lambda t: double(t).sum())(ms.Tensor([1.0])).tolist() == [2.0]
    moved = ms.Tensor([1.0]).move_to("stablehlo")
    assert (moved.device, moved.move_to("CPU").device) == ("stablehlo:0", "CPU:0")


def test_a_loop_on_tensors_is_compiled_for_another_back_end():
    needed("stablehlo")

    def collatz(n):
        turns = ops.zeros((), ms.int32)
        while n > 1:
            n = ops.select(n % 2 == 0, n // 2, 3 * n + 1)
            turns = turns + 1
        return turns

    for n in (1, 7, 27):
        want = ms.jit(collatz)(ms.Tensor(n))
        assert int(ms.jit(collatz, backend="stablehlo", fullgraph=True)(ms.Tensor(n))) == int(want)


def test_gradients_through_loops_of_any_length_on_another_back_end():
    needed("stablehlo")

    def roots(a):
        x = a
        while (ops.abs(x * x - a) / a).max() > 1e-5:
            x = 0.5 * (x + a / x)
        return x.sum()

    a = ms.Tensor([2.0, 3e8])
    got = ms.jit(ms.grad(roots), backend="stablehlo", fullgraph=True)(a)
    np.testing.assert_allclose(got.asnumpy(), ms.jit(ms.grad(roots))(a).asnumpy(), rtol=1e-4)


def test_recursion_names_the_line_and_the_way_out():
    needed("stablehlo")

    def power(x, n):
        if n < 1:
            return x
        return power(x * 2.0, n - 1)

    with pytest.raises(ms.errors.CompileError, match="recurse cannot be expressed in StableHLO"):
        ms.jit(power, backend="stablehlo")(ms.Tensor(1.0), ms.Tensor(3))


def test_one_function_serves_many_sizes_on_another_back_end():
    needed("stablehlo")
    softmax = ms.jit(lambda x: ops.softmax(x * 2.0, -1).sum(0), backend="stablehlo")
    native = ms.jit(lambda x: ops.softmax(x * 2.0, -1).sum(0))
    for rows in (3, 5, 8, 3, 13):
        x = ms.Tensor(np.random.default_rng(rows).standard_normal((rows, 4)).astype("f"))
        np.testing.assert_allclose(softmax(x).asnumpy(), native(x).asnumpy(), rtol=1e-6)


def test_a_size_that_comes_out_of_data_names_the_line():
    needed("stablehlo")
    with pytest.raises(ms.errors.CompileError, match="positions cannot be expressed in StableHLO"):
        ms.jit(lambda x: ops.nonzero(x).sum(), backend="stablehlo", fullgraph=True)(ms.Tensor([1.0, 0.0, 2.0]))
