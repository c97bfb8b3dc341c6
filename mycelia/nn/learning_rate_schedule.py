"""Learning rates as cells: the rate at each step, computed from the number of the step."""

from __future__ import annotations

import math
from inspect import signature
from typing import Any

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell
from mycelia.types import float32


class LearningRateSchedule(Cell):
    """The family: `construct(global_step)` gives the rate; the first step is 0.

    >>> class Halves(LearningRateSchedule):
    ...     def construct(self, global_step):
    ...         return 0.5 ** self.steps(global_step)
    >>> Halves()(Tensor(2)).item()
    0.25
    """

    def extend_repr(self) -> str:
        held = {name: self.__dict__.get(name) for name in signature(type(self).__init__).parameters}
        return ", ".join(
            f"{name}={value!r}" for name, value in held.items() if isinstance(value, int | float) and value is not False
        )

    @staticmethod
    def steps(global_step: Any) -> Tensor:
        """The number of the step as a floating number."""
        return cast(global_step if isinstance(global_step, Tensor) else Tensor(global_step), float32)


def check_rate(name: str, rate: float) -> float:
    """A rate that is positive.

    >>> check_rate("learning_rate", 0.1)
    0.1
    """
    if isinstance(rate, bool) or not isinstance(rate, int | float) or rate <= 0:
        raise ArgumentError(f"{name} is a positive number, not {rate!r}")
    return float(rate)


def check_steps(name: str, steps: int) -> int:
    """A number of steps that is whole and positive.

    >>> check_steps("decay_steps", 4)
    4
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps <= 0:
        raise ArgumentError(f"{name} is a positive whole number, not {steps!r}", hint="count steps from 1")
    return steps


class Decay(LearningRateSchedule):
    """The family of rates that decay with `decay_rate` for every `decay_steps` steps, smoothly or as a stair."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self.learning_rate = check_rate("learning_rate", learning_rate)
        self.decay_rate = check_rate("decay_rate", decay_rate)
        self.decay_steps, self.is_stair = check_steps("decay_steps", decay_steps), is_stair

    def periods(self, global_step: Any) -> Tensor:
        """How many times `decay_steps` have passed."""
        passed = self.steps(global_step) / self.decay_steps
        return ops.floor(passed) if self.is_stair else passed


class ExponentialDecayLR(Decay):
    """learning_rate * decay_rate ** (step / decay_steps).

    >>> ExponentialDecayLR(0.1, 0.5, 2)(Tensor(2)).item()
    0.05
    """

    def construct(self, global_step: Any) -> Tensor:
        return ops.exp(self.periods(global_step) * math.log(self.decay_rate)) * self.learning_rate  # type: ignore[no-any-return]


class NaturalExpDecayLR(Decay):
    """learning_rate * exp(-decay_rate * step); a stair goes down every decay_steps.

    >>> NaturalExpDecayLR(0.1, 0.5, 2)(Tensor(0)).item()
    0.1
    """

    def construct(self, global_step: Any) -> Tensor:
        step = self.periods(global_step) * self.decay_steps
        return ops.exp(step * -self.decay_rate) * self.learning_rate  # type: ignore[no-any-return]


class InverseDecayLR(Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps).

    >>> InverseDecayLR(0.1, 1.0, 2)(Tensor(2)).item()
    0.05
    """

    def construct(self, global_step: Any) -> Tensor:
        return self.learning_rate / (self.periods(global_step) * self.decay_rate + 1.0)  # type: ignore[no-any-return]


class CosineDecayLR(LearningRateSchedule):
    """From max_lr down to min_lr along half a cosine, over decay_steps.

    >>> CosineDecayLR(0.0, 0.5, 4)(Tensor(2)).item()
    0.25
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        if not 0 <= min_lr < max_lr:
            raise ArgumentError("a cosine goes from max_lr down to min_lr", given={"min_lr": min_lr, "max_lr": max_lr})
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, check_steps("decay_steps", decay_steps)

    def construct(self, global_step: Any) -> Tensor:
        share = ops.minimum(self.steps(global_step) / self.decay_steps, 1.0)
        return (ops.cos(share * math.pi) + 1.0) * (0.5 * (self.max_lr - self.min_lr)) + self.min_lr  # type: ignore[no-any-return]


class PolynomialDecayLR(LearningRateSchedule):
    """From learning_rate to end_learning_rate along a power of what is left of decay_steps.

    With update_decay_steps the way begins again, longer, each time it has ended.

    >>> PolynomialDecayLR(1.0, 0.5, 4, 1.0)(Tensor(2)).item()
    0.75
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        self.learning_rate = check_rate("learning_rate", learning_rate)
        if not 0 <= end_learning_rate < learning_rate:
            raise ArgumentError(
                "a decay ends below where it began",
                given={"learning_rate": learning_rate, "end_learning_rate": end_learning_rate},
                hint="the larger rate comes first",
            )
        self.end_learning_rate, self.power = end_learning_rate, check_rate("power", power)
        self.decay_steps, self.update_decay_steps = check_steps("decay_steps", decay_steps), update_decay_steps

    def construct(self, global_step: Any) -> Tensor:
        step = self.steps(global_step)
        if self.update_decay_steps:
            end = ops.maximum(ops.ceil(step / self.decay_steps), 1.0) * self.decay_steps
            left = 1.0 - step / end
        else:
            left = 1.0 - ops.minimum(step / self.decay_steps, 1.0)
        return ops.pow(left, self.power) * (self.learning_rate - self.end_learning_rate) + self.end_learning_rate  # type: ignore[no-any-return]


class WarmUpLR(LearningRateSchedule):
    """From 0 up to learning_rate in equal steps, then flat.

    >>> WarmUpLR(0.5, 4)(Tensor(2)).item()
    0.25
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = check_rate("learning_rate", learning_rate)
        self.warmup_steps = check_steps("warmup_steps", warmup_steps)

    def construct(self, global_step: Any) -> Tensor:
        return ops.minimum(self.steps(global_step) / self.warmup_steps, 1.0) * self.learning_rate  # type: ignore[no-any-return]
