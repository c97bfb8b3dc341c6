"""Requests: rows still to be made, written down small enough to send to any worker.

The reader's side decides *what* is needed (which indices, in which order, at which random place); a worker makes it.
Because a request says everything, the result does not depend on who fulfils it, or when.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from mycelia.dataset.errors import Failed, Failure
from mycelia.dataset.flow.buffers import Places, Selected
from mycelia.dataset.flow.line import Standing
from mycelia.dataset.flow.ragged import Column, of_cells, together
from mycelia.types import Array

Row = tuple[Any, ...]
Outcome = Row | Failure | None  # None: a filter dropped it
Columns = tuple[Column, ...]


class RowSource(Protocol):
    """What a worker asks of a source of rows."""

    exclusive: bool

    def fetch(self, index: int) -> Row: ...
    def gather(self, indices: Array) -> Row | None: ...
    def where(self, index: int) -> str: ...
    def bulk(self, indices: Array) -> list[Row] | None: ...
    def ragged(self, indices: Array) -> Columns | None: ...


class Mapper(Protocol):
    """What a worker asks of an operation on one row; one that is `joint` would rather have many at once."""

    joint: bool

    @property
    def taken(self) -> tuple[int, ...]: ...
    def apply(self, row: Row, seed: int, epoch: int, position: int, node: int, places: Places | None) -> Row | None: ...
    def apply_to_columns(self, columns: Columns) -> Columns | None: ...
    def arrange(self, row: Row, made: Row) -> Row: ...


class Collator(Protocol):
    """What a worker asks of an operation that makes one row of many."""

    gathers: bool

    def collate(self, rows: Iterable[Row], count: int, epoch: int, number: int, places: Places) -> Row: ...


class Joiner(Protocol):
    """What a worker asks of an operation that puts rows of many lengths together."""

    def join(self, rows: Sequence[Row]) -> Row: ...
    def join_columns(self, columns: Columns) -> Row | None: ...


@dataclass
class Run:
    """One worker's view while it fulfils one request: the nodes of the plan, and what it has to report."""

    nodes: Sequence[Any]
    labels: Sequence[str]
    seed: int
    tolerant: bool = False
    failures: list[Failure] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)
    place: Standing | None = None  # in the order of requests, when a step keeps to it
    pools: Mapping[int, Any] = field(default_factory=dict)  # of processes, for parts that are made there

    def keeps(self, node: int) -> Standing | None:
        """The place of the request, when a node is passed in the order of requests."""
        return self.place if self.place is not None and self.place.keeps(node) else None

    def spent(self, node: int, since: float) -> None:
        """Note the time that a node has used since `since`."""
        self.seconds[node] = self.seconds.get(node, 0.0) + perf_counter() - since

    def fail(self, error: Exception, node: int, origin: str) -> Failure:
        """A failure in the row's place when bad samples are tolerated; otherwise raise it."""
        failure = Failure.of(error, self.labels[node], origin)
        if not self.tolerant:
            raise Failed(failure) from error
        return failure


class Request(ABC):
    """Some rows, still to be made."""

    __slots__: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Its fields, which are its slots: half the time that dataclasses take to be sent."""
        return type(self), tuple(getattr(self, name) for name in self.__slots__)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        """Make the rows, one after the other; `places` tell where each column of the next one may be written."""

    @abstractmethod
    def origin(self, i: int, run: Run) -> str:
        """Where the i-th row comes from, for people."""

    def stacked(self, run: Run) -> Row | None:
        """All rows as one array per column, when there is a way faster than row by row."""
        return None

    def ragged(self, run: Run) -> Columns | None:
        """All rows as columns, when there is a way that makes none of them by itself."""
        return None

    def brought(self, run: Run) -> Request:
        """The same request with the rows of exclusive sources already read, on this side."""
        return self


@dataclass(frozen=True, slots=True)
class Fetch(Request):
    """Rows of a source, by index."""

    node: int
    indices: Array

    def __len__(self) -> int:
        return len(self.indices)

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        place = run.keeps(self.node)
        if place is None:
            return self._read(run)
        with place.turn(self.node):
            return iter(list(self._read(run)))

    def _read(self, run: Run) -> Iterator[Outcome]:
        source: RowSource = run.nodes[self.node]
        start = perf_counter()
        ready = source.bulk(self.indices)
        run.spent(self.node, start)
        if ready is not None:
            yield from ready
            return
        for index in self.indices.tolist():
            start = perf_counter()
            try:
                row: Outcome = source.fetch(index)
            except Exception as error:
                row = run.fail(error, self.node, source.where(index))
            run.spent(self.node, start)
            yield row

    def stacked(self, run: Run) -> Row | None:
        source: RowSource = run.nodes[self.node]
        start = perf_counter()
        try:
            return source.gather(self.indices)
        except Exception:
            return None  # row by row finds out which one is bad
        finally:
            run.spent(self.node, start)

    def ragged(self, run: Run) -> Columns | None:
        source: RowSource = run.nodes[self.node]
        start = perf_counter()
        try:
            return source.ragged(self.indices)
        finally:
            run.spent(self.node, start)

    def origin(self, i: int, run: Run) -> str:
        return str(run.nodes[self.node].where(int(self.indices[i])))

    def brought(self, run: Run) -> Request:
        if not run.nodes[self.node].exclusive:
            return self
        kept = replace(run, tolerant=True)  # a bad row is told where the rows are made, in its turn
        return Literal(tuple(self.rows(kept)), tuple(self.origin(i, run) for i in range(len(self))))


@dataclass(frozen=True, slots=True)
class Literal(Request):
    """Rows that are already there."""

    ready: tuple[Outcome, ...]
    origins: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ready)

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        for row in self.ready:
            if isinstance(row, Failure) and not run.tolerant:
                raise Failed(row)
            yield row

    def origin(self, i: int, run: Run) -> str:
        return self.origins[i] if self.origins else "a row made earlier in the pipeline"


@dataclass(frozen=True, slots=True)
class Apply(Request):
    """Rows of another request, each passed through an operation at its own random place."""

    node: int
    epoch: int
    positions: Array
    child: Request

    def __len__(self) -> int:
        return len(self.child)

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        place = run.keeps(self.node)
        if place is None:
            return self._made(self.child.rows(run), run, places)
        below = list(self.child.rows(run))
        with place.turn(self.node):
            return iter(list(self._made(below, run, None)))

    def _made(self, below: Iterable[Outcome], run: Run, places: Places | None) -> Iterator[Outcome]:
        mapper: Mapper = run.nodes[self.node]
        if mapper.joint and len(self) > 1:
            below = list(below)
            ready = self._jointly(below, run)
            if ready is not None:
                yield from ready
                return
        for i, (position, row) in enumerate(zip(self.positions.tolist(), below, strict=True)):
            if not isinstance(row, tuple):
                yield row
                continue
            start = perf_counter()
            try:
                made: Outcome = mapper.apply(row, run.seed, self.epoch, position, self.node, places)
            except Exception as error:
                made = run.fail(error, self.node, f"number {position} of epoch {self.epoch}, {self.origin(i, run)}")
            run.spent(self.node, start)
            yield made

    def _jointly(self, below: list[Outcome], run: Run) -> list[Outcome] | None:
        """The rows made at once; None when they must be made one by one, which tells which of them is bad."""
        mapper: Mapper = run.nodes[self.node]
        good = [row for row in below if isinstance(row, tuple)]
        if len(good) < len(below):
            return None
        columns = zip(*good, strict=True)
        made = self._mapped(tuple(of_cells(c) if i in mapper.taken else None for i, c in enumerate(columns)), run)
        if made is None:
            return None
        cells = zip(*(c.rows() for c in made if c is not None), strict=True)
        return [mapper.arrange(row, new) for row, new in zip(good, cells, strict=True)]

    def _mapped(self, columns: Columns, run: Run) -> Columns | None:
        mapper: Mapper = run.nodes[self.node]
        start = perf_counter()
        try:
            return mapper.apply_to_columns(columns)
        except Exception:
            return None  # row by row finds out which one is bad
        finally:
            run.spent(self.node, start)

    def ragged(self, run: Run) -> Columns | None:
        mapper: Mapper = run.nodes[self.node]
        below = self.child.ragged(run) if mapper.joint else None
        made = None if below is None else self._mapped(below, run)
        return None if made is None or below is None else mapper.arrange(below, made)

    def origin(self, i: int, run: Run) -> str:
        return self.child.origin(i, run)

    def brought(self, run: Run) -> Request:
        return Apply(self.node, self.epoch, self.positions, self.child.brought(run))


@dataclass(frozen=True, slots=True)
class Collate(Request):
    """One row made of all rows of another request."""

    node: int
    epoch: int
    number: int
    child: Request

    def __len__(self) -> int:
        return 1

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        yield self._one(run)

    def _one(self, run: Run) -> Outcome:
        collator: Collator = run.nodes[self.node]
        stacked = self.child.stacked(run) if collator.gathers else None
        if stacked is not None:
            return stacked
        start, inside = perf_counter(), sum(run.seconds.values())
        places = Places()
        try:
            place, rows = run.keeps(self.node), self.child.rows(run, places)
            rows = rows if place is None else iter(list(rows))
            with nullcontext() if place is None else place.turn(self.node):
                made = collator.collate(_good(rows, run), len(self.child), self.epoch, self.number, places)
        except Failed:
            if not run.tolerant:
                raise
            return run.failures.pop()  # no row of the batch is good: the batch is bad itself
        except Exception as error:
            return run.fail(error, self.node, f"batch {self.number} of epoch {self.epoch}, from {self.origin(0, run)}")
        own = perf_counter() - start - (sum(run.seconds.values()) - inside)
        run.seconds[self.node] = run.seconds.get(self.node, 0.0) + own
        return made

    def origin(self, i: int, run: Run) -> str:
        return f"{self.child.origin(0, run)} and {len(self.child) - 1} more" if len(self.child) else "an empty batch"

    def brought(self, run: Run) -> Request:
        return Collate(self.node, self.epoch, self.number, self.child.brought(run))


def _good(rows: Iterator[Outcome], run: Run) -> Iterator[Row]:
    """The rows that can be used; a bad one is replaced by its nearest good neighbour, when that was asked for."""
    last: Row | None = None
    owed = 0
    for row in rows:
        if isinstance(row, Failure):
            run.failures.append(row)
            if last is None:
                owed += 1
            else:
                yield last
        elif row is not None:
            for _ in range(owed + 1):
                yield row
            last, owed = row, 0
    if owed:
        raise Failed(run.failures[-1])


@dataclass(frozen=True, slots=True)
class Select(Request):
    """Some columns of another request."""

    columns: tuple[int, ...]
    child: Request

    def __len__(self) -> int:
        return len(self.child)

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        below = None if places is None else Selected(places, self.columns)
        for row in self.child.rows(run, below):
            yield tuple(row[c] for c in self.columns) if isinstance(row, tuple) else row

    def stacked(self, run: Run) -> Row | None:
        whole = self.child.stacked(run)
        return None if whole is None else tuple(whole[c] for c in self.columns)

    def ragged(self, run: Run) -> Columns | None:
        whole = self.child.ragged(run)
        return None if whole is None else tuple(whole[c] for c in self.columns)

    def origin(self, i: int, run: Run) -> str:
        return self.child.origin(i, run)

    def brought(self, run: Run) -> Request:
        return Select(self.columns, self.child.brought(run))


@dataclass(frozen=True, slots=True)
class Side(Request):
    """Rows of several requests next to each other: the columns of all."""

    children: tuple[Request, ...]

    def __len__(self) -> int:
        return len(self.children[0])

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        for parts in zip(*(c.rows(run) for c in self.children), strict=True):
            bad = next((p for p in parts if not isinstance(p, tuple)), ())
            yield bad if not isinstance(bad, tuple) else tuple(chain.from_iterable(p for p in parts if p is not None))

    def stacked(self, run: Run) -> Row | None:
        parts = []
        for child in self.children:
            part = child.stacked(run)
            if part is None:
                return None
            parts.append(part)
        return tuple(chain.from_iterable(parts))

    def origin(self, i: int, run: Run) -> str:
        return " zipped with ".join(c.origin(i, run) for c in self.children)

    def brought(self, run: Run) -> Request:
        return Side(tuple(c.brought(run) for c in self.children))


@dataclass(frozen=True, slots=True)
class Chain(Request):
    """Rows of several requests one after the other."""

    children: tuple[Request, ...]

    def __len__(self) -> int:
        return sum(map(len, self.children))

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        return chain.from_iterable(c.rows(run, places) for c in self.children)

    def stacked(self, run: Run) -> Row | None:
        if len(self) < 8 * len(self.children):
            return None  # many small pieces: row by row is as fast
        parts = [c.stacked(run) for c in self.children]
        whole = [p for p in parts if p is not None]
        return tuple(map(np.concatenate, zip(*whole, strict=True))) if len(whole) == len(parts) else None

    def ragged(self, run: Run) -> Columns | None:
        parts = []
        for child in self.children:
            part = child.ragged(run)
            if part is None:
                return None
            parts.append(part)
        return tuple(together(column) for column in zip(*parts, strict=True))

    def origin(self, i: int, run: Run) -> str:
        for child in self.children:
            if i < len(child):
                return child.origin(i, run)
            i -= len(child)
        return "past the end"

    def brought(self, run: Run) -> Request:
        return Chain(tuple(c.brought(run) for c in self.children))


@dataclass(frozen=True, slots=True)
class Joined(Request):
    """One row made of the columns of all rows of another request, of whatever length each of them is."""

    node: int
    child: Request

    def __len__(self) -> int:
        return 1

    def rows(self, run: Run, places: Places | None = None) -> Iterator[Outcome]:
        joiner: Joiner = run.nodes[self.node]
        try:
            columns = self.child.ragged(run)
            made: Outcome = None if columns is None else joiner.join_columns(columns)
            if made is None:
                made = joiner.join([row for row in self.child.rows(run) if isinstance(row, tuple)])
        except Failed:
            raise  # of a step below
        except Exception as error:
            made = run.fail(error, self.node, self.origin(0, run))
        yield made

    def origin(self, i: int, run: Run) -> str:
        return f"{self.child.origin(0, run)} and {len(self.child) - 1} more"

    def brought(self, run: Run) -> Request:
        return Joined(self.node, self.child.brought(run))


def chained(requests: Sequence[Request]) -> Request:
    """Rows of several requests one after the other; one alone stays as it is.

    >>> len(chained([Literal(((1,),)), Literal(((2,),))]))
    2
    """
    return requests[0] if len(requests) == 1 else Chain(tuple(requests))


def index_array(values: Iterable[int]) -> Array:
    """Indices or positions as an array.

    >>> index_array(range(3))
    array([0, 1, 2])
    """
    return np.fromiter(values, np.int64)
