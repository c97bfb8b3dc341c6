"""Normalisation: over features, channels, groups; and lengths clipped."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mycelia import primitives as p
from mycelia.api.fused import fused, fused_early
from mycelia.checks import only, whole
from mycelia.eager import Parameter, Tensor, assign, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import Axis, axes_of, floated, number, sizes, tensor
from mycelia.ops.math import length
from mycelia.types import float32

__all__ = [
    "batch_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "group_norm",
    "instance_norm",
    "l2_normalize",
    "layer_norm",
    "lrn",
    "normalize",
    "rms_norm",
]


def _normalised(x: Tensor, axes: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Mean zero and variance one along axes; the mean and the variance besides, in single precision at least."""
    if x.dtype.bits < 32:  # squares of half-precision numbers soon leave their range
        out, mean, variance = _normalised(cast(x, float32), axes, eps)
        return cast(out, x.dtype), mean, variance
    mean = p.mean(x, axes, True)
    away = x - mean
    variance = p.mean(away * away, axes, True)
    return away * p.rsqrt(variance + eps), mean, variance


@fused_early
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Mean zero and variance one over the last axes, then scaled and shifted.

    >>> layer_norm(Tensor([[1.0, 3.0]]), (2,), eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    x, shape = floated(input), sizes(normalized_shape)
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ShapeError(f"layer_norm over {shape} does not fit a tensor of shape {x.shape}")
    out, _, _ = _normalised(x, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    if weight is not None:
        out = out * weight
    return out if bias is None else out + bias


@fused
def rms_norm(x: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """The last axes (those of `gamma`) over their root mean square, scaled; and one over that root.

    >>> rms_norm(Tensor([[3.0, 3.0]]), Tensor([1.0, 2.0]), 0.0)[0].tolist()
    [[1.0, 2.0]]
    """
    x, scale = floated(x), tensor(gamma)
    wide = cast(x, float32) if x.dtype.bits < 32 else x
    rest = tuple(range(x.ndim - scale.ndim, x.ndim))
    factor = p.rsqrt(p.mean(wide * wide, rest, True) + epsilon)
    return cast(wide * factor, x.dtype) * scale, factor


@fused_early
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Mean zero and variance one over groups of channels (axis 1) and all positions; then scaled and shifted.

    >>> group_norm(Tensor([[1.0, 3.0]]), 1, eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    x = floated(input)
    num_groups = whole("group_norm", "num_groups", num_groups, least=1)
    if x.shape[1] % num_groups:
        raise ArgumentError(f"{x.shape[1]} channels cannot be parted into {num_groups} groups")
    grouped = p.reshape(x, (x.shape[0], num_groups, -1))
    out = p.reshape(_normalised(grouped, (2,), eps)[0], x.shape)
    return _scaled(out, weight, bias)


@fused
def instance_norm(input: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Mean zero and variance one over the positions of each channel of each example; then scaled and shifted.

    >>> instance_norm(Tensor([[[1.0, 3.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0]]]
    """
    x = floated(input)
    return _scaled(_normalised(x, tuple(range(2, x.ndim)), eps)[0], weight, bias)


def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Mean zero and variance one over all but the channels (axis 1): of this batch when training, else as remembered.

    Training moves the remembered mean and variance towards those of the batch, by `momentum`, if they are parameters.

    >>> batch_norm(Tensor([[1.0], [3.0]]), Tensor([1.0]), Tensor([4.0]), eps=0.0).tolist()
    [[0.0], [1.0]]
    """
    x = floated(input_x)
    if not training:
        return _as_remembered(x, tensor(running_mean), tensor(running_var), weight, bias, eps)
    out, mean, variance = _of_batch(x, weight, bias, eps)
    count = x.size // x.shape[1]
    unbiased = variance * (p.one_over(count - 1, variance.dtype) * count if count > 1 else count)
    for remembered, now in ((running_mean, mean), (running_var, unbiased)):
        if isinstance(remembered, Parameter):
            moved = p.reshape(p.stop_gradient(now), remembered.shape)
            assign(remembered, remembered.value() * (1.0 - momentum) + cast(moved, remembered.dtype) * momentum)
    return out


@fused_early
def _of_batch(x: Tensor, weight: Any, bias: Any, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """A batch as its own mean and variance normalise it, and these."""
    out, mean, variance = _normalised(x, tuple(a for a in range(x.ndim) if a != 1), eps)
    return _scaled(out, weight, bias), mean, variance


@fused
def _as_remembered(x: Tensor, mean: Tensor, variance: Tensor, weight: Any, bias: Any, eps: float) -> Tensor:
    """A batch as a mean and a variance of before normalise it."""
    mean, variance = (_channels(cast(t, x.dtype), x) for t in (mean, variance))
    return _scaled((x - mean) * p.rsqrt(variance + eps), weight, bias)


def _channels(t: Tensor, x: Tensor) -> Tensor:
    return p.reshape(t, (t.size, *(1,) * (x.ndim - 2)))


def _scaled(x: Tensor, weight: Any, bias: Any) -> Tensor:
    if weight is not None:
        x = x * _channels(tensor(weight), x)
    return x if bias is None else x + _channels(tensor(bias), x)


@fused
def normalize(x: Any, axis: Axis = -1, p_norm: float = 2.0, epsilon: float = 1e-12) -> Tensor:
    """Over the length along axes, which is taken to be at least epsilon.

    >>> normalize(Tensor([3.0, 4.0])).tolist()
    [0.6, 0.8]
    """
    x = floated(x)
    axes = axes_of(x, axis)
    if p_norm == 2:
        return x * p.rsqrt(p.maximum(p.reduce_sum(x * x, axes, True), number(epsilon**2, x)))
    length = p.reduce_sum(p.abs(x) ** p_norm, axes, True) ** (1.0 / p_norm)
    return x / p.maximum(length, number(epsilon, x))


@fused
def l2_normalize(x: Any, axis: Axis = 0, epsilon: float = 1e-4) -> Tensor:
    """Over the root of the sum of squares along axes, which is taken to be at least epsilon.

    >>> l2_normalize(Tensor([3.0, 4.0])).tolist()
    [0.6, 0.8]
    """
    x = floated(x)
    return x * p.rsqrt(p.maximum(p.reduce_sum(x * x, axes_of(x, axis), True), number(epsilon, x)))


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0) -> Any:
    """A tensor, or several together, made shorter if their length is beyond `max_norm`.

    >>> clip_by_norm(Tensor([3.0, 4.0]), 1.0, 1.0).asnumpy().sum() < 1.0001
    np.True_
    """
    parts = [floated(t) for t in (x if isinstance(x, tuple | list) else [x])]
    if norm_type == float("inf"):
        lengths = [p.reduce_max(p.abs(t)) for t in parts]
        total = lengths[0]
        for length in lengths[1:]:
            total = p.maximum(total, length)
    else:
        total = _sum([p.reduce_sum(p.abs(t) ** norm_type) for t in parts]) ** (1.0 / norm_type)
    factor = p.minimum(max_norm / (total + 1e-6), number(1.0, total))
    clipped = [t * factor for t in parts]
    return type(x)(clipped) if isinstance(x, tuple | list) else clipped[0]


def clip_by_global_norm(x: Sequence[Any], clip_norm: float = 1.0, use_norm: Any = None) -> tuple[Tensor, ...]:
    """Tensors made shorter together, if their common length (or `use_norm`) is beyond `clip_norm`.

    >>> clip_by_global_norm((Tensor([3.0]), Tensor([4.0])), 1.0)[0].item() < 0.6001
    True
    """
    parts = [floated(t) for t in x]
    total = length(_sum([p.reduce_sum(t * t) for t in parts])) if use_norm is None else tensor(use_norm)
    factor = clip_norm / p.maximum(total, number(clip_norm, total))
    return tuple(t * cast(factor, t.dtype) for t in parts)


def _sum(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@fused
def lrn(
    x: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:  # fmt: skip
    """Images divided by (bias + alpha times the squares of the channels around, summed up) to the power beta.

    >>> lrn(Tensor([[[[3.0]]]]), bias=0.0).tolist()
    [[[[1.0]]]]
    """
    x = floated(x)
    only("lrn", "norm_region", norm_region, "ACROSS_CHANNELS", "there is no other region")
    if x.ndim != 4:
        raise ShapeError(f"lrn takes (examples, channels, height, width), not shape {x.shape}")
    radius = whole("lrn", "depth_radius", depth_radius, least=0)
    squares = p.pad(x * x, (0, radius, 0, 0), (0, radius, 0, 0), 0)
    total = p.take(squares, 1, 0, x.shape[1])
    for step in range(1, 2 * radius + 1):
        total = total + p.take(squares, 1, step, step + x.shape[1])
    return x / (bias + alpha * total) ** beta
