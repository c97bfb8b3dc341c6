"""Principal components, and what is lost without the last of them."""

import numpy as np


def run(data, keep):
    middle = data.mean(axis=0, keepdims=True)
    centred = data - middle
    _, s, vt = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)])
    vt *= signs[:, None]
    scores = centred @ vt[:keep].T
    back = scores @ vt[:keep] + middle
    explained = s**2 / (s**2).sum()
    return scores, explained.cumsum(), np.sqrt(((back - data) ** 2).mean()), np.corrcoef(data, rowvar=False)


def inputs(size):
    i = np.arange(size * 4)[:, None]
    j = np.arange(12)[None, :]
    return np.sin(i * 0.37 + j) * (12 - j) + 0.1 * np.cos(i * j), 3
