"""Another sampling rate, by a windowed sinc function."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from mycelia.checks import member, number, whole
from mycelia.dataset.audio.base import AudioOperation
from mycelia.dataset.audio.modes import ResampleMethod
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen

BETA = 14.769656459379492


@lru_cache(maxsize=32)
def kernels(old: int, new: int, reach: int, rolloff: float, method: ResampleMethod, beta: float) -> tuple[Array, int]:
    """Weights (new, taps) of the inputs around each of the `new` places of an output among `old` inputs, and the
    number of inputs before it that they begin with.
    """
    base = min(old, new) * rolloff / old
    width = math.ceil(reach / base)
    place = np.arange(new) * old % new / new  # from the input before
    t = np.clip((np.arange(-width, width + 2) - place[:, None]) * base, -reach, reach)
    if method == ResampleMethod.SINC_INTERPOLATION:
        weights = np.cos(t * math.pi / reach / 2) ** 2
    else:
        weights = np.i0(beta * np.sqrt(1 - (t / reach) ** 2)) / np.i0(beta)
    return np.sinc(t) * weights * base, width


def resample(
    waveform: Array,
    orig_freq: float,
    new_freq: float,
    method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
    reach: int = 6,
    rolloff: float = 0.99,
    beta: float = BETA,
) -> Array:
    """A wave (..., time) sampled at another rate.

    >>> resample(np.ones(8), 2, 1).shape
    (4,)
    """
    if orig_freq == new_freq:
        return waveform
    common = math.gcd(int(orig_freq), int(new_freq))
    old, new = int(orig_freq) // common, int(new_freq) // common
    weights, width = kernels(old, new, reach, rolloff, method, beta)
    outputs = np.arange(math.ceil(new * waveform.shape[-1] / old))
    padded = np.pad(waveform, [(0, 0)] * (waveform.ndim - 1) + [(width, width + 2)])
    first = outputs * old // new
    phase = outputs % new
    taps = (padded[..., first + k] * weights[phase, k] for k in range(weights.shape[1]))
    return np.asarray(sum(taps))


@frozen
class Resample(AudioOperation):
    """The wave at another sampling rate.

    >>> Resample(16000, 8000)(np.zeros(10)).shape
    (5,)
    """

    orig_freq: float = 16000
    new_freq: float = 16000
    resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION
    lowpass_filter_width: int = 6
    rolloff: float = 0.99
    beta: float | None = None

    def __post_init__(self) -> None:
        for name in ("orig_freq", "new_freq"):
            if number(self, name, getattr(self, name), 1) % 1:
                raise ArgumentError(f"{name} must be a whole number of Hz", given={name: getattr(self, name)})
        member(self, "resample_method", self.resample_method, ResampleMethod)
        whole(self, "lowpass_filter_width", self.lowpass_filter_width, 1)
        number(self, "rolloff", self.rolloff, most=1, above=0)
        if self.beta is not None:
            number(self, "beta", self.beta)

    def apply(self, waveform: Array) -> Array:
        """Along time."""
        return resample(
            waveform,
            self.orig_freq,
            self.new_freq,
            self.resample_method,
            self.lowpass_filter_width,
            self.rolloff,
            BETA if self.beta is None else self.beta,
        )
