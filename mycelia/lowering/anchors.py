"""Which values get a place of their own, so that whatever lies between them is computed where it is read."""

from __future__ import annotations

from mycelia.ir import Function, Project, Value, users
from mycelia.lowering.values import is_expression, is_reduction, is_step, is_stored, own_weight
from mycelia.sizes import hint
from mycelia.types import TensorType

COSTLY = 8  # additions that are not worth doing twice
DEEPEST = 40  # ops that follow one another before a value gets a place: expressions stay small enough to handle
MANY = 3  # tensors read at once that are not worth reading twice


def anchors(fn: Function, operands: set[Value]) -> list[Value]:
    """Results, reductions, operands of steps, and what several readers would otherwise compute again; in order.

    `operands` are the values that steps need in memory.
    """
    readers = users(fn.roots)
    results = set(fn.results)
    weight: dict[Value, int] = {}
    loads: dict[Value, frozenset[Value]] = {}
    depth: dict[Value, int] = {}
    chosen: list[Value] = []
    for v in fn.values():
        if is_stored(v) or is_step(v) or isinstance(v.op, Project):
            weight[v], loads[v], depth[v] = 0, frozenset([v]), 0
            continue
        if is_reduction(v):
            anchor = True
        else:
            assert isinstance(v.type, TensorType), f"{v} is no tensor"
            own = own_weight(v.op, tuple(x.tensor for x in v.inputs), v.type)
            weight[v] = own + sum(weight[x] for x in v.inputs)
            depth[v] = 1 + max((depth[x] for x in v.inputs), default=0)
            loads[v] = frozenset(u for x in v.inputs for u in loads[x] if hint(u.tensor.size) * 4 > hint(v.type.size))
            shared = len(set(readers[v])) > 1 and own > 0
            costly = weight[v] >= COSTLY or len(loads[v]) >= MANY
            spread = weight[v] >= COSTLY and any(_spreads(v, u) for u in readers[v])
            anchor = v in results or v in operands or (shared and costly) or spread or depth[v] >= DEEPEST
        if anchor:
            chosen.append(v)
            weight[v], loads[v], depth[v] = 0, frozenset([v]), 0
    return chosen


def _spreads(v: Value, reader: Value) -> bool:
    """Whether `reader` would compute each element of `v` many times over."""
    return is_expression(reader) and hint(reader.tensor.size) > 4 * max(hint(v.tensor.size), 1)
