"""Several datasets woven into one: mixed by weights, or a few rows of each in turn. Both know where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

import numpy as np

from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Request, chained
from mycelia.dataset.flow.stream import HOPELESS, RowStream, State
from mycelia.dataset.flow.table import ENDLESS, FOREVER, Table
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.nodes import Compiler, Node
from mycelia.dataset.random import generator_for
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.types import Array

LONGEST = 4096  # rows of a block, in which every dataset has its exact part
STOPS = ("first", "all", "never")


@frozen
class Weave:
    """Which dataset gives which row: blocks in which each has its exact part, in an order that the place draws.

    >>> pattern = Weave.of([3, 1], (0, 0)); pattern.quotas, sorted(pattern.block(0).tolist())
    ((3, 1), [0, 0, 0, 1])
    """

    quotas: tuple[int, ...]
    place: tuple[int, ...]

    @staticmethod
    def of(weights: Sequence[float], place: tuple[int, ...]) -> Weave:
        """The pattern that weights mean: exact where a block of at most LONGEST rows can be, else rounded to it."""
        whole = sum(map(Fraction, weights))
        parts = [(Fraction(w) / whole).limit_denominator(LONGEST) for w in weights]
        length = lcm(*(p.denominator for p in parts))
        if length > LONGEST or sum(parts) != 1:
            length = LONGEST
            parts = [Fraction(w) / whole for w in weights]
        quotas = [int(p * length) for p in parts]
        short = sorted(range(len(parts)), key=lambda i: quotas[i] - parts[i] * length)
        for i in short[: length - sum(quotas)]:
            quotas[i] += 1
        never = [w for w, quota in zip(weights, quotas, strict=True) if w > 0 and not quota]
        if never:
            raise ArgumentError(
                f"mix: a dataset of weight {never[0]!r} would never come, since that is less than one row in {LONGEST}",
                given={"weights": list(weights)},
                hint="give it a larger weight, or leave it out",
            )
        return Weave(tuple(quotas), place)

    @property
    def length(self) -> int:
        """The rows of a block."""
        return sum(self.quotas)

    def block(self, number: int) -> Array:
        """The datasets whose rows a block has, in order."""
        return _block(self.quotas, self.place, number)

    def choices(self, positions: Array) -> tuple[Array, Array]:
        """For every position, which dataset it takes a row of, and how many that has given before.

        >>> which, before = Weave.of([1, 1], (0,)).choices(np.arange(6)); sorted(before.tolist())
        [0, 0, 1, 1, 2, 2]
        """
        which, before = np.empty(len(positions), np.int64), np.empty(len(positions), np.int64)
        blocks, offsets = positions // self.length, positions % self.length
        for number in np.unique(blocks).tolist():
            chosen = blocks == number
            order = self.block(number)
            counts = np.empty(len(order), np.int64)
            for dataset, quota in enumerate(self.quotas):
                counts[order == dataset] = np.arange(quota) + number * quota
            which[chosen], before[chosen] = order[offsets[chosen]], counts[offsets[chosen]]
        return which, before

    def given(self, rows: int) -> tuple[int, ...]:
        """How many of the first rows each dataset has given.

        >>> Weave.of([3, 1], (0, 0)).given(8)
        (6, 2)
        """
        whole, some = divmod(rows, self.length)
        begun = np.bincount(self.block(whole)[:some], minlength=len(self.quotas))
        return tuple((whole * np.array(self.quotas) + begun).tolist())

    def position(self, dataset: int, row: int) -> int:
        """Where a dataset gives its row of that number.

        >>> Weave.of([1], (0,)).position(0, 7)
        7
        """
        quota = self.quotas[dataset]
        if not quota:
            return ENDLESS
        places = np.flatnonzero(self.block(row // quota) == dataset)
        return row // quota * self.length + int(places[row % quota])


@lru_cache(maxsize=256)
def _block(quotas: tuple[int, ...], place: tuple[int, ...], number: int) -> Array:
    order = np.repeat(np.arange(len(quotas)), quotas)
    generator_for(*place, number).shuffle(order)
    return order


def shared_columns(children: Sequence[Node], purpose: str) -> tuple[str, ...]:
    """The columns that all datasets have.

    >>> import mycelia.dataset as ds
    >>> shared_columns([ds.NumpySlicesDataset([1], ["x"]).plan], "mix")
    ('x',)
    """
    for other in children[1:]:
        if other.columns != children[0].columns:
            raise ArgumentError(
                f"{purpose}: the datasets have different columns",
                given={"first": list(children[0].columns), "another": list(other.columns)},
                hint="rename or project them first",
            )
    return children[0].columns


def ending(pattern: Weave, sizes: Sequence[int], stop: str) -> int:
    """The rows of datasets of some sizes that are mixed until the first, or the last, is asked for more than it has.

    >>> ending(Weave.of([1], (0,)), [7], "first")
    7
    """
    used = [(i, size) for i, size in enumerate(sizes) if pattern.quotas[i]]
    ends = [ENDLESS if size >= ENDLESS else pattern.position(i, size) for i, size in used]
    return {"first": min(ends), "all": max(ends), "never": ENDLESS}[stop]


@frozen(eq=False)
class MixNode(Node):
    """Datasets mixed by weights, until the first of them ends, or all have, or never."""

    weights: tuple[float, ...]
    stop: str

    @lazy
    def names(self) -> tuple[str, ...]:
        return shared_columns(self.children, "mix")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    def describe(self) -> dict[str, Any]:
        return {"weights": list(self.weights), "stop": self.stop}

    def pattern(self, c: Compiler) -> Weave:
        """Which dataset gives which row: the same in every epoch, so that all of them have as many rows."""
        seed = 0 if c.options.seed is None else c.seed  # the number of rows must be known, and shared, without one
        return Weave.of(self.weights, (seed, c.number(self)))

    def table(self, c: Compiler) -> Table | None:
        tables = [t for t in map(c.table, self.children) if t is not None]
        if len(tables) < len(self.children) or (self.stop != "first" and any(not t.size() for t in tables)):
            return None
        return MixTable(self.pattern(c), tables, self.stop)

    @property
    def countable(self) -> bool:
        return self.stop == "first"  # others begin their datasets anew

    def rows_of(self, sizes: Sequence[int], c: Compiler) -> int:
        return ending(self.pattern(c), sizes, self.stop)

    def taken_below(self, rows: int, sizes: Sequence[int], c: Compiler) -> tuple[int, ...]:
        return self.pattern(c).given(rows)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        pattern = self.pattern(c)
        unused = [not quota for quota in pattern.quotas]
        position, rounds, ended, below = state or (0, [0] * len(self.children), unused, None)
        states = below or [None] * len(self.children)

        def open(child: int, turn: int, inner: State = None) -> RowStream:
            return c.stream(self.children[child], epoch * FOREVER + turn if self.stop != "first" else epoch, inner)

        streams = [open(i, rounds[i], s) for i, s in enumerate(states)]
        return MixStream(pattern, streams, open, self.stop, position, list(rounds), list(ended))


@dataclass
class MixTable(Table):
    """Tables mixed by weights."""

    pattern: Weave
    children: Sequence[Table]
    stop: str

    @lazy
    def rows(self) -> int:
        """The rows of an epoch: up to where the first, or the last, of the tables is asked for more than it has."""
        return ending(self.pattern, [t.size() for t in self.children], self.stop)

    def size(self) -> int:
        return self.rows

    def request(self, epoch: int, positions: Array) -> Request:
        which, before = self.pattern.choices(positions)
        requests = []
        cuts = np.flatnonzero(np.diff(which)) + 1
        for a, b in zip([0, *cuts.tolist()], [*cuts.tolist(), len(which)], strict=True):
            table = self.children[int(which[a])]
            size = table.size()
            rounds = before[a:b] // size
            for turn in np.unique(rounds).tolist():
                rows = before[a:b][rounds == turn] - turn * size
                inner = epoch * FOREVER + turn if self.stop != "first" else epoch
                requests.append(table.request(inner, rows))
        return chained(requests)


@dataclass
class MixStream(RowStream):
    """Streams mixed by weights."""

    pattern: Weave
    children: list[RowStream]
    open: Any
    stop: str
    position: int
    rounds: list[int]
    ended: list[bool]
    over: bool = False

    def pull(self, most: int) -> Request | None:
        if self.over or (self.stop == "all" and all(self.ended)):
            return None
        which, _ = self.pattern.choices(np.array([self.position]))
        child = int(which[0])
        for _ in range(HOPELESS):
            below = self.children[child].pull(1)
            if below is not None:
                self.position += 1
                return below
            self.ended[child] = True
            if self.stop == "first" or (self.stop == "all" and all(self.ended)):
                self.over = True
                return None
            self.children[child].close()
            self.rounds[child] += 1
            self.children[child] = self.open(child, self.rounds[child])
        raise DataError(f"a dataset that is mixed in gave no row in {HOPELESS} epochs", hint="look at its filters")

    def snapshot(self) -> State:
        return [self.position, list(self.rounds), list(self.ended), [c.snapshot() for c in self.children]]

    def ready(self) -> bool:
        return all(c.ready() for c in self.children)

    def close(self) -> None:
        for child in self.children:
            child.close()


@frozen(eq=False)
class InterleaveNode(Node):
    """A few rows of each dataset in turn; one that ends makes room for the next."""

    cycle: int
    block: int

    @lazy
    def names(self) -> tuple[str, ...]:
        return shared_columns(self.children, "interleave")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    def describe(self) -> dict[str, Any]:
        return {"cycle_length": self.cycle, "block_length": self.block}

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        first = min(self.cycle, len(self.children))
        slots, turn, given, waiting, states = state or (list(range(first)), 0, 0, first, [None] * first)
        streams = [
            None if n is None else c.stream(self.children[n], epoch, s) for n, s in zip(slots, states, strict=True)
        ]
        return InterleaveStream(self, c, epoch, list(slots), streams, turn, given, waiting)


@dataclass
class InterleaveStream(RowStream):
    """Streams that take turns."""

    node: InterleaveNode
    compiler: Compiler
    epoch: int
    slots: list[int | None]  # which dataset each place of the cycle holds
    streams: list[RowStream | None]
    turn: int
    given: int  # rows that this turn has given
    waiting: int  # the next dataset that has no place yet

    def pull(self, most: int) -> Request | None:
        while any(s is not None for s in self.streams):
            stream = self.streams[self.turn]
            below = stream.pull(min(most, self.node.block - self.given)) if stream is not None else None
            if below is not None:
                self.given += len(below)
                if self.given >= self.node.block:
                    self._next()
                return below
            if stream is not None:
                stream.close()
                self._replace()
            self._next()
        return None

    def _next(self) -> None:
        self.turn, self.given = (self.turn + 1) % len(self.slots), 0

    def _replace(self) -> None:
        fresh = self.waiting if self.waiting < len(self.node.children) else None
        self.waiting += fresh is not None
        self.slots[self.turn] = fresh
        inner = None if fresh is None else self.compiler.stream(self.node.children[fresh], self.epoch, None)
        self.streams[self.turn] = inner

    def snapshot(self) -> State:
        states = [None if s is None else s.snapshot() for s in self.streams]
        return [list(self.slots), self.turn, self.given, self.waiting, states]

    def ready(self) -> bool:
        return all(s is None or s.ready() for s in self.streams)

    def close(self) -> None:
        for stream in self.streams:
            if stream is not None:
                stream.close()
