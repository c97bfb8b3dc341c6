"""Operations mean what MindSpore 2.10 means by them: the expected rows were printed by it."""

from __future__ import annotations

import threading
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mycelia.dataset as ds
from mycelia.errors import ArgumentError


def five():
    for i in range(5):
        yield np.array(i), np.array([i, i + 1]), np.array(i * 0.5, np.float32)


def table() -> ds.Dataset:
    return ds.GeneratorDataset(five, ["a", "b", "c"])


def lengths():
    for i in range(6):
        yield (np.arange(i + 1),)


def rows(dataset: ds.Dataset) -> list[dict]:
    iterator = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    return [{k: v.tolist() for k, v in row.items()} for row in iterator]


def column(dataset: ds.Dataset, name: str) -> list:
    return [r[name] for r in rows(dataset)]


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (["b"], ["x", "y"], ["x", "y", "a", "c"]),
        (["c", "a"], ["z"], ["z", "b"]),
        (["c", "a"], None, ["a", "b", "c"]),
        (["b"], ["z"], ["a", "z", "c"]),
        (["b"], ["b", "a"], ["b", "a", "c"]),
        (None, None, ["a", "b", "c"]),
    ],
)
def test_a_map_orders_its_columns(before, after, names):
    count = len(after or before or ["a"])
    mapped = table().map(lambda *v: (v[0],) * count if count > 1 else v[0], before, after)
    assert mapped.get_col_names() == names
    assert list(rows(mapped)[0]) == names


def test_a_map_without_columns_takes_as_many_as_its_function_has_parameters():
    assert column(table().map(lambda a: a + 1), "a") == [1, 2, 3, 4, 5]
    assert rows(table().map(lambda a, b: (a + 1, b + 1)))[0] == {"a": 1, "b": [1, 2], "c": 0.0}


def test_sizes_follow_from_the_operations():
    assert table().get_dataset_size() == 5
    assert table().repeat().get_dataset_size() == 5
    assert table().repeat(2).get_dataset_size() == 10
    assert table().batch(2).get_dataset_size() == 3
    assert table().batch(2, drop_remainder=True).get_dataset_size() == 2
    assert table().filter(lambda a: a > 2, ["a"]).get_dataset_size() == 2
    assert table().take(50).get_dataset_size() == 5
    assert table().skip(10).get_dataset_size() == 0
    assert (table() + table()).get_dataset_size() == 10
    assert table().batch(2).output_shapes() == [[2], [2, 2], [2]]
    assert [str(t) for t in table().output_types()] == ["int64", "int64", "float32"]


def test_python_values_become_arrays_of_the_same_types_as_in_mindspore():
    row = next(ds.GeneratorDataset([(1, 2.5, "s", [1, 2], True, b"xy")], list("abcdef")).create_dict_iterator(1, True))
    assert [str(v.dtype) for v in row.values()] == ["int64", "float64", "<U1", "int64", "bool", "|S2"]


def test_slices_of_arrays_name_their_columns():
    assert rows(ds.NumpySlicesDataset(([1, 2], [3, 4]), shuffle=False))[0] == {"column_0": 1, "column_1": 3}
    assert rows(ds.NumpySlicesDataset([[1, 2], [3, 4]], shuffle=False))[0] == {"column_0": [1, 2]}
    with pytest.raises(ArgumentError, match="different lengths"):
        ds.NumpySlicesDataset({"a": [1, 2], "b": [3]})


def test_per_batch_map_takes_lists_and_the_place_of_the_batch():
    mapped = table().batch(2, per_batch_map=lambda a, b, info: ([x + 1 for x in a], b), input_columns=["a", "b"])
    assert rows(mapped)[0] == {"a": [1, 2], "b": [[0, 1], [1, 2]], "c": [0.0, 0.5]}
    named = table().batch(2, per_batch_map=lambda a, info: (a, a), input_columns=["a"], output_columns=["p", "q"])
    assert set(rows(named)[0]) == {"p", "q", "b", "c"}
    numbered = table().batch(2, per_batch_map=lambda a, i: [x * 0 + i.get_batch_num() for x in a], input_columns="a")
    assert column(numbered, "a") == [[0, 0], [1, 1], [2]]


def test_a_batch_size_may_be_a_function():
    assert [len(a) for a in column(table().batch(lambda info: info.get_batch_num() + 1), "a")] == [1, 2, 2]


def test_padding_fills_up_to_a_shape_or_to_the_longest():
    assert rows(table().padded_batch(2, pad_info={"b": ([4], -1)}))[0]["b"] == [[0, 1, -1, -1], [1, 2, -1, -1]]
    ragged = ds.GeneratorDataset(lengths, ["a"])
    assert column(ragged.padded_batch(3), "a")[0] == [[0, 0, 0], [0, 1, 0], [0, 1, 2]]


def test_buckets_hold_rows_of_similar_length():
    ragged = ds.GeneratorDataset(lengths, ["a"])
    short = [[0, 0], [0, 1]]
    middle, long = [[0, 1, 2, 0], [0, 1, 2, 3]], [[0, 1, 2, 3, 4, 0], [0, 1, 2, 3, 4, 5]]
    assert column(ragged.bucket_batch_by_length(["a"], [3, 5], [2, 2, 2]), "a") == [short, middle, long]
    padded = ragged.bucket_batch_by_length(
        ["a"], [3, 7], [2, 2, 2], pad_info={"a": ([None], 0)}, pad_to_bucket_boundary=True
    )
    wide = [[0, 1, 2, 0, 0, 0], [0, 1, 2, 3, 0, 0]]
    assert column(padded, "a") == [short, wide, long]


def test_split_parts_are_disjoint_and_stay_so_from_epoch_to_epoch():
    numbers = ds.NumpySlicesDataset(list(range(10)), ["x"], shuffle=False)
    assert [p.get_dataset_size() for p in numbers.split([0.33, 0.33, 0.34])] == [4, 3, 3]
    first, second = numbers.split([7, 3])
    for _ in range(2):
        assert sorted(column(first, "x") + column(second, "x")) == list(range(10))
    iterator = first.create_dict_iterator(num_epochs=2, output_numpy=True)
    epochs = [[int(r["x"]) for r in iterator] for _ in range(2)]
    assert epochs[0] == epochs[1]
    with pytest.raises(ArgumentError, match="sum to 7"):
        numbers.split([3, 4])


def test_columns_are_renamed_projected_and_zipped():
    assert table().rename(["a"], ["z"]).project(["c", "z"]).get_col_names() == ["c", "z"]
    assert ds.zip((table().project("a"), table().project("b"))).get_col_names() == ["a", "b"]
    with pytest.raises(ArgumentError, match=r"name \['a', 'b', 'c'\]"):
        ds.zip((table(), table()))
    with pytest.raises(ArgumentError, match="no column"):
        table().map(lambda x: x, ["zz"])
    with pytest.raises(ArgumentError, match="different columns"):
        table().concat(table().project("a"))


def test_tuples_have_the_columns_in_the_order_asked_for():
    assert [v.tolist() for v in next(table().create_tuple_iterator(["c", "a"], output_numpy=True))] == [0.0, 0]


def test_dictionaries_pass_through():
    row = next(ds.GeneratorDataset([({"k": 1},)], ["d"]).create_dict_iterator(1, output_numpy=True))
    assert row["d"]["k"] == 1


def test_a_gate_that_was_disabled_stays_open_for_every_iterator():
    waiting = table().sync_wait("go")
    waiting.disable_sync()
    for _ in range(2):
        assert len(list(waiting.create_tuple_iterator(num_epochs=1))) == table().get_dataset_size()


def test_rows_wait_at_a_synchronisation_point(nothing_left):
    seen: list[int] = []
    scale = {"factor": 1}
    dataset = ds.NumpySlicesDataset(list(range(6)), ["x"], shuffle=False)
    dataset = dataset.sync_wait("policy", num_batch=1, callback=lambda data: scale.update(factor=data))
    dataset = dataset.map(lambda x: x * scale["factor"])
    for i, row in enumerate(dataset.create_dict_iterator(num_epochs=1, output_numpy=True)):
        seen.append(int(row["x"]))
        dataset.sync_update("policy", data=i + 2)
    assert seen == [0 * 1, 1 * 2, 2 * 3, 3 * 4, 4 * 5, 5 * 6]


def test_a_synchronisation_point_that_is_never_updated_says_so(nothing_left):
    ds.config.set_callback_timeout(1)
    dataset = ds.NumpySlicesDataset(list(range(6)), ["x"], shuffle=False).sync_wait("policy")
    iterator = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    next(iterator)
    with pytest.raises(ds.DataError, match="sync_update"):
        next(iterator)


def test_the_queue_can_be_drained_and_marks_epochs(nothing_left):
    with ds.NumpySlicesDataset(np.arange(4), ["x"], shuffle=False).batch(2).device_que() as queue:
        got = [queue.get(timeout=10) for _ in range(4)]
    assert [g[0].tolist() if isinstance(g, list) else str(g) for g in got] == [[0, 1], [2, 3], "EpochEnd()", [0, 1]]
    assert not [t for t in threading.enumerate() if t.name == "mycelia-data-queue"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["shuffle", "repeat", "skip", "take", "batch", "map", "concat", "filter"]), max_size=5),
    st.integers(1, 40),
    st.integers(0, 2**16),
)
def test_random_pipelines_equal_a_list_of_python(names, count, seed):
    """Multisets of rows are compared where an operation shuffles, sequences where none does."""
    rng = np.random.default_rng(seed)
    ds.config.set_seed(int(seed))
    dataset = ds.NumpySlicesDataset(np.arange(count), ["x"], shuffle=False)
    expected = [[i] for i in range(count)]
    ordered = True
    batched = False
    for name in names:
        n = int(rng.integers(1, 6))
        if name == "shuffle":
            dataset, ordered = dataset.shuffle(n), ordered and n == 1
        elif name == "repeat":
            dataset, expected = dataset.repeat(n % 3 + 1), expected * (n % 3 + 1)
        elif name in ("skip", "take", "batch") and not ordered:
            continue  # which rows are dropped depends on the order
        elif name == "skip":
            dataset, expected = dataset.skip(n), expected[n:]
        elif name == "take":
            dataset, expected = dataset.take(n * 3), expected[: n * 3]
        elif name == "batch" and not batched:
            batched = True
            dataset = dataset.batch(n)
            expected = [list(chain(*expected[i : i + n])) for i in range(0, len(expected), n)]
        elif name == "map":
            dataset, expected = dataset.map(lambda x: x + 1), [[v + 1 for v in e] for e in expected]
        elif name == "concat":
            dataset, expected = dataset.concat(dataset), expected * 2
        elif name == "filter":
            dataset, expected = dataset.filter(lambda x: x.sum() % 3 > 0), [e for e in expected if sum(e) % 3]
    got = [np.ravel(v).tolist() for v in column(dataset, "x")]
    assert (got if ordered else sorted(got)) == (expected if ordered else sorted(expected))


@pytest.mark.parametrize("make", [lambda: (i for i in range(3)), lambda: iter([0, 1, 2]), lambda: map(int, range(3))])
def test_the_rows_of_an_iterator_come_again_in_every_epoch(make):
    data = ds.GeneratorDataset(make(), ["a"])
    assert data.get_dataset_size() == 3
    for _ in range(2):
        assert [int(a) for (a,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [0, 1, 2]
    first = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    second = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [(int(a), int(b)) for (a,), (b,) in zip(first, second, strict=True)] == [(0, 0), (1, 1), (2, 2)]


class Anew:
    """Begins anew, with other rows, whenever it is iterated over."""

    def __init__(self) -> None:
        self.epoch = -1

    def __iter__(self):
        self.epoch, self.left = self.epoch + 1, 2
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return (np.array(self.epoch),)


def test_an_iterator_that_begins_anew_is_asked_to():
    data = ds.GeneratorDataset(Anew(), ["a"])
    epochs = [[int(a) for (a,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)] for _ in range(3)]
    assert [len(e) for e in epochs] == [2, 2, 2]
    assert epochs[0] != epochs[2]


@pytest.mark.parametrize("part", [slice(None), slice(1)])
@pytest.mark.parametrize("batched", [False, True])
def test_a_function_may_write_into_what_it_gave_for_the_row_before(part, batched):
    """MindSpore copies what a function gives; here that is copied which the function holds."""
    held = np.zeros((1, 2), int)

    def write(x):
        held[:] = x
        return held if part.stop is None else held[0, part]

    rows = ds.NumpySlicesDataset(np.arange(6), ["x"], shuffle=False).map(write, num_parallel_workers=1)
    rows = rows.batch(2, num_parallel_workers=3) if batched else rows
    got = [r[0] for r in rows.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    held[:] = -1
    assert np.concatenate(got).reshape(6, -1)[:, 0].tolist() == list(range(6))


def test_a_function_takes_as_many_columns_as_it_must_be_given():
    def one(a):
        return a + 1

    def other(a, scale=2):
        return a * scale

    def two(a, b, *rest, scale=2, **more):
        assert rest == ()
        return a, b * scale

    def some(*columns):
        return tuple(c + 1 for c in columns)

    class Callable:
        def __call__(self, a, b=None):
            assert b is None
            return a

    plain = ds.NumpySlicesDataset({"a": [1], "b": [2], "c": [3]}, shuffle=False)
    for function, expected in (
        (one, [2, 2, 3]), (other, [2, 2, 3]), (two, [1, 4, 3]), (some, [2, 2, 3]), (Callable(), [1, 2, 3]),
        (abs, [1, 2, 3]),
    ):  # fmt: skip
        row = next(plain.map(function).create_tuple_iterator(num_epochs=1, output_numpy=True))
        assert [int(x) for x in row] == expected
