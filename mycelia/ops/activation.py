"""Activation functions."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

from mycelia import primitives as p
from mycelia.api.fused import fused
from mycelia.eager import Tensor, as_dtype, cast
from mycelia.errors import ArgumentError
from mycelia.ops.arguments import axis_of, floated, method, number, tensor
from mycelia.ops.arithmetic import clamp, clip_by_value
from mycelia.ops.joining import chunk

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "swiglu",
    "tanhshrink",
    "threshold",
]


@method("relu")
@fused
def relu(input: Any) -> Tensor:
    """X where it is positive, else 0.

    >>> relu(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    x = tensor(input)
    return p.select(x <= 0, number(0, x), x)  # what is not a number stays so


@fused
def relu6(x: Any) -> Tensor:
    """X kept between 0 and 6.

    >>> relu6(Tensor([-1.0, 2.0, 9.0])).tolist()
    [0.0, 2.0, 6.0]
    """
    return clamp(relu(tensor(x)), max=6)


@method("sigmoid")
def sigmoid(input: Any) -> Tensor:
    """1 / (1 + exp(-x)).

    >>> sigmoid(Tensor([0.0])).tolist()
    [0.5]
    """
    return p.sigmoid(floated(input))


@fused
def logsigmoid(x: Any) -> Tensor:
    """The logarithm of the sigmoid.

    >>> logsigmoid(Tensor([0.0])).item() < -0.69
    True
    """
    return p.negative(softplus(p.negative(floated(x))))


@fused
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta: a smooth relu, and x itself where beta x is beyond the threshold.

    >>> softplus(Tensor([30.0])).item()
    30.0
    """
    x = floated(input)
    scaled = x * beta
    smooth = (p.maximum(scaled, number(0.0, x)) + p.log1p(p.exp(p.negative(p.abs(scaled))))) * (1.0 / beta)
    return p.select(scaled > threshold, x, smooth)


@fused
def softsign(x: Any) -> Tensor:
    """X / (1 + |x|).

    >>> softsign(Tensor([1.0])).tolist()
    [0.5]
    """
    x = floated(x)
    return x / (p.abs(x) + 1.0)


@fused
def gelu(input: Any, approximate: str = "none") -> Tensor:
    """X times the probability that a normal number is below x; "tanh" uses the well-known approximation.

    >>> gelu(Tensor([0.0, 100.0]), "tanh").tolist()
    [0.0, 100.0]
    """
    x = floated(input)
    if approximate == "none":
        return x * 0.5 * (p.erf(x * math.sqrt(0.5)) + 1.0)
    if approximate != "tanh":
        raise ArgumentError(f"gelu has no approximation {approximate!r}", hint='say "none" or "tanh"')
    return x * 0.5 * (p.tanh((x + x * x * x * 0.044715) * math.sqrt(2.0 / math.pi)) + 1.0)


@fused
def silu(input: Any) -> Tensor:
    """X times its sigmoid.

    >>> silu(Tensor([0.0])).tolist()
    [0.0]
    """
    x = floated(input)
    return x * p.sigmoid(x)


@fused
def mish(x: Any) -> Tensor:
    """X times the tanh of its softplus.

    >>> mish(Tensor([0.0])).tolist()
    [0.0]
    """
    x = floated(x)
    return x * p.tanh(softplus(x))


@fused
def elu(input_x: Any, alpha: float = 1.0) -> Tensor:
    """X where it is positive, else alpha (exp(x) - 1).

    >>> elu(Tensor([2.0, 0.0])).tolist()
    [2.0, 0.0]
    """
    x = floated(input_x)
    return p.select(x > 0, x, p.expm1(p.select(x > 0, number(0.0, x), x)) * alpha)  # no overflow; 0 counts below


@fused
def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """X where it is positive, else alpha (exp(x / alpha) - 1).

    >>> celu(Tensor([2.0, 0.0])).tolist()
    [2.0, 0.0]
    """
    x = floated(x)
    return p.select(x > 0, x, p.expm1(p.select(x > 0, number(0.0, x), x) * (1.0 / alpha)) * alpha)


@fused
def selu(input_x: Any) -> Tensor:
    """Elu scaled such that normal inputs stay normal.

    >>> selu(Tensor([0.0])).tolist()
    [0.0]
    """
    return elu(input_x, 1.6732632423543772) * 1.0507009873554805


@fused
def leaky_relu(input: Any, alpha: float = 0.2) -> Tensor:
    """X where it is positive, else alpha x.

    >>> leaky_relu(Tensor([-1.0, 2.0]), 0.5).tolist()
    [-0.5, 2.0]
    """
    x = floated(input)
    return p.select(x > 0, x, x * alpha)


@fused
def prelu(input: Any, weight: Any) -> Tensor:
    """X where it is positive, else x times a weight, one for each channel (axis 1) or for all.

    >>> prelu(Tensor([[-1.0, 2.0]]), Tensor([0.5, 0.1])).tolist()
    [[-0.5, 2.0]]
    """
    x, w = floated(input), floated(weight)
    if w.size > 1 and x.ndim > 1:
        w = p.reshape(w, (w.size, *(1,) * (x.ndim - 2)))
    return p.select(x > 0, x, x * w)


@fused
def hardswish(input: Any) -> Tensor:
    """X times relu6(x + 3) / 6.

    >>> hardswish(Tensor([-3.0, 3.0])).tolist()
    [0.0, 3.0]
    """
    x = floated(input)
    return x * clamp(x + 3.0, 0, 6) * (1.0 / 6.0)


@fused
def hardsigmoid(input: Any) -> Tensor:
    """relu6(x + 3) / 6.

    >>> hardsigmoid(Tensor([-3.0, 3.0])).tolist()
    [0.0, 1.0]
    """
    x = floated(input) + 3.0
    return p.select(x >= 6, number(6.0, x), relu(x)) * (1.0 / 6.0)


@fused
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """X kept between two numbers.

    >>> hardtanh(Tensor([-5.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    return clip_by_value(floated(input), min_val, max_val)


@method("hardshrink")
@fused
def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """x, and 0 within `lambd` of it.

    >>> hardshrink(Tensor([0.3, 2.0])).tolist()
    [0.0, 2.0]
    """
    x = floated(input)
    return p.select(p.abs(x) <= lambd, number(0, x), x)


@fused
def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """X moved towards 0 by `lambd`, and not beyond.

    >>> softshrink(Tensor([0.3, 2.0])).tolist()
    [0.0, 1.5]
    """
    x = floated(input)
    return p.sign(x) * relu(p.abs(x) - lambd)


@fused
def tanhshrink(input: Any) -> Tensor:
    """X less its tanh.

    >>> tanhshrink(Tensor([0.0])).tolist()
    [0.0]
    """
    x = floated(input)
    return x - p.tanh(x)


@fused
def threshold(input: Any, thr: float, value: float) -> Tensor:
    """X where it is above a threshold, else a number.

    >>> threshold(Tensor([0.5, 2.0]), 1.0, 9.0).tolist()
    [9.0, 2.0]
    """
    x = tensor(input)
    return p.select(x > thr, x, number(value, x))


@fused
def glu(x: Any, axis: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of the second.

    >>> glu(Tensor([2.0, 0.0])).tolist()
    [1.0]
    """
    a, b = chunk(floated(x), 2, axis)
    return a * p.sigmoid(b)


@fused
def swiglu(input: Any, dim: int = -1) -> Tensor:
    """The silu of the first half of an axis times the second.

    >>> swiglu(Tensor([0.0, 3.0])).tolist()
    [0.0]
    """
    a, b = chunk(floated(input), 2, dim)
    return a * p.sigmoid(a) * b


@method("softmax")
@fused
def softmax(input: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, with the maximum subtracted first.

    >>> softmax(Tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    x = floated(input) if dtype is None else cast(tensor(input), as_dtype(dtype))
    axes = (axis_of(x, axis),)
    e = p.exp(x - p.stop_gradient(p.reduce_max(x, axes, True)))
    return e / p.reduce_sum(e, axes, True)


@fused
def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """softmax(-x).

    >>> softmin(Tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    return softmax(p.negative(tensor(x)), axis, dtype=dtype)


@fused
def log_softmax(logits: Any, axis: int = -1) -> Tensor:
    """The logarithm of the softmax along an axis.

    >>> log_softmax(Tensor([0.0, 0.0])).tolist()[0] < -0.69
    True
    """
    x = floated(logits)
    axes = (axis_of(x, axis),)
    shifted = x - p.stop_gradient(p.reduce_max(x, axes, True))
    return shifted - p.log(p.reduce_sum(p.exp(shifted), axes, True))


log_sigmoid, soft_shrink = logsigmoid, softshrink
