"""Rarer functions of networks in `mint`, with PyTorch's defaults; loaded when one is asked for."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code="no-any-return, no-untyped-call"

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.checks import whole
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.ops import adaptive_avg_pool1d as adaptive_avg_pool1d
from mycelia.ops import adaptive_avg_pool3d as adaptive_avg_pool3d
from mycelia.ops import adaptive_max_pool2d as adaptive_max_pool2d
from mycelia.ops import conv_transpose2d as conv_transpose2d
from mycelia.ops import cosine_embedding_loss as cosine_embedding_loss
from mycelia.ops import fold as fold
from mycelia.ops import grid_sample as grid_sample
from mycelia.ops import group_norm as group_norm
from mycelia.ops import interpolate as interpolate
from mycelia.ops import soft_margin_loss as soft_margin_loss
from mycelia.ops import unfold as unfold


def adaptive_max_pool1d(input: Any, output_size: int, return_indices: bool = False) -> Any:
    """The largest elements of so many parts of the last axis, and where they are if that is asked for.

    >>> [x.tolist() for x in adaptive_max_pool1d(Tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2, True)]
    [[[[3.0, 2.0]]], [[[1, 2]]]]
    """
    found, places = ops.adaptive_max_pool2d(input.unsqueeze(-2), (1, output_size), True)
    return (found.squeeze(-2), places.squeeze(-2)) if return_indices else found.squeeze(-2)


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:  # fmt: skip
    """Means of windows, which do not overlap unless a stride says so.

    >>> avg_pool1d(Tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
    [[[2.0, 1.0]]]
    """
    step = kernel_size if stride is None else stride
    return ops.avg_pool1d(input, kernel_size, step, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """Means of windows, which do not overlap unless a stride says so.

    >>> avg_pool2d(Tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2).tolist()
    [[[[1.5]]]]
    """
    step = kernel_size if stride is None else stride
    return ops.avg_pool2d(input, kernel_size, step, padding, ceil_mode, count_include_pad, divisor_override or 0)


def avg_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """Means of windows, which do not overlap unless a stride says so.

    >>> avg_pool3d(ops.ones((1, 1, 2, 2, 2)), 2).tolist()
    [[[[[1.0]]]]]
    """
    step = kernel_size if stride is None else stride
    return ops.avg_pool3d(input, kernel_size, step, padding, ceil_mode, count_include_pad, divisor_override or 0)


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Features (the second axis) with mean 0 and variance 1; while training, of the batch, and what runs is moved on.

    >>> batch_norm(Tensor([[1.0], [3.0]]), Tensor([1.0]), Tensor([4.0]), eps=0.0).tolist()
    [[0.0], [1.0]]
    """
    spread = (1, -1, *(1,) * (input.ndim - 2))
    if training or running_mean is None or running_var is None:
        axes = (0, *range(2, input.ndim))
        mean = ops.mean(input, axes)
        centred = input - mean.reshape(spread)
        variance = ops.mean(centred * centred, axes)
        if training and running_mean is not None and running_var is not None:
            count = input.size // input.shape[1]
            unbiased = ops.stop_gradient(variance) * (count / max(count - 1, 1))
            ops.assign(running_mean, running_mean * (1.0 - momentum) + ops.stop_gradient(mean) * momentum)
            ops.assign(running_var, running_var * (1.0 - momentum) + unbiased * momentum)
    else:
        variance = running_var
        centred = input - running_mean.reshape(spread)
    out = centred * ops.rsqrt(variance + eps).reshape(spread)
    out = out if weight is None else out * weight.reshape(spread)
    return out if bias is None else out + bias.reshape(spread)


def batch_norm_stats(input: Any, eps: float) -> tuple[Any, Any]:
    """The means of features and one over their deviations.

    >>> [x.tolist() for x in batch_norm_stats(Tensor([[1.0], [3.0]]), 0.0)]
    [[2.0], [1.0]]
    """
    axes = (0, *range(2, input.ndim))
    mean = ops.mean(input, axes)
    centred = input - mean.reshape((1, -1, *(1,) * (input.ndim - 2)))
    return mean, ops.rsqrt(ops.mean(centred * centred, axes) + eps)


def batch_norm_elemt(
    input: Any, weight: Any = None, bias: Any = None, mean: Any = None, invstd: Any = None, eps: float = 1e-5
) -> Any:
    """Features less their means, times one over their deviations.

    >>> batch_norm_elemt(Tensor([[1.0], [3.0]]), mean=Tensor([2.0]), invstd=Tensor([0.5])).tolist()
    [[-0.5], [0.5]]
    """
    found = batch_norm_stats(input, eps) if mean is None or invstd is None else (mean, invstd)
    spread = (1, -1, *(1,) * (input.ndim - 2))
    out = (input - found[0].reshape(spread)) * found[1].reshape(spread)
    out = out if weight is None else out * weight.reshape(spread)
    return out if bias is None else out + bias.reshape(spread)


def batch_norm_gather_stats_with_counts(
    input: Any, mean: Any, invstd: Any, running_mean: Any = None, running_var: Any = None, momentum: float = 0.1,
    eps: float = 1e-5, counts: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The means and deviations of all, of those of parts with so many elements; what runs is moved on.

    >>> parts = Tensor([[1.0], [3.0]]), Tensor([[1.0], [1.0]])
    >>> centre, invstd = batch_norm_gather_stats_with_counts(None, *parts, eps=0.0, counts=Tensor([1.0, 1.0]))
    >>> centre.item(), round(invstd.item(), 3)
    (2.0, 0.707)
    """
    many = ops.ones(mean.shape[:1], mean.dtype) if counts is None else counts.astype(mean.dtype)
    share = (many / many.sum()).reshape((-1, 1))
    centre = (mean * share).sum(0)
    variance = ((1.0 / (invstd * invstd) - eps + (mean - centre) ** 2) * share).sum(0)
    if running_mean is not None:
        ops.assign(running_mean, running_mean * (1.0 - momentum) + centre * momentum)
    if running_var is not None:
        total = many.sum()
        ops.assign(running_var, running_var * (1.0 - momentum) + variance * (total / (total - 1)) * momentum)
    return centre, ops.rsqrt(variance + eps)


def _convolved(
    convolve: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    if isinstance(padding, str):
        return convolve(x, weight, bias, stride, padding, 0, dilation, groups)
    return convolve(x, weight, bias, stride, "pad", padding, dilation, groups)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Windows of the last axis, weighed.

    >>> conv1d(Tensor([[[1.0, 3.0, 2.0]]]), Tensor([[[1.0, 1.0]]])).tolist()
    [[[4.0, 5.0]]]
    """
    return _convolved(ops.conv1d, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Windows of the last three axes, weighed.

    >>> conv3d(ops.ones((1, 1, 2, 2, 2)), ops.ones((1, 1, 2, 2, 2))).tolist()
    [[[[[8.0]]]]]
    """
    return _convolved(ops.conv3d, input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """Windows of the first axis, weighed: input (time, batch, channels), weight (width, channels, outputs).

    >>> conv_tbc(ops.ones((3, 1, 2)), ops.ones((2, 2, 1)), ops.zeros((1,))).tolist()
    [[[4.0]], [[4.0]]]
    """
    out = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return out.permute(2, 0, 1)


def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Where maxima came from, they are; elsewhere it is zero.

    >>> max_unpool2d(Tensor([[[[5.0]]]]), Tensor([[[[3]]]]), 2).tolist()
    [[[[0.0, 0.0], [0.0, 5.0]]]]
    """
    return ops.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Elements, within bounds.

    >>> hardtanh(Tensor([-3.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    out = ops.hardtanh(input, min_val, max_val)
    return input.copy_(out) if inplace else out


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Elements above a threshold; the others are a value.

    >>> threshold(Tensor([-3.0, 0.5]), 0.0, 9.0).tolist()
    [9.0, 0.5]
    """
    out = ops.threshold(input, threshold, value)
    return input.copy_(out) if inplace else out


def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """A picture at another size.

    >>> upsample(Tensor([[[1.0, 2.0]]]), 4).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    return ops.interpolate(input, size, scale_factor, mode, align_corners)


def npu_gelu(input: Any, approximate: str = "none") -> Any:
    """The Gaussian error linear unit.

    >>> npu_gelu(ops.zeros((1,), "float32")).tolist()
    [0.0]
    """
    return ops.gelu(input, approximate)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """A tensor becomes its exponential linear unit.

    >>> elu_(Tensor([1.0])).tolist()
    [1.0]
    """
    return input.copy_(ops.where(input > 0, input, alpha * ops.expm1(ops.minimum(input, 0.0))))


def hardtanh_(input: Any, min_val: float = -1, max_val: float = 1) -> Any:
    """A tensor is brought within bounds.

    >>> hardtanh_(Tensor([-3.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    return hardtanh(input, min_val, max_val, True)


def relu_(input: Tensor) -> Tensor:
    """A tensor becomes zero where it is below.

    >>> relu_(Tensor([-3.0, 0.5])).tolist()
    [0.0, 0.5]
    """
    return input.copy_(ops.relu(input))


def sigmoid_(input: Tensor) -> Tensor:
    """A tensor becomes its sigmoid.

    >>> sigmoid_(Tensor([0.0])).tolist()
    [0.5]
    """
    return input.copy_(ops.sigmoid(input))


def threshold_(input: Any, threshold: float, value: float) -> Any:
    """A tensor becomes a value where it is not above a threshold.

    >>> threshold_(Tensor([-3.0, 0.5]), 0.0, 9.0).tolist()
    [9.0, 0.5]
    """
    return input.copy_(ops.threshold(input, threshold, value))


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """The k-th smallest elements along an axis, and where they are.

    >>> [x.item() for x in kthvalue(Tensor([3.0, 1.0, 2.0]), 2)]
    [2.0, 2]
    """
    length = input.shape[dim] if input.ndim else 1
    if whole("kthvalue", "k", k, least=1) > length:
        raise ArgumentError(f"there is no element {k} of {length}", hint="k counts from 1")
    values, places = ops.sort(input, dim)
    at = ops.full((1,), k - 1, dtype="int64")
    found = [ops.index_select(x, dim, at) for x in (values, places)] if input.ndim else [values, places]
    first, second = [x if keepdim or not input.ndim else x.squeeze(dim) for x in found]
    return first, second.astype("int64")


def addr_(input: Any, vec1: Any, vec2: Any, beta: float = 1, alpha: float = 1) -> Any:
    """A matrix takes on the outer product of two vectors.

    >>> addr_(ops.zeros((1, 2)), Tensor([2.0]), Tensor([1.0, 3.0])).tolist()
    [[2.0, 6.0]]
    """
    return input.copy_(ops.addr(input, vec1, vec2, beta=beta, alpha=alpha))
