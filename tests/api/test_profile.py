"""A profile tells what ran, for which line, and changes nothing."""

import json
import re
import warnings

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, dataset, jit, nn, ops
from mycelia.api import profiling
from mycelia.api.profile_page import timeline
from mycelia.api.profiling import StepTime, recording
from mycelia.errors import ArgumentError, Location
from mycelia.runtime.clocked import AboutProgram, AboutStep, ClockedCall


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
    assert product.lines == ("test_profile.py:21  z = x @ y",)
    assert {"exp", "max", "sum", "divide"} <= set(kernel.name.split(", "))
    assert all(line.startswith("test_profile.py:22") for line in kernel.lines)
    assert product.nbytes == 3 * 64 * 64 * 4
    assert all(s.runs == seen.calls >= 2 and s.seconds > 0 for s in seen.steps)
    assert abs(sum(line.share for line in seen.lines) - 1) < 1e-6
    assert {line.line.split("  ")[0] for line in seen.lines} == {"test_profile.py:22", "test_profile.py:21"}


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


def test_the_page_says_which_steps_run_inside_of_others(tmp_path):
    @ms.jit
    def powers(x, n):
        while n > 0:
            x, n = ops.sin(x), n - 1
        return x

    seen = powers.profile(Tensor(np.ones(8, np.float32)), Tensor(3))
    inside = [s for s in seen.steps if not s.outermost]
    seen.save(str(tmp_path / "x.html"))
    page, short = (tmp_path / "x.html").read_text(), step.profile(*arguments())
    assert len(inside) > 0
    assert page.count(" (inside)") == len(inside) < len(seen.steps)
    short.save(str(tmp_path / "y.html"))
    assert " (inside)" not in (tmp_path / "y.html").read_text()


def test_what_moves_faster_than_memory_came_out_of_a_cache():
    def took(products, share):
        return StepTime("p", "s", "kernel", (), 1, 1.0, products, 8, share, True)

    assert [took(0, 0.5).of_peak, took(0, 6.4).of_peak, took(3, 1.01).of_peak] == ["50.0%", "cached", "101.0%"]


def test_clocks_that_are_known_give_times_that_are_known(monkeypatch, tmp_path):
    """Two calls of two steps, on two threads: a cycle is half a nanosecond."""
    monkeypatch.setattr(profiling, "bandwidth", lambda: 4e9)
    here = Location("a.py", 3)
    steps = (
        AboutStep("product", "library", (here,), 600, 40, True),
        AboutStep("sum", "kernel", (here, Location("a.py", 4)), 0, 8000, True),
        AboutStep("never", "kernel", (), 0, 8, True),
    )
    program = AboutProgram("f", steps)

    def call(begin: int) -> ClockedCall:
        clock = [[2 * begin + 20, 4000, 2], [2 * begin + 4020, 8000, 1], [0, 0, 0]]
        return ClockedCall(program, begin, begin + 6100, np.array(clock, np.int64), 64)

    heard = profiling.ProfileRecording([call(1000), call(2_001_000)], [], 0, 3_000_000, [1, 2])
    seen = profiling.TimeProfile(heard)
    assert (seen.cycle, seen.calls, seen.memory) == (0.5, 2, 64)
    np.testing.assert_allclose([seen.seconds, seen.wall], [12.2e-6, 3e-3])
    lanes = profiling.options().threads * profiling.options().target.vector_bytes / 4
    np.testing.assert_allclose(seen.peak.products, 2 * lanes * 2e9)
    by_name = {s.name: s for s in seen.steps}
    assert set(by_name) == {"product", "sum"}
    product, total = by_name["product"], by_name["sum"]
    np.testing.assert_allclose([product.seconds, total.seconds], [4e-6, 8e-6])
    assert (product.runs, total.runs) == (4, 2)
    np.testing.assert_allclose([product.share, total.share], [600e6 / seen.peak.products, 8000 * 2 / 8e-6 / 4e9])
    np.testing.assert_allclose([x.seconds for x in seen.lines], [8e-6, 4e-6])  # the sum is for both, half and half
    np.testing.assert_allclose([x.share for x in seen.lines], [2 / 3, 1 / 3])
    events = seen.trace()["traceEvents"]
    assert [(e["name"], e["ts"], e["dur"], e["tid"]) for e in events] == [
        ("f", 1.0, 6.1, 1), ("product", 1.0, 2.0, 1), ("sum", 3.0, 4.0, 1),
        ("f", 2001.0, 6.1, 2), ("product", 2001.0, 2.0, 2), ("sum", 2003.0, 4.0, 2),
    ]  # fmt: skip
    picture = timeline(events)  # as wide as 1000
    places = [tuple(map(float, found)) for found in re.findall(r"<rect x='(.*?)' y='(.*?)' width='(.*?)'", picture)]
    whole = 2006.1
    np.testing.assert_allclose(
        places,
        [(1000 * (e["ts"] - 1) / whole, y, max(1000 * e["dur"] / whole, 0.3))
         for e, y in zip(events, (2, 24, 24, 46, 68, 68), strict=True)],
        atol=0.006,
    )  # fmt: skip
    seen.save(str(tmp_path / "a" / "b" / "x.json"))  # folders are made
    assert json.loads((tmp_path / "a" / "b" / "x.json").read_text())["traceEvents"] == events
    assert profiling.ProfileRecording([call(1000)], [], 0, 1, [1]).cycle() == 6100 / 12000
    assert profiling.ProfileRecording([], [], 0, 1).cycle() == 0


@pytest.mark.parametrize(
    "of",
    [
        lambda x: ops.abs(ops.Complex()(x, x) * 2j).sum(),
        lambda x: x[x > 1].sum(),
        lambda x: x[ops.Complex()(x, x) != 0],
    ],
)
def test_complex_numbers_and_sizes_from_data_are_measured_as_machine_code(of):
    fast = jit(of)
    x = Tensor(np.arange(5, dtype="f"))
    expected = fast(x).asnumpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that it is interpreted, say
        found = fast.profile(x)
    assert found.steps
    assert any(step.kind == "kernel" for step in found.steps)
    assert np.array_equal(fast(x).asnumpy(), expected)
