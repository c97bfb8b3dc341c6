"""What a legal function is. Runs between passes in tests."""

from __future__ import annotations

from mycelia.ir.function import Function
from mycelia.ir.op import Op
from mycelia.ir.purity import may_repeat
from mycelia.ir.value import Param, Value


def verify(fn: Function) -> None:
    """Complain, in words, about the first thing that is not legal."""
    for slot, p in enumerate(fn.params):
        assert isinstance(p.op, Param), f"parameter {slot} is {p}"
        assert p.op == Param(slot, p.type), f"parameter {slot} is not in its place: {p.op}"
    own = set(fn.params)
    ordered: list[Value] = []
    for v in fn.values():
        if isinstance(v.op, Param):
            assert v in own, f"{v} belongs to another function"
            continue
        assert not v.unclosed, f"{v} belongs to a function that is being written"
        inferred = v.op.infer(*[x.type for x in v.inputs])
        assert inferred == v.type, f"{v} should have type {inferred}"
        if not may_repeat(v):
            ordered.append(v)
        for inner in inner_functions(v.op):
            verify(inner)
    assert tuple(ordered) == fn.effects, f"the effects are {fn.effects}, and what has effects is {ordered}"


def inner_functions(op: object) -> list[Function]:
    """The functions among the attributes of an op."""
    found: list[Function] = []
    if not isinstance(op, Op):
        return found
    stack = [a for a in op.held() if a.__class__ is Function or a.__class__ is tuple]  # of most ops there is none
    while stack:
        a = stack.pop()
        if isinstance(a, Function):
            found.append(a)
        elif isinstance(a, tuple):
            stack.extend(a)
    return found
