"""What a function means: every op replaced by its NumPy reference. Slow, obvious, the judge of the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mycelia.ir.function import Function, toposort
from mycelia.ir.resize import resized
from mycelia.ir.value import Param, Value
from mycelia.sizes import Known, Name, Sym, evaluated
from mycelia.types import TensorType


def interpret(fn: Function, *inputs: Any) -> tuple[Any, ...]:
    """The results of `fn` at these inputs; its effects happen, in order."""
    env: dict[Value, Any] = dict(zip(fn.params, inputs, strict=True))
    with np.errstate(all="ignore"):  # what is not a number shows in the results
        return tuple(evaluate(fn.roots, env)[len(fn.effects) :])


def evaluate(roots: tuple[Value, ...], env: dict[Value, Any]) -> list[Any]:
    """The numbers of `roots`, where `env` says those of the parameters."""
    sizes: dict[Name, int] = {}  # that have come out of data
    for v in toposort(roots):
        if v in env:
            continue
        if v.known is not None:
            env[v] = v.known
            continue
        assert not isinstance(v.op, Param), f"{v} has no value here"
        result = (resized(v.op, Known(sizes)) if sizes else v.op).reference(*[env[x] for x in v.inputs])
        if not v.type.static and isinstance(v.type, TensorType):
            sizes |= _learned(v.type, result.shape)
        env[v] = as_typed(v, result, sizes)
    return [env[r] for r in roots]


def _learned(t: TensorType, shape: tuple[int, ...]) -> dict[Name, int]:
    """What the names of a type stand for, where they are extents themselves."""
    found: dict[Name, int] = {}
    for d, n in zip(t.shape, shape, strict=True):
        if isinstance(d, Sym) and len(d.names()) == 1:
            (name,) = d.names()
            if d.terms == name.alone().terms:
                found[name] = n
    return found


def as_typed(v: Value, result: Any, sizes: Mapping[Name, int] | None = None) -> Any:
    """A result as an array of exactly the type that was promised."""
    if isinstance(v.type, TensorType):
        result = np.asarray(result)
        promised = v.type.shape if v.type.static else evaluated(v.type.shape, sizes or {})
        assert result.shape == promised, f"{v} has shape {result.shape}"
        return result if result.dtype == v.type.dtype.numpy else result.astype(v.type.dtype.numpy)
    return result


def constant(v: Value) -> Any:
    """The number of a value that depends on no parameter, computed once."""
    assert v.closed, f"{v} depends on parameters"
    if v.known is None:
        v.known = evaluate((v,), {})[0]
    return v.known
