"""The plan: immutable nodes that say what a pipeline does. Each knows its columns, and becomes a table or a stream.

A node is also what workers look up: a request names a node by number, and calls its `fetch`, `apply` or `collate`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from types import ModuleType
from typing import Any, Protocol

from mycelia.dataset.config import PipelineOptions
from mycelia.dataset.flow.stream import RowStream, State, TableStream
from mycelia.dataset.flow.table import Order, Table
from mycelia.dataset.plan.samplers import Labels, Sampler
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.names import nearest


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

    >>> import numpy as np
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


def table_stream(table: Table, epoch: int, state: State) -> RowStream:
    """A table as a stream from where it stood.

    >>> from mycelia.dataset.flow.table import SourceTable
    >>> table_stream(SourceTable(0, 5, None), 0, 3).snapshot()
    3
    """
    return TableStream(table, epoch, state or 0)
