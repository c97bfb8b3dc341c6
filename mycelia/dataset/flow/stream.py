"""Streams: rows that come one after the other, where the next one depends on values (filters) or on outside iterators.

A stream hands out requests too, so that the work still goes to the workers, and it can say at any time where it stands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mycelia.dataset.errors import DataError, Failed, Failure
from mycelia.dataset.flow.request import (
    Apply,
    Collate,
    Literal,
    Outcome,
    Request,
    Row,
    Select,
    Side,
    chained,
)
from mycelia.dataset.flow.table import Table
from mycelia.dataset.random import Generator, generator_for

State = Any  # numbers, lists, dictionaries, rows and requests; `flow.saving` makes plain data of it
HOPELESS = 1000  # bad rows, or epochs without a row, in succession


class RowStream(ABC):
    """Rows of one epoch, in order."""

    @abstractmethod
    def pull(self, most: int) -> Request | None:
        """The next rows, at least one and at most `most`; None when there are no more."""

    @abstractmethod
    def snapshot(self) -> State:
        """Where the stream stands, after what was pulled last."""

    def ready(self) -> bool:
        """Whether `pull` gives an answer without waiting for the reader."""
        return True

    def at_hand(self) -> bool:
        """Whether `pull` gives a row that is made already."""
        return False

    def close(self) -> None:  # noqa: B027 - most streams hold nothing
        """Let go of workers and files."""


@dataclass
class TableStream(RowStream):
    """A table from a position on."""

    table: Table
    epoch: int
    position: int = 0

    def pull(self, most: int) -> Request | None:
        end = self.table.reach(self.position + most)
        if end <= self.position:
            return None
        positions = np.arange(self.position, end)
        self.position = end
        return self.table.request(self.epoch, positions)

    def snapshot(self) -> State:
        return self.position


@dataclass
class IterableStream(RowStream):
    """An iterator made anew for every epoch; it is resumed by its own `load_state_dict`, or by passing over rows."""

    make: Callable[[], Iterator[Any]]
    convert: Callable[[Any], Row]
    label: str
    limit: int
    start: State
    count: int = 0
    iterator: Iterator[Any] | None = None
    bad: int = 0  # rows in succession that were errors

    def _open(self) -> Iterator[Any]:
        try:
            self.iterator = self.make()
            if self.start is None:
                return self.iterator
            count, own = self.start
            if own is not None and hasattr(self.iterator, "load_state_dict"):
                self.iterator.load_state_dict(own)
                self.count = count
        except Exception as error:
            raise Failed(self._failure(error)) from error
        self._pass_over(count)
        return self.iterator

    def _pass_over(self, count: int) -> None:
        """Leave rows behind; a state may tell of more than there are."""
        assert self.iterator is not None, "opened before"
        bad, ended = 0, object()
        while self.count < count and bad <= HOPELESS:
            try:
                if next(self.iterator, ended) is ended:
                    return
                bad = 0
            except Exception:  # it was told when the row was asked for the first time
                bad += 1
            self.count += 1

    def pull(self, most: int) -> Request | None:
        iterator = self._open() if self.iterator is None else self.iterator
        rows: list[Outcome] = []
        first = self.count
        while len(rows) < most and self.count < self.limit:
            row = self._next(iterator)
            if row is None:
                break
            rows.append(row)
            self.count += 1
        origins = tuple(f"row {i} of {self.label}" for i in range(first, self.count))
        return Literal(tuple(rows), origins) if rows else None

    def _next(self, iterator: Iterator[Any]) -> Outcome:
        """The next row, or what went wrong with it; None when there are no more."""
        try:
            row = self.convert(next(iterator))
        except StopIteration:
            return None
        except Exception as error:
            self.bad += 1
            if self.bad > HOPELESS:
                raise Failed(self._failure(error)) from error
            return self._failure(error)
        self.bad = 0
        return row

    def _failure(self, error: Exception) -> Failure:
        return Failure.of(error, self.label, f"row {self.count} of {self.label}")

    def snapshot(self) -> State:
        own = getattr(self.iterator, "state_dict", None)
        return self.start if self.iterator is None else (self.count, own() if own else None)

    def close(self) -> None:
        finish = getattr(self.iterator, "close", None)
        if finish is not None:
            finish()


@dataclass
class ApplyStream(RowStream):
    """Every row through an operation."""

    node: int
    epoch: int
    child: RowStream
    count: int

    def pull(self, most: int) -> Request | None:
        below = self.child.pull(most)
        if below is None:
            return None
        positions = np.arange(self.count, self.count + len(below))
        self.count += len(below)
        return Apply(self.node, self.epoch, positions, below)

    def snapshot(self) -> State:
        return [self.count, self.child.snapshot()]

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()


@dataclass
class SelectStream(RowStream):
    """Some columns."""

    columns: tuple[int, ...]
    child: RowStream

    def pull(self, most: int) -> Request | None:
        below = self.child.pull(most)
        return None if below is None else Select(self.columns, below)

    def snapshot(self) -> State:
        return self.child.snapshot()

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()


@dataclass
class BatchStream(RowStream):
    """Rows in groups whose size may change from batch to batch."""

    node: int
    epoch: int
    child: RowStream
    group: Callable[[int], int]
    drop: bool
    number: int
    waiting: list[Request] = field(default_factory=list)  # rows of a batch that is not full yet

    def pull(self, most: int) -> Request | None:
        want = self.group(self.number)
        have = sum(map(len, self.waiting))
        while have < want:
            below = self.child.pull(want - have)
            if below is None:
                break
            self.waiting.append(below)
            have += len(below)
        if not have or (have < want and self.drop):
            return None
        request = Collate(self.node, self.epoch, self.number, chained(self.waiting))
        self.waiting = []
        self.number += 1
        return request

    def snapshot(self) -> State:
        return [self.number, self.child.snapshot()]

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()


@dataclass
class SliceStream(RowStream):
    """The rows from `start` on, at most `count`."""

    child: RowStream
    start: int
    count: int
    seen: int

    def pull(self, most: int) -> Request | None:
        while self.seen < self.start:
            passed = self.child.pull(self.start - self.seen)
            if passed is None:
                return None
            self.seen += len(passed)
        left = self.start + self.count - self.seen
        below = self.child.pull(min(most, left)) if left > 0 else None
        self.seen += len(below) if below is not None else 0
        return below

    def snapshot(self) -> State:
        return [self.seen, self.child.snapshot()]

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()


@dataclass
class SequenceStream(RowStream):
    """Several streams one after the other, each opened when its turn comes: repeat and concat."""

    open: Callable[[int, State], RowStream]
    count: int
    turn: int
    current: RowStream | None = None
    empty: int = 0

    def pull(self, most: int) -> Request | None:
        while self.turn < self.count:
            if self.current is None:
                self.current = self.open(self.turn, None)
            below = self.current.pull(most)
            if below is not None:
                self.empty = 0
                return below
            self.current.close()
            self.current = None
            self.turn += 1
            self.empty += 1
            if self.empty > HOPELESS:
                raise DataError(f"a dataset that repeats gave no row in {HOPELESS} epochs", hint="look at its filters")
        return None

    def snapshot(self) -> State:
        return [self.turn, None if self.current is None else self.current.snapshot()]

    def ready(self) -> bool:
        return self.current is None or self.current.ready()

    def close(self) -> None:
        if self.current is not None:
            self.current.close()


@dataclass
class ZipStream(RowStream):
    """Several streams side by side, as long as the shortest."""

    children: Sequence[RowStream]

    def pull(self, most: int) -> Request | None:
        parts = []
        for child in self.children:
            part = child.pull(1)
            if part is None:
                return None
            parts.append(part)
        return Side(tuple(parts))

    def snapshot(self) -> State:
        return [c.snapshot() for c in self.children]

    def ready(self) -> bool:
        return all(c.ready() for c in self.children)

    def close(self) -> None:
        for child in self.children:
            child.close()


@dataclass
class ShuffleStream(RowStream):
    """A buffer of rows that are let out at random."""

    child: RowStream
    buffer: int
    rng: Generator
    held: list[Request] = field(default_factory=list)
    ended: bool = False

    @staticmethod
    def at(child: RowStream, buffer: int, place: tuple[int, ...], state: State) -> ShuffleStream:
        """The stream at its beginning, or where `snapshot` said it stood."""
        rng = generator_for(*place)
        if state is None:
            return ShuffleStream(child, buffer, rng)
        rng.bit_generator.state = state["rng"]
        held = list(state["held"])
        if not all(isinstance(row, Request) and len(row) == 1 for row in held):
            raise ValueError("what a shuffle holds are rows")
        return ShuffleStream(child, buffer, rng, held, bool(state["ended"]))

    def pull(self, most: int) -> Request | None:
        while len(self.held) < self.buffer and not self.ended:
            below = self.child.pull(1)
            if below is None:
                self.ended = True
            else:
                self.held.append(below)
        if not self.held:
            return None
        slot = int(self.rng.integers(len(self.held)))
        self.held[slot], self.held[-1] = self.held[-1], self.held[slot]
        return self.held.pop()

    def snapshot(self) -> State:
        state = self.rng.bit_generator.state
        return {"rng": state, "held": tuple(self.held), "ended": self.ended, "child": self.child.snapshot()}

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()
