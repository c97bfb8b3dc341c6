"""Work of branches that is done elsewhere too is done once: in one branch, or in front of it.

A condition that many statements stand under is a branch for each of their results, and a value that is read on one way
is computed on that way, though a neighbour computes it for everybody. Both are found by writing what is in a branch as
if it stood around it: equal values are one object.

Only what is a kernel or a step of its own counts (reductions, products, loops): the rest is computed where it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mycelia.ir import Function, Lowered, Param, Project, Value, may_repeat, region, substitute
from mycelia.primitives import Cond
from mycelia.types import TensorType

COSTLY = (Lowered.FOLD, Lowered.STEP)
Results = tuple[Value, ...]


def join_branches(fn: Function) -> Function:
    """Put branches together that do the same, and hand into a branch what is there without it. A function with effects
    keeps their order, and is left alone.
    """
    return fn if fn.effects else _handed_in(_together(fn))


def _branches(fn: Function) -> dict[Value, Cond]:
    """The branches of which nobody sees the inside: they may be written elsewhere."""
    return {v: v.op for v in fn.values() if isinstance(v.op, Cond) and may_repeat(v) and not _makes_sizes(v.op)}


def _makes_sizes(op: Cond) -> bool:
    return op.then.makes_sizes or op.otherwise.makes_sizes


def _is_costly(v: Value) -> bool:
    v = v.inputs[0] if isinstance(v.op, Project) else v
    return not isinstance(v.op, Param) and v.op.native in COSTLY


def _as_outside(branch: Function, operands: Iterable[Value]) -> dict[Value, Value]:
    """What each value of a branch would be around it."""
    inner = branch.values()
    with region(closed=True):
        return dict(zip(inner, substitute(inner, dict(zip(branch.params, operands, strict=False))), strict=True))


# ------------------------------------------------------------------------------------------------ one branch of several


def _together(fn: Function) -> Function:
    """Branches on one condition that would compute something costly twice as one. None of a level reads another."""
    branches = _branches(fn)
    if len({v.inputs[0] for v in branches}) == len(branches):
        return fn
    level: dict[Value, int] = {}  # how many branches stand on the longest way to a value, itself included
    for v in fn.values():
        level[v] = max((level[x] for x in v.inputs), default=0) + isinstance(v.op, Cond)
    near: dict[tuple[Value, int], list[Value]] = {}
    for v in branches:
        near.setdefault((v.inputs[0], level[v]), []).append(v)
    sets = {v: members for several in near.values() for members in _sharing(several, branches) for v in members}
    if not sets:
        return fn
    new: dict[Value, Value] = {}
    parts: dict[Value, Results] = {}
    with region(closed=True):
        for v in sorted(fn.values(), key=level.__getitem__):  # whatever a level reads stands below it, or in front
            if v in sets:
                if v not in parts:
                    inputs = {u: tuple(new[x] for x in u.inputs) for u in sets[v]}
                    parts.update(_as_one({u: branches[u] for u in sets[v]}, inputs))
            elif v.inputs and v.inputs[0] in parts:
                new[v] = parts[v.inputs[0]][v.op.index]  # type: ignore[union-attr]  # only projections read a tuple
            else:
                new[v] = v.again(tuple(new[x] for x in v.inputs))
    return Function(fn.params, tuple(new[r] for r in fn.results))


def _sharing(values: Sequence[Value], branches: dict[Value, Cond]) -> list[list[Value]]:
    """Those that have something costly in common, in sets of two and more."""
    if len(values) == 1:
        return []
    sets: list[tuple[set[Value], list[Value]]] = []
    for v in values:
        op = branches[v]
        inside = [_as_outside(side, v.inputs[1:]) for side in op.branches]
        costly, members = {o for found in inside for x, o in found.items() if _is_costly(x)}, [v]
        apart = []
        for theirs, others in sets:
            if costly & theirs:
                costly, members = costly | theirs, others + members
            else:
                apart.append((theirs, others))
        sets = [*apart, (costly, members)]
    return [members for _, members in sets if len(members) > 1]


def _as_one(branches: dict[Value, Cond], inputs: dict[Value, Results]) -> dict[Value, Results]:
    """Several branches as one, and what each of them gives."""
    operands = tuple(dict.fromkeys(x for v in branches for x in inputs[v][1:]))

    def side(taken: int) -> Function:
        def every(*params: Value) -> Results:
            given = dict(zip(operands, params, strict=True))
            return tuple(
                r for v, op in branches.items() for r in op.branches[taken](*[given[x] for x in inputs[v][1:]])
            )

        return Function.build(every, *[x.type for x in operands])

    condition = next(iter(inputs.values()))[0]
    results = iter(Cond(side(0), side(1))(condition, *operands))
    return {v: tuple(next(results) for _ in op.then.results) for v, op in branches.items()}


# --------------------------------------------------------------------------------------------- what is there anyway


def _handed_in(fn: Function) -> Function:
    """What a branch computes, and its function computes too and stores, is an operand of the branch."""
    stored = {v for v in fn.values() if isinstance(v.type, TensorType) and (_is_costly(v) or v in fn.results)}
    more = {v: found for v, op in _branches(fn).items() if (found := _there_too(op, v.inputs[1:], stored))}
    if not more:
        return fn
    new: dict[Value, Value] = {}
    with region(closed=True):
        for v in _in_order(fn, more):
            inputs = tuple(new[x] for x in v.inputs)
            if v in more:
                assert isinstance(v.op, Cond)
                op = Cond(*[_given(side, v.inputs[1:], more[v]) for side in v.op.branches])
                new[v] = Value(op, (*inputs, *[new[x] for x in more[v]]))
            else:
                new[v] = v.again(inputs)
    return Function(fn.params, tuple(new[r] for r in fn.results))


def _there_too(op: Cond, operands: Results, stored: set[Value]) -> list[Value]:
    """What is computed in a branch and stands around it."""
    inside = [_as_outside(side, operands) for side in op.branches]
    found = dict.fromkeys(o for side in inside for x, o in side.items() if not isinstance(x.op, Param) and o in stored)
    return [o for o in found if o not in operands]


def _given(branch: Function, operands: Results, more: Sequence[Value]) -> Function:
    """A branch with further parameters in place of what it computed."""
    further = [Value(Param(len(operands) + i, x.type)) for i, x in enumerate(more)]
    param_of = dict(zip(more, further, strict=True))
    replaced = {x: param_of[o] for x, o in _as_outside(branch, operands).items() if o in param_of}
    with region(closed=True):
        results = substitute(branch.results, {**replaced, **{p: p for p in branch.params}})
    return Function((*branch.params, *further), results)


def _in_order(fn: Function, more: dict[Value, list[Value]]) -> list[Value]:
    """The values of a function, each behind its inputs and behind what it is handed."""
    order: dict[Value, None] = {}
    stack = [(r, False) for r in reversed(fn.results)]
    while stack:
        v, ready = stack.pop()
        if ready:
            order[v] = None
        elif v not in order:
            stack.append((v, True))
            stack += [(x, False) for x in (*more.get(v, ()), *v.inputs) if x not in order]
    return list(order)
