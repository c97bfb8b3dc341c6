"""Products with matrices that hold few numbers: rows gathered, multiplied and added where they belong."""

from __future__ import annotations

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.primitives import SparseProduct
from mycelia.primitives.contraction import row_of_each
from mycelia.stablehlo.rules import emit, inlined
from mycelia.stablehlo.writer import Term, Writer


@emit.register
def _(op: SparseProduct, v: Value, w: Writer, starts: Term, columns: Term, values: Term, dense: Term) -> Term:
    operands = starts, columns, values, dense
    found = Function.build(_product, *[x.type for x in operands])
    return inlined(found, w, [(x,) for x in operands])[0][0]


def _product(starts: Value, columns: Value, values: Value, dense: Value) -> Value:
    out = p.full(0, dense.dtype, (starts.shape[0] - 1, dense.shape[1]))
    if 0 in (*values.shape, *out.shape):
        return out
    rows, held = row_of_each(starts, values.shape[0])
    parts = p.gather(dense, columns, 0) * p.broadcast(p.expand_dims(values, (1,)), (*values.shape, dense.shape[1]))
    parts = p.select(p.broadcast(p.expand_dims(held, (1,)), parts.shape), parts, p.zeros_like(parts))
    return p.scatter_add(out, rows, parts, 0)
