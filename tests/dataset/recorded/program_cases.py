"""Random pipelines in names that both libraries have; the same seed draws the same one with either of them.

What the libraries mean differently by decision (docs/differences.md) is not drawn: shares that do not divide, buckets
by a column that is not the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

TYPES = ("int32", "int64", "uint8", "float32", "float64", "bool", "int16", "float16")
COUNT = 1500


def increased(x: np.ndarray) -> np.ndarray:
    return np.asarray(x + np.ones((), x.dtype), x.dtype)


def doubled(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x, np.asarray(np.add(x, x), x.dtype)


def swapped(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return y, x


def repeated(x: np.ndarray) -> np.ndarray:
    return np.full(int(np.sum(x)) % 3 + 1, 1, np.int32)


def even(x: np.ndarray) -> bool:
    return int(np.sum(x)) % 2 == 0


def growing(info: Any) -> int:
    return info.get_batch_num() + 1


def numbered(rows: list[np.ndarray], info: Any) -> tuple[list[np.ndarray]]:
    return ([np.asarray(x * np.array(info.get_batch_num(), x.dtype), x.dtype) for x in rows],)


def widened(rows: list[np.ndarray], info: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return rows, [x.astype(np.float64) for x in rows]


class Rows:
    """A source with random access."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return self.values[index], np.array([index], np.int32)


class Drawn:
    """Draws the steps of a pipeline, and puts them together with one of the libraries."""

    def __init__(self, ds: Any, seed: int) -> None:
        self.ds, self.rng, self.fresh = ds, np.random.default_rng(seed), 0

    def pick(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def choose(self, options: Any) -> Any:
        return options[self.pick(0, len(options) - 1)]

    def name(self) -> str:
        self.fresh += 1
        return f"c{self.fresh}"

    def source(self) -> Any:
        ds, count = self.ds, self.pick(2, 9)
        values = np.arange(count).astype(self.choose(TYPES))
        kind = self.choose(("one", "two", "named", "rows", "generator", "share", "subset", "chained", "some"))
        if kind == "two":
            names = [self.name(), self.name()]
            return ds.NumpySlicesDataset((values, np.stack([values, values], 1)), names, shuffle=False)
        if kind == "named":
            return ds.NumpySlicesDataset({self.name(): values, self.name(): np.arange(count)}, shuffle=False)
        if kind == "rows":
            return ds.GeneratorDataset(Rows(values), [self.name(), self.name()], shuffle=False)
        if kind == "generator":
            return ds.GeneratorDataset(lambda: ((v,) for v in values), [self.name()])
        options: dict[str, Any] = {"shuffle": False}
        if kind == "share":
            shards = self.choose([n for n in range(1, 5) if count % n == 0])
            options |= {"num_shards": shards, "shard_id": self.pick(0, shards - 1)}
        if kind in ("subset", "chained"):
            chosen = ds.SubsetSampler([self.pick(0, count - 1) for _ in range(self.pick(2, 6))])
            sampler = ds.SequentialSampler(0, 2) if kind == "chained" else chosen
            if kind == "chained":
                sampler.add_child(chosen)
            options = {"sampler": sampler}
        if kind == "some":
            options["num_samples"] = self.pick(1, count)
        return ds.NumpySlicesDataset(values, [self.name()], **options)

    def step(self, d: Any) -> Any:
        first, *_ = names = d.get_col_names()
        columns = sorted(names)  # what per_batch_map does not name comes in no certain order with MindSpore
        one = self.choose(columns)
        steps: dict[str, Callable[[], Any]] = {
            "increased": lambda: d.map(increased, [one]),
            "twice": lambda: d.map([increased, increased], [one]),
            "doubled": lambda: d.map(doubled, [one], [one, self.name()]),
            "swapped": lambda: d.map(swapped, columns[:2], columns[1::-1]) if len(columns) > 1 else d,
            "repeated": lambda: d.map(repeated, [one]),
            "even": lambda: d.filter(even, [one]),
            "batch": lambda: d.batch(self.pick(1, 4), drop_remainder=bool(self.pick(0, 1))),
            "growing": lambda: d.batch(growing),
            "numbered": lambda: d.batch(self.pick(1, 3), per_batch_map=numbered, input_columns=[one]),
            "widened": lambda: d.batch(2, per_batch_map=widened, input_columns=[first],
                                       output_columns=[self.name(), self.name()]),
            "padded": lambda: d.padded_batch(self.pick(1, 3), pad_info={}),
            "bucket": lambda: d.map(repeated, [first]).bucket_batch_by_length([first], [2, 3], [2, 2, 2]),
            "take": lambda: d.take(self.pick(1, 6)),
            "skip": lambda: d.skip(self.pick(0, 3)),
            "repeat": lambda: d.repeat(self.pick(1, 3)),
            "zip": lambda: self.ds.zip((d, self.source())),
            "project": lambda: d.project([columns[i] for i in self.rng.permutation(len(columns))[: self.pick(1, 2)]]),
            "rename": lambda: d.rename(one, self.name()),
        }  # fmt: skip
        return steps[self.choose(list(steps))]()


def answer(ds: Any, seed: int) -> dict[str, Any]:
    """What two epochs of a drawn pipeline give, as plain data."""
    drawn = Drawn(ds, seed)
    dataset = drawn.source()
    for _ in range(drawn.pick(0, 5)):
        dataset = drawn.step(dataset)
    rows = dataset.create_dict_iterator(num_epochs=2, output_numpy=True)
    epochs = [[{k: [str(v.dtype), list(v.shape), v.tolist()] for k, v in r.items()} for r in rows] for _ in range(2)]
    return {"size": dataset.get_dataset_size(), "epochs": epochs}
