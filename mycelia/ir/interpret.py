"""What a function means: every op replaced by its NumPy reference. Slow, obvious, the judge of the compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.ir.function import Function, toposort
from mycelia.ir.value import Param, Value
from mycelia.types import TensorType


def interpret(fn: Function, *inputs: Any) -> tuple[Any, ...]:
    """The results of `fn` at these inputs; its effects happen, in order."""
    env: dict[Value, Any] = dict(zip(fn.params, inputs, strict=True))
    with np.errstate(all="ignore"):  # what is not a number shows in the results
        return tuple(evaluate(fn.roots, env)[len(fn.effects) :])


def evaluate(roots: tuple[Value, ...], env: dict[Value, Any]) -> list[Any]:
    """The numbers of `roots`, where `env` says those of the parameters."""
    for v in toposort(roots):
        if v in env:
            continue
        if v.known is not None:
            env[v] = v.known
            continue
        assert not isinstance(v.op, Param), f"{v} has no value here"
        env[v] = as_typed(v, v.op.reference(*[env[x] for x in v.inputs]))
    return [env[r] for r in roots]


def as_typed(v: Value, result: Any) -> Any:
    """A result as an array of exactly the type that was promised."""
    if isinstance(v.type, TensorType):
        result = np.asarray(result)
        assert result.shape == v.type.shape, f"{v} has shape {result.shape}"
        return result if result.dtype == v.type.dtype.numpy else result.astype(v.type.dtype.numpy)
    return result


def constant(v: Value) -> Any:
    """The number of a value that depends on no parameter, computed once."""
    assert v.closed, f"{v} depends on parameters"
    if v.known is None:
        v.known = evaluate((v,), {})[0]
    return v.known
