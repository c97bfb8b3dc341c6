"""Losses of margins and of likelihoods that fewer programs call: functions for the layers of the same names."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
from typing import Any

from mycelia import checks
from mycelia import primitives as p
from mycelia.eager import Tensor, cast
from mycelia.errors import ShapeError
from mycelia.ops.activation import logsigmoid, relu
from mycelia.ops.arguments import floated, number, reduced, tensor
from mycelia.ops.arithmetic import clamp
from mycelia.ops.choice import one_hot
from mycelia.ops.reduction import cumsum

__all__ = [
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
]


def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """-log of the density of targets that are normal with mean `x` and variance `var`, which is at least `eps`; with
    the constant log(2 pi) / 2 if it is to be `full`.

    >>> gaussian_nll_loss(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])).item()
    2.0
    """
    x, target, var = floated(x), tensor(target), floated(var)
    checks.number("gaussian_nll_loss", "eps", eps, above=0)
    if var.shape != x.shape:
        if var.shape == x.shape[:-1]:
            var = p.expand_dims(var, (var.ndim,))
        elif var.shape != (*x.shape[:-1], 1):
            raise ShapeError(
                "a variance is for each element, or for each row of them", given={"x": x.shape, "var": var.shape}
            )
    var = p.maximum(var, number(eps, var))
    away = x - target
    losses = 0.5 * (p.log(var) + away * away / var)
    if checks.truth("gaussian_nll_loss", "full", full):
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced("gaussian_nll_loss", losses, reduction)


def hinge_embedding_loss(inputs: Any, targets: Any, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """X where the target is 1, and what x misses the margin by where it is -1.

    >>> hinge_embedding_loss(Tensor([0.5, 0.25]), Tensor([1.0, -1.0])).item()
    0.625
    """
    x, target = floated(inputs), tensor(targets)
    checks.number("hinge_embedding_loss", "margin", margin)
    zero = number(0, x)
    far = p.select(p.less(target, 0), clamp(margin - x, 0.0), zero)
    return reduced("hinge_embedding_loss", p.select(p.greater(target, 0), x, zero) + far, reduction)


def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """For each class but the right one, how far the right one fails to score higher by a margin, to the power `p`.

    >>> multi_margin_loss(Tensor([[0.0, 1.0]]), Tensor([0])).item()
    1.0
    """
    x, classes = floated(input), tensor(target)
    if x.ndim != 2 or classes.shape != x.shape[:1]:
        raise ShapeError(
            "multi_margin_loss takes scores (N, C) and classes (N,)",
            given={"input": x.shape, "target": classes.shape},
        )
    checks.choice("multi_margin_loss", "p", p, (1, 2))
    checks.number("multi_margin_loss", "margin", margin)
    right = one_hot(classes, x.shape[1]).astype(x.dtype)
    missed = relu(margin - (x * right).sum(1, keepdims=True) + x)
    losses = missed if p == 1 else missed * missed
    if weight is not None:
        losses = losses * (tensor(weight) * right).sum(1, keepdims=True)
    return reduced("multi_margin_loss", (losses * (1.0 - right)).sum(1) / x.shape[1], reduction)


def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Of several right classes each, how far it fails to score higher than each wrong one by 1. The target lists the
    right classes of an example, and then -1.

    >>> multilabel_margin_loss(Tensor([[0.0, 1.0]]), Tensor([[0, -1]])).item()
    1.0
    """
    x, target = floated(input), tensor(target)
    if x.shape != target.shape or x.ndim not in (1, 2):
        raise ShapeError(
            "multilabel_margin_loss takes scores and targets of (N, C) or (C,)",
            given={"input": x.shape, "target": target.shape},
            hint="a target has as many places as there are classes, -1 after the last right class",
        )
    one = x.ndim == 1
    x, target = (x[None], target[None]) if one else (x, target)
    count = x.shape[1]
    listed = cast(p.equal(cumsum(cast(p.less(target, 0), target.dtype), 1), 0), x.dtype)  # those before the first -1
    named = one_hot(p.maximum(target, 0), count).astype(x.dtype) * listed[:, :, None]
    right = p.minimum(named.sum(1), number(1, x))  # (N, C)
    scores = (named * x[:, None, :]).sum(2)  # of the listed classes
    gaps = relu(1.0 - (scores[:, :, None] - x[:, None, :]))  # (N, listed, class)
    losses = (gaps * (listed[:, :, None] * (1.0 - right)[:, None, :])).sum((1, 2)) / count
    return reduced("multilabel_margin_loss", losses[0] if one else losses, reduction)


def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """The cross-entropy of each class by itself, and the mean over the classes.

    >>> f"{multilabel_soft_margin_loss(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])).item():.4f}"
    '0.6931'
    """
    x, target = floated(input), tensor(target)
    losses = -(target * logsigmoid(x) + (1 - target) * logsigmoid(-x))
    losses = losses if weight is None else losses * weight
    return reduced("multilabel_soft_margin_loss", losses.mean(-1), reduction)
