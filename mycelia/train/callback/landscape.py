"""The landscape of a loss: how it rises and falls around weights of a training, along two directions.

`SummaryCollector` keeps the weights of some steps or epochs, and what is to be drawn, in `ckpt_dir`. For the way of a
training the directions are the first principal components (PCA) of how its weights differ from the last ones, for its
result they are random. Of each parameter a direction is as long as the parameter itself, so that landscapes of
different networks compare. Only weights and biases move: names that hold "weight" or "bias", and no "moment".
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from mycelia import checks
from mycelia.api.jit import jit
from mycelia.common import get_seed
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, CallError
from mycelia.names import nearest
from mycelia.nn import Cell, WithLossCell
from mycelia.train.metrics import get_metrics
from mycelia.train.serialization import load_checkpoint, load_param_into_net
from mycelia.train.summary import SummaryRecord
from mycelia.types import Array

SETTINGS: dict[str, Any] = {
    "landscape_size": 40, "unit": "step", "num_samples": 2048, "create_landscape": {"train": True, "result": True},
    "intervals": [[1, 2, 3, 4, 5]],
}  # fmt: skip
"""What is drawn where nobody says otherwise."""

SMALLEST, LARGEST = 3, 256  # points of a landscape along one direction
MARGIN = 0.2  # how far a landscape goes beyond the way of a training, as a share of it
DEVICES = 8
METADATA = "train_metadata.json"
TOLD = {"epoch_group", "model_params_file_map", "step_per_epoch", *SETTINGS} - {"intervals"}

Point = tuple[float, float]
Weights = dict[str, Array]
Made = tuple[Any, Cell, Any, Any]  # what a user's function makes: a model, its network, a dataset, metrics


class SummaryLandscape:
    """Draws landscapes of a loss from what `SummaryCollector` kept in `summary_dir` with "collect_landscape".

    >>> import tempfile
    >>> SummaryLandscape(tempfile.mkdtemp()).gen_landscapes_with_multi_process(lambda: None)
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: there is no train_metadata.json in ...
    """

    def __init__(self, summary_dir: str | os.PathLike[str]) -> None:
        self.folder = Path(summary_dir)
        self.kept = self.folder / "ckpt_dir"
        self.kept.mkdir(parents=True, exist_ok=True)

    def clean_ckpt(self) -> None:
        """Remove the weights that were kept.

        >>> import tempfile
        >>> landscape = SummaryLandscape(tempfile.mkdtemp())
        >>> landscape.clean_ckpt()
        >>> landscape.kept.exists()
        False
        """
        shutil.rmtree(self.kept, ignore_errors=True)

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Callable[[], Made],
        collect_landscape: Mapping[str, Any] | None = None,
        device_ids: Sequence[int] | None = None,
        output: str | os.PathLike[str] | None = None,
    ) -> None:
        """Compute the landscapes, and write them as summaries to `output`, or where the training's are.

        `callback_fn()` makes a model with a loss, its network, a dataset and metrics with `{"Loss": Loss()}`.
        `collect_landscape` changes settings of `SummaryCollector`. Each of `device_ids` stands for a process, which
        computes a part of the points; one, or None, is this process.

        TensorBoard shows a landscape as a picture, and its numbers as a text.
        """
        told = self._told(collect_landscape)
        count = _processes(device_ids)
        with SummaryRecord(str(output if output is not None else self.folder)) as record:
            for name, landscape in self._landscapes(told, callback_fn, count):
                record.add_value("LANDSCAPE", name, landscape)
                record.add_value("image", name, Tensor(np.array(landscape["z"], np.float32)[None, None, ::-1]))
                record.record(0)

    def _told(self, changed: Mapping[str, Any] | None) -> dict[str, Any]:
        """What was kept, and what is to be drawn."""
        place = self.kept / METADATA
        if not place.is_file():
            raise ArgumentError(
                f"there is no {METADATA} in {self.kept}",
                hint='train with SummaryCollector(..., collect_specified_data={"collect_landscape": {...}})',
            )
        told: dict[str, Any] = json.loads(place.read_text())
        if not isinstance(told, dict) or set(told) != TOLD:
            raise ArgumentError(f"{place} was not written by a SummaryCollector")
        groups = list(told.pop("epoch_group").values())
        told = {**told, "intervals": groups, **check_landscape("SummaryLandscape", changed or {})}
        check_landscape("SummaryLandscape", {name: told[name] for name in SETTINGS})
        kept = told["model_params_file_map"]
        missing = sorted({number for group in told["intervals"] for number in group if str(number) not in kept})
        if missing:
            raise ArgumentError(
                f"no weights were kept after {told['unit']} {', '.join(map(str, missing))}",
                given={"kept": ", ".join(kept)}, hint="intervals of SummaryCollector say what is kept",
            )  # fmt: skip
        return told

    def _landscapes(
        self, told: dict[str, Any], make: Callable[[], Made], count: int
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Names and landscapes: of the way between the weights of each interval, and of the result."""
        size, kept = told["landscape_size"], told["model_params_file_map"]
        about = {name: told[name] for name in ("unit", "step_per_epoch", "num_samples")}

        def weights(number: int) -> Weights:
            return {name: p.asnumpy() for name, p in load_checkpoint(self._place(kept[str(number)])).items()}

        if told["create_landscape"]["train"]:
            for interval in told["intervals"]:
                way = [weights(number) for number in interval]
                yield f"landscape_{[interval[0], interval[-1]]}", {**_of_a_way(way, size, make, about, count),
                                                                    "intervals": interval}  # fmt: skip
        if told["create_landscape"]["result"]:
            last = told["intervals"][-1][-1]
            yield f"landscape_{[last]}", {**_of_a_result(weights(last), size, make, about, count), "intervals": [last]}

    def _place(self, written: str) -> Path:
        """Where weights are; the folder may have been moved since."""
        place = Path(written)
        return place if place.is_file() else self.kept / place.name


# ------------------------------------------------------------------------------------------------------------ settings


def check_landscape(owner: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of landscapes, if they are such.

    >>> check_landscape("SummaryLandscape", {"landscape_size": 4})
    {'landscape_size': 4}
    """
    if not isinstance(given, Mapping):
        raise CallError(f"collect_landscape of {owner} is a dictionary, not a {type(given).__name__}")
    for name, value in given.items():
        if name not in SETTINGS:
            raise ArgumentError(f"collect_landscape has no {name!r}", hint=nearest(str(name), SETTINGS))
        if name == "unit":
            checks.choice(owner, name, value, ("step", "epoch"))
        elif name == "create_landscape":
            if not isinstance(value, Mapping) or set(value) != {"train", "result"}:
                raise ArgumentError(f'create_landscape is {{"train": ..., "result": ...}}, not {value!r}')
            for what, wanted in value.items():
                checks.truth("create_landscape", what, wanted)
        elif name == "intervals":
            _check_intervals(value)
        else:
            checks.whole(owner, name, value, least=SMALLEST if name == "landscape_size" else 1)
            if name == "landscape_size" and value > LARGEST:
                raise ArgumentError(f"landscape_size is a number from {SMALLEST} to {LARGEST}, not {value}")
    return dict(given)


def _check_intervals(value: Any) -> None:
    if not isinstance(value, list) or not value or not all(isinstance(interval, list) for interval in value):
        raise ArgumentError(f"intervals are lists of steps or epochs in a list, not {value!r}")
    for interval in value:
        if len(interval) < 3 or not all(type(number) is int for number in interval):
            raise ArgumentError(f"an interval is at least three steps or epochs, not {interval!r}")


def _processes(device_ids: Sequence[int] | None) -> int:
    """How many processes compute."""
    if device_ids is None:
        return 1
    if not isinstance(device_ids, list | tuple) or not device_ids:
        raise CallError(f"device_ids is a list of numbers, not {device_ids!r}")
    for number in device_ids:
        if checks.whole("gen_landscapes_with_multi_process", "device_ids", number, least=0) >= DEVICES:
            raise ArgumentError(f"device_ids are from 0 to {DEVICES - 1}, and one is {number}")
    return len(device_ids)


# ---------------------------------------------------------------------------------------------------------- directions


def _moves(name: str) -> bool:
    return ("weight" in name or "bias" in name) and "moment" not in name


def _flat(weights: Weights) -> Array:
    return np.concatenate([a.reshape(-1).astype(np.float64) for name, a in weights.items() if _moves(name)])


def _as_long(direction: Array, weights: Weights) -> Weights:
    """A direction by parameter, each part as long as the parameter; what does not move has none."""
    parts, at = {}, 0
    for name, array in weights.items():
        if _moves(name):
            part = direction[at : at + array.size].reshape(array.shape)
            length = float(np.linalg.norm(part))
            parts[name] = part * (float(np.linalg.norm(array.astype(np.float64))) / length) if length else part
            at += array.size
    return parts


def principal(rows: Array) -> tuple[Array, Array]:
    """The first and the last of two principal components of points, each a row, as directions in their space.

    >>> first, second = principal(np.array([[3.0, 0.0, 0.0], [0.0, 0.5, 0.0]]))
    >>> first.round(3).tolist()
    [2.007, -1.025, -0.982]
    """
    columns = rows.T - rows.T.mean(0)
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    u = u * np.sign(u[np.abs(u).argmax(0), np.arange(u.shape[1])])  # of two signs, that of the largest number
    found = u[:, :2] * np.where(s == 0, 1e-19, s)[:2]
    return found[:, 0], found[:, -1]


# ---------------------------------------------------------------------------------------------------------- landscapes


def _of_a_way(
    way: list[Weights], size: int, make: Callable[[], Made], about: dict[str, Any], count: int
) -> dict[str, Any]:
    """The landscape around the way that weights went, in the plane of its principal components."""
    last = way[-1]
    flat = [_flat(weights) for weights in way]
    directions = [_as_long(d, last) for d in principal(np.stack(flat[:-1]) - flat[-1])]
    plane = np.stack([np.concatenate([part.reshape(-1) for part in d.values()]) for d in directions], 1)
    points = [np.linalg.lstsq(plane, weights - flat[-1], rcond=None)[0] for weights in flat]
    axes = [_axis(np.array([p[i] for p in points]), size) for i in (0, 1)]
    path = [(float(p[0]), float(p[1])) for p in points]
    found = _losses([*path, *_grid(*axes)], last, directions, make, about, count)
    z = np.array(found[len(path) :]).reshape(size, size).tolist()
    return {
        "decomposition": "PCA", "x": axes[0].tolist(), "y": axes[1].tolist(), "z": z,
        "path": {"x": [p[0] for p in path], "y": [p[1] for p in path], "z": found[: len(path)]},
        "convergence_point": {"x": 0.0, "y": 0.0, "z": found[len(path) - 1]}, **about,
    }  # fmt: skip


def _of_a_result(
    last: Weights, size: int, make: Callable[[], Made], about: dict[str, Any], count: int
) -> dict[str, Any]:
    """The landscape around weights, in a random plane."""
    rng = np.random.default_rng(get_seed())
    moving = sum(a.size for name, a in last.items() if _moves(name))
    directions = [_as_long(rng.normal(size=moving), last) for _ in range(2)]
    axis = np.linspace(-1.0, 1.0, size)
    z = np.array(_losses(_grid(axis, axis), last, directions, make, about, count)).reshape(size, size)
    middle = size // 2
    nearest_point = {"x": float(axis[middle]), "y": float(axis[middle]), "z": float(z[middle, middle])}
    return {
        "decomposition": "Random", "x": axis.tolist(), "y": axis.tolist(), "z": z.tolist(),
        "convergence_point": nearest_point, **about,
    }  # fmt: skip


def _axis(along: Array, size: int) -> Array:
    """Where a landscape is computed along one direction: from the least to the greatest of a way, and a bit beyond."""
    low, high = float(along.min()), float(along.max())
    return np.linspace(low - MARGIN * (high - low), high + MARGIN * (high - low), size)


def _grid(x: Array, y: Array) -> list[Point]:
    """All points, row by row."""
    return [(float(a), float(b)) for b in y for a in x]


def _losses(
    points: list[Point],
    last: Weights,
    directions: list[Weights],
    make: Callable[[], Made],
    about: dict[str, Any],
    count: int,
) -> list[float]:
    """The loss at each point, computed by some processes."""
    samples = about["num_samples"]
    if count == 1:
        return _part(points, last, directions, make, samples)
    with ProcessPoolExecutor(count, get_context("fork")) as pool:  # the user's function need not be in a module
        _MADE.append(make)
        try:
            parts = [pool.submit(_part, points[i::count], last, directions, None, samples) for i in range(count)]
            results = [part.result() for part in parts]
        finally:
            _MADE.pop()
    return [results[i % count][i // count] for i in range(len(points))]


_MADE: list[Callable[[], Made]] = []
"""The user's function: processes inherit it, since not every function can be sent to one."""


def _part(
    points: list[Point], last: Weights, directions: list[Weights], make: Callable[[], Made] | None, samples: int
) -> list[float]:
    """The loss at some points: the mean over the first samples of a dataset, of the network as it trains."""
    model, network, dataset, given = _checked((make or _MADE[-1])())
    loss_of = jit(_with_loss(model).set_train())
    rows = dataset.take(max(1, samples // max(1, dataset.get_batch_size())))
    found = []
    for point in points:
        load_param_into_net(network, {name: Tensor(a) for name, a in _at(point, last, directions).items()})
        metrics = get_metrics(given)
        for metric in metrics.values():
            metric.clear()
        for row in rows.create_tuple_iterator(num_epochs=1):
            out = loss_of(*row)
            for metric in metrics.values():
                metric.update(out[0] if isinstance(out, tuple | list) else out)
        found.append(float(metrics["Loss"].eval()))
    return found


def _checked(made: Any) -> Made:
    if not isinstance(made, tuple | list) or len(made) != 4 or not isinstance(made[1], Cell):
        raise ArgumentError("callback_fn gives a model, its network, a dataset and metrics", given={"gave": type(made)})
    if not isinstance(made[3], Mapping) or "Loss" not in made[3]:
        raise ArgumentError("a landscape is drawn of the metric Loss", hint='metrics = {"Loss": Loss()}')
    return made[0], made[1], made[2], made[3]


def _with_loss(model: Any) -> Cell:
    """What gives the loss of a row, and does not train."""
    if model._optimizer is None:
        return model.train_network  # type: ignore[no-any-return]
    return WithLossCell(model._network, model._loss_fn) if model._loss_fn is not None else model._network


def _at(point: Point, last: Weights, directions: list[Weights]) -> Weights:
    """The weights at a point of the plane."""
    moved = {}
    for name, array in last.items():
        by = sum(step * d[name] for step, d in zip(point, directions, strict=True)) if name in directions[0] else 0.0
        moved[name] = (array + by).astype(array.dtype)
    return moved
