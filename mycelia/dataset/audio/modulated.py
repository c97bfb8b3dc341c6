"""Effects with a modulated delay: phaser and flanger."""

from __future__ import annotations

import math

import numpy as np

from mycelia.checks import member, number, truth, whole
from mycelia.dataset.audio.base import AudioOperation
from mycelia.dataset.audio.filtering import clamp
from mycelia.dataset.audio.modes import Interpolation, Modulation
from mycelia.dataset.transforms.base import Array
from mycelia.frozen import frozen


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


@frozen
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
        whole(self, "sample_rate", self.sample_rate, 1)
        number(self, "gain_in", self.gain_in, 0, 1)
        number(self, "gain_out", self.gain_out, 0, 1e9)
        number(self, "delay_ms", self.delay_ms, 0, 5)
        number(self, "decay", self.decay, 0, 0.99)
        number(self, "mod_speed", self.mod_speed, 0.1, 2)
        truth(self, "sinusoidal", self.sinusoidal)

    def apply(self, waveform: Array) -> Array:
        """Each sample adds what was put out a swinging delay ago; before the beginning there is silence."""
        length = max(int(self.delay_ms * 0.001 * self.sample_rate + 0.5), 1)
        period = int(self.sample_rate / self.mod_speed + 0.5)
        kind = Modulation.SINUSOIDAL if self.sinusoidal else Modulation.TRIANGULAR
        swing = (wave_table(kind, period, 1.0, length, math.pi / 2) + 0.5).astype(int)
        time = np.arange(waveform.shape[-1])
        origin = (time + swing[time % period] - 1).tolist()  # within a line of silence as long as the delay, then out
        rows = waveform.reshape(-1, waveform.shape[-1]) * self.gain_in
        out = np.array([_echo(row.tolist(), origin, length, self.decay) for row in rows])
        return clamp(out.reshape(waveform.shape) * self.gain_out)


def _echo(samples: list[float], origin: list[int], silence: int, decay: float) -> list[float]:
    """Samples plus a decayed earlier output each; a recurrence, so one after another in plain Python numbers."""
    line = [0.0] * silence
    for sample, place in zip(samples, origin, strict=True):
        line.append(sample + decay * line[place])
    return line[silence:]


@frozen
class Flanger(AudioOperation):
    """Mixes the wave (..., channel, time) with a fed-back copy whose delay swings, out of phase between channels.

    >>> Flanger(44100)(np.zeros((2, 3)))
    array([[0., 0., 0.],
           [0., 0., 0.]])
    """

    axes = 2
    keeps_half = True

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
        whole(self, "sample_rate", self.sample_rate, 1)
        limits = {"delay": (0, 30), "depth": (0, 10), "regen": (-95, 95), "width": (0, 100), "speed": (0.1, 10)}
        for name, (low, high) in limits.items():
            number(self, name, getattr(self, name), low, high)
        number(self, "phase", self.phase, 0, 100)
        member(self, "modulation", self.modulation, Modulation)
        member(self, "interpolation", self.interpolation, Interpolation)

    def apply(self, waveform: Array) -> Array:
        """Dry and delayed wave, mixed."""
        batch = waveform.reshape(-1, *waveform.shape[-2:])  # (batch, channel, time)
        channels = batch.shape[1]
        feedback, wet = self.regen / 100, self.width / 100
        dry, wet = 1 / (1 + wet), wet / (1 + wet) * (1 - abs(feedback))
        length = int((self.delay + self.depth) / 1000 * self.sample_rate + 0.5) + 2
        period = int(self.sample_rate / self.speed)
        start = math.floor(self.delay / 1000 * self.sample_rate + 0.5)
        swing = wave_table(self.modulation, period, start, length - 2, 3 * math.pi / 2)
        offset = (np.arange(channels) * period * self.phase / 100 + 0.5).astype(int)
        time = np.arange(batch.shape[2])
        delays = swing[(time + offset[:, None]) % period]  # (channel, time)
        delayed = np.stack([self.delayed(wave, delays, feedback, length) for wave in batch])
        return clamp((batch * dry + delayed * wet).reshape(waveform.shape))

    def delayed(self, wave: Array, delays: Array, feedback: float, length: int) -> Array:
        """The wave (channel, time) read at its delays, fed back into itself; without feedback all at once."""
        whole = delays.astype(int)
        part = delays - whole
        quadratic = self.interpolation == Interpolation.QUADRATIC
        weights = lagrange(part) if quadratic else np.stack([1 - part, part])
        place = np.arange(wave.shape[1]) - whole + length
        if not feedback:
            line = np.pad(wave, [(0, 0), (length, 0)])
            return np.asarray(sum(w * np.take_along_axis(line, place - k, 1) for k, w in enumerate(weights)))
        rows = zip(wave.tolist(), place.tolist(), weights.transpose(1, 2, 0).tolist(), strict=True)
        return np.array([_fed_back(*row, length, feedback) for row in rows])


def lagrange(part: Array) -> Array:
    """Weights of three neighbours for a parabola through them.

    >>> lagrange(np.array([0.5]))[:, 0]
    array([ 0.375,  0.75 , -0.125])
    """
    return np.stack([(part - 1) * (part - 2) / 2, part * (2 - part), part * (part - 1) / 2])


def _fed_back(
    samples: list[float], places: list[int], weights: list[list[float]], silence: int, feedback: float
) -> list[float]:
    """What is read from a line that receives each sample plus a part of what was read before it."""
    line, last, out = [0.0] * silence, 0.0, []
    for sample, place, weight in zip(samples, places, weights, strict=True):
        line.append(sample + last * feedback)
        last = sum(w * line[place - k] for k, w in enumerate(weight))
        out.append(last)
    return out
