"""Steps of optimizers as operations, beside MindSpore's (recorded/record_updates.py)."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia.errors import MyceliaError

HERE = Path(__file__).parent / "recorded"
SPEC = importlib.util.spec_from_file_location("update_cases", HERE / "update_cases.py")
cases = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(cases)
RECORDED = json.loads((HERE / "updates.json").read_text())


@pytest.mark.parametrize("name", RECORDED)
def test_two_steps_leave_the_parameters_where_mindspore_leaves_them(name):
    held, given = cases.run(ms, name)
    np.testing.assert_allclose(held, RECORDED[name], rtol=2e-6, atol=2e-7)
    assert given == held[-1][: len(given)]


@pytest.mark.parametrize("kind", ["", " nesterov"])
def test_momentum_that_holds_the_rate_goes_the_same_way(kind):
    """MindSpore has no such kernel for this processor; while the rate stays, both rules are one."""
    mine, other = (cases.run(ms, name)[0] for name in (f"ApplyKerasMomentum{kind}", f"ApplyMomentum{kind} from rest"))
    for (w, a), (v, b) in zip(mine, other, strict=True):
        np.testing.assert_allclose(w, v, rtol=1e-6)
        np.testing.assert_allclose(a, np.multiply(b, -0.1), rtol=1e-6)


def test_settings_that_mindspores_processor_ignores():
    half, whole = (np.subtract(cases.run(ms, f"ApplyMomentum {n}")[0], [[cases.W, cases.ZEROS]] * 2)
                   for n in ("scaled", "from rest"))  # fmt: skip
    np.testing.assert_allclose(half * 2, whole, rtol=1e-5, atol=1e-7)
    ((w, a), _), _ = cases.run(ms, "ApplyAdagrad kept")
    np.testing.assert_allclose(a, cases.SMALL)
    np.testing.assert_allclose(w, np.subtract(cases.W, 0.1 * np.array(cases.G) / np.sqrt(cases.SMALL)), rtol=1e-6)
    ((w, m, _), _), _ = cases.run(ms, "Adam nesterov")
    ((plain, *_), _), _ = cases.run(ms, "Adam")
    ahead = (0.9 * np.array(m) + 0.1 * np.array(cases.G)) / np.array(m)  # of the mean that Adam goes by
    np.testing.assert_allclose(np.subtract(w, cases.W), ahead * np.subtract(plain, cases.W), rtol=1e-5)


def test_a_step_is_a_part_of_a_compiled_program():
    w, a = (ms.Parameter(ms.Tensor(x, ms.float32), name=n) for x, n in ((cases.W, "w"), (cases.SMALL, "a")))
    step = ms.ops.ApplyMomentum()

    @ms.jit
    def train(g):
        return step(w, a, 0.1, g, 0.9)

    train(ms.Tensor(cases.G, ms.float32))
    train(ms.Tensor(cases.G, ms.float32))
    np.testing.assert_allclose(w.asnumpy(), RECORDED["ApplyMomentum"][1][0], rtol=2e-6)
    np.testing.assert_allclose(a.asnumpy(), RECORDED["ApplyMomentum"][1][1], rtol=2e-6)


def test_attributes_that_change_nothing_are_refused():
    with pytest.raises(MyceliaError, match="use_locking of ApplyFtrl is"):
        ms.ops.ApplyFtrl(use_locking=True)
