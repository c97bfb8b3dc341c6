"""Products in a form that is fast: of one term as a multiplication, of mixed or short element types in the type of
their sum.

Where the processor has no units for them, 16-bit floats are multiplied as 32-bit ones, by casts of the graph: those
join the kernels around the product, and one that several products read is made once. (oneDNN 3.2 refuses such products
on AVX2, and takes 45 ns to convert an element.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from mycelia import primitives as p
from mycelia.ir import Function, Rule, Value, rewrite, rule_for
from mycelia.primitives import Contract, Conv, ConvInputGrad, ConvWeightGrad
from mycelia.primitives.product_types import in_short_units, summed_in


def in_one_type(units: frozenset[str]) -> tuple[Rule, ...]:
    """A rule: the operands as numbers of the type in which their products are summed, and the sum rounded once; but for
    what a processor with these units multiplies as it is.
    """

    @rule_for(Contract, Conv, ConvInputGrad, ConvWeightGrad)
    def multiply_in_one_type(v: Value) -> Value | None:
        x, y = v.inputs
        wide = summed_in(v.dtype, x.dtype, y.dtype)
        op = v.op
        assert isinstance(op, Contract | Conv | ConvInputGrad | ConvWeightGrad), f"{v} is no product"
        if (op.dtype is None and x.dtype is wide) or in_short_units(units, v.dtype, x.dtype, y.dtype):
            return None
        out: Value = p.cast(replace(op, dtype=None)(p.cast(x, wide), p.cast(y, wide)), v.dtype)
        return out

    return multiply_in_one_type


@rule_for(Contract)
def multiply_single_terms(v: Value) -> Value | None:
    """A sum of one term is no sum: the library would go through all its motions for one multiplication an element. But
    a sum begins with 0, so that it is never -0.
    """
    op = v.op
    assert isinstance(op, Contract), f"{v} is no contraction"
    x, y = v.inputs
    size = dict(zip(op.lhs + op.rhs, x.shape + y.shape, strict=True))
    if prod(size[c] for c in op.lhs if c not in op.out) != 1:
        return None
    wide = summed_in(v.dtype, x.dtype, y.dtype)
    left, right = (_spread(p.cast(side, wide), letters, op.out) for side, letters in ((x, op.lhs), (y, op.rhs)))
    term = left * right
    out: Value = p.cast(term + 0.0 if wide.is_float else term, v.dtype)
    return out


def _spread(x: Value, letters: str, out: str) -> Value:
    """`x` with its axes in the order of `out`: an axis of 1 where it has none, and without those that `out` has not."""
    kept = [c for c in out if c in letters]
    rest = [c for c in letters if c not in out]
    ordered = p.transpose(x, tuple(letters.index(c) for c in kept + rest))
    sizes = dict(zip(letters, x.shape, strict=True))
    moved: Value = p.reshape(ordered, tuple(sizes.get(c, 1) for c in out))
    return moved


def products_for(units: frozenset[str]) -> Callable[[Function], Function]:
    """The pass for a processor with these units for short element types."""
    rules = [multiply_single_terms, in_one_type(units)]

    def shape_products(fn: Function) -> Function:
        """Products of one term as multiplications, those of mixed or short types in the type of their sum."""
        return rewrite(fn, rules)

    return shape_products


shape_products = products_for(frozenset())
