"""Operations as objects that very few programs need: a table of names, their attributes, and what a call means."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor, as_dtype, cast
from mycelia.errors import ArgumentError
from mycelia.ops import (
    convolution,
    decompositions,
    incomplete,
    joining,
    loss,
    random,
    wide,
)
from mycelia.ops.arguments import number, tensor
from mycelia.ops.primitive import declare

__all__: list[str] = []


def _checked(x: Any) -> Tensor:
    """The tensor; an error if an element of it is infinite or nan."""
    x = tensor(x)
    random.must_hold(p.reduce_all(p.is_finite(x)), "CheckNumerics takes finite numbers", x.shape)
    return x


def _convolved(
    x: Any, w: Any, out_channel: int, kernel_size: Any, pad_mode: str, pad: Any, stride: Any, dilation: Any, group: int
) -> Tensor:
    """Convolution in space."""
    _shaped(w, out_channel, kernel_size)
    return convolution.conv3d(x, w, None, stride, pad_mode, pad, dilation, group)


def _spread(
    x: Any, w: Any, in_channel: int, out_channel: int, kernel_size: Any, pad_mode: str, pad: Any, stride: Any,
    dilation: Any, group: int, output_padding: Any,
) -> Tensor:  # fmt: skip
    """The transpose of a convolution in space."""
    _shaped(w, in_channel, kernel_size)
    return wide.conv3d_transpose(x, w, pad_mode, pad, stride, dilation, group, output_padding)


def _shaped(w: Any, channels: int, window: Any) -> None:
    size = tuple(window) if isinstance(window, list | tuple) else (window,) * 3
    if tensor(w).shape[0] != channels or tuple(tensor(w).shape[2:]) != size:
        raise ArgumentError(
            f"a weight of shape {tensor(w).shape} does not fit", given={"channels": channels, "kernel_size": window}
        )


def _padded(
    x: Any, paddings: Any, value: Any = None, mode: str = "constant", paddings_contiguous: bool = True
) -> Tensor:
    """The tensor with more elements around it, given for the last axis first."""
    pads = list(tensor(paddings).tolist()) if isinstance(paddings, Tensor) else list(paddings)
    if not paddings_contiguous:
        half = len(pads) // 2
        pads = [n for pair in zip(pads[:half], pads[half:], strict=True) for n in pair]
    filling = value.item() if isinstance(value, Tensor) else value
    return joining.pad(x, pads, "replicate" if mode == "edge" else mode, filling)


def _triplet(
    x: Any, positive: Any, negative: Any, margin: Any, p: int, swap: bool, eps: float, reduction: str
) -> Tensor:
    """How far an example is from one of its class, less how far from one of another, and a margin."""
    far = margin.item() if isinstance(margin, Tensor) else margin
    return loss.triplet_margin_loss(x, positive, negative, far, p, eps, swap, reduction)


def colours(x: Any) -> Tensor:
    """Red, green and blue (the last axis) of hue, saturation and value."""
    x = tensor(x)
    h, s, v = (x[..., i] for i in range(3))
    six = h * 6.0
    parts = [p.minimum(p.maximum(f, number(0, x)), number(1, x)) for f in (
        p.abs(six - 3.0) - 1.0, 2.0 - p.abs(six - 2.0), 2.0 - p.abs(six - 4.0))]  # fmt: skip
    return joining.stack([((c - 1.0) * s + 1.0) * v for c in parts], -1)


def hues(x: Any) -> Tensor:
    """Hue, saturation and value (the last axis) of red, green and blue."""
    x = tensor(x)
    r, g, b = (x[..., i] for i in range(3))
    top, low = p.maximum(r, p.maximum(g, b)), p.minimum(r, p.minimum(g, b))
    reach = top - low
    none, safe = p.equal(reach, 0), p.select(p.equal(reach, 0), p.ones_like(reach), reach)
    hue = p.select(
        p.equal(top, r), (g - b) / safe, p.select(p.equal(top, g), 2.0 + (b - r) / safe, 4.0 + (r - g) / safe)
    )
    hue = hue / 6.0
    hue = p.select(p.less(hue, 0), hue + 1.0, hue)
    dark = p.equal(top, 0)
    share = p.select(dark, p.zeros_like(top), reach / p.select(dark, p.ones_like(top), top))
    return joining.stack([p.select(none, p.zeros_like(hue), hue), share, top], -1)


_TABLE: dict[str, tuple[str, Any]] = {
    "Betainc": ("", lambda a, b, x: incomplete.beta_share("Betainc", a, b, x)),
    "CheckNumerics": ("", _checked),
    "Conv3D": ("out_channel, kernel_size, mode=1!, pad_mode='valid', pad=0, stride=1, dilation=1, group=1,"
               " data_format='NCDHW'!", _convolved),
    "Conv3DTranspose": ("in_channel, out_channel, kernel_size, mode=1!, pad_mode='valid', pad=0, stride=1, dilation=1,"
                        " group=1, output_padding=0, data_format='NCDHW'!", _spread),
    "HSVToRGB": ("", colours),
    "IdentityN": ("", lambda x: tuple(t.copy() for t in x)),
    "Igamma": ("", incomplete.igamma),
    "Igammac": ("", incomplete.igammac),
    "Lstsq": ("fast=True!, l2_regularizer=0.0!", decompositions.lstsq),
    "PadV3": ("mode='constant', paddings_contiguous=True", _padded),
    "Polygamma": ("", incomplete.polygamma),
    "RGBToHSV": ("", hues),
    "STFT": ("n_fft, hop_length, win_length, normalized, onesided, return_complex", lambda x, window, n_fft, hop_length,
             win_length, normalized, onesided, return_complex: wide.stft(
                 x, n_fft, hop_length, win_length, window, False, "reflect", normalized, onesided, return_complex)),
    "TripletMarginLoss": ("p=2, swap=False, eps=1e-06, reduction='mean'", _triplet),
    "TruncatedNormal": ("dtype='float32', seed=0, seed2=0", lambda shape, dtype, seed, seed2: cast(
        random.truncated_normal(tuple(shape.tolist()) if isinstance(shape, Tensor) else shape,
                                seed=(seed + seed2) or None), as_dtype(dtype))),
    "UniqueWithPad": ("", wide.unique_with_pad),
    "Zeta": ("", incomplete.zeta),
}  # fmt: skip

for _name, (_attributes, _function) in _TABLE.items():
    declare(globals(), _name, _attributes, _function)
