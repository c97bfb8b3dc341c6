"""The plan: immutable nodes that say what a pipeline does. Each knows its columns, and becomes a table or a stream.

A node is also what workers look up: a request names a node by number, and calls its `fetch`, `apply` or `collate`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import accumulate
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mycelia.dataset.arrays import as_value
from mycelia.dataset.config import PipelineOptions
from mycelia.dataset.flow.indices import Indices
from mycelia.dataset.flow.request import Columns, Row
from mycelia.dataset.flow.stream import (
    IterableStream,
    RowStream,
    SelectStream,
    SequenceStream,
    ShuffleStream,
    SliceStream,
    State,
    TableStream,
    ZipStream,
)
from mycelia.dataset.flow.table import (
    ENDLESS,
    FOREVER,
    ConcatTable,
    Gradual,
    GradualTable,
    Order,
    RepeatTable,
    SelectTable,
    ShuffleTable,
    SliceTable,
    SourceTable,
    Table,
    ZipTable,
    buffer_order,
)
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.samplers import Labels, Sampler, SequentialSampler
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.names import nearest
from mycelia.types import Array


class Compiler(Protocol):
    """What a node asks of the one who turns a plan into a running pipeline."""

    seed: int
    options: PipelineOptions

    def number(self, node: Node) -> int: ...
    def order(self, node: Node, sampler: Sampler, count: int, labels: Labels | None) -> Order: ...
    def table(self, node: Node) -> Table | None: ...
    def stream(self, node: Node, epoch: int, state: State) -> RowStream: ...
    def materialised(self, owner: Node, rows: RowStream, epoch: int, state: State) -> RowStream: ...
    def apart(self) -> bool: ...


class Turnstile:
    """Lets so many pass at once; crosses process borders by being made anew there.

    >>> with (turnstile := Turnstile(2)), turnstile:
    ...     turnstile.lock.acquire(blocking=False)
    False
    """

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self.renew()

    def renew(self) -> None:
        """Begin anew in a forked process, where a thread that was not copied may have been inside."""
        self.lock = threading.Semaphore(self.count)

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return Turnstile, (self.count,)


def own(operation: Any) -> bool:
    """Whether an operation and all that it is made of are ours or NumPy's: neither who calls it nor when can be told.

    >>> own(abs), own(np.log), own(lambda x: x), own([].append)
    (True, True, False, False)
    """
    bound = getattr(operation, "__self__", None)
    if bound is not None and not isinstance(bound, ModuleType):
        return False
    named = operation if hasattr(operation, "__qualname__") else type(operation)
    if "<" in named.__qualname__:  # made inside a function
        return False
    if (getattr(named, "__module__", None) or "").partition(".")[0] not in ("mycelia", "numpy", "builtins"):
        return False
    return all(own(part) for value in vars_of(operation) for part in callables(value))


def vars_of(operation: Any) -> Iterable[Any]:
    """What an instance holds; functions and classes hold nothing that counts."""
    return () if hasattr(operation, "__qualname__") else getattr(operation, "__dict__", {}).values()


def callables(value: Any) -> Iterator[Any]:
    """The functions in a value, or in a list of them."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from callables(part)
    elif callable(value):
        yield value


@frozen(eq=False)
class Node(ABC):
    """One step of a plan."""

    children: tuple[Node, ...] = field(default=(), kw_only=True)
    workers: int | None = field(default=None, kw_only=True)
    processes: bool = field(default=False, kw_only=True)
    max_rowsize: int | None = field(default=None, kw_only=True)  # megabytes of an answer in shared memory

    works = False  # whether it has work for a worker
    materialises = False  # whether the rows below are made before this node decides

    @property
    def quick(self) -> bool:
        """Whether its rows may be made where they are asked for: no user's function, and nothing to wait for."""
        return not self.works and not self.materialises

    @property
    def functions(self) -> tuple[Any, ...]:
        """The functions that it calls while rows are made."""
        return ()

    def site(self, workers: int) -> int | None:
        """Where it works: in how many processes, at home (0) for the sake of a user's function, or anywhere."""
        if self.processes:
            return self.workers or workers
        return 0 if not all(map(own, self.functions)) else None

    def in_order(self, workers: int) -> bool:
        """Whether rows come to it one after the other, as to the single worker that was asked for."""
        return (self.workers or workers) == 1 and not self.processes and not all(map(own, self.functions))

    @property
    def child(self) -> Node:
        return self.children[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.child.columns

    @property
    def label(self) -> str:
        """The step in words, for errors and reports."""
        return type(self).__name__.removesuffix("Node")

    def told(self) -> str:
        """The step and those before it, in words."""
        before = ", ".join(child.told() for child in self.children)
        before = f"({before})" if len(self.children) > 1 else before
        return f"{self.label} of {before}" if before else self.label

    def describe(self) -> dict[str, Any]:
        """The arguments of the step as plain data."""
        return {}

    def table(self, c: Compiler) -> Table | None:
        """The step as a table, when its k-th row can be had without the rows before."""
        return None

    @abstractmethod
    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        """The step as a stream, from its beginning or from a state it gave."""

    @property
    def countable(self) -> bool:
        """Whether the number of rows that it gave tells how many it took of each step below; the next two do."""
        return False

    def rows_of(self, sizes: Sequence[int], c: Compiler) -> int:
        """How many rows it has when the steps below have so many."""
        return sizes[0]

    def taken_below(self, rows: int, sizes: Sequence[int], c: Compiler) -> tuple[int, ...]:
        """How many rows of each step below are gone when it has given its first `rows`."""
        return (rows,)

    def index_of(self, names: Sequence[str], purpose: str) -> tuple[int, ...]:
        """Where columns stand, or an error that tells which there are."""
        missing = [n for n in names if n not in self.columns]
        if missing:
            raise ArgumentError(
                f"{purpose}: there is no column {missing}",
                given={"columns": list(self.columns)},
                hint=nearest(str(missing[0]), self.columns),
            )
        return tuple(self.columns.index(n) for n in names)


def unique(names: Sequence[str], purpose: str) -> tuple[str, ...]:
    """The names, each only once.

    >>> unique(["a", "b"], "zip")
    ('a', 'b')
    """
    twice = sorted({n for n in names if list(names).count(n) > 1})
    if twice:
        raise ArgumentError(f"{purpose}: two columns have the name {twice}", hint="rename one of them first")
    return tuple(names)


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

    def table(self, c: Compiler) -> Table | None:
        number = c.number(self)
        if self.whole and isinstance(self.data, Gradual) and not c.apart():
            return GradualTable(number, self.data)
        count = len(self.data)
        if self.whole:
            return SourceTable(number, count, None)
        order = c.order(self, self.sampler, count, self.data.labels)
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


def table_stream(table: Table, epoch: int, state: State) -> RowStream:
    """A table as a stream from where it stood.

    >>> table_stream(SourceTable(0, 5, None), 0, 3).snapshot()
    3
    """
    return TableStream(table, epoch, state or 0)
