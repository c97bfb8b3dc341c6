"""Optimizers with groups go where MindSpore's go, eager and compiled, and rates follow its schedules."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import mint, nn
from mycelia.errors import MyceliaError
from mycelia.experimental import optim

HERE = Path(__file__).parent / "recorded"
sys.path.insert(0, str(HERE))
try:
    cases = importlib.import_module("optimizers")
finally:
    sys.path.remove(str(HERE))
TOLD = json.loads((HERE / "optimizers.json").read_text())


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", TOLD["optimizers"])
def test_fifty_steps_are_those_of_mindspore(name, compiled):
    got = cases.run(ms, optim, name, ms.jit if compiled else lambda f: f)
    for ours, theirs in zip(got, TOLD["optimizers"][name], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())


def test_adam_keeps_the_largest_square_if_asked_to():
    """MindSpore leaves betas alone then; the oracle is the formula."""
    w = ms.Parameter(ms.Tensor(cases.numbers(4, 3)), name="w")
    optimizer = optim.Adam([w], lr=0.05, betas=(0.8, 0.99), amsgrad=True)
    theirs, mean, square, most = w.asnumpy().astype(np.float64), 0.0, 0.0, 0.0
    for t in range(1, 51):
        g = cases.numbers(4, 3, seed=t).astype(np.float64)
        optimizer((ms.Tensor(g.astype(np.float32)),))
        mean, square = 0.8 * mean + 0.2 * g, 0.99 * square + 0.01 * g * g
        most = np.maximum(most, square)
        theirs = theirs - 0.05 * mean / (1 - 0.8**t) / (np.sqrt(most / (1 - 0.99**t)) + 1e-8)
    np.testing.assert_allclose(w.asnumpy(), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", TOLD["schedules"])
def test_rates_follow_the_schedules_of_mindspore(name):
    np.testing.assert_allclose(cases.scheduled(ms, optim, name), TOLD["schedules"][name], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", TOLD["plateaus"])
def test_rates_fall_on_plateaus_as_mindspores_do(name):
    np.testing.assert_allclose(cases.plateau(ms, optim, name), TOLD["plateaus"][name], rtol=1e-6)


def test_schedules_follow_each_other():
    np.testing.assert_allclose(cases.sequence(ms, optim), TOLD["sequence"], rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in cases.SCHEDULES if n.partition(" ")[0] not in ("MultiplicativeLR",)])
def test_going_to_an_epoch_gives_the_rates_of_going_there_step_by_step(name):
    kind, options = cases.SCHEDULES[name]
    steps = cases.scheduled(ms, optim, name, 6)
    params = cases.parameters(ms)
    optimizer = optim.SGD([{"params": params[:1], "lr": 0.2}, {"params": params[1:], "lr": 0.4}], lr=0.1)
    schedule = getattr(optim.lr_scheduler, kind)(optimizer, **options)
    for epoch in (4, 1, 6):
        schedule.step(epoch)
        np.testing.assert_allclose([r.item() for r in schedule.get_last_lr()], steps[epoch], rtol=1e-5, atol=1e-6)


def test_a_compiled_step_sees_rates_that_change():
    w = ms.Parameter(ms.Tensor([0.0]), name="w")
    optimizer = optim.SGD([w], lr=1.0)
    step = ms.jit(lambda g: optimizer((g,)))
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for _ in range(3):
        step(ms.Tensor([1.0]))
        schedule.step()
    assert w.item() == -1.75
    optimizer.param_groups[0]["lr"].set_data(ms.Tensor(8.0))
    step(ms.Tensor([1.0]))
    assert w.item() == -9.75
    assert step.explain().count("one native call") == 1


def test_groups_can_be_added_and_have_states_of_their_own():
    a, b = (ms.Parameter(ms.Tensor([0.0]), name=n) for n in "ab")
    optimizer = optim.Adam([a], lr=0.5)
    optimizer((ms.Tensor([1.0]),))
    optimizer.add_param_group({"params": b, "lr": 0.25})
    optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))
    assert len(optimizer.parameters) == 2
    assert b.item() < 0
    assert "Parameter Group 1" in repr(optimizer)
    assert {p.name for p in optimizer.get_parameters()} >= {"exp_avg.a", "exp_avg.b", "learning_rate_group_1", "step_t"}


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "SGD", "FusedAdamW"])
def test_the_optimizers_of_mint_train(kind):
    net = nn.Dense(2, 1)
    optimizer = getattr(mint.optim, kind)(net.trainable_params(), lr=0.1)
    x = ms.Tensor(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32))
    step = ms.value_and_grad(lambda: ((net(x) - 1.0) ** 2).mean(), None, optimizer.parameters)
    losses = []
    for _ in range(20):
        loss, gradients = step()
        optimizer(gradients)
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


MISTAKES = {
    "takes a list of parameters": lambda: optim.Adam(nn.Dense(1, 1)),
    "needs parameters to change": lambda: optim.Adam([]),
    "given to the optimizer twice": lambda: optim.Adam([{"params": P}, {"params": P}]),
    "betas of Adam are two numbers": lambda: optim.Adam([P], betas=0.9),
    "Nesterov's method needs a momentum": lambda: optim.SGD([P], 0.1, nesterov=True),
    "was given 2 gradients": lambda: optim.SGD([P], 0.1)((ms.Tensor([1.0]), ms.Tensor([1.0]))),
    "was given a gradient of shape": lambda: optim.SGD([P], 0.1)((ms.Tensor([1.0, 2.0]),)),
    "of an optimizer with groups": lambda: optim.lr_scheduler.StepLR(nn.SGD([P]), 2),
    "lr_lambda is a function": lambda: optim.lr_scheduler.LambdaLR(optim.SGD([P], 0.1), [abs, abs]),
    "all but the first begin at a milestone": lambda: optim.lr_scheduler.SequentialLR(optim.SGD([P], 0.1), [1], [1]),
}
P = ms.Parameter(ms.Tensor([1.0]), name="p")


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_told(message):
    with pytest.raises(MyceliaError, match=message):
        MISTAKES[message]()
