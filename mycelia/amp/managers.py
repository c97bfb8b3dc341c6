"""Loss scales as `Model` takes them: a number that Python or a training step changes."""

from __future__ import annotations

from mycelia.errors import ArgumentError
from mycelia.nn import Cell
from mycelia.nn.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, check_change, check_scale


class LossScaleManager:
    """The base of managers. A kind of one's own defines all three.

    >>> LossScaleManager().get_update_cell() is None
    True
    """

    def get_loss_scale(self) -> float:
        """The scale."""
        raise ArgumentError(f"{type(self).__name__} does not say its scale", hint="define get_loss_scale")

    def update_loss_scale(self, overflow: bool) -> None:
        """Take note of a step."""

    def get_update_cell(self) -> Cell | None:
        """What changes the scale inside a training step; None where an overflow is not to be looked for."""
        return None


class FixedLossScaleManager(LossScaleManager):
    """A scale that does not change.

    With `drop_overflow_update`, steps whose gradients overflow are left out. Else the optimizer must be given the same
    `loss_scale`, and divides by it.

    >>> FixedLossScaleManager(64.0).get_loss_scale()
    64.0
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        self._loss_scale = check_scale(loss_scale, "loss_scale")
        if not isinstance(drop_overflow_update, bool):
            raise ArgumentError(f"drop_overflow_update is True or False, not {drop_overflow_update!r}")
        self._drop = drop_overflow_update

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps whose gradients overflow are left out."""
        return self._drop

    def get_update_cell(self) -> Cell | None:
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that an overflow divides by a factor, and that so many good steps multiply.

    >>> manager = DynamicLossScaleManager(init_loss_scale=16, scale_factor=2, scale_window=3)
    >>> manager.update_loss_scale(overflow=True)
    >>> manager.get_loss_scale()
    8.0
    """

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        self.loss_scale = check_scale(init_loss_scale, "init_loss_scale")
        check_change(scale_factor, scale_window)
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.cur_iter, self.last_overflow_iter = 1, 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        if not isinstance(overflow, bool):
            raise ArgumentError(f"overflow is True or False, not {overflow!r}")
        if overflow:
            self.loss_scale = max(self.loss_scale / self.scale_factor, 1.0)
            self.last_overflow_iter = self.cur_iter
        elif self.cur_iter - self.last_overflow_iter >= self.scale_window:
            self.loss_scale *= self.scale_factor
            self.last_overflow_iter = self.cur_iter
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """Steps whose gradients overflow are left out."""
        return True

    def get_update_cell(self) -> Cell:
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
