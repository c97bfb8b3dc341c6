"""Threads that capture, train and read the same parameters: as if one did it after the other."""

import functools
import sys
import threading
import time

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.api import interpreted, native
from mycelia.runtime.turn import Turn

SIZE = 1 << 16  # a step takes long enough to be met in the middle


@pytest.fixture(autouse=True)
def busy():
    """Threads take turns often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def together(*runs):
    """Run these at the same time, and give what they gave; raise what they raised."""
    found, errors = [None] * len(runs), []

    def one(i):
        try:
            found[i] = runs[i]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(len(runs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=300)
        assert not t.is_alive(), "a thread does not come to its end"
    if errors:
        raise errors[0]
    return found


def until(seconds, turn):
    """How often a turn fits into this time."""

    def run():
        end, n = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            turn()
            n += 1
        return n

    return run


def train_and_read(seconds):
    """Two threads train by whole numbers, which do not depend on the order; the others capture and read."""
    w, steps = Parameter(np.zeros(SIZE, "f"), name="w"), Parameter(Tensor(0), name="steps")
    twin = Parameter(np.zeros(SIZE, "f"), name="twin")

    @ms.jit
    def step(x):
        w.set_data(w + x)
        twin.set_data(twin + x)
        steps.set_data(steps + 1)
        return w.sum()

    @ms.jit
    def compare():
        return ops.abs(w - twin).max(), w.max() - w.min()

    one, waits = Tensor(np.ones(SIZE, "f")), []

    def whole(data):
        assert data.min() == data.max(), (data.min(), data.max())

    def capture():
        k = time.monotonic()
        assert ms.jit(lambda x: x * k + w.shape[0])(Tensor([1.0])).shape == (1,)

    def arrays():
        before = time.monotonic()
        data = w.asnumpy()
        waits.append(time.monotonic() - before)
        whole(data)

    def eager():
        whole((w * 2 + 0).asnumpy())
        whole(w[5:].asnumpy())
        kept = w.value()
        first = kept.asnumpy()
        whole(first)
        assert np.array_equal(first, kept.asnumpy())

    def compiled():
        apart, spread = compare()
        assert apart.item() == 0.0
        assert spread.item() == 0.0

    runs = [until(seconds, turn) for turn in (lambda: step(one), lambda: step(one), capture, capture, arrays, arrays,
                                              eager, compiled)]  # fmt: skip
    done = together(*runs)
    assert all(done)
    assert steps.item() == done[0] + done[1]
    assert (w.asnumpy() == steps.item()).all()
    return done, waits


def test_eight_threads_equal_one_after_the_other():
    train_and_read(3.0)


@pytest.mark.slow
def test_eight_threads_for_a_minute():
    train_and_read(60.0)


def test_a_view_that_is_taken_while_another_thread_writes_sees_every_write():
    sys.setswitchinterval(1e-6)
    w, ended = Parameter(np.zeros(16, "f"), name="w"), threading.Event()

    def write():
        n = 0
        while not ended.is_set() or n == 0:
            w.set_data(Tensor(np.full(16, n := n + 1, "f")))
        return n

    def take(part):
        try:
            return [part() for _ in range(1500)]
        finally:
            ended.set()

    parts = [lambda: w[5:], lambda: w[5:], lambda: w.T, lambda: w.reshape(4, 4)]
    n, *views = together(write, *(functools.partial(take, part) for part in parts))
    assert {v.max().item() for part in views for v in part} == {float(n)}


@pytest.mark.parametrize("where", ["capture", "compile"])
def test_a_reader_waits_for_no_capture(monkeypatch, where):
    w = Parameter(np.ones(8, "f"), name="w")
    read = ms.jit(lambda: w.sum())
    assert read().item() == 8.0
    inside, go_on = threading.Event(), threading.Event()
    module, name = (interpreted, "capture") if where == "capture" else (native, "executor")
    real = getattr(module, name)

    def slow(*args, **kwargs):
        if threading.current_thread() is thread:
            inside.set()
            assert go_on.wait(60)
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, slow)
    found = []

    def step(x):
        w.set_data(w + x)
        return w.sum()

    thread = threading.Thread(target=lambda: found.append(ms.jit(step)(Tensor(np.ones(8, "f")))), daemon=True)
    thread.start()
    assert inside.wait(60)
    try:
        assert w.asnumpy().sum() == 8.0
        assert (w + 1).tolist() == [2.0] * 8
        assert read().item() == 8.0
        assert ms.jit(lambda: w.mean())().item() == 1.0
    finally:
        go_on.set()
        thread.join(60)
    assert found[0].item() == 16.0


def test_gradients_of_one_network_in_many_threads():
    ms.set_seed(0)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
    weights = net.trainable_params()
    inputs = [Tensor(np.random.default_rng(i).normal(size=(3, 4)).astype("f")) for i in range(6)]

    def slopes(x):
        return [g.asnumpy() for g in ms.grad(lambda x: net(x).sum(), None, weights)(x)]

    alone = [slopes(x) for x in inputs]
    for _ in range(10):
        found = together(*(lambda x=x: slopes(x) for x in inputs), *(lambda x=x: net(x).asnumpy() for x in inputs))
        for a, b in zip(alone, found, strict=False):
            assert all(np.array_equal(p, q) for p, q in zip(a, b, strict=True))
        assert all(w._tape is None for w in weights)


def test_several_threads_train_one_network_with_an_optimizer():
    net = nn.Dense(3, 1, weight_init="zeros", bias_init="zeros")
    optimizer = nn.SGD(net.trainable_params(), learning_rate=1.0)

    @ms.jit
    def step(x):
        optimizer(ms.grad(lambda x: net(x).sum(), None, optimizer.parameters)(x))

    x = Tensor([[1.0, 2.0, -1.0]])  # the slope does not depend on the weights
    together(*(lambda: [step(x) for _ in range(50)] for _ in range(4)))
    assert net.weight.tolist() == [[-200.0, -400.0, 200.0]]
    assert net.bias.tolist() == [-200.0]


def test_training_with_sizes_that_change_in_several_threads():
    w = Parameter([0.0], name="w")

    @ms.jit
    def step(x):
        w.set_data(w + x.shape[0] * 0 + x.sum().reshape(1))

    together(*(lambda: [step(Tensor(np.ones(n, "f"))) for n in range(2, 12)] for _ in range(4)))
    assert w.tolist() == [4.0 * sum(range(2, 12))]


def order_of(turn, asked):
    """Who gets a turn that is somebody else's, one after the other, when they have asked for it in this order."""
    order = []

    def take(i, mine):
        with mine:
            order.append(i)

    threads = [threading.Thread(target=take, args=(i, mine), daemon=True) for i, mine in enumerate(asked)]
    with turn:
        for i, t in enumerate(threads):
            t.start()
            latest = time.monotonic() + 10
            while len(turn._waiting) + len(turn._ahead) <= i:
                assert time.monotonic() < latest, "a thread does not wait for its turn"
                time.sleep(0.001)
    for t in threads:
        t.join(10)
    assert not turn.mine()
    return order


def test_the_turn_goes_to_whoever_waited_longest():
    turn = Turn()
    assert order_of(turn, [turn] * 4) == [0, 1, 2, 3]
    assert order_of(turn, [turn.reading] * 4) == [0, 1, 2, 3]


def test_who_changes_nothing_goes_ahead():
    turn = Turn()
    assert order_of(turn, [turn, turn, turn.reading, turn, turn.reading]) == [2, 4, 0, 1, 3]


def test_who_comes_while_others_pass_does_not_pass():
    turn, order = Turn(), []

    def take(name, mine, until=0):
        with mine:
            while until and len(turn._ahead) < until:
                time.sleep(0.001)
            order.append(name)

    asked = [("step", turn), ("first", turn.reading, 1), ("second", turn.reading)]
    threads = [threading.Thread(target=take, args=args, daemon=True) for args in asked]
    with turn:
        for i, t in enumerate(threads[:2]):
            t.start()
            latest = time.monotonic() + 10
            while len(turn._waiting) + len(turn._ahead) <= i:
                assert time.monotonic() < latest, "a thread does not wait for its turn"
                time.sleep(0.001)
    while turn._ahead:
        time.sleep(0.001)
    threads[2].start()
    for t in threads:
        t.join(10)
    assert order == ["first", "step", "second"]


def test_a_turn_is_taken_again_by_whoever_has_it():
    turn = Turn()
    with turn.reading, turn, turn.reading:
        assert turn.mine()
    assert not turn.mine()
