"""Stages: a bounded number of requests in flight, answered in any order, handed on in the right one."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from mycelia.dataset.errors import DataError, Failed, Failure
from mycelia.dataset.flow.request import Literal, Row
from mycelia.dataset.flow.stream import RowStream, State, TableStream
from mycelia.dataset.flow.table import Table
from mycelia.dataset.flow.workers import Answer, Later, Ticket, Workers
from mycelia.errors import MyceliaError

HANDED = 3e-3  # seconds within which rows at hand are made by whoever asks: threads would wait for memory, and in turn
WORTH = 2e-3  # seconds of work that are worth a request
LIGHT = 1 << 20  # bytes of rows that one request may hold beyond the first chunk
MOST = 64


class FinishedRow(NamedTuple):
    """A finished row, and where the pipeline stands after it."""

    row: Row
    epoch: int
    state: State


@dataclass
class Gauge:
    """What a stage has seen: for the profiler, the autotuner and the count of bad samples."""

    seconds: dict[int, float] = field(default_factory=dict)
    rows: int = 0
    waited: float = 0.0
    began: float = field(default_factory=perf_counter)
    bad: list[Failure] = field(default_factory=list)
    bad_count: int = 0

    def blame(self, failure: Failure) -> None:
        """Count a bad sample; the first hundred are kept to look at."""
        self.bad_count += 1
        if len(self.bad) < 100:
            self.bad.append(failure)


class _Task(NamedTuple):
    ticket: Ticket
    epoch: int
    base: State  # a table's position before the rows; otherwise the state after the one row
    table: Table | None
    rows: int


class _End(NamedTuple):
    """An epoch has ended."""


class _Stop(NamedTuple):
    """Something went wrong when the next rows were asked for; the rows before it come first."""

    error: Exception


class Stage:
    """Keeps up to `depth` requests of a stream in flight and gives their rows in order.

    `open` gives the stream of an epoch, or None when there are no more epochs. With `ahead`, the next epoch is begun
    while the last rows of this one are still being made.
    """

    def __init__(
        self,
        open: Callable[[int], RowStream | None],
        workers: Workers,
        *,
        epoch: int = 0,
        depth: int,
        chunk: int,
        ahead: bool,
        replace: bool,
        gauge: Gauge,
        quick: Callable[[], bool] = lambda: False,
    ) -> None:
        self.open, self.workers, self.epoch = open, workers, epoch
        self.depth, self.chunk, self.ahead, self.replace = depth, chunk, ahead, replace
        self.gauge = gauge
        self.tasks: deque[_Task | _End | _Stop] = deque()
        self.stream: RowStream | None = None
        self.finished = False
        self.owner = os.getpid()
        self.ready_rows: deque[FinishedRow] = deque()
        self.last: Row | None = None
        self.quick = quick  # whether rows are made here while that takes less than to hand them over
        self.takes = 0.0  # seconds of the processor for a request, on the average of the last ones
        self.stride = 1  # chunks in one request: more when they are made faster than a thread wakes up

    def next(self) -> FinishedRow | None:
        """The next row, or None where an epoch ends."""
        if os.getpid() != self.owner:
            raise DataError(
                "an iterator was used in another process than it was made in", hint="make one in every process"
            )
        while not self.ready_rows:
            self._top_up()
            if self.ready_rows:
                break
            if not self.tasks:
                return None
            task = self.tasks[0]
            if isinstance(task, _Task):
                self._collect(task)
                continue
            self.tasks.popleft()
            if isinstance(task, _Stop):
                raise task.error
            return None
        return self.ready_rows.popleft()

    def ready(self) -> bool:
        """Whether `next` can answer without waiting for the reader."""
        return bool(self.ready_rows or self.tasks) or self.stream is None or self.stream.ready()

    def at_hand(self) -> bool:
        """Whether `next` gives a row that is made already."""
        return bool(self.ready_rows) or (not self.tasks and self.stream is not None and self.stream.at_hand())

    def _top_up(self) -> None:
        while len(self.tasks) < self.depth and not self.finished:
            if self.stream is None:
                if self.tasks and not self.ahead:
                    return
                self.stream = self.open(self.epoch)
                if self.stream is None:
                    self.finished = True
                    return
            if self.tasks and not self.stream.ready():
                return
            if self.tasks and isinstance(self.tasks[-1], _Stop):
                return
            asked = len(self.tasks)
            before: Any = self.stream.snapshot() if isinstance(self.stream, TableStream) else None
            try:
                if not self._ask(self.stream, before):
                    return
            except BaseException:  # an interruption: rows that nobody asked for are still to come
                if isinstance(self.stream, TableStream) and len(self.tasks) == asked:
                    self.stream.position = before
                raise

    def _ask(self, stream: RowStream, before: State) -> bool:
        """Have the next rows of a stream made, or note its end or its error; whether to go on asking."""
        table = stream.table if isinstance(stream, TableStream) else None
        try:
            request = stream.pull(self.chunk * self.stride if table is not None else 1)
        except Exception as error:
            self.tasks.append(_Stop(self._told(error)))
            return False
        if request is None:
            stream.close()
            self.stream = None
            self.tasks.append(_End())
            self.epoch += 1
            return self.ahead
        base = before if table is not None else stream.snapshot()
        # rows that are there, or almost, need no worker
        made = isinstance(request, Literal) or (self.takes < HANDED and self.quick())
        if isinstance(request, Literal) and not self.tasks and table is None and self._at_once(request, base):
            return False
        ticket = Later(request, self.workers.blueprint.run()) if made else self.workers.submit(request)
        self.tasks.append(_Task(ticket, self.epoch, base, table, len(request)))
        return True

    def _at_once(self, request: Literal, state: State) -> bool:
        """Give a good row that is there, when none is still to come before it."""
        row = request.ready[0] if len(request.ready) == 1 else None
        if not isinstance(row, tuple):
            return False
        self.last = row if self.replace else None
        self.gauge.rows += 1
        self.ready_rows.append(FinishedRow(row, self.epoch, state))
        return True

    def _told(self, error: Exception) -> Exception:
        """What a user's function raised while the next rows were chosen: named, so that it cannot end an epoch."""
        if isinstance(error, Failed | MyceliaError):
            return error
        stage = " <- ".join(reversed(self.workers.blueprint.labels))
        return Failed(Failure.of(error, stage, f"what comes after row {self.gauge.rows} of epoch {self.epoch}"))

    def _collect(self, task: _Task) -> None:
        """Wait for the rows of the first task; one who is interrupted while waiting finds it in its place again."""
        start = perf_counter()
        try:
            answer = task.ticket.wait()
        except Failed:
            self.tasks.popleft()
            if task.table is None or task.rows == 1:
                raise
            self._apart(task, task.table)
            return
        except BaseException:
            if task.ticket.done():
                self.tasks.popleft()
            raise
        self.tasks.popleft()
        self.gauge.waited += perf_counter() - start
        for node, seconds in answer.seconds.items():
            self.gauge.seconds[node] = self.gauge.seconds.get(node, 0.0) + seconds
        for failure in answer.failures:
            self.gauge.blame(failure)
        self._pace(answer)
        for i, outcome in enumerate(answer.outcomes):
            row = outcome
            if isinstance(row, Failure):
                self.gauge.blame(row)
                row = self._stand_in(task, i, row) if self.replace else None
            if row is None:
                continue
            self.last = row if self.replace else None
            self.gauge.rows += 1
            state = task.base + i + 1 if task.table is not None else task.base
            self.ready_rows.append(FinishedRow(row, task.epoch, state))

    def _stand_in(self, task: _Task, i: int, failure: Failure) -> Row:
        """The good row before a bad one, or else the first one after it; after a resume it is made again."""
        if self.last is not None:
            return self.last
        if task.table is not None:
            size = task.table.size()
            here = task.epoch * size + task.base + i
            for place in chain(reversed(range(here)), range(here + 1, (task.epoch + 1) * size)):
                request = task.table.request(place // size, np.array([place % size]))
                (made,) = self.workers.submit(request).wait().outcomes
                if isinstance(made, tuple):
                    return made
        raise Failed(failure)

    def _apart(self, task: _Task, table: Table) -> None:
        """Ask for the rows of a request that failed one by one, so that only the bad one is an error."""
        self.stride = 1
        for position in reversed(range(task.base, task.base + task.rows)):
            request = table.request(task.epoch, np.array([position]))
            self.tasks.appendleft(_Task(self.workers.submit(request), task.epoch, position, table, 1))

    def _pace(self, answer: Answer) -> None:
        """Ask for more at a time where rows are light, so that handing them over costs little beside making them."""
        first = answer.outcomes[0] if answer.outcomes else None
        if not isinstance(first, tuple):
            return
        spent = sum(answer.seconds.values())
        self.takes += (answer.worked - self.takes) / 8
        seconds = spent / len(answer.outcomes) * self.chunk
        weight = sum(getattr(v, "nbytes", 0) for v in first) * self.chunk
        wanted = min(WORTH / max(seconds, 1e-7), LIGHT / max(weight, 1))
        self.stride = max(1, min(int(wanted), 2 * self.stride, MOST))

    def close(self) -> None:
        """Let go of what is in flight; the workers are not the stage's own."""
        self.finished = True
        self.tasks.clear()
        self.ready_rows.clear()
        if self.stream is not None:
            self.stream.close()
            self.stream = None
