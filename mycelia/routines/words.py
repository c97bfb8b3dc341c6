"""What the Python of routines is made of beside Python itself: kinds of arrays, and functions on bits."""

from __future__ import annotations

import os

from mycelia.types import Array

Bytes = Array  # unsigned, 8 bits
Octets = Array  # signed, 8 bits
Halves = Array  # signed, 16 bits
Words = Array  # signed, 32 bits
Longs = Array  # signed, 64 bits
Elements = Array  # of a kind that is said when the routine is written as machine code

KINDS = {"Bytes": 1, "Octets": 1, "Halves": 2, "Words": 4, "Longs": 8}  # and the bytes of an element

MASK = (1 << 64) - 1


def upper(x: int, bits: int) -> int:
    """The highest `bits` of 64, 1 to 63 of them, as a number from 0 on.

    >>> upper(1 << 63, 2)
    2
    """
    return (x & MASK) >> (64 - bits)


def dropped(x: int, bits: int) -> int:
    """64 bits without the highest `bits`, 0 to 63 of them; zeros come in below.

    >>> dropped(3 << 62, 1) == 1 << 63
    True
    """
    return x << bits & MASK


def under(x: int, bits: int) -> int:
    """64 bits moved down by `bits`, 0 to 63; zeros come in above.

    >>> under(1 << 63, 62)
    2
    """
    return (x & MASK) >> bits


def eight(data: Bytes, place: int) -> int:
    """Eight bytes as 64 bits, the first of them highest.

    >>> import numpy as np
    >>> hex(eight(np.arange(1, 9, dtype=np.uint8), 0))
    '0x102030405060708'
    """
    return int.from_bytes(bytes(int(data[place + i]) for i in range(8)), "big")


def eight_back(data: Bytes, place: int) -> int:
    """Eight bytes as 64 bits, the first of them lowest.

    >>> import numpy as np
    >>> hex(eight_back(np.arange(1, 9, dtype=np.uint8), 0))
    '0x807060504030201'
    """
    return int.from_bytes(bytes(int(data[place + i]) for i in range(8)), "little")


def read(file: int, data: Bytes, place: int, size: int, begin: int) -> int:
    """Bytes of an open file from `begin` on, put at a place of an array: how many came, or -1. Others may write to the
    file meanwhile, or cut it short.

    >>> import numpy as np, tempfile
    >>> data = np.zeros(4, np.uint8)
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(b"abcdef"); file.flush()
    ...     read(file.fileno(), data, 1, 2, 3), data.tobytes()
    (2, b'\\x00de\\x00')
    """
    try:
        found = os.pread(file, size, begin)
    except OSError:
        return -1
    for i, byte in enumerate(found):
        data[place + i] = byte
    return len(found)


def word(x: int) -> int:
    """A number that has 32 bits only, from -2 ** 31 on.

    >>> word(7)
    7
    """
    return x


def mirror(square: Words) -> int:
    """Exchange rows and columns of the first 8 x 8 numbers.

    >>> import numpy as np
    >>> x = np.arange(64, dtype=np.int32); mirror(x); x[:3]
    0
    array([ 0,  8, 16], dtype=int32)
    """
    for i in range(8):
        for j in range(i):
            square[i * 8 + j], square[j * 8 + i] = square[j * 8 + i], square[i * 8 + j]
    return 0


def full_byte(x: int) -> int:
    """Whether one of the eight bytes is 255.

    >>> full_byte(0xFF0000), full_byte(0x0FF000)
    (1, 0)
    """
    return int(255 in (x & MASK).to_bytes(8, "big"))


FUNCTIONS = (upper, dropped, under, eight, eight_back, read, word, mirror, full_byte)
