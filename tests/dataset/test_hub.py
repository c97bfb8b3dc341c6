"""Tokenizers and datasets of Hugging Face: called as they are, with the rows that they give; their stand-ins here, and
the libraries themselves where they are installed.
"""

from __future__ import annotations

import json
from typing import ClassVar

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import text
from mycelia.errors import ArgumentError, MyceliaError


class Encoding:
    def __init__(self, words, types):
        self.tokens = words
        self.ids = [sum(w.encode()) for w in words]
        self.attention_mask = [1] * len(words)
        self.type_ids = types
        self.offsets = [(i, i + 1) for i in range(len(words))]


class Words:
    """As those of `tokenizers`."""

    def encode(self, sequence, pair=None, add_special_tokens=True):
        words, types = sequence.split(), [0] * len(sequence.split())
        if pair is not None:
            words, types = [*words, *pair.split()], [*types, *[1] * len(pair.split())]
        return Encoding(
            [*(["[CLS]"] if add_special_tokens else []), *words], [*([0] if add_special_tokens else []), *types]
        )


class Called:
    """As those of `transformers`."""

    def __call__(self, sequence, pair=None, add_special_tokens=True):
        made = Words().encode(sequence, pair, add_special_tokens)
        return {"input_ids": made.ids, "attention_mask": made.attention_mask, "token_type_ids": made.type_ids}

    def encode(self, sequence):
        raise AssertionError("gives the numbers alone")


@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize("tokenizer", [Words(), Called()])
def test_texts_become_what_the_tokenizer_makes_of_them(tokenizer, processes):
    source = ds.NumpySlicesDataset(["to be", "or not"], ["text"], shuffle=False)
    operation = text.HubTokenizer(tokenizer, ("ids", "attention_mask", "type_ids"))
    mapped = source.map(
        operation, ["text"], ["ids", "mask", "types"], python_multiprocessing=processes, num_parallel_workers=2
    )
    rows = list(mapped.create_dict_iterator(num_epochs=1, output_numpy=True))
    for row, sentence in zip(rows, ["to be", "or not"], strict=True):
        expected = Words().encode(sentence)
        assert row["ids"].tolist() == expected.ids
        assert row["mask"].tolist() == expected.attention_mask
        assert row["types"].tolist() == expected.type_ids
        assert row["ids"].dtype == np.int32


def test_pairs_words_and_places():
    pairs = ds.NumpySlicesDataset((["to be"], ["or not"]), ["a", "b"])
    operation = text.HubTokenizer(Words(), ("tokens", "offsets", "type_ids"), add_special_tokens=False)
    row = next(pairs.map(operation, ["a", "b"], ["t", "o", "k"]).create_dict_iterator(num_epochs=1, output_numpy=True))
    assert row["t"].tolist() == ["to", "be", "or", "not"]
    assert row["o"].tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert row["k"].tolist() == [0, 0, 1, 1]


def test_mistakes_of_tokenizers_are_told():
    with pytest.raises(ArgumentError, match="has encode"):
        text.HubTokenizer(5)
    with pytest.raises(ArgumentError, match="outputs"):
        text.HubTokenizer(Words(), "ids")
    with pytest.raises(MyceliaError, match="gives no 'nothing'"):
        text.HubTokenizer(Words(), ("nothing",))("a")
    with pytest.raises(MyceliaError, match="gives no 'tokens'"):
        text.HubTokenizer(Called(), ("tokens",))("a")


class Streamed:
    """As an IterableDataset of `datasets`: a state that says where the next iteration begins."""

    column_names = ("x", "y")

    def __init__(self, count):
        self.count, self.at, self.passed = count, 0, 0

    def __iter__(self):
        begin = self.at
        for i in range(begin, self.count):
            self.at = i + 1
            self.passed += 1
            yield {"x": i, "y": f"row {i}"}
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def test_a_streamed_dataset_is_read_from_the_front_and_resumed_by_itself():
    expected = [[i, f"row {i}"] for i in range(9)]

    def rows(iterator):
        return [[r["x"].tolist(), str(r["y"])] for r in iterator]

    iterator = ds.HubDataset(Streamed(9)).create_dict_iterator(num_epochs=2, output_numpy=True)
    assert rows(iterator) == expected
    assert rows(iterator) == expected
    first = ds.HubDataset(Streamed(9)).create_dict_iterator(num_epochs=1, output_numpy=True)
    for _ in range(4):
        next(first)
    state = json.loads(json.dumps(first.state_dict()))
    first.stop()
    source = Streamed(9)
    again = ds.HubDataset(source).create_dict_iterator(num_epochs=1, output_numpy=True)
    again.load_state_dict(state)
    assert rows(again) == expected[4:]
    assert source.passed == 5  # the rows before are not made again
    assert (
        rows(ds.HubDataset(Streamed(9), ["y", "x"], num_samples=2).create_dict_iterator(1, output_numpy=True))
        == expected[:2]
    )


class Many:
    """As a Dataset of `datasets`: rows by number, also several at a time."""

    column_names: ClassVar[list[str]] = ["x"]

    def __init__(self):
        self.asked = []

    def __len__(self):
        return 100

    def __getitem__(self, i):
        self.asked.append(1)
        if i == 70:
            raise ValueError("row 70 is bad")
        return {"x": [i] * (i % 3 + 1)}

    def __getitems__(self, indices):
        made = [self[i] for i in indices]
        self.asked = [*self.asked[: -len(indices)], len(indices)]
        return made


def test_rows_are_asked_for_several_at_a_time_where_the_source_can():
    source = Many()
    rows = ds.HubDataset(source, shuffle=False).take(60).create_dict_iterator(num_epochs=1, output_numpy=True)
    assert [r["x"].tolist() for r in rows] == [[i] * (i % 3 + 1) for i in range(60)]
    assert max(source.asked) > 1
    rows = ds.HubDataset(source, shuffle=False).create_dict_iterator(num_epochs=1, output_numpy=True)
    for _ in range(70):
        next(rows)
    with pytest.raises(MyceliaError, match="row 70 is bad"):
        next(rows)


def test_mistakes_with_streamed_datasets_are_told():
    for wrong in ({"shuffle": True}, {"num_shards": 2, "shard_id": 0}, {"sampler": [1]}):
        with pytest.raises(ArgumentError, match="its own order"):
            ds.HubDataset(Streamed(3), **wrong)
    with pytest.raises(ArgumentError, match="no column"):
        ds.HubDataset(Streamed(3), ["z"])
    with pytest.raises(ArgumentError, match="needs columns_list"):
        ds.HubDataset(iter([{"x": 1}]))


@pytest.mark.peer
def test_the_tokenizers_of_hugging_face():
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"to": 0, "be": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    operation = text.HubTokenizer(words, ("ids", "tokens", "offsets"))
    ids, tokens, offsets = operation("to be so")
    assert ids.tolist() == [0, 1, 2]
    assert tokens.tolist() == ["to", "be", "?"]
    assert offsets.tolist() == [[0, 2], [3, 5], [6, 8]]


@pytest.mark.peer
def test_the_datasets_of_hugging_face():
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"x": list(range(20)), "t": [f"row {i}" for i in range(20)]})
    expected = [[i, f"row {i}"] for i in range(20)]

    def rows(dataset):
        return [[r["x"].tolist(), str(r["t"])] for r in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]

    assert rows(ds.HubDataset(table, shuffle=False)) == expected
    assert rows(ds.HubDataset(table.to_iterable_dataset(num_shards=2))) == expected
    first = ds.HubDataset(table.to_iterable_dataset()).create_dict_iterator(num_epochs=1, output_numpy=True)
    for _ in range(7):
        next(first)
    again = ds.HubDataset(table.to_iterable_dataset()).create_dict_iterator(num_epochs=1, output_numpy=True)
    again.load_state_dict(json.loads(json.dumps(first.state_dict())))
    first.stop()
    assert [int(r["x"]) for r in again] == list(range(7, 20))


@pytest.mark.peer
@pytest.mark.parametrize("order", [False, True])
def test_cells_of_hugging_face_are_the_same_one_by_one_and_many_at_a_time(order):
    datasets = pytest.importorskip("datasets")
    pyarrow = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    count = 200
    kinds = ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64", "bool_", "string"]
    columns = {}
    for kind in kinds:
        own = getattr(pyarrow, kind)()
        values = [
            f"text {i}" if kind == "string" else bool(i % 2) if kind == "bool_" else i % 100 for i in range(count)
        ]
        columns[kind] = pyarrow.array(values, own)
        if kind != "string":
            lists = [[values[i]] * int(rng.integers(0, 5)) for i in range(count)]
            columns[f"list of {kind}"] = pyarrow.array(lists, pyarrow.list_(own))
            columns[f"holes in {kind}"] = pyarrow.array(
                [v if i % 7 else None for i, v in enumerate(lists)], pyarrow.list_(own)
            )
    columns["lists of lists"] = pyarrow.array([[[i], [i, 2]][: i % 3] for i in range(count)])
    whole = datasets.Dataset(pyarrow.table(columns))
    table = datasets.concatenate_datasets([whole, whole.select(range(50, 90))]).shuffle(seed=3 if order else 1)
    for name in columns:
        rows = ds.HubDataset(table.select_columns([name]), shuffle=False)
        try:
            expected = [np.asarray(value) for value in table[name]]
        except ValueError:
            continue  # of several lengths: neither way makes an array
        got = [r[name] for r in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
        assert [(g.dtype, g.shape, g.tolist()) for g in got] == [(e.dtype, e.shape, e.tolist()) for e in expected], name


class Batched(Words):
    """As those of `tokenizers` that take many texts at once."""

    def __init__(self):
        self.many, self.single = [], 0

    def encode(self, sequence, pair=None, add_special_tokens=True):
        self.single += 1
        return super().encode(sequence, pair, add_special_tokens)

    def encode_batch(self, texts, add_special_tokens=True):
        self.many.append(len(texts))
        pairs = [(t, None) if isinstance(t, str) else t for t in texts]
        return [Words().encode(*p, add_special_tokens=add_special_tokens) for p in pairs]


@pytest.mark.parametrize("workers", [None, 1, 3])
@pytest.mark.parametrize("columns", [["a"], ["a", "b"]])
def test_texts_of_a_batch_are_tokenized_at_once(columns, workers):
    first = [f"to be {i}" * (i % 3) for i in range(40)]
    second = [f"or not {i}" for i in range(40)]
    words = Batched()
    outputs = ("ids", "attention_mask")
    source = ds.NumpySlicesDataset({"a": first, "b": second}, shuffle=False, num_parallel_workers=2).project(columns)
    mapped = source.map(text.HubTokenizer(words, outputs), columns, ["i", "m"], num_parallel_workers=workers)
    padded = mapped.padded_batch(8, pad_info={"i": ([12], -1), "m": ([12], 0)})
    batches = padded.create_tuple_iterator(num_epochs=1, output_numpy=True)
    rows = [(i.tolist(), m.tolist()) for batch in batches for i, m in zip(*batch, strict=True)]
    for (ids, mask), *given in zip(rows, *([first], [first, second])[len(columns) - 1], strict=True):
        expected = Words().encode(*given)
        rest = 12 - len(expected.ids)
        assert ids == expected.ids + [-1] * rest
        assert mask == expected.attention_mask + [0] * rest
    assert sum(words.many) == 40
    assert not words.single
