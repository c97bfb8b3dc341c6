"""Loss scaling: a loss is made large before it is differentiated, so that gradients in few bits do not vanish.

Where a gradient overflows the step is left out; the scale then falls, and rises again after some good steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mycelia import ops
from mycelia.api import value_and_grad
from mycelia.eager import Parameter, Tensor, assign, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.nn.optim import Optimizer
from mycelia.nn.wrap import TrainOneStepCell
from mycelia.types import bool_, float32, int32


def all_finite(inputs: Sequence[Tensor]) -> Tensor:
    """Whether no number of these tensors is infinite or NaN, as a tensor of one boolean.

    >>> bool(all_finite((Tensor([1.0]), Tensor([1.0, float("inf")]))))
    False
    """
    found = Tensor(True)
    for x in [inputs] if isinstance(inputs, Tensor) else inputs:
        if not isinstance(x, Tensor):
            raise ArgumentError(f"all_finite takes tensors, and got a {type(x).__name__}")
        if x.dtype.is_float:
            found = ops.logical_and(found, ops.isfinite(x).all())
    return found


def check_scale(value: float, name: str = "loss_scale_value") -> float:
    """A scale: a number of at least 1.

    >>> check_scale(1024)
    1024.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value < float("inf"):
        raise ArgumentError(f"{name} is a number of at least 1, not {value!r}", hint="for example 2**10")
    return float(value)


def check_change(factor: int, window: int) -> None:
    """By which factor a scale changes, and after how many good steps.

    >>> check_change(1, 1000)
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: scale_factor is a whole number from 2, not 1...
    """
    if type(factor) is not int or factor < 2:
        raise ArgumentError(f"scale_factor is a whole number from 2, not {factor!r}")
    if type(window) is not int or window < 1:
        raise ArgumentError(f"scale_window is a whole number from 1, not {window!r}")


class DynamicLossScaleUpdateCell(Cell):
    """How a scale changes: an overflow divides it by a factor; so many good steps multiply it.

    >>> scale = Parameter(Tensor(16.0), name="scale")
    >>> update = DynamicLossScaleUpdateCell(16.0, scale_factor=2, scale_window=2)
    >>> for overflow in (True, False, False):
    ...     overflow = update(scale, Tensor(overflow))
    >>> scale.item()
    16.0
    """

    def __init__(self, loss_scale_value: float, scale_factor: int, scale_window: int) -> None:
        super().__init__()
        self.loss_scale_value = check_scale(loss_scale_value)
        check_change(scale_factor, scale_window)
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.cur_iter = Parameter(Tensor(1, int32), name="current_iterator_step", requires_grad=False)
        self.last_overflow_iter = Parameter(Tensor(0, int32), name="last_overflow_iterator_step", requires_grad=False)

    def get_loss_scale(self) -> float:
        """The scale to begin with."""
        return self.loss_scale_value

    def construct(self, loss_scale: Parameter, overflow: Tensor) -> Tensor:
        now, last = self.cur_iter.value(), self.last_overflow_iter.value()
        falls = ops.maximum(loss_scale / self.scale_factor, 1.0)
        ripe = ops.logical_and(ops.logical_not(overflow), now - last >= self.scale_window)
        assign(loss_scale, ops.where(overflow, falls, ops.where(ripe, loss_scale * self.scale_factor, loss_scale)))
        assign(self.last_overflow_iter, ops.where(ops.logical_or(overflow, ripe), now, last))
        assign(self.cur_iter, now + 1)
        return overflow


class FixedLossScaleUpdateCell(Cell):
    """A scale that does not change.

    >>> FixedLossScaleUpdateCell(64.0).get_loss_scale()
    64.0
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        self.loss_scale_value = check_scale(loss_scale_value)

    def get_loss_scale(self) -> float:
        """The scale."""
        return self.loss_scale_value

    def construct(self, _: Any, overflow: Tensor) -> Tensor:
        return overflow


def changed_by(optimizer: Optimizer) -> tuple[Parameter, ...]:
    """All parameters that a step of an optimizer may change: the weights, and what it remembers of them.

    >>> from mycelia.nn import SGD
    >>> [p.name for p in changed_by(SGD([Parameter([1.0], name="w")], 0.5))]
    ['w', 'global_step', 'learning_rate']
    """
    return (*optimizer.parameters, *optimizer.get_parameters())


def update_if(optimizer: Optimizer, held: Sequence[Parameter], fine: Tensor, gradients: Sequence[Tensor]) -> None:
    """Let an optimizer change the parameters `held` if all is `fine`; else everything stays as it was.

    There is no branch: each number is chosen as it is written.

    >>> from mycelia.nn import SGD
    >>> w = Parameter([1.0], name="w")
    >>> optimizer = SGD([w], 0.5)
    >>> update_if(optimizer, changed_by(optimizer), Tensor(False), (Tensor([1.0]),))
    >>> w.item()
    1.0
    """
    before = [p.copy() for p in held]
    optimizer(gradients)
    for parameter, old in zip(held, before, strict=True):
        assign(parameter, ops.where(fine, parameter, old))


class TrainOneStepWithLossScaleCell(TrainOneStepCell):
    """A training step whose loss is scaled: (loss, whether it overflowed, scale). After an overflow nothing changes.

    `scale_sense` is a cell that changes the scale at each step, or a tensor of one number.

    >>> from mycelia.nn import SGD, Dense, MSELoss, WithLossCell
    >>> net = Dense(1, 1, weight_init="ones", has_bias=False)
    >>> update = DynamicLossScaleUpdateCell(1024.0, 2, 1000)
    >>> step = TrainOneStepWithLossScaleCell(WithLossCell(net, MSELoss()), SGD(net.trainable_params(), 0.25), update)
    >>> loss, overflow, scale = step(Tensor([[1.0]]), Tensor([[3.0]]))
    >>> loss.item(), bool(overflow), scale.item(), net.weight.item()
    (4.0, False, 1024.0, 2.0)
    """

    def __init__(self, network: Cell, optimizer: Optimizer, scale_sense: Cell | Tensor) -> None:
        super().__init__(network, optimizer)
        self.loss_scaling_manager = scale_sense if isinstance(scale_sense, Cell) else None
        if isinstance(scale_sense, Cell):
            if not hasattr(scale_sense, "get_loss_scale"):
                raise ArgumentError(
                    f"{scale_sense.cls_name} does not say with which scale to begin", hint="define get_loss_scale"
                )
            first = Tensor(float(scale_sense.get_loss_scale()), float32)
        elif isinstance(scale_sense, Tensor):
            first = _one_number(scale_sense)
        else:
            raise ArgumentError(
                f"scale_sense is a Cell or a Tensor, not a {type(scale_sense).__name__}",
                hint="for example nn.DynamicLossScaleUpdateCell(2**12, 2, 1000)",
            )
        self.held = changed_by(optimizer)
        self.scale_sense = Parameter(first, name="scale_sense", requires_grad=False)

    def construct(self, *inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
        scale = self.scale_sense.copy()
        (_, loss), gradients = value_and_grad(self._large, None, self.optimizer.parameters, has_aux=True)(*inputs)
        share = 1.0 / scale.reshape(())
        gradients = [g * cast(share, g.dtype) for g in gradients]
        overflow = self.process_loss_scale(self.get_overflow_status(None, gradients))
        update_if(self.optimizer, self.held, ops.logical_not(overflow), gradients)
        return loss, overflow, scale

    def _large(self, *inputs: Any) -> tuple[Tensor, Tensor]:
        """The loss as it is differentiated, and as it is."""
        loss = self.network(*inputs)
        return loss * cast(self.scale_sense.value().reshape(()), loss.dtype), loss

    def set_sense_scale(self, sens: Tensor) -> None:
        """Take another scale, where it is a tensor.

        >>> from mycelia.nn import SGD, Identity
        >>> optimizer = SGD([Parameter([1.0], name="w")], 0.1)
        >>> step = TrainOneStepWithLossScaleCell(Identity(), optimizer, Tensor(64.0))
        >>> step.set_sense_scale(Tensor(32.0))
        >>> step.scale_sense.item()
        32.0
        """
        if not isinstance(sens, Tensor):
            raise ArgumentError(f"a scale is a Tensor here, not a {type(sens).__name__}")
        self.scale_sense.set_data(_one_number(sens).reshape(self.scale_sense.shape))

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> tuple[Any, Any]:
        """Nothing has to be prepared to look for an overflow: it shows in the gradients."""
        return pre_cond, compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Tensor:
        """Whether a gradient is infinite or NaN; `status` is for devices that count overflows themselves."""
        return ops.logical_not(all_finite(compute_output))

    def process_loss_scale(self, overflow: Tensor) -> Tensor:
        """Change the scale after a step, as the cell that was given says."""
        if self.loss_scaling_manager is None:
            return overflow
        return cast(self.loss_scaling_manager(self.scale_sense, overflow), bool_)


def _one_number(sense: Tensor) -> Tensor:
    if sense.shape not in ((), (1,)):
        raise ShapeError(f"a scale is one number, of shape () or (1,), not {sense.shape}")
    return cast(sense, float32)
