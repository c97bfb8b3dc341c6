"""Places in sequences that are in order: a routine. What is compared are keys, see `routines/ordering.py`."""

from __future__ import annotations

from mycelia.routines.ordering import key_of
from mycelia.routines.words import Elements, Longs

PHASES, THREADS, SEQUENCES, LENGTH, COUNT, RIGHT = range(6)  # places in `sizes`


def find_places(
    sequence: Elements, values: Elements, positions: Longs, room: Longs, sizes: Longs, phase: int, me: int, all: int,
    magnitude: int, infinity: int, bias: int,
) -> int:  # fmt: skip
    """How many elements of its sequence come before each value; with `RIGHT` equal ones too."""
    length, count, right = sizes[LENGTH], sizes[COUNT], sizes[RIGHT]
    total = sizes[SEQUENCES] * count
    first, last = total * me // all, total * (me + 1) // all
    if first >= last:
        return 0
    begin = first // count * length
    left = (first // count + 1) * count - first  # values of this sequence
    for i in range(first, last):
        if left == 0:
            begin += length
            left = count
        left -= 1
        key = key_of(values[i], magnitude, infinity, bias)
        low, size = begin, length
        while size > 0:
            half = (size + 1) >> 1
            other = key_of(sequence[low + half - 1], magnitude, infinity, bias)
            low += half if other < key or (right and other == key) else 0
            size -= half
        positions[i] = low - begin
    return 0
