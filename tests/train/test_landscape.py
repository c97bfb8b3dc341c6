"""Landscapes of a loss are MindSpore's: its points, its losses."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn, train
from mycelia.errors import MyceliaError
from mycelia.train.callback import landscape
from mycelia.train.protobuf import fields
from mycelia.train.summary import events

HERE = Path(__file__).parent / "recorded"
SPEC = importlib.util.spec_from_file_location("landscape_cases", HERE / "landscape_cases.py")
cases = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(cases)


def landscapes(folder):
    """The landscapes in a folder of summaries, by tag; and the tags of the pictures."""
    found, pictures = {}, []
    for file in sorted(Path(folder).glob("events.*")):
        for message in events.messages(file):
            held = dict(fields(message))
            for _, value in fields(held[5]) if 5 in held else ():
                pair = dict(fields(value))
                tag = bytes(pair[1]).decode()
                if 4 in pair:
                    pictures.append(tag)
                elif tag.startswith("LANDSCAPE/"):
                    found[tag.removeprefix("LANDSCAPE/")] = json.loads(bytes(dict(fields(pair[8]))[8]).decode())
    return found, pictures


def test_a_landscape_is_as_mindspore_draws_it(tmp_path):
    cases.keep(ms, tmp_path)
    train.SummaryLandscape(tmp_path).gen_landscapes_with_multi_process(lambda: cases.made(ms), device_ids=[0])
    found, pictures = landscapes(tmp_path)
    assert pictures == ["landscape_[1, 4]"]
    got, told = found["landscape_[1, 4]"], np.load(HERE / "landscape.npz")
    for name in told:
        path, _, axis = name.rpartition(".")
        np.testing.assert_allclose((got[path] if path else got)[axis], told[name], rtol=2e-4, atol=1e-5, err_msg=name)
    assert got["intervals"] == [1, 2, 3, 4]
    assert (got["unit"], got["step_per_epoch"], got["decomposition"]) == ("step", 2, "PCA")


def test_processes_compute_what_one_computes(tmp_path):
    cases.keep(ms, tmp_path, landscape_size=3, create_landscape={"train": True, "result": True})
    drawn = train.SummaryLandscape(str(tmp_path))
    ms.set_seed(3)
    for out, devices in (("one", None), ("two", [0, 1])):
        drawn.gen_landscapes_with_multi_process(lambda: cases.made(ms), None, devices, tmp_path / out)
    one, two = landscapes(tmp_path / "one")[0], landscapes(tmp_path / "two")[0]
    assert list(one) == ["landscape_[1, 4]", "landscape_[4]"]
    assert one == two
    middle = one["landscape_[4]"]
    assert middle["x"][1] == 0.0
    assert middle["convergence_point"]["z"] == middle["z"][1][1]
    np.testing.assert_allclose(middle["z"][1][1], one["landscape_[1, 4]"]["convergence_point"]["z"], rtol=1e-6)


def test_a_training_is_collected_and_drawn(tmp_path):
    def make():
        net = nn.Dense(2, 1)
        x = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
        rows = ds.NumpySlicesDataset({"x": x, "y": x[:, :1]}, shuffle=False).batch(4)
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        return train.Model(net, nn.MSELoss(), optimizer), net, rows, {"Loss": train.Loss()}

    model, _, rows, _ = make()
    wanted = {"landscape_size": 3, "unit": "epoch", "intervals": [[1, 2, 3]], "num_samples": 8}
    collector = train.SummaryCollector(str(tmp_path), collect_specified_data={"collect_landscape": wanted})
    model.train(3, rows, callbacks=collector)
    drawn = train.SummaryLandscape(tmp_path)
    drawn.gen_landscapes_with_multi_process(make, {"create_landscape": {"train": True, "result": False}})
    drawn.gen_landscapes_with_multi_process(make, {"create_landscape": {"train": True, "result": False}})
    (found,) = landscapes(tmp_path)[0].values()
    last = model._network
    x = rows.create_tuple_iterator(num_epochs=1)
    loss = np.mean([nn.MSELoss()(last(a), b).item() for a, b in x])  # the optimizer of the model made no step
    np.testing.assert_allclose(found["convergence_point"]["z"], loss, rtol=1e-5)
    drawn.clean_ckpt()
    with pytest.raises(MyceliaError, match="there is no"):
        drawn.gen_landscapes_with_multi_process(make)


MISTAKES = {
    "no weights were kept after step 9": {"collect_landscape": {"intervals": [[1, 2, 9]]}},
    "at least three": {"collect_landscape": {"intervals": [[1, 2]]}},
    "from 3 to 256": {"collect_landscape": {"landscape_size": 300}},
    "landscape_size of SummaryLandscape": {"collect_landscape": {"landscape_size": 2}},
    "has no 'size'": {"collect_landscape": {"size": 4}},
    "unit of SummaryLandscape": {"collect_landscape": {"unit": "hour"}},
    "create_landscape is": {"collect_landscape": {"create_landscape": {"train": True}}},
    "device_ids are from 0 to 7": {"device_ids": [8]},
    "device_ids is a list": {"device_ids": 0},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_told(message, tmp_path):
    cases.keep(ms, tmp_path)
    with pytest.raises(MyceliaError, match=message):
        train.SummaryLandscape(tmp_path).gen_landscapes_with_multi_process(lambda: cases.made(ms), **MISTAKES[message])
    with pytest.raises(MyceliaError, match="gives a model"):
        train.SummaryLandscape(tmp_path).gen_landscapes_with_multi_process(lambda: None)
    with pytest.raises(MyceliaError, match="the metric Loss"):
        train.SummaryLandscape(tmp_path).gen_landscapes_with_multi_process(lambda: (*cases.made(ms)[:3], {}))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_direction_is_as_long_as_the_weights_of_any_type(kind):
    weights = {
        "a.weight": np.full((4, 2), 300, kind),
        "moment.weight": np.ones(3, kind),
        "a.bias": np.full(2, 200, kind),
    }
    found = landscape._as_long(np.arange(1.0, 11.0), weights)
    assert sorted(found) == ["a.bias", "a.weight"]
    for name, part in found.items():
        want = np.sqrt(weights[name].size) * float(weights[name].flat[0])
        np.testing.assert_allclose(np.linalg.norm(part), want, rtol=1e-12)
