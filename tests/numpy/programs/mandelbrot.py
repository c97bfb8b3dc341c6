"""How long points of the plane stay near zero under z * z + c."""

import numpy as np


def run(c, turns):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int32)
    alive = np.ones(c.shape, dtype=bool)
    for _ in range(turns):
        z[alive] = z[alive] ** 2 + c[alive]
        alive &= np.abs(z) <= 2.0
        count += alive
    return count, np.histogram(count, bins=5, range=(0, turns))[0]


def inputs(size):
    x = np.linspace(-2.0, 0.6, size)
    y = np.linspace(-1.2, 1.2, size)
    return x[None, :] + 1j * y[:, None], 40
