"""Rows put together: batches of a size, padded, or of rows of similar length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mycelia.dataset.arrays import as_value, pad, stack
from mycelia.dataset.config import ErrorSamplesMode
from mycelia.dataset.describing import described
from mycelia.dataset.flow.buffers import Places
from mycelia.dataset.flow.request import Collate, Literal, Request, Row
from mycelia.dataset.flow.stream import BatchStream, RowStream, State
from mycelia.dataset.flow.table import BatchTable, Table
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.nodes import Compiler, Node
from mycelia.dataset.plan.operations import Function, name_of, outputs
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.types import Array


@frozen
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


@frozen(eq=False)
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

    @property
    def functions(self) -> tuple[Function, ...]:
        return () if self.per_batch is None else (self.per_batch,)

    @lazy
    def names(self) -> tuple[str, ...]:
        return outputs(self.child.columns, self.before, self.after) if self.per_batch else self.child.columns

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def countable(self) -> bool:
        return isinstance(self.size, int)

    def rows_of(self, sizes: Sequence[int], c: Compiler) -> int:
        assert isinstance(self.size, int), "countable"
        return sizes[0] // self.size if self.drop else -(-sizes[0] // self.size)

    def taken_below(self, rows: int, sizes: Sequence[int], c: Compiler) -> tuple[int, ...]:
        assert isinstance(self.size, int), "countable"
        return (min(rows * self.size, sizes[0]),)

    @property
    def gathers(self) -> bool:
        """Whether a batch is nothing but its rows stacked."""
        return self.per_batch is None and self.padding is None

    @property
    def quick(self) -> bool:
        return self.gathers and isinstance(self.size, int)

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

    def collate(self, rows: Iterable[Row], count: int, epoch: int, number: int, places: Places) -> Row:
        if self.gathers:
            return stack(rows, count, self.columns, places)
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
        made = tuple(_rows_of(c) for c in (made if isinstance(made, tuple) else (made,)))
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
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
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

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        number, below = state or (0, None)
        child = (
            c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
            if self._skips(c)
            else c.stream(self.child, epoch, below)
        )
        return BatchStream(c.number(self), epoch, child, lambda n: self.group(epoch, n), self.drop, number)


def _axis(value: Array) -> Array:
    if not value.ndim:
        raise ArgumentError(
            "a row that is a single number has no length",
            hint="give element_length_function, which says how long it is",
        )
    return np.asarray(len(value))


def _rows_of(column: Any) -> Any:
    """A column of a batch row by row; a dictionary of columns as a dictionary for every row."""
    if not isinstance(column, dict):
        return column
    parts = {k: list(_rows_of(v)) for k, v in column.items()}
    return [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]


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


@frozen(eq=False)
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

    @lazy
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
        length = _axis(values[0]) if self.length is None else as_value(self.length(*values))
        if length.size != 1 or length.dtype.kind not in "iu":
            raise ArgumentError(
                f"element_length_function must give a whole number, and gave {length.tolist()!r}",
                hint="for example lambda x: len(x)",
            )
        return int(np.searchsorted(self.bounds, int(length.reshape(())[()]), side="right"))

    def collate(self, rows: Iterable[Row], count: int, epoch: int, number: int, places: Places) -> Row:
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

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        empty: list[list[Any]] = [[] for _ in self.sizes]
        held, number, below = state or (empty, 0, None)
        child = c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
        return BucketStream(self, c.number(self), epoch, child, [list(rows) for rows in held], number)


@dataclass
class BucketStream(RowStream):
    """Buckets that fill, and leave as a batch when they are full."""

    node: BucketNode
    number: int
    epoch: int
    child: RowStream
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
