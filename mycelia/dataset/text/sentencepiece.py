"""SentencePiece: a model trained from text, and the tokenizer that uses it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import member, number, sequence, text, whole
from mycelia.dataset.text.base import TextOperation
from mycelia.dataset.text.modes import SentencePieceModel, SPieceTokenizerOutType
from mycelia.dataset.transforms.base import Array, extra
from mycelia.errors import ArgumentError, DTypeError
from mycelia.frozen import frozen


@frozen
class SentencePieceVocab:
    """A trained SentencePiece model, as the bytes of its file.

    >>> SentencePieceVocab().model
    b''
    """

    model: bytes = b""

    @classmethod
    def from_file(
        cls,
        file_path: Any,
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: Mapping[str, Any],
    ) -> SentencePieceVocab:
        """Train on the lines of text files; `params` are further options of the SentencePiece trainer."""
        files = [Path(text(cls, "file_path", f)) for f in sequence(cls, "file_path", file_path)]
        return cls._train(_lines(files), vocab_size, character_coverage, model_type, params)

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        col_names: Any,
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: Mapping[str, Any],
    ) -> SentencePieceVocab:
        """Train on the strings of some columns of a dataset; without names, of all."""
        rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
        lines = (str(s) for row in rows for name in col_names or row for s in np.ravel(row[name]).tolist())
        return cls._train(lines, vocab_size, character_coverage, model_type, params)

    @classmethod
    def _train(
        cls, lines: Iterable[str], vocab_size: int, coverage: float, model_type: SentencePieceModel, params: Any
    ) -> SentencePieceVocab:
        library = extra("sentencepiece", "sentencepiece", "training a SentencePiece model")
        out = io.BytesIO()
        try:
            library.SentencePieceTrainer.train(
                sentence_iterator=iter(lines),
                model_writer=out,
                vocab_size=whole(cls, "vocab_size", vocab_size, 1),
                character_coverage=number(cls, "character_coverage", coverage, 0.98, 1.0),
                model_type=member(cls, "model_type", model_type, SentencePieceModel).name.lower(),
                minloglevel=2,
                **dict(params),
            )
        except (RuntimeError, OSError) as error:
            raise ArgumentError(
                f"SentencePiece could not train: {error}", given={"vocab_size": vocab_size, "params": dict(params)}
            ) from None
        return cls(out.getvalue())

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """Write a model to a file in a folder."""
        if not isinstance(vocab, SentencePieceVocab):
            raise DTypeError("vocab must be a SentencePieceVocab", given={"vocab": type(vocab).__name__})
        (Path(text(cls, "path", path)) / text(cls, "filename", filename)).write_bytes(vocab.model)


def _lines(files: Iterable[Path]) -> Iterator[str]:
    """All lines of some files."""
    for file in files:
        with file.open(encoding="utf8") as lines:
            yield from (line.rstrip("\n") for line in lines)


@lru_cache(maxsize=16)
def processor(model: bytes) -> Any:
    """The tokenizer of a model; one for all transforms that use it."""
    library = extra("sentencepiece", "sentencepiece", "SentencePieceTokenizer")
    try:
        return library.SentencePieceProcessor(model_proto=model)
    except (RuntimeError, OSError) as error:
        raise ArgumentError(f"not a SentencePiece model: {error}") from None


@frozen
class SentencePieceTokenizer(TextOperation):
    """A string as pieces of a SentencePiece model, or as their numbers; the model is a path or a vocabulary.

    >>> SentencePieceTokenizer(SentencePieceVocab(), SPieceTokenizerOutType.INT).out_type.name
    'INT'
    """

    mode: str | SentencePieceVocab
    out_type: SPieceTokenizerOutType

    def __post_init__(self) -> None:
        if not isinstance(self.mode, (str, SentencePieceVocab)):
            raise DTypeError("mode must be a path or a SentencePieceVocab", given={"mode": repr(self.mode)})
        member(self, "out_type", self.out_type, SPieceTokenizerOutType)

    def apply(self, column: Array) -> Array:
        """Several strings give one row of pieces."""
        model = Path(self.mode).read_bytes() if isinstance(self.mode, str) else self.mode.model
        as_numbers = self.out_type == SPieceTokenizerOutType.INT
        encode = processor(model).encode
        found = [p for s in column.ravel().tolist() for p in encode(s, out_type=int if as_numbers else str)]
        return np.array(found, np.int32 if as_numbers else np.str_)
