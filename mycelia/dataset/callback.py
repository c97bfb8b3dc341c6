"""Callbacks of a map: told when epochs and steps begin and end, and able to make the pipeline wait for training."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mycelia.dataset.errors import DataError
from mycelia.dataset.flow.request import Request
from mycelia.dataset.flow.stream import RowStream, State
from mycelia.errors import ArgumentError


@dataclass
class DSRunContext:
    """Where the pipeline stands when a callback is called; counted from 1.

    >>> DSRunContext(1, 2, 7).cur_step_num
    7
    """

    cur_epoch_num: int
    cur_step_num_in_epoch: int
    cur_step_num: int


class DSCallback:
    """Base of callbacks: write the methods that are of use. `step_size` rows make a step.

    >>> DSCallback(step_size=2).step_size
    2
    """

    def __init__(self, step_size: int = 1) -> None:
        if step_size < 1:
            raise ArgumentError(f"step_size must be at least 1, and is {step_size}")
        self.step_size = step_size

    def ds_begin(self, ds_run_context: DSRunContext) -> None:
        """The pipeline begins."""

    def ds_epoch_begin(self, ds_run_context: DSRunContext) -> None:
        """An epoch begins."""

    def ds_epoch_end(self, ds_run_context: DSRunContext) -> None:
        """An epoch has ended."""

    def ds_step_begin(self, ds_run_context: DSRunContext) -> None:
        """A step begins."""

    def ds_step_end(self, ds_run_context: DSRunContext) -> None:
        """A step has ended."""

    def ready(self, epoch: int, step: int) -> bool:
        """Whether a step may begin; both are counted from 1."""
        return True


class WaitedDSCallback(DSCallback):
    """A callback that lets an epoch, or a step, begin only when training has finished the one before.

    Give it to training too, or call `epoch_end` and `step_end` from the training loop; `sync_epoch_begin` and
    `sync_step_begin` are then called with what both sides know.

    >>> waited = WaitedDSCallback(); waited.ready(1, 1), waited.ready(2, 1)
    (True, False)
    """

    def __init__(self, step_size: int = 1) -> None:
        super().__init__(step_size)
        self.changed = threading.Condition()
        self.epochs = self.steps = 0
        self.ended = False
        self.training: Any = None
        self.seconds = 60.0

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.step_size,)

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: DSRunContext) -> None:
        """An epoch begins, and training has ended the one before."""

    def sync_step_begin(self, train_run_context: Any, ds_run_context: DSRunContext) -> None:
        """A step begins, and training has ended the one before."""

    def begin(self, run_context: Any) -> None:
        """Training begins."""

    def epoch_begin(self, run_context: Any) -> None:
        """Training begins an epoch."""

    def step_begin(self, run_context: Any) -> None:
        """Training begins a step."""

    def end(self, run_context: Any) -> None:
        """Training has ended: nothing waits for it any more."""
        with self.changed:
            self.ended, self.training = True, run_context
            self.changed.notify_all()

    def epoch_end(self, run_context: Any) -> None:
        """Training has ended an epoch."""
        with self.changed:
            self.epochs, self.steps, self.training = self.epochs + 1, 0, run_context
            self.changed.notify_all()

    def step_end(self, run_context: Any) -> None:
        """Training has ended a step."""
        with self.changed:
            self.steps, self.training = self.steps + 1, run_context
            self.changed.notify_all()

    def on_eval_begin(self, run_context: Any) -> None:
        """Evaluation begins, which this callback does not count."""

    on_eval_epoch_begin = on_eval_epoch_end = on_eval_step_begin = on_eval_step_end = on_eval_end = on_eval_begin
    on_train_begin, on_train_epoch_begin, on_train_step_begin = begin, epoch_begin, step_begin
    on_train_end, on_train_epoch_end, on_train_step_end = end, epoch_end, step_end

    def _waits_for_steps(self) -> bool:
        return type(self).sync_step_begin is not WaitedDSCallback.sync_step_begin

    def ready(self, epoch: int, step: int) -> bool:
        if self.ended:
            return True
        if self.epochs < epoch - 1:
            return False
        return not self._waits_for_steps() or self.epochs >= epoch or self.steps * self.step_size >= step - 1

    def _wait(self, epoch: int, step: int) -> None:
        with self.changed:
            if not self.changed.wait_for(lambda: self.ready(epoch, step), self.seconds):
                raise DataError(
                    f"a WaitedDSCallback has waited {self.seconds} s for training",
                    hint="give the callback to training too, or call its step_end and epoch_end",
                )

    def ds_epoch_begin(self, ds_run_context: DSRunContext) -> None:
        if ds_run_context.cur_epoch_num > 1:
            self._wait(ds_run_context.cur_epoch_num, 1)
            self.sync_epoch_begin(self.training, ds_run_context)

    def ds_step_begin(self, ds_run_context: DSRunContext) -> None:
        if ds_run_context.cur_step_num_in_epoch > 1 and self._waits_for_steps():
            self._wait(ds_run_context.cur_epoch_num, ds_run_context.cur_step_num_in_epoch)
            self.sync_step_begin(self.training, ds_run_context)


@dataclass
class CallbackStream(RowStream):
    """A stream that tells callbacks where it stands."""

    child: RowStream
    callbacks: Sequence[DSCallback]
    epoch: int
    count: int
    size: int | None = None
    begun: bool = field(default=False)
    next: Request | None = None  # what was asked for below, until its step has begun

    def _context(self) -> DSRunContext:
        total = self.epoch * (self.size or 0) + self.count + 1
        return DSRunContext(self.epoch + 1, self.count + 1, total)

    def pull(self, most: int) -> Request | None:
        if not self.begun:
            self.begun = True
            for callback in self.callbacks:
                if self.epoch == 0 and self.count == 0:
                    callback.ds_begin(self._context())
            for callback in self.callbacks:
                callback.ds_epoch_begin(self._context())
        if self.next is None:
            self.next = self.child.pull(1)  # a step begins when there is a row for it
        if self.next is None:
            for callback in self.callbacks:
                callback.ds_epoch_end(self._context())
            return None
        stepping = [c for c in self.callbacks if self.count % c.step_size == 0]
        for callback in stepping:
            callback.ds_step_begin(self._context())
        for callback in stepping:
            callback.ds_step_end(self._context())
        self.count += 1
        below, self.next = self.next, None
        return below

    def snapshot(self) -> State:
        return self.child.snapshot()

    def ready(self) -> bool:
        able = all(c.ready(self.epoch + 1, self.count + 1) for c in self.callbacks)
        return able and self.child.ready()

    def close(self) -> None:
        self.child.close()
