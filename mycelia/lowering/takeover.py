"""Updates in place: a step that changes a part of a tensor is written where that tensor is, when nobody reads it later.

    b = update(a, ...)      the memory of `a` becomes that of `b`, and only the part is written

The memory of a parameter may be taken over only by the result that is to lie there in the end (a carry of a loop, a
donated parameter), through any number of updates. Whoever else reads `a` must come first: that is asked of the order
of tasks, and given up where it would go round in a circle. What must not be, and who sees to it:

    b = update(a, ..., a[k:])       reads, while it writes, what it writes: `x in others`
    b = update(a, ...);  c = f(a)   c comes before b: `_last`, and the order of tasks (`Body._order`)
    b = update(a, ...);  c = update(a, f(b))      b cannot: c reads `a` too, and needs b first (`_last`); c can
    return update(a, ...), a        the old `a` is a result, or a view of it is: `looked_at`
    v = a[k:];  return update(v, ...), v      a view that is kept in memory, being overwritten, is a result: the same
    b = update(p, ...);  return 0   `p` is the caller's, who wants it as it was: `_leads`
    b = update(constant, ...)       the next call reads it again: `_fits`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mycelia.ir import Param, Value
from mycelia.lowering.steps import overwrites
from mycelia.lowering.values import looks_at, op_of
from mycelia.primitives import Constant
from mycelia.sizes import same

if TYPE_CHECKING:
    from mycelia.lowering.body import Body, Task

Takeovers = dict[Value, Value]  # an update -> the operand whose memory it takes over


def takeovers(body: Body, donated: Mapping[int, int], readers: Mapping[Value, set[int]]) -> Takeovers:
    """The updates that may be written in place, if all `readers` of their operands come before them."""
    looked_at = Counter(v for r in body.fn.results for v in looks_at(r))
    found: Takeovers = {}
    for task in body.tasks:
        v = task.step
        if v is None or not overwrites(op_of(v), v):
            continue
        x, *others = v.inputs
        if x in others:
            continue
        if x in body.memory and not looked_at[x] and _fits(v, x, body) and _last(task, readers[x], body):
            found[v] = x
    wanted = ((body.fn.params[k], body.fn.results[i]) for i, k in donated.items())
    given = {param: result for param, result in wanted if looked_at[result] == 1}
    for v, x in list(found.items()):
        if isinstance(x.op, Param) and not _leads(given.get(x), v, found):
            del found[v]
    return found


def _fits(v: Value, x: Value, body: Body) -> bool:
    return not isinstance(x.op, Constant) and same(body.memory[v].strides, body.memory[x].strides)


def _last(task: Task, readers: set[int], body: Body) -> bool:
    """Whether all readers can come before the task: none of them needs what it makes."""
    return all(task.number not in body.tasks[n].needs for n in readers if n != task.number)


def _leads(result: Value | None, v: Value, found: Takeovers) -> bool:
    """Whether the result is `v` after further updates in place."""
    while result is not None and result is not v:
        result = found.get(result)
    return result is v


def share(body: Body, taken: Takeovers) -> None:
    """Let the buffers of updates and of their operands lie in one place: that of the parameter where there is one,
    else that of the last update, which may be a result.
    """
    for v, x in taken.items():
        first = x
        while first in taken:
            first = taken[first]
        new, old = body.memory[v], body.memory[x]
        if isinstance(first.op, Param):
            body.shared.aliases[new] = old
        else:
            body.shared.aliases[old] = new
