"""Normalisation layers: signals of mean zero and variance one, then scaled and shifted as training finds best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia.common.initializer import initializer
from mycelia.communication import get_group_size
from mycelia.eager import Parameter, Tensor, assign
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.ops.communication import all_reduce
from mycelia.types import DType, float32


class LayerNorm(Cell):
    """Normalises each example over its axes from `begin_norm_axis` on.

    >>> LayerNorm((2,))(Tensor([[1.0, 3.0]])).asnumpy()
    array([[-0.9999999,  0.9999999]], dtype=float32)
    """

    def __init__(
        self,
        normalized_shape: Sequence[int],
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, tuple | list):
            raise ArgumentError(f"normalized_shape is a tuple, not {normalized_shape!r}", hint="write (n,) for n")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis, self.epsilon = begin_norm_axis, begin_params_axis, epsilon
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype))
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype))

    def construct(self, input_x: Tensor) -> Tensor:
        shape = input_x.shape
        over, scaled = shape[_from(shape, self.begin_norm_axis) :], shape[_from(shape, self.begin_params_axis) :]
        if scaled != self.normalized_shape:
            raise ShapeError(
                f"LayerNorm of normalized_shape {self.normalized_shape} was given shape {shape}",
                hint=f"its axes from {self.begin_params_axis} on are scaled and shifted",
            )
        if over == scaled:
            return ops.layer_norm(input_x, over, self.gamma, self.beta, self.epsilon)
        return ops.layer_norm(input_x, over, eps=self.epsilon) * self.gamma + self.beta  # type: ignore[no-any-return]

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


def _from(shape: tuple[int, ...], axis: int) -> int:
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"shape {shape} has no axis {axis} to begin at")
    return axis % len(shape)


class BatchNorm(Cell):
    """The family: normalises each channel over the batch; in use, by what training remembered of it.

    `use_batch_statistics` overrides the choice that `set_train` makes.
    """

    ranks: ClassVar[tuple[int, ...]]
    kept_whole = ("moving_mean", "moving_variance")

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.num_features = checks.whole(self.cls_name, "num_features", num_features, least=1)
        self.momentum = checks.share(self.cls_name, "momentum", momentum, whole=True)
        self.eps = eps
        self.use_batch_statistics = use_batch_statistics

        def parameter(init: Any, trained: bool) -> Parameter:
            return Parameter(initializer(init, (num_features,), dtype), requires_grad=trained)

        self.moving_mean = parameter(moving_mean_init, False)
        self.moving_variance = parameter(moving_var_init, False)
        self.gamma, self.beta = parameter(gamma_init, affine), parameter(beta_init, affine)

    def fit(self, x: Tensor) -> None:
        """An error unless x has the axes and the features that the layer is for."""
        if x.ndim not in self.ranks or x.shape[1] != self.num_features:
            raise ShapeError(
                f"{self.cls_name} of {self.num_features} features was given shape {x.shape}",
                hint=f"it takes {' or '.join(map(str, self.ranks))} axes, with the features on axis 1",
            )

    def construct(self, x: Tensor) -> Tensor:
        self.fit(x)
        of_batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        return ops.batch_norm(
            x, self.moving_mean, self.moving_variance, self.gamma, self.beta, of_batch, 1.0 - self.momentum, self.eps
        )

    def extend_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L).

    >>> BatchNorm1d(2)(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """

    ranks = (2, 3)


class BatchNorm2d(BatchNorm):
    """Batch normalisation of (N, C, H, W).

    >>> net = BatchNorm2d(1, momentum=0.5).set_train()
    >>> out = net(Tensor([[[[1.0, 3.0]]]]))
    >>> net.moving_mean.asnumpy()
    array([1.], dtype=float32)
    """

    ranks = (4,)


class BatchNorm3d(BatchNorm):
    """Batch normalisation of (N, C, D, H, W).

    >>> BatchNorm3d(1)(Tensor([[[[[1.0]]]]])).shape
    (1, 1, 1, 1, 1)
    """

    ranks = (5,)


class GroupNorm(Cell):
    """Normalises each example over groups of its channels.

    >>> GroupNorm(1, 2)(Tensor([[1.0, 3.0]])).shape
    (1, 2)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        for name, value in (("num_groups", num_groups), ("num_channels", num_channels)):
            checks.whole(self.cls_name, name, value, least=1)
        if num_channels % num_groups:
            raise ArgumentError(
                f"{num_groups} groups do not divide {num_channels} channels", hint="num_groups divides num_channels"
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class SyncBatchNorm(BatchNorm):
    """Batch normalisation over the batches of all processes, of (N, C) or (N, C, H, W).

    `process_groups` 0 leaves each process to its own batch, as does one process alone.

    >>> SyncBatchNorm(2)(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """

    ranks = (2, 4)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: Any = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, dtype,
        )  # fmt: skip
        if process_groups not in (None, 0):
            raise ArgumentError(
                "batches are joined over all processes here, or not at all",
                given={"process_groups": process_groups},
                hint="leave out process_groups, or give 0",
            )
        self.process_groups = process_groups

    def construct(self, x: Tensor) -> Tensor:
        of_batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        count = 1 if self.process_groups == 0 else get_group_size()
        if not of_batch or count == 1:
            return super().construct(x)
        self.fit(x)
        axes = (0, *range(2, x.ndim))
        mean, square = all_reduce(ops.stack((ops.mean(x, axes), ops.mean(x * x, axes)))) / count
        variance = square - mean * mean
        many = count * (x.size // self.num_features)
        unbiased = variance * (many / max(many - 1, 1))
        for kept, now in ((self.moving_mean, mean), (self.moving_variance, unbiased)):
            assign(kept, kept * self.momentum + now * (1.0 - self.momentum))
        return ops.batch_norm(x, mean, variance, self.gamma, self.beta, False, 0.0, self.eps)


class InstanceNorm(Cell):
    """The family: normalises each channel of each example over its space, by itself.

    In training, means over the examples move `moving_mean` and `moving_variance`, which nothing here reads.
    """

    ranks: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.num_features = checks.whole(self.cls_name, "num_features", num_features, least=1)
        self.momentum = checks.share(self.cls_name, "momentum", momentum, whole=True)
        self.eps, self.affine = eps, checks.truth(self.cls_name, "affine", affine)

        def parameter(init: Any, trained: bool, name: str) -> Parameter:
            return Parameter(initializer(init, (num_features,), dtype), requires_grad=trained, name=name)

        self.moving_mean = parameter("zeros", False, "mean")
        self.moving_variance = parameter("ones", False, "variance")
        self.gamma = parameter(gamma_init, affine, "gamma")
        self.beta = parameter(beta_init, affine, "beta")

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in self.ranks or x.shape[1] != self.num_features:
            raise ShapeError(
                f"{self.cls_name} of {self.num_features} features was given shape {x.shape}",
                hint=f"it takes {self.ranks[0]} axes, with the features on axis 1",
            )
        if self.training:
            space = tuple(range(2, x.ndim))
            for kept, now in ((self.moving_mean, ops.mean(x, space)), (self.moving_variance, ops.var(x, space))):
                here = ops.stop_gradient(ops.mean(now, 0)).astype(kept.dtype)
                assign(kept, kept * (1.0 - self.momentum) + here * self.momentum)
        return ops.instance_norm(x, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"


class InstanceNorm1d(InstanceNorm):
    """Normalises each channel of each example of (N, C, L).

    >>> InstanceNorm1d(1)(Tensor([[[1.0, 3.0]]])).shape
    (1, 1, 2)
    """

    ranks = (3,)


class InstanceNorm2d(InstanceNorm):
    """Normalises each channel of each example of (N, C, H, W).

    >>> InstanceNorm2d(1)(Tensor([[[[1.0, 3.0]]]])).shape
    (1, 1, 1, 2)
    """

    ranks = (4,)


class InstanceNorm3d(InstanceNorm):
    """Normalises each channel of each example of (N, C, D, H, W).

    >>> InstanceNorm3d(1)(Tensor([[[[[1.0, 3.0]]]]])).shape
    (1, 1, 1, 1, 2)
    """

    ranks = (5,)


class LRN(Cell):
    """Each element divided by (bias + alpha times the squares of its neighbours among the channels) ** beta.

    >>> f"{LRN()(Tensor([[[[1.0]]]])).item():.4f}"
    '0.7071'
    """

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__()
        self.depth_radius = checks.whole(self.cls_name, "depth_radius", depth_radius, least=0)
        self.bias, self.alpha, self.beta = bias, alpha, beta
        checks.only(self.cls_name, "norm_region", norm_region, "ACROSS_CHANNELS", "neighbours are channels")

    def construct(self, input_x: Tensor) -> Tensor:
        if input_x.ndim != 4:
            raise ShapeError(f"LRN takes (N, C, H, W), not shape {input_x.shape}", hint="add axes")
        radius, channels = self.depth_radius, input_x.shape[1]
        squares = ops.pad(ops.square(input_x), (0, 0, 0, 0, radius, radius))
        total = ops.zeros_like(input_x)
        for i in range(2 * radius + 1):
            total = total + squares[:, i : i + channels]
        return input_x / (self.bias + self.alpha * total) ** self.beta  # type: ignore[no-any-return]
