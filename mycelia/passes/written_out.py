"""What stands for something else becomes that: calls what they call, and ops that are defined by other ops those.

Kernels that come out equal are still compiled once.
"""

from __future__ import annotations

from mycelia.ir import Function, Op, Value
from mycelia.primitives import Call, CustomVjp


def inline(fn: Function) -> Function:
    """Replace every call by the body of its function, until none is left."""
    while any(isinstance(v.op, Call | CustomVjp) for v in fn.values()):
        fn = fn.mapped(_inlined)
    return fn


def _inlined(v: Value, inputs: tuple[Value, ...]) -> Value | tuple[Value, ...]:
    return v.op.fn(*inputs) if isinstance(v.op, Call | CustomVjp) else v.again(inputs)


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
