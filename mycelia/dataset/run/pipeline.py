"""From a plan to a running pipeline: number the nodes, find the stages, give each its workers, keep the position."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mycelia.dataset.config import ErrorSamplesMode, PipelineOptions
from mycelia.dataset.debug import hooked
from mycelia.dataset.errors import DataError, Failed, Failure
from mycelia.dataset.flow.line import Line
from mycelia.dataset.flow.parting import HOME, PartedWorkers
from mycelia.dataset.flow.processes import ProcessWorkers
from mycelia.dataset.flow.request import Literal, Request, Row
from mycelia.dataset.flow.stage import FinishedRow, Gauge, Stage
from mycelia.dataset.flow.stream import RowStream, State, TableStream
from mycelia.dataset.flow.table import Order, Seals, Table
from mycelia.dataset.flow.workers import Blueprint, InlineWorkers, ThreadWorkers, Workers
from mycelia.dataset.plan.batching import BatchNode, BucketNode
from mycelia.dataset.plan.nodes import Node, table_stream
from mycelia.dataset.plan.operations import MapNode
from mycelia.dataset.plan.samplers import Labels, Sampler
from mycelia.dataset.plan.syncing import SyncNode
from mycelia.errors import MyceliaError

Open = Callable[[int], RowStream | None]
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # what a damaged state leads to
CHUNK = 16  # rows of one request, when rows are not batched


@dataclass
class StageStream(RowStream):
    """The finished rows of a stage, as a stream for the steps that look at values."""

    stage: Stage
    state: State

    def pull(self, most: int) -> Request | None:
        rows: list[Row] = []
        while len(rows) < most:
            item = self.stage.next()
            if item is None:
                break
            rows.append(item.row)
            self.state = item.state
        return Literal(tuple(rows)) if rows else None

    def snapshot(self) -> State:
        return self.state

    def ready(self) -> bool:
        return self.stage.ready()

    def close(self) -> None:
        self.stage.close()


class NumberedPlan:
    """A plan with its nodes numbered, and the tables it has; nothing runs."""

    def __init__(
        self, root: Node, options: PipelineOptions, seed: int, seals: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        self.root, self.options, self.seed = root, options, seed
        self.expected, self.seals = seals or {}, dict[int, Seals]()
        self.nodes = list(upwards(root))
        self.numbers = {id(n): i for i, n in enumerate(self.nodes)}
        self.tables: dict[int, Table | None] = {}

    def number(self, node: Node) -> int:
        """The number that requests call a node by."""
        return self.numbers[id(node)]

    def order(self, node: Node, sampler: Sampler, count: int, labels: Labels | None) -> Order:
        """The order of a sampler in every epoch; a user's own is sealed, since it may differ from call to call."""
        number = self.number(node)
        # readers that share the rows must agree on the order, even when no seed was set
        seed = 0 if self.options.seed is None and sampler.is_sharded() else self.seed
        made = Order(lambda epoch: sampler.order(count, (seed, epoch, number), labels))
        if sampler.written:
            expected = {int(epoch): word for epoch, word in self.expected.get(str(number), {}).items()}
            made.seals = self.seals[number] = Seals(expected)
        return made

    def apart(self) -> bool:
        """Whether rows are made in other processes, which must know beforehand where all of them are."""
        return any(n.processes for n in self.nodes)

    def table(self, node: Node) -> Table | None:
        """A node as a table, if it is one."""
        key = id(node)
        if key not in self.tables:
            self.tables[key] = node.table(self)
        return self.tables[key]

    def stream(self, node: Node, epoch: int, state: State) -> RowStream:
        """A node as a stream, from a state it gave."""
        table = self.table(node)
        return node.stream(self, epoch, state) if table is None else table_stream(table, epoch, state)

    def materialised(self, owner: Node, rows: RowStream, epoch: int, state: State) -> RowStream:
        """Rows that are made before `owner` looks at them."""
        raise AssertionError("a frame does not run")


class Pipeline(NumberedPlan):
    """A plan that runs: gives rows with the position after each, from any position it gave before."""

    def __init__(
        self,
        root: Node,
        options: PipelineOptions,
        seed: int,
        *,
        epochs: int,
        epoch: int = 0,
        state: State = None,
        seals: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        super().__init__(watched(root, options), options, seed, seals)
        self.epochs = epochs
        self.labels = [n.label for n in self.nodes]
        self.pools: dict[int, Workers] = {}
        self.gauges: dict[int, Gauge] = {}
        self.lock, self.closed = threading.Lock(), False  # the pump opens stages while the reader may close them
        self.gates = [n.gate for n in self.nodes if isinstance(n, SyncNode)]
        _count_batches(self.root, 1)
        for gate in self.gates:
            gate.reset()
        tolerant = options.error_samples_mode is not ErrorSamplesMode.RETURN
        self.blueprint = Blueprint(self.nodes, self.labels, seed, tolerant)
        self.first, self.start = epoch, state
        self.endless = epochs < 0
        self.streaming = self.table(self.root) is None
        self.stage = self._stage(self.root, self._open, epoch, inner=False)
        self.pump = Pump(self.stage, options.prefetch_size) if self.streaming and not options.debug_mode else None

    def materialised(self, owner: Node, rows: RowStream, epoch: int, state: State) -> RowStream:
        waiting: list[RowStream] = [rows]
        stage = self._stage(owner, lambda _: waiting.pop() if waiting else None, epoch, inner=True)
        return StageStream(stage, state)

    # stages

    def _open(self, epoch: int) -> RowStream | None:
        if not self.endless and epoch >= self.epochs:
            return None
        if epoch != self.first or self.start is None:
            return self.stream(self.root, epoch, None)
        try:
            return self.stream(self.root, epoch, self.start)
        except DAMAGE as error:
            raise _not_taken_up(error) from error

    def _stage(self, owner: Node, open: Open, epoch: int, *, inner: bool) -> Stage:
        key = id(owner) if inner else 0
        with self.lock:
            if self.closed:
                raise DataError("the pipeline was closed", hint="make a new iterator")
            if key not in self.pools:
                self.pools[key] = self._workers(list(self._segment(owner, enter=inner)))
                self.gauges[key] = Gauge()
            workers = self.pools[key]
        below = owner.children if inner else (owner,)
        batched = any(isinstance(n, BatchNode | BucketNode) for b in below for n in walk(b))
        return Stage(
            open,
            workers,
            epoch=epoch,
            depth=workers.count + self.options.prefetch_size,
            chunk=1 if batched else CHUNK,
            ahead=not inner and not self.streaming,
            replace=self.options.error_samples_mode is ErrorSamplesMode.REPLACE,
            gauge=self.gauges[key],
            quick=partial(_quick, list(self._segment(owner, enter=inner))),
        )

    def _looks(self, node: Node) -> bool:
        """Whether a step needs the rows below it made before it can say what comes next."""
        skips = self.options.error_samples_mode is ErrorSamplesMode.SKIP
        return node.materialises or (skips and isinstance(node, BatchNode))

    def _segment(self, node: Node, enter: bool) -> Iterator[Node]:
        """The nodes whose work a stage does: down to the next step that looks at finished rows."""
        yield node
        if enter or not self._looks(node):
            for child in node.children:
                yield from self._segment(child, enter=False)

    def _workers(self, segment: list[Node]) -> Workers:
        if self.options.debug_mode:
            return InlineWorkers(self.blueprint)
        default = self.options.num_parallel_workers
        sites = {self.number(n): site for n in segment if (site := n.site(default)) is not None}
        line = Line([self.number(n) for n in segment if n.in_order(default)])
        counts = sorted({site for site in sites.values() if site != HOME})
        if not counts:
            count = max((n.workers or default for n in segment if n.works), default=1)
            alone = count == 1 and not self.options.enable_autotune
            return ThreadWorkers(self.blueprint, count, None if alone or not line.first else line)
        pools = {count: self._processes(count, segment) for count in counts}
        if len(counts) == 1 and HOME not in sites.values():
            return pools[counts[0]]
        return PartedWorkers(self.blueprint, pools, sites, line, self.options.prefetch_size)

    def _processes(self, count: int, segment: list[Node]) -> Workers:
        asked = [n for n in segment if n.site(self.options.num_parallel_workers) == count]
        limits = [n.max_rowsize for n in asked if n.max_rowsize is not None]
        return ProcessWorkers(self.blueprint, count, self.options, max(limits) if limits else None)

    # the reader

    def next(self) -> FinishedRow | None:
        """The next row, or None where an epoch ends; raises in the reader's words and at the reader's line."""
        try:
            item = self.stage.next() if self.pump is None else self.pump.next()
            if self.start is not None and item is not None and len(item.row) != len(self.root.columns):
                raise ValueError(f"a row has {len(item.row)} values for {len(self.root.columns)} columns")
            return item
        except Failed as failed:
            raise failed.failure.error() from failed.__cause__
        except DAMAGE as error:
            if self.start is None or isinstance(error, MyceliaError):
                raise
            raise _not_taken_up(error) from error  # it may hold requests for rows that are not there

    def sealed(self) -> dict[str, dict[str, str]]:
        """The seals of the orders that samplers written by hand have given, as plain data."""
        return {str(number): {str(e): w for e, w in s.seen.items()} for number, s in self.seals.items()}

    def close(self) -> None:
        """End all workers."""
        for gate in self.gates:
            gate.disable()
        if self.pump is not None:
            self.pump.closed.set()
        with self.lock:
            self.closed, pools = True, list(self.pools.values())
        for workers in pools:
            workers.close()
        if self.pump is not None:
            self.pump.close()
        self.stage.close()
        self.tables.clear()  # their orders may be large, and need not wait for the collector

    @property
    def bad(self) -> list[Failure]:
        """The bad samples that were left out or replaced, the first hundred of every stage."""
        return [f for g in list(self.gauges.values()) for f in g.bad]

    @property
    def bad_count(self) -> int:
        """How many bad samples there were."""
        return sum(g.bad_count for g in list(self.gauges.values()))


def _quick(nodes: Sequence[Node]) -> bool:
    """Whether rows are at hand, so that to make them may take less than to have them made."""
    return all(n.quick for n in nodes)


def _not_taken_up(error: Exception) -> DataError:
    return DataError(f"a state cannot be taken up: {error!r}", hint="is it damaged, or of another plan?")


def _count_batches(node: Node, group: int) -> None:
    """Let gates count the batches that their rows become above them: one batch may need many rows to pass."""
    if isinstance(node, SyncNode):
        node.gate.group = group
    if isinstance(node, BatchNode) and isinstance(node.size, int):
        group *= node.size
    for child in node.children:
        _count_batches(child, group)


def watched(root: Node, options: PipelineOptions) -> Node:
    """The plan, in debug mode with the hooks after every operation of its maps."""
    if not (options.debug_mode and options.debug_hooks):
        return root
    below = tuple(watched(c, options) for c in root.children)
    if isinstance(root, MapNode):
        return replace(root, children=below, operations=hooked(root.operations, options.debug_hooks))
    return replace(root, children=below)


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, each once, in an order that is always the same."""
    seen: set[int] = set()

    def visit(n: Node) -> Iterator[Node]:
        if id(n) not in seen:
            seen.add(id(n))
            yield n
            for child in n.children:
                yield from visit(child)

    return visit(node)


def upwards(node: Node) -> Iterator[Node]:
    """A node after all below it, each once: what is added on top changes no number below, and so no order or draw."""
    seen: set[int] = set()

    def visit(n: Node) -> Iterator[Node]:
        if id(n) not in seen:
            seen.add(id(n))
            for child in n.children:
                yield from visit(child)
            yield n

    return visit(node)


BURST = 64  # rows that are there anyway and cross together
BRIEF = 1e-3  # seconds that a reader waits for several rows before it asks to be woken for one


class Pump:
    """A thread that keeps a stage going while the reader is away, for pipelines whose next row depends on values.

    Rows cross in bursts where they are quick to make: to wake a thread for each would take longer than to make it.
    """

    def __init__(self, stage: Stage, depth: int) -> None:
        self.items: deque[FinishedRow | BaseException | None] = deque()
        self.depth, self.stage = depth, stage
        self.filled, self.emptied, self.closed = threading.Event(), threading.Event(), threading.Event()
        self.waiting = self.hungry = False  # whether the reader waits for rows, and for a single one
        self.resting = False  # whether the pump waits for room
        self.thread: threading.Thread | None = None
        self.owner = os.getpid()

    def next(self) -> FinishedRow | None:
        if os.getpid() != self.owner:
            raise DataError(
                "an iterator was used in another process than it was made in", hint="make one in every process"
            )
        if self.thread is None:
            target = _pumping(self)
            self.thread = threading.Thread(target=target, name="mycelia-data-pump", daemon=True)
            self.thread.start()
        if not self.items:
            self._wait()
        item = self.items.popleft()
        if self.resting and len(self.items) <= self.depth // 2:
            self.resting = False
            self.emptied.set()
        if isinstance(item, BaseException):
            raise item
        return item

    def _wait(self) -> None:
        self.filled.clear()
        self.waiting = True  # told before looking once more: whoever puts something looks at it afterwards
        try:
            if not self.items:
                self.filled.wait(BRIEF)
            self.hungry = True
            while not self.items:
                self.filled.wait()
                self.filled.clear()
        finally:
            self.waiting = self.hungry = False

    def put(self, items: Sequence[FinishedRow | BaseException | None]) -> None:
        """Hand something over; waits while the reader has enough."""
        while len(self.items) >= self.depth and not self.closed.is_set():
            self.emptied.clear()
            self.resting = True
            if len(self.items) >= self.depth:
                self.emptied.wait(0.05)
        self.items.extend(items)
        if self.waiting and (self.hungry or not isinstance(items[-1], tuple) or len(self.items) > self.depth // 2):
            self.waiting = False
            self.filled.set()

    def close(self) -> None:
        self.closed.set()
        for _ in range(250):  # a user's own iterator may never return: leave it to itself then
            if self.thread is None or not self.thread.is_alive() or self.thread is threading.current_thread():
                return
            self.items.clear()
            self.emptied.set()
            self.thread.join(0.02)


def _pumping(pump: Pump) -> Any:
    stage = pump.stage

    def work() -> None:
        while not pump.closed.is_set():
            items: list[FinishedRow | BaseException | None] = []
            try:
                items.append(stage.next())
                while stage.at_hand() and len(items) < BURST:
                    items.append(stage.next())
            except BaseException as error:
                items.append(error)
            pump.put(items)
            if stage.finished and items[-1] is None and not stage.tasks:
                return

    return work


__all__ = ["Pipeline", "Pump", "StageStream", "TableStream", "walk"]
