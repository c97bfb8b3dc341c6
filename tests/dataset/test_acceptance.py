"""The promises of the engine at full length; slow."""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import random

pytestmark = pytest.mark.slow


def noisy(x: np.ndarray) -> np.ndarray:
    """A random transform."""
    return x + random.current().normal(size=4)


def pipeline(workers: int, processes: bool) -> ds.Dataset:
    numbers = ds.NumpySlicesDataset(np.arange(1003), ["x"])
    mapped = numbers.shuffle(100).map(noisy, num_parallel_workers=workers, python_multiprocessing=processes)
    return mapped.batch(8, num_parallel_workers=workers)


@pytest.mark.usefixtures("nothing_left")
def test_batches_are_the_same_with_any_workers_and_after_resuming_at_any_of_fifty_steps():
    iterator = pipeline(1, False).create_tuple_iterator(num_epochs=3, output_numpy=True)
    expected, states = [], []
    for _ in range(3):
        for row in iterator:
            expected.append(row[0])
            states.append(iterator.state_dict())
    ways = [(w, p) for w in (1, 2, 4) for p in (False, True)]
    for workers, processes in ways:
        again = pipeline(workers, processes).create_tuple_iterator(num_epochs=3, output_numpy=True)
        rows = [row[0] for _ in range(3) for row in again]
        assert all(np.array_equal(a, b) for a, b in zip(rows, expected, strict=True))
    steps = np.random.default_rng(0).choice(len(expected) - 1, 50, replace=False).tolist()
    for i, step in enumerate(steps):
        workers, processes = ways[i % len(ways)]
        again = pipeline(workers, processes).create_tuple_iterator(num_epochs=3, output_numpy=True)
        again.load_state_dict(states[step])
        rest = [row[0] for _ in range(3 - again.epoch) for row in again]
        assert len(rest) == len(expected) - step - 1
        assert all(np.array_equal(a, b) for a, b in zip(rest, expected[step + 1 :], strict=True))


@pytest.mark.usefixtures("nothing_left")
def test_a_long_run_holds_no_more_at_its_end_than_at_its_beginning():
    place = Path(__file__).parents[2] / "benchmarks" / "data_soak.py"
    spec = importlib.util.spec_from_file_location("data_soak", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    told = module.soak(60)
    assert told["rss_growth"] < 0.05
    first, last = ({k: v for k, v in told[when].items() if k != "rss"} for when in ("first", "last"))
    assert first == last
    assert told["after"]["processes"] == told["after"]["shared"] == 0


@pytest.mark.usefixtures("nothing_left")
def test_pipelines_that_only_the_collector_finds_are_closed_without_a_deadlock():
    """The collector runs in whichever thread allocates: in the midst of starting a thread, or of dealing to workers."""
    numbers = ds.NumpySlicesDataset(np.arange(2000), ["x"])
    before = gc.get_threshold()
    gc.set_threshold(50, 2, 2)
    try:
        for turn in range(120):
            mapped = numbers.map(noisy, num_parallel_workers=2, python_multiprocessing=turn % 4 == 0)
            dataset = mapped.batch(8) if turn % 2 else mapped.filter(lambda x: x[0] > 0).batch(4)
            holder = {"rows": dataset.create_tuple_iterator(output_numpy=True)}
            holder["itself"] = holder
            for _ in range(3):
                next(holder["rows"])
            del holder
    finally:
        gc.set_threshold(*before)
