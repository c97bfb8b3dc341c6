"""What callbacks, metrics and files do with each of their options: on runs told step by step, against plain Python."""

import itertools
import json
import math
import re
import threading
import time
import warnings

import numpy as np
import pytest

import mycelia as ms
import mycelia.dataset as ds
from mycelia import Parameter, Tensor, nn, ops, train
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.train import resuming
from mycelia.train.callback import flops
from mycelia.train.callback.base import InternalCallbackParam
from mycelia.train.callback.plateau import rate_of
from tests.each import each


def run(**known):
    return train.RunContext(InternalCallbackParam({"mode": "train", "batch_num": 4, "cur_epoch_num": 1, **known}))


def refused(call, kind=MyceliaError):
    with pytest.raises(kind):
        call()


def net_and_rate(rate=0.5):
    net = nn.Dense(1, 1, weight_init="ones")
    return net, nn.SGD(net.trainable_params(), rate)


# ---------------------------------------------------------------------------------------- what is told


@pytest.mark.parametrize("every", [0, 1, 3])
@pytest.mark.parametrize("batches", [4, -1])
def test_the_loss_is_told_every_so_many_steps_of_each_training(every, batches, capsys):
    monitor, wanted = train.LossMonitor(every), []
    for _ in range(2):  # a second training begins anew
        monitor.on_train_begin(run(cur_step_num=0))
        for step in range(1, 9):
            epoch = (step - 1) // 4 + 1
            monitor.step_end(
                run(cur_step_num=step, cur_epoch_num=epoch, batch_num=batches, net_outputs=Tensor(step / 2))
            )
            if every and step % every == 0:
                of_epoch = (step - 1) % 4 + 1 if batches > 0 else step
                wanted.append(f"epoch: {epoch} step: {of_epoch}, loss is {step / 2}")
    assert capsys.readouterr().out.splitlines() == wanted


def test_a_loss_that_is_not_finite_ends_a_training_but_where_a_scale_has_met_it(capsys):
    monitor = train.LossMonitor(2)
    bad, yes, no = Tensor(math.nan), Tensor(True), Tensor(False)
    each(lambda out: refused(lambda: monitor.step_end(run(cur_step_num=1, net_outputs=out)), MyceliaError), [
        ("alone", (bad,)), ("no overflow", ((bad, no, Tensor(1.0)),)), ("a pair", ((bad, yes),)),
        ("infinite", (Tensor(-math.inf),)),
    ])  # fmt: skip
    monitor.step_end(run(cur_step_num=1, net_outputs=(bad, yes, Tensor(1.0))))
    monitor.step_end(run(cur_step_num=1, net_outputs=None))
    assert capsys.readouterr().out == ""
    monitor.step_end(run(cur_step_num=5, net_outputs=Tensor(1.0)))
    monitor.step_end(run(cur_step_num=2, net_outputs=Tensor(2.0)))  # another training, that did not tell of its begin
    assert [line[-3:] for line in capsys.readouterr().out.splitlines()] == ["1.0", "2.0"]


def test_a_history_is_a_table():
    history = train.History()
    history.on_eval_begin(run())
    assert history.epoch == {"epoch": []}
    history.begin(run())
    history.epoch_end(run(cur_epoch_num=1, net_outputs=Tensor(0.25)))
    history.on_eval_begin(run())  # within a training: what was noted stays
    history.epoch_end(run(cur_epoch_num=2, net_outputs=Tensor(1 / 3), metrics={"acc": 0.5, "count": 3}))
    assert (history.epoch, history.history["acc"]) == ({"epoch": [1, 2]}, [0.5])
    table = history._repr_html_()
    cells = [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in table.split("<tr>")[1:]]
    assert cells == [["epoch", "net_output", "acc", "count"], ["1", "0.25", "0.5", "3"], ["2", "0.333333", "", ""]]
    other = train.History()
    other.load_state_dict(history.state_dict())
    assert other._repr_html_() == table


def test_nothing_is_told_into_no_file():
    bar = train.ProgressBar(every=0, file=None)
    for moment in ("on_train_epoch_begin", "on_train_step_end", "on_train_epoch_end"):
        getattr(bar, moment)(run(cur_step_num=1))
    assert bar.width() >= 20


# ---------------------------------------------------------------------------------------- what is saved


@pytest.mark.many(
    ("given", "policy"),
    [
        ({}, (1, 0, 5, 0)),
        ({"save_checkpoint_steps": 3, "save_checkpoint_seconds": 7}, (3, 0, 5, 0)),
        ({"save_checkpoint_steps": 0, "save_checkpoint_seconds": 7}, (0, 7, 5, 0)),
        ({"save_checkpoint_steps": None, "save_checkpoint_seconds": 1}, (0, 1, 5, 0)),
        ({"keep_checkpoint_max": 2, "keep_checkpoint_per_n_minutes": 9}, (1, 0, 2, 0)),
        ({"keep_checkpoint_max": 0, "keep_checkpoint_per_n_minutes": 9}, (1, 0, 0, 9)),
        ({"keep_checkpoint_max": 0}, (1, 0, 1, 0)),
        ({"keep_checkpoint_max": None, "keep_checkpoint_per_n_minutes": None}, (1, 0, 1, 0)),
    ],
)
def test_when_to_save_and_how_many_to_keep(given, policy):
    words = ("save_checkpoint_steps", "save_checkpoint_seconds", "keep_checkpoint_max", "keep_checkpoint_per_n_minutes")
    assert train.CheckpointConfig(**given).get_checkpoint_policy() == dict(zip(words, policy, strict=True))


def test_choices_of_checkpoints_that_cannot_be():
    each(lambda given: refused(lambda: train.CheckpointConfig(**given)), [(str(g), (g,)) for g in (
        *[{name: bad} for name in ("save_checkpoint_steps", "save_checkpoint_seconds", "keep_checkpoint_max",
                                   "keep_checkpoint_per_n_minutes") for bad in (-1, True, 1.0, "1")],
        {"save_checkpoint_steps": 0}, {"format": "pt"}, {"saved_network": 3}, {"remove_redundancy": True},
        {"async_save": "later"}, {"async_save": 1}, {"append_info": ["epoch"]}, {"append_info": [{"a": "b"}]},
        {"append_info": [{1: 2}]}, {"append_info": [3]},
    )])  # fmt: skip
    config = train.CheckpointConfig(append_info=["step_num", {"rate": 0.5, "deep": True}, {"last": Tensor(1.0)}])
    assert config.info == ["step_num"]
    assert list(config.append_dict) == ["rate", "deep", "last"]
    for how in (False, True, "thread", "process"):
        assert train.CheckpointConfig(async_save=how).async_save == how


def steps_saved(tmp_path, monkeypatch, seconds, **options):
    """Which steps are there in the end, of twelve that take so many seconds each."""
    now = itertools.count()
    clock = {"now": 0.0}
    monkeypatch.setattr(time, "monotonic", lambda: clock["now"])
    saver = train.ModelCheckpoint("net", str(tmp_path), train.CheckpointConfig(**options))
    net = nn.Dense(1, 1)
    saver.on_train_begin(run(cur_step_num=0))
    for _ in range(12):
        clock["now"] += seconds
        step = next(now) + 1
        known = run(cur_step_num=step, cur_epoch_num=(step - 1) // 4 + 1, train_network=net)
        saver.on_train_step_begin(known)
        saver.step_end(known)
    saver.end(known)
    assert saver.latest_ckpt_file_name == known.original_args().latest_ckpt_file
    names = {f"net-{(s - 1) // 4 + 1}_{(s - 1) % 4 + 1}.ckpt": s for s in range(1, 13)}
    return sorted(names[path.name] for path in tmp_path.iterdir())


@pytest.mark.many(
    ("seconds", "options", "kept"),
    [
        (1, {"keep_checkpoint_max": 3}, [10, 11, 12]),
        (1, {"save_checkpoint_steps": 5, "keep_checkpoint_max": 9}, [5, 10, 12]),
        (1, {"save_checkpoint_steps": 0, "save_checkpoint_seconds": 4, "keep_checkpoint_max": 2}, [8, 12]),
        (1, {"save_checkpoint_steps": 5, "keep_checkpoint_max": 9, "async_save": True}, [5, 10, 12]),
        (1, {"keep_checkpoint_max": 0}, [12]),
        (20, {"keep_checkpoint_max": 0, "keep_checkpoint_per_n_minutes": 1}, [3, 6, 9, 12]),
        (25, {"keep_checkpoint_max": 0, "keep_checkpoint_per_n_minutes": 2}, [5, 10, 12]),
    ],
)
def test_as_many_checkpoints_are_kept_as_was_asked(tmp_path_factory, monkeypatch, seconds, options, kept):
    assert steps_saved(tmp_path_factory.mktemp("kept"), monkeypatch, seconds, **options) == kept


def test_an_old_checkpoint_that_cannot_be_removed_is_told(tmp_path):
    saver = train.ModelCheckpoint("net", str(tmp_path), train.CheckpointConfig(keep_checkpoint_max=1))
    saver.on_train_begin(run(cur_step_num=0))
    (tmp_path / "stuck").mkdir()
    saver.files = [tmp_path / "stuck"]
    with pytest.warns(UserWarning, match="an old checkpoint cannot be removed"):
        saver.step_end(run(cur_step_num=1, train_network=nn.Dense(1, 1)))
    assert [path.name for path in saver.files] == ["net-1_1.ckpt"]


def test_what_is_saved_again_under_one_name_is_one_file(tmp_path):
    saver = train.ModelCheckpoint("net", lambda now: str(tmp_path / "b"), train.CheckpointConfig(keep_checkpoint_max=2))
    saver.on_train_begin(run(cur_step_num=0))
    for epoch, step in ((1, 1), (1, 2), (1, 2), (1, 3)):
        saver.last_step = 0
        saver.step_end(run(cur_step_num=step, cur_epoch_num=epoch, train_network=nn.Dense(1, 1)))
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["net-1_2.ckpt", "net-1_3.ckpt"]


def test_a_checkpoint_read_later_is_put_into_a_network_once(tmp_path):
    net, other = nn.Dense(2, 1), nn.Dense(2, 1)
    for name, kept in (("a.ckpt", "a.ckpt"), ("b.safetensors", "b.safetensors"), ("c", "c.ckpt"), ("d_ckpt", "d_ckpt")):
        ms.save_checkpoint(net, str(tmp_path / name))
        assert (tmp_path / kept).is_file()
        assert ms.load_checkpoint(str(tmp_path / kept))["weight"].tolist() == net.weight.tolist()
    later = ms.load_checkpoint_async(str(tmp_path / "a.ckpt"), other)
    assert later.result()["weight"].tolist() == other.weight.tolist() == net.weight.tolist()
    other.weight.set_data(Tensor([[5.0, 6.0]]))
    assert later.result()["weight"].tolist() == net.weight.tolist()
    assert other.weight.tolist() == [[5.0, 6.0]]


def test_plain_data_comes_back_as_what_json_makes_of_it(tmp_path):
    class Kept:
        def state_dict(self):
            return {"a": (1, 2)}

    given = {
        "none": None, "number": np.float64(0.5), "whole": np.int32(3), "truth": np.bool_(True), "text": "x",
        "list": [1, (2.5, False)], "nest": {"deep": Kept()}, "array": np.arange(3), "tensor": Tensor([1.0]),
    }  # fmt: skip
    train.save_training(tmp_path / "run.ckpt", nn.Dense(1, 1), **given)
    found = train.load_training(tmp_path / "run.ckpt", nn.Dense(1, 1))
    plain = {k: v for k, v in found.items() if k in given and k not in ("array", "tensor")}
    wanted = {
        "none": None, "number": 0.5, "whole": 3, "truth": True, "text": "x", "list": [1, [2.5, False]],
        "nest": {"deep": {"a": [1, 2]}},
    }  # fmt: skip
    assert json.dumps(plain, sort_keys=True) == json.dumps(wanted, sort_keys=True)
    assert [np.asarray(found[name]).tolist() for name in ("array", "tensor")] == [[0, 1, 2], [1.0]]
    each(lambda bad: refused(lambda: resuming._plain(bad, {})), [(str(b), (b,)) for b in ({1: 2}, {2, 3}, object, 1j)])


# ---------------------------------------------------------------------------------------- who ends a run


def test_a_file_or_a_signal_ends_an_evaluation_too(tmp_path):
    ask = tmp_path / "ask.json"

    def asked(moment):
        context = run(cur_step_num=1, train_network=nn.Dense(1, 1))
        with train.OnRequestExit(False, config_file=str(ask)) as callback:
            callback.on_eval_begin(context)
            callback.on_train_begin(context)  # the other one listens already
            getattr(callback, moment)(context)
            callback.on_train_end(context)
        assert not (tmp_path / "Net_train.ckpt").exists()
        return context.get_stop_requested()

    for text, stops in ((None, False), ('{"GracefulExit": 0}', False), ('{"GracefulExit": 1}', True), ("{}", False)):
        if text is not None:
            ask.write_text(text)
        for moment in ("on_train_step_end", "on_eval_step_end", "on_train_epoch_end"):
            assert asked(moment) is stops
    for text in ("[1]", "{"):
        ask.write_text(text)
        with pytest.warns(UserWarning, match="is no JSON object"):
            assert not asked("on_eval_step_end")


def test_signals_are_for_the_main_thread():
    told = []

    def listen():
        with train.OnRequestExit() as callback, pytest.warns(UserWarning, match="signals come to the main thread only"):
            callback.on_train_begin(run())
        told.append(callback.before)

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert told == [None]


def test_requests_to_exit_at_their_borders():
    import signal

    each(lambda given: refused(lambda: train.OnRequestExit(**given)), [(str(g), (g,)) for g in (
        {"save_ckpt": 1}, {"save_mindir": 0}, {"file_name": ""}, {"file_name": 3}, {"sig": True}, {"sig": "TERM"},
        {"sig": signal.SIGKILL}, {"sig": signal.SIGSTOP},
    )])  # fmt: skip
    each(lambda given, kw: refused(lambda: train.TrainFaultTolerance(given, **kw)), [
        ("nothing", (None, {})), ("no folder", ("", {})), ("another word", ("a", {"save": 1})),
        ("no function", ("a", {"ckpt_save_fn": 3})),
    ])  # fmt: skip
    quiet = train.TrainFaultTolerance(ckpt_save_fn=lambda now, added: pytest.fail("nothing failed"))
    quiet.__exit__()
    quiet.__exit__(None, None, None)
    quiet.__exit__(KeyError, KeyError("before the first step"), None)


def epochs(callback, values, net, optimizer, **known):
    """What a callback leaves after epochs in which these values were measured: when it stopped, and all rates."""
    context = run(
        cur_epoch_num=0, train_network=net, optimizer=optimizer, net_outputs=Tensor(0.0), epoch_num=99, **known
    )
    now = context.original_args()
    callback.on_train_begin(context)
    rates = []
    for value in values:
        now.cur_epoch_num += 1
        now.eval_results = {} if value is None else {"x": value}
        callback.on_train_epoch_end(context)
        net.weight.set_data(net.weight.value() + 1.0)
        rates.append(round(optimizer.learning_rate.item(), 6))
        if context.get_stop_requested():
            break
    callback.on_train_end(context)
    return now.cur_epoch_num, rates


def test_training_ends_when_nothing_becomes_better(capsys):
    def ended(values, weight=None, **options):
        net, optimizer = net_and_rate()
        last, _ = epochs(train.EarlyStopping("x", **options), values, net, optimizer, validates=True)
        assert weight is None or net.weight.item() == weight
        return last

    falling = [3.0, 2.0, 2.5, 1.9, 2.0, 2.0, 2.0, 2.0]
    assert ended(falling, mode="min", patience=1) == 3
    assert ended(falling, mode="min", patience=2) == 6
    assert ended(falling, mode="max", patience=2) == 3
    assert ended(falling, mode="auto", patience=2) == 3  # of a name that nobody knows more is better
    assert ended(falling, mode="min", patience=2, min_delta=-0.5) == 4  # its size counts
    assert ended(falling, mode="min", patience=3, baseline=1.95) == 3
    assert ended(falling, mode="min", patience=4, baseline=1.95) == 8
    assert ended([None, 3.0, None, 2.0, None, 2.5], mode="min", patience=1) == 6
    assert capsys.readouterr().out == ""
    best = 1.0 + 3 + 1  # the weight after the fourth epoch, and one more change behind it
    assert ended(falling, best, mode="min", patience=2, restore_best_weights=True, verbose=True) == 6
    assert capsys.readouterr().out.splitlines() == [
        "Restoring model weights from the end of the best epoch.", "Epoch 00006: early stopping",
    ]  # fmt: skip
    assert ended(falling, 1.0 + 6, mode="min", patience=2, verbose=True) == 6
    assert capsys.readouterr().out.splitlines() == ["Epoch 00006: early stopping"]
    assert ended(falling, mode="min", patience=20, verbose=True) == len(falling)
    assert capsys.readouterr().out == ""  # it ended by itself


@pytest.mark.many(("epoch", "told"), [(1, True), (2, True), (3, False)])
def test_ending_at_once_is_told_but_at_the_end(epoch, told):
    net, optimizer = net_and_rate()
    callback = train.EarlyStopping("x", mode="min")
    known = run(cur_epoch_num=epoch, epoch_num=3, eval_results={"x": np.float32(0.5)}, train_network=net,
                optimizer=optimizer, net_outputs=None)  # fmt: skip
    callback.on_train_begin(known)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        callback.on_train_epoch_end(known)
    assert known.get_stop_requested()
    assert ["patience=0" in str(w.message) for w in said] == [True] * told
    assert type(callback.best) is float
    assert json.dumps(callback.state_dict()["best"]) == "0.5"


def test_the_use_of_a_processor_is_what_it_did_in_its_time(monkeypatch, capsys):
    clock = {"now": 0.0}
    monkeypatch.setattr(flops, "perf_counter", lambda: clock["now"])
    program = ms.jit(lambda x, y: x @ y)
    program(ops.ones((20, 30)), ops.ones((30, 40)))
    for mode, word in (("train", "Train"), ("eval", "Eval")):
        collector = train.FlopsUtilizationCollector(2, computility=10**6)
        for _ in range(4):
            collector.step_begin(run(mode=mode))
            clock["now"] += 0.25
            collector.step_end(run(mode=mode, step_program=program))
            clock["now"] += 0.05  # between steps
        first, *lines = capsys.readouterr().out.splitlines()
        assert first.startswith("Full model flops is 48000,")
        times = [0.55 / 2 * 1000] * 2
        assert lines == [f"{word} per step time: {t:.3f} ms, mfu:{48 / t:.2%} hfu:{48 / t:.2%}" for t in times]


def test_the_rate_falls_on_a_plateau(capsys):
    def rates(values, **options):
        callback = train.ReduceLROnPlateau("x", factor=0.5, mode="min", **options)
        found = epochs(callback, values, *net_and_rate(0.8), validates=True)[1]
        again = train.ReduceLROnPlateau("x", factor=0.5, mode="min", **options)
        again.load_state_dict(callback.state_dict())
        assert again.state_dict() == callback.state_dict()
        return found

    flat = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert rates(flat, patience=2) == [0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.1]
    assert rates(flat, patience=1, min_lr=0.3) == [0.8, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3]
    assert rates(flat, patience=1, cooldown=2) == [0.8, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1]
    assert rates([1.0, None, 1.0, None, 1.0], patience=2) == [0.8, 0.8, 0.8, 0.8, 0.4]
    assert rates([3.0, 2.0, 1.0, 0.99995], patience=1) == [0.8, 0.8, 0.8, 0.4]
    assert capsys.readouterr().out == ""
    assert rates([1.0, 1.0], patience=1, verbose=True) == [0.8, 0.4]
    assert capsys.readouterr().out.startswith("Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.4")


def test_a_function_says_each_rate():
    optimizer, seen = net_and_rate(0.5)[1], []
    callback = train.LearningRateScheduler(
        lambda rate, step: seen.append((rate, step)) or (0.1 if step < 3 else np.float32(0))
    )
    for step in (1, 2, 3):
        callback.on_train_step_end(run(optimizer=optimizer, cur_step_num=step))
    assert seen == [(0.5, 1), (0.1, 2), (0.1, 3)]
    assert optimizer.learning_rate.item() == 0.0
    for bad in (-0.1, True, None, "1", math.nan):
        other = train.LearningRateScheduler(lambda rate, step, bad=bad: bad)
        with pytest.raises(ArgumentError, match="no learning rate"):
            other.on_train_step_end(run(optimizer=net_and_rate()[1], cur_step_num=1))


def test_one_rate_for_all_can_be_changed():
    weights = [Parameter(np.ones(1, "f"), name=name) for name in "ab"]
    groups = [{"params": weights[:1], "lr": 0.1}, {"params": weights[1:]}]
    each(lambda rule: refused(lambda: rate_of(rule, "someone"), ArgumentError), [
        ("groups", (nn.SGD(groups, 0.5),)), ("a list", (nn.SGD(weights, [0.1, 0.2]),)),
        ("a schedule", (nn.SGD(weights, nn.ExponentialDecayLR(0.1, 0.5, 2)),)), ("no optimizer", (None,)),
    ])  # fmt: skip
    assert rate_of(nn.SGD(weights, 0.5), "someone").item() == 0.5
    assert rate_of(nn.SGD([{"params": weights}], 0.25), "someone").item() == 0.25


# ---------------------------------------------------------------------------------------- runs


def rows(count=6):
    return ds.NumpySlicesDataset({"x": np.ones((count, 1), "f"), "y": np.ones((count, 1), "f")}, shuffle=False).batch(2)


def test_an_evaluation_stops_where_it_is_asked_to():
    net, optimizer = net_and_rate()
    model, seen = train.Model(net, nn.MSELoss(), optimizer, metrics={"mse"}), []

    def second(context):
        seen.append(context.original_args().cur_step_num)
        if len(seen) == 2:
            context.request_stop()

    assert list(model.eval(rows(), callbacks=train.LambdaCallback(on_eval_step_end=second))) == ["mse"]
    assert seen == [1, 2]
    assert model.predict_network is net
    assert model.eval_network is not None
    assert train.Model(net).eval_network is None
    model.fit(1, rows())
    assert optimizer.global_step.item() == 3


def test_a_helper_tells_of_its_rows():
    helper = train.DatasetHelper(rows(), dataset_sink_mode=False, sink_size=2)
    assert helper.sink_size() == 3
    assert train.DatasetHelper(rows(), sink_size=2).sink_size() == 2
    assert [list(map(str, kinds)) for kinds in helper.types_shapes()] == [["float32"] * 2, ["[2, 1]"] * 2]
    assert helper.get_mbuf_queue_size() == 0
    assert helper.get_send_info(None) == {"waiting": 0}
    each(lambda given: refused(lambda: train.DatasetHelper(rows(), **given)), [(str(g), (g,)) for g in (
        {"sink_size": 0}, {"sink_size": -2}, {"sink_size": True}, {"dataset_sink_mode": 1}, {"epoch_num": 0},
        {"epoch_num": -2}, {"epoch_num": 1.0},
    )])  # fmt: skip


@pytest.mark.many(("stride", "group"), [(1, 1), (2, 1), (1, 2), (3, 2)])
def test_operations_of_convolutions_are_counted(stride, group):
    net = nn.Conv2d(4, 6, 3, stride, pad_mode="valid", group=group)
    program = ms.jit(net)
    out = program(ops.ones((2, 4, 9, 9)))
    assert flops.operations(program) == 2 * int(np.prod(out.shape)) * 9 * 4 // group
