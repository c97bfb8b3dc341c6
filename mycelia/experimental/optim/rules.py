"""The optimizers, as rules: what becomes of a weight and of what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import Any

from mycelia import checks, ops
from mycelia.eager import Parameter, Tensor  # noqa: F401  # examples make parameters
from mycelia.errors import ArgumentError, CallError
from mycelia.experimental.optim.optimizer import Optimizer, State

Group = dict[str, Any]
Betas = tuple[float, float]


def check_betas(owner: str, betas: Any) -> None:
    """Two shares that a mean keeps of itself.

    >>> check_betas("Adam", (0.9, 0.999))
    """
    if not isinstance(betas, tuple | list) or len(betas) != 2:
        raise CallError(f"betas of {owner} are two numbers, not {betas!r}", hint="such as (0.9, 0.999)")
    for i, beta in enumerate(betas):
        checks.share(owner, f"betas[{i}]", beta)


def weight(beta: float, t: Tensor) -> Tensor:
    """What the weights of a running mean that began at zero add up to after t steps: 1 - beta ** t.

    >>> weight(0.5, Tensor(2.0)).item()
    0.75
    """
    return -ops.expm1(t * log(beta)) if beta else ops.ones_like(t)


class SGD(Optimizer):
    """Stochastic gradient descent; the momentum begins as the first gradient.

    >>> w = Parameter([1.0], name="w")
    >>> done = SGD([w], lr=0.5)((Tensor([1.0]),))
    >>> w.tolist()
    [0.5]
    """

    slots = ("accum",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
             "nesterov": nesterov, "maximize": maximize},
        )  # fmt: skip

    def check(self, group: Group) -> None:
        checks.number(self.cls_name, "momentum", group["momentum"], least=0)
        checks.number(self.cls_name, "dampening", group["dampening"])
        if checks.truth(self.cls_name, "nesterov", group["nesterov"]) and (
            group["momentum"] == 0 or group["dampening"] != 0
        ):
            raise ArgumentError("Nesterov's method needs a momentum, and no dampening", hint="for example momentum=0.9")

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        if not group["momentum"]:
            return w - g * lr, state
        share = 1.0 - ops.minimum(t - 1.0, 1.0) * group["dampening"]
        velocity = state[0] * group["momentum"] + g * share
        return w - (g + velocity * group["momentum"] if group["nesterov"] else velocity) * lr, (velocity,)


class Moments(Optimizer):
    """The family of Adam: running means of the gradient and of its square."""

    slots = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any,
        betas: Betas,
        eps: float,
        weight_decay: float,
        amsgrad: bool,
        maximize: bool,
    ) -> None:
        super().__init__(
            params,
            {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
             "maximize": maximize},
        )  # fmt: skip

    def check(self, group: Group) -> None:
        check_betas(self.cls_name, group["betas"])
        checks.number(self.cls_name, "eps", group["eps"], least=0)
        checks.truth(self.cls_name, "amsgrad", group["amsgrad"])

    def step(self, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        """How far to go, and the state after it."""
        (beta1, beta2), (mean, square, most) = group["betas"], state
        mean = mean * beta1 + g * (1.0 - beta1)
        square = square * beta2 + g * g * (1.0 - beta2)
        if group["amsgrad"]:
            most = ops.maximum(most, square)
        size = ops.sqrt(most if group["amsgrad"] else square) / ops.sqrt(weight(beta2, t)) + group["eps"]
        return mean * (lr / weight(beta1, t)) / size, (mean, square, most)


class Adam(Moments):
    """Adam: steps along the mean of gradients, divided by the root of the mean of their squares.

    >>> w = Parameter([1.0], name="w")
    >>> done = Adam([w], lr=0.5)((Tensor([4.0]),))
    >>> w.tolist()
    [0.5]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        far, after = self.step(g, state, t, lr, group)
        return w - far, after


class AdamW(Moments):
    """Adam where weights decay by themselves, and not through the gradient.

    >>> w = Parameter([1.0], name="w")
    >>> done = AdamW([w], lr=0.1, weight_decay=1.0)((Tensor([4.0]),))
    >>> w.asnumpy().round(6).tolist()
    [0.800000011920929]
    """

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        far, after = self.step(g, state, t, lr, group)
        return w * (1.0 - lr * group["weight_decay"]) - far, after


class Adamax(Optimizer):
    """Adam by the largest of recent gradients instead of the mean of their squares.

    >>> w = Parameter([1.0], name="w")
    >>> done = Adamax([w], lr=0.5)((Tensor([4.0]),))
    >>> w.tolist()
    [0.5]
    """

    slots = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        )

    def check(self, group: Group) -> None:
        check_betas(self.cls_name, group["betas"])
        checks.number(self.cls_name, "eps", group["eps"], above=0)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        mean = state[0] * beta1 + g * (1.0 - beta1)
        most = ops.maximum(state[1] * beta2, ops.abs(g) + group["eps"])
        return w - mean * (lr / weight(beta1, t)) / most, (mean, most)


class NAdam(Optimizer):
    """Adam with Nesterov's momentum, which grows with the steps.

    >>> w = Parameter([1.0], name="w")
    >>> done = NAdam([w], lr=0.5)((Tensor([0.0]),))
    >>> w.tolist()
    [1.0]
    """

    slots = ("exp_avg", "exp_avg_sq", "mu_product")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None:
        super().__init__(
            params,
            {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay},
        )

    def check(self, group: Group) -> None:
        check_betas(self.cls_name, group["betas"])
        checks.number(self.cls_name, "eps", group["eps"], above=0)
        checks.number(self.cls_name, "momentum_decay", group["momentum_decay"], least=0)

    def first(self, group: Group) -> dict[str, Any]:
        return {"mu_product": "ones"}

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        (beta1, beta2), slow = group["betas"], group["momentum_decay"]
        now, later = (beta1 * (1.0 - 0.5 * 0.96 ** (step * slow)) for step in (t, t + 1.0))
        mean = state[0] * beta1 + g * (1.0 - beta1)
        square = state[1] * beta2 + g * g * (1.0 - beta2)
        product = state[2] * now
        size = ops.sqrt(square / weight(beta2, t)) + group["eps"]
        far = g * (1.0 - now) / (1.0 - product) + mean * later / (1.0 - product * later)
        return w - far * lr / size, (mean, square, product)


class RAdam(Optimizer):
    """Adam that divides by the size of gradients only as soon as enough of them were seen.

    >>> w = Parameter([1.0], name="w")
    >>> done = RAdam([w], lr=0.5)((Tensor([1.0]),))
    >>> w.tolist()
    [0.5]
    """

    slots = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def check(self, group: Group) -> None:
        check_betas(self.cls_name, group["betas"])
        checks.number(self.cls_name, "eps", group["eps"], above=0)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        mean = state[0] * beta1 + g * (1.0 - beta1)
        square = state[1] * beta2 + g * g * (1.0 - beta2)
        left, all_of = weight(beta2, t), 2.0 / (1.0 - beta2) - 1.0
        seen = all_of - 2.0 * t * (1.0 - left) / left  # how many gradients the mean of squares stands for
        enough = seen > 5.0
        safe = ops.where(enough, seen, 6.0)
        known = ops.sqrt((safe - 4.0) * (safe - 2.0) * all_of / ((all_of - 4.0) * (all_of - 2.0) * safe))
        scaled = known * ops.sqrt(left) / (ops.sqrt(square) + group["eps"])
        far = mean / weight(beta1, t) * lr
        return w - ops.where(enough, far * scaled, far), (mean, square)


class RMSprop(Optimizer):
    """Steps divided by the root of a running mean of squared gradients; `centered`: by their spread.

    >>> w = Parameter([1.0], name="w")
    >>> done = RMSprop([w], lr=0.5, alpha=0.0)((Tensor([4.0]),))
    >>> w.tolist()
    [0.5]
    """

    slots = ("mean_square", "mean_grad", "mom")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum,
             "centered": centered, "maximize": maximize},
        )  # fmt: skip

    def check(self, group: Group) -> None:
        checks.number(self.cls_name, "alpha", group["alpha"], least=0)
        checks.number(self.cls_name, "eps", group["eps"], least=0)
        checks.number(self.cls_name, "momentum", group["momentum"], least=0)
        checks.truth(self.cls_name, "centered", group["centered"])

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        alpha, (square, middle, moment) = group["alpha"], state
        square = square * alpha + g * g * (1.0 - alpha)
        spread = square
        if group["centered"]:
            middle = middle * alpha + g * (1.0 - alpha)
            spread = square - middle * middle
        far = g / (ops.sqrt(spread) + group["eps"])
        if group["momentum"] > 0:
            far = moment = moment * group["momentum"] + far
        return w - far * lr, (square, middle, moment)


class Adagrad(Optimizer):
    """Steps divided by the root of all squared gradients so far.

    >>> w = Parameter([1.0], name="w")
    >>> done = Adagrad([w], lr=0.5)((Tensor([4.0]),))
    >>> w.tolist()
    [0.5]
    """

    slots = ("accum",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay,
             "initial_accumulator_value": initial_accumulator_value, "eps": eps, "maximize": maximize},
        )  # fmt: skip

    def check(self, group: Group) -> None:
        checks.number(self.cls_name, "lr_decay", group["lr_decay"], least=0)
        checks.number(self.cls_name, "initial_accumulator_value", group["initial_accumulator_value"], least=0)
        checks.number(self.cls_name, "eps", group["eps"], above=0)

    def first(self, group: Group) -> dict[str, Any]:
        return {"accum": float(group["initial_accumulator_value"])}

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        accum = state[0] + g * g
        rate = lr / (1.0 + (t - 1.0) * group["lr_decay"])
        return w - g * rate / (ops.sqrt(accum) + group["eps"]), (accum,)


class Adadelta(Optimizer):
    """Steps of the size of recent steps, divided by the size of recent gradients.

    >>> w = Parameter([1.0], name="w")
    >>> done = Adadelta([w])((Tensor([0.0]),))
    >>> w.tolist()
    [1.0]
    """

    slots = ("accum", "accum_update")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})

    def check(self, group: Group) -> None:
        checks.share(self.cls_name, "rho", group["rho"], whole=True)
        checks.number(self.cls_name, "eps", group["eps"], above=0)

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        rho, eps = group["rho"], group["eps"]
        square = state[0] * rho + g * g * (1.0 - rho)
        far = ops.sqrt(state[1] + eps) / ops.sqrt(square + eps) * g
        return w - far * lr, (square, state[1] * rho + far * far * (1.0 - rho))


class Rprop(Optimizer):
    """Steps by the sign of the gradient: longer as long as it stays, shorter when it turns.

    >>> w = Parameter([1.0], name="w")
    >>> done = Rprop([w], lr=0.5)((Tensor([4.0]),))
    >>> w.tolist()
    [0.5]
    """

    slots = ("prev", "step_size")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})

    def check(self, group: Group) -> None:
        etas, sizes = group["etas"], group["step_sizes"]
        for name, given in (("etas", etas), ("step_sizes", sizes)):
            if not isinstance(given, tuple | list) or len(given) != 2:
                raise CallError(f"{name} of Rprop are two numbers, not {given!r}", hint="such as (0.5, 1.2)")
        if not 0 < etas[0] < 1 < etas[1] or sizes[0] > sizes[1]:
            raise ArgumentError(
                "Rprop shortens steps by a factor below 1 and lengthens them by one above, between two bounds",
                given={"etas": etas, "step_sizes": sizes},
            )

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        turned = g * state[0]
        size = ops.where(t == 1, ops.ones_like(state[1]) * lr, state[1])
        factor = ops.where(turned > 0, group["etas"][1], ops.where(turned < 0, group["etas"][0], 1.0))
        size = ops.clamp(size * factor, *group["step_sizes"])
        g = ops.where(turned < 0, ops.zeros_like(g), g)
        return w - ops.sign(g) * size, (g, size)


class ASGD(Optimizer):
    """Descent whose average over the steps after `t0` is kept, as `ax`.

    >>> w = Parameter([1.0], name="w")
    >>> done = ASGD([w], lr=0.5, lambd=0.0)((Tensor([1.0]),))
    >>> w.tolist()
    [0.5]
    """

    slots = ("ax",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "maximize": maximize},
        )

    def check(self, group: Group) -> None:
        for name in ("lambd", "alpha", "t0"):
            checks.number(self.cls_name, name, group[name])

    def rule(self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: Group) -> tuple[Tensor, State]:
        before = t - 1.0  # at the first step, the rate is the one that was given, and the average is the weight
        eta = lr / (1.0 + before * (lr * group["lambd"])) ** group["alpha"]
        new = w * (1.0 - eta * group["lambd"]) - g * eta
        return new, (state[0] + (new - state[0]) / ops.maximum(before - group["t0"], 1.0),)
