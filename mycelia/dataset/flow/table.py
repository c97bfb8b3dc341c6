"""Tables: the part of a pipeline whose k-th row can be asked for without making the rows before it.

A table turns (epoch, positions) into a request. Shuffling, repeating, taking and batching a table is arithmetic on
positions, so that resuming at any step costs nothing.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.indices import LARGE, Ordered, permutation, windowed
from mycelia.dataset.flow.request import Apply, Collate, Fetch, Request, Select, Side, chained
from mycelia.dataset.random import generator_for
from mycelia.types import Array

ENDLESS = 1 << 62  # rows of a table that repeats for ever
FOREVER = 1 << 40  # epochs within one epoch of such a table: the next one is mixed anew


class Table(ABC):
    """Rows that can be asked for by position."""

    @abstractmethod
    def size(self) -> int:
        """How many rows an epoch has."""

    @abstractmethod
    def request(self, epoch: int, positions: Array) -> Request:
        """The rows at `positions` of an epoch."""

    def reach(self, end: int) -> int:
        """The smaller of `end` and the number of rows; a source that finds its rows as it goes looks no further."""
        return min(end, self.size())


ENOUGH = 64


@dataclass
class Seals:
    """A short word for the order of every epoch: a state that was taken in one order is not taken up in another."""

    expected: Mapping[int, str] = field(default_factory=dict)
    seen: OrderedDict[int, str] = field(default_factory=OrderedDict)

    def check(self, epoch: int, order: Ordered) -> None:
        """Note the order of an epoch; raise when a state was taken in another.

        >>> seals = Seals(); seals.check(0, np.arange(3)); Seals(dict(seals.seen)).check(0, np.arange(4))
        Traceback (most recent call last):
        mycelia.dataset.errors.DataError: a sampler gives other indices for epoch 0 than when the state was taken
        ...
        """
        word = hashlib.sha256(np.ascontiguousarray(order[np.arange(len(order))], np.int64).tobytes()).hexdigest()[:16]
        if self.expected.get(epoch, word) != word:
            raise DataError(
                f"a sampler gives other indices for epoch {epoch} than when the state was taken",
                hint="let __iter__ draw from self.generator, which is the same in every run",
            )
        self.seen[epoch] = word
        while len(self.seen) > 256:
            self.seen.popitem(last=False)


@dataclass
class Order:
    """Which position holds which, for every epoch. The one before is kept while rows of both are asked for."""

    make: Callable[[int], Ordered]
    kept: OrderedDict[int, Ordered] = field(default_factory=OrderedDict)
    alone: int = 0  # how often only the newest was asked for
    seals: Seals | None = None  # when what is made may differ from call to call

    def of(self, epoch: int) -> Ordered:
        """The order of an epoch.

        >>> Order(lambda epoch: np.arange(3) + epoch).of(2)
        array([2, 3, 4])
        """
        if epoch not in self.kept:
            made = self.make(epoch)
            if self.seals is not None:
                self.seals.check(epoch, made)
            self.kept[epoch] = made
            self.alone = 0
        self.alone = self.alone + 1 if epoch == next(reversed(self.kept)) else 0
        while len(self.kept) > (1 if self.alone > ENOUGH else 2):
            self.kept.popitem(last=False)
        return self.kept[epoch]


@dataclass
class SourceTable(Table):
    """Rows of a source in the order of its sampler."""

    node: int
    count: int
    order: Order | None  # None: as they are stored

    def size(self) -> int:
        return self.count

    def request(self, epoch: int, positions: Array) -> Request:
        if self.order is None:
            return Fetch(self.node, positions)
        order = self.order.of(epoch)
        if len(order) != self.count:
            raise DataError(
                f"a sampler gave {self.count} indices in the first epoch and {len(order)} in epoch {epoch}",
                hint="let the sampler give the same number of indices in every epoch",
            )
        return Fetch(self.node, order[positions])


@runtime_checkable
class Gradual(Protocol):
    """A source that need not know all its rows to give the first of them."""

    def __len__(self) -> int: ...
    def reach(self, end: int) -> int: ...


@dataclass
class GradualTable(Table):
    """Rows of a source as they are stored, found as far as they are asked for."""

    node: int
    data: Gradual

    def size(self) -> int:
        return len(self.data)

    def request(self, epoch: int, positions: Array) -> Request:
        return Fetch(self.node, positions)

    def reach(self, end: int) -> int:
        return self.data.reach(end)


@dataclass
class ApplyTable(Table):
    """Every row through an operation."""

    node: int
    child: Table

    def size(self) -> int:
        return self.child.size()

    def request(self, epoch: int, positions: Array) -> Request:
        return Apply(self.node, epoch, positions, self.child.request(epoch, positions))

    def reach(self, end: int) -> int:
        return self.child.reach(end)


@dataclass
class SelectTable(Table):
    """Some columns."""

    columns: tuple[int, ...]
    child: Table

    def size(self) -> int:
        return self.child.size()

    def request(self, epoch: int, positions: Array) -> Request:
        return Select(self.columns, self.child.request(epoch, positions))

    def reach(self, end: int) -> int:
        return self.child.reach(end)


@dataclass
class BatchTable(Table):
    """Rows in groups of `group`, each made into one."""

    node: int
    child: Table
    group: int
    drop: bool

    def size(self) -> int:
        rows = self.child.size()
        return ENDLESS if rows >= ENDLESS else rows // self.group if self.drop else -(-rows // self.group)

    def request(self, epoch: int, positions: Array) -> Request:
        rows = self.child.reach((int(positions.max()) + 1) * self.group) if len(positions) else 0
        return chained(
            [
                Collate(
                    self.node,
                    epoch,
                    number,
                    self.child.request(epoch, np.arange(number * self.group, min(rows, (number + 1) * self.group))),
                )
                for number in positions.tolist()
            ]
        )

    def reach(self, end: int) -> int:
        rows = self.child.reach(min(end * self.group, ENDLESS))
        return min(end, rows // self.group if self.drop else -(-rows // self.group))


@dataclass
class SliceTable(Table):
    """The rows from `start` on, at most `count`."""

    child: Table
    start: int
    count: int

    def size(self) -> int:
        rows = self.child.size()
        return min(self.count, ENDLESS) if rows >= ENDLESS else max(0, min(self.count, rows - self.start))

    def request(self, epoch: int, positions: Array) -> Request:
        return self.child.request(epoch, positions + self.start)

    def reach(self, end: int) -> int:
        end = min(end, self.count)
        return max(0, min(end, self.child.reach(min(self.start + end, ENDLESS)) - self.start))


@dataclass
class RepeatTable(Table):
    """Epochs of another table one after the other, as one."""

    child: Table
    count: int  # 0: for ever

    def size(self) -> int:
        return self.child.size() * self.count if self.count and self.child.size() < ENDLESS else ENDLESS

    def request(self, epoch: int, positions: Array) -> Request:
        inner = self.child.size()
        if not inner:
            raise DataError("an empty dataset cannot be repeated for ever", hint="look at its filters and samplers")
        rounds = positions // inner
        first = epoch * (self.count or FOREVER)
        return chained(
            [
                self.child.request(first + int(rounds[a]), positions[a:b] - int(rounds[a]) * inner)
                for a, b in _runs(rounds)
            ]
        )


def _runs(groups: Array) -> list[tuple[int, int]]:
    """Where runs of equal numbers begin and end: a request is cut there."""
    cuts = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(groups)]
    return list(pairwise(cuts))


@dataclass
class ConcatTable(Table):
    """Several tables one after the other."""

    children: Sequence[Table]

    def size(self) -> int:
        return min(ENDLESS, sum(c.size() for c in self.children))

    def request(self, epoch: int, positions: Array) -> Request:
        ends = np.array([min(ENDLESS, e) for e in accumulate(c.size() for c in self.children)])
        which = np.searchsorted(ends, positions, side="right")
        parts = []
        for a, b in _runs(which):
            table = int(which[a])
            before = int(ends[table - 1]) if table else 0
            parts.append(self.children[table].request(epoch, positions[a:b] - before))
        return chained(parts)


@dataclass
class ZipTable(Table):
    """Several tables side by side, as long as the shortest."""

    children: Sequence[Table]

    def size(self) -> int:
        return min(c.size() for c in self.children)

    def request(self, epoch: int, positions: Array) -> Request:
        return Side(tuple(c.request(epoch, positions) for c in self.children))


@dataclass
class ShuffleTable(Table):
    """Another order of the same rows."""

    child: Table
    order: Order

    def size(self) -> int:
        return self.child.size()

    def request(self, epoch: int, positions: Array) -> Request:
        return self.child.request(epoch, self.order.of(epoch)[positions])


def buffer_order(count: int, buffer: int, seed: int, node: int, epoch: int) -> Ordered:
    """The order in which a shuffle buffer lets `count` rows out, without the rows.

    The buffer is filled; then a random slot is emptied and refilled with the next row, until the rows end; what is
    left comes out in random order. Slot r at time t holds the row that came in at the last earlier time slot r was
    emptied, which a stable sort finds for all t at once.

    >>> sorted(buffer_order(10, 4, 0, 0, 0).tolist()) == list(range(10))
    True
    >>> buffer_order(5, 1, 0, 0, 0).tolist()
    [0, 1, 2, 3, 4]
    """
    rng = generator_for(seed, epoch, node)
    if buffer >= count:
        return permutation(count, rng)
    if count >= LARGE:
        return windowed(count, buffer, rng)
    kind = np.int32
    slots = rng.integers(buffer, size=count - buffer, dtype=kind)
    by_slot = np.argsort(slots, kind="stable")
    same = slots[by_slot][1:] == slots[by_slot][:-1]
    out = slots.copy()  # a slot that was never emptied holds the row it was filled with
    out[by_slot[1:][same]] = by_slot[:-1][same] + buffer
    held = np.arange(buffer, dtype=kind)
    last = by_slot[np.append(~same, True)]
    held[slots[last]] = last + buffer
    rng.shuffle(held)
    return np.concatenate([out, held])
