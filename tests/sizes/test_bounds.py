"""What is compiled for sizes stays bounded: one warning, programs let go, no more memory; explain() tells."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.api import ways
from mycelia.capture.sizing import WARNED
from mycelia.runtime.executable import Executable
from tests.sizes.running import counted


def rows(n: int, width: int = 3) -> Tensor:
    return Tensor(np.ones((n, width), "float32"))


def unrolled(x):
    out = [x[0]]
    for i in range(x.shape[0]):
        out.append(out[-1] + x[i] * i)
    return out[-1]


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def executables() -> int:
    gc.collect()
    return sum(isinstance(x, Executable) for x in gc.get_objects())


def test_many_shapes_of_a_function_that_needs_numbers_warn_once_with_the_line() -> None:
    f = ms.jit(unrolled)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(2, 2 + 2 * WARNED):
            f(rows(n))
    said = [w for w in caught if issubclass(w.category, RuntimeWarning)]
    assert len(said) == 1
    text = str(said[0].message)
    assert f"unrolled, compiled again: it has been compiled for {WARNED} different shapes" in text
    assert "axis 0 of argument 0" in text
    assert "range(x.shape[0])" in text
    assert said[0].filename == __file__


def test_explain_shows_guards_and_which_sizes_are_numbers() -> None:
    f = ms.jit(unrolled)
    for n in (4, 5, 6):
        f(rows(n))
    line = next(line for line in f.explain().splitlines() if "is a number" in line)
    assert "axis 0 of argument 0" in line
    assert "for i in range(x.shape[0])" in line

    def compared(x):
        return x * 2 if x.shape[0] > 5 else x * 3

    g = ms.jit(compared)
    for n in (8, 9, 10, 3):
        g(rows(n))
    text = g.explain()
    assert "for sizes where s0 >= 2, -5 + s0 > 0" in text
    assert "-5 + s0 <= 0" in text
    assert text.count("f32[s0, 3]) ->") == 2  # many shapes share a program, which is shown once


def test_programs_that_were_not_used_for_long_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "KEPT", 8)
    f = ms.jit(unrolled)
    before = executables()
    f(rows(2))
    for n in range(3, 15):
        f(rows(n))
        with counted() as found:
            f(rows(2))  # it is used all the time, so it stays
        assert not found
    assert executables() - before <= 9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unrolled, compiled again")
def test_five_hundred_shapes_of_a_function_that_must_specialise_stay_bounded() -> None:
    f = ms.jit(unrolled)
    before = executables()
    sizes = []
    for i in range(500):
        f(rows(2 + i % 5, 1 + i // 5))
        if i in (250, 499):
            gc.collect()
            sizes.append(resident())
    assert executables() - before <= ways.KEPT + 1
    assert sizes[1] - sizes[0] < 64 << 20


@pytest.mark.slow
def test_memory_is_flat_over_a_thousand_sizes_of_a_generic_program() -> None:
    net = nn.SequentialCell(nn.Dense(3, 32), nn.ReLU(), nn.Dense(32, 4))
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    gradient = ms.value_and_grad(lambda x: ops.softmax(net(x)).max(), None, optimizer.parameters)

    @ms.jit
    def step(x):
        value, gradients = gradient(x)
        optimizer(gradients)
        return value

    with counted() as found:
        for i, n in enumerate(np.random.default_rng(0).permutation(np.arange(2, 1402))):
            step(rows(n))
            if i == 400:  # what is kept of sizes is full by now
                gc.collect()
                before = resident()
        gc.collect()
    assert len(found) <= 3
    assert resident() - before < 16 << 20


def test_numbers_beside_sizes_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "KEPT", 8)
    f = ms.jit(lambda x, flag: x * 2 if flag else x)
    for n in range(20):
        f(rows(3), str(n))
    assert sum(len(found.ways) for found in f._interpreted.ways.values()) <= 8
