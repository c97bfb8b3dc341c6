"""Where speech begins: the detector of SoX, by the cepstral power of short spectra above an adaptive noise floor."""

from __future__ import annotations

import math

import numpy as np

from mycelia.checks import number, whole
from mycelia.dataset.audio.base import AudioOperation
from mycelia.dataset.audio.modes import WindowType
from mycelia.dataset.audio.stft import window
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen


@frozen
class Vad(AudioOperation):
    """The wave from the first speech on; silence and quiet noise before it are cut off.

    >>> Vad(8000)(np.zeros(4000)).shape
    (0,)
    """

    sample_rate: int
    trigger_level: float = 7.0
    trigger_time: float = 0.25
    search_time: float = 1.0
    allowed_gap: float = 0.25
    pre_trigger_time: float = 0.0
    boot_time: float = 0.35
    noise_up_time: float = 0.1
    noise_down_time: float = 0.01
    noise_reduction_amount: float = 1.35
    measure_freq: float = 20.0
    measure_duration: float | None = None
    measure_smooth_time: float = 0.4
    hp_filter_freq: float = 50.0
    lp_filter_freq: float = 6000.0
    hp_lifter_freq: float = 150.0
    lp_lifter_freq: float = 2000.0

    def __post_init__(self) -> None:
        whole(self, "sample_rate", self.sample_rate, 1)
        number(self, "trigger_level", self.trigger_level)
        for name in ("trigger_time", "search_time", "noise_up_time", "noise_down_time", "measure_freq",
                     "measure_smooth_time", "hp_filter_freq", "lp_filter_freq", "hp_lifter_freq",
                     "lp_lifter_freq"):  # fmt: skip
            number(self, name, getattr(self, name), above=0)
        for name in ("allowed_gap", "pre_trigger_time", "boot_time", "noise_reduction_amount"):
            number(self, name, getattr(self, name), 0)
        if self.measure_duration is not None:
            number(self, "measure_duration", self.measure_duration, 0)

    def apply(self, waveform: Array) -> Array:
        """Measure until speech is heard, then look back for its quiet beginning."""
        rows = waveform.reshape(-1, waveform.shape[-1])
        meter = Meter.of(self, len(rows))
        period = int(self.sample_rate / self.measure_freq + 0.5)
        count = math.ceil(self.search_time * self.measure_freq)
        gap = int(self.allowed_gap * self.measure_freq + 0.5)
        patience = math.exp(-1 / (self.trigger_time * self.measure_freq))
        boot, last_boot = 0, int(self.boot_time * self.measure_freq - 0.5)
        mean, history = np.zeros(len(rows)), np.zeros((len(rows), count))
        for step, position in enumerate(range(meter.length, rows.shape[1], period)):
            levels = meter.measure(rows[:, position - meter.length : position], boot)
            history[:, step % count] = levels
            mean = mean * patience + levels * (1 - patience)
            if (mean >= self.trigger_level).any():
                first = int(np.argmax(mean >= self.trigger_level))
                heard = max(self.look_back(h, step % count, gap) for h in history[first:])
                lead = int(self.pre_trigger_time * self.sample_rate + 0.5)
                start = position - lead - heard * period - meter.length
                return waveform[..., max(start, 0) :]
            boot = boot if boot < 0 else (-1 if boot == last_boot else boot + 1)
        return waveform[..., :0]

    def look_back(self, history: Array, newest: int, gap: int) -> int:
        """How many measures back speech began: loud ones with short gaps, and not beyond silence."""
        count = len(history)
        loud = silent = count
        for j in range(count):
            level = history[(newest - j) % count]
            if level >= self.trigger_level and j <= loud + gap:
                silent = loud = j
            elif level == 0 and loud >= silent:
                silent = j
        return min(count - 1, silent)


@frozen
class Meter:
    """Measures how much a stretch of sound is like speech; remembers smooth spectra and the noise in them."""

    settings: Vad
    length: int
    weights: Array
    lifter: Array
    band: slice
    quefrencies: slice
    spectrum: Array
    noise: Array

    @classmethod
    def of(cls, vad: Vad, rows: int) -> Meter:
        """A meter at rest."""
        rate = vad.sample_rate
        duration = vad.measure_duration or 2 / vad.measure_freq
        length = int(rate * duration + 0.5)
        size = 16
        while size < length:
            size *= 2
        start = max(int(vad.hp_filter_freq / rate * size + 0.5), 1)
        end = min(int(vad.lp_filter_freq / rate * size + 0.5), size // 2)
        low = math.ceil(rate * 0.5 / vad.lp_lifter_freq)
        high = min(math.floor(rate * 0.5 / vad.hp_lifter_freq), size // 4)
        if end <= start or high <= low:
            raise ArgumentError(
                "the filters of Vad leave nothing over",
                given={"frequencies": (start, end), "quefrencies": (low, high)},
                hint="hp frequencies must lie below lp frequencies, both within the sampling rate",
            )
        weights = window(WindowType.HANN, length) * 2 / math.sqrt(length)
        lifter = window(WindowType.HANN, end - start) * 2 / math.sqrt(end - start)
        memory = np.zeros((rows, size))
        return cls(vad, length, weights, lifter, slice(start, end), slice(low, high), memory, memory.copy())

    def measure(self, samples: Array, boot: int) -> Array:
        """The level of each row; while booting (`boot` >= 0) memories are plain averages."""
        vad, size = self.settings, self.spectrum.shape[1]
        found = np.abs(np.fft.rfft(samples * self.weights, size))[:, self.band]
        smooth = boot / (1 + boot) if boot >= 0 else math.exp(-1 / (vad.measure_smooth_time * vad.measure_freq))
        self.spectrum[:, self.band] = self.spectrum[:, self.band] * smooth + found * (1 - smooth)
        power = self.spectrum[:, self.band] ** 2
        up, down = (math.exp(-1 / (t * vad.measure_freq)) for t in (vad.noise_up_time, vad.noise_down_time))
        keep = np.zeros_like(power) if boot >= 0 else np.where(power > self.noise[:, self.band], up, down)
        self.noise[:, self.band] = self.noise[:, self.band] * keep + power * (1 - keep)
        clean = np.sqrt(np.maximum(0, power - vad.noise_reduction_amount * self.noise[:, self.band]))
        liftered = np.zeros((len(samples), size // 2))
        liftered[:, self.band] = clean * self.lifter
        cepstrum = np.abs(np.fft.rfft(liftered))[:, self.quefrencies] ** 2
        total = cepstrum.sum(1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(0, 21 + np.log(total / cepstrum.shape[1])))
