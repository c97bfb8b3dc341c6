"""Schedules of learning rates: after each epoch (or step), `step()` assigns to the rates of an optimizer's groups.

What one of them multiplies is the rate as it is, so that schedules can be combined, and a program may change rates
beside them. `step(epoch)` goes to an epoch at once, by the closed formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, inf, log, pi
from typing import Any

from mycelia import checks
from mycelia.eager import Parameter, Tensor, assign
from mycelia.errors import ArgumentError, CallError
from mycelia.experimental.optim.optimizer import Optimizer
from mycelia.types import float32

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


def _optimizer(given: Any) -> Optimizer:
    if not isinstance(given, Optimizer):
        raise CallError(
            f"a schedule changes the rates of an optimizer with groups, not of a {type(given).__name__}",
            hint="optimizers of experimental.optim and mint.optim have them; those of nn take a schedule as their rate",
        )
    return given


class LRScheduler:
    """The base. A kind of one's own says in `get_lr` what the rates become: one for each group.

    `last_epoch` counts the calls of `step`; the first is made at once.

    >>> class Halved(LRScheduler):
    ...     def get_lr(self):
    ...         return [rate * 0.5 for rate in self._last_lr]
    >>> from mycelia.experimental.optim import SGD
    >>> schedule = Halved(SGD([Parameter([1.0], name="w")], 1.0))
    >>> done = schedule.step()
    >>> [rate.item() for rate in schedule.get_last_lr()]
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = _optimizer(optimizer)
        self.last_epoch = Parameter(
            Tensor(checks.whole(type(self).__name__, "last_epoch", last_epoch, least=-1), float32),
            name=f"last_epoch_{type(self).__name__}", requires_grad=False,
        )  # fmt: skip
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"].value())
            elif "initial_lr" not in group:
                raise KeyError(f"initial_lr is not in param_groups[{number}], and the schedule is taken up again")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._last_lr = list(optimizer.lrs)
        self.groups_num = len(optimizer.param_groups)
        self.step()

    def get_lr(self) -> Sequence[Any]:
        """The rates of this epoch, from those before it."""
        raise ArgumentError(f"{type(self).__name__} does not say what the rates become", hint="define get_lr")

    closed: Callable[[Any], Sequence[Any]] | None = None  # the rates of an epoch, where there is a formula for it

    def get_last_lr(self) -> list[Tensor]:
        """The rates as they are now."""
        return [rate.value() for rate in self._last_lr]

    def step(self, epoch: int | None = None) -> bool:
        """Go to the next epoch, or to this one, and assign its rates."""
        if epoch is None:
            assign(self.last_epoch, self.last_epoch + 1)
            rates = self.get_lr()
        else:
            assign(self.last_epoch, epoch)
            rates = self.get_lr() if self.closed is None else self.closed(self.last_epoch)
        for held, rate in zip(self._last_lr, rates, strict=True):
            assign(held, rate)
        return True

    def same(self) -> list[Any]:
        """The rates as they are."""
        return [rate * 1.0 for rate in self._last_lr]

    def times(self, factor: Any) -> list[Any]:
        """The rates as they are, times a factor."""
        return [rate * factor for rate in self._last_lr]


def _number(owner: Any, name: str, value: Any, **bounds: Any) -> float:
    return checks.number(type(owner).__name__, name, value, **bounds)


class StepLR(LRScheduler):
    """Rates times `gamma` after every `step_size` epochs.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = StepLR(SGD([Parameter([1.0], name="w")], 1.0), step_size=2, gamma=0.5)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(4)]
    [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = checks.whole("StepLR", "step_size", step_size, least=1)
        self.gamma = _number(self, "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self.same()
        return self.times(self.gamma)

    def closed(self, epoch: Any) -> Sequence[Any]:
        """By the formula."""
        return [base * self.gamma ** (epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Rates times `gamma` at each of the epochs in `milestones`.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = MultiStepLR(SGD([Parameter([1.0], name="w")], 1.0), [1, 3], gamma=0.5)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(4)]
    [0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        if not isinstance(milestones, list | tuple):
            raise CallError(f"milestones are a list of epochs, not a {type(milestones).__name__}")
        self.milestones = [checks.whole("MultiStepLR", "milestones", m, least=0) for m in milestones]
        self.gamma = _number(self, "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        rates = self.same()
        for milestone in self.milestones:
            if self.last_epoch == milestone:
                rates = [rate * self.gamma for rate in rates]
        return rates

    def closed(self, epoch: Any) -> Sequence[Any]:
        """By the formula."""
        rates = list(self.base_lrs)
        for milestone in self.milestones:
            if epoch >= milestone:
                rates = [rate * self.gamma for rate in rates]
        return rates


class ConstantLR(LRScheduler):
    """Rates times `factor` until epoch `total_iters`.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = ConstantLR(SGD([Parameter([1.0], name="w")], 1.0), factor=0.5, total_iters=2)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(3)]
    [0.5, 1.0, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.factor = _number(self, "factor", factor, above=0, most=1)
        self.total_iters = checks.whole("ConstantLR", "total_iters", total_iters, least=1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        if self.last_epoch == 0:
            return self.times(self.factor)
        return self.same() if self.last_epoch != self.total_iters else self.times(1.0 / self.factor)

    def closed(self, epoch: Any) -> Sequence[Any]:
        """By the formula."""
        if epoch >= self.total_iters:
            return list(self.base_lrs)
        return [base * self.factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Rates times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = LinearLR(SGD([Parameter([1.0], name="w")], 1.0), start_factor=0.5, total_iters=2)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(3)]
    [0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor = _number(self, "start_factor", start_factor, above=0, most=1)
        self.end_factor = _number(self, "end_factor", end_factor, least=0, most=1)
        self.total_iters = checks.whole("LinearLR", "total_iters", total_iters, least=1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        if self.last_epoch == 0:
            return self.times(self.start_factor)
        if self.last_epoch > self.total_iters:
            return self.same()
        way = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * way
        return self.times(1.0 + way / before)

    def closed(self, epoch: Any) -> Sequence[Any]:
        """By the formula."""
        reached = self.total_iters if epoch > self.total_iters else epoch
        factor = self.start_factor + (self.end_factor - self.start_factor) * reached / self.total_iters
        return [base * factor for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Rates times `gamma` after each epoch.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = ExponentialLR(SGD([Parameter([1.0], name="w")], 1.0), gamma=0.5)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(2)]
    [0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = _number(self, "gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        return self.same() if self.last_epoch == 0 else self.times(self.gamma)

    def closed(self, epoch: Any) -> Sequence[Any]:
        """By the formula."""
        return [base * self.gamma**epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Rates that go to 0 in `total_iters` epochs, by a power of what is left.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = PolynomialLR(SGD([Parameter([1.0], name="w")], 1.0), total_iters=4)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(5)]
    [0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = checks.whole("PolynomialLR", "total_iters", total_iters, least=1)
        self.power = _number(self, "power", power, least=0)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self.same()
        left = (1.0 - self.last_epoch / self.total_iters) / (1.0 - (self.last_epoch - 1) / self.total_iters)
        return self.times(left**self.power)

    def closed(self, epoch: Any) -> Sequence[Any]:
        """By the formula."""
        reached = self.total_iters if epoch > self.total_iters else epoch
        return [base * (1.0 - reached / self.total_iters) ** self.power for base in self.base_lrs]


class LambdaLR(LRScheduler):
    """First rates times what functions of the epoch give: one, or one for each group.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = LambdaLR(SGD([Parameter([1.0], name="w")], 1.0), lambda epoch: 0.5 ** epoch)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(2)]
    [0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = _functions(_optimizer(optimizer), lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        return [base * fn(self.last_epoch) for fn, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(LRScheduler):
    """Rates times what functions of the epoch give, after each epoch.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = MultiplicativeLR(SGD([Parameter([1.0], name="w")], 1.0), lambda epoch: 0.5)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(2)]
    [0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas = _functions(_optimizer(optimizer), lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        if self.last_epoch > 0:
            return [rate * fn(self.last_epoch) for rate, fn in zip(self._last_lr, self.lr_lambdas, strict=True)]
        return self.same()


def _functions(optimizer: Optimizer, given: Any) -> list[Callable[[Any], Any]]:
    """A function for each group."""
    groups = len(optimizer.param_groups)
    listed = list(given) if isinstance(given, list | tuple) else [given] * groups
    if len(listed) != groups or not all(map(callable, listed)):
        raise ArgumentError(f"lr_lambda is a function of the epoch, or a list of {groups} of them")
    return listed


class CosineAnnealingLR(LRScheduler):
    """Rates that go down to `eta_min` in `T_max` epochs and up again, along a cosine.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = CosineAnnealingLR(SGD([Parameter([1.0], name="w")], 1.0), T_max=2)
    >>> [(schedule.step(), round(schedule.get_last_lr()[0].item(), 4))[1] for _ in range(2)]
    [0.5, 0.0]
    """

    def __init__(self, optimizer: Optimizer, T_max: float, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = _number(self, "T_max", T_max, above=0)
        self.eta_min = _number(self, "eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        if self.last_epoch == 0:
            return self.same()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1.0 - cos(pi / self.T_max)) / 2
            return [
                rate + (base - self.eta_min) * rise for rate, base in zip(self._last_lr, self.base_lrs, strict=True)
            ]
        now, before = (1.0 + (e * (pi / self.T_max)).cos() for e in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in self._last_lr]

    def closed(self, epoch: Any) -> Sequence[Any]:
        """By the formula."""
        share = (1.0 + (epoch * (pi / self.T_max)).cos()) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Rates that go down to `eta_min` along a cosine, in `T_0` epochs, then begin anew: each time in `T_mult` times as
    many.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = CosineAnnealingWarmRestarts(SGD([Parameter([1.0], name="w")], 1.0), T_0=2)
    >>> [(schedule.step(), round(schedule.get_last_lr()[0].item(), 4))[1] for _ in range(2)]
    [0.5, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1
    ) -> None:
        self.T_0 = checks.whole("CosineAnnealingWarmRestarts", "T_0", T_0, least=1)
        self.T_mult = checks.whole("CosineAnnealingWarmRestarts", "T_mult", T_mult, least=1)
        self.eta_min = _number(self, "eta_min", eta_min)
        self.T_i, self.T_cur = (
            Parameter(Tensor(value, float32), name=name, requires_grad=False)
            for name, value in (("T_i", T_0), ("T_cur", last_epoch))
        )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[Any]:
        share = (1.0 + (self.T_cur / self.T_i * pi).cos()) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]  # as in MindSpore, where the others give True
        """Go to the next epoch, or to this one (parts of an epoch count too), and assign its rates."""
        if epoch is None:
            assign(self.last_epoch, self.last_epoch + 1)
            assign(self.T_cur, self.T_cur + 1)
            if self.T_cur >= self.T_i:
                assign(self.T_cur, self.T_cur - self.T_i)
                assign(self.T_i, self.T_i * self.T_mult)
        else:
            number = float(epoch)
            if number < 0:
                raise ArgumentError(f"epoch is a number from 0, not {epoch}")
            round_ = 0
            if number >= self.T_0 and self.T_mult > 1:
                round_ = int(log(number / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            begin = self.T_0 * (self.T_mult**round_ - 1) / (self.T_mult - 1) if self.T_mult > 1 else 0.0
            assign(self.T_cur, number - begin if self.T_mult > 1 else number % self.T_0)
            assign(self.T_i, self.T_0 * self.T_mult**round_)
            assign(self.last_epoch, float(number // 1))
        for held, rate in zip(self._last_lr, self.get_lr(), strict=True):
            assign(held, rate)


class CyclicLR(LRScheduler):
    """Rates that go up from `base_lr` to `max_lr` and down again, in straight lines.

    In mode "triangular2" each time half as high, in "exp_range" by `gamma` to the power of the step; `scale_fn` of the
    cycle, or of the step if `scale_mode` is "iterations", says how high otherwise.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = CyclicLR(SGD([Parameter([1.0], name="w")], 1.0), 1.0, 3.0, step_size_up=2)
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(4)]
    [2.0, 3.0, 2.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[Any], Any] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        lowest = self._each(_optimizer(optimizer), "base_lr", base_lr)
        self.max_lrs = self._each(optimizer, "max_lr", max_lr)
        if last_epoch == -1:
            for rate, group in zip(lowest, optimizer.param_groups, strict=True):
                assign(group["lr"], rate)
        up = _number(self, "step_size_up", step_size_up, above=0)
        down = up if step_size_down is None else _number(self, "step_size_down", step_size_down, above=0)
        self.total_step_size, self.step_up_ratio = up + down, up / (up + down)
        if scale_fn is None:
            checks.choice("CyclicLR", "mode", mode, ("triangular", "triangular2", "exp_range"))
        self.mode, self.gamma, self._scale = mode, _number(self, "gamma", gamma), scale_fn
        by_mode = {"triangular": "cycle", "triangular2": "cycle", "exp_range": "iterations"}
        chosen = scale_mode if scale_fn is not None else by_mode[mode]
        self.scale_mode = checks.choice("CyclicLR", "scale_mode", chosen, ("cycle", "iterations"))
        self._lowest = lowest
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [Tensor(rate, float32) for rate in lowest]

    def _each(self, optimizer: Optimizer, name: str, given: Any) -> list[float]:
        groups = len(optimizer.param_groups)
        listed = list(given) if isinstance(given, list | tuple) else [given] * groups
        if len(listed) != groups:
            raise ArgumentError(f"{name} is one rate, or one for each of {groups} groups, not {len(listed)}")
        return [_number(self, name, rate, least=0) for rate in listed]

    def scale_fn(self, x: Any) -> Any:
        """How high a cycle goes."""
        if self._scale is not None:
            return self._scale(x)
        return 1.0 if self.mode == "triangular" else 2.0 ** (1 - x) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> Sequence[Any]:
        cycle = (1 + self.last_epoch / self.total_step_size).floor()
        x = 1.0 + self.last_epoch / self.total_step_size - cycle
        up = self.step_up_ratio
        height = x / up if x <= up else (x - 1) / (up - 1)
        height = height * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return [low + (high - low) * height for low, high in zip(self._lowest, self.max_lrs, strict=True)]


class SequentialLR:
    """Schedules one after the other: the next begins at each of the epochs in `milestones`.

    >>> from mycelia.experimental.optim import SGD
    >>> optimizer = SGD([Parameter([1.0], name="w")], 1.0)
    >>> first, second = ConstantLR(optimizer, 0.5, 2), ExponentialLR(optimizer, 0.5)
    >>> schedule = SequentialLR(optimizer, [first, second], [2])
    >>> [(schedule.step(), schedule.get_last_lr()[0].item())[1] for _ in range(4)]
    [0.5, 1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = _optimizer(optimizer)
        if not schedulers or len(milestones) != len(schedulers) - 1:
            raise ArgumentError(
                f"of {len(schedulers)} schedules all but the first begin at a milestone, and there are "
                f"{len(milestones)} milestones"
            )
        for schedule in schedulers:
            if schedule.optimizer is not optimizer:
                raise ArgumentError("the schedules change the rates of another optimizer")
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.last_epoch = Parameter(Tensor(last_epoch + 1, float32), name="last_epoch_SequentialLR")
        for group in optimizer.param_groups:
            assign(group["lr"], group["initial_lr"])
        for schedule in schedulers:
            assign(schedule.last_epoch, schedule.last_epoch - 1)
        self._schedulers[0].step()

    def step(self) -> None:
        """Go to the next epoch, by the schedule whose turn it is."""
        assign(self.last_epoch, self.last_epoch + 1)
        now = self.last_epoch
        turn = sum(int(now >= milestone) for milestone in self._milestones)
        if turn and now == self._milestones[turn - 1]:
            self._schedulers[turn].step(0)
        else:
            self._schedulers[turn].step()

    def get_last_lr(self) -> list[Tensor]:
        """The rates as they are now."""
        return [rate.value() for rate in self.optimizer.lrs]


class ReduceLROnPlateau:
    """Rates times `factor` when what is watched has not become better for more than `patience` epochs.

    >>> from mycelia.experimental.optim import SGD
    >>> schedule = ReduceLROnPlateau(SGD([Parameter([1.0], name="w")], 1.0), factor=0.5, patience=0)
    >>> [(schedule.step(loss), schedule.get_last_lr()[0].item())[1] for loss in (0.3, 0.4, 0.2)]
    [1.0, 0.5, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        self.optimizer = _optimizer(optimizer)
        self.mode = checks.choice("ReduceLROnPlateau", "mode", mode, ("min", "max"))
        self.threshold_mode = checks.choice("ReduceLROnPlateau", "threshold_mode", threshold_mode, ("rel", "abs"))
        self.factor = checks.share("ReduceLROnPlateau", "factor", factor)
        self.patience = checks.whole("ReduceLROnPlateau", "patience", patience, least=0)
        self.cooldown = checks.whole("ReduceLROnPlateau", "cooldown", cooldown, least=0)
        self.threshold, self.eps = _number(self, "threshold", threshold), _number(self, "eps", eps, least=0)
        groups = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, list | tuple) else [min_lr] * groups
        if len(self.min_lrs) != groups:
            raise ArgumentError(f"min_lr is one rate, or one for each of {groups} groups, not {len(self.min_lrs)}")
        self.last_epoch, self.best, self.cooldown_counter, self.wait = (
            Parameter(Tensor(value, float32), name=name, requires_grad=False)
            for name, value in (
                ("last_epoch_ReduceLROnPlateau", 0.0), ("best", inf if mode == "min" else -inf),
                ("cooldown_counter", 0.0), ("wait", 0.0),
            )
        )  # fmt: skip
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics: Any) -> bool:
        """Look at what is watched after an epoch, and assign rates if it is time."""
        current = metrics if isinstance(metrics, Tensor) else Tensor(float(metrics), float32)
        assign(self.last_epoch, self.last_epoch + 1)
        if self.better(current):
            assign(self.best, current)
            assign(self.wait, 0.0)
        else:
            assign(self.wait, self.wait + 1)
        if self.cooldown_counter > 0:
            assign(self.cooldown_counter, self.cooldown_counter - 1)
            assign(self.wait, 0.0)
        if self.wait > self.patience:
            for held, least in zip(self._last_lr, self.min_lrs, strict=True):
                new = (held * self.factor).maximum(Tensor(float(least), float32))
                assign(held, new if held > new + self.eps else held * 1.0)
            assign(self.cooldown_counter, float(self.cooldown))
            assign(self.wait, 0.0)
        return True

    def better(self, current: Tensor) -> Any:
        """Whether it is better than the best so far, by more than the threshold."""
        sign = 1.0 if self.mode == "min" else -1.0
        if self.threshold_mode == "rel":
            bound = self.best * (1.0 - sign * self.threshold)
        else:
            bound = self.best - sign * self.threshold
        return current < bound if self.mode == "min" else current > bound

    def in_cooldown(self) -> Any:
        """Whether rates were lowered a short time ago."""
        return self.cooldown_counter > 0

    def get_last_lr(self) -> list[Tensor]:
        """The rates as they are now."""
        return [rate.value() for rate in self._last_lr]
