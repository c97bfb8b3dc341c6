"""What work costs on a machine, and what is therefore worth doing: one model, from which every threshold follows.

The numbers of a machine are read (vector width, cores, caches: `codegen/processor.py`). The times below are such that
for a two-core AVX2 machine the bounds are those that had been found there by timing; for others they follow from them.
Nothing is timed anew on each machine: a decision that follows the noise of a busy afternoon is a program that nobody
can debug. Bounds are powers of two, for the same reason.

>>> for width in (32, 64):  # AVX2, AVX-512
...     target = Target("x86_64", "some", "", width, 2, l3=32 << 20)
...     print(shared_from(target), called_from(target), compiled_from(width), streamed_from(target))
32768 8192 32768 16777216
65536 8192 65536 16777216
"""

from __future__ import annotations

from dataclasses import replace
from math import log2

from mycelia.frozen import frozen
from mycelia.sizes import Dim, Sym, high, low
from mycelia.target import Target

CLOCK = 2.6e9  # turns a second
BUSY = 0.2  # of the turns of a kernel, how many finish a vector: the others load, store and count
TEAM = 4e-6  # seconds until threads have begun, and have told that they are done
WAKE = 4e-5  # seconds until a thread runs that sleeps: between two calls from Python all but one do
CALL = 2e-6  # seconds for a call of the library to begin
FROM_PYTHON = 8e-6  # seconds from an eager op to machine code and back, beyond what NumPy takes
STACK = 512 << 10  # bytes of a row that a kernel may keep aside at most: it lies on the stack of a thread
CACHE = 64 << 20  # bytes of a last-level cache that one program may count on: others use it too

# Multiplications of a product up to which eager mode asks NumPy's BLAS, which begins at once. Its threads stay awake
# for some 30 ms, in the way of ours: the products of a gradient took twice as long. Larger ones are as fast by ours.
BLAS_UP_TO = 1 << 27

# Multiplications of a product, and rows, columns and terms, from which code that is told its sizes when it runs is as
# fast as code that was made for them (0.8 to 1.1 of its time; of small matrices, or few rows, up to twice). Where the
# right operand lies in columns: if there are so many times as many of them as terms (0.7 to 0.9; fewer: up to 1.8).
GENERAL_FROM = 1 << 23
GENERAL_SIDE = 32
GENERAL_COLUMNS = 16

# The same for one matrix of a batch, where the left operand lies in columns (0.5 to 1.2; smaller: up to 2.8).
GENERAL_IN_COLUMNS = 1 << 16

# Multiplications from which a call of the library is shared between threads: some ten microseconds of one. It is the
# same on every machine, because the library is asked when a program is bound, far from the target it was written for.
SHARED_CALL = 1 << 19

# Scores of one example (queries times keys) from which attention goes block by block, and of one block: with the
# weights that are made of them they stay in the second caches of two cores.
BLOCKS_FROM = 1 << 20
BLOCK_OF_SCORES = 1 << 19

HOLDERS_FROM = 1 << 12  # elements of a cotangent from which it is worth asking who else holds it

LINE = 64  # bytes that come from memory together
LINES_KEPT = 256  # lines that a core still has in its first cache when it comes to the next row of a kernel

LONG = 1 << 20  # multiplications by plain loops that a user should know of

# Sums of as many numbers are made in two rounds. It changes the last bits, so it is the same on every machine.
ROUNDS_FROM = 1 << 16


@frozen
class Cost:
    """What some work takes: operations on numbers, bytes that come from memory or go there, and launches.

    >>> Cost(flops=2e6) + Cost(bytes=4e6, launches=1)
    Cost(flops=2000000.0, bytes=4000000.0, launches=1)
    """

    flops: float = 0.0
    bytes: float = 0.0
    launches: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.flops + other.flops, self.bytes + other.bytes, self.launches + other.launches)

    def seconds(self, target: Target, threads: int = 1) -> float:
        """How long it takes: to begin, and then computing or moving, whichever is slower.

        >>> Cost(flops=1e6, launches=1).seconds(Target("x86_64", "some", "", 32, 2)) > 1e-4
        True
        """
        begin = self.launches * (TEAM if threads > 1 else 0.0)
        return begin + max(self.flops / (rate(target) * threads), self.bytes / target.bandwidth)


def rate(target: Target) -> float:
    """Additions of 32-bit numbers a second that one thread makes in a kernel."""
    return added(target.vector_bytes)


def added(vector_bytes: int) -> float:
    """Additions of 32-bit numbers a second with vectors as wide."""
    return vector_bytes / 4 * CLOCK * BUSY


def _bound(work: float) -> int:
    """The nearest power of two."""
    return 1 << round(log2(work))


def multiplied(products: float) -> float:
    """As many products of the library, which keeps its units busy, in additions of a kernel, which does not.

    >>> multiplied(1000)
    100.0
    """
    return products * BUSY / 2  # two units, and a product and its addition are one operation


def shared_from(target: Target) -> int:
    """Additions from which two threads are faster than one: half of them take longer than it takes to begin."""
    return _bound(2 * TEAM * rate(target))


def together_from(target: Target) -> int:
    """Additions of a whole program from which waking other threads for it pays: half of them take longer than that."""
    return _bound(2 * WAKE * rate(target))


def called_from(target: Target) -> int:
    """Multiplications from which the library is faster than loops, which of small products do not fill wide vectors."""
    return _bound(CALL * rate(replace(target, vector_bytes=min(target.vector_bytes, 32))))


def compiled_from(vector_bytes: int) -> int:
    """Elements from which eager mode asks for machine code, on a machine with vectors as wide."""
    return _bound(FROM_PYTHON * added(vector_bytes))


def chosen_up_to(vector_bytes: int) -> int:
    """Additions for an element that are made for all elements of 32 bits in the time of asking each whether it is one
    of those that a mask chooses: a question is an addition that no vector makes.

    >>> chosen_up_to(64)
    16
    """
    return vector_bytes // 4


def kept_aside(target: Target) -> int:
    """Bytes of one row that a kernel may keep aside: with what it reads, it stays in the cache of a core."""
    return min(target.l2 // 2, STACK)


def streamed_from(target: Target) -> int:
    """Bytes from which a result that is not read again is written past the cache, which it would empty."""
    return min(target.l3, CACHE) // 2


def unrolled_up_to(target: Target) -> int:
    """Expressions in a sweep above which unrolling only costs registers."""
    return 3 * target.registers // 2


def worth(work: Dim, bound: int) -> bool | Sym:
    """Whether work is more than a bound: answered now, or, where it depends on sizes that are met when the program
    runs, by a number that is positive then.

    >>> worth(100, 50), worth(10, 50)
    (True, False)
    """
    if isinstance(work, int):
        return work > bound
    return bool(work > bound) if low(work) > bound or high(work) <= bound else work - bound
