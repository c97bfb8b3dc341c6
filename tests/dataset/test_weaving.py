"""Mixing, taking turns, packing, windows and sharing anew: equal to models that are made of lists, from any step on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mycelia.dataset as ds
from mycelia.dataset.plan.weaving import Weave
from mycelia.dataset.run.pipeline import walk
from mycelia.errors import ArgumentError

EPOCHS = 2


def numbers(values: list[int], rng: np.random.Generator) -> ds.Dataset:
    """A dataset of numbers: a table, a stream, or a table that a filter makes a stream of."""
    kind = int(rng.integers(3))
    if kind == 0:
        return ds.GeneratorDataset(lambda: (np.int64(v) for v in values), ["x"])
    made = ds.NumpySlicesDataset(np.array(values, np.int64), ["x"], shuffle=False)
    return made if kind == 1 else made.filter(lambda x: True)


def plain(row: dict[str, np.ndarray]) -> Any:
    return {k: v.tolist() for k, v in row.items()}


def read(dataset: ds.Dataset, iterator: Any = None) -> list[Any]:
    rows = iterator or dataset.create_dict_iterator(num_epochs=EPOCHS, output_numpy=True)
    return [plain(row) for _ in range(rows.epoch, EPOCHS) for row in rows]


def resumes(make: Callable[[], ds.Dataset], expected: list[Any], rng: np.random.Generator) -> None:
    """From a random step on, in a fresh dataset with other workers."""
    ds.config.set_num_parallel_workers(int(rng.integers(1, 4)))
    step = int(rng.integers(len(expected) + 1))
    first = make().create_dict_iterator(num_epochs=EPOCHS, output_numpy=True)
    given_ = 0
    while given_ < step:
        for _ in first:
            given_ += 1
            if given_ == step:
                break
    state = json.loads(json.dumps(first.state_dict()))
    first.stop()
    ds.config.set_num_parallel_workers(int(rng.integers(1, 4)))
    again = make().create_dict_iterator(num_epochs=EPOCHS, output_numpy=True)
    again.load_state_dict(state)
    assert read(make(), again) == expected[step:]


def holds(make: Callable[[], ds.Dataset], model: list[Any], rng: np.random.Generator) -> None:
    """A dataset gives the rows of its model in every epoch, knows how many there are, and resumes."""
    assert read(make()) == model * EPOCHS
    assert make().get_dataset_size() == len(model)
    if model:
        resumes(make, model * EPOCHS, rng)
    plan = ds.serialize(make())
    assert json.loads(json.dumps(plan)) == plan


def same(x: np.ndarray) -> np.ndarray:
    return x


def blocks(count: int) -> list[Any]:
    """The first block of cases runs always, the others when they are asked for."""
    return [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, count))]


# mix


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=6), st.integers(0, 5))
def test_every_block_has_its_exact_parts(weights, place):
    if not sum(weights) > 0:
        return
    shares = np.array(weights) / sum(weights)
    if ((np.array(weights) > 0) & (shares < 1 / 4096)).any():  # one that might never come is refused
        weights = [w if share >= 1 / 4096 else 0.0 for w, share in zip(weights, shares.tolist(), strict=True)]
        shares = np.array(weights) / sum(weights)
    pattern = Weave.of(weights, (place,))
    assert pattern.length <= 4096
    for number in range(3):
        assert np.bincount(pattern.block(number), minlength=len(weights)).tolist() == list(pattern.quotas)
    assert np.abs(np.array(pattern.quotas) / pattern.length - shares).max() < 1 / 2000
    positions = np.arange(5, 2 * pattern.length, 7)
    which, before = pattern.choices(positions)
    order = np.concatenate([pattern.block(n) for n in range(3)])
    for p, w, b in zip(positions.tolist(), which.tolist(), before.tolist(), strict=True):
        assert order[p] == w
        assert (order[:p] == w).sum() == b
        assert pattern.position(w, b) == p


def mixed(lists: list[list[int]], pattern: Weave, stop: str) -> list[Any]:
    """The model: a list of choices, and a place in every list."""
    out, at, ended = [], [0] * len(lists), [q == 0 for q in pattern.quotas]
    for number in range(10_000):
        for which in pattern.block(number).tolist():
            if at[which] and at[which] % len(lists[which]) == 0:
                ended[which] = True
                if stop == "first" or (stop == "all" and all(ended)):
                    return out
            out.append({"x": lists[which][at[which] % len(lists[which])]})
            at[which] += 1
    raise AssertionError("no end")


@pytest.mark.parametrize("block", blocks(5))
def test_a_mix_equals_its_model(block):
    for seed in range(40 * block, 40 * block + 40):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 4))
        lists = [list(range(100 * i, 100 * i + int(rng.integers(1, 30)))) for i in range(count)]
        weights = rng.choice([1, 2, 3, 0.5, 0.25], count).tolist()
        stop = str(rng.choice(["first", "all"]))

        def make(lists=lists, weights=weights, stop=stop, seed=seed):
            kinds = np.random.default_rng(seed)
            return ds.mix([numbers(values, kinds) for values in lists], weights, stop)

        last = len(list(walk(make().plan))) - 1
        pattern = Weave.of(weights, (1, last))  # the seed of the tests, and the number of the step
        holds(make, mixed(lists, pattern, stop), rng)


def test_a_mix_that_never_ends_begins_its_datasets_anew_and_mixes_them_anew():
    few = ds.NumpySlicesDataset(list(range(5)), ["x"])
    many = ds.NumpySlicesDataset(list(range(100, 150)), ["x"])
    rows = ds.mix([few, many], [1, 1], "never").create_tuple_iterator(num_epochs=1, output_numpy=True)
    values = [int(next(rows)[0]) for _ in range(100)]
    rows.stop()
    ours = [v for v in values if v < 5]
    rounds = [tuple(ours[i : i + 5]) for i in range(0, 50, 5)]
    assert all(sorted(r) == list(range(5)) for r in rounds)
    assert len(set(rounds)) > 3
    assert sorted(v for v in values if v >= 100) == list(range(100, 150))


def test_what_cannot_be_mixed_is_told():
    a, b = ds.NumpySlicesDataset([1], ["x"]), ds.NumpySlicesDataset([1], ["y"])
    for wrong in (lambda: ds.mix([a, b]), lambda: ds.mix([]), lambda: ds.mix([a, a], [1]), lambda: ds.mix([a], [-1]),
                  lambda: ds.mix([a], [0]), lambda: ds.mix([a], stop="soon"), lambda: ds.mix([a], [float("nan")]),
                  lambda: ds.interleave([a, b]), lambda: ds.interleave([a], block_length=0)):  # fmt: skip
        with pytest.raises(ArgumentError):
            wrong()


# interleave


def turns(lists: list[list[int]], cycle: int, block: int) -> list[Any]:
    """The model, as tf.data describes it."""
    waiting = [list(values) for values in lists]
    slots: list[list[int] | None] = [waiting.pop(0) for _ in range(min(cycle, len(waiting)))]
    out = []
    while any(s is not None for s in slots):
        for i, values in enumerate(slots):
            if values is None:
                continue
            for _ in range(block):
                if not values:
                    slots[i] = waiting.pop(0) if waiting else None
                    break
                out.append({"x": values.pop(0)})
    return out


@pytest.mark.parametrize("block", blocks(5))
def test_taking_turns_equals_its_model(block):
    for seed in range(40 * block, 40 * block + 40):
        rng = np.random.default_rng(seed)
        lists = [list(range(100 * i, 100 * i + int(rng.integers(0, 9)))) for i in range(int(rng.integers(1, 6)))]
        cycle, size = int(rng.integers(1, 7)), int(rng.integers(1, 4))

        def make(lists=lists, cycle=cycle, size=size, seed=seed):
            kinds = np.random.default_rng(seed)
            return ds.interleave(
                [numbers(values or [0], kinds).take(max(len(values), 1)).skip(int(not values)) for values in lists],
                cycle,
                size,
            )

        holds(make, turns(lists, cycle, size), rng)


# pack and windows


def documents(seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(1, 1000, int(rng.integers(0, 15))).tolist() for _ in range(int(rng.integers(1, 25)))]


def packed(lists: list[list[int]], length: int, split: bool, end: int | None, drop: bool) -> list[Any]:
    """The model: rows as lists of (token, document, place)."""
    rows: list[list[tuple[int, int, int]]] = [[]]
    for number, tokens in enumerate(lists):
        whole = [*tokens, end] if end is not None else list(tokens)
        if not split and len(rows[-1]) + len(whole) > length and rows[-1] and len(whole) <= length:
            rows.append([])
        for place, token in enumerate(whole):
            if len(rows[-1]) == length:
                rows.append([])
            rows[-1].append((token, number, place))
    out = []
    for i, row in enumerate(rows):
        if not row or (drop and i == len(rows) - 1 and len(row) < length):
            continue
        order = list(dict.fromkeys(d for _, d, _ in row))
        gap = [0] * (length - len(row))
        out.append(
            {
                "x": [t for t, _, _ in row] + [-1] * len(gap),
                "segment_ids": [order.index(d) + 1 for _, d, _ in row] + gap,
                "positions": [p for _, _, p in row] + gap,
            }
        )
    return out


@pytest.mark.parametrize("block", blocks(5))
def test_packing_equals_its_model(block):
    for seed in range(40 * block, 40 * block + 40):
        rng = np.random.default_rng(seed)
        lists, length = documents(seed), int(rng.integers(1, 20))
        split, drop = bool(rng.integers(2)), bool(rng.integers(2))
        end = None if rng.integers(2) else 7
        if not split and any(len(d) + (end is not None) > length for d in lists):
            split = True  # the model of whole documents knows only those that fit

        def make(lists=lists, length=length, split=split, drop=drop, end=end):
            source = ds.GeneratorDataset([np.array(d, np.int32) for d in lists], ["x"], shuffle=False)
            return source.pack(length, "x", split=split, pad=-1, end=end, drop_remainder=drop)

        holds(make, packed(lists, length, split, end, drop), rng)


def test_what_goes_with_tokens_is_packed_along_and_long_documents_are_cut():
    rows = [(np.arange(5), np.arange(5) * 10.0), (np.arange(2), np.arange(2) * 10.0)]
    source = ds.GeneratorDataset(rows, ["x", "m"], shuffle=False)
    made = read(source.pack(4, ["x", "m"], split=False, pad=[-1, -2.0]))[:2]
    assert [r["x"] for r in made] == [[0, 1, 2, 3], [4, 0, 1, -1]]
    assert [r["m"] for r in made] == [[0.0, 10.0, 20.0, 30.0], [40.0, 0.0, 10.0, -2.0]]
    assert [r["positions"] for r in made] == [[0, 1, 2, 3], [4, 0, 1, 0]]


def test_what_is_no_row_of_tokens_is_told():
    source = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
    with pytest.raises(ds.DataError, match="pack takes rows of tokens"):
        read(source.pack(3))
    with pytest.raises(ds.DataError, match="windows takes rows of tokens"):
        read(source.windows(3))
    with pytest.raises(ArgumentError, match="no column"):
        source.pack(3, "y")


@pytest.mark.parametrize("block", blocks(2))
def test_windows_equal_their_model(block):
    for seed in range(50 * block, 50 * block + 50):
        rng = np.random.default_rng(seed)
        lists, length, stride = documents(seed), int(rng.integers(1, 8)), int(rng.integers(1, 8))
        pad = None if rng.integers(2) else -1
        model = []
        for number, tokens in enumerate(lists):
            start = 0
            while tokens and (start + length <= len(tokens) or pad is not None):
                part = tokens[start : start + length]
                model.append({"x": part + [pad] * (length - len(part)), "n": number})
                if start + length >= len(tokens):
                    break
                start += stride

        def make(lists=lists, length=length, stride=stride, pad=pad):
            rows = [(np.array(d, np.int32), i) for i, d in enumerate(lists)]
            return ds.GeneratorDataset(rows, ["x", "n"], shuffle=False).windows(length, stride, "x", pad=pad)

        holds(make, model, rng)


# sharing anew


@pytest.mark.parametrize("block", blocks(10))
def test_another_number_of_readers_goes_on_without_loss_or_repetition(block):
    for seed in range(30 * block, 30 * block + 30):
        rng = np.random.default_rng(seed)
        count, size = int(rng.integers(1, 60)), int(rng.integers(1, 5))
        shuffle = bool(rng.integers(2))

        def reader(shards, shard, count=count, size=size, shuffle=shuffle):
            source = ds.NumpySlicesDataset(np.arange(count), ["x"], num_shards=shards, shard_id=shard, shuffle=shuffle)
            return source.map(same, "x").batch(size).create_tuple_iterator(num_epochs=2, output_numpy=True)

        seen: list[int] = []
        state = None
        for turn, shards in enumerate((2, 3, 1)):
            readers = [reader(shards, i) for i in range(shards)]
            for r in readers:
                if state is not None:
                    r.load_state_dict(json.loads(json.dumps(state)))
            if turn == 2:
                for r in readers:
                    for row in r:
                        seen += row[0].tolist()
                assert sorted(seen) == list(range(count)), f"seed {seed}"
                if readers[0].epoch == 1:  # and the next epoch is whole
                    assert sorted(x for row in readers[0] for x in row[0].tolist()) == list(range(count))
            else:
                least = (count - len(seen)) // shards // size
                for _ in range(int(rng.integers(0, least + 1))):
                    for r in readers:
                        seen += next(r)[0].tolist()
                state = readers[int(rng.integers(shards))].state_dict()
            for r in readers:
                r.stop()


def test_a_state_can_be_taken_and_taken_up_again_within_a_rest():
    def reader(shards, shard):
        source = ds.NumpySlicesDataset(np.arange(40), ["x"], num_shards=shards, shard_id=shard)
        return source.batch(2).create_tuple_iterator(num_epochs=2, output_numpy=True)

    first = [reader(2, i) for i in range(2)]
    seen = [x for r in first for x in next(r)[0].tolist()]
    second = reader(1, 0)
    second.load_state_dict(first[0].state_dict())
    seen += [x for _ in range(3) for x in next(second)[0].tolist()]
    third = reader(1, 0)
    third.load_state_dict(second.state_dict())
    seen += [x for row in third for x in row[0].tolist()]
    assert sorted(seen) == list(range(40))
    assert sorted(x for row in third for x in row[0].tolist()) == list(range(40))
    for r in (*first, second):
        r.stop()


def woven(kind: str, rng: np.random.Generator, count: int, shards: int, shard: int) -> ds.Dataset:
    """Sources that are shared among readers, put together in some way; `x` is a number of its own in every row."""

    def source(first: int, rows: int, name: str = "x") -> ds.Dataset:
        values, shuffle = np.arange(first, first + rows), kind in ("concat", "zip") and bool(rng.integers(2))
        return ds.NumpySlicesDataset({name: values}, num_shards=shards, shard_id=shard, shuffle=shuffle)

    other = int(rng.integers(1, 40))
    if kind == "concat":
        made = source(0, count) + source(1000, other).rename("x", "y").rename("y", "x") + source(2000, count)
    elif kind == "zip":
        made = ds.zip((source(0, count), source(1000, count, "y").map(same, "y")))
    elif kind == "mix":
        made = ds.mix([source(0, count), source(1000, other), source(2000, count)], [0.5, 0.25, 0.25])
    else:
        both = source(0, count) + source(1000, other)
        made = ds.mix([both.map(same, "x"), source(2000, count).project("x")], [2, 1])
    return made.batch(int(rng.integers(1, 4)), bool(kind == "mix" and rng.integers(2)))


@pytest.mark.parametrize("block", blocks(10))
@pytest.mark.parametrize("kind", ["concat", "zip", "mix", "all of them"])
def test_woven_datasets_go_on_with_another_number_of_readers(block, kind):
    for seed in range(10 * block, 10 * block + 10):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 40))

        def reader(shards, shard, kind=kind, seed=seed, count=count):
            dataset = woven(kind, np.random.default_rng(seed), count, shards, shard)
            return dataset.create_tuple_iterator(num_epochs=2, output_numpy=True)

        def rows(batches):
            return [tuple(v) for batch in batches for v in zip(*(column.tolist() for column in batch), strict=True)]

        with reader(1, 0) as alone:
            whole = rows(alone)
        seen: list[tuple[int, ...]] = []
        state = None
        for turn, shards in enumerate([*rng.integers(1, 5, 3).tolist(), 1]):
            readers = [reader(shards, i) for i in range(shards)]
            for r in readers:
                if state is not None:
                    r.load_state_dict(json.loads(json.dumps(state)))
            over = turn == 3
            for _ in range(int(rng.integers(0, 4))):
                given = [next(r, None) for r in readers]
                seen += rows(batch for batch in given if batch is not None)
                over = over or None in given
                if over:
                    break
            if over:  # one that has ended has no state of this epoch: the others end, too
                seen += rows(batch for r in readers if not r.epoch for batch in r)
            state = readers[0].state_dict()
            for r in readers:
                r.stop()
            if over:
                break
        told = f"seed {seed}"
        assert len(seen) == len(set(seen)), told
        if kind in ("concat", "zip"):
            assert sorted(seen) == sorted(whole), told
        elif turn == 3:  # the last reader was alone: what it did not come to are the last rows of some
            for first in (0, 1000, 2000):
                part = sorted(x for (x,) in seen if first <= x < first + 1000)
                assert part == list(range(first, first + len(part))), told


@pytest.mark.parametrize("wrong", ["filter", "shuffle", "repeat", "skip bad ones", "not shared", "twice", "unlike"])
def test_what_cannot_be_shared_anew_is_told(wrong):
    def reader(shards):
        source = ds.NumpySlicesDataset(np.arange(40), ["x"], num_shards=shards, shard_id=0)
        if wrong == "skip bad ones":
            ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
        made = {
            "filter": lambda: source.filter(lambda x: x > 3),
            "shuffle": lambda: source.shuffle(3),
            "repeat": lambda: source.repeat(2),
            "skip bad ones": lambda: source.batch(2),
            "not shared": lambda: source + ds.NumpySlicesDataset(np.arange(40), ["x"]),
            "twice": lambda: source + source,
            "unlike": lambda: source + ds.NumpySlicesDataset(np.arange(40), ["x"], num_shards=7, shard_id=0),
        }[wrong]()
        return made.create_tuple_iterator(num_epochs=1, output_numpy=True)

    first = reader(2)
    next(first)
    with pytest.raises(ds.DataError, match="cannot be shared anew"):
        reader(3).load_state_dict(first.state_dict())
    first.stop()


def test_readers_that_are_as_many_as_before_take_up_the_state_of_any_one():
    def reader(shard):
        parts = [ds.NumpySlicesDataset(np.arange(a, a + 5), ["x"], num_shards=2, shard_id=shard) for a in (0, 10, 20)]
        return (parts[0] + parts[1] + parts[2]).create_tuple_iterator(num_epochs=1, output_numpy=True)

    for step in range(7):
        first = [reader(i) for i in range(2)]
        seen = [int(next(r)[0]) for _ in range(step) for r in first]
        again = [reader(i) for i in range(2)]
        for r in again:
            r.load_state_dict(first[0].state_dict())
            seen += [int(x) for (x,) in r]
        assert sorted(seen) == sorted([*range(5), *range(10, 15), *range(20, 25)])
        for r in first:
            r.stop()


# flat_map, and rows by number


def test_datasets_of_rows_are_made_one_by_one():
    made = []

    def spread(row):
        made.append(int(row[0]))
        return ds.NumpySlicesDataset([int(row[0])] * 3, ["x"], shuffle=False)

    dataset = ds.NumpySlicesDataset(list(range(1000)), ["x"], shuffle=False).flat_map(spread)
    assert not made
    rows = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [int(next(rows)[0]) for _ in range(5)] == [0, 0, 0, 1, 1]
    rows.stop()
    assert len(made) < 100


def test_rows_by_number_are_those_that_are_read():
    whole = ds.NumpySlicesDataset({"x": np.arange(10), "y": np.arange(10) * 2}).map(lambda x: x + 1, "x")
    rows = [plain(r) for r in whole.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert [plain(whole[i]) for i in range(10)] == rows
    assert [plain(whole[i - 10]) for i in range(10)] == rows
    for part in (
        slice(2, 5),
        slice(None, None, 3),
        slice(8, 1, -2),
        slice(-3, None),
        slice(4, 4),
        slice(None, None, -1),
    ):
        got = [plain(r) for r in whole[part].create_dict_iterator(num_epochs=1, output_numpy=True)]
        assert got == rows[part]
    assert whole[3:7].batch(2).get_dataset_size() == 2
    with pytest.raises(IndexError):
        whole[10]
    with pytest.raises(ArgumentError):
        whole["x"]
    with pytest.raises(ArgumentError, match="by number"):
        whole.filter(lambda x: True)[3]
