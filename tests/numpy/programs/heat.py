"""The temperature of a plate whose edge is held, by Jacobi's method."""

import numpy as np


def run(plate, turns):
    plate = plate.copy()
    changes = []
    for _ in range(turns):
        old = plate.copy()
        plate[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        changes.append(np.abs(plate - old).max())
    return plate, np.array(changes), np.gradient(plate)[0]


def inputs(size):
    plate = np.zeros((size, size))
    plate[0, :] = 100.0
    plate[:, -1] = np.linspace(100, 0, size)
    return plate, 50
