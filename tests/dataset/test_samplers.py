"""Samplers choose the right rows, and shards share them out, for any sizes."""

from __future__ import annotations

import json
import random
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mycelia.dataset as ds
from mycelia.dataset.flow.table import buffer_order
from mycelia.errors import ArgumentError


def numbers(count: int, **options) -> list[int]:
    dataset = ds.NumpySlicesDataset(np.arange(count), ["x"], **options)
    return [int(r[0]) for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 200), st.integers(1, 30), st.booleans(), st.integers(-1, 3))
def test_shards_are_disjoint_and_complete(count, num_shards, shuffle, offset):
    offset = min(offset, num_shards)
    samplers = [ds.DistributedSampler(num_shards, i, shuffle, offset=offset) for i in range(num_shards)]
    shares = [s.order(count, (5, 0, 0)).tolist() for s in samplers]
    assert sorted(chain(*shares)) == list(range(count))
    sizes = [len(s) for s in shares]
    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 100), st.integers(1, 12), st.booleans())
def test_equal_shards_are_equally_long_and_complete(count, num_shards, shuffle):
    samplers = [ds.DistributedSampler(num_shards, i, shuffle, equal_rows=True) for i in range(num_shards)]
    shares = [s.order(count, (5, 0, 0)).tolist() for s in samplers]
    assert len({len(s) for s in shares}) == 1
    assert set(chain(*shares)) == set(range(count))


def test_shards_agree_without_a_seed():
    ds.config.restore(ds.config.PipelineOptions())
    shares = [numbers(20, num_shards=3, shard_id=i) for i in range(3)]
    assert sorted(chain(*shares)) == list(range(20))


def test_every_sampler_gives_its_rows_through_a_dataset():
    assert numbers(10, sampler=ds.SequentialSampler(3, 4)) == [3, 4, 5, 6]
    assert sorted(numbers(10, sampler=ds.RandomSampler())) == list(range(10))
    assert len(numbers(10, sampler=ds.RandomSampler(replacement=True, num_samples=25))) == 25
    assert numbers(10, sampler=ds.SubsetSampler([7, 7, 1])) == [7, 7, 1]
    assert sorted(numbers(10, sampler=ds.SubsetRandomSampler([7, 2, 1]))) == [1, 2, 7]
    assert set(numbers(10, sampler=ds.WeightedRandomSampler([0, 0, 1, 1], 50))) == {2, 3}
    assert numbers(10, sampler=[4, 2]) == [4, 2]
    assert numbers(10, sampler=ds.SequentialSampler(), num_samples=3) == [0, 1, 2]


def test_classes_are_balanced_by_a_pk_sampler():
    labels = np.repeat([0, 1, 2], [5, 20, 2])
    dataset = ds.NumpySlicesDataset({"x": np.arange(27), "label": labels}, sampler=ds.PKSampler(3, shuffle=True))
    chosen = [int(r["label"]) for r in dataset.create_dict_iterator(1, output_numpy=True)]
    assert sorted(chosen) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


class Own(ds.Sampler):
    """Draws from the generator that it was given."""

    def __iter__(self):
        yield from self.generator.permutation(self.dataset_size)


class Outside(ds.Sampler):
    """Draws from NumPy's and Python's global generators."""

    def __iter__(self):
        order = np.random.permutation(self.dataset_size).tolist()
        random.shuffle(order)
        yield from order


def test_a_written_sampler_that_draws_from_its_own_generator_is_repeatable():
    assert numbers(30, sampler=Own()) == numbers(30, sampler=Own())
    assert sorted(numbers(30, sampler=Own())) == list(range(30))


def test_nobody_touches_the_global_generators_but_the_sampler_itself():
    np.random.seed(3)
    random.seed(3)
    before = np.random.get_state()[1].copy(), random.getstate()
    numbers(30, sampler=Own())
    assert (np.random.get_state()[1] == before[0]).all()
    assert random.getstate() == before[1]
    first = numbers(30, sampler=Outside())
    assert numbers(30, sampler=Outside()) != first  # the generators went on
    np.random.seed(3)
    random.seed(3)
    assert numbers(30, sampler=Outside()) == first  # and are the user's to seed


@pytest.mark.parametrize("repeated", [False, True])
def test_a_state_is_not_taken_up_in_another_order(repeated):
    def rows(sampler):
        dataset = ds.NumpySlicesDataset(np.arange(10), ["x"], sampler=sampler)
        dataset = dataset.repeat(2) if repeated else dataset
        return dataset.batch(3).create_tuple_iterator(num_epochs=3, output_numpy=True)

    for sampler in (Own, Outside):
        iterator = rows(sampler())
        given = [next(iterator) for _ in range(3)]
        state = json.loads(json.dumps(iterator.state_dict()))
        iterator.stop()
        again = rows(sampler())
        again.load_state_dict(state)
        if sampler is Own:
            whole = rows(sampler())
            assert [x[0].tolist() for x in (*given, next(again))] == [next(whole)[0].tolist() for _ in range(4)]
            whole.stop()
        else:
            with pytest.raises(ds.DataError, match="other indices"):
                next(again)
        again.stop()


def test_a_chain_chooses_from_what_its_child_chose():
    parent, child = ds.RandomSampler(), ds.SubsetSampler([1, 3, 5])
    parent.add_child(child)
    assert sorted(numbers(10, sampler=parent)) == [1, 3, 5]


def test_an_index_out_of_range_is_told():
    with pytest.raises(ds.DataError, match="index 12, and there are 10 rows"):
        numbers(10, sampler=ds.SubsetSampler([1, 12]))


def test_a_sampler_and_a_share_contradict_each_other():
    with pytest.raises(ArgumentError, match="sampler decides"):
        numbers(10, sampler=ds.RandomSampler(), num_shards=2, shard_id=0)
    with pytest.raises(ArgumentError, match="come together"):
        numbers(10, num_shards=2)
    with pytest.raises(ArgumentError, match="shard_id"):
        numbers(10, num_shards=2, shard_id=2)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(1, 320), st.integers(0, 1000))
def test_a_buffer_shuffle_computed_on_positions_equals_a_real_buffer(count, buffer, seed):
    order = buffer_order(count, buffer, seed, 0, 0)
    assert sorted(order.tolist()) == list(range(count))
    # a real buffer of that size can never let a row out before it came in
    assert all(row < position + buffer for position, row in enumerate(order.tolist()))


def test_a_full_shuffle_is_uniform():
    first = [int(buffer_order(8, 8, seed, 0, 0)[0]) for seed in range(4000)]
    assert stats.chisquare(np.bincount(first, minlength=8)).pvalue > 1e-4


def test_files_are_shuffled_as_asked(tmp_path):
    for f in range(4):
        (tmp_path / f"{f}.txt").write_text("".join(f"{f}{i}\n" for i in range(3)))

    def lines(mode):
        dataset = ds.TextFileDataset(str(tmp_path / "*.txt"), shuffle=mode)
        return [str(r[0]) for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    everything = [f"{f}{i}" for f in range(4) for i in range(3)]
    assert lines(False) == everything
    files = lines(ds.Shuffle.FILES)
    assert files != everything
    assert [v[1] for v in files] == list("012") * 4
    assert [v[0] for v in lines(ds.Shuffle.INFILE)] == list("000111222333")
    assert sorted(lines(ds.Shuffle.GLOBAL)) == everything


def _sources(folder) -> dict:
    for name in ("train", "test"):
        (folder / f"{name}.csv").write_text("".join(f'{i},"{name}",text\n' for i in range(9)))
    files = [str(folder / "train.csv"), str(folder / "test.csv")]
    ds.NumpySlicesDataset(list(range(18)), ["x"], shuffle=False).save(str(folder / "a.mindrecord"))
    return {
        "NumpySlices": lambda **o: ds.NumpySlicesDataset(list(range(18)), ["x"], **o),
        "Generator": lambda **o: ds.GeneratorDataset(list(range(18)), ["x"], **o),
        "TextFile": lambda **o: ds.TextFileDataset(files, **o),
        "CSV": lambda **o: ds.CSVDataset(files, column_names=["a", "b", "c"], **o),
        "Mind": lambda **o: ds.MindDataset(str(folder / "a.mindrecord"), **o),
        "AGNews": lambda **o: ds.AGNewsDataset(str(folder), **o),
    }


KINDS = ("NumpySlices", "Generator", "TextFile", "CSV", "Mind", "AGNews")


def _read(dataset) -> list[tuple]:
    return [tuple(v.tolist() for v in r) for r in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize("shares", [{}, {"num_shards": 2, "shard_id": 1}])
@pytest.mark.parametrize("kind", KINDS)
def test_words_modes_and_truth_values_mix_alike(kind, shares, tmp_path):
    make = _sources(tmp_path)[kind]
    ds.config.set_seed(4)
    stored = _read(make(shuffle=False, **shares))
    mixed = _read(make(shuffle=True, **shares))
    assert mixed != stored
    if not shares:
        assert sorted(mixed) == sorted(stored)
    for same in (ds.Shuffle.GLOBAL, "global", None, ds.Shuffle.ADAPTIVE, np.True_):
        assert _read(make(shuffle=same, **shares)) == mixed
    for wrong in ("nonsense", 3, [], ""):
        with pytest.raises(ArgumentError, match="shuffle"):
            make(shuffle=wrong, **shares)


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_mixed_where_there_are_files(kind, tmp_path):
    make = _sources(tmp_path)[kind]
    if kind in ("NumpySlices", "Generator"):
        for mode in ("files", ds.Shuffle.INFILE):
            with pytest.raises(ArgumentError, match="not read from several files"):
                make(shuffle=mode)
        return
    stored = _read(make(shuffle=False))
    turned = stored if kind == "Mind" else stored[9:] + stored[:9]
    for seed in range(4):
        ds.config.set_seed(seed)
        assert _read(make(shuffle="files")) == _read(make(shuffle=ds.Shuffle.FILES))
        assert _read(make(shuffle=ds.Shuffle.FILES)) in (stored, turned)
        within = _read(make(shuffle="infile"))
        assert sorted(within[:9]) == sorted(stored[:9]) or kind == "Mind"
        assert within != stored
