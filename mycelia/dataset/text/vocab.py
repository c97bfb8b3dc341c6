"""Vocabularies: words and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.checks import sequence, text, truth, whole
from mycelia.errors import ArgumentError, DTypeError


class Vocab:
    """A one-to-one table between words and numbers.

    >>> vocab = Vocab.from_list(["deep", "sea"], special_tokens=["<unk>"])
    >>> vocab.tokens_to_ids(["sea", "sky"])
    [2, -1]
    """

    def __init__(self, table: Mapping[str, int] | None = None) -> None:
        self.table = dict(table or {})
        self._words = {number: word for word, number in self.table.items()}

    @classmethod
    def from_list(cls, word_list: Any, special_tokens: Any = None, special_first: bool = True) -> Vocab:
        """Words numbered in their order, with special tokens before or after them.

        >>> Vocab.from_list(["a", "b"], ["<p>"], special_first=False).vocab()
        {'a': 0, 'b': 1, '<p>': 2}
        """
        words = [text(cls, "word_list", w) for w in sequence(cls, "word_list", word_list)]
        special = [text(cls, "special_tokens", w) for w in sequence(cls, "special_tokens", special_tokens or [])]
        truth(cls, "special_first", special_first)
        all_words = special + words if special_first else words + special
        twice = [w for w, n in Counter(all_words).items() if n > 1]
        if twice:
            raise ArgumentError("a word of a vocabulary occurs twice", given={"words": twice[:10]})
        return cls({word: number for number, word in enumerate(all_words)})

    @classmethod
    def from_dict(cls, word_dict: Mapping[str, int]) -> Vocab:
        """Words with numbers given.

        >>> Vocab.from_dict({"home": 3}).tokens_to_ids("home")
        3
        """
        if not isinstance(word_dict, Mapping):
            raise DTypeError("word_dict must be a dict", given={"word_dict": type(word_dict).__name__})
        table = {text(cls, "word_dict", w): whole(cls, "word_dict", n, 0) for w, n in word_dict.items()}
        if len(set(table.values())) < len(table):
            raise ArgumentError("two words of a vocabulary have the same number", given={"word_dict": word_dict})
        return cls(table)

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: Any = None,
        special_first: bool = True,
    ) -> Vocab:
        """One word a line, up to `delimiter` if there is one; at most `vocab_size` of them."""
        text(cls, "delimiter", delimiter)
        with Path(text(cls, "file_path", file_path)).open(encoding="utf8") as lines:  # other signs than \n end no line
            words = [line.removesuffix("\n").split(delimiter or "\n")[0] for line in lines]
        if vocab_size is not None:
            words = words[: whole(cls, "vocab_size", vocab_size, 1)]
        return cls.from_list(words, special_tokens, special_first)

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: Any = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: Any = None,
        special_first: bool = True,
    ) -> Vocab:
        """The words of some columns of a dataset, the most frequent first and equals by alphabet.

        Only words whose count lies within `freq_range`, and at most `top_k` of them.
        """
        low, high = sequence(cls, "freq_range", freq_range or (None, None), 2)
        least, most = (None if n is None else whole(cls, "freq_range", n, 0) for n in (low, high))
        if least is not None and most is not None and least > most:
            raise ArgumentError("freq_range must be (min, max) with min <= max", given={"freq_range": freq_range})
        limit = None if top_k is None else whole(cls, "top_k", top_k, 1)
        counts: Counter[str] = Counter()
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in [columns] if isinstance(columns, str) else columns or row:
                if name not in row:
                    raise ArgumentError("the dataset has no such column", given={"column": name, "columns": list(row)})
                counts.update(_words(row[name]))
        kept = [(-n, w) for w, n in counts.items() if (least is None or n >= least) and (most is None or n <= most)]
        return cls.from_list([w for _, w in sorted(kept)[:limit]], special_tokens, special_first)

    def vocab(self) -> dict[str, int]:
        """The table from words to numbers.

        >>> Vocab.from_list(["a"]).vocab()
        {'a': 0}
        """
        return self.table

    def tokens_to_ids(self, tokens: Any) -> Any:
        """The number of a word, or of each of several; -1 for what is unknown.

        >>> Vocab.from_list(["a"]).tokens_to_ids("b")
        -1
        """
        words = _plain(tokens)
        if isinstance(words, list):
            return [self.table.get(text(self, "tokens", w), -1) for w in words]
        return self.table.get(text(self, "tokens", words), -1)

    def ids_to_tokens(self, ids: Any) -> Any:
        """The word of a number, or of each of several; the empty string for what is unknown.

        >>> Vocab.from_list(["a"]).ids_to_tokens([0, 5])
        ['a', '']
        """
        numbers = _plain(ids)
        if isinstance(numbers, list):
            return [self._words.get(whole(self, "ids", i, 0), "") for i in numbers]
        return self._words.get(whole(self, "ids", numbers, 0), "")

    def __len__(self) -> int:
        return len(self.table)


def _plain(value: Any) -> Any:
    """A value, or a list of them, of Python's own types."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _words(column: Any) -> Iterable[str]:
    """The strings of a column."""
    array = np.asarray(column)
    if array.dtype.kind not in "US":
        raise DTypeError("a vocabulary is made of strings", given={"dtype": array.dtype})
    return (w.decode("utf8") if isinstance(w, bytes) else w for w in array.ravel().tolist())
