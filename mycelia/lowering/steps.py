"""Values that take a step of their own: which library call or loops each becomes, and how its result lies in memory."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

from mycelia.ir import Op, Value, inner_functions
from mycelia.types import TensorType

if TYPE_CHECKING:
    from mycelia.lowering.body import Body


@singledispatch
def lower_step(op: Op, v: Value, body: Body) -> None:
    """Append to `body` the steps that compute `v` into `body.memory`."""
    raise AssertionError(f"nothing lowers {op.name}, see lowering/complete.py")


@singledispatch
def layout_of(op: Op, result: int, type: TensorType) -> tuple[int, ...] | None:
    """The strides that a result of a step should have; None is row-major."""
    return None


@singledispatch
def reads_elements(op: Op) -> bool:
    """Whether the step reads its operands element by element, so that they need not stand in memory."""
    return False


@singledispatch
def overwrites(op: Op, v: Value) -> bool:
    """Whether the step changes a part of its first operand and leaves the rest: it can be done where that lies."""
    return False


@singledispatch
def may_end(op: object) -> bool:
    """Whether the step may end the program: loops and calls do, when they are interrupted or need too much memory."""
    return any(may_end(v.op) for fn in inner_functions(op) for v in fn.values())


@singledispatch
def follows(op: Op) -> bool:
    """Whether the result keeps the order of axes in memory that its first operand has."""
    return False
