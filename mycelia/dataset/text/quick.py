"""Tokenizers of Hugging Face `tokenizers` whose texts may be encoded chunk by chunk, and how that is seen.

What a tokenizer is made of is asked of it every time, so that one that is changed is not taken for the one it was; of
every piece one text is encoded by the tokenizer itself, and if it differs, the tokenizer is not encoded so again.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from mycelia.dataset.flow.ragged import Ragged
from mycelia.dataset.lazy import lazy
from mycelia.dataset.text.chunks import Chunks

MODELS = ("BPE", "WordPiece", "WordLevel", "Unigram")  # each encodes the words of a text by themselves
NORMALIZERS = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer")  # none looks past a space
WORDS = ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")  # no word goes on behind a space
WITHIN = (*WORDS, "ByteLevel", "Digits", "Punctuation")  # what may follow, word by word


class Around(NamedTuple):
    """What a tokenizer puts before and after the tokens of every text."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


class Quick:
    """A tokenizer by chunks, while it is one of those that can be encoded so."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.refused = not all(hasattr(tokenizer, n) for n in ("pre_tokenizer", "model", "get_added_tokens_decoder"))
        self.seen: Any = None  # what the tokenizer was made of

    def encode(self, texts: Ragged, special: bool) -> Ragged | None:
        """The tokens of texts; None when the tokenizer must see them whole."""
        if self.refused or not len(texts):
            return None
        made_of = self._made_of()
        if self.seen is None:
            self.seen = made_of
        around = _around(made_of[2], special)
        if made_of != self.seen or around is None or not self.usual:
            self.refused = True
            return None
        if not self.chunks.useful:
            return None
        made = self.chunks.encode(texts.values, texts.ends, around.before, around.after)
        whole = texts.values[: int(texts.ends[1])].tobytes().decode()
        if self.tokenizer.encode(whole, add_special_tokens=special).ids != made.values[: int(made.ends[1])].tolist():
            self.refused = True
            return None
        return made

    @lazy
    def chunks(self) -> Chunks:
        """The chunks that were met, and their tokens."""
        many = getattr(self.tokenizer, "encode_batch_fast", self.tokenizer.encode_batch)
        added = [a.content for a in self.tokenizer.get_added_tokens_decoder().values()]
        first = "".join(a[0] + a[0].lower() + a[0].upper() for a in added)  # a space before one of them stays with it
        kept = bytes(ord(c) for c in first if ord(c) < 128)
        return Chunks(lambda texts: [e.ids for e in many(texts, add_special_tokens=False)], kept)

    def _made_of(self) -> tuple[Any, ...]:
        t, model = self.tokenizer, self.tokenizer.model
        parts = [_told(p) for p in (t.normalizer, t.pre_tokenizer, t.post_processor)]
        chance = getattr(model, "dropout", None)
        return (*parts, type(model).__name__, chance, t.truncation, t.padding, t.get_vocab_size())

    @property
    def usual(self) -> bool:
        """Whether it is made of what is known to leave the chunks of a text apart."""
        normalizer, splitter, _, model, chance, truncation, padding, *_ = self.seen
        added = self.tokenizer.get_added_tokens_decoder().values()
        return (
            model in MODELS
            and not chance
            and truncation is None
            and padding is None
            and all(n["type"] in NORMALIZERS for n in _flat(normalizer, "normalizers"))
            and _splits(_flat(splitter, "pretokenizers"))
            and not any(
                a.lstrip or a.rstrip or a.single_word or not a.content or not a.content.isascii() for a in added
            )
            and not any(c.isspace() for a in added for c in a.content)
        )


def _told(part: Any) -> Any:
    """A part of a tokenizer as plain data."""
    return None if part is None else json.loads(part.__getstate__())


def _flat(part: Any, name: str) -> list[Any]:
    """The parts of a sequence of them, or the one alone."""
    if part is None:
        return []
    return [f for p in part[name] for f in _flat(p, name)] if part["type"] == "Sequence" else [part]


def _splits(parts: list[Any]) -> bool:
    """Whether a text is split at spaces at least, and what follows stays inside of what was split."""
    if not parts:
        return False
    first, *rest = parts
    apart = first["type"] in WORDS or (first["type"] == "ByteLevel" and first.get("use_regex") is True)
    return apart and all(p["type"] in WITHIN for p in rest)


def _around(processor: Any, special: bool) -> Around | None:
    """What is put before and after every text, if that is all that comes of it."""
    around = Around()
    for part in _flat(processor, "processors"):
        kind = part["type"]
        if kind == "ByteLevel":
            continue  # it changes places in the text, and no tokens
        if kind in ("BertProcessing", "RobertaProcessing"):
            one = Around((part["cls"][1],), (part["sep"][1],))
        elif kind == "TemplateProcessing":
            told = _template(part)
            if told is None:
                return None
            one = told
        else:
            return None
        around = Around(one.before + around.before, around.after + one.after)
    return around if special else Around()


def _template(part: Any) -> Around | None:
    sides: list[list[int]] = [[]]
    for piece in part["single"]:
        if "Sequence" in piece:
            if piece["Sequence"]["id"] != "A":
                return None
            sides.append([])
        else:
            sides[-1] += part["special_tokens"][piece["SpecialToken"]["id"]]["ids"]
    return Around(tuple(sides[0]), tuple(sides[1])) if len(sides) == 2 else None
