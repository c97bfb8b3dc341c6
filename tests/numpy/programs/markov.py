"""A hidden Markov model: the likelihood of what was seen, and the likeliest path (Viterbi)."""

import numpy as np


def run(start, move, show, seen):
    alpha = start * show[:, seen[0]]
    total = 0.0
    for o in seen[1:]:
        alpha = (alpha @ move) * show[:, o]
        norm = alpha.sum()
        total += np.log(norm)
        alpha /= norm
    best = np.log(start) + np.log(show[:, seen[0]])
    back = np.zeros((len(seen), len(start)), dtype=int)
    for t in range(1, len(seen)):
        options = best[:, None] + np.log(move)
        back[t] = np.argmax(options, axis=0)
        best = np.max(options, axis=0) + np.log(show[:, seen[t]])
    path = [int(np.argmax(best))]
    for t in range(len(seen) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return total, np.array(path[::-1]), best


def inputs(size):
    move = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    show = np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])
    return np.array([0.5, 0.3, 0.2]), move, show, (np.arange(size) ** 2 // 5) % 3
