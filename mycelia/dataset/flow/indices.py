"""Orders of very many rows as arithmetic: which row stands where is computed when it is asked for, and not stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia.frozen import frozen
from mycelia.types import Array

LARGE = 1 << 20  # rows from which an order is computed and not stored
ROUNDS = 6  # an even number: the halves are then where they were
_ODD = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@frozen
class Indices:
    """A row of whole numbers that is a function of the position; indexed by arrays and slices as an array is.

    >>> squares = Indices(10, lambda at: at * at)
    >>> len(squares), squares[np.array([3, 2])].tolist(), squares[1::4][np.arange(3)].tolist()
    (10, [9, 4], [1, 25, 81])
    """

    count: int
    at: Callable[[Array], Array]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, Indices):
            return Indices(place.count, lambda at: self.at(place.at(at)))
        if isinstance(place, slice):
            chosen = range(self.count)[place]
            start, step = chosen.start, chosen.step
            return Indices(len(chosen), lambda at: self.at(start + at * step))
        return self.at(np.asarray(place, np.int64))

    def tolist(self) -> list[int]:
        """All of them, as a list.

        >>> up_to(2, 5).tolist()
        [2, 3, 4]
        """
        listed: list[int] = self.at(np.arange(self.count)).tolist()
        return listed


Ordered = Array | Indices


def up_to(start: int, end: int) -> Ordered:
    """The numbers from `start` up to `end`.

    >>> up_to(1, 4).tolist(), type(up_to(0, 1 << 40)).__name__
    ([1, 2, 3], 'Indices')
    """
    return np.arange(start, end) if end - start < LARGE else Indices(end - start, lambda at: at + start)


def mixed(x: Array, key: Array | np.uint64) -> Array:
    """Numbers that look random, one for each of 64 bits with a key (SplitMix64's finaliser).

    >>> mixed(np.arange(2, dtype=np.uint64), np.uint64(1)).dtype
    dtype('uint64')
    """
    x = x * _ODD + key
    x = (x ^ (x >> np.uint64(30))) * _A
    x = (x ^ (x >> np.uint64(27))) * _B
    made: Array = x ^ (x >> np.uint64(31))
    return made


def keyed(at: Array, count: int, keys: Array) -> Array:
    """Where a keyed permutation of `count` numbers sends some of them.

    A Feistel network on the bits of a number is walked until it lands below `count`, which takes two steps at most on
    average; the halves of the bits differ by one at most.

    >>> sorted(keyed(np.arange(10), 10, np.arange(ROUNDS, dtype=np.uint64)).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    bits = max(2, (count - 1).bit_length())
    low = bits // 2
    widths = (np.uint64(low), np.uint64(bits - low))
    masks = tuple((np.uint64(1) << w) - np.uint64(1) for w in widths)
    out = np.array(at, np.uint64)
    lost = np.arange(out.size)
    flat = out.reshape(-1)
    with np.errstate(over="ignore"):
        while lost.size:
            x = flat[lost]
            right, left = x & masks[0], x >> widths[0]
            for i in range(ROUNDS):  # the halves change places: the right one has the bits of the left one before
                width = masks[(i + 1) % 2]
                right, left = (left ^ mixed(right, keys[i])) & width, right
            flat[lost] = left << widths[0] | right
            lost = lost[flat[lost] >= np.uint64(count)]
    return flat.reshape(out.shape).astype(np.int64)


def mixed_within(at: Array, count: int, key: int, number: int) -> Array:
    """Where the permutation of one of many groups of rows, of `count` rows each, sends some of them.

    >>> sorted(mixed_within(np.arange(5), 5, 3, 1).tolist())
    [0, 1, 2, 3, 4]
    """
    with np.errstate(over="ignore"):
        keys = mixed(np.arange(ROUNDS, dtype=np.uint64) + np.uint64(key), np.uint64(number) * _ODD)
    return keyed(at, count, keys)


def permutation(count: int, rng: np.random.Generator) -> Ordered:
    """A random order of `count` rows: stored in as few bytes as they need or, where there are very many, computed.

    >>> sorted(permutation(3, np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    if count >= LARGE:
        keys = rng.integers(0, 2**63, ROUNDS, np.uint64)
        return Indices(count, lambda at: keyed(at, count, keys))
    order = np.arange(count, dtype=np.int32)
    rng.shuffle(order)
    return order


def drawn(count: int, wanted: int, rng: np.random.Generator) -> Ordered:
    """Rows drawn anew each time.

    >>> drawn(2, 5, np.random.default_rng(0)).shape
    (5,)
    """
    if wanted < LARGE:
        return rng.integers(count, size=wanted)
    key = rng.integers(0, 2**63, dtype=np.uint64)

    def at(place: Array) -> Array:
        with np.errstate(over="ignore"):
            return (mixed(place.astype(np.uint64), key) % np.uint64(count)).astype(np.int64)

    return Indices(wanted, at)


def windowed(count: int, buffer: int, rng: np.random.Generator) -> Indices:
    """The order of a shuffle buffer over very many rows: mixed twice within windows of half a buffer, the second time
    across the borders of the first. No row comes out `buffer` places early, as with a buffer that holds rows.

    >>> order = windowed(20, 6, np.random.default_rng(0)).tolist()
    >>> sorted(order) == list(range(20)), all(row < place + 6 for place, row in enumerate(order))
    (True, True)
    """
    half = max(1, buffer // 2)
    first_key, second_key = rng.integers(0, 2**62, 2).tolist()

    def within(at: Array, shift: int, key: int) -> Array:
        number = (at + shift) // half
        out = at.copy()
        for window in np.unique(number).tolist():
            chosen = number == window
            first, end = max(0, window * half - shift), min(count, (window + 1) * half - shift)
            out[chosen] = first + mixed_within(at[chosen] - first, end - first, key, window)
        return out

    return Indices(count, lambda at: within(within(at, half // 2, second_key), 0, first_key))
