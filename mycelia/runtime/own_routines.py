"""Routines of programs made ready: the sizes that they read, in the order of their own places, and their room."""

from __future__ import annotations

from functools import lru_cache, singledispatch

import numpy as np

from mycelia.errors import ShapeError
from mycelia.frozen import frozen
from mycelia.loops import EliminationCall, OrderCall, PrefixCall, RoutineCall, SearchCall, SparseCall
from mycelia.loops.prefix import CHUNK
from mycelia.routines.ordering import PART, POSITION, TOGETHER
from mycelia.types import Array

WORTH_A_THREAD = 1 << 17  # steps of about a nanosecond: for less another thread is not awake
LONG = 1 << 17  # elements of a row that several threads sort together
MANY = 4  # rows for each thread, with which it does not matter that one has one more


@frozen(eq=False)
class SizedRoutine:
    """The sizes of one call, and the bytes that it needs for itself."""

    words: Array
    room: int


@lru_cache(maxsize=256)
def sized(call: RoutineCall, threads: int) -> SizedRoutine:
    """Sizes and room of a call."""
    words, room = _sized(call, threads if call.multiplications >= WORTH_A_THREAD else 1)
    return SizedRoutine(np.array(words, np.int64), 8 * room)


@singledispatch
def _sized(call: object, threads: int) -> tuple[list[int], int]:
    raise AssertionError(f"no routine for {call}")


@_sized.register
def _(call: OrderCall, threads: int) -> tuple[list[int], int]:
    wide, rows = 2 if call.dtype.itemsize == 8 else 1, call.outer * call.inner
    if wide == 1 and call.length > POSITION:
        raise ShapeError(
            f"rows of {call.length} elements of {call.dtype} are too long to be sorted",
            hint=f"sort at most {POSITION} at a time",
        )
    together = threads > 1 and rows < MANY * threads and call.length >= LONG and call.kept == call.length
    flip = -1 if call.descending else 0
    shape = [call.outer, call.length, call.inner, call.kept, flip]
    if together:
        return [rows * TOGETHER, threads, *shape, 0, threads], 2 * call.length * wide + threads * PART
    threads = max(1, min(threads, rows))
    lane = 2 * call.length * wide + PART
    return [1, threads, *shape, lane, 0], threads * lane


@_sized.register
def _(call: SearchCall, threads: int) -> tuple[list[int], int]:
    return [1, threads, call.sequences, call.length, call.count, int(call.right)], 0


@_sized.register
def _(call: PrefixCall, threads: int) -> tuple[list[int], int]:
    shape = [call.outer, call.length, call.inner]
    if threads > 1 and call.inner == 1 and call.outer < MANY * threads and call.length >= LONG:
        return [2 * call.outer, threads, *shape, 1], -(-call.length // CHUNK)
    return [1, threads, *shape, 0], 0


@_sized.register
def _(call: SparseCall, threads: int) -> tuple[list[int], int]:
    return [1, max(1, min(threads, call.rows)), call.rows, call.count, call.height, call.width], 0


@_sized.register
def _(call: EliminationCall, threads: int) -> tuple[list[int], int]:
    threads = max(1, min(threads, call.count))
    return [1, threads, call.count, call.size, call.columns], threads * call.size * (call.size + call.columns)
