"""Nothing is rounded, cut, misread or left out in silence: what does not fit is an error that says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.errors import MyceliaError

U8 = [np.array([1, 2], np.uint8), np.array([3], np.uint8)]


def numbers(values: Any) -> ds.Dataset:
    return ds.NumpySlicesDataset(values, ["x"], shuffle=False)


def rows_of(values: Any) -> ds.Dataset:
    return ds.GeneratorDataset(values, ["x"], shuffle=False)


def read(dataset: ds.Dataset) -> list[Any]:
    return [row["x"] for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]


def refused(make: Callable[[], ds.Dataset], words: str) -> None:
    with pytest.raises(MyceliaError, match=words):
        read(make())


def test_a_value_to_fill_with_is_one_of_its_column():
    for fill in (2.5, np.int64(300), -1, float("nan"), "a", None, [1, 2], 1j):
        refused(lambda: rows_of(U8).pack(4, pad=fill), "cannot stand among uint8")  # noqa: B023
        if fill is not None:  # which asks for the usual one, or for none
            refused(lambda: rows_of(U8).pack(4, end=fill), "cannot stand among uint8")  # noqa: B023
            refused(lambda: rows_of(U8).padded_batch(2, pad_info={"x": ([3], fill)}), "cannot stand among")  # noqa: B023
            if not isinstance(fill, list):
                refused(lambda: rows_of(U8).windows(2, pad=fill), "cannot stand among uint8")  # noqa: B023
    refused(lambda: rows_of([np.zeros(1, np.float32)]).pack(2, pad=1e300), "cannot stand among float32")
    assert read(rows_of(U8).pack(4, pad=9.0))[0].tolist() == [1, 2, 3, 9]
    assert read(rows_of([np.zeros(1, np.float32)]).pack(2, pad=0.1))[0].tolist() == [0, np.float32(0.1)]


def test_texts_are_not_cut_to_the_width_of_others():
    words = [np.array(["a"]), np.array(["bb", "ccc"])]
    padded = read(rows_of(words).padded_batch(2, pad_info={"x": ([3], "filling")}))
    assert padded[0].tolist() == [["a", "filling", "filling"], ["bb", "ccc", "filling"]]
    packed = read(rows_of(words).pack(3, end="<end>", pad="nothing"))
    assert [p.tolist() for p in packed] == [["a", "<end>", "bb"], ["ccc", "<end>", "nothing"]]
    assert [w.tolist() for w in read(rows_of(words).windows(2, pad="nothing"))] == [["a", "nothing"], ["bb", "ccc"]]


def test_documents_that_are_packed_have_one_type():
    types = [np.uint8, np.int32, np.uint64, np.float32, np.int64]
    for first, second in pairwise(types):
        many = [np.ones(3, first)] * 40 + [np.ones(3, second)] * 40  # in one piece, and in several
        refused(lambda: rows_of(many).pack(2), "pack: a document has tokens of")  # noqa: B023
    for gaps in (1, 60):
        documents = [np.zeros(0, np.int32)] * gaps + [np.array([7], np.int32)] + [np.zeros(0)] * gaps
        packed = np.concatenate(read(rows_of(documents).pack(1, end=5)))
        assert packed.tolist() == [5] * gaps + [7] + [5] * (gaps + 1)


def test_numbers_become_neither_texts_nor_rounded():
    for mixed in ([1, "a"], [1, 2**63], [b"a", "a"]):
        one_by_one = read(numbers(mixed))
        assert [v.tolist() for v in one_by_one] == mixed
        refused(lambda: rows_of([mixed]), "no type in common")  # noqa: B023
        refused(lambda: rows_of(mixed).batch(2), "do not make a batch")  # noqa: B023
    assert read(rows_of([[1, 2.5], [True, 2]]))[0].tolist() == [1.0, 2.5]


def test_what_a_row_holds_is_not_left_out_of_a_batch():
    for one, other in (({"a": 1}, {"a": 2, "b": 3}), ({"a": 1, "b": 2}, {"a": 1}), ({"a": 1}, 3), (3, {"a": 1})):
        refused(lambda: rows_of([one, other]).batch(2), "do not make a batch")  # noqa: B023
    (batch,) = read(rows_of([{"a": {"b": 1, "c": "x"}}, {"a": {"b": 2, "c": "yy"}}]).batch(2))
    assert batch["a"]["b"].tolist() == [1, 2]
    assert batch["a"]["c"].tolist() == ["x", "yy"]
    refused(lambda: numbers([1]).map(lambda x: np.ma.array([1, 2], mask=[True, False])), "mask")


def test_truth_is_a_truth_value():
    for verdict in ("False", "no", None, b""):
        refused(lambda: numbers([1, 2]).filter(lambda x: verdict), "must give a truth value")  # noqa: B023
    d = numbers([1, 2, 3])
    for make in (
        lambda: d.batch(2, "no"),
        lambda: d.batch(2, python_multiprocessing="no"),
        lambda: d.map(abs, python_multiprocessing="no"),
        lambda: d.padded_batch(2, 1),
        lambda: d.bucket_batch_by_length(["x"], [1], [1, 1], drop_remainder="no"),
        lambda: d.bucket_batch_by_length(["x"], [1], [1, 1], pad_to_bucket_boundary="no"),
        lambda: d.pack(2, split="no"),
        lambda: d.pack(2, drop_remainder="no"),
        lambda: d.split([1, 2], randomize="no")[0],
    ):
        refused(make, "is True or False, not")


def test_counts_are_whole_numbers():
    refused(lambda: numbers([1, 2]).repeat(-1.0).take(3), "whole number")
    refused(lambda: numbers([1, 2]).batch(lambda info: True), "batch size function gave True")
    by = {"column_names": ["x"], "bucket_boundaries": [2], "bucket_batch_sizes": [2, 2]}
    for length in (1.9, "3", [1, 2]):
        made = {**by, "element_length_function": lambda x: length}  # noqa: B023
        refused(lambda: rows_of([[1], [1, 2, 3]]).bucket_batch_by_length(**made), "whole number")  # noqa: B023
    refused(lambda: numbers([1, 2]).bucket_batch_by_length(**by), "has no length")
    for chosen in ([True, False, True], [0, 1.5], ["a"], [[0, 1]], [np.bool_(True)]):
        for sampler in (ds.SubsetSampler, ds.SubsetRandomSampler, ds.IterSampler):
            refused(
                lambda: ds.NumpySlicesDataset([5, 6, 7], ["x"], sampler=sampler(chosen)),  # noqa: B023
                "indices must be whole numbers",
            )
    assert [int(v) for v in read(ds.NumpySlicesDataset([5, 6, 7], ["x"], sampler=[2.0, 0]))] == [7, 5]


def test_a_column_is_renamed_once_and_a_dataset_that_is_mixed_in_comes():
    refused(lambda: numbers([1]).rename(["x", "x"], ["y", "z"]), "two columns have the name")
    refused(lambda: numbers([[1, 2]]).windows(1, columns=["x", "x"]), "two columns have the name")
    refused(lambda: ds.mix([numbers([1]), numbers([2])], [1, 1e-5]), "would never come")


def test_a_state_is_not_taken_up_by_a_plan_with_other_settings():
    lengths = [np.arange(1 + i % 4) for i in range(24)]
    table = ds.NumpySlicesDataset({"a": list(range(9)), "b": list(range(9))}, shuffle=False)

    def buckets(bounds: list[int], sizes: list[int]) -> ds.Dataset:
        return rows_of(lengths).bucket_batch_by_length(["x"], bounds, sizes)

    def chosen(indices: list[int]) -> ds.Dataset:
        return ds.NumpySlicesDataset(list(range(9)), ["x"], sampler=ds.SubsetSampler(indices))

    two = [numbers(list(range(9))), numbers(list(range(9, 18)))]
    pairs = [
        (ds.mix(two, [1, 2]), ds.mix(two, [2, 1])),
        (ds.mix(two, [1, 2]), ds.mix(two, [1, 2], "all")),
        (buckets([2, 4], [2, 3, 2]), buckets([1, 4], [2, 3, 2])),
        (buckets([2, 4], [2, 3, 2]), buckets([2, 4], [3, 3, 2])),
        (chosen([1, 2, 3]), chosen([3, 2, 1])),
        (rows_of(lengths).pack(3), rows_of(lengths).pack(3, pad=5)),
        (table.map(abs, ["a"]), table.map(abs, ["b"])),
    ]
    for one, other in pairs:
        first = one.create_tuple_iterator(num_epochs=1, output_numpy=True)
        next(first)
        state = json.loads(json.dumps(first.state_dict()))
        rest = [[v.tolist() for v in row] for row in first]
        with pytest.raises(MyceliaError, match="another pipeline"):
            other.create_tuple_iterator(num_epochs=1, output_numpy=True).load_state_dict(state)
        again = one.create_tuple_iterator(num_epochs=1, output_numpy=True)
        again.load_state_dict(state)
        assert [[v.tolist() for v in row] for row in again] == rest


SOURCES: dict[str, Callable[..., ds.Dataset]] = {
    "slices": lambda **options: ds.NumpySlicesDataset([1], ["x"], **options),
    "generator": lambda **options: ds.GeneratorDataset([1], ["x"], **options),
    "iterable": lambda **options: ds.GeneratorDataset(lambda: iter([1]), ["x"], **options),
    "lines": lambda **options: ds.TextFileDataset(__file__, **options),
    "pictures": lambda **options: ds.FakeImageDataset(2, (4, 4, 3), 2, **options),
    "map": lambda **options: numbers([1]).map(abs, **options),
    "batch": lambda **options: numbers([1]).batch(1, **options),
    "filter": lambda **options: numbers([1]).filter(bool, **options),
    "padded": lambda **options: numbers([1]).padded_batch(1, **options),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_step_has_a_believable_number_of_workers(source):
    assert read_all(SOURCES[source](num_parallel_workers=2))
    for wrong in ("x", 0, -1, 1.5, True, {}, 10**9):
        with pytest.raises(MyceliaError, match="num_parallel_workers"):
            SOURCES[source](num_parallel_workers=wrong)


def read_all(dataset: ds.Dataset) -> list[Any]:
    return list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))


@pytest.mark.parametrize(
    "reader",
    [
        *(ds.TextFileDataset, ds.CSVDataset, ds.TFRecordDataset, ds.MindDataset, ds.ParquetDataset, ds.WebDataset),
        *(ds.CLUEDataset, ds.ManifestDataset, ds.ImageFolderDataset, ds.Cifar10Dataset, ds.MnistDataset),
    ],
)
def test_what_names_no_file_is_told(reader):
    for wrong in ("A" * 5000, "a\0b", "", 5, None, [], [5], {}, b"x", [None], 1.5):
        with pytest.raises(MyceliaError):
            reader(wrong)


def test_files_may_be_paths(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    for files in (tmp_path / "a.txt", [tmp_path / "a.txt"], (str(tmp_path / "a.txt"),)):
        assert ds.TextFileDataset(files).get_dataset_size() == 2


def test_a_way_to_mix_that_there_is_not_is_told():
    for wrong in (5, "x", None, {}, [1]):
        with pytest.raises(MyceliaError, match="shuffle"):
            ds.RandomSampler(shuffle=wrong)


def test_a_function_without_a_return_is_told():
    def forgetful(x):
        x + 1

    refused(lambda: numbers([1]).map(forgetful), r"forgetful\) gave None")
    refused(lambda: numbers([1]).map([abs, forgetful]), r"forgetful\) gave None")
    with pytest.raises(MyceliaError):
        read(numbers([1]).batch(1, per_batch_map=lambda xs, info: None))
