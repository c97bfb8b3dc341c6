"""Signals slid over each other: convolution and correlation of any number of axes."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from itertools import product
from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy import fft
from mycelia.numpy.creation import asarray
from mycelia.numpy.padding import pad
from mycelia.numpy.products import together
from mycelia.ops.arguments import axes_of
from mycelia.types import float64

__all__ = [
    "choose_conv_method", "convolve", "convolve2d", "correlate", "correlate2d", "correlation_lags", "deconvolve",
    "fftconvolve", "oaconvolve",
]  # fmt: skip

_FEW = 64  # so many numbers are slid over a signal one by one; more go by transforms


def _checked(name: str, in1: Any, in2: Any, mode: str) -> tuple[Tensor, Tensor]:
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"{name} has no mode {mode!r}", hint='"full", "same" or "valid"')
    x, y = together(asarray(in1), asarray(in2))
    if x.ndim != y.ndim:
        raise ShapeError(f"{name} takes signals of as many axes", given={"in1": x.shape, "in2": y.shape})
    return x, y


def _exchanged(x: Tensor, y: Tensor, mode: str, axes: Any) -> bool:
    """Whether it is the second signal into which the first fits, in the mode "valid"."""
    if mode != "valid":
        return False
    first = all(x.shape[a] >= y.shape[a] for a in axes)
    second = all(y.shape[a] >= x.shape[a] for a in axes)
    if not (first or second):
        raise ShapeError("one signal must fit into the other, along all axes", given={"in1": x.shape, "in2": y.shape})
    return not first


def _direct(x: Tensor, y: Tensor) -> Tensor:
    """The whole convolution, number by number of the smaller signal."""
    if y.size > x.size:
        x, y = y, x
    wide = pad(x, [(n - 1, n - 1) for n in y.shape]) if x.ndim else x
    total: Any = None
    for place in product(*map(range, y.shape)):
        part = wide[tuple(slice(n - 1 - i, n - 1 - i + e + n - 1)
                          for i, n, e in zip(place, y.shape, x.shape, strict=True))]  # fmt: skip
        part = part * y[place]
        total = part if total is None else total + part
    return total


def _transformed(x: Tensor, y: Tensor, axes: Any) -> Tensor:
    """The whole convolution along axes, by transforms."""
    lengths = [x.shape[a] + y.shape[a] - 1 for a in axes]
    wide = [_smooth(n) for n in lengths]
    if x.dtype.kind == "c":
        out = fft.ifftn(fft.fftn(x, wide, axes) * fft.fftn(y, wide, axes), wide, axes)
    else:
        out = fft.irfftn(fft.rfftn(x, wide, axes) * fft.rfftn(y, wide, axes), wide, axes)
    cut = [slice(None)] * x.ndim
    for a, n in zip(axes, lengths, strict=True):
        cut[a] = slice(0, n)
    return out[tuple(cut)]


def _smooth(n: int) -> int:
    """The least number from n on that is made of 2, 3 and 5: transforms of such lengths are fast."""
    while True:
        rest = n
        for f in (2, 3, 5):
            while rest % f == 0:
                rest //= f
        if rest == 1:
            return n
        n += 1


def _middle(whole: Tensor, shape: Any, axes: Any) -> Tensor:
    """The middle of a signal, of this shape."""
    cut = [slice(None)] * whole.ndim
    for a in axes:
        begin = (whole.shape[a] - shape[a]) // 2
        cut[a] = slice(begin, begin + shape[a])
    return whole[tuple(cut)]


def _kept(whole: Tensor, x: Tensor, y: Tensor, mode: str, axes: Any) -> Tensor:
    if mode == "full":
        return whole
    if mode == "same":
        return _middle(whole, x.shape, axes)
    return _middle(whole, [x.shape[a] - y.shape[a] + 1 if a in axes else x.shape[a] for a in range(x.ndim)], axes)


def choose_conv_method(in1: Any, in2: Any, mode: str = "full") -> str:
    """Whether a convolution goes number by number, "direct", or by transforms, "fft".

    >>> choose_conv_method([1.0, 2.0], [1.0])
    'direct'
    """
    x, y = _checked("choose_conv_method", in1, in2, mode)
    return "direct" if min(x.size, y.size) <= _FEW else "fft"


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Tensor:
    """Signals of any number of axes, slid over each other: whole, as large as the first, or only where both lie.

    >>> convolve([1, 2, 3], [0, 1]).tolist()
    [0, 1, 2, 3]
    """
    if method not in ("auto", "direct", "fft"):
        raise ArgumentError(f"there is no method {method!r}", hint='"auto", "direct" or "fft"')
    x, y = _checked("convolve", in1, in2, mode)
    if not x.size or not y.size:
        return ops.zeros((0,) * x.ndim, x.dtype)
    axes = tuple(range(x.ndim))
    x, y = (y, x) if _exchanged(x, y, mode, axes) else (x, y)
    if method == "direct" or (method == "auto" and min(x.size, y.size) <= _FEW) or not x.ndim:
        return _kept(_direct(x, y), x, y, mode, axes)
    if x.dtype.is_float or x.dtype.kind == "c":
        return _kept(_transformed(x, y, axes), x, y, mode, axes)
    found = _transformed(cast(x, float64), cast(y, float64), axes)
    return _kept(cast(ops.round(found), x.dtype), x, y, mode, axes)


def _backwards(x: Tensor) -> Tensor:
    turned = ops.flip(x, tuple(range(x.ndim))) if x.ndim else x
    return ops.conj(turned) if x.dtype.kind == "c" else turned


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Tensor:
    """Signals slid over each other, the second as it stands.

    >>> correlate([1, 2, 3], [0, 1]).tolist()
    [1, 2, 3, 0]
    """
    x, y = _checked("correlate", in1, in2, mode)
    if _exchanged(x, y, mode, tuple(range(x.ndim))):
        return _backwards(convolve(y, _backwards(x), mode, method))
    return convolve(x, _backwards(y), mode, method)


def correlation_lags(in1_len: int, in2_len: int, mode: str = "full") -> Tensor:
    """How far the second signal is moved for each number of a correlation.

    >>> correlation_lags(3, 2).tolist()
    [-1, 0, 1, 2]
    """
    whole = numpy.arange(-in2_len + 1, in1_len)
    if mode == "full":
        return Tensor(whole)
    if mode == "same":
        middle, half = whole.size // 2, in1_len // 2
        return Tensor(whole[middle - half : middle + half + (in1_len % 2)])
    if mode == "valid":
        low = in1_len - in2_len
        return Tensor(numpy.arange(low + 1) if low >= 0 else numpy.arange(low, 1))
    raise ArgumentError(f"there is no mode {mode!r}", hint='"full", "same" or "valid"')


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Tensor:
    """The convolution of floating numbers by transforms, along all axes or these.

    >>> [round(v, 4) for v in fftconvolve([1.0, 2.0], [1.0, 1.0]).tolist()]
    [1.0, 3.0, 2.0]
    """
    x, y = _checked("fftconvolve", in1, in2, mode)
    if not (x.dtype.is_float or x.dtype.kind == "c"):
        x, y = (cast(v, float64) for v in (x, y))
    if not x.size or not y.size:
        return ops.zeros((0,) * x.ndim, x.dtype)
    if not x.ndim:
        return x * y
    along = axes_of(x, axes)
    for a in range(x.ndim):
        if a not in along and x.shape[a] != y.shape[a] and 1 not in (x.shape[a], y.shape[a]):
            raise ShapeError(f"axis {a} of both signals is of one size, or 1", given={"in1": x.shape, "in2": y.shape})
    x, y = (y, x) if _exchanged(x, y, mode, along) else (x, y)
    return _kept(_transformed(x, y, along), x, y, mode, along)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Tensor:
    """The convolution of floating numbers by transforms; here it is `fftconvolve`.

    >>> [round(v, 4) for v in oaconvolve([1.0, 2.0], [1.0, 1.0]).tolist()]
    [1.0, 3.0, 2.0]
    """
    return fftconvolve(in1, in2, mode, axes)


_EDGES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _in_plane(name: str, in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, turned: bool) -> Tensor:
    x, y = _checked(name, in1, in2, mode)
    if x.ndim != 2:
        raise ShapeError(f"{name} takes signals of two axes", given={"in1": x.shape, "in2": y.shape})
    if boundary not in _EDGES:
        raise ArgumentError(f"{name} has no boundary {boundary!r}", hint='"fill", "wrap" or "symm"')
    exchanged = _exchanged(x, y, mode, (0, 1))
    x, y = (y, x) if exchanged else (x, y)
    kernel = y if not turned else _backwards(y)
    if mode == "valid" or (mode == "full" and boundary == "fill" and not fillvalue):
        out = convolve(x, kernel, mode)
        return _backwards(out) if turned and exchanged else out
    rows, columns = y.shape
    around = [(rows - 1, rows - 1), (columns - 1, columns - 1)]
    settings = {"constant_values": fillvalue} if boundary == "fill" else {}
    whole = convolve(pad(x, around, _EDGES[boundary], **settings), kernel, "valid")
    if mode == "full":
        return whole
    first = [n // 2 if turned else (n - 1) // 2 for n in y.shape]
    return whole[tuple(slice(i, i + n) for i, n in zip(first, x.shape, strict=True))]


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Tensor:
    """The convolution of two axes; beyond the first signal lie `fillvalue`, its other end, or its mirror image.

    >>> convolve2d([[1, 2]], [[1, 1]]).tolist()
    [[1, 3, 2]]
    """
    return _in_plane("convolve2d", in1, in2, mode, boundary, fillvalue, False)


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Tensor:
    """The correlation of two axes; beyond the first signal lie `fillvalue`, its other end, or its mirror image.

    >>> correlate2d([[1, 2]], [[1, 0]]).tolist()
    [[0, 1, 2]]
    """
    return _in_plane("correlate2d", in1, in2, mode, boundary, fillvalue, True)


def deconvolve(signal: Any, divisor: Any) -> tuple[Tensor, Tensor]:
    """What convolved with the divisor gives the signal, and what is left over.

    >>> [[round(v, 4) for v in t.tolist()] for t in deconvolve([0.0, 1.0, 2.0, 3.0], [1.0, 1.0])]
    [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]]
    """
    x, y = together(asarray(signal), asarray(divisor))
    if x.ndim != 1 or y.ndim != 1:
        raise ShapeError("deconvolve takes vectors", given={"signal": x.shape, "divisor": y.shape})
    x, y = (v if v.dtype.is_inexact else cast(v, float64) for v in (x, y))
    count = x.shape[0] - y.shape[0] + 1
    if count <= 0:
        return ops.zeros((0,), x.dtype), x
    parts, rest = [], x
    for k in range(count):
        share = rest[k] / y[0]
        parts.append(share)
        rest = rest - ops.pad(share * y, (k, x.shape[0] - y.shape[0] - k))
    return ops.stack(parts), rest
