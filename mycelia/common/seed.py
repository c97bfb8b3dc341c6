"""The seed: the one number from which all that is random follows."""

from __future__ import annotations

import numpy as np

from mycelia.eager import default_generator
from mycelia.errors import ArgumentError

_given: list[int] = []  # the seed a person has set, once one has


def set_seed(seed: int) -> None:
    """Begin all random numbers again from `seed`: initial weights, dropout, sampling, and NumPy's own.

    >>> set_seed(7)
    >>> get_seed()
    7
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ArgumentError(f"a seed is a whole number from 0 to 2**32 - 1, not {seed!r}")
    default_generator.manual_seed(seed)
    np.random.seed(seed)
    _given[:] = [seed]


def get_seed() -> int | None:
    """The seed that was set; None as long as none was.

    >>> set_seed(11)
    >>> get_seed()
    11
    """
    return _given[0] if _given else None


def fresh() -> np.random.Generator:
    """A NumPy stream for one use, which the seed and the number of earlier draws decide.

    >>> set_seed(3)
    >>> first = fresh().random()
    >>> set_seed(3)
    >>> first == fresh().random()
    True
    """
    key, counter = default_generator.draw()
    return np.random.default_rng([*key.tolist(), *counter.tolist()])
