"""Word vectors from files: GloVe, FastText, word2vec text format, character n-grams."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from mycelia.checks import text, whole
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError


class Vectors:
    """A table from words to vectors of one length.

    >>> Vectors({"a": np.array([1.0, 2.0], np.float32)}).dim
    2
    """

    suffix: ClassVar[str] = ""

    def __init__(self, table: dict[str, Array]) -> None:
        self.stoi = {word: i for i, word in enumerate(table)}
        self.vectors = np.array(list(table.values()), np.float32)
        self.dim = self.vectors.shape[1]

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Self:
        """Read lines of a word and its numbers; at most `max_vectors` of them (all for 0), as they come.

        A first line of two whole numbers is a header: how many words there are, and how long the vectors.
        """
        path = Path(text(cls, "file_path", file_path))
        limit = whole(cls, "max_vectors", 0 if max_vectors is None else max_vectors, 0)
        cls.check(path)
        table: dict[str, Array] = {}
        length = 0
        with path.open(encoding="utf8") as lines:
            for number, line in enumerate(lines, 1):
                if limit and len(table) >= limit:
                    break
                word, *values = line.rstrip().split(" ")
                if number == 1 and len(values) == 1 and word.isdecimal() and values[0].isdecimal():
                    continue
                length = length or len(values)
                if len(values) < 2 or len(values) != length:
                    raise ArgumentError(
                        "a line of the vector file is no word with a vector of the same length as the others",
                        given={"file": str(path), "line": number, "numbers": len(values), "expected": length},
                        hint="vectors have at least two numbers",
                    )
                try:
                    table.setdefault(word, np.array(values, np.float32))
                except ValueError as error:
                    given = {"file": str(path), "line": number}
                    raise ArgumentError(f"a line of the vector file is not of numbers: {error}", given=given) from None
        if not table:
            raise ArgumentError("the vector file is empty", given={"file": str(path)})
        return cls(table)

    @classmethod
    def check(cls, path: Path) -> None:
        """Raise unless there is a file, with the suffix that this kind has."""
        if not path.is_file():
            raise ArgumentError("there is no such vector file", given={"file": str(path)})
        if cls.suffix and path.suffix != cls.suffix:
            raise ArgumentError(f"the file must be called *{cls.suffix}", given={"file": str(path)})

    def look_up(self, word: str, lower_case_backup: bool = False) -> Array | None:
        """The vector of a word, or of its lower case if that is known; None when neither is.

        >>> Vectors({"a": np.array([1.0])}).look_up("A", True)
        array([1.], dtype=float32)
        """
        for form in (word, word.lower()) if lower_case_backup else (word,):
            if form in self.stoi:
                found: Array = self.vectors[self.stoi[form]]
                return found
        return None


class GloVe(Vectors):
    """Vectors in GloVe's format, files called glove.*.txt.

    >>> GloVe({"a": np.zeros(3)}).dim
    3
    """

    suffix = ".txt"

    @classmethod
    def check(cls, path: Path) -> None:
        """The name begins with glove, too."""
        super().check(path)
        if not fnmatch(path.name, "glove.*.txt"):
            raise ArgumentError("the file must be called glove.*.txt", given={"file": str(path)})


class FastText(Vectors):
    """Vectors in FastText's text format, with a header line; files called *.vec.

    >>> FastText({"a": np.zeros(3)}).dim
    3
    """

    suffix = ".vec"


class CharNGram(Vectors):
    """Vectors of character n-grams; a word is the mean of its 2-, 3- and 4-grams.

    >>> CharNGram({"2gram-#BEGIN#o": np.array([4.0])}).look_up("o")
    array([4.], dtype=float32)
    """

    def look_up(self, word: str, lower_case_backup: bool = False) -> Array | None:
        """None when no n-gram is known."""
        for form in (word, word.lower()) if lower_case_backup else (word,):
            letters = ["#BEGIN#", *form, "#END#"]
            grams = [f"{n}gram-{''.join(letters[i : i + n])}" for n in (2, 3, 4) for i in range(len(letters) - n + 1)]
            known = [self.vectors[self.stoi[g]] for g in grams if g in self.stoi]
            if known:
                return np.asarray(np.mean(known, 0, dtype=np.float32))
        return None
