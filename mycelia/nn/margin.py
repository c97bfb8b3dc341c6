"""Losses of distances and margins: what belongs together is near, what does not is further away by a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia import checks, ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.activation import get_activation
from mycelia.nn.cell import Cell
from mycelia.nn.loss import LossBase
from mycelia.ops import margins


class MarginRankingLoss(LossBase):
    """How far the first input fails to rank above the second by a margin; below it, where the target is -1.

    >>> MarginRankingLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])).item()
    2.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.number(self.cls_name, "margin", margin)

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-y x)), for labels 1 and -1.

    >>> f"{SoftMarginLoss()(Tensor([0.0]), Tensor([1.0])).item():.4f}"
    '0.6931'
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cosine where the label is 1; where it is -1, what the cosine exceeds the margin by.

    >>> CosineEmbeddingLoss()(Tensor([[1.0, 0.0]]), Tensor([[0.0, 2.0]]), Tensor([1])).item()
    1.0
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.number(self.cls_name, "margin", margin, least=-1, most=1)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """x where the label is 1, and what x misses the margin by where it is -1.

    >>> HingeEmbeddingLoss()(Tensor([0.5, 0.25]), Tensor([1.0, -1.0])).item()
    0.625
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.number(self.cls_name, "margin", margin)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return margins.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class TripletMarginLoss(LossBase):
    """How far the positive example fails to be nearer than the negative one by a margin, in the `p` norm.

    `swap` takes the distance from positive to negative, where that is the shorter one.

    >>> TripletMarginLoss()(Tensor([[0.0]]), Tensor([[0.0]]), Tensor([[4.0]])).item()
    0.0
    """

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        self.p = checks.number(self.cls_name, "p", p, above=0)
        self.swap, self.eps = checks.truth(self.cls_name, "swap", swap), eps
        self.margin = checks.number(self.cls_name, "margin", margin)

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0) -> Tensor:
        margin = margin if self.margin == 1.0 else self.margin
        further = self.distance(x, negative)
        if self.swap:
            further = ops.minimum(further, self.distance(positive, negative))
        return self.get_loss(ops.relu(self.distance(x, positive) - further + margin))

    def distance(self, x: Tensor, y: Tensor) -> Tensor:
        """Along the last axis."""
        return ops.sum(ops.abs(x - y + self.eps) ** self.p, -1) ** (1 / self.p)  # type: ignore[no-any-return]


class TripletMarginWithDistanceLoss(LossBase):
    """`TripletMarginLoss` with a distance of one's own; Euclid's along axis 1 if none is given.

    >>> loss = TripletMarginWithDistanceLoss(lambda x, y: ops.abs(x - y).sum(-1))
    >>> loss(Tensor([[0.0]]), Tensor([[2.0]]), Tensor([[2.5]])).item()
    0.5
    """

    def __init__(
        self,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        swap: bool = False,
        reduction: str = "mean",
        margin: float = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.distance_function = distance_function or _euclid
        self.swap = checks.truth(self.cls_name, "swap", swap)
        self.margin = checks.number(self.cls_name, "margin", margin)

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        further = self.distance_function(x, negative)
        if self.swap:
            further = ops.minimum(further, self.distance_function(positive, negative))
        return self.get_loss(ops.relu(self.distance_function(x, positive) - further + self.margin))


def _euclid(x: Tensor, y: Tensor) -> Tensor:
    return ops.sqrt(ops.sum(ops.square(x - y), 1))


class MultiMarginLoss(LossBase):
    """For each class but the right one, how far the right one fails to score higher by a margin, to the power `p`.

    >>> MultiMarginLoss()(Tensor([[0.0, 1.0]]), Tensor([0])).item()
    1.0
    """

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Tensor | None = None) -> None:
        super().__init__(reduction)
        self.p = checks.choice(self.cls_name, "p", p, (1, 2))
        self.margin = checks.number(self.cls_name, "margin", margin)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        weight = weight if self.weight is None else self.weight
        return margins.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultilabelMarginLoss(LossBase):
    """Of several right classes each, how far it fails to score higher than each wrong one by 1.

    The target lists the right classes of an example, and then -1.

    >>> MultilabelMarginLoss()(Tensor([[0.0, 1.0]]), Tensor([[0, -1]])).item()
    1.0
    """

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return margins.multilabel_margin_loss(x, target, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """The cross-entropy of each class by itself, and the mean over the classes.

    >>> f"{MultiLabelSoftMarginLoss()(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])).item():.4f}"
    '0.6931'
    """

    def __init__(self, weight: Tensor | float | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return margins.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class DiceLoss(LossBase):
    """1 - 2 |x y| / (|x|^2 + |y|^2): how little two masks overlap.

    >>> f"{DiceLoss()(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]])).item():.4f}"
    '0.0000'
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = checks.number(self.cls_name, "smooth", smooth, above=0)

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        if logits.shape != label.shape:
            raise ShapeError(
                "masks that are compared have one shape", given={"logits": logits.shape, "label": label.shape}
            )
        label = cast(label, logits.dtype)
        union = ops.sum(logits * logits) + ops.sum(label * label) + self.smooth
        return 1.0 - 2.0 * ops.sum(logits * label) / union  # type: ignore[no-any-return]


class MultiClassDiceLoss(LossBase):
    """The mean of `DiceLoss` over the classes on axis 1, after an activation.

    >>> loss = MultiClassDiceLoss(activation=None)
    >>> f"{loss(Tensor([[1.0, 0.0]]), Tensor([[1.0, 0.0]])).item():.4f}"
    '0.5000'
    """

    def __init__(
        self, weights: Tensor | None = None, ignore_indiex: int | None = None, activation: str | Cell | None = "softmax"
    ) -> None:
        super().__init__()
        if weights is not None and weights.ndim != 2:
            raise ArgumentError(f"weights of MultiClassDiceLoss have two axes, not shape {weights.shape}")
        self.weights, self.ignore_indiex = weights, ignore_indiex
        self.activation: Any = get_activation(activation) if isinstance(activation, str) else activation
        self.binarydiceloss = DiceLoss()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        if logits.shape != label.shape or logits.ndim < 2:
            raise ShapeError(
                "masks that are compared have one shape, with the classes on axis 1",
                given={"logits": logits.shape, "label": label.shape},
            )
        if self.activation is not None:
            logits = self.activation(logits)
        count, total = label.shape[1], ops.zeros((), logits.dtype)
        for i in range(count):
            if i != self.ignore_indiex:
                loss = self.binarydiceloss(logits[:, i], label[:, i])
                total = total + (loss if self.weights is None else loss * self.weights[i])
        return total / count  # type: ignore[no-any-return]
