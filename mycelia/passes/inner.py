"""Passes go into branches, loops and definitions too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from mycelia.ir import Function, Op, Value, inner_functions

Pass = Callable[[Function], Function]


def everywhere(run: Pass) -> Pass:
    """The pass that runs `run` on inner functions first, then on the function itself. A function that stands in many
    places is changed once: branches in branches share so many that walking to each place would take for ever.
    """

    def deep(fn: Function) -> Function:
        done: dict[int, tuple[Function, Function]] = {}

        def once(inner: Function) -> Function:
            if id(inner) not in done:
                done[id(inner)] = inner, run(_inside(inner, once))
            return done[id(inner)][1]

        return once(fn)

    deep.__name__ = run.__name__
    return deep


def _inside(fn: Function, run: Pass) -> Function:
    if not any(isinstance(v.op, Op) and inner_functions(v.op) for v in fn.values()):
        return fn

    def visit(v: Value, inputs: tuple[Value, ...]) -> Value:
        op = _changed(v.op, run) if isinstance(v.op, Op) and inner_functions(v.op) else v.op
        return v.again(inputs) if op is v.op else Value(op, inputs)

    return fn.mapped(visit)


def _changed(op: Op, run: Pass) -> Op:
    changes = {}
    for f in fields(op):
        old = getattr(op, f.name)
        if (made := _mapped(old, run)) != old:
            changes[f.name] = made
    return replace(op, **changes) if changes else op


def _mapped(attribute: Any, run: Pass) -> Any:
    if isinstance(attribute, Function):
        return run(attribute)
    if isinstance(attribute, tuple):
        return tuple(_mapped(a, run) for a in attribute)
    return attribute
