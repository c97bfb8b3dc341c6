"""Steps with work in them: map, filter, batch in its three forms, and the synchronisation point."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mycelia.dataset import random
from mycelia.dataset.arrays import as_value, pad, stack
from mycelia.dataset.callback import CallbackStream, DSCallback
from mycelia.dataset.config import ErrorSamplesMode
from mycelia.dataset.describing import described
from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Collate, Literal, Request, Row
from mycelia.dataset.flow.stream import ApplyStream, BatchStream, State, Stream
from mycelia.dataset.flow.table import ApplyTable, BatchTable, Table
from mycelia.dataset.fusion import fuse
from mycelia.dataset.plan import Compiler, Node, Turnstile, table_stream, unique
from mycelia.errors import ArgumentError

Function = Callable[..., Any]


def name_of(operation: Any) -> str:
    """What to call an operation in messages.

    >>> name_of(len)
    'len'
    """
    return getattr(operation, "__name__", type(operation).__name__)


def outputs(child: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """The columns after a map: in place when it gives as many as it takes, otherwise its own first.

    >>> outputs(["a", "b", "c"], ["b"], ["z"]), outputs(["a", "b"], ["b"], ["x", "y"])
    (('a', 'z', 'c'), ('x', 'y', 'a'))
    """
    if len(before) == len(after):
        new = dict(zip(before, after, strict=True))
        return unique([new.get(n, n) for n in child], "map")
    rest = [n for n in child if n not in before and n not in after]
    return unique([*after, *rest], "map")


@dataclass(frozen=True, eq=False)
class MapNode(Node):
    """Operations applied to some columns of every row."""

    operations: tuple[Function, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    alone: bool = False  # one worker was asked for: calls do not overlap
    callbacks: tuple[DSCallback, ...] = ()
    turn: Turnstile = field(default_factory=Turnstile)

    works = True

    @property
    def label(self) -> str:
        return f"Map({', '.join(map(name_of, self.operations))})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return outputs(self.child.columns, self.before, self.after)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @cached_property
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(self.before, "map")

    @cached_property
    def fused(self) -> tuple[tuple[int, Function], ...]:
        """The operations with the numbers of their random places, some put together where that is faster."""
        return fuse(self.operations)

    @cached_property
    def arranged(self) -> tuple[tuple[bool, int], ...]:
        """For every column afterwards: whether it is new, and where it comes from."""
        new = {n: i for i, n in enumerate(self.after)}
        return tuple((True, new[n]) if n in new else (False, self.child.columns.index(n)) for n in self.names)

    def describe(self) -> dict[str, Any]:
        return {
            "operations": [described(o) for o in self.operations],
            "input_columns": list(self.before),
            "output_columns": list(self.after),
        }

    def apply(self, row: Row, seed: int, epoch: int, position: int, node: int) -> Row:
        if self.alone:
            with self.turn:
                return self._apply(row, seed, epoch, position, node)
        return self._apply(row, seed, epoch, position, node)

    def _apply(self, row: Row, seed: int, epoch: int, position: int, node: int) -> Row:
        values: tuple[Any, ...] = tuple(row[i] for i in self.taken)
        for number, operation in self.fused:
            random.enter(random.Key(seed, epoch, position, node * 256 + number))
            made = operation(*values)
            values = made if isinstance(made, tuple) else (made,)
        random.enter(None)
        if len(values) != len(self.after):
            raise ArgumentError(
                f"{self.label} gave {len(values)} values for {len(self.after)} columns",
                given={"output_columns": list(self.after)},
                hint="name them in output_columns",
            )
        return tuple(as_value(values[i]) if new else row[i] for new, i in self.arranged)

    def table(self, c: Compiler) -> Table | None:
        below = c.table(self.child)
        return None if below is None or self.callbacks else ApplyTable(c.number(self), below)

    def stream(self, c: Compiler, epoch: int, state: State) -> Stream:
        count, below = state or (0, None)
        rows = ApplyStream(c.number(self), epoch, c.stream(self.child, epoch, below), count)
        if not self.callbacks:
            return rows
        table = c.table(self.child)
        return CallbackStream(rows, self.callbacks, epoch, count, None if table is None else table.size())


@dataclass(frozen=True, eq=False)
class FilterNode(Node):
    """The rows for which a predicate holds."""

    predicate: Function
    before: tuple[str, ...]

    works = True
    materialises = True

    @property
    def label(self) -> str:
        return f"Filter({name_of(self.predicate)})"

    @cached_property
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(self.before, "filter") if self.before else tuple(range(len(self.child.columns)))

    def describe(self) -> dict[str, Any]:
        return {"predicate": described(self.predicate), "input_columns": list(self.before)}

    def apply(self, row: Row, seed: int, epoch: int, position: int, node: int) -> Row | None:
        random.enter(random.Key(seed, epoch, position, node * 256))
        verdict = np.asarray(as_value(self.predicate(*(row[i] for i in self.taken))))
        random.enter(None)
        if verdict.size != 1:
            raise ArgumentError(f"{self.label} must give one truth value, and gave an array of shape {verdict.shape}")
        return row if bool(verdict.reshape(())[()]) else None

    def stream(self, c: Compiler, epoch: int, state: State) -> Stream:
        below = c.table(self.child)
        number = c.number(self)
        if below is not None:
            return c.materialised(self, table_stream(ApplyTable(number, below), epoch, state), epoch, state)
        count, inner = state or (0, None)
        tested = ApplyStream(number, epoch, c.stream(self.child, epoch, inner), count)
        return c.materialised(self, tested, epoch, state)


@dataclass(frozen=True)
class BatchInfo:
    """Where a batch stands: given to `per_batch_map` and to a batch size that is a function.

    >>> BatchInfo(2, 7).get_batch_num()
    7
    """

    epoch: int
    number: int

    def get_epoch_num(self) -> int:
        """The epoch, counted from 0.

        >>> BatchInfo(2, 7).get_epoch_num()
        2
        """
        return self.epoch

    def get_batch_num(self) -> int:
        """The batch within its epoch, counted from 0.

        >>> BatchInfo(2, 7).get_batch_num()
        7
        """
        return self.number


Padding = dict[str, tuple[Sequence[int | None] | None, Any]]


@dataclass(frozen=True, eq=False)
class BatchNode(Node):
    """Rows put together into batches."""

    size: int | Callable[[BatchInfo], int]
    drop: bool
    per_batch: Function | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    padding: Padding | None = None  # None: rows must have one shape

    works = True

    @property
    def label(self) -> str:
        return "Batch" if self.per_batch is None else f"Batch({name_of(self.per_batch)})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return outputs(self.child.columns, self.before, self.after) if self.per_batch else self.child.columns

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def gathers(self) -> bool:
        """Whether a batch is nothing but its rows stacked."""
        return self.per_batch is None and self.padding is None

    def describe(self) -> dict[str, Any]:
        size = self.size if isinstance(self.size, int) else described(self.size)
        pad_info = None if self.padding is None else {k: [v[0], v[1]] for k, v in self.padding.items()}
        return {
            "batch_size": size,
            "drop_remainder": self.drop,
            "per_batch_map": None if self.per_batch is None else described(self.per_batch),
            "input_columns": list(self.before),
            "output_columns": list(self.after),
            "pad_info": pad_info,
        }

    def collate(self, rows: Iterable[Row], count: int, epoch: int, number: int) -> Row:
        if self.per_batch is not None:
            rows, count = self._mapped(rows, BatchInfo(epoch, number))
        if self.padding is not None:
            rows = padded(list(rows), self.padding, self.columns)
        return stack(rows, count, self.columns)

    def _mapped(self, rows: Iterable[Row], info: BatchInfo) -> tuple[Iterable[Row], int]:
        columns = [list(c) for c in zip(*rows, strict=True)]
        taken = self.child.index_of(self.before, "batch")
        assert self.per_batch is not None, "asked by the caller"
        made = self.per_batch(*(columns[i] for i in taken), info)
        made = made if isinstance(made, tuple) else (made,)
        if len(made) != len(self.after):
            raise ArgumentError(
                f"per_batch_map gave {len(made)} columns, and {len(self.after)} are named",
                given={"output_columns": list(self.after)},
            )
        new = dict(zip(self.after, made, strict=True))
        whole = [new[n] if n in new else columns[self.child.columns.index(n)] for n in self.names]
        sizes = {len(c) for c in whole}
        if len(sizes) != 1:
            raise ArgumentError(f"per_batch_map gave columns of different lengths {sorted(sizes)}")
        return zip(*whole, strict=True), sizes.pop()

    def group(self, epoch: int, number: int) -> int:
        """How many rows a batch has."""
        if isinstance(self.size, int):
            return self.size
        size = self.size(BatchInfo(epoch, number))
        if not isinstance(size, int | np.integer) or size < 1:
            raise ArgumentError(f"the batch size function gave {size!r} for batch {number}")
        return int(size)

    def _skips(self, c: Compiler) -> bool:
        """Whether rows may be left out below, so that a batch cannot say beforehand which rows it has."""
        return c.options.error_samples_mode is ErrorSamplesMode.SKIP

    def table(self, c: Compiler) -> Table | None:
        below = c.table(self.child)
        if below is None or not isinstance(self.size, int) or self._skips(c):
            return None
        return BatchTable(c.number(self), below, self.size, self.drop)

    def stream(self, c: Compiler, epoch: int, state: State) -> Stream:
        number, below = state or (0, None)
        child = (
            c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
            if self._skips(c)
            else c.stream(self.child, epoch, below)
        )
        return BatchStream(c.number(self), epoch, child, lambda n: self.group(epoch, n), self.drop, number)


def padded(rows: list[Row], info: Padding, columns: Sequence[str]) -> Iterator[Row]:
    """The rows with the named columns padded to one shape; an empty `info` pads every column.

    >>> [r[0].tolist() for r in padded([(np.array([1]),), (np.array([1, 2]),)], {}, ["a"])]
    [[1, 0], [1, 2]]
    """
    whole = [list(c) for c in zip(*rows, strict=True)]
    for i, name in enumerate(columns):
        if not info or name in info:
            shape, fill = info.get(name, (None, None))
            whole[i] = pad(whole[i], shape, fill)
    return zip(*whole, strict=True)


@dataclass(frozen=True, eq=False)
class BucketNode(Node):
    """Rows of similar length put into one batch."""

    by: tuple[str, ...]
    bounds: tuple[int, ...]
    sizes: tuple[int, ...]
    length: Function | None
    padding: Padding
    to_bound: bool
    drop: bool

    works = True
    materialises = True
    gathers = False

    @cached_property
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(self.by, "bucket_batch_by_length")

    def describe(self) -> dict[str, Any]:
        return {
            "column_names": list(self.by),
            "bucket_boundaries": list(self.bounds),
            "bucket_batch_sizes": list(self.sizes),
            "element_length_function": None if self.length is None else described(self.length),
            "pad_info": {k: [v[0], v[1]] for k, v in self.padding.items()},
            "pad_to_bucket_boundary": self.to_bound,
            "drop_remainder": self.drop,
        }

    def bucket(self, row: Row) -> int:
        """Which bucket a row belongs to."""
        values = [row[i] for i in self.taken]
        length = len(values[0]) if self.length is None else int(as_value(self.length(*values)))
        return int(np.searchsorted(self.bounds, length, side="right"))

    def collate(self, rows: Iterable[Row], count: int, epoch: int, number: int) -> Row:
        listed = list(rows)
        padding = dict(self.padding)
        if self.to_bound:
            bucket = self.bucket(listed[0])
            if bucket == len(self.bounds):
                raise ArgumentError(
                    "pad_to_bucket_boundary: a row is longer than the last boundary",
                    given={"bucket_boundaries": list(self.bounds)},
                )
            bound = self.bounds[bucket] - 1
            for name in self.columns:
                shape, fill = padding.get(name, ([None] * listed[0][self.columns.index(name)].ndim, None))
                padding[name] = ([bound if s is None else s for s in shape or []], fill)
        return stack(padded(listed, padding, self.columns), count, self.columns)

    def stream(self, c: Compiler, epoch: int, state: State) -> Stream:
        empty: list[list[Any]] = [[] for _ in self.sizes]
        held, number, below = state or (empty, 0, None)
        child = c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
        return BucketStream(self, c.number(self), epoch, child, [list(rows) for rows in held], number)


@dataclass
class BucketStream(Stream):
    """Buckets that fill, and leave as a batch when they are full."""

    node: BucketNode
    number: int
    epoch: int
    child: Stream
    held: list[list[Any]]
    count: int
    ended: bool = False

    def pull(self, most: int) -> Request | None:
        while not self.ended:
            below = self.child.pull(1)
            if below is None:
                self.ended = True
                break
            assert isinstance(below, Literal), "rows below a bucket are made"
            row = below.ready[0]
            assert isinstance(row, tuple), "bad rows were left out below"
            bucket = self.node.bucket(row)
            self.held[bucket].append(row)
            if len(self.held[bucket]) >= self.node.sizes[bucket]:
                return self._leave(bucket)
        rest = [] if self.node.drop else [b for b, rows in enumerate(self.held) if rows]
        return self._leave(rest[0]) if rest else None

    def _leave(self, bucket: int) -> Request:
        rows, self.held[bucket] = self.held[bucket], []
        self.count += 1
        return Collate(self.number, self.epoch, self.count - 1, Literal(tuple(rows)))

    def snapshot(self) -> State:
        return [[list(h) for h in self.held], self.count, self.child.snapshot()]

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self.child.close()


class Gate:
    """Lets `num_batch` rows pass for every `sync_update`."""

    def __init__(self, callback: Callable[..., Any] | None, step: int) -> None:
        self.callback, self.step = callback, step
        self.changed = threading.Condition()
        self.reset()

    def __reduce__(self) -> tuple[Any, ...]:
        return Gate, (None, self.step)  # workers never wait at it

    def reset(self) -> None:
        """A new run begins."""
        self.allowed, self.passed, self.enabled = self.step, 0, True

    def update(self, num_batch: int | None, data: Any) -> None:
        """The reader's word that more may pass; its data goes to the callback first."""
        with self.changed:
            if self.callback is not None:
                self.callback(data)
            self.allowed += self.step if num_batch is None else num_batch
            self.changed.notify_all()

    def open(self) -> bool:
        """Whether a row may pass now."""
        return not self.enabled or self.passed < self.allowed

    def disable(self) -> None:
        """Let everything pass from now on."""
        with self.changed:
            self.enabled = False
            self.changed.notify_all()

    def wait(self, seconds: float, name: str) -> None:
        """Return when a row may pass."""
        with self.changed:
            if not self.changed.wait_for(self.open, seconds):
                raise DataError(
                    f"sync_wait({name!r}) has waited {seconds} s for sync_update",
                    hint="call dataset.sync_update with this condition_name after every num_batch batches",
                )


@dataclass(frozen=True, eq=False)
class SyncNode(Node):
    """A point that rows pass only when the reader says so."""

    condition: str
    gate: Gate

    materialises = True

    def describe(self) -> dict[str, Any]:
        return {"condition_name": self.condition, "num_batch": self.gate.step}

    def stream(self, c: Compiler, epoch: int, state: State) -> Stream:
        child = c.materialised(self, c.stream(self.child, epoch, state), epoch, state)
        return SyncStream(child, self.gate, self.condition, c.options.callback_timeout)


@dataclass
class SyncStream(Stream):
    """Rows that wait at a gate."""

    child: Stream
    gate: Gate
    name: str
    seconds: float

    def pull(self, most: int) -> Request | None:
        below = self.child.pull(1)
        if below is None:
            return None
        self.gate.wait(self.seconds, self.name)
        self.gate.passed += 1
        return below

    def snapshot(self) -> State:
        return self.child.snapshot()

    def ready(self) -> bool:
        return self.gate.open()

    def close(self) -> None:
        self.child.close()
