"""Transforms of sequences of tokens: numbers for words, n-grams, windows, truncation."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mycelia.checks import sequence, text, truth, whole
from mycelia.dataset.text.base import TextOperation
from mycelia.dataset.text.vectors import Vectors
from mycelia.dataset.text.vocab import Vocab
from mycelia.dataset.transforms.base import Array, TensorOperation, numpy_dtype
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen


@frozen
class Lookup(TextOperation):
    """The number of each word; `unknown_token` stands in for words that the vocabulary does not know.

    >>> Lookup(Vocab.from_list(["<unk>", "sea"]), "<unk>")(["sea", "sky"])
    array([1, 0], dtype=int32)
    """

    vocab: Vocab
    unknown_token: str | None = None
    data_type: Any = np.int32

    def __post_init__(self) -> None:
        if not isinstance(self.vocab, Vocab):
            raise DTypeError("vocab must be a Vocab", given={"vocab": type(self.vocab).__name__})
        if self.unknown_token is not None and text(self, "unknown_token", self.unknown_token) not in self.vocab.vocab():
            raise ArgumentError("unknown_token is not in the vocabulary", given={"unknown_token": self.unknown_token})
        if numpy_dtype(self.data_type).kind not in "iuf":
            raise DTypeError("data_type must be a number type", given={"data_type": self.data_type})

    def apply(self, column: Array) -> Array:
        """Every word in its place."""
        table = self.vocab.vocab()
        missing = -1 if self.unknown_token is None else table[self.unknown_token]
        numbers = [table.get(w, missing) for w in column.ravel().tolist()]
        if self.unknown_token is None and -1 in numbers:
            raise ArgumentError(
                "a word is not in the vocabulary",
                given={"word": column.ravel()[numbers.index(-1)].item()},
                hint="give unknown_token, a word of the vocabulary that stands for all others",
            )
        return np.array(numbers, numpy_dtype(self.data_type)).reshape(column.shape)


@frozen
class ToVectors(TextOperation):
    """The vector of each word; `unk_init`, or zeros, for unknown ones.

    >>> ToVectors(Vectors({"a": np.array([1.0, 2.0])}))(["a", "b"])
    array([[1., 2.],
           [0., 0.]], dtype=float32)
    """

    vectors: Vectors
    unk_init: Any = None
    lower_case_backup: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.vectors, Vectors):
            raise DTypeError("vectors must be Vectors", given={"vectors": type(self.vectors).__name__})
        if self.unk_init is not None:
            sequence(self, "unk_init", self.unk_init, self.vectors.dim)
        truth(self, "lower_case_backup", self.lower_case_backup)

    def apply(self, column: Array) -> Array:
        """The vectors are a new last axis."""
        unknown = np.zeros(self.vectors.dim) if self.unk_init is None else np.asarray(self.unk_init)
        found = (self.vectors.look_up(w, self.lower_case_backup) for w in column.ravel().tolist())
        rows = [unknown if v is None else v for v in found]
        return np.array(rows, np.float32).reshape(*column.shape, self.vectors.dim)


@frozen
class Ngram(TextOperation):
    """Runs of n words joined by `separator`, for each n of a list; pads are (token, width), at most n - 1 wide.

    >>> Ngram([2], ("_", 1))(["a", "b"])
    array(['_ a', 'a b'], dtype='<U3')
    """

    n: Any
    left_pad: tuple[str, int] = ("", 0)
    right_pad: tuple[str, int] = ("", 0)
    separator: str = " "

    def __post_init__(self) -> None:
        for size in self.sizes():
            whole(self, "n", size, 1)
        for name in ("left_pad", "right_pad"):
            token, width = sequence(self, name, getattr(self, name), 2)
            text(self, name, token)
            whole(self, name, width, 0)
        text(self, "separator", self.separator)

    def sizes(self) -> tuple[int, ...]:
        """The lengths of the runs."""
        sizes = (self.n,) if isinstance(self.n, int) else sequence(self, "n", self.n)
        if not sizes:
            raise ArgumentError("n must not be empty")
        return sizes

    def apply(self, column: Array) -> Array:
        """A run that does not fit is an empty string."""
        if column.ndim != 1:
            raise ShapeError("Ngram needs a row of words", given={"shape": column.shape})
        runs: list[str] = []
        for n in self.sizes():
            left, right = ([token] * min(width, n - 1) for token, width in (self.left_pad, self.right_pad))
            words = left + column.tolist() + right
            runs += [self.separator.join(words[i : i + n]) for i in range(len(words) - n + 1)] or [""]
        return np.array(runs, np.str_)


@frozen
class SlidingWindow(TensorOperation):
    """All windows of a width over a row.

    >>> SlidingWindow(2)(np.array([1, 2, 3]))
    array([[1, 2],
           [2, 3]])
    """

    width: int
    axis: int = 0

    def __post_init__(self) -> None:
        whole(self, "width", self.width, 1)
        whole(self, "axis", self.axis)

    def apply(self, column: Array) -> Array:
        """A row that is too short has no window."""
        if column.ndim != 1 or self.axis not in (0, -1):
            raise ShapeError("SlidingWindow needs a row", given={"shape": column.shape, "axis": self.axis})
        if len(column) < self.width:
            return np.empty((0,), column.dtype)
        return np.lib.stride_tricks.sliding_window_view(column, self.width).copy()


@frozen
class Truncate(TensorOperation):
    """At most `max_seq_len` elements along the last axis.

    >>> Truncate(2)(np.array([1, 2, 3]))
    array([1, 2])
    """

    max_seq_len: int

    def __post_init__(self) -> None:
        whole(self, "max_seq_len", self.max_seq_len, 1)

    def apply(self, column: Array) -> Array:
        """A row, or rows."""
        if column.ndim not in (1, 2):
            raise ShapeError("Truncate needs one or two axes", given={"shape": column.shape})
        return column[..., : self.max_seq_len]


@frozen
class TruncateSequencePair(TensorOperation):
    """Two rows shortened, the longer one first, until together they have at most `max_length` elements.

    >>> TruncateSequencePair(4)(np.array([1, 2, 3]), np.array([4, 5, 6]))
    (array([1, 2]), array([4, 5]))
    """

    max_length: int

    def __post_init__(self) -> None:
        whole(self, "max_length", self.max_length, 1)

    def apply(self, first: Array, second: Array) -> tuple[Array, Array]:
        """Of two equally long rows the second loses."""
        if first.ndim != 1 or second.ndim != 1:
            raise ShapeError("two rows are needed", given={"first": first.shape, "second": second.shape})
        a, b = len(first), len(second)
        excess = max(a + b - self.max_length, 0)
        lead = min(abs(a - b), excess)  # first the longer one comes down to the other
        a, b = (a - lead, b) if a > b else (a, b - lead)
        rest = excess - lead
        return first[: a - rest // 2], second[: b - (rest - rest // 2)]


@frozen
class AddToken(TextOperation):
    """One more token before or after each row.

    >>> AddToken("<s>")(["a", "b"])
    array(['<s>', 'a', 'b'], dtype='<U3')
    """

    token: str
    begin: bool = True

    def __post_init__(self) -> None:
        if not text(self, "token", self.token):
            raise ArgumentError("token must not be empty")
        truth(self, "begin", self.begin)

    def apply(self, column: Array) -> Array:
        """A row, or rows."""
        if column.ndim not in (1, 2):
            raise ShapeError("AddToken needs one or two axes", given={"shape": column.shape})
        token = np.full((*column.shape[:-1], 1), self.token)
        return np.concatenate([token, column] if self.begin else [column, token], -1)


@frozen
class ToNumber(TextOperation):
    """Strings as numbers.

    >>> ToNumber(np.int32)(["1", "-2"])
    array([ 1, -2], dtype=int32)
    """

    data_type: Any

    def __post_init__(self) -> None:
        if numpy_dtype(self.data_type).kind not in "iuf":
            raise DTypeError("data_type must be a number type", given={"data_type": self.data_type})

    def apply(self, column: Array) -> Array:
        """What is no number, or does not fit the type, is an error."""
        dtype = numpy_dtype(self.data_type)
        return np.array([number_of(w, dtype) for w in column.ravel().tolist()], dtype).reshape(column.shape)


WHOLE = re.compile("[+-]?[0-9]+")
REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile("[+-]?(?:inf|infinity|nan)", re.IGNORECASE)


def number_of(word: str, dtype: np.dtype[Any]) -> float:
    """A decimal numeral, blanks around it allowed, as a number that the type can hold.

    >>> number_of(" -2 ", np.dtype("int8")), number_of("1e3", np.dtype("float32"))
    (-2, 1000.0)
    """
    numeral = word.strip()
    with np.errstate(over="ignore"):
        if dtype.kind == "f":
            fits = REAL.fullmatch(numeral) and np.isfinite(dtype.type(float(numeral)))
            if fits or NOT_FINITE.fullmatch(numeral):
                return float(numeral)
        elif WHOLE.fullmatch(numeral) and np.iinfo(dtype).min <= int(numeral) <= np.iinfo(dtype).max:
            return int(numeral)
    raise ArgumentError("a string is not a number of this type", given={"string": word, "data_type": dtype})
