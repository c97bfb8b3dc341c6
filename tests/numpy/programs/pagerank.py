"""Which pages matter, by powers of the matrix of links."""

import numpy as np


def run(links, damping, turns):
    n = links.shape[0]
    out = links.sum(axis=0)
    dangling = out == 0
    matrix = np.where(dangling[None, :], 1.0 / n, links / np.where(dangling, 1, out)[None, :])
    rank = np.full(n, 1.0 / n)
    for turn in range(turns):  # noqa: B007  # it is asked for below
        new = damping * (matrix @ rank) + (1 - damping) / n
        if np.abs(new - rank).sum() < 1e-5:
            break
        rank = new
    order = np.argsort(-rank, kind="stable")[:5]
    return rank, order, turn


def inputs(size):
    y, x = np.mgrid[0:size, 0:size]
    links = (np.sin(x * 1.7 + y * y * 0.31 + x * y) > 0.6).astype(np.float64)
    links[:, ::9] = 0
    return links, 0.85, 100
