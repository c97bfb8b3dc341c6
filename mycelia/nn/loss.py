"""Losses as cells: how far a prediction is from the truth."""

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.checks import number
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell


class LossBase(Cell):
    """The family: losses of elements, from which `get_loss` makes their mean or sum, or which it leaves alone.

    >>> class Distance(LossBase):
    ...     def construct(self, x, y):
    ...         return self.get_loss(ops.abs(x - y))
    >>> Distance("sum")(Tensor([1.0, 2.0]), Tensor([2.0, 4.0])).item()
    3.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none", None):
            raise ArgumentError(f"no reduction is called {reduction!r}", hint='choose "mean", "sum" or "none"')
        self.reduction = reduction or "none"

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """Losses times their weights, reduced.

        >>> LossBase().get_loss(Tensor([1.0, 3.0]), 2.0).item()
        4.0
        """
        weighted = x * weights
        if self.reduction == "mean":
            return ops.mean(weighted)
        return ops.sum(weighted) if self.reduction == "sum" else weighted

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """All axes of a tensor.

        >>> LossBase().get_axis(Tensor([[1.0]]))
        (0, 1)
        """
        return tuple(range(x.ndim))


class MSELoss(LossBase):
    """The square of the difference.

    >>> MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    2.0
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.mse_loss(logits, labels, self.reduction)


class RMSELoss(LossBase):
    """The root of the mean square of the difference.

    >>> RMSELoss()(Tensor([0.0, 0.0]), Tensor([3.0, 3.0])).item()
    3.0
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.sqrt(ops.mse_loss(logits, labels))


class L1Loss(LossBase):
    """The size of the difference.

    >>> L1Loss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    1.0
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.l1_loss(logits, labels, self.reduction)


class MAELoss(L1Loss):
    """The size of the difference, by its other name.

    >>> MAELoss()(Tensor([1.0]), Tensor([4.0])).item()
    3.0
    """


class SmoothL1Loss(LossBase):
    """The size of the difference beyond `beta`, and its square below.

    >>> SmoothL1Loss()(Tensor([0.0, 0.0]), Tensor([2.0, 1.0])).asnumpy()
    array([1.5, 0.5], dtype=float32)
    """

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = beta

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class HuberLoss(LossBase):
    """The square of the difference up to `delta`, and a straight line beyond.

    >>> HuberLoss()(Tensor([0.0]), Tensor([3.0])).item()
    2.5
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


def _check_index(loss: LossBase, ignore_index: Any) -> None:
    if not isinstance(ignore_index, int):
        raise ArgumentError(
            f"ignore_index is a whole number, not a {type(ignore_index).__name__}",
            hint=f"make the loss first, then call it: {loss.cls_name}()(logits, labels)",
        )


class CrossEntropyLoss(LossBase):
    """The negative log-probability of the right class, given a score for each class on axis 1.

    >>> loss = CrossEntropyLoss()(Tensor([[0.0, 0.0]]), Tensor([1]))
    >>> f"{loss.item():.4f}"
    '0.6931'
    """

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__(reduction)
        _check_index(self, ignore_index)
        self.weight, self.ignore_index = weight, ignore_index
        self.label_smoothing = number(self, "label_smoothing", label_smoothing, 0.0, 1.0)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(LossBase):
    """The negative of the log-probability that stands at the right class.

    >>> NLLLoss()(Tensor([[-1.0, -3.0]]), Tensor([1])).item()
    3.0
    """

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        _check_index(self, ignore_index)
        self.weight, self.ignore_index = weight, ignore_index

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """The cross-entropy of each example; labels are probabilities of the classes, or with `sparse` their numbers.

    >>> loss = SoftmaxCrossEntropyWithLogits(sparse=True)(Tensor([[0.0, 0.0]]), Tensor([1]))
    >>> loss.shape
    (1,)
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = sparse

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        if self.sparse == labels.dtype.is_float:
            raise ArgumentError(
                f"labels of {labels.dtype!r} do not fit sparse={self.sparse}",
                hint="sparse labels are the numbers of the classes, others a probability for each class",
            )
        return ops.cross_entropy(logits, labels, reduction=self.reduction)


class BCELoss(LossBase):
    """The cross-entropy of probabilities with labels of 0 and 1.

    >>> f"{BCELoss()(Tensor([0.5]), Tensor([1.0])).item():.4f}"
    '0.6931'
    """

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """The cross-entropy of the sigmoids of scores with labels of 0 and 1.

    >>> f"{BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0])).item():.4f}"
    '0.6931'
    """

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None) -> None:
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


class KLDivLoss(LossBase):
    """How far the probabilities `labels` are from the log-probabilities `logits`, in nats; `reduction` may also be
    "batchmean", the sum over the number of examples.

    >>> KLDivLoss()(Tensor([0.0]), Tensor([1.0])).item()
    0.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.reduction = reduction or "none"

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.kl_div(logits, labels, self.reduction)
