"""Calls become what they call. Kernels that come out equal are still compiled once."""

from __future__ import annotations

from mycelia.ir import Function, Project, Value, located
from mycelia.primitives import Call, CustomVjp


def inline(fn: Function) -> Function:
    """Replace every call by the body of its function, until none is left."""
    while any(isinstance(v.op, Call | CustomVjp) for v in fn.values()):
        new: dict[Value, Value] = {}
        parts: dict[Value, tuple[Value, ...]] = {}
        for v in fn.values():
            inputs = tuple(new[x] for x in v.inputs)
            if isinstance(v.op, Project) and v.inputs[0] in parts:
                new[v] = parts[v.inputs[0]][v.op.index]
            elif isinstance(v.op, Call | CustomVjp):
                parts[v] = v.op.fn(*inputs)
                new[v] = v
            else:
                with located(v.location):
                    new[v] = v if inputs == v.inputs else Value(v.op, inputs)
        fn = fn.with_results(new[r] for r in fn.results)
    return fn
