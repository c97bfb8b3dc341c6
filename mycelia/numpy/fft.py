"""Fourier transforms by NumPy's names."""

from __future__ import annotations

from typing import Any

from mycelia import ops
from mycelia.eager import Tensor
from mycelia.numpy.creation import asarray
from mycelia.numpy.elements import here

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


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform along an axis.

    It is one of the first `n` elements, or of all with zeros behind.

    >>> fft([1.0, 0.0]).tolist()
    [(1+0j), (1+0j)]
    """
    return ops.fft(asarray(a), n, axis, norm)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform along an axis.

    It is one of the first `n` elements, or of all with zeros behind.

    >>> ifft([2.0, 0.0]).tolist()
    [(1+0j), (1+0j)]
    """
    return ops.ifft(asarray(a), n, axis, norm)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers, of which half suffices, along an axis.

    It is one of the first `n` elements, or of all with zeros behind.

    >>> rfft([1.0, 0.0]).tolist()
    [(1+0j), (1+0j)]
    """
    return ops.rfft(asarray(a), n, axis, norm)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The real numbers of which half the Fourier transform is given, along an axis.

    It is one of the first `n` elements, or of all with zeros behind.

    >>> irfft([2.0, 0.0]).tolist()
    [1.0, 1.0]
    """
    return ops.irfft(asarray(a), n, axis, norm)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform, which is real, of numbers of which half suffices, along an axis.

    It is one of the first `n` elements, or of all with zeros behind.

    >>> hfft([1.0, 0.0]).tolist()
    [1.0, 1.0]
    """
    return ops.hfft(asarray(a), n, axis, norm)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft` along an axis.

    It is one of the first `n` elements, or of all with zeros behind.

    >>> ihfft([2.0, 0.0]).tolist()
    [(1+0j), (1+0j)]
    """
    return ops.ihfft(asarray(a), n, axis, norm)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform along two axes.

    >>> fft2([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.fft2(asarray(a), s, axes, norm)


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform along axes, all if none are named.

    >>> fftn([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.fftn(asarray(a), s, axes, norm)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform along two axes.

    >>> ifft2([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.ifft2(asarray(a), s, axes, norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of the Fourier transform along axes, all if none are named.

    >>> ifftn([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.ifftn(asarray(a), s, axes, norm)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers, of which half suffices, along two axes.

    >>> rfft2([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.rfft2(asarray(a), s, axes, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers, of which half suffices, along axes, all if none are named.

    >>> rfftn([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.rfftn(asarray(a), s, axes, norm)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The real numbers of which half the Fourier transform is given, along two axes.

    >>> irfft2([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.irfft2(asarray(a), s, axes, norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The real numbers of which half the Fourier transform is given, along axes, all if none are named.

    >>> irfftn([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.irfftn(asarray(a), s, axes, norm)


def hfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform, which is real, of numbers of which half suffices, along two axes.

    >>> hfft2([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.hfft2(asarray(a), s, axes, norm)


def hfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The Fourier transform, which is real, of numbers of which half suffices, along axes, all if none are named.

    >>> hfftn([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.hfftn(asarray(a), s, axes, norm)


def ihfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `hfft` along two axes.

    >>> ihfft2([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.ihfft2(asarray(a), s, axes, norm)


def ihfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfft` along axes, all if none are named.

    >>> ihfftn([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return ops.ihfftn(asarray(a), s, axes, norm)


def fftfreq(n: int, d: float = 1.0, dtype: Any = None, *, device: Any = None) -> Tensor:
    """The frequencies of a Fourier transform of n numbers that are d apart.

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    here(device)
    return ops.fftfreq(n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None, *, device: Any = None) -> Tensor:
    """The frequencies of a Fourier transform of n real numbers that are d apart.

    >>> rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    here(device)
    return ops.rfftfreq(n, d, dtype)


def fftshift(x: Any, axes: Any = None) -> Tensor:
    """The frequency 0 moved into the middle.

    >>> fftshift([0, 1, 2, 3]).tolist()
    [2, 3, 0, 1]
    """
    return ops.fftshift(asarray(x), axes)


def ifftshift(x: Any, axes: Any = None) -> Tensor:
    """The frequency 0 moved back to the front.

    >>> ifftshift([2, 3, 0, 1]).tolist()
    [0, 1, 2, 3]
    """
    return ops.ifftshift(asarray(x), axes)
