"""Products with matrices that hold few numbers: one call of a routine."""

from __future__ import annotations

from mycelia.ir import Value
from mycelia.loops import Invoke, Operand, SparseCall
from mycelia.loops.sparse import LANES
from mycelia.lowering.body import Body
from mycelia.lowering.steps import lower_step
from mycelia.primitives import SparseProduct
from mycelia.sizes import known_equal
from mycelia.types import accumulator


@lower_step.register
def _(op: SparseProduct, v: Value, body: Body) -> None:
    if known_equal(v.tensor.size, 0):
        return
    starts, _, values, dense = v.inputs
    lanes = min(LANES, body.shared.options.target.vector_bytes // accumulator(v.dtype).itemsize)
    call = SparseCall(v.dtype, starts.dtype, lanes, v.shape[0], values.shape[0], *dense.shape)
    operands = tuple(body.lying(x) for x in v.inputs)
    body.steps.append(Invoke(call, operands, (Operand(body.memory[v]),)))
