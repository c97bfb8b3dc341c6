"""What machine code is told in memory: the records that whoever calls it fills, and that it reads. No LLVM here."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, auto

import numpy as np

from mycelia.frozen import frozen
from mycelia.loops import TileKind
from mycelia.types import Array

WORDS = 12  # of the record of a heap, see `codegen/heap.py`
TIMES = 3  # words of the clock for each step: when it began last, how long it took in all, how often it ran; in cycles
PHASES, THREADS = 0, 1  # of the sizes that a routine is given
TERMS = 256  # of a panel: one column of tiles of both panels stays in the first level of the cache
LEFT = 128  # rows of the left panels


@frozen
class Execution:
    """One execution of a prepared primitive: addresses of what the library knows, and for each memory object the
    operand that it gets, `bytes` further on.
    """

    primitive: int
    stream: int
    arguments: int
    memories: tuple[tuple[int, int, int], ...]


def list_of_words(executions: Sequence[Execution]) -> Array:
    """What `invoke` is given.

    >>> list_of_words([Execution(7, 8, 9, ((5, -1, 64),))])
    array([ 1,  7,  8,  9,  1,  5, -1, 64])
    """
    words = [len(executions)]
    for e in executions:
        words += [e.primitive, e.stream, e.arguments, len(e.memories), *(w for m in e.memories for w in m)]
    return np.array(words, np.int64)


class Size(IntEnum):
    """The numbers that a function is given, in order; from `lhs_batch` on they are addresses of tables of offsets."""

    batch = 0
    rows = auto()
    columns = auto()
    terms = auto()
    job_rows = auto()
    job_columns = auto()
    threads = auto()  # that share the work; there is room for so many
    lhs_batch = auto()
    rhs_batch = auto()
    out_batch = auto()
    lhs_rows = auto()
    lhs_terms = auto()
    rhs_terms = auto()
    rhs_columns = auto()
    out_rows = auto()
    out_columns = auto()
    dense = auto()  # for each tile of columns: bit 0, those of rhs lie side by side; bit 1, those of out


def left_rows(kind: TileKind) -> int:
    """Rows of the left panels that are filled at once: they stay in the second level of the cache."""
    return kind.rows * max(1, LEFT // kind.rows)


def room_bytes(kind: TileKind, columns: int) -> int:
    """The same of one thread together, for whoever makes the room."""
    return (left_rows(kind) + columns) * TERMS * kind.out.itemsize


class StageWord(IntEnum):
    """The numbers that a stage of a Fourier transform is given, in order. It has lines; of each line it transforms
    columns, a block of as many as a vector has lanes at a time, or changes elements one by one (see `StageKind`).

    A side (source, target) is one of the operands, some bytes further on; element `row` of column `lane` lies
    `row * rows + lane * lanes` complex numbers into its line, and lines are `line` numbers apart. Panels are blocks
    whose rows are vectors: real parts, then imaginary ones.
    """

    kind = 0
    lines = auto()
    columns = auto()
    length = auto()  # of a transform; or the elements of a line that are read
    source = auto()
    source_bytes = auto()
    source_line = auto()
    source_rows = auto()
    source_lanes = auto()
    source_panels = auto()  # whether the source has panels
    target = auto()
    target_bytes = auto()
    target_line = auto()
    target_rows = auto()
    target_lanes = auto()
    target_panels = auto()  # 0, or how many panels each line of the target has, and then its columns:
    target_columns = auto()
    swap_source = auto()  # whether real and imaginary parts are exchanged as they are read, and written
    swap_target = auto()
    fill = auto()  # of columns that fill a block: how it is read (`Passage`), and written
    drain = auto()
    rest_fill = auto()  # the same of the last block, if it has fewer columns
    rest_drain = auto()
    work = auto()  # where the working memory of threads begins in the room of the call, and its bytes for each
    work_bytes = auto()
    turns = auto()  # table: for each block, and for each row: by how much the first column is turned
    lane_turns = auto()  # table: for each row: by how much more the columns after it are turned
    table = auto()  # of factors, for elements one by one
    passes = auto()  # how many follow, `Pass` words each


class Pass(IntEnum):
    """What a pass of radix r is given: y[s (r p + u) + q] = w[p, u] * the sum over t of x[s (p + m t) + q] e(t u / r),
    where e(a) = exp(-2 pi i a).
    """

    code = 0  # which function computes it on a whole block, and on one with fewer columns
    rest_code = auto()
    blocks = auto()  # m, the range of p
    side = auto()  # s, the range of q
    factors = auto()  # table: w


class Passage(IntEnum):
    """How columns come to the working memory, or from there: at once by the first or last pass, in squares that are
    transposed, or element by element.
    """

    directly = 0
    squares = auto()
    elements = auto()


class StageKind(IntEnum):
    """What a stage does: transform columns, or give each element of the target from elements of the source."""

    columns = 0
    multiply = auto()  # source[k] * table[k]; zeros behind the last
    widen = auto()  # a real number as a complex one
    mirror = auto()  # of the first half of a transform of real numbers, all of it
    halve = auto()  # the first numbers
    narrow = auto()  # the real part
    split = auto()  # of a transform of (even, odd) numbers as complex ones, the first half of that of all
    join = auto()  # the other way


HEAD = 8  # words before the first stage: how many there are, and at `Size.threads` the threads that share them
PASSES = 24  # of a stage at most
STAGE = len(StageWord) + PASSES * len(Pass)

RADICES = (8, 4, 5, 3, 2, 7, 11, 13)  # of butterflies, in the order in which a length is divided by them
OUTER = (8, 4)  # of passes that read columns of lines themselves, or write them
# Passes by their codes: "middle" and "last" go from panels to panels, "first" comes from lines, "final" goes to lines.
# The first and those in the middle turn what they have.
SORTS = {"middle": RADICES, "last": RADICES, "first": OUTER, "final": OUTER}
CODES = {found: n for n, found in enumerate((sort, r) for sort, radices in SORTS.items() for r in radices)}
