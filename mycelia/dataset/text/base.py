"""What a text transform is: strings in, in NumPy arrays or plain, strings or numbers out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from mycelia.dataset.transforms.base import Array, TensorOperation, as_array
from mycelia.errors import DTypeError, ShapeError


def strings(value: Any, name: str) -> Array:
    """A value as an array of str; bytes are read as UTF-8.

    >>> strings(b"caf\\xc3\\xa9", "Lookup")
    array('café', dtype='<U4')
    """
    array = np.asarray(value) if isinstance(value, (bytes, str, list, tuple)) else as_array(value)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf8")
    if array.dtype.kind == "O" and all(isinstance(x, str) for x in array.flat):
        return array.astype(np.str_)
    if array.dtype.kind != "U":
        raise DTypeError(f"{name} needs strings", given={"dtype": array.dtype, "shape": array.shape})
    return array


class TextOperation(TensorOperation):
    """A transform of columns of strings."""

    def __call__(self, *columns: Any) -> Any:
        return self.apply(*(strings(c, type(self).__name__) for c in columns))


class StringOperation(TextOperation):
    """A transform of every single string by itself."""

    def apply(self, column: Array) -> Array:
        """Each string in its place."""
        return np.array([self.change(s) for s in column.flat], np.str_).reshape(column.shape)

    def change(self, string: str) -> str:
        """What becomes of one string."""
        raise AssertionError("every transform of strings says what becomes of one")


class Token(NamedTuple):
    """A piece of a string, and where it stood: from `start` to `end`, counted in characters."""

    text: str
    start: int
    end: int


def answer(tokens: Iterable[Token], source: str, with_offsets: bool) -> Any:
    """Tokens as an array; with offsets also their start and end in bytes of UTF-8. No token at all is one empty token.

    >>> answer([Token("é", 0, 1), Token("b", 2, 3)], "é b", True)
    (array(['é', 'b'], dtype='<U1'), array([0, 3], dtype=uint32), array([2, 4], dtype=uint32))
    """
    found = list(tokens) or [Token("", 0, 0)]
    words = np.array([t.text for t in found], np.str_)
    if not with_offsets:
        return words
    sizes = [len(c.encode("utf8", "surrogatepass")) for c in source]
    before = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.uint32)
    return words, before[[t.start for t in found]], before[[t.end for t in found]]


class Tokenizer(TextOperation):
    """A transform of one string into its tokens."""

    with_offsets: bool = False

    def apply(self, column: Array) -> Any:
        """The column holds one string."""
        if column.size != 1:
            raise ShapeError(f"{type(self).__name__} needs one string", given={"shape": column.shape})
        source = str(column.reshape(())[()])
        return answer(self.tokens(source), source, self.with_offsets)

    def tokens(self, source: str) -> Iterable[Token]:
        """The tokens of a string, in order."""
        raise AssertionError("every tokenizer says what its tokens are")
