"""Filters with two poles, by the formulas of SoX (the audio EQ cookbook)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from mycelia.checks import number, sequence, truth, whole
from mycelia.dataset.audio.base import AudioOperation
from mycelia.dataset.audio.filtering import clamp, lfilter
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen

Coefficients = tuple[tuple[float, float, float], tuple[float, float, float]]


@frozen
class Pole:
    """A frequency on the unit circle with a bandwidth: what all formulas are made of."""

    cos: float
    alpha: float

    @classmethod
    def at(cls, sample_rate: int, frequency: float, quality: float) -> Pole:
        """The pole of a frequency in Hz and a quality factor."""
        angle = 2 * math.pi * frequency / sample_rate
        return cls(math.cos(angle), math.sin(angle) / 2 / quality)

    def denominator(self) -> tuple[float, float, float]:
        """The resonance itself."""
        return 1 + self.alpha, -2 * self.cos, 1 - self.alpha


def amplitude(gain: float) -> float:
    """The square root of the amplitude of a gain in dB, as shelves want it.

    >>> round(amplitude(40.0), 6)
    10.0
    """
    return math.exp(gain / 40 * math.log(10))


def shelf(pole: Pole, gain: float, side: int) -> Coefficients:
    """A shelf above the frequency (`side` = 1) or below it (-1)."""
    a = amplitude(gain)
    width = 2 * math.sqrt(a) * pole.alpha
    less, more = side * (a - 1) * pole.cos, side * (a + 1) * pole.cos
    b = (a * (a + 1 + less + width), -2 * side * a * (a - 1 + more), a * (a + 1 + less - width))
    return b, (a + 1 - less + width, 2 * side * (a - 1 - more), a + 1 - less - width)


def rate(owner: Any, name: str, value: Any) -> int:
    """A sampling rate that is not 0."""
    if whole(owner, name, value) == 0:
        raise ArgumentError(f"{name} must not be 0")
    return int(value)


CHECKS: dict[str, Callable[[Any, str, Any], Any]] = {
    "sample_rate": rate,
    "Q": lambda owner, name, value: number(owner, name, value, most=1, above=0),
    "noise": truth,
    "const_skirt_gain": truth,
}  # every other field of a filter is a number


@frozen
class BiquadOperation(AudioOperation):
    """A filter with two zeros and two poles; the answer is held within [-1, 1]."""

    keeps_half = True

    def __post_init__(self) -> None:
        for field in fields(self):
            check: Callable[[Any, str, Any], Any] = CHECKS.get(field.name, number)
            check(self, field.name, getattr(self, field.name))

    def coefficients(self) -> Coefficients:
        """Numerator and denominator."""
        raise AssertionError("every biquad says its coefficients")

    def apply(self, waveform: Array) -> Array:
        """Along time."""
        return clamp(lfilter(*self.coefficients(), waveform))


@frozen
class Biquad(BiquadOperation):
    """The filter with given coefficients.

    >>> Biquad(0.5, 0.0, 0.0, 1.0, 0.0, 0.0)(np.array([1.0, 0.5]))
    array([0.5 , 0.25])
    """

    b0: float
    b1: float
    b2: float
    a0: float
    a1: float
    a2: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a0 == 0:
            raise ArgumentError("a0 must not be 0")

    def coefficients(self) -> Coefficients:
        """As they are."""
        return (self.b0, self.b1, self.b2), (self.a0, self.a1, self.a2)


@frozen
class Centred(BiquadOperation):
    """A filter around a frequency."""

    sample_rate: int
    central_freq: float
    Q: float = 0.707

    def pole(self) -> Pole:
        """The resonance at the frequency."""
        return Pole.at(self.sample_rate, self.central_freq, self.Q)


@frozen
class Edge(BiquadOperation):
    """A filter that separates what lies below a frequency from what lies above."""

    sample_rate: int
    cutoff_freq: float
    Q: float = 0.707

    def zeros(self, side: int) -> Coefficients:
        """Two zeros at frequency zero (`side` = 1), or at the highest (-1), and the resonance at the edge."""
        pole = Pole.at(self.sample_rate, self.cutoff_freq, self.Q)
        half = (1 + side * pole.cos) / 2
        return (half, -2 * side * half, half), pole.denominator()


@frozen
class Shelf(BiquadOperation):
    """A filter that raises or lowers all on one side of a frequency."""

    sample_rate: int
    gain: float
    central_freq: float = 100.0
    Q: float = 0.707

    def raised(self, side: int) -> Coefficients:
        """The shelf above (`side` = 1) or below (-1)."""
        return shelf(Pole.at(self.sample_rate, self.central_freq, self.Q), self.gain, side)


@frozen
class AllpassBiquad(Centred):
    """Changes phases around a frequency and no amplitude.

    >>> AllpassBiquad(44100, 200.0)(np.zeros(2))
    array([0., 0.])
    """

    def coefficients(self) -> Coefficients:
        """Zeros mirror the poles."""
        a = self.pole().denominator()
        return (a[2], a[1], a[0]), a


@frozen
class BandBiquad(Centred):
    """Passes a band that falls off logarithmically; `noise` is for sounds without pitch.

    >>> BandBiquad(44100, 200.0)(np.zeros(2))
    array([0., 0.])
    """

    noise: bool = False

    def coefficients(self) -> Coefficients:
        """Two poles alone."""
        angle = 2 * math.pi * self.central_freq / self.sample_rate
        a2 = math.exp(-angle / self.Q)
        a1 = -4 * a2 / (1 + a2) * math.cos(angle)
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if self.noise:
            b0 *= math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2)) / b0
        return (b0, 0.0, 0.0), (1.0, a1, a2)


@frozen
class BandpassBiquad(Centred):
    """Passes a band (Butterworth).

    >>> BandpassBiquad(44100, 200.0)(np.zeros(2))
    array([0., 0.])
    """

    const_skirt_gain: bool = False

    def coefficients(self) -> Coefficients:
        """Zeros at both ends of the spectrum."""
        pole = self.pole()
        height = pole.alpha * self.Q if self.const_skirt_gain else pole.alpha
        return (height, 0.0, -height), pole.denominator()


@frozen
class BandrejectBiquad(Centred):
    """Rejects a band (Butterworth).

    >>> BandrejectBiquad(44100, 200.0)(np.zeros(2))
    array([0., 0.])
    """

    def coefficients(self) -> Coefficients:
        """Zeros at the frequency."""
        pole = self.pole()
        return (1.0, -2 * pole.cos, 1.0), pole.denominator()


@frozen
class BassBiquad(Shelf):
    """Raises or lowers all below a frequency by `gain` dB.

    >>> BassBiquad(44100, 5.0)(np.zeros(2))
    array([0., 0.])
    """

    def coefficients(self) -> Coefficients:
        """A low shelf."""
        return self.raised(-1)


@frozen
class TrebleBiquad(Shelf):
    """Raises or lowers all above a frequency by `gain` dB.

    >>> TrebleBiquad(44100, 5.0)(np.zeros(2))
    array([0., 0.])
    """

    central_freq: float = 3000

    def coefficients(self) -> Coefficients:
        """A high shelf."""
        return self.raised(1)


@frozen
class EqualizerBiquad(BiquadOperation):
    """Raises or lowers a band by `gain` dB.

    >>> EqualizerBiquad(44100, 1500.0, 5.5)(np.zeros(2))
    array([0., 0.])
    """

    sample_rate: int
    center_freq: float
    gain: float
    Q: float = 0.707

    def coefficients(self) -> Coefficients:
        """Zeros and poles at the same frequency, of different width."""
        pole = Pole.at(self.sample_rate, self.center_freq, self.Q)
        a = amplitude(self.gain)
        return Pole(pole.cos, pole.alpha * a).denominator(), Pole(pole.cos, pole.alpha / a).denominator()


@frozen
class HighpassBiquad(Edge):
    """Passes all above a frequency.

    >>> HighpassBiquad(44100, 1500.0)(np.zeros(2))
    array([0., 0.])
    """

    def coefficients(self) -> Coefficients:
        """Nothing at frequency zero."""
        return self.zeros(1)


@frozen
class LowpassBiquad(Edge):
    """Passes all below a frequency.

    >>> LowpassBiquad(44100, 1500.0)(np.zeros(2))
    array([0., 0.])
    """

    def coefficients(self) -> Coefficients:
        """Nothing at the highest frequency."""
        return self.zeros(-1)


@frozen
class DeemphBiquad(BiquadOperation):
    """Undoes the pre-emphasis of compact discs (IEC 60908).

    >>> DeemphBiquad(44100)(np.zeros(2))
    array([0., 0.])
    """

    sample_rate: int

    def __post_init__(self) -> None:
        if whole(self, "sample_rate", self.sample_rate) not in (44100, 48000):
            raise ArgumentError("sample_rate must be 44100 or 48000", given={"sample_rate": self.sample_rate})

    def coefficients(self) -> Coefficients:
        """A high shelf with a slope instead of a quality."""
        frequency, slope, gain = (5283, 0.4845, -9.477) if self.sample_rate == 44100 else (5356, 0.479, -9.62)
        angle, a = 2 * math.pi * frequency / self.sample_rate, amplitude(gain)
        alpha = math.sin(angle) / 2 * math.sqrt((a + 1 / a) * (1 / slope - 1) + 2)
        return shelf(Pole(math.cos(angle), alpha), gain, 1)


RIAA = {  # sample rate: zeros, poles
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}


@frozen
class RiaaBiquad(BiquadOperation):
    """The playback curve of vinyl records.

    >>> RiaaBiquad(44100)(np.zeros(2))
    array([0., 0.])
    """

    sample_rate: int

    def __post_init__(self) -> None:
        if whole(self, "sample_rate", self.sample_rate) not in RIAA:
            raise ArgumentError(f"sample_rate must be one of {list(RIAA)}", given={"sample_rate": self.sample_rate})

    def coefficients(self) -> Coefficients:
        """Normalised to leave 1 kHz as it is."""
        b, a = (np.poly(roots) for roots in RIAA[self.sample_rate])
        z = np.exp(2j * math.pi * 1000 / self.sample_rate)
        b = b * abs(np.polyval(a, z) / np.polyval(b, z))
        return tuple(b.tolist()), tuple(a.tolist())


@frozen
class LFilter(AudioOperation):
    """A filter with denominator `a_coeffs` and numerator `b_coeffs`, lowest delay first.

    >>> LFilter([1.0, -0.5], [1.0, 0.0])(np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """

    keeps_half = True

    a_coeffs: Any
    b_coeffs: Any
    clamp: bool = True

    def __post_init__(self) -> None:
        a, b = sequence(self, "a_coeffs", self.a_coeffs), sequence(self, "b_coeffs", self.b_coeffs)
        for coefficient in a + b:
            number(self, "coefficient", coefficient)
        if len(a) != len(b) or not a or a[0] == 0:
            raise ArgumentError(
                "a_coeffs and b_coeffs need the same length, and a_coeffs must not begin with 0",
                given={"a_coeffs": a, "b_coeffs": b},
            )
        truth(self, "clamp", self.clamp)

    def apply(self, waveform: Array) -> Array:
        """Along time."""
        out = lfilter(self.b_coeffs, self.a_coeffs, waveform)
        return clamp(out) if self.clamp else out


@frozen
class Filtfilt(LFilter):
    """A filter run forwards and then backwards, so that phases stay.

    >>> Filtfilt([1.0, 0.0], [0.5, 0.0])(np.array([1.0, 0.0]))
    array([0.25, 0.  ])
    """

    def apply(self, waveform: Array) -> Array:
        """The first pass is never held back."""
        ahead = lfilter(self.b_coeffs, self.a_coeffs, waveform)
        back = lfilter(self.b_coeffs, self.a_coeffs, ahead[..., ::-1])[..., ::-1]
        return clamp(back) if self.clamp else back
