"""A training that may be killed at any moment: `python interrupted.py FOLDER [STEPS BETWEEN SAVES]`."""

import sys
from pathlib import Path

import numpy as np

import mycelia as ms
import mycelia.dataset as ds
from mycelia import amp, nn, train

EPOCHS = 4


class Pausing(train.Callback):
    """Tells where it stands, so that it can be killed there."""

    def on_train_step_end(self, run_context):
        print(run_context.original_args().cur_step_num, flush=True)


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 6)).astype(np.float32)
    rows = ds.NumpySlicesDataset({"x": x, "y": (x[:, 0] > 0).astype(np.int32)}, shuffle=True)
    return rows.map(np.cbrt, ["x"]).batch(4)


def training(folder, steps=1, stop=None, extra=()):
    """Train as far as it goes; the network, the step and the history."""
    ms.set_seed(5)
    ds.config.set_seed(7)
    net = nn.SequentialCell(nn.Dense(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(8, 2))
    rate = nn.CosineDecayLR(0.001, 0.05, 60)
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    manager = amp.DynamicLossScaleManager(2**14, 2, 7)
    model = train.Model(net, nn.CrossEntropyLoss(), optimizer, {"accuracy"}, amp_level="O2", loss_scale_manager=manager)
    history, best = train.History(), train.EarlyStopping("accuracy", patience=9, restore_best_weights=True)
    backup = train.BackupAndRestore(str(folder), save_steps=steps, delete_checkpoint=False)
    model.fit(EPOCHS, data(), data(), callbacks=[history, best, backup, *extra])
    return model, history, best


def state(model, history, best):
    """All that can be compared."""
    arrays = {p.name: p.asnumpy() for p in model.train_network.get_parameters()}
    told = {f"history.{k}": np.array(v) for k, v in history.history.items()}
    return arrays | told | {f"best.{k}": v for k, v in best.weights.items()} | {"best": np.array(best.best)}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    got = state(*training(place / "backup", int(sys.argv[2]), extra=[Pausing()]))
    np.savez(place / "end.npz", **got)
