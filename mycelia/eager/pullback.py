"""How cotangents go back through one op, worked out once for each set of types.

The rule of the op is run on symbols, which gives a function of the graph IR; what nobody needs is not in it. First
derivatives run it as generated Python that calls NumPy; further ones replay it on tensors, which records it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia import transforms
from mycelia.frozen import frozen
from mycelia.ir import Function, Op, Param, Project, Value, constant, fresh_params, region
from mycelia.primitives.family import HALVES
from mycelia.types import TensorType, TupleType, Type, cotangent_type

INFIX = {p.Add: "{} + {}", p.Subtract: "{} - {}", p.Multiply: "{} * {}", p.Divide: "{} / {}", p.Negative: "-{}"}


@frozen
class OpPullback:
    """Cotangents of the live results, the results, the inputs -> cotangents of the inputs."""

    function: Function
    flows: tuple[bool, ...]  # for each input, whether `function` gives it a cotangent
    compiled: Callable[..., Sequence[Any]]  # on arrays: for each input an array, or None where nothing flows
    any_type: bool  # whether `compiled` says nothing of shapes and element types: it is good for any that are all equal

    def replay(self, tensors: Sequence[Any]) -> Sequence[Any]:
        """On tensors, op by op, so that it is recorded."""
        got = iter(replay(self.function, tensors))
        return [next(got) if f else None for f in self.flows]


def _called(op: Op, operands: Sequence[Any]) -> Any:
    return op(*operands)


def replay(fn: Function, inputs: Sequence[Any], apply: Callable[[Op, Sequence[Any]], Any] = _called) -> list[Any]:
    """The results of `fn` where every op is applied to tensors; as one op, if not everything inside is a tensor."""
    if _holds_others(fn):
        return list(p.Call(fn)(*inputs))
    env: dict[Value, Any] = dict(zip(fn.params, inputs, strict=True))
    for v in fn.values():
        if v in env:
            continue
        if v.closed:
            env[v] = v
        elif isinstance(v.op, Project):
            env[v] = env[v.inputs[0]][v.op.index]
        else:
            assert isinstance(v.op, Op), f"{v} has no value here"
            env[v] = apply(v.op, [env[x] for x in v.inputs])
    return [env[r] for r in fn.results]


@lru_cache(maxsize=4096)
def _holds_others(fn: Function) -> bool:
    """Whether `fn` computes sequences or frames on the way, which live in graphs only."""
    return any(_is_other(v.type) for v in fn.values())


def _is_other(t: Type) -> bool:
    return any(map(_is_other, t.elements)) if isinstance(t, TupleType) else not isinstance(t, TensorType)


def pullback_of(op: Op, types: tuple[Type, ...], needed: tuple[bool, ...], live: tuple[bool, ...]) -> OpPullback:
    """The pullback of `op` at inputs of these types, when the `live` results have cotangents."""
    function, flows = way_back(op, types, needed, live)
    any_type = all(_infix(v) for v in function.values() if not isinstance(v.op, Param))
    return OpPullback(function, flows, as_python(function, flows), any_type)


def way_back(
    op: Op, types: tuple[Type, ...], needed: tuple[bool, ...], live: tuple[bool, ...]
) -> tuple[Function, tuple[bool, ...]]:
    """The function of a plan, and for each input whether it gives it a cotangent."""
    kind = op.infer(*types)
    results = kind.elements if isinstance(kind, TupleType) else (kind,)
    alive = tuple(cotangent_type(r) for r, there in zip(results, live, strict=True) if there)
    params = fresh_params((*alive, *results, *types))
    cts, outs = params[: len(alive)], params[len(alive) : len(alive) + len(results)]
    inputs = params[len(alive) + len(results) :]
    with region() as inside:  # a collective's way back is a collective
        flowing = _back(op, kind, live, cts, outs, inputs, needed)
    found = [c if wanted else None for c, wanted in zip(flowing, needed, strict=True)]
    function, captured = Function.close(params, [c for c in found if c is not None], inside.effects)
    assert not captured, f"the rule of {op.name} reads {captured}"
    return function, tuple(c is not None for c in found)


def _back(
    op: Op,
    kind: Type,
    live: tuple[bool, ...],
    cts: Sequence[Value],
    outs: Sequence[Value],
    inputs: Sequence[Value],
    needed: tuple[bool, ...],
) -> Sequence[Any]:
    """The op's own rule on symbols; an op that contains functions is differentiated as a function."""
    if isinstance(op, transforms.Structured):
        fn = Function.build(op, *[x.type for x in inputs])
        wanted = tuple(n and x.type.differentiable for n, x in zip(needed, inputs, strict=True))
        joint = transforms.vjp(fn, wanted, live)
        got = iter(joint(*inputs, *cts)[len(fn.results) :])
        return [next(got) if w else None for w in wanted]
    if not isinstance(kind, TupleType):
        return transforms.by_rule(op, cts[0], outs[0], *inputs)
    known = iter(cts)
    return transforms.by_rule(op, tuple(next(known) if there else None for there in live), tuple(outs), *inputs)


def as_python(fn: Function, flows: tuple[bool, ...]) -> Callable[..., Sequence[Any]]:
    """`fn` as a Python function of arrays, which returns None for each place where nothing flows.

    >>> from mycelia.types import float32
    >>> twice = Function.build(lambda x: x + x, TensorType(float32, (2,)))
    >>> as_python(twice, (False, True))(np.ones(2, "f"))
    (None, array([2., 2.], dtype=float32))
    """
    names: dict[Value, str] = {v: f"p{i}" for i, v in enumerate(fn.params)}
    known: dict[str, Any] = {"typed": _typed}
    lines = []
    for v in fn.values():
        if v in names:
            continue
        name = names[v] = f"v{len(names)}"
        if v.closed:
            known[name] = constant(v)
            continue
        assert not isinstance(v.op, Param), f"{v} belongs to another function"
        lines.append(f"    {name} = {_expression(v, [names[x] for x in v.inputs], name, known)}")
    got = iter(fn.results)
    returned = ", ".join(names[next(got)] if f else "None" for f in flows)
    parameters = ", ".join(names[q] for q in fn.params)
    source = "\n".join([f"def back({parameters}):", *lines, f"    return ({returned},)"])
    exec(compile(source, "<derivative>", "exec"), known)
    return known["back"]  # type: ignore[no-any-return]


def _expression(v: Value, operands: list[str], name: str, known: dict[str, Any]) -> str:
    infix = _infix(v)
    if infix is not None:
        return infix.format(*operands)
    assert isinstance(v.op, Op), f"{v} is computed"
    known[f"f_{name}"] = v.op.reference
    call = f"f_{name}({', '.join(operands)})"
    if not isinstance(v.type, TensorType):
        return call
    known[f"t_{name}"] = v.type.dtype.numpy
    return f"typed({call}, t_{name})"


def _infix(v: Value) -> str | None:
    """Python's operator that computes `v` at any shape and type; half precision is computed by the op's own meaning."""
    infix = INFIX.get(type(v.op))  # type: ignore[arg-type]  # any class may be asked for
    return infix if infix is not None and v.dtype.numpy not in HALVES else None


def _typed(out: Any, dtype: np.dtype[Any]) -> Any:
    return out if out.dtype is dtype else np.asarray(out).astype(dtype)
