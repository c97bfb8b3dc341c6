"""Library calls made ready: a description becomes prepared primitives and the pointers they want."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from mycelia.loops import Matmul
from mycelia.loops import Layout as Strided
from mycelia.runtime import onednn
from mycelia.runtime.onednn import DataType, Prepared
from mycelia.types import DType

ROOM = -1  # not an operand: memory that belongs to the call


@dataclass(frozen=True)
class Bound:
    """Primitives to execute one after the other, each with `(operand, bytes)` for every slot, and the room needed."""

    primitives: tuple[tuple[Prepared, tuple[tuple[int, int], ...]], ...]
    room: int


@singledispatch
def bind(call: object) -> Bound:
    """Prepare a library call."""
    raise AssertionError(f"no library for {call}")


def _layout(layout: Strided, dtype: DType) -> onednn.Layout:
    return onednn.Layout(layout.shape, DataType.named(dtype.numpy.name), layout.strides)


def one(prepared: Prepared, operands: int) -> Bound:
    """A call that is one primitive, whose slots are the operands in order and perhaps a scratchpad."""
    where = [(i, 0) for i in range(operands)]
    scratch = prepared.bytes("scratchpad")
    if scratch:
        where.append((ROOM, 0))
    return Bound(((prepared, tuple(where)),), scratch)


@bind.register
def _(call: Matmul) -> Bound:
    lhs, rhs, out = (_layout(x, call.dtype) for x in (call.lhs, call.rhs, call.out))
    return one(onednn.matmul(lhs, rhs, out), 3)
