"""What docs/differences.md says of Mycelia is so."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import ArgumentError, CaptureError
from mycelia.runtime.executable import Calls

STATE = {"list": [2.0], "array": np.array([1.0, 2.0], "f")}


def test_a_gradient_past_numpy_is_the_eager_one():
    def mixed(x):
        return (x * x).sum() + Tensor(np.tanh(x.asnumpy())).sum()

    assert ms.grad(ms.jit(mixed))(Tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert ms.grad(mixed)(Tensor([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_what_cannot_be_compiled_is_named_or_an_error():
    def mixed(x):
        return Tensor(np.tanh(x.asnumpy()))

    compiled = ms.jit(mixed)
    compiled(Tensor([0.0]))
    assert "x.asnumpy()" in compiled.explain()
    for settings in ({"fallback": False}, {"fullgraph": True}):
        with pytest.raises(CaptureError, match=r"x\.asnumpy\(\)"):
            ms.jit(mixed, **settings)(Tensor([0.0]))


def test_what_changes_outside_takes_effect():
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.k = 2

        def construct(self, x):
            return x * self.k

    net = Scaled()
    compiled = ms.jit(net)
    assert compiled(Tensor([1.0])).tolist() == [2.0]
    net.k = 5
    assert compiled(Tensor([1.0])).tolist() == [5.0]

    reading = ms.jit(lambda x: x * STATE["list"][0] + Tensor(STATE["array"]))
    assert reading(Tensor([1.0, 1.0])).tolist() == [3.0, 4.0]
    STATE["list"][0], STATE["array"][0] = 10.0, 5.0
    assert reading(Tensor([1.0, 1.0])).tolist() == [15.0, 12.0]


def test_a_number_that_changes_takes_one_more_program():
    times = ms.jit(lambda x, n: x * n)
    assert [times(Tensor([1.0]), n).item() for n in range(2, 9)] == [2, 3, 4, 5, 6, 7, 8]
    assert times.explain().count("one native call") == 2


def test_statements_that_python_has_run():
    @ms.jit
    def busy(x, kind):
        try:
            raise ValueError
        except ValueError:
            y = x * 2
        known = {1, 2}
        del known
        match kind:
            case "double":
                y = y * 2
        if (total := y.sum()) > 0:
            return y + total
        return y

    assert busy(Tensor([1.0]), "double").tolist() == [8.0]


def test_two_lambdas_on_one_line():
    up, down = ms.jit(lambda x: x + 1), ms.jit(lambda x: x - 1)
    assert (up(Tensor([1.0])).item(), down(Tensor([1.0])).item()) == (2.0, 0.0)


def test_a_batch_goes_different_ways():
    def halved(x):
        while x > 1:
            x = x / 2
        return x if x > 0 else -x

    for many in (ms.vmap(halved), ms.vmap(ms.jit(halved)), ms.jit(ms.vmap(halved))):
        assert many(Tensor([1.0, -2.0, 12.0])).tolist() == [1.0, 2.0, 0.75]


def test_a_long_loop_and_a_deep_recursion_differentiate_in_two_native_calls():
    def decay(x, n):
        i = 0
        while i < n:
            x = x * 0.999999
            i = i + 1
        return x

    def deep(x, n):
        return x if n < 1 else deep(x * 0.99999, n - 1)

    for program, turns, factor in ((decay, 1_000_000, 0.999999), (deep, 100_000, 0.99999)):
        gradient = ms.grad(ms.jit(program))
        gradient(Tensor(1.0), Tensor(3))
        before = Calls.count
        got = gradient(Tensor(1.0), Tensor(turns)).item()
        assert Calls.count - before == 2  # forward and backward
        np.testing.assert_allclose(got, np.float64(np.float32(factor)) ** turns, rtol=5e-2)


def test_rows_of_a_tensor_make_a_loop():
    @ms.jit
    def squares(x):
        total = x[0] * 0
        for row in x:
            total = total + row * row
        return total

    assert squares(Tensor(np.ones((500, 2), "f"))).tolist() == [500.0, 500.0]
    values = int(squares.explain().split("values: ")[1].split(",")[0])
    assert values < 20


def test_positions_out_of_range():
    x = Tensor([1.0, 2.0, 3.0])
    with pytest.raises(IndexError, match="5"):
        x[5]
    with pytest.raises(IndexError, match="5"):
        x[Tensor([5])]
    with pytest.raises(IndexError, match="9"):
        ops.gather(x, Tensor([-1, 9]), 0)
    assert ops.gather(x, Tensor([-1]), 0).tolist() == [3.0]
    with pytest.raises(IndexError, match="5"):
        ms.jit(lambda x, i: x[i])(x, Tensor([5]))
    with pytest.raises(IndexError, match="9"):
        ms.jit(lambda x, i: ops.gather(x, i, 0))(x, Tensor([-1, 9, -9]))


def test_integers_divided_by_zero():
    x, y = Tensor([1, 2]), Tensor([0, 2])
    assert (x // y).tolist() == ms.jit(lambda x, y: x // y)(x, y).tolist() == [0, 1]


def test_the_same_seed_gives_the_same_numbers_eagerly_and_compiled():
    def draw():
        return ops.rand(5)

    ms.set_seed(3)
    eager = draw()
    ms.set_seed(3)
    assert ms.jit(draw)().tolist() == eager.tolist()


def test_settings_without_a_counterpart_are_checked():
    with pytest.raises(ArgumentError, match="jit_level cannot be 'O9'"):
        ms.jit(lambda x: x, jit_level="O9")
    with pytest.raises(ArgumentError, match="device_target cannot be 'Ascend'"):
        ms.set_context(device_target="Ascend")
