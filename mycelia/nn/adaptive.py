"""Pooling to a grid of a given size, whatever the size of the input, and pooling by powers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any, ClassVar

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.ops.arguments import per_axis


class Adaptive(Cell):
    """The family: the last axes are divided into parts that cover them, and each block of parts becomes one element.

    A size of None leaves an axis as it is.
    """

    rank: ClassVar[int]
    reduce: ClassVar[Callable[..., Tensor]]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        sizes = tuple(output_size) if isinstance(output_size, tuple | list) else (output_size,) * self.rank
        if len(sizes) != self.rank:
            raise ArgumentError(
                f"output_size of {self.cls_name} is one number, or {self.rank}", given={"output_size": output_size}
            )
        self.output_size = tuple(
            None if n is None else checks.whole(self.cls_name, "output_size", n, least=1) for n in sizes
        )

    def construct(self, input: Tensor) -> Tensor:
        if input.ndim not in (self.rank + 1, self.rank + 2):
            raise ShapeError(f"{self.cls_name} takes (N, C, *space) or (C, *space), not shape {input.shape}")
        for i, count in enumerate(self.output_size):
            if count is not None:
                input = self.parted(input, input.ndim - self.rank + i, count)
        return input

    def parted(self, x: Tensor, axis: int, count: int) -> Tensor:
        """The axis in `count` parts, each as one element."""
        extent, before = x.shape[axis], (slice(None),) * axis
        parts = [(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]
        reduced = [type(self).reduce(x[(*before, slice(*part))], axis, True) for part in parts]
        return ops.cat(tuple(reduced), axis)

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


def _largest(x: Tensor, axis: int, keep: bool) -> Tensor:
    return ops.amax(x, axis, keep)


class AdaptiveMax(Adaptive):
    """The family of largest elements; with `return_indices` their places come too, counted one by one."""

    reduce = _largest

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = checks.truth(self.cls_name, "return_indices", return_indices)

    def construct(self, input: Tensor) -> Any:
        return (super().construct(input), self.places(input)) if self.return_indices else super().construct(input)

    def places(self, x: Tensor) -> Tensor:
        """Where the largest element of each block is."""
        space = x.shape[x.ndim - self.rank :]
        lead = x.shape[: x.ndim - self.rank]
        counts = [e if n is None else n for e, n in zip(space, self.output_size, strict=True)]
        parts = [
            [slice(i * e // n, -(-(i + 1) * e // n)) for i in range(n)] for e, n in zip(space, counts, strict=True)
        ]
        numbered = Tensor(np.arange(math.prod(space)).reshape(space))
        found = []
        for block in product(*parts):
            among = ops.argmax(x[(..., *block)].reshape((*lead, -1)), -1)
            found.append(numbered[block].reshape(-1)[among])
        return ops.stack(found, -1).reshape((*lead, *counts))


class AdaptiveAvgPool1d(Adaptive):
    """Means of parts of a line.

    >>> AdaptiveAvgPool1d(2)(Tensor([[1.0, 3.0, 5.0, 7.0]])).tolist()
    [[2.0, 6.0]]
    """

    rank, reduce = 1, ops.mean


class AdaptiveAvgPool3d(Adaptive):
    """Means of blocks of space.

    >>> AdaptiveAvgPool3d(1)(ops.ones((1, 2, 3, 4, 5))).shape
    (1, 2, 1, 1, 1)
    """

    rank, reduce = 3, ops.mean


class AdaptiveMaxPool1d(AdaptiveMax):
    """The largest elements of parts of a line.

    >>> AdaptiveMaxPool1d(2)(Tensor([[1.0, 3.0, 5.0, 7.0]])).tolist()
    [[3.0, 7.0]]
    """

    rank = 1


class AdaptiveMaxPool2d(AdaptiveMax):
    """The largest elements of blocks of a plane.

    >>> AdaptiveMaxPool2d((1, None))(ops.ones((1, 2, 3, 4))).shape
    (1, 2, 1, 4)
    """

    rank = 2


class AdaptiveMaxPool3d(AdaptiveMax):
    """The largest elements of blocks of space.

    >>> AdaptiveMaxPool3d(2)(ops.ones((1, 2, 3, 4, 5))).shape
    (1, 2, 2, 2, 2)
    """

    rank = 3


class PowerPool(Cell):
    """The family of roots of sums of powers of each window."""

    rank: ClassVar[int]

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = checks.number(self.cls_name, "norm_type", norm_type, above=0)
        self.kernel_size = per_axis("kernel_size", kernel_size, self.rank)
        self.stride = self.kernel_size if stride is None else per_axis("stride", stride, self.rank)
        self.ceil_mode = checks.truth(self.cls_name, "ceil_mode", ceil_mode)

    def construct(self, x: Tensor) -> Tensor:
        pool = ops.avg_pool1d if self.rank == 1 else ops.avg_pool2d
        count = 1
        for n in self.kernel_size:
            count *= n
        means = pool(x**self.norm_type, self.kernel_size, self.stride, 0, self.ceil_mode)
        return ops.relu(means * count) ** (1.0 / self.norm_type)  # type: ignore[no-any-return]


class LPPool1d(PowerPool):
    """(sum of x ** p) ** (1 / p) in each window of a line.

    >>> LPPool1d(2, 2)(Tensor([[[3.0, 4.0]]])).tolist()
    [[[5.0]]]
    """

    rank = 1


class LPPool2d(PowerPool):
    """(sum of x ** p) ** (1 / p) in each window of a plane.

    >>> LPPool2d(2, (1, 2))(Tensor([[[[3.0, 4.0]]]])).tolist()
    [[[[5.0]]]]
    """

    rank = 2


class MaxUnpool(Cell):
    """The family: elements go back to where a `MaxPool` found them; elsewhere are zeros."""

    rank: ClassVar[int]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = per_axis("kernel_size", kernel_size, self.rank)
        self.stride = self.kernel_size if stride is None else per_axis("stride", stride, self.rank)
        self.padding = per_axis("padding", padding, self.rank, 0)

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        if x.ndim not in (self.rank + 1, self.rank + 2) or x.shape != indices.shape:
            raise ShapeError(
                f"{self.cls_name} takes elements and their places, both (N, C, *space) or (C, *space)",
                given={"x": x.shape, "indices": indices.shape},
            )
        lead, space = x.shape[: x.ndim - self.rank], x.shape[x.ndim - self.rank :]
        wanted = tuple(
            (e - 1) * s - 2 * q + k
            for e, k, s, q in zip(space, self.kernel_size, self.stride, self.padding, strict=True)
        )
        if output_size is not None:
            given = tuple(output_size)[-self.rank :]
            if len(tuple(output_size)) not in (self.rank, x.ndim) or any(
                abs(g - w) >= s for g, w, s in zip(given, wanted, self.stride, strict=True)
            ):
                raise ArgumentError(f"output_size {output_size} of {self.cls_name} is not near {wanted}")
            wanted = given
        flat = ops.zeros((*lead, math.prod(wanted)), x.dtype)
        places, elements = (y.reshape((*lead, -1)) for y in (indices, x))
        return ops.tensor_scatter_elements(flat, places, elements, flat.ndim - 1).reshape((*lead, *wanted))

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(MaxUnpool):
    """Elements of a line, back where `MaxPool1d` found them.

    >>> MaxUnpool1d(2)(Tensor([[4.0, 8.0]]), Tensor([[1, 2]])).tolist()
    [[0.0, 4.0, 8.0, 0.0]]
    """

    rank = 1


class MaxUnpool2d(MaxUnpool):
    """Elements of a plane, back where `MaxPool2d` found them.

    >>> MaxUnpool2d(2)(Tensor([[[4.0]]]), Tensor([[[3]]])).tolist()
    [[[0.0, 0.0], [0.0, 4.0]]]
    """

    rank = 2


class MaxUnpool3d(MaxUnpool):
    """Elements of space, back where `MaxPool3d` found them.

    >>> MaxUnpool3d(2)(ops.ones((1, 1, 1, 1)), ops.zeros((1, 1, 1, 1), "int64")).shape
    (1, 2, 2, 2)
    """

    rank = 3
