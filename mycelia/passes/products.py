"""Products in a form that is fast: of one term as a multiplication, of mixed or short element types in the type of
their sum.

Sixteen-bit floats are multiplied as 32-bit ones, by casts of the graph: those join the kernels around the product, and
one that several products read is made once. (oneDNN 3.2 refuses them on AVX2, and takes 45 ns to
convert an element.)
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from mycelia import primitives as p
from mycelia.ir import Function, Value, rewrite, rule_for
from mycelia.primitives import Contract, Conv, ConvInputGrad, ConvWeightGrad
from mycelia.primitives.product_types import summed_in


@rule_for(Contract, Conv, ConvInputGrad, ConvWeightGrad)
def multiply_in_one_type(v: Value) -> Value | None:
    """The operands as numbers of the type in which their products are summed, and the sum rounded once."""
    x, y = v.inputs
    wide = summed_in(v.dtype, x.dtype, y.dtype)
    op = v.op
    assert isinstance(op, Contract | Conv | ConvInputGrad | ConvWeightGrad), f"{v} is no product"
    if op.dtype is None and x.dtype is wide:
        return None
    out: Value = p.cast(replace(op, dtype=None)(p.cast(x, wide), p.cast(y, wide)), v.dtype)
    return out


@rule_for(Contract)
def multiply_single_terms(v: Value) -> Value | None:
    """A sum of one term is no sum: the library would go through all its motions for one multiplication an element."""
    op = v.op
    assert isinstance(op, Contract), f"{v} is no contraction"
    x, y = v.inputs
    size = dict(zip(op.lhs + op.rhs, x.shape + y.shape, strict=True))
    if op.dtype is not None or not x.dtype.bits > 16 or prod(size[c] for c in op.lhs if c not in op.out) != 1:
        return None
    left, right = (_spread(side, letters, op.out) for side, letters in ((x, op.lhs), (y, op.rhs)))
    out: Value = left * right
    return out


def _spread(x: Value, letters: str, out: str) -> Value:
    """`x` with its axes in the order of `out`: an axis of 1 where it has none, and without those that `out` has not."""
    kept = [c for c in out if c in letters]
    rest = [c for c in letters if c not in out]
    ordered = p.transpose(x, tuple(letters.index(c) for c in kept + rest))
    sizes = dict(zip(letters, x.shape, strict=True))
    moved: Value = p.reshape(ordered, tuple(sizes.get(c, 1) for c in out))
    return moved


def shape_products(fn: Function) -> Function:
    """Apply the rules everywhere."""
    return rewrite(fn, [multiply_in_one_type, multiply_single_terms])
