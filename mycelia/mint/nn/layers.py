"""Layers of `mint` with arguments of their own: convolutions, normalisations, poolings, dense layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia.common.initializer import HeUniform, Uniform, initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn import Cell
from mycelia.nn.activation import PReLU as _PReLU
from mycelia.ops.arguments import per_axis
from mycelia.types import DType, float32


def _weights(shape: tuple[int, ...], weight_init: Any, dtype: DType | None) -> Parameter:
    first = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
    return Parameter(initializer(first, shape, dtype or float32))


def _offsets(inputs: int, outputs: int, bias_init: Any, dtype: DType | None) -> Parameter:
    first = Uniform(1 / math.sqrt(max(inputs, 1))) if bias_init is None else bias_init
    return Parameter(initializer(first, (outputs,), dtype or float32))


class Linear(Cell):
    """Input @ weight.T + bias.

    >>> Linear(3, 2)(ops.ones((4, 3))).shape
    (4, 2)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in_features = checks.whole("Linear", "in_features", in_features, least=1)
        self.out_features = checks.whole("Linear", "out_features", out_features, least=1)
        self.weight = _weights((out_features, in_features), weight_init, dtype)
        self.bias = _offsets(in_features, out_features, bias_init, dtype) if bias else None

    def construct(self, input: Tensor) -> Tensor:
        return ops.dense(input, self.weight, self.bias)

    def extend_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class _Conv(Cell):
    """The family: a weight (out, in / groups, *window) slides over (examples, channels, *space)."""

    rank: ClassVar[int]
    convolve: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        name = self.cls_name
        for what, value in (("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups)):
            checks.whole(name, what, value, least=1)
        if in_channels % groups or out_channels % groups:
            raise ArgumentError(f"{groups} groups do not divide {in_channels} and {out_channels} channels")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_axis("kernel_size", kernel_size, self.rank)
        self.stride, self.dilation = per_axis("stride", stride, self.rank), per_axis("dilation", dilation, self.rank)
        self.padding_mode = checks.choice(
            name, "padding_mode", padding_mode, ("zeros", "reflect", "replicate", "circular")
        )
        self.padding = self._around(padding)
        self.weight = _weights((out_channels, in_channels // groups, *self.kernel_size), None, dtype)
        fan = in_channels // groups * math.prod(self.kernel_size)
        self.bias = _offsets(fan, out_channels, None, dtype) if bias else None

    def _around(self, padding: Any) -> tuple[tuple[int, int], ...]:
        """What is padded before and after, along each axis."""
        if padding == "valid":
            return ((0, 0),) * self.rank
        if padding == "same":
            if any(s != 1 for s in self.stride):
                raise ArgumentError(f"padding 'same' of {self.cls_name} is for a stride of 1, not {self.stride}")
            whole = [(k - 1) * d for k, d in zip(self.kernel_size, self.dilation, strict=True)]
            return tuple((n // 2, n - n // 2) for n in whole)
        if isinstance(padding, str):
            raise ArgumentError(f"padding of {self.cls_name} is a number, numbers, 'same' or 'valid', not {padding!r}")
        return tuple((n, n) for n in per_axis("padding", padding, self.rank, 0))

    def construct(self, input: Tensor) -> Tensor:
        if input.ndim not in (self.rank + 1, self.rank + 2):
            raise ShapeError(f"{self.cls_name} takes (N, C, *space) or (C, *space), not shape {input.shape}")
        x = input if input.ndim == self.rank + 2 else input.reshape((1, *input.shape))
        if any(low or high for low, high in self.padding):
            sides = tuple(n for pair in reversed(self.padding) for n in pair)
            x = ops.pad(x, sides, "constant" if self.padding_mode == "zeros" else self.padding_mode)
        out = type(self).convolve(x, self.weight, self.bias, self.stride, "valid", 0, self.dilation, self.groups)
        return out if input.ndim == self.rank + 2 else out[0]

    def extend_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}, "
            f"padding_mode={self.padding_mode}"
        )


class Conv1d(_Conv):
    """Convolution along one axis: (N, C, L) or (C, L).

    >>> Conv1d(1, 4, 3, padding="same")(ops.ones((2, 1, 5))).shape
    (2, 4, 5)
    """

    rank, convolve = 1, ops.conv1d


class Conv2d(_Conv):
    """Convolution in a plane: (N, C, H, W) or (C, H, W).

    >>> Conv2d(3, 8, 3, stride=2, padding=1)(ops.ones((2, 3, 8, 8))).shape
    (2, 8, 4, 4)
    """

    rank, convolve = 2, ops.conv2d


class Conv3d(_Conv):
    """Convolution in space: (N, C, D, H, W) or (C, D, H, W).

    >>> Conv3d(1, 2, 3)(ops.ones((1, 1, 4, 4, 4))).shape
    (1, 2, 2, 2, 2)
    """

    rank, convolve = 3, ops.conv3d


class ConvTranspose2d(Cell):
    """The transpose of `Conv2d`: each element adds a multiple of the weight (in, out / groups, *window).

    >>> ConvTranspose2d(3, 4, 2, stride=2)(ops.ones((1, 3, 5, 5))).shape
    (1, 4, 10, 10)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        checks.only("ConvTranspose2d", "padding_mode", padding_mode, "zeros", "what is cut off has no values")
        self.kernel_size, self.stride = per_axis("kernel_size", kernel_size, 2), per_axis("stride", stride, 2)
        self.padding, self.output_padding = padding, output_padding
        self.groups, self.dilation = checks.whole("ConvTranspose2d", "groups", groups, least=1), dilation
        if in_channels % groups or out_channels % groups:
            raise ArgumentError(f"{groups} groups do not divide {in_channels} and {out_channels} channels")
        self.weight = _weights((in_channels, out_channels // groups, *self.kernel_size), None, dtype)
        fan = out_channels // groups * math.prod(self.kernel_size)
        self.bias = _offsets(fan, out_channels, None, dtype) if bias else None

    def construct(self, input: Tensor) -> Tensor:
        return ops.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


class _BatchNorm(Cell):
    """The family: mean 0 and variance 1 over examples and space, then `weight` and `bias`.

    In training the means are those of the batch, and `running_mean` and `running_var` move towards them, by `momentum`
    (or as an average over all batches, if it is None).
    """

    ranks: ClassVar[tuple[int, ...]]
    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_features = checks.whole(self.cls_name, "num_features", num_features, least=1)
        self.eps = checks.number(self.cls_name, "eps", eps, least=0)
        self.momentum = None if momentum is None else checks.number(self.cls_name, "momentum", momentum, least=0)
        self.affine, self.track_running_stats = affine, track_running_stats
        kind, shape = dtype or float32, (num_features,)
        self.weight = Parameter(initializer("ones", shape, kind)) if affine else None
        self.bias = Parameter(initializer("zeros", shape, kind)) if affine else None
        self.register_buffer("running_mean", ops.zeros(shape, kind) if track_running_stats else None)
        self.register_buffer("running_var", ops.ones(shape, kind) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", ops.zeros((), "int64") if track_running_stats else None)

    def construct(self, input: Tensor) -> Tensor:
        if input.ndim not in self.ranks or input.shape[1] != self.num_features:
            raise ShapeError(
                f"{self.cls_name} of {self.num_features} features was given shape {input.shape}",
                hint=f"it takes {' or '.join(map(str, self.ranks))} axes, features second",
            )
        axes = (0, *range(2, input.ndim))
        spread = (1, self.num_features, *(1,) * (input.ndim - 2))
        if self.training or not self.track_running_stats:
            mean = ops.mean(input, axes)
            centred = input - mean.reshape(spread)
            variance = ops.mean(centred * centred, axes)
            if self.training and self.track_running_stats:
                self._remember(mean, variance, input.size // self.num_features)
        else:
            mean, variance = self.running_mean, self.running_var
            centred = input - mean.reshape(spread)
        out = centred * ops.rsqrt(variance + self.eps).reshape(spread)
        if self.weight is not None and self.bias is not None:
            out = out * self.weight.reshape(spread) + self.bias.reshape(spread)
        return out  # type: ignore[no-any-return]

    def _remember(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Move what is remembered towards the means of this batch."""
        self.num_batches_tracked = self.num_batches_tracked + 1
        share = 1.0 / self.num_batches_tracked.astype(float32) if self.momentum is None else self.momentum
        unbiased = variance * (count / max(count - 1, 1))
        self.running_mean = self.running_mean * (1.0 - share) + ops.stop_gradient(mean) * share
        self.running_var = self.running_var * (1.0 - share) + ops.stop_gradient(unbiased) * share

    def extend_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"


class BatchNorm1d(_BatchNorm):
    """Normalises batches (N, C) and (N, C, L).

    >>> BatchNorm1d(2)(ops.ones((3, 2))).shape
    (3, 2)
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises batches (N, C, H, W).

    >>> sorted(BatchNorm2d(2).state_dict())
    ['bias', 'num_batches_tracked', 'running_mean', 'running_var', 'weight']
    """

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises batches (N, C, D, H, W).

    >>> BatchNorm3d(2)(ops.ones((1, 2, 2, 2, 2))).shape
    (1, 2, 2, 2, 2)
    """

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Normalises batches over all processes of a group: over this one, which is alone.

    >>> SyncBatchNorm(2)(ops.ones((1, 2, 2, 2))).shape
    (1, 2, 2, 2)
    """

    ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        checks.only("SyncBatchNorm", "process_group", process_group, None, "statistics are those of this process")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)


class GroupNorm(Cell):
    """Normalises groups of channels of each example.

    >>> GroupNorm(2, 4)(ops.ones((1, 4, 3))).shape
    (1, 4, 3)
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: DType | None = None
    ) -> None:
        super().__init__()
        self.num_groups = checks.whole("GroupNorm", "num_groups", num_groups, least=1)
        self.num_channels = checks.whole("GroupNorm", "num_channels", num_channels, least=1)
        if num_channels % num_groups:
            raise ArgumentError(f"{num_channels} channels cannot be parted into {num_groups} groups")
        self.eps = eps
        self.weight = Parameter(initializer("ones", (num_channels,), dtype or float32)) if affine else None
        self.bias = Parameter(initializer("zeros", (num_channels,), dtype or float32)) if affine else None

    def construct(self, input: Tensor) -> Tensor:
        return ops.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class LayerNorm(Cell):
    """Normalises the last axes, those of `normalized_shape`.

    >>> LayerNorm(4)(ops.ones((2, 4))).shape
    (2, 4)
    """

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        given = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps = given, eps
        self.weight = Parameter(initializer("ones", given, dtype or float32)) if elementwise_affine else None
        shifted = elementwise_affine and bias
        self.bias = Parameter(initializer("zeros", given, dtype or float32)) if shifted else None

    def construct(self, input: Tensor) -> Tensor:
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class _AvgPool(Cell):
    """The family of means of windows, as long a step as a window unless `stride` says otherwise."""

    rank: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.windows = (kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def construct(self, input: Tensor) -> Tensor:
        pool = ops.avg_pool2d if self.rank == 2 else ops.avg_pool3d
        return pool(input, *self.windows, self.divisor_override or 0)


class AvgPool1d(_AvgPool):
    """Means of windows of a line.

    >>> AvgPool1d(2)(Tensor([[[1.0, 3.0, 2.0, 0.0]]])).tolist()
    [[[2.0, 1.0]]]
    """

    rank = 1

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)

    def construct(self, input: Tensor) -> Tensor:
        return ops.avg_pool1d(input, *self.windows)


class AvgPool2d(_AvgPool):
    """Means of windows of a plane.

    >>> AvgPool2d(2)(ops.ones((1, 1, 4, 4))).shape
    (1, 1, 2, 2)
    """

    rank = 2


class AvgPool3d(_AvgPool):
    """Means of windows of space.

    >>> AvgPool3d(2)(ops.ones((1, 1, 4, 4, 4))).shape
    (1, 1, 2, 2, 2)
    """

    rank = 3


class MaxPool2d(Cell):
    """The largest element of each window of a plane.

    >>> MaxPool2d(2)(ops.ones((1, 1, 4, 4))).shape
    (1, 1, 2, 2)
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.windows = (kernel_size, stride, padding, dilation, return_indices, ceil_mode)

    def construct(self, input: Tensor) -> Any:
        return ops.max_pool2d(input, *self.windows)


class PReLU(_PReLU):
    """Rectifiers whose slope below 0 is learnt.

    >>> PReLU()(Tensor([-4.0])).tolist()
    [-1.0]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: DType | None = None) -> None:
        super().__init__(num_parameters, init)
        if dtype is not None:
            self.to(dtype)


class UpsamplingNearest2d(Cell):
    """Planes made larger, each pixel the nearest of the old ones.

    >>> UpsamplingNearest2d(scale_factor=2)(ops.ones((1, 1, 2, 2))).shape
    (1, 1, 4, 4)
    """

    mode: ClassVar[str] = "nearest"
    corners: ClassVar[bool] = False

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        if (size is None) == (scale_factor is None):
            raise ArgumentError(f"{self.cls_name} is told either a size or a scale_factor")
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input: Tensor) -> Tensor:
        size = self.size
        if size is None:
            factors = (
                per_axis("scale_factor", self.scale_factor, 2)
                if isinstance(self.scale_factor, int)
                else (
                    tuple(self.scale_factor)
                    if isinstance(self.scale_factor, tuple | list)
                    else (self.scale_factor,) * 2
                )
            )
            size = tuple(int(e * f) for e, f in zip(input.shape[2:], factors, strict=True))
        elif isinstance(size, int):
            size = (size, size)
        return ops.interpolate(input, size=tuple(size), mode=self.mode, align_corners=self.corners)


class UpsamplingBilinear2d(UpsamplingNearest2d):
    """Planes made larger, along straight lines between pixels, corners on corners.

    >>> UpsamplingBilinear2d((4, 4))(ops.ones((1, 1, 2, 2))).shape
    (1, 1, 4, 4)
    """

    mode, corners = "bilinear", True
