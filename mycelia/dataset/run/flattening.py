"""Datasets that a function makes of rows, one after the other: each is made when its turn comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from mycelia.dataset.flow.request import Literal, Request, Row
from mycelia.dataset.flow.stream import RowStream, State
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.nodes import Compiler, Node
from mycelia.dataset.random import generator_for
from mycelia.dataset.run.pipeline import Pipeline
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen


@frozen(eq=False)
class FlatMapNode(Node):
    """The rows of the datasets that a function makes of rows."""

    make: Callable[[list[Any]], Any]
    first: Callable[[], list[Any]]  # the first row below, to see which columns there will be

    materialises = True

    @property
    def label(self) -> str:
        return f"FlatMap({getattr(self.make, '__name__', type(self.make).__name__)})"

    @lazy
    def names(self) -> tuple[str, ...]:
        row = self.first()
        if not row:
            raise ArgumentError("func must give a dataset for every row, and gave nothing: there is no row")
        return self.plan_of(row).columns

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    def plan_of(self, row: list[Any]) -> Node:
        """The plan of the dataset that a row becomes."""
        made = self.make(row)
        plan = getattr(made, "plan", None)
        if not isinstance(plan, Node):
            raise ArgumentError(f"func must give a dataset for every row, and gave {type(made).__name__}")
        return plan

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        row, number, inner, below = state or (None, 0, None, None)
        child = c.materialised(self, c.stream(self.child, epoch, below), epoch, below)
        stream = FlatStream(self, c, epoch, child, number)
        if row is not None:
            stream.open(tuple(row), inner)
        return stream


@dataclass
class FlatStream(RowStream):
    """The rows of one dataset after the other; what they need of workers they have themselves."""

    node: FlatMapNode
    compiler: Compiler
    epoch: int
    child: RowStream
    number: int  # rows below that have become datasets
    row: Row | None = None
    inner: Pipeline | None = None
    state: State = None

    def open(self, row: Row, state: State) -> None:
        """Begin with the dataset of a row, or go on in it."""
        plan = self.node.plan_of(list(row))
        if plan.columns != self.node.columns:
            given = {"first": list(self.node.columns), "another": list(plan.columns)}
            raise ArgumentError("flat_map: the datasets have different columns", given=given)
        seed = int(generator_for(self.compiler.seed, self.number).integers(2**31))
        options = replace(self.compiler.options, debug_hooks=())
        self.row, self.state = row, state
        self.inner = Pipeline(plan, options, seed, epochs=self.epoch + 1, epoch=self.epoch, state=state)

    def pull(self, most: int) -> Request | None:
        while True:
            if self.inner is not None:
                item = self.inner.next()
                if item is not None:
                    self.state = item.state
                    return Literal((item.row,), (f"a row of dataset {self.number - 1}",))
                self._end()
            below = self.child.pull(1)
            if below is None:
                return None
            assert isinstance(below, Literal), "rows below are made"
            row = below.ready[0]
            assert isinstance(row, tuple), "bad rows were left out below"
            self.number += 1
            self.open(row, None)

    def _end(self) -> None:
        if self.inner is not None:
            self.inner.close()
        self.row = self.inner = self.state = None

    def snapshot(self) -> State:
        return [self.row, self.number, self.state, self.child.snapshot()]

    def ready(self) -> bool:
        return self.child.ready()

    def close(self) -> None:
        self._end()
        self.child.close()
