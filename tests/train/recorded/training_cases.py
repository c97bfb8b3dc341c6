"""Trainings by `Model`: each takes the framework and a folder, and gives plain data."""

import contextlib
import io
import os
import re

import numpy as np

CASES = {}
MOMENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
NEW = [f"on_{phase}_{moment}" for phase in ("train", "eval") for moment in MOMENTS]


def case(fn):
    """Note a program under its name."""
    CASES[fn.__name__] = fn
    return fn


def data(ms, rows=6, size=2):
    """Rows of numbers and their sums."""
    x = (np.arange(rows * 2, dtype=np.float32).reshape(rows, 2) % 7) / 10
    ds = ms.dataset
    return ds.NumpySlicesDataset({"x": x, "y": x.sum(1, keepdims=True) * 2}, shuffle=False).batch(size)


def model(ms, metrics=None, rate=0.1, **options):
    """A line to be fitted."""
    net = ms.nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    optimizer = ms.nn.SGD(net.trainable_params(), rate)
    return ms.train.Model(net, ms.nn.MSELoss(), optimizer, metrics=metrics or {"mse"}, **options)


def observer(ms, log, name, moments, act=None):
    """A callback that notes where it is called, and may do something there."""

    class Observer(ms.train.Callback):
        def __enter__(self):
            log.append(f"{name} enter")
            return self

        def __exit__(self, *err):
            log.append(f"{name} exit")

    def noting(moment):
        def note(self, run_context):
            now = run_context.original_args()
            keys = ("cur_epoch_num", "cur_step_num", "batch_num", "epoch_num", "mode", "dataset_sink_mode")
            seen = " ".join(str(now.get(k)) for k in keys)
            results = sorted(now.get("eval_results") or {}), sorted(now.get("metrics") or {})
            log.append(f"{name} {moment}: {seen} {results}")
            if act is not None:
                act(moment, run_context)

        return note

    for moment in moments:
        setattr(Observer, moment, noting(moment))
    return Observer()


def watched(ms, run, act=None, old=False):
    """What two callbacks see: with the new names of moments, or one with the old, which `fit` refuses."""
    log = []
    run([observer(ms, log, "new", NEW, act), observer(ms, log, "second", MOMENTS if old else NEW)])
    return log


@case
def train(ms, folder):
    return watched(ms, lambda cb: model(ms).train(2, data(ms), callbacks=cb), old=True)


@case
def train_from_an_epoch(ms, folder):
    return watched(ms, lambda cb: model(ms).train(3, data(ms, 2), callbacks=cb, initial_epoch=1))


@case
def fit(ms, folder):
    return watched(ms, lambda cb: model(ms).fit(2, data(ms), data(ms, 4), callbacks=cb))


@case
def fit_now_and_then(ms, folder):
    first = watched(ms, lambda cb: model(ms).fit(3, data(ms, 2), data(ms, 2), valid_frequency=2, callbacks=cb))
    return first + watched(ms, lambda cb: model(ms).fit(3, data(ms, 2), data(ms, 2), [1, 3], callbacks=cb))


@case
def evaluate(ms, folder):
    return watched(ms, lambda cb: model(ms).eval(data(ms, 4), callbacks=cb), old=True)


@case
def sunk(ms, folder):
    """Sinking on a processor, where MindSpore calls as if nothing sank."""
    return watched(ms, lambda cb: model(ms).train(2, data(ms), callbacks=cb, dataset_sink_mode=True))


@case
def stopped(ms, folder):
    """A callback that asks to stop, at each moment."""
    log = []
    for moment in NEW:
        log.append(f"stop {moment}")

        def act(now, run_context, moment=moment):
            if now == moment:
                run_context.request_stop()

        log += watched(ms, lambda cb: model(ms).fit(3, data(ms), data(ms, 4), callbacks=cb), act)
    return log


def shown(run):
    """What is printed, as lines, with their numbers apart."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    lines = [re.split(r"(-?\d+\.\d+(?:e-?\d+)?)", line) for line in out.getvalue().splitlines()]
    return [[float(p) if i % 2 else p for i, p in enumerate(line)] for line in lines]


@case
def loss_monitor(ms, folder):
    got = shown(lambda: model(ms).train(2, data(ms), callbacks=ms.train.LossMonitor()))
    got += shown(lambda: model(ms).train(2, data(ms, 10), callbacks=ms.train.LossMonitor(3)))
    got += shown(lambda: model(ms).fit(2, data(ms), data(ms), callbacks=[ms.train.LossMonitor(2)]))
    return got + shown(lambda: model(ms).train(1, data(ms), callbacks=ms.train.LossMonitor(0)))


@case
def time_monitor(ms, folder):
    def words(run):
        return [[p for i, p in enumerate(line) if not i % 2] for line in shown(run)]

    got = words(lambda: model(ms).train(2, data(ms), callbacks=ms.train.TimeMonitor()))
    got += words(lambda: model(ms).fit(1, data(ms), data(ms), callbacks=ms.train.TimeMonitor()))
    return got + words(lambda: model(ms).train(1, data(ms), callbacks=ms.train.TimeMonitor(data_time=True)))


@case
def history(ms, folder):
    got = []
    for run in (
        lambda m, h: m.train(2, data(ms), callbacks=h),
        lambda m, h: m.fit(3, data(ms), data(ms, 4), callbacks=h),
        lambda m, h: m.fit(4, data(ms), data(ms, 4), valid_frequency=2, callbacks=[h]),
    ):
        h = ms.train.History()
        run(model(ms, {"mse", "mae"}), h)
        got.append([h.epoch, {k: [float(x) for x in v] for k, v in sorted(h.history.items())}])
    return got


@case
def early_stopping(ms, folder):
    got = []
    for rate, options in (
        (0.1, {}),
        (0.1, {"monitor": "mse", "min_delta": 0.05, "patience": 2}),
        (8.0, {"monitor": "loss", "patience": 1}),
        (8.0, {"monitor": "mse", "patience": 2, "restore_best_weights": True, "verbose": True}),
        (0.1, {"monitor": "mae", "mode": "max", "patience": 1, "verbose": True}),
    ):
        m, h, e = model(ms, {"mse", "mae"}, rate), ms.train.History(), ms.train.EarlyStopping(**options)
        lines = shown(lambda m=m, h=h, e=e: m.fit(6, data(ms), data(ms, 4), callbacks=[h, e]))
        last = m.eval(data(ms, 4))
        got.append([len(h.epoch["epoch"]), e.stopped_epoch, e.wait, float(e.best), float(last["mse"]), lines])
    return got


@case
def rate_on_a_plateau(ms, folder):
    got = []
    for options in (
        {"patience": 1, "min_delta": 10.0},
        {"monitor": "mse", "patience": 2, "factor": 0.5, "min_delta": 10.0, "cooldown": 1},
        {"monitor": "loss", "patience": 0, "factor": 0.5, "min_lr": 0.03, "mode": "max"},
    ):
        m, rates = model(ms), []
        cb = ms.train.ReduceLROnPlateau(**options)
        note = ms.train.LambdaCallback(
            on_train_epoch_end=lambda rc, rates=rates: rates.append(
                float(rc.original_args().optimizer.learning_rate.asnumpy())
            )
        )
        m.fit(6, data(ms), data(ms, 4), callbacks=[cb, note])
        got.append(rates)
    return got


@case
def scheduled_rate(ms, folder):
    rates = []
    note = ms.train.LambdaCallback(
        on_train_step_end=lambda rc: rates.append(float(rc.original_args().optimizer.learning_rate.asnumpy()))
    )
    change = ms.train.LearningRateScheduler(lambda rate, step: rate * 0.5 if step % 2 == 0 else rate)
    model(ms).train(2, data(ms), callbacks=[change, note])
    return rates


@case
def checkpoints(ms, folder):
    got = []
    for i, (epochs, options) in enumerate(
        (
            (2, {}),
            (2, {"save_checkpoint_steps": 2}),
            (3, {"save_checkpoint_steps": 3, "keep_checkpoint_max": 2}),
            (2, {"save_checkpoint_steps": 4, "keep_checkpoint_max": 0}),
        )
    ):
        place = os.path.join(folder, str(i))
        cb = ms.train.ModelCheckpoint("net", place, ms.train.CheckpointConfig(**options))
        model(ms).train(epochs, data(ms), callbacks=[cb])
        got.append(sorted(f for f in os.listdir(place) if f.endswith(".ckpt")))
        got.append(os.path.basename(cb.latest_ckpt_file_name))
    cb = ms.train.ModelCheckpoint("net", os.path.join(folder, "0"), ms.train.CheckpointConfig())
    model(ms).train(1, data(ms, 2), callbacks=[cb])
    got.append(sorted(f for f in os.listdir(os.path.join(folder, "0")) if f.endswith(".ckpt")))
    return got


@case
def what_is_saved(ms, folder):
    config = ms.train.CheckpointConfig(append_info=["epoch_num", "step_num", {"best": 0.5}])
    net = ms.nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    m = ms.train.Model(net, ms.nn.MSELoss(), ms.nn.Momentum(net.trainable_params(), 0.1, 0.9))
    cb = ms.train.ModelCheckpoint("net", folder, config)
    m.train(1, data(ms), callbacks=[cb])
    found = ms.load_checkpoint(cb.latest_ckpt_file_name)
    return sorted([name, np.asarray(p.asnumpy(), float).reshape(-1).tolist()] for name, p in found.items())


@case
def results(ms, folder):
    m = model(ms, {"mse", "mae", "loss"})
    before = m.eval(data(ms, 5))
    m.train(3, data(ms))
    after = m.eval(data(ms, 5))
    said = m.predict(ms.Tensor(np.ones((2, 2), np.float32))).asnumpy()
    return [sorted((k, float(v)) for k, v in r.items()) for r in (before, after)] + [said.tolist()]


@case
def backup(ms, folder):
    place = os.path.join(folder, "backup")
    seen = []
    note = ms.train.LambdaCallback(on_train_epoch_end=lambda rc: seen.append(sorted(os.listdir(place))))
    m = model(ms)
    m.train(2, data(ms), callbacks=[ms.train.BackupAndRestore(place, delete_checkpoint=False), note])
    kept = sorted(os.listdir(place))
    m.train(3, data(ms), callbacks=[ms.train.BackupAndRestore(place), note], initial_epoch=2)
    return [seen, kept, sorted(os.listdir(place))]
