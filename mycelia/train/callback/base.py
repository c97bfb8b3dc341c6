"""What a callback is: it is called at moments of training and evaluation, and may ask to stop."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Self

import numpy as np

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError

MOMENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


class RunContext:
    """What is known of a run, and whether it is to stop: what callbacks are given.

    >>> context = RunContext({"cur_step_num": 3})
    >>> context.request_stop()
    >>> context.original_args()["cur_step_num"], context.get_stop_requested()
    (3, True)
    """

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise ArgumentError(f"a run is described by a dictionary, not by a {type(original_args).__name__}")
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """What is known of the run, by name; names can be read as attributes too."""
        return self._original_args

    def request_stop(self) -> None:
        """Let the run end after the present step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether the run is to end."""
        return self._stop_requested


class InternalCallbackParam(dict[str, Any]):
    """What is known of a run: a dictionary whose names can be read as attributes.

    >>> InternalCallbackParam(cur_step_num=3).cur_step_num
    3
    """

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"nothing is known of {name} at this moment; known are {', '.join(sorted(self))}")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Callback:
    """The base of callbacks. A kind of one's own defines some of the moments.

    There is a moment before and after a run, an epoch and a step, of training (`on_train_...`) and of evaluation
    (`on_eval_...`). The older names without `on_train` and `on_eval` are called by both.

    >>> class Counter(Callback):
    ...     def on_train_step_end(self, run_context):
    ...         print(run_context.original_args().cur_step_num)
    >>> Counter().on_train_step_end(RunContext(InternalCallbackParam(cur_step_num=3)))
    3
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *err: object) -> None:
        return None

    def begin(self, run_context: RunContext) -> None:
        """Before a run."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before a step."""

    def step_end(self, run_context: RunContext) -> None:
        """After a step."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After an epoch."""

    def end(self, run_context: RunContext) -> None:
        """After a run."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Before a training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Before an epoch of training."""
        self.epoch_begin(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Before a step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """After a step of training."""
        self.step_end(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """After an epoch of training, and its evaluation."""
        self.epoch_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """After a training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Before an evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Before the epoch of an evaluation."""
        self.epoch_begin(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Before a step of an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """After a step of an evaluation."""
        self.step_end(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """After the epoch of an evaluation."""
        self.epoch_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """After an evaluation."""
        self.end(run_context)

    def state_dict(self) -> dict[str, Any]:
        """What must be known to go on after an interruption, as plain data; see `BackupAndRestore`."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up what `state_dict` told."""


class CallbackManager:
    """Several callbacks as one, called in their order; a context that enters and leaves all of them.

    >>> with CallbackManager([Callback()]) as callbacks:
    ...     len(callbacks.callbacks)
    1
    """

    def __init__(self, callbacks: Any) -> None:
        listed = [] if callbacks is None else [callbacks] if isinstance(callbacks, Callback) else callbacks
        if not isinstance(listed, list | tuple) or not all(isinstance(c, Callback) for c in listed):
            odd = (
                next((c for c in listed if not isinstance(c, Callback)), listed)
                if isinstance(listed, Iterable) and not isinstance(listed, str)
                else listed
            )
            hint = f"make it first: {odd.__name__}()" if isinstance(odd, type) else "derive it from train.Callback"
            hint = "for example train.LossMonitor()" if isinstance(odd, str) else hint
            raise ArgumentError("callbacks are a Callback or a list of them", given={"callback": odd}, hint=hint)
        self.callbacks: list[Callback] = list(listed)
        self.stack = ExitStack()

    def __enter__(self) -> Self:
        self.stack.__enter__()
        entered = [self.stack.enter_context(c) for c in self.callbacks]
        self.callbacks = [
            new if isinstance(new, Callback) else old for old, new in zip(self.callbacks, entered, strict=True)
        ]
        return self

    def __exit__(self, *err: Any) -> Any:
        return self.stack.__exit__(*err)

    def call(self, moment: str, run_context: RunContext) -> None:
        """Call all of them at a moment."""
        for callback in self.callbacks:
            getattr(callback, moment)(run_context)

    def watches(self, *moments: str) -> bool:
        """Whether any of them does something at one of these moments."""
        return any(
            getattr(type(c), m) is not getattr(Callback, m) or m in vars(c) for c in self.callbacks for m in moments
        )


def loss_of(outputs: Any) -> float | None:
    """The loss among what a training step gave: the first, averaged; None if there is none.

    >>> loss_of((Tensor([1.0, 3.0]), Tensor(False)))
    2.0
    """
    first = outputs[0] if isinstance(outputs, tuple | list) and outputs else outputs
    if isinstance(first, Tensor):
        return float(np.mean(first.asnumpy().astype(np.float64) if first.dtype.is_float else first.asnumpy()))
    return float(first) if isinstance(first, int | float) else None
