"""Indices of every kind beside one another, drawn at random: reading, writing and gradients are those of NumPy."""

import numpy as np
import pytest

from mycelia import Tensor
from mycelia.api import vjp

SHAPE = (3, 4, 2, 5)


def drawn(rng, new_axes=True):
    """Parts of an index; lists that stand apart, new axes and an ellipsis among them."""
    parts, axis, dotted = [], 0, False
    length = int(rng.integers(1, 3))
    while axis < len(SHAPE) and (rng.random() < 0.9 or not parts):
        kind = rng.integers(7)
        if kind == 0:
            parts.append(int(rng.integers(-SHAPE[axis], SHAPE[axis])))
        elif kind == 1:
            step = int(rng.choice([-2, -1, 1, 2]))
            parts.append(slice(None, None, step))
        elif kind == 2:
            parts.append(slice(int(rng.integers(-1, 2)), int(rng.integers(1, SHAPE[axis] + 1))))
        elif kind == 3 and new_axes:
            parts.append(None)
            continue
        elif kind == 4 and not dotted:
            dotted = True
            parts.append(Ellipsis)
            axis += int(rng.integers(0, 2))
            continue
        else:
            parts.append(rng.integers(-SHAPE[axis], SHAPE[axis], length).tolist())
        axis += 1
    return tuple(parts)


def valid(index, x):
    try:
        x[index]
    except IndexError:
        return False
    return True


CASES = [drawn(np.random.default_rng(seed)) for seed in range(220)]
X = np.arange(np.prod(SHAPE), dtype="f").reshape(SHAPE)
GOOD = [index for index in CASES if valid(index, X)]


@pytest.mark.parametrize("start", range(0, len(GOOD), 40))
def test_any_index_reads_what_numpy_reads_and_gives_it_back(start):
    for index in GOOD[start : start + 40]:
        want = X[index]
        np.testing.assert_array_equal(Tensor(X)[index].asnumpy(), want, str(index))
        out, back = vjp(lambda x, index=index: x[index], Tensor(X))
        np.testing.assert_array_equal(out.asnumpy(), want, str(index))
        weights = np.arange(1, want.size + 1, dtype="f").reshape(want.shape)
        wanted = np.zeros_like(X)
        np.add.at(wanted, index, weights)
        found = back(Tensor(weights))
        found = found[0] if isinstance(found, tuple) else found
        np.testing.assert_array_equal(found.asnumpy(), wanted, str(index))


@pytest.mark.parametrize("start", range(0, len(GOOD), 40))
def test_any_index_writes_where_numpy_writes(start):
    for index in GOOD[start : start + 40]:
        ours, theirs = Tensor(X.copy()), X.copy()
        ours[index], theirs[index] = -1.0, -1.0
        np.testing.assert_array_equal(ours.asnumpy(), theirs, str(index))
