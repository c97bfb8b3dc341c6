"""The words in which audio transforms are told how."""

from __future__ import annotations

from enum import StrEnum


class BorderType(StrEnum):
    """What stands outside a signal: a constant, its edge, its mirror without the edge, its mirror with the edge."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(StrEnum):
    """The noise of `Dither`: triangular, rectangular or Gaussian."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(StrEnum):
    """The curve of `Fade`."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(StrEnum):
    """What the gain of `Vol` means."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(StrEnum):
    """How `Flanger` reads between samples."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(StrEnum):
    """The formula of the mel scale."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(StrEnum):
    """The wave of a modulated effect."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(StrEnum):
    """Whether a cosine transform is orthonormal."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(StrEnum):
    """Whether mel filters have equal area."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(StrEnum):
    """The window over the sinc function of `Resample`."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(StrEnum):
    """What a spectrogram holds."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(StrEnum):
    """The window over each frame."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"
