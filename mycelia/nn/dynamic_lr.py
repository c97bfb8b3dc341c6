"""Learning rates as lists: one number for each step, the same within an epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mycelia.errors import ArgumentError
from mycelia.nn.learning_rate_schedule import check_rate, check_steps


def _by_epoch(total_step: int, step_per_epoch: int, rate: Callable[[int], float]) -> list[float]:
    check_steps("total_step", total_step)
    check_steps("step_per_epoch", step_per_epoch)
    return [rate(step // step_per_epoch) for step in range(total_step)]


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """learning_rates[i] up to step milestone[i].

    >>> piecewise_constant_lr([2, 5], [0.1, 0.05])
    [0.1, 0.1, 0.05, 0.05, 0.05]
    """
    if len(milestone) != len(learning_rates) or not milestone:
        raise ArgumentError(
            f"{len(milestone)} milestones do not fit {len(learning_rates)} rates",
            given={"milestone": milestone, "learning_rates": learning_rates},
            hint="give a rate for each milestone: it holds until that step",
        )
    rates: list[float] = []
    for end, rate in zip(milestone, learning_rates, strict=True):
        if check_steps("a milestone", end) <= len(rates):
            raise ArgumentError("milestones must rise", given={"milestone": list(milestone)})
        rates += [check_rate("a learning rate", rate)] * (end - len(rates))
    return rates


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * decay_rate ** (epoch / decay_epoch).

    >>> exponential_decay_lr(0.1, 0.5, 3, 1, 1)
    [0.1, 0.05, 0.025]
    """
    check_rate("learning_rate", learning_rate), check_rate("decay_rate", decay_rate)
    check_steps("decay_epoch", decay_epoch)
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: learning_rate * decay_rate ** (epoch // decay_epoch if is_stair else epoch / decay_epoch),
    )


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate * exp(-decay_rate * epoch); a stair goes down every decay_epoch.

    >>> natural_exp_decay_lr(0.1, 0.9, 2, 2, 2)
    [0.1, 0.1]
    """
    check_rate("learning_rate", learning_rate), check_rate("decay_rate", decay_rate)
    check_steps("decay_epoch", decay_epoch)
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: (
            learning_rate * math.exp(-decay_rate * (epoch // decay_epoch * decay_epoch if is_stair else epoch))
        ),
    )


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """learning_rate / (1 + decay_rate * epoch / decay_epoch).

    >>> inverse_decay_lr(0.1, 1.0, 2, 1, 1)
    [0.1, 0.05]
    """
    check_rate("learning_rate", learning_rate), check_rate("decay_rate", decay_rate)
    check_steps("decay_epoch", decay_epoch)
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: learning_rate / (1 + decay_rate * (epoch // decay_epoch if is_stair else epoch / decay_epoch)),
    )


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """From max_lr down to min_lr along half a cosine, over decay_epoch epochs.

    >>> cosine_decay_lr(0.0, 0.2, 3, 1, 2)
    [0.2, 0.1, 0.0]
    """
    if not 0 <= min_lr < max_lr:
        raise ArgumentError("a cosine goes from max_lr down to min_lr", given={"min_lr": min_lr, "max_lr": max_lr})
    check_steps("decay_epoch", decay_epoch)
    half = 0.5 * (max_lr - min_lr)
    return _by_epoch(
        total_step,
        step_per_epoch,
        lambda epoch: min_lr + half * (1 + math.cos(math.pi * min(epoch, decay_epoch) / decay_epoch)),
    )


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """From learning_rate to end_learning_rate along a power of what is left of decay_epoch.

    >>> polynomial_decay_lr(0.1, 0.0, 2, 1, 2, 1.0)
    [0.1, 0.05]
    """
    check_rate("learning_rate", learning_rate), check_rate("power", power)
    check_steps("decay_epoch", decay_epoch)

    def rate(epoch: int) -> float:
        end = decay_epoch * max(1, math.ceil(epoch / decay_epoch)) if update_decay_epoch else decay_epoch
        left: float = (1 - min(epoch, end) / end) ** power
        return (learning_rate - end_learning_rate) * left + end_learning_rate

    return _by_epoch(total_step, step_per_epoch, rate)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """From 0 up to learning_rate over warmup_epoch epochs, then flat.

    >>> warmup_lr(0.1, 3, 1, 2)
    [0.0, 0.05, 0.1]
    """
    check_rate("learning_rate", learning_rate)
    if isinstance(warmup_epoch, bool) or not isinstance(warmup_epoch, int) or warmup_epoch < 0:
        raise ArgumentError(f"warmup_epoch is a whole number from 0, not {warmup_epoch!r}")
    if not warmup_epoch:
        return _by_epoch(total_step, step_per_epoch, lambda epoch: learning_rate)
    return _by_epoch(total_step, step_per_epoch, lambda epoch: learning_rate * min(epoch, warmup_epoch) / warmup_epoch)
