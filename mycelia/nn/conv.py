"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia.common.initializer import HeUniform, Uniform, fans, initializer
from mycelia.eager import Parameter, Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.ops.arguments import per_axis
from mycelia.ops.convolution import check_padding, paddings
from mycelia.primitives import ConvInputGrad
from mycelia.types import DType, float32


class Convolution(Cell):
    """The family: a weight (out, in / group, *window) slides over (examples, channels, *space)."""

    rank: ClassVar[int]
    convolve: ClassVar[Callable[..., Tensor]]
    transposed: ClassVar[bool] = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        pad_mode: str = "same",
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        for name, value in (("in_channels", in_channels), ("out_channels", out_channels), ("group", group)):
            checks.whole(self.cls_name, name, value, least=1)
        if in_channels % group or out_channels % group:
            raise ArgumentError(
                f"{group} groups do not divide the channels",
                given={"in": in_channels, "out": out_channels},
                hint="group divides in_channels and out_channels",
            )
        checks.choice(self.cls_name, "pad_mode", pad_mode, ("same", "valid", "pad"))
        self.in_channels, self.out_channels, self.group, self.has_bias = in_channels, out_channels, group, has_bias
        self.kernel_size = per_axis("kernel_size", kernel_size, self.rank)
        self.stride, self.dilation = per_axis("stride", stride, self.rank), per_axis("dilation", dilation, self.rank)
        self.pad_mode, self.padding = pad_mode, check_padding(pad_mode, padding)
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        plane = (1, *self.kernel_size) if self.rank == 1 else self.kernel_size  # a line is held as a plane of one row
        shape = (first, second // group, *plane)
        if self.rank == 1 and isinstance(weight_init, Tensor) and weight_init.ndim == 3:
            weight_init = weight_init.reshape((*weight_init.shape[:2], 1, weight_init.shape[2]))
        self.weight = Parameter(
            initializer(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype)
        )
        self.bias: Parameter | None = None
        if has_bias:
            bias_init = Uniform(1 / math.sqrt(fans(shape)[0])) if bias_init is None else bias_init
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype))

    def construct(self, x: Tensor) -> Tensor:
        return type(self).convolve(
            x, self.window(), self.bias, self.stride, self.pad_mode, self.padding, self.dilation, self.group
        )

    def window(self) -> Tensor:
        """The weight, with as many axes as there are in space."""
        return self.weight[:, :, 0] if self.rank == 1 else self.weight

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}"
        )


class Conv1d(Convolution):
    """Convolution along one axis: (N, C, L). The weight is (out, in / group, 1, window), as MindSpore keeps it.

    >>> Conv1d(1, 4, kernel_size=3)(Tensor([[[1.0, 2.0, 3.0]]])).shape
    (1, 4, 3)
    """

    rank, convolve = 1, ops.conv1d


class Conv2d(Convolution):
    """Convolution in a plane: (N, C, H, W).

    `pad_mode` "same" keeps the extent (divided by the stride), "valid" pads nothing, "pad" pads by `padding`.

    >>> import numpy as np
    >>> Conv2d(1, 4, kernel_size=3, pad_mode="valid")(Tensor(np.ones((2, 1, 5, 5), np.float32))).shape
    (2, 4, 3, 3)
    """

    rank, convolve = 2, ops.conv2d


class Conv3d(Convolution):
    """Convolution in space: (N, C, D, H, W).

    >>> import numpy as np
    >>> Conv3d(1, 2, kernel_size=3)(Tensor(np.ones((1, 1, 4, 4, 4), np.float32))).shape
    (1, 2, 4, 4, 4)
    """

    rank, convolve = 3, ops.conv3d


class TransposedConvolution(Convolution):
    """The family of transposes: each element of the input adds a multiple of the weight (in, out / group, *window).

    `pad_mode` "same" multiplies the extent by the stride, "valid" cuts nothing off, "pad" cuts off `padding`.
    """

    transposed = True
    output_padding: tuple[int, ...]

    def construct(self, x: Tensor) -> Tensor:
        return self.spread_out(x, (0,) * self.rank)

    def spread_out(self, x: Tensor, more: tuple[int, ...]) -> Tensor:
        """The result, which is longer by `more` at its ends."""
        if x.ndim != self.rank + 2 or x.shape[1] != self.in_channels:
            raise ShapeError(
                f"{self.cls_name} of {self.in_channels} channels was given shape {x.shape}",
                hint=f"it takes (examples, channels, *space), {self.rank + 2} axes",
            )
        windows = zip(x.shape[2:], self.kernel_size, self.stride, self.dilation, strict=True)
        whole = [(e, (k - 1) * d + 1, s) for e, k, s, d in windows]
        if self.pad_mode == "same":
            space = tuple(e * s for e, _, s in whole)
        else:
            space = tuple(e * s + max(k - s, 0) for e, k, s in whole)
        pads = paddings(self.pad_mode, self.padding, space, self.kernel_size, self.stride, self.dilation)
        if self.pad_mode == "pad":
            space = tuple((e - 1) * s + k - sum(q) + n for (e, k, s), q, n in zip(whole, pads, more, strict=True))
        shape = (x.shape[0], self.out_channels, *space)
        out = ConvInputGrad(self.stride, pads, self.dilation, self.group, shape)(x, cast(self.window(), x.dtype))
        if self.bias is not None:
            out = out + cast(self.bias, x.dtype).reshape((self.out_channels, *(1,) * self.rank))
        return out

    def further(self, output_padding: int | tuple[int, ...]) -> tuple[int, ...]:
        """How much longer the result is to be: less than a step of the window."""
        more = per_axis("output_padding", output_padding, self.rank, 0)
        if any(n >= max(s, d) for n, s, d in zip(more, self.stride, self.dilation, strict=True)):
            raise ArgumentError(
                f"output_padding {output_padding} is a whole step of the window", hint="it is below stride or dilation"
            )
        if any(more) and self.pad_mode != "pad":
            raise ArgumentError(
                f"output_padding is given for pad_mode {self.pad_mode!r}",
                hint='say pad_mode="pad"',
            )
        return more


class Conv1dTranspose(TransposedConvolution):
    """The transpose of `Conv1d`; the weight is (in, out / group, 1, window).

    >>> Conv1dTranspose(1, 4, kernel_size=3, stride=2)(Tensor([[[1.0, 2.0, 3.0]]])).shape
    (1, 4, 6)
    """

    rank, convolve = 1, ops.conv1d


class Conv2dTranspose(TransposedConvolution):
    """The transpose of `Conv2d`; `output_padding` adds zeros at the ends.

    >>> Conv2dTranspose(3, 4, kernel_size=3, stride=2)(ops.ones((1, 3, 5, 5))).shape
    (1, 4, 10, 10)
    """

    rank, convolve = 2, ops.conv2d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        pad_mode: str = "same",
        padding: int | tuple[int, ...] = 0,
        output_padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, dtype,
        )  # fmt: skip
        self.output_padding = self.further(output_padding)

    def construct(self, x: Tensor) -> Tensor:
        out = self.spread_out(x, (0, 0))
        low, right = self.output_padding
        return ops.pad(out, (0, right, 0, low)) if low or right else out


class Conv3dTranspose(TransposedConvolution):
    """The transpose of `Conv3d`; `output_padding` makes the result longer at its ends.

    >>> Conv3dTranspose(1, 2, kernel_size=3, stride=2)(ops.ones((1, 1, 2, 2, 2))).shape
    (1, 2, 4, 4, 4)
    """

    rank, convolve = 3, ops.conv3d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        pad_mode: str = "same",
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        group: int = 1,
        output_padding: int | tuple[int, ...] = 0,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init, dtype,
        )  # fmt: skip
        checks.only(self.cls_name, "data_format", data_format, "NCDHW", "channels come before space here")
        self.output_padding = self.further(output_padding)

    def construct(self, x: Tensor) -> Tensor:
        return self.spread_out(x, self.output_padding)
