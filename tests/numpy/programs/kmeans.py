"""Lloyd's algorithm: points and the nearest of k centres."""

import numpy as np


def run(points, k, turns):
    centres = points[:k].copy()
    for _ in range(turns):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=-1)
        nearest = distance.argmin(axis=1)
        for j in range(k):
            mine = nearest == j
            if mine.any():
                centres[j] = points[mine].mean(axis=0)
    return centres, nearest, np.bincount(nearest, minlength=k)


def inputs(size):
    i = np.arange(size * 8)
    angle = 2.4 * (i % 5)
    x = 3 * np.cos(angle) + np.sin(i * 12.9898)
    y = 3 * np.sin(angle) + np.cos(i * 78.233)
    return np.stack([x, y], axis=1), 5, 4
