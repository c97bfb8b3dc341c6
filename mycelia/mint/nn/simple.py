"""Layers of `mint` that are a function and its settings: activations, losses, shapes."""

from __future__ import annotations

from typing import Any

from mycelia import checks, ops
from mycelia.eager import Tensor
from mycelia.nn import Cell


class _Elementwise(Cell):
    """The family of functions of each element; a layer has no place to compute in."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        checks.only(self.cls_name, "inplace", inplace, False, "the result is a new tensor")


class ELU(_Elementwise):
    """Below 0: alpha (exp(x) - 1).

    >>> ELU()(Tensor([2.0])).tolist()
    [2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = checks.number("ELU", "alpha", alpha)

    def construct(self, input: Tensor) -> Tensor:
        return ops.where(input > 0, input, self.alpha * ops.expm1(ops.minimum(input, 0.0)))


class GELU(Cell):
    """The Gaussian error linear unit; `approximate` is "none" or "tanh".

    >>> GELU()(Tensor([0.0])).tolist()
    [0.0]
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = checks.choice("GELU", "approximate", approximate, ("none", "tanh"))

    def construct(self, input: Tensor) -> Tensor:
        return ops.gelu(input, self.approximate)


class Hardshrink(Cell):
    """Zero between -lambd and lambd.

    >>> Hardshrink()(Tensor([0.25, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = checks.number("Hardshrink", "lambd", lambd)

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardshrink(input, self.lambd)


class Softshrink(Cell):
    """Nearer to zero by lambd.

    >>> Softshrink()(Tensor([0.25, 2.0])).tolist()
    [0.0, 1.5]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = checks.number("Softshrink", "lambd", lambd)

    def construct(self, input: Tensor) -> Tensor:
        return ops.softshrink(input, self.lambd)


class Hardsigmoid(Cell):
    """A sigmoid of straight lines.

    >>> Hardsigmoid()(Tensor([-4.0, 0.0])).tolist()
    [0.0, 0.5]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardsigmoid(input)


class Hardswish(Cell):
    """X times a sigmoid of straight lines.

    >>> Hardswish()(Tensor([-4.0, 4.0])).tolist()
    [0.0, 4.0]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardswish(input)


class Hardtanh(_Elementwise):
    """Between two bounds.

    >>> Hardtanh()(Tensor([-4.0, 0.5])).tolist()
    [-1.0, 0.5]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.min_val = checks.number("Hardtanh", "min_val", min_val)
        self.max_val = checks.number("Hardtanh", "max_val", max_val, above=min_val)

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardtanh(input, self.min_val, self.max_val)


class ReLU6(_Elementwise):
    """Between 0 and 6.

    >>> ReLU6()(Tensor([-4.0, 8.0])).tolist()
    [0.0, 6.0]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.relu6(input)


class SiLU(_Elementwise):
    """X sigmoid(x).

    >>> SiLU()(Tensor([0.0])).tolist()
    [0.0]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.silu(input)


class SELU(Cell):
    """The self-normalising unit.

    >>> SELU()(Tensor([0.0])).tolist()
    [0.0]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.selu(input)


class Threshold(_Elementwise):
    """Another value where an element is not above a threshold.

    >>> Threshold(1.0, 9.0)(Tensor([0.5, 2.0])).tolist()
    [9.0, 2.0]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = checks.number("Threshold", "threshold", threshold)
        self.value = checks.number("Threshold", "value", value)

    def construct(self, input: Tensor) -> Tensor:
        return ops.threshold(input, self.threshold, self.value)


def _axis(dim: int | None, rank: int) -> int:
    """The axis of a softmax, where none was said: the first of 0, 1 and 3 axes, else the second."""
    return dim if dim is not None else 0 if rank in (0, 1, 3) else 1


class Softmax(Cell):
    """Numbers above 0 that add up to 1 along an axis.

    >>> Softmax(-1)(Tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return ops.softmax(input, _axis(self.dim, input.ndim))


class LogSoftmax(Softmax):
    """The logarithm of `Softmax`.

    >>> LogSoftmax(0)(Tensor([3.0])).tolist()
    [0.0]
    """

    def construct(self, input: Tensor) -> Tensor:
        return ops.log_softmax(input, _axis(self.dim, input.ndim))


class Dropout(Cell):
    """In training each element is zero with probability p, and the others are scaled up.

    >>> Dropout(0.5)(Tensor([1.0])).tolist()
    [1.0]
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        checks.only("Dropout", "inplace", inplace, False, "the result is a new tensor")
        self.p = checks.share("Dropout", "p", p, whole=True)

    def construct(self, input: Tensor) -> Tensor:
        return ops.dropout(input, self.p, self.training)


# --------------------------------------------------------------------------------------------------------------- losses


class BCEWithLogitsLoss(Cell):
    """The cross-entropy of two classes, of logits.

    >>> round(BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0])).item(), 4)
    0.6931
    """

    def __init__(self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__()
        self.weight, self.pos_weight = weight, pos_weight
        self.reduction = checks.choice("BCEWithLogitsLoss", "reduction", reduction, ("mean", "sum", "none"))

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        weight = ops.ones_like(input) if self.weight is None else self.weight
        above = ops.ones_like(input) if self.pos_weight is None else self.pos_weight
        return ops.binary_cross_entropy_with_logits(input, target, weight, above, self.reduction)


class KLDivLoss(Cell):
    """How far a distribution is from another, of logarithms; with `log_target` both are given so.

    >>> KLDivLoss()(Tensor([0.0]), Tensor([1.0])).item()
    0.0
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__()
        self.reduction = checks.choice("KLDivLoss", "reduction", reduction, ("mean", "sum", "none", "batchmean"))
        self.log_target = checks.truth("KLDivLoss", "log_target", log_target)

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        if self.log_target:
            each = ops.exp(target) * (target - input)
        else:
            each = ops.where(target > 0, target * (ops.log(ops.where(target > 0, target, 1.0)) - input), 0.0)
        if self.reduction == "none":
            return each  # type: ignore[no-any-return]
        total = ops.sum(each)
        parts = {"mean": each.size, "batchmean": input.shape[0] if input.ndim else 1, "sum": 1}
        return total / parts[self.reduction]  # type: ignore[no-any-return]


class SmoothL1Loss(Cell):
    """Squares of small differences, over 2 beta, and large ones themselves, less beta / 2.

    >>> SmoothL1Loss()(Tensor([3.0]), Tensor([0.0])).item()
    2.5
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__()
        self.reduction = checks.choice("SmoothL1Loss", "reduction", reduction, ("mean", "sum", "none"))
        self.beta = checks.number("SmoothL1Loss", "beta", beta, least=0)

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        if self.beta == 0:
            return ops.l1_loss(input, target, self.reduction)
        return ops.smooth_l1_loss(input, target, self.beta, self.reduction)


class Fold(Cell):
    """Columns of patches put back where they lie in a picture, added up where they overlap.

    >>> Fold((2, 2), (2, 2))(ops.ones((1, 4, 1))).shape
    (1, 1, 2, 2)
    """

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.settings = (output_size, kernel_size, dilation, padding, stride)

    def construct(self, input: Tensor) -> Tensor:
        return ops.fold(input, *self.settings)


class Unfold(Cell):
    """The patches of a picture, as columns.

    >>> Unfold((2, 2))(ops.ones((1, 1, 2, 2))).shape
    (1, 4, 1)
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.settings = (kernel_size, dilation, padding, stride)

    def construct(self, input: Tensor) -> Tensor:
        return ops.unfold(input, *self.settings)
