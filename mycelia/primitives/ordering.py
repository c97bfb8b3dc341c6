"""Sorting in a program: positions that put elements in order, found by a network of comparisons (a bitonic sort).

Every round compares each element with one partner, all of them at once, so that a round is one kernel; log² rounds are
a loop. In the network that is used here the smaller of two elements always goes to the lower place. So an axis may
have any length: partners beyond its end are larger than everything, and are left out.
"""

# a primitive returns what it is given:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.types import TensorType, bool_, int8, int64

__all__ = ["order_of"]


def order_of(x: Any, axis: int, descending: bool = False) -> Any:
    """The positions, int64, that put `x` in order along an axis; equal elements keep their order, and nan is largest.

    >>> from mycelia.ir import interpret
    >>> from mycelia.types import TensorType, float32
    >>> import numpy as np
    >>> sort = Function.build(lambda x: order_of(x, 0), TensorType(float32, (3,)))
    >>> interpret(sort, np.array([3, 1, 2], "f"))[0]
    array([1, 2, 0])
    """
    keys = p.moveaxis(x, axis, len(x.shape) - 1)
    keys = p.cast(keys, int8) if keys.dtype is bool_ else keys
    length = keys.shape[-1]
    start = p.full(2, int64, ()), p.full(1, int64, ()), keys, p.iota(int64, keys.shape, len(keys.shape) - 1)
    types = tuple(TensorType(v.dtype, v.shape) for v in start)

    def unfinished(block: Value, step: Value, keys: Value, order: Value) -> Value:
        return p.less(block, p.full(length, int64, ()) * 2)

    def compared(block: Value, step: Value, keys: Value, order: Value) -> tuple[Value, ...]:
        here = p.iota(int64, (length,), 0)
        first = p.equal(step * 2, block)  # the first round of a block folds it in the middle
        partner = p.logical_xor(here, p.select(first, block - 1, step))
        there = p.less(partner, p.full(length, int64, ()))
        other = p.select(there, partner, here)
        axis = len(keys.shape) - 1
        theirs, place = p.gather(keys, other, axis), p.gather(order, other, axis)
        mine_first = _before(keys, order, theirs, place, descending)
        lower = p.less(here, partner)
        swap = p.logical_and(there, p.logical_xor(lower, mine_first))
        last = p.equal(step, p.full(1, int64, ()))
        return (
            p.select(last, block * 2, block),
            p.select(last, block, p.floor_divide(step, p.full(2, int64, ()))),
            p.select(swap, theirs, keys),
            p.select(swap, place, order),
        )

    loop = p.While(Function.build(unfinished, *types), Function.build(compared, *types), 0)
    return p.moveaxis(loop(*start)[3], len(x.shape) - 1, axis)


def _before(x: Value, at: Value, y: Value, there: Value, descending: bool) -> Value:
    """Whether the element `x` comes before `y`; of two equal ones the one that stood before."""
    smaller, larger = _less(x, y), _less(y, x)
    if descending:
        smaller, larger = larger, smaller
    return p.logical_or(smaller, p.logical_and(p.logical_not(larger), p.less(at, there)))


def _less(x: Value, y: Value) -> Value:
    less: Value = p.less(x, y)
    if not x.dtype.is_float:
        return less
    return p.logical_or(less, p.logical_and(p.is_nan(y), p.logical_not(p.is_nan(x))))
