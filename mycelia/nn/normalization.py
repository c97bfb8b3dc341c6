"""Normalisation layers: signals of mean zero and variance one, then scaled and shifted as training finds best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from mycelia import checks, ops
from mycelia.common.initializer import initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.cell import Cell
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

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in self.ranks or x.shape[1] != self.num_features:
            raise ShapeError(
                f"{self.cls_name} of {self.num_features} features was given shape {x.shape}",
                hint=f"it takes {' or '.join(map(str, self.ranks))} axes, with the features on axis 1",
            )
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
