"""Modes, vocabularies, vectors, and the change between str and bytes, under MindSpore's module name."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.dataset.text.modes import (
    JiebaMode,
    NormalizeForm,
    SentencePieceModel,
    SPieceTokenizerLoadType,
    SPieceTokenizerOutType,
)
from mycelia.dataset.text.sentencepiece import SentencePieceVocab
from mycelia.dataset.text.vectors import CharNGram, FastText, GloVe, Vectors
from mycelia.dataset.text.vocab import Vocab
from mycelia.dataset.transforms.base import Array
from mycelia.errors import DTypeError


def to_bytes(array: Any, encoding: str = "utf8") -> Array:
    """Strings as bytes.

    >>> to_bytes(np.array(["é"]))
    array([b'\\xc3\\xa9'], dtype='|S2')
    """
    if not isinstance(array, np.ndarray):
        raise DTypeError("array must be a NumPy array", given={"array": type(array).__name__})
    return np.char.encode(array, encoding)


def to_str(array: Any, encoding: str = "utf8") -> Array:
    """Bytes as strings.

    >>> to_str(np.array([b"ab"]))
    array(['ab'], dtype='<U2')
    """
    if not isinstance(array, np.ndarray):
        raise DTypeError("array must be a NumPy array", given={"array": type(array).__name__})
    return array if array.dtype.kind == "U" else np.char.decode(array, encoding)


__all__ = [
    "CharNGram",
    "FastText",
    "GloVe",
    "JiebaMode",
    "NormalizeForm",
    "SPieceTokenizerLoadType",
    "SPieceTokenizerOutType",
    "SentencePieceModel",
    "SentencePieceVocab",
    "Vectors",
    "Vocab",
    "to_bytes",
    "to_str",
]
