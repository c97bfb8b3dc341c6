"""Model trains, evaluates and predicts as MindSpore does: the same moments, numbers, words and files."""

import importlib.util
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
import mycelia.dataset as ds
from mycelia import nn, train
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.train.callback import monitors
from mycelia.train.callback.base import InternalCallbackParam
from tests.each import each

HERE = Path(__file__).parent / "recorded"


def loaded(name):
    """A module beside the recordings."""
    spec = importlib.util.spec_from_file_location(f"recorded_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = loaded("training_cases")
TOLD = json.loads((HERE / "training.json").read_text())


def same(ours, theirs, where=""):
    """Plain data of one shape, with numbers that differ by rounding only."""
    if isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=2e-5, abs=1e-6), where
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), (where, ours, theirs)
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            same(a, b, f"{where}[{i}]")
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs), where
        for key, value in theirs.items():
            same(ours[key], value, f"{where}.{key}")
    else:
        assert ours == theirs, where


@pytest.mark.filterwarnings("ignore:EarlyStopping with patience=0")
@pytest.mark.many("name", CASES.CASES, pack=6)
def test_trainings_are_those_of_mindspore(name, tmp_path):
    told = TOLD[name]
    if name == "sunk":  # on a processor MindSpore does not sink
        told = [line.replace("train False", "train True") for line in told]
    if name == "early_stopping":  # the loss of an evaluation is that of its last batch there, of all batches here
        told[0][3] = told[0][4]
    folder = tmp_path / name
    folder.mkdir()
    same(json.loads(json.dumps(CASES.CASES[name](ms, str(folder)))), told)


def rows(count=32, size=4, seed=0):
    """Batches of points and their classes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 6)).astype(np.float32)
    return ds.NumpySlicesDataset({"x": x, "y": (x[:, 0] > 0).astype(np.int32)}, shuffle=False).batch(size)


def classifier(**options):
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(p=0.2), nn.Dense(8, 2))
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return net, train.Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"accuracy", "loss"}, **options)


def weights(net):
    return {p.name: p.asnumpy().copy() for p in net.get_parameters()}


def test_a_step_is_one_native_call():
    _, model = classifier()
    model.train(1, rows())
    assert model._programs["train"].explain().count("one native call") == 1
    assert "runs in Python" not in model._programs["train"].explain()


@pytest.mark.parametrize("options", [{}, {"sink_size": 3}, {"sink_size": 20}])
def test_sinking_gives_the_weights_of_single_steps(options):
    alone, model = classifier()
    size = options.get("sink_size", 8)
    steps = []
    watch = train.LambdaCallback(on_train_step_end=lambda run: steps.append(run.original_args().cur_step_num))
    model.train(3, rows(), callbacks=watch, dataset_sink_mode=True, **options)
    assert steps == list(range(1, 3 * size + 1))
    sunk, model = classifier()
    model.train(3, rows(), dataset_sink_mode=True, **options)
    for name, array in weights(alone).items():
        np.testing.assert_array_equal(array, weights(sunk)[name])
    if size >= 8:
        assert model._programs["several"].explain().count("one native call") == 1


def test_in_graph_mode_an_epoch_that_sinks_is_one_step_to_callbacks():
    seen = []
    watch = train.LambdaCallback(on_train_step_end=lambda run: seen.append(run.original_args().cur_step_num))
    _, model = classifier()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        model.train(2, rows(), callbacks=watch, dataset_sink_mode=True)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert seen == [8, 16]


def test_batches_of_several_sizes_sink_too():
    nets = []
    for sinks in (False, True):
        net, model = classifier()
        model.train(2, rows(30, 4), dataset_sink_mode=sinks)
        nets.append(weights(net))
    for name, array in nets[0].items():
        np.testing.assert_array_equal(array, nets[1][name])


def test_training_by_hand_gives_the_same_weights():
    net, model = classifier()
    model.train(2, rows())
    ms.set_seed(3)
    own = nn.SequentialCell(nn.Dense(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(p=0.2), nn.Dense(8, 2))
    optimizer, loss_fn = nn.Adam(own.trainable_params(), 0.02), nn.CrossEntropyLoss()
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(own(x), y), None, optimizer.parameters)
    own.set_train()
    for _ in range(2):
        for x, y in rows().create_tuple_iterator(num_epochs=1):
            optimizer(grad_fn(x, y)[1])
    for name, array in weights(net).items():
        if name not in ("0.bias", "1.moving_mean"):  # which batches cancel: their gradients are rounding only
            np.testing.assert_allclose(array, weights(own)[name], rtol=2e-4, atol=1e-5)


def test_evaluation_leaves_everything_as_it_is_and_uses_no_dropout():
    net, model = classifier()
    model.train(1, rows())
    before = weights(net)
    assert model.eval(rows()) == model.eval(rows())
    for name, array in weights(net).items():
        np.testing.assert_array_equal(array, before[name])
    assert not net.training


def test_building_compiles_and_changes_nothing():
    net, model = classifier()
    before = weights(net)
    model.build(rows(), rows())
    for name, array in weights(net).items():
        np.testing.assert_array_equal(array, before[name])
    other, fresh = classifier()
    for one in (model, fresh):
        ms.set_seed(4)
        one.train(1, rows())
    for name, array in weights(net).items():
        np.testing.assert_array_equal(array, weights(other)[name])


def test_a_network_of_ones_own_can_be_evaluated():
    class Looking(nn.Cell):
        def __init__(self, net):
            super().__init__(auto_prefix=False)
            self.net = net

        def construct(self, x, y):
            return self.net(x), y

    net, _ = classifier()
    by_place = train.Model(net, eval_network=Looking(net), metrics={"top 1": train.Top1CategoricalAccuracy()})
    plain = train.Model(net, nn.CrossEntropyLoss(), metrics={"accuracy"})
    assert by_place.eval(rows())["top 1"] == plain.eval(rows())["accuracy"]


@pytest.mark.parametrize("level", ["O0", "O2", "O3"])
def test_mixed_precision_and_a_loss_scale_train(level):
    net, model = classifier(amp_level=level, loss_scale_manager=ms.amp.DynamicLossScaleManager(2**10, 2, 5))
    history = train.History()
    model.train(4, rows(), callbacks=history)
    assert history.history["net_output"][-1] < history.history["net_output"][0]
    assert model.train_network.scale_sense.item() > 2**10
    assert model._manager.get_loss_scale() == model.train_network.scale_sense.item()
    assert {p.dtype for p in net.get_parameters()} == {ms.float32}


@pytest.mark.parametrize(("steps", "size"), [(4, None), (4, 2), (0, 4), (-1, 4)])
def test_epochs_and_their_steps_are_timed(monkeypatch, capsys, steps, size):
    """The clock goes on by a second each time that it is looked at."""
    clock = itertools.count()
    monkeypatch.setattr(monitors, "perf_counter", lambda: float(next(clock)))
    monitor = train.TimeMonitor(size, data_time=True)
    run = train.RunContext(InternalCallbackParam(mode="train", batch_num=steps))
    monitor.epoch_begin(run)  # 1
    for _ in range(2):
        monitor.on_train_step_begin(run)  # 2, 4: it waited one second each time
        monitor.on_train_step_end(run)  # 3, 5
    monitor.epoch_end(run)  # 6
    assert capsys.readouterr().out == (
        "Train epoch time: 5000.000 ms, per step time: 1250.000 ms (data time: 500.000 ms)\n"
    )
    if steps < 1:
        alone = train.TimeMonitor()
        alone.epoch_begin(run)
        with pytest.raises(ArgumentError, match="does not tell how many steps"):
            alone.epoch_end(run)


def test_progress_is_told_in_lines_or_in_one(monkeypatch):
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for file in (io.StringIO(), Terminal()):
        _, model = classifier()
        model.fit(2, rows(), rows(), callbacks=train.ProgressBar(every=0.0, file=file))
        text = file.getvalue()
        assert "epoch 2" in text
        assert "accuracy" in text
        assert ("\r" in text) is file.isatty()
        assert text.endswith("\n")


def failing(step):
    def fail(run):
        if run.original_args().cur_step_num == step:
            raise RuntimeError("the light went out")

    return train.LambdaCallback(on_train_step_end=fail)


def test_a_training_that_fails_is_saved(tmp_path):
    _, model = classifier()
    config = train.CheckpointConfig(save_checkpoint_steps=100, exception_save=True)
    saved = []
    callbacks = [
        train.ModelCheckpoint("net", str(tmp_path / "a"), config),
        train.TrainFaultTolerance(str(tmp_path / "b")),
        train.TrainFaultTolerance(ckpt_save_fn=lambda now, added: saved.append(added)),
        failing(5),
    ]
    with pytest.raises(RuntimeError, match="the light went out"):
        model.train(2, rows(), callbacks=callbacks)
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["net-1_5_breakpoint.ckpt"]
    assert ms.load_checkpoint(tmp_path / "b/ttp_saved_checkpoints-step_5/net.ckpt")["step_num"].item() == 5
    assert saved == [{"epoch_num": 1, "step_num": 5}]


def test_a_signal_ends_a_training_after_its_step(tmp_path):
    import os
    import signal

    before = signal.getsignal(signal.SIGUSR1)
    _, model = classifier()
    ask = train.LambdaCallback(
        on_train_step_end=lambda run: (
            os.kill(os.getpid(), signal.SIGUSR1) if run.original_args().cur_step_num == 3 else None
        )
    )
    history = train.History()
    leaving = train.OnRequestExit(file_name="net", directory=str(tmp_path), sig=signal.SIGUSR1)
    model.train(5, rows(), callbacks=[ask, leaving, history])
    assert history.epoch == {"epoch": [1]}
    saved = ms.load_checkpoint(tmp_path / "net_train.ckpt")
    assert saved["global_step"].item() == 3
    assert signal.getsignal(signal.SIGUSR1) is before
    (tmp_path / "ask.json").write_text('{"GracefulExit": 1}')
    model.train(5, rows(), callbacks=[train.OnRequestExit(False, config_file=str(tmp_path / "ask.json")), history])
    assert history.epoch == {"epoch": [1]}


def empty():
    return rows().filter(lambda x, y: False, ["x", "y"])


def nan_rows():
    return ds.NumpySlicesDataset({"x": np.full((4, 6), np.nan, np.float32), "y": np.zeros(4, np.int32)}).batch(2)


def odd_rows(width, label):
    return ds.NumpySlicesDataset({"x": np.ones((4, width), np.float32), "y": np.full(4, label, np.int32)}).batch(2)


def many_columns():
    return ds.NumpySlicesDataset({"a": np.zeros(2), "b": np.zeros(2), "c": np.zeros(2)}).batch(1)


def with_its_loss():
    class ForLoss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(6, 2)

        def construct(self, x, y):
            return ms.ops.cross_entropy(self.dense(x), y)

    net = ForLoss()
    return train.Model(net, optimizer=nn.SGD(net.trainable_params()))


class Odd(train.Metric):
    def clear(self):
        pass

    def update(self, prediction):
        pass


class Old(train.Callback):
    def step_end(self, run_context):
        pass


MISTAKES = {
    "network is a Cell, not a type": lambda: train.Model(nn.ReLU),
    "optimizer is an Optimizer": lambda: train.Model(nn.ReLU(), optimizer=nn.ReLU()),
    "loss_fn is a function or a Cell": lambda: train.Model(nn.ReLU(), 3),
    "loss_fn is the class MSELoss": lambda: train.Model(nn.ReLU(), nn.MSELoss),
    "there is no metric 'acuracy'": lambda: train.Model(nn.ReLU(), metrics={"acuracy"}),
    "metrics are a set of names or a dictionary": lambda: train.Model(nn.ReLU(), metrics=["acc"]),
    "Model has no loss_scale_manger": lambda: train.Model(nn.ReLU(), loss_scale_manger=None),
    "mixed precision needs an optimizer": lambda: train.Model(nn.ReLU(), amp_level="O2"),
    "eval_indexes are the places": lambda: train.Model(nn.ReLU(), eval_network=nn.ReLU(), eval_indexes=[0]),
    "train_dataset is a dataset, not a list": lambda: classifier()[1].train(1, [1]),
    "epoch is a whole number from 1": lambda: classifier()[1].train(0, rows()),
    "update of the metric 'odd', a Odd, does not take 2 inputs": lambda: train.Model(
        nn.Dense(6, 2), nn.CrossEntropyLoss(), metrics={"odd": Odd()}
    ).eval(rows()),
    "make it first: SGD": lambda: train.Model(nn.ReLU(), optimizer=nn.SGD),
    "it is called loss_fn here": lambda: train.Model(nn.ReLU(), loss=nn.MSELoss()),
    "did you mean optimizer": lambda: train.Model(nn.ReLU(), optimiser=None),
    "it is called epoch here": lambda: classifier()[1].train(1, rows(), epochs=2),
    "fit was not given train_dataset": lambda: classifier()[1].fit(1),
    "tensors of one batch, not a dataset": lambda: classifier()[1].predict(rows()),
    "ForLoss, the network of this Model, gives a loss": lambda: with_its_loss().predict(ms.Tensor(np.ones((2, 6)))),
    "begins after epoch 3": lambda: classifier()[1].train(2, rows(), initial_epoch=3),
    "sink_size is -1 or a whole number": lambda: classifier()[1].train(1, rows(), sink_size=0),
    "train_dataset has no rows": lambda: classifier()[1].train(1, empty()),
    "valid_dataset has no rows": lambda: classifier()[1].eval(empty()),
    "the dataset has no rows": lambda: classifier()[1].train(1, empty(), dataset_sink_mode=True, sink_size=2),
    "these rows have 3 columns": lambda: classifier()[1].train(1, many_columns()),
    "target 7 is none of": lambda: classifier()[1].train(1, odd_rows(6, 7)),
    "target -3 is none of": lambda: classifier()[1].train(1, odd_rows(6, -3)),
    r"input of shape \(2, 5\) and weight of shape": lambda: classifier()[1].train(1, odd_rows(5, 0)),
    "the loss is nan": lambda: classifier()[1].train(1, nan_rows(), callbacks=train.LossMonitor()),
    "callbacks are a Callback": lambda: classifier()[1].train(1, rows(), callbacks=train.LossMonitor),
    "Old defines step_end": lambda: classifier()[1].fit(1, rows(), rows(), callbacks=Old()),
    "valid_frequency is a number of epochs": lambda: classifier()[1].fit(1, rows(), rows(), 0),
    "there is nothing to measure": lambda: train.Model(nn.ReLU(), nn.MSELoss()).eval(rows()),
    "an evaluation needs a loss_fn": lambda: train.Model(nn.ReLU(), metrics={"mse"}).eval(rows()),
    "predict takes the inputs": lambda: classifier()[1].predict(),
    "predict runs on the device": lambda: classifier()[1].predict(1, backend="lite"),
    "per_print_times is a whole number": lambda: train.LossMonitor(-1),
    "mode is auto, min or max": lambda: train.EarlyStopping(mode="least"),
    "factor is a number between 0 and 1": lambda: train.ReduceLROnPlateau(factor=2.0),
    "nothing says when to save": lambda: train.CheckpointConfig(save_checkpoint_steps=0),
    "CheckpointConfig has no save_steps": lambda: train.CheckpointConfig(save_steps=3),
    "there is no checkpoint format": lambda: train.CheckpointConfig(format="pt"),
    "append_info holds epoch_num": lambda: train.CheckpointConfig(append_info=["epoch"]),
    "prefix begins the names of files": lambda: train.ModelCheckpoint("a/b"),
    "save_freq is": lambda: train.BackupAndRestore("x", "step"),
    "a MindIR cannot be written": lambda: train.OnRequestExit(save_mindir=True),
    "nothing says where to save": lambda: train.TrainFaultTolerance(),
    "the helper does not sink": lambda: train.connect_network_with_dataset(
        nn.ReLU(), train.DatasetHelper(rows(), dataset_sink_mode=False)
    ),
}


def test_mistakes_are_told():
    def told(message):
        with pytest.raises(MyceliaError, match=message):
            MISTAKES[message]()

    each(told, [(message, (message,)) for message in MISTAKES])


def test_a_rate_that_is_no_number_cannot_be_changed():
    net, _ = classifier()
    model = train.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), [0.1, 0.2]))
    with pytest.raises(ArgumentError, match="a learning rate that is one number"):
        model.train(1, rows(), callbacks=train.LearningRateScheduler(lambda rate, step: rate))


def test_an_optimizer_of_another_network_is_told():
    with pytest.warns(UserWarning, match="none of the optimizer's parameters is in the network"):
        train.Model(nn.Dense(6, 2), nn.CrossEntropyLoss(), nn.SGD(nn.Dense(6, 2).trainable_params()))


def test_a_training_without_an_optimizer_is_told():
    net = nn.Dense(6, 2)
    before = net.weight.asnumpy()
    with pytest.warns(UserWarning, match="there is no optimizer: training changes nothing"):
        train.Model(net, nn.CrossEntropyLoss()).train(1, rows())
    np.testing.assert_array_equal(net.weight.asnumpy(), before)


def test_a_training_that_becomes_better_is_not_stopped_unasked():
    history, found = train.History(), iter([3.0, 2.0, 1.0, 1.0, 0.5])
    told = train.LambdaCallback(
        on_train_epoch_end=lambda run: run.original_args().update(eval_results={"x": next(found)})
    )
    model = classifier()[1]
    model.train(5, rows(), callbacks=[told, train.EarlyStopping("x", patience=1, mode="min"), history])
    assert history.epoch["epoch"] == [1, 2, 3, 4]
    found = iter([3.0, 2.0])
    with pytest.warns(UserWarning, match="patience=0 ends a training after its first epoch"):
        model.train(2, rows(), callbacks=[told, train.EarlyStopping("x", mode="min"), history])


def test_a_monitor_that_is_not_measured_is_told():
    _, model = classifier()
    with pytest.warns(UserWarning, match="EarlyStopping watches f1, and there are loss, accuracy"):
        model.fit(1, rows(), rows(), callbacks=train.EarlyStopping("f1"))


def test_names_of_training_are_names_of_the_package_too():
    for name in ("Model", "LossMonitor", "Accuracy", "DatasetHelper", "FixedLossScaleManager", "data_sink"):
        assert getattr(ms, name) is getattr(train, name)
    with pytest.raises(AttributeError):
        ms.ProgressBar  # noqa: B018


@pytest.mark.parametrize("chosen", [2, [1, 3], (1, 3), {2}])
def test_a_fit_evaluates_after_the_epochs_that_were_chosen(chosen):
    _, model = classifier()
    seen = []
    model.fit(
        4, rows(), rows(), chosen,
        callbacks=train.LambdaCallback(on_eval_end=lambda run: seen.append(run.original_args().cur_epoch_num)),
    )  # fmt: skip
    assert seen == ([2, 4] if chosen == 2 else sorted(chosen))


@pytest.mark.parametrize("folder", ["a", "a/b/c"])
def test_a_folder_for_checkpoints_is_made_with_those_around_it(tmp_path, folder):
    _, model = classifier()
    for _ in range(2):  # the second finds it there
        model.train(1, rows(), callbacks=train.ModelCheckpoint("net", str(tmp_path / folder)))
    assert {p.name.partition("-")[0] for p in (tmp_path / folder).glob("*.ckpt")} == {"net", "net_1"}
