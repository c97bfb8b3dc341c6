"""Batches are the rows of a plain Python loop, stacked, bit for bit: any columns, dtypes, orders and workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import vision

Row = dict[str, np.ndarray]
MEANS, DEVIATIONS = (120.5, 115.0, 104.25), (58.0, 57.5, 57.0)
TYPES = ("uint8", "int8", "int32", "int64", "float16", "float32", "float64", "bool", "<U3")
SIZE = (4, 5, 3)


@dataclass(frozen=True)
class Named:
    """A plain function that pickles: what spawned processes need."""

    which: str

    @property
    def __name__(self) -> str:
        return self.which

    def __call__(self, *columns):
        return FUNCTIONS[self.which](*columns)


FUNCTIONS: dict[str, Callable] = {
    "same": lambda x: x,
    "both": lambda x: (x, x),
    "shifted_and_same": lambda x: (x + x.dtype.type(1), x),
    "same_and_shifted": lambda x: (x, x + x.dtype.type(1)),
    "swapped": lambda x, y: (y, x),
    "first": lambda x, y: x,
    "view": lambda x: x[..., ::-1],
    "backwards": lambda x: np.ascontiguousarray(x[::-1]),
    "in_place": lambda x: np.add(x, x.dtype.type(2), out=x),
}


def pictures(*steps: object) -> list[object]:
    return [vision.Normalize(MEANS, DEVIATIONS), vision.HWC2CHW(), *steps]


@dataclass(frozen=True)
class Case:
    """A pipeline and its rows, made by a plain loop."""

    dataset: ds.Dataset
    rows: list[Row]
    text: str


class Maker:
    """Draws pipelines of several columns; equal seeds draw equal pipelines."""

    def __init__(self, seed: int, processes: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.processes = processes
        self.fresh = 0

    def pick(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def choose(self, options):
        return options[self.pick(0, len(options) - 1)]

    def name(self) -> str:
        self.fresh += 1
        return f"c{self.rng.integers(100):02d}_{self.fresh}"  # alphabetical order is not that of making

    def values(self, count: int) -> np.ndarray:
        if self.pick(0, 2):
            shape = (count, *self.choose([SIZE, SIZE, (3, *SIZE[:2]), (5, 4, 3)]))
            kind = self.choose(["uint8", "uint8", "uint8", "float32", "float32"])
            return self.rng.integers(0, 256, shape).astype(kind)
        shape = (count, *self.choose([(), (2,), (0,), (1, 3)]))
        kind = self.choose(TYPES)
        return self.rng.integers(0, 3, shape).astype(kind)

    def source(self, count: int) -> Case:
        columns = {self.name(): self.values(count) for _ in range(self.pick(1, 3))}
        rows = [{k: v[i : i + 1].reshape(v.shape[1:]).copy() for k, v in columns.items()} for i in range(count)]
        return Case(
            ds.NumpySlicesDataset(columns, shuffle=False), rows, f"source{ {k: v.dtype for k, v in columns.items()} }"
        )

    def how(self) -> dict[str, object]:
        workers = self.choose([None, 1, 2, 3])
        apart = self.processes and self.pick(0, 1)
        return (
            {"num_parallel_workers": workers or 2, "python_multiprocessing": True}
            if apart
            else {"num_parallel_workers": workers}
        )

    def map(self, case: Case) -> Case:
        names = list(case.rows[0])
        images = [n for n in names if case.rows[0][n].shape == SIZE and case.rows[0][n].dtype == np.uint8]
        numeric = [n for n in names if case.rows[0][n].dtype.kind in "iuf"]
        deep = [n for n in names if case.rows[0][n].ndim >= 1]
        if images and self.pick(0, 3):
            if len(images) > 1 and self.pick(0, 1):
                before = images[:2] if self.pick(0, 1) else images[1::-1]
                return self.mapped(case, pictures(), before, before)
            one = self.choose(images)
            kind = self.pick(0, 4)
            if kind == 0:
                return self.mapped(case, pictures(Named("shifted_and_same")), [one], [self.name(), self.name()])
            if kind == 1:
                return self.mapped(case, pictures(Named("same_and_shifted")), [one], [self.name(), one])
            if kind == 2:
                return self.mapped(case, [Named("both"), *pictures()], [one], [self.name(), self.name()])
            if kind == 3:
                return self.mapped(case, pictures(Named("in_place")), [one], [one])
            return self.mapped(case, pictures(), [one], [one])
        which = self.choose(list(FUNCTIONS))
        if which in ("swapped", "first"):
            if len(names) < 2:
                return case
            before = [names[i] for i in self.rng.permutation(len(names))[:2]]
            return self.mapped(case, [Named(which)], before, before if which == "swapped" else [before[0]])
        pool = (
            numeric if "shifted" in which or which == "in_place" else deep if which in ("view", "backwards") else names
        )
        if not pool:
            return case
        one = self.choose(pool)
        after = [self.name(), self.choose([one, self.name()])] if which == "both" or "shifted" in which else [one]
        return self.mapped(case, [Named(which)], [one], after)

    def mapped(self, case: Case, steps: list, before: list[str], after: list[str]) -> Case:
        dataset = case.dataset.map(steps, before, after, **self.how())
        rows = []
        for row in case.rows:
            values = tuple(row[n].copy() for n in before)
            for step in steps:
                made = step(*values)
                values = made if isinstance(made, tuple) else (made,)
            new = dict(zip(after, values, strict=True))
            if len(before) == len(after):
                renamed = dict(zip(before, after, strict=True))
                whole = {renamed.get(n, n): new[renamed[n]] if n in renamed else row[n] for n in row}
            else:
                whole = {**new, **{n: v for n, v in row.items() if n not in before and n not in new}}
            rows.append({n: np.array(v) for n, v in whole.items()})
        told = ", ".join(getattr(s, "__name__", type(s).__name__) for s in steps)
        return Case(dataset, rows, f"{case.text}.map([{told}], {before}, {after})")

    def zip(self, case: Case) -> Case:
        other = self.source(len(case.rows))
        for _ in range(self.pick(0, 2)):
            other = self.map(other)
        both = [case, other] if self.pick(0, 1) else [other, case]
        rows = [{**a, **b} for a, b in zip(both[0].rows, both[1].rows, strict=True)]
        return Case(ds.zip([c.dataset for c in both]), rows, f"zip({both[0].text}, {both[1].text})")

    def project(self, case: Case) -> Case:
        names = list(case.rows[0])
        kept = [names[i] for i in self.rng.permutation(len(names))[: self.pick(1, len(names))]]
        return Case(
            case.dataset.project(kept), [{n: r[n] for n in kept} for r in case.rows], f"{case.text}.project({kept})"
        )

    def repeat(self, case: Case) -> Case:
        return Case(case.dataset.repeat(2), case.rows * 2, f"{case.text}.repeat(2)")

    def filter(self, case: Case) -> Case:
        return replace(case, dataset=case.dataset.filter(always), text=f"{case.text}.filter()")

    def twice(self, case: Case) -> Case:
        return replace(case, dataset=case.dataset + case.dataset, rows=case.rows * 2, text=f"{case.text} + itself")

    def case(self) -> Case:
        case = self.source(self.pick(2, 8))
        for _ in range(self.pick(1, 5)):
            case = self.choose(
                [self.map, self.map, self.map, self.map, self.zip, self.project, self.repeat, self.twice, self.filter]
            )(case)
        return case


def always(*columns):
    return True


def stacked(rows: list[Row], size: int, drop: bool) -> list[Row]:
    groups = [rows[i : i + size] for i in range(0, len(rows), size)]
    return [{n: np.stack([r[n] for r in g]) for n in g[0]} for g in groups if len(g) == size or not drop]


def check(seed: int, processes: bool) -> None:
    maker = Maker(seed, processes)
    case = maker.case()
    size, drop = maker.pick(1, 6), bool(maker.pick(0, 1))
    dataset, expected = case.dataset.batch(size, drop), stacked(case.rows, size, drop)
    if maker.pick(0, 3) == 0 and len(case.rows) % size == 0:
        dataset, expected = dataset.batch(2), stacked(expected, 2, False)
    told = f"seed {seed}: {case.text}.batch({size}, {drop})"
    ds.config.set_num_parallel_workers(maker.choose([1, 2, 4]))
    got = list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert len(got) == len(expected), told
    for have, want in zip(got, expected, strict=True):
        assert list(have) == list(want), told
        for name in want:
            assert have[name].dtype == want[name].dtype, f"{told}: {name}"
            assert have[name].tobytes() == want[name].tobytes(), f"{told}: {name}"
            assert have[name].shape == want[name].shape, f"{told}: {name}"


@pytest.mark.parametrize("block", range(4))
def test_a_batch_is_its_rows_stacked(block, nothing_left):
    for seed in range(60 * block, 60 * block + 60):
        check(seed, processes=seed % 20 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_many_batches_are_their_rows_stacked(block, nothing_left):
    for seed in range(10_000 + 100 * block, 10_100 + 100 * block):
        check(seed, processes=seed % 10 == 0)


def images(count: int = 6) -> ds.Dataset:
    return ds.NumpySlicesDataset(
        {"image": np.random.default_rng(0).integers(0, 256, (count, *SIZE)).astype(np.uint8)}, shuffle=False
    )


def test_what_a_later_function_makes_of_a_picture_does_not_write_over_it():
    both = images().map(pictures(Named("shifted_and_same")), "image", ["noisy", "clean"])
    (batch,) = both.batch(6).create_dict_iterator(num_epochs=1, output_numpy=True)
    np.testing.assert_array_equal(batch["noisy"], batch["clean"] + np.float32(1))
    rows = list(both.create_dict_iterator(num_epochs=1, output_numpy=True))
    np.testing.assert_array_equal(batch["clean"], np.stack([r["clean"] for r in rows]))


def test_targets_and_pictures_of_one_shape_stay_apart():
    targets = np.random.default_rng(1).random((6, 3, *SIZE[:2])).astype(np.float32)
    made = images().map(pictures(), "image")
    both = ds.zip((ds.NumpySlicesDataset({"target": targets}, shuffle=False), made))
    (batch,) = both.batch(6).create_dict_iterator(num_epochs=1, output_numpy=True)
    np.testing.assert_array_equal(batch["target"], targets)
    np.testing.assert_array_equal(
        batch["image"], np.stack([r[0] for r in made.create_tuple_iterator(num_epochs=1, output_numpy=True)])
    )


def test_columns_may_be_mapped_in_any_order():
    whole = np.random.default_rng(0).integers(0, 256, (2, 6, *SIZE)).astype(np.uint8)
    two = ds.NumpySlicesDataset({"a": whole[0], "b": whole[1]}, shuffle=False)
    (batch,) = two.map(pictures(), "b").map(pictures(), "a").batch(6).create_dict_iterator(1, output_numpy=True)
    for name, column in zip("ab", whole, strict=True):
        loop = [vision.HWC2CHW()(vision.Normalize(MEANS, DEVIATIONS)(image)) for image in column]
        np.testing.assert_array_equal(batch[name], np.stack(loop))


@pytest.mark.parametrize("mode", ["SKIP", "REPLACE"])
def test_a_bad_row_leaves_no_trace_in_its_batch(mode):
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode[mode])

    def picky(image):
        if image[0, 0, 0] % 3 == 0:
            raise ValueError("three is bad")
        return image

    source = np.arange(12, dtype=np.uint8).repeat(np.prod(SIZE)).reshape(12, *SIZE)
    fused = ds.NumpySlicesDataset({"image": source}, shuffle=False).map([picky, *pictures()], "image").batch(5)
    loop = [vision.HWC2CHW()(vision.Normalize(MEANS, DEVIATIONS)(image)) for image in source]
    good = [1, 2, 4, 5, 7, 8, 10, 11]
    near = [1, 1, 2, 2, 4, 5, 5, 7, 8, 8, 10, 11]
    expected = np.stack([loop[i] for i in (good if mode == "SKIP" else near)])
    got = np.concatenate([b["image"] for b in fused.create_dict_iterator(num_epochs=1, output_numpy=True)])
    np.testing.assert_array_equal(got, expected)
