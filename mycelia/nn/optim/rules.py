"""Optimizers by rules: what becomes of a weight and its state, given the gradient, the number of the step and the rate.

A rule is a pure function `(w, g, state, t, lr) -> (w, state)`. What it remembers is declared: names and first values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Parameter, ParameterTuple, Tensor, assign
from mycelia.errors import ArgumentError, CallError
from mycelia.nn.cell import Cell
from mycelia.nn.optim.adam import Adam, powers_of
from mycelia.nn.optim.optimizer import Optimizer
from mycelia.types import Array

State = tuple[Tensor, ...]


class Ruled(Optimizer):
    """The family of optimizers whose step is a rule; `slots` names what it remembers of each weight."""

    slots: ClassVar[tuple[str, ...]] = ()

    def remember(self, **first: Any) -> None:
        """Begin the state of every weight with these values."""
        for name in self.slots:
            made = self.parameters.clone(name, first.get(name, "zeros"))
            for each in made:
                each.requires_grad = False
            self.__dict__[f"_{name}"] = made
            setattr(self, name, made)

    def shared(self, step: Tensor) -> Any:
        """The number of the step."""
        return step

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        held: list[ParameterTuple] = [getattr(self, name) for name in self.slots]
        state = tuple(each[index] for each in held)
        new, after = self.rule(weight, gradient, state, shared, rate, *decay)
        for each, value in zip(held, after, strict=True):
            assign(each[index], value)
        assign(weight, new)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        """The weight and its state after step t, which counts from 1."""
        raise ArgumentError(f"{self.cls_name} does not say how a parameter changes", hint="define rule")


class RMSProp(Ruled):
    """Steps divided by the root of a running mean of squared gradients, which begins at 1; `centered`: by their spread.

    >>> w = Parameter([1.0], name="w")
    >>> done = RMSProp([w], learning_rate=0.5, decay=0.0)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = checks.number(self.cls_name, "decay", decay, least=0)
        self.momentum = checks.number(self.cls_name, "momentum", momentum, least=0)
        self.epsilon = checks.number(self.cls_name, "epsilon", epsilon, above=0)
        self.centered = checks.truth(self.cls_name, "centered", centered)
        self.use_locking = checks.truth(self.cls_name, "use_locking", use_locking)
        self.slots = ("mean_square", "moment", *["mean_grad"] * centered)  # type: ignore[misc]  # of this one
        self.remember(mean_square="ones")

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        square, moment, *mean = state
        square = square * self.decay + g * g * (1.0 - self.decay)
        spread, rest = square, ()
        if mean:
            middle = mean[0] * self.decay + g * (1.0 - self.decay)
            spread, rest = square - middle * middle, (middle,)  # type: ignore[assignment]
        moment = moment * self.momentum + g * lr / ops.sqrt(spread + self.epsilon)
        return w - moment, (square, moment, *rest)


class Adagrad(Ruled):
    """Steps divided by the root of all squared gradients so far, which begin at `accum`.

    >>> w = Parameter([1.0], name="w")
    >>> done = Adagrad([w], accum=9.0, learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.6], dtype=float32)
    """

    slots = ("accum",)

    def __init__(
        self,
        params: Iterable[Any],
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.update_slots = checks.truth(self.cls_name, "update_slots", update_slots)
        self.remember(accum=checks.number(self.cls_name, "accum", accum, least=0))

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        accum = state[0] + g * g if self.update_slots else state[0]
        return w - g * lr / ops.sqrt(accum), (accum,)


class Adadelta(Ruled):
    """Steps of the size of recent steps, divided by the size of recent gradients.

    >>> w = Parameter([1.0], name="w")
    >>> done = Adadelta([w], rho=0.0, epsilon=1.0)((Tensor([0.0]),))
    >>> w.asnumpy()
    array([1.], dtype=float32)
    """

    slots = ("accum", "accum_update")

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.rho = checks.share(self.cls_name, "rho", rho, whole=True)
        self.epsilon = checks.number(self.cls_name, "epsilon", epsilon, least=0)
        self.remember()

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        square = state[0] * self.rho + g * g * (1.0 - self.rho)
        step = ops.sqrt(state[1] + self.epsilon) / ops.sqrt(square + self.epsilon) * g
        return w - step * lr, (square, state[1] * self.rho + step * step * (1.0 - self.rho))


class AdaMax(Ruled):
    """Adam by the largest of recent gradients instead of the mean of their squares.

    >>> w = Parameter([1.0], name="w")
    >>> done = AdaMax([w], learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    slots = ("moment1", "moment2")

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.beta1 = checks.share(self.cls_name, "beta1", beta1)
        self.beta2 = checks.share(self.cls_name, "beta2", beta2)
        self.eps = checks.number(self.cls_name, "eps", eps, above=0)
        self.remember()

    def computed(self) -> dict[str, Array]:
        """The power of the share that is kept."""
        return powers_of(self.global_step.item(), (1,), beta1_power=self.beta1)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        mean = state[0] * self.beta1 + g * (1.0 - self.beta1)
        most = ops.maximum(state[1] * self.beta2, ops.abs(g))
        return w - mean * (lr / (1.0 - self.beta1**t)) / (most + self.eps), (mean, most)


class ProximalAdagrad(Ruled):
    """Adagrad whose weights are drawn to 0 after each step: by `l1` as far as that, by `l2` in proportion.

    >>> w = Parameter([1.0], name="w")
    >>> done = ProximalAdagrad([w], accum=9.0, learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.6], dtype=float32)
    """

    slots = ("accum",)

    def __init__(
        self,
        params: Iterable[Any],
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.l1 = checks.number(self.cls_name, "l1", l1, least=0)
        self.l2 = checks.number(self.cls_name, "l2", l2, least=0)
        self.use_locking = checks.truth(self.cls_name, "use_locking", use_locking)
        self.remember(accum=checks.number(self.cls_name, "accum", accum, least=0))

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        accum = state[0] + g * g
        rate = lr / ops.sqrt(accum)
        near = w - g * rate
        if self.l1:
            near = ops.sign(near) * ops.relu(ops.abs(near) - rate * self.l1)
        return near / (rate * self.l2 + 1.0) if self.l2 else near, (accum,)


class FTRL(Ruled):
    """Follow the regularised leader: the weight that would have been best for all gradients so far.

    >>> w = Parameter([0.0], name="w")
    >>> done = FTRL([w], initial_accum=9.0, learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([-0.4], dtype=float32)
    """

    slots = ("moments", "linear")

    def __init__(
        self,
        params: Iterable[Any],
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.lr_power = checks.number(self.cls_name, "lr_power", lr_power, most=0)
        self.l1 = checks.number(self.cls_name, "l1", l1, least=0)
        self.l2 = checks.number(self.cls_name, "l2", l2, least=0)
        self.use_locking = checks.truth(self.cls_name, "use_locking", use_locking)
        if not self.is_group:
            self.decay_flags = tuple(bool(weight_decay) for _ in self.parameters)
        self.remember(moments=checks.number(self.cls_name, "initial_accum", initial_accum, least=0))

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        accum = state[0] + g * g
        before, after = (a ** (-self.lr_power) for a in (state[0], accum))
        linear = state[1] + g - (after - before) / lr * w
        moved = (ops.sign(linear) * self.l1 - linear) / (after / lr + 2.0 * self.l2)
        return ops.where(ops.abs(linear) > self.l1, moved, ops.zeros_like(moved)), (accum, linear)


class Rprop(Ruled):
    """Steps by the sign of the gradient: longer as long as it stays, shorter when it turns.

    >>> w = Parameter([1.0], name="w")
    >>> done = Rprop([w], learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    slots = ("prev", "step_size")

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, given in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(given, tuple) or len(given) != 2:
                raise CallError(f"{name} of Rprop are two numbers", given={name: given}, hint="such as (0.5, 1.2)")
        if not 0 < etas[0] < 1 < etas[1] or step_sizes[0] > step_sizes[1]:
            raise ArgumentError(
                "Rprop shortens steps by a factor below 1 and lengthens them by one above, between two bounds",
                given={"etas": etas, "step_sizes": step_sizes},
            )
        self.etas, self.step_sizes = etas, step_sizes
        self.remember()

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        turned = g * state[0]
        size = ops.where(t == 1, ops.ones_like(state[1]) * lr, state[1])
        factor = ops.where(turned > 0, self.etas[1], ops.where(turned < 0, self.etas[0], 1.0))
        size = ops.clamp(size * factor, *self.step_sizes)
        g = ops.where(turned < 0, ops.zeros_like(g), g)
        return w - ops.sign(g) * size, (g, size)


class ASGD(Ruled):
    """Descent whose average over the steps after `t0` is kept in `ax`.

    >>> w = Parameter([1.0], name="w")
    >>> done = ASGD([w], learning_rate=0.5, lambd=0.0)((Tensor([1.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    slots = ("ax_",)

    @property
    def ax(self) -> ParameterTuple:
        """The averages."""
        held: ParameterTuple = getattr(self, "ax_")  # noqa: B009  # made by its slot
        return held

    def computed(self) -> dict[str, Array]:
        """The rate of the coming step, and its share in the average."""
        done, found = int(self.global_step.item()), {}
        for p, own in zip(self.parameters, self.choices, strict=True):
            rate = float(self.rates[own.rate](ops.maximum(self.global_step - 1, 0)).item())
            found[f"eta_{p.name}"] = np.array(rate / (done * rate * self.lambd + 1.0) ** self.alpha, np.float32)
            found[f"mu_{p.name}"] = np.array(1.0 / max(1.0, done - self.t0), np.float32)
        return found

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.lambd = checks.number(self.cls_name, "lambd", lambd)
        self.alpha = checks.number(self.cls_name, "alpha", alpha)
        self.t0 = checks.number(self.cls_name, "t0", t0)
        self.remember()

    def update(self, index: int, weight: Parameter, gradient: Tensor, rate: Tensor, shared: Any, *decay: Any) -> None:
        last = ops.maximum(self.global_step - 2, 0)  # a step goes as far as the rate of the step before it says
        super().update(index, weight, gradient, self.rates[self.choices[index].rate](last), shared, *decay)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        before = t - 1.0  # at the first step, the rate is the one that was given, and the average is the weight
        eta = lr / (before * (lr * self.lambd) + 1.0) ** self.alpha
        w = w * (1.0 - eta * self.lambd) - g * eta
        return w, (state[0] + (w - state[0]) / ops.maximum(before - self.t0, 1.0),)


class Lamb(Ruled):
    """Adam whose steps are as long as the weights, relative to their own length.

    >>> w = Parameter([2.0], name="w")
    >>> done = Lamb([w], learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([1.], dtype=float32)
    """

    slots = ("lamb_m", "lamb_v")
    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self.beta1 = checks.share(self.cls_name, "beta1", beta1)
        self.beta2 = checks.share(self.cls_name, "beta2", beta2)
        self.eps = checks.number(self.cls_name, "eps", eps, above=0)
        self.remember()

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Tensor, *decay: Any) -> tuple[Tensor, State]:
        mean = state[0] * self.beta1 + g * (1.0 - self.beta1)
        square = state[1] * self.beta2 + g * g * (1.0 - self.beta2)
        step = mean / (1.0 - self.beta1**t) / (ops.sqrt(square / (1.0 - self.beta2**t)) + self.eps)
        for share in decay:
            step = step + w * share
        long, far = (ops.sqrt(ops.sum(ops.square(x))) for x in (w, step))
        trust = ops.where(ops.logical_and(long > 0, far > 0), long / far, 1.0)
        return w - step * (lr * trust), (mean, square)


class LazyAdam(Adam):
    """Adam; where gradients are sparse it changes the rows that they have. Gradients here are dense.

    >>> w = Parameter([1.0], name="w")
    >>> done = LazyAdam([w], learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """

    powers = (1,)

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
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdamOffload(LazyAdam):
    """Adam whose state is in the memory of the host, where everything is here.

    >>> w = Parameter([1.0], name="w")
    >>> done = AdamOffload([w], learning_rate=0.5)((Tensor([4.0]),))
    >>> w.asnumpy()
    array([0.5], dtype=float32)
    """


def _large(parameter: Parameter) -> bool:
    return "LayerNorm" not in parameter.name and "bias" not in parameter.name


class LARS(Cell):
    """Around an optimizer: gradients as long as `coefficient` times the weights that they belong to.

    The decay of weights is done here, and not by the optimizer. `use_clip` lengthens no gradient. `lars_filter` says
    which parameters it is for.

    >>> from mycelia.nn import SGD
    >>> w = Parameter([3.0, 4.0], name="w")
    >>> done = LARS(SGD([w], 1.0), coefficient=0.1, epsilon=0.0)((Tensor([0.0, 100.0]),))
    >>> w.asnumpy()
    array([3. , 3.5], dtype=float32)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-5,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = _large,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(optimizer, Optimizer):
            raise CallError(f"LARS is around an optimizer, not a {type(optimizer).__name__}")
        self.opt = optimizer
        self.epsilon = checks.number(self.cls_name, "epsilon", epsilon, least=0)
        self.coefficient = checks.number(self.cls_name, "coefficient", coefficient)
        self.use_clip = checks.truth(self.cls_name, "use_clip", use_clip)
        self.lars_flag = tuple(bool(lars_filter(p)) for p in optimizer.parameters)
        self.decay_flags, optimizer.decay_flags = optimizer.decay_flags, tuple(False for _ in optimizer.parameters)
        self.loss_scale, optimizer.loss_scale = optimizer.loss_scale, 1.0

    def construct(self, gradients: Any) -> bool:
        rates, decays = self.opt.get_lr(), self.opt.get_weight_decay()
        scaled = []
        for i, (w, g) in enumerate(zip(self.opt.parameters, gradients, strict=True)):
            g = g if self.loss_scale == 1.0 else g * (1.0 / self.loss_scale)
            rate = rates[i] if isinstance(rates, tuple) else rates
            decay = decays[i] if isinstance(decays, tuple) else decays
            scaled.append(self.long(w, g, decay if self.decay_flags[i] else 0.0, rate) if self.lars_flag[i] else g)
        return self.opt(tuple(scaled))  # type: ignore[no-any-return]

    def long(self, w: Tensor, g: Tensor, decay: Any, rate: Tensor) -> Tensor:
        """The gradient, with the decay of its weight, as long as it should be."""
        weight, slope = (ops.sqrt(ops.sum(ops.square(x))) for x in (w, g))
        trust = self.coefficient * weight / (slope + decay * weight + self.epsilon)
        if self.use_clip:
            trust = ops.minimum(trust / rate, 1.0)
        return (g + w * decay) * trust  # type: ignore[no-any-return]
