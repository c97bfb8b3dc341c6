"""A cached map makes every row once, and gives what an uncached one gives."""

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import vision
from mycelia.errors import ArgumentError


def _rows(dataset: ds.Dataset, epochs: int = 1) -> list[list[int]]:
    iterator = dataset.create_dict_iterator(num_epochs=epochs, output_numpy=True)
    return [[int(row["x"]) for row in iterator] for _ in range(epochs)]


def test_a_cached_map_calls_its_function_once_per_row_in_any_order_of_rows():
    called = []

    def square(x):
        called.append(int(x))
        return x * x

    source = ds.NumpySlicesDataset(list(range(20)), ["x"], shuffle=True)
    cached = source.map(square, "x", num_parallel_workers=1, cache=ds.DatasetCache(1))
    for epoch in _rows(cached, epochs=3):
        assert sorted(epoch) == [i * i for i in range(20)]
    assert sorted(called) == list(range(20))


def test_a_cache_says_how_often_it_helped_and_maps_can_share_it():
    cache = ds.DatasetCache(1)
    source = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
    both = source.map(lambda x: x + 1, "x", cache=cache).map(lambda x: x * 10, "x", cache=cache)
    assert _rows(both, epochs=2) == [[20, 30, 40]] * 2
    assert cache.get_stat().hits == 6


def test_a_later_step_that_writes_into_a_row_does_not_change_the_cache():
    def spoil(x):
        x += 100
        return x

    source = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False)
    cached = source.map(lambda x: np.array(x) + 1, "x", cache=ds.DatasetCache(1)).map(spoil, "x")
    assert _rows(cached, epochs=2) == [[102, 103]] * 2


def test_a_cached_map_that_draws_random_numbers_is_refused():
    images = ds.NumpySlicesDataset(np.zeros((2, 8, 8, 3), np.uint8), ["image"], shuffle=False)
    random = images.map(vision.RandomCrop(4), "image", cache=ds.DatasetCache(1))
    with pytest.raises(Exception, match="RandomCrop drew a random number"):
        next(random.create_dict_iterator(num_epochs=1, output_numpy=True))


def test_several_operations_and_columns_are_cached_together():
    source = ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4]}, shuffle=False)
    cached = source.map([lambda a, b: (a, b), lambda a, b: a * b], ["a", "b"], ["x"], cache=ds.DatasetCache(1, size=1))
    assert _rows(cached, epochs=2) == [[3, 8]] * 2


def test_the_plan_of_a_cached_map_survives_json(tmp_path):
    place = tmp_path / "a.txt"
    place.write_text("one\n")
    cached = ds.TextFileDataset(str(place), shuffle=False).map(ds.text.CaseFold(), "text", cache=ds.DatasetCache(1))
    again = ds.deserialize(ds.serialize(cached))
    assert str(next(again.create_tuple_iterator(output_numpy=True))[0]) == "one"


def test_offload_is_checked_and_changes_nothing():
    source = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False)
    for offload in (None, True, False):
        assert _rows(source.map(lambda x: x + 1, "x", offload=offload)) == [[2, 3]]
    with pytest.raises(ArgumentError, match="offload"):
        source.map(lambda x: x, "x", offload="yes")
    with pytest.raises(ArgumentError, match="DatasetCache"):
        source.map(lambda x: x, "x", cache="yes")


def test_a_transform_without_parentheses_is_told():
    images = ds.NumpySlicesDataset(np.zeros((2, 8, 8, 3), np.uint8), ["image"], shuffle=False)
    with pytest.raises(ArgumentError, match=r"HWC2CHW\(\)"):
        images.map(vision.HWC2CHW, "image")
    assert next(images.map(np.float32, "image").create_tuple_iterator(output_numpy=True))[0].dtype == np.float32
