"""All text transforms under the module name MindSpore users import them from."""

from mycelia.dataset.text.base import TextOperation as TextTensorOperation
from mycelia.dataset.text.jieba import JiebaTokenizer
from mycelia.dataset.text.sentencepiece import SentencePieceTokenizer
from mycelia.dataset.text.sequences import (
    AddToken,
    Lookup,
    Ngram,
    SlidingWindow,
    ToNumber,
    ToVectors,
    Truncate,
    TruncateSequencePair,
)
from mycelia.dataset.text.tokenizers import (
    BasicTokenizer,
    BertTokenizer,
    CaseFold,
    NormalizeUTF8,
    PythonTokenizer,
    RegexReplace,
    RegexTokenizer,
    UnicodeCharTokenizer,
    UnicodeScriptTokenizer,
    WhitespaceTokenizer,
    WordpieceTokenizer,
)
from mycelia.dataset.text.wikipedia import FilterWikipediaXML

__all__ = [
    "AddToken",
    "BasicTokenizer",
    "BertTokenizer",
    "CaseFold",
    "FilterWikipediaXML",
    "JiebaTokenizer",
    "Lookup",
    "Ngram",
    "NormalizeUTF8",
    "PythonTokenizer",
    "RegexReplace",
    "RegexTokenizer",
    "SentencePieceTokenizer",
    "SlidingWindow",
    "TextTensorOperation",
    "ToNumber",
    "ToVectors",
    "Truncate",
    "TruncateSequencePair",
    "UnicodeCharTokenizer",
    "UnicodeScriptTokenizer",
    "WhitespaceTokenizer",
    "WordpieceTokenizer",
]
