"""Forward mode: tangents beside values. An op needs no rule for it, because its vjp is linear in the cotangent:
the transpose of that linear map is the jvp.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mycelia.ir import Function, Op, Param, Project, Value, algebra, located, region
from mycelia.transforms.activity import Mask, differentiable
from mycelia.transforms.by_rule import by_rule
from mycelia.transforms.image import Image
from mycelia.transforms.structured import Structured, chosen, placed
from mycelia.transforms.vjp import vjp
from mycelia.types import TupleType, Type, cotangent_type


def jvp(fn: Function, wrt: Sequence[bool] | None = None, live: Sequence[bool] | None = None) -> Function:
    """The function of parameters and tangents of the `wrt` parameters, to results and tangents of the `live` results.
    Where a mask is not given, everything that can be differentiated is meant.

    >>> import numpy as np
    >>> from mycelia import primitives as p
    >>> from mycelia.ir import interpret
    >>> from mycelia.types import TensorType, float32
    >>> cube = Function.build(lambda x: p.multiply(x, x * x), TensorType(float32, ()))
    >>> [float(r) for r in interpret(jvp(cube), np.float32(2), np.float32(1))]
    [8.0, 12.0]
    """
    return _pushed(fn, differentiable(fn.types, wrt, "parameter"), differentiable(fn.result_types, live, "result"))


@lru_cache(maxsize=4096)
def _pushed(fn: Function, wrt: Mask, live: Mask) -> Function:
    with region(closed=True) as inside:
        results, given = _both(fn, wrt, live)
    return Function((*fn.params, *given), tuple(results), tuple(inside.effects))


def _both(fn: Function, wrt: Mask, live: Mask) -> tuple[list[Value], list[Value]]:
    """The results and their tangents, and parameters for the tangents of parameters."""
    image = Image()
    tangents: dict[Value, Any] = {}
    given: list[Value] = []
    for p, m in zip(fn.params, wrt, strict=True):
        image.one[p] = p
        if m:
            given.append(Value(Param(len(fn.params) + len(given), cotangent_type(p.type))))
            tangents[p] = given[-1]
    for v in fn.values():
        if type(v.op) is not Param:
            with located(v.location):
                _push(v, image, tangents)
    moved = [
        tangents[r] if r in tangents else algebra.zeros(cotangent_type(r.type))
        for r, m in zip(fn.results, live, strict=True)
        if m
    ]
    return [*[image.one[r] for r in fn.results], *moved], given


def _push(v: Value, image: Image, tangents: dict[Value, Any]) -> None:
    """The new value of `v`, and its tangent unless that is zero."""
    moves = v.type.differentiable and any(x in tangents for x in v.inputs)
    given: list[Any] = [tangents.get(x) for x in v.inputs]
    if moves and isinstance(v.op, Structured):
        results, tangents[v] = v.op.pushforward(given, image.inputs(v))
        image.many[v] = tuple(results)
        return
    image.copy(v)
    if not moves:
        return
    assert isinstance(v.op, Op), f"{v} is a parameter"
    tangent = given[0][v.op.index] if isinstance(v.op, Project) else _tangent(v, v.op, given, image)
    if tangent is not None:
        tangents[v] = tangent


def _tangent(v: Value, op: Op, given: Sequence[Any], image: Image) -> Any:
    """The tangent of the result of an op: by its own rule, or by its vjp."""
    inputs = image.inputs(v)
    out = image.results(v) if isinstance(v.type, TupleType) else image.one[v]
    ruled = op.jvp(given, out, *inputs)
    if ruled is not NotImplemented:
        return ruled
    moves = tuple(t is not None for t in given)
    transposed, used = _transpose(op, tuple(x.type for x in inputs), moves)
    if not any(used):
        return None
    outs = out if isinstance(out, tuple) else (out,)
    flowing = [t for t, u in zip(given, used, strict=True) if u]
    moved = transposed(*inputs, *outs, *flowing)
    return placed([o.type.differentiable for o in outs], moved) if isinstance(out, tuple) else moved[0]


@lru_cache(maxsize=4096)
def _transpose(op: Op, types: tuple[Type, ...], moves: Mask) -> tuple[Function, Mask]:
    """The function of inputs, results and tangents of inputs, to tangents of results; and which tangents it takes."""
    out = op.infer(*types)
    several = isinstance(out, TupleType)
    outs = out.elements if isinstance(out, TupleType) else (out,)
    smooth = [t.differentiable for t in outs]
    used: list[bool] = []

    def linear(*values: Value) -> tuple[Value, ...]:
        inputs, results = values[: len(types)], values[len(types) : len(types) + len(outs)]
        cts = tuple(placed(smooth, values[len(types) + len(outs) :]))
        flows = by_rule(op, cts if several else cts[0], results if several else results[0], *inputs)
        used.extend(m and c is not None for m, c in zip(moves, flows, strict=True))
        return tuple(chosen(used, flows))

    cotangents = [cotangent_type(t) for t in chosen(smooth, outs)]
    fn = Function.build(linear, *types, *outs, *cotangents)
    plain = len(types) + len(outs)
    joint = vjp(fn, (*[False] * plain, *[True] * len(cotangents)))
    anywhere = [algebra.zeros(t) for t in cotangents]  # linear, so the point does not matter

    def transposed(*values: Value) -> tuple[Value, ...]:
        return joint(*values[:plain], *anywhere, *values[plain:])[len(fn.results) :]

    return Function.build(transposed, *types, *outs, *fn.result_types), tuple(used)
