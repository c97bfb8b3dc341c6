"""Effects: volume, fading, distortion, quantisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycelia.checks import member, number, truth, whole
from mycelia.dataset import random
from mycelia.dataset.audio.base import AudioOperation, numbers
from mycelia.dataset.audio.filtering import clamp, lfilter
from mycelia.dataset.audio.modes import DensityFunction, FadeShape, GainType
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen


@frozen
class Contrast(AudioOperation):
    """Louder to the ear, as compression is.

    >>> Contrast()(np.array([0.0, 1.0]))
    array([0., 1.])
    """

    enhancement_amount: float = 75.0

    def __post_init__(self) -> None:
        number(self, "enhancement_amount", self.enhancement_amount, 0, 100)

    def apply(self, waveform: Array) -> Array:
        """sin(x + c sin 4x)."""
        angle = waveform * math.pi / 2
        return np.asarray(np.sin(angle + self.enhancement_amount / 750 * np.sin(4 * angle)))


@frozen
class DCShift(AudioOperation):
    """The whole wave moved up or down; peaks are squeezed by `limiter_gain` rather than cut.

    >>> DCShift(0.5, 0.02)(np.array([0.0, 0.6]))
    array([0.5 , 0.52])
    """

    shift: float
    limiter_gain: float | None = None

    def __post_init__(self) -> None:
        number(self, "shift", self.shift, -2, 2)
        if self.limiter_gain is not None:
            number(self, "limiter_gain", self.limiter_gain)

    def apply(self, waveform: Array) -> Array:
        """Without a limiter gain it is the shift itself."""
        gain = abs(self.shift) if self.limiter_gain is None else self.limiter_gain
        threshold = 1 - (abs(self.shift) - gain)
        sign = math.copysign(1.0, self.shift)
        peak = waveform * sign > threshold
        squeezed = (waveform * sign - threshold) * gain / (1 - threshold) if threshold != 1 else waveform * sign
        limited = sign * np.minimum(squeezed + threshold + abs(self.shift), threshold)
        return np.where(peak & (self.shift != 0), limited, clamp(waveform + self.shift))


@frozen
class Gain(AudioOperation):
    """Amplification in dB.

    >>> Gain(20.0)(np.array([0.5]))
    array([5.])
    """

    gain_db: float = 1.0

    def __post_init__(self) -> None:
        number(self, "gain_db", self.gain_db)

    def apply(self, waveform: Array) -> Array:
        """A factor of 10^(dB / 20)."""
        return waveform * 10 ** (self.gain_db / 20)


@frozen
class Vol(AudioOperation):
    """Amplification given as amplitude, power or dB; the answer is held within [-1, 1].

    >>> Vol(0.5)(np.array([0.5]))
    array([0.25])
    """

    gain: float
    gain_type: GainType = GainType.AMPLITUDE

    def __post_init__(self) -> None:
        member(self, "gain_type", self.gain_type, GainType)
        number(self, "gain", self.gain, -math.inf if self.gain_type == GainType.DB else 0)
        if self.gain_type == GainType.POWER and self.gain == 0:
            raise ArgumentError("a gain in power must be above 0", given={"gain": self.gain})

    def apply(self, waveform: Array) -> Array:
        """One factor."""
        match self.gain_type:
            case GainType.AMPLITUDE:
                factor = self.gain
            case GainType.POWER:
                factor = math.sqrt(self.gain)
            case _:
                factor = 10 ** (self.gain / 20)
        return clamp(waveform * factor)


def curve(shape: FadeShape, x: Array) -> Array:
    """How loud at x, from 0 (silent) to 1.

    >>> curve(FadeShape.LINEAR, np.array([0.0, 0.5]))
    array([0. , 0.5])
    """
    match shape:
        case FadeShape.QUARTER_SINE:
            y = np.sin(x * math.pi / 2)
        case FadeShape.HALF_SINE:
            y = np.sin(x * math.pi - math.pi / 2) / 2 + 0.5
        case FadeShape.LOGARITHMIC:
            y = np.log10(0.1 + x) + 1
        case FadeShape.EXPONENTIAL:
            y = 2 ** (x - 1) * x
        case _:
            y = x
    return np.clip(y, 0, 1)


@frozen
class Fade(AudioOperation):
    """A rise at the beginning and a fall at the end.

    >>> Fade(2, 2)(np.ones(4))
    array([0., 1., 1., 0.])
    """

    fade_in_len: int = 0
    fade_out_len: int = 0
    fade_shape: FadeShape = FadeShape.LINEAR

    def __post_init__(self) -> None:
        whole(self, "fade_in_len", self.fade_in_len, 0)
        whole(self, "fade_out_len", self.fade_out_len, 0)
        member(self, "fade_shape", self.fade_shape, FadeShape)

    def apply(self, waveform: Array) -> Array:
        """The rise follows its curve from silence; the fall follows it down from full loudness."""
        time = waveform.shape[-1]
        if max(self.fade_in_len, self.fade_out_len) > time:
            raise ShapeError("the fade is longer than the wave", given={"fade": self, "time": time})
        rise = curve(self.fade_shape, np.linspace(0, 1, self.fade_in_len))
        fall = curve(self.fade_shape, 1 - np.linspace(0, 1, self.fade_out_len))
        loudness = np.ones(time)
        loudness[: len(rise)] *= rise
        loudness[time - len(fall) :] *= fall
        return waveform * loudness


@frozen
class Overdrive(AudioOperation):
    """Distortion by a soft clip; `color` is its share of even harmonics.

    >>> Overdrive()(np.zeros(2)).round(3)
    array([0.075, 0.074])
    """

    gain: float = 20.0
    color: float = 20.0

    def __post_init__(self) -> None:
        number(self, "gain", self.gain, 0, 100)
        number(self, "color", self.color, 0, 100)

    def apply(self, waveform: Array) -> Array:
        """Clip, take the constant part out, and mix with the clean wave."""
        hot = waveform * 10 ** (self.gain / 20) + self.color / 200
        soft = np.where(np.abs(hot) > 1, np.sign(hot) * 2 / 3, hot - hot**3 / 3)
        return clamp(waveform * 0.5 + lfilter([1.0, -1.0], [1.0, -0.995], soft) * 0.75)


@frozen
class MuLawEncoding(AudioOperation):
    """A wave in [-1, 1] as whole numbers below `quantization_channels`, finer near zero.

    >>> MuLawEncoding()(np.array([-1.0, 0.0, 1.0]))
    array([  0, 128, 255], dtype=int32)
    """

    quantization_channels: int = 256

    def __post_init__(self) -> None:
        whole(self, "quantization_channels", self.quantization_channels, 1)

    def one(self, column: Any) -> Array:
        """The answer is int32."""
        waveform = numbers(column, "MuLawEncoding").astype(np.float64)
        mu = self.quantization_channels - 1
        pressed = np.sign(waveform) * np.log1p(mu * np.abs(waveform)) / np.log1p(mu)
        return np.asarray((pressed + 1) / 2 * mu + 0.5).astype(np.int32)


@frozen
class MuLawDecoding(AudioOperation):
    """The wave of whole numbers made by `MuLawEncoding`.

    >>> MuLawDecoding()(np.array([0, 255]))
    array([-1.,  1.], dtype=float32)
    """

    quantization_channels: int = 256

    def __post_init__(self) -> None:
        whole(self, "quantization_channels", self.quantization_channels, 1)

    def apply(self, codes: Array) -> Array:
        """The inverse of the logarithm."""
        mu = self.quantization_channels - 1
        pressed = codes / mu * 2 - 1
        return np.asarray(np.sign(pressed) * np.expm1(np.abs(pressed) * np.log1p(mu)) / mu)


@frozen
class Dither(AudioOperation):
    """Noise of one quantisation step, and rounding to 16 bits; `noise_shaping` moves its energy to high frequencies.

    >>> Dither()(np.zeros(3)).shape
    (3,)
    """

    density_function: DensityFunction = DensityFunction.TPDF
    noise_shaping: bool = False

    def __post_init__(self) -> None:
        member(self, "density_function", self.density_function, DensityFunction)
        truth(self, "noise_shaping", self.noise_shaping)

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Rectangular: one shift for all; Gaussian: the sum of seven uniform ones; triangular: rising and falling."""
        if self.density_function == DensityFunction.RPDF:
            return np.full(shape, rng.random() - 0.5)
        if self.density_function == DensityFunction.GPDF:
            return np.full(shape, rng.uniform(-0.5, 0.5, 7).sum())
        return np.broadcast_to(np.bartlett(shape[-1] + 1)[: shape[-1]], shape)

    def apply(self, waveform: Array) -> Array:
        """Steps are 2^-15 wide, and room is left for the noise."""
        rows = waveform.reshape(-1, waveform.shape[-1])
        noisy = rows * (2**15 - 2) + self.noise(random.current(), rows.shape)
        rounded: Array = np.rint(noisy) / 2**15
        if self.noise_shaping:
            error = rounded - rows
            rounded = rounded + np.pad(error, [(0, 0), (1, 0)])[:, :-1]
        return rounded.reshape(waveform.shape)
