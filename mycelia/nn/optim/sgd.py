"""Descent along the gradient, with and without momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mycelia import ops
from mycelia.eager import Parameter, ParameterTuple, Tensor, assign
from mycelia.errors import ArgumentError
from mycelia.nn.optim.optimizer import Optimizer, check_share
from mycelia.types import Array


class SGD(Optimizer):
    """Stochastic gradient descent; the momentum begins as the first gradient.

    >>> w = Parameter([1.0], name="w")
    >>> done = SGD([w], learning_rate=0.5)((Tensor([1.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    accum: ParameterTuple

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum, self.dampening, self.nesterov = (
            _momentum(momentum),
            check_share("dampening", dampening),
            nesterov,
        )
        if nesterov and (momentum == 0 or dampening != 0):
            raise ArgumentError("Nesterov's method needs a momentum, and no dampening", hint="for example momentum=0.9")
        if momentum:
            self.accum = self.beside("accum")

    def computed(self) -> dict[str, Array]:
        """The momentum, and whether the coming step is the first."""
        first = float(self.global_step.item() == 0)
        stats = {f"stat.{p.name}": np.full(p.shape, first, np.float32) for p in self.parameters}
        return {"momentum": np.array(self.momentum, np.float32), **stats}

    def take(self, name: str, value: float) -> None:
        if name == "momentum" and value != np.float32(self.momentum):
            if value and not self.momentum:
                raise ArgumentError(f"the checkpoint has a momentum of {value:.6g}, and {self.cls_name} has none")
            self.momentum = _momentum(value)

    def shared(self, step: Tensor) -> Any:
        """The share of the gradient that enters the momentum: all of the first."""
        return 1.0 - ops.minimum(step - 1.0, 1.0) * self.dampening if self.dampening else 1.0

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        if self.momentum:
            velocity = self.accum[index] * self.momentum + gradient * shared
            assign(self.accum[index], velocity)
            gradient = gradient + velocity * self.momentum if self.nesterov else velocity
        assign(weight, weight - gradient * rate)


class Momentum(Optimizer):
    """Descent with momentum: velocity = velocity * momentum + gradient; weight = weight - rate * velocity.

    >>> w = Parameter([1.0], name="w")
    >>> optimizer = Momentum([w], learning_rate=0.5, momentum=0.9)
    >>> done = optimizer((Tensor([1.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.momentum, self.use_nesterov = _momentum(momentum), use_nesterov
        self.moments = self.beside("moments")

    def computed(self) -> dict[str, Array]:
        """The momentum."""
        return {"momentum": np.array(self.momentum, np.float32)}

    def take(self, name: str, value: float) -> None:
        if value != np.float32(self.momentum):
            self.momentum = _momentum(value)

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        velocity = self.moments[index] * self.momentum + gradient
        assign(self.moments[index], velocity)
        step = gradient + velocity * self.momentum if self.use_nesterov else velocity
        assign(weight, weight - step * rate)


def _momentum(momentum: float) -> float:
    if isinstance(momentum, bool) or not isinstance(momentum, int | float) or momentum < 0:
        raise ArgumentError(f"a momentum is a number from 0, not {momentum!r}", hint="for example 0.9")
    return float(momentum)
