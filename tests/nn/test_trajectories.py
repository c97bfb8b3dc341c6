"""Optimizers go where MindSpore's went: fifty steps, eager and compiled. Those that it has for other devices only go
where the formulas of their papers go.
"""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn
from tests.each import each

HERE = Path(__file__).parent / "recorded"
sys.path.insert(0, str(HERE))
try:
    cells, trajectories = importlib.import_module("cells"), importlib.import_module("trajectories")
finally:
    sys.path.remove(str(HERE))
RECORDED = cells.load(HERE / "trajectories.npz")
BY_TORCH = cells.load(HERE / "trajectories_torch.npz")


def compare(name, answers, compiled, steps=50):
    got = trajectories.run(ms, name, compiled, steps)
    assert len(got) == 2 * sum(shown <= steps for shown in trajectories.SHOWN)
    for ours, theirs in zip(got, answers[name], strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())


def eagerly(f):
    return f


ONE_OF_EACH = {trajectories.OPTIMIZERS[name][0]: name for name in RECORDED if name.count(".") != 2}


def test_fifty_steps_are_those_of_mindspore():
    each(compare, [(name, (name, RECORDED, eagerly)) for name in RECORDED if name.count(".") != 2])


def test_fifty_compiled_steps_are_those_of_mindspore():
    each(compare, [(name, (name, RECORDED, ms.jit)) for name in ONE_OF_EACH.values()])


def test_ten_steps_with_every_setting_are_those_of_mindspore_and_pytorch():
    for answers in (RECORDED, BY_TORCH):
        each(compare, [(name, (name, answers, eagerly, 10)) for name in answers if name.count(".") == 2])


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [eagerly, ms.jit], ids=["eager", "compiled"])
def test_fifty_steps_with_every_setting_are_those_of_mindspore_and_pytorch(compiled):
    for answers in (RECORDED, BY_TORCH):
        each(compare, [(name, (name, answers, compiled)) for name in answers])


def descent(make, step, steps=20):
    """Weights and biases after some steps of ours, and of a rule in NumPy on float64."""
    w, b = trajectories.numbers(4, 3), trajectories.numbers(3, seed=1)
    ours = [ms.Parameter(ms.Tensor(a), name=name) for a, name in ((w, "w"), (b, "some.bias"))]
    optimizer = make(ours)
    theirs = [[a.astype(np.float64), {}] for a in (w, b)]
    for t in range(1, steps + 1):
        grads = [trajectories.numbers(*a.shape, seed=100 + t) for a in (w, b)]
        optimizer(tuple(ms.Tensor(g) for g in grads))
        for i, g in enumerate(grads):
            theirs[i][0] = step(i, theirs[i][0], g.astype(np.float64), theirs[i][1], t)
    for mine, (theirs_, _) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.asnumpy(), theirs_, rtol=2e-5, atol=1e-5)


def test_lamb_is_adam_with_steps_as_long_as_the_weights():
    def step(i, w, g, state, t):
        m = state["m"] = 0.9 * state.get("m", 0) + 0.1 * g
        v = state["v"] = 0.999 * state.get("v", 0) + 0.001 * g * g
        u = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-6) + 0.1 * w
        return w - 0.02 * np.linalg.norm(w) / np.linalg.norm(u) * u

    descent(lambda params: nn.Lamb(params, 0.02, weight_decay=0.1), step)


def test_ftrl_draws_weights_to_zero_by_l1():
    def step(i, w, g, state, t):
        before = state.get("n", 0.1)
        n = state["n"] = before + g * g
        z = state["z"] = state.get("z", 0) + g - (np.sqrt(n) - np.sqrt(before)) / 0.1 * w
        return np.where(np.abs(z) > 0.05, -(z - np.sign(z) * 0.05) / (np.sqrt(n) / 0.1 + 2 * 0.2), 0.0)

    descent(lambda params: nn.FTRL(params, learning_rate=0.1, l1=0.05, l2=0.2), step)


@pytest.mark.parametrize("clip", [False, True])
def test_lars_makes_gradients_as_long_as_the_weights(clip):
    def step(i, w, g, state, t):
        if i == 0:  # biases are left alone, and do not decay then
            trust = 0.05 * np.linalg.norm(w) / (np.linalg.norm(g) + 0.1 * np.linalg.norm(w) + 1e-5)
            g = (g + 0.1 * w) * (min(trust / 0.5, 1) if clip else trust)
        state["v"] = 0.9 * state.get("v", 0) + g
        return w - 0.5 * state["v"]

    def make(params):
        inner = nn.Momentum(params, 0.5, 0.9, weight_decay=0.1, loss_scale=1.0)
        return nn.LARS(inner, coefficient=0.05, use_clip=clip)

    descent(make, step)


def test_rules_are_pure_functions():
    w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    optimizer = nn.Adagrad([w], accum=9.0, learning_rate=0.5)
    state = (ms.Tensor([9.0, 9.0]),)
    new, after = optimizer.rule(ms.Tensor([1.0, 2.0]), ms.Tensor([4.0, 0.0]), state, ms.Tensor(1.0), ms.Tensor(0.5))
    np.testing.assert_allclose(new.asnumpy(), [0.6, 2.0], rtol=1e-6)
    assert after[0].tolist() == [25.0, 9.0]
    assert w.tolist() == [1.0, 2.0]
    assert state[0].tolist() == [9.0, 9.0]
