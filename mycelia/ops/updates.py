"""Steps of optimizers as operations: each changes parameters in place, and gives what they hold then.

A rule is a function of what the parameters hold and of numbers, to what they hold next.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia import primitives as p
from mycelia.eager import assign, cast, created
from mycelia.errors import ShapeError
from mycelia.ops.arguments import tensor
from mycelia.types import int64

Rule = Callable[..., tuple[Any, ...]]


def _step(count: int, rule: Rule, doc: str) -> Callable[..., Any]:
    """A rule as an operation on `count` parameters, which stand first, and numbers and a gradient."""

    def step(*inputs: Any, **attributes: Any) -> Any:
        states, others = inputs[:count], inputs[count:]
        dtype = states[0].dtype
        given = [cast(tensor(x), dtype) for x in others]
        new = rule(*[x.value() for x in states], *given, **attributes)
        for state, value in zip(states, new, strict=True):
            assign(state, cast(value, state.dtype))
        return tuple(x.value() for x in states)

    step.__doc__ = doc
    return step


def first_of(several: Callable[..., Any]) -> Callable[..., Any]:
    """The operation that gives the first parameter alone."""

    def step(*inputs: Any, **attributes: Any) -> Any:
        return several(*inputs, **attributes)[0]

    step.__doc__ = several.__doc__
    return step


def _momentum(w: Any, a: Any, lr: Any, g: Any, m: Any, use_nesterov: bool, gradient_scale: float) -> tuple[Any, ...]:
    a = a * m + g * gradient_scale
    return w - (g * gradient_scale * lr + a * m * lr if use_nesterov else lr * a), a


def _keras_momentum(w: Any, a: Any, lr: Any, g: Any, m: Any, use_nesterov: bool) -> tuple[Any, ...]:
    a = a * m - g * lr
    return w + (a * m - g * lr if use_nesterov else a), a


def _adagrad(w: Any, a: Any, lr: Any, g: Any, update_slots: bool, epsilon: float = 0.0) -> tuple[Any, ...]:
    a = a + g * g if update_slots else a
    return w - lr * g / (p.sqrt(a) + epsilon), a


def _adadelta(w: Any, a: Any, u: Any, lr: Any, rho: Any, epsilon: Any, g: Any) -> tuple[Any, ...]:
    a = rho * a + (1 - rho) * g * g
    move = p.sqrt(u + epsilon) / p.sqrt(a + epsilon) * g
    return w - lr * move, a, rho * u + (1 - rho) * move * move


def _adamax(w: Any, m: Any, v: Any, power: Any, lr: Any, b1: Any, b2: Any, epsilon: Any, g: Any) -> tuple[Any, ...]:
    m = b1 * m + (1 - b1) * g
    v = p.maximum(b2 * v, p.abs(g))
    return w - lr / (1 - power) * (m / (v + epsilon)), m, v


def _add_sign(w: Any, m: Any, lr: Any, alpha: Any, decay: Any, beta: Any, g: Any) -> tuple[Any, ...]:
    m = beta * m + (1 - beta) * g
    return w - lr * (alpha + decay * p.sign(g) * p.sign(m)) * g, m


def _power_sign(w: Any, m: Any, lr: Any, logbase: Any, decay: Any, beta: Any, g: Any) -> tuple[Any, ...]:
    m = beta * m + (1 - beta) * g
    return w - lr * p.exp(logbase * decay * p.sign(g) * p.sign(m)) * g, m


def _rmsprop(w: Any, s: Any, m: Any, lr: Any, g: Any, decay: Any, momentum: Any, epsilon: Any) -> tuple[Any, ...]:
    s = decay * s + (1 - decay) * g * g
    m = momentum * m + lr * g / p.sqrt(s + epsilon)
    return w - m, s, m


def _centred(
    w: Any, mean: Any, s: Any, m: Any, g: Any, lr: Any, decay: Any, momentum: Any, epsilon: Any
) -> tuple[Any, ...]:
    mean = decay * mean + (1 - decay) * g
    s = decay * s + (1 - decay) * g * g
    m = momentum * m + lr * g / p.sqrt(s - mean * mean + epsilon)
    return w - m, mean, s, m


def _descent(w: Any, alpha: Any, delta: Any) -> tuple[Any, ...]:
    return (w - alpha * delta,)


def _nearest(w: Any, rate: Any, l1: Any, l2: Any) -> Any:
    """The number near `w` that costs least by its size (l1) and its square (l2)."""
    return p.sign(w) * p.maximum(p.abs(w) - rate * l1, 0) / (1 + rate * l2)


def _proximal(w: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> tuple[Any, ...]:
    return (_nearest(w - alpha * delta, alpha, l1, l2),)


def _proximal_adagrad(w: Any, a: Any, lr: Any, l1: Any, l2: Any, g: Any) -> tuple[Any, ...]:
    a = a + g * g
    rate = lr / p.sqrt(a)
    return _nearest(w - rate * g, rate, l1, l2), a


def _ftrl(w: Any, a: Any, linear: Any, g: Any, lr: Any, l1: Any, l2: Any, power: Any) -> tuple[Any, ...]:
    new = a + g * g
    linear = linear + g - (new ** (power * -1) - a ** (power * -1)) / lr * w
    square = new ** (power * -1) / lr + 2 * l2
    away = p.sign(linear) * l1 - linear
    return p.select(p.greater(p.abs(linear), l1), away / square, 0), new, linear


def _adam(
    w: Any, m: Any, v: Any, power1: Any, power2: Any, lr: Any, b1: Any, b2: Any, epsilon: Any, g: Any,
    use_nesterov: bool,
) -> tuple[Any, ...]:  # fmt: skip
    rate = lr * p.sqrt(1 - power2) / (1 - power1)
    m, v = m + (g - m) * (1 - b1), v + (g * g - v) * (1 - b2)
    move = m * b1 + (1 - b1) * g if use_nesterov else m
    return w - rate * move / (p.sqrt(v) + epsilon), m, v


def _amsgrad(
    w: Any, m: Any, v: Any, top: Any, power1: Any, power2: Any, lr: Any, g: Any, beta1: float, beta2: float,
    epsilon: float,
) -> tuple[Any, ...]:  # fmt: skip
    rate = lr * p.sqrt(1 - power2) / (1 - power1)
    m, v = m + (g - m) * (1 - beta1), v + (g * g - v) * (1 - beta2)
    top = p.maximum(top, v)
    return w - rate * m / (p.sqrt(top) + epsilon), m, v, top


def _amsgrad_told(
    w: Any, m: Any, v: Any, top: Any, power1: Any, power2: Any, lr: Any, b1: Any, b2: Any, epsilon: Any, g: Any
) -> tuple[Any, ...]:
    return _amsgrad(w, m, v, top, power1, power2, lr, g, b1, b2, epsilon)


def _dual_averaging(w: Any, a: Any, s: Any, g: Any, lr: Any, l1: Any, l2: Any, step: Any) -> tuple[Any, ...]:
    a, s = a + g, s + g * g
    drawn = p.sign(a) * p.maximum(p.abs(a) - l1 * step, 0)
    return lr * drawn * -1 / (l2 * step * lr + p.sqrt(s)), a, s


def _adam_decay(w: Any, m: Any, v: Any, lr: Any, b1: Any, b2: Any, epsilon: Any, decay: Any, g: Any) -> tuple[Any, ...]:
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    return w - lr * (m / (p.sqrt(v) + epsilon) + decay * w), m, v


apply_momentum = first_of(_step(2, _momentum, "A step of gradient descent with momentum: the parameter."))
apply_keras_momentum = _step(2, _keras_momentum, "A step with momentum that holds the rate: parameter and momentum.")
apply_adagrad = _step(2, _adagrad, "A step of Adagrad: the parameter, and the squares added up.")
apply_adadelta = _step(3, _adadelta, "A step of Adadelta: the parameter, and both means.")
apply_ada_max = _step(3, _adamax, "A step of AdaMax: the parameter, the mean, and the largest.")
apply_add_sign = _step(2, _add_sign, "A step that is longer where gradient and mean agree: the parameter and the mean.")
apply_power_sign = _step(2, _power_sign, "A step that is a power longer where gradient and mean agree: both.")
apply_rms_prop = first_of(_step(3, _rmsprop, "A step of RMSProp: the parameter."))
apply_centered_rms_prop = first_of(_step(4, _centred, "A step of RMSProp by the variance: the parameter."))
apply_gradient_descent = first_of(_step(1, _descent, "A step of gradient descent: the parameter."))
apply_proximal_gradient_descent = first_of(_step(1, _proximal, "A proximal step of gradient descent: the parameter."))
apply_proximal_adagrad = _step(2, _proximal_adagrad, "A proximal step of Adagrad: the parameter, the squares added up.")
apply_ftrl = first_of(_step(3, _ftrl, "A step of FTRL: the parameter."))
apply_adam = _step(3, _adam, "A step of Adam: the parameter, and the means of gradients and of squares.")
apply_adam_with_amsgrad = _step(4, _amsgrad, "A step of AMSGrad: the parameter, both means, the largest of the second.")
apply_adam_weight_decay = _step(3, _adam_decay, "A step of Adam with decay, without correction: parameter and means.")

apply_adagrad_da = first_of(_step(3, _dual_averaging, "A step of Adagrad by dual averaging: the parameter."))
apply_adam_with_amsgrad_v2 = _step(
    4, _amsgrad_told, "A step of AMSGrad, its numbers given with the gradient: all four."
)


def _rows(count: int, rule: Rule, doc: str) -> Callable[..., Any]:
    """A rule as an operation on rows of parameters: `states..., numbers..., gradients of rows, numbers of rows`. Rows
    that are named twice get the sum of their gradients, and numbers beyond the last row name none.
    """

    def step(*inputs: Any, **attributes: Any) -> Any:
        states, numbers, (rows, indices) = inputs[:count], inputs[count:-2], inputs[-2:]
        table, dtype = states[0], states[0].dtype
        at, given = cast(tensor(indices), int64), cast(tensor(rows), dtype)
        if at.ndim != 1 or given.shape != (at.size, *table.shape[1:]):
            raise ShapeError(
                "a sparse step takes a row of gradients for each number of a row",
                given={"gradients": given.shape, "indices": at.shape, "parameter": table.shape},
            )
        there = p.logical_and(p.greater_equal(at, 0), p.less(at, table.shape[0]))
        inside = p.minimum(p.maximum(at, 0), table.shape[0] - 1)
        wide = (at.size, *(1,) * (table.ndim - 1))
        kept = p.select(p.broadcast(p.reshape(there, wide), given.shape), given, 0)
        whole = p.scatter_add(created(p.Full(0, dtype, table.shape)), inside, kept, 0)
        named = p.scatter_add(created(p.Full(0, int64, table.shape[:1])), inside, cast(there, int64), 0)
        touched = p.broadcast(p.reshape(p.greater(named, 0), (table.shape[0], *wide[1:])), table.shape)
        old = [x.value() for x in states]
        new = rule(*old, *[cast(tensor(x), dtype) for x in numbers], g=whole, **attributes)
        for state, value, before in zip(states, new, old, strict=True):
            assign(state, p.select(touched, cast(value, state.dtype), before))
        return tuple(x.value() for x in states)

    step.__doc__ = doc
    return step


def _sparse_ftrl(
    w: Any, a: Any, linear: Any, g: Any, lr: float, l1: float, l2: float, lr_power: float, l2_shrinkage: float = 0.0
) -> tuple[Any, ...]:
    pulled = g + 2 * l2_shrinkage * w
    new = a + g * g
    linear = linear + pulled - (new**-lr_power - a**-lr_power) / lr * w
    away = p.sign(linear) * l1 - linear
    return p.select(p.greater(p.abs(linear), l1), away / (new**-lr_power / lr + 2 * l2), 0), new, linear


def _sparse_adagrad(w: Any, a: Any, g: Any, lr: float, update_slots: bool, epsilon: float = 0.0) -> tuple[Any, ...]:
    return _adagrad(w, a, lr, g, update_slots, epsilon)


def _sparse_rmsprop(
    w: Any, s: Any, m: Any, lr: Any, g: Any, rho: float, momentum: float, epsilon: float
) -> tuple[Any, ...]:
    return _rmsprop(w, s, m, lr, g, rho, momentum, epsilon)


def _sparse_adadelta(w: Any, a: Any, u: Any, lr: Any, rho: Any, g: Any, epsilon: float) -> tuple[Any, ...]:
    return _adadelta(w, a, u, lr, rho, epsilon, g)


_FTRL = "Steps of FTRL for some rows: the parameter, the squares added up, and the linear part."
SPARSE_UPDATES: dict[str, tuple[str, Callable[..., Any]]] = {
    "ApplyAdagradDA": ("use_locking=False!", apply_adagrad_da),
    "ApplyAdamWithAmsgradV2": ("use_locking=False!", apply_adam_with_amsgrad_v2),
    "SparseApplyAdadelta": (
        "epsilon, use_locking=False!", _rows(3, _sparse_adadelta, "Steps of Adadelta for some rows: all three."),
    ),
    "SparseApplyAdagrad": (
        "lr, update_slots=True, use_locking=False!",
        _rows(2, _sparse_adagrad, "Steps of Adagrad for some rows: the parameter, and the squares added up."),
    ),
    "SparseApplyAdagradV2": (
        "lr, epsilon, use_locking=False!, update_slots=True",
        _rows(2, _sparse_adagrad, "Steps of Adagrad for some rows: the parameter, and the squares added up."),
    ),
    "SparseApplyFtrl": ("lr, l1, l2, lr_power, use_locking=False!", _rows(3, _sparse_ftrl, _FTRL)),
    "SparseApplyFtrlV2": ("lr, l1, l2, l2_shrinkage, lr_power, use_locking=False!", _rows(3, _sparse_ftrl, _FTRL)),
    "SparseApplyProximalAdagrad": (
        "use_locking=False!", _rows(2, _proximal_adagrad, "Proximal steps of Adagrad for some rows: both."),
    ),
    "SparseApplyRMSProp": (
        "rho, momentum, epsilon, use_locking=False!",
        _rows(3, _sparse_rmsprop, "Steps of RMSProp for some rows: all three."),
    ),
}  # fmt: skip
"""Steps that few programs name: they are loaded when one is asked for."""

UPDATES: dict[str, tuple[str, Callable[..., Any]]] = {
    "Adam": ("use_locking=False!, use_nesterov=False", apply_adam),
    "AdamWeightDecay": ("use_locking=False!", apply_adam_weight_decay),
    "ApplyAdaMax": ("", apply_ada_max),
    "ApplyAdadelta": ("", apply_adadelta),
    "ApplyAdagrad": ("update_slots=True", apply_adagrad),
    "ApplyAdagradV2": ("epsilon, update_slots=True", apply_adagrad),
    "ApplyAdamWithAmsgrad": ("beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False!", apply_adam_with_amsgrad),
    "ApplyAddSign": ("", apply_add_sign),
    "ApplyCenteredRMSProp": ("use_locking=False!", apply_centered_rms_prop),
    "ApplyFtrl": ("use_locking=False!", apply_ftrl),
    "ApplyGradientDescent": ("", apply_gradient_descent),
    "ApplyKerasMomentum": ("use_locking=False!, use_nesterov=False", apply_keras_momentum),
    "ApplyMomentum": ("use_nesterov=False, use_locking=False!, gradient_scale=1.0", apply_momentum),
    "ApplyPowerSign": ("", apply_power_sign),
    "ApplyProximalAdagrad": ("use_locking=False!", apply_proximal_adagrad),
    "ApplyProximalGradientDescent": ("", apply_proximal_gradient_descent),
    "ApplyRMSProp": ("use_locking=False!", apply_rms_prop),
}
