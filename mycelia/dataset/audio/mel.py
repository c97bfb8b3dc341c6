"""Mel and linear filter banks, the cosine transform, and the features made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from mycelia.checks import member, number, truth, whole
from mycelia.dataset import random
from mycelia.dataset.audio.base import AudioOperation
from mycelia.dataset.audio.features import to_decibels
from mycelia.dataset.audio.modes import BorderType, MelType, NormMode, NormType, WindowType
from mycelia.dataset.audio.spectrograms import Spectrogram
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen

BREAK = 1000.0  # Slaney's scale is linear up to here, in steps of 200/3 Hz, and logarithmic above
STEP = 200.0 / 3
GROWTH = math.log(6.4) / 27


def hertz_to_mel(frequency: Any, kind: MelType) -> Array:
    """Frequencies on the mel scale.

    >>> hertz_to_mel([1000.0], MelType.SLANEY)
    array([15.])
    """
    f = np.asarray(frequency, float)
    if kind == MelType.HTK:
        return np.asarray(2595 * np.log10(1 + f / 700))
    return np.where(f >= BREAK, BREAK / STEP + np.log(np.maximum(f, BREAK) / BREAK) / GROWTH, f / STEP)


def mel_to_hertz(mel: Any, kind: MelType) -> Array:
    """Frequencies from the mel scale.

    >>> mel_to_hertz([15.0], MelType.SLANEY)
    array([1000.])
    """
    m = np.asarray(mel, float)
    if kind == MelType.HTK:
        return np.asarray(700 * (10 ** (m / 2595) - 1))
    return np.where(m >= BREAK / STEP, BREAK * np.exp(GROWTH * (m - BREAK / STEP)), m * STEP)


def triangles(frequencies: Array, corners: Array) -> Array:
    """Triangular filters (frequency, filter) that rise and fall between neighbouring corners.

    >>> triangles(np.array([0.5, 1.0]), np.array([0.0, 1.0, 2.0]))
    array([[0.5],
           [1. ]])
    """
    slopes = corners - frequencies[:, None]
    widths = np.diff(corners)
    rise, fall = -slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]
    return np.maximum(0, np.minimum(rise, fall))


@lru_cache(maxsize=64)
def _mel_bank(n_freqs: int, f_min: float, f_max: float, n_mels: int, rate: int, norm: NormType, kind: MelType) -> Array:
    """The filters of `melscale_fbanks`, made once."""
    ends = hertz_to_mel([f_min, f_max], kind)
    corners = mel_to_hertz(np.linspace(ends[0], ends[1], n_mels + 2), kind)
    bank = triangles(np.linspace(0, rate // 2, n_freqs), corners)
    if norm == NormType.SLANEY:
        bank = bank * (2 / (corners[2:] - corners[:-2]))
    return bank.astype(np.float32)


def check_range(owner: str, f_min: Any, f_max: Any) -> None:
    """Raise unless the band is not empty."""
    number(owner, "f_min", f_min, 0)
    if number(owner, "f_max", f_max, 0) <= f_min:
        raise ArgumentError("f_max must lie above f_min", given={"f_min": f_min, "f_max": f_max})


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> Array:
    """Filters (frequency, mel) with corners evenly spaced on the mel scale.

    >>> melscale_fbanks(20, 0.0, 4000.0, 6, 8000).shape
    (20, 6)
    """
    whole("melscale_fbanks", "n_freqs", n_freqs, 1)
    check_range("melscale_fbanks", f_min, f_max)
    whole("melscale_fbanks", "n_mels", n_mels, 1)
    whole("melscale_fbanks", "sample_rate", sample_rate, 1)
    member("melscale_fbanks", "norm", norm, NormType)
    member("melscale_fbanks", "mel_type", mel_type, MelType)
    return _mel_bank(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type).copy()


def linear_fbanks(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> Array:
    """Filters (frequency, filter) with corners evenly spaced in Hz.

    >>> linear_fbanks(20, 0.0, 4000.0, 6, 8000).shape
    (20, 6)
    """
    whole("linear_fbanks", "n_freqs", n_freqs, 1)
    check_range("linear_fbanks", f_min, f_max)
    whole("linear_fbanks", "n_filter", n_filter, 1)
    whole("linear_fbanks", "sample_rate", sample_rate, 1)
    corners = np.linspace(f_min, f_max, n_filter + 2)
    return triangles(np.linspace(0, sample_rate // 2, n_freqs), corners).astype(np.float32)


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> Array:
    """The cosine transform (mel, coefficient) of type II.

    >>> create_dct(2, 3, NormMode.ORTHO).shape
    (3, 2)
    """
    whole("create_dct", "n_mfcc", n_mfcc, 1)
    whole("create_dct", "n_mels", n_mels, 1)
    member("create_dct", "norm", norm, NormMode)
    place, order = np.arange(n_mels)[:, None], np.arange(n_mfcc)
    basis = np.cos(math.pi / n_mels * (place + 0.5) * order)
    if norm == NormMode.NONE:
        return np.asarray(2 * basis, np.float32)
    basis[:, 0] *= 1 / math.sqrt(2)
    return np.asarray(basis * math.sqrt(2 / n_mels), np.float32)


def through(bank: Array, spec: Array) -> Array:
    """A spectrogram (..., frequency, time) through filters (frequency, filter)."""
    if spec.shape[-2] != len(bank):
        raise ShapeError(
            "the spectrogram and the filters differ in frequencies",
            given={"spectrogram": spec.shape, "frequencies": len(bank)},
        )
    return np.asarray(bank.T.astype(np.float64) @ spec)


@frozen
class MelScale(AudioOperation):
    """A spectrogram (..., frequency, time) on the mel scale.

    >>> MelScale(4, 8000, n_stft=11)(np.ones((11, 3))).shape
    (4, 3)
    """

    axes = 2

    n_mels: int = 128
    sample_rate: int = 16000
    f_min: float = 0.0
    f_max: float | None = None
    n_stft: int = 201
    norm: NormType = NormType.NONE
    mel_type: MelType = MelType.HTK

    def __post_init__(self) -> None:
        whole(self, "sample_rate", self.sample_rate, 1)
        self.bank()

    def bank(self) -> Array:
        """The filters."""
        return melscale_fbanks(
            self.n_stft, self.f_min, self.highest(), self.n_mels, self.sample_rate, self.norm, self.mel_type
        )

    def highest(self) -> float:
        """The upper end of the band; half the sampling rate unless given."""
        return float(self.sample_rate // 2) if self.f_max is None else self.f_max

    def apply(self, spec: Array) -> Array:
        """One product."""
        return through(self.bank(), spec)


@frozen
class InverseMelScale(AudioOperation):
    """A spectrogram with `n_stft` frequencies that has the given mel spectrogram, by gradient descent.

    `sgdargs` are its learning rate and momentum, by default {"sgd_lr": 0.1, "sgd_momentum": 0.9}.

    >>> InverseMelScale(5, 3, 8000, max_iter=2)(np.ones((3, 4))).shape
    (5, 4)
    """

    axes = 2

    n_stft: int
    n_mels: int = 128
    sample_rate: int = 16000
    f_min: float = 0.0
    f_max: float | None = None
    max_iter: int = 100000
    tolerance_loss: float = 1e-5
    tolerance_change: float = 1e-8
    sgdargs: Mapping[str, float] | None = None
    norm: NormType = NormType.NONE
    mel_type: MelType = MelType.HTK

    def __post_init__(self) -> None:
        self.scale()
        whole(self, "max_iter", self.max_iter, 1)
        number(self, "tolerance_loss", self.tolerance_loss, 0)
        number(self, "tolerance_change", self.tolerance_change, 0)
        self.descent()

    def scale(self) -> MelScale:
        """The scale that is inverted."""
        return MelScale(self.n_mels, self.sample_rate, self.f_min, self.f_max, self.n_stft, self.norm, self.mel_type)

    def descent(self) -> tuple[float, float]:
        """Learning rate and momentum."""
        given = dict(self.sgdargs or {})
        rate = number(self, "sgd_lr", given.pop("sgd_lr", 0.1), above=0)
        momentum = number(self, "sgd_momentum", given.pop("sgd_momentum", 0.9), 0, 1)
        if given:
            raise ArgumentError("sgdargs has unknown entries", given=given, hint="sgd_lr and sgd_momentum")
        return rate, momentum

    def apply(self, mel: Array) -> Array:
        """Starts at random, stays positive, ends when the loss is small or no longer falls."""
        bank = self.scale().bank().astype(np.float64)
        if mel.shape[-2] != bank.shape[1]:
            raise ShapeError("another number of mels is given", given={"mel": mel.shape, "n_mels": self.n_mels})
        rate, momentum = self.descent()
        target = np.swapaxes(mel, -1, -2)  # (..., time, mel)
        spec = random.current().random((*target.shape[:-1], self.n_stft))
        speed, before = np.zeros_like(spec), math.inf
        frames = max(int(np.prod(target.shape[:-2])), 1) * target.shape[-2]
        for _ in range(self.max_iter):
            difference = target - spec @ bank
            loss = float((difference**2).sum() / frames)
            speed = momentum * speed - 2 / frames * difference @ bank.T
            spec = np.maximum(spec - rate * speed, 0)
            if loss < self.tolerance_loss or abs(before - loss) < self.tolerance_change:
                break
            before = loss
        return np.swapaxes(spec, -1, -2)


@frozen
class MelSpectrogram(AudioOperation):
    """The spectrogram of a wave on the mel scale.

    >>> MelSpectrogram(8000, 32, n_mels=4)(np.zeros(64)).shape
    (4, 5)
    """

    sample_rate: int = 16000
    n_fft: int = 400
    win_length: int | None = None
    hop_length: int | None = None
    f_min: float = 0.0
    f_max: float | None = None
    pad: int = 0
    n_mels: int = 128
    window: WindowType = WindowType.HANN
    power: float = 2.0
    normalized: bool = False
    center: bool = True
    pad_mode: BorderType = BorderType.REFLECT
    onesided: bool = True
    norm: NormType = NormType.NONE
    mel_scale: MelType = MelType.HTK

    def __post_init__(self) -> None:
        number(self, "power", self.power, above=0)
        member(self, "mel_scale", self.mel_scale, MelType)
        self.parts()

    def parts(self) -> tuple[Spectrogram, MelScale]:
        """The spectrogram, and the scale."""
        spectrogram = Spectrogram(
            self.n_fft, self.win_length, self.hop_length, self.pad, self.window, self.power, self.normalized,
            self.center, self.pad_mode, self.onesided,
        )  # fmt: skip
        bins = self.n_fft // 2 + 1 if self.onesided else self.n_fft
        scale = MelScale(self.n_mels, self.sample_rate, self.f_min, self.f_max, bins, self.norm, self.mel_scale)
        return spectrogram, scale

    def apply(self, waveform: Array) -> Array:
        """One after the other."""
        spectrogram, scale = self.parts()
        return scale.apply(spectrogram.apply(waveform))


def check_cosine(owner: Any, dct_type: Any, norm: Any, kwargs: Any, name: str) -> None:
    """Raise unless coefficients can be made of these."""
    if whole(owner, "dct_type", dct_type) != 2:
        raise ArgumentError("dct_type must be 2", given={"dct_type": dct_type})
    member(owner, "norm", norm, NormMode)
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise DTypeError(f"{name} must be a dict", given={name: type(kwargs).__name__})


def cepstrum(energy: Array, cosines: Array, logarithm: bool) -> Array:
    """The cosine transform of energies (..., filter, time) in natural logarithms, or in decibels."""
    loudness = np.log(energy + 1e-6) if logarithm else to_decibels(energy, 10.0, 1.0, 1e-10, 80.0)
    return through(cosines, loudness)


@frozen
class MFCC(AudioOperation):
    """Mel-frequency cepstral coefficients of a wave; `melkwargs` are arguments of `MelSpectrogram`.

    >>> MFCC(8000, 4, melkwargs={"n_fft": 32, "n_mels": 8})(np.ones(64)).shape
    (4, 5)
    """

    sample_rate: int = 16000
    n_mfcc: int = 40
    dct_type: int = 2
    norm: NormMode = NormMode.ORTHO
    log_mels: bool = False
    melkwargs: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_cosine(self, self.dct_type, self.norm, self.melkwargs, "melkwargs")
        truth(self, "log_mels", self.log_mels)
        whole(self, "n_mfcc", self.n_mfcc, 1, self.mel().n_mels)

    def mel(self) -> MelSpectrogram:
        """The mel spectrogram that is transformed."""
        return MelSpectrogram(**({"sample_rate": self.sample_rate} | dict(self.melkwargs or {})))

    def apply(self, waveform: Array) -> Array:
        """Of decibels, or of natural logarithms."""
        mel = self.mel()
        return cepstrum(mel.apply(waveform), create_dct(self.n_mfcc, mel.n_mels, self.norm), self.log_mels)


@frozen
class LFCC(AudioOperation):
    """Linear-frequency cepstral coefficients of a wave; `speckwargs` are arguments of `Spectrogram`.

    >>> LFCC(8000, 8, 4, speckwargs={"n_fft": 32})(np.ones(64)).shape
    (4, 5)
    """

    sample_rate: int = 16000
    n_filter: int = 128
    n_lfcc: int = 40
    f_min: float = 0.0
    f_max: float | None = None
    dct_type: int = 2
    norm: NormMode = NormMode.ORTHO
    log_lf: bool = False
    speckwargs: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_cosine(self, self.dct_type, self.norm, self.speckwargs, "speckwargs")
        truth(self, "log_lf", self.log_lf)
        whole(self, "n_filter", self.n_filter, 1)
        whole(self, "n_lfcc", self.n_lfcc, 1, self.n_filter)
        self.spectrogram()

    def spectrogram(self) -> Spectrogram:
        """The spectrogram that is transformed."""
        return Spectrogram(**dict(self.speckwargs or {}))

    def apply(self, waveform: Array) -> Array:
        """Of decibels, or of natural logarithms."""
        highest = float(self.sample_rate // 2) if self.f_max is None else self.f_max
        spec = self.spectrogram().apply(waveform)
        bank = linear_fbanks(spec.shape[-2], self.f_min, highest, self.n_filter, self.sample_rate)
        return cepstrum(through(bank, spec), create_dct(self.n_lfcc, self.n_filter, self.norm), self.log_lf)
