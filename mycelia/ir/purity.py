"""What may be done with the computation of a value: moved, repeated, dropped, or none of these."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mycelia.ir.value import Value


class Purity(IntEnum):
    """Three kinds of computations; of several together, the greatest speaks for all."""

    TOTAL = 0  # it ends, and nobody sees it: it may be done early, twice or never
    PARTIAL = 1  # it may not end: it may be dropped if nobody reads it, or done again where it was done; never earlier
    ORDERED = 2  # somebody sees it: it is done exactly once, in order


def may_move(value: Value) -> bool:
    """Whether `value` may be computed where it was not asked for: in front of a loop or a branch, for an example that
    did not take this way, or while compiling. Every motion of code asks this, of each value that it moves.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> may_move(p.exp(p.zeros(float32, ())))
    True
    """
    return value.op.purity is Purity.TOTAL


def may_repeat(value: Value) -> bool:
    """Whether `value` may be computed again where it has been computed, or not at all where nobody reads it.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import float32
    >>> may_repeat(p.exp(p.zeros(float32, ())))
    True
    """
    return value.op.purity is not Purity.ORDERED
