"""Ops that are defined by other ops become those."""

from __future__ import annotations

from mycelia.ir import Function, Op, Value


def expand(fn: Function) -> Function:
    """Replace every op that has a definition by it, until none is left."""
    while any(_expands(v) for v in fn.values()):
        fn = fn.mapped(_expanded)
    return fn


def _expanded(v: Value, inputs: tuple[Value, ...]) -> Value | tuple[Value, ...]:
    made: Value | tuple[Value, ...] | None = v.op.expand(*inputs) if _expands(v) else None  # type: ignore[union-attr]
    return v.again(inputs) if made is None else made


def _expands(v: Value) -> bool:
    return isinstance(v.op, Op) and type(v.op).expand is not Op.expand
