"""Texts encoded by their chunks: equal to a loop over the chunks, to the routines as Python, and to the tokenizers."""

from __future__ import annotations

import zlib
from itertools import pairwise

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset import text
from mycelia.dataset.flow.ragged import of_texts
from mycelia.dataset.text import chunks
from mycelia.dataset.text.quick import Quick

LETTERS = [
    "a",
    "b",
    "xyz",
    "é",
    "漢字",
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\t",
    "<",
    "<end>",
    "7",
    "12",
    "'s",
    ".",
    "\u0301",
    "\u00a0",
    "W" * 70,
]


def sentences(rng, count):
    return ["".join(rng.choice(LETTERS, rng.integers(0, 25))) for _ in range(count)]


def tokens(texts):
    return [[zlib.crc32(t.encode()) >> 8, *range(len(t) % 4)] for t in texts]


def cut(sentence, kept):
    """The chunks of a text, as they are defined."""
    data = sentence.encode()
    pairs = pairwise(data[1:])
    found = [0, *(i for i, (a, b) in enumerate(pairs, 1) if a == 32 and 32 < b < 127 and b not in kept)]
    parts = [data[a:b].decode() for a, b in zip(found, [*found[1:], len(data)], strict=True)]
    return [sentence] if any(len(p.encode()) > chunks.LONGEST for p in parts) else parts


@pytest.mark.parametrize("kept", [b"", b"<"])
def test_texts_are_encoded_by_their_chunks(kept):
    rng = np.random.default_rng(1)
    made = chunks.Chunks(tokens, kept)
    for _ in range(40):
        texts = sentences(rng, int(rng.integers(1, 30)))
        column = of_texts(texts)
        got = made.encode(column.values, column.ends, [5], [6, 7])
        expected = [[5, *(t for part in (cut(s, kept) if s else []) for t in tokens([part])[0]), 6, 7] for s in texts]
        assert [r.tolist() for r in got.rows()] == expected
    assert made.new < made.asked


def test_the_routines_stay_inside_and_mean_what_python_means(monkeypatch):
    rng = np.random.default_rng(2)
    texts = [of_texts(sentences(rng, 12)) for _ in range(6)]
    quick = chunks.Chunks(tokens, b"<")
    native = [quick.encode(t.values, t.ends, [], []).values.tolist() for t in texts]
    for name in ("_look", "_lengths", "_gather", "_place"):
        monkeypatch.setattr(chunks, name, checked(getattr(chunks, name).python))
    slow = chunks.Chunks(tokens, b"<")
    assert [slow.encode(t.values, t.ends, [], []).values.tolist() for t in texts] == native


class Inside:
    """An array that refuses an index outside."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, i):
        assert 0 <= i < len(self.array)
        return int(self.array[i])

    def __setitem__(self, i, value):
        assert 0 <= i < len(self.array)
        self.array[i] = value


def checked(function):
    return lambda *args: function(*(Inside(a) if isinstance(a, np.ndarray) else a for a in args))


def test_what_was_remembered_is_forgotten_when_there_is_too_much(monkeypatch):
    monkeypatch.setattr(chunks, "ENTRIES", 50)
    made = chunks.Chunks(tokens, b"")
    for i in range(30):
        column = of_texts([f"w{i} w{i + 1} w{j}" for j in range(5)])
        got = made.encode(column.values, column.ends, [], [])
        assert [r.tolist() for r in got.rows()] == [
            [t for part in (f"w{i}", f" w{i + 1}", f" w{j}") for t in tokens([part])[0]] for j in range(5)
        ]
        assert made.sizes[0] < 70


def test_an_encoder_that_fails_leaves_nothing_behind():
    calls = []

    def encode(texts):
        calls.append(texts)
        if len(calls) == 1:
            raise ValueError("not today")
        return tokens(texts)

    made = chunks.Chunks(encode, b"")
    column = of_texts(["to be"])
    with pytest.raises(ValueError, match="not today"):
        made.encode(column.values, column.ends, [], [])
    assert made.encode(column.values, column.ends, [], []).values.tolist() == [
        t for part in ("to", " be") for t in tokens([part])[0]
    ]


def tokenizer(kind, splitter, normalizer, processor):
    hub = pytest.importorskip("tokenizers")
    corpus = [*sentences(np.random.default_rng(0), 300), "to be or not to be", "the cat's 12 hats"]
    model, trainer = {
        "BPE": (hub.models.BPE(unk_token="?"), hub.trainers.BpeTrainer),
        "WordPiece": (hub.models.WordPiece(unk_token="?"), hub.trainers.WordPieceTrainer),
        "WordLevel": (hub.models.WordLevel(unk_token="?"), hub.trainers.WordLevelTrainer),
        "Unigram": (hub.models.Unigram(), hub.trainers.UnigramTrainer),
    }[kind]
    made = hub.Tokenizer(model)
    pre = hub.pre_tokenizers
    made.pre_tokenizer = {
        "Whitespace": pre.Whitespace(),
        "WhitespaceSplit": pre.WhitespaceSplit(),
        "Bert": pre.BertPreTokenizer(),
        "ByteLevel": pre.ByteLevel(add_prefix_space=False),
        "Prefixed": pre.ByteLevel(add_prefix_space=True),
        "Words and digits": pre.Sequence([pre.WhitespaceSplit(), pre.Digits(), pre.Punctuation()]),
    }[splitter]
    norm = hub.normalizers
    made.normalizer = {
        "none": None,
        "lower": norm.Sequence([norm.NFKC(), norm.Lowercase()]),
        "bert": norm.BertNormalizer(),
        "bare": norm.Sequence([norm.NFD(), norm.StripAccents()]),
    }[normalizer]
    special = ["?", "<end>"]
    more = {"unk_token": "?"} if kind == "Unigram" else {}
    made.train_from_iterator(corpus, trainer(vocab_size=150, special_tokens=special, show_progress=False, **more))
    made.post_processor = {
        "none": None,
        "bert": hub.processors.BertProcessing(("<end>", 1), ("?", 0)),
        "template": hub.processors.TemplateProcessing(single="<end> $A ? ?", special_tokens=[("<end>", 1), ("?", 0)]),
        "several": hub.processors.Sequence(
            [
                hub.processors.ByteLevel(),
                hub.processors.TemplateProcessing(single="<end> $A", special_tokens=[("<end>", 1)]),
            ]
        ),
    }[processor]
    return made


@pytest.mark.peer
@pytest.mark.parametrize("kind", ["BPE", "WordPiece", "WordLevel", "Unigram"])
@pytest.mark.parametrize(
    "splitter", ["Whitespace", "WhitespaceSplit", "Bert", "ByteLevel", "Prefixed", "Words and digits"]
)
def test_the_tokenizers_of_hugging_face_give_the_same_by_chunks(kind, splitter):
    rng = np.random.default_rng(3)
    for normalizer, processor in (("none", "none"), ("lower", "bert"), ("bert", "template"), ("bare", "several")):
        made = tokenizer(kind, splitter, normalizer, processor)
        quick = Quick(made)
        for special in (True, False):
            for _ in range(20):
                texts = sentences(rng, 40)
                got = quick.encode(of_texts(texts), special)
                assert got is not None
                expected = made.encode_batch(texts, add_special_tokens=special)
                assert [r.tolist() for r in got.rows()] == [e.ids for e in expected]


@pytest.mark.peer
def test_tokenizers_that_look_further_are_asked_for_whole_texts():
    hub = pytest.importorskip("tokenizers")
    texts = of_texts(["to be", "or not"])
    made = tokenizer("BPE", "Whitespace", "none", "none")
    assert Quick(made).encode(texts, True) is not None
    for change in (
        lambda t: t.enable_truncation(3),
        lambda t: t.enable_padding(),
        lambda t: setattr(t, "pre_tokenizer", hub.pre_tokenizers.Metaspace()),
        lambda t: setattr(t, "pre_tokenizer", hub.pre_tokenizers.Digits()),
        lambda t: setattr(t, "normalizer", hub.normalizers.Strip()),
        lambda t: t.add_tokens([hub.AddedToken("xy", lstrip=True)]),
        lambda t: t.add_tokens(["x y"]),
        lambda t: setattr(t.model, "dropout", 0.5),
    ):
        made = tokenizer("BPE", "Whitespace", "none", "none")
        known = Quick(made)
        assert known.encode(texts, True) is not None
        change(made)
        assert Quick(made).encode(texts, True) is None
        assert known.encode(texts, True) is None  # nor one that was changed after it was met


@pytest.mark.peer
@pytest.mark.parametrize("outputs", [("ids",), ("ids", "attention_mask", "type_ids")])
def test_a_map_gives_the_same_rows_however_they_are_asked_for(outputs):
    datasets = pytest.importorskip("datasets")
    made = tokenizer("BPE", "ByteLevel", "none", "bert")
    texts = sentences(np.random.default_rng(4), 300)
    expected = [[getattr(made.encode(t), name) for name in outputs] for t in texts]
    operation = text.HubTokenizer(made, outputs)
    table = datasets.Dataset.from_dict({"text": texts, "n": list(range(300))})
    for source in (
        ds.HubDataset(table, shuffle=False),
        ds.NumpySlicesDataset((texts, list(range(300))), ["text", "n"], shuffle=False),
    ):
        rows = source.map(operation, ["text"], list(outputs)).create_dict_iterator(num_epochs=1, output_numpy=True)
        got = list(rows)
        assert [[r[name].tolist() for name in outputs] for r in got] == expected
        assert [int(r["n"]) for r in got] == list(range(300))
        packed = source.map(operation, ["text"], list(outputs)).pack(64, "ids", drop_remainder=True)
        flat = [t for e in expected for t in e[0]]
        whole = len(flat) // 64 * 64
        assert [t for r in packed.create_dict_iterator(1, True) for t in r["ids"].tolist()] == flat[:whole]
