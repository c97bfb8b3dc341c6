"""Callbacks that act on what is measured: they stop, or slow down, when nothing gets better; schedules of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.eager import Parameter, Tensor, assign
from mycelia.errors import ArgumentError, warn_user
from mycelia.train.callback.base import Callback, RunContext, loss_of
from mycelia.types import Array, float32

SMALLER = (
    "hausdorff_distance", "mae", "mse", "loss", "perplexity", "mean_surface_distance", "root_mean_square_distance",
    "eval_loss",
)  # fmt: skip
"""What is better when it is smaller."""


class _Watching(Callback):
    """Looks at a number after each epoch, and knows the best so far."""

    def __init__(self, monitor: str, min_delta: float, patience: int, verbose: bool, mode: str) -> None:
        if not isinstance(monitor, str):
            raise ArgumentError(f"monitor is the name of what is measured, not {monitor!r}")
        if isinstance(min_delta, bool) or not isinstance(min_delta, int | float):
            raise ArgumentError(f"min_delta is a number, not {min_delta!r}")
        if type(patience) is not int or patience < 0:
            raise ArgumentError(f"patience is a whole number of epochs, not {patience!r}")
        if mode not in ("auto", "min", "max"):
            raise ArgumentError(f"mode is auto, min or max, not {mode!r}")
        self.monitor, self.min_delta, self.patience, self.verbose = monitor, abs(min_delta), patience, bool(verbose)
        self.mode = mode
        self.smaller = mode == "min" or (mode == "auto" and monitor in SMALLER)
        self.wait, self.best = 0, math.inf if self.smaller else -math.inf

    def improves(self, value: float, best: float) -> bool:
        """Whether a value is better than another by more than `min_delta`."""
        return value < best - self.min_delta if self.smaller else value > best + self.min_delta

    def on_train_begin(self, run_context: RunContext) -> None:
        self.wait, self.best = 0, math.inf if self.smaller else -math.inf

    def watched(self, run_context: RunContext) -> float | None:
        """The number after this epoch; None where it was not measured."""
        now = run_context.original_args()
        found = now.get("eval_results") or {}
        value = loss_of(now.net_outputs) if self.monitor == "loss" else found.get(self.monitor)
        if value is None:
            if not found and now.get("validates") and self.monitor != "loss":
                return None  # this epoch is not evaluated
            known = ", ".join(["loss", *found])
            warn_user(f"{type(self).__name__} watches {self.monitor}, and there are {known}")
            return None
        if np.ndim(value):
            raise ArgumentError(f"{type(self).__name__} watches one number, and {self.monitor} has {np.size(value)}")
        return float(value)

    def state_dict(self) -> dict[str, Any]:
        return {"wait": self.wait, "best": self.best}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.wait, self.best = state["wait"], state["best"]


class EarlyStopping(_Watching):
    """Ends a training when what is watched has not become better in `patience` epochs, by more than `min_delta`.

    With a `patience` of 1 the first epoch that is not better ends it; with 0 the first one, as MindSpore has it.
    `monitor` is a metric, "eval_loss" or "loss"; `mode` says whether less or more is better, if its name does not.
    Only what is better than `baseline` counts. `restore_best_weights` takes the weights of the best epoch in the end.

    >>> EarlyStopping(monitor="accuracy", patience=3).smaller
    False
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, min_delta, patience, verbose, mode)
        if baseline is not None and (isinstance(baseline, bool) or not isinstance(baseline, int | float)):
            raise ArgumentError(f"baseline is a number or None, not {baseline!r}")
        self.baseline, self.restore_best_weights = baseline, bool(restore_best_weights)
        self.stopped_epoch = 0
        self.weights: dict[str, Array] = {}

    def on_train_begin(self, run_context: RunContext) -> None:
        super().on_train_begin(run_context)
        self.stopped_epoch, self.weights = 0, {}

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        value, now = self.watched(run_context), run_context.original_args()
        if value is None:
            return
        self.wait += 1
        parameters = now.train_network.parameters_dict()
        if self.improves(value, self.best):
            self.best = value
            if self.baseline is None or self.improves(value, self.baseline):
                self.wait = 0
            if self.restore_best_weights:
                self.weights = {name: p.asnumpy().copy() for name, p in parameters.items()}
        if self.wait >= self.patience:
            if not self.wait and now.cur_epoch_num < now.get("epoch_num", 0):
                told = "EarlyStopping with patience=0 ends a training after its first epoch, as in MindSpore, though it"
                warn_user(f"{told} became better; patience=1 waits for the first epoch that does not")
            self.stopped_epoch = now.cur_epoch_num
            run_context.request_stop()
            if self.weights:
                if self.verbose:
                    print("Restoring model weights from the end of the best epoch.")
                for name, array in self.weights.items():
                    parameters[name].set_data(Tensor(array))

    def on_train_end(self, run_context: RunContext) -> None:
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.weights = state["weights"]


def rate_of(optimizer: Any, who: str) -> Parameter:
    """The parameter that holds the learning rate of an optimizer, if it is one number.

    >>> from mycelia.nn import SGD
    >>> rate_of(SGD([Parameter([1.0], name="w")], 0.5), "someone").item()
    0.5
    """
    rate = getattr(optimizer, "learning_rate", None)
    if not isinstance(rate, Parameter) or rate.ndim:  # groups with rates of their own have a tuple of them
        raise ArgumentError(
            f"{who} changes a learning rate that is one number for all parameters",
            hint="give the optimizer a number, not a list, a schedule or groups",
        )
    return rate


class ReduceLROnPlateau(_Watching):
    """Multiplies the learning rate by `factor` when what is watched has not become better in `patience` epochs.

    After that `cooldown` epochs are not counted; the rate does not fall below `min_lr`.

    >>> ReduceLROnPlateau(factor=0.5, patience=2).factor
    0.5
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, min_delta, patience, verbose, mode)
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor < 1:
            raise ArgumentError(f"factor is a number between 0 and 1, not {factor!r}")
        if type(cooldown) is not int or cooldown < 0:
            raise ArgumentError(f"cooldown is a whole number of epochs, not {cooldown!r}")
        if isinstance(min_lr, bool) or not isinstance(min_lr, int | float) or min_lr < 0:
            raise ArgumentError(f"min_lr is a number from 0, not {min_lr!r}")
        self.factor, self.cooldown, self.min_lr, self.cooling = factor, cooldown, min_lr, 0

    def on_train_begin(self, run_context: RunContext) -> None:
        super().on_train_begin(run_context)
        self.cooling = 0

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        rate, value = rate_of(now.optimizer, "ReduceLROnPlateau"), self.watched(run_context)
        if value is None:
            return
        if self.cooling:
            self.cooling, self.wait = self.cooling - 1, 0
        if self.improves(value, self.best):
            self.best, self.wait = value, 0
        elif not self.cooling:
            self.wait += 1
            if self.wait >= self.patience:
                if rate.item() > np.float32(self.min_lr):
                    new = max(rate.item() * self.factor, self.min_lr)
                    assign(rate, Tensor(new, float32))
                    if self.verbose:
                        print(f"Epoch {now.cur_epoch_num:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
                self.cooling, self.wait = self.cooldown, 0

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "cooling": self.cooling}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.cooling = state["cooling"]


class LearningRateScheduler(Callback):
    """Lets a function of the rate and the number of the step say, after each step, what the rate is to be.

    >>> halve = LearningRateScheduler(lambda rate, step: rate / 2 if step % 1000 == 0 else rate)
    >>> halve.learning_rate_function(0.1, 1000)
    0.05
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        if not callable(learning_rate_function):
            raise ArgumentError(f"a function of rate and step is needed, not a {type(learning_rate_function).__name__}")
        self.learning_rate_function = learning_rate_function

    def on_train_step_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        rate = rate_of(now.optimizer, "LearningRateScheduler")
        held = float(str(rate.asnumpy()))  # as it was written down: 0.1, not 0.10000000149
        new = self.learning_rate_function(held, now.cur_step_num)
        if isinstance(new, bool) or not isinstance(new, int | float | np.floating) or not new >= 0:
            raise ArgumentError(f"the function gave {new!r}, which is no learning rate")
        if not math.isclose(held, new, rel_tol=1e-10):
            assign(rate, Tensor(float(new), float32))
