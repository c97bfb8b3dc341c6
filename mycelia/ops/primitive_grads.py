"""The way back through operations as objects: `_grad_ops.ReluGrad()(dout, x)`, for programs that call it themselves.

Each is the gradient of the function that it belongs to, or the formula in terms of what that function returned.
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Signature, signature
from typing import Any

from mycelia.api import vjp
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.ops import functional as f
from mycelia.ops import operations
from mycelia.ops.arguments import sizes, tensor
from mycelia.ops.primitive import declare

__all__: list[str] = []


def back(function: Callable[..., Any], dout: Any, *inputs: Any) -> Any:
    """What a function sends back to its inputs at a point: one gradient, or a tuple of them.

    >>> back(lambda x: x * x, Tensor([1.0]), Tensor([3.0])).tolist()
    [6.0]
    """
    found = vjp(function, *map(tensor, inputs))[1](tensor(dout))
    return found if len(inputs) > 1 else found[0]


def _after(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient, given first what comes back and then the input; more inputs are not needed."""

    def call(dout: Any, x: Any, *unused: Any, **attributes: Any) -> Any:
        return back(lambda x: function(x, **attributes), dout, x)

    return call


def _before(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient, given first the input and then what comes back."""
    return lambda x, dout: back(function, dout, x)


def _elu(dout: Any, out: Any) -> Any:
    return dout * f.select(f.greater(out, 0), f.ones_like(out), out + 1)


def _log_softmax(out: Any, dout: Any, axis: int = -1) -> Any:
    return dout - f.exp(out) * f.sum(dout, axis, True)


def _loss(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of a loss, given a prediction, what it should be, and what comes back."""

    def call(x: Any, target: Any, dout: Any, weight: Any = None, **attributes: Any) -> Any:
        more = {} if weight is None else {"weight": weight}
        return back(lambda x: function(x, target, **more, **attributes), dout, x)

    return call


def _kl_div(dout: Any, x: Any, target: Any, reduction: str = "mean") -> Any:
    return back(lambda x: f.kl_div(x, target, reduction), dout, x)


def _nll(
    logits: Any, dout: Any, labels: Any, weight: Any, total_weight: Any, reduction: str = "mean",
    ignore_index: int = -100,
) -> Any:  # fmt: skip
    return back(lambda x: f.nll_loss(x, labels, weight, ignore_index, reduction), dout, logits)


def _chosen(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients of the larger or smaller of two."""

    def call(x: Any, y: Any, dout: Any, grad_x: bool = True, grad_y: bool = True) -> Any:
        if not (grad_x or grad_y):
            raise ArgumentError("at least one of grad_x and grad_y is True")
        return back(function, dout, x, y)

    return call


def _bias(dout: Any, data_format: str = "NCHW") -> Any:
    """The sum over all axes but that of the channels."""
    channels = 1 if data_format in ("NCHW", "NCDHW") else tensor(dout).ndim - 1
    return f.sum(dout, tuple(i for i in range(tensor(dout).ndim) if i != channels))


def _offsets(inputs: Any, N: int = 2, axis: int = 0) -> Tensor:  # MindSpore's name
    """Where each of several tensors begins when they are joined."""
    rows, start = [], 0
    for x in inputs:
        row = [0] * tensor(x).ndim
        row[axis] = start
        rows.append(row)
        start += tensor(x).shape[axis]
    return tensor(rows)


def _pooled(name: str) -> Callable[..., Any]:
    def call(x: Any, out: Any, dout: Any, **attributes: Any) -> Any:
        return back(getattr(operations, name)(**attributes), dout, x)

    return call


def _at_places(x: Any, dout: Any, places: Any, **attributes: Any) -> Any:
    """What comes back, added where the largest elements of windows were."""
    x, rows = tensor(x), (*tensor(x).shape[:2], -1)
    plane = f.zeros_like(x).reshape(rows)
    return f.tensor_scatter_elements(plane, tensor(places).reshape(rows), tensor(dout).reshape(rows), 2, "add").reshape(
        x.shape
    )


def _filter(
    dout: Any, x: Any, w_size: Any, out_channel: int, kernel_size: Any, pad_mode: str = "valid", pad: Any = 0,
    pad_list: Any = (0, 0, 0, 0), stride: Any = (1, 1), dilation: Any = (1, 1, 1, 1), group: int = 1,
) -> Any:  # fmt: skip
    """What a convolution sends back to its weight, which has the shape `w_size`."""
    steps = stride[-2:] if isinstance(stride, Sequence) else stride
    gaps = dilation[-2:] if isinstance(dilation, Sequence) else dilation
    border = pad_list if pad_mode == "pad" and pad == 0 else pad
    convolve = operations.Conv2D(out_channel, kernel_size, 1, pad_mode, border, steps, gaps, group)
    return back(lambda w: convolve(x, w), dout, f.zeros(sizes(w_size), tensor(x).dtype))


def _resized(dout: Any, image: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Any:
    resize = operations.ResizeBilinearV2(align_corners, half_pixel_centers)
    return back(lambda x: resize(x, tensor(dout).shape[2:]), dout, image)


def _resized_near(dout: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Any:
    resize = operations.ResizeNearestNeighborV2(align_corners, half_pixel_centers)
    image = f.zeros((*tensor(dout).shape[:2], *sizes(size)), tensor(dout).dtype)
    return back(lambda x: resize(x, tensor(dout).shape[2:]), dout, image)


def _batch_norm(
    dout: Any, x: Any, scale: Any, mean: Any, variance: Any, reserve: Any = None, is_training: bool = False,
    epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    """Of the input, the scale and the offset; in training the mean and the variance are of the input."""
    shape = (1, -1, *[1] * (tensor(x).ndim - 2))
    axes = (0, *range(2, tensor(x).ndim))
    per = f.rsqrt(tensor(variance) + epsilon).reshape(shape)
    middle, factor = tensor(mean).reshape(shape), tensor(scale).reshape(shape)
    normal = (x - middle) * per
    by_scale, by_offset = f.sum(dout * normal, axes), f.sum(dout, axes)
    if not is_training:
        return dout * factor * per, by_scale, by_offset
    inner = dout - f.mean(dout, axes, True) - normal * f.mean(dout * normal, axes, True)
    return factor * per * inner, by_scale, by_offset


def _layer_norm(
    x: Any, dout: Any, variance: Any, mean: Any, gamma: Any, begin_norm_axis: int = 1, begin_params_axis: int = 1
) -> Any:
    """Of the input, the scale and the offset."""
    x, rank = tensor(x), tensor(x).ndim
    axes = tuple(range(begin_norm_axis % rank, rank))
    outer = tuple(range(begin_params_axis % rank))
    per = f.rsqrt(tensor(variance))
    normal = (x - mean) * per
    inner = dout * gamma
    inner = inner - f.mean(inner, axes, True) - normal * f.mean(inner * normal, axes, True)
    return inner * per, f.sum(dout * normal, outer), f.sum(dout, outer)


def _within(dout: Any, shape: Any, begin: Any, end: Any, strides: Any, **masks: int) -> Any:
    whole = f.zeros(sizes(shape), tensor(dout).dtype)
    return back(lambda x: operations.StridedSlice(**masks)(x, sizes(begin), sizes(end), sizes(strides)), dout, whole)


def _diagonal(dout: Any, shape: Any) -> Any:
    return back(f.trace, dout, f.zeros(sizes(shape), tensor(dout).dtype))


def _normalized(x: Any, out: Any, dout: Any, axis: Any = 0, epsilon: float = 1e-4) -> Any:
    length = f.sqrt(f.maximum(f.sum(x * x, axis, True), epsilon))
    return (dout - out * f.sum(out * dout, axis, True)) / length


def _sum(input: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The sum over axes."""
    return f.sum(input, dim, keepdim, dtype=dtype)


_POOL = "kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW'!"
_TABLE: dict[str, tuple[str, Callable[..., Any]]] = {
    "ACosGrad": ("", _before(f.acos)),
    "AbsGrad": ("", _before(f.abs)),
    "AcoshGrad": ("", lambda out, dout: dout / f.sinh(out)),
    "AsinGrad": ("", _before(f.asin)),
    "AsinhGrad": ("", lambda out, dout: dout / f.cosh(out)),
    "AtanGrad": ("", _before(f.atan)),
    "AvgPoolGrad": (_POOL, _pooled("AvgPool")),
    "BatchNormGrad": ("is_training=False, epsilon=1e-05, data_format='NCHW'!", _batch_norm),
    "BiasAddGrad": ("data_format='NCHW'", _bias),
    "BinaryCrossEntropyGrad": ("reduction='mean'", _loss(f.binary_cross_entropy)),
    "ConcatOffset": ("N=2, axis=0", _offsets),
    "Conv2DBackpropFilter": (
        "out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=(0, 0, 0, 0), mode=1!, stride=(1, 1), "
        "dilation=(1, 1, 1, 1), group=1, data_format='NCHW'!", _filter),
    "DropoutGrad": ("keep_prob=0.5", lambda dout, mask, keep_prob: dout * mask / keep_prob),
    "EluGrad": ("", _elu),
    "FastGeLUGrad": ("", _after(f.fast_gelu)),
    "FlattenGrad": ("", lambda dout, shape: f.reshape(dout, sizes(shape))),
    "GatherDGradV2": ("", lambda x, dim, index, dout: back(lambda x: f.gather_elements(x, dim, index), dout, x)),
    "GeLUGrad": ("", _after(lambda x: f.gelu(x, "tanh"))),
    "HShrinkGrad": ("lambd=0.5", _after(f.hardshrink)),
    "HSigmoidGrad": ("", _after(f.hardsigmoid)),
    "HSwishGrad": ("", _after(f.hardswish)),
    "InvGrad": ("", lambda out, dout: -dout * out * out),
    "KLDivLossGrad": ("reduction='mean'", _kl_div),
    "L2NormalizeGrad": ("axis=0, epsilon=0.0001", _normalized),
    "LRNGrad": ("depth_radius=5, bias=1.0, alpha=1.0, beta=0.5", _after(f.lrn)),
    "LayerNormGrad": ("begin_norm_axis=1, begin_params_axis=1", _layer_norm),
    "LogSoftmaxGrad": ("axis=-1", _log_softmax),
    "LogitGrad": ("eps=-1.0", lambda dout, x, eps: back(lambda x: f.logit(x, None if eps < 0 else eps), dout, x)),
    "MaskedSelectGrad": ("", lambda x, mask, dout: back(lambda x: f.masked_select(x, mask), dout, x)),
    "MaxPoolGrad": (_POOL, _pooled("MaxPool")),
    "MaxPoolGradWithArgmax": (_POOL, _at_places),
    "MaximumGrad": ("grad_x=True, grad_y=True", _chosen(f.maximum)),
    "MinimumGrad": ("grad_x=True, grad_y=True", _chosen(f.minimum)),
    "NLLLossGrad": ("reduction='mean', ignore_index=-100", _nll),
    "PReLUGrad": ("", lambda dout, x, weight: back(f.prelu, dout, x, weight)),
    "ReLU6Grad": ("", _after(f.relu6)),
    "ReciprocalGrad": ("", lambda out, dout: -dout * out * out),
    "ReluGrad": ("", _after(f.relu)),
    "ResizeBilinearGrad": ("align_corners=False, half_pixel_centers=False", _resized),
    "ResizeNearestNeighborGrad": ("align_corners=False, half_pixel_centers=False", _resized_near),
    "RsqrtGrad": ("", lambda out, dout: dout * out * out * out * -0.5),
    "SiLUGrad": ("", _after(f.silu)),
    "SigmoidCrossEntropyWithLogitsGrad": ("", lambda x, target, dout: (f.sigmoid(x) - target) * dout),
    "SigmoidGrad": ("", lambda out, dout: dout * out * (1 - out)),
    "SliceGrad": ("", lambda dout, x, begin, size: back(lambda x: f.slice(x, sizes(begin), sizes(size)), dout, x)),
    "SmoothL1LossGrad": ("beta=1.0, reduction='none'", _loss(f.smooth_l1_loss)),
    "SoftShrinkGrad": ("lambd=0.5", _after(f.softshrink)),
    "SoftmaxBackward": ("", lambda dout, out, dim=-1: out * (dout - f.sum(dout * out, dim, True))),
    "SoftplusGrad": ("", _after(f.softplus)),
    "SqrtGrad": ("", lambda out, dout: dout / (2 * out)),
    "StridedSliceGrad": (
        "begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0", _within),
    "SumExt": ("", _sum),
    "TanhGrad": ("", lambda out, dout: dout * (1 - out * out)),
    "TraceGrad": ("", _diagonal),
}  # fmt: skip
for _name, (_attributes, _function) in _TABLE.items():
    _named = [p for p in signature(_function).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    _function.__signature__ = Signature(_named)  # type: ignore[attr-defined]  # without `**attributes`
    declare(globals(), _name, _attributes, _function)
