"""Pooling layers: the largest element or the mean of each window."""

from __future__ import annotations

from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia import primitives as p
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.ops.arguments import per_axis
from mycelia.ops.convolution import paddings


class Pool(Cell):
    """The family: windows slide over (examples, channels, *space); examples may be left out."""

    rank: ClassVar[int]

    def __init__(
        self,
        kernel_size: int | tuple[int, ...] = 1,
        stride: int | tuple[int, ...] = 1,
        pad_mode: str = "valid",
        padding: int | tuple[int, ...] = 0,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
        self.pad_mode = checks.choice(self.cls_name, "pad_mode", mode, ("same", "valid", "pad"))
        self.ceil_mode = checks.truth(self.cls_name, "ceil_mode", ceil_mode)
        self.kernel_size = per_axis("kernel_size", kernel_size, self.rank)
        self.stride, self.padding = per_axis("stride", stride, self.rank), per_axis("padding", padding, self.rank, 0)
        if any(self.padding) and self.pad_mode != "pad":
            raise ArgumentError(f"padding {padding} is given for pad_mode {pad_mode!r}", hint='say pad_mode="pad"')

    def pads(self, x: Tensor) -> tuple[tuple[int, int], ...]:
        """What is padded before and after, along each axis of space."""
        space = x.shape[2:]
        around = paddings(self.pad_mode, self.padding, space, self.kernel_size, self.stride, (1,) * self.rank)
        if not self.ceil_mode or self.pad_mode == "same":
            return around
        return tuple(
            (low, high + further(e + low + high, k, s, e + low))
            for (low, high), e, k, s in zip(around, space, self.kernel_size, self.stride, strict=True)
        )

    def construct(self, x: Tensor) -> Any:
        if x.ndim == self.rank + 2:
            return self.pooled(x)
        if x.ndim == self.rank + 1:
            return self.pooled(x.reshape((1, *x.shape)))[0]
        raise ShapeError(
            f"{self.cls_name} takes (examples, channels, *space), and got shape {x.shape}",
            hint="x.expand_dims(0) makes a batch of one example",
        )

    def pooled(self, x: Tensor) -> Any:
        """The result for a batch."""
        raise ArgumentError(f"{self.cls_name} does not say how it pools", hint="define pooled")

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


def further(extent: int, window: int, stride: int, inside: int) -> int:
    """How many elements are missing at the end for a last window that begins inside.

    >>> further(5, 2, 2, 5), further(4, 2, 2, 4)
    (1, 0)
    """
    last = -(-(extent - window) // stride) * stride
    if last >= inside:
        last -= stride
    return max(0, last + window - extent)


class MaxPool(Pool):
    """The family of largest elements. In mode "pad" windows may have gaps (`dilation`), and with `return_indices` the
    places of the largest elements come too: in the line, plane or space of their channel, counted one by one.
    """

    def __init__(
        self,
        kernel_size: int | tuple[int, ...] = 1,
        stride: int | tuple[int, ...] = 1,
        pad_mode: str = "valid",
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        self.dilation = per_axis("dilation", dilation, self.rank)
        self.return_indices = checks.truth(self.cls_name, "return_indices", return_indices)
        self.gaps = any(d != 1 for d in self.dilation)
        if (self.gaps or return_indices) and self.pad_mode != "pad":
            raise ArgumentError(
                f"dilation and return_indices of {self.cls_name} are for pad_mode 'pad', and it is {pad_mode!r}",
                hint='say pad_mode="pad", padding=0',
            )

    def construct(self, x: Tensor) -> Any:
        if not self.return_indices or x.ndim != self.rank + 1:
            return super().construct(x)
        found, places = self.pooled(x.reshape((1, *x.shape)))
        return found[0], places[0]

    def pooled(self, x: Tensor) -> Any:
        if not (self.gaps or self.return_indices):
            return p.max_pool(x, self.kernel_size, self.stride, self.pads(x))
        lines = self.rank == 1
        x = x.reshape((*x.shape[:2], 1, x.shape[2])) if lines else x
        windows, steps, gaps, pads = self.kernel_size, self.stride, self.dilation, self.padding
        if lines:
            windows, steps, gaps, pads = (1, *windows), (1, *steps), (1, *gaps), (0, *pads)
        pool = ops.max_pool3d if self.rank == 3 else ops.max_pool2d
        out = pool(x, windows, steps, pads, gaps, return_indices=self.return_indices, ceil_mode=self.ceil_mode)
        found = out if self.return_indices else (out,)
        shaped = tuple(y.reshape((*y.shape[:2], y.shape[3])) if lines else y for y in found)
        return shaped if self.return_indices else shaped[0]


class MaxPool1d(MaxPool):
    """The largest element of each window of a line.

    >>> MaxPool1d(2, stride=2)(Tensor([[[1.0, 3.0, 2.0, 0.0]]])).asnumpy()
    array([[[3., 2.]]], dtype=float32)
    """

    rank = 1


class MaxPool2d(MaxPool):
    """The largest element of each window of a plane.

    >>> MaxPool2d(2, stride=2)(Tensor([[[[1.0, 3.0], [2.0, 0.0]]]])).asnumpy()
    array([[[[3.]]]], dtype=float32)
    """

    rank = 2


class MaxPool3d(MaxPool):
    """The largest element of each window of space.

    >>> MaxPool3d(2)(ops.ones((1, 1, 3, 3, 3))).shape
    (1, 1, 2, 2, 2)
    """

    rank = 3


class AvgPool(Pool):
    """The family of means. What pads in mode "same" does not count, and in mode "pad" only if asked for."""

    def __init__(
        self,
        kernel_size: int | tuple[int, ...] = 1,
        stride: int | tuple[int, ...] = 1,
        pad_mode: str = "valid",
        padding: int | tuple[int, ...] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        if divisor_override is not None and divisor_override <= 0:
            raise ArgumentError(f"divisor_override is a positive number, not {divisor_override}")
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def pooled(self, x: Tensor) -> Tensor:
        if self.pad_mode == "same":
            return p.avg_pool(x, self.kernel_size, self.stride, self.pads(x), False)
        windows = self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        if self.rank == 1:
            return ops.avg_pool1d(x, *windows)
        pool = ops.avg_pool2d if self.rank == 2 else ops.avg_pool3d
        return pool(x, *windows, self.divisor_override or 0)


class AvgPool1d(AvgPool):
    """The mean of each window of a line.

    >>> AvgPool1d(2, stride=2)(Tensor([[[1.0, 3.0, 2.0, 0.0]]])).asnumpy()
    array([[[2., 1.]]], dtype=float32)
    """

    rank = 1

    def __init__(
        self,
        kernel_size: int | tuple[int, ...] = 1,
        stride: int | tuple[int, ...] = 1,
        pad_mode: str = "valid",
        padding: int | tuple[int, ...] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)


class AvgPool2d(AvgPool):
    """The mean of each window of a plane.

    >>> AvgPool2d(2, stride=2)(Tensor([[[[1.0, 3.0], [2.0, 0.0]]]])).asnumpy()
    array([[[[1.5]]]], dtype=float32)
    """

    rank = 2


class AvgPool3d(AvgPool):
    """The mean of each window of space.

    >>> AvgPool3d(2)(ops.ones((1, 1, 3, 3, 3))).shape
    (1, 1, 2, 2, 2)
    """

    rank = 3


class AdaptiveAvgPool2d(Cell):
    """Means over a grid of `output_size` windows that cover the plane.

    >>> AdaptiveAvgPool2d(1)(Tensor([[[[1.0, 3.0], [2.0, 0.0]]]])).asnumpy()
    array([[[[1.5]]]], dtype=float32)
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Tensor) -> Tensor:
        return ops.adaptive_avg_pool2d(input, self.output_size)
