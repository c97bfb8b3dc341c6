"""Small real matrices by elimination: one call of a routine, where large ones are a way out to LAPACK."""

from __future__ import annotations

from math import prod
from typing import Any

from mycelia.ir import Value
from mycelia.loops import EliminationCall, Invoke, Operand
from mycelia.loops.elimination import LARGEST, LARGEST_FACTOR
from mycelia.lowering.body import Body
from mycelia.lowering.control import called_outside, outputs
from mycelia.lowering.steps import lower_step
from mycelia.primitives.lapack import Cholesky, Determinant, LogDeterminant, Solve
from mycelia.primitives.matrices import OfMatrices
from mycelia.sizes import comes_from_data, known_equal

KINDS = {Solve: "solve", Determinant: "determinant", LogDeterminant: "slogdet", Cholesky: "cholesky"}


@lower_step.register(Solve)
@lower_step.register(Determinant)
@lower_step.register(LogDeterminant)
@lower_step.register(Cholesky)
def _(op: OfMatrices, v: Value, body: Body) -> None:
    x = v.inputs[0]
    *batch, size, _ = x.shape
    columns = v.inputs[1].shape[-1] if isinstance(op, Solve) else 0
    if (
        op.paired
        or not is_small(size, LARGEST_FACTOR if isinstance(op, Cholesky) else LARGEST)
        or any(map(comes_from_data, (*batch, columns)))
    ):
        called_outside(op, v, body)
        return
    results = outputs(v, body)
    if any(known_equal(n, 0) for n in batch):
        return
    call = EliminationCall(KINDS[type(op)], x.dtype, prod(batch), size, columns)
    given = tuple(body.lying(y) for y in v.inputs)
    body.steps.append(Invoke(call, given, tuple(map(Operand, results))))


def is_small(size: Any, largest: int) -> bool:
    """Whether a matrix has few rows, at every size.

    >>> is_small(4, 32), is_small(500, 32)
    (True, False)
    """
    return isinstance(size, int) and size <= largest
