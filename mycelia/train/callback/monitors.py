"""Callbacks that tell and note how a training goes."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, TextIO

from mycelia.errors import ArgumentError, MyceliaError
from mycelia.train.callback.base import Callback, RunContext, loss_of


class LossNotFinite(MyceliaError, ValueError):
    """A loss is infinite or no number at all: nothing can be learnt from it."""


class LossMonitor(Callback):
    """Prints the loss every so many steps, and what an evaluation found; a loss that is not finite ends the training.

    >>> LossMonitor(per_print_times=100).every
    100
    """

    def __init__(self, per_print_times: int = 1) -> None:
        if type(per_print_times) is not int or per_print_times < 0:
            raise ArgumentError(
                f"per_print_times is a whole number from 0, not {per_print_times!r}", hint="0 prints nothing"
            )
        self.every, self.last, self.begun = per_print_times, 0, False

    def step_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        loss, epoch = loss_of(now.net_outputs), now.get("cur_epoch_num", 1)
        step = (now.cur_step_num - 1) % now.batch_num + 1 if now.batch_num > 0 else now.cur_step_num
        if loss is not None and not math.isfinite(loss):
            scale = now.net_outputs[1] if isinstance(now.net_outputs, tuple) and len(now.net_outputs) == 3 else None
            if scale is None or not bool(scale):  # an overflow that a loss scale has met is no end
                raise LossNotFinite(
                    f"in epoch {epoch}, step {step}, the loss is {loss}",
                    hint="lower the learning rate, look for NaN in the data, or scale the loss (amp)",
                )
        if now.cur_step_num < self.last:
            self.last = 0  # another training
        if self.every and now.cur_step_num - self.last >= self.every:
            self.last = now.cur_step_num
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Nothing: an evaluation is told of when it is over."""

    def on_train_begin(self, run_context: RunContext) -> None:
        self.last, self.begun = run_context.original_args().cur_step_num, False

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        if self.every and not self.begun:  # after an interruption at the same steps as if there had been none
            self.last = run_context.original_args().cur_step_num // self.every * self.every
        self.begun = True

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if now.get("metrics"):
            print(f"Eval result: epoch {now.cur_epoch_num}, metrics: {now.metrics}", flush=True)


class TimeMonitor(Callback):
    """Prints how long epochs and their steps took; with `data_time`, how long rows were waited for.

    `data_size` is the number of steps of an epoch, where the dataset does not tell.

    >>> TimeMonitor(data_time=True).data_time
    True
    """

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        if data_size is not None and (type(data_size) is not int or data_size < 1):
            raise ArgumentError(f"data_size is a whole number from 1, not {data_size!r}")
        if not isinstance(data_time, bool):
            raise ArgumentError(f"data_time is True or False, not {data_time!r}")
        self.data_size, self.data_time = data_size, data_time
        self.begun: dict[str, float] = {}  # by mode: an evaluation may lie within an epoch of training
        self.asked, self.waited = perf_counter(), 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        self.begun[run_context.original_args().mode] = self.asked = perf_counter()
        self.waited = 0.0

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self.waited += perf_counter() - self.asked

    def on_train_step_end(self, run_context: RunContext) -> None:
        self.asked = perf_counter()

    def epoch_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        steps = now.batch_num if now.get("batch_num", -1) > 0 else self.data_size
        if steps is None:
            raise ArgumentError("the dataset does not tell how many steps an epoch has", hint="TimeMonitor(data_size)")
        took = (perf_counter() - self.begun[now.mode]) * 1000
        told = f"{now.mode.title()} epoch time: {took:5.3f} ms, per step time: {took / steps:5.3f} ms"
        if self.data_time:
            told += f" (data time: {self.waited * 1000 / steps:5.3f} ms)"
        print(told, flush=True)


class History(Callback):
    """Notes, for each epoch, what the last step gave and what an evaluation found.

    >>> history = History()
    >>> history.history
    {}
    """

    def __init__(self) -> None:
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] = {}

    def begin(self, run_context: RunContext) -> None:
        self.epoch = {"epoch": []}

    def on_eval_begin(self, run_context: RunContext) -> None:
        if not self.epoch:
            self.epoch = {"epoch": []}

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Nothing: what an evaluation inside a training found is noted with the epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        self.epoch["epoch"].append(now.get("cur_epoch_num", 1))
        for name, value in {"net_output": loss_of(now.net_outputs), **(now.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)

    def state_dict(self) -> dict[str, Any]:
        return {"history": self.history, "epoch": self.epoch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.history, self.epoch = state["history"], state["epoch"]

    def _repr_html_(self) -> str:
        """The history as a table, for notebooks."""
        epochs = self.epoch.get("epoch", [])
        head = "".join(f"<th>{name}</th>" for name in ("epoch", *self.history))
        rows = [
            f"<tr><td>{e}</td>" + "".join(f"<td>{_told(v, i)}</td>" for v in self.history.values()) + "</tr>"
            for i, e in enumerate(epochs)
        ]
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _told(values: list[Any], place: int) -> str:
    if place >= len(values):
        return ""
    return f"{values[place]:.6g}" if isinstance(values[place], float) else str(values[place])


class LambdaCallback(Callback):
    """A callback made of functions, one for each moment at which something is to happen.

    >>> callback = LambdaCallback(on_train_end=lambda run_context: print("done"))
    >>> callback.on_train_end(RunContext({}))
    done
    """

    def __init__(
        self,
        on_train_epoch_begin: Callable[[RunContext], object] | None = None,
        on_train_epoch_end: Callable[[RunContext], object] | None = None,
        on_train_step_begin: Callable[[RunContext], object] | None = None,
        on_train_step_end: Callable[[RunContext], object] | None = None,
        on_train_begin: Callable[[RunContext], object] | None = None,
        on_train_end: Callable[[RunContext], object] | None = None,
        on_eval_epoch_begin: Callable[[RunContext], object] | None = None,
        on_eval_epoch_end: Callable[[RunContext], object] | None = None,
        on_eval_step_begin: Callable[[RunContext], object] | None = None,
        on_eval_step_end: Callable[[RunContext], object] | None = None,
        on_eval_begin: Callable[[RunContext], object] | None = None,
        on_eval_end: Callable[[RunContext], object] | None = None,
    ) -> None:
        for name, function in list(locals().items()):
            if not name.startswith("on_") or function is None:
                continue
            if not callable(function):
                raise ArgumentError(f"{name} is a function of the run, not a {type(function).__name__}")
            setattr(self, name, function)


class ProgressBar(Callback):
    """One line that tells where a training stands: epoch, step, loss, speed, and how long it will take.

    In a terminal the line is written over again; elsewhere, such as in the file of a job, a line is written every
    `every` seconds and at the end of each epoch. `file=None` writes nothing.

    >>> import io
    >>> bar = ProgressBar(file=io.StringIO())
    >>> bar.width() > 0
    True
    """

    def __init__(self, every: float = 10.0, file: TextIO | None = sys.stderr) -> None:
        if isinstance(every, bool) or not isinstance(every, int | float) or every < 0:
            raise ArgumentError(f"every is a number of seconds, not {every!r}")
        self.every, self.file = float(every), file
        self.begun = self.last = perf_counter()
        self.first_step = 0

    def width(self) -> int:
        """How many letters a line has."""
        return max(20, shutil.get_terminal_size().columns - 1)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        self.begun = perf_counter()
        self.first_step = run_context.original_args().cur_step_num

    def on_train_step_end(self, run_context: RunContext) -> None:
        now = perf_counter()
        if self.file is not None and now - self.last >= (0.1 if self._over() else self.every):
            self.last = now
            self._tell(run_context, "" if self._over() else "\n")

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        self._tell(run_context, "\n")

    def _over(self) -> bool:
        return self.file is not None and self.file.isatty()

    def _tell(self, run_context: RunContext, end: str) -> None:
        if self.file is None:
            return
        now = run_context.original_args()
        done, seconds = now.cur_step_num - self.first_step, max(perf_counter() - self.begun, 1e-9)
        loss = loss_of(now.get("net_outputs"))
        parts = [f"epoch {now.cur_epoch_num}", f"step {done}", f"{done / seconds:.1f} steps/s"]
        if now.batch_num > 0:
            share = min(1.0, done / now.batch_num)
            parts[1] = f"step {done}/{now.batch_num} [{'#' * int(10 * share):10}]"
            if done and share < 1:
                parts.append(f"{(now.batch_num - done) * seconds / done:.0f} s left")
        if loss is not None:
            parts.append(f"loss {loss:.4g}")
        parts += [f"{k} {v:.4g}" for k, v in (now.get("metrics") or {}).items() if isinstance(v, int | float)]
        line = "  ".join(parts)
        if self._over():
            line = "\r" + line[: self.width()].ljust(self.width())
        self.file.write(line + end)
        self.file.flush()
