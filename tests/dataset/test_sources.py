"""Sources give rows of their own; columns of the kind `_meta-` are there, and shown only when renamed."""

import inspect
import re

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import config
from mycelia.errors import ArgumentError


def in_place(x):
    x += 1
    return x


def _epochs(dataset: ds.Dataset, count: int = 2) -> list[list]:
    iterator = dataset.create_tuple_iterator(num_epochs=count, output_numpy=True)
    return [[r[0].tolist() for r in iterator] for _ in range(count)]


@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize("kind", ["slices", "objects", "padding", "generator"])
def test_a_function_that_works_in_place_leaves_the_source_as_it_is(kind, processes):
    rows = [np.zeros(3), np.ones(3)]
    source = {
        "slices": lambda: ds.NumpySlicesDataset(np.stack(rows), ["x"], shuffle=False),
        "objects": lambda: ds.GeneratorDataset(rows, ["x"], shuffle=False),
        "padding": lambda: ds.PaddedDataset([{"x": r} for r in rows]),
        "generator": lambda: ds.GeneratorDataset(lambda: iter(rows), ["x"]),
    }[kind]()
    changed = source.map(in_place, "x", python_multiprocessing=processes, num_parallel_workers=2)
    assert _epochs(changed, 3) == [[[1.0] * 3, [2.0] * 3]] * 3
    assert [r.tolist() for r in rows] == [[0.0] * 3, [1.0] * 3]


def test_a_reader_that_works_in_place_leaves_the_source_as_it_is():
    data = np.zeros((4, 3))
    for batched in (False, True):
        dataset = ds.NumpySlicesDataset(data, ["x"], shuffle=False)
        for (row,) in (dataset.batch(2) if batched else dataset).create_tuple_iterator(num_epochs=1, output_numpy=True):
            row += 1
    assert not data.any()


def test_a_generator_may_use_one_array_for_all_its_rows():
    def count():
        buffer = np.zeros(2, np.int64)
        for i in range(50):
            buffer[:] = i
            yield buffer

    assert _epochs(ds.GeneratorDataset(count, ["x"]), 1) == [[[i, i] for i in range(50)]]


@pytest.mark.parametrize("stream", [False, True])
def test_an_endless_repetition_is_mixed_anew_in_every_epoch(stream):
    def numbers():
        yield from map(np.array, range(9))

    config.set_seed(3)
    source = ds.GeneratorDataset(numbers, ["x"]) if stream else ds.NumpySlicesDataset(list(range(9)), ["x"])
    first, second = _epochs(source.shuffle(9).repeat().take(9))
    assert sorted(first) == sorted(second) == list(range(9))
    assert first != second


def test_random_rows_are_numbers():
    schema = ds.Schema()
    schema.add_column("image", "uint8", [2])
    schema.add_column("name", "string", [1])
    with pytest.raises(ArgumentError, match="numbers and truth values"):
        ds.RandomDataset(5, schema)
    assert ds.RandomDataset(5, schema, columns_list=["image"]).output_shapes() == [[2]]


def with_names() -> ds.Dataset:
    return ds.NumpySlicesDataset({"a": [1, 2], "_meta-b": ["x", "y"]}, shuffle=False)


def test_meta_columns_are_not_in_rows_until_they_are_renamed():
    dataset = with_names()
    assert [list(r) for r in dataset.create_dict_iterator(1, output_numpy=True)] == [["a"]] * 2
    assert [len(r) for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [1, 1]
    named = dataset.rename("_meta-b", "b")
    assert [str(r["b"]) for r in named.create_dict_iterator(1, output_numpy=True)] == ["x", "y"]
    assert list(next(dataset.batch(2).create_dict_iterator(1, output_numpy=True))) == ["a"]


def test_meta_columns_are_counted_mapped_and_saved(tmp_path):
    dataset = with_names()
    assert dataset.get_col_names() == ["a", "_meta-b"]
    assert dataset.output_shapes() == [[], []]
    upper = dataset.map(np.char.upper, "_meta-b", "b")
    assert [str(r["b"]) for r in upper.create_dict_iterator(1, output_numpy=True)] == ["X", "Y"]
    asked = dataset.create_tuple_iterator(["_meta-b"], 1, output_numpy=True)
    assert [str(r[0]) for r in asked] == ["x", "y"]
    dataset.save(str(tmp_path / "a.mindrecord"))
    assert ds.MindDataset(str(tmp_path / "a.mindrecord")).get_col_names() == ["_meta-b", "a"]  # sorted


def test_rows_of_meta_columns_alone_are_told():
    dataset = with_names().project("_meta-b")
    assert dataset.get_dataset_size() == 2
    with pytest.raises(ArgumentError, match="_meta-"):
        dataset.create_dict_iterator(1)


SOURCES = [c for c in vars(ds).values() if isinstance(c, type) and issubclass(c, ds.SourceDataset)]


@pytest.mark.many("cls", SOURCES, pack=100, ids=lambda c: c.__name__)
def test_the_help_of_every_source_tells_what_each_parameter_means(cls):
    if cls in (ds.SourceDataset, ds.MappableDataset):
        return
    for name in inspect.signature(cls).parameters:
        (line,) = re.findall(rf"^  {name}(?: \(.*\))?: (.*)$", cls.__doc__, re.MULTILINE)
        assert len(line) > 10, name
