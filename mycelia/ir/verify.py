"""What a legal function is. Runs between passes in tests."""

from __future__ import annotations

from mycelia.ir.function import Function, toposort
from mycelia.ir.value import Param
from mycelia.types import TokenType


def verify(fn: Function) -> None:
    """Complain, in words, about the first thing that is not legal."""
    for slot, p in enumerate(fn.params):
        assert isinstance(p.op, Param), f"parameter {slot} is {p}"
        assert p.op == Param(slot, p.type), f"parameter {slot} is not in its place: {p.op}"
    own = set(fn.params)
    spent: set[object] = set()
    for v in toposort(fn.results):
        if isinstance(v.op, Param):
            assert v in own, f"{v} belongs to another function"
            continue
        inferred = v.op.infer(*[x.type for x in v.inputs])
        assert inferred == v.type, f"{v} should have type {inferred}"
        for x in v.inputs:
            if isinstance(x.type, TokenType):
                assert x not in spent, f"the token {x} is used twice: the order of effects is not known"
                spent.add(x)
        for inner in inner_functions(v.op):
            verify(inner)


def inner_functions(op: object) -> list[Function]:
    """The functions among the attributes of an op."""
    found: list[Function] = []
    stack = list(op.attributes().values()) if hasattr(op, "attributes") else []
    while stack:
        a = stack.pop()
        if isinstance(a, Function):
            found.append(a)
        elif isinstance(a, tuple):
            stack.extend(a)
    return found
