"""Fourier transforms by our own function: along an axis whose numbers lie side by side."""

from __future__ import annotations

from math import prod

from mycelia.ir import Value
from mycelia.loops import FourierCall, FourierKind, Invoke, Operand
from mycelia.lowering.body import Body
from mycelia.lowering.steps import layout_of, lower_step
from mycelia.primitives import Fft, Fourier, Irfft, Rfft
from mycelia.sizes import Dim, same
from mycelia.types import Shape, TensorType, row_major


@lower_step.register
def _(op: Fourier, v: Value, body: Body) -> None:
    (x,) = v.inputs
    out = body.memory[v]
    assert op.paired, f"{op} has complex numbers, and programs have pairs"
    assert same(out.strides, _along(op, out.type.shape, op.gives)), f"{v} does not lie along its axis"
    kind = FourierKind(out.type.dtype, body.shared.options.target.vector_bytes // out.type.dtype.itemsize)
    sorts: dict[type, str] = {Fft: "complex", Rfft: "real", Irfft: "half"}
    n = (x if isinstance(op, Rfft) else v).shape[op.axis]
    lines = prod(d for i, d in enumerate(_without_pairs(x.shape, op.takes)) if i != op.axis)
    call = FourierCall(kind, sorts[type(op)], lines, n, isinstance(op, Fft) and op.inverse)
    read = body.lying(x, _along(op, x.shape, op.takes))
    body.steps.append(Invoke(call, (read,), (Operand(out),)))


@layout_of.register
def _(op: Fourier, result: int, type: TensorType) -> tuple[Dim, ...] | None:
    return _along(op, type.shape, op.gives)


def _without_pairs(shape: Shape, is_complex: bool) -> Shape:
    return shape[:-1] if is_complex else shape


def _along(op: Fourier, shape: Shape, is_complex: bool) -> tuple[Dim, ...]:
    """The strides with which the axis of the transform, and the parts of a complex number, are innermost."""
    rank = len(_without_pairs(shape, is_complex))
    order = [*(i for i in range(rank) if i != op.axis), op.axis, *range(rank, len(shape))]
    steps = dict(zip(order, row_major(tuple(shape[i] for i in order)), strict=True))
    return tuple(steps[i] for i in range(len(shape)))
