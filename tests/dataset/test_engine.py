"""The engine's laws: any workers give the same rows, in order, from any point; nothing is left behind."""

from __future__ import annotations

import gc
import os

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import random
from mycelia.dataset.flow import request
from mycelia.dataset.flow.table import Order


def noisy(x: np.ndarray) -> np.ndarray:
    """A random transform."""
    return x + random.current().random(3)


def shape_of(kind: str) -> ds.Dataset:
    """Pipelines of every make-up."""
    numbers = ds.NumpySlicesDataset(np.arange(101), ["x"])
    pipelines = {
        "batched": lambda: numbers.map(noisy).batch(7),
        "rows": lambda: numbers.map(noisy),
        "shuffled": lambda: numbers.shuffle(10).map(noisy).repeat(2).batch(8, drop_remainder=True),
        "filtered": lambda: numbers.map(noisy).filter(lambda x: x[0] % 1 > 0.3).shuffle(9).batch(4),
        "generated": lambda: ds.GeneratorDataset(squares, ["x"]).map(noisy).shuffle(5).batch(6),
        "zipped": lambda: ds.zip((numbers.map(noisy), numbers.rename("x", "y"))).batch(5),
        "joined": lambda: (numbers + numbers.map(lambda x: -x)).map(noisy).batch(9).repeat(2),
        "bucketed": lambda: numbers.map(lambda x: np.ones(x % 7 + 1)).bucket_batch_by_length(["x"], [3, 5], [4, 3, 2]),
        "sized": lambda: numbers.map(noisy).batch(lambda info: info.get_batch_num() % 3 + 1),
    }
    return pipelines[kind]()


KINDS = ["batched", "rows", "shuffled", "filtered", "generated", "zipped", "joined", "bucketed", "sized"]


def squares():
    """A plain generator."""
    for i in range(60):
        yield np.array(i * i)


def read(dataset: ds.Dataset, epochs: int = 2) -> list[list[np.ndarray]]:
    iterator = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [row for _ in range(epochs) for row in iterator]


def same(a: list, b: list) -> None:
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        for u, v in zip(x, y, strict=True):
            np.testing.assert_array_equal(u, v)


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_workers_gives_the_same_rows(kind, nothing_left):
    ds.config.set_num_parallel_workers(1)
    expected = read(shape_of(kind))
    for workers in (2, 4):
        ds.config.set_num_parallel_workers(workers)
        same(read(shape_of(kind)), expected)
    ds.config.set_debug_mode(True)
    same(read(shape_of(kind)), expected)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("shared", [True, False])
def test_processes_give_the_same_rows_as_threads(workers, shared, nothing_left):
    numbers = ds.NumpySlicesDataset(np.arange(60), ["x"])
    expected = read(numbers.map(noisy).batch(7))
    ds.config.set_enable_shared_mem(shared)
    same(read(numbers.map(noisy, num_parallel_workers=workers, python_multiprocessing=True).batch(7)), expected)


def test_spawned_processes_give_the_same_rows_as_forked(nothing_left):
    numbers = ds.NumpySlicesDataset(np.arange(20), ["x"]).map(np.sqrt, python_multiprocessing=True).batch(4)
    ds.config.set_num_parallel_workers(2)
    expected = read(numbers, 1)
    ds.config.set_multiprocessing_start_method("spawn")
    same(read(numbers, 1), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pipeline_resumes_at_any_step(kind, nothing_left):
    dataset = shape_of(kind)
    expected = read(dataset, 3)
    steps = np.random.default_rng(0).choice(len(expected) - 1, min(6, len(expected) - 1), replace=False)
    for step in steps.tolist():
        first = dataset.create_tuple_iterator(num_epochs=3, output_numpy=True)
        given = 0
        while given <= step:
            for _ in first:
                given += 1
                if given > step:
                    break
        state = first.state_dict()
        first.stop()
        ds.config.set_num_parallel_workers(step % 3 + 1)
        again = dataset.create_tuple_iterator(num_epochs=3, output_numpy=True)
        again.load_state_dict(state)
        rest = [row for _ in range(3 - again.epoch) for row in again]
        same(rest, expected[given:])


def test_resuming_makes_no_row_twice():
    calls = []
    dataset = ds.NumpySlicesDataset(np.arange(1000), ["x"]).map(lambda x: calls.append(int(x)) or x).batch(10)
    ds.config.set_prefetch_size(1)
    ds.config.set_num_parallel_workers(1)
    first = dataset.create_tuple_iterator(output_numpy=True)
    for _ in range(50):
        next(first)
    state = first.state_dict()
    first.stop()
    calls.clear()
    again = dataset.create_tuple_iterator(output_numpy=True)
    again.load_state_dict(state)
    row = next(again)
    again.stop()
    assert calls[:10] == row[0].tolist()
    assert len(calls) <= 40


def test_a_state_of_another_pipeline_is_refused():
    numbers = ds.NumpySlicesDataset(np.arange(10), ["x"])
    state = numbers.batch(2).create_tuple_iterator().state_dict()
    with pytest.raises(ds.DataError, match="another pipeline"):
        numbers.map(lambda x: x).create_tuple_iterator().load_state_dict(state)


def test_a_state_of_other_sizes_or_another_share_is_refused():
    def shared(shards: int) -> ds.Dataset:
        return ds.NumpySlicesDataset(np.arange(10), ["x"], num_shards=shards, shard_id=0)

    for dataset, other in (
        (shared(2).batch(2), shared(2).batch(3)),
        (shared(2).filter(abs), shared(5).filter(abs)),
        (shared(1).skip(1), shared(1).skip(2)),
        (shared(1), ds.NumpySlicesDataset(np.arange(11), ["x"], num_shards=1, shard_id=0)),
    ):
        state = dataset.create_tuple_iterator().state_dict()
        with pytest.raises(ds.DataError, match=r"another (pipeline|reader)"):
            other.create_tuple_iterator().load_state_dict(state)


@pytest.mark.parametrize(("before", "after"), [(5, None), (None, 5), (5, 6)])
def test_a_share_is_resumed_in_its_own_order_whatever_the_seed_is_then(before, after):
    dataset = ds.NumpySlicesDataset(np.arange(40), ["x"], num_shards=2, shard_id=1)
    ds.config.restore(ds.config.PipelineOptions(seed=before))
    first = dataset.create_tuple_iterator(num_epochs=2, output_numpy=True)
    rows = [int(next(first)[0]) for _ in range(7)]
    state = first.state_dict()
    rest = [int(r[0]) for _ in range(2) for r in first]
    ds.config.restore(ds.config.PipelineOptions(seed=after))
    again = dataset.create_tuple_iterator(num_epochs=2, output_numpy=True)
    again.load_state_dict(state)
    assert [int(r[0]) for _ in range(2) for r in again] == rest
    assert len({*rows, *rest[:13]}) == 20  # one epoch


def test_what_repeats_for_ever_and_is_cut_is_mixed_anew_in_every_epoch():
    dataset = ds.NumpySlicesDataset(np.arange(50), ["x"]).repeat().take(50)
    rows = [int(r[0]) for r in read(dataset, 2)]
    assert sorted(rows[:50]) == sorted(rows[50:]) == list(range(50))
    assert rows[:50] != rows[50:]


def test_sizes_and_shapes_are_told_without_waiting_at_a_synchronisation_point():
    dataset = ds.NumpySlicesDataset(np.arange(12), ["x"], shuffle=False).sync_wait("go").batch(1)
    running = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert int(next(running)[0][0]) == 0
    assert (dataset.get_dataset_size(), dataset.output_shapes()) == (12, [[1]])
    dataset.sync_update("go")
    assert int(next(running)[0][0]) == 1
    running.stop()
    assert dataset.filter(lambda x: x < 5).get_dataset_size() == 5


def test_epochs_are_shuffled_anew_and_alike_for_one_seed():
    numbers = ds.NumpySlicesDataset(np.arange(50), ["x"])
    rows = [int(r[0]) for r in read(numbers, 2)]
    assert sorted(rows[:50]) == sorted(rows[50:]) == list(range(50))
    assert rows[:50] != rows[50:]
    assert rows == [int(r[0]) for r in read(numbers, 2)]
    ds.config.set_seed(2)
    assert rows != [int(r[0]) for r in read(numbers, 2)]


def test_an_iterator_that_is_dropped_ends_its_workers(nothing_left):
    numbers = ds.NumpySlicesDataset(np.arange(1000), ["x"])
    for processes in (False, True):
        iterator = iter(
            numbers.map(noisy, num_parallel_workers=2, python_multiprocessing=processes).create_tuple_iterator()
        )
        next(iterator)
        del iterator


def test_more_epochs_than_asked_for_are_an_error():
    iterator = ds.NumpySlicesDataset([1, 2], ["x"]).create_dict_iterator(num_epochs=1)
    assert len(list(iterator)) == 2
    with pytest.raises(ds.DataError, match="1 epochs"):
        next(iterator)


def test_an_iterator_belongs_to_its_process():
    iterator = ds.NumpySlicesDataset(np.arange(100), ["x"]).create_dict_iterator()
    next(iterator)
    child = os.fork()
    if child == 0:
        try:
            next(iterator)
        except ds.DataError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_no_more_heavy_rows_are_made_ahead_than_workers_and_prefetch_say():
    made = []

    def heavy(x: np.ndarray) -> np.ndarray:
        made.append(1)
        return np.zeros(20_000) + x

    dataset = ds.NumpySlicesDataset(np.arange(10_000), ["x"]).map(heavy).batch(10)
    ds.config.set_num_parallel_workers(2)
    ds.config.set_prefetch_size(3)
    iterator = dataset.create_tuple_iterator()
    for _ in range(21):
        next(iterator)
    iterator.stop()
    assert len(made) <= (21 + 2 + 3) * 10


def test_the_report_names_the_slowest_step(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(request, "perf_counter", lambda: clock[0])

    def slow(x: np.ndarray) -> np.ndarray:
        clock[0] += 1.0
        return x

    dataset = ds.NumpySlicesDataset(np.arange(60), ["x"]).map(lambda x: x).map(slow).batch(10)
    iterator = dataset.create_tuple_iterator(num_epochs=1)
    list(iterator)
    report = iterator.profile()
    assert report.bottleneck == "Map(slow)"
    assert report.rows == 6
    assert "Map(slow)" in str(report)


def test_the_autotuner_reports_what_it_tried(tmp_path):
    ds.config.set_enable_autotune(True, str(tmp_path / "tuned"))
    ds.config.set_autotune_interval(5)
    dataset = ds.NumpySlicesDataset(np.arange(4000), ["x"]).map(noisy).batch(10)
    expected_rows = read(dataset, 1)
    ds.config.set_enable_autotune(False)
    same(expected_rows, read(dataset, 1))
    assert '"best"' in (tmp_path / "tuned_0.json").read_text()


def test_init_step_is_as_if_rows_had_been_read():
    dataset = ds.NumpySlicesDataset(np.arange(20), ["x"]).batch(3)
    expected = read(dataset, 3)
    dataset.set_init_step(9)
    again = dataset.create_tuple_iterator(num_epochs=3, output_numpy=True)
    rest = [row for _ in range(2) for row in again]
    same(rest, expected[9:])


def test_a_pipeline_that_has_ended_lets_go_of_its_order_without_the_collector():
    data = ds.NumpySlicesDataset(np.arange(1000), ["x"], shuffle=True).batch(10)
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(o, Order) for o in gc.get_objects())
        with data.create_tuple_iterator(num_epochs=1, output_numpy=True) as rows:
            list(rows)
        assert sum(isinstance(o, Order) for o in gc.get_objects()) == before
    finally:
        gc.enable()
