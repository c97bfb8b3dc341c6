"""Small layers of common parts: a map with its norm and activation, maps of pairs, tables of vectors, shared layers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia.common.initializer import Uniform, initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.activation import LeakyReLU, get_activation
from mycelia.nn.basic import Dense
from mycelia.nn.cell import Cell
from mycelia.nn.conv import Conv2d
from mycelia.nn.normalization import BatchNorm1d, BatchNorm2d
from mycelia.types import DType, float32


class Activated(Cell):
    """The family: a map, then batch normalisation if wished, then an activation if there is one."""

    def behind(self, norm: Cell | None, activation: Any, alpha: float, after_fake: bool) -> None:
        """Note what comes behind the map."""
        checks.only(self.cls_name, "after_fake", after_fake, True, "nothing here is quantised")
        self.has_bn, self.has_act = norm is not None, activation is not None
        if norm is not None:
            self.batchnorm = norm
        named = get_activation(activation) if isinstance(activation, str) else activation
        self.activation = LeakyReLU(alpha) if activation == "leakyrelu" else named

    def finished(self, x: Tensor) -> Tensor:
        """What the map gave, normalised and activated."""
        x = self.batchnorm(x) if self.has_bn else x
        return self.activation(x) if self.has_act else x  # type: ignore[misc]


class Conv2dBnAct(Activated):
    """A convolution, batch normalisation and an activation.

    >>> Conv2dBnAct(1, 2, 3, has_bn=True, activation="relu")(ops.ones((1, 1, 4, 4))).shape
    (1, 2, 4, 4)
    """

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
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip
        self.behind(BatchNorm2d(out_channels, eps, momentum) if has_bn else None, activation, alpha, after_fake)

    def construct(self, x: Tensor) -> Tensor:
        return self.finished(self.conv(x))


class DenseBnAct(Activated):
    """An affine map, batch normalisation and an activation.

    >>> DenseBnAct(3, 2, activation="relu")(ops.ones((1, 3))).shape
    (1, 2)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.behind(BatchNorm1d(out_channels, eps, momentum) if has_bn else None, activation, alpha, after_fake)

    def construct(self, x: Tensor) -> Tensor:
        return self.finished(self.dense(x))


class BiDense(Cell):
    """y_k = x1 W_k x2 + b_k, over the last axes of two inputs.

    >>> BiDense(2, 3, 4)(ops.ones((5, 2)), ops.ones((5, 3))).shape
    (5, 4)
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.in1_channels = checks.whole(self.cls_name, "in1_channels", in1_channels, least=1)
        self.in2_channels = checks.whole(self.cls_name, "in2_channels", in2_channels, least=1)
        self.out_channels = checks.whole(self.cls_name, "out_channels", out_channels, least=1)
        bound = Uniform(1 / math.sqrt(in1_channels))
        shape = (out_channels, in1_channels, in2_channels)
        self.weight = Parameter(initializer(bound if weight_init is None else weight_init, shape, dtype))
        self.bias: Parameter | None = None
        if checks.truth(self.cls_name, "has_bias", has_bias):
            self.bias = Parameter(initializer(bound if bias_init is None else bias_init, (out_channels,), dtype))

    def construct(self, input1: Tensor, input2: Tensor) -> Tensor:
        if input1.shape[:-1] != input2.shape[:-1] or input1.shape[-1] != self.in1_channels:
            raise ShapeError(
                "the inputs of BiDense have the same axes but the last",
                given={"input1": input1.shape, "input2": input2.shape},
            )
        first = ops.tensor_dot(input1, self.weight, ((input1.ndim - 1,), (1,)))  # (*, out, in2)
        out = ops.sum(first * input2[..., None, :], -1)
        return out if self.bias is None else out + self.bias


class Linear(Dense):
    """y = x @ weight.T + bias, by PyTorch's words for it.

    >>> Linear(3, 2, weight_init="ones", bias=False)(ops.ones((1, 3))).tolist()
    [[3.0, 3.0]]
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
        super().__init__(in_features, out_features, weight_init, bias_init, bias, dtype=dtype or float32)
        self.in_features, self.out_features = in_features, out_features


class EmbeddingLookup(Cell):
    """A table of vectors, looked up by number; vectors longer than `max_norm` are shortened to it.

    There is one device, so `slice_mode` and `target` say where nothing can be otherwise.

    >>> EmbeddingLookup(3, 2, param_init="ones")(Tensor([2, 0])).shape
    (2, 2)
    """

    BATCH_SLICE: ClassVar[str] = "batch_slice"
    FIELD_SLICE: ClassVar[str] = "field_slice"
    TABLE_ROW_SLICE: ClassVar[str] = "table_row_slice"
    TABLE_COLUMN_SLICE: ClassVar[str] = "table_column_slice"

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: Any = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: tuple[int, ...] | None = None,
        max_norm: float | None = None,
        sparse: bool = True,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.vocab_size = checks.whole(self.cls_name, "vocab_size", vocab_size, least=1)
        self.embedding_size = checks.whole(self.cls_name, "embedding_size", embedding_size, least=1)
        self.target = checks.choice(self.cls_name, "target", target, ("CPU", "DEVICE"))
        modes = ("batch_slice", "field_slice", "table_row_slice", "table_column_slice")
        self.slice_mode = checks.choice(self.cls_name, "slice_mode", slice_mode, modes)
        checks.only(self.cls_name, "manual_shapes", manual_shapes, None, "no table is split over devices")
        if not checks.truth(self.cls_name, "sparse", sparse) and target == "CPU":
            raise ArgumentError('EmbeddingLookup on the target "CPU" is sparse', hint='say "DEVICE"')
        self.max_norm = None if max_norm is None else checks.number(self.cls_name, "max_norm", max_norm, above=0)
        self.embedding_table = Parameter(initializer(param_init, (vocab_size, embedding_size), dtype))

    def construct(self, indices: Tensor) -> Tensor:
        found = ops.gather(self.embedding_table, indices, 0)
        if self.max_norm is None:
            return found
        norm = ops.sqrt(ops.sum(found * found, -1, keepdim=True))
        return found * (self.max_norm / ops.maximum(norm, self.max_norm))  # type: ignore[no-any-return]


class TimeDistributed(Cell):
    """A layer for each step along an axis of time, with the same weights.

    `reshape_with_axis` puts the time beside that axis and runs the layer once, instead of once for each step.

    >>> from mycelia.nn import Dense
    >>> TimeDistributed(Dense(3, 2), time_axis=1)(ops.ones((4, 5, 3))).shape
    (4, 5, 2)
    """

    def __init__(self, layer: Cell, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        self.layer, self.time_axis = layer, checks.whole(self.cls_name, "time_axis", time_axis)
        self.reshape_with_axis = reshape_with_axis

    def construct(self, inputs: Tensor) -> Tensor:
        rank = inputs.ndim
        if not -rank <= self.time_axis < rank:
            raise ShapeError(f"shape {inputs.shape} has no axis {self.time_axis} of time")
        time = self.time_axis % rank
        if self.reshape_with_axis is None:
            steps = ops.unbind(inputs, time)
            return ops.stack(tuple([self.layer(step) for step in steps]), time)
        beside = self.reshape_with_axis % rank
        if beside == time:
            raise ArgumentError("reshape_with_axis is another axis than that of time")
        moved = ops.moveaxis(inputs, time, beside - 1 if beside > time else beside)
        place = beside - 1 if beside > time else beside  # time stands here, and the other axis behind it
        merged = moved.reshape((*moved.shape[:place], -1, *moved.shape[place + 2 :]))
        out = self.layer(merged)
        apart = out.reshape((*out.shape[:place], moved.shape[place], -1, *out.shape[place + 1 :]))
        return ops.moveaxis(apart, place, time)


class Unflatten(Cell):
    """An axis as several.

    >>> Unflatten(1, (2, 3))(ops.ones((4, 6))).shape
    (4, 2, 3)
    """

    def __init__(self, axis: int, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        self.axis = checks.whole(self.cls_name, "axis", axis)
        self.unflattened_size = tuple(unflattened_size)

    def construct(self, input_x: Tensor) -> Tensor:
        if not -input_x.ndim <= self.axis < input_x.ndim:
            raise ShapeError(f"shape {input_x.shape} has no axis {self.axis}")
        at = self.axis % input_x.ndim
        return input_x.reshape((*input_x.shape[:at], *self.unflattened_size, *input_x.shape[at + 1 :]))


class Channels(Cell):
    """The family of dropouts that remove whole channels."""

    ranks: ClassVar[tuple[int, ...]]

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = checks.share(self.cls_name, "p", p, whole=True)

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in self.ranks:
            raise ShapeError(f"{self.cls_name} takes {self.ranks[-1]} axes, not shape {x.shape}", hint="(N, C, *space)")
        if not self.training or self.p == 0:
            return x
        if self.p == 1:
            return ops.zeros_like(x)
        space = len(x.shape) - (self.ranks[-1] - 2)
        return x * ops.dropout(ops.ones((*x.shape[:space], *(1,) * (x.ndim - space)), x.dtype), self.p)  # type: ignore[no-any-return]

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout1d(Channels):
    """In training, removes a random share `p` of the channels of (N, C, L) or (C, L), and scales up the rest.

    >>> Dropout1d()(ops.ones((1, 2, 3))).shape
    (1, 2, 3)
    """

    ranks = (2, 3)


class Dropout2d(Channels):
    """In training, removes a random share `p` of the channels of (N, C, H, W), and scales up the rest.

    >>> Dropout2d()(ops.ones((1, 2, 3, 3))).shape
    (1, 2, 3, 3)
    """

    ranks = (4,)


class Dropout3d(Channels):
    """In training, removes a random share `p` of the channels of (N, C, D, H, W), and scales up the rest.

    >>> Dropout3d()(ops.ones((1, 2, 3, 3, 3))).shape
    (1, 2, 3, 3, 3)
    """

    ranks = (5,)


__all__ = [
    "BiDense",
    "Conv2dBnAct",
    "DenseBnAct",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "EmbeddingLookup",
    "Linear",
    "TimeDistributed",
    "Unflatten",
]
