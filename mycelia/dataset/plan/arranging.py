"""Nodes that name, choose, order, repeat and join the rows of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from mycelia.dataset.flow.indices import Indices
from mycelia.dataset.flow.stream import (
    RowStream,
    SelectStream,
    SequenceStream,
    ShuffleStream,
    SliceStream,
    State,
    ZipStream,
)
from mycelia.dataset.flow.table import (
    ENDLESS,
    FOREVER,
    ConcatTable,
    Order,
    RepeatTable,
    SelectTable,
    ShuffleTable,
    SliceTable,
    Table,
    ZipTable,
    buffer_order,
)
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.nodes import Compiler, Node, unique
from mycelia.dataset.plan.samplers import Sampler
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.types import Array


@frozen(eq=False)
class RenameNode(Node):
    """Other names for some columns."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @lazy
    def names(self) -> tuple[str, ...]:
        self.child.index_of(unique(self.before, "rename"), "rename")
        new = dict(zip(self.before, self.after, strict=True))
        return unique([new.get(n, n) for n in self.child.columns], "rename")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def countable(self) -> bool:
        return True

    def describe(self) -> dict[str, Any]:
        return {"input_columns": list(self.before), "output_columns": list(self.after)}

    def table(self, c: Compiler) -> Table | None:
        return c.table(self.child)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        return c.stream(self.child, epoch, state)


@frozen(eq=False)
class ProjectNode(Node):
    """Some columns, in a given order."""

    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def countable(self) -> bool:
        return True

    @lazy
    def kept(self) -> tuple[int, ...]:
        return self.child.index_of(unique(self.names, "project"), "project")

    def describe(self) -> dict[str, Any]:
        return {"columns": list(self.names)}

    def table(self, c: Compiler) -> Table | None:
        below = c.table(self.child)
        return None if below is None else SelectTable(self.kept, below)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        return SelectStream(self.kept, c.stream(self.child, epoch, state))


@frozen(eq=False)
class SliceNode(Node):
    """Rows from `start` on, at most `count`: skip and take."""

    start: int
    count: int

    @property
    def label(self) -> str:
        return "Skip" if self.start else "Take"

    def describe(self) -> dict[str, Any]:
        return {"count": self.start or (-1 if self.count >= ENDLESS else self.count)}

    def table(self, c: Compiler) -> Table | None:
        below = c.table(self.child)
        return None if below is None else SliceTable(below, self.start, self.count)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        seen, below = state or (0, None)
        return SliceStream(c.stream(self.child, epoch, below), self.start, self.count, seen)


def by_number(node: Node, c: Compiler) -> Table:
    """A node as a table, or an error that tells that it is none."""
    table = c.table(node)
    if table is None:
        raise ArgumentError(
            f"rows of {node.label} cannot be asked for by number: they depend on the rows before",
            hint="take(n) and skip(n) work with every dataset",
        )
    return table


@frozen(eq=False)
class PickNode(Node):
    """The rows at some positions of a table."""

    rows: range

    def describe(self) -> dict[str, Any]:
        return {"start": self.rows.start, "stop": self.rows.stop, "step": self.rows.step}

    def table(self, c: Compiler) -> Table | None:
        below, rows = by_number(self.child, c), self.rows
        return SliceTable(ShuffleTable(below, Order(lambda epoch: Indices(len(rows), self.at))), 0, len(rows))

    def at(self, places: Array) -> Array:
        """The positions of the rows at some places."""
        return np.asarray(self.rows.start + places * self.rows.step)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        raise AssertionError("a table")


@frozen(eq=False)
class RepeatNode(Node):
    """Several epochs as one; 0 for ever."""

    count: int

    def describe(self) -> dict[str, Any]:
        return {"count": self.count or -1}

    def table(self, c: Compiler) -> Table | None:
        below = c.table(self.child)
        return None if below is None else RepeatTable(below, self.count)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        def open(turn: int, below: State) -> RowStream:
            return c.stream(self.child, epoch * (self.count or FOREVER) + turn, below)

        return _sequence(open, self.count or ENDLESS, state)


def _sequence(open: Callable[[int, State], RowStream], count: int, state: State) -> SequenceStream:
    turn, below = state or (0, None)
    return SequenceStream(open, count, turn, None if state is None or below is None else open(turn, below))


@frozen(eq=False)
class ConcatNode(Node):
    """Several datasets one after the other; a sampler may choose among all their rows."""

    sampler: Sampler | None = None

    @lazy
    def names(self) -> tuple[str, ...]:
        for other in self.children[1:]:
            if other.columns != self.child.columns:
                raise ArgumentError(
                    "concat: the datasets have different columns",
                    given={"first": list(self.child.columns), "another": list(other.columns)},
                )
        return self.child.columns

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    def table(self, c: Compiler) -> Table | None:
        tables = [t for t in map(c.table, self.children) if t is not None]
        if len(tables) < len(self.children):
            if self.sampler is not None:
                raise ArgumentError("a concatenated dataset takes a sampler only when its rows can be read by index")
            return None
        whole = ConcatTable(tables)
        sampler = self.sampler
        if sampler is None:
            return whole
        order = c.order(self, sampler, whole.size(), None)
        return SliceTable(ShuffleTable(whole, order), 0, len(order.of(0)))

    @property
    def countable(self) -> bool:
        return self.sampler is None

    def rows_of(self, sizes: Sequence[int], c: Compiler) -> int:
        return sum(sizes)

    def taken_below(self, rows: int, sizes: Sequence[int], c: Compiler) -> tuple[int, ...]:
        before = accumulate(sizes, initial=0)
        return tuple(max(0, min(rows - b, size)) for b, size in zip(before, sizes, strict=False))

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        return _sequence(lambda turn, below: c.stream(self.children[turn], epoch, below), len(self.children), state)


@frozen(eq=False)
class ZipNode(Node):
    """Several datasets side by side."""

    @lazy
    def names(self) -> tuple[str, ...]:
        return unique([n for c in self.children for n in c.columns], "zip")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    def table(self, c: Compiler) -> Table | None:
        tables = [t for t in map(c.table, self.children) if t is not None]
        return ZipTable(tables) if len(tables) == len(self.children) else None

    @property
    def countable(self) -> bool:
        return True

    def rows_of(self, sizes: Sequence[int], c: Compiler) -> int:
        return min(sizes)

    def taken_below(self, rows: int, sizes: Sequence[int], c: Compiler) -> tuple[int, ...]:
        return (rows,) * len(sizes)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        states = state or [None] * len(self.children)
        return ZipStream([c.stream(n, epoch, s) for n, s in zip(self.children, states, strict=True)])


@frozen(eq=False)
class ShuffleNode(Node):
    """Rows mixed by a buffer."""

    buffer: int

    def describe(self) -> dict[str, Any]:
        return {"buffer_size": self.buffer}

    def table(self, c: Compiler) -> Table | None:
        below = c.table(self.child)
        if below is None or below.size() >= ENDLESS:
            return None
        size, number = below.size(), c.number(self)
        return ShuffleTable(below, Order(lambda epoch: buffer_order(size, self.buffer, c.seed, number, epoch)))

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        below = c.stream(self.child, epoch, None if state is None else state["child"])
        return ShuffleStream.at(below, self.buffer, (c.seed, epoch, c.number(self)), state)


class FixedShuffleNode(ShuffleNode):
    """One order for all epochs: the parts of a split must not mix from epoch to epoch."""

    def table(self, c: Compiler) -> Table | None:
        table = super().table(c)
        if table is None:
            raise ArgumentError("split(randomize=True) needs a dataset whose rows can be read by index")
        assert isinstance(table, ShuffleTable), "a shuffled table"
        fixed = table.order.of(0)
        table.order.make = lambda epoch: fixed
        return table
