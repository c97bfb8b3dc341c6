"""Loss functions."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math as python
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.api.fused import fused, fused_early
from mycelia.checks import number as a_number
from mycelia.eager import Tensor, cast, floating
from mycelia.eager.dispatch import must
from mycelia.eager.indexing import BoundsError
from mycelia.errors import ArgumentError, ShapeError, warn_user
from mycelia.ir import Value
from mycelia.ops.activation import log_softmax
from mycelia.ops.arguments import axis_of, floated, number, pair, reduced, tensor
from mycelia.ops.arithmetic import clamp, minimum
from mycelia.ops.choice import gather_elements

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "l2_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "sigmoid_cross_entropy_with_logits",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax_cross_entropy_with_logits",
    "triplet_margin_loss",
]


def compared(name: str, prediction: Any, target: Any) -> tuple[Tensor, Tensor]:
    """Two operands of one floating type; a warning tells where each is spread over the other.

    A column (n, 1) and a row (n) make n by n differences, of which n were meant: the loss would still fall, to that of
    the mean, and nothing would say so.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     found = mse_loss(Tensor([[1.0], [2.0]]), Tensor([1.0, 2.0]))
    >>> print(told[0].message)
    mse_loss compares each of (2, 1) with each of (2,), which makes (2, 2): give both the same shape
    """
    x, y = pair(prediction, target, floating)
    if x.shape != y.shape and all(isinstance(extent, int) for extent in (*x.shape, *y.shape)):
        try:
            whole = np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return x, y  # the difference tells it better
        if python.prod(whole) > max(python.prod(x.shape), python.prod(y.shape)):
            said = f"{name} compares each of {x.shape} with each of {y.shape}, which makes {whole}"
            warn_user(f"{said}: give both the same shape")
    return x, y


@fused
def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """The square of the difference.

    >>> mse_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    2.0
    """
    x, y = compared("mse_loss", input, target)
    return reduced("mse_loss", (x - y) * (x - y), reduction)


@fused
def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """The size of the difference.

    >>> l1_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    1.0
    """
    x, y = compared("l1_loss", input, target)
    return reduced("l1_loss", p.abs(x - y), reduction)


@fused
def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Half the square of a difference below beta, over beta; a larger difference less beta / 2.

    >>> smooth_l1_loss(Tensor([0.0]), Tensor([2.0])).tolist()
    [1.5]
    """
    x, y = compared("smooth_l1_loss", input, target)
    away = p.abs(x - y)
    if beta == 0:
        return reduced("smooth_l1_loss", away, reduction)
    near = away * away * (0.5 / beta)
    return reduced("smooth_l1_loss", p.select(away < beta, near, away - 0.5 * beta), reduction)


@fused
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the square of a difference below delta; delta times a larger one, less delta / 2.

    >>> huber_loss(Tensor([0.0]), Tensor([3.0])).item()
    2.5
    """
    return reduced("huber_loss", smooth_l1_loss(input, target, delta) * delta, reduction)


@fused_early
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative log-probability of the target class; or, for a target of probabilities, its expectation.

    `input` holds a score for each class on axis 1 (on axis 0, if it has one axis only).

    >>> cross_entropy(Tensor([[0.0, 0.0]]), Tensor([1])).item() > 0.69
    True
    """
    x, y = floated(input), tensor(target)
    axis = 0 if x.ndim == 1 else 1
    a_number("cross_entropy", "label_smoothing", label_smoothing, 0.0, 1.0)
    logs = log_softmax(x, axis)
    if not y.dtype.is_float:
        return nll_loss(logs, y, weight, ignore_index, reduction, label_smoothing)
    if y.shape != x.shape:
        raise ShapeError(
            f"probabilities of shape {y.shape} do not fit scores of shape {x.shape}",
            given={"target": y.dtype},
            hint="floating targets are probabilities of each class; numbers of classes are whole: cast them to int32",
        )
    y = cast(y, x.dtype)
    if label_smoothing:
        y = y * (1.0 - label_smoothing) + label_smoothing / x.shape[axis]
    if weight is not None:
        y = y * _per_class(weight, x, axis)
    losses = p.negative(p.reduce_sum(logs * y, (axis,)))
    return _by_examples(losses, reduction)


def _by_examples(losses: Tensor, reduction: str) -> Tensor:
    return reduced("cross_entropy", losses, reduction)


def _per_class(weight: Any, x: Tensor, axis: int) -> Tensor:
    w = cast(tensor(weight), x.dtype)
    if w.shape != (x.shape[axis],):
        raise ShapeError(
            f"{x.shape[axis]} classes need as many weights, not shape {w.shape}",
            given={"scores": x.shape},
            hint="weight has one number for each class",
        )
    return p.reshape(w, [e if a == axis else 1 for a, e in enumerate(x.shape)])


@fused_early
def nll_loss(
    inputs: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative of the log-probability that stands at the target class; targets of `ignore_index` count nothing.

    >>> nll_loss(Tensor([[-1.0, -3.0]]), Tensor([1])).item()
    3.0
    """
    logs, y = floated(inputs), tensor(target)
    axis = 0 if logs.ndim == 1 else 1
    if y.shape != (*logs.shape[:axis], *logs.shape[axis + 1 :]):
        raise ShapeError(
            f"targets of shape {y.shape} do not fit scores of shape {logs.shape}",
            hint="scores have the classes on axis 1, and targets have the same shape without it",
        )
    counted = y != ignore_index
    y = p.select(counted, y, number(0, y))
    known = _classes(y, logs.shape[axis])
    places = p.expand_dims(p.select(known, y, number(0, y)), (axis,))
    chosen = p.reshape(gather_elements(logs, axis, places), y.shape)
    chosen = p.select(known, chosen, python.nan)
    counts = cast(counted, logs.dtype)
    w = counts
    if weight is not None:
        weights = p.broadcast(_per_class(weight, logs, axis), logs.shape)
        w = counts * p.reshape(gather_elements(weights, axis, places), y.shape)
    losses = p.negative(chosen * w)
    if label_smoothing:
        every = logs if weight is None else logs * _per_class(weight, logs, axis)
        spread = p.negative(p.reduce_sum(every, (axis,))) * counts * (1.0 / logs.shape[axis])
        losses = losses * (1.0 - label_smoothing) + spread * label_smoothing
    if reduction == "mean":
        return p.reduce_sum(losses) / p.reduce_sum(w)
    return reduced("nll_loss", losses, reduction)


def _classes(y: Tensor, count: int) -> Tensor:
    """Whether each target is one of the classes. Where the numbers are known, others are a mistake."""
    known = p.greater_equal(y, 0) if y.dtype.kind == "i" else p.equal(y, y)
    if count <= np.iinfo(y.dtype.numpy).max:
        known = p.logical_and(known, p.less(y, count))
    if known._data.__class__ is Value:
        must(known._data)
    elif not known._data.all():
        wrong = y._data[~known._data].flat[0]
        raise BoundsError(
            f"target {wrong} is none of {count} classes",
            hint=f"classes are numbered 0 to {count - 1}; ignore_index leaves targets out",
        )
    return known


def _probabilities(x: Tensor) -> None:
    """Other numbers than those from 0 to 1 are a mistake: their logarithm is none."""
    known = p.logical_not(p.logical_or(p.less(x, 0.0), p.greater(x, 1.0)))
    if known._data.__class__ is Value:
        if not isinstance(x._data.op, p.Sigmoid):
            must(known._data)
    elif not known._data.all():
        wrong = x._data[~known._data].flat[0]
        raise ArgumentError(
            f"{wrong} is no probability: binary_cross_entropy takes numbers from 0 to 1",
            hint="sigmoid makes probabilities of scores; binary_cross_entropy_with_logits takes the scores themselves",
        )


@fused
def binary_cross_entropy(logits: Any, labels: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """The negative log-probability of a yes or no, from the probability of yes; logarithms stop at -100.

    >>> binary_cross_entropy(Tensor([1.0]), Tensor([1.0])).item()
    0.0
    """
    x, y = pair(logits, labels, floating)
    _probabilities(x)
    yes, no = clamp(p.log(x), -100.0), clamp(p.log1p(p.negative(x)), -100.0)
    losses = p.negative(y * yes + (1.0 - y) * no)
    return reduced("binary_cross_entropy", losses if weight is None else losses * weight, reduction)


@fused
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """The negative log-probability of a yes or no, from a score whose sigmoid is the probability of yes.

    >>> binary_cross_entropy_with_logits(Tensor([100.0]), Tensor([1.0])).item()
    0.0
    """
    x, y = pair(input, target, floating)
    rest = p.log1p(p.exp(p.negative(p.abs(x)))) + p.maximum(p.negative(x), number(0.0, x))  # -log(sigmoid(x))
    factor = 1.0 if pos_weight is None else (tensor(pos_weight) - 1.0) * y + 1.0
    losses = (1.0 - y) * x + rest * factor
    return reduced("binary_cross_entropy_with_logits", losses if weight is None else losses * weight, reduction)


@fused
def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Tensor:
    """How far probabilities are from log-probabilities: y (log y - x); "batchmean" is the sum over examples' number.

    Where y is not above 0 it is 0.

    >>> kl_div(Tensor([0.0, 0.0]), Tensor([1.0, -1.0])).item()
    0.0
    """
    x, y = pair(logits, labels, floating)
    likely = p.greater(y, 0)
    safe = p.select(likely, y, p.ones_like(y))
    losses = p.select(likely, safe * p.log(safe), p.zeros_like(y)) - y * x
    losses = p.select(likely, losses, p.zeros_like(losses))
    if reduction == "batchmean":
        return p.reduce_sum(losses) * (1.0 / x.shape[0])
    return reduced("kl_div", losses, reduction)


@fused
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis.

    >>> cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[2.0, 0.0]])).tolist()
    [1.0]
    """
    x, y = pair(x1, x2, floating)
    axes = (axis_of(x if x.ndim >= y.ndim else y, dim),)
    together = p.reduce_sum(x * y, axes)
    lengths = p.reduce_sum(x * x + y * 0.0, axes) * p.reduce_sum(y * y + x * 0.0, axes)
    return together * p.rsqrt(p.maximum(lengths, number(eps * eps, lengths)))


@fused
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """One minus the cosine for pairs with target 1; the cosine beyond a margin for pairs with target -1.

    >>> cosine_embedding_loss(Tensor([[1.0, 0.0]]), Tensor([[2.0, 0.0]]), Tensor([1])).item()
    0.0
    """
    cosine = cosine_similarity(input1, input2, dim=-1)
    losses = p.select(tensor(target) == 1, 1.0 - cosine, clamp(cosine - margin, 0.0))
    return reduced("cosine_embedding_loss", losses, reduction)


@fused
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """How far the first fails to be ranked above (target 1) or below (target -1) the second by a margin.

    >>> margin_ranking_loss(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])).item()
    2.0
    """
    x, y = pair(input1, input2, floating)
    return reduced("margin_ranking_loss", clamp((y - x) * target + margin, 0.0), reduction)


@fused
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """How far the positive example fails to be nearer than the negative one by a margin; with `swap` the negative one
    may also be near the positive one.

    >>> round(triplet_margin_loss(Tensor([[0.0]]), Tensor([[0.0]]), Tensor([[2.0]])).item(), 3)
    0.0
    """
    if p <= 0:
        raise ArgumentError(f"a distance has a positive exponent, not {p}")
    far = _distance(anchor, negative, p, eps)
    far = minimum(far, _distance(positive, negative, p, eps)) if swap else far
    further = _distance(anchor, positive, p, eps) - far + margin
    return reduced("triplet_margin_loss", clamp(further, 0.0), reduction)


def _distance(x: Any, y: Any, exponent: float, eps: float) -> Tensor:
    a, b = pair(x, y, floating)
    return p.reduce_sum(p.abs(a - b + eps) ** exponent, (a.ndim - 1,)) ** (1.0 / exponent)


@fused
def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-y x)), for targets 1 and -1.

    >>> soft_margin_loss(Tensor([0.0]), Tensor([1.0])).item() > 0.69
    True
    """
    x, y = pair(input, target, floating)
    z = p.negative(y * x)
    return reduced("soft_margin_loss", p.maximum(z, number(0.0, z)) + p.log1p(p.exp(p.negative(p.abs(z)))), reduction)


@fused
def l2_loss(x: Any) -> Tensor:
    """Half the sum of squares.

    >>> l2_loss(Tensor([3.0, 4.0])).item()
    12.5
    """
    x = floated(x)
    return p.reduce_sum(x * x) * 0.5


@fused
def softmax_cross_entropy_with_logits(logits: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """For each example the cross entropy of its labels (probabilities), and its gradient.

    >>> softmax_cross_entropy_with_logits(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]]))[1].tolist()
    [[-0.5, 0.5]]
    """
    x, y = pair(logits, labels, floating)
    logs = log_softmax(x, -1)
    return p.negative(p.reduce_sum(logs * y, (x.ndim - 1,))), p.exp(logs) - y


def sigmoid_cross_entropy_with_logits(logits: Any, label: Any) -> Tensor:
    """For each element the binary cross entropy of its label.

    >>> sigmoid_cross_entropy_with_logits(Tensor([100.0]), Tensor([1.0])).tolist()
    [0.0]
    """
    return binary_cross_entropy_with_logits(logits, label, reduction="none")
