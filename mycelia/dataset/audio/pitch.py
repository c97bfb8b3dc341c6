"""The pitch of a wave, by correlating it with itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mycelia.checks import number, whole
from mycelia.dataset.audio.base import AudioOperation
from mycelia.dataset.transforms.base import Array
from mycelia.frozen import frozen


@frozen
class DetectPitchFrequency(AudioOperation):
    """The pitch in Hz of each frame: the lag of the best normalised correlation, smoothed by a running median.

    >>> tone = np.sin(2 * np.pi * 200 * np.arange(4000) / 8000)
    >>> float(DetectPitchFrequency(8000, win_length=3)(tone).round()[5])
    200.0
    """

    sample_rate: int
    frame_time: float = 0.01
    win_length: int = 30
    freq_low: float = 85
    freq_high: float = 3400

    def __post_init__(self) -> None:
        whole(self, "sample_rate", self.sample_rate, 1)
        number(self, "frame_time", self.frame_time, above=0)
        whole(self, "win_length", self.win_length, 1)
        number(self, "freq_low", self.freq_low, above=0)
        number(self, "freq_high", self.freq_high, above=0)

    def one(self, column: Any) -> Any:
        """The answer is in single precision."""
        return np.asarray(super().one(column), np.float32)

    def correlations(self, waveform: Array) -> Array:
        """Normalised correlation (rows, frame, lag - 1) of each frame with what follows it after a lag."""
        lags = math.ceil(self.sample_rate / self.freq_low)
        size = math.ceil(self.sample_rate * self.frame_time)
        time = waveform.shape[1]
        frames = math.ceil(time / size)
        needed = lags + frames * size
        padded = np.pad(waveform, [(0, 0), (0, max(needed - time, 0))])
        here = padded[:, : frames * size].reshape(-1, frames, size)
        found = np.empty((len(padded), frames, lags))
        norm = np.sqrt((here**2).sum(-1))
        for lag in range(1, lags + 1):
            there = padded[:, lag : lag + frames * size].reshape(-1, frames, size)
            product = (here * there).sum(-1)
            found[..., lag - 1] = product / (1e-9 + norm) ** 2 / (1e-9 + np.sqrt((there**2).sum(-1))) ** 2
        return found

    def apply(self, waveform: Array) -> Array:
        """An earlier peak wins when it is nearly as high: it is the pitch, the later one its octave."""
        rows = waveform.reshape(-1, waveform.shape[-1])
        found = self.correlations(rows)
        least = math.ceil(self.sample_rate / self.freq_high)
        best = found[..., least:].argmax(-1)
        half = found.shape[-1] // 2
        early = found[..., least:half].argmax(-1)
        peak, early_peak = found[..., least:].max(-1), found[..., least:half].max(-1)
        lag = np.where(early_peak > 0.99 * peak, early, best) + least + 1
        smooth = self.median(lag)
        return (self.sample_rate / (1e-9 + smooth)).reshape(*waveform.shape[:-1], smooth.shape[1])

    def median(self, lags: Array) -> Array:
        """The running median, with the first value repeated before the beginning."""
        before = (self.win_length - 1) // 2
        padded = np.concatenate([np.repeat(lags[:, :1], before, 1), lags], 1)
        if padded.shape[1] < self.win_length:
            return np.empty((len(lags), 0))  # too short for any median
        windows = np.sort(np.lib.stride_tricks.sliding_window_view(padded, self.win_length, -1), -1)
        return np.asarray(windows[..., (self.win_length - 1) // 2])
