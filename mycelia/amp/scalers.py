"""Loss scales for training steps that people write themselves, eager or compiled."""

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Parameter, Tensor, assign, cast
from mycelia.errors import ArgumentError
from mycelia.nn.loss_scale import check_change, check_scale
from mycelia.tree import tree_map
from mycelia.types import float32, int32


class LossScaler:
    """The base of scalers: `scale` a loss, `unscale` gradients, `adjust` to what came of it.

    >>> scaler = StaticLossScaler(1024)
    >>> isinstance(scaler, LossScaler)
    True
    """

    def scale(self, inputs: Any) -> Any:
        """Tensors made larger: the loss before it is differentiated."""
        raise ArgumentError(f"{type(self).__name__} does not say how it scales", hint="define scale(self, inputs)")

    def unscale(self, inputs: Any) -> Any:
        """Tensors made smaller: the gradients."""
        raise ArgumentError(f"{type(self).__name__} does not say how it unscales", hint="define unscale(self, inputs)")

    def adjust(self, grads_finite: Tensor) -> Any:
        """Take note of whether gradients were finite."""
        raise ArgumentError(f"{type(self).__name__} does not say how it adjusts", hint="define adjust(self, finite)")


def _times(inputs: Any, factor: Tensor) -> Any:
    """Every tensor times a factor, in its own type."""
    return tree_map(lambda x: x * cast(factor, x.dtype) if isinstance(x, Tensor) else x, inputs)


class StaticLossScaler(LossScaler):
    """A scale that does not change.

    >>> scaler = StaticLossScaler(1024)
    >>> scaler.scale(Tensor(2.0)).item(), scaler.unscale((Tensor(512.0),))[0].item()
    (2048.0, 0.5)
    """

    def __init__(self, scale_value: float) -> None:
        self.scale_value = Parameter(Tensor(check_scale(scale_value, "scale_value")), "scale_value", False)

    def scale(self, inputs: Any) -> Any:
        return _times(inputs, self.scale_value.value())

    def unscale(self, inputs: Any) -> Any:
        return _times(inputs, 1.0 / self.scale_value.value())

    def adjust(self, grads_finite: Tensor) -> bool:
        """Nothing changes: False."""
        return False


class DynamicLossScaler(LossScaler):
    """A scale that falls after an overflow, not below 1, and rises after `scale_window` good steps in a row.

    >>> scaler = DynamicLossScaler(scale_value=1024, scale_factor=2, scale_window=1)
    >>> scaler.adjust(Tensor(False)), scaler.scale_value.item()
    (True, 512.0)
    """

    def __init__(self, scale_value: float, scale_factor: int, scale_window: int) -> None:
        check_change(scale_factor, scale_window)
        self.scale_factor, self.scale_window = scale_factor, scale_window
        first = Tensor(check_scale(scale_value, "scale_value"), float32)
        self.scale_value = Parameter(first, "scale_value", False)
        self.counter = Parameter(Tensor(0, int32), "counter", False)

    def scale(self, inputs: Any) -> Any:
        return _times(inputs, self.scale_value.value())

    def unscale(self, inputs: Any) -> Any:
        return _times(inputs, 1.0 / self.scale_value.value())

    def adjust(self, grads_finite: Tensor) -> bool:
        scale = self.scale_value.copy()
        good = ops.where(grads_finite, self.counter + 1, self.counter * 0)
        ripe = good >= self.scale_window
        risen = ops.where(ops.isfinite(scale * self.scale_factor), scale * self.scale_factor, scale)
        falls = ops.maximum(scale / self.scale_factor, 1.0)
        assign(self.scale_value, ops.where(grads_finite, ops.where(ripe, risen, scale), falls))
        assign(self.counter, ops.where(ripe, good * 0, good))
        return True
