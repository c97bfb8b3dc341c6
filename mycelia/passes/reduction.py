"""Reductions to very few numbers, in two rounds: so that threads share the first, and sums stay accurate."""

from __future__ import annotations

from math import prod

from mycelia import primitives as p
from mycelia.ir import Function, Value, rewrite, rule_for
from mycelia.primitives import Reduction, Reshape

LARGE = 1 << 16  # elements from which one thread is too few
PARTS = (64, 48, 32, 24, 16, 12, 8)


@rule_for(*Reduction.__subclasses__())
def reduce_in_two_rounds(v: Value) -> Value | None:
    """A part for each row first, then the parts."""
    (x,) = v.inputs
    assert isinstance(v.op, Reduction), f"{v} is no reduction"
    reduction = type(v.op)
    if v.tensor.size != 1 or x.tensor.size < LARGE:
        return None
    rows, columns = _split(x.shape)
    if rows == 1:
        return None
    parts = reduction((1,))(p.reshape(x, (rows, columns)))
    return Value(Reshape(v.shape), (reduction((0,))(parts),))


def _split(shape: tuple[int, ...]) -> tuple[int, int]:
    """A number of rows of equal length: the leading axes if they are some but not too many, else a divisor."""
    size = prod(shape)
    for n in range(1, len(shape)):
        rows = prod(shape[:n])
        if 8 <= rows <= 4096 and size // rows >= 256:
            return rows, size // rows
    rows = next((n for n in PARTS if size % n == 0), 1)
    return rows, size // rows


def split_reductions(fn: Function) -> Function:
    """Apply the rule everywhere."""
    return rewrite(fn, [reduce_in_two_rounds])
