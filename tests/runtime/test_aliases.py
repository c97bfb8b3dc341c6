"""Arrays that share memory: what a program updates in place is seen by nobody who did not ask for it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia import primitives as p
from mycelia.ir import Function
from mycelia.runtime import results
from mycelia.runtime.results import SMALL, empty, maker
from mycelia.testing import compile
from mycelia.types import TensorType, float32

X = TensorType(float32, (6,))


def rotated(x, y, z):
    """The first takes over `x`; it reads the others from behind, so that writing too early shows."""
    return x + p.flip(y, (0,)), y * p.flip(z, (0,))


FN = Function.build(rotated, X, X, X)
PATTERNS = ["xyz", "xxz", "xyx", "xyy", "xxx", "yxz", "yyx", "zzy", "xyz", "xxx", "yxy"]


def test_an_array_given_twice_is_read_as_it_was():
    """One program, called again and again with arrays that are the same in every pattern."""
    run = compile(FN, {0: 0})
    rng = np.random.default_rng(0)
    for pattern in PATTERNS * 2:
        arrays = {name: rng.normal(size=6).astype("f") for name in "xyz"}
        given = [arrays[name] for name in pattern]
        x, y, z = (a.copy() for a in given)
        first, second = run(*given)
        np.testing.assert_array_equal(first, x + y[::-1], pattern)
        np.testing.assert_array_equal(second, y * z[::-1], pattern)
        assert first is given[0]


def test_the_same_objects_in_changing_places_are_looked_at_again():
    run = compile(FN, {0: 0})
    arrays = {name: np.arange(6, dtype="f") + 10 * i for i, name in enumerate("xyz")}
    for pattern in PATTERNS * 3:
        given = [arrays[name] for name in pattern]
        x, y, z = (a.copy() for a in given)
        first, second = run(*given)
        np.testing.assert_array_equal(first, x + y[::-1], pattern)
        np.testing.assert_array_equal(second, y * z[::-1], pattern)
        for a in arrays.values():
            a %= 17.0


def test_two_results_that_take_over_two_arrays_may_cross():
    run = compile(Function.build(lambda x, y: (y + 1.0, x * 2.0), X, X), {0: 0, 1: 1})
    x, y = np.arange(6, dtype="f"), np.arange(6, dtype="f") * 3
    first, second = run(x, y)
    assert first is x
    assert second is y
    np.testing.assert_array_equal(first, np.arange(6) * 3 + 1)
    np.testing.assert_array_equal(second, np.arange(6) * 2)


HOLDERS = {
    "an array of NumPy": lambda w: w.asnumpy(),
    "a view": lambda w: w[1:4],
    "a view of a view": lambda w: w[1:5][1:],
    "a reshaped one": lambda w: w.reshape(2, 3),
    "itself under another name": lambda w: w,
    "a copy": lambda w: w.copy(),
    "a tensor over it": lambda w: Tensor.from_numpy(w.asnumpy()),
    "a sum": lambda w: w + 0.0,
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_whoever_holds_a_parameter_sees_the_same_eagerly_and_compiled(holder):
    def history(run):
        w = Parameter(np.arange(6, dtype="f"), name="w")

        def step(x):
            ops.assign(w, w * 2 + x)
            return w.sum()

        compiled, seen = run(step), []
        for i in range(4):
            held = HOLDERS[holder](w)
            total = compiled(Tensor(float(i)))
            seen += [float(total), np.array(held).tolist(), w.asnumpy().tolist()]
        return seen

    assert history(ms.jit) == history(lambda f: f)


def test_memory_of_results_is_used_again_only_when_nobody_holds_it():
    """Large results, of which some are kept, some only as a view, and some not at all."""
    n = SMALL
    run = compile(Function.build(lambda x: x * 2.0 + 1.0, TensorType(float32, (n,))))
    kept = {}
    for i in range(12):
        (y,) = run(np.full(n, i, "f"))
        if i % 3 == 0:
            kept[i] = y
        elif i % 3 == 1:
            kept[i] = y[5:9]
        del y
        for k, held in kept.items():
            assert (held == 2 * k + 1).all()


@pytest.mark.parametrize("nbytes", [4, SMALL - 4, SMALL, SMALL + 4, (1 << 20) - 4, 1 << 20, (1 << 20) + 4, 5 << 20])
def test_room_for_results_is_as_large_as_it_must_be_and_goes_back(nbytes, monkeypatch):
    monkeypatch.setattr(results._Pool, "idle", {})
    monkeypatch.setattr(results._Pool, "bytes", 0)
    t, pool = TensorType(float32, (nbytes // 4,)), results._Pool
    for make in (lambda: empty(t), maker(t)):
        first, second = make(), make()
        assert first.nbytes == second.nbytes == nbytes
        assert not np.shares_memory(first, second)
        first[:], second[:] = 1, 2
        assert (first == 1).all()
        if nbytes < SMALL:
            continue
        assert pool.bytes == sum(size * len(rooms) for size, rooms in pool.idle.items())
        place, before = first.ctypes.data, pool.bytes
        assert place % results.ALIGN == 0
        del first
        assert nbytes <= pool.bytes - before < 2 * nbytes + 1
        assert make().ctypes.data == place


def test_memory_that_lies_idle_is_bounded(monkeypatch):
    monkeypatch.setattr(results._Pool, "idle", {})
    monkeypatch.setattr(results._Pool, "bytes", 0)
    monkeypatch.setattr(results, "KEPT", 3 * SMALL)
    arrays = [empty(TensorType(float32, (SMALL // 4,))) for _ in range(5)]
    del arrays
    assert results._Pool.bytes == 3 * SMALL
    assert [len(rooms) for rooms in results._Pool.idle.values()] == [3]


def test_tied_parameters_are_one_parameter():
    """One matrix reads words and tells them: its gradient is the sum of both, and it moves once."""

    class Tied(nn.Cell):
        def __init__(self):
            super().__init__()
            start = np.random.default_rng(0).normal(size=(5, 4)).astype("f")
            self.table = Parameter(start, name="table")
            self.out = nn.Dense(4, 5, has_bias=False)
            self.out.weight = self.table

        def construct(self, words):
            return self.out(ops.tanh(ops.gather(self.table, words, 0)))

    words, labels = Tensor([0, 3, 3, 1]), Tensor([1, 2, 0, 4])

    def trained(how):
        net = Tied()
        assert len(net.trainable_params()) == 1
        loss, rule = nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)
        forward = ms.value_and_grad(lambda x, y: loss(net(x), y), None, rule.parameters)

        def step(x, y):
            value, grads = forward(x, y)
            rule(grads)
            return value

        run = how(step)
        losses = [float(run(words, labels)) for _ in range(4)]
        assert net.out.weight is net.table
        return losses, net.table.asnumpy()

    eager, compiled = trained(lambda f: f), trained(ms.jit)
    np.testing.assert_allclose(eager[0], compiled[0], rtol=1e-5)
    np.testing.assert_allclose(eager[1], compiled[1], rtol=1e-4, atol=1e-6)

    apart = Tied()  # as two parameters with equal numbers
    separate = Parameter(apart.table.asnumpy().copy(), name="separate")
    apart.out.weight = separate
    loss = nn.CrossEntropyLoss()
    first, second = ms.grad(lambda x, y: loss(apart(x), y), None, [apart.table, separate])(words, labels)
    together = Tied()
    (both,) = ms.grad(lambda x, y: loss(together(x), y), None, together.trainable_params())(words, labels)
    np.testing.assert_allclose(both.asnumpy(), first.asnumpy() + second.asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_program_that_is_dropped_lets_its_arrays_go():
    run = compile(Function.build(lambda x: x + 1.0, X))
    x = np.zeros(6, "f")
    watch = weakref.ref(x)
    run(x)
    run(x)
    del x
    gc.collect()
    assert watch() is None


def test_an_interrupted_call_leaves_nothing_of_its_arguments_behind(monkeypatch):
    run = compile(Function.build(lambda x, y: x * 10.0 + y, X, X))
    x, y = np.ones(X.shape, np.float32), np.full(X.shape, 2, np.float32)
    assert (run(x, y)[0] == 12).all()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("numpy.ascontiguousarray", interrupted)  # which copies the second, when the first is in its place
        with pytest.raises(KeyboardInterrupt):
            run(x + 4, np.repeat(y, 2, -1)[..., ::2])
    assert (run(x, y)[0] == 12).all()
