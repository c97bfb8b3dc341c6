"""Token sequences of many lengths made into rows of one: packed one after the other, or cut into windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_value
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Literal, Request, Row
from mycelia.dataset.flow.stream import State, Stream
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan import Compiler, Node, unique
from mycelia.types import Array

SEGMENTS, POSITIONS = "segment_ids", "positions"
ASKED = 256  # documents that are asked for at a time


@dataclass(frozen=True, eq=False)
class PackNode(Node):
    """Documents one after the other in rows of `length` tokens, with the number of each and the place in it."""

    length: int
    names: tuple[str, ...]  # the columns that hold tokens, and what goes with them, token by token
    split: bool  # whether a document may go on in the next row
    pad: tuple[Any, ...]
    end: Any  # a token after every document
    drop: bool

    materialises = True

    @property
    def columns(self) -> tuple[str, ...]:
        return unique([*self.names, SEGMENTS, POSITIONS], "pack")

    @lazy
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(self.names, "pack")

    def describe(self) -> dict[str, Any]:
        return {
            "length": self.length,
            "columns": list(self.names),
            "split": self.split,
            "pad": [as_value(p).tolist() for p in self.pad],
            "end": None if self.end is None else as_value(self.end).tolist(),
            "drop_remainder": self.drop,
        }

    def stream(self, c: Compiler, epoch: int, state: State) -> Stream:
        held, below = state or (None, None)
        child = c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
        return PackStream(self, child, Held.of(held))

    def tokens(self, row: Row) -> tuple[Array, ...]:
        """What a document adds, column by column, without what is put after it."""
        made = tuple(as_value(row[i]) for i in self.taken)
        if any(a.ndim != 1 or len(a) != len(made[0]) for a in made):
            shapes = {n: list(a.shape) for n, a in zip(self.names, made, strict=True)}
            raise DataError("pack takes rows of tokens, of one length in all columns", given=shapes)
        return made

    def joined(self, documents: list[tuple[Array, ...]]) -> tuple[tuple[Array, ...], Array]:
        """Documents one after the other, column by column, and the length of each."""
        lengths = np.array([len(d[0]) for d in documents], np.int64)
        if self.end is None:
            return tuple(np.concatenate(c) for c in zip(*documents, strict=True)), lengths
        if len(self.names) > 1 and not lengths.all():
            raise DataError("pack cannot put an end after an empty document of several columns")
        ends = np.cumsum(lengths + 1) - 1
        between = np.ones(int(ends[-1]) + 1, bool)
        between[ends] = False
        columns = []
        for number, column in enumerate(zip(*documents, strict=True)):
            whole = np.concatenate(column)
            joined = np.empty(len(between), whole.dtype)
            joined[between] = whole
            joined[ends] = np.full(1, self.end, whole.dtype) if number == 0 else whole[np.cumsum(lengths) - 1]
            columns.append(joined)
        return tuple(columns), lengths + 1


@dataclass
class Held:
    """Tokens that are in no row yet: their columns, the length of each document that they belong to, how far into the
    first one they begin, and its number in the row.
    """

    columns: tuple[Array, ...] = ()
    lengths: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    begun: int = 0  # tokens of the first document that are in rows already

    @staticmethod
    def of(state: Any) -> Held:
        return Held() if state is None else Held(tuple(state[0]), state[1], state[2])

    def state(self) -> Any:
        return [self.columns, self.lengths, self.begun]


@dataclass
class Marks:
    """To which document the tokens held belong, and where in it they stand; found for all of them at once."""

    documents: Array
    positions: Array
    ends: Array  # where the documents end
    at: int = 0  # tokens that have gone into rows since

    @staticmethod
    def of(held: Held) -> Marks:
        ends = np.cumsum(held.lengths) - held.begun
        documents = np.repeat(np.arange(len(ends), dtype=np.int32), held.lengths)[held.begun :]
        starts = ends - held.lengths
        return Marks(documents, (np.arange(len(documents)) - starts[documents]).astype(np.int32), ends)


@dataclass
class PackStream(Stream):
    """Documents that fill rows."""

    node: PackNode
    child: Stream
    held: Held
    ended: bool = False
    made: Marks | None = None  # of the tokens held, until more come

    def pull(self, most: int) -> Request | None:
        while not self.ended and not self._full():
            below = self.child.pull(ASKED)
            if below is None:
                self.ended = True
                break
            assert isinstance(below, Literal), "rows below are made"
            self._take([self.node.tokens(row) for row in below.ready if isinstance(row, tuple)])
        if not len(self.held.lengths) or (not self._full() and self.node.drop):
            return None
        return Literal((self._row(),), ("a row of packed documents",))

    def _full(self) -> bool:
        """Whether a row is full, or the next document does not fit into it."""
        return bool(self.held.columns) and len(self.held.columns[0]) >= self.node.length

    def _take(self, documents: list[tuple[Array, ...]]) -> None:
        if self.node.end is None:
            documents = [d for d in documents if len(d[0])]
        if not documents:
            return
        columns, lengths = self.node.joined(documents)
        if len(self.held.lengths):
            columns = tuple(np.concatenate(pair) for pair in zip(self.held.columns, columns, strict=True))
        self.held = Held(columns, np.concatenate([self.held.lengths, lengths]), self.held.begun)
        self.made = None

    def _row(self) -> Row:
        """The next row; what does not go into it is held."""
        node, held = self.node, self.held
        if self.made is None:
            self.made = Marks.of(held)
        marks, length = self.made, node.length
        at = marks.at
        first = int(marks.documents[at])
        used = min(length, len(held.columns[0]))
        if not node.split:
            whole = int(np.searchsorted(marks.ends, at + length, side="right"))  # documents that end in the row
            used = int(marks.ends[whole - 1]) - at if whole > first else used
        segments = _filled(marks.documents[at : at + used] - np.int32(first - 1), length, 0)
        positions = _filled(marks.positions[at : at + used], length, 0)
        row = [_filled(column[:used], length, pad) for column, pad in zip(held.columns, node.pad, strict=True)]
        marks.at = at + used
        ended = int(np.searchsorted(marks.ends, marks.at, side="right")) - first  # documents that are over
        begun = int(marks.positions[marks.at]) if marks.at < len(marks.positions) else 0
        self.held = Held(tuple(c[used:] for c in held.columns), held.lengths[ended:], begun)
        return (*row, segments, positions)

    def snapshot(self) -> State:
        return [self.held.state(), self.child.snapshot()]

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()


def _filled(values: Array, length: int, pad: Any) -> Array:
    """Values in an array of their own that is as long as a row."""
    if len(values) == length:
        return values.copy()
    filled = np.full(length, pad, values.dtype)
    filled[: len(values)] = values
    return filled


@dataclass(frozen=True, eq=False)
class WindowsNode(Node):
    """Every row cut into windows of `length`, each `stride` further on; other columns come with every window."""

    length: int
    stride: int
    names: tuple[str, ...]
    pad: tuple[Any, ...] | None  # None: a window that is not full is left out

    materialises = True

    @lazy
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(self.names, "windows")

    def describe(self) -> dict[str, Any]:
        pad = None if self.pad is None else [as_value(p).tolist() for p in self.pad]
        return {"length": self.length, "stride": self.stride, "columns": list(self.names), "pad": pad}

    def stream(self, c: Compiler, epoch: int, state: State) -> Stream:
        row, number, below = state or (None, 0, None)
        child = c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
        return WindowStream(self, child, row, number)

    def count(self, size: int) -> int:
        """How many windows a row of that length has.

        >>> import mycelia.dataset as ds
        >>> node = ds.NumpySlicesDataset([[1, 2, 3, 4, 5]], ["x"]).windows(2, 2).plan
        >>> node.count(5), node.count(1)
        (2, 0)
        """
        if self.pad is None:
            return max(0, (size - self.length) // self.stride + 1)
        return -(-max(size - self.length, 0) // self.stride) + 1 if size else 0

    def window(self, row: Row, number: int) -> Row:
        """One window of a row, with what else the row has."""
        made = list(row)
        start = number * self.stride
        for i, column in enumerate(self.taken):
            part = as_value(row[column])[start : start + self.length]
            if len(part) < self.length:
                assert self.pad is not None, "only whole windows are counted"
                whole = np.full((self.length, *part.shape[1:]), self.pad[i], part.dtype)
                whole[: len(part)] = part
                part = whole
            made[column] = part.copy()
        return tuple(made)


@dataclass
class WindowStream(Stream):
    """The windows of one row after the other."""

    node: WindowsNode
    child: Stream
    row: Row | None
    number: int

    def pull(self, most: int) -> Request | None:
        while self.row is None or self.number >= self._count(self.row):
            below = self.child.pull(1)
            if below is None:
                return None
            assert isinstance(below, Literal), "rows below are made"
            row = below.ready[0]
            assert isinstance(row, tuple), "bad rows were left out below"
            self.row, self.number = row, 0
        self.number += 1
        return Literal((self.node.window(self.row, self.number - 1),), (f"window {self.number - 1} of a row",))

    def _count(self, row: Row) -> int:
        sizes = {len(as_value(row[i])) if np.ndim(row[i]) else -1 for i in self.node.taken}
        if len(sizes) != 1 or -1 in sizes:
            raise DataError("windows takes rows of tokens, of one length in all columns", given={"lengths": sizes})
        return self.node.count(sizes.pop())

    def snapshot(self) -> State:
        return [self.row, self.number, self.child.snapshot()]

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()
