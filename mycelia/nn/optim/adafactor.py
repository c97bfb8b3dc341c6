"""AdaFactor: the mean of squared gradients of a matrix, remembered by its rows and columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mycelia import checks, ops
from mycelia.eager import Parameter, ParameterTuple, Tensor, assign
from mycelia.errors import ArgumentError
from mycelia.nn.optim.optimizer import Optimizer


class AdaFactor(Optimizer):
    """Adam's idea in little memory: the squares of a matrix are the product of their means along rows and columns.

    Without a learning rate the step is 0.01, or 1 / sqrt(t) if that is less (`relative_step`), times the size of the
    weight (`scale_parameter`). `eps` bounds squares and sizes from below, `clip_threshold` the step from above.

    >>> w = Parameter([[1.0, 2.0]], name="w")
    >>> done = AdaFactor([w], learning_rate=0.5, beta1=0.0, scale_parameter=False, relative_step=False)(
    ...     (Tensor([[4.0, -4.0]]),)
    ... )
    >>> w.asnumpy()
    array([[0.5, 2.5]], dtype=float32)
    """

    decoupled = True
    exp_avg: ParameterTuple

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float = 0.9,
        weight_decay: Any = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        if (learning_rate is None) is not relative_step or (warmup_init and not relative_step):
            raise ArgumentError(
                "AdaFactor has a learning rate, or relative steps, which may warm up",
                given={"learning_rate": learning_rate, "relative_step": relative_step, "warmup_init": warmup_init},
                hint="say relative_step=False beside a learning rate",
            )
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        self.eps = tuple(checks.number(self.cls_name, "eps", e, least=0) for e in eps)
        self.clip_threshold = checks.number(self.cls_name, "clip_threshold", clip_threshold, least=0)
        self.decay_rate = checks.share(self.cls_name, "decay_rate", decay_rate, whole=True)
        self.beta1 = checks.share(self.cls_name, "beta1", 0.0 if beta1 is None else beta1)
        self.scale_parameter = checks.truth(self.cls_name, "scale_parameter", scale_parameter)
        if not isinstance(learning_rate, int | float | type(None)):
            self.scale_parameter = False  # a schedule says the rate itself
        self.relative_step, self.warmup_init = relative_step, checks.truth(self.cls_name, "warmup_init", warmup_init)
        checks.only(self.cls_name, "compression", compression, False, "the state has the type of the weights here")
        if self.beta1:
            self.exp_avg = self.beside("exp_avg")
        self.decay_flags = tuple(bool(weight_decay) for _ in self.parameters)
        wide = [w.ndim > 1 for w in self.parameters]
        shapes = list(zip(wide, [w.shape for w in self.parameters], strict=True))
        self.exp_avg_sq_row = self.state("exp_avg_sq_row", [s[:-1] if m else (1,) for m, s in shapes])
        self.exp_avg_sq_col = self.state("exp_avg_sq_col", [(*s[:-2], s[-1]) if m else (1,) for m, s in shapes])
        self.exp_avg_sq = self.state("exp_avg_sq", [(1,) if m else s for m, s in shapes])

    def state(self, name: str, shapes: list[tuple[int, ...]]) -> ParameterTuple:
        """Zeros beside each weight, of these shapes."""
        return ParameterTuple(
            Parameter(ops.zeros(shape, w.dtype), name=f"{name}_{w.name}", requires_grad=False)
            for shape, w in zip(shapes, self.parameters, strict=True)
        )

    def shared(self, step: Tensor) -> Any:
        """The relative step, and the share of the squares that stays."""
        least = step * 1e-6 if self.warmup_init else 0.01
        return ops.minimum(ops.rsqrt(step), least), 1.0 - step ** (-self.decay_rate)

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        relative, stays = shared
        rate = relative if self.relative_step else rate
        if self.scale_parameter:
            rate = rate * ops.maximum(_size(weight), self.eps[1])
        square = gradient * gradient + self.eps[0]
        if weight.ndim > 1:
            row = self.moved(self.exp_avg_sq_row[index], ops.mean(square, -1), stays)
            column = self.moved(self.exp_avg_sq_col[index], ops.mean(square, -2), stays)
            share = ops.rsqrt(row / ops.mean(row, -1, True))
            step = share[..., None] * ops.rsqrt(column)[..., None, :] * gradient
        else:
            step = ops.rsqrt(self.moved(self.exp_avg_sq[index], square, stays)) * gradient
        step = step / ops.maximum(_size(step) / self.clip_threshold, 1.0) * rate
        if self.beta1:
            step = self.exp_avg[index] * self.beta1 + step * (1.0 - self.beta1)
            assign(self.exp_avg[index], step)
        kept = weight - weight * (decay[0] * rate) if decay else weight
        assign(weight, kept - step)

    @staticmethod
    def moved(mean: Parameter, towards: Tensor, stays: Tensor) -> Tensor:
        """A running mean, moved."""
        new = mean * stays + towards * (1.0 - stays)
        assign(mean, new)
        return new  # type: ignore[no-any-return]


def _size(x: Tensor) -> Tensor:
    """The root of the mean square."""
    return ops.sqrt(ops.mean(ops.square(x)))
