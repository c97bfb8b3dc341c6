"""A profile tells what ran, for which line, and changes nothing."""

import json

import numpy as np
import pytest

import mycelia as ms
from mycelia import dataset, nn, ops
from mycelia.api.profiling import recording
from mycelia.errors import ArgumentError


@ms.jit
def step(x, y):
    z = x @ y
    return ops.softmax(z) * 2.0


def arguments():
    rng = np.random.default_rng(0)
    return tuple(ms.Tensor(rng.normal(size=(64, 64)).astype(np.float32)) for _ in range(2))


def test_every_step_is_timed_and_says_what_it_does_and_for_which_line():
    seen = step.profile(*arguments())
    (product,) = [s for s in seen.steps if s.kind == "library"]
    (kernel,) = [s for s in seen.steps if s.kind == "kernel"]
    assert product.products == 64**3
    assert product.lines == ("test_profile.py:16  z = x @ y",)
    assert {"exp", "max", "sum", "divide"} <= set(kernel.name.split(", "))
    assert all(line.startswith("test_profile.py:17") for line in kernel.lines)
    assert product.nbytes == 3 * 64 * 64 * 4
    assert all(s.runs == seen.calls >= 2 and s.seconds > 0 for s in seen.steps)
    assert abs(sum(line.share for line in seen.lines) - 1) < 1e-6
    assert {line.line.split("  ")[0] for line in seen.lines} == {"test_profile.py:16", "test_profile.py:17"}


def test_it_gives_the_same_numbers_while_it_is_measured():
    x, y = arguments()
    expected = step(x, y).asnumpy()
    with recording() as heard:
        got = step(x, y).asnumpy()
    assert len(heard.calls) == 1
    np.testing.assert_array_equal(got, expected)
    with recording():
        pass
    np.testing.assert_array_equal(step(x, y).asnumpy(), expected)


def test_steps_inside_of_loops_are_counted():
    @ms.jit
    def powers(x, n):
        while n > 0:
            x = x * 1.5
            n = n - 1
        return x

    seen = powers.profile(ms.Tensor([1.0, 2.0]), ms.Tensor(7))
    loop = next(s for s in seen.steps if s.outermost and s.kind == "control")
    inside = [s for s in seen.steps if not s.outermost]
    assert any(s.runs == 7 * seen.calls for s in inside)
    assert all(s.seconds <= loop.seconds for s in inside)


def test_without_arguments_nothing_that_anybody_holds_changes():
    net = nn.Dense(3, 2)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    @ms.jit
    def train(x):
        loss, grads = grad_fn(x)
        optimizer(grads)
        return loss

    train(ops.ones((2, 3)))
    before = [p.asnumpy().copy() for p in net.get_parameters()]
    assert train.profile().calls >= 2
    for p, old in zip(net.get_parameters(), before, strict=True):
        np.testing.assert_array_equal(p.asnumpy(), old)
    train.profile(ops.ones((2, 3)))  # which calls it
    assert any((p.asnumpy() != old).any() for p, old in zip(net.get_parameters(), before, strict=True))


def test_a_function_that_was_not_called_cannot_be_measured_without_arguments():
    with pytest.raises(ArgumentError, match="no program to measure"):
        ms.jit(lambda x: x + 1).profile()


def test_two_at_a_time_are_refused_and_the_first_goes_on():
    with recording() as heard:
        with pytest.raises(ArgumentError, match="being measured already"), recording():
            pass
        step(*arguments())
    assert len(heard.calls) == 1


def test_a_gradient_around_is_measured_in_two_parts():
    x, y = arguments()
    with recording() as heard:
        ms.grad(lambda x: step(x, y).sum())(x)
    assert len(heard.calls) == 2


def test_a_size_that_changes_is_measured():
    @ms.jit
    def total(x):
        return (x * 2.0).sum()

    for n in (3, 4, 5):
        total(ops.ones((n, 3)))
    assert total.profile(ops.ones((9, 3))).steps
    assert total.profile().steps


def test_waits_for_data_are_told():
    rows = dataset.NumpySlicesDataset(np.zeros((4, 2), np.float32), shuffle=False).batch(2)
    with recording() as heard:
        for (x,) in rows.create_tuple_iterator(num_epochs=1):
            step.__captured__(x @ ops.ones((2, 2)), ops.ones((2, 2)))
    assert [s.kind for s in heard.spans] == ["input"] * 3  # two batches, and that there is no third


def test_the_trace_is_that_of_chrome_and_the_page_needs_nothing_else(tmp_path):
    seen = step.profile(*arguments())
    events = json.loads((tmp_path / "x.json").read_text() if seen.save(str(tmp_path / "x.json")) else "")["traceEvents"]
    calls = [e for e in events if e["cat"] == "call"]
    assert len(calls) == seen.calls
    for e in events:
        assert {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"} == set(e)
        assert e["ph"] == "X"
    inner = [e for e in events if e["cat"] in ("kernel", "library")]
    assert len(inner) == 2 * seen.calls
    assert all(any(c["ts"] <= e["ts"] for c in calls) for e in inner)
    page = (tmp_path / "x.html").read_text() if seen.save(str(tmp_path / "x.html")) else ""
    assert page.startswith("<!doctype html>")
    assert "http" not in page
    assert "x @ y" in page
    with pytest.raises(ArgumentError, match=r"\.json or an \.html"):
        seen.save(str(tmp_path / "x.txt"))
