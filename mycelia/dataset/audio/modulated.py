"""Effects with a modulated delay: phaser and flanger."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mycelia.dataset.audio.base import AudioOperation
from mycelia.dataset.audio.filtering import clamp
from mycelia.dataset.audio.modes import Interpolation, Modulation
from mycelia.dataset.transforms.base import Array
from mycelia.dataset.transforms.validators import flag, integer, member, number


def wave_table(modulation: Modulation, size: int, low: float, high: float, phase: float) -> Array:
    """One period of a wave between two values, starting at a phase.

    >>> wave_table(Modulation.SINUSOIDAL, 4, 0.0, 2.0, 0.0)
    array([1., 2., 1., 0.])
    """
    point = (np.arange(size) + int(phase / math.pi / 2 * size + 0.5)) % size
    if modulation == Modulation.SINUSOIDAL:
        wave = (np.sin(point / size * 2 * math.pi) + 1) / 2
    else:
        ramp, quarter = point * 2 / size, 4 * point // size
        wave = np.select([quarter == 0, quarter == 3], [ramp + 0.5, ramp - 1.5], 1.5 - ramp)
    return np.asarray(wave * (high - low) + low)


@dataclass(frozen=True)
class Phaser(AudioOperation):
    """Mixes the wave with a copy whose delay swings.

    >>> Phaser(44100)(np.zeros(3))
    array([0., 0., 0.])
    """

    sample_rate: int
    gain_in: float = 0.4
    gain_out: float = 0.74
    delay_ms: float = 3.0
    decay: float = 0.4
    mod_speed: float = 0.5
    sinusoidal: bool = True

    def __post_init__(self) -> None:
        integer("sample_rate", self.sample_rate, 1)
        number("gain_in", self.gain_in, 0, 1)
        number("gain_out", self.gain_out, 0, 1e9)
        number("delay_ms", self.delay_ms, 0, 5)
        number("decay", self.decay, 0, 0.99)
        number("mod_speed", self.mod_speed, 0.1, 2)
        flag("sinusoidal", self.sinusoidal)

    def apply(self, waveform: Array) -> Array:
        """A ring of delayed samples, read where the modulation points."""
        rows = waveform.reshape(-1, waveform.shape[-1])
        length = int(self.delay_ms * 0.001 * self.sample_rate + 0.5)
        period = int(self.sample_rate / self.mod_speed + 0.5)
        kind = Modulation.SINUSOIDAL if self.sinusoidal else Modulation.TRIANGULAR
        swing = (wave_table(kind, period, 1.0, length, math.pi / 2) + 0.5).astype(int)
        ring, out = np.zeros((length, len(rows))), np.empty_like(rows.T)
        for i, sample in enumerate(rows.T * self.gain_in):
            out[i] = sample + ring[(i + swing[i % period]) % length]
            ring[(i + 1) % length] = out[i] * self.decay
        return clamp(out.T.reshape(waveform.shape) * self.gain_out)


@dataclass(frozen=True)
class Flanger(AudioOperation):
    """Mixes the wave (..., channel, time) with a fed-back copy whose delay swings, out of phase between channels.

    >>> Flanger(44100)(np.zeros((2, 3)))
    array([[0., 0., 0.],
           [0., 0., 0.]])
    """

    axes = 2

    sample_rate: int
    delay: float = 0.0
    depth: float = 2.0
    regen: float = 0.0
    width: float = 71.0
    speed: float = 0.5
    phase: float = 25.0
    modulation: Modulation = Modulation.SINUSOIDAL
    interpolation: Interpolation = Interpolation.LINEAR

    def __post_init__(self) -> None:
        integer("sample_rate", self.sample_rate, 1)
        limits = {"delay": (0, 30), "depth": (0, 10), "regen": (-95, 95), "width": (0, 100), "speed": (0.1, 10)}
        for name, (low, high) in limits.items():
            number(name, getattr(self, name), low, high)
        number("phase", self.phase, 0, 100)
        member("modulation", self.modulation, Modulation)
        member("interpolation", self.interpolation, Interpolation)

    def apply(self, waveform: Array) -> Array:
        """A ring of samples for each channel, read between samples where the modulation points."""
        batch = waveform.reshape(-1, *waveform.shape[-2:])  # (batch, channel, time)
        channels = batch.shape[1]
        feedback, wet = self.regen / 100, self.width / 100
        dry, wet = 1 / (1 + wet), wet / (1 + wet) * (1 - abs(feedback))
        length = int((self.delay + self.depth) / 1000 * self.sample_rate + 0.5) + 2
        period = int(self.sample_rate / self.speed)
        start = math.floor(self.delay / 1000 * self.sample_rate + 0.5)
        swing = wave_table(self.modulation, period, start, length - 2, 3 * math.pi / 2)
        offset = (np.arange(channels) * period * self.phase / 100 + 0.5).astype(int)
        each = np.arange(channels)
        ring = np.zeros((len(batch), channels, length))
        last, out = np.zeros(batch.shape[:2]), np.empty_like(batch)
        for i in range(batch.shape[2]):
            place = -(i + 1) % length
            delay = swing[(i + offset) % period]
            whole = delay.astype(int)
            part = delay - whole
            ring[:, :, place] = batch[:, :, i] + last * feedback
            first, second, third = (ring[:, each, (place + whole + k) % length] for k in range(3))
            if self.interpolation == Interpolation.LINEAR:
                last = first + (second - first) * part
            else:
                up, far = second - first, third - first
                last = first + ((far / 2 - up) * part + (2 * up - far / 2)) * part
            out[:, :, i] = batch[:, :, i] * dry + last * wet
        return clamp(out.reshape(waveform.shape))
