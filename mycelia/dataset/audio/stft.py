"""The short-time Fourier transform and its inverse: frames, windows, overlap and add."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.dataset.audio.modes import BorderType, WindowType
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError, ShapeError


def window(kind: WindowType, size: int) -> Array:
    """A periodic window: the symmetric one of one more sample, without its last.

    >>> window(WindowType.HANN, 4)
    array([0. , 0.5, 1. , 0.5])
    """
    if size == 1:
        return np.ones(1)
    match kind:
        case WindowType.BARTLETT:
            full = np.bartlett(size + 1)
        case WindowType.BLACKMAN:
            full = np.blackman(size + 1)
        case WindowType.HAMMING:
            full = np.hamming(size + 1)
        case WindowType.KAISER:
            full = np.kaiser(size + 1, 12.0)
        case _:
            full = np.hanning(size + 1)
    return np.asarray(full[:-1])


def centred(weights: Array, size: int) -> Array:
    """A window in the middle of a longer frame.

    >>> centred(np.ones(2), 4)
    array([0., 1., 1., 0.])
    """
    left = (size - len(weights)) // 2
    return np.pad(weights, (left, size - len(weights) - left))


def pad_time(waveform: Array, size: int, mode: BorderType) -> Array:
    """A wave with `size` more samples at both ends; a short one is reflected again and again.

    >>> pad_time(np.array([1, 2, 3]), 4, BorderType.REFLECT)
    array([1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3])
    """
    if mode == BorderType.REFLECT and size and waveform.shape[-1] < 2:
        raise ShapeError(
            "a wave of less than two samples has nothing to reflect",
            given={"time": waveform.shape[-1], "needed": 2},
            hint="take another pad_mode",
        )
    widths = [(0, 0)] * (waveform.ndim - 1) + [(size, size)]
    return np.pad(waveform, widths, mode.value)


def stft(
    waveform: Array,
    n_fft: int,
    hop: int,
    weights: Array,
    *,
    center: bool = True,
    pad_mode: BorderType = BorderType.REFLECT,
    onesided: bool = True,
) -> Array:
    """Spectra (..., frequency, frame) of windows that move along (..., time) by `hop`.

    >>> stft(np.ones(8), 4, 2, np.ones(4)).shape
    (3, 5)
    """
    if center:
        waveform = pad_time(waveform, n_fft // 2, pad_mode)
    if waveform.shape[-1] < n_fft:
        raise ShapeError("the wave is shorter than one frame", given={"time": waveform.shape[-1], "n_fft": n_fft})
    frames = np.lib.stride_tricks.sliding_window_view(waveform, n_fft, -1)[..., ::hop, :] * centred(weights, n_fft)
    spectra = np.fft.rfft(frames) if onesided else np.fft.fft(frames)
    return np.swapaxes(spectra, -1, -2)


def istft(
    spectra: Array,
    n_fft: int,
    hop: int,
    weights: Array,
    *,
    center: bool = True,
    onesided: bool = True,
    length: int | None = None,
) -> Array:
    """The wave whose spectra these are, in the sense of least squares.

    >>> x = np.sin(np.arange(16.0))
    >>> y = istft(stft(x, 8, 2, window(WindowType.HANN, 8)), 8, 2, window(WindowType.HANN, 8), length=16)
    >>> bool(np.allclose(x, y))
    True
    """
    columns = np.swapaxes(spectra, -1, -2)
    frame_weights = centred(weights, n_fft)
    frames = np.fft.irfft(columns, n_fft) if onesided else np.fft.ifft(columns, n_fft).real
    frames = frames * frame_weights
    count = frames.shape[-2]
    total = n_fft + hop * (count - 1)
    wave, cover = np.zeros((*frames.shape[:-2], total)), np.zeros(total)
    for k in range(count):
        wave[..., k * hop : k * hop + n_fft] += frames[..., k, :]
        cover[k * hop : k * hop + n_fft] += frame_weights**2
    start = n_fft // 2 if center else 0
    end = total - start if length is None else min(start + length, total)
    if (cover[start:end] < 1e-11).any():
        raise ArgumentError("the windows do not overlap enough to invert", given={"n_fft": n_fft, "hop_length": hop})
    out = wave[..., start:end] / cover[start:end]
    missing = 0 if length is None else length - out.shape[-1]
    return np.pad(out, [(0, 0)] * (out.ndim - 1) + [(0, missing)]) if missing > 0 else out


def frame_sizes(n_fft: Any, win_length: Any, hop_length: Any, share: int = 2) -> tuple[int, int]:
    """Window and hop as given, or as follows from the frame: all of it, and a part of the window.

    >>> frame_sizes(400, None, None)
    (400, 200)
    """
    size = win_length or n_fft
    if size > n_fft:
        raise ArgumentError("win_length must not exceed n_fft", given={"win_length": size, "n_fft": n_fft})
    return size, hop_length or size // share


def phase_vocoder(spectra: Array, rate: float, advance: Array) -> Array:
    """Spectra stretched in time by 1 / rate: magnitudes interpolated, phases accumulated.

    >>> phase_vocoder(np.ones((3, 8), complex), 2.0, np.zeros((3, 1))).shape
    (3, 4)
    """
    if rate == 1.0:
        return spectra
    steps = np.arange(0, spectra.shape[-1], rate)
    part = steps % 1.0
    padded = np.pad(spectra, [(0, 0)] * (spectra.ndim - 1) + [(0, 2)])
    here, there = padded[..., steps.astype(int)], padded[..., steps.astype(int) + 1]
    turn = np.angle(there) - np.angle(here) - advance
    turn = turn - 2 * np.pi * np.round(turn / (2 * np.pi)) + advance
    turn = np.concatenate([np.angle(spectra[..., :1]), turn[..., :-1]], -1)
    magnitude = part * np.abs(there) + (1 - part) * np.abs(here)
    return np.asarray(magnitude * np.exp(1j * np.cumsum(turn, -1)))
