"""A training that was interrupted anywhere ends as if it had not been, bit for bit."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn, train
from mycelia.errors import ArgumentError

PROGRAM = Path(__file__).parent / "interrupted.py"
SPEC = importlib.util.spec_from_file_location("interrupted", PROGRAM)
interrupted = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(interrupted)


class Fails(train.Callback):
    """An error after a step, once."""

    def __init__(self, step):
        self.step = step

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            self.step = -1
            raise KeyboardInterrupt


def equal(a, b):
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_array_equal(array, b[name], err_msg=name)


def test_a_training_goes_on_where_it_stood(tmp_path):
    whole = interrupted.state(*interrupted.training(tmp_path / "whole", extra=[Fails(-1)]))
    for step in (1, 15, 37):  # within an epoch, after its last step, before its evaluation
        with pytest.raises(KeyboardInterrupt):
            interrupted.training(tmp_path / str(step), extra=[Fails(step)])
        equal(interrupted.state(*interrupted.training(tmp_path / str(step), extra=[Fails(-1)])), whole)


def test_a_training_that_is_refused_leaves_the_network_as_it_was(tmp_path):
    train.save_training(tmp_path / "run.ckpt", nn.Dense(2, 1, has_bias=False, weight_init="zeros"))
    net = nn.Dense(2, 1, weight_init="ones")
    with pytest.raises(ArgumentError, match=r"it lacks: \['bias'\]"):
        train.load_training(tmp_path / "run.ckpt", net)
    assert net.weight.tolist() == [[1.0, 1.0]]


def test_callbacks_that_know_nothing_may_come_and_go(tmp_path):
    whole = interrupted.state(*interrupted.training(tmp_path / "whole"))
    with pytest.raises(KeyboardInterrupt):
        interrupted.training(tmp_path / "cut", extra=[Fails(20)])
    equal(interrupted.state(*interrupted.training(tmp_path / "cut", extra=[train.TimeMonitor()])), whole)


def test_losses_are_told_at_the_same_steps_after_an_interruption(tmp_path, capsys):
    interrupted.training(tmp_path / "whole", extra=[train.LossMonitor(4)])
    whole = capsys.readouterr().out.splitlines()
    with pytest.raises(KeyboardInterrupt):
        interrupted.training(tmp_path / "cut", extra=[train.LossMonitor(4), Fails(22)])
    first = capsys.readouterr().out.splitlines()
    interrupted.training(tmp_path / "cut", extra=[train.LossMonitor(4)])
    assert first + capsys.readouterr().out.splitlines() == whole


def test_other_callbacks_or_another_network_are_told(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        interrupted.training(tmp_path, extra=[train.History(), Fails(3)])
    with pytest.raises(ArgumentError, match="saved with other callbacks"):
        interrupted.training(tmp_path)
    with pytest.raises(ArgumentError, match="was saved by another training"):
        train.load_training(tmp_path / "backup.ckpt", nn.Dense(2, 1))
    ms.save_checkpoint(nn.Dense(2, 1), tmp_path / "plain.ckpt")
    with pytest.raises(ArgumentError, match="holds parameters only"):
        train.load_training(tmp_path / "plain.ckpt", nn.Dense(2, 1))


def loop(path, stop):
    """A loop of one's own, that can be taken up."""
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(4, 4), nn.Dropout(p=0.5), nn.Dense(4, 1))
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 3))
    )
    step.set_train()
    ds.config.set_seed(2)
    x = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    rows = ds.NumpySlicesDataset({"x": x, "y": x[:, :1]}, shuffle=True).batch(3).create_tuple_iterator()
    done = train.load_training(path, step, rows=rows)["done"] if path.exists() else 0
    while done < 20:
        try:
            step(*next(rows))
        except StopIteration:
            continue
        done += 1
        train.save_training(path, step, rows=rows, done=done)
        if done == stop:
            return None
    return {p.name: p.asnumpy() for p in step.get_parameters()}


def test_a_loop_of_ones_own_goes_on(tmp_path):
    whole = loop(tmp_path / "whole.ckpt", None)
    for stop in (3, 7, 14):
        assert loop(tmp_path / "cut.ckpt", stop) is None
    equal(loop(tmp_path / "cut.ckpt", None), whole)


def test_a_network_and_its_optimizer_go_on_when_each_is_saved_by_itself(tmp_path):
    def step_of(path=None):
        ms.set_seed(1)
        net = nn.Dense(3, 2)
        optimizer = nn.Adam(net.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 3))
        gradients = ms.grad(lambda x: (net(x) ** 2).sum(), None, optimizer.parameters)
        if path is not None:
            assert train.load_training(path, net, optimizer=optimizer)["done"] == 2
        return net, optimizer, lambda: optimizer(gradients(ms.Tensor(np.ones((2, 3), np.float32))))

    net, optimizer, step = step_of()
    for _ in range(2):
        step()
    train.save_training(tmp_path / "run.ckpt", net, optimizer=optimizer, done=2)
    step()
    again, _, step = step_of(tmp_path / "run.ckpt")
    step()
    np.testing.assert_array_equal(again.weight.asnumpy(), net.weight.asnumpy())
    with pytest.raises(ArgumentError, match="save_training takes a Cell, not a str"):
        train.save_training(tmp_path / "run.ckpt", "net")


@pytest.mark.slow
def test_a_training_that_is_killed_twenty_times_ends_the_same(tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    moments = []

    def run(folder, kill_after):
        moments.clear()
        command = [sys.executable, str(PROGRAM), str(folder), "1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
            for count, _ in enumerate(child.stdout):
                moments.append(time.monotonic())
                if count == kill_after[0]:
                    time.sleep(kill_after[1])  # somewhere between two steps, or while a file is written
                    child.send_signal(signal.SIGKILL)
            return child.wait()

    (tmp_path / "whole").mkdir()
    (tmp_path / "cut").mkdir()
    assert run(tmp_path / "whole", (-1, 0.0)) == 0
    step = float(np.median(np.diff(moments)))  # sixty of them must last for all kills
    rng, kills = np.random.default_rng(1), 0
    while run(tmp_path / "cut", (int(rng.integers(0, 2)), rng.uniform(0, 1.5 * step)) if kills < 20 else (-1, 0.0)):
        kills += 1
    assert kills == 20
    equal(dict(np.load(tmp_path / "cut/end.npz")), dict(np.load(tmp_path / "whole/end.npz")))
