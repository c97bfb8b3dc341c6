"""Fourier transforms, of complex and of real signals, along one axis or several.

`n` and `s` say how many elements are transformed along an axis: the others are cut off, or zeros are put behind. `norm`
says where it is divided by their number: "backward" (in the inverse, as if nothing is said), "forward", or by the root
of it in both ("ortho").
"""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Sequence
from math import pi, prod, sqrt
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, as_dtype, cast
from mycelia.errors import ArgumentError, CallError, DTypeError, ShapeError
from mycelia.ops.arguments import axes_of, axis_of, sizes, tensor
from mycelia.ops.joining import roll
from mycelia.types import COMPLEX, DType, float32, float64

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

NORMS = ("backward", "forward", "ortho")
Sizes = int | Sequence[int] | None


# ------------------------------------------------------------------------------------------------------ one axis


def fft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform along an axis.

    >>> fft(Tensor([1.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _complex(input, [n], [dim], norm)


def ifft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform along an axis.

    >>> ifft(Tensor([4.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _complex(input, [n], [dim], norm, inverse=True)


def rfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers along an axis: its first half, of which the rest is the conjugate.

    >>> rfft(Tensor([1.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j)]
    """
    return _of_real(input, [n], [dim], norm)


def irfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real numbers, `n` of them, whose Fourier transform begins with these; an even number, if nothing is said.

    >>> irfft(Tensor([4.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _to_real(input, [n], [dim], norm)


def hfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform, which is real, of a signal whose first half is given: the rest is its conjugate.

    >>> hfft(Tensor([1.0, 1.0])).tolist()
    [2.0, 0.0]
    """
    return _to_real(input, [n], [dim], norm, forward=True)


def ihfft(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: the first half of a signal whose Fourier transform is real.

    >>> ihfft(Tensor([2.0, 0.0])).tolist()
    [(1+0j), (1+0j)]
    """
    return _of_real(input, [n], [dim], norm, inverse=True)


# ----------------------------------------------------------------------------------------------------- several axes


def fft2(input: Any, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform along two axes.

    >>> fft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    return fftn(input, s, dim, norm)


def ifft2(input: Any, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform along two axes.

    >>> ifft2(Tensor([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    return ifftn(input, s, dim, norm)


def rfft2(input: Any, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers along two axes, of which the last one is halved.

    >>> rfft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    return rfftn(input, s, dim, norm)


def irfft2(input: Any, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `rfft2`.

    >>> irfft2(Tensor([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return irfftn(input, s, dim, norm)


def hfft2(input: Any, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform, which is real, along two axes of a signal of which the last axis is given by half.

    >>> hfft2(Tensor([[1.0, 1.0]])).tolist()
    [[2.0, 0.0]]
    """
    return hfftn(input, s, dim, norm)


def ihfft2(input: Any, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `hfft2`.

    >>> ihfft2(Tensor([[2.0, 0.0]])).shape
    (1, 2)
    """
    return ihfftn(input, s, dim, norm)


def fftn(input: Any, s: Sizes = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform along several axes, or all.

    >>> fftn(Tensor([[1.0, 0.0]])).tolist()
    [[(1+0j), (1+0j)]]
    """
    return _complex(input, *_several(input, s, dim), norm)


def ifftn(input: Any, s: Sizes = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform along several axes, or all.

    >>> ifftn(Tensor([[2.0, 0.0]])).tolist()
    [[(1+0j), (1+0j)]]
    """
    return _complex(input, *_several(input, s, dim), norm, inverse=True)


def rfftn(input: Any, s: Sizes = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers along several axes, of which the last one is halved.

    >>> rfftn(Tensor([[1.0, 0.0, 0.0]])).tolist()
    [[(1+0j), (1+0j)]]
    """
    return _of_real(input, *_several(input, s, dim), norm)


def irfftn(input: Any, s: Sizes = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`.

    >>> irfftn(Tensor([[2.0, 0.0]])).tolist()
    [[1.0, 1.0]]
    """
    return _to_real(input, *_several(input, s, dim), norm)


def hfftn(input: Any, s: Sizes = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform, which is real, along several axes of a signal of which the last axis is given by half.

    >>> hfftn(Tensor([[1.0, 1.0]])).tolist()
    [[2.0, 0.0]]
    """
    return _to_real(input, *_several(input, s, dim), norm, forward=True)


def ihfftn(input: Any, s: Sizes = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`.

    >>> ihfftn(Tensor([[2.0, 0.0]])).shape
    (1, 2)
    """
    return _of_real(input, *_several(input, s, dim), norm, inverse=True)


# ------------------------------------------------------------------------------------------------------- frequencies


def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """The frequencies of the elements of a transform, for samples that lie `d` apart.

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    return Tensor(np.fft.fftfreq(_count(n), d), float32 if dtype is None else as_dtype(dtype))


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """The frequencies of the elements of a transform of real numbers.

    >>> rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    return Tensor(np.fft.rfftfreq(_count(n), d), float32 if dtype is None else as_dtype(dtype))


def fftshift(input: Any, dim: Any = None) -> Tensor:
    """The elements of a transform with frequency 0 in the middle.

    >>> fftshift(Tensor([0, 1, 2, -2, -1])).tolist()
    [-2, -1, 0, 1, 2]
    """
    x = tensor(input)
    axes = axes_of(x, dim)
    return roll(x, tuple(x.shape[a] // 2 for a in axes), axes) if axes else x.alias()


def ifftshift(input: Any, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> ifftshift(Tensor([-2, -1, 0, 1, 2])).tolist()
    [0, 1, 2, -2, -1]
    """
    x = tensor(input)
    axes = axes_of(x, dim)
    return roll(x, tuple(-(x.shape[a] // 2) for a in axes), axes) if axes else x.alias()


# ----------------------------------------------------------------------------------------------------------- cosines


def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The cosine transform, of type 2 or 3, along an axis; "ortho" makes it orthogonal.

    >>> dct(Tensor([1.0, 1.0])).tolist()
    [4.0, 0.0]
    """
    return _cosine(x, type, n, axis, norm, ("backward", "ortho", "forward"))


def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of the cosine transform along an axis.

    >>> idct(Tensor([4.0, 0.0])).tolist()
    [1.0, 1.0]
    """
    return _cosine(x, {2: 3, 3: 2}.get(type, type), n, axis, norm, ("forward", "ortho", "backward"))


def dctn(x: Any, type: int = 2, s: Sizes = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The cosine transform along several axes, or all.

    >>> dctn(Tensor([[1.0, 1.0]])).tolist()
    [[8.0, 0.0]]
    """
    x = tensor(x)
    for n, axis in zip(*_several(x, s, axes), strict=True):
        x = dct(x, type, n, axis, norm)
    return x


def idctn(x: Any, type: int = 2, s: Sizes = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of the cosine transform along several axes, or all.

    >>> idctn(Tensor([[8.0, 0.0]])).tolist()
    [[1.0, 1.0]]
    """
    x = tensor(x)
    for n, axis in zip(*_several(x, s, axes), strict=True):
        x = idct(x, type, n, axis, norm)
    return x


def _cosine(x: Any, type: int, n: int | None, axis: int, norm: str | None, norms: tuple[str, ...]) -> Tensor:
    """The transform that is named, scaled as the place of the norm among `norms` says: not, by the root, wholly."""
    if type not in (2, 3):
        raise ArgumentError(f"there is no cosine transform of type {type!r} here", hint="choose 2 or 3")
    scaled = norms.index(_normed(norm))
    x = tensor(x)
    if x.dtype.is_complex:
        return p.complex_of(*(_cosine(part, type, n, axis, norm, norms) for part in (p.real(x), p.imag(x))))
    place = axis_of(x, axis)
    x = _fitted(cast(x, _half(x.dtype)), n, place)
    count = x.shape[place]
    rows = p.moveaxis(x, place, x.ndim - 1)
    root = 1 / sqrt(2 * count)
    if type == 2:
        out = _second(rows)
        if scaled == 1:
            out = out * Tensor(np.r_[1 / sqrt(2), np.ones(count - 1)] * root, rows.dtype)
    else:
        if scaled == 1:
            rows = rows * Tensor(np.r_[sqrt(2), np.ones(count - 1)] * root, rows.dtype)
        out = _third(rows)
    return p.moveaxis(out * (1 / (2 * count)) if scaled == 2 else out, x.ndim - 1, place)


def _second(x: Tensor) -> Tensor:
    """The cosine transform of type 2 along the last axis, from one Fourier transform of the same length."""
    n = x.shape[-1]
    last = x.ndim - 1
    order = np.r_[np.arange(0, n, 2), np.arange(1, n, 2)[::-1]]
    spectrum = fft(p.gather(x, Tensor(order), last))
    turn = Tensor(2 * np.exp(-1j * pi * np.arange(n) / (2 * n)), spectrum.dtype)
    return p.real(spectrum * turn)


def _third(x: Tensor) -> Tensor:
    """The cosine transform of type 3 along the last axis: the transpose of type 2, its inverse but for a factor."""
    n = x.shape[-1]
    last = x.ndim - 1
    weight = np.r_[1.0, np.full(n - 1, 2.0)] * np.exp(1j * pi * np.arange(n) / (2 * n))
    turned = x * Tensor(weight, COMPLEX[x.dtype])
    signal = p.real(ifft(turned, norm="forward"))
    order = np.r_[np.arange(0, n, 2), np.arange(1, n, 2)[::-1]]
    return p.gather(signal, Tensor(np.argsort(order)), last)


# ------------------------------------------------------------------------------------------------------------- how


def _complex(
    input: Any, counts: Sequence[int | None], axes: Sequence[int], norm: str | None, inverse: bool = False
) -> Tensor:
    """The transform of complex numbers along axes."""
    x = tensor(input)
    places = [axis_of(x, a) for a in axes]
    x = cast(x, COMPLEX[_half(x.dtype)])
    for n, place in zip(counts, places, strict=True):
        x = _fitted(x, n, place)
    for place in reversed(places):
        x = p.Fft(place, inverse=inverse)(x)
    return _scaled(x, prod(x.shape[a] for a in places), norm, inverse)


def _of_real(
    input: Any, counts: Sequence[int | None], axes: Sequence[int], norm: str | None, inverse: bool = False
) -> Tensor:
    """The transform of real numbers along axes, the last one halved; conjugated, if `inverse`."""
    x = tensor(input)
    if x.dtype.is_complex:
        raise DTypeError(
            "this Fourier transform takes real numbers, not complex ones", hint="use fft, or ops.real of the numbers"
        )
    places = [axis_of(x, a) for a in axes]
    x = cast(x, _half(x.dtype))
    for n, place in zip(counts, places, strict=True):
        x = _fitted(x, n, place)
    count = prod(x.shape[a] for a in places)
    out = p.Rfft(places[-1])(x)
    for place in reversed(places[:-1]):
        out = p.Fft(place)(out)
    return _scaled(p.conj(out) if inverse else out, count, norm, inverse)


def _to_real(
    input: Any, counts: Sequence[int | None], axes: Sequence[int], norm: str | None, forward: bool = False
) -> Tensor:
    """The real signal whose transform along axes begins with the input; or, going forward, of its conjugate."""
    x = tensor(input)
    places = [axis_of(x, a) for a in axes]
    x = cast(x, COMPLEX[_half(x.dtype)])
    given = counts[-1]
    length = 2 * (x.shape[places[-1]] - 1) if given is None else _count(given)
    if length < 1:
        raise ShapeError("a signal of no elements has no Fourier transform", given={"shape": x.shape, "n": length})
    for n, place in zip((*counts[:-1], length // 2 + 1), places, strict=True):
        x = _fitted(x, n, place)
    x = p.conj(x) if forward else x
    for place in places[:-1]:
        x = p.Fft(place, inverse=True)(x)
    out = p.Irfft(places[-1], length=length)(x)
    return _scaled(out, prod(out.shape[a] for a in places), norm, not forward)


def _half(dtype: DType) -> DType:
    """The real type in which numbers of this one are transformed."""
    return float64 if dtype.part is float64 else float32


def _count(n: Any) -> int:
    (count,) = sizes(n)
    if count < 1:
        raise ShapeError(f"a Fourier transform takes at least one element, not {count}", hint="give n from 1 on")
    return count


def _fitted(x: Tensor, n: int | None, place: int) -> Tensor:
    """`x` with n elements along an axis: cut off, or with zeros behind."""
    if n is None or n == -1:
        return x
    count, there = _count(n), x.shape[place]
    if count <= there:
        return p.take(x, place, 0, count)
    missing = [count - there if a == place else 0 for a in range(x.ndim)]
    return p.pad(x, (0,) * x.ndim, missing)


def _normed(norm: str | None) -> str:
    if norm is not None and norm not in NORMS:
        raise ArgumentError(f"norm cannot be {norm!r}", hint=f"choose one of {', '.join(map(repr, NORMS))}")
    return norm or "backward"


def _scaled(x: Tensor, count: int, norm: str | None, inverse: bool) -> Tensor:
    """The transform of so many elements, divided as the norm says."""
    where = _normed(norm)
    if where == "ortho":
        return x * (1 / sqrt(count))
    return x * (1 / count) if where == ("backward" if inverse else "forward") else x


def _several(input: Any, s: Sizes, dim: Any) -> tuple[list[int | None], list[int]]:
    """How many elements along which axes: the last ones, if only their numbers are said."""
    x = tensor(input)
    given = None if s is None else list(sizes(s))
    if dim is None:
        axes = list(range(x.ndim)) if given is None else list(range(x.ndim - len(given), x.ndim))
    else:
        axes = [axis_of(x, a) for a in (dim if isinstance(dim, list | tuple) else (dim,))]
    if given is not None and len(given) != len(axes):
        raise CallError(f"{len(given)} sizes are given for {len(axes)} axes", given={"s": s, "dim": dim})
    if not axes or min(axes) < 0:
        raise ShapeError("a Fourier transform is along at least one axis", given={"shape": x.shape, "dim": dim})
    if len(set(axes)) != len(axes):
        raise ShapeError(f"an axis is named twice in {dim}", given={"shape": x.shape}, hint="name each axis once")
    return [None] * len(axes) if given is None else list(given), axes
