"""Reductions, running sums, and contractions. Half precision is added up in float32."""

from __future__ import annotations

from collections.abc import Sequence

from mycelia.ir import Value
from mycelia.loops import neutral
from mycelia.primitives import Contract, Cumulative, Reduction
from mycelia.primitives.contraction import matrices
from mycelia.primitives.product_types import summed_in
from mycelia.stablehlo.rules import emit
from mycelia.stablehlo.writer import Term, Writer, numbers
from mycelia.types import TensorType, accumulator

COMBINE = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum", "and": "and", "or": "or"}


def reduced(w: Writer, x: Term, dims: Sequence[int], combine: str) -> Term:
    """`x` folded along `dims`."""
    if not dims:
        return x
    scalar = TensorType(x.dtype, ())
    start = w.full(neutral(combine, x.dtype), scalar)
    shape = [n for i, n in enumerate(x.shape) if i not in dims]
    fold = w.region((scalar, scalar), lambda inner, a, b: [inner.binary(COMBINE[combine], a, b)])
    return w.op("reduce", (x, start), x.type.with_shape(shape), [fold], dimensions=numbers(sorted(dims)))


@emit.register
def _(op: Reduction, v: Value, w: Writer, x: Term) -> Term:
    return w.convert(reduced(w, w.convert(x, accumulator(x.dtype)), op.dims, op.combine), x.dtype)


@emit.register
def _(op: Cumulative, v: Value, w: Writer, x: Term) -> Term:
    """Folds of 1, 2, 4, 8, ... elements: as many rounds as the number of elements has digits."""
    total = w.convert(x, accumulator(x.dtype))
    extent, step = x.shape[op.axis], 1
    none = (0,) * len(x.shape)
    while step < extent and x.type.size:
        low = [step if i == op.axis else 0 for i in range(len(x.shape))]
        high = [-step if i == op.axis else 0 for i in range(len(x.shape))]
        total = w.binary(COMBINE[op.combine], total, w.pad(total, low, high, none, neutral(op.combine, total.dtype)))
        step *= 2
    return w.convert(total, x.dtype)


@emit.register
def _(op: Contract, v: Value, w: Writer, x: Term, y: Term) -> Term:
    plan = matrices(op)
    wide = summed_in(v.dtype, x.dtype, y.dtype)
    lhs = [[op.lhs.index(c) for c in letters] for letters in (plan.batch, plan.summed)]
    rhs = [[op.rhs.index(c) for c in letters] for letters in (plan.batch, plan.summed)]
    size = dict(zip(op.lhs + op.rhs, x.shape + y.shape, strict=True))
    product = w.op(
        "dot_general", (w.convert(x, wide), w.convert(y, wide)),
        TensorType(wide, tuple(size[c] for c in plan.batch + plan.rows + plan.columns)),
        dot_dimension_numbers=(
            f"#stablehlo.dot<lhs_batching_dimensions = {lhs[0]}, rhs_batching_dimensions = {rhs[0]}, "
            f"lhs_contracting_dimensions = {lhs[1]}, rhs_contracting_dimensions = {rhs[1]}>"
        ),
        precision_config="[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]",
    )  # fmt: skip
    return w.convert(w.transpose(product, plan.result), v.dtype)
