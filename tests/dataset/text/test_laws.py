"""Laws of text transforms, and what MindSpore gets wrong and we do not."""

import pickle
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mycelia.dataset as ds
import mycelia.dataset.text as T
from mycelia.dataset.text.expressions import pattern
from mycelia.dataset.text.scripts import SCRIPTS, ranges, script
from mycelia.errors import MyceliaError

VOCAB = T.Vocab.from_list(["[UNK]", "i", "love", "the", "book", "##s", ",", "[CLS]", "[MASK]", "lo"])
SENTENCES = st.text(max_size=40)


@pytest.mark.parametrize(
    "tokenizer",
    [
        T.WhitespaceTokenizer(True),
        T.UnicodeCharTokenizer(True),
        T.UnicodeScriptTokenizer(True, True),
        T.RegexTokenizer(r"\s+|\p{P}", r"\p{P}", True),
        T.BasicTokenizer(with_offsets=True, preserve_unused_token=False),
    ],
    ids=lambda t: type(t).__name__,
)
@settings(max_examples=60, deadline=None)
@given(SENTENCES)
def test_offsets_tell_where_each_token_stood(tokenizer, sentence):
    sentence = sentence.rstrip("\0")  # NumPy drops trailing NULs
    words, starts, ends = tokenizer(np.array(sentence))
    data = sentence.encode()
    if words.tolist() == [""]:
        return
    if not isinstance(tokenizer, T.BasicTokenizer):
        for word, start, end in zip(words.tolist(), starts, ends, strict=True):
            assert data[start:end].decode().rstrip("\0") == word
    assert (starts < ends).all()
    assert (ends[:-1] <= starts[1:]).all()


@settings(max_examples=60, deadline=None)
@given(SENTENCES)
def test_characters_and_scripts_leave_nothing_out(sentence):
    sentence = sentence.replace("\0", "")
    assert "".join(T.UnicodeCharTokenizer()(sentence)) == sentence
    assert "".join(T.UnicodeScriptTokenizer(keep_whitespace=True)(sentence)) == sentence
    if not set(sentence) & set("\x1c\x1d\x1e\x1f"):  # blanks to Python, not to Unicode
        assert T.WhitespaceTokenizer()(sentence).tolist() == (sentence.split() or [""])


def test_every_named_letter_belongs_to_the_script_it_is_named_after():
    words = {name.upper(): name for name in SCRIPTS if "_" not in name}
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in ("Lu", "Ll"):
            first = unicodedata.name(chr(code)).split()[0]
            assert script(chr(code)) == words.get(first, script(chr(code)))
    ends = sorted(pair for written in SCRIPTS.values() for pair in ranges(written))
    assert all(a[1] < b[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("name", ["L", "Lu", "Nd", "P", "Mn", "Cc", "Zs", "Sm"])
def test_a_property_inside_a_set_its_opposite_and_its_complement_agree_with_unicode(name):
    text = "".join(chr(code) for code in range(0x3000) if not unicodedata.category(chr(code)).startswith("Cn"))
    inside = [c for c in text if unicodedata.category(c).startswith(name)]
    outside = [c for c in text if not unicodedata.category(c).startswith(name)]
    for expression, want in {
        rf"\p{{{name}}}": inside,
        rf"[\p{{{name}}}]": inside,
        rf"[^\P{{{name}}}]": inside,
        rf"\P{{{name}}}": outside,
        rf"[\P{{{name}}}]": outside,
        rf"[^\p{{{name}}}]": outside,
        rf"[\P{{{name}}}a&&[^a]]": [c for c in outside if c != "a"],
    }.items():
        assert pattern(expression).findall(text) == want


def test_special_tokens_survive_folding():
    tokens = T.BertTokenizer(VOCAB, lower_case=True)("I LOVE the Books, [CLS] [MASK]")
    assert tokens.tolist() == ["i", "love", "the", "book", "##s", ",", "[CLS]", "[MASK]"]


def test_word_pieces_put_together_are_the_word():
    vocab = T.Vocab.from_list([*"abc", *(f"##{c}" for c in "abc"), "ab", "##bc"])
    for word in ("abc", "cab", "aabbcc"):
        found = T.WordpieceTokenizer(vocab)([word])
        assert "".join(p.removeprefix("##") for p in found.tolist()) == word
    words, starts, ends = T.WordpieceTokenizer(vocab, with_offsets=True)(["abx", "abc"])
    assert words.tolist() == ["[UNK]", "ab", "##c"]
    assert starts.tolist() == [0, 0, 2]
    assert ends.tolist() == [3, 2, 3]


def test_replacing_treats_each_string_by_itself():
    assert T.RegexReplace("[aeiou]", "*")(["one", "two"]).tolist() == ["*n*", "tw*"]
    assert T.RegexReplace(r"(\w)(\w)", r"$2\$1")("ab").item() == "b$1"


def test_wiki_markup_becomes_words():
    source = (
        "[http://example.com/ Link text] &lt;b&gt;[[Category:x|y]] ''text'' {{cite}} [[de:Wort]] 25 <ref>a</ref>&nbsp;!"
    )
    assert T.FilterWikipediaXML()(source).item() == "link text x text two five"


class Rows:
    """A dataset of one column of words."""

    def create_dict_iterator(self, num_epochs, output_numpy):
        assert num_epochs == 1
        assert output_numpy
        yield {"words": np.array(["b", "a", "c"]), "other": np.array(["z"])}
        yield {"words": np.array(["a", "b", "d"]), "other": np.array(["z"])}


def test_a_vocabulary_of_a_dataset_is_ordered_by_frequency_then_alphabet():
    assert T.Vocab.from_dataset(Rows(), "words").vocab() == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert T.Vocab.from_dataset(Rows(), ["words"], freq_range=(1, 1)).vocab() == {"c": 0, "d": 1}
    top = T.Vocab.from_dataset(Rows(), None, top_k=2, special_tokens=["<u>"], special_first=False)
    assert top.vocab() == {"a": 0, "b": 1, "<u>": 2}
    with pytest.raises(MyceliaError, match="column"):
        T.Vocab.from_dataset(Rows(), "nothing")


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 20))
def test_truncating_a_pair_equals_dropping_one_at_a_time(a, b, limit):
    first, second = list(range(a)), list(range(b))
    while len(first) + len(second) > limit:
        (first if len(first) > len(second) else second).pop()
    got = T.TruncateSequencePair(limit)(np.arange(a), np.arange(b))
    assert [g.tolist() for g in got] == [first, second]


def test_files_of_words_and_vectors_are_read_by_line(tmp_path):
    (tmp_path / "words").write_bytes("a\r\nb\u2028c\r\n".encode())
    assert T.Vocab.from_file(str(tmp_path / "words")).vocab() == {"a": 0, "b\u2028c": 1}
    (tmp_path / "glove.42B.300d.txt").write_text("a 1 2\nb 3 4\n", encoding="utf8")
    assert T.GloVe.from_file(str(tmp_path / "glove.42B.300d.txt")).dim == 2
    (tmp_path / "bad.txt").write_text("a 1 2\nb x y\n", encoding="utf8")
    with pytest.raises(MyceliaError, match="line: 2"):
        T.Vectors.from_file(str(tmp_path / "bad.txt"))


def test_bytes_and_strings_are_inverse():
    words = np.array(["a", "é", "中"])
    np.testing.assert_array_equal(T.to_str(T.to_bytes(words)), words)
    assert T.Lookup(T.Vocab.from_list(["é"]))(T.to_bytes(np.array(["é"]))).tolist() == [0]


def test_sentencepiece_trains_saves_and_cuts(tmp_path):
    pytest.importorskip("sentencepiece")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the sea is deep and the sky is wide\n" * 50 + "deep sea, wide sky\n" * 50, encoding="utf8")
    for kind in T.SentencePieceModel:
        size = 10 if kind == T.SentencePieceModel.WORD else 20
        vocab = T.SentencePieceVocab.from_file([str(corpus)], size, 1.0, kind, {})
        pieces = T.SentencePieceTokenizer(vocab, T.SPieceTokenizerOutType.STRING)("the deep sea")
        assert "".join(pieces).replace("\u2581", " ").strip() == "the deep sea"
        T.SentencePieceVocab.save_model(vocab, str(tmp_path), "m.model")
        numbers = T.SentencePieceTokenizer(str(tmp_path / "m.model"), T.SPieceTokenizerOutType.INT)("the deep sea")
        assert numbers.dtype == np.int32
        assert len(numbers) == len(pieces)
    made = T.SentencePieceVocab.from_dataset(Rows(), ["words"], 8, 1.0, T.SentencePieceModel.CHAR, {})
    assert made.model


@pytest.mark.parametrize(
    "transform",
    [T.BertTokenizer(VOCAB), T.Lookup(VOCAB, "[UNK]"), T.Ngram([2]), T.RegexTokenizer(" "), T.CaseFold()],
    ids=lambda t: type(t).__name__,
)
def test_transforms_travel_between_processes(transform):
    column = np.array(["i"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(transform))(column), transform(column))


def test_words_may_be_added_to_jieba(tmp_path):
    (tmp_path / "mp").write_text("ab 5 x\nc 5 x\n", encoding="utf8")
    row = "0 0 0 0"
    (tmp_path / "hmm").write_text("\n".join([row] * 5 + ["a:-1"] * 4), encoding="utf8")
    jieba = T.JiebaTokenizer(str(tmp_path / "hmm"), str(tmp_path / "mp"), T.JiebaMode.MP)
    assert jieba("abc").tolist() == ["ab", "c"]
    (tmp_path / "user").write_text("abc 100\nbroken\n", encoding="utf8")
    jieba.add_dict(str(tmp_path / "user"))
    assert jieba("abc").tolist() == ["abc"]
    jieba.add_word("bcd", 10**6)
    assert jieba("abcd").tolist() == ["a", "bcd"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: T.Lookup(VOCAB)(["nowhere"]), "vocabulary"),
        (lambda: T.Lookup(VOCAB, "nowhere"), "unknown_token"),
        (lambda: T.Lookup({"a": 1}), "Vocab"),
        (lambda: T.Vocab.from_list(["a", "a"]), "twice"),
        (lambda: T.Vocab.from_dict({"a": 1, "b": 1}), "same number"),
        (lambda: T.RegexTokenizer(r"\X"), "regular expression"),
        (lambda: T.ToNumber(np.int32)(["1.9"]), "number"),
        (lambda: T.ToNumber(np.float32)(["12abc"]), "number"),
        (lambda: T.ToNumber(np.float16)(["65520"]), "number"),
        (lambda: T.RegexTokenizer("("), "regular expression"),
        (lambda: T.RegexTokenizer(r"\p{Xy}"), "property"),
        (lambda: T.WhitespaceTokenizer()(np.array(["a", "b"])), "one string"),
        (lambda: T.WhitespaceTokenizer()(np.array(3)), "strings"),
        (lambda: T.ToNumber(np.int8)(["300"]), "number"),
        (lambda: T.ToNumber(np.uint8)(["-1"]), "number"),
        (lambda: T.ToNumber(np.int32)(["x"]), "number"),
        (lambda: T.GloVe.from_file("glove.nowhere.txt"), "no such"),
        (lambda: T.SlidingWindow(2)(np.zeros((2, 2))), "row"),
        (lambda: T.NormalizeUTF8(2), "NormalizeForm"),
        (lambda: T.Ngram([]), "empty"),
    ],
)
def test_a_mistake_is_told(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as raised:
        call()
    assert isinstance(raised.value, MyceliaError)


def test_vocabularies_are_made_by_their_old_names_too_with_a_warning():
    pytest.importorskip("sentencepiece")
    words = ds.NumpySlicesDataset(["b a", "a", "b a"], ["word"], shuffle=False)
    with pytest.warns(DeprecationWarning, match=r"text\.Vocab\.from_dataset"):
        made = words.build_vocab("word", (1, None), 1, ["<u>"], False)
    assert made.vocab() == T.Vocab.from_dataset(words, "word", (1, None), 1, ["<u>"], False).vocab()
    given = (7, 1.0, T.SentencePieceModel.CHAR, {})
    with pytest.warns(DeprecationWarning, match=r"SentencePieceVocab\.from_dataset"):
        model = words.build_sentencepiece_vocab("word", *given)
    tokens = T.SentencePieceTokenizer(model, T.SPieceTokenizerOutType.STRING)("ba").tolist()
    again = T.SentencePieceVocab.from_dataset(words, ["word"], *given)
    assert tokens == T.SentencePieceTokenizer(again, T.SPieceTokenizerOutType.STRING)("ba").tolist()


@pytest.mark.parametrize("kind", [T.Vectors, T.GloVe, T.FastText, T.CharNGram])
def test_what_is_no_name_of_a_vector_file_is_refused_in_the_words_of_the_call(kind):
    for wrong in (5, None, b"x"):
        with pytest.raises(MyceliaError, match=f"^file_path of {kind.__name__} is a text, not {type(wrong).__name__}"):
            kind.from_file(wrong)
    with pytest.raises(MyceliaError, match=f"^max_vectors of {kind.__name__} "):
        kind.from_file("no file", -1)
