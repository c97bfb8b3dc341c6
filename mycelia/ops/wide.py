"""Functions that few programs ask for: spectra of frames, transposes in space, older spellings."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.checks import choice as choice_of
from mycelia.checks import whole
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.ops import complexes, creation, fourier, joining, methods_rare, movement, numbers
from mycelia.ops.arguments import pair, per_axis, tensor
from mycelia.ops.convolution import paddings

__all__ = [
    "conv3d_transpose", "expand", "floor_div", "floordiv", "floormod", "padding", "stft", "unique_with_pad",
]  # fmt: skip


def stft(
    x: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: bool = True, pad_mode: str = "REFLECT", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of overlapping frames (the short-time transform): (..., frequencies, frames).

    Complex if `return_complex`, else with real and imaginary parts on a last axis.

    >>> stft(Tensor([1.0, 0.0, 0.0, 0.0]), 4, return_complex=True).shape
    (3, 5)
    """
    x = tensor(x)
    size = whole("stft", "n_fft", n_fft, least=1)
    hop = whole("stft", "hop_length", size // 4 if hop_length is None else hop_length, least=1)
    length = whole("stft", "win_length", size if win_length is None else win_length, least=1)
    if x.ndim not in (1, 2):
        raise ShapeError(f"stft takes a signal, or rows of them, not shape {x.shape}")
    mode = choice_of("stft", "pad_mode", pad_mode.lower(), ("reflect", "constant", "replicate", "circular", "edge"))
    if center:
        rows = p.reshape(x, (-1, 1, x.shape[-1]))
        wide = joining.pad(rows, (size // 2, size // 2), "replicate" if mode == "edge" else mode)
        x = p.reshape(wide, (*x.shape[:-1], wide.shape[-1]))
    if length > size or x.shape[-1] < size:
        raise ArgumentError(
            "a window fits into a frame, and a frame into the signal",
            given={"win_length": length, "n_fft": size, "signal": x.shape[-1]},
        )
    weights = creation.ones((length,), x.dtype) if window is None else cast(tensor(window), x.dtype)
    before = (size - length) // 2
    weights = p.pad(weights, (before,), (size - length - before,))
    frames = 1 + (x.shape[-1] - size) // hop
    starts = p.reshape(creation.arange(frames) * hop, (frames, 1))
    parts = p.gather(x, starts + p.reshape(creation.arange(size), (1, size)), x.ndim - 1) * weights
    half = not x.dtype.is_complex if onesided is None else onesided
    spectra = fourier.rfft(parts) if half else fourier.fft(parts)
    found = movement.swapaxes(spectra, -1, -2)
    found = found * size**-0.5 if normalized else found
    return (
        found if (x.dtype.is_complex if return_complex is None else return_complex) else complexes.view_as_real(found)
    )


def conv3d_transpose(
    inputs: Any, weight: Any, pad_mode: str = "valid", padding: Any = 0, stride: Any = 1, dilation: Any = 1,
    group: int = 1, output_padding: Any = 0,
) -> Tensor:  # fmt: skip
    """The transpose of a convolution in space: each element of the input (N, C, D, H, W) adds a multiple of the weight
    (C, O / group, K, L, M) to the output.

    >>> conv3d_transpose(creation.ones((1, 1, 1, 1, 1)), creation.ones((1, 1, 2, 2, 2))).shape
    (1, 1, 2, 2, 2)
    """
    x, w = pair(inputs, weight)
    if x.ndim != 5 or w.ndim != 5:
        raise ShapeError(f"conv3d_transpose takes tensors of 5 axes, not shapes {x.shape} and {w.shape}")
    strides, dilations = per_axis("stride", stride, 3), per_axis("dilation", dilation, 3)
    extra = per_axis("output_padding", output_padding, 3, 0)
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, w.shape[2:], strict=True)]
    if pad_mode == "same":
        space = tuple(e * s for e, s in zip(x.shape[2:], strides, strict=True))
        pads = paddings(pad_mode, padding, space, w.shape[2:], strides, dilations)
    else:
        pads = paddings(pad_mode, padding, x.shape[2:], w.shape[2:], strides, dilations)
        space = tuple(
            (e - 1) * s - sum(q) + r + more
            for e, s, q, r, more in zip(x.shape[2:], strides, pads, reach, extra, strict=True)
        )
    shape = (x.shape[0], w.shape[1] * group, *space)
    return p.ConvInputGrad(strides, pads, dilations, group, shape)(x, w)


def expand(input_x: Any, size: Any) -> Tensor:
    """The tensor repeated along axes of length 1, and new ones in front; -1 leaves an axis as it is.

    >>> expand(Tensor([[1.0], [2.0]]), Tensor([2, 3])).shape
    (2, 3)
    """
    return movement.broadcast_to(tensor(input_x), tuple(size.tolist()) if isinstance(size, Tensor) else tuple(size))


def floor_div(x: Any, y: Any) -> Tensor:
    """The quotient, rounded down.

    >>> floor_div(Tensor([7.0]), Tensor([2.0])).tolist()
    [3.0]
    """
    return tensor(x) // y


def floordiv(input: Any, other: Any) -> Tensor:
    """The quotient, rounded down.

    >>> floordiv(Tensor([7.0]), Tensor([2.0])).tolist()
    [3.0]
    """
    return tensor(input) // other


def floormod(x: Any, y: Any) -> Tensor:
    """What is left of a quotient that was rounded down.

    >>> floormod(Tensor([-7.0]), Tensor([2.0])).tolist()
    [1.0]
    """
    return numbers.floor_mod(x, y)


def padding(x: Any, pad_dim_size: int = 8) -> Tensor:
    """The last axis, which is of length 1, with zeros behind it.

    >>> padding(Tensor([[8.0]]), 3).tolist()
    [[8.0, 0.0, 0.0]]
    """
    x = tensor(x)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ShapeError(f"padding takes a tensor whose last axis has length 1, not shape {x.shape}")
    more = whole("padding", "pad_dim_size", pad_dim_size, least=1) - 1
    return p.pad(x, (0,) * x.ndim, (*(0,) * (x.ndim - 1), more))


def unique_with_pad(x: Any, pad_num: Any) -> tuple[Tensor, Tensor]:
    """The different elements, followed by `pad_num` up to the old length; and which of them each element is.

    >>> [t.tolist() for t in unique_with_pad(Tensor([1, 2, 2]), 0)]
    [[1, 2, 0], [0, 1, 1]]
    """
    return methods_rare.unique_with_pad(tensor(x), pad_num)
