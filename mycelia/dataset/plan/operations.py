"""Steps that work on one row: map and filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from sys import getrefcount
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from mycelia.dataset import random
from mycelia.dataset.arrays import as_value
from mycelia.dataset.callback import CallbackStream, DSCallback
from mycelia.dataset.describing import described
from mycelia.dataset.flow.buffers import Places
from mycelia.dataset.flow.ragged import Ragged
from mycelia.dataset.flow.request import Columns, Row
from mycelia.dataset.flow.stream import ApplyStream, RowStream, State
from mycelia.dataset.flow.table import ApplyTable, Table
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.fusion import NormalizeToPlanes, fuse
from mycelia.dataset.plan.nodes import Compiler, Node, Turnstile, own, table_stream, unique
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen

Function = Callable[..., Any]
T = TypeVar("T")


@runtime_checkable
class Joint(Protocol):
    """An operation that can work on many rows at once, with the same results; None where it would rather not."""

    def apply_to_columns(self, *columns: Ragged) -> Columns | None: ...


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


def apart(row: Row, new: Sequence[int]) -> Row:
    """The row with its new columns in memory of their own: a later step may write into one of them.

    >>> x = np.zeros(2); a, b = apart((x, x), (0, 1)); a[0] = 1; b
    array([0., 0.])
    """
    own = list(row)
    for i in new:
        value = own[i]
        if isinstance(value, np.ndarray) and any(
            isinstance(other, np.ndarray) and np.may_share_memory(value, other) for j, other in enumerate(own) if j != i
        ):
            own[i] = value.copy()
    return tuple(own)


def holders(values: tuple[Any, ...]) -> list[tuple[int, int]]:
    """How many hold each value, and what it is a part of; this question itself counts always the same."""
    return [(getrefcount(v), getrefcount(getattr(v, "base", None))) for v in values]


((ALONE, INSIDE),) = holders((np.empty(1)[:],))  # an array that nobody else holds, of another that nobody does


def kept(values: tuple[Any, ...], row: Row) -> tuple[Any, ...]:
    """What a function gave, in memory of its own where the function holds it too: it may write there for the next row.

    >>> buffer = np.zeros(2)
    >>> kept((buffer,), ())[0] is buffer, kept((buffer[:1],), ())[0].base is buffer
    (False, False)
    """
    counted = holders(values)
    return tuple(
        v.copy() if isinstance(v, np.ndarray) and _shared(v, *count) and not any(_within(v, r) for r in row) else v
        for v, count in zip(values, counted, strict=True)
    )


def _shared(value: np.ndarray[Any, Any], alone: int, inside: int) -> bool:
    """Whether somebody else holds an array, or what it is a part of."""
    part = value.base is not None and not isinstance(value.base, bytes)
    return alone > ALONE or (part and inside > INSIDE)


def _within(value: np.ndarray[Any, Any], other: Any) -> bool:
    return isinstance(other, np.ndarray) and np.may_share_memory(value, other)


@frozen(eq=False)
class MapNode(Node):
    """Operations applied to some columns of every row."""

    operations: tuple[Function, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    callbacks: tuple[DSCallback, ...] = ()

    works = True

    @property
    def label(self) -> str:
        return f"Map({', '.join(map(name_of, self.operations))})"

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.operations

    @lazy
    def names(self) -> tuple[str, ...]:
        return outputs(self.child.columns, self.before, self.after)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @property
    def countable(self) -> bool:
        return not self.callbacks

    @lazy
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(self.before, "map")

    @lazy
    def fused(self) -> tuple[tuple[int, Function], ...]:
        """The operations with the numbers of their random places, some put together where that is faster."""
        return fuse(self.operations)

    @lazy
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

    @lazy
    def standing(self) -> tuple[int, ...]:
        """Where each of the new columns stands afterwards."""
        return tuple(self.names.index(n) for n in self.after)

    def apply(self, row: Row, seed: int, epoch: int, position: int, node: int, places: Places | None = None) -> Row:
        if self.turn is None:
            return self._apply(row, seed, epoch, position, node, places)
        with self.turn:
            return self._apply(row, seed, epoch, position, node, places)

    @lazy
    def turn(self) -> Turnstile | None:
        """What keeps the step to the workers that were asked for it, where others of its stage have more."""
        return None if self.workers is None else Turnstile(self.workers)

    def _apply(self, row: Row, seed: int, epoch: int, position: int, node: int, places: Places | None) -> Row:
        values: tuple[Any, ...] = tuple(row[i] for i in self.taken)
        last = len(self.fused) - 1
        for step, (number, operation) in enumerate(self.fused):
            random.enter(random.Key(seed, epoch, position, node * 256 + number))
            if step == last and places is not None and isinstance(operation, NormalizeToPlanes):
                made = operation.into(values, tuple(map(places.of, self.standing)))
            else:
                made = operation(*values)
            values = made if isinstance(made, tuple) else (made,)
        random.enter(None)
        self._expect(len(values))
        if values[0] is None and len(values) == 1:
            raise ArgumentError(f"{self.label} gave None", hint="let the function end with a return of its result")
        if self.foreign:
            made = None  # holds what it was given, too
            values = kept(values, row)
        made = tuple(as_value(values[i]) if new else row[i] for new, i in self.arranged)
        return made if len(made) == 1 else apart(made, self.standing)

    @lazy
    def foreign(self) -> bool:
        """Whether a function of the user is among its operations."""
        return not all(map(own, self.operations))

    @lazy
    def joint(self) -> bool:
        """Whether its one operation works on many rows at once."""
        return len(self.operations) == 1 and isinstance(self.operations[0], Joint)

    def apply_to_columns(self, columns: Columns) -> Columns | None:
        """The new columns of many rows; None when they are better made one by one."""
        (operation,) = self.operations
        assert isinstance(operation, Joint), "asked before"
        taken = [columns[i] for i in self.taken]
        given = [column for column in taken if column is not None]
        if len(given) < len(taken):
            return None
        with nullcontext() if self.turn is None else self.turn:
            made = operation.apply_to_columns(*given)
        if made is not None:
            self._expect(len(made))
        return made

    def arrange(self, row: tuple[T, ...], made: tuple[T, ...]) -> tuple[T, ...]:
        """The columns afterwards, out of those before and the new ones."""
        return tuple(made[i] if new else row[i] for new, i in self.arranged)

    def _expect(self, count: int) -> None:
        if count != len(self.after):
            raise ArgumentError(
                f"{self.label} gave {count} values for {len(self.after)} columns",
                given={"output_columns": list(self.after)},
                hint="name them in output_columns",
            )

    def table(self, c: Compiler) -> Table | None:
        below = c.table(self.child)
        return None if below is None or self.callbacks else ApplyTable(c.number(self), below)

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        count, below = state or (0, None)
        rows = ApplyStream(c.number(self), epoch, c.stream(self.child, epoch, below), count)
        if not self.callbacks:
            return rows
        table = c.table(self.child)
        return CallbackStream(rows, self.callbacks, epoch, count, None if table is None else table.size())


@frozen(eq=False)
class FilterNode(Node):
    """The rows for which a predicate holds."""

    predicate: Function
    before: tuple[str, ...]

    works = True
    materialises = True
    joint = False

    @property
    def label(self) -> str:
        return f"Filter({name_of(self.predicate)})"

    @property
    def functions(self) -> tuple[Function, ...]:
        return (self.predicate,)

    @lazy
    def taken(self) -> tuple[int, ...]:
        return self.child.index_of(self.before, "filter") if self.before else tuple(range(len(self.child.columns)))

    def describe(self) -> dict[str, Any]:
        return {"predicate": described(self.predicate), "input_columns": list(self.before)}

    def apply(
        self, row: Row, seed: int, epoch: int, position: int, node: int, places: Places | None = None
    ) -> Row | None:
        random.enter(random.Key(seed, epoch, position, node * 256))
        verdict = np.asarray(as_value(self.predicate(*(row[i] for i in self.taken))))
        random.enter(None)
        if verdict.size != 1:
            raise ArgumentError(f"{self.label} must give one truth value, and gave an array of shape {verdict.shape}")
        if verdict.dtype.kind not in "biuf":
            raise ArgumentError(
                f"{self.label} must give a truth value, and gave {verdict.reshape(())[()]!r}",
                hint="return True for rows to keep, and False for the others",
            )
        return row if bool(verdict.reshape(())[()]) else None

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        below = c.table(self.child)
        number = c.number(self)
        if below is not None:
            return c.materialised(self, table_stream(ApplyTable(number, below), epoch, state), epoch, state)
        count, inner = state or (0, None)
        tested = ApplyStream(number, epoch, c.stream(self.child, epoch, inner), count)
        return c.materialised(self, tested, epoch, state)
