"""Library calls with a bias."""

from __future__ import annotations

from mycelia.ir import Project, Value
from mycelia.lowering.body import Body
from mycelia.lowering.contraction import contract_with_bias
from mycelia.lowering.convolution import channels_last, convolve_with_bias
from mycelia.lowering.steps import layout_of, lower_step
from mycelia.primitives import Contract, Conv, Epilogue
from mycelia.types import TensorType


@layout_of.register
def _(op: Epilogue, result: int, type: TensorType) -> tuple[int, ...] | None:
    return channels_last(type.shape) if isinstance(op.core, Conv) else None


@lower_step.register
def _(op: Epilogue, v: Value, body: Body) -> None:
    out = body.memory[Value(Project(0), (v,))]
    if isinstance(op.core, Contract):
        contract_with_bias(op.core, v, out, body)
    else:
        convolve_with_bias(op.core, v, out, body)
