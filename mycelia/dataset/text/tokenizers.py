"""Tokenizers: a string cut at blanks, at characters, at changes of script, by expression, and into word pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from itertools import groupby
from typing import Any

import numpy as np

from mycelia.checks import member, text, truth, whole
from mycelia.dataset.text.base import StringOperation, TextOperation, Token, Tokenizer, answer
from mycelia.dataset.text.characters import fold, normalize
from mycelia.dataset.text.expressions import BLANKS, category, expand, pattern
from mycelia.dataset.text.modes import NormalizeForm
from mycelia.dataset.text.scripts import script
from mycelia.dataset.text.vocab import Vocab
from mycelia.dataset.transforms.base import Array
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen

blank = re.compile(f"[{BLANKS}]").match


@frozen
class WhitespaceTokenizer(Tokenizer):
    """Cut at blanks.

    >>> WhitespaceTokenizer()("to be  or")
    array(['to', 'be', 'or'], dtype='<U2')
    """

    with_offsets: bool = False

    def __post_init__(self) -> None:
        truth(self, "with_offsets", self.with_offsets)

    def tokens(self, source: str) -> Iterable[Token]:
        """Runs of what is not blank."""
        return (Token(m.group(), m.start(), m.end()) for m in re.finditer(f"[^{BLANKS}]+", source))


@frozen
class UnicodeCharTokenizer(Tokenizer):
    """Each character by itself.

    >>> UnicodeCharTokenizer()("né")
    array(['n', 'é'], dtype='<U1')
    """

    with_offsets: bool = False

    def __post_init__(self) -> None:
        truth(self, "with_offsets", self.with_offsets)

    def tokens(self, source: str) -> Iterable[Token]:
        """One token a character."""
        return (Token(c, i, i + 1) for i, c in enumerate(source))


@frozen
class UnicodeScriptTokenizer(Tokenizer):
    """Cut where the script changes, and between blanks and the rest.

    >>> UnicodeScriptTokenizer()("Hi, мир")
    array(['Hi', ',', 'мир'], dtype='<U3')
    """

    keep_whitespace: bool = False
    with_offsets: bool = False

    def __post_init__(self) -> None:
        truth(self, "keep_whitespace", self.keep_whitespace)
        truth(self, "with_offsets", self.with_offsets)

    def tokens(self, source: str) -> Iterator[Token]:
        """Runs of one script; combining marks count as a script of their own."""
        kinds = ["blank" if blank(c) else script(c) for c in source]
        for kind, run in groupby(range(len(source)), kinds.__getitem__):
            places = list(run)
            start, end = places[0], places[-1] + 1
            if kind != "blank" or self.keep_whitespace:
                yield Token(source[start:end], start, end)


def cut(source: str, delimiter: re.Pattern[str], kept: re.Pattern[str] | None) -> Iterator[Token]:
    """The parts between delimiters, and those delimiters that `kept` matches as a whole.

    >>> [t.text for t in cut("a,b c", re.compile("[, ]"), re.compile(","))]
    ['a', ',', 'b', 'c']
    """
    last = 0
    for m in delimiter.finditer(source):
        start, end = m.span()
        if start > last:
            yield Token(source[last:start], last, start)
        if start < end and kept is not None and kept.fullmatch(m.group()):
            yield Token(m.group(), start, end)
        last = end
    if last < len(source):
        yield Token(source[last:], last, len(source))


@frozen
class RegexTokenizer(Tokenizer):
    r"""Cut at what matches `delim_pattern`; a delimiter that matches `keep_delim_pattern` is a token too.

    >>> RegexTokenizer(r"\s+|,", ",")("a, b")
    array(['a', ',', 'b'], dtype='<U1')
    """

    delim_pattern: str
    keep_delim_pattern: str = ""
    with_offsets: bool = False

    def __post_init__(self) -> None:
        pattern(text(self, "delim_pattern", self.delim_pattern))
        pattern(text(self, "keep_delim_pattern", self.keep_delim_pattern))
        truth(self, "with_offsets", self.with_offsets)

    def tokens(self, source: str) -> Iterable[Token]:
        """Expressions are in ICU's notation."""
        kept = pattern(self.keep_delim_pattern) if self.keep_delim_pattern else None
        return cut(source, pattern(self.delim_pattern), kept)


@frozen
class RegexReplace(StringOperation):
    """What matches `pattern` replaced, everywhere or only once; $1 stands for the first group.

    >>> str(RegexReplace("[0-9]+", "#")("a1b22"))
    'a#b#'
    """

    pattern: str
    replace: str
    replace_all: bool = True

    def __post_init__(self) -> None:
        pattern(text(self, "pattern", self.pattern))
        text(self, "replace", self.replace)
        truth(self, "replace_all", self.replace_all)

    def change(self, string: str) -> str:
        """Expression and replacement are in ICU's notation."""
        return pattern(self.pattern).sub(partial(expand, self.replace), string, 0 if self.replace_all else 1)


@frozen
class CaseFold(StringOperation):
    """Strings for comparison regardless of case.

    >>> str(CaseFold()("Straße"))
    'strasse'
    """

    def change(self, string: str) -> str:
        """Full folding with compatibility forms."""
        return fold(string)


@frozen
class NormalizeUTF8(StringOperation):
    """Strings in a Unicode normalisation form.

    >>> str(NormalizeUTF8()("ﬁ"))
    'fi'
    """

    normalize_form: NormalizeForm = NormalizeForm.NFKC

    def __post_init__(self) -> None:
        member(self, "normalize_form", self.normalize_form, NormalizeForm)

    def change(self, string: str) -> str:
        """By the tables of Python's Unicode."""
        return normalize(string, self.normalize_form)


@frozen
class PythonTokenizer(TextOperation):
    """A function from str to a list of str, as a tokenizer.

    >>> PythonTokenizer(str.split)("a b")
    array(['a', 'b'], dtype='<U1')
    """

    tokenizer: Callable[[str], Iterable[str]]

    def __post_init__(self) -> None:
        if not callable(self.tokenizer):
            raise DTypeError("tokenizer must be callable", given={"tokenizer": repr(self.tokenizer)})

    def apply(self, column: Array) -> Array:
        """Of several strings each becomes a row; the rows must be equally long."""
        rows = [list(self.tokenizer(word)) for word in column.ravel().tolist()]
        if len({len(row) for row in rows}) > 1:
            raise ShapeError("the strings have different numbers of tokens", given={"tokens": [len(r) for r in rows]})
        return np.array(rows, np.str_).reshape(*column.shape, -1) if rows else column


IDEOGRAPHS = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)
UNUSED = r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]"


@cache
def delimiters(preserve_unused: bool, keep_whitespace: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Where BERT cuts: blanks, punctuation, ideographs and perhaps its own tokens; and which of these it keeps."""
    single = f"[!-/:-@\\[-`{{-~{category('P')}{IDEOGRAPHS}]"
    kept = f"{UNUSED}|{single}" if preserve_unused else single
    return re.compile(f"{kept}|[{BLANKS}]+"), re.compile(f"{kept}|[{BLANKS}]+" if keep_whitespace else kept)


@cache
def unwanted() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Accents, and control characters."""
    return re.compile(f"[{category('Mn')}]"), re.compile(f"[{category('Cc')}{category('Cf')}]")


@frozen
class BasicTokenizer(Tokenizer):
    """BERT's first cut: blanks, punctuation and ideographs; `lower_case` also folds case and drops accents.

    Offsets count in the string after folding or normalisation.

    >>> BasicTokenizer(lower_case=True)("Café, 中国")
    array(['cafe', ',', '中', '国'], dtype='<U4')
    """

    lower_case: bool = False
    keep_whitespace: bool = False
    normalization_form: NormalizeForm = NormalizeForm.NONE
    preserve_unused_token: bool = True
    with_offsets: bool = False

    def __post_init__(self) -> None:
        for name in ("lower_case", "keep_whitespace", "preserve_unused_token", "with_offsets"):
            truth(self, name, getattr(self, name))
        member(self, "normalization_form", self.normalization_form, NormalizeForm)

    def apply(self, column: Array) -> Any:
        """Clean, then cut."""
        if column.size != 1:
            raise ShapeError("BasicTokenizer needs one string", given={"shape": column.shape})
        source = self.clean(str(column.reshape(())[()]))
        return answer(self.tokens(source), source, self.with_offsets)

    def clean(self, source: str) -> str:
        """Fold or normalise, and make control characters blanks; BERT's own tokens are left alone if so wished."""
        if not self.preserve_unused_token:
            return self.wash(source)
        pieces = re.split(f"({UNUSED})", source)
        return "".join(p if i % 2 else self.wash(p) for i, p in enumerate(pieces))

    def wash(self, source: str) -> str:
        """A part without special tokens."""
        accents, controls = unwanted()
        if self.lower_case:
            source = accents.sub("", normalize(fold(source), NormalizeForm.NFD))
        else:
            source = normalize(source, self.normalization_form)
        return controls.sub(" ", source)

    def tokens(self, source: str) -> Iterable[Token]:
        """The cut of a clean string."""
        return cut(source, *delimiters(self.preserve_unused_token, self.keep_whitespace))


@lru_cache(maxsize=1 << 16)
def pieces(word: str, vocab: Vocab, suffix: str, longest: int, unknown: str) -> tuple[Token, ...]:
    """A word as the longest pieces of the vocabulary, from left to right; unknown as a whole when some part is.

    >>> [t.text for t in pieces("books", Vocab.from_list(["book", "##s"]), "##", 100, "?")]
    ['book', '##s']
    """
    table = vocab.vocab()
    found: list[Token] = []
    start = 0
    fits = len(word.encode("utf8", "surrogatepass")) <= longest
    while fits and start < len(word):
        for end in range(len(word), start, -1):
            piece = (suffix if start else "") + word[start:end]
            if piece in table:
                found.append(Token(piece, start, end))
                start = end
                break
        else:
            fits = False
    return tuple(found) if fits else (Token(unknown or word, 0, len(word)),)


@frozen
class WordpieceTokenizer(TextOperation):
    """Words cut into the longest pieces that a vocabulary knows; a piece inside a word carries `suffix_indicator`.

    An empty `unknown_token` leaves unknown words as they are.

    >>> WordpieceTokenizer(Vocab.from_list(["book", "##s"]))(["books", "x"])
    array(['book', '##s', '[UNK]'], dtype='<U5')
    """

    vocab: Vocab
    suffix_indicator: str = "##"
    max_bytes_per_token: int = 100
    unknown_token: str = "[UNK]"
    with_offsets: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.vocab, Vocab):
            raise DTypeError("vocab must be a Vocab", given={"vocab": type(self.vocab).__name__})
        text(self, "suffix_indicator", self.suffix_indicator)
        text(self, "unknown_token", self.unknown_token)
        whole(self, "max_bytes_per_token", self.max_bytes_per_token, 0)
        truth(self, "with_offsets", self.with_offsets)

    def split(self, word: str) -> tuple[Token, ...]:
        """The pieces of one word."""
        return pieces(word, self.vocab, self.suffix_indicator, self.max_bytes_per_token, self.unknown_token)

    def apply(self, column: Array) -> Any:
        """Offsets count within each word."""
        if column.ndim > 1:
            raise ShapeError("WordpieceTokenizer needs a row of words", given={"shape": column.shape})
        words = column.ravel().tolist() or [""]
        if not self.with_offsets:
            return answer((piece for word in words for piece in self.split(word) if word), "", False)
        parts = [answer(self.split(word) if word else [], word, True) for word in words]
        return tuple(np.concatenate(p) for p in zip(*parts, strict=True))


@frozen
class BertTokenizer(TextOperation):
    """BERT's tokens: the basic cut, then word pieces.

    >>> vocab = Vocab.from_list(["my", "book", "##s", "!"])
    >>> BertTokenizer(vocab, lower_case=True)("My books!")
    array(['my', 'book', '##s', '!'], dtype='<U4')
    """

    vocab: Vocab
    suffix_indicator: str = "##"
    max_bytes_per_token: int = 100
    unknown_token: str = "[UNK]"
    lower_case: bool = False
    keep_whitespace: bool = False
    normalization_form: NormalizeForm = NormalizeForm.NONE
    preserve_unused_token: bool = True
    with_offsets: bool = False

    def __post_init__(self) -> None:
        self.steps()

    def steps(self) -> tuple[BasicTokenizer, WordpieceTokenizer]:
        """The two tokenizers of which this one is made."""
        basic = BasicTokenizer(
            self.lower_case, self.keep_whitespace, self.normalization_form, self.preserve_unused_token, True
        )
        piece = WordpieceTokenizer(
            self.vocab, self.suffix_indicator, self.max_bytes_per_token, self.unknown_token, self.with_offsets
        )
        return basic, piece

    def apply(self, column: Array) -> Any:
        """Offsets count in the string after folding or normalisation."""
        basic, piece = self.steps()
        source = basic.clean(str(column.reshape(())[()]))
        whole = (
            Token(part.text, word.start + part.start, word.start + part.end)
            for word in basic.tokens(source)
            for part in piece.split(word.text)
        )
        return answer(whole, source, self.with_offsets)
