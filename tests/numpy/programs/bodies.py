"""Bodies that attract each other, by the leapfrog method."""

import numpy as np


def pull(place, mass):
    apart = place[None, :, :] - place[:, None, :]
    square = (apart**2).sum(axis=2) + 1e-2
    inverse = square**-1.5
    np.fill_diagonal(inverse, 0.0)
    return np.einsum("ijk,ij,j->ik", apart, inverse, mass)


def energy(place, speed, mass):
    apart = np.linalg.norm(place[:, None] - place[None, :], axis=-1)
    rows, columns = np.triu_indices(len(mass), k=1)
    bound = (mass[rows] * mass[columns] / np.sqrt(apart[rows, columns] ** 2 + 1e-2)).sum()
    return 0.5 * (mass * (speed**2).sum(axis=1)).sum() - bound


def run(place, speed, mass, turns, step):
    path = np.empty((turns, *place.shape))
    force = pull(place, mass)
    for t in range(turns):
        speed = speed + 0.5 * step * force
        place = place + step * speed
        force = pull(place, mass)
        speed += 0.5 * step * force
        path[t] = place
    return path, energy(place, speed, mass)


def inputs(size):
    i = np.arange(size)
    place = np.stack([np.cos(i * 1.7) * (1 + i % 4), np.sin(i * 1.7) * (1 + i % 3), np.sin(i * 0.3)], axis=1)
    speed = 0.3 * np.stack([-np.sin(i * 1.7), np.cos(i * 1.7), np.zeros(size)], axis=1)
    return place, speed, 1.0 / (1 + i % 3), 5, 0.01
