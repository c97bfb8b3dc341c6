"""Pooling to a grid of a given size, by powers, at random places; and elements put back where pooling found them."""

from __future__ import annotations

from typing import Any, ClassVar

from mycelia import checks
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell
from mycelia.ops import grids, pooling
from mycelia.ops.arguments import per_axis


class Adaptive(Cell):
    """The family: the last axes are divided into parts that cover them, and each block of parts becomes one element.

    A size of None leaves an axis as it is.
    """

    rank: ClassVar[int]

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

    def construct(self, input: Tensor) -> Any:
        return pooling.adaptive_mean(self.cls_name, self.rank, input, self.output_size)

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMax(Adaptive):
    """The family of largest elements; with `return_indices` their places come too, counted one by one."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = checks.truth(self.cls_name, "return_indices", return_indices)

    def construct(self, input: Tensor) -> Any:
        return pooling.adaptive_max(self.cls_name, self.rank, input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(Adaptive):
    """Means of parts of a line.

    >>> AdaptiveAvgPool1d(2)(Tensor([[1.0, 3.0, 5.0, 7.0]])).tolist()
    [[2.0, 6.0]]
    """

    rank = 1


class AdaptiveAvgPool3d(Adaptive):
    """Means of blocks of space.

    >>> AdaptiveAvgPool3d(1)(Tensor([[[[[1.0, 3.0]]]]])).tolist()
    [[[[[2.0]]]]]
    """

    rank = 3


class AdaptiveMaxPool1d(AdaptiveMax):
    """The largest elements of parts of a line.

    >>> AdaptiveMaxPool1d(2)(Tensor([[1.0, 3.0, 5.0, 7.0]])).tolist()
    [[3.0, 7.0]]
    """

    rank = 1


class AdaptiveMaxPool2d(AdaptiveMax):
    """The largest elements of blocks of a plane.

    >>> AdaptiveMaxPool2d((1, None))(Tensor([[[1.0, 4.0], [3.0, 2.0]]])).tolist()
    [[[3.0, 4.0]]]
    """

    rank = 2


class AdaptiveMaxPool3d(AdaptiveMax):
    """The largest elements of blocks of space.

    >>> AdaptiveMaxPool3d(1)(Tensor([[[[[1.0, 3.0]]]]])).tolist()
    [[[[[3.0]]]]]
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
        windows = self.norm_type, self.kernel_size, self.stride, self.ceil_mode
        return grids.power_pool(self.cls_name, self.rank, x, *windows)


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
        windows = self.kernel_size, self.stride, self.padding
        return grids.unpooled(self.cls_name, self.rank, x, indices, *windows, output_size)

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

    >>> MaxUnpool3d((1, 1, 2))(Tensor([[[[4.0]]]]), Tensor([[[[1]]]])).tolist()
    [[[[0.0, 4.0]]]]
    """

    rank = 3


class Fractional(Cell):
    """The family: the largest elements of windows at random distances, as many as are asked for.

    `_random_samples`, (N, C, axes) from 0 to 1, says where they are; without it they are drawn at each call.
    """

    rank: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size = per_axis("kernel_size", kernel_size, self.rank)
        self.output_size, self.output_ratio = output_size, output_ratio
        self.return_indices = checks.truth(self.cls_name, "return_indices", return_indices)
        self._random_samples = _random_samples

    def construct(self, input: Tensor) -> Any:
        wanted = self.output_size, self.output_ratio, self.return_indices, self._random_samples
        return grids.fractional(self.cls_name, self.rank, input, self.kernel_size, *wanted)


class FractionalMaxPool2d(Fractional):
    """The largest elements of windows of a plane at random distances.

    >>> FractionalMaxPool2d(1, (2, 2))(Tensor([[[1.0, 2.0], [3.0, 4.0]]])).tolist()
    [[[1.0, 2.0], [3.0, 4.0]]]
    """

    rank = 2


class FractionalMaxPool3d(Fractional):
    """The largest elements of windows of space at random distances.

    >>> FractionalMaxPool3d(1, output_size=(1, 1, 2))(Tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 2.0]]]]
    """

    rank = 3
