"""What machine code is told in memory: the records that whoever calls it fills, and that it reads. No LLVM here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

import numpy as np

from mycelia.loops import TileKind
from mycelia.types import Array

WORDS = 12  # of the record of a heap, see `codegen/heap.py`
TIMES = 3  # words of the clock for each step: when it began last, how long it took in all, how often it ran; in cycles
TERMS = 256  # of a panel: one column of tiles of both panels stays in the first level of the cache
LEFT = 128  # rows of the left panels


@dataclass(frozen=True)
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
