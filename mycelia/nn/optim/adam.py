"""Adam and its relatives: steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Parameter, ParameterTuple, Tensor, assign
from mycelia.errors import ArgumentError
from mycelia.nn.optim.optimizer import Optimizer, check_share
from mycelia.types import Array


class MomentOptimizer(Optimizer):
    """The family: running means of the gradient (`moment1`) and of its square (`moment2`) beside each weight."""

    vhat: ParameterTuple
    kept = ("moment1", "moment2")  # what the means are called in checkpoints

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any,
        betas: tuple[float, float],
        eps: float,
        weight_decay: Any,
        loss_scale: float = 1.0,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if not isinstance(eps, int | float) or eps <= 0:
            raise ArgumentError(f"eps is a positive number, not {eps!r}")
        self.beta1, self.beta2, self.eps = check_share("beta1", betas[0]), check_share("beta2", betas[1]), float(eps)
        self.moment1, self.moment2, self.amsgrad = *map(self.beside, self.kept), amsgrad
        if amsgrad:
            self.vhat = self.beside("vhat")

    def remember(self, index: int, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """The two means, moved towards this gradient."""
        first, second, beta1, beta2 = self.moment1[index], self.moment2[index], self.beta1, self.beta2
        mean = first * beta1 + gradient * (1.0 - beta1)
        square = second * beta2 + gradient * gradient * (1.0 - beta2)
        assign(first, mean)
        assign(second, square)
        if self.amsgrad:
            square = ops.maximum(self.vhat[index], square)
            assign(self.vhat[index], square)
        return mean, square

    def corrections(self, step: Tensor) -> tuple[Tensor, Tensor]:
        """What the means are multiplied by, since they began at zero: 1 / (1 - beta ** step) and the root of it."""
        first, second = (-1.0 / ops.expm1(step * _log(beta)) for beta in (self.beta1, self.beta2))
        return first, ops.sqrt(second)


def powers_of(step: float, shape: tuple[int, ...], **shares: float) -> dict[str, Array]:
    """What is left of shares after some steps, as checkpoints hold it.

    >>> powers_of(2, (1,), beta1_power=0.5)
    {'beta1_power': array([0.25], dtype=float32)}
    """
    return {name: np.full(shape, share ** int(step), np.float32) for name, share in shares.items()}


def _log(beta: float) -> float:
    return math.log(beta) if beta else -math.inf


class Adam(MomentOptimizer):
    """Adam, by the paper's own rule: weight - rate * mean / (sqrt(square) + eps), both means corrected.

    `use_locking` asks that no two updates of a weight overlap, and they never do. `use_lazy` is about gradients with
    few rows, and `use_offload` about where the step runs: gradients are whole here, and there is one place.

    >>> w = Parameter([1.0], name="w")
    >>> optimizer = Adam([w], learning_rate=0.5)
    >>> done = optimizer((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        *,
        use_lazy: bool = False,
        use_offload: bool = False,
    ) -> None:
        checks.truth("Adam", "use_lazy", use_lazy)
        checks.truth("Adam", "use_offload", use_offload)
        if use_lazy + use_offload + use_amsgrad > 1:
            raise ArgumentError("Adam takes one of use_lazy, use_offload and use_amsgrad")
        super().__init__(params, learning_rate, (beta1, beta2), eps, weight_decay, loss_scale, use_amsgrad)
        self.use_locking, self.use_nesterov = use_locking, use_nesterov

    powers: tuple[int, ...] = ()  # the shape of the powers in checkpoints

    def computed(self) -> dict[str, Array]:
        """The powers of the shares that are kept."""
        return powers_of(self.global_step.item(), self.powers, beta1_power=self.beta1, beta2_power=self.beta2)

    def shared(self, step: Tensor) -> Any:
        """The corrections of the two means."""
        return self.corrections(step)

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        first, second = shared
        mean, square = self.remember(index, gradient)
        if self.use_nesterov:
            mean = mean * self.beta1 + gradient * (1.0 - self.beta1)
        assign(weight, weight - mean * (rate * first) / (ops.sqrt(square) * second + self.eps))


class AdamWeightDecay(MomentOptimizer):
    """Adam whose means are not corrected, and where weights decay by themselves and not through the gradient.

    >>> w = Parameter([1.0], name="w")
    >>> optimizer = AdamWeightDecay([w], learning_rate=0.1, beta1=0.0, beta2=0.0, weight_decay=1.0)
    >>> done = optimizer((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.8], dtype=float32)
    """

    decoupled = True
    kept = ("adam_m", "adam_v")

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(params, learning_rate, (beta1, beta2), eps, weight_decay)

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        mean, square = self.remember(index, gradient)
        step = mean / (ops.sqrt(square) + self.eps)
        for share in decay:
            step = step + weight * share
        assign(weight, weight - step * rate)


class AdamW(MomentOptimizer):
    """Adam with corrected means, where weights decay by themselves: all of them, also those that shift and scale.

    >>> w = Parameter([1.0], name="w")
    >>> optimizer = AdamW([w], lr=0.1, weight_decay=1.0)
    >>> done = optimizer((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.8], dtype=float32)
    """

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad=amsgrad)
        self.maximize = maximize
        self.decay_flags = tuple(True for _ in self.parameters)

    def shared(self, step: Tensor) -> Any:
        """The corrections of the two means."""
        return self.corrections(step)

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        first, second = shared
        mean, square = self.remember(index, -gradient if self.maximize else gradient)
        kept = weight * (1.0 - rate * decay[0])
        assign(weight, kept - mean * (rate * first) / (ops.sqrt(square) * second + self.eps))
