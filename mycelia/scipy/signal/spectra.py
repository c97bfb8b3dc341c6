"""Spectra of signals: of the whole, of pieces in time, and what two have in common."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

import numpy

from mycelia import ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, ShapeError
from mycelia.numpy import fft
from mycelia.numpy.creation import asarray
from mycelia.numpy.padding import pad
from mycelia.numpy.products import together
from mycelia.ops.arguments import axis_of, floated
from mycelia.scipy.signal.filters import detrend as without_trend
from mycelia.scipy.signal.windows import get_window

__all__ = ["check_COLA", "coherence", "csd", "istft", "periodogram", "spectrogram", "stft", "welch"]


def _window(window: Any, nperseg: int) -> Any:
    if isinstance(window, str | tuple | int | float):
        return get_window(window, nperseg).numbers()
    return asarray(window).numbers()


def _pieces(x: Tensor, nperseg: int, step: int) -> Tensor:
    """Pieces of a signal, as the last but one axis."""
    count = (x.shape[-1] - (nperseg - step)) // step
    places = numpy.arange(count)[:, None] * step + numpy.arange(nperseg)
    return ops.reshape(ops.gather(x, Tensor(places.ravel()), x.ndim - 1), (*x.shape[:-1], count, nperseg))


def _spectra(x: Tensor, window: Any, step: int, nfft: int, detrend: Any, two_sided: bool) -> Tensor:
    parts = _pieces(x, len(window), step)
    if detrend:
        parts = without_trend(parts, -1, detrend)
    parts = parts * cast(Tensor(window), parts.dtype)
    return fft.fft(parts, nfft) if two_sided else fft.rfft(parts, nfft)


def _settings(
    x: Tensor, window: Any, nperseg: int | None, noverlap: int | None, nfft: int | None
) -> tuple[Any, int, int, int]:
    if nperseg is None:
        nperseg = 256 if isinstance(window, str | tuple | int | float) else len(asarray(window).numbers())
    if nperseg < 1:
        raise ArgumentError(f"a piece has one number or more, not {nperseg}")
    if isinstance(window, str | tuple | int | float):
        nperseg = min(nperseg, x.shape[-1])
    elif len(asarray(window).numbers()) != nperseg:
        raise ArgumentError("a window is as long as a piece", given={"nperseg": nperseg})
    overlap = nperseg // 2 if noverlap is None else noverlap
    if overlap >= nperseg:
        raise ArgumentError("pieces overlap by less than their length", given={"noverlap": noverlap})
    length = nperseg if nfft is None else nfft
    if length < nperseg:
        raise ArgumentError("a transform is as long as a piece, or longer", given={"nfft": nfft, "nperseg": nperseg})
    return _window(window, nperseg), nperseg, overlap, length


def _scale(window: Any, fs: float, scaling: str) -> float:
    if scaling == "density":
        return float(1.0 / (fs * (window * window).sum()))
    if scaling == "spectrum":
        return float(1.0 / window.sum() ** 2)
    raise ArgumentError(f"there is no scaling {scaling!r}", hint='"density" or "spectrum"')


def _frequencies(nfft: int, fs: float, two_sided: bool) -> Tensor:
    return Tensor(numpy.fft.fftfreq(nfft, 1 / fs) if two_sided else numpy.fft.rfftfreq(nfft, 1 / fs))


def _folded(power: Tensor, nfft: int) -> Tensor:
    """The other half of the spectrum counts too, but not what has no other half."""
    often = numpy.full(power.shape[-1], 2.0)
    often[0] = 1.0
    if nfft % 2 == 0:
        often[-1] = 1.0
    weights = Tensor(often)
    return power * (ops.cast(weights, power.dtype))


def _shared(
    x: Any, y: Any, fs: float, window: Any, nperseg: int | None, noverlap: int | None, nfft: int | None, detrend: Any,
    return_onesided: bool, scaling: str, axis: int,
) -> tuple[Tensor, Tensor, int, int]:  # fmt: skip
    """Frequencies, and powers of pieces: the last axis are frequencies, the one before it pieces."""
    a, b = (v if v.dtype.kind == "c" else floated(v) for v in together(asarray(x), asarray(y)))
    a, b = (ops.moveaxis(v, axis_of(v, axis), -1) for v in (a, b))
    if a.shape != b.shape:
        raise ShapeError("two signals of one shape are expected", given={"x": a.shape, "y": b.shape})
    weights, size, overlap, length = _settings(a, window, nperseg, noverlap, nfft)
    two_sided = a.dtype.kind == "c" or not return_onesided
    first = _spectra(a, weights, size - overlap, length, detrend, two_sided)
    second = first if y is x else _spectra(b, weights, size - overlap, length, detrend, two_sided)
    power = ops.real(ops.conj(first) * second) if y is x else ops.conj(first) * second
    power = power * _scale(weights, fs, scaling)
    power = power if two_sided else _folded(power, length)
    return _frequencies(length, fs, two_sided), power, size, overlap


def csd(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density",
    axis: int = -1, average: str = "mean",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Frequencies, and how much two signals have in common at each, on average over pieces (Welch).

    >>> csd([1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0], nperseg=4)[1].shape
    (3,)
    """
    places, power, _, _ = _shared(
        x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
    )  # fmt: skip
    if average == "mean":
        found = ops.mean(power, power.ndim - 2)
    elif average == "median":
        if power.dtype.kind == "c":
            found = ops.Complex()(_median(ops.real(power)), _median(ops.imag(power)))
        else:
            found = _median(power)
    else:
        raise ArgumentError(f"there is no average {average!r}", hint='"mean" or "median"')
    return places, ops.moveaxis(found, -1, axis)


def _median(power: Tensor) -> Tensor:
    """The median over pieces, over what it is too small on average."""
    count = power.shape[-2]
    ordered = ops.sort(power, power.ndim - 2)[0]
    middle = (ordered[..., (count - 1) // 2, :] + ordered[..., count // 2, :]) * 0.5
    ii = 2 * numpy.arange(1.0, (count - 1) // 2 + 1)
    return middle / float(1 + numpy.sum(1.0 / (ii + 1) - 1.0 / ii))


def welch(
    x: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density",
    axis: int = -1, average: str = "mean",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Frequencies, and the power of a signal at each, on average over pieces.

    >>> welch([1.0, 0.0, 1.0, 0.0], nperseg=4)[1].shape
    (3,)
    """
    return csd(x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def periodogram(
    x: Any, fs: float = 1.0, window: Any = "boxcar", nfft: int | None = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Frequencies, and the power of a whole signal at each.

    >>> periodogram([1.0, 0.0, 1.0, 0.0])[1].shape
    (3,)
    """
    signal = asarray(x)
    n = signal.shape[axis_of(signal, axis)]
    if nfft is not None and nfft < n:
        signal = ops.moveaxis(ops.moveaxis(signal, axis, 0)[:nfft], 0, axis)
        n = nfft
    return welch(signal, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


def coherence(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", axis: int = -1,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Frequencies, and how well one signal follows from another at each, from 0 to 1.

    >>> coherence([1.0, 0.0, 2.0, 0.0, 3.0, 1.0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0], nperseg=4)[1].shape
    (3,)
    """
    settings = (fs, window, nperseg, noverlap, nfft, detrend)
    places, first = welch(x, *settings, axis=axis)
    second, shared = welch(y, *settings, axis=axis)[1], csd(x, y, *settings, axis=axis)[1]
    size = ops.abs(shared) if shared.dtype.kind == "c" else shared
    return places, size * size / (first * second)


# ------------------------------------------------------------------------------------------------------ pieces in time


def spectrogram(
    x: Any, fs: float = 1.0, window: Any = ("tukey", 0.25), nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density",
    axis: int = -1,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Frequencies, times, and the power of pieces of a signal: the last axis are times.

    >>> spectrogram([1.0, 0.0, 1.0, 0.0], nperseg=4)[2].shape
    (3, 1)
    """
    signal = asarray(x)
    size = min(256 if nperseg is None else nperseg, signal.shape[axis_of(signal, axis)])
    size = size if isinstance(window, str | tuple | int | float) else len(asarray(window).numbers())
    overlap = size // 8 if noverlap is None else noverlap
    places, power, size, overlap = _shared(
        signal, signal, fs, window, size, overlap, nfft, detrend, return_onesided, scaling, axis
    )  # fmt: skip
    times = size / 2.0 + numpy.arange(power.shape[-2]) * (size - overlap)
    moved = ops.swapaxes(power, -1, -2)
    where = axis if axis < 0 else axis - signal.ndim
    moved = moved if where == -1 else ops.moveaxis(moved, -2, where - 1)
    return places, Tensor(times / fs), moved


_EDGES = {"even": "even", "odd": "odd", "constant": "constant", "zeros": "zeros", None: None}


def stft(
    x: Any, fs: float = 1.0, window: Any = "hann", nperseg: int = 256, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = False, return_onesided: bool = True, boundary: Any = "zeros",
    padded: bool = True, axis: int = -1, scaling: str = "spectrum",
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Frequencies, times, and the transforms of pieces of a signal: the last axis are times.

    >>> stft([1.0, 0.0, 1.0, 0.0], nperseg=2)[2].shape
    (2, 5)
    """
    signal = asarray(x)
    signal = signal if signal.dtype.kind == "c" else floated(signal)
    where = axis_of(signal, axis)
    moved = ops.moveaxis(signal, where, -1)
    weights, size, overlap, length = _settings(moved, window, nperseg, noverlap, nfft)
    step = size - overlap
    if boundary not in _EDGES:
        raise ArgumentError(f"there is no boundary {boundary!r}", hint='"zeros", "even", "odd", "constant" or None')
    around = [(0, 0)] * (moved.ndim - 1)
    if boundary is not None:
        half = [*around, (size // 2, size // 2)]
        if boundary == "zeros":
            moved = pad(moved, half)
        elif boundary == "constant":
            moved = pad(moved, half, "edge")
        else:
            moved = pad(moved, half, "reflect", reflect_type=boundary)
    if padded:
        missing = -(moved.shape[-1] - size) % step % size
        moved = pad(moved, [*around, (0, missing)])
    two_sided = moved.dtype.kind == "c" or not return_onesided
    found = _spectra(moved, weights, step, length, detrend, two_sided)
    found = found * float(numpy.sqrt(_scale(weights, fs, "density" if scaling == "psd" else scaling)))
    times = numpy.arange(size / 2, moved.shape[-1] - size / 2 + 1, step) / fs
    times = times - (size / 2) / fs if boundary is not None else times
    out = ops.swapaxes(found, -1, -2)
    out = out if where == signal.ndim - 1 else ops.moveaxis(out, -2, where)
    return _frequencies(length, fs, two_sided), Tensor(times), out


def istft(
    Zxx: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1,
    freq_axis: int = -2, scaling: str = "spectrum",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Times, and the signal whose pieces have these transforms.

    >>> [round(v, 4) for v in istft(stft([1.0, 2.0, 3.0, 4.0], nperseg=2)[2], nperseg=2)[1].tolist()]
    [1.0, 2.0, 3.0, 4.0]
    """
    spectra = asarray(Zxx)
    spectra = ops.moveaxis(spectra, (freq_axis, time_axis), (-1, -2))
    default = 2 * (spectra.shape[-1] - 1) if input_onesided else spectra.shape[-1]
    size = default if nperseg is None else nperseg
    length = nfft if nfft is not None else size + 1 if input_onesided and size == default + 1 else default
    overlap = size // 2 if noverlap is None else noverlap
    step = size - overlap
    if overlap >= size or length < size:
        raise ArgumentError("pieces overlap by less than their length, which is at most that of the transform")
    weights = _window(window, size)
    parts = fft.irfft(spectra, length) if input_onesided else ops.real(fft.ifft(spectra, length))
    parts = parts[..., :size]
    count = spectra.shape[-2]
    whole = size + (count - 1) * step
    scale = float(1.0 / numpy.sqrt(_scale(weights, fs, "density" if scaling == "psd" else scaling)))
    parts = parts * cast(Tensor(weights * scale), parts.dtype)
    out: Any = ops.zeros((*parts.shape[:-2], whole), parts.dtype)
    norm = numpy.zeros(whole)
    for i in range(count):
        out = out + pad(parts[..., i, :], [(0, 0)] * (out.ndim - 1) + [(i * step, whole - size - i * step)])
        norm[i * step : i * step + size] += weights**2
    if boundary:
        out, norm = out[..., size // 2 : whole - size // 2], norm[size // 2 : whole - size // 2]
    out = out / cast(Tensor(numpy.where(norm > 1e-10, norm, 1.0)), out.dtype)
    times = numpy.arange(out.shape[-1]) / float(fs)
    if out.ndim > 1 and time_axis % asarray(Zxx).ndim != asarray(Zxx).ndim - 1:
        last = asarray(Zxx).ndim
        places = time_axis % last, freq_axis % last
        out = ops.moveaxis(out, -1, places[0] - 1 if places[1] < places[0] else places[0])
    return Tensor(times), out


def check_COLA(window: Any, nperseg: int, noverlap: int, tol: float = 1e-10) -> bool:
    """Whether windows that overlap add up to a constant.

    >>> check_COLA("hann", 8, 4)
    True
    """
    weights, step = _window(window, nperseg), nperseg - noverlap
    sums = sum(weights[i * step : (i + 1) * step] for i in range(nperseg // step))
    if nperseg % step:
        sums[: nperseg % step] += weights[-(nperseg % step) :]
    return bool(numpy.max(numpy.abs(sums - numpy.median(sums))) < tol)
