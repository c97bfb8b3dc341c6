"""Tokenizers of Hugging Face `tokenizers` and `transformers`, or objects that are called as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.dataset.flow.ragged import Ragged
from mycelia.dataset.lazy import lazy
from mycelia.dataset.text.base import TextOperation
from mycelia.dataset.text.quick import Quick
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen

OTHER_NAMES = {"ids": "input_ids", "type_ids": "token_type_ids"}  # in what `transformers` gives


@frozen
class HubTokenizer(TextOperation):
    """A string, or a pair of two, as what a tokenizer makes of it: by default the numbers of its tokens.

    `outputs` names the columns: `ids`, `attention_mask`, `type_ids`, `tokens`, `offsets`, `special_tokens_mask`.
    Nothing is imported: the tokenizer is an object with `encode`, as those of `tokenizers`, or one that is called and
    gives a dictionary, as those of `transformers`.

    >>> class Encoding: ids = [7, 8]
    >>> class Words:
    ...     def encode(self, text, pair=None, add_special_tokens=True): return Encoding()
    >>> HubTokenizer(Words())("to be")
    array([7, 8], dtype=int32)
    """

    tokenizer: Any
    outputs: tuple[str, ...] = ("ids",)
    add_special_tokens: bool = True

    def __post_init__(self) -> None:
        if not callable(getattr(self.tokenizer, "encode", None)) and not callable(self.tokenizer):
            raise ArgumentError(
                "a tokenizer has encode, or can be called", given={"type": type(self.tokenizer).__name__}
            )
        if isinstance(self.outputs, str) or not self.outputs:
            raise ArgumentError(f"outputs names one column or more, and was {self.outputs!r}", hint='outputs=("ids",)')

    def apply(self, *columns: Array) -> Any:
        """One or two columns, of one string each."""
        if not 1 <= len(columns) <= 2 or any(c.size != 1 for c in columns):
            raise ShapeError("HubTokenizer takes one string, or two", given={"shapes": [c.shape for c in columns]})
        made = self._encoded([str(c.reshape(())[()]) for c in columns])
        values = tuple(_array(name, self._part(made, name)) for name in self.outputs)
        return values if len(values) > 1 else values[0]

    def apply_to_columns(self, *columns: Ragged) -> tuple[Ragged, ...] | None:
        """The same for many rows at once, where the tokenizer has `encode_batch`; None where it has not."""
        many = getattr(self.tokenizer, "encode_batch_fast", None) or getattr(self.tokenizer, "encode_batch", None)
        plain = set(self.outputs) <= {"ids", "attention_mask", "type_ids", "special_tokens_mask"}
        if many is None or callable(self.tokenizer) or not plain or not all(c.text for c in columns):
            return None
        if len(columns) == 1 and self.outputs == ("ids",):
            quick = self.quick.encode(columns[0], self.add_special_tokens)
            if quick is not None:
                return (quick,)
        texts: Any = columns[0].texts() if len(columns) == 1 else list(zip(*(c.texts() for c in columns), strict=True))
        made = many(texts, add_special_tokens=self.add_special_tokens)
        return tuple(_joined([self._part(m, name) for m in made]) for name in self.outputs)

    @lazy
    def quick(self) -> Quick:
        """The tokenizer by chunks of its texts, where it can be had so."""
        return Quick(self.tokenizer)

    def __reduce__(self) -> tuple[Any, ...]:
        return HubTokenizer, (self.tokenizer, self.outputs, self.add_special_tokens)

    def _encoded(self, texts: list[str]) -> Any:
        if callable(self.tokenizer):  # encode of `transformers` gives the numbers alone
            return self.tokenizer(*texts, add_special_tokens=self.add_special_tokens)
        return self.tokenizer.encode(*texts, add_special_tokens=self.add_special_tokens)

    def _part(self, made: Any, name: str) -> Any:
        other = OTHER_NAMES.get(name, name)
        if hasattr(made, "keys"):
            if other in made:
                return made[other]
            told = sorted(made.keys())
        else:
            if hasattr(made, name):
                return getattr(made, name)
            told = [n for n in ("ids", "attention_mask", "type_ids", "tokens", "offsets") if hasattr(made, n)]
        raise ArgumentError(f"the tokenizer gives no {name!r}", given={"it gives": told})


def _joined(parts: list[Any]) -> Ragged:
    arrays = [np.array(part, np.int32) for part in parts]
    return Ragged(np.concatenate(arrays), np.cumsum([0, *map(len, arrays)], dtype=np.int64))


def _array(name: str, part: Any) -> Array:
    if name == "tokens":
        return np.array(part, np.str_)
    return np.array(part, np.int64).reshape(-1, 2) if name == "offsets" else np.array(part, np.int32)
