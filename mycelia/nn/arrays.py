"""Functions of tensors as cells, as MindSpore has them from its early days."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell
from mycelia.types import DType, float32, int32


class ClipByNorm(Cell):
    """x shortened to `clip_norm` where its Euclidean norm, along `axis` or of all elements, is longer.

    >>> ClipByNorm()(Tensor([3.0, 4.0]), Tensor(1.0)).tolist()
    [0.6000000238418579, 0.800000011920929]
    """

    def __init__(self, axis: int | tuple[int, ...] | None = None) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor, clip_norm: Any) -> Tensor:
        norm = ops.sqrt(ops.sum(x * x, self.axis, keepdim=True))
        return x * clip_norm / ops.maximum(norm, clip_norm)  # type: ignore[no-any-return]


class Norm(Cell):
    """The Euclidean norm along axes.

    >>> Norm()(Tensor([3.0, 4.0])).item()
    5.0
    """

    def __init__(self, axis: int | tuple[int, ...] = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, checks.truth(self.cls_name, "keep_dims", keep_dims)

    def construct(self, x: Tensor) -> Tensor:
        return ops.sqrt(ops.sum(x * x, self.axis, keepdim=self.keep_dims))

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class OneHot(Cell):
    """`on_value` at the place that a number names along a new axis of `depth`, and `off_value` elsewhere.

    >>> OneHot(depth=3)(Tensor([2])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        axis: int = -1,
        depth: int = 1,
        on_value: float = 1.0,
        off_value: float = 0.0,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.axis, self.depth = axis, checks.whole(self.cls_name, "depth", depth, least=1)
        self.on_value, self.off_value, self.dtype = on_value, off_value, dtype

    def construct(self, indices: Tensor) -> Tensor:
        on, off = Tensor(self.on_value, self.dtype), Tensor(self.off_value, self.dtype)
        return ops.one_hot(indices, self.depth, on, off, self.axis)


class Range(Cell):
    """Numbers from `start` to before `limit`.

    >>> Range(1, 6, 2)().tolist()
    [1, 3, 5]
    """

    def __init__(self, start: float, limit: float | None = None, delta: float = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ArgumentError("delta of Range is not 0", hint="it is the step from one number to the next")
        numbers = np.arange(start, limit, delta)
        self.result = Tensor(numbers, float32 if numbers.dtype.kind == "f" else int32)

    def construct(self) -> Tensor:
        return self.result


class Roll(Cell):
    """Elements moved along axes; what leaves at one end enters at the other.

    >>> Roll(1, 0)(Tensor([1, 2, 3])).tolist()
    [3, 1, 2]
    """

    def __init__(self, shift: int | tuple[int, ...], axis: int | tuple[int, ...]) -> None:
        super().__init__()
        self.shift, self.axis = shift, axis

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.roll(input_x, self.shift, self.axis)


class Tril(Cell):
    """The elements on and below a diagonal; zeros above.

    >>> Tril()(Tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return ops.tril(x, k)


class Triu(Cell):
    """The elements on and above a diagonal; zeros below.

    >>> Triu()(Tensor([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return ops.triu(x, k)


class MatMul(Cell):
    """The product of two matrices, or stacks of them, each transposed if wished.

    >>> MatMul(transpose_x2=True)(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])).tolist()
    [[11.0]]
    """

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = checks.truth(self.cls_name, "transpose_x1", transpose_x1)
        self.transpose_x2 = checks.truth(self.cls_name, "transpose_x2", transpose_x2)

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        x1 = x1.swapaxes(-1, -2) if self.transpose_x1 and x1.ndim > 1 else x1
        x2 = x2.swapaxes(-1, -2) if self.transpose_x2 and x2.ndim > 1 else x2
        return ops.matmul(x1, x2)


class Moments(Cell):
    """The mean and the variance along axes.

    >>> [t.item() for t in Moments()(Tensor([1.0, 3.0]))]
    [2.0, 1.0]
    """

    def __init__(self, axis: int | tuple[int, ...] | None = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, bool(keep_dims)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        wide = x if x.dtype.bits >= 32 else cast(x, float32)
        mean = ops.mean(wide, self.axis, True)
        variance = ops.mean(ops.square(wide - mean), self.axis, self.keep_dims)
        return cast(mean if self.keep_dims else ops.mean(wide, self.axis), x.dtype), cast(variance, x.dtype)


class ReduceLogSumExp(Cell):
    """The logarithm of the sum of exponentials along axes.

    >>> f"{ReduceLogSumExp(0)(Tensor([0.0, 0.0])).item():.4f}"
    '0.6931'
    """

    def __init__(self, axis: int | tuple[int, ...], keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, checks.truth(self.cls_name, "keep_dims", keep_dims)

    def construct(self, x: Tensor) -> Tensor:
        return ops.logsumexp(x, self.axis, self.keep_dims)


class L1Regularizer(Cell):
    """The sizes of weights, added up and scaled.

    >>> L1Regularizer(0.5)(Tensor([1.0, -3.0])).item()
    2.0
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = checks.number(self.cls_name, "scale", scale, above=0, most=1e38)

    def construct(self, weights: Tensor) -> Tensor:
        return ops.sum(ops.abs(weights)) * self.scale  # type: ignore[no-any-return]
