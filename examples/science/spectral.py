"""A partial differential equation by Fourier transforms: waves on water (Korteweg and de Vries), compiled.

Two lone waves meet, and leave each other as they were. `--quick` makes less of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

import mycelia as ms
from mycelia import Tensor
from mycelia.numpy import fft


def wave(x: np.ndarray, speed: float, place: float) -> np.ndarray:
    """A lone wave: the faster, the higher."""
    return speed / 2 / np.cosh(np.sqrt(speed) / 2 * (x - place)) ** 2


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="two waves that meet")
    parser.add_argument("--quick", action="store_true", help="few points and steps, to see that it runs")
    quick = parser.parse_args(arguments).quick
    count, steps, h = (32, 4, 1e-3) if quick else (256, 4000, 1e-3)
    x = np.linspace(-20, 20, count, endpoint=False)
    k = 2 * np.pi * np.fft.rfftfreq(count, 40 / count)
    whole, half = (Tensor(np.exp(1j * k**3 * t)) for t in (h, h / 2))
    slope = Tensor(-3j * k)

    def bend(v: Tensor) -> Tensor:
        return slope * fft.rfft(fft.irfft(v, count) ** 2)

    @ms.jit
    def step(v: Tensor) -> Tensor:
        """Runge and Kutta's, in coordinates in which what is linear stands still."""
        a = bend(v)
        b = bend(half * (v + (h / 2) * a))
        c = bend(half * v + (h / 2) * b)
        d = bend(whole * v + h * half * c)
        return whole * v + (h / 6) * (whole * a + 2.0 * half * (b + c) + d)

    start = wave(x, 12.0, -12.0) + wave(x, 4.0, -4.0)
    v = fft.rfft(Tensor(start))
    for _ in range(steps):
        v = step(v)
    now = fft.irfft(v, count).asnumpy()
    print(f"highest {start.max():.3f} -> {now.max():.3f}, sum {start.sum():.6f} -> {now.sum():.6f}")


if __name__ == "__main__":
    main()
