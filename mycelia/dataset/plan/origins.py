"""Where rows come from: nodes that have none below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mycelia.dataset.arrays import as_value
from mycelia.dataset.flow.request import Columns, Row
from mycelia.dataset.flow.stream import IterableStream, RowStream, State
from mycelia.dataset.flow.table import Gradual, GradualTable, SourceTable, Table
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.nodes import Compiler, Node, Turnstile
from mycelia.dataset.plan.samplers import Sampler, SequentialSampler
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.types import Array


class Data(Protocol):
    """Rows that can be read by index: what a source is made of."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    def __len__(self) -> int: ...
    def fetch(self, index: int) -> Row: ...
    def gather(self, indices: Array) -> Row | None: ...
    def where(self, index: int) -> str: ...
    def labels(self, column: str) -> Array: ...


@runtime_checkable
class Runs(Protocol):
    """A source that makes rows which lie together at once; None when they are better made one by one."""

    def bulk(self, indices: Array) -> list[Row] | None: ...


@runtime_checkable
class Columnar(Protocol):
    """A source that has rows of many lengths as columns; None when these rows are better made one by one."""

    def ragged(self, indices: Array) -> Columns | None: ...


@frozen(eq=False)
class SourceNode(Node):
    """Rows read by index, in the order of a sampler."""

    data: Data
    sampler: Sampler
    name: str
    exclusive: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)
    turn: Turnstile = field(default_factory=Turnstile)

    works = True

    @property
    def columns(self) -> tuple[str, ...]:
        return self.data.columns

    @property
    def label(self) -> str:
        return self.name

    @property
    def quick(self) -> bool:
        return getattr(self.data, "at_hand", False) and not self.exclusive

    def in_order(self, workers: int) -> bool:
        return self.exclusive

    def describe(self) -> dict[str, Any]:
        return {**self.arguments, "sampler": self.sampler.describe()}

    def fetch(self, index: int) -> Row:
        if not self.exclusive:
            return self.data.fetch(index)
        with self.turn:
            return self.data.fetch(index)

    def gather(self, indices: Array) -> Row | None:
        return None if self.exclusive else self.data.gather(indices)

    def where(self, index: int) -> str:
        """Where a row stands; asked when something went wrong, so that it gives an answer even if the file is gone."""
        try:
            return self.data.where(index)
        except Exception:
            return f"row {index}"

    def bulk(self, indices: Array) -> list[Row] | None:
        """Rows of a source that reads in runs, made at once; what goes wrong is told when they are fetched."""
        if len(indices) > 1 and self.runs is not None:
            with suppress(Exception):
                return self.runs.bulk(indices)
        return None

    def ragged(self, indices: Array) -> Columns | None:
        """Rows as columns, of a source that has them so; what goes wrong is told when they are fetched."""
        if isinstance(self.data, Columnar) and not self.exclusive:
            with suppress(Exception):
                return self.data.ragged(indices)
        return None

    @lazy
    def runs(self) -> Runs | None:
        """The source, if it reads in runs."""
        return self.data if isinstance(self.data, Runs) and not self.exclusive else None

    @lazy
    def whole(self) -> bool:
        """Whether the sampler leaves the rows as they are stored."""
        s = self.sampler
        return type(s) is SequentialSampler and not s.start_index and s.num_samples is None and s.child is None

    def labels(self, column: str) -> Array:
        """All values of a column, which need not be one of those that are read."""
        try:
            return self.data.labels(column)
        except (KeyError, ValueError):
            self.index_of([column], "the sampler")
            raise

    def table(self, c: Compiler) -> Table | None:
        number = c.number(self)
        if self.whole and isinstance(self.data, Gradual) and not c.apart():
            return GradualTable(number, self.data)
        count = len(self.data)
        if self.whole:
            return SourceTable(number, count, None)
        order = c.order(self, self.sampler, count, self.labels)
        return SourceTable(number, len(order.of(0)), order)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        raise AssertionError("a source is a table")


@frozen(eq=False)
class IterableNode(Node):
    """Rows of an iterator that is made anew for every epoch."""

    make: Callable[[], Iterator[Any]]
    names: tuple[str, ...]
    limit: int
    types: tuple[np.dtype[Any], ...] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def label(self) -> str:
        return "GeneratorDataset"

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        return IterableStream(self.make, self.convert, self.label, self.limit, state)

    def convert(self, value: Any) -> Row:
        return as_row(value, self.names, self.types)


def as_row(value: Any, names: Sequence[str], types: Sequence[np.dtype[Any]] | None = None) -> Row:
    """A row of arrays from what a user's source gave; one column may come without its tuple.

    >>> as_row((1, [2, 3]), ["a", "b"])
    (array(1), array([2, 3]))
    """
    parts = value if isinstance(value, tuple) else (value,)
    if len(parts) != len(names):
        raise ArgumentError(
            f"the source gave a row with {len(parts)} values for {len(names)} columns", given={"columns": list(names)}
        )
    row = tuple(as_own(p) for p in parts)
    for name, part, wanted in zip(names, row, types or (), strict=False):
        if part.dtype != wanted and not (wanted.kind in "US" and part.dtype.kind == wanted.kind):
            raise ArgumentError(f"column {name!r} was to be {wanted}, and the source gave {part.dtype}")
    return row


FRESH = (bool, int, float, complex, str, bytes, list, np.generic)  # what NumPy makes a new array of


def as_own(value: Any) -> Any:
    """A user's value as an array that shares no memory with it: later steps may write into it, or the user may.

    >>> source = np.zeros(2); as_own(source)[0] = 1; source
    array([0., 0.])
    """
    made = as_value(value)
    return made if isinstance(value, FRESH) else copied(made)


def copied(value: Any) -> Any:
    """A value of a row in memory of its own.

    >>> copied({"k": np.array(1)})
    {'k': array(1)}
    """
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value
