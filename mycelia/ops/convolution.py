"""Convolutions: windows of space times weights."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.api.fused import fused
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops.arguments import pair, per_axis, tensor

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose2d",
]

Padding = tuple[tuple[int, int], ...]


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution along one axis: input (N, C, L), weight (O, C / groups, K).

    >>> conv1d(Tensor([[[1.0, 2.0, 3.0]]]), Tensor([[[1.0, 1.0]]])).tolist()
    [[[3.0, 5.0]]]
    """
    return _conv("conv1d", 1, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution in a plane: input (N, C, H, W), weight (O, C / groups, K, L).

    `pad_mode` "valid" pads nothing, "same" until the extent is that of the input over the stride, "pad" by `padding`.

    >>> conv2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[[1.0, 1.0], [1.0, 1.0]]]])).tolist()
    [[[[10.0]]]]
    """
    return _conv("conv2d", 2, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution in space: input (N, C, D, H, W), weight (O, C / groups, K, L, M).

    >>> conv3d(Tensor([[[[[2.0]]]]]), Tensor([[[[[3.0]]]]])).tolist()
    [[[[[6.0]]]]]
    """
    return _conv("conv3d", 3, input, weight, bias, stride, pad_mode, padding, dilation, groups)


@fused
def _conv(
    name: str,
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    x, w = pair(input, weight)
    if x.ndim != rank + 2 or w.ndim != rank + 2:
        raise ShapeError(
            f"{name} takes tensors of {rank + 2} axes, not shapes {x.shape} and {w.shape}",
            hint="the input is (examples, channels, *space), the weight (outputs, channels / groups, *window)",
        )
    strides, dilations = per_axis("stride", stride, rank), per_axis("dilation", dilation, rank)
    pads = paddings(pad_mode, padding, x.shape[2:], w.shape[2:], strides, dilations)
    out = p.conv(x, w, strides, pads, dilations, groups)
    return out if bias is None else out + p.reshape(cast(tensor(bias), x.dtype), (w.shape[0], *(1,) * rank))


def paddings(
    mode: str,
    padding: Any,
    space: tuple[int, ...],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> Padding:
    """How much is padded before and after along each axis of space.

    >>> paddings("same", 0, (5,), (3,), (2,), (1,)), paddings("pad", 1, (5,), (3,), (2,), (1,))
    (((1, 1),), ((1, 1),))
    """
    rank = len(space)
    check_padding(mode, padding)
    if mode == "valid":
        return ((0, 0),) * rank
    if mode == "same":
        whole = [
            max(0, (-(-e // s) - 1) * s + (k - 1) * d + 1 - e)
            for e, k, s, d in zip(space, window, strides, dilations, strict=True)
        ]
        return tuple((n // 2, n - n // 2) for n in whole)
    if mode != "pad":
        raise ArgumentError(f"there is no pad_mode {mode!r}", hint='choose "same", "valid" or "pad"')
    if not isinstance(padding, int) and len(padding) == 2 * rank:
        return tuple((int(padding[2 * i]), int(padding[2 * i + 1])) for i in range(rank))
    return tuple((n, n) for n in per_axis("padding", padding, rank, 0))


def check_padding(mode: str, padding: Any) -> Any:
    """The padding; an error if the mode does not mean any.

    >>> check_padding("pad", 1)
    1
    """
    if mode != "pad" and any(np.ravel(padding)):
        raise ArgumentError(
            f"padding {padding} is given for pad_mode {mode!r}, which means another", hint='say pad_mode="pad"'
        )
    return padding


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """The transpose of a convolution: each element of the input (N, C, H, W) adds a multiple of the weight
    (C, O / groups, K, L) to the output.

    >>> conv_transpose2d(Tensor([[[[2.0]]]]), Tensor([[[[1.0, 3.0]]]])).tolist()
    [[[[2.0, 6.0]]]]
    """
    x, w = pair(input, weight)
    if x.ndim != 4 or w.ndim != 4:
        raise ShapeError(f"conv_transpose2d takes tensors of 4 axes, not shapes {x.shape} and {w.shape}")
    strides, dilations = per_axis("stride", stride, 2), per_axis("dilation", dilation, 2)
    pads = tuple((n, n) for n in per_axis("padding", padding, 2, 0))
    extra = per_axis("output_padding", output_padding, 2, 0)
    space = tuple(
        (e - 1) * s - sum(q) + d * (k - 1) + 1 + more
        for e, s, q, d, k, more in zip(x.shape[2:], strides, pads, dilations, w.shape[2:], extra, strict=True)
    )
    shape = (x.shape[0], w.shape[1] * groups, *space)
    out = p.ConvInputGrad(strides, pads, dilations, groups, shape)(x, w)
    return out if bias is None else out + p.reshape(cast(tensor(bias), x.dtype), (shape[1], 1, 1))
