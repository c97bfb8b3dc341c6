"""Reductions to very few numbers, in two rounds: so that threads share the first, and sums stay accurate."""

from __future__ import annotations

from math import prod

from mycelia import primitives as p
from mycelia.cost import ROUNDS_FROM
from mycelia.ir import Function, Value, rewrite, rule_for
from mycelia.primitives import Reduction, Reshape
from mycelia.sizes import Dim, comes_from_data, hint, known_equal

PARTS = (64, 48, 32, 24, 16, 12, 8)


@rule_for(Reduction)
def reduce_in_two_rounds(v: Value) -> Value | None:
    """A part for each row first, then the parts."""
    (x,) = v.inputs
    assert isinstance(v.op, Reduction), f"{v} is no reduction"
    reduction = type(v.op)
    if not known_equal(v.tensor.size, 1) or any(map(comes_from_data, x.shape)) or hint(x.tensor.size) < ROUNDS_FROM:
        return None
    rows, columns = _split(x.shape)
    if known_equal(rows, 1):
        return None
    parts = reduction((1,))(p.reshape(x, (rows, columns)))
    return Value(Reshape(v.shape), (reduction((0,))(parts),))


def _split(shape: tuple[Dim, ...]) -> tuple[Dim, Dim]:
    """A number of rows of equal length: the leading axes if they are some but not too many, else a divisor."""
    size = prod(shape)
    for n in range(1, len(shape)):
        rows = prod(shape[:n])
        if 8 <= hint(rows) <= 4096 and hint(size // rows) >= 256:
            return rows, size // rows
    rows = next((n for n in PARTS if known_equal(size % n, 0)), 1)
    return rows, size // rows


def split_reductions(fn: Function) -> Function:
    """Apply the rule everywhere."""
    return rewrite(fn, [reduce_in_two_rounds])
