"""The words in which text transforms are told how."""

from __future__ import annotations

from enum import IntEnum


class JiebaMode(IntEnum):
    """How Chinese is cut: by dictionary, by hidden Markov model, or by dictionary first and model for the rest."""

    MIX = 0
    MP = 1
    HMM = 2


class NormalizeForm(IntEnum):
    """Unicode normalisation forms."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class SentencePieceModel(IntEnum):
    """How SentencePiece finds its pieces."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(IntEnum):
    """Where a SentencePiece model comes from: a file, or an object."""

    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(IntEnum):
    """What the SentencePiece tokenizer answers: pieces, or their numbers."""

    STRING = 0
    INT = 1
