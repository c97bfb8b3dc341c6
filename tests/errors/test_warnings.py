"""A warning stands at the line of the user, and once for each line."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia import nn, ops, train

ROWS = {"x": np.ones((4, 1), np.float32), "y": np.ones((4, 1), np.float32)}


def patience(model, data):
    model.fit(2, data, data, callbacks=[train.EarlyStopping()])


def watching(model, data):
    model.fit(1, data, data, callbacks=[train.EarlyStopping("val_loss", patience=1)])


def untrained(model, data):
    train.Model(nn.Dense(1, 1), nn.MSELoss()).train(1, data)


def foreign(model, data):
    train.Model(nn.Dense(1, 1), nn.MSELoss(), nn.SGD(nn.Dense(1, 1).trainable_params(), 0.1))


@pytest.mark.parametrize("run", [patience, watching, untrained, foreign])
def test_what_a_model_warns_of_stands_at_the_line_of_the_user(run):
    net = nn.Dense(1, 1)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mae"})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run(model, ds.NumpySlicesDataset(ROWS, shuffle=False).batch(2))
    assert [Path(w.filename).name for w in told] == ["test_warnings.py"]
    assert told[0].lineno == run.__code__.co_firstlineno + 1


def test_a_loop_is_warned_once():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            ops.mse_loss(ops.ones((3,)), ops.ones((3, 1)))
    assert len(told) == 1
