"""Layers whose weights are normal distributions, drawn anew at every call, and the divergence that training adds."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia import checks, ops
from mycelia.common.initializer import Normal as NormalInitializer
from mycelia.common.initializer import initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError
from mycelia.names import boundary as _boundary
from mycelia.nn.activation import get_activation
from mycelia.nn.cell import Cell
from mycelia.nn.conv import Conv2d
from mycelia.nn.probability.distribution import Normal
from mycelia.types import float32

__all__ = [
    "ConvReparam", "DenseLocalReparam", "DenseReparam", "NormalPosterior", "NormalPrior", "WithBNNLossCell",
    "normal_post_fn",
]  # fmt: skip


class NormalPrior(Cell):
    """A normal distribution that is not trained.

    >>> NormalPrior()("sd").item() == Tensor(0.1).item()
    True
    """

    def __init__(self, dtype: Any = float32, mean: float = 0, std: float = 0.1) -> None:
        super().__init__()
        self.normal = Normal(mean, std, dtype=dtype)

    def construct(self, *inputs: Any) -> Any:
        return self.normal(*inputs)


class NormalPosterior(Cell):
    """Normal distributions whose means and standard deviations are trained, the latter as log(1 + exp(s)).

    >>> NormalPosterior("w", (2, 3))("sample").shape
    (2, 3)
    """

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: Any = float32,
        loc_mean: float = 0,
        loc_std: float = 0.1,
        untransformed_scale_mean: float = -5,
        untransformed_scale_std: float = 0.1,
    ) -> None:
        super().__init__()
        for word, value in (("loc_std", loc_std), ("untransformed_scale_std", untransformed_scale_std)):
            checks.number(self.cls_name, word, value, least=0)
        drawn = [
            initializer(NormalInitializer(sigma, mean), list(shape), dtype)
            for mean, sigma in ((loc_mean, loc_std), (untransformed_scale_mean, untransformed_scale_std))
        ]
        self.mean = Parameter(drawn[0], name=f"{name}_mean")
        self.untransformed_std = Parameter(drawn[1], name=f"{name}_untransformed_std")
        self.normal = Normal(dtype=dtype)

    def construct(self, *inputs: Any) -> Any:
        deviation = 1e-6 + ops.log1p(ops.exp(self.untransformed_std))
        return self.normal(*inputs, mean=self.mean, sd=deviation)


def normal_post_fn(name: str, shape: Any) -> NormalPosterior:
    """Normal distributions that are trained, of a shape.

    >>> normal_post_fn("w", (2,)).mean.shape
    (2,)
    """
    return NormalPosterior(name=name, shape=shape)


Prior = Callable[[], Cell] | Cell
Posterior = Callable[..., Cell]


class Variational(Cell):
    """The family: weights, and perhaps a bias, as distributions."""

    def _weigh(self, shape: list[int], prior: Prior, posterior: Posterior) -> None:
        self.weight_prior = prior if isinstance(prior, Cell) else prior()
        self.weight_posterior = posterior(shape=shape, name="bnn_weight")

    def _shift(self, count: int, prior: Prior, posterior: Posterior) -> None:
        self.bias_prior = prior if isinstance(prior, Cell) else prior()
        self.bias_posterior = posterior(shape=[count], name="bnn_bias")

    def compute_kl_loss(self) -> Tensor:
        """The divergence from the priors to the distributions of the weights, summed, as MindSpore takes it."""
        total: Any = 0.0
        for part in ("weight", "bias"):
            posterior = getattr(self, f"{part}_posterior", None)
            if posterior is not None:
                kind, given = posterior("get_dist_type"), posterior("get_dist_args")
                total = total + ops.reduce_sum(getattr(self, f"{part}_prior")("kl_loss", kind, *given))
        return total


class DenseReparam(Variational):
    """A dense layer whose weights are drawn from distributions that are trained.

    >>> DenseReparam(3, 2)(ops.ones((4, 3))).shape
    (4, 2)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        activation: Any = None,
        has_bias: bool = True,
        weight_prior_fn: Prior = NormalPrior,
        weight_posterior_fn: Posterior = normal_post_fn,
        bias_prior_fn: Prior = NormalPrior,
        bias_posterior_fn: Posterior = normal_post_fn,
    ) -> None:
        super().__init__()
        self.in_channels = checks.whole(self.cls_name, "in_channels", in_channels, least=1)
        self.out_channels = checks.whole(self.cls_name, "out_channels", out_channels, least=1)
        self.has_bias = checks.truth(self.cls_name, "has_bias", has_bias)
        self._weigh([out_channels, in_channels], weight_prior_fn, weight_posterior_fn)
        if has_bias:
            self._shift(out_channels, bias_prior_fn, bias_posterior_fn)
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def _apply_variational_weight(self, x: Tensor) -> Tensor:
        return ops.dense(x, self.weight_posterior("sample"))

    def construct(self, x: Tensor) -> Tensor:
        out = self._apply_variational_weight(x)
        if self.has_bias:
            out = out + self.bias_posterior("sample")
        return out if self.activation is None else self.activation(out)

    def extend_repr(self) -> str:
        return f"in_channels={self.in_channels}, out_channels={self.out_channels}, has_bias={self.has_bias}"


class DenseLocalReparam(DenseReparam):
    """A dense layer whose results are drawn: they are normal, as sums of normal weights are.

    >>> DenseLocalReparam(3, 2)(ops.ones((4, 3))).shape
    (4, 2)
    """

    def _apply_variational_weight(self, x: Tensor) -> Tensor:
        mean = ops.dense(x, self.weight_posterior("mean"))
        variance = ops.dense(ops.square(x), ops.square(self.weight_posterior("sd")))
        return mean + ops.sqrt(variance) * ops.randn_like(mean)


class ConvReparam(Variational):
    """A convolution over images whose weights are drawn from distributions that are trained.

    >>> ConvReparam(1, 2, 3)(ops.ones((4, 1, 5, 5))).shape
    (4, 2, 5, 5)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_prior_fn: Prior = NormalPrior,
        weight_posterior_fn: Posterior = normal_post_fn,
        bias_prior_fn: Prior = NormalPrior,
        bias_posterior_fn: Posterior = normal_post_fn,
    ) -> None:
        super().__init__()
        plain = Conv2d(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias)
        self.in_channels, self.out_channels, self.has_bias = in_channels, out_channels, has_bias
        self.kernel_size, self.stride, self.pad_mode = plain.kernel_size, plain.stride, plain.pad_mode
        self.padding, self.dilation, self.group = padding, plain.dilation, plain.group
        self._weigh(list(plain.weight.shape), weight_prior_fn, weight_posterior_fn)
        if has_bias:
            self._shift(out_channels, bias_prior_fn, bias_posterior_fn)

    def construct(self, x: Tensor) -> Tensor:
        weight = self.weight_posterior("sample")
        bias = self.bias_posterior("sample") if self.has_bias else None
        return ops.conv2d(x, weight, bias, self.stride, self.pad_mode, self.padding, self.dilation, self.group)

    def extend_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, has_bias={self.has_bias}"


class WithBNNLossCell(Cell):
    """The loss of a network, and the divergences of its Bayesian layers, each with a factor.

    >>> net = WithBNNLossCell(DenseReparam(2, 1), lambda x, y: ((x - y) ** 2).mean())
    >>> net(ops.ones((3, 2)), ops.ones((3, 1))).shape
    ()
    """

    def __init__(self, backbone: Cell, loss_fn: Any, dnn_factor: float = 1, bnn_factor: float = 1) -> None:
        super().__init__(auto_prefix=False)
        self.dnn_factor = checks.number(self.cls_name, "dnn_factor", dnn_factor, least=0)
        self.bnn_factor = checks.number(self.cls_name, "bnn_factor", bnn_factor, least=0)
        self._backbone, self._loss_fn = backbone, loss_fn
        self._bayesian = [cell for _, cell in backbone.cells_and_names() if isinstance(cell, Variational)]
        if not self._bayesian:
            raise ArgumentError("the network has no Bayesian layer", hint="use bnn_layers.DenseReparam, for example")

    def construct(self, x: Tensor, label: Tensor) -> Tensor:
        loss = self._loss_fn(self._backbone(x), label) * self.dnn_factor
        for layer in self._bayesian:
            loss = loss + layer.compute_kl_loss() * self.bnn_factor
        return loss

    @property
    def backbone_network(self) -> Cell:
        """The network."""
        return self._backbone


_boundary(globals())
