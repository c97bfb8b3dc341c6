"""From a failing program to a small one: fewer results, and numbers given instead of computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycelia.ir import Function, Param, Project, Value, interpret, toposort
from mycelia.ir.function import substitute
from mycelia.types import Array, TensorType
from tests.fuzz.programs import Case

Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails) -> Case:
    """A smaller program that still fails."""
    case = _earliest(case, fails)
    changed = True
    while changed:
        changed = False
        for smaller in (*_fewer_results(case), *_cuts(case)):
            if fails(smaller):
                case, changed = smaller, True
                break
    return case


def _earliest(case: Case, fails: Fails) -> Case:
    """The first value that is wrong all by itself, if there is one."""
    for v in case.fn.values():
        if isinstance(v.type, TensorType) and type(v.op) is not Param:
            alone = _closed(case.fn, (v,), case.inputs)
            if fails(alone):
                return alone
    return case


def _fewer_results(case: Case) -> list[Case]:
    results = case.fn.results
    if len(results) < 2:
        return []
    return [_closed(case.fn, (*results[:i], *results[i + 1 :]), case.inputs) for i in range(len(results))]


def _cuts(case: Case) -> list[Case]:
    """The program with one value given instead of computed; the largest cuts first."""
    values = [v for v in case.fn.values() if type(v.op) is not Param and isinstance(v.type, TensorType)]
    values = [v for v in values if v not in case.fn.results and (v.inputs or not v.closed)]
    known = dict(zip(values, interpret(case.fn.with_results(values), *case.inputs), strict=True))
    cuts = []
    for v in reversed(values):
        given = Value(Param(len(case.fn.params), v.type))
        results = substitute(case.fn.results, {v: given})
        fn = Function((*case.fn.params, given), results)
        cuts.append(_closed(fn, results, (*case.inputs, known[v])))
    return cuts


def _closed(fn: Function, results: Sequence[Value], inputs: Sequence[Array]) -> Case:
    """The function to these results, of the parameters that they need."""
    used = set(toposort(results))
    kept = [i for i, v in enumerate(fn.params) if v in used]
    small, _ = Function.close([fn.params[i] for i in kept], tuple(results))
    return Case(small, tuple(inputs[i] for i in kept))


def size(fn: Function) -> int:
    """How many values a program computes."""
    return sum(not isinstance(v.op, Param | Project) for v in fn.values())
