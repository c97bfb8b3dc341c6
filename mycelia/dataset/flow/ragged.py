"""Many rows of one column in one piece: values one after the other, and where each row ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from mycelia.frozen import frozen
from mycelia.types import Array


@frozen
class Ragged:
    """Rows of different lengths, each with one axis; texts are the bytes of UTF-8, one text a row.

    >>> Ragged(np.arange(5), np.array([0, 2, 2, 5])).rows()
    [array([0, 1]), array([], dtype=int64), array([2, 3, 4])]
    """

    values: Array
    ends: Array  # where every row begins, and where the last one ends
    text: bool = False

    def __len__(self) -> int:
        return len(self.ends) - 1

    @property
    def lengths(self) -> Array:
        """The length of every row."""
        return np.diff(self.ends)

    def rows(self) -> list[Array]:
        """Every row as an array; those of numbers are parts of one."""
        spans = list(pairwise(self.ends.tolist()))
        if not self.text:
            return [self.values[a:b] for a, b in spans]
        data = self.values.tobytes()
        return [np.asarray(data[a:b].decode()) for a, b in spans]

    def texts(self) -> list[str]:
        """Every row as a string."""
        data = self.values.tobytes()
        return [data[a:b].decode() for a, b in pairwise(self.ends.tolist())]


Column = Ragged | None  # None: the column is not made of rows with one axis, or of texts


def of_texts(texts: Iterable[str]) -> Ragged:
    """Strings as a column.

    >>> of_texts(["ab", "é"]).ends
    array([0, 2, 4])
    """
    parts = [t.encode() for t in texts]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Ragged(np.frombuffer(b"".join(parts), np.uint8), ends, text=True)


def of_cells(cells: Sequence[Array]) -> Column:
    """The cells of one column together, if all are single texts, or rows of one element type.

    >>> of_cells([np.array("ab"), np.array("c")]).values
    array([97, 98, 99], dtype=uint8)
    >>> of_cells([np.array(1)]) is None
    True
    """
    if all(isinstance(c, np.ndarray) and c.dtype.kind == "U" and c.size == 1 for c in cells):
        try:
            return of_texts(str(c.reshape(())[()]) for c in cells)
        except UnicodeEncodeError:  # half a pair of surrogates
            return None
    if all(isinstance(c, np.ndarray) and c.ndim == 1 and c.dtype == cells[0].dtype for c in cells):
        return Ragged(np.concatenate(cells), np.cumsum([0, *map(len, cells)], dtype=np.int64))
    return None


def together(parts: Sequence[Column]) -> Column:
    """Columns one below the other, if they are of one kind.

    >>> together([Ragged(np.arange(2), np.array([0, 2])), Ragged(np.arange(3), np.array([0, 3]))]).ends
    array([0, 2, 5])
    """
    first = parts[0]
    whole = [p for p in parts if p is not None]
    if first is None or len(whole) < len(parts):
        return None
    if len(parts) == 1:
        return first
    if any(p.text is not first.text or p.values.dtype != first.values.dtype for p in whole):
        return None
    before = np.cumsum([0, *(len(p.values) for p in whole)])
    ends = [p.ends[:-1] + b for p, b in zip(whole, before[:-1].tolist(), strict=True)]
    return Ragged(np.concatenate([p.values for p in whole]), np.concatenate([*ends, before[-1:]]), first.text)
