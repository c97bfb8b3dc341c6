"""Synchronisation points: rows that wait until the reader says so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Request
from mycelia.dataset.flow.stream import RowStream, State
from mycelia.dataset.plan.nodes import Compiler, Node
from mycelia.frozen import frozen


class Gate:
    """Lets `num_batch` rows pass for every `sync_update`, or that many batches of rows that are put together later."""

    def __init__(self, callback: Callable[..., Any] | None, step: int) -> None:
        self.callback, self.step = callback, step
        self.group = 1  # rows of a batch above
        self.changed = threading.Condition()
        self.enabled = True
        self.reset()

    def __reduce__(self) -> tuple[Any, ...]:
        return Gate, (None, self.step)  # workers never wait at it

    def reset(self) -> None:
        """A new run begins; one that was disabled stays so."""
        self.allowed, self.passed = self.step * self.group, 0

    def update(self, num_batch: int | None, data: Any) -> None:
        """The reader's word that more may pass; its data goes to the callback first."""
        with self.changed:
            if self.callback is not None:
                self.callback(data)
            self.allowed += (self.step if num_batch is None else num_batch) * self.group
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


@frozen(eq=False)
class SyncNode(Node):
    """A point that rows pass only when the reader says so."""

    condition: str
    gate: Gate

    materialises = True

    def describe(self) -> dict[str, Any]:
        return {"condition_name": self.condition, "num_batch": self.gate.step}

    def stream(self, c: Compiler, epoch: int, state: State) -> RowStream:
        child = c.materialised(self, c.stream(self.child, epoch, state), epoch, state)
        return SyncStream(child, self.gate, self.condition, c.options.callback_timeout)


@dataclass
class SyncStream(RowStream):
    """Rows that wait at a gate."""

    child: RowStream
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
