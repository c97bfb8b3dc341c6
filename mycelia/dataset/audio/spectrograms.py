"""Spectrograms and back, and what changes time or pitch through them."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from mycelia.checks import member, number, truth, whole
from mycelia.dataset import random
from mycelia.dataset.audio.base import AudioOperation, ComplexOperation, as_complex, as_pairs
from mycelia.dataset.audio.modes import BorderType, WindowType
from mycelia.dataset.audio.resample import resample
from mycelia.dataset.audio.stft import frame_sizes, istft, phase_vocoder, stft, window
from mycelia.dataset.transforms.base import Array
from mycelia.errors import DTypeError, ShapeError
from mycelia.frozen import frozen


def check_frames(owner: Any, n_fft: Any, win_length: Any, hop_length: Any, kind: Any, name: str = "window") -> None:
    """Raise unless frames can be made of these."""
    whole(owner, "n_fft", n_fft, 1)
    for length, value in {"win_length": win_length, "hop_length": hop_length}.items():
        if value is not None:
            whole(owner, length, value, 1)
    frame_sizes(n_fft, win_length, hop_length)
    member(owner, name, kind, WindowType)


@frozen
class Spectrogram(AudioOperation):
    """The power (or another exponent) of each frequency over time; power 0 keeps complex pairs (..., 2).

    >>> Spectrogram(16)(np.zeros(64)).shape
    (9, 9)
    """

    n_fft: int = 400
    win_length: int | None = None
    hop_length: int | None = None
    pad: int = 0
    window: WindowType = WindowType.HANN
    power: float = 2.0
    normalized: bool = False
    center: bool = True
    pad_mode: BorderType = BorderType.REFLECT
    onesided: bool = True

    def __post_init__(self) -> None:
        check_frames(self, self.n_fft, self.win_length, self.hop_length, self.window)
        whole(self, "pad", self.pad, 0)
        number(self, "power", self.power, 0)
        for name in ("normalized", "center", "onesided"):
            truth(self, name, getattr(self, name))
        member(self, "pad_mode", self.pad_mode, BorderType)

    def apply(self, waveform: Array) -> Array:
        """Zeros are added first, if asked for."""
        size, hop = frame_sizes(self.n_fft, self.win_length, self.hop_length)
        weights = window(self.window, size)
        padded = np.pad(waveform, [(0, 0)] * (waveform.ndim - 1) + [(self.pad, self.pad)])
        spectra = stft(
            padded, self.n_fft, hop, weights, center=self.center, pad_mode=self.pad_mode, onesided=self.onesided
        )
        if self.normalized:
            spectra = spectra / math.sqrt((weights**2).sum())
        return as_pairs(spectra) if self.power == 0 else np.abs(spectra) ** self.power


@frozen
class InverseSpectrogram(ComplexOperation):
    """The wave of a complex spectrogram (..., frequency, time, 2).

    >>> InverseSpectrogram(n_fft=16)(np.zeros((9, 5, 2))).shape
    (32,)
    """

    axes = 3

    length: int | None = None
    n_fft: int = 400
    win_length: int | None = None
    hop_length: int | None = None
    pad: int = 0
    window: WindowType = WindowType.HANN
    normalized: bool = False
    center: bool = True
    pad_mode: BorderType = BorderType.REFLECT
    onesided: bool = True

    def __post_init__(self) -> None:
        if self.length is not None:
            whole(self, "length", self.length, 0)
        check_frames(self, self.n_fft, self.win_length, self.hop_length, self.window)
        whole(self, "pad", self.pad, 0)
        for name in ("normalized", "center", "onesided"):
            truth(self, name, getattr(self, name))
        member(self, "pad_mode", self.pad_mode, BorderType)

    def apply(self, pairs: Array) -> Array:
        """What `pad` added is cut off again; how the border was made plays no part."""
        size, hop = frame_sizes(self.n_fft, self.win_length, self.hop_length)
        weights = window(self.window, size)
        spectra = as_complex(pairs)
        bins = self.n_fft // 2 + 1 if self.onesided else self.n_fft
        if spectra.shape[-2] != bins:
            raise ShapeError("the spectrogram has another number of frequencies",
                             given={"frequencies": spectra.shape[-2], "expected": bins})  # fmt: skip
        if self.normalized:
            spectra = spectra * math.sqrt((weights**2).sum())
        length = None if self.length is None else self.length + 2 * self.pad
        wave = istft(spectra, self.n_fft, hop, weights, center=self.center, onesided=self.onesided, length=length)
        return wave[..., self.pad : wave.shape[-1] - self.pad]


@frozen
class GriffinLim(AudioOperation):
    """A wave whose magnitudes are those of a spectrogram; phases are guessed and improved `n_iter` times.

    >>> GriffinLim(16, n_iter=2)(np.ones((9, 5))).shape
    (32,)
    """

    axes = 2

    n_fft: int = 400
    n_iter: int = 32
    win_length: int | None = None
    hop_length: int | None = None
    window_type: WindowType = WindowType.HANN
    power: float = 2.0
    momentum: float = 0.99
    length: int | None = None
    rand_init: bool = True

    def __post_init__(self) -> None:
        check_frames(self, self.n_fft, self.win_length, self.hop_length, self.window_type, "window_type")
        whole(self, "n_iter", self.n_iter, 1)
        number(self, "power", self.power, above=0)
        number(self, "momentum", self.momentum, 0)
        if self.length is not None:
            whole(self, "length", self.length, 0)
        truth(self, "rand_init", self.rand_init)

    def apply(self, specgram: Array) -> Array:
        """The fast variant, with momentum."""
        size, hop = frame_sizes(self.n_fft, self.win_length, self.hop_length)
        weights = window(self.window_type, size)
        magnitude = specgram ** (1 / self.power)
        phases = np.ones(magnitude.shape, complex)
        if self.rand_init:
            rng = random.current()
            phases = rng.random(magnitude.shape) + 1j * rng.random(magnitude.shape)
        before = np.zeros_like(phases)
        blend = self.momentum / (1 + self.momentum)
        for _ in range(self.n_iter):
            wave = istft(magnitude * phases, self.n_fft, hop, weights, length=self.length)
            rebuilt = stft(wave, self.n_fft, hop, weights)[..., : magnitude.shape[-1]]
            rebuilt = np.pad(rebuilt, [(0, 0)] * (rebuilt.ndim - 1) + [(0, magnitude.shape[-1] - rebuilt.shape[-1])])
            phases = rebuilt - blend * before
            phases = phases / (np.abs(phases) + 1e-16)
            before = rebuilt
        return istft(magnitude * phases, self.n_fft, hop, weights, length=self.length)


@frozen
class SpectralCentroid(AudioOperation):
    """The mean frequency of each frame, weighted by magnitude: (..., 1, time).

    >>> SpectralCentroid(8000, 16)(np.sin(np.arange(64.0))).shape
    (1, 9)
    """

    sample_rate: int
    n_fft: int = 400
    win_length: int | None = None
    hop_length: int | None = None
    pad: int = 0
    window: WindowType = WindowType.HANN

    def __post_init__(self) -> None:
        whole(self, "sample_rate", self.sample_rate, 1)
        self.magnitudes()

    def magnitudes(self) -> Spectrogram:
        """The spectrogram that is averaged."""
        return Spectrogram(self.n_fft, self.win_length, self.hop_length, self.pad, self.window, 1.0)

    def apply(self, waveform: Array) -> Array:
        """A silent frame has none."""
        magnitude = self.magnitudes().apply(waveform)
        frequencies = np.linspace(0, self.sample_rate // 2, self.n_fft // 2 + 1)[:, None]
        total = magnitude.sum(-2, keepdims=True)
        weighted = (frequencies * magnitude).sum(-2, keepdims=True)
        return np.asarray(np.divide(weighted, total, out=np.full_like(total, np.nan), where=total != 0))


@frozen(eq=False)
class PhaseVocoder(ComplexOperation):
    """A complex spectrogram (..., frequency, time, 2) faster by `rate`, at the same pitch.

    >>> PhaseVocoder(2.0, np.zeros((3, 1)))(np.ones((3, 8, 2))).shape
    (3, 4, 2)
    """

    axes = 3

    rate: float
    phase_advance: Array = field(repr=False)

    def __post_init__(self) -> None:
        number(self, "rate", self.rate, above=0)
        if not isinstance(self.phase_advance, np.ndarray):
            raise DTypeError("phase_advance must be a NumPy array", given={"got": type(self.phase_advance).__name__})
        if self.phase_advance.ndim != 2 or self.phase_advance.shape[1] != 1:
            raise ShapeError("phase_advance must be (frequency, 1)", given={"shape": self.phase_advance.shape})

    def apply(self, pairs: Array) -> Array:
        """One advance for each frequency."""
        spectra = as_complex(pairs)
        if spectra.shape[-2] != len(self.phase_advance):
            raise ShapeError(
                "phase_advance and the spectrogram differ in frequencies",
                given={"phase_advance": self.phase_advance.shape, "spectrogram": pairs.shape},
            )
        return as_pairs(phase_vocoder(spectra, self.rate, self.phase_advance))


@frozen
class TimeStretch(ComplexOperation):
    """A complex spectrogram (..., frequency, time, 2) faster by `fixed_rate`, at the same pitch.

    >>> TimeStretch(4, 3, 2.0)(np.ones((3, 8, 2))).shape
    (3, 4, 2)
    """

    axes = 3

    hop_length: int | None = None
    n_freq: int = 201
    fixed_rate: float | None = None

    def __post_init__(self) -> None:
        if self.hop_length is not None:
            whole(self, "hop_length", self.hop_length, 1)
        whole(self, "n_freq", self.n_freq, 1)
        if self.fixed_rate is not None:
            number(self, "fixed_rate", self.fixed_rate, above=0)

    def apply(self, pairs: Array) -> Array:
        """Without a rate nothing changes."""
        hop = self.n_freq - 1 if self.hop_length is None else self.hop_length
        advance = np.linspace(0, math.pi * hop, self.n_freq)[:, None]
        return PhaseVocoder(self.fixed_rate or 1.0, advance).apply(pairs)


@frozen
class PitchShift(AudioOperation):
    """The wave at another pitch, `n_steps` steps of an octave divided into `bins_per_octave`, at the same speed.

    >>> PitchShift(8000, 4, n_fft=16)(np.zeros(64)).shape
    (64,)
    """

    sample_rate: int
    n_steps: int
    bins_per_octave: int = 12
    n_fft: int = 512
    win_length: int | None = None
    hop_length: int | None = None
    window: WindowType = WindowType.HANN

    def __post_init__(self) -> None:
        whole(self, "sample_rate", self.sample_rate, 1)
        whole(self, "n_steps", self.n_steps)
        if whole(self, "bins_per_octave", self.bins_per_octave) == 0:
            raise ShapeError("bins_per_octave must not be 0")
        check_frames(self, self.n_fft, self.win_length, self.hop_length, self.window)

    def apply(self, waveform: Array) -> Array:
        """Stretch in time, then play faster."""
        size, hop = frame_sizes(self.n_fft, self.win_length, self.hop_length, 4)
        weights = window(self.window, size)
        rate = 2.0 ** (-self.n_steps / self.bins_per_octave)
        spectra = stft(waveform, self.n_fft, hop, weights)
        advance = np.linspace(0, math.pi * hop, spectra.shape[-2])[:, None]
        time = waveform.shape[-1]
        stretched = istft(phase_vocoder(spectra, rate, advance), self.n_fft, hop, weights, length=round(time / rate))
        shifted = resample(stretched, int(self.sample_rate / rate), self.sample_rate)[..., :time]
        return np.pad(shifted, [(0, 0)] * (shifted.ndim - 1) + [(0, time - shifted.shape[-1])])
