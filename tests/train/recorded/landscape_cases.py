"""A small network and the weights of its training, of which landscapes are drawn; of the framework, theirs or ours."""

import numpy as np

SETTINGS = {
    "landscape_size": 5, "unit": "step", "num_samples": 8, "create_landscape": {"train": True, "result": False},
    "step_per_epoch": 2,
}  # fmt: skip


def made(ms):
    """What a user's function makes: a model, its network, a dataset and metrics."""
    net = ms.nn.SequentialCell(ms.nn.Dense(2, 3), ms.nn.BatchNorm1d(3), ms.nn.Tanh(), ms.nn.Dense(3, 1))
    metrics = {"Loss": ms.train.Loss()}
    model = ms.train.Model(net, ms.nn.MSELoss(), metrics=metrics)
    x = np.random.default_rng(5).normal(size=(12, 2)).astype(np.float32)
    rows = ms.dataset.NumpySlicesDataset({"x": x, "y": x.sum(1, keepdims=True)}, shuffle=False).batch(4)
    return model, net, rows, metrics


def weights(number):
    """The weights after a step, by name."""
    rng = np.random.default_rng(0)
    shapes = {"0.weight": (3, 2), "0.bias": (3,), "1.gamma": (3,), "1.beta": (3,), "1.moving_mean": (3,),
              "1.moving_variance": (3,), "3.weight": (1, 3), "3.bias": (1,)}  # fmt: skip
    held = {}
    for name, shape in shapes.items():
        start, way = np.abs(rng.normal(size=shape)), rng.normal(size=(4, *shape))
        held[name] = (start + sum(way[i] * 0.3 / (i + 1) for i in range(number))).astype(np.float32)
    return held


def keep(ms, folder, **settings):
    """Save weights as a SummaryCollector does, and what is to be drawn."""
    import json

    place = folder / "ckpt_dir"
    place.mkdir(parents=True)
    files = {}
    for number in range(1, 5):
        files[str(number)] = str(place / f"net_{number}_step.ckpt")
        ms.save_checkpoint([{"name": k, "data": ms.Tensor(v)} for k, v in weights(number).items()], files[str(number)])
    told = {**SETTINGS, "epoch_group": {"0": [1, 2, 3, 4]}, "model_params_file_map": files, **settings}
    (place / "train_metadata.json").write_text(json.dumps(told))
