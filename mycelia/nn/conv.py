"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia.common.initializer import HeUniform, Uniform, fans, initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell
from mycelia.ops.arguments import per_axis
from mycelia.ops.convolution import check_padding
from mycelia.types import DType, float32


class Convolution(Cell):
    """The family: a weight (out, in / group, *window) slides over (examples, channels, *space)."""

    rank: ClassVar[int]
    convolve: ClassVar[Callable[..., Tensor]]

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
        shape = (out_channels, in_channels // group, *self.kernel_size)
        self.weight = Parameter(
            initializer(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype)
        )
        self.bias: Parameter | None = None
        if has_bias:
            bias_init = Uniform(1 / math.sqrt(fans(shape)[0])) if bias_init is None else bias_init
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype))

    def construct(self, x: Tensor) -> Tensor:
        return type(self).convolve(
            x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation, self.group
        )

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}"
        )


class Conv1d(Convolution):
    """Convolution along one axis: (N, C, L).

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
