"""How far two texts are apart (Levenshtein), a row of the table at a time."""

import numpy as np


def run(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        other = np.empty_like(row)
        other[0] = i + 1
        swap = row[:-1] + (b != a[i])
        lost = row[1:] + 1
        other[1:] = np.minimum(swap, lost)
        place = np.arange(len(other))
        row = np.minimum.accumulate(other - place) + place
    return row[-1], row


def inputs(size):
    return (np.arange(size) * 7 % 26), (np.arange(size + 5) * 5 % 26)
