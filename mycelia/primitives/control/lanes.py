"""Examples side by side that do not take the same way: what may run in lock-step, and how to keep it harmless."""

from __future__ import annotations

from collections.abc import Sequence

from mycelia import primitives as p
from mycelia.ir import Function, Value, inner_functions, may_move
from mycelia.transforms import Structured, repeated
from mycelia.types import Shape, TensorType

SMALL = 1024  # elements: an operand that all examples share is repeated for each of them only if it is not larger


def each_is_better(
    functions: Sequence[Function], operands: Sequence[Value], mapped: Sequence[bool], straight: bool
) -> bool:
    """Whether every example must, or should, run these functions by itself: running them for an example that did not
    ask for it might not end or have an effect, a result has a structure, or repeating what is shared is dear.
    """
    if not all(harmless(f, straight) for f in functions):
        return True
    types = [t for f in functions for t in (*f.types, *f.result_types)]
    if not all(isinstance(t, TensorType) for t in types):
        return True
    shared = [x for x, m in zip(operands, mapped, strict=True) if not m and x.type.differentiable]
    return any(x.tensor.size > SMALL for x in shared)


def harmless(fn: Function, straight: bool) -> bool:
    """Whether `fn` may run for an example that did not ask: it is total; and, if it must be `straight`, it repeats
    nothing.

    >>> from mycelia.types import float32
    >>> harmless(Function.build(lambda x: p.sin(x), TensorType(float32, ())), straight=True)
    True
    """
    return all(may_move(v) for v in fn.values()) and not (straight and _repeats(fn))


def _repeats(fn: Function) -> bool:
    """Whether something in `fn` may run more than once."""
    for v in fn.values():
        if isinstance(v.op, Structured) and not v.op.straight:
            return True
        if any(_repeats(inner) for inner in inner_functions(v.op)):
            return True
    return False


def guarded(taken: Value, operands: Sequence[Value], mapped: Sequence[bool], size: int) -> list[Value]:
    """The operands, where nothing flows back from an example that did not ask: it may be infinite or nan there, and
    zero times that is nan. What has no gradient needs no guard.
    """
    safe = []
    for x, m in zip(operands, mapped, strict=True):
        if not x.type.differentiable:
            safe.append(x)
            continue
        whole = x if m else repeated(x, x.type, size)
        safe.append(p.select(lanes_of(taken, whole.shape), whole, p.stop_gradient(whole)))
    return safe


def lanes_of(truths: Value, shape: Shape) -> Value:
    """A truth value for each example, for every element of a mapped tensor of this shape.

    >>> from mycelia.types import bool_
    >>> lanes_of(p.zeros(bool_, (3,)), (3, 2)).shape
    (3, 2)
    """
    (size,) = truths.shape
    tall = p.reshape(truths, (size, *[1] * (len(shape) - 1)))
    return p.broadcast(tall, shape)
