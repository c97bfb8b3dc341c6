"""Token sequences of many lengths made into rows of one: packed one after the other, or cut into windows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_value, filled
from mycelia.dataset.config import ErrorSamplesMode
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Columns, Joined, Literal, Request, Row
from mycelia.dataset.flow.stream import RowStream, State
from mycelia.dataset.flow.table import Table
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.nodes import Compiler, Node, unique
from mycelia.frozen import frozen
from mycelia.types import Array

SEGMENTS, POSITIONS = "segment_ids", "positions"
ASKED = 256  # documents that are asked for at a time
TOKENS = 1 << 18  # that a piece should have
FEW, MANY = 16, 1 << 12  # documents of the first piece, and of any


@frozen(eq=False)
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

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        held, below = state or (None, None)
        table = c.table(self.child)
        if table is None or c.options.error_samples_mode is not ErrorSamplesMode.RETURN:
            child = c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
            return PackStream(self, child, WaitingTokens.of(held, len(self.names)), None)
        pieces = PieceStream(c.number(self), table, epoch, below or 0)
        made = c.materialised(self, pieces, epoch, below)
        return PackStream(self, made, WaitingTokens.of(held, len(self.names)), pieces)

    def join(self, rows: Sequence[Row]) -> Row:
        """Documents one after the other, column by column, and the length of each."""
        documents = [self.tokens(row) for row in rows]
        lengths = np.array([len(d[0]) for d in documents], np.int64)
        columns = []
        for column in zip(*documents, strict=True):
            full = [c for c in column if len(c)]  # an empty one has no element type of its own
            columns.append(np.concatenate(_of_one_type(full)) if full else NOTHING)
        return self.ended(columns, lengths)

    def join_columns(self, columns: Columns) -> Row | None:
        """The same, of documents that lie one after the other already; None when their columns do not fit."""
        taken = [columns[i] for i in self.taken]
        whole = [c for c in taken if c is not None and not c.text]
        if len(whole) < len(taken) or any(not np.array_equal(c.ends, whole[0].ends) for c in whole):
            return None
        return self.ended([c.values if len(c.values) else NOTHING for c in whole], whole[0].lengths)

    def tokens(self, row: Row) -> tuple[Array, ...]:
        """What a document adds, column by column, without what is put after it."""
        made = tuple(as_value(row[i]) for i in self.taken)
        if any(a.ndim != 1 or len(a) != len(made[0]) for a in made):
            shapes = {n: list(a.shape) for n, a in zip(self.names, made, strict=True)}
            raise DataError("pack takes rows of tokens, of one length in all columns", given=shapes)
        return made

    def ended(self, columns: Sequence[Array], lengths: Array) -> Row:
        """Columns of documents with an end after each, and the length of each; without an end, none is empty."""
        if self.end is None:
            return *columns, lengths[lengths > 0]
        if len(self.names) > 1 and not lengths.all():
            raise DataError("pack cannot put an end after an empty document of several columns")
        ends = np.cumsum(lengths + 1) - 1
        between = np.ones(len(lengths) + len(columns[0]), bool)
        between[ends] = False
        made = []
        for number, whole in enumerate(columns):
            last = filled((1,), self.end, whole.dtype if len(whole) else as_value(self.end).dtype)
            joined = np.empty(len(between), last.dtype if number == 0 else whole.dtype)
            joined[between] = whole
            joined[ends] = last if number == 0 else whole[np.cumsum(lengths) - 1]
            made.append(joined)
        return *made, lengths + 1


NOTHING = np.zeros(0)  # tokens of documents that are all empty


def _of_one_type(parts: Sequence[Array], end: Any = None) -> list[Array]:
    """Tokens of several documents, seen to be of one type; those that are nothing but ends take that of the others."""
    own = next((p.dtype for p in parts if end is None or not _ends(p, end)), parts[0].dtype)
    made = [p.astype(own) if p.dtype != own and end is not None and _ends(p, end) else p for p in parts]
    texts = own.kind in "US" and all(p.dtype.kind == own.kind for p in made)
    other = next((p.dtype for p in made if p.dtype != own and not texts), None)
    if other is not None:
        raise DataError(
            f"pack: a document has tokens of {own} and another of {other}", hint="give them one type in a map before"
        )
    return made


def _ends(part: Array, end: Any) -> bool:
    return bool((part == end).all())


@dataclass
class PieceStream(RowStream):
    """Documents of a table joined to pieces, of about as many tokens each; it stands after so many documents."""

    node: int
    table: Table
    epoch: int
    position: int
    documents: int = FEW  # in the next piece

    def pull(self, most: int) -> Request | None:
        end = self.table.reach(self.position + self.documents)
        if end <= self.position:
            return None
        positions = np.arange(self.position, end)
        self.position = end
        return Joined(self.node, self.table.request(self.epoch, positions))

    def snapshot(self) -> State:
        return self.position

    def learn(self, lengths: Array) -> None:
        """Ask for pieces of a good size, now that some documents are known."""
        if len(lengths):
            wanted = int(TOKENS * len(lengths) / max(1, int(lengths.sum())))
            self.documents = max(1, min(wanted, 2 * self.documents, MANY))


@dataclass
class WaitingTokens:
    """Tokens that are in no row yet: their columns, the length of each document that they belong to, and how many
    tokens of the first one are in rows already.
    """

    columns: tuple[Array, ...]
    lengths: Array
    begun: int = 0

    @staticmethod
    def of(state: Any, columns: int) -> WaitingTokens:
        """What a state says, seen to be of one piece: rows are cut from it by numbers that it holds."""
        if state is None:
            return WaitingTokens((NOTHING,) * columns, np.zeros(0, np.int64))
        made = WaitingTokens(tuple(state[0]) or (NOTHING,) * columns, np.asarray(state[1]), state[2])
        tokens = [c for c in made.columns if isinstance(c, np.ndarray) and c.ndim == 1]
        whole = (
            len(tokens) == len(made.columns) == columns
            and made.lengths.ndim == 1
            and (made.lengths.dtype.kind in "iu" or not len(made.lengths))
            and type(made.begun) is int
            and not (made.lengths < 1).any()
            and 0 <= made.begun <= max(0, int(made.lengths[0]) - 1 if len(made.lengths) else 0)
            and all(len(c) == sum(made.lengths.tolist()) - made.begun for c in tokens)
        )
        if not whole:
            raise ValueError("the tokens that are held do not fit together")
        return WaitingTokens(made.columns, made.lengths.astype(np.int64), made.begun)

    def __len__(self) -> int:
        return len(self.columns[0])

    def state(self) -> Any:
        return [self.columns, self.lengths, self.begun]


class PackedRows:
    """All full rows that can be made of the tokens held and some more, made at once; with `last` also one that is not
    full.
    """

    def __init__(
        self, node: PackNode, held: WaitingTokens, columns: Sequence[Array], lengths: Array, last: bool = False
    ) -> None:
        self.held, self.more, self.end = held, columns, node.end
        self.lengths = np.concatenate([held.lengths, lengths]) if len(lengths) else held.lengths
        ends = np.cumsum(self.lengths) - held.begun  # where documents end
        starts = ends - self.lengths
        total = int(ends[-1]) if len(ends) else 0
        stops = self._stops(node, ends, total, last)  # where rows end
        over = np.searchsorted(ends, stops, side="right")  # documents that are over after every row
        begun = np.where(over < len(ends), stops - np.append(starts, 0)[over], 0)
        self.stops, self.over, self.begun = stops.tolist(), over.tolist(), begun.tolist()
        self.count, self.at = len(stops), 0
        self.rows: list[Row] = []
        if not self.count:
            return
        whole, used = int(stops[-1]), np.diff(stops, prepend=0)
        touched = int(np.searchsorted(ends, whole, side="left")) + 1  # documents that the rows hold
        sizes = np.diff(np.minimum(ends[:touched], whole), prepend=0)
        documents = np.repeat(np.arange(touched, dtype=np.int32), sizes)
        positions = np.arange(whole, dtype=np.int32)
        positions -= np.repeat(starts[:touched].astype(np.int32), sizes)
        first = documents[stops - used]
        documents -= np.repeat(first - np.int32(1), used)
        spots = None if (used == node.length).all() else np.arange(node.length) < used[:, None]
        made = []
        for part, pad in zip(
            [*zip(held.columns, columns, strict=True), documents, positions], [*node.pad, 0, 0], strict=True
        ):
            made.append(
                _filled(
                    part if isinstance(part, tuple) else (part,), whole, spots, (self.count, node.length), pad, node.end
                )
            )
        self.rows = list(zip(*made, strict=True))

    @staticmethod
    def _stops(node: PackNode, ends: Array, total: int, last: bool) -> Array:
        length = node.length
        if node.split:
            stops = np.arange(length, total + 1, length)
            return np.append(stops, total) if last and total % length else stops
        found, at, borders = [], 0, ends.tolist()
        while total - at >= length or (last and at < total):
            whole = bisect_right(borders, at + length)  # documents that end in the row
            at = borders[whole - 1] if whole and borders[whole - 1] > at else min(at + length, total)
            found.append(at)
        return np.array(found, np.int64)

    def row(self) -> Row:
        """The next row."""
        self.at += 1
        return self.rows[self.at - 1]

    def left(self) -> WaitingTokens:
        """What the rows that were given do not hold."""
        i = self.at - 1
        gone, over, begun = (self.stops[i], self.over[i], self.begun[i]) if i >= 0 else (0, 0, self.held.begun)
        inside = len(self.held)
        columns = self.more
        if gone < inside:
            columns = [_together(h[gone:], m, self.end) for h, m in zip(self.held.columns, columns, strict=True)]
        elif gone > inside:
            columns = [c[gone - inside :] for c in columns]
        return WaitingTokens(tuple(columns), self.lengths[over:], begun)


def _together(one: Array, other: Array, end: Any) -> Array:
    """Tokens one behind the other; an empty array has no element type of its own."""
    if not (len(one) and len(other)):
        return one if len(one) else other
    return np.concatenate(_of_one_type([one, other], end))


@dataclass
class PackStream(RowStream):
    """Documents that fill rows."""

    node: PackNode
    child: RowStream
    start: WaitingTokens
    pieces: PieceStream | None  # what the child's rows are made by, if they are pieces of many documents
    ended: bool = False
    block: PackedRows | None = None

    def pull(self, most: int) -> Request | None:
        if self.block is None:
            self.block = PackedRows(self.node, self.start, self.none, self.start.lengths[:0])
        while self.block.at == self.block.count:
            if self.ended:
                return None
            below = self.child.pull(ASKED if self.pieces is None else 1)
            held = self.block.left()
            if below is None:
                self.ended = True
                self.block = PackedRows(self.node, held, self.none, held.lengths[:0], last=not self.node.drop)
            else:
                self.block = PackedRows(self.node, held, *self._taken(below))
        return Literal((self.block.row(),), ORIGIN)

    @property
    def none(self) -> list[Array]:
        """No tokens."""
        return [NOTHING] * len(self.node.names)

    def _taken(self, below: Request) -> tuple[list[Array], Array]:
        """The columns of more documents, and the length of each."""
        assert isinstance(below, Literal), "rows below are made"
        rows = [row for row in below.ready if isinstance(row, tuple)]
        *columns, lengths = self.node.join(rows) if self.pieces is None else rows[0]
        if self.pieces is not None:
            self.pieces.learn(lengths)
        return columns, lengths

    def snapshot(self) -> State:
        held = self.start if self.block is None else self.block.left()
        return [held.state(), self.child.snapshot()]

    def ready(self) -> bool:
        return self.at_hand() or self.child.ready()

    def at_hand(self) -> bool:
        return self.block is not None and self.block.at < self.block.count

    def close(self) -> None:
        self.child.close()


ORIGIN = ("a row of packed documents",)


def _filled(
    parts: Sequence[Array], count: int, spots: Array | None, shape: tuple[int, int], pad: Any, end: Any
) -> Array:
    """So many values in rows of one length, in memory of their own; `spots` are those that they fill."""
    full = _of_one_type([p for p in parts if len(p)], end)
    dtype = np.result_type(*full)
    if spots is not None:
        rows = filled(shape, pad, dtype)
        rows[spots] = np.concatenate(full)[:count]
        return rows
    joined, at = np.empty(count, dtype), 0
    for part in full:
        joined[at : at + len(part)] = part[: count - at]
        at += len(part)
    return joined.reshape(shape)


@frozen(eq=False)
class WindowsNode(Node):
    """Every row cut into windows of `length`, each `stride` further on; other columns come with every window."""

    length: int
    stride: int
    names: tuple[str, ...]
    pad: tuple[Any, ...] | None  # None: a window that is not full is left out

    materialises = True

    @lazy
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(unique(self.names, "windows"), "windows")

    def describe(self) -> dict[str, Any]:
        pad = None if self.pad is None else [as_value(p).tolist() for p in self.pad]
        return {"length": self.length, "stride": self.stride, "columns": list(self.names), "pad": pad}

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
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
                whole = filled((self.length, *part.shape[1:]), self.pad[i], part.dtype)
                whole[: len(part)] = part
                part = whole
            made[column] = part.copy()
        return tuple(made)


@dataclass
class WindowStream(RowStream):
    """The windows of one row after the other."""

    node: WindowsNode
    child: RowStream
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
