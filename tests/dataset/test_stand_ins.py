"""Stand-ins for tables and tokenizers of Hugging Face: many rows at a time are what they are one by one."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import text
from mycelia.dataset.flow.ragged import of_texts
from mycelia.dataset.sources.arrowcells import cells, is_plain_type, ragged
from mycelia.dataset.text.quick import Quick
from tests.each import each

# tables of Arrow

COUNT = 60
NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


class Value:
    """As the feature of `datasets` that says: a cell is what the table holds."""


class Table:
    """As a Dataset of `datasets`: rows of a table of Arrow, by number or as a part of the table."""

    format: ClassVar[dict[str, Any]] = {"type": None}

    def __init__(self, table, arrow=False):
        self.table, self.arrow = table, arrow
        self.column_names, self.features = list(table.column_names), dict.fromkeys(table.column_names, Value())
        self.asked = []

    def __len__(self):
        return len(self.table)

    def with_format(self, kind):
        assert kind == "arrow"
        made = Table(self.table, True)
        made.asked = self.asked
        return made

    def __getitem__(self, wanted):
        if isinstance(wanted, str):
            return self.table[wanted].to_pylist()
        if not self.arrow:
            return {name: self.table[name][wanted].as_py() for name in self.column_names}
        self.asked.append(wanted)
        return self.table[wanted] if isinstance(wanted, slice) else self.table.take(wanted)


def columns_of(pyarrow):
    rng = np.random.default_rng(0)
    columns = {"truth": pyarrow.array([bool(i % 2) for i in range(COUNT)])}
    for kind in ("string", "large_string"):
        words = ["é" * int(n) for n in rng.integers(0, 4, COUNT)]
        columns[kind] = pyarrow.array(words, getattr(pyarrow, kind)())
        columns[f"some {kind}"] = pyarrow.array(
            [w if i % 5 else None for i, w in enumerate(words)], getattr(pyarrow, kind)()
        )
    columns["zeros"] = pyarrow.array([f"a{chr(0) * (i % 2)}" for i in range(COUNT)])
    for kind in NUMBERS:
        own = getattr(pyarrow, kind)()
        columns[kind] = pyarrow.array([i % 100 for i in range(COUNT)], own)
        columns[f"some {kind}"] = pyarrow.array([i if i % 5 else None for i in range(COUNT)], own)
        lists = [[i % 50] * int(rng.integers(0, 4)) for i in range(COUNT)]
        for listed in (pyarrow.list_, pyarrow.large_list):
            columns[f"{listed.__name__} of {kind}"] = pyarrow.array(lists, listed(own))
        columns[f"some lists of {kind}"] = pyarrow.array(
            [v if i % 7 else None for i, v in enumerate(lists)], pyarrow.list_(own)
        )
        columns[f"holes in {kind}"] = pyarrow.array(
            [[*v, None] if i % 9 == 2 else v for i, v in enumerate(lists)], pyarrow.list_(own)
        )
    return columns


def told(values):
    return [(v.dtype, v.shape, v.tolist()) for v in map(np.asarray, values)]


@pytest.mark.parametrize("chunks", [1, 3])
def test_cells_of_arrow_are_what_numpy_makes_of_their_values(chunks):
    pyarrow = pytest.importorskip("pyarrow")

    def check(array):
        parts = [array[k * COUNT // chunks : (k + 1) * COUNT // chunks] for k in range(chunks)]
        column = pyarrow.chunked_array([*parts, array[:0]])
        want = told(array.to_pylist())
        if not is_plain_type(array.type):
            assert any(kind in str(array.type) for kind in ("bool", "uint64"))  # whose values are left to Python
            return
        assert told(cells(column)) == want
        for some in (slice(0, 0), slice(5, 6), slice(7, 40)):
            assert told(cells(column[some])) == want[some]
            whole = ragged(column[some])
            assert whole is None or same_but_for_empty(told(whole.rows()), want[some])
        single = str(array.type) in (*NUMBERS, "float", "double")
        texts = "string" in str(array.type)
        zeros = texts and any("\0" in str(v) for v in array.to_pylist())
        assert (ragged(column) is None) == (bool(array.null_count) or single or zeros or _holes(array))

    each(check, ((name, (array,)) for name, array in columns_of(pyarrow).items()))


def same_but_for_empty(made, want):
    """Whether cells are the same; NumPy does not know of what type those are that hold nothing."""
    return len(made) == len(want) and all(
        a == b or a[1:] == b[1:] == ((0,), []) for a, b in zip(made, want, strict=True)
    )


def _holes(array):
    return any(v is not None and not isinstance(v, str | int | float) and None in v for v in array.to_pylist())


def test_a_table_is_read_in_parts_and_row_by_row_alike():
    pyarrow = pytest.importorskip("pyarrow")

    def check(name, array):
        source = Table(pyarrow.table({name: array}))
        want = told(array.to_pylist())

        def read(dataset):
            return told(r[name] for r in dataset.create_dict_iterator(num_epochs=1, output_numpy=True))

        for dataset in (ds.HubDataset(source, shuffle=False), ds.HubDataset(source, shuffle=False).map(lambda x: x)):
            assert read(dataset) == want
        order = [5, 3, 4, 5, 59, 0]
        assert read(ds.HubDataset(source, sampler=order)) == [want[i] for i in order]
        assert any(part != slice(None, 1) for part in source.asked) == is_plain_type(array.type)

    each(
        check,
        (
            (name, (name, array))
            for name, array in columns_of(pyarrow).items()
            if name[:4] in ("int8", "stri", "list", "trut")
        ),
    )


def test_classes_are_balanced_by_a_column_of_a_table():
    pyarrow = pytest.importorskip("pyarrow")
    labels = [i % 3 for i in range(30)]
    source = Table(pyarrow.table({"x": list(range(30)), "label": labels}))
    chosen = ds.HubDataset(source, sampler=ds.PKSampler(2))
    rows = [int(r["label"]) for r in chosen.create_dict_iterator(num_epochs=1, output_numpy=True)]
    assert rows == [0, 0, 1, 1, 2, 2]


# tokenizers by chunks

SPLIT = {"type": "WhitespaceSplit"}
CASES: dict[str, tuple[dict[str, Any], bool]] = {  # what the tokenizer is made of, and whether it goes by chunks
    "plain": ({}, True),
    "lowercase": ({"normalizer": {"type": "Lowercase"}}, True),
    "several normalizers": (
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}},
        True,
    ),
    "a normalizer that looks past spaces": ({"normalizer": {"type": "Replace"}}, False),
    "one of them": ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Strip"}]}}, False),
    "no splitter": ({"pre_tokenizer": None}, False),
    "byte level": ({"pre_tokenizer": {"type": "ByteLevel", "use_regex": True}}, True),
    "byte level, whole": ({"pre_tokenizer": {"type": "ByteLevel", "use_regex": False}}, False),
    "splitters": ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, {"type": "Digits"}]}}, True),
    "a splitter that joins": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, {"type": "Metaspace"}]}},
        False,
    ),
    "a splitter too late": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits"}, SPLIT]}},
        False,
    ),
    "another model": ({"model": "Own"}, False),
    "chance": ({"dropout": 0.1}, False),
    "no chance": ({"dropout": 0.0}, True),
    "truncation": ({"truncation": {"max_length": 3}}, False),
    "padding": ({"padding": {"length": 3}}, False),
    "an added word": ({"added": ["<s>"]}, True),
    "an added word with a space": ({"added": ["a b"]}, False),
    "an added word that is not ASCII": ({"added": ["é"]}, False),
    "an added word of nothing": ({"added": [""]}, False),
    "an added word that takes spaces before it": ({"added": ["<s>"], "lstrip": True}, False),
    "an added word that takes spaces behind it": ({"added": ["<s>"], "rstrip": True}, False),
    "an added word that stands alone": ({"added": ["<s>"], "single_word": True}, False),
    "bert": ({"post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 7], "sep": ["[SEP]", 8]}}, True),
    "roberta": ({"post_processor": {"type": "RobertaProcessing", "cls": ["<s>", 7], "sep": ["</s>", 8]}}, True),
    "places only": ({"post_processor": {"type": "ByteLevel"}}, True),
    "another processor": ({"post_processor": {"type": "Own"}}, False),
    "a template": (
        {
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "a"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "b"}}],
                "special_tokens": {"a": {"ids": [7]}, "b": {"ids": [8]}},
            }
        },
        True,
    ),
    "a template of two texts": (
        {
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"Sequence": {"id": "B"}}],
                "special_tokens": {},
            }
        },
        False,
    ),
    "a template with the text twice": (
        {
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"Sequence": {"id": "A"}}, {"Sequence": {"id": "A"}}],
                "special_tokens": {},
            }
        },
        False,
    ),
    "processors": (
        {
            "post_processor": {
                "type": "Sequence",
                "processors": [
                    {"type": "ByteLevel"},
                    {"type": "BertProcessing", "cls": ["[CLS]", 7], "sep": ["[SEP]", 8]},
                ],
            }
        },
        True,
    ),
}


class Part:
    """A part of a tokenizer, which tells what it is as those of `tokenizers` do."""

    def __init__(self, told):
        self.told = told

    def __getstate__(self):
        return json.dumps(self.told).encode()


class Words:
    """As a tokenizer of `tokenizers`, of words at spaces; it counts how it is asked."""

    def __init__(self, made):
        for name in ("normalizer", "pre_tokenizer", "post_processor"):
            given = made.get(name, SPLIT if name == "pre_tokenizer" else None)
            setattr(self, name, None if given is None else Part(given))
        self.model = type(made.get("model", "WordLevel"), (), {"dropout": made.get("dropout")})()
        self.truncation, self.padding = made.get("truncation"), made.get("padding")
        flags = {name: made.get(name, False) for name in ("lstrip", "rstrip", "single_word")}
        self.added = {i: SimpleNamespace(content=word, **flags) for i, word in enumerate(made.get("added", ()))}
        processed = json.dumps(made.get("post_processor", ""))
        self.around = ([7], [8]) if "7" in processed else ([], [])
        self.encoded, self.wrong = 0, False

    def get_added_tokens_decoder(self):
        return self.added

    def get_vocab_size(self):
        return 99 + len(self.added)

    def ids(self, sentence, special):
        words = [sum(w.encode()) * (1 + self.wrong * (i > 0)) for i, w in enumerate(sentence.split())]
        return [*self.around[0], *words, *self.around[1]] if special else words

    def encode(self, sentence, add_special_tokens=True):
        return SimpleNamespace(ids=self.ids(sentence, add_special_tokens))

    def encode_batch(self, texts, add_special_tokens=True):
        self.encoded += len(texts)
        return [self.encode(t, add_special_tokens) for t in texts]


TEXTS = [["to be or not", "", "to be"], ["be <s> to é7", " two  spaces "], ["to be or not"] * 3]


@pytest.mark.parametrize("special", [True, False])
def test_tokenizers_are_asked_by_chunks_only_when_nothing_in_them_looks_past_one(special):
    def check(made, by_chunks):
        words = Words(made)
        quick = Quick(words)
        assert quick.encode(of_texts([]), special) is None
        for texts in TEXTS:
            got = quick.encode(of_texts(texts), special)
            assert (got is not None) == by_chunks
            if got is not None:
                assert [r.tolist() for r in got.rows()] == [words.ids(t, special) for t in texts]
        assert quick.refused != by_chunks
        if by_chunks:  # the last texts had no chunk that was new
            before = words.encoded
            assert quick.encode(of_texts(TEXTS[0]), special) is not None
            assert words.encoded == before

    each(check, CASES.items())


def test_a_tokenizer_that_changes_or_differs_is_not_asked_by_chunks_again():
    changes = {
        "normalizer": Part({"type": "Lowercase"}),
        "pre_tokenizer": Part({"type": "Whitespace"}),
        "added": {0: 1},
        "post_processor": Part({"type": "ByteLevel"}),
        "truncation": {"max_length": 2},
        "padding": {},
        "wrong": True,
    }

    def check(name, value):
        words = Words({})
        quick = Quick(words)
        assert quick.encode(of_texts(["to be"]), True) is not None
        setattr(words, name, value)
        assert quick.encode(of_texts(["or not"]), True) is None
        setattr(words, name, getattr(Words({}), name))
        assert quick.encode(of_texts(["to be"]), True) is None

    each(check, ((name, (name, value)) for name, value in changes.items()))
    assert Quick(object()).encode(of_texts(["to"]), True) is None


def test_texts_that_are_all_new_are_not_looked_up_for_ever():
    words = Words({})
    quick = Quick(words)
    assert quick.chunks.useful
    quick.chunks.asked = quick.chunks.new = (1 << 16) - 1
    assert quick.chunks.useful
    quick.chunks.asked += 1
    for new, useful in ((1 << 16, False), (1 << 14, False), ((1 << 14) - 1, True)):
        quick.chunks.new = new
        assert quick.chunks.useful == useful
        assert (quick.encode(of_texts(["to be"]), True) is not None) == useful
    assert not quick.refused


@pytest.mark.parametrize("special", [True, False])
def test_a_column_of_texts_becomes_the_tokens_of_each(special):
    words = Words(CASES["bert"][0])
    sentences = [f"to be {i % 4} or" * (i % 3) for i in range(50)]
    source = ds.NumpySlicesDataset({"t": sentences}, shuffle=False)
    mapped = source.map(text.HubTokenizer(words, ("ids",), special), ["t"], ["ids"])
    padded = mapped.padded_batch(10, pad_info={"ids": ([20], -1)})
    rows = [r.tolist() for b in padded.create_dict_iterator(num_epochs=1, output_numpy=True) for r in b["ids"]]
    want = [words.ids(s, special) for s in sentences]
    assert rows == [[*ids, *[-1] * 20][:20] for ids in want]
    again = copy.copy(text.HubTokenizer(words, ("ids",), special))
    assert again("to be").tolist() == words.ids("to be", special)
