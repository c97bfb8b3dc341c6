"""A noisy tone: its spectrogram, its loudest frequency, and the tone without the noise."""

import numpy as np


def run(signal, rate, frame):
    window = np.hanning(frame)
    starts = np.arange(0, len(signal) - frame + 1, frame // 2)
    frames = signal[starts[:, None] + np.arange(frame)[None, :]] * window
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    frequency = np.fft.rfftfreq(frame, 1 / rate)
    loudest = frequency[power.mean(axis=0).argmax()]
    spectrum = np.fft.fft(signal)
    away = np.abs(np.abs(np.fft.fftfreq(len(signal), 1 / rate)) - loudest)
    spectrum[away > rate / 50] = 0
    clean = np.real(np.fft.ifft(spectrum))
    return 10 * np.log10(power + 0.1), loudest, clean, np.convolve(signal, np.ones(5) / 5, mode="same")


def inputs(size):
    t = np.arange(size * 64)
    return np.sin(2 * np.pi * t * 0.05) + 0.5 * np.cos(t * t % 101), 1000.0, 64
