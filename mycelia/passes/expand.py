"""Ops that are defined by other ops become those."""

from __future__ import annotations

from mycelia.ir import Function, Op, Project, Value, located


def expand(fn: Function) -> Function:
    """Replace every op that has a definition by it, until none is left."""
    while any(_expands(v) for v in fn.values()):
        new: dict[Value, Value] = {}
        parts: dict[Value, tuple[Value, ...]] = {}
        for v in fn.values():
            inputs = tuple(new.get(x, x) for x in v.inputs)
            with located(v.location):
                if isinstance(v.op, Project) and v.inputs[0] in parts:
                    new[v] = parts[v.inputs[0]][v.op.index]
                    continue
                made = v.op.expand(*inputs) if _expands(v) else None  # type: ignore[union-attr]
                if isinstance(made, tuple):
                    parts[v] = made
                    new[v] = v
                elif made is not None:
                    new[v] = made
                else:
                    new[v] = v if inputs == v.inputs else Value(v.op, inputs)
        fn = fn.with_results(new[r] for r in fn.results)
    return fn


def _expands(v: Value) -> bool:
    return isinstance(v.op, Op) and type(v.op).expand is not Op.expand
