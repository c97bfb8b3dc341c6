"""What each value is to the lowering: something read, an expression, a reduction, or a step of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from mycelia.ir import Lowered, Op, Param, Reader, Value
from mycelia.loops import Buffer, Expr, load
from mycelia.loops.index import Index, Variable, index
from mycelia.primitives import Barrier
from mycelia.sizes import Dim, hint, known_equal
from mycelia.types import TensorType


def is_stored(v: Value) -> bool:
    """Whether the value stands in memory before anything is computed."""
    return isinstance(v.op, Param) or v.op.native is Lowered.DATA


def is_expression(v: Value) -> bool:
    """Whether one element of the value is an expression of elements of its inputs."""
    return isinstance(v.op, Op) and type(v.op).element is not Op.element


def is_reduction(v: Value) -> bool:
    return isinstance(v.op, Op) and v.op.native is Lowered.FOLD


def is_step(v: Value) -> bool:
    """Whether the value takes a library call, loops of its own, or control flow."""
    return isinstance(v.op, Op) and v.op.native is Lowered.STEP


def weigh(expressions: list[Expr], known: set[Expr] | None = None) -> int:
    """What computing these costs, in additions, where `known` expressions cost nothing."""
    seen = set(known or ())
    total = 0
    for root in expressions:
        stack = [root]
        while stack:
            e = stack.pop()
            if e not in seen:
                seen.add(e)
                total += e.cost
                stack.extend(e.args)
    return total


@lru_cache(maxsize=100_000)
def own_weight(op: Op, types: tuple[TensorType, ...], out: TensorType) -> int:
    """What one element costs beyond its inputs; 0 for a view."""
    buffers = [Buffer.dense("probe", t) for t in types]
    at = full_index(out.shape)[1]
    return weigh([op.element(at, *map(reader_of, buffers))])


def reader_of(buffer: Buffer) -> Reader:
    """A buffer as a lowering rule sees it."""
    return Reader(buffer.type, lambda at: load(buffer, tuple(at)))


def full_index(shape: Sequence[Dim]) -> tuple[tuple[Variable, ...], tuple[Index, ...]]:
    """A loop variable for each axis, and the index they make; an axis of one element needs no variable."""
    variables = tuple(Variable(n) for n in shape)
    return variables, tuple(index(v) if not known_equal(v.extent, 1) else Index(0) for v in variables)


def op_of(v: Value) -> Op:
    """The op of a value that is no parameter."""
    assert isinstance(v.op, Op), f"{v} is a parameter"
    return v.op


def in_order(shape: Sequence[Dim], like: Sequence[Dim]) -> tuple[Dim, ...]:
    """Strides of a dense tensor whose axes follow one another in memory as those of `like` do."""
    strides: list[Dim] = [0] * len(shape)
    step: Dim = 1
    for axis in sorted(range(len(shape)), key=lambda a: (hint(like[a]), -a)):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def is_view(v: Value) -> bool:
    """Whether the value only reads another one elsewhere."""
    if isinstance(v.op, Barrier):
        return True  # of what it waits for it reads nothing
    if not is_expression(v) or len(v.inputs) != 1 or not isinstance(v.type, TensorType):
        return False
    return _reads_only(op_of(v), v.inputs[0].tensor, v.type)


@lru_cache(maxsize=100_000)
def _reads_only(op: Op, x: TensorType, out: TensorType) -> bool:
    return op.element(full_index(out.shape)[1], reader_of(Buffer.dense("probe", x))).kind == "load"


def looks_at(v: Value) -> Iterator[Value]:
    """A value, and what it looks at through a chain of views."""
    yield v
    while is_view(v):
        v = v.inputs[0]
        yield v


def base(v: Value) -> Value:
    """What a chain of views looks at in the end."""
    *_, last = looks_at(v)
    return last
